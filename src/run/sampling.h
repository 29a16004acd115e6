/* SPDX-License-Identifier: MIT
 *
 * Sampling: policy of one case's timing. Cache state, batch size and warm-up; the stop rule is stats'.
 */
#ifndef ROOFTILE_SAMPLING_H
#define ROOFTILE_SAMPLING_H

#include "run_internal.h"

struct sampling {
    struct ready *ready;
    enum cache_mode cache;
    uint32_t batch;    /* launches per sample */
    uint32_t rotation; /* buffers the next launch uses */
    uint64_t taken;
    void *flush; /* cold, where the device cannot evict ranges: memory larger than its caches */
    uint64_t flush_bytes;
};

/* Bytes that push everything else out of the caches the device reports: twice the largest; 1 GiB when it reports none.
 */
uint64_t flush_size(const struct device_info *info);

enum status sampling_init(struct sampling *sampling, struct worker *worker, struct ready *ready, enum cache_mode cache,
                          struct err *err);
void sampling_release(struct sampling *sampling);
/* One sample: time of one launch. May be <= 0: the caller rejects it. */
enum status sampling_take(struct sampling *sampling, double *time_ns, struct err *err);
enum status sampling_warm_up(struct sampling *sampling, const struct measure_options *options, struct measurement *out,
                             struct err *err);

#endif
