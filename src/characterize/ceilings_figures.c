/* SPDX-License-Identifier: MIT
 *
 * Facts of a machine that are neither levels nor peaks. A new one is a row.
 */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "ceilings_internal.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* From the calibration of the run. */
static const struct {
    const char *name, *unit;
    size_t offset; /* of a double in struct calibration; NaN and 0: unknown */
    const char *source;
} calibrated[] = {
    {"timer_tick", "ns", offsetof(struct calibration, timer_tick_ns), "smallest step, as the device says"},
    {"null_launch", "ns", offsetof(struct calibration, null_launch_ns), "one empty launch between two marks"},
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
    {"lds_write", "B/s", "lds_write/*", "items_per_s", LARGEST},
    {"lds_copy", "B/s", "lds_copy/*", "items_per_s", LARGEST},
    {"lds_read_per_clock_per_cu", "B/clk", "lds_read/*", "bytes_per_clock_per_cu", LARGEST},
    {"lds_write_per_clock_per_cu", "B/clk", "lds_write/*", "bytes_per_clock_per_cu", LARGEST},
    {"lds_latency", "ns", "lds_chase/*", "ns_per_item", SMALLEST},
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

static void add_calibrated(struct machine *machine, const struct calibration *calibration)
{
    for (size_t k = 0; k < COUNT(calibrated); k++) {
        double value;
        memcpy(&value, (const char *)calibration + calibrated[k].offset, sizeof(value));
        add(machine, calibrated[k].name, calibrated[k].unit, value, 0, calibrated[k].source);
    }
    add(machine, "marks", "ns", calibration->null_launch_ns - calibration->null_batch_ns, 0,
        "the two null launches' difference");
}

static void add_measured(struct machine *machine, const struct result *result, size_t row)
{
    const struct result_case *best = NULL;
    double best_value = NAN;
    for (size_t k = 0; k < result->case_count; k++) {
        const struct result_case *c = &result->cases[k];
        if (!ceilings_usable(c) || !text_matches(c->id, measured[row].filter))
            continue;
        const double value = result_quantity(c, measured[row].quantity);
        if (!isfinite(value) || value <= 0 || (best && (value > best_value) != (measured[row].pick == LARGEST)))
            continue;
        best = c;
        best_value = value;
    }
    if (best)
        add(machine, measured[row].name, measured[row].unit, best_value, ceilings_ci(best), best->id);
}

void ceilings_figures(struct machine *machine, const struct result *result)
{
    for (size_t k = 0; k < COUNT(measured); k++)
        add_measured(machine, result, k);
    add_calibrated(machine, &result->calibration);
}
