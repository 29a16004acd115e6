/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "machine_json.h"

const struct machine_fact machine_facts[MACHINE_FACTS] = {
    {"cus", offsetof(struct machine, cus), true},
    {"xccs", offsetof(struct machine, xccs), true},
    {"wave", offsetof(struct machine, wave), true},
    {"simds_per_cu", offsetof(struct machine, simds_per_cu), true},
    {"max_block", offsetof(struct machine, max_block), true},
    {"lds_bytes_per_cu", offsetof(struct machine, lds_bytes_per_cu), false},
    {"memory_bytes", offsetof(struct machine, memory_bytes), false},
    {"core_hz", offsetof(struct machine, core_hz), false},
    {"memory_hz", offsetof(struct machine, memory_hz), false},
};

/* A plain number, or { "value": v, "source": "..." }. */
static enum status get_fact(double *value, const struct json *parent, const char *key, bool open, struct err *err)
{
    const struct json *json = json_member(parent, key);
    char source[512] = "";
    if (!json)
        return STATUS_OK;
    if (json->type == JSON_NUMBER)
        return get_positive(value, parent, key, err);
    return get_sourced(value, source, sizeof(source), NULL, parent, key, open, err);
}

static enum status get_facts(struct machine *machine, const struct json *root, bool open, struct err *err)
{
    const char *keys[MACHINE_FACTS];
    const struct json *json = NULL;
    enum status status = json_get_object(&json, root, "facts", JSON_OPTIONAL, err);
    if (status || !json)
        return status;
    for (size_t k = 0; k < MACHINE_FACTS; k++)
        keys[k] = machine_facts[k].key;
    status = check_keys(json, keys, COUNT(keys), open, err);
    for (size_t k = 0; k < MACHINE_FACTS && !status; k++) {
        double value = 0;
        status = get_fact(&value, json, machine_facts[k].key, open, err);
        if (status || !machine_facts[k].whole) {
            memcpy((char *)machine + machine_facts[k].offset, &value, sizeof(value));
            continue;
        }
        if (value != floor(value) || value > UINT32_MAX)
            return json_fail(json_member(json, machine_facts[k].key), err, "must be a whole number below 2^32");
        const uint32_t whole = (uint32_t)value;
        memcpy((char *)machine + machine_facts[k].offset, &whole, sizeof(whole));
    }
    return status;
}

static enum status get_pci_ids(struct machine *machine, const struct json *root, struct err *err)
{
    const struct json *ids = NULL;
    const enum status status = json_get_array(&ids, root, "pci_ids", JSON_OPTIONAL, err);
    if (status || !ids)
        return status;
    if (ids->count > COUNT(machine->pci_ids))
        return json_fail(ids, err, "has %zu entries, at most %zu are possible", ids->count, COUNT(machine->pci_ids));
    for (const struct json *id = ids->first; id; id = id->next) {
        if (id->type != JSON_STRING || strlen(id->string) >= sizeof(machine->pci_ids[0]))
            return json_fail(id, err, "must be a string such as \"1002:74a1\"");
        snprintf(machine->pci_ids[machine->pci_id_count++], sizeof(machine->pci_ids[0]), "%s", id->string);
    }
    return STATUS_OK;
}

static enum status get_head(struct machine *machine, const struct json *json, struct err *err)
{
    char kind[16] = "claimed";
    enum status status = get_text(machine->name, sizeof(machine->name), json, "name", JSON_REQUIRED, err);
    if (!status)
        status = get_text(machine->title, sizeof(machine->title), json, "title", JSON_OPTIONAL, err);
    if (!status)
        status = get_text(machine->arch, sizeof(machine->arch), json, "arch", JSON_OPTIONAL, err);
    if (!status)
        status = get_text(machine->partition, sizeof(machine->partition), json, "partition", JSON_OPTIONAL, err);
    if (!status)
        status = get_text(machine->device_id, sizeof(machine->device_id), json, "device_id", JSON_OPTIONAL, err);
    if (!status)
        status = get_text(machine->measured_at, sizeof(machine->measured_at), json, "measured_at", JSON_OPTIONAL, err);
    if (!status)
        status = get_text(kind, sizeof(kind), json, "kind", JSON_OPTIONAL, err);
    if (status)
        return status;
    machine->measured = strcmp(kind, "measured") == 0;
    if (!machine->measured && strcmp(kind, "claimed") != 0)
        return json_fail(json_member(json, "kind"), err, "must be \"claimed\" or \"measured\"");
    return STATUS_OK;
}

enum status machine_from_json(struct machine *machine, const struct json *json, bool open, struct err *err)
{
    static const char *const keys[] = {"name",        "title", "arch",      "kind",      "device_id",
                                       "measured_at", "notes", "pci_ids",   "partition", "facts",
                                       "levels",      "units", "latencies", "figures",   "launch_ns"};
    struct machine read = {0};
    enum status status = check_keys(json, keys, COUNT(keys), open, err);
    if (!status)
        status = get_head(&read, json, err);
    if (!status)
        status = get_pci_ids(&read, json, err);
    if (!status)
        status = get_facts(&read, json, open, err);
    if (!status)
        status = get_lists(&read, json, open, err);
    if (!status)
        status = get_sourced(&read.launch_ns, read.launch_source, sizeof(read.launch_source), NULL, json, "launch_ns",
                             open, err);
    if (status)
        return status;
    const char *problem = machine_problem(&read);
    if (problem)
        return json_fail(json, err, "%s", problem);
    *machine = read;
    return STATUS_OK;
}
