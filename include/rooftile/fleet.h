/* SPDX-License-Identifier: MIT
 *
 * Fleet: compares the results of many devices, and finds devices or nodes that differ from the others. Reads results
 * only; how the runs were started does not matter here.
 *
 * Like is compared with like: devices of one model, partition, driver and power cap are a group. Other facts that
 * differ are drift, never slowness. outlier.h has the rule for outliers. Several results of one device are its runs:
 * the device is slow only if every run is slow.
 */
#ifndef ROOFTILE_FLEET_H
#define ROOFTILE_FLEET_H

#include "rooftile/outlier.h"
#include "rooftile/result.h"

#define FLEET_SCHEMA "https://rooftile.dev/schemas/fleet/1/fleet.schema.json"
#define FLEET_MAX_NODES 100000

enum fleet_verdict {
    FLEET_ALIKE,
    FLEET_UNJUDGED, /* too few alike, and not in the baseline */
    FLEET_SLOW,
    FLEET_BROKEN, /* wrong, crashed or failed, or the run did not end */
};
extern const char *const fleet_verdict_names[];

/* Why a device is slow, according to its other readings. */
enum fleet_cause {
    SLOW_BY_UNKNOWN,
    SLOW_BY_CLOCK,
    SLOW_BY_POWER,
    SLOW_BY_HEAT,
    SLOW_BY_MEMORY,
    SLOW_BY_LINK,
    SLOW_BY_HOST,
    FLEET_CAUSES
};
extern const char *const fleet_cause_names[];

/* One case on one device, over its runs. */
struct fleet_reading {
    double time_ns;    /* median of the runs; NaN: not measured, or not valid */
    double fastest_ns; /* of the runs */
    double noise;      /* sd of ln(time) between runs; NaN: only one run */
    double core_hz;    /* NaN: unknown, as for all below */
    double memory_hz, temp_c, power_w;
    double violation_power, violation_heat; /* accumulated during the case */
    const char *problem;                    /* why it is broken; NULL: it is not */
};

struct fleet_metric {
    /* the case's label, plus what distinguishes it from others with that label, plus " together" if all devices ran at
     * once */
    const char *name;
    const char *id;    /* the case's id */
    const char *kind;  /* its class: "memory" "compute" "latency" "launch" */
    const char *level; /* the ceiling of its lower bound: "DRAM", "link", "vector_f32"; "" unknown */
    const char *unit;  /* of its rate: "B/s" "FLOP/s"; "ns": a latency, or only a time */
    bool together;     /* measured while all devices ran */
    double amount;     /* rate = amount / time; 0: none */
    double each;       /* operations whose latency is measured; otherwise 1 */
};

struct fleet_fact {
    const char *key, *value;
};

struct fleet_run; /* src/fleet/fleet_internal.h */

struct fleet_device {
    const char *node, *name; /* "n3", "n3 hip:0" */
    const char *key;         /* identifies the device in the node: UUID or PCI address, and id */
    size_t group;
    size_t runs;
    const char *problem; /* of the whole run: killed, or nothing measured within its budget; NULL: none */
    uint32_t expected;   /* number of devices that its node should measure; 0 unknown */
    uint32_t rank, world;
    const struct fleet_fact *facts;
    size_t fact_count;
    struct fleet_reading *readings; /* by metric */
    struct outlier *outliers;       /* by metric */
    enum fleet_verdict verdict;
    const struct fleet_run *run; /* as read */
};

struct fleet_group {
    const char *name;  /* "AMD Instinct MI300X, SPX/NPS1, 750 W" */
    const char *model; /* of the device only */
    const char *about; /* the name for people: "..., driver 6.3" */
    /* the shortest name: "AMD Instinct MI300X, driver 6.3" if the model has groups with another driver */
    const char *title;
    const struct fleet_fact *facts;
    size_t devices;
    bool judged; /* at least one of its metrics is */
};

/* One metric in one group. */
struct fleet_spread {
    size_t group, metric, n;
    double median_ns, min_ns, max_ns;
    double spread; /* of ln(time), robust; NaN if there are fewer than 3 */
    double noise;  /* between runs of one device; NaN unknown */
    struct outlier_modes modes;
    double baseline_ns, against; /* median of the baseline; median / that - 1; NaN: no baseline */
    bool low;                    /* the group as a whole is slower than the baseline allows */
    const char *slower_nodes;    /* if there are two modes: location of the slower devices */
    double beside;               /* if measured together: median time / time alone - 1; otherwise NaN */
    size_t most_beside;          /* the device that loses most when all run together */
};

struct fleet_outlier {
    size_t device, metric;
    double change, z; /* z is NaN if there is no spread at all */
    enum fleet_cause cause;
    const char *why; /* details of the cause: "1.62 GHz where others hold 2.10 GHz" */
    size_t runs;     /* runs that show it, which are all of the device's */
};

/* Devices with another value than most of their group (for a key that defines groups: than most of the model). */
struct fleet_drift {
    const char *key, *majority, *value;
    size_t count, majority_count;
    const char *devices; /* the first ones by name */
};

struct fleet {
    struct arena *arena;
    struct fleet_metric *metrics;
    size_t metric_count;
    struct fleet_device *devices;
    size_t device_count;
    struct fleet_group *groups;
    size_t group_count;
    struct fleet_spread *spreads;
    size_t spread_count;
    struct fleet_outlier *outliers;
    size_t outlier_count;
    struct fleet_drift *drifts;
    size_t drift_count;
    const char **missing; /* nodes, or "n3: 1 of 2 devices" */
    size_t missing_count;
    const char **missing_nodes; /* for --exclude */
    size_t missing_node_count;
    const char **unread; /* "FILE: why" */
    size_t unread_count;
    size_t duplicates; /* repeated results of the same run */
    struct outlier_rule rule;
    const char *baseline; /* its file; NULL: none */
    bool predicted;
    const char *date; /* the newest end of a run */
};

/* ---- reading (fleet_read.c) ---- */

/* Adds files and folders of results (every .json below, and journals of unfinished runs). Files that are not results go
 * to `unread`. ERR_CONFIG: there is no such file or folder. */
enum status fleet_read(struct fleet *fleet, const char *const *paths, size_t count, struct err *err);

/* ---- judging (fleet_judge.c) ---- */

struct fleet_baseline; /* fleet_baseline.c */
/* Reads a document written by `rooftile fleet --json`. */
enum status fleet_baseline_read(const struct fleet_baseline **baseline, const char *path, struct arena *arena,
                                struct err *err);
/* Returns the level of a metric in a group of that name; n is 0 if it has none. */
struct outlier_level fleet_baseline_level(const struct fleet_baseline *baseline, const char *group,
                                          const struct fleet_metric *metric);

/* `expected`: names of nodes, NULL: unknown. Sets everything after `devices`. */
void fleet_judge(struct fleet *fleet, const char *const *expected, size_t expected_count,
                 const struct fleet_baseline *baseline);

/* Returns 0 if all are alike; 1 for an outlier, a broken or missing device, two modes, or a group below its baseline; 3
 * if nothing was read; 4 if too few are alike to judge, or with `strict` for drift. */
int fleet_exit_code(const struct fleet *fleet, bool strict);

/* Returns the nodes with a problem (`bad`), or those known to be good. Names are sorted and unique. */
size_t fleet_nodes(const char ***names, const struct fleet *fleet, bool bad, struct arena *arena);

/* ---- lists of nodes (nodes.c) ---- */

/* Parses Slurm's notation: "n[001-064,070],gpu3,r[1-2]n[1-4]"; blanks and line ends also separate. ERR_USAGE. */
enum status fleet_node_list(const char ***names, size_t *count, const char *text, struct arena *arena, struct err *err);

#endif
