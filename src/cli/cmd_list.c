/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "list.h"
#include "options.h"
#include "rooftile/file.h"
#include "rooftile/targets.h"
#include "session.h"
#include "show.h"

const char *list_family(const struct manifest *manifest)
{
    return path_base(manifest->dir);
}

bool list_is_reference(const struct manifest *manifest)
{
    return text_ends(manifest->name, "_reference");
}

/* ---- what there is ---- */

/* The suites are the JSON files of configs/ itself; its folders hold machines and schemas. */
static enum status find_suites(struct listing *listing, struct err *err)
{
    char **paths = NULL;
    size_t count = 0;
    char *dir = catalog_config_dir(listing->arena);
    enum status status = dir ? file_list(&paths, &count, dir, ".json", listing->arena, err) : STATUS_OK;
    if (status)
        return status;
    listing->suites = arena_array(listing->arena, count + 1, sizeof(*listing->suites));
    for (size_t k = 0; k < count; k++) {
        if (strcmp(path_dir(listing->arena, paths[k]), dir) != 0)
            continue;
        const char *base = path_base(paths[k]);
        listing->suites[listing->suite_count++] = (struct listed_suite){
            .name = arena_strndup(listing->arena, base, strlen(base) - strlen(".json")), .path = paths[k]};
    }
    return STATUS_OK;
}

static void read_suite(struct listed_suite *listed, struct arena *arena)
{
    struct measure_options measure;
    struct err err = {0};
    measure_defaults(&measure);
    if (suite_read(&listed->suite, listed->path, &measure, arena, &err))
        listed->problem = arena_strdup(arena, err.text);
}

/* ---- what was asked for ---- */

static bool matches(const struct manifest *manifest, const char *glob)
{
    bool found = text_matches(manifest->name, glob) || text_matches(list_family(manifest), glob);
    for (size_t k = 0; k < manifest->tag_count && !found; k++)
        found = text_matches(manifest->tags[k], glob);
    return found;
}

static bool is_wanted(const struct manifest *manifest, const struct cli_options *options)
{
    bool wanted = !options->filter_count;
    for (size_t k = 0; k < options->filter_count && !wanted; k++)
        wanted = matches(manifest, options->filters[k]);
    return wanted;
}

static void choose_kernels(struct listing *listing, const struct cli_options *options, const char *family)
{
    for (size_t k = 0; k < listing->catalog.count; k++) {
        const struct manifest *manifest = listing->catalog.manifests[k];
        if (is_wanted(manifest, options) && (!family || !strcmp(list_family(manifest), family)))
            listing->kernels[listing->kernel_count++] = manifest;
    }
}

static bool choose_suite(struct listing *listing, const struct listed_suite *all, size_t count, const char *name)
{
    if (strchr(name, '/') || text_ends(name, ".json")) {
        listing->suites[listing->suite_count++] = (struct listed_suite){.name = name, .path = name};
        return true;
    }
    for (size_t k = 0; k < count; k++)
        if (!strcmp(all[k].name, name)) {
            listing->suites[listing->suite_count++] = all[k];
            return true;
        }
    return false;
}

static enum status unknown_name(const struct listing *listing, const struct listed_suite *all, size_t count,
                                const char *name, struct err *err)
{
    const struct catalog *catalog = &listing->catalog;
    const char **names = arena_array(listing->arena, 2 * catalog->count + count + 1, sizeof(*names));
    size_t known = 0;
    for (size_t k = 0; k < catalog->problem_count; k++)
        if (!strcmp(catalog->problems[k].name, name))
            return err_set(err, ERR_CONFIG, "%s", catalog->problems[k].text);
    for (size_t k = 0; k < catalog->count; k++)
        names[known++] = catalog->manifests[k]->name;
    for (size_t k = 0; k < count; k++)
        names[known++] = all[k].name;
    for (size_t k = 0; k < catalog->count; k++)
        names[known++] = list_family(catalog->manifests[k]);
    const char *near = text_nearest(name, names, known);
    if (near)
        return err_set(err, ERR_USAGE, "unknown kernel or suite '%s'; did you mean '%s'?", name, near);
    return err_set(err, ERR_USAGE, "unknown kernel or suite '%s'; 'rooftile list' shows all", name);
}

static enum status choose_named(struct listing *listing, const struct cli_options *options, struct err *err)
{
    const struct listed_suite *all = listing->suites;
    const size_t count = listing->suite_count;
    listing->suites = arena_array(listing->arena, options->arg_count, sizeof(*listing->suites));
    listing->suite_count = 0;
    for (size_t k = 0; k < options->arg_count; k++) {
        const char *name = options->args[k];
        const struct manifest *manifest = catalog_find(&listing->catalog, name);
        const size_t before = listing->kernel_count;
        const bool named = manifest || choose_suite(listing, all, count, name);
        if (manifest)
            listing->kernels[listing->kernel_count++] = manifest;
        else if (!named)
            choose_kernels(listing, options, name);
        if (!named && listing->kernel_count == before)
            return unknown_name(listing, all, count, name, err);
        listing->full |= named;
    }
    return STATUS_OK;
}

static int by_family(const void *a, const void *b)
{
    const struct manifest *const *left = a, *const *right = b;
    const int references = (int)session_is_helper(*left) - (int)session_is_helper(*right);
    const int families = references ? references : strcmp(list_family(*left), list_family(*right));
    return families ? families : strcmp((*left)->name, (*right)->name);
}

static enum status choose(struct listing *listing, const struct cli_options *options, struct err *err)
{
    enum status status = STATUS_OK;
    listing->kernels =
        arena_array(listing->arena, (options->arg_count + 1) * (listing->catalog.count + 1), sizeof(*listing->kernels));
    if (options->arg_count) {
        status = choose_named(listing, options, err);
    } else {
        choose_kernels(listing, options, NULL);
        if (options->filter_count)
            listing->suite_count = 0;
    }
    if (listing->kernel_count)
        qsort(listing->kernels, listing->kernel_count, sizeof(*listing->kernels), by_family);
    return status;
}

static void print_names(const struct listing *listing)
{
    for (size_t k = 0; k < listing->kernel_count; k++)
        if (!session_is_helper(listing->kernels[k]))
            printf("%s\n", listing->kernels[k]->name);
    for (size_t k = 0; k < listing->suite_count; k++)
        printf("%s\n", listing->suites[k].name);
}

static enum status find_all(struct listing *listing, const struct cli_options *options, struct err *err)
{
    struct session session = {.options = options, .arena = listing->arena};
    enum status status = session_catalog(&session, err);
    listing->catalog = session.catalog;
    if (!status)
        status = find_suites(listing, err);
    if (!status)
        status = choose(listing, options, err);
    for (size_t k = 0; k < listing->suite_count && !status && !options->names; k++) {
        read_suite(&listing->suites[k], listing->arena);
        if (listing->full && listing->suites[k].problem)
            status = err_set(err, ERR_CONFIG, "%s", listing->suites[k].problem);
    }
    return status;
}

int cmd_list(const struct cli_options *options, struct arena *arena)
{
    struct document document = {.arena = arena};
    struct listing listing = {.arena = arena};
    struct err err = {0};
    if (options->targets && options->names) {
        for (size_t k = 0; k < TARGET_COUNT; k++)
            printf("%s\n", targets[k].arch);
        return 0;
    }
    enum status status = options->targets ? STATUS_OK : find_all(&listing, options, &err);
    if (!status && options->names) {
        print_names(&listing);
        return 0;
    }
    if (!status && options->targets)
        list_targets(&document);
    else if (!status)
        list_document(&document, &listing, options->json);
    if (!status)
        status = show_document(&document, options, false, &err);
    return status ? cli_fail(&err) : 0;
}
