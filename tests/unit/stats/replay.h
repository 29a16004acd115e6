/* SPDX-License-Identifier: MIT
 *
 * All nights of a set in one pass, as gate_night sees them one by one.
 */
#ifndef ROOFTILE_TESTS_STATS_REPLAY_H
#define ROOFTILE_TESTS_STATS_REPLAY_H

#include "../../../src/stats/gate_internal.h"

/* Hears of every PROVISIONAL and FIRM verdict in order: night by night, within one the classes first, then the series. */
typedef void replay_seen(void *context, size_t night, bool is_class, size_t index, const struct gate_verdict *verdict);

static inline void replay_tell(replay_seen *seen, void *context, size_t night, bool is_class,
                               const struct gate_verdict *verdicts, size_t count)
{
    for (size_t k = 0; seen && k < count; k++)
        if (verdicts[k].state == GATE_PROVISIONAL || verdicts[k].state == GATE_FIRM)
            seen(context, night, is_class, k, &verdicts[k]);
}

static inline void replay_nights(struct gate_verdict *out, struct gate_verdict *classes, const struct gate_set *set,
                          const struct gate_options *options, replay_seen *seen, void *context)
{
    struct arena arena = {0};
    struct gate_pass pass;
    gate_pass_init(&pass, set, NULL, NULL, options, &arena);
    for (size_t night = 0; night < set->nights; night++) {
        gate_pass_step(&pass);
        gate_pass_judge(&pass, out, classes);
        replay_tell(seen, context, night, true, classes, set->class_count);
        replay_tell(seen, context, night, false, out, set->series_count);
    }
    arena_release(&arena);
}

#endif
