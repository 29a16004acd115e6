/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "plan_internal.h"

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
