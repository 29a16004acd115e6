/* SPDX-License-Identifier: MIT */
#include "rooftile/catalog.h"

#include "rooftile/file.h"
#include "rooftile/hash.h"

/* ---- the kind of a file ---- */

/* Generated documents name their schema, ".../schemas/result/2/...". */
static const char *schema_kind(const cJSON *root, struct arena *arena)
{
    static const char folder[] = "rooftile.dev/schemas/";
    const cJSON *schema = json_member(root, "schema");
    const char *at = cJSON_IsString(schema) ? strstr(schema->valuestring, folder) : NULL;
    return at ? arena_strndup(arena, at + strlen(folder), strcspn(at + strlen(folder), "/")) : NULL;
}

/* Hand-written files are recognized by their keys. */
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

static const char *document_kind(const cJSON *root, struct arena *arena)
{
    const char *kind = cJSON_IsObject(root) ? schema_kind(root, arena) : NULL;
    return kind || !cJSON_IsObject(root) ? kind : kind_by_keys(root);
}

/* Returns the name that the manifest states, otherwise its file's name. */
static const char *name_of(const cJSON *root, const char *path, struct arena *arena)
{
    const cJSON *name = json_member(root, "name");
    const char *base = path_base(path);
    return cJSON_IsString(name) ? name->valuestring : arena_strndup(arena, base, strlen(base) - strlen(".json"));
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
    const char *kind = json_read(&root, path, arena, &err) ? NULL : document_kind(root, arena);
    if (name && kind && !strcmp(kind, "kernel"))
        *name = name_of(root, path, arena);
    return kind;
}

/* ---- entries ---- */

static struct catalog_entry *find_entry(const struct catalog *catalog, const char *name)
{
    const uint64_t hash = hash_u64(name, strlen(name));
    for (size_t i = 0; i < catalog->count; i++)
        if (catalog->entries[i].hash == hash && !strcmp(catalog->entries[i].name, name))
            return &catalog->entries[i];
    return NULL;
}

static struct catalog_entry *add_entry(struct catalog *catalog, struct catalog_entry *entry)
{
    entry->hash = hash_u64(entry->name, strlen(entry->name));
    ARENA_PUSH(catalog->arena, catalog->entries, catalog->count, *entry);
    return &catalog->entries[catalog->count - 1];
}

/* Returns NULL on failure and sets entry->problem. */
static const struct manifest *read_manifest(struct catalog_entry *entry, struct arena *arena)
{
    struct err err = {0};
    if (!entry->manifest && !entry->problem && manifest_read(&entry->manifest, entry->path, entry->root, arena, &err))
        entry->problem = arena_strdup(arena, err.text);
    return entry->manifest;
}

/* Tells whether the first entry takes precedence over the second. Built-in kernels come last, and a file given by path
 * comes first. Between two folders of the user, neither takes precedence, unless both contain the same file. */
static bool hides(const struct catalog *catalog, const struct catalog_entry *first, const struct catalog_entry *second)
{
    if (first->dir == second->dir)
        return false;
    if (second->dir + 1 == catalog->dir_count || !file_is_dir(catalog->dirs[first->dir]) ||
        !file_is_dir(catalog->dirs[second->dir]))
        return true;
    const char *one = path_real(catalog->arena, first->path), *other = path_real(catalog->arena, second->path);
    return one && other && !strcmp(one, other);
}

/* Returns NULL if the entry is hidden or not a manifest; results and suites may lie among manifests. */
static struct catalog_entry *add_file(struct catalog *catalog, const char *path, size_t dir)
{
    struct arena *arena = catalog->arena;
    struct err err = {0};
    struct catalog_entry entry = {.path = path, .dir = dir};
    if (json_read(&entry.root, path, arena, &err))
        entry.problem = arena_strdup(arena, err.text);
    entry.name = name_of(entry.root, path, arena);
    const char *kind = document_kind(entry.root, arena);
    struct catalog_entry *first = find_entry(catalog, entry.name);
    if ((first && hides(catalog, first, &entry)) || (kind && strcmp(kind, "kernel") != 0))
        return NULL;
    if (first && !entry.problem) {
        if (!first->problem)
            first->problem = arena_printf(arena, "%s: kernel '%s' is also in %s: rename or remove one of them",
                                          first->path, first->name, path);
        entry.problem = arena_printf(arena, "%s: kernel '%s' is already in %s", path, entry.name, first->path);
    }
    return add_entry(catalog, &entry);
}

/* Returns false if the folder could not be read, which is recorded as a problem. */
static bool read_dir(struct catalog *catalog, size_t index)
{
    struct arena *arena = catalog->arena;
    struct err err = {0};
    const char *dir = catalog->dirs[index];
    char **paths = NULL;
    size_t count = 0;
    const bool present = file_exists(dir), alone = present && !file_is_dir(dir);
    if (alone) {
        /* A manifest given by its path, and its reference, which is in the same folder. */
        struct catalog_entry *entry = add_file(catalog, dir, index);
        const struct manifest *manifest = entry ? read_manifest(entry, arena) : NULL;
        const char *reference = manifest ? manifest->check.reference.kernel : NULL;
        const char *beside =
            reference ? path_join(arena, path_dir(arena, dir), arena_printf(arena, "%s.json", reference)) : NULL;
        if (beside && file_exists(beside))
            add_file(catalog, beside, index);
        return true;
    }
    if (!present || file_list(&paths, &count, dir, ".json", arena, &err)) {
        const char *problem =
            present ? arena_strdup(arena, err.text) : arena_printf(arena, "%s: there is no such folder", dir);
        struct catalog_entry entry = {.name = dir, .path = dir, .problem = problem, .dir = index};
        add_entry(catalog, &entry);
        return false;
    }
    for (size_t i = 0; i < count; i++)
        add_file(catalog, paths[i], index);
    return true;
}

enum status catalog_read(struct catalog *catalog, const char *const *dirs, size_t dir_count, struct arena *arena,
                         struct err *err)
{
    struct catalog made = {.dirs = dirs, .dir_count = dir_count, .arena = arena};
    const char **read = arena_array(arena, dir_count, sizeof(*read));
    size_t read_count = 0;
    for (size_t i = 0; i < dir_count; i++)
        if (read_dir(&made, i))
            read[read_count++] = arena_strdup(arena, dirs[i]);
    if (read_count == 0)
        return err_set(err, ERR_IO, "no folder of kernels can be read%s%s", made.count ? ": " : "",
                       made.count ? made.entries[0].problem : "");
    *catalog = made;
    catalog->dirs = read;
    catalog->dir_count = read_count;
    return STATUS_OK;
}

/* ---- queries ---- */

static int by_name(const void *a, const void *b)
{
    const struct manifest *const *left = a;
    const struct manifest *const *right = b;
    return strcmp((*left)->name, (*right)->name);
}

const struct manifest *const *catalog_all(size_t *count, const struct catalog *catalog)
{
    const struct manifest **manifests = arena_array(catalog->arena, catalog->count + 1, sizeof(*manifests));
    *count = 0;
    for (size_t i = 0; i < catalog->count; i++)
        if (read_manifest(&catalog->entries[i], catalog->arena))
            manifests[(*count)++] = catalog->entries[i].manifest;
    qsort(manifests, *count, sizeof(*manifests), by_name);
    return manifests;
}

const struct manifest *catalog_find(const struct catalog *catalog, const char *name)
{
    struct catalog_entry *entry = find_entry(catalog, name);
    return entry ? read_manifest(entry, catalog->arena) : NULL;
}

bool catalog_knows(const struct catalog *catalog, const char *name)
{
    return find_entry(catalog, name);
}

enum status catalog_get(const struct manifest **manifest, const struct catalog *catalog, const char *name,
                        struct err *err)
{
    struct catalog_entry *entry = find_entry(catalog, name);
    if (entry && read_manifest(entry, catalog->arena)) {
        *manifest = entry->manifest;
        return STATUS_OK;
    }
    if (entry)
        return err_set(err, ERR_CONFIG, "%s", entry->problem);
    SCOPED(arena_release) struct arena arena = {0};
    const char **names = arena_array(&arena, catalog->count, sizeof(*names));
    for (size_t i = 0; i < catalog->count; i++)
        names[i] = catalog->entries[i].name;
    err_set(err, ERR_USAGE, "unknown kernel '%s'", name);
    err_nearest(err, name, names, catalog->count,
                arena_printf(&arena, "'rooftile list' shows all %zu", catalog->count));
    return ERR_USAGE;
}

/* Finds a folder next to the installed executable, or in the source tree that contains the build folder; NULL: neither.
 * A file that only the source tree has identifies it. */
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

enum status catalog_default_dirs(const char *const **dirs, size_t *count, struct arena *arena, struct err *err)
{
    const char *list = getenv("ROOFTILE_KERNELS");
    const size_t most = 1 + (list ? strlen(list) : 0);
    const char **found = arena_array(arena, most, sizeof(*found));
    size_t filled = 0;
    while (list && *list) { /* non-empty names, separated by colons */
        const size_t length = strcspn(list, ":");
        if (length)
            found[filled++] = arena_strndup(arena, list, length);
        list += length + (list[length] == ':');
    }
    if (filled == 0) {
        found[0] = find_dir("kernels", "include/portable.h", arena);
        filled = 1;
    }
    if (!found[0])
        return err_set(
            err, ERR_IO,
            "no kernels found: there is no ../share/rooftile/kernels beside %s and no source tree above it; set "
            "ROOFTILE_KERNELS",
            path_self_dir(arena));
    *dirs = found;
    *count = filled;
    return STATUS_OK;
}

char *catalog_import_dir(struct arena *arena)
{
    return find_dir("import", "__main__.py", arena);
}

char *catalog_config_dir(struct arena *arena)
{
    const char *own = getenv("ROOFTILE_CONFIGS");
    if (own && *own)
        return arena_strdup(arena, own);
    return find_dir("configs", "schema", arena);
}
