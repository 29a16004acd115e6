/* SPDX-License-Identifier: MIT
 *
 * Execution functions for each form of vector instruction, referenced by the table of meanings.
 */
#ifndef ROOFTILE_WALK_VECTOR_H
#define ROOFTILE_WALK_VECTOR_H

#include "walk_internal.h"

enum carry { CARRY_ADD, CARRY_SUB, CARRY_SUBREV, CARRY_IN = 4 };
enum packed { PACKED_ADD, PACKED_MUL, PACKED_FMA, PACKED_MOV };

execute_fn lanes_execute, wide_execute, carry_execute, mad64_execute, div_scale_execute, select_execute,
    first_lane_execute, read_lane_execute, write_lane_execute, mbcnt_execute, packed_execute, swap_execute,
    permlane_execute, lane_swap_execute, bits_execute, nothing_execute;

#endif
