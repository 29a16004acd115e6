/* SPDX-License-Identifier: MIT */
#include "devices.h"

#include <stdio.h>
#include <string.h>

#include "rooftile/catalog.h"
#include "rooftile/file.h"
#include "rooftile/run.h"
#include "session_sim.h"

/* Devices that execute: opened one after the other, each in a worker that ends again. */
static void find_real(struct listed_backend *backend, int count, bool names_only, struct arena *arena)
{
    backend->devices = arena_array(arena, (size_t)count, sizeof(*backend->devices));
    backend->device_count = (size_t)count;
    for (int index = 0; index < count; index++) {
        struct listed_device *device = &backend->devices[index];
        struct device_request request = {.index = index};
        struct err err = {0};
        snprintf(request.backend, sizeof(request.backend), "%s", backend->ops->name);
        device->id = arena_printf(arena, "%s:%d", backend->ops->name, index);
        if (!names_only && run_device_info(&device->info, NULL, &request, &err))
            device->problem = arena_strdup(arena, err.text);
    }
}

static void read_model(struct listed_device *device, const char *name, struct arena *arena)
{
    struct session *session = arena_alloc(arena, sizeof(*session));
    struct err err = {0};
    session->arena = arena;
    snprintf(session->request.model, sizeof(session->request.model), "%s", name);
    if (session_sim(session, &err)) {
        device->problem = arena_strdup(arena, err.text);
        return;
    }
    device->info = *session->request.sim_info;
    const struct machine *machine = &session->machine;
    if (machine->level_count)
        device->bandwidth = ceiling_value(&machine->levels[machine->level_count - 1].bandwidth);
}

/* The sim device's models are the machine files. */
static void find_models(struct listed_backend *backend, bool names_only, struct arena *arena)
{
    char **paths = NULL;
    size_t count = 0;
    struct err err = {0};
    char *config = catalog_config_dir(arena);
    if (config && file_list(&paths, &count, path_join(arena, config, "machines"), ".json", arena, &err))
        count = 0;
    backend->devices = arena_array(arena, count + 1, sizeof(*backend->devices));
    backend->device_count = count;
    if (!count && config)
        backend->why_off = arena_printf(arena, "there is no machine file in %s/machines", config);
    else if (!count)
        backend->why_off = "no configs folder found beside the program; set ROOFTILE_CONFIGS";
    for (size_t k = 0; k < count; k++) {
        struct listed_device *device = &backend->devices[k];
        const char *base = path_base(paths[k]);
        const int length = (int)(strlen(base) - strlen(".json"));
        device->id = arena_printf(arena, "%s:%.*s", backend->ops->name, length, base);
        if (!names_only)
            read_model(device, arena_strndup(arena, base, (size_t)length), arena);
    }
}

void devices_find(struct device_list *list, bool names_only, struct arena *arena)
{
    size_t most = 0;
    while (device_backends[most])
        most++;
    list->backends = arena_array(arena, most + 1, sizeof(*list->backends));
    for (; list->backend_count < most; list->backend_count++) {
        struct listed_backend *backend = &list->backends[list->backend_count];
        struct text why = {0};
        backend->ops = device_backends[list->backend_count];
        const int count = backend->ops->executes ? backend->ops->count(&why) : 0;
        if (!backend->ops->executes)
            find_models(backend, names_only, arena);
        else if (count > 0)
            find_real(backend, count, names_only, arena);
        else
            backend->why_off = arena_strdup(arena, why.length ? why.data : "no device");
        text_release(&why);
    }
    struct device_request request;
    struct text reason = {0};
    device_default(&request, &reason);
    list->default_id = request.backend[0] ? arena_printf(arena, "%s:%d", request.backend, request.index) : NULL;
    list->default_reason = arena_strdup(arena, reason.length ? reason.data : "no device can run anything");
    text_release(&reason);
}
