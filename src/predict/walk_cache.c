/* SPDX-License-Identifier: MIT
 *
 * Sets of cache lines: an LRU cache, and the set of lines touched so far.
 */
#include <stdlib.h>
#include <string.h>

#include "walk_internal.h"

#define FIRST_ROOM 64u

static uint32_t bucket_of(const struct lines *lines, uint64_t line)
{
    return (uint32_t)(line * UINT64_C(0x9E3779B97F4A7C15) >> 32) & (lines->bucket_count - 1);
}

void lines_init(struct lines *lines, uint64_t limit)
{
    *lines = (struct lines){.limit = limit > UINT32_MAX / 2 ? 0 : (uint32_t)limit};
}

void lines_release(struct lines *lines)
{
    free(lines->items);
    free(lines->buckets);
    *lines = (struct lines){.limit = lines->limit};
}

static void bucket_add(struct lines *lines, uint32_t at)
{
    uint32_t *bucket = &lines->buckets[bucket_of(lines, lines->items[at - 1].line)];
    lines->items[at - 1].next = *bucket;
    *bucket = at;
}

uint32_t lines_find(const struct lines *lines, uint64_t line)
{
    uint32_t at = lines->count ? lines->buckets[bucket_of(lines, line)] : 0;
    while (at && lines->items[at - 1].line != line)
        at = lines->items[at - 1].next;
    return at;
}

bool lines_has(const struct lines *lines, uint64_t line)
{
    return lines_find(lines, line) != 0;
}

/* Removes an item from the order of use. */
static void unlink_use(struct lines *lines, uint32_t at)
{
    const struct line *item = &lines->items[at - 1];
    if (item->newer)
        lines->items[item->newer - 1].older = item->older;
    else
        lines->newest = item->older;
    if (item->older)
        lines->items[item->older - 1].newer = item->newer;
    else
        lines->oldest = item->newer;
}

static void make_newest(struct lines *lines, uint32_t at)
{
    struct line *item = &lines->items[at - 1];
    item->newer = 0;
    item->older = lines->newest;
    if (lines->newest)
        lines->items[lines->newest - 1].newer = at;
    else
        lines->oldest = at;
    lines->newest = at;
}

static void bucket_remove(struct lines *lines, uint32_t at)
{
    uint32_t *link = &lines->buckets[bucket_of(lines, lines->items[at - 1].line)];
    while (*link != at)
        link = &lines->items[*link - 1].next;
    *link = lines->items[at - 1].next;
}

/* The slot stays empty until it would have been evicted. */
void lines_drop(struct lines *lines, uint64_t line)
{
    const uint32_t at = lines_find(lines, line);
    if (!at)
        return;
    bucket_remove(lines, at);
    lines->items[at - 1].line = UINT64_MAX - at;
    bucket_add(lines, at);
}

bool lines_touch(struct lines *lines, uint64_t line)
{
    uint32_t at = lines->newest;
    if (at && lines->items[at - 1].line == line)
        return true;
    at = lines_find(lines, line);
    if (at) {
        unlink_use(lines, at);
        make_newest(lines, at);
        return true;
    }
    if (lines->limit && lines->count >= lines->limit) {
        at = lines->oldest;
        bucket_remove(lines, at);
        unlink_use(lines, at);
    } else {
        if (lines->count == lines->room) {
            lines->room = lines->room ? 4 * lines->room : FIRST_ROOM;
            lines->bucket_count = 2 * lines->room;
            lines->items = realloc(lines->items, lines->room * sizeof(*lines->items));
            lines->buckets = realloc(lines->buckets, lines->bucket_count * sizeof(*lines->buckets));
            if (!lines->items || !lines->buckets)
                arena_out_of_memory(lines->room * sizeof(*lines->items));
            memset(lines->buckets, 0, lines->bucket_count * sizeof(*lines->buckets));
            for (uint32_t k = 0; k < lines->count; k++)
                bucket_add(lines, k + 1);
        }
        at = ++lines->count;
    }
    lines->items[at - 1] = (struct line){.line = line};
    bucket_add(lines, at);
    make_newest(lines, at);
    return false;
}

uint64_t lines_way(struct wave *wave, uint64_t line, const struct walk_traffic *traffic)
{
    uint64_t *last = &wave->last[traffic - wave->traffic];
    const uint64_t way = !*last ? 0 : line > *last ? line - *last : *last - line;
    *last = line;
    return way;
}

bool lines_contend(struct wave *wave, uint64_t address)
{
    const struct walker *walker = wave->group->walker;
    const uint64_t step = address - wave->stored_at, pair = address >> walker->line_shift >> PAIR_SHIFT;
    const bool goes_on = step <= wave->stored_step && pair == wave->stored_at >> walker->line_shift >> PAIR_SHIFT;
    wave->stored_at = address;
    wave->stored_step = step;
    return !goes_on && lines_has(&walker->contended, pair);
}

/* Prefetchers follow strides within a page. */
#define PAGE_BYTES 4096u
void lines_step(struct walk_traffic *traffic, uint64_t way, unsigned line_shift)
{
    const bool apart = way << line_shift >= PAGE_BYTES;
    traffic->apart += apart;
    traffic->stepped += apart ? 0 : (double)way;
}
