/* SPDX-License-Identifier: MIT
 *
 * Measure: runs a session's plan and its services to a result, in one process or as trials.
 */
#ifndef ROOFTILE_MEASURE_H
#define ROOFTILE_MEASURE_H

#include "rooftile/codeobj.h"
#include "rooftile/result.h"
#include "rooftile/session.h"

/* ---- one process (execute.c) ---- */

struct execution {
    const char *title;            /* starts the progress line */
    const struct result *resumed; /* its cases are in the result and do not run again; NULL: none */
    bool rest;                    /* only the cases of `trial` do not run again, and they are not in the result */
    uint32_t trial;
    struct result_part part; /* identity of this trial; NULL texts: a run of its own that begins now */
    const char *journal;     /* the result's file, or "" for a journal in the data folder; NULL: no journal */
    bool verify_only;        /* one launch per case, verified, never timed; reports no cases */
    enum run_inject inject;  /* with verify_only */
    enum lane_order lane_order;
};

/* Runs every case of the session's plan, with progress. On ERR_INTERRUPTED the result contains what was measured, and
 * result->status is "interrupted". */
enum status execute_plan(struct result *result, struct session *session, const struct execution *execution,
                         struct err *err);

/* Returns ERR_CONFIG if the earlier result was measured elsewhere and cannot be resumed here. */
enum status execute_check_place(const struct result *old, const struct session *session, struct err *err);
/* Keeps the cases of an earlier result that --resume need not measure again: those that are ok and have the same
 * identity in the session's plan, which must be built. Warns about changed cases. */
void execute_resume(struct result *kept, const struct result *old, const struct session *session);

/* Finds the case with this plan id; NULL if there is none. Results are in plan order, so the case is nearly always the
 * successor of the last one found, whose position `next` (initially 0) remembers. */
const struct result_case *execute_find(const struct result *result, const char *id, size_t *next);
bool execute_has_trial(const struct result_case *c, uint32_t trial);

/* Removes the session's journals, after all measurements were saved in a result or shown. */
void execute_journals_done(struct session *session);
/* Adds to the error which journals contain measurements, if any. Returns err->status. */
enum status execute_journals_kept(struct session *session, struct err *err);

/* ---- planning the cases of a result again (result_cases.c) ---- */

struct result_cases {
    const struct result *result;
    const struct result_case **items; /* by plan_case.asked: measured cases that pass --filter, without duplicates */
    size_t count;
};
bool result_is_file(const char *word, struct arena *arena);
/* Replaces SESSION_SUITES and SESSION_CATALOG: reads the result and its kernels, and gives the session a suite of these
 * cases, with the parameters that differ from the defaults on the device that measured them. ERR_USAGE: there is no
 * such case. */
enum status result_cases(struct result_cases *of, struct session *session, const char *path, struct err *err);

/* ---- several processes (trials.c) ----
 *
 * A trial is a fresh process with its own random order of cases, because times vary as much between processes as within
 * one. The trials of two builds can take turns, A B B A ..., so that changes of the machine affect both. */

struct trials {
    struct session *session;
    const char *title;            /* starts the progress line */
    const struct result *resumed; /* what to resume (execute_resume); NULL: nothing */
    const char *out;              /* the result's file, next to which the journal is; NULL or "-": none */
    struct result *parts;         /* those that ran, `count` of them */
    size_t count;
    bool cut;                /* the budget's end or Ctrl-C came before all of them ran */
    struct plan_case *cases; /* the session's plan, in which timers are pinned if there are several trials */
};

/* Returns ERR_USAGE for options that trials do not support (--profile; --resume except with --trials), and for more
 * than SHIFT_MAX_TRIALS trials. `what` is "--trials", "--ab" or "aa". ERR_IO: --out cannot be written. */
enum status trials_check(const struct cli_options *options, const char *what, struct arena *arena, struct err *err);

/* Runs `count` trials and joins them, together with a resumed result, into one result; a single part is the result.
 * ERR_INTERRUPTED: the result contains what was measured, if run->count is not 0. If the parts cannot be joined, they
 * are in run->parts, and result->cases is not set. result->status is "complete" only if all trials have all cases. */
enum status trials_measure(struct result *result, struct trials *run, uint32_t count, struct err *err);

/* ---- a run's services (services.c) ---- */

/* The kernels of run.h's enum run_service, planned and built. */
struct service_code {
    const struct plan *plan; /* of one case; NULL: not used on this device, or there is no such kernel */
    struct build_result *builds;
};

/* Whether the session's device uses the service. */
bool services_wanted(const struct session *session, enum run_service which);
/* Plans and builds the wanted services. One that cannot be planned is skipped and its function is unavailable; only an
 * interrupt or a broken launch_empty is an error. */
enum status services_prepare(struct service_code services[SERVICE_COUNT], struct session *session, struct err *err);

/* Fills in the services. Also plans and builds the cases that set the machine's measured ceilings, so that a ceiling
 * can be measured again together with a case that beats it. */
enum status services_add(struct run_options *run, struct session *session, struct err *err);

/* Warns about findings of the first worker: other users of the GPU, missing timers, a flush that does not work. */
void services_warn(const struct session *session, const struct device_info *info,
                   const struct calibration *calibration);
/* Describes who else uses the GPU; "" if nobody does, or if that is unknown. */
void idle_problem(struct text *problem, const struct device_info *info, const struct device_sense *sense);

/* ---- the GPU code objects of a plan, read once after the build (codes.c) ----
 *
 * They have two uses: cases whose arguments differ from those of their kernel are not launched, and results record
 * facts about the compiled kernel. */

struct codes {
    const struct session *session;
    const struct codeobj_file **files; /* by plan code; NULL: for the CPU, of a library, or not built */
    const char **problems;             /* by plan code; NULL: none */
};

/* Reads every built object of the session's plan. An unreadable one is no error here. */
void codes_open(struct codes *codes, const struct session *session);

/* Lists the differences between a case's launches and its kernels, a line each, and (`unread`) why its code cannot be
 * read. Returns false if there are none. */
bool codes_differences(struct text *out, const struct codes *codes, const struct plan_case *plan_case, bool unread);

/* Lists the parts of the manifest's work that the instructions cannot perform. AMD's code only. */
bool codes_work_differs(struct text *out, const struct codes *codes, const struct plan_case *plan_case);

/* Returns reasons by plan index for run_options.refused. Unreadable code is not refused. */
const char *const *codes_refused(const struct codes *codes);

/* Returns facts by plan index about the first timed launch of each case; not `known` if there is no AMD code object.
 * Disassembles, so call it before cases run. */
const struct result_code *codes_facts(const struct codes *codes);

#endif
