/* SPDX-License-Identifier: MIT
 *
 * What a tuned kernel would do for an operator, as predictions by description take it (describe.h).
 */

#include "aggregate.h"
#include "rooftile/dtype.h"

static enum dtype stored_as(const char *dtype)
{
    return dtype_from_name(strcmp(dtype, "bool") == 0 ? "u8" : dtype);
}

static void product(struct described *out, const struct trace_operator *o, const double bmnk[4])
{
    const enum dtype in = stored_as(o->dtype), total = stored_as(o->total);
    *out = described_product(in, total == DTYPE_NONE ? in : total, bmnk);
}

/* Each expert multiplies its share of the rows. */
static void experts(struct described *out, const struct trace_operator *o)
{
    const double batch = fmax(1, fmin(o->dims[3], o->dims[0]));
    product(out, o, (const double[]){batch, ceil(o->dims[0] / batch), o->dims[1], o->dims[2]});
}

/* Of the width, where it is not that of the height. */
static double of_width(const struct trace_operator *o, const char *name, double height)
{
    const char *at = o->extra ? strstr(o->extra, name) : NULL;
    return at ? strtod(at + strlen(name), NULL) : height;
}

/* The result of a window that goes over an image; of a transposed convolution the image that such windows come from. */
static double other_size(double size, double filter, double stride, double pad, double dilation, bool transposed)
{
    const double window = dilation * (filter - 1) + 1;
    return transposed ? (size - 1) * stride + window - 2 * pad : floor((size + 2 * pad - window) / fmax(1, stride)) + 1;
}

/* A transposed convolution is the data gradient of one whose result is its image. A filter of one pixel is a product;
 * there is no model of tuned kernels for others. */
static void convolution(struct described *out, const struct trace_operator *o)
{
    const double *d = o->dims;
    const bool transposed = o->extra && strstr(o->extra, CONV_TRANSPOSED);
    const double sizes[2] = {other_size(d[2], d[5], d[7], d[8], d[9], transposed),
                             other_size(d[3], d[6], of_width(o, " stride_w=", d[7]), of_width(o, " pad_w=", d[8]),
                                        of_width(o, " dilation_w=", d[9]), transposed)};
    if (d[11] > 0 || !(sizes[0] > 0) || !(sizes[1] > 0))
        return;
    if (d[5] == 1 && d[6] == 1 && d[8] == 0 && d[10] <= 1 && !(o->extra && *o->extra) && !strstr(o->name, "backward")) {
        product(out, o, (const double[]){1, d[0] * sizes[0] * sizes[1], d[4], d[1]});
        return;
    }
    out->family = "convolution";
    out->op = transposed ? "backward" : "forward";
    out->images = d[0];
    out->channels_in = transposed ? d[4] : d[1];
    out->channels_out = transposed ? d[1] : d[4];
    out->groups = fmax(1, d[10]);
    for (size_t k = 0; k < 2; k++) {
        out->in[k] = transposed ? sizes[k] : d[2 + k];
        out->out[k] = transposed ? d[2 + k] : sizes[k];
        out->filter[k] = d[5 + k];
    }
}

double row_flops(const struct trace_operator *o, const struct described *what)
{
    const double *d = o->dims;
    const double flops = o->kind == IMPORT_GEMM       ? 2 * d[0] * d[1] * d[2] * d[3]
                         : o->kind == IMPORT_MOE_GEMM ? 2 * d[0] * d[1] * d[2]
                         : o->kind == IMPORT_ATTENTION
                             ? 2 * d[0] * d[1] * d[3] * d[4] * (d[5] + d[6]) / (o->causal ? 2 : 1)
                         : what && o->kind == IMPORT_CONV && what->images > 0
                             ? 2 * what->images * what->channels_out * what->out[0] * what->out[1] * what->channels_in /
                                   what->groups * what->filter[0] * what->filter[1]
                         : what && o->kind == IMPORT_CONV ? 2 * fmax(1, what->batch) * what->m * what->n * what->k
                                                          : 0;
    return flops > 0 ? flops : NAN;
}

static void rows(struct described *out, const struct trace_operator *o)
{
    out->family = o->kind == IMPORT_SOFTMAX ? "softmax" : "layer_norm";
    out->rows = o->dims[0];
    out->columns = o->dims[1];
}

static void elements(struct described *out, double count, double arrays)
{
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
    const enum dtype dtype = stored_as(o->dtype);
    struct described *out = arena_alloc(arena, sizeof(*out));
    *out = (struct described){
        .family = "", .op = "", .type = o->dtype, .scales = "", .kernel = "", .library = "", .split = 1};
    if (dtype == DTYPE_NONE || !(o->dims[0] > 0))
        return NULL;
    out->in_bytes = (double)dtype_bytes(dtype);
    switch (o->kind) {
    case IMPORT_GEMM:
        if (fmin(o->dims[1], o->dims[2]) == 1) /* it reads a matrix once */
            elements(out, o->dims[0] * fmax(o->dims[1], o->dims[2]) * o->dims[3], 1);
        else
            product(out, o, o->dims);
        break;
    case IMPORT_MOE_GEMM:
        experts(out, o);
        break;
    case IMPORT_CONV:
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
    return *out->family ? out : NULL;
}
