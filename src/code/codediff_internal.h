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

/* Does code that stores nothing, where no alias matters, stand in another order? False where there is little of it. */
bool codediff_is_rescheduled(const struct code_pair *pair, struct arena *arena);

/* What made the change, with its evidence. */
const char *codediff_cause(const struct code_pair *pair, struct arena *arena);

#endif
