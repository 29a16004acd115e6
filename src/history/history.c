/* SPDX-License-Identifier: MIT
 *
 * Operations on runs already in a history: further trials of the same run, accepting, upkeep.
 */
#include "rooftile/history.h"

#include "history_internal.h"
#include "rooftile/clock.h"
#include "rooftile/log.h"
#include "rooftile/summary.h"

enum status history_open(struct history **history, const char *path, enum history_access access, struct err *err)
{
    struct history *opened = new_zeroed(1, sizeof(*opened));
    enum status status = database_open(opened, path, access, err);
    if (status)
        free(opened);
    else
        *history = opened;
    return status;
}

double history_in_unit(const struct history_series *row, double shift)
{
    return row->higher_is_better ? 1 / (1 + shift) - 1 : shift;
}

void history_close(struct history *history)
{
    if (!history)
        return;
    database_close(history);
    free(history);
}

/* ---- confirmation: more trials of this run ---- */

/* `window` holds this run only. */
static const struct history_series *row_of(const struct history_window *window, const struct result_case *c)
{
    const size_t length = result_id_length(c->id);
    char line[IDENTITY_LINE];
    identity_line(line, &c->identity);
    FOR_EACH(const struct history_series, row, window->rows, window->row_count)
        if (!row->is_kpi && !row->is_class && row->points[0].present && strlen(row->case_id) == length &&
            !strncmp(row->case_id, c->id, length) &&
            (c->timer == TIMED_NONE || !row->timer[0] || !strcmp(row->timer, timer_names[c->timer])) &&
            !history_changes(&row->points[0], &(struct history_point){.identity = line}))
            return row;
    return NULL;
}

/* Appends the new trials to those of the run. A case that fails when it is run again has failed, even if it passed
 * before; a case that failed before remains failed. */
static void join(struct history *history, const struct history_window *window, const struct history_series *row,
                 const struct result_case *c, struct arena *arena)
{
    const bool counts = result_case_counts(c);
    const int64_t run = window->runs[0].id;
    double added[SHIFT_MAX_TRIALS], *times = NULL, median = NAN;
    size_t count = 0, more = c->trial_count ? c->trial_count : 1;
    if (strcmp(row->points[0].status, "ok") != 0)
        return;
    if (counts) {
        more = result_trial_times(added, c);
        sqlite3_stmt *rows =
            database_select(history, "SELECT trials FROM point WHERE series = ? AND run = ?", "ii", row->id, run);
        while (database_next(history, rows)) {
            const size_t kept = (size_t)sqlite3_column_bytes(rows, 0) / sizeof(double);
            times = arena_array(arena, kept + more, sizeof(*times));
            if (kept)
                memcpy(times, sqlite3_column_blob(rows, 0), kept * sizeof(*times));
            memcpy(times + kept, added, more * sizeof(*times));
            count = kept + more;
        }
    }
    if (count)
        median = median_of(arena_copy(arena, times, count * sizeof(*times)), count);
    database_do(
        history,
        "UPDATE main.point SET value = ?, status = ?, reason = ?, trials = ?, remeasured = remeasured + ? WHERE "
        "series = ? AND run = ?",
        "dssbiii", median, history_status(c), counts ? NULL : c->reason, times, count * sizeof(*times), (int64_t)more,
        row->id, run);
}

enum status history_confirm(struct history *history, const char *channel, const struct result *result, size_t *points,
                            struct err *err)
{
    SCOPED(arena_release) struct arena arena = {0};
    struct history_window window;
    size_t joined = 0;
    if (history_check_result(result, err) || database_begin(history, true, err))
        return err->status;
    if (!history_load(&window, history, channel, history_device_key(result, &arena), 1, &arena) &&
        database_do(history, "SELECT 1 FROM environment WHERE id = ? AND fingerprint = ?", "is",
                    window.runs[0].environment, result->fingerprint) == DATABASE_NONE &&
        !history->status)
        history->status =
            err_set(err, ERR_CONFIG, "the environment is not that of the newest run: its cases cannot be confirmed");
    for (size_t k = 0; k < result->case_count && !history->status; k++) {
        const struct result_case *c = &result->cases[k];
        const struct history_series *row = row_of(&window, c);
        if (row)
            join(history, &window, row, c, &arena);
        else
            log_warn("W014",
                     "%s was measured again (timer '%s'), but is not in the newest run like that, or its code is "
                     "another now: nothing changes",
                     c->id, timer_names[c->timer]);
        joined += row != NULL;
    }
    if (!history->status && !joined)
        history->status = err_set(err, ERR_CONFIG, "nothing that was measured again is in the newest run");
    if (!database_end(history))
        *points = joined;
    return history->status;
}

/* ---- accept ---- */

enum status history_accept(size_t *count, struct history *history, const char *channel, const char *device,
                           const char *const *globs, size_t glob_count, const char *reason, struct err *err)
{
    SCOPED(arena_release) struct arena arena = {0};
    struct history_window w;
    size_t accepted = 0;
    char now[32];
    if (!reason || !reason[strspn(reason, " \t\n")])
        return err_set(err, ERR_USAGE, "a baseline moves for a reason only: --reason 'driver 6.3, ticket 123'");
    clock_utc(now);
    database_begin(history, true, err);
    history_load(&w, history, channel, device, GATE_KEEP_RUNS, &arena);
    for (size_t k = 0; !history->status && k < w.row_count; k++) {
        const struct history_series *row = &w.rows[k];
        const struct history_alarm *first = NULL;
        const int64_t this_run = w.runs[w.run_count - 1].started;
        history_open_level(row, &first);
        /* A case that now has another timer is not missing. */
        const bool missing =
            !row->is_class && row->seen && !row->retired && row->seen < this_run && !history_other_timer(&w, row);
        if (glob_count ? !text_filtered(globs, glob_count, row->case_id, row->label) : !first && !missing)
            continue;
        /* The new level starts with the newest open alarm; without one, with this run. */
        int64_t start = this_run;
        for (size_t n = 0; n < row->alarm_count; n++)
            start = row->alarms[n].open ? row->alarms[n].tau : start;
        database_do(history,
                    "INSERT INTO main.accepted (series, started, start, reason, at) VALUES (?, ?, ?, ?, ?) "
                    "ON CONFLICT DO UPDATE SET reason = excluded.reason, at = excluded.at",
                    "iiiss", row->id, this_run, start, reason, now);
        database_do(history,
                    "UPDATE main.alarm SET closed = ?, closed_by = 'accepted' WHERE series = ? AND closed IS NULL",
                    "ii", this_run, row->id);
        accepted++;
    }
    if (!history->status && !accepted)
        history->status =
            err_set(err, ERR_CONFIG,
                    glob_count ? "no series matches" : "nothing is open or missing: there is nothing to accept");
    if (!database_end(history))
        *count = accepted;
    return history->status;
}

/* ---- upkeep ---- */

/* A series without points is deleted if its end was accepted after it was last present. Without that acceptance it is
 * still missing, and stays. Closed alarms are useless once their runs are gone. */
static const char *const tidying[] = {
    "DELETE FROM main.series WHERE kind <> 'class' AND NOT EXISTS (SELECT 1 FROM main.point p WHERE p.series = "
    "series.id) AND "
    "EXISTS (SELECT 1 FROM accepted a WHERE a.series = series.id AND a.started > ifnull(series.seen, 0))",
    ("DELETE FROM main.alarm WHERE closed IS NOT NULL AND tau < (SELECT min(n.started) FROM run n JOIN series s ON "
     "n.channel = s.channel AND n.device = s.device WHERE s.id = alarm.series)"),
    "DELETE FROM main.identity WHERE id NOT IN (SELECT identity FROM main.point WHERE identity IS NOT NULL)",
};

/* ?1 channel, ?2 number of runs to keep per device. */
static const char drop_sql[] = "DELETE FROM main.run WHERE channel = ?1 AND id IN (SELECT id FROM (SELECT id, "
                               "row_number() OVER (PARTITION BY device "
                               "ORDER BY started DESC) AS place FROM run WHERE channel = ?1) WHERE place > ?2)";

size_t history_drop_runs(struct history *history, const char *channel, unsigned keep)
{
    database_do(history, drop_sql, "si", channel, (int64_t)keep);
    /* excludes rows deleted by cascade */
    const size_t dropped = history->status ? 0 : (size_t)sqlite3_changes(history->db);
    for (size_t k = 0; k < COUNT_OF(tidying) && dropped; k++)
        database_run(history, tidying[k]);
    return dropped;
}

enum status history_prune(size_t *dropped, struct history *history, const char *channel, unsigned keep, struct err *err)
{
    if (!keep)
        return err_set(err, ERR_USAGE, "one run is the least to keep");
    database_begin(history, true, err);
    const size_t count = history_drop_runs(history, channel ? channel : HISTORY_CHANNEL, keep);
    if (!database_end(history))
        *dropped = count;
    return history->status;
}

/* Each query returns one line per problem. */
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
    database_begin(history, false, err);
    for (size_t k = 0; k < COUNT_OF(checks); k++) {
        sqlite3_stmt *rows = database_select(history, checks[k], "");
        while (database_next(history, rows))
            text_addf(problems, "%s\n", (const char *)sqlite3_column_text(rows, 0));
    }
    database_damage(problems, history);
    return database_end(history);
}
