/* SPDX-License-Identifier: MIT */
#include "rooftile/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare_internal.h"

enum { MAX_CLASSES = 64 };

const char *compare_state_name(enum compare_state state)
{
    static const char *const names[] = {
        [COMPARE_JUDGED] = "judged", [COMPARE_REFUSED] = "refused",         [COMPARE_BROKEN] = "broken",
        [COMPARE_FIXED] = "fixed",   [COMPARE_BOTH_BROKEN] = "both_broken", [COMPARE_MISSING] = "missing",
        [COMPARE_NEW] = "new",       [COMPARE_SKIPPED] = "skipped",
    };
    return names[state];
}

const char *compare_cause_name(enum compare_cause cause)
{
    static const char *const names[] = {
        [CAUSE_NONE] = "",       [CAUSE_CODE] = "code",   [CAUSE_ENVIRONMENT] = "environment",
        [CAUSE_CLOCK] = "clock", [CAUSE_NOISE] = "noise",
    };
    return names[cause];
}

/* ---- judging all at once ---- */

const double *compare_trials(const struct result_case *c, size_t *count, struct arena *arena)
{
    const size_t most = c->trial_count ? c->trial_count : 1;
    double *times = arena_array(arena, most, sizeof(*times));
    *count = 0;
    for (size_t k = 0; k < c->trial_count && *count < SHIFT_MAX_TRIALS; k++)
        if (c->trials[k].status == CASE_OK && isfinite(c->trials[k].median_ns) && c->trials[k].median_ns > 0)
            times[(*count)++] = c->trials[k].median_ns;
    if (!*count)
        times[(*count)++] = c->stats.median;
    return times;
}

/* More classes than MAX_CLASSES are one class together. */
static uint32_t class_of(struct comparing *comparing, const char *name)
{
    uint32_t k = 0;
    while (k < comparing->class_count && k < MAX_CLASSES - 1 && strcmp(comparing->classes[k].name, name) != 0)
        k++;
    if (k == comparing->class_count)
        comparing->classes[comparing->class_count++].name = k == MAX_CLASSES - 1 ? "other" : name;
    return k;
}

/* Timer tick / time of what it timed; more than all of it tells no more. */
static double floor_of(const struct result_case *c, double tick_ns)
{
    const double share = tick_ns / (c->stats.median * (c->batch ? c->batch : 1));
    return share > 0 ? fmin(share, 1) : 0;
}

static struct shift_case inputs_of(struct comparing *comparing, const struct compare_case *c, double tick_ns)
{
    struct shift_case in = {.prior = noise_file_prior(comparing->options->noise, c->base),
                            .group = class_of(comparing, c->class)};
    in.base_ns = compare_trials(c->base, &in.base_trials, comparing->arena);
    in.new_ns = compare_trials(c->now, &in.new_trials, comparing->arena);
    in.prior.floor = fmax(floor_of(c->base, tick_ns), floor_of(c->now, tick_ns));
    return in;
}

static enum status judge(struct comparing *comparing, double tick_ns, struct err *err)
{
    struct arena *arena = comparing->arena;
    struct shift_case *inputs = arena_array(arena, comparing->count + 1, sizeof(*inputs));
    struct shift *shifts = arena_array(arena, comparing->count + 1, sizeof(*shifts));
    size_t *which = arena_array(arena, comparing->count + 1, sizeof(*which));
    size_t count = 0;
    comparing->classes = arena_array(arena, MAX_CLASSES, sizeof(*comparing->classes));
    for (size_t k = 0; k < comparing->count; k++) {
        if (comparing->cases[k].state != COMPARE_JUDGED)
            continue;
        which[count] = k;
        inputs[count++] = inputs_of(comparing, &comparing->cases[k], tick_ns);
    }
    struct shift_group *groups = arena_array(arena, comparing->class_count + 1, sizeof(*groups));
    enum status status =
        shift_compare_all(shifts, groups, comparing->class_count, inputs, count, &comparing->options->shift, err);
    if (status)
        return status;
    for (size_t k = 0; k < count; k++)
        comparing->cases[which[k]].shift = shifts[k];
    for (size_t k = 0; k < comparing->class_count; k++)
        comparing->classes[k].group = groups[k];
    return STATUS_OK;
}

static size_t interference_trials(const struct result_case *c)
{
    const uint32_t noisy = FLAG_INTERFERENCE | FLAG_THROTTLED;
    size_t count = 0;
    for (size_t k = 0; k < c->trial_count; k++)
        count += (c->trials[k].flags & noisy) != 0;
    return c->trial_count ? count : (c->flags & noisy) != 0;
}

/* A label, not a gate. A clock is believed before a hash: the same code on a slower clock is
 * the clock's doing. */
static void attribute(struct compare_case *c, double delta)
{
    const double before = c->base->cycles, after = c->now->cycles;
    const enum shift_verdict verdict = c->shift.verdict;
    c->same_code = c->base->object_sha256[0] && !strcmp(c->base->object_sha256, c->now->object_sha256);
    c->cycles_ratio = before > 0 && after > 0 ? after / before : NAN;
    const bool moved = verdict == SHIFT_SLOWER || verdict == SHIFT_FASTER || verdict == SHIFT_SUSPECT;
    c->interference[0] = interference_trials(c->base);
    c->interference[1] = interference_trials(c->now);
    if (!moved && c->shift.reason == SHIFT_UNSUPPORTED)
        c->cause = CAUSE_NOISE;
    else if (!moved)
        c->cause = CAUSE_NONE;
    else if (isfinite(c->cycles_ratio) && fabs(log(c->cycles_ratio)) < log1p(delta))
        c->cause = CAUSE_CLOCK;
    else if (verdict == SHIFT_SUSPECT && (c->interference[0] || c->interference[1]))
        c->cause = CAUSE_NOISE;
    else if (c->same_code)
        c->cause = CAUSE_ENVIRONMENT;
    else
        c->cause = c->base->object_sha256[0] && c->now->object_sha256[0] ? CAUSE_CODE : CAUSE_NONE;
}

static void count_up(struct comparison *out, const struct compare_case *c)
{
    size_t *const verdicts[] = {[SHIFT_INCONCLUSIVE] = &out->inconclusive,
                                [SHIFT_SAME] = &out->same,
                                [SHIFT_SLOWER] = &out->slower,
                                [SHIFT_FASTER] = &out->faster,
                                [SHIFT_SUSPECT] = &out->suspect};
    if (c->state == COMPARE_JUDGED) {
        ++*verdicts[c->shift.verdict];
        if (c->shift.suggested_trials > out->suggested_trials)
            out->suggested_trials = c->shift.suggested_trials;
    }
    out->broken += c->state == COMPARE_BROKEN;
    out->missing += c->state == COMPARE_MISSING;
    out->refused += c->state == COMPARE_REFUSED;
    out->added += c->state == COMPARE_NEW;
    out->fixed += c->state == COMPARE_FIXED;
    out->still_broken += c->state == COMPARE_BOTH_BROKEN;
    out->skipped += c->state == COMPARE_SKIPPED;
}

/* Noise that was learned on another device or in another environment is no noise of this one. */
static enum status check_noise(const struct noise_file *noise, const struct result *now, struct err *err)
{
    if (noise && strcmp(noise->fingerprint, now->fingerprint) != 0)
        return err_set(err, ERR_CONFIG,
                       "%s: the learned noise is of '%s' in another environment; 'rooftile aa' learns it anew",
                       noise->path ? noise->path : "", noise->device);
    return STATUS_OK;
}

enum status compare_results(struct comparison *out, const struct result *base, const struct result *now,
                            const struct compare_options *options, struct arena *arena, struct err *err)
{
    struct comparing comparing = {.options = options, .arena = arena};
    struct comparison made = {.base = base, .now = now, .options = options->shift, .learned_noise = options->noise};
    enum status status = compare_allowed(base, now, err);
    if (!status)
        status = check_noise(options->noise, now, err);
    if (!status)
        status = compare_match(&comparing, base, now, err);
    if (status)
        return status;
    status = judge(&comparing, fmax(base->calibration.timer_tick_ns, now->calibration.timer_tick_ns), err);
    if (status)
        return status;
    for (size_t k = 0; k < comparing.count; k++) {
        if (comparing.cases[k].state == COMPARE_JUDGED)
            attribute(&comparing.cases[k], options->shift.delta);
        count_up(&made, &comparing.cases[k]);
    }
    made.cases = comparing.cases;
    made.case_count = comparing.count;
    made.classes = comparing.classes;
    made.class_count = comparing.class_count;
    for (size_t k = 0; k < comparing.class_count; k++)
        made.shifted_classes += comparing.classes[k].group.shifted;
    if (!options->filter_count)
        status = compare_kpis(&made, arena, err);
    compare_differences(&made, arena);
    if (!status)
        *out = made;
    return status;
}

/* ---- the verdict ---- */

bool compare_class_is_slower(const struct compare_class *class)
{
    return class->group.shifted && class->group.shift.verdict == SHIFT_SLOWER;
}

int compare_exit_code(const struct comparison *comparison, bool strict)
{
    const struct comparison *c = comparison;
    const size_t judged = c->slower + c->faster + c->same + c->inconclusive + c->suspect;
    bool finding = c->slower || c->broken || c->missing;
    bool open = c->inconclusive || c->suspect || c->refused || c->added || c->still_broken;
    for (size_t k = 0; k < c->class_count; k++)
        finding |= compare_class_is_slower(&c->classes[k]);
    for (size_t k = 0; k < c->kpi_count; k++) {
        const struct compare_kpi *kpi = &c->kpis[k];
        const enum shift_verdict verdict = kpi->shift.verdict;
        finding |= kpi->lost || (kpi->judged && verdict == SHIFT_SLOWER);
        open |= kpi->judged ? verdict == SHIFT_INCONCLUSIVE || verdict == SHIFT_SUSPECT : isfinite(kpi->now);
    }
    if (finding)
        return 1;
    if (!judged && !c->fixed)
        return 2;
    return strict && open ? 4 : 0;
}

static size_t trials_of(const struct result *result)
{
    return result->trials ? result->trials : 1;
}

void compare_advice(const char *advice[static COMPARE_ADVICE + 1], const struct comparison *comparison,
                    struct arena *arena)
{
    size_t count = 0;
    const bool few = trials_of(comparison->base) < SHIFT_CONFIRM_TRIALS || trials_of(comparison->now) < SHIFT_CONFIRM_TRIALS;
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
            arena, "what is open needs more trials: --trials %u decides all of it, if the noise stays as it is",
            comparison->suggested_trials);
    if (!comparison->learned_noise)
        advice[count++] = "the noise of this device in this environment was never measured, so 1 % is assumed; "
                          "'rooftile aa SUITE' measures it";
    advice[count] = NULL;
}
