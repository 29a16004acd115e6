/* SPDX-License-Identifier: MIT
 *
 * Results as a page: the verdict, key figures and where time can be won first, then pictures, then every case. Two
 * results of one device are compared; with several devices each has its own pictures and tables, and one table has all
 * of them.
 */
#include <math.h>
#include <string.h>
#include <time.h>

#include "page_data.h"
#include "picture.h"
#include "report_internal.h"

enum { MOST_WORTH = 10, MOST_SAMPLES = 200000, FACTS_IN_LINE = 7 };

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

/* "28 November 2026, 09:20 UTC". */
static const char *date_words(const char *date, struct arena *arena)
{
    struct tm tm = {0};
    char words[64] = "";
    const char *seconds = strptime(date, "%Y-%m-%dT%H:%M:", &tm);
    if (!seconds || !strftime(words, sizeof(words), "%e %B %Y, %H:%M", &tm))
        return date;
    return arena_printf(arena, "%s%s", words + strspn(words, " "), text_ends(date, "Z") ? " UTC" : "");
}

/* What ran where, with which software, and when, as far as it is known: in a line or, with the rest, as a record. */
static const struct table *facts_of(const struct result *result, bool all, struct arena *arena)
{
    const struct device_info *device = &result->device;
    const struct {
        const char *name, *value;
    } facts[] = {
        {"Device", device_title(device->name, arena)},
        {"Architecture", device->arch},
        {"Driver", *device->driver ? arena_printf(arena, "driver %s", device->driver) : ""},
        {"Kernels compiled by", result->compiler},
        {"rooftile", result->tool_version ? arena_printf(arena, "rooftile %s", result->tool_version) : ""},
        {"Started", result->started_at ? date_words(result->started_at, arena) : ""},
        {"Commit", result->commit && *result->commit ? arena_printf(arena, "commit %.12s", result->commit) : ""},
        {"Processor", result->cpu_name},
        {"System", result->os},
        {"Ended", result->finished_at},
        {"Run", result->run_id},
        {"Seed", arena_printf(arena, "%llu", (unsigned long long)result->seed)},
    };
    struct table *known = table_record(arena);
    for (size_t k = 0; k < (all ? COUNT_OF(facts) : FACTS_IN_LINE); k++)
        if (facts[k].value && *facts[k].value)
            table_member(known, NULL, facts[k].name, cell_text(facts[k].value));
    return known;
}

static const char *about(const struct result *result, struct arena *arena)
{
    const struct table *facts = facts_of(result, false, arena);
    const char *line = "";
    for (size_t k = 0; k < facts->column_count; k++)
        line = arena_printf(arena, "%s%s%s", line, k ? " \u00b7 " : "", facts->rows[0].cells[k].text);
    return line;
}

/* Key figures, each with the share of the roof that the case it comes from reaches. */
static const struct table *figure_tiles(const struct result *result, struct arena *arena)
{
    struct table *tiles = table_record(arena);
    FOR_EACH(const struct result_kpi, kpi, result->kpis, result->kpi_count) {
        const struct result_case *of = NULL;
        FOR_EACH(const struct result_case, c, result->cases, result->case_count)
            of = !of && c->fraction > 0 && !result_is_latency(c) && kpi_is_of(kpi, c) ? c : of;
        const char *name = of ? arena_printf(arena, "%s, %s of %s", kpi->name, percent_words(of->fraction, arena),
                                             of->lower_bound.ceiling_name)
                           : strcmp(kpi->method, "value") != 0
                               ? arena_printf(arena, "%s, %s of %u cases", kpi->name, kpi->method, kpi->case_count)
                               : kpi->name;
        if (isfinite(kpi->value))
            table_member(tiles, NULL, name, cell_quantity(kpi->value, kpi_shown_unit(kpi->of, kpi->unit)));
    }
    return tiles;
}

static void add_first(struct document *document, const struct comparison *comparison, const struct result *result,
                      const char *suffix)
{
    const struct table *tiles =
        comparison ? comparison_tiles(comparison, document->arena) : figure_tiles(result, document->arena);
    result_findings(document, result, suffix);
    if (tiles->column_count)
        document_add(document, (struct section){.show = SHOW_HTML, .table = tiles, .tiles = true});
    for (size_t k = 0; k < result->warning_count; k++)
        document_text(document, SHOW_HTML, TONE_DOUBT, "%s", result->warnings[k]);
}

/* ---- where time can be won ---- */

/* What holds a case back, by its prediction and its code: "latency; 2 waves per SIMD (vgpr); spills 12 VGPRs". */
static const char *held_back(const struct result_case *c, struct arena *arena)
{
    const struct result_code *code = &c->code;
    const char *words = text_or_empty(c->prediction.limiter), *and = *words ? "; " : "";
    if (code->known && code->waves_per_simd > 0 && *text_or_empty(code->occupancy_limit) &&
        strcmp(code->occupancy_limit, "slots") != 0)
        words = arena_printf(arena, "%s%s%.3g waves per SIMD (%s)", words, and, code->waves_per_simd,
                             code->occupancy_limit);
    if (code->known && code->vgpr_spills)
        words = arena_printf(arena, "%s%sspills %u VGPRs", words, *words ? "; " : "", code->vgpr_spills);
    return words;
}

static void add_worth(struct document *document, const struct comparison *comparison, const struct result *result,
                      const char *suffix)
{
    static const struct table_column columns[] = {{.title = "case"},
                                                  {.title = "to win", .unit = UNIT_TIME},
                                                  {.title = "time", .unit = UNIT_TIME},
                                                  {.title = "% of roof", .unit = UNIT_PERCENT, .flags = COLUMN_BAR},
                                                  {.title = "roof"},
                                                  {.title = "held back by", .flags = COLUMN_PROSE}};
    struct arena *arena = document->arena;
    const struct result_case **order;
    const size_t count = worth_winning(&order, result, arena);
    struct table *table = TABLE(arena, columns);
    for (size_t k = 0; k < count && k < MOST_WORTH; k++) {
        const struct result_case *c = order[k];
        table_add(table, (struct cell[]){cell_text(case_name(c)), cell_number(time_to_win(c)),
                                         cell_number(result_case_time(c)), cell_positive(c->fraction),
                                         cell_known(c->lower_bound.ceiling_name), cell_text(held_back(c, arena))})
            ->keys = keys_of(comparison, c, suffix, arena);
    }
    if (count)
        document_add(document,
                     (struct section){.show = SHOW_HTML,
                                      .key = arena_printf(arena, "worth%s", suffix),
                                      .title = "Where time can be won",
                                      .text = "What each case would save at its roof, as often as it is "
                                              "weighted. Probes of the device, launches and fibers are left out.",
                                      .tone = TONE_DIM,
                                      .table = table});
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

/* What the flags in the table of all cases mean; each leads to the cases that have it. */
static const struct table *flags_table(const struct result *result, struct arena *arena)
{
    static const struct table_column columns[] = {{.title = "flag", .flags = COLUMN_LINK},
                                                  {.title = "cases", .unit = UNIT_COUNT},
                                                  {.title = "meaning", .flags = COLUMN_PROSE}};
    struct table *table = TABLE(arena, columns);
    for (const struct flag_words *flag = flag_words; flag->flag; flag++) {
        const size_t count = COUNT_WHERE(c, result->cases, result->case_count, c->flags & flag->flag);
        if (count)
            table_add(table, (struct cell[]){cell_text(flag->name), cell_number((double)count),
                                             cell_text(flag->flag == FLAG_INTERFERENCE ? disturbed_words(result, arena)
                                                                                       : flag->meaning)});
    }
    return table;
}

static const struct table *cases_table(const struct result *result, const struct comparison *comparison,
                                       const char *suffix, struct arena *arena)
{
    struct table *cases = figures_table(result, arena);
    for (size_t k = 0; k < result->case_count; k++) {
        cases->rows[k].keys = keys_of(comparison, &result->cases[k], suffix, arena);
        cases->rows[k].family = NULL; /* each case has its place */
    }
    cases->named = true;
    return cases;
}

static void add_result(struct document *document, const struct comparison *comparison, const struct result *result,
                       const char *suffix)
{
    struct arena *arena = document->arena;
    const size_t first = document->count;
    add_worth(document, comparison, result, suffix);
    add_pictures(document, result, suffix);
    result_figures(document, result, suffix);
    document_table(document, arena_printf(arena, "cases%s", suffix), "All cases",
                   cases_table(result, comparison, suffix, arena));
    document_table(document, NULL, NULL, flags_table(result, arena));
    if (result->machine.level_count) {
        document_add(document, (struct section){.key = arena_printf(arena, "ceilings%s", suffix),
                                                .title = "Ceilings",
                                                .folded = true,
                                                .text = result->machine.measured
                                                            ? "Measured on this device; vendor peaks stand beside them."
                                                            : "From data sheets: nothing of this device was measured.",
                                                .tone = TONE_DIM});
        machine_tables(document, &result->machine);
    }
    document_table(document, arena_printf(arena, "environment%s", suffix), "Environment", facts_of(result, true, arena))
        ->folded = true;
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

/* The part of one of several devices. */
static void add_part(struct document *document, const struct report_page *page, size_t index)
{
    struct arena *arena = document->arena;
    const struct result *result = page->results[index];
    const char *suffix = arena_printf(arena, "-%zu", index + 1);
    struct document own = {.arena = arena};
    result_verdict(&own, result);
    document_add(document,
                 (struct section){.show = SHOW_HTML,
                                  .key = arena_printf(arena, "device%s", suffix),
                                  .title = page->names ? page->names[index] : device_title(result->device.name, arena),
                                  .mark = own.mark,
                                  .text = arena_printf(arena, "%s\n%s\n%s", own.verdict, text_or_empty(own.action),
                                                       about(result, arena))});
    add_first(document, NULL, result, suffix);
    const size_t first = document->count;
    add_result(document, NULL, result, suffix);
    for (size_t k = first; k < document->count; k++) {
        struct section *section = &document->sections[k];
        section->level = 1;
        section->folded |= section->table && section->title && !section->chart && section->table->named;
    }
}

static void several_document(struct document *document, const struct report_page *page)
{
    for (size_t r = 0; r < page->count; r++) {
        const struct cell mark = result_mark(page->results[r]);
        if (!r || mark.tone == TONE_BAD || document->mark.tone == TONE_GOOD) /* the mark of the worst result */
            document->mark = mark;
    }
    if (!page->names) {
        document->title = arena_printf(document->arena, "%zu devices", page->count);
        picture_machines(document, page->results, page->count, side_by_side(page, document->arena));
    }
    document->verdict =
        arena_printf(document->arena, "%zu %s side by side", page->count, page->names ? "results" : "devices");
    for (size_t r = 0; r < page->count; r++)
        add_part(document, page, r);
}

static void page_document(struct document *document, const struct report_page *page)
{
    const struct result *newest = page->results[page->count - 1];
    document->data = data_of(page, document->arena);
    if (page->count > 1 && !page->comparison) {
        document->title = device_title(newest->device.name, document->arena);
        several_document(document, page);
        return;
    }
    result_verdict(document, newest);
    document_text(document, SHOW_HTML, TONE_DIM, "%s", about(newest, document->arena));
    if (page->comparison) {
        document->verdict = document->action = NULL;
        document->mark = comparison_mark(page->comparison);
    }
    add_first(document, page->comparison, newest, "");
    if (page->comparison)
        comparison_sections(document, page->comparison);
    add_result(document, page->comparison, newest, "");
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
