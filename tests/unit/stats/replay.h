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
    gate_pass_init(&pass, set, NULL, NULL, options, &arena);
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
    struct gate_segment *segments, *class_segments; /* as they were before this run */
};

static inline void replay_init(struct replay *replay, const struct gate_set *set, const struct gate_options *options,
                               struct arena *arena)
{
    gate_pass_init(&replay->pass, set, NULL, NULL, options, arena);
    replay->segments = arena_array(arena, set->series_count, sizeof(*replay->segments));
    replay->class_segments = arena_array(arena, set->class_count, sizeof(*replay->class_segments));
}

static inline void replay_one(struct replay *replay, struct gate_verdict *out, struct gate_verdict *classes)
{
    const struct gate_pass *pass = &replay->pass;
    const struct gate_set *set = pass->set;
    memcpy(replay->segments, pass->segments, set->series_count * sizeof(*pass->segments));
    memcpy(replay->class_segments, pass->class_segments, set->class_count * sizeof(*pass->class_segments));
    gate_pass_step(&replay->pass);
    gate_pass_judge(&replay->pass, out, classes);
}

/* The same run with what was measured again; the first judgement leaves no trace. */
static inline void replay_one_again(struct replay *replay, struct gate_verdict *out, struct gate_verdict *classes)
{
    struct gate_pass *pass = &replay->pass;
    const struct gate_set *set = pass->set;
    memcpy(pass->segments, replay->segments, set->series_count * sizeof(*pass->segments));
    memcpy(pass->class_segments, replay->class_segments, set->class_count * sizeof(*pass->class_segments));
    pass->run--;
    gate_pass_step(pass);
    gate_pass_judge(pass, out, classes);
}

#endif
