/* SPDX-License-Identifier: MIT */
#include "rooftile/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rooftile/text.h"

#define LARGE_BYTES (1u << 20)

static enum status too_large(const char *at_least, size_t size, size_t limit_bytes, struct err *err)
{
    const bool mega = limit_bytes >= 1000000 && limit_bytes % 1000000 == 0;
    return err_set(err, ERR_CONFIG, "has %s%zu bytes, more than the %zu %s limit", at_least, size,
                   mega ? limit_bytes / 1000000 : limit_bytes, mega ? "MB" : "byte");
}

/* Refuses early what cannot be read whole. Pipes are welcome (process substitution), their size shows while reading. */
static enum status check_readable(size_t *expected, int fd, size_t limit_bytes, struct err *err)
{
    struct stat info;
    if (fstat(fd, &info))
        return err_set(err, ERR_CONFIG, "%s", strerror(errno));
    if (S_ISDIR(info.st_mode))
        return err_set(err, ERR_CONFIG, "is a folder, not a file");
    if (S_ISREG(info.st_mode) && (size_t)info.st_size > limit_bytes)
        return too_large("", (size_t)info.st_size, limit_bytes, err);
    *expected = S_ISREG(info.st_mode) ? (size_t)info.st_size : 0;
    return STATUS_OK;
}

/* A large file goes straight to where it stays: a result may have a hundred megabytes. False: it is not done. */
static bool read_straight(char *to, size_t *length, size_t expected, int fd)
{
    for (*length = 0; *length < expected;) {
        const ssize_t got = read(fd, to + *length, expected - *length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got == 0;
        *length += (size_t)got;
    }
    return true;
}

static enum status read_all(struct text *content, int fd, size_t limit_bytes, struct err *err)
{
    char chunk[65536];
    for (;;) {
        const ssize_t got = read(fd, chunk, sizeof(chunk));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_set(err, ERR_CONFIG, "%s", strerror(errno));
        if (got == 0)
            return STATUS_OK;
        if ((size_t)got > limit_bytes - content->length)
            return too_large("at least ", content->length + (size_t)got, limit_bytes, err);
        text_addn(content, chunk, (size_t)got);
    }
}

enum status file_read(char **data, size_t *length, const char *path, size_t limit_bytes, struct arena *arena,
                      struct err *err)
{
    struct text content = {0};
    const bool standard = strcmp(path, "-") == 0;
    const char *name = standard ? "standard input" : path;
    const int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_set(err, ERR_CONFIG, "%s: %s", name, strerror(errno));
    size_t expected = 0;
    enum status status = check_readable(&expected, fd, limit_bytes, err);
    if (!status && expected > LARGE_BYTES) {
        *data = arena_alloc(arena, expected + 1);
        if (read_straight(*data, length, expected, fd))
            goto out;
        status = err_set(err, ERR_CONFIG, "%s", strerror(errno));
    }
    if (!status)
        status = read_all(&content, fd, limit_bytes, err);
    if (status) {
        err_within(err, "%s", name);
        goto out;
    }
    char *copy = arena_alloc(arena, content.length + 1);
    if (content.length)
        memcpy(copy, content.data, content.length);
    *data = copy;
    *length = content.length;
out:
    text_release(&content);
    if (!standard)
        close(fd);
    return status;
}

static enum status write_all(int fd, const char *data, size_t length, struct err *err)
{
    while (length > 0) {
        const ssize_t put = write(fd, data, length);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return err_set(err, ERR_IO, "%s", strerror(errno));
        data += put;
        length -= (size_t)put;
    }
    return STATUS_OK;
}

/* Some file systems cannot sync a folder (EINVAL): there is nothing better to do than going on. */
static enum status sync_fd(int fd, struct err *err)
{
    if (fsync(fd) && errno != EINVAL)
        return err_set(err, ERR_IO, "%s", strerror(errno));
    return STATUS_OK;
}

/* Pipes, terminals and devices (/dev/null, /dev/full) are written as they are: a rename would replace the device. */
static enum status write_through(const char *path, const char *data, size_t length, struct err *err)
{
    const int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return err_set(err, ERR_IO, "%s", strerror(errno));
    const enum status status = write_all(fd, data, length, err);
    if (close(fd) && !status)
        return err_set(err, ERR_IO, "%s", strerror(errno));
    return status;
}

/* A new file beside `path`, by O_EXCL instead of mkstemp so that the user's umask gives its mode. */
static int open_temporary(char **name, const char *path, struct arena *arena)
{
    for (unsigned attempt = 0; attempt < 1000; attempt++) {
        *name = arena_printf(arena, "%s.tmp-%ld-%u", path, (long)getpid(), attempt);
        const int fd = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

/* The rename is on the disk only when the folder is. */
static enum status sync_folder(const char *dir, struct err *err)
{
    const int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return errno == EACCES ? STATUS_OK : err_set(err, ERR_IO, "%s", strerror(errno));
    const enum status status = sync_fd(fd, err);
    close(fd);
    return status;
}

/* `old` is what stands there now, NULL when nothing does: its mode is kept. */
static enum status replace(const char *path, const struct stat *old, const char *data, size_t length,
                           struct arena *arena, struct err *err)
{
    char *temporary = NULL;
    const int fd = open_temporary(&temporary, path, arena);
    if (fd < 0)
        return err_set(err, ERR_IO, "%s", strerror(errno));
    enum status status = STATUS_OK;
    if (old && fchmod(fd, old->st_mode & 07777))
        status = err_set(err, ERR_IO, "%s", strerror(errno));
    if (!status)
        status = write_all(fd, data, length, err);
    if (!status)
        status = sync_fd(fd, err);
    if (close(fd) && !status)
        status = err_set(err, ERR_IO, "%s", strerror(errno));
    if (!status && rename(temporary, path))
        status = err_set(err, ERR_IO, "%s", strerror(errno));
    if (status) {
        unlink(temporary);
        return status;
    }
    return sync_folder(path_dir(arena, path), err);
}

enum status file_write(const char *path, const char *data, size_t length, struct err *err)
{
    if (strcmp(path, "-") == 0)
        return write_all(STDOUT_FILENO, data, length, err) ? err_within(err, "standard output") : STATUS_OK;
    struct arena arena = {0};
    /* Behind a symbolic link, the file it names is replaced and the link stays. */
    const char *real = path_real(&arena, path);
    struct stat info;
    const bool exists = real && stat(real, &info) == 0;
    enum status status;
    if (exists && S_ISDIR(info.st_mode))
        status = err_set(err, ERR_IO, "is a folder, not a file");
    else if (exists && !S_ISREG(info.st_mode))
        status = write_through(path, data, length, err);
    else
        status = replace(exists ? real : path, exists ? &info : NULL, data, length, &arena, err);
    arena_release(&arena);
    return status ? err_within(err, "%s", path) : STATUS_OK;
}

enum status file_make_dirs(const char *path, struct err *err)
{
    struct arena arena = {0};
    enum status status = STATUS_OK;
    char *dir = arena_strdup(&arena, path);
    for (char *end = dir; !status && *end;) {
        end += strspn(end, "/");
        end += strcspn(end, "/");
        const char kept = *end;
        *end = '\0';
        const int cause = mkdir(dir, 0777) ? errno : 0;
        if (cause && !file_is_dir(dir))
            status = err_set(err, ERR_IO, "%s: cannot create the folder: %s", dir, strerror(cause));
        *end = kept;
    }
    arena_release(&arena);
    return status;
}

bool file_exists(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

bool file_is_dir(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}
