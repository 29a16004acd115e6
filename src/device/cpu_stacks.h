/* SPDX-License-Identifier: MIT
 *
 * Stacks of fibers: one mapping, pages on first use, guard pages between. Also tells AddressSanitizer, when it is
 * there, about every switch: it would take a jump to another stack for an overflow.
 */
#ifndef ROOFTILE_DEVICE_CPU_STACKS_H
#define ROOFTILE_DEVICE_CPU_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A guard page splits a mapping, and Linux allows a process 65530 of them (vm.max_map_count). */
#define STACKS_GUARD_BUDGET 24000u

struct stack {
    void *bottom; /* lowest address */
    size_t size;
};

struct stacks {
    char *memory;
    size_t size;
    uint32_t count;
};

/* With more than `guard_limit` stacks only every n-th is guarded. False: no memory. */
bool stacks_init(struct stacks *stacks, uint32_t count, uint32_t guard_limit);
void stacks_release(struct stacks *stacks);
struct stack stacks_at(const struct stacks *stacks, uint32_t index);
/* The stack that an address lies in. */
__attribute__((pure)) struct stack stacks_holding(const struct stacks *stacks, const void *address);

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define STACKS_ASAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define STACKS_ASAN 1
#endif

/* Around a jump to `to`: stack_leave before it; stack_arrive first thing after it, with what stack_leave had returned
 * on the arriving side, NULL on its first arrival. */
#ifdef STACKS_ASAN
struct stack stack_current(void); /* of the calling thread */
void *stack_leave(struct stack to);
void stack_arrive(void *fake);
void stack_clear(struct stack stack); /* nothing stands there any more */
#else
static inline struct stack stack_current(void)
{
    return (struct stack){0};
}

static inline void *stack_leave(struct stack to)
{
    (void)to;
    return NULL;
}

static inline void stack_arrive(void *fake)
{
    (void)fake;
}

static inline void stack_clear(struct stack stack)
{
    (void)stack;
}
#endif

#endif
