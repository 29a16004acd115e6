/* SPDX-License-Identifier: MIT */
#include "rooftile/catalog.h"

#include <stdio.h>
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
    size_t count;
    const char *const *dirs;
    size_t dir_count;
};

/* ---- what a file is ---- */

/* Documents name their schema, ".../schemas/result/2/...". */
static const char *schema_kind(const cJSON *root, struct arena *arena)
{
    static const char folder[] = "rooftile.dev/schemas/";
    const cJSON *schema = json_member(root, "schema");
    const char *at = cJSON_IsString(schema) ? strstr(schema->valuestring, folder) : NULL;
    return at ? arena_strndup(arena, at + strlen(folder), strcspn(at + strlen(folder), "/")) : NULL;
}

/* Files that people write are told by their keys. */
static const char *kind_by_keys(const cJSON *root)
{
    static const struct {
        const char *key, *kind;
    } keys[] = {{"cases", "suite"},    {"code", "kernel"},    {"launch", "kernel"},
                {"extends", "kernel"}, {"buffers", "kernel"}, {"steps", "kernel"},
                {"levels", "machine"}, {"facts", "machine"},  {"num_warps", "triton"}};
    for (size_t k = 0; k < sizeof(keys) / sizeof(*keys); k++)
        if (json_member(root, keys[k].key))
            return keys[k].kind;
    return NULL;
}

static bool is_object_file(const char *path)
{
    static const char *const starts[] = {"\177ELF", "__CLANG_OFFLOAD_BUNDLE__", "CCOB"};
    char begin[32] = "";
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    begin[fread(begin, 1, sizeof(begin) - 1, file)] = '\0';
    fclose(file);
    for (size_t k = 0; k < sizeof(starts) / sizeof(*starts); k++)
        if (text_starts(begin, starts[k]))
            return true;
    return false;
}

const char *catalog_file_kind(const char *path, const char **name, struct arena *arena)
{
    static const char *const sources[] = {".hip", ".cu", ".cpp", ".cc", ".cl", ".s"};
    const cJSON *root = NULL;
    struct err err = {0};
    if (file_is_dir(path))
        return "folder";
    for (size_t k = 0; k < sizeof(sources) / sizeof(*sources); k++)
        if (text_ends(path, sources[k]) && file_exists(path))
            return "source";
    if (is_object_file(path))
        return "object";
    if (json_read(&root, path, arena, &err) || !cJSON_IsObject(root))
        return NULL;
    const char *kind = schema_kind(root, arena);
    kind = kind ? kind : kind_by_keys(root);
    if (name && kind && !strcmp(kind, "kernel") && json_get_string(name, root, "name", JSON_REQUIRED, &err))
        *name = arena_strndup(arena, path_base(path), strlen(path_base(path)) - strlen(".json"));
    return kind;
}

/* ---- entries ---- */

static const char *file_stem(const char *path, struct arena *arena)
{
    const char *base = path_base(path);
    return arena_strndup(arena, base, strlen(base) - strlen(".json"));
}

/* The name that a broken manifest would have: what it says if it is JSON at all. */
static const char *broken_name(const char *path, struct arena *arena)
{
    const cJSON *root = NULL;
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

static struct entry *find_entry(const struct entries *entries, const char *name)
{
    for (size_t i = 0; i < entries->count; i++)
        if (strcmp(entries->list[i].name, name) == 0)
            return &entries->list[i];
    return NULL;
}

/* Whatever else lies among manifests is none of ours: results, suites. */
static bool is_other_kind(const struct entry *entry, struct arena *arena)
{
    const char *kind = entry->manifest ? NULL : catalog_file_kind(entry->path, NULL, arena);
    return kind && strcmp(kind, "kernel") != 0;
}

/* Whether the first is meant where both are found: the built-in ones come last, a path that is given goes first. Of two
 * folders of the user's neither is; that both have the same file is no conflict. */
static bool hides(const struct entries *entries, const struct entry *first, const struct entry *second,
                  struct arena *arena)
{
    if (first->dir == second->dir)
        return false;
    if (second->dir + 1 == entries->dir_count || !file_is_dir(entries->dirs[first->dir]) ||
        !file_is_dir(entries->dirs[second->dir]))
        return true;
    const char *one = path_real(arena, first->path), *other = path_real(arena, second->path);
    return one && other && !strcmp(one, other);
}

static void add_file(struct entries *entries, const char *path, size_t dir, struct arena *arena)
{
    struct entry entry;
    read_entry(&entry, path, dir, arena);
    struct entry *first = find_entry(entries, entry.name);
    if ((first && hides(entries, first, &entry, arena)) || is_other_kind(&entry, arena))
        return;
    if (first && entry.manifest) {
        if (first->manifest)
            first->problem = arena_printf(arena, "%s: kernel '%s' is also in %s: rename or remove one of them",
                                          first->path, first->name, path);
        first->manifest = entry.manifest = NULL;
        entry.problem = arena_printf(arena, "%s: kernel '%s' is already in %s", path, entry.name, first->path);
    }
    ARENA_PUSH(arena, entries->list, entries->count, entry);
}

static void add_alone(struct entries *entries, const char *path, size_t dir, struct arena *arena)
{
    add_file(entries, path, dir, arena);
    const struct manifest *manifest = entries->count ? entries->list[entries->count - 1].manifest : NULL;
    const char *reference = manifest ? manifest->check.reference.kernel : NULL;
    const char *beside =
        reference ? path_join(arena, path_dir(arena, path), arena_printf(arena, "%s.json", reference)) : NULL;
    if (beside && file_exists(beside))
        add_file(entries, beside, dir, arena);
}

/* False: the folder could not be read, which is a problem of its own. */
static bool read_dir(struct entries *entries, const char *dir, size_t index, struct arena *arena)
{
    struct err err = {0};
    char **paths = NULL;
    size_t count = 0;
    const bool present = file_exists(dir), alone = present && !file_is_dir(dir);
    if (alone) {
        add_alone(entries, dir, index, arena);
        return true;
    }
    if (!present || file_list(&paths, &count, dir, ".json", arena, &err)) {
        const char *problem =
            present ? arena_strdup(arena, err.text) : arena_printf(arena, "%s: there is no such folder", dir);
        const struct entry entry = {.name = dir, .path = dir, .problem = problem, .dir = index};
        ARENA_PUSH(arena, entries->list, entries->count, entry);
        return false;
    }
    for (size_t i = 0; i < count; i++)
        add_file(entries, paths[i], index, arena);
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
    struct entries entries = {.dirs = dirs, .dir_count = dir_count};
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
    const struct manifest wanted = {.name = name}, *key = &wanted;
    const struct manifest *const *found =
        catalog->count ? bsearch(&key, catalog->manifests, catalog->count, sizeof(key), by_name) : NULL;
    return found ? *found : NULL;
}

bool catalog_knows(const struct catalog *catalog, const char *name)
{
    bool known = catalog_find(catalog, name) != NULL;
    for (size_t i = 0; i < catalog->problem_count; i++)
        known = known || !strcmp(catalog->problems[i].name, name);
    return known;
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
    err_set(err, ERR_USAGE, "unknown kernel '%s'", name);
    err_nearest(err, name, names, catalog->count,
                arena_printf(&arena, "'rooftile list' shows all %zu", catalog->count));
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
