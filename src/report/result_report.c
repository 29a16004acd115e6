/* SPDX-License-Identifier: MIT
 *
 * A result as a document: for a terminal its cases, key figures and roofline; for a page failures first and the cases
 * last.
 */

#include "report_internal.h"
#include "rooftile/forecast.h"
#include "rooftile/targets.h"

enum { MOST_FINDINGS = 50 };

void result_findings(struct document *document, const struct result *result, const char *suffix)
{
    static const struct table_column columns[] = {
        {.title = "case"}, {.title = "finding"}, {.title = "why", .flags = COLUMN_PROSE}};
    struct table *table = TABLE(document->arena, columns);
    FOR_EACH(const struct result_case, c, result->cases, result->case_count) {
        const char *finding = result_case_finding(c), *reason = c->reason ? c->reason : "";
        if (!finding[0] && c->status != CASE_ERROR)
            continue;
        struct row_keys *keys = arena_alloc(document->arena, sizeof(*keys));
        *keys = (struct row_keys){.id = arena_printf(document->arena, "%s%s", plain_id(document->arena, c), suffix),
                                  .kernel = c->kernel};
        table_add(table, (struct cell[]){cell_text(case_name(c)), cell_text(finding[0] ? finding : "error"),
                                         cell_text(arena_printf(document->arena, "%.300s%s", reason,
                                                                strlen(reason) > 300 ? "..." : ""))})
            ->keys = keys;
    }
    for (size_t k = 0; k < result->derived_count; k++)
        if (result_derived_is_finding(&result->derived[k]))
            table_add(table, (struct cell[]){cell_text(result->derived[k].name), cell_text(result->derived[k].method),
                                             cell_text(result->derived[k].finding)});
    table->most_rows = MOST_FINDINGS;
    table->rest = "they are in the result file";
    document_table(document, NULL, NULL, table)->show = SHOW_PAGE;
}

/* ---- key figures ---- */

/* `unknown`: only those without a value, with the reason. */
static void add_kpis(struct document *document, const struct result *result, bool unknown)
{
    static const struct table_column columns[] = {
        {.title = "key figure"}, {.title = "value", .unit = UNIT_NUMBER}, {.title = "", .flags = COLUMN_PROSE}};
    struct table *table = TABLE(document->arena, columns);
    FOR_EACH(const struct result_kpi, kpi, result->kpis, result->kpi_count) {
        const bool single = !strcmp(kpi->method, "value") || kpi->case_count == 1;
        if (unknown && isfinite(kpi->value))
            continue;
        struct table_row *row = table_add(
            table, (struct cell[]){cell_text(kpi->name), cell_quantity(kpi->value, kpi_shown_unit(kpi->of, kpi->unit)),
                                   cell_text(single ? ""
                                                    : arena_printf(document->arena, "%s of %u cases", kpi->method,
                                                                   kpi->case_count))});
        if (!isfinite(kpi->value))
            row->instead = cell_text(arena_printf(document->arena, "none: %s", kpi->reason));
    }
    document_table(document, NULL, NULL, table);
}

void result_figures(struct document *document, const struct result *result, const char *suffix)
{
    const size_t first = document->count;
    document_add(document, (struct section){.show = SHOW_HTML,
                                            .key = arena_printf(document->arena, "figures%s", suffix),
                                            .title = "Key figures"});
    traced_section(document, result);
    add_kpis(document, result, true);
    derived_sections(document, result);
    sweep_answers(document, result);
    bool some = false;
    for (size_t k = first + 1; k < document->count; k++) {
        document->sections[k].level = document->sections[k].title ? 1 : 0;
        some |= section_shown(&document->sections[k], SHOW_HTML);
    }
    if (!some)
        document->count = first;
}

/* ---- below the table ---- */

const char *disturbed_words(const struct result *result, struct arena *arena)
{
    const size_t all = COUNT_WHERE(c, result->cases, result->case_count, result_case_timed(c));
    const size_t count = COUNT_WHERE(c, result->cases, result->case_count, c->flags & FLAG_INTERFERENCE);
    return arena_printf(arena, "%zu of %zu cases %s disturbed by a neighbour, or the clock moved: do not compare %s",
                        count, all, count == 1 ? "was" : "were",
                        result_is_disturbed(result) ? "this run"
                        : count == 1                ? "it"
                                                    : "them");
}

/* Explains the flags, the cases that were not verified (the result file has each case's reason), and how many launches'
 * outputs were checked. */
static void add_doubts(struct document *document, const struct result *result)
{
    const struct result_case *unchecked = NULL;
    const struct verification *least = NULL; /* the one with the fewest launches: what holds for it holds for all */
    for (const struct flag_words *flag = flag_words; flag->flag; flag++) {
        const size_t count = COUNT_WHERE(c, result->cases, result->case_count, c->flags & flag->flag);
        if (count)
            document_text(document, SHOW_TEXT, TONE_PLAIN, "%s (%zu): %s", flag->name, count,
                          flag->flag == FLAG_INTERFERENCE ? disturbed_words(result, document->arena) : flag->meaning);
    }
    FOR_EACH(const struct result_case, c, result->cases, result->case_count) {
        const struct verification *v = &c->verification;
        unchecked = !unchecked && v->not_checked[0] ? c : unchecked;
        if (v->verdict != VERIFY_PASS || !(v->wrong_below > 0))
            continue;
        least = !least || v->launches < least->launches ? v : least;
    }
    if (unchecked)
        document_text(document, SHOW_TEXT, TONE_PLAIN, "verified in part (%zu): %s: %s",
                      COUNT_WHERE(c, result->cases, result->case_count, c->verification.not_checked[0]),
                      case_name(unchecked), unchecked->verification.not_checked);
    if (least)
        document_text(document, SHOW_TEXT, TONE_DIM,
                      "looked at: %u launches of each case; under %.2g %% of them are wrong (95 %% confidence)",
                      least->launches, least->wrong_below * 100);
}

/* Names the library that the cases of a kernel called, once per kernel. */
static void library_lines(struct document *document, const struct result *result)
{
    const struct result_case *last = NULL;
    FOR_EACH(const struct result_case, c, result->cases, result->case_count) {
        if (!c->library || !*c->library || (last && !strcmp(last->kernel, c->kernel)))
            continue;
        document_text(document, SHOW_TEXT | SHOW_HTML, TONE_DIM, "%s is %s", c->kernel, c->library);
        last = c;
    }
}

static struct document document_of(const struct result *result, const struct report_options *options,
                                   struct arena *arena)
{
    const struct table *cases = figures_table(result, arena);
    struct document document = {.arena = arena};
    struct text roofline = {0};
    result_verdict(&document, result);
    if (result->predicted || *result->device.emulated)
        document_text(&document, SHOW_TEXT, TONE_BOLD, "%s",
                      result->predicted ? "PREDICTED: the sim device executes nothing; no time here was measured"
                                        : result_kind_words(result));
    result_findings(&document, result, "");
    document_table(&document, NULL, NULL, cases)->show = SHOW_TEXT;
    traced_section(&document, result);
    add_kpis(&document, result, false);
    derived_sections(&document, result);
    prediction_line(&document, result);
    document_doubted(&document, &result->machine);
    add_doubts(&document, result);
    document_text(&document, SHOW_TEXT, TONE_PLAIN, "on %s, %u %s%s, wave %u; seed %llu",
                  device_title(result->device.name, arena), result->device.cus, target_unit_word(result->device.arch),
                  text_s(result->device.cus), result->device.wave, (unsigned long long)result->seed);
    library_lines(&document, result);
    struct table *all = arena_copy(arena, cases, sizeof(*cases));
    all->rest = "all are in the result file";
    document_folded(&document, SHOW_PAGE, NULL, "All cases", all);
    report_roofline_text(&roofline, result, options);
    document_verbatim(&document, SHOW_TEXT, NULL, text_take(&roofline, arena));
    sweep_answers(&document, result);
    return document;
}

/* ---- while the run goes on ---- */

void report_case_line(struct text *out, const struct result_case *c, size_t done, size_t total)
{
    SCOPED(arena_release) struct arena arena = {0};
    const char *rate = figure_words("rate", c, &arena), *fraction = figure_words("% of roof", c, &arena);
    const char *flags = figure_words("flags", c, &arena), *reason = text_or_empty(c->reason), *line = NULL;
    size_t two_lines = strcspn(reason, "\n"); /* compilers write more; the table has all of it */
    two_lines += reason[two_lines] ? 1 + strcspn(reason + two_lines + 1, "\n") : 0;
    if (c->status != CASE_OK)
        line = arena_printf(&arena, "%s: %.*s", case_status_names[c->status], (int)two_lines, reason);
    else
        line = arena_printf(
            &arena, "%s%s%s%s, %s%s%s", time_words(c, &arena), *rate && strcmp(rate, "-") ? ", " : "",
            strcmp(rate, "-") ? rate : "",
            strcmp(fraction, "-") ? arena_printf(&arena, ", %s of %s", fraction, c->lower_bound.ceiling_name) : "",
            c->timer == TIMED_SIM                    ? "predicted"
            : c->verification.verdict == VERIFY_PASS ? "verified"
                                                     : "not verified",
            *flags ? ", " : "", flags);
    text_addf(out, "[%zu/%zu] ", done, total);
    text_add_printable(out, arena_printf(&arena, "%s: %s", case_name(c), line));
    text_add(out, "\n");
}

/* ---- the formats ---- */

static void report_csv(struct text *out, const struct result *result)
{
    SCOPED(arena_release) struct arena arena = {0};
    render_csv(out, figures_table(result, &arena));
}

static struct table *event(const char *name, struct arena *arena)
{
    struct table *record = table_record(arena);
    table_member(record, "event", NULL, cell_text(name));
    return record;
}

/* Writes an event that holds one case or key figure, which is already JSON. */
static void add_event(struct text *out, const char *name, struct text *json)
{
    SCOPED(arena_release) struct arena arena = {0};
    struct table *record = event(name, &arena);
    table_member(record, name, NULL, cell_json(text_take(json, &arena)));
    render_json_line(out, record);
}

static void report_jsonl(struct text *out, const struct result *result)
{
    SCOPED(arena_release) struct arena arena = {0};
    struct text json = {0};
    struct table *start = event("start", &arena), *end = event("end", &arena);
    table_member(start, "predicted", NULL, cell_bool(result->predicted));
    table_member(start, "cases", NULL, cell_number((double)result->case_count));
    table_member(end, "status", NULL, cell_text(result->status ? result->status : "complete"));
    table_member(end, "cases", NULL, cell_number((double)result->case_count));
    render_json_line(out, start);
    for (size_t k = 0; k < result->case_count; k++) {
        result_case_json(&json, &result->cases[k]);
        add_event(out, "case", &json);
    }
    for (size_t k = 0; k < result->kpi_count; k++) {
        result_kpi_json(&json, &result->kpis[k]);
        add_event(out, "kpi", &json);
    }
    render_json_line(out, end);
}

/* clang-format off */
#define FORMATS(FORMAT)                                                                                                \
    FORMAT("table", "for people: one row per case, then the roofline", NULL)                                           \
    FORMAT("csv", "one row per case, base units, RFC 4180", report_csv)                                                \
    FORMAT("json", "the result itself, as --out writes it", result_document)                                           \
    FORMAT("jsonl", "one event per line; of a run as it happens", report_jsonl)                                        \
    FORMAT("html", "one self-contained page with pictures", report_html)                                               \
    FORMAT("svg", "its roofline as a picture, for papers and slides", report_svg)                                      \
    FORMAT("markdown", "a summary that fits a pull request's comment", NULL)                                           \
    FORMAT("junit", "a case is a test, a finding a failure", report_junit)                                             \
    FORMAT("openmetrics", "for Prometheus' textfile collector", report_openmetrics)                                    \
    FORMAT("nagios", "one line and the exit codes of a plugin", report_nagios)                                         \
    FORMAT("google-benchmark", "google/benchmark's JSON: a trial is a repetition", report_google_benchmark)            \
    FORMAT("bmf", "Bencher Metric Format", report_bmf)                                                                 \
    FORMAT("github-action-benchmark", "customSmallerIsBetter", report_gha_smaller)                                     \
    FORMAT("github-action-benchmark-bigger", "customBiggerIsBetter", report_gha_bigger)
/* clang-format on */
#define ROW(name, summary, write) {name, write},
#define NAME(name, summary, write) name,
#define HELP(name, summary, write) name " (" summary "), "

static const struct report_format report_formats[] = {FORMATS(ROW){NULL, NULL}};
const char *const report_format_names[] = {FORMATS(NAME) NULL};
const char report_format_help[] = "how to show it: " FORMATS(HELP) "default: table";

const struct report_format *report_format_find(const char *name)
{
    for (const struct report_format *format = report_formats; format->name; format++)
        if (!strcmp(format->name, name))
            return format;
    return NULL;
}

void report_write(struct text *out, const struct report_format *format, const struct result *result,
                  const struct report_options *options)
{
    SCOPED(arena_release) struct arena arena = {0};
    if (format->write) {
        format->write(out, result);
        return;
    }
    const struct document document = document_of(result, options, &arena);
    render_find(format->name)(out, &document, options);
}
