/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "rooftile/file.h"
#include "rooftile/inspection.h"
#include "rooftile/launch_fit.h"
#include "rooftile/targets.h"
#include "session.h"
#include "skeleton.h"

#define FALLBACK_ARCH "gfx942"

/* What was found so far; grows. */
struct inspections {
    struct inspection *items;
    size_t count;
};

/* ---- the target ---- */

/* Without --arch: the GPU here, else a well-known one that a compiler here knows. */
static enum status default_arch(const char **arch, const struct cli_options *options, struct arena *arena,
                                struct err *err)
{
    struct session session = {.options = options, .arena = arena};
    const struct build_target target = {.kind = BUILD_AMD, .arch = FALLBACK_ARCH, .wave = 64};
    struct compiler compiler;
    if (!session_go(&session, SESSION_DEVICE, err) &&
        (text_starts(session.info.arch, "gfx") || target_is_nvidia(session.info.arch))) {
        *arch = arena_strdup(arena, session.info.arch);
        return STATUS_OK;
    }
    *arch = FALLBACK_ARCH;
    enum status status = build_find_compiler(&compiler, &target, 0, arena, err);
    return status ? err_within(err, "there is no AMD device here; --arch names a target, such as gfx90a") : STATUS_OK;
}

/* ---- the code of the plan ---- */

struct launches {
    struct inspect_launch *items;
    size_t count;
};

static void add_launch(struct launches *launches, const struct resolved *resolved, const struct resolved_launch *launch,
                       struct arena *arena)
{
    const struct manifest_launch *spec = launch->spec;
    const char **names = arena_array(arena, spec->arg_count + 1, sizeof(*names));
    for (size_t k = 0; k < spec->arg_count; k++)
        names[k] = launch_arg_name(resolved->manifest, &spec->args[k]);
    ARENA_PUSH(arena, launches->items, launches->count,
               (struct inspect_launch){.symbol = launch->symbol,
                                       .block = launch->block[0] * launch->block[1] * launch->block[2],
                                       .lds_bytes = launch->lds_bytes,
                                       .arg_names = names,
                                       .arg_count = spec->arg_count});
}

static void collect(struct launches *launches, const struct resolved *resolved, const struct resolved_step *steps,
                    size_t count, size_t code, struct arena *arena)
{
    for (size_t k = 0; k < count; k++) {
        collect(launches, resolved, steps[k].steps, steps[k].step_count, code, arena);
        if (steps[k].kind == STEP_LAUNCH && steps[k].launch.code == code)
            add_launch(launches, resolved, &steps[k].launch, arena);
    }
}

/* The first case that launches the code. */
static const struct plan_case *user_of(struct launches *launches, const struct plan *plan, size_t code,
                                       struct arena *arena)
{
    for (size_t k = 0; k < plan->count; k++) {
        const struct resolved *resolved = &plan->cases[k].resolved;
        if (plan->cases[k].state != PLAN_READY)
            continue;
        collect(launches, resolved, resolved->setup, resolved->setup_count, code, arena);
        collect(launches, resolved, resolved->steps, resolved->step_count, code, arena);
        if (launches->count)
            return &plan->cases[k];
    }
    return NULL;
}

static enum status inspect_build(struct inspection *inspection, struct session *session, size_t code,
                                 const struct build_result *result, struct err *err)
{
    const struct build_request *request = &session->plan->codes[code];
    struct launches launches = {0};
    const struct plan_case *user = user_of(&launches, session->plan, code, session->arena);
    const struct inspect_choice choice = {
        .block = session->options->block, .launches = launches.items, .launch_count = launches.count};
    inspection->label = arena_strdup(session->arena, user ? user->label : request->asked_by);
    inspection->command = result->command;
    if (result->state == BUILD_FAILED)
        return err_set(err, ERR_BUILD, "%s: does not compile for %s\n%s", inspection->label, request->target.arch,
                       result->message);
    if (result->state == BUILD_SKIPPED || request->library)
        return err_set(err, ERR_UNSUPPORTED, "%s: %s", inspection->label, result->message);
    enum status status = inspect_file(inspection, result->object, &choice, session->arena, err);
    if (status || !session->options->ir)
        return status;
    const struct build_options options = {.cache_dir = session->options->cache_dir,
                                          .allow_flags = session->options->allow_flags};
    char *ir = NULL;
    status = build_ir(&ir, request, &options, session->arena, err);
    inspection->ir = ir;
    return status;
}

/* Why there is nothing to build. */
static enum status nothing_built(const struct plan *plan, const char *arch, struct err *err)
{
    for (size_t k = 0; k < plan->count; k++)
        if (plan->cases[k].state != PLAN_READY)
            return err_set(err, plan->cases[k].state == PLAN_SKIPPED ? ERR_UNSUPPORTED : ERR_CONFIG, "%s on %s: %s",
                           plan->cases[k].label, arch, plan->cases[k].reason);
    return err_set(err, ERR_CONFIG, "%s has no GPU code", plan->count ? plan->cases[0].label : "this");
}

/* Line tables, which leave the code as it is: a loop can then be said by its line. */
static void ask_for_lines(struct plan *plan, struct arena *arena)
{
    for (size_t k = 0; k < plan->code_count; k++) {
        struct build_request *request = (struct build_request *)&plan->codes[k];
        if (!request->source || request->target.kind != BUILD_AMD)
            continue;
        const char **flags = arena_array(arena, request->flag_count + 1, sizeof(*flags));
        for (size_t f = 0; f < request->flag_count; f++)
            flags[f] = request->flags[f];
        flags[request->flag_count++] = "-g1";
        request->flags = flags;
    }
}

/* References run on the CPU: their code is not of interest here. */
static enum status inspect_target(struct inspections *found, struct session *session, const char *arch, struct err *err)
{
    struct build_result *builds = NULL;
    const size_t *numbers = NULL;
    if (session_target(session, arch, err) || session_go(session, SESSION_PLAN, err))
        return err->status;
    struct plan gpu = session_codes_of(session->plan, false, &numbers, session->arena);
    if (!gpu.code_count)
        return nothing_built(session->plan, arch, err);
    ask_for_lines(&gpu, session->arena);
    enum status status = session_build_plan(&builds, session, &gpu, err);
    for (size_t k = 0; k < gpu.code_count && !status; k++) {
        struct inspection inspection = {0};
        status = inspect_build(&inspection, session, numbers[k], &builds[k], err);
        if (!status)
            ARENA_PUSH(session->arena, found->items, found->count, inspection);
    }
    return status;
}

/* Builds a kernel or suite of the catalog for each --arch and inspects every code object. */
static enum status inspect_catalog(struct inspections *found, const char *name, const struct cli_options *options,
                                   struct arena *arena, struct err *err)
{
    const char *arch = NULL;
    struct session *session = arena_alloc(arena, sizeof(*session));
    *session = (struct session){
        .options = options, .arena = arena, .args = arena_copy(arena, &name, sizeof(name)), .arg_count = 1};
    session_catch_signals();
    enum status status = session_go(session, SESSION_SUITES | SESSION_CATALOG, err);
    if (!status && !options->arch_count) {
        status = default_arch(&arch, options, arena, err);
        return status ? status : inspect_target(found, session, arch, err);
    }
    for (size_t k = 0; k < options->arch_count && !status; k++)
        status = inspect_target(found, session, options->archs[k], err);
    return status;
}

/* ---- arguments ---- */

/* What looks like a path, or is a file and no suite, is a file of somebody's; everything else is a name of the catalog.
 */
static bool is_path(const char *argument)
{
    if (text_ends(argument, ".json"))
        return false;
    return strchr(argument, '/') || strchr(argument, '.') || (file_exists(argument) && !file_is_dir(argument));
}

static enum status inspect_argument(struct inspections *found, const char *argument, const struct cli_options *options,
                                    struct arena *arena, struct err *err)
{
    struct inspection inspection = {0};
    const struct inspect_choice choice = {.archs = options->archs,
                                          .arch_count = options->arch_count,
                                          .filters = options->filters,
                                          .filter_count = options->filter_count,
                                          .block = options->block};
    if (!is_path(argument))
        return inspect_catalog(found, argument, options, arena, err);
    if (options->ir)
        return err_set(err, ERR_USAGE, "--ir needs the source: %s is compiled; give a kernel of 'rooftile list'",
                       argument);
    enum status status = inspect_file(&inspection, argument, &choice, arena, err);
    if (status)
        return argument_explain(err, argument, "compiled code", arena);
    ARENA_PUSH(arena, found->items, found->count, inspection);
    return STATUS_OK;
}

/* ---- --manifest ---- */

static bool is_wanted(const char *name, const struct cli_options *options)
{
    bool wanted = !options->filter_count;
    for (size_t k = 0; k < options->filter_count; k++)
        wanted = wanted || text_matches(name, options->filters[k]);
    return wanted;
}

/* The one kernel that is asked for; the same in objects for several targets counts once. */
static enum status choose_kernel(const struct codeobj_kernel **found, const struct codeobj_file *file,
                                 const struct cli_options *options, struct err *err)
{
    struct text others = {0};
    size_t count = 0;
    for (size_t o = 0; o < file->count; o++)
        for (size_t k = 0; k < file->objects[o].kernel_count; k++) {
            const struct codeobj_kernel *kernel = &file->objects[o].kernels[k];
            const struct codeobj *first = NULL;
            if (!is_wanted(kernel->name, options) || codeobj_find_kernel(&first, file, kernel->name) != kernel)
                continue;
            *found = kernel;
            if (++count <= 4)
                text_addf(&others, "%s'%s'", count > 1 ? ", " : "", kernel->name);
        }
    if (count == 1)
        err->status = STATUS_OK;
    else if (count)
        err_set(err, ERR_USAGE, "%s has %zu kernels, a manifest is for one: choose it with --filter: %s%s", file->path,
                count, others.data, count > 4 ? " ..." : "");
    else
        err_set(err, ERR_USAGE, "%s has no kernel that --filter matches", file->path);
    text_release(&others);
    return err->status;
}

/* The code object as a manifest at `out` names it: relative to its folder. */
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
    struct text text = {0};
    if (options->arg_count != 1 || !is_path(path))
        return err_set(err, ERR_USAGE, "--manifest is for one FILE of code that others compiled%s",
                       options->arg_count == 1 ? ": kernels of 'rooftile list' have their manifests" : "");
    if (codeobj_read(&file, path, arena, err))
        return argument_explain(err, path, "compiled code", arena);
    enum status status = choose_kernel(&kernel, file, options, err);
    if (status)
        return status;
    text_addf(&text, "%s\n", skeleton_write(image_from(path, options->out, arena), path, kernel, arena));
    status = cli_write(options->out, &text, err);
    text_release(&text);
    if (!status && options->out && strcmp(options->out, "-") != 0)
        log_info("fill in what its comments ask for, then: rooftile run %s", options->out);
    return status;
}

enum status cmd_inspect(struct call *call, struct err *err)
{
    const struct cli_options *options = call->options;
    const struct inspect_look look = {.data = cli_wants_json(options),
                                      .details =
                                          options->filter_count || options->verbose || options->isa || options->ir,
                                      .isa = options->isa,
                                      .verbose = options->verbose > 0};
    struct document document = {.arena = call->arena};
    struct inspections found = {0};
    enum status status = STATUS_OK;
    if (options->manifest)
        return write_manifest(options, call->arena, err);
    for (size_t k = 0; k < options->arg_count && !status; k++)
        status = inspect_argument(&found, options->args[k], options, call->arena, err);
    if (status)
        return status;
    inspect_document(&document, found.items, found.count, &look);
    return cli_show_document(options, &document, false, err);
}
