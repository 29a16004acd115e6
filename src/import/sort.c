/* SPDX-License-Identifier: MIT
 *
 * A merge sort for what is mostly in order, as the events of a trace are: of two sorted halves only what overlaps is
 * moved, so that items a few places off cost no more than reading all once.
 */

#include "trace.h"

struct sorting {
    size_t size; /* of an item */
    int (*compare)(const void *, const void *);
    char *room;
    size_t room_bytes;
};

static void sort_items(struct sorting *s, char *items, size_t count)
{
    if (count < 2)
        return;
    char *right = items + count / 2 * s->size, *to = right;
    const char *end = items + count * s->size;
    sort_items(s, items, count / 2);
    sort_items(s, right, count - count / 2);
    while (to > items && s->compare(to - s->size, right) > 0)
        to -= s->size;
    const size_t bytes = (size_t)(right - to);
    if (bytes > s->room_bytes) {
        free(s->room);
        s->room = new_zeroed(bytes, 1);
        s->room_bytes = bytes;
    }
    for (const char *left = bytes ? memcpy(s->room, to, bytes) : NULL, *last = s->room + bytes; bytes && left < last;) {
        const bool from_right = right < end && s->compare(right, left) < 0;
        memcpy(to, from_right ? right : left, s->size);
        right += from_right ? s->size : 0;
        left += from_right ? 0 : s->size;
        to += s->size;
    }
}

void sort_mostly_sorted(void *items, size_t count, size_t size, int (*compare)(const void *, const void *))
{
    struct sorting s = {.size = size, .compare = compare};
    sort_items(&s, items, count);
    free(s.room);
}
