/* SPDX-License-Identifier: MIT
 *
 * Arena: memory of one stage, freed as a whole. Parsed data lives in the arena of its stage; no part is freed
 * individually. Running out of host memory ends the program with a message (arena_out_of_memory), so no caller checks
 * for NULL.
 */
#ifndef ROOFTILE_ARENA_H
#define ROOFTILE_ARENA_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

struct arena_block;
struct arena {
    struct arena_block *blocks; /* newest first */
    size_t used_bytes;          /* allocated since init, for tests and memory reports */
};

/* A zeroed struct arena is ready for use. */
void arena_release(struct arena *arena); /* frees everything; the arena is then empty and usable again */

/* Like arena_release, but keeps a block: for an arena that is repeatedly filled and emptied. */
void arena_reset(struct arena *arena);

/* Returns `size` zeroed bytes, aligned to 16. */
void *arena_alloc(struct arena *arena, size_t size);

/* Returns `count` zeroed objects of `size` bytes; checks count * size for overflow. */
void *arena_array(struct arena *arena, size_t count, size_t size);

/* Copies a string; the result is terminated. arena_strdup(NULL) is NULL. */
char *arena_strdup(struct arena *arena, const char *string);
char *arena_strndup(struct arena *arena, const char *string, size_t length);
void *arena_copy(struct arena *arena, const void *data, size_t size);
/* Returns an array of pointers to the items, which are of `size` bytes each, for sorting; it has room for one more. */
void *arena_pointers(struct arena *arena, const void *items, size_t count, size_t size);
/* Passes ownership of memory from malloc to the arena. */
void arena_own(struct arena *arena, void *memory);
char *arena_printf(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *arena, const char *format, va_list args) __attribute__((format(printf, 2, 0)));

/* Iterates over an array's elements; the array must not move or grow meanwhile.
 *     FOR_EACH(const struct result_case, c, result->cases, result->case_count) */
#define FOR_EACH(type, item, items, count)                                                                             \
    for (type *item = (items), *item##_end = item ? item + (count) : item; item != item##_end; item++)

/* Returns the number of elements that satisfy the condition.
 *     COUNT_WHERE(c, plan->cases, plan->count, c->state == PLAN_READY) */
#define COUNT_WHERE(item, items, count, condition)                                                                     \
    ({                                                                                                                 \
        size_t item##_found = 0;                                                                                       \
        for (__typeof__(&*(items)) item = (items), item##_end = item ? item + (count) : item; item != item##_end;      \
             item++)                                                                                                   \
            item##_found += (condition) ? 1 : 0;                                                                       \
        item##_found;                                                                                                  \
    })

/* Placed before a local variable: calls `release` with its address at every exit from the scope.
 *     SCOPED(arena_release) struct arena arena = {0}; */
#define SCOPED(release) __attribute__((cleanup(release)))

/* The number of elements of an array (not of a pointer). */
#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

/* Compares two numbers for qsort: below 0, 0, or above. To sort by several keys:
 *     return ORDER(y->time_ns, x->time_ns) ?: strcmp(x->name, y->name); */
#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/* Grow arrays without a stored capacity; called before each element is added. They make room if `count` is 0 or a power
 * of two from 8 up. Memory of array_grow is freed with free(); arena_grow leaves the shorter copies in the arena. */
void *array_grow(void *items, size_t count, size_t size);
void *arena_grow(struct arena *arena, void *items, size_t count, size_t size);

/* items[count++] = value; `items` and `count` are variables or members that the value does not use. */
#define ARRAY_PUSH(items, count, ...)                                                                                  \
    ((items) = array_grow((items), (count), sizeof(*(items))), (items)[(count)++] = __VA_ARGS__)
#define ARENA_PUSH(arena, items, count, ...)                                                                           \
    ((items) = arena_grow((arena), (items), (count), sizeof(*(items))), (items)[(count)++] = __VA_ARGS__)

/* For an array sorted by the uint64_t at `offset` of each element: returns the index of the first element at or above
 * `key`, which equals the number of elements below it. */
size_t array_below(const void *items, size_t count, size_t size, size_t offset, uint64_t key);

/* Returns zeroed memory, freed with free(), for data whose lifetime matches no arena; never NULL. */
void *new_zeroed(size_t count, size_t size);

/* Ends the program: "rooftile: out of memory (N bytes)". Also for the few functions that call malloc themselves. */
_Noreturn void arena_out_of_memory(size_t size);

#endif
