/* SPDX-License-Identifier: MIT */
#include "session_match.h"

#include <stdio.h>
#include <string.h>

#include "rooftile/file.h"

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
            "%s is divided as %s, and the roofs known for this model hold for %s: nothing is set against them; "
            "'rooftile roofline' measures this part, or write a machine file with \"partition\": \"%s\" and give it "
            "with --machine",
            info->name, info->partition, machine->partition, info->partition);
    else
        log_warn("W008",
                 "%s has %u compute units, and the roofs known for PCI id %s are those of %s with %u: nothing is set "
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
    char *dir = catalog_config_dir(session->arena);
    if (!dir || !session->info.pci_id[0] ||
        file_list(&paths, &count, path_join(session->arena, dir, "machines"), ".json", session->arena, err))
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
