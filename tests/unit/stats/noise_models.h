/* SPDX-License-Identifier: MIT
 *
 * Synthetic noise for the simulation tests, seeded, and the binomial tolerance of their counts. Everything is relative:
 * a value is ln(time). How many repetitions a test makes is its own count times `effort()`.
 */
#ifndef ROOFTILE_TESTS_NOISE_MODELS_H
#define ROOFTILE_TESTS_NOISE_MODELS_H

#include "../random.h"
#include <math.h>
#include <stdlib.h>

enum noise_model { GAUSSIAN, STUDENT_T4, GLITCH, BIMODAL, DRIFT, AR1, NOISE_MODELS };

static const char *const noise_names[] = {"gaussian", "t4", "glitch", "bimodal", "drift", "ar1"};

/* One source of noise, with what it remembers. */
struct noise_source {
    enum noise_model model;
    double sigma, level;
    struct rng *rng;
};

/* Student t with 4 degrees of freedom, scaled to sd 1. */
static inline double noise_t4(struct rng *rng)
{
    const double normal = random_normal(rng);
    double squares = 0;
    for (int k = 0; k < 4; k++) {
        const double value = random_normal(rng);
        squares += value * value;
    }
    return normal / sqrt(squares / 4) * sqrt(0.5);
}

/* The next value: glitches are +3..30 % in 3 % of the values; 30 % of the bimodal ones are four sigmas up, sd about 1;
 * a drift walks 0.15 sigma a step; AR(1) has rho 0.5. */
static inline double noise_next(struct noise_source *source)
{
    struct rng *rng = source->rng;
    const double sigma = source->sigma;
    double value;
    switch (source->model) {
    case STUDENT_T4:
        return sigma * noise_t4(rng);
    case GLITCH:
        value = sigma * random_normal(rng);
        return random_uniform(rng) < 0.03 ? value + 0.03 + 0.27 * random_uniform(rng) : value;
    case BIMODAL:
        value = 0.48 * sigma * random_normal(rng);
        return random_uniform(rng) < 0.3 ? value + 1.91 * sigma : value;
    case DRIFT:
        source->level += 0.15 * sigma * random_normal(rng);
        return source->level + sigma * random_normal(rng);
    case AR1:
        return source->level = 0.5 * source->level + sqrt(0.75) * sigma * random_normal(rng);
    default:
        return sigma * random_normal(rng);
    }
}

/* Cases of one class differ: lognormal with 0.4. */
static inline double noise_case_sigma(struct rng *rng, double typical)
{
    return typical * exp(0.4 * random_normal(rng));
}

#if defined(__SANITIZE_ADDRESS__)
#define NOISE_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define NOISE_SANITIZED 1
#endif
#endif

/* Repetitions: as given on the test's command line for runs by hand; a fifth under a sanitizer. */
static double noise_effort = 1;

static inline void noise_set_effort(int argc, char **argv)
{
#ifdef NOISE_SANITIZED
    noise_effort = 0.2;
#endif
    if (argc > 1)
        noise_effort = strtod(argv[1], NULL);
}

static inline size_t noise_repetitions(size_t count)
{
    const double repetitions = (double)count * noise_effort;
    return repetitions < 1 ? 1 : (size_t)repetitions;
}

/* More than `rate` of `count` may be by chance: 3.1 sds of the binomial, one in a thousand. */
static inline double noise_most(double rate, double count)
{
    return rate * count + 3.1 * sqrt(rate * (1 - rate) * count) + 1;
}

static inline double noise_least(double rate, double count)
{
    return rate * count - 3.1 * sqrt(rate * (1 - rate) * count) - 1;
}

#endif
