/* SPDX-License-Identifier: MIT
 *
 * Findings on a kernel as a whole and on single loops: a table of rules. Rules prefer missing a problem to reporting a
 * false one.
 */

#include "isa_internal.h"
#include "rooftile/targets.h"

/* A transcendental takes four times as long as a plain vector instruction (a quarter of the rate on CDNA and RDNA). */
#define TRANSCENDENTAL_COST 4.0

/* Converts clocks of a matrix instruction to units of a plain vector instruction, which takes four clocks on CDNA. RDNA
 * takes one clock, so there this underestimates matrix instructions, and conversions in their loops are reported too
 * early rather than too late. */
#define CLOCKS_PER_COST 4.0

#define MANY_CONVERSIONS 4u
#define MANY_TRANSCENDENTALS 2u
#define MANY_COPIES 4u

/* Issue time between two barriers; below this the barrier costs more than the work between them. */
#define SMALL_STEP_COST 32.0

/* 2^64 as a float, a little smaller: the factor in LLVM's 64-bit division. */
#define DIVISION_64_LITERAL "0x5f7ffffc"

double isa_issue_cost(const struct isa_instruction *in)
{
    return in->kind == ISA_TRANSCENDENTAL ? TRANSCENDENTAL_COST
           : in->kind == ISA_MATRIX       ? in->matrix_cycles / CLOCKS_PER_COST
                                    : isa_is_vector(in->kind) || in->kind == ISA_LDS_READ || in->kind == ISA_LDS_WRITE;
}

struct isa_finding *isa_report(struct isa_scope *scope, const struct isa_instruction *at, const char *format, ...)
{
    struct isa_kernel *kernel = scope->kernel;
    va_list args;
    va_start(args, format);
    ARENA_PUSH(scope->arena, kernel->findings, kernel->finding_count,
               (struct isa_finding){.code = scope->rule->code,
                                    .severity = scope->rule->severity,
                                    .address = at ? at->address : kernel->code.code_address,
                                    .loop = at ? at->loop : ISA_NO_LOOP,
                                    .what = arena_vprintf(scope->arena, format, args),
                                    .advice = scope->rule->advice});
    va_end(args);
    return &kernel->findings[kernel->finding_count - 1];
}

/* ---- kernels ---- */

/* Spills and arrays need different advice. NVIDIA files may not show which of them is present. */
static const char *scratch_advice(const struct isa_scope *scope)
{
    static const char spilled[] = "fewer live registers (smaller tiles, less unrolling), or smaller __launch_bounds__, "
                                  "which leave a lane more registers",
                      array[] = "an array of the stack: index it only by constants so that it stays in registers";
    const struct codeobj_kernel *code = &scope->kernel->code;
    const bool is_known = !target_is_nvidia(scope->target) || code->spill_bytes_known;
    if (code->vgpr_spills || code->spill_store_bytes)
        return spilled;
    return is_known ? array : arena_printf(scope->arena, "spills: %s. Or %s", spilled, array);
}

static const char *spills_of(const struct isa_scope *scope)
{
    const unsigned spills = scope->kernel->code.vgpr_spills;
    return spills ? arena_printf(scope->arena, "; %u VGPRs are spilled", spills) : "";
}

static void check_scratch_in_loop(struct isa_scope *scope)
{
    uint64_t bytes = 0;
    const struct isa_tally found =
        ISA_TALLY(scope, in, in->space == ISA_SCRATCH && in->loop != ISA_NO_LOOP && (bytes += in->bytes, true));
    if (found.count)
        isa_report(scope, found.first, "%u access%s of scratch in loops, %llu bytes per lane and pass%s", found.count,
                   found.count > 1 ? "es" : "", (unsigned long long)bytes, spills_of(scope))
            ->advice = scratch_advice(scope);
}

static void check_scratch(struct isa_scope *scope)
{
    const struct isa_traffic *all = &scope->mix->traffic[ISA_SCRATCH];
    const struct isa_tally found = ISA_TALLY(scope, in, in->space == ISA_SCRATCH);
    if (ISA_TALLY(scope, in, in->space == ISA_SCRATCH && in->loop != ISA_NO_LOOP).count)
        return; /* reported by scratch-in-loop */
    if (found.count || scope->kernel->code.vgpr_spills)
        isa_report(scope, found.first, "%llu loads and %llu stores of scratch, none in a loop%s",
                   (unsigned long long)all->loads, (unsigned long long)all->stores, spills_of(scope))
            ->advice = scratch_advice(scope);
}

/* Flat accesses may reach scratch, and so may called functions. */
static bool is_load_of_anything(const struct isa_instruction *in)
{
    return in->space == ISA_SCRATCH && in->kind != ISA_SCRATCH_STORE
               ? true
               : isa_starts(in->mnemonic, "flat_load flat_atomic") ||
                     (isa_is_opcode(in, "LD ATOM") && !isa_has_word(in->mnemonic, "G"));
}

static void check_scalar_spills(struct isa_scope *scope)
{
    if (scope->kernel->code.sgpr_spills)
        isa_report(scope, NULL, "%u SGPRs are spilled into lanes of VGPRs", scope->kernel->code.sgpr_spills);
}

static void check_unread(struct isa_scope *scope)
{
    struct isa_tally stores = ISA_TALLY(scope, in, in->kind == ISA_SCRATCH_STORE);
    /* Generic stores reach scratch if the kernel makes generic pointers to its stack. */
    if (!stores.count && ISA_TALLY(scope, in, strstr(in->operands, "src_private_base")).count)
        stores = ISA_TALLY(scope, in, text_starts(in->mnemonic, "flat_store"));
    if (stores.count && !scope->kernel->not_followed && !ISA_TALLY(scope, in, is_load_of_anything(in)).count)
        isa_report(scope, stores.first, "%u store%s of scratch, which nothing loads", stores.count,
                   text_s(stores.count));
}

static void check_calls(struct isa_scope *scope)
{
    const struct isa_tally found = ISA_TALLY(scope, in, in->is_indirect && !in->target && !in->is_return);
    if (scope->kernel->not_followed)
        isa_report(scope, found.first,
                   "%u call%s or jump%s through registers: where they go is not in the code, and not counted here",
                   scope->kernel->not_followed, text_s(scope->kernel->not_followed),
                   text_s(scope->kernel->not_followed));
}

/* tcgen05 instructions take M, N and K from a descriptor in a register. */
static void check_shapes(struct isa_scope *scope)
{
    const struct isa_tally found = ISA_TALLY(scope, in, in->kind == ISA_MATRIX && !in->matrix_ops);
    if (found.count)
        isa_report(scope, found.first,
                   "the shape of %u matrix instruction%s is not in the code: their operations are not counted",
                   found.count, text_s(found.count));
}

/* LLVM's integer division estimates the quotient with one of these and corrects it. */
static bool divides(const struct isa_instruction *in)
{
    return text_starts(in->mnemonic, "v_rcp_iflag_f32") || strstr(in->operands, DIVISION_64_LITERAL) ||
           (in->dual && strstr(in->dual->operands, DIVISION_64_LITERAL));
}

static void check_division(struct isa_scope *scope)
{
    const struct isa_tally all = ISA_TALLY(scope, in, divides(in));
    const struct isa_tally inner = ISA_TALLY(scope, in, divides(in) && in->loop != ISA_NO_LOOP);
    const bool inside = inner.count > 0;
    if (!all.count)
        return;
    isa_report(scope, inside ? inner.first : all.first,
               "%u integer division%s or remainder%s in software%s, 15 to 100 instructions each", all.count,
               text_s(all.count), text_s(all.count), inside ? ", in a loop" : "")
        ->severity = inside ? ISA_HINT : ISA_NOTE;
}

/* ---- instructions that need all lanes, in code where some may be off ----
 *
 * LLVM before 22 does not mark WMMA, v_permlane16, v_permlanex16 and moves by DPP8 as convergent on AMD targets
 * (llvm-project pull requests 142962, 165602, 178314, 182162), and LLVM 22 still not the WMMA of gfx11. If only some
 * lanes use a result, machine-sink moves the instruction into their branch. MFMA and DPP16 are not moved.
 *
 * Active lanes are tracked through instructions in address order, which is how LLVM lays out branches: off after a
 * comparison that writes EXEC or an s_and_saveexec, on again where EXEC is set or or-ed with the saved mask. Code
 * reached only from elsewhere counts as on. Loops that lanes leave one by one are not detected. */

static void check_lanes(struct isa_scope *scope)
{
    const struct isa_instruction *branch = NULL, *first = NULL, *off = NULL;
    unsigned count = 0;
    for (size_t i = 0; i < scope->count; i++) {
        const struct isa_instruction *in = scope->items[i];
        const enum isa_exec exec = isa_exec_of(in);
        /* All lanes are on afterwards, or the following code is reached from elsewhere. */
        if (exec == ISA_EXEC_SET || isa_starts(in->mnemonic, "s_branch s_endpgm s_setpc_"))
            branch = NULL;
        else if (!branch && exec == ISA_EXEC_NARROWED)
            branch = in;
        const bool is_together =
            isa_starts(in->mnemonic, "v_wmma_ v_swmmac_ v_permlane16_ v_permlanex16_ v_permlane64_") ||
            strstr(in->operands, "dpp8:");
        if (!branch || !is_together)
            continue;
        count++;
        off = first ? off : branch;
        first = first ? first : in;
    }
    if (first)
        isa_report(scope, first,
                   "%u instruction%s of the whole wave (%s first) behind %s at %llx, which may switch lanes off", count,
                   text_s(count), first->mnemonic, off->mnemonic, (unsigned long long)off->address);
}

/* ---- innermost loops ---- */

/* The bytes that a loop moves per lane take at least as long as its vector instructions, even from the nearest cache
 * (64 bytes per clock and CU, while each of its four SIMDs issues an instruction of one wave in four clocks). So its
 * computation is hidden. */
bool isa_is_memory_bound(const struct isa_scope *scope)
{
    return !(isa_global_bytes_per_wave(scope->mix, 1) <= scope->cost); /* false if its bytes are unknown */
}

static void check_conversions(struct isa_scope *scope)
{
    const uint64_t count = scope->mix->count[ISA_CONVERSION];
    if (count >= MANY_CONVERSIONS && (double)count * 3 >= scope->cost && !isa_is_memory_bound(scope))
        isa_report(scope, ISA_TALLY(scope, in, in->kind == ISA_CONVERSION).first,
                   "%llu conversions are %.0f %% of the loop's vector issue time", (unsigned long long)count,
                   100 * (double)count / scope->cost);
}

static void check_transcendentals(struct isa_scope *scope)
{
    const uint64_t count = scope->mix->count[ISA_TRANSCENDENTAL];
    const double cost = (double)count * TRANSCENDENTAL_COST;
    if (count >= MANY_TRANSCENDENTALS && cost * 2 > scope->cost && !isa_is_memory_bound(scope))
        isa_report(scope, ISA_TALLY(scope, in, in->kind == ISA_TRANSCENDENTAL).first,
                   "%llu transcendentals at a quarter of the rate are %.0f %% of the loop's vector issue time",
                   (unsigned long long)count, 100 * cost / scope->cost);
}

static void check_barriers(struct isa_scope *scope)
{
    const uint64_t count = scope->mix->count[ISA_BARRIER];
    const double step = count ? scope->cost / (double)count : SMALL_STEP_COST;
    if (step < SMALL_STEP_COST)
        isa_report(scope, ISA_TALLY(scope, in, in->kind == ISA_BARRIER).first,
                   "a barrier every %.0f vector instructions of the loop", step);
}

static void check_copies(struct isa_scope *scope)
{
    const uint64_t products = scope->mix->count[ISA_MATRIX];
    const struct isa_tally copies = ISA_TALLY(scope, in, text_starts(in->mnemonic, "v_accvgpr_"));
    if (copies.count >= MANY_COPIES && copies.count > products)
        isa_report(scope, copies.first, "%u copies between VGPRs and AGPRs, for %llu matrix instructions", copies.count,
                   (unsigned long long)products);
}

static bool is_swap(const struct isa_instruction *in)
{
    return in->kind == ISA_ATOMIC && ((in->access && in->access->operation == ATOMIC_CMPSWAP) ||
                                      (!in->access && isa_has_word(in->mnemonic, "CAS cmpswap")));
}

static void check_swaps(struct isa_scope *scope)
{
    const struct isa_tally swaps = ISA_TALLY(scope, in, is_swap(in));
    if (swaps.count)
        isa_report(scope, swaps.first,
                   "a loop of compare and swap (%s): an atomic that the target or the compiler's options lack, or a "
                   "lock; lanes that meet take turns",
                   swaps.first->mnemonic);
}

/* ---- the rules ---- */

static const struct isa_rule rules[] = {
    {"scratch-in-loop", ISA_PROBLEM, false, true, check_scratch_in_loop, NULL},
    {"scratch", ISA_HINT, false, true, check_scratch, NULL},
    {"unread-scratch", ISA_HINT, false, true, check_unread,
     "an array or argument that is written and never used, or a volatile one: leave it out"},
    {"scalar-spills", ISA_NOTE, false, true, check_scalar_spills,
     "fewer values that are the same for all lanes: arguments, pointers, masks of nested branches"},
    {"calls", ISA_NOTE, false, true, check_calls,
     "force inlining (__forceinline__, templates instead of function pointers)"},
    {"matrix-shape", ISA_NOTE, false, true, check_shapes, ""},
    {"integer-division", ISA_NOTE, false, false, check_division,
     "divisors that are compile-time constants or powers of two, a precomputed reciprocal, or a counter that wraps"},
    {"lanes-off", ISA_HINT, false, false, check_lanes,
     "wrong unless all lanes or none take that branch. LLVM (before 22, for WMMA of gfx11 22 too) moves them there "
     "when only some lanes use the result: asm(\"\" : \"+v\"(result)) before the branch keeps them"},
    {"compare-and-swap", ISA_HINT, true, true, check_swaps,
     "an atomic of the hardware: integers, or floats with -munsafe-fp-atomics or unsafeAtomicAdd; sum in registers or "
     "LDS first, so that few atomics are left"},
    {"lanes-leave", ISA_NOTE, true, false, isa_check_leaving,
     "let lanes of a wave turn equally often (sort or split the work), or take the next item where one has ended"},
    {"strided", ISA_HINT, false, false, isa_check_strides,
     "let neighbouring lanes take neighbouring elements, by way of LDS if the result is needed transposed"},
    {"barrier-per-step", ISA_NOTE, true, true, check_barriers,
     "more work per step (larger K tiles, two buffers with one barrier), or wave operations, which need no barrier"},
    {"conversions", ISA_HINT, true, false, check_conversions,
     "convert once outside of the loop, use packed conversions, or compute in the format of the data"},
    {"transcendentals", ISA_HINT, true, false, check_transcendentals,
     "fewer of them (exp2 with the scale folded in, one reciprocal for several divisions), or a polynomial for part "
     "of them"},
    {"accumulator-copies", ISA_HINT, true, false, check_copies,
     "registers are short, or accumulators are used by vector instructions inside the loop: smaller tiles, or move "
     "that use behind the loop"},
    {"narrow-loads", ISA_HINT, true, false, isa_check_width,
     "let each lane take neighbouring elements as one aligned vector (float4, 16 bytes)"},
    {"wait-each-load", ISA_HINT, true, false, isa_check_waits,
     "load for several iterations before the first use (unroll), or for the next iteration while this one computes"},
    {"narrow-lds", ISA_HINT, true, false, isa_check_lds,
     "read them as one vector from an address aligned to 16 bytes (float4; pad rows to a multiple of 16 bytes)"},
    {"wide-addresses", ISA_HINT, true, false, isa_check_addresses,
     "one pointer for all lanes and an offset of 32 bits each (p[i] with unsigned i and p the same in all lanes): the "
     "load adds them itself, and a step is one addition of 32 bits or a scalar one"},
    {"one-chain", ISA_HINT, true, false, isa_check_chain, NULL},
};

static int by_weight(const void *a, const void *b)
{
    const struct isa_finding *x = a, *y = b;
    return x->severity != y->severity ? ORDER(y->severity, x->severity)
           : x->address != y->address ? ORDER(x->address, y->address)
                                      : strcmp(x->code, y->code);
}

static void apply_rules(struct isa_scope *scope, size_t loop)
{
    /* Selects all instructions of the kernel, or those of a loop without inner loops. */
    const struct isa_kernel *kernel = scope->kernel;
    const bool is_all = loop == ISA_NO_LOOP;
    const uint64_t last = is_all ? UINT64_MAX : kernel->loops[loop].last_address;
    size_t i =
        is_all ? 0 : isa_find(kernel->instructions, kernel->instruction_count, kernel->loops[loop].first_address);
    scope->mix = is_all ? &kernel->mix : &kernel->loops[loop].own;
    scope->loop = loop;
    scope->count = 0;
    scope->cost = 0;
    for (; i < kernel->instruction_count && kernel->instructions[i].address <= last; i++) {
        const struct isa_instruction *in = &kernel->instructions[i];
        if (!is_all && in->loop != loop)
            continue;
        scope->items[scope->count++] = in;
        scope->cost += isa_issue_cost(in);
    }
    for (size_t k = 0; k < sizeof(rules) / sizeof(*rules); k++) {
        scope->rule = &rules[k];
        if (rules[k].is_of_loops == (loop != ISA_NO_LOOP) && (rules[k].is_sass || !target_is_nvidia(scope->target)))
            rules[k].check(scope);
    }
}

void isa_findings_fill(struct isa_kernel *kernel, const char *target, struct arena *arena)
{
    struct isa_scope scope = {.kernel = kernel, .target = target, .arena = arena};
    scope.items = arena_array(arena, kernel->instruction_count, sizeof(*scope.items));
    apply_rules(&scope, ISA_NO_LOOP);
    for (size_t loop = 0; loop < kernel->loop_count; loop++)
        if (kernel->loops[loop].is_innermost)
            apply_rules(&scope, loop);
    if (kernel->finding_count)
        qsort(kernel->findings, kernel->finding_count, sizeof(*kernel->findings), by_weight);
}
