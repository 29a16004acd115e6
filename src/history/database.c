/* SPDX-License-Identifier: MIT */
#include "database.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rooftile/file.h"
#include "rooftile/hash.h"
#include "rooftile/log.h"

/* Writing a run of 10,000 cases takes a second or two. */
enum { BUSY_MS = 10000, LONGEST_BUSY_MS = 3600000 };

enum { VIEWS = 1, FIRST_WITH_SUMS = 5 }; /* schema versions; older ones are read without sums */

/* The columns that a row's checksum covers. Tables are read through views that omit rows with a wrong sum (guard_rows),
 * and written as main.TABLE. Changing a row removes its sum, and the row gets a new one when our transaction ends. Rows
 * that another program wrote have no sum, and count as valid. */
static const struct summed {
    const char *table, *columns, *is_new, *named;
} summed[] = {
    {"device", "id, key, backend, name, arch", "id = NEW.id", "id"},
    {"environment", "id, fingerprint, facts", "id = NEW.id", "id"},
    {"identity", "id, parts", "id = NEW.id", "id"},
    {"run",
     "id, device, channel, run_id, started, started_at, finished_at, trials, environment, suite, git, branch, ci_url, "
     "tool, machine, gated, prediction_error",
     "id = NEW.id", "id || ', of ' || started_at"},
    {"series", "id, device, channel, case_id, timer, kind, class, label, kernel, mode, unit, better, seen",
     "id = NEW.id", "id || ', ' || case_id"},
    {"point", "series, run, value, least, cycles, tick, fraction, status, flags, identity, trials, reason, remeasured",
     "series = NEW.series AND run = NEW.run", "'of series ' || series || ' in run ' || run"},
    {"accepted", "series, started, start, reason, at", "series = NEW.series AND started = NEW.started",
     "'of series ' || series || ', ' || at"},
    {"alarm",
     "series, started, started_at, tau, tau_at, shift, z, baseline, baseline_n, sigma, cause, commits, closed, "
     "closed_by",
     "series = NEW.series AND started = NEW.started", "'of series ' || series || ', ' || started_at"},
};

/* The entry at an index migrates from that version to the next. Entries never change; a change of the schema adds
 * one.
 *
 * Alarms and decisions must survive when old runs are dropped, so they refer to runs by start time (`started`, s since
 * 1970, unique in a channel on a device). */
static const char *const migrations[DATABASE_VERSION] = {
    /* 0 -> 1: devices, runs, series, points, decisions, alarms. A point's trials are doubles, little-endian, in ns.
     */
    "CREATE TABLE device (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, backend TEXT NOT NULL, name TEXT NOT NULL,"
    " arch TEXT NOT NULL);"
    "CREATE TABLE environment (id INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE, facts TEXT NOT NULL);"
    "CREATE TABLE run (id INTEGER PRIMARY KEY, device INTEGER NOT NULL REFERENCES device, channel TEXT NOT NULL,"
    " run_id TEXT NOT NULL UNIQUE, started INTEGER NOT NULL, started_at TEXT NOT NULL, finished_at TEXT,"
    " trials INTEGER NOT NULL, environment INTEGER NOT NULL REFERENCES environment, suite TEXT, git TEXT,"
    " branch TEXT, ci_url TEXT, tool TEXT, machine TEXT, gated INTEGER NOT NULL DEFAULT 0);"
    "CREATE UNIQUE INDEX run_order ON run (channel, device, started);"
    "CREATE TABLE series (id INTEGER PRIMARY KEY, device INTEGER NOT NULL REFERENCES device, channel TEXT NOT NULL,"
    " case_id TEXT NOT NULL, timer TEXT NOT NULL, kind TEXT NOT NULL CHECK (kind IN ('case', 'kpi', 'class')),"
    " class TEXT NOT NULL, label TEXT NOT NULL, kernel TEXT NOT NULL, mode TEXT NOT NULL, unit TEXT NOT NULL,"
    " better TEXT NOT NULL CHECK (better IN ('lower', 'higher')), seen INTEGER,"
    " UNIQUE (channel, device, kind, case_id, timer));"
    "CREATE TABLE object (id INTEGER PRIMARY KEY, sha256 TEXT NOT NULL UNIQUE);"
    "CREATE TABLE point (series INTEGER NOT NULL REFERENCES series ON DELETE CASCADE,"
    " run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, value REAL CHECK (value > 0), least REAL, cycles REAL,"
    " tick REAL, fraction REAL, status TEXT NOT NULL, flags INTEGER NOT NULL, object INTEGER REFERENCES object,"
    " trials BLOB, reason TEXT, remeasured INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (series, run)) WITHOUT ROWID;"
    "CREATE INDEX point_run ON point (run);"
    "CREATE TABLE accepted (series INTEGER NOT NULL REFERENCES series ON DELETE CASCADE, started INTEGER NOT NULL,"
    " start INTEGER NOT NULL, reason TEXT NOT NULL, at TEXT NOT NULL, PRIMARY KEY (series, started)) WITHOUT ROWID;"
    "CREATE TABLE alarm (series INTEGER NOT NULL REFERENCES series ON DELETE CASCADE, started INTEGER NOT NULL,"
    " started_at TEXT NOT NULL, tau INTEGER NOT NULL, tau_at TEXT NOT NULL, shift REAL NOT NULL, z REAL NOT NULL,"
    " baseline REAL, baseline_n INTEGER NOT NULL, sigma REAL NOT NULL, cause TEXT NOT NULL, commits TEXT NOT NULL,"
    " closed INTEGER, closed_by TEXT CHECK (closed_by IN ('gone', 'accepted')),"
    " PRIMARY KEY (series, started)) WITHOUT ROWID;",
    /* 1 -> 2: the views that dashboards query (docs/history.md). */
    "CREATE VIEW measurements AS SELECT n.started AS time, n.started_at, n.channel, d.name AS device, d.arch, s.kind,"
    " s.case_id, s.label, s.kernel, s.class, s.mode, s.timer, s.unit, s.better, p.value, p.least, p.fraction, p.status,"
    " p.flags, n.git AS git_commit, n.branch, n.run_id FROM point p JOIN series s ON s.id = p.series JOIN run n ON"
    " n.id = p.run JOIN device d ON d.id = n.device;"
    "CREATE VIEW alarms AS SELECT a.started AS time, a.started_at, a.tau_at AS since, s.channel, d.name AS device, "
    "s.kind,"
    " s.case_id, s.label, a.shift, a.z, a.baseline, a.sigma, a.cause, a.commits, a.closed, a.closed_by, n.git AS"
    " git_commit FROM alarm a JOIN series s ON s.id = a.series JOIN device d ON d.id = s.device LEFT JOIN run n ON"
    " n.channel = s.channel AND n.device = s.device AND n.started = a.started;",
    /* 2 -> 3: the identity of a case, not only its code (identity.h); a hash of the code alone reads as unknown. */
    "ALTER TABLE object RENAME TO identity;"
    "ALTER TABLE identity RENAME COLUMN sha256 TO parts;"
    "ALTER TABLE point RENAME COLUMN object TO identity;",
    /* 3 -> 4: the prediction error of the run (median of |predicted / measured - 1|). */
    "ALTER TABLE run ADD COLUMN prediction_error REAL;",
    /* 4 -> 5: a checksum in each row, added by begin_sums. */
    NULL,
};

/* Records SQLite's error as the transaction's failure. */
static enum status fail(struct history *history, const char *doing)
{
    const char *words = sqlite3_errmsg(history->db), *path = history->path;
    const int system = sqlite3_system_errno(history->db), code = sqlite3_errcode(history->db) & 0xff;
    struct err *err = history->err;
    switch (code) { /* primary error code */
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        err_set(err, ERR_IO, "%s: another program has been writing to it for over %g s; nothing was changed", path,
                history->busy_ms / 1e3);
        break;
    case SQLITE_FULL:
        err_set(err, ERR_IO, "%s: the disk is full; nothing was changed", path);
        break;
    case SQLITE_IOERR:
        err_set(err, ERR_IO, "%s: the disk is full or failing (%s); nothing was changed", path, words);
        break;
    case SQLITE_READONLY:
    case SQLITE_PERM:
        err_set(err, ERR_IO, "%s: may not be written (%s)", path, words);
        break;
    case SQLITE_CANTOPEN:
        err_set(err, ERR_IO, "%s: cannot be opened: %s", path,
                system ? strerror(system) : "its folder must be there, and writable where others write to it");
        break;
    case SQLITE_NOTADB:
        err_set(err, ERR_CONFIG, "%s is no history: not an SQLite file, or damaged at its beginning", path);
        break;
    case SQLITE_CORRUPT:
        err_set(err, ERR_CONFIG,
                "%s is damaged (%s); restore a copy, or save what is left: sqlite3 %s .recover | sqlite3 new.db", path,
                words, path);
        break;
    case SQLITE_CONSTRAINT:
        err_set(err, ERR_CONFIG, "%s: what is being added contradicts what is there (%s); nothing was changed", path,
                words);
        break;
    default: /* our statements are valid, so only a foreign schema makes one fail */
        err_set(err, code == SQLITE_ERROR ? ERR_CONFIG : ERR_IO, "%s is damaged: %s: %s", path, doing, words);
    }
    return history->status = err->status;
}

enum status database_run(struct history *history, const char *sql)
{
    if (!history->status && sqlite3_exec(history->db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail(history, "writing");
    return history->status;
}

enum status database_begin(struct history *history, bool write, struct err *err)
{
    history->status = STATUS_OK;
    history->err = err;
    return database_run(history, write ? "BEGIN IMMEDIATE" : "BEGIN");
}

static const char make_sums[];
static void for_each_table(struct history *history, const char *pattern);

enum status database_end(struct history *history)
{
    if (history->sums)
        for_each_table(history, make_sums);
    database_run(history, "COMMIT");
    if (!sqlite3_get_autocommit(history->db))
        sqlite3_exec(history->db, "ROLLBACK", NULL, NULL, NULL);
    return history->status;
}

/* ---- sums ---- */

/* SQL function row_sum(column...): covers types and contents. */
static void row_sum(sqlite3_context *context, int count, sqlite3_value **values)
{
    SCOPED(text_release) struct text all = {0};
    for (int k = 0; k < count; k++) {
        const int kind = sqlite3_value_type(values[k]);
        const int64_t whole = sqlite3_value_int64(values[k]);
        const double real = sqlite3_value_double(values[k]);
        const bool number = kind == SQLITE_INTEGER || kind == SQLITE_FLOAT;
        const void *bytes = kind == SQLITE_INTEGER ? (const void *)&whole
                            : kind == SQLITE_FLOAT ? (const void *)&real
                                                   : sqlite3_value_blob(values[k]);
        const int size = number ? (int)sizeof(whole) : kind == SQLITE_NULL ? 0 : sqlite3_value_bytes(values[k]);
        text_addn(&all, (const char *)&(const int[]){kind, size}, 2 * sizeof(int));
        text_addn(&all, bytes, (size_t)size);
    }
    sqlite3_result_int64(context, (int64_t)hash_u64(all.data, all.length));
}

/* Expands a pattern for a table: $T is its name, $C its columns, $N the condition for the row NEW, $S a row's
 * description. */
static const char *sql_of(struct text *out, const char *pattern, const struct summed *of)
{
    text_clear(out);
    for (const char *at = pattern; *at; at++) {
        const char *word = *at != '$'     ? NULL
                           : at[1] == 'T' ? of->table
                           : at[1] == 'C' ? of->columns
                           : at[1] == 'N' ? of->is_new
                                          : of->named;
        text_addn(out, word ? word : at, word ? strlen(word) : 1);
        at += word != NULL;
    }
    return out->data;
}

static void for_each_table(struct history *history, const char *pattern)
{
    SCOPED(text_release) struct text sql = {0};
    for (size_t k = 0; k < COUNT_OF(summed); k++)
        database_run(history, sql_of(&sql, pattern, &summed[k]));
}

static const char begin_sums[] =
    "ALTER TABLE $T ADD COLUMN sum INTEGER; CREATE INDEX $T_no_sum ON $T (sum) WHERE sum IS NULL;"
    "CREATE TRIGGER $T_changes AFTER UPDATE OF $C ON $T BEGIN UPDATE $T SET sum = NULL WHERE $N; END;";
static const char make_sums[] = "UPDATE main.$T SET sum = row_sum($C) WHERE sum IS NULL;";
static const char guard_rows[] = "CREATE TEMP VIEW $T AS SELECT $C FROM main.$T WHERE ifnull(sum = row_sum($C), 1);";
static const char damaged_sql[] =
    "SELECT '$T ' || $S || ' is damaged and does not count' FROM main.$T WHERE sum <> row_sum($C)";

/* Stops silently if the file itself is broken; the first statement of a command reports that. */
void database_damage(struct text *lines, struct history *history)
{
    SCOPED(text_release) struct text sql = {0};
    for (size_t k = 0; k < COUNT_OF(summed); k++) {
        sqlite3_stmt *rows = NULL;
        if (sqlite3_prepare_v2(history->db, sql_of(&sql, damaged_sql, &summed[k]), -1, &rows, NULL) == SQLITE_OK)
            while (sqlite3_step(rows) == SQLITE_ROW)
                text_addf(lines, "%s\n", (const char *)sqlite3_column_text(rows, 0));
        sqlite3_finalize(rows);
    }
}

enum { MOST_NAMED = 5 };

/* Hides rows with a wrong sum from all later reads. */
static void guard(struct history *history, bool write)
{
    SCOPED(text_release) struct text lines = {0};
    SCOPED(text_release) struct text views = {0};
    size_t count = 0;
    for (const char *at = migrations[VIEWS], *view; *at; at = view) { /* recreated over the guarded tables */
        view = strchr(at + 1, ';') ? strchr(at + 1, ';') + 1 : "";
        text_addf(&views, "CREATE TEMP%.*s", (int)(strcspn(at, ";") - strlen("CREATE") + 1), at + strlen("CREATE"));
    }
    for_each_table(history, guard_rows);
    if (database_run(history, views.data))
        return;
    history->sums = write;
    database_damage(&lines, history);
    for (const char *line = lines.data, *end; line && (end = strchr(line, '\n')); line = end + 1)
        if (count++ < MOST_NAMED)
            log_warn("W023", "%s: %.*s", history->path, (int)(end - line), line);
    if (count > MOST_NAMED)
        log_warn("W023", "%s: %zu rows are damaged; 'rooftile history check' lists them", history->path, count);
}

/* ---- statements ---- */

static void bind(struct history *history, sqlite3_stmt *statement, const char *format, va_list *args)
{
    int code = SQLITE_OK;
    for (int place = 1; format[place - 1] && code == SQLITE_OK; place++)
        switch (format[place - 1]) {
        case 's':
            code = sqlite3_bind_text(statement, place, va_arg(*args, const char *), -1, SQLITE_TRANSIENT);
            break;
        case 'i': {
            const int64_t value = va_arg(*args, int64_t);
            code = value == DATABASE_NONE ? sqlite3_bind_null(statement, place)
                                          : sqlite3_bind_int64(statement, place, value);
            break;
        }
        case 'd': { /* SQLite binds NaN as null; infinities are converted here */
            const double value = va_arg(*args, double);
            code = sqlite3_bind_double(statement, place, isfinite(value) ? value : NAN);
            break;
        }
        default: {
            const void *bytes = va_arg(*args, const void *);
            code = sqlite3_bind_blob64(statement, place, bytes, va_arg(*args, size_t), SQLITE_TRANSIENT);
        }
        }
    if (code != SQLITE_OK)
        fail(history, "binding");
}

static sqlite3_stmt *start(struct history *history, const char *sql, const char *format, va_list *args)
{
    size_t at = 0;
    while (at < COUNT_OF(history->prepared) - 1 && history->prepared[at].sql && history->prepared[at].sql != sql)
        at++;
    struct database_statement *kept = &history->prepared[at];
    if (history->status)
        return NULL;
    if (kept->sql != sql) {
        sqlite3_finalize(kept->statement); /* when all slots are taken, the last one is reused */
        kept->sql = NULL;
        if (sqlite3_prepare_v2(history->db, sql, -1, &kept->statement, NULL) != SQLITE_OK) {
            fail(history, "preparing");
            return NULL;
        }
        kept->sql = sql;
    }
    (void)sqlite3_reset(kept->statement); /* repeats the last error, which has already been reported */
    bind(history, kept->statement, format, args);
    return kept->statement;
}

sqlite3_stmt *database_select(struct history *history, const char *sql, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    sqlite3_stmt *rows = start(history, sql, format, &args);
    va_end(args);
    return rows;
}

bool database_next(struct history *history, sqlite3_stmt *rows)
{
    const int code = history->status ? SQLITE_DONE : sqlite3_step(rows);
    if (code == SQLITE_ROW)
        return true;
    if (code != SQLITE_DONE)
        fail(history, "reading or writing");
    sqlite3_reset(rows);
    return false;
}

int64_t database_do(struct history *history, const char *sql, const char *format, ...)
{
    int64_t value = DATABASE_NONE;
    va_list args;
    va_start(args, format);
    sqlite3_stmt *rows = start(history, sql, format, &args);
    va_end(args);
    while (database_next(history, rows))
        value = value == DATABASE_NONE ? sqlite3_column_int64(rows, 0) : value;
    return value;
}

const char *database_text(sqlite3_stmt *rows, int column, struct arena *arena)
{
    return arena_strdup(arena, text_or_empty((const char *)sqlite3_column_text(rows, column)));
}

double database_double(sqlite3_stmt *rows, int column)
{
    return sqlite3_column_type(rows, column) == SQLITE_NULL ? NAN : sqlite3_column_double(rows, column);
}

/* ---- opening ---- */

/* Returns the schema version. An empty file is a new history; any other file must have the application id. */
static int64_t check_identity(struct history *history)
{
    const int64_t version = database_do(history, "PRAGMA user_version", ""),
                  application = database_do(history, "PRAGMA application_id", ""),
                  tables = database_do(history, "SELECT count(*) FROM sqlite_master", "");
    if (!history->status && application != DATABASE_APPLICATION && (tables || version))
        history->status =
            err_set(history->err, ERR_CONFIG, "%s is an SQLite file, but no history of rooftile", history->path);
    else if (!history->status && version > DATABASE_VERSION)
        history->status =
            err_set(history->err, ERR_CONFIG, "%s has schema version %lld; this rooftile knows %d: use a newer one",
                    history->path, (long long)version, DATABASE_VERSION);
    return version;
}

enum status database_migrate_to(struct history *history, int version, struct err *err)
{
    char sql[96];
    database_begin(history, true, err);
    int64_t at = check_identity(history); /* checked again, as another writer may have migrated it meanwhile */
    for (; at < version && !history->status; at++)
        if (migrations[at])
            database_run(history, migrations[at]);
        else
            for_each_table(history, begin_sums);
    history->sums = at >= FIRST_WITH_SUMS;
    sqlite3_snprintf((int)sizeof(sql), sql, "PRAGMA application_id = %d; PRAGMA user_version = %d",
                     DATABASE_APPLICATION, (int)at);
    database_run(history, sql);
    return database_end(history);
}

/* Readers of a history need auxiliary files beside it. If these cannot be created, and no writer has left any, nobody
 * is writing to the history, and it is opened as immutable. */
static int open_file(struct history *history, enum history_access access)
{
    static const int flags[] = {[HISTORY_READ] = SQLITE_OPEN_READONLY,
                                [HISTORY_WRITE] = SQLITE_OPEN_READWRITE,
                                [HISTORY_BEGIN] = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE};
    SCOPED(arena_release) struct arena arena = {0};
    SCOPED(text_release) struct text address = {0};
    const bool at_rest = access == HISTORY_READ &&
                         faccessat(AT_FDCWD, path_dir(&arena, history->path), W_OK, AT_EACCESS) &&
                         !file_exists(arena_printf(&arena, "%s-wal", history->path));
    text_add(&address, "file:"); /* SQLite's URI for the file, with special characters escaped */
    for (const char *at = history->path; *at; at++)
        text_addf(&address, strchr("%?#", *at) ? "%%%02X" : "%c", (unsigned char)*at);
    text_add(&address, "?immutable=1");
    return sqlite3_open_v2(at_rest ? address.data : history->path, &history->db,
                           flags[access] | (at_rest ? SQLITE_OPEN_URI : 0), NULL);
}

enum status database_open(struct history *history, const char *path, enum history_access access, struct err *err)
{
    const bool write = access != HISTORY_READ;
    struct stat facts;
    const bool there = !stat(path, &facts);
    *history = (struct history){
        .path = path, .err = err, .busy_ms = (int)text_env("ROOFTILE_BUSY_MS", 0, LONGEST_BUSY_MS, BUSY_MS)};
    if (!there && errno != ENOENT && errno != ENOTDIR)
        return err_set(err, ERR_IO, "%s: cannot be opened: %s", path, strerror(errno));
    if (!there && access != HISTORY_BEGIN)
        return err_set(err, ERR_CONFIG, "there is no history %s; 'rooftile history add' makes one", path);
    if (there && !S_ISREG(facts.st_mode))
        return err_set(err, ERR_CONFIG, "%s is a %s, not a history", path,
                       S_ISDIR(facts.st_mode) ? "folder" : "device");
    if (open_file(history, access) != SQLITE_OK) {
        const enum status failed =
            history->db ? fail(history, "opening") : err_set(err, ERR_IO, "%s: SQLite has no memory", path);
        database_close(history);
        return failed;
    }
    sqlite3_busy_timeout(history->db, history->busy_ms);
    sqlite3_extended_result_codes(history->db, 1);
    sqlite3_create_function(history->db, "row_sum", -1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, row_sum, NULL, NULL);
    const int64_t version = check_identity(history);
    if (write)
        database_run(history, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON");
    if (!history->status && write && version < DATABASE_VERSION)
        database_migrate_to(history, DATABASE_VERSION, err);
    if (!history->status && !write && version < FIRST_WITH_SUMS - 1)
        history->status =
            err_set(err, ERR_CONFIG, "%s has schema version %lld; the next 'rooftile history add' brings it to %d",
                    path, (long long)version, DATABASE_VERSION);
    if (!history->status && (write || version >= FIRST_WITH_SUMS))
        guard(history, write);
    const enum status status = history->status;
    if (status)
        database_close(history);
    return status;
}

void database_close(struct history *history)
{
    for (size_t k = 0; k < COUNT_OF(history->prepared); k++)
        sqlite3_finalize(history->prepared[k].statement);
    sqlite3_close(history->db);
    *history = (struct history){0};
}
