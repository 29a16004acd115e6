/* SPDX-License-Identifier: MIT */
#ifndef ROOFTILE_CODEDIFF_INTERNAL_H
#define ROOFTILE_CODEDIFF_INTERNAL_H

#include "isa_internal.h"
#include "rooftile/codediff.h"

/* The mix that stands for a side: of its hot loop, without inner ones, else of the kernel; NULL: not disassembled. */
const struct isa_mix *codediff_mix(const struct code_pair *pair, int side);

/* How many instructions of the hot loop, or of the kernel, have one of `words` in their names; only multiply or only
 * add; copy a vector register, or two (ISA_PACKED), or fill them with constants, or copy a scalar one (ISA_SCALAR). */
uint64_t codediff_named(const struct code_pair *pair, int side, const char *words);
uint64_t codediff_single(const struct code_pair *pair, int side);
uint64_t codediff_copies(const struct code_pair *pair, int side, enum isa_kind kind);

/* All figures of a side, of its own pass. */
void codediff_figures(struct code_figures *figures, const struct code_pair *pair, int side, struct arena *arena);

/* Names of instructions that write caches back or invalidate them. */
#define CODE_FENCES "inv wb wbl2 wbinvl1 gl0 gl1"

/* Work of a pass before over that after; NAN: nothing tells. */
double codediff_scale(const struct isa_mix *before, const struct isa_mix *after);

/* Arguments for which both compilers noted the access, as no store overlaps them; 0: none. */
unsigned codediff_promises(const struct code_pair *pair);

/* Instructions but waits and the like. */
double codediff_issued(const struct isa_mix *mix);

/* Do accesses to memory ask caches for something else? */
bool codediff_policies_differ(const struct code_pair *pair);

/* Atomic operations of `before` in whose place `after` has loops of compare and swap; where it has no atomic operation,
 * the loops. */
uint64_t codediff_swap_loops(const struct code_pair *pair);

/* Is code without stores, where aliases do not matter, in another order? False where there is little of it. */
bool codediff_is_rescheduled(const struct code_pair *pair, struct arena *arena);

/* Loads of the hot loop behind its first store, for the same work: compilers put loads first where they may. */
double codediff_loads_behind(const struct code_pair *pair, int side);

/* ---- causes: what a rule sees, and what it writes ----
 *
 * A rule sees how a worse build came of a better one, whichever was given first: it looks at its pair in one direction
 * and has words for both. */

struct code_signs {
    const struct code_pair *pair; /* in the rule's order */
    const struct inspect_kernel *before, *after;
    const double *a, *b;            /* figures */
    const struct isa_mix *in, *out; /* of the hot loop, or of the kernel; NULL: not disassembled */
    bool is_mirrored;               /* the two were given in the other order */
    double unit;                    /* of figures of a pass: what of them is shown */
    struct text *text;
    struct arena *arena;
};

/* Words for the order in which the two were given. */
const char *codediff_words(const struct code_signs *s, const char *forward, const char *back);

/* Append counts for the work of a pass, in that order: "bytes loaded per lane 64 to 128", "40 packed instructions
 * instead of 80". */
void codediff_from_to(const struct code_signs *s, const char *what, double a, double b);
void codediff_instead(const struct code_signs *s, const char *what, double a, double b);

/* A count of either side's pass, for the work of a pass before. */
double codediff_per_pass(const struct code_signs *s, uint64_t count, int side);

/* Instructions of a kind; what was paired for dual issue counts as the two that it was, as their order decides. */
uint64_t codediff_operations(const struct isa_mix *mix, int kind);

extern const char codediff_in_another_order[];

/* Rules: do they see their sign? Then they append what shows it. */
bool codediff_extra_copies(const struct code_signs *s);
bool codediff_rescheduled(const struct code_signs *s);
bool codediff_behind_stores(const struct code_signs *s);
bool codediff_scheduling(const struct code_signs *s);
bool codediff_policy(const struct code_signs *s);
bool codediff_promise(const struct code_signs *s); /* of arguments, which the compiler notes in the metadata */
bool codediff_aliasing(const struct code_signs *s);
bool codediff_lds_reuse(const struct code_signs *s);
bool codediff_stay_behind(const struct code_signs *s);
bool codediff_access_width(const struct code_signs *s);
bool codediff_names(const struct code_signs *s);
bool codediff_names_lost(const struct code_signs *s);    /* operations that one instruction did for several values */
bool codediff_names_of_most(const struct code_signs *s); /* whose instructions are most of what came */

/* Accesses that move the same bytes for the same work in another width: "narrower loads: 16 to 4 bytes". `unrolled`:
 * also those whose number in a pass changed the other way, as more or less unrolling does. */
bool codediff_add_widths(const struct code_signs *s, bool unrolled);

/* Are the instructions of the hot loops, or of the kernels (`whole`), the same but for waits and cache policies? */
bool codediff_is_alike(const struct code_pair *pair, bool whole);

/* Sets the pair's cause: what made the change, with its evidence. `ways`: the pair in either order; `given`: which of
 * them is `pair`. */
void codediff_cause(struct code_pair *pair, const struct code_pair ways[2], bool given, struct arena *arena);

#endif
