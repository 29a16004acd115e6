/* SPDX-License-Identifier: MIT
 *
 * tile.h on AMD GPUs: which matrix instructions the target has, and tile_mma. Private: the contract is in tile.h.
 */
#if defined(TILE_LAYOUT) && TILE_LAYOUT
#error "TILE_LAYOUT is for the CPU device: here the hardware decides"
#endif

#define SIMT_TILE_CONST

/* A C of f16 takes a whole register per element on gfx11, where the instruction leaves the upper half alone. */
template <class acc_t> struct simt_tile_c_element {
    typedef acc_t type;
};
#if defined(__GFX11__)
template <> struct simt_tile_c_element<uint16_t> {
    typedef uint32_t type;
};
#endif
#define SIMT_TILE_SUM(acc_t) typename simt_tile_c_element<acc_t>::type

#if defined(__GFX11__)
#define SIMT_TILE_LAYOUT SIMT_TILE_GFX11
#define SIMT_TILE_INPUT_LANES 16 /* the other 16 hold copies */
#define SIMT_TILE_RUN(count, bytes) (count)
#elif defined(__gfx1250__) || defined(__gfx1251__)
#define SIMT_TILE_LAYOUT SIMT_TILE_GFX1250
#define SIMT_TILE_INPUT_LANES 32
#define SIMT_TILE_RUN(count, bytes) (count)
#elif defined(__GFX12__)
#define SIMT_TILE_LAYOUT SIMT_TILE_GFX12
#define SIMT_TILE_INPUT_LANES 32
#define SIMT_TILE_RUN(count, bytes) (8 / (bytes) < (count) ? 8 / (bytes) : (count))
#else
#define SIMT_TILE_LAYOUT SIMT_TILE_MFMA
#define SIMT_TILE_INPUT_LANES 64
#define SIMT_TILE_RUN(count, bytes) (count)
#endif

/* Converts to whatever type of the same size a builtin takes: vectors of short, __bf16 or _Float16, int, long. That
 * differs between versions of LLVM. */
template <class vector_t> struct simt_tile_operand {
    vector_t value;
    template <class type_t> __device__ operator type_t() const { return __builtin_bit_cast(type_t, value); }
};

/* The scaled instructions take 32 bytes of each lane, 64 on gfx1250; narrow types do not fill them. */
typedef int simt_tile_wide_t __attribute__((ext_vector_type(8)));
typedef int simt_tile_wider_t __attribute__((ext_vector_type(16)));
template <class wide_t = simt_tile_wide_t, class vector_t>
__device__ static inline wide_t simt_tile_wide(vector_t value)
{
    wide_t wide = {};
    __builtin_memcpy(&wide, &value, sizeof(value));
    return wide;
}

template <int m, int n, int k, class in, class out, int sparse> struct simt_tile_has {
    static constexpr bool value = false;
};

#define SIMT_TILE_ROW(m, n, k, in, out, sparse, call)                                                                  \
    template <> struct simt_tile_has<m, n, k, in, out, sparse> {                                                       \
        static constexpr bool value = true;                                                                            \
        template <class a_t, class b_t, class c_t>                                                                     \
        __device__ static inline c_t mma(                                                                              \
            simt_tile_operand<a_t> a, simt_tile_operand<b_t> b, simt_tile_operand<c_t> c, int index)                   \
        {                                                                                                              \
            (void)index;                                                                                               \
            return __builtin_bit_cast(c_t, call);                                                                      \
        }                                                                                                              \
    };
#define SIMT_TILE_MFMA_ROW(m, n, k, in, out, name)                                                                     \
    SIMT_TILE_ROW(m, n, k, in, out, 1, __builtin_amdgcn_mfma_##name(a, b, c, 0, 0, 0))
#define SIMT_TILE_SMFMAC_ROW(m, n, k, in, out, name)                                                                   \
    SIMT_TILE_ROW(m, n, k, in, out, 2, __builtin_amdgcn_smfmac_##name(a, b, c, index, 0, 0))
/* `number` is the format of A and of B. Scales are 2^(127 - 127), in the first byte of a register. */
#define SIMT_TILE_SCALED_ROWS(in, number)                                                                              \
    SIMT_TILE_ROW(16, 16, 128, in, float, 1,                                                                           \
        __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(                                                              \
            simt_tile_wide(a.value), simt_tile_wide(b.value), c, number, number, 0, 127, 0, 127))                      \
    SIMT_TILE_ROW(32, 32, 64, in, float, 1,                                                                            \
        __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(                                                               \
            simt_tile_wide(a.value), simt_tile_wide(b.value), c, number, number, 0, 127, 0, 127))
/* On gfx1250 the instructions have modifiers, all of them off here: the signs of A and B, that of C, what to keep. */
#define SIMT_TILE_WMMA_MODIFIED_ROW(k, in, out, name)                                                                  \
    SIMT_TILE_ROW(16, 16, k, in, out, 1, __builtin_amdgcn_wmma_##name(false, a, false, b, 0, c, false, false))
#define SIMT_TILE_WMMA_BYTES_ROW(k, in, name)                                                                          \
    SIMT_TILE_ROW(16, 16, k, in, float, 1, __builtin_amdgcn_wmma_f32_16x16x##name(a, b, 0, c, false, false))
#define SIMT_TILE_WMMA_NARROW_ROW(in, number)                                                                          \
    SIMT_TILE_ROW(16, 16, 128, in, float, 1,                                                                           \
        __builtin_amdgcn_wmma_f32_16x16x128_f8f6f4(number, simt_tile_wide<simt_tile_wider_t>(a.value), number,         \
            simt_tile_wide<simt_tile_wider_t>(b.value), 0, c))
#define SIMT_TILE_WMMA_ROW(in, name)                                                                                   \
    SIMT_TILE_ROW(16, 16, 16, in, float, 1, __builtin_amdgcn_wmma_f32_16x16x16_##name(a, b, c))
#define SIMT_TILE_WMMA_WHOLE_ROW(k, in, name)                                                                          \
    SIMT_TILE_ROW(16, 16, k, in, int32_t, 1, __builtin_amdgcn_wmma_i32_16x16x##name(true, a, true, b, c, false))
#define SIMT_TILE_SWMMAC_ROW(in, name)                                                                                 \
    SIMT_TILE_ROW(16, 16, 32, in, float, 2, __builtin_amdgcn_swmmac_f32_16x16x32_##name(a, b, c, index))

#if defined(__gfx940__) || defined(__gfx941__) || defined(__gfx942__)
#define SIMT_TILE_GFX94X 1
#else
#define SIMT_TILE_GFX94X 0
#endif
#if defined(__gfx950__)
#define SIMT_TILE_GFX950 1
#else
#define SIMT_TILE_GFX950 0
#endif
#if defined(__gfx90a__) || SIMT_TILE_GFX94X || SIMT_TILE_GFX950
#define SIMT_TILE_GFX90A 1
#else
#define SIMT_TILE_GFX90A 0
#endif

#if defined(__gfx908__) || SIMT_TILE_GFX90A
SIMT_TILE_MFMA_ROW(16, 16, 4, tile_f32, float, f32_16x16x4f32)
SIMT_TILE_MFMA_ROW(32, 32, 2, tile_f32, float, f32_32x32x2f32)
SIMT_TILE_MFMA_ROW(16, 16, 16, tile_f16, float, f32_16x16x16f16)
SIMT_TILE_MFMA_ROW(32, 32, 8, tile_f16, float, f32_32x32x8f16)
#endif
#if defined(__gfx908__)
SIMT_TILE_MFMA_ROW(16, 16, 8, tile_bf16, float, f32_16x16x8bf16)
SIMT_TILE_MFMA_ROW(32, 32, 4, tile_bf16, float, f32_32x32x4bf16)
#endif
#if defined(__gfx908__) || defined(__gfx90a__)
SIMT_TILE_MFMA_ROW(16, 16, 16, tile_i8, int32_t, i32_16x16x16i8)
SIMT_TILE_MFMA_ROW(32, 32, 8, tile_i8, int32_t, i32_32x32x8i8)
#endif
#if SIMT_TILE_GFX90A
SIMT_TILE_MFMA_ROW(16, 16, 16, tile_bf16, float, f32_16x16x16bf16_1k)
SIMT_TILE_MFMA_ROW(32, 32, 8, tile_bf16, float, f32_32x32x8bf16_1k)
SIMT_TILE_MFMA_ROW(16, 16, 4, tile_f64, double, f64_16x16x4f64)
#endif
#if SIMT_TILE_GFX94X
SIMT_TILE_MFMA_ROW(16, 16, 8, tile_xf32, float, f32_16x16x8_xf32)
SIMT_TILE_MFMA_ROW(32, 32, 4, tile_xf32, float, f32_32x32x4_xf32)
SIMT_TILE_MFMA_ROW(16, 16, 32, tile_e4m3fnuz, float, f32_16x16x32_fp8_fp8)
SIMT_TILE_MFMA_ROW(32, 32, 16, tile_e4m3fnuz, float, f32_32x32x16_fp8_fp8)
SIMT_TILE_MFMA_ROW(16, 16, 32, tile_e5m2fnuz, float, f32_16x16x32_bf8_bf8)
SIMT_TILE_MFMA_ROW(32, 32, 16, tile_e5m2fnuz, float, f32_32x32x16_bf8_bf8)
#endif
#if SIMT_TILE_GFX94X || SIMT_TILE_GFX950
SIMT_TILE_MFMA_ROW(16, 16, 32, tile_i8, int32_t, i32_16x16x32_i8)
SIMT_TILE_MFMA_ROW(32, 32, 16, tile_i8, int32_t, i32_32x32x16_i8)
#endif
#if SIMT_TILE_GFX94X
SIMT_TILE_SMFMAC_ROW(16, 16, 32, tile_f16, float, f32_16x16x32_f16)
SIMT_TILE_SMFMAC_ROW(32, 32, 16, tile_f16, float, f32_32x32x16_f16)
SIMT_TILE_SMFMAC_ROW(16, 16, 32, tile_bf16, float, f32_16x16x32_bf16)
SIMT_TILE_SMFMAC_ROW(32, 32, 16, tile_bf16, float, f32_32x32x16_bf16)
SIMT_TILE_SMFMAC_ROW(16, 16, 64, tile_i8, int32_t, i32_16x16x64_i8)
SIMT_TILE_SMFMAC_ROW(32, 32, 32, tile_i8, int32_t, i32_32x32x32_i8)
SIMT_TILE_SMFMAC_ROW(16, 16, 64, tile_e4m3fnuz, float, f32_16x16x64_fp8_fp8)
SIMT_TILE_SMFMAC_ROW(32, 32, 32, tile_e4m3fnuz, float, f32_32x32x32_fp8_fp8)
SIMT_TILE_SMFMAC_ROW(16, 16, 64, tile_e5m2fnuz, float, f32_16x16x64_bf8_bf8)
SIMT_TILE_SMFMAC_ROW(32, 32, 32, tile_e5m2fnuz, float, f32_32x32x32_bf8_bf8)
#endif
#if SIMT_TILE_GFX950 /* the 8-bit formats of the same builtins are OCP's here */
SIMT_TILE_MFMA_ROW(16, 16, 32, tile_e4m3, float, f32_16x16x32_fp8_fp8)
SIMT_TILE_MFMA_ROW(32, 32, 16, tile_e4m3, float, f32_32x32x16_fp8_fp8)
SIMT_TILE_MFMA_ROW(16, 16, 32, tile_e5m2, float, f32_16x16x32_bf8_bf8)
SIMT_TILE_MFMA_ROW(32, 32, 16, tile_e5m2, float, f32_32x32x16_bf8_bf8)
SIMT_TILE_MFMA_ROW(16, 16, 32, tile_f16, float, f32_16x16x32_f16)
SIMT_TILE_MFMA_ROW(32, 32, 16, tile_f16, float, f32_32x32x16_f16)
SIMT_TILE_MFMA_ROW(16, 16, 32, tile_bf16, float, f32_16x16x32_bf16)
SIMT_TILE_MFMA_ROW(32, 32, 16, tile_bf16, float, f32_32x32x16_bf16)
SIMT_TILE_MFMA_ROW(16, 16, 64, tile_i8, int32_t, i32_16x16x64_i8)
SIMT_TILE_MFMA_ROW(32, 32, 32, tile_i8, int32_t, i32_32x32x32_i8)
SIMT_TILE_SCALED_ROWS(tile_e4m3, 0)
SIMT_TILE_SCALED_ROWS(tile_e5m2, 1)
SIMT_TILE_SCALED_ROWS(tile_e2m3, 2)
SIMT_TILE_SCALED_ROWS(tile_e3m2, 3)
SIMT_TILE_SCALED_ROWS(tile_e2m1, 4)
SIMT_TILE_SMFMAC_ROW(16, 16, 64, tile_f16, float, f32_16x16x64_f16)
SIMT_TILE_SMFMAC_ROW(32, 32, 32, tile_f16, float, f32_32x32x32_f16)
SIMT_TILE_SMFMAC_ROW(16, 16, 64, tile_bf16, float, f32_16x16x64_bf16)
SIMT_TILE_SMFMAC_ROW(32, 32, 32, tile_bf16, float, f32_32x32x32_bf16)
SIMT_TILE_SMFMAC_ROW(16, 16, 128, tile_i8, int32_t, i32_16x16x128_i8)
SIMT_TILE_SMFMAC_ROW(32, 32, 64, tile_i8, int32_t, i32_32x32x64_i8)
SIMT_TILE_SMFMAC_ROW(16, 16, 128, tile_e4m3, float, f32_16x16x128_fp8_fp8)
SIMT_TILE_SMFMAC_ROW(32, 32, 64, tile_e4m3, float, f32_32x32x64_fp8_fp8)
SIMT_TILE_SMFMAC_ROW(16, 16, 128, tile_e5m2, float, f32_16x16x128_bf8_bf8)
SIMT_TILE_SMFMAC_ROW(32, 32, 64, tile_e5m2, float, f32_32x32x64_bf8_bf8)
#endif
#if defined(__GFX11__) && ROOFTILE_WAVE == 32
SIMT_TILE_WMMA_ROW(tile_f16, f16_w32)
SIMT_TILE_WMMA_ROW(tile_bf16, bf16_w32)
SIMT_TILE_WMMA_WHOLE_ROW(16, tile_i8, 16_iu8_w32)
SIMT_TILE_WMMA_WHOLE_ROW(16, tile_i4, 16_iu4_w32)
SIMT_TILE_ROW(16, 16, 16, tile_f16, tile_f16, 1, __builtin_amdgcn_wmma_f16_16x16x16_f16_w32(a, b, c, false))
SIMT_TILE_ROW(16, 16, 16, tile_bf16, tile_bf16, 1, __builtin_amdgcn_wmma_bf16_16x16x16_bf16_w32(a, b, c, false))
#endif
#if defined(__GFX12__) && ROOFTILE_WAVE == 32 && __has_builtin(__builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12)
SIMT_TILE_WMMA_ROW(tile_f16, f16_w32_gfx12)
SIMT_TILE_WMMA_ROW(tile_bf16, bf16_w32_gfx12)
SIMT_TILE_WMMA_ROW(tile_e4m3, fp8_fp8_w32_gfx12)
SIMT_TILE_WMMA_ROW(tile_e5m2, bf8_bf8_w32_gfx12)
SIMT_TILE_WMMA_WHOLE_ROW(16, tile_i8, 16_iu8_w32_gfx12)
SIMT_TILE_WMMA_WHOLE_ROW(16, tile_i4, 16_iu4_w32_gfx12)
SIMT_TILE_WMMA_WHOLE_ROW(32, tile_i4, 32_iu4_w32_gfx12)
SIMT_TILE_ROW(16, 16, 16, tile_f16, tile_f16, 1, __builtin_amdgcn_wmma_f16_16x16x16_f16_w32_gfx12(a, b, c))
SIMT_TILE_ROW(16, 16, 16, tile_bf16, tile_bf16, 1, __builtin_amdgcn_wmma_bf16_16x16x16_bf16_w32_gfx12(a, b, c))
SIMT_TILE_SWMMAC_ROW(tile_f16, f16_w32)
SIMT_TILE_SWMMAC_ROW(tile_bf16, bf16_w32)
SIMT_TILE_SWMMAC_ROW(tile_e4m3, fp8_fp8_w32)
SIMT_TILE_SWMMAC_ROW(tile_e5m2, bf8_bf8_w32)
SIMT_TILE_ROW(
    16, 16, 32, tile_i8, int32_t, 2, __builtin_amdgcn_swmmac_i32_16x16x32_iu8_w32(true, a, true, b, c, index, false))
#endif

#if SIMT_TILE_LAYOUT == SIMT_TILE_GFX1250 && __has_builtin(__builtin_amdgcn_wmma_f32_16x16x32_f16)
SIMT_TILE_WMMA_MODIFIED_ROW(4, tile_f32, float, f32_16x16x4_f32)
SIMT_TILE_WMMA_MODIFIED_ROW(32, tile_f16, float, f32_16x16x32_f16)
SIMT_TILE_WMMA_MODIFIED_ROW(32, tile_bf16, float, f32_16x16x32_bf16)
SIMT_TILE_WMMA_MODIFIED_ROW(32, tile_f16, tile_f16, f16_16x16x32_f16)
SIMT_TILE_WMMA_MODIFIED_ROW(32, tile_bf16, tile_bf16, bf16_16x16x32_bf16)
SIMT_TILE_WMMA_BYTES_ROW(64, tile_e4m3, 64_fp8_fp8)
SIMT_TILE_WMMA_BYTES_ROW(64, tile_e5m2, 64_bf8_bf8)
SIMT_TILE_WMMA_BYTES_ROW(128, tile_e4m3, 128_fp8_fp8)
SIMT_TILE_WMMA_BYTES_ROW(128, tile_e5m2, 128_bf8_bf8)
SIMT_TILE_ROW(
    16, 16, 64, tile_i8, int32_t, 1, __builtin_amdgcn_wmma_i32_16x16x64_iu8(true, a, true, b, c, false, false))
SIMT_TILE_WMMA_NARROW_ROW(tile_e2m3, 2)
SIMT_TILE_WMMA_NARROW_ROW(tile_e3m2, 3)
SIMT_TILE_WMMA_NARROW_ROW(tile_e2m1, 4)
#endif

/* Keeps a WMMA where all lanes are active, see SIMT_HERE. MFMA stays there by itself, and its C may be in AGPRs. */
template <class c_t> __device__ static inline c_t simt_tile_here(c_t c)
{
#if defined(__GFX11__) || defined(__GFX12__)
    typedef int words_t __attribute__((ext_vector_type(sizeof(c_t) / 4)));
    words_t words = __builtin_bit_cast(words_t, c);
    SIMT_HERE(words);
    return __builtin_bit_cast(c_t, words);
#else
    return c;
#endif
}

template <class tile_t>
__device__ static inline typename tile_t::c_t simt_tile_product(
    typename tile_t::a_t a, uint32_t index, typename tile_t::b_t b, typename tile_t::c_t c)
{
    static_assert(tile_t::supported, "the target has no such matrix instruction: ask tile_supported");
    return tile_t::has::mma(simt_tile_operand<typename tile_t::a_t>{a}, simt_tile_operand<typename tile_t::b_t>{b},
        simt_tile_operand<typename tile_t::c_t>{c}, static_cast<int>(index));
}

template <class tile_t>
__device__ static inline typename tile_t::c_t tile_mma(
    typename tile_t::a_t a, uint32_t index, typename tile_t::b_t b, typename tile_t::c_t c)
{
    return simt_tile_here(simt_tile_product<tile_t>(a, index, b, c));
}

template <class tile_t>
__device__ static inline typename tile_t::c_t tile_mma(
    typename tile_t::a_t a, typename tile_t::b_t b, typename tile_t::c_t c)
{
    static_assert(tile_t::sparse == 1, "a sparse A needs its index");
    return tile_mma<tile_t>(a, 0, b, c);
}
