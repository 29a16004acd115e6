/* SPDX-License-Identifier: MIT
 *
 * The gate's findings as a document, as JSON in the form of configs/schema/gate.schema.json, and as JUnit.
 */

#include "report_internal.h"
#include "rooftile/history.h"

enum { MOST_ROWS = 100 };

/* ---- words ---- */

/* "; code, 1234abcd..5678ef01", omitting unknown parts. */
static const char *origin(const struct history_series *s, struct arena *arena)
{
    const bool both = s->cause[0] && s->commits[0];
    return s->cause[0] || s->commits[0] ? arena_printf(arena, "; %s%s%s", s->cause, both ? ", " : "", s->commits) : "";
}

static const char *before(const struct history_series *s, struct arena *arena)
{
    return isfinite(s->baseline) ? arena_printf(arena, ", was %s", quantity_words(s->baseline, s->unit, arena)) : "";
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
static const char *story(const struct history_series *s, struct arena *arena)
{
    switch (s->finding) {
    case FINDING_CONFIRMED:
        return arena_printf(arena, "%s since %.10s%s (Z %.1f%s)%s", change_words(s->shift, arena), s->since,
                            before(s, arena), fabs(s->verdict.z), origin(s, arena), others(s, arena));
    case FINDING_TENTATIVE:
        return arena_printf(arena, "%s this run%s (Z %.1f%s)%s; confirmed if it stays", change_words(s->shift, arena),
                            before(s, arena), fabs(s->verdict.z), origin(s, arena), others(s, arena));
    case FINDING_OPEN:
        return arena_printf(arena, "%s since %.10s%s%s%s", change_words(s->level, arena), s->since, before(s, arena),
                            origin(s, arena), others(s, arena));
    case FINDING_BROKEN:
        return arena_printf(arena, "%s%s%.200s", s->status, s->reason[0] ? ": " : "", s->reason);
    case FINDING_MISSING:
        return s->status[0] ? arena_printf(arena, "%s: %.200s", s->status, s->reason) : "not in this run";
    case FINDING_SLOW:
        return arena_printf(arena, "%s against the median of %zu devices like it (limit %s)",
                            change_words(s->group_change, arena), s->group, change_words(s->group_limit, arena));
    case FINDING_CHANGED:
        return arena_printf(arena, "%s changed: it starts anew", s->reason);
    case FINDING_TIMER:
        return arena_printf(arena, "%s: another series goes on", s->reason);
    default:
        return "";
    }
}

static struct cell word(const struct history_series *s)
{
    static const char *const words[] = {
        [FINDING_CONFIRMED] = "SLOWER", [FINDING_OPEN] = "STILL SLOWER", [FINDING_TENTATIVE] = "TENTATIVE",
        [FINDING_BROKEN] = "BROKEN",    [FINDING_MISSING] = "MISSING",   [FINDING_TIMER] = "TIMER",
        [FINDING_CHANGED] = "CHANGED",  [FINDING_SLOW] = "SLOW"};
    const bool confirmed = s->finding == FINDING_CONFIRMED;
    if (confirmed && !s->slower)
        return cell_toned(s->is_kpi ? "BETTER" : "FASTER", TONE_GOOD);
    if (s->is_kpi && (confirmed || s->finding == FINDING_OPEN))
        return cell_toned(confirmed ? "WORSE" : "STILL WORSE", TONE_BAD);
    return cell_toned(words[s->finding],
                      s->finding == FINDING_TENTATIVE || s->finding >= FINDING_CHANGED ? TONE_DOUBT : TONE_BAD);
}

static const char *headline(const struct history_gate *gate)
{
    const int code = history_exit_code(gate, true);
    return code == 1      ? "REGRESSION"
           : !gate->quiet ? "LEARNING"
           : code == 4    ? "NO CONFIRMED REGRESSION"
                          : "NO REGRESSION";
}

/* ---- parts ---- */

enum {
    SERIES_WORD,
    SERIES_CASE,
    SERIES_THIS_RUN,
    SERIES_STORY,
    SERIES_ID,
    SERIES_KIND,
    SERIES_FINDING,
    SERIES_STATE,
    SERIES_STATUS
};

/* Fields of the series; KNOWN fields are omitted if they are "". */
#define OF_SERIES(member) FIELD(struct history_series, member)
#define KNOWN(member) .flags = COLUMN_OPTIONAL, OF_SERIES(member)

static const struct table_column series_columns[] = {
    [SERIES_WORD] = {.title = ""},
    [SERIES_CASE] = {.key = "label", .title = "case", OF_SERIES(label)},
    [SERIES_THIS_RUN] = {.key = "this_run", .title = "this run", .unit = UNIT_NUMBER, OF_SERIES(this_run)},
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
        cells[SERIES_THIS_RUN].unit = s->unit;
        cells[SERIES_FINDING] = cell_known(history_finding_names[s->finding]);
        if (!s->finding)
            continue;
        cells[SERIES_WORD] = word(s);
        cells[SERIES_FINDING].tone = cells[SERIES_WORD].tone;
        cells[SERIES_STORY] = cell_text(story(s, arena));
    }
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
static void add_advice(struct document *document, const struct history_gate *gate)
{
    const struct history_series *s = gate->series;
    if (history_exit_code(gate, false) == 1) {
        const char *name = s->is_class || s->label[strcspn(s->label, "*?[\\'")] ? s->case_id : s->label;
        document_text(document, SHOW_TEXT, TONE_PLAIN, "next: rooftile history show '%s'", s->is_class ? "*" : name);
        if (s->finding != FINDING_BROKEN)
            document_text(document, SHOW_TEXT, TONE_PLAIN,
                          "or, when it is meant to be so: rooftile history accept '%s' --reason '...'", name);
    } else if (gate->findings[FINDING_TENTATIVE]) {
        document_text(document, SHOW_TEXT, TONE_PLAIN,
                      "next: measure the tentative ones again with --confirm SUITE, or wait for the next run");
    }
    if (!gate->quiet)
        document_text(document, 0, TONE_PLAIN, "a series is judged from its seventh run on");
}

void gate_document(struct document *document, const struct history_gate *gate)
{
    struct arena *arena = document->arena;
    struct table *summary = table_record(arena);
    const struct table *series = series_of(gate, arena);
    const char *counts = add_counts(summary, gate);
    document->title = headline(gate);
    document->name = "gate";
    document->date = gate->run;
    add_facts(document, gate, summary);
    document_text(document, 0, TONE_PLAIN, "%s, channel %s, run of %.19s%s%.12s; %zu run%s looked at", gate->device,
                  gate->channel, gate->run, gate->commit[0] ? ", commit " : "", gate->commit, gate->runs,
                  text_s(gate->runs));
    document_text(document, SHOW_PAGE, TONE_PLAIN, "%s", counts);
    if (gate->environment_changed)
        document_text(document, 0, TONE_DOUBT, "the environment changed, so every series starts anew: %s%s%s",
                      gate->environment, isfinite(gate->environment_shift) ? "; the median case took " : "",
                      isfinite(gate->environment_shift) ? change_words(gate->environment_shift, arena) : "");
    document_text(document, SHOW_TEXT, TONE_PLAIN, "\n");
    struct table *findings = arena_copy(arena, series, sizeof(*series)); /* the rows shown to people */
    findings->row_count = COUNT_WHERE(s, gate->series, gate->count, s->finding);
    findings->most_rows = MOST_ROWS;
    findings->rest = "--format json has them all";
    document_table(document, NULL, NULL, findings)->show = SHOW_PEOPLE;
    document_table(document, "series", NULL, series)->show = SHOW_DATA | SHOW_TESTS;
    document_text(document, SHOW_TEXT, TONE_PLAIN, "%s: %s", headline(gate), counts);
    if (gate->too_noisy)
        document_text(document, 0, TONE_PLAIN,
                      "%zu series are too noisy to gate: a change under 10 %% would not show within a week",
                      gate->too_noisy);
    add_advice(document, gate);
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
