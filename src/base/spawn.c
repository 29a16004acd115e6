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

struct job {
    pid_t pid;  /* 0: not started, or ended */
    int fds[3]; /* standard input, output, error; -1: closed */
    int status; /* from waitpid */
    bool late;  /* killed after its time limit */
};

/* The child has its own process group, default signal handling, and no descriptors but these three. */
int spawn_start(pid_t *pid, const char *const *argv, char *const *environment, const int fds[static 3])
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

static enum status job_start(struct job *job, const char *const *argv, const char *input, struct err *err)
{
    const bool own = input == SPAWN_OWN_INPUT;
    job->fds[0] = own     ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                  : input ? memfd_create("rooftile-input", MFD_CLOEXEC)
                          : open("/dev/null", O_RDONLY | O_CLOEXEC);
    job->fds[1] = memfd_create("rooftile-output", MFD_CLOEXEC);
    job->fds[2] = memfd_create("rooftile-errors", MFD_CLOEXEC);
    size_t left = input ? strlen(input) : 0;
    for (ssize_t put; left > 0; input += put, left -= (size_t)put) {
        put = write(job->fds[0], input, left);
        if (put < 0 && errno == EINTR)
            put = 0;
        if (put < 0)
            break;
    }
    if (job->fds[0] < 0 || job->fds[1] < 0 || job->fds[2] < 0 || left > 0)
        return err_set(err, ERR_IO, "cannot prepare a file in memory: %s", strerror(errno));
    if (!own)
        lseek(job->fds[0], 0, SEEK_SET);
    const int error = spawn_start(&job->pid, argv, NULL, job->fds);
    if (!error)
        return STATUS_OK;
    job->pid = 0;
    return err_set(err, ERR_IO, "cannot start it: %s", strerror(error));
}

static size_t written(int fd)
{
    struct stat info;
    return fstat(fd, &info) == 0 && info.st_size > 0 ? (size_t)info.st_size : 0;
}

/* Returns how many jobs still run. Kills those that are late or write too much, or all with `stop`. */
static size_t reap(struct job *jobs, size_t count, size_t limit_bytes, bool late, bool stop)
{
    size_t running = 0;
    FOR_EACH(struct job, job, jobs, count) {
        if (job->pid <= 0)
            continue;
        const pid_t ended = waitpid(job->pid, &job->status, WNOHANG);
        const size_t most = limit_bytes + SPARE_BYTES;
        if (ended == job->pid || (ended < 0 && errno != EINTR)) {
            job->pid = 0;
            continue;
        }
        running++;
        job->late |= late;
        if (late || stop || written(job->fds[1]) > most || written(job->fds[2]) > most)
            kill(-job->pid, SIGKILL);
    }
    return running;
}

static char *text_of(int fd, size_t limit_bytes, struct arena *arena)
{
    const size_t all = written(fd), size = all < limit_bytes ? all : limit_bytes;
    char *text = arena_alloc(arena, size + 1);
    for (size_t have = 0; have < size;) {
        const ssize_t got = pread(fd, text + have, size - have, (off_t)have);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        have += (size_t)got;
    }
    return all > size ? arena_printf(arena, "%s\n[%zu more bytes were dropped]\n", text, all - size) : text;
}

static enum status run_all(struct spawn_result *results, const char *const *const *argvs, size_t count,
                           const char *input, size_t limit_bytes, int timeout_ms, struct arena *arena, struct err *err)
{
    const int stop_before = spawn_stop ? *spawn_stop : 0;
    struct job *jobs = arena_array(arena, count, sizeof(*jobs));
    enum status status = STATUS_OK;
    for (size_t k = 0; k < count; k++)
        jobs[k].fds[0] = jobs[k].fds[1] = jobs[k].fds[2] = -1;
    for (size_t k = 0; k < count && !status; k++)
        if (job_start(&jobs[k], argvs[k], input, err))
            status = err_within(err, "%s", argvs[k][0]);
    const uint64_t deadline_ns = clock_now_ns() + (uint64_t)timeout_ms * NS_PER_MS;
    for (bool late = false; reap(jobs, count, limit_bytes, late, status != STATUS_OK);) {
        clock_sleep_ns(NS_PER_MS / 2);
        late = timeout_ms > 0 && clock_now_ns() > deadline_ns;
        if (!status && spawn_stop && *spawn_stop != stop_before)
            status = err_set(err, ERR_INTERRUPTED, "%s: interrupted", argvs[0][0]);
    }
    for (size_t k = 0; k < count; k++) {
        const int ended = jobs[k].status;
        if (!status)
            results[k] =
                (struct spawn_result){.exit_code = WIFSIGNALED(ended) ? 128 + WTERMSIG(ended) : WEXITSTATUS(ended),
                                      .timed_out = jobs[k].late,
                                      .output = text_of(jobs[k].fds[1], limit_bytes, arena),
                                      .errors = text_of(jobs[k].fds[2], limit_bytes, arena)};
        for (unsigned i = 0; i < 3; i++)
            if (jobs[k].fds[i] >= 0)
                close(jobs[k].fds[i]);
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
