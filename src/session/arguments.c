/* SPDX-License-Identifier: MIT
 *
 * Interprets words on the command line as kernels, suites or files of either. The error for any other word suggests a
 * replacement.
 */
#include <dirent.h>

#include "rooftile/file.h"
#include "rooftile/journal.h"
#include "rooftile/session.h"

/* ---- files of another kind ---- */

static const struct kind {
    const char *name, *words;
    const char *before, *after; /* the suggestion: before and after the path */
    bool stem;                  /* the path without its suffix (that of the manifest next to it) */
} kinds[] = {
    {"kernel", "the manifest of a kernel", "'rooftile run ", "' measures it", false},
    {"suite", "a suite", "'rooftile run ", "' measures it", false},
    {"result", "a result", "'rooftile report ", "' shows it", false},
    {"machine", "a machine file", "give it with --machine ", "", false},
    {"source", "a kernel's source", "give its manifest, ", ".json", true},
    {"object", "compiled code", "no manifest beside it has it as \"image\"; 'rooftile inspect ",
     " --manifest -o NAME.json' writes the beginning of one, which 'rooftile run NAME.json' then measures "
     "(kernels/README.md)",
     false},
    {"triton", "Triton's facts about a kernel", "'rooftile inspect ", ".hsaco --manifest' reads them", true},
    {"folder", "a folder", "name a kernel or suite in it, with --kernels ", "", false},
};

static const struct kind *kind_of(const char *path, struct arena *arena)
{
    const char *name = catalog_file_kind(path, NULL, arena);
    return name ? FIND_ROW(kinds, COUNT_OF(kinds), name, name) : NULL;
}

enum status argument_explain(struct err *err, const char *path, const char *wanted, struct arena *arena)
{
    const struct kind *kind = kind_of(path, arena);
    const char *dot = strrchr(path_base(path), '.'), *name = path_base(path);
    if (!kind && !file_exists(path) && strcmp(path, "-") != 0) {
        name = arena_strndup(arena, name, dot ? (size_t)(dot - name) : strlen(name));
        const bool known = strcmp(name, path) != 0 && (strstr(wanted, "kernel") || strstr(wanted, "suite")) &&
                           argument_is_known(name, arena);
        err_set(err, ERR_USAGE, "there is no file '%s', where %s is wanted", path, wanted);
        return err_nearest(err, name, &name, known, NULL);
    }
    if (!kind || !strcmp(wanted, kind->words) || strstr(wanted, kind->name))
        return err->status;
    if (!strcmp(kind->name, "folder") && !strstr(wanted, "kernel"))
        return err_set(err, ERR_USAGE, "%s is a folder, where %s is wanted", path, wanted);
    return err_set(err, ERR_USAGE, "%s is %s, where %s is wanted: %s%.*s%s", path, kind->words, wanted, kind->before,
                   (int)(kind->stem && dot ? (size_t)(dot - path) : strlen(path)), path, kind->after);
}

enum status argument_result(const struct result **result, const char *path, bool light, struct arena *arena,
                            struct err *err)
{
    enum status status = light ? result_read_light(result, path, arena, err) : result_read(result, path, arena, err);
    /* If a journal of a killed run exists, its own error is the more helpful one. */
    return status && !file_exists(journal_of(path, arena)) ? argument_explain(err, path, "a result", arena) : status;
}

/* ---- kernels and suites ---- */

static enum status add_kernel(struct session *session, const char *name)
{
    ARENA_PUSH(session->arena, session->kernels, session->kernel_count, name);
    return STATUS_OK;
}

/* A file that is no suite may be a kernel's manifest. */
static enum status add_manifest(struct session *session, const char *path, struct err *err)
{
    const char *name = NULL, *kind = catalog_file_kind(path, &name, session->arena);
    if (!kind || strcmp(kind, "kernel") != 0)
        return argument_explain(err, path, "a kernel or suite", session->arena);
    ARENA_PUSH(session->arena, session->manifests, session->manifest_count, path);
    return add_kernel(session, name);
}

/* Adds the kernel for an image that others compiled, if exactly one manifest in its folder names the image. */
static enum status add_image(struct session *session, const char *path, struct err *err)
{
    struct arena *arena = session->arena;
    const char *dir = path_dir(arena, path), *manifest = NULL;
    DIR *folder = opendir(dir);
    size_t found = 0;
    for (const struct dirent *file; folder && (file = readdir(folder));) {
        const cJSON *root = NULL;
        const char *image = NULL, *beside = path_join(arena, dir, file->d_name);
        struct err ignored = {0};
        if (!text_ends(beside, ".json") || json_read(&root, beside, arena, &ignored) ||
            !cJSON_IsObject(json_member(root, "code")) ||
            json_get_string(&image, json_member(root, "code"), "image", JSON_REQUIRED, &ignored) ||
            strcmp(path_base(image), path_base(path)) != 0)
            continue;
        manifest = beside;
        found++;
    }
    if (folder)
        closedir(folder);
    if (found == 1)
        return add_manifest(session, manifest, err);
    if (found)
        return err_set(err, ERR_USAGE, "%zu manifests in %s have %s as their image: name one of them", found, dir,
                       path_base(path));
    if (session->any_code)
        return foreign_add(session, path, err);
    err->status = ERR_USAGE;
    return argument_explain(err, path, "a kernel or suite", arena);
}

enum status argument_add(struct session *session, const char *word, const struct measure_options *base, struct err *err)
{
    const char *path = word;
    const char *kind =
        strchr(word, '.') && !text_ends(word, ".json") ? catalog_file_kind(word, NULL, session->arena) : NULL;
    if (kind && !strcmp(kind, "object"))
        return add_image(session, word, err);
    const size_t head = strcspn(word, "/:");
    if (word[head] && strchr(word + head, '=') && !file_exists(word))
        return err_set(err, ERR_USAGE,
                       "'%s' is no kernel, suite or file; a parameter is --set NAME=VALUE, and a case is 'rooftile %s "
                       "%.*s --filter ID'",
                       word, session->options->command ? session->options->command : "run", (int)head, word);
    if (!strchr(word, '/') && !text_ends(word, ".json") && strcmp(word, "-") != 0) {
        path = session_config(session->arena, "", arena_printf(session->arena, "%s.json", word));
        if (!file_exists(path))
            return add_kernel(session, word);
    }
    const struct suite *suite = NULL;
    if (suite_read(&suite, path, base, session->arena, err))
        return add_manifest(session, path, err);
    session->suites[session->suite_count++] = suite;
    return STATUS_OK;
}

enum status argument_unknown(const struct session *session, const char *word, struct err *err)
{
    const struct catalog *catalog = &session->catalog;
    const struct session_host *host = session->options->host;
    struct arena *arena = session->arena;
    const char **names = NULL;
    const char *const *suites = NULL;
    size_t count = 0, suite_count = 0;
    const struct manifest *manifest = NULL;
    if (catalog_knows(catalog, word) && catalog_get(&manifest, catalog, word, err))
        return err->status;
    /* A file with that name is in the working folder, but its contents prevent its use as a kernel. */
    const cJSON *root = NULL;
    const char *here = arena_printf(arena, "%s.json", word), *name = NULL;
    const char *kind = file_exists(here) ? catalog_file_kind(here, &name, arena) : NULL;
    if (file_exists(here) && !kind && json_read(&root, here, arena, err))
        return err->status;
    if (kind && !strcmp(kind, "kernel"))
        return err_set(err, ERR_USAGE, "the kernel of %s is named '%s' in it: 'rooftile run %s' takes it", here, name,
                       here);
    for (size_t k = 0; k < catalog->count; k++)
        ARENA_PUSH(arena, names, count, catalog->entries[k].name);
    if (session_suites(&suites, &suite_count, arena, err))
        return err->status;
    for (size_t k = 0; k < suite_count; k++)
        ARENA_PUSH(arena, names, count, path_stem(path_base(suites[k]), ".json", arena));
    for (size_t k = 0; k < catalog->count; k++)
        ARENA_PUSH(arena, names, count, path_base(path_dir(arena, catalog->entries[k].path)));
    err_set(err, ERR_USAGE, "unknown kernel or suite '%s'", word);
    if (host && host->explain && host->explain(session->options, word, arena, err))
        return err->status;
    const size_t begun = COUNT_WHERE(entry, catalog->entries, catalog->count, text_starts(entry->name, word));
    if (begun > 1 && word[0])
        return err_set(err, ERR_USAGE, "%s; '%s*' in quotes names %zu kernels, which 'rooftile list' shows", err->text,
                       word, begun);
    return err_nearest(err, word, names, count, "'rooftile list' shows all");
}

/* ---- patterns ---- */

enum status argument_kernels(const char ***names, size_t *count, struct session *session, struct err *err)
{
    enum status status = STATUS_OK;
    for (size_t k = 0; k < session->kernel_count && !status; k++) {
        const char *word = session->kernels[k];
        if (catalog_find(&session->catalog, word))
            ARENA_PUSH(session->arena, *names, *count, word);
        else if (!strpbrk(word, "*?["))
            status = argument_unknown(session, word, err);
        const bool pattern = strpbrk(word, "*?[") && !catalog_find(&session->catalog, word);
        const size_t before = *count;
        size_t all = 0;
        const struct manifest *const *manifests = pattern ? catalog_all(&all, &session->catalog) : NULL;
        for (size_t n = 0; n < all; n++)
            if (!session_is_helper(manifests[n]) && text_matches(manifests[n]->name, word))
                ARENA_PUSH(session->arena, *names, *count, manifests[n]->name);
        if (pattern && *count == before)
            status = err_set(err, ERR_USAGE, "no kernel matches '%s'; 'rooftile list' shows all", word);
    }
    return status;
}

const char *argument_manifest_here(const struct session *session, const char *word)
{
    const char *path = arena_printf(session->arena, "%s.json", word), *name = NULL;
    const char *kind = strpbrk(word, "*?[") ? NULL : catalog_file_kind(path, &name, session->arena);
    return kind && !strcmp(kind, "kernel") && !strcmp(name, word) ? path : NULL;
}

bool argument_is_known(const char *word, struct arena *arena)
{
    static const struct cli_options none;
    struct session session = {.options = &none, .arena = arena, .args = &word, .arg_count = 1};
    struct err ignored = {0};
    return word[0] != '-' && !session_go(&session, SESSION_SUITES | SESSION_CATALOG, &ignored);
}
