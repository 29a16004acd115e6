/* SPDX-License-Identifier: MIT */

#include "history_internal.h"
#include "rooftile/summary.h"

/* ---- which device ---- */

/* Part of a key in any case, or "hip:0", whose number means nothing to a history. */
static const char device_sql[] =
    "SELECT DISTINCT d.id, d.name, d.key FROM device d JOIN run n ON n.device = d.id WHERE n.channel = ?1 AND (?2 IS "
    "NULL OR instr(lower(d.key), lower(?2)) > 0 OR (instr(?2, ':') AND d.backend = substr(?2, 1, instr(?2, ':') - 1))) "
    "ORDER BY d.key <> ifnull(?2, ''), d.id";

static const char *column(sqlite3_stmt *rows, int k, struct arena *arena)
{
    const char *text = (const char *)sqlite3_column_text(rows, k);
    return arena_strdup(arena, text ? text : "");
}

static enum status choose_device(struct history_window *window, struct database *db, const char *wanted,
                                 struct arena *arena, struct err *err)
{
    sqlite3_stmt *rows = NULL;
    const char *keys = "";
    bool exact = false;
    size_t found = 0;
    enum status status = database_select(&rows, db, err, device_sql, "ss", window->channel, wanted);
    while (database_next(&status, rows, db, err)) {
        const char *key = column(rows, 2, arena);
        if (exact)
            continue;
        exact = wanted && !strcmp(key, wanted);
        window->device_id = sqlite3_column_int64(rows, 0);
        window->device = column(rows, 1, arena);
        keys = arena_printf(arena, "%s\n  %s", keys, key);
        found++;
    }
    if (!status && !found)
        status = err_set(err, ERR_CONFIG, "%s has no run in the channel '%s'%s%s%s", db->path, window->channel,
                         wanted ? " of a device '" : "", wanted ? wanted : "", wanted ? "'" : "");
    if (!status && found > 1)
        status = err_set(err, ERR_CONFIG,
                         "the channel '%s' has several devices; name one with --device, by a part of its line:%s",
                         window->channel, keys);
    return status;
}

/* ---- runs, newest first in the query, oldest first in memory ---- */

static const char runs_sql[] =
    "SELECT n.id, n.environment, n.started_at, n.git, e.facts, n.started, n.gated, n.run_id, n.prediction_error FROM "
    "run n JOIN "
    "environment e ON e.id = n.environment WHERE n.channel = ? AND n.device = ? ORDER BY n.started DESC LIMIT ?";

static enum status load_runs(struct history_window *window, struct database *db, size_t runs, struct arena *arena,
                             struct err *err)
{
    sqlite3_stmt *rows = NULL;
    struct history_run *list = arena_array(arena, runs + 1, sizeof(*list));
    size_t first = runs;
    enum status status =
        database_select(&rows, db, err, runs_sql, "sii", window->channel, window->device_id, (int64_t)runs);
    while (database_next(&status, rows, db, err))
        list[--first] = (struct history_run){
            .id = sqlite3_column_int64(rows, 0),
            .environment = sqlite3_column_int64(rows, 1),
            .started_at = column(rows, 2, arena),
            .git = column(rows, 3, arena),
            .facts = column(rows, 4, arena),
            .started = sqlite3_column_int64(rows, 5),
            .gated = sqlite3_column_int(rows, 6),
            .run_id = column(rows, 7, arena),
            .prediction_error = sqlite3_column_type(rows, 8) == SQLITE_NULL ? NAN : sqlite3_column_double(rows, 8)};
    window->runs = list + first;
    window->run_count = runs - first;
    return status;
}

size_t history_run_at(const struct history_window *window, int64_t started)
{
    size_t low = 0, high = window->run_count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (window->runs[middle].started < started)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- series and points ---- */

/* Most runs say what the one before said. */
static const char *same(const char *before, sqlite3_stmt *statement, int k, struct arena *arena)
{
    const char *text = (const char *)sqlite3_column_text(statement, k);
    text = text ? text : "";
    return strcmp(before, text) ? arena_strdup(arena, text) : before;
}

static const struct history_point nothing = {
    .value = NAN, .cycles = NAN, .tick = NAN, .status = "", .identity = "", .reason = ""};

static const char series_sql[] =
    "SELECT id, case_id, label, class, timer, unit, kind = 'kpi', better = 'higher', kind = 'class', seen FROM series "
    "WHERE channel = ?1 AND device = ?2 ORDER BY id";

static enum status load_rows(struct history_window *window, struct database *db, struct arena *arena, struct err *err)
{
    sqlite3_stmt *rows = NULL;
    int64_t count = 0;
    bool found = false;
    enum status status =
        database_number(&count, &found, db, err, "SELECT count(*) FROM series WHERE channel = ?1 AND device = ?2", "si",
                        window->channel, window->device_id);
    window->rows = arena_array(arena, (size_t)count + 1, sizeof(*window->rows));
    if (!status)
        status = database_select(&rows, db, err, series_sql, "si", window->channel, window->device_id);
    while (database_next(&status, rows, db, err)) {
        struct history_row *out = &window->rows[window->row_count++];
        *out = (struct history_row){.id = sqlite3_column_int64(rows, 0),
                                    .case_id = column(rows, 1, arena),
                                    .label = column(rows, 2, arena),
                                    .class = column(rows, 3, arena),
                                    .timer = column(rows, 4, arena),
                                    .unit = column(rows, 5, arena),
                                    .is_kpi = sqlite3_column_int(rows, 6),
                                    .higher_is_better = sqlite3_column_int(rows, 7),
                                    .is_class = sqlite3_column_int(rows, 8),
                                    .seen = sqlite3_column_int64(rows, 9)};
        out->points = arena_array(arena, window->run_count + 1, sizeof(*out->points));
        out->breaks = arena_array(arena, window->run_count + 1, sizeof(*out->breaks));
        out->changed = arena_array(arena, window->run_count + 1, sizeof(*out->changed));
        for (size_t k = 0; k < window->run_count; k++)
            out->points[k] = nothing;
    }
    return status;
}

/* The row of series `id`; NULL: none. Rows are in the order of their ids, and so is what is asked for, from *at on. */
static struct history_row *row_of(struct history_window *window, int64_t id, size_t *at)
{
    while (*at < window->row_count && window->rows[*at].id < id)
        ++*at;
    return *at < window->row_count && window->rows[*at].id == id ? &window->rows[*at] : NULL;
}

static double number(sqlite3_stmt *rows, int k)
{
    return sqlite3_column_type(rows, k) == SQLITE_NULL ? NAN : sqlite3_column_double(rows, k);
}

static const char points_sql[] =
    "SELECT p.series, p.value, p.cycles, p.tick, p.status, i.parts, p.reason, p.remeasured, CASE WHEN p.remeasured "
    "THEN p.trials END FROM point p LEFT JOIN identity i ON i.id = p.identity WHERE p.run = ? ORDER BY p.series";

/* They stand behind those of the run itself. */
static void load_again(struct history_point *out, sqlite3_stmt *rows)
{
    double times[SHIFT_MAX_TRIALS];
    const size_t all = (size_t)sqlite3_column_bytes(rows, 8) / sizeof(*times);
    const int64_t again = sqlite3_column_int64(rows, 7);
    const size_t count = again > 0 && (size_t)again < all ? (size_t)again : 0;
    if (!count || count > SHIFT_MAX_TRIALS)
        return;
    memcpy(times, (const double *)sqlite3_column_blob(rows, 8) + all - count, count * sizeof(*times));
    const double median = median_of(times, count); /* sorts them */
    if (!isfinite(median))
        return;
    out->again = median;
    out->again_least = times[0];
}

static enum status load_points(struct history_window *window, size_t run, struct database *db, struct arena *arena,
                               struct err *err)
{
    sqlite3_stmt *rows = NULL;
    size_t at = 0;
    enum status status = database_select(&rows, db, err, points_sql, "i", window->runs[run].id);
    while (database_next(&status, rows, db, err)) {
        struct history_row *out = row_of(window, sqlite3_column_int64(rows, 0), &at);
        const struct history_point *last = out && run ? &out->points[run - 1] : &nothing;
        if (!out)
            continue;
        out->points[run] = (struct history_point){.value = number(rows, 1),
                                                  .cycles = number(rows, 2),
                                                  .tick = number(rows, 3),
                                                  .status = same(last->status, rows, 4, arena),
                                                  .identity = same(last->identity, rows, 5, arena),
                                                  .reason = same(last->reason, rows, 6, arena),
                                                  .present = true};
        load_again(&out->points[run], rows);
    }
    return status;
}

/* ---- what was measured ---- */

unsigned history_changes(const struct history_point *a, const struct history_point *b)
{
    struct identity x, y;
    if (a->identity == b->identity || !strcmp(a->identity, b->identity))
        return 0;
    identity_from_line(&x, a->identity);
    identity_from_line(&y, b->identity);
    return identity_differs(&x, &y);
}

/* Times of other input data, or of other work, are no change of the same thing. */
static void find_changes(struct history_window *window, struct history_row *row)
{
    const unsigned another = IDENTITY_BIT(IDENTITY_INPUTS) | IDENTITY_BIT(IDENTITY_WORK);
    const struct history_point *before = &nothing;
    for (size_t run = 0; run < window->run_count; run++) {
        const struct history_point *point = &row->points[run];
        if (!isfinite(point->value))
            continue;
        row->changed[run] = history_changes(before, point) & another;
        row->breaks[run] = row->breaks[run] || row->changed[run];
        before = point;
    }
}

/* ---- decisions and alarms ---- */

static const char accepted_sql[] =
    "SELECT a.series, a.start, a.started, NOT EXISTS (SELECT 1 FROM alarm m WHERE m.series = a.series AND m.closed = "
    "a.started AND m.closed_by = 'accepted') FROM accepted a JOIN series s ON s.id = a.series "
    "WHERE s.channel = ? AND s.device = ? ORDER BY a.series";

static enum status load_accepted(struct history_window *window, struct database *db, struct err *err)
{
    sqlite3_stmt *rows = NULL;
    size_t at = 0;
    enum status status = database_select(&rows, db, err, accepted_sql, "si", window->channel, window->device_id);
    while (database_next(&status, rows, db, err)) {
        struct history_row *out = row_of(window, sqlite3_column_int64(rows, 0), &at);
        const size_t start = history_run_at(window, sqlite3_column_int64(rows, 1));
        if (!out)
            continue;
        if (start < window->run_count)
            out->breaks[start] = true;
        out->retired = out->retired || sqlite3_column_int64(rows, 2) > out->seen;
        out->accepted_slow = out->accepted_slow || sqlite3_column_int(rows, 3);
    }
    return status;
}

struct history_alarm *history_more_alarms(struct history_row *row, struct arena *arena)
{
    struct history_alarm *more = arena_array(arena, row->alarm_count + 1, sizeof(*more));
    if (row->alarm_count)
        memcpy(more, row->alarms, row->alarm_count * sizeof(*more));
    row->alarms = more;
    return &more[row->alarm_count++];
}

/* All of them: open ones count however old they are, and the last one says where the segment starts. */
static const char alarms_sql[] =
    "SELECT a.series, a.started, a.tau, a.tau_at, a.cause, a.commits, a.shift, a.sigma, a.baseline, a.closed IS "
    "NULL, ifnull(a.closed_by = 'accepted', 0) FROM alarm a JOIN series s ON s.id = a.series WHERE s.channel = ? AND "
    "s.device = ? ORDER BY a.series, a.started";

static enum status load_alarms(struct history_window *window, struct database *db, struct arena *arena, struct err *err)
{
    sqlite3_stmt *rows = NULL;
    size_t at = 0;
    enum status status = database_select(&rows, db, err, alarms_sql, "si", window->channel, window->device_id);
    while (database_next(&status, rows, db, err)) {
        struct history_row *out = row_of(window, sqlite3_column_int64(rows, 0), &at);
        if (out)
            *history_more_alarms(out, arena) = (struct history_alarm){.started = sqlite3_column_int64(rows, 1),
                                                                      .tau = sqlite3_column_int64(rows, 2),
                                                                      .tau_at = column(rows, 3, arena),
                                                                      .cause = column(rows, 4, arena),
                                                                      .commits = column(rows, 5, arena),
                                                                      .shift = sqlite3_column_double(rows, 6),
                                                                      .sigma = sqlite3_column_double(rows, 7),
                                                                      .baseline = number(rows, 8),
                                                                      .open = sqlite3_column_int(rows, 9),
                                                                      .accepted = sqlite3_column_int(rows, 10)};
    }
    return status;
}

const struct history_row *history_other_timer(const struct history_window *w, const struct history_row *row)
{
    FOR_EACH(const struct history_row, other, w->rows, w->row_count)
        if (other != row && !other->is_class && other->is_kpi == row->is_kpi && !strcmp(other->case_id, row->case_id) &&
            other->points[w->run_count - 1].present)
            return other;
    return NULL;
}

double history_open_level(const struct history_row *row, const struct history_alarm **first)
{
    double level = 0;
    *first = NULL;
    for (size_t k = 0; k < row->alarm_count; k++) {
        if (!row->alarms[k].open)
            continue;
        level += log1p(row->alarms[k].shift);
        *first = *first ? *first : &row->alarms[k];
    }
    return level;
}

enum status history_load(struct history_window *window, struct history *history, const char *channel,
                         const char *device, size_t runs, struct arena *arena, struct err *err)
{
    struct database *db = &history->database;
    struct history_window loaded = {.channel = channel ? channel : HISTORY_CHANNEL};
    enum status status = choose_device(&loaded, db, device, arena, err);
    if (!status)
        status = load_runs(&loaded, db, runs, arena, err);
    if (!status && !loaded.run_count)
        status = err_set(err, ERR_CONFIG, "%s is damaged: runs of the channel '%s' lack what 'history check' lists",
                         db->path, loaded.channel);
    if (!status)
        status = load_rows(&loaded, db, arena, err);
    for (size_t run = 0; run < loaded.run_count && !status; run++)
        status = load_points(&loaded, run, db, arena, err);
    for (size_t k = 0; k < loaded.row_count && !status; k++)
        find_changes(&loaded, &loaded.rows[k]);
    if (!status)
        status = load_accepted(&loaded, db, err);
    if (!status)
        status = load_alarms(&loaded, db, arena, err);
    if (!status)
        *window = loaded;
    return status;
}
