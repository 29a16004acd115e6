/* SPDX-License-Identifier: MIT
 *
 * Causes visible in instruction names: instructions that increase for the same work, or decrease in the reversed
 * pair.
 */
#include <math.h>
#include <string.h>

#include "codediff_internal.h"

static const struct name_sign {
    const char *words; /* one of them is part of the name */
    const char *cause;
    double times;  /* the least ratio of the counts */
    bool is_whole; /* counts in the kernel, not in its hot loop, because compilers move it out of loops */
    /* at least a third of the new instructions and a twelfth of the old ones; checked once unrolling is ruled out */
    bool is_most;
} name_signs[] = {
    {CODE_FENCES, "fences (caches are written back or invalidated)", 1.2, false, false},
    {"flat", "address space (flat accesses: the compiler does not know whether a pointer is to LDS or global memory)",
     2, false, false},
    {"f64", "arithmetic in f64 (a constant or function of type double)", 2, false, false},
    {"iflag", "arithmetic: division of integers by a value that is known at run time only", 1.2, true, false},
    {"exp log rcp rsq sqrt sin cos tanh div ldexp class frexp rndne",
     "arithmetic: division or functions, computed more or less exactly", 1.2, false, false},
    {"cndmask movrels movreld movrelsd idx",
     "selects and indexed moves (an array in registers indexed at run time, or a branch less)", 1.2, false, true},
    {"co ci addc subb u64 i64", "64-bit arithmetic (an index that had 32 bits)", 1.2, false, true},
};

static double count_of(const struct code_pair *pair, int side, const struct name_sign *sign)
{
    struct code_pair of = *pair;
    if (sign->is_whole)
        of.hot[0] = of.hot[1] = ISA_NO_LOOP;
    return (double)codediff_named(&of, side, sign->words) * (side && !sign->is_whole ? pair->scale : 1);
}

static bool told_by_names(const struct code_signs *s, bool most)
{
    const struct code_pair *pair = s->pair;
    if (!s->in || !s->out || isnan(pair->scale))
        return false;
    /* Copies follow from the computation: they assemble 64-bit values from halves. */
    const double copies = (double)(codediff_copies(pair, 1, ISA_VECTOR) + codediff_copies(pair, 1, ISA_PACKED)) *
                              pair->scale -
                          (double)(codediff_copies(pair, 0, ISA_VECTOR) + codediff_copies(pair, 0, ISA_PACKED)),
                 more = codediff_issued(s->out) * pair->scale - codediff_issued(s->in) - fmax(copies, 0);
    for (size_t k = 0; k < COUNT_OF(name_signs); k++) {
        const struct name_sign *sign = &name_signs[k];
        const double a = count_of(pair, 0, sign), b = count_of(pair, 1, sign);
        if (sign->is_most != most || !(b > a * sign->times) ||
            (most && (b - a < more / 3 || b - a < codediff_issued(s->in) / 12)))
            continue;
        text_addf(s->text, "%s: ", sign->cause);
        codediff_instead(s, "instructions", sign->is_whole ? a / s->unit : a, sign->is_whole ? b / s->unit : b);
        return true;
    }
    return false;
}

bool codediff_names(const struct code_signs *s)
{
    return told_by_names(s, false);
}

bool codediff_names_of_most(const struct code_signs *s)
{
    return told_by_names(s, true);
}

bool codediff_names_lost(const struct code_signs *s)
{
    static const char *const rows[][2] = {{"pk", "packed instructions"},
                                          {"mfma smfmac wmma swmmac", "matrix instructions"}};
    for (size_t k = 0; k < COUNT_OF(rows) && s->in && s->out; k++) {
        const double a = (double)codediff_named(s->pair, 0, rows[k][0]);
        const double b = (double)codediff_named(s->pair, 1, rows[k][0]) * s->pair->scale;
        if (!(b < a * 0.9))
            continue;
        codediff_instead(s, rows[k][1], a, b);
        return true;
    }
    return false;
}
