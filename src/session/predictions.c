/* SPDX-License-Identifier: MIT
 *
 * Predicts a session's plan. The commands `plan`, `run`, `predict` and `explain` take their predictions from here.
 */
#include "rooftile/cpu_target.h"
#include "rooftile/file.h"
#include "rooftile/log.h"
#include "rooftile/measure.h"
#include "rooftile/predictor.h"
#include "rooftile/targets.h"

/* Compiles the code to be walked, even if its device is absent. For a GPU that is its own code. A CPU's code is not
 * walked; if a case needs a walk, its source is compiled for a GPU. */
static enum status build_walked(struct session *session, struct err *err)
{
    const struct plan *plan = session->plan;
    struct arena *arena = session->arena;
    struct build_request *requests = arena_array(arena, plan->code_count + 1, sizeof(*requests));
    size_t *numbers = arena_array(arena, plan->code_count + 1, sizeof(*numbers));
    struct build_result *made = NULL, *all = arena_array(arena, plan->code_count + 1, sizeof(*all));
    const bool on_host = backend_is_cpu(session->info.backend);
    bool *wanted = arena_array(arena, plan->code_count + 1, sizeof(*wanted)); /* by code: some CPU case needs a walk */
    FOR_EACH(const struct plan_case, c, plan->cases, on_host ? plan->count : 0)
        for (size_t k = 0; k < c->resolved.code_count && c->state == PLAN_READY; k++)
            if (predicted_on_host(&c->resolved) != HOST_NOT_WALKED)
                wanted[c->resolved.codes[k]] = plan->codes[c->resolved.codes[k]].source != NULL;
    struct session builder = *session;
    struct plan codes = *plan;
    builder.info.predicted = false; /* predictions need no code, but their walk does */
    codes.codes = requests;
    codes.code_count = 0;
    for (size_t k = 0; k < plan->code_count; k++) {
        const struct build_request *code = &plan->codes[k];
        all[k] = (struct build_result){.state = BUILD_SKIPPED, .message = "it is not walked"};
        if (on_host ? !wanted[k] : code->target.kind == BUILD_CPU)
            continue;
        numbers[codes.code_count] = k;
        requests[codes.code_count++] = on_host ? predicted_request(code, arena) : *code;
    }
    session->walked = all;
    enum status status = codes.code_count ? session_build_plan(&made, &builder, &codes, err) : STATUS_OK;
    for (size_t k = 0; k < codes.code_count && !status; k++)
        all[numbers[k]] = made[k];
    return status;
}

static enum status take(void *context, size_t at, const struct prediction *prediction, struct err *err)
{
    struct session *session = context;
    if (session->predicted)
        session->predicted(session, at, prediction);
    progress_show(session->options, "predicting for %s: %zu of %zu (%s)", session->machine.name, at + 1,
                  session->plan->count, session->plan->cases[at].label);
    return session_stop == STOP_SIGNAL ? err_set(err, ERR_INTERRUPTED, "interrupted") : STATUS_OK;
}

enum status session_predict(struct session *session, struct err *err)
{
    struct arena *arena = session->arena;
    struct machine *complete = arena_copy(arena, &session->machine, sizeof(session->machine));
    struct machine_borrowed *borrowed = arena_alloc(arena, sizeof(*borrowed));
    struct predictor *own = session->predictor ? NULL : predictor_new(session->options->seed);
    session->complete = complete;
    session->borrowed = borrowed;
    enum status status = machine_complete(complete, session_config(arena, "", "machines"), borrowed, err);
    const bool cpu = backend_is_cpu(session->info.backend), known = session->machine.level_count > 0;
    const bool walked = !session->options->described && known && (cpu || target_is_amd(session->info.arch));
    session->walked = walked ? session->builds : NULL;
    if (!status && walked && (cpu || session->info.predicted || !session->builds))
        status = build_walked(session, err);
    if (!status) {
        /* Warns if a compiler that was named for a comparison fails, because the comparison then ignores its code. */
        for (size_t k = 0; session->compiler && session->walked && k < session->plan->code_count; k++)
            if (session->walked[k].state == BUILD_FAILED && session->plan->codes[k].source) {
                const char *message = session->walked[k].message;
                log_warn("W019", "%s does not compile %s, so times are of the stated work, not of code: %.*s",
                         session->compiler, path_base(session->plan->codes[k].source), (int)strcspn(message, "\n"),
                         message);
                break;
            }
        status = predictor_plan(session->plan, own ? own : session->predictor, session->walked, complete, take, session,
                                arena, err);
    }
    progress_clear();
    predictor_free(own);
    return status;
}

size_t session_say_work(const struct session *session)
{
    const struct manifest *last = NULL;
    size_t count = 0;
    for (size_t k = 0; session->plan && k < session->plan->count; k++) {
        const struct plan_case *c = &session->plan->cases[k];
        const struct predicted *p = c->prediction;
        if (c->resolved.manifest == last || !p || !p->work_disagrees)
            continue;
        /* If a kernel states its work wrong, all its cases disagree. If only some do, the walk is wrong for their
         * sizes. */
        if (COUNT_WHERE(other, session->plan->cases, session->plan->count,
                        other->resolved.manifest == c->resolved.manifest && other->state == PLAN_READY &&
                            !(other->prediction && other->prediction->work_disagrees)))
            continue;
        last = c->resolved.manifest;
        for (size_t n = 0; n < p->note_count; n++)
            if (text_starts(p->notes[n], WORK_NOTE))
                log_error("%s: %s", last->name, p->notes[n]);
        count++;
    }
    return count;
}
