/* SPDX-License-Identifier: MIT
 *
 * Results as a page: changes and distances from the ceiling first, then pictures, then every case. Two results of one
 * device are compared; with several devices each has its own pictures and tables, and one table has all of them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "page_data.h"
#include "picture.h"
#include "report_internal.h"

enum { MOST_WORST = 10, MOST_SAMPLES = 200000 };

/* ---- keys ---- */

static const struct row_keys *keys_of(const struct comparison *comparison, const struct result_case *c,
                                      const char *suffix, struct arena *arena)
{
    struct row_keys *keys = arena_alloc(arena, sizeof(*keys));
    const char *id = plain_id(arena, c);
    const struct compare_case *change = comparison ? FIND_ROW(comparison->cases, comparison->case_count, id, id) : NULL;
    /* Words to filter by: the status, the flags, and the verdict of a comparison. */
    const char *words = *result_case_finding(c) ? result_case_finding(c) : case_status_names[c->status];
    for (const struct flag_words *flag = flag_words; flag->flag; flag++)
        if (c->flags & flag->flag && strcmp(words, flag->name) != 0)
            words = arena_printf(arena, "%s %s", words, flag->name);
    if (change)
        words = arena_printf(arena, "%s %s", words,
                             change->state == COMPARE_JUDGED ? shift_verdict_names[change->shift.verdict]
                                                             : compare_state_names[change->state]);
    *keys = (struct row_keys){.id = *suffix ? arena_printf(arena, "%s%s", id, suffix) : id,
                              .kernel = c->kernel,
                              .tags = c->tags,
                              .tag_count = c->tag_count,
                              .verdict = words};
    return keys;
}

/* ---- the first screen ---- */

struct counts {
    size_t ok, verified, findings, impossible, interference, shares;
    double middle_share; /* NaN: no case has a share */
    struct cell mark;
};

static bool has_share(const struct result_case *c)
{
    return is_mark(c) && c->fraction > 0 && !result_is_latency(c);
}

static struct counts count(const struct result *result, struct arena *arena)
{
    struct counts counts = {0};
    double *shares = arena_array(arena, result->case_count + 1, sizeof(*shares));
    FOR_EACH(const struct result_case, c, result->cases, result->case_count) {
        counts.ok += c->status == CASE_OK;
        counts.verified += c->verification.verdict == VERIFY_PASS;
        counts.findings += *result_case_finding(c) || c->status == CASE_ERROR;
        counts.impossible += (c->flags & FLAG_IMPOSSIBLE) != 0;
        counts.interference += (c->flags & (FLAG_INTERFERENCE | FLAG_THROTTLED)) != 0;
        if (has_share(c))
            shares[counts.shares++] = c->fraction;
    }
    counts.middle_share = median_of(shares, counts.shares);
    const bool interrupted = result->status && strcmp(result->status, "complete") != 0;
    counts.mark = counts.findings            ? cell_toned("findings", TONE_BAD)
                  : result->predicted        ? cell_toned(counts.ok ? "predicted" : "nothing predicted", TONE_DOUBT)
                  : *result->device.emulated ? cell_toned(counts.ok ? "emulated" : "nothing executed", TONE_DOUBT)
                  : counts.interference      ? cell_toned("interference", TONE_DOUBT)
                  : interrupted              ? cell_toned("interrupted", TONE_DOUBT)
                  : counts.ok                ? cell_toned("no findings", TONE_GOOD)
                                             : cell_toned("nothing measured", TONE_DOUBT);
    return counts;
}

static struct cell counted(size_t value, enum tone some)
{
    struct cell cell = cell_quantity((double)value, UNIT_COUNT);
    cell.tone = value ? some : TONE_PLAIN;
    return cell;
}

/* Problems, the most important numbers, and doubts. */
static void add_first(struct document *document, const struct result *result, const struct counts *counts,
                      const struct comparison *comparison, const char *suffix)
{
    result_findings(document, result, suffix);
    struct table *tiles = table_record(document->arena);
    if (comparison) {
        table_member(tiles, NULL, "slower", counted(comparison->verdicts[SHIFT_SLOWER], TONE_BAD));
        table_member(tiles, NULL, "faster", counted(comparison->verdicts[SHIFT_FASTER], TONE_GOOD));
        table_member(
            tiles, NULL, "cannot be told",
            counted(comparison->verdicts[SHIFT_INCONCLUSIVE] + comparison->verdicts[SHIFT_SUSPECT], TONE_DOUBT));
    }
    table_member(tiles, NULL, arena_printf(document->arena, "cases %s", result_kind(result)),
                 cell_text(arena_printf(document->arena, "%zu of %zu", counts->ok, result->case_count)));
    if (!result->predicted)
        table_member(tiles, NULL, "verified", cell_quantity((double)counts->verified, UNIT_COUNT));
    table_member(tiles, NULL, "findings", counted(counts->findings, TONE_BAD));
    table_member(tiles, NULL, "median % of roof", cell_quantity(counts->middle_share, UNIT_PERCENT));
    if (!result->predicted)
        table_member(tiles, NULL, "with interference", counted(counts->interference, TONE_DOUBT));
    table_member(tiles, NULL, "impossible", counted(counts->impossible, TONE_BAD));
    document_add(document, (struct section){.show = SHOW_HTML, .table = tiles, .tiles = true});
    if (result->status && !strcmp(result->status, "interrupted"))
        document_text(document, SHOW_HTML, TONE_DOUBT, "Interrupted: this is a partial result.");
    const char *disturbed = disturbed_words(result, document->arena);
    if (*disturbed)
        document_text(document, SHOW_HTML, TONE_DOUBT, "%s.", disturbed);
    for (size_t k = 0; k < result->warning_count; k++)
        document_text(document, SHOW_HTML, TONE_DOUBT, "%s", result->warnings[k]);
}

static const char *about(const struct result *result, struct arena *arena)
{
    const char *commit = result->commit && *result->commit ? arena_printf(arena, ", commit %.12s", result->commit) : "";
    const char *when = result->started_at && *result->started_at ? arena_printf(arena, "%s, ", result->started_at) : "";
    return arena_printf(arena, "%s%u trial%s, seed %llu%s", when, result_trials(result), text_s(result_trials(result)),
                        (unsigned long long)result->seed, commit);
}

/* ---- cases worth a look ---- */

static int by_share(const void *a, const void *b)
{
    const struct result_case *p = *(const struct result_case *const *)a, *q = *(const struct result_case *const *)b;
    return ORDER(p->fraction, q->fraction) ?: strcmp(p->id, q->id);
}

static void add_worst(struct document *document, const struct comparison *comparison, const struct result *result,
                      const char *suffix)
{
    static const struct table_column columns[] = {{.title = "case"},
                                                  {.title = "time", .unit = UNIT_TIME},
                                                  {.title = "lower bound", .unit = UNIT_TIME},
                                                  {.title = "% of roof", .unit = UNIT_PERCENT, .flags = COLUMN_BAR},
                                                  {.title = "ceiling"}};
    struct arena *arena = document->arena;
    const struct result_case **order = arena_array(arena, result->case_count + 1, sizeof(*order));
    struct table *table = TABLE(arena, columns);
    size_t known = 0, launches = 0;
    for (size_t k = 0; k < result->case_count; k++) {
        if (has_share(&result->cases[k]) && !(result->cases[k].flags & FLAG_LAUNCH_BOUND))
            order[known++] = &result->cases[k];
        launches += has_share(&result->cases[k]) && result->cases[k].flags & FLAG_LAUNCH_BOUND;
    }
    if (!known && !launches)
        return;
    qsort(order, known, sizeof(*order), by_share);
    for (size_t k = 0; k < known && k < MOST_WORST; k++) {
        const struct result_case *c = order[k];
        table_add(table, (struct cell[]){cell_text(case_name(c)), cell_number(result_case_time(c)),
                                         cell_positive(c->lower_bound.time_ns), cell_positive(c->fraction),
                                         cell_known(c->lower_bound.ceiling_name)})
            ->keys = keys_of(comparison, c, suffix, arena);
    }
    document_add(
        document,
        (struct section){.show = SHOW_HTML,
                         .key = arena_printf(arena, "worst%s", suffix),
                         .title = "Furthest from the ceiling",
                         .table = table->row_count ? table : NULL,
                         .text = launches ? arena_printf(arena, "Without %zu case%s that mostly wait for a launch%s.",
                                                         launches, text_s(launches),
                                                         table->row_count ? "" : "; no other has a ceiling")
                                          : NULL,
                         .tone = TONE_DIM});
}

/* ---- all of a result ---- */

static void add_pictures(struct document *document, const struct result *result, const char *suffix)
{
    picture_roofline(document, result, suffix);
    picture_kernels(document, result, suffix);
    picture_heat_maps(document, result, suffix);
    picture_curves(document, result, suffix);
    picture_others(document, result, suffix);
}

static void add_result(struct document *document, const struct comparison *comparison, const struct result *result,
                       const char *suffix)
{
    struct arena *arena = document->arena;
    const size_t first = document->count;
    const struct {
        const char *name, *value;
    } facts[] = {{"Device", result->device.name},   {"Architecture", result->device.arch},
                 {"Driver", result->device.driver}, {"Kernels compiled by", result->compiler},
                 {"Processor", result->cpu_name},   {"System", result->os},
                 {"Started", result->started_at},   {"Ended", result->finished_at},
                 {"Commit", result->commit},        {"Run", result->run_id},
                 {"rooftile", result->tool_version}};
    const struct table *figures = figures_table(result, arena);
    struct table *cases = table_new(arena, figures->columns, figures->column_count), *known = table_record(arena);
    add_worst(document, comparison, result, suffix);
    add_pictures(document, result, suffix);
    result_figures(document, result, suffix);
    if (result->machine.level_count) {
        document_add(document, (struct section){.key = arena_printf(arena, "ceilings%s", suffix),
                                                .title = "Ceilings",
                                                .text = result->machine.measured
                                                            ? "Measured on this device; vendor peaks stand beside them."
                                                            : "From data sheets: nothing of this device was measured.",
                                                .tone = TONE_DIM});
        machine_tables(document, &result->machine);
    }
    for (size_t k = 0; k < result->case_count; k++) {
        const struct table_row *from = table_at(figures, k);
        struct table_row *row = table_add(cases, from->cells);
        row->note = from->note;
        row->instead = from->instead;
        row->keys = keys_of(comparison, &result->cases[k], suffix, arena);
    }
    cases->named = true;
    document_table(document, arena_printf(arena, "cases%s", suffix), "All cases", cases);
    for (size_t k = 0; k < COUNT_OF(facts); k++)
        if (facts[k].value && *facts[k].value)
            table_member(known, NULL, facts[k].name, cell_text(facts[k].value));
    document_table(document, arena_printf(arena, "environment%s", suffix), "Environment", known);
    for (size_t k = first; k < document->count; k++)
        document->sections[k].show = SHOW_HTML;
}

/* ---- several devices ---- */

/* Time and share of the ceiling on each device, for the cases of the first device. */
static const struct table *side_by_side(const struct report_page *page, struct arena *arena)
{
    struct table_column *columns = arena_array(arena, 2 * page->count + 1, sizeof(*columns));
    struct cell *cells = arena_array(arena, 2 * page->count + 1, sizeof(*cells));
    columns[0] = (struct table_column){.title = "case"};
    for (size_t r = 0; r < page->count; r++) {
        columns[2 * r + 1] =
            (struct table_column){.title = device_title(page->results[r]->device.name, arena), .unit = UNIT_TIME};
        columns[2 * r + 2] = (struct table_column){.title = "% of roof", .unit = UNIT_PERCENT, .flags = COLUMN_BAR};
    }
    struct table *table = table_new(arena, columns, 2 * page->count + 1);
    FOR_EACH(const struct result_case, c, page->results[0]->cases, page->results[0]->case_count) {
        cells[0] = cell_text(case_name(c));
        for (size_t r = 0; r < page->count; r++) {
            const struct result *result = page->results[r];
            const struct result_case *other = r ? FIND_ROW(result->cases, result->case_count, id, c->id) : c;
            const bool known = other && other->status == CASE_OK && result_case_timed(other);
            cells[2 * r + 1] = cell_number(known ? result_case_time(other) : NAN);
            cells[2 * r + 2] = cell_positive(known ? other->fraction : NAN);
        }
        table_add(table, cells);
    }
    return table;
}

/* ---- the page ---- */

static const char *data_of(const struct report_page *page, struct arena *arena)
{
    SCOPED(text_release) struct text json = {0};
    text_add(&json, "{\"results\":[");
    for (size_t r = 0; r < page->count; r++) {
        struct result copy = *page->results[r];
        struct result_case *cases = arena_copy(arena, copy.cases, (copy.case_count + 1) * sizeof(*cases));
        size_t samples = 0;
        for (size_t k = 0; k < copy.case_count; k++)
            samples += cases[k].sample_count;
        for (size_t k = 0; k < copy.case_count && samples > MOST_SAMPLES; k++) /* the result file still has them */
            cases[k].samples_ns = NULL;
        copy.cases = cases;
        text_add(&json, r ? "," : "");
        result_document(&json, &copy);
    }
    text_add(&json, "]");
    if (page->comparison) {
        text_add(&json, ",\"comparison\":");
        report_comparison(&json, "json", page->comparison, &(struct report_options){0});
    }
    text_add(&json, "}\n");
    SCOPED(text_release) struct text rounded = {0};
    text_add_rounded(&rounded, json.data);
    return text_take(&rounded, arena);
}

static void page_document(struct document *document, const struct report_page *page)
{
    struct arena *arena = document->arena;
    const size_t last = page->count - 1;
    const struct result *newest = page->results[last];
    struct counts *counts = arena_array(arena, page->count, sizeof(*counts));
    const bool several = page->count > 1 && !page->comparison;
    document->title = several && !page->names ? arena_printf(arena, "%zu devices", page->count)
                                              : device_title(newest->device.name, arena);
    for (size_t r = 0; r < page->count; r++)
        counts[r] = count(page->results[r], arena);
    document->mark = page->comparison ? comparison_mark(page->comparison) : counts[last].mark;
    for (size_t r = 0; several && r < page->count; r++) /* the mark of the worst result */
        if (counts[r].mark.tone == TONE_BAD || document->mark.tone == TONE_GOOD)
            document->mark = counts[r].mark;
    document->data = data_of(page, arena);
    if (newest->predicted)
        document_text(document, SHOW_HTML, TONE_DOUBT,
                      "Predicted: nothing was executed, and no time here was measured.");
    else if (*newest->device.emulated)
        document_text(document, SHOW_HTML, TONE_DOUBT, "%s", result_kind_words(newest));
    if (!several) {
        document_text(document, SHOW_HTML, TONE_DIM, "%s", about(newest, arena));
        add_first(document, newest, &counts[last], page->comparison, "");
    }
    if (page->comparison) {
        comparison_sections(document, page->comparison);
        picture_changes(document, page->comparison);
    }
    if (several && !page->names)
        picture_machines(document, page->results, page->count, side_by_side(page, arena));
    for (size_t r = several ? 0 : last; r < page->count; r++) {
        const struct result *result = page->results[r];
        const char *suffix = several ? arena_printf(arena, "-%zu", r + 1) : "";
        if (several) {
            document_add(document, (struct section){.show = SHOW_HTML,
                                                    .key = arena_printf(arena, "device%s", suffix),
                                                    .title = page->names ? page->names[r]
                                                                         : device_title(result->device.name, arena),
                                                    .mark = counts[r].mark,
                                                    .text = about(result, arena),
                                                    .tone = TONE_DIM});
            add_first(document, result, &counts[r], NULL, suffix);
        }
        const size_t first = document->count;
        add_result(document, page->comparison, result, suffix);
        for (size_t k = first; k < document->count && several; k++) {
            struct section *section = &document->sections[k];
            section->level = 1;
            section->folded = section->table && section->title && !section->chart && section->table->named;
        }
    }
}

void report_page(struct text *out, const struct report_page *page, const struct report_options *options)
{
    SCOPED(arena_release) struct arena arena = {0};
    struct document document = {.arena = &arena};
    page_document(&document, page);
    render_html(out, &document, options);
}

void report_html(struct text *out, const struct result *result)
{
    report_page(out, &(struct report_page){.results = &result, .count = 1}, &(struct report_options){0});
}

/* ---- one picture ---- */

enum status report_picture(struct text *out, const struct result *result, const char *name, struct err *err)
{
    SCOPED(arena_release) struct arena arena = {0};
    SCOPED(text_release) struct text names = {0};
    struct document document = {.arena = &arena};
    const struct chart *found = NULL;
    add_pictures(&document, result, "");
    for (size_t k = 0; k < document.count; k++) {
        const struct chart *chart = document.sections[k].chart;
        if (!chart)
            continue;
        text_addf(&names, "%s%s", names.length ? ", " : "", chart->name);
        found = !strcmp(chart->name, name) ? chart : found;
    }
    text_add(out, found ? "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" : "");
    if (found)
        chart_svg(out, found, NULL, true);
    else
        err_set(err, ERR_USAGE, "this result has no picture '%s'; it has: %s", name,
                names.length ? names.data : "none at all");
    return found ? STATUS_OK : ERR_USAGE;
}

void report_svg(struct text *out, const struct result *result)
{
    struct err none = {0};
    report_picture(out, result, "roofline", &none);
}
