/* SPDX-License-Identifier: MIT */
#include "cpu.h"

extern const char fiber_entry[]; /* fiber_switch.S */

/* The stack contents that fiber_switch left behind and resumes from. */
struct frame {
#if defined(__x86_64__)
    uint64_t r15, r14;
    void *argument;              /* r13 */
    void (*function)(void *);    /* r12 */
    uint64_t rbx, frame_pointer; /* 0 also ends the chain of frames */
    const void *entry;
    uint64_t return_address; /* of fiber_entry; also gives the alignment of a call */
#else
    void (*function)(void *); /* x19 */
    void *argument;           /* x20 */
    uint64_t saved[8], frame_pointer;
    const void *entry; /* x30 */
    double d[8];
#endif
};

void *fiber_make(void *top, void (*function)(void *argument), void *argument)
{
    struct frame *frame = (struct frame *)top - 1;
    *frame = (struct frame){.function = function, .argument = argument, .entry = fiber_entry};
    return frame;
}
