/* SPDX-License-Identifier: MIT
 *
 * Import: reads what frameworks, profilers and libraries write about a run (traces, logs, tuning tables, a model's
 * configuration), finds the operators and shapes that take the time, and makes a suite that measures them.
 *
 * The Python program in import/ reads the files (import/__main__.py explains how time is attributed) and prints one
 * JSON document. This area reads the document and checks its parameters against the manifests.
 */
#ifndef ROOFTILE_IMPORT_H
#define ROOFTILE_IMPORT_H

#include "rooftile/catalog.h"
#include "rooftile/describe.h"

/* Facts from a trace of PyTorch's compiler about a kernel that Triton compiled: everything for a launch except the
 * code. */
struct import_argument {
    const char *dtype; /* of a tensor; otherwise "" */
    double elements;   /* extent of a tensor by its sizes and strides; 0: a value */
    const char *value; /* of a value, as Python prints it */
};
struct import_launch {
    const char *kernel, *hash; /* name of the compiler's own source file; "" unknown */
    double warps, stages;      /* 0 unknown */
    double grid[3], block[3];  /* in workgroups, work-items; 0 unknown */
    struct import_argument *args;
    size_t arg_count;
};

/* One operator with one shape, or one kernel whose operator is unknown. Missing texts are "". */
struct import_row {
    const char *operator;   /* "aten::addmm"; for a kernel alone, its name */
    const char *short_name; /* without arguments and namespaces, if it is code */
    const char *kind;       /* "gemm" "attention" ... "other" */
    const char *source;     /* origin of the shape: "operator" "log" "capture" ... "none" */
    const char *shape;      /* "M=141 N=512 K=512"; if not understood, the sizes of inputs, "[4,8]"; "" unknown */
    bool is_explained;      /* the shape is understood, not only shown */
    const char *dtype, *total;
    const char *layout;  /* "TN", "NHWC"; "" unknown */
    const char *kernels; /* names of its GPU kernels, the first few */
    const char *traits;  /* facts from a kernel's name: tile, instruction */
    size_t rank;         /* from 1 */
    double calls;
    double total_ns, median_ns, min_ns, max_ns; /* NaN: without times */
    double share;                               /* relative to all GPU time; NaN */
    const char *kernel;                         /* our equivalent kernel */
    const char *params;                         /* the kernel's parameters, as a JSON object */
    const char *other_params; /* for 8-bit floats in the other format, for devices that support only that */
    bool is_fnuz;             /* the row's own format is FNUZ */
    const char *library;      /* our kernel that calls the library for it */
    const char *library_params;
    const char *cpu_kernel, *cpu_params; /* the equivalent on the CPU device */
    const char *cpu_library;             /* the kernel that calls the library there, with cpu_params */
    const char *cpu_exclude;             /* an expression that is true if it is too large for the CPU device */
    const char *why;                     /* why we have no equivalent kernel */
    double algorithm_bytes_per_s;        /* collectives only: size over time; NaN */
    double bus_bytes_per_s;              /* collectives only: rate of a link; NaN */
    double wrong_elements;               /* collectives only: errors found in all calls together; NaN: not checked */
    double flops;                        /* of one call; NaN */
    double lower_bound_ns, fraction;     /* on the trace's own GPU: lower bound, and its share of the median; NaN */
    const char *bound;                   /* the roof that it follows from: "HBM", "matrix_bf16"; "" unknown */
    struct described described;          /* input for predicting a tuned kernel; family "": no model */
    /* prediction for one call there; the interval from low to high contains the true time in 80 % of cases; NaN */
    const char *estimate_note; /* origin of the constants, if not the GPU's own; NULL: no note */
    double estimate_ns, estimate_low_ns, estimate_high_ns;
    double worth_ns;             /* what all calls would win at that time; NaN */
    struct import_launch launch; /* kernel "": unknown */
};

/* Time by operator name, summed over shapes, or by GPU kernel. */
struct import_operator {
    const char *name, *short_name;
    double calls, total_ns, share;
};

/* GPU activity, summed over devices. The time of overlapping events counts once. NaN without events. */
struct import_timeline {
    double compute_ns, communication_ns, copy_ns;     /* time with any such event */
    double exposed_communication_ns, exposed_copy_ns; /* time without compute, and without compute and communication */
    double busy_ns, idle_ns, span_ns;                 /* time with any event, with none, and in total */
    double host_ns; /* part of idle_ns in which the host had not yet launched what came next; NaN: not known */
    size_t devices, gap_count;
    struct import_gap { /* times with no event, the longest first */
        uint32_t device;
        double start_ns, length_ns, host_ns; /* start: since the device's first event; host: as above */
        const char *after, *before;          /* the kernels around it */
    } * gaps;
    size_t listed_gaps;
};

struct import_note {
    const char *text;
    double time_ns; /* replaces "{time}" */
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
    struct import_operator *operators, *kernels;
    size_t operator_count, kernel_count;
    double total_ns;     /* of all rows */
    double explained_ns; /* of rows whose shape is understood */
    struct import_note *notes;
    size_t note_count;
    struct import_file *files;
    size_t file_count;
};

/* Rows with the same operator, shape, types and layout in two imports. */
struct import_change {
    const struct import_row *before, *after; /* NULL: new, gone */
    double difference_ns, change;            /* difference in time, absolute and relative; NaN */
};
struct import_changes {
    struct import sides[2];
    struct import_change *items;
    size_t count;
};

struct import_options {
    uint64_t tokens;    /* for a model: length of the prompt, or of the context if it decodes; 0: 4096 */
    unsigned batch, tp; /* 0: 1 */
    bool decode;
    const char *const *shapes; /* traces of the same program, used only for their shapes */
    size_t shape_count;
    const char *demangler;         /* the tool that demangles C++ names; NULL: leave them mangled */
    const struct catalog *kernels; /* their limits check the parameters of rows; NULL: no check */
};

/* Reads the files. Damage is noted with its position, and the rest is used. ERR_CONFIG: a file cannot be read or is of
 * an unknown kind. ERR_IO: there is no Python. `arena` owns everything. */
enum status import_read(struct import *out, const char *const *paths, size_t count,
                        const struct import_options *options, struct arena *arena, struct err *err);
/* Reads two files separately, and finds the changes between them. */
enum status import_read_two(struct import_changes *out, const char *const paths[2],
                            const struct import_options *options, struct arena *arena, struct err *err);

/* Hardware counters written by rocprofv3 (CSV or rocpd), of all launches of a kernel together. */
struct import_counters {
    struct import_counter {
        const char *kernel, *counter;
        double sum, launches;
    } * items;
    size_t count;
};
/* ERR_CONFIG as above, and for files without counters. */
enum status import_read_counters(struct import_counters *out, const char *path, struct arena *arena, struct err *err);
/* Returns the counter's value for one launch of kernels with this symbol, whatever its arguments; NaN if it was not
 * counted. */
double import_counter(const struct import_counters *counters, const char *symbol, const char *counter);

/* Writes a suite of the rows that have a kernel: one case each, with weight and traced time. `folder` contains
 * manifests made for them (NULL: none). Returns false if no row has a kernel. */
bool import_suite(struct text *out, const struct import *import, const char *name, const char *folder);

#endif
