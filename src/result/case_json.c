/* SPDX-License-Identifier: MIT
 *
 * One case in and out: its tables (case_records.c) and, behind them, its samples.
 */
#include <float.h>
#include <math.h>

#include "records.h"

/* ---- out ---- */

/* Long times need no fraction of a nanosecond; one launch of a batch does: 3.7 ns must not become 4. */
static double rounded(double time_ns)
{
    return time_ns >= 1e5 ? round(time_ns) : round(time_ns * 1e3) / 1e3;
}

static void put_samples_inline(struct json_out *out, const struct result_case *c)
{
    json_out_array(out, "samples_ns");
    for (size_t k = 0; k < c->sample_count; k++)
        json_out_number(out, NULL, rounded(c->samples_ns[k]));
    json_out_end(out);
    if (!c->sample_hz)
        return;
    json_out_array(out, "samples_hz");
    for (size_t k = 0; k < c->sample_count; k++)
        json_out_number(out, NULL, round((double)c->sample_hz[k] / 1e3) * 1e3);
    json_out_end(out);
}

void case_json(struct json_out *out, const struct result_case *c, struct sidecar *sidecar)
{
    record_put(out, &case_record, c);
    if (!c->sample_count)
        return;
    if (c->samples_ns && c->sample_count <= sidecar->inline_max * (c->trial_count ? c->trial_count : 1)) {
        put_samples_inline(out, c);
    } else if (c->samples_ns && sidecar->name) {
        samples_file_add(sidecar, c, out);
    } else {
        json_out_null(out, "samples_ns");
        json_out_string(out, "samples_ns_reason",
                        "too many for this file; 'run --samples' keeps them in one of their own");
    }
}

/* ---- in ---- */

/* Samples that are not inline stay unread here; result_read knows the folder of the sidecar. */
static enum status get_samples(struct result_case *c, const struct json *json, struct arena *arena, struct err *err)
{
    const struct json *samples = json_member(json, "samples_ns");
    if (!samples || samples->type == JSON_NULL)
        return STATUS_OK;
    if (samples->type != JSON_ARRAY || samples->count != c->sample_count)
        return json_fail(samples, err, "must be an array of measurement.n = %zu numbers", c->sample_count);
    double *values = arena_array(arena, samples->count + 1, sizeof(*values));
    const enum status status = json_numbers(values, samples, err);
    if (status)
        return status;
    for (size_t k = 0; k < samples->count; k++)
        if (!(values[k] > 0))
            return json_fail_number(samples, k, err, "must be a time above 0");
    c->samples_ns = values;
    return STATUS_OK;
}

/* A null is a probe that failed; then the array is not packed. */
static enum status get_clocks(struct result_case *c, const struct json *json, struct arena *arena, struct err *err)
{
    const struct json *clocks = json_member(json, "samples_hz"), *item;
    if (!clocks || clocks->type == JSON_NULL)
        return STATUS_OK;
    if (clocks->type != JSON_ARRAY || clocks->count != c->sample_count)
        return json_fail(clocks, err, "must be an array of measurement.n = %zu numbers", c->sample_count);
    struct arena scratch = {0};
    float *values = arena_array(arena, clocks->count + 1, sizeof(*values));
    double *numbers = arena_array(&scratch, clocks->count + 1, sizeof(*numbers));
    enum status status = clocks->packed ? json_numbers(numbers, clocks, err) : STATUS_OK;
    for (item = clocks->first; item; item = item->next)
        numbers[item->index] = item->type == JSON_NUMBER ? item->number : item->type == JSON_NULL ? NAN : -1;
    for (size_t k = 0; k < clocks->count && !status; k++) {
        if (numbers[k] <= 0 || numbers[k] > (double)FLT_MAX)
            status = json_fail_number(clocks, k, err, "must be a clock above 0, or null");
        else
            values[k] = (float)numbers[k];
    }
    arena_release(&scratch);
    if (!status)
        c->sample_hz = values;
    return status;
}

enum status case_from_json(struct result_case *out, const struct json *json, struct arena *arena, struct arena *passing,
                           struct err *err)
{
    struct result_case c = {0};
    enum status status = record_get(&c, &case_record, json, false, arena, err);
    if (!c.sample_count)
        c.stats = (struct summary){0};
    c.stats.n = c.sample_count;
    if (!status)
        status = get_samples(&c, json, passing ? passing : arena, err);
    if (!status && !passing)
        status = get_clocks(&c, json, arena, err);
    if (!status)
        status = case_check(&c, json, err);
    if (passing)
        c.samples_ns = NULL;
    if (!status)
        *out = c;
    return status;
}
