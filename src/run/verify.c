/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "compare_elements.h"
#include "rooftile/rng.h"
#include "run_internal.h"

enum { CHUNK = 1024 };

/* ---- faults on purpose ---- */

static uint64_t pick_element(const struct ready *ready, size_t buffer, uint64_t seed)
{
    const struct fill *fill = &ready->fills[buffer];
    uint64_t index = rng_at(seed, buffer) % fill->count;
    if (fill->kind == FILL_RING) /* only the heads of slots mean anything */
        index -= index % ((uint64_t)fill->options[FILL_STRIDE] / dtype_bytes(fill->dtype));
    return index;
}

static enum status change_element(struct ready *ready, size_t buffer, uint64_t index, struct err *err)
{
    const struct fill *fill = &ready->fills[buffer];
    const struct device_ops *ops = ready->device->ops;
    const size_t bytes = dtype_bytes(fill->dtype);
    uint8_t *at = (uint8_t *)ready_buffer(ready, buffer, 0) + index * bytes;
    uint8_t raw[8];
    double value = 0;
    enum status status = ops->read(ready->device, raw, at, bytes, err);
    if (status)
        return status;
    dtype_load(&value, fill->dtype, raw, 1);
    if (fill->kind == FILL_RING || fill->kind == FILL_PERMUTATION || fill->kind == FILL_INDEX)
        value = value == 0 ? (double)index : 0; /* stays inside the bounds that the kernel relies on */
    else
        value = isfinite(value) ? value + fmax(1, fabs(value)) : 1;
    dtype_store(raw, fill->dtype, &value, 1, NULL);
    return ops->write(ready->device, at, raw, bytes, err);
}

static enum status perturb_input(struct ready *ready, uint64_t seed, struct err *err)
{
    static const enum buffer_role order[] = {ROLE_IN, ROLE_INOUT};
    for (size_t role = 0; role < 2; role++)
        for (size_t k = 0; k < ready->resolved->buffer_count; k++)
            if (ready->resolved->buffers[k].spec->role == order[role])
                return change_element(ready, k, pick_element(ready, k, seed), err);
    return err_set(err, ERR_UNSUPPORTED, "the kernel has no input to perturb");
}

/* ---- expectations ---- */

struct expect_job {
    const struct fill *want;
    const uint8_t *got;
    struct comparison total;
    struct err *err;
    enum status status;
    atomic_flag lock;
};

static void take(atomic_flag *lock)
{
    while (atomic_flag_test_and_set(lock))
        ;
}

static enum status compare_range(const struct expect_job *job, struct comparison *part, uint64_t first, uint64_t last,
                                 struct err *err)
{
    const size_t bytes = dtype_bytes(job->want->dtype);
    double got[CHUNK], want[CHUNK];
    _Alignas(64) uint8_t raw[CHUNK * 8];
    for (uint64_t at = first; at < last; at += CHUNK) {
        const size_t count = last - at < CHUNK ? (size_t)(last - at) : CHUNK;
        enum status status = fill_range(job->want, raw, at, count, err);
        if (status)
            return status;
        if (!memcmp(raw, job->got + at * bytes, count * bytes)) {
            part->checked += count; /* bit for bit what was expected: the fast path */
            continue;
        }
        dtype_load(want, job->want->dtype, raw, count);
        dtype_load(got, job->want->dtype, job->got + at * bytes, count);
        comparison_add(part, got, want, NULL, at, count);
    }
    return STATUS_OK;
}

static void expect_part(void *context, uint32_t part, uint32_t parts)
{
    struct expect_job *job = context;
    struct comparison mine = {.abs = job->total.abs, .rel = job->total.rel, .epsilon = job->total.epsilon};
    const uint64_t count = job->want->count;
    struct err err = {0};
    enum status status =
        compare_range(job, &mine, part_begin(count, part, parts), part_begin(count, part + 1, parts), &err);
    take(&job->lock);
    if (status) {
        job->status = status;
        *job->err = err;
    }
    comparison_merge(&job->total, &mine);
    atomic_flag_clear(&job->lock);
}

static double type_epsilon(enum dtype dtype)
{
    return dtype_is_float(dtype) ? dtype_epsilon(dtype) : 1;
}

static enum status tolerance(double *out, const struct expr *expr, const double *slots, struct err *err)
{
    *out = 0;
    return expr ? expr_eval(out, expr, slots, err) : STATUS_OK;
}

static enum status check_expectation(struct ready *ready, const struct expectation *expect, uint64_t seed,
                                     struct verification *out, struct err *err)
{
    const struct resolved_buffer *buffer = &ready->resolved->buffers[expect->buffer];
    struct arena arena = {0};
    struct fill want = {0};
    const void *got = NULL;
    struct expect_job job = {.want = &want, .err = err, .lock = ATOMIC_FLAG_INIT};
    enum status status = fill_init(&want, &expect->want, buffer->dtype, buffer->count, ready->resolved->slots,
                                   rng_derive(seed, buffer->spec->name), &arena, err);
    if (!status)
        status = tolerance(&job.total.abs, expect->abs, ready->resolved->slots, err);
    if (!status)
        status = tolerance(&job.total.rel, expect->rel, ready->resolved->slots, err);
    if (!status)
        status = ready_read(&got, ready, (size_t)expect->buffer, &arena, err);
    if (status)
        goto out;
    job.got = got;
    job.total.epsilon = type_epsilon(buffer->dtype);
    run_in_parts(ready->device, expect_part, &job);
    status = job.status;
    if (!status)
        comparison_report(out, &job.total, buffer->spec->name);
out:
    arena_release(&arena);
    return status ? err_within(err, "check.expect of '%s'", buffer->spec->name) : STATUS_OK;
}

/* ---- references ---- */

static void choose_elements(uint64_t *index, const struct plan_reference *reference, uint64_t count, uint64_t seed)
{
    for (uint64_t k = 0; k < reference->samples; k++)
        index[k] = reference->every ? k : rng_at(seed, k) % count;
    if (!reference->every && reference->samples >= 2) { /* the corners are where tiles go wrong */
        index[0] = 0;
        index[1] = count - 1;
    }
}

static enum status reference_inputs(struct ready *theirs, const struct ready *ours,
                                    const struct plan_reference *reference, struct err *err)
{
    for (size_t k = 0; k < reference->resolved.buffer_count; k++) {
        const int source = reference->source[k];
        if (source < 0)
            continue;
        const struct resolved_buffer *own = &ours->resolved->buffers[source], *other = &reference->resolved.buffers[k];
        if (own->count != other->count || own->dtype != other->dtype)
            return err_set(err, ERR_CONFIG, "buffer '%s' has %llu x %s, the kernel's '%s' %llu x %s", other->spec->name,
                           (unsigned long long)other->count, dtype_name(other->dtype), own->spec->name,
                           (unsigned long long)own->count, dtype_name(own->dtype));
        theirs->fills[k] = ours->fills[source];
        enum status status = ready_fill(theirs, k, 0, err);
        if (status)
            return status;
    }
    return STATUS_OK;
}

static enum status compare_reference(struct ready *ours, struct ready *theirs, const struct plan_reference *reference,
                                     struct verification *out, struct err *err)
{
    const struct resolved_buffer *buffer = &ours->resolved->buffers[reference->output];
    const uint64_t *index = ready_buffer(theirs, (size_t)reference->index_buffer, 0);
    const double *want = ready_buffer(theirs, (size_t)reference->result_buffer, 0);
    const size_t bytes = dtype_bytes(buffer->dtype);
    struct comparison comparison = {
        .abs = reference->abs, .rel = reference->rel, .epsilon = type_epsilon(buffer->dtype)};
    struct arena arena = {0};
    const void *data = NULL;
    enum status status = ready_read(&data, ours, (size_t)reference->output, &arena, err);
    if (status)
        goto out;
    for (uint64_t at = 0; at < reference->samples; at += CHUNK) {
        const size_t count = reference->samples - at < CHUNK ? (size_t)(reference->samples - at) : CHUNK;
        double got[CHUNK];
        for (size_t k = 0; k < count; k++)
            dtype_load(&got[k], buffer->dtype, (const uint8_t *)data + index[at + k] * bytes, 1);
        comparison_add(&comparison, got, want + at, index + at, 0, count);
    }
    comparison_report(out, &comparison, buffer->spec->name);
out:
    arena_release(&arena);
    return status;
}

static enum status check_reference(struct worker *worker, struct ready *ready, const struct plan_reference *reference,
                                   const struct build_result *builds, struct verification *out, struct err *err)
{
    const struct build_result *unbuilt = unbuilt_code(&reference->resolved, builds);
    struct ready theirs = {0};
    if (unbuilt)
        return err_set(err, ERR_BUILD, "reference '%s' was not built: %s", reference->resolved.manifest->name,
                       unbuilt->message);
    enum status status =
        ready_init(&theirs, worker->reference_device, &reference->resolved, builds, 1, worker->options->seed, err);
    if (!status)
        status = reference_inputs(&theirs, ready, reference, err);
    if (!status)
        status = ready_setup(&theirs, err);
    if (status)
        goto out;
    choose_elements(ready_buffer(&theirs, (size_t)reference->index_buffer, 0), reference,
                    ready->resolved->buffers[reference->output].count, worker->options->seed);
    status = ready_run(&theirs, 0, EVENTS_NONE, err);
    if (!status)
        status = worker->reference_device->ops->wait(worker->reference_device, err);
    if (!status)
        status = compare_reference(ready, &theirs, reference, out, err);
out:
    ready_release(&theirs);
    return status ? err_within(err, "reference '%s'", reference->resolved.manifest->name) : STATUS_OK;
}

/* ---- one verification launch ---- */

static void prepare_launches(struct ready_step *steps, size_t count, const struct run_options *options, bool verifying)
{
    for (size_t k = 0; k < count; k++) {
        steps[k].launch.poison_lds = verifying;
        steps[k].launch.lane_order = verifying ? options->lane_order : LANES_FORWARD;
        steps[k].launch.seed = options->seed;
        if (steps[k].inside)
            prepare_launches(steps[k].inside, steps[k].resolved->step_count, options, verifying);
    }
}

static enum status launch_once(struct worker *worker, struct ready *ready, int output, struct err *err)
{
    const enum run_inject inject = worker->options->inject;
    const size_t count = ready->resolved->step_count;
    enum status status = ready_reset(ready, 0, err);
    if (!status)
        status = ready->device->ops->wait(ready->device, err);
    if (!status && inject == INJECT_PERTURB_INPUT)
        status = perturb_input(ready, worker->options->seed, err);
    if (!status && inject != INJECT_SKIP_LAUNCH) {
        prepare_launches(ready->steps, count, worker->options, true);
        status = ready_run(ready, 0, EVENTS_NONE, err);
        prepare_launches(ready->steps, count, worker->options, false);
    }
    if (!status)
        status = ready->device->ops->wait(ready->device, err);
    if (!status && inject == INJECT_FLIP_OUTPUT && output >= 0)
        status = change_element(ready, (size_t)output,
                                rng_at(worker->options->seed, 0) % ready->resolved->buffers[output].count, err);
    return status;
}

static enum status verify_launch(struct worker *worker, struct ready *ready, const struct plan_reference *reference,
                                 const struct build_result *builds, struct verification *out, struct err *err)
{
    const struct manifest_check *check = &ready->resolved->manifest->check;
    const int output = reference ? reference->output : check->expect_count ? check->expect[0].buffer : -1;
    enum status status = launch_once(worker, ready, output, err);
    if (status)
        return status;
    for (size_t k = 0; k < check->expect_count && !status; k++)
        status = check_expectation(ready, &check->expect[k], worker->options->seed, out, err);
    if (!status && reference)
        status = check_reference(worker, ready, reference, builds, out, err);
    return status;
}

enum status verify_case(struct worker *worker, struct ready *ready, const struct plan_case *plan_case,
                        const struct build_result *builds, struct verification *out, struct err *err)
{
    snprintf(out->method, sizeof(out->method), "%s",
             plan_case->verify == VERIFY_NONE ? "" : verify_method_name(plan_case->verify));
    if (!worker->device->ops->executes || plan_case->verify == VERIFY_NONE) {
        out->verdict = VERIFY_SKIPPED;
        snprintf(out->reason, sizeof(out->reason), "%s",
                 worker->device->ops->executes ? "the manifest has nothing to check" : "sim executes nothing");
        return STATUS_OK;
    }
    if (plan_case->verify != VERIFY_VARIANT)
        return verify_launch(worker, ready, plan_case->reference, builds, out, err);
    struct ready small = {0};
    enum status status = ready_init(&small, worker->device, plan_case->variant, builds, 1, worker->options->seed, err);
    if (!status)
        status = ready_setup(&small, err);
    if (!status)
        status = verify_launch(worker, &small, plan_case->reference, builds, out, err);
    ready_release(&small);
    return status ? err_within(err, "at check.params") : STATUS_OK;
}
