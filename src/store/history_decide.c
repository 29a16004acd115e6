/* SPDX-License-Identifier: MIT
 *
 * What happens to nights after they were added: further trials of the same night, and what people accept.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "history_internal.h"
#include "rooftile/clock.h"
#include "rooftile/summary.h"
#include "rooftile/text.h"

/* ---- confirmation: more trials of tonight ---- */

struct confirming {
    const struct database *db;
    const struct history_window *window;
    sqlite3_stmt *select, *update;
    struct arena *arena;
};

static const struct history_row *row_of(const struct confirming *confirming, const struct result_case *c)
{
    const size_t length = result_id_length(c->id);
    for (size_t k = 0; k < confirming->window->row_count; k++) {
        const struct history_row *row = &confirming->window->rows[k];
        if (!row->is_kpi && strlen(row->case_id) == length && !strncmp(row->case_id, c->id, length) &&
            (c->timer == TIMED_NONE || !strcmp(row->timer, timer_name(c->timer))))
            return row;
    }
    return NULL;
}

/* Tonight's trials and the new ones; returns how many. */
static size_t all_trials(double **times, const struct confirming *confirming, const struct result_case *c)
{
    const size_t kept = (size_t)sqlite3_column_bytes(confirming->select, 0) / sizeof(double);
    const size_t added = c->trial_count ? c->trial_count : 1;
    const void *blob = sqlite3_column_blob(confirming->select, 0);
    size_t count = kept;
    *times = arena_array(confirming->arena, kept + added, sizeof(**times));
    if (kept)
        memcpy(*times, blob, kept * sizeof(**times));
    for (size_t k = 0; k < c->trial_count; k++)
        if (c->trials[k].status == CASE_OK && c->trials[k].median_ns > 0)
            (*times)[count++] = c->trials[k].median_ns;
    if (!c->trial_count)
        (*times)[count++] = c->stats.median;
    return count;
}

static enum status join(struct confirming *confirming, const struct history_row *row, int64_t night,
                        const struct result_case *c, struct err *err)
{
    const bool counts = result_case_counts(c);
    const char *finding = result_case_finding(c);
    bool found = false;
    double *times = NULL, median = NAN;
    size_t count = 0;
    enum status status = database_bind(confirming->db, confirming->select, err, "ii", row->id, night);
    if (!status)
        status = database_step(confirming->db, confirming->select, &found, err);
    if (!status && found && counts) {
        count = all_trials(&times, confirming, c);
        double *sorted = arena_copy(confirming->arena, times, count * sizeof(*times));
        median = median_of(sorted, count);
    }
    sqlite3_reset(confirming->select);
    if (status || !found)
        return status;
    /* What fails when it is run again has failed, however well it did before. */
    status =
        database_bind(confirming->db, confirming->update, err, "dsbiii", median,
                      counts       ? "ok"
                      : finding[0] ? finding
                                   : case_status_name(c->status),
                      times, count * sizeof(*times), (int64_t)(c->trial_count ? c->trial_count : 1), row->id, night);
    return status ? status : database_finish(confirming->db, confirming->update, err);
}

static enum status join_all(size_t *points, struct confirming *confirming, const struct result *result, struct err *err)
{
    const int64_t night = confirming->window->nights[0].id;
    enum status status = database_prepare(&confirming->select, confirming->db,
                                          "SELECT trials FROM point WHERE series = ? AND night = ?", err);
    if (!status)
        status = database_prepare(
            &confirming->update, confirming->db,
            "UPDATE point SET value = ?, status = ?, trials = ?, confirmed = confirmed + ? WHERE series "
            "= ? AND night = ?",
            err);
    for (size_t k = 0; k < result->case_count && !status; k++) {
        const struct history_row *row = row_of(confirming, &result->cases[k]);
        if (!row)
            return err_set(err, ERR_CONFIG,
                           "%s was measured again, but the newest night has no such series (timer '%s')",
                           result->cases[k].id, timer_name(result->cases[k].timer));
        status = join(confirming, row, night, &result->cases[k], err);
        *points += !status;
    }
    return status;
}

enum status history_confirm(struct history *history, const char *lane, const struct result *result, size_t *points,
                            struct err *err)
{
    struct arena arena = {0};
    struct history_window window;
    struct confirming confirming = {.db = &history->database, .window = &window, .arena = &arena};
    *points = 0;
    enum status status = database_begin(confirming.db, err);
    if (!status)
        status = history_load(&window, history, lane, result->device.name, 1, &arena, err);
    if (!status)
        status = join_all(points, &confirming, result, err);
    sqlite3_finalize(confirming.select);
    sqlite3_finalize(confirming.update);
    if (!status)
        status = database_commit(confirming.db, err);
    if (status)
        database_rollback(confirming.db);
    arena_release(&arena);
    return status;
}

/* ---- accept ---- */

static bool wanted(const struct history_row *row, bool missing, const char *const *globs, size_t glob_count)
{
    if (glob_count)
        return text_filtered(globs, glob_count, row->case_id, row->label);
    return missing || fabs(row->open_level) > 0;
}

static enum status accept_rows(size_t *count, const struct database *db, const struct history_window *w,
                               const char *const *globs, size_t glob_count, const char *reason, struct err *err)
{
    sqlite3_stmt *statement = NULL;
    const size_t last = w->night_count - 1;
    char now[32];
    clock_utc(now);
    enum status status =
        database_prepare(&statement, db,
                         "INSERT INTO accepted (series, night, reason, at) VALUES (?, ?, ?, ?) ON CONFLICT DO "
                         "UPDATE SET reason = excluded.reason, at = excluded.at",
                         err);
    for (size_t k = 0; k < w->row_count && !status; k++) {
        const struct history_row *row = &w->rows[k];
        const bool missing = !row->points[last].present && !row->retired;
        if (!wanted(row, missing, globs, glob_count))
            continue;
        status = database_bind(db, statement, err, "iiss", row->id, w->nights[last].id, reason, now);
        if (!status)
            status = database_finish(db, statement, err);
        *count += !status;
    }
    sqlite3_finalize(statement);
    return status;
}

enum status history_accept(size_t *count, struct history *history, const char *lane, const char *device,
                           const char *const *globs, size_t glob_count, const char *reason, struct err *err)
{
    struct arena arena = {0};
    struct history_window window;
    const struct database *db = &history->database;
    *count = 0;
    if (!reason || !reason[strspn(reason, " \t\n")])
        return err_set(err, ERR_USAGE, "a baseline moves for a reason only: --reason 'driver 6.3, ticket 123'");
    enum status status = database_begin(db, err);
    if (!status)
        status = history_load(&window, history, lane, device, GATE_KEEP_NIGHTS, &arena, err);
    if (!status)
        status = accept_rows(count, db, &window, globs, glob_count, reason, err);
    if (!status && !*count)
        status =
            err_set(err, ERR_CONFIG, glob_count ? "no series matches" : "nothing is open: there is nothing to accept");
    if (!status)
        status = database_commit(db, err);
    if (status)
        database_rollback(db);
    arena_release(&arena);
    return status;
}
