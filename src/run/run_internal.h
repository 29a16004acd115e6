/* SPDX-License-Identifier: MIT
 *
 * What the files of src/run share: a case made ready on a device, and the memory shared by worker and parent.
 */
#ifndef ROOFTILE_RUN_INTERNAL_H
#define ROOFTILE_RUN_INTERNAL_H

#include <stdatomic.h>
#include <unistd.h>

#include "rooftile/fill.h"
#include "rooftile/run.h"

#define RUN_MAX_ROTATIONS 4096

/* ---- a case made ready: its buffers (buffers.c), its code and steps (steps.c) ---- */

/* A buffer, with one copy of it for each rotation. */
struct ready_buffer {
    const struct resolved_buffer *resolved;
    struct fill fill; /* what it holds before the first launch */
    void **memory;    /* allocations, one per rotation */
    bool unguarded;   /* an alloc step gave it other memory, whose guards have not been written */
    uint64_t *kept;   /* hashes of its pieces, which must stay or come out again (relaunch.c); NULL: none */
    uint64_t kept_count;
    struct fill_patch home[FILL_PATCHES], now[FILL_PATCHES]; /* elements that change between samples (other_inputs.c) */
    size_t stirred;                                          /* so many of them; 0: it does not change */
};

/* One step, ready to launch: pointers, kernels, argument arrays. */
struct ready_step {
    const struct resolved_step *resolved;
    struct device_launch launch;
    bool ordered;         /* the order of its work-items may matter: they wait for each other or share LDS */
    uint64_t *arg_values; /* as many as the launch has */
    void **arg_pointers;
    void *to;
    const void *from;
    struct device_graph *graph;
    struct ready_step *inside; /* of a loop, or of what the graph was made from */
};

/* A resolved case on an open device: loaded code, filled buffers, ready steps. */
struct ready {
    const struct resolved *resolved;
    const double *slots; /* of the manifest's expressions */
    struct device *device;
    struct device_module **modules;    /* per code of `resolved` */
    const struct build_result *builds; /* of the plan that the case is part of */
    struct ready_buffer *buffers;      /* as many as the case has */
    struct expr_arrays arrays;         /* what they are filled with, for expressions */
    struct ready_step *steps;          /* per rotation: [rotation * step_count + step] */
    struct ready_step *setup;          /* likewise */
    uint32_t rotations;                /* copies of all buffers, at least 1 */
    bool fibers;                       /* of some kernel that is launched (struct kernel_info) */
    bool ordered;                      /* some step is */
    bool ranks;                        /* its launches wait for those of other processes (lockstep.c) */
    bool needs_reset;                  /* some buffer is reset before each launch */
    double host_ns;                    /* of the last run under EVENTS_HOST */
    uint64_t stirs;                    /* how often inputs_stir was called */
    uint64_t runs;                     /* of the steps of rotation 0 since buffers were last filled or reset */
    char library[DEVICE_LIBRARY_TEXT]; /* what runs in place of code of ours (struct kernel_info); "" */
    char library_sha256[65];
    struct arena arena;
};

/* The first of the case's codes that was not built; NULL: all were. */
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
/* Fills one buffer as its manifest says; without a fill it gets poison. */
enum status ready_fill(struct ready *ready, size_t buffer, uint32_t rotation, struct err *err);
/* Prepares a further launch whose outputs are examined: fills outputs with `poison`, and buffers that are updated in
 * place with their fill. All other buffers stay as launches left them, as they do between timed launches. */
enum status ready_poison(struct ready *ready, uint32_t rotation, uint8_t poison, struct err *err);
/* Each buffer lies between two guards of fixed contents, which no launch may change. `where` is "" when all are intact,
 * else says what was written: "bytes 0 to 3 behind the end of 'c'". */
#define READY_WHERE 128
enum status ready_check_guards(char where[static READY_WHERE], struct ready *ready, struct err *err);
/* Points all steps to the kernels and buffers as they are now. */
enum status ready_resolve(struct ready *ready, struct err *err);
/* Gives a buffer other memory, of undefined content. */
enum status ready_realloc(struct ready *ready, size_t buffer, uint32_t rotation, struct err *err);
/* Loads the codes, unless they are loaded; launches use them after ready_resolve. */
enum status ready_load(struct ready *ready, struct err *err);
void ready_unload(struct ready *ready);
void ready_free_graphs(struct ready *ready);
/* Resets what the manifest wants reset before each launch. */
enum status ready_reset(struct ready *ready, uint32_t rotation, struct err *err);
/* Restores every buffer that a launch may have changed. */
enum status ready_restore(struct ready *ready, struct err *err);
/* Events of the measurement; the manifest's own events follow. Those of a kernel's own times are never recorded in a
 * stream: HIP refuses to mix the two kinds. */
enum { EVENT_BEGIN, EVENT_END, EVENT_KERNEL_BEGIN, EVENT_KERNEL_END, FIRST_STEP_EVENT };
enum run_events {
    EVENTS_NONE,
    EVENTS_AROUND, /* EVENT_BEGIN and EVENT_END surround the timed steps */
    EVENTS_KERNEL, /* the kernel's own begin and end; there must be one timed launch. May be ERR_UNSUPPORTED */
    EVENTS_HOST,   /* the host's clock runs from an idle device until all timed steps are done: ready->host_ns */
};
/* Runs all steps once. */
enum status ready_run(struct ready *ready, uint32_t rotation, enum run_events events, struct err *err);
/* How many untimed steps come before the first timed one; ready_run_untimed runs these alone. */
size_t ready_untimed(const struct ready *ready);
enum status ready_run_untimed(struct ready *ready, uint32_t rotation, struct err *err);
/* A buffer as the host sees it: the memory itself where the host can access it, else a copy in `arena`. */
enum status ready_read(const void **data, struct ready *ready, size_t buffer, uint32_t rotation, struct arena *arena,
                       struct err *err);

/* Calls work(context, first, count) on parts of `count` things: on every core where the device offers that
 * (device_ops.parallel), else once for all. Returns the error of the first part that failed. */
enum status run_in_parts(struct device *device, uint64_t count,
                         enum status (*work)(void *context, uint64_t first, uint64_t count, struct err *err),
                         void *context, struct err *err);

/* ---- shared memory and the worker ---- */

/* Those from PHASE_FILLING on belong to a case, in the order of enum case_phase. */
enum run_phase {
    PHASE_IDLE,
    PHASE_OPENING,
    PHASE_CALIBRATING,
    PHASE_JUDGING,
    PHASE_FILLING,
    PHASE_VERIFYING,
    PHASE_SENSING,
    PHASE_WARMING,
    PHASE_MEASURING
};

struct run_shared {
    _Atomic int phase;
    _Atomic uint32_t samples; /* taken so far, for the progress line */
    struct device_info info;
    struct calibration calibration;
    struct machine machine;
    double fastest_hz; /* the highest clock that was read in this run */
    bool device_lost;  /* the case left the device unusable: a new worker must go on */
    struct err err;    /* why the device could not be opened */
    struct measurement measured;
};

/* The worker's state: what it inherited, and the devices it opened. */
struct services;
struct worker {
    pid_t pid;
    const struct plan *plan;
    const struct build_result *builds;
    const struct run_options *options;
    struct run_shared *shared;
    struct device *device;
    struct device_info info;
    struct device *reference_device; /* a CPU device; the same as `device` where that is one */
    struct services *services;       /* service.c; made at first use */
    uint64_t phase_since_ns;         /* the phase of the case began */
};

/* A kernel that forks would make a second worker: the child ends here. Never called inside a sample. */
static inline void worker_alone(const struct worker *worker)
{
    if (worker->pid && getpid() != worker->pid)
        _exit(1);
}

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
/* Checks what was measured against physics: the device's own limits, and the ceilings. A case that beats a measured
 * ceiling is measured again together with the ceiling's own kernel, and the ceiling becomes the maximum
 * (shared->machine). A case that still beats it is flagged impossible, unless it does so by no more than the
 * interference seen meanwhile. A unit without a ceiling is flagged too. */
enum status check_plausible(struct worker *worker, struct ready *ready, const struct plan_case *plan_case,
                            struct measurement *out, struct err *err);
/* What follows from the last verdict. */
struct implausible {
    enum plausibility verdict;
    bool measured_again; /* the ceiling could be measured again */
    double interference; /* the most that was seen: interference_seen */
    bool explained;      /* slowed down by that much, the case would be plausible */
    char why[256];
};
void flag_implausible(struct measurement *out, const struct implausible *what);
/* The limits by the device's own clock, width and number of units. A processor's clock moves between readings, so the
 * highest reading of the run counts. */
void device_limits(struct machine *limits, const struct worker *worker);
/* The ratio of the highest to the lowest calibration rate among those around the case and that of the quiet machine; 1
 * where it is too small to be a neighbour's doing, or not known. */
double interference_seen(const struct measurement *out, const struct device_sense *quiet);

/* A case with a larger share of rejected samples has failed. */
#define MAX_REJECTED 0.05
/* A sample below this share of the clock at the end of the warm-up does not count (nvbench). */
#define SLOW_BELOW 0.75

/* Takes the calibration rates after the samples, and sets the flags that follow from them. */
void sense_after(struct worker *worker, struct measurement *out);

/* Sets FLAG_INTERFERENCE when a calibration rate moved between out->before and out->after. */
void flag_interference(struct measurement *out);
/* Sets FLAG_THROTTLED when the clock fell during the case while a throttling counter moved, */
void flag_throttling(struct measurement *out);
/* ... and where many samples did not count for their clock. */
void flag_slow_clock(struct measurement *out);

/* ---- verification (verify.c): one launch whose outputs are compared with what they should be ---- */

struct checking {
    struct worker *worker;
    struct ready *ready;
    const struct plan_reference *reference; /* NULL: closed forms only */
    const struct build_result *builds;
    uint32_t rotation;     /* whose buffers are launched on and looked at */
    enum lane_order order; /* cpu: of work-items where it may matter */
    const uint64_t *asked; /* elements that a reference computes before those that are drawn */
    uint64_t asked_count;
    struct device_page *pages; /* that launches are watched on; NULL: none */
    size_t page_count;
    struct verification *out;
};
/* Launches and compares; the verdict and its numbers go to *out. An error means that it could not be verified. */
enum status verify_case(struct worker *worker, struct ready *ready, const struct plan_case *plan_case,
                        const struct build_result *builds, struct verification *out, struct err *err);
/* After the last sample of a case that was verified, on the same memory, by the same code: is it still right? */
enum status verify_again(struct worker *worker, struct ready *ready, const struct plan_case *plan_case,
                         const struct build_result *builds, struct verification *out, struct err *err);
/* All outputs, as they are now. */
enum status compare_outputs(const struct checking *checking, struct verification *out, struct err *err);
/* Launches once more, over outputs that hold `poison`. */
enum status launch_again(const struct checking *checking, const uint8_t *poison, struct err *err);
/* Adds to out->not_checked. */
#define NOTE_UNCHECKED(out, ...) text_append((out)->not_checked, sizeof((out)->not_checked), "; ", __VA_ARGS__)

/* ---- what one launch cannot show (relaunch.c) ----
 *
 * Inputs that are overwritten, writes outside of buffers, elements that no launch writes, launches that differ. Buffers
 * are compared by hashes of their pieces. A device hashes its own memory; where it cannot, memory that the host does
 * not see is read back. */

struct piece {
    uint64_t start, size; /* bytes */
};
uint64_t piece_count(const struct ready *ready, size_t buffer);
struct piece piece_at(const struct ready *ready, size_t buffer, uint64_t k);
/* The memory itself, or read into `room`, which has HASH_PIECE_BYTES. */
enum status piece_read(const uint8_t **data, struct piece piece, const struct checking *checking, size_t buffer,
                       uint8_t *room, struct err *err);
/* Outputs that only metrics read (clocks, counters) differ from launch to launch and are not compared. */
bool is_input(const struct ready *ready, size_t buffer);
bool is_compared(const struct ready *ready, size_t buffer);
/* An output that every launch writes anew, whatever it held. */
bool is_overwritten(const struct ready *ready, size_t buffer);
/* The first piece whose hash is not the kept one; kept_count: there is none. */
enum status find_change(uint64_t *found, const struct checking *checking, size_t buffer, struct err *err);
__attribute__((format(printf, 2, 3))) void verification_fail(struct verification *out, const char *format, ...);
/* A failure of its own becomes that of the case. */
void verification_take(struct verification *out, const struct verification *again, const char *when);
/* The outputs as they are now, compared with what they should be. */
enum status compare_again(const struct checking *checking, const char *when, struct err *err);
/* Keeps the hashes of inputs as they are before the first launch, or of the outputs of a launch that was right. */
enum status keep_inputs(const struct checking *checking, struct err *err);
enum status keep_outputs(const struct checking *checking, struct err *err);
/* Are the guards intact? check_surroundings: the inputs, too? `when` goes before the reason: "after the samples: ". */
enum status check_guards(const struct checking *checking, const char *when, struct err *err);
enum status check_surroundings(const struct checking *checking, const char *when, struct err *err);
/* Behind the last sample: are the outputs what a launch makes? */
enum status check_left(const struct checking *checking, struct err *err);
/* More launches, each over other poison, until one is wrong or differs from the one whose outputs were kept. */
enum status check_relaunches(const struct checking *checking, bool after_samples, struct err *err);
/* Fails where an output is right although only untimed steps have run. Call it after keep_outputs. */
enum status check_untimed(const struct checking *checking, struct err *err);
/* Launches on other inputs, the last of a case, as buffers stay changed (other_inputs.c). Outputs must depend on each
 * input, and be right when the inputs are drawn anew and when a few elements change: by the reference, and as the same
 * code makes them once it is loaded anew, which show a kernel that kept an earlier result in a buffer or in its code.
 * Last, all inputs are one number, which shows a wrong element that no sample met. */
enum status check_other_inputs(const struct checking *checking, struct err *err);

/* ---- inputs that change between samples (other_inputs.c) ----
 *
 * A few elements of each input change places with one another before a sample, so that what a kernel kept of an earlier
 * one is of no use to it. They keep their values, which may be indices; an input that is a structure (offsets, chains,
 * permutations, whole numbers in ascending order) does not change. */

/* Chooses the elements; again has no effect while they are stirred. */
enum status inputs_choose(struct ready *ready, uint64_t seed, struct err *err);
/* Two elements of each input change places, in the buffers of `rotation`; others each time. */
enum status inputs_stir(struct ready *ready, uint32_t rotation, struct err *err);
/* Writes as many elements as inputs_stir does, and changes none. */
enum status inputs_rewrite(struct ready *ready, uint32_t rotation, struct err *err);
/* All as they were, in all rotations. */
enum status inputs_restore(struct ready *ready, struct err *err);

/* After the samples, where the device can tell which memory launches touch (touched.c): all that they claim to read,
 * and outputs also where they are right already? */
enum status check_touched(const struct checking *checking, struct err *err);

/* ---- processes in lockstep (lockstep.c) ----
 *
 * In a case without other ranks these do nothing. An error may leave the other ranks waiting. */

/* Waits until all ranks are at this case. ERR_DEVICE: one of them has gone on without it. */
enum status lockstep_begin(const struct worker *worker, const struct ready *ready, const struct plan_case *plan_case,
                           struct err *err);
/* Every rank takes the slowest rank's time of the sample, and its clock. */
struct sampling;
enum status lockstep_sample(struct sampling *sampling, double *time_ns, struct err *err);
/* The host's clock; in lockstep, its value at the last sample. */
double lockstep_now_ns(const struct sampling *sampling);
/* A failure on one rank is one on all. */
enum status lockstep_verdict(const struct checking *checking, struct err *err);

/* ---- elements and what they should be (comparison.c) ----
 *
 * |got - want| <= abs + rel * |want|, NaN and infinities always wrong. */

struct comparison {
    double abs, rel;   /* tolerances */
    double resolution; /* of the output's type: dtype_epsilon */
    uint64_t checked, wrong;
    uint64_t index; /* of the first wrong element */
    double got, want;
    double max_abs, max_rel;
    double used;      /* largest error as a share of what is allowed there */
    double low, high; /* of what was expected, once it is `ranged` */
    bool ranged;
};

/* Element k stands at index[k], or at first + k without an index. */
void comparison_add(struct comparison *comparison, const double *got, const double *want, const uint64_t *index,
                    uint64_t first, size_t count);
void comparison_merge(struct comparison *into, const struct comparison *part);
/* Adds one buffer's comparison to the case's verdict. */
void comparison_report(struct verification *out, const struct comparison *comparison, const char *buffer);
/* ERR_CONFIG: the tolerance is not a number, or accepts anything. */
enum status comparison_refuse(const struct comparison *comparison, struct err *err);

/* ---- kernels of rooftile's own beside the case (service.c) ----
 *
 * The blocking kernel, the clock probe, the flush, hashes. Each is opened and tried at its first use and stays for the
 * life of the worker. None of them can fail a case: one that does not work says why, and is not used. */

#define SERVICE_WHY 96

/* NULL with `why` when this device cannot have the service. Where the device does not tell the rate of its constant
 * counter, trying SERVICE_CLOCK finds the rate from a probe's own duration and sets the worker's timer_tick_ns by it.
 */
struct ready *service_ready(struct worker *worker, enum run_service which, char why[static SERVICE_WHY]);

/* At most so many launches are queued behind the blocking kernel. ROCm's queue has room for 16,384 packets, but its
 * host side puts a barrier of its own between every 1,000 commands (DEBUG_CLR_MAX_BATCH_SIZE), which would count as the
 * batch's time. */
enum { BLOCKING_MAX_LAUNCHES = 900 };

/* With SERVICE_BLOCKING ready: nothing queued on stream 0 runs until blocking_release. False with `why`: it could not
 * be launched. */
bool blocking_begin(struct worker *worker, char why[static SERVICE_WHY]);
/* Does nothing when nothing is blocked. */
void blocking_release(struct worker *worker);
/* After a wait: whether the stream was blocked until blocking_release. If not, the blocking kernel gave up first. */
bool blocking_was_released(struct worker *worker, char why[static SERVICE_WHY]);

enum { PROBE_BEFORE, PROBE_AFTER, PROBE_COUNT };

/* Rate of the constant counter; 0 = unknown. */
double probe_counter_hz(const struct worker *worker);
/* With SERVICE_CLOCK ready: puts a probe into stream 0; probe_read says what went wrong with it. */
void probe_queue(struct worker *worker, unsigned which);
/* After a wait: the core clock, or NaN with `why`. */
double probe_read(struct worker *worker, unsigned which, char why[static SERVICE_WHY]);

/* Of a buffer: each of its pieces has a hash. */
enum { HASH_PIECE_BYTES = 1 << 18, HASH_WORD_BYTES = 16 };
/* With SERVICE_HASH ready: hashes of memory of the worker's device. `memory` is aligned to HASH_WORD_BYTES, and the
 * last word is read whole. */
enum status hash_on_device(uint64_t *hashes, struct worker *worker, const void *memory, uint64_t size_bytes,
                           struct err *err);

/* ---- sampling: the policy of one case's timing ----
 *
 * Timer, batch size, warm-up and one sample (sampling.c); the state of the caches before it (cold.c). The stop rule is
 * in src/stats. */

struct sampling {
    struct worker *worker;
    struct ready *ready;
    enum cache_mode cache;
    enum timer timer;
    uint32_t batch;    /* launches per sample */
    uint32_t rotation; /* buffers the next launch uses */
    uint64_t taken;
    bool no_dispatch;               /* the case's launch cannot be timed by itself */
    bool probe;                     /* the clock is read before and after */
    bool blocking;                  /* samples are queued behind the blocking kernel */
    char blocking_why[SERVICE_WHY]; /* why not */
    char probe_why[SERVICE_WHY];    /* what the last probe that failed, or all of them, had */
    struct device_graph *graph;     /* of TIMED_GRAPH: `batch` launches */
    struct ready *flusher;          /* cold: the kernel that flushes */
    void *flush; /* cold, without one, where the device cannot evict ranges: memory larger than its caches */
    uint64_t flush_bytes;
    uint64_t stir_every;    /* samples; 0: inputs stay as they are */
    double settled_core_hz; /* the clock at the end of the warm-up; 0 = unknown */
    double agreed_ns;       /* in lockstep: when the last sample was taken */
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
/* Median time of one launch over `count` samples, at most SAMPLING_MEDIAN_MOST, after `skip` that do not count. */
enum { SAMPLING_MEDIAN_MOST = 301 };
enum status sampling_median(double *time_ns, struct sampling *sampling, uint32_t skip, uint32_t count, struct err *err);
/* Times some launches under a second timer, to cross-check: out->cross_timer and cross_ns. Only in the hot mode, and
 * where there is a second timer. */
enum status sampling_cross(struct sampling *sampling, struct measurement *out, struct err *err);
/* Fails the verification of a kernel that is faster on inputs that it has met. */
enum status sampling_remembers(struct sampling *sampling, struct measurement *out, struct err *err);
/* Sets the timer and its batch, and makes the graph that it may need. */
enum status sampling_set_timer(struct sampling *sampling, enum timer timer, uint32_t batch, struct err *err);
/* The time between the events of the measurement: the kernel's own with `own`, else those around the steps. */
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
