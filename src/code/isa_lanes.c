/* SPDX-License-Identifier: MIT
 *
 * Computes the distance between addresses of neighbouring lanes where the code alone determines it: for addresses
 * that are sums of multiples of the work-item number and of uniform values. A forward data flow over basic blocks to
 * a fixed point; where paths with different distances join, the distance is unknown. Lanes are assumed to be
 * neighbours in x. Distances hold within aligned groups of lanes, not from one group to the next.
 */

#include "isa_scalar.h"

#define TRACKED 256u /* registers */
#define MAX_PASSES 8u
#define GROUP 32u /* lanes */
#define BANKS 32u
#define BANK_BYTES 4u
#define LDS_BYTES 128u /* per clock */
#define MANY_WAYS 4u   /* least conflict that is reported */
#define LINE_BYTES 64u

/* The difference of a register between neighbouring lanes. */
struct step {
    bool known;
    int32_t by;
};
struct state {
    bool reached;
    struct step of[TRACKED];
    struct scalars scalars;
};

static struct step step_of(const struct state *state, const struct isa_operand *operand)
{
    if (operand->kind == OPERAND_SCALAR || operand->kind == OPERAND_CONSTANT)
        return (struct step){.known = true};
    if (operand->kind != OPERAND_VECTOR || operand->first >= TRACKED || operand->negates || operand->absolute)
        return (struct step){0};
    return state->of[operand->first];
}

static struct step sum(struct step a, struct step b)
{
    return (struct step){a.known && b.known, (int32_t)((uint32_t)a.by + (uint32_t)b.by)};
}

static struct step times(struct step a, uint64_t factor)
{
    return (struct step){a.known, (int32_t)((uint32_t)a.by * (uint32_t)factor)};
}

/* A product with a constant factor, or of uniform values. */
static struct step product(const struct state *state, const struct isa_operand *a, const struct isa_operand *b)
{
    const struct step x = step_of(state, a), y = step_of(state, b);
    uint64_t factor;
    if (scalars_value(&factor, &state->scalars, b, 1))
        return times(x, factor);
    if (scalars_value(&factor, &state->scalars, a, 1))
        return times(y, factor);
    return (struct step){x.known && y.known && !x.by && !y.by, 0};
}

static struct step shifted(const struct state *state, const struct isa_operand *a, const struct isa_operand *by)
{
    const struct step step = step_of(state, a);
    if (by->kind == OPERAND_CONSTANT)
        return times(step, UINT64_C(1) << (by->constant & 31));
    return (struct step){step.known && !step.by && step_of(state, by).known, 0};
}

/* A bit field of the work-item number that covers a group's lanes, shifted or not, is again that number. */
static struct step masked(struct step step, uint64_t mask)
{
    const bool is_power = step.by > 0 && !(step.by & (step.by - 1));
    const uint64_t field = is_power ? (mask & UINT32_MAX) / (uint64_t)step.by : 0;
    step.known &= !step.by || ((field & (GROUP - 1)) == GROUP - 1 && !(field & (field + 1)));
    return step;
}

enum form { SUM, SHIFT, SHIFT_ADD, ADD_SHIFT, MULTIPLY, MULTIPLY_ADD, MASK, FIELD, COUNT, RIGHT };

static const struct form_row {
    const char *names; /* after "v_" or "v_dual_" */
    enum form form;
    unsigned first; /* index of the first source */
    int signs[3];   /* of the sources of a SUM; 0: none */
} forms[] = {
    {"mov_b32 mov_b64", SUM, 1, {1}},
    {"add_u32 add_nc_u32 add_nc_u64 or_b32", SUM, 1, {1, 1}},
    {"add_co_u32", SUM, 2, {1, 1}},
    {"sub_u32 sub_nc_u32", SUM, 1, {1, -1}},
    {"sub_co_u32", SUM, 2, {1, -1}},
    {"subrev_u32 subrev_nc_u32", SUM, 1, {-1, 1}},
    {"add3_u32", SUM, 1, {1, 1, 1}},
    {"lshlrev_b32 lshlrev_b64", SHIFT, 1, {0}},
    {"lshl_add_u32 lshl_or_b32 lshl_add_u64", SHIFT_ADD, 1, {0}},
    {"add_lshl_u32", ADD_SHIFT, 1, {0}},
    {"mul_lo_u32 mul_u32_u24 mul_i32_i24", MULTIPLY, 1, {0}},
    {"mad_u32_u24 mad_i32_i24 mad_nc_u64_u32 mad_nc_i64_i32", MULTIPLY_ADD, 1, {0}},
    {"mad_u64_u32 mad_i64_i32 mad_co_u64_u32 mad_co_i64_i32", MULTIPLY_ADD, 2, {0}},
    {"and_b32", MASK, 1, {0}},
    {"bfe_u32", FIELD, 1, {0}},
    {"mbcnt_lo_u32_b32 mbcnt_hi_u32_b32", COUNT, 1, {0}},
    {"lshrrev_b32 ashrrev_i32", RIGHT, 1, {0}},
};

static struct step computed(const struct state *state, const struct form_row *row, const struct isa_operand *a,
                            const struct isa_operand *b, const struct isa_operand *c)
{
    const struct step x = step_of(state, a), y = step_of(state, b), z = step_of(state, c);
    struct step all = {.known = true};
    uint64_t mask;
    switch (row->form) {
    case SUM:
        for (size_t k = 0; k < COUNT_OF(row->signs) && row->signs[k]; k++)
            all = sum(all, times((struct step[]){x, y, z}[k], (uint64_t)row->signs[k]));
        return all;
    case SHIFT:
        return shifted(state, b, a);
    case SHIFT_ADD:
        return sum(shifted(state, a, b), z);
    case ADD_SHIFT:
        return c->kind == OPERAND_CONSTANT ? times(sum(x, y), UINT64_C(1) << (c->constant & 31)) : (struct step){0};
    case MULTIPLY:
        return product(state, a, b);
    case MULTIPLY_ADD:
        return sum(product(state, a, b), z);
    case MASK:
        if (scalars_value(&mask, &state->scalars, b, 1))
            return masked(x, mask);
        return scalars_value(&mask, &state->scalars, a, 1) ? masked(y, mask) : (struct step){0};
    case FIELD:
        return b->kind == OPERAND_CONSTANT && !b->constant && c->kind == OPERAND_CONSTANT
                   ? masked(x, (UINT64_C(1) << (c->constant & 31)) - 1)
                   : (struct step){0};
    case COUNT: /* count of lower lanes in the mask; with a full mask, the lane number */
        return (struct step){a->kind == OPERAND_CONSTANT, 1};
    case RIGHT: /* the number of the group; a sign */
        return (struct step){a->kind == OPERAND_CONSTANT &&
                                 (a->constant == 31 ||
                                  (y.known && (!y.by || (y.by == 1 && UINT64_C(1) << (a->constant & 31) >= GROUP)))),
                             0};
    }
    return (struct step){0};
}

static struct step result_of(const struct state *state, const struct isa_instruction *in)
{
    const size_t stem = isa_start(in->mnemonic, "v_ v_dual_"), length = isa_name_length(in->mnemonic);
    for (size_t k = 0; k < COUNT_OF(forms) && stem; k++)
        if (text_has_word(forms[k].names, " ", in->mnemonic + stem, length - stem))
            return computed(state, &forms[k], isa_operand_at(in, (int)forms[k].first),
                            isa_operand_at(in, (int)forms[k].first + 1), isa_operand_at(in, (int)forms[k].first + 2));
    return (struct step){0};
}

/* The first register receives the result. The upper half of a pair is not tracked, as distances of 4 GiB do not
 * matter. */
static void set_result(struct state *state, const struct isa_instruction *in, struct step result)
{
    for (unsigned o = 0; o < in->destinations; o++)
        for (unsigned r = in->operand[o].first; in->operand[o].kind == OPERAND_VECTOR && r < TRACKED &&
                                                r < in->operand[o].first + 0u + in->operand[o].count;
             r++)
            state->of[r] = !o && r == in->operand[o].first ? result : (struct step){0};
}

static void execute(struct state *state, const struct isa_instruction *in)
{
    const struct step first = result_of(state, in), second = in->dual ? result_of(state, in->dual) : first;
    if (in->is_call)
        *state = (struct state){.reached = true};
    scalars_step(&state->scalars, in);
    set_result(state, in, first);
    if (in->dual)
        set_result(state, in->dual, second);
}

/* Returns how many LDS accesses are serialized at this distance. */
static unsigned ways_of(int32_t step, unsigned bytes)
{
    unsigned most = 1, used[BANKS] = {0};
    const unsigned size = bytes < BANK_BYTES ? BANK_BYTES : bytes;
    const uint32_t by = (uint32_t)(step < 0 ? -step : step);
    for (uint32_t lane = 0; lane < LDS_BYTES / size && by >= BANK_BYTES; lane++)
        for (uint32_t part = 0; part < size / BANK_BYTES; part++) {
            unsigned *bank = &used[(lane * by / BANK_BYTES + part) % BANKS];
            most = ++*bank > most ? *bank : most;
        }
    return most;
}

/* The largest distance, and the accesses that have it. */
struct worst {
    const struct isa_instruction *at; /* the first */
    unsigned count, ways;
    uint32_t step, bytes;
};

static void count(struct worst *worst, const struct isa_instruction *in, unsigned ways, uint32_t step)
{
    if (step > worst->step)
        *worst = (struct worst){.at = in, .step = step};
    worst->count += step == worst->step;
    worst->bytes += step == worst->step ? in->bytes : 0;
    worst->ways = ways > worst->ways ? ways : worst->ways;
}

static void look(struct worst *lds, struct worst *global, const struct state *state, const struct isa_instruction *in)
{
    const struct isa_access *access = in->access;
    const bool moves = access && (access->kind == ACCESS_LOAD || access->kind == ACCESS_STORE) && in->bytes;
    const struct step step = step_of(state, isa_operand_at(in, moves ? access->address : -1));
    const bool offset = moves && (!access->is_buffer || (access->offset_enable && !access->index_enable));
    if (!moves || !step.known || isa_operand_at(in, access->address)->kind != OPERAND_VECTOR)
        return;
    const uint32_t by = (uint32_t)(step.by < 0 ? -step.by : step.by);
    const unsigned ways = in->space == ISA_LDS ? ways_of(step.by, access->bytes) : 0;
    if (ways >= MANY_WAYS)
        count(lds, in, ways, by);
    if (in->space == ISA_GLOBAL && offset && by >= LINE_BYTES)
        count(global, in, 0, by);
}

static void follow(struct worst *lds, struct worst *global, const struct isa_scope *scope, struct arena *arena)
{
    const struct isa_kernel *kernel = scope->kernel;
    const struct isa_blocks blocks = isa_blocks_find(kernel, arena);
    struct state *states = arena_array(arena, blocks.count, sizeof(*states)), now;
    const size_t entry = isa_find(kernel->instructions, kernel->instruction_count, kernel->code.code_address);
    bool changed = true;
    states[blocks.of[entry]].reached = true;
    states[blocks.of[entry]].of[0] = (struct step){true, 1};
    for (unsigned pass = 0; pass < MAX_PASSES && changed; pass++) {
        changed = false;
        for (size_t k = 0; k < blocks.count; k++) {
            now = states[k];
            for (size_t i = blocks.items[k].first; i < blocks.items[k].last && now.reached; i++)
                execute(&now, &kernel->instructions[i]);
            for (unsigned n = 0; n < 2 && now.reached; n++) {
                if (blocks.items[k].next[n] == SIZE_MAX)
                    continue;
                struct state *into = &states[blocks.items[k].next[n]];
                changed |= !into->reached;
                *into = into->reached ? *into : now;
                changed |= scalars_meet(&into->scalars, &now.scalars);
                for (unsigned r = 0; r < TRACKED; r++)
                    if (into->of[r].known && (!now.of[r].known || now.of[r].by != into->of[r].by)) {
                        into->of[r].known = false; /* less is known than before */
                        changed = true;
                    }
            }
        }
    }
    for (size_t k = 0; k < blocks.count && !changed; k++) {
        now = states[k];
        for (size_t i = blocks.items[k].first; i < blocks.items[k].last && now.reached; i++) {
            look(lds, global, &now, &kernel->instructions[i]);
            execute(&now, &kernel->instructions[i]);
        }
    }
}

void isa_check_strides(struct isa_scope *scope)
{
    SCOPED(arena_release) struct arena scratch = {0};
    const struct isa_traffic *lds_traffic = &scope->mix->traffic[ISA_LDS], *traffic = &scope->mix->traffic[ISA_GLOBAL];
    struct worst lds = {0}, global = {0};
    /* In a block narrower than a group in x, lanes have other neighbours. */
    const struct codeobj_kernel *code = &scope->kernel->code;
    const bool is_narrow = code->required_block[0] && code->required_block[0] < GROUP;
    if (!is_narrow && lds_traffic->loads + lds_traffic->stores + traffic->loads + traffic->stores)
        follow(&lds, &global, scope, &scratch);
    if (global.count && 4 * global.bytes <= global.step) /* otherwise the accesses of one lane use the whole line */
        isa_report(
            scope, global.at,
            "%u access%s of memory with neighbouring lanes %u bytes apart: a line for each lane, of which it takes "
            "%u bytes",
            global.count, global.count > 1 ? "es" : "", global.step, global.bytes);
    if (!lds.count)
        return;
    struct isa_finding *finding =
        isa_report(scope, lds.at, "%u access%s of LDS with neighbouring lanes %u bytes apart: %u of them in one bank",
                   lds.count, lds.count > 1 ? "es" : "", lds.step, lds.ways);
    finding->code = "bank-conflicts";
    finding->advice =
        "pad rows by one element, or exchange the roles of row and column, so that neighbouring lanes are in "
        "other banks";
}
