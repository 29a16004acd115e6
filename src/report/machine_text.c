/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "report_internal.h"
#include "rooftile/units.h"

/* Below this a border between two levels is named as uncertain. */
static const double sure = 0.99;

static void ceiling_cells(struct text *out, const struct ceiling *ceiling, const char *unit)
{
    char measured[UNITS_TEXT] = "-", claimed[UNITS_TEXT] = "-";
    if (ceiling->measured > 0)
        units_rate(measured, ceiling->measured, unit);
    if (ceiling->claimed > 0)
        units_rate(claimed, ceiling->claimed, unit);
    text_addf(out, "  %12s  %12s", measured, claimed);
}

/* The kernel's name and nothing else of a case id. */
static void measured_by(struct text *out, const struct ceiling *ceiling)
{
    if (ceiling->measured > 0)
        text_addf(out, "  %.*s", (int)strcspn(ceiling->measured_by, "/"), ceiling->measured_by);
}

static void level_row(struct text *out, const struct machine_level *level)
{
    char capacity[UNITS_TEXT] = "-", latency[UNITS_TEXT] = "-";
    if (level->capacity_bytes > 0)
        units_bytes(capacity, level->capacity_bytes);
    if (level->latency_ns > 0)
        units_time(latency, level->latency_ns);
    text_addf(out, "%-12s  %8s", level->name, capacity);
    ceiling_cells(out, &level->bandwidth, "B/s");
    text_addf(out, "  %8s", latency);
    measured_by(out, &level->bandwidth);
    text_add(out, "\n");
}

static void unit_row(struct text *out, const struct machine_unit *unit)
{
    char reached[UNITS_TEXT] = "-";
    if (unit->peak.claimed > 0 && unit->peak.measured > 0)
        units_percent(reached, unit->peak.measured / unit->peak.claimed);
    text_addf(out, "%-22s", unit->name);
    ceiling_cells(out, &unit->peak, "FLOP/s");
    text_addf(out, "  %8s", reached);
    measured_by(out, &unit->peak);
    text_add(out, "\n");
}

static void add_title(struct text *out, const struct report_options *options, const char *first, const char *second,
                      const char *third)
{
    struct text line = {0};
    text_addf(&line, "%-*s%s  %12s  %12s  %8s  %s", second[0] ? 14 : 22, first, second, "measured", "claimed", third,
              "measured by");
    text_add(out, "\n");
    styled(out, options, STYLE_BOLD, line.data);
    text_add(out, "\n");
    text_release(&line);
}

static void add_notes(struct text *out, const struct machine *machine, unsigned columns)
{
    char launch[UNITS_TEXT];
    struct text unsure = {0};
    if (machine->launch_ns > 0)
        text_addf(out, "\nan empty launch takes %s\n", units_time(launch, machine->launch_ns));
    if (!machine->measured)
        return;
    wrapped(out,
            "claimed: derived from the measured clock and the widest vector instructions; capacities come from "
            "change points of bandwidth over footprint, all cores together",
            0, columns);
    for (uint32_t k = 0; k + 1 < machine->level_count; k++)
        if (machine->levels[k].capacity_confidence > 0 && machine->levels[k].capacity_confidence < sure)
            text_addf(&unsure, "%s %s (%.0f %%)", unsure.length ? "," : "", machine->levels[k].name,
                      machine->levels[k].capacity_confidence * 100);
    if (unsure.length)
        text_addf(out, "uncertain borders:%s\n", unsure.data);
    text_release(&unsure);
}

void report_machine(struct text *out, const struct machine *machine, const struct report_options *options)
{
    struct arena scratch = {0};
    struct text text = {0};
    char clock[UNITS_TEXT];
    styled(out, options, STYLE_BOLD, printable(&scratch, machine->title[0] ? machine->title : machine->name));
    text_addf(out, ", %u %s", machine->cus, text_starts(machine->arch, "gfx") ? "CUs" : "threads");
    if (machine->core_hz > 0)
        text_addf(out, ", %s", units_hz(clock, machine->core_hz));
    text_add(out, "\n");
    add_title(out, options, "memory level", "capacity", "latency");
    for (uint32_t k = 0; k < machine->level_count; k++)
        level_row(&text, &machine->levels[k]);
    text_add(out, printable(&scratch, text.data));
    text_clear(&text);
    add_title(out, options, "arithmetic unit", "", "reached");
    for (uint32_t k = 0; k < machine->unit_count; k++)
        unit_row(&text, &machine->units[k]);
    text_add(out, printable(&scratch, text.data));
    add_notes(out, machine, report_columns(options));
    text_release(&text);
    arena_release(&scratch);
}
