/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "machine_json.h"

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
    for (size_t k = 0; k < MACHINE_FACTS; k++) {
        double value;
        uint32_t whole;
        memcpy(&whole, (const char *)machine + machine_facts[k].offset, sizeof(whole));
        if (machine_facts[k].whole)
            value = whole;
        else
            memcpy(&value, (const char *)machine + machine_facts[k].offset, sizeof(value));
        if (value > 0)
            json_out_number(out, machine_facts[k].key, value);
    }
    json_out_end(out);
}

static void put_known(struct json_out *out, const char *key, double value)
{
    if (value > 0)
        json_out_number(out, key, value);
}

static void put_level(struct json_out *out, const struct machine_level *level)
{
    json_out_object(out, NULL);
    json_out_string(out, "name", level->name);
    put_sourced(out, "capacity_bytes", level->capacity_bytes, level->capacity_source, level->capacity_confidence);
    put_known(out, "capacity_low_bytes", level->capacity_low_bytes);
    put_ceiling(out, "bandwidth", &level->bandwidth);
    for (enum machine_traffic kind = 0; kind < TRAFFIC_COUNT; kind++)
        put_ceiling(out, machine_traffic_name(kind), &level->traffic[kind]);
    put_sourced(out, "latency_ns", level->latency_ns, level->latency_source, 1);
    json_out_end(out);
}

static void put_unit(struct json_out *out, const struct machine_unit *unit)
{
    json_out_object(out, NULL);
    json_out_string(out, "name", unit->name);
    put_ceiling(out, "peak", &unit->peak);
    put_known(out, "clock_hz", unit->clock_hz);
    put_known(out, "held_hz", unit->held_hz);
    json_out_end(out);
}

static void put_latency(struct json_out *out, const struct machine_latency *latency)
{
    json_out_object(out, NULL);
    put_known(out, "upto_bytes", latency->upto_bytes);
    put_known(out, "beyond_bytes", latency->beyond_bytes);
    put_known(out, "confidence", latency->confidence);
    put_text(out, "level", latency->level);
    put_known(out, "instances", latency->instances);
    put_sourced(out, "latency_ns", latency->latency_ns, latency->source, 1);
    json_out_number(out, "ci_rel", latency->ci_rel);
    json_out_end(out);
}

static void put_figure(struct json_out *out, const struct machine_figure *figure)
{
    json_out_object(out, NULL);
    json_out_string(out, "name", figure->name);
    json_out_number(out, "value", figure->value);
    json_out_string(out, "unit", figure->unit);
    put_known(out, "ci_rel", figure->ci_rel);
    json_out_string(out, "source", figure->source);
    json_out_end(out);
}

static void put_lists(struct json_out *out, const struct machine *machine)
{
    json_out_array(out, "levels");
    for (uint32_t k = 0; k < machine->level_count; k++)
        put_level(out, &machine->levels[k]);
    json_out_end(out);
    json_out_array(out, "units");
    for (uint32_t k = 0; k < machine->unit_count; k++)
        put_unit(out, &machine->units[k]);
    json_out_end(out);
    if (machine->latency_count) {
        json_out_array(out, "latencies");
        for (uint32_t k = 0; k < machine->latency_count; k++)
            put_latency(out, &machine->latencies[k]);
        json_out_end(out);
    }
    if (machine->figure_count) {
        json_out_array(out, "figures");
        for (uint32_t k = 0; k < machine->figure_count; k++)
            put_figure(out, &machine->figures[k]);
        json_out_end(out);
    }
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
