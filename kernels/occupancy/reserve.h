/* SPDX-License-Identifier: MIT
 *
 * Allocates registers that a kernel does not use, to keep other waves off its SIMD. Attributes such as launch bounds
 * only limit what the compiler may use; a clobber makes it allocate up to that register. Does nothing on the CPU.
 *
 * Defines: LAST_VGPR, LAST_AGPR: the highest register of each kind; -1 leaves it to the kernel.
 */
#ifndef ROOFTILE_KERNELS_OCCUPANCY_RESERVE_H
#define ROOFTILE_KERNELS_OCCUPANCY_RESERVE_H

#define RESERVE_TEXT(number) #number
#define RESERVE_NAME(kind, number) kind RESERVE_TEXT(number)

#if defined(__AMDGCN__) && LAST_VGPR >= 0
#define RESERVE_VGPRS() asm volatile("" ::: RESERVE_NAME("v", LAST_VGPR))
#else
#define RESERVE_VGPRS()
#endif
#if defined(__AMDGCN__) && LAST_AGPR >= 0
#define RESERVE_AGPRS() asm volatile("" ::: RESERVE_NAME("a", LAST_AGPR))
#else
#define RESERVE_AGPRS()
#endif

#define RESERVE_REGISTERS()                                                                                            \
    RESERVE_VGPRS();                                                                                                   \
    RESERVE_AGPRS()

#endif
