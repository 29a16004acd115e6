/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checkup_internal.h"
#include "derived_text.h"
#include "report_internal.h"

enum { NOISIEST = 12 };

static void head(struct text *out, const char *title, const char *const *columns, size_t count)
{
    if (title)
        text_addf(out, "<h3>%s</h3>\n", title);
    text_add(out, "<div class=\"wide\"><table>\n<tr>");
    for (size_t k = 0; k < count; k++) /* the first one is a name, the others are numbers */
        text_addf(out, "<th%s>%s</th>", k ? " class=\"n\"" : "", columns[k]);
    text_add(out, "</tr>\n");
}

static void row_start(struct text *out, const char *name)
{
    text_add(out, "<tr><td>");
    text_add_xml(out, name);
    text_add(out, "</td>");
}

static void cell(struct text *out, const char *value)
{
    text_add(out, "<td class=\"n\">");
    text_add_xml(out, value && *value ? value : "-");
    text_add(out, "</td>");
}

static const char table_end[] = "</table></div>\n";

/* ---- verification ---- */

static void verification(struct text *out, const struct result *result)
{
    static const char *const columns[] = {"Kernel", "compared by", "elements compared",
                                          "largest error, in units of the last place"};
    text_add(out, "<details><summary>Every kernel that was verified</summary>\n");
    head(out, NULL, columns, 4);
    for (size_t k = 0; k < result->case_count; k++) {
        const struct result_case *c = &result->cases[k];
        char number[32];
        if (c->status != CASE_OK || c->verification.verdict != VERIFY_PASS)
            continue;
        row_start(out, c->kernel);
        cell(out, c->verification.method);
        snprintf(number, sizeof(number), "%llu", (unsigned long long)c->verification.checked);
        cell(out, number);
        snprintf(number, sizeof(number), "%.3g", c->verification.max_ulp);
        cell(out, c->verification.max_abs > 0 ? number : "exact");
        text_add(out, "</tr>\n");
    }
    text_addf(out, "%s</details>\n", table_end);
}

/* ---- machine ---- */

static void levels(struct text *out, const struct machine *machine)
{
    static const char *const columns[] = {"Memory", "holds", "read", "write", "copy", "triad", "latency"};
    char text[UNITS_TEXT];
    head(out, "Memory", columns, 7);
    for (uint32_t k = 0; k < machine->level_count; k++) {
        const struct machine_level *level = &machine->levels[k];
        row_start(out, level->name);
        cell(out, level->capacity_bytes > 0 ? units_bytes(text, level->capacity_bytes) : "the rest");
        for (int traffic = 0; traffic < TRAFFIC_COUNT; traffic++)
            cell(out, level->traffic[traffic].measured > 0 ? units_rate(text, level->traffic[traffic].measured, "B/s")
                                                           : "-");
        cell(out, level->latency_ns > 0 ? units_time(text, level->latency_ns) : "-");
        text_add(out, "</tr>\n");
    }
    text_add(out, table_end);
}

static void peaks(struct text *out, const struct machine *machine)
{
    static const char *const columns[] = {"Arithmetic", "measured", "data sheet", "share", "clock held"};
    char text[UNITS_TEXT];
    head(out, "Arithmetic", columns, 5);
    for (uint32_t k = 0; k < machine->unit_count; k++) {
        const struct machine_unit *unit = &machine->units[k];
        const char *rate = machine_unit_rate(unit->name);
        if (unit->peak.measured <= 0)
            continue;
        row_start(out, unit->name);
        cell(out, units_rate(text, unit->peak.measured, rate));
        cell(out, unit->peak.claimed > 0 ? units_rate(text, unit->peak.claimed, rate) : "-");
        cell(out, unit->peak.claimed > 0 ? units_percent(text, unit->peak.measured / unit->peak.claimed) : "-");
        cell(out, unit->held_hz > 0 ? units_hz(text, unit->held_hz) : "-");
        text_add(out, "</tr>\n");
    }
    text_add(out, table_end);
}

static void figures(struct text *out, const struct machine *machine)
{
    static const char *const columns[] = {"Other", "measured"};
    char text[UNITS_TEXT];
    if (!machine->figure_count)
        return;
    head(out, "Local memory, launches, timers", columns, 2);
    for (uint32_t k = 0; k < machine->figure_count; k++) {
        row_start(out, machine->figures[k].name);
        cell(out, units_quantity(text, machine->figures[k].value, machine->figures[k].unit));
        text_add(out, "</tr>\n");
    }
    text_add(out, table_end);
}

/* ---- ratios ---- */

static double number_of(const struct json *object, const char *key)
{
    const struct json *member = json_member(object, key);
    return member && member->type == JSON_NUMBER ? member->number : NAN;
}

static const char *string_of(const struct json *object, const char *key)
{
    const struct json *member = json_member(object, key);
    return member && member->type == JSON_STRING ? member->string : "";
}

static void ratio_rows(struct text *out, const struct result_derived *derived, const struct json *points)
{
    const char *unit = derived->y && !strcmp(derived->y, "bytes_per_s") ? "B/s" : "FLOP/s";
    char text[UNITS_TEXT];
    for (const struct json *point = points->first; point; point = point->next) {
        const char *at = string_of(point, "at");
        row_start(out, *at ? at : "all");
        cell(out, units_rate(text, number_of(point, "value"), unit));
        cell(out, units_rate(text, number_of(point, "of"), unit));
        cell(out, units_percent(text, number_of(point, "ratio")));
        text_add(out, "</tr>\n");
    }
}

static void ratios(struct text *out, const struct result *result, struct arena *arena)
{
    for (size_t k = 0; k < result->derived_count; k++) {
        const struct result_derived *derived = &result->derived[k];
        const struct json *json = strcmp(derived->method, "ratio") ? NULL : derived_value(derived, arena);
        const struct json *points = json_member(json, "points");
        if (!json)
            continue;
        text_add(out, "<h3>");
        text_add_xml(out, derived->name);
        text_add(out, "</h3>\n");
        if (!points || !points->first) {
            text_add(out, "<p>Nothing to compare: ");
            text_add_xml(out, string_of(json, "error"));
            text_add(out, ".</p>\n");
            continue;
        }
        const char *const columns[] = {"Work", derived->kernel, string_of(json, "to"), "share"};
        head(out, NULL, columns, 4);
        ratio_rows(out, derived, points);
        text_add(out, table_end);
    }
}

/* What each library that was called says it is. */
static void libraries(struct text *out, const struct result *result)
{
    const char *last = "";
    for (size_t k = 0; k < result->case_count; k++) {
        const char *library = result->cases[k].library;
        if (!library || !*library || !strcmp(library, last))
            continue;
        last = library;
        text_addf(out, "<p class=\"dim\">%s is ", result->cases[k].kernel);
        text_add_xml(out, library);
        text_add(out, ".</p>\n");
    }
}

/* ---- cases ---- */

static void cases(struct text *out, const struct result *result, const char *summary)
{
    static const char *const columns[] = {"Case",     "time",    "\302\26195 %", "rate",
                                          "bound by", "of roof", "verified",     "remarks"};
    text_addf(out, "<details open><summary>%s</summary>\n", summary);
    head(out, NULL, columns, 8);
    for (size_t k = 0; k < result->case_count; k++) {
        const struct result_case *c = &result->cases[k];
        char text[FIGURE_TEXT], time[UNITS_TEXT];
        struct text flags = {0};
        if (!c->sample_count)
            continue;
        figure_flags(&flags, c);
        row_start(out, c->label);
        cell(out, units_time(time, c->stats.median));
        cell(out, figure_interval(text, c));
        cell(out, figure_rate(text, c));
        cell(out, figure_bound(c));
        cell(out, figure_fraction(text, c));
        cell(out, figure_verified(c));
        cell(out, flags.data);
        text_add(out, "</tr>\n");
        text_release(&flags);
    }
    text_addf(out, "%s</details>\n", table_end);
}

/* ---- noise ---- */

static int by_noise(const void *a, const void *b)
{
    const double x = number_of(*(const struct json *const *)a, "sigma"),
                 y = number_of(*(const struct json *const *)b, "sigma");
    return (isnan(x) - isnan(y)) ? isnan(x) - isnan(y) : (x < y) - (x > y);
}

static void noisiest(struct text *out, const struct json *noise, struct arena *arena)
{
    static const char *const columns[] = {"Case", "noise", "a change shows from"};
    const struct json *list = json_member(noise, "cases");
    if (!list || !list->first)
        return;
    const struct json **order = arena_array(arena, list->count + 1, sizeof(const struct json *));
    size_t count = 0;
    for (const struct json *c = list->first; c; c = c->next)
        order[count++] = c;
    qsort(order, count, sizeof(*order), by_noise);
    head(out, "The noisiest cases", columns, 3);
    for (size_t k = 0; k < count && k < NOISIEST; k++) {
        char text[UNITS_TEXT];
        row_start(out, string_of(order[k], "id"));
        cell(out, units_percent(text, number_of(order[k], "sigma")));
        cell(out, units_percent(text, number_of(order[k], "mde_compare")));
        text_add(out, "</tr>\n");
    }
    text_add(out, table_end);
}

void checkup_tables(struct text *out, const struct checkup *checkup, enum checkup_step step, struct arena *arena)
{
    const struct result *result = checkup->sections[step].result;
    if (!result)
        return;
    if (step == STEP_VERIFICATION)
        verification(out, result);
    if (step == STEP_CHARACTERISATION && checkup->machine) {
        levels(out, checkup->machine);
        peaks(out, checkup->machine);
        figures(out, checkup->machine);
    }
    if (step == STEP_LIBRARIES) {
        ratios(out, result, arena);
        libraries(out, result);
    }
    if (step == STEP_QUICK || step == STEP_LIBRARIES)
        cases(out, result, "Every case");
    if (step == STEP_NOISE && checkup->noise)
        noisiest(out, checkup->noise, arena);
}
