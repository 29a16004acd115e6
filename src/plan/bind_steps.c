/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "bind_internal.h"

/* HIP and CUDA count workgroups with 31 bits in x; nothing we measure needs more in y or z. */
#define MAX_GRID INT32_MAX

static const char axis_names[] = "xyz";

/* The object that holds a launch: the step itself where the manifest has the short form. */
static const struct json *inside(const struct manifest_step *step, const char *key)
{
    const struct json *member = json_member(step->at, key);
    return member ? member : step->at;
}

static enum status bind_value(struct bound_arg *arg, const struct bind *bind, const struct manifest_arg *spec)
{
    const struct place place = {spec->at, "value", -1};
    enum dtype dtype = DTYPE_NONE;
    double value = 0;
    enum status status = bind_dtype(&dtype, bind, spec->type, &(struct place){spec->at, "type", -1});
    if (!status)
        status = bind_number(&value, bind, spec->value, 0, &place);
    if (status)
        return status;
    bool fits = dtype_is_float(dtype) ? fabs(value) <= dtype_max(dtype) : fabs(value) <= BIND_MAX_SIZE;
    if (fits && !dtype_is_float(dtype))
        fits = value == floor(value);
    if (fits)
        dtype_store(arg->value, dtype, &value, 1, &fits);
    if (!fits)
        return bind_fail(bind, &place, "'%s' is %.15g, which no %s holds", expr_source(spec->value), value,
                         dtype_name(dtype));
    arg->size_bytes = (uint32_t)dtype_bytes(dtype);
    return STATUS_OK;
}

static enum status bind_arg(struct bound_arg *arg, const struct bind *bind, const struct manifest_arg *spec)
{
    arg->spec = spec;
    arg->buffer = spec->buffer;
    if (spec->buffer < 0)
        return bind_value(arg, bind, spec);
    const struct place place = {spec->at, "offset", -1};
    enum status status = bind_size(&arg->offset, bind, spec->offset, 0, &place);
    if (status)
        return status;
    const struct bound_buffer *buffer = &bind->bound->buffers[spec->buffer];
    if (arg->offset >= buffer->size_bytes)
        return bind_fail(bind, &place, "offset %.15g is outside buffer '%s' of %.15g bytes", (double)arg->offset,
                         buffer->spec->name, (double)buffer->size_bytes);
    if (bind->device->lacks_kernel_spaces & 1u << buffer->space)
        return err_set(bind->err, ERR_UNSUPPORTED, "the device has no way for kernels into %s memory",
                       buffer_space_names[buffer->space]);
    arg->size_bytes = sizeof(void *);
    return STATUS_OK;
}

/* Each dimension at least 1; *product is of all three, a double because it may exceed 64 bits. */
static enum status bind_dimensions(uint32_t out[3], double *product, const struct bind *bind,
                                   const struct expr *const exprs[3], const struct json *at, const char *key)
{
    *product = 1;
    for (int axis = 0; axis < 3; axis++) {
        const struct place place = {at, key, axis};
        uint64_t value = 1;
        enum status status = bind_size(&value, bind, exprs[axis], 1, &place);
        if (status)
            return status;
        if (value == 0)
            return bind_fail(bind, &place, "%s.%c '%s' is 0", key, axis_names[axis], expr_source(exprs[axis]));
        if (value > MAX_GRID)
            return bind_fail(bind, &place, "%s.%c '%s' is %.15g, more than %d", key, axis_names[axis],
                             expr_source(exprs[axis]), (double)value, MAX_GRID);
        out[axis] = (uint32_t)value;
        *product *= (double)value;
    }
    return STATUS_OK;
}

static enum status bind_lds(uint32_t *lds_bytes, const struct bind *bind, const struct expr *shared,
                            const struct json *at)
{
    const struct place place = {at, "shared", -1};
    uint64_t size = 0;
    enum status status = bind_size(&size, bind, shared, 0, &place);
    if (status)
        return status;
    if (size > UINT32_MAX)
        return bind_fail(bind, &place, "%.4g bytes of LDS", (double)size);
    if (bind->device->lds_bytes > 0 && (double)size > bind->device->lds_bytes)
        return err_set(bind->err, ERR_UNSUPPORTED, "it takes %u bytes of LDS, the device has %.0f per workgroup",
                       (unsigned)size, bind->device->lds_bytes);
    *lds_bytes = (uint32_t)size;
    return STATUS_OK;
}

/* How often each argument is passed, and how many that are. */
static enum status count_args(uint64_t repeats[static MANIFEST_MAX_ARGS], size_t *total, const struct bind *bind,
                              const struct manifest_launch *spec)
{
    *total = 0;
    for (size_t k = 0; k < spec->arg_count; k++) {
        const struct place place = {spec->args[k].at, "repeat", -1};
        enum status status = bind_size(&repeats[k], bind, spec->args[k].repeat, 1, &place);
        if (status)
            return status;
        if (repeats[k] > MANIFEST_MAX_ARGS || *total + repeats[k] > MANIFEST_MAX_ARGS)
            return bind_fail(bind, &place, "more than the %d arguments that a launch can have", MANIFEST_MAX_ARGS);
        *total += (size_t)repeats[k];
    }
    return STATUS_OK;
}

static enum status bind_args(struct bound_launch *launch, const struct bind *bind, const struct manifest_launch *spec)
{
    uint64_t repeats[MANIFEST_MAX_ARGS];
    size_t total = 0, at = 0;
    enum status status = count_args(repeats, &total, bind, spec);
    if (status)
        return status;
    struct bound_arg *args = arena_array(bind->arena, total, sizeof(*args));
    for (size_t k = 0; k < spec->arg_count; k++)
        for (uint64_t n = 0; n < repeats[k]; n++) {
            status = bind_arg(&args[at++], bind, &spec->args[k]);
            if (status)
                return status;
        }
    launch->args = args;
    launch->arg_count = total;
    return STATUS_OK;
}

static enum status bind_launch(struct bound_launch *launch, const struct bind *bind, const struct manifest_launch *spec,
                               const struct json *at)
{
    double groups = 0, items = 0;
    char *symbol = NULL;
    enum status status = bind_dimensions(launch->grid, &groups, bind, spec->grid, at, "grid");
    if (!status)
        status = bind_dimensions(launch->block, &items, bind, spec->block, at, "block");
    if (!status && bind->device->max_block > 0 && items > bind->device->max_block)
        status = bind_fail(bind, &(struct place){at, "block", -1}, "a workgroup of %.15g items, the device takes %.0f",
                           items, bind->device->max_block);
    if (!status)
        status = bind_lds(&launch->lds_bytes, bind, spec->shared, at);
    if (!status)
        status = bind_text(&symbol, bind, spec->symbol, &(struct place){at, "symbol", -1});
    if (status)
        return status;
    launch->spec = spec;
    launch->symbol = symbol;
    return bind_args(launch, bind, spec);
}

static enum status bind_move(struct bound_step *step, const struct bind *bind, const struct manifest_step *spec)
{
    const bool copies = spec->kind == STEP_COPY;
    const struct place place = {inside(spec, copies ? "copy" : "fill"), "bytes", -1};
    const struct bound_buffer *to = &bind->bound->buffers[spec->to];
    const struct bound_buffer *from = copies ? &bind->bound->buffers[spec->from] : to;
    enum status status = bind_size(&step->bytes, bind, spec->bytes, to->size_bytes, &place);
    if (status)
        return status;
    const struct bound_buffer *small = from->size_bytes < to->size_bytes ? from : to;
    if (step->bytes > small->size_bytes)
        return bind_fail(bind, &place, "%.15g bytes, but buffer '%s' has %.15g", (double)step->bytes, small->spec->name,
                         (double)small->size_bytes);
    step->to = spec->to;
    step->from = spec->from;
    step->byte = spec->byte;
    return STATUS_OK;
}

static enum status bind_step(struct bound_step *step, const struct bind *bind, const struct manifest_step *spec)
{
    step->kind = spec->kind;
    step->stream = spec->stream;
    step->timed = spec->timed;
    switch (spec->kind) {
    case STEP_LAUNCH:
        return bind_launch(&step->launch, bind, &spec->launch, inside(spec, "launch"));
    case STEP_COPY:
    case STEP_FILL:
        return bind_move(step, bind, spec);
    case STEP_RECORD:
    case STEP_WAIT:
        step->mark = spec->mark;
        return STATUS_OK;
    case STEP_ALLOC:
        step->to = spec->to;
        return STATUS_OK;
    case STEP_GRAPH:
    case STEP_LOOP:
        return bind_steps(&step->steps, &step->step_count, bind, spec->steps, spec->step_count);
    case STEP_SYNC:
    case STEP_LOAD:
        return STATUS_OK;
    }
    return STATUS_OK;
}

enum status bind_steps(struct bound_step **steps, size_t *count, const struct bind *bind,
                       const struct manifest_step *source, size_t source_count)
{
    struct bound_step *bound = arena_array(bind->arena, source_count, sizeof(*bound));
    size_t used = 0;
    for (size_t k = 0; k < source_count; k++) {
        const struct json *at = source[k].kind == STEP_GRAPH  ? inside(&source[k], "graph")
                                : source[k].kind == STEP_LOOP ? inside(&source[k], "loop")
                                                              : source[k].at;
        uint64_t repeat = 1;
        enum status status = bind_size(&repeat, bind, source[k].repeat, 1, &(struct place){at, "repeat", -1});
        if (status)
            return status;
        if (repeat == 0) /* a step that these values switch off: its grid may be 0 as well */
            continue;
        if (repeat > UINT32_MAX)
            return bind_fail(bind, &(struct place){at, "repeat", -1}, "a step that repeats %.15g times",
                             (double)repeat);
        bound[used].repeat = repeat;
        status = bind_step(&bound[used++], bind, &source[k]);
        if (status)
            return status;
    }
    *steps = bound;
    *count = used;
    return STATUS_OK;
}
