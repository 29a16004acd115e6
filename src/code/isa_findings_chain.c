/* SPDX-License-Identifier: MIT
 *
 * Do the multiplications of a loop wait for each other? The longest chain of dependent ones over one pass through the
 * loop, taken as what a second pass adds to the first, against their number.
 *
 * Latency in units of issue, one wave on its SIMD (LLVM's scheduling models): a plain vector instruction of CDNA has
 * none, its result is there when the wave may issue again; RDNA issues every clock and gives results after 5; a matrix
 * instruction takes its passes plus 4 more.
 */
#include <string.h>

#include "isa_internal.h"

#define FILES 2u
#define REGISTERS 1024u
#define RDNA_LATENCY 5.0
#define MATRIX_EXTRA_PASSES 4.0
#define CLOCKS_PER_PASS 4.0

/* Chains are what a loop is about when it multiplies at least this often per load or LDS read. */
#define WORK_PER_READ 4u

/* More than this many independent instructions are on the way already. */
#define FEW_CHAINS 2.0

struct chains {
    unsigned depth[FILES][REGISTERS];
};

static bool is_product(const struct isa_instruction *in)
{
    return in->kind == ISA_MATRIX || (in->flops > 0 && in->kind != ISA_TRANSCENDENTAL);
}

static unsigned depth_of(const struct chains *chains, const struct isa_registers *registers)
{
    unsigned depth = 0;
    for (unsigned i = 0; registers->file && i < registers->count && registers->first + i < REGISTERS; i++) {
        const unsigned found = chains->depth[registers->file == 'a'][registers->first + i];
        depth = found > depth ? found : depth;
    }
    return depth;
}

static void set_depth(struct chains *chains, const struct isa_registers *registers, unsigned depth)
{
    for (unsigned i = 0; registers->file && i < registers->count && registers->first + i < REGISTERS; i++)
        chains->depth[registers->file == 'a'][registers->first + i] = depth;
}

/* The longest chain after one more pass. A half of a VOPD reads before the other writes. */
static unsigned pass(struct chains *chains, const struct isa_body *body, unsigned longest)
{
    for (size_t i = 0; i < body->count; i++) {
        const struct isa_instruction *in = body->items[i];
        struct isa_operands operands[2];
        unsigned depth[2] = {0};
        unsigned halves = 0;
        while (halves < 2 && isa_operands_read(&operands[halves], in, halves)) {
            const struct isa_operands *half = &operands[halves];
            for (unsigned o = half->reads_destination ? 0 : half->destinations; o < half->count; o++) {
                const unsigned found = depth_of(chains, &half->items[o]);
                depth[halves] = found > depth[halves] ? found : depth[halves];
            }
            depth[halves++] += is_product(in);
        }
        for (unsigned h = 0; h < halves; h++) {
            if (operands[h].destinations)
                set_depth(chains, &operands[h].items[0], depth[h]);
            longest = depth[h] > longest ? depth[h] : longest;
        }
    }
    return longest;
}

/* Issue slots until a result can be used; 1: at once. */
static double latency_of(const struct isa_body *body, const struct isa_instruction *in)
{
    if (in->kind == ISA_MATRIX) {
        const double passes = in->matrix_cycles / CLOCKS_PER_PASS;
        return passes > 0 && (text_starts(in->mnemonic, "v_mfma") || text_starts(in->mnemonic, "v_smfmac"))
                   ? (passes + MATRIX_EXTRA_PASSES) / passes
                   : 1;
    }
    if (text_starts(body->target, "gfx9"))
        return 1;
    return RDNA_LATENCY / (body->kernel->symbol.wave / 32.0);
}

void isa_check_chain(struct isa_report *report, const struct isa_body *body)
{
    const struct isa_loop *loop = &body->kernel->loops[body->loop];
    const struct isa_instruction *first = NULL;
    unsigned products = 0;
    double latency = 1;
    for (size_t i = 0; i < body->count; i++) {
        if (!is_product(body->items[i]))
            continue;
        const double found = latency_of(body, body->items[i]);
        first = first ? first : body->items[i];
        latency = found > latency ? found : latency;
        products++;
    }
    const uint64_t reads =
        loop->own.count[ISA_LOAD] + loop->own.count[ISA_LDS_READ] + loop->own.count[ISA_SCRATCH_LOAD];
    if (!loop->is_innermost || !first || products < WORK_PER_READ * reads)
        return;
    struct chains *chains = arena_alloc(report->arena, sizeof(*chains));
    const unsigned before = pass(chains, body, pass(chains, body, 0));
    const unsigned grown = pass(chains, body, before) - before;
    const double side_by_side = grown ? (double)products / grown : latency;
    if (!grown || side_by_side >= FEW_CHAINS || latency / side_by_side <= 1)
        return;
    isa_report_add(
        report,
        (struct isa_finding){"one-chain", ISA_HINT, first->address, body->loop,
                             arena_printf(report->arena,
                                          "%u of the %u multiplications of a pass wait for each "
                                          "other: by LLVM's latencies one wave alone reaches about %.0f %% of the rate",
                                          grown, products, 100 * side_by_side / latency),
                             arena_printf(report->arena,
                                          "several independent accumulators per lane; otherwise at "
                                          "least %.0f waves per SIMD are needed to fill the gaps",
                                          latency / side_by_side)});
}
