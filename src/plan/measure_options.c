/* SPDX-License-Identifier: MIT */
#include "rooftile/json_table.h"
#include "rooftile/suite.h"

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

static const char *const cache_names[] = {
    [CACHE_HOT] = "hot", [CACHE_COLD] = "cold", [CACHE_ROTATE] = "rotate", [CACHE_ROTATE + 1] = NULL};
const char *const timer_choice_names[] = {
    [TIMER_AUTO] = "auto",   [TIMER_DISPATCH] = "dispatch", [TIMER_EVENT] = "event", [TIMER_BATCH] = "batch",
    [TIMER_GRAPH] = "graph", [TIMER_HOST] = "host",         [TIMER_CHOICES] = NULL,
};

static enum status into_count(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                              struct err *err)
{
    uint64_t value = 0;
    const enum status status = json_into_u64(&value, at, key, into, err);
    if (!status && (value < 1 || value > MAX_SAMPLES))
        return json_fail(at, err, "%s must be between 1 and %u", key->key, MAX_SAMPLES);
    *(uint32_t *)field = (uint32_t)value;
    return status;
}

#define FIELD(name) offsetof(struct measure_options, name)
static const struct json_key measure_keys[] = {
    {"cache", json_into_choice, FIELD(cache), .more = cache_names},
    {"timer", json_into_choice, FIELD(timer), .more = timer_choice_names},
    {"warmup", json_into_time_ns, .field = FIELD(warmup_ns)},
    {"warmup_max", json_into_time_ns, .field = FIELD(warmup_max_ns)},
    {"min_time", json_into_time_ns, .field = FIELD(min_time_ns)},
    {"max_time", json_into_time_ns, .field = FIELD(max_time_ns)},
    {"min_samples", into_count, .field = FIELD(min_samples)},
    {"max_samples", into_count, .field = FIELD(max_samples)},
    {"precision", json_into_number, .field = FIELD(precision)},
    {"timeout", json_into_time_ns, .field = FIELD(timeout_ns)},
};
#undef FIELD

/* A lower and an upper bound of one thing. When an object gives both, they must agree; one given alone moves the other
 * along, so that a suite which only says "min_time": "5 s" also works on top of --quick. Which of them moves? */
enum moves { MOVES_NONE, MOVES_LOW, MOVES_HIGH };
static enum status agree(enum moves *moves, bool crossed, const struct json *measure, const char *low_key,
                         const char *high_key, const char *problem, struct err *err)
{
    const struct json *high = json_member(measure, high_key);
    *moves = !crossed ? MOVES_NONE : high ? MOVES_LOW : MOVES_HIGH;
    return crossed && high && json_member(measure, low_key)
               ? json_fail(high, err, "%s is %s %s", high_key, problem, low_key)
               : STATUS_OK;
}

static enum status agree_times(double *low_ns, double *high_ns, const struct json *measure, const char *low_key,
                               const char *high_key, struct err *err)
{
    enum moves moves;
    const enum status status = agree(&moves, *low_ns > *high_ns, measure, low_key, high_key, "shorter than", err);
    if (moves == MOVES_LOW)
        *low_ns = *high_ns;
    else if (moves == MOVES_HIGH)
        *high_ns = *low_ns;
    return status;
}

static enum status check_limits(const struct measure_options *options, const struct json *measure, struct err *err)
{
    if (!(options->max_time_ns > 0))
        return json_fail(json_member(measure, "max_time"), err, "a max_time of zero measures nothing");
    if (!(options->precision > 0 && options->precision < 1))
        return json_fail(json_member(measure, "precision"), err, "precision must lie between 0 and 1");
    if (!(options->timeout_ns > 0))
        return json_fail(json_member(measure, "timeout"), err, "a timeout of zero ends every case");
    return STATUS_OK;
}

enum status measure_from_json(struct measure_options *options, const struct json *measure, struct err *err)
{
    struct measure_options read = *options;
    enum moves moves = MOVES_NONE;
    enum status status =
        json_read_table(&read, measure, measure_keys, JSON_KEYS(measure_keys), &(struct json_into){0}, err);
    if (!status)
        status = agree_times(&read.warmup_ns, &read.warmup_max_ns, measure, "warmup", "warmup_max", err);
    if (!status)
        status = agree_times(&read.min_time_ns, &read.max_time_ns, measure, "min_time", "max_time", err);
    if (!status)
        status =
            agree(&moves, read.min_samples > read.max_samples, measure, "min_samples", "max_samples", "below", err);
    if (moves == MOVES_LOW)
        read.min_samples = read.max_samples;
    else if (moves == MOVES_HIGH)
        read.max_samples = read.min_samples;
    if (!status)
        status = check_limits(&read, measure, err);
    if (!status)
        *options = read;
    return status;
}
