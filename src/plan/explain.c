/* SPDX-License-Identifier: MIT */
#include "rooftile/explain.h"

#include <math.h>
#include <stdlib.h>

#include "rooftile/text.h"

/* Causes that cost less than this share of the prediction are not reported. */
#define LEAST_SHARE 0.01

struct asked {
    struct explanation *explanation;
    struct predictor *predictor;
    const struct plan_case *plan_case;
    const struct build_result *builds;
    const struct machine *machine;
    double measured_hz, measured_ns;
    struct arena *arena;
    struct err *err;
};

/* Predicts as if `cause` were gone, at the measured clock; if that is COST_CLOCK, at the machine's clock. */
static enum status predict_without(struct prediction *prediction, const struct asked *asked, enum cost cause)
{
    struct machine *machine = arena_copy(asked->arena, asked->machine, sizeof(*asked->machine));
    if (asked->measured_hz > 0 && cause != COST_CLOCK)
        machine->core_hz = fmin(machine->core_hz, asked->measured_hz);
    predictor_without(asked->predictor, cause);
    const enum status status = predictor_case(prediction, asked->predictor, &asked->plan_case->resolved, asked->builds,
                                              asked->plan_case->measure.cache, machine, asked->err);
    predictor_without(asked->predictor, COST_NONE);
    return status;
}

/* Returns the launch that takes the most time, or NULL if none was walked. */
static const struct predicted_launch *main_launch(const struct predictor *predictor)
{
    size_t count = 0;
    const struct predicted_launch *launches = predictor_launches(predictor, &count), *most = NULL;
    for (size_t k = 0; k < count; k++)
        if (launches[k].times > 0 && launches[k].walk &&
            (!most || launches[k].times * launches[k].prediction.time_ns > most->times * most->prediction.time_ns))
            most = &launches[k];
    return most;
}

static const char *evidence_of(const struct asked *asked, enum cost cause, const struct predicted_launch *launch)
{
    struct text text = {0};
    if (cause == COST_LAUNCH)
        text_addf(&text, "%.0f launch%s in a pass", plan_launches(&asked->plan_case->resolved),
                  plan_launches(&asked->plan_case->resolved) > 1 ? "es" : "");
    else if (cause == COST_CLOCK)
        text_addf(&text, "%.3g GHz while it ran, %.3g GHz by the machine file", asked->measured_hz / 1e9,
                  asked->machine->core_hz / 1e9);
    else if (launch)
        cost_evidence(&text, cause, &launch->model, &launch->walked, launch->walk, asked->machine);
    return text_take(&text, asked->arena);
}

/* What can be changed comes first. */
static int by_cost(const void *left, const void *right)
{
    const struct explained_cost *a = left, *b = right;
    const bool fixed_a = a->cost >= COST_WORK, fixed_b = b->cost >= COST_WORK;
    return fixed_a != fixed_b ? fixed_a - fixed_b : ORDER(b->cost_ns, a->cost_ns);
}

/* Terms with a smaller share of the time have no row of their own. */
#define LEAST_TERM 0.05

/* The work itself, by the times of its larger terms, and the time that the terms do not have. */
static struct explained_cost *add_work(struct explained_cost *causes, const struct asked *asked)
{
    static const enum cost work[TERM_COUNT] = {
        [TERM_MATRIX] = COST_MATRIX, [TERM_VECTOR] = COST_VECTOR, [TERM_SCALAR] = COST_SCALAR,
        [TERM_LDS] = COST_LDS,       [TERM_L1] = COST_L1,         [TERM_L2] = COST_L2,
        [TERM_MALL] = COST_MEMORY,   [TERM_MEMORY] = COST_MEMORY, [TERM_LATENCY] = COST_LATENCY};
    struct explanation *explanation = asked->explanation;
    const struct prediction *all = &explanation->prediction;
    const bool walked = !strcmp(all->method, "walk");
    const double known_ns = walked ? prediction_join(all, DEVICE_NORM) : all->time_ns;
    const double rest_ns = fmax(asked->measured_ns, all->time_ns) - known_ns;
    for (int term = 0; term < TERM_COUNT; term++)
        if (work[term] && all->term_ns[term] >= LEAST_TERM * all->time_ns)
            ARENA_PUSH(asked->arena, causes, explanation->cause_count,
                       (struct explained_cost){work[term], all->term_ns[term], ""});
    if (rest_ns > LEAST_TERM * all->time_ns)
        ARENA_PUSH(asked->arena, causes, explanation->cause_count,
                   (struct explained_cost){COST_UNEXPLAINED, rest_ns, "beyond what the terms take together"});
    return causes;
}

static void describe_launch(struct explanation *explanation, const struct predicted_launch *launch,
                            const struct machine *machine)
{
    const struct codeobj_kernel *kernel = &launch->walked.code_object->code;
    explanation->waves_per_simd = launch->model.occupancy.waves_per_simd;
    explanation->waves_most = launch->model.occupancy.waves_max;
    explanation->vgprs = kernel->allocated_vgprs;
    explanation->sgprs = kernel->sgpr_count;
    explanation->lds_bytes = kernel->group_segment_bytes + launch->walked.lds_bytes;
    const double *term_ns = launch->prediction.term_ns;
    explanation->level_time_ns = fmax(term_ns[TERM_MALL], term_ns[TERM_MEMORY]);
    if (!(explanation->level_time_ns > 0) || launch->model.level >= machine->level_count)
        return;
    explanation->level = &machine->levels[launch->model.level];
    explanation->level_bytes = launch->model.memory_bytes;
}

/* Each cause needs a new prediction, which discards the launches; `evidence` was therefore collected before. */
static enum status find_causes(const struct asked *asked, const char *const evidence[COST_COUNT],
                               const bool possible[COST_COUNT])
{
    struct explanation *explanation = asked->explanation;
    struct explained_cost *causes = NULL;
    struct prediction without;
    enum status status = STATUS_OK;
    for (enum cost cause = COST_NONE + 1; cause < COST_COUNT && !status; cause++) {
        if (!possible[cause])
            continue;
        status = predict_without(&without, asked, cause);
        /* Launch time is added to the rest, so its cost is the term itself. */
        const double cost_ns = cause == COST_LAUNCH ? explanation->prediction.term_ns[TERM_LAUNCH]
                                                    : explanation->prediction.time_ns - without.time_ns;
        if (!status && cost_ns > LEAST_SHARE * explanation->prediction.time_ns)
            ARENA_PUSH(asked->arena, causes, explanation->cause_count,
                       (struct explained_cost){cause, cost_ns, evidence[cause]});
    }
    if (!status && explanation->prediction.time_ns > 0)
        causes = add_work(causes, asked);
    if (explanation->cause_count)
        qsort(causes, explanation->cause_count, sizeof(*causes), by_cost);
    explanation->causes = causes;
    return status;
}

enum status explain_case(struct explanation *explanation, struct predictor *predictor,
                         const struct plan_case *plan_case, const struct build_result *builds,
                         const struct machine *machine, double measured_hz, double measured_ns, struct arena *arena,
                         struct err *err)
{
    const char *evidence[COST_COUNT] = {NULL};
    bool possible[COST_COUNT] = {false};
    const struct asked asked = {explanation, predictor,   plan_case, builds, machine,
                                measured_hz, measured_ns, arena,     err};
    *explanation = (struct explanation){.plan_case = plan_case};
    enum status status = predict_without(&explanation->prediction, &asked, COST_NONE);
    if (status)
        return status;
    const struct predicted_launch *launch = main_launch(predictor);
    size_t count = 0;
    const struct predicted_launch *launches = predictor_launches(predictor, &count);
    for (enum cost cause = COST_NONE + 1; cause < COST_COUNT; cause++) {
        evidence[cause] = evidence_of(&asked, cause, launch);
        /* Skips walks that cannot find anything. */
        possible[cause] =
            (!count && cause < COST_WORK) ||
            COUNT_WHERE(one, launches, count, one->walk && cost_possible(cause, &one->walked, one->walk)) > 0;
    }
    if (launch) {
        describe_launch(explanation, launch, machine);
        explanation->symbol = arena_strdup(arena, launch->launch->symbol);
        explain_counters(explanation, launch, arena);
    }
    status = find_causes(&asked, evidence, possible);
    explain_sort_counters(explanation);
    return status;
}
