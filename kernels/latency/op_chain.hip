/* SPDX-License-Identifier: MIT
 *
 * Latency and throughput of one instruction. Every lane has CHAINS values, and applies the operation to each again and
 * again: one chain shows the latency, more chains how many the unit has in flight, and more waves the same across
 * waves. An opaque value after every operation keeps the compiler from folding two of them and from changing their
 * order (not from pairing independent ones: add and mul issue in pairs on RDNA3 and later); it costs no instruction.
 * Packed values need no opaque, as there is nothing to fold. Between two dependent ones compilers for gfx940 insert an
 * s_nop, so one chain includes it, as any code that they compile does.
 *
 * The operations keep values of ordinary size however long the chain is: they are contractions with a fixed point (fma:
 * x = 2 - x / 2; exp2 of -x; sqrt; rsqrt; the sine of 1/8 - x/16 turns), or pairs that undo each other (x + 2, x + -2;
 * x * 2, x / 2; 1 / x twice; to another type and back; two . two and two . -half, which are opposite numbers). Integers
 * wrap: mad is 3 * x + c of the low 24 bits, mad32 of all, mul by 3 and by its inverse. No value is denormal, so data
 * does not influence the time.
 *
 * Clocks are read inside the kernel around loops * UNROLLED steps, few enough for a counter of 20 bits, and the
 * shortest of all phases counts: the first ones still load the loop into the instruction cache. The time of two
 * consecutive reads is subtracted. With several workgroups doing the same it measures the peak of a pipe.
 *
 * Defines: T, the type of the values; OP, the operation, step_OP below; VEC elements per operand (2: packed); CHAINS;
 * UNROLLED steps per iteration of the loop (even).
 */
#include "portable.h"

typedef typename vec<T, VEC>::type pack;

/* Start values; each chain of a lane takes the next one. */
static constexpr unsigned STARTS = 32;

struct operands {
    pack two, minus_two, half, minus_half;
};

/* Templates, because only the one that OP names has to compile for T. */
template <class pack_t> __device__ static pack_t step_fma(pack_t x, int, const operands &c)
{
    return fma(c.minus_half, x, c.two);
}

template <class pack_t> __device__ static pack_t step_add(pack_t x, int step, const operands &c)
{
    return x + (step % 2 ? c.minus_two : c.two);
}

template <class pack_t> __device__ static pack_t step_mul(pack_t x, int step, const operands &c)
{
    return x * (step % 2 ? c.half : c.two);
}

/* Of a CPU's register element by element, which its compiler joins again. */
template <float (*function)(float), class pack_t> __device__ static pack_t each(pack_t x)
{
    if constexpr (VEC == 1) {
        return function(x);
    } else {
        pack_t value = x;
#pragma unroll
        for (int e = 0; e < VEC; ++e)
            value[e] = function(x[e]);
        return value;
    }
}

template <class pack_t> __device__ static pack_t step_exp2(pack_t x, int, const operands &)
{
    return each<fast_exp2>(-x);
}

template <class pack_t> __device__ static pack_t step_exp2_log2(pack_t x, int step, const operands &)
{
    return step % 2 ? fast_log2(x) : fast_exp2(x);
}

template <class pack_t> __device__ static pack_t step_rcp(pack_t x, int, const operands &)
{
    return each<fast_rcp>(x);
}

template <class pack_t> __device__ static pack_t step_rsqrt(pack_t x, int, const operands &)
{
    return each<fast_rsqrt>(x);
}

template <class pack_t> __device__ static pack_t step_sqrt(pack_t x, int, const operands &)
{
    return each<fast_sqrt>(x);
}

template <class pack_t, class operands_t> __device__ static pack_t step_mad(pack_t x, int, const operands_t &c)
{
    return (x & 0xffffff) * (c.two & 0xffffff) + c.half;
}

template <class pack_t> __device__ static pack_t step_fma_sin(pack_t x, int step, const operands &c)
{
    return step % 2 ? fast_sin_turns(x) : fma(c.minus_half, x, c.two);
}

template <class pack_t> __device__ static pack_t step_mad32(pack_t x, int, const operands &c)
{
    return x * c.two + c.half;
}

/* The value is the accumulator; `two` and `half` are packed words. */
template <class pack_t, class operands_t> __device__ static pack_t step_dot_i8(pack_t x, int step, const operands_t &c)
{
    return dot_i8(x, c.two, step % 2 ? c.minus_half : c.two);
}

template <class pack_t, class operands_t> __device__ static pack_t step_dot_i4(pack_t x, int step, const operands_t &c)
{
    return dot_i4(x, c.two, step % 2 ? c.minus_half : c.two);
}

typedef typename vec<uint32_t, VEC>::type words;

/* 0 - half flips the sign of a pair's high half. */
template <class pack_t, class operands_t> __device__ static pack_t step_dot_f16(pack_t x, int step, const operands_t &c)
{
    return dot_f16(x, __builtin_bit_cast(words, c.two), __builtin_bit_cast(words, step % 2 ? c.minus_half : c.two));
}

template <class pack_t, class operands_t>
__device__ static pack_t step_dot_bf16(pack_t x, int step, const operands_t &c)
{
    return dot_bf16(x, __builtin_bit_cast(words, c.two), __builtin_bit_cast(words, step % 2 ? c.minus_half : c.two));
}

/* There and back: two instructions. */
template <class pack_t> __device__ static pack_t step_f32_i32(pack_t x, int, const operands &)
{
    return static_cast<pack_t>(opaque(static_cast<int32_t>(x)));
}

template <class pack_t> __device__ static pack_t step_f32_f64(pack_t x, int, const operands &)
{
    return static_cast<pack_t>(opaque(static_cast<double>(x)));
}

#if defined(__AMDGCN__) || defined(__FLT16_MANT_DIG__)
template <class pack_t> __device__ static pack_t step_f32_f16(pack_t x, int, const operands &)
{
    return static_cast<pack_t>(opaque(static_cast<float16>(x)));
}
#endif

__device__ static inline uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

extern "C" __global__ __launch_bounds__(1024) void op_chain(T *__restrict out, uint64_t *__restrict cycles,
    const T *__restrict start, T two, T half, uint32_t phases, uint32_t loops)
{
    constexpr uint64_t mask = ~static_cast<uint64_t>(0) >> (64 - cycle_counter_bits());
    const uint64_t lane = blockIdx.x * static_cast<uint64_t>(blockDim.x) + threadIdx.x;
    const operands c = {opaque(static_cast<pack>(two)), opaque(static_cast<pack>(T(0) - two)),
        opaque(static_cast<pack>(half)), opaque(static_cast<pack>(T(0) - half))};
    pack x[CHAINS];
#pragma unroll
    for (int k = 0; k < CHAINS; ++k)
        x[k] = opaque(reinterpret_cast<const pack *>(start)[(lane + k) % STARTS]);
    uint64_t shortest = mask, overhead = mask;
    __syncthreads();
#pragma unroll 1
    for (uint32_t phase = 0; phase < phases; ++phase) {
        const uint64_t before = read_cycles();
        const uint64_t begin = read_cycles();
#pragma unroll 1
        for (uint32_t loop = 0; loop < loops; ++loop) {
#pragma unroll
            for (int step = 0; step < UNROLLED; ++step) {
#pragma unroll
                for (int k = 0; k < CHAINS; ++k) {
                    x[k] = OP(x[k], step, c);
                    if constexpr (VEC == 1 || __is_integral(T))
                        x[k] = opaque(x[k]);
                }
            }
        }
        const uint64_t end = read_cycles();
        shortest = smaller(shortest, (end - begin) & mask);
        overhead = smaller(overhead, (begin - before) & mask);
    }
#pragma unroll
    for (int k = 0; k < CHAINS; ++k)
        reinterpret_cast<pack *>(out)[lane * CHAINS + k] = x[k];
    cycles[lane] = shortest > overhead ? shortest - overhead : 0;
}
