/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "machine_json.h"

enum status check_keys(const struct json *json, const char *const *keys, size_t count, bool open, struct err *err)
{
    if (open && json->type == JSON_OBJECT)
        return STATUS_OK;
    return json_check_keys(json, keys, count, err);
}

enum status get_text(char *out, size_t size, const struct json *json, const char *key, enum json_need need,
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

enum status get_positive(double *out, const struct json *json, const char *key, struct err *err)
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

enum status get_sourced(double *value, char *source, size_t size, double *confidence, const struct json *parent,
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

/* A positive number that may be absent. */
static enum status get_known(double *out, const struct json *json, const char *key, struct err *err)
{
    return json_member(json, key) ? get_positive(out, json, key, err) : STATUS_OK;
}

static enum status get_level(struct machine_level *level, const struct json *json, bool open, struct err *err)
{
    static const char *const keys[] = {
        "name", "capacity_bytes", "capacity_low_bytes", "bandwidth", "latency_ns", "read", "write", "copy", "triad"};
    enum status status = check_keys(json, keys, COUNT(keys), open, err);
    if (!status)
        status = get_text(level->name, sizeof(level->name), json, "name", JSON_REQUIRED, err);
    if (!status)
        status = get_sourced(&level->capacity_bytes, level->capacity_source, sizeof(level->capacity_source),
                             &level->capacity_confidence, json, "capacity_bytes", open, err);
    if (!status)
        status = get_known(&level->capacity_low_bytes, json, "capacity_low_bytes", err);
    if (!status)
        status = get_ceiling(&level->bandwidth, json, "bandwidth", open, err);
    for (enum machine_traffic kind = 0; kind < TRAFFIC_COUNT && !status; kind++)
        status = get_ceiling(&level->traffic[kind], json, machine_traffic_name(kind), open, err);
    if (!status)
        status = get_sourced(&level->latency_ns, level->latency_source, sizeof(level->latency_source), NULL, json,
                             "latency_ns", open, err);
    return status;
}

static enum status get_unit(struct machine_unit *unit, const struct json *json, bool open, struct err *err)
{
    static const char *const keys[] = {"name", "peak", "clock_hz", "held_hz"};
    enum status status = check_keys(json, keys, COUNT(keys), open, err);
    if (!status)
        status = get_text(unit->name, sizeof(unit->name), json, "name", JSON_REQUIRED, err);
    if (!status)
        status = get_ceiling(&unit->peak, json, "peak", open, err);
    if (!status)
        status = get_known(&unit->clock_hz, json, "clock_hz", err);
    if (!status)
        status = get_known(&unit->held_hz, json, "held_hz", err);
    return status;
}

static enum status get_instances(struct machine_latency *latency, const struct json *json, struct err *err)
{
    double instances = 0;
    const enum status status = get_known(&instances, json, "instances", err);
    if (status)
        return status;
    if (instances != floor(instances) || instances > UINT32_MAX)
        return json_fail(json_member(json, "instances"), err, "must be a whole number below 2^32");
    latency->instances = (uint32_t)instances;
    return STATUS_OK;
}

static enum status get_latency(struct machine_latency *latency, const struct json *json, bool open, struct err *err)
{
    static const char *const keys[] = {"upto_bytes", "beyond_bytes", "confidence", "level",
                                       "instances",  "latency_ns",   "ci_rel"};
    enum status status = check_keys(json, keys, COUNT(keys), open, err);
    if (!status)
        status = get_known(&latency->upto_bytes, json, "upto_bytes", err);
    if (!status)
        status = get_known(&latency->beyond_bytes, json, "beyond_bytes", err);
    if (!status)
        status = get_share(&latency->confidence, json, "confidence", err);
    if (!status)
        status = get_text(latency->level, sizeof(latency->level), json, "level", JSON_OPTIONAL, err);
    if (!status)
        status = get_instances(latency, json, err);
    if (!status)
        status = get_share(&latency->ci_rel, json, "ci_rel", err);
    if (!status)
        status = get_sourced(&latency->latency_ns, latency->source, sizeof(latency->source), NULL, json, "latency_ns",
                             open, err);
    return status;
}

static enum status get_figure(struct machine_figure *figure, const struct json *json, bool open, struct err *err)
{
    static const char *const keys[] = {"name", "value", "unit", "ci_rel", "source"};
    enum status status = check_keys(json, keys, COUNT(keys), open, err);
    if (!status)
        status = get_text(figure->name, sizeof(figure->name), json, "name", JSON_REQUIRED, err);
    if (!status)
        status = get_positive(&figure->value, json, "value", err);
    if (!status)
        status = get_text(figure->unit, sizeof(figure->unit), json, "unit", JSON_REQUIRED, err);
    if (!status)
        status = get_share(&figure->ci_rel, json, "ci_rel", err);
    if (!status)
        status = get_text(figure->source, sizeof(figure->source), json, "source", JSON_REQUIRED, err);
    return status;
}

/* An array that has at most so many elements; an empty list when it is absent. */
static enum status get_list(const struct json **first, const struct json *json, const char *key, enum json_need need,
                            size_t most, struct err *err)
{
    const struct json *list = NULL;
    const enum status status = json_get_array(&list, json, key, need, err);
    *first = NULL;
    if (status || !list)
        return status;
    if (list->count > most)
        return json_fail(list, err, "has %zu elements, at most %zu are possible", list->count, most);
    *first = list->first;
    return STATUS_OK;
}

enum status get_lists(struct machine *machine, const struct json *json, bool open, struct err *err)
{
    const struct json *levels, *units = NULL, *latencies = NULL, *figures = NULL;
    enum status status = get_list(&levels, json, "levels", JSON_REQUIRED, MACHINE_MAX_LEVELS, err);
    if (!status)
        status = get_list(&units, json, "units", JSON_OPTIONAL, MACHINE_MAX_UNITS, err);
    if (!status)
        status = get_list(&latencies, json, "latencies", JSON_OPTIONAL, MACHINE_MAX_LEVELS, err);
    if (!status)
        status = get_list(&figures, json, "figures", JSON_OPTIONAL, MACHINE_MAX_FIGURES, err);
    for (; levels && !status; levels = levels->next)
        status = get_level(&machine->levels[machine->level_count++], levels, open, err);
    for (; units && !status; units = units->next)
        status = get_unit(&machine->units[machine->unit_count++], units, open, err);
    for (; latencies && !status; latencies = latencies->next)
        status = get_latency(&machine->latencies[machine->latency_count++], latencies, open, err);
    for (; figures && !status; figures = figures->next)
        status = get_figure(&machine->figures[machine->figure_count++], figures, open, err);
    return status;
}
