/* SPDX-License-Identifier: MIT
 *
 * Result: what happened, as data. Built from plan and measurements, or read from a result file; reports, compare and history
 * know only this. The JSON is measurement.md section 3 (configs/schema/result.schema.json), keys exactly as there.
 *
 * Base units everywhere: ns, bytes, Hz, FLOP/s. Claimed (data sheet), predicted and measured values are different fields.
 */
#ifndef ROOFTILE_RESULT_H
#define ROOFTILE_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rooftile/arena.h"
#include "rooftile/err.h"
#include "rooftile/json.h"
#include "rooftile/machine.h"
#include "rooftile/measurement.h"
#include "rooftile/plan.h"
#include "rooftile/summary.h"
#include "rooftile/text.h"

#define RESULT_SCHEMA_VERSION "1.0.0"
#define RESULT_SCHEMA_ID "https://rooftile.dev/schemas/result/1/result.schema.json"

struct result_param {
    const char *name;
    struct param_value value;
};

struct result_metric {
    const char *name, *unit;
    double value;
};

/* What the compiler made of the case's first timed kernel, from its code object (AMD). */
struct result_code {
    bool known;
    uint32_t vgprs, agprs, sgprs; /* as allocated by the hardware (vgprs, agprs), as counted by the compiler (sgprs) */
    uint32_t lds_bytes, scratch_bytes, vgpr_spills, sgpr_spills, kernarg_bytes, wave;
    double waves_per_simd;        /* occupancy of the launch; NaN unknown */
    const char *occupancy_limit;  /* "vgpr" "lds" "slots" ...; "" unknown */
    const char *isa_sha256;       /* of the kernel's instructions; "" unknown */
};

/* One fresh process's share of a case (measurement.md 1.4). */
struct result_trial {
    uint32_t index;      /* of the trial in its run */
    enum case_status status;
    double median_ns;    /* NaN when nothing was measured */
    double min_ns;
    uint32_t n;          /* samples */
    double cycles;       /* median of time * clock held; NaN = no clock */
    double core_hz;      /* mean clock of the samples; NaN */
    uint32_t flags;
    uint32_t order_index;
};

/* A key figure that the suite declares: the geometric mean of a group, one case, a fraction of the roof. */
struct result_kpi {
    const char *name, *unit, *what; /* what: "geomean of 12 cases" */
    bool higher_is_better;
    double value;                   /* NaN with `reason` */
    const char *reason;
    uint32_t case_count;            /* cases that count in it */
};

struct result_case {
    const char *id;     /* plan_case.id + ";timer=batch" once it was timed */
    const char *label;  /* short, for tables */
    const char *kernel;
    const char *class;
    const char *const *tags;
    size_t tag_count;
    const struct result_param *params;
    size_t param_count;
    struct work work;
    bool has_work;
    char object_sha256[65]; /* "" unknown */
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
    const float *sample_hz;    /* clock of each sample; NULL = unknown */
    double cycles;             /* median of time * clock; NaN */
    const char *clock_reason;  /* why there is no clock; "" */
    enum timer cross_timer;
    double cross_ns;           /* NaN */
    bool blocking_start;
    const struct result_trial *trials; /* of a run of several; stats.median is then the median of their medians */
    size_t trial_count;
    struct result_code code;
    struct summary stats;      /* valid when sample_count > 0 */
    struct device_sense before, after;
    double flops_per_s, bytes_per_s, items_per_s; /* NaN = not applicable */
    struct floor floor;        /* roofline: bound, ceiling, intensity */
    double fraction;           /* of the ceiling: floor / median; NaN */
    /* prediction: filled by a model later; until then the floor plus a launch */
    const char *model;         /* "floor" */
    double predicted_ns;
    double predicted_error;    /* measured / predicted - 1; NaN on sim */
    struct verification verification;
    const struct result_metric *metrics;
    size_t metric_count;
    enum case_status status;
    uint32_t flags;
    const char *reason;        /* status_reason: of a status other than ok, or of flags */
};

struct result_derived {
    const char *name, *method, *kernel;
    const char *group;         /* "dtype=f32" or "" */
    const char *json;          /* the value as a JSON text: object or array */
};

struct result_label { const char *key, *value; };

struct result {
    /* tool, run */
    const char *tool_version, *tool_git;
    bool tool_dirty;
    const char *tool_build;
    const char *run_id;        /* uuid */
    const char *started_at, *finished_at; /* RFC 3339 */
    const char *const *argv;
    size_t argc;
    const char *config_sha256;
    uint64_t seed;
    uint32_t trial_index, trials;
    const char *status;        /* "complete" | "interrupted" */
    const char *commit, *branch, *ci_url;
    const struct result_label *labels;
    size_t label_count;
    /* environment */
    const char *host_id_hash, *kernel_release, *os, *cpu_name, *governor, *container;
    uint32_t numa_nodes;
    struct device_info device; /* environment.gpu; for the CPU device the host's cores seen as one */
    const char *compiler;      /* version line of the kernel compiler */
    const char *compiler_cmdline_sha256;
    const struct result_label *env; /* HSA_* HIP_* ROC* GPU_* OMP_* set in the environment */
    size_t env_count;
    char fingerprint[65];
    const char *const *warnings;
    size_t warning_count;
    struct calibration calibration;
    struct machine machine;    /* roofs used: calibration.peaks, and ext.machine in full */
    bool raw_samples;          /* result_write: samples beyond 512 of a case go to a sidecar file; else they are left out */
    bool predicted;            /* the sim device: every time is a prediction */
    const struct result_case *cases;
    size_t case_count;
    const struct result_derived *derived;
    size_t derived_count;
    const struct result_kpi *kpis;
    size_t kpi_count;
};

/* One case from its plan and its measurement (roofs as they stand in `machine` when the case ended). */
void result_case_build(struct result_case *out, const struct plan_case *plan, const struct measurement *measured,
                       const char *object_sha256, const struct machine *machine, struct arena *arena);

/* Tool, host and environment parts; `device` from the worker. Nothing fails: unknown facts are "" or 0. */
void result_environment(struct result *result, const struct device_info *device, int argc, char **argv, struct arena *arena);

/* Evaluates the suite's derive list over the cases into result->derived. A derive that cannot be computed becomes
 * {"error": "..."} there, never a failure. */
void result_derive(struct result *result, const struct plan *plan, uint64_t seed, struct arena *arena);

/* JSON, atomically. One case per line inside "cases", so that readers can stream. Up to 512 samples of a case stand inline;
 * with raw_samples more of them go to a sidecar file `<path>.samples.bin` (f64, little-endian), described in samples_file. */
enum status result_write(const struct result *result, const char *path, struct err *err);
void result_case_json(struct text *out, const struct result_case *result_case); /* one line without newline */

/* The whole document as result_write writes it, samples inline. */
void result_document(struct text *out, const struct result *result);

/* Reads a result file: ERR_CONFIG for another schema major version, truncated or hostile JSON, impossible values. Unknown
 * keys are ignored (readers are open). Sidecars are checked by size and hash when present, and missing ones tolerated. */
enum status result_read(const struct result **result, const char *path, struct arena *arena, struct err *err);

/* Case ids of two results match by plan id: result_case.id without its ";timer=..." part. */
size_t result_id_length(const char *id);

/* 1 when anything is a finding (failed verification, impossible, crashed, timeout, failed), or some cases ended in an error
 * while others were measured; 3 when there were only errors; else 0. */
int result_exit_code(const struct result *result);

#endif
