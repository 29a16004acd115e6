/* SPDX-License-Identifier: MIT */

#include "report_internal.h"
#include "rooftile/codediff.h"
#include "rooftile/report.h"
#include "rooftile/table.h"

#define MOST_DETAILED 8 /* kernels listed with all their figures without --verbose */
#define WORST 5

/* ---- kernels ---- */

static const enum tone tones[] = {[CODE_SAME] = TONE_DIM,
                                  [CODE_CHANGED] = TONE_PLAIN,
                                  [CODE_HELPED] = TONE_GOOD,
                                  [CODE_MIXED] = TONE_DOUBT,
                                  [CODE_HURT] = TONE_BAD};

static struct cell figures_cell(const struct code_figures *figures, struct arena *arena)
{
    struct table *record = table_record(arena);
    for (int k = 0; k < CODE_METRICS; k++)
        table_member(record, code_metrics[k].key, NULL, cell_number(figures->value[k]));
    return cell_table(record);
}

static const struct isa_mix *mix_of(const struct inspect_kernel *kernel, size_t loop)
{
    return loop == ISA_NO_LOOP ? NULL : &kernel->isa->loops[loop].own;
}

static struct cell mix_cell(const struct isa_mix *mix, struct arena *arena)
{
    struct table *record = table_record(arena);
    for (int kind = 0; mix && kind < ISA_KINDS; kind++)
        table_member(record, isa_kinds[kind].name, NULL, cell_number((double)mix->count[kind]));
    return mix ? cell_table(record) : cell_unknown("there is no such loop");
}

static struct cell loops_cell(const struct code_pair *pair, struct arena *arena)
{
    static const struct table_column columns[] = {{.key = "before"}, {.key = "after"}, {.key = "hot"}};
    struct table *table = TABLE(arena, columns);
    FOR_EACH(const struct code_loops, loops, pair->loops, pair->loop_count) {
        const bool hot = loops->before != ISA_NO_LOOP && loops->before == pair->hot[0];
        table_add(table, (struct cell[]){mix_cell(mix_of(pair->before, loops->before), arena),
                                         mix_cell(mix_of(pair->after, loops->after), arena), cell_bool(hot)});
    }
    return cell_table(table);
}

static int by_verdict(const void *a, const void *b)
{
    const struct code_pair *x = *(const struct code_pair *const *)a, *y = *(const struct code_pair *const *)b;
    return x->verdict != y->verdict ? ORDER(y->verdict, x->verdict) : ORDER(x, y);
}

static const struct code_pair **sorted(const struct codediff *diff, struct arena *arena)
{
    const struct code_pair **pairs = arena_pointers(arena, diff->pairs, diff->count, sizeof(*diff->pairs));
    qsort(pairs, diff->count, sizeof(*pairs), by_verdict);
    return pairs;
}

/* People see the kernels that changed, programs get all of them. */
static struct table *kernels_of(const struct codediff *diff, bool all, struct arena *arena)
{
    static const struct table_column columns[] = {{.key = "kernel", .title = "kernel"},
                                                  {.key = "symbol"},
                                                  {.key = "target", .title = "target"},
                                                  {.key = "verdict", .title = "verdict"},
                                                  {.key = "why"},
                                                  {.key = "better"},
                                                  {.key = "cause"},
                                                  {.key = "cause_code"},
                                                  {.key = "before"},
                                                  {.key = "after"},
                                                  {.key = "loops"},
                                                  {.key = "walked"},
                                                  {.key = "time", .title = "time", .unit = UNIT_CHANGE},
                                                  {.key = "signs", .title = "signs", .flags = COLUMN_PROSE}};
    struct table *table = TABLE(arena, columns);
    const struct code_pair **pairs = sorted(diff, arena);
    for (size_t k = 0; k < diff->count; k++) {
        const struct code_pair *pair = pairs[k];
        if (pair->verdict == CODE_SAME && !all)
            continue;
        const double before = pair->time_ns[0], after = pair->time_ns[1]; /* by the model, if both were walked */
        const bool helped = pair->verdict == CODE_HELPED;
        const char *first = helped ? pair->better : pair->worse, *second = helped ? pair->worse : pair->better;
        const char *signs = *first && *second ? arena_printf(arena, "%s, but %s", first, second)
                            : *first          ? first
                                              : second;
        struct table_row *row = table_add(
            table,
            (struct cell[]){cell_text(pair->label), cell_text(pair->name), cell_text(pair->target),
                            cell_toned(code_verdicts[pair->verdict], tones[pair->verdict]), cell_known(pair->worse),
                            cell_known(pair->better), cell_known(pair->cause), cell_known(pair->cause_code),
                            all ? figures_cell(&pair->figures[0], arena) : cell_absent(),
                            all ? figures_cell(&pair->figures[1], arena) : cell_absent(),
                            all ? loops_cell(pair, arena) : cell_absent(),
                            !all           ? cell_absent()
                            : pair->walked ? cell_text(pair->walked)
                                           : cell_unknown("one of them cannot be walked, or nothing differs"),
                            all                       ? cell_absent()
                            : after > 0 && before > 0 ? cell_number(after / before - 1)
                                                      : cell_unknown("not walked"),
                            all ? cell_absent() : cell_text(signs)});
        row->note = !all && *pair->cause ? pair->cause : NULL;
    }
    return table;
}

/* ---- figures of all ---- */

struct sums {
    double all[2], affected[2];
    size_t helped, hurt, same;
};

static struct sums sums_of(const struct codediff *diff, enum code_metric metric)
{
    struct sums sums = {0};
    for (size_t k = 0; k < diff->count; k++) {
        const double a = diff->pairs[k].figures[0].value[metric], b = diff->pairs[k].figures[1].value[metric];
        if (isnan(a) || isnan(b))
            continue;
        const int judged = code_metric_judge(metric, a, b);
        sums.all[0] += a;
        sums.all[1] += b;
        sums.helped += judged > 0;
        sums.hurt += judged < 0;
        sums.same += judged == 0;
        sums.affected[0] += judged ? a : 0;
        sums.affected[1] += judged ? b : 0;
    }
    return sums;
}

static struct cell change_cell(double before, double after)
{
    return before > 0 ? cell_number(after / before - 1) : cell_unknown("there was none before");
}

static struct table *metrics_of(const struct codediff *diff, bool all, struct arena *arena)
{
    static const struct table_column columns[] = {
        {.key = "metric", .title = "all kernels"},
        {.key = "before", .title = "before", .unit = UNIT_COUNT},
        {.key = "after", .title = "after", .unit = UNIT_COUNT},
        {.key = "change", .title = "change", .unit = UNIT_CHANGE},
        {.key = "affected_before", .title = "affected", .unit = UNIT_COUNT, .drop = 1},
        {.key = "affected_after", .title = "after", .unit = UNIT_COUNT, .drop = 1},
        {.key = "affected_change", .title = "change", .unit = UNIT_CHANGE, .drop = 1},
        {.key = "helped", .title = "helped", .unit = UNIT_COUNT},
        {.key = "hurt", .title = "hurt", .unit = UNIT_COUNT},
        {.key = "same", .title = "same", .unit = UNIT_COUNT},
    };
    struct table *table = TABLE(arena, columns);
    for (int k = 0; k < CODE_METRICS; k++) {
        const struct sums sums = sums_of(diff, (enum code_metric)k);
        if (!all && !sums.helped && !sums.hurt)
            continue;
        table_add(table,
                  (struct cell[]){cell_text(all ? code_metrics[k].key : code_metrics[k].title),
                                  cell_number(round(sums.all[0] * 10) / 10), cell_number(round(sums.all[1] * 10) / 10),
                                  change_cell(sums.all[0], sums.all[1]), cell_number(round(sums.affected[0] * 10) / 10),
                                  cell_number(round(sums.affected[1] * 10) / 10),
                                  change_cell(sums.affected[0], sums.affected[1]), cell_number((double)sums.helped),
                                  cell_number((double)sums.hurt), cell_number((double)sums.same)});
    }
    return table;
}

/* ---- the worst of each figure ---- */

struct worst {
    const struct code_pair *pair;
    double loss; /* worse / better figure; INFINITY if the better one is 0 */
};

static int by_loss(const void *a, const void *b)
{
    const struct worst *x = a, *y = b;
    return x->loss != y->loss ? ORDER(y->loss, x->loss) : ORDER(x->pair, y->pair);
}

/* Sets *worst to the pairs that are worse; returns how many, at most WORST. */
static size_t find_worst(struct worst **worst, const struct codediff *diff, enum code_metric metric,
                         struct arena *arena)
{
    size_t count = 0;
    *worst = arena_array(arena, diff->count + 1, sizeof(**worst));
    FOR_EACH(const struct code_pair, pair, diff->pairs, diff->count) {
        const double a = pair->figures[0].value[metric], b = pair->figures[1].value[metric];
        const bool more = code_metrics[metric].more_is_better;
        if (code_metric_judge(metric, a, b) < 0)
            (*worst)[count++] = (struct worst){pair, more ? a / b : b / a};
    }
    qsort(*worst, count, sizeof(**worst), by_loss);
    return count < WORST ? count : WORST;
}

static struct table *worst_of(const struct codediff *diff, struct arena *arena)
{
    static const struct table_column columns[] = {
        {.key = "metric", .title = "worst of", .flags = COLUMN_GROUP},
        {.key = "kernel", .title = "kernel"},
        {.key = "target", .title = "target"},
        {.key = "before", .title = "before", .unit = UNIT_NUMBER},
        {.key = "after", .title = "after", .unit = UNIT_NUMBER},
        {.key = "change", .title = "change", .unit = UNIT_CHANGE},
    };
    struct table *table = TABLE(arena, columns);
    for (int k = 0; k < CODE_METRICS; k++) {
        struct worst *worst;
        const size_t count = find_worst(&worst, diff, (enum code_metric)k, arena);
        for (size_t n = 0; n < count; n++) {
            const struct code_pair *pair = worst[n].pair;
            const double a = pair->figures[0].value[k], b = pair->figures[1].value[k];
            table_add(table,
                      (struct cell[]){cell_text(code_metrics[k].title), cell_text(pair->label), cell_text(pair->target),
                                      cell_number(a), cell_number(b), change_cell(a, b)});
        }
    }
    return table;
}

/* ---- one kernel in full ---- */

static struct table *details_of(const struct code_pair *pair, struct arena *arena)
{
    static const struct table_column columns[] = {
        {.title = "figure"}, {.title = "before", .unit = UNIT_NUMBER}, {.title = "after", .unit = UNIT_NUMBER}};
    struct table *table = TABLE(arena, columns);
    for (int k = 0; k < CODE_METRICS; k++) {
        const double a = pair->figures[0].value[k], b = pair->figures[1].value[k];
        if (!(isnan(a) && isnan(b)) && a != b)
            table_add(table, (struct cell[]){cell_text(code_metrics[k].title), cell_number(a), cell_number(b)});
    }
    for (size_t n = 0; n < pair->loop_count; n++) {
        const struct isa_mix *a = mix_of(pair->before, pair->loops[n].before);
        const struct isa_mix *b = mix_of(pair->after, pair->loops[n].after);
        const bool hot = pair->loops[n].before == pair->hot[0] && pair->hot[0] != ISA_NO_LOOP;
        for (int kind = 0; kind < ISA_KINDS; kind++) {
            const double x = a ? (double)a->count[kind] : NAN, y = b ? (double)b->count[kind] : NAN;
            if ((x > 0 || y > 0) && x != y)
                table_add(table, (struct cell[]){cell_text(arena_printf(arena, "loop %zu%s: %s", n + 1,
                                                                        hot ? ", hot" : "", isa_kinds[kind].label)),
                                                 cell_number(x), cell_number(y)});
        }
    }
    return table;
}

static void add_details(struct document *document, const struct codediff *diff, const struct codediff_look *look)
{
    const struct code_pair **pairs = sorted(diff, document->arena);
    size_t shown = 0;
    for (size_t k = 0; k < diff->count; k++) {
        const struct code_pair *pair = pairs[k];
        const bool wanted = pair->verdict >= CODE_MIXED || (look->verbose && pair->verdict != CODE_SAME);
        if (!wanted || (shown++ >= MOST_DETAILED && !look->verbose))
            continue;
        const char *title =
            arena_printf(document->arena, "%s for %s: %s", pair->label, pair->target, code_verdicts[pair->verdict]);
        struct section *section = document_table(document, NULL, title, details_of(pair, document->arena));
        section->show = SHOW_PEOPLE;
        section->level = 1;
        if (look->isa && pair->before->isa && pair->after->isa)
            document_verbatim(document, SHOW_PEOPLE, NULL, codediff_sides(pair, document->arena));
    }
}

/* ---- the whole ---- */

static void add_data(struct document *document, const struct codediff *diff)
{
    struct arena *arena = document->arena;
    struct table *head = table_record(arena), *problems = table_list(arena);
    table_member(head, "schema", NULL, cell_text("https://rooftile.dev/schemas/codediff/1/codediff.schema.json"));
    table_member(head, "schema_version", NULL, cell_text("1.0.0"));
    table_member(head, "before", NULL, cell_text(diff->names[0]));
    table_member(head, "after", NULL, cell_text(diff->names[1]));
    for (int verdict = 0; verdict <= CODE_HURT; verdict++)
        table_member(head, code_verdicts[verdict], NULL,
                     cell_number((double)codediff_count(diff, (enum code_verdict)verdict)));
    table_member(head, "accepted", NULL, cell_number((double)diff->accepted));
    for (int side = 0; side < 2; side++) {
        struct table *only = table_list(arena);
        for (size_t k = 0; k < diff->only_count[side]; k++)
            table_item(only, diff->only[side][k]);
        table_member(head, side ? "only_after" : "only_before", NULL, cell_table(only));
    }
    for (size_t k = 0; k < diff->problem_count; k++)
        table_item(problems, diff->problems[k]);
    table_member(head, "problems", NULL, cell_table(problems));
    document_table(document, NULL, NULL, head)->show = SHOW_DATA;
    document_table(document, "kernels", NULL, kernels_of(diff, true, arena))->show = SHOW_DATA;
    document_table(document, "metrics", NULL, metrics_of(diff, true, arena))->show = SHOW_DATA;
}

/* The last lines: the counts, and what to do about the worst kernel. */
static void conclude(struct document *document, const struct codediff *diff)
{
    struct arena *arena = document->arena;
    const struct code_pair *worst = sorted(diff, arena)[0];
    const size_t mixed = codediff_count(diff, CODE_MIXED);
    document->verdict = arena_printf(
        arena, "%zu kernel%s: %zu hurt, %s%zu helped, %zu changed, %zu same%s", diff->count, text_s(diff->count),
        codediff_count(diff, CODE_HURT), mixed ? arena_printf(arena, "%zu mixed, ", mixed) : "",
        codediff_count(diff, CODE_HELPED), codediff_count(diff, CODE_CHANGED), codediff_count(diff, CODE_SAME),
        diff->accepted ? arena_printf(arena, "; %zu accepted by %s", diff->accepted, diff->pins) : "");
    document->mark.tone = tones[worst->verdict];
    /* "bank conflicts of LDS (rows without padding)": without the figures. */
    const char *end = strstr(worst->cause, ": ");
    const char *cause = end ? arena_strndup(arena, worst->cause, (size_t)(end - worst->cause)) : worst->cause;
    document->action = worst->verdict == CODE_HURT ? arena_printf(arena, "Look at %s first: %s; --isa shows both sides",
                                                                  worst->label, *cause ? cause : worst->worse)
                       : worst->verdict == CODE_MIXED
                           ? arena_printf(arena, "Measure %s: something hurts, something helps", worst->label)
                       : worst->verdict == CODE_SAME ? "Nothing to do: neither side is better"
                                                     : "Nothing to do: nothing is worse";
}

void codediff_document(struct document *document, const struct codediff *diff, const struct codediff_look *look)
{
    struct arena *arena = document->arena;
    document->title = arena_printf(arena, "%s and %s", diff->names[0], diff->names[1]);
    add_data(document, diff);
    document_table(document, NULL, NULL, kernels_of(diff, false, arena))->show = SHOW_PEOPLE;
    /* If details of a single kernel follow, they say the same. */
    if (diff->count > 1 || codediff_count(diff, CODE_HURT) + codediff_count(diff, CODE_MIXED) == 0) {
        document_table(document, NULL, NULL, metrics_of(diff, false, arena))->show = SHOW_PEOPLE;
        document_table(document, NULL, NULL, worst_of(diff, arena))->show = SHOW_PEOPLE;
    }
    add_details(document, diff, look);
    const char *last = NULL; /* the first of several assumed launches represents all of them */
    FOR_EACH(const struct code_pair, pair, diff->pairs, diff->count) {
        if (pair->verdict == CODE_SAME || !(pair->time_ns[0] > 0) || (last && *last == *pair->walked))
            continue;
        last = pair->walked;
        document_text(document, SHOW_PEOPLE, TONE_DIM,
                      "time: by the model, not measured: a device full of workgroups of %s, all data in L2", last);
    }
    FOR_EACH(const struct code_pair, pair, diff->pairs, diff->count) {
        const uint64_t unknown = pair->verdict == CODE_SAME ? 0 : codediff_unknown_bytes(pair);
        if (unknown)
            document_text(document, SHOW_PEOPLE, TONE_DIM, "%s: %llu access%s of unknown bytes, which are not compared",
                          pair->label, (unsigned long long)unknown, unknown == 1 ? "" : "es");
    }
    for (int side = 0; side < 2; side++)
        for (size_t k = 0; k < diff->only_count[side]; k++)
            document_text(document, SHOW_PEOPLE, TONE_DIM, "only in %s: %s", diff->names[side], diff->only[side][k]);
    for (size_t k = 0; k < diff->problem_count; k++)
        document_text(document, SHOW_PEOPLE, TONE_DOUBT, "not compared: %s", diff->problems[k]);
    conclude(document, diff);
}
