/* SPDX-License-Identifier: MIT
 *
 * What a tuned kernel would do for an operator, as predictions by description take it (describe.h).
 */

#include "aggregate.h"
#include "rooftile/dtype.h"

/* Types of matrix products as constants of the models have them; 8-bit floats of either format are one. */
static const char *product_type(const char *dtype)
{
    return text_starts(dtype, "e4m3") || text_starts(dtype, "e5m2") ? "fp8" : dtype;
}

static void product(struct described *out, const struct trace_operator *o, const double bmnk[4])
{
    const enum dtype total = dtype_from_name(o->total);
    out->kind = DESCRIBED_GEMM;
    out->family = "gemm";
    out->type = product_type(o->dtype);
    out->scales = out->in_bytes < 2 ? "row" : "none";
    out->out_bytes = total == DTYPE_NONE ? out->in_bytes : (double)dtype_bytes(total);
    out->batch = bmnk[0];
    out->m = bmnk[1];
    out->n = bmnk[2];
    out->k = bmnk[3];
}

/* Each expert multiplies its share of the rows. */
static void experts(struct described *out, const struct trace_operator *o)
{
    const double batch = fmax(1, fmin(o->dims[3], o->dims[0]));
    product(out, o, (const double[]){batch, ceil(o->dims[0] / batch), o->dims[1], o->dims[2]});
}

/* A filter of one pixel is a product; there is no model of tuned kernels for others. */
static void convolution(struct described *out, const struct trace_operator *o)
{
    const double *d = o->dims, stride = fmax(1, d[7]);
    if (d[5] == 1 && d[6] == 1 && d[8] == 0 && d[10] <= 1 && !(d[11] > 0) && !strstr(o->name, "backward"))
        product(out, o, (const double[]){1, d[0] * ceil(d[2] / stride) * ceil(d[3] / stride), d[4], d[1]});
}

static void rows(struct described *out, const struct trace_operator *o)
{
    out->kind = DESCRIBED_ROWS;
    out->family = o->kind == IMPORT_SOFTMAX ? "softmax" : "layer_norm";
    out->rows = o->dims[0];
    out->columns = o->dims[1];
}

static void elements(struct described *out, double count, double arrays)
{
    out->kind = DESCRIBED_ELEMENTWISE;
    out->family = "elementwise";
    out->rows = count;
    out->columns = 1;
    out->operands = arrays;
}

/* Arrays that are read or written: inputs and the result. */
static double arrays_of(const struct trace_operator *o)
{
    if (o->dims[2] > 0) /* halves of one input */
        return 1.5;
    return !strcmp(o->name, "aten::fill_") || !strcmp(o->name, "aten::zero_") ? 1 : o->dims[1] + 1;
}

const struct described *row_described(const struct trace_operator *o, struct arena *arena)
{
    const enum dtype dtype = dtype_from_name(strcmp(o->dtype, "bool") == 0 ? "u8" : o->dtype);
    struct described *out = arena_alloc(arena, sizeof(*out));
    *out = (struct described){
        .family = "", .op = "", .type = o->dtype, .scales = "", .kernel = "", .library = "", .split = 1};
    if (dtype == DTYPE_NONE || !(o->dims[0] > 0))
        return NULL;
    out->in_bytes = (double)dtype_bytes(dtype);
    switch (o->kind) {
    case IMPORT_GEMM:
        product(out, o, o->dims);
        break;
    case IMPORT_MOE_GEMM:
        experts(out, o);
        break;
    case IMPORT_CONV:
        if (!o->extra || !*o->extra)
            convolution(out, o);
        break;
    case IMPORT_NORM:
    case IMPORT_SOFTMAX:
        rows(out, o);
        break;
    case IMPORT_ELEMENTWISE:
        if (dtype_from_name(o->total) != DTYPE_NONE) /* a copy may convert */
            out->in_bytes = (out->in_bytes + (double)dtype_bytes(dtype_from_name(o->total))) / 2;
        elements(out, o->dims[0], arrays_of(o));
        break;
    case IMPORT_REDUCTION:
        elements(out, o->dims[0], 1);
        break;
    case IMPORT_ROPE:
        elements(out, o->dims[0] * o->dims[1] * o->dims[2], 2);
        break;
    case IMPORT_GATHER:
        elements(out, o->dims[0] * o->dims[1], 2);
        break;
    default:
        break;
    }
    return out->kind == DESCRIBED_NOTHING ? NULL : out;
}
