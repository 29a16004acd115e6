/* SPDX-License-Identifier: MIT
 *
 * A history, and what happens to runs after they were added: further trials of the same run, what people accept,
 * upkeep.
 */
#include "rooftile/history.h"

#include "history_internal.h"
#include "rooftile/clock.h"
#include "rooftile/compare.h"
#include "rooftile/log.h"
#include "rooftile/summary.h"

enum status history_open(struct history **history, const char *path, enum history_access access, struct err *err)
{
    struct history *opened = new_zeroed(1, sizeof(*opened));
    enum status status = database_open(&opened->database, path, access, err);
    if (status)
        free(opened);
    else
        *history = opened;
    return status;
}

double history_in_unit(bool higher_is_better, double shift)
{
    return higher_is_better ? 1 / (1 + shift) - 1 : shift;
}

void history_close(struct history *history)
{
    if (!history)
        return;
    database_close(&history->database);
    free(history);
}

/* ---- confirmation: more trials of this run ---- */

struct confirming {
    struct database *db;
    const struct history_window *window; /* this run alone */
    struct arena *arena;
};

static const struct history_row *row_of(const struct confirming *confirming, const struct result_case *c)
{
    const size_t length = result_id_length(c->id);
    char line[IDENTITY_LINE];
    identity_line(line, &c->identity);
    FOR_EACH(const struct history_row, row, confirming->window->rows, confirming->window->row_count)
        if (!row->is_kpi && !row->is_class && row->points[0].present && strlen(row->case_id) == length &&
            !strncmp(row->case_id, c->id, length) &&
            (c->timer == TIMED_NONE || !row->timer[0] || !strcmp(row->timer, timer_names[c->timer])) &&
            !history_changes(&row->points[0], &(struct history_point){.identity = line}))
            return row;
    return NULL;
}

/* Behind the trials that this run has, `more` new ones; `count`: how many all are. */
static enum status all_trials(double **times, size_t *count, size_t *added_count, const struct confirming *confirming,
                              const struct history_row *row, const struct result_case *c, struct err *err)
{
    double added[SHIFT_MAX_TRIALS];
    const size_t more = *added_count = compare_trials(added, c);
    sqlite3_stmt *rows = NULL;
    enum status status =
        database_select(&rows, confirming->db, err, "SELECT trials FROM point WHERE series = ? AND run = ?", "ii",
                        row->id, confirming->window->runs[0].id);
    *count = 0;
    while (database_next(&status, rows, confirming->db, err)) {
        const size_t kept = (size_t)sqlite3_column_bytes(rows, 0) / sizeof(double);
        *times = arena_array(confirming->arena, kept + more, sizeof(**times));
        if (kept)
            memcpy(*times, sqlite3_column_blob(rows, 0), kept * sizeof(**times));
        memcpy(*times + kept, added, more * sizeof(**times));
        *count = kept + more;
    }
    return status;
}

/* What fails when it is run again has failed, however well it did before; what failed before stays so. */
static enum status join(struct confirming *confirming, const struct history_row *row, const struct result_case *c,
                        struct err *err)
{
    const bool counts = result_case_counts(c);
    double *times = NULL, median = NAN;
    size_t count = 0, more = c->trial_count ? c->trial_count : 1;
    enum status status = STATUS_OK;
    if (strcmp(row->points[0].status, "ok") != 0)
        return STATUS_OK;
    if (counts)
        status = all_trials(&times, &count, &more, confirming, row, c, err);
    if (count)
        median = median_of(arena_copy(confirming->arena, times, count * sizeof(*times)), count);
    return status ? status
                  : database_do(
                        confirming->db, err,
                        "UPDATE main.point SET value = ?, status = ?, reason = ?, trials = ?, remeasured = remeasured "
                        "+ ? WHERE series = ? AND run = ?",
                        "dssbiii", median, history_status(c), counts ? NULL : c->reason, times, count * sizeof(*times),
                        (int64_t)more, row->id, confirming->window->runs[0].id);
}

static enum status join_all(size_t *points, struct confirming *confirming, const struct result *result, struct err *err)
{
    enum status status = STATUS_OK;
    for (size_t k = 0; k < result->case_count && !status; k++) {
        const struct result_case *c = &result->cases[k];
        const struct history_row *row = row_of(confirming, c);
        if (!row) {
            log_warn("W014",
                     "%s was measured again (timer '%s'), but is not in the newest run like that, or its code is "
                     "another now: nothing changes",
                     c->id, timer_names[c->timer]);
            continue;
        }
        status = join(confirming, row, c, err);
        *points += !status;
    }
    if (!status && !*points)
        status = err_set(err, ERR_CONFIG, "nothing that was measured again is in the newest run");
    return status;
}

static enum status check_environment(const struct confirming *confirming, const struct result *result, struct err *err)
{
    int64_t one = 0;
    bool same = false;
    enum status status =
        database_number(&one, &same, confirming->db, err, "SELECT 1 FROM environment WHERE id = ? AND fingerprint = ?",
                        "is", confirming->window->runs[0].environment, result->fingerprint);
    if (!status && !same)
        status =
            err_set(err, ERR_CONFIG, "the environment is not that of the newest run: its cases cannot be confirmed");
    return status;
}

enum status history_confirm(struct history *history, const char *channel, const struct result *result, size_t *points,
                            struct err *err)
{
    SCOPED(arena_release) struct arena arena = {0};
    struct history_window window;
    struct confirming confirming = {.db = &history->database, .window = &window, .arena = &arena};
    size_t joined = 0;
    enum status status = history_check_result(result, err);
    if (!status)
        status = database_begin(confirming.db, err);
    if (!status)
        status = history_load(&window, history, channel, history_device_key(result, &arena), 1, &arena, err);
    if (!status)
        status = check_environment(&confirming, result, err);
    if (!status)
        status = join_all(&joined, &confirming, result, err);
    status = database_end(confirming.db, status, err);
    if (!status)
        *points = joined;
    return status;
}

/* ---- accept ---- */

struct accepting {
    struct database *db;
    const struct history_window *window;
    const char *const *globs;
    size_t glob_count;
    const char *reason;
    char now[32];
};

/* Not there this run, or skipped, though it was measured once; false for a case that has another timer now. */
static bool is_missing(const struct history_window *w, const struct history_row *row)
{
    return !row->is_class && row->seen && !row->retired && row->seen < w->runs[w->run_count - 1].started &&
           !history_other_timer(w, row);
}

static bool wanted(const struct accepting *accepting, const struct history_row *row)
{
    const struct history_alarm *first = NULL;
    history_open_level(row, &first);
    return accepting->glob_count ? text_filtered(accepting->globs, accepting->glob_count, row->case_id, row->label)
                                 : first || is_missing(accepting->window, row);
}

/* The new level began with the newest alarm; where there was none, it begins this run. */
static int64_t start_of(const struct history_row *row, int64_t this_run)
{
    const struct history_alarm *newest = NULL;
    for (size_t k = 0; k < row->alarm_count; k++)
        if (row->alarms[k].open)
            newest = &row->alarms[k];
    return newest ? newest->tau : this_run;
}

static enum status accept_row(const struct accepting *accepting, const struct history_row *row, struct err *err)
{
    const int64_t this_run = accepting->window->runs[accepting->window->run_count - 1].started;
    enum status status =
        database_do(accepting->db, err,
                    "INSERT INTO main.accepted (series, started, start, reason, at) VALUES (?, ?, ?, ?, ?) "
                    "ON CONFLICT DO UPDATE SET reason = excluded.reason, at = excluded.at",
                    "iiiss", row->id, this_run, start_of(row, this_run), accepting->reason, accepting->now);
    return status
               ? status
               : database_do(accepting->db, err,
                             "UPDATE main.alarm SET closed = ?, closed_by = 'accepted' WHERE series = ? AND closed IS "
                             "NULL",
                             "ii", this_run, row->id);
}

static enum status accept_rows(size_t *count, struct accepting *accepting, struct err *err)
{
    const struct history_window *w = accepting->window;
    enum status status = STATUS_OK;
    for (size_t k = 0; k < w->row_count && !status; k++)
        if (wanted(accepting, &w->rows[k])) {
            status = accept_row(accepting, &w->rows[k], err);
            ++*count;
        }
    if (!status && !*count)
        status = err_set(err, ERR_CONFIG,
                         accepting->glob_count ? "no series matches"
                                               : "nothing is open or missing: there is nothing to accept");
    return status;
}

enum status history_accept(size_t *count, struct history *history, const char *channel, const char *device,
                           const char *const *globs, size_t glob_count, const char *reason, struct err *err)
{
    SCOPED(arena_release) struct arena arena = {0};
    struct history_window window;
    struct accepting accepting = {
        .db = &history->database, .window = &window, .globs = globs, .glob_count = glob_count, .reason = reason};
    size_t accepted = 0;
    if (!reason || !reason[strspn(reason, " \t\n")])
        return err_set(err, ERR_USAGE, "a baseline moves for a reason only: --reason 'driver 6.3, ticket 123'");
    clock_utc(accepting.now);
    enum status status = database_begin(accepting.db, err);
    if (!status)
        status = history_load(&window, history, channel, device, GATE_KEEP_RUNS, &arena, err);
    if (!status)
        status = accept_rows(&accepted, &accepting, err);
    status = database_end(accepting.db, status, err);
    if (!status)
        *count = accepted;
    return status;
}

/* ---- upkeep ---- */

/* A series of which no point is left, and whose end was accepted after it was seen last, is over. One that nobody
 * accepted is still missing, and stays. Alarms that are closed tell nothing once their runs are gone. */
static const char *const tidying[] = {
    "DELETE FROM main.series WHERE kind <> 'class' AND NOT EXISTS (SELECT 1 FROM main.point p WHERE p.series = "
    "series.id) AND "
    "EXISTS (SELECT 1 FROM accepted a WHERE a.series = series.id AND a.started > ifnull(series.seen, 0))",
    ("DELETE FROM main.alarm WHERE closed IS NOT NULL AND tau < (SELECT min(n.started) FROM run n JOIN series s ON "
     "n.channel = s.channel AND n.device = s.device WHERE s.id = alarm.series)"),
    "DELETE FROM main.identity WHERE id NOT IN (SELECT identity FROM main.point WHERE identity IS NOT NULL)",
};

/* ?1 channel, ?2 runs to keep of each device. */
static const char drop_sql[] = "DELETE FROM main.run WHERE channel = ?1 AND id IN (SELECT id FROM (SELECT id, "
                               "row_number() OVER (PARTITION BY device "
                               "ORDER BY started DESC) AS place FROM run WHERE channel = ?1) WHERE place > ?2)";

enum status history_drop_runs(size_t *dropped, struct database *db, const char *channel, unsigned keep, struct err *err)
{
    enum status status = database_do(db, err, drop_sql, "si", channel, (int64_t)keep);
    *dropped = status ? 0 : (size_t)sqlite3_changes(db->db); /* without what went with them */
    for (size_t k = 0; k < sizeof(tidying) / sizeof(*tidying) && !status && *dropped; k++)
        status = database_run(db, tidying[k], err);
    return status;
}

enum status history_prune(size_t *dropped, struct history *history, const char *channel, unsigned keep, struct err *err)
{
    struct database *db = &history->database;
    size_t count = 0;
    if (!keep)
        return err_set(err, ERR_USAGE, "one run is the least to keep");
    enum status status = database_begin(db, err);
    if (!status)
        status = history_drop_runs(&count, db, channel ? channel : HISTORY_CHANNEL, keep, err);
    status = database_end(db, status, err);
    if (!status)
        *dropped = count;
    return status;
}

/* Each gives one line per problem. */
static const char *const checks[] = {
    "SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'",
    "SELECT 'a row of ' || \"table\" || ' refers to nothing in ' || parent FROM pragma_foreign_key_check",
    "SELECT 'point of series ' || series || ', run ' || run || ' has a value and the status ' || status FROM point "
    "WHERE value IS NOT NULL AND status <> 'ok'",
    "SELECT 'point of series ' || series || ', run ' || run || ' is ok and has no value' FROM point WHERE value IS "
    "NULL AND status = 'ok'",
    "SELECT 'point of series ' || series || ', run ' || run || ' has half a trial' FROM point WHERE "
    "length(trials) % 8 <> 0",
    "SELECT 'run ' || id || ' has no point' FROM run WHERE id NOT IN (SELECT run FROM point)",
    "SELECT 'run ' || id || ' started at ' || started_at || ', not at ' || datetime(started, 'unixepoch') FROM run "
    "WHERE started <> ifnull(strftime('%s', started_at), 0) + 0",
    "SELECT 'point of series ' || p.series || ' is of another device or channel than its run ' || p.run FROM point p "
    "JOIN series s ON s.id = p.series JOIN run n ON n.id = p.run WHERE s.device <> n.device OR s.channel <> n.channel",
    "SELECT 'series ' || id || ' was seen later than it says' FROM series WHERE kind <> 'class' AND ifnull(seen, 0) < "
    "(SELECT max(n.started) FROM point p JOIN run n ON n.id = p.run WHERE p.series = series.id AND p.status <> "
    "'skipped')",
    "SELECT 'alarm of series ' || series || ' begins after it was found' FROM alarm WHERE tau > started",
};

enum status history_check(struct text *problems, struct history *history, struct err *err)
{
    struct database *db = &history->database;
    enum status status = database_begin_reading(db, err);
    for (size_t k = 0; k < sizeof(checks) / sizeof(*checks) && !status; k++) {
        sqlite3_stmt *rows = NULL;
        status = database_select(&rows, db, err, checks[k], "");
        while (database_next(&status, rows, db, err))
            text_addf(problems, "%s\n", (const char *)sqlite3_column_text(rows, 0));
    }
    database_damage(problems, db);
    return database_end(db, status, err);
}
