/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "history_internal.h"
#include "rooftile/text.h"

enum { MAX_CLASSES = 64 };

const char *history_finding_name(enum history_finding finding)
{
    static const char *const names[] = {
        [FINDING_NONE] = "",         [FINDING_FIRM] = "firm",
        [FINDING_OPEN] = "open",     [FINDING_PROVISIONAL] = "provisional",
        [FINDING_BROKEN] = "broken", [FINDING_MISSING] = "missing",
    };
    return names[finding];
}

/* The window in the form that gate.h wants. */
struct judging {
    struct history *history;
    struct history_window window;
    struct gate_set set;
    struct gate_verdict *verdicts, *classes;
    const char *class_names[MAX_CLASSES];
    double delta; /* ln */
    struct arena *arena;
};

static uint32_t class_of(struct judging *judging, const char *name)
{
    uint32_t k = 0;
    while (k < judging->set.class_count && strcmp(judging->class_names[k], name) != 0)
        k++;
    if (k == judging->set.class_count && k < MAX_CLASSES)
        judging->class_names[judging->set.class_count++] = name;
    return k < MAX_CLASSES ? k : MAX_CLASSES - 1;
}

static void make_set(struct judging *judging)
{
    const struct history_window *w = &judging->window;
    struct gate_series *series = arena_array(judging->arena, w->row_count + 1, sizeof(*series));
    bool *breaks = arena_array(judging->arena, w->night_count + 1, sizeof(*breaks));
    for (size_t night = 1; night < w->night_count; night++)
        breaks[night] = w->nights[night].environment != w->nights[night - 1].environment;
    for (size_t k = 0; k < w->row_count; k++) {
        const struct history_row *row = &w->rows[k];
        double *values = arena_array(judging->arena, w->night_count + 1, sizeof(*values));
        double tick = 0;
        for (size_t night = 0; night < w->night_count; night++) {
            const struct history_point *p = &row->points[night];
            values[night] = row->higher_is_better ? 1 / p->value : p->value; /* larger is worse, as of a time */
            if (isfinite(p->tick) && p->value > 0)
                tick = fmax(tick, p->tick / p->value);
        }
        series[k] = (struct gate_series){
            .night_ns = values, .breaks = row->breaks, .floor = tick, .class_index = class_of(judging, row->class)};
    }
    judging->set.series = series;
    judging->set.series_count = w->row_count;
    judging->set.nights = w->night_count;
    judging->set.breaks = breaks;
}

/* ---- tonight, series by series ---- */

static const struct history_point *tonight(const struct judging *judging, const struct history_row *row)
{
    return &row->points[judging->window.night_count - 1];
}

static bool was_there(const struct judging *judging, const struct history_row *row, bool measured)
{
    for (size_t k = 0; k + 1 < judging->window.night_count; k++)
        if (measured ? isfinite(row->points[k].value) : row->points[k].present)
            return true;
    return false;
}

/* The case is there tonight under another timer: then this series has ended, and nothing is missing. */
static const struct history_row *other_timer(const struct judging *judging, const struct history_row *row)
{
    for (size_t k = 0; k < judging->window.row_count; k++) {
        const struct history_row *other = &judging->window.rows[k];
        if (other != row && other->is_kpi == row->is_kpi && !strcmp(other->case_id, row->case_id) &&
            tonight(judging, other)->present)
            return other;
    }
    return NULL;
}

/* A label (measurement.md 2.3, 7): tonight against the last night before the change. */
static const char *cause_of(const struct judging *judging, const struct history_row *row, const struct gate_verdict *v)
{
    const struct history_point *now = tonight(judging, row), *before = NULL;
    for (size_t k = 0; k < v->tau && k < judging->window.night_count; k++)
        if (isfinite(row->points[k].value))
            before = &row->points[k];
    if (!before || row->is_kpi)
        return "";
    if (before->cycles > 0 && now->cycles > 0 && fabs(log(now->cycles / before->cycles)) < judging->delta)
        return "clock";
    if (!before->object[0] || !now->object[0])
        return "";
    return strcmp(before->object, now->object) ? "code" : "environment";
}

static void judge_measured(struct history_series *out, const struct judging *judging, const struct history_row *row)
{
    const struct gate_verdict *v = &out->verdict;
    const bool alarmed = v->state == GATE_FIRM || v->state == GATE_PROVISIONAL;
    const double level = row->open_level + (v->state == GATE_FIRM ? log1p(v->shift) : 0);
    out->level = expm1(level);
    if (alarmed) {
        out->finding = v->state == GATE_FIRM ? FINDING_FIRM : FINDING_PROVISIONAL;
        out->slower = v->slower;
        out->since = judging->window.nights[v->tau].started_at;
        out->cause = cause_of(judging, row, v);
    }
    /* What became slower on an earlier night stays a finding until someone accepts it or it is gone. */
    if (level > judging->delta && !(alarmed && v->slower)) {
        out->finding = FINDING_OPEN;
        out->slower = true;
        out->since = row->open_since;
    }
}

static void judge_row(struct history_series *out, const struct judging *judging, const struct history_row *row,
                      const struct gate_verdict *verdict)
{
    const struct history_point *point = tonight(judging, row);
    *out = (struct history_series){.id = row->id,
                                   .case_id = row->case_id,
                                   .label = row->label,
                                   .class = row->class,
                                   .timer = row->timer,
                                   .unit = row->unit,
                                   .is_kpi = row->is_kpi,
                                   .verdict = *verdict,
                                   .tonight = point->value,
                                   .level = expm1(row->open_level),
                                   .since = "",
                                   .cause = "",
                                   .status = point->present && strcmp(point->status, "ok") ? point->status : "",
                                   .reason = point->reason};
    if (isfinite(point->value)) {
        judge_measured(out, judging, row);
    } else if (!point->present) {
        const struct history_row *other = other_timer(judging, row);
        const bool gone = !other && !row->retired && was_there(judging, row, false);
        out->finding = gone ? FINDING_MISSING : FINDING_NONE;
        out->reason = gone ? "not in tonight's run" : "";
    } else if (!strcmp(point->status, "skipped")) {
        out->finding = was_there(judging, row, true) ? FINDING_MISSING : FINDING_NONE;
    } else {
        out->finding = FINDING_BROKEN;
    }
}

static void judge_classes(struct history_series *out, size_t *count, const struct judging *judging)
{
    for (uint32_t k = 0; k < judging->set.class_count; k++) {
        const struct gate_verdict *v = &judging->classes[k];
        if (v->state != GATE_FIRM && v->state != GATE_PROVISIONAL)
            continue;
        out[(*count)++] =
            (struct history_series){.case_id = arena_printf(judging->arena, "suite:%s", judging->class_names[k]),
                                    .label = arena_printf(judging->arena, "all %s cases", judging->class_names[k]),
                                    .class = judging->class_names[k],
                                    .timer = "",
                                    .unit = "1",
                                    .is_class = true,
                                    .verdict = *v,
                                    .finding = v->state == GATE_FIRM ? FINDING_FIRM : FINDING_PROVISIONAL,
                                    .slower = v->slower,
                                    .tonight = NAN,
                                    .level = v->shift,
                                    .since = judging->window.nights[v->tau].started_at,
                                    .cause = "",
                                    .status = "",
                                    .reason = ""};
    }
}

/* ---- the outcome ---- */

static int rank_of(const struct history_series *s)
{
    switch (s->finding) {
    case FINDING_FIRM:
        return s->slower ? 0 : 5;
    case FINDING_BROKEN:
        return 1;
    case FINDING_MISSING:
        return 2;
    case FINDING_OPEN:
        return 3;
    case FINDING_PROVISIONAL:
        return s->slower ? 4 : 6;
    default:
        return 7;
    }
}

static int by_rank(const void *a, const void *b)
{
    const struct history_series *p = a, *q = b;
    const double x = rank_of(p) < 7 ? fabs(p->verdict.shift) : 0, y = rank_of(q) < 7 ? fabs(q->verdict.shift) : 0;
    if (rank_of(p) != rank_of(q))
        return rank_of(p) - rank_of(q);
    if (isfinite(x) && isfinite(y) && x != y)
        return (x < y) - (x > y);
    const int order = strcmp(p->case_id, q->case_id);
    return order ? order : strcmp(p->timer, q->timer);
}

static void count_up(struct history_gate *out, const struct history_series *s)
{
    out->firm += s->finding == FINDING_FIRM && s->slower;
    out->faster += s->finding == FINDING_FIRM && !s->slower;
    out->open += s->finding == FINDING_OPEN;
    out->provisional += s->finding == FINDING_PROVISIONAL;
    out->broken += s->finding == FINDING_BROKEN;
    out->missing += s->finding == FINDING_MISSING;
    out->learning += !s->is_class && s->verdict.state == GATE_LEARNING && isfinite(s->tonight);
    out->quiet += !s->is_class && s->verdict.state == GATE_QUIET;
    out->too_noisy += !s->is_class && s->verdict.too_noisy;
}

/* The lines of tonight's facts that were not there last night. */
static const char *changed_facts(const struct history_window *w, struct arena *arena)
{
    struct text text = {0};
    text_add(&text, "");
    const char *before = w->night_count > 1 ? w->nights[w->night_count - 2].facts : "";
    const char *line = w->nights[w->night_count - 1].facts;
    while (w->night_count > 1 && *line) {
        const size_t length = strcspn(line, "\n"), name = strcspn(line, "=");
        const char *one = arena_strndup(arena, line, length);
        const char *key = arena_strndup(arena, line, name < length ? name + 1 : length);
        const char *old = strstr(before, key);
        if (!strstr(before, one))
            text_addf(&text, "%s%s (was %.*s)", text.length ? "; " : "", one,
                      old ? (int)strcspn(old + strlen(key), "\n") : 0, old ? old + strlen(key) : "");
        line += length + (line[length] == '\n');
    }
    const char *facts = arena_strdup(arena, text.data);
    text_release(&text);
    return facts;
}

/* ---- alarms are kept: the next nights ask for them ---- */

static enum status forget_tonight(struct judging *judging, const char *lane, const char *device, struct err *err)
{
    struct history_window newest;
    sqlite3_stmt *statement = NULL;
    const struct database *db = &judging->history->database;
    enum status status = history_load(&newest, judging->history, lane, device, 1, judging->arena, err);
    if (!status)
        status = database_prepare(&statement, db, "DELETE FROM alarm WHERE night = ?", err);
    if (!status)
        status = database_bind(db, statement, err, "i", newest.nights[0].id);
    if (!status)
        status = database_finish(db, statement, err);
    sqlite3_finalize(statement);
    return status;
}

static enum status class_series(int64_t *id, const struct judging *judging, const struct history_series *s,
                                struct err *err)
{
    const struct database *db = &judging->history->database;
    sqlite3_stmt *statement = NULL;
    bool row = false;
    enum status status = database_prepare(
        &statement, db,
        "INSERT INTO series (device, lane, case_id, timer, kind, class, label, kernel, mode, unit, better) VALUES (?, "
        "?, ?, "
        "'', 'class', ?, ?, '', '', '1', 'lower') ON CONFLICT DO UPDATE SET label = excluded.label RETURNING id",
        err);
    if (!status)
        status = database_bind(db, statement, err, "issss", judging->window.device_id, judging->window.lane, s->case_id,
                               s->class, s->label);
    if (!status)
        status = database_step(db, statement, &row, err);
    if (!status && row)
        *id = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return status;
}

static enum status record(const struct judging *judging, struct history_series *s, struct err *err)
{
    const struct database *db = &judging->history->database;
    const struct history_window *w = &judging->window;
    const struct gate_verdict *v = &s->verdict;
    sqlite3_stmt *statement = NULL;
    enum status status = s->is_class ? class_series(&s->id, judging, s, err) : STATUS_OK;
    if (!status)
        status =
            database_prepare(&statement, db,
                             "INSERT INTO alarm (series, night, tau, tau_at, shift, z, baseline, baseline_n, sigma, "
                             "cause) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                             err);
    if (!status)
        status = database_bind(db, statement, err, "iiisdddids", s->id, w->nights[w->night_count - 1].id,
                               w->nights[v->tau].id, w->nights[v->tau].started_at, v->shift, v->z, v->baseline_ns,
                               (int64_t)v->baseline_n, v->sigma, s->cause);
    if (!status)
        status = database_finish(db, statement, err);
    sqlite3_finalize(statement);
    return status;
}

static enum status judge(struct history_gate *out, struct judging *judging, const struct gate_options *options,
                         struct err *err)
{
    const struct history_window *w = &judging->window;
    make_set(judging);
    judging->verdicts = arena_array(judging->arena, w->row_count + 1, sizeof(*judging->verdicts));
    judging->classes = arena_array(judging->arena, MAX_CLASSES, sizeof(*judging->classes));
    enum status status = gate_replay(judging->verdicts, judging->classes, &judging->set, options, NULL, NULL, err);
    if (status)
        return status;
    struct history_series *series = arena_array(judging->arena, w->row_count + MAX_CLASSES, sizeof(*series));
    size_t count = 0;
    for (size_t k = 0; k < w->row_count; k++)
        judge_row(&series[count++], judging, &w->rows[k], &judging->verdicts[k]);
    judge_classes(series, &count, judging);
    qsort(series, count, sizeof(*series), by_rank);
    const struct history_night *night = &w->nights[w->night_count - 1];
    *out = (struct history_gate){.lane = w->lane,
                                 .device = w->device,
                                 .night = night->started_at,
                                 .commit = night->git,
                                 .nights = w->night_count,
                                 .environment_changed = judging->set.breaks[w->night_count - 1],
                                 .environment = changed_facts(w, judging->arena),
                                 .series = series,
                                 .count = count};
    for (size_t k = 0; k < count && !status; k++) {
        count_up(out, &series[k]);
        if (series[k].verdict.state == GATE_FIRM)
            status = record(judging, &series[k], err);
    }
    return status;
}

enum status history_gate(struct history_gate *out, struct history *history, const char *lane, const char *device,
                         const struct gate_options *options, struct arena *arena, struct err *err)
{
    struct judging judging = {.history = history, .delta = log1p(options->delta), .arena = arena};
    enum status status = database_begin(&history->database, err);
    if (!status)
        status = forget_tonight(&judging, lane, device, err);
    if (!status)
        status = history_load(&judging.window, history, lane, device, GATE_KEEP_NIGHTS, arena, err);
    if (!status)
        status = judge(out, &judging, options, err);
    if (!status)
        status = database_commit(&history->database, err);
    if (status)
        database_rollback(&history->database);
    return status;
}

int history_exit_code(const struct history_gate *gate, bool strict)
{
    if (gate->firm || gate->open || gate->broken || gate->missing)
        return 1;
    return strict && (gate->provisional || gate->environment_changed || gate->learning || !gate->quiet) ? 4 : 0;
}

size_t history_candidates(const char ***ids, const struct history_gate *gate, struct arena *arena)
{
    const char **list = arena_array(arena, gate->count + 1, sizeof(*list));
    size_t count = 0;
    for (size_t k = 0; k < gate->count; k++) {
        const struct history_series *s = &gate->series[k];
        if (!s->is_kpi && !s->is_class && (s->verdict.state == GATE_FIRM || s->verdict.state == GATE_PROVISIONAL))
            list[count++] = s->case_id;
    }
    *ids = list;
    return count;
}
