/* SPDX-License-Identifier: MIT
 *
 * Draws one after the other, for tests that simulate measurements.
 */
#ifndef TESTS_RANDOM_H
#define TESTS_RANDOM_H

#include <math.h>

#include "rooftile/rng.h"

/* [0, 1), a multiple of 2^-53. */
static inline double random_uniform(struct rng *rng)
{
    return (double)(int64_t)(rng_next(rng) >> 11) * 0x1p-53;
}

/* Box-Muller; 1 - u keeps the logarithm's argument above 0. */
static inline double random_normal(struct rng *rng)
{
    const double first = random_uniform(rng), second = random_uniform(rng);
    return sqrt(-2 * log(1 - first)) * cos(6.283185307179586476925286766559 * second);
}

/* Mean 0, standard deviation 1: number `index` of a seed's. */
static inline double random_normal_at(uint64_t seed, uint64_t index)
{
    double value;
    rng_normals_at(&value, seed, index, 1);
    return value;
}

#endif
