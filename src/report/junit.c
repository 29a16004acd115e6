/* SPDX-License-Identifier: MIT
 *
 * JUnit XML in the subset that both Apache Ant's schema and Jenkins' xUnit schema allow: their element order, only
 * attributes that both have, at most one of skipped, error and failure in a test case, and a timestamp without a time
 * zone.
 */

#include "report_internal.h"

enum junit_outcome { JUNIT_PASSED, JUNIT_FAILURE, JUNIT_ERROR, JUNIT_SKIPPED };

struct junit_case {
    const char *name, *class_name; /* follows "rooftile." */
    double time_s;                 /* duration of the test, not the measured time */
    enum junit_outcome outcome;
    const char *type, *message, *body; /* unused for a test that passed */
};

struct junit_suite {
    const char *name;               /* "rooftile gate" */
    const char *timestamp;          /* RFC 3339; NULL or not a time: 1970 */
    const char *host;               /* NULL or "": localhost */
    const struct table *properties; /* a record; empty ones are skipped */
    struct junit_case *cases;
    size_t count;
    const char *output; /* NULL: none */
};

/* ---- the writer ---- */

static void add_case(struct text *out, const struct junit_case *c)
{
    static const char *const elements[] = {
        [JUNIT_FAILURE] = "failure", [JUNIT_ERROR] = "error", [JUNIT_SKIPPED] = "skipped"};
    SCOPED(arena_release) struct arena arena = {0};
    text_add(out, "    <testcase");
    html_attribute(out, "name", c->name);
    html_attribute(out, "classname", arena_printf(&arena, "rooftile.%s", c->class_name));
    text_addf(out, " time=\"%.6f\"%s", isfinite(c->time_s) && c->time_s > 0 ? c->time_s : 0.0,
              c->outcome ? ">\n" : "/>\n");
    if (!c->outcome)
        return;
    text_addf(out, "      <%s", elements[c->outcome]);
    html_attribute(out, "message", c->message);
    html_attribute(out, "type", c->type);
    text_add(out, ">");
    text_add_xml(out, c->body);
    text_addf(out, "</%s>\n", elements[c->outcome]);
    text_add(out, "    </testcase>\n");
}

static void write_suite(struct text *out, const struct junit_suite *suite)
{
    SCOPED(arena_release) struct arena arena = {0};
    size_t of_outcome[JUNIT_SKIPPED + 1] = {0};
    double time_s = 0;
    for (size_t k = 0; k < suite->count; k++) {
        of_outcome[suite->cases[k].outcome]++;
        time_s += isfinite(suite->cases[k].time_s) ? suite->cases[k].time_s : 0;
    }
    const bool timed = suite->timestamp && strspn(suite->timestamp, "0123456789-T:") >= 19;
    text_add(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite");
    html_attribute(out, "name", suite->name);
    text_addf(out, " package=\"rooftile\" id=\"0\" timestamp=\"%.19s\"",
              timed ? suite->timestamp : "1970-01-01T00:00:00");
    html_attribute(out, "hostname", suite->host && *suite->host ? suite->host : "localhost");
    text_addf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\" time=\"%.3f\">\n", suite->count,
              of_outcome[JUNIT_FAILURE], of_outcome[JUNIT_ERROR], of_outcome[JUNIT_SKIPPED], time_s);
    text_add(out, "    <properties>\n");
    for (size_t k = 0; k < suite->properties->column_count; k++) {
        const struct cell *cell = &table_at(suite->properties, 0)->cells[k];
        const char *value = cell_words(cell, NULL, &arena);
        if (!*value || cell->kind == CELL_UNKNOWN)
            continue;
        text_add(out, "      <property");
        html_attribute(out, "name", suite->properties->columns[k].key);
        html_attribute(out, "value", value);
        text_add(out, "/>\n");
    }
    text_add(out, "    </properties>\n");
    for (size_t k = 0; k < suite->count; k++)
        add_case(out, &suite->cases[k]);
    text_add(out, "    <system-out>");
    for (const char *p = suite->output ? suite->output : ""; *p; p += strcspn(p, "\n"), p += *p == '\n') {
        text_add_xml(out, arena_strndup(&arena, p, strcspn(p, "\n")));
        text_add(out, "\n");
    }
    text_add(out, "</system-out>\n    <system-err></system-err>\n  </testsuite>\n</testsuites>\n");
}

/* ---- a document: rows of its tables are tests ---- */

/* "base 1.00 us, new 1.05 us, change +5.0 %, verdict SLOWER" */
static const char *row_words(const struct table *table, size_t row, struct arena *arena)
{
    const char *line = "";
    for (size_t k = 0; k < table->column_count; k++) {
        const struct table_column *column = &table->columns[k];
        const char *words = cell_words(&table_at(table, row)->cells[k], column, arena);
        if (column->title && *words)
            line = arena_printf(arena, "%s%s%s%s%s", line, *line ? ", " : "", column->title, *column->title ? " " : "",
                                words);
    }
    return line;
}

/* Returns the cell of the column with this flag; NULL if no column has it. */
static const struct cell *flagged(const struct table *table, size_t row, unsigned flag)
{
    for (size_t k = 0; k < table->column_count; k++)
        if (table->columns[k].flags & flag)
            return &table_at(table, row)->cells[k];
    return NULL;
}

void render_junit(struct text *out, const struct document *document, UNUSED const struct report_options *options)
{
    SCOPED(arena_release) struct arena arena = {0};
    struct junit_suite suite = {.name = arena_printf(&arena, "rooftile %s", document->name),
                                .timestamp = document->date,
                                .properties = table_record(&arena)};
    FOR_EACH(const struct section, section, document->sections, document->count) {
        const struct table *table = !section->show || section->show & SHOW_TESTS ? section->table : NULL;
        if (table && table->record && section->show == SHOW_TESTS)
            suite.properties = table;
        for (size_t row = 0; table && !table->record && row < table->row_count; row++) {
            const struct cell *name = flagged(table, row, COLUMN_TEST), *verdict = flagged(table, row, COLUMN_VERDICT);
            if (name && verdict)
                ARENA_PUSH(&arena, suite.cases, suite.count,
                           (struct junit_case){.name = name->text,
                                               .class_name = document->name,
                                               .outcome = verdict->tone == TONE_BAD   ? JUNIT_FAILURE
                                                          : verdict->tone == TONE_DIM ? JUNIT_SKIPPED
                                                                                      : JUNIT_PASSED,
                                               .type = text_lower(text_or_empty(verdict->text), &arena),
                                               .message = row_words(table, row, &arena)});
        }
    }
    write_suite(out, &suite);
}

/* ---- a result: a case is a test, a finding is a failure ---- */

static struct table *properties_of(const struct result *result, struct arena *arena)
{
    const struct {
        const char *name, *value;
    } facts[] = {{"kind", result_kind_words(result)}, {"device", result->device.name},   {"arch", result->device.arch},
                 {"driver", result->device.driver},   {"commit", result->commit},        {"run_id", result->run_id},
                 {"status", result->status},          {"rooftile", result->tool_version}};
    struct table *properties = table_record(arena);
    for (size_t k = 0; k < COUNT_OF(facts); k++)
        table_member(properties, facts[k].name, NULL, cell_text(facts[k].value));
    FOR_EACH(const struct result_kpi, kpi, result->kpis, result->kpi_count)
        table_member(properties, arena_printf(arena, "kpi %s", kpi->name), NULL,
                     cell_text(isfinite(kpi->value) ? arena_printf(arena, "%.6g %s", kpi->value, kpi->unit)
                                                    : arena_printf(arena, "none: %s", kpi->reason)));
    return properties;
}

void report_junit(struct text *out, const struct result *result)
{
    SCOPED(arena_release) struct arena arena = {0};
    SCOPED(text_release)
    struct text times = {0}; /* test cases have no element for numbers, so the times go to the suite's output */
    struct junit_case *cases = arena_array(&arena, result->case_count + 1, sizeof(*cases));
    for (size_t k = 0; k < result->case_count; k++) {
        const struct result_case *c = &result->cases[k];
        const char *finding = result_case_finding(c);
        cases[k] = (struct junit_case){.name = plain_id(&arena, c),
                                       .class_name = c->kernel,
                                       .time_s = c->wall_ns / 1e9,
                                       .outcome = finding[0]                  ? JUNIT_FAILURE
                                                  : c->status == CASE_OK      ? JUNIT_PASSED
                                                  : c->status == CASE_SKIPPED ? JUNIT_SKIPPED
                                                                              : JUNIT_ERROR,
                                       .type = finding[0] ? finding : case_status_names[c->status],
                                       .message = c->reason,
                                       .body = arena_printf(&arena, "%s: %s", c->id, text_or_empty(c->reason))};
        if (result_case_timed(c))
            text_addf(&times, "%s  %s  %s  %s of ceiling\n", cases[k].name, time_words(c, &arena),
                      figure_words("rate", c, &arena), figure_words("% of roof", c, &arena));
    }
    write_suite(out, &(struct junit_suite){.name = "rooftile",
                                           .timestamp = result->started_at,
                                           .host = result->host_id_hash,
                                           .properties = properties_of(result, &arena),
                                           .cases = cases,
                                           .count = result->case_count,
                                           .output = times.data});
}
