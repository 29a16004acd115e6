/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run_internal.h"

enum { MAX_ROOFS_RAISED = 3 };

double measurement_median(const struct measurement *measured)
{
    static double sorted[MEASUREMENT_MAX_SAMPLES];
    memcpy(sorted, measured->samples_ns, measured->sample_count * sizeof(*sorted));
    return median_of(sorted, measured->sample_count);
}

static struct ceiling *ceiling_of(struct machine *machine, const struct run_roof *roof)
{
    return roof->is_level ? &machine->levels[roof->index].bandwidth : &machine->units[roof->index].peak;
}

static const char *ceiling_name(const struct machine *machine, const struct run_roof *roof)
{
    return roof->is_level ? machine->levels[roof->index].name : machine->units[roof->index].name;
}

/* Measures the roof's own kernel again, beside the case that beat it. */
static bool raise_roof(struct worker *worker, const struct run_roof *roof, struct measurement *scratch)
{
    struct machine *machine = &worker->shared->machine;
    const struct plan_case *probe = roof->probe;
    struct ceiling *ceiling = ceiling_of(machine, roof);
    struct ready ready = {0};
    struct err err = {0};
    uint32_t rotations = 1;
    bool raised = false;
    if (unbuilt_code(&probe->bound, roof->builds))
        return false;
    if (!choose_rotations(&rotations, worker, probe, &err) &&
        !ready_init(&ready, worker->device, &probe->bound, roof->builds, rotations, worker->options->seed, &err) &&
        !ready_setup(&ready, &err) && !measure_samples(worker, &ready, probe, scratch, &err)) {
        const struct work *work = &probe->bound.work;
        const double amount = roof->is_level ? work->read_bytes + work->write_bytes : work->flops;
        const double rate = amount / measurement_median(scratch) * 1e9;
        if (rate > ceiling->measured) {
            ceiling->measured = rate;
            ceiling->raised = raised = true;
        }
    }
    ready_release(&ready);
    return raised;
}

static const struct run_roof *binding_roof(const struct worker *worker, const struct plan_case *plan_case)
{
    struct floor floor;
    floor_compute(&floor, &worker->shared->machine, &plan_case->bound.work, plan_case->measure.cache);
    for (size_t k = 0; k < worker->options->roof_count; k++)
        if (!strcmp(ceiling_name(&worker->shared->machine, &worker->options->roofs[k]), floor.ceiling_name))
            return &worker->options->roofs[k];
    return NULL;
}

static enum plausibility judge(const struct worker *worker, const struct plan_case *plan_case, struct measurement *out,
                               char why[static 256])
{
    return floor_judge(&worker->shared->machine, &plan_case->bound.work, plan_case->measure.cache,
                       measurement_median(out), worker->info.timer_tick_ns, why);
}

void flag_implausible(struct measurement *out, enum plausibility verdict, bool measured_again, const char *why)
{
    const size_t length = strlen(out->flag_reason);
    if (verdict == ABOVE_MEASURED_ROOF && measured_again && out->flags & FLAG_DISTURBED) {
        snprintf(out->flag_reason + length, sizeof(out->flag_reason) - length,
                 "; a roof measured meanwhile proves nothing: %s", why);
    } else if (verdict == IMPOSSIBLE || verdict == ABOVE_MEASURED_ROOF) {
        out->flags |= FLAG_IMPOSSIBLE;
        snprintf(out->flag_reason, sizeof(out->flag_reason), "%s%s", why,
                 measured_again ? "" : "; no case is known that could measure this roof again: run rooftile roofline");
    } else if (out->flags & FLAG_ROOF_RAISED) {
        snprintf(out->flag_reason, sizeof(out->flag_reason),
                 "beat a measured roof, which was measured again and raised");
    }
}

enum status check_plausible(struct worker *worker, struct ready *ready, const struct plan_case *plan_case,
                            struct measurement *out, struct err *err)
{
    char why[256] = "";
    enum plausibility verdict = judge(worker, plan_case, out, why);
    struct measurement *scratch = NULL;
    bool again = true;
    for (int round = 0; verdict == ABOVE_MEASURED_ROOF && round < MAX_ROOFS_RAISED; round++) {
        const struct run_roof *roof = binding_roof(worker, plan_case);
        again = roof != NULL;
        if (!again)
            break;
        if (!scratch && !(scratch = calloc(1, sizeof(*scratch))))
            arena_out_of_memory(sizeof(*scratch));
        if (raise_roof(worker, roof, scratch))
            out->flags |= FLAG_ROOF_RAISED;
        memset(out->discarded, 0, sizeof(out->discarded));
        enum status status = measure_samples(worker, ready, plan_case, out, err);
        out->remeasured++;
        if (status) {
            free(scratch);
            return status;
        }
        verdict = judge(worker, plan_case, out, why);
    }
    free(scratch);
    if (out->remeasured)
        sense_after(worker, out);
    flag_implausible(out, verdict, again, why);
    return STATUS_OK;
}
