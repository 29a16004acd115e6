/* SPDX-License-Identifier: MIT
 *
 * A comparison as a document, as JSON in the form of configs/schema/compare.schema.json, and as JUnit. Problems come
 * first, then changes, then undecided cases; unchanged cases are one number. The output does not depend on the time or
 * place of writing: the same two results give the same bytes.
 */

#include "picture.h"
#include "report_internal.h"
#include "rooftile/compare.h"

enum { MOST_ROWS = 200 };

enum { NOT_SHOWN = 9 };

struct verdict_words {
    const char *word;
    enum tone tone;
    int rank; /* smaller is listed earlier; NOT_SHOWN: never listed */
};

static const struct verdict_words words_of_verdict[] = {
    [SHIFT_SLOWER] = {"SLOWER", TONE_BAD, 1},       [SHIFT_FASTER] = {"FASTER", TONE_GOOD, 6},
    [SHIFT_SUSPECT] = {"SUSPECT", TONE_DOUBT, 4},   [SHIFT_INCONCLUSIVE] = {"INCONCLUSIVE", TONE_DOUBT, 7},
    [SHIFT_SAME] = {"SAME", TONE_PLAIN, NOT_SHOWN},
};

static const struct verdict_words of_state[] = {
    [COMPARE_BROKEN] = {"BROKEN", TONE_BAD, 0},
    [COMPARE_MISSING] = {"MISSING", TONE_BAD, 2},
    [COMPARE_REFUSED] = {"NOT COMPARED", TONE_DOUBT, 3},
    [COMPARE_BOTH_BROKEN] = {"STILL BROKEN", TONE_DOUBT, 5},
    [COMPARE_FIXED] = {"FIXED", TONE_GOOD, 6},
    [COMPARE_NEW] = {"NEW", TONE_PLAIN, 8},
    [COMPARE_SKIPPED] = {"SKIPPED", TONE_DIM, NOT_SHOWN},
};

static const struct verdict_words *words_of(const struct compare_case *c)
{
    return c->state == COMPARE_JUDGED ? &words_of_verdict[c->shift.verdict] : &of_state[c->state];
}

static bool has_moved(const struct compare_case *c)
{
    return c->state == COMPARE_JUDGED && (c->shift.verdict == SHIFT_SLOWER || c->shift.verdict == SHIFT_FASTER);
}

/* ---- a shift's members ---- */

/* put_shift fills the first three. */
enum { SHIFT_CELLS = 10 };
#define SHIFT_COLUMNS(type, shift)                                                                                     \
    {.key = "verdict"}, {.key = "verdict_reason"}, {.key = "common_ratio"},                                            \
        {.key = "ratio", FIELD(type, shift.ratio)}, {.key = "ratio_ci", FIELD(type, shift.ratio_ci)},                  \
        {.key = "p", FIELD(type, shift.p)}, {.key = "q", FIELD(type, shift.q)}, {.key = "sd", FIELD(type, shift.sd)},  \
        {.key = "mde", FIELD(type, shift.mde)},                                                                        \
    {                                                                                                                  \
        .key = "suggested_trials", FIELD(type, shift.suggested_trials)                                                 \
    }
static void put_shift(struct cell *cells, const struct shift *shift, const char *verdict)
{
    cells[0] = cell_text(verdict);
    cells[1] = cell_text(shift_reason_names[shift->reason]);
    cells[2] = cell_number(exp(shift->common));
}

enum { CLASS_NAME, CLASS_RATIO, CLASS_VERDICT, CLASS_SHIFT };

static struct table *class_table(const struct comparison *comparison, struct arena *arena)
{
    static const struct table_column columns[] = {
        [CLASS_NAME] = {.key = "class",
                        .title = "suite-wide shift: class",
                        .flags = COLUMN_TEST,
                        FIELD(struct compare_class, name)},
        [CLASS_RATIO] = {.key = "class_ratio", .title = "together", .unit = UNIT_CHANGE},
        [CLASS_VERDICT] = {.title = "verdict", .flags = COLUMN_VERDICT},
        SHIFT_COLUMNS(struct compare_class, group.shift),
        {.key = "cases", .title = "cases", .unit = UNIT_COUNT, FIELD(struct compare_class, group.cases)},
        {.key = "share", .title = "the same way", .unit = UNIT_PERCENT, FIELD(struct compare_class, group.share)}};
    struct table *table = TABLE(arena, columns);
    for (size_t k = 0; k < comparison->class_count; k++) {
        const struct shift_group *group = &comparison->classes[k].group;
        const enum shift_verdict verdict = group->shift.verdict;
        if (!group->shifted)
            continue;
        struct cell *cells = table_add_object(table, &comparison->classes[k])->cells;
        cells[CLASS_RATIO] = cell_number(exp(group->common));
        cells[CLASS_RATIO].text = change_words(exp(group->common) - 1, arena);
        cells[CLASS_VERDICT] = cell_toned(words_of_verdict[verdict].word, words_of_verdict[verdict].tone);
        put_shift(&cells[CLASS_SHIFT], &group->shift, shift_verdict_names[verdict]);
    }
    return table;
}

enum { KPI_NAME, KPI_BETTER, KPI_BASE, KPI_NEW, KPI_CHANGE, KPI_VERDICT, KPI_WHY, KPI_SHIFT };
#define OF_KPI(member) FIELD(struct compare_kpi, member)

static struct table *kpi_table(const struct comparison *comparison, struct arena *arena)
{
    static const struct table_column columns[] = {
        [KPI_NAME] = {.key = "name", .title = "key figure", .flags = COLUMN_TEST, OF_KPI(name)},
        [KPI_BETTER] = {.key = "better"},
        [KPI_BASE] = {.key = "base", .title = "base", .unit = UNIT_NUMBER, OF_KPI(base)},
        [KPI_NEW] = {.key = "new", .title = "new", .unit = UNIT_NUMBER, OF_KPI(now)},
        [KPI_CHANGE] = {.title = "change", .unit = UNIT_CHANGE},
        [KPI_VERDICT] = {.title = "verdict", .flags = COLUMN_VERDICT},
        [KPI_WHY] = {.key = "reason", .title = "", .flags = COLUMN_PROSE | COLUMN_OPTIONAL, OF_KPI(reason)},
        SHIFT_COLUMNS(struct compare_kpi, shift),
        {.key = "unit", OF_KPI(unit)},
        {.key = "lost", OF_KPI(lost)}};
    struct table *table = TABLE(arena, columns);
    FOR_EACH(const struct compare_kpi, kpi, comparison->kpis, comparison->kpi_count) {
        const enum shift_verdict verdict = kpi->shift.verdict;
        const bool worse = verdict == SHIFT_SLOWER, better = verdict == SHIFT_FASTER;
        struct cell *cells = table_add_object(table, kpi)->cells;
        cells[KPI_BETTER] = cell_text(kpi->higher_is_better ? "higher" : "lower");
        cells[KPI_BASE].unit = cells[KPI_NEW].unit = kpi_shown_unit(kpi->of, kpi->unit);
        cells[KPI_WHY].text = text_or_empty(kpi->reason);
        if (!kpi->judged) {
            cells[KPI_VERDICT] = cell_toned(kpi->lost ? "LOST" : "", kpi->lost ? TONE_BAD : TONE_DIM);
            memset(&cells[KPI_SHIFT], 0, SHIFT_CELLS * sizeof(*cells));
            continue;
        }
        cells[KPI_VERDICT] = cell_toned(worse    ? "WORSE"
                                        : better ? "BETTER"
                                                 : words_of_verdict[verdict].word,
                                        words_of_verdict[verdict].tone);
        cells[KPI_CHANGE] = cell_number(kpi->now / kpi->base - 1);
        put_shift(&cells[KPI_SHIFT], &kpi->shift, worse ? "worse" : better ? "better" : shift_verdict_names[verdict]);
    }
    return table;
}

/* Shortens a hash to its first digits. */
static const char *fact(const char *value, struct arena *arena)
{
    const size_t length = strlen(value);
    return !length                                                       ? "none"
           : length >= 40 && strspn(value, "0123456789abcdef") == length ? arena_printf(arena, "%.12s...", value)
                                                                         : value;
}

static struct table *difference_table(const struct comparison *comparison, struct arena *arena)
{
    static const struct table_column columns[] = {{.key = "what", .title = "what else differs"},
                                                  {.key = "base"},
                                                  {.key = "new"},
                                                  {.title = "base"},
                                                  {.title = "new", .flags = COLUMN_PROSE}};
    struct table *table = TABLE(arena, columns);
    FOR_EACH(const struct compare_difference, d, comparison->differences, comparison->difference_count)
        table_add(table, (struct cell[]){cell_text(d->what), cell_text(d->base), cell_text(d->now),
                                         cell_text(fact(d->base, arena)), cell_text(fact(d->now, arena))});
    return table;
}

/* ---- cases ---- */

enum { LABEL, ID, CLASS, REASON, STATE, BASE, NEW, MEASURED, CHANGE, INTERVAL, VERDICT, WHY, CAUSE, SHIFT };
#define OF_CASE(member) FIELD(struct compare_case, member)

/* Columns from BASE on have values for judged cases only. */
static const struct table_column case_columns[] = {
    [LABEL] = {.title = "case", OF_CASE(label)},
    [ID] = {.key = "id", .flags = COLUMN_TEST, OF_CASE(id)},
    [CLASS] = {.key = "class", OF_CASE(class)},
    [REASON] = {.key = "reason", .flags = COLUMN_OPTIONAL, OF_CASE(reason)},
    [STATE] = {.key = "state"},
    [BASE] = {.key = "base_ns", .title = "base", .unit = UNIT_TIME, .drop = 1, OF_CASE(shift.base_ns)},
    [NEW] = {.key = "new_ns", .title = "new", .unit = UNIT_TIME, .drop = 2, OF_CASE(shift.new_ns)},
    [MEASURED] = {.title = "as measured", .unit = UNIT_CHANGE, .flags = COLUMN_VERBOSE},
    [CHANGE] = {.title = "change", .unit = UNIT_CHANGE},
    [INTERVAL] = {.title = "interval", .unit = UNIT_CHANGE},
    [VERDICT] = {.title = "verdict", .flags = COLUMN_VERDICT},
    [WHY] = {.title = "", .flags = COLUMN_PROSE},
    [CAUSE] = {.key = "attribution"},
    SHIFT_COLUMNS(struct compare_case, shift),
    {.key = "base_trials", OF_CASE(shift.base_trials)},
    {.key = "new_trials", OF_CASE(shift.new_trials)},
    {.key = "cycles_ratio", OF_CASE(cycles_ratio)},
    {.key = "same_code", OF_CASE(same_code)},
    {.key = "changes", .flags = COLUMN_OPTIONAL, OF_CASE(changes)},
    {.key = "base_interference", OF_CASE(interference[0])},
    {.key = "new_interference", OF_CASE(interference[1])},
};
enum { CASE_CELLS = COUNT_OF(case_columns) };

/* The number of trials is given above the table; a row repeats it only if the case has a different number. */
static const char *why(const struct compare_case *c, const struct comparison *comparison, struct arena *arena)
{
    const size_t interference = c->interference[0] + c->interference[1],
                 trials = c->shift.base_trials + c->shift.new_trials;
    const bool changed = c->cause == CAUSE_CODE || c->cause == CAUSE_LAUNCH || c->cause == CAUSE_INPUTS;
    const char *cause = changed                                  ? c->changes
                        : c->cause == CAUSE_COMPILER             ? arena_printf(arena, "compiler: %s", c->changes)
                        : c->cause == CAUSE_ENVIRONMENT          ? "environment (the same code)"
                        : c->cause == CAUSE_CLOCK                ? "clock (as many cycles)"
                        : c->cause == CAUSE_NONE && has_moved(c) ? "cause unknown"
                                                                 : compare_cause_names[c->cause];
    const char *text = cause;
    if (c->shift.reason == SHIFT_NOISY)
        text = arena_printf(arena, "noise hides less than %s", change_words(c->shift.mde, arena));
    if (c->shift.reason == SHIFT_UNSUPPORTED)
        text = "the fastest trials do not show it";
    if (c->shift.reason == SHIFT_FEW_TRIALS && (c->shift.base_trials != result_trials(comparison->base) ||
                                                c->shift.new_trials != result_trials(comparison->now)))
        text = arena_printf(arena, "%zu v %zu trials%s%s", c->shift.base_trials, c->shift.new_trials,
                            cause[0] ? "; " : "", cause);
    return interference ? arena_printf(arena, "%s%s%zu of %zu trials with interference", text, text[0] ? "; " : "",
                                       interference, trials)
                        : text;
}

/* A case that was not judged has no times for programs; people see its measured time. */
static struct cell shown_time(const struct result_case *c, struct arena *arena)
{
    const double time_ns = c && result_case_counts(c) ? result_case_time(c) : NAN;
    return (struct cell){.kind = CELL_ABSENT, .text = quantity_words(time_ns, UNIT_TIME, arena)};
}

static void fill_case(struct cell *cells, const struct compare_case *c, const struct comparison *comparison,
                      struct arena *arena)
{
    const struct shift *shift = &c->shift;
    const bool judged = c->state == COMPARE_JUDGED;
    if (!judged)
        memset(&cells[BASE], 0, (CASE_CELLS - BASE) * sizeof(*cells));
    cells[STATE] = cell_text(compare_state_names[c->state]);
    cells[VERDICT] = cell_toned(words_of(c)->word, words_of(c)->tone);
    cells[WHY] = cell_text(judged ? why(c, comparison, arena) : c->reason);
    if (judged) {
        cells[MEASURED] = cell_number(expm1(shift->d));
        cells[CHANGE] = cell_number(shift->ratio - 1);
        cells[INTERVAL] = cell_range(shift->ratio_ci[0] - 1, shift->ratio_ci[1] - 1);
        cells[CAUSE] = cell_known(compare_cause_names[c->cause]);
        put_shift(&cells[SHIFT], shift, shift_verdict_names[shift->verdict]);
    } else {
        cells[BASE] = shown_time(c->base, arena);
        cells[NEW] = shown_time(c->now, arena);
    }
}

static struct table *cases_of(const struct comparison *comparison, struct arena *arena)
{
    struct table_column *columns = arena_copy(arena, case_columns, sizeof(case_columns));
    columns[INTERVAL].title = arena_printf(arena, "%g %% interval", 100 * (1 - comparison->options.alpha));
    struct table *table = table_new(arena, columns, CASE_CELLS);
    for (size_t k = 0; k < comparison->case_count; k++)
        fill_case(table_add_object(table, &comparison->cases[k])->cells, &comparison->cases[k], comparison, arena);
    return table;
}

/* By rank, then the largest change first. */
static int by_rank(const void *a, const void *b)
{
    const struct compare_case *p = *(const struct compare_case *const *)a, *q = *(const struct compare_case *const *)b;
    const double x = p->state == COMPARE_JUDGED ? fabs(log(p->shift.ratio)) : 0;
    const double y = q->state == COMPARE_JUDGED ? fabs(log(q->shift.ratio)) : 0;
    return ORDER(words_of(p)->rank, words_of(q)->rank) ?: ORDER(y, x) ?: strcmp(p->id, q->id);
}

static const struct compare_case **ranked(const struct comparison *comparison, struct arena *arena)
{
    const struct compare_case **order =
        arena_pointers(arena, comparison->cases, comparison->case_count, sizeof(*comparison->cases));
    qsort(order, comparison->case_count, sizeof(*order), by_rank);
    return order;
}

/* Subsets of the cases. */
enum { FINDINGS = 1, THE_REST = 2, MOVED = 4, NOT_TOLD = 8, EVERYTHING = 15, QUIET = 16 };

/* True if two undecided cases become one row for people. */
static bool told_together(const struct compare_case *a, const struct compare_case *b)
{
    return words_of(a) == words_of(b) && words_of(a)->tone == TONE_DOUBT && a->state == COMPARE_JUDGED &&
           a->shift.reason == b->shift.reason && same_kernel(a->label, b->label);
}

/* Makes a row stand for `count` cases of a kernel: "pointer_chase, all 7", with the largest change and the intervals of
 * all. */
static void tell_together(struct cell *cells, const struct compare_case *const *cases, size_t count,
                          const struct comparison *comparison, struct arena *arena)
{
    const char *label = cases[0]->label;
    const size_t of = COUNT_WHERE(c, comparison->cases, comparison->case_count, same_kernel(c->label, label));
    double low = INFINITY, high = -INFINITY, most = 0;
    for (size_t k = 0; k < count; k++) {
        low = fmin(low, cases[k]->shift.ratio_ci[0] - 1);
        high = fmax(high, cases[k]->shift.ratio_ci[1] - 1);
        most = fabs(cases[k]->shift.ratio - 1) > fabs(most) ? cases[k]->shift.ratio - 1 : most;
    }
    cells[LABEL] = cell_text(kernel_cases(label, count, of, arena));
    cells[BASE] = cells[NEW] = cell_absent();
    cells[CHANGE] = cell_number(most);
    cells[INTERVAL] = cell_range(low, high);
}

/* The rows worth showing, limited to these subsets. */
static struct table *visible_rows(const struct table *all, const struct comparison *comparison, unsigned parts,
                                  struct arena *arena)
{
    const struct compare_case **order = ranked(comparison, arena), **together = ranked(comparison, arena);
    struct table *table = table_new(arena, all->columns, all->column_count);
    for (size_t k = 0; k < comparison->case_count; k++) {
        const struct verdict_words *words = words_of(order[k]);
        const unsigned in = words->rank == NOT_SHOWN
                                ? QUIET
                                : (words->tone == TONE_BAD ? FINDINGS : THE_REST) |
                                      (words->rank < words_of_verdict[SHIFT_INCONCLUSIVE].rank ? MOVED : NOT_TOLD);
        size_t count = 0;
        if (!(in & parts) || COUNT_WHERE(before, order, k, told_together(*before, order[k])))
            continue;
        struct table_row *row = table_add(table, all->rows[order[k] - comparison->cases].cells);
        for (size_t other = k; other < comparison->case_count; other++)
            if (told_together(order[k], order[other]))
                together[count++] = order[other];
        if (count > 1)
            tell_together(row->cells, together, count, comparison, arena);
    }
    /* A note shared by all rows is written once, above them. */
    const char *note = table->row_count > 1 ? text_or_empty(table->rows[0].cells[WHY].text) : "";
    if (*note && COUNT_WHERE(row, table->rows, table->row_count, !strcmp(text_or_empty(row->cells[WHY].text), note)) ==
                     table->row_count) {
        for (size_t k = 0; k < table->row_count; k++)
            table->rows[k].cells[WHY] = cell_absent();
        table->rows[0].heading = arena_printf(table->arena, "all of these: %s", note);
    }
    table->most_rows = MOST_ROWS;
    table->rest = "--format json has them all";
    return table;
}

/* ---- the verdict, and what to do ---- */

/* The command that shows more of a changed case. */
static const char *command_of(const struct compare_case *c, struct arena *arena)
{
    const int length = (int)strcspn(c->label, " ");
    return c->cause == CAUSE_CODE || c->cause == CAUSE_COMPILER
               ? arena_printf(arena, "rooftile codediff OLD_KERNELS NEW_KERNELS '%.*s'", length, c->label)
           : c->cause == CAUSE_CLOCK
               ? arena_printf(arena, "rooftile run SUITE --filter '%.*s*' -v shows its clock", length, c->label)
               : arena_printf(arena,
                              "rooftile run SUITE --filter '%.*s*' --ab OLD_KERNELS NEW_KERNELS measures both in turns",
                              length, c->label);
}

struct cell comparison_mark(const struct comparison *comparison)
{
    static const char *const words[] = {"no regression", "regression", "nothing to compare", "", "inconclusive"};
    const int code = compare_exit_code(comparison, true);
    return cell_toned(words[code], code == 0 ? TONE_GOOD : code == 1 ? TONE_BAD : TONE_DOUBT);
}

/* Sets the document's verdict, action and mark. */
static void conclude(struct document *document, const struct comparison *comparison, const char *counts)
{
    enum { MOST_NAMED = 3 };
    struct arena *arena = document->arena;
    const struct compare_case **order = ranked(comparison, arena);
    const char *line = "", *next = "", *advice[COMPARE_ADVICE + 1];
    size_t named = 0;
    for (size_t k = 0; k < comparison->case_count; k++) {
        const struct compare_case *c = order[k];
        const bool moved = has_moved(c);
        if ((!moved && words_of(c)->tone != TONE_BAD) || named++ >= MOST_NAMED)
            continue;
        const char *cause = compare_cause_names[c->cause];
        const char *what =
            moved ? arena_printf(arena, "%s %s (%s)", percent_words(fabs(c->shift.ratio - 1), arena),
                                 c->shift.ratio > 1 ? "slower" : "faster", *cause ? cause : "cause unknown")
                  : compare_state_names[c->state];
        line = arena_printf(arena, "%s%s%s %s", line, *line ? "; " : "", text_cut(arena, c->label, 60, " .. "), what);
        next = named == 1 && moved && words_of(c)->tone == TONE_BAD
                   ? arena_printf(arena, "next: %s\n", command_of(c, arena))
                   : next;
    }
    if (named > MOST_NAMED)
        line = arena_printf(arena, "%s; and %zu more", line, named - MOST_NAMED);
    document->mark = comparison_mark(comparison);
    document->verdict = arena_printf(arena, "%s%s%s", line, *line ? "\n" : "", counts);
    compare_advice(advice, comparison, arena);
    for (size_t k = 0; advice[k]; k++)
        next = arena_printf(arena, "%s%s\n", next, advice[k]);
    document->action = *next ? next : NULL;
}

/* A section for each changed case: the medians of its trials on both sides, its cause, and what shows more. */
static void add_changes(struct document *document, const struct comparison *comparison)
{
    enum { MOST_CHARTS = 12 };
    static const char *const sides[] = {"base", "new"};
    struct arena *arena = document->arena;
    const struct compare_case **order = ranked(comparison, arena);
    for (size_t k = 0, charts = 0; k < comparison->case_count && charts < MOST_CHARTS; k++) {
        const struct compare_case *c = order[k];
        if (!has_moved(c))
            continue;
        struct chart *chart = chart_new(arena, arena_printf(arena, "change-%zu", ++charts), c->label,
                                        "Each mark is the median of a trial.");
        for (int side = 0; side < 2; side++) {
            double times[SHIFT_MAX_TRIALS];
            const size_t count = result_trial_times(times, side ? c->now : c->base);
            struct chart_series *series = chart_add(chart, CHART_MARKS, "", side ? (c->shift.ratio > 1 ? 1 : 2) : 7);
            for (size_t n = 0; n < count; n++)
                chart_point(chart, series, times[n], side);
        }
        chart->x = (struct chart_axis){.title = "time", .unit = UNIT_TIME, .scale = CHART_LINEAR};
        chart->y = (struct chart_axis){.title = "", .scale = CHART_NAMES, .names = sides, .name_count = 2};
        chart_fit(chart, false, 0.02 * c->shift.base_ns);
        struct section *section = document_chart(document, chart, NULL);
        section->level = 1;
        section->text =
            arena_printf(arena, "%s %s (%s to %s): %s\n%s", words_of(c)->word, change_words(c->shift.ratio - 1, arena),
                         change_words(c->shift.ratio_ci[0] - 1, arena), change_words(c->shift.ratio_ci[1] - 1, arena),
                         why(c, comparison, arena), command_of(c, arena));
    }
}

/* ---- the document ---- */

static struct table *side_of(const struct result *result, struct arena *arena)
{
    struct table *side = table_record(arena);
    table_member(side, "run_id", NULL, cell_text(result->run_id));
    table_member(side, "commit", NULL, cell_known(result->commit));
    table_member(side, "started_at", NULL, cell_text(result->started_at));
    table_member(side, "trials", NULL, cell_number(result_trials(result)));
    table_member(side, "status", NULL, cell_text(result->status));
    table_member(side, "fingerprint", NULL, cell_known(result->fingerprint));
    return side;
}

static const char *side_words(const struct result *result, struct arena *arena)
{
    const unsigned trials = result_trials(result);
    const bool dated = result->started_at && result->started_at[0], known = result->commit && result->commit[0];
    const bool whole = !result->status || !strcmp(result->status, "complete");
    return arena_printf(arena, "%u trial%s%s%s%s%.12s%s%s", trials, trials > 1 ? "s" : "", dated ? ", " : "",
                        dated ? result->started_at : "", known ? ", commit " : "", known ? result->commit : "",
                        whole ? "" : ", ", whole ? "" : result->status);
}

static void add_facts(struct document *document, const struct comparison *comparison)
{
    struct table *facts =
        schema_record(document->arena, "https://rooftile.dev/schemas/compare/1/compare.schema.json", "1.0.0");
    table_member(facts, "predicted", NULL, cell_bool(comparison->base->predicted));
    table_member(facts, "device", NULL, cell_text(comparison->now->device.name));
    table_member(facts, "base", NULL, cell_table(side_of(comparison->base, document->arena)));
    table_member(facts, "new", NULL, cell_table(side_of(comparison->now, document->arena)));
    table_member(facts, "same_fingerprint", NULL, cell_bool(comparison->same_fingerprint));
    table_member(facts, "learned_noise", NULL, cell_bool(comparison->learned_noise));
    table_member(facts, "alpha", NULL, cell_number(comparison->options.alpha));
    table_member(facts, "delta", NULL, cell_number(comparison->options.delta));
    table_member(facts, "same_within", NULL, cell_number(comparison->options.same));
    document_table(document, NULL, NULL, facts)->show = SHOW_DATA;
    struct table *properties = table_record(document->arena);
    table_member(properties, "kind", NULL, cell_text(result_kind_words(comparison->base)));
    table_member(properties, "device", NULL, cell_text(comparison->now->device.name));
    document_table(document, NULL, NULL, properties)->show = SHOW_TESTS;
}

static const char *add_counts(struct table *summary, const struct comparison *c)
{
    const struct count counts[] = {
        {"slower", "slower", c->verdicts[SHIFT_SLOWER]},
        {"broken", "broken", c->states[COMPARE_BROKEN]},
        {"missing", "missing", c->states[COMPARE_MISSING]},
        {"still_broken", "still broken", c->states[COMPARE_BOTH_BROKEN]},
        {"faster", "faster", c->verdicts[SHIFT_FASTER]},
        {"fixed", "fixed", c->states[COMPARE_FIXED]},
        {"same", "same", c->verdicts[SHIFT_SAME]},
        {"suspect", "suspect", c->verdicts[SHIFT_SUSPECT]},
        {"refused", "not compared", c->states[COMPARE_REFUSED]},
        {"inconclusive", "inconclusive", c->verdicts[SHIFT_INCONCLUSIVE]},
        {"new", "new", c->states[COMPARE_NEW]},
        {"skipped", "skipped", c->states[COMPARE_SKIPPED]},
    };
    const char *line = count_members(summary, counts, COUNT_OF(counts));
    table_member(summary, "cases", NULL, cell_number((double)c->case_count));
    table_member(summary, "exit_code", NULL, cell_number(compare_exit_code(c, false)));
    table_member(summary, "exit_code_strict", NULL, cell_number(compare_exit_code(c, true)));
    return arena_printf(summary->arena, "%zu case%s: %s", c->case_count, text_s(c->case_count), line);
}

/* The rows with bars and links to the cases. */
static struct table *page_rows(const struct comparison *comparison, unsigned parts, struct arena *arena)
{
    struct table *changed = visible_rows(cases_of(comparison, arena), comparison, parts, arena);
    struct table_column *columns = arena_copy(arena, changed->columns, CASE_CELLS * sizeof(*columns));
    columns[INTERVAL].flags |= COLUMN_BAR;
    /* A class moved as a whole, and its shift was removed from the changes of its cases. */
    if (COUNT_WHERE(c, comparison->cases, comparison->case_count, c->state == COMPARE_JUDGED && c->shift.common != 0)) {
        columns[MEASURED].flags = 0;
        columns[CHANGE].title = "beyond its class";
    }
    changed->columns = columns;
    changed->rest = "the data of the page has all";
    for (size_t k = 0; k < changed->row_count; k++) {
        const struct row_keys keys = {.id = changed->rows[k].cells[ID].text};
        const struct cell *new = &changed->rows[k].cells[NEW];
        changed->rows[k].keys = new->kind || new->text ? arena_copy(arena, &keys, sizeof(keys)) : NULL;
    }
    return changed;
}

const struct table *comparison_tiles(const struct comparison *comparison, struct arena *arena)
{
    const size_t *verdicts = comparison->verdicts;
    struct table *tiles = table_record(arena);
    table_member(tiles, NULL, "slower", cell_tile(verdicts[SHIFT_SLOWER], TONE_BAD));
    table_member(tiles, NULL, "faster", cell_tile(verdicts[SHIFT_FASTER], TONE_GOOD));
    table_member(tiles, NULL, "cannot tell",
                 cell_tile(verdicts[SHIFT_INCONCLUSIVE] + verdicts[SHIFT_SUSPECT], TONE_DOUBT));
    table_member(tiles, NULL, "same", cell_tile(verdicts[SHIFT_SAME], TONE_PLAIN));
    return tiles;
}

void comparison_sections(struct document *document, const struct comparison *comparison)
{
    const size_t first = document->count;
    struct arena *arena = document->arena;
    conclude(document, comparison, add_counts(table_record(arena), comparison));
    document_table(document, "changes", "What changed", page_rows(comparison, MOVED, arena));
    add_changes(document, comparison);
    document_folded(document, 0, NULL, "What could not be told, or is new", page_rows(comparison, NOT_TOLD, arena));
    document_folded(document, 0, NULL, "What stayed the same, or was skipped", page_rows(comparison, QUIET, arena));
    document_table(document, NULL, NULL, class_table(comparison, arena));
    document_table(document, NULL, NULL, kpi_table(comparison, arena));
    document_text(document, 0, TONE_DIM, "base: %s\nnew: %s", side_words(comparison->base, arena),
                  side_words(comparison->now, arena));
    document_folded(document, 0, NULL, "What else differs between the two", difference_table(comparison, arena));
    for (size_t k = first; k < document->count; k++)
        document->sections[k].show = SHOW_HTML;
}

static struct document document_of(const struct comparison *comparison, struct arena *arena)
{
    struct document document = {.arena = arena, .name = "compare", .date = comparison->now->started_at};
    struct table *summary = table_record(arena), *advice = table_list(arena);
    const struct table *cases = cases_of(comparison, arena), *differences = difference_table(comparison, arena);
    const char *sentences[COMPARE_ADVICE + 1], *device = device_title(comparison->now->device.name, arena);
    const bool predicted = comparison->base->predicted;
    compare_advice(sentences, comparison, arena);
    for (size_t k = 0; sentences[k]; k++)
        table_item(advice, sentences[k]);
    add_facts(&document, comparison);
    conclude(&document, comparison, add_counts(summary, comparison));
    document.title =
        arena_printf(arena, "rooftile compare: %s%s", device, predicted ? " (PREDICTED: nothing was executed)" : "");
    document_text(&document, SHOW_TEXT, TONE_PLAIN, "%son %s\nbase: %s\nnew: %s\n\n",
                  predicted ? "PREDICTED: nothing was executed; differences of the model, not of a machine\n" : "",
                  device, side_words(comparison->base, arena), side_words(comparison->now, arena));
    document_table(&document, "summary", NULL, summary);
    document_table(&document, NULL, NULL, visible_rows(cases, comparison, EVERYTHING, arena))->show = SHOW_TEXT;
    document_table(&document, NULL, NULL, visible_rows(cases, comparison, FINDINGS, arena))->show = SHOW_PAGE;
    document_table(&document, "suite_shift", NULL, class_table(comparison, arena));
    document_table(&document, "kpis", NULL, kpi_table(comparison, arena));
    document_table(&document, "differences", NULL, differences)->show = SHOW_TEXT | SHOW_DATA;
    document_table(&document, "advice", NULL, advice)->show = SHOW_DATA;
    document_folded(&document, SHOW_PAGE, NULL, "What else moved, or could not be told",
                    visible_rows(cases, comparison, THE_REST, arena));
    document_folded(&document, SHOW_PAGE, NULL, "What else differs between the two", differences);
    document_table(&document, "cases", NULL, cases)->show = SHOW_DATA | SHOW_TESTS;
    return document;
}

void report_comparison(struct text *out, const char *format, const struct comparison *comparison,
                       const struct report_options *options)
{
    SCOPED(arena_release) struct arena arena = {0};
    const struct result *const sides[] = {comparison->base, comparison->now};
    if (!strcmp(format, "html")) {
        report_page(out, &(struct report_page){sides, COUNT_OF(sides), comparison, NULL}, options);
        return;
    }
    const struct document document = document_of(comparison, &arena);
    render_find(format)(out, &document, options);
}
