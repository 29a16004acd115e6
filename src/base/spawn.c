/* SPDX-License-Identifier: MIT */
#include "rooftile/spawn.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rooftile/clock.h"
#include "rooftile/file.h"

#define NS_PER_MS UINT64_C(1000000)
enum { STOP_POLL_MS = 100 }; /* a signal may come just before a wait begins */

/* One stream of a child: what it wrote, up to the limit. */
struct stream {
    int read_fd;  /* ours; -1 when closed */
    int write_fd; /* the child's; -1 when closed */
    struct text text;
    size_t dropped_bytes;
};

struct child {
    pid_t pid;
    int input_fd;
    struct stream streams[2]; /* standard output, standard error */
    uint64_t deadline_ns;     /* 0: none */
    int stop_before;          /* *spawn_stop when it was started */
};

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void child_release(struct child *child)
{
    close_fd(&child->input_fd);
    for (unsigned i = 0; i < 2; i++) {
        close_fd(&child->streams[i].read_fd);
        close_fd(&child->streams[i].write_fd);
        text_release(&child->streams[i].text);
    }
}

/* A file in memory instead of a third pipe: no deadlock with a child that does not read, and no SIGPIPE. */
static enum status open_input(int *fd, const char *input, struct err *err)
{
    *fd = input ? memfd_create("rooftile-input", MFD_CLOEXEC) : open("/dev/null", O_RDONLY | O_CLOEXEC);
    size_t left = input ? strlen(input) : 0;
    while (*fd >= 0 && left > 0) {
        const ssize_t put = write(*fd, input, left);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            break;
        input += put;
        left -= (size_t)put;
    }
    if (*fd < 0 || left > 0 || (input && lseek(*fd, 0, SEEK_SET)))
        return err_set(err, ERR_IO, "cannot prepare the input: %s", strerror(errno));
    return STATUS_OK;
}

static enum status open_streams(struct child *child, const char *input, struct err *err)
{
    if (open_input(&child->input_fd, input, err))
        return err->status;
    for (unsigned i = 0; i < 2; i++) {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC))
            return err_set(err, ERR_IO, "cannot open a pipe: %s", strerror(errno));
        child->streams[i].read_fd = ends[0];
        child->streams[i].write_fd = ends[1];
        /* Only our end: a child does not expect a pipe that does not block. */
        fcntl(ends[0], F_SETFL, O_NONBLOCK);
    }
    return STATUS_OK;
}

/* Own process group, all signals as a fresh program expects them, and no descriptor of ours but the three. */
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

static int start(struct child *child, const char *const *argv)
{
    return spawn_start(&child->pid, argv, NULL,
                       (const int[]){child->input_fd, child->streams[0].write_fd, child->streams[1].write_fd});
}

/* Takes what is there now and closes at the end of the stream. At most a pipe's worth, so that a child that never stops
 * writing does not hold us beyond its deadline. */
static void drain(struct stream *stream, size_t limit_bytes)
{
    char chunk[16384];
    for (unsigned i = 0; i < 64 && stream->read_fd >= 0; i++) {
        const ssize_t got = read(stream->read_fd, chunk, sizeof(chunk));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno == EAGAIN)
            return;
        if (got <= 0) {
            close_fd(&stream->read_fd);
            return;
        }
        const size_t room = limit_bytes - stream->text.length;
        const size_t kept = (size_t)got < room ? (size_t)got : room;
        text_addn(&stream->text, chunk, kept);
        stream->dropped_bytes += (size_t)got - kept;
    }
}

const volatile int *spawn_stop;

/* Asked for since the child was started. */
static bool is_stopped(const struct child *child)
{
    return spawn_stop && *spawn_stop != child->stop_before;
}

/* Milliseconds for poll, rounded up: -1 without a deadline, 0 when it has passed. */
static int remaining_ms(const struct child *child)
{
    if (!child->deadline_ns)
        return -1;
    const uint64_t now_ns = clock_now_ns();
    if (now_ns >= child->deadline_ns)
        return 0;
    const uint64_t left_ms = (child->deadline_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS;
    return left_ms < INT_MAX ? (int)left_ms : INT_MAX;
}

/* Reads until both streams end; false when the time is up, or the child is to be stopped. */
static bool collect(struct child *child, size_t limit_bytes)
{
    while (child->streams[0].read_fd >= 0 || child->streams[1].read_fd >= 0) {
        const int wait_ms = remaining_ms(child);
        if (wait_ms == 0 || is_stopped(child))
            return false;
        /* poll passes over a descriptor of -1 */
        struct pollfd fds[2] = {{.fd = child->streams[0].read_fd, .events = POLLIN},
                                {.fd = child->streams[1].read_fd, .events = POLLIN}};
        const bool limited = spawn_stop && (wait_ms < 0 || wait_ms > STOP_POLL_MS);
        if (poll(fds, 2, limited ? STOP_POLL_MS : wait_ms) <= 0)
            continue;
        for (unsigned i = 0; i < 2; i++)
            if (fds[i].revents)
                drain(&child->streams[i], limit_bytes);
    }
    return true;
}

/* 1 when the child ended, 0 when the time is up, -1 with errno. A child may close its output and go on. */
static int wait_child(const struct child *child, int *wait_status)
{
    for (;;) {
        const pid_t ended = waitpid(child->pid, wait_status, child->deadline_ns ? WNOHANG : 0);
        if (ended == child->pid)
            return 1;
        if (ended < 0 && errno != EINTR)
            return -1;
        if (remaining_ms(child) == 0 || (child->deadline_ns && is_stopped(child)))
            return 0;
        if (ended == 0)
            clock_sleep_ns(NS_PER_MS / 2);
    }
}

static enum status finish(struct child *child, struct spawn_result *result, size_t limit_bytes, struct err *err)
{
    int wait_status = 0;
    int ended = collect(child, limit_bytes) ? wait_child(child, &wait_status) : 0;
    const bool stopped = !ended && is_stopped(child);
    if (ended == 0) {
        kill(-child->pid, SIGKILL);
        result->timed_out = !stopped;
        child->deadline_ns = 0;
        ended = wait_child(child, &wait_status);
        for (unsigned i = 0; i < 2; i++)
            drain(&child->streams[i], limit_bytes);
    }
    if (ended < 0)
        return err_set(err, ERR_IO, "cannot wait for the program: %s", strerror(errno));
    if (stopped)
        return err_set(err, ERR_INTERRUPTED, "interrupted");
    result->exit_code = WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
    return STATUS_OK;
}

static char *stream_text(struct stream *stream, struct arena *arena)
{
    if (stream->dropped_bytes)
        text_addf(&stream->text, "\n[%zu more bytes were dropped]\n", stream->dropped_bytes);
    return stream->text.length ? arena_copy(arena, stream->text.data, stream->text.length + 1) : arena_alloc(arena, 1);
}

enum status spawn_run(struct spawn_result *result, const char *const *argv, const char *input, size_t limit_bytes,
                      int timeout_ms, struct arena *arena, struct err *err)
{
    struct spawn_result found = {0};
    struct child child = {.input_fd = -1,
                          .stop_before = spawn_stop ? *spawn_stop : 0,
                          .streams = {{.read_fd = -1, .write_fd = -1}, {.read_fd = -1, .write_fd = -1}}};
    enum status status = open_streams(&child, input, err);
    if (status)
        goto out;
    if (timeout_ms > 0)
        child.deadline_ns = clock_now_ns() + (uint64_t)timeout_ms * NS_PER_MS;
    const int error = start(&child, argv);
    if (error) {
        status = err_set(err, ERR_IO, "cannot start it: %s", strerror(error));
        goto out;
    }
    /* The streams end when the child's copies are the only ones and it closes them. */
    close_fd(&child.streams[0].write_fd);
    close_fd(&child.streams[1].write_fd);
    status = finish(&child, &found, limit_bytes, err);
    if (status)
        goto out;
    found.output = stream_text(&child.streams[0], arena);
    found.errors = stream_text(&child.streams[1], arena);
    *result = found;
out:
    child_release(&child);
    return status ? err_within(err, "%s", argv[0]) : STATUS_OK;
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
        folders = "/bin:/usr/bin"; /* what posix_spawnp searches then */
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
