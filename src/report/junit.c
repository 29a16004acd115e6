/* SPDX-License-Identifier: MIT
 *
 * JUnit XML, the part that Apache Ant's schema and Jenkins' xUnit schema both allow: their element order, no attribute
 * that one of them lacks, at most one of skipped, error and failure in a test case, and a timestamp without zone.
 */
#include <math.h>
#include <string.h>

#include "report_internal.h"

static void attribute(struct text *out, const char *name, const char *value)
{
    text_addf(out, " %s=\"", name);
    text_add_xml(out, value);
    text_add(out, "\"");
}

static void property(struct text *out, const char *name, const char *value)
{
    if (!value || !value[0])
        return;
    text_add(out, "      <property");
    attribute(out, "name", name);
    attribute(out, "value", value);
    text_add(out, "/>\n");
}

static void properties(struct text *out, const struct result *result)
{
    text_add(out, "    <properties>\n");
    property(out, "kind", result->predicted ? "PREDICTED: nothing was executed" : "measured");
    property(out, "device", result->device.name);
    property(out, "arch", result->device.arch);
    property(out, "driver", result->device.driver);
    property(out, "commit", result->commit);
    property(out, "run_id", result->run_id);
    property(out, "status", result->status);
    property(out, "rooftile", result->tool_version);
    for (size_t k = 0; k < result->kpi_count; k++) {
        const struct result_kpi *kpi = &result->kpis[k];
        struct text name = {0}, value = {0};
        text_addf(&name, "kpi %s", kpi->name);
        if (isfinite(kpi->value))
            text_addf(&value, "%.6g %s", kpi->value, kpi->unit);
        else
            text_addf(&value, "none: %s", kpi->reason);
        property(out, name.data, value.data);
        text_release(&name);
        text_release(&value);
    }
    text_add(out, "    </properties>\n");
}

static void outcome(struct text *out, const char *element, const char *type, const struct result_case *c)
{
    text_addf(out, "      <%s", element);
    if (type) {
        attribute(out, "message", c->reason);
        attribute(out, "type", type);
    }
    if (!type && !strcmp(element, "skipped")) { /* Ant's has no attributes */
        text_add(out, "/>\n");
        return;
    }
    text_add(out, ">");
    text_add_xml(out, c->id);
    text_add(out, "\n");
    text_add_xml(out, c->reason);
    text_addf(out, "</%s>\n", element);
}

static void test_case(struct text *out, const struct result_case *c, struct arena *arena)
{
    const char *finding = result_case_finding(c), *id = plain_id(arena, c);
    text_add(out, "    <testcase");
    attribute(out, "name", id);
    text_add(out, " classname=\"rooftile.");
    text_add_xml(out, c->kernel);
    /* The time that the case took, as test reports mean it; the kernel's own time is in the output below. */
    text_addf(out, "\" time=\"%.6f\"", isfinite(c->wall_ns) && c->wall_ns > 0 ? c->wall_ns / 1e9 : 0.0);
    if (!finding[0] && c->status == CASE_OK) {
        text_add(out, "/>\n");
        return;
    }
    text_add(out, ">\n");
    if (finding[0])
        outcome(out, "failure", finding, c);
    else
        outcome(out, c->status == CASE_SKIPPED ? "skipped" : "error",
                c->status == CASE_SKIPPED ? NULL : case_status_name(c->status), c);
    text_add(out, "    </testcase>\n");
}

/* What the times were: tests have no place for numbers, so they stand in the suite's output. */
static void system_out(struct text *out, const struct result *result, struct arena *arena)
{
    text_add(out, "    <system-out>");
    for (size_t k = 0; k < result->case_count; k++) {
        const struct result_case *c = &result->cases[k];
        char time[FIGURE_TEXT], rate[FIGURE_TEXT], fraction[FIGURE_TEXT];
        if (!c->sample_count)
            continue;
        text_add_xml(out, plain_id(arena, c));
        text_addf(out, "  %s  %s  %s of roof\n", figure_time(time, c), figure_rate(rate, c),
                  figure_fraction(fraction, c));
    }
    text_add(out, "</system-out>\n    <system-err></system-err>\n");
}

enum status report_junit(struct text *out, const struct result *result, const struct report_options *options,
                         struct err *err)
{
    struct arena arena = {0};
    size_t failures = 0, errors = 0, skipped = 0;
    double wall_ns = 0;
    (void)options;
    (void)err;
    for (size_t k = 0; k < result->case_count; k++) {
        const struct result_case *c = &result->cases[k];
        const bool failed = result_case_finding(c)[0];
        failures += failed;
        errors += !failed && c->status == CASE_ERROR;
        skipped += !failed && c->status == CASE_SKIPPED;
        wall_ns += isfinite(c->wall_ns) ? c->wall_ns : 0;
    }
    const char *start = result->started_at && strspn(result->started_at, "0123456789-T:") >= 19
                            ? result->started_at
                            : "1970-01-01T00:00:00Z";
    text_add(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"rooftile\" "
                  "package=\"rooftile\" id=\"0\"");
    text_addf(out, " timestamp=\"%.19s\" hostname=\"", start);
    text_add_xml(out, result->host_id_hash && result->host_id_hash[0] ? result->host_id_hash : "localhost");
    text_addf(out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\" time=\"%.3f\">\n",
              result->case_count, failures, errors, skipped, wall_ns / 1e9);
    properties(out, result);
    for (size_t k = 0; k < result->case_count; k++)
        test_case(out, &result->cases[k], &arena);
    system_out(out, result, &arena);
    text_add(out, "  </testsuite>\n</testsuites>\n");
    arena_release(&arena);
    return STATUS_OK;
}
