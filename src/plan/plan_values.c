/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "plan_internal.h"
#include "rooftile/hash.h"
#include "rooftile/text.h"

/* Names among which a did-you-mean looks. */
#define MAX_NAMED 64

uint64_t values_hash(uint64_t hash, const struct param_value *value)
{
    struct {
        uint64_t before, kind, bits;
    } mixed = {hash, value->kind, 0};
    switch (value->kind) {
    case PARAM_NUMBER:
        memcpy(&mixed.bits, &(double){value->number + 0.0},
               sizeof(mixed.bits)); /* -0 + 0 is +0: equal values, one hash */
        break;
    case PARAM_DTYPE:
        mixed.bits = value->dtype;
        break;
    case PARAM_STRING:
        mixed.bits = hash_u64(value->string, strlen(value->string));
        break;
    case PARAM_LIST:
        mixed.bits = hash_u64(value->list, value->count * sizeof(*value->list));
        break;
    }
    return hash_u64(&mixed, sizeof(mixed));
}

bool values_equal(const struct param_value *a, const struct param_value *b, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (!param_equal(&a[k], &b[k]))
            return false;
    return true;
}

enum status value_fit(struct param_value *value, const struct param *param, struct arena *arena, struct err *err)
{
    struct param_value fitted = *value;
    /* A word that happens to look like a number or an element type is still a word here. */
    if (param->value.kind == PARAM_STRING && (fitted.kind == PARAM_NUMBER || fitted.kind == PARAM_DTYPE))
        fitted = (struct param_value){.kind = PARAM_STRING, .string = param_text(arena, value)};
    enum status status = param_accepts(param, &fitted, err);
    if (!status)
        *value = fitted;
    return status;
}

static bool variant_matches(const struct manifest_variant *variant, const struct device_facts *device)
{
    return (!variant->backend || text_matches(device->backend, variant->backend)) &&
           (!variant->arch || text_matches(device->arch, variant->arch)) &&
           (!variant->wave || (double)variant->wave == device->wave);
}

void values_of_device(struct param_value *values, const struct manifest *manifest, const struct device_facts *device)
{
    for (size_t k = 0; k < manifest->param_count; k++)
        values[k] = manifest->params[k].value;
    for (size_t k = 0; k < manifest->variant_count; k++) {
        const struct manifest_variant *variant = &manifest->variants[k];
        if (!variant_matches(variant, device))
            continue;
        for (size_t p = 0; p < variant->param_count; p++) {
            const int param = manifest_param(manifest, variant->params[p].name);
            if (param >= 0)
                values[param] = variant->params[p].value;
        }
        return;
    }
}

enum status param_find(size_t *param, const struct manifest *manifest, const char *name, struct err *err)
{
    const int found = manifest_param(manifest, name);
    if (found >= 0) {
        *param = (size_t)found;
        return STATUS_OK;
    }
    const char *names[MAX_NAMED] = {NULL};
    size_t count = 0;
    for (size_t k = 0; k < manifest->param_count && count < MAX_NAMED; k++)
        names[count++] = manifest->params[k].name;
    const char *near = text_nearest(name, names, count);
    return err_set(err, ERR_CONFIG, "kernel '%s' has no parameter '%s'%s%s%s", manifest->name, name,
                   near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

/* ---- things by hash ---- */

/* Open addressing with linear probing, at most half full; a power of two of slots. */
struct lookup_slot {
    uint64_t hash;
    size_t value_plus_one; /* 0: free */
};

#define FIRST_CAPACITY 64

size_t lookup_find(const struct lookup *lookup, uint64_t hash, bool (*equal)(const void *context, size_t value),
                   const void *context)
{
    if (!lookup->capacity)
        return LOOKUP_NONE;
    const size_t mask = lookup->capacity - 1;
    for (size_t at = (size_t)hash & mask; lookup->slots[at].value_plus_one; at = (at + 1) & mask) {
        const struct lookup_slot *slot = &lookup->slots[at];
        if (slot->hash == hash && equal(context, slot->value_plus_one - 1))
            return slot->value_plus_one - 1;
    }
    return LOOKUP_NONE;
}

static void insert(struct lookup *lookup, struct lookup_slot slot)
{
    const size_t mask = lookup->capacity - 1;
    size_t at = (size_t)slot.hash & mask;
    while (lookup->slots[at].value_plus_one)
        at = (at + 1) & mask;
    lookup->slots[at] = slot;
}

void lookup_add(struct lookup *lookup, uint64_t hash, size_t value)
{
    if (2 * (lookup->count + 1) > lookup->capacity) {
        struct lookup larger = {.capacity = lookup->capacity ? 2 * lookup->capacity : FIRST_CAPACITY};
        larger.count = lookup->count;
        larger.slots = calloc(larger.capacity, sizeof(*larger.slots));
        if (!larger.slots)
            arena_out_of_memory(larger.capacity * sizeof(*larger.slots));
        for (size_t at = 0; at < lookup->capacity; at++)
            if (lookup->slots[at].value_plus_one)
                insert(&larger, lookup->slots[at]);
        free(lookup->slots);
        *lookup = larger;
    }
    insert(lookup, (struct lookup_slot){hash, value + 1});
    lookup->count++;
}

void lookup_release(struct lookup *lookup)
{
    free(lookup->slots);
    *lookup = (struct lookup){0};
}
