/* SPDX-License-Identifier: MIT
 *
 * Internals of the instruction analysis: text -> instructions -> kinds and work -> loops -> sums -> findings.
 */
#ifndef ROOFTILE_ISA_INTERNAL_H
#define ROOFTILE_ISA_INTERNAL_H

#include "rooftile/isa.h"

/* ---- isa_text.c: its lines ---- */

struct isa_memo; /* cached classification of mnemonics */

/* The classified instructions of a text, by address. */
struct isa_listing {
    struct isa_instruction *items;
    size_t count;
    struct isa_word *unknown; /* by address */
    size_t unknown_count;
    struct isa_jump *jumps; /* by `from` */
    size_t jump_count;
    struct isa_memo *memo;
};

/* One of several targets of an indirect jump. */
struct isa_jump {
    uint64_t from, to;
};
/* Returns the first jump at or after an address, or the count. */
size_t isa_jump_find(const struct isa_listing *listing, uint64_t from);

/* AMD: reads the whole text, for all kernels. NVIDIA: reads this kernel only, whose addresses start at 0, or nothing if
 * it is absent. A reused listing keeps its cache of mnemonics for the same target. */
void isa_listing_read(struct isa_listing *listing, const char *kernel, const struct codeobj *object, const char *text,
                      struct arena *arena);

/* ---- isa_jump.c ---- */

/* AMD: resolves jumps and calls through scalar registers as far as the code computes them from its own address. Sets
 * `target` of those with one target, and the listing's jumps for those with several. */
void isa_jumps_find(struct isa_listing *listing, const struct codeobj *object, struct arena *arena);

/* ---- isa_tool.c ---- */

/* Returns the disassembler's output for [from, end), and its path. */
enum status isa_disassemble(char **text, const char **tool, const struct codeobj *object, uint64_t from, uint64_t end,
                            struct arena *arena, struct err *err);

/* ---- isa_classify.c, isa_matrix.c ---- */

/* True if a mnemonic has one of these words; its words are separated by '_' (AMD) or '.' (NVIDIA). */
bool isa_has_word(const char *name, const char *words);
/* True if it starts with one of these; the length of the longest, or 0. */
bool isa_starts(const char *name, const char *words);
size_t isa_start(const char *name, const char *words);
/* True if NVIDIA's opcode, the mnemonic up to its first '.', is one of these. */
bool isa_is_opcode(const struct isa_instruction *in, const char *names);

/* Returns the bytes of an access or of an atomic's operand by a word of the name; 0: unknown. */
unsigned isa_bytes_named(const char *name);

/* Sets kind, space, bytes, work and access, which depend only on the mnemonic. */
void isa_classify(struct isa_instruction *in, const char *target, struct arena *arena);
/* Corrects values that also depend on operands and guard; after isa_classify. */
void isa_correct(struct isa_instruction *in, const char *target);

/* ---- isa_operands.c, isa_access.c: AMD's ---- */

/* Returns the length of a name without its encoding: for "v_fma_f32_e64" that of "v_fma_f32". */
size_t isa_name_length(const char *mnemonic);
/* Reads the operands, which of them are written, and the positions of an access's operands; after isa_classify. */
void isa_operands_read(struct isa_instruction *in, struct arena *arena);
/* Reads the counters that a wait waits for. */
void isa_waits_read(struct isa_instruction *in);

/* Decodes an access from its name; false if it is none. */
bool isa_access_named(struct isa_access *access, const char *name);
/* Completes an access from operands and modifiers. */
void isa_access_place(struct isa_instruction *in, struct arena *arena);

/* Returns `policy`. */
const char *isa_policy_read(const struct isa_instruction *in, struct arena *arena);

/* Sets matrix_ops, matrix_cycles and is_integer. */
void isa_matrix_fill(struct isa_instruction *in, const char *target);

/* ---- isa_loops.c, isa.c ---- */

/* Orders numbers, or structs that begin with one such as an address. */
int isa_by_number(const void *a, const void *b);
/* Returns how many elements, sorted by this member, come before a number. */
#define ISA_BELOW(items, count, member, number)                                                                        \
    array_below((items), (count), sizeof(*(items)), offsetof(__typeof__(*(items)), member), (number))
/* Returns the first of these instructions at or after an address, or `count`. */
size_t isa_find(const struct isa_instruction *items, size_t count, uint64_t address);

/* A number per vector register that propagates through code. A step takes the largest number of the operands, and sets
 * the result to its sum with `own` or to the larger of both. Returns the number of the operands. Both halves of a VOPD
 * read before either writes. (isa_live.c) */
struct isa_flow {
    double of[ISA_VECTORS];
};
double isa_flow_step(struct isa_flow *flow, const struct isa_instruction *in, double own, bool sum);

/* Returns the instruction that it jumps to; SIZE_MAX: outside the kernel. */
size_t isa_target_of(const struct isa_kernel *kernel, const struct isa_instruction *in);

/* Finds the loops and sets `loop` of every instruction. */
void isa_loops_find(struct isa_kernel *kernel, struct arena *arena);

/* ---- isa_mix.c ---- */

/* Returns the function at an address outside the kernel's own code, or NULL. Calls are followed to this depth; deeper
 * calls and recursion are skipped. */
#define ISA_CALL_DEPTH 4u
const struct isa_function *isa_function_at(const struct isa_kernel *kernel, uint64_t address);
/* Sums up a kernel and its loops, which must have been found. */
void isa_mix_fill(struct isa_kernel *kernel);

/* ---- isa_findings.c, isa_findings_flow.c ---- */

void isa_findings_fill(struct isa_kernel *kernel, const char *target, struct arena *arena);

/* The input of a rule: a kernel, or one of its innermost loops, with its own instructions by address. */
struct isa_scope {
    struct isa_kernel *kernel; /* receives the findings */
    const char *target;
    size_t loop; /* ISA_NO_LOOP: the whole kernel */
    const struct isa_mix *mix;
    const struct isa_instruction **items;
    size_t count;
    double cost;                 /* issue time of all instructions */
    const struct isa_rule *rule; /* the one being checked */
    struct arena *arena;
};

/* One kind of finding; include/rooftile/isa.h documents each. */
struct isa_rule {
    const char *code;
    enum isa_severity severity;
    bool is_of_loops; /* examines innermost loops, otherwise kernels */
    bool is_sass;     /* also valid for NVIDIA; other rules assume LLVM's code and AMD's rates */
    void (*check)(struct isa_scope *scope);
    const char *advice;
};

/* Adds a finding of the scope's rule at an instruction (NULL: the kernel's start), with a sentence formatted as by
 * printf. It may be modified until the next call. */
struct isa_finding *isa_report(struct isa_scope *scope, const struct isa_instruction *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A count of similar instructions, and the first of them. */
struct isa_tally {
    const struct isa_instruction *first;
    unsigned count;
};

/* The instructions of a scope for which a condition on `in` holds. */
#define ISA_TALLY(scope, in, condition)                                                                                \
    ({                                                                                                                 \
        struct isa_tally tally_ = {0};                                                                                 \
        for (size_t tally_at = 0; tally_at < (scope)->count; tally_at++) {                                             \
            const struct isa_instruction *in = (scope)->items[tally_at];                                               \
            if ((condition) && tally_.count++ == 0)                                                                    \
                tally_.first = in;                                                                                     \
        }                                                                                                              \
        tally_;                                                                                                        \
    })

/* True if it issues to the vector ALU. */
bool isa_is_vector(enum isa_kind kind);

/* Effect on the active lanes: turns some off, or restores a mask. */
enum isa_exec { ISA_EXEC_KEPT, ISA_EXEC_NARROWED, ISA_EXEC_SET };
enum isa_exec isa_exec_of(const struct isa_instruction *in);
/* True if the loop's own instructions turn off lanes for all later iterations, so that lanes leave it one by one. */
bool isa_loop_narrows(const struct isa_kernel *kernel, size_t loop);

/* Returns the issue time of an instruction on its SIMD, relative to a plain vector instruction. */
double isa_issue_cost(const struct isa_instruction *in);

/* Basic blocks: instructions [first, last) with branches and labels only at their ends. */
struct isa_block {
    size_t first, last;
    size_t next[2]; /* blocks; SIZE_MAX: none */
};
struct isa_blocks {
    struct isa_block *items;
    size_t count;
    size_t *of; /* block of each instruction */
};
struct isa_blocks isa_blocks_find(const struct isa_kernel *kernel, struct arena *arena);

void isa_check_strides(struct isa_scope *scope); /* strided, bank-conflicts */
void isa_check_leaving(struct isa_scope *scope); /* lanes-leave */
/* True if memory takes longer than the loop's vector instructions, and hides them. */
bool isa_is_memory_bound(const struct isa_scope *scope);
void isa_check_width(struct isa_scope *scope);     /* narrow-loads */
void isa_check_waits(struct isa_scope *scope);     /* wait-each-load */
void isa_check_lds(struct isa_scope *scope);       /* narrow-lds */
void isa_check_chain(struct isa_scope *scope);     /* one-chain */
void isa_check_addresses(struct isa_scope *scope); /* wide-addresses */

#endif
