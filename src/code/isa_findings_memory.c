/* SPDX-License-Identifier: MIT
 *
 * How a loop reads memory and LDS: width, and waiting.
 */
#include <stdlib.h>
#include <string.h>

#include "isa_internal.h"

#define FULL_WIDTH 16u

/* A wait this near behind a load hides nothing of it. */
#define NEAR_COST 8.0

/* Vector registers that hold something loaded in this loop, or computed from it. */
#define FILES 2u
#define REGISTERS 1024u
struct taint {
    bool set[FILES][REGISTERS];
    bool *gathers; /* of each instruction: a load whose address comes from loaded values (an index list, a pointer
                      chase) */
};

/* Values go around a loop at most this often before they are no news; in what compilers make twice or three times. */
#define MAX_PASSES 16u

static bool *slot(struct taint *taint, const struct isa_registers *registers, unsigned i)
{
    return &taint->set[registers->file == 'a'][registers->first + i];
}

static bool is_tainted(struct taint *taint, const struct isa_registers *registers)
{
    for (unsigned i = 0; registers->file && i < registers->count && registers->first + i < REGISTERS; i++)
        if (*slot(taint, registers, i))
            return true;
    return false;
}

static void mark(struct taint *taint, const struct isa_registers *registers, bool tainted)
{
    for (unsigned i = 0; registers->file && i < registers->count && registers->first + i < REGISTERS; i++)
        *slot(taint, registers, i) = tainted;
}

/* Values that pass through scalar registers (readfirstlane) are lost; loops that do so are taken as ordinary. */
static void spread(struct taint *taint, const struct isa_instruction *in, bool *is_gather)
{
    const bool loads = in->kind == ISA_LOAD || in->kind == ISA_ATOMIC || in->kind == ISA_LDS_READ;
    struct isa_operands operands;
    for (unsigned half = 0; half < 2 && isa_operands_read(&operands, in, half); half++) {
        bool hit = false;
        for (unsigned i = operands.reads_destination ? 0 : operands.destinations; i < operands.count; i++)
            hit = hit || is_tainted(taint, &operands.items[i]);
        *is_gather = *is_gather || (hit && in->kind == ISA_LOAD);
        if (operands.destinations)
            mark(taint, &operands.items[0], hit || loads);
    }
}

/* Around the loop until nothing new is found. */
static struct taint *taint_new(const struct isa_body *body, struct arena *arena)
{
    struct taint *taint = arena_alloc(arena, sizeof(*taint));
    bool before[FILES][REGISTERS];
    taint->gathers = arena_array(arena, body->count, sizeof(*taint->gathers));
    for (unsigned pass = 0; pass < MAX_PASSES; pass++) {
        memcpy(before, taint->set, sizeof(before));
        for (size_t i = 0; i < body->count; i++)
            spread(taint, body->items[i], &taint->gathers[i]);
        if (memcmp(before, taint->set, sizeof(before)) == 0)
            break;
    }
    return taint;
}

/* Some loop that loads whole 16 bytes: then narrow loops are its tails. */
static bool has_wide_loop(const struct isa_kernel *kernel)
{
    for (size_t i = 0; i < kernel->loop_count; i++)
        if (kernel->loops[i].own.traffic[ISA_GLOBAL].loads_by_width[ISA_16])
            return true;
    return false;
}

/* Another loop that takes at least twice as much at a time: then this one does what is left over, and hardly runs. */
static bool is_remainder(const struct isa_kernel *kernel, size_t loop)
{
    const uint64_t bytes = kernel->loops[loop].own.traffic[ISA_GLOBAL].load_bytes;
    for (size_t i = 0; i < kernel->loop_count; i++)
        if (i != loop && kernel->loops[i].is_innermost &&
            kernel->loops[i].own.traffic[ISA_GLOBAL].load_bytes >= 2 * bytes)
            return true;
    return false;
}

static void check_width(struct isa_report *report, const struct isa_body *body, const struct taint *taint)
{
    const struct isa_instruction *first = NULL;
    uint32_t narrowest = FULL_WIDTH, widest = 0;
    unsigned count = 0;
    if (has_wide_loop(body->kernel))
        return;
    for (size_t i = 0; i < body->count; i++) {
        const struct isa_instruction *in = body->items[i];
        if (in->kind != ISA_LOAD || in->bytes == 0 || in->bytes >= FULL_WIDTH || taint->gathers[i])
            continue;
        first = first ? first : in;
        narrowest = in->bytes < narrowest ? in->bytes : narrowest;
        widest = in->bytes > widest ? in->bytes : widest;
        count++;
    }
    if (!first)
        return;
    const char *bytes = narrowest == widest ? arena_printf(report->arena, "%u", widest)
                                            : arena_printf(report->arena, "%u to %u", narrowest, widest);
    isa_report_add(
        report, (struct isa_finding){
                    "narrow-loads", ISA_HINT, first->address, body->loop,
                    arena_printf(report->arena, "%u load%s of the loop take%s %s byte%s per lane, could take %u", count,
                                 count > 1 ? "s" : "", count > 1 ? "" : "s", bytes, widest > 1 ? "s" : "", FULL_WIDTH),
                    "let each lane take neighbouring elements as one aligned vector (float4, 16 bytes)"});
}

/* Does an instruction wait until nothing is on the way from vector memory? gfx12 counts loads alone, and packs two
 * counters into one number (LDS in the lower 8 bits). */
static bool waits_for_all(const struct isa_instruction *in)
{
    if (in->kind != ISA_WAIT)
        return false;
    if (strcmp(in->mnemonic, "s_wait_loadcnt") == 0)
        return strtoul(in->operands, NULL, 0) == 0;
    if (strcmp(in->mnemonic, "s_wait_loadcnt_dscnt") == 0)
        return strtoul(in->operands, NULL, 0) >> 8 == 0;
    return strcmp(in->mnemonic, "s_waitcnt") == 0 && strstr(in->operands, "vmcnt(0)") != NULL;
}

static void check_waits(struct isa_report *report, const struct isa_body *body, const struct taint *taint)
{
    const struct isa_instruction *first = NULL, *open = NULL;
    unsigned loads = 0, waited = 0;
    double since = 0;
    for (size_t i = 0; i < body->count; i++) {
        const struct isa_instruction *in = body->items[i];
        since += isa_issue_cost(in);
        if (in->kind == ISA_LOAD) {
            if (taint->gathers[i])
                return; /* it must wait, the next address is in the result */
            first = first ? first : in;
            open = in;
            loads++;
            since = 0;
        } else if (open && waits_for_all(in)) {
            waited += since < NEAR_COST;
            open = NULL;
        }
    }
    if (!loads || waited < loads)
        return;
    isa_report_add(
        report,
        (struct isa_finding){
            "wait-each-load", ISA_HINT, first->address, body->loop,
            loads == 1 ? "the loop waits right after its only load: one load per wave is on the way"
                       : arena_printf(
                             report->arena,
                             "the loop waits right after each of its %u loads: one load per wave is on the way", loads),
            "load for several iterations before the first use (unroll), or for the next iteration while this one "
            "computes"});
}

void isa_check_memory(struct isa_report *report, const struct isa_body *body)
{
    const struct isa_loop *loop = &body->kernel->loops[body->loop];
    if (!loop->is_innermost || !loop->own.count[ISA_LOAD] || is_remainder(body->kernel, body->loop))
        return;
    const struct taint *taint = taint_new(body, report->arena);
    check_width(report, body, taint);
    check_waits(report, body, taint);
}

/* One piece that an LDS read takes: `bytes` from `offset` behind an address register. */
struct piece {
    unsigned base;    /* the address register */
    unsigned version; /* how often it was written before */
    uint32_t offset;
    uint32_t bytes;
    const struct isa_instruction *in;
};

static int by_offset(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    if (x->base != y->base)
        return x->base < y->base ? -1 : 1;
    if (x->version != y->version)
        return x->version < y->version ? -1 : 1;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return (x->in->address > y->in->address) - (x->in->address < y->in->address);
}

static size_t add_pieces(struct piece *pieces, const struct isa_instruction *in, unsigned base, unsigned version)
{
    const bool is_twice = strstr(in->mnemonic, "read2") || strstr(in->mnemonic, "2addr");
    const struct piece whole = {base, version, (uint32_t)isa_modifier(in, "offset"), in->bytes, in};
    if (!is_twice) {
        pieces[0] = whole;
        return 1;
    }
    const uint32_t part = in->bytes / 2, unit = part * (strstr(in->mnemonic, "64_") ? 64 : 1);
    for (unsigned i = 0; i < 2; i++) {
        pieces[i] = whole;
        pieces[i].bytes = part;
        pieces[i].offset = (uint32_t)isa_modifier(in, i ? "offset1" : "offset0") * unit;
    }
    return 2;
}

/* The reads of a run that are narrower than what the run could be read with. */
static unsigned narrow_reads(const struct piece *run, size_t count)
{
    const uint32_t bytes = run[count - 1].offset + run[count - 1].bytes - run[0].offset;
    const uint32_t possible = bytes >= 16 ? 16 : 8;
    unsigned reads = 0;
    if (bytes < 8)
        return 0;
    for (size_t i = 0; i < count; i++)
        reads += run[i].in->bytes < possible && (i == 0 || run[i].in != run[i - 1].in);
    return reads > 1 ? reads : 0;
}

void isa_check_lds(struct isa_report *report, const struct isa_body *body)
{
    const struct isa_loop *loop = &body->kernel->loops[body->loop];
    if (!loop->is_innermost || loop->own.count[ISA_LDS_READ] < 2)
        return;
    struct piece *pieces = arena_array(report->arena, 2 * body->count, sizeof(*pieces));
    unsigned *versions = arena_array(report->arena, REGISTERS, sizeof(*versions));
    size_t count = 0;
    for (size_t i = 0; i < body->count; i++) {
        struct isa_operands operands;
        const struct isa_instruction *in = body->items[i];
        for (unsigned half = 0; half < 2 && isa_operands_read(&operands, in, half); half++) {
            const struct isa_registers *address = &operands.items[1], *result = &operands.items[0];
            if (in->kind == ISA_LDS_READ && operands.count > 1 && address->file == 'v')
                count += add_pieces(pieces + count, in, address->first, versions[address->first]);
            for (unsigned r = 0; operands.destinations && result->file == 'v' && r < result->count; r++)
                versions[result->first + r]++;
        }
    }
    qsort(pieces, count, sizeof(*pieces), by_offset);
    const struct isa_instruction *first = NULL;
    unsigned narrow = 0;
    for (size_t from = 0, to; from < count; from = to) {
        for (to = from + 1;
             to < count && pieces[to].base == pieces[from].base && pieces[to].version == pieces[from].version &&
             pieces[to].offset == pieces[to - 1].offset + pieces[to - 1].bytes;
             to++)
            continue;
        const unsigned reads = narrow_reads(pieces + from, to - from);
        narrow += reads;
        first = reads && (!first || pieces[from].in->address < first->address) ? pieces[from].in : first;
    }
    if (!narrow)
        return;
    isa_report_add(
        report,
        (struct isa_finding){
            "narrow-lds", ISA_HINT, first->address, body->loop,
            arena_printf(report->arena,
                         "%u of %llu LDS reads of the loop take 4 or 8 bytes side by side, could be 8 or 16 at once",
                         narrow, (unsigned long long)loop->own.count[ISA_LDS_READ]),
            "read them as one vector from an address aligned to 16 bytes (float4; pad rows to a multiple of 16 "
            "bytes)"});
}
