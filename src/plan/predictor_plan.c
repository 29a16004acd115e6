/* SPDX-License-Identifier: MIT
 *
 * Predicts a whole plan, and how long its cases will take.
 */
#include "plan_internal.h"
#include "rooftile/predictor.h"

void plan_case_bound(struct lower_bound *lower_bound, const struct plan_case *plan_case, const struct machine *machine,
                     double time_ns, const char *predicted)
{
    const enum case_class class = plan_case->resolved.manifest->class;
    const struct work *work = &plan_case->resolved.work;
    lower_bound_compute(lower_bound, machine, work, plan_case->measure.cache, time_ns);
    const bool launch = !strcmp(lower_bound->bound, "launch") || !strcmp(predicted, "launch");
    /* A prediction cannot tell how fast a level is, so it cannot tell that the level is a different one. */
    const bool unknown =
        !lower_bound->ceiling_name[0] && *predicted && (!lower_bound->bound[0] || !machine_level(machine, predicted));
    if (class == CLASS_LATENCY || class == CLASS_LAUNCH)
        predicted = case_class_names[class];
    else if (launch)
        predicted = "launch";
    else if (!unknown)
        return;
    if (!work->level[0])
        lower_bound_by(lower_bound, machine, work, predicted);
}

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
        if (!predictor)
            predicted_by_work(&prediction, &c->resolved, c->measure.cache, machine, NULL, NULL);
        else if (predictor_case(&prediction, predictor, &c->resolved, builds, c->measure.cache, machine, err))
            return err_within(err, "%s", c->id);
        prediction_keep(&items[k], &prediction, like, arena);
        c->prediction = like = &items[k];
        if (prediction.time_ns > 0)
            plan_case_bound(&c->lower_bound, c, plan->machine, prediction.time_ns, prediction.bound);
        c->estimate_ns = case_estimate(c);
        plan->estimate_ns += c->estimate_ns;
        if (take && take(context, k, &prediction, err))
            return err->status;
    }
    return STATUS_OK;
}
