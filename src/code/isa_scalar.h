/* SPDX-License-Identifier: MIT
 *
 * AMD's scalar registers with known contents, one instruction after the other.
 */
#ifndef ROOFTILE_ISA_SCALAR_H
#define ROOFTILE_ISA_SCALAR_H

#include "isa_internal.h"

enum { SCALARS = 128 };

struct scalars {
    uint32_t value[SCALARS];
    bool known[SCALARS];
    bool is_pc[SCALARS]; /* computed from the program counter */
    bool carry, carry_known;
};

/* A constant, or this many registers when all are known; false: not known. */
bool scalars_value(uint64_t *value, const struct scalars *now, const struct isa_operand *operand, unsigned words);

/* One instruction further. What it changed: registers now hold the program counter, or something computed from it. */
enum scalars_change { SCALARS_OTHER, SCALARS_PC, SCALARS_FROM_PC };
enum scalars_change scalars_step(struct scalars *now, const struct isa_instruction *in);

#endif
