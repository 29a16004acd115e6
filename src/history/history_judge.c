/* SPDX-License-Identifier: MIT
 *
 * Passes each run to the gate and stores the results: alarms, the segments that the next run needs, and the end of
 * alarms whose change has disappeared.
 */

#include "history_internal.h"
#include "rooftile/summary.h"

enum { GONE_VALUES = 3, CLASS_REFERENCE = 7 };

/* A change has disappeared when this many values in a row show less than this share of it; gate.h tests in the same way
 * whether it persists. */
#define GONE_SHARE 0.25

/* ---- converting the window for gate.h ---- */

/* A key figure is its own class, so that no class movement is subtracted from it. */
static uint32_t class_of(struct history_judging *judging, const struct history_series *row)
{
    const struct history_window *w = &judging->window;
    const char *class = row->is_kpi ? row->case_id : row->class;
    uint32_t k = 0;
    while (k < judging->set.class_count &&
           (strcmp(judging->class_rows[k]->class, class) || judging->class_rows[k]->is_kpi != row->is_kpi))
        k++;
    if (k < judging->set.class_count)
        return k;
    const char *name = arena_printf(judging->arena, "suite:%s", class);
    struct history_series *found = arena_alloc(judging->arena, sizeof(*found));
    *found = history_unknown;
    found->case_id = name;
    found->label = arena_printf(judging->arena, "all %s cases", class);
    found->class = class;
    found->is_class = true;
    found->is_kpi = row->is_kpi;
    found->breaks = arena_array(judging->arena, w->run_count + 1, sizeof(*found->breaks));
    for (size_t other = 0; other < w->row_count && !row->is_kpi; other++)
        if (w->rows[other].is_class && !strcmp(w->rows[other].case_id, name))
            found = &w->rows[other];
    judging->class_rows[judging->set.class_count++] = found;
    return k;
}

static void make_values(struct history_judging *judging)
{
    const struct history_window *w = &judging->window;
    const size_t rows = w->row_count + 1;
    struct arena *arena = judging->arena;
    judging->series = arena_array(arena, rows, sizeof(*judging->series));
    judging->values = arena_array(arena, rows, sizeof(*judging->values));
    judging->class_rows = arena_array(arena, rows, sizeof(*judging->class_rows));
    judging->verdicts = arena_array(arena, rows, sizeof(*judging->verdicts));
    judging->classes = arena_array(arena, rows, sizeof(*judging->classes));
    judging->breaks = arena_array(arena, w->run_count + 1, sizeof(*judging->breaks));
    for (size_t k = 0; k < w->row_count; k++) {
        const struct history_series *row = &w->rows[k];
        judging->values[k] = arena_array(arena, w->run_count + 1, sizeof(double));
        for (size_t run = 0; run < w->run_count; run++)
            judging->values[k][run] = row->higher_is_better ? 1 / row->points[run].value : row->points[run].value;
        judging->series[k].class_index = class_of(judging, row);
    }
    for (size_t run = 1; run < w->run_count; run++)
        judging->breaks[run] = w->runs[run].environment != w->runs[run - 1].environment;
    judging->set.series = judging->series;
    judging->set.series_count = w->row_count;
}

/* This run's own alarm counts if it was accepted: its level is then the reference. */
static struct gate_segment segment_of(const struct history_judging *judging, const struct history_series *row,
                                      size_t run, size_t first)
{
    const struct history_window *w = &judging->window;
    const int64_t started = w->runs[run].started;
    const struct history_alarm *last = NULL;
    struct gate_segment segment = {0};
    FOR_EACH(const struct history_alarm, alarm, row->alarms, row->alarm_count) /* oldest first */
        if (alarm->started < started || (alarm->started == started && alarm->accepted))
            last = alarm;
    if (last) {
        const size_t tau = history_run_at(w, last->tau);
        segment = (struct gate_segment){tau > first ? (uint32_t)(tau - first) : 0, last->sigma};
    }
    for (size_t k = run; row->is_class && k > first + segment.start; k--)
        if (row->breaks[k])
            return (struct gate_segment){(uint32_t)(k - first), 0};
    return segment;
}

/* Gives the gate the runs `first` to `run`. */
static void frame(struct history_judging *judging, size_t first, size_t run)
{
    const struct history_window *w = &judging->window;
    for (size_t k = 0; k < w->row_count; k++) {
        const struct history_series *row = &w->rows[k];
        struct gate_series *series = &judging->series[k];
        series->run_ns = judging->values[k] + first;
        series->breaks = row->breaks + first;
        series->again_ns = row->points[run].again;
        series->again_least_ns = row->points[run].again_least;
        series->floor = 0;
        for (size_t at = first; at <= run; at++)
            if (isfinite(row->points[at].tick) && row->points[at].value > 0)
                series->floor = fmax(series->floor, row->points[at].tick / row->points[at].value);
        judging->verdicts[k].segment = segment_of(judging, row, run, first);
    }
    for (size_t k = 0; k < judging->set.class_count; k++)
        judging->classes[k].segment = segment_of(judging, judging->class_rows[k], run, first);
    judging->set.runs = run - first + 1;
    judging->set.breaks = judging->breaks + first;
}

/* ---- labels ---- */

static const char *cause_of_case(const struct history_judging *judging, const struct history_series *row, size_t tau,
                                 size_t run)
{
    const struct history_point *now = &row->points[run], *before = NULL;
    const double delta = log1p(judging->options->delta);
    for (size_t k = 0; k < tau; k++)
        if (isfinite(row->points[k].value))
            before = &row->points[k];
    if (!before || !now->present)
        return "";
    if (before->cycles > 0 && now->cycles > 0 && fabs(log(now->cycles / before->cycles)) < delta)
        return "clock";
    if (!before->identity[0] || !now->identity[0])
        return "";
    const unsigned changes = history_changes(before, now);
    return changes & IDENTITY_BIT(IDENTITY_CODE)     ? "code"
           : changes & IDENTITY_BIT(IDENTITY_LAUNCH) ? "launch"
                                                     : "environment";
}

/* For a class, returns the cause of most of its cases. */
const char *history_cause(const struct history_judging *judging, const struct history_series *row, size_t tau,
                          size_t run)
{
    static const char *const causes[] = {"code", "launch", "environment", "clock"};
    size_t counts[COUNT_OF(causes)] = {0}, cases = 0;
    if (row->is_kpi)
        return "";
    if (!row->is_class)
        return cause_of_case(judging, row, tau, run);
    FOR_EACH(const struct history_series, other, judging->window.rows, judging->window.row_count) {
        if (other->is_class || other->is_kpi || strcmp(other->class, row->class))
            continue;
        const char *cause = cause_of_case(judging, other, tau, run);
        cases++;
        for (size_t c = 0; c < COUNT_OF(causes); c++)
            counts[c] += !strcmp(cause, causes[c]);
    }
    for (size_t c = 0; c < COUNT_OF(causes); c++)
        if (2 * counts[c] > cases)
            return causes[c];
    return "";
}

const char *history_commits(const struct history_judging *judging, size_t tau)
{
    const struct history_run *runs = judging->window.runs;
    if (!tau || !runs[tau - 1].git[0] || !runs[tau].git[0])
        return "";
    if (!strcmp(runs[tau - 1].git, runs[tau].git))
        return arena_printf(judging->arena, "%.12s", runs[tau].git);
    return arena_printf(judging->arena, "%.12s..%.12s", runs[tau - 1].git, runs[tau].git);
}

/* ---- alarms ---- */

static const char class_sql[] = "INSERT INTO main.series (device, channel, case_id, timer, kind, class, label, kernel, "
                                "mode, unit, better) VALUES (?, ?, "
                                "?, '', 'class', ?, ?, '', '', '1', 'lower') RETURNING id";
static const char alarm_sql[] =
    "INSERT INTO main.alarm (series, started, started_at, tau, tau_at, shift, z, baseline, baseline_n, sigma, cause, "
    "commits) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

static void close_alarms(struct history_series *row, const struct history_judging *judging, size_t run)
{
    for (size_t k = 0; k < row->alarm_count; k++)
        row->alarms[k].open = false;
    database_do(judging->history,
                "UPDATE main.alarm SET closed = ?, closed_by = 'gone' WHERE series = ? AND closed IS NULL", "ii",
                judging->window.runs[run].started, row->id);
}

/* An improvement that does not undo an open regression is closed at once. */
static void raise_alarm(struct history_judging *judging, struct history_series *row, const struct gate_verdict *v,
                        size_t first, size_t run)
{
    const struct history_window *w = &judging->window;
    const struct history_alarm *since = NULL;
    const size_t tau = first + v->tau;
    const struct history_alarm alarm = {.started = w->runs[run].started,
                                        .tau = w->runs[tau].started,
                                        .tau_at = w->runs[tau].started_at,
                                        .cause = history_cause(judging, row, tau, run),
                                        .commits = history_commits(judging, tau),
                                        .shift = v->shift,
                                        .sigma = v->sigma,
                                        .baseline = v->baseline_ns,
                                        .open = true};
    ARENA_PUSH(judging->arena, row->alarms, row->alarm_count, alarm);
    if (row->is_class && !row->id)
        row->id = database_do(judging->history, class_sql, "issss", w->device_id, w->channel, row->case_id, row->class,
                              row->label);
    database_do(judging->history, alarm_sql, "iisisdddidss", row->id, alarm.started, w->runs[run].started_at, alarm.tau,
                alarm.tau_at, v->shift, v->z, v->baseline_ns, (int64_t)v->baseline_n, v->sigma, alarm.cause,
                alarm.commits);
    if (history_open_level(row, &since) <= log1p(judging->options->delta))
        close_alarms(row, judging, run);
}

/* ---- disappeared changes ---- */

/* A class has no level of its own. Returns the median over its cases, each relative to its last runs before the
 * change. */
static double distance_of_class(const struct history_judging *judging, uint32_t class,
                                const struct history_alarm *first, size_t run)
{
    const struct history_window *w = &judging->window;
    const size_t tau = history_run_at(w, first->tau);
    double *distances = arena_array(judging->arena, w->row_count + 1, sizeof(*distances)), last[CLASS_REFERENCE];
    size_t count = 0;
    for (size_t k = 0; k < w->row_count; k++) {
        const double *values = judging->values[k];
        size_t found = 0;
        if (w->rows[k].is_class || judging->series[k].class_index != class)
            continue;
        for (size_t at = tau; at-- > 0 && found < CLASS_REFERENCE;)
            if (isfinite(values[at]))
                last[found++] = values[at];
        distances[count] = log(values[run] / median_of(last, found));
        count += isfinite(distances[count]) ? 1 : 0;
    }
    return count >= GATE_CLASS_CASES ? median_of(distances, count) : NAN;
}

/* `index` is that of the row or of the class. */
static bool is_gone(const struct history_judging *judging, const struct history_series *row, size_t index, size_t run)
{
    const struct history_alarm *first = NULL;
    const double level = history_open_level(row, &first);
    int64_t found = 0;
    size_t low = 0;
    for (size_t k = 0; k < row->alarm_count; k++)
        found = row->alarms[k].started > found ? row->alarms[k].started : found;
    for (size_t at = run + 1; at-- > 0 && judging->window.runs[at].started > found;) {
        /* ln(value / level before the change); NaN: no value. */
        const double distance = row->is_class ? distance_of_class(judging, (uint32_t)index, first, at)
                                              : log(judging->values[index][at] / first->baseline);
        if (isnan(distance) && at == run)
            return false;
        if (isnan(distance))
            continue;
        if (distance >= GONE_SHARE * level)
            return false;
        if (++low == GONE_VALUES)
            return true;
    }
    return false;
}

/* ---- run after run ---- */

/* An alarm that this run raised earlier may have been accepted since, and is not raised again. */
static void settle(struct history_judging *judging, struct history_series *row, size_t index, struct gate_verdict *v,
                   size_t first, size_t run)
{
    const struct history_alarm *since = NULL;
    const int64_t started = judging->window.runs[run].started;
    if (v->state == GATE_CONFIRMED && COUNT_WHERE(one, row->alarms, row->alarm_count, one->started == started))
        v->state = GATE_QUIET;
    if (v->state == GATE_CONFIRMED)
        raise_alarm(judging, row, v, first, run);
    else if (history_open_level(row, &since) > 0 && is_gone(judging, row, index, run))
        close_alarms(row, judging, run);
    v->tau += (uint32_t)first;
}

void history_judge(struct history_judging *judging)
{
    const struct history_window *w = &judging->window;
    struct history *history = judging->history;
    make_values(judging);
    for (size_t run = 0; run < w->run_count && !history->status; run++) {
        const size_t first = run + 1 > GATE_KEEP_RUNS ? run + 1 - GATE_KEEP_RUNS : 0;
        if (w->runs[run].gated && run + 1 < w->run_count)
            continue;
        frame(judging, first, run);
        history->status = gate_run(judging->verdicts, judging->classes, &judging->set, judging->options, history->err);
        for (size_t k = 0; k < w->row_count && !history->status; k++)
            if (!w->rows[k].is_class)
                settle(judging, &w->rows[k], k, &judging->verdicts[k], first, run);
        for (size_t k = 0; k < judging->set.class_count && !history->status; k++)
            if (!judging->class_rows[k]->is_kpi)
                settle(judging, judging->class_rows[k], k, &judging->classes[k], first, run);
    }
    for (size_t k = 0; k < w->row_count; k++)
        w->rows[k].verdict = judging->verdicts[k];
    for (size_t k = 0; k < judging->set.class_count; k++)
        judging->class_rows[k]->verdict = judging->classes[k];
    database_do(history, "UPDATE main.run SET gated = 1 WHERE channel = ? AND device = ? AND gated = 0", "si",
                w->channel, w->device_id);
}
