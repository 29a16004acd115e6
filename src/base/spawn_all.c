/* SPDX-License-Identifier: MIT
 *
 * Several programs at once. They write into files in memory: a disassembler writes line by line, and a pipe would wake
 * us a million times.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rooftile/clock.h"
#include "rooftile/spawn.h"

#define NS_PER_MS UINT64_C(1000000)

struct job {
    pid_t pid;   /* 0: not started, or ended */
    int fds[3];  /* standard input, output, error; -1 closed */
    int status;  /* as of waitpid */
    bool killed; /* for its time or its size */
};

static void job_close(struct job *job)
{
    for (unsigned k = 0; k < 3; k++)
        if (job->fds[k] >= 0)
            close(job->fds[k]);
}

static enum status job_start(struct job *job, const char *const *argv, struct err *err)
{
    job->fds[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    job->fds[1] = memfd_create("rooftile-output", MFD_CLOEXEC);
    job->fds[2] = memfd_create("rooftile-errors", MFD_CLOEXEC);
    if (job->fds[0] < 0 || job->fds[1] < 0 || job->fds[2] < 0)
        return err_set(err, ERR_IO, "%s: cannot open a file in memory: %s", argv[0], strerror(errno));
    const int error = spawn_start(&job->pid, argv, NULL, job->fds);
    if (!error)
        return STATUS_OK;
    job->pid = 0;
    return err_set(err, ERR_IO, "%s: cannot start it: %s", argv[0], strerror(error));
}

static size_t written(int fd)
{
    struct stat info;
    return fstat(fd, &info) == 0 && info.st_size > 0 ? (size_t)info.st_size : 0;
}

static void job_kill(struct job *job)
{
    if (job->pid > 0) {
        kill(-job->pid, SIGKILL);
        job->killed = true;
    }
}

/* How many still run. */
static size_t reap(struct job *jobs, size_t count, size_t limit_bytes)
{
    size_t running = 0;
    FOR_EACH(struct job, job, jobs, count) {
        if (job->pid <= 0)
            continue;
        const pid_t ended = waitpid(job->pid, &job->status, WNOHANG);
        if (ended == job->pid || (ended < 0 && errno != EINTR))
            job->pid = 0;
        else if (!job->killed && (written(job->fds[1]) > limit_bytes || written(job->fds[2]) > limit_bytes))
            job_kill(job);
        running += job->pid > 0;
    }
    return running;
}

static char *text_of(int fd, size_t limit_bytes, struct arena *arena)
{
    const size_t size = written(fd) < limit_bytes ? written(fd) : limit_bytes;
    char *text = arena_alloc(arena, size + 1);
    for (size_t have = 0; have < size;) {
        const ssize_t got = pread(fd, text + have, size - have, (off_t)have);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        have += (size_t)got;
    }
    return text;
}

enum status spawn_all(struct spawn_result *results, const char *const *const *argvs, size_t count, size_t limit_bytes,
                      int timeout_ms, struct arena *arena, struct err *err)
{
    struct job *jobs = arena_array(arena, count, sizeof(*jobs));
    enum status status = STATUS_OK;
    bool late = false;
    for (size_t k = 0; k < count; k++)
        jobs[k].fds[0] = jobs[k].fds[1] = jobs[k].fds[2] = -1;
    for (size_t k = 0; k < count && !status; k++)
        status = job_start(&jobs[k], argvs[k], err);
    const uint64_t deadline_ns = clock_now_ns() + (uint64_t)timeout_ms * NS_PER_MS;
    for (size_t k = 0; k < count && status; k++)
        job_kill(&jobs[k]);
    while (reap(jobs, count, limit_bytes)) {
        if (!late && timeout_ms > 0 && clock_now_ns() > deadline_ns) {
            late = true;
            for (size_t k = 0; k < count; k++)
                job_kill(&jobs[k]);
        }
        clock_sleep_ns(NS_PER_MS / 2);
    }
    for (size_t k = 0; k < count; k++) {
        const int ended = jobs[k].status;
        if (!status)
            results[k] =
                (struct spawn_result){.exit_code = WIFSIGNALED(ended) ? 128 + WTERMSIG(ended) : WEXITSTATUS(ended),
                                      .timed_out = late && jobs[k].killed,
                                      .output = text_of(jobs[k].fds[1], limit_bytes, arena),
                                      .errors = text_of(jobs[k].fds[2], limit_bytes, arena)};
        job_close(&jobs[k]);
    }
    return status;
}
