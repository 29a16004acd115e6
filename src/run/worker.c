/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "run_internal.h"

const char *run_phase_name(enum run_phase phase)
{
    static const char *const names[] = {
        [PHASE_IDLE] = "idle",
        [PHASE_OPENING] = "opening the device",
        [PHASE_CALIBRATING] = "calibrating",
        [PHASE_LOADING] = "loading",
        [PHASE_FILLING] = "filling",
        [PHASE_VERIFYING] = "verifying",
        [PHASE_WARMING] = "warming up",
        [PHASE_MEASURING] = "measuring",
    };
    return names[phase];
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
    if (!status && !calibrated) {
        atomic_store(&worker->shared->phase, PHASE_CALIBRATING);
        status = calibrate(worker, err);
    }
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
