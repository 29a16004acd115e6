/* SPDX-License-Identifier: MIT
 *
 * Small programs for the tests of the instruction analysis, in the form that llvm-objdump writes.
 */
#ifndef ROOFTILE_TEST_ISA_PROGRAM_H
#define ROOFTILE_TEST_ISA_PROGRAM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rooftile/isa.h"
#include "rooftile/text.h"

#define PROGRAM_ADDRESS 0x1000u

/* One instruction per line, four bytes each; " @5" behind a branch: to line 5, counted from 0. */
static inline void program_text(struct text *text, const char *source)
{
    unsigned line = 0;
    text_add(text, "\nx.co:\tfile format elf64-amdgpu\n\nDisassembly of section .text:\n\n0000000000001000 <k>:\n");
    for (const char *at = source; *at; line++) {
        const size_t length = strcspn(at, "\n");
        const char *target = memchr(at, '@', length);
        unsigned word = 0xBF800000u;
        if (target)
            word |= (unsigned)(strtol(target + 1, NULL, 10) - (long)line - 1) & 0xffffu;
        text_addf(text, "\t%.*s // %012X: %08X\n", (int)(target ? target - at : (long)length), at,
                  PROGRAM_ADDRESS + 4 * line, word);
        at += length + (at[length] == '\n');
    }
}

static inline uint64_t program_line(unsigned line)
{
    return PROGRAM_ADDRESS + 4u * line;
}

/* The whole source as one kernel; `known` may say more of it (wave, spills). */
static inline const struct isa_kernel *program_kernel(const char *target, const char *source,
                                                      struct codeobj_kernel known, struct arena *arena)
{
    struct isa isa = {0};
    struct text text = {0};
    struct err err = {0};
    program_text(&text, source);
    known.name = "k";
    known.code_address = PROGRAM_ADDRESS;
    known.code_bytes = 1u << 20;
    const enum status status = isa_parse(&isa, &(struct codeobj){.target = target}, text.data, &known, 1, arena, &err);
    text_release(&text);
    assert_string_equal(err.text, "");
    assert_int_equal(status, STATUS_OK);
    return &isa.kernels[0];
}

/* Codes of the findings with a blank between them. */
static inline const char *program_codes(const struct isa_kernel *kernel, struct arena *arena)
{
    const char *codes = "";
    for (size_t i = 0; i < kernel->finding_count; i++)
        codes = arena_printf(arena, "%s%s%s", codes, i ? " " : "", kernel->findings[i].code);
    return codes;
}

#endif
