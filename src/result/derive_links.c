/* SPDX-License-Identifier: MIT
 *
 * Copies at once, which may be a finding.
 */

#include "derive_internal.h"
#include "rooftile/units.h"

/* Of the way from the slowest copy alone to all of them one behind the other: beyond it, something serialises them. And
 * how much the two must differ for that to be told. */
static const double most_serial = 0.5, least_to_gain = 1.5;

struct alone {
    double bytes, mean_ns, slowest_ns;
};

/* The copies that were measured alone, of as many bytes as each of those at once; false: there are none. */
static bool find_alone(struct alone *alone, const struct derive *d, const struct result_case *c)
{
    double sum_ns = 0;
    size_t count = 0;
    *alone = (struct alone){.bytes = 0};
    FOR_EACH(const struct result_case, one, d->result->cases, d->result->case_count) {
        const struct param_value *from = result_param(one, "from"), *to = result_param(one, "to");
        if (strcmp(one->kernel, d->spec->to) || !result_case_counts(one) ||
            result_quantity(one, d->spec->x) != result_quantity(c, d->spec->x) || (from && to && param_equal(from, to)))
            continue;
        sum_ns += result_case_time(one);
        alone->slowest_ns = fmax(alone->slowest_ns, result_case_time(one));
        alone->bytes = one->work.read_bytes;
        count++;
    }
    alone->mean_ns = count ? sum_ns / (double)count : NAN;
    return count && alone->bytes > 0;
}

static void add_copies(struct derived_value *out, const struct derive *d, const struct result_case *c)
{
    const double whole_ns = result_case_time(c);
    char whole[UNITS_TEXT], sum[UNITS_TEXT];
    struct alone alone;
    if (!find_alone(&alone, d, c))
        return;
    const double copies = c->work.items / alone.bytes, sum_ns = alone.mean_ns * copies;
    derive_point(out, d->arena)->together = (struct derived_together){
        result_quantity(c, d->spec->x), copies, whole_ns, alone.slowest_ns, sum_ns, sum_ns / whole_ns};
    if (!*d->finding && sum_ns >= least_to_gain * alone.slowest_ns &&
        whole_ns - alone.slowest_ns > most_serial * (sum_ns - alone.slowest_ns))
        *d->finding = arena_printf(
            d->arena, "%s: %.0f copies at once take %s, one behind the other %s: the queues serialise them",
            c->label ? c->label : c->kernel, copies, units_time(whole, whole_ns), units_time(sum, sum_ns));
}

void derive_together(struct derived_value *out, const struct derive *d)
{
    for (size_t k = 0; k < d->count; k++)
        if (result_case_counts(d->cases[k]))
            add_copies(out, d, d->cases[k]);
}
