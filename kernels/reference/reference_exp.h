/* SPDX-License-Identifier: MIT
 *
 * For reference kernels: e^x in f64 for x <= 0. Kernels have no math library.
 */
#ifndef ROOFTILE_REFERENCE_EXP_H
#define ROOFTILE_REFERENCE_EXP_H

/* x = n * ln 2 + r with |r| <= 0.35, the Taylor series of e^r to the 17th power (below 1e-22), times 2^n. */
__device__ static inline double exp_exact(double x)
{
    if (x < -700.0)
        return 0.0;
    const double shifted = x * 1.4426950408889634 + 0x1.8p52, n = shifted - 0x1.8p52;
    const double r = x - n * 0x1.62e42fefa39efp-1 - n * 0x1.abc9e3b39803fp-56;
    double power = 1.0;
    for (int k = 17; k > 0; --k)
        power = 1.0 + power * r / k;
    return power * __builtin_bit_cast(double, static_cast<int64_t>(static_cast<int>(n) + 1023) << 52);
}

#endif
