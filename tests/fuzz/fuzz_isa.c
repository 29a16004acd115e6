/* SPDX-License-Identifier: MIT
 *
 * The disassembler's text, whatever it is: instructions with sums that agree, or one sentence.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rooftile/isa.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct isa_kernel *kernel)
{
    uint64_t instructions = 0;
    for (unsigned kind = 0; kind < ISA_KINDS; kind++)
        instructions += kernel->mix.count[kind];
    if (instructions != kernel->instruction_count || kernel->mix.instructions != instructions)
        abort();
    for (size_t i = 0; i < kernel->loop_count; i++)
        if (kernel->loops[i].first_address > kernel->loops[i].last_address ||
            kernel->loops[i].own.instructions > kernel->loops[i].inclusive.instructions)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const targets[] = {"gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201"};
    const struct isa_symbol symbols[] = {{.name = "all", .size = UINT64_MAX, .scratch_bytes = 16},
                                         {.name = "some", .address = 0x1000, .size = 0x100, .wave = 64}};
    struct arena arena = {0};
    struct err err = {0};
    struct isa isa = {0};
    struct text out = {0};
    const char *target = targets[size ? data[0] % 5 : 0];
    const char *text = arena_strndup(&arena, (const char *)data, size);
    const enum status status = isa_parse(&isa, target, text, symbols, size % 2 + 1, &arena, &err);
    if (status ? !*err.text : isa.kernel_count == 0)
        abort();
    for (size_t k = 0; !status && k < isa.kernel_count; k++) {
        check(&isa.kernels[k]);
        isa_print(&out, &isa.kernels[k]);
    }
    text_release(&out);
    arena_release(&arena);
    return 0;
}
