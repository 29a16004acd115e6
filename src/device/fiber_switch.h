/* SPDX-License-Identifier: MIT
 *
 * Switching between stacks of one thread: fiber_switch.S for x86-64 and AArch64, ucontext elsewhere (about a hundred
 * times slower: it makes a system call for the signal mask).
 */
#ifndef ROOFTILE_DEVICE_FIBER_SWITCH_H
#define ROOFTILE_DEVICE_FIBER_SWITCH_H

#include <stddef.h>

/* What fiber_switch enters for the first time: `function`, which must not return, with `argument`, on the stack of
 * `size` bytes that ends at `top`, which is aligned to 16. */
void *fiber_make(void *top, size_t size, void (*function)(void *argument), void *argument);

/* Goes on with a stack that was made, or that was left by a switch. *from becomes what goes on with this one. */
void fiber_switch(void **from, void *to);

#endif
