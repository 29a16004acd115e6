/* SPDX-License-Identifier: MIT
 *
 * Inside the instruction analysis: text -> instructions -> kinds and work -> loops -> sums -> findings.
 */
#ifndef ROOFTILE_ISA_INTERNAL_H
#define ROOFTILE_ISA_INTERNAL_H

#include "rooftile/isa.h"

/* --- isa_text.c: objdump's lines ---------------------------------------------------------------------------------- */

/* Every instruction of the text, by address, classified. */
struct isa_listing {
    struct isa_instruction *items;
    size_t count;
    uint64_t *unknown; /* addresses of words that are no instruction to the disassembler, sorted */
    size_t unknown_count;
};

void isa_listing_read(struct isa_listing *listing, const char *target, const char *text, struct arena *arena);

/* --- isa_sass_*.c: NVIDIA's ---------------------------------------------------------------------------------------- */

/* The instructions of one kernel out of nvdisasm's or cuobjdump's text, addresses from 0; none when it is not there. */
void isa_sass_read(struct isa_listing *listing, const char *kernel, const char *target, const char *text,
                   struct arena *arena);

/* What an opcode is, its name up to the first '.': "IMAD" of IMAD.WIDE.U32. Work as in struct isa_instruction. */
struct isa_sass_opcode {
    const char *name;
    enum isa_kind kind;
    enum isa_space space;
    uint8_t flops, ops;
};
extern const struct isa_sass_opcode isa_sass_opcodes[];
extern const size_t isa_sass_opcode_count;

/* Fills kind, space, bytes and work from mnemonic and operands. */
void isa_sass_classify(struct isa_instruction *in, const char *target);

/* Runs a disassembler over the cubin behind `fd`: its text and path. ERR_UNSUPPORTED: there is none. */
enum status isa_sass_disassemble(char **text, const char **tool, int fd, const char *target, struct arena *arena,
                                 struct err *err);

/* --- isa_tool.c --------------------------------------------------------------------------------------------------- */

/* Runs a disassembler to its end. ERR_IO: it failed, or wrote that it could not. */
struct spawn_result;
enum status isa_tool_run(struct spawn_result *ran, const char *const *argv, struct arena *arena, struct err *err);
enum status isa_tool_failed(const struct spawn_result *ran, const char *tool, struct err *err);

/* A call whose instructions are not among the kernel's. */
bool isa_is_call(const struct isa_instruction *in);

/* --- isa_classify.c, isa_opcodes.c, isa_work.c -------------------------------------------------------------------- */

/* What a mnemonic starts with, and what that makes it; the first row that fits counts. */
struct isa_family {
    const char *prefix;
    enum isa_kind kind;
    enum isa_space space;
};
extern const struct isa_family isa_families[];
extern const size_t isa_family_count;

/* Fills kind, space, bytes and work from the mnemonic, the same for all instructions that have it. */
void isa_classify(struct isa_instruction *in, const char *target);

/* What depends on the operands too; after isa_classify. */
void isa_classify_operands(struct isa_instruction *in, const char *target);

/* Operations per lane of a vector ALU mnemonic without "v_": true and *count, *is_float. False: it computes nothing. */
bool isa_work_of(unsigned *count, bool *is_float, const char *base, size_t length);

/* The same text up to the encoding suffix (_e32, _e64, _dpp, _sdwa, ...). */
size_t isa_base_length(const char *mnemonic);

/* --- isa_matrix.c, isa_matrix_table.c ----------------------------------------------------------------------------- */

/* v_mfma_*_f8f6f4 takes twice the time when an operand has 8 bits. */
enum isa_formats { ISA_ANY_FORMAT, ISA_NARROW_FORMATS, ISA_EIGHT_BITS };

struct isa_matrix {
    const char *arch; /* "gfx942", or a family: "gfx11" */
    const char *name;
    enum isa_formats formats;
    uint32_t ops;
    uint32_t cycles;
};
extern const struct isa_matrix isa_matrices[];
extern const size_t isa_matrix_count;

/* Fills matrix_ops, matrix_cycles and is_integer. */
void isa_matrix_fill(struct isa_instruction *in, const char *target);

/* --- isa_loops.c, isa_mix.c --------------------------------------------------------------------------------------- */

/* Finds the loops and sets `loop` of every instruction. */
void isa_loops_find(struct isa_kernel *kernel, struct arena *arena);

void isa_mix_add(struct isa_mix *mix, const struct isa_instruction *in);
void isa_mix_fill(struct isa_kernel *kernel);

/* --- isa_registers.c ---------------------------------------------------------------------------------------------- */

/* Vector registers of one operand: file 'v' or 'a', `count` of them from `first`; file 0: something else. */
struct isa_registers {
    char file;
    unsigned first, count;
};

#define ISA_MAX_OPERANDS 8

struct isa_operands {
    struct isa_registers items[ISA_MAX_OPERANDS];
    unsigned count;
    unsigned destinations;  /* the first 0 or 1 of them are written */
    bool reads_destination; /* fmac, dot2c, smfmac: the result is also an operand */
};

/* One half of a VOPD (`half` 0 or 1) or a whole instruction (0). False: there is no such half. */
bool isa_operands_read(struct isa_operands *operands, const struct isa_instruction *in, unsigned half);

bool isa_registers_overlap(const struct isa_registers *a, const struct isa_registers *b);

/* The number behind "name:" among the modifiers ("offset:16"), 0 without it. */
uint64_t isa_modifier(const struct isa_instruction *in, const char *name);

/* --- isa_findings*.c ---------------------------------------------------------------------------------------------- */

/* The own instructions of one loop, by address. */
struct isa_body {
    const struct isa_kernel *kernel;
    const char *target;
    size_t loop;
    const struct isa_instruction **items;
    size_t count;
};

struct isa_report {
    struct isa_kernel *kernel; /* its findings are filled */
    size_t capacity;
    struct arena *arena;
};

void isa_findings_fill(struct isa_kernel *kernel, const char *target, struct arena *arena);

/* `what` is the arena's or static. */
void isa_report_add(struct isa_report *report, struct isa_finding finding);

/* Of the whole kernel: instructions of all lanes together where some may be off. */
void isa_check_lanes(struct isa_report *report);

/* One check each: looks at one loop and reports. */
void isa_check_memory(struct isa_report *report, const struct isa_body *body);
void isa_check_lds(struct isa_report *report, const struct isa_body *body);
void isa_check_chain(struct isa_report *report, const struct isa_body *body);

/* Issue time of an instruction on its SIMD, relative to a plain vector instruction. */
double isa_issue_cost(const struct isa_instruction *in);

#endif
