/* SPDX-License-Identifier: MIT
 *
 * tile.h on the CPU device: a part of the class that a kernel source is (see simt_cpu.h). Lanes exchange their parts of
 * A and B by wave operations, and each computes its own elements of D. It shows that a kernel is right, not how fast it
 * is. Private: the contract is in tile.h.
 */
#ifndef TILE_LAYOUT
#define TILE_LAYOUT 0
#endif
#define SIMT_TILE_PERMUTED 1
#define SIMT_TILE_MFMA 2
#define SIMT_TILE_GFX11 11
#define SIMT_TILE_GFX12 12
#define SIMT_TILE_CONST const

#if TILE_LAYOUT == 0 && ROOFTILE_WAVE == 64
#define SIMT_TILE_LAYOUT SIMT_TILE_MFMA
#elif TILE_LAYOUT == 0
#define SIMT_TILE_LAYOUT SIMT_TILE_GFX12
#elif TILE_LAYOUT == 1 || (TILE_LAYOUT == 11 && ROOFTILE_WAVE == 32)
#define SIMT_TILE_LAYOUT TILE_LAYOUT
#else
#error "TILE_LAYOUT is 0, 1, or at wave 32 11"
#endif
#if SIMT_TILE_LAYOUT == SIMT_TILE_GFX11
#define SIMT_TILE_INPUT_LANES 16 /* the other 16 hold copies */
#else
#define SIMT_TILE_INPUT_LANES static_cast<int>(ROOFTILE_WAVE)
#endif
#if SIMT_TILE_LAYOUT == SIMT_TILE_GFX12
#define SIMT_TILE_RUN(count, bytes) (8 / (bytes))
#else
#define SIMT_TILE_RUN(count, bytes) (count)
#endif

/* For which K there is an instruction of 16 x 16 (a bit is a K; 32 x 32 has half of it), and whether WMMA has the type. */
template <class in, class acc_t> struct simt_tile_depths {
    static constexpr int mfma = 0;
    static constexpr bool wmma = false;
};
#define SIMT_TILE_ROW(in, acc_t, mfma_depths, has_wmma)                                                                \
    template <> struct simt_tile_depths<in, acc_t> {                                                                   \
        static constexpr int mfma = mfma_depths;                                                                       \
        static constexpr bool wmma = has_wmma;                                                                         \
    };
SIMT_TILE_ROW(tile_f64, double, 4, false)
SIMT_TILE_ROW(tile_f32, float, 4, false)
SIMT_TILE_ROW(tile_xf32, float, 8, false)
SIMT_TILE_ROW(tile_f16, float, 16 | 32, true)
SIMT_TILE_ROW(tile_bf16, float, 8 | 16 | 32, true)
SIMT_TILE_ROW(tile_e4m3, float, 32, true)
SIMT_TILE_ROW(tile_e5m2, float, 32, true)
SIMT_TILE_ROW(tile_e4m3fnuz, float, 32, false)
SIMT_TILE_ROW(tile_e5m2fnuz, float, 32, false)
SIMT_TILE_ROW(tile_i8, int32_t, 16 | 32 | 64, true)

template <int m, int n, int k, class in, class acc_t> struct simt_tile_has {
    typedef simt_tile_depths<in, acc_t> depths;
    static constexpr int depth_at_16 = k * m / 16;
    static constexpr bool mfma = m == n && (m == 16 || (m == 32 && sizeof(acc_t) == 4)) &&
                                 (depths::mfma & depth_at_16) != 0 && (depth_at_16 & (depth_at_16 - 1)) == 0;
    static constexpr bool wmma = m == 16 && n == 16 && k == 16 && depths::wmma;
    static constexpr bool value = ROOFTILE_WAVE == 64 ? mfma : wmma;
};

/* Exact, as dtype.c's decode. Exponent and mantissa in a float's place are the value times 2^(bias - 127). */
template <class in> __device__ static float simt_tile_number(const in &, typename in::type code)
{
    constexpr unsigned sign = 1u << (8 * sizeof(code) - 1);
    constexpr unsigned steps = 1u << in::mantissa;
    constexpr unsigned beyond = in::fnuz ? sign : in::infinity ? sign - steps : sign - 1; /* first code of no number */
    const unsigned magnitude = code & (sign - 1);
    const float scale = __builtin_bit_cast(float, static_cast<unsigned>(254 - in::bias) << 23);
    const float scaled = __builtin_bit_cast(float, magnitude << (23 - in::mantissa)) * scale;
    const bool infinite = in::infinity && magnitude == beyond;
    const float value = magnitude < beyond ? scaled : infinite ? __builtin_inff() : __builtin_nanf("");
    if (in::fnuz && code == sign)
        return __builtin_nanf("");
    return code & sign ? -value : value;
}

__device__ static double simt_tile_number(const tile_f64 &, double value)
{
    return value;
}

__device__ static float simt_tile_number(const tile_f32 &, float value)
{
    return value;
}

/* 10 bits of mantissa, nearest even. */
__device__ static float simt_tile_number(const tile_xf32 &, float value)
{
    const unsigned bits = __builtin_bit_cast(unsigned, value);
    return __builtin_bit_cast(float, (bits + 0xfffu + (bits >> 13 & 1u)) & ~0x1fffu);
}

/* Unsigned, so that sums wrap. */
__device__ static uint32_t simt_tile_number(const tile_i8 &, int8_t value)
{
    return static_cast<uint32_t>(value);
}

/* A fragment in words that wave operations move. */
template <class fragment_t> struct simt_tile_words {
    static constexpr int count = (sizeof(fragment_t) + 7) / 8;
    uint64_t at[count];
};

/* Where the coordinates of A and B put them, row by row. */
template <class tile_t, bool is_a, class fragment_t, class in_t>
__device__ void simt_tile_gather(in_t *matrix, fragment_t fragment, unsigned simt_at) const
{
    simt_tile_words<fragment_t> words = {};
    __builtin_memcpy(words.at, &fragment, sizeof(fragment));
    constexpr int count = is_a ? tile_t::a_count : tile_t::b_count;
    constexpr int per_word = static_cast<int>(sizeof(uint64_t) / sizeof(in_t));
    for (int w = 0; w < words.count; ++w) {
        const struct simt_exchange *const exchange = simt_self->wave(simt_self, simt_at, words.at[w]);
        for (unsigned lane = 0; lane < ROOFTILE_WAVE; ++lane) {
            const bool active = exchange->active >> lane & 1u;
            const uint64_t word = active ? exchange->slot[lane] : uint64_t(SIMT_POISON) << 32 | SIMT_POISON;
            in_t elements[per_word];
            __builtin_memcpy(elements, &word, sizeof(elements));
            for (int i = 0; i < per_word && w * per_word + i < count; ++i) {
                const unsigned e = static_cast<unsigned>(w * per_word + i);
                if constexpr (is_a)
                    matrix[simt_tile_a_row<tile_t>(lane, e) * tile_t::k + simt_tile_a_k<tile_t>(lane, e)] = elements[i];
                else
                    matrix[simt_tile_b_k<tile_t>(lane, e) * tile_t::n + simt_tile_b_column<tile_t>(lane, e)] =
                        elements[i];
            }
        }
    }
}

template <class tile_t>
__device__ typename tile_t::c_t tile_mma(typename tile_t::a_t a, typename tile_t::b_t b, typename tile_t::c_t c,
                                         unsigned simt_at = SIMT_HERE) const
{
    static_assert(tile_t::supported, "the target has no such matrix instruction: ask tile_supported");
    if (!simt_self) {
        simt_mark_site();
        return c;
    }
    typename tile_t::in_t left[tile_t::m * tile_t::k], right[tile_t::k * tile_t::n];
    simt_tile_gather<tile_t, true>(left, a, simt_at);
    simt_tile_gather<tile_t, false>(right, b, simt_at);
    const typename tile_t::in type = {};
    for (unsigned e = 0; e < tile_t::c_count; ++e) {
        const unsigned row = tile_c_row<tile_t>(e), column = tile_c_column<tile_t>(e);
        auto sum = simt_tile_number(type, left[row * tile_t::k]) * simt_tile_number(type, right[column]);
        for (unsigned k = 1; k < tile_t::k; ++k)
            sum += simt_tile_number(type, left[row * tile_t::k + k]) *
                   simt_tile_number(type, right[k * tile_t::n + column]);
        c[e] = static_cast<typename tile_t::acc_t>(sum + static_cast<decltype(sum)>(c[e]));
    }
    return c;
}
