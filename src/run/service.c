/* SPDX-License-Identifier: MIT */

#include "run_internal.h"

struct service {
    bool tried, works;
    char why[SERVICE_WHY]; /* why it, or its last launch, failed */
    struct ready ready;
};

struct services {
    struct service list[SERVICE_COUNT];
    bool held;                     /* a blocking kernel is active */
    uint32_t *control;             /* shared with service_blocking.hip */
    uint64_t *report[PROBE_COUNT]; /* shared with service_clock.hip */
};

static struct services *services_of(struct worker *worker)
{
    if (!worker->services)
        worker->services = new_zeroed(1, sizeof(*worker->services));
    return worker->services;
}

/* Copies an error's text. Long texts lose their beginning, since the cause is at the end. */
static void say(char why[static SERVICE_WHY], const char *text)
{
    const size_t length = strlen(text), most = SERVICE_WHY - sizeof("...");
    snprintf(why, SERVICE_WHY, "%s%s", length > most ? "..." : "", text + (length > most ? length - most : 0));
}

/* Returns the service's first buffer, in memory shared by host and device; NULL if it does not match this program's own
 * kernel. */
static void *words_of(struct ready *ready, uint32_t rotation, uint64_t size_bytes)
{
    const struct resolved *resolved = ready->resolved;
    const bool fits = resolved->buffer_count && resolved->buffers[0].size_bytes == size_bytes &&
                      resolved->buffers[0].space == BUFFER_PINNED;
    return fits ? ready_buffer(ready, 0, rotation) : NULL;
}

/* ---- the blocking kernel ---- */

/* Words of service_blocking.hip's `control`. */
enum { RELEASED, MOST_LOOKS, OUTCOME, LOOKS, CONTROL_WORDS };
enum { NOT_RUN, WAS_RELEASED, GAVE_UP };

/* Maximum number of polls, each of about 5 us (a nap and a read across the bus). In the first test the host releases at
 * once, so 10 ms are plenty and cost little if launches are synchronous. Later the host queues up to
 * BLOCKING_MAX_LAUNCHES, which takes it some 10 ms; after 200 ms it must be waiting for the device. */
enum { FIRST_LOOKS = 2000, LATER_LOOKS = 40000 };

static bool hold_with(struct services *services, uint32_t looks, struct err *err)
{
    __atomic_store_n(&services->control[RELEASED], 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&services->control[MOST_LOOKS], looks, __ATOMIC_SEQ_CST);
    __atomic_store_n(&services->control[OUTCOME], NOT_RUN, __ATOMIC_SEQ_CST);
    services->held = !ready_run(&services->list[SERVICE_BLOCKING].ready, 0, EVENTS_NONE, err);
    return services->held;
}

void blocking_release(struct worker *worker)
{
    struct services *services = services_of(worker);
    if (services->held)
        __atomic_store_n(&services->control[RELEASED], 1, __ATOMIC_SEQ_CST);
    services->held = false;
}

static bool was_released(const struct services *services)
{
    return __atomic_load_n(&services->control[OUTCOME], __ATOMIC_SEQ_CST) == WAS_RELEASED;
}

bool blocking_begin(struct worker *worker, char why[static SERVICE_WHY])
{
    struct err err = {0};
    const bool begun = hold_with(services_of(worker), LATER_LOOKS, &err);
    if (!begun)
        say(why, err.text);
    return begun;
}

bool blocking_was_released(struct worker *worker, char why[static SERVICE_WHY])
{
    const bool released = was_released(services_of(worker));
    if (!released)
        snprintf(why, SERVICE_WHY, "the host waited for the device while it queued the batch");
    return released;
}

static enum status try_hold(struct worker *worker, struct services *services, struct err *err)
{
    services->control =
        words_of(&services->list[SERVICE_BLOCKING].ready, 0, CONTROL_WORDS * sizeof(*services->control));
    if (!services->control)
        return err_set(err, ERR_UNSUPPORTED, "service_blocking is not rooftile's own kernel");
    const bool begun = hold_with(services, FIRST_LOOKS, err);
    blocking_release(worker);
    if (!begun || worker->device->ops->wait(worker->device, err))
        return err->status;
    return was_released(services) ? STATUS_OK : err_set(err, ERR_UNSUPPORTED, "a launch returns only after it has run");
}

/* ---- the clock ---- */

/* Words of service_clock.hip's `report`. */
enum { WANTED_TICKS, MOST_LOOPS, CYCLES, TICKS, LOOPS, LONGEST_STEP, COUNTER_BITS, DONE, REPORT_WORDS };

/* A probe takes at least 20 us and 2000 ticks, so one tick is 0.05 %. That is 80 us at 25 MHz (MI200), 20 us at 100
 * MHz. A counter that advances in larger steps than its unit (NVIDIA's, up to 1 us) needs no more, because the kernel
 * begins and ends at a step. */
static const double least_ns = 20e3;
enum { LEAST_TICKS = 2000 };
/* An iteration takes over 20 ns, so 80 us need fewer than this. A stopped counter ends the probe here. */
enum { PROBE_LOOPS = 4096 };
enum { PROBE_TRIES = 3 };
/* The difference of two durations, free of launch overhead, gives the counter's rate. */
enum { RATE_SHORT_TICKS = 2000, RATE_LONG_TICKS = 42000, RATE_REPEATS = 5 };
static const double slowest_hz = 10e6, fastest_hz = 5e9; /* plausible core clocks; others are errors */

static void set_report(uint64_t *report, uint64_t ticks, uint64_t loops)
{
    __atomic_store_n(&report[WANTED_TICKS], ticks, __ATOMIC_SEQ_CST);
    __atomic_store_n(&report[MOST_LOOPS], loops, __ATOMIC_SEQ_CST);
    __atomic_store_n(&report[DONE], 0, __ATOMIC_SEQ_CST);
}

/* Returns the median duration of a probe of `ticks` by the device's own time stamps; NaN if it failed. */
static double probe_duration(struct worker *worker, uint64_t ticks, double *counted)
{
    const struct device_ops *ops = worker->device->ops;
    struct services *services = services_of(worker);
    struct ready *ready = &services->list[SERVICE_CLOCK].ready;
    uint64_t *report = services->report[PROBE_BEFORE];
    struct err err = {0};
    double times[RATE_REPEATS], counts[RATE_REPEATS];
    for (int k = 0; k < RATE_REPEATS; k++) {
        set_report(report, ticks, PROBE_LOOPS * ticks / LEAST_TICKS);
        enum status status = ready_run(ready, 0, EVENTS_KERNEL, &err);
        const bool own = status != ERR_UNSUPPORTED;
        if (!own)
            status = ready_run(ready, 0, EVENTS_AROUND, &err);
        if (!status)
            status = ops->wait(worker->device, &err);
        if (!status)
            status = elapsed_of(&times[k], worker->device, own, &err);
        if (status || report[TICKS] < ticks)
            return NAN;
        counts[k] = (double)report[TICKS];
    }
    *counted = median_of(counts, RATE_REPEATS);
    return median_of(times, RATE_REPEATS);
}

double probe_counter_hz(const struct worker *worker)
{
    if (worker->info.counter_hz > 0)
        return worker->info.counter_hz;
    return worker->info.timer_tick_ns > 0 ? 1e9 / worker->info.timer_tick_ns : 0;
}

void probe_queue(struct worker *worker, unsigned which)
{
    struct services *services = services_of(worker);
    struct service *service = &services->list[SERVICE_CLOCK];
    const double ticks = round(least_ns * 1e-9 * probe_counter_hz(worker));
    struct err err = {0};
    set_report(services->report[which], (uint64_t)fmax(ticks, LEAST_TICKS), PROBE_LOOPS);
    if (ready_run(&service->ready, which, EVENTS_NONE, &err)) /* the report then stays incomplete */
        say(service->why, err.text);
}

double probe_read(struct worker *worker, unsigned which, char why[static SERVICE_WHY])
{
    const struct services *services = services_of(worker);
    const char *failed = services->list[SERVICE_CLOCK].why;
    const double counter_hz = probe_counter_hz(worker);
    const uint64_t *report = services->report[which];
    const double hz = (double)report[CYCLES] / (double)report[TICKS] * counter_hz;
    const double step_s = (double)report[LONGEST_STEP] / counter_hz; /* worst case: at the highest clock */
    if (__atomic_load_n(&report[DONE], __ATOMIC_SEQ_CST) != 1)
        snprintf(why, SERVICE_WHY, "the probe did not run%s%.60s", failed[0] ? ": " : "", failed);
    else if (report[TICKS] < report[WANTED_TICKS])
        snprintf(why, SERVICE_WHY, "the constant counter went %llu of %llu ticks in %llu reads",
                 (unsigned long long)report[TICKS], (unsigned long long)report[WANTED_TICKS],
                 (unsigned long long)report[LOOPS]);
    else if (report[COUNTER_BITS] < 64 && step_s * fastest_hz >= ldexp(1, (int)report[COUNTER_BITS]))
        snprintf(why, SERVICE_WHY, "the cycle counter of %u bits may have gone round between two reads",
                 (unsigned)report[COUNTER_BITS]);
    else if (!(hz >= slowest_hz && hz <= fastest_hz))
        snprintf(why, SERVICE_WHY, "the probe says %.3g Hz", hz);
    else
        return hz;
    return NAN;
}

static enum status try_probe(struct worker *worker, struct services *services, struct err *err)
{
    char why[SERVICE_WHY] = "";
    for (unsigned k = 0; k < PROBE_COUNT; k++) {
        services->report[k] = words_of(&services->list[SERVICE_CLOCK].ready, k, REPORT_WORDS * sizeof(uint64_t));
        if (!services->report[k])
            return err_set(err, ERR_UNSUPPORTED, "service_clock is not rooftile's own kernel");
    }
    double few = 0, many = 0;
    /* The first probe includes loading the code, so its time is discarded. */
    if (!(probe_counter_hz(worker) > 0) && !isnan(probe_duration(worker, RATE_SHORT_TICKS, &few))) {
        const double short_ns = probe_duration(worker, RATE_SHORT_TICKS, &few);
        const double long_ns = probe_duration(worker, RATE_LONG_TICKS, &many);
        const double hz = (many - few) / (long_ns - short_ns) * 1e9;
        if (hz >= 1e6 && hz <= 1e9) /* counters run at round rates; the durations are accurate to 1e-4 */
            worker->info.timer_tick_ns = 1e9 / (round(hz / 1e4) * 1e4);
    }
    if (!(probe_counter_hz(worker) > 0))
        return err_set(err, ERR_UNSUPPORTED, "the rate of the constant counter is unknown");
    for (int k = 0; k < PROBE_TRIES; k++) {
        probe_queue(worker, PROBE_BEFORE);
        if (worker->device->ops->wait(worker->device, err))
            return err->status;
        if (probe_read(worker, PROBE_BEFORE, why) > 0)
            return STATUS_OK;
    }
    return err_set(err, ERR_UNSUPPORTED, "%s", why);
}

/* ---- hashes ---- */

enum { TRIED_PIECES = 4, TRIED = 2 };

enum status hash_on_device(uint64_t *hashes, struct worker *worker, const void *memory, uint64_t size_bytes,
                           struct err *err)
{
    const struct device_ops *ops = worker->device->ops;
    struct ready *ready = &services_of(worker)->list[SERVICE_HASH].ready;
    struct ready_step *step = &ready->steps[0];
    const uint64_t most = ready->resolved->buffers[1].size_bytes / sizeof(*hashes) * HASH_PIECE_BYTES;
    for (uint64_t at = 0; at < size_bytes; at += most) {
        const uint64_t size = size_bytes - at < most ? size_bytes - at : most;
        const uint64_t pieces = (size + HASH_PIECE_BYTES - 1) / HASH_PIECE_BYTES;
        step->arg_values[1] = (uint64_t)(uintptr_t)memory + at;
        step->arg_values[2] = (size + HASH_WORD_BYTES - 1) / HASH_WORD_BYTES;
        step->launch.grid[0] = (uint32_t)pieces;
        if (ready_run(ready, 0, EVENTS_NONE, err) || ops->wait(worker->device, err) ||
            ops->read(worker->device, hashes + at / HASH_PIECE_BYTES, ready_buffer(ready, 1, 0),
                      pieces * sizeof(*hashes), err))
            return err->status;
    }
    return STATUS_OK;
}

/* Changes a byte in one piece, and checks that only the hash of that piece changes. */
static enum status try_hash(struct worker *worker, struct services *services, struct err *err)
{
    const struct device_ops *ops = worker->device->ops;
    const struct ready *ready = &services->list[SERVICE_HASH].ready;
    const struct resolved *resolved = ready->resolved;
    uint64_t before[TRIED_PIECES], after[TRIED_PIECES];
    uint8_t byte = 0;
    if (resolved->buffer_count != 2 || resolved->buffers[0].size_bytes != TRIED_PIECES * HASH_PIECE_BYTES ||
        resolved->step_count != 1 || resolved->steps[0].launch.arg_count != 3)
        return err_set(err, ERR_UNSUPPORTED, "service_hash is not rooftile's own kernel");
    uint8_t *memory = ready_buffer(ready, 0, 0), *changed = memory + TRIED * HASH_PIECE_BYTES + 1;
    const uint64_t size = resolved->buffers[0].size_bytes;
    if (hash_on_device(before, worker, memory, size, err) || ops->read(worker->device, &byte, changed, 1, err))
        return err->status;
    byte ^= 1;
    if (ops->write(worker->device, changed, &byte, 1, err) || hash_on_device(after, worker, memory, size, err))
        return err->status;
    for (int k = 0; k < TRIED_PIECES; k++)
        if ((before[k] != after[k]) != (k == TRIED))
            return err_set(err, ERR_UNSUPPORTED, "it does not see that a byte changed");
    return STATUS_OK;
}

/* ---- opening one ---- */

static enum status open_service(struct ready *ready, struct worker *worker, enum run_service which, struct err *err)
{
    const struct run_service_case *given = &worker->options->services[which];
    const struct plan_case *plan_case = given->plan_case;
    const struct device_ops *ops = worker->device->ops;
    if (which == SERVICE_BLOCKING && !ops->asynchronous)
        return err_set(err, ERR_UNSUPPORTED, "launches on the %s device are not queued", ops->name);
    if (which == SERVICE_CLOCK && !ops->has_clock_probe)
        return err_set(err, ERR_UNSUPPORTED, "the %s device has no clock to probe", ops->name);
    if (!ops->executes && which != SERVICE_NULL)
        return err_set(err, ERR_UNSUPPORTED, "nothing is executed");
    if (!plan_case)
        return err_set(err, ERR_UNSUPPORTED, "its kernel is not among the kernels");
    if (plan_case->state != PLAN_READY)
        return err_set(err, ERR_UNSUPPORTED, "%s", plan_case->reason);
    const struct build_result *unbuilt = unbuilt_code(&plan_case->resolved, given->builds);
    if (unbuilt)
        return err_set(err, ERR_UNSUPPORTED, "its kernel was not built: %s", unbuilt->message);
    const uint32_t rotations = which == SERVICE_CLOCK ? PROBE_COUNT : 1;
    return ready_init(ready, worker->device, &plan_case->resolved, given->builds, rotations, 0, err);
}

struct ready *service_ready(struct worker *worker, enum run_service which, char why[static SERVICE_WHY])
{
    struct services *services = services_of(worker);
    struct service *service = &services->list[which];
    if (!service->tried) {
        struct err err = {0};
        service->tried = true;
        enum status status = open_service(&service->ready, worker, which, &err);
        if (status)
            ready_release(&service->ready);
        else if (which == SERVICE_BLOCKING)
            status = try_hold(worker, services, &err);
        else if (which == SERVICE_CLOCK)
            status = try_probe(worker, services, &err);
        else if (which == SERVICE_HASH)
            status = try_hash(worker, services, &err);
        service->works = !status;
        say(service->why, status ? err.text : "");
    }
    if (!service->works)
        snprintf(why, SERVICE_WHY, "%s", service->why);
    return service->works ? &service->ready : NULL;
}
