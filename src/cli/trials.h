/* SPDX-License-Identifier: MIT
 *
 * Trials: a run is so many fresh processes, each with the cases in a random order of its own, because the spread
 * between processes is as large as the one within. The trials of two builds can take turns, A B B
 * A ..., so that what changes about the machine meanwhile meets both.
 */
#ifndef ROOFTILE_TRIALS_H
#define ROOFTILE_TRIALS_H

#include "execute.h"

struct trials {
    struct session *session;
    const char *title;            /* starts the progress line */
    const struct result *resumed; /* of a run of one trial; NULL: nothing */
    struct result *parts;         /* those that ran, `count` of them */
    size_t count;
    struct plan_case *cases; /* the session's plan, to pin timers in; of a run of several */
};

/* ERR_USAGE: options that do not go with trials (--resume, --profile), or more than SHIFT_MAX_TRIALS of them. `what` is
 * "--trials" or "--ab" or "aa". */
enum status trials_check(const struct cli_options *options, const char *what, struct err *err);

/* Runs `count` trials of each of the runs (one, or the two sides of a comparison: then A B B A A B ...).
 * ERR_INTERRUPTED: the parts hold what there is; the last of one of the runs may be incomplete (its status says so). */
enum status trials_run(struct trials *const *runs, size_t run_count, uint32_t count, struct err *err);

/* One result from a run's parts; with one part it is that part. */
enum status trials_join(struct result *result, const struct trials *run, struct err *err);

#endif
