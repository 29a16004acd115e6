/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "service_state.h"

/* Words of service_hold.hip's `control`. */
enum { RELEASED, MOST_LOOKS, OUTCOME, LOOKS, WORDS };
enum { NOT_RUN, WAS_RELEASED, GAVE_UP };

/* Looks of about 5 us (a nap and a read across the bus). At the first try the host releases at once, so 10 ms are
 * plenty, and where launches run at once little is lost. Later the host queues up to HOLD_MAX_LAUNCHES, some 10 ms of
 * its time: after 200 ms it must be waiting for the device. */
enum { FIRST_LOOKS = 2000, LATER_LOOKS = 40000 };

static bool begin(struct hold *hold, uint32_t looks, struct err *err)
{
    __atomic_store_n(&hold->control[RELEASED], 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&hold->control[MOST_LOOKS], looks, __ATOMIC_SEQ_CST);
    __atomic_store_n(&hold->control[OUTCOME], NOT_RUN, __ATOMIC_SEQ_CST);
    hold->held = !ready_run(hold->ready, 0, MARKS_NONE, err);
    return hold->held;
}

void hold_release(struct worker *worker)
{
    struct hold *hold = &services_of(worker)->hold;
    if (!hold->held)
        return;
    __atomic_store_n(&hold->control[RELEASED], 1, __ATOMIC_SEQ_CST);
    hold->held = false;
}

static uint32_t outcome(const struct hold *hold)
{
    return __atomic_load_n(&hold->control[OUTCOME], __ATOMIC_SEQ_CST);
}

static bool try_it(struct worker *worker, struct hold *hold)
{
    const struct device_ops *ops = worker->device->ops;
    struct err err = {0};
    if (!ops->asynchronous) {
        snprintf(hold->why, sizeof(hold->why), "launches on the %s device are not queued", ops->name);
        return false;
    }
    hold->ready = service_ready(worker, SERVICE_HOLD, hold->why);
    if (!hold->ready)
        return false;
    hold->control = service_words(hold->ready, 0, WORDS * sizeof(*hold->control));
    if (!hold->control) {
        snprintf(hold->why, sizeof(hold->why), "service_hold is not rooftile's own kernel");
        return false;
    }
    const bool begun = begin(hold, FIRST_LOOKS, &err);
    hold_release(worker);
    if (!begun || ops->wait(worker->device, &err)) {
        service_say(hold->why, err.text);
        return false;
    }
    if (outcome(hold) != WAS_RELEASED)
        snprintf(hold->why, sizeof(hold->why), "a launch returns only after it has run");
    return outcome(hold) == WAS_RELEASED;
}

bool hold_works(struct worker *worker, char why[static SERVICE_WHY])
{
    struct hold *hold = &services_of(worker)->hold;
    if (!hold->tried) {
        hold->tried = true;
        hold->works = try_it(worker, hold);
    }
    if (!hold->works)
        snprintf(why, SERVICE_WHY, "%s", hold->why);
    return hold->works;
}

bool hold_begin(struct worker *worker, char why[static SERVICE_WHY])
{
    struct err err = {0};
    if (begin(&services_of(worker)->hold, LATER_LOOKS, &err))
        return true;
    service_say(why, err.text);
    return false;
}

bool hold_was_released(struct worker *worker, char why[static SERVICE_WHY])
{
    if (outcome(&services_of(worker)->hold) == WAS_RELEASED)
        return true;
    snprintf(why, SERVICE_WHY, "the host waited for the device while it queued the batch");
    return false;
}
