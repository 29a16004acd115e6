/* SPDX-License-Identifier: MIT
 *
 * Drift: facts of which some devices have another value than most of their model.
 */

#include "fleet_internal.h"

#define NAMED 4 /* devices by name; the rest by number */

static int by_count(const void *a, const void *b)
{
    const struct fleet_drift *x = a, *y = b;
    return ORDER(y->count, x->count) ?: strcmp(x->value, y->value);
}

static bool is_of(const struct fleet *fleet, const struct fleet_device *device, const char *model)
{
    return !strcmp(fleet->groups[device->group].model, model);
}

static void look_at(struct fleet *fleet, const char *model, const char *key)
{
    struct fleet_drift *held = NULL;
    size_t count = 0;
    FOR_EACH(const struct fleet_device, device, fleet->devices, fleet->device_count) {
        const struct fleet_fact *fact = FIND_ROW(device->facts, device->fact_count, key, key);
        const char *value = fact ? fact->value : "";
        if (!is_of(fleet, device, model))
            continue;
        struct fleet_drift *one = FIND_ROW(held, count, value, value);
        if (!one) {
            ARENA_PUSH(fleet->arena, held, count, (struct fleet_drift){.key = key, .value = value, .devices = ""});
            one = &held[count - 1];
        }
        if (one->count++ < NAMED)
            one->devices = arena_printf(fleet->arena, "%s%s%s", one->devices, *one->devices ? ", " : "", device->name);
    }
    if (count > 1)
        qsort(held, count, sizeof(*held), by_count);
    for (size_t k = 1; k < count; k++) {
        held[k].majority = held[0].value;
        held[k].majority_count = held[0].count;
        if (held[k].count > NAMED)
            held[k].devices = arena_printf(fleet->arena, "%s and %zu more", held[k].devices, held[k].count - NAMED);
        ARENA_PUSH(fleet->arena, fleet->drifts, fleet->drift_count, held[k]);
    }
}

/* Every key that some device of a model has, once. */
void fleet_find_drift(struct fleet *fleet)
{
    for (size_t g = 0; g < fleet->group_count; g++) {
        const char *model = fleet->groups[g].model, **keys = NULL;
        size_t count = 0;
        if (FIND_ROW(fleet->groups, g, model, model))
            continue;
        FOR_EACH(const struct fleet_device, device, fleet->devices, fleet->device_count)
            for (size_t f = 1; f < device->fact_count && is_of(fleet, device, model); f++) {
                if (text_among(device->facts[f].key, keys, count))
                    continue;
                ARENA_PUSH(fleet->arena, keys, count, device->facts[f].key);
                look_at(fleet, model, device->facts[f].key);
            }
    }
}
