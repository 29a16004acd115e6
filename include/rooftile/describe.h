/* SPDX-License-Identifier: MIT
 *
 * Predictions by description, for kernels whose code is not available: from the operation, its sizes, and often a name
 * that encodes tile and split. Library GEMMs, element-wise kernels, softmax, layer norm, naive convolutions.
 *
 * Each model has a few terms, which are formulas (configs/models/families.json) with constants per machine and family
 * of kernels (described.json, made by scripts/fit_models from published times). A machine without constants uses those
 * of another machine, with a note. Raw predictions use none, only data sheets and documented figures.
 */
#ifndef ROOFTILE_DESCRIBE_H
#define ROOFTILE_DESCRIBE_H

#include "rooftile/dtype.h"
#include "rooftile/machine.h"
#include "rooftile/prediction.h"

/* One launch. Unknown numbers are 0, unknown texts "". */
struct described {
    const char *family; /* "gemm" "linear" "bmm" "elementwise" "softmax" "layer_norm" "convolution"; "": none */
    const char *op;     /* element-wise: "add" "pow" ...; convolutions: "forward" "backward" "weights" */
    const char *type;   /* of the inputs: "fp8" "bf16" "f32" ... */
    const char *scales; /* GEMM: "1x128x128" blocks, "row", "1x32", "none" */
    const char *kernel, *library;
    double batch, m, n, k, split; /* GEMM; split: workgroups that share the K of one tile, 0 or 1: no split */
    double in_bytes, out_bytes;   /* per element */
    double rows, columns;         /* of element-wise and row kernels */
    double block;                 /* work-items per workgroup; 0 unknown */
    double operands;              /* element-wise: arrays read or written */
    /* Convolution; the first of each pair is the height. */
    double images, channels_in, channels_out, groups;
    double in[2], out[2], filter[2], stride[2], pad[2], dilation[2];
    bool channels_last; /* NHWC; otherwise NCHW */
    bool cold;          /* the caches do not hold its arguments */
    bool from_idle;     /* launched once, after a similar launch, on an idle card: its clock may still be low */
};

/* What each constant scales. Times are in microseconds; shares multiply the time at the vendor's peak. */
enum model_constant {
    CONSTANT_MATRIX,    /* share: matrix instructions */
    CONSTANT_MEMORY,    /* share: memory */
    CONSTANT_LAUNCH_US, /* start and end of a kernel */
    CONSTANT_LOAD,      /* share: of the memory bandwidth per compute unit, for the operands of its tiles */
    CONSTANT_TILE_US,   /* per tile: prologue and epilogue */
    CONSTANT_SPLIT_US,  /* the reduction of a tile that several workgroups computed */
    CONSTANT_COUNT,
};

struct model_constants {
    const char *family, *machine, *type, *scales;
    double values[CONSTANT_COUNT];
    struct prediction_spread spread;
    double rows; /* number of rows in the fit */
    const char *source;
};

struct families;
struct models {
    const struct model_constants *items;
    size_t count;
    const struct families *families; /* the formulas */
};

/* Reads the files of a folder: families.json (families.schema.json), and `path` or described.json
 * (models.schema.json). */
enum status models_read(struct models *models, const char *folder, const char *path, struct arena *arena,
                        struct err *err);

/* A file of launches, each with the machine to predict for: { "launches": [ { "machine": "mi300x", "family": "gemm",
 * "type": "fp8", "m": 16, ... }, ... ] } with the members of struct described; pairs have two members, "in_h" and
 * "in_w". */
struct described_launch {
    const char *machine;
    struct described what;
};
struct described_launches {
    const struct described_launch *items;
    size_t count;
};
enum status described_read(struct described_launches *launches, const char *path, struct arena *arena, struct err *err);

/* Returns a product with its batch, m, n, k; 8-bit floats have one scale per row. */
struct described described_product(enum dtype in, enum dtype out, const double bmnk[4]);

/* Returns false if there is no model for it. `raw`: without constants. `machine` is complete (machine_complete). */
bool describe_predict(struct prediction *prediction, const struct described *described, const struct machine *machine,
                      const struct models *models, bool raw);

/* Returns the least time that the machine's vendor peaks allow, in nanoseconds: a shorter measurement is wrong. */
double described_least_ns(const struct described *described, const struct machine *machine,
                          const struct models *models);

/* Parses a tile's rows, columns and depth from a kernel's name: "MT128x96x32", "_256x64x128x128_", ... */
struct gemm_tile {
    double m, n, k;
};
bool gemm_tile_of_name(struct gemm_tile *tile, const char *kernel);

#endif
