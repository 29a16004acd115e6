/* SPDX-License-Identifier: MIT
 *
 * Files and paths. Paths are plain strings; results live in the caller's arena.
 */
#ifndef ROOFTILE_FILE_H
#define ROOFTILE_FILE_H

#include "rooftile/base.h"

/* The largest file that readers accept (500 MB for results); a larger one is ERR_CONFIG "… has N bytes, more than the
 * 100 MB limit". */
#define FILE_LIMIT_BYTES (100u * 1000u * 1000u)

/* Reads a whole regular file (or "-": standard input) up to `limit_bytes`; the data is zero-terminated after *length
 * bytes. ERR_CONFIG with path and reason for a missing or unreadable file, a folder, or a file over the limit. */
enum status file_read(char **data, size_t *length, const char *path, size_t limit_bytes, struct arena *arena,
                      struct err *err);

/* Writes atomically: a new file under a temporary name in the same folder, fsync, rename, folder fsync. A full disk
 * leaves the old file unchanged and no temporary file. "-" writes to standard output; pipes and devices (/dev/null) are
 * written directly. The file keeps its mode. A symbolic link is followed; its target need not exist yet. ERR_IO. */
enum status file_write(const char *path, const char *data, size_t length, struct err *err);

/* Writes a file that is cheap to make again: replaces it as a whole, but does not wait for the disk. ERR_IO. */
enum status file_write_unsynced(const char *path, const char *data, size_t length, struct err *err);
/* Write all of `data`, or read up to `size` bytes from `offset` on, however the system splits it; errno on failure. The
 * second returns the number of bytes read, fewer at the end of the file or on failure. */
bool fd_write(int fd, const void *data, size_t length);
size_t fd_read_at(int fd, void *to, size_t size, uint64_t offset);
/* From now on, a link below `dir` is replaced by the written file instead of followed: for folders that others can
 * write to. The caller keeps ownership of `dir`. */
void file_follow_no_link_in(const char *dir);

/* Works like mkdir -p; an existing folder is not an error. */
enum status file_make_dirs(const char *path, struct err *err);

/* Creates or checks a folder that belongs to the user alone: not a link, owned by the user, in a folder owned by the
 * user or root, and of mode 0700 (set here if others could only read it). Otherwise ERR_IO with the reason: somebody
 * else may have written its contents, and code in it is executed. */
enum status file_make_own_dir(const char *path, struct err *err);

bool file_exists(const char *path);
bool file_is_device(const char *path); /* or a pipe: written directly, never replaced */
bool file_is_dir(const char *path);

char *path_join(struct arena *arena, const char *dir, const char *name);    /* `name` alone if it is absolute */
char *path_dir(struct arena *arena, const char *path);                      /* "." if there is no slash */
const char *path_base(const char *path);                                    /* points into `path` */
char *path_stem(const char *path, const char *suffix, struct arena *arena); /* without its suffix, if it has that one */
char *path_real(struct arena *arena, const char *path);                     /* NULL if it does not exist */
char *path_target(struct arena *arena, const char *path); /* resolves symbolic links; the last target may be missing */

/* Returns the folder of the running executable, through /proc/self/exe. */
char *path_self_dir(struct arena *arena);

/* Returns `start`, 32 unpredictable random digits, and `suffix`: for files in folders that others can write to. */
char *path_new(struct arena *arena, const char *start, const char *suffix);

/* Return per-user folders: $XDG_CACHE_HOME/rooftile or ~/.cache/rooftile (else /tmp/rooftile-<uid>), and likewise
 * $XDG_DATA_HOME with ~/.local/share (else /tmp/rooftile-<uid>-data). They must be the user's alone
 * (file_make_own_dir); without `make`, a missing one is not an error. ROOFTILE_CACHE and ROOFTILE_DATA override the
 * whole path and are not checked. */
enum status path_cache_dir(char **path, bool make, struct arena *arena, struct err *err);
enum status path_data_dir(char **path, bool make, struct arena *arena, struct err *err);

/* Lists every regular file below `dir` whose name ends in `suffix`, as sorted paths. A missing folder gives an empty
 * list. */
enum status file_list(char ***paths, size_t *count, const char *dir, const char *suffix, struct arena *arena,
                      struct err *err);

#endif
