/* SPDX-License-Identifier: MIT
 *
 * Drift: facts of which some devices have another value than most of their model.
 */

#include "fleet_internal.h"

#define NAMED 4 /* devices by name; the rest by number */

struct held {
    const char *value;
    size_t count;
    const char *names;
};

static const char *value_of(const struct fleet_device *device, const char *key)
{
    const struct fleet_fact *fact = FIND_ROW(device->facts, device->fact_count, key, key);
    return fact ? fact->value : "";
}

static int by_count(const void *a, const void *b)
{
    const struct held *x = a, *y = b;
    return ORDER(y->count, x->count) ?: strcmp(x->value, y->value);
}

static void hold(struct held **held, size_t *count, const struct fleet_device *device, const char *value,
                 struct arena *arena)
{
    size_t at = 0;
    while (at < *count && strcmp((*held)[at].value, value) != 0)
        at++;
    if (at == *count)
        ARENA_PUSH(arena, *held, *count, (struct held){value, 0, ""});
    struct held *one = &(*held)[at];
    if (one->count++ < NAMED)
        one->names = arena_printf(arena, "%s%s%s", one->names, *one->names ? ", " : "", device->name);
}

static void look_at(struct fleet *fleet, const char *model, const char *key)
{
    struct held *held = NULL;
    size_t count = 0;
    for (size_t k = 0; k < fleet->device_count; k++)
        if (!strcmp(fleet->groups[fleet->devices[k].group].model, model))
            hold(&held, &count, &fleet->devices[k], value_of(&fleet->devices[k], key), fleet->arena);
    if (count < 2)
        return;
    qsort(held, count, sizeof(*held), by_count);
    for (size_t k = 1; k < count; k++)
        ARENA_PUSH(fleet->arena, fleet->drifts, fleet->drift_count,
                   (struct fleet_drift){.key = key,
                                        .majority = held[0].value,
                                        .majority_count = held[0].count,
                                        .value = held[k].value,
                                        .count = held[k].count,
                                        .devices = held[k].count > NAMED
                                                       ? arena_printf(fleet->arena, "%s and %zu more", held[k].names,
                                                                      held[k].count - NAMED)
                                                       : held[k].names});
}

/* Every key that some device of the model has, once. */
static void look_at_model(struct fleet *fleet, const char *model)
{
    const char **keys = NULL;
    size_t count = 0;
    FOR_EACH(const struct fleet_device, device, fleet->devices, fleet->device_count) {
        if (strcmp(fleet->groups[device->group].model, model) != 0)
            continue;
        for (size_t f = 1; f < device->fact_count; f++) {
            size_t at = 0;
            while (at < count && strcmp(keys[at], device->facts[f].key) != 0)
                at++;
            if (at == count)
                ARENA_PUSH(fleet->arena, keys, count, device->facts[f].key);
        }
    }
    for (size_t k = 0; k < count; k++)
        look_at(fleet, model, keys[k]);
}

void fleet_find_drift(struct fleet *fleet)
{
    for (size_t g = 0; g < fleet->group_count; g++) {
        size_t before = 0;
        while (before < g && strcmp(fleet->groups[before].model, fleet->groups[g].model) != 0)
            before++;
        if (before == g)
            look_at_model(fleet, fleet->groups[g].model);
    }
}
