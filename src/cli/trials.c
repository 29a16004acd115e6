/* SPDX-License-Identifier: MIT */
#include "trials.h"

#include "rooftile/rng.h"
#include "rooftile/shift.h"

static enum timer_choice choice_of(enum timer timer)
{
    static const enum timer_choice choices[] = {[TIMED_HOST] = TIMER_HOST,
                                                [TIMED_BATCH] = TIMER_BATCH,
                                                [TIMED_EVENT] = TIMER_EVENT,
                                                [TIMED_DISPATCH] = TIMER_DISPATCH,
                                                [TIMED_GRAPH] = TIMER_GRAPH};
    return timer < sizeof(choices) / sizeof(*choices) ? choices[timer] : TIMER_AUTO;
}

enum status trials_check(const struct cli_options *options, const char *what, struct err *err)
{
    if (options->trials > SHIFT_MAX_TRIALS)
        return err_set(err, ERR_USAGE, "--trials %u: at most %d", options->trials, SHIFT_MAX_TRIALS);
    if (options->resume)
        return err_set(err, ERR_USAGE,
                       "--resume goes on with one trial, not with %s; run the missing trials and join them with "
                       "'rooftile merge'",
                       what);
    if (options->profile)
        return err_set(err, ERR_USAGE, "--profile measures nothing, so it does not go with %s", what);
    return STATUS_OK;
}

/* A plan of the run's own, whose cases' timers may be set. */
static void own_plan(struct trials *run)
{
    struct session *session = run->session;
    struct plan *plan = arena_copy(session->arena, session->plan, sizeof(*plan));
    run->cases = arena_copy(session->arena, plan->cases, plan->count * sizeof(*run->cases));
    plan->cases = run->cases;
    session->plan = plan;
}

/* What a trial chose by itself is chosen for all that follow: near the threshold two processes would decide
 * differently, and times of two timers cannot be compared. */
static void pin_timers(struct trials *run, const struct result *trial)
{
    size_t next = 0;
    for (size_t k = 0; k < run->session->plan->count; k++) {
        if (run->cases[k].measure.timer != TIMER_AUTO)
            continue;
        const struct result_case *c = execute_find_ok(trial, run->cases[k].id, &next);
        if (c)
            run->cases[k].measure.timer = choice_of(c->timer);
    }
}

static enum status run_one(struct trials *run, uint32_t trial, uint32_t count, struct err *err)
{
    struct session *session = run->session;
    const char *title =
        count > 1 ? arena_printf(session->arena, "%s, trial %u/%u", run->title, trial + 1, count) : run->title;
    struct result *part = &run->parts[run->count];
    /* The first trial is what a run without trials is; the others differ in order and in simulated noise only. */
    session->trial_seed = trial ? rng_derive(session->options->seed + trial, "trial") : session->options->seed;
    session->request.seed = session->trial_seed;
    enum status status = execute_plan(part, session, run->resumed, title, err);
    part->trials = 1;
    part->trial_index = trial;
    part->run_id = run->parts[0].run_id;
    /* Whole trials only, where the budget ended one: a case that one lacks would count as missing in all. */
    if (part->cases && (session_stop != STOP_BUDGET || !run->count))
        run->count++;
    return status;
}

enum status trials_run(struct trials *const *runs, size_t run_count, uint32_t count, struct err *err)
{
    const bool several = run_count * count > 1;
    for (size_t k = 0; k < run_count; k++) {
        runs[k]->parts = arena_array(runs[k]->session->arena, count, sizeof(*runs[k]->parts));
        runs[k]->count = 0;
        if (several)
            own_plan(runs[k]);
    }
    for (uint32_t trial = 0; trial < count; trial++)
        for (size_t k = 0; k < run_count; k++) {
            struct trials *run = runs[trial % 2 ? run_count - 1 - k : k];
            enum status status = run_one(run, trial, count, err);
            if (status || session_stop == STOP_BUDGET)
                return status;
            for (size_t n = 0; several && n < run_count; n++)
                pin_timers(runs[n], &run->parts[run->count - 1]);
        }
    return STATUS_OK;
}

enum status trials_join(struct result *result, const struct trials *run, struct err *err)
{
    struct arena *arena = run->session->arena;
    const struct result **parts = arena_array(arena, run->count + 1, sizeof(*parts));
    const char **names = arena_array(arena, run->count + 1, sizeof(*names));
    if (run->count == 1) {
        *result = run->parts[0];
        return STATUS_OK;
    }
    for (size_t k = 0; k < run->count; k++) {
        parts[k] = &run->parts[k];
        names[k] = arena_printf(arena, "trial %zu", k + 1);
    }
    enum status status = result_merge(result, parts, names, run->count, arena, err);
    if (!status)
        result_derive(result, run->session->plan, run->session->options->seed, arena);
    return status;
}
