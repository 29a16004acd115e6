/* SPDX-License-Identifier: MIT */

#include "cli.h"
#include "rooftile/file.h"
#include "rooftile/hash.h"
#include "rooftile/rng.h"
#include "rooftile/shift.h"
#include "rooftile/sides.h"

/* ---- trials ---- */

enum status trials_check(const struct cli_options *options, const char *what, struct arena *arena, struct err *err)
{
    if (options->trials > SHIFT_MAX_TRIALS)
        return err_set(err, ERR_USAGE, "--trials %u: at most %d", options->trials, SHIFT_MAX_TRIALS);
    if (options->resume && strcmp(what, "--trials") != 0)
        return err_set(err, ERR_USAGE, "--resume goes on with a run, not with %s", what);
    if (options->profile)
        return err_set(err, ERR_USAGE, "--profile measures nothing, so it does not go with %s", what);
    return cli_check_output(options->out, arena, err);
}

/* Fixes the timers that a trial chose for all later trials: near the threshold two processes would decide differently,
 * and times of two timers cannot be compared. */
static void pin_timers(struct trials *run, const struct result *trial)
{
    static const enum timer_choice choices[] = {[TIMED_HOST] = TIMER_HOST,
                                                [TIMED_BATCH] = TIMER_BATCH,
                                                [TIMED_EVENT] = TIMER_EVENT,
                                                [TIMED_DISPATCH] = TIMER_DISPATCH,
                                                [TIMED_GRAPH] = TIMER_GRAPH};
    size_t next = 0;
    for (size_t k = 0; k < run->session->plan->count; k++) {
        if (run->cases[k].measure.timer != TIMER_AUTO)
            continue;
        const struct result_case *c = execute_find(trial, run->cases[k].id, &next);
        if (c && c->status == CASE_OK)
            run->cases[k].measure.timer = c->timer < COUNT_OF(choices) ? choices[c->timer] : TIMER_AUTO;
    }
}

/* Removes the cases that a later trial had no time for. If they were recorded as skipped, the other trials would not
 * count. */
static void drop_late(struct result *part)
{
    struct result_case *cases = (struct result_case *)part->cases; /* made by execute_plan for us */
    size_t count = 0;
    for (size_t k = 0; k < part->case_count; k++)
        if (cases[k].status != CASE_SKIPPED || !text_starts(cases[k].reason, RESULT_LATE_REASON))
            cases[count++] = cases[k];
    part->case_count = count;
}

/* The rest of a trial that an earlier process began keeps that trial's name. */
static struct result_part name_trial(const struct trials *run, uint32_t trial)
{
    const struct result *old = run->resumed;
    struct result_part part = {.trial_index = trial};
    if (old || run->count)
        part.run_id = old ? old->run_id : run->parts[0].run_id;
    if (old && old->part_count && trial < old->part_count)
        part = old->parts[trial];
    else if (old && !trial)
        part = (struct result_part){old->run_id, old->started_at, old->trial_index};
    return part;
}

static enum status run_one(struct trials *run, uint32_t trial, uint32_t count, struct err *err)
{
    struct session *session = run->session;
    const char *title =
        count > 1 ? arena_printf(session->arena, "%s, trial %u/%u", run->title, trial + 1, count) : run->title;
    struct result *part = &run->parts[run->count];
    const bool beside = run->out && strcmp(run->out, "-") != 0 && !file_is_device(run->out);
    /* The first trial equals a run without trials; the others differ only in order. */
    session->trial_seed = trial ? rng_derive(session->options->seed + trial, "trial") : session->options->seed;
    session->request.seed = session->trial_seed;
    const struct execution execution = {.title = title,
                                        .resumed = run->resumed,
                                        .journal = beside ? run->out : "",
                                        .rest = count > 1,
                                        .trial = trial,
                                        .part = name_trial(run, trial)};
    enum status status = execute_plan(part, session, &execution, err);
    if (count > 1 && (run->count || run->resumed))
        drop_late(part);
    if (part->cases)
        run->count++;
    return status;
}

/* Whether an earlier process measured this trial completely. */
static bool is_done(const struct trials *run, uint32_t trial)
{
    const struct plan *plan = run->session->plan;
    size_t next = 0;
    for (size_t k = 0; k < plan->count; k++) {
        const struct result_case *c = execute_find(run->resumed, plan->cases[k].id, &next);
        if (!c || !execute_has_trial(c, trial))
            return false;
    }
    return true;
}

/* Runs `count` trials of each run (one, or the two sides of a comparison: then A B B A A B ...). ERR_INTERRUPTED: the
 * parts contain what was measured; the status of a run's last part shows whether it is incomplete. */
static enum status run_trials(struct trials *const *runs, size_t run_count, uint32_t count, struct err *err)
{
    const bool several = run_count * count > 1;
    for (size_t k = 0; k < run_count; k++) {
        runs[k]->parts = arena_array(runs[k]->session->arena, count, sizeof(*runs[k]->parts));
        runs[k]->count = 0;
        if (several) { /* a copy of the plan, so that its cases' timers can be set */
            struct session *session = runs[k]->session;
            struct plan *plan = arena_copy(session->arena, session->plan, sizeof(*plan));
            plan->cases = runs[k]->cases =
                arena_copy(session->arena, plan->cases, plan->count * sizeof(*runs[k]->cases));
            session->plan = plan;
        }
        if (several && runs[k]->resumed)
            pin_timers(runs[k], runs[k]->resumed);
    }
    for (uint32_t trial = 0; trial < count; trial++)
        for (size_t k = 0; k < run_count; k++) {
            struct trials *run = runs[trial % 2 ? run_count - 1 - k : k];
            if (several && is_done(run, trial))
                continue;
            enum status status = run_one(run, trial, count, err);
            const bool last = trial + 1 == count && k + 1 == run_count;
            if (status || session_stop == STOP_BUDGET) {
                for (size_t n = 0; n < run_count; n++)
                    runs[n]->cut = !last;
                return status;
            }
            for (size_t n = 0; several && n < run_count; n++)
                pin_timers(runs[n], &run->parts[run->count - 1]);
        }
    return STATUS_OK;
}

/* Joins a run's parts into one result; a single part is the result. */
static enum status join_trials(struct result *result, const struct trials *run, struct err *err)
{
    struct arena *arena = run->session->arena;
    const struct result **parts = arena_array(arena, run->count + 2, sizeof(*parts));
    const char **names = arena_array(arena, run->count + 2, sizeof(*names));
    size_t count = 0;
    if (run->count == 1 && !(run->resumed && run->cases)) {
        *result = run->parts[0];
        return STATUS_OK;
    }
    if (run->resumed) {
        parts[count] = run->resumed;
        names[count++] = run->session->options->resume;
    }
    for (size_t k = 0; k < run->count; k++) {
        parts[count] = &run->parts[k];
        names[count++] = arena_printf(arena, "trial %u", run->parts[k].trial_index + 1);
    }
    enum status status = result_merge(result, parts, names, count, arena, err);
    if (!status)
        result_derive(result, run->session->plan, run->session->options->seed, arena);
    return status;
}

enum status trials_measure(struct result *result, struct trials *run, uint32_t count, struct err *err)
{
    struct err join_err = {0};
    const enum status status = run_trials(&run, 1, count, err);
    if (!run->count && !run->resumed)
        return status;
    if (!join_trials(result, run, &join_err)) {
        result->status = run->cut ? "interrupted" : result->status;
        return status;
    }
    *err = join_err;
    return join_err.status;
}

/* ---- A/B ---- */

enum { DEFAULT_TRIALS = 5 };

/* One of the two builds. */
struct side {
    struct side_word of;
    struct session session;
    struct trials trials;
    struct result result;
};

/* Replaces the code compiled for the device under test; references stay unchanged. */
static enum status use_object(struct side *side, struct err *err)
{
    const struct plan *plan = side->session.plan;
    const struct plan_case *first = NULL;
    const char *path = path_real(side->session.arena, side->of.path);
    struct build_result object = {.state = BUILD_CACHED, .object = path ? path : side->of.path};
    enum status status = hash_sha256_file(object.sha256, side->of.path, err);
    for (size_t k = 0; k < plan->count && !status; k++) {
        const struct plan_case *c = &plan->cases[k];
        if (c->state != PLAN_READY)
            continue;
        first = first ? first : c;
        if (c->resolved.code != first->resolved.code || c->resolved.code_count > 1)
            return err_set(
                err, ERR_USAGE,
                "--ab %s: a code object stands for one compiled variant of one kernel, and %s needs another than %s",
                side->of.word, c->id, c == first ? "one" : first->id);
        side->session.builds[c->resolved.code] = object;
    }
    return status;
}

/* Finds all errors that can be found before an hour of measuring. */
static enum status prepare(struct side *sides, const struct cli_options *options, struct arena *arena, struct err *err)
{
    if (options->out && !strcmp(options->out, "-"))
        return err_set(err, ERR_USAGE,
                       "--ab writes two results, which do not both fit into standard output; give -o a file name");
    if (comparison_check_format(options, err) || trials_check(options, "--ab", arena, err) ||
        side_find(&sides[0].of, options->ab[0], "--ab", arena, err) ||
        side_find(&sides[1].of, options->ab[1], "--ab", arena, err) ||
        sides_check(&sides[0].of, &sides[1].of, "--ab", err))
        return err->status;
    for (int k = 0; k < 2; k++) {
        struct side *side = &sides[k];
        side->session = (struct session){.options = options, .arena = arena};
        side_use(&side->session, &side->of);
        side->trials = (struct trials){.session = &side->session, .title = k ? "B" : "A"};
        if (options->out)
            side->trials.out = arena_printf(arena, "%s.%c.json", path_stem(options->out, ".json", arena), "ab"[k]);
        if (session_go(&side->session, SESSION_PREPARE | SESSION_VALID | SESSION_CODE | SESSION_PREDICT, err) ||
            (side->of.kind == SIDE_OBJECT && use_object(side, err)))
            return err->status;
    }
    return STATUS_OK;
}

static enum status join_sides(struct side *sides, bool interrupted, struct err *err)
{
    for (int k = 0; k < 2 && interrupted; k++) {
        struct trials *run = &sides[k].trials;
        /* A trial that Ctrl-C cut short would make its missing cases look lost. */
        if (run->count && strcmp(run->parts[run->count - 1].status, "complete") != 0)
            run->count--;
    }
    if (!sides[0].trials.count || !sides[1].trials.count)
        return err_set(err, ERR_INTERRUPTED,
                       "interrupted before each side had a whole trial: there is nothing to compare");
    for (int k = 0; k < 2; k++) {
        if (join_trials(&sides[k].result, &sides[k].trials, err))
            return err->status;
        if (interrupted)
            sides[k].result.status = "interrupted";
    }
    for (int k = 0; k < 2 && sides[k].trials.out; k++) {
        if (result_write(&sides[k].result, sides[k].trials.out, err))
            return err->status;
        log_info("%s: %s", sides[k].of.word, sides[k].trials.out);
    }
    return STATUS_OK;
}

enum status ab_run(struct call *call, struct err *err)
{
    const struct cli_options *options = call->options;
    struct side *sides = arena_array(call->arena, 2, sizeof(*sides));
    struct trials *const runs[] = {&sides[0].trials, &sides[1].trials};
    struct compare_options compare = {.shift = shift_defaults()};
    struct comparison comparison;
    if (prepare(sides, options, call->arena, err))
        return err->status;
    const enum status status = run_trials(runs, 2, options->trials ? options->trials : DEFAULT_TRIALS, err);
    const bool interrupted = status == ERR_INTERRUPTED;
    if ((status && !interrupted) || join_sides(sides, interrupted, err) ||
        comparison_show(&comparison, &sides[0].result, &sides[1].result, &compare, call, NULL, err)) {
        for (int k = 0; k < 2; k++)
            execute_journals_kept(&sides[k].session, err);
        return err->status;
    }
    for (int k = 0; k < 2; k++)
        execute_journals_done(&sides[k].session);
    /* If nothing could be compared, the runs determine the exit code: wrong results are a finding, and no result at all
     * is a failure to measure. */
    const bool strict = options->strict, cut = sides[0].trials.cut || sides[1].trials.cut;
    const bool wrong =
        result_exit_code(&sides[0].result, strict) == 1 || result_exit_code(&sides[1].result, strict) == 1;
    const int code = compare_exit_code(&comparison, strict);
    call->code = interrupted ? 130 : code == 2 ? (wrong ? 1 : 3) : code ? code : strict && cut ? 4 : 0;
    return STATUS_OK;
}
