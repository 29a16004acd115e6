/* SPDX-License-Identifier: MIT */
#ifndef ROOFTILE_HISTORY_INTERNAL_H
#define ROOFTILE_HISTORY_INTERNAL_H

#include "database.h"
#include "rooftile/history.h"
#include "rooftile/shift.h"
#include "rooftile/units.h"

/* One run of a channel on one device, oldest first. */
struct history_run {
    int64_t id, environment, started;
    bool gated;
    double prediction_error;                       /* median of its cases; NaN: none was predicted */
    const char *started_at, *git, *run_id, *facts; /* facts of the environment, one "key=value" a line */
};

struct history_point {
    double value, cycles, tick; /* NaN: none */
    double again, again_least;  /* median and least of the trials that were measured again; 0: none were */
    const char *status, *reason;
    const char *identity; /* identity_line; "" unknown */
    bool present;         /* the case was in that run at all */
};

struct history_alarm {
    int64_t started, tau; /* of the run that found it, and of the first run of the new level */
    const char *tau_at, *cause, *commits;
    double shift, sigma, baseline; /* as gate_verdict has them */
    bool open, accepted;           /* neither: it is gone, or was not for the worse */
};

/* What gate and show look at: every series with its points in the last runs. */
struct history_window {
    const char *channel, *device;
    int64_t device_id;
    struct history_run *runs;
    size_t run_count;
    struct history_series *rows; /* by id */
    size_t row_count;
};
extern const struct history_series history_unknown; /* nothing is known of it */

/* In the caller's transaction, as all below that take a history. ERR_CONFIG: no run in the channel, or several devices
 * and none (or no single one) named. */
enum status history_load(struct history_window *window, struct history *history, const char *channel,
                         const char *device, size_t runs, struct arena *arena);

/* The first run that started then or later; run_count: none. */
size_t history_run_at(const struct history_window *window, int64_t started);

/* The parts of the identity (IDENTITY_BITs) that differ between two points. */
unsigned history_changes(const struct history_point *a, const struct history_point *b);

/* The series that this run's case belongs to under another timer: then `row` has ended, and nothing is missing. */
const struct history_series *history_other_timer(const struct history_window *w, const struct history_series *row);

/* What the open alarms of a series add up to, as ln; 0 without one. `first`: the earliest of them. */
double history_open_level(const struct history_series *row, const struct history_alarm **first);

/* What history_prune does; how many runs that were. */
size_t history_drop_runs(struct history *history, const char *channel, unsigned keep);

/* ---- what a run is ---- */

/* What tells devices apart. */
const char *history_device_key(const struct result *result, struct arena *arena);
/* A prediction, a profile, or a part of a run is no measurement. */
enum status history_check_result(const struct result *result, struct err *err);

/* "ok", or why the case has no value: its finding, "not timed", "skipped" ... */
const char *history_status(const struct result_case *c);

/* ---- judging: history_judge.c hands the runs to gate.h, history_gate.c makes findings of the last one ---- */

struct history_judging {
    struct history *history;
    struct history_window window;
    const struct gate_options *options;
    struct gate_set set;                     /* the run being judged and those before it */
    struct gate_series *series;              /* one per row */
    double **values;                         /* per row, all runs of the window: larger is worse */
    struct history_series **class_rows;      /* id 0 before its first alarm */
    bool *breaks;                            /* of everything, all runs */
    struct gate_verdict *verdicts, *classes; /* of the run judged last: in the end, this run */
    struct arena *arena;
};

/* Judges every run that was not judged before, and this run; stores their alarms, and closes those that are gone. */
void history_judge(struct history_judging *judging);

/* Converts a shift or level, in which larger is worse, into the values' own unit: where higher is better the gate saw
 * the inverse. */
double history_in_unit(bool higher_is_better, double shift);

/* Why the series moved, against the last run before `tau` that has it: a label. */
const char *history_cause(const struct history_judging *judging, const struct history_series *row, size_t tau,
                          size_t run);
const char *history_commits(const struct history_judging *judging, size_t tau);

/* The value behind "name=" among lines of facts; its length in `length`. "" when there is none. */
const char *history_fact(size_t *length, const char *facts, const char *name, size_t name_length);

/* Compares each series with the same one on the other devices of its group: how many moved too, and FINDING_SLOW. */
void history_group(struct history_series *const *series, size_t count, struct history_judging *judging);

#endif
