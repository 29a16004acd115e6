/* SPDX-License-Identifier: MIT
 *
 * Manifests describe kernels as data. There is one JSON file per operation, next to its source; the same format
 * describes prebuilt code objects ("image" instead of "source"). This header is the parsed form; expressions are
 * compiled once, and evaluated per case by plan/resolve. A JSON example with every key (unknown keys are errors):
 *
 * { "name": "stream_triad", "summary": "a = b + s*c", "tags": ["memory"], "class": "memory",
 *   "params":   { "n": 268435456, "dtype": "f32", "block": 256, "lens": [1, 2, 3], "layout": "nt" },
 *   "limits":   { "dtype": ["f32", "f64"], "VEC": [1, 2, 4] },                 allowed values of a parameter
 *   "let":      { "tile": "block * VEC", "rounds(size)": "ceil_div(size, tile)" },
 *               names for sub-expressions, which may use each other. Their text replaces them in every expression and
 *               placeholder of this manifest; they cannot be set. With names in brackets it is a function: "rounds(n)"
 *   "code":     { "source": "stream.hip", "symbol": "stream_triad", "min_llvm": 17,
 *                 "defines": { "T": "{ctype(dtype)}", "VEC": "{VEC}" }, "flags": ["-ffast-math"] },
 *               or { "image": "my_flash_{D}.hsaco", "symbol": "..." }
 *               or { "library": "{library}", "symbol": "gemm_{dtype}" },    a function of a library that the device
 *                                                                           opens (device.h), such as "openblas";
 *                                                                           variants may choose it; a launch may
 *                                                                           name another "library" beside any code
 *   "variants": [ { "backend": "cpu", "params": { "VEC": 16 } }, { "arch": "gfx11*", "wave": 32, "params": { ... } } ],
 *   "require":  [ { "expr": "device.lds_bytes >= tile * 4", "reason": "the tile needs {tile*4} bytes of LDS" } ],
 *   "buffers":  { "a": { "type": "{dtype}", "count": "n", "role": "out", "reset": "none",
 *                        "space": "device" or "{a text parameter}", 
 *                        "device": "0",                          owning device, for the space "peer"
 *                        "varies": false,                        output whose bits differ between launches (atomics on
 *                                                                floats): each is verified separately
 *                        "fill": "i % 7" | { "gen": "ring", "stride": "64", ... }, "align_offset": "0" } },
 *   "launch":   { "grid": ["ceil_div(n, block)"], "block": ["block"], "shared": "0", "symbol": "...",
 *                 "cooperative": false,
 *                 "defines": { "VEC": "1" },                     for this launch only: override those of code
 *                 "args": [ "a", { "value": "3", "type": "{dtype}", "repeat": "1" },
 *                           { "buffer": "b", "offset": "64" }, null,          null: a null pointer
 *                           { "struct": [ "a", null, { "value": "n", "type": "u32" }, ... ] } ] },
 *                                                          a struct by value, its members laid out as in C
 *   "steps":    [ { "launch": { ... }, "stream": 0, "timed": true, "repeat": "1", "index": "k" },
 *                 { "copy": { "to": "b", "from": "a", "bytes": "n*4" } },
 *                 { "fill": { "buffer": "b", "byte": 0 } }, { "sync": true }, { "record": "x" }, { "wait": "x" },
 *                 { "load": true }, { "alloc": "b" }, { "graph": { "repeat": "10", "steps": [ ... ] } },
 *                 { "loop": { "repeat": "10", "index": "k", "steps": [ ... ] } } ],
 *   "setup":    [ ... steps run once, untimed, before the first launch ... ],
 *   "work":     { "read": "2*n*bytes(dtype)", "write": "n*bytes(dtype)", "flops": "2*n", "items": "n",
 *                 "unit": "vector_{dtype}", "transcendentals": "n", "footprint": "...", "shared_by": "1",
 *                 "item": "B", "level": "link" },
 *   "occupancy": { "exactly": "waves" } or { "least": "2" },       waves per SIMD of the first timed launch, on GPUs
 *   "metrics":  { "cycles_per_step": { "buffer": "out", "reduce": "median", "expr": "x / steps", "unit": "cycles",
 *                                    "expect": "steps" } },
 *   "check":    { "params": { "n": 4099 },
 *                 "expect": { "a": "i % 7 + 3 * (i % 5)" | { "expr": "...", "abs": "0", "rel": "4*eps(dtype)" } },
 *                 "reference": { "kernel": "gemm_reference", "output": "c", "samples": 256, "abs": "...", "rel": "...",
 *                             "params": { ... }, "buffers": { "reference buffer": "own buffer" } } } }
 *
 * A manifest with "extends": "matrix_peak" starts from the manifest of that name in the same folder: objects are merged
 * key by key, null removes a key, and every other value (also a list) replaces the old one. Name and summary are never
 * inherited. The other manifest may extend a third. Messages point into the file that contains the value.
 *
 * Fills and expectations may read elements of buffers, "x[index[i]] + 1", with their values before the first launch. A
 * fill may read only buffers that are listed before its own.
 *
 * Functions in every manifest, in addition to bytes(dtype) and eps(dtype), that use the facts of the case's device
 * (target_facts.h):
 *   matrix_k(dtype) matrix_k_sparse(dtype)    K of the target's 16 x 16 instruction for this type, 0 if there is none
 *   matrix_depth(K, M, dtype)                 depth of M x M tiles, for an instruction with K at 16 x 16, if each lane
 *                                             reads its part of A with loads of 16 bytes
 *   reciprocals(count)                        `count` reciprocals and roots, as transcendental operations: 0 on a CPU
 *   has_matrix(dtype)                         1 if the device has native matrix instructions for it: a CPU has none
 *   whole(size, part)                         the size rounded down to a multiple of part, at least one part
 *   cache_bytes(k) own_cache_bytes(k)         size of level k from the inside, in total and usable by one unit; 0: none
 *   inside(k) own_inside(k)                   a size that fits in that level but not in the one before: half of the
 *                                             first level, else the geometric mean of twice the one before and
 *                                             three quarters of the level
 *   has_inside(k)                             1 if there is such a size
 *   beyond_caches                             four times the last cache, at least 256 MiB, at most 1/8 of the memory
 *
 * A parameter's default may depend on the device: "M": "{max(16, device.matrix_size)}", an expression that uses only
 * device facts. It gives a number, or a dtype if the limits are dtypes. Use this for properties of a target, and
 * `variants`, whose values may depend on the device in the same way, for choices of the author.
 *
 * "min_llvm" may also be an object, { "gfx11*": 16 }: the oldest LLVM that compiles the code for matching targets.
 * Expressions are strings or plain numbers. "{{" and "}}" in a template are braces. A parameter written as a string is
 * read as on the command line: "16Ki" is a number, "f32" a dtype, anything else text. `class` defaults to compute with
 * flops, memory with read or write only, else launch. Inputs need a fill (or a setup step that writes them), and
 * outputs must be verified; only an image may have unverified outputs, which its results report.
 *
 * Every compiled kernel has two additional parameters, which no manifest declares and which choose how it is compiled:
 *   wave     lanes of a wave: 32 or 64; 0, the default: the device's own
 *   cumode   1: RDNA runs a workgroup in one compute unit; 0, the default, across the two of a workgroup processor
 * They are swept, limited and set (by variants, suites, check.params) like others, but appear in ids only if they are
 * not 0. A case is skipped if its target does not support them. In expressions `wave` is the requested size and
 * device.wave the size of the case; variants are matched first, with the device's own.
 *
 * `occupancy` is verified: `check` computes from registers, LDS and workgroup of the code object how many waves a SIMD
 * holds, and reports a difference; before a run, a difference is the case's finding, and nothing is launched. 0 states
 * nothing, and nothing is verified on targets with unknown rules (occupancy.h). The facts of struct device_unit, such
 * as device.simds, are meant for these expressions.
 *
 * `work` must be possible: `unit` is one of machine_unit_known, `footprint` is at most the size of the buffers, and so
 * are the bytes read and those written, for each of the timed launches; a kernel that makes several passes over its
 * buffers states its footprint. `transcendentals` counts exponentials, logarithms and sines, and reciprocals(of the
 * rest) (each is also one flop): a CPU has instructions for divisions and roots, separate from those for polynomials.
 *
 * `launch` is short for one timed step; steps are timed by default. A graph may hold only launches, a loop
 * any steps but load, alloc and graph. Every step but sync takes "repeat", and so does an argument that is a value; 0
 * omits it. A launch, copy, fill or loop that repeats may name an "index": it counts 0, 1, ... and can be used in every
 * expression of that step (grid, values, offsets, the repeats of steps inside), so that a sort or a triangular solve
 * takes a few lines. `load` reloads the code: steps with a `load` begin with the code unloaded (untimed), so no launch
 * may precede it. `alloc` gives a buffer new memory with undefined contents, after waiting for all work in progress.
 * "cooperative": all workgroups run at once, so they may wait for each other (require device.cooperative). `block` and
 * `grid` take 1 to 3 expressions. `work` counts the algorithm's minimum for ONE pass over all timed steps. `level` is
 * the single path of the bytes ("link": between host and device, or between devices) if that is not the device's own
 * memory. A manifest whose steps launch nothing has no "code". `footprint` defaults to the bytes of all buffers.
 * `unit` names a machine peak ("vector_f32", "matrix_f16"); empty without flops. `item` is the unit of an item, if any:
 * "B" for bytes that are not memory traffic (LDS); tables print items per second in it. `shared_by` is the number of
 * workgroups that traverse the whole footprint at the same time.
 *
 * In a metric, `x` is the reduced value, and `runs` is how often the steps ran since the buffers were last filled or
 * reset. A metric that differs from its `expect` fails the case, so a counter can verify that every timed launch ran.
 */
#ifndef ROOFTILE_MANIFEST_H
#define ROOFTILE_MANIFEST_H

#include "rooftile/dtype.h"
#include "rooftile/expr.h"
#include "rooftile/fill_spec.h"
#include "rooftile/json.h"
#include "rooftile/param.h"
#include "rooftile/target_facts.h"

/* ---- parts ---- */

enum buffer_role { ROLE_IN, ROLE_OUT, ROLE_INOUT, ROLE_TEMP };
enum buffer_reset { RESET_NONE, RESET_ZERO, RESET_FILL };
/* Kinds of memory, explained in device.h, which has the same order. */
enum buffer_space {
    BUFFER_DEVICE,
    BUFFER_PINNED,
    BUFFER_PAGEABLE,
    BUFFER_MANAGED,
    BUFFER_FINE,
    BUFFER_PEER,
    BUFFER_PINNED_COARSE,
    BUFFER_PINNED_FAR,
    BUFFER_SPACES
};
extern const char *const buffer_space_names[BUFFER_SPACES]; /* "device" "pinned" ... */

struct manifest_buffer {
    const char *name;
    const struct text_template *type;
    const struct expr *count;
    enum buffer_role role;
    enum buffer_reset reset;
    const struct text_template *space; /* renders to one of buffer_space_names; NULL = device */
    bool varies;                       /* its last bits may differ between launches */
    const struct expr *device;         /* BUFFER_PEER: number of the device that owns it; NULL = its own */
    /* BUFFER_PEER: the number of devices, from number 0 on, that each have a part of `count` elements. Elements are
     * numbered across all parts. NULL = not split */
    const struct expr *devices;
    struct fill_spec fill;
    const struct expr *align_offset; /* offset in bytes of the kernel's pointer from a 256-byte boundary; NULL = 0 */
    const cJSON *at;
};

#define MANIFEST_MAX_ARGS 1024         /* per launch */
#define MANIFEST_MAX_STRUCT (64 << 10) /* size in bytes of an argument by value */
#define MANIFEST_MAX_INDEXES 4         /* maximum nesting */
#define MANIFEST_MAX_NESTING 8         /* of loops; also of fills that read buffers whose fills read buffers */
#define MANIFEST_MAX_STEPS (1 << 16)   /* per case; each round of an index counts */
#define MANIFEST_MAX_STREAMS 64
#define MANIFEST_MAX_EVENTS 32 /* distinct names of record steps */
#define MANIFEST_ITEM_NAME 15  /* characters of work.item */
#define MANIFEST_LEVEL_NAME 31 /* of work.level */

struct manifest_arg {
    int buffer;                         /* index; -1: a value, a null pointer or a struct */
    bool null;                          /* a null pointer */
    const struct manifest_arg *members; /* of a struct by value */
    size_t member_count;
    const struct expr *offset; /* bytes into the buffer; NULL = 0 */
    const struct expr *device; /* device whose part is passed; NULL = not split, or a library takes all parts */
    const struct expr *value;
    const struct text_template *type;
    const struct expr *repeat; /* for a value: the number of arguments that it fills; NULL = 1 */
    const cJSON *at;
};

struct define {
    const char *name;
    const struct text_template *value;
    const cJSON *at;
};

struct manifest_launch {
    const struct text_template *symbol;  /* never NULL after parsing: code.symbol is the default */
    const struct text_template *library; /* the function's library, code.library by default; NULL: none */
    /* code.defines overridden by the launch's own; the same array if it has none; NULL for a library */
    const struct define *defines;
    size_t define_count;
    const struct expr *grid[3]; /* NULL = 1 */
    const struct expr *block[3];
    const struct expr *shared; /* NULL = 0 */
    bool cooperative;          /* all workgroups run at once */
    const struct manifest_arg *args;
    size_t arg_count;
};

enum step_kind {
    STEP_LAUNCH,
    STEP_COPY,
    STEP_FILL,
    STEP_SYNC,
    STEP_RECORD,
    STEP_WAIT,
    STEP_LOAD,
    STEP_GRAPH,
    STEP_ALLOC,
    STEP_LOOP
};
struct manifest_step {
    enum step_kind kind;
    const struct expr *stream; /* NULL = 0 */
    bool timed;
    const struct expr *repeat;     /* NULL = 1; for a graph: its launches; for a loop: its rounds */
    int index;                     /* number of the index that counts the repeats, from the outermost on; -1: none */
    struct manifest_launch launch; /* STEP_LAUNCH */
    int to, from;                  /* STEP_COPY: buffers; STEP_FILL, STEP_ALLOC: to */
    const struct expr *to_device, *from_device; /* STEP_COPY: device of the part; NULL = not split */
    const struct expr *to_offset, *from_offset; /* STEP_COPY: offsets in bytes; NULL = 0 */
    const struct expr *bytes;                   /* STEP_COPY, STEP_FILL: NULL = whole buffer */
    uint8_t byte;                               /* STEP_FILL */
    uint32_t event;                             /* STEP_RECORD, STEP_WAIT: number of the named event */
    const struct manifest_step *steps;          /* STEP_GRAPH, STEP_LOOP */
    size_t step_count;
    const cJSON *at;
};

enum metric_reduce { REDUCE_FIRST, REDUCE_MIN, REDUCE_MAX, REDUCE_SUM, REDUCE_MEAN, REDUCE_MEDIAN };
struct manifest_metric {
    const char *name;
    int buffer;
    enum metric_reduce reduce;
    const struct expr *expr;   /* uses `x`, the reduced value, `runs` and the parameters; NULL = x */
    const struct expr *expect; /* required value; NULL = any */
    const char *unit;
};

/* A named sub-expression, or a function of sub-expressions. */
#define MANIFEST_MAX_LET_ARGS 4
struct manifest_let {
    const char *name;   /* as in the manifest: "tile", "rounds(size)" */
    size_t name_length; /* without the arguments */
    const char *text;   /* as in the manifest */
    const char *args[MANIFEST_MAX_LET_ARGS];
    size_t arg_count;
};

struct manifest_variant {
    const char *backend, *arch; /* glob; NULL = any */
    uint32_t wave;              /* 0 = any */
    const struct param *params; /* names and values to set if it matches */
    size_t param_count;
};

struct manifest_require {
    const struct expr *expr;
    const struct text_template *reason;
};

/* The number of waves of the first timed launch that a SIMD holds at once, as the manifest states it. */
struct manifest_occupancy {
    const struct expr *waves; /* NULL: not stated */
    bool exactly;             /* otherwise at least this number */
};

struct expectation {
    int buffer;
    struct fill_spec want;  /* an expression in i, or any generator */
    const struct expr *abs; /* tolerances: |got - want| <= abs + rel * |want|; NULL = 0 */
    const struct expr *rel;
};

/* A reference: another kernel that computes the correct result on the CPU device in f64. Its manifest has a buffer
 * "index" (u64, in) with the output elements to compute, a buffer "result" (f64, out) of the same count, and a
 * parameter "samples" (the count). Its other buffers receive the contents of ours with the same name (or as `map`
 * says); parameters of the same name are passed on, and `params` sets others: "params": { "total": "{dtype}", "groups":
 * "{device.cus * 2}" } using our parameters and device facts. Expectations of other outputs are checked as well. */
struct reference_spec {
    const char *kernel; /* NULL: none */
    int output;         /* index of our buffer that is checked */
    uint64_t samples;   /* number of elements recomputed at the measured size; all of them at check.params */
    const struct expr *abs, *rel;
    const struct param *params;
    const struct text_template *const *templates; /* one per param, using our names; NULL: its value as is */
    size_t param_count;
    const struct reference_map {
        const char *theirs;
        int ours;
    } * map;
    size_t map_count;
};

struct manifest_check {
    const struct param *params; /* overrides for `check --run` */
    size_t param_count;
    const struct expectation *expect;
    size_t expect_count;
    struct reference_spec reference;
};

enum case_class { CLASS_COMPUTE, CLASS_MEMORY, CLASS_LATENCY, CLASS_LAUNCH };
extern const char *const case_class_names[];

struct manifest {
    const char *name, *summary, *path; /* path of the JSON file */
    const char *dir;
    enum case_class class;
    const char *const *tags;
    size_t tag_count;
    const struct param *params;
    size_t param_count;
    size_t implied_count; /* the last two parameters, wave and cumode; 0 if the code is an image */
    const struct manifest_let *lets;
    size_t let_count;
    const struct manifest_variant *variants;
    size_t variant_count;
    const struct manifest_require *require;
    size_t require_count;
    const char *source;                  /* resolved path of the .hip; NULL if image or library is set */
    const struct text_template *library; /* name of a library, "openblas"; its functions are the symbols */
    const struct text_template *image;   /* path relative to the manifest */
    const struct define *defines;        /* of "code"; launches have their own */
    size_t define_count;
    const char *const *flags;
    size_t flag_count;
    unsigned min_llvm; /* for all targets; 0 = any */
    const struct llvm_need {
        const char *arch;
        unsigned llvm;
    } * llvm_needs; /* for targets that match the glob */
    size_t llvm_need_count;
    const struct manifest_buffer *buffers;
    size_t buffer_count;
    const struct manifest_step *steps;
    size_t step_count;
    const struct manifest_step *setup;
    size_t setup_count;
    const struct expr *read_bytes, *write_bytes, *flops, *transcendentals, *items, *footprint,
        *shared_by; /* NULL = absent */
    const struct text_template *unit;
    const char *level; /* "": the levels of the device's memory */
    const char *item;  /* the unit of `items` for rates: "B" prints as B/s; NULL = an item */
    struct manifest_occupancy occupancy;
    const struct manifest_metric *metrics;
    size_t metric_count;
    struct manifest_check check;
    const char *const *isolate; /* its ablation twins: names from manifest_twins */
    size_t isolate_count;
    const cJSON *at;
};

/* A kernel with one part removed, which shows how long that part takes; its results are meaningless. */
struct manifest_twin {
    const char *name;
    unsigned define; /* value of ISOLATE at compilation (portable.h); 0: unchanged */
    bool one_group;  /* its launches have one workgroup */
};
extern const struct manifest_twin manifest_twins[]; /* the last one has no name */

/* ---- the names an expression of this manifest may use, and their values ----
 *
 * Slots, in order: parameters (numbers; dtype codes; 0 for strings and lists, which expressions cannot name), then the
 * device facts of manifest_device_names, then "x" and "runs" (metrics only), then the indexes of steps, then sum, max
 * and len of each list parameter. Functions: bytes(dtype), eps(dtype). Constants: dtype names. */
/* The resources of the unit that runs a workgroup: a compute unit; on RDNA the two of a workgroup processor, unless the
 * case is compiled for CU mode. If no rules are known (a CPU's thread): one SIMD that holds one wave, no registers. */
#define UNIT_FACTS(FACT)                                                                                               \
    FACT(units)            /* of the device */                                                                         \
    FACT(simds)            /* per unit */                                                                              \
    FACT(simd_waves)       /* maximum per SIMD */                                                                      \
    FACT(simd_vgprs)       /* per SIMD, for each lane of the case's waves ... */                                       \
    FACT(vgpr_granule)     /* ... allocated in granules */                                                             \
    FACT(wave_vgprs)       /* addressable by one wave; both kinds are part of simd_vgprs if that is more than ... */   \
    FACT(wave_agprs)       /* ... wave_vgprs */                                                                        \
    FACT(unit_lds)         /* bytes of LDS per unit ... */                                                             \
    FACT(lds_granule)      /* ... allocated in granules */                                                             \
    FACT(lds_reserved)     /* bytes that each workgroup takes in addition to its own */                                \
    FACT(unit_lone_groups) /* maximum workgroups of one wave per unit ... */                                           \
    FACT(unit_groups)      /* ... and of more than one */
/* Facts of the device; all are numbers, so that expressions can use them. */
#define DEVICE_FACTS(FACT)                                                                                             \
    FACT(wave)                                                                                                         \
    FACT(cus)                                                                                                          \
    FACT(xccs)                                                                                                         \
    FACT(max_block)                                                                                                    \
    FACT(lds_bytes) /* maximum per workgroup */                                                                        \
    FACT(memory_bytes)                                                                                                 \
    FACT(caches) /* levels before the memory */                                                                        \
    FACT(cache1) /* total bytes of a level, numbered from the inside; 0: none ... */                                   \
    FACT(cache2)                                                                                                       \
    FACT(cache3)                                                                                                       \
    FACT(cache4)                                                                                                       \
    FACT(own_cache1) /* ... and the part that work-items of one unit can use */                                        \
    FACT(own_cache2)                                                                                                   \
    FACT(own_cache3)                                                                                                   \
    FACT(own_cache4)                                                                                                   \
    FACT(last_cache) /* the level before the memory */                                                                 \
    FACT(own_last_cache)                                                                                               \
    FACT(memory_rate) /* bytes per second; NaN: unknown ... */                                                         \
    FACT(vector_f64)  /* ... as peaks in FLOP per second */                                                            \
    FACT(vector_f32)                                                                                                   \
    FACT(vector_f16)                                                                                                   \
    FACT(matrix_f64)                                                                                                   \
    FACT(matrix_f32)                                                                                                   \
    FACT(matrix_f16)                                                                                                   \
    FACT(matrix_bf16)                                                                                                  \
    FACT(matrix_fp8)                                                                                                   \
    FACT(matrix_i8)                                                                                                    \
    FACT(core_hz)                                                                                                      \
    FACT(cooperative)      /* 1 if all workgroups of a launch can be guaranteed to run at once */                      \
    FACT(index)            /* its number ... */                                                                        \
    FACT(peers)            /* ... and the number of other devices: numbers 0..peers without its own */                 \
    FACT(ranks)            /* processes, with one device each, that run collectives together; 1: only this */          \
    FACT(rank)             /* ... and its number among them */                                                         \
    FACT(host_memory)      /* 1 if the device uses the host's memory */                                                \
    FACT(vector_bytes)     /* bytes of a lane's widest access: 16 on a GPU, a register on a CPU */                     \
    FACT(vector_registers) /* of a CPU; 0 on GPUs, which have unit facts for it */
#define FACT_FIELD(name) double name;
#define FACT_COUNT(name) +1
struct device_unit {
    UNIT_FACTS(FACT_FIELD)
};
struct device_facts { /* filled from struct device_info by plan */
    DEVICE_FACTS(FACT_FIELD)
    /* a compute unit, for waves of the device's own size; expressions use the case's unit */
    struct device_unit unit;
    struct target_facts target; /* numbers only up to here, in the order of manifest_device_names */
    /* The target's facts for each layout of matrix fragments, for devices that can emulate several (the CPU): a case's
     * parameter `layout` selects one by its matrix_layout. */
    const struct target_facts *layouts;
    size_t layout_count;
    unsigned lacks_spaces, lacks_kernel_spaces; /* bit 1 << enum buffer_space: missing, or not accessible to kernels */
    bool unit_pairs;                            /* two compute units form one unit unless in CU mode */
    const char *backend, *arch;
    const char *assumed; /* capacities that are not stated, and the source of the values used; NULL */
};
enum { MANIFEST_DEVICE_NAMES = 0 DEVICE_FACTS(FACT_COUNT) UNIT_FACTS(FACT_COUNT) TARGET_FACTS(FACT_COUNT) };
#undef FACT_FIELD
#undef FACT_COUNT
extern const char *const manifest_device_names[MANIFEST_DEVICE_NAMES]; /* "device.wave" "device.cus" ... */
/* Computes a parameter's default on a device, without checking it against the limits. ERR_CONFIG if it cannot be
 * computed there, for example because of a division by zero. */
enum status manifest_default(struct param_value *value, const struct param *param, const struct device_facts *device,
                             struct err *err);
/* Returns the names for a manifest's expressions, for expr_compile; slots are those of manifest_slots. */
void manifest_expr_names(struct expr_names *names, const struct manifest *manifest, struct arena *arena);
/* ERR_CONFIG, without a position, if it uses a text parameter, or (unless `metric`) a name that only metrics have. */
enum status manifest_expr_check(const struct manifest *manifest, const struct expr *expr, bool metric, struct err *err);
/* Compiles an expression from outside the manifest, such as a suite's, that uses its parameters and `let`. ERR_CONFIG
 * without a position. */
enum status manifest_expr(const struct expr **out, const struct manifest *manifest, const char *source,
                          struct arena *arena, struct err *err);
/* Returns the first fact used that is unknown (NaN) for this device, "device.matrix_f16"; NULL: all are known. */
const char *manifest_unknown(const struct manifest *manifest, const struct expr *expr,
                             const struct device_facts *device);
/* Return the implied parameters' values: lanes of a wave (0: the device's own), and whether CU mode is requested. */
uint32_t manifest_wave(const struct manifest *manifest, const struct param_value *values);
bool manifest_cumode(const struct manifest *manifest, const struct param_value *values);
/* Returns the oldest LLVM that compiles it for this target; 0: any. */
unsigned manifest_min_llvm(const struct manifest *manifest, const char *arch);
size_t manifest_slot_count(const struct manifest *manifest);
size_t manifest_index_slot(const struct manifest *manifest, int index);
void manifest_slots(double *slots, const struct manifest *manifest, const struct param_value *values,
                    const struct device_facts *device, double x);
int manifest_param(const struct manifest *manifest, const char *name); /* index, or -1 */

/* Renders a template for a case. ERR_CONFIG if a number in it is not finite. */
enum status template_render(char **out, const struct text_template *template, const struct manifest *manifest,
                            const struct param_value *values, const double *slots, struct arena *arena,
                            struct err *err);
/* Returns the type that the template names, if that is known without rendering; otherwise DTYPE_NONE. */
enum dtype template_dtype(const struct text_template *template, const struct param_value *values);
const cJSON *template_at(const struct text_template *template); /* the value that it was read from */
/* Tells whether the template uses this parameter (by index), which decides which parameters are compile-time. */
bool template_uses(const struct text_template *template, size_t param);
/* Tells whether the parameter is used in any define (of code or of a launch), image, library or symbol; its value is
 * then compiled into the code object. */
bool manifest_param_is_compiled(const struct manifest *manifest, size_t param);

/* Parses the manifest in the file `path`, whose JSON is `root`. Everything lives in `arena`, root included. ERR_CONFIG
 * with file:line:column and pointer. */
enum status manifest_parse(const struct manifest **manifest, const char *path, const cJSON *root, struct arena *arena,
                           struct err *err);
/* Like manifest_parse, and checks that the files it names exist. */
enum status manifest_read(const struct manifest **manifest, const char *path, const cJSON *root, struct arena *arena,
                          struct err *err);

#endif
