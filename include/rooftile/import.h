/* SPDX-License-Identifier: MIT
 *
 * Import: what frameworks, profilers and libraries write about a run (traces, logs, tuning tables, a model's
 * configuration) -> which operators with which shapes the time goes to, and a suite that measures them.
 *
 * Files of one run add up. The kind of a file is found in its content, gzip is read through, and a trace is read as a
 * stream: memory is a window of the file, 40 bytes for each GPU event, 32 for each operator's call of the file that is
 * being read, and each distinct text once.
 *
 * A GPU event belongs to the innermost operator that was running on the host thread when it was launched, found by the
 * runtime call of its correlation, else to the operator of its external id. Events that a graph replays belong to no
 * operator: their shapes come from a capture or eager trace with the same kernels in the same order, from a library's
 * log, or from the kernel's name; otherwise they are unknown, and reported as such. The time of an operator's call is
 * the time during which any of its events ran.
 */
#ifndef ROOFTILE_IMPORT_H
#define ROOFTILE_IMPORT_H

#include "rooftile/catalog.h"
#include "rooftile/describe.h"

enum import_kind {
    IMPORT_OTHER,
    IMPORT_GEMM,
    IMPORT_ATTENTION,
    IMPORT_NORM,
    IMPORT_SOFTMAX,
    IMPORT_ELEMENTWISE,
    IMPORT_REDUCTION,
    IMPORT_MOE_GEMM,
    IMPORT_MOE_GATE,
    IMPORT_CONV,
    IMPORT_ROPE,
    IMPORT_GATHER,
    IMPORT_RNN,
    IMPORT_COPY,
    IMPORT_COMMUNICATION,
    IMPORT_KINDS
};
extern const char *const import_kind_names[IMPORT_KINDS]; /* "other" "gemm" ... */

/* Where a shape comes from. */
enum import_source {
    IMPORT_NONE,
    IMPORT_OPERATOR,
    IMPORT_LOG,
    IMPORT_NAME,
    IMPORT_CAPTURE,
    IMPORT_CONFIG,
    IMPORT_SOURCES
};
extern const char *const import_source_names[IMPORT_SOURCES]; /* "none" "operator" ... */

/* What a trace of PyTorch's compiler says of a kernel that Triton compiled: all that a launch needs but the code. */
struct import_argument {
    const char *dtype; /* of a tensor; "" else */
    double elements;   /* that a tensor's sizes and strides reach; 0: a value */
    const char *value; /* of a value, as Python prints it */
};
struct import_launch {
    const char *kernel, *hash; /* "" unknown: the name of the compiler's own source file */
    double warps, stages;      /* 0 unknown */
    double grid[3], block[3];  /* in workgroups, work-items; 0 unknown */
    const struct import_argument *args;
    size_t arg_count;
};

/* One operator with one shape, or one kernel whose operator is not known. */
struct import_row {
    const char *operator; /* "aten::addmm"; of a kernel alone, its name */
    enum import_kind kind;
    enum import_source source;
    const char *shape; /* "M=141 N=512 K=512"; sizes of inputs where it is not understood, "[4,8]"; "" unknown */
    bool is_explained; /* the shape is understood, not only shown */
    const char *dtype, *total;
    const char *layout;  /* "TN", "NHWC"; "" unknown */
    const char *kernels; /* names of its GPU kernels, the first few */
    const char *traits;  /* what a kernel's name says: tile, instruction; "" nothing */
    double calls;
    double total_ns, median_ns, min_ns, max_ns; /* NaN: there were no times */
    double share;                               /* of all GPU time; NaN */
    const char *kernel;                         /* our kernel that stands for it; NULL: none */
    const char *params;                         /* of that kernel, as a JSON object */
    const char *other_params; /* of 8-bit floats, in the other format: for devices that have that one, or NULL */
    bool is_fnuz;             /* the row's own format is FNUZ */
    const char *library;      /* the library's kernel of ours for it, or NULL */
    const char *library_params;
    const char *cpu_kernel, *cpu_params; /* what stands for it on the CPU device instead, or NULL */
    const char *cpu_library;             /* the library's kernel there, with cpu_params, or NULL */
    const char *cpu_exclude;             /* an expression, true where it is too much for the CPU device, or NULL */
    const char *why;                     /* why no kernel of ours stands for it; "" */
    double algorithm_bytes_per_s;        /* of collectives: size over time; NaN */
    double bus_bytes_per_s;              /* ... what a link carries; NaN */
    double wrong_elements;               /* ... that the benchmark found, all calls together; NaN: not checked */
    double flops;                        /* of one call; NaN */
    double lower_bound_ns, fraction;     /* on the trace's own GPU; of the roof, by the median; NaN */
    const struct described *described;   /* what a tuned kernel would do; NULL: there is no model of one */
    /* predicted for it there, of one call: the truth lies between low and high in 80 % of cases; NaN */
    const char *estimate_note; /* whose constants were used, if not the GPU's own; NULL: no note */
    double estimate_ns, estimate_low_ns, estimate_high_ns;
    struct import_launch *launch; /* NULL: not known */
};

/* Time by operator name: all shapes together. */
struct import_operator {
    const char *name;
    double calls, total_ns, share;
};

/* What the GPUs did, summed over devices; where events overlap, their time counts once. NaN without events. */
struct import_timeline {
    double compute_ns, communication_ns, copy_ns;     /* any such event ran */
    double exposed_communication_ns, exposed_copy_ns; /* and no compute; no compute and no communication */
    double busy_ns, idle_ns, span_ns;                 /* any event; none; from the first start to the last end */
    size_t devices;
};

struct import_note {
    const char *text;
    uint64_t count;
};

struct import_file {
    const char *path, *format; /* "rocpd", "PyTorch profiler" ... */
};

struct import {
    const char *device;  /* the GPU's name; "" unknown */
    const char *arch;    /* "gfx942", "sm_90"; "" unknown */
    uint32_t cus;        /* 0 unknown */
    const char *machine; /* the file of that GPU; NULL: there is none, or the reader did not look for it */
    size_t event_count;
    struct import_timeline timeline;
    struct import_row *rows; /* by time, then by calls */
    size_t row_count;
    const struct import_operator *operators;
    size_t operator_count;
    double total_ns;     /* of all rows */
    double explained_ns; /* of those whose shape is understood */
    const struct import_note *notes;
    size_t note_count;
    const struct import_file *files;
    size_t file_count;
};

struct import_options {
    uint64_t tokens;    /* of a model: of a prompt, or of the context when it decodes; 0: 4096 */
    unsigned batch, tp; /* 0: 1 */
    bool decode;
    const char *const *shapes; /* traces of the same program that are read for their shapes alone */
    size_t shape_count;
    /* Puts names as their source has them in the place of mangled ones ("_Z4gemmPf"); NULL: they stay. */
    void (*demangle)(const char **names, size_t count, struct arena *arena);
    const struct catalog *kernels; /* whose limits the parameters of rows keep; NULL: they are not asked */
};

/* Reads the files. Damage is noted with its position, and the rest is used; ERR_CONFIG: a file cannot be read, or is of
 * no known kind. Everything lives in `arena`. */
enum status import_read(struct import *out, const char *const *paths, size_t count,
                        const struct import_options *options, struct arena *arena, struct err *err);

/* Hardware counters that rocprofv3 wrote (CSV or rocpd), of all launches of a kernel together. */
struct import_counters {
    struct import_counter {
        const char *kernel, *counter;
        double sum, launches;
    } * items;
    size_t count;
};
/* ERR_CONFIG as above, and for files without counters. */
enum status import_read_counters(struct import_counters *out, const char *path, struct arena *arena, struct err *err);
/* The counter's value in one launch of kernels with this symbol, whatever its arguments; NaN: it was not counted. */
double import_counter(const struct import_counters *counters, const char *symbol, const char *counter);

/* A suite of the rows that have a kernel: a case for each with its weight and traced time; `folder` has manifests made
 * for them (NULL: none). False: no row has a kernel. */
bool import_suite(struct text *out, const struct import *import, const char *name, const char *folder);

/* The same operator, shape, types and layout in two imports. */
struct import_change {
    const struct import_row *before, *after; /* NULL: new, gone */
    double difference_ns, change;            /* of the time, absolute and relative; NaN */
};
void import_diff(struct import_change **out, size_t *count, const struct import *before, const struct import *after,
                 struct arena *arena);

#endif
