/* SPDX-License-Identifier: MIT
 *
 * Compares elements with their expected values.
 */
#include <math.h>
#include <stdio.h>

#include "run_internal.h"

/* Extends the range of the expected values. */
static void note_range(struct comparison *comparison, const double *want, size_t count)
{
    double low = comparison->ranged || !count ? comparison->low : want[0];
    double high = comparison->ranged || !count ? comparison->high : want[0];
    for (size_t k = 0; k < count; k++) {
        low = want[k] < low ? want[k] : low;
        high = want[k] > high ? want[k] : high;
    }
    comparison->low = low;
    comparison->high = high;
    comparison->ranged = comparison->ranged || count;
}

void comparison_add(struct comparison *comparison, const double *got, const double *want, const uint64_t *index,
                    uint64_t first, size_t count)
{
    comparison->checked += count;
    note_range(comparison, want, count);
    for (size_t k = 0; k < count; k++) {
        if (got[k] == want[k] && fabs(got[k]) < INFINITY)
            continue;
        const double difference = fabs(got[k] - want[k]), allowed = comparison->abs + comparison->rel * fabs(want[k]);
        const double relative = want[k] != 0 ? difference / fabs(want[k]) : INFINITY;
        const double share = !(difference < INFINITY) ? INFINITY /* NaN and infinities are wrong */
                             : difference == 0        ? 0
                             : allowed > 0            ? difference / allowed
                                                      : INFINITY;
        if (difference > comparison->max_abs || isnan(difference))
            comparison->max_abs = difference;
        if (relative > comparison->max_rel && isfinite(relative))
            comparison->max_rel = relative;
        comparison->used = fmax(comparison->used, share);
        if (share <= 1 || comparison->wrong++)
            continue;
        comparison->index = index ? index[k] : first + k;
        comparison->got = got[k];
        comparison->want = want[k];
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
    into->used = fmax(into->used, part->used);
    if (part->ranged)
        note_range(into, (const double[]){part->low, part->high}, 2);
}

void comparison_report(struct verification *out, const struct comparison *comparison, const char *buffer)
{
    out->checked += comparison->checked;
    if (comparison->max_abs > out->max_abs || isnan(comparison->max_abs)) /* fmax would hide a NaN */
        out->max_abs = comparison->max_abs;
    out->max_rel = fmax(out->max_rel, comparison->max_rel);
    out->tolerance_used = fmax(out->tolerance_used, comparison->used);
    const double largest = fmax(fabs(comparison->low), fabs(comparison->high));
    if (comparison->ranged && largest > 0) /* relative to the largest value, if both parts matter */
        out->tolerance = fmax(out->tolerance, comparison->rel + comparison->abs / largest);
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
    const double got = comparison->got, want = comparison->want;
    const int digits = fabs(got - want) < 1e-8 * fabs(want) ? 17 : 9;
    snprintf(out->reason, sizeof(out->reason),
             "%.60s[%llu] is %.*g, expected %.*g (tolerance %.3g + %.3g * |expected|); %llu of %llu wrong", buffer,
             (unsigned long long)comparison->index, digits, got, digits, want, comparison->abs, comparison->rel,
             (unsigned long long)comparison->wrong, (unsigned long long)comparison->checked);
}

/* A tolerance that hides all differences between the expected values is refused only above this share of the largest
 * value. Below it, the expected values are nearly equal anyway. */
#define LAX 0.1

/* A relative tolerance above this is refused too, unless the output's type cannot distinguish such numbers. */
#define MOST_REL 0.2

/* Refuses useless tolerances. One as wide as the expected range including 0 accepts an output that was never written; a
 * wide one accepts a constant, so that nothing need be computed. */
enum status comparison_refuse(const struct comparison *comparison, struct err *err)
{
    const double abs = comparison->abs, rel = comparison->rel, low = comparison->low, high = comparison->high;
    if (!(abs >= 0) || !(rel >= 0) || !(abs < INFINITY))
        return err_set(err, ERR_CONFIG, "a tolerance of %g + %g * |expected| is none", abs, rel);
    if (rel >= 1)
        return err_set(err, ERR_CONFIG, "the tolerance accepts anything: rel %g is not below 1", rel);
    if (rel > fmax(MOST_REL, comparison->resolution))
        return err_set(err, ERR_CONFIG, "a tolerance of %.3g %% shows nothing: rel is at most %g %%", rel * 100,
                       MOST_REL * 100);
    const double width = fmax(high, 0) - fmin(low, 0), largest = fmax(fabs(low), fabs(high));
    if (!comparison->ranged || abs == 0 || width == 0)
        return STATUS_OK;
    if (abs >= width)
        return err_set(err, ERR_CONFIG,
                       "the tolerance accepts anything: abs %.3g is as wide as all that is expected, from %.3g to %.3g",
                       abs, low, high);
    if (high == low || high - low > 2 * abs + rel * (fabs(low) + fabs(high)) || abs + rel * largest <= LAX * largest)
        return STATUS_OK;
    return err_set(err, ERR_CONFIG,
                   "the tolerance accepts one number in place of all that are expected, from %.3g to %.3g: abs %.3g, "
                   "rel %.3g",
                   low, high, abs, rel);
}
