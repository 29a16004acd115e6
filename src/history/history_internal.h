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
    double prediction_error;                       /* median over its cases; NaN: nothing was predicted */
    const char *started_at, *git, *run_id, *facts; /* facts of the environment, one "key=value" per line */
};

struct history_point {
    double value, cycles, tick; /* NaN: none */
    double again, again_least;  /* median and minimum of the trials measured again; 0: none */
    const char *status, *reason;
    const char *identity; /* an identity_line; "" if unknown */
    bool present;         /* the case was part of that run */
};

struct history_alarm {
    int64_t started, tau; /* start of the run that found it, and of the first run at the new level */
    const char *tau_at, *cause, *commits;
    double shift, sigma, baseline; /* as in gate_verdict */
    bool open, accepted;           /* neither: it has disappeared, or was an improvement */
};

/* The data for gate and show: every series with its points in the last runs. */
struct history_window {
    const char *channel, *device;
    int64_t device_id;
    struct history_run *runs;
    size_t run_count;
    struct history_series *rows; /* ordered by id */
    size_t row_count;
};
extern const struct history_series history_unknown; /* a series without any data */

/* Like all functions below that take a history, runs in the caller's transaction. ERR_CONFIG: no run in the channel, or
 * several devices and none (or no single one) named. */
enum status history_load(struct history_window *window, struct history *history, const char *channel,
                         const char *device, size_t runs, struct arena *arena);

/* Returns the first run that started at that time or later; run_count if none. */
size_t history_run_at(const struct history_window *window, int64_t started);

/* Returns the parts of the identity (IDENTITY_BITs) that differ between two points. */
unsigned history_changes(const struct history_point *a, const struct history_point *b);

/* Returns the series of the same case under this run's timer, if that is another one: `row` has then ended and is not
 * missing. */
const struct history_series *history_other_timer(const struct history_window *w, const struct history_series *row);

/* Returns the alarm that made the series faster for good in the last HISTORY_NEWS_RUNS runs; NULL: none, or it only
 * undid a regression. */
const struct history_alarm *history_improvement(const struct history_window *w, const struct history_series *row);

/* Returns the sum of a series' open alarms, as ln; 0 without one. `first` receives the earliest. */
double history_open_level(const struct history_series *row, const struct history_alarm **first);

/* Implements history_prune; returns the number of dropped runs. */
size_t history_drop_runs(struct history *history, const char *channel, unsigned keep);

/* ---- identity of a run ---- */

/* Parses RFC 3339, to seconds since 1970; drops fractions of a second. */
enum status history_time(int64_t *seconds, const char *text, struct err *err);
/* Returns the key that identifies a device. */
const char *history_device_key(const struct result *result, struct arena *arena);
/* Rejects results that are not measurements: a prediction, a profile, a part of a run. */
enum status history_check_result(const struct result *result, struct err *err);

/* Returns "ok", or why the case has no value: its finding, "not timed", "skipped" ... */
const char *history_status(const struct result_case *c);

/* ---- judging: history_judge.c passes runs to gate.h, history_gate.c turns the last verdicts into findings ---- */

struct history_judging {
    struct history *history;
    struct history_window window;
    const struct gate_options *options;
    struct gate_set set;                     /* the run being judged and those before it */
    struct gate_series *series;              /* one per row */
    double **values;                         /* per row, over all runs of the window; larger is worse */
    struct history_series **class_rows;      /* id is 0 before its first alarm */
    bool *breaks;                            /* runs at which every series breaks, for all runs */
    struct gate_verdict *verdicts, *classes; /* of the run judged last, which is finally this run */
    struct arena *arena;
};

/* Judges every run not yet judged, and this run; stores their alarms, and closes alarms whose change has
 * disappeared. */
void history_judge(struct history_judging *judging);

/* Converts a shift or level in which larger is worse into the values' own unit. Where higher values are better, the
 * gate uses their inverse. */
double history_in_unit(const struct history_series *row, double shift);

/* Returns a label for the cause of the shift, by comparison with the last run before `tau` that has the series. */
const char *history_cause(const struct history_judging *judging, const struct history_series *row, size_t tau,
                          size_t run);
const char *history_commits(const struct history_judging *judging, size_t tau);

/* Returns the value after "name=" in lines of facts, and its length in `length`; "" if there is none. */
const char *history_fact(size_t *length, const char *facts, const char *name, size_t name_length);

/* Compares each series with the same series on the other devices of its group: counts those that moved too, and sets
 * FINDING_SLOW. */
void history_group(struct history_series *const *series, size_t count, struct history_judging *judging);

#endif
