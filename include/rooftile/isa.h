/* SPDX-License-Identifier: MIT
 *
 * A compiled kernel: its instructions, their kinds and work, its loops, and findings on what is worth changing.
 *
 *     code object --disassembler, once--> text --isa_parse--> struct isa
 *         { kernels { instructions, loops, mixes, findings } }
 *
 * isa_parse is pure: objdump's text in, structs in the caller's arena out, so it is tested without any tool.
 *
 * Cubins are processed in the same way, with nvdisasm or cuobjdump. In this header an NVIDIA warp is a wave, shared
 * memory is LDS, local memory is scratch, and the uniform datapath is scalar; addresses count from the start of the
 * kernel.
 *
 * All numbers are STATIC: the sum over one execution of every instruction of a kernel or of a loop's body. Both sides
 * of a branch count, skipped code counts, an inner loop counts once in its outer loop's inclusive sum regardless of its
 * iterations, and lanes that are off in EXEC count as if they were on. For a loop without branches that is exactly one
 * iteration. Execution counts are not known here.
 *
 * Units: work and bytes of vector instructions are PER LANE; scalar loads and matrix instructions are PER WAVE, as one
 * instruction serves the whole wave. isa_flops_per_wave() and the functions after it combine them.
 */
#ifndef ROOFTILE_ISA_H
#define ROOFTILE_ISA_H

#include "rooftile/codeobj.h"
#include "rooftile/isa_operands.h"

/* The kind of an instruction. Every instruction has exactly one. */
enum isa_kind {
    ISA_VECTOR,         /* vector ALU, one operation per lane (including moves, compares and AGPR moves) */
    ISA_PACKED,         /* v_pk_*: two or more values per lane */
    ISA_DUAL,           /* VOPD, v_dual_* :: v_dual_*: two vector ALU operations in one instruction */
    ISA_MATRIX,         /* MFMA, SMFMAC, WMMA, SWMMAC; HMMA, IMMA, DMMA, QMMA, HGMMA, UTCHMMA ... */
    ISA_TRANSCENDENTAL, /* exp log rcp rsq sqrt sin cos tanh, MUFU: a quarter of the rate or less */
    ISA_CONVERSION,     /* v_cvt_*: between number formats */
    ISA_CROSS_LANE,     /* exchange between lanes: ds_bpermute, ds_swizzle, v_mov with DPP, readlane, permlane */
    ISA_SCALAR,         /* scalar ALU */
    ISA_SCALAR_MEMORY,  /* s_load, s_buffer_load, s_store through the constant cache */
    ISA_LDS_READ,
    ISA_LDS_WRITE,
    ISA_LOAD, /* vector memory: global, flat, buffer; also directly to LDS */
    ISA_STORE,
    ISA_SCRATCH_LOAD, /* memory private to a lane: spills and arrays outside registers */
    ISA_SCRATCH_STORE,
    ISA_ATOMIC,  /* on memory or LDS, see `space` */
    ISA_BARRIER, /* s_barrier and its split forms (the signal counts, the wait of a split barrier is ISA_WAIT) */
    ISA_WAIT,    /* s_waitcnt*, s_wait_*, s_wait_idle, s_barrier_wait */
    ISA_BRANCH,  /* s_branch, s_cbranch_*, s_setpc, s_swappc, s_call */
    ISA_OTHER,   /* s_nop, s_delay_alu, s_clause, s_endpgm, messages, cache control, clocks */
    ISA_KINDS,
};

/* The memory that an instruction accesses. A flat access counts as global. */
enum isa_space { ISA_NO_SPACE, ISA_GLOBAL, ISA_LDS, ISA_SCRATCH, ISA_CONSTANT, ISA_SPACES };

/* Bytes per instruction and lane (ISA_CONSTANT: per wave); ds_read2_b32 moves 8. Traffic is counted by these widths. */
enum isa_width { ISA_1, ISA_2, ISA_4, ISA_8, ISA_12, ISA_16, ISA_32, ISA_64, ISA_WIDTHS };
extern const unsigned isa_width_bytes[ISA_WIDTHS];

#define ISA_NO_LOOP SIZE_MAX

struct isa_instruction {
    uint64_t address;
    /* target of a branch or call, also through registers if the code computes it from its own address (s_getpc and
     * additions); 0: no branch, a return, or unknown */
    uint64_t target;
    const char *guard;                  /* NVIDIA: "@!P0", its predicate; "" none */
    const char *mnemonic;               /* as spelled by the disassembler, with suffix */
    const char *operands;               /* text; "" without operands */
    const struct isa_instruction *dual; /* the other half of a VOPD; NULL for other instructions */
    /* AMD: parsed from the text. The first `destinations` operands are written; fmac, dot2c, smfmac and swaps also read
     * them. `wait`: accesses of each counter that may remain in flight after a wait. */
    const struct isa_operand *operand;
    uint8_t operand_count, destinations;
    bool reads_destination;
    uint8_t wait[COUNTERS];          /* NO_WAIT: it does not wait for them */
    const struct isa_access *access; /* NULL: none, or an access to images or tensors */
    enum isa_kind kind;
    enum isa_space space;
    uint32_t size;  /* bytes of code */
    uint32_t bytes; /* memory moved, per lane (ISA_CONSTANT: per wave); an atomic: the width of its operand, once */
    uint32_t flops; /* floating-point operations per lane: add, mul, transcendental 1; fma 2; dot2 4; x2 packed */
    uint32_t ops;   /* integer operations per lane: add, shift, logic, mul 1; mad, lshl_add 2; dot4 8 */
    /* AMD: the cache policy of a memory access as written by the disassembler: "nt", "sc0 sc1", "glc slc",
     * "th:TH_LOAD_NT scope:SCOPE_SYS"; "" for the default and for other instructions. The bit with which an atomic
     * requests the old value is not part of the policy. */
    const char *policy;
    uint32_t matrix_ops; /* 2*M*N*K*blocks per wave; sparse forms: those of the equivalent dense form */
    /* clocks during which it occupies the matrix unit of its SIMD; 0: unknown for this target */
    uint32_t matrix_cycles;
    bool is_integer;  /* matrix_ops are integer operations */
    bool ends_block;  /* the next instruction does not follow it: s_endpgm, s_branch, EXIT, BRA without a condition */
    bool is_call;     /* s_swappc, s_call, CALL: the next instruction runs after the callee */
    bool is_return;   /* s_setpc to a call's return address */
    bool is_indirect; /* target in registers: s_setpc, s_swappc, s_rfe ...; false if it never executes */
    size_t loop;      /* the innermost loop that contains it, or ISA_NO_LOOP */
    const char *file; /* source file, after isa_lines_read; NULL: unknown */
    uint32_t line;    /* line in it; 0: unknown */
};

/* Returns the operations per lane that a manifest may count: the arithmetic, otherwise one for each value (min, max,
 * compares, conversions). */
static inline double isa_operations(const struct isa_instruction *in)
{
    const bool two = in->kind == ISA_PACKED || in->kind == ISA_DUAL;
    if (in->flops || in->ops)
        return in->flops + in->ops;
    return two ? 2 : in->kind == ISA_VECTOR || in->kind == ISA_CONVERSION;
}

/* Returns the number after "name:" in the modifiers ("offset:16"), 0 without it. */
uint64_t isa_modifier(const struct isa_instruction *in, const char *name);

/* Returns an operand of an AMD instruction; of kind OPERAND_NONE if there is none of that number. */
const struct isa_operand *isa_operand_at(const struct isa_instruction *in, int number);

/* ---- sums ---- */

/* Loads, stores and atomics of one memory space. Bytes per lane (ISA_CONSTANT: per wave). */
struct isa_traffic {
    uint64_t loads, stores, atomics; /* instructions */
    uint64_t load_bytes, store_bytes, atomic_bytes;
    uint64_t loads_by_width[ISA_WIDTHS];
    uint64_t stores_by_width[ISA_WIDTHS];
    /* of these, images, tensors and blocks, whose size is not in the code; they are in no sum of bytes */
    uint64_t unknown;
};

void isa_traffic_add(struct isa_traffic *traffic, const struct isa_instruction *in);

struct isa_mix {
    uint64_t instructions;
    uint64_t operations;       /* instructions, with a VOPD counted as two */
    uint64_t count[ISA_KINDS]; /* their sum is `instructions` */
    uint64_t code_bytes;
    struct isa_traffic traffic[ISA_SPACES]; /* [ISA_NO_SPACE] stays zero */
    uint64_t flops, ops;                    /* per lane, without the matrix unit and scalar instructions */
    uint64_t matrix_flops, matrix_ops;      /* per wave; ops: integer forms */
    uint64_t matrix_cycles;                 /* clocks of one SIMD's matrix unit, per wave */
    uint64_t matrix_unknown; /* matrix instructions with unknown cycles; if not zero, matrix_cycles is too small */
};

/* A natural loop: everything that can reach the backward branch without passing the header. Loops with the same header
 * are merged; a loop with several entries (its first iteration was peeled or rotated) is one loop. Nests are analysed
 * to a depth of 64. Sorted by first_address, outer loops before inner ones. */
struct isa_loop {
    uint64_t header_address;              /* entry; the lowest one if there are several */
    uint64_t first_address, last_address; /* lowest and highest instruction of its body, including inner loops */
    size_t parent;                        /* the enclosing loop, or ISA_NO_LOOP */
    unsigned depth;                       /* 1: not inside another loop */
    bool is_innermost;
    struct isa_mix own;       /* its own instructions, without those of inner loops */
    struct isa_mix inclusive; /* with inner loops, each counted once */
};

enum isa_severity { ISA_NOTE, ISA_HINT, ISA_PROBLEM };

/* A finding for people: `what` is the fact with its numbers, `advice` what to try. The meaning of `code` never changes,
 * so scripts may depend on it:
 *
 *   scratch-in-loop      problem        loads or stores of scratch (spills) inside a loop
 *   scratch              hint           loads or stores of scratch or spilled VGPRs, none of them in a loop
 *   unread-scratch       hint           scratch is stored to, and nothing can load it
 *   scalar-spills        note           SGPRs spilled into lanes of a VGPR
 *   narrow-loads         hint           an innermost loop loads less than 16 bytes per lane at addresses that do not
 *                                       come from loaded values, and no loop of the kernel loads 16
 *   wait-each-load       hint           an innermost loop waits for all memory right after each of its loads; their
 *                                       addresses do not come from loaded values
 *   one-chain            hint           the fma or matrix instructions of an innermost loop mostly wait for each other,
 *                                       longer than it takes to issue them
 *   narrow-lds           hint           adjacent LDS reads of an innermost loop could be one wider read
 *   bank-conflicts       hint           neighbouring lanes access LDS at a distance that puts 4 or more in one bank
 *   strided              hint           neighbouring lanes access separate lines, of which each uses a quarter or less
 *   wide-addresses       hint           more than half of an innermost loop's vector instructions are 64-bit integer
 *                                       arithmetic, and its accesses have a full address in each lane
 *   compare-and-swap     hint           an innermost compare-and-swap loop, for an atomic or a lock
 *   lanes-leave          note           an innermost loop that lanes leave one by one, by floats or loaded values
 *   conversions          hint           a third or more of the vector issue time of an innermost loop converts
 *   transcendentals      hint           more than half of that time is transcendentals
 *   integer-division     hint, or note  integer division in software: in a loop, or outside loops
 *   barrier-per-step     note           a barrier in an innermost loop every few vector instructions
 *   accumulator-copies   hint           an innermost loop copies between AGPRs and VGPRs more often than it multiplies
 *   lanes-off            hint           WMMA or v_permlane16 after a branch that may turn lanes off
 *   calls                note           calls or jumps with an unknown target, whose code is not counted
 *   matrix-shape         note           matrix instructions whose shape is not in the code (tcgen05), not counted
 *
 * In cubins only scratch-in-loop, scratch, unread-scratch, compare-and-swap, barrier-per-step, calls and matrix-shape
 * are searched for. There are no findings on remainder loops, or on conversions or transcendentals hidden by memory
 * accesses. An inspection adds does-not-fit, lds-limits, stack-in-lds, vgprs-near-step and padded-registers. */
struct isa_finding {
    const char *code;
    enum isa_severity severity;
    uint64_t address; /* the first instruction that shows it */
    size_t loop;      /* or ISA_NO_LOOP */
    const char *what;
    const char *advice;
};

/* A device function that a kernel calls, jumps to or falls through to, directly or indirectly. */
struct isa_function {
    const char *name, *demangled; /* equal unless in an inspection */
    uint64_t address;
    size_t first, count; /* its range of the kernel's instructions */
};

/* A word that the disassembler does not know. */
struct isa_word {
    uint64_t address;
    const char *text; /* ".long 0xd3ffffff" */
};

struct isa_kernel {
    struct codeobj_kernel code; /* a copy, with `wave` set */
    /* By address, including its functions; trailing s_nop and s_code_end of each are skipped. A wave starts at
     * code.code_address. */
    struct isa_instruction *instructions;
    size_t instruction_count;
    struct isa_function *functions; /* by address */
    size_t function_count;
    struct isa_loop *loops;
    size_t loop_count;
    struct isa_mix mix;           /* the whole kernel, each instruction once */
    struct isa_finding *findings; /* problems first, then by address */
    size_t finding_count;
    unsigned calls;
    unsigned not_followed; /* calls and jumps through registers to an unknown target, whose code is not counted */
    unsigned unknown;      /* words unknown to the disassembler; not counted anywhere */
    const struct isa_word *unknown_words; /* by address */
    const char *file;                     /* source file of the kernel's start, after isa_lines_read; NULL: unknown */
    const double *executed; /* how often a wave issues each instruction in a walked launch (walk.h); NULL: unknown */
};

/* Code of the object outside kernels. */
struct isa_code {
    const char *name, *demangled; /* equal unless in an inspection */
    uint64_t address;
    uint64_t instructions, matrix_instructions;
    bool is_reached; /* by a requested kernel */
};

struct isa {
    const char *tool;           /* path of the disassembler; NULL after isa_parse alone */
    struct isa_kernel *kernels; /* in the requested order; one without disassembled instructions is empty */
    size_t kernel_count;
    struct isa_code *functions; /* all of the object, by address */
    size_t function_count;
    uint64_t instructions, matrix_instructions; /* of these kernels and all functions, each once, without padding */
    const char *lines_problem; /* why there are no source lines although there is DWARF; NULL: no problem */
};

/* Disassembles a code object and analyses these kernels of it, with one child process for all. The disassembler is the
 * first that knows the target of: ROOFTILE_OBJDUMP (if set, only that), $ROCM_PATH/llvm/bin/llvm-objdump,
 * /opt/rocm/llvm/bin/llvm-objdump, llvm-objdump-25 ... -14, llvm-objdump. For a cubin it is the first available of
 * ROOFTILE_NVDISASM (if set, only that; nvdisasm or cuobjdump), $CUDA_HOME/bin/nvdisasm, nvdisasm,
 * /usr/local/cuda/bin/nvdisasm, and cuobjdump in the same places. ERR_UNSUPPORTED: no disassembler is available or
 * knows the target (the message names the LLVM needed), or it is PTX; callers continue with the metadata alone.
 * ERR_CONFIG: a kernel without code (code_bytes 0). ERR_IO: any other failure. */
enum status isa_read(struct isa *isa, const struct codeobj *object, const struct codeobj_kernel *kernels, size_t count,
                     struct arena *arena, struct err *err);

/* Analyses the output of `llvm-objdump -d`, nvdisasm or `cuobjdump --dump-sass`. Uses the object's target and
 * functions, and each kernel's name, code_address, code_bytes, wave (0: the target's default), private_segment_bytes
 * and spills. Skips lines that are not instructions. ERR_CONFIG if no kernel has any instruction. */
enum status isa_parse(struct isa *isa, const struct codeobj *object, const char *text,
                      const struct codeobj_kernel *kernels, size_t count, struct arena *arena, struct err *err);

/* Sets the source lines of all instructions if the object has DWARF (-g, Triton). */
void isa_lines_read(struct isa *isa, const struct codeobj *object, struct arena *arena);

/* Source lines of a loop's own instructions in the kernel's own file; without any, in the file with the most
 * instructions, where files in folders named "include" come last. */
struct isa_lines {
    const char *file; /* NULL: unknown */
    uint32_t first, last;
};
struct isa_lines isa_loop_lines(const struct isa_kernel *kernel, size_t loop);

/* Accesses to global, constant and (`scratch`) scratch memory with one cache policy. */
#define ISA_POLICIES 32u
struct isa_policy {
    const char *name; /* "" the default */
    struct isa_traffic traffic;
};
size_t isa_policies_find(struct isa_policy policies[ISA_POLICIES], const struct isa_kernel *kernel, bool scratch);
/* Appends "4 loads nt, 1 store sc0 sc1", each with `tail`: accesses without the default policy, whose policy `but`
 * (NULL: none) does not use for that kind. Scratch is left out, as spills have policies that nobody asked for. Returns
 * false if there are none. */
bool isa_policies_say(struct text *text, const struct isa_kernel *kernel, const struct isa_kernel *but,
                      const char *tail);

/* Returns the instructions issued by one iteration of a loop, without inner loops; an innermost loop includes its
 * callees. ISA_NO_LOOP: the whole kernel. */
const struct isa_mix *isa_turn_mix(const struct isa_kernel *kernel, size_t loop);

/* Per wave, with all lanes on: FLOPs (vector and matrix), integer operations, bytes of global memory (loads, stores,
 * atomics). NAN: some accesses have an unknown size. */
double isa_flops_per_wave(const struct isa_mix *mix, unsigned wave);
double isa_ops_per_wave(const struct isa_mix *mix, unsigned wave);
double isa_global_bytes_per_wave(const struct isa_mix *mix, unsigned wave);

/* Returns FLOPs per byte of global memory requested by instructions, part of which caches may serve. Infinite without
 * bytes; NAN without both, or if bytes are unknown. */
double isa_intensity(const struct isa_mix *mix, unsigned wave);

/* The hot loop and its dominant instruction. The hot loop is the one whose own instructions keep the matrix unit busy
 * longest, then the one with the most FLOPs (and integer products), then bytes; each level of nesting counts as ten
 * iterations (a guess, as execution counts are not known here). Among loops with the same products, such as those for
 * the bulk and the edges of a problem, it is the one with the fewest instructions. If the kernel has `executed`, actual
 * issue counts are used instead. */
struct isa_hot {
    size_t loop;
    const char *instruction; /* its most frequent work instruction, without encoding: "v_fma_f32" for v_fma_f32_e64 */
    double share;            /* its share of them; each half of a VOPD counts as one instruction */
    uint64_t work;           /* number of work instructions */
    double turns;            /* iterations per wave if the kernel has `executed`; NAN: unknown */
};
/* Returns false, with `hot` unchanged, if the kernel has no loop with vector, matrix, LDS, memory or barrier
 * instructions. */
bool isa_hot_find(struct isa_hot *hot, const struct isa_kernel *kernel, struct arena *arena);

/* The loop whose own instructions move the most scratch bytes per iteration and lane. */
struct isa_scratch {
    size_t loop; /* ISA_NO_LOOP: none does */
    uint64_t bytes;
};
struct isa_scratch isa_scratch_find(const struct isa_kernel *kernel);

/* AMD: the number of vector registers that hold a value read later, before each instruction. Values that lanes keep
 * through a write because they are off are not counted. */
struct isa_live {
    uint16_t *vgprs, *agprs; /* one per instruction */
    size_t peak;             /* the first instruction with the largest sum of both */
};
void isa_live_find(struct isa_live *live, const struct isa_kernel *kernel, struct arena *arena);

/* A wait in a loop for accesses in flight. */
struct isa_wait {
    uint64_t address;
    const struct isa_instruction *instruction;
    unsigned loads, stores, lds, scalar; /* accesses that it waits for */
    uint64_t bytes;                      /* of global memory that it waits for, per lane */
    uint64_t in_flight_bytes;            /* of global memory in flight when it starts, per wave */
    bool drains;                         /* it waits for all accesses in flight, of which there are some */
    bool ends_trip;                      /* it ends one of `round_trips` */
    /* Clocks since the last access to vector memory that it waits for, or without one the last access; issue time
     * only. */
    double clocks_since_issue;
};

/* AMD: one iteration of a loop by one wave, in clocks of one SIMD: the loop's own instructions in address order,
 * including called functions. With ISA_NO_LOOP: one pass through the whole kernel. Latencies of memory and LDS are not
 * included. NAN if the time of a matrix instruction is unknown. */
struct isa_schedule {
    double vector_clocks, matrix_clocks; /* to issue vector instructions; busy time of the matrix unit */
    double issue_clocks; /* to issue all instructions of a wave; on CDNA the matrix unit works in parallel */
    double chain_clocks; /* growth of the longest dependent chain per iteration */
    double gap_clocks;   /* during which the matrix unit waits for other instructions */
    double largest_gap_clocks;
    uint64_t largest_gap_address; /* of the matrix instruction after it */
    double round_trips;           /* waits for loads issued after the previous wait: serialized loads */
    /* The least part of an iteration between a load from vector memory and the wait that ends its round trip; NAN: no
     * such load. */
    double ahead_share;
    double masked_share; /* share of vector and memory instructions in which lanes may be off */
    struct isa_wait *waits;
    size_t wait_count;
};
void isa_schedule_find(struct isa_schedule *schedule, const struct isa_kernel *kernel, size_t loop, const char *target,
                       struct arena *arena);

/* Names for JSON keys and tables ("vector", "lds_read"), and labels for people ("LDS read"). */
struct isa_kind_words {
    const char *name, *label;
};
extern const struct isa_kind_words isa_kinds[ISA_KINDS];
extern const char *const isa_spaces[ISA_SPACES]; /* "global", "lds", "scratch", "constant" */
extern const char *const isa_severities[];       /* "note", "hint", "problem" */

/* Prints the disassembly for people, `--isa`: one line per instruction with a margin (address, bytes or work), indented
 * by loop depth, loops bracketed by lines with their work, branch targets as addresses. Deterministic. */
void isa_print(struct text *out, const struct isa_kernel *kernel);

#endif
