/* SPDX-License-Identifier: MIT */
#include "cpu_stacks.h"

#include <pthread.h>
#include <sys/mman.h>

#ifdef STACKS_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
/* Instrumented frames are several times larger. */
#define STACK_BYTES ((size_t)256 * 1024)
#else
#define STACK_BYTES ((size_t)64 * 1024)
#endif
#define GUARD_BYTES ((size_t)4096)
/* 17 pages, an odd number: tops of stacks that were 16 pages apart would fall into the same few sets of L2. */
#define STRIDE_BYTES (STACK_BYTES + GUARD_BYTES)
/* And within their page, tops move by this, so that they do not all share a set of L1. */
#define COLOUR_BYTES 512u
#define COLOURS 8u

bool stacks_init(struct stacks *stacks, uint32_t count, uint32_t guard_limit)
{
    const size_t size = count * STRIDE_BYTES;
    char *memory =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    madvise(memory, size, MADV_NOHUGEPAGE); /* else 2 MiB are cleared where two pages are used */
    const uint32_t every = guard_limit ? 1 + (count - 1) / guard_limit : count;
    for (uint32_t i = 0; i < count; i += every)
        mprotect(memory + i * STRIDE_BYTES, GUARD_BYTES, PROT_NONE);
    *stacks = (struct stacks){.memory = memory, .size = size, .count = count};
    return true;
}

void stacks_release(struct stacks *stacks)
{
    /* Whoever gets these addresses next must not find our frames' marks. */
    stack_clear((struct stack){.bottom = stacks->memory, .size = stacks->size});
    if (stacks->memory)
        munmap(stacks->memory, stacks->size);
    *stacks = (struct stacks){0};
}

struct stack stacks_at(const struct stacks *stacks, uint32_t index)
{
    return (struct stack){.bottom = stacks->memory + index * STRIDE_BYTES + GUARD_BYTES,
                          .size = STACK_BYTES - index % COLOURS * COLOUR_BYTES};
}

struct stack stacks_holding(const struct stacks *stacks, const void *address)
{
    return stacks_at(stacks, (uint32_t)((size_t)((const char *)address - stacks->memory) / STRIDE_BYTES));
}

#ifdef STACKS_ASAN
struct stack stack_current(void)
{
    pthread_attr_t attributes;
    struct stack stack = {0};
    if (pthread_getattr_np(pthread_self(), &attributes))
        return stack;
    pthread_attr_getstack(&attributes, &stack.bottom, &stack.size);
    pthread_attr_destroy(&attributes);
    return stack;
}

void *stack_leave(struct stack to)
{
    void *fake = NULL;
    __sanitizer_start_switch_fiber(&fake, to.bottom, to.size);
    return fake;
}

void stack_arrive(void *fake)
{
    __sanitizer_finish_switch_fiber(fake, NULL, NULL);
}

void stack_clear(struct stack stack)
{
    __asan_unpoison_memory_region(stack.bottom, stack.size);
}
#endif
