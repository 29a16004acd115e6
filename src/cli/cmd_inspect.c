/* SPDX-License-Identifier: MIT */

#include "cli.h"
#include "rooftile/file.h"
#include "rooftile/inspections.h"
#include "rooftile/skeleton.h"

/* ---- arguments ---- */

/* An argument that looks like a path, or is a file but no suite, is a file to inspect; all others are names in the
 * catalog. */
static bool is_path(const char *argument)
{
    if (text_ends(argument, ".json"))
        return false;
    return strchr(argument, '/') || strchr(argument, '.') || (file_exists(argument) && !file_is_dir(argument));
}

static bool wants_details(const struct cli_options *options)
{
    return options->filter_count || options->verbose || options->isa || options->ir;
}

static enum status inspect_argument(struct inspections *found, const char *argument, const struct cli_options *options,
                                    struct arena *arena, struct err *err)
{
    struct inspection inspection = {0};
    const struct inspect_choice choice = {.archs = options->archs,
                                          .arch_count = options->arch_count,
                                          .filters = options->filters,
                                          .filter_count = options->filter_count,
                                          .is_brief = !cli_wants_json(options) && !wants_details(options),
                                          .block = options->block};
    if (!is_path(argument)) {
        struct session *session = arena_alloc(arena, sizeof(*session));
        *session = (struct session){
            .options = options, .arena = arena, .args = arena_copy(arena, &argument, sizeof(argument)), .arg_count = 1};
        return inspections_build(found, session, err);
    }
    if (options->ir)
        return err_set(err, ERR_USAGE, "--ir needs the source: %s is compiled; give a kernel of 'rooftile list'",
                       argument);
    progress_show(options, "reading %s", argument);
    enum status status = inspect_file(&inspection, argument, &choice, arena, err);
    progress_clear();
    if (status)
        return argument_explain(err, argument, "compiled code", arena);
    ARENA_PUSH(arena, found->items, found->count, inspection);
    return STATUS_OK;
}

/* ---- --manifest ---- */

/* Returns the code object's path as a manifest at `out` names it: relative to the manifest's folder. */
static const char *image_from(const char *path, const char *out, struct arena *arena)
{
    const char *there = out && strcmp(out, "-") != 0 ? path_dir(arena, out) : ".";
    const char *here = path_dir(arena, path);
    if (!strcmp(there, "."))
        return path;
    const char *real_there = path_real(arena, there), *real_here = path_real(arena, here);
    if (real_there && real_here && !strcmp(real_there, real_here))
        return path_base(path);
    return real_here ? path_join(arena, real_here, path_base(path)) : path;
}

static enum status write_manifest(const struct cli_options *options, struct arena *arena, struct err *err)
{
    const char *path = options->args[0];
    const struct codeobj_file *file = NULL;
    const struct codeobj_kernel *kernel = NULL;
    SCOPED(text_release) struct text text = {0};
    if (options->arg_count != 1 || !is_path(path))
        return err_set(err, ERR_USAGE, "--manifest is for one FILE of code that others compiled%s",
                       options->arg_count == 1 ? ": kernels of 'rooftile list' have their manifests" : "");
    if (codeobj_read(&file, path, arena, err))
        return argument_explain(err, path, "compiled code", arena);
    if (foreign_kernel(&kernel, file, options, err))
        return err->status;
    text_addf(&text, "%s\n", skeleton_write(image_from(path, options->out, arena), path, kernel, arena));
    enum status status = cli_write(options->out, &text, err);
    if (!status && options->out && strcmp(options->out, "-") != 0)
        log_info("fill in what its comments ask for, then: rooftile run %s", options->out);
    return status;
}

enum status cmd_inspect(struct call *call, struct err *err)
{
    const struct cli_options *options = call->options;
    const struct inspect_look look = {.data = cli_wants_json(options),
                                      .details = wants_details(options),
                                      .isa = options->isa,
                                      .verbose = options->verbose > 0};
    struct document document = {.arena = call->arena};
    struct inspections found = {0};
    enum status status = STATUS_OK;
    session_catch_signals(1);
    if (options->manifest)
        return write_manifest(options, call->arena, err);
    for (size_t k = 0; k < options->arg_count && !status; k++)
        status = inspect_argument(&found, options->args[k], options, call->arena, err);
    if (status)
        return status;
    if (!found.count && found.problem_count)
        return err_set(err, found.worst, "%s", found.problems[0]);
    for (size_t k = 0; k < found.problem_count; k++)
        log_warn("W021", "%s", found.problems[k]);
    call->code = found.worst == ERR_UNSUPPORTED ? 0 : err_exit_code(found.worst);
    inspect_document(&document, found.items, found.count, &look);
    return cli_show_document(options, &document, false, err);
}
