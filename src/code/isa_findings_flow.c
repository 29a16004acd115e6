/* SPDX-License-Identifier: MIT
 *
 * Findings on innermost loops of AMD kernels from the flow of values through registers: how the loop reads memory and
 * LDS, and whether its arithmetic waits for itself.
 */

#include "isa_internal.h"

#define FULL_WIDTH 16u

/* A wait this close after a load hides none of its latency. */
#define NEAR_COST 8.0

/* Limit on iterations of the data flow around a loop; compiler output converges in two or three. */
#define MAX_PASSES 16u

/* ---- loads ---- */

/* Finds loads whose address comes from data that the loop has loaded (an index list, a pointer chase): iterates over
 * the loop until nothing changes. Values that pass through scalar registers (readfirstlane) are lost, so such loads
 * count as ordinary. */
static const bool *find_gathers(const struct isa_scope *scope)
{
    struct isa_flow *flow = arena_alloc(scope->arena, sizeof(*flow)), before;
    bool *gathers = arena_array(scope->arena, scope->count, sizeof(*gathers));
    for (unsigned pass = 0; pass < MAX_PASSES; pass++) {
        before = *flow;
        for (size_t i = 0; i < scope->count; i++) {
            const enum isa_kind kind = scope->items[i]->kind;
            const bool loads = kind == ISA_LOAD || kind == ISA_ATOMIC || kind == ISA_LDS_READ;
            const bool hit = isa_flow_step(flow, scope->items[i], loads, false) > 0;
            gathers[i] = gathers[i] || (hit && kind == ISA_LOAD);
        }
        if (memcmp(&before, flow, sizeof(before)) == 0)
            break;
    }
    return gathers;
}

/* True if another loop processes at least twice as much at a time: this loop handles the remainder, and hardly runs. */
static bool is_remainder(const struct isa_scope *scope)
{
    const struct isa_loop *loops = scope->kernel->loops, *own = &loops[scope->loop];
    const uint64_t bytes = scope->mix->traffic[ISA_GLOBAL].load_bytes;
    return COUNT_WHERE(loop, loops, scope->kernel->loop_count,
                       loop != own && loop->is_innermost && loop->own.traffic[ISA_GLOBAL].load_bytes >= 2 * bytes);
}

void isa_check_width(struct isa_scope *scope)
{
    const struct isa_instruction *first = NULL;
    uint32_t narrowest = FULL_WIDTH, widest = 0;
    unsigned count = 0;
    /* If some loop loads full 16 bytes, narrow loops are its tails. */
    if (!scope->mix->count[ISA_LOAD] || is_remainder(scope) ||
        COUNT_WHERE(loop, scope->kernel->loops, scope->kernel->loop_count,
                    loop->own.traffic[ISA_GLOBAL].loads_by_width[ISA_16] > 0))
        return;
    const bool *gathers = find_gathers(scope);
    for (size_t i = 0; i < scope->count; i++) {
        const struct isa_instruction *in = scope->items[i];
        if (in->kind != ISA_LOAD || in->bytes == 0 || in->bytes >= FULL_WIDTH || gathers[i])
            continue;
        first = first ? first : in;
        narrowest = in->bytes < narrowest ? in->bytes : narrowest;
        widest = in->bytes > widest ? in->bytes : widest;
        count++;
    }
    const char *from = narrowest < widest ? arena_printf(scope->arena, "%u to ", narrowest) : "";
    if (first)
        isa_report(scope, first, "%u load%s of the loop take%s %s%u byte%s per lane, could take %u", count,
                   count > 1 ? "s" : "", count > 1 ? "" : "s", from, widest, widest > 1 ? "s" : "", FULL_WIDTH);
}

void isa_check_waits(struct isa_scope *scope)
{
    const struct isa_instruction *first = NULL, *open = NULL;
    unsigned loads = 0, waited = 0;
    double since = 0;
    if (!scope->mix->count[ISA_LOAD] || is_remainder(scope))
        return;
    const bool *gathers = find_gathers(scope);
    for (size_t i = 0; i < scope->count; i++) {
        const struct isa_instruction *in = scope->items[i];
        since += isa_issue_cost(in);
        if (gathers[i])
            return; /* the wait is necessary, as the result has the next address */
        if (in->kind == ISA_LOAD) {
            first = first ? first : in;
            open = in;
            loads++;
            since = 0;
        } else if (open && in->wait[COUNTER_LOAD] == 0) {
            waited += since < NEAR_COST;
            open = NULL;
        }
    }
    const char *which =
        loads == 1 ? "after its only load" : arena_printf(scope->arena, "after each of its %u loads", loads);
    if (waited >= loads)
        isa_report(scope, first, "the loop waits right %s: one load per wave is on the way", which);
}

/* 64-bit additions and shifts, whole or as two halves. */
#define MANY_WIDE 16u /* fewer take little time */

static bool is_wide(const struct isa_instruction *in)
{
    return isa_starts(in->mnemonic,
                      "v_add_co_u32 v_addc_co_u32 v_add_co_ci_u32 v_sub_co_u32 v_subb_co_u32 v_sub_co_ci_u32 "
                      "v_lshl_add_u64 v_add_nc_u64 v_sub_nc_u64 v_mad_u64_u32 v_mad_i64_i32 v_mad_nc_u64 v_mad_nc_i64 "
                      "v_lshlrev_b64 v_lshlrev_b64_ v_ashrrev_i64 v_mad_co_u64 v_mad_co_i64");
}

/* Each lane has a full 64-bit address. */
static bool has_wide_address(const struct isa_instruction *in)
{
    const struct isa_access *access = in->access;
    return in->space == ISA_GLOBAL && access && !access->is_buffer &&
           isa_operand_at(in, access->base)->kind != OPERAND_SCALAR && isa_operand_at(in, access->address)->count == 2;
}

void isa_check_addresses(struct isa_scope *scope)
{
    const struct isa_tally wide = ISA_TALLY(scope, in, is_wide(in));
    const unsigned vector = ISA_TALLY(scope, in, isa_is_vector(in->kind)).count;
    const unsigned accesses = ISA_TALLY(scope, in, has_wide_address(in)).count;
    if (wide.count >= MANY_WIDE && 2 * wide.count > vector && 4 * accesses >= wide.count)
        isa_report(scope, wide.first,
                   "%u of its %u vector instructions are 64-bit integer arithmetic, for the addresses of %u accesses",
                   wide.count, vector, accesses)
            ->severity = isa_is_memory_bound(scope) ? ISA_NOTE : ISA_HINT;
}

/* ---- lanes that leave ---- */

/* The scalar registers of a loop that hold a data-dependent mask. */
struct masks {
    struct isa_flow loaded;
    bool by_data[SCALAR_EXEC];
};

/* Processes one instruction; returns true if it removes lanes from EXEC by such a mask. */
static bool mask_step(struct masks *masks, const struct isa_instruction *in)
{
    const bool loads = in->kind == ISA_LOAD || in->kind == ISA_ATOMIC || in->kind == ISA_LDS_READ;
    const bool is_compare = isa_starts(in->mnemonic, "v_cmp_ v_cmpx_");
    const bool is_loaded = isa_flow_step(&masks->loaded, in, loads, false) > 0;
    /* Compares of floats or of loaded data. A bound on an index removes lanes only in the last iterations. */
    bool is_data = is_compare && (is_loaded || isa_has_word(in->mnemonic, "f16 f32 f64"));
    for (unsigned o = in->destinations; o < in->operand_count && !is_compare; o++)
        is_data |= in->operand[o].kind == OPERAND_SCALAR && in->operand[o].first < SCALAR_EXEC &&
                   masks->by_data[in->operand[o].first];
    const struct isa_operand *to = isa_operand_at(in, 0);
    if (to->kind == OPERAND_SCALAR && to->first < SCALAR_EXEC && (in->kind == ISA_SCALAR || is_compare))
        masks->by_data[to->first] = is_data;
    return is_data && isa_exec_of(in) == ISA_EXEC_NARROWED && !isa_has_word(in->mnemonic, "saveexec");
}

void isa_check_leaving(struct isa_scope *scope)
{
    if (!isa_loop_narrows(scope->kernel, scope->loop))
        return;
    struct masks *masks = arena_alloc(scope->arena, sizeof(*masks));
    const struct isa_kernel *kernel = scope->kernel;
    for (size_t i = 0; kernel->instructions[i].address < kernel->loops[scope->loop].first_address; i++)
        mask_step(masks, &kernel->instructions[i]);
    for (unsigned pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < scope->count; i++)
            if (mask_step(masks, scope->items[i])) {
                isa_report(scope, scope->items[i],
                           "lanes leave the loop one by one, as their data say: it ends with the last of them");
                return;
            }
}

/* ---- LDS ---- */

/* One piece of an LDS read: `bytes` at `offset` from an address register. */
struct piece {
    unsigned base;    /* the address register */
    unsigned version; /* number of earlier writes to it */
    uint32_t offset;
    uint32_t bytes;
    const struct isa_instruction *in;
};

static int by_offset(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    return x->base != y->base         ? ORDER(x->base, y->base)
           : x->version != y->version ? ORDER(x->version, y->version)
           : x->offset != y->offset   ? ORDER(x->offset, y->offset)
                                      : ORDER(x->in->address, y->in->address);
}

static size_t find_pieces(struct piece *pieces, const struct isa_scope *scope)
{
    unsigned *versions = arena_array(scope->arena, ISA_VECTORS, sizeof(*versions));
    size_t count = 0;
    for (size_t i = 0; i < scope->count; i++) {
        const struct isa_instruction *in = scope->items[i];
        const struct isa_access *access = in->access;
        const struct isa_operand *address = isa_operand_at(in, access ? access->address : -1);
        for (unsigned k = 0; in->kind == ISA_LDS_READ && address->kind == OPERAND_VECTOR && k < (access->pair ? 2 : 1);
             k++)
            pieces[count++] = (struct piece){address->first, versions[address->first],
                                             (uint32_t)(k ? access->offset1 : access->offset), access->bytes, in};
        for (const struct isa_instruction *half = in; half; half = half->dual)
            for (unsigned o = 0; o < half->destinations; o++)
                for (unsigned r = 0; half->operand[o].kind == OPERAND_VECTOR && r < half->operand[o].count; r++)
                    versions[half->operand[o].first + r]++;
    }
    qsort(pieces, count, sizeof(*pieces), by_offset);
    return count;
}

void isa_check_lds(struct isa_scope *scope)
{
    const struct isa_instruction *first = NULL;
    unsigned narrow = 0;
    if (scope->mix->count[ISA_LDS_READ] < 2)
        return;
    struct piece *pieces = arena_array(scope->arena, 2 * scope->count, sizeof(*pieces));
    const size_t count = find_pieces(pieces, scope);
    for (size_t from = 0, to; from < count; from = to) {
        const struct piece *run = &pieces[from];
        for (to = from + 1; to < count; to++)
            if (pieces[to].base != run->base || pieces[to].version != run->version ||
                pieces[to].offset != pieces[to - 1].offset + pieces[to - 1].bytes)
                break;
        const uint32_t bytes = pieces[to - 1].offset + pieces[to - 1].bytes - run->offset;
        unsigned reads = 0; /* reads narrower than the run would allow */
        for (size_t i = from; i < to && bytes >= 8; i++)
            reads += pieces[i].in->bytes < (bytes >= 16 ? 16 : 8) && (i == from || pieces[i].in != pieces[i - 1].in);
        reads = reads > 1 ? reads : 0;
        narrow += reads;
        first = reads && (!first || pieces[from].in->address < first->address) ? pieces[from].in : first;
    }
    if (narrow)
        isa_report(scope, first,
                   "%u of %llu LDS reads of the loop take 4 or 8 bytes side by side, could be 8 or 16 at once", narrow,
                   (unsigned long long)scope->mix->count[ISA_LDS_READ]);
}

/* ---- chains ----
 *
 * Measures the longest chain of dependent multiplications per pass through the loop, as the increase from the first
 * pass to the second, relative to their number. Latency is in units of issue, for one wave on its SIMD (LLVM's
 * scheduling models): a plain vector instruction of CDNA has none, because its result is ready when the wave can issue
 * again; RDNA issues every clock and has results after 5; a matrix instruction takes its passes plus 4 more. */
#define RDNA_LATENCY 5.0
#define MATRIX_EXTRA_PASSES 4.0
#define CLOCKS_PER_PASS 4.0

/* A chain matters only if the loop multiplies at least this often per load or LDS read. */
#define WORK_PER_READ 4u

/* With more independent instructions than this, enough are in flight already. */
#define FEW_CHAINS 2.0

static bool is_product(const struct isa_instruction *in)
{
    return in->kind == ISA_MATRIX || (in->flops > 0 && in->kind != ISA_TRANSCENDENTAL);
}

/* Returns the longest chain after one more pass. */
static double pass(struct isa_flow *flow, const struct isa_scope *scope, double longest)
{
    for (size_t i = 0; i < scope->count; i++) {
        const double own = is_product(scope->items[i]);
        const double depth = isa_flow_step(flow, scope->items[i], own, true) + own;
        longest = depth > longest ? depth : longest;
    }
    return longest;
}

void isa_check_chain(struct isa_scope *scope)
{
    const uint64_t *counts = scope->mix->count;
    const struct isa_instruction *first = NULL;
    unsigned products = 0;
    double latency = 1;
    for (size_t i = 0; i < scope->count; i++) {
        if (!is_product(scope->items[i]))
            continue;
        /* Issue slots until a result is available; 1: immediately. */
        const struct isa_instruction *in = scope->items[i];
        const double passes = in->matrix_cycles / CLOCKS_PER_PASS;
        const bool waits = passes > 0 && isa_starts(in->mnemonic, "v_mfma v_smfmac");
        const double found = in->kind == ISA_MATRIX ? (waits ? (passes + MATRIX_EXTRA_PASSES) / passes : 1)
                             : text_starts(scope->target, "gfx9") ? 1
                                                                  : RDNA_LATENCY / (scope->kernel->code.wave / 32.0);
        first = first ? first : scope->items[i];
        latency = found > latency ? found : latency;
        products++;
    }
    if (!first || products < WORK_PER_READ * (counts[ISA_LOAD] + counts[ISA_LDS_READ] + counts[ISA_SCRATCH_LOAD]))
        return;
    struct isa_flow *flow = arena_alloc(scope->arena, sizeof(*flow));
    const double before = pass(flow, scope, pass(flow, scope, 0));
    const unsigned grown = (unsigned)(pass(flow, scope, before) - before);
    const double side_by_side = grown ? (double)products / grown : latency;
    if (!grown || side_by_side >= FEW_CHAINS || latency / side_by_side <= 1)
        return;
    isa_report(scope, first,
               "%u of the %u floating-point and matrix instructions of a pass wait for each other: by LLVM's latencies "
               "one wave alone reaches "
               "about %.0f %% of the rate",
               grown, products, 100 * side_by_side / latency)
        ->advice = arena_printf(scope->arena,
                                "several independent accumulators per lane; otherwise at least %.0f waves per SIMD are "
                                "needed to fill the gaps",
                                latency / side_by_side);
}
