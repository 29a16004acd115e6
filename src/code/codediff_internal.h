/* SPDX-License-Identifier: MIT */
#ifndef ROOFTILE_CODEDIFF_INTERNAL_H
#define ROOFTILE_CODEDIFF_INTERNAL_H

#include "isa_internal.h"
#include "rooftile/codediff.h"

/* The mix that stands for a side: of its hot loop, without inner ones, else of the kernel; NULL: not disassembled. */
const struct isa_mix *codediff_mix(const struct code_pair *pair, int side);

/* Instructions of the hot loop, or of the kernel: whose names have one of `words`; that multiply or add alone. */
uint64_t codediff_named(const struct code_pair *pair, int side, const char *words);
uint64_t codediff_single(const struct code_pair *pair, int side);

/* Instructions but waits and the like. */
double codediff_issued(const struct isa_mix *mix);

/* Appends the cause that the names of instructions tell; `most`: one whose instructions are most of what came. */
bool codediff_names(struct text *text, const struct code_pair *pair, bool most);

/* Atomic operations of `before` in whose place `after` has loops of compare and swap. */
uint64_t codediff_swap_loops(const struct code_pair *pair);

/* Does code that stores nothing, where no alias matters, stand in another order? False where there is little of it. */
bool codediff_is_rescheduled(const struct code_pair *pair, struct arena *arena);

/* Loads of the hot loop behind its first store, for the same work: compilers put loads first where they may. */
double codediff_loads_behind(const struct code_pair *pair, int side);

/* What made the change, with its evidence. */
const char *codediff_cause(const struct code_pair *pair, struct arena *arena);

#endif
