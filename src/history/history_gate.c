/* SPDX-License-Identifier: MIT */

#include "history_internal.h"
#include "rooftile/summary.h"

const char *const history_finding_names[] = {
    [FINDING_NONE] = "",         [FINDING_CONFIRMED] = "confirmed",
    [FINDING_OPEN] = "open",     [FINDING_TENTATIVE] = "tentative",
    [FINDING_BROKEN] = "broken", [FINDING_MISSING] = "missing",
    [FINDING_SLOW] = "slow",     [FINDING_CHANGED] = "changed",
    [FINDING_TIMER] = "timer",   [FINDING_IMPROVED] = "improved",
};

/* ---- this run, series by series ---- */

/* A slowdown found in an earlier run stays a finding until it is accepted or disappears. */
static void judge_open(struct history_series *s, const struct history_judging *judging)
{
    const struct history_alarm *first = NULL;
    const double level = history_open_level(s, &first);
    if (!first || level <= log1p(judging->options->delta))
        return;
    s->level = history_in_unit(s, expm1(level));
    if (s->finding == FINDING_BROKEN || s->finding == FINDING_MISSING || (s->finding == FINDING_CONFIRMED && s->slower))
        return;
    s->finding = FINDING_OPEN;
    s->slower = true;
    s->since = first->tau_at;
    s->cause = first->cause;
    s->commits = first->commits;
    s->baseline = s->higher_is_better ? 1 / first->baseline : first->baseline;
}

static void judge_alarm(struct history_series *s, const struct history_judging *judging)
{
    const struct gate_verdict *v = &s->verdict;
    if (v->state != GATE_CONFIRMED && v->state != GATE_TENTATIVE)
        return;
    s->finding = v->state == GATE_CONFIRMED ? FINDING_CONFIRMED : FINDING_TENTATIVE;
    s->slower = v->slower;
    s->shift = history_in_unit(s, v->shift);
    s->baseline = s->is_class ? NAN : s->higher_is_better ? 1 / v->baseline_ns : v->baseline_ns;
    s->since = judging->window.runs[v->tau].started_at;
    s->cause = history_cause(judging, s, v->tau, judging->window.run_count - 1);
    s->commits = history_commits(judging, v->tau);
}

static void judge_row(struct history_series *s, const struct history_judging *judging)
{
    const struct history_window *w = &judging->window;
    const size_t run = w->run_count - 1;
    const struct history_point *point = &s->points[run];
    s->this_run = point->value;
    s->status = point->present && strcmp(point->status, "ok") ? point->status : "";
    s->reason = point->reason;
    if (isfinite(point->value)) {
        judge_alarm(s, judging);
    } else if (point->present && strcmp(point->status, "skipped") != 0) {
        s->finding = FINDING_BROKEN;
    } else {
        const struct history_series *other = history_other_timer(w, s);
        if (other && run && s->seen == w->runs[run - 1].started) {
            s->finding = FINDING_TIMER;
            s->reason = arena_printf(judging->arena, "timed by %s this run, by %s before",
                                     other->timer[0] ? other->timer : "nothing", s->timer[0] ? s->timer : "nothing");
        } else if (!other && s->seen && !s->retired) {
            s->finding = FINDING_MISSING;
        }
    }
    judge_open(s, judging);
    if (s->changed[run] && s->finding == FINDING_NONE) {
        s->finding = FINDING_CHANGED;
        s->reason = identity_words(s->changed[run], judging->arena);
    }
}

static void judge_improvement(struct history_series *s, const struct history_judging *judging)
{
    const struct history_alarm *alarm = history_improvement(&judging->window, s);
    if (!alarm || s->finding != FINDING_NONE)
        return;
    s->finding = FINDING_IMPROVED;
    s->shift = history_in_unit(s, alarm->shift);
    s->baseline = s->is_class ? NAN : s->higher_is_better ? 1 / alarm->baseline : alarm->baseline;
    s->since = alarm->tau_at;
    s->cause = alarm->cause;
    s->commits = alarm->commits;
}

/* ---- the outcome ---- */

/* Returns the rank of a finding; the worst comes first. */
static int rank_of(const struct history_series *s)
{
    static const int ranks[FINDING_KINDS][2] = {
        [FINDING_CONFIRMED] = {7, 0}, [FINDING_BROKEN] = {1, 1}, [FINDING_MISSING] = {2, 2},
        [FINDING_OPEN] = {3, 3},      [FINDING_SLOW] = {4, 4},   [FINDING_TENTATIVE] = {8, 5},
        [FINDING_TIMER] = {6, 6},     [FINDING_NONE] = {10, 10}, [FINDING_CHANGED] = {6, 6},
        [FINDING_IMPROVED] = {9, 9},
    };
    return ranks[s->finding][s->slower];
}

static int by_rank(const void *a, const void *b)
{
    const struct history_series *p = a, *q = b;
    double sizes[2];
    for (int k = 0; k < 2; k++) {
        const struct history_series *s = k ? q : p;
        sizes[k] = fabs(isfinite(s->shift) ? s->shift : s->finding == FINDING_SLOW ? s->group_change : s->level);
    }
    return ORDER(rank_of(p), rank_of(q)) ?: ORDER(sizes[1], sizes[0]) ?: ORDER(q->is_class, p->is_class)
           ?: strcmp(p->case_id, q->case_id) ?: strcmp(p->timer, q->timer);
}

enum { LONGEST_FACT = 60 };

const char *history_fact(size_t *length, const char *facts, const char *name, size_t name_length)
{
    for (const char *line = facts; *line; line += strcspn(line, "\n"), line += *line == '\n')
        if (!strncmp(line, name, name_length) && line[name_length] == '=') {
            *length = strcspn(line + name_length + 1, "\n");
            return line + name_length + 1;
        }
    *length = 0;
    return "";
}

/* Lists this run's facts that differ from the previous run's. */
static const char *changed_facts(const struct history_window *w, struct arena *arena)
{
    struct text text = {0};
    const char *before = w->runs[w->run_count - 2].facts;
    for (const char *line = w->runs[w->run_count - 1].facts; *line;
         line += strcspn(line, "\n"), line += *line == '\n') {
        const size_t name = strcspn(line, "=");
        size_t length = 0, old_length = 0;
        const char *value = history_fact(&length, line, line, name),
                   *old = history_fact(&old_length, before, line, name);
        if (length == old_length && !strncmp(value, old, length))
            continue;
        text_addf(&text, "%s%.*s ", text.length ? "; " : "", (int)name, line);
        if (length > LONGEST_FACT || old_length > LONGEST_FACT)
            text_add(&text, "changed");
        else
            text_addf(&text, "%.*s (was %.*s)", (int)length, value, (int)old_length, old);
    }
    return text.length ? text_take(&text, arena) : "something that has no name here";
}

static void conclude(struct history_gate *out, struct history_judging *judging)
{
    const struct history_window *w = &judging->window;
    const struct history_run *run = &w->runs[w->run_count - 1];
    const size_t room = w->row_count + judging->set.class_count + 1;
    struct history_series *series = arena_array(judging->arena, room, sizeof(*series)),
                          **rows = arena_array(judging->arena, room, sizeof(*rows));
    size_t count = 0;
    for (size_t k = 0; k < w->row_count; k++) {
        if (w->rows[k].is_class)
            continue;
        judge_row(&w->rows[k], judging);
        rows[count++] = &w->rows[k];
    }
    for (size_t k = 0; k < judging->set.class_count; k++) { /* classes appear only if they have a finding */
        if (judging->class_rows[k]->is_kpi)
            continue;
        rows[count] = judging->class_rows[k];
        judge_alarm(rows[count], judging);
        judge_open(rows[count], judging);
        judge_improvement(rows[count], judging);
        count += rows[count]->finding != FINDING_NONE;
    }
    history_group(rows, count, judging);
    for (size_t k = 0; k < count; k++) {
        judge_improvement(rows[k], judging);
        series[k] = *rows[k];
    }
    qsort(series, count, sizeof(*series), by_rank);
    const bool changed = judging->breaks[w->run_count - 1];
    double *ratios = arena_array(judging->arena, w->row_count + 1, sizeof(*ratios));
    size_t ratio_count = 0;
    for (size_t k = 0; k < w->row_count && changed; k++) {
        ratios[ratio_count] = w->rows[k].points[w->run_count - 1].value / w->rows[k].points[w->run_count - 2].value;
        ratio_count += !w->rows[k].is_kpi && isfinite(ratios[ratio_count]);
    }
    *out = (struct history_gate){.window = arena_copy(judging->arena, w, sizeof(*w)),
                                 .channel = w->channel,
                                 .device = w->device,
                                 .run = run->started_at,
                                 .commit = run->git,
                                 .run_id = run->run_id,
                                 .runs = judging->set.runs,
                                 .environment_changed = changed,
                                 .environment = changed ? changed_facts(w, judging->arena) : "",
                                 .environment_shift = median_of(ratios, ratio_count) - 1,
                                 .series = series,
                                 .count = count};
    FOR_EACH(const struct history_series, s, series, count) {
        const bool faster = s->finding == FINDING_CONFIRMED && !s->slower;
        out->faster += faster;
        out->findings[s->finding] += !faster;
        out->learning += !s->is_class && s->verdict.state == GATE_LEARNING && isfinite(s->this_run);
        out->quiet += !s->is_class && s->verdict.state == GATE_QUIET;
        out->too_noisy += !s->is_class && s->verdict.too_noisy;
    }
}

/* ---- the gate ---- */

/* Removes the results of an earlier gate on this run, so that they do not affect this gate; people's decisions stay. */
static const char *const forgetting[] = {
    "DELETE FROM main.alarm WHERE series IN (SELECT id FROM series WHERE channel = ?1 AND device = ?2) AND started = "
    "?3 AND ifnull(closed_by, '') <> 'accepted'",
    "UPDATE main.alarm SET closed = NULL, closed_by = NULL WHERE series IN (SELECT id FROM series WHERE channel = ?1 "
    "AND device = ?2) AND closed = ?3 AND closed_by = 'gone'",
};

/* Number of runs since the first that was never gated; at least 1. */
static const char unjudged_sql[] =
    "SELECT count(*) FROM run WHERE channel = ?1 AND device = ?2 AND started >= (SELECT min(started) FROM run WHERE "
    "channel = ?1 AND device = ?2 AND (NOT gated OR started = ?3))";

enum status history_gate(struct history_gate *out, struct history *history, const char *channel, const char *device,
                         const struct gate_options *options, struct arena *arena, struct err *err)
{
    struct history_judging judging = {.history = history, .options = options, .arena = arena};
    struct history_window newest;
    database_begin(history, true, err);
    if (!history_load(&newest, history, channel, device, 1, arena)) {
        const int64_t started = newest.runs[0].started;
        for (size_t k = 0; k < COUNT_OF(forgetting); k++)
            database_do(history, forgetting[k], "sii", newest.channel, newest.device_id, started);
        const int64_t unjudged = database_do(history, unjudged_sql, "sii", newest.channel, newest.device_id, started);
        if (!history->status)
            history_load(&judging.window, history, channel, device, GATE_KEEP_RUNS - 1 + (size_t)unjudged, arena);
    }
    if (!history->status)
        history_judge(&judging);
    if (!history->status)
        conclude(out, &judging);
    return database_end(history);
}

int history_exit_code(const struct history_gate *gate, bool strict)
{
    const size_t *findings = gate->findings;
    if (findings[FINDING_CONFIRMED] || findings[FINDING_OPEN] || findings[FINDING_BROKEN] ||
        findings[FINDING_MISSING] || findings[FINDING_SLOW])
        return 1;
    return strict && (findings[FINDING_TENTATIVE] || findings[FINDING_TIMER] || findings[FINDING_CHANGED] ||
                      gate->environment_changed || gate->learning || !gate->quiet)
               ? 4
               : 0;
}

size_t history_candidates(const char ***ids, const struct history_gate *gate, struct arena *arena)
{
    size_t count = 0;
    *ids = arena_array(arena, gate->count + 1, sizeof(**ids));
    FOR_EACH(const struct history_series, s, gate->series, gate->count) {
        const bool moved = s->verdict.state == GATE_CONFIRMED || s->verdict.state == GATE_TENTATIVE;
        if (!s->is_kpi && !s->is_class && isfinite(s->this_run) &&
            (moved ||
             COUNT_WHERE(class, gate->series, gate->count,
                         class->is_class && class->verdict.state == GATE_TENTATIVE && !strcmp(class->class, s->class))))
            (*ids)[count++] = s->case_id;
    }
    return count;
}
