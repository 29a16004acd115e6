/* SPDX-License-Identifier: MIT
 *
 * Element types of buffers and arguments. One table (dtype.c) holds name, size, C type and range.
 */
#ifndef ROOFTILE_DTYPE_H
#define ROOFTILE_DTYPE_H

#include "rooftile/base.h"

enum dtype {
    DTYPE_NONE, /* not a type */
    DTYPE_F64,
    DTYPE_F32,
    /* an f32 of which matrix instructions read only 10 bits of the mantissa; the other bits are 0 (TF32) */
    DTYPE_XF32,
    DTYPE_F16,
    DTYPE_BF16,
    DTYPE_E4M3,
    DTYPE_E5M2, /* OCP fp8 (gfx950, gfx12, CPU) */
    DTYPE_E4M3FNUZ,
    DTYPE_E5M2FNUZ, /* gfx942 */
    DTYPE_I64,
    DTYPE_U64,
    DTYPE_I32,
    DTYPE_U32,
    DTYPE_I16,
    DTYPE_U16,
    DTYPE_I8,
    DTYPE_U8,
    DTYPE_COUNT
};

/* Names as in manifests: f64 f32 xf32 f16 bf16 e4m3 e5m2 e4m3fnuz e5m2fnuz i64 u64 i32 u32 i16 u16 i8 u8. */
enum dtype dtype_from_name(const char *name); /* DTYPE_NONE: unknown */
/* Also accepts the names used by numpy, C and others: "fp32", "float", "half", "INT8". */
enum dtype dtype_by_any_name(const char *name);
const char *dtype_name(enum dtype dtype);
const char *dtype_ctype(enum dtype dtype); /* "float", "_Float16", "__bf16", "uint64_t", "unsigned char" for fp8 */
size_t dtype_bytes(enum dtype dtype);
bool dtype_is_float(enum dtype dtype);
double dtype_epsilon(enum dtype dtype); /* distance from 1 to the next larger value; 0 for integers */
double dtype_max(enum dtype dtype);     /* largest finite value */

/* Converts `count` values. Floats round to nearest even and saturate to infinity (fp8: as the format says); integers
 * truncate toward zero; *exact becomes false if an integer did not fit its type (`exact` may be NULL).
 * Performance-critical: must vectorise for f64 f32 f16 bf16 i32 u32 u64. */
void dtype_store(void *out, enum dtype dtype, const double *values, size_t count, bool *exact);
void dtype_load(double *values, enum dtype dtype, const void *in, size_t count);

#endif
