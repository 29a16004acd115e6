/* SPDX-License-Identifier: MIT
 *
 * Converts instructions to operations, whose meaning is found by name.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "walk_internal.h"

/* ---- names ---- */

/* Strips encodings, and words of gfx10 and gfx12 that do not change the meaning. */
static void plain_name(char name[NAME_ROOM], const char *mnemonic)
{
    static const char *const words[] = {"_e32", "_e64", "_dpp8", "_dpp", "_sdwa", "_nc_", "_num_", "_dual_"};
    snprintf(name, NAME_ROOM, "%s", mnemonic);
    for (size_t k = 0; k < COUNT_OF(words); k++) {
        char *at = strstr(name, words[k]);
        const size_t length = strlen(words[k]) - text_ends(words[k], "_");
        if (at)
            memmove(at, at + length, strlen(at + length) + 1);
    }
}

static const struct meaning *find_meaning(const char *name)
{
    const bool scalar = name[0] != 'v' || text_starts(name, "v_s_");
    const struct meaning *table = scalar ? scalar_meanings : vector_meanings;
    const size_t count = scalar ? scalar_meaning_count : vector_meaning_count, length = strlen(name);
    for (size_t k = 0; k < count; k++)
        if (text_has_word(table[k].names, " ", name, length))
            return &table[k];
    return NULL;
}

/* True for results that are data and never addresses. */
static bool is_data(const struct isa_instruction *in, const char *name)
{
    static const char *const words[] = {"f16", "bf16", "fp8",    "bf8",   "fp4", "fp6",
                                        "bf6", "dot",  "v_cvt_", "v_pk_", "f64", "f32"};
    for (size_t k = 0; k < COUNT_OF(words); k++)
        if (name[0] == 'v' && strstr(name, words[k]))
            return true;
    return in->kind == ISA_MATRIX;
}

static uint8_t class_of(const struct isa_instruction *in, const char *name)
{
    switch (in->kind) {
    case ISA_MATRIX:
        return WALK_MATRIX;
    case ISA_TRANSCENDENTAL:
        return WALK_TRANSCENDENTAL;
    case ISA_WAIT:
        return WALK_WAIT;
    case ISA_BRANCH:
        return WALK_BRANCH;
    case ISA_BARRIER:
        return WALK_OTHER; /* the barrier wait is recognised by name */
    case ISA_OTHER:
        return WALK_OTHER;
    default:
        return name[0] == 'v' ? WALK_VECTOR : WALK_SCALAR;
    }
}

/* ---- one instruction ---- */

static void end_execute(struct wave *wave, const struct op *op)
{
    (void)op;
    wave->state = WAVE_ENDED;
}

static void barrier_execute(struct wave *wave, const struct op *op)
{
    (void)op;
    wave->state = WAVE_WAITS;
}

/* Decodes loads, stores and atomics. Returns false for other instructions, or if the access is not known. */
static bool access_decode(struct op *op, const char *name)
{
    static const struct meaning described = {.names = "", .detail = 1};
    const struct isa_access *access = op->in->access;
    const bool is_lds = text_starts(name, "ds_"), is_scalar = *name == 's' && !text_starts(name, "scratch_");
    if (!access || !access->bytes || (is_scalar && access->kind != ACCESS_LOAD))
        return false;
    op->access = access;
    op->meaning = is_scalar && access->is_buffer ? &described : NULL;
    op->execute = is_scalar ? scalar_load_execute : is_lds ? lds_execute : access_execute;
    op->class = (uint8_t)(is_scalar                      ? WALK_SCALAR_LOAD
                          : is_lds                       ? WALK_LDS
                          : access->kind == ACCESS_LOAD  ? WALK_LOAD
                          : access->kind == ACCESS_STORE ? WALK_STORE
                                                         : WALK_ATOMIC);
    return true;
}

const struct isa_operand *operand_at(const struct op *op, int number)
{
    static const struct isa_operand none = {.kind = OPERAND_NONE};
    return number >= 0 && number < op->operand_count ? &op->operands[number] : &none;
}

static bool flow_decode(struct op *op, const char *name)
{
    if (text_starts(name, "s_endpgm") || strcmp(name, "s_rfe_b64") == 0) {
        op->execute = end_execute;
        op->class = WALK_OTHER;
    } else if (strcmp(name, "s_barrier") == 0 || strcmp(name, "s_barrier_wait") == 0) {
        op->execute = barrier_execute;
        op->class = WALK_BARRIER;
    } else if (text_starts(name, "s_branch") || text_starts(name, "s_cbranch_")) {
        op->execute = branch_execute;
        op->class = WALK_BRANCH;
    } else {
        return false;
    }
    return true;
}

static void decode_meaning(struct op *op, const char *name)
{
    op->class = class_of(op->in, name);
    if (flow_decode(op, name) || compare_decode(op, name)) {
        if (op->execute == compare_execute)
            op->sources_first = op->operand_count > 2 ? 1 : 0;
        return;
    }
    op->execute = NULL;
    if (access_decode(op, name))
        return;
    op->meaning = find_meaning(name);
    if (op->meaning && op->meaning->class)
        op->class = op->meaning->class;
    bool halves = false; /* half registers such as "v1.l" */
    for (const char *text = op->in->operands, *at = text; (at = strchr(at, '.')) != NULL; at++)
        halves |= at > text && (isdigit((unsigned char)at[-1]) || at[-1] == ']') && (at[1] == 'l' || at[1] == 'h');
    if (op->meaning && !halves)
        op->execute = op->meaning->execute;
    else
        op->unknown_data = is_data(op->in, name);
}

static void decode(struct op *op, const struct isa_instruction *in, const struct walk_code *code, struct arena *arena)
{
    char name[NAME_ROOM];
    *op = (struct op){.in = in, .target = NO_TARGET, .clocks = in->matrix_cycles};
    const struct isa_traffic *traffic =
        in->loop == ISA_NO_LOOP ? NULL : &code->isa->loops[in->loop].inclusive.traffic[ISA_GLOBAL];
    op->serves_access = !traffic || traffic->loads + traffic->stores + traffic->atomics > 0;
    plain_name(name, in->mnemonic);
    if (strstr(in->operands, " clamp") && (!strcmp(name, "v_add_u32") || !strcmp(name, "v_sub_u32")))
        memcpy(name + strlen("v_add"), "_sat_u32", sizeof("_sat_u32"));
    op->width = strstr(name, "64") && name[0] == 's' ? 64 : 32;
    if (strstr(name, "_f64") && name[0] == 'v')
        op->width = 64;
    /* Sources follow the destination, and the mask if one is written. */
    const bool writes_mask = strstr(name, "_co_") || text_starts(name, "v_div_scale") ||
                             text_starts(name, "v_mad_u64") || text_starts(name, "v_mad_i64");
    op->sources_first = writes_mask ? 2 : 1;
    op->operand_count = in->operand_count < MAX_SOURCES ? in->operand_count : MAX_SOURCES;
    memcpy(op->operands, in->operand, op->operand_count * sizeof(*op->operands));
    decode_meaning(op, name);
    op->is_index = op->class == WALK_VECTOR && op->serves_access && !is_data(in, name);
    op->is_f64 = op->class == WALK_VECTOR && strstr(name, "_f64");
    if (name[0] == 'v')
        op->modifiers = modifiers_read(name, in->operands, arena);
    if (strcmp(name, "s_nop") == 0)
        op->clocks = 4 * (1 + (uint32_t)strtoul(in->operands, NULL, 0) % 16);
    if (!in->dual)
        return;
    struct op *second = arena_alloc(arena, sizeof(*second));
    decode(second, in->dual, code, arena);
    op->second = second;
}

/* ---- all instructions ---- */

static size_t find_op(const struct walk_code *code, uint64_t address)
{
    size_t low = 0, high = code->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (code->ops[middle].in->address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < code->count && code->ops[low].in->address == address ? low : NO_TARGET;
}

static void count_registers(struct walk_code *code, const struct op *op, uint32_t most[2])
{
    for (unsigned k = 0; op && k < op->operand_count; k++) {
        const struct isa_operand *operand = &op->operands[k];
        const bool acc = operand->first >= ISA_ACC_BASE;
        const uint32_t end = operand->first + operand->count - (acc ? ISA_ACC_BASE : 0u);
        if (operand->kind == OPERAND_VECTOR && most[acc] < end)
            most[acc] = end;
    }
    if (op && op->second)
        count_registers(code, op->second, most);
}

static void number_registers(struct op *op, uint32_t first_acc)
{
    for (unsigned k = 0; k < op->operand_count; k++)
        if (op->operands[k].kind == OPERAND_VECTOR && op->operands[k].first >= ISA_ACC_BASE)
            op->operands[k].first = (uint16_t)(op->operands[k].first - ISA_ACC_BASE + first_acc);
    if (op->second)
        number_registers(op->second, first_acc);
}

/* True if an operand has one of the registers; with `put`, sets them instead. */
static bool among(bool registers[VECTORS + SCALARS], const struct isa_operand *operand, const bool *put)
{
    const unsigned from = operand->kind == OPERAND_SCALAR ? VECTORS : 0, most = from ? VECTORS + SCALARS : VECTORS;
    bool any = false;
    for (unsigned k = from + operand->first; k < from + operand->first + operand->count && k < most; k++) {
        if (put && (operand->kind == OPERAND_VECTOR || from))
            registers[k] = *put;
        any |= (operand->kind == OPERAND_VECTOR || from) && registers[k];
    }
    return any;
}

/* Follows the result of a load once around its loop. */
static bool is_chased(const struct walk_code *code, size_t load)
{
    bool reached[VECTORS + SCALARS] = {false}, yes = true;
    const struct op *first = &code->ops[load];
    (void)among(reached, operand_at(first, first->access->destination), &yes);
    for (size_t step = 1; step < code->count; step++) {
        const struct op *op = &code->ops[(load + step) % code->count];
        bool from_load = false;
        for (unsigned k = op->in->reads_destination ? 0 : op->in->destinations; k < op->operand_count; k++)
            from_load |= op->in->loop == first->in->loop && among(reached, &op->operands[k], NULL);
        for (unsigned k = 0; op->in->loop == first->in->loop && k < op->in->destinations && k < op->operand_count; k++)
            (void)among(reached, &op->operands[k], &from_load);
    }
    return among(reached, operand_at(first, first->access->address), NULL);
}

const struct walk_code *walk_decode(const struct isa_kernel *isa, const char *target, struct arena *arena)
{
    struct walk_code *code = arena_alloc(arena, sizeof(*code));
    uint32_t most[2] = {3, 0};
    code->isa = isa;
    code->target = arena_strdup(arena, target);
    code->count = isa->instruction_count;
    code->wave = isa->code.wave == 32 ? 32 : 64;
    code->is_gfx12 = text_starts(target, "gfx12");
    code->is_gfx10 = text_starts(target, "gfx1");
    code->ops = arena_array(arena, code->count + 1, sizeof(*code->ops));
    for (size_t k = 0; k < code->count; k++) {
        decode(&code->ops[k], &isa->instructions[k], code, arena);
        count_registers(code, &code->ops[k], most);
    }
    code->first_acc = most[0];
    code->vectors = most[0] + most[1];
    for (size_t k = 0; k < code->count; k++) {
        number_registers(&code->ops[k], code->first_acc);
        if (isa->instructions[k].target)
            code->ops[k].target = find_op(code, isa->instructions[k].target);
    }
    for (size_t k = 0; k < code->count; k++)
        code->ops[k].is_chased =
            code->ops[k].class == WALK_LOAD && isa->instructions[k].loop != ISA_NO_LOOP && is_chased(code, k);
    const size_t entry = find_op(code, isa->code.code_address);
    code->entry = entry == NO_TARGET ? 0 : entry;
    needed_find(code);
    /* Loops that find the first remaining lane and read it. */
    for (size_t loop = 0; loop < isa->loop_count; loop++) {
        bool finds = false, reads = false;
        for (size_t k = 0; k < code->count; k++) {
            const struct isa_instruction *in = code->ops[k].in;
            finds |= in->loop == loop && (text_starts(in->mnemonic, "s_ff1_") || text_starts(in->mnemonic, "s_ctz_"));
            reads |= in->loop == loop && text_starts(in->mnemonic, "v_readlane_");
        }
        for (size_t k = 0; finds && reads && k < code->count; k++)
            code->ops[k].takes_lanes |= code->ops[k].in->loop == loop;
    }
    return code;
}

const struct isa_kernel *walk_code_isa(const struct walk_code *code)
{
    return code->isa;
}

const char *walk_code_target(const struct walk_code *code)
{
    return code->target;
}
