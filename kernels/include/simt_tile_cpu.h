/* SPDX-License-Identifier: MIT
 *
 * tile.h on the CPU device, as part of the class that a kernel source becomes (simt_cpu.h). Lanes exchange their parts
 * of A and B by wave operations, and each computes its own elements of D. It shows that a kernel is right, not how fast
 * it is. Private: the contract is in tile.h.
 */
#ifndef TILE_LAYOUT
#define TILE_LAYOUT 0
#endif
#define SIMT_TILE_CONST const
#define SIMT_TILE_SUM(acc_t) acc_t

#if TILE_LAYOUT == 0 && ROOFTILE_WAVE == 64
#define SIMT_TILE_LAYOUT SIMT_TILE_MFMA
#elif TILE_LAYOUT == 0
#define SIMT_TILE_LAYOUT SIMT_TILE_GFX12
#elif TILE_LAYOUT == 1 || ((TILE_LAYOUT == 3 || TILE_LAYOUT == 11 || TILE_LAYOUT == 1250) && ROOFTILE_WAVE == 32)
#define SIMT_TILE_LAYOUT TILE_LAYOUT
#else
#error "TILE_LAYOUT is 0, 1, or at wave 32 3, 11 or 1250"
#endif
#if SIMT_TILE_LAYOUT == SIMT_TILE_GFX11
#define SIMT_TILE_INPUT_LANES 16 /* the other 16 hold copies */
#else
#define SIMT_TILE_INPUT_LANES static_cast<int>(ROOFTILE_WAVE)
#endif
#if SIMT_TILE_LAYOUT == SIMT_TILE_GFX12
#define SIMT_TILE_RUN(count, bytes) (8 / (bytes) < (count) ? 8 / (bytes) : (count))
#elif SIMT_TILE_LAYOUT == SIMT_TILE_NVIDIA
#define SIMT_TILE_RUN(count, bytes) ((count) / 2)
#else
#define SIMT_TILE_RUN(count, bytes) (count)
#endif

/* The K of the 16 x 16 instructions, dense and sparse, each of them a bit. MFMA's 32 x 32 have half that K. */
template <class in, class out> struct simt_tile_depths {
    static constexpr int mfma = 0, wmma = 0, smfmac = 0, swmmac = 0, nvidia = 0, gfx1250 = 0;
};
#define SIMT_TILE_ROW(in, out, mfma_depths, wmma_depths, smfmac_depths, swmmac_depths, nvidia_depths, gfx1250_depths)  \
    template <> struct simt_tile_depths<in, out> {                                                                     \
        static constexpr int mfma = mfma_depths, wmma = wmma_depths, smfmac = smfmac_depths, swmmac = swmmac_depths,   \
                             nvidia = nvidia_depths, gfx1250 = gfx1250_depths;                                         \
    };
SIMT_TILE_ROW(tile_f64, double, 4, 0, 0, 0, 4, 0)
SIMT_TILE_ROW(tile_f32, float, 4, 0, 0, 0, 0, 4)
SIMT_TILE_ROW(tile_xf32, float, 8, 0, 0, 0, 8, 0)
SIMT_TILE_ROW(tile_f16, float, 16 | 32, 16, 32 | 64, 32, 16, 32)
SIMT_TILE_ROW(tile_bf16, float, 8 | 16 | 32, 16, 32 | 64, 32, 16, 32)
SIMT_TILE_ROW(tile_f16, tile_f16, 0, 16, 0, 0, 16, 32)
SIMT_TILE_ROW(tile_bf16, tile_bf16, 0, 16, 0, 0, 0, 32)
SIMT_TILE_ROW(tile_e4m3, float, 32 | 128, 16, 128, 32, 32, 64 | 128)
SIMT_TILE_ROW(tile_e5m2, float, 32 | 128, 16, 128, 32, 32, 64 | 128)
SIMT_TILE_ROW(tile_e4m3fnuz, float, 32, 0, 64, 0, 0, 0)
SIMT_TILE_ROW(tile_e5m2fnuz, float, 32, 0, 64, 0, 0, 0)
SIMT_TILE_ROW(tile_e2m3, float, 128, 0, 0, 0, 0, 128)
SIMT_TILE_ROW(tile_e3m2, float, 128, 0, 0, 0, 0, 128)
SIMT_TILE_ROW(tile_e2m1, float, 128, 0, 0, 0, 0, 128)
SIMT_TILE_ROW(tile_i8, int32_t, 16 | 32 | 64, 16, 64 | 128, 32, 32, 64)
SIMT_TILE_ROW(tile_i4, int32_t, 0, 16 | 32, 0, 0, 64, 0)

template <int m, int n, int k, class in, class out, int sparse> struct simt_tile_has {
    typedef simt_tile_depths<in, out> depths;
    static constexpr int depth_at_16 = k * m / 16;
    static constexpr bool is_power = (depth_at_16 & (depth_at_16 - 1)) == 0;
    static constexpr bool mfma = m == n && (m == 16 || (m == 32 && in::bits < 64)) && is_power &&
                                 ((sparse == 2 ? depths::smfmac : depths::mfma) & depth_at_16) != 0;
    static constexpr bool wmma =
        m == 16 && n == 16 && is_power && ((sparse == 2 ? depths::swmmac : depths::wmma) & k) != 0;
    static constexpr bool nvidia = m == 16 && n == 16 && sparse == 1 && depths::nvidia == k;
    static constexpr bool gfx1250 = m == 16 && n == 16 && sparse == 1 && is_power && (depths::gfx1250 & k) != 0;
    static constexpr bool value = SIMT_TILE_LAYOUT == SIMT_TILE_NVIDIA    ? nvidia
                                  : SIMT_TILE_LAYOUT == SIMT_TILE_GFX1250 ? gfx1250
                                  : ROOFTILE_WAVE == 64                   ? mfma
                                                                          : wmma;
};

/* A fragment as words that wave operations can move. */
template <class fragment_t> struct simt_tile_words {
    static constexpr int count = (sizeof(fragment_t) + 7) / 8;
    uint64_t at[count];
};

/* Collects all lanes' elements of A or B into a row-major matrix. */
template <class tile_t, bool is_a, class fragment_t, class in_t>
__device__ void simt_tile_gather(in_t *matrix, fragment_t fragment, simt_place simt_at) const
{
    simt_tile_words<fragment_t> words = {};
    __builtin_memcpy(words.at, &fragment, sizeof(fragment));
    constexpr int count = is_a ? tile_t::a_count : tile_t::b_count;
    constexpr int per_word = static_cast<int>(sizeof(uint64_t) / sizeof(in_t));
    for (int w = 0; w < words.count; ++w) {
        const struct simt_exchange *const exchange = simt_wave(words.at[w], simt_at);
        for (unsigned lane = 0; lane < ROOFTILE_WAVE; ++lane) {
            const bool active = exchange->active >> lane & 1u;
            const uint64_t word = active ? exchange->slot[lane] : uint64_t(SIMT_POISON) << 32 | SIMT_POISON;
            in_t elements[per_word];
            __builtin_memcpy(elements, &word, sizeof(elements));
            for (int i = 0; i < per_word && w * per_word + i < count; ++i) {
                const unsigned e = static_cast<unsigned>(w * per_word + i);
                if constexpr (is_a)
                    matrix[simt_tile_a_row<tile_t>(lane, e) * tile_t::a_depth + simt_tile_a_k<tile_t>(lane, e)] =
                        elements[i];
                else
                    matrix[simt_tile_b_k<tile_t>(lane, e) * tile_t::n + simt_tile_b_column<tile_t>(lane, e)] =
                        elements[i];
            }
        }
    }
}

/* Number `at` of those that lie along k from `from` on, `stride` elements apart. Sums of whole numbers are unsigned, to
 * wrap. */
template <class in>
__device__ static auto simt_tile_element_at(const typename in::type *from, unsigned stride, unsigned at)
{
    if constexpr (in::bits % 8 != 0) {
        const unsigned bit = at * in::bits, low = from[bit / 8 * stride];
        const unsigned both = low | (bit % 8 + in::bits > 8 ? from[(bit / 8 + 1) * stride] : 0u) << 8;
        const auto number = simt_tile_number(in(), both >> bit % 8 & ((1u << in::bits) - 1));
        if constexpr (in::mantissa == 0)
            return static_cast<uint32_t>(number);
        else
            return number;
    } else if constexpr (in::bits == 8 && in::mantissa == 0) {
        return static_cast<uint32_t>(from[at * stride]);
    } else {
        return simt_tile_number(in(), from[at * stride]);
    }
}

/* Adds to an element of C, in its own type. */
template <class tile_t, class sum_t>
__device__ static typename tile_t::acc_t simt_tile_add(typename tile_t::acc_t c, sum_t sum)
{
    typedef typename tile_t::out out;
    if constexpr (sizeof(typename tile_t::acc_t) == 2)
        return tile_encode<out>(tile_decode<out>(c) + sum);
    else
        return static_cast<typename tile_t::acc_t>(sum + static_cast<sum_t>(c));
}

/* Of sparse A: the positions of what is there among every four of k, row by row, as A itself lies. */
template <class tile_t>
__device__ void simt_tile_positions(uint8_t *positions, uint32_t index, simt_place simt_at) const
{
    const struct simt_exchange *const exchange = simt_wave(index, simt_at);
    for (unsigned lane = 0; lane < ROOFTILE_WAVE; ++lane) {
        const unsigned bits = static_cast<unsigned>(exchange->active >> lane & 1u ? exchange->slot[lane] : SIMT_POISON);
        for (unsigned e = 0; e < tile_t::a_count; ++e)
            positions[simt_tile_a_row<tile_t>(lane, e) * tile_t::a_depth + simt_tile_a_k<tile_t>(lane, e)] =
                bits >> (2 * e % 32) & 3;
    }
}

template <class tile_t>
__device__ typename tile_t::c_t tile_mma(typename tile_t::a_t a, uint32_t index, typename tile_t::b_t b,
    typename tile_t::c_t c, simt_place simt_at = SIMT_HERE) const
{
    static_assert(tile_t::supported, "the target has no such matrix instruction: ask tile_supported");
    if (!simt_self) {
        simt_mark_site();
        return c;
    }
    typedef typename tile_t::in in;
    typename tile_t::in_t left[tile_t::m * tile_t::a_depth], right[tile_t::b_depth * tile_t::n];
    uint8_t positions[tile_t::sparse == 2 ? tile_t::m * tile_t::a_depth : 1] = {};
    simt_tile_gather<tile_t, true>(left, a, simt_at);
    simt_tile_gather<tile_t, false>(right, b, simt_at);
    if constexpr (tile_t::sparse == 2)
        simt_tile_positions<tile_t>(positions, index, simt_at);
    constexpr unsigned terms = tile_t::k / tile_t::sparse;
    for (unsigned e = 0; e < tile_t::c_count; ++e) {
        const unsigned row = tile_c_row<tile_t>(e), column = tile_c_column<tile_t>(e);
        decltype(simt_tile_element_at<in>(left, 1, 0)) sum = 0;
        for (unsigned i = 0; i < terms; ++i) {
            const unsigned k = tile_t::sparse == 2 ? i / 2 * 4 + positions[row * terms + i] : i;
            sum += simt_tile_element_at<in>(left + row * tile_t::a_depth, 1, i) *
                   simt_tile_element_at<in>(right + column, tile_t::n, k);
        }
        c[e] = simt_tile_add<tile_t>(c[e], sum);
    }
    return c;
}

template <class tile_t>
__device__ typename tile_t::c_t tile_mma(
    typename tile_t::a_t a, typename tile_t::b_t b, typename tile_t::c_t c, simt_place simt_at = SIMT_HERE) const
{
    static_assert(tile_t::sparse == 1, "a sparse A needs its index");
    return tile_mma<tile_t>(a, 0u, b, c, simt_at);
}
