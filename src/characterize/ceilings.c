/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ceilings_internal.h"

static struct machine_unit *unit_named(struct machine *machine, const char *name)
{
    for (uint32_t k = 0; k < machine->unit_count; k++)
        if (!strcmp(machine->units[k].name, name))
            return &machine->units[k];
    if (machine->unit_count >= MACHINE_MAX_UNITS)
        return NULL;
    struct machine_unit *unit = &machine->units[machine->unit_count++];
    snprintf(unit->name, sizeof(unit->name), "%s", name);
    return unit;
}

/* Rates as multiples of those that a device names. A CPU that has AVX512-FP16 or AVX-512 VNNI runs them on the pipes of
 * its f32 multiply-adds, with two and four times the elements. Dot products of bf16 are missing on purpose: an Intel
 * core was measured to do them at half the rate of f32, and nothing says how others do. */
static const struct {
    const char *unit;
    double of_f32, of_f64;
} vector_rates[] = {{"vector_f32", 1, 0}, {"vector_f64", 0, 1}, {"vector_f16", 2, 0}, {"vector_i8", 4, 0}};

static double flops_per_clock(const char *unit, const struct device_info *device)
{
    for (size_t k = 0; k < sizeof(vector_rates) / sizeof(*vector_rates); k++)
        if (!strcmp(vector_rates[k].unit, unit))
            return vector_rates[k].of_f32 * device->flops_per_clock_f32 +
                   vector_rates[k].of_f64 * device->flops_per_clock_f64;
    return 0;
}

/* What the vector units can do at the measured clock: a limit of physics, not of our kernel. */
static void claim_unit(struct machine_unit *unit, const struct device_info *device)
{
    const double per_clock = flops_per_clock(unit->name, device);
    unit->clock_hz = device->core_hz;
    if (per_clock <= 0 || device->core_hz <= 0)
        return;
    unit->peak.claimed = per_clock * device->core_hz * device->cus;
    snprintf(unit->peak.claimed_source, sizeof(unit->peak.claimed_source),
             "derived: %u cores x %.3g FLOP per clock x %.3g GHz (measured clock)", device->cus, per_clock,
             device->core_hz / 1e9);
}

void ceilings_units(struct machine *machine, const struct result *result)
{
    for (size_t k = 0; k < result->case_count; k++) {
        const struct result_case *c = &result->cases[k];
        if (!ceilings_usable(c) || strcmp(c->class, "compute") || !c->work.unit[0] || !(c->flops_per_s > 0))
            continue;
        struct machine_unit *unit = unit_named(machine, c->work.unit);
        if (!unit || c->flops_per_s <= unit->peak.measured)
            continue;
        unit->peak.measured = c->flops_per_s;
        unit->peak.ci_rel = ceilings_ci(c);
        unit->held_hz = c->core_hz > 0 ? c->core_hz : 0;
        snprintf(unit->peak.measured_by, sizeof(unit->peak.measured_by), "%s", c->id);
        claim_unit(unit, &result->device);
    }
}

enum status ceilings_find(struct machine *machine, const struct result *result, uint64_t seed, struct err *err)
{
    struct machine found = {.measured = true,
                            .cus = result->device.cus,
                            .xccs = result->device.xccs,
                            .wave = result->device.wave,
                            .max_block = result->device.max_block,
                            .lds_bytes_per_cu = (double)result->device.lds_bytes,
                            .memory_bytes = (double)result->device.memory_bytes,
                            .core_hz = result->device.core_hz};
    const enum status status = ceilings_levels(&found, result, seed, err);
    if (status)
        return status;
    snprintf(found.title, sizeof(found.title), "%s", result->device.name);
    snprintf(found.name, sizeof(found.name), "%.63s", result->device.id);
    snprintf(found.arch, sizeof(found.arch), "%s", result->device.arch);
    ceilings_units(&found, result);
    ceilings_figures(&found, result);
    if (isfinite(result->calibration.null_launch_ns)) {
        found.launch_ns = result->calibration.null_launch_ns;
        snprintf(found.launch_source, sizeof(found.launch_source), "median of single launches of launch_empty");
    }
    *machine = found;
    return STATUS_OK;
}
