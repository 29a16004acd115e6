/* SPDX-License-Identifier: MIT */

#include "rooftile/units.h"
#include "run_internal.h"

enum { FLUSH_FACTOR = 2, UNNAMED_FACTOR = 4, REREADS = 5 };
static const uint64_t mebibyte = 1u << 20;
static const uint64_t least_unnamed_bytes = 1u << 30;
static const uint64_t most_reread_bytes = 16u << 20, least_reread_bytes = 1u << 18;
static const double works_above = 1.3; /* required ratio of cold to hot time in the self-test */

/* ---- flush size ---- */

static uint64_t largest_named(const struct device_info *info)
{
    uint64_t largest = 0;
    for (uint32_t k = 0; k < info->cache_count; k++) {
        const uint64_t total = info->caches[k].size_bytes * info->caches[k].instances;
        largest = total > largest ? total : largest;
    }
    return largest;
}

uint64_t run_flush_bytes(bool *known, const struct machine *machine, const struct device_info *info)
{
    const uint64_t named = largest_named(info);
    double caches = 0;
    for (uint32_t k = 0; k + 1 < machine->level_count; k++)
        caches += machine->levels[k].capacity_bytes;
    *known = caches > 0;
    if (info->emulated[0]) /* it has no caches, and writing such amounts takes minutes */
        return mebibyte;
    const uint64_t wanted = *known ? FLUSH_FACTOR * (uint64_t)fmax(caches, (double)named)
                            : UNNAMED_FACTOR * named > least_unnamed_bytes ? UNNAMED_FACTOR * named
                                                                           : least_unnamed_bytes;
    return (wanted + mebibyte - 1) / mebibyte * mebibyte;
}

uint64_t run_reread_bytes(const struct machine *machine, const struct device_info *info)
{
    double last = info->cache_count ? (double)info->caches[0].size_bytes : 0;
    for (uint32_t k = 0; k + 1 < machine->level_count; k++)
        if (machine->levels[k].capacity_bytes > 0)
            last = machine->levels[k].capacity_bytes;
    uint64_t size = least_reread_bytes;
    while (size * 2 <= most_reread_bytes && (double)size * 2 <= last / 4)
        size *= 2;
    return size;
}

uint64_t flush_size(const struct worker *worker)
{
    bool known;
    const uint64_t named = largest_named(&worker->info);
    if (worker->device->ops->asynchronous)
        return run_flush_bytes(&known, &worker->shared->machine, &worker->info);
    return named ? FLUSH_FACTOR * named : least_unnamed_bytes;
}

/* ---- making caches cold ---- */

enum status cold_init(struct sampling *sampling, struct err *err)
{
    struct ready *ready = sampling->ready;
    const struct device_ops *ops = ready->device->ops;
    char why[SERVICE_WHY];
    sampling->flush_bytes = ready->resolved->buffer_bytes;
    if (sampling->cache != CACHE_COLD || ops->evict || !ops->executes)
        return STATUS_OK;
    sampling->flusher = service_ready(sampling->worker, SERVICE_FLUSH, why);
    sampling->flush_bytes =
        sampling->flusher ? sampling->flusher->resolved->buffer_bytes : flush_size(sampling->worker);
    if (sampling->flusher)
        return STATUS_OK;
    return ops->alloc(&sampling->flush, ready->device, sampling->flush_bytes, SPACE_DEVICE, err);
}

/* A flush kernel needs no wait: the sample follows it in the stream, and the busy device keeps its clock up. */
enum status cold_make(struct sampling *sampling, struct err *err)
{
    struct ready *ready = sampling->ready;
    const struct device_ops *ops = ready->device->ops;
    if (sampling->cache != CACHE_COLD || !ops->executes)
        return STATUS_OK;
    for (size_t k = 0; ops->evict && k < ready->resolved->buffer_count; k++)
        if (ops->evict(ready->device, ready_buffer(ready, k, 0), ready->resolved->buffers[k].size_bytes, err))
            return err->status;
    if (ops->evict)
        return STATUS_OK;
    if (sampling->flusher)
        return ready_run(sampling->flusher, 0, EVENTS_NONE, err);
    enum status status =
        ops->fill(ready->device, sampling->flush, (uint8_t)sampling->taken, sampling->flush_bytes, 0, err);
    return status ? status : ops->wait(ready->device, err);
}

const char *cold_method(const struct sampling *sampling)
{
    return sampling->cache != CACHE_COLD         ? ""
           : sampling->ready->device->ops->evict ? "evict"
           : sampling->flusher                   ? "kernel"
                                                 : "fill";
}

/* ---- self-test ---- */

/* Returns the median time of one walk through the working set, each after a flush or after another walk. */
static double reread_ns(struct worker *worker, struct ready *reread, enum cache_mode cache)
{
    struct sampling sampling;
    struct err err = {0};
    double median = NAN;
    enum status status = sampling_init(&sampling, worker, reread, cache, &err);
    sampling.probe = false;
    sampling.timer = TIMED_EVENT;
    if (!status) /* discards the first, which loads the code and fills the cache */
        (void)sampling_median(&median, &sampling, 1, REREADS, &err);
    sampling_release(&sampling);
    return median;
}

void cold_self_test(struct worker *worker, struct calibration *out)
{
    char why[SERVICE_WHY], size[UNITS_TEXT];
    bool known;
    struct ready *reread = service_ready(worker, SERVICE_REREAD, why);
    out->flush_bytes = run_flush_bytes(&known, &worker->shared->machine, &worker->info);
    if (!reread) {
        snprintf(out->flush_verdict, sizeof(out->flush_verdict), "not tested: %.80s", why);
        return;
    }
    out->flush_reread_hot_ns = reread_ns(worker, reread, CACHE_HOT);
    out->flush_reread_cold_ns = reread_ns(worker, reread, CACHE_COLD);
    const double ratio = out->flush_reread_cold_ns / out->flush_reread_hot_ns;
    units_bytes(size, (double)reread->resolved->buffer_bytes);
    if (!(ratio > 0))
        snprintf(out->flush_verdict, sizeof(out->flush_verdict), "not tested: its timing failed");
    else if (ratio <= works_above)
        snprintf(out->flush_verdict, sizeof(out->flush_verdict),
                 "in doubt: reading %s again took only %.2f times as long after a flush", size, ratio);
    else
        snprintf(out->flush_verdict, sizeof(out->flush_verdict), "works%s",
                 known ? "" : " for the cache that the driver names");
}
