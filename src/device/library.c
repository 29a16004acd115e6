/* SPDX-License-Identifier: MIT */
#include "library.h"

#include <dlfcn.h>
#include <link.h>

/* ---- finding a library ---- */

struct search {
    struct library_file *file;
    void *functions;
    const struct library_place *place;
    bool is_named;        /* by the environment variable */
    struct text problems; /* of the files that were found */
};

/* ISO C does not convert dlsym's pointer to a function pointer; POSIX does. */
void (*library_function(void *handle, const char *symbol))(void)
{
    void *const found = dlsym(handle, symbol);
    void (*function)(void) = NULL;
    memcpy(&function, &found, sizeof(function));
    return function;
}

static void forget_symbols(void *functions, const struct library_symbol *symbols)
{
    for (const struct library_symbol *row = symbols; row->name; ++row)
        memset((char *)functions + row->offset, 0, sizeof(void *));
}

/* Appends the names of required functions that are missing, or "all functions of ..." if it is a different library. */
static void find_symbols(struct text *missing, void *functions, void *handle, const struct library_place *place)
{
    bool found = false;
    forget_symbols(functions, place->symbols);
    for (const struct library_symbol *row = place->symbols; row->name; ++row) {
        void (*const function)(void) = library_function(handle, row->name);
        found |= row->need == SYMBOL_REQUIRED && function;
        if (function)
            memcpy((char *)functions + row->offset, &function, sizeof(function));
        else if (row->need == SYMBOL_REQUIRED)
            text_addf(missing, "%s%s", missing->length ? ", " : "", row->name);
    }
    if (!found) {
        text_clear(missing);
        text_addf(missing, "all functions of %s", place->name);
    }
}

/* A missing file is reported only if it was requested by name. */
static bool try_file(struct search *search, const char *name)
{
    const char *also = search->problems.length ? "; " : "";
    SCOPED(text_release) struct text missing = {0};
    struct link_map *map = NULL;
    void *handle = dlopen(name, RTLD_NOW | search->place->flags);
    if (!handle) {
        /* The loader's message begins with another name if the library was found and lacks a dependency. */
        const char *message = dlerror();
        const bool is_absent =
            text_starts(message, name) && message[strlen(name)] == ':' && strstr(message, "No such file");
        if (search->is_named || !is_absent)
            text_addf(&search->problems, "%s%s", also, message);
        return false;
    }
    find_symbols(&missing, search->functions, handle, search->place);
    const bool is_usable = !missing.length;
    if (is_usable) {
        search->file->handle = handle;
        dlinfo(handle, RTLD_DI_LINKMAP, &map);
        snprintf(search->file->path, sizeof(search->file->path), "%s", map ? map->l_name : name);
    } else {
        text_addf(&search->problems, "%s%s lacks %s", also, name, missing.data);
        forget_symbols(search->functions, search->place->symbols);
        dlclose(handle);
    }
    return is_usable;
}

/* Accepts "libx.so" and "libx.so.7.2", but not "libx.so.debug". Versions are compared as numbers: core-10 is above
 * core-7. */
static bool try_pattern(struct search *search, const char *pattern)
{
    glob_t found = {0};
    const char *best = NULL;
    glob(pattern, 0, NULL, &found);
    for (size_t i = 0; i < found.gl_pathc; ++i) {
        const char *path = found.gl_pathv[i], *name = strrchr(path, '/'), *suffix = name ? strstr(name, ".so") : NULL;
        if (suffix && !suffix[3 + strspn(suffix + 3, ".0123456789")] && (!best || strverscmp(path, best) > 0))
            best = path;
    }
    const bool is_usable = best && try_file(search, best);
    globfree(&found);
    return is_usable;
}

static bool try_folders(struct search *search, const char *file)
{
    const size_t length = strcspn(file, "/");
    char variable[64];
    snprintf(variable, sizeof(variable), "%.*s", (int)length - 1, file + 1);
    const char *folders = getenv(variable);
    bool is_usable = false;
    while (folders && *folders && !is_usable) {
        const size_t folder = strcspn(folders, ":");
        SCOPED(text_release) struct text pattern = {0};
        text_addn(&pattern, folders, folder);
        text_add(&pattern, file + length);
        is_usable = folder && try_pattern(search, pattern.data);
        folders += folder + (folders[folder] == ':');
    }
    return is_usable;
}

static bool try_numbers(struct search *search, const char *file)
{
    const int length = (int)strcspn(file, "{");
    int from = 0, to = 0;
    bool is_usable = false;
    sscanf(file + length, "{%d..%d}", &from, &to);
    for (int number = from; number >= to && !is_usable; --number) {
        char name[64];
        snprintf(name, sizeof(name), "%.*s%d", length, file, number);
        is_usable = try_file(search, name);
    }
    return is_usable;
}

static bool try_any(struct search *search, const char *file)
{
    return file[0] == '$'        ? try_folders(search, file)
           : strchr(file, '{')   ? try_numbers(search, file)
           : strpbrk(file, "*?") ? try_pattern(search, file)
                                 : try_file(search, file);
}

enum status library_open(struct library_file *file, void *functions, const struct library_place *place, struct err *err)
{
    const char *named = getenv(place->variable);
    struct search search = {.file = file, .functions = functions, .place = place, .is_named = named && *named};
    bool is_found = search.is_named && try_file(&search, named);
    for (const char *const *each = place->files; *each && !is_found && !search.is_named; ++each)
        is_found = try_any(&search, *each);
    SCOPED(text_release) struct text tried = {0};
    for (const char *const *each = place->files; *each; ++each)
        text_addf(&tried, "%s%s", tried.length ? ", " : "no ", *each);
    enum status status = STATUS_OK;
    if (!is_found && search.is_named)
        status = err_set(err, ERR_UNSUPPORTED, "%s", search.problems.data);
    else if (!is_found)
        status = err_set(err, ERR_UNSUPPORTED, "%s; another place: %s",
                         search.problems.length ? search.problems.data : tried.data, place->variable);
    text_release(&search.problems);
    return status;
}

void library_close(struct library_file *file)
{
    if (file->handle)
        dlclose(file->handle);
    file->handle = NULL;
}

/* ---- functions for kernels ---- */

enum status library_open_named(struct library_file *file, void *functions, const struct library_place *place,
                               struct err *err)
{
    if (library_open(file, functions, place, err)) {
        const struct err cause = *err;
        return err_set(err, ERR_UNSUPPORTED, "the device has no %s (%s)", place->name, cause.text);
    }
    return hash_sha256_file(file->sha256, file->path, err);
}

static void describe(struct kernel_info *info, const struct library_file *file, const struct kernel_arg *args,
                     uint32_t count)
{
    *info = (struct kernel_info){.arg_count = count};
    memcpy(info->args, args, count * sizeof(*args));
    memcpy(info->library, file->says, sizeof(info->library));
    memcpy(info->library_sha256, file->sha256, sizeof(info->library_sha256));
}

#define READ(type, name) memcpy(&to->name, *args++, sizeof(type));
#define DESCRIBE(type, name)                                                                                           \
    {sizeof(type), _Generic((type)0, uint32_t : false, uint64_t : false, double : false, default : true)},

void library_read_gemm(struct library_gemm *to, void *const *args)
{
    LIBRARY_GEMM(READ)
}

void library_describe_gemm(struct kernel_info *info, const struct library_file *file)
{
    static const struct kernel_arg args[LIBRARY_GEMM_ARGS] = {LIBRARY_GEMM(DESCRIBE)};
    describe(info, file, args, LIBRARY_GEMM_ARGS);
}

void library_read_collective(struct library_collective *to, void *const *args)
{
    LIBRARY_COLLECTIVE(READ)
}

void library_describe_collective(struct kernel_info *info, const struct library_file *file)
{
    static const struct kernel_arg args[] = {LIBRARY_COLLECTIVE(DESCRIBE)};
    describe(info, file, args, COUNT_OF(args));
}
