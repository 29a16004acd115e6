/* SPDX-License-Identifier: MIT
 *
 * Times that were measured elsewhere, and how far predictions are from them. A truth file is CSV with a header; its
 * columns tell what the rows are:
 *     target,cus,dtype,scales,m,n,k,kernel,split_k,time_us (library, out_dtype, source_file)      tuned GEMMs
 *     gpu,op,dtype,shape,kernel,block,time_us                     element-wise, softmax, ln, linear, bmm of PyTorch
 *     database,direction,dtype,n,c,h,w,k,out_h,out_w,filter,groups,time_us                        naive convolutions
 *     kernel_name,problem_size,min_ms (machine)                        programs, by kernels of these names; mi300a
 * Other columns are ignored. A row that cannot be right is kept with its problem, and skipped in all figures: one with
 * an invalid number, a time that is not positive, or a time below what the vendor's peaks allow.
 */
#ifndef ROOFTILE_TRUTH_H
#define ROOFTILE_TRUTH_H

#include "rooftile/describe.h"

enum { TRUTH_SIZES = 3 };

struct truth_row {
    const char *machine; /* "mi300x"; "" where the file names none that is known */
    const char *family;  /* "gemm fp8 1x128x128", "element-wise", ... as the table of errors has it */
    const char *label;   /* for people: what and how large */
    const char *source;  /* the model's file that a tuned GEMM comes from; else "" */
    struct described what;
    const char *program; /* the kernel that it is a time of; NULL: only described */
    double sizes[TRUTH_SIZES];
    size_t size_count; /* n; m and n; m, n and k */
    double time_ns;
    bool
        held_out; /* a tuned GEMM whose shape constants are never fitted on: a fifth of them, by a hash of M, N and K */
    const char *problem; /* why it is skipped; NULL: it is not */
    size_t line;
};

struct truth {
    const char *path;
    struct truth_row *rows;
    size_t count;
};

/* ERR_CONFIG with the file, and the column that is missing. */
enum status truth_read(struct truth *truth, const char *path, struct arena *arena, struct err *err);
/* From memory: `text` is changed. */
enum status truth_parse(struct truth *truth, const char *name, char *text, struct arena *arena, struct err *err);

/* ---- error ---- */

/* One row's prediction. */
struct truth_guess {
    double time_ns, low_ns, high_ns;
    bool known;
    char bound[MACHINE_NAME];
    bool bound_beyond_doubt, bound_right;
};

/* Signed relative errors are predicted / measured - 1. */
struct error_figures {
    size_t rows;
    double median, p90; /* of the absolute error */
    double signed_median;
    double within_20;   /* share within 20 % */
    double wmape;       /* sum of absolute errors over the sum of times */
    double coverage;    /* share inside the 80 % interval */
    double bound_right; /* among rows whose bound is beyond doubt, the share predicted with it; NaN without any */
};

struct error_line {
    const char *family, *machine;
    struct error_figures raw, calibrated;
    const struct truth_row *worst[3];
    double worst_error[3];
};

struct error_table {
    struct error_line *lines; /* per family and machine; the last is all together */
    size_t count;
    size_t skipped, without_model;
};

/* `raw` and `calibrated` have a guess per row; `calibrated` decides which rows are the worst. */
void error_table_make(struct error_table *table, const struct truth *truth, const struct truth_guess *raw,
                      const struct truth_guess *calibrated, struct arena *arena);

/* Sets what the guess says of the bound of a row whose bound is beyond doubt: memory for streams of four times the last
 * cache, the matrix unit for GEMMs with M, N and K of at least 4096, launch for what takes less than two of them. */
void truth_judge_bound(struct truth_guess *guess, const struct truth_row *row, const struct prediction *prediction,
                       const struct machine *machine);

#endif
