/* SPDX-License-Identifier: MIT
 *
 * Estimates how long a case will take, for `plan` and for the remaining time; never used in a result. It adds what the
 * options request and a constant for everything else.
 */

#include "plan_internal.h"

/* Filling buffers, verifying, calibrating and sampling with another timer. This is their combined time in the shipped
 * suites on a CPU with two cores, where the mean over `quick` is 0.45 s. */
#define OVERHEAD_NS 0.4e9

/* Returns the number of launches in one pass over the timed steps. */
static double count_launches(const struct resolved_step *steps, size_t count, bool all)
{
    double launches = 0;
    FOR_EACH(const struct resolved_step, step, steps, count) {
        if (!all && !step->timed)
            continue;
        if (step->kind == STEP_LAUNCH)
            launches += (double)step->repeat;
        else if (step->kind == STEP_GRAPH || step->kind == STEP_LOOP)
            launches += (double)step->repeat * count_launches(step->steps, step->step_count, true);
    }
    return launches;
}

double plan_launches(const struct resolved *resolved)
{
    return count_launches(resolved->steps, resolved->step_count, false);
}

double case_estimate(const struct plan_case *plan_case)
{
    const struct measure_options *measure = &plan_case->measure;
    const double once_ns = plan_case->prediction ? plan_case->prediction->time_ns : 0;
    const double samples_ns = fmax(measure->min_time_ns, measure->min_samples * once_ns);
    return fmax(measure->warmup_ns, once_ns) + fmax(fmin(samples_ns, measure->max_time_ns), once_ns) + OVERHEAD_NS;
}
