/* SPDX-License-Identifier: MIT
 *
 * Suites: data that state which kernels run with which parameters.
 *
 * { "name": "quick", "summary": "one minute on any machine", "takes": "1 min",
 *   "kernels":  ["../my_kernels"],                          further kernel folders, relative to this file
 *   "together": "both",                                     the devices of a node alone, then at once (enum together)
 *   "defaults": { "params": { "block": 256 }, "measure": { "min_time": "0.2 s" }, "tags": ["quick"] },
 *   "cases": [
 *     { "kernel": "stream_triad",
 *       "params":  { "VEC": 4 },
 *       "sweep":   { "n": "16Ki..1Gi*2", "dtype": ["f32", "f64"], "block": { "values": [64, 256] },
 *                    "tile": { "min": 64, "max": 256, "step": 64, "exclude": [192] } },
 *       "zip":     [["m", "k"]],                            these swept parameters advance together (equal lengths)
 *       "exclude": ["n * bytes(dtype) > device.memory_bytes / 4"],
 *       "shapes":  { "file": "shapes/llm.json", "names": ["llama3-8b.*"] },   the whole case once for each of these
 *                                                                             shapes
 *       "measure": { "cache": "cold", "min_time": "0.5 s" }, "tags": ["dram"],
 *       "weight": 24, "traced_ns": 5300 } ],                weight in weighted sums; its time in a trace
 *   "derive": [ { "name": "cache_levels", "method": "change_points", "kernel": "pointer_chase",
 *                 "x": "bytes", "y": "ns_per_item", "group": ["dtype"] } ],
 *               with "method": "ratio" and "to": "gemm_library", "method": "shares" with "layers" and "parts", and
 *               others: see struct suite_derive
 *   "kpis":   [ { "name": "stream", "method": "geomean", "of": "bytes_per_s", "cases": ["stream_*"] } ] }
 *
 * Shapes are named sets of parameters, data that several suites share: { "shapes": [ { "name": "llama3-8b.down",
 * "summary": "...", "params": { "n": 4096, "k": 14336 } } ] }. `names` are globs; without them all shapes are used, in
 * the file's order. `file` is relative to the suite. A case gets the shape's parameters, and its name as a tag and in
 * its label. Filters also match the name. A parameter that the case itself sets or sweeps cannot come from a shape.
 *
 * Sweep strings (also `--set n=16Ki..1Gi*2`): "a..b*f" geometric, "a..b+s" linear, "a..b" step 1, both ends included if
 * reached; "a,b,c" a list; "[1,2,3]" one value that is a list of numbers; anything else one value. A value in braces,
 * here and in params, is an expression over the kernel's parameters and `let` and the device (manifest.h): "{4 *
 * device.last_cache / bytes(dtype)}". The cartesian product runs with the LAST parameter fastest, in file order.
 */
#ifndef ROOFTILE_SUITE_H
#define ROOFTILE_SUITE_H

#include "rooftile/json.h"
#include "rooftile/manifest.h"
#include "rooftile/roofline.h"

/* The maximum number of cases in a suite. A larger suite is rejected before memory for its cases is allocated: a plan
 * takes about 2 KB per case. Also the maximum number of values in the sweeps of a case or of --set. */
#define SUITE_MAX_CASES 1000000u

/* The timer of a case. Times of different timers are never mixed: a result names its timer. If a device has only
 * one clock (CPU, sim), dispatch and event mean that clock.
 *   dispatch   the kernel's own start and end; for cases of one timed launch
 *   event      events around all timed steps
 *   batch      events around many launches, 1 ms to 50 ms together
 *   graph      events around a graph with as many launches
 *   host       the host's clock around the timed steps and a wait; the device starts idle
 *   auto       dispatch; batch below 10 us if launches may follow each other at once; event if neither is possible;
 *              host if events do not cover the work or the host takes part in it (load, alloc and sync steps)
 * A timer that would not cover what a case times is rejected when it is planned, on every device. */
enum timer_choice { TIMER_AUTO, TIMER_DISPATCH, TIMER_EVENT, TIMER_BATCH, TIMER_GRAPH, TIMER_HOST, TIMER_CHOICES };
extern const char *const timer_choice_names[TIMER_CHOICES + 1]; /* "auto" ...; NULL after the last */

/* How a case is measured. Zero-initialise, then call measure_defaults; a suite's "measure" objects and the command line
 * override single fields. JSON keys are the field names without unit suffix: "cache", "timer", "warmup" (time string),
 * "warmup_max", "min_time", "max_time", "min_samples", "max_samples", "precision" (relative), "timeout",
 * "calibration". */
struct measure_options {
    enum cache_mode cache;   /* "hot" | "cold" | "rotate" */
    enum timer_choice timer; /* "auto" | "dispatch" | ... */
    double warmup_ns;        /* busy time before the first sample counts, 200 ms */
    double warmup_max_ns;    /* cap of the warm-up, 2 s */
    double min_time_ns;      /* accumulated sample time before the stop rule may end the case, 0.5 s */
    double max_time_ns;      /* wall cap of a case, 15 s */
    uint32_t min_samples;    /* 30 */
    uint32_t max_samples;    /* 10 000 */
    double precision;        /* half-width of the 95 % interval / median, 0.0025 */
    double timeout_ns;       /* watchdog for the whole case, 120 s */
    bool calibrates;         /* take calibration rates before and after, true; needed to detect interference */
};
void measure_defaults(struct measure_options *options);
void measure_quick(struct measure_options *options); /* --quick: warm-up 20 ms, 0.1 s, 2 s cap, 10 samples, 1 % */
/* Applies the members of a "measure" object. ERR_CONFIG. */
enum status measure_from_json(struct measure_options *options, const cJSON *measure, struct err *err);

/* The values that one parameter takes. */
struct sweep {
    const char *param;
    const struct param_value *values;
    size_t count;
    const cJSON *at; /* its position in a suite, or else ... */
    const char *set; /* ... the text of its --set */
};
/* Parses one sweep from a string (suite or --set). Rejects sweeps that never end or have over SUITE_MAX_CASES
 * values. */
enum status sweep_parse(struct sweep *sweep, const char *param, const char *text, struct arena *arena, struct err *err);
enum status sweep_from_json(struct sweep *sweep, const char *param, const cJSON *json, struct arena *arena,
                            struct err *err);

struct suite_case {
    const char *kernel;
    const struct param *params; /* fixed values, the suite's defaults first, then the case's own */
    size_t param_count;
    size_t default_count; /* number of the suite's defaults, which are ignored if the kernel lacks the parameter */
    const struct sweep *sweeps;
    size_t sweep_count;
    const char *const *const *zips; /* each a NULL-terminated list of parameter names */
    size_t zip_count;
    const char *const *excludes; /* expressions over the kernel's names; compiled in plan */
    size_t exclude_count;
    struct measure_options measure;
    const char *const *tags;
    size_t tag_count;
    const char *shape; /* the shape that gave its parameters, also the last of the tags; NULL: none */
    double weight;     /* weight in sums over cases, such as calls in a model; 0: once */
    double traced_ns;  /* its time in a trace; 0: unknown */
    const cJSON *at;   /* NULL: from the command line */
};

/* A quantity computed from several cases' results. Curves (change_points, startup, knee, max, min, dips), three_arm and
 * matrix take kernel, x and y, a matrix rows as well; together also takes `to`, overlap `parts`
 * (src/result/derive.c documents them). Two methods differ:
 *
 * { "name": "of library", "method": "ratio", "kernel": "gemm_register", "to": "gemm_library", "y": "flops_per_s" }
 * divides each case's y by that of the other kernel's case with equal values of all parameters that both kernels have.
 *
 * { "name": "layer", "method": "shares", "layers": "*.*", "parts": { "qkv": 1, "rope": 1, "down": 1 } } adds up time.
 * The cases whose shapes are LAYER.qkv, LAYER.rope and so on are one layer, for each LAYER that matches the glob; a
 * part's time is multiplied by its number. There is no sum unless each part has exactly one measured case. */
struct suite_derive {
    const char *name, *method;
    const char *kernel; /* NULL: of shares */
    const char *to;     /* NULL for shares */
    const char *layers; /* method shares; else NULL */
    const struct suite_part {
        const char *name;
        uint64_t times;
    } * parts;
    size_t part_count;
    const char *x;    /* like y; "" for ratio and shares */
    const char *y;    /* a parameter, a metric, or: time_ns bytes_per_s flops_per_s ns_per_item bytes intensity */
    const char *rows; /* method matrix: the parameter of its rows, x is that of its columns; else NULL */
    const char *const *group; /* parameters; one derived value per combination */
    size_t group_count;
    const cJSON *at;
};

/* A key figure: a single number that compare, history and all exports include. */
struct suite_kpi {
    const char *name;
    const char
        *method; /* "geomean" | "value" (exactly one case) | "min" | "max" | "weighted_sum" (by the cases' weights) */
    const char *of;             /* time_ns bytes_per_s flops_per_s items_per_s ns_per_item fraction, or a metric */
    const char *unit;           /* of a metric; NULL: the unit of `of` */
    const char *const *filters; /* "cases": globs on ids, kernel names or tags; a leading '!' excludes */
    size_t filter_count;
    bool higher_is_better; /* "better": "higher" | "lower"; required for a metric */
    const cJSON *at;
};

/* How --device all measures the devices of a node: one after the other, all at once, or both in this order. */
enum together { TOGETHER_ALONE, TOGETHER_NODE, TOGETHER_BOTH };
extern const char *const together_names[]; /* "alone" "node" "both"; NULL after the last */

struct suite {
    const char *name, *summary, *path;
    double takes_ns; /* promised maximum on a GPU, and half of the one on a CPU; 0: no promise */
    enum together together;
    char sha256[65];                /* of the file; of the canonical command line for suites from the command line */
    const char *const *kernel_dirs; /* resolved */
    size_t kernel_dir_count;
    const struct suite_case *cases;
    size_t case_count;
    const struct suite_derive *derives;
    size_t derive_count;
    const struct suite_kpi *kpis;
    size_t kpi_count;
    const char *traced_on;                /* the machine of that trace, named as in machine files; NULL: unknown */
    double traced_ns;                     /* total GPU time of the trace that the suite was made from; 0: no trace */
    const struct shape_file *shape_files; /* those read so far (src/plan) */
};

/* Reads a suite file; the file's measure options override those of `base`. */
enum status suite_read(const struct suite **suite, const char *path, const struct measure_options *base,
                       struct arena *arena, struct err *err);
/* Like suite_read, from memory; `path` names the file in messages and is the base of relative folders. */
enum status suite_parse(const struct suite **suite, const char *path, const char *data, size_t length,
                        const struct measure_options *base, struct arena *arena, struct err *err);
/* Makes a suite of single kernels named on the command line; parameters come from `--set` when it is planned. */
enum status suite_from_kernels(const struct suite **suite, const char *const *kernels, size_t count,
                               const struct measure_options *base, struct arena *arena, struct err *err);

#endif
