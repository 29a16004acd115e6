/* SPDX-License-Identifier: MIT
 *
 * History: measurements of successive runs, in one SQLite file. A run is one run (with its trials) of one channel on
 * one device; a series is one case under one timer in one channel on one device, or one key figure; different devices
 * are never pooled. gate.h judges the series; this module stores and replays them, and records people's decisions
 * (accept).
 *
 * The file: WAL, so that many can read while one writes; foreign keys; PRAGMA user_version is the schema's version, and
 * older files are migrated in one transaction when they are opened for writing. docs/history.md has the tables and
 * queries for dashboards.
 *
 * A gate never passes by accident: no run, no database, a run of another channel, a case that vanished or no longer
 * verifies, a locked or damaged file: each is an error or a finding.
 */
#ifndef ROOFTILE_HISTORY_H
#define ROOFTILE_HISTORY_H

#include "rooftile/gate.h"
#include "rooftile/result.h"
#include "rooftile/table.h"

/* the default channel: suites or settings whose runs must not mix are channels */
#define HISTORY_CHANNEL "nightly"

struct history;

enum history_access {
    HISTORY_READ,
    HISTORY_WRITE, /* also migrates older files */
    HISTORY_BEGIN, /* also creates a missing file (not its folder) */
};
/* ERR_IO: cannot be opened, locked by another writer for over 10 s (ROOFTILE_BUSY_MS), disk full. ERR_CONFIG: not a
 * history, a newer schema, damaged (the message says what to do), missing. */
enum status history_open(struct history **history, const char *path, enum history_access access, struct err *err);
void history_close(struct history *history);

/* ---- adding ---- */

struct history_add_options {
    const char *channel; /* NULL: HISTORY_CHANNEL */
    bool backfill;       /* allows a run older than the newest, which is inserted at its time */
    unsigned keep;       /* runs to keep per device of the channel after adding; 0 = all */
};
struct history_added {
    int64_t run;
    size_t points, new_series, dropped_runs;
    bool environment_changed; /* relative to the previous run: a break for every series */
};
/* One transaction. ERR_CONFIG: the run (its id) is already in the history, it is a prediction or profile, it was
 * interrupted, no case counts, it started before the newest run (a clock that went backwards, or an old result:
 * backfill), or it is more than a day in the future of this machine's clock. */
enum status history_add(struct history *history, const struct result *result, const struct history_add_options *options,
                        struct history_added *added, struct err *err);

/* Same-run confirmation: adds further trials of some cases to the newest run. Their medians become those of all trials,
 * and a change that the further trials alone show is confirmed. A case that was timed differently, or has another
 * identity (identity.h), is not changed, with a warning. ERR_CONFIG: no run of this device, another environment, not a
 * measurement (history_add), or none of its cases in the newest run. */
enum status history_confirm(struct history *history, const char *channel, const struct result *result, size_t *points,
                            struct err *err);

/* ---- judging ---- */

enum history_finding {
    FINDING_NONE,
    FINDING_CONFIRMED, /* confirmed in this run */
    FINDING_OPEN,      /* confirmed in an earlier run, and neither accepted nor back */
    FINDING_TENTATIVE, /* changed in this run only */
    FINDING_BROKEN,    /* measured before; in this run wrong, crashed, ... */
    FINDING_MISSING,   /* measured in an earlier run, and absent or skipped in this one; until accepted or back */
    FINDING_SLOW,      /* steady, but slower than the other devices of its group by the rule of outlier.h */
    FINDING_CHANGED,   /* its input data or work differ from the previous run: it starts a new baseline in this run */
    FINDING_TIMER,     /* this run has another timer, which makes another series: this one has ended */
    FINDING_IMPROVED,  /* confirmed faster in an earlier run, within HISTORY_NEWS_RUNS, and since then as fast */
    FINDING_KINDS
};
#define HISTORY_NEWS_RUNS 14
/* "" "confirmed" "open" "tentative" "broken" "missing" "slow" "changed" "timer" "improved" */
extern const char *const history_finding_names[];

struct history_point;
struct history_alarm;
struct history_series {
    int64_t id;                               /* 0: a class before its first alarm */
    const char *case_id;                      /* plan id; a key figure's name; "suite:CLASS" */
    const char *label, *class, *timer, *unit; /* unit "ns" of cases */
    const char *shown_unit;                   /* for people; UNIT_PERCENT for a share */
    bool is_kpi, is_class;                    /* is_class: the common mode of a class, judged like a case */
    bool higher_is_better;
    struct gate_verdict verdict; /* for "larger is worse": key figures that should be high are judged as 1 / value */
    enum history_finding finding;
    bool slower;         /* worse, for confirmed, open and tentative */
    double this_run;     /* the value in `unit`; NaN */
    double shift;        /* confirmed, tentative and improved: ratio - 1 of the values in `unit`; otherwise NaN */
    double baseline;     /* previous level, in `unit`; NaN if unknown, and for classes */
    double level;        /* sum of the open alarms as a ratio - 1 in `unit`; 0 if there are none */
    const char *since;   /* start of the first run at the new level (RFC 3339), of the first open alarm; "" */
    const char *cause;   /* "code" "launch" "environment" "clock" "group" ""; a label */
    const char *commits; /* of the last run before the change and the first after it: "1234abcd..5678ef01"; "" */
    const char *status;  /* this run's case status if it is not ok; "" */
    const char *reason;
    size_t group;        /* other devices of its group with this series; if it changed: both before and since */
    size_t group_moved;  /* ... that changed in the same direction by at least half as much */
    double group_change; /* if it is steady: this run / their median - 1; NaN: fewer than 4, or it changed */
    double group_limit;  /* above this it is slow */
    /* internal to src/history (history_internal.h) */
    int64_t seen;                 /* start of the last run that did not skip it; 0: none */
    struct history_point *points; /* one per run; NULL for a class */
    bool *breaks;                 /* the series starts a new baseline with this run: the change was accepted, or ... */
    unsigned *changed;            /* ... these parts of the case's identity differ from the previous run */
    bool retired;                 /* accepted while it was not measured, and not measured since */
    bool accepted_slow;           /* accepted without an open alarm: it may be slower than its group */
    struct history_alarm *alarms; /* oldest first */
    size_t alarm_count;
};

struct history_window; /* src/history/history_internal.h */
struct history_gate {
    const struct history_window *window;         /* the runs that were judged */
    const char *channel, *device, *run, *commit; /* run: its start, RFC 3339 */
    /* lets a script check which run was judged */
    const char *run_id;
    size_t runs; /* runs used, including this one */
    bool environment_changed;
    const char *environment; /* the changes, "" */
    /* if it changed: median over the cases of this run's value / the previous run's - 1; otherwise NaN */
    double environment_shift;
    const struct history_series *series; /* findings first, worst first; then by name */
    size_t count;
    /* number of series with each; series that became permanently faster are in `faster` instead */
    size_t findings[FINDING_KINDS];
    size_t faster, learning, quiet, too_noisy;
};
/* Judges the newest run of the channel (`device`: part of a device's name, architecture, UUID ..., or "hip:0", which
 * selects its backend; required if the channel has several). Runs that were added without a gate are judged first, in
 * order, as the gate would have judged them then, so that nothing is missed between two calls. Stores alarms, so the
 * history must be open for writing; a second call gives the same result. ERR_CONFIG: no run.
 *
 * An open alarm ends when it is accepted, when later alarms in the other direction return its level to within delta, or
 * when three values in a row show less than a quarter of it. */
enum status history_gate(struct history_gate *out, struct history *history, const char *channel, const char *device,
                         const struct gate_options *options, struct arena *arena, struct err *err);
/* Returns 1 for confirmed or open and slower, broken, missing, or slow; otherwise, with `strict`, 4 for tentative,
 * environment changes, changed timers, input data and work, and series that are still learning; otherwise 0. */
int history_exit_code(const struct history_gate *gate, bool strict);

/* Returns the plan ids to measure again for confirmation: candidates of this run, and the cases of classes that are
 * candidates. */
size_t history_candidates(const char ***ids, const struct history_gate *gate, struct arena *arena);

/* ---- people's decisions ---- */

/* Moves the baseline of every matching series (globs on case ids, "suite:*" for classes; none = all that are open or
 * missing): open alarms are closed, and the new level becomes the reference; a series without one starts a new baseline
 * with this run; missing cases are retired until they return. Broken cases remain findings. */
enum status history_accept(size_t *count, struct history *history, const char *channel, const char *device,
                           const char *const *globs, size_t glob_count, const char *reason, struct err *err);

/* ---- display ---- */

/* Runs that are judged together: those of a channel on a device. `key` is a --device that matches only this one. */
struct history_place {
    const char *channel, *key;
};
/* Returns all of them, ordered by channel and device. */
enum status history_places(const struct history_place **places, size_t *count, struct history *history,
                           struct arena *arena, struct err *err);

/* Adds a page's section at level 1 with the values of a series over the runs; `key` names the chart. Adds nothing for a
 * class, or fewer than two values. Returns whether it did. */
bool history_chart(struct document *document, const struct history_window *window, const struct history_series *series,
                   const char *key, const char *title, const char *text);
/* A table of series with a sparkline each. */
struct table *history_list(const struct history_window *window, const struct history_series *const *series,
                           size_t count, struct arena *arena);

/* A sparkline of all key figures together, upwards is better; "": there are none. */
const char *history_trend(const struct history_window *window, struct arena *arena);
/* Runs that are missing between the others and until `until` (RFC 3339), by the usual distance between two runs. */
size_t history_missing(const struct history_window *window, const char *until);

/* Displays series as lines with a sparkline, or the runs of a single one; `globs` select series. Lives in the
 * document's arena. */
enum status history_show(struct document *document, struct history *history, const char *channel, const char *device,
                         const char *const *globs, size_t glob_count, struct err *err);
enum status history_export(struct text *out, struct history *history, const char *format,
                           struct err *err); /* "csv" "jsonl" */

/* Executes SQLite's own check, foreign keys, and ours (points without a run, times that are not positive). `problems`
 * gets one line each. */
enum status history_check(struct text *problems, struct history *history, struct err *err);
/* Deletes runs of a channel beyond each device's newest `keep`, with their points, and series that have no points left
 * and were accepted as gone. Open alarms stay. The gate uses GATE_KEEP_RUNS: fewer make it less sensitive. */
enum status history_prune(size_t *dropped, struct history *history, const char *channel, unsigned keep,
                          struct err *err);

#endif
