/* SPDX-License-Identifier: MIT
 *
 * A whole plan predicted, and how long its cases will take.
 */
#include "plan_internal.h"
#include "rooftile/predictor.h"

enum status predictor_plan(struct plan *plan, struct predictor *predictor, const struct build_result *builds,
                           const struct machine *machine, predictor_take_fn *take, void *context, struct arena *arena,
                           struct err *err)
{
    struct predicted *items = arena_array(arena, plan->count + 1, sizeof(*items));
    const struct predicted *like = NULL;
    plan->estimate_ns = 0;
    for (size_t k = 0; k < plan->count; k++) {
        struct plan_case *c = &plan->cases[k];
        struct prediction prediction;
        if (c->state != PLAN_READY)
            continue;
        if (predictor_case(&prediction, predictor, &c->resolved, builds, c->measure.cache, machine, err))
            return err_within(err, "%s", c->id);
        prediction_keep(&items[k], &prediction, like, arena);
        c->prediction = like = &items[k];
        c->estimate_ns = case_estimate(c);
        plan->estimate_ns += c->estimate_ns;
        if (take && take(context, k, &prediction, err))
            return err->status;
    }
    return STATUS_OK;
}
