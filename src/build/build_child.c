/* SPDX-License-Identifier: MIT
 *
 * Compilers as child processes, and the folder that they write to.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "build_internal.h"
#include "rooftile/clock.h"
#include "rooftile/spawn.h"

/* The first errors of a compiler are the ones that matter. */
#define MESSAGE_LIMIT_BYTES 8192u

enum status scratch_make(char **dir, struct arena *arena, struct err *err)
{
    const char *parent = getenv("TMPDIR");
    char *made = arena_printf(arena, "%s/rooftile-build-XXXXXX", parent && *parent ? parent : "/tmp");
    if (!mkdtemp(made))
        return err_set(err, ERR_IO, "%s: cannot create a temporary folder: %s", made, strerror(errno));
    *dir = made;
    return STATUS_OK;
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *where)
{
    (void)info;
    (void)type;
    (void)where;
    remove(path);
    return 0;
}

void scratch_remove(const char *dir)
{
    if (dir)
        nftw(dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* Our environment, but with the compiler's own temporaries in the scratch folder (a killed compiler leaves them
 * behind), and with a fixed date: objects must not depend on when they were made. */
static char *const *environment(const char *scratch, struct arena *arena)
{
    size_t count = 0;
    while (environ[count])
        count++;
    char **copy = arena_array(arena, count + 3, sizeof(*copy));
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (!text_starts(environ[i], "TMPDIR=") && !text_starts(environ[i], "SOURCE_DATE_EPOCH="))
            copy[kept++] = environ[i];
    copy[kept++] = arena_printf(arena, "TMPDIR=%s", scratch);
    copy[kept] = arena_strdup(arena, "SOURCE_DATE_EPOCH=0");
    return copy;
}

/* It reads nothing, and what it says on either stream is its message. */
static int spawn(struct build_child *child, const struct argv *argv, char *const *variables, int output)
{
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing < 0)
        return errno;
    const int error = spawn_start(&child->pid, argv->items, variables, (const int[]){nothing, output, output});
    close(nothing);
    return error;
}

enum status child_start(struct build_child *child, const struct build_unit *unit, const char *scratch, size_t number,
                        struct arena *arena, struct err *err)
{
    struct argv argv = {.arena = arena};
    *child = (struct build_child){.fd = -1};
    child->object = arena_printf(arena, "%s/%zu.o", scratch, number);
    child->depfile = arena_printf(arena, "%s/%zu.d", scratch, number);
    argv_add_all(&argv, unit->command.items, unit->command.count);
    argv_add_all(&argv, (const char *const[]){"-MD", "-MF", child->depfile, "-MT", "object", "-o", child->object}, 7);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return err_set(err, ERR_BUILD, "cannot open a pipe: %s", strerror(errno));
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    child->started_ns = clock_now_ns();
    const int error = spawn(child, &argv, environment(scratch, arena), ends[1]);
    close(ends[1]);
    if (error) {
        close(ends[0]);
        return err_set(err, ERR_BUILD, "%s: cannot be started: %s", argv.items[0], strerror(error));
    }
    child->fd = ends[0];
    return STATUS_OK;
}

bool child_read(struct build_child *child)
{
    char chunk[16384];
    const ssize_t got = read(child->fd, chunk, sizeof(chunk));
    if (got < 0)
        return errno == EINTR || errno == EAGAIN;
    const size_t room = MESSAGE_LIMIT_BYTES - child->output.length;
    const size_t kept = (size_t)got < room ? (size_t)got : room;
    text_addn(&child->output, chunk, kept);
    child->dropped_bytes += (size_t)got - kept;
    return got > 0;
}

/* Ends at a whole line, and says how much is missing. */
static char *message_of(const struct build_child *child, struct arena *arena)
{
    size_t length = child->output.length;
    if (!child->dropped_bytes) {
        while (length > 0 && child->output.data[length - 1] == '\n')
            length--;
        return arena_strndup(arena, child->output.data, length);
    }
    const char *line_end = memrchr(child->output.data, '\n', length);
    const size_t kept = line_end ? (size_t)(line_end - child->output.data) : length;
    return arena_printf(arena, "%.*s\n... and %zu more bytes of compiler output", (int)kept, child->output.data,
                        child->dropped_bytes + length - kept);
}

static void child_release(struct build_child *child)
{
    if (child->fd >= 0)
        close(child->fd);
    text_release(&child->output);
    *child = (struct build_child){.fd = -1};
}

static int wait_for(pid_t pid)
{
    int state = 0;
    while (waitpid(pid, &state, 0) < 0 && errno == EINTR)
        continue;
    return state;
}

enum status child_finish(struct build_child *child, const char **message, struct arena *arena)
{
    const int state = wait_for(child->pid);
    const bool ok = WIFEXITED(state) && WEXITSTATUS(state) == 0;
    if (!ok && child->output.length > 0)
        *message = message_of(child, arena);
    else if (!ok && WIFSIGNALED(state))
        *message = arena_printf(arena, "the compiler was killed by signal %d (%s)", WTERMSIG(state),
                                strsignal(WTERMSIG(state)));
    else if (!ok)
        *message = arena_printf(arena, "the compiler ended with exit code %d and said nothing", WEXITSTATUS(state));
    child_release(child);
    return ok ? STATUS_OK : ERR_BUILD;
}

void child_kill(struct build_child *child)
{
    kill(-child->pid, SIGKILL);
    wait_for(child->pid);
    child_release(child);
}
