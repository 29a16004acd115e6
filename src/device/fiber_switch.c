/* SPDX-License-Identifier: MIT */
#include "cpu.h"

#if (defined(__x86_64__) || defined(__aarch64__)) && defined(__LP64__) && !defined(FIBER_UCONTEXT)

extern const char fiber_entry[]; /* fiber_switch.S */

/* What fiber_switch finds on a stack that it left. */
struct frame {
#if defined(__x86_64__)
    uint64_t r15, r14;
    void *argument;              /* r13 */
    void (*function)(void *);    /* r12 */
    uint64_t rbx, frame_pointer; /* 0 ends the chain of frames, too */
    const void *entry;
    uint64_t return_address; /* of fiber_entry, and the alignment that a call gives */
#else
    void (*function)(void *); /* x19 */
    void *argument;           /* x20 */
    uint64_t saved[8], frame_pointer;
    const void *entry; /* x30 */
    double d[8];
#endif
};

void *fiber_make(void *top, UNUSED size_t size, void (*function)(void *argument), void *argument)
{
    struct frame *frame = (struct frame *)top - 1;
    *frame = (struct frame){.function = function, .argument = argument, .entry = fiber_entry};
    return frame;
}

#else
#include <ucontext.h>

/* makecontext passes ints only. */
struct start {
    void (*function)(void *);
    void *argument;
};

static void start_fiber(unsigned high, unsigned low)
{
    const struct start *start = (const struct start *)(uintptr_t)((uint64_t)high << 32 | low);
    start->function(start->argument);
}

void *fiber_make(void *top, size_t size, void (*function)(void *argument), void *argument)
{
    struct start *start = (struct start *)top - 1;
    ucontext_t *context = (ucontext_t *)(((uintptr_t)start - sizeof(*context)) / 64 * 64);
    char *bottom = (char *)top - size;
    *start = (struct start){function, argument};
    getcontext(context);
    context->uc_link = NULL;
    context->uc_stack = (stack_t){.ss_sp = bottom, .ss_size = (size_t)((char *)context - bottom)};
    makecontext(context, (void (*)(void))start_fiber, 2, (unsigned)((uint64_t)(uintptr_t)start >> 32),
                (unsigned)(uintptr_t)start);
    return context;
}

/* The context of a stack that was left lies on it. */
void fiber_switch(void **from, void *to)
{
    ucontext_t here;
    memset(&here, 0, sizeof(here));
    *from = &here;
    swapcontext(&here, to);
}
#endif
