/* SPDX-License-Identifier: MIT
 *
 * The gate's findings as a document, as JSON in the form of configs/schema/gate.schema.json, and as JUnit.
 */

#include "report_internal.h"
#include "rooftile/history.h"

enum { MOST_ROWS = 100 };

/* ---- series that moved together ---- */

/* Series of one kernel with the same finding since the same run: one row for people. */
struct moved {
    const struct history_series *first; /* the worst */
    size_t count, of;                   /* of all series of the kernel */
    double least, most;                 /* change */
    const char *key;                    /* of its chart; NULL: none */
};

static double change_of(const struct history_series *s)
{
    return s->finding == FINDING_OPEN ? s->level : s->finding == FINDING_SLOW ? s->group_change : s->shift;
}

/* Both are cases of one kernel. */
static bool like(const struct history_series *a, const struct history_series *b)
{
    return !a->is_kpi && !a->is_class && !b->is_kpi && !b->is_class && same_kernel(a->label, b->label);
}

static bool moved_alike(const struct history_series *a, const struct history_series *b)
{
    return like(a, b) && a->finding == b->finding && a->slower == b->slower && !strcmp(a->since, b->since) &&
           !strcmp(a->cause, b->cause) && !strcmp(a->commits, b->commits) && !strcmp(a->reason, b->reason);
}

static struct cell word(const struct history_series *s)
{
    static const char *const words[FINDING_KINDS][2] = {
        [FINDING_CONFIRMED] = {"SLOWER", "WORSE"}, [FINDING_OPEN] = {"STILL SLOWER", "STILL WORSE"},
        [FINDING_TENTATIVE] = {"TENTATIVE"},       [FINDING_BROKEN] = {"BROKEN"},
        [FINDING_MISSING] = {"MISSING"},           [FINDING_TIMER] = {"TIMER"},
        [FINDING_CHANGED] = {"CHANGED"},           [FINDING_SLOW] = {"SLOW"},
        [FINDING_IMPROVED] = {"FASTER", "BETTER"},
    };
    const bool better = s->finding == FINDING_IMPROVED || (s->finding == FINDING_CONFIRMED && !s->slower);
    const char *const *found = words[better ? FINDING_IMPROVED : s->finding];
    return cell_toned(s->is_kpi && found[1] ? found[1] : found[0],
                      better                                                             ? TONE_GOOD
                      : s->finding == FINDING_TENTATIVE || s->finding >= FINDING_CHANGED ? TONE_DOUBT
                                                                                         : TONE_BAD);
}

/* What is broken or missing, then what is worse by how much, then doubts, then improvements. */
static int worst_first(const void *a, const void *b)
{
    const struct moved *p = a, *q = b;
    double sizes[2], ranks[2];
    for (int k = 0; k < 2; k++) {
        const struct moved *m = k ? q : p;
        const enum tone tone = word(m->first).tone;
        sizes[k] = isfinite(m->most) ? fmax(fabs(m->most), fabs(m->least)) : INFINITY;
        ranks[k] = tone == TONE_BAD ? 0 : tone == TONE_DOUBT ? 1 : 2;
    }
    return ORDER(ranks[0], ranks[1]) ?: ORDER(sizes[1], sizes[0]) ?: ORDER(p->first, q->first);
}

static struct moved *moved_of(size_t *count, const struct history_gate *gate, struct arena *arena)
{
    struct moved *list = NULL;
    *count = 0;
    for (size_t k = 0; k < gate->count && gate->series[k].finding; k++) {
        const struct history_series *s = &gate->series[k];
        struct moved *group = list;
        while (group < list + *count && !moved_alike(group->first, s))
            group++;
        if (group < list + *count) {
            group->count++;
            group->least = fmin(group->least, change_of(s));
            group->most = fmax(group->most, change_of(s));
        } else {
            const size_t of = COUNT_WHERE(other, gate->series, gate->count, like(other, s));
            ARENA_PUSH(arena, list, *count, (struct moved){.first = s, 1, of, change_of(s), change_of(s), NULL});
        }
    }
    if (*count)
        qsort(list, *count, sizeof(*list), worst_first);
    return list;
}

/* ---- words ---- */

static const char *name_of(const struct moved *m, struct arena *arena)
{
    return m->count == 1 ? m->first->label : kernel_cases(m->first->label, m->count, m->of, arena);
}

/* "; code, 1234abcd..5678ef01", omitting unknown parts. */
static const char *origin(const struct history_series *s, struct arena *arena)
{
    static const char *const causes[][2] = {{"code", "its code changed"},
                                            {"launch", "launched differently"},
                                            {"environment", "environment (its code is the same)"},
                                            {"clock", "clock (as many cycles as before)"},
                                            {"group", "all devices like it"}};
    const char *words = s->cause, *commits = s->commits;
    const size_t length = strcspn(commits, ".");
    for (size_t k = 0; k < COUNT_OF(causes); k++)
        words = !strcmp(s->cause, causes[k][0]) ? causes[k][1] : words;
    if (commits[length]) /* as many digits as are usual */
        commits = arena_printf(arena, "%.8s..%.8s", commits, commits + length + strlen(".."));
    return *words || *commits ? arena_printf(arena, "; %s%s%s", words, *words && *commits ? ", " : "", commits) : "";
}

/* "; so did 6 of 7 devices like it": separates a shared cause from one of this device alone. */
static const char *others(const struct history_series *s, struct arena *arena)
{
    if (!s->group)
        return "";
    return s->group_moved
               ? arena_printf(arena, "; so did %zu of %zu device%s like it", s->group_moved, s->group, text_s(s->group))
               : arena_printf(arena, "; the %zu device%s like it did not", s->group, text_s(s->group));
}

/* Describes the change of a series and when it began. */
static const char *story(const struct moved *m, struct arena *arena)
{
    const struct history_series *s = m->first;
    const char *least = change_words(m->least, arena), *most = change_words(m->most, arena);
    const char *change = !isfinite(m->most)     ? ""
                         : !strcmp(least, most) ? most
                         : m->most > 0          ? arena_printf(arena, "%s to %s", least, most) /* "+3.9 % to +4.6 %" */
                                                : arena_printf(arena, "%s to %s", most, least);
    const char *was = m->count == 1 && isfinite(s->baseline)
                          ? arena_printf(arena, ", was %s", quantity_words(s->baseline, s->shown_unit, arena))
                          : "";
    switch (s->finding) {
    case FINDING_CONFIRMED:
    case FINDING_OPEN:
    case FINDING_IMPROVED:
        return arena_printf(arena, "%s since %.10s%s%s%s", change, s->since, was, origin(s, arena), others(s, arena));
    case FINDING_TENTATIVE:
        return arena_printf(arena, "%s this run%s%s%s; confirmed if it stays", change, was, origin(s, arena),
                            others(s, arena));
    case FINDING_BROKEN:
        return arena_printf(arena, "%s%s%.200s", s->status, s->reason[0] ? ": " : "", s->reason);
    case FINDING_MISSING:
        return s->status[0] ? arena_printf(arena, "%s: %.200s", s->status, s->reason) : "not in this run";
    case FINDING_SLOW:
        return arena_printf(arena, "%s against the median of %zu devices like it (limit %s)", change, s->group,
                            change_words(s->group_limit, arena));
    case FINDING_CHANGED:
        return arena_printf(arena, "%s changed: it starts anew", s->reason);
    case FINDING_TIMER:
        return arena_printf(arena, "%s: another series goes on", s->reason);
    default:
        return "";
    }
}

static const char *headline(const struct history_gate *gate)
{
    const int code = history_exit_code(gate, true);
    return code == 1      ? "REGRESSION"
           : !gate->quiet ? "LEARNING"
           : code == 4    ? "NO CONFIRMED REGRESSION"
                          : "NO REGRESSION";
}

/* What moved, in a sentence: "gemm_buffered 13 % slower since 2026-11-25 (code)". */
static const char *verdict_of(const struct moved *list, size_t count, struct arena *arena)
{
    enum { MOST_NAMED = 3 };
    const char *line = "";
    size_t named = 0;
    for (const struct moved *m = list; m < list + count && named < MOST_NAMED; m++) {
        const struct history_series *s = m->first;
        const char *what = word(s).text, *name = text_cut(arena, name_of(m, arena), 60, " .. ");
        if (s->finding == FINDING_CHANGED || s->finding == FINDING_TIMER)
            continue;
        const bool amount = isfinite(m->most), worse = s->slower || s->finding == FINDING_SLOW;
        const char *size = percent_words(fabs(fabs(m->most) > fabs(m->least) ? m->most : m->least), arena);
        if (amount)
            what = arena_printf(arena, "%s %s %s%.10s%s%s%s", size,
                                s->is_kpi ? (worse ? "worse" : "better")
                                : worse   ? "slower"
                                          : "faster",
                                s->finding == FINDING_TENTATIVE ? "in this run alone"
                                : *s->since                     ? "since "
                                                                : "than devices like it",
                                s->finding == FINDING_TENTATIVE ? "" : s->since, *s->cause ? " (" : "", s->cause,
                                *s->cause ? ")" : "");
        line = arena_printf(arena, "%s%s%s%s %s", line, *line ? "; " : "", name, m->count > 1 ? ":" : "", what);
        named++;
    }
    return line;
}

/* ---- parts ---- */

enum { SERIES_CASE, SERIES_RUN, SERIES_STORY, SERIES_ID, SERIES_KIND, SERIES_FINDING, SERIES_STATE, SERIES_STATUS };

/* Fields of the series; KNOWN fields are omitted if they are "". */
#define OF_SERIES(member) FIELD(struct history_series, member)
#define KNOWN(member) .flags = COLUMN_OPTIONAL, OF_SERIES(member)

static const struct table_column series_columns[] = {
    [SERIES_CASE] = {.key = "label", .title = "case", OF_SERIES(label)},
    [SERIES_RUN] = {.key = "this_run", .title = "this run", .unit = UNIT_NUMBER, OF_SERIES(this_run)},
    [SERIES_STORY] = {.title = "what happened", .flags = COLUMN_PROSE},
    [SERIES_ID] = {.key = "id", .flags = COLUMN_TEST, OF_SERIES(case_id)},
    [SERIES_KIND] = {.key = "kind"},
    [SERIES_FINDING] = {.key = "finding", .flags = COLUMN_VERDICT},
    [SERIES_STATE] = {.key = "state"},
    [SERIES_STATUS] = {.key = "status"},
    {.key = "timer", KNOWN(timer)},
    {.key = "slower", OF_SERIES(slower)},
    {.key = "unit", OF_SERIES(unit)},
    {.key = "shift", OF_SERIES(shift)},
    {.key = "baseline", OF_SERIES(baseline)},
    {.key = "baseline_n", OF_SERIES(verdict.baseline_n)},
    {.key = "z", OF_SERIES(verdict.z)},
    {.key = "sigma", OF_SERIES(verdict.sigma)},
    {.key = "mde_run", OF_SERIES(verdict.mde_run)},
    {.key = "mde_week", OF_SERIES(verdict.mde_week)},
    {.key = "too_noisy", OF_SERIES(verdict.too_noisy)},
    {.key = "level", OF_SERIES(level)},
    {.key = "since", KNOWN(since)},
    {.key = "attribution", KNOWN(cause)},
    {.key = "commits", KNOWN(commits)},
    {.key = "reason", KNOWN(reason)},
    {.key = "group", OF_SERIES(group)},
    {.key = "group_moved", OF_SERIES(group_moved)},
    {.key = "group_change", OF_SERIES(group_change)},
    {.key = "group_limit", OF_SERIES(group_limit)},
};

/* Lists all series, those with a finding first. */
static struct table *series_of(const struct history_gate *gate, struct arena *arena)
{
    struct table *table = TABLE(arena, series_columns);
    FOR_EACH(const struct history_series, s, gate->series, gate->count) {
        struct cell *cells = table_add_object(table, s)->cells;
        cells[SERIES_KIND] = cell_text(s->is_class ? "class" : s->is_kpi ? "kpi" : "case");
        cells[SERIES_STATE] = cell_text(gate_state_names[s->verdict.state]);
        cells[SERIES_STATUS] = cell_text(s->status[0] ? s->status : isfinite(s->this_run) ? "ok" : NULL);
        cells[SERIES_RUN].unit = s->unit;
        cells[SERIES_FINDING] = cell_known(history_finding_names[s->finding]);
        if (!s->finding)
            continue;
        cells[SERIES_FINDING].tone = word(s).tone;
        cells[SERIES_STORY] = cell_text(story(&(struct moved){s, 1, 1, change_of(s), change_of(s), NULL}, arena));
    }
    return table;
}

/* For people: a row for each group of series that moved together, which links to its chart. */
static struct table *findings_of(const struct moved *list, size_t count, struct arena *arena)
{
    static const struct table_column columns[] = {{.title = "case"},
                                                  {.title = "verdict"},
                                                  {.title = "this run", .unit = UNIT_NUMBER},
                                                  {.title = "what happened", .flags = COLUMN_PROSE}};
    struct table *table = TABLE(arena, columns);
    for (size_t k = 0; k < count; k++) {
        const struct history_series *s = list[k].first;
        const struct row_keys keys = {.page = list[k].key ? arena_printf(arena, "#%s", list[k].key) : NULL};
        table_add(table, (struct cell[]){cell_text(name_of(&list[k], arena)), word(s),
                                         list[k].count == 1 ? cell_quantity(s->this_run, s->shown_unit) : cell_absent(),
                                         cell_text(story(&list[k], arena))})
            ->keys = arena_copy(arena, &keys, sizeof(keys));
    }
    table->most_rows = MOST_ROWS;
    table->rest = "--format json has them all";
    return table;
}

static const char *add_counts(struct table *summary, const struct history_gate *gate)
{
    const struct count counts[] = {{"slower", "slower", gate->findings[FINDING_CONFIRMED]},
                                   {"broken", "broken", gate->findings[FINDING_BROKEN]},
                                   {"missing", "missing", gate->findings[FINDING_MISSING]},
                                   {"still_slower", "still slower", gate->findings[FINDING_OPEN]},
                                   {"slow", "slower than their group", gate->findings[FINDING_SLOW]},
                                   {"faster", "faster", gate->faster},
                                   {"tentative", "tentative", gate->findings[FINDING_TENTATIVE]},
                                   {"changed", "changed", gate->findings[FINDING_CHANGED]},
                                   {"timer", "of another timer", gate->findings[FINDING_TIMER]},
                                   {"improved", "still faster", gate->findings[FINDING_IMPROVED]},
                                   {"quiet", "quiet", gate->quiet},
                                   {"learning", "learning", gate->learning}};
    const char *line = count_members(summary, counts, COUNT_OF(counts));
    table_member(summary, "too_noisy", NULL, cell_number((double)gate->too_noisy));
    table_member(summary, "exit_code", NULL, cell_number(history_exit_code(gate, false)));
    table_member(summary, "exit_code_strict", NULL, cell_number(history_exit_code(gate, true)));
    return *line ? line : "nothing to judge";
}

static void add_facts(struct document *document, const struct history_gate *gate, const struct table *summary)
{
    struct table *facts =
        schema_record(document->arena, "https://rooftile.dev/schemas/gate/1/gate.schema.json", "1.0.0");
    table_member(facts, "device", NULL, cell_text(gate->device));
    table_member(facts, "channel", NULL, cell_text(gate->channel));
    table_member(facts, "run", NULL, cell_text(gate->run));
    table_member(facts, "run_id", NULL, cell_text(gate->run_id));
    table_member(facts, "commit", NULL, cell_known(gate->commit));
    table_member(facts, "runs", NULL, cell_number((double)gate->runs));
    table_member(facts, "environment_changed", NULL, cell_bool(gate->environment_changed));
    table_member(facts, "environment", NULL, cell_known(gate->environment));
    table_member(facts, "environment_shift", NULL, cell_number(gate->environment_shift));
    table_member(facts, "summary", NULL, cell_table(summary));
    document_table(document, NULL, NULL, facts)->show = SHOW_DATA;
    struct table *properties = table_record(document->arena);
    table_member(properties, "device", NULL, cell_text(gate->device));
    document_table(document, NULL, NULL, properties)->show = SHOW_TESTS;
}

/* Suggests a next command with the worst series as its example. A label that contains glob characters would not
 * match itself. */
static const char *action_of(const struct history_gate *gate, const struct moved *worst, struct arena *arena)
{
    const struct history_series *s = worst ? worst->first : NULL;
    if (history_exit_code(gate, false) != 1)
        return gate->findings[FINDING_TENTATIVE]
                   ? "next: measure the tentative ones again with --confirm SUITE, or wait for the next run"
               : !gate->quiet ? "a series is judged from its seventh run on"
                              : NULL;
    const char *name = s->is_class || s->label[strcspn(s->label, "*?[\\'")] ? s->case_id : s->label;
    const char *next = arena_printf(arena, "next: rooftile history show '%s'", s->is_class ? "*" : name);
    if (!strcmp(s->cause, "code"))
        next = arena_printf(arena, "%s; its code: rooftile codediff OLD_KERNELS NEW_KERNELS '%.*s'", next,
                            (int)strcspn(s->label, " "), s->label);
    return s->finding == FINDING_BROKEN
               ? next
               : arena_printf(arena, "%s\nor, when it is meant to be so: rooftile history accept '%s' --reason '...'",
                              next, name);
}

/* A page: the numbers that matter, what moved with a chart each, and the rest folded. */
static void add_page(struct document *document, const struct history_gate *gate, struct moved *list, size_t count)
{
    enum { MOST_CHARTS = 12 };
    struct arena *arena = document->arena;
    struct table *tiles = table_record(arena);
    const size_t *found = gate->findings,
                 worse = found[FINDING_CONFIRMED] + found[FINDING_OPEN] + found[FINDING_SLOW] + found[FINDING_BROKEN] +
                         found[FINDING_MISSING],
                 better = gate->faster + found[FINDING_IMPROVED], open = found[FINDING_TENTATIVE] + gate->learning;
    const size_t same = gate->count > worse + better + open ? gate->count - worse - better - open : 0;
    const struct history_series **series = arena_pointers(arena, gate->series, gate->count, sizeof(*gate->series));
    size_t charts = 0;
    table_member(tiles, NULL, "slower, broken or missing", cell_tile(worse, TONE_BAD));
    table_member(tiles, NULL, "faster", cell_tile(better, TONE_GOOD));
    table_member(tiles, NULL, "tentative or learning", cell_tile(open, TONE_DOUBT));
    table_member(tiles, NULL, "same", cell_tile(same, TONE_PLAIN));
    document_add(document, (struct section){.show = SHOW_HTML, .table = tiles, .tiles = true});
    struct section *changed = document_table(document, "changed", "What changed", NULL);
    const size_t at = document->count - 1;
    changed->show = SHOW_HTML;
    for (struct moved *m = list; m < list + count && charts < MOST_CHARTS; m++) {
        const char *key = arena_printf(arena, "series-%zu", charts + 1), *name = name_of(m, arena);
        const char *worst = m->count > 1 ? arena_printf(arena, "; below: %s", m->first->label) : "";
        if (!history_chart(document, gate->window, m->first, key, name,
                           arena_printf(arena, "%s: %s%s", word(m->first).text, story(m, arena), worst)))
            continue;
        m->key = key;
        charts++;
    }
    document->sections[at].table = findings_of(list, count, arena);
    document_folded(document, SHOW_HTML, "all", "All series", history_list(gate->window, series, gate->count, arena))
        ->folded = count > 0;
}

void gate_document(struct document *document, const struct history_gate *gate)
{
    struct arena *arena = document->arena;
    struct table *summary = table_record(arena);
    const struct table *series = series_of(gate, arena);
    const char *counts = add_counts(summary, gate);
    size_t count = 0;
    struct moved *list = moved_of(&count, gate, arena);
    const char *verdict = verdict_of(list, count, arena);
    document->title = arena_printf(arena, "%s, %s", gate->device, gate->channel);
    document->mark = cell_toned(headline(gate), history_exit_code(gate, false) == 1 ? TONE_BAD
                                                : gate->quiet                       ? TONE_GOOD
                                                                                    : TONE_PLAIN);
    document->verdict = arena_printf(arena, "%s%s%s: %s", verdict, *verdict ? "\n" : "", headline(gate), counts);
    document->action = action_of(gate, list, arena);
    document->name = "gate";
    document->date = gate->run;
    add_facts(document, gate, summary);
    document_text(document, 0, TONE_DIM, "%s, channel %s, run of %.19s%s%.12s; %zu run%s looked at", gate->device,
                  gate->channel, gate->run, gate->commit[0] ? ", commit " : "", gate->commit, gate->runs,
                  text_s(gate->runs));
    if (gate->environment_changed)
        document_text(document, 0, TONE_DOUBT, "the environment changed, so every series starts anew: %s%s%s",
                      gate->environment, isfinite(gate->environment_shift) ? "; the median case took " : "",
                      isfinite(gate->environment_shift) ? change_words(gate->environment_shift, arena) : "");
    add_page(document, gate, list, count);
    if (count)
        document_text(document, SHOW_TEXT, TONE_PLAIN, "\n");
    document_table(document, NULL, NULL, findings_of(list, count, arena))->show = SHOW_TEXT | SHOW_MARKDOWN;
    document_table(document, "series", NULL, series)->show = SHOW_DATA | SHOW_TESTS;
    if (gate->too_noisy)
        document_text(document, 0, TONE_PLAIN,
                      "%zu series are too noisy to gate: a change under 10 %% would not show within a week",
                      gate->too_noisy);
}

void report_gate(struct text *out, const char *format, const struct history_gate *gate,
                 const struct report_options *options)
{
    SCOPED(arena_release) struct arena arena = {0};
    if (!strcmp(format, "openmetrics")) {
        report_gate_openmetrics(out, gate);
        return;
    }
    struct document document = {.arena = &arena};
    gate_document(&document, gate);
    render_find(format)(out, &document, options);
}
