/* SPDX-License-Identifier: MIT
 *
 * What the files of src/run share: a case made ready on a device, and the memory shared by worker and parent.
 */
#ifndef ROOFTILE_RUN_INTERNAL_H
#define ROOFTILE_RUN_INTERNAL_H

#include <stdatomic.h>

#include "rooftile/fill.h"
#include "rooftile/run.h"

#define RUN_MAX_ROTATIONS 4096

/* One step with everything resolved: pointers, kernels, argument arrays. */
struct ready_step {
    const struct resolved_step *resolved;
    struct device_launch launch;
    uint64_t *arg_values; /* as many as the launch has */
    void **arg_pointers;
    void *to;
    const void *from;
    struct device_graph *graph;
    struct ready_step *inside; /* of a loop, or of what the graph was made from */
};

/* A bound case on an open device: loaded code, filled buffers, ready steps. */
struct ready {
    const struct resolved *resolved;
    struct device *device;
    struct device_module **modules;    /* per code of the bound */
    bool reloads;                      /* the steps load the code: it is unloaded before they run */
    const struct build_result *builds; /* of the plan that the bound is part of */
    void **memory;                     /* allocations, per rotation and buffer: [rotation * buffer_count + buffer] */
    struct fill *fills;                /* per buffer */
    struct ready_step *steps;          /* per rotation: [rotation * step_count + step] */
    struct ready_step *setup;          /* likewise */
    uint32_t rotations;                /* copies of all buffers, at least 1 */
    bool needs_reset;                  /* some buffer is reset before each launch */
    bool all_timed;                    /* every step is timed: launches may be batched */
    double host_ns;                    /* of the last run under EVENTS_HOST */
    uint64_t runs;                     /* of the steps of rotation 0 since buffers were last filled or reset */
    uint64_t stream_launches;          /* launches of one pass, when it is nothing but launches on stream 0; else 0 */
    char library[DEVICE_LIBRARY_TEXT]; /* what runs in place of code of ours (struct kernel_info); "" */
    char library_sha256[65];
    struct arena arena;
};

/* The first of the bound's codes that was not built; NULL: all were. */
const struct build_result *unbuilt_code(const struct resolved *resolved, const struct build_result *builds);
/* Loads the codes (all of them built), allocates and fills. A released or zeroed `ready` may be released again. */
enum status ready_init(struct ready *ready, struct device *device, const struct resolved *resolved,
                       const struct build_result *builds, uint32_t rotations, uint64_t seed, struct err *err);
void ready_release(struct ready *ready);
/* A graph of launch steps, all of them `repeat` times over; the caller frees it. ERR_UNSUPPORTED. */
enum status make_graph(struct device_graph **graph, struct ready *ready, const struct ready_step *steps, size_t count,
                       uint32_t repeat, struct err *err);
/* Runs the setup steps on every rotation; again whenever buffers were restored that they write. */
enum status ready_setup(struct ready *ready, struct err *err);
/* Pointer to the buffer's first element (behind its alignment offset). */
void *ready_buffer(const struct ready *ready, size_t buffer, uint32_t rotation);
/* Fills one buffer as its manifest says; ROLE_OUT without a fill gets poison. */
enum status ready_fill(struct ready *ready, size_t buffer, uint32_t rotation, struct err *err);
/* Points all steps to the kernels and buffers as they are now. */
enum status ready_resolve(struct ready *ready, struct err *err);
/* Other memory for a buffer, of undefined content. */
enum status ready_realloc(struct ready *ready, size_t buffer, uint32_t rotation, struct err *err);
/* Loads the codes, unless they are; launches use them once they are resolved. */
enum status ready_load(struct ready *ready, struct err *err);
void ready_unload(struct ready *ready);
void ready_free_graphs(struct ready *ready);
/* Sets what is known of the steps before they run. */
void ready_describe(struct ready *ready);
/* Resets what the manifest wants reset before each launch. */
enum status ready_reset(struct ready *ready, uint32_t rotation, struct err *err);
/* Restores every buffer that a launch may have changed. */
enum status ready_restore(struct ready *ready, struct err *err);
/* Marks of the measurement; a manifest's own follow. Those of a kernel's own times are never recorded in a stream: HIP
 * refuses to mix the two kinds. */
enum { EVENT_BEGIN, EVENT_END, EVENT_KERNEL_BEGIN, EVENT_KERNEL_END, FIRST_STEP_EVENT };
enum run_events {
    EVENTS_NONE,
    EVENTS_AROUND, /* EVENT_BEGIN and EVENT_END surround the timed steps */
    EVENTS_KERNEL, /* the timed launch, which must be the only one, is marked with its own times; ERR_UNSUPPORTED */
    EVENTS_HOST,   /* the host's clock runs from an idle device until all timed steps are done: ready->host_ns */
};
/* Runs all steps once. */
enum status ready_run(struct ready *ready, uint32_t rotation, enum run_events events, struct err *err);
/* Host copy of a buffer: the memory itself where the host sees it, else read into `arena`. */
enum status ready_read(const void **data, struct ready *ready, size_t buffer, struct arena *arena, struct err *err);

/* work(context, part, parts) on every core of a device that has them, else once. Part k of `count` things begins at
 * part_begin. */
void run_in_parts(struct device *device, void (*work)(void *context, uint32_t part, uint32_t parts), void *context);
static inline uint64_t part_begin(uint64_t count, uint32_t part, uint32_t parts)
{
    return (uint64_t)((__uint128_t)count * part / parts);
}

/* ---- shared memory and the worker ---- */

enum run_phase {
    PHASE_IDLE,
    PHASE_OPENING,
    PHASE_CALIBRATING,
    PHASE_LOADING,
    PHASE_FILLING,
    PHASE_VERIFYING,
    PHASE_WARMING,
    PHASE_MEASURING
};

struct run_shared {
    _Atomic int phase;
    _Atomic uint32_t samples; /* taken so far, for the progress line */
    struct device_info info;
    struct calibration calibration;
    struct machine machine;
    bool device_lost; /* the case left the device unusable: a new worker must go on */
    struct err err;   /* why the device could not be opened */
    struct measurement measured;
};

/* The worker's state: what it inherited, and the devices it opened. */
struct services;
struct worker {
    const struct plan *plan;
    const struct build_result *builds;
    const struct run_options *options;
    struct run_shared *shared;
    struct device *device;
    struct device_info info;
    struct device *reference_device; /* a CPU device; the same as `device` where that is one */
    struct services *services;       /* service.c; made at first use */
};

/* Measures or verifies one case into shared->measured; never fails itself. */
void measure_case(struct worker *worker, const struct plan_case *plan_case, const struct build_result *builds,
                  bool verify_only);
/* The sampling part alone, on a case that is ready. */
enum status measure_samples(struct worker *worker, struct ready *ready, const struct plan_case *plan_case,
                            struct measurement *out, struct err *err);
enum status calibrate(struct worker *worker, struct err *err);
/* Copies of all buffers that cache mode rotate needs; 1 otherwise. */
enum status choose_rotations(uint32_t *rotations, const struct worker *worker, const struct plan_case *plan_case,
                             struct err *err);
double measurement_median(const struct measurement *measured);
/* The manifest's metrics, reduced from output buffers as the last launch left them. ERR_DEVICE and status failed when
 * one is not what it must be. */
enum status take_metrics(struct ready *ready, struct measurement *out, struct err *err);
/* Sets what was measured against physics. A case that beats a measured ceiling is measured again beside the ceiling's
 * own kernel; the ceiling becomes the maximum (shared->machine), and what still beats it is flagged impossible, unless
 * the machine saw interference meanwhile. */
enum status check_plausible(struct worker *worker, struct ready *ready, const struct plan_case *plan_case,
                            struct measurement *out, struct err *err);
/* What follows from the last verdict, `why` its words; measured_again: the ceiling could be. */
void flag_implausible(struct measurement *out, enum plausibility verdict, bool measured_again, const char *why);

/* Of all samples; above it the case has failed. */
#define MAX_REJECTED 0.05
/* Of the clock at the end of the warm-up; such a sample does not count (nvbench). */
#define SLOW_BELOW 0.75

/* How fast the machine is after the samples, and what follows from that. */
void sense_after(struct worker *worker, struct measurement *out);

/* Sets FLAG_INTERFERENCE when a calibration rate moved between out->before and out->after. */
void flag_interference(struct measurement *out);
/* Sets FLAG_THROTTLED when the clock fell during the case while a throttling counter moved, */
void flag_throttling(struct measurement *out);
/* ... and where many samples did not count for their clock. */
void flag_slow_clock(struct measurement *out);
/* Launches once and compares; the verdict and its numbers go to *out. An error means that it could not be verified. */
enum status verify_case(struct worker *worker, struct ready *ready, const struct plan_case *plan_case,
                        const struct build_result *builds, struct verification *out, struct err *err);

#endif
