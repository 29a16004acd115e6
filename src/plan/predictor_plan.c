/* SPDX-License-Identifier: MIT
 *
 * A whole plan predicted: by walks where there is code, and how long its cases will take.
 */
#include "plan_internal.h"
#include "rooftile/predictor.h"

enum status predictor_plan(struct plan *plan, struct predictor *predictor, const struct build_result *builds,
                           const struct machine *machine, struct arena *arena, struct err *err)
{
    struct predicted *kept = arena_array(arena, plan->count + 1, sizeof(*kept));
    const struct predicted *like = NULL;
    plan->estimate_ns = 0;
    for (size_t k = 0; k < plan->count; k++) {
        struct plan_case *c = &plan->cases[k];
        struct prediction prediction;
        if (c->state != PLAN_READY)
            continue;
        if (!builds)
            predicted_by_work(&prediction, &c->resolved, c->measure.cache, machine, NULL);
        else if (predictor_case(&prediction, predictor, &c->resolved, builds, c->measure.cache, machine, err))
            return err_within(err, "%s", c->id);
        prediction_keep(&kept[k], &prediction, like, arena);
        c->prediction = like = &kept[k];
        case_estimate(c, plan->machine, c->resolved.device);
        plan->estimate_ns += c->estimate_ns;
    }
    return STATUS_OK;
}
