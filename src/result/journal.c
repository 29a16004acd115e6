/* SPDX-License-Identifier: MIT
 *
 * The journal of a run: its result without the brackets. The first line is the head, every further one a case, so that
 * reading it is reading a result. The next trial begins with the next head.
 */
#include "rooftile/journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "records.h"
#include "rooftile/file.h"
#include "rooftile/log.h"
#include "rooftile/shift.h"

#define HEAD_START "{\"schema\":" /* of a head, and of no case */

/* Those that a run goes on with, and its own; more heads are damage. */
enum { MOST_PARTS = SHIFT_MAX_TRIALS + 1 };

struct journal {
    struct arena arena;
    const char *path;
    int fd;
    off_t length;                   /* of what stands in the file for good */
    struct text pending;            /* lines that could not be written */
    size_t inline_max, cases, kept; /* handed over, and in the file */
    bool measured;
};

char *journal_of(const char *result_path, struct arena *arena)
{
    return arena_printf(arena, "%s" JOURNAL_SUFFIX, result_path);
}

/* ---- out ---- */

static void add_case(struct journal *journal, const struct result_case *c)
{
    struct sidecar sidecar = {.inline_max = journal->inline_max};
    struct json_out *out = json_out_new();
    case_json(out, c, &sidecar);
    json_out_finish(out, &journal->pending, false);
    text_add(&journal->pending, "\n");
    journal->cases++;
}

static void add_head(struct journal *journal, const struct result *result)
{
    struct result head = *result;
    head.status = "interrupted"; /* as it will be read only where the run did not end */
    result_head_json(&journal->pending, &head, false);
    text_add(&journal->pending, "\n");
}

/* 0, or the error number; then the file has no part of what is pending. */
static int write_pending(struct journal *journal, bool flush)
{
    const struct text *lines = &journal->pending;
    int cause = 0;
    for (size_t done = 0; done < lines->length && !cause;) {
        const ssize_t put =
            pwrite(journal->fd, lines->data + done, lines->length - done, journal->length + (off_t)done);
        if (put > 0)
            done += (size_t)put;
        else if (!put || errno != EINTR)
            cause = put ? errno : EIO;
    }
    if (!cause && flush && fsync(journal->fd) && errno != EINVAL)
        cause = errno;
    if (!cause) {
        journal->length += (off_t)lines->length;
        journal->kept = journal->cases;
        text_clear(&journal->pending);
    } else if (ftruncate(journal->fd, journal->length)) {
        log_debug("%s: %s", journal->path, strerror(errno)); /* its last line is cut short, which readers see */
    }
    return cause;
}

/* What a run left here that did not end; its cases are measurements. */
static enum status put_aside(const char *path, bool replaces, struct arena *arena, struct err *err)
{
    struct stat info = {0};
    enum status status = STATUS_OK;
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? STATUS_OK : err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
    const int length = (int)(strlen(path) - strlen(JOURNAL_SUFFIX));
    const char *old = arena_printf(arena, "%.*s.old" JOURNAL_SUFFIX, length, path);
    if (flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        status = err_set(err, ERR_IO, "%.*s: another run is writing it (%s)", length, path, path);
    else if (!replaces && !fstat(fd, &info) && info.st_size && rename(path, old))
        status = err_set(err, ERR_IO, "%s: %s", old, strerror(errno));
    else if (!replaces && info.st_size)
        log_warn("W017", "a run to %.*s did not end; what it measured is kept as %s, and --resume takes that", length,
                 path, old);
    close(fd);
    return status;
}

enum status journal_begin(struct journal **journal, const char *path, const struct result *result, bool replaces,
                          struct err *err)
{
    struct journal *begun = new_zeroed(1, sizeof(*begun));
    *begun = (struct journal){.fd = -1,
                              .measured = !result->predicted,
                              .inline_max = result->raw_samples ? MEASUREMENT_MAX_SAMPLES : SAMPLES_INLINE};
    begun->path = arena_strdup(&begun->arena, path);
    enum status status = put_aside(path, replaces, &begun->arena, err);
    if (status)
        goto out;
    add_head(begun, result);
    for (size_t k = 0; k < result->case_count; k++)
        add_case(begun, &result->cases[k]);
    /* All at once: what was resumed is in the old journal or in the new one. */
    status = file_write(path, begun->pending.data, begun->pending.length, err);
    if (status)
        goto out;
    begun->length = (off_t)begun->pending.length;
    begun->kept = begun->cases;
    text_clear(&begun->pending);
    begun->fd = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
    if (begun->fd < 0 || (flock(begun->fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK))
        status = err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
out:
    if (status)
        journal_end(begun, false);
    else
        *journal = begun;
    return status;
}

static void write_or_warn(struct journal *journal, bool flush)
{
    const int cause = write_pending(journal, flush);
    if (cause)
        log_warn("W018", "%s cannot be written (%s): what is measured from here on is lost if this run is killed",
                 journal->path, strerror(cause));
}

void journal_add(struct journal *journal, const struct result_case *c)
{
    add_case(journal, c);
    write_or_warn(journal, journal->measured && c->status != CASE_SKIPPED);
}

void journal_next_trial(struct journal *journal, const struct result *result)
{
    add_head(journal, result);
    write_or_warn(journal, false);
}

const char *journal_path(const struct journal *journal)
{
    return journal->path;
}

size_t journal_cases(const struct journal *journal)
{
    return journal->cases;
}

size_t journal_kept(const struct journal *journal)
{
    return journal->kept;
}

void journal_end(struct journal *journal, bool remove)
{
    if (remove)
        unlink(journal->path);
    if (journal->fd >= 0)
        close(journal->fd);
    text_release(&journal->pending);
    arena_release(&journal->arena);
    free(journal);
}

/* ---- in ---- */

/* Only the last line can be cut short, or be of a size without its bytes: the others were on the disk before it. */
static bool is_whole(const char *line, size_t length)
{
    SCOPED(arena_release) struct arena scratch = {0};
    struct err ignored = {0};
    const cJSON *json;
    return length && line[length - 1] == '\n' && line[0] == '{' &&
           !json_parse(&json, "", line, length, &scratch, &ignored);
}

/* Where the last line begins. */
static size_t last_line(const char *data, size_t length)
{
    const char *end = length > 1 ? memrchr(data, '\n', length - 1) : NULL;
    return end ? (size_t)(end - data) + 1 : 0;
}

/* One more trial, whose lines keep their numbers. */
static struct text *begin_trial(struct text **documents, size_t *count, size_t line, struct arena *arena)
{
    ARENA_PUSH(arena, *documents, *count, (struct text){0});
    struct text *document = &(*documents)[*count - 1];
    for (size_t k = 0; k < line; k++)
        text_add(document, "\n");
    return document;
}

/* A trial that was killed before its first case is none, unless it is all there is. */
static size_t split(struct text **documents, const char *data, size_t length, size_t *cases, struct arena *arena)
{
    struct text *document = NULL;
    size_t count = 0, line_number = 0, of_trial = 0;
    for (const char *line = data, *end; line < data + length; line = end + 1, line_number++) {
        end = memchr(line, '\n', (size_t)(data + length - line));
        const bool head = !document || (count < MOST_PARTS && !strncmp(line, HEAD_START, strlen(HEAD_START)));
        if (head && document && !of_trial)
            text_release(&(*documents)[--count]);
        else if (head && document)
            text_add(document, "]}\n");
        if (head) {
            document = begin_trial(documents, &count, line_number, arena);
            *cases += of_trial;
            of_trial = 0;
        }
        text_add(document, !head && of_trial++ ? "," : "");
        text_addn(document, line, (size_t)(end - line) - head); /* the head goes on with its cases */
        text_add(document, head ? ",\"cases\":[\n" : "\n");
    }
    text_add(document, "]}\n");
    if (!of_trial && count > 1)
        text_release(&(*documents)[--count]);
    *cases += of_trial;
    return count;
}

enum status journal_read(struct text **documents, size_t *count, const char *path, size_t limit_bytes,
                         struct arena *arena, struct err *err)
{
    struct arena scratch = {0};
    char *data = NULL;
    size_t length = 0, cases = 0;
    enum status status = file_read(&data, &length, path, limit_bytes, &scratch, err);
    const size_t last = status ? 0 : last_line(data, length);
    const bool cut = length && !is_whole(data + last, length - last);
    length = cut ? last : length;
    *documents = NULL;
    *count = 0;
    if (!status && !length)
        status = err_set(err, ERR_CONFIG, "%s: the run was killed before it began", path);
    if (status)
        goto out;
    *count = split(documents, data, length, &cases, arena);
    log_info("%s: what a run measured that did not end, %zu case%s%s%s", path, cases, text_s(cases),
             *count > 1 ? arena_printf(&scratch, " in %zu trials", *count) : "",
             cut ? "; its last line was cut short and does not count" : "");
out:
    arena_release(&scratch);
    return status;
}
