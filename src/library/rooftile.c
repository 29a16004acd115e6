/* SPDX-License-Identifier: MIT
 *
 * The library starts the program and reads its output. It depends on no other area.
 */
#include "rooftile/rooftile.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define COULD_NOT_MEASURE 3

/* The words of a call: program run - -q, four that differ by call, options, NULL. */
enum { PROGRAM, RUN, SUITE, QUIET, CALL, OPTIONS = CALL + 4 };

struct rooftile {
    const char **words;
    char *plan, *result, *error;
};

/* ---- files ---- */

/* Moves a descriptor away from the standard streams' numbers, which the caller may have closed, so that it does not
 * collide with the child's. */
static int away(int fd)
{
    const int moved = fd < 0 || fd > STDERR_FILENO ? fd : fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (moved != fd)
        close(fd);
    return moved;
}

/* Returns a file in memory with this text; -1 on failure. */
static int file_of(const char *text)
{
    const int fd = away(memfd_create("rooftile", MFD_CLOEXEC));
    const size_t length = strlen(text);
    if (fd >= 0 && write(fd, text, length) == (ssize_t)length && !lseek(fd, 0, SEEK_SET))
        return fd;
    close(fd);
    return -1;
}

/* Reads all of a file and closes it; NULL if it cannot be read. */
static char *text_of(int fd)
{
    struct stat file = {0};
    char *text = fd < 0 || fstat(fd, &file) ? NULL : malloc((size_t)file.st_size + 1);
    const ssize_t got = text ? pread(fd, text, (size_t)file.st_size, 0) : 0;
    if (text)
        text[got > 0 ? got : 0] = '\0';
    if (fd >= 0)
        close(fd);
    return text;
}

static void set(char **to, char *text)
{
    free(*to);
    *to = text;
}

/* ---- the program ---- */

/* Starts the program with these files as its standard streams. Returns 0, with errno set, if it cannot be started. */
static pid_t start(const struct rooftile *rooftile, const int streams[3])
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t all, none;
    pid_t pid = 0;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &all); /* independent of the caller's signal handling */
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    for (int k = 0; k < 3; k++)
        posix_spawn_file_actions_adddup2(&files, streams[k], k);
    errno = posix_spawnp(&pid, rooftile->words[PROGRAM], &files, &attributes, (char *const *)rooftile->words,
                         environ); /* both arrays are only read */
    const int cause = errno;
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    errno = cause;
    return cause ? 0 : pid;
}

/* Calls `done` for each line of the program's output, or without it stores the whole output in *said. Returns the exit
 * code. */
static int call(struct rooftile *rooftile, const char *suite, rooftile_case_function *done, void *context, char **said)
{
    int ends[2] = {-1, -1}, state = COULD_NOT_MEASURE << 8;
    size_t room = 0;
    if (!pipe2(ends, O_CLOEXEC))
        for (int k = 0; k < 2; k++)
            ends[k] = away(ends[k]);
    const int streams[] = {file_of(suite), ends[1], file_of("")};
    FILE *out = fdopen(ends[0], "r");
    const pid_t pid = out && streams[0] >= 0 && streams[2] >= 0 ? start(rooftile, streams) : 0;
    const int cause = errno;
    close(streams[0]);
    close(streams[1]);
    for (int ended = 0; pid && getdelim(said, &room, done ? '\n' : '\0', out) > 0;)
        if (done && !ended && (ended = done(context, *said)))
            kill(pid, SIGTERM);
    while (pid && waitpid(pid, &state, 0) < 0 && errno == EINTR)
        ;
    if (out)
        fclose(out);
    else
        close(ends[0]);
    set(&rooftile->error, text_of(streams[2]));
    char *end = rooftile->error ? strrchr(rooftile->error, '\n') : NULL;
    if (end)
        *end = '\0';
    if (!pid && asprintf(&end, "cannot start %s: %s", rooftile->words[PROGRAM], strerror(cause)) > 0)
        set(&rooftile->error, end);
    return WIFEXITED(state) ? WEXITSTATUS(state) : COULD_NOT_MEASURE;
}

/* ---- the interface ---- */

struct rooftile *rooftile_open(const char *const *options)
{
    struct rooftile *made = calloc(1, sizeof(*made));
    const char *own = getenv("ROOFTILE_PROGRAM"), *slash;
    char *beside = NULL;
    Dl_info library;
    size_t count = 0;
    while (options && options[count])
        count++;
    if (made)
        made->words = calloc(OPTIONS + count + 1, sizeof(*made->words));
    if (!made || !made->words) {
        free(made);
        return NULL;
    }
    if (!own && dladdr((void *)(size_t)rooftile_open, &library) && (slash = strrchr(library.dli_fname, '/')) &&
        asprintf(&beside, "%.*s/../bin/rooftile", (int)(slash - library.dli_fname), library.dli_fname) > 0 &&
        !access(beside, X_OK))
        own = beside;
    made->words[PROGRAM] = strdup(own ? own : "rooftile");
    free(beside);
    made->words[RUN] = "run";
    made->words[SUITE] = "-";
    made->words[QUIET] = "-q";
    for (size_t k = 0; k < count; k++)
        made->words[OPTIONS + k] = strdup(options[k]);
    return made;
}

void rooftile_close(struct rooftile *rooftile)
{
    if (!rooftile)
        return;
    for (size_t k = OPTIONS; rooftile->words[k]; k++)
        free((char *)rooftile->words[k]);
    free((char *)rooftile->words[PROGRAM]);
    free(rooftile->words);
    free(rooftile->plan);
    free(rooftile->result);
    free(rooftile->error);
    free(rooftile);
}

const char *rooftile_plan(struct rooftile *rooftile, const char *suite)
{
    set(&rooftile->plan, NULL);
    memcpy(rooftile->words + CALL, (const char *[]){"--dry-run", "-q", "-o", "-"}, 4 * sizeof(char *));
    const int code = call(rooftile, suite, NULL, NULL, &rooftile->plan);
    return code == 0 || code == 1 ? rooftile->plan : NULL;
}

int rooftile_run(struct rooftile *rooftile, const char *suite, rooftile_case_function *done, void *context)
{
    const char *folder = getenv("TMPDIR");
    char *file = NULL, *said = NULL;
    set(&rooftile->result, NULL);
    if (asprintf(&file, "%s/rooftile-XXXXXX.json", folder && *folder ? folder : "/tmp") < 0)
        return COULD_NOT_MEASURE;
    const int fd = mkostemps(file, 5, O_CLOEXEC);
    if (fd >= 0)
        close(fd);
    memcpy(rooftile->words + CALL, (const char *[]){"--format", "jsonl", "-o", file}, 4 * sizeof(char *));
    const int code = call(rooftile, suite, done, context, &said);
    set(&rooftile->result, text_of(open(file, O_RDONLY | O_CLOEXEC)));
    unlink(file);
    free(file);
    free(said);
    return code;
}

const char *rooftile_result(const struct rooftile *rooftile)
{
    return rooftile->result ? rooftile->result : "";
}

const char *rooftile_error(const struct rooftile *rooftile)
{
    return rooftile->error ? rooftile->error : "";
}
