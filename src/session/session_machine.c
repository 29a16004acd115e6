/* SPDX-License-Identifier: MIT
 *
 * Finds the machine file of a session: by PCI id for a real device, by name for sim, by target for code that is built
 * ahead of time.
 */

#include "rooftile/file.h"
#include "rooftile/hash.h"
#include "rooftile/occupancy.h"
#include "rooftile/session.h"
#include "rooftile/targets.h"

char *session_config(struct arena *arena, const char *folder, const char *name)
{
    const char *configs = catalog_config_dir(arena);
    return arena_printf(arena, "%s/%s%s%s", configs ? configs : "configs", folder, *folder ? "/" : "", name);
}

/* Returns an existing file, or the file of that name in configs/machines, with or without suffix; NULL if there is
 * none. */
static const char *machine_file(const char *name, struct arena *arena)
{
    const char *stem = path_stem(name, ".json", arena);
    const char *const shipped[] = {stem, text_lower(stem, arena)};
    if (strchr(name, '/') || (text_ends(name, ".json") && file_exists(name)))
        return file_exists(name) ? name : NULL;
    for (size_t k = 0; *stem && k < COUNT_OF(shipped); k++) {
        const char *path = session_config(arena, "machines", arena_printf(arena, "%s.json", shipped[k]));
        if (file_exists(path))
            return path;
    }
    return *name && file_exists(name) ? name : NULL;
}

enum status session_configs(char ***paths, size_t *count, const char *folder, const char *suffix, struct arena *arena,
                            struct err *err)
{
    *count = 0;
    return catalog_config_dir(arena) ? file_list(paths, count, session_config(arena, "", folder), suffix, arena, err)
                                     : STATUS_OK;
}

enum status session_suites(const char *const **paths, size_t *count, struct arena *arena, struct err *err)
{
    char **all = NULL;
    const char **found = NULL;
    size_t all_count = 0;
    const char *dir = catalog_config_dir(arena);
    *count = 0;
    enum status status = dir ? file_list(&all, &all_count, dir, ".json", arena, err) : STATUS_OK;
    for (size_t k = 0; k < all_count && !status; k++)
        if (!strcmp(path_dir(arena, all[k]), dir))
            ARENA_PUSH(arena, found, *count, all[k]);
    *paths = found;
    return status;
}

enum status session_unknown_machine(const char *model, struct arena *arena, struct err *err)
{
    char **paths = NULL;
    const char **names = NULL;
    size_t path_count = 0, count = 0;
    struct machine *machine = arena_alloc(arena, sizeof(*machine));
    struct text known = {0}, with = {0};
    if (!session_configs(&paths, &path_count, "machines", ".json", arena, err))
        for (size_t k = 0; k < path_count; k++) {
            ARENA_PUSH(arena, names, count, path_stem(path_base(paths[k]), ".json", arena));
            text_addf(&known, "%s%s", k ? ", " : "", names[k]);
            if (!machine_read(machine, paths[k], err) && !strcmp(machine->arch, model))
                text_addf(&with, "%s%s", with.length ? ", " : "", names[k]);
        }
    const char *of_target = text_take(&with, arena), *all = text_take(&known, arena);
    if (*of_target)
        return err_set(err, ERR_USAGE, "'%s' is a target, where a machine is wanted: one of %s", model, of_target);
    err_set(err, ERR_USAGE, "there is no machine '%s'; known: %s", model, count ? all : "none");
    return err_nearest(err, model + (text_starts(model, "sim:") ? 4 : 0), names, count, NULL);
}

/* ---- a real device ---- */

static bool has_id(const struct machine *machine, const char *pci_id)
{
    return COUNT_WHERE(id, machine->pci_ids, machine->pci_id_count, !strcmp(*id, pci_id)) > 0;
}

enum machine_match session_match(const struct machine *machine, const struct device_info *info)
{
    if (!info->pci_id[0] || !has_id(machine, info->pci_id))
        return MATCH_NO;
    if (machine->partition[0] && info->partition[0] && strcmp(machine->partition, info->partition) != 0)
        return MATCH_MODE;
    return machine->cus && info->cus && machine->cus != info->cus ? MATCH_UNITS : MATCH_YES;
}

/* Finds the file in configs/machines that describes the session's device, or the nearest match for its product. Finding
 * none is no error. */
static enum status find_by_pci_id(struct machine *found, enum machine_match *nearest, const struct session *session,
                                  struct err *err)
{
    char **paths = NULL;
    size_t count = 0;
    struct machine *machine = arena_alloc(session->arena, sizeof(*machine));
    *nearest = MATCH_NO;
    if (!session->info.pci_id[0] || session_configs(&paths, &count, "machines", ".json", session->arena, err))
        return STATUS_OK;
    for (size_t k = 0; k < count && *nearest != MATCH_YES; k++) {
        if (machine_read(machine, paths[k], err))
            return err->status;
        const enum machine_match match = session_match(machine, &session->info);
        if (match > *nearest) {
            *nearest = match;
            *found = *machine;
        }
    }
    return STATUS_OK;
}

/* Takes the model's machine, or with `links` only its links, which 'roofline' cannot measure. Warns if the file for the
 * product does not hold for this device. */
static enum status take_model(struct session *session, bool links, struct err *err)
{
    struct machine *model = arena_alloc(session->arena, sizeof(*model)), *machine = &session->machine;
    enum machine_match nearest = MATCH_NO;
    if (find_by_pci_id(model, &nearest, session, err))
        return err->status;
    if (links && nearest == MATCH_YES && !machine->link_count) {
        memcpy(machine->links, model->links, sizeof(machine->links));
        machine->link_count = model->link_count;
    } else if (!links && nearest == MATCH_YES) {
        *machine = *model;
    } else if (!links && nearest != MATCH_NO) {
        const struct device_info *info = &session->info;
        if (nearest == MATCH_MODE)
            log_warn("W008",
                     "%s is divided as %s, and the ceilings known for this model hold for %s: nothing is set against "
                     "them; 'rooftile roofline' measures this part, or write a machine file with \"partition\": \"%s\" "
                     "and give it with --machine",
                     info->name, info->partition, model->partition, info->partition);
        else
            log_warn(
                "W008",
                "%s has %u compute units, and the ceilings known for PCI id %s are those of %s with %u: nothing is "
                "set against them; 'rooftile roofline' measures this device, or write a machine file and give it "
                "with --machine",
                info->name, info->cus, info->pci_id, model->title, model->cus);
    }
    return STATUS_OK;
}

enum status session_sheet(const struct machine **sheet, const struct device_info *info, struct arena *arena,
                          struct err *err)
{
    const struct session session = {.arena = arena, .info = *info};
    struct machine *model = arena_alloc(arena, sizeof(*model));
    enum machine_match nearest = MATCH_NO;
    const enum status status = find_by_pci_id(model, &nearest, &session, err);
    *sheet = !status && nearest == MATCH_YES ? model : NULL;
    return status;
}

void session_device_id(char out[static 512], const struct device_info *info)
{
    snprintf(out, 512, "%s|%s|%s|%u|%llu", info->backend, info->name, info->target, info->cus,
             (unsigned long long)(info->memory_bytes >> 28));
}

enum status session_machine_file(const char **path, const struct device_info *info, bool make, struct arena *arena,
                                 struct err *err)
{
    char id[512], *folder = NULL;
    session_device_id(id, info);
    enum status status = path_data_dir(&folder, make, arena, err);
    if (!status)
        *path = arena_printf(arena, "%s/machines/%s-%016llx.json", folder, info->backend,
                             (unsigned long long)hash_u64(id, strlen(id)));
    return status;
}

/* Whether a file has ceilings of the session's device rather than of another product. On sim, a `shipped` file must be
 * the session's own. */
static bool is_of_device(const struct machine *machine, const struct session *session, bool shipped)
{
    const struct device_info *info = &session->info;
    if (!info->arch[0] || !machine->arch[0]) /* without a device the file is only shown; a file may omit its target */
        return true;
    if (strcmp(machine->arch, info->arch) != 0)
        return false;
    return info->predicted ? !shipped || !strcmp(machine->name, session->machine.name)
                           : !info->pci_id[0] || !machine->pci_id_count || has_id(machine, info->pci_id);
}

static enum status refuse_machine(const struct machine *machine, const struct session *session, struct err *err)
{
    const struct cli_options *options = session->options;
    SCOPED(text_release) struct text meant = {0};
    text_addf(&meant, "rooftile %s", options->command);
    for (size_t k = 0; k < options->arg_count; k++)
        text_addf(&meant, " %s", options->args[k]);
    for (size_t k = 0; k < options->set_count; k++)
        text_addf(&meant, " --set %s", options->sets[k]);
    return err_set(err, ERR_USAGE,
                   "--machine %s: these are ceilings of %s (%s), and the device is %s (%s); for a prediction: '%s "
                   "--device sim:%s'",
                   options->machine, machine->title, machine->arch, session->info.name, session->info.arch, meant.data,
                   options->machine);
}

static enum status take_named(struct session *session, const char *name, struct err *err)
{
    const char *path = machine_file(name, session->arena);
    struct machine *found = arena_alloc(session->arena, sizeof(*found));
    if (!path)
        return session_unknown_machine(name, session->arena, err);
    if (machine_read(found, path, err))
        return argument_explain(err, path, "a machine file", session->arena);
    if (!is_of_device(found, session, path != name))
        return refuse_machine(found, session, err);
    session->machine = *found;
    return STATUS_OK;
}

static enum status find_machine(struct session *session, struct err *err)
{
    char id[512];
    if (session->options->machine)
        return take_named(session, session->options->machine, err);
    if (session->info.predicted)
        return STATUS_OK; /* the device was made from it */
    const char *saved = NULL;
    if (session_machine_file(&saved, &session->info, false, session->arena, err))
        return err->status;
    session_device_id(id, &session->info);
    if (file_exists(saved)) {
        if (machine_read(&session->machine, saved, err))
            return err_within(err, "the saved ceilings (remove the file or run 'rooftile roofline' again)");
        if (!strcmp(session->machine.device_id, id))
            return take_model(session, true, err);
    }
    memset(&session->machine, 0, sizeof(session->machine));
    enum status status = take_model(session, false, err);
    if (!status && !session->machine.path[0])
        snprintf(session->machine.title, sizeof(session->machine.title), "%s", session->info.name);
    return status;
}

/* ---- sim ---- */

/* Same order of magnitude as published times for an empty kernel on Instinct cards (2 to 9 us). */
static const double assumed_launch_ns = 4000;

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
        const double own = machine_level_own_bytes(machine, &machine->levels[k]);
        snprintf(cache->name, sizeof(cache->name), "%.7s", machine->levels[k].name);
        cache->size_bytes = (uint64_t)own;
        cache->instances = (uint32_t)round(machine->levels[k].capacity_bytes / own);
    }
}

enum status session_model(struct machine *machine, struct device_info *info, const char *model, struct arena *arena,
                          struct err *err)
{
    const char *path = machine_file(model, arena);
    if (!path)
        return session_unknown_machine(model, arena, err);
    if (machine_read(machine, path, err))
        return argument_explain(err, path, "a machine file", arena);
    if (machine->launch_ns <= 0) {
        machine->launch_ns = assumed_launch_ns;
        snprintf(machine->launch_source, sizeof(machine->launch_source),
                 "assumed: no launch time of this model is known");
    }
    facts_of_machine(info, machine);
    return STATUS_OK;
}

enum status session_known_machine(struct machine **machine, const char *name, struct arena *arena, struct err *err)
{
    const char *path = machine_file(name, arena);
    struct machine_borrowed borrowed = {0};
    *machine = NULL;
    if (!path)
        return STATUS_OK;
    struct machine *found = arena_alloc(arena, sizeof(*found));
    enum status status = machine_read(found, path, err);
    if (!status)
        status = machine_complete(found, session_config(arena, "", "machines"), &borrowed, err);
    *machine = status ? NULL : found;
    return status;
}

/* ---- a target without a device ---- */

/* Sets the minimum facts of a target for planning without a device. */
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

/* Finds the machine of this target whose number of compute units is nearest to `cus`. *found is NULL if no file
 * describes one. */
static enum status find_by_target(const struct machine **found, const char *arch, uint32_t cus, struct arena *arena,
                                  struct err *err)
{
    char **paths = NULL;
    size_t count = 0;
    struct machine *machine = arena_alloc(arena, sizeof(*machine)), *nearest = arena_alloc(arena, sizeof(*nearest));
    enum status status = session_configs(&paths, &count, "machines", ".json", arena, err);
    *found = NULL;
    for (size_t k = 0; k < count && !status; k++) {
        status = machine_read(machine, paths[k], err);
        if (status || strcmp(machine->arch, arch) != 0 ||
            (*found && fabs((double)machine->cus - cus) >= fabs((double)nearest->cus - cus)))
            continue;
        *nearest = *machine;
        *found = nearest;
    }
    return status;
}

enum status session_target(struct session *session, const char *arch, struct err *err)
{
    const struct machine *machine = NULL;
    family_facts(&session->info, arch);
    memset(&session->machine, 0, sizeof(session->machine));
    if (find_by_target(&machine, arch, UINT32_MAX, session->arena, err)) /* the largest */
        return err->status;
    if (machine) {
        session->machine = *machine;
        session->info.cus = machine->cus ? machine->cus : session->info.cus;
        session->info.memory_bytes = (uint64_t)machine->memory_bytes;
    }
    session->facts = run_device_facts(&session->info);
    run_facts_know(&session->facts, &session->info, machine, NULL, session->arena);
    return session_reference_target(session, err);
}

enum status session_machine(struct session *session, struct err *err)
{
    const struct machine *like = NULL;
    if (find_machine(session, err) ||
        (session->machine.level_count < 2 &&
         find_by_target(&like, session->info.arch, session->info.cus, session->arena, err)))
        return err->status;
    run_facts_know(&session->facts, &session->info, &session->machine, like, session->arena);
    return STATUS_OK;
}
