/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "isa_internal.h"

/* Names of which the destination is an operand as well. */
static const char accumulating[] =
    "v_fmac_ v_mac_ v_pk_fmac_ v_dot2c_ v_dot4c_ v_dot8c_ v_smfmac_ v_swmmac_ v_dual_fmac_ "
    "v_dual_dot2acc_ v_movreld_";

static const char between[] = " :: "; /* the halves of a VOPD */

/* v[4:7], a12, -v3, |v1|, neg(v2); anything else has file 0. */
static struct isa_registers register_at(const char *at, const char *end)
{
    struct isa_registers found = {0};
    static const char *const wrappers[] = {"neg(", "abs(", "sext("};
    while (at < end && (isspace((unsigned char)*at) || *at == '-' || *at == '|'))
        at++;
    for (size_t i = 0; i < sizeof(wrappers) / sizeof(*wrappers); i++)
        if (text_starts(at, wrappers[i]))
            at += strlen(wrappers[i]);
    if (end - at < 2 || (*at != 'v' && *at != 'a'))
        return found;
    if (!isdigit((unsigned char)at[1]) && at[1] != '[')
        return found;
    char *after = NULL;
    const unsigned long first = strtoul(at + 1 + (at[1] == '['), &after, 10);
    unsigned long last = first;
    if (at[1] == '[' && *after == ':')
        last = strtoul(after + 1, NULL, 10);
    if (first >= ISA_REGISTERS || last >= ISA_REGISTERS || last < first)
        return found;
    return (struct isa_registers){*at, (unsigned)first, (unsigned)(last - first + 1)};
}

/* Up to the next comma that is in no bracket. */
static const char *operand_end(const char *at, const char *end)
{
    int depth = 0;
    for (; at < end; at++) {
        depth += *at == '[' || *at == '(';
        depth -= *at == ']' || *at == ')';
        if (*at == ',' && depth <= 0)
            break;
    }
    return at;
}

static bool has_no_destination(const struct isa_instruction *in)
{
    switch (in->kind) {
    case ISA_STORE:
    case ISA_SCRATCH_STORE:
    case ISA_LDS_WRITE:
        return true;
    case ISA_LOAD:
        return strstr(in->mnemonic, "_lds") != NULL || strstr(in->operands, " lds") != NULL;
    case ISA_ATOMIC: /* the old value comes back only on request */
        return !strstr(in->mnemonic, "_rtn") && !strstr(in->operands, " glc") && !strstr(in->operands, " sc0") &&
               !strstr(in->operands, "TH_ATOMIC_RETURN");
    default:
        return false;
    }
}

bool isa_operands_read(struct isa_operands *operands, const struct isa_instruction *in, unsigned half)
{
    const char *name = in->mnemonic, *at = in->operands, *end = at + strlen(at);
    const char *second = in->kind == ISA_DUAL ? strstr(at, between) : NULL;
    *operands = (struct isa_operands){0};
    if (half > 0 && !second)
        return false;
    if (half > 0) {
        name = strstr(name, between);
        name = name ? name + strlen(between) : in->mnemonic;
        at = second + strlen(between);
    } else if (second) {
        end = second;
    }
    while (at < end && operands->count < ISA_MAX_OPERANDS) {
        const char *stop = operand_end(at, end);
        operands->items[operands->count++] = register_at(at, stop);
        at = stop + 1;
    }
    operands->destinations = has_no_destination(in) || operands->count == 0 ? 0 : 1;
    operands->reads_destination = isa_starts(name, accumulating);
    return true;
}

uint64_t isa_modifier(const struct isa_instruction *in, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = in->operands; (at = strstr(at, name)) != NULL; at += length)
        if (at[length] == ':' && (at == in->operands || at[-1] == ' '))
            return strtoull(at + length + 1, NULL, 0);
    return 0;
}

static unsigned *flow_of(struct isa_flow *flow, const struct isa_registers *registers)
{
    return &flow->of[registers->file == 'a'][registers->first];
}

static unsigned largest(struct isa_flow *flow, const struct isa_operands *operands)
{
    unsigned most = 0;
    for (unsigned o = operands->reads_destination ? 0 : operands->destinations; o < operands->count; o++)
        for (unsigned r = 0; r < operands->items[o].count; r++) {
            const unsigned number = flow_of(flow, &operands->items[o])[r];
            most = number > most ? number : most;
        }
    return most;
}

unsigned isa_flow_step(struct isa_flow *flow, const struct isa_instruction *in, unsigned own, bool sum)
{
    struct isa_operands operands[2];
    unsigned read[2] = {0}, halves = 0;
    for (; halves < 2 && isa_operands_read(&operands[halves], in, halves); halves++)
        read[halves] = largest(flow, &operands[halves]);
    for (unsigned h = 0; h < halves; h++)
        for (unsigned r = 0; operands[h].destinations && r < operands[h].items[0].count; r++)
            flow_of(flow, &operands[h].items[0])[r] = sum ? read[h] + own : read[h] > own ? read[h] : own;
    return read[0] > read[1] ? read[0] : read[1];
}
