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

static uint32_t to_u32(double value)
{
    return !(value > 0) ? 0 : value >= 4294967295.0 ? UINT32_MAX : (uint32_t)value;
}

static uint32_t to_i32(double value)
{
    if (value != value)
        return 0;
    return value >= 2147483647.0 ? INT32_MAX : value <= -2147483648.0 ? UINT32_C(0x80000000) : (uint32_t)(int32_t)value;
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

/* Defines a function over all lanes, where `a`, `b` and `c` are the sources of one lane. */
#define LANE(name, expression)                                                                                         \
    static void name(uint32_t *restrict r, const uint32_t *p, const uint32_t *q, const uint32_t *o)                    \
    {                                                                                                                  \
        for (unsigned k = 0; k < LANES; k++) {                                                                         \
            const uint32_t a = p[k], b = q[k], c = o[k];                                                               \
            (void)a, (void)b, (void)c;                                                                                 \
            r[k] = (uint32_t)(expression);                                                                             \
        }                                                                                                              \
    }
#define FLOAT(name, expression)                                                                                        \
    static void name(uint32_t *restrict r, const uint32_t *p, const uint32_t *q, const uint32_t *o)                    \
    {                                                                                                                  \
        for (unsigned k = 0; k < LANES; k++) {                                                                         \
            const float a = float_of(p[k]), b = float_of(q[k]), c = float_of(o[k]);                                    \
            (void)a, (void)b, (void)c;                                                                                 \
            r[k] = bits_of((float)(expression));                                                                       \
        }                                                                                                              \
    }
#define WIDE(name, expression)                                                                                         \
    static uint64_t name(uint64_t a, uint64_t b, uint64_t c)                                                           \
    {                                                                                                                  \
        (void)a, (void)b, (void)c;                                                                                     \
        return (uint64_t)(expression);                                                                                 \
    }
#define DOUBLE(name, expression)                                                                                       \
    static uint64_t name(uint64_t p, uint64_t q, uint64_t o)                                                           \
    {                                                                                                                  \
        const double a = double_of(p), b = double_of(q), c = double_of(o);                                             \
        (void)a, (void)b, (void)c;                                                                                     \
        return double_bits(expression);                                                                                \
    }

/* clang-format off */
LANE(mov, a) LANE(not, ~a) LANE(add, a + b) LANE(sub, a - b) LANE(subrev, b - a)
LANE(add_sat, a + b < a ? UINT32_MAX : a + b) LANE(sub_sat, a > b ? a - b : 0)
LANE(and, a & b) LANE(or, a | b) LANE(xor, a ^ b) LANE(xnor, ~(a ^ b))
LANE(lshlrev, b << (a & 31)) LANE(lshrrev, b >> (a & 31)) LANE(ashrrev, S(b) >> (a & 31))
LANE(min_u32, MIN(a, b)) LANE(max_u32, MAX(a, b)) LANE(min_i32, MIN(S(a), S(b))) LANE(max_i32, MAX(S(a), S(b)))
LANE(mul_u24, (a & 0xffffff) * (b & 0xffffff)) LANE(mul_i24, (uint32_t)sext(a, 24) * (uint32_t)sext(b, 24))
LANE(mul_hi_u24, (uint64_t)(a & 0xffffff) * (b & 0xffffff) >> 32)
LANE(mul_hi_i24, (uint64_t)((int64_t)sext(a, 24) * sext(b, 24)) >> 32)
LANE(mul_lo, a * b) LANE(mul_hi_u32, (uint64_t)a * b >> 32) LANE(mul_hi_i32, (uint64_t)((int64_t)S(a) * S(b)) >> 32)
LANE(bfm, ((1u << (a & 31)) - 1) << (b & 31)) LANE(bcnt, (uint32_t)__builtin_popcount(a) + b)
LANE(ffbh, a ? (uint32_t)__builtin_clz(a) : UINT32_MAX) LANE(ffbl, a ? (uint32_t)__builtin_ctz(a) : UINT32_MAX)
LANE(ffbh_i32, leading_sign(a)) LANE(bfrev, bits_reversed(a))
LANE(add_u16, (uint16_t)(a + b)) LANE(sub_u16, (uint16_t)(a - b)) LANE(subrev_u16, (uint16_t)(b - a))
LANE(mul_lo_u16, (uint16_t)(a * b)) LANE(mad_u16, (uint16_t)((uint16_t)a * (uint16_t)b + c))
LANE(lshlrev_b16, (uint16_t)(b << (a & 15))) LANE(lshrrev_b16, (uint16_t)b >> (a & 15))
LANE(ashrrev_i16, (uint16_t)(sext(b, 16) >> (a & 15))) LANE(min_u16, MIN((uint16_t)a, (uint16_t)b))
LANE(max_u16, MAX((uint16_t)a, (uint16_t)b)) LANE(min_i16, (uint16_t)MIN(sext(a, 16), sext(b, 16)))
LANE(max_i16, (uint16_t)MAX(sext(a, 16), sext(b, 16))) LANE(and_b16, (uint16_t)(a & b)) LANE(or_b16, (uint16_t)(a | b))
LANE(xor_b16, (uint16_t)(a ^ b)) LANE(mov_b16, (uint16_t)a)
LANE(add3, a + b + c) LANE(lshl_add, (a << (b & 31)) + c) LANE(add_lshl, (a + b) << (c & 31))
LANE(lshl_or, a << (b & 31) | c) LANE(and_or, (a & b) | c) LANE(or3, a | b | c) LANE(xor3, a ^ b ^ c)
LANE(xad, (a ^ b) + c) LANE(bfi, (a & b) | (~a & c))
LANE(bfe_u32, c & 31 ? a >> (b & 31) & ((1u << (c & 31)) - 1) : 0)
LANE(bfe_i32, c & 31 ? sext(a >> (b & 31), c & 31) : 0)
LANE(alignbit, ((uint64_t)a << 32 | b) >> (c & 31)) LANE(alignbyte, ((uint64_t)a << 32 | b) >> 8 * (c & 3))
LANE(mad_u24, (a & 0xffffff) * (b & 0xffffff) + c) LANE(mad_i24, (uint32_t)sext(a, 24) * (uint32_t)sext(b, 24) + c)
LANE(mad_u32_u16, (a & 0xffff) * (b & 0xffff) + c) LANE(mad_i32_i16, (uint32_t)(sext(a, 16) * sext(b, 16)) + c)
LANE(min3_u32, MIN(MIN(a, b), c)) LANE(max3_u32, MAX(MAX(a, b), c)) LANE(med3_u32, MED(a, b, c))
LANE(min3_i32, MIN(MIN(S(a), S(b)), S(c))) LANE(max3_i32, MAX(MAX(S(a), S(b)), S(c)))
LANE(med3_i32, MED(S(a), S(b), S(c))) LANE(maxmin_u32, MIN(MAX(a, b), c)) LANE(minmax_u32, MAX(MIN(a, b), c))
LANE(maxmin_i32, MIN(MAX(S(a), S(b)), S(c))) LANE(minmax_i32, MAX(MIN(S(a), S(b)), S(c)))
LANE(perm, permute_bytes(a, b, c)) LANE(sad_u32, MAX(a, b) - MIN(a, b) + c)
LANE(cvt_f32_u32, bits_of((float)a)) LANE(cvt_f32_i32, bits_of((float)S(a)))
LANE(cvt_u32_f32, to_u32((double)float_of(a))) LANE(cvt_i32_f32, to_i32((double)float_of(a)))
LANE(cvt_rpi, to_i32(floor((double)float_of(a) + 0.5))) LANE(cvt_flr, to_i32(floor((double)float_of(a))))
LANE(ubyte0, bits_of((float)(a & 255))) LANE(ubyte1, bits_of((float)(a >> 8 & 255)))
LANE(ubyte2, bits_of((float)(a >> 16 & 255))) LANE(ubyte3, bits_of((float)(a >> 24)))
LANE(ldexp_f32, bits_of(ldexpf(float_of(a), S(MIN(MAX(S(b), -300), 300)))))
LANE(frexp_exp, isfinite(float_of(a)) && float_of(a) != 0 ? ilogbf(float_of(a)) + 1 : 0)
LANE(cvt_u16_u32, a & 0xffff)
LANE(pack_b32_f16, (a & 0xffff) | b << 16) LANE(cvt_pk_u16, MIN(a, 65535u) | MIN(b, 65535u) << 16)
FLOAT(add_f32, a + b) FLOAT(sub_f32, a - b) FLOAT(subrev_f32, b - a) FLOAT(mul_f32, a * b)
FLOAT(max_f32, fmaxf(a, b)) FLOAT(min_f32, fminf(a, b)) FLOAT(fma_f32, (double)a * (double)b + (double)c)
FLOAT(max3_f32, fmaxf(fmaxf(a, b), c)) FLOAT(min3_f32, fminf(fminf(a, b), c)) FLOAT(med3_f32, MED(a, b, c))
FLOAT(rndne, nearbyintf(a)) FLOAT(floor_f32, floorf(a)) FLOAT(ceil_f32, ceilf(a)) FLOAT(trunc_f32, truncf(a))
FLOAT(fract, a - floorf(a)) FLOAT(rcp, 1.0f / a) FLOAT(sqrt_f32, sqrtf(a)) FLOAT(rsq, 1.0f / sqrtf(a))
FLOAT(exp_f32, exp2f(a)) FLOAT(log_f32, log2f(a)) FLOAT(sin_f32, sinf(a * 6.28318530718f))
FLOAT(cos_f32, cosf(a * 6.28318530718f)) FLOAT(div_fixup, c / b)
FLOAT(frexp_mant, ldexpf(a, a != 0 ? -ilogbf(a) - 1 : 0))
WIDE(lshlrev_64, b << (a & 63)) WIDE(lshrrev_64, b >> (a & 63)) WIDE(ashrrev_64, (int64_t)b >> (a & 63))
WIDE(lshl_add_64, (a << (b & 7)) + c) WIDE(mov_64, a) WIDE(mul_u64, a * b) WIDE(add_64, a + b) WIDE(sub_64, a - b)
WIDE(cvt_f64_u32, double_bits((double)(uint32_t)a)) WIDE(cvt_f64_i32, double_bits((double)(int32_t)(uint32_t)a))
WIDE(cvt_f64_f32, double_bits((double)float_of((uint32_t)a))) WIDE(cvt_f32_f64, bits_of((float)double_of(a)))
WIDE(cvt_u32_f64, to_u32(double_of(a))) WIDE(cvt_i32_f64, to_i32(double_of(a)))
WIDE(ldexp_f64, double_bits(ldexp(double_of(a), (int)MIN(MAX((int32_t)(uint32_t)b, -3000), 3000))))
DOUBLE(add_f64, a + b) DOUBLE(mul_f64, a * b) DOUBLE(fma_f64, a * b + c) DOUBLE(max_f64, fmax(a, b))
DOUBLE(min_f64, fmin(a, b)) DOUBLE(rcp_f64, 1 / a) DOUBLE(sqrt_f64, sqrt(a)) DOUBLE(rsq_f64, 1 / sqrt(a))
DOUBLE(floor_f64, floor(a)) DOUBLE(ceil_f64, ceil(a)) DOUBLE(trunc_f64, trunc(a)) DOUBLE(rndne_f64, nearbyint(a))
DOUBLE(fract_f64, a - floor(a)) DOUBLE(div_fixup_f64, c / b)

#define INTEGER(text, count, function) {.names = text, .execute = lanes_execute, .lanes = function, .sources = count}
#define SLOW(text, count, function) \
    {.names = text, .execute = lanes_execute, .lanes = function, .sources = count, .flags = IS_SLOW}
#define REAL(text, count, function) \
    {.names = text, .execute = lanes_execute, .lanes = function, .sources = count, .flags = IS_FLOAT}
#define TRANSCENDENTAL(text, function) \
    {.names = text, .execute = lanes_execute, .lanes = function, .sources = 1, .flags = IS_FLOAT, \
    .class = WALK_TRANSCENDENTAL}
#define LONG(text, count, function, which, more) \
    {.names = text, .execute = wide_execute, .wide = function, .sources = count, .halves = which, .flags = more}
#define REAL64(text, count, function) LONG(text, count, function, HALVES_ALL, SOURCE0_WIDE | SOURCE1_WIDE | \
    SOURCE2_WIDE | RESULT_WIDE | IS_FLOAT)
#define OTHER(text, function, how) {.names = text, .execute = function, .detail = how}
const struct meaning vector_meanings[] = {
    INTEGER("v_mov_b32 v_accvgpr_read_b32 v_accvgpr_write_b32 v_accvgpr_mov_b32", 1, mov), INTEGER("v_not_b32", 1, not),
    INTEGER("v_add_u32 v_add_i32", 2, add), INTEGER("v_sub_u32 v_sub_i32", 2, sub), INTEGER("v_subrev_u32", 2, subrev),
    INTEGER("v_and_b32", 2, and), INTEGER("v_or_b32", 2, or), INTEGER("v_xor_b32", 2, xor),
    INTEGER("v_xnor_b32", 2, xnor),
    INTEGER("v_lshlrev_b32", 2, lshlrev), INTEGER("v_lshrrev_b32", 2, lshrrev), INTEGER("v_ashrrev_i32", 2, ashrrev),
    INTEGER("v_min_u32", 2, min_u32), INTEGER("v_max_u32", 2, max_u32), INTEGER("v_min_i32", 2, min_i32),
    INTEGER("v_max_i32", 2, max_i32), INTEGER("v_mul_u32_u24", 2, mul_u24), INTEGER("v_mul_i32_i24", 2, mul_i24),
    INTEGER("v_mul_hi_u32_u24", 2, mul_hi_u24), INTEGER("v_mul_hi_i32_i24", 2, mul_hi_i24),
    SLOW("v_mul_lo_u32 v_mul_lo_i32", 2, mul_lo), SLOW("v_mul_hi_u32", 2, mul_hi_u32),
    SLOW("v_mul_hi_i32", 2, mul_hi_i32),
    INTEGER("v_bfm_b32", 2, bfm), INTEGER("v_bcnt_u32_b32", 2, bcnt), INTEGER("v_ffbh_u32 v_clz_i32_u32", 1, ffbh),
    INTEGER("v_ffbl_b32 v_ctz_i32_b32", 1, ffbl), INTEGER("v_ffbh_i32 v_cls_i32", 1, ffbh_i32),
    INTEGER("v_bfrev_b32", 1, bfrev),
    INTEGER("v_add_sat_u32", 2, add_sat), INTEGER("v_sub_sat_u32", 2, sub_sat),
    INTEGER("v_add_u16", 2, add_u16), INTEGER("v_sub_u16", 2, sub_u16), INTEGER("v_subrev_u16", 2, subrev_u16),
    INTEGER("v_mul_lo_u16", 2, mul_lo_u16), INTEGER("v_mad_u16 v_mad_legacy_u16", 3, mad_u16),
    INTEGER("v_lshlrev_b16", 2, lshlrev_b16), INTEGER("v_lshrrev_b16", 2, lshrrev_b16),
    INTEGER("v_ashrrev_i16", 2, ashrrev_i16),
    INTEGER("v_min_u16", 2, min_u16), INTEGER("v_max_u16", 2, max_u16), INTEGER("v_min_i16", 2, min_i16),
    INTEGER("v_max_i16", 2, max_i16), INTEGER("v_and_b16", 2, and_b16), INTEGER("v_or_b16", 2, or_b16),
    INTEGER("v_xor_b16", 2, xor_b16), INTEGER("v_mov_b16", 1, mov_b16), INTEGER("v_add3_u32", 3, add3),
    INTEGER("v_lshl_add_u32", 3, lshl_add), INTEGER("v_add_lshl_u32", 3, add_lshl),
    INTEGER("v_lshl_or_b32", 3, lshl_or),
    INTEGER("v_and_or_b32", 3, and_or), INTEGER("v_or3_b32", 3, or3), INTEGER("v_xor3_b32", 3, xor3),
    INTEGER("v_xad_u32", 3, xad),
    INTEGER("v_bfi_b32", 3, bfi), INTEGER("v_bfe_u32", 3, bfe_u32), INTEGER("v_bfe_i32", 3, bfe_i32),
    INTEGER("v_alignbit_b32", 3, alignbit), INTEGER("v_alignbyte_b32", 3, alignbyte),
    INTEGER("v_mad_u32_u24", 3, mad_u24),
    INTEGER("v_mad_i32_i24", 3, mad_i24), INTEGER("v_mad_u32_u16", 3, mad_u32_u16),
    INTEGER("v_mad_i32_i16", 3, mad_i32_i16),
    INTEGER("v_min3_u32", 3, min3_u32), INTEGER("v_max3_u32", 3, max3_u32), INTEGER("v_med3_u32", 3, med3_u32),
    INTEGER("v_min3_i32", 3, min3_i32), INTEGER("v_max3_i32", 3, max3_i32), INTEGER("v_med3_i32", 3, med3_i32),
    INTEGER("v_maxmin_u32", 3, maxmin_u32), INTEGER("v_minmax_u32", 3, minmax_u32),
    INTEGER("v_maxmin_i32", 3, maxmin_i32),
    INTEGER("v_minmax_i32", 3, minmax_i32), INTEGER("v_perm_b32", 3, perm), INTEGER("v_sad_u32", 3, sad_u32),
    INTEGER("v_cvt_f32_u32", 1, cvt_f32_u32), INTEGER("v_cvt_f32_i32", 1, cvt_f32_i32),
    REAL("v_cvt_u32_f32", 1, cvt_u32_f32),
    REAL("v_cvt_i32_f32", 1, cvt_i32_f32), REAL("v_cvt_rpi_i32_f32 v_cvt_nearest_i32_f32", 1, cvt_rpi),
    REAL("v_cvt_flr_i32_f32 v_cvt_floor_i32_f32", 1, cvt_flr), INTEGER("v_cvt_f32_ubyte0", 1, ubyte0),
    INTEGER("v_cvt_f32_ubyte1", 1, ubyte1), INTEGER("v_cvt_f32_ubyte2", 1, ubyte2),
    INTEGER("v_cvt_f32_ubyte3", 1, ubyte3),
    REAL("v_ldexp_f32", 2, ldexp_f32), REAL("v_frexp_exp_i32_f32", 1, frexp_exp),
    INTEGER("v_cvt_u32_u16", 1, cvt_u16_u32),
    INTEGER("v_pack_b32_f16", 2, pack_b32_f16), INTEGER("v_cvt_pk_u16_u32", 2, cvt_pk_u16),
    REAL("v_add_f32", 2, add_f32), REAL("v_sub_f32", 2, sub_f32), REAL("v_subrev_f32", 2, subrev_f32),
    REAL("v_mul_f32 v_mul_legacy_f32 v_mul_dx9_zero_f32", 2, mul_f32), REAL("v_max_f32", 2, max_f32),
    REAL("v_min_f32", 2, min_f32),
    REAL("v_fma_f32 v_fmamk_f32 v_fmaak_f32 v_mad_f32 v_madmk_f32 v_madak_f32", 3, fma_f32),
    {.names = "v_fmac_f32 v_mac_f32 v_fmac_legacy_f32 v_fmac_dx9_zero_f32", .execute = lanes_execute,
        .lanes = fma_f32, .sources = 3, .flags = IS_FLOAT | ADDS_TO_RESULT},
    REAL("v_max3_f32", 3, max3_f32), REAL("v_min3_f32", 3, min3_f32), REAL("v_med3_f32", 3, med3_f32),
    REAL("v_rndne_f32", 1, rndne),
    REAL("v_floor_f32", 1, floor_f32), REAL("v_ceil_f32", 1, ceil_f32), REAL("v_trunc_f32", 1, trunc_f32),
    REAL("v_fract_f32", 1, fract),
    REAL("v_div_fixup_f32", 3, div_fixup), REAL("v_div_fmas_f32", 3, fma_f32), REAL("v_frexp_mant_f32", 1, frexp_mant),
    TRANSCENDENTAL("v_rcp_f32 v_rcp_iflag_f32", rcp), TRANSCENDENTAL("v_sqrt_f32", sqrt_f32),
    TRANSCENDENTAL("v_rsq_f32", rsq),
    TRANSCENDENTAL("v_exp_f32", exp_f32), TRANSCENDENTAL("v_log_f32", log_f32), TRANSCENDENTAL("v_sin_f32", sin_f32),
    TRANSCENDENTAL("v_cos_f32", cos_f32),
    LONG("v_lshlrev_b64", 2, lshlrev_64, HALVES_UP, SOURCE1_WIDE | RESULT_WIDE),
    LONG("v_lshrrev_b64", 2, lshrrev_64, HALVES_DOWN, SOURCE1_WIDE | RESULT_WIDE),
    LONG("v_ashrrev_i64", 2, ashrrev_64, HALVES_DOWN, SOURCE1_WIDE | RESULT_WIDE),
    LONG("v_lshl_add_u64", 3, lshl_add_64, HALVES_UP, SOURCE0_WIDE | SOURCE2_WIDE | RESULT_WIDE),
    LONG("v_mov_b64", 1, mov_64, HALVES_UP, SOURCE0_WIDE | RESULT_WIDE),
    LONG("v_mul_u64", 2, mul_u64, HALVES_UP, SOURCE0_WIDE | SOURCE1_WIDE | RESULT_WIDE),
    LONG("v_add_u64", 2, add_64, HALVES_UP, SOURCE0_WIDE | SOURCE1_WIDE | RESULT_WIDE),
    LONG("v_sub_u64", 2, sub_64, HALVES_UP, SOURCE0_WIDE | SOURCE1_WIDE | RESULT_WIDE),
    LONG("v_cvt_f64_u32", 1, cvt_f64_u32, HALVES_ALL, RESULT_WIDE),
    LONG("v_cvt_f64_i32", 1, cvt_f64_i32, HALVES_ALL, RESULT_WIDE),
    LONG("v_cvt_f64_f32", 1, cvt_f64_f32, HALVES_ALL, RESULT_WIDE),
    LONG("v_cvt_f32_f64", 1, cvt_f32_f64, HALVES_ALL, SOURCE0_WIDE | IS_FLOAT),
    LONG("v_cvt_u32_f64", 1, cvt_u32_f64, HALVES_ALL, SOURCE0_WIDE | IS_FLOAT),
    LONG("v_cvt_i32_f64", 1, cvt_i32_f64, HALVES_ALL, SOURCE0_WIDE | IS_FLOAT),
    LONG("v_ldexp_f64", 2, ldexp_f64, HALVES_ALL, SOURCE0_WIDE | RESULT_WIDE | IS_FLOAT),
    REAL64("v_add_f64", 2, add_f64),
    REAL64("v_mul_f64", 2, mul_f64), REAL64("v_fma_f64", 3, fma_f64), REAL64("v_max_f64", 2, max_f64),
    REAL64("v_min_f64", 2, min_f64),
    {.names = "v_fmac_f64", .execute = wide_execute, .wide = fma_f64, .sources = 3, .flags = SOURCE0_WIDE |
        SOURCE1_WIDE | SOURCE2_WIDE | RESULT_WIDE | IS_FLOAT | ADDS_TO_RESULT},
    REAL64("v_rcp_f64", 1, rcp_f64), REAL64("v_sqrt_f64", 1, sqrt_f64), REAL64("v_rsq_f64", 1, rsq_f64),
    REAL64("v_floor_f64", 1, floor_f64),
    REAL64("v_ceil_f64", 1, ceil_f64), REAL64("v_trunc_f64", 1, trunc_f64), REAL64("v_rndne_f64", 1, rndne_f64),
    REAL64("v_fract_f64", 1, fract_f64),
    REAL64("v_div_fmas_f64", 3, fma_f64), REAL64("v_div_fixup_f64", 3, div_fixup_f64),
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
