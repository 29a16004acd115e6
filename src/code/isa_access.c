/* SPDX-License-Identifier: MIT
 *
 * How AMD's instructions reach memory, from their names and the modifiers behind their operands.
 */

#include "isa_internal.h"

/* An atomic's glc, and sc0 where that is the scope's low bit otherwise, asks for the old value, as RETURN does in
 * gfx12's temporal hints: no policy. (LLVM, AMDGPUUsage, "Memory Model": gfx90a, gfx942, gfx12.) */
static void add_policy(struct text *policy, const char *word, size_t length, bool is_atomic)
{
    static const char atomic_hint[] = "th:TH_ATOMIC";
    const bool is_hint = text_starts(word, "th:"), asks = is_atomic && text_has_word("glc sc0", " ", word, length);
    if (asks ||
        !(is_hint || text_starts(word, "scope:") || text_has_word("nt glc slc dlc scc sc0 sc1 nv", " ", word, length)))
        return;
    if (is_hint && is_atomic && length > strlen("_RETURN") &&
        !memcmp(word + length - strlen("_RETURN"), "_RETURN", strlen("_RETURN")))
        length -= strlen("_RETURN");
    if (is_hint && length == strlen(atomic_hint) && !strncmp(word, atomic_hint, length))
        return;
    text_addf(policy, "%s%.*s", policy->length ? " " : "", (int)length, word);
}

const char *isa_policy_read(const struct isa_instruction *in, struct arena *arena)
{
    SCOPED(text_release) struct text policy = {0};
    if (in->space == ISA_NO_SPACE)
        return "";
    for (const char *at = in->operands; *at;) {
        const size_t length = strcspn(at, " ");
        add_policy(&policy, at, length, in->kind == ISA_ATOMIC);
        at += length + (at[length] == ' ');
    }
    return policy.length ? arena_strdup(arena, policy.data) : "";
}
