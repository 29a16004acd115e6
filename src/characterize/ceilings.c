/* SPDX-License-Identifier: MIT */

#include "ceilings_internal.h"
#include "rooftile/cpu_target.h"
#include "rooftile/targets.h"

bool ceilings_usable(const struct result_case *c)
{
    return c->status == CASE_OK && c->sample_count && c->stats.median > 0 && c->verification.verdict == VERIFY_PASS;
}

double ceilings_ci(const struct result_case *c)
{
    return fmin(1, (c->stats.ci95[1] - c->stats.ci95[0]) / 2 / c->stats.median); /* 1: entirely uncertain */
}

/* ---- peaks ---- */

/* Rates as multiples of those that a device reports. A CPU with AVX512-FP16 or AVX-512 VNNI runs them on the pipes of
 * its f32 multiply-adds, with two and four times the elements. Dot products of bf16 are omitted on purpose: an Intel
 * core was measured to do them at half the rate of f32, and nothing is known about others. */
static const struct {
    const char *unit;
    double of_f32, of_f64;
} vector_rates[] = {{"vector_f32", 1, 0}, {"vector_f64", 0, 1}, {"vector_f16", 2, 0}, {"vector_i8", 4, 0}};

static double flops_per_clock(const char *unit, const struct device_info *device)
{
    /* GPUs only; RDNA drivers may count pairs of compute units. */
    if (!strcmp(unit, TRANSCENDENTAL_UNIT))
        return target_modes(device->arch).wgp ? 0 : target_facts(device->arch)->rate_transcendental;
    for (size_t k = 0; k < COUNT_OF(vector_rates); k++)
        if (!strcmp(vector_rates[k].unit, unit))
            return vector_rates[k].of_f32 * device->flops_per_clock_f32 +
                   vector_rates[k].of_f64 * device->flops_per_clock_f64;
    return 0;
}

static void find_units(struct machine *machine, const struct result *result)
{
    FOR_EACH(const struct result_case, c, result->cases, result->case_count) {
        /* A CPU's emulation of matrix instructions in loops is no peak of a matrix unit. */
        const bool worked_out = backend_is_cpu(result->device.backend) && text_starts(c->work.unit, "matrix");
        if (!ceilings_usable(c) || strcmp(c->class, "compute") || !c->work.unit[0] || !(c->flops_per_s > 0) ||
            worked_out)
            continue;
        struct machine_unit *unit = FIND_ROW(machine->units, machine->unit_count, name, c->work.unit);
        if (!unit && machine->unit_count < MACHINE_MAX_UNITS) {
            unit = &machine->units[machine->unit_count++];
            snprintf(unit->name, sizeof(unit->name), "%s", c->work.unit);
        }
        if (!unit || c->flops_per_s <= unit->peak.measured)
            continue;
        unit->peak.measured = c->flops_per_s;
        unit->peak.ci_rel = ceilings_ci(c);
        unit->held_hz = c->core_hz > 0 ? c->core_hz : 0;
        snprintf(unit->peak.measured_by, sizeof(unit->peak.measured_by), "%s", c->id);
        /* The rate of the vector units at the measured clock: a physical limit, not one of our kernel. */
        const struct device_info *device = &result->device;
        const double per_clock = flops_per_clock(unit->name, device);
        unit->clock_hz = device->core_hz;
        if (per_clock <= 0 || device->core_hz <= 0)
            continue;
        unit->peak.vendor = per_clock * device->core_hz * device->cus;
        snprintf(unit->peak.vendor_source, sizeof(unit->peak.vendor_source),
                 "derived: %u cores x %.3g FLOP per clock x %.3g GHz (measured clock)", device->cus, per_clock,
                 device->core_hz / 1e9);
    }
}

/* ---- figures that are neither levels nor peaks; one row each ---- */

/* From the calibration of the run. */
static const struct {
    const char *name, *unit;
    size_t offset; /* of a double in struct calibration; NaN and 0 mean unknown */
    const char *source;
} calibrated[] = {
    {"timer_tick", "ns", offsetof(struct calibration, timer_tick_ns), "smallest step, as the device says"},
    {"null_launch", "ns", offsetof(struct calibration, null_launch_ns), "one empty launch between two events"},
    {"null_launch_queued", "ns", offsetof(struct calibration, null_batch_ns), "one of many, back to back"},
    {"null_launch_host", "ns", offsetof(struct calibration, null_host_ns), "one, by the host's clock"},
    {"null_launch_graph", "ns", offsetof(struct calibration, null_graph_ns), "one of many in a graph"},
    {"null_kernel", "ns", offsetof(struct calibration, dispatch_null_ns), "by the device's own time stamps"},
    {"constant_counter", "Hz", offsetof(struct calibration, counter_hz), "what clock probes are set against"},
    {"reread_hot", "ns", offsetof(struct calibration, flush_reread_hot_ns), "a small buffer read again"},
    {"reread_flushed", "ns", offsetof(struct calibration, flush_reread_cold_ns), "the same after a flush"},
};

enum pick { LARGEST, SMALLEST };

/* From cases: the best value of a quantity over the cases whose id matches. */
static const struct {
    const char *name, *unit, *filter;
    const char *quantity; /* "items_per_s", "bytes_per_s", "time_ns", "ns_per_item", or a metric */
    enum pick pick;
} measured[] = {
    {"lds_read", "B/s", "lds_read/*", "items_per_s", LARGEST},
    {"lds_read_4", "B/s", "lds_read/WIDTH=4;*", "items_per_s", LARGEST}, /* a CPU splits wide accesses */
    {"lds_read_8", "B/s", "lds_read/WIDTH=8;*", "items_per_s", LARGEST},
    {"lds_read_12", "B/s", "lds_read/WIDTH=12;*", "items_per_s", LARGEST},
    {"lds_read_16", "B/s", "lds_read/WIDTH=16;*", "items_per_s", LARGEST},
    {"lds_write", "B/s", "lds_write/*", "items_per_s", LARGEST},
    {"lds_copy", "B/s", "lds_copy/*", "items_per_s", LARGEST},
    {"lds_read_per_clock_per_cu", "B/clk", "lds_read/*", "bytes_per_clock_per_cu", LARGEST},
    {"lds_write_per_clock_per_cu", "B/clk", "lds_write/*", "bytes_per_clock_per_cu", LARGEST},
    {"lds_latency", "ns", "lds_chase/*", "ns_per_item", SMALLEST},
    {"matrix_worked_out", "FLOP/s", "matrix_peak/dtype=f16;*;rounds=1;*", "flops_per_s", LARGEST}, /* CPUs only */
    {"matrix_bf16_worked_out", "FLOP/s", "matrix_peak/dtype=bf16;*;rounds=1;*", "flops_per_s", LARGEST},
    {"matrix_f32_worked_out", "FLOP/s", "matrix_peak/dtype=f32;*;rounds=1;*", "flops_per_s", LARGEST},
    {"matrix_f64_worked_out", "FLOP/s", "matrix_peak/dtype=f64;*;rounds=1;*", "flops_per_s", LARGEST},
    {"matrix_i8_worked_out", "FLOP/s", "matrix_peak/dtype=i8;*;rounds=1;*", "flops_per_s", LARGEST},
    {"matrix_fp8_worked_out", "FLOP/s", "matrix_peak_fp8/*;rounds=1;*", "flops_per_s", LARGEST},
    {"write_shared", "B/s", "stream_write_shared/*", "bytes_per_s", LARGEST}, /* all cores write the same lines */
    {"atomic_latency", "ns", "atomic_chase/*LDS=0*", "ns_per_item", SMALLEST},
    {"barrier", "ns", "barrier_cost/*", "ns_per_item", SMALLEST},
    {"grid_barrier", "ns", "grid_barrier/*", "ns_per_item", SMALLEST},
    {"launch_in_stream", "ns", "launch_arms/arm=0;*", "ns_per_item", SMALLEST},
    {"launch_waited_for", "ns", "launch_arms/arm=1;*", "ns_per_item", SMALLEST},
    {"launch_in_graph", "ns", "launch_arms/arm=2;*", "ns_per_item", SMALLEST},
    {"launch_first", "ns", "launch_first/fresh=1;*", "time_ns", SMALLEST},
    {"load_module", "ns", "load_module/*", "time_ns", SMALLEST},
    {"first_touch_of_page", "ns", "first_touch/fresh=1;*", "ns_per_item", SMALLEST},
    {"next_touch_of_page", "ns", "first_touch/fresh=0;*", "ns_per_item", SMALLEST},
    {"f32_fma_latency", "ns", "op_float/OP=fma;dtype=f32;VEC=1;CHAINS=1;*", "ns_per_item", SMALLEST},
    {"f64_fma_latency", "ns", "op_float/OP=fma;dtype=f64;VEC=1;CHAINS=1;*", "ns_per_item", SMALLEST},
};

static void add(struct machine *machine, const char *name, const char *unit, double value, double ci_rel,
                const char *source)
{
    if (!isfinite(value) || value <= 0 || machine->figure_count == MACHINE_MAX_FIGURES)
        return;
    struct machine_figure *figure = &machine->figures[machine->figure_count++];
    *figure = (struct machine_figure){.value = value, .ci_rel = ci_rel};
    snprintf(figure->name, sizeof(figure->name), "%s", name);
    snprintf(figure->unit, sizeof(figure->unit), "%s", unit);
    snprintf(figure->source, sizeof(figure->source), "%.255s", source);
}

static void find_figures(struct machine *machine, const struct result *result)
{
    for (size_t k = 0; k < COUNT_OF(measured); k++) {
        const struct result_case *best = NULL;
        double best_value = NAN;
        FOR_EACH(const struct result_case, c, result->cases, result->case_count) {
            if (!ceilings_usable(c) || !text_matches(c->id, measured[k].filter))
                continue;
            const double value = result_quantity(c, measured[k].quantity);
            if (!isfinite(value) || value <= 0 || (best && (value > best_value) != (measured[k].pick == LARGEST)))
                continue;
            best = c;
            best_value = value;
        }
        if (best)
            add(machine, measured[k].name, measured[k].unit, best_value, ceilings_ci(best), best->id);
    }
    for (size_t k = 0; k < COUNT_OF(calibrated); k++) {
        double value;
        memcpy(&value, (const char *)&result->calibration + calibrated[k].offset, sizeof(value));
        add(machine, calibrated[k].name, calibrated[k].unit, value, 0, calibrated[k].source);
    }
    add(machine, "events", "ns", result->calibration.null_launch_ns - result->calibration.null_batch_ns, 0,
        "the two null launches' difference");
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
    if (ceilings_levels(&found, result, seed, err))
        return err->status;
    snprintf(found.title, sizeof(found.title), "%s", result->device.name);
    snprintf(found.name, sizeof(found.name), "%.63s", result->device.id);
    snprintf(found.arch, sizeof(found.arch), "%s", result->device.arch);
    find_units(&found, result);
    find_figures(&found, result);
    if (isfinite(result->calibration.null_launch_ns)) {
        found.launch_ns = result->calibration.null_launch_ns;
        snprintf(found.launch_source, sizeof(found.launch_source), "median of single launches of launch_empty");
    }
    *machine = found;
    return STATUS_OK;
}
