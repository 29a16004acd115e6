/* SPDX-License-Identifier: MIT
 *
 * Import: what frameworks, profilers and libraries write about a run (traces, logs, tuning tables, a model's
 * configuration) -> which operators with which shapes the time goes to, and a suite that measures them.
 *
 * The files are read by the Python program in import/ (import/__main__.py says how time is attributed), which prints
 * one JSON document; here it is read, and the manifests say which of its parameters they take.
 */
#ifndef ROOFTILE_IMPORT_H
#define ROOFTILE_IMPORT_H

#include "rooftile/catalog.h"
#include "rooftile/describe.h"

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
    struct import_argument *args;
    size_t arg_count;
};

/* One operator with one shape, or one kernel whose operator is not known. Texts are "" where there is none. */
struct import_row {
    const char *operator; /* "aten::addmm"; of a kernel alone, its name */
    const char *kind;     /* "gemm" "attention" ... "other" */
    const char *source;   /* where the shape comes from: "operator" "log" "capture" ... "none" */
    const char *shape;    /* "M=141 N=512 K=512"; sizes of inputs where it is not understood, "[4,8]"; "" unknown */
    bool is_explained;    /* the shape is understood, not only shown */
    const char *dtype, *total;
    const char *layout;  /* "TN", "NHWC"; "" unknown */
    const char *kernels; /* names of its GPU kernels, the first few */
    const char *traits;  /* what a kernel's name says: tile, instruction */
    double calls;
    double total_ns, median_ns, min_ns, max_ns; /* NaN: there were no times */
    double share;                               /* of all GPU time; NaN */
    const char *kernel;                         /* our kernel that stands for it */
    const char *params;                         /* of that kernel, as a JSON object */
    const char *other_params; /* of 8-bit floats, in the other format: for devices that have that one */
    bool is_fnuz;             /* the row's own format is FNUZ */
    const char *library;      /* the library's kernel of ours for it */
    const char *library_params;
    const char *cpu_kernel, *cpu_params; /* what stands for it on the CPU device instead */
    const char *cpu_library;             /* the library's kernel there, with cpu_params */
    const char *cpu_exclude;             /* an expression, true where it is too much for the CPU device */
    const char *why;                     /* why no kernel of ours stands for it */
    double algorithm_bytes_per_s;        /* of collectives: size over time; NaN */
    double bus_bytes_per_s;              /* ... what a link carries; NaN */
    double wrong_elements;               /* ... that the benchmark found, all calls together; NaN: not checked */
    double flops;                        /* of one call; NaN */
    double lower_bound_ns, fraction;     /* on the trace's own GPU; of the roof, by the median; NaN */
    struct described described;          /* what a tuned kernel would do; family "": there is no model of one */
    /* predicted for it there, of one call: the truth lies between low and high in 80 % of cases; NaN */
    const char *estimate_note; /* whose constants were used, if not the GPU's own; NULL: no note */
    double estimate_ns, estimate_low_ns, estimate_high_ns;
    struct import_launch launch; /* kernel "": not known */
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
    double time_ns; /* stands in the place of "{time}" */
    size_t count;
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
    struct import_operator *operators;
    size_t operator_count;
    double total_ns;     /* of all rows */
    double explained_ns; /* of those whose shape is understood */
    struct import_note *notes;
    size_t note_count;
    struct import_file *files;
    size_t file_count;
};

/* The same operator, shape, types and layout in two imports. */
struct import_change {
    const struct import_row *before, *after; /* NULL: new, gone */
    double difference_ns, change;            /* of the time, absolute and relative; NaN */
};
struct import_changes {
    struct import sides[2];
    struct import_change *items;
    size_t count;
};

struct import_options {
    uint64_t tokens;    /* of a model: of a prompt, or of the context when it decodes; 0: 4096 */
    unsigned batch, tp; /* 0: 1 */
    bool decode;
    const char *const *shapes; /* traces of the same program that are read for their shapes alone */
    size_t shape_count;
    const char *demangler;         /* the tool that prints C++ names; NULL: they stay as they are */
    const struct catalog *kernels; /* whose limits the parameters of rows keep; NULL: they are not asked */
};

/* Reads the files. Damage is noted with its position, and the rest is used; ERR_CONFIG: a file cannot be read, or is of
 * no known kind. ERR_IO: there is no Python. Everything lives in `arena`. */
enum status import_read(struct import *out, const char *const *paths, size_t count,
                        const struct import_options *options, struct arena *arena, struct err *err);
/* Two files, each by itself, and what changed from one to the other. */
enum status import_read_two(struct import_changes *out, const char *const paths[2],
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

#endif
