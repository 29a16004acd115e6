/* SPDX-License-Identifier: MIT
 *
 * Result: what happened, as data. Built from plan and measurements, or read from a result file; reports, compare and
 * history know only this. configs/schema/result.schema.json describes the JSON.
 *
 * Base units everywhere: ns, bytes, Hz, FLOP/s (OP/s of whole numbers).
 * Vendor's, predicted and measured values are different fields.
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

/* Classes of instructions, as they issue. */
enum result_issue {
    ISSUE_VALU,
    ISSUE_MATRIX,
    ISSUE_VMEM, /* global, flat and scratch */
    ISSUE_LDS,
    ISSUE_SALU, /* branches, too */
    ISSUE_SMEM,
    ISSUE_WAITS,
    ISSUE_CLASSES
};

/* What the compiler made of the case's first timed kernel, from its code object (AMD). */
struct result_code {
    bool known;
    uint32_t vgprs, agprs, sgprs; /* as allocated by the hardware (vgprs, agprs), as counted by the compiler (sgprs) */
    uint32_t lds_bytes, scratch_bytes, vgpr_spills, sgpr_spills, kernarg_bytes, wave;
    double waves_per_simd;        /* occupancy of the launch; NaN unknown */
    const char *occupancy_limit;  /* "vgpr" "lds" "slots" ...; "" unknown */
    const char *isa_sha256;       /* of the kernel's instructions; "" unknown */
    const char *loop_instruction; /* what its hot loop mostly holds, "v_fma_f32" (isa_hot_find); NULL or "": unknown */
    double loop_share;            /* of the loop's vector, matrix, LDS and memory operations; NaN unknown */
    /* Bytes of scratch that a lane moves in a turn of the loop with the most of them (isa_scratch_find), and which loop
     * that is, from 1; 0 and NaN: unknown. */
    double loop_scratch_bytes;
    uint32_t scratch_loop;
    uint32_t loop_issues[ISSUE_CLASSES]; /* instructions of a turn of the hot loop; all 0: unknown */
};

/* One fresh process's share of a case. */
struct result_trial {
    uint32_t index; /* of the trial in its run */
    enum case_status status;
    double median_ns; /* NaN when nothing was measured */
    double min_ns;
    uint32_t n;     /* samples */
    double cycles;  /* median of time * clock held; NaN = no clock */
    double core_hz; /* mean clock of the samples; NaN */
    uint32_t flags;
    uint32_t order_index;
};

/* A key figure that a suite declares (suite.h, struct suite_kpi): what it is, so that it can be computed again after a
 * merge, and its value. No value is ever made from a part of its cases: one failed case and it is NaN, with the reason.
 */
struct result_kpi {
    const char *name;
    const char *method;         /* "geomean" "value" "min" "max" "weighted_sum" */
    const char *of;             /* the quantity: "bytes_per_s" "time_ns" "fraction" ... or a metric's name */
    const char *unit;           /* "B/s" "FLOP/s" (or "OP/s": of whole numbers) "1/s" "ns" "1" or the metric's */
    const char *const *filters; /* globs on case ids, as --filter takes them */
    size_t filter_count;
    bool higher_is_better;
    double value;               /* NaN with `reason` */
    const char *reason;         /* "" with a value */
    uint32_t case_count;        /* cases that match */
    const double *trial_values; /* one per trial, from each trial's own medians; NaN where a trial lacks a case, and for
                                 * metrics, which are known of the whole run only */
    size_t trial_count;
};

struct result_case {
    const char *id;    /* plan_case.id + ";timer=batch" once it was timed */
    const char *label; /* short, for tables */
    const char *kernel;
    const char *class;
    const char *const *tags;
    size_t tag_count;
    const struct result_param *params;
    size_t param_count;
    double weight;        /* how often it counts in weighted sums; 0: once */
    double traced_ns;     /* what it took where a trace saw it; NaN */
    const char *sized_by; /* as of plan_case; NULL or "": by the device's own capacities, or by none */
    struct work work;
    struct identity identity;
    char object_sha256[65];                /* "" unknown; of a library's file when that is what ran */
    const char *library;                   /* as it describes itself; "" or NULL: code of a source or image ran */
    uint32_t grid[3], block[3], lds_bytes; /* of the first timed launch */
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
    const float *sample_hz;   /* clock of each sample; NULL = unknown */
    double cycles;            /* median of time * clock; NaN */
    double core_hz;           /* mean clock of the samples, else of the readings before and after; NaN */
    const char *clock_reason; /* why there is no clock; "" */
    enum timer cross_timer;
    double cross_ns; /* NaN */
    bool blocking_start;
    const char *blocking_reason;       /* why not, where batches should be; "" or NULL */
    uint32_t clock_unsteady;           /* samples whose clock moved by more than 0.78 % within them */
    const struct result_trial *trials; /* of a run of several; stats.median is then the median of their medians */
    size_t trial_count;
    struct result_code code;
    struct summary stats; /* valid when sample_count > 0, which it is not on sim */
    struct device_sense before, after;
    double flops_per_s, bytes_per_s, items_per_s; /* NaN = not applicable */
    struct lower_bound lower_bound;               /* roofline: bound, ceiling, intensity */
    double fraction;                              /* of the ceiling: rate / the roof's rate; NaN */
    struct predicted prediction;                  /* made before it was launched */
    double predicted_error;                       /* predicted / measured - 1; NaN where one of them is missing */
    struct verification verification;
    const struct result_metric *metrics;
    size_t metric_count;
    enum case_status status;
    uint32_t flags;
    const char *reason; /* status_reason: of a status other than ok, or of flags */
};

/* A point, part or way of a derived value. NaN: not known. */
struct derived_point {
    const char
        *words[2]; /* of ratio and overlap where it is; of shares the part and its kernel; of three_arm the way */
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
        } extreme; /* and a knee, which has no y */
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

/* What a method made of its cases; derived_value.c says which method has what. */
struct derived_value {
    const char *error; /* why there is nothing; NULL or "" */
    const char *word;  /* of ratio the other kernel, of three_arm the verdict; NULL or "" */
    double number;     /* of ratio how many cases have no counterpart, of shares their sum in ns */
    struct derived_point *points;
    size_t count;
    struct {
        const char **items;
        size_t count;
    } texts[2];          /* of a matrix rows and columns; of three_arm what disagrees and what was not compared */
    const double *cells; /* of a matrix, row by row; NaN: nothing was measured */
};

struct result_derived {
    const char *name, *method, *kernel;
    const char *group;        /* "dtype=f32" or "" */
    const char *x, *y, *rows; /* the quantities it is made of, as the suite names them; rows: of a matrix, else "" */
    struct derived_value value;
    const char *finding; /* what is wrong with it, in a sentence; NULL or "": nothing */
};

/* Whether something is wrong with it. */
static inline bool result_derived_is_finding(const struct result_derived *derived)
{
    return derived->finding && derived->finding[0];
}

struct result_label {
    const char *key, *value;
};

/* A run's position in a job of many (--device all, --out-dir); unknown for any other run. */
struct result_job {
    const char
        *engine;    /* "slurm" "flux" "openmpi" "pmix" "pmi" "kubernetes" "torchrun"; "" none: one process by itself */
    const char *id; /* of the job; "" unknown */
    const char *node; /* its name; "": there is no job */
    uint32_t rank, world, local_rank;
    uint32_t devices;           /* that this rank was to measure */
    double started_together_ns; /* the node's monotonic time at which all of them began; 0: one after the other */
};

/* Reads it from the variables of the launcher that started this process (src/result/job.c has the table). ERR_USAGE:
 * they contradict each other. */
enum status result_job_find(struct result_job *job, struct arena *arena, struct err *err);

/* One trial that a merged run was made of: trial k of the run is parts[k]. */
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
    const struct result_part *parts; /* of a merged run, one per trial */
    size_t part_count;
    const char *status; /* "complete" | "interrupted" */
    const char *commit, *branch, *ci_url;
    struct result_job job;
    const struct result_label *labels;
    size_t label_count;
    /* environment */
    const char *host_id_hash, *kernel_release, *os, *cpu_name, *governor, *container;
    uint32_t numa_nodes;
    struct device_info device;      /* environment.gpu; for the CPU device the host's cores seen as one */
    const char *compiler;           /* version line of the kernel compiler */
    const struct result_label *env; /* HSA_* HIP_* ROC* GPU_* OMP_* set in the environment */
    size_t env_count;
    char fingerprint[65];
    const char *const *warnings;
    size_t warning_count;
    struct calibration calibration;
    struct machine machine; /* ceilings used: calibration.peaks, and ext.machine in full */
    /* result_write: samples beyond 512 of a case go to a sidecar file; else they are skipped */
    bool raw_samples;
    bool predicted; /* the sim device: every time is a prediction */
    const struct result_case *cases;
    size_t case_count;
    const struct result_derived *derived;
    size_t derived_count;
    const struct result_kpi *kpis;
    size_t kpi_count;
};

/* One case from its plan and its measurement (ceilings as they stand in `machine` when the case ended). */
void result_case_build(struct result_case *out, const struct plan_case *plan, const struct measurement *measured,
                       const char *object_sha256, const struct machine *machine, struct arena *arena);

/* Tool, host and environment parts; `device` from the worker. Nothing fails: unknown facts are "" or 0. */
void result_environment(struct result *result, const struct device_info *device, int argc, char **argv,
                        struct arena *arena);
/* Takes every warning given so far; result_environment takes those from before the run. */
void result_take_warnings(struct result *result, struct arena *arena);

/* Evaluates the suite's derive list over the cases into result->derived. A value that cannot be computed becomes
 * {"error": "..."} there, never a failure; where all cases are skipped there is no value. */
void result_derive(struct result *result, const struct plan *plan, uint64_t seed, struct arena *arena);

/* Computes value, reason, case_count and trial_values of every entry of result->kpis from the cases as they stand. */
void result_kpis_evaluate(struct result *result, struct arena *arena);

/* JSON, atomically. One case per line inside "cases", so that readers can stream. Up to 512 samples of a case stand
 * inline; with raw_samples more of them go to a sidecar file `<path>.samples.bin` (f64, little-endian), described in
 * samples_file. */
enum status result_write(const struct result *result, const char *path, struct err *err);
void result_case_json(struct text *out, const struct result_case *result_case); /* one line without newline */
void result_kpi_json(struct text *out, const struct result_kpi *kpi);           /* the same */

/* The whole document as result_write writes it, samples inline. */
void result_document(struct text *out, const struct result *result);

/* Reads a result file: ERR_CONFIG for another schema major version, truncated or hostile JSON, impossible values, and
 * parts that contradict each other (median and samples, case and trials, rates and times), as in a file edited by hand
 * or corrupt. Unknown keys are ignored (readers are open). Sidecars are checked by size and hash if present; missing
 * ones are tolerated. Cases are read one after the other, so time and memory grow with the file. For a run that was
 * killed it reads the journal (journal.h): if `path` names one, or if only <path>.journal exists. From the
 * check.json of scripts/gpu_check it reads the times of the quick suite and of the libraries, as one result. */
enum status result_read(const struct result **result, const char *path, struct arena *arena, struct err *err);

/* The same with the same checks, but no case keeps samples_ns and sample_hz, and sidecars are ignored: what compare and
 * history need, about 2 kB a case. */
enum status result_read_light(const struct result **result, const char *path, struct arena *arena, struct err *err);

/* From memory; `name` stands for the file in messages, and there is no sidecar. */
enum status result_parse(const struct result **result, const char *name, const char *text, size_t length,
                         struct arena *arena, struct err *err);

/* One run from results that each have one or more trials of it (`rooftile merge`, `run --trials`); `names` say which is
 * which in messages. The order of the parts does not matter: the same parts give the same bytes.
 *
 * Refused (ERR_CONFIG, naming both): another place (result_same_place), commit, suite or version; cases that differ in
 * a part of their identity, timer or cache mode; the same trial of a case twice. Two parts may each have some cases of
 * one trial, as after --resume. Trials are renumbered 0.. in order of start
 * time, run id and index. Each case gets trials[]; its samples follow one another in that order when all trials have
 * theirs.
 * stats.median is the median of the trials' medians; the other statistics are of all samples together, or, where some
 * trial's samples are not in its file, combined from the trials' own (extremes, mean and sd exactly, the others as
 * medians). The worst status wins with its reason, so a wrong result in any trial is one of the run; flags add up. A
 * case that some trial lacks is there with the trials that it has, and says so. Key figures are computed again. Points
 * into the parts, which must live as long. */
enum status result_merge(struct result *out, const struct result *const *parts, const char *const *names, size_t count,
                         struct arena *arena, struct err *err);

/* A quantity of a case by its name, in base units; NaN when the case has none: a parameter that is a number, a metric,
 * "bytes", "footprint", "intensity" or, at its median time, one of result_at_time. */
double result_quantity(const struct result_case *result_case, const char *name);
/* "time_ns" "bytes_per_s" "flops_per_s" "items_per_s" "ns_per_item" "fraction" (of the ceiling), had it taken this
 * time. */
double result_at_time(const struct result_case *result_case, const char *name, double time_ns);
double result_metric(const struct result_case *result_case, const char *name);                   /* NaN: it has none */
const struct param_value *result_param(const struct result_case *result_case, const char *name); /* NULL: it has none */
/* How much work that is: its FLOPs, else its bytes, else its items; 0: it is not known. */
double result_amount(const struct work *work);
/* The time of one of these, so that cases of different sizes can be compared; of the case where that is not known. */
double result_time_each(const struct result_case *result_case);
/* Its time is a chain of dependent loads, or an empty launch: bytes over time say nothing of it. */
bool result_is_latency(const struct result_case *result_case);
/* Its time: the median of its samples (of several trials, of their medians); of a predicted case the prediction. */
static inline double result_case_time(const struct result_case *c)
{
    return c->timer == TIMED_SIM ? c->prediction.time_ns : c->stats.median;
}

/* It has a time. */
static inline bool result_case_timed(const struct result_case *c)
{
    return c->sample_count || c->timer == TIMED_SIM;
}

/* The interval of its time: 95 % of the median of samples, or 80 % of a prediction. */
struct result_interval {
    double low_ns, high_ns;
};

static inline struct result_interval result_case_interval(const struct result_case *c)
{
    return c->timer == TIMED_SIM ? (struct result_interval){c->prediction.low_ns, c->prediction.high_ns}
                                 : (struct result_interval){c->stats.ci95[0], c->stats.ci95[1]};
}

/* The medians of the trials that count, of a case that counts; without trials the case's own median. At least one. */
size_t result_trial_times(double times[static SHIFT_MAX_TRIALS], const struct result_case *c);
/* Timer tick / time of what it timed; more than all of it tells no more; 0: the tick is unknown. */
double result_case_floor(const struct result_case *c, double tick_ns);

/* Sets what follows from its time: rates, fraction, bound. result_take_median sets the median first. */
void result_take_time(struct result_case *result_case);
void result_take_median(struct result_case *result_case, double median_ns);

/* predicted / measured - 1, NaN where one of them is missing. */
double result_predicted_error(const struct result_case *result_case);

/* "measured", "predicted" or "emulated"; the other in a sentence for those who do not know the words. */
const char *result_kind(const struct result *result);
const char *result_kind_words(const struct result *result);
/* ERR_CONFIG: nothing was measured by what was executed: it was profiled, or an emulator executed it. */
enum status result_check_measured(const struct result *result, struct err *err);

/* It was timed, by no emulator, and nothing about it is wrong or impossible: its time may be compared and exported. */
bool result_case_counts(const struct result_case *result_case);
/* It is an ablation twin (manifest.h): its time is not the kernel's, and enters no figure. */
bool result_case_is_twin(const struct result_case *result_case);
/* The beginning of the reason of a case that was skipped because time ran out (--budget). */
#define RESULT_LATE_REASON "the time budget of "
/* Why a case is a finding: "verification" "impossible" "failed" "crashed" "timeout"; "" when it is none (ok, skipped,
 * error). */
const char *result_case_finding(const struct result_case *result_case);
/* Why a case does not count: its finding, "emulated", or its status. */
const char *result_case_trouble(const struct result_case *result_case);
/* Of how many trials it is: at least 1. */
static inline uint32_t result_trials(const struct result *result)
{
    return result->trials ? result->trials : 1;
}

/* Its label, or its id where it has none. */
const char *case_name(const struct result_case *c);

/* The case says what work it does. */
static inline bool result_work_known(const struct work *work)
{
    return work->flops > 0 || work->read_bytes + work->write_bytes > 0 || work->items > 0;
}

/* Case ids of two results match by plan id: result_case.id without its ";timer=..." part. */
size_t result_id_length(const char *id);

/* ---- two of them (pair.c) ---- */

/* Fact `k` of where it was measured: identity_fact, then the host's. */
bool result_fact(struct identity_fact *out, const struct result *result, size_t k, struct arena *arena);
/* ERR_CONFIG, with both names, unless all facts and the host are the same, and both are measured or predicted. */
enum status result_same_place(const struct result *a, const struct result *b, const char *const names[2],
                              struct err *err);
/* What differs between two cases of one id, with before and after where it is short: "launch (grid 16 to 32), input
 * data"; "" when nothing does. */
const char *result_case_changes(const struct result_case *a, const struct result_case *b, struct arena *arena);
/* NULL, or why their times must not be compared: one of these parts of their identity (IDENTITY_BITs), the timer or the
 * cache mode differs. */
const char *result_case_unlike(const struct result_case *a, const struct result_case *b, unsigned parts,
                               struct arena *arena);

/* The exit code of everything that measures. 1 when a case or a derived value is a finding (failed verification,
 * impossible, crashed, timeout, failed), or some cases ended in an error while others were measured; 3 when nothing was
 * measured; with `strict` 4 when a case saw interference, throttled or had no ceiling for its unit, or time ran out
 * before all of them; else 0. */
int result_exit_code(const struct result *result, bool strict);
/* NULL, or why nothing was measured: the reason of the first case. */
const char *result_unmeasured(const struct result *result);

#endif
