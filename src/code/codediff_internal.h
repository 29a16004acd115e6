/* SPDX-License-Identifier: MIT */
#ifndef ROOFTILE_CODEDIFF_INTERNAL_H
#define ROOFTILE_CODEDIFF_INTERNAL_H

#include "isa_internal.h"
#include "rooftile/codediff.h"

/* Returns the mix used for a side: of its hot loop without inner loops, otherwise of the kernel; NULL: not
 * disassembled. */
const struct isa_mix *codediff_mix(const struct code_pair *pair, int side);

/* Count instructions of the hot loop, or of the kernel: with one of `words` in their names; that only multiply or only
 * add; that copy one vector register, or two (ISA_PACKED), or fill them with constants, or copy a scalar one
 * (ISA_SCALAR). */
uint64_t codediff_named(const struct code_pair *pair, int side, const char *words);
uint64_t codediff_single(const struct code_pair *pair, int side);
uint64_t codediff_copies(const struct code_pair *pair, int side, enum isa_kind kind);

/* Computes all figures of a side, per pass of its own loop. */
void codediff_figures(struct code_figures *figures, const struct code_pair *pair, int side, struct arena *arena);

/* Names of instructions that write caches back or invalidate them. */
#define CODE_FENCES "inv wb wbl2 wbinvl1 gl0 gl1"

/* Returns the work per pass before over that after; NAN if unknown. */
double codediff_scale(const struct isa_mix *before, const struct isa_mix *after);

/* Returns the arguments whose access both compilers recorded in the metadata, as no store overlaps them; 0: none. */
unsigned codediff_promises(const struct code_pair *pair);

/* Counts instructions other than waits and the like. */
double codediff_issued(const struct isa_mix *mix);

/* True if memory accesses request different cache policies. */
bool codediff_policies_differ(const struct code_pair *pair);

/* Count what only the second build has: fences in its hot loop, LDS accesses with bank conflicts, loads that are waited
 * for at once where all were issued half an iteration or more ahead. */
uint64_t codediff_new_fences(const struct code_pair *pair);
uint64_t codediff_lost_prefetch(const struct code_pair *pair);
uint64_t codediff_new_conflicts(const struct code_pair *pair);

/* Counts atomic operations of `before` that are compare-and-swap loops in `after`; if `after` has no atomic operation,
 * counts the loops. */
uint64_t codediff_swap_loops(const struct code_pair *pair);

/* True if code without stores, where aliasing does not matter, is ordered differently. False if there is too little of
 * it. */
bool codediff_is_rescheduled(const struct code_pair *pair, struct arena *arena);

/* Loads of the hot loop after its first store, for the same work: compilers place loads first where they are allowed
 * to. */
double codediff_loads_behind(const struct code_pair *pair, int side);

/* ---- causes: what a rule examines and writes ----
 *
 * A rule explains how a worse build arose from a better one, whichever was given first: it examines its pair in one
 * direction and has text for both. */

struct code_signs {
    const struct code_pair *pair; /* in the rule's order */
    const struct inspect_kernel *before, *after;
    const double *a, *b;            /* figures */
    const struct isa_mix *in, *out; /* of the hot loop, or of the kernel; NULL: not disassembled */
    bool is_mirrored;               /* the pair was given in the other order */
    double unit;                    /* factor for displayed figures of a pass */
    struct text *text;
    struct arena *arena;
};

/* Returns the text for the order in which the pair was given. */
const char *codediff_words(const struct code_signs *s, const char *forward, const char *back);

/* Append counts for the work of one pass, in that order: "bytes loaded per lane 64 to 128", "40 packed instructions
 * instead of 80". */
void codediff_from_to(const struct code_signs *s, const char *what, double a, double b);
void codediff_instead(const struct code_signs *s, const char *what, double a, double b);

/* Scales a count of either side to the work of one pass of the first side. */
double codediff_per_pass(const struct code_signs *s, uint64_t count, int side);

/* Counts instructions of a kind. A dual-issue pair counts as two, since only the order decides on pairing. */
uint64_t codediff_operations(const struct isa_mix *mix, int kind);

extern const char codediff_in_another_order[];

/* Rules. They return whether they find their sign, and then append the evidence. */
bool codediff_extra_copies(const struct code_signs *s);
bool codediff_rescheduled(const struct code_signs *s);
bool codediff_behind_stores(const struct code_signs *s);
bool codediff_scheduling(const struct code_signs *s);
bool codediff_policy(const struct code_signs *s);
bool codediff_promise(const struct code_signs *s); /* of arguments, recorded by the compiler in the metadata */
bool codediff_aliasing(const struct code_signs *s);
bool codediff_lds_reuse(const struct code_signs *s);
bool codediff_conflicts(const struct code_signs *s);
bool codediff_stay_behind(const struct code_signs *s);
bool codediff_access_width(const struct code_signs *s);

/* Finds accesses that move the same bytes for the same work in another width: "narrower loads: 16 to 4 bytes".
 * `unrolled`: includes those whose number per pass changed in the opposite direction, as unrolling causes. */
bool codediff_add_widths(const struct code_signs *s, bool unrolled);

/* True if the instructions of the hot loops, or of the kernels (`whole`), are equal except for waits and cache
 * policies. */
bool codediff_is_alike(const struct code_pair *pair, bool whole);

/* Sets the pair's cause and its evidence. `ways`: the pair in both orders; `given`: the index of `pair`. */
void codediff_cause(struct code_pair *pair, const struct code_pair ways[2], bool given, struct arena *arena);

#endif
