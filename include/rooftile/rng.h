/* SPDX-License-Identifier: MIT
 *
 * Random numbers: seeded, equal on all machines, and addressable by index, so that fills run in parallel and single
 * elements can be recomputed. Not for secrets.
 */
#ifndef ROOFTILE_RNG_H
#define ROOFTILE_RNG_H

#include "rooftile/base.h"

/* Counter-based: value `index` of stream `seed` (splitmix64 finaliser of seed and index, Steele et al. 2014). */
uint64_t rng_at(uint64_t seed, uint64_t index);
double rng_uniform_at(uint64_t seed, uint64_t index); /* [0, 1), 53 bits */
/* values[k] is the one with index first + k, computed faster; normals have mean 0 and standard deviation 1. */
void rng_uniforms_at(double *values, uint64_t seed, uint64_t first, size_t count);
void rng_normals_at(double *values, uint64_t seed, uint64_t first, size_t count);
/* Shuffles the numbers below `limit` (1 to 2^32): values[k] is the one at position first + k. rng_cycle_at: values[k]
 * is the successor of first + k in one random cycle through all of them. Stateless: any range can be computed
 * independently. */
void rng_permuted_at(double *values, uint64_t seed, uint64_t limit, uint64_t first, size_t count);
void rng_cycle_at(double *values, uint64_t seed, uint64_t limit, uint64_t first, size_t count);

/* Sequential: xoshiro256** (Blackman and Vigna 2018). */
struct rng {
    uint64_t state[4];
};
void rng_init(struct rng *rng, uint64_t seed);
uint64_t rng_next(struct rng *rng);
uint64_t rng_below(struct rng *rng, uint64_t bound); /* [0, bound), unbiased; bound > 0 */

/* Returns a seed for a named purpose, so that streams do not overlap: hash of (seed, name). */
uint64_t rng_derive(uint64_t seed, const char *name);

#endif
