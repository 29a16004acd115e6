/* SPDX-License-Identifier: MIT
 *
 * Packs: adjacent elements in memory, of any type of tile.h that is not itself packed, as a vector of float. For
 * kernels that are bound by memory and compute in f32. Include it after tile.h.
 *
 *   pack_load<in, n>(from)          n elements as vec<float, n>: one access of n * sizeof(in::type) bytes, 16 on a GPU
 *   pack_store<in, n>(to, values)   rounded as by tile_encode
 *   pack_round<in, n>(values)       what a load would give after such a store
 *   pack_sum<n>(values)             the sum of the n elements
 *   pack_larger(a, b)               the maximum, element by element
 *
 * Pointers need the alignment of one element only: rows may have any length. Vectors are converted as a whole, so that
 * the CPU uses vector instructions for that too.
 */
#ifndef ROOFTILE_PACK_H
#define ROOFTILE_PACK_H

template <class element_t, unsigned count> struct pack_any : simt_vec_of<element_t, count> {
};
template <class element_t, unsigned count> struct pack_memory : unaligned_vec<element_t, count> {
};
template <unsigned count> using pack_floats = typename pack_any<float, count>::type;

template <class in, unsigned count>
__device__ static pack_floats<count> pack_decode(typename pack_any<typename in::type, count>::type codes)
{
    typedef pack_floats<count> floats_t;
    if constexpr (in::bits >= 32 || in::mantissa == 0) { /* f32, i8 */
        return __builtin_convertvector(codes, floats_t);
    } else if constexpr (in::mantissa == 7) { /* bf16 is the upper half of a float */
        typedef typename pack_any<uint32_t, count>::type words_t;
        return __builtin_bit_cast(floats_t, __builtin_convertvector(codes, words_t) << 16);
    } else {
#if defined(__AMDGCN__) || defined(__FLT16_MANT_DIG__)
        typedef typename pack_any<float16, count>::type halves_t;
        if constexpr (in::mantissa == 10)
            return __builtin_convertvector(__builtin_bit_cast(halves_t, codes), floats_t);
#endif
        floats_t values = {};
        if constexpr (count % 4 == 0) {
#pragma unroll
            for (unsigned e = 0; e < count; e += 4) {
                typename pack_any<typename in::type, 4>::type part;
#pragma unroll
                for (unsigned i = 0; i < 4; ++i)
                    part[i] = codes[e + i];
                const auto four = tile_decode4<in>(part);
#pragma unroll
                for (unsigned i = 0; i < 4; ++i)
                    values[e + i] = four[i];
            }
        } else {
#pragma unroll
            for (unsigned e = 0; e < count; ++e)
                values[e] = tile_decode<in>(codes[e]);
        }
        return values;
    }
}

template <class in, unsigned count>
__device__ static typename pack_any<typename in::type, count>::type pack_encode(pack_floats<count> values)
{
    typedef typename pack_any<typename in::type, count>::type codes_t;
    if constexpr (in::bits >= 32) {
        return values;
    } else if constexpr (in::mantissa == 7) {
        typedef typename pack_any<uint32_t, count>::type words_t;
        const words_t bits = __builtin_bit_cast(words_t, values);
        const words_t rounded = bits + 0x7fffu + (bits >> 16 & 1u), quiet = bits | 0x400000u;
        const auto nan = (bits & 0x7fffffffu) > 0x7f800000u;
        return __builtin_convertvector(select(nan, quiet, rounded) >> 16, codes_t);
    } else {
#if defined(__AMDGCN__) || defined(__FLT16_MANT_DIG__)
        typedef typename pack_any<float16, count>::type halves_t;
        if constexpr (in::mantissa == 10)
            return __builtin_bit_cast(codes_t, __builtin_convertvector(values, halves_t));
#endif
        codes_t codes = {};
        if constexpr (count % 4 == 0) {
#pragma unroll
            for (unsigned e = 0; e < count; e += 4) {
                const auto four =
                    tile_encode4<in>(pack_floats<4>{values[e], values[e + 1], values[e + 2], values[e + 3]});
#pragma unroll
                for (unsigned k = 0; k < 4; ++k)
                    codes[e + k] = four[k];
            }
        } else {
#pragma unroll
            for (unsigned e = 0; e < count; ++e)
                codes[e] = tile_encode<in>(values[e]);
        }
        return codes;
    }
}

template <class in, unsigned count> __device__ static pack_floats<count> pack_load(const typename in::type *from)
{
    return pack_decode<in, count>(load_unaligned<typename in::type, count>(from));
}

template <class in, unsigned count> __device__ static void pack_store(typename in::type *to, pack_floats<count> values)
{
    store_unaligned<typename in::type, count>(pack_encode<in, count>(values), to);
}

template <class in, unsigned count> __device__ static pack_floats<count> pack_round(pack_floats<count> values)
{
    return pack_decode<in, count>(pack_encode<in, count>(values));
}

template <unsigned count> __device__ static float pack_sum(pack_floats<count> values)
{
    float sum = values[0];
#pragma unroll
    for (unsigned e = 1; e < count; ++e)
        sum += values[e];
    return sum;
}

template <class floats_t> __device__ static floats_t pack_larger(floats_t a, floats_t b)
{
    return select(a > b, a, b);
}

#endif
