/* SPDX-License-Identifier: MIT
 *
 * A merge sort for what is mostly in order, as the events of a trace are. Blocks are sorted by insertion and merged;
 * of two neighbours only what overlaps is moved, so that items a few places off cost no more than reading all once.
 */

#include "trace.h"

enum { BLOCK = 32, MOST_ITEM_BYTES = 64 };

struct sorting {
    size_t size; /* of an item */
    int (*compare)(const void *, const void *);
    char *room;
    size_t room_bytes;
};

static void sort_block(const struct sorting *s, char *items, const char *end)
{
    char one[MOST_ITEM_BYTES];
    for (char *at = items + s->size; at < end; at += s->size) {
        char *to = at;
        while (to > items && s->compare(to - s->size, at) > 0)
            to -= s->size;
        if (to == at)
            continue;
        memcpy(one, at, s->size);
        memmove(to + s->size, to, (size_t)(at - to));
        memcpy(to, one, s->size);
    }
}

/* The first of the sorted items that comes behind `wanted`; with `equals`, or is equal to it. */
static char *place(const struct sorting *s, char *items, const char *end, const char *wanted, bool equals)
{
    size_t low = 0, high = (size_t)(end - items) / s->size;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (s->compare(items + middle * s->size, wanted) >= (equals ? 0 : 1))
            high = middle;
        else
            low = middle + 1;
    }
    return items + low * s->size;
}

static void merge(struct sorting *s, char *items, char *right, char *end)
{
    if (s->compare(right - s->size, right) <= 0)
        return;
    end = place(s, right, end, right - s->size, true);
    items = place(s, items, right, right, false);
    const size_t bytes = (size_t)(right - items);
    if (bytes > s->room_bytes) {
        free(s->room);
        s->room = new_zeroed(bytes, 1);
        s->room_bytes = bytes;
    }
    memcpy(s->room, items, bytes);
    for (const char *left = s->room, *left_end = left + bytes; left < left_end; items += s->size) {
        const bool from_right = right < end && s->compare(right, left) < 0;
        memcpy(items, from_right ? right : left, s->size);
        right += from_right ? s->size : 0;
        left += from_right ? 0 : s->size;
    }
}

void sort_mostly_sorted(void *items, size_t count, size_t size, int (*compare)(const void *, const void *))
{
    struct sorting s = {.size = size, .compare = compare};
    char *start = items;
    for (size_t k = 0; k < count; k += BLOCK)
        sort_block(&s, start + k * size, start + (k + BLOCK < count ? k + BLOCK : count) * size);
    for (size_t step = BLOCK; step < count; step *= 2)
        for (size_t k = 0; k + step < count; k += 2 * step)
            merge(&s, start + k * size, start + (k + step) * size,
                  start + (k + 2 * step < count ? k + 2 * step : count) * size);
    free(s.room);
}
