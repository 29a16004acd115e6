/* SPDX-License-Identifier: MIT
 *
 * Demangles C++ names with llvm-cxxfilt, which is installed beside llvm-objdump: one child process for all names.
 */
#include "rooftile/demangle.h"
#include "rooftile/spawn.h"

#define LIMIT_BYTES ((size_t)64 << 20)
#define TIMEOUT_MS 20000
#define LLVM_NEWEST 25u
#define LLVM_OLDEST 14u

static bool is_mangled(const char *name)
{
    return text_starts(name, "_Z");
}

const char *demangle_tool(struct arena *arena)
{
    const char *rocm = getenv("ROCM_PATH"), *asked = getenv("ROOFTILE_CXXFILT"), *found = NULL;
    if (asked && *asked)
        return spawn_which(arena, asked);
    if (rocm && *rocm)
        found = spawn_which(arena, arena_printf(arena, "%s/llvm/bin/llvm-cxxfilt", rocm));
    for (unsigned llvm = LLVM_NEWEST; llvm >= LLVM_OLDEST && !found; llvm--)
        found = spawn_which(arena, arena_printf(arena, "llvm-cxxfilt-%u", llvm));
    static const char *const others[] = {"/opt/rocm/llvm/bin/llvm-cxxfilt", "llvm-cxxfilt", "c++filt"};
    for (size_t k = 0; k < COUNT_OF(others) && !found; k++)
        found = spawn_which(arena, others[k]);
    return found;
}

/* Replaces the mangled names by the lines of the answer if their number is right. */
static void take_lines(const char **names, size_t count, char *answer)
{
    const size_t mangled = COUNT_WHERE(name, names, count, is_mangled(*name));
    size_t lines = 0;
    for (const char *at = answer; *at; at++)
        lines += *at == '\n';
    if (lines != mangled)
        return;
    for (size_t k = 0; k < count; k++) {
        if (!is_mangled(names[k]))
            continue;
        char *end = strchr(answer, '\n');
        *end = '\0';
        names[k] = *answer ? answer : names[k];
        answer = end + 1;
    }
}

void demangle(const char **names, size_t count, struct arena *arena)
{
    SCOPED(text_release) struct text all = {0};
    struct spawn_result ran = {0};
    struct err err = {0};
    for (size_t k = 0; k < count; k++)
        if (is_mangled(names[k]))
            text_addf(&all, "%s\n", names[k]);
    const char *tool = all.length ? demangle_tool(arena) : NULL;
    const char *const argv[] = {tool, NULL};
    if (tool && !spawn_run(&ran, argv, all.data, LIMIT_BYTES, TIMEOUT_MS, arena, &err) && !ran.exit_code)
        take_lines(names, count, ran.output);
}
