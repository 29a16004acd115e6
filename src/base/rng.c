/* SPDX-License-Identifier: MIT */
#include "rooftile/rng.h"

#include "rooftile/hash.h"
#include "rooftile/vector.h"
#include "rooftile/vector_math.h"

/* 2^64 divided by the golden ratio, odd: the step of splitmix64 (Steele, Lea, Flood: Fast splittable generators,
 * 2014). */
#define GOLDEN_STEP 0x9E3779B97F4A7C15u
#define TWO_PI 6.283185307179586476925286766559

enum { PAIRS = 64, ROUNDS = 6 };

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

uint64_t rng_at(uint64_t seed, uint64_t index)
{
    /* The seed is mixed first; otherwise streams whose seeds differ by a multiple of the step would be shifted
     * copies. */
    return mix(mix(seed) + (index + 1) * GOLDEN_STEP);
}

double rng_uniform_at(uint64_t seed, uint64_t index)
{
    return unit_interval(rng_at(seed, index));
}

WIDER void rng_uniforms_at(double *values, uint64_t seed, uint64_t first, size_t count)
{
    const uint64_t mixed = mix(seed);
    for (size_t k = 0; k < count; k++)
        values[k] = unit_interval(mix(mixed + (first + k + 1) * GOLDEN_STEP));
}

/* Box-Muller: values 2k and 2k + 1 are computed from the uniform values with these numbers; 1 - u keeps the logarithm's
 * argument above 0. */
void rng_normals_at(double *values, uint64_t seed, uint64_t first, size_t count)
{
    double uniform[2 * PAIRS], radius[PAIRS], turn[2][PAIRS];
    const uint64_t end = first + count;
    for (uint64_t at = first & ~(uint64_t)1; at < end; at += 2 * PAIRS) {
        const size_t pairs = end - at < 2 * PAIRS ? (size_t)(end - at + 1) / 2 : PAIRS;
        rng_uniforms_at(uniform, seed, at, 2 * pairs);
        for (size_t k = 0; k < pairs; k++) {
            radius[k] = 1 - uniform[2 * k];
            turn[0][k] = turn[1][k] = TWO_PI * uniform[2 * k + 1];
        }
        vector_logs(radius, pairs);
        vector_sines(turn[0], pairs, 1);
        vector_sines(turn[1], pairs, 0);
        for (uint64_t i = at < first ? first : at; i < end && i < at + 2 * pairs; i++)
            values[i - first] = sqrt(-2 * radius[(i - at) / 2]) * turn[i & 1][(i - at) / 2];
    }
}

/* ---- permutations ---- */

/* A permutation of k bits, 2^k >= count: each step is invertible, and high bits reach the low ones and back several
 * times. */
struct mixer {
    uint32_t mask, keys[ROUNDS], factors[ROUNDS], inverses[ROUNDS];
    unsigned shift;
};

static struct mixer mixer_of(uint64_t seed, uint64_t count)
{
    struct mixer mixer = {0};
    unsigned bits = 1;
    while (bits < 32 && (uint64_t)1 << bits < count)
        bits++;
    mixer.mask = (uint32_t)(((uint64_t)1 << bits) - 1);
    mixer.shift = (bits + 1) / 2; /* from here on, a shifted xor is its own inverse */
    for (unsigned round = 0; round < ROUNDS; round++) {
        const uint64_t drawn = rng_at(seed, round);
        uint32_t factor = (uint32_t)drawn | 1,
                 inverse = factor; /* correct in 3 bits; each Newton step doubles the number */
        for (unsigned step = 0; step < 4; step++)
            inverse *= 2 - factor * inverse;
        mixer.factors[round] = factor;
        mixer.inverses[round] = inverse;
        mixer.keys[round] = (uint32_t)(drawn >> 32);
    }
    return mixer;
}

static inline uint32_t mixed(const struct mixer *mixer, uint32_t x)
{
    for (unsigned round = 0; round < ROUNDS; round++) {
        x = (x * mixer->factors[round] + mixer->keys[round]) & mixer->mask;
        x ^= x >> mixer->shift;
    }
    return x;
}

static inline uint32_t unmixed(const struct mixer *mixer, uint32_t x)
{
    for (unsigned round = ROUNDS; round-- > 0;) {
        x ^= x >> mixer->shift;
        x = ((x - mixer->keys[round]) * mixer->inverses[round]) & mixer->mask;
    }
    return x;
}

/* Results outside the range are mixed again until they are inside, so that each number still occurs once (Black and
 * Rogaway, Ciphers with arbitrary finite domains, 2002). */
WIDER void rng_permuted_at(double *values, uint64_t seed, uint64_t limit, uint64_t first, size_t count)
{
    const struct mixer mixer = mixer_of(seed, limit);
    for (size_t k = 0; k < count; k++)
        values[k] = mixed(&mixer, (uint32_t)first + (uint32_t)k);
    for (size_t k = 0; k < count && limit <= mixer.mask; k++)
        while (values[k] >= (double)limit)
            values[k] = mixed(&mixer, (uint32_t)values[k]);
}

void rng_cycle_at(double *values, uint64_t seed, uint64_t limit, uint64_t first, size_t count)
{
    const struct mixer mixer = mixer_of(seed, limit);
    for (size_t k = 0; k < count; k++) {
        uint32_t x = (uint32_t)(first + k);
        do
            x = unmixed(&mixer, x);
        while (x >= limit);
        x = x + 1 < limit ? x + 1 : 0;
        do
            x = mixed(&mixer, x);
        while (x >= limit);
        values[k] = x;
    }
}

/* ---- sequential generator ---- */

void rng_init(struct rng *rng, uint64_t seed)
{
    /* As recommended by the authors of xoshiro, splitmix64 fills the state, which is then never all zero. */
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
    /* Lemire, Fast random integer generation in an interval, 2019: rejects the few products that would cause a bias. */
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
