/* SPDX-License-Identifier: MIT */
#include "rooftile/record.h"
#include "rooftile/suite.h"

/* Samples are kept in memory: ten million take 80 MB. */
#define MAX_SAMPLES 10000000u

void measure_defaults(struct measure_options *options)
{
    *options = (struct measure_options){
        .cache = CACHE_HOT,
        .timer = TIMER_AUTO,
        .warmup_ns = 200e6,
        .warmup_max_ns = 2e9,
        .min_time_ns = 0.5e9,
        .max_time_ns = 15e9,
        .min_samples = 30,
        .max_samples = 10000,
        .precision = 0.0025,
        .timeout_ns = 120e9,
        .calibrates = true,
    };
}

void measure_quick(struct measure_options *options)
{
    measure_defaults(options);
    options->warmup_ns = 20e6;
    options->warmup_max_ns = 0.2e9;
    options->min_time_ns = 0.1e9;
    options->max_time_ns = 0.5e9;
    options->min_samples = 10;
    options->precision = 0.01;
}

const char *const timer_choice_names[] = {
    [TIMER_AUTO] = "auto",   [TIMER_DISPATCH] = "dispatch", [TIMER_EVENT] = "event", [TIMER_BATCH] = "batch",
    [TIMER_GRAPH] = "graph", [TIMER_HOST] = "host",         [TIMER_CHOICES] = NULL,
};

static enum status into_count(void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    uint64_t value = 0;
    const enum status status = json_whole(&value, at, 1ull << 53, err);
    if (!status && (value < 1 || value > MAX_SAMPLES))
        return json_fail(at, err, "%s must be between 1 and %u", in->row->key, MAX_SAMPLES);
    *(uint32_t *)field = (uint32_t)value;
    return status;
}

#define RECORD_STRUCT struct measure_options
static const struct record_field measure_rows[] = {
    FIELD_NAMED(RECORD_ENUM, "cache", cache, cache_mode_names, CACHE_ROTATE + 1),
    FIELD_NAMED(RECORD_ENUM, "timer", timer, timer_choice_names, TIMER_CHOICES),
    FIELD_TIME("warmup", warmup_ns),
    FIELD_TIME("warmup_max", warmup_max_ns),
    FIELD_TIME("min_time", min_time_ns),
    FIELD_TIME("max_time", max_time_ns),
    FIELD_READ("min_samples", min_samples, into_count),
    FIELD_READ("max_samples", max_samples, into_count),
    FIELD_F64("precision", precision, RECORD_SIGNED),
    FIELD_TIME("timeout", timeout_ns),
    FIELD_BOOL("calibration", calibrates),
};
static const struct record measure_record = {RECORD_TABLE(measure_rows)};
#undef RECORD_STRUCT

/* Reads a lower and an upper bound of the same quantity. If an object gives both, they must agree; if it gives only
 * one, the other is moved along, so that a suite with only "min_time": "5 s" also works on top of --quick. */
static enum status agree(double *low, double *high, const cJSON *measure, const char *low_key, const char *high_key,
                         const char *problem, struct err *err)
{
    const cJSON *given = json_member(measure, high_key);
    if (*low <= *high)
        return STATUS_OK;
    if (given && json_member(measure, low_key))
        return json_fail(given, err, "%s is %s %s", high_key, problem, low_key);
    *(given ? low : high) = *(given ? high : low);
    return STATUS_OK;
}

enum status measure_from_json(struct measure_options *options, const cJSON *measure, struct err *err)
{
    struct measure_options read = *options;
    if (record_parse(&read, &measure_record, measure, &(struct record_in){0}, err))
        return err->status;
    double least = read.min_samples, most = read.max_samples;
    if (agree(&read.warmup_ns, &read.warmup_max_ns, measure, "warmup", "warmup_max", "shorter than", err) ||
        agree(&read.min_time_ns, &read.max_time_ns, measure, "min_time", "max_time", "shorter than", err) ||
        agree(&least, &most, measure, "min_samples", "max_samples", "below", err))
        return err->status;
    if (!(read.max_time_ns > 0))
        return json_fail(json_member(measure, "max_time"), err, "a max_time of zero measures nothing");
    if (!(read.precision > 0 && read.precision < 1))
        return json_fail(json_member(measure, "precision"), err, "precision must lie between 0 and 1");
    if (!(read.timeout_ns > 0))
        return json_fail(json_member(measure, "timeout"), err, "a timeout of zero ends every case");
    read.min_samples = (uint32_t)least;
    read.max_samples = (uint32_t)most;
    *options = read;
    return STATUS_OK;
}
