/* SPDX-License-Identifier: MIT
 *
 * Dot products of packed words on the CPU device. Included once, inside `struct simt` by simt_cpu.h; so no include
 * guard and nothing but __device__ functions. Private: see portable.h for the contract.
 */

template <class pack_t> __device__ static pack_t dot_i4(pack_t acc, pack_t a, pack_t b)
{
    for (unsigned word = 0; word < sizeof(pack_t) / 4; ++word)
        for (unsigned shift = 0; shift < 32; shift += 4)
            acc[word] += static_cast<uint32_t>(
                (static_cast<int32_t>(a[word] << shift) >> 28) * (static_cast<int32_t>(b[word] << shift) >> 28));
    return acc;
}

/* The exponent is moved to f32's bias by a multiplication, which is exact for denormals too. */
__device__ static float simt_from_f16(uint32_t bits)
{
    const float size = __builtin_bit_cast(float, (bits & 0x7fffu) << 13) * 0x1p112f;
    return bits & 0x8000u ? -size : size;
}

template <class sum_t, class pack_t> __device__ static sum_t dot_f16(sum_t acc, pack_t a, pack_t b)
{
    for (unsigned word = 0; word < sizeof(pack_t) / 4; ++word)
        acc[word] += simt_from_f16(a[word]) * simt_from_f16(b[word]) +
                     simt_from_f16(a[word] >> 16) * simt_from_f16(b[word] >> 16);
    return acc;
}

/* Assembly, because compilers disagree on the types of these builtins. */
#if defined(__AVX512VNNI__) && defined(__AVX512VL__)
template <class pack_t> __device__ static pack_t dot_i8(pack_t acc, pack_t a, pack_t b)
{
    static_assert(sizeof(pack_t) >= 16, "a dot product takes a vector register");
    asm("vpdpbusd %2, %1, %0" : "+v"(acc) : "v"(a), "v"(b));
    return acc;
}
#endif
#if defined(__AVX512BF16__) && defined(__AVX512VL__)
template <class sum_t, class pack_t> __device__ static sum_t dot_bf16(sum_t acc, pack_t a, pack_t b)
{
    static_assert(sizeof(pack_t) >= 16 && sizeof(sum_t) == sizeof(pack_t), "a dot product takes a vector register");
    asm("vdpbf16ps %2, %1, %0" : "+v"(acc) : "v"(a), "v"(b));
    return acc;
}
#endif
