/* SPDX-License-Identifier: MIT
 *
 * void fiber_switch(void **from, void *to): saves the registers that a call preserves on the running stack, stores the
 * stack pointer in *from, and returns from the call that left `to`. Control words of floating-point arithmetic (MXCSR,
 * x87, FPCR) are not saved: all fibers of a thread run the same code and share them. Calls and returns stay paired, so
 * that the processor predicts where a switch returns to when both sides wait at the same place.
 *
 * fiber_entry is what the first switch to a stack returns to. Its own return address is 0, where debuggers and
 * unwinders stop.
 *
 * Indirect branches have landing pads (IBT, BTI). Shadow stacks (CET), which no distribution enables for programs by
 * default, would refuse a return on another stack: the notes at the end do not claim them.
 */
#if defined(__x86_64__)

        .text
        .globl  fiber_switch
        .hidden fiber_switch
        .type   fiber_switch, @function
        .p2align 4
fiber_switch:
        .cfi_startproc
        endbr64
        .irp register, rbp, rbx, r12, r13, r14, r15
        pushq   %\register
        .cfi_adjust_cfa_offset 8
        .endr
        movq    %rsp, (%rdi)
        movq    %rsi, %rsp
        .irp register, r15, r14, r13, r12, rbx, rbp
        popq    %\register
        .cfi_adjust_cfa_offset -8
        .endr
        ret
        .cfi_endproc
        .size   fiber_switch, . - fiber_switch

        .globl  fiber_entry
        .hidden fiber_entry
        .type   fiber_entry, @function
        .p2align 4
fiber_entry:
        .cfi_startproc
        .cfi_undefined rip
        movq    %r13, %rdi
        jmp     *%r12
        .cfi_endproc
        .size   fiber_entry, . - fiber_entry

        .section .note.gnu.property, "a", @note
        .p2align 3
        .long   4, 16, 5                /* sizes of name and description; NT_GNU_PROPERTY_TYPE_0 */
        .asciz  "GNU"
        .long   0xc0000002, 4, 1, 0     /* GNU_PROPERTY_X86_FEATURE_1_AND: IBT */

#elif defined(__aarch64__)

        .text
        .globl  fiber_switch
        .hidden fiber_switch
        .type   fiber_switch, %function
        .p2align 4
fiber_switch:
        .cfi_startproc
        hint    #34                     /* bti c */
        sub     sp, sp, #160
        .cfi_adjust_cfa_offset 160
        stp     x19, x20, [sp]
        stp     x21, x22, [sp, #16]
        stp     x23, x24, [sp, #32]
        stp     x25, x26, [sp, #48]
        stp     x27, x28, [sp, #64]
        stp     x29, x30, [sp, #80]
        stp     d8, d9, [sp, #96]
        stp     d10, d11, [sp, #112]
        stp     d12, d13, [sp, #128]
        stp     d14, d15, [sp, #144]
        mov     x9, sp
        str     x9, [x0]
        mov     sp, x1
        ldp     x19, x20, [sp]
        ldp     x21, x22, [sp, #16]
        ldp     x23, x24, [sp, #32]
        ldp     x25, x26, [sp, #48]
        ldp     x27, x28, [sp, #64]
        ldp     x29, x30, [sp, #80]
        ldp     d8, d9, [sp, #96]
        ldp     d10, d11, [sp, #112]
        ldp     d12, d13, [sp, #128]
        ldp     d14, d15, [sp, #144]
        add     sp, sp, #160
        .cfi_adjust_cfa_offset -160
        ret
        .cfi_endproc
        .size   fiber_switch, . - fiber_switch

        .globl  fiber_entry
        .hidden fiber_entry
        .type   fiber_entry, %function
        .p2align 4
fiber_entry:
        .cfi_startproc
        .cfi_undefined x30
        mov     x0, x20
        mov     x30, xzr
        mov     x16, x19                /* a branch by x16 may land on "bti c" */
        br      x16
        .cfi_endproc
        .size   fiber_entry, . - fiber_entry

        .section .note.gnu.property, "a", %note
        .p2align 3
        .long   4, 16, 5                /* sizes of name and description; NT_GNU_PROPERTY_TYPE_0 */
        .asciz  "GNU"
        .long   0xc0000000, 4, 1, 0     /* GNU_PROPERTY_AARCH64_FEATURE_1_AND: BTI */

#endif

        .section .note.GNU-stack, "", %progbits
