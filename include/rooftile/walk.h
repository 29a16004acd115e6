/* SPDX-License-Identifier: MIT
 *
 * The walk: executes the integer part of AMD machine code for the waves of a few workgroups, without a GPU, to learn
 * what static code does not tell: trip counts, taken paths, addresses, and the dependent chain of a wave.
 *
 *     instructions of isa.h --walk_decode, once--> struct walk_code
 *     struct walk_code + launch + buffers' contents + a machine's caches --walk_run--> counts, clocks, lines
 *
 * State: SGPRs, VCC, EXEC, SCC, M0, and VGPRs of 64 or 32 lanes. Each SGPR has a known bit per bit (masks keep what is
 * known of them), each VGPR one per lane. Scalar and vector integer, bit, compare, lane and address instructions are
 * executed exactly; floating point if its inputs are known. An instruction that the walk does not know makes its
 * destinations unknown and is reported. Loads from buffers whose fill is known give their real values; stores are seen
 * by later loads of the same workgroup.
 *
 * A vector instruction or load is computed where its value can reach an address, a scalar register, a mask or a branch;
 * else it takes its clocks, and its result is not known (walk_needed.c).
 *
 * Unknown bits that reach EXEC or a branch are decided by a seeded coin, counted, and reported with their address; a
 * loop on such a branch ends after 64 iterations.
 *
 * Long loops: when the passes 33 to 65 of a loop repeat (the same path, registers moving by constants, compares that
 * flip at a computable pass), the rest of its passes is added in one step. Registers that do not move by a constant
 * become unknown then.
 *
 * Clocks: each wave issues in order. It waits for a result when that is used (vector, matrix) or at s_waitcnt (memory),
 * with the latency of the farthest level in which a line of the access is found. That comes from an LRU model of a
 * resident workgroup's share of L1 and L2, and from the lines of its neighbours on the same die. Waves of a workgroup
 * take turns at memory instructions, the one with the smallest time first; L1 serves one access after the other, and
 * keeps no line that is stored to.
 *
 * Pure, and the same for the same input. Input may be hostile: code that never ends stops at the budget.
 */
#ifndef ROOFTILE_WALK_H
#define ROOFTILE_WALK_H

#include "rooftile/fill.h"
#include "rooftile/isa.h"

/* ---- what goes in ---- */

struct walk_code;

/* Lives in the arena, and points into `isa`. NULL: no AMD code. */
const struct walk_code *walk_decode(const struct isa_kernel *isa, const char *target, struct arena *arena);

const struct isa_kernel *walk_code_isa(const struct walk_code *code);
const char *walk_code_target(const struct walk_code *code);

/* Memory that the kernel can reach. Addresses are made up; buffers must not overlap. */
struct walk_buffer {
    uint64_t base, size_bytes;
    const struct fill *fill; /* what it holds before the launch; NULL: not known */
};

struct walk_launch {
    const struct walk_code *code;
    const struct isa_kernel *code_object; /* that it was decoded from, and for which target */
    const char *target;
    uint32_t grid[3], block[3]; /* workgroups; work-items */
    uint32_t lds_bytes;         /* dynamic, beyond the kernel's own */
    /* The kernel's explicit arguments as they lie in its kernarg segment, and which bytes are known (NULL: all). */
    const uint8_t *kernarg, *kernarg_known;
    size_t kernarg_bytes;
    const struct walk_buffer *buffers;
    size_t buffer_count;
};

/* Clocks of a unit's pipes, for one wave. */
struct walk_clocks {
    double vector, transcendental, multiply; /* to issue; 32-bit integer products */
    double f64;                              /* to issue arithmetic of f64; 0: as vector */
    double vector_latency;                   /* until a dependent instruction can issue */
    double scalar, branch, branch_taken, barrier;
    double lds, lds_bytes; /* latency of LDS; bytes that it moves in a clock */
    double l1, l2, memory; /* latencies of loads by where they hit */
    double scalar_load;    /* latency of a hit in the scalar cache */
    double l1_bytes;       /* that L1 moves in a clock */
};

/* Roughly those of CDNA, of no particular machine: for callers that ask what is executed, not how long it takes. */
extern const struct walk_clocks walk_clocks_usual;

struct walk_options {
    struct walk_clocks clocks;
    uint32_t line_bytes;         /* of L1 and L2; a power of two */
    uint64_t l1_lines, l2_lines; /* a workgroup's share */
    bool warm;                   /* all data is in L2 before the launch */
    uint32_t dies;               /* workgroups are dealt to them in turn */
    uint64_t budget;             /* instructions of all waves that are walked; 0: 2 million */
    double coin;                 /* probability that an unknown bit is 1; 0: one half */
    bool every_group;            /* all workgroups in turn, whose stores the later ones see; no neighbours, no jumps */
    bool no_jumps;               /* long loops are walked to their end */
    /* 0: waves issue in order. Else as an out-of-order core: an instruction waits for its operands and for the
     * arithmetic that many before it alone; its result takes vector_latency, moves and memory nothing. No matrices. */
    uint32_t window;
    bool counts_each; /* the result has `executed`, and nothing about neighbours */
    /* What if: LDS without bank conflicts; accesses that touch no more lines than their bytes need; scratch memory that
     * costs nothing (cost.h) */
    bool no_conflicts, coalesced, no_scratch;
};

/* ---- what comes out ---- */

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
    double loads;     /* lines asked of L1 */
    double l1_miss;   /* ... that were not there */
    double distinct;  /* different lines that missed L1 */
    double memory;    /* that missed L2, and that no neighbour on the die reads */
    double shared;    /* that missed L2, and that a neighbour reads */
    double stores;    /* lines written */
    double stored;    /* ... that L2 had not, or that were not stored before */
    double contended; /* runs of stores to lines that another core's workgroup stores to; with window */
    double apart;     /* loaded past L1, or stored: a page or more from the line before it */
    double stepped;   /* by the others of these: lines from the one before, which may be itself */
    double bytes_loaded, bytes_stored; /* that lanes ask for */
};

/* Sums over the waves of the workgroup that was sampled; with every_group over all. */
struct walk_sums {
    double waves, workgroups;
    double instructions;
    double count[WALK_CLASSES];
    double lanes;                        /* active, summed over vector instructions */
    double flops, operations;            /* of active lanes; operations: with all that a manifest may count as one */
    double vector_clocks, matrix_clocks; /* of the pipes that issue them */
    double index_clocks; /* of vector_clocks: integers outside of loops without memory accesses; mostly addresses */
    double scalar_clocks, lds_clocks, l1_clocks;
    double control_clocks; /* of scalar_clocks: in no loop, or in one that accesses memory */
    /* In loops that take a wave's lanes one after the other, as compilers make before an atomic; then the parts of
     * these in vector_clocks and scalar_clocks. */
    double lane_clocks, lane_vector_clocks, lane_scalar_clocks;
    double lds_free_clocks;            /* that LDS would take without bank conflicts */
    double accesses;                   /* loads, stores and atomics of global memory */
    double access_lines;               /* lines that they touch */
    double access_lanes, access_bytes; /* lanes that take part; bytes that they ask for */
    double scratch;                    /* accesses of scratch memory: spilled registers and private arrays */
    double atomics;                    /* of lanes */
    double atomic_same;                /* on an address that another lane of the wave hits, too */
    double atomic_shared;              /* on an address that a neighbour hits, too */
    double atomic_places;              /* distinct addresses of these */
    /* During which waves stall: for loads and stores, for LDS and scalar loads, for results of arithmetic. */
    double wait_memory_clocks, wait_lds_clocks, wait_result_clocks;
};

/* A branch, or a write of EXEC, whose outcome was not known. */
struct walk_unknown {
    uint64_t address;
    const char *mnemonic;
    double times;
};

struct walk_result {
    double clocks;  /* from the first instruction of the workgroup to its last */
    double working; /* share of the workgroups that do as much; the others touch no memory */
    struct walk_sums sums;
    struct walk_traffic *traffic; /* buffer_count + 1 rows */
    struct walk_unknown *unknowns;
    size_t unknown_count;
    const char **not_executed; /* mnemonics without a meaning, once each */
    size_t not_executed_count;
    uint64_t lds_beyond; /* the last byte of LDS that a lane touched behind what the launch has, plus 1; 0: none */
    bool over_budget;
    bool *stored;     /* per buffer: somebody stores to it */
    double *executed; /* with counts_each: how often a wave issued each instruction, the mean of all; else NULL */
};

/* ERR_CONFIG: a launch of no work-items, or of more than a workgroup may have. The result lives in the arena. */
enum status walk_run(struct walk_result *result, const struct walk_launch *launch, const struct walk_options *options,
                     struct arena *arena, struct err *err);

/* Called for each wave when it ends, in the order in which they end; for comparisons with an emulator. */
typedef void walk_wave_fn(void *context, uint64_t workgroup, uint32_t wave, uint64_t instructions);
enum status walk_each_wave(const struct walk_launch *launch, const struct walk_options *options, walk_wave_fn *visit,
                           void *context, struct walk_result *result, struct arena *arena, struct err *err);

#endif
