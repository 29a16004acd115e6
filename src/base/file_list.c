/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "rooftile/file.h"
#include "rooftile/text.h"

struct path_list {
    char **paths;
    size_t count;
    size_t capacity;
};

static void list_add(struct path_list *list, const char *path, struct arena *arena)
{
    if (list->count == list->capacity) {
        const size_t capacity = list->capacity ? 2 * list->capacity : 64;
        char **paths = arena_array(arena, capacity, sizeof(*paths));
        if (list->count)
            memcpy(paths, list->paths, list->count * sizeof(*paths));
        list->paths = paths;
        list->capacity = capacity;
    }
    list->paths[list->count++] = arena_strdup(arena, path);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Symbolic links are followed; cycles and links to nothing are passed over. */
static enum status walk(struct path_list *list, FTS *tree, const char *suffix, struct arena *arena, struct err *err)
{
    for (;;) {
        errno = 0;
        const FTSENT *entry = fts_read(tree);
        if (!entry)
            return errno ? err_set(err, ERR_CONFIG, "%s", strerror(errno)) : STATUS_OK;
        if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR || entry->fts_info == FTS_NS)
            return err_set(err, ERR_CONFIG, "%s: %s", entry->fts_path, strerror(entry->fts_errno));
        if (entry->fts_info == FTS_F && text_ends(entry->fts_path, suffix))
            list_add(list, entry->fts_path, arena);
    }
}

enum status file_list(char ***paths, size_t *count, const char *dir, const char *suffix, struct arena *arena,
                      struct err *err)
{
    struct path_list list = {0};
    struct stat info;
    if (stat(dir, &info)) {
        if (errno != ENOENT)
            return err_set(err, ERR_CONFIG, "%s: %s", dir, strerror(errno));
        *paths = NULL;
        *count = 0;
        return STATUS_OK;
    }
    if (!S_ISDIR(info.st_mode))
        return err_set(err, ERR_CONFIG, "%s: is not a folder", dir);
    char *roots[] = {arena_strdup(arena, dir), NULL};
    FTS *tree = fts_open(roots, FTS_LOGICAL | FTS_NOCHDIR, NULL);
    if (!tree)
        return err_set(err, ERR_CONFIG, "%s: %s", dir, strerror(errno));
    const enum status status = walk(&list, tree, suffix, arena, err);
    fts_close(tree);
    if (status)
        return status;
    if (list.count)
        qsort(list.paths, list.count, sizeof(*list.paths), by_name);
    *paths = list.paths;
    *count = list.count;
    return STATUS_OK;
}
