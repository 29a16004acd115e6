/* SPDX-License-Identifier: MIT
 *
 * What a result says twice must agree: samples and their statistics, trials and the headline, times and rates. Else it
 * was edited by hand or is corrupt, and must not decide about a regression.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "case_fields.h"

#define EDITED "; this file was edited or is corrupt"

/* The k-th smallest (Hoare's selection); the values before it are then no larger. */
static double select_value(double *values, size_t count, size_t k)
{
    ptrdiff_t low = 0, high = (ptrdiff_t)count - 1, at = (ptrdiff_t)k;
    while (low < high) {
        const double pivot = values[at];
        ptrdiff_t i = low, j = high;
        while (i <= j) {
            while (values[i] < pivot)
                i++;
            while (values[j] > pivot)
                j--;
            if (i > j)
                break;
            const double held = values[i];
            values[i++] = values[j];
            values[j--] = held;
        }
        if (j < at)
            low = i;
        if (at < i)
            high = j;
    }
    return values[k];
}

/* In linear time, which 10,000 cases of 512 samples need; `values` are reordered. */
static double median_selected(double *values, size_t count)
{
    const double upper = select_value(values, count, count / 2);
    if (count % 2)
        return upper;
    double lower = values[0];
    for (size_t k = 1; k < count / 2; k++)
        lower = values[k] > lower ? values[k] : lower;
    return (lower + upper) / 2;
}

/* Inline samples are rounded (case_json.c), so what comes from them agrees to a rounding only. */
static bool agrees(double stated, double found, double largest)
{
    const double rounding = largest > 99999 ? 0.5 : 0.0005;
    return fabs(stated - found) <= 1e-6 * fabs(stated) + rounding;
}

static enum status check_samples(const struct result_case *c, const struct json *stats, struct err *err)
{
    const size_t count = c->sample_count;
    double *values = malloc(count * sizeof(*values));
    if (!values)
        arena_out_of_memory(count * sizeof(*values));
    memcpy(values, c->samples_ns, count * sizeof(*values));
    double min = INFINITY, max = 0, sum = 0;
    for (size_t k = 0; k < count; k++) {
        min = values[k] < min ? values[k] : min;
        max = values[k] > max ? values[k] : max;
        sum += values[k];
    }
    /* Of several trials the median is that of their medians. */
    const double median = c->trial_count ? c->stats.median : median_selected(values, count);
    free(values);
    const struct {
        const char *name;
        double stated, found;
    } facts[] = {
        {"median", c->stats.median, median},
        {"min", c->stats.min, min},
        {"max", c->stats.max, max},
        {"mean", c->stats.mean, sum / (double)count},
    };
    for (size_t k = 0; k < FIELD_COUNT(facts); k++)
        if (isfinite(facts[k].stated) && !agrees(facts[k].stated, facts[k].found, max))
            return json_fail(json_member(stats, facts[k].name), err,
                             "stands for %.9g, but that of the samples is %.9g" EDITED, facts[k].stated,
                             facts[k].found);
    return STATUS_OK;
}

static enum status check_trials(const struct result_case *c, const struct json *stats, struct err *err)
{
    size_t count = 0;
    uint64_t samples = 0;
    double *medians = malloc(c->trial_count * sizeof(*medians));
    if (!medians)
        arena_out_of_memory(c->trial_count * sizeof(*medians));
    for (size_t k = 0; k < c->trial_count; k++) {
        samples += c->trials[k].n;
        if (c->trials[k].n)
            medians[count++] = c->trials[k].median_ns;
    }
    const double median = median_of(medians, count);
    free(medians);
    if (samples != c->sample_count)
        return json_fail(stats, err, "the trials have %.0f samples together, measurement.n is %zu" EDITED,
                         (double)samples, c->sample_count);
    if (fabs(median / c->stats.median - 1) > 1e-9)
        return json_fail(json_member(stats, "median"), err,
                         "stands for %.9g, but the median of the trials' medians is %.9g" EDITED, c->stats.median,
                         median);
    return STATUS_OK;
}

static enum status check_rate(const struct json *throughput, const char *key, double rate, double amount,
                              const struct result_case *c, struct err *err)
{
    const double expected = amount / c->stats.median * 1e9;
    if (!isfinite(rate) || !(amount > 0) || fabs(rate / expected - 1) <= 1e-6)
        return STATUS_OK;
    return json_fail(json_member(throughput, key), err, "stands for %.9g, but work and median time give %.9g" EDITED,
                     rate, expected);
}

enum status case_check(const struct result_case *c, const struct json *json, struct err *err)
{
    const struct json *stats = json_member(json, "stats"), *throughput = json_member(json, "throughput");
    enum status status = STATUS_OK;
    if (!c->sample_count)
        return STATUS_OK;
    if (c->samples_ns)
        status = check_samples(c, stats, err);
    if (!status && c->trial_count)
        status = check_trials(c, stats, err);
    if (!status)
        status = check_rate(throughput, "flops_per_s", c->flops_per_s, c->work.flops, c, err);
    if (!status)
        status =
            check_rate(throughput, "bytes_per_s", c->bytes_per_s, c->work.read_bytes + c->work.write_bytes, c, err);
    if (!status)
        status = check_rate(throughput, "items_per_s", c->items_per_s, c->work.items, c, err);
    return status;
}
