/* SPDX-License-Identifier: MIT
 *
 * A folder with a small source tree, an empty cache and a compiler made of shell: kernel "sources" are shell scripts
 * that it runs, so that a test says in a line what a compilation does, and takes milliseconds.
 */
#ifndef ROOFTILE_TESTS_BUILD_FIXTURE_H
#define ROOFTILE_TESTS_BUILD_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rooftile/arena.h"
#include "rooftile/build.h"
#include "rooftile/err.h"
#include "rooftile/file.h"

struct fixture {
    struct arena arena;
    const char *dir;
    const char *path; /* PATH before the test */
    const char *compiler;
    const char *log; /* the shell compiler's $LOG */
};

static inline char *fixture_path(struct fixture *fixture, const char *name)
{
    return path_join(&fixture->arena, fixture->dir, name);
}

static inline const char *fixture_write(struct fixture *fixture, const char *name, const char *content)
{
    struct err err = {0};
    char *path = fixture_path(fixture, name);
    assert_int_equal(file_make_dirs(path_dir(&fixture->arena, path), &err), STATUS_OK);
    assert_int_equal(file_write(path, content, strlen(content), &err), STATUS_OK);
    return path;
}

static inline char *fixture_read(struct fixture *fixture, const char *path)
{
    struct err err = {0};
    char *data = NULL;
    size_t length = 0;
    if (file_read(&data, &length, path, FILE_LIMIT_BYTES, &fixture->arena, &err))
        return arena_strdup(&fixture->arena, "");
    return data;
}

/* Lines of the log that contain `what`. */
static inline size_t fixture_count(struct fixture *fixture, const char *what)
{
    size_t count = 0;
    char *rest = fixture_read(fixture, fixture->log);
    for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n"))
        count += strstr(line, what) != NULL;
    return count;
}

static inline const char *fixture_script(struct fixture *fixture, const char *name, const char *content)
{
    const char *path = fixture_write(fixture, name, content);
    assert_int_equal(chmod(path, 0755), 0);
    return path;
}

/* The source is the argument before -MD; without one it is a probe. */
static const char fixture_compiler[] = "#!/bin/sh\n"
                                       "[ \"$1\" = --version ] && { echo 'Test clang version 17.0.1'; exit 0; }\n"
                                       "for arg in \"$@\"; do\n"
                                       "    [ \"$arg\" = -MD ] && source=$before\n"
                                       "    [ \"$before\" = -o ] && object=$arg\n"
                                       "    [ \"$before\" = -MF ] && depfile=$arg\n"
                                       "    before=$arg\n"
                                       "done\n"
                                       "[ \"$source\" ] || { echo probe >> \"$LOG\"; : > \"$object\"; exit 0; }\n"
                                       "echo \"compile $source\" >> \"$LOG\"\n"
                                       "echo \"object: $source $HEADERS\" > \"$depfile\"\n"
                                       "cat \"$source\" > \"$object\"\n"
                                       ". \"$source\"\n";

static inline int fixture_setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    char dir[] = "/tmp/rooftile-test-XXXXXX";
    if (!fixture || !mkdtemp(dir))
        return -1;
    fixture->dir = arena_strdup(&fixture->arena, dir);
    fixture->path = arena_strdup(&fixture->arena, getenv("PATH"));
    fixture->log = fixture_path(fixture, "log");
    fixture->compiler = fixture_script(fixture, "bin/clang-test", fixture_compiler);
    mkdir(fixture_path(fixture, "tmp"), 0777);
    mkdir(fixture_path(fixture, "include"), 0777);
    setenv("TMPDIR", fixture_path(fixture, "tmp"), 1);
    setenv("ROOFTILE_CACHE", fixture_path(fixture, "cache"), 1);
    setenv("ROOFTILE_KERNEL_COMPILER", fixture->compiler, 1);
    setenv("LOG", fixture->log, 1);
    setenv("HEADERS", "", 1);
    unsetenv("ROOFTILE_COMPILE_TIMEOUT");
    unsetenv("ROCM_PATH");
    unsetenv("CPATH");
    *state = fixture;
    return 0;
}

static inline int fixture_remove_entry(const char *path, const struct stat *info, int type, struct FTW *where)
{
    (void)info;
    (void)type;
    (void)where;
    return remove(path);
}

static inline void fixture_remove(const char *dir)
{
    nftw(dir, fixture_remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static inline int fixture_teardown(void **state)
{
    struct fixture *fixture = *state;
    setenv("PATH", fixture->path, 1);
    fixture_remove(fixture->dir);
    arena_release(&fixture->arena);
    free(fixture);
    return 0;
}

#endif
