/* SPDX-License-Identifier: MIT
 *
 * The stage that predicts a session's plan, before anything of it runs.
 */
#include "measure.h"
#include "rooftile/cpu_target.h"
#include "rooftile/file.h"
#include "rooftile/log.h"
#include "rooftile/predictor.h"
#include "rooftile/targets.h"

/* A walk takes milliseconds: of more cases only the stated work is looked at. Measuring a case takes longer. */
enum { MOST_WALKED = 500, MOST_WALKED_TO_RUN = 20000 };
/* A plan waits for the compiler, but not for minutes; a run compiles all of it anyway. */
enum { MOST_COMPILED = 12 };

enum status session_cached_builds(struct build_result **builds, struct session *session, struct err *err)
{
    const struct plan *plan = session->plan;
    const struct build_options options = {
        .cache_dir = session->options->cache_dir, .jobs = session->options->jobs, .cached_only = true};
    *builds = arena_array(session->arena, plan->code_count + 1, sizeof(**builds));
    return build_all(*builds, plan->codes, plan->code_count, &options, session->arena, err);
}

/* A CPU's code is not walked; that of a GPU, from the same source, tells how accesses lie and what depends on what,
 * where a case needs it. A plan takes what earlier runs compiled. */
static enum status host_builds(struct build_result **builds, struct session *session, struct err *err)
{
    const struct plan *plan = session->plan;
    struct arena *arena = session->arena;
    struct build_request *requests = arena_array(arena, plan->code_count + 1, sizeof(*requests));
    size_t *numbers = arena_array(arena, plan->code_count + 1, sizeof(*numbers));
    bool *wanted = arena_array(arena, plan->code_count + 1, sizeof(*wanted));
    struct build_result *made = NULL, *all = arena_array(arena, plan->code_count + 1, sizeof(*all));
    struct plan codes = *plan;
    for (size_t k = 0; k < plan->count; k++) {
        const struct resolved *resolved = &plan->cases[k].resolved;
        const bool needs = plan->cases[k].state == PLAN_READY && predicted_on_host(resolved) != HOST_NOT_WALKED;
        for (size_t c = 0; needs && c < resolved->code_count; c++)
            wanted[resolved->codes[c]] = true;
    }
    codes.code_count = 0;
    codes.codes = requests;
    for (size_t k = 0; k < plan->code_count; k++) {
        all[k] = (struct build_result){.state = BUILD_SKIPPED, .message = "it is not walked"};
        if (!wanted[k] || !plan->codes[k].source)
            continue;
        numbers[codes.code_count] = k;
        requests[codes.code_count++] = predicted_request(&plan->codes[k], arena);
    }
    if (!codes.code_count || !session->machine.level_count) /* without ceilings nothing is predicted */
        return STATUS_OK;
    struct session builder = *session;
    builder.plan = &codes;
    enum status status = session->builds ? session_build_plan(&made, &builder, &codes, err)
                                         : session_cached_builds(&made, &builder, err);
    for (size_t k = 0; k < codes.code_count && !status; k++)
        all[numbers[k]] = made[k];
    *builds = all;
    return status;
}

/* The code to walk; *builds is NULL where there is none to be had. */
static enum status codes_to_walk(struct build_result **builds, struct session *session, struct err *err)
{
    const bool runs = session->builds && !session->info.predicted;
    const size_t most = runs ? MOST_WALKED_TO_RUN : MOST_WALKED;
    *builds = NULL;
    if (backend_is_cpu(session->info.backend))
        return host_builds(builds, session, err);
    if (!target_is_amd(session->info.arch))
        return STATUS_OK;
    if (session->plan->count > most) {
        log_info("more than %zu cases: predicted by their stated work, not from their code", most);
        return STATUS_OK;
    }
    if (session->info.predicted && !session->builds && session->plan->code_count > MOST_COMPILED) {
        log_info("more than %d code objects: predicted by the stated work; 'rooftile predict' compiles and walks them",
                 MOST_COMPILED);
        return STATUS_OK;
    }
    if (session->info.predicted)
        return predict_build(builds, session, err);
    *builds = session->builds;
    return *builds ? STATUS_OK : session_cached_builds(builds, session, err);
}

/* A compiler that was named for a comparison and does not compile: what is compared then is not its code. */
static void warn_of_failures(const struct session *session, const struct build_result *builds)
{
    for (size_t k = 0; session->compiler && builds && k < session->plan->code_count; k++)
        if (builds[k].state == BUILD_FAILED && session->plan->codes[k].source) {
            log_warn("W019", "%s does not compile %s, so times are of the stated work, not of code: %.*s",
                     session->compiler, path_base(session->plan->codes[k].source),
                     (int)strcspn(builds[k].message, "\n"), builds[k].message);
            return;
        }
}

enum status session_predict(struct session *session, struct err *err)
{
    struct arena *arena = session->arena;
    struct machine *machine = arena_copy(arena, &session->machine, sizeof(session->machine));
    struct machine_borrowed *borrowed = arena_alloc(arena, sizeof(*borrowed));
    struct build_result *builds = NULL;
    if (machine_complete(machine, session_config(arena, "", "machines"), borrowed, err) ||
        codes_to_walk(&builds, session, err))
        return err->status;
    warn_of_failures(session, builds);
    struct predictor *predictor = predictor_new(session->options->seed);
    enum status status = predictor_plan(session->plan, predictor, builds, machine, arena, err);
    predictor_free(predictor);
    return status;
}
