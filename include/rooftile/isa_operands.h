/* SPDX-License-Identifier: MIT
 *
 * What an instruction of AMD's reads and writes: its operands, and how it reaches memory. Both are read once, where the
 * disassembly is (isa_parse), for everyone who follows values through instructions.
 */
#ifndef ROOFTILE_ISA_OPERANDS_H
#define ROOFTILE_ISA_OPERANDS_H

#include "rooftile/base.h"

/* Scalar registers have the numbers of their encoding; M0 has gfx10's everywhere. */
enum { SCALAR_VCC = 106, SCALAR_TRAP = 108, SCALAR_M0 = 125, SCALAR_EXEC = 126 };

/* Vector registers: VGPRs, with AGPRs behind them. */
#define ISA_ACC_BASE 1024u
#define ISA_VECTORS (2 * ISA_ACC_BASE)

enum isa_operand_kind {
    OPERAND_NONE,
    OPERAND_SCALAR,
    OPERAND_VECTOR,
    OPERAND_CONSTANT,
    OPERAND_OFF,    /* "off", "null" */
    OPERAND_UNKNOWN /* a counter, a name, a register that no target has */
};

struct isa_operand {
    uint8_t kind, count; /* registers */
    uint16_t first;
    bool negates, absolute;
    uint64_t constant; /* of 32 bits for 32-bit operands */
};

enum isa_access_kind {
    ACCESS_LOAD,
    ACCESS_STORE,
    ACCESS_ATOMIC,
    ACCESS_PERMUTE,
    ACCESS_PERMUTE_BACK,
    ACCESS_SWIZZLE,
    ACCESS_NONE /* of LDS, in a way that is not followed: transposed, by lane, a counter */
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

/* Loads, stores and atomics of whatever memory. */
struct isa_access {
    uint8_t kind;                        /* enum isa_access_kind */
    uint8_t bytes;                       /* of one element: 1, 2, 4, ...; 0: the code does not say */
    uint8_t dwords;                      /* registers of one element */
    uint8_t pair;                        /* LDS: 0, 1, or 64 (offsets count 64 elements): two elements per lane */
    uint8_t operation;                   /* enum isa_atomic */
    bool is_signed, high_half, low_half; /* 8 or 16 bits into a part of a register */
    bool returns;                        /* an atomic's old value */
    bool to_lds;                         /* between memory and LDS, past the registers */
    bool is_buffer;                      /* through a descriptor in scalar registers */
    bool offset_enable, index_enable;    /* buffers: the address register has an offset, an index */
    int8_t destination, address, data, data1, base, extra; /* operands; -1: none. extra: an SGPR that is added */
    int64_t offset, offset1;                               /* bytes */
};

/* Accesses on the way, by what waits for them. Before gfx12 one counter is for LDS and scalar memory, before gfx10
 * stores count with loads. */
enum isa_counter { COUNTER_LOAD, COUNTER_STORE, COUNTER_LDS, COUNTER_SCALAR, COUNTERS };
#define NO_WAIT UINT8_MAX

#endif
