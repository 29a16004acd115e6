/* SPDX-License-Identifier: MIT
 *
 * Which timers see the timed steps of a case. Marks of the measurement stand on stream 0: what another stream does lies
 * between them only where events of the manifest tie it to stream 0 on both sides.
 */
#include "plan_internal.h"
#include "resolve_internal.h"

/* What is known of each stream, going through the timed steps in order. Sets of streams are bits. */
struct streams {
    bool begun[MANIFEST_MAX_STREAMS];     /* its next work comes after the first event */
    uint32_t after[MANIFEST_MAX_STREAMS]; /* its next work comes after all work so far of these */
    bool event_begun[MANIFEST_MAX_EVENTS];
    uint32_t event_after[MANIFEST_MAX_EVENTS];
    uint32_t used;
    bool early; /* some work may run before the first event */
};

static void add_work(struct streams *streams, uint32_t stream)
{
    const uint32_t bit = UINT32_C(1) << stream;
    for (size_t k = 0; k < MANIFEST_MAX_STREAMS; k++)
        streams->after[k] &= ~bit;
    for (size_t k = 0; k < MANIFEST_MAX_EVENTS; k++)
        streams->event_after[k] &= ~bit;
    streams->after[stream] |= bit;
    streams->used |= bit;
    streams->early = streams->early || !streams->begun[stream];
}

static void follow(struct streams *streams, const struct resolved_step *step)
{
    switch (step->kind) {
    case STEP_LAUNCH:
    case STEP_COPY:
    case STEP_FILL:
    case STEP_GRAPH:
        add_work(streams, step->stream);
        break;
    case STEP_RECORD:
        streams->event_begun[step->event] = streams->begun[step->stream];
        streams->event_after[step->event] = streams->after[step->stream];
        break;
    case STEP_WAIT:
        streams->begun[step->stream] = streams->begun[step->stream] || streams->event_begun[step->event];
        streams->after[step->stream] |= streams->event_after[step->event];
        break;
    case STEP_LOOP: /* twice: a round may wait for the one before */
        for (size_t k = 0; k < 2 * step->step_count; k++)
            follow(streams, &step->steps[k % step->step_count]);
        break;
    case STEP_SYNC: /* of the whole device, by the host, who made the first event before */
        for (size_t k = 0; k < MANIFEST_MAX_STREAMS; k++) {
            streams->begun[k] = true;
            streams->after[k] = streams->used;
        }
        break;
    case STEP_LOAD:
    case STEP_ALLOC:
        break;
    }
}

static bool is_apart(const struct resolved *resolved)
{
    struct streams streams = {.begun = {true}};
    for (size_t k = 0; k < resolved->step_count; k++)
        if (resolved->steps[k].timed)
            follow(&streams, &resolved->steps[k]);
    return streams.early || (streams.used & ~streams.after[0]);
}

static bool has_kind(const struct resolved_step *steps, size_t count, enum step_kind kind)
{
    for (size_t k = 0; k < count; k++)
        if (steps[k].timed && (steps[k].kind == kind || has_kind(steps[k].steps, steps[k].step_count, kind)))
            return true;
    return false;
}

struct timing timing_of(const struct resolved *resolved)
{
    struct timing timing = {.apart = is_apart(resolved)};
    const struct resolved_step *last = NULL;
    size_t timed = 0, plain = 0;
    for (size_t k = 0; k < resolved->step_count; k++) {
        const struct resolved_step *step = &resolved->steps[k];
        if (step->timed)
            last = step;
        timed += step->timed;
        plain += step->timed && step->kind == STEP_LAUNCH && !step->stream;
    }
    timing.reloads = has_kind(resolved->steps, resolved->step_count, STEP_LOAD) ||
                     has_kind(resolved->steps, resolved->step_count, STEP_ALLOC);
    timing.waits = timing.reloads || has_kind(resolved->steps, resolved->step_count, STEP_SYNC);
    timing.one_launch = timed == 1 && last->kind == STEP_LAUNCH && last->repeat == 1 && !last->launch.spec->cooperative;
    timing.launches_only = plain == resolved->step_count;
    return timing;
}

enum status timing_check(const struct resolved *resolved, enum timer_choice timer, struct err *err)
{
    const struct timing *timing = &resolved->timing;
    const char *name = timer_choice_names[timer];
    if (timer == TIMER_AUTO || timer == TIMER_HOST)
        return STATUS_OK;
    if (timing->reloads)
        return err_set(err, ERR_CONFIG, "timer %s does not see load and alloc steps, which the host does: use host",
                       name);
    if (timing->apart)
        return err_set(
            err, ERR_CONFIG,
            "timer %s sees stream 0, and some timed work on another stream is not between events (record, wait) that "
            "tie it to stream 0 before and after: use host, or add them",
            name);
    if (timer == TIMER_DISPATCH && !timing->one_launch)
        return err_set(
            err, ERR_CONFIG,
            "timer dispatch is a kernel's own time, and what is timed here is more than one plain launch: use "
            "event or batch");
    if (timer == TIMER_GRAPH && !timing->launches_only)
        return err_set(err, ERR_CONFIG, "timer graph: the case is more than timed launches on stream 0");
    return STATUS_OK;
}
