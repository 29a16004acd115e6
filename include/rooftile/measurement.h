/* SPDX-License-Identifier: MIT
 *
 * Measurement: what the worker writes about one case, from which results are made. Plain data without pointers, in
 * memory shared by worker and parent, so that everything written before a crash survives it.
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

/* Quality flags, bits. "interference" "throttled" "launch_bound" "impossible" "ceiling_raised" "profiled" (not a
 * measurement: one launch, marked for a profiler) "no_ceiling" (of its arithmetic unit) "fibers" (the CPU device ran
 * each work-item as a fiber) "emulated" (not a measurement either) */
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

/* Why a sample does not count. */
enum discard { DISCARD_ZERO, DISCARD_NEGATIVE, DISCARD_CLOCK, DISCARD_COUNT };

enum verdict { VERIFY_NOT_RUN, VERIFY_PASS, VERIFY_FAIL, VERIFY_SKIPPED };
extern const char *const verdict_names[]; /* "skipped" for NOT_RUN too */

#define WIDE_TOLERANCE 0.05 /* of the value: worth a look */
struct verification {
    enum verdict verdict;
    char method[12];  /* "expect" "reference" "sampled" "variant" "" */
    uint64_t checked; /* elements compared */
    uint64_t wrong;
    double max_abs, max_rel;
    double tolerance;      /* rel, and abs against the largest value that was expected; 0: exact; NaN: not known */
    double tolerance_used; /* the worst element's share of its tolerance: 0 exact, 1 all of it */
    uint32_t launches;     /* whose outputs were verified, or equal those of one that was */
    double wrong_below;    /* 95 % confidence: of all launches no larger share is wrong; 0: not known */
    uint64_t sample_seed;  /* of the elements that a reference computed; 0: all of them */
    char buffer[64];       /* the first wrong element ... */
    uint64_t index;
    double got, want;
    char reason[256];      /* of a skip or failure: "c[17] is 3.5, expected 4 (abs 0.5, rel 0.125); 12 of 4099 wrong" */
    char not_checked[192]; /* what was skipped for time or memory: "values only at check.params: ..."; "" nothing */
};

/* Where the time of a case goes; the rest of its wall time is preparing it and checking it against the ceilings. */
enum case_phase { SPENT_FILLING, SPENT_VERIFYING, SPENT_SENSING, SPENT_WARMING, SPENT_MEASURING, SPENT_COUNT };
extern const char *const case_phase_names[]; /* "fill" "verify" "sense" "warm-up" "measure" */

struct measurement {
    enum case_status status;
    char reason[4096]; /* of everything but ok */
    uint32_t flags;
    char profile_note[96]; /* under --profile: why the case is not marked for a profiler; "" when it is */
    char flag_reason[384]; /* "calibration stream fell from 21.0 to 17.9 GB/s" */
    enum timer timer;
    enum cache_mode cache;
    uint32_t batch;   /* launches per sample */
    double warmup_ns; /* busy time spent warming up */
    bool warmup_converged;
    uint64_t flush_bytes;  /* cold: bytes pushed through or out per sample */
    char flush_method[16]; /* "evict" "kernel" "fill" "rotate" "" */
    double overhead_ns;    /* null launch under the same timer, this trial; never subtracted */
    double timer_tick_ns;
    uint32_t discarded[DISCARD_COUNT];
    enum stop_reason stop;
    double wall_ns;               /* the whole case */
    double spent_ns[SPENT_COUNT]; /* wall time by phase, all rounds of a case that is measured again */
    uint32_t order_index;         /* position in this trial's order */
    struct verification verification;
    struct device_sense before, after;
    double core_hz_before, core_hz_after;
    /* The clock probe: core clock in the same wave against the constant counter, before and after each sample or batch.
     */
    bool has_sample_hz;
    /* why there is no clock: "the probe did not compile", "counter wrapped"; "" when there is one */
    char clock_reason[96];
    uint32_t clock_unsteady; /* samples whose clock before and after differ by more than 0.78 % (the p99 of
                              * consecutive readings on MI350X) */
    /* batches were queued behind a kernel that waits for the host, so they are not launch-bound */
    bool blocking_start;
    char blocking_reason[96]; /* why they were not; "" when they were, or when nothing was queued */
    /* The same case under a second timer (dispatch beside batch), to cross-check; never mixed with the samples. */
    enum timer cross_timer;
    double cross_ns;                         /* median time of one launch under it; NaN = not taken */
    double metrics[MEASUREMENT_MAX_METRICS]; /* in manifest order; NaN = not available */
    char library[192];                       /* the library that was called, as it describes itself; "" none */
    char library_sha256[65];                 /* of its file */
    uint32_t sample_count;
    double samples_ns[MEASUREMENT_MAX_SAMPLES]; /* time of ONE launch, in measuring order */
    float sample_hz[MEASUREMENT_MAX_SAMPLES];   /* mean core clock of the sample; NaN = this probe failed */
};

/* Facts of the trial, from the same worker. */
struct calibration {
    double timer_tick_ns;
    double null_launch_ns; /* median of single empty launches */
    double null_batch_ns;  /* per launch in a batch */
    uint64_t flush_bytes;
    /* self-test of the flush: reading a small buffer again, then after a flush */
    double flush_reread_hot_ns, flush_reread_cold_ns;
    char flush_verdict[96];    /* "works" or why it is in doubt; "" = not tested */
    double dispatch_null_ns;   /* an empty kernel under the dispatch timer; NaN = no such timer */
    char dispatch_reason[128]; /* why there is none, where the device's library should have one; "" */
    /* the same under the host's clock, and per launch in a graph; NaN = no such timer */
    double null_host_ns, null_graph_ns;
    double counter_hz;               /* rate of the constant counter that clock probes are set against; 0 = unknown */
    struct device_sense quiet_rates; /* quiet calibration rates at the start */
};

#endif
