/* SPDX-License-Identifier: MIT
 *
 * Instructions that the lanes of a wave do together, where some lanes may be switched off.
 *
 * LLVM before 22 does not mark WMMA, v_permlane16, v_permlanex16 and moves by DPP8 as convergent on AMD targets
 * (llvm-project pull requests 142962, 165602, 178314, 182162): when only some lanes use a result, machine-sink moves
 * the instruction into their branch. MFMA and DPP16 stay where they are.
 *
 * Which lanes are on is followed from one instruction to the next in the order of addresses, which is how LLVM lays out
 * branches: off from a comparison that writes EXEC or an s_and_saveexec, on again where EXEC is set or or-ed with what
 * was saved; what is only reached from elsewhere counts as on. Loops that lanes leave one by one are not seen.
 */
#include <string.h>

#include "isa_internal.h"

static const char *const together[] = {"v_wmma_", "v_swmmac_", "v_permlane16_", "v_permlanex16_", "v_permlane64_"};

static bool is_together(const struct isa_instruction *in)
{
    for (size_t i = 0; i < sizeof(together) / sizeof(*together); i++)
        if (text_starts(in->mnemonic, together[i]))
            return true;
    return strstr(in->operands, "dpp8:") != NULL;
}

static bool switches_off(const struct isa_instruction *in)
{
    return text_starts(in->mnemonic, "v_cmpx_") || text_starts(in->mnemonic, "s_and_saveexec_");
}

static bool switches_on(const struct isa_instruction *in)
{
    return text_starts(in->operands, "exec") &&
           (text_starts(in->mnemonic, "s_or_b") || text_starts(in->mnemonic, "s_mov_b"));
}

/* What follows it is reached from elsewhere. */
static bool goes_away(const struct isa_instruction *in)
{
    return text_starts(in->mnemonic, "s_branch") || text_starts(in->mnemonic, "s_endpgm") ||
           text_starts(in->mnemonic, "s_setpc_");
}

void isa_check_lanes(struct isa_report *report)
{
    const struct isa_kernel *kernel = report->kernel;
    const struct isa_instruction *branch = NULL, *first = NULL, *off = NULL;
    unsigned count = 0;
    for (size_t i = 0; i < kernel->instruction_count; i++) {
        const struct isa_instruction *in = &kernel->instructions[i];
        if (switches_on(in) || goes_away(in))
            branch = NULL;
        else if (switches_off(in) && !branch)
            branch = in;
        if (!branch || !is_together(in))
            continue;
        count++;
        off = first ? off : branch;
        first = first ? first : in;
    }
    if (!first)
        return;
    isa_report_add(
        report,
        (struct isa_finding){
            "lanes-off", ISA_HINT, first->address, first->loop,
            arena_printf(report->arena,
                         "%u instruction%s of the whole wave (%s first) behind %s at %llx, which may switch "
                         "lanes off",
                         count, count > 1 ? "s" : "", first->mnemonic, off->mnemonic, (unsigned long long)off->address),
            "wrong unless all lanes or none take that branch. LLVM before 22 moves them there when only some "
            "lanes use the result: asm(\"\" : \"+v\"(result)) before the branch keeps them"});
}
