/* SPDX-License-Identifier: MIT
 *
 * Checks outputs against closed forms or references.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "rooftile/launch_fit.h"
#include "rooftile/rng.h"
#include "run_internal.h"

enum { CHUNK = 1024 };
/* Probability that all wrong launches were missed, given the stated share of them (verification.wrong_below). */
#define MISSED 0.05

/* ---- faults on purpose ---- */

static enum status change_element(struct ready *ready, size_t buffer, uint64_t index, struct err *err)
{
    const struct fill *fill = &ready->buffers[buffer].fill;
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
        for (size_t k = 0; k < ready->resolved->buffer_count; k++) {
            const struct fill *fill = &ready->buffers[k].fill;
            if (ready->resolved->buffers[k].spec->role != order[role])
                continue;
            uint64_t index = rng_at(seed, k) % fill->count;
            if (fill->kind == FILL_RING) /* only the head of each slot is meaningful */
                index -= index % ((uint64_t)fill->options[FILL_STRIDE] / dtype_bytes(fill->dtype));
            return change_element(ready, k, index, err);
        }
    return err_set(err, ERR_UNSUPPORTED, "the kernel has no input to perturb");
}

/* ---- expectations ---- */

struct expect_job {
    const struct fill *want;
    const uint8_t *got;
    struct comparison total;
    atomic_flag lock; /* protects `total` */
};

static enum status compare_range(struct comparison *part, const struct expect_job *job, uint64_t first, uint64_t last,
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
        if (part->abs == 0 && !memcmp(raw, job->got + at * bytes, count * bytes)) {
            part->checked += count; /* fast path: identical bits */
            continue;
        }
        dtype_load(want, job->want->dtype, raw, count);
        dtype_load(got, job->want->dtype, job->got + at * bytes, count);
        /* Integers beyond 2^53 may differ although their nearest doubles are equal. */
        for (size_t k = 0; k < count && bytes == sizeof(uint64_t) && !dtype_is_float(job->want->dtype); k++)
            if (got[k] == want[k] && memcmp(raw + k * bytes, job->got + (at + k) * bytes, bytes))
                got[k] = nextafter(want[k], INFINITY);
        comparison_add(part, got, want, NULL, at, count);
    }
    return STATUS_OK;
}

static enum status expect_part(void *context, uint64_t first, uint64_t count, struct err *err)
{
    struct expect_job *job = context;
    struct comparison mine = {.abs = job->total.abs, .rel = job->total.rel};
    const enum status status = compare_range(&mine, job, first, first + count, err);
    while (atomic_flag_test_and_set(&job->lock))
        ;
    comparison_merge(&job->total, &mine);
    atomic_flag_clear(&job->lock);
    return status;
}

static enum status tolerance(double *out, const struct expr *expr, const double *slots, struct err *err)
{
    *out = 0;
    return expr ? expr_eval(out, expr, slots, err) : STATUS_OK;
}

/* Checks one part of a buffer, `at`. */
static enum status check_part(const struct checking *checking, const struct expectation *expect, size_t at,
                              struct verification *out, struct err *err)
{
    struct ready *ready = checking->ready;
    const struct resolved_buffer *buffer = &ready->resolved->buffers[at];
    char name[64];
    SCOPED(arena_release) struct arena arena = {0};
    struct fill want = {0};
    const void *got = NULL;
    struct expect_job job = {.want = &want, .lock = ATOMIC_FLAG_INIT};
    if (buffer->spec->devices)
        snprintf(name, sizeof(name), "%.40s of %s %u", buffer->spec->name, ready->ranks ? "rank" : "device",
                 (unsigned)buffer->part);
    else
        snprintf(name, sizeof(name), "%.60s", buffer->spec->name);
    job.total.resolution = dtype_epsilon(buffer->dtype);
    const uint64_t seed = rng_derive(checking->worker->options->seed, buffer->spec->name);
    if (fill_init(&want, &expect->want, buffer->dtype, buffer->count, ready->slots, &ready->arrays, seed, &arena,
                  err) ||
        tolerance(&job.total.abs, expect->abs, ready->slots, err) ||
        tolerance(&job.total.rel, expect->rel, ready->slots, err) ||
        ready_read(&got, ready, at, checking->rotation, &arena, err))
        return err_within(err, "check.expect of '%s'", name);
    want.first = resolved_first(buffer);
    job.got = got;
    if (run_in_parts(ready->device, want.count, expect_part, &job, err) || comparison_refuse(&job.total, err))
        return err_within(err, "check.expect of '%s'", name);
    comparison_report(out, &job.total, name);
    return STATUS_OK;
}

/* ---- references ---- */

/* Chooses one element in each of equal parts of the output. The offsets within the parts follow the golden ratio
 * (Kronecker's lattice), whose gaps are so small that a few samples per workgroup miss no rows or tiles. The start is
 * random. */
static void choose_elements(uint64_t *index, const struct plan_reference *reference, uint64_t count, uint64_t seed)
{
    static const double golden = 0.6180339887498949;
    const double begin = rng_uniform_at(seed, 0), part = (double)count / (double)reference->samples;
    for (uint64_t k = 0; k < reference->samples; k++) {
        const uint64_t at = (uint64_t)(((double)k + fmod(begin + (double)k * golden, 1)) * part);
        index[k] = reference->every ? k : at < count ? at : count - 1;
    }
    if (!reference->every && reference->samples >= 2) { /* tiles go wrong at the corners */
        index[0] = 0;
        index[reference->samples - 1] = count - 1;
    }
}

static enum status reference_inputs(struct ready *theirs, const struct ready *ours,
                                    const struct plan_reference *reference, struct err *err)
{
    for (size_t k = 0; k < theirs->resolved->buffer_count; k++) {
        const int source = reference->source[k];
        if (source < 0)
            continue;
        const struct resolved_buffer *own = &ours->resolved->buffers[source], *other = &theirs->resolved->buffers[k];
        if (own->count != other->count || own->dtype != other->dtype)
            return err_set(err, ERR_CONFIG, "buffer '%s' has %llu x %s, the kernel's '%s' %llu x %s", other->spec->name,
                           (unsigned long long)other->count, dtype_name(other->dtype), own->spec->name,
                           (unsigned long long)own->count, dtype_name(own->dtype));
        theirs->buffers[k].fill = ours->buffers[source].fill;
        enum status status = ready_fill(theirs, k, 0, err);
        if (status)
            return status;
    }
    return STATUS_OK;
}

static enum status compare_reference(const struct checking *checking, struct ready *theirs, struct verification *out,
                                     struct err *err)
{
    const struct plan_reference *reference = checking->reference;
    const struct resolved_buffer *buffer = &checking->ready->resolved->buffers[reference->output];
    const uint64_t *index = ready_buffer(theirs, (size_t)reference->index_buffer, 0);
    const double *want = ready_buffer(theirs, (size_t)reference->result_buffer, 0);
    const size_t bytes = dtype_bytes(buffer->dtype);
    struct comparison comparison = {
        .abs = reference->abs, .rel = reference->rel, .resolution = dtype_epsilon(buffer->dtype)};
    SCOPED(arena_release) struct arena arena = {0};
    const void *data = NULL;
    if (ready_read(&data, checking->ready, (size_t)reference->output, checking->rotation, &arena, err))
        return err->status;
    for (uint64_t at = 0; at < reference->samples; at += CHUNK) {
        const size_t count = reference->samples - at < CHUNK ? (size_t)(reference->samples - at) : CHUNK;
        double got[CHUNK];
        for (size_t k = 0; k < count; k++)
            dtype_load(&got[k], buffer->dtype, (const uint8_t *)data + index[at + k] * bytes, 1);
        comparison_add(&comparison, got, want + at, index + at, 0, count);
    }
    if (comparison_refuse(&comparison, err))
        return err->status;
    comparison_report(out, &comparison, buffer->spec->name);
    return STATUS_OK;
}

static enum status check_reference(const struct checking *checking, struct verification *out, struct err *err)
{
    struct worker *worker = checking->worker;
    struct device *device = worker->reference_device;
    const struct plan_reference *reference = checking->reference;
    const char *name = reference->resolved.manifest->name;
    const struct build_result *unbuilt = unbuilt_code(&reference->resolved, checking->builds);
    struct resolved resolved; /* used by `theirs`, as is the arena, so both are declared before it */
    SCOPED(arena_release) struct arena arena = {0};
    SCOPED(ready_release) struct ready theirs = {0};
    if (unbuilt)
        return err_set(err, ERR_BUILD, "reference '%s' was not built: %s", name, unbuilt->message);
    if (plan_reference_open(&resolved, reference, &arena, err) ||
        ready_init(&theirs, device, &resolved, checking->builds, 1, worker->options->seed, err) ||
        reference_inputs(&theirs, checking->ready, reference, err) || ready_setup(&theirs, err))
        return err_within(err, "reference '%s'", name);
    uint64_t *index = ready_buffer(&theirs, (size_t)reference->index_buffer, 0);
    choose_elements(index, reference, checking->ready->resolved->buffers[reference->output].count,
                    worker->options->sample_seed);
    if (checking->asked_count)
        memcpy(index, checking->asked, checking->asked_count * sizeof(*index));
    return ready_run(&theirs, 0, EVENTS_NONE, err) || device->ops->wait(device, err) ||
                   compare_reference(checking, &theirs, out, err)
               ? err_within(err, "reference '%s'", name)
               : STATUS_OK;
}

enum status compare_outputs(const struct checking *checking, struct verification *out, struct err *err)
{
    const struct manifest_check *check = &checking->ready->resolved->manifest->check;
    enum status status = STATUS_OK;
    const struct resolved *resolved = checking->ready->resolved;
    FOR_EACH(const struct expectation, expect, check->expect, check->expect_count)
        for (uint32_t part = 0; part < resolved->buffers[expect->buffer].parts && !status; part++)
            status = check_part(checking, expect, resolved_part(resolved, (size_t)expect->buffer, part), out, err);
    if (!status && checking->reference)
        status = check_reference(checking, out, err);
    return status;
}

/* ---- launches ---- */

/* Sets `order` for steps that may depend on it, unless the options prescribe one for every launch. */
static void prepare_launches(struct ready_step *steps, size_t count, const struct run_options *options, bool poison_lds,
                             enum lane_order order)
{
    for (size_t k = 0; k < count; k++) {
        steps[k].launch.poison_lds = poison_lds;
        steps[k].launch.lane_order = options->lane_order || !steps[k].ordered ? options->lane_order : order;
        steps[k].launch.seed = options->seed;
        if (steps[k].inside)
            prepare_launches(steps[k].inside, steps[k].resolved->step_count, options, poison_lds, order);
    }
}

/* Launches for verification, then restores the settings for timing: no poisoned LDS, forward order. */
static enum status launch(const struct checking *checking, bool poison_lds, struct err *err)
{
    struct ready *ready = checking->ready;
    const struct run_options *options = checking->worker->options;
    const size_t count = ready->resolved->step_count;
    struct ready_step *steps = ready->steps + checking->rotation * count;
    prepare_launches(steps, count, options, poison_lds, checking->order);
    if (checking->page_count)
        ready->device->ops->watch(ready->device, checking->pages, checking->page_count);
    enum status status = ready_run(ready, checking->rotation, EVENTS_NONE, err);
    if (checking->page_count)
        ready->device->ops->watch(ready->device, NULL, 0);
    prepare_launches(steps, count, &(struct run_options){.seed = options->seed}, false, LANES_FORWARD);
    return status;
}

enum status launch_again(const struct checking *checking, const uint8_t *poison, struct err *err)
{
    struct ready *ready = checking->ready;
    const struct device_ops *ops = ready->device->ops;
    return (poison && ready_poison(ready, checking->rotation, *poison, err)) || ready_setup(ready, err) ||
                   ready_reset(ready, checking->rotation, err) || ops->wait(ready->device, err) ||
                   launch(checking, false, err) || ops->wait(ready->device, err)
               ? err->status
               : STATUS_OK;
}

static enum status first_launch(const struct checking *checking, struct err *err)
{
    struct ready *ready = checking->ready;
    const struct manifest_check *check = &ready->resolved->manifest->check;
    const struct run_options *options = checking->worker->options;
    const int output = checking->reference   ? checking->reference->output
                       : check->expect_count ? check->expect[0].buffer
                                             : -1;
    const struct device_ops *ops = ready->device->ops;
    if (ready_reset(ready, 0, err) || ops->wait(ready->device, err) ||
        (options->inject == INJECT_PERTURB_INPUT && perturb_input(ready, options->seed, err)) ||
        keep_inputs(checking, err) || (options->inject != INJECT_SKIP_LAUNCH && launch(checking, true, err)) ||
        ops->wait(ready->device, err))
        return err->status;
    return options->inject == INJECT_FLIP_OUTPUT && output >= 0
               ? change_element(ready, (size_t)output,
                                rng_at(options->seed, 0) % ready->resolved->buffers[output].count, err)
               : STATUS_OK;
}

/* An injected fault must be detected in the outputs alone. `last`: no launches follow. */
static enum status verify_ready(const struct checking *checking, bool last, struct err *err)
{
    struct verification *out = checking->out;
    const bool injected = checking->worker->options->inject != INJECT_NONE;
    out->launches++;
    if (first_launch(checking, err) || (!injected && check_guards(checking, "", err)) ||
        (out->verdict != VERIFY_FAIL && compare_outputs(checking, out, err)) || lockstep_verdict(checking, err))
        return err->status;
    if (injected || out->verdict == VERIFY_FAIL)
        return STATUS_OK;
    const struct ready *ready = checking->ready;
    for (size_t k = 0; k < ready->resolved->buffer_count; k++)
        if (ready->buffers[k].unguarded)
            NOTE_UNCHECKED(out, "writes outside of '%.60s', which a step allocates",
                           ready->resolved->buffers[k].spec->name);
    if (keep_outputs(checking, err) || check_relaunches(checking, false, err) ||
        (out->verdict != VERIFY_FAIL && check_untimed(checking, err)) ||
        (last && out->verdict != VERIFY_FAIL && check_surroundings(checking, "", err)))
        return err->status;
    return last && out->verdict != VERIFY_FAIL ? check_other_inputs(checking, err) : STATUS_OK;
}

/* ---- the case ---- */

static struct checking checking_of(struct worker *worker, struct ready *ready, const struct plan_case *plan_case,
                                   const struct build_result *builds, struct verification *out)
{
    return (struct checking){.worker = worker,
                             .ready = ready,
                             .reference = plan_case->variant ? plan_case->spot : plan_case->reference,
                             .builds = builds,
                             .out = out};
}

enum status verify_case(struct worker *worker, struct ready *ready, const struct plan_case *plan_case,
                        const struct build_result *builds, struct verification *out, struct err *err)
{
    const struct checking checking = checking_of(worker, ready, plan_case, builds, out);
    snprintf(out->method, sizeof(out->method), "%s",
             plan_case->verify == VERIFY_NONE ? "" : verify_method_names[plan_case->verify]);
    if (!worker->device->ops->executes || plan_case->verify == VERIFY_NONE) {
        out->verdict = VERIFY_SKIPPED;
        snprintf(out->reason, sizeof(out->reason), "%s",
                 worker->device->ops->executes ? "the manifest has nothing to check" : "sim executes nothing");
        return STATUS_OK;
    }
    if (checking.reference && !checking.reference->every) {
        const double groups = launch_workgroups(&plan_case->resolved), places = (double)checking.reference->samples;
        out->sample_seed = worker->options->sample_seed;
        if (places < groups)
            NOTE_UNCHECKED(out, "values in %.0f places, for %.0f workgroups", places, groups);
    }
    enum status status = STATUS_OK;
    if (plan_case->verify == VERIFY_VARIANT) { /* the same code at check.params, every element */
        struct ready small = {0};
        const struct checking all = {
            .worker = worker, .ready = &small, .reference = plan_case->reference, .builds = builds, .out = out};
        if (ready_init(&small, worker->device, plan_case->variant, builds, 1, worker->options->seed, err) ||
            ready_setup(&small, err) || verify_ready(&all, true, err))
            status = err_within(err, "at check.params");
        ready_release(&small);
        if (!plan_case->spot)
            NOTE_UNCHECKED(out, "values only at check.params: %s", plan_case->spot_why);
    }
    return status || out->verdict == VERIFY_FAIL ? status : verify_ready(&checking, worker->options->verify_only, err);
}

enum status verify_again(struct worker *worker, struct ready *ready, const struct plan_case *plan_case,
                         const struct build_result *builds, struct verification *out, struct err *err)
{
    struct checking checking = checking_of(worker, ready, plan_case, builds, out);
    if (out->verdict != VERIFY_PASS)
        return STATUS_OK;
    enum status status = check_surroundings(&checking, "after the samples: ", err);
    if (!status && out->verdict != VERIFY_FAIL)
        status = check_left(&checking, err); /* every sampling method launches on the first buffers */
    if (!status)
        status = lockstep_verdict(&checking, err);
    checking.rotation = ready->rotations - 1;
    if (!status && out->verdict != VERIFY_FAIL)
        status = check_relaunches(&checking, true, err);
    if (!status && out->verdict != VERIFY_FAIL)
        status = check_other_inputs(&checking, err);
    out->wrong_below = 1 - pow(MISSED, 1 / (double)out->launches);
    return status;
}
