/* SPDX-License-Identifier: MIT
 *
 * Extracts the tiles of matrix products from the names of library kernels.
 */

#include "rooftile/describe.h"

#define LEAST_SIDE 16.0

/* Reads up to four numbers "AxBxCxD" at `at`, and returns their count. */
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
    if (count < 2 || values[0] < LEAST_SIDE / 2)
        return false;
    *tile = (struct gemm_tile){values[0], values[1], count > 2 ? values[2] : 128};
    return true;
}

/* Finds "_256x64x128x128_": work-items, then the tile. */
static bool tile_behind_block(struct gemm_tile *tile, const char *kernel)
{
    double values[4];
    for (const char *at = kernel; (at = strpbrk(at, "_")) != NULL; at++) {
        const bool block = numbers_at(at + 1, values) == 4 && fmod(values[0], 64) == 0 && values[0] <= 1024;
        if (!block || values[1] < LEAST_SIDE / 2)
            continue;
        *tile = (struct gemm_tile){values[1], values[2], values[3]};
        return true;
    }
    return false;
}

/* Finds three numbers between underscores. */
static bool tile_alone(struct gemm_tile *tile, const char *kernel)
{
    double values[4];
    for (const char *at = kernel; (at = strpbrk(at, "_")) != NULL; at++) {
        if (numbers_at(at + 1, values) != 3 || values[0] < LEAST_SIDE || values[1] < LEAST_SIDE ||
            values[2] < LEAST_SIDE)
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
    if (tile_behind(&found, kernel, "MT")) { /* Tensile names columns first */
        *tile = (struct gemm_tile){found.n, found.m, found.k};
        return true;
    }
    for (size_t k = 0; k < sizeof(words) / sizeof(*words); k++)
        if (tile_behind(tile, kernel, words[k]))
            return true;
    return tile_behind_block(tile, kernel) || tile_alone(tile, kernel);
}
