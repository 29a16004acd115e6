/* SPDX-License-Identifier: MIT
 *
 * Plan: suites + catalog + machine + device facts -> every case fully evaluated, with its lower bound. Times are
 * predicted afterwards (predictor.h), when there is code.
 * Pure: no device, no compiler, no file. A plan is built once, predicted in place and then const; the worker process
 * inherits it by fork.
 */
#ifndef ROOFTILE_PLAN_H
#define ROOFTILE_PLAN_H

#include "rooftile/build.h"
#include "rooftile/catalog.h"
#include "rooftile/machine.h"
#include "rooftile/manifest.h"
#include "rooftile/prediction.h"
#include "rooftile/roofline.h"
#include "rooftile/suite.h"

/* Before and behind each buffer, so that a write outside of it is seen. One page, so that buffers still begin on a page
 * boundary. */
enum { BUFFER_GUARD_BYTES = 4096 };

struct resolved_buffer {
    const struct manifest_buffer *spec;
    enum dtype dtype;
    uint64_t count;
    uint64_t size_bytes;
    uint32_t align_offset;
    enum buffer_space space;
    uint32_t device; /* BUFFER_PEER: number of its device */
    /* Of a buffer with a part on each of several devices (manifest_buffer.devices): the number of parts, which of them
     * this is, and the index of part 1 in `buffers`, where the manifest's buffers come first. 1 and 0 for a whole
     * buffer. */
    uint32_t parts, part;
    size_t more;
    enum fill_dist dist; /* of its fill, for this case */
};

/* A struct by value: its bytes, and where in it pointers into buffers stand. */
struct resolved_struct {
    const uint8_t *bytes;
    uint32_t alignment;
    struct resolved_pointer {
        uint32_t at; /* bytes from the beginning of the struct */
        int buffer;
        uint64_t offset;
    } * pointers;
    size_t pointer_count;
};

struct resolved_arg {
    const struct manifest_arg *spec;
    int buffer; /* index into buffers, or -1 */
    uint32_t size_bytes;
    union {
        uint64_t offset;                        /* into the buffer, bytes */
        uint8_t value[8];                       /* little-endian value of a scalar; 0: a null pointer */
        const struct resolved_struct *by_value; /* where spec has members */
    };
};

struct resolved_launch {
    const struct manifest_launch *spec;
    size_t code; /* index into plan.codes */
    const char *symbol;
    uint32_t grid[3], block[3];
    uint32_t lds_bytes;
    const struct resolved_arg *args;
    size_t arg_count;
};

struct resolved_step {
    enum step_kind kind;
    uint32_t stream;
    bool timed;
    uint64_t repeat;
    struct resolved_launch launch;
    int to, from;
    uint64_t to_offset, from_offset; /* STEP_COPY: bytes into them */
    uint64_t bytes;
    uint8_t byte;
    uint32_t event;
    struct resolved_step *steps; /* of a graph or loop */
    size_t step_count;
};

/* What is timed, and which timers see it. Events are those of stream 0. */
struct timing {
    bool waits;   /* the host has a part in it: sync, load and alloc steps */
    bool reloads; /* load and alloc steps, which are in no stream */
    /* some work on another stream is not ordered with stream 0: its stream must wait for an event of stream 0 before
     * it, and stream 0 for an event of that stream behind it */
    bool apart;
    bool one_launch; /* exactly one timed step, which is one launch and not cooperative: it can be timed by itself */
    bool all_timed;  /* no step is untimed: passes may follow each other in a batch */
    bool loads;      /* load steps: the code is unloaded before the steps run */
    /* launches of one pass, where the steps are nothing but timed launches on stream 0; else 0 */
    uint64_t stream_launches;
};

/* A manifest at given parameter values: everything a device needs. Steps are not const because their codes are known
 * only once everything else is resolved. */
struct resolved {
    const struct manifest *manifest;
    const struct param_value *values;  /* one per manifest parameter */
    const struct device_facts *device; /* that it is for */
    const struct resolved_buffer *buffers;
    size_t buffer_count;
    struct resolved_step *steps;
    size_t step_count;
    struct resolved_step *setup;
    size_t setup_count;
    struct timing timing;
    struct work work;
    double waves_declared; /* per SIMD, by the manifest's "occupancy"; 0: it declares none */
    uint64_t buffer_bytes; /* all buffers */
    size_t code;           /* index into plan.codes: of the first launch; without any, of code.defines alone */
    const size_t *codes;   /* each code object that its launches need once; the first is `code` */
    size_t code_count;
};

/* The values of the names in the manifest's expressions, for expressions that are evaluated later: fills, expectations,
 * metrics. Most are facts of the device, so cases do not keep copies. */
double *resolved_slots(const struct resolved *resolved, struct arena *arena);

/* The index in resolved->buffers of a part of the manifest's buffer number `buffer`. */
static inline size_t resolved_part(const struct resolved *resolved, size_t buffer, uint32_t part)
{
    return part ? resolved->buffers[buffer].more + part - 1 : buffer;
}

/* The number of a part's first element. */
static inline uint64_t resolved_first(const struct resolved_buffer *buffer)
{
    return buffer->part * buffer->count;
}

/* Launches in one pass over the timed steps, repeats, graphs and loops included. */
double plan_launches(const struct resolved *resolved);

/* The reference resolved for a case: which of its buffers take the contents of ours, and which elements it computes. */
struct plan_reference {
    /* On the CPU device, without buffers and steps: plan_reference_open makes these, because keeping them would take as
     * much memory as those of the case. */
    struct resolved resolved;
    const int *source; /* per reference buffer: our buffer's index, or -1 for index and result */
    int index_buffer, result_buffer;
    int output;       /* our buffer that is checked */
    uint64_t samples; /* elements computed */
    bool every;       /* samples == the output's count: index is 0, 1, 2, ... else seeded random */
    double abs, rel;  /* tolerances, evaluated */
};

/* The whole reference, with buffers and steps. A reference that cannot be resolved has made the case invalid before. */
enum status plan_reference_open(struct resolved *resolved, const struct plan_reference *reference, struct arena *arena,
                                struct err *err);

enum verify_method { VERIFY_NONE, VERIFY_EXPECT, VERIFY_REFERENCE, VERIFY_SAMPLED, VERIFY_VARIANT };
extern const char *const verify_method_names[]; /* "expect" ... */

enum plan_state { PLAN_READY, PLAN_SKIPPED, PLAN_INVALID };

struct plan_case {
    const char *id;    /* "kernel/param=value;...;mode=hot": every parameter in manifest order */
    const char *label; /* short for tables: kernel and only the parameters that vary within the plan for this kernel */
    size_t index;
    size_t asked; /* number of its combination among all that the suites ask for; the same on every device */
    enum plan_state state;
    /* PLAN_SKIPPED: what the device lacks (unmet require, LDS, memory); PLAN_INVALID: what is wrong with these values,
     * with file, line, column and pointer of suite and manifest. Of `resolved` only manifest, values and device are
     * then known. */
    const char *reason;
    const char *const *tags; /* suite's and manifest's */
    size_t tag_count;
    const struct manifest_twin *twin; /* which ablation twin of the case before it this is; NULL: not a twin */
    const char *sized_by;             /* whose capacities its values were sized by, where nobody knows its own; NULL */
    const char *shape;                /* names of the shapes that have its parameters, "a+b"; NULL: none (suite.h) */
    double weight;                    /* how often it counts in weighted sums; 0: once */
    double traced_ns;                 /* 0: not known */
    struct measure_options measure;
    struct resolved resolved;
    struct lower_bound lower_bound;     /* at the predicted time, if it has one */
    const struct predicted *prediction; /* of one pass over the timed steps; NULL: not predicted (yet) */
    double estimate_ns;                 /* with it: expected wall time of the case, without compilation */
    enum verify_method verify;
    const struct resolved *variant;         /* VERIFY_VARIANT: the same code at check.params */
    const struct plan_reference *reference; /* of `variant` where that is set, else of `resolved`; NULL: none */
    const struct plan_reference *spot;      /* VERIFY_VARIANT: some elements at the measured size ... */
    const char *spot_why;                   /* ... or why there are none */
    const struct suite *suite;
};

struct plan_options {
    const char *const *sets; /* "name=sweep" from --set; apply to every case whose kernel has the parameter */
    size_t set_count;
    const char *const *filters; /* globs on id or kernel name; a leading '!' excludes; no filter = all cases */
    size_t filter_count;
    bool isolate; /* each case is followed by the ablation twins that its manifest names */
    /* `check --run`: every kernel at check.params over its defaults, and what --set says, no sweep */
    bool at_check_params;
    const char *target_arch; /* code is for this target ... */
    enum build_kind target_kind;
    uint32_t wave;
    const char *cpu_target; /* ... and references for this one */
    uint32_t cpu_wave;
};

struct plan {
    struct plan_case *cases;
    size_t count;
    const struct build_request *codes; /* each distinct code object once, references included */
    size_t code_count;
    const struct suite_derive *derives;
    size_t derive_count;
    double estimate_ns; /* sum over ready cases, once they are predicted; without compilation */
    const struct machine *machine;
    const char *traced_on; /* the machine of the first of these; NULL: not known */
    double traced_ns;      /* all GPU time of the traces that the suites were made of; 0: of none */
};

/* ERR_CONFIG / ERR_USAGE for what is wrong with the suite itself (unknown kernel, unknown parameter, bad exclude, --set
 * of a parameter that no selected kernel has); values that fail for one case only (zero grid, unmet require, block
 * above the device's limit, overflow) make that case PLAN_SKIPPED or PLAN_INVALID and the others go on. No case at all
 * after filters is ERR_USAGE. */
enum status plan_build(struct plan **plan, const struct suite *const *suites, size_t suite_count,
                       const struct catalog *catalog, const struct machine *machine, const struct device_facts *device,
                       const struct plan_options *options, struct arena *arena, struct err *err);

/* A manifest's defaults and the first of its variants that matches the device. ERR_CONFIG as of manifest_default. */
enum status plan_device_values(struct param_value *values, const struct manifest *manifest,
                               const struct device_facts *device, struct err *err);

/* The case on the roofline at this time (NaN: not known). The class bounds one of latency or launch. `predicted`, the
 * bound of a prediction of this time ("": there is none), does where that is launch, or where no roof is known. */
void plan_case_bound(struct lower_bound *lower_bound, const struct plan_case *plan_case, const struct machine *machine,
                     double time_ns, const char *predicted);

#endif
