/* SPDX-License-Identifier: MIT
 *
 * The table of vector instructions, computed lane by lane. Sources: AMD's ISA documents of CDNA 2 and 3, RDNA 3 and
 * 4 ("Instructions"), whose names it uses. Encodings (_e32, _e64), DPP, SDWA, "_nc" and "_num" are stripped before
 * the lookup. An additional floating-point rounding does not matter here, as results only decide ranges.
 */
#include <math.h>
#include <string.h>

#include "walk_vector.h"

static double double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static uint64_t double_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static int32_t sext(uint32_t value, unsigned bits)
{
    return (int32_t)(value << (32 - bits)) >> (32 - bits);
}

static uint32_t permute_bytes(uint32_t a, uint32_t b, uint32_t selects)
{
    const uint64_t both = (uint64_t)a << 32 | b;
    uint32_t result = 0;
    for (unsigned k = 0; k < 4; k++) {
        const uint32_t select = selects >> 8 * k & 255;
        const uint32_t byte = select < 8 ? (uint32_t)(both >> 8 * select) & 255 : select >= 13 ? 255 : 0;
        result |= byte << 8 * k;
    }
    return result;
}

static uint32_t leading_sign(uint32_t value)
{
    const uint32_t other = (int32_t)value < 0 ? ~value : value;
    return other ? (uint32_t)__builtin_clz(other) : UINT32_MAX;
}

#define S(x) ((int32_t)(x))
#define MIN(x, y) ((x) < (y) ? (x) : (y))
#define MAX(x, y) ((x) > (y) ? (x) : (y))
#define MED(x, y, z) MAX(MIN(x, y), MIN(MAX(x, y), z))

/* ---- one row for each instruction: its function over all lanes first, then its meaning ---- */

#define LANES_OF(name, type, from, to, expression)                                                                     \
    static void name(uint32_t *restrict r, const uint32_t *p, const uint32_t *q, const uint32_t *o)                    \
    {                                                                                                                  \
        for (unsigned k = 0; k < LANES; k++) {                                                                         \
            const type a = from(p[k]), b = from(q[k]), c = from(o[k]);                                                 \
            (void)a, (void)b, (void)c;                                                                                 \
            r[k] = to(expression);                                                                                     \
        }                                                                                                              \
    }
#define WIDE_OF(name, type, from, to, expression)                                                                      \
    static uint64_t name(uint64_t p, uint64_t q, uint64_t o)                                                           \
    {                                                                                                                  \
        const type a = from(p), b = from(q), c = from(o);                                                              \
        (void)a, (void)b, (void)c;                                                                                     \
        return to(expression);                                                                                         \
    }
#define BITS32(x) (uint32_t)(x)
#define BITS64(x) (uint64_t)(x)
#define BITS_OF(x) bits_of((float)(x))
#define LANE(names, count, name, flag, expression) LANES_OF(name, uint32_t, BITS32, BITS32, expression)
#define FLOAT(names, count, name, expression) LANES_OF(name, float, float_of, BITS_OF, expression)
#define ROOT(names, name, expression) FLOAT(names, 1, name, expression)
#define WIDE(names, count, name, which, flag, expression) WIDE_OF(name, uint64_t, BITS64, BITS64, expression)
#define DOUBLE(names, count, name, expression) WIDE_OF(name, double, double_of, double_bits, expression)
#include "walk_lanes.h"
#undef LANE
#undef FLOAT
#undef ROOT
#undef WIDE
#undef DOUBLE
#define LANE(text, count, name, flag, expression)                                                                      \
    {.names = text, .execute = lanes_execute, .lanes = name, .sources = count, .flags = flag},
#define FLOAT(text, count, name, expression) LANE(text, count, name, IS_FLOAT, expression)
#define ROOT(text, name, expression)                                                                                   \
    {.names = text,                                                                                                    \
     .execute = lanes_execute,                                                                                         \
     .lanes = name,                                                                                                    \
     .sources = 1,                                                                                                     \
     .flags = IS_FLOAT,                                                                                                \
     .class = WALK_TRANSCENDENTAL},
#define WIDE(text, count, name, which, flag, expression)                                                               \
    {.names = text, .execute = wide_execute, .wide = name, .sources = count, .halves = which, .flags = flag},
#define ALL_WIDE (SOURCE0_WIDE | SOURCE1_WIDE | SOURCE2_WIDE | RESULT_WIDE | IS_FLOAT)
#define DOUBLE(text, count, name, expression) WIDE(text, count, name, HALVES_ALL, ALL_WIDE, expression)
#define OTHER(text, function, how)                                                                                     \
    {                                                                                                                  \
        .names = text, .execute = function, .detail = how                                                              \
    }
/* clang-format off */
const struct meaning vector_meanings[] = {
#include "walk_lanes.h"
    {.names = "v_fmac_f32 v_mac_f32 v_fmac_legacy_f32 v_fmac_dx9_zero_f32", .execute = lanes_execute,
        .lanes = fma_f32, .sources = 3, .flags = IS_FLOAT | ADDS_TO_RESULT},
    {.names = "v_fmac_f64", .execute = wide_execute, .wide = fma_f64, .sources = 3, .flags = ALL_WIDE | ADDS_TO_RESULT},
    OTHER("v_add_co_u32", carry_execute, CARRY_ADD), OTHER("v_sub_co_u32", carry_execute, CARRY_SUB),
    OTHER("v_subrev_co_u32", carry_execute, CARRY_SUBREV),
    OTHER("v_addc_co_u32 v_add_co_ci_u32", carry_execute, CARRY_ADD | CARRY_IN),
    OTHER("v_subb_co_u32 v_sub_co_ci_u32", carry_execute, CARRY_SUB | CARRY_IN),
    OTHER("v_subbrev_co_u32 v_subrev_co_ci_u32", carry_execute, CARRY_SUBREV | CARRY_IN),
    {.names = "v_mad_u64_u32 v_mad_co_u64_u32", .execute = mad64_execute, .flags = IS_SLOW},
    {.names = "v_mad_i64_i32 v_mad_co_i64_i32", .execute = mad64_execute, .flags = IS_SLOW, .detail = 1},
    {.names = "v_div_scale_f32", .execute = div_scale_execute, .flags = IS_FLOAT},
    {.names = "v_div_scale_f64", .execute = div_scale_execute, .flags = RESULT_WIDE},
    {.names = "v_cndmask_b32", .execute = select_execute, .flags = IS_FLOAT}, OTHER("v_cndmask_b16", select_execute, 0),
    OTHER("v_readfirstlane_b32", first_lane_execute, 0), OTHER("v_readlane_b32", read_lane_execute, 0),
    OTHER("v_writelane_b32", write_lane_execute, 0), OTHER("v_mbcnt_lo_u32_b32", mbcnt_execute, 0),
    OTHER("v_mbcnt_hi_u32_b32", mbcnt_execute, 32), OTHER("v_pk_add_f32", packed_execute, PACKED_ADD),
    OTHER("v_pk_mul_f32", packed_execute, PACKED_MUL), OTHER("v_pk_fma_f32", packed_execute, PACKED_FMA),
    OTHER("v_pk_mov_b32", packed_execute, PACKED_MOV), OTHER("v_swap_b32", swap_execute, 0),
    OTHER("v_permlane16_b32", permlane_execute, 0), OTHER("v_permlanex16_b32", permlane_execute, 16),
    OTHER("v_permlane64_b32", permlane_execute, 64), OTHER("v_permlane32_swap_b32", lane_swap_execute, 32),
    OTHER("v_permlane16_swap_b32", lane_swap_execute, 16), OTHER("v_bitop3_b32", bits_execute, 0),
    OTHER("v_nop", nothing_execute, 0),
};
/* clang-format on */
const size_t vector_meaning_count = COUNT_OF(vector_meanings);
