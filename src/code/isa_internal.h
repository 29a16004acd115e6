/* SPDX-License-Identifier: MIT
 *
 * Inside the instruction analysis: text -> instructions -> kinds and work -> loops -> sums -> findings.
 */
#ifndef ROOFTILE_ISA_INTERNAL_H
#define ROOFTILE_ISA_INTERNAL_H

#include "rooftile/isa.h"

/* ---- isa_tool.c: the disassembler as a child process ---- */

/* What isa_read() says, of the kernels at [from, end): the disassembler's text and its path. */
enum status isa_disassemble(char **text, const char **tool, const void *bytes, size_t size, const char *target,
                            uint64_t from, uint64_t end, struct arena *arena, struct err *err);

/* ---- isa_text.c: its lines ---- */

struct isa_memo; /* what mnemonics were found to be */

/* Instructions of a text, by address, classified. */
struct isa_listing {
    struct isa_instruction *items;
    size_t count;
    uint64_t *unknown; /* addresses of words that are no instruction to the disassembler, sorted */
    size_t unknown_count;
    struct isa_memo *memo;
};

/* AMD: of the whole text, whatever the kernel. NVIDIA: of this kernel alone, whose addresses start at 0; none when it
 * is not there. A listing that was filled before keeps its memory of mnemonics, for the same target. */
void isa_listing_read(struct isa_listing *listing, const char *kernel, const char *target, const char *text,
                      struct arena *arena);

/* ---- isa_opcodes.c, isa_classify.c, isa_matrix.c ---- */

/* What instructions are by their names; work as in struct isa_instruction. */
struct isa_opcode {
    enum isa_kind kind;
    enum isa_space space;
    uint8_t flops, ops;
    const char *names; /* with blanks between them */
};
const struct isa_opcode *isa_opcode_find(const char *mnemonic, bool is_sass);

/* Operations per lane and value of a vector ALU instruction of AMD's, by what follows "v_", "v_pk_" or "v_dual_". */
unsigned isa_stem_work(const char *stem);

/* Has a mnemonic one of these words? Its own are separated by '_' (AMD) or '.' (NVIDIA). */
bool isa_has_word(const char *name, const char *words);
/* Does it start with one of these? */
bool isa_starts(const char *name, const char *words);
/* Is NVIDIA's opcode, the mnemonic up to its first '.', one of these? */
bool isa_is_opcode(const struct isa_instruction *in, const char *names);

/* Fills kind, space, bytes and work from the mnemonic, the same for all instructions that have it. */
void isa_classify(struct isa_instruction *in, const char *target);
/* What depends on the operands and the guard too; after isa_classify. */
void isa_correct(struct isa_instruction *in, const char *target);

/* Fills matrix_ops, matrix_cycles and is_integer. */
void isa_matrix_fill(struct isa_instruction *in, const char *target);

/* ---- isa_loops.c, isa.c ---- */

/* The first of these instructions at or behind an address; `count`: there is none. */
size_t isa_find(const struct isa_instruction *items, size_t count, uint64_t address);

/* Finds the loops and sets `loop` of every instruction. */
void isa_loops_find(struct isa_kernel *kernel, struct arena *arena);

/* A call whose instructions are not among the kernel's. */
bool isa_is_call(const struct isa_instruction *in);

/* ---- isa_registers.c: AMD's vector registers ---- */

#define ISA_FILES 2u /* VGPRs and AGPRs */
#define ISA_REGISTERS 1024u
#define ISA_MAX_OPERANDS 8

/* Vector registers of one operand: file 'v' or 'a', `count` of them from `first`, all below ISA_REGISTERS; file 0:
 * something else. */
struct isa_registers {
    char file;
    unsigned first, count;
};

struct isa_operands {
    struct isa_registers items[ISA_MAX_OPERANDS];
    unsigned count;
    unsigned destinations;  /* the first 0 or 1 of them are written */
    bool reads_destination; /* fmac, dot2c, smfmac: the result is also an operand */
};

/* One half of a VOPD (`half` 0 or 1) or a whole instruction (0). False: there is no such half. */
bool isa_operands_read(struct isa_operands *operands, const struct isa_instruction *in, unsigned half);

/* The number behind "name:" among the modifiers ("offset:16"), 0 without it. */
uint64_t isa_modifier(const struct isa_instruction *in, const char *name);

/* A number for each register, of what flows through a loop. */
struct isa_flow {
    unsigned of[ISA_FILES][ISA_REGISTERS];
};
/* One instruction further: its result gets `own` and the largest number of its operands, their sum or the larger of
 * both. Returns that of the operands. Both halves of a VOPD read before either writes. */
unsigned isa_flow_step(struct isa_flow *flow, const struct isa_instruction *in, unsigned own, bool sum);

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
    double cost; /* issue time of them all */
    struct arena *arena;
};

/* One kind of finding: include/rooftile/isa.h says what each means. */
struct isa_rule {
    const char *code;
    enum isa_severity severity;
    bool is_of_loops; /* looks at innermost loops, else at kernels */
    bool is_sass;     /* holds for NVIDIA's too; the others know LLVM's code and AMD's rates */
    void (*check)(struct isa_scope *scope, const struct isa_rule *rule);
    const char *advice;
};

/* A finding at an instruction (NULL: the kernel's start), its sentence printed as by printf. May be changed until the
 * next one. */
struct isa_finding *isa_report(struct isa_scope *scope, const struct isa_rule *rule, const struct isa_instruction *at,
                               const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Issue time of an instruction on its SIMD, relative to a plain vector instruction. */
double isa_issue_cost(const struct isa_instruction *in);

void isa_check_width(struct isa_scope *scope, const struct isa_rule *rule); /* narrow-loads */
void isa_check_waits(struct isa_scope *scope, const struct isa_rule *rule); /* wait-each-load */
void isa_check_lds(struct isa_scope *scope, const struct isa_rule *rule);   /* narrow-lds */
void isa_check_chain(struct isa_scope *scope, const struct isa_rule *rule); /* one-chain */

#endif
