/* SPDX-License-Identifier: MIT
 *
 * Supports code that others compiled and that no manifest describes: selects the kernel, and makes a manifest from its
 * metadata that is good enough to be planned and walked.
 */

#include "rooftile/codeobj.h"
#include "rooftile/file.h"
#include "rooftile/log.h"
#include "rooftile/session.h"
#include "rooftile/skeleton.h"

enum status foreign_kernel(const struct codeobj_kernel **found, const struct codeobj_file *file,
                           const struct cli_options *options, struct err *err)
{
    SCOPED(text_release) struct text others = {0};
    size_t count = 0;
    for (size_t o = 0; o < file->count; o++)
        FOR_EACH(const struct codeobj_kernel, kernel, file->objects[o].kernels, file->objects[o].kernel_count) {
            const struct codeobj *first = NULL;
            if (!text_filtered(options->filters, options->filter_count, kernel->name, NULL) ||
                codeobj_find_kernel(&first, file, kernel->name) != kernel)
                continue;
            *found = kernel;
            if (++count <= 4)
                text_addf(&others, "%s'%s'", count > 1 ? ", " : "", kernel->name);
        }
    if (count == 1)
        err->status = STATUS_OK;
    else if (count)
        err_set(err, ERR_USAGE, "%s has %zu kernels, choose one with --filter: %s%s", file->path, count, others.data,
                count > 4 ? " ..." : "");
    else
        err_set(err, ERR_USAGE, "%s has no kernel that --filter matches", file->path);
    return err->status;
}

enum status foreign_add(struct session *session, const char *path, struct err *err)
{
    struct arena *arena = session->arena;
    const struct codeobj_file *file = NULL;
    const struct codeobj_kernel *kernel = NULL;
    char *folder = NULL;
    if (codeobj_read(&file, path, arena, err) || foreign_kernel(&kernel, file, session->options, err) ||
        path_data_dir(&folder, true, arena, err) || file_make_dirs(folder, err))
        return err->status;
    const char *name = NULL, *text = skeleton_write(path_real(arena, path), path, kernel, arena);
    char *manifest = path_new(arena, path_join(arena, folder, "code-"), ".json");
    enum status status = file_write(manifest, text, strlen(text), err);
    if (status || !catalog_file_kind(manifest, &name, arena))
        return err->status;
    session->guess = manifest;
    ARENA_PUSH(arena, session->manifests, session->manifest_count, manifest);
    ARENA_PUSH(arena, session->kernels, session->kernel_count, name);
    return STATUS_OK;
}

/* Times may be off by this factor, since they scale with the guessed sizes. */
#define GUESSED 2.0

void foreign_note(struct prediction *prediction, const struct session *session, const struct plan_case *plan_case)
{
    const struct manifest *manifest = plan_case->resolved.manifest;
    SCOPED(text_release) struct text sizes = {0};
    if (!session->guess || strcmp(manifest->path, session->guess) != 0)
        return;
    for (size_t k = 0; k < manifest->param_count; k++)
        if (!param_is_hidden(&manifest->params[k], &plan_case->resolved.values[k]))
            text_addf(&sizes, "%s%s=%s", sizes.length ? " " : "", manifest->params[k].name,
                      param_text(session->arena, &plan_case->resolved.values[k]));
    prediction->low_ns /= GUESSED;
    prediction->high_ns *= GUESSED;
    prediction_note(prediction,
                    "assumed: %s; grid of n, buffers of n elements, whole numbers n (--set, or 'inspect "
                    "--manifest' to write them): interval twice as wide",
                    sizes.data);
}

/* Counts the comments with questions in this value and everything in it; `first` receives the first one. */
static size_t count_asks(const char **first, const cJSON *at)
{
    size_t count = 0;
    for (const cJSON *in = at->child; in; in = in->next) {
        const bool asks = cJSON_IsString(in) && text_starts(in->valuestring, SKELETON_ASKS);
        if (asks && !count && !*first)
            *first = in->valuestring + strlen(SKELETON_ASKS);
        count += asks + count_asks(first, in);
    }
    return count;
}

void foreign_ask(const struct session *session)
{
    const struct manifest *last = NULL;
    for (size_t k = 0; k < session->plan->count; k++) {
        const struct manifest *manifest = session->plan->cases[k].resolved.manifest;
        const char *first = NULL;
        const bool is_new = manifest && manifest != last && manifest->image &&
                            (!session->guess || strcmp(manifest->path, session->guess) != 0);
        const size_t count = is_new && manifest->at ? count_asks(&first, manifest->at) : 0;
        if (count)
            log_info("%s: times are of guesses in %zu place%s that its comments ask to fill in, first: %s",
                     manifest->path, count, count == 1 ? "" : "s", first);
        last = manifest;
    }
}
