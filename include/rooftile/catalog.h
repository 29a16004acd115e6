/* SPDX-License-Identifier: MIT
 *
 * Catalog: all manifests below one or more kernel folders, by name. Kernel names are flat and unique.
 */
#ifndef ROOFTILE_CATALOG_H
#define ROOFTILE_CATALOG_H

#include "rooftile/manifest.h"

/* One file. Manifests are parsed on demand, because a suite names only few of them. */
struct catalog_entry {
    const char *name; /* of the kernel that it is, or would be if it could be read: its "name", else the file's name */
    const char *path;
    const struct manifest *manifest; /* NULL: not read yet, or invalid */
    const char *problem;             /* why it cannot be read; NULL: no known problem */
    const cJSON *root;               /* the file's contents; NULL: not JSON */
    size_t dir;                      /* index of the folder that it is from */
    uint64_t hash;                   /* of the name: plans look up kernels once per case and once per reference */
};

struct catalog {
    struct catalog_entry *entries; /* in the order of folders and files */
    size_t count;
    const char *const *dirs; /* the folders that were read, in order of precedence */
    size_t dir_count;
    struct arena *arena;
};

/* Reads every *.json below the folders. An entry of `dirs` may also be the path of a manifest; it adds that manifest
 * and the reference next to it. Files of other kinds (catalog_file_kind) are skipped. A name found twice, in one folder
 * or in two of the user's, is a problem, and neither of the two is a kernel. A path takes precedence over the folders,
 * and the other folders over the last one, which is built in, even with an invalid manifest. `arena` must live as long
 * as the catalog. ERR_IO only if no folder can be read. */
enum status catalog_read(struct catalog *catalog, const char *const *dirs, size_t dir_count, struct arena *arena,
                         struct err *err);

/* Returns every manifest that can be read, sorted by name; afterwards every other entry has its problem. Broken files
 * do not hide good ones; `check` reports all of them. */
const struct manifest *const *catalog_all(size_t *count, const struct catalog *catalog);

/* Determines the kind of a file by its contents: "kernel" (a manifest), "suite", "machine", "result" and other words of
 * our schemas; "source", "object" (compiled code), "folder"; NULL: unknown, or unreadable. `name` receives a kernel's
 * name; may be NULL. */
const char *catalog_file_kind(const char *path, const char **name, struct arena *arena);

/* Returns the folders used without --kernels: $ROOFTILE_KERNELS (colon-separated), else kernels/ relative to the
 * executable: the installed <prefix>/share/rooftile/kernels beside <prefix>/bin, or the source tree's when run from a
 * build folder. */
enum status catalog_default_dirs(const char *const **dirs, size_t *count, struct arena *arena, struct err *err);
/* Searches likewise for configs/ (suites, machines, schemas): $ROOFTILE_CONFIGS, share/rooftile/configs, source tree.
 * NULL: there is none. */
char *catalog_config_dir(struct arena *arena);
/* Returns the folder of the program that reads other tools' files: share/rooftile/import, source tree; NULL: there is
 * none. */
char *catalog_import_dir(struct arena *arena);

/* Tells whether there is a manifest with this name, valid or not. */
bool catalog_knows(const struct catalog *catalog, const char *name);
/* Returns NULL if there is none. */
const struct manifest *catalog_find(const struct catalog *catalog, const char *name);
/* Like catalog_find, but fails with ERR_USAGE and a did-you-mean. For an invalid manifest, the message is its problem
 * (ERR_CONFIG). */
enum status catalog_get(const struct manifest **manifest, const struct catalog *catalog, const char *name,
                        struct err *err);

#endif
