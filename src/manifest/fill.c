/* SPDX-License-Identifier: MIT */
#include "rooftile/fill.h"

#include "rooftile/file.h"
#include "rooftile/rng.h"
#include "rooftile/vector.h"
#include "rooftile/vector_math.h"

enum { CHUNK = 1024 }; /* elements evaluated at once: the doubles of one chunk stay in L1 */

static enum status check_slots(uint64_t slots, const char *what, struct err *err)
{
    return slots >= 1 && slots <= UINT32_MAX
               ? STATUS_OK
               : err_set(err, ERR_CONFIG, "a %s of %llu slots is not possible (1 to 2^32-1)", what,
                         (unsigned long long)slots);
}

/* Returns a row's share of the total length. Equal lengths differ by at most one, skewed ones fall as rank^-skew. */
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

static enum status check_index(const struct fill *fill, struct err *err)
{
    const double resolved = fill->options[FILL_BOUND], block = fill->options[FILL_BLOCK];
    if (!(resolved >= 1) || resolved != floor(resolved))
        return err_set(err, ERR_CONFIG, "index: bound %g is not a whole number of at least 1", resolved);
    if (fill->dist == DIST_PERMUTATION && (double)fill->count > resolved)
        return err_set(err, ERR_CONFIG, "index: %llu different ones below %g do not exist",
                       (unsigned long long)fill->count, resolved);
    if (fill->dist == DIST_PERMUTATION)
        return check_slots((uint64_t)resolved, "permutation", err);
    if (fill->dist == DIST_ZIPF && !(fill->options[FILL_S] > 0))
        return err_set(err, ERR_CONFIG, "index: s %g is not a positive exponent", fill->options[FILL_S]);
    if (fill->dist == DIST_BLOCKED && (!(block >= 1) || block != floor(block)))
        return err_set(err, ERR_CONFIG, "index: block %g is not a whole number of at least 1", block);
    return STATUS_OK;
}

WIDER static void place(double *values, size_t count, double offset, double scale, bool whole)
{
    for (size_t k = 0; k < count; k++)
        values[k] = offset + scale * values[k];
    for (size_t k = 0; k < count && whole; k++)
        values[k] = floor(values[k]);
}

/* With `pairs` ends, the second of two elements repeats or negates the first. */
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

/* Inverts the continuous distribution function of x^-s on [1, limit + 1). */
static void draw_zipf(const struct fill *fill, double *values, uint64_t first, size_t count)
{
    const double limit = fill->options[FILL_BOUND], rest = 1 - fill->options[FILL_S];
    const bool even = fabs(rest) < 1e-9; /* all powers of two have equal mass */
    rng_uniforms_at(values, fill->seed, first, count);
    place(values, count, even ? 0 : 1, even ? log(limit + 1) : pow(limit + 1, rest) - 1, false);
    if (!even) {
        vector_logs(values, count);
        place(values, count, 0, 1 / rest, false);
    }
    vector_exps(values, count);
    place(values, count, -1, 1, true);
    for (size_t k = 0; k < count; k++)
        values[k] = values[k] < limit ? values[k] : limit - 1;
}

/* Writes runs of `block` consecutive numbers from a random multiple of `block` on; beyond the bound they wrap to 0. */
static void draw_blocked(const struct fill *fill, double *values, uint64_t first, size_t count)
{
    const uint64_t limit = (uint64_t)fill->options[FILL_BOUND], block = (uint64_t)fill->options[FILL_BLOCK];
    const uint64_t blocks = (limit + block - 1) / block;
    for (size_t k = 0, run; k < count; k += run) {
        const uint64_t in = (first + k) % block, at = rng_at(fill->seed, (first + k) / block) % blocks * block + in;
        run = block - in < count - k ? (size_t)(block - in) : count - k;
        for (size_t j = 0; j < run; j++)
            values[k + j] = (double)(at + j < limit ? at + j : (at + j) % limit);
    }
}

static void draw_indices(const struct fill *fill, double *values, uint64_t first, size_t count)
{
    switch (fill->dist) {
    case DIST_PERMUTATION:
        rng_permuted_at(values, fill->seed, (uint64_t)fill->options[FILL_BOUND], first, count);
        break;
    case DIST_BLOCKED:
        draw_blocked(fill, values, first, count);
        break;
    case DIST_ZIPF:
        draw_zipf(fill, values, first, count);
        break;
    default:
        rng_uniforms_at(values, fill->seed, first, count);
        place(values, count, 0, fill->options[FILL_BOUND], true);
    }
}

/* Only the first element of a slot is nonzero. */
static void draw_ring(const struct fill *fill, double *values, uint64_t first, size_t count)
{
    const uint64_t width = (uint64_t)fill->options[FILL_STRIDE] / dtype_bytes(fill->dtype), slots = fill->count / width;
    const uint64_t slot = (first + width - 1) / width, end = (first + count - 1) / width + 1;
    double next[CHUNK];
    memset(values, 0, count * sizeof(*values));
    rng_cycle_at(next, fill->seed, slots, slot, slot < slots ? (size_t)((end < slots ? end : slots) - slot) : 0);
    for (uint64_t at = slot; at < end && at < slots; at++)
        values[at * width - first] = next[at - slot] * (double)width;
}

static enum status draw_any(const struct fill *fill, double *values, uint64_t first, size_t count, struct err *err)
{
    switch (fill->kind) {
    case FILL_EXPR:
        return expr_values(values, fill->expr, fill->slots, fill->arrays, first, count, err);
    case FILL_RING:
        draw_ring(fill, values, first, count);
        break;
    case FILL_PERMUTATION:
        rng_permuted_at(values, fill->seed, fill->count, first, count);
        break;
    case FILL_OFFSETS:
        memcpy(values, fill->whole + first * sizeof(*values), count * sizeof(*values));
        break;
    case FILL_INDEX:
        draw_indices(fill, values, first, count);
        break;
    case FILL_VALUES:
        for (size_t k = 0, at = (size_t)(first % fill->value_count); k < count; k++) {
            values[k] = fill->values[at];
            at = at + 1 < fill->value_count ? at + 1 : 0;
        }
        break;
    default:
        draw(fill, values, first, count);
    }
    return STATUS_OK;
}

static enum status compute(const struct fill *fill, uint8_t *out, uint64_t first, uint64_t count, struct err *err)
{
    const size_t bytes = dtype_bytes(fill->dtype);
    double values[CHUNK];
    for (uint64_t done = 0; done < count;) {
        const size_t part = count - done < CHUNK ? (size_t)(count - done) : CHUNK;
        if (draw_any(fill, values, first + done, part, err))
            return err->status;
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
    const uint64_t bytes = dtype_bytes(dtype);
    const double stride = fill->options[FILL_STRIDE];
    char *data = NULL;
    size_t length = 0;
    switch (spec->kind) {
    case FILL_RING:
        if (stride < (double)bytes || fmod(stride, (double)bytes) != 0)
            return err_set(err, ERR_CONFIG, "ring: a stride of %g bytes is not a multiple of the element's %llu",
                           stride, (unsigned long long)bytes);
        return check_slots(count * bytes / (uint64_t)stride, "ring", err);
    case FILL_PERMUTATION:
        return check_slots(count, "permutation", err);
    case FILL_OFFSETS:
        return init_offsets(fill, arena, err);
    case FILL_INDEX:
        return check_index(fill, err);
    case FILL_FILE:
        if (file_read(&data, &length, spec->path, FILE_LIMIT_BYTES, arena, err))
            return err->status;
        fill->whole = (const uint8_t *)data;
        if (length != count * bytes)
            return err_set(err, ERR_CONFIG, "%s has %zu bytes, the buffer %llu", spec->path, length,
                           (unsigned long long)(count * bytes));
        return STATUS_OK;
    case FILL_VALUES:
        return spec->value_count ? STATUS_OK : err_set(err, ERR_CONFIG, "values: the list is empty");
    default:
        return STATUS_OK;
    }
}

static enum status fill_as_made(const struct fill *fill, void *out, uint64_t first, uint64_t count, struct err *err)
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

enum status fill_range(const struct fill *fill, void *out, uint64_t first, uint64_t count, struct err *err)
{
    const size_t bytes = dtype_bytes(fill->dtype);
    const enum status status = fill_as_made(fill, out, first, count, err);
    FOR_EACH(const struct fill_patch, patch, fill->patches, fill->patch_count)
        if (patch->index >= first && patch->index - first < count)
            memcpy((uint8_t *)out + (patch->index - first) * bytes, patch->raw, bytes);
    return status;
}

/* Computes runs of adjacent elements at once, because most expressions read x[i] or x[i + 1]. */
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
