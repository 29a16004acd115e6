/* SPDX-License-Identifier: MIT
 *
 * The gate's outcome: for people, for a pull request or chat, for programs and for CI systems.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "history_internal.h"
#include "rooftile/json_out.h"
#include "rooftile/text.h"
#include "rooftile/units.h"

enum { MOST_ROWS = 100 };

static const char *safe(struct arena *arena, const char *string)
{
    struct text text = {0};
    text_add_printable(&text, string);
    const char *copy = arena_strdup(arena, text.length ? text.data : "");
    text_release(&text);
    return copy;
}

/* "; code, 1234abcd..5678ef01" as far as it is known. */
static const char *origin(const struct history_series *s, struct arena *arena)
{
    const bool both = s->cause[0] && s->commits[0];
    return !s->cause[0] && !s->commits[0]
               ? ""
               : arena_printf(arena, "; %s%s%s", s->cause, both ? ", " : "", safe(arena, s->commits));
}

static const char *before(const struct history_series *s, struct arena *arena)
{
    char value[UNITS_TEXT];
    return isfinite(s->baseline) ? arena_printf(arena, ", was %s", units_quantity(value, s->baseline, s->unit)) : "";
}

/* One line: what happened to the series, and since when. */
static const char *story(const struct history_series *s, struct arena *arena)
{
    const struct gate_verdict *v = &s->verdict;
    switch (s->finding) {
    case FINDING_FIRM:
        return arena_printf(arena, "%+.1f %% since %.10s%s (Z %.1f%s)", s->shift * 100, s->since, before(s, arena),
                            fabs(v->z), origin(s, arena));
    case FINDING_PROVISIONAL:
        return arena_printf(arena, "%+.1f %% tonight%s (Z %.1f%s); firm if it stays", s->shift * 100, before(s, arena),
                            fabs(v->z), origin(s, arena));
    case FINDING_OPEN:
        return arena_printf(arena, "%+.1f %% since %.10s%s%s", s->level * 100, s->since, before(s, arena),
                            origin(s, arena));
    case FINDING_BROKEN:
        return arena_printf(arena, "%s%s%.200s", safe(arena, s->status), s->reason[0] ? ": " : "",
                            safe(arena, s->reason));
    case FINDING_MISSING:
        return s->status[0] ? arena_printf(arena, "%s: %.200s", safe(arena, s->status), safe(arena, s->reason))
                            : "not in tonight's run";
    case FINDING_TIMER:
        return arena_printf(arena, "%s: another series goes on", s->reason);
    default:
        return "";
    }
}

static const char *word(const struct history_series *s)
{
    static const char *const words[] = {
        [FINDING_FIRM] = "SLOWER",   [FINDING_OPEN] = "STILL SLOWER", [FINDING_PROVISIONAL] = "PROVISIONAL",
        [FINDING_BROKEN] = "BROKEN", [FINDING_MISSING] = "MISSING",   [FINDING_TIMER] = "TIMER"};
    if (s->finding == FINDING_FIRM && !s->slower)
        return s->is_kpi ? "BETTER" : "FASTER";
    if (s->is_kpi && (s->finding == FINDING_FIRM || s->finding == FINDING_OPEN))
        return s->finding == FINDING_FIRM ? "WORSE" : "STILL WORSE";
    return words[s->finding];
}

static const char *tone(const struct history_series *s, bool color)
{
    if (!color)
        return "";
    if (s->finding == FINDING_PROVISIONAL || s->finding == FINDING_TIMER)
        return "\033[33m";
    return s->finding == FINDING_FIRM && !s->slower ? "\033[32m" : "\033[31m";
}

static void put_summary(struct text *out, const struct history_gate *gate)
{
    const struct {
        size_t count;
        const char *word;
    } counts[] = {{gate->firm, "slower"},
                  {gate->broken, "broken"},
                  {gate->missing, "missing"},
                  {gate->open, "still slower"},
                  {gate->faster, "faster"},
                  {gate->provisional, "provisional"},
                  {gate->retimed, "of another timer"},
                  {gate->quiet, "quiet"},
                  {gate->learning, "learning"}};
    bool some = false;
    for (size_t k = 0; k < sizeof(counts) / sizeof(*counts); k++)
        if (counts[k].count) {
            text_addf(out, "%s%zu %s", some ? ", " : "", counts[k].count, counts[k].word);
            some = true;
        }
    text_add(out, some ? "" : "nothing to judge");
}

static const char *headline(const struct history_gate *gate)
{
    const int code = history_exit_code(gate, true);
    if (code == 1)
        return "REGRESSION";
    if (!gate->quiet)
        return "LEARNING";
    return code == 4 ? "NO FIRM REGRESSION" : "NO REGRESSION";
}

static void put_environment(struct text *out, const struct history_gate *gate, struct arena *arena)
{
    if (!gate->environment_changed)
        return;
    text_addf(out, "the environment changed, so every series starts anew: %s", safe(arena, gate->environment));
    if (isfinite(gate->environment_shift))
        text_addf(out, "; the median case took %+.1f %%", gate->environment_shift * 100);
    text_add(out, "\n");
}

/* What to do about it, with the worst as the example. A label with a glob's characters would not match itself. */
static void put_advice(struct text *out, const struct history_gate *gate, struct arena *arena)
{
    const struct history_series *s = gate->series;
    if (history_exit_code(gate, false) == 1) {
        const char *name = safe(arena, s->is_class || s->label[strcspn(s->label, "*?[\\'")] ? s->case_id : s->label);
        text_addf(out, "next: rooftile history show '%s'\n", s->is_class ? "*" : name);
        if (s->finding != FINDING_BROKEN)
            text_addf(out, "      or, when it is meant to be so: rooftile history accept '%s' --reason '...'\n", name);
    } else if (gate->provisional) {
        text_add(out, "next: measure the provisional ones again with --confirm SUITE, or wait for the next night\n");
    }
    if (!gate->quiet)
        text_add(out, "a series is judged from its seventh night on\n");
}

void history_gate_text(struct text *out, const struct history_gate *gate, bool color)
{
    struct arena arena = {0};
    size_t width = 4, shown = 0, findings = 0;
    text_addf(out, "%s, lane %s, night of %.19s", safe(&arena, gate->device), safe(&arena, gate->lane), gate->night);
    if (gate->commit[0])
        text_addf(out, ", commit %.12s", safe(&arena, gate->commit));
    text_addf(out, "; %zu night%s looked at\n", gate->nights, gate->nights == 1 ? "" : "s");
    put_environment(out, gate, &arena);
    for (size_t k = 0; k < gate->count; k++) {
        findings += gate->series[k].finding != FINDING_NONE;
        const size_t columns = gate->series[k].finding ? text_columns(safe(&arena, gate->series[k].label)) : 0;
        width = columns > width ? columns : width;
    }
    if (findings)
        text_add(out, "\n");
    for (size_t k = 0; k < gate->count && shown < MOST_ROWS; k++) {
        const struct history_series *s = &gate->series[k];
        char value[UNITS_TEXT];
        if (s->finding == FINDING_NONE)
            continue;
        const char *label = safe(&arena, s->label);
        text_addf(out, "%s%-12s%s  %s", tone(s, color), word(s), color ? "\033[0m" : "", label);
        text_pad(out, width - text_columns(label), ' ');
        text_addf(out, "  %10s  %s\n", units_quantity(value, s->tonight, s->unit), story(s, &arena));
        shown++;
    }
    if (findings > shown)
        text_addf(out, "... and %zu more: --format json has them all\n", findings - shown);
    text_addf(out, "\n%s: ", headline(gate));
    put_summary(out, gate);
    text_addf(out, "\n");
    if (gate->too_noisy)
        text_addf(out, "%zu series are too noisy to gate: a change under 10 %% would not show within a week\n",
                  gate->too_noisy);
    put_advice(out, gate, &arena);
    arena_release(&arena);
}

void history_gate_markdown(struct text *out, const struct history_gate *gate)
{
    struct arena arena = {0};
    size_t shown = 0, findings = 0;
    text_addf(out, "### %s%s\n\n", headline(gate), gate->quiet ? "" : ": nothing is gated before its seventh night");
    text_add_markdown(out, gate->device);
    text_add(out, ", lane ");
    text_add_markdown(out, gate->lane);
    text_addf(out, ", night of %.19s%s", gate->night, gate->commit[0] ? ", commit " : "");
    text_add_markdown(out, arena_printf(&arena, "%.12s", gate->commit));
    text_add(out, ": ");
    put_summary(out, gate);
    text_add(out, "\n\n");
    if (gate->environment_changed) {
        struct text environment = {0};
        put_environment(&environment, gate, &arena);
        text_add_markdown(out, environment.data);
        text_add(out, "\n\n");
        text_release(&environment);
    }
    for (size_t k = 0; k < gate->count; k++) {
        const struct history_series *s = &gate->series[k];
        char value[UNITS_TEXT];
        findings += s->finding != FINDING_NONE;
        if (s->finding == FINDING_NONE || shown == MOST_ROWS)
            continue;
        if (!shown++)
            text_add(out, "| | case | tonight | what happened |\n|---|---|---:|---|\n");
        text_addf(out, "| **%s** | ", word(s));
        text_add_markdown(out, s->label);
        text_addf(out, " | %s | ", units_quantity(value, s->tonight, s->unit));
        text_add_markdown(out, story(s, &arena));
        text_add(out, " |\n");
    }
    if (findings > shown)
        text_addf(out, "\n... and %zu more.\n", findings - shown);
    arena_release(&arena);
}

static void put_series(struct json_out *out, const struct history_series *s)
{
    const struct gate_verdict *v = &s->verdict;
    json_out_object(out, NULL);
    json_out_string(out, "kind", s->is_class ? "class" : s->is_kpi ? "kpi" : "case");
    json_out_string(out, "id", s->case_id);
    json_out_string(out, "label", s->label);
    json_out_string(out, "timer", s->timer[0] ? s->timer : NULL);
    json_out_string(out, "finding", s->finding ? history_finding_name(s->finding) : NULL);
    json_out_string(out, "state", gate_state_name(v->state));
    json_out_bool(out, "slower", s->slower);
    json_out_number(out, "tonight", s->tonight);
    json_out_string(out, "unit", s->unit);
    json_out_number(out, "shift", s->shift);
    json_out_number(out, "baseline", s->baseline);
    json_out_number(out, "baseline_n", v->baseline_n);
    json_out_number(out, "z", v->z);
    json_out_number(out, "sigma", v->sigma);
    json_out_number(out, "mde_night", v->mde_night);
    json_out_number(out, "mde_week", v->mde_week);
    json_out_bool(out, "too_noisy", v->too_noisy);
    json_out_number(out, "level", s->level);
    json_out_string(out, "since", s->since[0] ? s->since : NULL);
    json_out_string(out, "attribution", s->cause[0] ? s->cause : NULL);
    json_out_string(out, "commits", s->commits[0] ? s->commits : NULL);
    json_out_string(out, "status", s->status[0] ? s->status : isfinite(s->tonight) ? "ok" : NULL);
    json_out_string(out, "reason", s->reason && s->reason[0] ? s->reason : NULL);
    json_out_end(out);
}

void history_gate_json(struct text *text, const struct history_gate *gate)
{
    struct json_out *out = json_out_new();
    json_out_string(out, "schema", "https://rooftile.dev/schemas/gate/1/gate.schema.json");
    json_out_string(out, "schema_version", "1.0.0");
    json_out_string(out, "device", gate->device);
    json_out_string(out, "lane", gate->lane);
    json_out_string(out, "night", gate->night);
    json_out_string(out, "run_id", gate->run_id);
    json_out_string(out, "commit", gate->commit[0] ? gate->commit : NULL);
    json_out_number(out, "nights", (double)gate->nights);
    json_out_bool(out, "environment_changed", gate->environment_changed);
    json_out_string(out, "environment", gate->environment[0] ? gate->environment : NULL);
    json_out_number(out, "environment_shift", gate->environment_shift);
    json_out_object(out, "summary");
    json_out_number(out, "slower", (double)gate->firm);
    json_out_number(out, "still_slower", (double)gate->open);
    json_out_number(out, "broken", (double)gate->broken);
    json_out_number(out, "missing", (double)gate->missing);
    json_out_number(out, "faster", (double)gate->faster);
    json_out_number(out, "provisional", (double)gate->provisional);
    json_out_number(out, "timer", (double)gate->retimed);
    json_out_number(out, "quiet", (double)gate->quiet);
    json_out_number(out, "learning", (double)gate->learning);
    json_out_number(out, "too_noisy", (double)gate->too_noisy);
    json_out_number(out, "exit_code", history_exit_code(gate, false));
    json_out_number(out, "exit_code_strict", history_exit_code(gate, true));
    json_out_end(out);
    json_out_array(out, "series");
    for (size_t k = 0; k < gate->count; k++)
        put_series(out, &gate->series[k]);
    json_out_end(out);
    json_out_finish(out, text, true);
    text_add(text, "\n");
    json_out_free(out);
}

static bool fails(const struct history_series *s)
{
    return s->finding == FINDING_BROKEN || s->finding == FINDING_MISSING || s->finding == FINDING_OPEN ||
           (s->finding == FINDING_FIRM && s->slower);
}

void history_gate_junit(struct text *out, const struct history_gate *gate)
{
    struct arena arena = {0};
    size_t failures = 0;
    for (size_t k = 0; k < gate->count; k++)
        failures += fails(&gate->series[k]);
    text_addf(out,
              "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"rooftile gate\" "
              "package=\"rooftile\" id=\"0\" timestamp=\"%.19s\" hostname=\"localhost\" tests=\"%zu\" failures=\"%zu\" "
              "errors=\"0\" skipped=\"0\" time=\"0\">\n    <properties>\n      <property name=\"device\" value=\"",
              gate->night, gate->count, failures);
    text_add_xml(out, gate->device);
    text_add(out, "\"/>\n    </properties>\n");
    for (size_t k = 0; k < gate->count; k++) {
        const struct history_series *s = &gate->series[k];
        text_add(out, "    <testcase name=\"");
        text_add_xml(out, s->case_id);
        text_add(out, "\" classname=\"rooftile.gate\" time=\"0\"");
        if (!fails(s)) {
            text_add(out, "/>\n");
            continue;
        }
        text_addf(out, ">\n      <failure type=\"%s\" message=\"", history_finding_name(s->finding));
        text_add_xml(out, story(s, &arena));
        text_add(out, "\"></failure>\n    </testcase>\n");
    }
    text_add(out, "    <system-out></system-out>\n    <system-err></system-err>\n  </testsuite>\n</testsuites>\n");
    arena_release(&arena);
}
