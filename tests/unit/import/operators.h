/* SPDX-License-Identifier: MIT
 *
 * An operator in words, for the tests of what reads them.
 */
#ifndef TEST_IMPORT_OPERATORS_H
#define TEST_IMPORT_OPERATORS_H

#include "../../../src/import/trace.h"

/* "gemm B=1 M=4 N=16 K=8 f16>f16 TN causal"; dimensions that are 0 are skipped. */
static inline const char *operator_words(const struct trace_operator *o, struct arena *arena)
{
    struct text out = {0};
    text_add(&out, import_kind_names[o->kind]);
    for (size_t k = 0; import_dims[o->kind][k]; k++)
        if (o->dims[k] > 0)
            text_addf(&out, " %s=%.0f", import_dims[o->kind][k], o->dims[k]);
    if (o->dtype && o->dtype[0])
        text_addf(&out, strcmp(o->dtype, o->total) ? " %s>%s" : " %s", o->dtype, o->total);
    if (o->layout && o->layout[0])
        text_addf(&out, " %s", o->layout);
    text_addf(&out, "%s%s", o->causal ? " causal" : "", o->extra ? o->extra : "");
    return text_take(&out, arena);
}

#endif
