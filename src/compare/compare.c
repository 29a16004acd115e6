/* SPDX-License-Identifier: MIT */
#include "rooftile/compare.h"

enum { MAX_CLASSES = 64 };

const char *const compare_state_names[] = {
    [COMPARE_JUDGED] = "judged", [COMPARE_REFUSED] = "refused",         [COMPARE_BROKEN] = "broken",
    [COMPARE_FIXED] = "fixed",   [COMPARE_BOTH_BROKEN] = "both_broken", [COMPARE_MISSING] = "missing",
    [COMPARE_NEW] = "new",       [COMPARE_SKIPPED] = "skipped",
};

const char *const compare_cause_names[] = {
    [CAUSE_NONE] = "",         [CAUSE_CODE] = "code",
    [CAUSE_LAUNCH] = "launch", [CAUSE_INPUTS] = "input data",
    [CAUSE_CLOCK] = "clock",   [CAUSE_ENVIRONMENT] = "environment",
    [CAUSE_NOISE] = "noise",   [CAUSE_COMPILER] = "compiler",
};

/* The state of a comparison. */
struct comparing {
    const struct compare_options *options;
    struct arena *arena;
    struct compare_case *cases;
    size_t count;
    struct compare_class *classes;
    size_t class_count;
};

/* ---- comparability ---- */

static enum status allowed(const struct result *base, const struct result *now, struct arena *arena, struct err *err)
{
    struct identity_fact a, b;
    if (base->predicted != now->predicted)
        return err_set(err, ERR_CONFIG, "one of the two is predicted (nothing was executed), the other measured");
    for (int k = 0; k < 2; k++)
        if (result_check_measured(k ? now : base, err))
            return err_within(err, k ? "the new result" : "the base");
    for (size_t k = 0; result_fact(&a, base, k, arena) && result_fact(&b, now, k, arena); k++)
        if (a.own && a.value[0] && b.value[0] && strcmp(a.value, b.value) != 0)
            return err_set(err, ERR_CONFIG,
                           "different devices: %s '%s' and '%s'; even two of one model differ by more than the shifts "
                           "that are looked for (--devices sets them side by side)",
                           a.name, a.value, b.value);
    return STATUS_OK;
}

/* ---- matching ---- */

static int by_id(const void *a, const void *b)
{
    const char *p = (*(const struct result_case *const *)a)->id, *q = (*(const struct result_case *const *)b)->id;
    const size_t n = result_id_length(p), m = result_id_length(q);
    return strncmp(p, q, n < m ? n : m) ?: ORDER(n, m);
}

/* Returns the cases of a result in the order of their plan ids. */
static enum status index_of(const struct result_case ***out, const struct result *result, const char *which,
                            struct arena *arena, struct err *err)
{
    const struct result_case **cases = arena_pointers(arena, result->cases, result->case_count, sizeof(*result->cases));
    qsort(cases, result->case_count, sizeof(*cases), by_id);
    for (size_t k = 1; k < result->case_count; k++)
        if (!by_id(&cases[k - 1], &cases[k]))
            return err_set(err, ERR_CONFIG, "%s has the case %.*s twice", which, (int)result_id_length(cases[k]->id),
                           cases[k]->id);
    *out = cases;
    return STATUS_OK;
}

static const struct result_case *find(const struct result_case **cases, size_t count, const struct result_case *c)
{
    const struct result_case **found = bsearch(&c, cases, count, sizeof(*cases), by_id);
    return found ? *found : NULL;
}

static void add_case(struct comparing *comparing, const struct result_case *base, const struct result_case *now)
{
    const struct result_case *named = now ? now : base;
    const char *id = arena_strndup(comparing->arena, named->id, result_id_length(named->id));
    if (!text_filtered(comparing->options->filters, comparing->options->filter_count, id, named->kernel))
        return;
    comparing->cases[comparing->count++] = (struct compare_case){.id = id,
                                                                 .label = named->label ? named->label : id,
                                                                 .class = named->class ? named->class : "",
                                                                 .base = base,
                                                                 .now = now,
                                                                 .reason = "",
                                                                 .cycles_ratio = NAN};
}

/* ---- one case ---- */

static const char *trouble(const struct result_case *c, struct arena *arena)
{
    const bool wrong = c->verification.verdict == VERIFY_FAIL && c->verification.reason[0];
    const char *finding = result_case_finding(c), *reason = wrong ? c->verification.reason : c->reason ? c->reason : "";
    return arena_printf(arena, "%s%s%.400s", finding[0] ? finding : case_status_names[c->status], reason[0] ? ": " : "",
                        reason);
}

static void classify(struct compare_case *c, struct arena *arena)
{
    const bool had = c->base && result_case_counts(c->base), has = c->now && result_case_counts(c->now);
    if (!c->now) {
        c->state = COMPARE_MISSING;
        c->reason = "not in the new result";
    } else if (!c->base) {
        c->state = COMPARE_NEW;
        c->reason = has ? "not in the base" : arena_printf(arena, "not in the base; %s", trouble(c->now, arena));
    } else if (had && has) {
        const char *why =
            result_case_unlike(c->base, c->now, IDENTITY_BIT(IDENTITY_WORK) | IDENTITY_BIT(IDENTITY_DEVICE), arena);
        c->state = why ? COMPARE_REFUSED : COMPARE_JUDGED;
        c->reason = why ? why : "";
    } else if (had && c->now->status == CASE_SKIPPED) {
        c->state = COMPARE_MISSING; /* a case that was measured before and is not now is missing, whatever the reason */
        c->reason = trouble(c->now, arena);
    } else if (had || has) {
        c->state = had ? COMPARE_BROKEN : c->base->status == CASE_SKIPPED ? COMPARE_NEW : COMPARE_FIXED;
        c->reason = arena_printf(arena, "%s%s", had ? "" : "was ", trouble(had ? c->now : c->base, arena));
    } else {
        const bool skipped = c->now->status == CASE_SKIPPED;
        c->state = skipped ? COMPARE_SKIPPED : c->base->status == CASE_SKIPPED ? COMPARE_BROKEN : COMPARE_BOTH_BROKEN;
        c->reason = trouble(c->now, arena);
    }
}

static enum status match(struct comparing *comparing, const struct result *base, const struct result *now,
                         struct err *err)
{
    const struct result_case **old = NULL, **new = NULL;
    if (index_of(&old, base, "the base", comparing->arena, err) ||
        index_of(&new, now, "the new result", comparing->arena, err))
        return err->status;
    comparing->cases = arena_array(comparing->arena, base->case_count + now->case_count + 1, sizeof(*comparing->cases));
    for (size_t k = 0; k < now->case_count; k++)
        add_case(comparing, find(old, base->case_count, &now->cases[k]), &now->cases[k]);
    for (size_t k = 0; k < base->case_count; k++)
        if (!find(new, now->case_count, &base->cases[k]))
            add_case(comparing, &base->cases[k], NULL);
    for (size_t k = 0; k < comparing->count; k++)
        classify(&comparing->cases[k], comparing->arena);
    return comparing->count ? STATUS_OK
                            : err_set(err, ERR_CONFIG, "there is no case to compare%s",
                                      comparing->options->filter_count ? ": the filter leaves none" : "");
}

/* ---- judging all cases together ---- */

static enum status judge(struct comparing *comparing, double tick_ns, struct err *err)
{
    struct arena *arena = comparing->arena;
    struct shift_case *inputs = arena_array(arena, comparing->count + 1, sizeof(*inputs));
    struct shift *shifts = arena_array(arena, comparing->count + 1, sizeof(*shifts));
    size_t count = 0, at = 0;
    comparing->classes = arena_array(arena, MAX_CLASSES, sizeof(*comparing->classes));
    FOR_EACH(const struct compare_case, c, comparing->cases, comparing->count) {
        struct shift_case *in = &inputs[count];
        if (c->state != COMPARE_JUDGED)
            continue;
        double *times = arena_array(arena, 2 * SHIFT_MAX_TRIALS, sizeof(*times));
        uint32_t group = 0; /* all classes beyond MAX_CLASSES form one class */
        while (group < comparing->class_count && group < MAX_CLASSES - 1 &&
               strcmp(comparing->classes[group].name, c->class) != 0)
            group++;
        if (group == comparing->class_count)
            comparing->classes[comparing->class_count++].name = group == MAX_CLASSES - 1 ? "other" : c->class;
        *in = (struct shift_case){.prior = noise_file_prior(comparing->options->noise, c->base),
                                  .group = group,
                                  .base_ns = times,
                                  .base_trials = result_trial_times(times, c->base),
                                  .new_ns = times + SHIFT_MAX_TRIALS,
                                  .new_trials = result_trial_times(times + SHIFT_MAX_TRIALS, c->now)};
        in->prior.floor = fmax(result_case_floor(c->base, tick_ns), result_case_floor(c->now, tick_ns));
        count++;
    }
    struct shift_group *groups = arena_array(arena, comparing->class_count + 1, sizeof(*groups));
    if (shift_compare_all(shifts, groups, comparing->class_count, inputs, count, &comparing->options->shift, err))
        return err->status;
    FOR_EACH(struct compare_case, c, comparing->cases, comparing->count)
        if (c->state == COMPARE_JUDGED)
            c->shift = shifts[at++];
    for (size_t k = 0; k < comparing->class_count; k++)
        comparing->classes[k].group = groups[k];
    return STATUS_OK;
}

static size_t interference_trials(const struct result_case *c)
{
    const uint32_t noisy = FLAG_INTERFERENCE | FLAG_THROTTLED;
    const size_t count = COUNT_WHERE(trial, c->trials, c->trial_count, trial->flags & noisy);
    return c->trial_count ? count : (c->flags & noisy) != 0;
}

/* Sets a label, which is no gate. The clock takes precedence over hashes: the same code on a slower clock is slow
 * because of the clock. Then come changes, first of the code; without any, the environment remains. */
static void attribute(struct compare_case *c, double delta, bool other_compiler, struct arena *arena)
{
    const double before = c->base->cycles, after = c->now->cycles;
    const struct identity *a = &c->base->identity, *b = &c->now->identity;
    const unsigned parts = identity_differs(a, b);
    const enum shift_verdict verdict = c->shift.verdict;
    c->same_code = a->parts[IDENTITY_CODE][0] && !strcmp(a->parts[IDENTITY_CODE], b->parts[IDENTITY_CODE]);
    c->changes = result_case_changes(c->base, c->now, arena);
    c->cycles_ratio = before > 0 && after > 0 ? after / before : NAN;
    c->interference[0] = interference_trials(c->base);
    c->interference[1] = interference_trials(c->now);
    const bool moved = verdict == SHIFT_SLOWER || verdict == SHIFT_FASTER || verdict == SHIFT_SUSPECT;
    const bool disturbed = verdict == SHIFT_SUSPECT && (c->interference[0] || c->interference[1]);
    if (!moved)
        c->cause = c->shift.reason == SHIFT_UNSUPPORTED ? CAUSE_NOISE : CAUSE_NONE;
    else if (isfinite(c->cycles_ratio) && fabs(log(c->cycles_ratio)) < log1p(delta))
        c->cause = CAUSE_CLOCK;
    else
        c->cause = disturbed                               ? CAUSE_NOISE
                   : parts & IDENTITY_BIT(IDENTITY_CODE)   ? (other_compiler ? CAUSE_COMPILER : CAUSE_CODE)
                   : parts & IDENTITY_BIT(IDENTITY_LAUNCH) ? CAUSE_LAUNCH
                   : parts & IDENTITY_BIT(IDENTITY_INPUTS) ? CAUSE_INPUTS
                   : c->same_code                          ? CAUSE_ENVIRONMENT
                                                           : CAUSE_NONE;
}

enum status compare_results(struct comparison *out, const struct result *base, const struct result *now,
                            const struct compare_options *options, struct arena *arena, struct err *err)
{
    struct comparing comparing = {.options = options, .arena = arena};
    struct comparison made = {.base = base, .now = now, .options = options->shift, .learned_noise = options->noise};
    if (allowed(base, now, arena, err))
        return err->status;
    /* Noise learned on another device or in another environment does not apply. */
    if (options->noise && strcmp(options->noise->fingerprint, now->fingerprint) != 0)
        return err_set(err, ERR_CONFIG,
                       "%s: the learned noise is of '%s' in another environment; run 'rooftile aa' again",
                       text_or_empty(options->noise->path), options->noise->device);
    if (match(&comparing, base, now, err) ||
        judge(&comparing, fmax(base->calibration.timer_tick_ns, now->calibration.timer_tick_ns), err))
        return err->status;
    const bool other_compiler = base->commit && !strcmp(base->commit, text_or_empty(now->commit)) &&
                                strcmp(text_or_empty(base->compiler), text_or_empty(now->compiler)) != 0;
    FOR_EACH(struct compare_case, c, comparing.cases, comparing.count) {
        made.states[c->state]++;
        if (c->state != COMPARE_JUDGED)
            continue;
        attribute(c, options->shift.delta, other_compiler, arena);
        made.verdicts[c->shift.verdict]++;
        if (c->shift.suggested_trials > made.suggested_trials)
            made.suggested_trials = c->shift.suggested_trials;
    }
    made.cases = comparing.cases;
    made.case_count = comparing.count;
    made.classes = comparing.classes;
    made.class_count = comparing.class_count;
    if (!options->filter_count && compare_kpis(&made, arena, err))
        return err->status;
    compare_differences(&made, arena);
    *out = made;
    return STATUS_OK;
}

/* ---- the verdict ---- */

int compare_exit_code(const struct comparison *comparison, bool strict)
{
    const struct comparison *c = comparison;
    const size_t *states = c->states, *verdicts = c->verdicts;
    bool finding = verdicts[SHIFT_SLOWER] || states[COMPARE_BROKEN] || states[COMPARE_MISSING];
    bool open = verdicts[SHIFT_INCONCLUSIVE] || verdicts[SHIFT_SUSPECT] || states[COMPARE_REFUSED] ||
                states[COMPARE_NEW] || states[COMPARE_BOTH_BROKEN];
    FOR_EACH(const struct compare_class, class, c->classes, c->class_count)
        finding |= class->group.shifted && class->group.shift.verdict == SHIFT_SLOWER;
    FOR_EACH(const struct compare_kpi, kpi, c->kpis, c->kpi_count) {
        const enum shift_verdict verdict = kpi->shift.verdict;
        finding |= kpi->lost || (kpi->judged && verdict == SHIFT_SLOWER);
        open |= kpi->judged ? verdict == SHIFT_INCONCLUSIVE || verdict == SHIFT_SUSPECT : isfinite(kpi->now);
    }
    if (finding)
        return 1;
    if (!states[COMPARE_JUDGED] && !states[COMPARE_FIXED])
        return 2;
    return strict && open ? 4 : 0;
}

/* Other input data or another launch make it a different measurement even if its time is the same; other code is what
 * comparisons are for. NULL: none. */
static const char *changed_unmoved(const struct comparison *comparison, struct arena *arena)
{
    const unsigned parts = IDENTITY_BIT(IDENTITY_LAUNCH) | IDENTITY_BIT(IDENTITY_INPUTS);
    const struct compare_case *first = NULL;
    size_t count = 0;
    FOR_EACH(const struct compare_case, c, comparison->cases, comparison->case_count) {
        const bool told = c->cause == CAUSE_CODE || c->cause == CAUSE_LAUNCH || c->cause == CAUSE_INPUTS;
        if (c->state != COMPARE_JUDGED || told || !(identity_differs(&c->base->identity, &c->now->identity) & parts))
            continue;
        first = first ? first : c;
        count++;
    }
    return first ? arena_printf(arena, "not the same in both, though no time moved by it: %s, in %zu case%s (%s)",
                                first->changes, count, text_s(count), first->label)
                 : NULL;
}

void compare_advice(const char *advice[static COMPARE_ADVICE + 1], const struct comparison *comparison,
                    struct arena *arena)
{
    size_t count = 0;
    const bool few =
        result_trials(comparison->base) < SHIFT_CONFIRM_TRIALS || result_trials(comparison->now) < SHIFT_CONFIRM_TRIALS;
    if (compare_exit_code(comparison, false) == 2)
        advice[count++] = "nothing could be compared";
    if (few)
        advice[count++] =
            arena_printf(arena,
                         "with fewer than %d trials on a side nothing is confirmed: measure both with --trials "
                         "5, or in turns with 'rooftile run SUITE --ab A B'",
                         SHIFT_CONFIRM_TRIALS);
    else if (comparison->suggested_trials)
        advice[count++] = arena_printf(
            arena, "inconclusive cases need more trials: --trials %u decides all of them, if the noise stays as it is",
            comparison->suggested_trials);
    const char *changed = changed_unmoved(comparison, arena);
    if (changed)
        advice[count++] = changed;
    if (!comparison->learned_noise)
        advice[count++] = "the noise of this device in this environment was never measured, so 1 % is assumed; "
                          "'rooftile aa SUITE' measures it";
    advice[count] = NULL;
}
