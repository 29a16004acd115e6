/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "isa_internal.h"

/* Names of which the destination is an operand as well. */
static const char *const accumulating[] = {"v_fmac_",      "v_mac_",          "v_pk_fmac_", "v_dot2c_",
                                           "v_dot4c_",     "v_dot8c_",        "v_smfmac_",  "v_swmmac_",
                                           "v_dual_fmac_", "v_dual_dot2acc_", "v_movreld_"};

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
    if (first > 1023 || last > 1023 || last < first)
        return found;
    return (struct isa_registers){*at, (unsigned)first, (unsigned)(last - first + 1)};
}

/* Up to the next comma that is in no bracket. */
static const char *operand_end(const char *at)
{
    int depth = 0;
    for (; *at; at++) {
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

static void read_list(struct isa_operands *operands, const char *list, const char *list_end)
{
    for (const char *at = list; at < list_end && operands->count < ISA_MAX_OPERANDS;) {
        const char *end = operand_end(at);
        end = end < list_end ? end : list_end;
        operands->items[operands->count++] = register_at(at, end);
        at = end + (*end == ',');
        if (end == list_end)
            break;
    }
}

bool isa_operands_read(struct isa_operands *operands, const struct isa_instruction *in, unsigned half)
{
    static const char between[] = " :: ";
    const char *name = in->mnemonic, *list = in->operands;
    const char *list_end = list + strlen(list);
    *operands = (struct isa_operands){0};
    const char *second = in->kind == ISA_DUAL ? strstr(list, between) : NULL;
    if (half > 0 && !second)
        return false;
    if (half > 0) {
        name = strstr(name, between);
        name = name ? name + strlen(between) : in->mnemonic;
        list = second + strlen(between);
    } else if (second) {
        list_end = second;
    }
    read_list(operands, list, list_end);
    operands->destinations = has_no_destination(in) || operands->count == 0 ? 0 : 1;
    for (size_t i = 0; i < sizeof(accumulating) / sizeof(*accumulating); i++)
        operands->reads_destination = operands->reads_destination || text_starts(name, accumulating[i]);
    return true;
}

bool isa_registers_overlap(const struct isa_registers *a, const struct isa_registers *b)
{
    return a->file && a->file == b->file && a->first < b->first + b->count && b->first < a->first + a->count;
}

uint64_t isa_modifier(const struct isa_instruction *in, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = in->operands; (at = strstr(at, name)) != NULL; at += length)
        if (at[length] == ':' && (at == in->operands || at[-1] == ' '))
            return strtoull(at + length + 1, NULL, 0);
    return 0;
}
