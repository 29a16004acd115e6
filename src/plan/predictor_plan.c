/* SPDX-License-Identifier: MIT
 *
 * A whole plan predicted: by walks where there is code, and how long its cases will take.
 */
#include "plan_internal.h"
#include "rooftile/predictor.h"

struct kept {
    struct plan *plan;
    struct predicted *items;
    const struct predicted *like;
    struct arena *arena;
};

static void keep(void *context, size_t at, const struct prediction *prediction)
{
    struct kept *kept = context;
    struct plan_case *c = &kept->plan->cases[at];
    prediction_keep(&kept->items[at], prediction, kept->like, kept->arena);
    c->prediction = kept->like = &kept->items[at];
    case_estimate(c, kept->plan->machine, c->resolved.device);
}

enum status predictor_plan(struct plan *plan, struct predictor *predictor, const struct build_result *builds,
                           const struct machine *machine, struct arena *arena, struct err *err)
{
    struct kept kept = {plan, arena_array(arena, plan->count + 1, sizeof(*kept.items)), NULL, arena};
    enum status status = STATUS_OK;
    plan->estimate_ns = 0;
    if (builds)
        status = predictor_cases(predictor, plan, builds, machine, keep, &kept, err);
    for (size_t k = 0; k < plan->count && !status; k++) {
        struct prediction prediction;
        if (plan->cases[k].state != PLAN_READY)
            continue;
        if (!builds) {
            predicted_by_work(&prediction, &plan->cases[k].resolved, plan->cases[k].measure.cache, machine, NULL, NULL);
            keep(&kept, k, &prediction);
        }
        plan->estimate_ns += plan->cases[k].estimate_ns;
    }
    return status;
}
