/* SPDX-License-Identifier: MIT
 *
 * Declarations shared within src/run: a case prepared on a device, and the memory that worker and parent share.
 */
#ifndef ROOFTILE_RUN_INTERNAL_H
#define ROOFTILE_RUN_INTERNAL_H

#include <stdatomic.h>
#include <unistd.h>

#include "rooftile/fill.h"
#include "rooftile/run.h"

#define RUN_MAX_ROTATIONS 4096

/* ---- a prepared case: its buffers (buffers.c), its code and steps (steps.c) ---- */

/* A buffer with one copy for each rotation. */
struct ready_buffer {
    const struct resolved_buffer *resolved;
    struct fill fill; /* its contents before the first launch */
    void **memory;    /* allocations, one per rotation */
    bool unguarded;   /* an alloc step replaced the memory, so its guards were not written */
    uint64_t *kept;   /* hashes of its pieces after a reference launch, for comparison (relaunch.c); NULL: none */
    uint64_t kept_count;
    struct fill_patch home[FILL_PATCHES], now[FILL_PATCHES]; /* elements that change between samples (other_inputs.c) */
    size_t stirred;                                          /* their number; 0: the buffer does not change */
};

/* One step, ready to launch: pointers, kernels, argument arrays. */
struct ready_step {
    const struct resolved_step *resolved;
    struct device_launch launch;
    bool ordered;         /* the order of work-items may matter: they wait for each other or share LDS */
    uint64_t *arg_values; /* one per argument of the launch */
    void **arg_pointers;
    void *to;
    const void *from;
    struct device_graph *graph;
    struct ready_step *inside; /* the steps of a loop or of a recorded graph */
};

/* A resolved case on an open device: loaded code, filled buffers, ready steps. */
struct ready {
    const struct resolved *resolved;
    const double *slots; /* values for the manifest's expressions */
    struct device *device;
    struct device_module **modules;    /* per code of `resolved` */
    const struct build_result *builds; /* of the plan that contains the case */
    struct ready_buffer *buffers;      /* one per buffer of the case */
    struct expr_arrays arrays;         /* the fills' contents, for expressions */
    struct ready_step *steps;          /* per rotation: [rotation * step_count + step] */
    struct ready_step *setup;          /* like `steps` */
    uint32_t rotations;                /* copies of all buffers, at least 1 */
    bool fibers;                       /* some launched kernel uses fibers (struct kernel_info) */
    bool ordered;                      /* some step is ordered */
    bool ranks;                        /* its launches wait for those of other processes (lockstep.c) */
    bool needs_reset;                  /* some buffer is reset before each launch */
    double host_ns;                    /* host time of the last run under EVENTS_HOST */
    uint64_t stirs;                    /* number of inputs_stir calls */
    uint64_t runs;                     /* runs of rotation 0's steps since its buffers were last filled or reset */
    char library[DEVICE_LIBRARY_TEXT]; /* the library used instead of our code (struct kernel_info); "" */
    char library_sha256[65];
    struct arena arena;
};

/* Returns the first of the case's codes that was not built; NULL if all were. */
const struct build_result *unbuilt_code(const struct resolved *resolved, const struct build_result *builds);
/* Loads the codes, all of which must be built, and allocates and fills the buffers. Releasing a released or zeroed
 * `ready` is allowed. */
enum status ready_init(struct ready *ready, struct device *device, const struct resolved *resolved,
                       const struct build_result *builds, uint32_t rotations, uint64_t seed, struct err *err);
void ready_release(struct ready *ready);
/* Makes a graph that repeats all of these launch steps `repeat` times. The caller frees it. ERR_UNSUPPORTED. */
enum status make_graph(struct device_graph **graph, struct ready *ready, const struct ready_step *steps, size_t count,
                       uint32_t repeat, struct err *err);
/* Runs the setup steps on every rotation. Call it again after buffers that they write were restored. */
enum status ready_setup(struct ready *ready, struct err *err);
/* Returns the buffer's first element (after its alignment offset). */
void *ready_buffer(const struct ready *ready, size_t buffer, uint32_t rotation);
/* Fills one buffer as its manifest says, or with poison if it has no fill. */
enum status ready_fill(struct ready *ready, size_t buffer, uint32_t rotation, struct err *err);
/* Prepares another launch whose outputs are checked: fills outputs with `poison`, and buffers that are updated in place
 * with their fill. All other buffers stay as the launches left them, as they do between timed launches. */
enum status ready_poison(struct ready *ready, uint32_t rotation, uint8_t poison, struct err *err);
/* Checks the two guards around each buffer, whose fixed contents no launch may change. `where` receives "" if all are
 * intact, else the changed bytes: "bytes 0 to 3 behind the end of 'c'". */
#define READY_WHERE 128
enum status ready_check_guards(char where[static READY_WHERE], struct ready *ready, struct err *err);
/* Updates all steps to the current kernels and buffers. */
enum status ready_resolve(struct ready *ready, struct err *err);
/* Replaces a buffer's memory; the new contents are undefined. */
enum status ready_realloc(struct ready *ready, size_t buffer, uint32_t rotation, struct err *err);
/* Loads the codes if they are not loaded. Launches use them after ready_resolve. */
enum status ready_load(struct ready *ready, struct err *err);
void ready_unload(struct ready *ready);
void ready_free_graphs(struct ready *ready);
/* Resets the buffers that the manifest wants reset before each launch. */
enum status ready_reset(struct ready *ready, uint32_t rotation, struct err *err);
/* Restores every buffer that a launch may have changed. */
enum status ready_restore(struct ready *ready, struct err *err);
/* Events of the measurement, before the manifest's own. The events of a kernel's own times are never recorded in a
 * stream: HIP refuses to mix the two kinds. */
enum { EVENT_BEGIN, EVENT_END, EVENT_KERNEL_BEGIN, EVENT_KERNEL_END, FIRST_STEP_EVENT };
enum run_events {
    EVENTS_NONE,
    EVENTS_AROUND, /* EVENT_BEGIN and EVENT_END surround the timed steps */
    EVENTS_KERNEL, /* the kernel's own begin and end; needs exactly one timed launch. May be ERR_UNSUPPORTED */
    EVENTS_HOST,   /* host time from an idle device until all timed steps are done: ready->host_ns */
};
/* Runs all steps once. */
enum status ready_run(struct ready *ready, uint32_t rotation, enum run_events events, struct err *err);
/* Returns the number of untimed steps before the first timed one; ready_run_untimed runs only these. */
size_t ready_untimed(const struct ready *ready);
enum status ready_run_untimed(struct ready *ready, uint32_t rotation, struct err *err);
/* Gives the host access to a buffer: to the memory itself if the host can access it, else to a copy in `arena`. */
enum status ready_read(const void **data, struct ready *ready, size_t buffer, uint32_t rotation, struct arena *arena,
                       struct err *err);

/* Calls work(context, first, count) on parts of `count` items: on every core if the device offers that
 * (device_ops.parallel), else once for all. Returns the error of the first part that failed. */
enum status run_in_parts(struct device *device, uint64_t count,
                         enum status (*work)(void *context, uint64_t first, uint64_t count, struct err *err),
                         void *context, struct err *err);

/* ---- shared memory and the worker ---- */

/* Phases from PHASE_FILLING on belong to a case and follow the order of enum case_phase. */
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
    _Atomic uint32_t samples; /* number taken, for the progress line */
    struct device_info info;
    struct calibration calibration;
    struct machine machine;
    double fastest_hz; /* highest clock reading of this run */
    bool device_lost;  /* the case left the device unusable, so a new worker must continue */
    struct err err;    /* why the device could not be opened */
    struct measurement measured;
};

/* The worker's inherited state and its open devices. */
struct services;
struct worker {
    pid_t pid;
    const struct plan *plan;
    const struct build_result *builds;
    const struct run_options *options;
    struct run_shared *shared;
    struct device *device;
    struct device_info info;
    struct device *reference_device; /* a CPU device; equals `device` if that is one */
    struct services *services;       /* service.c; created at first use */
    uint64_t phase_since_ns;         /* when the current phase began */
};

/* Ends a child that a kernel forked, which would otherwise act as a second worker. Never called inside a sample. */
static inline void worker_alone(const struct worker *worker)
{
    if (worker->pid && getpid() != worker->pid)
        _exit(1);
}

/* Measures or verifies one case into shared->measured; reports errors there. */
void measure_case(struct worker *worker, const struct plan_case *plan_case, const struct build_result *builds,
                  bool verify_only);
/* Takes the samples of a prepared case. */
enum status measure_samples(struct worker *worker, struct ready *ready, const struct plan_case *plan_case,
                            struct measurement *out, struct err *err);
enum status calibrate(struct worker *worker, struct err *err);
/* Computes the number of buffer copies: as many as cache mode `rotate` needs, otherwise 1. */
enum status choose_rotations(uint32_t *rotations, const struct worker *worker, const struct plan_case *plan_case,
                             struct err *err);
double measurement_median(const struct measurement *measured);
/* Computes the manifest's metrics from output buffers as the last launch left them. Returns ERR_DEVICE, with status
 * failed, if one has a value that it must not have. */
enum status take_metrics(struct ready *ready, struct measurement *out, struct err *err);
/* Checks the measurement against the device's physical limits and the ceilings. A case that beats a measured ceiling is
 * measured again together with the ceiling's own kernel, and the ceiling becomes the maximum (shared->machine). A case
 * that still beats it is flagged impossible, unless it does so by no more than the observed interference. A unit
 * without a ceiling is flagged too. */
enum status check_plausible(struct worker *worker, struct ready *ready, const struct plan_case *plan_case,
                            struct measurement *out, struct err *err);
/* The outcome of the last plausibility check. */
struct implausible {
    enum plausibility verdict;
    bool measured_again; /* the ceiling could be measured again */
    double interference; /* the highest observed: interference_seen */
    bool explained;      /* the case would be plausible if slowed down by that factor */
    char why[256];
};
void flag_implausible(struct measurement *out, const struct implausible *what);
/* Computes limits from the device's clock, width and number of units. A processor's clock changes between readings, so
 * the highest reading of the run counts. */
void device_limits(struct machine *limits, const struct worker *worker);
/* Returns the ratio of the highest to the lowest of the calibration rates before and after the case and on the quiet
 * machine; 1 if it is unknown or too small to indicate interference. */
double interference_seen(const struct measurement *out, const struct device_sense *quiet);

/* Maximum share of rejected samples; a case above it has failed. */
#define MAX_REJECTED 0.05
/* Samples below this share of the clock at the end of the warm-up are rejected (nvbench). */
#define SLOW_BELOW 0.75

/* Measures the calibration rates after the samples and sets the flags that follow from them. */
void sense_after(struct worker *worker, struct measurement *out);

/* Sets FLAG_INTERFERENCE if a calibration rate changed between out->before and out->after. */
void flag_interference(struct measurement *out);
/* Sets FLAG_THROTTLED if the clock fell during the case while a throttling counter changed. */
void flag_throttling(struct measurement *out);
/* Sets FLAG_THROTTLED if many samples were rejected for a low clock. */
void flag_slow_clock(struct measurement *out);

/* ---- verification (verify.c): one launch whose outputs are compared with the expected values ---- */

struct checking {
    struct worker *worker;
    struct ready *ready;
    const struct plan_reference *reference; /* NULL: closed forms only */
    const struct build_result *builds;
    uint32_t rotation;     /* copy of the buffers to launch on and to check */
    enum lane_order order; /* cpu: order of the work-items, for steps that may depend on it */
    const uint64_t *asked; /* elements that the reference computes in addition to the drawn ones */
    uint64_t asked_count;
    struct device_page *pages; /* pages to watch during launches; NULL: none */
    size_t page_count;
    struct verification *out;
};
/* Launches and compares; *out receives the verdict and its numbers. An error means that verification was not
 * possible. */
enum status verify_case(struct worker *worker, struct ready *ready, const struct plan_case *plan_case,
                        const struct build_result *builds, struct verification *out, struct err *err);
/* Verifies the case again after its last sample, with the same memory and code. */
enum status verify_again(struct worker *worker, struct ready *ready, const struct plan_case *plan_case,
                         const struct build_result *builds, struct verification *out, struct err *err);
/* Compares all outputs in their current state. */
enum status compare_outputs(const struct checking *checking, struct verification *out, struct err *err);
/* Launches once more. With `poison`, the outputs hold it before the launch. */
enum status launch_again(const struct checking *checking, const uint8_t *poison, struct err *err);
/* Appends to out->not_checked. */
#define NOTE_UNCHECKED(out, ...) text_append((out)->not_checked, sizeof((out)->not_checked), "; ", __VA_ARGS__)

/* ---- faults that one launch cannot show (relaunch.c) ----
 *
 * Overwritten inputs, writes outside of buffers, elements that no launch writes, launches that differ. Buffers are
 * compared by hashes of their pieces. A device hashes its own memory if it can; otherwise memory that the host cannot
 * access is read back. */

struct piece {
    uint64_t start, size; /* bytes */
};
uint64_t piece_count(const struct ready *ready, size_t buffer);
struct piece piece_at(const struct ready *ready, size_t buffer, uint64_t k);
/* Points *data to the memory itself, or reads it into `room` of HASH_PIECE_BYTES. */
enum status piece_read(const uint8_t **data, struct piece piece, const struct checking *checking, size_t buffer,
                       uint8_t *room, struct err *err);
/* Outputs that only metrics read (clocks, counters) differ between launches and are not compared. */
bool is_input(const struct ready *ready, size_t buffer);
bool is_compared(const struct ready *ready, size_t buffer);
/* Whether every launch rewrites the output, whatever it held. */
bool is_overwritten(const struct ready *ready, size_t buffer);
/* Finds the first piece whose hash differs from the stored one; kept_count if none does. */
enum status find_change(uint64_t *found, const struct checking *checking, size_t buffer, struct err *err);
__attribute__((format(printf, 2, 3))) void verification_fail(struct verification *out, const char *format, ...);
/* Turns the failure in `again` into that of the case. */
void verification_take(struct verification *out, const struct verification *again, const char *when);
/* Compares the current outputs with the expected values. */
enum status compare_again(const struct checking *checking, const char *when, struct err *err);
/* Stores the hashes of the inputs before the first launch, or of the outputs of a correct launch. */
enum status keep_inputs(const struct checking *checking, struct err *err);
enum status keep_outputs(const struct checking *checking, struct err *err);
/* Checks that the guards are intact; check_surroundings also checks the inputs. `when` precedes the reason: "after the
 * samples: ". */
enum status check_guards(const struct checking *checking, const char *when, struct err *err);
enum status check_surroundings(const struct checking *checking, const char *when, struct err *err);
/* Checks that the last sample left the outputs that a launch produces. */
enum status check_left(const struct checking *checking, struct err *err);
/* Launches repeatedly, over different poison each time, until an output is wrong or differs from the stored one. */
enum status check_relaunches(const struct checking *checking, bool after_samples, struct err *err);
/* Fails if an output is right although only untimed steps have run. Call it after keep_outputs. */
enum status check_untimed(const struct checking *checking, struct err *err);
/* Launches on other inputs. This is the last check of a case because it changes buffers (other_inputs.c). Outputs must
 * depend on each input. They must be right when the inputs are drawn anew and when a few elements change: by the
 * reference, and by the same code loaded anew, which reveals a kernel that stored an earlier result in a buffer or in
 * its code. Finally all inputs are set to one number, which reveals a wrong element that no sample covered. */
enum status check_other_inputs(const struct checking *checking, struct err *err);

/* ---- inputs that change between samples (other_inputs.c) ----
 *
 * Before a sample, a few elements of each input are swapped, so that a kernel cannot reuse an earlier result. Their
 * values, which may be indices, stay the same. Structured inputs (offsets, chains, permutations, integers in ascending
 * order) do not change. */

/* Chooses the elements; has no effect if they are chosen already. */
enum status inputs_choose(struct ready *ready, uint64_t seed, struct err *err);
/* Swaps two elements of each input in the buffers of `rotation`; a different pair each time. */
enum status inputs_stir(struct ready *ready, uint32_t rotation, struct err *err);
/* Writes as many elements as inputs_stir does without changing any. */
enum status inputs_rewrite(struct ready *ready, uint32_t rotation, struct err *err);
/* Restores the original inputs in all rotations. */
enum status inputs_restore(struct ready *ready, struct err *err);

/* After the samples, on devices that can report which memory launches touch (touched.c): checks that launches read all
 * that they claim, and write outputs even if these are right already. */
enum status check_touched(const struct checking *checking, struct err *err);

/* ---- processes in lockstep (lockstep.c) ----
 *
 * These functions do nothing if the case has no other ranks. An error may leave the other ranks waiting. */

/* Waits until all ranks have reached this case. ERR_DEVICE: one of them has gone on without it. */
enum status lockstep_begin(const struct worker *worker, const struct ready *ready, const struct plan_case *plan_case,
                           struct err *err);
/* Sets the sample's time and clock on every rank to those of the slowest rank. */
struct sampling;
enum status lockstep_sample(struct sampling *sampling, double *time_ns, struct err *err);
/* Returns the host's clock; in lockstep, its value at the last sample. */
double lockstep_now_ns(const struct sampling *sampling);
/* Makes a failure on one rank a failure on all. */
enum status lockstep_verdict(const struct checking *checking, struct err *err);

/* ---- comparing elements with their expected values (comparison.c) ----
 *
 * |got - want| <= abs + rel * |want|; NaN and infinities are always wrong. */

struct comparison {
    double abs, rel;   /* tolerances */
    double resolution; /* precision of the output's type: dtype_epsilon */
    uint64_t checked, wrong;
    uint64_t index; /* index of the first wrong element */
    double got, want;
    double max_abs, max_rel;
    double used;      /* largest error as a share of the tolerance there */
    double low, high; /* range of the expected values, valid if `ranged` */
    bool ranged;
};

/* Element k is at index[k], or at first + k if `index` is NULL. */
void comparison_add(struct comparison *comparison, const double *got, const double *want, const uint64_t *index,
                    uint64_t first, size_t count);
void comparison_merge(struct comparison *into, const struct comparison *part);
/* Adds one buffer's comparison to the case's verdict. */
void comparison_report(struct verification *out, const struct comparison *comparison, const char *buffer);
/* ERR_CONFIG: the tolerance is not a number, or accepts anything. */
enum status comparison_refuse(const struct comparison *comparison, struct err *err);

/* ---- rooftile's own service kernels (service.c) ----
 *
 * The blocking kernel, the clock probe, the flush and the hashes. Each is opened and tested at its first use and lives
 * as long as the worker. None of them can fail a case: one that does not work reports why and is not used. */

#define SERVICE_WHY 96

/* Returns NULL with `why` if the service is unavailable on this device. If the device does not report the rate of
 * its constant counter, opening SERVICE_CLOCK computes it from the duration of a probe and sets the worker's
 * timer_tick_ns. */
struct ready *service_ready(struct worker *worker, enum run_service which, char why[static SERVICE_WHY]);

/* Maximum number of launches queued behind the blocking kernel. ROCm's queue has room for 16,384 packets, but its host
 * side inserts a barrier of its own between every 1,000 commands (DEBUG_CLR_MAX_BATCH_SIZE), which would count as the
 * batch's time. */
enum { BLOCKING_MAX_LAUNCHES = 900 };

/* Needs SERVICE_BLOCKING. Nothing queued on stream 0 afterwards runs until blocking_release. Returns false with `why`
 * if the kernel could not be launched. */
bool blocking_begin(struct worker *worker, char why[static SERVICE_WHY]);
/* Has no effect if nothing is blocked. */
void blocking_release(struct worker *worker);
/* Call after a wait. Returns whether the stream was blocked until blocking_release; if not, the blocking kernel gave up
 * first. */
bool blocking_was_released(struct worker *worker, char why[static SERVICE_WHY]);

enum { PROBE_BEFORE, PROBE_AFTER, PROBE_COUNT };

/* Returns the rate of the constant counter; 0 if unknown. */
double probe_counter_hz(const struct worker *worker);
/* Needs SERVICE_CLOCK. Queues a probe on stream 0; probe_read reports its errors. */
void probe_queue(struct worker *worker, unsigned which);
/* Call after a wait. Returns the core clock, or NaN with `why`. */
double probe_read(struct worker *worker, unsigned which, char why[static SERVICE_WHY]);

/* A buffer has one hash for each piece of HASH_PIECE_BYTES. */
enum { HASH_PIECE_BYTES = 1 << 18, HASH_WORD_BYTES = 16 };
/* Needs SERVICE_HASH. Hashes memory of the worker's device. `memory` must be aligned to HASH_WORD_BYTES; the last word
 * is read whole. */
enum status hash_on_device(uint64_t *hashes, struct worker *worker, const void *memory, uint64_t size_bytes,
                           struct err *err);

/* ---- sampling: how one case is timed ----
 *
 * Timer, batch size, warm-up and one sample (sampling.c); the state of the caches before it (cold.c). The stop rule is
 * in src/stats. */

struct sampling {
    struct worker *worker;
    struct ready *ready;
    enum cache_mode cache;
    enum timer timer;
    uint32_t batch;    /* launches per sample */
    uint32_t rotation; /* copy of the buffers that the next launch uses */
    uint64_t taken;
    bool no_dispatch;               /* the case's launch cannot be timed alone */
    bool probe;                     /* the clock is probed before and after */
    bool blocking;                  /* samples are queued behind the blocking kernel */
    char blocking_why[SERVICE_WHY]; /* why samples are not blocked */
    char probe_why[SERVICE_WHY];    /* error of the last failed probe, or of all */
    struct device_graph *graph;     /* for TIMED_GRAPH: `batch` launches */
    struct ready *flusher;          /* cold: the flush kernel */
    void *flush; /* cold, without a flush kernel or eviction of ranges: memory larger than the caches */
    uint64_t flush_bytes;
    uint64_t stir_every;    /* inputs change every so many samples; 0: never */
    double settled_core_hz; /* the clock at the end of the warm-up; 0 = unknown */
    double agreed_ns;       /* in lockstep: time of the last sample */
};

struct sample {
    double time_ns; /* of one launch; the caller rejects values <= 0 */
    double hz_before, hz_after;
    double hz; /* mean of the two; NaN if a probe failed */
};

enum status sampling_init(struct sampling *sampling, struct worker *worker, struct ready *ready, enum cache_mode cache,
                          struct err *err);
void sampling_release(struct sampling *sampling);
enum status sampling_take(struct sampling *sampling, struct sample *sample, struct err *err);
enum status sampling_warm_up(struct sampling *sampling, const struct measure_options *options, struct measurement *out,
                             struct err *err);
/* Computes the median time of one launch over `count` samples, at most SAMPLING_MEDIAN_MOST, after discarding `skip`
 * samples. */
enum { SAMPLING_MEDIAN_MOST = 301 };
enum status sampling_median(double *time_ns, struct sampling *sampling, uint32_t skip, uint32_t count, struct err *err);
/* Cross-checks the times by a second timer: out->cross_timer and cross_ns. Only in hot mode, and only if there is a
 * second timer. */
enum status sampling_cross(struct sampling *sampling, struct measurement *out, struct err *err);
/* Fails the verification of a kernel that is faster on inputs that it has seen before. */
enum status sampling_remembers(struct sampling *sampling, struct measurement *out, struct err *err);
/* Sets the timer and batch size, and makes the graph if the timer needs one. */
enum status sampling_set_timer(struct sampling *sampling, enum timer timer, uint32_t batch, struct err *err);
/* Returns the time between the events of the measurement: the kernel's own if `own`, else those around the steps. */
enum status elapsed_of(double *time_ns, struct device *device, bool own, struct err *err);

/* ---- caches (cold.c) ---- */

/* Returns the size that a flush or a set of rotating copies must exceed on the worker's device. */
uint64_t flush_size(const struct worker *worker);
enum status cold_init(struct sampling *sampling, struct err *err);
/* Makes the caches cold if the mode is cold. */
enum status cold_make(struct sampling *sampling, struct err *err);
const char *cold_method(const struct sampling *sampling); /* "evict" "kernel" "fill"; "" when not cold */
/* Times a small working set when hot and after a flush: calibration.flush_*. */
void cold_self_test(struct worker *worker, struct calibration *out);

#endif
