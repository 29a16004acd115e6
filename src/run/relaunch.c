/* SPDX-License-Identifier: MIT
 *
 * What one launch cannot show: overwritten inputs, writes outside of buffers, and launches that differ.
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

/* Of a buffer that need not be read back to be seen: below it a launch takes no less. */
static const uint64_t hashed_from_bytes = 4 * HASH_PIECE_BYTES;
/* Launches in a row before the samples, the first included, and those after them. With so many at the least, a kernel
 * that is wrong on every third launch is seen; those up to the most only while they are short. */
enum { LEAST_BEFORE = 3, MOST_BEFORE = 7, AFTER = 1 };
static const double more_within_ns = 20e6;
/* What outputs hold before a launch. Never the same twice in a row: an element that no launch writes shows, and so does
 * one that is written only over certain values. 0xff is no number in any floating type. */
static const uint8_t poisons[] = {0xff, 0x00, 0x3f, 0x32, 0x80, 0x55};

/* ---- pieces of a buffer ---- */

struct piece {
    uint64_t start, size; /* bytes */
};

static uint64_t piece_count(const struct ready *ready, size_t buffer)
{
    return (ready->resolved->buffers[buffer].size_bytes + HASH_PIECE_BYTES - 1) / HASH_PIECE_BYTES;
}

static struct piece piece_at(const struct ready *ready, size_t buffer, uint64_t k)
{
    const uint64_t size = ready->resolved->buffers[buffer].size_bytes, start = k * HASH_PIECE_BYTES;
    return (struct piece){start, size - start < HASH_PIECE_BYTES ? size - start : HASH_PIECE_BYTES};
}

/* The memory itself, or read into `room`, which has HASH_PIECE_BYTES. */
static enum status piece_read(const uint8_t **data, struct piece piece, const struct checking *checking, size_t buffer,
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
    uint8_t *room = malloc(HASH_PIECE_BYTES);
    enum status status = STATUS_OK;
    if (!room)
        arena_out_of_memory(HASH_PIECE_BYTES);
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

/* Behind the end of a buffer that fills no whole word its guard is hashed, too. */
static bool is_hashed_there(const struct checking *checking, size_t buffer)
{
    const struct resolved_buffer *resolved = &checking->ready->resolved->buffers[buffer];
    char why[SERVICE_WHY];
    return !checking->ready->device->ops->host_visible && resolved->space == BUFFER_DEVICE &&
           resolved->size_bytes >= hashed_from_bytes && resolved->align_offset % HASH_WORD_BYTES == 0 &&
           !checking->ready->buffers[buffer].unguarded && service_ready(checking->worker, SERVICE_HASH, why);
}

static enum status hash_pieces(uint64_t *hashes, const struct checking *checking, size_t buffer, struct err *err)
{
    struct ready *ready = checking->ready;
    struct hash_job job = {checking, buffer, hashes};
    if (is_hashed_there(checking, buffer))
        return hash_on_device(hashes, checking->worker, ready_buffer(ready, buffer, checking->rotation),
                              ready->resolved->buffers[buffer].size_bytes, err);
    return run_in_parts(ready->device, piece_count(ready, buffer), hash_part, &job, err);
}

static enum status keep(const struct checking *checking, size_t buffer, struct err *err)
{
    struct ready_buffer *of = &checking->ready->buffers[buffer];
    if (!of->kept) {
        of->kept_count = piece_count(checking->ready, buffer);
        of->kept = arena_array(&checking->ready->arena, of->kept_count + 1, sizeof(*of->kept));
    }
    return hash_pieces(of->kept, checking, buffer, err);
}

/* The first piece that is not as it was kept; kept_count: none. */
static enum status find_change(uint64_t *found, const struct checking *checking, size_t buffer, struct err *err)
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

static bool is_input(const struct ready *ready, size_t buffer)
{
    return ready->resolved->buffers[buffer].spec->role == ROLE_IN;
}

/* Outputs that only metrics read (clocks, counters) differ from launch to launch. */
static bool is_compared(const struct ready *ready, size_t buffer)
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
    enum status status = STATUS_OK;
    for (size_t k = 0; k < checking->ready->resolved->buffer_count && !status; k++)
        if (which(checking->ready, k))
            status = keep(checking, k, err);
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

__attribute__((format(printf, 2, 3))) static void fail(struct verification *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    out->verdict = VERIFY_FAIL;
    vsnprintf(out->reason, sizeof(out->reason), format, args);
    va_end(args);
}

/* Element by element where the fill alone says what it must be; a setup step may have made it something else. */
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
        fail(out, "%sinput '%.60s' was overwritten among elements %llu to %llu", when, name, (unsigned long long)first,
             (unsigned long long)(first + count - 1));
        return;
    }
    dtype_load(&out->got, fill->dtype, data + at * bytes, 1);
    dtype_load(&out->want, fill->dtype, want + at * bytes, 1);
    out->index = first + at;
    snprintf(out->buffer, sizeof(out->buffer), "%s", name);
    fail(out, "%sinput %.60s[%llu] was overwritten: it is %.9g, and was %.9g", when, name,
         (unsigned long long)out->index, out->got, out->want);
}

static enum status check_input(const struct checking *checking, size_t buffer, const char *when, struct err *err)
{
    const struct ready_buffer *of = &checking->ready->buffers[buffer];
    uint64_t k = 0;
    const uint8_t *data = NULL;
    enum status status = find_change(&k, checking, buffer, err);
    if (status || k == of->kept_count)
        return status;
    uint8_t *room = malloc(2 * HASH_PIECE_BYTES);
    if (!room)
        arena_out_of_memory(2 * HASH_PIECE_BYTES);
    status = piece_read(&data, piece_at(checking->ready, buffer, k), checking, buffer, room, err);
    if (!status)
        say_overwritten(checking, buffer, k, data, room + HASH_PIECE_BYTES, when);
    free(room);
    return status;
}

enum status check_guards(const struct checking *checking, const char *when, struct err *err)
{
    char where[READY_WHERE];
    const enum status status = ready_check_guards(where, checking->ready, err);
    if (!status && where[0])
        fail(checking->out, "%sit writes outside of its buffers: %s", when, where);
    return status;
}

enum status check_surroundings(const struct checking *checking, const char *when, struct err *err)
{
    struct verification *out = checking->out;
    struct ready *ready = checking->ready;
    enum status status = check_guards(checking, when, err);
    for (size_t k = 0; k < ready->resolved->buffer_count && !status && out->verdict != VERIFY_FAIL; k++)
        if (is_input(ready, k))
            status = check_input(checking, k, when, err);
    return status;
}

/* ---- launches that differ ---- */

/* The first element of a piece that still holds what was there before the launch; false: none does. */
static bool find_unwritten(uint64_t *element, const uint8_t *data, struct piece piece, size_t bytes, uint8_t poison)
{
    uint64_t held = 0; /* bytes in a row, up to this one */
    for (uint64_t k = 0; k < piece.size; k++) {
        held = data[k] == poison ? held + 1 : 0;
        if (held < bytes || (k + 1) % bytes)
            continue;
        *element = (piece.start + k) / bytes;
        return true;
    }
    return false;
}

/* Poison that is no number in any floating type tells an element that was not written from one that came out so. */
static enum status check_written(const struct checking *checking, size_t buffer, uint64_t k, uint8_t poison,
                                 const char *when, struct err *err)
{
    const struct resolved_buffer *resolved = &checking->ready->resolved->buffers[buffer];
    const struct piece piece = piece_at(checking->ready, buffer, k);
    const uint8_t *data = NULL;
    uint64_t element = 0;
    uint8_t *room = malloc(HASH_PIECE_BYTES);
    if (!room)
        arena_out_of_memory(HASH_PIECE_BYTES);
    const enum status status = piece_read(&data, piece, checking, buffer, room, err);
    if (!status && poison == poisons[0] &&
        find_unwritten(&element, data, piece, dtype_bytes(resolved->dtype), poison)) {
        fail(checking->out, "%s%.60s[%llu] is not written: it holds what was there before", when, resolved->spec->name,
             (unsigned long long)element);
        snprintf(checking->out->buffer, sizeof(checking->out->buffer), "%s", resolved->spec->name);
        checking->out->index = element;
    }
    free(room);
    return status;
}

/* The outputs as they are now, compared with what they should be. */
static enum status compare_again(const struct checking *checking, const char *when, struct err *err)
{
    struct verification again = {0}, *out = checking->out;
    const enum status status = compare_outputs(checking, &again, err);
    out->tolerance_used = fmax(out->tolerance_used, again.tolerance_used);
    if (status || again.verdict != VERIFY_FAIL)
        return status;
    fail(out, "%s%.*s", when, (int)(sizeof(out->reason) - strlen(when) - 1), again.reason);
    memcpy(out->buffer, again.buffer, sizeof(out->buffer));
    out->wrong = again.wrong;
    out->index = again.index;
    out->got = again.got;
    out->want = again.want;
    out->max_abs = again.max_abs;
    out->max_rel = again.max_rel;
    return STATUS_OK;
}

/* Outputs that came out as in the launch that was verified are verified. Others are compared once more, which names the
 * element; and where all are within the tolerance, they still must be the same unless the manifest says otherwise. */
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
        if (!status) /* which would explain it */
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
            fail(
                out,
                "%s'%.60s' differs from the first launch among elements %llu to %llu, though none that was compared is "
                "wrong; an output that may do so says \"varies\": true",
                when, buffer->spec->name, (unsigned long long)(piece.start / bytes),
                (unsigned long long)((piece.start + piece.size) / bytes - 1));
    }
    return STATUS_OK;
}

/* An output that every launch writes anew, whatever it held. */
static bool is_overwritten(const struct ready *ready, size_t buffer)
{
    const struct manifest_buffer *spec = ready->resolved->buffers[buffer].spec;
    return is_compared(ready, buffer) && spec->role == ROLE_OUT && spec->reset == RESET_NONE &&
           spec->fill.kind == FILL_NONE;
}

static bool is_all_overwritten(const struct ready *ready)
{
    bool all = !ready->resolved->setup_count;
    for (size_t k = 0; k < ready->resolved->buffer_count; k++) {
        const enum buffer_role role = ready->resolved->buffers[k].spec->role;
        all = all && (is_overwritten(ready, k) || role == ROLE_IN || role == ROLE_TEMP);
    }
    return all;
}

/* Outputs that are right but for one element, as timed launches find them: a kernel that looks whether its work is done
 * already does not see the one that is not. */
static enum status damage(const struct checking *checking, uint8_t poison, struct err *err)
{
    struct ready *ready = checking->ready;
    enum status status = STATUS_OK;
    for (size_t k = 0; k < ready->resolved->buffer_count && !status; k++) {
        const struct resolved_buffer *buffer = &ready->resolved->buffers[k];
        const size_t bytes = dtype_bytes(buffer->dtype);
        const uint64_t element = rng_at(checking->worker->options->sample_seed, k) % buffer->count;
        uint8_t poisoned[16];
        memset(poisoned, poison, sizeof(poisoned));
        if (ready->resolved->buffers[k].spec->role == ROLE_OUT)
            status = ready->device->ops->write(ready->device,
                                               (uint8_t *)ready_buffer(ready, k, checking->rotation) + element * bytes,
                                               poisoned, bytes, err);
    }
    return status;
}

/* What the last sample left is what a launch makes. */
enum status check_left(const struct checking *checking, struct err *err)
{
    return judge(checking, is_overwritten, 0, "after the samples, as they left it: ", err);
}

/* Drawn anew where the manifest draws them, which keeps every index within its bounds. */
static enum status change_inputs(bool *changed, const struct checking *checking, struct err *err)
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

enum status check_other_inputs(const struct checking *checking, struct err *err)
{
    bool changed = false;
    if (checking->ready->ranks)
        return STATUS_OK;
    enum status status = change_inputs(&changed, checking, err);
    if (status || !changed)
        return status;
    checking->out->launches++;
    status = launch_again(checking, NULL, err);
    return status ? status : compare_again(checking, "after the samples, with other inputs: ", err);
}

enum status check_relaunches(const struct checking *checking, bool after_samples, struct err *err)
{
    const unsigned least = after_samples ? AFTER : LEAST_BEFORE - 1, most = after_samples ? AFTER : MOST_BEFORE - 1;
    uint64_t fastest_ns = UINT64_MAX; /* what else runs on the machine must not decide how much is verified */
    struct verification *out = checking->out;
    const struct ready *ready = checking->ready;
    for (unsigned k = 0; k < most && out->verdict != VERIFY_FAIL; k++) {
        char when[48] = "after the samples: ";
        if (k >= least && (ready->ranks || (double)(fastest_ns * (k + 1)) > more_within_ns))
            break;
        if (!after_samples)
            snprintf(when, sizeof(when), "in launch %u of the same code: ", k + 2);
        const uint64_t start_ns = clock_now_ns();
        /* After one that wrote all, one over what that left but for an element. */
        const bool damaged = !after_samples && k == 1 && is_all_overwritten(ready);
        const uint8_t poison = poisons[damaged ? 0 : k % sizeof(poisons)];
        enum status status = damaged ? damage(checking, poison, err) : STATUS_OK;
        if (!status)
            status = launch_again(checking, damaged ? NULL : &poison, err);
        out->launches++;
        if (!status)
            status = judge(checking, is_compared, poison, when, err);
        if (!status)
            status = lockstep_verdict(checking, err);
        const uint64_t took_ns = clock_now_ns() - start_ns;
        fastest_ns = took_ns < fastest_ns ? took_ns : fastest_ns;
        if (status)
            return status;
    }
    return STATUS_OK;
}
