/* SPDX-License-Identifier: MIT */

#include "history_internal.h"
#include "rooftile/summary.h"

/* ---- which device ---- */

/* Matches part of a key in any case, or "hip:0", whose number has no meaning in a history. */
static const char device_sql[] =
    "SELECT DISTINCT d.id, d.name, d.key FROM device d JOIN run n ON n.device = d.id WHERE n.channel = ?1 AND (?2 IS "
    "NULL OR instr(lower(d.key), lower(?2)) > 0 OR (instr(?2, ':') AND d.backend = substr(?2, 1, instr(?2, ':') - 1))) "
    "ORDER BY d.key <> ifnull(?2, ''), d.id";

static void choose_device(struct history_window *window, struct history *history, const char *wanted,
                          struct arena *arena)
{
    sqlite3_stmt *rows = database_select(history, device_sql, "ss", window->channel, wanted);
    const char *keys = "";
    bool exact = false;
    size_t found = 0;
    while (database_next(history, rows)) {
        const char *key = database_text(rows, 2, arena);
        if (exact)
            continue;
        exact = wanted && !strcmp(key, wanted);
        window->device_id = sqlite3_column_int64(rows, 0);
        window->device = database_text(rows, 1, arena);
        keys = arena_printf(arena, "%s\n  %s", keys, key);
        found++;
    }
    if (!history->status && !found)
        history->status =
            err_set(history->err, ERR_CONFIG, "%s has no run in the channel '%s'%s%s%s", history->path, window->channel,
                    wanted ? " of a device '" : "", wanted ? wanted : "", wanted ? "'" : "");
    if (!history->status && found > 1)
        history->status =
            err_set(history->err, ERR_CONFIG,
                    "the channel '%s' has several devices; name one with --device, by a part of its line:%s",
                    window->channel, keys);
}

/* ---- runs, newest first in the query, oldest first in memory ---- */

static const char runs_sql[] =
    "SELECT n.id, n.environment, n.started_at, n.git, e.facts, n.started, n.gated, n.run_id, n.prediction_error FROM "
    "run n JOIN "
    "environment e ON e.id = n.environment WHERE n.channel = ? AND n.device = ? ORDER BY n.started DESC LIMIT ?";

static void load_runs(struct history_window *window, struct history *history, size_t runs, struct arena *arena)
{
    struct history_run *list = arena_array(arena, runs + 1, sizeof(*list));
    size_t first = runs;
    sqlite3_stmt *rows = database_select(history, runs_sql, "sii", window->channel, window->device_id, (int64_t)runs);
    while (database_next(history, rows))
        list[--first] = (struct history_run){.id = sqlite3_column_int64(rows, 0),
                                             .environment = sqlite3_column_int64(rows, 1),
                                             .started_at = database_text(rows, 2, arena),
                                             .git = database_text(rows, 3, arena),
                                             .facts = database_text(rows, 4, arena),
                                             .started = sqlite3_column_int64(rows, 5),
                                             .gated = sqlite3_column_int(rows, 6),
                                             .run_id = database_text(rows, 7, arena),
                                             .prediction_error = database_double(rows, 8)};
    window->runs = list + first;
    window->run_count = runs - first;
    if (!history->status && !window->run_count)
        history->status =
            err_set(history->err, ERR_CONFIG, "%s is damaged: runs of the channel '%s' lack what 'history check' lists",
                    history->path, window->channel);
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

/* Returns the previous row's copy if the text is equal, as it is for most runs. */
static const char *same(const char *before, sqlite3_stmt *statement, int k, struct arena *arena)
{
    const char *text = (const char *)sqlite3_column_text(statement, k);
    text = text ? text : "";
    return strcmp(before, text) ? arena_strdup(arena, text) : before;
}

static const struct history_point nothing = {
    .value = NAN, .cycles = NAN, .tick = NAN, .status = "", .identity = "", .reason = ""};

const struct history_series history_unknown = {.timer = "",
                                               .unit = "1",
                                               .shown_unit = "1",
                                               .this_run = NAN,
                                               .shift = NAN,
                                               .baseline = NAN,
                                               .since = "",
                                               .cause = "",
                                               .commits = "",
                                               .status = "",
                                               .reason = "",
                                               .group_change = NAN,
                                               .group_limit = NAN};

static const char series_sql[] = "SELECT id, case_id, label, class, timer, unit, kind = 'kpi', better = 'higher', kind "
                                 "= 'class', seen, kind = 'kpi' "
                                 "AND mode = 'fraction' FROM series WHERE channel = ?1 AND device = ?2 ORDER BY id";

static void load_rows(struct history_window *window, struct history *history, struct arena *arena)
{
    sqlite3_stmt *rows = database_select(history, series_sql, "si", window->channel, window->device_id);
    const size_t runs = window->run_count + 1;
    while (database_next(history, rows)) {
        struct history_series row = history_unknown;
        row.id = sqlite3_column_int64(rows, 0);
        row.case_id = database_text(rows, 1, arena);
        row.label = database_text(rows, 2, arena);
        row.class = database_text(rows, 3, arena);
        row.timer = database_text(rows, 4, arena);
        row.unit = database_text(rows, 5, arena);
        row.is_kpi = sqlite3_column_int(rows, 6);
        row.higher_is_better = sqlite3_column_int(rows, 7);
        row.is_class = sqlite3_column_int(rows, 8);
        row.seen = sqlite3_column_int64(rows, 9);
        row.shown_unit = sqlite3_column_int(rows, 10) ? UNIT_PERCENT : row.unit;
        row.points = arena_array(arena, runs, sizeof(*row.points));
        row.breaks = arena_array(arena, runs, sizeof(*row.breaks));
        row.changed = arena_array(arena, runs, sizeof(*row.changed));
        for (size_t k = 0; k < window->run_count; k++)
            row.points[k] = nothing;
        ARENA_PUSH(arena, window->rows, window->row_count, row);
    }
}

/* Returns the row of series `id`, or NULL. Rows and requested ids ascend, so the search continues at *at. */
static struct history_series *row_of(struct history_window *window, int64_t id, size_t *at)
{
    while (*at < window->row_count && window->rows[*at].id < id)
        ++*at;
    return *at < window->row_count && window->rows[*at].id == id ? &window->rows[*at] : NULL;
}

static const char points_sql[] =
    "SELECT p.series, p.value, p.cycles, p.tick, p.status, i.parts, p.reason, p.remeasured, CASE WHEN p.remeasured "
    "THEN p.trials END FROM point p LEFT JOIN identity i ON i.id = p.identity WHERE p.run = ? ORDER BY p.series";

/* Trials measured again follow those of the run itself. */
static void load_again(struct history_point *out, sqlite3_stmt *rows)
{
    double times[SHIFT_MAX_TRIALS];
    const size_t all = (size_t)sqlite3_column_bytes(rows, 8) / sizeof(*times);
    const int64_t again = sqlite3_column_int64(rows, 7);
    if (again <= 0 || (size_t)again >= all || again > SHIFT_MAX_TRIALS)
        return;
    const size_t count = (size_t)again;
    memcpy(times, (const double *)sqlite3_column_blob(rows, 8) + all - count, count * sizeof(*times));
    const double median = median_of(times, count); /* sorts them */
    if (!isfinite(median))
        return;
    out->again = median;
    out->again_least = times[0];
}

static void load_points(struct history_window *window, size_t run, struct history *history, struct arena *arena)
{
    sqlite3_stmt *rows = database_select(history, points_sql, "i", window->runs[run].id);
    size_t at = 0;
    while (database_next(history, rows)) {
        struct history_series *out = row_of(window, sqlite3_column_int64(rows, 0), &at);
        const struct history_point *last = out && run ? &out->points[run - 1] : &nothing;
        if (!out)
            continue;
        out->points[run] = (struct history_point){.value = database_double(rows, 1),
                                                  .cycles = database_double(rows, 2),
                                                  .tick = database_double(rows, 3),
                                                  .status = same(last->status, rows, 4, arena),
                                                  .identity = same(last->identity, rows, 5, arena),
                                                  .reason = same(last->reason, rows, 6, arena),
                                                  .present = true};
        load_again(&out->points[run], rows);
    }
}

/* ---- measurements ---- */

unsigned history_changes(const struct history_point *a, const struct history_point *b)
{
    struct identity x, y;
    if (a->identity == b->identity || !strcmp(a->identity, b->identity))
        return 0;
    identity_from_line(&x, a->identity);
    identity_from_line(&y, b->identity);
    return identity_differs(&x, &y);
}

/* ---- decisions and alarms ---- */

static const char accepted_sql[] =
    "SELECT a.series, a.start, a.started, NOT EXISTS (SELECT 1 FROM alarm m WHERE m.series = a.series AND m.closed = "
    "a.started AND m.closed_by = 'accepted') FROM accepted a JOIN series s ON s.id = a.series "
    "WHERE s.channel = ? AND s.device = ? ORDER BY a.series";

static void load_accepted(struct history_window *window, struct history *history)
{
    sqlite3_stmt *rows = database_select(history, accepted_sql, "si", window->channel, window->device_id);
    size_t at = 0;
    while (database_next(history, rows)) {
        struct history_series *out = row_of(window, sqlite3_column_int64(rows, 0), &at);
        const size_t start = history_run_at(window, sqlite3_column_int64(rows, 1));
        if (!out)
            continue;
        if (start < window->run_count)
            out->breaks[start] = true;
        out->retired = out->retired || sqlite3_column_int64(rows, 2) > out->seen;
        out->accepted_slow = out->accepted_slow || sqlite3_column_int(rows, 3);
    }
}

/* Selects all alarms: open ones count whatever their age, and the last one gives the start of the segment. */
static const char alarms_sql[] =
    "SELECT a.series, a.started, a.tau, a.tau_at, a.cause, a.commits, a.shift, a.sigma, a.baseline, a.closed IS "
    "NULL, ifnull(a.closed_by = 'accepted', 0) FROM alarm a JOIN series s ON s.id = a.series WHERE s.channel = ? AND "
    "s.device = ? ORDER BY a.series, a.started";

static void load_alarms(struct history_window *window, struct history *history, struct arena *arena)
{
    sqlite3_stmt *rows = database_select(history, alarms_sql, "si", window->channel, window->device_id);
    size_t at = 0;
    while (database_next(history, rows)) {
        struct history_series *out = row_of(window, sqlite3_column_int64(rows, 0), &at);
        if (out)
            ARENA_PUSH(arena, out->alarms, out->alarm_count,
                       (struct history_alarm){.started = sqlite3_column_int64(rows, 1),
                                              .tau = sqlite3_column_int64(rows, 2),
                                              .tau_at = database_text(rows, 3, arena),
                                              .cause = database_text(rows, 4, arena),
                                              .commits = database_text(rows, 5, arena),
                                              .shift = sqlite3_column_double(rows, 6),
                                              .sigma = sqlite3_column_double(rows, 7),
                                              .baseline = database_double(rows, 8),
                                              .open = sqlite3_column_int(rows, 9),
                                              .accepted = sqlite3_column_int(rows, 10)});
    }
}

const struct history_series *history_other_timer(const struct history_window *w, const struct history_series *row)
{
    FOR_EACH(const struct history_series, other, w->rows, w->row_count)
        if (other != row && !other->is_class && other->is_kpi == row->is_kpi && !strcmp(other->case_id, row->case_id) &&
            other->points[w->run_count - 1].present)
            return other;
    return NULL;
}

const struct history_alarm *history_improvement(const struct history_window *w, const struct history_series *row)
{
    const size_t count = row->alarm_count;
    const struct history_alarm *last = count ? &row->alarms[count - 1] : NULL;
    const bool undone = count > 1 && last[-1].shift > 0 && history_run_at(w, last[-1].tau) < w->run_count;
    return last && !last->open && !last->accepted && last->shift < 0 && !undone &&
                   history_run_at(w, last->tau) + HISTORY_NEWS_RUNS >= w->run_count
               ? last
               : NULL;
}

double history_open_level(const struct history_series *row, const struct history_alarm **first)
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
                         const char *device, size_t runs, struct arena *arena)
{
    *window = (struct history_window){.channel = channel ? channel : HISTORY_CHANNEL};
    choose_device(window, history, device, arena);
    load_runs(window, history, runs, arena);
    load_rows(window, history, arena);
    for (size_t run = 0; run < window->run_count; run++)
        load_points(window, run, history, arena);
    /* A change of the input data or of the work is not a change in speed. */
    const unsigned another = IDENTITY_BIT(IDENTITY_INPUTS) | IDENTITY_BIT(IDENTITY_WORK);
    FOR_EACH(struct history_series, row, window->rows, window->row_count) {
        const struct history_point *before = &nothing;
        for (size_t run = 0; run < window->run_count; run++) {
            if (!isfinite(row->points[run].value))
                continue;
            row->changed[run] = history_changes(before, &row->points[run]) & another;
            row->breaks[run] = row->changed[run];
            before = &row->points[run];
        }
    }
    load_accepted(window, history);
    load_alarms(window, history, arena);
    return history->status;
}
