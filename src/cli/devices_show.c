/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "devices.h"
#include "layout.h"
#include "rooftile/json_out.h"
#include "rooftile/units.h"

#define ID_COLUMN 18u

static void add_caches(struct text *out, const struct device_info *info)
{
    char size[UNITS_TEXT];
    for (uint32_t k = 0; k < info->cache_count; k++) {
        const struct device_cache *cache = &info->caches[k];
        text_addf(out, ", %s %s", cache->name, units_bytes(size, (double)cache->size_bytes));
        if (cache->instances > 1)
            text_addf(out, " x %u", cache->instances);
    }
}

/* One sentence of facts; unknown ones are left out. */
static void add_facts(struct text *out, const struct listed_device *device)
{
    const struct device_info *info = &device->info;
    char unit[UNITS_TEXT];
    text_addf(out, "%s: %s", info->name, info->arch);
    if (info->cus)
        text_addf(out, ", %u %s", info->cus, strcmp(info->backend, "cpu") ? "CUs" : info->cus > 1 ? "cores" : "core");
    if (info->partition[0])
        text_addf(out, ", mode %s", info->partition);
    if (info->core_hz > 0)
        text_addf(out, ", %s", units_hz(unit, info->core_hz));
    text_addf(out, ", wave %u", info->wave);
    add_caches(out, info);
    if (info->memory_bytes)
        text_addf(out, ", memory %s", units_bytes(unit, (double)info->memory_bytes));
    if (device->bandwidth > 0)
        text_addf(out, " at %s", units_rate(unit, device->bandwidth, "B/s"));
    if (info->note[0] && !info->predicted)
        text_addf(out, "; %s", info->note);
}

static void device_line(struct text *out, const struct listed_device *device, unsigned columns)
{
    struct text facts = {0};
    if (device->problem)
        text_addf(&facts, "cannot be used: %s", device->problem);
    else
        add_facts(&facts, device);
    layout_item(out, 2, ID_COLUMN, columns, device->id, facts.data);
    text_release(&facts);
}

void devices_text(struct text *out, const struct device_list *list, unsigned columns, bool color)
{
    for (size_t k = 0; k < list->backend_count; k++) {
        const struct listed_backend *backend = &list->backends[k];
        text_add(out, k ? "\n" : "");
        layout_heading(out, backend->ops->name, color);
        layout_paragraph(out, backend->ops->summary, 2, columns);
        if (backend->why_off)
            layout_item(out, 2, ID_COLUMN, columns, "off", backend->why_off);
        for (size_t d = 0; d < backend->device_count; d++)
            device_line(out, &backend->devices[d], columns);
    }
    if (list->default_id)
        text_addf(out, "\nWithout --device: %s\n", list->default_id);
    else
        text_add(out, "\nWithout --device nothing can run.\n");
}

/* ---- JSON ---- */

/* A fact that is unknown is null. */
static void known_string(struct json_out *out, const char *key, const char *value)
{
    json_out_string(out, key, value[0] ? value : NULL);
}

static void known_number(struct json_out *out, const char *key, double value)
{
    if (value > 0)
        json_out_number(out, key, value);
    else
        json_out_null(out, key);
}

static void device_json(struct json_out *out, const struct listed_device *device)
{
    const struct device_info *info = &device->info;
    json_out_object(out, NULL);
    json_out_string(out, "id", device->id);
    json_out_string(out, "problem", device->problem);
    if (!device->problem) {
        known_string(out, "name", info->name);
        known_string(out, "arch", info->arch);
        known_string(out, "target", info->target);
        known_string(out, "pci_bdf", info->pci_bdf);
        known_string(out, "pci_id", info->pci_id);
        known_string(out, "partition", info->partition);
        known_string(out, "driver", info->driver);
        json_out_bool(out, "predicted", info->predicted);
        json_out_u64(out, "wave", info->wave);
        known_number(out, "cus", info->cus);
        known_number(out, "max_block", info->max_block);
        known_number(out, "lds_bytes", (double)info->lds_bytes);
        known_number(out, "memory_bytes", (double)info->memory_bytes);
        known_number(out, "memory_bandwidth", device->bandwidth);
        known_number(out, "core_hz", info->core_hz);
        json_out_array(out, "caches");
        for (uint32_t k = 0; k < info->cache_count; k++) {
            json_out_object(out, NULL);
            json_out_string(out, "name", info->caches[k].name);
            json_out_u64(out, "size_bytes", info->caches[k].size_bytes);
            known_number(out, "line_bytes", info->caches[k].line_bytes);
            json_out_u64(out, "instances", info->caches[k].instances);
            json_out_end(out);
        }
        json_out_end(out);
        known_string(out, "note", info->note);
    }
    json_out_end(out);
}

void devices_json(struct text *out, const struct device_list *list)
{
    struct json_out *json = json_out_new();
    json_out_string(json, "default", list->default_id);
    json_out_string(json, "default_reason", list->default_reason);
    json_out_array(json, "backends");
    for (size_t k = 0; k < list->backend_count; k++) {
        const struct listed_backend *backend = &list->backends[k];
        json_out_object(json, NULL);
        json_out_string(json, "name", backend->ops->name);
        json_out_string(json, "summary", backend->ops->summary);
        json_out_bool(json, "available", !backend->why_off);
        json_out_string(json, "reason", backend->why_off);
        json_out_array(json, "devices");
        for (size_t d = 0; d < backend->device_count; d++)
            device_json(json, &backend->devices[d]);
        json_out_end(json);
        json_out_end(json);
    }
    json_out_end(json);
    json_out_finish(json, out, true);
    text_add(out, "\n");
    json_out_free(json);
}
