/* SPDX-License-Identifier: MIT */
#include "service_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct services *services_of(struct worker *worker)
{
    if (worker->services)
        return worker->services;
    worker->services = calloc(1, sizeof(*worker->services));
    if (!worker->services)
        arena_out_of_memory(sizeof(*worker->services));
    return worker->services;
}

void service_say(char why[static SERVICE_WHY], const char *text)
{
    const size_t length = strlen(text), most = SERVICE_WHY - sizeof("...");
    snprintf(why, SERVICE_WHY, "%s%s", length > most ? "..." : "", text + (length > most ? length - most : 0));
}

static enum status open_service(struct ready *ready, struct worker *worker, enum run_service which, struct err *err)
{
    const struct run_service_case *given = &worker->options->services[which];
    const struct plan_case *plan_case = given->plan_case;
    if (!worker->device->ops->executes && which != SERVICE_NULL)
        return err_set(err, ERR_UNSUPPORTED, "nothing is executed");
    if (!plan_case)
        return err_set(err, ERR_UNSUPPORTED, "its kernel is not among the kernels");
    if (plan_case->state != PLAN_READY)
        return err_set(err, ERR_UNSUPPORTED, "%s", plan_case->reason);
    if (unbuilt_code(&plan_case->bound, given->builds))
        return err_set(err, ERR_UNSUPPORTED, "its kernel was not built: %s",
                       unbuilt_code(&plan_case->bound, given->builds)->message);
    const uint32_t rotations = which == SERVICE_CLOCK ? PROBE_COUNT : 1;
    return ready_init(ready, worker->device, &plan_case->bound, given->builds, rotations, 0, err);
}

struct ready *service_ready(struct worker *worker, enum run_service which, char why[static SERVICE_WHY])
{
    struct service *service = &services_of(worker)->list[which];
    if (!service->tried) {
        struct err err = {0};
        service->tried = true;
        service->usable = !open_service(&service->ready, worker, which, &err);
        if (!service->usable) {
            ready_release(&service->ready);
            service_say(service->why, err.text);
        }
    }
    if (!service->usable)
        snprintf(why, SERVICE_WHY, "%s", service->why);
    return service->usable ? &service->ready : NULL;
}

void *service_words(struct ready *ready, uint32_t rotation, uint64_t size_bytes)
{
    const struct bound *bound = ready->bound;
    const bool fits = bound->buffer_count && bound->buffers[0].size_bytes == size_bytes &&
                      bound->buffers[0].space == BUFFER_PINNED;
    return fits ? ready_buffer(ready, 0, rotation) : NULL;
}
