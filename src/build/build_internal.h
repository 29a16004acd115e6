/* SPDX-License-Identifier: MIT
 *
 * Shared by src/build: command lines, scratch folders, the cache and running compilers.
 */
#ifndef ROOFTILE_BUILD_INTERNAL_H
#define ROOFTILE_BUILD_INTERNAL_H

#include <sys/types.h>
#include <time.h>

#include "rooftile/build.h"
#include "rooftile/hash.h"
#include "rooftile/spawn.h"

/* An argument vector that grows in an arena; `items` ends with NULL as soon as something was added. */
struct argv {
    struct arena *arena;
    const char **items;
    size_t count;
};

void argv_add_all(struct argv *argv, const char *const *items, size_t count);
char *argv_quote(const struct argv *argv); /* quoted for a POSIX shell */

/* ---- compiler.c ---- */

/* Returns the compiler that the user named: the build's `own`, else ROOFTILE_KERNEL_COMPILER; NULL: none. */
const char *compiler_named(const char *own);
/* The time limit for one file: ROOFTILE_COMPILE_TIMEOUT, or COMPILE_SECONDS. */
#define COMPILE_SECONDS 1200
int compile_limit_seconds(void);
/* Runs argv, a compiler's path and its arguments, for at most two minutes. A compiler that did not answer a `kind` of
 * question in time is not asked one of that kind again by this process; `timed_out` is set at once. */
enum status compiler_ask(struct spawn_result *ran, const char *kind, const char *const *argv, size_t limit_bytes,
                         struct arena *arena, struct err *err);
/* Describes how a failed compiler ended if it printed no message; NULL if it did. */
const char *compiler_silence(const struct spawn_result *ran, struct arena *arena);
/* Like build_find_compiler(), with the build's own choice. */
enum status compiler_find(struct compiler *compiler, const char *own, const struct build_target *target,
                          unsigned min_llvm, struct arena *arena, struct err *err);

/* Returns LLVM's major version from the output of --version; 0: unknown. */
unsigned compiler_llvm(const char *version);
/* Fills what `path --version` reports about a compiler; `identity` changes with that output and with the program behind
 * it. */
void compiler_describe(struct compiler *compiler, const char *path, const char *version, struct arena *arena);

/* ---- build_command.c ---- */

/* Adds the compiler and all arguments that depend only on the target. ERR_UNSUPPORTED for a wave size that the target
 * lacks. */
enum status command_for_target(struct argv *argv, const struct compiler *compiler, const struct build_target *target,
                               struct err *err);

/* Returns the folder with portable.h as an absolute path: `given`, or if NULL, the catalog's first folder that has
 * one. */
enum status command_include_dir(const char **dir, const char *given, struct arena *arena, struct err *err);

/* One unit to compile. */
struct build_unit {
    const struct build_request *request;
    const struct compiler *compiler;
    const char *source; /* absolute */
    const char *source_dir;
    const char *include_dir; /* absolute */
    struct argv fixed;       /* all arguments without our file names: part of the key */
    struct argv command;     /* all arguments but the outputs */
    char key[HASH_TEXT];
    char source_key[HASH_TEXT]; /* as the key, but without the compiler and its specific arguments */
};

/* Sets the paths; needs unit->request. ERR_CONFIG if there is no source. */
enum status unit_locate(struct build_unit *unit, const char *include_dir, struct arena *arena, struct err *err);
/* Makes the command line of a located unit; the keys need the source's hash and are set by cache_key(). */
enum status unit_prepare(struct build_unit *unit, const struct compiler *compiler, struct arena *arena,
                         struct err *err);

/* Writes the compiler's LLVM IR of a prepared unit to a file. ERR_BUILD if it does not compile. */
enum status command_write_ir(const struct build_unit *unit, const char *output, struct err *err);

/* Makes a new private folder below $TMPDIR. */
enum status scratch_make(char **dir, struct arena *arena, struct err *err);
void scratch_remove(const char *dir); /* with its contents; NULL is allowed */

/* A running compiler, whose stdout and stderr share one file. */
struct build_child {
    struct spawn_child process;
    uint64_t started_ns;
    bool timed_out;
    const char *compiler;
    const char *object;
    const char *depfile;
};

/* `number` makes file names in the scratch folder unique. ERR_BUILD: it cannot be started, or it was killed before and
 * never finished any file. */
enum status child_start(struct build_child *child, const struct build_unit *unit, const char *scratch, size_t number,
                        struct arena *arena, struct err *err);
/* False once it ended. Kills it if it has run or printed for too long. */
bool child_is_running(struct build_child *child);
/* Ends it; STATUS_OK, or ERR_BUILD with the compiler's output in *message. */
enum status child_finish(struct build_child *child, const char **message, struct arena *arena);

/* ---- build_cache.c ---- */

/* A file's hash, computed once per build. */
struct file_digest {
    const struct file_digest *next;
    const char *path;
    const char *hex; /* NULL: cannot be read */
};

struct build_cache {
    struct arena *arena;
    const char *dir;
    int lock_fd; /* -1: the file system has no locks; renames alone keep objects intact */
    bool is_fallback;
    struct timespec opened; /* files changed later may differ from what was hashed */
    const struct file_digest *digests;
};

/* `dir` NULL: path_cache_dir()/objects. Falls back as described for build_all(). */
enum status cache_open(struct build_cache *cache, const char *dir, struct arena *arena, struct err *err);
void cache_release(struct build_cache *cache);
/* Sets source_key of a located unit; for a prepared one also key. */
void cache_key(struct build_cache *cache, struct build_unit *unit);

/* Takes or releases the lock of a key. False while another process compiles the same key. Never blocks. */
bool cache_lock(struct build_cache *cache, const char *key, bool on);

/* Sets object, sha256 and compiler if a valid object exists. For a unit without a compiler, this is the last object
 * that any compiler made from the same source for the same target. */
bool cache_find(struct build_result *result, struct build_cache *cache, const struct build_unit *unit);
/* Moves a finished object and its dependency file into the cache; sets object, sha256 and compiler. ERR_BUILD: there is
 * no object; other errors: neither the cache nor its fallback can be written. */
enum status cache_store(struct build_result *result, struct build_cache *cache, const struct build_unit *unit,
                        const char *object, const char *depfile, struct err *err);
/* Adds a file to the folder unless it is already there; sets *path. Its name consists of `source` (for readers of a
 * profile) and the hash of its bytes. */
enum status cache_keep(const char **path, const struct build_cache *cache, const char *source, const char *suffix,
                       const char *sha256, const void *data, size_t length, struct err *err);

/* ---- build_flags.c ---- */

/* ERR_CONFIG if a flag of the request does more than compile; the message names the flag and the option that allows
 * it. */
enum status flags_check(const struct build_request *request, struct err *err);

/* ---- build_record.c ---- */

/* The dependencies of a cached object: files with their hashes, and files that would shadow one of them if they
 * appeared. */
struct build_record {
    const char *object; /* file name in the cache folder */
    const char *sha256;
    const char *compiler; /* its version; "" unknown */
    struct build_input {
        const char *path;
        const char *digest; /* NULL: must not exist */
    } * inputs;
    size_t input_count;
};

/* Paths below the unit's folders are written relative to them, so that a moved source tree keeps its cache. */
enum status record_read(struct build_record *record, const struct build_unit *unit, const char *path,
                        struct arena *arena, struct err *err);
/* Returns false if a path cannot be represented in the record. */
bool record_print(struct text *text, const struct build_record *record, const struct build_unit *unit);
/* Returns the path that is searched before `path`, which is below include_dir; NULL: none. */
char *record_shadow(const struct build_unit *unit, const char *path, struct arena *arena);

/* Reads the prerequisites from a dependency file written by -MD, unescaped. */
enum status depfile_read(const char ***paths, size_t *count, const char *path, struct arena *arena, struct err *err);

#endif
