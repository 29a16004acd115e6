/* SPDX-License-Identifier: MIT
 *
 * Causes visible in memory accesses: cache policies, the compiler's knowledge of pointers, and widths.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "codediff_internal.h"

static double memory_of(const struct isa_mix *mix)
{
    static const enum isa_kind kinds[] = {ISA_LOAD, ISA_STORE, ISA_SCALAR_MEMORY, ISA_LDS_READ, ISA_LDS_WRITE};
    double count = 0;
    for (size_t k = 0; k < COUNT_OF(kinds); k++)
        count += (double)mix->count[kinds[k]];
    return count;
}

/* Counts loads outside the hot loop, which may have been hoisted out of it. */
static uint64_t loads_outside(const struct code_pair *pair, int side)
{
    const struct isa_kernel *isa = (side ? pair->after : pair->before)->isa;
    const struct isa_mix *loop = codediff_mix(pair, side);
    const uint64_t all = isa->mix.traffic[ISA_GLOBAL].loads + isa->mix.traffic[ISA_CONSTANT].loads;
    const uint64_t inside = loop->traffic[ISA_GLOBAL].loads + loop->traffic[ISA_CONSTANT].loads;
    return all > inside ? all - inside : 0;
}

/* ---- cache policies ---- */

static bool add_policies(struct text *text, const struct isa_kernel *a, const struct isa_kernel *b, bool is_mirrored)
{
    const bool forward = isa_policies_say(text, b, a, is_mirrored ? " no longer" : "");
    return isa_policies_say(text, a, b, is_mirrored ? "" : " no longer") || forward;
}

bool codediff_policies_differ(const struct code_pair *pair)
{
    SCOPED(text_release) struct text text = {0};
    return pair->before->isa && pair->after->isa && add_policies(&text, pair->before->isa, pair->after->isa, false);
}

bool codediff_policy(const struct code_signs *s)
{
    if (!s->in || !s->out || !add_policies(s->text, s->before->isa, s->after->isa, s->is_mirrored))
        return false;
    text_add(s->text, codediff_is_alike(s->pair, true) ? "; all else is the same" : "");
    return true;
}

/* ---- repeated accesses ---- */

/* True if values are loaded or stored repeatedly, or through another path. */
static bool repeats(const struct code_signs *s)
{
    if (!s->in || !s->out || isnan(s->pair->scale) || codediff_unknown_bytes(s->pair))
        return false;
    const struct isa_traffic *in = s->in->traffic, *out = s->out->traffic;
    const struct {
        const char *what;
        uint64_t before, after;
        double more; /* the least ratio of a sign */
    } list[] = {
        {"bytes loaded per lane", in[ISA_GLOBAL].load_bytes, out[ISA_GLOBAL].load_bytes, 1.1},
        {"bytes stored per lane", in[ISA_GLOBAL].store_bytes, out[ISA_GLOBAL].store_bytes, 1.1},
        {"LDS bytes read per lane", in[ISA_LDS].load_bytes, out[ISA_LDS].load_bytes, 1.1},
        {"bytes loaded per wave", in[ISA_CONSTANT].load_bytes, out[ISA_CONSTANT].load_bytes, 1.5},
    };
    double a[COUNT_OF(list)], b[COUNT_OF(list)];
    bool found = false;
    for (size_t k = 0; k < COUNT_OF(list); k++) {
        a[k] = codediff_per_pass(s, list[k].before, 0);
        b[k] = codediff_per_pass(s, list[k].after, 1);
        found |= b[k] > a[k] * list[k].more;
    }
    if (!found)
        return false;
    text_add(s->text,
             codediff_words(s, "memory accesses repeated (alias analysis: a pointer may overlap what is stored): ",
                            "memory accesses no longer repeated (alias analysis: no pointer overlaps what is "
                            "stored): "));
    for (size_t k = 0; k < COUNT_OF(list); k++)
        if (b[k] > a[k])
            codediff_from_to(s, list[k].what, a[k], b[k]);
    text_add(s->text, " for the same work");
    return true;
}

bool codediff_stay_behind(const struct code_signs *s)
{
    if (!(codediff_loads_behind(s->pair, 1) > codediff_loads_behind(s->pair, 0)))
        return false;
    text_add(s->text,
             codediff_words(s, "loads that stay behind stores (alias analysis: a pointer may overlap what is stored): ",
                            "loads that go before stores (alias analysis: no pointer overlaps what is stored): "));
    return true;
}

/* Compares what the compiler recorded about the arguments. */
bool codediff_promise(const struct code_signs *s)
{
    const struct codeobj_kernel *a = s->before->code, *b = s->after->code;
    unsigned lost = 0; /* arguments that were __restrict and not captured, but no longer are */
    for (size_t k = 0; k < a->explicit_count && a->explicit_count == b->explicit_count; k++)
        lost += *a->args[k].actual_access && !*b->args[k].actual_access;
    if (!lost)
        return false;
    if (!repeats(s) && !codediff_stay_behind(s))
        text_add(s->text, codediff_words(s, "alias analysis (a pointer may overlap what is stored): ",
                                         "alias analysis (no pointer overlaps what is stored): "));
    text_addf(s->text, "%s%u argument%s %s", text_ends(s->text->data, ": ") ? "" : ", ", lost,
              lost == 1 ? " is" : "s are",
              codediff_words(s, "no longer known to be read or written alone (without __restrict, or cast)",
                             "now known to be read or written alone (with __restrict)"));
    return true;
}

/* The same arithmetic with repeated accesses: pointers may alias. Loops with different unrolling may load neighbours
 * once or twice. */
bool codediff_aliasing(const struct code_signs *s)
{
    const double least_share = 0.15, scale = s->pair->scale;
    if (!s->in || !s->out || isnan(scale))
        return false;
    /* True if some of the additional instructions serve memory: a load needs an address, and its value is used. */
    const double more = codediff_issued(s->out) * scale - codediff_issued(s->in);
    if (memory_of(s->out) * scale - memory_of(s->in) < least_share * more)
        return false;
    if (fabs(scale - 1) > 0.1 && loads_outside(s->pair, 1) >= loads_outside(s->pair, 0))
        return false;
    return repeats(s);
}

/* Data that workgroups shared in LDS is now loaded from memory by each wave. */
bool codediff_lds_reuse(const struct code_signs *s)
{
    if (!s->in || !s->out || isnan(s->pair->scale))
        return false;
    const double reads_a = codediff_per_pass(s, s->in->traffic[ISA_LDS].loads, 0),
                 reads_b = codediff_per_pass(s, s->out->traffic[ISA_LDS].loads, 1);
    const double loads_a = codediff_per_pass(s, s->in->traffic[ISA_GLOBAL].load_bytes, 0),
                 loads_b = codediff_per_pass(s, s->out->traffic[ISA_GLOBAL].load_bytes, 1);
    if (!(reads_b < reads_a / 2 && loads_b > loads_a * 1.1))
        return false;
    codediff_from_to(s, "LDS reads", reads_a, reads_b);
    codediff_from_to(s, "bytes loaded per lane", loads_a, loads_b);
    return true;
}

static const struct isa_finding *conflict_of(const struct isa_kernel *isa)
{
    return isa ? FIND_ROW(isa->findings, isa->finding_count, code, "bank-conflicts") : NULL;
}

uint64_t codediff_new_conflicts(const struct code_pair *pair)
{
    return conflict_of(pair->after->isa) && pair->before->isa && !conflict_of(pair->before->isa);
}

bool codediff_conflicts(const struct code_signs *s)
{
    if (codediff_new_conflicts(s->pair))
        text_addf(s->text, "%s, ", conflict_of(s->after->isa)->what);
    return s->text->length;
}

/* Finds accesses that move the same bytes for the same work in another width: "narrower loads: 16 to 4 bytes".
 * `unrolled`: includes those whose number per pass changed in the opposite direction, because unrolling merged or split
 * them. */
bool codediff_add_widths(const struct code_signs *s, bool unrolled)
{
    static const enum isa_space spaces[] = {ISA_GLOBAL, ISA_LDS, ISA_CONSTANT};
    static const char *const labels[] = {"", "LDS ", "scalar "};
    bool found = false;
    const bool known = s->in && s->out && !isnan(s->pair->scale) && !codediff_unknown_bytes(s->pair);
    for (size_t k = 0; k < 2 * COUNT_OF(spaces) && known; k++) {
        const struct isa_traffic *a = &s->in->traffic[spaces[k / 2]], *b = &s->out->traffic[spaces[k / 2]];
        const bool stores = k % 2;
        const double count_a = (double)(stores ? a->stores : a->loads),
                     count_b = (double)(stores ? b->stores : b->loads);
        const double bytes_a = (double)(stores ? a->store_bytes : a->load_bytes);
        const double bytes_b = (double)(stores ? b->store_bytes : b->load_bytes);
        const double width_a = bytes_a / count_a, width_b = bytes_b / count_b;
        const bool narrower = width_b < width_a * 0.75, wider = width_a < width_b * 0.75;
        if (!(narrower || wider) || fabs(bytes_b * s->pair->scale - bytes_a) > 0.1 * bytes_a ||
            (!unrolled && (narrower ? count_b < count_a : count_b > count_a)) ||
            /* values shared by neighbours are read once */
            (spaces[k / 2] == ISA_CONSTANT && fabs(s->pair->scale - 1) > 0.1))
            continue;
        text_addf(s->text, "%s%s %s%s: %.3g to %.3g bytes", found ? ", " : "",
                  narrower != s->is_mirrored ? "narrower" : "wider", labels[k / 2], stores ? "stores" : "loads",
                  s->is_mirrored ? width_b : width_a, s->is_mirrored ? width_a : width_b);
        found = true;
    }
    return found;
}

bool codediff_access_width(const struct code_signs *s)
{
    return codediff_add_widths(s, false);
}
