/* SPDX-License-Identifier: MIT
 *
 * History: what was measured run by run, in one SQLite file. A run is one run (with its trials) of one channel on one
 * device; a series is one case under one timer in one channel on one device, or one key figure; different devices are
 * never pooled. gate.h judges the series; this module stores them, replays them, and keeps what people decided
 * (accept).
 *
 * The file: WAL, so that many may read while one writes; foreign keys; PRAGMA user_version is the schema's version, and
 * older files are migrated in one transaction when they are opened for writing. docs/history.md has the tables and
 * queries for dashboards.
 *
 * Nothing is ever green by accident: no run, no database, a run of another channel, a case that vanished or does not
 * verify any more, a locked or damaged file: each is an error or a finding.
 */
#ifndef ROOFTILE_HISTORY_H
#define ROOFTILE_HISTORY_H

#include "rooftile/gate.h"
#include "rooftile/result.h"
#include "rooftile/table.h"

/* the channel when none is named: suites or settings whose runs do not mix are channels */
#define HISTORY_CHANNEL "nightly"

struct history;

enum history_access {
    HISTORY_READ,
    HISTORY_WRITE, /* and older files are migrated */
    HISTORY_BEGIN, /* and the file is created (not its folder) when there is none */
};
/* ERR_IO: cannot be opened, locked by another writer for over 10 s (ROOFTILE_BUSY_MS), disk full. ERR_CONFIG: not a
 * history, a newer schema, damaged (says what to do), not there. */
enum status history_open(struct history **history, const char *path, enum history_access access, struct err *err);
void history_close(struct history *history);

/* ---- adding ---- */

struct history_add_options {
    const char *channel; /* NULL: HISTORY_CHANNEL */
    bool backfill;       /* an older run than the newest may go in where it belongs */
    unsigned keep;       /* runs to keep of each of the channel's devices after adding; 0 = all */
};
struct history_added {
    int64_t run;
    size_t points, new_series, dropped_runs;
    bool environment_changed; /* against the run before: a break for every series */
};
/* One transaction. ERR_CONFIG: the run is in the history already (its id), a prediction or profile, an interrupted run,
 * no case that counts, it started before the newest run (a clock that went backwards, or an old result: backfill), or
 * in the future of this machine's clock by over a day. */
enum status history_add(struct history *history, const struct result *result, const struct history_add_options *options,
                        struct history_added *added, struct err *err);

/* Same-run confirmation: further trials of some cases of the newest run join its trials; their medians become those
 * of all trials, and a change that the further ones show by themselves is confirmed. A case that was timed in another
 * way, or is not the same any more (identity.h), stays as it is, with a warning. ERR_CONFIG: no run of this
 * device, another environment, no measurement (history_add), or nothing of it in the newest run. */
enum status history_confirm(struct history *history, const char *channel, const struct result *result, size_t *points,
                            struct err *err);

/* ---- judging ---- */

enum history_finding {
    FINDING_NONE,
    FINDING_CONFIRMED, /* became confirmed in this run */
    FINDING_OPEN,      /* became confirmed in an earlier run, and is neither accepted nor back */
    FINDING_TENTATIVE, /* moved in this run alone */
    FINDING_BROKEN,    /* measured before, and in this run wrong, crashed, ... */
    FINDING_MISSING,   /* measured in an earlier run, and absent or skipped in this one, until accepted or back */
    FINDING_SLOW,      /* steady, but slower than the other devices of its group, by the rule of outlier.h */
    FINDING_CHANGED,   /* its input data or its work is not that of the run before: it starts anew in this run */
    FINDING_TIMER,     /* in this run under another timer, which makes another series: this one has ended */
    FINDING_KINDS
};
/* "" "confirmed" "open" "tentative" "broken" "missing" "slow" "changed" "timer" */
extern const char *const history_finding_names[];

struct history_point;
struct history_alarm;
struct history_series {
    int64_t id;                               /* 0: a class before its first alarm */
    const char *case_id;                      /* plan id; a key figure's name; "suite:CLASS" */
    const char *label, *class, *timer, *unit; /* unit "ns" of cases */
    bool is_kpi, is_class;                    /* is_class: the common mode of a class, judged like a case */
    bool higher_is_better;
    struct gate_verdict verdict; /* of "larger is worse": key figures that should be high are judged as 1 / value */
    enum history_finding finding;
    bool slower;         /* of confirmed, open and tentative: worse */
    double this_run;     /* the value in `unit`; NaN */
    double shift;        /* of confirmed and tentative: ratio - 1 of the values in `unit`; else NaN */
    double baseline;     /* level before, in `unit`; NaN unknown, and of classes */
    double level;        /* of a series with open alarms: what they add up to, ratio - 1 in `unit`; else 0 */
    const char *since;   /* when the first run of the new level started (RFC 3339), of the first open alarm; "" */
    const char *cause;   /* "code" "launch" "environment" "clock" "group" ""; a label */
    const char *commits; /* of the last run before the change and the first after it: "1234abcd..5678ef01"; "" */
    const char *status;  /* this run's case status when it is not ok; "" */
    const char *reason;
    size_t group;        /* other devices of its group that have this series; of what moved: before and since */
    size_t group_moved;  /* ... that moved the same way, by half as much or more */
    double group_change; /* of what is steady: this run / their median - 1; NaN: fewer than 4, or it moved itself */
    double group_limit;  /* beyond which it is slow */
    /* what src/history goes by (history_internal.h) */
    int64_t seen;                 /* when the last run started that did not skip it; 0: none has */
    struct history_point *points; /* one per run; of a class NULL */
    bool *breaks;                 /* the series starts anew with this run: the change was accepted, or ... */
    unsigned *changed;            /* ... these parts of the case's identity are not those of the run before */
    bool retired;                 /* accepted while it was not measured, and not seen since */
    bool accepted_slow;           /* accepted while nothing was open: it may be slower than its group */
    struct history_alarm *alarms; /* oldest first */
    size_t alarm_count;
};

struct history_gate {
    const char *channel, *device, *run, *commit; /* run: when it started, RFC 3339 */
    /* so that a script can check which run was judged */
    const char *run_id;
    size_t runs; /* looked at, this run included */
    bool environment_changed;
    const char *environment;  /* what changed, "" */
    double environment_shift; /* if so: median over the cases of this run's value / the run before's - 1; else NaN */
    const struct history_series *series; /* findings first, the worst first; then by name */
    size_t count;
    size_t findings[FINDING_KINDS]; /* series of each; those that became faster for good are in `faster` instead */
    size_t faster, learning, quiet, too_noisy;
};
/* Judges the newest run of the channel (of `device`: part of a device's name, architecture, UUID ..., or "hip:0", which
 * stands for its backend; needed when the channel has several). Runs that were added without a gate are judged first,
 * one after the other, as the gate would have judged them then, so that nothing is missed between two calls. Alarms are
 * kept, so it needs a history that is open for writing; a second call gives the same answer. ERR_CONFIG: no run.
 *
 * An open alarm ends when people accept it, when later alarms in the other direction take its level back to within
 * delta, or when three values in a row show less than a quarter of it. */
enum status history_gate(struct history_gate *out, struct history *history, const char *channel, const char *device,
                         const struct gate_options *options, struct arena *arena, struct err *err);
/* 1: confirmed or open and slower, broken, missing, or slow; else, with `strict`, 4 for tentative, environment changes,
 * changed timers, input data and work, and series that are still learning; else 0. */
int history_exit_code(const struct history_gate *gate, bool strict);

/* The plan ids to measure again for confirmation: candidates of this run, and the cases of classes that are one. */
size_t history_candidates(const char ***ids, const struct history_gate *gate, struct arena *arena);

/* ---- people's decisions ---- */

/* Moves the baseline of every series that matches (globs on case ids, "suite:*" for classes; none = all that are open
 * or missing): open alarms are closed and the new level is the one that counts; a series without one starts anew
 * this run; missing cases are retired until they come back. What is broken stays a finding. */
enum status history_accept(size_t *count, struct history *history, const char *channel, const char *device,
                           const char *const *globs, size_t glob_count, const char *reason, struct err *err);

/* ---- looking ---- */

/* The runs that are judged together: those of a channel on a device. `key` is a --device that fits this one alone. */
struct history_place {
    const char *channel, *key;
};
/* All of them, by channel and device. */
enum status history_places(const struct history_place **places, size_t *count, struct history *history,
                           struct arena *arena, struct err *err);

/* Series as lines with a sparkline, or of a single one its runs; `globs` choose series. Lives in the document's arena.
 */
enum status history_show(struct document *document, struct history *history, const char *channel, const char *device,
                         const char *const *globs, size_t glob_count, struct err *err);
enum status history_export(struct text *out, struct history *history, const char *format,
                           struct err *err); /* "csv" "jsonl" */

/* SQLite's own check, foreign keys, and ours (points of no run, times that are not positive). `problems` gets one
 * line each. */
enum status history_check(struct text *problems, struct history *history, struct err *err);
/* Deletes runs of a channel beyond each device's newest `keep`, with their points, and series that have nothing left
 * and were accepted as gone. Open alarms stay. The gate looks at GATE_KEEP_RUNS: fewer make it blinder. */
enum status history_prune(size_t *dropped, struct history *history, const char *channel, unsigned keep,
                          struct err *err);

#endif
