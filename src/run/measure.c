/* SPDX-License-Identifier: MIT */
#include <fenv.h>
#include <sys/wait.h>

#include "rooftile/clock.h"
#include "run_internal.h"

static const double launch_bound_above = 0.05;
/* Maximum clock change within a sample. In clock traces that others recorded, 99 % of neighbouring readings of a steady
 * MI350X differ by less. */
static const double unsteady_above = 0.0078;
enum { RECOVER_NS = 50000000, TOGETHER_NS = 500000000 };

_Static_assert(PHASE_MEASURING - PHASE_FILLING == (int)SPENT_MEASURING && (int)SPENT_COUNT == SPENT_MEASURING + 1,
               "one order");

/* Begins a phase and adds the elapsed time to the previous one. */
static void enter(struct worker *worker, enum run_phase phase, struct measurement *out)
{
    const uint64_t now_ns = clock_now_ns();
    worker_alone(worker);
    const int ended = atomic_exchange(&worker->shared->phase, (int)phase);
    if (ended >= PHASE_FILLING)
        out->spent_ns[ended - PHASE_FILLING] += (double)(now_ns - worker->phase_since_ns);
    worker->phase_since_ns = now_ns;
}

/* ---- the sampling loop ---- */

static bool accept(struct measurement *out, const struct sample *sample, double settled_core_hz)
{
    if (!(sample->time_ns > 0)) {
        out->discarded[sample->time_ns < 0 ? DISCARD_NEGATIVE : DISCARD_ZERO]++;
        return false;
    }
    if (settled_core_hz > 0 && sample->hz < SLOW_BELOW * settled_core_hz) {
        out->discarded[DISCARD_CLOCK]++;
        return false;
    }
    out->sample_hz[out->sample_count] = (float)sample->hz;
    out->samples_ns[out->sample_count++] = sample->time_ns;
    /* Each sample has its own clock; the first and last readings represent the case. */
    if (!(out->core_hz_before > 0))
        out->core_hz_before = sample->hz_before;
    if (sample->hz_after > 0)
        out->core_hz_after = sample->hz_after;
    if (sample->hz > 0) {
        out->has_sample_hz = true;
        out->clock_unsteady += fabs(sample->hz_after / sample->hz_before - 1) > unsteady_above;
    }
    return true;
}

static enum status sample_until_stop(struct worker *worker, struct sampling *sampling,
                                     const struct measure_options *options, struct measurement *out, struct err *err)
{
    static double sorted[MEASUREMENT_MAX_SAMPLES];
    /* Devices that measure together do so for equally long, since one that ended early would no longer load the
     * others. */
    const bool together = worker->options->together.shared != NULL;
    const double min_time_ns =
        together ? fmin(options->max_time_ns, fmax(options->min_time_ns, TOGETHER_NS)) : options->min_time_ns;
    struct stop_rule rule = {.min_time_ns = min_time_ns,
                             .max_time_ns = together ? min_time_ns : options->max_time_ns,
                             .precision = options->precision,
                             .min_samples = options->min_samples,
                             .max_samples = options->max_samples};
    stop_init(&rule, sorted, MEASUREMENT_MAX_SAMPLES);
    const double start_ns = lockstep_now_ns(sampling);
    uint32_t rejected = 0;
    while (out->stop == STOP_NONE) {
        struct sample sample;
        if (sampling_take(sampling, &sample, err))
            return err->status;
        const uint32_t slow = out->discarded[DISCARD_CLOCK];
        if (accept(out, &sample, sampling->settled_core_hz))
            stop_add(&rule, sample.time_ns, sample.time_ns * sampling->batch);
        else if (++rejected >= MEASUREMENT_MAX_SAMPLES)
            break;
        if (out->discarded[DISCARD_CLOCK] > slow) /* more slow samples would follow while the device cools down */
            clock_sleep_ns(RECOVER_NS);
        atomic_store_explicit(&worker->shared->samples, out->sample_count, memory_order_relaxed);
        out->stop = stop_check(&rule, lockstep_now_ns(sampling) - start_ns);
    }
    const uint32_t slow = out->discarded[DISCARD_CLOCK], bad = rejected - slow, all = rejected + out->sample_count;
    if (bad <= MAX_REJECTED * all && out->sample_count)
        return STATUS_OK;
    out->status = CASE_FAILED;
    return err_set(err, ERR_DEVICE,
                   "%u of %u samples rejected (%u zero, %u negative, %u below %.0f %% of the clock), %s", rejected, all,
                   out->discarded[DISCARD_ZERO], out->discarded[DISCARD_NEGATIVE], slow, SLOW_BELOW * 100,
                   out->sample_count ? "over 5 %" : "all of them");
}

static void note_sampling(struct measurement *out, const struct sampling *sampling, const struct ready *ready)
{
    const bool queued = sampling->timer != TIMED_DISPATCH && sampling->timer != TIMED_HOST;
    out->batch = sampling->batch;
    out->timer = sampling->timer;
    out->flush_bytes = sampling->cache == CACHE_COLD     ? sampling->flush_bytes
                       : sampling->cache == CACHE_ROTATE ? ready->resolved->buffer_bytes * ready->rotations
                                                         : 0;
    snprintf(out->flush_method, sizeof(out->flush_method), "%s",
             sampling->cache == CACHE_ROTATE ? "rotate" : cold_method(sampling));
    out->has_sample_hz = false;
    out->clock_unsteady = 0;
    out->core_hz_before = out->core_hz_after = NAN;
    out->blocking_start = false;
    out->blocking_reason[0] = '\0';
    if (ready->device->ops->asynchronous && queued) {
        out->blocking_start = sampling->blocking;
        snprintf(out->blocking_reason, sizeof(out->blocking_reason), "%s", sampling->blocking_why);
    }
}

/* Verification and metrics need outputs of the original inputs. */
static enum status launch_on_known(struct ready *ready, struct err *err)
{
    enum status status = STATUS_OK;
    if (!COUNT_WHERE(b, ready->buffers, ready->resolved->buffer_count, b->stirred))
        return STATUS_OK;
    if (inputs_restore(ready, err) || ready_reset(ready, 0, err))
        return err->status;
    for (uint32_t rotation = 0; rotation < ready->rotations && !status; rotation++)
        status = ready_run(ready, rotation, EVENTS_NONE, err);
    return status ? status : ready->device->ops->wait(ready->device, err);
}

enum status measure_samples(struct worker *worker, struct ready *ready, const struct plan_case *plan_case,
                            struct measurement *out, struct err *err)
{
    const struct measure_options *options = &plan_case->measure;
    struct sampling sampling;
    out->sample_count = 0;
    out->stop = STOP_NONE;
    out->warmup_ns = 0;
    enter(worker, PHASE_WARMING, out);
    enum status status = sampling_init(&sampling, worker, ready, options->cache, err);
    if (status)
        goto out;
    status = sampling_warm_up(&sampling, options, out, err);
    if (status)
        goto out;
    note_sampling(out, &sampling, ready);
    enter(worker, PHASE_MEASURING, out);
    status = sample_until_stop(worker, &sampling, options, out, err);
    /* Facts that are known only after the last sample. */
    out->blocking_start = out->blocking_start && sampling.blocking;
    if (!out->blocking_start && sampling.ready->device->ops->asynchronous && !out->blocking_reason[0])
        snprintf(out->blocking_reason, sizeof(out->blocking_reason), "%s", sampling.blocking_why);
    snprintf(out->clock_reason, sizeof(out->clock_reason), "%s", out->has_sample_hz ? "" : sampling.probe_why);
    if (!status)
        status = sampling_cross(&sampling, out, err);
    if (!status)
        status = sampling_remembers(&sampling, out, err);
    if (!status)
        status = launch_on_known(ready, err);
out:
    enter(worker, PHASE_JUDGING, out);
    sampling_release(&sampling);
    return status;
}

/* ---- around the samples ---- */

static void sense(struct worker *worker, struct device_sense *sensed, struct measurement *out)
{
    struct err ignored = {0};
    enter(worker, PHASE_SENSING, out);
    *sensed = device_sense_unknown;
    if (worker->device->ops->sense)
        (void)worker->device->ops->sense(worker->device, sensed, &ignored);
    worker->shared->fastest_hz = fmax(worker->shared->fastest_hz, sensed->core_hz); /* fmax ignores NaN */
    enter(worker, PHASE_JUDGING, out);
}

void sense_after(struct worker *worker, struct measurement *out)
{
    sense(worker, &out->after, out);
    flag_interference(out);
}

/* Chooses the number of copies of all buffers, so that a launch finds none of its own in any cache. */
enum status choose_rotations(uint32_t *rotations, const struct worker *worker, const struct plan_case *plan_case,
                             struct err *err)
{
    *rotations = 1;
    if (plan_case->measure.cache != CACHE_ROTATE || !plan_case->resolved.buffer_bytes)
        return STATUS_OK;
    const uint64_t bytes = plan_case->resolved.buffer_bytes, want_bytes = flush_size(worker);
    const uint64_t want = want_bytes / bytes + 1;
    if (want > RUN_MAX_ROTATIONS)
        return err_set(
            err, ERR_UNSUPPORTED,
            "%d copies of %llu bytes do not exceed twice the largest cache (%llu bytes): use cache mode cold",
            RUN_MAX_ROTATIONS, (unsigned long long)bytes, (unsigned long long)want_bytes);
    *rotations = want < 2 ? 2 : (uint32_t)want;
    return STATUS_OK;
}

/* Returns the time of the null kernel under the case's own timer. */
static double overhead_of(const struct worker *worker, enum timer timer, uint32_t batch)
{
    const struct calibration *known = &worker->shared->calibration;
    switch (timer) {
    case TIMED_BATCH:
        return known->null_batch_ns;
    case TIMED_DISPATCH:
        return known->dispatch_null_ns;
    case TIMED_GRAPH:
        return known->null_graph_ns;
    case TIMED_HOST:
        return worker->device->ops->asynchronous ? known->null_host_ns : known->null_launch_ns;
    default:
        return batch > 1 ? known->null_batch_ns : known->null_launch_ns;
    }
}

/* ---- profiling ---- */

static enum status begin_range(struct worker *worker, const char *name, struct measurement *out)
{
    const struct device_ops *ops = worker->device->ops;
    struct err err = {0};
    const enum status status = ops->range ? ops->range(worker->device, name, &err)
                                          : err_set(&err, ERR_UNSUPPORTED, "device %s has none", worker->info.backend);
    if (status)
        snprintf(out->profile_note, sizeof(out->profile_note), "%s", err.text);
    return status;
}

static void end_range(struct worker *worker)
{
    struct err ignored = {0};
    if (worker->device->ops->range)
        (void)worker->device->ops->range(worker->device, NULL, &ignored);
}

/* Runs all steps once inside a named range. */
static enum status run_in_range(struct worker *worker, struct ready *ready, const char *range, struct measurement *out,
                                struct err *err)
{
    const bool ranged = !begin_range(worker, range, out);
    enum status status = ready_reset(ready, 0, err);
    if (!status)
        status = ready_run(ready, 0, EVENTS_AROUND, err);
    if (!status)
        status = worker->device->ops->wait(worker->device, err);
    if (ranged)
        end_range(worker);
    return status;
}

/* Implements --profile: runs the case only twice, once warm and once timed, each in a named range; flagged as no
 * measurement. */
static enum status profile_case(struct worker *worker, struct ready *ready, const struct plan_case *plan_case,
                                struct measurement *out, struct err *err)
{
    const struct device_ops *ops = worker->device->ops;
    double time_ns = 0;
    out->flags |= FLAG_PROFILED;
    out->verification.verdict = VERIFY_SKIPPED;
    snprintf(out->verification.reason, sizeof(out->verification.reason), "nothing is verified under --profile");
    const bool ranged = !begin_range(worker, plan_case->id, out);
    enum status status = run_in_range(worker, ready, "warm", out, err);
    if (!status)
        status = run_in_range(worker, ready, "timed", out, err);
    if (ranged)
        end_range(worker);
    if (!status)
        status = ops->elapsed(&time_ns, worker->device, 0, 1, err);
    if (status)
        return status;
    out->batch = 1;
    out->timer = ops->host_visible ? TIMED_HOST : TIMED_EVENT;
    if (time_ns > 0)
        out->samples_ns[out->sample_count++] = time_ns;
    out->stop = STOP_MAX_SAMPLES;
    return STATUS_OK;
}

/* ---- the whole case ---- */

static enum status time_case(struct worker *worker, struct ready *ready, const struct plan_case *plan_case,
                             const struct build_result *builds, struct measurement *out, struct err *err)
{
    enter(worker, PHASE_FILLING, out);
    if (ready_restore(ready, err) || ready_setup(ready, err))
        return err->status;
    out->before = out->after = device_sense_unknown;
    if (plan_case->measure.calibrates)
        sense(worker, &out->before, out);
    if (worker->options->together.shared)
        run_together_case(&worker->options->together, plan_case);
    if (measure_samples(worker, ready, plan_case, out, err))
        return err->status;
    if (plan_case->measure.calibrates)
        sense_after(worker, out);
    machine_raise_clock(&worker->shared->machine, fmax(worker->info.core_hz, worker->shared->fastest_hz));
    flag_throttling(out);
    flag_slow_clock(out);
    if (take_metrics(ready, out, err))
        return err->status;
    enum status status =
        worker->device->ops->executes ? check_plausible(worker, ready, plan_case, out, err) : STATUS_OK;
    out->overhead_ns = overhead_of(worker, out->timer, out->batch);
    out->timer_tick_ns = worker->info.timer_tick_ns;
    if (ready->fibers)
        out->flags |= FLAG_FIBERS;
    if (!status && out->sample_count && out->overhead_ns > launch_bound_above * measurement_median(out))
        out->flags |= FLAG_LAUNCH_BOUND;
    if (status)
        return status;
    enter(worker, PHASE_VERIFYING, out);
    return verify_again(worker, ready, plan_case, builds, &out->verification, err);
}

static enum status run_stages(struct worker *worker, const struct plan_case *plan_case,
                              const struct build_result *builds, bool verify_only, struct measurement *out,
                              struct err *err)
{
    struct ready ready = {0};
    uint32_t rotations = 1;
    const bool profile = worker->options->profile;
    if (worker->info.predicted && !verify_only) { /* nothing runs: the prediction is the only time */
        const struct predicted *p = plan_case->prediction;
        if (!p || !(p->time_ns > 0))
            return err_set(err, ERR_UNSUPPORTED, "not predicted: %s",
                           p && p->note_count ? p->notes[0] : "nothing of it is known on this machine");
        out->timer = TIMED_SIM;
        out->warmup_ns = NAN;
        out->status = CASE_OK;
        return STATUS_OK;
    }
    enter(worker, PHASE_FILLING, out);
    enum status status = verify_only || profile ? STATUS_OK : choose_rotations(&rotations, worker, plan_case, err);
    if (!status)
        status =
            ready_init(&ready, worker->device, &plan_case->resolved, builds, rotations, worker->options->seed, err);
    if (!status)
        status = lockstep_begin(worker, &ready, plan_case, err);
    if (!status)
        status = ready_setup(&ready, err);
    if (!status) {
        enter(worker, profile ? PHASE_MEASURING : PHASE_VERIFYING, out);
        status = profile ? profile_case(worker, &ready, plan_case, out, err)
                         : verify_case(worker, &ready, plan_case, builds, &out->verification, err);
    }
    if (!status && out->verification.verdict != VERIFY_FAIL && !verify_only && !profile)
        status = time_case(worker, &ready, plan_case, builds, out, err);
    if (!status)
        out->status = CASE_OK;
    if (!status && out->verification.verdict == VERIFY_FAIL) {
        out->status = CASE_FAILED;
        out->sample_count = 0; /* the time of a wrong result is discarded */
        snprintf(out->reason, sizeof(out->reason), "wrong result: %s", out->verification.reason);
    }
    enter(worker, PHASE_FILLING, out);
    _Static_assert(sizeof(out->library) == sizeof(ready.library), "what a library says");
    memcpy(out->library, ready.library, sizeof(out->library));
    memcpy(out->library_sha256, ready.library_sha256, sizeof(out->library_sha256));
    ready_release(&ready);
    enter(worker, PHASE_IDLE, out);
    return status;
}

/* ---- restoring the state that kernels change on the host ---- */

static void reset_arithmetic(UNUSED void *context, UNUSED uint32_t part, UNUSED uint32_t parts)
{
    fesetenv(FE_DFL_ENV);
}

void measure_case(struct worker *worker, const struct plan_case *plan_case, const struct build_result *builds,
                  bool verify_only)
{
    struct measurement *out = &worker->shared->measured;
    const uint64_t start_ns = clock_now_ns();
    struct err err = {0};
    out->cache = plan_case->measure.cache;
    enum status status = run_stages(worker, plan_case, builds, verify_only, out, &err);
    if (status) {
        if (out->status != CASE_FAILED)
            out->status = status == ERR_UNSUPPORTED ? CASE_SKIPPED : CASE_ERROR;
        snprintf(out->reason, sizeof(out->reason), "%s", err.text);
        worker->shared->device_lost = status == ERR_DEVICE_LOST;
    }
    /* A kernel on the CPU device may have set another rounding, flushed denormals to zero or enabled traps; the next
     * one must not inherit that. If a kernel forked, two processes run and the measurement is invalid. */
    const struct device_ops *ops = worker->device->ops;
    if (ops->parallel)
        ops->parallel(worker->device, reset_arithmetic, NULL);
    if (ops->host_visible && waitpid(-1, NULL, WNOHANG) != -1) {
        out->verification = (struct verification){0};
        out->sample_count = 0;
        out->status = CASE_ERROR;
        snprintf(out->reason, sizeof(out->reason), "the kernel started a process");
        worker->shared->device_lost = true;
    }
    out->flags |= worker->info.emulated[0] ? FLAG_EMULATED : 0;
    /* On sim only virtual time counts, so that results are identical byte for byte. */
    out->wall_ns = worker->info.predicted ? NAN : (double)(clock_now_ns() - start_ns);
}
