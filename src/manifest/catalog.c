/* SPDX-License-Identifier: MIT */
#include "rooftile/catalog.h"

#include <stdlib.h>
#include <string.h>

#include "rooftile/file.h"
#include "rooftile/text.h"

/* A name and what its file gave: a manifest or a problem. */
struct entry {
    const char *name;
    const char *path;
    const struct manifest *manifest; /* NULL: broken, or the second of its name */
    const char *problem;
    size_t dir;
};

struct entries {
    struct entry *list; /* in an arena */
    size_t count, capacity;
};

static void add_entry(struct entries *entries, const struct entry *entry, struct arena *arena)
{
    if (entries->count == entries->capacity) {
        const size_t capacity = entries->capacity ? 2 * entries->capacity : 64;
        struct entry *list = arena_array(arena, capacity, sizeof(*list));
        if (entries->count)
            memcpy(list, entries->list, entries->count * sizeof(*list));
        entries->list = list;
        entries->capacity = capacity;
    }
    entries->list[entries->count++] = *entry;
}

static const char *file_stem(const char *path, struct arena *arena)
{
    const char *base = path_base(path);
    return arena_strndup(arena, base, strlen(base) - strlen(".json"));
}

/* The name that a broken manifest would have: what it says if it is JSON at all. */
static const char *broken_name(const char *path, struct arena *arena)
{
    const struct json *root = NULL;
    const char *name = NULL;
    struct err err = {0};
    if (json_read(&root, path, arena, &err) || json_get_string(&name, root, "name", JSON_REQUIRED, &err))
        return file_stem(path, arena);
    return name;
}

static void read_entry(struct entry *entry, const char *path, size_t dir, struct arena *arena)
{
    struct err err = {0};
    *entry = (struct entry){.path = path, .dir = dir};
    if (manifest_read(&entry->manifest, path, arena, &err)) {
        entry->problem = arena_strdup(arena, err.text);
        entry->name = broken_name(path, arena);
    } else {
        entry->name = entry->manifest->name;
    }
}

static const struct entry *find_entry(const struct entries *entries, const char *name)
{
    for (size_t i = 0; i < entries->count; i++)
        if (strcmp(entries->list[i].name, name) == 0)
            return &entries->list[i];
    return NULL;
}

/* False: the folder could not be read, which is a problem of its own. */
static bool read_dir(struct entries *entries, const char *dir, size_t index, struct arena *arena)
{
    struct err err = {0};
    char **paths = NULL;
    size_t count = 0;
    const bool present = file_is_dir(dir);
    if (!present || file_list(&paths, &count, dir, ".json", arena, &err)) {
        const char *problem =
            present ? arena_strdup(arena, err.text) : arena_printf(arena, "%s: there is no such folder", dir);
        const struct entry entry = {.name = dir, .path = dir, .problem = problem, .dir = index};
        add_entry(entries, &entry, arena);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        struct entry entry;
        read_entry(&entry, paths[i], index, arena);
        const struct entry *first = find_entry(entries, entry.name);
        if (first && first->dir != index)
            continue;
        if (first && entry.manifest) {
            entry.manifest = NULL;
            entry.problem = arena_printf(arena, "%s: kernel '%s' is already in %s", paths[i], entry.name, first->path);
        }
        add_entry(entries, &entry, arena);
    }
    return true;
}

static int by_name(const void *a, const void *b)
{
    const struct manifest *const *left = a;
    const struct manifest *const *right = b;
    return strcmp((*left)->name, (*right)->name);
}

static void fill_catalog(struct catalog *catalog, const struct entries *entries, struct arena *arena)
{
    const struct manifest **manifests = arena_array(arena, entries->count, sizeof(*manifests));
    struct catalog_problem *problems = arena_array(arena, entries->count, sizeof(*problems));
    for (size_t i = 0; i < entries->count; i++) {
        const struct entry *entry = &entries->list[i];
        if (entry->manifest)
            manifests[catalog->count++] = entry->manifest;
        else
            problems[catalog->problem_count++] =
                (struct catalog_problem){.path = entry->path, .name = entry->name, .text = entry->problem};
    }
    if (catalog->count)
        qsort(manifests, catalog->count, sizeof(*manifests), by_name);
    catalog->manifests = manifests;
    catalog->problems = problems;
}

enum status catalog_read(struct catalog *catalog, const char *const *dirs, size_t dir_count, struct arena *arena,
                         struct err *err)
{
    struct entries entries = {0};
    const char **read = arena_array(arena, dir_count, sizeof(*read));
    size_t read_count = 0;
    for (size_t i = 0; i < dir_count; i++)
        if (read_dir(&entries, dirs[i], i, arena))
            read[read_count++] = arena_strdup(arena, dirs[i]);
    if (read_count == 0)
        return err_set(err, ERR_IO, "no folder of kernels can be read%s%s", entries.count ? ": " : "",
                       entries.count ? entries.list[0].problem : "");
    *catalog = (struct catalog){.dirs = read, .dir_count = read_count};
    fill_catalog(catalog, &entries, arena);
    return STATUS_OK;
}

const struct manifest *catalog_find(const struct catalog *catalog, const char *name)
{
    size_t low = 0;
    size_t high = catalog->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = strcmp(name, catalog->manifests[middle]->name);
        if (order == 0)
            return catalog->manifests[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

enum status catalog_get(const struct manifest **manifest, const struct catalog *catalog, const char *name,
                        struct err *err)
{
    const struct manifest *found = catalog_find(catalog, name);
    if (found) {
        *manifest = found;
        return STATUS_OK;
    }
    for (size_t i = 0; i < catalog->problem_count; i++)
        if (strcmp(catalog->problems[i].name, name) == 0)
            return err_set(err, ERR_CONFIG, "%s", catalog->problems[i].text);
    struct arena arena = {0};
    const char **names = arena_array(&arena, catalog->count, sizeof(*names));
    for (size_t i = 0; i < catalog->count; i++)
        names[i] = catalog->manifests[i]->name;
    const char *near = text_nearest(name, names, catalog->count);
    if (near)
        err_set(err, ERR_USAGE, "unknown kernel '%s'; did you mean '%s'?", name, near);
    else
        err_set(err, ERR_USAGE, "unknown kernel '%s'; 'rooftile list' shows all %zu", name, catalog->count);
    arena_release(&arena);
    return ERR_USAGE;
}

/* A folder beside the installed executable, or in the source tree that the build folder is part of; NULL: neither. The
 * source tree is known by a file that no other has. */
static char *find_dir(const char *name, const char *installed_marker, struct arena *arena)
{
    static const char tree_marker[] = "kernels/include/portable.h";
    const char *self = path_self_dir(arena);
    char *installed = path_join(arena, self, arena_printf(arena, "../share/rooftile/%s", name));
    if (file_exists(path_join(arena, installed, installed_marker)))
        return path_real(arena, installed);
    for (const char *dir = self; strcmp(dir, "/") != 0 && strcmp(dir, ".") != 0; dir = path_dir(arena, dir))
        if (file_exists(path_join(arena, dir, tree_marker)))
            return path_join(arena, dir, name);
    return NULL;
}

/* The non-empty words of a list separated by colons. */
static size_t split_colons(const char **words, const char *list, struct arena *arena)
{
    size_t count = 0;
    while (*list) {
        const size_t length = strcspn(list, ":");
        if (length)
            words[count++] = arena_strndup(arena, list, length);
        list += length + (list[length] == ':');
    }
    return count;
}

enum status catalog_default_dirs(const char *const **dirs, size_t *count, struct arena *arena, struct err *err)
{
    const char *list = getenv("ROOFTILE_KERNELS");
    const size_t most = 1 + (list ? strlen(list) : 0);
    const char **found = arena_array(arena, most, sizeof(*found));
    size_t filled = list ? split_colons(found, list, arena) : 0;
    if (filled == 0) {
        found[0] = find_dir("kernels", "include/portable.h", arena);
        filled = 1;
    }
    if (!found[0])
        return err_set(
            err, ERR_IO,
            "no kernels found: there is no ../share/rooftile/kernels beside %s and no source tree above it; set "
            "ROOFTILE_KERNELS or give --kernels",
            path_self_dir(arena));
    *dirs = found;
    *count = filled;
    return STATUS_OK;
}

char *catalog_config_dir(struct arena *arena)
{
    const char *own = getenv("ROOFTILE_CONFIGS");
    if (own && *own)
        return arena_strdup(arena, own);
    return find_dir("configs", "schema", arena);
}
