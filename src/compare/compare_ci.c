/* SPDX-License-Identifier: MIT
 *
 * The comparison for continuous integration: Markdown for a pull request's comment (GitHub takes 65,536 characters),
 * and JUnit XML (see report/junit.c for the part of it that we use).
 */
#include <math.h>
#include <string.h>

#include "compare_internal.h"
#include "rooftile/units.h"

enum { MOST_BYTES = 60000 };

/* ---- Markdown ---- */

static const char *heading(const struct comparison *c)
{
    static const char *const words[] = {
        [0] = "no regression", [1] = "regression", [2] = "nothing could be compared", [4] = "inconclusive"};
    return words[compare_exit_code(c, true)];
}

static const char *verdict_of(const struct compare_case *c)
{
    return c->state == COMPARE_JUDGED ? shift_verdict_name(c->shift.verdict) : compare_state_name(c->state);
}

static bool is_news(const struct compare_case *c)
{
    return c->state == COMPARE_JUDGED ? c->shift.verdict != SHIFT_SAME : c->state != COMPARE_SKIPPED;
}

static bool is_finding(const struct compare_case *c)
{
    return c->state == COMPARE_BROKEN || c->state == COMPARE_MISSING ||
           (c->state == COMPARE_JUDGED && c->shift.verdict == SHIFT_SLOWER);
}

static void markdown_row(struct text *out, const struct compare_case *c)
{
    char base[UNITS_TEXT] = "-", now[UNITS_TEXT] = "-";
    const bool judged = c->state == COMPARE_JUDGED;
    if (judged || (c->base && result_case_counts(c->base)))
        units_time(base, judged ? c->shift.base_ns : c->base->stats.median);
    if (judged || (c->now && result_case_counts(c->now)))
        units_time(now, judged ? c->shift.new_ns : c->now->stats.median);
    text_add(out, "| ");
    text_add_markdown(out, c->label);
    text_addf(out, " | %s | %s | ", base, now);
    if (judged)
        text_addf(out, "%+.1f %% (%+.1f .. %+.1f)", (c->shift.ratio - 1) * 100, (c->shift.ratio_ci[0] - 1) * 100,
                  (c->shift.ratio_ci[1] - 1) * 100);
    text_addf(out, " | %s%s%s | ", is_finding(c) ? "**" : "", verdict_of(c), is_finding(c) ? "**" : "");
    text_add_markdown(out, judged && !c->reason[0] ? compare_cause_name(c->cause) : c->reason);
    text_add(out, " |\n");
}

static void markdown_rows(struct text *out, const struct comparison *comparison, size_t start, bool findings)
{
    size_t shown = 0, wanted = 0;
    for (size_t k = 0; k < comparison->case_count; k++) {
        const struct compare_case *c = &comparison->cases[k];
        if (!is_news(c) || is_finding(c) != findings)
            continue;
        wanted++;
        if (out->length - start > MOST_BYTES)
            continue;
        if (!shown++)
            text_add(out, "| case | base | new | change | verdict | why |\n|---|---:|---:|---:|---|---|\n");
        markdown_row(out, c);
    }
    if (wanted > shown)
        text_addf(out, "\n%zu more are in the JSON.\n", wanted - shown);
    if (wanted)
        text_add(out, "\n");
}

static const char *kpi_word(const struct compare_kpi *kpi)
{
    const enum shift_verdict verdict = kpi->shift.verdict;
    return verdict == SHIFT_SLOWER ? "**worse**" : verdict == SHIFT_FASTER ? "better" : shift_verdict_name(verdict);
}

static const char *number_or_none(struct arena *arena, double value)
{
    return isfinite(value) ? arena_printf(arena, "%.4g", value) : "none";
}

static void markdown_kpis(struct text *out, const struct comparison *comparison)
{
    struct arena arena = {0};
    if (comparison->kpi_count)
        text_add(out, "| key figure | base | new | unit | verdict |\n|---|---:|---:|---|---|\n");
    for (size_t k = 0; k < comparison->kpi_count; k++) {
        const struct compare_kpi *kpi = &comparison->kpis[k];
        text_add(out, "| ");
        text_add_markdown(out, kpi->name);
        text_addf(out, " | %s | %s | ", number_or_none(&arena, kpi->base), number_or_none(&arena, kpi->now));
        text_add_markdown(out, kpi->unit);
        text_add(out, " | ");
        if (kpi->judged)
            text_addf(out, "%s %+.1f %%", kpi_word(kpi), (kpi->now / kpi->base - 1) * 100);
        else
            text_add_markdown(out, arena_printf(&arena, "%s%s", kpi->lost ? "lost: " : "", kpi->reason));
        text_add(out, " |\n");
    }
    if (comparison->kpi_count)
        text_add(out, "\n");
    arena_release(&arena);
}

static void markdown_class(struct text *out, const struct compare_class *class)
{
    text_addf(out, "Suite-wide shift%s: the %zu ", compare_class_is_slower(class) ? " (**slower**)" : "",
              class->group.cases);
    text_add_markdown(out, class->name);
    text_addf(out, " cases moved together by %+.1f %%.\n\n", (exp(class->group.common) - 1) * 100);
}

/* What to do about doubts, which a reader of a comment cannot look up. */
static void markdown_advice(struct text *out, const struct comparison *comparison)
{
    struct arena arena = {0};
    const char *advice[COMPARE_ADVICE + 1];
    compare_advice(advice, comparison, &arena);
    for (size_t k = 0; advice[k] && compare_exit_code(comparison, true); k++) {
        text_add(out, "- ");
        text_add_markdown(out, advice[k]);
        text_add(out, advice[k + 1] ? "\n" : "\n\n");
    }
    arena_release(&arena);
}

void compare_markdown(struct text *out, const struct comparison *comparison, bool color, unsigned columns)
{
    const size_t start = out->length;
    (void)color;
    (void)columns;
    text_addf(out, "### rooftile: %s on ", heading(comparison));
    text_add_markdown(out, comparison->now->device.name);
    if (comparison->base->predicted)
        text_add(out, " (PREDICTED: nothing was executed)");
    text_addf(
        out,
        "\n\n**%zu slower**, %zu broken, %zu missing, %zu faster, %zu same, %zu inconclusive, %zu suspect, %zu not "
        "compared, %zu still broken, %zu new of %zu cases\n\n",
        comparison->slower, comparison->broken, comparison->missing, comparison->faster, comparison->same,
        comparison->inconclusive, comparison->suspect, comparison->refused, comparison->still_broken, comparison->added,
        comparison->case_count);
    markdown_rows(out, comparison, start, true);
    for (size_t k = 0; k < comparison->class_count; k++)
        if (comparison->classes[k].group.shifted)
            markdown_class(out, &comparison->classes[k]);
    markdown_kpis(out, comparison);
    markdown_advice(out, comparison);
    text_add(out, "<details><summary>What else moved, or could not be told</summary>\n\n");
    markdown_rows(out, comparison, start, false);
    for (size_t k = 0; k < comparison->difference_count && out->length - start < MOST_BYTES; k++) {
        text_add(out, "- ");
        text_add_markdown(out, comparison->differences[k].what);
        text_add(out, ": ");
        text_add_markdown(out, comparison->differences[k].base);
        text_add(out, " → ");
        text_add_markdown(out, comparison->differences[k].now);
        text_add(out, "\n");
    }
    text_add(out, "\n</details>\n");
}

/* ---- JUnit ---- */

static void junit_case(struct text *out, const struct compare_case *c)
{
    const bool judged = c->state == COMPARE_JUDGED;
    text_add(out, "    <testcase name=\"");
    text_add_xml(out, c->id);
    text_add(out, "\" classname=\"rooftile.compare\" time=\"0\"");
    if (!is_finding(c) && c->state != COMPARE_SKIPPED) {
        text_add(out, "/>\n");
        return;
    }
    if (c->state == COMPARE_SKIPPED) {
        text_add(out, ">\n      <skipped/>\n    </testcase>\n");
        return;
    }
    text_add(out, ">\n      <failure message=\"");
    if (judged)
        text_addf(out, "%+.1f %% slower (%+.1f .. %+.1f %%)", (c->shift.ratio - 1) * 100,
                  (c->shift.ratio_ci[0] - 1) * 100, (c->shift.ratio_ci[1] - 1) * 100);
    else
        text_add_xml(out, c->reason);
    text_addf(out, "\" type=\"%s\">", judged ? "regression" : compare_state_name(c->state));
    if (judged)
        text_addf(out, "%.9g ns, was %.9g ns; %s", c->shift.new_ns, c->shift.base_ns, compare_cause_name(c->cause));
    text_add(out, "</failure>\n    </testcase>\n");
}

/* A test of something other than a case: a class as a whole, a key figure. */
static void junit_other(struct text *out, const char *kind, const char *name, const char *failure)
{
    text_addf(out, "    <testcase name=\"%s ", kind);
    text_add_xml(out, name);
    text_add(out, "\" classname=\"rooftile.compare\" time=\"0\"");
    if (failure) {
        text_add(out, ">\n      <failure message=\"");
        text_add_xml(out, failure);
        text_add(out, "\" type=\"regression\"></failure>\n    </testcase>\n");
    } else {
        text_add(out, "/>\n");
    }
}

static const char *class_failure(const struct compare_class *class, struct arena *arena)
{
    return compare_class_is_slower(class) ? arena_printf(arena, "%zu cases together %+.1f %% slower",
                                                         class->group.cases, (exp(class->group.common) - 1) * 100)
                                          : NULL;
}

static const char *kpi_failure(const struct compare_kpi *kpi, struct arena *arena)
{
    if (kpi->lost)
        return arena_printf(arena, "lost: %s", kpi->reason);
    if (kpi->judged && kpi->shift.verdict == SHIFT_SLOWER)
        return arena_printf(arena, "worse: %.6g %s, was %.6g", kpi->now, kpi->unit, kpi->base);
    return NULL;
}

struct junit_counts {
    size_t tests, failures, skipped;
};

static struct junit_counts junit_count(const struct comparison *comparison, struct arena *arena)
{
    struct junit_counts counts = {.tests =
                                      comparison->case_count + comparison->shifted_classes + comparison->kpi_count};
    for (size_t k = 0; k < comparison->case_count; k++) {
        counts.failures += is_finding(&comparison->cases[k]);
        counts.skipped += comparison->cases[k].state == COMPARE_SKIPPED;
    }
    for (size_t k = 0; k < comparison->class_count; k++)
        counts.failures += class_failure(&comparison->classes[k], arena) != NULL;
    for (size_t k = 0; k < comparison->kpi_count; k++)
        counts.failures += kpi_failure(&comparison->kpis[k], arena) != NULL;
    return counts;
}

void compare_junit(struct text *out, const struct comparison *comparison, bool color, unsigned columns)
{
    struct arena arena = {0};
    const struct junit_counts counts = junit_count(comparison, &arena);
    const char *start = comparison->now->started_at;
    (void)color;
    (void)columns;
    text_add(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"rooftile compare\" "
                  "package=\"rooftile\" id=\"0\"");
    text_addf(out,
              " timestamp=\"%.19s\" hostname=\"localhost\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\" "
              "time=\"0\">\n    <properties>\n      <property name=\"kind\" value=\"%s\"/>\n      <property "
              "name=\"device\" value=\"",
              start && strspn(start, "0123456789-T:") >= 19 ? start : "1970-01-01T00:00:00", counts.tests,
              counts.failures, counts.skipped,
              comparison->base->predicted ? "PREDICTED: nothing was executed" : "measured");
    text_add_xml(out, comparison->now->device.name);
    text_add(out, "\"/>\n    </properties>\n");
    for (size_t k = 0; k < comparison->case_count; k++)
        junit_case(out, &comparison->cases[k]);
    for (size_t k = 0; k < comparison->class_count; k++)
        if (comparison->classes[k].group.shifted)
            junit_other(out, "class", comparison->classes[k].name, class_failure(&comparison->classes[k], &arena));
    for (size_t k = 0; k < comparison->kpi_count; k++)
        junit_other(out, "key figure", comparison->kpis[k].name, kpi_failure(&comparison->kpis[k], &arena));
    text_add(out, "    <system-out></system-out>\n    <system-err></system-err>\n  </testsuite>\n</testsuites>\n");
    arena_release(&arena);
}

/* ---- the formats ---- */

const struct compare_format compare_formats[] = {
    {"table", compare_table}, {"json", compare_json}, {"markdown", compare_markdown},
    {"junit", compare_junit}, {NULL, NULL},
};

const struct compare_format *compare_format_find(const char *name)
{
    for (const struct compare_format *format = compare_formats; format->name; format++)
        if (!strcmp(format->name, name))
            return format;
    return NULL;
}
