/* SPDX-License-Identifier: MIT */
#include "rooftile/dtype.h"

#include <float.h>
#include <strings.h>

#include "rooftile/vector.h"

/* A floating-point format narrower than f32, described by numbers. Codes exclude the sign bit. */
struct float_format {
    unsigned mantissa; /* stored bits */
    int bias;
    uint64_t sign;      /* mask of the sign bit */
    double max;         /* largest finite magnitude */
    uint64_t max_code;  /* its code */
    uint64_t overflow;  /* code for larger magnitudes: infinity if the format has one, else NaN */
    uint64_t nan;       /* the canonical NaN, sign bit included */
    bool has_infinity;  /* the code after max_code is infinity */
    bool unsigned_zero; /* FNUZ: there is no -0; its code is the only NaN */
};

/* IEEE 754 half; bfloat16; OCP 8-bit floating point specification 1.0 (non-saturating conversion); and the FNUZ
 * variants of Graphcore, AMD and Qualcomm ("8-bit Numerical Formats for Deep Neural Networks", 2022) that gfx942
 * implements. */
static const struct float_format format_f16 = {10, 15, 0x8000, 65504, 0x7bff, 0x7c00, 0x7e00, true, false};
static const struct float_format format_bf16 = {7, 127, 0x8000, 0x1.fep127, 0x7f7f, 0x7f80, 0x7fc0, true, false};
/* Stored in the upper bits of an f32. */
static const struct float_format format_xf32 = {10, 127, 0x40000, 0x1.ffcp127, 0x3fbff, 0x3fc00, 0x3fe00, true, false};
static const struct float_format format_e4m3 = {3, 7, 0x80, 448, 0x7e, 0x7f, 0x7f, false, false};
static const struct float_format format_e5m2 = {2, 15, 0x80, 57344, 0x7b, 0x7c, 0x7e, true, false};
static const struct float_format format_e4m3fnuz = {3, 8, 0x80, 240, 0x7f, 0x80, 0x80, false, true};
static const struct float_format format_e5m2fnuz = {2, 16, 0x80, 57344, 0x7f, 0x80, 0x80, false, true};

static inline uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static inline double double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* 2^exponent, for normal doubles. */
static inline double power_of_two(int exponent)
{
    return double_of((uint64_t)(exponent + 1023) << 52);
}

/* Returns the code nearest to a magnitude of at most format.max, ties to even, rounded once. Adding 2^(e + 52 - m) to a
 * magnitude with exponent e leaves in the low bits of the sum its number of quanta 2^(e - m), rounded by the adder
 * itself. A subnormal uses the exponent of the smallest normal number, and a carry into the exponent gives the next
 * code. */
static inline __attribute__((always_inline)) uint64_t encode_magnitude(double magnitude,
                                                                       const struct float_format format)
{
    const double smallest = power_of_two(1 - format.bias);
    const double scale = magnitude > smallest ? magnitude : smallest;
    const uint64_t exponent = bits_of(scale) & 0x7ff0000000000000u;
    const uint64_t shifter = exponent + ((uint64_t)(52 - format.mantissa) << 52);
    const uint64_t base = (exponent - bits_of(smallest)) >> (52 - format.mantissa);
    return base + (bits_of(magnitude + double_of(shifter)) - shifter);
}

static inline __attribute__((always_inline)) uint64_t encode(double value, const struct float_format format)
{
    const double beyond = power_of_two(format.bias + 2); /* larger than every finite value of the format */
    const double magnitude = fabs(value) < beyond ? fabs(value) : beyond;
    const uint64_t code = encode_magnitude(magnitude, format);
    const uint64_t sign = bits_of(value) >> 63 ? format.sign : 0;
    if (value != value)
        return format.nan;
    if (code > format.max_code)
        return format.overflow | sign;
    return format.unsigned_zero && code == 0 ? 0 : code | sign;
}

/* Exact. Exponent and mantissa, placed as in a double, represent the value times 2^(bias - 1023), including
 * subnormals. */
static inline __attribute__((always_inline)) double decode(uint64_t code, const struct float_format format)
{
    const uint64_t magnitude = code & (format.sign - 1);
    const double scaled = double_of(magnitude << (52 - format.mantissa)) * power_of_two(1023 - format.bias);
    const double special = format.has_infinity && magnitude == format.max_code + 1 ? (double)INFINITY : (double)NAN;
    const double value = magnitude <= format.max_code ? scaled : special;
    const double with_sign = code & format.sign ? -value : value;
    return format.unsigned_zero && code == format.sign ? (double)NAN : with_sign;
}

/* Tells whether all values are in [low, high]. This common case is detected by a loop that vectorises, so that the
 * conversion after it needs no branches. Differences are negative outside the range, and only NaN and infinities times
 * zero have exponent bits. Comparisons would not vectorise, because one with a NaN may trap. */
static inline bool all_within(const double *values, size_t count, double low, double high)
{
    uint64_t outside = 0;
    uint64_t special = 0;
    for (size_t i = 0; i < count; i++) {
        outside |= bits_of(values[i] - low) | bits_of(high - values[i]);
        special |= bits_of(values[i] * 0.0);
    }
    return outside >> 63 == 0 && special << 1 == 0;
}

static bool store_f64(void *restrict out, const double *restrict values, size_t count)
{
    memcpy(out, values, count * sizeof(*values));
    return true;
}

static void load_f64(double *restrict values, const void *restrict in, size_t count)
{
    memcpy(values, in, count * sizeof(*values));
}

/* Store and load, one row per type: C has no other way to express "the same loop for this type". */
#define LOAD_LOOP(name, type, from)                                                                                    \
    WIDER static void load_##name(double *restrict values, const void *restrict in, size_t count)                      \
    {                                                                                                                  \
        const type *restrict stored = in;                                                                              \
        for (size_t i = 0; i < count; i++)                                                                             \
            values[i] = from(stored[i]);                                                                               \
    }

#define NARROW_STORE(name, type)                                                                                       \
    WIDER static bool store_##name(void *restrict out, const double *restrict values, size_t count)                    \
    {                                                                                                                  \
        type *restrict stored = out;                                                                                   \
        const struct float_format format = format_##name;                                                              \
        if (!all_within(values, count, -format.max, format.max)) {                                                     \
            for (size_t i = 0; i < count; i++)                                                                         \
                stored[i] = (type)encode(values[i], format);                                                           \
            return true;                                                                                               \
        }                                                                                                              \
        for (size_t i = 0; i < count; i++) {                                                                           \
            const uint64_t sign = (bits_of(values[i]) >> 63) * format.sign;                                            \
            const uint64_t code = encode_magnitude(fabs(values[i]), format);                                           \
            stored[i] = (type)(format.unsigned_zero && !code ? 0 : sign | code);                                       \
        }                                                                                                              \
        return true;                                                                                                   \
    }

#define NARROW_LOAD(name, type)                                                                                        \
    static inline double decode_##name(uint64_t code)                                                                  \
    {                                                                                                                  \
        return decode(code, format_##name);                                                                            \
    }                                                                                                                  \
    LOAD_LOOP(name, type, decode_##name)

/* Values in (low, limit) fit; they truncate to smallest..largest. Up to `fast` they are converted through `via`, a
 * signed type with hardware support. Other values are clamped; NaN becomes the smallest value. */
#define INTEGER_STORE(name, type, via, low, limit, smallest, largest, fast)                                            \
    WIDER static bool store_##name(void *restrict out, const double *restrict values, size_t count)                    \
    {                                                                                                                  \
        type *restrict stored = out;                                                                                   \
        if (all_within(values, count, (double)(smallest), fast)) {                                                     \
            for (size_t i = 0; i < count; i++)                                                                         \
                stored[i] = (type)(via)values[i];                                                                      \
            return true;                                                                                               \
        }                                                                                                              \
        bool fits = true;                                                                                              \
        for (size_t i = 0; i < count; i++) {                                                                           \
            const bool above = values[i] > (low);                                                                      \
            const bool below = values[i] < (limit);                                                                    \
            fits = fits && above && below;                                                                             \
            stored[i] = !above ? (smallest) : !below ? (largest) : (type)values[i];                                    \
        }                                                                                                              \
        return fits;                                                                                                   \
    }
#define SMALL_INTEGER(name, type, via, smallest, largest)                                                              \
    INTEGER_STORE(name, type, via, (double)(smallest)-1, (double)(largest) + 1, smallest, largest, (double)(largest))  \
    LOAD_LOOP(name, type, (double))

WIDER static bool store_f32(void *restrict out, const double *restrict values, size_t count)
{
    float *restrict stored = out;
    for (size_t i = 0; i < count; i++)
        stored[i] = (float)values[i];
    return true;
}

WIDER static bool store_xf32(void *restrict out, const double *restrict values, size_t count)
{
    uint32_t *restrict stored = out;
    const struct float_format format = format_xf32;
    for (size_t i = 0; i < count; i++)
        stored[i] = (uint32_t)encode(values[i], format) << 13;
    return true;
}

/* The code is the upper half of an f32. */
static inline double double_of_bf16(uint32_t code)
{
    const uint32_t bits = code << 16;
    float value;
    memcpy(&value, &bits, sizeof(value));
    return (double)value;
}

/* The halves of a 64-bit integer become mantissas of 2^84 and 2^52; their sum rounds once. SSE2 and AVX2 have no
 * instruction for this conversion, but this form vectorises. */
static inline double double_of_u64(uint64_t whole)
{
    const double high = double_of((whole >> 32) | 0x4530000000000000u) - 0x1.00000001p84;
    return high + double_of((whole & 0xffffffffu) | 0x4330000000000000u);
}

LOAD_LOOP(f32, float, (double))
NARROW_STORE(f16, uint16_t)
NARROW_LOAD(f16, uint16_t)
NARROW_STORE(bf16, uint16_t)
LOAD_LOOP(bf16, uint16_t, double_of_bf16)
NARROW_STORE(e4m3, uint8_t)
NARROW_LOAD(e4m3, uint8_t)
NARROW_STORE(e5m2, uint8_t)
NARROW_LOAD(e5m2, uint8_t)
NARROW_STORE(e4m3fnuz, uint8_t)
NARROW_LOAD(e4m3fnuz, uint8_t)
NARROW_STORE(e5m2fnuz, uint8_t)
NARROW_LOAD(e5m2fnuz, uint8_t)
INTEGER_STORE(i64, int64_t, int64_t, -0x1.0000000000001p63, 0x1p63, INT64_MIN, INT64_MAX, 0x1p62)
LOAD_LOOP(i64, int64_t, (double))
INTEGER_STORE(u64, uint64_t, int64_t, -1.0, 0x1p64, 0, UINT64_MAX, 0x1p62)
LOAD_LOOP(u64, uint64_t, double_of_u64)
SMALL_INTEGER(i32, int32_t, int32_t, INT32_MIN, INT32_MAX)
SMALL_INTEGER(u32, uint32_t, int64_t, 0, UINT32_MAX)
SMALL_INTEGER(i16, int16_t, int32_t, INT16_MIN, INT16_MAX)
SMALL_INTEGER(u16, uint16_t, int32_t, 0, UINT16_MAX)
SMALL_INTEGER(i8, int8_t, int32_t, INT8_MIN, INT8_MAX)
SMALL_INTEGER(u8, uint8_t, int32_t, 0, UINT8_MAX)

struct dtype_row {
    const char *name;
    const char *ctype;
    size_t bytes;
    double epsilon; /* 0: an integer */
    double max;
    bool (*store)(void *restrict out, const double *restrict values, size_t count); /* false: not all values fit */
    void (*load)(double *restrict values, const void *restrict in, size_t count);
};

/* The largest i64 and u64 are not doubles, so the next lower double is used. */
static const struct dtype_row rows[DTYPE_COUNT] = {
    [DTYPE_F64] = {"f64", "double", 8, DBL_EPSILON, DBL_MAX, store_f64, load_f64},
    [DTYPE_F32] = {"f32", "float", 4, 0x1p-23, 0x1.fffffep127, store_f32, load_f32},
    [DTYPE_XF32] = {"xf32", "float", 4, 0x1p-10, 0x1.ffcp127, store_xf32, load_f32},
    [DTYPE_F16] = {"f16", "_Float16", 2, 0x1p-10, 65504, store_f16, load_f16},
    [DTYPE_BF16] = {"bf16", "__bf16", 2, 0x1p-7, 0x1.fep127, store_bf16, load_bf16},
    [DTYPE_E4M3] = {"e4m3", "unsigned char", 1, 0x1p-3, 448, store_e4m3, load_e4m3},
    [DTYPE_E5M2] = {"e5m2", "unsigned char", 1, 0x1p-2, 57344, store_e5m2, load_e5m2},
    [DTYPE_E4M3FNUZ] = {"e4m3fnuz", "unsigned char", 1, 0x1p-3, 240, store_e4m3fnuz, load_e4m3fnuz},
    [DTYPE_E5M2FNUZ] = {"e5m2fnuz", "unsigned char", 1, 0x1p-2, 57344, store_e5m2fnuz, load_e5m2fnuz},
    [DTYPE_I64] = {"i64", "int64_t", 8, 0, 0x1.fffffffffffffp62, store_i64, load_i64},
    [DTYPE_U64] = {"u64", "uint64_t", 8, 0, 0x1.fffffffffffffp63, store_u64, load_u64},
    [DTYPE_I32] = {"i32", "int32_t", 4, 0, 0x1p31 - 1, store_i32, load_i32},
    [DTYPE_U32] = {"u32", "uint32_t", 4, 0, 0x1p32 - 1, store_u32, load_u32},
    [DTYPE_I16] = {"i16", "int16_t", 2, 0, 0x1p15 - 1, store_i16, load_i16},
    [DTYPE_U16] = {"u16", "uint16_t", 2, 0, 0x1p16 - 1, store_u16, load_u16},
    [DTYPE_I8] = {"i8", "int8_t", 1, 0, 0x1p7 - 1, store_i8, load_i8},
    [DTYPE_U8] = {"u8", "uint8_t", 1, 0, 0x1p8 - 1, store_u8, load_u8},
};

enum dtype dtype_from_name(const char *name)
{
    for (enum dtype dtype = DTYPE_NONE + 1; dtype < DTYPE_COUNT; dtype++)
        if (strcmp(name, rows[dtype].name) == 0)
            return dtype;
    return DTYPE_NONE;
}

enum dtype dtype_by_any_name(const char *name)
{
    static const struct {
        const char *name;
        enum dtype dtype;
    } names[] = {{"fp64", DTYPE_F64},      {"float64", DTYPE_F64}, {"double", DTYPE_F64},   {"fp32", DTYPE_F32},
                 {"float32", DTYPE_F32},   {"float", DTYPE_F32},   {"single", DTYPE_F32},   {"tf32", DTYPE_XF32},
                 {"fp16", DTYPE_F16},      {"float16", DTYPE_F16}, {"half", DTYPE_F16},     {"bfloat16", DTYPE_BF16},
                 {"fp8_e4m3", DTYPE_E4M3}, {"int64", DTYPE_I64},   {"int32", DTYPE_I32},    {"int", DTYPE_I32},
                 {"int16", DTYPE_I16},     {"int8", DTYPE_I8},     {"uint64", DTYPE_U64},   {"uint32", DTYPE_U32},
                 {"uint16", DTYPE_U16},    {"uint8", DTYPE_U8},    {"fp8_e5m2", DTYPE_E5M2}};
    for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++)
        if (strcasecmp(names[k].name, name) == 0)
            return names[k].dtype;
    for (enum dtype dtype = DTYPE_NONE + 1; dtype < DTYPE_COUNT; dtype++)
        if (strcasecmp(name, rows[dtype].name) == 0)
            return dtype;
    return DTYPE_NONE;
}

const char *dtype_name(enum dtype dtype)
{
    return rows[dtype].name;
}

const char *dtype_ctype(enum dtype dtype)
{
    return rows[dtype].ctype;
}

size_t dtype_bytes(enum dtype dtype)
{
    return rows[dtype].bytes;
}

bool dtype_is_float(enum dtype dtype)
{
    return rows[dtype].epsilon > 0;
}

double dtype_epsilon(enum dtype dtype)
{
    return rows[dtype].epsilon;
}

double dtype_max(enum dtype dtype)
{
    return rows[dtype].max;
}

/* A store reads its values twice; a block stays in L1 in between. */
#define STORE_BLOCK 1024

void dtype_store(void *out, enum dtype dtype, const double *values, size_t count, bool *exact)
{
    const struct dtype_row *row = &rows[dtype];
    bool fits = true;
    for (size_t at = 0; at < count; at += STORE_BLOCK) {
        const size_t left = count - at;
        fits &= row->store((char *)out + at * row->bytes, values + at, left < STORE_BLOCK ? left : STORE_BLOCK);
    }
    if (exact && !fits)
        *exact = false;
}

void dtype_load(double *values, enum dtype dtype, const void *in, size_t count)
{
    rows[dtype].load(values, in, count);
}
