/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "rooftile/clock.h"
#include "run_internal.h"

enum { NULL_LAUNCHES = 301, NULL_BATCH = 1000, NULL_BATCHES = 11 };

const char *run_phase_name(enum run_phase phase)
{
    static const char *const names[] = {
        [PHASE_IDLE] = "idle",           [PHASE_OPENING] = "opening the device", [PHASE_LOADING] = "loading",
        [PHASE_FILLING] = "filling",     [PHASE_VERIFYING] = "verifying",        [PHASE_WARMING] = "warming up",
        [PHASE_MEASURING] = "measuring",
    };
    return names[phase];
}

/* ---- what a launch costs ---- */

static double time_launches(struct worker *worker, struct ready *ready, uint32_t launches, uint32_t repeat)
{
    const struct device_ops *ops = worker->device->ops;
    double *times = calloc(repeat, sizeof(*times));
    struct err err = {0};
    double median = NAN;
    if (!times)
        arena_out_of_memory(repeat * sizeof(*times));
    for (uint32_t k = 0; k < repeat; k++) {
        enum status status = ops->mark(worker->device, 0, 0, &err);
        for (uint32_t n = 0; n < launches && !status; n++)
            status = ready_run(ready, 0, false, &err);
        if (!status)
            status = ops->mark(worker->device, 1, 0, &err);
        if (!status)
            status = ops->wait(worker->device, &err);
        if (!status)
            status = ops->elapsed(&times[k], worker->device, 0, 1, &err);
        if (status)
            goto out;
        times[k] /= launches;
    }
    median = median_of(times, repeat);
out:
    free(times);
    return median;
}

enum status calibrate(struct worker *worker, struct err *err)
{
    struct calibration *out = &worker->shared->calibration;
    const struct plan_case *null_case = worker->options->null_case;
    *out =
        (struct calibration){.timer_tick_ns = worker->info.timer_tick_ns, .null_launch_ns = NAN, .null_batch_ns = NAN};
    out->reference = device_sense_unknown;
    if (worker->device->ops->sense && worker->device->ops->sense(worker->device, &out->reference, false, err))
        return err->status;
    if (!null_case)
        return STATUS_OK;
    const struct build_result *builds = worker->options->null_builds;
    if (unbuilt_code(&null_case->bound, builds))
        return STATUS_OK; /* the overhead stays unknown, and says so */
    struct ready ready = {0};
    enum status status = ready_init(&ready, worker->device, &null_case->bound, builds, 1, 0, err);
    if (!status) {
        (void)time_launches(worker, &ready, 1, NULL_LAUNCHES / 3); /* the first ones pay for waking up */
        out->null_launch_ns = time_launches(worker, &ready, 1, NULL_LAUNCHES);
        out->null_batch_ns = time_launches(worker, &ready, NULL_BATCH, NULL_BATCHES);
    }
    ready_release(&ready);
    return status;
}

/* ---- the process ---- */

static enum status open_oracle_device(struct worker *worker, struct err *err)
{
    struct device_info ignored = {0};
    if (!worker->device->ops->executes || !strcmp(worker->info.backend, "cpu")) {
        worker->oracle_device = worker->device;
        return STATUS_OK;
    }
    const struct device_request request = {.backend = "cpu"};
    return device_cpu.open(&worker->oracle_device, &request, &ignored, err);
}

static enum status open_devices(struct worker *worker, bool calibrated, struct err *err)
{
    const struct device_request *request = &worker->options->device;
    const struct device_ops *ops = device_backend(request->backend);
    if (!ops)
        return err_set(err, ERR_USAGE, "there is no device backend '%s'", request->backend);
    atomic_store(&worker->shared->phase, PHASE_OPENING);
    enum status status = ops->open(&worker->device, request, &worker->info, err);
    if (!status)
        status = open_oracle_device(worker, err);
    if (!status && !calibrated)
        status = calibrate(worker, err);
    if (!status)
        worker->shared->info = worker->info;
    return status;
}

static bool read_all(int fd, void *data, size_t size)
{
    uint8_t *at = data;
    while (size) {
        const ssize_t got = read(fd, at, size);
        if (got <= 0)
            return false;
        at += got;
        size -= (size_t)got;
    }
    return true;
}

_Noreturn void worker_main(struct worker *worker, int commands, int answers, bool calibrated)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGINT, SIG_IGN); /* the parent decides what Ctrl-C means */
    signal(SIGTERM, SIG_DFL);
    struct err err = {0};
    char answer = 'o';
    if (open_devices(worker, calibrated, &err)) {
        worker->shared->err = err;
        answer = 'x';
    }
    struct worker_command command;
    while (write(answers, &answer, 1) == 1 && answer == 'o' && read_all(commands, &command, sizeof(command))) {
        worker->shared->measured.order_index = command.order_index;
        measure_case(worker, &worker->plan->cases[command.plan_index], worker->builds, worker->options->verify_only);
        atomic_store(&worker->shared->phase, PHASE_IDLE);
    }
    _exit(0); /* no atexit work of the parent's, and no destructor of a vendor library */
}
