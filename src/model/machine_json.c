/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "rooftile/json.h"
#include "rooftile/json_out.h"
#include "rooftile/machine.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Numbers of struct machine that stand under "facts". */
static const struct {
    const char *key;
    size_t offset;
    bool whole; /* a uint32_t, else a double */
} facts[] = {
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

static enum status check_keys(const struct json *json, const char *const *keys, size_t count, bool open, struct err *err)
{
    if (open && json->type == JSON_OBJECT)
        return STATUS_OK;
    return json_check_keys(json, keys, count, err);
}

static enum status get_text(char *out, size_t size, const struct json *json, const char *key, enum json_need need,
                            struct err *err)
{
    const char *string = NULL;
    const enum status status = json_get_string(&string, json, key, need, err);
    if (status || !string)
        return status;
    if (strlen(string) >= size)
        return json_fail(json_member(json, key), err, "must be shorter than %zu bytes", size);
    snprintf(out, size, "%s", string);
    return STATUS_OK;
}

/* A positive number. */
static enum status get_positive(double *out, const struct json *json, const char *key, struct err *err)
{
    double value = 0;
    const enum status status = json_get_number(&value, json, key, JSON_REQUIRED, err);
    if (status)
        return status;
    if (value <= 0)
        return json_fail(json_member(json, key), err, "must be above 0, not %.17g", value);
    *out = value;
    return STATUS_OK;
}

/* 0..1, such as an interval or a confidence. */
static enum status get_share(double *out, const struct json *json, const char *key, struct err *err)
{
    double value = *out;
    const enum status status = json_get_number(&value, json, key, JSON_OPTIONAL, err);
    if (status)
        return status;
    if (value < 0 || value > 1)
        return json_fail(json_member(json, key), err, "must be from 0 to 1, not %.17g", value);
    *out = value;
    return STATUS_OK;
}

/* { "value": v, "source": "..." }, absent = unknown. `confidence` may be NULL: the key is then unknown. */
static enum status get_sourced(double *value, char *source, size_t size, double *confidence, const struct json *parent,
                               const char *key, bool open, struct err *err)
{
    static const char *const keys[] = {"value", "source", "confidence"};
    const struct json *json = NULL;
    enum status status = json_get_object(&json, parent, key, JSON_OPTIONAL, err);
    if (status || !json)
        return status;
    status = check_keys(json, keys, confidence ? COUNT(keys) : COUNT(keys) - 1, open, err);
    if (!status)
        status = get_positive(value, json, "value", err);
    if (!status)
        status = get_text(source, size, json, "source", JSON_REQUIRED, err);
    if (!status && confidence) {
        *confidence = 1;
        status = get_share(confidence, json, "confidence", err);
    }
    return status;
}

static enum status get_measured(struct ceiling *ceiling, const struct json *parent, bool open, struct err *err)
{
    static const char *const keys[] = {"value", "by", "ci_rel", "raised"};
    const struct json *json = NULL;
    enum status status = json_get_object(&json, parent, "measured", JSON_OPTIONAL, err);
    if (status || !json)
        return status;
    status = check_keys(json, keys, COUNT(keys), open, err);
    if (!status)
        status = get_positive(&ceiling->measured, json, "value", err);
    if (!status)
        status = get_text(ceiling->measured_by, sizeof(ceiling->measured_by), json, "by", JSON_REQUIRED, err);
    if (!status)
        status = get_share(&ceiling->ci_rel, json, "ci_rel", err);
    if (!status)
        status = json_get_bool(&ceiling->raised, json, "raised", JSON_OPTIONAL, err);
    return status;
}

static enum status get_ceiling(struct ceiling *ceiling, const struct json *parent, const char *key, bool open,
                               struct err *err)
{
    static const char *const keys[] = {"claimed", "measured"};
    const struct json *json = NULL;
    enum status status = json_get_object(&json, parent, key, JSON_OPTIONAL, err);
    if (status || !json)
        return status;
    status = check_keys(json, keys, COUNT(keys), open, err);
    if (!status)
        status = get_sourced(&ceiling->claimed, ceiling->claimed_source, sizeof(ceiling->claimed_source), NULL, json,
                             "claimed", open, err);
    if (!status)
        status = get_measured(ceiling, json, open, err);
    return status;
}

static enum status get_level(struct machine_level *level, const struct json *json, bool open, struct err *err)
{
    static const char *const keys[] = {"name", "capacity_bytes", "bandwidth", "latency_ns"};
    enum status status = check_keys(json, keys, COUNT(keys), open, err);
    if (!status)
        status = get_text(level->name, sizeof(level->name), json, "name", JSON_REQUIRED, err);
    if (!status)
        status = get_sourced(&level->capacity_bytes, level->capacity_source, sizeof(level->capacity_source),
                             &level->capacity_confidence, json, "capacity_bytes", open, err);
    if (!status)
        status = get_ceiling(&level->bandwidth, json, "bandwidth", open, err);
    if (!status)
        status = get_sourced(&level->latency_ns, level->latency_source, sizeof(level->latency_source), NULL, json,
                             "latency_ns", open, err);
    return status;
}

static enum status get_unit(struct machine_unit *unit, const struct json *json, bool open, struct err *err)
{
    static const char *const keys[] = {"name", "peak", "clock_hz"};
    enum status status = check_keys(json, keys, COUNT(keys), open, err);
    if (!status)
        status = get_text(unit->name, sizeof(unit->name), json, "name", JSON_REQUIRED, err);
    if (!status)
        status = get_ceiling(&unit->peak, json, "peak", open, err);
    if (!status && json_member(json, "clock_hz"))
        status = get_positive(&unit->clock_hz, json, "clock_hz", err);
    return status;
}

static enum status get_lists(struct machine *machine, const struct json *json, bool open, struct err *err)
{
    const struct json *levels = NULL, *units = NULL;
    enum status status = json_get_array(&levels, json, "levels", JSON_REQUIRED, err);
    if (!status)
        status = json_get_array(&units, json, "units", JSON_OPTIONAL, err);
    if (status)
        return status;
    if (levels->count > MACHINE_MAX_LEVELS)
        return json_fail(levels, err, "has %zu levels, at most %d are possible", levels->count, MACHINE_MAX_LEVELS);
    if (units && units->count > MACHINE_MAX_UNITS)
        return json_fail(units, err, "has %zu units, at most %d are possible", units->count, MACHINE_MAX_UNITS);
    for (const struct json *level = levels->first; level && !status; level = level->next)
        status = get_level(&machine->levels[machine->level_count++], level, open, err);
    for (const struct json *unit = units ? units->first : NULL; unit && !status; unit = unit->next)
        status = get_unit(&machine->units[machine->unit_count++], unit, open, err);
    return status;
}

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
    const char *keys[COUNT(facts)];
    const struct json *json = NULL;
    enum status status = json_get_object(&json, root, "facts", JSON_OPTIONAL, err);
    if (status || !json)
        return status;
    for (size_t k = 0; k < COUNT(facts); k++)
        keys[k] = facts[k].key;
    status = check_keys(json, keys, COUNT(keys), open, err);
    for (size_t k = 0; k < COUNT(facts) && !status; k++) {
        double value = 0;
        status = get_fact(&value, json, facts[k].key, open, err);
        if (status || !facts[k].whole) {
            memcpy((char *)machine + facts[k].offset, &value, sizeof(value));
            continue;
        }
        if (value != floor(value) || value > UINT32_MAX)
            return json_fail(json_member(json, facts[k].key), err, "must be a whole number below 2^32");
        const uint32_t whole = (uint32_t)value;
        memcpy((char *)machine + facts[k].offset, &whole, sizeof(whole));
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
    static const char *const keys[] = {"name",  "title",  "arch",  "kind",      "device_id", "measured_at", "notes", "pci_ids", "partition",
                                       "facts", "levels", "units", "launch_ns"};
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

/* ---- out ---- */

static void put_text(struct json_out *out, const char *key, const char *value)
{
    if (value[0])
        json_out_string(out, key, value);
}

static void put_sourced(struct json_out *out, const char *key, double value, const char *source, double confidence)
{
    if (value <= 0)
        return;
    json_out_object(out, key);
    json_out_number(out, "value", value);
    json_out_string(out, "source", source);
    if (confidence < 1)
        json_out_number(out, "confidence", confidence);
    json_out_end(out);
}

static void put_ceiling(struct json_out *out, const char *key, const struct ceiling *ceiling)
{
    if (ceiling->claimed <= 0 && ceiling->measured <= 0)
        return;
    json_out_object(out, key);
    put_sourced(out, "claimed", ceiling->claimed, ceiling->claimed_source, 1);
    if (ceiling->measured > 0) {
        json_out_object(out, "measured");
        json_out_number(out, "value", ceiling->measured);
        json_out_string(out, "by", ceiling->measured_by);
        json_out_number(out, "ci_rel", ceiling->ci_rel);
        if (ceiling->raised)
            json_out_bool(out, "raised", true);
        json_out_end(out);
    }
    json_out_end(out);
}

static void put_facts(struct json_out *out, const struct machine *machine)
{
    json_out_object(out, "facts");
    for (size_t k = 0; k < COUNT(facts); k++) {
        double value;
        uint32_t whole;
        memcpy(&whole, (const char *)machine + facts[k].offset, sizeof(whole));
        if (facts[k].whole)
            value = whole;
        else
            memcpy(&value, (const char *)machine + facts[k].offset, sizeof(value));
        if (value > 0)
            json_out_number(out, facts[k].key, value);
    }
    json_out_end(out);
}

static void put_lists(struct json_out *out, const struct machine *machine)
{
    json_out_array(out, "levels");
    for (uint32_t k = 0; k < machine->level_count; k++) {
        const struct machine_level *level = &machine->levels[k];
        json_out_object(out, NULL);
        json_out_string(out, "name", level->name);
        put_sourced(out, "capacity_bytes", level->capacity_bytes, level->capacity_source, level->capacity_confidence);
        put_ceiling(out, "bandwidth", &level->bandwidth);
        put_sourced(out, "latency_ns", level->latency_ns, level->latency_source, 1);
        json_out_end(out);
    }
    json_out_end(out);
    json_out_array(out, "units");
    for (uint32_t k = 0; k < machine->unit_count; k++) {
        json_out_object(out, NULL);
        json_out_string(out, "name", machine->units[k].name);
        put_ceiling(out, "peak", &machine->units[k].peak);
        if (machine->units[k].clock_hz > 0)
            json_out_number(out, "clock_hz", machine->units[k].clock_hz);
        json_out_end(out);
    }
    json_out_end(out);
}

void machine_json(struct json_out *out, const struct machine *machine)
{
    json_out_string(out, "name", machine->name);
    put_text(out, "title", machine->title);
    put_text(out, "arch", machine->arch);
    json_out_string(out, "kind", machine->measured ? "measured" : "claimed");
    put_text(out, "device_id", machine->device_id);
    put_text(out, "measured_at", machine->measured_at);
    if (machine->pci_id_count) {
        json_out_array(out, "pci_ids");
        for (uint32_t k = 0; k < machine->pci_id_count; k++)
            json_out_string(out, NULL, machine->pci_ids[k]);
        json_out_end(out);
    }
    put_text(out, "partition", machine->partition);
    put_facts(out, machine);
    put_lists(out, machine);
    put_sourced(out, "launch_ns", machine->launch_ns, machine->launch_source, 1);
}
