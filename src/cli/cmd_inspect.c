/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "rooftile/file.h"
#include "rooftile/inspection.h"
#include "rooftile/report.h"
#include "rooftile/targets.h"
#include "session.h"
#include "show.h"

#define FALLBACK_ARCH "gfx942"

/* ---- the target ---- */

/* --arch, else that of the AMD device here, else a well-known one that a compiler here knows. */
static enum status choose_archs(const char *const **archs, size_t *count, const struct cli_options *options,
                                struct arena *arena, struct err *err)
{
    struct session session = {.options = options, .arena = arena};
    *archs = options->archs;
    *count = options->arch_count;
    if (options->arch_count)
        return STATUS_OK;
    const char **arch = arena_array(arena, 1, sizeof(*arch));
    *archs = arch;
    *count = 1;
    if (!session_device(&session, err) &&
        (text_starts(session.info.arch, "gfx") || target_is_nvidia(session.info.arch))) {
        *arch = arena_strdup(arena, session.info.arch);
        return STATUS_OK;
    }
    const struct build_target target = {.kind = BUILD_AMD, .arch = FALLBACK_ARCH, .wave = 64};
    struct compiler compiler;
    *arch = FALLBACK_ARCH;
    enum status status = build_find_compiler(&compiler, &target, 0, arena, err);
    return status ? err_within(err, "there is no AMD device here; --arch names a target, such as gfx90a") : STATUS_OK;
}

/* ---- the code of the plan ---- */

struct launches {
    struct inspect_launch *items;
    size_t count, capacity;
};

static void add_launch(struct launches *launches, const struct resolved *bound, const struct resolved_launch *launch,
                       struct arena *arena)
{
    const struct manifest_launch *spec = launch->spec;
    const char **names = arena_array(arena, spec->arg_count + 1, sizeof(*names));
    for (size_t k = 0; k < spec->arg_count; k++)
        names[k] = spec->args[k].buffer >= 0 ? bound->buffers[spec->args[k].buffer].spec->name
                                             : expr_source(spec->args[k].value);
    if (launches->count == launches->capacity) {
        launches->capacity = launches->capacity ? 2 * launches->capacity : 4;
        struct inspect_launch *items = arena_array(arena, launches->capacity, sizeof(*items));
        if (launches->count)
            memcpy(items, launches->items, launches->count * sizeof(*items));
        launches->items = items;
    }
    launches->items[launches->count++] =
        (struct inspect_launch){.symbol = launch->symbol,
                                .block = launch->block[0] * launch->block[1] * launch->block[2],
                                .lds_bytes = launch->lds_bytes,
                                .arg_names = names,
                                .arg_count = spec->arg_count};
}

static void collect(struct launches *launches, const struct resolved *bound, const struct resolved_step *steps,
                    size_t count, size_t code, struct arena *arena)
{
    for (size_t k = 0; k < count; k++) {
        collect(launches, bound, steps[k].steps, steps[k].step_count, code, arena);
        if (steps[k].kind == STEP_LAUNCH && steps[k].launch.code == code)
            add_launch(launches, bound, &steps[k].launch, arena);
    }
}

/* The first case that launches the code. */
static const struct plan_case *user_of(struct launches *launches, const struct plan *plan, size_t code,
                                       struct arena *arena)
{
    for (size_t k = 0; k < plan->count; k++) {
        const struct resolved *bound = &plan->cases[k].resolved;
        if (plan->cases[k].state != PLAN_READY)
            continue;
        collect(launches, bound, bound->setup, bound->setup_count, code, arena);
        collect(launches, bound, bound->steps, bound->step_count, code, arena);
        if (launches->count)
            return &plan->cases[k];
    }
    return NULL;
}

/* References run on the CPU: their code is not of interest here. */
struct gpu_codes {
    struct plan plan;      /* with these codes alone */
    const size_t *numbers; /* of each in the whole plan */
};

static struct gpu_codes gpu_codes(const struct plan *plan, struct arena *arena)
{
    struct gpu_codes amd = {.plan = *plan};
    struct build_request *codes = arena_array(arena, plan->code_count + 1, sizeof(*codes));
    size_t *numbers = arena_array(arena, plan->code_count + 1, sizeof(*numbers));
    amd.plan.code_count = 0;
    for (size_t k = 0; k < plan->code_count; k++) {
        if (plan->codes[k].target.kind == BUILD_CPU)
            continue;
        numbers[amd.plan.code_count] = k;
        codes[amd.plan.code_count++] = plan->codes[k];
    }
    amd.plan.codes = codes;
    amd.numbers = numbers;
    return amd;
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
    const struct build_options options = {.cache_dir = session->options->cache_dir};
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

static enum status inspect_target(struct inspection **list, size_t *count, struct session *session, const char *arch,
                                  struct err *err)
{
    struct build_result *builds = NULL;
    enum status status = session_target(session, arch, err);
    if (!status)
        status = session_plan(session, false, err);
    if (status)
        return status;
    const struct gpu_codes amd = gpu_codes(session->plan, session->arena);
    if (!amd.plan.code_count)
        return nothing_built(session->plan, arch, err);
    status = session_build_plan(&builds, session, &amd.plan, &session_stop, err);
    struct inspection *grown = arena_array(session->arena, *count + amd.plan.code_count, sizeof(*grown));
    if (*count)
        memcpy(grown, *list, *count * sizeof(*grown));
    *list = grown;
    for (size_t k = 0; k < amd.plan.code_count && !status; k++) {
        status = inspect_build(&grown[*count], session, amd.numbers[k], &builds[k], err);
        *count += !status;
    }
    return status;
}

/* Builds a kernel or suite of the catalog for each --arch (default: that of the AMD device, else gfx942) and inspects
 * every code object. Appends to *list, which holds *count. */
static enum status inspect_catalog(struct inspection **list, size_t *count, const char *name,
                                   const struct cli_options *options, struct arena *arena, struct err *err)
{
    struct cli_options *one = arena_copy(arena, options, sizeof(*options));
    const char *const *archs = NULL;
    size_t arch_count = 0;
    one->args = arena_copy(arena, &name, sizeof(name));
    one->arg_count = 1;
    struct session *session = arena_alloc(arena, sizeof(*session));
    *session = (struct session){.options = one, .arena = arena};
    session_catch_signals();
    enum status status = session_suites(session, err);
    if (!status)
        status = session_catalog(session, err);
    if (!status)
        status = choose_archs(&archs, &arch_count, options, arena, err);
    for (size_t k = 0; k < arch_count && !status; k++)
        status = inspect_target(list, count, session, archs[k], err);
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

static enum status inspect_argument(struct inspection **list, size_t *count, const char *argument,
                                    const struct cli_options *options, struct arena *arena, struct err *err)
{
    const struct inspect_choice choice = {.archs = options->archs,
                                          .arch_count = options->arch_count,
                                          .filters = options->filters,
                                          .filter_count = options->filter_count,
                                          .block = options->block};
    if (!is_path(argument))
        return inspect_catalog(list, count, argument, options, arena, err);
    if (options->ir)
        return err_set(err, ERR_USAGE, "--ir needs the source: %s is compiled; give a kernel of 'rooftile list'",
                       argument);
    struct inspection *grown = arena_array(arena, *count + 1, sizeof(*grown));
    if (*count)
        memcpy(grown, *list, *count * sizeof(*grown));
    *list = grown;
    return inspect_file(&grown[(*count)++], argument, &choice, arena, err);
}

int cmd_inspect(const struct cli_options *options, struct arena *arena)
{
    const struct inspect_look look = {.data = options->json,
                                      .details =
                                          options->filter_count || options->verbose || options->isa || options->ir,
                                      .isa = options->isa,
                                      .verbose = options->verbose > 0};
    struct document document = {.arena = arena};
    struct inspection *list = NULL;
    size_t count = 0;
    struct err err = {0};
    enum status status = STATUS_OK;
    for (size_t k = 0; k < options->arg_count && !status; k++)
        status = inspect_argument(&list, &count, options->args[k], options, arena, &err);
    if (!status) {
        inspect_document(&document, list, count, &look);
        status = show_document(&document, options, false, &err);
    }
    return status ? cli_fail(&err) : 0;
}
