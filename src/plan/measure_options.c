/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "rooftile/suite.h"
#include "rooftile/text.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

/* Samples are kept in memory; ten million take 80 MB. */
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

static const char *const keys[] = {
    "cache",    "timer",       "warmup",      "warmup_max", "min_time",
    "max_time", "min_samples", "max_samples", "precision",  "timeout",
};
static const char *const cache_names[] = {[CACHE_HOT] = "hot", [CACHE_COLD] = "cold", [CACHE_ROTATE] = "rotate"};
const char *const timer_choice_names[] = {
    [TIMER_AUTO] = "auto",   [TIMER_DISPATCH] = "dispatch", [TIMER_EVENT] = "event",
    [TIMER_BATCH] = "batch", [TIMER_GRAPH] = "graph",       [TIMER_HOST] = "host",
    [TIMER_CHOICES] = NULL,
};

static enum status get_choice(int *choice, const struct json *measure, const char *key, const char *const *names,
                              size_t count, struct err *err)
{
    const char *name = NULL;
    enum status status = json_get_string(&name, measure, key, JSON_OPTIONAL, err);
    if (status || !name)
        return status;
    for (size_t k = 0; k < count; k++)
        if (strcmp(names[k], name) == 0) {
            *choice = (int)k;
            return STATUS_OK;
        }
    struct text choices = {0};
    for (size_t k = 0; k < count; k++)
        text_addf(&choices, "%s%s", k ? ", " : "", names[k]);
    const char *nearest = text_nearest(name, names, count);
    status = json_fail(json_member(measure, key), err, "'%s' is none of %s%s%s%s", name, choices.data,
                       nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
    text_release(&choices);
    return status;
}

/* A lower and an upper bound of one thing. When an object gives both, they must agree; one given alone moves the other
 * along, so that a suite which only says "min_time": "5 s" also works on top of --quick. */
static enum status get_times(double *low_ns, double *high_ns, const struct json *measure, const char *low_key,
                             const char *high_key, struct err *err)
{
    enum status status = json_get_time_ns(low_ns, measure, low_key, JSON_OPTIONAL, err);
    if (!status)
        status = json_get_time_ns(high_ns, measure, high_key, JSON_OPTIONAL, err);
    if (status || *low_ns <= *high_ns)
        return status;
    const struct json *high = json_member(measure, high_key);
    if (high && json_member(measure, low_key))
        return json_fail(high, err, "%s is shorter than %s", high_key, low_key);
    if (high)
        *low_ns = *high_ns;
    else
        *high_ns = *low_ns;
    return STATUS_OK;
}

static enum status get_count(uint32_t *count, const struct json *measure, const char *key, struct err *err)
{
    uint64_t value = *count;
    enum status status = json_get_u64(&value, measure, key, JSON_OPTIONAL, err);
    if (status)
        return status;
    if (value < 1 || value > MAX_SAMPLES)
        return json_fail(json_member(measure, key), err, "%s must be between 1 and %u", key, MAX_SAMPLES);
    *count = (uint32_t)value;
    return STATUS_OK;
}

static enum status get_samples(uint32_t *low, uint32_t *high, const struct json *measure, struct err *err)
{
    enum status status = get_count(low, measure, "min_samples", err);
    if (!status)
        status = get_count(high, measure, "max_samples", err);
    if (status || *low <= *high)
        return status;
    const struct json *max = json_member(measure, "max_samples");
    if (max && json_member(measure, "min_samples"))
        return json_fail(max, err, "max_samples is below min_samples");
    if (max)
        *low = *high;
    else
        *high = *low;
    return STATUS_OK;
}

static enum status get_limits(struct measure_options *options, const struct json *measure, struct err *err)
{
    enum status status = json_get_number(&options->precision, measure, "precision", JSON_OPTIONAL, err);
    if (status)
        return status;
    if (!(options->precision > 0 && options->precision < 1))
        return json_fail(json_member(measure, "precision"), err, "precision must lie between 0 and 1");
    status = json_get_time_ns(&options->timeout_ns, measure, "timeout", JSON_OPTIONAL, err);
    if (status)
        return status;
    if (!(options->timeout_ns > 0))
        return json_fail(json_member(measure, "timeout"), err, "a timeout of zero ends every case");
    return STATUS_OK;
}

enum status measure_from_json(struct measure_options *options, const struct json *measure, struct err *err)
{
    struct measure_options read = *options;
    int cache = (int)read.cache;
    int timer = (int)read.timer;
    enum status status = json_check_keys(measure, keys, COUNT_OF(keys), err);
    if (!status)
        status = get_choice(&cache, measure, "cache", cache_names, COUNT_OF(cache_names), err);
    if (!status)
        status = get_choice(&timer, measure, "timer", timer_choice_names, TIMER_CHOICES, err);
    if (!status)
        status = get_times(&read.warmup_ns, &read.warmup_max_ns, measure, "warmup", "warmup_max", err);
    if (!status)
        status = get_times(&read.min_time_ns, &read.max_time_ns, measure, "min_time", "max_time", err);
    if (!status && !(read.max_time_ns > 0))
        status = json_fail(json_member(measure, "max_time"), err, "a max_time of zero measures nothing");
    if (!status)
        status = get_samples(&read.min_samples, &read.max_samples, measure, err);
    if (!status)
        status = get_limits(&read, measure, err);
    if (status)
        return status;
    read.cache = (enum cache_mode)cache;
    read.timer = (enum timer_choice)timer;
    *options = read;
    return STATUS_OK;
}
