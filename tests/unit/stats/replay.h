/* SPDX-License-Identifier: MIT
 *
 * All runs of a set in one pass, as gate_run sees them one by one; also with the last one measured again.
 */
#ifndef ROOFTILE_TESTS_STATS_REPLAY_H
#define ROOFTILE_TESTS_STATS_REPLAY_H

#include <string.h>

#include "../../../src/stats/gate_internal.h"

/* Hears of every TENTATIVE and CONFIRMED verdict in order: run by run, within one the classes first, then the series.
 */
typedef void replay_seen(void *context, size_t run, bool is_class, size_t index, const struct gate_verdict *verdict);

static inline void replay_tell(replay_seen *seen, void *context, size_t run, bool is_class,
                               const struct gate_verdict *verdicts, size_t count)
{
    for (size_t k = 0; seen && k < count; k++)
        if (verdicts[k].state == GATE_TENTATIVE || verdicts[k].state == GATE_CONFIRMED)
            seen(context, run, is_class, k, &verdicts[k]);
}

static inline void replay_runs(struct gate_verdict *out, struct gate_verdict *classes, const struct gate_set *set,
                               const struct gate_options *options, replay_seen *seen, void *context)
{
    struct arena arena = {0};
    struct gate_pass pass;
    gate_pass_init(&pass, set, options, &arena);
    memset(out, 0, set->series_count * sizeof(*out));
    memset(classes, 0, set->class_count * sizeof(*classes));
    for (size_t run = 0; run < set->runs; run++) {
        gate_pass_step(&pass);
        gate_pass_judge(&pass, out, classes);
        replay_tell(seen, context, run, true, classes, set->class_count);
        replay_tell(seen, context, run, false, out, set->series_count);
    }
    arena_release(&arena);
}

/* One run after another, the last one possibly twice. */
struct replay {
    struct gate_pass pass;
    struct gate_verdict *out, *classes; /* as they were before this run */
};

static inline void replay_init(struct replay *replay, const struct gate_set *set, const struct gate_options *options,
                               struct arena *arena)
{
    gate_pass_init(&replay->pass, set, options, arena);
    replay->out = arena_array(arena, set->series_count, sizeof(*replay->out));
    replay->classes = arena_array(arena, set->class_count, sizeof(*replay->classes));
}

/* `out` and `classes` are zeroed before the first run. */
static inline void replay_one(struct replay *replay, struct gate_verdict *out, struct gate_verdict *classes)
{
    const struct gate_set *set = replay->pass.set;
    memcpy(replay->out, out, set->series_count * sizeof(*out));
    memcpy(replay->classes, classes, set->class_count * sizeof(*classes));
    gate_pass_step(&replay->pass);
    gate_pass_judge(&replay->pass, out, classes);
}

/* The same run with what was measured again; the first judgement leaves no trace. */
static inline void replay_one_again(struct replay *replay, struct gate_verdict *out, struct gate_verdict *classes)
{
    const struct gate_set *set = replay->pass.set;
    memcpy(out, replay->out, set->series_count * sizeof(*out));
    memcpy(classes, replay->classes, set->class_count * sizeof(*classes));
    replay->pass.run--;
    gate_pass_step(&replay->pass);
    gate_pass_judge(&replay->pass, out, classes);
}

#endif
