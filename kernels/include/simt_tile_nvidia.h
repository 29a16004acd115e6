/* SPDX-License-Identifier: MIT
 *
 * tile.h on NVIDIA GPUs: tiles of 16 x 16 by two instructions of 16 x 8, mma.sync of "Parallel Thread Execution ISA"
 * 9.0 ("Matrix multiply-accumulate operation using mma instruction"). Private: the contract is in tile.h.
 *
 * In words of 32 bits all m16n8 instructions have the same fragments. With group = lane / 4 and member = lane % 4:
 *   A   a0 and a2 are of row group, a1 and a3 of row group + 8
 *   B   b0 and b1 are of column group
 *   C   c0 and c1 are of row group, c2 and c3 of row group + 8; columns 2 * member and 2 * member + 1
 * The k of a word are consecutive; from the first to the second word of a row or column it is 4 words. As k only has to
 * agree between A and B, tile.h calls the two words consecutive as well: a0, a2 and b0, b1.
 */
#if defined(TILE_LAYOUT) && TILE_LAYOUT
#error "TILE_LAYOUT is for the CPU device: here the hardware decides"
#endif

#define SIMT_TILE_LAYOUT SIMT_TILE_NVIDIA
#define SIMT_TILE_INPUT_LANES 32
#define SIMT_TILE_CONST
#define SIMT_TILE_SUM(acc_t) acc_t
#define SIMT_TILE_RUN(count, bytes) ((count) / 2)

template <int m, int n, int k, class in, class out, int sparse> struct simt_tile_has {
    static constexpr bool value = false;
};

/* `kind` is the asm constraint of C's registers. */
#define SIMT_TILE_ROW(depth, in, out, number_t, kind, words)                                                           \
    template <> struct simt_tile_has<16, 16, depth, in, out, 1> {                                                      \
        static constexpr bool value = true;                                                                            \
        template <class a_t, class b_t, class c_t> __device__ static c_t mma(a_t a, b_t b, c_t c)                      \
        {                                                                                                              \
            uint32_t x[4], y[4];                                                                                       \
            __builtin_memcpy(x, &a, sizeof(x));                                                                        \
            __builtin_memcpy(y, &b, sizeof(y));                                                                        \
            UNROLL                                                                                                     \
            for (int half = 0; half < 2; ++half) {                                                                     \
                number_t d[4] = {c[4 * half], c[4 * half + 1], c[4 * half + 2], c[4 * half + 3]};                      \
                asm volatile("mma.sync.aligned." words                                                                 \
                             " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                        \
                             : "+" kind(d[0]), "+" kind(d[1]), "+" kind(d[2]), "+" kind(d[3])                          \
                             : "r"(x[0]), "r"(x[2]), "r"(x[1]), "r"(x[3]), "r"(y[2 * half]), "r"(y[2 * half + 1]));    \
                UNROLL                                                                                                 \
                for (int e = 0; e < 4; ++e)                                                                            \
                    c[4 * half + e] = d[e];                                                                            \
            }                                                                                                          \
            return c;                                                                                                  \
        }                                                                                                              \
    };
SIMT_TILE_ROW(16, tile_f16, float, float, "f", "m16n8k16.row.col.f32.f16.f16.f32")
SIMT_TILE_ROW(16, tile_bf16, float, float, "f", "m16n8k16.row.col.f32.bf16.bf16.f32")
SIMT_TILE_ROW(8, tile_xf32, float, float, "f", "m16n8k8.row.col.f32.tf32.tf32.f32")
SIMT_TILE_ROW(32, tile_i8, int32_t, int32_t, "r", "m16n8k32.row.col.s32.s8.s8.s32")
#if SIMT_ARCH < 900 /* emulated on later ones */
SIMT_TILE_ROW(64, tile_i4, int32_t, int32_t, "r", "m16n8k64.row.col.s32.s4.s4.s32")
#endif
#if SIMT_ARCH >= 890
SIMT_TILE_ROW(32, tile_e4m3, float, float, "f", "m16n8k32.row.col.f32.e4m3.e4m3.f32")
SIMT_TILE_ROW(32, tile_e5m2, float, float, "f", "m16n8k32.row.col.f32.e5m2.e5m2.f32")
#endif

/* Accumulators of f16: two in a word. */
template <> struct simt_tile_has<16, 16, 16, tile_f16, tile_f16, 1> {
    static constexpr bool value = true;
    template <class a_t, class b_t, class c_t> __device__ static c_t mma(a_t a, b_t b, c_t c)
    {
        uint32_t x[4], y[4], d[4];
        __builtin_memcpy(x, &a, sizeof(x));
        __builtin_memcpy(y, &b, sizeof(y));
        __builtin_memcpy(d, &c, sizeof(d));
#pragma unroll
        for (int half = 0; half < 2; ++half)
            asm volatile(
                "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
                : "+r"(d[2 * half]), "+r"(d[2 * half + 1])
                : "r"(x[0]), "r"(x[2]), "r"(x[1]), "r"(x[3]), "r"(y[2 * half]), "r"(y[2 * half + 1]));
        __builtin_memcpy(&c, d, sizeof(c));
        return c;
    }
};

/* m8n8k4 of sm_80 has a quarter of the tile: A's row and B's column are lane / 4, and C's columns 2 * (lane % 4) and
 * the next. That of sm_90 has A and C as the others. */
template <> struct simt_tile_has<16, 16, 4, tile_f64, double, 1> {
    static constexpr bool value = true;
    template <class a_t, class b_t, class c_t> __device__ static c_t mma(a_t a, b_t b, c_t c)
    {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            double d[4] = {c[4 * half], c[4 * half + 1], c[4 * half + 2], c[4 * half + 3]};
#if SIMT_ARCH >= 900
            asm volatile(
                "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
                : "d"(a[0]), "d"(a[1]), "d"(b[half]));
#else
#pragma unroll
            for (int rows = 0; rows < 2; ++rows)
                asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                             : "+d"(d[2 * rows]), "+d"(d[2 * rows + 1])
                             : "d"(a[rows]), "d"(b[half]));
#endif
#pragma unroll
            for (int e = 0; e < 4; ++e)
                c[4 * half + e] = d[e];
        }
        return c;
    }
};

/* No sparse ones: tile.h cannot express the metadata layout of mma.sp.sync. */
template <class tile_t>
__device__ static inline typename tile_t::c_t tile_mma(
    typename tile_t::a_t a, uint32_t, typename tile_t::b_t b, typename tile_t::c_t c)
{
    static_assert(tile_t::supported, "the target has no such matrix instruction: ask tile_supported");
    return tile_t::has::mma(a, b, c);
}

template <class tile_t>
__device__ static inline typename tile_t::c_t tile_mma(
    typename tile_t::a_t a, typename tile_t::b_t b, typename tile_t::c_t c)
{
    static_assert(tile_t::sparse == 1, "a sparse A needs its index");
    return tile_mma<tile_t>(a, 0, b, c);
}
