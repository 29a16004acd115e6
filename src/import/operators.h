/* SPDX-License-Identifier: MIT
 *
 * The inputs of an operator as a trace has them, and the families of operators whose shape they give.
 */
#ifndef ROOFTILE_IMPORT_OPERATORS_H
#define ROOFTILE_IMPORT_OPERATORS_H

#include "trace.h"

enum { MOST_INPUTS = 48, MOST_RANK = 8 };

struct operator_input {
    double dims[MOST_RANK], strides[MOST_RANK];
    size_t rank; /* 0: no tensor */
    const char *dtype;
    const char *value; /* of a scalar or list, as text; "" */
};

struct operator_inputs {
    const char *name;
    struct operator_input items[MOST_INPUTS];
    size_t count;
    struct arena *arena;
};

/* Sets the shape from the inputs; `at` has the numbers of those to use, -1: none. False: the inputs are not as
 * expected. */
typedef bool shape_function(struct trace_operator *out, const struct operator_inputs *in,
                            const signed char at[static 6]);
shape_function gemm_shape, packed_gemm_shape, grouped_shape, fused_experts_shape, experts_stage_shape, attention_shape,
    rows_shape, group_norm_shape, batch_norm_shape, softmax_shape, pointwise_shape, gated_shape, copied_shape,
    reduction_shape, conv_shape, rope_shape, gate_shape, align_shape, gather_shape;

struct operator_family {
    const char *names; /* globs between blanks */
    enum import_kind kind;
    shape_function *shape;
    signed char at[6]; /* as `shape` wants them */
};
const struct operator_family *operator_family_find(const char *name);

void operator_inputs_read(struct operator_inputs *in, const char *signature, struct arena *arena);

/* The product of all dimensions but the last `without`. */
double input_count(const struct operator_input *input, size_t without);
/* Element k of a list such as "[1, 2]", or the scalar; `otherwise` where there is none. */
double input_number(const struct operator_inputs *in, int at, size_t k, double otherwise);

#endif
