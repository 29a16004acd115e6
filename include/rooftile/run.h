/* SPDX-License-Identifier: MIT
 *
 * Run: the only stage that touches a device. The calling process (parent) supervises; it never opens a device. A worker,
 * forked before any vendor library is loaded, opens the device and runs whole cases, sampling loop included, writing into
 * memory that both share. The parent holds the watchdog: a worker that dies or hangs is that case's status (crashed, timeout),
 * and a new worker goes on with the next case. Losing the device for good ends the run.
 */
#ifndef ROOFTILE_RUN_H
#define ROOFTILE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rooftile/build.h"
#include "rooftile/device.h"
#include "rooftile/machine.h"
#include "rooftile/measurement.h"
#include "rooftile/plan.h"

/* Faults put in on purpose, to prove that verification catches them (`check --prove`). */
enum run_inject { INJECT_NONE, INJECT_SKIP_LAUNCH, INJECT_FLIP_OUTPUT, INJECT_PERTURB_INPUT };

/* Which case measured a roof, so that it can be measured again beside a case that beats it. */
struct run_roof {
    const struct plan_case *probe;     /* of a plan of its own */
    const struct build_result *builds; /* settled codes of that plan */
    bool is_level;
    uint32_t index; /* into machine.levels or machine.units */
};

struct run_options {
    struct device_request device;
    uint64_t seed;
    bool verify_only;         /* one launch per case, verified, never timed */
    enum run_inject inject;   /* with verify_only */
    enum lane_order lane_order; /* cpu, of the verification launch */
    bool keep_order;          /* plan order instead of a seeded random one */
    const struct run_roof *roofs; /* those that can be measured again */
    size_t roof_count;
    const struct plan_case *null_case;      /* an empty kernel, for the overhead of a launch; NULL = not measured */
    const struct build_result *null_builds; /* settled codes of its plan */
    const bool *skip;         /* per case: already done (--resume); NULL = none */
    const volatile int *stop; /* becomes non-zero on Ctrl-C */
    /* Called in the parent when a case has a status. `machine` is as it stands now (raised roofs). */
    void (*case_done)(void *context, const struct plan_case *plan_case, const struct measurement *measured,
                      const struct machine *machine, size_t done, size_t total);
    /* Called about ten times a second while a case runs: what it is doing ("verifying", "warming up", "measuring"). */
    void (*tick)(void *context, const struct plan_case *plan_case, const char *phase, size_t done, size_t total);
    void *context;
};

/* The device as expressions and variants see it. */
struct device_facts run_device_facts(const struct device_info *info);

/* Opens the device in a short-lived worker and returns what it says about itself; with `calibration` (may be NULL) also its
 * timer facts and quiet reference rates. ERR_DEVICE_LOST with the reason when it cannot be opened. */
enum status run_device_info(struct device_info *info, struct calibration *calibration, const struct device_request *request,
                            struct err *err);

/* Runs every ready case of the plan. `builds` are the settled code objects of plan->codes. Cases whose code failed or was
 * skipped, and cases that are not ready, get their status without a worker. `machine` is in and out: roofs may be raised.
 * ERR_INTERRUPTED after Ctrl-C (the case under way is not reported), ERR_DEVICE_LOST when no worker can open the device. */
enum status run_plan(const struct plan *plan, const struct build_result *builds, struct machine *machine,
                     struct calibration *calibration, const struct run_options *options, struct err *err);

#endif
