/* SPDX-License-Identifier: MIT
 *
 * Programs read from and write to files in memory. A pipe would need a reader at its other end, and a disassembler,
 * which writes line by line, would wake this process a million times.
 */
#include "rooftile/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rooftile/clock.h"
#include "rooftile/file.h"

#define NS_PER_MS UINT64_C(1000000)
#define SPARE_BYTES ((size_t)64 << 20) /* output allowed beyond the limit before a program is killed */

const volatile int *spawn_stop;
const char spawn_own_input[] = "";

static int start(pid_t *pid, const char *const *argv, char *const *environment, const int fds[static 3])
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int error = posix_spawn_file_actions_init(&actions);
    if (error)
        return error;
    error = posix_spawnattr_init(&attributes);
    if (error) {
        posix_spawn_file_actions_destroy(&actions);
        return error;
    }
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO && !error; fd++)
        error = posix_spawn_file_actions_adddup2(&actions, fds[fd], fd);
    if (!error)
        error = posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
    if (!error) /* the interface lacks a const: argv is only read */
        error =
            posix_spawnp(pid, argv[0], &actions, &attributes, (char *const *)argv, environment ? environment : environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

enum status spawn_begin(struct spawn_child *child, const char *const *argv, char *const *environment, const char *input,
                        bool joined, struct err *err)
{
    const bool own = input == SPAWN_OWN_INPUT;
    *child = (struct spawn_child){.pid = 0};
    child->fds[0] = own     ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                    : input ? memfd_create("rooftile-input", MFD_CLOEXEC)
                            : open("/dev/null", O_RDONLY | O_CLOEXEC);
    child->fds[1] = memfd_create("rooftile-output", MFD_CLOEXEC);
    child->fds[2] = joined ? fcntl(child->fds[1], F_DUPFD_CLOEXEC, 0) : memfd_create("rooftile-errors", MFD_CLOEXEC);
    if (child->fds[0] < 0 || child->fds[1] < 0 || child->fds[2] < 0 ||
        (input && !own && !fd_write(child->fds[0], input, strlen(input))))
        return err_set(err, ERR_IO, "cannot prepare a file in memory: %s", strerror(errno));
    if (!own)
        lseek(child->fds[0], 0, SEEK_SET);
    const int error = start(&child->pid, argv, environment, child->fds);
    if (!error)
        return STATUS_OK;
    child->pid = 0;
    return err_set(err, ERR_IO, "cannot start it: %s", strerror(error));
}

bool spawn_is_running(struct spawn_child *child)
{
    const pid_t ended = child->pid > 0 ? waitpid(child->pid, &child->state, WNOHANG) : 0;
    if (ended == child->pid || (ended < 0 && errno != EINTR))
        child->pid = 0;
    return child->pid > 0;
}

void spawn_kill(const struct spawn_child *child)
{
    kill(-child->pid, SIGKILL);
}

size_t spawn_written(const struct spawn_child *child, int stream)
{
    struct stat info;
    return fstat(child->fds[stream], &info) == 0 && info.st_size > 0 ? (size_t)info.st_size : 0;
}

void spawn_end(struct spawn_child *child)
{
    if (child->pid > 0)
        spawn_kill(child);
    while (child->pid > 0 && waitpid(child->pid, &child->state, 0) < 0 && errno == EINTR)
        continue;
    child->pid = 0;
    for (unsigned i = 0; i < 3; i++) {
        if (child->fds[i] >= 0)
            close(child->fds[i]);
        child->fds[i] = -1;
    }
}

static char *text_of(const struct spawn_child *child, int stream, size_t limit_bytes, struct arena *arena)
{
    const size_t all = spawn_written(child, stream), size = all < limit_bytes ? all : limit_bytes;
    char *text = arena_alloc(arena, size + 1);
    fd_read_at(child->fds[stream], text, size, 0);
    return all > size ? arena_printf(arena, "%s\n[%zu more bytes were dropped]\n", text, all - size) : text;
}

static enum status run_all(struct spawn_result *results, const char *const *const *argvs, size_t count,
                           const char *input, size_t limit_bytes, int timeout_ms, struct arena *arena, struct err *err)
{
    const int stop_before = spawn_stop ? *spawn_stop : 0;
    const size_t most = limit_bytes + SPARE_BYTES;
    struct spawn_child *children = arena_array(arena, count, sizeof(*children));
    bool *timed_out = arena_array(arena, count, sizeof(*timed_out));
    enum status status = STATUS_OK;
    size_t begun = 0, running = count;
    for (; begun < count && !status; begun++)
        if (spawn_begin(&children[begun], argvs[begun], NULL, input, false, err))
            status = err_within(err, "%s", argvs[begun][0]);
    const uint64_t deadline_ns = clock_now_ns() + (uint64_t)timeout_ms * NS_PER_MS;
    while (running && !status) {
        const bool late = timeout_ms > 0 && clock_now_ns() > deadline_ns;
        running = 0;
        for (size_t k = 0; k < count; k++) {
            if (!spawn_is_running(&children[k]))
                continue;
            running++;
            timed_out[k] |= late;
            if (late || spawn_written(&children[k], 1) > most || spawn_written(&children[k], 2) > most)
                spawn_kill(&children[k]);
        }
        if (running)
            clock_sleep_ns(NS_PER_MS / 2);
        if (running && spawn_stop && *spawn_stop != stop_before)
            status = err_set(err, ERR_INTERRUPTED, "%s: interrupted", argvs[0][0]);
    }
    for (size_t k = 0; k < begun; k++) {
        const int state = children[k].state;
        if (!status)
            results[k] =
                (struct spawn_result){.exit_code = WIFSIGNALED(state) ? 128 + WTERMSIG(state) : WEXITSTATUS(state),
                                      .timed_out = timed_out[k],
                                      .output = text_of(&children[k], 1, limit_bytes, arena),
                                      .errors = text_of(&children[k], 2, limit_bytes, arena)};
        spawn_end(&children[k]);
    }
    return status;
}

enum status spawn_all(struct spawn_result *results, const char *const *const *argvs, size_t count, size_t limit_bytes,
                      int timeout_ms, struct arena *arena, struct err *err)
{
    return run_all(results, argvs, count, NULL, limit_bytes, timeout_ms, arena, err);
}

enum status spawn_run(struct spawn_result *result, const char *const *argv, const char *input, size_t limit_bytes,
                      int timeout_ms, struct arena *arena, struct err *err)
{
    return run_all(result, &argv, 1, input, limit_bytes, timeout_ms, arena, err);
}

static bool is_program(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

char *spawn_which(struct arena *arena, const char *program)
{
    if (strchr(program, '/'))
        return is_program(program) ? arena_strdup(arena, program) : NULL;
    const char *folders = getenv("PATH");
    if (!folders)
        folders = "/bin:/usr/bin"; /* the default of posix_spawnp */
    while (*program) {
        const size_t length = strcspn(folders, ":");
        /* An empty entry of PATH is the working folder. */
        const char *folder = length ? arena_strndup(arena, folders, length) : ".";
        char *path = path_join(arena, folder, program);
        if (is_program(path))
            return path;
        if (!folders[length])
            break;
        folders += length + 1;
    }
    return NULL;
}
