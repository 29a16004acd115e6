/* SPDX-License-Identifier: MIT
 *
 * Run: the only stage that uses a device. The calling process (parent) supervises; it never opens a device. A worker,
 * forked before any vendor library is loaded, opens the device and runs whole cases, including the sampling loop, and
 * writes into shared memory. The parent is the watchdog: if a worker dies or hangs, the case gets that status (crashed,
 * timeout), and a new worker continues with the next case. Permanent loss of the device ends the run.
 */
#ifndef ROOFTILE_RUN_H
#define ROOFTILE_RUN_H

#include "rooftile/build.h"
#include "rooftile/device.h"
#include "rooftile/machine.h"
#include "rooftile/measurement.h"
#include "rooftile/plan.h"

/* Faults injected to test that verification detects them (`check --inject-faults`). */
enum run_inject { INJECT_NONE, INJECT_SKIP_LAUNCH, INJECT_FLIP_OUTPUT, INJECT_PERTURB_INPUT };

/* The case that measured a ceiling, so that it can be measured again together with a case that beats it. */
struct run_ceiling {
    const struct plan_case *probe;     /* in a plan of its own */
    const struct build_result *builds; /* settled codes of that plan */
    bool is_level;
    uint32_t index; /* into machine.levels or machine.units */
};

/* Rooftile's own kernels that a run uses in addition to its cases. They are planned and built like any other. If one is
 * missing or does not compile, the run continues without its function and reports that. */
enum run_service {
    SERVICE_NULL,     /* launch_empty: launch overhead under each timer */
    SERVICE_BLOCKING, /* service_blocking: blocks a stream while a batch is queued behind it */
    SERVICE_CLOCK,    /* service_clock: measures core clocks by the constant counter */
    SERVICE_FLUSH,    /* service_flush: makes caches cold; its buffer has run_flush_bytes */
    SERVICE_REREAD,   /* pointer_chase over run_reread_bytes: tests that caches are cold */
    SERVICE_HASH,     /* service_hash: hashes of buffers, to compare launches */
    SERVICE_COUNT
};
struct run_service_case {
    const struct plan_case *plan_case; /* in a plan of its own; NULL: none */
    const struct build_result *builds; /* settled codes of that plan */
};

/* Returns the bytes that a flush must read and write to evict everything else from every cache: twice the total of the
 * machine's levels before the memory. Without such levels `known` is false, because drivers do not report AMD's
 * Infinity Cache; the size is then 1 GiB or four times the largest reported cache. */
uint64_t run_flush_bytes(bool *known, const struct machine *machine, const struct device_info *info);
/* Returns a working set that fits into the last cache but not into any nearer ones, so that reading it again is fast
 * only from the last cache. */
uint64_t run_reread_bytes(const struct machine *machine, const struct device_info *info);

/* One of the devices of a node that are measured at the same time, each by its own process (together.c). */
#define RUN_MAX_TOGETHER 64
#define RUN_TOGETHER_WAIT_NS 5e9 /* the longest wait for the other devices at a case */
struct run_together {
    struct run_meeting *shared; /* memory shared by all these processes; NULL: the device is measured alone */
    unsigned device;            /* the index of this device */
};
struct run_meeting *run_meeting_new(unsigned devices); /* call before forking the processes */
void run_meeting_free(struct run_meeting *shared);
/* Call when the device's process has ended, so that the others no longer wait for it. */
void run_together_gone(const struct run_together *own);
/* Reports that this device is ready for its plan and waits for the others. Returns the monotonic time at which all
 * begin. */
double run_together_ready(const struct run_together *own, const struct plan *plan, double limit_ns);
/* Waits until every device whose plan has the case is about to measure it. Returns the time at which all begin. */
double run_together_case(const struct run_together *own, const struct plan_case *plan_case);
/* Returns the number of cases that the device began without all the others. */
uint32_t run_together_apart(const struct run_together *own);

struct run_options {
    struct device_request device;
    const char *arch; /* what the code was compiled for: another device's worker is refused; NULL: any */
    struct run_together together;
    uint64_t seed;              /* for inputs */
    uint64_t sample_seed;       /* for the choice of elements that references compute */
    uint64_t order_seed;        /* for the order of cases; 0: seed */
    bool verify_only;           /* one launch per case, verified, never timed */
    enum run_inject inject;     /* with verify_only */
    enum lane_order lane_order; /* cpu: for the verification launch */
    /* each case once warm and once timed inside ranges for a profiler: no verification, calibration */
    bool profile;
    bool patient;                       /* multiplies timeouts by ten, for slow emulators */
    bool keep_order;                    /* plan order instead of a seeded random one */
    const struct run_ceiling *ceilings; /* ceilings that can be measured again */
    size_t ceiling_count;
    struct run_service_case services[SERVICE_COUNT];
    const bool *skip; /* per case: already done (--resume); NULL: none */
    /* Per case: why its code must not be launched (its arguments differ from the manifest's), which makes the case
     * fail. NULL and NULL entries: no reason. */
    const char *const *refused;
    const volatile int *stop; /* becomes non-zero on Ctrl-C */
    /* Optional. Called in the parent after the first worker has opened the device and calibrated, before any case. */
    void (*opened)(void *context, const struct device_info *info, const struct calibration *calibration);
    /* Called in the parent when a case has a status. `machine` includes ceilings raised so far. */
    void (*case_done)(void *context, const struct plan_case *plan_case, const struct measurement *measured,
                      const struct machine *machine, size_t done, size_t total);
    /* Called about ten times a second while a case runs, with its phase ("verifying", "warming up", "measuring"). */
    void (*tick)(void *context, const struct plan_case *plan_case, const char *phase, size_t done, size_t total);
    void *context;
};

/* Returns the device's facts for expressions and variants, without capacities and peaks. */
struct device_facts run_device_facts(const struct device_info *info);
/* Adds the capacities and peaks. For each cache the first of these sources counts: the device itself; its machine,
 * measured or from data sheets (NULL or without levels: none); `like`, a machine of the same target, scaled to this
 * device's units; an assumption. `assumed` names the caches from the last two. Peaks are those of the machine, or else
 * of `like`. */
void run_facts_know(struct device_facts *facts, const struct device_info *info, const struct machine *machine,
                    const struct machine *like, struct arena *arena);

/* Opens the device in a short-lived worker and returns its facts; if `calibration` is not NULL, also its timer facts
 * and quiet calibration rates. ERR_DEVICE_LOST, with the reason, if it cannot be opened. */
enum status run_device_info(struct device_info *info, struct calibration *calibration,
                            const struct device_request *request, struct err *err);

/* Runs every ready case of the plan. `builds` are the settled code objects of plan->codes. Cases whose code failed or
 * was skipped, and cases that are not ready, get their status without a worker. `machine` is in and out: ceilings may
 * be raised. ERR_INTERRUPTED after Ctrl-C (the case in progress is not reported), ERR_DEVICE_LOST if no worker can open
 * the device. */
enum status run_plan(const struct plan *plan, const struct build_result *builds, struct machine *machine,
                     struct calibration *calibration, const struct run_options *options, struct err *err);

#endif
