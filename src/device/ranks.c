/* SPDX-License-Identifier: MIT */
#include "ranks.h"

#include <inttypes.h>
#include <sys/random.h>
#include <unistd.h>

#include "device_internal.h"
#include "rooftile/clock.h"
#include "rooftile/file.h"
#include "rooftile/log.h"

/* The polling interval grows with the number of ranks, so that the load on a shared file system stays constant. */
enum { POLL_NS = 5000000, POLLING_RANKS = 8, MOST_POLL_NS = 500000000, JOB_TEXT = 64 };

/* What rank 0 writes for the others. */
struct call {
    uint64_t nonce; /* 0: there is no call */
    uint32_t world;
    char job[JOB_TEXT];
};

struct meeting {
    const struct device_ranks *ranks;
    struct arena arena, look; /* `look` is emptied for each look at the files, of which there are thousands */
    const char *call, *id;
    uint64_t own;         /* own nonce */
    uint64_t *nonces;     /* rank 0: of the ranks that answered; 0: not yet */
    struct call answered; /* other ranks */
};

/* The result is valid until the next look. */
static const char *answer_of(struct meeting *meeting, uint32_t rank)
{
    return arena_printf(&meeting->look, "%s/.ranks.%u", meeting->ranks->folder, rank);
}

/* Returns "" if there is no file. The result is valid until the next look. */
static const char *read_text(struct meeting *meeting, const char *path)
{
    struct err ignored = {0};
    char *text = NULL;
    size_t length = 0;
    return file_read(&text, &length, path, 1 << 20, &meeting->look, &ignored) ? "" : text;
}

static enum status write_text(struct meeting *meeting, const char *path, struct text *text, struct err *err)
{
    const char *taken = text_take(text, &meeting->look);
    return file_write(path, taken, strlen(taken), err);
}

static void open_meeting(struct meeting *meeting, const struct device_ranks *ranks)
{
    *meeting = (struct meeting){.ranks = ranks};
    meeting->call = path_join(&meeting->arena, ranks->folder, ".ranks.call");
    meeting->id = path_join(&meeting->arena, ranks->folder, ".ranks.id");
    meeting->nonces = arena_array(&meeting->arena, ranks->world, sizeof(*meeting->nonces));
    while (!meeting->own && getrandom(&meeting->own, sizeof(meeting->own), 0) < 0)
        continue;
}

static void next_look(struct meeting *meeting)
{
    const uint64_t poll_ns = POLL_NS * (1 + (uint64_t)meeting->ranks->world / POLLING_RANKS);
    arena_reset(&meeting->look);
    clock_sleep_ns(poll_ns < MOST_POLL_NS ? poll_ns : MOST_POLL_NS);
}

static void close_meeting(struct meeting *meeting)
{
    arena_release(&meeting->look);
    arena_release(&meeting->arena);
}

static struct call read_call(struct meeting *meeting)
{
    struct call call = {0};
    sscanf(read_text(meeting, meeting->call), "%" SCNx64 " %" SCNu32 " %63[^\n]", &call.nonce, &call.world, call.job);
    return call;
}

/* ---- rank 0 ---- */

static bool is_answered(struct meeting *meeting)
{
    bool all = true;
    for (uint32_t rank = 1; rank < meeting->ranks->world; rank++) {
        uint64_t zero = 0, nonce = 0;
        if (!meeting->nonces[rank] &&
            sscanf(read_text(meeting, answer_of(meeting, rank)), "%" SCNx64 " %" SCNx64, &zero, &nonce) == 2 &&
            zero == meeting->own)
            meeting->nonces[rank] = nonce;
        all = all && meeting->nonces[rank];
    }
    return all;
}

static enum status gather(struct meeting *meeting, struct err *err)
{
    const uint64_t start_ns = clock_now_ns();
    while (!is_answered(meeting)) {
        const struct call call = read_call(meeting);
        if (call.nonce != meeting->own)
            return err_set(err, ERR_DEVICE, "another run (job %s) meets in %s, too: give each its own --out-dir",
                           call.job, meeting->ranks->folder);
        if ((double)(clock_now_ns() - start_ns) > meeting->ranks->limit_ns)
            break;
        next_look(meeting);
    }
    char absent[128] = "";
    for (uint32_t rank = 1; rank < meeting->ranks->world; rank++)
        if (!meeting->nonces[rank])
            text_append(absent, sizeof(absent), ", ", "%u", rank);
    return !*absent ? STATUS_OK
                    : err_set(err, ERR_DEVICE, "of %u ranks these did not come within %.0f s: %s (through files of %s)",
                              meeting->ranks->world, meeting->ranks->limit_ns / 1e9, absent, meeting->ranks->folder);
}

static enum status give(struct meeting *meeting, const uint8_t *id, size_t size, struct err *err)
{
    struct text text = {0};
    const struct call earlier = read_call(meeting);
    if (earlier.nonce || file_exists(meeting->id))
        log_info("%s has the id of an earlier run (job %s): it is replaced", meeting->ranks->folder,
                 *earlier.job ? earlier.job : "unknown");
    unlink(meeting->id);
    text_addf(&text, "%016" PRIx64 " %u %s\n", meeting->own, meeting->ranks->world,
              *meeting->ranks->job ? meeting->ranks->job : "unknown");
    if (write_text(meeting, meeting->call, &text, err) || gather(meeting, err))
        return err->status;
    text_addf(&text, "%016" PRIx64 " ", meeting->own);
    for (size_t k = 0; k < size; k++)
        text_addf(&text, "%02x", id[k]);
    for (uint32_t rank = 1; rank < meeting->ranks->world; rank++)
        text_addf(&text, " %016" PRIx64, meeting->nonces[rank]);
    unlink(meeting->call);
    return write_text(meeting, meeting->id, &text, err);
}

/* ---- all others ---- */

/* Returns false if the id is missing or not for this process. */
static bool read_id(struct meeting *meeting, uint8_t *id, size_t size)
{
    const char *text = read_text(meeting, meeting->id);
    const size_t skip = 17, each = 17; /* a nonce and a space */
    const size_t at = skip + 2 * size + 1 + (meeting->ranks->rank - 1) * each;
    uint64_t nonce = 0;
    if (strlen(text) < at + each - 1 || sscanf(text + at, "%16" SCNx64, &nonce) != 1 || nonce != meeting->own)
        return false;
    for (size_t k = 0; k < size; k++) {
        unsigned byte = 0;
        if (sscanf(text + skip + 2 * k, "%2x", &byte) != 1)
            return false;
        id[k] = (uint8_t)byte;
    }
    return true;
}

/* Answers a new call. Without one, checks that the answer is still this process's own. */
static enum status answer(struct meeting *meeting, struct err *err)
{
    const char *path = answer_of(meeting, meeting->ranks->rank);
    const struct call call = read_call(meeting);
    uint64_t ignored, nonce = meeting->own;
    struct text text = {0};
    if (!call.nonce || call.nonce == meeting->answered.nonce) {
        sscanf(read_text(meeting, path), "%" SCNx64 " %" SCNx64, &ignored, &nonce);
        return !meeting->answered.nonce || nonce == meeting->own
                   ? STATUS_OK
                   : err_set(err, ERR_DEVICE, "two processes are rank %u of the job", meeting->ranks->rank);
    }
    meeting->answered = call;
    text_addf(&text, "%016" PRIx64 " %016" PRIx64 "\n", call.nonce, meeting->own);
    return write_text(meeting, path, &text, err);
}

static enum status say_no_id(const struct meeting *meeting, struct err *err)
{
    const struct device_ranks *ranks = meeting->ranks;
    const struct call *call = &meeting->answered;
    const double limit_s = ranks->limit_ns / 1e9;
    if (!call->nonce)
        return err_set(err, ERR_DEVICE, "rank 0 of %u did not come to %s within %.0f s", ranks->world, ranks->folder,
                       limit_s);
    if (call->world != ranks->world || strcmp(call->job, *ranks->job ? ranks->job : "unknown") != 0)
        return err_set(err, ERR_DEVICE,
                       "rank 0 of %u did not come within %.0f s: what lies in %s is of an earlier run (job %s)",
                       ranks->world, limit_s, ranks->folder, call->job);
    return err_set(err, ERR_DEVICE, "rank 0 gave no id within %.0f s: it waits for another rank, or has ended",
                   limit_s);
}

static enum status take(struct meeting *meeting, uint8_t *id, size_t size, struct err *err)
{
    const uint64_t start_ns = clock_now_ns();
    enum status status = STATUS_OK;
    while (!status && !read_id(meeting, id, size)) {
        status = (double)(clock_now_ns() - start_ns) > meeting->ranks->limit_ns ? say_no_id(meeting, err)
                                                                                : answer(meeting, err);
        next_look(meeting);
    }
    unlink(answer_of(meeting, meeting->ranks->rank));
    return status;
}

/* ---- both ---- */

enum status ranks_share(void *id, size_t size, const struct device_ranks *ranks, struct err *err)
{
    struct meeting meeting;
    open_meeting(&meeting, ranks);
    const enum status status = ranks->rank ? take(&meeting, id, size, err) : give(&meeting, id, size, err);
    if (status && !ranks->rank)
        unlink(meeting.call);
    close_meeting(&meeting);
    return status;
}

void ranks_shared(const struct device_ranks *ranks)
{
    struct meeting meeting;
    open_meeting(&meeting, ranks);
    if (!ranks->rank)
        unlink(meeting.id);
    close_meeting(&meeting);
}
