/* SPDX-License-Identifier: MIT */
#include "run_internal.h"

#include "rooftile/clock.h"
#include "rooftile/units.h"

/* A single launch shorter than this is too short against the clock's resolution and launch overhead, so launches are
 * timed in batches. */
static const double batch_below_ns = 10e3;
/* Target duration of a batch: long against the clock's resolution, short against changes of the machine's state. */
static const double batch_target_ns = 2e6;
static const double batch_most_ns = 50e6;
static const double warm_tolerance = 0.005; /* between the medians of two windows */
static const double cross_target_ns = 100e6;
static const double stir_share = 0.01; /* of the sampling time may be spent changing inputs */
/* A kernel remembers results if its time on changed inputs exceeds this multiple of its time on known ones, plus a
 * slack. */
static const double remembers_above = 1.5, queued_ns = 20e3, unqueued_ns = 2e3;
/* Launches per look, and looks. A case with fewer than REMEMBER_LEAST launches is so slow that more would take too
 * long. */
enum { REMEMBER_ROUNDS = 5, REMEMBER_LOOKS = 5, REMEMBER_FIRST = 3, REMEMBER_LEAST = 50 };
/* Launches that wait for other processes take microseconds each, so this many are long against the clock's
 * resolution. */
enum { MAX_LOCKSTEP = 100 };
enum { MAX_BATCH = 100000, WARM_WINDOW = 20, ESTIMATES = 5, CROSS_LEAST = 3, CROSS_MOST = 11 };

enum status sampling_init(struct sampling *sampling, struct worker *worker, struct ready *ready, enum cache_mode cache,
                          struct err *err)
{
    const struct device_ops *ops = ready->device->ops;
    *sampling = (struct sampling){.worker = worker, .ready = ready, .cache = cache, .batch = 1};
    sampling->timer = worker->info.predicted ? TIMED_SIM : ops->asynchronous ? TIMED_EVENT : TIMED_HOST;
    sampling->no_dispatch = !ready->resolved->timing.one_launch || !ops->launch_with_events || !ops->asynchronous;
    sampling->probe = service_ready(worker, SERVICE_CLOCK, sampling->probe_why);
    sampling->stir_every = 1;
    return inputs_choose(ready, worker->options->sample_seed, err) ? err->status : cold_init(sampling, err);
}

static void drop_graph(struct sampling *sampling)
{
    if (sampling->graph)
        sampling->ready->device->ops->graph_free(sampling->ready->device, sampling->graph);
    sampling->graph = NULL;
}

void sampling_release(struct sampling *sampling)
{
    drop_graph(sampling);
    if (sampling->flush)
        sampling->ready->device->ops->free(sampling->ready->device, sampling->flush);
    sampling->flush = NULL;
}

/* ---- one sample ---- */

enum status elapsed_of(double *time_ns, struct device *device, bool own, struct err *err)
{
    return device->ops->elapsed(time_ns, device, own ? EVENT_KERNEL_BEGIN : EVENT_BEGIN,
                                own ? EVENT_KERNEL_END : EVENT_END, err);
}

static enum status run_next(struct sampling *sampling, enum run_events events, struct err *err)
{
    struct ready *ready = sampling->ready;
    enum status status = ready_run(ready, sampling->rotation, events, err);
    if (++sampling->rotation >= ready->rotations)
        sampling->rotation = 0;
    return status;
}

static bool host_timed(const struct sampling *sampling)
{
    return sampling->timer == TIMED_HOST && sampling->ready->device->ops->asynchronous;
}

static enum status run_timed(double *host_ns, struct sampling *sampling, struct err *err)
{
    struct ready *ready = sampling->ready;
    if (host_timed(sampling)) {
        enum status status = run_next(sampling, EVENTS_HOST, err);
        *host_ns = ready->host_ns;
        return status;
    }
    if (sampling->timer == TIMED_DISPATCH)
        return run_next(sampling, EVENTS_KERNEL, err);
    const bool graph = sampling->timer == TIMED_GRAPH;
    if (!graph && !ready->resolved->timing.all_timed)
        return run_next(sampling, EVENTS_AROUND, err);
    enum status status = ready->device->ops->event(ready->device, EVENT_BEGIN, 0, err);
    if (!status && graph)
        status = ready->device->ops->graph_launch(ready->device, sampling->graph, 0, err);
    ready->runs += graph ? sampling->batch / ready->rotations : 0;
    for (uint32_t k = 0; k < sampling->batch && !graph && !status; k++)
        status = run_next(sampling, EVENTS_NONE, err);
    return status ? status : ready->device->ops->event(ready->device, EVENT_END, 0, err);
}

/* With a blocking kernel, the whole sample is queued before any of it runs. So neither the clock probe nor the first
 * launch measures a device that waits for the host. */
static enum status queue_sample(double *host_ns, struct sampling *sampling, struct err *err)
{
    struct worker *worker = sampling->worker;
    if (sampling->blocking)
        sampling->blocking = blocking_begin(worker, sampling->blocking_why);
    if (sampling->probe)
        probe_queue(worker, PROBE_BEFORE);
    enum status status = run_timed(host_ns, sampling, err);
    if (sampling->probe && !status)
        probe_queue(worker, PROBE_AFTER);
    blocking_release(worker);
    if (!status)
        status = sampling->ready->device->ops->wait(sampling->ready->device, err);
    if (sampling->blocking && !status)
        sampling->blocking = blocking_was_released(worker, sampling->blocking_why);
    return status;
}

enum status sampling_take(struct sampling *sampling, struct sample *sample, struct err *err)
{
    struct ready *ready = sampling->ready;
    double time_ns = 0;
    const bool stirs = sampling->stir_every && sampling->taken % sampling->stir_every == 0;
    *sample = (struct sample){.hz_before = NAN, .hz_after = NAN, .hz = NAN};
    bool failed =
        (ready->needs_reset &&
         (ready_reset(ready, sampling->rotation, err) || ready->device->ops->wait(ready->device, err))) ||
        (stirs && inputs_stir(ready, sampling->rotation, err)) || cold_make(sampling, err) ||
        queue_sample(&time_ns, sampling, err) ||
        (!host_timed(sampling) && elapsed_of(&time_ns, ready->device, sampling->timer == TIMED_DISPATCH, err));
    sample->time_ns = failed ? 0 : time_ns / sampling->batch;
    failed = failed || lockstep_sample(sampling, &sample->time_ns, err);
    if (!failed && sampling->probe) {
        sample->hz_before = probe_read(sampling->worker, PROBE_BEFORE, sampling->probe_why);
        sample->hz_after = probe_read(sampling->worker, PROBE_AFTER, sampling->probe_why);
        sample->hz = (sample->hz_before + sample->hz_after) / 2;
    }
    worker_alone(sampling->worker);
    sampling->taken++;
    return failed ? err->status : STATUS_OK;
}

enum status sampling_median(double *time_ns, struct sampling *sampling, uint32_t skip, uint32_t count, struct err *err)
{
    double times[SAMPLING_MEDIAN_MOST];
    struct sample sample;
    for (uint32_t k = 0; k < skip + count; k++) {
        if (sampling_take(sampling, &sample, err))
            return err->status;
        if (k >= skip)
            times[k - skip] = sample.time_ns;
    }
    *time_ns = median_of(times, count);
    return STATUS_OK;
}

/* ---- which timer ---- */

/* Whether launches may follow each other without work in between. */
static bool sampling_may_batch(const struct sampling *sampling)
{
    return sampling->ready->resolved->timing.all_timed && !sampling->ready->needs_reset &&
           !sampling->ready->resolved->timing.reloads && sampling->cache != CACHE_COLD;
}

static enum status fill_graph(struct sampling *sampling, struct err *err)
{
    struct ready *ready = sampling->ready;
    const size_t count = ready->rotations * ready->resolved->step_count;
    const uint32_t rounds = sampling->batch / ready->rotations;
    if (!ready->device->ops->graph_make)
        return err_set(err, ERR_UNSUPPORTED, "timer graph: the %s device has no graphs", ready->device->ops->name);
    if (!ready->resolved->timing.all_timed || !ready->resolved->timing.stream_launches)
        return err_set(err, ERR_UNSUPPORTED, "timer graph: the case is more than launches on one stream");
    /* Every copy of the buffers must be used equally often. */
    sampling->batch = (rounds ? rounds : 1) * ready->rotations;
    drop_graph(sampling);
    enum status status = make_graph(&sampling->graph, ready, ready->steps, count, rounds ? rounds : 1, err);
    return status ? err_within(err, "timer graph") : STATUS_OK;
}

/* The timer for devices that do not queue launches. They use events throughout; a batch differs only in its length. */
static enum timer unqueued_timer(const struct sampling *sampling, uint32_t batch)
{
    return sampling->worker->info.predicted ? TIMED_SIM : batch > 1 ? TIMED_BATCH : TIMED_HOST;
}

/* Launches without the blocking kernel if the batch does not fit behind it. A kernel's own times and host times do not
 * need a full queue. */
static void choose_blocking(struct sampling *sampling)
{
    const bool wanted =
        sampling->timer == TIMED_BATCH || sampling->timer == TIMED_EVENT || sampling->timer == TIMED_GRAPH;
    const uint64_t launches = sampling->ready->resolved->timing.stream_launches * sampling->batch;
    sampling->blocking = false;
    sampling->blocking_why[0] = '\0';
    if (!wanted)
        return;
    if (sampling->ready->ranks) {
        snprintf(sampling->blocking_why, SERVICE_WHY, "launches wait for other processes");
        return;
    }
    if (!launches)
        snprintf(sampling->blocking_why, SERVICE_WHY, "the case is more than launches on one stream");
    else if (launches > BLOCKING_MAX_LAUNCHES)
        snprintf(sampling->blocking_why, SERVICE_WHY, "%llu launches do not fit behind a held back start",
                 (unsigned long long)launches);
    else
        sampling->blocking = service_ready(sampling->worker, SERVICE_BLOCKING, sampling->blocking_why);
}

enum status sampling_set_timer(struct sampling *sampling, enum timer timer, uint32_t batch, struct err *err)
{
    sampling->timer = timer;
    sampling->batch = batch;
    enum status status = timer == TIMED_GRAPH ? fill_graph(sampling, err) : STATUS_OK;
    if (!status && sampling->ready->device->ops->asynchronous)
        choose_blocking(sampling);
    return status;
}

static uint32_t batch_of(const struct sampling *sampling, double estimate_ns)
{
    const uint64_t each = sampling->ready->resolved->timing.stream_launches;
    double most = sampling->ready->ranks ? MAX_LOCKSTEP : MAX_BATCH;
    char why[SERVICE_WHY];
    if (sampling->ready->device->ops->asynchronous && !sampling->ready->ranks && each &&
        each * 2 <= BLOCKING_MAX_LAUNCHES && service_ready(sampling->worker, SERVICE_BLOCKING, why))
        most = (double)(BLOCKING_MAX_LAUNCHES / each);
    const double count = ceil(batch_target_ns / fmax(estimate_ns, 1));
    return (uint32_t)fmin(fmax(count, 2), most);
}

static enum timer single_timer(const struct sampling *sampling)
{
    /* If only the host's clock covers the work, the plan refuses other timers and `auto` chooses the host. */
    const struct timing *timing = &sampling->ready->resolved->timing;
    return timing->waits || timing->apart ? TIMED_HOST : sampling->no_dispatch ? TIMED_EVENT : TIMED_DISPATCH;
}

static enum status choose_timer(struct sampling *sampling, enum timer_choice choice, double estimate_ns,
                                struct err *err)
{
    if (sampling->ready->device->ops->asynchronous) {
        const bool may_batch = sampling_may_batch(sampling);
        enum timer timer = single_timer(sampling);
        uint32_t batch = 1;
        if (choice == TIMER_EVENT)
            timer = TIMED_EVENT;
        else if (choice == TIMER_HOST)
            timer = TIMED_HOST;
        else if (choice == TIMER_GRAPH)
            timer = TIMED_GRAPH;
        else if (may_batch && (choice == TIMER_BATCH ||
                               (choice == TIMER_AUTO && timer != TIMED_HOST && estimate_ns < batch_below_ns)))
            timer = TIMED_BATCH;
        if (may_batch && (timer == TIMED_BATCH || timer == TIMED_GRAPH))
            batch = batch_of(sampling, estimate_ns);
        return sampling_set_timer(sampling, timer, batch, err);
    }
    if (choice == TIMER_GRAPH)
        return sampling_set_timer(sampling, TIMED_GRAPH, 1, err);
    const bool wanted = choice == TIMER_BATCH || (choice == TIMER_AUTO && estimate_ns < batch_below_ns);
    const uint32_t batch = wanted && sampling_may_batch(sampling) ? batch_of(sampling, estimate_ns) : 1;
    return sampling_set_timer(sampling, unqueued_timer(sampling, batch), batch, err);
}

/* ---- how long a launch takes ---- */

/* Median of a few launches timed one by one, under the timer that best separates short kernels from long ones. */
static enum status estimate(struct sampling *sampling, int count, double *time_ns, struct err *err)
{
    struct device *device = sampling->ready->device;
    double times[ESTIMATES];
    enum status status = STATUS_OK;
    if (device->ops->asynchronous)
        status = sampling_set_timer(sampling, single_timer(sampling), 1, err);
    else
        sampling->batch = 1;
    if (!sampling->taken) /* the first launch may load code and wait for it, so nothing may block the stream */
        sampling->blocking = false;
    for (int k = 0; k < count && !status; k++) {
        struct sample sample;
        status = sampling_take(sampling, &sample, err);
        if (status == ERR_UNSUPPORTED && sampling->timer == TIMED_DISPATCH) {
            *err = (struct err){0};
            sampling->no_dispatch = true;
            sampling->timer = TIMED_EVENT;
            status = device->ops->wait(device, err);
            if (!status)
                status = sampling_take(sampling, &sample, err);
        }
        times[k] = sample.time_ns;
    }
    if (!status)
        *time_ns = median_of(times, (size_t)count);
    return status;
}

/* ---- warm-up ---- */

struct warm_up {
    double times[2 * WARM_WINDOW], hz[2 * WARM_WINDOW];
    size_t count;
};

static enum status warm_until_steady(struct sampling *sampling, struct warm_up *warm,
                                     const struct measure_options *options, struct measurement *out, struct err *err)
{
    const double start_ns = lockstep_now_ns(sampling);
    struct sample sample;
    for (bool done = false; !done;) {
        if (sampling_take(sampling, &sample, err))
            return err->status;
        if (warm->count == 2 * WARM_WINDOW) {
            memmove(warm->times, warm->times + 1, (2 * WARM_WINDOW - 1) * sizeof(*warm->times));
            memmove(warm->hz, warm->hz + 1, (2 * WARM_WINDOW - 1) * sizeof(*warm->hz));
            warm->count--;
        }
        warm->times[warm->count] = sample.time_ns;
        warm->hz[warm->count++] = sample.hz;
        out->warmup_ns += fmax(sample.time_ns, 0) * sampling->batch;
        double older[WARM_WINDOW], newer[WARM_WINDOW];
        memcpy(older, warm->times, sizeof(older));
        memcpy(newer, warm->times + WARM_WINDOW, sizeof(newer));
        out->warmup_converged =
            warm->count == 2 * WARM_WINDOW &&
            fabs(median_of(newer, WARM_WINDOW) / median_of(older, WARM_WINDOW) - 1) < warm_tolerance;
        const double wall_ns = lockstep_now_ns(sampling) - start_ns;
        done = (out->warmup_ns >= options->warmup_ns && out->warmup_converged) || wall_ns >= options->warmup_max_ns ||
               out->warmup_ns >= options->warmup_max_ns;
    }
    return STATUS_OK;
}

/* Makes the final choice of timer on a warm device. A batch shows the time of a launch among others, an estimate the
 * time of a single one. Where the device distinguishes these, `auto` uses the latter, so the choice does not depend on
 * the timer of the warm-up. */
static enum status choose_again(struct sampling *sampling, const struct measure_options *options,
                                const struct warm_up *warm, struct err *err)
{
    double sorted[2 * WARM_WINDOW], alone_ns;
    memcpy(sorted, warm->times, warm->count * sizeof(*sorted));
    const double median_ns = median_of(sorted, warm->count);
    const enum timer before = sampling->timer;
    if (!sampling->ready->device->ops->asynchronous || options->timer != TIMER_AUTO)
        return choose_timer(sampling, options->timer, median_ns, err);
    return estimate(sampling, ESTIMATES, &alone_ns, err) || choose_timer(sampling, TIMER_AUTO, alone_ns, err) ||
                   (sampling->timer == TIMED_BATCH && before == TIMED_BATCH &&
                    sampling_set_timer(sampling, TIMED_BATCH, batch_of(sampling, median_ns), err))
               ? err->status
               : STATUS_OK;
}

/* Runs uncounted samples while the clock rises, pages are mapped and caches fill. Ends by time and convergence, not by
 * count. */
enum status sampling_warm_up(struct sampling *sampling, const struct measure_options *options, struct measurement *out,
                             struct err *err)
{
    struct warm_up warm = {.count = 0};
    double time_ns = 0;
    /* The first launch includes page tables and lazy loading, so the second estimate counts. */
    if (estimate(sampling, 1, &time_ns, err) || estimate(sampling, 1, &time_ns, err) ||
        choose_timer(sampling, options->timer, time_ns, err) || warm_until_steady(sampling, &warm, options, out, err))
        return err->status;
    /* Samples are checked against the clock that this case settled at, not the data sheet's: matrix kernels on an
     * MI350X were observed (by others) to run at 62 % of it for their power alone, so all their samples would be
     * rejected. */
    double known[WARM_WINDOW];
    size_t count = 0;
    for (size_t k = warm.count > WARM_WINDOW ? warm.count - WARM_WINDOW : 0; k < warm.count; k++)
        if (warm.hz[k] > 0)
            known[count++] = warm.hz[k];
    sampling->settled_core_hz = sampling->ready->ranks || !count ? 0 : median_of(known, count);
    if (choose_again(sampling, options, &warm, err))
        return err->status;
    /* If writing an element is slow (through a driver), inputs change before fewer samples. */
    const double sample_ns = median_of(warm.times, warm.count) * sampling->batch;
    const uint64_t start_ns = clock_now_ns();
    const enum status status = inputs_stir(sampling->ready, sampling->rotation, err);
    const double took_ns = (double)(clock_now_ns() - start_ns);
    sampling->stir_every = (uint64_t)fmax(1, ceil(took_ns / (stir_share * fmax(sample_ns, 1))));
    return status;
}

/* ---- what a kernel remembers ---- */

/* Median times of launches on changed inputs and of equally many on known inputs. The known ones are rewritten too, so
 * that threads wait equally long before both and wake up at the same speed. */
static enum status compare_met(double *fresh_ns, double *met_ns, struct sampling *sampling, struct err *err)
{
    double times[2][REMEMBER_ROUNDS];
    struct sample sample;
    enum status status = STATUS_OK;
    for (size_t k = 0; k < 2 * REMEMBER_ROUNDS && !status; k++) {
        sampling->stir_every = k % 2 == 0;
        if (!sampling->stir_every)
            status = inputs_rewrite(sampling->ready, sampling->rotation, err);
        if (!status)
            status = sampling_take(sampling, &sample, err);
        times[k % 2][k / 2] = sample.time_ns;
    }
    *fresh_ns = status ? NAN : median_of(times[0], REMEMBER_ROUNDS);
    *met_ns = status ? NAN : median_of(times[1], REMEMBER_ROUNDS);
    return status;
}

/* Within a batch inputs do not change, so launches after the first may reuse its answer. If they change before each
 * launch, the fastest of a few launches on known inputs decides whether a closer check is worthwhile. */
enum status sampling_remembers(struct sampling *sampling, struct measurement *out, struct err *err)
{
    const bool queued = sampling->ready->device->ops->asynchronous;
    const double slack_ns = queued ? queued_ns : unqueued_ns;
    double fresh_ns = measurement_median(out), met_ns = 0;
    struct sample met = {0};
    char fresh[UNITS_TEXT], usual[UNITS_TEXT];
    if (sampling->ready->ranks || out->sample_count * out->batch < REMEMBER_LEAST || !out->sample_count ||
        !COUNT_WHERE(b, sampling->ready->buffers, sampling->ready->resolved->buffer_count, b->stirred))
        return STATUS_OK;
    enum status status =
        sampling_set_timer(sampling, queued ? single_timer(sampling) : unqueued_timer(sampling, 1), 1, err);
    if (!status && out->batch == 1) {
        sampling->stir_every = 0;
        met_ns = INFINITY;
        for (int k = 0; k < REMEMBER_FIRST && !status; k++) {
            status = sampling_take(sampling, &met, err);
            met_ns = fmin(met_ns, met.time_ns);
        }
        if (status || !(fresh_ns > remembers_above * met_ns + slack_ns))
            return status;
    }
    bool remembers = true; /* every look must agree, since the machine may be busy */
    for (int look = 0; look < REMEMBER_LOOKS && remembers && !status; look++) {
        status = compare_met(&fresh_ns, &met_ns, sampling, err);
        remembers = fresh_ns > remembers_above * met_ns + slack_ns;
    }
    if (!status && out->verification.verdict == VERIFY_PASS && remembers)
        verification_fail(&out->verification,
                          "it takes %s on inputs that changed, and %s on those it has met: it remembers its results",
                          units_time(fresh, fresh_ns), units_time(usual, met_ns));
    return status;
}

/* ---- a second timer ---- */

enum status sampling_cross(struct sampling *sampling, struct measurement *out, struct err *err)
{
    const bool many = sampling->timer == TIMED_BATCH || sampling->timer == TIMED_GRAPH;
    const double launch_ns = measurement_median(out);
    const struct timing *timing = &sampling->ready->resolved->timing;
    /* Events must confirm the host's time if they apply to the case. A single launch is cross-checked by a batch if two
     * launches fit into one. */
    const bool has_second = sampling->timer == TIMED_HOST
                                ? !timing->reloads && !timing->apart
                                : many || (sampling_may_batch(sampling) && 2 * launch_ns <= batch_most_ns);
    if (!sampling->ready->device->ops->asynchronous || sampling->cache != CACHE_HOT || !has_second)
        return STATUS_OK;
    const enum timer timer = sampling->timer == TIMED_HOST ? TIMED_EVENT : many ? single_timer(sampling) : TIMED_BATCH;
    if (sampling_set_timer(sampling, timer, timer == TIMED_BATCH ? batch_of(sampling, launch_ns) : 1, err))
        return err->status;
    const double fit = cross_target_ns / (launch_ns * sampling->batch);
    const uint32_t count = (uint32_t)fmin(fmax(fit, CROSS_LEAST), CROSS_MOST);
    if (sampling_median(&out->cross_ns, sampling, 1, count, err)) /* discards the first after a change of timers */
        return err->status;
    out->cross_timer = timer;
    return STATUS_OK;
}
