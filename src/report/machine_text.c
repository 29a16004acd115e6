/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "report_internal.h"
#include "rooftile/units.h"

static void ceiling_cells(struct text *out, const struct ceiling *ceiling, const char *unit)
{
    char measured[UNITS_TEXT] = "-", claimed[UNITS_TEXT] = "-";
    if (ceiling->measured > 0)
        units_rate(measured, ceiling->measured, unit);
    if (ceiling->claimed > 0)
        units_rate(claimed, ceiling->claimed, unit);
    text_addf(out, "%15s  %15s", measured, claimed);
}

/* The kernel's name and nothing else of a case id. */
static void measured_by(struct text *out, const struct ceiling *ceiling)
{
    text_addf(out, "  %.*s", (int)strcspn(ceiling->measured_by, "/"), ceiling->measured_by);
}

static void level_row(struct text *out, const struct machine_level *level, bool last)
{
    char capacity[UNITS_TEXT] = "-", latency[UNITS_TEXT] = "-";
    if (!last)
        units_bytes(capacity, level->capacity_bytes);
    if (level->latency_ns > 0)
        units_time(latency, level->latency_ns);
    text_addf(out, "%-12s  %10s", level->name, capacity);
    ceiling_cells(out, &level->bandwidth, "B/s");
    text_addf(out, "  %9s", latency);
    measured_by(out, &level->bandwidth);
    if (!last && level->capacity_confidence > 0 && level->capacity_confidence < 1)
        text_addf(out, " (border: confidence %.2f)", level->capacity_confidence);
    text_add(out, "\n");
}

void report_machine(struct text *out, const struct machine *machine, const struct report_options *options)
{
    char line[160], launch[UNITS_TEXT], clock[UNITS_TEXT];
    styled(out, options, STYLE_BOLD, machine->title[0] ? machine->title : machine->name);
    text_addf(out, ", %u %s", machine->cus, text_starts(machine->arch, "gfx") ? "CUs" : "threads");
    if (machine->core_hz > 0)
        text_addf(out, ", %s", units_hz(clock, machine->core_hz));
    text_add(out, "\n\n");
    snprintf(line, sizeof(line), "%-12s  %10s%15s  %15s  %9s  %s\n", "memory level", "capacity", "measured", "claimed",
             "latency", "measured by");
    styled(out, options, STYLE_BOLD, line);
    for (uint32_t k = 0; k < machine->level_count; k++)
        level_row(out, &machine->levels[k], k + 1 == machine->level_count);
    snprintf(line, sizeof(line), "\n%-24s%15s  %15s  %9s  %s\n", "arithmetic unit", "measured", "claimed", "reached",
             "measured by");
    styled(out, options, STYLE_BOLD, line);
    for (uint32_t k = 0; k < machine->unit_count; k++) {
        const struct ceiling *peak = &machine->units[k].peak;
        char reached[UNITS_TEXT] = "-";
        if (peak->claimed > 0 && peak->measured > 0)
            units_percent(reached, peak->measured / peak->claimed);
        text_addf(out, "%-24s", machine->units[k].name);
        ceiling_cells(out, peak, "FLOP/s");
        text_addf(out, "  %9s", reached);
        measured_by(out, peak);
        text_add(out, "\n");
    }
    if (machine->launch_ns > 0)
        text_addf(out, "\nan empty launch takes %s\n", units_time(launch, machine->launch_ns));
    if (machine->measured)
        text_add(out, "claimed: derived from the measured clock and the widest vector instructions; capacities come from\n"
                      "change points of bandwidth over footprint, all cores together\n");
}
