/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build_internal.h"

void argv_add(struct argv *argv, const char *item)
{
    if (argv->count + 1 >= argv->capacity) {
        const size_t capacity = argv->capacity ? 2 * argv->capacity : 48;
        const char **items = arena_array(argv->arena, capacity, sizeof(*items));
        if (argv->count)
            memcpy(items, argv->items, argv->count * sizeof(*items));
        argv->items = items;
        argv->capacity = capacity;
    }
    argv->items[argv->count++] = item;
}

void argv_addf(struct argv *argv, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    argv_add(argv, arena_vprintf(argv->arena, format, args));
    va_end(args);
}

void argv_add_all(struct argv *argv, const char *const *items, size_t count)
{
    for (size_t i = 0; i < count; i++)
        argv_add(argv, items[i]);
}

char *argv_quote(const struct argv *argv)
{
    struct text text = {0};
    for (size_t i = 0; i < argv->count; i++) {
        if (i)
            text_add(&text, " ");
        text_add_escaped(&text, ESCAPE_SHELL, argv->items[i]);
    }
    char *line = arena_strndup(argv->arena, text.data ? text.data : "", text.length);
    text_release(&text);
    return line;
}

enum status scratch_make(char **dir, struct arena *arena, struct err *err)
{
    const char *parent = getenv("TMPDIR");
    char *made = arena_printf(arena, "%s/rooftile-build-XXXXXX", parent && *parent ? parent : "/tmp");
    if (!mkdtemp(made))
        return err_set(err, ERR_IO, "%s: cannot create a temporary folder: %s", made, strerror(errno));
    *dir = made;
    return STATUS_OK;
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *where)
{
    (void)info;
    (void)type;
    (void)where;
    remove(path);
    return 0;
}

void scratch_remove(const char *dir)
{
    if (dir)
        nftw(dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}
