/* SPDX-License-Identifier: MIT */

#include "rooftile/base.h"
#include <stdalign.h>

#define ARENA_ALIGN 16u
#define ARENA_BLOCK_BYTES (64u * 1024u)
/* The size of an arena's first block. Short-lived arenas hold little, and clearing 64 KiB for them costs more than
 * using it. */
#define ARENA_FIRST_BYTES (4u * 1024u)

struct arena_block {
    struct arena_block *next;
    size_t size; /* bytes of data */
    size_t used;
    void *owned; /* freed with the block */
    alignas(ARENA_ALIGN) unsigned char data[];
};

_Noreturn void arena_out_of_memory(size_t size)
{
    fprintf(stderr, "rooftile: out of memory (%zu bytes)\n", size);
    exit(3);
}

void *new_zeroed(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    if (!memory)
        arena_out_of_memory(count * size);
    return memory;
}

void arena_release(struct arena *arena)
{
    struct arena_block *block = arena->blocks;
    while (block) {
        struct arena_block *next = block->next;
        free(block->owned);
        free(block);
        block = next;
    }
    *arena = (struct arena){0};
}

void arena_reset(struct arena *arena)
{
    struct arena_block *kept = arena->blocks;
    if (!kept || kept->owned || kept->size > ARENA_BLOCK_BYTES) {
        arena_release(arena);
        return;
    }
    struct arena older = {.blocks = kept->next};
    arena_release(&older);
    memset(kept->data, 0, kept->used);
    kept->next = NULL;
    kept->used = 0;
    arena->used_bytes = 0;
}

static struct arena_block *block_new(size_t size)
{
    if (size > SIZE_MAX - sizeof(struct arena_block))
        arena_out_of_memory(size);
    struct arena_block *block = calloc(1, sizeof(*block) + size);
    if (!block)
        arena_out_of_memory(size);
    block->size = size;
    return block;
}

void arena_own(struct arena *arena, void *memory)
{
    struct arena_block *block = block_new(0), **behind = arena->blocks ? &arena->blocks->next : &arena->blocks;
    block->owned = memory;
    block->next = *behind;
    *behind = block;
}

/* Returns a block with room for `size` bytes. A large request gets its own block behind the newest one, which stays in
 * use. */
static struct arena_block *block_for(struct arena *arena, size_t size)
{
    struct arena_block *newest = arena->blocks;
    if (newest && newest->size - newest->used >= size)
        return newest;
    const bool large = size > ARENA_BLOCK_BYTES / 4;
    const size_t usual = newest || size > ARENA_FIRST_BYTES ? ARENA_BLOCK_BYTES : ARENA_FIRST_BYTES;
    struct arena_block *block = block_new(large ? size : usual);
    if (large && newest) {
        block->next = newest->next;
        newest->next = block;
    } else {
        block->next = newest;
        arena->blocks = block;
    }
    return block;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    if (size > SIZE_MAX - ARENA_ALIGN)
        arena_out_of_memory(size);
    /* An empty request still gets a unique address. */
    const size_t rounded = ((size ? size : 1) + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
    struct arena_block *block = block_for(arena, rounded);
    void *data = block->data + block->used;
    block->used += rounded;
    arena->used_bytes += size;
    return data;
}

void *arena_array(struct arena *arena, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size)
        arena_out_of_memory(SIZE_MAX);
    return arena_alloc(arena, count * size);
}

void *arena_copy(struct arena *arena, const void *data, size_t size)
{
    void *copy = arena_alloc(arena, size);
    if (size)
        memcpy(copy, data, size);
    return copy;
}

void *arena_pointers(struct arena *arena, const void *items, size_t count, size_t size)
{
    const char **pointers = arena_array(arena, count + 1, sizeof(*pointers));
    for (size_t k = 0; k < count; k++)
        pointers[k] = (const char *)items + k * size;
    return pointers;
}

char *arena_strdup(struct arena *arena, const char *string)
{
    return string ? arena_copy(arena, string, strlen(string) + 1) : NULL;
}

char *arena_strndup(struct arena *arena, const char *string, size_t length)
{
    const size_t size = strnlen(string, length);
    char *copy = arena_alloc(arena, size + 1);
    memcpy(copy, string, size);
    return copy;
}

char *arena_vprintf(struct arena *arena, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    const int length = vsnprintf(NULL, 0, format, args);
    if (length < 0)
        arena_out_of_memory(SIZE_MAX); /* glibc fails here only if out of memory or beyond INT_MAX characters */
    char *string = arena_alloc(arena, (size_t)length + 1);
    vsnprintf(string, (size_t)length + 1, format, again);
    va_end(again);
    return string;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *string = arena_vprintf(arena, format, args);
    va_end(args);
    return string;
}

/* Returns the new number of elements to allocate; 0: there is room for one more. */
static size_t grown_count(size_t count)
{
    return count < 8 ? (count ? 0 : 8) : count & (count - 1) ? 0 : 2 * count;
}

void *array_grow(void *items, size_t count, size_t size)
{
    const size_t room = grown_count(count);
    if (!room)
        return items;
    void *grown = room > SIZE_MAX / size ? NULL : realloc(items, room * size);
    if (!grown)
        arena_out_of_memory(room * size);
    return grown;
}

void *arena_grow(struct arena *arena, void *items, size_t count, size_t size)
{
    const size_t room = grown_count(count);
    if (!room)
        return items;
    void *grown = arena_array(arena, room, size);
    if (count)
        memcpy(grown, items, count * size);
    return grown;
}

size_t array_below(const void *items, size_t count, size_t size, size_t offset, uint64_t key)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        uint64_t found;
        memcpy(&found, (const char *)items + middle * size + offset, sizeof(found));
        if (found < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
