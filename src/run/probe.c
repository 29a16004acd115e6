/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "service_state.h"

/* Words of service_clock.hip's `report`. */
enum { WANTED_TICKS, MOST_LOOPS, CYCLES, TICKS, LOOPS, LONGEST_STEP, COUNTER_BITS, DONE, WORDS };

/* A probe takes at least 20 us and 2000 ticks: one tick is then 0.05 %. That is 80 us at 25 MHz (MI200), 20 us at 100
 * MHz. A counter that steps by more than its unit (NVIDIA's, up to 1 us) costs no more: the kernel begins and ends at a
 * step. */
static const double least_ns = 20e3;
enum { LEAST_TICKS = 2000 };
/* A pass of its loop takes over 20 ns, so that 80 us are fewer; a counter that stands still ends the probe here. */
enum { PROBE_LOOPS = 4096 };
enum { PROBE_TRIES = 3 };
/* For the rate of the counter: two durations, whose difference has no launch in it. */
enum { RATE_SHORT_TICKS = 2000, RATE_LONG_TICKS = 42000, RATE_REPEATS = 5 };
static const double slowest_hz = 10e6, fastest_hz = 5e9; /* of any core clock; beyond it the probe has failed */

static void set_report(uint64_t *report, uint64_t ticks, uint64_t loops)
{
    __atomic_store_n(&report[WANTED_TICKS], ticks, __ATOMIC_SEQ_CST);
    __atomic_store_n(&report[MOST_LOOPS], loops, __ATOMIC_SEQ_CST);
    __atomic_store_n(&report[DONE], 0, __ATOMIC_SEQ_CST);
}

/* ---- the rate of the constant counter ---- */

/* Median duration of a probe of so many ticks by the device's own time stamps; NaN when it failed. */
static double probe_duration(struct worker *worker, struct probe *probe, uint64_t ticks, double *counted)
{
    const struct device_ops *ops = worker->device->ops;
    struct err err = {0};
    double times[RATE_REPEATS], counts[RATE_REPEATS];
    for (int k = 0; k < RATE_REPEATS; k++) {
        set_report(probe->report[0], ticks, PROBE_LOOPS * ticks / LEAST_TICKS);
        enum status status = ready_run(probe->ready, 0, MARKS_KERNEL, &err);
        const bool own = status != ERR_UNSUPPORTED;
        if (!own)
            status = ready_run(probe->ready, 0, MARKS_AROUND, &err);
        if (!status)
            status = ops->wait(worker->device, &err);
        if (!status)
            status = ops->elapsed(&times[k], worker->device, own ? MARK_KERNEL_BEGIN : MARK_BEGIN,
                                  own ? MARK_KERNEL_END : MARK_END, &err);
        if (status || probe->report[0][TICKS] < ticks)
            return NAN;
        counts[k] = (double)probe->report[0][TICKS];
    }
    *counted = median_of(counts, RATE_REPEATS);
    return median_of(times, RATE_REPEATS);
}

static double find_counter_hz(struct worker *worker, struct probe *probe)
{
    double few = 0, many = 0;
    if (isnan(probe_duration(worker, probe, RATE_SHORT_TICKS, &few))) /* this one pays for loading the code, too */
        return 0;
    const double short_ns = probe_duration(worker, probe, RATE_SHORT_TICKS, &few);
    const double long_ns = probe_duration(worker, probe, RATE_LONG_TICKS, &many);
    const double hz = (many - few) / (long_ns - short_ns) * 1e9;
    return hz >= 1e6 && hz <= 1e9 ? round(hz / 1e4) * 1e4
                                  : 0; /* counters run at round rates; the durations know 1e-4 */
}

double probe_counter_hz(const struct worker *worker)
{
    if (worker->info.counter_hz > 0)
        return worker->info.counter_hz;
    return worker->info.timer_tick_ns > 0 ? 1e9 / worker->info.timer_tick_ns : 0;
}

/* ---- one probe ---- */

void probe_queue(struct worker *worker, unsigned which)
{
    struct probe *probe = &services_of(worker)->probe;
    const double ticks = round(least_ns * 1e-9 * probe_counter_hz(worker));
    struct err err = {0};
    set_report(probe->report[which], (uint64_t)fmax(ticks, LEAST_TICKS), PROBE_LOOPS);
    if (ready_run(probe->ready, which, MARKS_NONE, &err)) /* then the report stays undone */
        service_say(probe->why, err.text);
}

/* Whether the cycle counter may have gone round unseen between two reads, at the highest clock there is. */
static bool went_round(const uint64_t *report, double counter_hz)
{
    const double step_s = (double)report[LONGEST_STEP] / counter_hz;
    return report[COUNTER_BITS] < 64 && step_s * fastest_hz >= ldexp(1, (int)report[COUNTER_BITS]);
}

double probe_read(struct worker *worker, unsigned which, char why[static SERVICE_WHY])
{
    struct probe *probe = &services_of(worker)->probe;
    const double counter_hz = probe_counter_hz(worker);
    const uint64_t *report = probe->report[which];
    const double hz = (double)report[CYCLES] / (double)report[TICKS] * counter_hz;
    if (__atomic_load_n(&report[DONE], __ATOMIC_SEQ_CST) != 1)
        snprintf(why, SERVICE_WHY, "the probe did not run%s%.60s", probe->why[0] ? ": " : "", probe->why);
    else if (report[TICKS] < report[WANTED_TICKS])
        snprintf(why, SERVICE_WHY, "the constant counter went %llu of %llu ticks in %llu reads",
                 (unsigned long long)report[TICKS], (unsigned long long)report[WANTED_TICKS],
                 (unsigned long long)report[LOOPS]);
    else if (went_round(report, counter_hz))
        snprintf(why, SERVICE_WHY, "the cycle counter of %u bits may have gone round between two reads",
                 (unsigned)report[COUNTER_BITS]);
    else if (!(hz >= slowest_hz && hz <= fastest_hz))
        snprintf(why, SERVICE_WHY, "the probe says %.3g Hz", hz);
    else
        return hz;
    return NAN;
}

/* ---- whether it works ---- */

static bool try_it(struct worker *worker, struct probe *probe)
{
    const struct device_ops *ops = worker->device->ops;
    struct err err = {0};
    if (!ops->has_clock_probe) {
        snprintf(probe->why, sizeof(probe->why), "the %s device has no clock to probe", ops->name);
        return false;
    }
    probe->ready = service_ready(worker, SERVICE_CLOCK, probe->why);
    if (!probe->ready)
        return false;
    for (unsigned k = 0; k < PROBE_COUNT; k++) {
        probe->report[k] = service_words(probe->ready, k, WORDS * sizeof(*probe->report[k]));
        if (!probe->report[k]) {
            snprintf(probe->why, sizeof(probe->why), "service_clock is not rooftile's own kernel");
            return false;
        }
    }
    double found_hz = 0;
    if (!(probe_counter_hz(worker) > 0))
        found_hz = find_counter_hz(worker, probe);
    if (found_hz > 0)
        worker->info.timer_tick_ns = 1e9 / found_hz;
    if (!(probe_counter_hz(worker) > 0)) {
        snprintf(probe->why, sizeof(probe->why), "the rate of the constant counter is unknown");
        return false;
    }
    for (int k = 0; k < PROBE_TRIES; k++) {
        probe_queue(worker, PROBE_BEFORE);
        if (ops->wait(worker->device, &err)) {
            service_say(probe->why, err.text);
            return false;
        }
        char why[SERVICE_WHY];
        if (probe_read(worker, PROBE_BEFORE, why) > 0)
            return true;
        memcpy(probe->why, why, sizeof(why));
    }
    return false;
}

bool probe_works(struct worker *worker, char why[static SERVICE_WHY])
{
    struct probe *probe = &services_of(worker)->probe;
    if (!probe->tried) {
        probe->tried = true;
        probe->works = try_it(worker, probe);
        if (probe->works)
            probe->why[0] = '\0';
    }
    if (!probe->works)
        snprintf(why, SERVICE_WHY, "%s", probe->why);
    return probe->works;
}
