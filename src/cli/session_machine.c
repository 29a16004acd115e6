/* SPDX-License-Identifier: MIT
 *
 * Which machine file goes with a session: by the PCI id of a real device, by name for sim, by target for code that is
 * built ahead of time.
 */
#include "session_machine.h"

#include <stdio.h>
#include <string.h>

#include "rooftile/file.h"
#include "rooftile/occupancy.h"
#include "rooftile/targets.h"

enum status session_machine_files(char ***paths, size_t *count, struct arena *arena, struct err *err)
{
    char *config = catalog_config_dir(arena);
    *count = 0;
    return config ? file_list(paths, count, path_join(arena, config, "machines"), ".json", arena, err) : STATUS_OK;
}

/* ---- a real device ---- */

static bool has_id(const struct machine *machine, const char *pci_id)
{
    for (uint32_t k = 0; k < machine->pci_id_count; k++)
        if (!strcmp(machine->pci_ids[k], pci_id))
            return true;
    return false;
}

enum machine_match session_match(const struct machine *machine, const struct device_info *info)
{
    if (!info->pci_id[0] || !has_id(machine, info->pci_id))
        return MATCH_NO;
    if (machine->partition[0] && info->partition[0] && strcmp(machine->partition, info->partition) != 0)
        return MATCH_MODE;
    return machine->cus && info->cus && machine->cus != info->cus ? MATCH_UNITS : MATCH_YES;
}

static void warn_of(enum machine_match match, const struct machine *machine, const struct device_info *info)
{
    if (match == MATCH_MODE)
        log_warn(
            "W008",
            "%s is divided as %s, and the ceilings known for this model hold for %s: nothing is set against them; "
            "'rooftile roofline' measures this part, or write a machine file with \"partition\": \"%s\" and give it "
            "with --machine",
            info->name, info->partition, machine->partition, info->partition);
    else
        log_warn(
            "W008",
            "%s has %u compute units, and the ceilings known for PCI id %s are those of %s with %u: nothing is set "
            "against them; 'rooftile roofline' measures this device, or write a machine file and give it with "
            "--machine",
            info->name, info->cus, info->pci_id, machine->title, machine->cus);
}

enum status session_machine_by_pci_id(struct session *session, struct err *err)
{
    char **paths = NULL;
    size_t count = 0;
    enum machine_match nearest = MATCH_NO;
    struct machine *machine = arena_alloc(session->arena, sizeof(*machine));
    struct machine *other = arena_alloc(session->arena, sizeof(*other));
    if (!session->info.pci_id[0] || session_machine_files(&paths, &count, session->arena, err))
        return STATUS_OK;
    for (size_t k = 0; k < count; k++) {
        enum status status = machine_read(machine, paths[k], err);
        if (status)
            return status;
        const enum machine_match match = session_match(machine, &session->info);
        if (match == MATCH_YES) {
            session->machine = *machine;
            snprintf(session->machine_path, sizeof(session->machine_path), "%s", paths[k]);
            return STATUS_OK;
        }
        if (match > nearest) {
            nearest = match;
            *other = *machine;
        }
    }
    if (nearest != MATCH_NO)
        warn_of(nearest, other, &session->info);
    return STATUS_OK;
}

/* ---- sim ---- */

/* Of the order of what is published for an empty kernel on Instinct cards (2 to 9 us). */
static const double assumed_launch_ns = 4000;

static enum status unknown_model(struct session *session, struct err *err)
{
    char **paths = NULL;
    size_t count = 0;
    struct text names = {0};
    if (!session_machine_files(&paths, &count, session->arena, err))
        for (size_t k = 0; k < count; k++)
            text_addf(&names, "%s%.*s", k ? ", " : "", (int)(strlen(path_base(paths[k])) - strlen(".json")),
                      path_base(paths[k]));
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
        return unknown_model(session, err);
    char *path =
        strchr(request->model, '/') ? request->model : arena_printf(session->arena, "%s/%s.json", dir, request->model);
    if (!file_exists(path))
        return unknown_model(session, err);
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

/* ---- a target without a device ---- */

/* Least facts of a target, for planning without a device. */
static void family_facts(struct device_info *info, const char *arch)
{
    const struct occupancy_limits *limits = occupancy_limits(arch);
    *info = (struct device_info){.wave = target_modes(arch).wave,
                                 .cus = 32,
                                 .xccs = 1,
                                 .max_block = 1024,
                                 .max_grid = {2147483647, 65535, 65535},
                                 .cooperative = true,
                                 .lds_bytes = limits ? limits->lds_max : 65536,
                                 .memory_bytes = 8ull << 30};
    snprintf(info->backend, sizeof(info->backend), "%s", target_is_nvidia(arch) ? "cuda" : "hip");
    snprintf(info->name, sizeof(info->name), "any %s", arch);
    snprintf(info->arch, sizeof(info->arch), "%s", arch);
    snprintf(info->target, sizeof(info->target), "%s", arch);
}

enum status session_target(struct session *session, const char *arch, struct err *err)
{
    char **paths = NULL;
    size_t count = 0;
    family_facts(&session->info, arch);
    memset(&session->machine, 0, sizeof(session->machine));
    enum status status = session_machine_files(&paths, &count, session->arena, err);
    for (size_t k = 0; k < count && !status; k++) {
        struct machine machine;
        status = machine_read(&machine, paths[k], err);
        if (status || strcmp(machine.arch, arch))
            continue;
        session->machine = machine;
        session->info.cus = machine.cus ? machine.cus : session->info.cus;
        session->info.memory_bytes = (uint64_t)machine.memory_bytes;
        break;
    }
    session->facts = run_device_facts(&session->info);
    return status ? status : session_reference_target(session, err);
}
