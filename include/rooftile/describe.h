/* SPDX-License-Identifier: MIT
 *
 * Predictions by description: for kernels whose code is not at hand, from what they do, their sizes, and often a name
 * that tells tile and split. Library GEMMs, element-wise kernels, softmax, layer norm, naive convolutions.
 *
 * Each model is a handful of terms, which are formulas (configs/models/families.json) with constants per machine and
 * family of kernels (described.json, made by scripts/fit_models from times that others measured). A machine without
 * constants of its own takes those of another machine, and a note says so. Raw predictions take none: data sheets and
 * documented figures only.
 */
#ifndef ROOFTILE_DESCRIBE_H
#define ROOFTILE_DESCRIBE_H

#include "rooftile/dtype.h"
#include "rooftile/machine.h"
#include "rooftile/prediction.h"

/* One launch. Unknown numbers are 0, unknown texts "". */
struct described {
    const char *family; /* "gemm" "linear" "bmm" "elementwise" "softmax" "layer_norm" "convolution"; "": none */
    const char *op;     /* "add" "pow" ... of element-wise ones; "forward" "backward" "weights" of convolutions */
    const char *type;   /* of the inputs: "fp8" "bf16" "f32" ... */
    const char *scales; /* GEMM: "1x128x128" blocks, "row", "1x32", "none" */
    const char *kernel, *library;
    double batch, m, n, k, split; /* GEMM; split: workgroups that share one tile's K, 0 or 1: none */
    double in_bytes, out_bytes;   /* of an element */
    double rows, columns;         /* of element-wise and row kernels */
    double block;                 /* work-items of a workgroup; 0 unknown */
    double operands;              /* element-wise: arrays read or written */
    /* Convolution; of pairs the first is the height. */
    double images, channels_in, channels_out, groups;
    double in[2], out[2], filter[2], stride[2], pad[2], dilation[2];
    bool channels_last; /* NHWC; else NCHW */
    bool cold;          /* the caches do not hold its arguments */
    bool from_idle;     /* launched once, after one like it, on a card that was idle: its clock may still be low */
};

/* What a constant scales. Times are in microseconds; shares multiply the time that the vendor's peak allows. */
enum model_constant {
    CONSTANT_MATRIX,    /* share: matrix instructions */
    CONSTANT_MEMORY,    /* share: memory */
    CONSTANT_LAUNCH_US, /* start and end of a kernel */
    CONSTANT_LOAD,      /* share: a compute unit's part of the memory's bandwidth, for the operands of its tiles */
    CONSTANT_TILE_US,   /* each tile: prologue and epilogue */
    CONSTANT_SPLIT_US,  /* adding up what several workgroups made of one tile */
    CONSTANT_COUNT,
};

struct model_constants {
    const char *family, *machine, *type, *scales;
    double values[CONSTANT_COUNT];
    struct prediction_spread spread;
    double rows; /* that they were fitted on */
    const char *source;
};

struct families;
struct models {
    const struct model_constants *items;
    size_t count;
    const struct families *families; /* the formulas */
};

/* The files of a folder: families.json (families.schema.json), and `path` or described.json (models.schema.json). */
enum status models_read(struct models *models, const char *folder, const char *path, struct arena *arena,
                        struct err *err);

/* A file of launches, each with the machine that it is predicted on: { "launches": [ { "machine": "mi300x",
 * "family": "gemm", "type": "fp8", "m": 16, ... }, ... ] } with the members of struct described; pairs are two, "in_h"
 * and "in_w". */
struct described_launch {
    const char *machine;
    struct described what;
};
struct described_launches {
    const struct described_launch *items;
    size_t count;
};
enum status described_read(struct described_launches *launches, const char *path, struct arena *arena, struct err *err);

/* A product with its batch, m, n, k; of 8-bit floats with a scale for each row. */
struct described described_product(enum dtype in, enum dtype out, const double bmnk[4]);

/* False where there is no model for it. Raw: without constants. `machine` is complete (machine_complete). */
bool describe_predict(struct prediction *prediction, const struct described *described, const struct machine *machine,
                      const struct models *models, bool raw);

/* The least time that the machine's vendor peaks allow, in nanoseconds: a shorter measured time is wrong. */
double described_least_ns(const struct described *described, const struct machine *machine,
                          const struct models *models);

/* The tile's rows, columns and depth, as a kernel's name tells them: "MT128x96x32", "_256x64x128x128_", ... */
struct gemm_tile {
    double m, n, k;
};
bool gemm_tile_of_name(struct gemm_tile *tile, const char *kernel);

#endif
