/* SPDX-License-Identifier: MIT
 *
 * What launches on other inputs show, the last of a case: a kernel that kept what it once computed, an element that no
 * sample met.
 */
#include <math.h>

#include "rooftile/rng.h"
#include "run_internal.h"

/* Real numbers, and integers too small to be indices: other values of theirs lead nowhere outside of a buffer. */
static bool is_data(const struct ready *ready, size_t buffer)
{
    const enum dtype dtype = ready->resolved->buffers[buffer].dtype;
    return is_input(ready, buffer) && (dtype_is_float(dtype) || dtype_bytes(dtype) == 1);
}

/* ---- drawn anew ---- */

/* Where the manifest draws them, which keeps every index within its bounds. */
static enum status draw_anew(bool *changed, const struct checking *checking, struct err *err)
{
    struct ready *ready = checking->ready;
    enum status status = STATUS_OK;
    *changed = false;
    for (size_t k = 0; k < ready->resolved->buffer_count; k++) {
        struct fill *fill = &ready->buffers[k].fill;
        if (!is_input(ready, k) || (fill->kind != FILL_UNIFORM && fill->kind != FILL_NORMAL))
            continue;
        fill->seed = rng_derive(fill->seed, "other inputs");
        *changed = true;
    }
    for (size_t k = 0; k < ready->resolved->buffer_count && *changed && !status; k++)
        if (is_input(ready, k)) /* others may be computed from those that are drawn */
            status = ready_fill(ready, k, checking->rotation, err);
    return status;
}

static enum status check_drawn_anew(const struct checking *checking, struct err *err)
{
    bool changed = false;
    enum status status = draw_anew(&changed, checking, err);
    if (status || !changed)
        return status;
    checking->out->launches++;
    status = launch_again(checking, NULL, err);
    return status ? status : compare_again(checking, "after the samples, with other inputs: ", err);
}

/* ---- a few changed ---- */

/* A kernel that looks at some of its inputs to tell whether it has met them should not see it. */
enum { FEW = 8 };

/* Some elements of each buffer take the value of another one. */
static enum status change_few(bool *changed, const struct checking *checking, size_t buffer, struct err *err)
{
    struct device *device = checking->ready->device;
    const struct resolved_buffer *resolved = &checking->ready->resolved->buffers[buffer];
    const size_t bytes = dtype_bytes(resolved->dtype);
    const uint64_t seed = rng_derive(checking->worker->options->sample_seed, resolved->spec->name);
    uint8_t *first = ready_buffer(checking->ready, buffer, checking->rotation), from[16], to[16];
    enum status status = STATUS_OK;
    for (uint64_t k = 0; k < FEW && !status; k++) {
        uint8_t *at = first + rng_at(seed, 2 * k) % resolved->count * bytes;
        status = device->ops->read(device, from, first + rng_at(seed, 2 * k + 1) % resolved->count * bytes, bytes, err);
        if (!status)
            status = device->ops->read(device, to, at, bytes, err);
        if (status || !memcmp(from, to, bytes))
            continue;
        *changed = true;
        status = device->ops->write(device, at, from, bytes, err);
    }
    return status;
}

/* The code is loaded anew, and its memory holds what it did before the first launch. */
static enum status forget(const struct checking *checking, struct err *err)
{
    struct ready *ready = checking->ready;
    enum status status = ready->device->ops->wait(ready->device, err);
    if (status)
        return status;
    ready_free_graphs(ready);
    ready_unload(ready);
    status = ready_load(ready, err);
    if (!status)
        status = ready_resolve(ready, err);
    for (size_t k = 0; k < ready->resolved->buffer_count && !status; k++)
        if (ready->resolved->buffers[k].spec->role == ROLE_TEMP)
            status = ready_fill(ready, k, checking->rotation, err);
    return status;
}

static enum status compare_with_kept(const struct checking *checking, struct err *err)
{
    struct ready *ready = checking->ready;
    enum status status = STATUS_OK;
    for (size_t k = 0; k < ready->resolved->buffer_count && !status; k++) {
        const struct resolved_buffer *buffer = &ready->resolved->buffers[k];
        uint64_t found = 0;
        if (!is_compared(ready, k) || buffer->spec->varies)
            continue;
        status = find_change(&found, checking, k, err);
        if (status || found == ready->buffers[k].kept_count)
            continue;
        const struct piece piece = piece_at(ready, k, found);
        const size_t bytes = dtype_bytes(buffer->dtype);
        verification_fail(checking->out,
                          "after the samples, with a few inputs changed: '%.60s' is not what the same code computes "
                          "once it is loaded anew, "
                          "among elements %llu to %llu: it keeps what it computed before",
                          buffer->spec->name, (unsigned long long)(piece.start / bytes),
                          (unsigned long long)((piece.start + piece.size) / bytes - 1));
        break;
    }
    return status;
}

static enum status check_few_changed(const struct checking *checking, struct err *err)
{
    static const uint8_t poison = 0xff;
    const struct ready *ready = checking->ready;
    bool changed = false;
    enum status status = STATUS_OK;
    if (ready->library[0] || ready->resolved->timing.loads || ready->resolved->timing.reloads)
        return STATUS_OK;
    for (size_t k = 0; k < ready->resolved->buffer_count && !status; k++)
        if (is_data(ready, k))
            status = change_few(&changed, checking, k, err);
    if (status || !changed)
        return status;
    checking->out->launches++;
    status = launch_again(checking, &poison, err);
    if (!status)
        status = keep_outputs(checking, err);
    if (!status)
        status = forget(checking, err);
    if (!status)
        status = launch_again(checking, &poison, err);
    return status ? status : compare_with_kept(checking, err);
}

/* ---- all alike ---- */

/* Of inputs that are all the same most kernels make outputs that are. The reference is asked for those that stand out:
 * in this way each element is looked at, though few are computed twice. */
struct odd {
    double usual, allowed;
    uint64_t *index;
    uint64_t count, most, seen, every; /* of those seen every `every`-th is kept, so that they are at most `most` */
};

enum { USUAL_OF = 31, CHUNK = 1024 };

static void add_odd(struct odd *odd, uint64_t index)
{
    if (odd->seen++ % odd->every)
        return;
    if (odd->count == odd->most) {
        for (uint64_t k = 0; 2 * k < odd->count; k++)
            odd->index[k] = odd->index[2 * k];
        odd->count = (odd->count + 1) / 2;
        odd->every *= 2;
    }
    if (odd->count < odd->most)
        odd->index[odd->count++] = index;
}

/* A power of two: sums of its products are exact, in whatever order. */
static enum status make_alike(bool *changed, const struct checking *checking, struct err *err)
{
    static const double half = 0.5, one = 1;
    struct ready *ready = checking->ready;
    enum status status = STATUS_OK;
    for (size_t k = 0; k < ready->resolved->buffer_count && !status; k++) {
        struct fill *fill = &ready->buffers[k].fill;
        const bool real = dtype_is_float(fill->dtype);
        if (!is_input(ready, k) || (!real && fill->dtype != DTYPE_I8))
            continue;
        fill->kind = FILL_VALUES;
        fill->expr = NULL;
        fill->values = real ? &half : &one;
        fill->value_count = 1;
        *changed = true;
        status = ready_fill(ready, k, checking->rotation, err);
    }
    return status;
}

/* The value of most of some elements; the middle one of them. */
static enum status find_usual(struct odd *odd, const struct checking *checking, size_t buffer, struct err *err)
{
    struct device *device = checking->ready->device;
    const struct resolved_buffer *resolved = &checking->ready->resolved->buffers[buffer];
    const size_t bytes = dtype_bytes(resolved->dtype);
    const uint8_t *first = ready_buffer(checking->ready, buffer, checking->rotation);
    double values[USUAL_OF];
    for (uint64_t k = 0; k < USUAL_OF; k++) {
        const uint64_t at = rng_at(checking->worker->options->sample_seed, k) % resolved->count;
        uint8_t raw[16];
        const enum status status = device->ops->read(device, raw, first + at * bytes, bytes, err);
        if (status)
            return status;
        dtype_load(&values[k], resolved->dtype, raw, 1);
        if (!isfinite(values[k]))
            return err_set(err, ERR_UNSUPPORTED, "some are no numbers");
    }
    odd->usual = median_of(values, USUAL_OF);
    odd->allowed = checking->reference->abs + checking->reference->rel * fabs(odd->usual);
    return STATUS_OK;
}

static enum status find_odd(struct odd *odd, const struct checking *checking, size_t buffer, struct err *err)
{
    const struct ready *ready = checking->ready;
    const enum dtype dtype = ready->resolved->buffers[buffer].dtype;
    const size_t bytes = dtype_bytes(dtype);
    uint8_t *room = new_zeroed(HASH_PIECE_BYTES, 1);
    enum status status = STATUS_OK;
    for (uint64_t k = 0; k < piece_count(ready, buffer) && !status; k++) {
        const struct piece piece = piece_at(ready, buffer, k);
        const uint8_t *data = NULL;
        status = piece_read(&data, piece, checking, buffer, room, err);
        for (uint64_t at = 0; at < piece.size / bytes && !status; at += CHUNK) {
            const uint64_t left = piece.size / bytes - at;
            const size_t count = left < CHUNK ? (size_t)left : CHUNK;
            double values[CHUNK];
            dtype_load(values, dtype, data + at * bytes, count);
            for (size_t j = 0; j < count; j++)
                if (!(fabs(values[j] - odd->usual) <= odd->allowed))
                    add_odd(odd, piece.start / bytes + at + j);
        }
    }
    free(room);
    return status;
}

/* Tolerances are not made for such inputs: it counts that the kernel alone sets an element apart from the usual. */
static enum status ask_about(const struct odd *odd, const struct checking *checking, struct err *err)
{
    struct checking asking = *checking;
    struct verification again = {0};
    asking.asked = odd->index;
    asking.asked_count = odd->count;
    const enum status status = compare_outputs(&asking, &again, err);
    if (!status && again.verdict == VERIFY_FAIL && fabs(again.want - odd->usual) <= odd->allowed)
        verification_take(checking->out, &again, "after the samples, with all inputs alike: ");
    return status;
}

static enum status check_alike(const struct checking *checking, struct err *err)
{
    static const uint8_t poison = 0xff;
    const struct plan_reference *reference = checking->reference;
    bool changed = false;
    struct odd odd = {.every = 1};
    struct arena arena = {0};
    struct err ignored = {0};
    if (!reference || reference->every || checking->ready->resolved->manifest->check.expect_count)
        return STATUS_OK;
    enum status status = make_alike(&changed, checking, err);
    if (status || !changed)
        return status;
    checking->out->launches++;
    status = launch_again(checking, &poison, err);
    if (status || find_usual(&odd, checking, (size_t)reference->output, &ignored))
        return status;
    odd.most = reference->samples;
    odd.index = arena_array(&arena, odd.most, sizeof(*odd.index));
    status = find_odd(&odd, checking, (size_t)reference->output, err);
    if (!status && odd.count)
        status = ask_about(&odd, checking, err);
    arena_release(&arena);
    return status;
}

enum status check_other_inputs(const struct checking *checking, struct err *err)
{
    static enum status (*const checks[])(const struct checking *checking, struct err *err) = {
        check_touched, check_drawn_anew, check_few_changed, check_alike};
    enum status status = STATUS_OK;
    for (size_t k = 0; k < sizeof(checks) / sizeof(checks[0]) && !checking->ready->ranks; k++)
        if (!status && checking->out->verdict != VERIFY_FAIL)
            status = checks[k](checking, err);
    return status;
}
