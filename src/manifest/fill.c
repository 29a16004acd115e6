/* SPDX-License-Identifier: MIT */
#include "rooftile/fill.h"

#include "rooftile/file.h"
#include "rooftile/rng.h"
#include "rooftile/vector.h"

enum { CHUNK = 1024 }; /* elements evaluated at a time: doubles of one chunk stay in L1 */

/* One random cycle through all slots: next[s] after s. Sattolo 1986: j < i strictly, so no slot maps to itself. */
static enum status init_cycle(struct fill *fill, uint64_t slots, bool one_cycle, struct arena *arena, struct err *err)
{
    if (slots < 1 || slots > UINT32_MAX)
        return err_set(err, ERR_CONFIG, "a %s of %llu slots is not possible (1 to 2^32-1)",
                       one_cycle ? "ring" : "permutation", (unsigned long long)slots);
    uint32_t *next = arena_array(arena, (size_t)slots, sizeof(*next));
    for (uint64_t s = 0; s < slots; s++)
        next[s] = (uint32_t)s;
    struct rng rng;
    rng_init(&rng, fill->seed);
    for (uint64_t i = slots - 1; i > 0; i--) {
        const uint64_t j = rng_below(&rng, one_cycle ? i : i + 1);
        const uint32_t kept = next[i];
        next[i] = next[j];
        next[j] = kept;
    }
    fill->whole = (const uint8_t *)next;
    return STATUS_OK;
}

static enum status init_ring(struct fill *fill, struct arena *arena, struct err *err)
{
    const uint64_t bytes = dtype_bytes(fill->dtype);
    const double stride = fill->options[FILL_STRIDE];
    if (stride < (double)bytes || fmod(stride, (double)bytes) != 0)
        return err_set(err, ERR_CONFIG, "ring: a stride of %g bytes is not a multiple of the element's %llu", stride,
                       (unsigned long long)bytes);
    return init_cycle(fill, fill->count * bytes / (uint64_t)stride, true, arena, err);
}

/* Lengths that add to the total; equal ones differ by at most one, skewed ones fall as rank^-skew. */
static double offset_weight(const struct fill *fill, uint64_t row)
{
    switch (fill->dist) {
    case DIST_EQUAL:
        return 1;
    case DIST_SKEWED:
        return pow((double)row + 1, -fill->options[FILL_SKEW]);
    default:
        return rng_uniform_at(fill->seed, row);
    }
}

static enum status init_offsets(struct fill *fill, struct arena *arena, struct err *err)
{
    const double total = fill->options[FILL_TOTAL];
    if (!(total >= 0) || total > 9007199254740992.0 || total != floor(total))
        return err_set(err, ERR_CONFIG, "offsets: total %g is not a whole number from 0 to 2^53", total);
    double *offsets = arena_array(arena, (size_t)fill->count, sizeof(*offsets));
    double sum = 0;
    for (uint64_t row = 0; row + 1 < fill->count; row++)
        sum += offset_weight(fill, row);
    double running = 0;
    for (uint64_t row = 0; row + 1 < fill->count; row++) {
        running += offset_weight(fill, row);
        offsets[row + 1] = sum > 0 ? floor(total * (running / sum) + 0.5) : 0;
    }
    if (fill->count > 1)
        offsets[fill->count - 1] = total;
    fill->whole = (const uint8_t *)offsets;
    return STATUS_OK;
}

static enum status init_file(struct fill *fill, const char *path, struct arena *arena, struct err *err)
{
    const uint64_t want = fill->count * dtype_bytes(fill->dtype);
    char *data = NULL;
    size_t length = 0;
    if (file_read(&data, &length, path, FILE_LIMIT_BYTES, arena, err))
        return err->status;
    if (length != want)
        return err_set(err, ERR_CONFIG, "%s has %zu bytes, the buffer %llu", path, length, (unsigned long long)want);
    fill->whole = (const uint8_t *)data;
    return STATUS_OK;
}

static enum status init_index(struct fill *fill, struct arena *arena, struct err *err)
{
    const double resolved = fill->options[FILL_BOUND], block = fill->options[FILL_BLOCK];
    if (!(resolved >= 1) || resolved != floor(resolved))
        return err_set(err, ERR_CONFIG, "index: bound %g is not a whole number of at least 1", resolved);
    if (fill->dist == DIST_PERMUTATION && (double)fill->count > resolved)
        return err_set(err, ERR_CONFIG, "index: %llu different ones below %g do not exist",
                       (unsigned long long)fill->count, resolved);
    if (fill->dist == DIST_PERMUTATION)
        return init_cycle(fill, (uint64_t)resolved, false, arena, err);
    if (fill->dist == DIST_ZIPF && !(fill->options[FILL_S] > 0))
        return err_set(err, ERR_CONFIG, "index: s %g is not a positive exponent", fill->options[FILL_S]);
    if (fill->dist == DIST_BLOCKED && (!(block >= 1) || block != floor(block)))
        return err_set(err, ERR_CONFIG, "index: block %g is not a whole number of at least 1", block);
    return STATUS_OK;
}

/* Indices below a bound. Zipf by the inverse of the continuous distribution function x^-s on [1, bound + 1). */
static double index_value(const struct fill *fill, uint64_t i)
{
    const double resolved = fill->options[FILL_BOUND];
    if (fill->dist == DIST_PERMUTATION)
        return ((const uint32_t *)(const void *)fill->whole)[i];
    if (fill->dist == DIST_BLOCKED) {
        const uint64_t block = (uint64_t)fill->options[FILL_BLOCK];
        const uint64_t blocks = ((uint64_t)resolved + block - 1) / block;
        const uint64_t at = rng_at(fill->seed, i / block) % blocks * block + i % block;
        return (double)(at % (uint64_t)resolved);
    }
    const double u = rng_uniform_at(fill->seed, i);
    if (fill->dist != DIST_ZIPF)
        return floor(u * resolved);
    const double s = fill->options[FILL_S];
    const double x =
        fabs(s - 1) < 1e-9 ? pow(resolved + 1, u) : pow(1 + u * (pow(resolved + 1, 1 - s) - 1), 1 / (1 - s));
    return fmin(floor(x) - 1, resolved - 1);
}

WIDER static void place(double *values, size_t count, double offset, double scale, bool whole)
{
    for (size_t k = 0; k < count; k++)
        values[k] = offset + scale * values[k];
    for (size_t k = 0; k < count && whole; k++)
        values[k] = floor(values[k]);
}

/* `pairs` ends: the second of two elements is the first once more, or negated. */
static void draw(const struct fill *fill, double *values, uint64_t first, size_t count)
{
    const bool normal = fill->kind == FILL_NORMAL;
    const double offset = fill->options[normal ? FILL_MEAN : FILL_LOW];
    const double scale = normal ? fill->options[FILL_SD] : fill->options[FILL_HIGH] - offset;
    (normal ? rng_normals_at : rng_uniforms_at)(values, fill->seed, first, count);
    place(values, count, offset, scale, !normal && !dtype_is_float(fill->dtype));
    if (fill->options[FILL_PAIRS] == 0)
        return;
    double before = 0;
    if (first % 2)
        draw(fill, &before, first - 1, 1);
    const double sign = fill->options[FILL_PAIRS] < 0 ? -1 : 1;
    for (size_t k = first % 2 == 0; k < count; k += 2)
        values[k] = sign * (k ? values[k - 1] : before);
}

static double element_value(const struct fill *fill, uint64_t i)
{
    switch (fill->kind) {
    case FILL_RING: {
        const uint64_t per_slot = (uint64_t)fill->options[FILL_STRIDE] / dtype_bytes(fill->dtype);
        const uint64_t slots = fill->count / per_slot;
        if (i % per_slot || i / per_slot >= slots)
            return 0;
        return (double)(((const uint32_t *)(const void *)fill->whole)[i / per_slot] * per_slot);
    }
    case FILL_PERMUTATION:
        return ((const uint32_t *)(const void *)fill->whole)[i];
    case FILL_OFFSETS:
        return ((const double *)(const void *)fill->whole)[i];
    case FILL_INDEX:
        return index_value(fill, i);
    case FILL_VALUES:
        return fill->values[i % fill->value_count];
    default:
        return 0;
    }
}

static enum status compute(const struct fill *fill, uint8_t *out, uint64_t first, uint64_t count, struct err *err)
{
    const size_t bytes = dtype_bytes(fill->dtype);
    double values[CHUNK];
    for (uint64_t done = 0; done < count;) {
        const size_t part = count - done < CHUNK ? (size_t)(count - done) : CHUNK;
        if (fill->expr) {
            if (expr_values(values, fill->expr, fill->slots, fill->arrays, first + done, part, err))
                return err->status;
        } else if (fill->kind == FILL_UNIFORM || fill->kind == FILL_NORMAL) {
            draw(fill, values, first + done, part);
        } else {
            for (size_t k = 0; k < part; k++)
                values[k] = element_value(fill, first + done + k);
        }
        bool exact = true;
        dtype_store(out + done * bytes, fill->dtype, values, part, &exact);
        if (!exact) {
            const char *quote = fill->expr ? "'" : "", *source = fill->expr ? expr_source(fill->expr) : "the fill";
            return err_set(err, ERR_CONFIG, "%s%s%s gives values that do not fit %s near i = %llu", quote, source,
                           quote, dtype_name(fill->dtype), (unsigned long long)(first + done));
        }
        done += part;
    }
    return STATUS_OK;
}

enum status fill_init(struct fill *fill, const struct fill_spec *spec, enum dtype dtype, uint64_t count,
                      const double *slots, const struct expr_arrays *arrays, uint64_t seed, struct arena *arena,
                      struct err *err)
{
    const struct generator *generator = generator_of(spec->kind);
    *fill = (struct fill){
        .kind = spec->kind, .dtype = dtype, .count = count, .slots = slots, .dist = spec->dist, .poison = FILL_POISON};
    fill->seed = spec->seed ? spec->seed : seed;
    fill->expr = spec->expr;
    fill->arrays = arrays;
    fill->values = spec->values;
    fill->value_count = spec->value_count;
    for (size_t k = 0; k < FILL_MAX_OPTIONS; k++) {
        fill->options[k] = generator ? generator->options[k].fallback : 0;
        if (spec->options[k]) {
            if (expr_eval(&fill->options[k], spec->options[k], slots, err))
                return err->status;
        }
    }
    switch (spec->kind) {
    case FILL_RING:
        return init_ring(fill, arena, err);
    case FILL_PERMUTATION:
        return init_cycle(fill, count, false, arena, err);
    case FILL_OFFSETS:
        return init_offsets(fill, arena, err);
    case FILL_INDEX:
        return init_index(fill, arena, err);
    case FILL_FILE:
        return init_file(fill, spec->path, arena, err);
    case FILL_VALUES:
        return spec->value_count ? STATUS_OK : err_set(err, ERR_CONFIG, "values: the list is empty");
    default:
        return STATUS_OK;
    }
}

enum status fill_range(const struct fill *fill, void *out, uint64_t first, uint64_t count, struct err *err)
{
    const size_t bytes = dtype_bytes(fill->dtype);
    uint8_t *to = out;
    if (fill->kind == FILL_NONE || fill->kind == FILL_ZEROS) {
        memset(to, fill->kind == FILL_NONE ? fill->poison : 0, (size_t)count * bytes);
        return STATUS_OK;
    }
    if (fill->kind == FILL_FILE) {
        memcpy(to, fill->whole + first * bytes, (size_t)count * bytes);
        return STATUS_OK;
    }
    return compute(fill, to, fill->first + first, count, err);
}

/* Runs of neighbours are computed at once: most expressions read x[i], or x[i + 1]. */
void fill_elements(double *values, const struct fill *fill, size_t count)
{
    _Alignas(64) uint8_t raw[CHUNK * 8];
    for (size_t k = 0, run; k < count; k += run) {
        const double first = values[k];
        struct err ignored = {0};
        for (run = 1; k + run < count && run < CHUNK && values[k + run] == first + (double)run;)
            run++;
        if (!fill_range(fill, raw, (uint64_t)first, run, &ignored))
            dtype_load(values + k, fill->dtype, raw, run);
        else
            for (size_t j = 0; j < run; j++)
                values[k + j] = (double)NAN;
    }
}
