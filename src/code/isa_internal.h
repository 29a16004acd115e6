/* SPDX-License-Identifier: MIT
 *
 * Inside the instruction analysis: text -> instructions -> kinds and work -> loops -> sums -> findings.
 */
#ifndef ROOFTILE_ISA_INTERNAL_H
#define ROOFTILE_ISA_INTERNAL_H

#include "rooftile/isa.h"

/* ---- isa_text.c: its lines ---- */

struct isa_memo; /* what mnemonics were found to be */

/* Instructions of a text, by address, classified. */
struct isa_listing {
    struct isa_instruction *items;
    size_t count;
    struct isa_word *unknown; /* by address */
    size_t unknown_count;
    struct isa_jump *jumps; /* by `from` */
    size_t jump_count;
    struct isa_memo *memo;
};

/* One of several places that a jump through registers may go to. */
struct isa_jump {
    uint64_t from, to;
};
/* The first jump at or behind an address; the count: there is none. */
size_t isa_jump_find(const struct isa_listing *listing, uint64_t from);

/* AMD: reads the whole text, whatever the kernel. NVIDIA: this kernel alone, whose addresses start at 0; nothing when
 * it is not there. A listing that was filled before keeps what it knows about mnemonics, for the same target. */
void isa_listing_read(struct isa_listing *listing, const char *kernel, const struct codeobj *object, const char *text,
                      struct arena *arena);

/* ---- isa_jump.c ---- */

/* AMD: where jumps and calls through scalar registers go, as far as the code computes it from its own address. Sets
 * `target` of those with one, and the listing's jumps for those with several. */
void isa_jumps_find(struct isa_listing *listing, const struct codeobj *object, struct arena *arena);

/* ---- isa_tool.c ---- */

/* What the disassembler writes of [from, end), and its path. */
enum status isa_disassemble(char **text, const char **tool, const struct codeobj *object, uint64_t from, uint64_t end,
                            struct arena *arena, struct err *err);

/* ---- isa_classify.c, isa_matrix.c ---- */

/* Has a mnemonic one of these words? Its own are separated by '_' (AMD) or '.' (NVIDIA). */
bool isa_has_word(const char *name, const char *words);
/* Does it start with one of these, and how long is the longest? 0: with none. */
bool isa_starts(const char *name, const char *words);
size_t isa_start(const char *name, const char *words);
/* Is NVIDIA's opcode, the mnemonic up to its first '.', one of these? */
bool isa_is_opcode(const struct isa_instruction *in, const char *names);

/* What a word of a name says of the bytes of an access or of an atomic's operand; 0: none does. */
unsigned isa_bytes_named(const char *name);

/* Fills kind, space, bytes, work and access from the mnemonic, the same for all instructions that have it. */
void isa_classify(struct isa_instruction *in, const char *target, struct arena *arena);
/* What depends on the operands and the guard too; after isa_classify. */
void isa_correct(struct isa_instruction *in, const char *target);

/* ---- isa_operands.c, isa_access.c: AMD's ---- */

/* The length of a name without its encoding: of "v_fma_f32_e64" that of "v_fma_f32". */
size_t isa_name_length(const char *mnemonic);
/* The operands, which of them are written, and where those of an access stand; after isa_classify. */
void isa_operands_read(struct isa_instruction *in, struct arena *arena);
/* What a wait waits for. */
void isa_waits_read(struct isa_instruction *in);

/* What a name says of an access; false: it is none. */
bool isa_access_named(struct isa_access *access, const char *name);
/* What operands and modifiers say of it. */
void isa_access_place(struct isa_instruction *in, struct arena *arena);

/* `policy` */
const char *isa_policy_read(const struct isa_instruction *in, struct arena *arena);

/* Fills matrix_ops, matrix_cycles and is_integer. */
void isa_matrix_fill(struct isa_instruction *in, const char *target);

/* ---- isa_loops.c, isa.c ---- */

/* The first of these instructions at or behind an address; `count`: there is none. */
size_t isa_find(const struct isa_instruction *items, size_t count, uint64_t address);

/* A number for each vector register, of what flows through code. One instruction further its result gets `own` and the
 * largest number of its operands, their sum or the larger of both. Returns that of the operands. Both halves of a VOPD
 * read before either writes. (isa_live.c) */
struct isa_flow {
    double of[ISA_VECTORS];
};
double isa_flow_step(struct isa_flow *flow, const struct isa_instruction *in, double own, bool sum);

/* The instruction that it jumps to; SIZE_MAX: none of the kernel's. */
size_t isa_target_of(const struct isa_kernel *kernel, const struct isa_instruction *in);

/* Finds the loops and sets `loop` of every instruction. */
void isa_loops_find(struct isa_kernel *kernel, struct arena *arena);

/* ---- isa_mix.c ---- */

/* The function at an address, outside of the kernel's own code; NULL: there is none. Calls are followed to this depth;
 * deeper calls and recursion are skipped. */
#define ISA_CALL_DEPTH 4u
const struct isa_function *isa_function_at(const struct isa_kernel *kernel, uint64_t address);
/* Sums of a kernel and of its loops, which are there. */
void isa_mix_fill(struct isa_kernel *kernel);

/* ---- isa_findings.c, isa_findings_flow.c ---- */

void isa_findings_fill(struct isa_kernel *kernel, const char *target, struct arena *arena);

/* What a rule looks at: a kernel, or the own instructions of one of its innermost loops, by address. */
struct isa_scope {
    struct isa_kernel *kernel; /* its findings are filled */
    const char *target;
    size_t loop; /* ISA_NO_LOOP: the whole kernel */
    const struct isa_mix *mix;
    const struct isa_instruction **items;
    size_t count;
    double cost;                 /* issue time of them all */
    const struct isa_rule *rule; /* the one being checked */
    struct arena *arena;
};

/* One kind of finding: include/rooftile/isa.h says what each means. */
struct isa_rule {
    const char *code;
    enum isa_severity severity;
    bool is_of_loops; /* looks at innermost loops, else at kernels */
    bool is_sass;     /* holds for NVIDIA's too; the others know LLVM's code and AMD's rates */
    void (*check)(struct isa_scope *scope);
    const char *advice;
};

/* A finding of the scope's rule at an instruction (NULL: the kernel's start), its sentence printed as by printf. May be
 * changed until the next one. */
struct isa_finding *isa_report(struct isa_scope *scope, const struct isa_instruction *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Does it issue to the vector ALU? */
bool isa_is_vector(enum isa_kind kind);

/* What it does to the lanes that are on: turns some off, or sets all that are to be on again. */
enum isa_exec { ISA_EXEC_KEPT, ISA_EXEC_NARROWED, ISA_EXEC_SET };
enum isa_exec isa_exec_of(const struct isa_instruction *in);
/* Do its own instructions turn off lanes for all later turns of the loop, which they leave one by one? */
bool isa_loop_narrows(const struct isa_kernel *kernel, size_t loop);

/* Issue time of an instruction on its SIMD, relative to a plain vector instruction. */
double isa_issue_cost(const struct isa_instruction *in);

/* Basic blocks: instructions [first, last) without a branch or a label but at their ends. */
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
/* Does memory take a loop longer than its vector instructions, which it hides then? */
bool isa_is_memory_bound(const struct isa_scope *scope);
void isa_check_width(struct isa_scope *scope);     /* narrow-loads */
void isa_check_waits(struct isa_scope *scope);     /* wait-each-load */
void isa_check_lds(struct isa_scope *scope);       /* narrow-lds */
void isa_check_chain(struct isa_scope *scope);     /* one-chain */
void isa_check_addresses(struct isa_scope *scope); /* wide-addresses */

#endif
