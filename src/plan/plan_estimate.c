/* SPDX-License-Identifier: MIT
 *
 * How long a case will take: for `plan` and for the time left, never used in a result. Each phase of run/measure.c has
 * its term here, and `run -vv` prints what it really took beside it. The constants were fitted to the shipped suites on
 * CPUs, where most of the time is what the options ask for (warm-up, least time) and the rest what noise adds to it.
 */

#include "plan_internal.h"
#include "rooftile/cpu_target.h"
#include "rooftile/launch_fit.h"

/* ---- rates ---- */

/* Filling a fresh buffer, page faults included: patterns are copied, by every thread of a CPU device ... */
#define FILL_BYTES_PER_NS 2.0
/* ... and rings, permutations and offsets are made one after the other. */
#define SEQUENTIAL_BYTES_PER_NS 1.0
/* Random values are computed one by one. */
#define RANDOM_ELEMENT_NS 5.0
/* References are plain code: each operation and byte takes about this, and each item a handful of operations. */
#define REFERENCE_OPERATION_NS 1.0
#define REFERENCE_ITEM_NS 15.0
/* Launches that are verified, and passes over all buffers for it: on a CPU at the rate of fills, on a GPU they are read
 * back, large ones in places (run/relaunch.c). */
#define LAUNCHES 7
#define PASSES 2
#define LOOKS_SHARE 0.1 /* of the samples' time, for launches that are looked at after them */
#define READ_BACK_BYTES 0x1p27
#define READ_BACK_BYTES_PER_NS 8.0

/* A device without a machine file, per thread or compute unit: caches, then memory, in bytes per nanosecond; FLOP. */
#define UNKNOWN_CACHE_BYTES_PER_NS 50.0
#define UNKNOWN_MEMORY_BYTES_PER_NS 5.0
#define UNKNOWN_FLOP_PER_NS 100.0
#define UNKNOWN_LAUNCH_NS 1000.0
/* A dependent step: of arithmetic, and of a load by how far it goes. */
#define STEP_NS 1.0
#define UNKNOWN_NEAR_NS 5.0
#define UNKNOWN_FAR_NS 120.0
/* Work that has only items: bytes of LDS, steps of synchronisation. */
#define ITEM_NS 0.1

/* The CPU device's calibration rates before or after a case; a GPU only reads its sensors. */
#define SENSE_NS 15e6
#define GPU_SENSE_NS 1e6
/* Around each sample on a GPU: two clock probes, and waiting. */
#define GPU_SAMPLE_NS 150e3

/* Relative noise of a sample. Caches and memory that others use too are noisier on a CPU than what a core has alone. */
#define NOISE 0.015
#define SHARED_NOISE 0.04
#define GPU_NOISE 0.005
/* Its samples stop, too, when the noise is stable: after about so many (summary.h). */
#define STABLE_SAMPLES 1000.0
/* Half-width of a median's 95 % interval over n samples of noise s: 1.96 * 1.2533 s / sqrt(n). */
#define MEDIAN_INTERVAL 2.4565
/* Two windows of the warm-up must agree (sampling.c); below 10 us launches are timed in batches of 2 ms. */
#define WARM_SAMPLES 40.0
#define BATCH_BELOW_NS 10e3
#define BATCH_NS 2e6
/* The second timer of a GPU: a tenth of a second, 3 to 11 samples. */
#define CROSS_NS 100e6
#define CROSS_SAMPLES 11.0

struct rates {
    const struct machine *machine;
    bool cpu;          /* the case runs on the CPU device */
    double cus;        /* its threads, or a GPU's compute units */
    double near_bytes; /* what one of them has for itself */
};

static struct rates rates_of(const struct machine *machine, const struct device_facts *device)
{
    return (struct rates){.machine = machine,
                          .cpu = backend_is_cpu(device->backend),
                          .cus = fmax(1, device->cus),
                          .near_bytes = device->l2_bytes > 0 ? device->l2_bytes : 0x1p20};
}

/* Does a launch leave what its core or device has alone? One work-item stays on one core. */
static bool goes_far(const struct rates *rates, const struct resolved *resolved, bool single)
{
    return resolved->work.footprint_bytes > rates->near_bytes * (single || !rates->cpu ? 1 : rates->cus);
}

/* ---- one launch ---- */

/* Launches in one pass over the timed steps. */
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

/* Where nothing is predicted: a device that nobody has measured, or work that no ceiling knows. */
static double unknown_ns(const struct rates *rates, const struct resolved *resolved)
{
    const struct work *work = &resolved->work;
    const double bytes = work->read_bytes + work->write_bytes;
    const double step_ns = work->read_bytes <= 0             ? STEP_NS
                           : goes_far(rates, resolved, true) ? UNKNOWN_FAR_NS
                                                             : UNKNOWN_NEAR_NS;
    if (resolved->manifest->class == CLASS_LATENCY)
        return work->items * step_ns * (work->read_bytes > 0 ? 1 : launch_lanes(resolved, rates->cpu));
    if (bytes <= 0 && work->flops <= 0)
        return work->items * ITEM_NS / rates->cus;
    const double rate = goes_far(rates, resolved, false) ? UNKNOWN_MEMORY_BYTES_PER_NS : UNKNOWN_CACHE_BYTES_PER_NS;
    return fmax(bytes / rate / rates->cus, work->flops / UNKNOWN_FLOP_PER_NS / rates->cus);
}

/* What is predicted, or at least something. */
static double launch_ns(const struct rates *rates, const struct plan_case *plan_case)
{
    const struct resolved *resolved = &plan_case->resolved;
    const double launches = fmax(1, count_launches(resolved->steps, resolved->step_count, false));
    const double each_ns = rates->machine->launch_ns > 0 ? rates->machine->launch_ns : UNKNOWN_LAUNCH_NS;
    if (plan_case->prediction && plan_case->prediction->time_ns > 0)
        return plan_case->prediction->time_ns;
    return unknown_ns(rates, resolved) + launches * each_ns;
}

double plan_launches(const struct resolved *resolved)
{
    return count_launches(resolved->steps, resolved->step_count, false);
}

/* ---- buffers ---- */

static double generate_ns(const struct rates *rates, const struct resolved_buffer *buffer)
{
    const double threads = rates->cpu ? rates->cus : 1;
    const double copy_ns = (double)buffer->size_bytes / FILL_BYTES_PER_NS / threads;
    switch (buffer->spec->fill.kind) {
    case FILL_RING:
    case FILL_PERMUTATION:
    case FILL_OFFSETS:
    case FILL_FILE:
        return (double)buffer->size_bytes / SEQUENTIAL_BYTES_PER_NS;
    case FILL_UNIFORM:
    case FILL_NORMAL:
    case FILL_INDEX:
        return fmax(copy_ns, (double)buffer->count * RANDOM_ELEMENT_NS / threads);
    default:
        return copy_ns;
    }
}

/* Every buffer once. */
static double all_buffers_ns(const struct rates *rates, const struct resolved *resolved)
{
    double time_ns = 0;
    for (size_t k = 0; k < resolved->buffer_count; k++)
        time_ns += generate_ns(rates, &resolved->buffers[k]);
    return time_ns;
}

/* Before it is timed, whatever a launch writes is restored. */
static double fill_ns(const struct rates *rates, const struct resolved *resolved)
{
    double time_ns = all_buffers_ns(rates, resolved);
    for (size_t k = 0; k < resolved->buffer_count; k++)
        if (resolved->buffers[k].spec->role != ROLE_IN)
            time_ns += generate_ns(rates, &resolved->buffers[k]);
    return time_ns;
}

/* ---- verification ---- */

/* Its buffers are filled as its own manifest says, and then with what ours hold. */
double reference_ns(const struct plan_reference *reference, const struct resolved *ours,
                    const struct device_facts *device)
{
    const struct rates own = rates_of(NULL, device), cpu = {.cpu = true, .cus = own.cpu ? own.cus : 1};
    double time_ns = reference_cost(reference) * REFERENCE_OPERATION_NS +
                     reference->resolved.work.items * REFERENCE_ITEM_NS + all_buffers_ns(&cpu, &reference->resolved);
    for (size_t k = 0; k < reference->resolved.buffer_count; k++)
        if (reference->source[k] >= 0)
            time_ns += (double)ours->buffers[reference->source[k]].size_bytes / FILL_BYTES_PER_NS / cpu.cus;
    return time_ns;
}

/* The first launch and those that are set against it, two before the samples and four after them; between them outputs
 * are filled and hashed, around them inputs are hashed. */
static double launches_ns(const struct rates *rates, const struct resolved *resolved, double launch)
{
    double bytes = 0;
    for (size_t k = 0; k < resolved->buffer_count && !rates->cpu; k++)
        bytes += fmin((double)resolved->buffers[k].size_bytes, READ_BACK_BYTES);
    const double pass_ns =
        rates->cpu ? (double)resolved->buffer_bytes / FILL_BYTES_PER_NS / rates->cus : bytes / READ_BACK_BYTES_PER_NS;
    return LAUNCHES * launch + PASSES * pass_ns;
}

/* Every expected output once. */
static double expectations_ns(const struct resolved *resolved)
{
    const struct manifest_check *check = &resolved->manifest->check;
    double time_ns = 0;
    for (size_t k = 0; k < check->expect_count; k++)
        time_ns += (double)resolved->buffers[check->expect[k].buffer].size_bytes / FILL_BYTES_PER_NS;
    return time_ns;
}

/* The last launch, on other inputs, where some are drawn: all are filled and its outputs compared (check_other_inputs
 * in run/relaunch.c). */
static double other_inputs_ns(const struct rates *rates, const struct plan_case *plan_case, double launch)
{
    const struct resolved *resolved = &plan_case->resolved;
    const struct plan_reference *reference = plan_case->variant ? plan_case->spot : plan_case->reference;
    double time_ns = launch + expectations_ns(resolved) + (reference ? reference->takes_ns : 0);
    bool drawn = false;
    for (size_t k = 0; k < resolved->buffer_count; k++) {
        const struct manifest_buffer *spec = resolved->buffers[k].spec;
        if (spec->role != ROLE_IN)
            continue;
        drawn |= spec->fill.kind == FILL_UNIFORM || spec->fill.kind == FILL_NORMAL;
        time_ns += generate_ns(rates, &resolved->buffers[k]);
    }
    return drawn ? time_ns : 0;
}

static double verify_ns(const struct rates *rates, const struct plan_case *plan_case, double launch)
{
    const struct resolved *resolved = plan_case->variant ? plan_case->variant : &plan_case->resolved;
    double time_ns = launches_ns(rates, &plan_case->resolved, launch) + other_inputs_ns(rates, plan_case, launch);
    if (plan_case->verify == VERIFY_NONE)
        return 0;
    if (plan_case->verify == VERIFY_VARIANT)
        time_ns += all_buffers_ns(rates, resolved);
    if (plan_case->spot)
        time_ns += plan_case->spot->takes_ns;
    time_ns += LOOKS_SHARE * plan_case->takes.measure_ns;
    return time_ns + (plan_case->reference ? plan_case->reference->takes_ns : expectations_ns(resolved));
}

/* ---- samples ---- */

static double memory_rate(const struct rates *rates)
{
    const struct machine *machine = rates->machine;
    const double unknown = UNKNOWN_MEMORY_BYTES_PER_NS * rates->cus;
    if (machine->level_count == 0)
        return unknown;
    const double per_second = ceiling_value(&machine->levels[machine->level_count - 1].bandwidth);
    return per_second > 0 ? per_second / 1e9 : unknown;
}

/* What must happen before each sample: twice the largest cache is read and written when it has to be cold, and buffers
 * with a reset are written. */
static double before_sample_ns(const struct rates *rates, const struct plan_case *plan_case)
{
    double bytes = 0;
    if (plan_case->measure.cache == CACHE_COLD) {
        double largest = 0;
        for (uint32_t k = 0; k + 1 < rates->machine->level_count; k++)
            largest = fmax(largest, rates->machine->levels[k].capacity_bytes);
        bytes = 2 * 2 * largest;
    }
    double time_ns = bytes / memory_rate(rates);
    FOR_EACH(const struct resolved_buffer, buffer, plan_case->resolved.buffers, plan_case->resolved.buffer_count) {
        if (buffer->spec->reset == RESET_ZERO)
            time_ns += (double)buffer->size_bytes / memory_rate(rates);
        else if (buffer->spec->reset == RESET_FILL)
            time_ns += generate_ns(rates, buffer);
    }
    return time_ns + (rates->cpu ? 0 : GPU_SAMPLE_NS);
}

/* Samples until the median is known to the precision, or its noise is stable. */
static double samples_for(const struct rates *rates, const struct plan_case *plan_case)
{
    const struct measure_options *measure = &plan_case->measure;
    const struct resolved_launch *launch = launch_first_timed(&plan_case->resolved);
    const bool single = launch && launch_lanes(&plan_case->resolved, rates->cpu) == 1 && launch->grid[0] == 1;
    const double alone = rates->cpu ? NOISE : GPU_NOISE;
    const double noise = rates->cpu && goes_far(rates, &plan_case->resolved, single) ? SHARED_NOISE : alone;
    const double interval = MEDIAN_INTERVAL * noise / fmax(measure->precision, 1e-6);
    return fmin(fmax(interval * interval, measure->min_samples), fmin(STABLE_SAMPLES, measure->max_samples));
}

/* Sets warm-up and samples; a cap ends either after the launch under way. */
static void sample_times(struct plan_takes *takes, const struct rates *rates, const struct plan_case *plan_case,
                         double launch)
{
    const struct measure_options *measure = &plan_case->measure;
    const bool batched = launch < BATCH_BELOW_NS && measure->cache != CACHE_COLD;
    const double sample_ns = batched ? BATCH_NS : launch, before_ns = before_sample_ns(rates, plan_case);
    const double samples = fmin(fmax(samples_for(rates, plan_case), ceil(measure->min_time_ns / sample_ns)),
                                fmax(measure->max_samples, 1));
    takes->measure_ns = fmax(fmin(samples * (sample_ns + before_ns), measure->max_time_ns), sample_ns + before_ns);
    if (!rates->cpu)
        takes->measure_ns += fmin(CROSS_SAMPLES * fmax(launch, BATCH_NS), CROSS_NS);
    takes->warmup_ns = fmax(measure->warmup_ns, WARM_SAMPLES * (sample_ns + before_ns));
    takes->warmup_ns = fmax(fmin(takes->warmup_ns, measure->warmup_max_ns), launch + before_ns);
}

void case_estimate(struct plan_case *plan_case, const struct machine *machine, const struct device_facts *device)
{
    const struct rates rates = rates_of(machine, device);
    const struct resolved *resolved = &plan_case->resolved;
    struct plan_takes *takes = &plan_case->takes;
    const double launch = launch_ns(&rates, plan_case);
    takes->fill_ns = fill_ns(&rates, resolved);
    takes->sense_ns = plan_case->measure.calibrates ? 2 * (rates.cpu ? SENSE_NS : GPU_SENSE_NS) : 0;
    sample_times(takes, &rates, plan_case, launch);
    takes->verify_ns = verify_ns(&rates, plan_case, launch);
    plan_case->estimate_ns = takes->fill_ns + takes->verify_ns + takes->sense_ns + takes->warmup_ns + takes->measure_ns;
}
