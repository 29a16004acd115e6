/* SPDX-License-Identifier: MIT
 *
 * What the files of the build share: command lines, scratch folders, the cache and running compilers.
 */
#ifndef ROOFTILE_BUILD_INTERNAL_H
#define ROOFTILE_BUILD_INTERNAL_H

#include <sys/types.h>
#include <time.h>

#include "rooftile/build.h"
#include "rooftile/hash.h"
#include "rooftile/spawn.h"

/* An argument vector that grows in an arena; `items` always ends with NULL once something was added. */
struct argv {
    struct arena *arena;
    const char **items;
    size_t count;
};

void argv_add_all(struct argv *argv, const char *const *items, size_t count);
char *argv_quote(const struct argv *argv); /* for a POSIX shell */

/* ---- compiler.c ---- */

/* The compiler that the user named: the build's `own`, else ROOFTILE_KERNEL_COMPILER; NULL: none. */
const char *compiler_named(const char *own);
/* How long it may take for one file: ROOFTILE_COMPILE_TIMEOUT, or COMPILE_SECONDS. */
#define COMPILE_SECONDS 1200
int compile_limit_seconds(void);
/* Runs argv, the path of a compiler and its arguments, for two minutes at most. One that did not answer a `kind` of
 * question in time is not asked such a one again in the life of this process: `timed_out` at once. */
enum status compiler_ask(struct spawn_result *ran, const char *kind, const char *const *argv, size_t limit_bytes,
                         struct arena *arena, struct err *err);
/* How one that failed ended, where its own words do not tell; NULL: they do. */
const char *compiler_silence(const struct spawn_result *ran, struct arena *arena);
/* As build_find_compiler(), with the build's own choice. */
enum status compiler_find(struct compiler *compiler, const char *own, const struct build_target *target,
                          unsigned min_llvm, struct arena *arena, struct err *err);

/* The major version of LLVM in what --version says; 0: unknown. */
unsigned compiler_llvm(const char *version);
/* Fills what `path --version` says about a compiler; `identity` changes with that and with the program behind it. */
void compiler_describe(struct compiler *compiler, const char *path, const char *version, struct arena *arena);

/* ---- build_command.c ---- */

/* The compiler and all that a target alone asks for. ERR_UNSUPPORTED for a wave size that the target lacks. */
enum status command_for_target(struct argv *argv, const struct compiler *compiler, const struct build_target *target,
                               struct err *err);

/* The folder with portable.h as an absolute path: `given`, or with NULL the first of the catalog's that has one. */
enum status command_include_dir(const char **dir, const char *given, struct arena *arena, struct err *err);

/* One thing to compile. */
struct build_unit {
    const struct build_request *request;
    const struct compiler *compiler;
    const char *source; /* absolute */
    const char *source_dir;
    const char *include_dir; /* absolute */
    struct argv fixed;       /* every argument that names none of our files: part of the key */
    struct argv command;     /* all but the outputs */
    char key[HASH_TEXT];
    char source_key[HASH_TEXT]; /* the same without the compiler and arguments for it alone */
};

/* Paths: unit->request must be set. ERR_CONFIG when there is no source. */
enum status unit_locate(struct build_unit *unit, const char *include_dir, struct arena *arena, struct err *err);
/* The command line of a located unit; the keys need the source's hash and are set by cache_key(). */
enum status unit_prepare(struct build_unit *unit, const struct compiler *compiler, struct arena *arena,
                         struct err *err);

/* The compiler's LLVM IR of a prepared unit into a file. ERR_BUILD: it does not compile. */
enum status command_write_ir(const struct build_unit *unit, const char *output, struct err *err);

/* A new private folder below $TMPDIR. */
enum status scratch_make(char **dir, struct arena *arena, struct err *err);
void scratch_remove(const char *dir); /* with everything in it; NULL is fine */

/* A running compiler. Its stdout and stderr come through one pipe, whose end means that it and its children ended. */
struct build_child {
    pid_t pid;
    int fd;
    struct text output; /* the first part of what it said */
    size_t dropped_bytes;
    uint64_t started_ns;
    bool timed_out;
    const char *compiler;
    const char *object;
    const char *depfile;
};

/* `number` makes the names in the scratch folder unique. ERR_BUILD: it cannot be started, or was stopped before without
 * coming to the end of any file. */
enum status child_start(struct build_child *child, const struct build_unit *unit, const char *scratch, size_t number,
                        struct arena *arena, struct err *err);
/* Reads what is there; false at the end. */
bool child_read(struct build_child *child);
/* Kills it when it has run or talked for too long; its end is read as any other. */
void child_limit(struct build_child *child);
/* Waits for the end; STATUS_OK, or ERR_BUILD with the compiler's words in *message. */
enum status child_finish(struct build_child *child, const char **message, struct arena *arena);
void child_kill(struct build_child *child);

/* ---- build_cache.c ---- */

/* A file's hash, taken once per build. */
struct file_digest {
    const struct file_digest *next;
    const char *path;
    const char *hex; /* NULL: cannot be read */
};

struct build_cache {
    struct arena *arena;
    const char *dir;
    int lock_fd; /* -1: this file system has no locks; renames alone keep objects whole */
    bool is_fallback;
    struct timespec opened; /* files changed after this may differ from what was hashed */
    const struct file_digest *digests;
};

/* `dir` NULL: path_cache_dir()/objects. Falls back as build_all() says. */
enum status cache_open(struct build_cache *cache, const char *dir, struct arena *arena, struct err *err);
void cache_release(struct build_cache *cache);
/* Of a located unit: source_key; of a prepared one also key. */
void cache_key(struct build_cache *cache, struct build_unit *unit);

/* Takes the lock of a key, or releases it. False while another process compiles the same key. Never blocks. */
bool cache_lock(struct build_cache *cache, const char *key, bool on);

/* Sets object, sha256 and compiler when a valid object is there. A unit without a compiler takes the last object that
 * any compiler made of the same source for the same target. */
bool cache_find(struct build_result *result, struct build_cache *cache, const struct build_unit *unit);
/* Takes over a finished object and the dependency file beside it; sets object, sha256 and compiler. ERR_BUILD: there is
 * no object; other errors: neither the cache nor its substitute can be written. */
enum status cache_store(struct build_result *result, struct build_cache *cache, const struct build_unit *unit,
                        const char *object, const char *depfile, struct err *err);
/* Puts a file into the folder, unless it is there; sets *path. Its name is made of `source` (for people who see it in a
 * profile) and the hash of its bytes. */
enum status cache_keep(const char **path, const struct build_cache *cache, const char *source, const char *suffix,
                       const char *sha256, const void *data, size_t length, struct err *err);

/* ---- build_flags.c ---- */

/* ERR_CONFIG: a flag of the request does more than compile; the message has it and the option that allows it. */
enum status flags_check(const struct build_request *request, struct err *err);

/* ---- build_record.c ---- */

/* What a cached object depends on: files with their hashes, and files that would hide one of them if they appeared. */
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
/* False when a path cannot be written down. */
bool record_print(struct text *text, const struct build_record *record, const struct build_unit *unit);
/* The path that would be searched before `path`, which is below include_dir; NULL: none. */
char *record_shadow(const struct build_unit *unit, const char *path, struct arena *arena);

/* The prerequisites of a dependency file written by -MD, unescaped. */
enum status depfile_read(const char ***paths, size_t *count, const char *path, struct arena *arena, struct err *err);

#endif
