/* SPDX-License-Identifier: MIT
 *
 * Determines which part of a case's steps is timed, and which timers cover it. The measurement records its events on
 * stream 0. Work on another stream lies between them only if events of the manifest tie it to stream 0 on both sides.
 */
#include "plan_internal.h"

/* State of each stream while stepping through the timed steps. Sets of streams are bit masks. */
struct streams {
    bool begun[MANIFEST_MAX_STREAMS];     /* its next work starts after the first event */
    uint64_t after[MANIFEST_MAX_STREAMS]; /* its next work starts after all previous work of these streams */
    bool event_begun[MANIFEST_MAX_EVENTS];
    uint64_t event_after[MANIFEST_MAX_EVENTS];
    uint64_t used;
    bool early; /* some work may run before the first event */
};

static void add_work(struct streams *streams, uint32_t stream)
{
    const uint64_t bit = UINT64_C(1) << stream;
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
    case STEP_LOOP: /* twice: a round may wait for the previous one */
        for (size_t k = 0; k < 2 * step->step_count; k++)
            follow(streams, &step->steps[k % step->step_count]);
        break;
    case STEP_SYNC: /* the host waits for the whole device, after recording the first event */
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

/* ---- kinds of steps ---- */

#define BIT(kind) (1u << (kind))

/* Returns the kinds of the timed steps, or of all steps, as bits. */
static unsigned kinds_of(const struct resolved_step *steps, size_t count, bool all)
{
    unsigned kinds = 0;
    for (size_t k = 0; k < count; k++)
        if (all || steps[k].timed)
            kinds |= BIT(steps[k].kind) | kinds_of(steps[k].steps, steps[k].step_count, all);
    return kinds;
}

static enum status check_steps(const struct resolve *resolve, unsigned timed)
{
    const struct resolved *resolved = resolve->resolved;
    const cJSON *steps = json_member(resolve->manifest->at, "steps"), *at = steps ? steps : resolve->manifest->at;
    const unsigned all =
        kinds_of(resolved->steps, resolved->step_count, true) | kinds_of(resolved->setup, resolved->setup_count, true);
    /* Waits and events alone give nothing to measure. */
    if (!(timed & ~(BIT(STEP_SYNC) | BIT(STEP_RECORD) | BIT(STEP_WAIT))))
        return resolve_fail(resolve, at, "no timed step is left to run");
    size_t starts = 0;
    bool launched = false, launches_before_load = false;
    for (size_t k = 0; k < resolved->step_count; k++) {
        const enum step_kind kind = resolved->steps[k].kind;
        starts += resolved->steps[k].timed && (k == 0 || !resolved->steps[k - 1].timed);
        launches_before_load |= kind == STEP_LOAD && launched;
        launched |= kind == STEP_LAUNCH || kind == STEP_LOOP;
    }
    if (starts != 1) /* one pair of events surrounds the timed steps */
        return resolve_fail(resolve, at,
                            "an untimed step stands between timed ones (sync, record and wait are timed too "
                            "unless they say otherwise)");
    if (all & BIT(STEP_GRAPH) && all & (BIT(STEP_LOAD) | BIT(STEP_ALLOC)))
        return resolve_fail(resolve, at,
                            "a graph keeps the code and the memory that it was made with: load and alloc steps "
                            "cannot stand beside it");
    if (launches_before_load)
        return resolve_fail(resolve, at,
                            "a launch stands before the load step: the code is unloaded when the steps begin");
    return STATUS_OK;
}

enum status timing_of(struct timing *timing, const struct resolve *resolve)
{
    const struct resolved *resolved = resolve->resolved;
    const unsigned kinds = kinds_of(resolved->steps, resolved->step_count, false);
    const struct resolved_step *last = NULL;
    size_t timed = 0, plain = 0;
    uint64_t launches = 0;
    if (check_steps(resolve, kinds))
        return resolve->err->status;
    FOR_EACH(const struct resolved_step, step, resolved->steps, resolved->step_count) {
        if (step->timed)
            last = step;
        timed += step->timed;
        launches += step->repeat;
        plain += step->timed && step->kind == STEP_LAUNCH && !step->stream;
    }
    struct streams streams = {.begun = {true}};
    for (size_t k = 0; k < resolved->step_count; k++)
        if (resolved->steps[k].timed)
            follow(&streams, &resolved->steps[k]);
    const bool reloads = kinds & (BIT(STEP_LOAD) | BIT(STEP_ALLOC));
    *timing = (struct timing){
        .reloads = reloads,
        .waits = reloads || kinds & BIT(STEP_SYNC),
        .apart = streams.early || (streams.used & ~streams.after[0]),
        .one_launch = timed == 1 && last->kind == STEP_LAUNCH && last->repeat == 1 && !last->launch.spec->cooperative,
        .all_timed = timed == resolved->step_count,
        .loads = kinds_of(resolved->steps, resolved->step_count, true) & BIT(STEP_LOAD),
        .stream_launches = plain == resolved->step_count ? launches : 0,
    };
    return STATUS_OK;
}

/* ---- which timers cover them ---- */

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
    if (timer == TIMER_GRAPH && !timing->stream_launches)
        return err_set(err, ERR_CONFIG, "timer graph: the case is more than timed launches on stream 0");
    return STATUS_OK;
}
