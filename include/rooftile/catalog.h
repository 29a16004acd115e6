/* SPDX-License-Identifier: MIT
 *
 * Catalog: all manifests below one or more kernel folders, by name. Kernel names are flat and unique.
 */
#ifndef ROOFTILE_CATALOG_H
#define ROOFTILE_CATALOG_H

#include "rooftile/manifest.h"

/* One file. Manifests are parsed when they are asked for: a suite names few of them. */
struct catalog_entry {
    const char *name; /* of the kernel that it is or would be: its "name", else the file's name */
    const char *path;
    const struct manifest *manifest; /* NULL: not read yet, or broken */
    const char *problem;             /* why it cannot be read; NULL: no problem is known so far */
    const cJSON *root;               /* what is in the file; NULL: it is not JSON */
    size_t dir;                      /* which folder it is from */
    uint64_t hash;                   /* of the name: plans ask for kernels once per case and once per reference */
};

struct catalog {
    struct catalog_entry *entries; /* in the order of folders and files */
    size_t count;
    const char *const *dirs; /* the folders read, in order of precedence */
    size_t dir_count;
    struct arena *arena;
};

/* Looks into every *.json below the folders. An entry of `dirs` may also be the path of a manifest, which stands for
 * that manifest and the reference next to it. Files of other kinds (catalog_file_kind) are passed over. A name found
 * twice, in one folder or in two of the user's, is a problem, and neither of the two is a kernel. A given path wins
 * over the folders, and the other folders win over the last one, which is built in, even with a broken manifest.
 * `arena` has to live as long as the catalog. ERR_IO only when no folder can be read. */
enum status catalog_read(struct catalog *catalog, const char *const *dirs, size_t dir_count, struct arena *arena,
                         struct err *err);

/* Every manifest that can be read, sorted by name; afterwards every other entry has its problem. Broken files do not
 * hide good ones; `check` reports all of them. */
const struct manifest *const *catalog_all(size_t *count, const struct catalog *catalog);

/* What a file is, by what is in it: "kernel" (a manifest), "suite", "machine", "result" and other words of our schemas;
 * "source", "object" (compiled code), "folder"; NULL: unknown, or it cannot be read. `name`: of a kernel; may be NULL.
 */
const char *catalog_file_kind(const char *path, const char **name, struct arena *arena);

/* The folders used without --kernels: $ROOFTILE_KERNELS (colon list), else kernels/ relative to the executable: the
 * installed <prefix>/share/rooftile/kernels beside <prefix>/bin, or the source tree's when run from a build folder. */
enum status catalog_default_dirs(const char *const **dirs, size_t *count, struct arena *arena, struct err *err);
/* The same search for configs/ (suites, machines, schemas): $ROOFTILE_CONFIGS, share/rooftile/configs, source tree.
 * NULL: there is none. */
char *catalog_config_dir(struct arena *arena);
/* The folder of the program that reads other tools' files: share/rooftile/import, source tree; NULL: there is none. */
char *catalog_import_dir(struct arena *arena);

/* There is a manifest of this name, good or broken. */
bool catalog_knows(const struct catalog *catalog, const char *name);
/* NULL when there is none. */
const struct manifest *catalog_find(const struct catalog *catalog, const char *name);
/* The same, ERR_USAGE with a did-you-mean; if the name is that of a broken manifest, its problem is the message
 * (ERR_CONFIG). */
enum status catalog_get(const struct manifest **manifest, const struct catalog *catalog, const char *name,
                        struct err *err);

#endif
