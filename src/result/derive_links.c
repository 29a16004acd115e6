/* SPDX-License-Identifier: MIT
 *
 * The methods for links and collectives, whose values may be findings.
 */

#include "derive_internal.h"
#include "rooftile/units.h"

/* ---- dips ---- */

/* A larger message that goes this much slower than a smaller one is no property of a link, but of how it is used. */
static const double dip_below = 0.95;

/* As labels of cases have it. */
static const char *group_words(const struct derive *d)
{
    char *words = arena_strdup(d->arena, d->group);
    for (char *p = words; *p; p++)
        *p = *p == ';' ? ' ' : *p;
    return words;
}

void derive_dips(struct json_out *out, const struct derive *d)
{
    const struct curve curve = curve_of(d);
    size_t dips = 0;
    if (curve.count < 2) {
        json_out_string(out, "error", "dips need two sizes that were measured");
        return;
    }
    json_out_array(out, "dips");
    for (size_t k = 1; k < curve.count; k++) {
        char before[UNITS_TEXT], after[UNITS_TEXT], x[UNITS_TEXT];
        if (!(curve.y[k] < dip_below * curve.y[k - 1]))
            continue;
        json_out_object(out, NULL);
        json_out_number(out, "x", curve.x[k]);
        json_out_number(out, "before", curve.y[k - 1]);
        json_out_number(out, "after", curve.y[k]);
        json_out_end(out);
        if (!dips++)
            *d->finding = arena_printf(d->arena, "%s%s%s %s=%s dips to %s, from %s one step before", d->spec->kernel,
                                       d->group[0] ? " " : "", group_words(d), d->spec->x, units_count(x, curve.x[k]),
                                       units_rate(after, curve.y[k], "B/s"), units_rate(before, curve.y[k - 1], "B/s"));
    }
    json_out_end(out);
}

/* ---- together ---- */

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

static void put_overlap(struct json_out *out, const struct derive *d, const struct result_case *c)
{
    const double whole_ns = result_case_time(c);
    char whole[UNITS_TEXT], sum[UNITS_TEXT];
    struct alone alone;
    if (!find_alone(&alone, d, c))
        return;
    const double copies = c->work.items / alone.bytes, sum_ns = alone.mean_ns * copies;
    json_out_object(out, NULL);
    json_out_number(out, "x", result_quantity(c, d->spec->x));
    json_out_number(out, "copies", copies);
    json_out_number(out, "whole_ns", whole_ns);
    json_out_number(out, "slowest_ns", alone.slowest_ns);
    json_out_number(out, "sum_ns", sum_ns);
    json_out_number(out, "overlap", sum_ns / whole_ns);
    json_out_end(out);
    if (!*d->finding && sum_ns >= least_to_gain * alone.slowest_ns &&
        whole_ns - alone.slowest_ns > most_serial * (sum_ns - alone.slowest_ns))
        *d->finding = arena_printf(
            d->arena, "%s: %.0f copies at once take %s, one behind the other %s: the queues serialise them",
            c->label ? c->label : c->kernel, copies, units_time(whole, whole_ns), units_time(sum, sum_ns));
}

void derive_together(struct json_out *out, const struct derive *d)
{
    json_out_array(out, "points");
    for (size_t k = 0; k < d->count; k++)
        if (result_case_counts(d->cases[k]))
            put_overlap(out, d, d->cases[k]);
    json_out_end(out);
}
