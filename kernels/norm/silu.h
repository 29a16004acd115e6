/* SPDX-License-Identifier: MIT
 *
 * x / (1 + e^-x), the gate of SwiGLU. Include it after pack.h.
 */
/* e^-x beyond f32 is infinity, whose reciprocal is 0: a large negative gate gives -0. */
__device__ static inline float silu(float x)
{
    return x * fast_rcp(1.0f + fast_exp(-x));
}

template <unsigned count> __device__ static inline pack_floats<count> pack_silu(pack_floats<count> x)
{
    pack_floats<count> value = {};
#pragma unroll
    for (unsigned e = 0; e < count; ++e)
        value[e] = silu(x[e]);
    return value;
}
