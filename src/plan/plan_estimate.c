/* SPDX-License-Identifier: MIT
 *
 * How long a case will take: an honest order of magnitude for `plan` and for the time left, never used in a result.
 */
#include <math.h>

#include "plan_internal.h"

/* Fills and expectations run at about 1 GB/s (issue: per core), a byte per nanosecond; so do oracles per operation. */
#define FILL_BYTES_PER_NS 1.0
/* A memory whose bandwidth nobody knows: a slow laptop's. */
#define UNKNOWN_BYTES_PER_NS 10.0

/* Launches in one pass over the timed steps. */
static double count_launches(const struct bound_step *steps, size_t count, bool all)
{
    double launches = 0;
    for (size_t k = 0; k < count; k++) {
        const struct bound_step *step = &steps[k];
        if (!all && !step->timed)
            continue;
        if (step->kind == STEP_LAUNCH)
            launches += (double)step->repeat;
        else if (step->kind == STEP_GRAPH)
            launches += (double)step->repeat * count_launches(step->steps, step->step_count, true);
    }
    return launches;
}

static double fill_ns(const struct bound *bound)
{
    return (double)bound->buffer_bytes / FILL_BYTES_PER_NS;
}

static double verify_ns(const struct plan_case *plan_case)
{
    const struct manifest_check *check = &plan_case->bound.manifest->check;
    double time_ns = 0;
    switch (plan_case->verify) {
    case VERIFY_NONE:
        break;
    case VERIFY_EXPECT:
        for (size_t k = 0; k < check->expect_count; k++)
            time_ns += (double)plan_case->bound.buffers[check->expect[k].buffer].size_bytes / FILL_BYTES_PER_NS;
        break;
    case VERIFY_VARIANT:
        time_ns = fill_ns(plan_case->variant) + oracle_cost(plan_case->oracle);
        break;
    case VERIFY_ORACLE:
    case VERIFY_SAMPLED:
        time_ns = oracle_cost(plan_case->oracle);
        break;
    }
    return time_ns + plan_case->forecast_ns;
}

static double memory_rate(const struct machine *machine)
{
    if (machine->level_count == 0)
        return UNKNOWN_BYTES_PER_NS;
    const double per_second = ceiling_value(&machine->levels[machine->level_count - 1].bandwidth);
    return per_second > 0 ? per_second / 1e9 : UNKNOWN_BYTES_PER_NS;
}

/* What must happen before each sample: twice the largest cache is read and written when it has to be cold, and buffers
 * with a reset are written. */
static double before_sample_ns(const struct plan_case *plan_case, const struct machine *machine)
{
    double bytes = 0;
    if (plan_case->measure.cache == CACHE_COLD) {
        double largest = 0;
        for (uint32_t k = 0; k + 1 < machine->level_count; k++)
            largest = fmax(largest, machine->levels[k].capacity_bytes);
        bytes = 2 * 2 * largest;
    }
    double time_ns = bytes / memory_rate(machine);
    for (size_t k = 0; k < plan_case->bound.buffer_count; k++) {
        const struct bound_buffer *buffer = &plan_case->bound.buffers[k];
        if (buffer->spec->reset == RESET_ZERO)
            time_ns += (double)buffer->size_bytes / memory_rate(machine);
        else if (buffer->spec->reset == RESET_FILL)
            time_ns += (double)buffer->size_bytes / FILL_BYTES_PER_NS;
    }
    return time_ns;
}

static double measure_ns(const struct plan_case *plan_case, const struct machine *machine)
{
    const struct measure_options *measure = &plan_case->measure;
    const double launch_ns = plan_case->forecast_ns;
    const double timed_ns = fmax(measure->min_time_ns, measure->min_samples * launch_ns);
    double samples = launch_ns > 0 ? ceil(timed_ns / launch_ns) : measure->min_samples;
    samples = fmin(fmax(samples, measure->min_samples), measure->max_samples);
    const double total_ns = timed_ns + samples * before_sample_ns(plan_case, machine);
    /* The wall cap ends sampling after the launch under way. */
    return fmax(fmin(total_ns, measure->max_time_ns), launch_ns);
}

void case_estimate(struct plan_case *plan_case, const struct machine *machine)
{
    const struct measure_options *measure = &plan_case->measure;
    const struct bound *bound = &plan_case->bound;
    const double launches = fmax(1, count_launches(bound->steps, bound->step_count, false));
    plan_case->forecast_ns = plan_case->floor.time_ns + launches * machine->launch_ns;
    const double warmup_ns = fmax(fmin(measure->warmup_ns, measure->warmup_max_ns), plan_case->forecast_ns);
    plan_case->estimate_ns = fill_ns(bound) + verify_ns(plan_case) + warmup_ns + measure_ns(plan_case, machine);
}
