/* SPDX-License-Identifier: MIT
 *
 * Kernels with a fault on purpose, and the same without it: each round loads 16 bytes a work-item, exchanges them through LDS, and
 * computes what its family does. What explain says of the faults is tested with them.
 */
#include "portable.h"

enum family { STREAM, NORM, GEMM, ATTENTION, CONV };
enum fault { NONE, CONFLICTS, UNCOALESCED, SPILLS, CHAIN, NARROW, ATOMICS };

static constexpr unsigned WORDS = 1024; /* of LDS */
static constexpr unsigned LIVE = 24;    /* results that a lane holds at once */

struct alignas(16) four {
    float x, y, z, w;
};

template <int FAULT>
__device__ static inline four load(const float *in, unsigned mask, unsigned group, unsigned rounds, unsigned round)
{
    const unsigned lane = threadIdx.x, lanes = blockDim.x;
    const unsigned place = FAULT == UNCOALESCED ? ((group * rounds + round) * lanes + lane) * 9 : (group * rounds + round) * lanes + lane;
    four value = {0, 0, 0, 0};
    if (FAULT != NARROW)
        return reinterpret_cast<const four *>(in)[place & mask];
#pragma unroll 1
    for (unsigned part = 0; part < 4; part++)
        value.x += in[(((group * rounds + round) * 4 + part) * lanes + lane) & (4 * mask + 3)];
    return value;
}

/* Word k as this lane reads it. */
template <int FAULT> __device__ static inline float &word(float *lds, unsigned k)
{
    return lds[(FAULT == CONFLICTS ? threadIdx.x * 32 + k : threadIdx.x + k * 64) % WORDS];
}

template <int FAMILY, int FAULT> __device__ static inline void compute(float *sums, float *lds, const four &v)
{
    constexpr unsigned ROWS = FAULT == CHAIN ? 1 : 8;
    constexpr unsigned READS = FAMILY == CONV ? 9 : FAMILY == GEMM ? 16 : 4;
    if (FAMILY == STREAM) {
        sums[0] += v.x, sums[1] += v.y, sums[2] += v.z, sums[3] += v.w;
        return;
    }
    __syncthreads();
    word<FAULT>(lds, 0) = v.x + v.y + v.z + v.w;
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < READS; k++) {
        const float x = word<FAULT>(lds, k);
        const float y = FAMILY == NORM || FAMILY == ATTENTION ? __builtin_exp2f(x) : x;
#pragma unroll
        for (unsigned n = 0; n < (FAMILY == NORM ? 1 : FAMILY == CONV ? 8 : 16); n++)
            sums[(k * 8 + n) % ROWS] = __builtin_fmaf(y, v.x, sums[(k * 8 + n) % ROWS]);
    }
}

template <int FAMILY, int FAULT>
__device__ static inline void body(float *out, const float *in, unsigned mask, unsigned rounds, float *lds)
{
    const unsigned group = blockIdx.x, lane = threadIdx.x, place = group * blockDim.x + lane;
    float sums[LIVE];
#pragma unroll
    for (unsigned k = 0; k < LIVE; k++)
        sums[k] = k;
#pragma unroll 1
    for (unsigned round = 0; round < rounds; round++) {
        const four v = load<FAULT>(in, mask, group, rounds, round);
        compute<FAMILY, FAULT>(sums, lds, v);
        if (FAULT == SPILLS) /* all of them live in every round */
#pragma unroll
            for (unsigned k = 0; k < LIVE; k++)
                sums[k] = __builtin_fmaf(sums[k], v.y, v.z);
        if (FAULT == ATOMICS)
            __hip_atomic_fetch_add(out + lane * (mask >> 30), v.x, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    }
    float sum = 0;
#pragma unroll
    for (unsigned k = 0; k < LIVE; k++)
        sum += sums[k];
    out[place + 1] = sum;
}

#define ONE(family, FAMILY, fault, FAULT, attributes)                                                                  \
    extern "C" __global__ attributes void family##_##fault(float *out, const float *in, unsigned mask, unsigned rounds)               \
    {                                                                                                                  \
        DYNAMIC_SHARED(float, lds);                                                                                    \
        body<FAMILY, FAULT>(out, in, mask, rounds, lds);                                                               \
    }
#define LIMITED __attribute__((amdgpu_num_vgpr(14)))
#define ALL(family, FAMILY)                                                                                            \
    ONE(family, FAMILY, none, NONE, )                                                                                  \
    ONE(family, FAMILY, conflicts, CONFLICTS, )                                                                        \
    ONE(family, FAMILY, uncoalesced, UNCOALESCED, )                                                                    \
    ONE(family, FAMILY, spills, SPILLS, LIMITED)                                                                       \
    ONE(family, FAMILY, unspilled, SPILLS, )                                                                           \
    ONE(family, FAMILY, chain, CHAIN, )                                                                                \
    ONE(family, FAMILY, narrow, NARROW, )                                                                              \
    ONE(family, FAMILY, atomics, ATOMICS, )

ALL(stream, STREAM)
ALL(norm, NORM)
ALL(gemm, GEMM)
ALL(attention, ATTENTION)
ALL(conv, CONV)
