/* SPDX-License-Identifier: MIT
 *
 * Plan: suites + catalog + machine + device facts -> every case fully evaluated, with its lower bound. Times are
 * predicted later (predictor.h), when there is code. Pure: no device, no compiler, no file. A plan is built once,
 * predicted in place and then const; the worker process inherits it by fork.
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

/* Guard bytes before and after each buffer, which detect writes outside of it. One page, so that buffers still begin on
 * a page boundary. */
enum { BUFFER_GUARD_BYTES = 4096 };

struct resolved_buffer {
    const struct manifest_buffer *spec;
    enum dtype dtype;
    uint64_t count;
    uint64_t size_bytes;
    uint32_t align_offset;
    enum buffer_space space;
    uint32_t device; /* BUFFER_PEER: number of its device */
    /* For a buffer with parts on several devices (manifest_buffer.devices): the number of parts, the number of this
     * part, and the index of part 1 in `buffers`, where the manifest's buffers come first. 1 and 0 for a whole
     * buffer. */
    uint32_t parts, part;
    size_t more;
    enum fill_dist dist; /* of its fill, for this case */
};

/* A struct by value: its bytes, and the positions of pointers into buffers. */
struct resolved_struct {
    const uint8_t *bytes;
    uint32_t alignment;
    struct resolved_pointer {
        uint32_t at; /* offset in bytes from the beginning of the struct */
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
        const struct resolved_struct *by_value; /* if spec has members */
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

/* What is timed, and which timers cover it. Events are those of stream 0. */
struct timing {
    bool waits;   /* the host takes part: sync, load and alloc steps */
    bool reloads; /* load and alloc steps, which are in no stream */
    /* some work on another stream is not ordered with stream 0: that stream must first wait for an event of stream 0,
     * and stream 0 must afterwards wait for an event of that stream */
    bool apart;
    bool one_launch; /* there is exactly one timed step, a launch that is not cooperative: it can be timed alone */
    bool all_timed;  /* all steps are timed: passes may follow each other in a batch */
    bool loads;      /* load steps: the code is unloaded before the steps run */
    /* launches in one pass if all steps are timed launches on stream 0; else 0 */
    uint64_t stream_launches;
};

/* A manifest at given parameter values: everything a device needs. Steps are not const, because their codes are known
 * only after everything else is resolved. */
struct resolved {
    const struct manifest *manifest;
    const struct param_value *values;  /* one per manifest parameter */
    const struct device_facts *device; /* the device that it is for */
    const struct resolved_buffer *buffers;
    size_t buffer_count;
    struct resolved_step *steps;
    size_t step_count;
    struct resolved_step *setup;
    size_t setup_count;
    struct timing timing;
    struct work work;
    double waves_declared; /* per SIMD, from the manifest's "occupancy"; 0: not stated */
    uint64_t buffer_bytes; /* of all buffers */
    size_t code;           /* index into plan.codes, for the first launch; without launches, for code.defines alone */
    const size_t *codes;   /* all code objects of its launches without duplicates; the first is `code` */
    size_t code_count;
};

/* Returns the values of the names in the manifest's expressions, for those evaluated later: fills, expectations,
 * metrics. Cases do not store copies, because most values are facts of the device. */
double *resolved_slots(const struct resolved *resolved, struct arena *arena);

/* Returns the index in resolved->buffers of a part of the manifest's buffer number `buffer`. */
static inline size_t resolved_part(const struct resolved *resolved, size_t buffer, uint32_t part)
{
    return part ? resolved->buffers[buffer].more + part - 1 : buffer;
}

/* Returns the number of a part's first element. */
static inline uint64_t resolved_first(const struct resolved_buffer *buffer)
{
    return buffer->part * buffer->count;
}

/* Goes through the launches of a case: those of its setup, then those of its steps, including those inside graphs and
 * loops. Begins with {.resolved = ...}. */
struct launch_walk {
    const struct resolved *resolved;
    unsigned lists; /* begun so far, of two; 1 at the beginning leaves the setup out */
    struct launch_level {
        struct resolved_step *next;
        size_t left;
        double times; /* in one pass over the timed steps */
    } levels[MANIFEST_MAX_NESTING + 2];
    size_t depth;
    bool begun; /* some step precedes the next one */
    /* The current launch: */
    struct resolved_launch *launch;
    double times;  /* in one pass over the timed steps; 0: it is not timed */
    bool is_later; /* other steps precede it */
};
/* False after the last one. */
bool launch_next(struct launch_walk *walk);
/* Returns the launches in one pass over the timed steps, including repeats, graphs and loops. */
double plan_launches(const struct resolved *resolved);

/* The resolved reference of a case: which of its buffers receive the contents of ours, and which elements it
 * computes. */
struct plan_reference {
    /* On the CPU device, without buffers and steps; plan_reference_open makes these, because they would take as much
     * memory as those of the case. */
    struct resolved resolved;
    const int *source; /* per reference buffer: our buffer's index, or -1 for index and result */
    int index_buffer, result_buffer;
    int output;       /* index of our buffer that is checked */
    uint64_t samples; /* number of elements computed */
    bool every;       /* samples == the output's count: index is 0, 1, 2, ...; else seeded random */
    double abs, rel;  /* tolerances, evaluated */
};

/* Resolves the whole reference, with buffers and steps. A failure would already have made the case invalid. */
enum status plan_reference_open(struct resolved *resolved, const struct plan_reference *reference, struct arena *arena,
                                struct err *err);

enum verify_method { VERIFY_NONE, VERIFY_EXPECT, VERIFY_REFERENCE, VERIFY_SAMPLED, VERIFY_VARIANT };
extern const char *const verify_method_names[]; /* "expect" ... */

enum plan_state { PLAN_READY, PLAN_SKIPPED, PLAN_INVALID };

struct plan_case {
    const char *id;    /* "kernel/param=value;...;mode=hot": every parameter in manifest order */
    const char *label; /* short, for tables: the kernel and the parameters that vary for it within the plan */
    size_t index;
    size_t asked; /* number of its combination among all that the suites request; the same on every device */
    enum plan_state state;
    /* PLAN_SKIPPED: what the device lacks (unmet require, LDS, memory); PLAN_INVALID: what is wrong with these values,
     * with file, line, column and pointer of suite and manifest. `resolved` then has only manifest, values and
     * device. */
    const char *reason;
    const char *const *tags; /* the suite's and the manifest's */
    size_t tag_count;
    const struct manifest_twin *twin; /* the ablation twin, for the preceding case; NULL: not a twin */
    const char *sized_by;             /* source of the capacities for its values if its own are unknown; NULL */
    const char *shape;                /* names of the shapes with its parameters, "a+b"; NULL: none (suite.h) */
    double weight;                    /* weight in weighted sums; 0: once */
    double traced_ns;                 /* 0: unknown */
    struct measure_options measure;
    struct resolved resolved;
    struct lower_bound lower_bound;     /* at the predicted time, if it has one */
    const struct predicted *prediction; /* for one pass over the timed steps; NULL: not predicted (yet) */
    double estimate_ns;                 /* expected wall time without compilation; set with the prediction */
    enum verify_method verify;
    const struct resolved *variant;         /* VERIFY_VARIANT: the same code at check.params */
    const struct plan_reference *reference; /* for `variant` if it is set, else for `resolved`; NULL: none */
    const struct plan_reference *spot;      /* VERIFY_VARIANT: some elements at the measured size ... */
    const char *spot_why;                   /* ... or why there are none */
    const struct suite *suite;
};

struct plan_options {
    const char *const *sets; /* "name=sweep" from --set; applied to every case whose kernel has the parameter */
    size_t set_count;
    const char *const *filters; /* globs on id or kernel name; a leading '!' excludes; no filter = all cases */
    size_t filter_count;
    bool isolate; /* each case is followed by the ablation twins that its manifest names */
    /* `check --run`: every kernel at its defaults overridden by check.params and --set, no sweep */
    bool at_check_params;
    const char *target_arch; /* code is compiled for this target ... */
    enum build_kind target_kind;
    uint32_t wave;
    const char *cpu_target; /* ... and references for this one */
    uint32_t cpu_wave;
};

struct plan {
    struct plan_case *cases;
    size_t count;
    const struct build_request *codes; /* all distinct code objects, including references' */
    size_t code_count;
    const struct suite_derive *derives;
    size_t derive_count;
    double estimate_ns; /* sum over ready cases after prediction; without compilation */
    const struct machine *machine;
    const char *traced_on; /* the machine of the first of these; NULL: unknown */
    double traced_ns;      /* total GPU time of the traces that the suites were made from; 0: no trace */
};

/* ERR_CONFIG / ERR_USAGE for errors in the suite itself (unknown kernel, unknown parameter, bad exclude, --set of a
 * parameter that no selected kernel has). Values that fail for one case only (zero grid, unmet require, block above the
 * device's limit, overflow) make that case PLAN_SKIPPED or PLAN_INVALID, and the others continue. ERR_USAGE if no case
 * remains after filters. */
enum status plan_build(struct plan **plan, const struct suite *const *suites, size_t suite_count,
                       const struct catalog *catalog, const struct machine *machine, const struct device_facts *device,
                       const struct plan_options *options, struct arena *arena, struct err *err);

/* Computes a manifest's defaults with the first of its variants that matches the device. ERR_CONFIG as
 * manifest_default. */
enum status plan_device_values(struct param_value *values, const struct manifest *manifest,
                               const struct device_facts *device, struct err *err);

/* Places the case on the roofline at this time (NaN: unknown). For latency and launch, the class determines the bound.
 * `predicted`, the bound of a prediction of this time ("": none), is used if it is launch, or if no roof is known. */
void plan_case_bound(struct lower_bound *lower_bound, const struct plan_case *plan_case, const struct machine *machine,
                     double time_ns, const char *predicted);

#endif
