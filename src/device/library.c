/* SPDX-License-Identifier: MIT */
#include "library.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- finding one ---- */

/* The loader's message begins with the name that it was given; that there is no such file is no news of one that nobody
 * asked for by name. */
static void add_problem(struct text *problems, const char *message, const char *name, bool asked)
{
    const bool absent = !asked && text_starts(message, name) && strstr(message, "No such file");
    text_addf(problems, "%s%s%s", problems->length ? ", " : "", absent ? "no " : "", absent ? name : message);
}

static void *open_one(const struct library_place *place, struct err *err)
{
    const char *asked = getenv(place->variable);
    const char *const own[] = {asked, NULL};
    const bool is_asked = asked && *asked;
    const char *const *files = is_asked ? own : place->files;
    struct text problems = {0};
    void *handle = NULL;
    for (size_t i = 0; files[i] && !handle; ++i) {
        handle = dlopen(files[i], RTLD_NOW | RTLD_LOCAL);
        if (!handle)
            add_problem(&problems, dlerror(), files[i], is_asked);
    }
    if (!handle)
        err_set(err, ERR_UNSUPPORTED, "the device has no %s (%s%s%s)", place->name, problems.data,
                is_asked ? "" : "; another place: ", is_asked ? "" : place->variable);
    text_release(&problems);
    return handle;
}

enum status library_open(struct library_file *file, const struct library_place *place, struct err *err)
{
    struct library_file opened = {.handle = open_one(place, err)};
    struct link_map *map = NULL;
    if (!opened.handle)
        return err->status;
    enum status status = STATUS_OK;
    if (dlinfo(opened.handle, RTLD_DI_LINKMAP, &map))
        status = err_set(err, ERR_DEVICE, "%s: %s", place->name, dlerror());
    if (!status)
        status = hash_sha256_file(opened.sha256, map->l_name, err);
    if (status) {
        library_close(&opened);
        return status;
    }
    snprintf(opened.path, sizeof(opened.path), "%s", map->l_name);
    *file = opened;
    return STATUS_OK;
}

void library_close(struct library_file *file)
{
    if (file->handle)
        dlclose(file->handle);
    file->handle = NULL;
}

enum status library_lacks(const struct library_place *place, const char *symbol, struct err *err)
{
    return err_set(err, ERR_UNSUPPORTED, "the device has no %s: what was opened in its place lacks %s", place->name,
                   symbol);
}

/* ---- functions ---- */

/* ISO C has no conversion from dlsym's pointer to a function's; POSIX has. */
void (*library_function(void *handle, const char *symbol))(void)
{
    void *const found = dlsym(handle, symbol);
    void (*function)(void) = NULL;
    memcpy(&function, &found, sizeof(function));
    return function;
}

bool library_find_symbols(void *to, void *handle, const struct library_symbol *symbols, const char *whole,
                          struct text *missing)
{
    size_t required = 0, found = 0;
    for (const struct library_symbol *row = symbols; row->name; ++row)
        memset((char *)to + row->offset, 0, sizeof(void *));
    for (const struct library_symbol *row = symbols; row->name; ++row) {
        void (*const function)(void) = library_function(handle, row->name);
        required += row->need == SYMBOL_REQUIRED;
        found += row->need == SYMBOL_REQUIRED && function;
        if (function)
            memcpy((char *)to + row->offset, &function, sizeof(function));
        else if (row->need == SYMBOL_REQUIRED)
            text_addf(missing, "%s%s", missing->length ? ", " : "", row->name);
    }
    if (!found) {
        text_clear(missing);
        text_addf(missing, "all functions of %s", whole);
    }
    return found == required;
}

/* ---- gemm ---- */

enum gemm_member { POINTER, U32, U64, F64, FLAG };

/* One row for each argument, in their order. */
static const struct {
    enum gemm_member kind;
    size_t offset;
} members[LIBRARY_GEMM_ARGS] = {
    {POINTER, offsetof(struct library_gemm, d)},  {POINTER, offsetof(struct library_gemm, a)},
    {POINTER, offsetof(struct library_gemm, b)},  {POINTER, offsetof(struct library_gemm, c)},
    {U32, offsetof(struct library_gemm, m)},      {U32, offsetof(struct library_gemm, n)},
    {U32, offsetof(struct library_gemm, k)},      {U32, offsetof(struct library_gemm, lda)},
    {U32, offsetof(struct library_gemm, ldb)},    {U32, offsetof(struct library_gemm, ldd)},
    {U64, offsetof(struct library_gemm, next_a)}, {U64, offsetof(struct library_gemm, next_b)},
    {U64, offsetof(struct library_gemm, next_d)}, {F64, offsetof(struct library_gemm, alpha)},
    {F64, offsetof(struct library_gemm, beta)},   {FLAG, offsetof(struct library_gemm, ta)},
    {FLAG, offsetof(struct library_gemm, tb)},    {U32, offsetof(struct library_gemm, batch)},
};
static const uint32_t member_bytes[] = {[POINTER] = 8, [U32] = 4, [U64] = 8, [F64] = 8, [FLAG] = 4};

void library_read_gemm(struct library_gemm *gemm, void *const *args)
{
    for (size_t i = 0; i < LIBRARY_GEMM_ARGS; ++i) {
        char *const to = (char *)gemm + members[i].offset;
        uint32_t flag = 0;
        if (members[i].kind != FLAG) {
            memcpy(to, args[i], member_bytes[members[i].kind]);
            continue;
        }
        memcpy(&flag, args[i], sizeof(flag));
        *(bool *)to = flag != 0;
    }
}

void library_describe_gemm(struct kernel_info *info, const struct library_file *file, const char *says)
{
    *info = (struct kernel_info){.arg_count = LIBRARY_GEMM_ARGS};
    for (size_t i = 0; i < LIBRARY_GEMM_ARGS; ++i)
        info->args[i] = (struct kernel_arg){member_bytes[members[i].kind], members[i].kind == POINTER};
    snprintf(info->library, sizeof(info->library), "%s", says);
    memcpy(info->library_sha256, file->sha256, sizeof(info->library_sha256));
}
