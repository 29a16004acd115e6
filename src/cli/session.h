/* SPDX-License-Identifier: MIT
 *
 * Session: the stages that run, plan, build, check and roofline share, one after the other: catalog, device, machine,
 * suites, plan, code objects.
 */
#ifndef ROOFTILE_SESSION_H
#define ROOFTILE_SESSION_H

#include "cli.h"
#include "rooftile/build.h"
#include "rooftile/catalog.h"
#include "rooftile/device.h"
#include "rooftile/machine.h"
#include "rooftile/plan.h"
#include "rooftile/run.h"

struct session {
    const struct cli_options *options;
    struct arena *arena;
    struct catalog catalog;
    struct device_request request;
    struct device_info info;
    struct device_facts facts;
    struct calibration calibration;
    struct machine machine;
    char machine_path[512]; /* where it came from; "" = none known */
    const char *cpu_target; /* what references are compiled for */
    const struct suite *const *suites;
    size_t suite_count;
    const struct plan *plan;
    struct build_result *builds;
    const char *compiler; /* that kernels are to be built with; NULL: any */
    uint64_t trial_seed;  /* of the order of cases in this trial; 0: --seed */
};

/* Kernel folders: --kernels, then the suites' own, then the built-in ones. */
enum status session_catalog(struct session *session, struct err *err);
/* Suites, catalog, device, machine and plan, one after the other: what `plan` shows and `run` runs. */
enum status session_prepare(struct session *session, struct err *err);
/* --device or the best one present (the reason is said on stderr), opened once in a short-lived worker for its facts.
 */
enum status session_device(struct session *session, struct err *err);
/* References run on the CPU, whatever the device under test is: what they are compiled for. */
enum status session_reference_target(struct session *session, struct err *err);
/* --machine, else the measured file of this very device, else the model's file by PCI id; none is not an error. */
enum status session_machine(struct session *session, struct err *err);
/* Arguments are suite files (a path, or a name in configs/) or kernel names. */
enum status session_suites(struct session *session, struct err *err);
enum status session_plan(struct session *session, bool at_check_params, struct err *err);
/* ERR_CONFIG when a case's values make no sense (a grid of zero, sizes that overflow): nothing is run then. */
enum status session_refuse_invalid(const struct session *session, struct err *err);
/* A plan of one suite with the session's device and machine, without --set and --filter. */
enum status session_plan_suite(const struct plan **plan, struct session *session, const struct suite *suite,
                               struct err *err);
/* Compiles what the plan needs, with progress; failures are data. */
enum status session_build(struct session *session, const volatile int *stop, struct err *err);

/* Kernels that are there for others, and no benchmarks: references by their name, services by their tag. */
bool session_is_helper(const struct manifest *manifest);
/* A suite of every kernel in the catalog, or without the helpers. */
enum status session_all_kernels(struct session *session, bool helpers, struct err *err);

/* Stands in for a device of this target when code is built ahead of time: a machine file of the same gfx name, or what
 * the target's family has at least. */
enum status session_target(struct session *session, const char *arch, struct err *err);

/* Where `rooftile roofline` saves the measured machine of this device, and `run` looks for it. */
char *session_machine_file(const struct device_info *info, struct arena *arena);
/* Identity of a device for its machine file. */
void session_device_id(char out[static 512], const struct device_info *info);

/* Builds a plan's codes with the session's settings. */
enum status session_build_plan(struct build_result **builds, struct session *session, const struct plan *plan,
                               const volatile int *stop, struct err *err);

/* How many of a plan's codes would have to be compiled, and about how long that takes here; 0 on sim. */
enum status session_uncompiled(size_t *count, double *time_ns, struct session *session, struct err *err);

/* Ctrl-C: the first one asks for an orderly end (session_stop becomes STOP_SIGNAL), the second ends at once with 130.
 * With
 * --budget time itself asks for it (STOP_BUDGET), from session_suites on. */
enum { STOP_NOT, STOP_SIGNAL, STOP_BUDGET };
extern volatile int session_stop;
void session_catch_signals(void);

/* Starts the clock of --budget; one for the whole program: of several sessions (--ab) the first starts it. */
enum status session_start_budget(const struct cli_options *options, struct err *err);
/* --NAME TEXT as a duration; NULL changes nothing, ERR_USAGE for anything else that is none. */
enum status session_time_option(double *time_ns, const char *name, const char *text, struct err *err);

/* Whether this ERR_INTERRUPTED is the end of the budget, which is no error: what is left is skipped, and says so. */
bool session_late(enum status status);
/* The words for it: "the time budget of 60s ran out before this was <what>". */
const char *session_late_reason(const struct session *session, const char *what);

#endif
