/* SPDX-License-Identifier: MIT
 *
 * Sampling: policy of one case's timing. Which timer, cache state, batch size and warm-up (sampling.c), what the caches go
 * through before a sample (cold.c), and one sample (sample.c); the stop rule is stats'.
 */
#ifndef ROOFTILE_SAMPLING_H
#define ROOFTILE_SAMPLING_H

#include "service.h"

struct sampling {
    struct worker *worker;
    struct ready *ready;
    enum cache_mode cache;
    enum timer timer;
    uint32_t batch;    /* launches per sample */
    uint32_t rotation; /* buffers the next launch uses */
    uint64_t taken;
    bool no_dispatch; /* the case's launch cannot be timed by itself */
    bool probe;       /* the clock is asked for before and after */
    bool hold;        /* samples are queued behind a held back start */
    char hold_why[SERVICE_WHY];  /* why not */
    char probe_why[SERVICE_WHY]; /* what the last probe that failed, or all of them, had */
    struct device_graph *graph;  /* of TIMED_GRAPH: `batch` launches */
    struct ready *flusher;       /* cold: the kernel that flushes */
    void *flush; /* cold, without one, where the device cannot evict ranges: memory larger than its caches */
    uint64_t flush_bytes;
    double reference_hz; /* the clock at the end of the warm-up; 0 = unknown */
};

struct sample {
    double time_ns; /* of one launch; may be <= 0: the caller rejects it */
    double hz_before, hz_after;
    double hz; /* mean of the two; NaN where a probe failed */
};

enum status sampling_init(struct sampling *sampling, struct worker *worker, struct ready *ready, enum cache_mode cache,
                          struct err *err);
void sampling_release(struct sampling *sampling);
enum status sampling_take(struct sampling *sampling, struct sample *sample, struct err *err);
enum status sampling_warm_up(struct sampling *sampling, const struct measure_options *options, struct measurement *out,
                             struct err *err);
/* Some launches under a second timer, to cross-check: out->cross_timer and cross_ns. Only hot, and where there is a second
 * timer. */
enum status sampling_cross(struct sampling *sampling, struct measurement *out, struct err *err);
/* Sets the timer and its batch, and makes the graph that it may need. */
enum status sampling_set_timer(struct sampling *sampling, enum timer timer, uint32_t batch, struct err *err);
/* Whether launches may follow each other at once. */
bool sampling_may_batch(const struct sampling *sampling);

/* ---- caches (cold.c) ---- */

/* What a flush or a set of rotating copies must exceed on the worker's device. */
uint64_t flush_size(const struct worker *worker);
enum status cold_init(struct sampling *sampling, struct err *err);
/* Makes the caches cold if the mode is cold. */
enum status cold_make(struct sampling *sampling, struct err *err);
const char *cold_method(const struct sampling *sampling); /* "evict" "kernel" "fill"; "" when not cold */
/* Times a small working set again, hot and after a flush: calibration.flush_*. */
void cold_self_test(struct worker *worker, struct calibration *out);

#endif
