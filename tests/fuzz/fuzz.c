/* SPDX-License-Identifier: MIT
 *
 *     fuzz READER                        its seeds, then changes to them until a fault is found
 *     fuzz READER -max_total_time=600    for ten minutes; what follows the name goes to libFuzzer
 *     fuzz READER FOLDER                 the same, keeping in the folder what reaches new code
 *     fuzz READER FILE                   this input alone
 *
 * Needs a build with -DROOFTILE_FUZZ=ON by clang. The input that broke something is left in ./crash-*: it becomes a
 * seed, tests/fuzz/seeds/READER/. A new reader is a function and a row of the table.
 */
#include "fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rooftile/file.h"
#include "rooftile/text.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum shape { WHOLE, LINES }; /* LINES: each line of a seed is one of its own */
enum { MOST_BYTES = 1 << 26 };

/* tests/CMakeLists.txt takes the names from here. Seeds are globs below the source folder, and their files must be
 * accepted; those of tests/fuzz/seeds/NAME need not. */
static const struct reader {
    const char *name;
    fuzz_reader *read;
    enum shape shape;
    const char *seeds;
} readers[] = {
    {"codeobj", fuzz_codeobj, WHOLE, "tests/data/cubin/*.cubin"},
    {"compiler", fuzz_compiler, WHOLE, NULL},
    {"depfile", fuzz_depfile, WHOLE, NULL},
    {"device", fuzz_device, LINES, NULL},
    {"expr", fuzz_expr, LINES, NULL},
    {"families", fuzz_families, WHOLE, "configs/models/families.json"},
    {"fleet", fuzz_fleet, WHOLE, NULL},
    {"history", fuzz_history, WHOLE, NULL},
    {"isa", fuzz_isa, WHOLE, "tests/data/isa/{*_one_chain,*_nested,*_convert,*_mfma_chain,gfx90a_pk_peak}.txt"},
    {"journal", fuzz_journal, WHOLE, NULL},
    {"json", fuzz_json, WHOLE, "configs/{quick,memory,moe}.json"},
    {"launches", fuzz_launches, WHOLE, NULL},
    {"machine", fuzz_machine, WHOLE, "configs/machines/*.json"},
    {"manifest", fuzz_manifest, WHOLE, "kernels/*/*.json"},
    {"models", fuzz_models, WHOLE, "configs/models/described.json"},
    {"nodes", fuzz_nodes, LINES, NULL},
    {"noise", fuzz_noise, WHOLE, NULL},
    {"pins", fuzz_pins, WHOLE, NULL},
    {"record", fuzz_record, WHOLE, NULL},
    {"result", fuzz_result, WHOLE, NULL},
    {"samples", fuzz_samples, WHOLE, NULL},
    {"sass", fuzz_sass, WHOLE, NULL},
    {"shapes", fuzz_shapes, WHOLE, "configs/shapes/*.json"},
    {"suite", fuzz_suite, WHOLE, "configs/*.json"},
    {"sweep", fuzz_sweep, LINES, NULL},
    {"sysfs", fuzz_sysfs, WHOLE, NULL},
    {"triton", fuzz_triton, WHOLE, NULL},
    {"units", fuzz_units, LINES, NULL},
    {"walk", fuzz_walk, WHOLE, "tests/data/isa/{*_one_chain,*_nested,*_gemm_lds,gfx1201_histogram}.txt"},
};
enum { READERS = sizeof(readers) / sizeof(*readers) };

static const struct reader *chosen;

void fuzz_broken(const char *file, int line, const char *condition)
{
    fprintf(stderr, "%s:%d: this must hold: %s\n", file, line, condition);
    abort();
}

const char *fuzz_folder(const char *name, const char *const *files)
{
    static struct arena arena;
    static const char *folder; /* a process has one reader */
    if (folder)
        return folder;
    folder = arena_printf(&arena, "%s/fuzz_%s", ROOFTILE_FUZZ_DIR, name);
    must(!mkdir(folder, 0700) || errno == EEXIST);
    for (; *files; files++)
        must(!symlink(FUZZ_PATH, path_join(&arena, folder, *files)) || errno == EEXIST);
    return folder;
}

/* ---- one input ---- */

static int file_of_input(void)
{
    static int fd = -1;
    if (fd < 0) {
        const int made = memfd_create("fuzz", MFD_CLOEXEC);
        fd = dup2(made, (int)strtol(FUZZ_NAME, NULL, 10));
        must(fd >= 0 && !close(made));
    }
    return fd;
}

static bool read_one(const void *bytes, size_t length)
{
    struct arena arena = {0};
    char *text = malloc(length + 1); /* of its own, so that a sanitizer sees who reads behind its end */
    must(text != NULL);
    if (length)
        memcpy(text, bytes, length);
    text[length] = '\0';
    must(!ftruncate(file_of_input(), 0) && pwrite(file_of_input(), text, length, 0) == (ssize_t)length);
    const bool accepted = chosen->read(text, length, &arena);
    arena_release(&arena);
    free(text);
    return accepted;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_one(data, size);
    return 0;
}

/* ---- which reader, and its seeds ---- */

struct seeds {
    struct arena arena;
    char *list; /* "-seed_inputs=FILE,FILE" */
    size_t count, accepted;
};

static void add_seed(struct seeds *seeds, const char *path, const char *text, size_t length, bool must_be_good)
{
    const bool good = read_one(text, length);
    if (must_be_good && !good)
        fprintf(stderr, "%s is a seed of '%s', which refuses it\n", path, chosen->name);
    must(good || !must_be_good);
    seeds->accepted += good;
    seeds->list = arena_printf(&seeds->arena, "%s%c%s", seeds->list, seeds->count++ ? ',' : '=', path);
}

/* One file for each line. */
static void add_lines(struct seeds *seeds, const char *text)
{
    struct err err = {0};
    const char *const none[] = {NULL}, *folder = fuzz_folder(chosen->name, none);
    for (size_t length; *text; text += length + (text[length] == '\n')) {
        length = strcspn(text, "\n");
        const char *path = arena_printf(&seeds->arena, "%s/%zu", folder, seeds->count);
        must(!file_write(path, text, length, &err));
        add_seed(seeds, path, text, length, false);
    }
}

/* Files that a glob below the source folder names. */
static void add_files(struct seeds *seeds, const char *pattern, bool must_be_good)
{
    glob_t found = {0};
    struct err err = {0};
    char *text = NULL;
    size_t length = 0;
    if (glob(arena_printf(&seeds->arena, "%s/%s", ROOFTILE_SOURCE_DIR, pattern), GLOB_BRACE, NULL, &found))
        return;
    for (size_t k = 0; k < found.gl_pathc; k++) {
        must(!file_read(&text, &length, found.gl_pathv[k], MOST_BYTES, &seeds->arena, &err));
        if (chosen->shape == LINES)
            add_lines(seeds, text);
        else
            add_seed(seeds, found.gl_pathv[k], text, length, must_be_good);
    }
    globfree(&found);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static struct seeds seeds; /* libFuzzer keeps the argument */
    const char *name = *argc > 1 ? (*argv)[1] : "";
    for (size_t k = 0; k < READERS; k++)
        chosen = strcmp(name, readers[k].name) ? chosen : &readers[k];
    if (!chosen) {
        fprintf(stderr, "usage: %s READER [libFuzzer's arguments]; readers:", (*argv)[0]);
        for (size_t k = 0; k < READERS; k++)
            fprintf(stderr, " %s", readers[k].name);
        fprintf(stderr, "\n");
        exit(2);
    }
    seeds.list = arena_strdup(&seeds.arena, "-seed_inputs");
    if (chosen->seeds)
        add_files(&seeds, chosen->seeds, true);
    add_files(&seeds, arena_printf(&seeds.arena, "tests/fuzz/seeds/%s/*", chosen->name), false);
    must(seeds.accepted > 0);
    (*argv)[1] = seeds.list;
    return 0;
}
