/* SPDX-License-Identifier: MIT
 *
 * Measurement: the worker's record of one case, from which results are made. Plain data without pointers, in memory
 * shared by worker and parent, so that everything written before a crash survives it.
 */
#ifndef ROOFTILE_MEASUREMENT_H
#define ROOFTILE_MEASUREMENT_H

#include "rooftile/device.h"
#include "rooftile/roofline.h"
#include "rooftile/summary.h"

#define MEASUREMENT_MAX_SAMPLES 10000
#define MEASUREMENT_MAX_METRICS 16

enum case_status { CASE_NONE, CASE_OK, CASE_FAILED, CASE_SKIPPED, CASE_CRASHED, CASE_TIMEOUT, CASE_ERROR };
extern const char *const case_status_names[]; /* "ok" "failed" "skipped" "crashed" "timeout" "error" */

/* Quality flags, as bits. "interference" "throttled" "launch_bound" "impossible" "ceiling_raised" "profiled" (not a
 * measurement: a single launch, marked for a profiler) "no_ceiling" (of its arithmetic unit) "fibers" (the CPU device
 * ran each work-item as a fiber) "emulated" (not a measurement either) */
enum case_flag {
    FLAG_INTERFERENCE = 1,
    FLAG_THROTTLED = 2,
    FLAG_LAUNCH_BOUND = 4,
    FLAG_IMPOSSIBLE = 8,
    FLAG_CEILING_RAISED = 16,
    FLAG_PROFILED = 32,
    FLAG_NO_CEILING = 64,
    FLAG_FIBERS = 128,
    FLAG_EMULATED = 256,
};
#define CASE_FLAGS 9
extern const char *const case_flag_names[CASE_FLAGS]; /* of 1 << index */

enum timer { TIMED_NONE, TIMED_HOST, TIMED_BATCH, TIMED_SIM, TIMED_EVENT, TIMED_DISPATCH, TIMED_GRAPH };
extern const char *const timer_names[]; /* "host" "batch" "sim" ... */

/* Why a sample is discarded. */
enum discard { DISCARD_ZERO, DISCARD_NEGATIVE, DISCARD_CLOCK, DISCARD_COUNT };

enum verdict { VERIFY_NOT_RUN, VERIFY_PASS, VERIFY_FAIL, VERIFY_SKIPPED };
extern const char *const verdict_names[]; /* "skipped" also for NOT_RUN */

#define WIDE_TOLERANCE 0.05 /* of the value; larger ones are reported */
struct verification {
    enum verdict verdict;
    char method[12];  /* "expect" "reference" "sampled" "variant" "" */
    uint64_t checked; /* number of elements compared */
    uint64_t wrong;
    double max_abs, max_rel;
    double tolerance;      /* rel, and abs relative to the largest expected value; 0: exact; NaN: unknown */
    double tolerance_used; /* the largest share of its tolerance that an element used: 0 exact, 1 all of it */
    uint32_t launches;     /* number of launches whose outputs were verified, or equal verified ones */
    double wrong_below;    /* with 95 % confidence, at most this share of all launches is wrong; 0: unknown */
    uint64_t sample_seed;  /* for choosing the elements that a reference computed; 0: all of them */
    char buffer[64];       /* the first wrong element ... */
    uint64_t index;
    double got, want;
    char reason[256];      /* of a skip or failure: "c[17] is 3.5, expected 4 (abs 0.5, rel 0.125); 12 of 4099 wrong" */
    char not_checked[192]; /* parts skipped for time or memory: "values only at check.params: ..."; "": none */
};

/* How the time of a case is divided; the rest of its wall time is preparing it and checking it against the ceilings. */
enum case_phase { SPENT_FILLING, SPENT_VERIFYING, SPENT_SENSING, SPENT_WARMING, SPENT_MEASURING, SPENT_COUNT };
extern const char *const case_phase_names[]; /* "fill" "verify" "sense" "warm-up" "measure" */

struct measurement {
    enum case_status status;
    char reason[4096]; /* of everything but ok */
    uint32_t flags;
    char profile_note[96]; /* for every status but ok */
    char flag_reason[384]; /* "calibration stream fell from 21.0 to 17.9 GB/s" */
    enum timer timer;
    enum cache_mode cache;
    uint32_t batch;   /* under --profile: why the case is not marked for a profiler; "" if it is */
    double warmup_ns; /* busy time spent warming up */
    bool warmup_converged;
    uint64_t flush_bytes;  /* bytes pushed through or out of the caches per sample if cold */
    char flush_method[16]; /* "evict" "kernel" "fill" "rotate" "" */
    double overhead_ns;    /* a null launch under the same timer in this trial; never subtracted */
    double timer_tick_ns;
    uint32_t discarded[DISCARD_COUNT];
    enum stop_reason stop;
    double wall_ns;               /* of the whole case */
    double spent_ns[SPENT_COUNT]; /* wall time by phase, over all rounds if the case is measured again */
    uint32_t order_index;         /* position in this trial's order */
    struct verification verification;
    struct device_sense before, after;
    double core_hz_before, core_hz_after;
    /* Clock probe: core clock against the constant counter in the same wave, before and after each sample or batch. */
    bool has_sample_hz;
    /* why there is no clock: "the probe did not compile", "counter wrapped"; "" if there is one */
    char clock_reason[96];
    uint32_t clock_unsteady; /* samples whose clock changed by over 0.78 % (p99 of consecutive readings on MI350X) */
    /* batches were queued behind a kernel that waits for the host, so they are not launch-bound */
    bool blocking_start;
    char blocking_reason[96]; /* why not; "" if they were, or if nothing was queued */
    /* The same case under a second timer (dispatch in addition to batch), as a cross-check; never mixed with the
     * samples. */
    enum timer cross_timer;
    double cross_ns;                         /* median time of one launch under it; NaN = not measured */
    double metrics[MEASUREMENT_MAX_METRICS]; /* in manifest order; NaN = not available */
    char library[192];                       /* the called library's description of itself; "": none */
    char library_sha256[65];                 /* of its file */
    uint32_t sample_count;
    double samples_ns[MEASUREMENT_MAX_SAMPLES]; /* time of ONE launch, in measuring order */
    float sample_hz[MEASUREMENT_MAX_SAMPLES];   /* mean core clock of the sample; NaN = its probe failed */
};

/* Facts of the trial, from the same worker. */
struct calibration {
    double timer_tick_ns;
    double null_launch_ns; /* median of single empty launches */
    double null_batch_ns;  /* per launch in a batch */
    uint64_t flush_bytes;
    /* self-test of the flush: time to reread a small buffer, without and after a flush */
    double flush_reread_hot_ns, flush_reread_cold_ns;
    char flush_verdict[96];    /* "works", or why it is doubtful; "" = not tested */
    double dispatch_null_ns;   /* an empty kernel under the dispatch timer; NaN = no such timer */
    char dispatch_reason[128]; /* why there is none although the device's library should have one; "" */
    /* an empty kernel under the host's clock, and per launch in a graph; NaN = no such timer */
    double null_host_ns, null_graph_ns;
    double counter_hz;               /* rate of the constant counter that clock probes are compared with; 0 = unknown */
    struct device_sense quiet_rates; /* quiet calibration rates at the start */
};

#endif
