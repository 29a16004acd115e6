/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "rooftile/measurement.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const statuses[] = {
    [CASE_NONE] = "none",       [CASE_OK] = "ok",           [CASE_FAILED] = "failed", [CASE_SKIPPED] = "skipped",
    [CASE_CRASHED] = "crashed", [CASE_TIMEOUT] = "timeout", [CASE_ERROR] = "error",
};
static const char *const timers[] = {
    [TIMED_NONE] = "none",   [TIMED_HOST] = "host",         [TIMED_BATCH] = "batch", [TIMED_SIM] = "sim",
    [TIMED_EVENT] = "event", [TIMED_DISPATCH] = "dispatch", [TIMED_GRAPH] = "graph",
};
static const char *const phases[] = {
    [SPENT_FILLING] = "fill",    [SPENT_VERIFYING] = "verify",    [SPENT_SENSING] = "sense",
    [SPENT_WARMING] = "warm-up", [SPENT_MEASURING] = "measure",
};
static const char *const discards[] = {
    [DISCARD_ZERO] = "zero", [DISCARD_NEGATIVE] = "negative", [DISCARD_CLOCK] = "clock"};
static const char *const verdicts[] = {
    [VERIFY_NOT_RUN] = "skipped", [VERIFY_PASS] = "pass", [VERIFY_FAIL] = "fail", [VERIFY_SKIPPED] = "skipped"};
static const char *const stops[] = {
    [STOP_NONE] = "none",       [STOP_PRECISE] = "precise",         [STOP_STABLE] = "stable",
    [STOP_TIMEOUT] = "timeout", [STOP_MAX_SAMPLES] = "max_samples",
};
static const char *const flags[] = {"disturbed", "throttled", "launch_bound", "impossible", "roof_raised", "profiled"};

const char *case_status_name(enum case_status status)
{
    return statuses[status];
}

const char *timer_name(enum timer timer)
{
    return timers[timer];
}

const char *case_phase_name(enum case_phase phase)
{
    return phases[phase];
}

const char *discard_name(enum discard discard)
{
    return discards[discard];
}

const char *verdict_name(enum verdict verdict)
{
    return verdicts[verdict];
}

const char *stop_reason_name(enum stop_reason reason)
{
    return stops[reason];
}

const char *case_flag_name(unsigned bit)
{
    return bit < COUNT(flags) ? flags[bit] : NULL;
}

/* The last match, so that "skipped" reads as VERIFY_SKIPPED. */
static int index_of(const char *const *names, size_t count, const char *name)
{
    for (size_t k = count; k-- > 0;)
        if (strcmp(names[k], name) == 0)
            return (int)k;
    return -1;
}

int measurement_from_name(enum measurement_enum which, const char *name)
{
    static const struct {
        const char *const *names;
        size_t count;
    } tables[] = {
        [ENUM_STATUS] = {statuses, COUNT(statuses)}, [ENUM_TIMER] = {timers, COUNT(timers)},
        [ENUM_DISCARD] = {discards, COUNT(discards)}, [ENUM_VERDICT] = {verdicts, COUNT(verdicts)},
        [ENUM_STOP] = {stops, COUNT(stops)}, [ENUM_FLAG] = {flags, COUNT(flags)},
    };
    return index_of(tables[which].names, tables[which].count, name);
}
