/* SPDX-License-Identifier: MIT
 *
 * GEMMs of tuned libraries. A workgroup makes a tile; per step of K it loads a slice of A and of B, and multiplies:
 *     tile  = sqrt(multiply^2 + load^2) + epilogue
 *     time  = launch + sqrt((rounds * tile)^2 + memory^2) + split
 * rounds are tiles per compute unit, half way between the mean (workgroups of a next round begin where others ended)
 * and the whole number (the last ones wait). Small tiles multiply slower: the same fragments of A and B, 16 wide, serve
 * fewer instructions, and LDS must bring them. Where a unit is slow for its type (f32) that hides, and so does most of
 * the epilogue, behind other resident workgroups. Rows that are a large power of two apart fall on few channels of the
 * memory. Exponents, the share of the epilogue and of small tiles are the same for all libraries.
 */

#include "describe_internal.h"

#define FRAGMENT 16.0
#define EPILOGUE 1.5 /* stores of a tile at a compute unit's part of the memory's bandwidth */
#define SPLIT_BYTES 4.0
/* FLOP per clock and compute unit times bytes of an operand from which on small tiles wait for LDS: 2048 of bf16 on
 * CDNA 3. */
#define LDS_RATE 4096.0
/* Beyond a stride of so many bytes each doubling halves the channels that rows fall on, down to an eighth. */
#define CHANNEL_STRIDE 32768.0
#define FEWEST_CHANNELS 8.0

/* ---- tiles ---- */

/* Three numbers "AxBxC" at `at`, of which the last may be missing. */
static int numbers_at(const char *at, double values[static 4])
{
    int count = 0;
    while (count < 4 && isdigit((unsigned char)*at)) {
        char *end = NULL;
        values[count++] = (double)strtoul(at, &end, 10);
        if (*end != 'x')
            return count;
        at = end + 1;
    }
    return count;
}

static bool tile_behind(struct gemm_tile *tile, const char *kernel, const char *word)
{
    double values[4];
    const char *at = strstr(kernel, word);
    const int count = at ? numbers_at(at + strlen(word), values) : 0;
    if (count < 2 || values[0] < FRAGMENT / 2)
        return false;
    *tile = (struct gemm_tile){values[0], values[1], count > 2 ? values[2] : 128};
    return true;
}

/* "_256x64x128x128_": work-items, then the tile. */
static bool tile_behind_block(struct gemm_tile *tile, const char *kernel)
{
    double values[4];
    for (const char *at = kernel; (at = strpbrk(at, "_")) != NULL; at++) {
        const bool block = numbers_at(at + 1, values) == 4 && fmod(values[0], 64) == 0 && values[0] <= 1024;
        if (!block || values[1] < FRAGMENT / 2)
            continue;
        *tile = (struct gemm_tile){values[1], values[2], values[3]};
        return true;
    }
    return false;
}

/* Three numbers between underscores. */
static bool tile_alone(struct gemm_tile *tile, const char *kernel)
{
    double values[4];
    for (const char *at = kernel; (at = strpbrk(at, "_")) != NULL; at++) {
        if (numbers_at(at + 1, values) != 3 || values[0] < FRAGMENT || values[1] < FRAGMENT || values[2] < FRAGMENT)
            continue;
        *tile = (struct gemm_tile){values[0], values[1], values[2]};
        return true;
    }
    return false;
}

bool gemm_tile_of_name(struct gemm_tile *tile, const char *kernel)
{
    static const char *const words[] = {"BpreShuffle_", "_tn_", "bf16_t"};
    struct gemm_tile found;
    if (tile_behind(&found, kernel, "MT")) { /* Tensile: columns first */
        *tile = (struct gemm_tile){found.n, found.m, found.k};
        return true;
    }
    for (size_t k = 0; k < sizeof(words) / sizeof(*words); k++)
        if (tile_behind(tile, kernel, words[k]))
            return true;
    return tile_behind_block(tile, kernel) || tile_alone(tile, kernel);
}

/* ---- one tile and split ---- */

struct gemm_time {
    double multiply_us, load_us, tile_us, memory_us, split_us;
    double total_us;
};

/* How many times fewer channels than all serve rows that are so far apart. */
static double channel_conflict(double stride_bytes)
{
    double conflict = 1;
    while (conflict < FEWEST_CHANNELS && fmod(stride_bytes, 2 * conflict * CHANNEL_STRIDE) == 0)
        conflict *= 2;
    return conflict;
}

static struct gemm_time gemm_time(const struct described *gemm, const struct described_machine *on, double peak_us,
                                  const double *constants, struct gemm_tile tile, double split)
{
    const double share_us = on->memory_bytes_us / on->cus, k = gemm->k / split;
    const double groups = ceil(gemm->m / tile.m) * ceil(gemm->n / tile.n) * fmax(1, gemm->batch) * split;
    const double rounds = fmax(1, (groups / on->cus + ceil(groups / on->cus)) / 2);
    const double exposed = fmin(1, peak_us / on->cus / on->clock_mhz * gemm->in_bytes / LDS_RATE);
    const double small = 1 + exposed * (FRAGMENT / tile.m + FRAGMENT / tile.n);
    const double bytes =
        fmax(1, gemm->batch) * ((gemm->m + gemm->n) * gemm->k * gemm->in_bytes + gemm->m * gemm->n * gemm->out_bytes +
                                (split > 1 ? split * gemm->m * gemm->n * SPLIT_BYTES : 0));
    struct gemm_time time = {
        .multiply_us = rounds * k * tile.m * tile.n * 2 / (peak_us / on->cus) * constants[CONSTANT_MATRIX] * small,
        .load_us = rounds * k * (tile.m + tile.n) * gemm->in_bytes / share_us * constants[CONSTANT_LOAD] *
                   channel_conflict(gemm->k * gemm->in_bytes),
        .tile_us =
            rounds * (tile.m * tile.n * gemm->out_bytes / share_us * EPILOGUE * exposed + constants[CONSTANT_TILE_US]),
        .memory_us = bytes / on->memory_bytes_us * constants[CONSTANT_MEMORY],
        .split_us = split > 1 ? constants[CONSTANT_SPLIT_US] : 0,
    };
    const double tiles_us = sqrt(time.multiply_us * time.multiply_us + time.load_us * time.load_us) + time.tile_us;
    time.total_us = constants[CONSTANT_LAUNCH_US] + describe_join(tiles_us, time.memory_us, 0, 2) + time.split_us;
    return time;
}

/* A library whose kernel is not known takes the best that it has. */
static struct gemm_time best_time(const struct described *gemm, const struct described_machine *on, double peak_us,
                                  const double *constants)
{
    static const double sides[] = {16, 32, 64, 128, 256};
    const size_t count = sizeof(sides) / sizeof(*sides);
    struct gemm_time best = {.total_us = INFINITY};
    for (size_t pair = 0; pair < count * count; pair++) {
        const struct gemm_tile tile = {sides[pair / count], sides[pair % count], 64};
        if (tile.n < 64 || (tile.m > FRAGMENT && tile.m >= 2 * gemm->m))
            continue;
        const double groups = ceil(gemm->m / tile.m) * ceil(gemm->n / tile.n) * fmax(1, gemm->batch);
        for (double split = 1; split == 1 || (split <= 8 && groups < on->cus); split *= 2) {
            const struct gemm_time time = gemm_time(gemm, on, peak_us, constants, tile, split);
            best = time.total_us < best.total_us ? time : best;
        }
    }
    return best;
}

void gemm_predict(struct prediction *prediction, const struct described *gemm, const struct described_machine *on,
                  double peak_us, const double *constants)
{
    struct gemm_tile tile;
    const bool named = gemm_tile_of_name(&tile, gemm->kernel);
    const struct gemm_time time = named ? gemm_time(gemm, on, peak_us, constants, tile, fmax(1, gemm->split))
                                        : best_time(gemm, on, peak_us, constants);
    if (!named)
        prediction_note(prediction, "the kernel's name tells no tile: the best one is taken");
    prediction->term_ns[TERM_MATRIX] = time.multiply_us * 1e3;
    prediction->term_ns[TERM_L2] = time.load_us * 1e3;
    prediction->term_ns[TERM_LATENCY] = time.tile_us * 1e3;
    prediction->term_ns[TERM_MEMORY] = time.memory_us * 1e3;
    prediction->term_ns[TERM_LAUNCH] = (constants[CONSTANT_LAUNCH_US] + time.split_us) * 1e3;
    prediction->time_ns = time.total_us * 1e3;
}
