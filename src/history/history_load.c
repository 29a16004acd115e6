/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "history_internal.h"
#include "rooftile/text.h"

/* ---- which device ---- */

/* Part of a key in any case, or "hip:0", whose number means nothing to a history. */
static const char device_sql[] =
    "SELECT DISTINCT d.id, d.name, d.key FROM device d JOIN night n ON n.device = d.id WHERE n.lane = ?1 AND (?2 IS "
    "NULL OR instr(lower(d.key), lower(?2)) > 0 OR (instr(?2, ':') AND d.backend = substr(?2, 1, instr(?2, ':') - 1))) "
    "ORDER BY d.key <> ifnull(?2, ''), d.id";

static enum status choose_device(struct history_window *window, const struct database *db, const char *wanted,
                                 struct arena *arena, struct err *err)
{
    sqlite3_stmt *statement = NULL;
    struct text keys = {0};
    bool row = true, exact = false;
    size_t found = 0;
    enum status status = database_prepare(&statement, db, device_sql, err);
    if (!status)
        status = database_bind(db, statement, err, "ss", window->lane, wanted);
    while (!status && !exact) {
        status = database_step(db, statement, &row, err);
        if (status || !row)
            break;
        const char *key = (const char *)sqlite3_column_text(statement, 2);
        exact = wanted && !strcmp(key, wanted);
        window->device_id = sqlite3_column_int64(statement, 0);
        window->device = arena_strdup(arena, (const char *)sqlite3_column_text(statement, 1));
        text_addf(&keys, "\n  %s", key);
        found++;
    }
    sqlite3_finalize(statement);
    if (!status && !found)
        status = err_set(err, ERR_CONFIG, "%s has no night in the lane '%s'%s%s%s", db->path, window->lane,
                         wanted ? " of a device '" : "", wanted ? wanted : "", wanted ? "'" : "");
    if (!status && found > 1)
        status = err_set(err, ERR_CONFIG,
                         "the lane '%s' has several devices; name one with --device, by a part of its line:%s",
                         window->lane, keys.data);
    text_release(&keys);
    return status;
}

/* ---- nights, newest first in the query, oldest first in memory ---- */

static const char *column(sqlite3_stmt *statement, int k, struct arena *arena)
{
    const char *text = (const char *)sqlite3_column_text(statement, k);
    return arena_strdup(arena, text ? text : "");
}

static enum status load_nights(struct history_window *window, const struct database *db, size_t nights,
                               struct arena *arena, struct err *err)
{
    sqlite3_stmt *statement = NULL;
    bool row = true;
    struct history_night *list = arena_array(arena, nights + 1, sizeof(*list));
    size_t count = 0;
    enum status status = database_prepare(
        &statement, db,
        "SELECT n.id, n.environment, n.started_at, n.git, e.facts, n.started, n.gated, n.run_id FROM night n JOIN "
        "environment e ON e.id = n.environment WHERE n.lane = ? AND n.device = ? ORDER BY "
        "n.started DESC LIMIT ?",
        err);
    if (!status)
        status = database_bind(db, statement, err, "sii", window->lane, window->device_id, (int64_t)nights);
    while (!status && row) {
        status = database_step(db, statement, &row, err);
        if (!status && row)
            list[count++] = (struct history_night){.id = sqlite3_column_int64(statement, 0),
                                                   .environment = sqlite3_column_int64(statement, 1),
                                                   .started_at = column(statement, 2, arena),
                                                   .git = column(statement, 3, arena),
                                                   .facts = column(statement, 4, arena),
                                                   .started = sqlite3_column_int64(statement, 5),
                                                   .gated = sqlite3_column_int(statement, 6),
                                                   .run_id = column(statement, 7, arena)};
    }
    sqlite3_finalize(statement);
    window->nights = arena_array(arena, count + 1, sizeof(*list));
    for (size_t k = 0; k < count; k++)
        window->nights[k] = list[count - 1 - k];
    window->night_count = count;
    return status;
}

size_t history_night_at(const struct history_window *window, int64_t started)
{
    size_t low = 0, high = window->night_count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (window->nights[middle].started < started)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- series and points ---- */

/* Most nights say what the one before said. */
static const char *same(const char *before, sqlite3_stmt *statement, int k, struct arena *arena)
{
    const char *text = (const char *)sqlite3_column_text(statement, k);
    text = text ? text : "";
    return strcmp(before, text) ? arena_strdup(arena, text) : before;
}

static const struct history_point nothing = {
    .value = NAN, .cycles = NAN, .tick = NAN, .status = "", .object = "", .reason = ""};

static enum status load_rows(struct history_window *window, const struct database *db, struct arena *arena,
                             struct err *err)
{
    sqlite3_stmt *statement = NULL;
    bool row = true;
    size_t room = 64;
    window->rows = arena_array(arena, room, sizeof(*window->rows));
    enum status status = database_prepare(&statement, db,
                                          "SELECT id, case_id, label, class, timer, unit, kind = 'kpi', better = "
                                          "'higher', kind = 'class', seen FROM series "
                                          "WHERE lane = ? AND device = ? ORDER BY id",
                                          err);
    if (!status)
        status = database_bind(db, statement, err, "si", window->lane, window->device_id);
    while (!status && row) {
        status = database_step(db, statement, &row, err);
        if (status || !row)
            break;
        if (window->row_count == room) {
            struct history_row *more = arena_array(arena, 2 * room, sizeof(*more));
            memcpy(more, window->rows, room * sizeof(*more));
            window->rows = more;
            room *= 2;
        }
        struct history_row *out = &window->rows[window->row_count++];
        *out = (struct history_row){.id = sqlite3_column_int64(statement, 0),
                                    .case_id = column(statement, 1, arena),
                                    .label = column(statement, 2, arena),
                                    .class = column(statement, 3, arena),
                                    .timer = column(statement, 4, arena),
                                    .unit = column(statement, 5, arena),
                                    .is_kpi = sqlite3_column_int(statement, 6),
                                    .higher_is_better = sqlite3_column_int(statement, 7),
                                    .is_class = sqlite3_column_int(statement, 8),
                                    .seen = sqlite3_column_int64(statement, 9)};
        out->points = arena_array(arena, window->night_count + 1, sizeof(*out->points));
        out->breaks = arena_array(arena, window->night_count + 1, sizeof(*out->breaks));
        for (size_t k = 0; k < window->night_count; k++)
            out->points[k] = nothing;
    }
    sqlite3_finalize(statement);
    return status;
}

/* Rows are in the order of their ids, and so are the points. */
static struct history_row *row_of(struct history_window *window, int64_t id, size_t *at)
{
    while (*at < window->row_count && window->rows[*at].id < id)
        ++*at;
    return *at < window->row_count && window->rows[*at].id == id ? &window->rows[*at] : NULL;
}

static double number(sqlite3_stmt *statement, int k)
{
    return sqlite3_column_type(statement, k) == SQLITE_NULL ? NAN : sqlite3_column_double(statement, k);
}

static enum status load_points(struct history_window *window, const struct database *db, struct arena *arena,
                               struct err *err)
{
    for (size_t night = 0; night < window->night_count; night++) {
        sqlite3_stmt *statement = NULL;
        bool row = true;
        size_t at = 0;
        enum status status =
            database_prepare(&statement, db,
                             "SELECT p.series, p.value, p.cycles, p.tick, p.status, o.sha256, p.reason FROM "
                             "point p LEFT JOIN object o ON o.id = p.object WHERE p.night = ? ORDER BY "
                             "p.series",
                             err);
        if (!status)
            status = database_bind(db, statement, err, "i", window->nights[night].id);
        while (!status && row) {
            status = database_step(db, statement, &row, err);
            struct history_row *out = row && !status ? row_of(window, sqlite3_column_int64(statement, 0), &at) : NULL;
            const struct history_point *last = out && night ? &out->points[night - 1] : &nothing;
            if (out)
                out->points[night] = (struct history_point){.value = number(statement, 1),
                                                            .cycles = number(statement, 2),
                                                            .tick = number(statement, 3),
                                                            .status = same(last->status, statement, 4, arena),
                                                            .object = same(last->object, statement, 5, arena),
                                                            .reason = same(last->reason, statement, 6, arena),
                                                            .present = true};
        }
        sqlite3_finalize(statement);
        if (status)
            return status;
    }
    return STATUS_OK;
}

/* ---- decisions and alarms ---- */

static enum status load_accepted(struct history_window *window, const struct database *db, struct err *err)
{
    sqlite3_stmt *statement = NULL;
    bool row = true;
    size_t at = 0;
    enum status status = database_prepare(&statement, db,
                                          "SELECT a.series, a.start, a.started FROM accepted a JOIN series s ON s.id = "
                                          "a.series WHERE s.lane = ? AND s.device = ? ORDER BY a.series",
                                          err);
    if (!status)
        status = database_bind(db, statement, err, "si", window->lane, window->device_id);
    while (!status && row) {
        status = database_step(db, statement, &row, err);
        struct history_row *out = row && !status ? row_of(window, sqlite3_column_int64(statement, 0), &at) : NULL;
        if (!out)
            continue;
        const size_t start = history_night_at(window, sqlite3_column_int64(statement, 1));
        if (start < window->night_count)
            out->breaks[start] = true;
        out->retired = out->retired || sqlite3_column_int64(statement, 2) > out->seen;
    }
    sqlite3_finalize(statement);
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
static enum status load_alarms(struct history_window *window, const struct database *db, struct arena *arena,
                               struct err *err)
{
    sqlite3_stmt *statement = NULL;
    bool row = true;
    size_t at = 0;
    enum status status = database_prepare(
        &statement, db,
        "SELECT a.series, a.started, a.tau, a.tau_at, a.cause, a.commits, a.shift, a.sigma, a.baseline, a.closed IS "
        "NULL, ifnull(a.closed_by = 'accepted', 0) FROM alarm a JOIN series s ON s.id = a.series WHERE s.lane = ? AND "
        "s.device = ? ORDER BY a.series, a.started",
        err);
    if (!status)
        status = database_bind(db, statement, err, "si", window->lane, window->device_id);
    while (!status && row) {
        status = database_step(db, statement, &row, err);
        struct history_row *out = row && !status ? row_of(window, sqlite3_column_int64(statement, 0), &at) : NULL;
        if (!out)
            continue;
        *history_more_alarms(out, arena) = (struct history_alarm){.started = sqlite3_column_int64(statement, 1),
                                                                  .tau = sqlite3_column_int64(statement, 2),
                                                                  .tau_at = column(statement, 3, arena),
                                                                  .cause = column(statement, 4, arena),
                                                                  .commits = column(statement, 5, arena),
                                                                  .shift = sqlite3_column_double(statement, 6),
                                                                  .sigma = sqlite3_column_double(statement, 7),
                                                                  .baseline = number(statement, 8),
                                                                  .open = sqlite3_column_int(statement, 9),
                                                                  .accepted = sqlite3_column_int(statement, 10)};
    }
    sqlite3_finalize(statement);
    return status;
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

enum status history_load(struct history_window *window, struct history *history, const char *lane, const char *device,
                         size_t nights, struct arena *arena, struct err *err)
{
    const struct database *db = &history->database;
    struct history_window loaded = {.lane = lane ? lane : HISTORY_LANE};
    enum status status = choose_device(&loaded, db, device, arena, err);
    if (!status)
        status = load_nights(&loaded, db, nights, arena, err);
    if (!status)
        status = load_rows(&loaded, db, arena, err);
    if (!status)
        status = load_points(&loaded, db, arena, err);
    if (!status)
        status = load_accepted(&loaded, db, err);
    if (!status)
        status = load_alarms(&loaded, db, arena, err);
    if (!status)
        *window = loaded;
    return status;
}
