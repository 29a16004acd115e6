/* SPDX-License-Identifier: MIT
 *
 * Compares a device with the others of its group: those in the same channel that fleet.h considers alike. Changes on
 * all of them have a shared cause. Some slow devices show only by comparison, not in any series of their own.
 */

#include "history_internal.h"
#include "rooftile/outlier.h"
#include "rooftile/summary.h"

enum {
    LIKE_S = 7 * 86400,
    OWN_RUNS = 2,
    LAST_BEFORE = 3,
    KEY_PARTS = 6 /* parts of a device's key: its type, not its identity */
};
#define SHARE 0.5 /* of a shift: a device with a smaller one has not moved */

struct group {
    struct history_judging *judging;
    int64_t *devices; /* the other devices */
    size_t count;
};

/* ---- who is alike ---- */

static size_t kind_length(const char *key)
{
    size_t at = 0;
    for (int k = 0; k < KEY_PARTS; k++)
        at += strcspn(key + at, "|") + (key[at + strcspn(key + at, "|")] == '|');
    return at;
}

static bool are_alike(const char *key, const char *facts, const char *other_key, const char *other_facts)
{
    static const char *const names[] = {"driver", "compiled for", "power cap"};
    const size_t kind = kind_length(key);
    if (kind != kind_length(other_key) || memcmp(key, other_key, kind) != 0)
        return false;
    for (size_t k = 0; k < COUNT_OF(names); k++) {
        size_t a = 0, b = 0;
        const char *x = history_fact(&a, facts, names[k], strlen(names[k])),
                   *y = history_fact(&b, other_facts, names[k], strlen(names[k]));
        if (a != b || memcmp(x, y, a) != 0)
            return false;
    }
    return true;
}

/* Selects each device's newest run, this device first. */
static const char newest_sql[] =
    "SELECT d.id, d.key, e.facts, max(n.started) FROM run n JOIN device d ON d.id = n.device JOIN environment e ON "
    "e.id = n.environment WHERE n.channel = ?1 GROUP BY d.id ORDER BY d.id <> ?2, d.id";

static void find_group(struct group *group)
{
    const struct history_window *w = &group->judging->window;
    struct history *history = group->judging->history;
    struct arena *arena = group->judging->arena;
    const char *key = NULL, *facts = NULL;
    sqlite3_stmt *rows = database_select(history, newest_sql, "si", w->channel, w->device_id);
    while (database_next(history, rows)) {
        const char *other = database_text(rows, 1, arena), *its = database_text(rows, 2, arena);
        if (key && are_alike(key, facts, other, its))
            ARENA_PUSH(arena, group->devices, group->count, sqlite3_column_int64(rows, 0));
        facts = key ? facts : its;
        key = key ? key : other;
    }
}

/* ---- values of another device ---- */

static const char values_sql[] =
    "SELECT n.started, p.value, i.parts FROM series s JOIN point p ON p.series = s.id JOIN run n ON n.id = p.run LEFT "
    "JOIN identity i ON i.id = p.identity WHERE s.channel = ?1 AND s.device = ?2 AND s.kind = ?3 AND s.case_id = ?4 "
    "AND s.timer = ?5 AND n.started >= ?6 AND p.value IS NOT NULL ORDER BY n.started";

static sqlite3_stmt *select_values(const struct group *group, const struct history_series *row, int64_t device,
                                   int64_t from)
{
    return database_select(group->judging->history, values_sql, "sisssi", group->judging->window.channel, device,
                           row->is_kpi ? "kpi" : "case", row->case_id, row->timer, from);
}

/* Returns ln(level since `tau` / level before); NaN if either is missing. */
static double shift_of(const struct group *group, const struct history_series *row, int64_t device, int64_t tau)
{
    double before[LAST_BEFORE], *after = NULL;
    size_t before_count = 0, after_count = 0;
    sqlite3_stmt *rows = select_values(group, row, device, group->judging->window.runs[0].started);
    while (database_next(group->judging->history, rows)) {
        const double value = sqlite3_column_double(rows, 1);
        if (sqlite3_column_int64(rows, 0) < tau)
            before[before_count++ % LAST_BEFORE] = value;
        else
            ARENA_PUSH(group->judging->arena, after, after_count, value);
    }
    before_count = before_count < LAST_BEFORE ? before_count : LAST_BEFORE;
    return before_count && after_count ? log(median_of(after, after_count) / median_of(before, before_count)) : NAN;
}

/* Returns the newest value with the same code, work and inputs; NaN if there is none within a week of this run. */
static double newest_of(const struct group *group, const struct history_series *row, int64_t device,
                        const struct history_point *own)
{
    const struct history_window *w = &group->judging->window;
    const unsigned checked = IDENTITY_BIT(IDENTITY_CHECK) | IDENTITY_BIT(IDENTITY_DEVICE);
    const int64_t now = w->runs[w->run_count - 1].started;
    sqlite3_stmt *rows = select_values(group, row, device, now - LIKE_S);
    double value = NAN;
    while (database_next(group->judging->history, rows)) {
        const struct history_point point = {.identity = text_or_empty((const char *)sqlite3_column_text(rows, 2))};
        if (sqlite3_column_int64(rows, 0) <= now + LIKE_S && !(history_changes(own, &point) & ~checked))
            value = sqlite3_column_double(rows, 1);
    }
    return value;
}

/* ---- series that moved: did the others move as well? ---- */

/* For a class, the median shift of its cases counts. */
static void find_shared(struct history_series *s, const struct group *group)
{
    const struct history_window *w = &group->judging->window;
    const double change = log1p(s->finding == FINDING_OPEN ? s->level : s->shift);
    const struct history_alarm *first = NULL;
    history_open_level(s, &first);
    int64_t tau = s->finding == FINDING_OPEN && first ? first->tau : w->runs[s->verdict.tau].started;
    const size_t at = history_run_at(w, tau);
    /* The other devices' runs may start before this device's run: half way to its previous run. */
    if (at > 0 && at < w->run_count)
        tau = w->runs[at - 1].started + (tau - w->runs[at - 1].started) / 2;
    double *shifts = arena_array(group->judging->arena, w->row_count + 1, sizeof(*shifts));
    for (size_t k = 0; k < group->count; k++) {
        size_t count = 0;
        FOR_EACH(const struct history_series, other, w->rows, w->row_count) {
            const bool of_class = s->is_class && !other->is_class && !other->is_kpi && !strcmp(other->class, s->class);
            shifts[count] = other == s || of_class ? shift_of(group, other, group->devices[k], tau) : NAN;
            count += isfinite(shifts[count]) ? 1 : 0;
        }
        s->group += count > 0;
        s->group_moved += count && median_of(shifts, count) / change >= SHARE;
    }
    if (s->group > 1 && 2 * s->group_moved > s->group && (!s->cause[0] || !strcmp(s->cause, "environment")))
        s->cause = "group";
}

/* ---- steady series: slower than the others? ---- */

static void find_slow(struct history_series *s, const struct group *group)
{
    const struct history_window *w = &group->judging->window;
    const struct outlier_rule rule = outlier_defaults(w->row_count);
    const struct history_point *own = &s->points[w->run_count - 1];
    double *values = arena_array(group->judging->arena, group->count + 1, sizeof(*values));
    struct outlier *out = arena_array(group->judging->arena, group->count + 1, sizeof(*out));
    struct outlier_modes modes;
    values[0] = log(own->value);
    for (size_t k = 0; k < group->count; k++) {
        values[k + 1] = log(newest_of(group, s, group->devices[k], own));
        s->group += isfinite(values[k + 1]) ? 1 : 0;
    }
    outliers_judge(out, &modes, values, group->count + 1, s->verdict.sigma, &rule);
    s->group_change = out[0].change;
    s->group_limit = out[0].limit;
    if (!out[0].slow || s->accepted_slow)
        return;
    /* As in a fleet, a device must be slow in every run; a single slow run is noise. */
    const double least = own->value / (1 + out[0].change) * (1 + rule.delta);
    for (size_t run = w->run_count, seen = 0; run-- > 0 && seen < OWN_RUNS && !s->breaks[run]; seen++)
        if (s->points[run].value <= least)
            return;
    s->finding = FINDING_SLOW;
    s->slower = true;
}

void history_group(struct history_series *const *series, size_t count, struct history_judging *judging)
{
    struct group group = {.judging = judging};
    find_group(&group);
    for (size_t k = 0; k < count && group.count; k++) {
        struct history_series *s = series[k];
        if (s->finding == FINDING_CONFIRMED || s->finding == FINDING_OPEN || s->finding == FINDING_TENTATIVE)
            find_shared(s, &group);
        else if (s->finding == FINDING_NONE && !s->is_kpi && !s->is_class && isfinite(s->this_run))
            find_slow(s, &group);
    }
}
