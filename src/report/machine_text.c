/* SPDX-License-Identifier: MIT
 *
 * A machine as `rooftile roofline` shows it: what was found, how, and how sure it is.
 */
#include <stdio.h>
#include <string.h>

#include "report_internal.h"
#include "rooftile/units.h"

/* Below this a border between two levels is named as uncertain. */
static const double sure = 0.99;

enum { CELL = 64 };

static const char *cores_of(const struct machine *machine)
{
    return text_starts(machine->arch, "gfx") ? "compute unit" : "thread";
}

static const char *rate_cell(char out[static UNITS_TEXT], double value, const char *unit)
{
    return value > 0 ? units_rate(out, value, unit) : "-";
}

/* "+-0.3%". */
static const char *interval(char out[static CELL], double ci_rel)
{
    out[0] = '\0';
    if (ci_rel > 0)
        snprintf(out, CELL, "\302\261%.1f%%", ci_rel * 100);
    return out;
}

/* The plus-minus sign is two bytes in one column. */
static int wide(const char *cell, int columns)
{
    return columns + (int)strlen(cell) - (int)text_columns(cell);
}

/* "96-128 KiB": the unit is said once when both have it. */
static const char *range(char out[static CELL], double low, double high)
{
    char from[UNITS_TEXT], to[UNITS_TEXT];
    if (high <= 0)
        return "";
    units_bytes(to, high);
    if (low <= 0 || low >= high) {
        snprintf(out, CELL, "%s", to);
        return out;
    }
    units_bytes(from, low);
    const char *unit = strrchr(to, ' '), *first = strrchr(from, ' ');
    const bool same = unit && first && !strcmp(unit, first);
    snprintf(out, CELL, "%.*s-%s", same ? (int)(first - from) : (int)strlen(from), from, to);
    return out;
}

static const char *confidence_cell(char out[static CELL], double confidence)
{
    snprintf(out, CELL, confidence > 0 ? "%.1f %%" : "-", confidence * 100);
    return out;
}

/* The kernel's name and nothing else of a case id. */
static int kernel_length(const char *id)
{
    return (int)strcspn(id, "/");
}

static void head(struct text *out, const struct report_options *options, const char *line)
{
    text_add(out, "\n");
    styled(out, options, STYLE_BOLD, line);
    text_add(out, "\n");
}

/* ---- levels ---- */

/* Older files know the best of all traffic only. */
static bool knows_traffic(const struct machine *machine)
{
    for (uint32_t k = 0; k < machine->level_count; k++)
        for (enum machine_traffic kind = 0; kind < TRAFFIC_COUNT; kind++)
            if (ceiling_value(&machine->levels[k].traffic[kind]) > 0)
                return true;
    return false;
}

static void level_row(struct text *out, const struct machine_level *level, bool last, bool by_traffic)
{
    char capacity[CELL], border[CELL], rate[UNITS_TEXT], latency[UNITS_TEXT] = "-";
    const double confidence = level->capacity_bytes > 0 ? level->capacity_confidence : 0;
    if (level->latency_ns > 0)
        units_time(latency, level->latency_ns);
    text_addf(out, "%-6s %16s %6s", level->name,
              last ? "the rest" : range(capacity, level->capacity_low_bytes, level->capacity_bytes),
              confidence_cell(border, confidence));
    if (!by_traffic)
        text_addf(out, " %9s", rate_cell(rate, ceiling_value(&level->bandwidth), "B/s"));
    for (enum machine_traffic kind = 0; kind < TRAFFIC_COUNT && by_traffic; kind++)
        text_addf(out, " %9s", rate_cell(rate, ceiling_value(&level->traffic[kind]), "B/s"));
    text_addf(out, " %8s\n", latency);
}

static void add_levels(struct text *out, const struct machine *machine, const struct report_options *options)
{
    const bool by_traffic = knows_traffic(machine);
    struct text line = {0};
    text_addf(&line, "%-6s %16s %6s", "memory", "capacity", "sure");
    if (!by_traffic)
        text_addf(&line, " %9s", "bandwidth");
    for (enum machine_traffic kind = 0; kind < TRAFFIC_COUNT && by_traffic; kind++)
        text_addf(&line, " %9s", machine_traffic_name(kind));
    text_addf(&line, " %8s", "latency");
    head(out, options, line.data);
    text_release(&line);
    for (uint32_t k = 0; k < machine->level_count; k++)
        level_row(out, &machine->levels[k], k + 1 == machine->level_count, by_traffic);
}

/* ---- latencies ---- */

static void latency_row(struct text *out, const struct machine_latency *latency)
{
    char extent[CELL], border[CELL], time[UNITS_TEXT], spread[CELL], is[CELL];
    const bool last = latency->upto_bytes <= 0;
    if (latency->instances > 1 && !last)
        snprintf(is, sizeof(is), "%s, one of %u", latency->level, latency->instances);
    else
        snprintf(is, sizeof(is), "%s", latency->level[0] ? latency->level : "no border by bandwidth");
    interval(spread, latency->ci_rel);
    text_addf(out, "%-16s %6s %9s %*s  %s\n",
              last ? "beyond" : range(extent, latency->upto_bytes, latency->beyond_bytes),
              confidence_cell(border, latency->confidence), units_time(time, latency->latency_ns), wide(spread, 7),
              spread, is);
}

static void add_latencies(struct text *out, const struct machine *machine, const struct report_options *options)
{
    char line[160];
    if (!machine->latency_count)
        return;
    snprintf(line, sizeof(line), "%-16s %6s %9s %7s  %s", "chase up to", "sure", "latency", "", "level");
    head(out, options, line);
    for (uint32_t k = 0; k < machine->latency_count; k++)
        latency_row(out, &machine->latencies[k]);
}

/* ---- units ---- */

static void unit_row(struct text *out, const struct machine_unit *unit)
{
    char measured[UNITS_TEXT], claimed[UNITS_TEXT], reached[UNITS_TEXT] = "-", clock[UNITS_TEXT] = "-", spread[CELL];
    const char *rate = machine_unit_rate(unit->name);
    if (unit->peak.claimed > 0 && unit->peak.measured > 0)
        units_percent(reached, unit->peak.measured / unit->peak.claimed);
    if (unit->held_hz > 0)
        units_hz(clock, unit->held_hz);
    interval(spread, unit->peak.ci_rel);
    text_addf(out, "%-12s %12s %*s %8s %12s %7s %.*s\n", unit->name, rate_cell(measured, unit->peak.measured, rate),
              wide(spread, 7), spread, clock, rate_cell(claimed, unit->peak.claimed, rate), reached,
              kernel_length(unit->peak.measured_by), unit->peak.measured_by);
}

static void add_units(struct text *out, const struct machine *machine, const struct report_options *options)
{
    char line[160];
    if (!machine->unit_count)
        return;
    snprintf(line, sizeof(line), "%-12s %12s %7s %8s %12s %7s %s", "arithmetic", "measured", "", "at", "claimed",
             "reached", "by");
    head(out, options, line);
    for (uint32_t k = 0; k < machine->unit_count; k++)
        unit_row(out, &machine->units[k]);
}

/* ---- everything else ---- */

static void add_figures(struct text *out, const struct machine *machine, const struct report_options *options)
{
    char line[160];
    if (!machine->figure_count)
        return;
    snprintf(line, sizeof(line), "%-26s %11s %6s %s", "LDS, launches, timer", "measured", "", "by");
    head(out, options, line);
    for (uint32_t k = 0; k < machine->figure_count; k++) {
        const struct machine_figure *figure = &machine->figures[k];
        char value[UNITS_TEXT], spread[CELL];
        interval(spread, figure->ci_rel);
        text_addf(out, "%-26s %11s %*s %.*s\n", figure->name, units_quantity(value, figure->value, figure->unit),
                  wide(spread, 6), spread, kernel_length(figure->source), figure->source);
    }
}

/* Where the two ways of finding levels contradict each other, in words. */
static void add_disagreements(struct text *out, const struct machine *machine, unsigned columns)
{
    struct text line = {0};
    for (uint32_t k = 0; machine->latency_count && k + 1 < machine->level_count; k++) {
        const struct machine_level *level = &machine->levels[k];
        char extent[CELL];
        bool seen = false;
        for (uint32_t n = 0; n < machine->latency_count; n++)
            seen = seen || !strcmp(machine->latencies[n].level, level->name);
        if (seen)
            continue;
        text_clear(&line);
        text_addf(&line,
                  "%s ends at %s by bandwidth, but latency shows no border there: measure again on a quiet machine "
                  "before you rely on it",
                  level->name, range(extent, level->capacity_low_bytes, level->capacity_bytes));
        wrapped(out, line.data, 0, columns);
    }
    for (uint32_t n = 0; n < machine->latency_count; n++) {
        const struct machine_latency *latency = &machine->latencies[n];
        char extent[CELL];
        if (latency->level[0])
            continue;
        text_clear(&line);
        text_addf(&line,
                  "latency rises at %s, but bandwidth shows no border there: the reach of the TLB, a cache shared with "
                  "others, or one whose bandwidth is no better than the next level's",
                  range(extent, latency->upto_bytes, latency->beyond_bytes));
        wrapped(out, line.data, 0, columns);
    }
    text_release(&line);
}

static void add_method(struct text *out, const struct machine *machine, unsigned columns)
{
    struct text line = {0}, unsure = {0};
    text_addf(&line,
              "capacity: where bandwidth over footprint, all %ss together, steps down (change points); it lies in the "
              "range. chase: the same for dependent loads of one %s. sure: that there is a border. "
              "beside a measured number: half of the median's 95 %% interval. claimed: the measured clock and the "
              "widest vector instructions",
              cores_of(machine), cores_of(machine));
    wrapped(out, line.data, 0, columns);
    for (uint32_t k = 0; k + 1 < machine->level_count; k++)
        if (machine->levels[k].capacity_confidence > 0 && machine->levels[k].capacity_confidence < sure)
            text_addf(&unsure, "%s %s (%.0f %%)", unsure.length ? "," : "", machine->levels[k].name,
                      machine->levels[k].capacity_confidence * 100);
    if (unsure.length)
        text_addf(out, "uncertain borders:%s\n", unsure.data);
    text_release(&unsure);
    text_release(&line);
}

void report_machine(struct text *out, const struct machine *machine, const struct report_options *options)
{
    struct arena scratch = {0};
    struct text text = {0};
    char clock[UNITS_TEXT];
    const unsigned columns = report_columns(options);
    styled(out, options, STYLE_BOLD, printable(&scratch, machine->title[0] ? machine->title : machine->name));
    text_addf(out, ", %u %ss", machine->cus, cores_of(machine));
    if (machine->core_hz > 0)
        text_addf(out, ", %s", units_hz(clock, machine->core_hz));
    text_add(out, "\n");
    add_levels(&text, machine, options);
    add_latencies(&text, machine, options);
    add_units(&text, machine, options);
    add_figures(&text, machine, options);
    text_add(out, printable(&scratch, text.data));
    text_add(out, "\n");
    if (machine->launch_ns > 0 && !machine->figure_count) /* as older files have it */
        text_addf(out, "an empty launch takes %s\n", units_time(clock, machine->launch_ns));
    add_disagreements(out, machine, columns);
    if (machine->measured)
        add_method(out, machine, columns);
    text_release(&text);
    arena_release(&scratch);
}
