/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "rooftile/clock.h"
#include "sampling.h"

/* Below this a single launch is too short for the clock and the launch itself: launches are timed in batches. */
static const double batch_below_ns = 10e3;
/* A batch takes about this: long against the clock, short against a change of the machine's state. */
static const double batch_target_ns = 2e6;
static const double warm_tolerance = 0.005; /* between the medians of two windows */
enum { MAX_BATCH = 100000, WARM_WINDOW = 20, FLUSH_FACTOR = 2 };

/* ---- cold caches ---- */

static enum status evict_buffers(struct sampling *sampling, struct err *err)
{
    struct ready *ready = sampling->ready;
    for (size_t k = 0; k < ready->bound->buffer_count; k++) {
        enum status status = ready->device->ops->evict(ready->device, ready_buffer(ready, k, 0),
                                                       ready->bound->buffers[k].size_bytes, err);
        if (status)
            return status;
    }
    return STATUS_OK;
}

static enum status make_cold(struct sampling *sampling, struct err *err)
{
    struct ready *ready = sampling->ready;
    const struct device_ops *ops = ready->device->ops;
    if (sampling->cache != CACHE_COLD || !ops->executes)
        return STATUS_OK;
    if (ops->evict)
        return evict_buffers(sampling, err);
    enum status status =
        ops->fill(ready->device, sampling->flush, (uint8_t)sampling->taken, sampling->flush_bytes, 0, err);
    return status ? status : ops->wait(ready->device, err);
}

uint64_t flush_size(const struct device_info *info)
{
    uint64_t largest = 0;
    for (uint32_t k = 0; k < info->cache_count; k++) {
        const uint64_t total = info->caches[k].size_bytes * info->caches[k].instances;
        largest = total > largest ? total : largest;
    }
    return largest ? FLUSH_FACTOR * largest : 1u << 30;
}

enum status sampling_init(struct sampling *sampling, struct worker *worker, struct ready *ready, enum cache_mode cache,
                          struct err *err)
{
    *sampling = (struct sampling){.ready = ready, .cache = cache, .batch = 1};
    sampling->flush_bytes = ready->bound->buffer_bytes;
    if (cache != CACHE_COLD || ready->device->ops->evict || !ready->device->ops->executes)
        return STATUS_OK;
    sampling->flush_bytes = flush_size(&worker->info);
    return ready->device->ops->alloc(&sampling->flush, ready->device, sampling->flush_bytes, SPACE_DEVICE, err);
}

void sampling_release(struct sampling *sampling)
{
    if (sampling->flush)
        sampling->ready->device->ops->free(sampling->ready->device, sampling->flush);
    sampling->flush = NULL;
}

/* ---- one sample ---- */

static enum status launch_batch(struct sampling *sampling, struct err *err)
{
    struct ready *ready = sampling->ready;
    const struct device_ops *ops = ready->device->ops;
    enum status status = ops->mark(ready->device, 0, 0, err);
    for (uint32_t k = 0; k < sampling->batch && !status; k++) {
        status = ready_run(ready, sampling->rotation, false, err);
        if (++sampling->rotation >= ready->rotations)
            sampling->rotation = 0;
    }
    return status ? status : ops->mark(ready->device, 1, 0, err);
}

enum status sampling_take(struct sampling *sampling, double *time_ns, struct err *err)
{
    struct ready *ready = sampling->ready;
    const struct device_ops *ops = ready->device->ops;
    enum status status = STATUS_OK;
    if (ready->needs_reset) {
        status = ready_reset(ready, sampling->rotation, err);
        if (!status)
            status = ops->wait(ready->device, err);
    }
    if (!status)
        status = make_cold(sampling, err);
    if (status)
        return status;
    if (ready->all_timed) {
        status = launch_batch(sampling, err);
    } else {
        status = ready_run(ready, sampling->rotation, true, err);
        sampling->rotation = sampling->rotation + 1 < ready->rotations ? sampling->rotation + 1 : 0;
    }
    if (!status)
        status = ops->wait(ready->device, err);
    double total_ns = 0;
    if (!status)
        status = ops->elapsed(&total_ns, ready->device, 0, 1, err);
    sampling->taken++;
    if (!status)
        *time_ns = total_ns / sampling->batch;
    return status;
}

/* ---- batch size and warm-up ---- */

static bool may_batch(const struct sampling *sampling)
{
    return sampling->ready->all_timed && !sampling->ready->needs_reset && sampling->cache != CACHE_COLD;
}

static void choose_batch(struct sampling *sampling, const struct measure_options *options, double estimate_ns)
{
    const bool wanted = options->timer == TIMER_BATCH || (options->timer == TIMER_AUTO && estimate_ns < batch_below_ns);
    sampling->batch = 1;
    if (!wanted || !may_batch(sampling))
        return;
    const double count = ceil(batch_target_ns / fmax(estimate_ns, 1));
    sampling->batch = (uint32_t)fmin(fmax(count, 2), MAX_BATCH);
}

static bool windows_agree(const double *ring)
{
    double older[WARM_WINDOW], newer[WARM_WINDOW];
    memcpy(older, ring, sizeof(older));
    memcpy(newer, ring + WARM_WINDOW, sizeof(newer));
    const double a = median_of(older, WARM_WINDOW), b = median_of(newer, WARM_WINDOW);
    return fabs(b / a - 1) < warm_tolerance;
}

/* The clock rises, pages are mapped and caches fill while nothing counts yet. By time and by convergence, not by count.
 */
enum status sampling_warm_up(struct sampling *sampling, const struct measure_options *options, struct measurement *out,
                             struct err *err)
{
    const uint64_t start_ns = clock_now_ns();
    double time_ns = 0, ring[2 * WARM_WINDOW];
    size_t count = 0;
    for (int k = 0; k < 2; k++) { /* the first launch pays for page tables and lazy loading: believe the second */
        enum status status = sampling_take(sampling, &time_ns, err);
        if (status)
            return status;
    }
    choose_batch(sampling, options, time_ns);
    for (bool done = false; !done;) {
        enum status status = sampling_take(sampling, &time_ns, err);
        if (status)
            return status;
        if (count == 2 * WARM_WINDOW) {
            memmove(ring, ring + 1, (2 * WARM_WINDOW - 1) * sizeof(*ring));
            count--;
        }
        ring[count++] = time_ns;
        out->warmup_ns += fmax(time_ns, 0) * sampling->batch;
        out->warmup_converged = count == 2 * WARM_WINDOW && windows_agree(ring);
        const double wall_ns = (double)(clock_now_ns() - start_ns);
        done = (out->warmup_ns >= options->warmup_ns && out->warmup_converged) || wall_ns >= options->warmup_max_ns ||
               out->warmup_ns >= options->warmup_max_ns;
    }
    double sorted[2 * WARM_WINDOW];
    memcpy(sorted, ring, count * sizeof(*ring));
    choose_batch(sampling, options, median_of(sorted, count));
    return STATUS_OK;
}
