/* SPDX-License-Identifier: MIT
 *
 * Flags on a measurement: interference on the machine, a falling clock, or a time faster than possible.
 */

#include "run_internal.h"

static const double interference_above = 0.05; /* relative change of a calibration rate across the case */

#define ADD_REASON(out, ...) text_append((out)->flag_reason, sizeof((out)->flag_reason), "; ", __VA_ARGS__)

/* ---- interference ---- */

/* Returns the relative change; 0 if unknown. */
static double move_of(double before, double after)
{
    return before > 0 && after > 0 ? after / before - 1 : 0;
}

void flag_interference(struct measurement *out)
{
    const double stream = move_of(out->before.stream_bps, out->after.stream_bps);
    const double fma = move_of(out->before.fma_flops, out->after.fma_flops);
    if (out->flags & FLAG_INTERFERENCE || (fabs(stream) <= interference_above && fabs(fma) <= interference_above))
        return;
    out->flags |= FLAG_INTERFERENCE;
    if (fabs(stream) >= fabs(fma))
        snprintf(out->flag_reason, sizeof(out->flag_reason),
                 "calibration stream moved from %.1f to %.1f GB/s (%+.0f %%)", out->before.stream_bps / 1e9,
                 out->after.stream_bps / 1e9, stream * 100);
    else
        snprintf(out->flag_reason, sizeof(out->flag_reason),
                 "calibration FMA moved from %.1f to %.1f GFLOP/s (%+.0f %%)", out->before.fma_flops / 1e9,
                 out->after.fma_flops / 1e9, fma * 100);
}

/* ---- clocks ---- */

/* A few samples rejected for a low clock are an accident; more are an effect of the case on the device. */
void flag_slow_clock(struct measurement *out)
{
    const uint32_t slow = out->discarded[DISCARD_CLOCK], all = slow + out->sample_count;
    if (slow <= MAX_REJECTED * all)
        return;
    out->flags |= FLAG_THROTTLED;
    ADD_REASON(out, "the clock fell below %.0f %% of where the case began in %u of %u samples, which do not count",
               SLOW_BELOW * 100, slow, all);
}

/* In clock traces that others recorded on a steady MI355X, 99 % of 6544 pairs of neighbouring samples differed by less
 * (median 0.11 %). */
static const double clock_drop_above = 0.0078;
enum { CLOCK_PARTS = 4 }; /* number of parts of the samples, of which the first and last are compared */

/* Returns the median clock of some samples; 0 if no probe worked. */
static double held_hz(const float *hz, uint32_t count)
{
    double known[MEASUREMENT_MAX_SAMPLES / CLOCK_PARTS + 1];
    size_t used = 0;
    for (uint32_t k = 0; k < count; k++)
        if (hz[k] > 0)
            known[used++] = (double)hz[k];
    return used ? median_of(known, used) : 0;
}

/* The counters have 32 bits and wrap, so any change counts. */
static bool moved(double before, double after)
{
    return isfinite(before) && isfinite(after) && before != after;
}

static const char *throttle_cause(const struct measurement *out)
{
    const struct device_sense *a = &out->before, *b = &out->after;
    const struct {
        bool seen;
        const char *name;
    } causes[] = {
        {moved(a->violation_prochot, b->violation_prochot), "the processor-hot signal"},
        {moved(a->violation_thermal, b->violation_thermal), "the temperature limit of the socket"},
        {moved(a->violation_hbm, b->violation_hbm), "the temperature limit of the memory"},
        {moved(a->violation_vr, b->violation_vr), "the temperature limit of the voltage regulators"},
        {moved(a->violation_power, b->violation_power), "the power limit"},
        {b->throttle_bits != UINT64_MAX && b->throttle_bits & ~a->throttle_bits, "throttling"},
    };
    for (size_t k = 0; k < sizeof(causes) / sizeof(causes[0]); k++)
        if (causes[k].seen)
            return causes[k].name;
    return NULL;
}

void flag_throttling(struct measurement *out)
{
    const uint32_t part = out->sample_count / CLOCK_PARTS;
    const bool probed = out->has_sample_hz && part; /* else the driver's readings before and after */
    const double from_hz = probed ? held_hz(out->sample_hz, part) : out->before.core_hz;
    const double to_hz = probed ? held_hz(out->sample_hz + out->sample_count - part, part) : out->after.core_hz;
    const double drop = from_hz > 0 && to_hz > 0 ? 1 - to_hz / from_hz : 0;
    const char *cause = throttle_cause(out);
    if (!cause || drop <= clock_drop_above)
        return;
    out->flags |= FLAG_THROTTLED;
    ADD_REASON(out, "the clock fell from %.0f to %.0f MHz (-%.1f %%) while %s held it back", from_hz / 1e6, to_hz / 1e6,
               drop * 100, cause);
}

/* ---- plausibility ---- */

enum { MAX_CEILINGS_RAISED = 3 };

static double sorted[MEASUREMENT_MAX_SAMPLES];

double measurement_median(const struct measurement *measured)
{
    memcpy(sorted, measured->samples_ns, measured->sample_count * sizeof(*sorted));
    return median_of(sorted, measured->sample_count);
}

static const char *ceiling_name(const struct machine *machine, const struct run_ceiling *ceiling)
{
    return ceiling->is_level ? machine->levels[ceiling->index].name : machine->units[ceiling->index].name;
}

/* Measures the ceiling's own kernel again, next to the case that beat it. */
static bool raise_ceiling(struct worker *worker, const struct run_ceiling *known, struct measurement *scratch)
{
    struct machine *machine = &worker->shared->machine;
    const struct plan_case *probe = known->probe;
    struct ceiling *ceiling =
        known->is_level ? &machine->levels[known->index].bandwidth : &machine->units[known->index].peak;
    struct ready ready = {0};
    struct err err = {0};
    uint32_t rotations = 1;
    bool raised = false;
    if (unbuilt_code(&probe->resolved, known->builds))
        return false;
    if (!choose_rotations(&rotations, worker, probe, &err) &&
        !ready_init(&ready, worker->device, &probe->resolved, known->builds, rotations, worker->options->seed, &err) &&
        !ready_setup(&ready, &err) && !measure_samples(worker, &ready, probe, scratch, &err)) {
        const struct work *work = &probe->resolved.work;
        const double amount = known->is_level ? work->read_bytes + work->write_bytes : work->flops;
        (void)measurement_median(scratch); /* sorts: the fastest had least interference */
        const double rate = amount / sorted[scratch->sample_count / 20] * 1e9;
        if (rate > ceiling->measured) {
            ceiling->measured = rate;
            ceiling->raised = raised = true;
        }
    }
    ready_release(&ready);
    return raised;
}

static const struct run_ceiling *binding_ceiling(const struct worker *worker, const struct plan_case *plan_case)
{
    const struct machine *machine = &worker->shared->machine;
    const struct work *work = &plan_case->resolved.work;
    double memory_ns, compute_ns;
    const struct machine_level *level = lower_bound_level(&memory_ns, machine, work, plan_case->measure.cache);
    const struct machine_unit *unit = lower_bound_unit(&compute_ns, machine, work);
    const char *name = level && memory_ns >= compute_ns ? level->name : unit ? unit->name : "";
    for (size_t k = 0; k < worker->options->ceiling_count; k++)
        if (!strcmp(ceiling_name(machine, &worker->options->ceilings[k]), name))
            return &worker->options->ceilings[k];
    return NULL;
}

void device_limits(struct machine *limits, const struct worker *worker)
{
    const struct device_facts facts = run_device_facts(&worker->info);
    const double core_hz =
        fmax(worker->info.core_hz, fmax(worker->shared->fastest_hz, worker->shared->machine.core_hz));
    /* A driver may count two compute units as one. */
    machine_limits(limits, &facts.target, facts.cus * (facts.unit_pairs ? 2 : 1), core_hz);
}

/* Judges the case as if its time were multiplied by `slower`. */
static enum plausibility judge(const struct worker *worker, const struct plan_case *plan_case, struct measurement *out,
                               double slower, char why[static 256])
{
    static struct machine limits;
    const struct work *work = &plan_case->resolved.work;
    const enum cache_mode cache = plan_case->measure.cache;
    const double time_ns = slower * measurement_median(out), tick_ns = worker->info.timer_tick_ns;
    device_limits(&limits, worker);
    const enum plausibility physics = lower_bound_judge(&limits, work, cache, time_ns, tick_ns, why);
    return physics ? physics : lower_bound_judge(&worker->shared->machine, work, cache, time_ns, tick_ns, why);
}

/* Returns the ratio of the highest to the lowest rate; 1 if one is unknown. */
static double span_of(double quiet, double before, double after)
{
    const double low = fmin(fmin(quiet, before), after), high = fmax(fmax(quiet, before), after);
    return low > 0 && isfinite(high) ? high / low : 1;
}

double interference_seen(const struct measurement *out, const struct device_sense *quiet)
{
    const double stream = span_of(quiet->stream_bps, out->before.stream_bps, out->after.stream_bps);
    const double fma = span_of(quiet->fma_flops, out->before.fma_flops, out->after.fma_flops);
    const double seen = fmax(stream, fma);
    return seen > 1 + interference_above ? seen : 1;
}

void flag_implausible(struct measurement *out, const struct implausible *what)
{
    if (what->verdict == ABOVE_MEASURED_CEILING && what->measured_again && what->explained) {
        out->flags |= FLAG_INTERFERENCE;
        ADD_REASON(
            out, "the ceiling was measured while the machine's rates stood %.2g times apart, so this is not judged: %s",
            what->interference, what->why);
    } else if (what->verdict == IMPOSSIBLE || what->verdict == ABOVE_MEASURED_CEILING) {
        out->flags |= FLAG_IMPOSSIBLE;
        snprintf(out->flag_reason, sizeof(out->flag_reason), "%s%s", what->why,
                 what->measured_again
                     ? ""
                     : "; no case is known that could measure this ceiling again: run rooftile roofline");
    } else if (out->flags & FLAG_CEILING_RAISED) {
        snprintf(out->flag_reason, sizeof(out->flag_reason),
                 "beat a measured ceiling, which was measured again and raised");
    }
}

enum status check_plausible(struct worker *worker, struct ready *ready, const struct plan_case *plan_case,
                            struct measurement *out, struct err *err)
{
    const struct device_sense *quiet = &worker->shared->calibration.quiet_rates;
    struct implausible what = {.measured_again = true, .interference = interference_seen(out, quiet)};
    char ignored[256];
    what.verdict = judge(worker, plan_case, out, 1, what.why);
    for (int round = 0; what.verdict == ABOVE_MEASURED_CEILING && round < MAX_CEILINGS_RAISED; round++) {
        /* Ranks decide this independently, so they cannot measure a ceiling together. */
        const struct run_ceiling *ceiling = ready->ranks ? NULL : binding_ceiling(worker, plan_case);
        what.measured_again = ceiling != NULL;
        if (!ceiling)
            break;
        struct measurement *scratch = new_zeroed(1, sizeof(*scratch));
        if (raise_ceiling(worker, ceiling, scratch))
            out->flags |= FLAG_CEILING_RAISED;
        free(scratch);
        memset(out->discarded, 0, sizeof(out->discarded));
        if (measure_samples(worker, ready, plan_case, out, err))
            return err->status;
        if (plan_case->measure.calibrates)
            sense_after(worker, out);
        what.interference = fmax(what.interference, interference_seen(out, quiet));
        what.verdict = judge(worker, plan_case, out, 1, what.why);
    }
    what.explained = what.verdict && !judge(worker, plan_case, out, what.interference, ignored);
    flag_implausible(out, &what);
    const char *unit = lower_bound_lacks(&worker->shared->machine, &plan_case->resolved.work);
    if (worker->shared->machine.level_count && unit) { /* on a known machine, a unit without a peak gives no bound */
        out->flags |= FLAG_NO_CEILING;
        ADD_REASON(out, "the machine file has no peak of %s: the share of the ceiling leaves it out", unit);
    }
    return STATUS_OK;
}
