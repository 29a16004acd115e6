/* SPDX-License-Identifier: MIT
 *
 * Measure: runs a session's plan to a result: its cases and what a run needs besides, in one process or as trials.
 */
#ifndef ROOFTILE_MEASURE_H
#define ROOFTILE_MEASURE_H

#include "rooftile/codeobj.h"
#include "rooftile/result.h"
#include "rooftile/session.h"

/* ---- one process (execute.c) ---- */

struct execution {
    const char *title;            /* starts the progress line */
    const struct result *resumed; /* its cases are not run again, and are in the result; NULL: none */
    bool rest;                    /* only its cases of `trial` are not run again, and none is in the result */
    uint32_t trial;
    struct result_part part; /* the identity of this trial; its texts NULL: a run of its own, begun now */
    const char *journal;     /* of this result, or "": in the data folder; NULL: none */
    bool verify_only;        /* one launch per case, verified, never timed; says nothing of a case */
    enum run_inject inject;  /* with verify_only */
    enum lane_order lane_order;
};

/* Runs every case of the session's plan, with progress. On ERR_INTERRUPTED the result is filled with what there is and
 * result->status is "interrupted". */
enum status execute_plan(struct result *result, struct session *session, const struct execution *execution,
                         struct err *err);

/* ERR_CONFIG: this earlier result was measured elsewhere and cannot be resumed here. */
enum status execute_check_place(const struct result *old, const struct session *session, struct err *err);
/* The cases of an earlier result that --resume need not measure again: those that are ok and have the identity of the
 * session's plan, which must be built. Cases that changed are warned about. */
void execute_resume(struct result *kept, const struct result *old, const struct session *session);

/* The case of this plan id; NULL: there is none. Results stand in plan order, so the case looked for is nearly always
 * the one behind the last found: `next` (0 at first) remembers where. */
const struct result_case *execute_find(const struct result *result, const char *id, size_t *next);
bool execute_has_trial(const struct result_case *c, uint32_t trial);

/* Removes the session's journals: everything that it measured is in a result or was shown. */
void execute_journals_done(struct session *session);
/* Says in the error which journals have it instead, if there is anything in them. Returns err->status. */
enum status execute_journals_kept(struct session *session, struct err *err);

/* ---- cases of a result, planned again (result_cases.c) ---- */

struct result_cases {
    const struct result *result;
    const struct result_case **items; /* by plan_case.asked: measured, no twins, those that --filter leaves */
    size_t count;
};
bool result_is_file(const char *word, struct arena *arena);
/* Reads the result and its kernels, and gives the session a suite of these cases with the parameters that differ from
 * the defaults on the device that measured them. In place of SESSION_SUITES and SESSION_CATALOG. ERR_USAGE: there is no
 * such case. */
enum status result_cases(struct result_cases *of, struct session *session, const char *path, struct err *err);

/* ---- several processes (trials.c) ----
 *
 * A trial is a fresh process, with the cases in a random order of its own, because the spread between processes is as
 * large as the one within. The trials of two builds can take turns, A B B A ..., so that changes of the machine
 * meanwhile affect both. */

struct trials {
    struct session *session;
    const char *title;            /* starts the progress line */
    const struct result *resumed; /* what to resume (execute_resume); NULL: nothing */
    const char *out;              /* the result's file, next to which the journal is; NULL or "-": there is none */
    struct result *parts;         /* those that ran, `count` of them */
    size_t count;
    bool cut;                /* time ran out, or Ctrl-C, before all of them ran */
    struct plan_case *cases; /* the session's plan, in which timers are pinned if there are several trials */
};

/* ERR_USAGE: options that do not go with trials (--profile, and --resume but with --trials), or more than
 * SHIFT_MAX_TRIALS of them. `what` is "--trials" or "--ab" or "aa". ERR_IO: --out cannot be written. */
enum status trials_check(const struct cli_options *options, const char *what, struct arena *arena, struct err *err);

/* Runs `count` trials and joins them into one result, with what is resumed; with one part it is that part.
 * ERR_INTERRUPTED: the result has what was measured, if run->count is not 0. If the parts do not fit together, they are
 * in run->parts, and result->cases is not set. result->status is "complete" only when all trials have all cases. */
enum status trials_measure(struct result *result, struct trials *run, uint32_t count, struct err *err);

/* ---- what a run needs besides its cases (services.c) ---- */

/* The kernels of run.h's enum run_service, planned and built. */
struct service_code {
    const struct plan *plan; /* of one case; NULL = the device has no use for it, or there is no such kernel */
    struct build_result *builds;
};

/* Whether the session's device has a use for it. */
bool services_wanted(const struct session *session, enum run_service which);
/* Plans and builds those that are wanted. One that cannot be planned is skipped, and its purpose is not met: only an
 * interrupt or a broken launch_empty is an error. */
enum status services_prepare(struct service_code services[SERVICE_COUNT], struct session *session, struct err *err);

/* Fills in the services, and the cases behind the machine's measured ceilings, planned and built again, so that a
 * ceiling can be measured together with a case that beats it. */
enum status services_add(struct run_options *run, struct session *session, struct err *err);

/* Warnings about what the first worker found out: somebody else uses the GPU, timers are missing, a flush does not
 * work. */
void services_warn(const struct session *session, const struct device_info *info,
                   const struct calibration *calibration);
/* Who else uses the GPU; "" when nobody does, or when nobody knows. */
void idle_problem(struct text *problem, const struct device_info *info, const struct device_sense *sense);

/* ---- the GPU code objects of a plan, read once after they are built (codes.c) ----
 *
 * Two uses: no case is launched whose arguments differ from what its kernel takes, and results record what the compiler
 * made of a kernel. */

struct codes {
    const struct session *session;
    const struct codeobj_file **files; /* by plan code; NULL: for the CPU, a library, or not built */
    const char **problems;             /* by plan code; NULL: none */
};

/* Reads every built object of the session's plan. One that cannot be read is no error here. */
void codes_open(struct codes *codes, const struct session *session);

/* What differs between a case's launches and its kernels, a line each, and (`unread`) why its code cannot be read.
 * False: nothing does. */
bool codes_differences(struct text *out, const struct codes *codes, const struct plan_case *plan_case, bool unread);

/* The same for its work: which part of the manifest's work the instructions cannot do. AMD's code only. */
bool codes_work_differs(struct text *out, const struct codes *codes, const struct plan_case *plan_case);

/* By plan index, as run_options.refused takes it. Code that cannot be read is not refused. */
const char *const *codes_refused(const struct codes *codes);

/* By plan index, of the first timed launch of each case; not `known` when there is no AMD code object. Disassembles, so
 * it is called before cases run. */
const struct result_code *codes_facts(const struct codes *codes);

#endif
