/* SPDX-License-Identifier: MIT
 *
 * Files and paths. Paths are plain strings; results live in the caller's arena.
 */
#ifndef ROOFTILE_FILE_H
#define ROOFTILE_FILE_H

#include "rooftile/base.h"

/* The largest file that readers accept (of results: 500 MB); a larger one is ERR_CONFIG "… has N bytes, more than the
 * 100 MB limit". */
#define FILE_LIMIT_BYTES (100u * 1000u * 1000u)

/* Reads a whole regular file (or "-": standard input) up to `limit_bytes`; the data is terminated behind *length.
 * A missing or unreadable file, a folder, or a file over the limit is ERR_CONFIG with path and reason. */
enum status file_read(char **data, size_t *length, const char *path, size_t limit_bytes, struct arena *arena,
                      struct err *err);

/* Writes atomically: a new file under a temporary name in the same folder, fsync, rename, folder fsync. A full disk
 * leaves the old file untouched and no temporary behind. "-" writes to standard output; pipes and devices (/dev/null)
 * are written directly. The file keeps its mode. Through a symbolic link the file that it names is written, which need
 * not exist yet. ERR_IO. */
enum status file_write(const char *path, const char *data, size_t length, struct err *err);

/* From here on a link below `dir` is replaced by the file that is written, and not followed: for folders where others
 * may write. `dir` stays the caller's. */
void file_follow_no_link_in(const char *dir);

/* mkdir -p. An existing folder is fine. */
enum status file_make_dirs(const char *path, struct err *err);

/* Makes or checks a folder that belongs to the user alone: not a link, owned by the user, in a folder owned by the user
 * or root, and of mode 0700 (set here if others could only read it). Else ERR_IO with the reason: its content may come
 * from somebody else, and code in it is executed. */
enum status file_make_own_dir(const char *path, struct err *err);

bool file_exists(const char *path);
bool file_is_device(const char *path); /* or a pipe: written directly, never replaced */
bool file_is_dir(const char *path);

char *path_join(struct arena *arena, const char *dir, const char *name);    /* `name` alone when it is absolute */
char *path_dir(struct arena *arena, const char *path);                      /* "." when there is no slash */
const char *path_base(const char *path);                                    /* points into `path` */
char *path_stem(const char *path, const char *suffix, struct arena *arena); /* without its suffix, where it has it */
char *path_real(struct arena *arena, const char *path);                     /* NULL when it does not exist */
char *path_target(struct arena *arena, const char *path); /* behind symbolic links; the last one's may be missing */

/* Folder of the running executable, through /proc/self/exe. */
char *path_self_dir(struct arena *arena);

/* `start`, 32 random digits that cannot be guessed, and `suffix`: for files in folders where others may write. */
char *path_new(struct arena *arena, const char *start, const char *suffix);

/* Per-user folders: $XDG_CACHE_HOME/rooftile or ~/.cache/rooftile (else /tmp/rooftile-<uid>), and the same for
 * $XDG_DATA_HOME with ~/.local/share (else /tmp/rooftile-<uid>-data). They must be the user's alone
 * (file_make_own_dir); without `make` a missing one is no error. ROOFTILE_CACHE and ROOFTILE_DATA override the whole
 * path, and are not checked. */
enum status path_cache_dir(char **path, bool make, struct arena *arena, struct err *err);
enum status path_data_dir(char **path, bool make, struct arena *arena, struct err *err);

/* Every regular file below `dir` whose name ends in `suffix`, as sorted paths. A missing folder is an empty list. */
enum status file_list(char ***paths, size_t *count, const char *dir, const char *suffix, struct arena *arena,
                      struct err *err);

#endif
