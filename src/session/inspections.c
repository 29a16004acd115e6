/* SPDX-License-Identifier: MIT */
#include "rooftile/inspections.h"

#include "rooftile/launch_fit.h"
#include "rooftile/predictor.h"
#include "rooftile/targets.h"

#define FALLBACK_ARCH "gfx942"

/* ---- the code of the plan ---- */

struct launches {
    struct inspect_launch *items;
    size_t count;
};

/* Collects the launches of a code that `seen` does not contain. */
static void collect(struct launches *launches, const struct launches *seen, const struct resolved *resolved,
                    size_t code, struct arena *arena)
{
    for (struct launch_walk walk = {.resolved = resolved}; launch_next(&walk);) {
        const struct resolved_launch *launch = walk.launch;
        const size_t args = launch->spec->arg_count;
        if (launch->code != code || FIND_ROW(seen->items, seen->count, symbol, launch->symbol))
            continue;
        const char **names = arena_array(arena, args + 1, sizeof(*names));
        for (size_t n = 0; n < args; n++)
            names[n] = launch_arg_name(resolved->manifest, &launch->spec->args[n]);
        ARENA_PUSH(arena, launches->items, launches->count,
                   (struct inspect_launch){.symbol = launch->symbol,
                                           .block = launch->block[0] * launch->block[1] * launch->block[2],
                                           .lds_bytes = launch->lds_bytes,
                                           .arg_names = names,
                                           .arg_count = args});
    }
}

/* ---- executing it ---- */

struct execution {
    const struct resolved *resolved;
    struct inspections *found;
    uint64_t seed;
    struct arena *arena;
};

/* Walks a workgroup in the middle of the launch to count how often each loop iterates. */
static const double *execute(void *context, const struct isa_kernel *isa, const char *target)
{
    struct execution *execution = context;
    const struct resolved *resolved = execution->resolved;
    const struct walk_options options = {.clocks = walk_clocks_usual, .counts_each = true};
    struct predicted_buffers buffers = {0};
    struct inspected_launch *made = arena_alloc(execution->arena, sizeof(*made));
    struct walk_result result;
    struct err err = {0};
    const struct walk_code *code = walk_decode(isa, target, execution->arena);
    struct launch_walk first = {.resolved = resolved}; /* launch of this kernel; steps before it may change buffers */
    bool found = false;
    while (!found && launch_next(&first))
        found = !strcmp(first.launch->symbol, isa->code.name);
    if (!code || !found || predicted_buffers_make(&buffers, resolved, execution->seed, execution->arena, &err))
        return NULL;
    for (size_t k = 0; k < buffers.count && first.is_later; k++)
        if (resolved->manifest->buffers[k].role != ROLE_IN)
            buffers.items[k].fill = NULL;
    predicted_launch_make(&made->walk, first.launch, &buffers, code, execution->arena);
    if (walk_run(&result, &made->walk, &options, execution->arena, &err) || result.over_budget)
        return NULL;
    made->executed = result.executed;
    made->next = execution->found->launches;
    if (!result.unknown_count)
        execution->found->launches = made;
    return result.executed;
}

/* ---- inspections ---- */

/* Inspects the kernels of a code that a case launches. `user` is NULL if no case is ready to launch the code. */
static enum status inspect_case(struct inspection *inspection, struct inspections *found, const struct session *session,
                                const struct build_request *request, const struct build_result *result,
                                const struct plan_case *user, const struct launches *launches, struct err *err)
{
    struct execution execution = {.resolved = user ? &user->resolved : NULL,
                                  .found = found,
                                  .seed = session->options->seed,
                                  .arena = session->arena};
    const struct inspect_choice choice = {.block = session->options->block,
                                          .launches = launches->items,
                                          .launch_count = launches->count,
                                          .execute = user ? execute : NULL,
                                          .context = &execution};
    inspection->label = arena_strdup(session->arena, user ? user->label : request->asked_by);
    inspection->command = result->command;
    if (result->state == BUILD_FAILED)
        return err_set(err, ERR_BUILD, "%s: does not compile for %s\n%s", inspection->label, request->target.arch,
                       result->message);
    if (result->state == BUILD_SKIPPED || request->library)
        return err_set(err, ERR_UNSUPPORTED, "%s: %s", inspection->label, result->message);
    const struct build_options options = {.cache_dir = session->options->cache_dir,
                                          .allow_flags = session->options->allow_flags};
    char *ir = NULL;
    if (inspect_file(inspection, result->object, &choice, session->arena, err) ||
        (session->options->ir && build_ir(&ir, request, &options, session->arena, err)))
        return err->status;
    inspection->ir = ir;
    return STATUS_OK;
}

/* Whether the error concerns only this kernel, so that others can still be inspected. Notes it. */
static bool passes(struct inspections *found, const struct session *session, enum status status, const struct err *err)
{
    if (status != ERR_BUILD && status != ERR_UNSUPPORTED && status != ERR_CONFIG)
        return false;
    if (!found->worst || found->worst == ERR_UNSUPPORTED)
        found->worst = status;
    ARENA_PUSH(session->arena, found->problems, found->problem_count, arena_strdup(session->arena, err->text));
    return true;
}

static enum status note(struct inspections *found, const struct session *session, const struct inspection *inspection,
                        enum status status, const struct err *err)
{
    if (!status)
        ARENA_PUSH(session->arena, found->items, found->count, *inspection);
    return status && passes(found, session, status, err) ? STATUS_OK : status;
}

/* Kernels of one source share a code. Each case that launches further kernels of it gets an inspection of its own. */
static enum status inspect_code(struct inspections *found, const struct session *session, size_t code,
                                const struct build_result *result, struct err *err)
{
    const struct plan *plan = session->plan;
    const struct build_request *request = &plan->codes[code];
    struct launches seen = {0};
    enum status status = STATUS_OK;
    for (size_t k = 0; k < plan->count && !status; k++) {
        const struct resolved *resolved = &plan->cases[k].resolved;
        struct launches launches = {0};
        struct inspection inspection = {0};
        if (plan->cases[k].state != PLAN_READY)
            continue;
        collect(&launches, &seen, resolved, code, session->arena);
        if (!launches.count)
            continue;
        for (size_t n = 0; n < launches.count; n++)
            ARENA_PUSH(session->arena, seen.items, seen.count, launches.items[n]);
        status = inspect_case(&inspection, found, session, request, result, &plan->cases[k], &launches, err);
        status = note(found, session, &inspection, status, err);
    }
    if (seen.count || status)
        return status;
    struct inspection inspection = {0};
    status = inspect_case(&inspection, found, session, request, result, NULL, &seen, err);
    return note(found, session, &inspection, status, err);
}

/* References run on the CPU and are not inspected. */
static enum status inspect_target(struct inspections *found, struct session *session, const char *arch, struct err *err)
{
    struct build_result *builds = NULL;
    const size_t *numbers = NULL;
    if (session_target(session, arch, err) || session_go(session, SESSION_PLAN, err))
        return err->status;
    struct plan gpu = session_codes_of(session->plan, false, &numbers, session->arena);
    if (!gpu.code_count) {
        const struct plan *plan = session->plan;
        size_t k = 0;
        while (k < plan->count && plan->cases[k].state == PLAN_READY)
            k++;
        const struct plan_case *c = &plan->cases[k];
        if (k < plan->count)
            err_set(err, c->state == PLAN_SKIPPED ? ERR_UNSUPPORTED : ERR_CONFIG, "%s on %s: %s", c->label, arch,
                    c->reason);
        else
            err_set(err, ERR_CONFIG, "%s has no GPU code", plan->count ? plan->cases[0].label : "this");
        return passes(found, session, err->status, err) ? STATUS_OK : err->status;
    }
    /* Requests line tables, which do not change the code, so that loops can be reported by line. */
    for (size_t k = 0; k < gpu.code_count; k++) {
        struct build_request *request = (struct build_request *)&gpu.codes[k];
        if (!request->source || request->target.kind != BUILD_AMD)
            continue;
        const char **flags = arena_array(session->arena, request->flag_count + 1, sizeof(*flags));
        for (size_t f = 0; f < request->flag_count; f++)
            flags[f] = request->flags[f];
        flags[request->flag_count++] = "-g1";
        request->flags = flags;
    }
    enum status status = session_build_plan(&builds, session, &gpu, err);
    for (size_t k = 0; k < gpu.code_count && !status; k++) {
        progress_show(session->options, "reading code for %s: %zu of %zu (%s)", arch, k + 1, gpu.code_count,
                      gpu.codes[k].asked_by);
        status = inspect_code(found, session, numbers[k], &builds[k], err);
    }
    progress_clear();
    return status;
}

enum status inspections_build(struct inspections *found, struct session *session, struct err *err)
{
    const struct cli_options *options = session->options;
    enum status status = session_go(session, SESSION_SUITES | SESSION_CATALOG, err);
    if (!status && session->args && !session->arg_count)
        status = session_all_kernels(session, false, err);
    if (!status && !options->arch_count) {
        /* Uses this machine's GPU, or else a common target that the installed compiler supports. */
        struct session here = {.options = options, .arena = session->arena};
        const struct build_target target = {.kind = BUILD_AMD, .arch = FALLBACK_ARCH, .wave = 64};
        struct compiler compiler;
        const bool gpu = !session_go(&here, SESSION_DEVICE, err) &&
                         (target_is_amd(here.info.arch) || target_is_nvidia(here.info.arch));
        if (!gpu && build_find_compiler(&compiler, &target, 0, session->arena, err))
            return err_within(err, "there is no AMD device here; --arch names a target, such as gfx90a");
        return inspect_target(found, session, gpu ? arena_strdup(session->arena, here.info.arch) : FALLBACK_ARCH, err);
    }
    for (size_t k = 0; k < options->arch_count && !status; k++)
        status = inspect_target(found, session, options->archs[k], err);
    return status;
}
