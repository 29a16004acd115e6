/* SPDX-License-Identifier: MIT */
#include "compare_elements.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void comparison_add(struct comparison *comparison, const double *got, const double *want, const uint64_t *index,
                    uint64_t first, size_t count)
{
    const double abs = comparison->abs, rel = comparison->rel;
    size_t wrong = 0;
    double max_abs = 0;
    for (size_t k = 0; k < count; k++) {
        const double difference = fabs(got[k] - want[k]);
        wrong += !(difference <= abs + rel * fabs(want[k])) | !(difference < INFINITY); /* NaN is wrong */
        max_abs = difference > max_abs ? difference : max_abs;
    }
    comparison->checked += count;
    if (!wrong && max_abs == 0)
        return;
    for (size_t k = 0; k < count; k++) {
        const double difference = fabs(got[k] - want[k]);
        if (difference == 0)
            continue;
        const bool bad = !(difference <= abs + rel * fabs(want[k])) || !(difference < INFINITY);
        if (bad && !comparison->wrong++) {
            comparison->index = index ? index[k] : first + k;
            comparison->got = got[k];
            comparison->want = want[k];
        }
        if (difference > comparison->max_abs || isnan(difference))
            comparison->max_abs = difference;
        const double relative = want[k] != 0 ? difference / fabs(want[k]) : INFINITY;
        if (relative > comparison->max_rel && isfinite(relative))
            comparison->max_rel = relative;
        /* A unit in the last place of `want`: epsilon times its power of two (Goldberg 1991). */
        int exponent = 0;
        (void)frexp(want[k], &exponent);
        const double ulp = ldexp(comparison->epsilon, exponent - 1);
        if (ulp > 0 && difference / ulp > comparison->max_ulp)
            comparison->max_ulp = difference / ulp;
    }
}

void comparison_merge(struct comparison *into, const struct comparison *part)
{
    into->checked += part->checked;
    if (part->wrong && (!into->wrong || part->index < into->index)) {
        into->index = part->index;
        into->got = part->got;
        into->want = part->want;
    }
    into->wrong += part->wrong;
    if (part->max_abs > into->max_abs || isnan(part->max_abs))
        into->max_abs = part->max_abs;
    into->max_rel = fmax(into->max_rel, part->max_rel);
    into->max_ulp = fmax(into->max_ulp, part->max_ulp);
}

void comparison_report(struct verification *out, const struct comparison *comparison, const char *buffer)
{
    out->checked += comparison->checked;
    if (comparison->max_abs > out->max_abs || isnan(comparison->max_abs)) /* fmax would hide a NaN */
        out->max_abs = comparison->max_abs;
    out->max_rel = fmax(out->max_rel, comparison->max_rel);
    out->max_ulp = fmax(out->max_ulp, comparison->max_ulp);
    if (!comparison->wrong) {
        if (out->verdict != VERIFY_FAIL)
            out->verdict = VERIFY_PASS;
        return;
    }
    out->wrong += comparison->wrong;
    if (out->verdict == VERIFY_FAIL)
        return;
    out->verdict = VERIFY_FAIL;
    snprintf(out->buffer, sizeof(out->buffer), "%s", buffer);
    out->index = comparison->index;
    out->got = comparison->got;
    out->want = comparison->want;
    snprintf(out->reason, sizeof(out->reason),
             "%.60s[%llu] is %.9g, expected %.9g (tolerance %.3g + %.3g * |expected|); %llu of %llu wrong", buffer,
             (unsigned long long)comparison->index, comparison->got, comparison->want, comparison->abs, comparison->rel,
             (unsigned long long)comparison->wrong, (unsigned long long)comparison->checked);
}
