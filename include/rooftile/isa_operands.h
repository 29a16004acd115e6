/* SPDX-License-Identifier: MIT
 *
 * The operands of AMD instructions, and how they access memory. isa_parse reads both once from the disassembly, for all
 * analyses that follow values through instructions.
 */
#ifndef ROOFTILE_ISA_OPERANDS_H
#define ROOFTILE_ISA_OPERANDS_H

#include "rooftile/base.h"

/* Scalar registers are numbered by their encoding; M0 always has gfx10's number. */
enum { SCALAR_VCC = 106, SCALAR_TRAP = 108, SCALAR_M0 = 125, SCALAR_EXEC = 126 };

/* Vector registers: VGPRs, then AGPRs. */
#define ISA_ACC_BASE 1024u
#define ISA_VECTORS (2 * ISA_ACC_BASE)

enum isa_operand_kind {
    OPERAND_NONE,
    OPERAND_SCALAR,
    OPERAND_VECTOR,
    OPERAND_CONSTANT,
    OPERAND_OFF,    /* "off", "null" */
    OPERAND_UNKNOWN /* a counter, a name, or a register that no target has */
};

struct isa_operand {
    uint8_t kind, count; /* registers */
    uint16_t first;
    bool negates, absolute;
    uint64_t constant; /* 32 bits for 32-bit operands */
};

enum isa_access_kind {
    ACCESS_LOAD,
    ACCESS_STORE,
    ACCESS_ATOMIC,
    ACCESS_PERMUTE,
    ACCESS_PERMUTE_BACK,
    ACCESS_SWIZZLE,
    ACCESS_NONE /* an LDS access that is not modelled: transposed, by lane, a counter */
};
enum isa_atomic {
    ATOMIC_UNKNOWN,
    ATOMIC_ADD,
    ATOMIC_SUB,
    ATOMIC_AND,
    ATOMIC_OR,
    ATOMIC_XOR,
    ATOMIC_SWAP,
    ATOMIC_CMPSWAP,
    ATOMIC_SMIN,
    ATOMIC_SMAX,
    ATOMIC_UMIN,
    ATOMIC_UMAX,
    ATOMIC_INC,
    ATOMIC_DEC
};

/* Loads, stores and atomics of any memory. */
struct isa_access {
    uint8_t kind;                        /* enum isa_access_kind */
    uint8_t bytes;                       /* of one element: 1, 2, 4, ...; 0: not in the code */
    uint8_t dwords;                      /* registers of one element */
    uint8_t pair;                        /* LDS: 0, 1, or 64 (offsets count 64 elements): two elements per lane */
    uint8_t operation;                   /* enum isa_atomic */
    bool is_signed, high_half, low_half; /* 8 or 16 bits to a part of a register */
    bool returns;                        /* returns an atomic's old value */
    bool to_lds;                         /* between memory and LDS, bypassing registers */
    bool is_buffer;                      /* through a descriptor in scalar registers */
    bool offset_enable, index_enable;    /* buffers: the address register has an offset, an index */
    int8_t destination, address, data, data1, base, extra; /* operand indices; -1: none. extra: an SGPR that is added */
    int64_t offset, offset1;                               /* bytes */
};

/* Accesses in flight, by the counter that waits for them. Before gfx12 LDS and scalar memory share a counter, before
 * gfx10 loads and stores do. */
enum isa_counter { COUNTER_LOAD, COUNTER_STORE, COUNTER_LDS, COUNTER_SCALAR, COUNTERS };
#define NO_WAIT UINT8_MAX

#endif
