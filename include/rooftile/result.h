/* SPDX-License-Identifier: MIT
 *
 * Result: the outcome of a run as data. Built from plan and measurements, or read from a result file; reports, compare
 * and history use nothing else. configs/schema/result.schema.json describes the JSON.
 *
 * Base units everywhere: ns, bytes, Hz, FLOP/s (OP/s for integer operations).
 * Vendor, predicted and measured values are different fields.
 */
#ifndef ROOFTILE_RESULT_H
#define ROOFTILE_RESULT_H

#include "rooftile/identity.h"
#include "rooftile/json.h"
#include "rooftile/machine.h"
#include "rooftile/measurement.h"
#include "rooftile/plan.h"
#include "rooftile/shift.h"
#include "rooftile/summary.h"

#define RESULT_SCHEMA_VERSION "2.0.0"
#define RESULT_SCHEMA_ID "https://rooftile.dev/schemas/result/2/result.schema.json"

struct result_param {
    const char *name;
    struct param_value value;
};

struct result_metric {
    const char *name, *unit;
    double value;
};

/* Classes of instructions by the unit that issues them. */
enum result_issue {
    ISSUE_VALU,
    ISSUE_MATRIX,
    ISSUE_VMEM, /* global, flat and scratch */
    ISSUE_LDS,
    ISSUE_SALU, /* including branches */
    ISSUE_SMEM,
    ISSUE_WAITS,
    ISSUE_CLASSES
};

/* Properties of the compiled code of the case's first timed kernel, from its code object (AMD). */
struct result_code {
    bool known;
    uint32_t vgprs, agprs, sgprs; /* vgprs, agprs: as the hardware allocates them; sgprs: as the compiler counts them */
    uint32_t lds_bytes, scratch_bytes, vgpr_spills, sgpr_spills, kernarg_bytes, wave;
    double waves_per_simd;       /* occupancy of the launch; NaN: unknown */
    const char *occupancy_limit; /* "vgpr" "lds" "slots" ...; "": unknown */
    const char *isa_sha256;      /* of the kernel's instructions; "": unknown */
    const char
        *loop_instruction; /* most frequent one in its hot loop, "v_fma_f32" (isa_hot_find); NULL or "": unknown */
    double loop_share;     /* of the loop's vector, matrix, LDS and memory operations; NaN: unknown */
    /* Bytes of scratch that a lane transfers per iteration of the loop with the most of them (isa_scratch_find), and
     * the number of that loop, from 1; NaN and 0: unknown. */
    double loop_scratch_bytes;
    uint32_t scratch_loop;
    uint32_t loop_issues[ISSUE_CLASSES]; /* instructions per iteration of the hot loop; all 0: unknown */
};

/* The part of a case that one fresh process measured. */
struct result_trial {
    uint32_t index; /* of the trial in its run */
    enum case_status status;
    double median_ns; /* NaN if nothing was measured */
    double min_ns;
    uint32_t n;     /* samples */
    double cycles;  /* median of time * clock held; NaN: no clock */
    double core_hz; /* mean clock of the samples; NaN: unknown */
    uint32_t flags;
    uint32_t order_index;
};

/* A key figure that a suite declares (suite.h, struct suite_kpi): its definition, so that it can be computed again
 * after a merge, and its value. A value always covers all of its cases: if one case failed, it is NaN, with the
 * reason. */
struct result_kpi {
    const char *name;
    const char *method;         /* "geomean" "value" "min" "max" "weighted_sum" */
    const char *of;             /* the quantity: "bytes_per_s" "time_ns" "fraction" ... or a metric's name */
    const char *unit;           /* "B/s" "FLOP/s" (or "OP/s" for integer operations) "1/s" "ns" "1" or the metric's */
    const char *const *filters; /* globs on case ids, like --filter */
    size_t filter_count;
    bool higher_is_better;
    double value;               /* NaN if there is a `reason` */
    const char *reason;         /* "" if there is a value */
    uint32_t case_count;        /* number of matching cases */
    const double *trial_values; /* per trial, from its medians; NaN: a case is missing, or a metric (whole run only) */
    size_t trial_count;
};

struct result_case {
    const char *id;    /* plan_case.id + ";timer=batch" once it is timed */
    const char *label; /* short, for tables */
    const char *kernel;
    const char *class;
    const char *const *tags;
    size_t tag_count;
    const struct result_param *params;
    size_t param_count;
    double weight;        /* multiplier in weighted sums; 0: 1 */
    double traced_ns;     /* its time in the trace that it comes from; NaN: none */
    const char *sized_by; /* same as in plan_case; NULL or "": by the device's own capacities, or not sized */
    struct work work;
    struct identity identity;
    char object_sha256[65];                /* of the library's file if a library ran; "": unknown */
    const char *library;                   /* its description of itself; "" or NULL: code from a source or image ran */
    uint32_t grid[3], block[3], lds_bytes; /* those of the first timed launch */
    /* measurement */
    enum timer timer;
    enum cache_mode cache;
    uint32_t batch;
    double warmup_ns;
    bool warmup_converged;
    uint32_t discarded[DISCARD_COUNT];
    enum stop_reason stop;
    double wall_ns, overhead_ns;
    uint32_t order_index;
    uint64_t flush_bytes;
    const char *flush_method;
    const double *samples_ns;
    size_t sample_count;
    const float *sample_hz;   /* clock of each sample; NULL: unknown */
    double cycles;            /* median of time * clock; NaN: unknown */
    double core_hz;           /* mean clock of the samples, or of the readings before and after; NaN: unknown */
    const char *clock_reason; /* why there is no clock; "": there is one */
    enum timer cross_timer;
    double cross_ns; /* NaN: not measured */
    bool blocking_start;
    const char *blocking_reason;       /* why batches do not start that way although they should; "" or NULL */
    uint32_t clock_unsteady;           /* samples during which the clock changed by more than 0.78 % */
    const struct result_trial *trials; /* if the run has several; stats.median is then the median of their medians */
    size_t trial_count;
    struct result_code code;
    struct summary stats; /* valid if sample_count > 0, which never holds on sim */
    struct device_sense before, after;
    double flops_per_s, bytes_per_s, items_per_s; /* NaN: not applicable */
    struct lower_bound lower_bound;               /* roofline: bound, ceiling, intensity */
    double fraction;                              /* of the ceiling: rate / the roof's rate; NaN: unknown */
    struct predicted prediction;                  /* made before the launch */
    double predicted_error;                       /* predicted / measured - 1; NaN if either is missing */
    struct verification verification;
    const struct result_metric *metrics;
    size_t metric_count;
    enum case_status status;
    uint32_t flags;
    const char *reason; /* status_reason: for a status other than ok, or for flags */
};

/* One point, part or way of a derived value. NaN: unknown. */
struct derived_point {
    const char *words[2]; /* ratio, overlap: the case; shares: the part and its kernel; three_arm: the way */
    union {
        double numbers[6];
        struct derived_change {
            double x_low, x_high, before, after, confidence;
        } change;
        struct derived_fit {
            double startup, rate, r2;
        } fit;
        struct derived_extreme {
            double x, y;
        } extreme; /* also a knee, which has no y */
        struct derived_dip {
            double x, before, after;
        } dip;
        struct derived_together {
            double x, copies, whole_ns, slowest_ns, sum_ns, overlap;
        } together;
        struct derived_overlap {
            double whole_ns, longest_ns, sum_ns, speedup, ideal_speedup, efficiency;
        } overlap;
        struct derived_ratio {
            double value, of, ratio;
        } ratio;
        struct derived_part {
            double times, time_ns, share;
        } part;
        struct derived_arm {
            double host_ns, event_ns, launches, counted;
        } arm;
    };
};

/* The value that a method computed from its cases; derived_value.c lists the members of each method. */
struct derived_value {
    const char *error; /* why there is no value; NULL or "": there is one */
    const char *word;  /* ratio: the other kernel; three_arm: the verdict; NULL or "": none */
    double number;     /* ratio: number of cases without a counterpart; shares: their sum in ns */
    struct derived_point *points;
    size_t count;
    struct {
        const char **items;
        size_t count;
    } texts[2];          /* matrix: rows and columns; three_arm: disagreements, and ways not compared */
    const double *cells; /* of a matrix, row by row; NaN: not measured */
};

struct result_derived {
    const char *name, *method, *kernel;
    const char *group;        /* "dtype=f32" or "" */
    const char *x, *y, *rows; /* its quantities, as the suite names them; rows: of a matrix, else "" */
    struct derived_value value;
    const char *finding; /* the problem found, as a sentence; NULL or "": none */
};

/* True if there is a problem with the value. */
static inline bool result_derived_is_finding(const struct result_derived *derived)
{
    return derived->finding && derived->finding[0];
}

struct result_label {
    const char *key, *value;
};

/* A run's position in a job of several processes (--device all, --out-dir); unknown for other runs. */
struct result_job {
    const char *engine; /* "slurm" "flux" "openmpi" "pmix" "pmi" "kubernetes" "torchrun"; "": a single process */
    const char *id;     /* of the job; "": unknown */
    const char *node;   /* its name; "": no job */
    uint32_t rank, world, local_rank;
    uint32_t devices;           /* assigned to this rank */
    double started_together_ns; /* monotonic time of the node at the common start; 0: one after the other */
};

/* Reads the position from the variables of the launcher that started this process (table in src/result/job.c).
 * ERR_USAGE: they contradict each other. */
enum status result_job_find(struct result_job *job, struct arena *arena, struct err *err);

/* One trial of a merged run: trial k of the run is parts[k]. */
struct result_part {
    const char *run_id, *started_at;
    uint32_t trial_index; /* in that run */
};

struct result {
    /* tool, run */
    const char *tool_version, *tool_git;
    bool tool_dirty;
    const char *tool_build;
    const char *run_id;                   /* uuid */
    const char *started_at, *finished_at; /* RFC 3339 */
    const char *const *argv;
    size_t argc;
    const char *config_sha256;
    uint64_t seed;
    uint32_t trial_index, trials;
    const struct result_part *parts; /* for a merged run, one per trial */
    size_t part_count;
    const char *status; /* "complete" | "interrupted" */
    const char *commit, *branch, *ci_url;
    struct result_job job;
    const struct result_label *labels;
    size_t label_count;
    /* environment */
    const char *host_id_hash, *kernel_release, *os, *cpu_name, *governor, *container;
    uint32_t numa_nodes;
    struct device_info device;      /* environment.gpu; for the CPU device: all cores of the host as one device */
    const char *compiler;           /* version line of the kernel compiler */
    const struct result_label *env; /* HSA_* HIP_* ROC* GPU_* OMP_* set in the environment */
    size_t env_count;
    char fingerprint[65];
    const char *const *warnings;
    size_t warning_count;
    struct calibration calibration;
    struct machine machine; /* ceilings used: calibration.peaks, and ext.machine in full */
    /* result_write: writes samples beyond 512 of a case to a sidecar file; otherwise they are dropped */
    bool raw_samples;
    bool predicted; /* sim device: every time is a prediction */
    const struct result_case *cases;
    size_t case_count;
    const struct result_derived *derived;
    size_t derived_count;
    const struct result_kpi *kpis;
    size_t kpi_count;
};

/* Builds one case from its plan and its measurement, with the ceilings in `machine` at the end of the case. */
void result_case_build(struct result_case *out, const struct plan_case *plan, const struct measurement *measured,
                       const char *object_sha256, const struct machine *machine, struct arena *arena);

/* Fills in tool, host and environment; `device` comes from the worker. Never fails: unknown facts are "" or 0. */
void result_environment(struct result *result, const struct device_info *device, int argc, char **argv,
                        struct arena *arena);
/* Takes over all warnings logged so far; result_environment takes those from before the run. */
void result_take_warnings(struct result *result, struct arena *arena);

/* Evaluates the suite's derive list over the cases into result->derived. A value that cannot be computed becomes
 * {"error": "..."}, and is no failure; if all of its cases are skipped, there is no value. */
void result_derive(struct result *result, const struct plan *plan, uint64_t seed, struct arena *arena);

/* Computes value, reason, case_count and trial_values of every entry of result->kpis from the current cases. */
void result_kpis_evaluate(struct result *result, struct arena *arena);

/* Writes the result as JSON, atomically. "cases" has one case per line, so that readers can stream. Up to 512 samples
 * of a case are inline; with raw_samples larger sets go to a sidecar file `<path>.samples.bin` (f64, little-endian),
 * described in samples_file. */
enum status result_write(const struct result *result, const char *path, struct err *err);
void result_case_json(struct text *out, const struct result_case *result_case); /* one line without newline */
void result_kpi_json(struct text *out, const struct result_kpi *kpi);           /* the same */

/* The whole document in the form of result_write, with samples inline. */
void result_document(struct text *out, const struct result *result);

/* Reads a result file. ERR_CONFIG: another schema major version, truncated or hostile JSON, impossible values, or parts
 * that contradict each other (median and samples, case and trials, rates and times), as in a file that was edited by
 * hand or is corrupt. Unknown keys are ignored (readers are open). Sidecars are checked by size and hash if present;
 * missing ones are tolerated. Cases are read one after the other; time and memory are linear in the file. For a run
 * that was killed it reads the journal (journal.h): if `path` names one, or if only <path>.journal exists. From the
 * check.json of scripts/gpu_check it reads the times of the quick suite and of the libraries, as one result. */
enum status result_read(const struct result **result, const char *path, struct arena *arena, struct err *err);

/* Like result_read, with the same checks, but drops samples_ns and sample_hz and ignores sidecars: enough for compare
 * and history, about 2 kB a case. */
enum status result_read_light(const struct result **result, const char *path, struct arena *arena, struct err *err);

/* Reads from memory, without a sidecar; messages call the file `name`. */
enum status result_parse(const struct result **result, const char *name, const char *text, size_t length,
                         struct arena *arena, struct err *err);

/* Makes one run from results that each have one or more trials of it (`rooftile merge`, `run --trials`); `names` are
 * the names of the results in messages. The order of the parts does not matter: the same parts give the same bytes.
 *
 * ERR_CONFIG, with both names: a different place (result_same_place), commit, suite or version; cases that differ in a
 * part of their identity, timer or cache mode; the same trial of a case twice. Two parts may each have some cases of
 * one trial, as after --resume. Trials are renumbered from 0 in order of start time, run id and index. Each case gets
 * trials[]; its samples are concatenated in that order if all trials have theirs.
 * stats.median is the median of the trials' medians; the other statistics cover all samples together or, if the file of
 * some trial lacks its samples, are combined from the trials' own (extremes, mean and sd exactly, the others as
 * medians). The worst status wins with its reason, so that a wrong result in any trial is one of the run; flags are
 * combined. A case that some trials lack is included with the trials that it has, and reports this. Key figures are
 * computed again. The result points into the parts, which must live as long. */
enum status result_merge(struct result *out, const struct result *const *parts, const char *const *names, size_t count,
                         struct arena *arena, struct err *err);

/* Returns a quantity of a case by name, in base units; NaN if the case has none: a numeric parameter, a metric,
 * "bytes", "footprint", "intensity" or, at its median time, one of result_at_time. */
double result_quantity(const struct result_case *result_case, const char *name);
/* "time_ns" "bytes_per_s" "flops_per_s" "items_per_s" "ns_per_item" "fraction" (of the ceiling), as if the case had
 * taken this time. */
double result_at_time(const struct result_case *result_case, const char *name, double time_ns);
double result_metric(const struct result_case *result_case, const char *name);                   /* NaN: none */
const struct param_value *result_param(const struct result_case *result_case, const char *name); /* NULL: none */
/* The amount of work: its FLOPs, else its bytes, else its items; 0: unknown. */
double result_amount(const struct work *work);
/* Time per unit of that amount, to compare cases of different sizes; the time of the case if the amount is unknown. */
double result_time_each(const struct result_case *result_case);
/* True if the time is that of a chain of dependent loads or of an empty launch, where bytes over time mean nothing. */
bool result_is_latency(const struct result_case *result_case);
/* The time of a case: the median of its samples (or of the trials' medians); for a predicted case the prediction. */
static inline double result_case_time(const struct result_case *c)
{
    return c->timer == TIMED_SIM ? c->prediction.time_ns : c->stats.median;
}

/* True if the case has a time. */
static inline bool result_case_timed(const struct result_case *c)
{
    return c->sample_count || c->timer == TIMED_SIM;
}

/* The interval of the time: 95 % for the median of samples, or 80 % for a prediction. */
struct result_interval {
    double low_ns, high_ns;
};

static inline struct result_interval result_case_interval(const struct result_case *c)
{
    return c->timer == TIMED_SIM ? (struct result_interval){c->prediction.low_ns, c->prediction.high_ns}
                                 : (struct result_interval){c->stats.ci95[0], c->stats.ci95[1]};
}

/* Writes the medians of the valid trials of a case that counts, or without trials its own median; returns how many, at
 * least one. */
size_t result_trial_times(double times[static SHIFT_MAX_TRIALS], const struct result_case *c);
/* Timer tick / time that was timed, at most 1; 0: the tick is unknown. */
double result_case_floor(const struct result_case *c, double tick_ns);

/* Sets everything that depends on the time: rates, fraction, bound. result_take_median sets the median first. */
void result_take_time(struct result_case *result_case);
void result_take_median(struct result_case *result_case, double median_ns);

/* predicted / measured - 1; NaN if either is missing. */
double result_predicted_error(const struct result_case *result_case);

/* "measured", "predicted" or "emulated"; result_kind_words explains the word in a sentence. */
const char *result_kind(const struct result *result);
const char *result_kind_words(const struct result *result);
/* ERR_CONFIG: the result has no measured times, because it was profiled or run by an emulator. */
enum status result_check_measured(const struct result *result, struct err *err);

/* True if the case was timed, not by an emulator, and is neither wrong nor impossible: its time may be used. */
bool result_case_counts(const struct result_case *result_case);
/* True for an ablation twin (manifest.h): its time is not the kernel's, and enters no figure. */
bool result_case_is_twin(const struct result_case *result_case);
/* Start of the reason of a case that was skipped because time ran out (--budget). */
#define RESULT_LATE_REASON "the time budget of "
/* Why a case is a finding: "verification" "impossible" "failed" "crashed" "timeout"; "": it is none (ok, skipped,
 * error). */
const char *result_case_finding(const struct result_case *result_case);
/* Why a case does not count: its finding, "emulated", or its status. */
const char *result_case_trouble(const struct result_case *result_case);
/* The number of trials, at least 1. */
static inline uint32_t result_trials(const struct result *result)
{
    return result->trials ? result->trials : 1;
}

/* The label, or the id if there is none. */
const char *case_name(const struct result_case *c);

/* True if the case states its work. */
static inline bool result_work_known(const struct work *work)
{
    return work->flops > 0 || work->read_bytes + work->write_bytes > 0 || work->items > 0;
}

/* Length of the plan id, by which cases of two results match: result_case.id without its ";timer=..." part. */
size_t result_id_length(const char *id);

/* ---- comparing two results (pair.c) ---- */

/* Fact `k` about the place of measurement: those of identity_fact, then the host's. False: there are no more. */
bool result_fact(struct identity_fact *out, const struct result *result, size_t k, struct arena *arena);
/* ERR_CONFIG, with both names, unless all facts and the host are equal, and both are measured or both predicted. */
enum status result_same_place(const struct result *a, const struct result *b, const char *const names[2],
                              struct err *err);
/* The differences between two cases with one id, with old and new value if these are short: "launch (grid 16 to 32),
 * input data"; "": none. */
const char *result_case_changes(const struct result_case *a, const struct result_case *b, struct arena *arena);
/* Why the times of two cases must not be compared: the timer, the cache mode or one of these parts of their identity
 * (IDENTITY_BITs) differs; NULL: they may. */
const char *result_case_unlike(const struct result_case *a, const struct result_case *b, unsigned parts,
                               struct arena *arena);

/* The exit code of every command that measures. 1 if a case or a derived value is a finding (failed verification,
 * impossible, crashed, timeout, failed), or if some cases ended in an error while others were measured; 3 if nothing
 * was measured; with `strict` 4 if a case had interference, was throttled or had no ceiling for its unit, or if time
 * ran out before the last case; otherwise 0. */
int result_exit_code(const struct result *result, bool strict);
/* Why nothing was measured: the reason of the first case; NULL if something was. */
const char *result_unmeasured(const struct result *result);

#endif
