/* SPDX-License-Identifier: MIT */
#include "session_sim.h"

#include <stdio.h>
#include <string.h>

#include "rooftile/file.h"

/* Of the order of what is published for an empty kernel on Instinct cards (2 to 9 us). */
static const double assumed_launch_ns = 4000;

static void names_of_machines(struct session *session, const char *dir, struct text *names)
{
    char **paths = NULL;
    size_t count = 0;
    struct err ignored = {0};
    if (file_list(&paths, &count, dir, ".json", session->arena, &ignored))
        return;
    for (size_t k = 0; k < count; k++) {
        const char *base = path_base(paths[k]);
        text_addf(names, "%s%.*s", k ? ", " : "", (int)(strlen(base) - strlen(".json")), base);
    }
}

static enum status unknown_model(struct session *session, const char *dir, struct err *err)
{
    struct text names = {0};
    names_of_machines(session, dir, &names);
    enum status status = err_set(err, ERR_USAGE, "there is no machine '%s'; known: %s", session->request.model,
                                 names.data ? names.data : "none");
    text_release(&names);
    return status;
}

static void facts_of_machine(struct device_info *info, const struct machine *machine)
{
    *info = (struct device_info){.predicted = true,
                                 .wave = machine->wave ? machine->wave : 64,
                                 .cus = machine->cus,
                                 .xccs = machine->xccs,
                                 .simds_per_cu = machine->simds_per_cu,
                                 .max_block = machine->max_block ? machine->max_block : 1024,
                                 .max_grid = {2147483647, 65535, 65535},
                                 .cooperative = true,
                                 .lds_bytes = (uint64_t)machine->lds_bytes_per_cu,
                                 .memory_bytes = (uint64_t)machine->memory_bytes,
                                 .memory_free_bytes = (uint64_t)machine->memory_bytes,
                                 .core_hz = machine->core_hz,
                                 .memory_hz = machine->memory_hz,
                                 .timer_tick_ns = 1};
    snprintf(info->backend, sizeof(info->backend), "sim");
    snprintf(info->id, sizeof(info->id), "sim:%.26s", machine->name);
    snprintf(info->name, sizeof(info->name), "%s", machine->title);
    snprintf(info->arch, sizeof(info->arch), "%s", machine->arch);
    snprintf(info->target, sizeof(info->target), "%s", machine->arch);
    snprintf(info->note, sizeof(info->note), "predicted: nothing is executed");
    for (uint32_t k = 0; k + 1 < machine->level_count && k < DEVICE_MAX_CACHES; k++) {
        struct device_cache *cache = &info->caches[info->cache_count++];
        snprintf(cache->name, sizeof(cache->name), "%.7s", machine->levels[k].name);
        cache->size_bytes = (uint64_t)machine->levels[k].capacity_bytes;
        cache->instances = 1;
    }
}

enum status session_sim(struct session *session, struct err *err)
{
    struct device_request *request = &session->request;
    char *config = catalog_config_dir(session->arena);
    char *dir = path_join(session->arena, config ? config : "configs", "machines");
    if (!request->model[0])
        return unknown_model(session, dir, err);
    char *path =
        strchr(request->model, '/') ? request->model : arena_printf(session->arena, "%s/%s.json", dir, request->model);
    if (!file_exists(path))
        return unknown_model(session, dir, err);
    enum status status = machine_read(&session->machine, path, err);
    if (status)
        return status;
    if (session->machine.launch_ns <= 0) {
        session->machine.launch_ns = assumed_launch_ns;
        snprintf(session->machine.launch_source, sizeof(session->machine.launch_source),
                 "assumed: no launch time of this model is known");
    }
    struct device_info *info = arena_alloc(session->arena, sizeof(*info));
    facts_of_machine(info, &session->machine);
    snprintf(session->machine_path, sizeof(session->machine_path), "%s", path);
    request->sim_info = info;
    request->sim_launch_ns = session->machine.launch_ns;
    return STATUS_OK;
}
