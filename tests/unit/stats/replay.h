/* SPDX-License-Identifier: MIT
 *
 * All runs of a set in one pass, as gate_run sees them one by one.
 */
#ifndef ROOFTILE_TESTS_STATS_REPLAY_H
#define ROOFTILE_TESTS_STATS_REPLAY_H

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

#endif
