/* SPDX-License-Identifier: MIT
 *
 * What is worth changing in a kernel, of the kernel as a whole and of single loops. Each check would rather miss
 * something than say something that is not so.
 */
#include <stdlib.h>
#include <string.h>

#include "isa_internal.h"
#include "rooftile/targets.h"

/* A transcendental takes four times as long as a plain vector instruction (a quarter of the rate on CDNA and RDNA). */
#define TRANSCENDENTAL_COST 4.0

/* Clocks of a matrix instruction in units of a plain vector instruction, four clocks on CDNA. On RDNA, where it is one
 * clock, this underestimates matrix instructions: conversions beside them are then reported rather too early than too
 * late. */
#define CLOCKS_PER_COST 4.0

#define MANY_CONVERSIONS 4u
#define MANY_TRANSCENDENTALS 2u
#define MANY_COPIES 4u

/* Less issue time than this between two barriers is less than a barrier takes. */
#define SMALL_STEP_COST 32.0

/* 2^64 as a float, a little smaller: the factor in LLVM's 64-bit division. */
#define DIVISION_64_LITERAL "0x5f7ffffc"

double isa_issue_cost(const struct isa_instruction *in)
{
    switch (in->kind) {
    case ISA_TRANSCENDENTAL:
        return TRANSCENDENTAL_COST;
    case ISA_MATRIX:
        return in->matrix_cycles / CLOCKS_PER_COST;
    case ISA_VECTOR:
    case ISA_PACKED:
    case ISA_DUAL:
    case ISA_CONVERSION:
    case ISA_CROSS_LANE:
    case ISA_LDS_READ:
    case ISA_LDS_WRITE:
        return 1;
    default:
        return 0;
    }
}

void isa_report_add(struct isa_report *report, struct isa_finding finding)
{
    struct isa_kernel *kernel = report->kernel;
    if (kernel->finding_count == report->capacity) {
        report->capacity = report->capacity * 2 + 8;
        struct isa_finding *grown = arena_array(report->arena, report->capacity, sizeof(*grown));
        if (kernel->finding_count)
            memcpy(grown, kernel->findings, kernel->finding_count * sizeof(*grown));
        kernel->findings = grown;
    }
    kernel->findings[kernel->finding_count++] = finding;
}

static const struct isa_instruction *first_of(const struct isa_body *body, enum isa_kind kind)
{
    for (size_t i = 0; i < body->count; i++)
        if (body->items[i]->kind == kind)
            return body->items[i];
    return NULL;
}

static double cost_of(const struct isa_body *body)
{
    double cost = 0;
    for (size_t i = 0; i < body->count; i++)
        cost += isa_issue_cost(body->items[i]);
    return cost;
}

/* Bytes that a loop moves per lane take at least as long as its vector instructions, even from the nearest cache (64
 * bytes per clock and CU, while its four SIMDs issue one wave's instruction each in four clocks): what it computes is
 * hidden. */
static bool is_memory_bound(const struct isa_loop *loop, double cost)
{
    return isa_global_bytes_per_wave(&loop->own, 1) > cost;
}

static void check_scratch(struct isa_report *report)
{
    const struct isa_kernel *kernel = report->kernel;
    const struct isa_traffic *all = &kernel->mix.traffic[ISA_SCRATCH];
    const struct isa_instruction *first = NULL;
    uint64_t inside = 0, bytes = 0;
    for (size_t i = 0; i < kernel->instruction_count; i++) {
        const struct isa_instruction *in = &kernel->instructions[i];
        if (in->space != ISA_SCRATCH || (first && in->loop == ISA_NO_LOOP))
            continue;
        if (!first || (inside == 0 && in->loop != ISA_NO_LOOP))
            first = in;
        inside += in->loop != ISA_NO_LOOP;
        bytes += in->loop != ISA_NO_LOOP ? in->bytes : 0;
    }
    if (!first && !kernel->symbol.vgpr_spills)
        return;
    const char *spills = kernel->symbol.vgpr_spills
                             ? arena_printf(report->arena, "; %u VGPRs are spilled", kernel->symbol.vgpr_spills)
                             : "";
    static const char advice[] = "fewer live registers (smaller tiles, less unrolling), a smaller block or larger "
                                 "__launch_bounds__; index arrays only by constants so that they stay in registers";
    if (inside)
        isa_report_add(
            report,
            (struct isa_finding){
                "scratch-in-loop", ISA_PROBLEM, first->address, first->loop,
                arena_printf(report->arena, "%llu access%s of scratch in loops, %llu bytes per lane and pass%s",
                             (unsigned long long)inside, inside > 1 ? "es" : "", (unsigned long long)bytes, spills),
                advice});
    else
        isa_report_add(
            report,
            (struct isa_finding){"scratch", ISA_HINT, first ? first->address : kernel->symbol.address, ISA_NO_LOOP,
                                 arena_printf(report->arena, "%llu loads and %llu stores of scratch, none in a loop%s",
                                              (unsigned long long)all->loads, (unsigned long long)all->stores, spills),
                                 advice});
}

static void check_kernel(struct isa_report *report)
{
    const struct isa_kernel *kernel = report->kernel;
    check_scratch(report);
    if (kernel->symbol.sgpr_spills)
        isa_report_add(
            report,
            (struct isa_finding){
                "scalar-spills", ISA_NOTE, kernel->symbol.address, ISA_NO_LOOP,
                arena_printf(report->arena, "%u SGPRs are spilled into lanes of VGPRs", kernel->symbol.sgpr_spills),
                "fewer values that are the same for all lanes: arguments, pointers, masks of nested branches"});
    for (size_t i = 0; i < kernel->instruction_count && kernel->calls; i++) {
        const struct isa_instruction *in = &kernel->instructions[i];
        if (!isa_is_call(in))
            continue;
        isa_report_add(
            report, (struct isa_finding){
                        "calls", ISA_NOTE, in->address, in->loop,
                        arena_printf(report->arena, "%u calls of functions, which are not counted here", kernel->calls),
                        "force inlining (__forceinline__, templates instead of function pointers)"});
        return;
    }
}

/* tcgen05's take M, N and K from a descriptor in a register. */
static void check_shapes(struct isa_report *report)
{
    const struct isa_kernel *kernel = report->kernel;
    const struct isa_instruction *first = NULL;
    unsigned count = 0;
    for (size_t i = 0; i < kernel->instruction_count; i++) {
        const struct isa_instruction *in = &kernel->instructions[i];
        if (in->kind != ISA_MATRIX || in->matrix_ops)
            continue;
        first = first ? first : in;
        count++;
    }
    if (first)
        isa_report_add(
            report, (struct isa_finding){"matrix-shape", ISA_NOTE, first->address, first->loop,
                                         arena_printf(report->arena,
                                                      "the shape of %u matrix instruction%s is not in the code: their "
                                                      "operations are not counted",
                                                      count, count > 1 ? "s" : ""),
                                         ""});
}

/* LLVM's integer division estimates the quotient with these two and corrects it. */
static void check_division(struct isa_report *report)
{
    const struct isa_kernel *kernel = report->kernel;
    const struct isa_instruction *first = NULL;
    unsigned count = 0;
    for (size_t i = 0; i < kernel->instruction_count; i++) {
        const struct isa_instruction *in = &kernel->instructions[i];
        if (!text_starts(in->mnemonic, "v_rcp_iflag_f32") && !strstr(in->operands, DIVISION_64_LITERAL))
            continue;
        count++;
        if (!first || (first->loop == ISA_NO_LOOP && in->loop != ISA_NO_LOOP))
            first = in;
    }
    if (!first)
        return;
    const bool inside = first->loop != ISA_NO_LOOP;
    isa_report_add(report,
                   (struct isa_finding){
                       "integer-division", inside ? ISA_HINT : ISA_NOTE, first->address, first->loop,
                       arena_printf(report->arena,
                                    "%u integer division%s or remainder%s in software%s, 15 to 100 instructions each",
                                    count, count > 1 ? "s" : "", count > 1 ? "s" : "", inside ? ", in a loop" : ""),
                       "divisors that are compile-time constants or powers of two, a precomputed reciprocal, or a "
                       "counter that wraps"});
}

static void check_conversions(struct isa_report *report, const struct isa_body *body)
{
    const struct isa_loop *loop = &body->kernel->loops[body->loop];
    const uint64_t count = loop->own.count[ISA_CONVERSION];
    const double all = cost_of(body);
    if (!loop->is_innermost || count < MANY_CONVERSIONS || (double)count * 3 < all || is_memory_bound(loop, all))
        return;
    isa_report_add(
        report, (struct isa_finding){
                    "conversions", ISA_HINT, first_of(body, ISA_CONVERSION)->address, body->loop,
                    arena_printf(report->arena, "%llu conversions are %.0f %% of the loop's vector issue time",
                                 (unsigned long long)count, 100 * (double)count / all),
                    "convert once outside of the loop, use packed conversions, or compute in the format of the data"});
}

static void check_transcendentals(struct isa_report *report, const struct isa_body *body)
{
    const struct isa_loop *loop = &body->kernel->loops[body->loop];
    const uint64_t count = loop->own.count[ISA_TRANSCENDENTAL];
    const double all = cost_of(body), cost = (double)count * TRANSCENDENTAL_COST;
    if (!loop->is_innermost || count < MANY_TRANSCENDENTALS || cost * 2 <= all || is_memory_bound(loop, all))
        return;
    isa_report_add(
        report,
        (struct isa_finding){
            "transcendentals", ISA_HINT, first_of(body, ISA_TRANSCENDENTAL)->address, body->loop,
            arena_printf(report->arena,
                         "%llu transcendentals at a quarter of the rate are %.0f %% of the loop's vector issue time",
                         (unsigned long long)count, 100 * cost / all),
            "fewer of them (exp2 with the scale folded in, one reciprocal for several divisions), or a polynomial for "
            "part of them"});
}

static void check_barriers(struct isa_report *report, const struct isa_body *body)
{
    const struct isa_loop *loop = &body->kernel->loops[body->loop];
    const uint64_t count = loop->own.count[ISA_BARRIER];
    const double step = count ? cost_of(body) / (double)count : 0;
    if (!loop->is_innermost || !count || step >= SMALL_STEP_COST)
        return;
    isa_report_add(
        report,
        (struct isa_finding){"barrier-per-step", ISA_NOTE, first_of(body, ISA_BARRIER)->address, body->loop,
                             arena_printf(report->arena, "a barrier every %.0f vector instructions of the loop", step),
                             "more work per step (larger slabs, two buffers with one barrier), or wave operations, "
                             "which need no barrier"});
}

static void check_copies(struct isa_report *report, const struct isa_body *body)
{
    const struct isa_loop *loop = &body->kernel->loops[body->loop];
    const struct isa_instruction *first = NULL;
    uint64_t copies = 0;
    for (size_t i = 0; i < body->count; i++) {
        if (!text_starts(body->items[i]->mnemonic, "v_accvgpr_"))
            continue;
        first = first ? first : body->items[i];
        copies++;
    }
    if (!loop->is_innermost || copies < MANY_COPIES || copies <= loop->own.count[ISA_MATRIX])
        return;
    isa_report_add(report,
                   (struct isa_finding){
                       "accumulator-copies", ISA_HINT, first->address, body->loop,
                       arena_printf(report->arena, "%llu copies between VGPRs and AGPRs, for %llu matrix instructions",
                                    (unsigned long long)copies, (unsigned long long)loop->own.count[ISA_MATRIX]),
                       "registers are short, or accumulators are used by vector instructions inside the loop: smaller "
                       "tiles, or move that use behind the loop"});
}

static void check_loop(struct isa_report *report, const struct isa_body *body)
{
    check_conversions(report, body);
    check_transcendentals(report, body);
    check_barriers(report, body);
    check_copies(report, body);
    isa_check_memory(report, body);
    isa_check_lds(report, body);
    isa_check_chain(report, body);
}

static int by_weight(const void *a, const void *b)
{
    const struct isa_finding *x = a, *y = b;
    if (x->severity != y->severity)
        return x->severity > y->severity ? -1 : 1;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return strcmp(x->code, y->code);
}

/* Own instructions of all loops, one array: those of a loop lie together, by address. */
static void fill_bodies(struct isa_body *bodies, const struct isa_kernel *kernel, const char *target,
                        struct arena *arena)
{
    size_t used = 0;
    const struct isa_instruction **items = arena_array(arena, kernel->instruction_count, sizeof(*items));
    for (size_t loop = 0; loop < kernel->loop_count; loop++) {
        bodies[loop] = (struct isa_body){kernel, target, loop, items + used, 0};
        used += kernel->loops[loop].own.instructions;
    }
    for (size_t i = 0; i < kernel->instruction_count; i++) {
        const struct isa_instruction *in = &kernel->instructions[i];
        if (in->loop != ISA_NO_LOOP)
            bodies[in->loop].items[bodies[in->loop].count++] = in;
    }
}

void isa_findings_fill(struct isa_kernel *kernel, const char *target, struct arena *arena)
{
    struct isa_report report = {.kernel = kernel, .arena = arena};
    struct isa_body *bodies = arena_array(arena, kernel->loop_count, sizeof(*bodies));
    const bool is_sass = target_is_nvidia(target); /* the other checks know LLVM's code and AMD's rates */
    check_kernel(&report);
    check_shapes(&report);
    if (!is_sass) {
        check_division(&report);
        isa_check_lanes(&report);
    }
    fill_bodies(bodies, kernel, target, arena);
    for (size_t loop = 0; loop < kernel->loop_count; loop++)
        if (is_sass)
            check_barriers(&report, &bodies[loop]);
        else
            check_loop(&report, &bodies[loop]);
    if (kernel->finding_count)
        qsort(kernel->findings, kernel->finding_count, sizeof(*kernel->findings), by_weight);
}
