/* SPDX-License-Identifier: MIT
 *
 * The last checks of a case, which launch on changed inputs. They find a kernel that reuses an earlier result, and
 * elements that no sample covered.
 */
#include <math.h>

#include "rooftile/rng.h"
#include "run_internal.h"

/* ---- swapping a few elements ---- */

/* Whether the sizes or bounds of other buffers may depend on this buffer. */
static bool is_structure(const struct fill *fill)
{
    return fill->kind == FILL_RING || fill->kind == FILL_PERMUTATION || fill->kind == FILL_INDEX ||
           fill->kind == FILL_OFFSETS;
}

/* Whether the case has a single input. Offsets always index another input. */
static bool is_lone(const struct ready *ready)
{
    const struct resolved *resolved = ready->resolved;
    return COUNT_WHERE(b, resolved->buffers, resolved->buffer_count, b->spec->role == ROLE_IN) == 1;
}

/* Chooses one element in each of equal parts of an input. */
static enum status choose_of(struct ready *ready, size_t buffer, uint64_t seed, struct err *err)
{
    struct ready_buffer *of = &ready->buffers[buffer];
    const enum dtype dtype = of->fill.dtype;
    const size_t bytes = dtype_bytes(dtype);
    const uint64_t all = of->resolved->count, count = all < FILL_PATCHES ? all : FILL_PATCHES;
    enum status status = STATUS_OK;
    if (!is_input(ready, buffer) || is_structure(&of->fill) || of->resolved->spec->devices)
        return STATUS_OK;
    for (uint64_t k = 0; k < count && !status; k++) {
        const uint64_t part = all / count;
        of->home[k].index = k * part + rng_at(seed, k) % part;
        status =
            ready->device->ops->read(ready->device, of->home[k].raw,
                                     (uint8_t *)ready_buffer(ready, buffer, 0) + of->home[k].index * bytes, bytes, err);
    }
    bool ascends = true; /* holds for offsets */
    double before = -INFINITY, value = 0;
    for (size_t k = 0; k < count; k++, before = value) {
        dtype_load(&value, dtype, of->home[k].raw, 1);
        ascends = ascends && value >= before;
    }
    const bool may_lead = !dtype_is_float(dtype) && bytes > 1 && !is_lone(ready); /* it may index another buffer */
    of->stirred = may_lead && ascends ? 0 : count;
    memcpy(of->now, of->home, sizeof(of->now));
    return status;
}

enum status inputs_choose(struct ready *ready, uint64_t seed, struct err *err)
{
    enum status status = STATUS_OK;
    for (size_t k = 0; k < ready->resolved->buffer_count && !status; k++)
        if (!ready->ranks && ready->device->ops->executes && !ready->buffers[k].stirred)
            status = choose_of(ready, k, rng_derive(seed, ready->resolved->buffers[k].spec->name), err);
    return status;
}

static enum status put_element(struct ready *ready, size_t buffer, uint32_t rotation, const struct fill_patch *element,
                               struct err *err)
{
    const size_t bytes = dtype_bytes(ready->buffers[buffer].fill.dtype);
    return ready->device->ops->write(ready->device,
                                     (uint8_t *)ready_buffer(ready, buffer, rotation) + element->index * bytes,
                                     element->raw, bytes, err);
}

/* Swaps two elements, at an odd and an even distance in turn. A swap never undoes the previous one, so a kernel that
 * remembers the inputs of some launches does not find them again. */
enum status inputs_stir(struct ready *ready, uint32_t rotation, struct err *err)
{
    const uint64_t turn = ready->stirs++;
    for (size_t k = 0; k < ready->resolved->buffer_count; k++) {
        struct ready_buffer *of = &ready->buffers[k];
        const size_t count = of->stirred, one = count ? rng_at(k, turn) % count : 0;
        const size_t distance = 1 + turn % 2 + (count > 4 ? rng_at(k, ~turn) % ((count - 1) / 2) * 2 : 0);
        struct fill_patch *a = &of->now[one];
        for (size_t step = 0; step < count; step++) {
            struct fill_patch *b = &of->now[(one + distance + step) % count];
            const struct fill_patch kept = *a;
            if (!memcmp(a->raw, b->raw, sizeof(a->raw)))
                continue;
            memcpy(a->raw, b->raw, sizeof(a->raw));
            memcpy(b->raw, kept.raw, sizeof(b->raw));
            if (put_element(ready, k, rotation, a, err) || put_element(ready, k, rotation, b, err))
                return err->status;
            break;
        }
    }
    return STATUS_OK;
}

enum status inputs_rewrite(struct ready *ready, uint32_t rotation, struct err *err)
{
    enum status status = STATUS_OK;
    for (size_t k = 0; k < ready->resolved->buffer_count; k++)
        for (size_t one = 0; one < 2 && one < ready->buffers[k].stirred && !status; one++)
            status = put_element(ready, k, rotation, &ready->buffers[k].now[one], err);
    return status;
}

enum status inputs_restore(struct ready *ready, struct err *err)
{
    for (size_t k = 0; k < ready->resolved->buffer_count; k++) {
        struct ready_buffer *of = &ready->buffers[k];
        of->fill.patch_count = 0;
        memcpy(of->now, of->home, sizeof(of->now));
        for (uint32_t rotation = 0; rotation < ready->rotations; rotation++)
            FOR_EACH(const struct fill_patch, element, of->home, of->stirred)
                if (put_element(ready, k, rotation, element, err))
                    return err->status;
    }
    return STATUS_OK;
}

/* ---- drawing inputs anew ---- */

/* Draws new values only for fills that the manifest draws at random, which keeps every index within its bounds. */
static enum status check_drawn_anew(const struct checking *checking, struct err *err)
{
    struct ready *ready = checking->ready;
    bool changed = false;
    enum status status = inputs_restore(ready, err);
    for (size_t k = 0; k < ready->resolved->buffer_count; k++) {
        struct fill *fill = &ready->buffers[k].fill;
        if (!is_input(ready, k) || (fill->kind != FILL_UNIFORM && fill->kind != FILL_NORMAL))
            continue;
        fill->seed = rng_derive(fill->seed, "other inputs");
        changed = true;
    }
    for (size_t k = 0; k < ready->resolved->buffer_count && changed && !status; k++)
        if (is_input(ready, k)) /* other inputs may be computed from the drawn ones */
            status = ready_fill(ready, k, checking->rotation, err);
    if (status || !changed)
        return status;
    checking->out->launches++;
    status = launch_again(checking, NULL, err);
    return status ? status : compare_again(checking, "with other inputs: ", err);
}

/* ---- changing a few elements ---- */

/* Reloads the code and restores its temporary memory to the state before the first launch. */
static enum status forget(const struct checking *checking, struct err *err)
{
    struct ready *ready = checking->ready;
    if (ready->device->ops->wait(ready->device, err))
        return err->status;
    ready_free_graphs(ready);
    ready_unload(ready);
    if (ready_load(ready, err) || ready_resolve(ready, err))
        return err->status;
    for (size_t k = 0; k < ready->resolved->buffer_count; k++)
        if (ready->resolved->buffers[k].spec->role == ROLE_TEMP && ready_fill(ready, k, checking->rotation, err))
            return err->status;
    return STATUS_OK;
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
                          "with a few inputs changed: '%.60s' is not what the same code computes "
                          "once it is loaded anew, "
                          "among elements %llu to %llu: it keeps what it computed before",
                          buffer->spec->name, (unsigned long long)(piece.start / bytes),
                          (unsigned long long)((piece.start + piece.size) / bytes - 1));
        break;
    }
    return status;
}

/* Whether the reference reads every input that changed; false if closed forms give the expected values. */
static bool sees_inputs(const struct checking *checking)
{
    const struct plan_reference *reference = checking->reference;
    const struct ready *ready = checking->ready;
    bool all = reference && !ready->resolved->manifest->check.expect_count;
    for (size_t k = 0; k < ready->resolved->buffer_count && all; k++)
        all = !ready->buffers[k].stirred ||
              COUNT_WHERE(source, reference->source, reference->resolved.buffer_count, *source == (int)k);
    return all;
}

/* Compares with the reference if there is one, and with the same code freshly loaded, because the few changed elements
 * may not reach any output that the reference samples. Catches a kernel that inspects only some of its inputs to decide
 * whether it knows them. */
static enum status check_few_changed(const struct checking *checking, struct err *err)
{
    static const uint8_t poison = 0xff;
    struct ready *ready = checking->ready;
    const struct timing *timing = &ready->resolved->timing;
    const bool reloads = !ready->library[0] && !timing->loads && !timing->reloads;
    bool stirred = false;
    enum status status = launch_again(checking, NULL, err); /* lets it remember the original inputs */
    for (int k = 0; k < FILL_PATCHES / 2 && !status; k++)
        status = inputs_stir(ready, checking->rotation, err);
    FOR_EACH(struct ready_buffer, of, ready->buffers, ready->resolved->buffer_count) {
        of->fill.patch_count = of->stirred;
        memcpy(of->fill.patches, of->now, sizeof(of->now));
        stirred = stirred || memcmp(of->now, of->home, sizeof(of->now));
    }
    if (status || !stirred)
        return status;
    checking->out->launches++;
    if (launch_again(checking, &poison, err) ||
        (sees_inputs(checking) && compare_again(checking, "with a few inputs changed: ", err)))
        return err->status;
    if (!reloads || checking->out->verdict == VERIFY_FAIL)
        return STATUS_OK;
    return keep_outputs(checking, err) || forget(checking, err) || launch_again(checking, &poison, err)
               ? err->status
               : compare_with_kept(checking, err);
}

/* ---- outputs must depend on inputs ---- */

enum { PARTS = 16, PART_BYTES = 1 << 16 };

/* Each element becomes its neighbour, or all become the first. Values stay within their bounds, and no row gets
 * longer. */
enum parts { PARTS_READ, PARTS_MOVED, PARTS_ALIKE, PARTS_RESTORED };

/* `was` receives the original values (PARTS_READ) or supplies them. Sets *changed if any element changes. */
static enum status change_parts(bool *changed, const struct checking *checking, size_t buffer, uint8_t *was,
                                enum parts how, struct err *err)
{
    struct device *device = checking->ready->device;
    const struct resolved_buffer *resolved = &checking->ready->resolved->buffers[buffer];
    const size_t bytes = dtype_bytes(resolved->dtype);
    const uint64_t all = resolved->size_bytes / bytes,
                   part = all * bytes < PARTS * PART_BYTES ? all : PART_BYTES / bytes;
    uint8_t *room = new_zeroed((size_t)(part * bytes), 1),
            *first = ready_buffer(checking->ready, buffer, checking->rotation);
    enum status status = STATUS_OK;
    for (uint64_t k = 0; k * part < all && k < PARTS && !status; k++, was += part * bytes) {
        uint8_t *at = first + (part == all ? 0 : k * (all - part) / (PARTS - 1)) * bytes;
        if (how == PARTS_READ) {
            status = device->ops->read(device, was, at, part * bytes, err);
            continue;
        }
        memcpy(room, was, part * bytes);
        if (how == PARTS_MOVED)
            memcpy(room, was + bytes, (part - 1) * bytes);
        for (uint64_t n = 1; n < part && how == PARTS_ALIKE; n++)
            memcpy(room + n * bytes, was, bytes);
        *changed = *changed || memcmp(room, was, part * bytes) != 0;
        status = device->ops->write(device, at, room, part * bytes, err);
    }
    free(room);
    return status;
}

/* Whether each output starts with a single repeated value: then nothing shows whether it depends on the inputs. */
static bool outputs_are_constant(const struct checking *checking)
{
    const struct ready *ready = checking->ready;
    struct err ignored = {0};
    uint8_t *room = new_zeroed(PART_BYTES, 1);
    bool constant = true;
    for (size_t k = 0; k < ready->resolved->buffer_count && constant; k++) {
        const struct resolved_buffer *buffer = &ready->resolved->buffers[k];
        const size_t bytes = dtype_bytes(buffer->dtype),
                     size = buffer->size_bytes < PART_BYTES ? (size_t)buffer->size_bytes : PART_BYTES;
        if (!is_compared(ready, k) || size <= bytes)
            continue;
        constant = !ready->device->ops->read(ready->device, room, ready_buffer(ready, k, checking->rotation), size,
                                             &ignored) &&
                   !memcmp(room, room + bytes, size - bytes);
    }
    free(room);
    return constant;
}

static enum status check_depends_on(const struct checking *checking, size_t buffer, struct err *err)
{
    static const uint8_t poison = 0xff;
    const struct ready *ready = checking->ready;
    uint8_t *was = new_zeroed(PARTS * PART_BYTES, 1);
    bool same = true, changed = false;
    enum status status = change_parts(&changed, checking, buffer, was, PARTS_READ, err);
    for (enum parts how = PARTS_MOVED; how <= PARTS_ALIKE && same && !status; how++) {
        status = change_parts(&changed, checking, buffer, was, how, err);
        if (!status)
            status = launch_again(checking, &poison, err);
        for (size_t k = 0; k < ready->resolved->buffer_count && same && !status; k++) {
            uint64_t found = ready->buffers[k].kept_count;
            if (is_compared(ready, k))
                status = find_change(&found, checking, k, err);
            same = status || found == ready->buffers[k].kept_count;
        }
    }
    if (!status)
        status = change_parts(&changed, checking, buffer, was, PARTS_RESTORED, err);
    free(was);
    if (!status && same && changed && !outputs_are_constant(checking)) /* constants need not change */
        verification_fail(checking->out, "with another '%.60s': no output changed, so none depends on it",
                          checking->ready->resolved->buffers[buffer].spec->name);
    return status;
}

/* A kernel that ignores its inputs still matches closed forms. Inputs drawn at random are not checked here, since they
 * are drawn anew later. If a reference computes every element, no check is needed: it shows the effect of changed
 * inputs, which may be none (a softmax of one column). */
static enum status check_depends(const struct checking *checking, struct err *err)
{
    const struct ready *ready = checking->ready;
    enum status status = STATUS_OK;
    if (sees_inputs(checking) && checking->reference->every)
        return STATUS_OK;
    for (size_t k = 0; k < ready->resolved->buffer_count && !status && checking->out->verdict != VERIFY_FAIL; k++) {
        const struct ready_buffer *of = &ready->buffers[k];
        const bool drawn = of->fill.kind == FILL_UNIFORM || of->fill.kind == FILL_NORMAL;
        const bool rows = is_structure(&of->fill) || (!of->stirred && !is_lone(ready));
        if (is_input(ready, k) && of->resolved->count > 1 && !rows && !drawn && !of->resolved->spec->devices)
            status = check_depends_on(checking, k, err);
    }
    return status;
}

/* ---- all inputs equal ---- */

/* With equal inputs most kernels write equal outputs. Only outliers are recomputed by the reference, so every element
 * is checked though few are computed twice. */
struct odd {
    double usual, allowed;
    uint64_t *index;
    uint64_t count, most, seen, every; /* every `every`-th outlier is stored, at most `most` */
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

/* Fills with a power of two (or 1 for integers), so that sums of products are exact in any order. */
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

/* Finds the usual value: the median of a random sample. */
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

static enum status check_alike(const struct checking *checking, struct err *err)
{
    static const uint8_t poison = 0xff;
    const struct plan_reference *reference = checking->reference;
    bool changed = false;
    struct odd odd = {.every = 1};
    SCOPED(arena_release) struct arena arena = {0};
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
    struct checking asking = *checking;
    struct verification again = {0};
    asking.asked = odd.index;
    asking.asked_count = odd.count;
    if (!status && odd.count)
        status = compare_outputs(&asking, &again, err);
    /* Tolerances are not tuned for such inputs, so a failure counts only if the reference agrees with the usual
     * value. */
    if (!status && again.verdict == VERIFY_FAIL && fabs(again.want - odd.usual) <= odd.allowed)
        verification_take(checking->out, &again, "with all inputs alike: ");
    return status;
}

enum status check_other_inputs(const struct checking *checking, struct err *err)
{
    static enum status (*const checks[])(const struct checking *checking, struct err *err) = {
        check_touched, check_depends, check_few_changed, check_drawn_anew, check_alike};
    enum status status = inputs_choose(checking->ready, checking->worker->options->sample_seed, err);
    for (size_t k = 0; k < sizeof(checks) / sizeof(checks[0]) && !checking->ready->ranks; k++)
        if (!status && checking->out->verdict != VERIFY_FAIL)
            status = checks[k](checking, err);
    return status;
}
