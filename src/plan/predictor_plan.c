/* SPDX-License-Identifier: MIT
 *
 * A whole plan predicted: by walks where there is code, and how long its cases will take.
 */
#include "plan_internal.h"
#include "rooftile/predictor.h"

enum status predictor_plan(const struct plan **out, struct predictor *predictor, const struct plan *plan,
                           const struct build_result *builds, const struct machine *machine, struct arena *arena,
                           struct err *err)
{
    struct plan *made = arena_copy(arena, plan, sizeof(*plan));
    struct plan_case *cases = arena_copy(arena, plan->cases, plan->count * sizeof(*cases));
    struct predicted *kept = arena_array(arena, plan->count + 1, sizeof(*kept));
    const struct predicted *like = NULL;
    made->cases = cases;
    made->estimate_ns = 0;
    for (size_t k = 0; k < plan->count; k++) {
        struct plan_case *c = &cases[k];
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
        made->estimate_ns += c->estimate_ns;
    }
    *out = made;
    return STATUS_OK;
}
