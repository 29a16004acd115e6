/* SPDX-License-Identifier: MIT
 *
 * Run: the only stage that touches a device. The calling process (parent) supervises; it never opens a device. A
 * worker, forked before any vendor library is loaded, opens the device and runs whole cases, sampling loop included,
 * writing into memory that both share. The parent holds the watchdog: a worker that dies or hangs is that case's status
 * (crashed, timeout), and a new worker goes on with the next case. Losing the device for good ends the run.
 */
#ifndef ROOFTILE_RUN_H
#define ROOFTILE_RUN_H

#include "rooftile/build.h"
#include "rooftile/device.h"
#include "rooftile/machine.h"
#include "rooftile/measurement.h"
#include "rooftile/plan.h"

/* Faults that are injected to see that verification catches them (`check --inject-faults`). */
enum run_inject { INJECT_NONE, INJECT_SKIP_LAUNCH, INJECT_FLIP_OUTPUT, INJECT_PERTURB_INPUT };

/* Which case measured a ceiling, so that it can be measured again together with a case that beats it. */
struct run_ceiling {
    const struct plan_case *probe;     /* of a plan of its own */
    const struct build_result *builds; /* settled codes of that plan */
    bool is_level;
    uint32_t index; /* into machine.levels or machine.units */
};

/* Rooftile's own kernels that a run uses besides its cases. They are planned and built like any other; if one is
 * missing or does not compile, its purpose is not met, and the measurements say so. */
enum run_service {
    SERVICE_NULL,     /* launch_empty: what a launch costs under each timer */
    SERVICE_BLOCKING, /* service_blocking: blocks a stream while a batch is queued behind it */
    SERVICE_CLOCK,    /* service_clock: core clocks against the constant counter */
    SERVICE_FLUSH,    /* service_flush: makes caches cold; its buffer has run_flush_bytes */
    SERVICE_REREAD,   /* pointer_chase over run_reread_bytes: tests that they are cold */
    SERVICE_HASH,     /* service_hash: hashes of buffers, to compare launches */
    SERVICE_COUNT
};
struct run_service_case {
    const struct plan_case *plan_case; /* of a plan of its own; NULL = there is none */
    const struct build_result *builds; /* settled codes of that plan */
};

/* Bytes that a flush must read and write to push everything else out of every cache: twice what the machine's levels
 * before the memory hold together. Without such levels `known` is false, as drivers do not report AMD's Infinity Cache:
 * then it is 1 GiB or four times the largest cache that the driver reports. */
uint64_t run_flush_bytes(bool *known, const struct machine *machine, const struct device_info *info);
/* A working set that the last cache holds and, where there are nearer ones, they do not: reading it again is fast only
 * from that cache. */
uint64_t run_reread_bytes(const struct machine *machine, const struct device_info *info);

/* One of the devices of a node that are measured at once, each by a process of its own (together.c). */
#define RUN_MAX_TOGETHER 64
#define RUN_TOGETHER_WAIT_NS 5e9 /* the longest wait for the other devices at a case */
struct run_together {
    struct run_meeting *shared; /* memory of all these processes; NULL: no other device is measured meanwhile */
    unsigned device;            /* which of them it is */
};
struct run_meeting *run_meeting_new(unsigned devices); /* before the processes are forked */
void run_meeting_free(struct run_meeting *shared);
/* Its process has ended: nobody waits for it any more. */
void run_together_gone(const struct run_together *own);
/* This device is ready for its plan. Waits for the others, and returns the monotonic time at which all begin. */
double run_together_ready(const struct run_together *own, const struct plan *plan, double limit_ns);
/* Waits until every device whose plan has the case is about to measure it, too. Returns the time at which all begin. */
double run_together_case(const struct run_together *own, const struct plan_case *plan_case);
/* The number of cases that the device began without all the others. */
uint32_t run_together_apart(const struct run_together *own);

struct run_options {
    struct device_request device;
    struct run_together together;
    uint64_t seed;              /* of inputs */
    uint64_t sample_seed;       /* of the elements that references compute */
    uint64_t order_seed;        /* of the order of cases; 0: seed */
    bool verify_only;           /* one launch per case, verified, never timed */
    enum run_inject inject;     /* with verify_only */
    enum lane_order lane_order; /* cpu, of the verification launch */
    /* each case once warm and once timed inside ranges for a profiler: no verification, calibration */
    bool profile;
    bool patient;                       /* timeouts are ten times as long: an emulator is slow */
    bool keep_order;                    /* plan order instead of a seeded random one */
    const struct run_ceiling *ceilings; /* those that can be measured again */
    size_t ceiling_count;
    struct run_service_case services[SERVICE_COUNT];
    const bool *skip; /* per case: already done (--resume); NULL = none */
    /* Per case: why its code must not be launched (its arguments differ from the manifest's); such a case has failed.
     * NULL entries are fine; NULL = none. */
    const char *const *refused;
    const volatile int *stop; /* becomes non-zero on Ctrl-C */
    /* Optional: called in the parent when the first worker has opened the device and calibrated, before any case. */
    void (*opened)(void *context, const struct device_info *info, const struct calibration *calibration);
    /* Called in the parent when a case has a status. `machine` is as it stands now (raised ceilings). */
    void (*case_done)(void *context, const struct plan_case *plan_case, const struct measurement *measured,
                      const struct machine *machine, size_t done, size_t total);
    /* Called about ten times a second while a case runs: what it is doing ("verifying", "warming up", "measuring"). */
    void (*tick)(void *context, const struct plan_case *plan_case, const char *phase, size_t done, size_t total);
    void *context;
};

/* The device as expressions and variants see it, without its capacities and peaks ... */
struct device_facts run_device_facts(const struct device_info *info);
/* ... which are: of each cache what the device itself tells, else what its machine tells, measured or from data sheets
 * (NULL, or one without levels: none), else what `like` has, a machine of the same target, for this one's units; else
 * an assumption. Of the last two `assumed` says which they are. Peaks are the machine's, or those of `like`. */
void run_facts_know(struct device_facts *facts, const struct device_info *info, const struct machine *machine,
                    const struct machine *like, struct arena *arena);

/* Opens the device in a short-lived worker and returns what it says about itself; with `calibration` (may be NULL) also
 * its timer facts and quiet calibration rates. ERR_DEVICE_LOST with the reason when it cannot be opened. */
enum status run_device_info(struct device_info *info, struct calibration *calibration,
                            const struct device_request *request, struct err *err);

/* Runs every ready case of the plan. `builds` are the settled code objects of plan->codes. Cases whose code failed or
 * was skipped, and cases that are not ready, get their status without a worker. `machine` is in and out: ceilings may
 * be raised. ERR_INTERRUPTED after Ctrl-C (the case under way is not reported), ERR_DEVICE_LOST when no worker can open
 * the device. */
enum status run_plan(const struct plan *plan, const struct build_result *builds, struct machine *machine,
                     struct calibration *calibration, const struct run_options *options, struct err *err);

#endif
