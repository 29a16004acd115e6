/* SPDX-License-Identifier: MIT
 *
 * Faults that one launch cannot show: overwritten inputs, writes outside of buffers, and launches that differ.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rooftile/clock.h"
#include "rooftile/hash.h"
#include "rooftile/rng.h"
#include "rooftile/units.h"
#include "run_internal.h"

/* Smaller buffers are read back, since a launch would take no less time than that. */
static const uint64_t hashed_from_bytes = 4 * HASH_PIECE_BYTES;
/* Consecutive launches before the samples, including the first, and after them. The minimum detects a kernel that is
 * wrong on every third launch. Further launches up to the maximum run only while they are short; after the samples,
 * while they take no more than a share of the sampling time. If 1 % of launches are wrong, 300 launches miss all of
 * them in one case of 20. */
enum { LEAST_BEFORE = 3, MOST_BEFORE = 7, LEAST_AFTER = 1, MOST_AFTER = 300 };
static const double more_before_ns = 20e6, more_after_ns = 5e6, more_after = 0.1;
/* Values in outputs before a launch. Two launches in a row never use the same one, which reveals elements that no
 * launch writes or that are written only over certain values. 0xff is NaN in every floating type. */
static const uint8_t poisons[] = {0xff, 0x00, 0x3f, 0x32, 0x80, 0x55};

/* ---- pieces of a buffer ---- */

uint64_t piece_count(const struct ready *ready, size_t buffer)
{
    return (ready->resolved->buffers[buffer].size_bytes + HASH_PIECE_BYTES - 1) / HASH_PIECE_BYTES;
}

struct piece piece_at(const struct ready *ready, size_t buffer, uint64_t k)
{
    const uint64_t size = ready->resolved->buffers[buffer].size_bytes, start = k * HASH_PIECE_BYTES;
    return (struct piece){start, size - start < HASH_PIECE_BYTES ? size - start : HASH_PIECE_BYTES};
}

enum status piece_read(const uint8_t **data, struct piece piece, const struct checking *checking, size_t buffer,
                       uint8_t *room, struct err *err)
{
    struct ready *ready = checking->ready;
    const uint8_t *at = (const uint8_t *)ready_buffer(ready, buffer, checking->rotation) + piece.start;
    *data = ready->device->ops->host_visible ? at : room;
    return *data == at ? STATUS_OK : ready->device->ops->read(ready->device, room, at, piece.size, err);
}

struct hash_job {
    const struct checking *checking;
    size_t buffer;
    uint64_t *hashes;
};

static enum status hash_part(void *context, uint64_t first, uint64_t count, struct err *err)
{
    const struct hash_job *job = context;
    uint8_t *room = new_zeroed(HASH_PIECE_BYTES, 1);
    enum status status = STATUS_OK;
    for (uint64_t k = first; k < first + count && !status; k++) {
        const struct piece piece = piece_at(job->checking->ready, job->buffer, k);
        const uint8_t *data = NULL;
        status = piece_read(&data, piece, job->checking, job->buffer, room, err);
        if (!status)
            job->hashes[k] = hash_u64(data, piece.size);
    }
    free(room);
    return status;
}

static enum status hash_pieces(uint64_t *hashes, const struct checking *checking, size_t buffer, struct err *err)
{
    struct ready *ready = checking->ready;
    const struct resolved_buffer *resolved = &ready->resolved->buffers[buffer];
    struct hash_job job = {checking, buffer, hashes};
    char why[SERVICE_WHY];
    /* If the size is no multiple of the hash word, the hash includes some bytes of the guard after the buffer. */
    if (!ready->device->ops->host_visible && resolved->space == BUFFER_DEVICE &&
        resolved->size_bytes >= hashed_from_bytes && resolved->align_offset % HASH_WORD_BYTES == 0 &&
        !ready->buffers[buffer].unguarded && service_ready(checking->worker, SERVICE_HASH, why))
        return hash_on_device(hashes, checking->worker, ready_buffer(ready, buffer, checking->rotation),
                              resolved->size_bytes, err);
    return run_in_parts(ready->device, piece_count(ready, buffer), hash_part, &job, err);
}

enum status find_change(uint64_t *found, const struct checking *checking, size_t buffer, struct err *err)
{
    const struct ready_buffer *of = &checking->ready->buffers[buffer];
    struct arena arena = {0};
    uint64_t *hashes = arena_array(&arena, of->kept_count + 1, sizeof(*hashes));
    const enum status status = hash_pieces(hashes, checking, buffer, err);
    for (*found = 0; !status && *found < of->kept_count && hashes[*found] == of->kept[*found];)
        ++*found;
    arena_release(&arena);
    return status;
}

/* ---- which buffers ---- */

bool is_input(const struct ready *ready, size_t buffer)
{
    return ready->resolved->buffers[buffer].spec->role == ROLE_IN;
}

bool is_compared(const struct ready *ready, size_t buffer)
{
    const struct manifest_check *check = &ready->resolved->manifest->check;
    const struct manifest_buffer *spec = ready->resolved->buffers[buffer].spec;
    for (size_t k = 0; k < check->expect_count; k++)
        if (&ready->resolved->manifest->buffers[check->expect[k].buffer] == spec) /* any of its parts */
            return true;
    return check->reference.kernel && check->reference.output == (int)buffer;
}

static enum status keep_all(const struct checking *checking, bool (*which)(const struct ready *ready, size_t buffer),
                            struct err *err)
{
    struct ready *ready = checking->ready;
    enum status status = STATUS_OK;
    for (size_t k = 0; k < ready->resolved->buffer_count && !status; k++) {
        struct ready_buffer *of = &ready->buffers[k];
        if (!which(ready, k))
            continue;
        of->kept_count = piece_count(ready, k);
        if (!of->kept)
            of->kept = arena_array(&ready->arena, of->kept_count + 1, sizeof(*of->kept));
        status = hash_pieces(of->kept, checking, k, err);
    }
    return status;
}

enum status keep_inputs(const struct checking *checking, struct err *err)
{
    return keep_all(checking, is_input, err);
}

enum status keep_outputs(const struct checking *checking, struct err *err)
{
    return keep_all(checking, is_compared, err);
}

/* ---- inputs and guards ---- */

void verification_fail(struct verification *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    out->verdict = VERIFY_FAIL;
    vsnprintf(out->reason, sizeof(out->reason), format, args);
    va_end(args);
}

/* Names the element if the fill alone determines the expected value; a setup step may have changed it. */
static void say_overwritten(const struct checking *checking, size_t buffer, uint64_t k, const uint8_t *data,
                            uint8_t *want, const char *when)
{
    const struct fill *fill = &checking->ready->buffers[buffer].fill;
    const struct piece piece = piece_at(checking->ready, buffer, k);
    const char *name = checking->ready->resolved->buffers[buffer].spec->name;
    const size_t bytes = dtype_bytes(fill->dtype);
    const uint64_t first = piece.start / bytes, count = piece.size / bytes;
    struct verification *out = checking->out;
    struct err ignored = {0};
    uint64_t at = 0;
    const bool known = !checking->ready->resolved->setup_count && !fill_range(fill, want, first, count, &ignored);
    while (known && at < count && !memcmp(data + at * bytes, want + at * bytes, bytes))
        at++;
    if (!known || at == count) {
        verification_fail(out, "%sinput '%.60s' was overwritten among elements %llu to %llu", when, name,
                          (unsigned long long)first, (unsigned long long)(first + count - 1));
        return;
    }
    dtype_load(&out->got, fill->dtype, data + at * bytes, 1);
    dtype_load(&out->want, fill->dtype, want + at * bytes, 1);
    out->index = first + at;
    snprintf(out->buffer, sizeof(out->buffer), "%s", name);
    verification_fail(out, "%sinput %.60s[%llu] was overwritten: it is %.9g, and was %.9g", when, name,
                      (unsigned long long)out->index, out->got, out->want);
}

enum status check_guards(const struct checking *checking, const char *when, struct err *err)
{
    char where[READY_WHERE];
    const enum status status = ready_check_guards(where, checking->ready, err);
    if (!status && where[0])
        verification_fail(checking->out, "%sit writes outside of its buffers: %s", when, where);
    return status;
}

enum status check_surroundings(const struct checking *checking, const char *when, struct err *err)
{
    struct verification *out = checking->out;
    struct ready *ready = checking->ready;
    enum status status = check_guards(checking, when, err);
    for (size_t k = 0; k < ready->resolved->buffer_count && !status && out->verdict != VERIFY_FAIL; k++) {
        uint64_t changed = ready->buffers[k].kept_count;
        const uint8_t *data = NULL;
        if (is_input(ready, k))
            status = find_change(&changed, checking, k, err);
        if (status || changed == ready->buffers[k].kept_count)
            continue;
        uint8_t *room = new_zeroed(2 * HASH_PIECE_BYTES, 1);
        status = piece_read(&data, piece_at(ready, k, changed), checking, k, room, err);
        if (!status)
            say_overwritten(checking, k, changed, data, room + HASH_PIECE_BYTES, when);
        free(room);
    }
    return status;
}

/* ---- launches that differ ---- */

/* Only poison that is NaN in every floating type distinguishes an unwritten element from a computed value. */
static enum status check_written(const struct checking *checking, size_t buffer, uint64_t k, uint8_t poison,
                                 const char *when, struct err *err)
{
    const struct resolved_buffer *resolved = &checking->ready->resolved->buffers[buffer];
    const struct piece piece = piece_at(checking->ready, buffer, k);
    const size_t bytes = dtype_bytes(resolved->dtype);
    const uint8_t *data = NULL;
    uint8_t *room = new_zeroed(HASH_PIECE_BYTES, 1);
    const enum status status = piece_read(&data, piece, checking, buffer, room, err);
    uint64_t held = 0; /* poisoned bytes in a row, up to this one */
    for (uint64_t at = 0; at < piece.size && !status && poison == poisons[0]; at++) {
        held = data[at] == poison ? held + 1 : 0;
        if (held < bytes || (at + 1) % bytes)
            continue;
        checking->out->index = (piece.start + at) / bytes;
        verification_fail(checking->out, "%s%.60s[%llu] is not written: it holds what was there before", when,
                          resolved->spec->name, (unsigned long long)checking->out->index);
        snprintf(checking->out->buffer, sizeof(checking->out->buffer), "%s", resolved->spec->name);
        break;
    }
    free(room);
    return status;
}

void verification_take(struct verification *out, const struct verification *again, const char *when)
{
    verification_fail(out, "%s%.*s", when, (int)(sizeof(out->reason) - strlen(when) - 1), again->reason);
    memcpy(out->buffer, again->buffer, sizeof(out->buffer));
    out->wrong = again->wrong;
    out->index = again->index;
    out->got = again->got;
    out->want = again->want;
    out->max_abs = again->max_abs;
    out->max_rel = again->max_rel;
}

enum status compare_again(const struct checking *checking, const char *when, struct err *err)
{
    struct verification again = {0}, *out = checking->out;
    const enum status status = compare_outputs(checking, &again, err);
    out->tolerance_used = fmax(out->tolerance_used, again.tolerance_used);
    if (!status && again.verdict == VERIFY_FAIL)
        verification_take(out, &again, when);
    return status;
}

/* Accepts outputs that are identical to those of the verified launch. Compares others again, which names the wrong
 * element; even within the tolerance they must be identical unless the manifest says that they vary. */
static enum status judge(const struct checking *checking, bool (*which)(const struct ready *ready, size_t buffer),
                         uint8_t poison, const char *when, struct err *err)
{
    struct ready *ready = checking->ready;
    struct verification *out = checking->out;
    for (size_t k = 0; k < ready->resolved->buffer_count && out->verdict != VERIFY_FAIL; k++) {
        const struct resolved_buffer *buffer = &ready->resolved->buffers[k];
        uint64_t changed = 0;
        if (!which(ready, k))
            continue;
        enum status status = find_change(&changed, checking, k, err);
        if (!status && changed == ready->buffers[k].kept_count)
            continue;
        if (!status) /* an overwritten input would explain the change */
            status = check_surroundings(checking, when, err);
        if (!status && out->verdict != VERIFY_FAIL)
            status = check_written(checking, k, changed, poison, when, err);
        if (!status && out->verdict != VERIFY_FAIL)
            status = compare_again(checking, when, err);
        if (status)
            return status;
        const struct piece piece = piece_at(ready, k, changed);
        const size_t bytes = dtype_bytes(buffer->dtype);
        if (out->verdict != VERIFY_FAIL && !buffer->spec->varies)
            verification_fail(
                out,
                "%s'%.60s' differs from the first launch among elements %llu to %llu, though none that was compared is "
                "wrong; an output that may do so says \"varies\": true",
                when, buffer->spec->name, (unsigned long long)(piece.start / bytes),
                (unsigned long long)((piece.start + piece.size) / bytes - 1));
    }
    return STATUS_OK;
}

bool is_overwritten(const struct ready *ready, size_t buffer)
{
    const struct manifest_buffer *spec = ready->resolved->buffers[buffer].spec;
    return is_compared(ready, buffer) && spec->role == ROLE_OUT && spec->reset == RESET_NONE &&
           spec->fill.kind == FILL_NONE;
}

/* Poisons one element of otherwise correct outputs, which are what timed launches find. Catches a kernel that skips its
 * work if it seems to be done. */
static enum status damage(const struct checking *checking, uint64_t seed, uint8_t poison, struct err *err)
{
    struct ready *ready = checking->ready;
    enum status status = STATUS_OK;
    for (size_t k = 0; k < ready->resolved->buffer_count && !status; k++) {
        const struct resolved_buffer *buffer = &ready->resolved->buffers[k];
        const size_t bytes = dtype_bytes(buffer->dtype);
        const uint64_t element = rng_at(seed, k) % buffer->count;
        uint8_t poisoned[16];
        memset(poisoned, poison, sizeof(poisoned));
        if (ready->resolved->buffers[k].spec->role == ROLE_OUT)
            status = ready->device->ops->write(ready->device,
                                               (uint8_t *)ready_buffer(ready, k, checking->rotation) + element * bytes,
                                               poisoned, bytes, err);
    }
    return status;
}

/* The outputs of the last sample must be those of the verified launch. */
enum status check_left(const struct checking *checking, struct err *err)
{
    return judge(checking, is_overwritten, 0, "after the samples, as they left it: ", err);
}

/* Contents of the outputs before a launch: new poison, the previous outputs (as for timed launches), or the previous
 * outputs with one element poisoned. After the samples the choice is random. */
enum found { FOUND_POISON, FOUND_OUTPUTS, FOUND_DAMAGED, FOUND_COUNT };

static enum status relaunch(const struct checking *checking, bool after_samples, unsigned k, struct err *err)
{
    static const enum lane_order orders[] = {LANES_BACKWARD, LANES_SHUFFLED};
    static const char *const words[] = {"", ", work-items run backward", ", work-items run in random order"};
    const uint64_t seed = rng_at(checking->worker->options->sample_seed, k);
    const struct ready *ready = checking->ready;
    bool all = !ready->resolved->setup_count; /* each launch overwrites everything that launches change */
    for (size_t n = 0; n < ready->resolved->buffer_count; n++) {
        const enum buffer_role role = ready->resolved->buffers[n].spec->role;
        all = all && (is_overwritten(ready, n) || role == ROLE_IN || role == ROLE_TEMP);
    }
    const bool poisoned = !all || (after_samples ? k == 0 : k != 1);
    const enum found found = poisoned ? FOUND_POISON : after_samples ? (enum found)(seed % FOUND_COUNT) : FOUND_DAMAGED;
    const uint8_t poison = poisons[found == FOUND_DAMAGED ? 0 : k % sizeof(poisons)];
    /* A missing barrier shows if the work-items that happened to wait for the others run first. */
    struct checking ordered = *checking;
    if (checking->ready->ordered && !after_samples && k < COUNT_OF(orders))
        ordered.order = orders[k];
    char when[96] = "after the samples: ";
    if (!after_samples)
        snprintf(when, sizeof(when), "in launch %u of the same code%s: ", k + 2, words[ordered.order]);
    else if (k > 0)
        snprintf(when, sizeof(when), "after the samples, in launch %u of its own: ", k + 1);
    enum status status = found == FOUND_DAMAGED ? damage(checking, seed, poison, err) : STATUS_OK;
    if (!status)
        status = launch_again(&ordered, found == FOUND_POISON ? &poison : NULL, err);
    checking->out->launches++;
    return status ? status : judge(checking, is_compared, found == FOUND_OUTPUTS ? 0 : poison, when, err);
}

/* Outputs must not be right already after the setup and untimed steps alone. */
enum status check_untimed(const struct checking *checking, struct err *err)
{
    struct ready *ready = checking->ready;
    if (ready->ranks || ready->resolved->timing.loads || (!ready->resolved->setup_count && !ready_untimed(ready)))
        return STATUS_OK;
    if (ready_poison(ready, checking->rotation, poisons[0], err) || ready_setup(ready, err) ||
        ready_run_untimed(ready, checking->rotation, err))
        return err->status;
    for (size_t k = 0; k < ready->resolved->buffer_count; k++) {
        uint64_t changed = 0;
        if (!is_overwritten(ready, k))
            continue;
        if (find_change(&changed, checking, k, err))
            return err->status;
        if (changed == ready->buffers[k].kept_count)
            verification_fail(checking->out, "'%.60s' is right before anything that is timed has run",
                              ready->resolved->buffers[k].spec->name);
    }
    return STATUS_OK;
}

enum status check_relaunches(const struct checking *checking, bool after_samples, struct err *err)
{
    const unsigned least = after_samples ? LEAST_AFTER : LEAST_BEFORE - 1;
    const unsigned most = after_samples ? MOST_AFTER : MOST_BEFORE - 1;
    const double within_ns =
        after_samples ? fmax(more_after * checking->worker->shared->measured.spent_ns[SPENT_MEASURING], more_after_ns)
                      : more_before_ns;
    uint64_t fastest_ns = UINT64_MAX; /* the minimum, so that other load does not decide how many launches run */
    struct verification *out = checking->out;
    for (unsigned k = 0; k < most && out->verdict != VERIFY_FAIL; k++) {
        if (k >= least && (checking->ready->ranks || (double)(fastest_ns * (k + 1)) > within_ns))
            break;
        const uint64_t start_ns = clock_now_ns();
        enum status status = relaunch(checking, after_samples, k, err);
        if (!status)
            status = lockstep_verdict(checking, err);
        const uint64_t took_ns = clock_now_ns() - start_ns;
        fastest_ns = took_ns < fastest_ns ? took_ns : fastest_ns;
        if (status)
            return status;
    }
    return STATUS_OK;
}
