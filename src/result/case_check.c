/* SPDX-License-Identifier: MIT
 *
 * Checks that redundant values of a result agree: samples and statistics, trials and the headline, times and rates. If
 * they do not, the file was edited by hand or is corrupt, and must not decide about a regression.
 */

#include "records.h"

#define EDITED "; this file was edited or is corrupt"

static enum status check_samples(const struct result_case *c, const cJSON *stats, struct err *err)
{
    const size_t count = c->sample_count;
    double *values = new_zeroed(count, sizeof(*values));
    memcpy(values, c->samples_ns, count * sizeof(*values));
    double min = INFINITY, max = 0, sum = 0;
    for (size_t k = 0; k < count; k++) {
        min = values[k] < min ? values[k] : min;
        max = values[k] > max ? values[k] : max;
        sum += values[k];
    }
    /* With several trials the median is the median of the trials' medians. */
    const double median = c->trial_count ? c->stats.median : median_of(values, count);
    free(values);
    const double rounding = max > 99999 ? 0.5 : 0.0005; /* precision of inline samples (case_json.c) */
    const struct {
        const char *name;
        double stated, found;
    } facts[] = {
        {"median_ns", c->stats.median, median},
        {"min_ns", c->stats.min, min},
        {"max_ns", c->stats.max, max},
        {"mean_ns", c->stats.mean, sum / (double)count},
    };
    for (size_t k = 0; k < COUNT_OF(facts); k++)
        if (fabs(facts[k].stated - facts[k].found) > 1e-6 * fabs(facts[k].stated) + rounding)
            return json_fail(json_member(stats, facts[k].name), err,
                             "stands for %.9g, but that of the samples is %.9g" EDITED, facts[k].stated,
                             facts[k].found);
    return STATUS_OK;
}

static enum status check_trials(const struct result_case *c, const cJSON *stats, struct err *err)
{
    size_t count = 0;
    uint64_t samples = 0;
    double *medians = new_zeroed(c->trial_count, sizeof(*medians));
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
        return json_fail(json_member(stats, "median_ns"), err,
                         "stands for %.9g, but the median of the trials' medians is %.9g" EDITED, c->stats.median,
                         median);
    return STATUS_OK;
}

/* Unknown values (NaN) may be anywhere. The last digit of an interpolated quantile may be off. Samples are stored to a
 * thousandth of a ns, and statistics recomputed from them are compared with values computed before rounding. */
static bool in_order(const double *values, size_t count)
{
    for (size_t k = 1; k < count; k++)
        if (values[k - 1] > values[k] * (1 + 1e-9) + 1e-3)
            return false;
    return true;
}

static enum status check_stats(const struct result_case *c, const cJSON *json, const cJSON *stats, struct err *err)
{
    const struct summary *s = &c->stats;
    if (!cJSON_IsObject(stats))
        return json_fail(stats ? stats : json, err, "%zu samples were measured, so 'stats' must be an object",
                         c->sample_count);
    /* With several trials the median is that of the trials' medians, which may lie outside all quartiles. */
    const double middle = c->trial_count ? NAN : s->median;
    const double rising[] = {s->min, s->p05, s->q1, middle, s->q3, s->p95, s->max};
    const double interval[] = {s->min, s->ci95[0], middle, s->ci95[1], s->max}, inside[] = {s->min, s->median, s->max};
    if (!(s->min > 0) || !(s->median > 0) || !(s->max > 0) || !in_order(rising, 7) || !in_order(interval, 5) ||
        !in_order(inside, 3))
        return json_fail(stats, err,
                         "impossible values: min, quartiles, median, ci95 and max must be positive and in order");
    return STATUS_OK;
}

enum status case_check(const struct result_case *c, const cJSON *json, struct err *err)
{
    const cJSON *stats = json_member(json, "stats"), *throughput = json_member(json, "throughput");
    const struct {
        const char *key;
        double stated;
    } rates[] = {{"flops_per_s", c->flops_per_s}, {"bytes_per_s", c->bytes_per_s}, {"items_per_s", c->items_per_s}};
    for (size_t k = 1; k < c->trial_count; k++)
        if (c->trials[k].index <= c->trials[k - 1].index)
            return json_fail(json_at(json_member(json, "trials"), k), err,
                             "trials must stand in the order of their index, each once");
    if (!result_case_timed(c))
        return STATUS_OK;
    if (c->sample_count && c->timer == TIMED_NONE)
        return json_fail(json_member(json, "measurement"), err, "%zu samples, but no timer that took them",
                         c->sample_count);
    if (c->sample_count && (check_stats(c, json, stats, err) || (c->samples_ns && check_samples(c, stats, err)) ||
                            (c->trial_count && check_trials(c, stats, err))))
        return err->status;
    for (size_t k = 0; k < COUNT_OF(rates); k++) {
        const double expected =
            result_at_time(c, rates[k].key, c->sample_count ? c->stats.median : result_case_time(c));
        if (fabs(rates[k].stated / expected - 1) > 1e-6 && isfinite(rates[k].stated) && isfinite(expected))
            return json_fail(json_member(throughput, rates[k].key), err,
                             "stands for %.9g, but work and time give %.9g" EDITED, rates[k].stated, expected);
    }
    return STATUS_OK;
}
