/* SPDX-License-Identifier: MIT
 *
 * Sampling: policy of one case's timing. Which timer, batch size and warm-up, and one sample (sampling.c), what the
 * caches go through before it (cold.c), and what other kernels help (service.c); the stop rule is stats'.
 */
#ifndef ROOFTILE_SAMPLING_H
#define ROOFTILE_SAMPLING_H

#include "run_internal.h"

/* ---- kernels of rooftile's own beside the case (service.c) ----
 *
 * A held back start, the clock probe, the flush. Each is opened and tried at its first use and stays for the life of
 * the worker. None of them can fail a case: what does not work says why, and is not used. */

#define SERVICE_WHY 96

/* NULL with `why` when the service is not to be had on this device. Where the device does not tell the rate of its
 * constant counter, trying the clock's finds it from a probe's own duration and makes it the worker's timer_tick_ns. */
struct ready *service_ready(struct worker *worker, enum run_service which, char why[static SERVICE_WHY]);

/* So many launches may stand behind a held back start. ROCm's queue has room for 16,384 packets, but its host side puts
 * a barrier of its own between every 1,000 commands (DEBUG_CLR_MAX_BATCH_SIZE), which would count as the batch's time.
 */
enum { BLOCKING_MAX_LAUNCHES = 900 };

/* With SERVICE_BLOCKING ready: nothing queued on stream 0 runs until blocking_release. False with `why`: it could not
 * be launched. */
bool blocking_begin(struct worker *worker, char why[static SERVICE_WHY]);
/* Does nothing when nothing is held. */
void blocking_release(struct worker *worker);
/* After a wait: whether the stream was held until blocking_release. If not, the kernel gave up first. */
bool blocking_was_released(struct worker *worker, char why[static SERVICE_WHY]);

enum { PROBE_BEFORE, PROBE_AFTER, PROBE_COUNT };

/* Rate of the constant counter; 0 = unknown. */
double probe_counter_hz(const struct worker *worker);
/* With SERVICE_CLOCK ready: puts a probe into stream 0; what went wrong with it, probe_read says. */
void probe_queue(struct worker *worker, unsigned which);
/* After a wait: the core clock, or NaN with `why`. */
double probe_read(struct worker *worker, unsigned which, char why[static SERVICE_WHY]);

/* ---- sampling ---- */

struct sampling {
    struct worker *worker;
    struct ready *ready;
    enum cache_mode cache;
    enum timer timer;
    uint32_t batch;    /* launches per sample */
    uint32_t rotation; /* buffers the next launch uses */
    uint64_t taken;
    bool no_dispatch;               /* the case's launch cannot be timed by itself */
    bool probe;                     /* the clock is asked for before and after */
    bool blocking;                  /* samples are queued behind a held back start */
    char blocking_why[SERVICE_WHY]; /* why not */
    char probe_why[SERVICE_WHY];    /* what the last probe that failed, or all of them, had */
    struct device_graph *graph;     /* of TIMED_GRAPH: `batch` launches */
    struct ready *flusher;          /* cold: the kernel that flushes */
    void *flush; /* cold, without one, where the device cannot evict ranges: memory larger than its caches */
    uint64_t flush_bytes;
    double settled_core_hz; /* the clock at the end of the warm-up; 0 = unknown */
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
/* Some launches under a second timer, to cross-check: out->cross_timer and cross_ns. Only hot, and where there is a
 * second timer. */
enum status sampling_cross(struct sampling *sampling, struct measurement *out, struct err *err);
/* Sets the timer and its batch, and makes the graph that it may need. */
enum status sampling_set_timer(struct sampling *sampling, enum timer timer, uint32_t batch, struct err *err);
/* Between the events of the measurement: those of the kernel's own times, or those around it. */
enum status elapsed_of(double *time_ns, struct device *device, bool own, struct err *err);

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
