/* SPDX-License-Identifier: MIT
 *
 * AMD scalar registers with known contents, tracked instruction by instruction.
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

/* Returns a constant, or this many registers if all are known; false: unknown. */
bool scalars_value(uint64_t *value, const struct scalars *now, const struct isa_operand *operand, unsigned words);

/* Keeps what both know; returns whether that is less than `now` knew. */
bool scalars_meet(struct scalars *now, const struct scalars *other);

/* Processes one instruction. Returns whether registers now hold the program counter, or an address computed from it. */
enum scalars_change { SCALARS_OTHER, SCALARS_PC, SCALARS_FROM_PC };
enum scalars_change scalars_step(struct scalars *now, const struct isa_instruction *in);

#endif
