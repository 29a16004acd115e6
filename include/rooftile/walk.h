/* SPDX-License-Identifier: MIT
 *
 * The walk: executes the integer part of AMD machine code for the waves of a few workgroups, without a GPU, to find
 * what static code does not show: trip counts, taken paths, addresses, and the dependent chain of a wave.
 *
 *     instructions of isa.h --walk_decode, once--> struct walk_code
 *     struct walk_code + launch + buffers' contents + a machine's caches --walk_run--> counts, clocks, lines
 *
 * State: SGPRs, VCC, EXEC, SCC, M0, and VGPRs of 64 or 32 lanes. Each SGPR has a known flag per bit (so masks may be
 * partly known), each VGPR one per lane. Scalar and vector integer, bit, compare, lane and address instructions are
 * executed exactly; floating point if its inputs are known. An unsupported instruction makes its destinations unknown
 * and is reported. Loads from buffers with a known fill return the real values; stores are visible to later loads of
 * the same workgroup.
 *
 * A vector instruction or load is computed if its value can reach an address, a scalar register, a mask or a branch;
 * otherwise only its clocks count, and its result is unknown (walk_needed.c).
 *
 * Unknown bits that reach EXEC or a branch are decided by a seeded random choice, counted, and reported with their
 * address; a loop on such a branch ends after 64 iterations.
 *
 * Long loops: when the passes 33 to 65 of a loop repeat (the same path, registers moving by constants, compares that
 * flip at a computable pass), the remaining passes are added in one step. Registers that do not move by a constant then
 * become unknown.
 *
 * Clocks: each wave issues in order. It waits for a result when it uses it (vector, matrix) or at s_waitcnt (memory).
 * The latency of an access is that of the farthest level that holds one of its lines, by an LRU model of a resident
 * workgroup's share of L1 and L2, and by the lines of its neighbours on the same die. Waves of a workgroup take turns
 * at memory instructions, the earliest first; L1 serves one access at a time, and does not keep stored lines.
 *
 * Pure and deterministic. Input may be hostile: endless code stops at the budget.
 */
#ifndef ROOFTILE_WALK_H
#define ROOFTILE_WALK_H

#include "rooftile/fill.h"
#include "rooftile/isa.h"

/* ---- input ---- */

struct walk_code;

/* The result lives in the arena, and points into `isa`. NULL: no AMD code. */
const struct walk_code *walk_decode(const struct isa_kernel *isa, const char *target, struct arena *arena);

const struct isa_kernel *walk_code_isa(const struct walk_code *code);
const char *walk_code_target(const struct walk_code *code);

/* Memory that the kernel can access. Addresses are invented; buffers must not overlap. */
struct walk_buffer {
    uint64_t base, size_bytes;
    const struct fill *fill; /* contents before the launch; NULL: unknown */
};

struct walk_launch {
    const struct walk_code *code;
    const struct isa_kernel *code_object; /* source of the decoded code, and its target */
    const char *target;
    uint32_t grid[3], block[3]; /* workgroups; work-items */
    uint32_t lds_bytes;         /* dynamic, in addition to the kernel's own */
    /* The kernel's explicit arguments as laid out in its kernarg segment, and which bytes are known (NULL: all). */
    const uint8_t *kernarg, *kernarg_known;
    size_t kernarg_bytes;
    const struct walk_buffer *buffers;
    size_t buffer_count;
};

/* Clocks of a unit's pipes, for one wave. */
struct walk_clocks {
    double vector, transcendental, multiply; /* to issue; `multiply`: 32-bit integer products */
    double f64;                              /* to issue f64 arithmetic; 0: as vector */
    double vector_latency;                   /* until a dependent instruction can issue */
    double scalar, branch, branch_taken, barrier;
    double lds, lds_bytes; /* latency of LDS; bytes per clock */
    double l1, l2, memory; /* latencies of loads by the level that they hit */
    double scalar_load;    /* latency of a hit in the scalar cache */
    double l1_bytes;       /* bytes per clock of L1 */
};

/* Approximately CDNA, no particular machine: for callers that need the executed instructions, not their time. */
extern const struct walk_clocks walk_clocks_usual;

struct walk_options {
    struct walk_clocks clocks;
    uint32_t line_bytes;         /* of L1 and L2; a power of two */
    uint64_t l1_lines, l2_lines; /* a workgroup's share */
    bool warm;                   /* all data is in L2 before the launch */
    uint32_t dies;               /* workgroups are assigned to them in turn */
    uint64_t budget;             /* limit on the instructions of all walked waves; 0: 2 million */
    double coin;                 /* probability that an unknown bit is 1; 0: one half */
    bool every_group; /* walks all workgroups in turn; later ones see stores of earlier ones. No neighbours, no jumps */
    bool no_jumps;    /* walks long loops to their end */
    /* 0: waves issue in order. Otherwise models an out-of-order core: an instruction waits only for its operands and
     * for the arithmetic instruction that many before it; its result takes vector_latency, moves and memory take
     * nothing. No matrix instructions. */
    uint32_t window;
    bool counts_each; /* the result has `executed`, and no information on neighbours */
    /* What if: LDS without bank conflicts; accesses that touch no more lines than their bytes need; free scratch memory
     * (cost.h) */
    bool no_conflicts, coalesced, no_scratch;
};

/* ---- output ---- */

enum walk_class {
    WALK_VECTOR,
    WALK_TRANSCENDENTAL,
    WALK_MATRIX,
    WALK_SCALAR,
    WALK_SCALAR_LOAD,
    WALK_LOAD,
    WALK_STORE,
    WALK_ATOMIC,
    WALK_LDS,
    WALK_BRANCH,
    WALK_WAIT,
    WALK_BARRIER,
    WALK_OTHER,
    WALK_CLASSES
};

/* Lines that a workgroup moves, by buffer; the last row is for other or unknown memory. */
struct walk_traffic {
    double loads;     /* lines requested from L1 */
    double l1_miss;   /* ... that missed */
    double distinct;  /* distinct lines that missed L1 */
    double memory;    /* lines that missed L2, and that no neighbour on the die reads */
    double shared;    /* lines that missed L2, and that a neighbour reads */
    double stores;    /* lines written */
    double stored;    /* ... that were not in L2, or not stored before */
    double contended; /* runs of stores to lines that another core's workgroup stores to; with window */
    double apart;     /* loaded past L1, or stored: at least a page from the previous line */
    double stepped;   /* of the others: distance from the previous line, in lines, which may be 0 */
    double bytes_loaded, bytes_stored; /* requested by lanes */
};

/* Sums over the waves of the sampled workgroup, or with every_group over all. */
struct walk_sums {
    double waves, workgroups;
    double instructions;
    double count[WALK_CLASSES];
    double lanes;                        /* active lanes, summed over vector instructions */
    double flops, operations;            /* of active lanes; operations: all that a manifest may count */
    double vector_clocks, matrix_clocks; /* of the pipes that issue them */
    double index_clocks; /* part of vector_clocks: integers outside loops without memory accesses; mostly addresses */
    double scalar_clocks, lds_clocks, l1_clocks;
    double control_clocks; /* part of scalar_clocks: outside loops, or in a loop that accesses memory */
    /* In loops that process a wave's lanes one by one, as compilers emit before an atomic; then their parts of
     * vector_clocks and scalar_clocks. */
    double lane_clocks, lane_vector_clocks, lane_scalar_clocks;
    double lds_free_clocks;            /* LDS clocks without bank conflicts */
    double accesses;                   /* loads, stores and atomics of global memory */
    double chased;                     /* of these: the address comes from a load in the turn before */
    double access_lines;               /* lines touched by these */
    double access_lanes, access_bytes; /* lanes that take part; bytes that they request */
    double scratch;                    /* accesses of scratch memory: spilled registers and private arrays */
    double atomics;                    /* counted per lane */
    double atomic_same;                /* on an address that another lane of the wave also uses */
    double atomic_shared;              /* on an address that a neighbour also uses */
    double atomic_places;              /* distinct addresses of these */
    /* Clocks during which waves stall: for loads and stores, for LDS and scalar loads, for results of arithmetic. */
    double wait_memory_clocks, wait_lds_clocks, wait_result_clocks;
};

/* A branch, or a write of EXEC, with an unknown outcome. */
struct walk_unknown {
    uint64_t address;
    const char *mnemonic;
    double times;
};

struct walk_result {
    double clocks;  /* from the first instruction of the workgroup to its last */
    double working; /* share of workgroups with as much work; the others access no memory */
    struct walk_sums sums;
    struct walk_traffic *traffic; /* buffer_count + 1 rows */
    struct walk_unknown *unknowns;
    size_t unknown_count;
    const char **not_executed; /* mnemonics of unsupported instructions, once each */
    size_t not_executed_count;
    uint64_t lds_beyond; /* end of the LDS that lanes touched beyond the launch's size; 0: none */
    bool over_budget;
    bool *stored; /* per buffer: something is stored to it */
    /* with counts_each: how often a wave issues each instruction, the mean of all waves; otherwise NULL */
    double *executed;
};

/* ERR_CONFIG: a launch without work-items, or with more than a workgroup may have. The result lives in the arena. */
enum status walk_run(struct walk_result *result, const struct walk_launch *launch, const struct walk_options *options,
                     struct arena *arena, struct err *err);

/* Calls `visit` for each wave when it ends, in the order of their ends; for comparisons with an emulator. */
typedef void walk_wave_fn(void *context, uint64_t workgroup, uint32_t wave, uint64_t instructions);
enum status walk_each_wave(const struct walk_launch *launch, const struct walk_options *options, walk_wave_fn *visit,
                           void *context, struct walk_result *result, struct arena *arena, struct err *err);

#endif
