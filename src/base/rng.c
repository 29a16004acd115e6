/* SPDX-License-Identifier: MIT */
#include "rooftile/rng.h"

#include "rooftile/hash.h"
#include "rooftile/vector.h"

/* 2^64 over the golden ratio, odd: the step of splitmix64 (Steele, Lea, Flood: Fast splittable generators, 2014). */
#define GOLDEN_STEP 0x9E3779B97F4A7C15u
#define TWO_PI 6.283185307179586476925286766559

/* The finaliser of splitmix64 (Stafford's variant 13): a bijection that spreads every input bit over the output. */
static uint64_t mix(uint64_t bits)
{
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
    return bits ^ (bits >> 31);
}

/* The top 53 bits as a multiple of 2^-53: every value is exact, 1 is never reached. */
static double unit_interval(uint64_t bits)
{
    return (double)(int64_t)(bits >> 11) * 0x1p-53; /* signed: one instruction */
}

/* Box-Muller: two of them from two; 1 - u keeps the logarithm's argument above 0. */
static void normal_pair(double pair[static 2], double first, double second)
{
    const double radius = sqrt(-2 * log(1 - first));
    pair[0] = radius * cos(TWO_PI * second);
    pair[1] = radius * sin(TWO_PI * second);
}

uint64_t rng_at(uint64_t seed, uint64_t index)
{
    /* The seed is mixed first: streams of seeds that differ by a multiple of the step would be shifted copies. */
    return mix(mix(seed) + (index + 1) * GOLDEN_STEP);
}

double rng_uniform_at(uint64_t seed, uint64_t index)
{
    return unit_interval(rng_at(seed, index));
}

double rng_normal_at(uint64_t seed, uint64_t index)
{
    double pair[2];
    normal_pair(pair, rng_uniform_at(seed, index & ~1ull), rng_uniform_at(seed, index | 1));
    return pair[index & 1];
}

WIDER void rng_uniforms_at(double *values, uint64_t seed, uint64_t first, size_t count)
{
    const uint64_t mixed = mix(seed);
    for (size_t k = 0; k < count; k++)
        values[k] = unit_interval(mix(mixed + (first + k + 1) * GOLDEN_STEP));
}

void rng_normals_at(double *values, uint64_t seed, uint64_t first, size_t count)
{
    size_t k = 0;
    if (count && first & 1)
        values[k++] = rng_normal_at(seed, first);
    rng_uniforms_at(values + k, seed, first + k, (count - k) & ~(size_t)1);
    for (; k + 2 <= count; k += 2)
        normal_pair(values + k, values[k], values[k + 1]);
    if (k < count)
        values[k] = rng_normal_at(seed, first + k);
}

void rng_init(struct rng *rng, uint64_t seed)
{
    /* As the authors of xoshiro advise: splitmix64 fills the state, which is then never all zero. */
    for (unsigned i = 0; i < 4; i++)
        rng->state[i] = mix(seed + (i + 1) * GOLDEN_STEP);
}

static uint64_t rotate_left(uint64_t bits, unsigned count)
{
    return bits << count | bits >> (64 - count);
}

uint64_t rng_next(struct rng *rng)
{
    uint64_t *state = rng->state;
    const uint64_t result = rotate_left(state[1] * 5, 7) * 9;
    const uint64_t shifted = state[1] << 17;
    state[2] ^= state[0];
    state[3] ^= state[1];
    state[1] ^= state[2];
    state[0] ^= state[3];
    state[2] ^= shifted;
    state[3] = rotate_left(state[3], 45);
    return result;
}

uint64_t rng_below(struct rng *rng, uint64_t bound)
{
    /* Lemire, Fast random integer generation in an interval, 2019: refuse the few products that would be unfair. */
    const uint64_t unfair = (0 - bound) % bound;
    unsigned __int128 product;
    do {
        product = (unsigned __int128)rng_next(rng) * bound;
    } while ((uint64_t)product < unfair);
    return (uint64_t)(product >> 64);
}

uint64_t rng_derive(uint64_t seed, const char *name)
{
    return rng_at(seed, hash_u64(name, strlen(name)));
}
