/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "checkup_internal.h"
#include "rooftile/units.h"

static const char style[] =
    "body{font:16px/1.5 system-ui,sans-serif;color:#1c2024;background:#fff;max-width:60rem;margin:0 "
    "auto;padding:1.5rem 1rem 4rem}\n"
    "h1{font-size:1.5rem;margin:0}h2{font-size:1.2rem;margin:2.5rem 0 .3rem}h3{font-size:1rem;margin:1.4rem 0 .3rem}\n"
    "p{margin:.4rem 0}.dim{color:#5c6670}.wide{overflow-x:auto}\n"
    "table{border-collapse:collapse;font-size:.9rem;margin:.4rem 0}\n"
    "th{text-align:left;font-weight:600;border-bottom:1px solid #a8b0b8}td,th{padding:.2rem .9rem .2rem "
    "0;vertical-align:top}\n"
    "td{border-bottom:1px solid #e8ebee}.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}\n"
    ".w{display:inline-block;min-width:6.2rem;text-align:center;border-radius:.3rem;padding:0 "
    ".5rem;font-weight:600;color:#fff}\n"
    ".pass{background:#1a7f37}.incomplete{background:#9a6700}.broken,.findings{background:#c0262d}\n"
    ".big{font-size:1.1rem;padding:.15rem "
    ".9rem}a{color:#0a58ca;text-decoration:none}a:hover{text-decoration:underline}\n"
    "pre{background:#f4f6f8;padding:.7rem;overflow-x:auto;font-size:.8rem}summary{cursor:pointer}\n"
    "@media(prefers-color-scheme:dark){body{background:#16191d;color:#e2e6ea}.dim{color:#98a2ac}td{border-color:#"
    "2b3138}pre{background:#20252b}a{color:#7ab0ff}}\n";

static const char *const said[CHECKUP_WORDS] = {
    [CHECKUP_PASS] =
        "All is well: every kernel that applies to this device gave right results, and nothing measured is impossible.",
    [CHECKUP_INCOMPLETE] =
        "Nothing is wrong in what was seen, but not everything was seen: the sections below say what is missing.",
    [CHECKUP_BROKEN] = "Something could not be built or measured, so nothing can be said about it.",
    [CHECKUP_FINDINGS] =
        "Something is wrong: a wrong result, a crash, or a time that physics forbids. The sections below say what.",
};

static void badge(struct text *out, enum checkup_word word, const char *more)
{
    text_addf(out, "<span class=\"w %s%s\">%s</span>", checkup_name(word), more, checkup_name(word));
}

static void fact(struct text *out, const char *name, const char *value)
{
    if (!value || !*value)
        return;
    text_addf(out, "<tr><th>%s</th><td>", name);
    text_add_xml(out, value);
    text_add(out, "</td></tr>\n");
}

static void facts(struct text *out, const struct checkup *checkup)
{
    const struct result *result = checkup->facts;
    text_add(out, "<table>\n");
    fact(out, "Device", result ? result->device.name : checkup->device);
    if (result) {
        fact(out, "Architecture", result->device.arch);
        fact(out, "Driver", result->device.driver);
        fact(out, "Kernels compiled by", result->compiler);
        fact(out, "Processor", result->cpu_name);
        fact(out, "System", result->os);
        fact(out, "rooftile", result->tool_git && *result->tool_git ? result->tool_git : result->tool_version);
    }
    fact(out, "When", checkup->started_at);
    text_addf(out, "<tr><th>Time</th><td>%.0f s of a budget of %.0f s</td></tr>\n</table>\n", checkup->seconds,
              checkup->budget_s);
}

static void overview(struct text *out, const struct checkup *checkup)
{
    text_add(
        out,
        "<div class=\"wide\"><table>\n<tr><th>Step</th><th>Verdict</th><th>What came out</th><th class=\"n\">Time</th>"
        "<th class=\"n\">At most</th></tr>\n");
    for (size_t k = 0; k < STEP_COUNT; k++) {
        const struct checkup_section *section = &checkup->sections[k];
        if (!section->ran)
            continue;
        text_addf(out, "<tr><td><a href=\"#%s\">%s</a></td><td>", section->name, section->title);
        badge(out, section->word, "");
        text_add(out, "</td><td>");
        text_add_xml(out, section->headline);
        text_addf(out, "</td><td class=\"n\">%.0f s</td><td class=\"n\">%.0f s</td></tr>\n", section->seconds,
                  section->budget_s);
    }
    text_add(out, "</table></div>\n");
}

static void finding_table(struct text *out, const struct checkup_section *section)
{
    if (!section->finding_count)
        return;
    text_add(out,
             "<h3>What is wrong</h3>\n<div class=\"wide\"><table>\n<tr><th>Case</th><th>Kind</th><th>Why</th></tr>\n");
    for (size_t k = 0; k < section->finding_count; k++) {
        text_add(out, "<tr><td>");
        text_add_xml(out, section->findings[k].what);
        text_addf(out, "</td><td>%s</td><td>", section->findings[k].word);
        text_add_xml(out, section->findings[k].why);
        text_add(out, "</td></tr>\n");
    }
    text_add(out, "</table></div>\n");
}

static void skip_table(struct text *out, const struct checkup_section *section)
{
    if (!section->skip_count)
        return;
    text_add(
        out,
        "<h3>What was left out, and why</h3>\n<div class=\"wide\"><table>\n<tr><th class=\"n\">Cases</th><th>Why</th>"
        "<th>Which</th></tr>\n");
    for (size_t k = 0; k < section->skip_count; k++) {
        text_addf(out, "<tr><td class=\"n\">%zu</td><td>", section->skips[k].count);
        text_add_xml(out, section->skips[k].reason);
        text_add(out, "</td><td class=\"dim\">");
        text_add_xml(out, section->skips[k].names);
        text_add(out, "</td></tr>\n");
    }
    text_add(out, "</table></div>\n");
}

static void number_table(struct text *out, const struct checkup_section *section)
{
    char cell[UNITS_TEXT];
    if (!section->number_count)
        return;
    text_add(out, "<table>\n");
    for (size_t k = 0; k < section->number_count; k++) {
        const struct checkup_number *number = &section->numbers[k];
        text_add(out, "<tr><td>");
        text_add_xml(out, number->name);
        text_add(out, "</td><td class=\"n\">");
        text_add_xml(out, !strcmp(number->unit, "share") ? units_percent(cell, number->value)
                                                         : units_quantity(cell, number->value, number->unit));
        text_add(out, "</td></tr>\n");
    }
    text_add(out, "</table>\n");
}

static void section_html(struct text *out, const struct checkup *checkup, enum checkup_step step, struct arena *arena)
{
    const struct checkup_section *section = &checkup->sections[step];
    text_addf(out, "<h2 id=\"%s\">%s ", section->name, section->title);
    badge(out, section->word, "");
    text_addf(out, "</h2>\n<p class=\"dim\">%s</p>\n<p>", section->about);
    text_add_xml(out, section->headline);
    text_add(out, ".</p>\n");
    finding_table(out, section);
    if (step != STEP_CHARACTERISATION) /* whose tables have them */
        number_table(out, section);
    checkup_tables(out, checkup, step, arena);
    skip_table(out, section);
    if (*section->log) {
        text_add(out, "<details><summary>The end of its log</summary><pre>");
        text_add_xml(out, section->log);
        text_add(out, "</pre></details>\n");
    }
}

void checkup_html(struct text *out, const struct checkup *checkup, struct arena *arena)
{
    const char *device = checkup->facts ? checkup->facts->device.name : checkup->device;
    text_add(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>");
    text_addf(out, "%s: ", checkup_name(checkup->word));
    text_add_xml(out, device);
    text_addf(out, "</title>\n<style>\n%s</style></head><body>\n<h1>", style);
    badge(out, checkup->word, " big");
    text_add(out, " ");
    text_add_xml(out, device);
    text_addf(out, "</h1>\n<p>%s</p>\n", said[checkup->word]);
    overview(out, checkup);
    facts(out, checkup);
    for (size_t k = 0; k < STEP_COUNT; k++)
        if (checkup->sections[k].ran)
            section_html(out, checkup, (enum checkup_step)k, arena);
    text_add(out, "<h2>Everything else</h2>\n<p>check.json beside this page has all of it: each result with its "
                  "samples, the machine file "
                  "that <code>--machine</code> takes, and what was learned about noise.</p>\n</body></html>\n");
}
