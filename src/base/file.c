/* SPDX-License-Identifier: MIT */
#include "rooftile/file.h"

#include <fcntl.h>
#include <fts.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- reading ---- */

static enum status too_large(const char *at_least, size_t size, size_t limit_bytes, struct err *err)
{
    const bool mega = limit_bytes >= 1000000 && limit_bytes % 1000000 == 0;
    return err_set(err, ERR_CONFIG, "has %s%zu bytes, more than the %zu %s limit", at_least, size,
                   mega ? limit_bytes / 1000000 : limit_bytes, mega ? "MB" : "byte");
}

/* Rejects early what cannot be read whole. Pipes are accepted (process substitution); their size is found while
 * reading. */
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

/* If the size is known, reads directly into the final memory: a result may have hundreds of megabytes. */
static enum status read_all(char **data, size_t *length, size_t expected, int fd, size_t limit_bytes,
                            struct arena *arena, struct err *err)
{
    size_t room = expected ? expected + 1 : 65536, count = 0; /* one extra byte detects the end */
    char *to = arena_alloc(arena, room + 1);
    for (;;) {
        const ssize_t got = read(fd, to + count, room - count);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_set(err, ERR_CONFIG, "%s", strerror(errno));
        if (got == 0)
            break;
        count += (size_t)got;
        if (count > limit_bytes)
            return too_large("at least ", count, limit_bytes, err);
        if (count < room)
            continue;
        char *longer = arena_alloc(arena, 2 * room + 1);
        memcpy(longer, to, count);
        to = longer;
        room *= 2;
    }
    to[count] = '\0';
    *data = to;
    *length = count;
    return STATUS_OK;
}

enum status file_read(char **data, size_t *length, const char *path, size_t limit_bytes, struct arena *arena,
                      struct err *err)
{
    const bool standard = strcmp(path, "-") == 0;
    const char *name = standard ? "standard input" : path;
    const int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_set(err, ERR_CONFIG, "%s: %s", name, strerror(errno));
    size_t expected = 0;
    enum status status = check_readable(&expected, fd, limit_bytes, err);
    if (!status)
        status = read_all(data, length, expected, fd, limit_bytes, arena, err);
    if (!standard)
        close(fd);
    return status ? err_within(err, "%s", name) : STATUS_OK;
}

/* ---- writing ---- */

bool fd_write(int fd, const void *data, size_t length)
{
    for (size_t done = 0; done < length;) {
        const ssize_t put = write(fd, (const char *)data + done, length - done);
        if (put < 0 && errno != EINTR)
            return false;
        done += put > 0 ? (size_t)put : 0;
    }
    return true;
}

size_t fd_read_at(int fd, void *to, size_t size, uint64_t offset)
{
    size_t done = 0;
    while (done < size) {
        const ssize_t got = pread(fd, (char *)to + done, size - done, (off_t)(offset + done));
        if (!got || (got < 0 && errno != EINTR))
            break;
        done += got > 0 ? (size_t)got : 0;
    }
    return done;
}

static enum status fail(struct err *err)
{
    return err_set(err, ERR_IO, "%s", strerror(errno));
}

/* Some file systems cannot sync a folder (EINVAL), which is ignored. */
static bool is_synced(int fd)
{
    return !fsync(fd) || errno == EINVAL;
}

/* Pipes, terminals and devices (/dev/null, /dev/full) are written in place, because a rename would replace the device.
 * So are files without a name (/dev/stdout of a deleted one). */
static enum status write_through(const char *path, const char *data, size_t length, struct err *err)
{
    const int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return fail(err);
    const enum status status = fd_write(fd, data, length) ? STATUS_OK : fail(err);
    return close(fd) && !status ? fail(err) : status;
}

char *path_new(struct arena *arena, const char *start, const char *suffix)
{
    uint64_t words[2];
    if (getrandom(words, sizeof(words), 0) != (ssize_t)sizeof(words))
        abort(); /* so few bytes always arrive whole, on every kernel since 3.17 */
    return arena_printf(arena, "%s%016llx%016llx%s", start, (unsigned long long)words[0], (unsigned long long)words[1],
                        suffix);
}

/* `old` describes the existing file, whose mode is kept; NULL if there is none. */
static enum status replace(const char *path, const struct stat *old, const char *data, size_t length, bool sync,
                           struct arena *arena, struct err *err)
{
    /* Creates a new file next to `path` with O_EXCL rather than mkstemp, so that the user's umask sets its mode. */
    const char *temporary = path_new(arena, arena_printf(arena, "%s.tmp-", path), "");
    const int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    enum status status = STATUS_OK;
    if (fd < 0)
        return fail(err);
    if ((old && fchmod(fd, old->st_mode & 07777)) || !fd_write(fd, data, length) || (sync && !is_synced(fd)))
        status = fail(err);
    if ((close(fd) || (!status && rename(temporary, path))) && !status)
        status = fail(err);
    if (status)
        unlink(temporary);
    if (status || !sync)
        return status;
    /* The rename is on disk only once the folder is synced. */
    const int folder = open(path_dir(arena, path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return errno == EACCES ? STATUS_OK : fail(err);
    status = is_synced(folder) ? STATUS_OK : fail(err);
    close(folder);
    return status;
}

enum status file_write_unsynced(const char *path, const char *data, size_t length, struct err *err)
{
    SCOPED(arena_release) struct arena arena = {0};
    return replace(path, NULL, data, length, false, &arena, err) ? err_within(err, "%s", path) : STATUS_OK;
}

static const char *unfollowed = "";

void file_follow_no_link_in(const char *dir)
{
    unfollowed = dir;
}

enum status file_write(const char *path, const char *data, size_t length, struct err *err)
{
    if (strcmp(path, "-") == 0)
        return fd_write(STDOUT_FILENO, data, length) ? STATUS_OK
                                                     : err_set(err, ERR_IO, "standard output: %s", strerror(errno));
    SCOPED(arena_release) struct arena arena = {0};
    const bool follows = !*unfollowed || !text_starts(path, unfollowed);
    const char *target = follows ? path_target(&arena, path) : path;
    struct stat info, named;
    const bool exists = !(follows ? stat : lstat)(path, &info);
    enum status status;
    if (!exists && errno != ENOENT) /* a link that the system does not follow is not followed here either */
        status = fail(err);
    else if (!exists || S_ISLNK(info.st_mode))
        status = replace(target, NULL, data, length, true, &arena, err);
    else if (S_ISDIR(info.st_mode))
        status = err_set(err, ERR_IO, "is a folder, not a file");
    else if (!S_ISREG(info.st_mode) || lstat(target, &named) || named.st_ino != info.st_ino)
        status = write_through(path, data, length, err);
    else
        status = replace(target, &info, data, length, true, &arena, err);
    return status ? err_within(err, "%s", path) : STATUS_OK;
}

/* ---- folders ---- */

enum status file_make_dirs(const char *path, struct err *err)
{
    SCOPED(arena_release) struct arena arena = {0};
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
    return status;
}

/* Returns why this folder is not the user's alone, or NULL if it is. The owner of its parent can replace it. */
static const char *not_own(int folder, struct arena *arena)
{
    struct stat info, above;
    if (fstat(folder, &info) || fstatat(folder, "..", &above, 0))
        return strerror(errno);
    if (info.st_uid != geteuid())
        return arena_printf(arena, "it belongs to user %lu, and you are user %lu", (unsigned long)info.st_uid,
                            (unsigned long)geteuid());
    if (above.st_uid && above.st_uid != geteuid())
        return arena_printf(arena, "it stands in a folder of user %lu, and you are user %lu",
                            (unsigned long)above.st_uid, (unsigned long)geteuid());
    if (info.st_mode & 022)
        return arena_printf(arena, "others may write into it (mode %04o)", (unsigned)info.st_mode & 07777);
    return info.st_mode & 077 && fchmod(folder, 0700) ? strerror(errno) : NULL;
}

enum status file_make_own_dir(const char *path, struct err *err)
{
    struct arena arena = {0};
    const char *why = NULL;
    enum status status = file_make_dirs(path_dir(&arena, path), err);
    if (!status && mkdir(path, 0700) && errno != EEXIST)
        status = err_set(err, ERR_IO, "%s: cannot create the folder: %s", path, strerror(errno));
    if (status)
        goto out;
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0)
        why = errno == ENOTDIR || errno == ELOOP ? "it is a link or a file, no folder" : strerror(errno);
    else
        why = not_own(folder, &arena);
    if (why)
        status = err_set(err, ERR_IO, "%s is not taken for a folder of yours alone: %s", path, why);
    if (folder >= 0)
        close(folder);
out:
    arena_release(&arena);
    return status;
}

bool file_exists(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

bool file_is_device(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

bool file_is_dir(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* Follows symbolic links; skips cycles and dangling links. */
static enum status walk(char ***paths, size_t *count, FTS *tree, const char *suffix, struct arena *arena,
                        struct err *err)
{
    for (;;) {
        errno = 0;
        const FTSENT *entry = fts_read(tree);
        if (!entry)
            return errno ? err_set(err, ERR_CONFIG, "%s", strerror(errno)) : STATUS_OK;
        if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR || entry->fts_info == FTS_NS)
            return err_set(err, ERR_CONFIG, "%s: %s", entry->fts_path, strerror(entry->fts_errno));
        if (entry->fts_info == FTS_F && text_ends(entry->fts_path, suffix))
            ARENA_PUSH(arena, *paths, *count, arena_strdup(arena, entry->fts_path));
    }
}

enum status file_list(char ***paths, size_t *count, const char *dir, const char *suffix, struct arena *arena,
                      struct err *err)
{
    struct stat info;
    char **found = NULL;
    size_t found_count = 0;
    if (stat(dir, &info)) {
        if (errno != ENOENT)
            return err_set(err, ERR_CONFIG, "%s: %s", dir, strerror(errno));
        *paths = NULL;
        *count = 0;
        return STATUS_OK;
    }
    if (!S_ISDIR(info.st_mode))
        return err_set(err, ERR_CONFIG, "%s: is not a folder", dir);
    char *roots[] = {arena_strdup(arena, dir), NULL};
    FTS *tree = fts_open(roots, FTS_LOGICAL | FTS_NOCHDIR, NULL);
    if (!tree)
        return err_set(err, ERR_CONFIG, "%s: %s", dir, strerror(errno));
    const enum status status = walk(&found, &found_count, tree, suffix, arena, err);
    fts_close(tree);
    if (status)
        return status;
    if (found_count)
        qsort(found, found_count, sizeof(*found), text_order);
    *paths = found;
    *count = found_count;
    return STATUS_OK;
}

/* ---- paths ---- */

char *path_join(struct arena *arena, const char *dir, const char *name)
{
    const size_t length = strlen(dir);
    if (*name == '/' || length == 0)
        return arena_strdup(arena, name);
    return arena_printf(arena, "%s%s%s", dir, dir[length - 1] == '/' ? "" : "/", name);
}

const char *path_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

char *path_stem(const char *path, const char *suffix, struct arena *arena)
{
    return arena_strndup(arena, path, strlen(path) - (text_ends(path, suffix) ? strlen(suffix) : 0));
}

char *path_dir(struct arena *arena, const char *path)
{
    size_t length = (size_t)(path_base(path) - path);
    if (length == 0)
        return arena_strdup(arena, ".");
    while (length > 1 && path[length - 1] == '/')
        length--;
    return arena_strndup(arena, path, length);
}

char *path_target(struct arena *arena, const char *path)
{
    enum { MOST_LINKS = 40 }; /* as in Linux */
    char *at = arena_strdup(arena, path), to[PATH_MAX];
    for (size_t links = 0; links < MOST_LINKS; links++) {
        const ssize_t length = readlink(at, to, sizeof(to));
        if (length < 0)
            break;
        at = path_join(arena, path_dir(arena, at), arena_strndup(arena, to, (size_t)length));
    }
    return at;
}

char *path_real(struct arena *arena, const char *path)
{
    char *real = realpath(path, NULL);
    char *copy = arena_strdup(arena, real);
    free(real);
    return copy;
}

char *path_self_dir(struct arena *arena)
{
    char *self = path_real(arena, "/proc/self/exe");
    /* Without /proc, or if the running program was deleted, only the working folder is known. */
    return self ? path_dir(arena, self) : arena_strdup(arena, ".");
}

static const char *environment(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* The location of one kind of per-user files: the names that differ between cache and data. */
struct user_folder {
    const char *own;       /* ROOFTILE_*, the full path */
    const char *xdg;       /* XDG_*_HOME; ignored if relative, as the specification requires */
    const char *home;      /* relative to $HOME */
    const char *temporary; /* appended to /tmp/rooftile-<uid> */
};

/* A folder named by the user is used without changes. */
static enum status user_dir(char **path, const struct user_folder *folder, bool make, struct arena *arena,
                            struct err *err)
{
    struct stat info;
    const char *own = environment(folder->own);
    const char *xdg = environment(folder->xdg), *home = environment("HOME");
    if (own)
        *path = arena_strdup(arena, own);
    else if (xdg && *xdg == '/')
        *path = path_join(arena, xdg, "rooftile");
    else if (home)
        *path = path_join(arena, path_join(arena, home, folder->home), "rooftile");
    else
        *path = arena_printf(arena, "/tmp/rooftile-%lu%s", (unsigned long)geteuid(), folder->temporary);
    if (own || (!make && lstat(*path, &info)))
        return STATUS_OK;
    return file_make_own_dir(*path, err) ? err_set(err, ERR_IO, "%s; set %s to another folder", err->text, folder->own)
                                         : STATUS_OK;
}

enum status path_cache_dir(char **path, bool make, struct arena *arena, struct err *err)
{
    static const struct user_folder cache = {"ROOFTILE_CACHE", "XDG_CACHE_HOME", ".cache", ""};
    return user_dir(path, &cache, make, arena, err);
}

enum status path_data_dir(char **path, bool make, struct arena *arena, struct err *err)
{
    static const struct user_folder data = {"ROOFTILE_DATA", "XDG_DATA_HOME", ".local/share", "-data"};
    return user_dir(path, &data, make, arena, err);
}
