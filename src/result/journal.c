/* SPDX-License-Identifier: MIT
 *
 * The journal of a run: its result without the brackets. The first line is the head, each further line a case, so that
 * a journal is read like a result. The next trial begins with the next head.
 */
#include "rooftile/journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "records.h"
#include "rooftile/file.h"
#include "rooftile/hash.h"
#include "rooftile/log.h"
#include "rooftile/shift.h"

#define HEAD_START "{\"schema\":" /* begins a head, and never a case */

/* The trials that a run continues, and its own; more heads mean a damaged file. */
enum { MOST_PARTS = SHIFT_MAX_TRIALS + 1 };

struct journal {
    struct arena arena;
    const char *path;
    int fd;
    off_t length;                   /* of the content that is safely in the file */
    struct text pending;            /* lines not written yet */
    uint64_t head_sum;              /* of the current trial */
    size_t inline_max, cases, kept; /* cases: handed over; kept: in the file */
    bool measured;
};

char *journal_of(const char *result_path, struct arena *arena)
{
    return arena_printf(arena, "%s" JOURNAL_SUFFIX, result_path);
}

/* ---- line checksums ----
 *
 * The last member of each line is the hash of the text before it, combined with the hash of its head, so that a damaged
 * line or a line of another run is detected. */

#define SUM_KEY ",\"line_sum\":\""
enum { SUM_DIGITS = 16, SUM_LENGTH = sizeof(SUM_KEY) - 1 + SUM_DIGITS + sizeof("\"}") - 1 };

static bool has_sum(const char *line, size_t length)
{
    return length > SUM_LENGTH && !memcmp(line + length - SUM_LENGTH, SUM_KEY, sizeof(SUM_KEY) - 1);
}

/* Completes the line that begins at `start`; its object ends the text. */
static void end_line(struct journal *journal, size_t start, bool head)
{
    struct text *lines = &journal->pending;
    lines->data[--lines->length] = '\0';
    const uint64_t own = hash_u64(lines->data + start, lines->length - start);
    journal->head_sum = head ? own : journal->head_sum;
    text_addf(lines, SUM_KEY "%016llx\"}\n", (unsigned long long)(head ? own : own ^ journal->head_sum));
}

/* ---- writing ---- */

static void add_case(struct journal *journal, const struct result_case *c)
{
    struct sidecar sidecar = {.inline_max = journal->inline_max};
    struct json_out *out = json_out_new();
    const size_t start = journal->pending.length;
    case_json(out, c, &sidecar);
    json_out_finish(out, &journal->pending, false);
    end_line(journal, start, false);
    journal->cases++;
}

static void add_head(struct journal *journal, const struct result *result)
{
    struct result head = *result;
    const size_t start = journal->pending.length;
    head.status = "interrupted"; /* this head matters only if the run did not end */
    result_head_json(&journal->pending, &head, false);
    end_line(journal, start, true);
}

/* Returns 0 or an error number; on error the file contains none of the pending lines. */
static int write_pending(struct journal *journal, bool flush)
{
    const struct text *lines = &journal->pending;
    int cause = 0;
    if (lseek(journal->fd, journal->length, SEEK_SET) < 0 || !fd_write(journal->fd, lines->data, lines->length) ||
        (flush && fsync(journal->fd) && errno != EINVAL))
        cause = errno;
    if (!cause) {
        journal->length += (off_t)lines->length;
        journal->kept = journal->cases;
        text_clear(&journal->pending);
    } else if (ftruncate(journal->fd, journal->length)) {
        log_debug("%s: %s", journal->path, strerror(errno)); /* its last line is truncated, which readers detect */
    }
    return cause;
}

/* Renames the journal of a run that did not end; its cases are valid measurements. */
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
    /* Writes all at once: resumed cases are either in the old journal or in the new one. */
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

/* ---- reading ---- */

/* State for the check of lines. Older journals have no sums; if one line has a sum, every line must have one. */
struct checker {
    bool summed;
    uint64_t head_sum, *seen; /* of the lines before */
    size_t seen_count;
    struct arena *arena;
};

enum { MOST_NAMED = 5 };

static bool is_head(const char *line)
{
    return text_starts(line, HEAD_START);
}

/* Checks the sum and removes it from the length. A repeated line is an error. */
static bool has_good_sum(struct checker *checker, const char *line, size_t *length)
{
    const char *digits = line + *length - SUM_DIGITS - 2;
    if (!has_sum(line, *length) || strspn(digits, "0123456789abcdef") != SUM_DIGITS)
        return false;
    *length -= SUM_LENGTH;
    const uint64_t said = strtoull(digits, NULL, 16), own = hash_u64(line, *length);
    if (said != (is_head(line) ? own : own ^ checker->head_sum) ||
        COUNT_WHERE(one, checker->seen, checker->seen_count, *one == own))
        return false;
    checker->head_sum = is_head(line) ? own : checker->head_sum;
    ARENA_PUSH(checker->arena, checker->seen, checker->seen_count, own);
    return true;
}

/* The trials read, one document each. */
struct trials {
    struct text *documents;
    size_t count, cases;
    bool cut;  /* the last line is incomplete: the run was killed while writing it */
    bool some; /* the file has more than that one line */
};

/* Ends the last trial; drops it if it has no case, as when a run is killed early, unless it is the only one. */
static void end_trial(struct trials *trials, size_t cases, bool last)
{
    if (!trials->count)
        return;
    if (cases || (last && trials->count == 1))
        text_add(&trials->documents[trials->count - 1], "]}\n");
    else
        text_release(&trials->documents[--trials->count]);
    trials->cases += cases;
}

/* A document keeps the line numbers: an empty line replaces each rejected one. */
static void read_lines(struct trials *trials, const char *path, const char *data, size_t length, struct arena *arena)
{
    SCOPED(arena_release) struct arena scratch = {0}, sums = {0};
    struct checker checker = {.arena = &sums};
    size_t number = 0, bad = 0, cases = 0;
    for (const char *line = data, *end; (end = memchr(line, '\n', (size_t)(data + length - line))); line = end + 1)
        checker.summed |= has_sum(line, (size_t)(end - line));
    for (const char *line = data, *end; line < data + length; line = end + 1, number++) {
        const char *found = memchr(line, '\n', (size_t)(data + length - line));
        end = found ? found : data + length;
        size_t kept = (size_t)(end - line);
        const cJSON *json;
        const bool whole =
            checker.summed ? has_good_sum(&checker, line, &kept)
                           : kept && line[0] == '{' && !json_parse(&json, "", line, kept, &scratch, &(struct err){0});
        const bool good = whole && found, head = good && is_head(line) && trials->count < MOST_PARTS;
        arena_reset(&scratch);
        trials->some |= good || number;
        trials->cut = !good && end + 1 >= data + length;
        if (!good && !trials->cut && bad++ < MOST_NAMED)
            log_warn("W023", "%s:%zu: this line is damaged and does not count", path, number + 1);
        if (head) {
            end_trial(trials, cases, false);
            cases = 0;
            ARENA_PUSH(arena, trials->documents, trials->count, (struct text){0});
        }
        if (!trials->count)
            continue;
        struct text *document = &trials->documents[trials->count - 1];
        for (size_t k = 0; head && k < number; k++)
            text_add(document, "\n");
        if (good) {
            text_add(document, !head && cases++ ? "," : "");
            text_addn(document, line, kept - (head && !checker.summed)); /* the cases follow inside the head's object */
            text_add(document, head ? ",\"cases\":[" : checker.summed ? "}" : "");
        }
        text_add(document, "\n");
    }
    end_trial(trials, cases, true);
    if (bad > MOST_NAMED && !trials->cut)
        log_warn("W023", "%s: %zu lines are damaged and do not count", path, bad);
}

enum status journal_read(struct text **documents, size_t *count, const char *path, size_t limit_bytes,
                         struct arena *arena, struct err *err)
{
    SCOPED(arena_release) struct arena scratch = {0};
    struct trials trials = {.count = 0};
    char *data = NULL;
    size_t length = 0;
    *documents = NULL;
    *count = 0;
    if (file_read(&data, &length, path, limit_bytes, &scratch, err))
        return err->status;
    read_lines(&trials, path, data, length, arena);
    if (!trials.count)
        return err_set(err, ERR_CONFIG, "%s: %s", path,
                       trials.some ? "no line that begins a run is whole" : "the run was killed before it began");
    log_info("%s: what a run measured that did not end, %zu case%s%s%s", path, trials.cases, text_s(trials.cases),
             trials.count > 1 ? arena_printf(&scratch, " in %zu trials", trials.count) : "",
             trials.cut ? "; its last line was cut short and does not count" : "");
    *documents = trials.documents;
    *count = trials.count;
    return STATUS_OK;
}
