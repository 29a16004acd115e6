/* SPDX-License-Identifier: MIT
 *
 * Fuzzing: one program, fuzz.c, holds a table of readers. A reader is a function of foreign bytes; the rest (bytes as
 * text, as lines and as a file, seeds, the arena) is done for it.
 */
#ifndef ROOFTILE_TESTS_FUZZ_H
#define ROOFTILE_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>

#include "rooftile/arena.h"
#include "rooftile/err.h"

/* The input is also a file: FUZZ_FOLDER/FUZZ_NAME. */
#define FUZZ_FOLDER "/proc/self/fd"
#define FUZZ_NAME "99"
#define FUZZ_PATH FUZZ_FOLDER "/" FUZZ_NAME

/* True: the text was accepted. Whatever breaks a reader's contract ends the program (must). `text` is terminated behind
 * its `length` bytes, among which there may be zeros. What lives in the arena lives as long as the call. */
typedef bool fuzz_reader(const char *text, size_t length, struct arena *arena);

fuzz_reader fuzz_expr, fuzz_sweep, fuzz_units, fuzz_device, fuzz_compiler, fuzz_record, fuzz_depfile, fuzz_sysfs;
fuzz_reader fuzz_codeobj, fuzz_isa, fuzz_sass, fuzz_walk;
fuzz_reader fuzz_json, fuzz_manifest, fuzz_suite, fuzz_shapes, fuzz_machine, fuzz_models, fuzz_families, fuzz_noise,
    fuzz_launches;
fuzz_reader fuzz_result, fuzz_journal, fuzz_samples, fuzz_fleet, fuzz_nodes, fuzz_history, fuzz_pins, fuzz_triton;

/* Ends the program with the place unless it holds. */
#define must(condition) ((condition) ? (void)0 : fuzz_broken(__FILE__, __LINE__, #condition))
_Noreturn void fuzz_broken(const char *file, int line, const char *condition);

/* For readers of several files: a folder in which each of these names (NULL ends them) is the input. Made once. */
const char *fuzz_folder(const char *name, const char *const *files);

#endif
