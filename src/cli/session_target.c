/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "rooftile/file.h"
#include "rooftile/occupancy.h"
#include "rooftile/targets.h"
#include "session.h"

bool session_is_helper(const struct manifest *manifest)
{
    bool service = false;
    for (size_t k = 0; k < manifest->tag_count; k++)
        service = service || !strcmp(manifest->tags[k], "service");
    return service || text_ends(manifest->name, "_oracle");
}

enum status session_all_kernels(struct session *session, bool helpers, struct err *err)
{
    const char **names = arena_array(session->arena, session->catalog.count + 1, sizeof(*names));
    const struct suite **suites = arena_array(session->arena, 1, sizeof(*suites));
    struct measure_options measure;
    size_t count = 0;
    for (size_t k = 0; k < session->catalog.count; k++)
        if (helpers || !session_is_helper(session->catalog.manifests[k]))
            names[count++] = session->catalog.manifests[k]->name;
    if (!count)
        return err_set(err, ERR_CONFIG, "there is no kernel in %s",
                       session->catalog.dir_count ? session->catalog.dirs[0] : "any folder");
    measure_defaults(&measure);
    enum status status = suite_from_kernels(&suites[0], names, count, &measure, session->arena, err);
    session->suites = suites;
    session->suite_count = 1;
    return status;
}

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
    char *config = catalog_config_dir(session->arena);
    family_facts(&session->info, arch);
    memset(&session->machine, 0, sizeof(session->machine));
    enum status status =
        config ? file_list(&paths, &count, path_join(session->arena, config, "machines"), ".json", session->arena, err)
               : STATUS_OK;
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
    return status ? status : session_oracle_target(session, err);
}
