/* SPDX-License-Identifier: MIT */

#include "plan_internal.h"

/* HIP and CUDA count workgroups in x with 31 bits; nothing measured here needs more in y or z. */
#define MAX_GRID INT32_MAX

static const char axis_names[] = "xyz";

/* Returns the JSON object of a launch, which in the short form is the step itself. */
static const cJSON *inside(const struct manifest_step *step, const char *key)
{
    const cJSON *member = json_member(step->at, key);
    return member ? member : step->at;
}

/* Returns where the manifest states the expression; a missing one belongs to this value. */
static const cJSON *at_or(const struct expr *expr, const cJSON *without)
{
    return expr ? expr_at(expr) : without;
}

static enum status resolve_value(struct resolved_arg *arg, const struct resolve *resolve,
                                 const struct manifest_arg *spec)
{
    enum dtype dtype = DTYPE_NONE;
    double value = 0;
    if (resolve_dtype(&dtype, resolve, spec->type) || resolve_number(&value, resolve, spec->value, 0))
        return resolve->err->status;
    bool fits = dtype_is_float(dtype) ? fabs(value) <= dtype_max(dtype) : fabs(value) <= RESOLVE_MAX_SIZE;
    if (fits && !dtype_is_float(dtype))
        fits = value == floor(value);
    if (fits)
        dtype_store(arg->value, dtype, &value, 1, &fits);
    if (!fits)
        return resolve_fail(resolve, expr_at(spec->value), "'%s' is %.15g, which no %s holds", expr_source(spec->value),
                            value, dtype_name(dtype));
    arg->size_bytes = (uint32_t)dtype_bytes(dtype);
    return STATUS_OK;
}

/* ---- structs passed by value: laid out as in C ---- */

struct layout {
    struct text *bytes;
    struct arena *arena;
    struct resolved_struct made;
};

static enum status resolve_arg(struct resolved_arg *arg, const struct resolve *resolve, const struct manifest_arg *spec,
                               bool takes_parts);

/* Aligns a member to its size, or to its own alignment if it is a struct. */
static void align(struct layout *layout, uint32_t alignment)
{
    layout->made.alignment = alignment > layout->made.alignment ? alignment : layout->made.alignment;
    while (layout->bytes->length % alignment)
        text_addn(layout->bytes, "", 1);
}

static void add_pointer(struct layout *layout, size_t at, int buffer, uint64_t offset)
{
    ARENA_PUSH(layout->arena, layout->made.pointers, layout->made.pointer_count,
               (struct resolved_pointer){(uint32_t)at, buffer, offset});
}

static void add_member(struct layout *layout, const struct resolved_arg *arg)
{
    static const char zeros[sizeof(void *)];
    const struct resolved_struct *inner = arg->spec->member_count ? arg->by_value : NULL;
    align(layout, inner ? inner->alignment : arg->size_bytes);
    const size_t at = layout->bytes->length;
    if (arg->buffer >= 0)
        add_pointer(layout, at, arg->buffer, arg->offset);
    for (size_t k = 0; inner && k < inner->pointer_count; k++)
        add_pointer(layout, at + inner->pointers[k].at, inner->pointers[k].buffer, inner->pointers[k].offset);
    text_addn(layout->bytes,
              inner              ? (const char *)inner->bytes
              : arg->buffer >= 0 ? zeros
                                 : (const char *)arg->value,
              arg->size_bytes);
}

static enum status resolve_struct(struct resolved_arg *arg, const struct resolve *resolve,
                                  const struct manifest_arg *spec)
{
    SCOPED(text_release) struct text bytes = {0};
    struct layout layout = {.bytes = &bytes, .arena = resolve->arena, .made.alignment = 1};
    FOR_EACH(const struct manifest_arg, member, spec->members, spec->member_count) {
        struct resolved_arg one = {0};
        uint64_t repeat = 1;
        if (resolve_size(&repeat, resolve, member->repeat, 1) || resolve_arg(&one, resolve, member, false))
            return resolve->err->status;
        if (repeat > MANIFEST_MAX_STRUCT || bytes.length + repeat * one.size_bytes > MANIFEST_MAX_STRUCT)
            return resolve_fail(resolve, at_or(member->repeat, member->at), "a struct by value of more than %d bytes",
                                MANIFEST_MAX_STRUCT);
        for (uint64_t n = 0; n < repeat; n++)
            add_member(&layout, &one);
    }
    align(&layout, layout.made.alignment);
    arg->size_bytes = (uint32_t)bytes.length;
    layout.made.bytes = arena_copy(resolve->arena, bytes.data, bytes.length);
    arg->by_value = arena_copy(resolve->arena, &layout.made, sizeof(layout.made));
    return STATUS_OK;
}

/* Replaces the buffer, which `at` names, by its part on the device that `device` names. */
static enum status resolve_part(int *buffer, const struct resolve *resolve, const struct expr *device, const cJSON *at)
{
    const struct resolved_buffer *of = &resolve->resolved->buffers[*buffer];
    uint64_t part = 0;
    if (!device && of->spec->devices)
        return resolve_fail(resolve, at, "buffer '%s' has parts on several devices: whose is meant?", of->spec->name);
    if (resolve_size(&part, resolve, device, 0))
        return resolve->err->status;
    if (device && !of->spec->devices)
        return resolve_fail(resolve, expr_at(device), "buffer '%s' has no parts on several devices", of->spec->name);
    if (part >= of->parts)
        return resolve_fail(resolve, at_or(device, at), "device %.15g has no part of buffer '%s', which is on %u",
                            (double)part, of->spec->name, (unsigned)of->parts);
    *buffer = (int)resolved_part(resolve->resolved, (size_t)*buffer, (uint32_t)part);
    return STATUS_OK;
}

/* For a library function, passes the addresses of all parts of a buffer. */
static enum status resolve_arg(struct resolved_arg *arg, const struct resolve *resolve, const struct manifest_arg *spec,
                               bool takes_parts)
{
    arg->spec = spec;
    arg->buffer = spec->buffer;
    if (spec->member_count)
        return resolve_struct(arg, resolve, spec);
    if (spec->null) {
        arg->size_bytes = sizeof(void *);
        return STATUS_OK;
    }
    if (spec->buffer < 0)
        return resolve_value(arg, resolve, spec);
    if (resolve_size(&arg->offset, resolve, spec->offset, 0) ||
        ((spec->device || !takes_parts) && resolve_part(&arg->buffer, resolve, spec->device, spec->at)))
        return resolve->err->status;
    const struct resolved_buffer *buffer = &resolve->resolved->buffers[spec->buffer];
    if (arg->offset >= buffer->size_bytes)
        return resolve_fail(resolve, at_or(spec->offset, spec->at),
                            "offset %.15g is outside buffer '%s' of %.15g bytes", (double)arg->offset,
                            buffer->spec->name, (double)buffer->size_bytes);
    if (resolve->device->lacks_kernel_spaces & 1u << buffer->space)
        return err_set(resolve->err, ERR_UNSUPPORTED, "the device has no way for kernels into %s memory",
                       buffer_space_names[buffer->space]);
    arg->size_bytes = sizeof(void *);
    return STATUS_OK;
}

/* Each dimension is at least 1. *product, the product of all three, is a double because it may exceed 64 bits. */
static enum status resolve_dimensions(uint32_t out[3], double *product, const struct resolve *resolve,
                                      const struct expr *const exprs[3], const char *key)
{
    *product = 1;
    for (int axis = 0; axis < 3; axis++) {
        uint64_t value = 1;
        if (resolve_size(&value, resolve, exprs[axis], 1))
            return resolve->err->status;
        if (value == 0)
            return resolve_fail(resolve, expr_at(exprs[axis]), "%s.%c '%s' is 0", key, axis_names[axis],
                                expr_source(exprs[axis]));
        if (value > MAX_GRID)
            return resolve_fail(resolve, expr_at(exprs[axis]), "%s.%c '%s' is %.15g, more than %d", key,
                                axis_names[axis], expr_source(exprs[axis]), (double)value, MAX_GRID);
        out[axis] = (uint32_t)value;
        *product *= (double)value;
    }
    return STATUS_OK;
}

static enum status resolve_lds(uint32_t *lds_bytes, const struct resolve *resolve, const struct expr *shared)
{
    uint64_t size = 0;
    if (resolve_size(&size, resolve, shared, 0))
        return resolve->err->status;
    if (size > UINT32_MAX)
        return resolve_fail(resolve, expr_at(shared), "%.4g bytes of LDS", (double)size);
    if (resolve->device->lds_bytes > 0 && (double)size > resolve->device->lds_bytes)
        return err_set(resolve->err, ERR_UNSUPPORTED, "it takes %u bytes of LDS, the device has %.0f per workgroup",
                       (unsigned)size, resolve->device->lds_bytes);
    *lds_bytes = (uint32_t)size;
    return STATUS_OK;
}

static enum status resolve_args(struct resolved_launch *launch, const struct resolve *resolve,
                                const struct manifest_launch *spec)
{
    uint64_t repeats[MANIFEST_MAX_ARGS];
    size_t total = 0, at = 0;
    for (size_t k = 0; k < spec->arg_count; k++) {
        if (resolve_size(&repeats[k], resolve, spec->args[k].repeat, 1))
            return resolve->err->status;
        if (repeats[k] > MANIFEST_MAX_ARGS || total + repeats[k] > MANIFEST_MAX_ARGS)
            return resolve_fail(resolve, at_or(spec->args[k].repeat, spec->args[k].at),
                                "more than the %d arguments that a launch can have", MANIFEST_MAX_ARGS);
        total += (size_t)repeats[k];
    }
    struct resolved_arg *args = arena_array(resolve->arena, total, sizeof(*args));
    for (size_t k = 0; k < spec->arg_count; k++)
        for (uint64_t n = 0; n < repeats[k]; n++)
            if (resolve_arg(&args[at++], resolve, &spec->args[k], spec->library))
                return resolve->err->status;
    launch->args = args;
    launch->arg_count = total;
    return STATUS_OK;
}

static enum status resolve_launch(struct resolved_launch *launch, const struct resolve *resolve,
                                  const struct manifest_launch *spec, const cJSON *at)
{
    double groups = 0, items = 0;
    char *symbol = NULL;
    if (resolve_dimensions(launch->grid, &groups, resolve, spec->grid, "grid") ||
        resolve_dimensions(launch->block, &items, resolve, spec->block, "block"))
        return resolve->err->status;
    if (resolve->device->max_block > 0 && items > resolve->device->max_block)
        return resolve_fail(resolve, json_member(at, "block"), "a workgroup of %.15g items, the device takes %.0f",
                            items, resolve->device->max_block);
    if (resolve_lds(&launch->lds_bytes, resolve, spec->shared) || resolve_text(&symbol, resolve, spec->symbol))
        return resolve->err->status;
    launch->spec = spec;
    launch->symbol = symbol;
    return resolve_args(launch, resolve, spec);
}

static enum status resolve_move(struct resolved_step *step, const struct resolve *resolve,
                                const struct manifest_step *spec)
{
    const bool copies = spec->kind == STEP_COPY;
    const cJSON *at = inside(spec, copies ? "copy" : "fill");
    const struct resolved_buffer *buffers = resolve->resolved->buffers;
    step->to = spec->to;
    step->from = copies ? spec->from : spec->to;
    step->byte = spec->byte;
    if (resolve_part(&step->to, resolve, spec->to_device, at) ||
        resolve_size(&step->to_offset, resolve, spec->to_offset, 0) ||
        (copies && resolve_part(&step->from, resolve, spec->from_device, at)) ||
        resolve_size(&step->from_offset, resolve, spec->from_offset, 0) ||
        resolve_size(&step->bytes, resolve, spec->bytes, buffers[step->to].size_bytes))
        return resolve->err->status;
    for (int end = 0; end < 2; end++) {
        const struct resolved_buffer *buffer = &buffers[end ? step->to : step->from];
        const uint64_t offset = end ? step->to_offset : step->from_offset;
        if (step->bytes > buffer->size_bytes || offset > buffer->size_bytes - step->bytes)
            return resolve_fail(resolve, at_or(spec->bytes, at), "%.15g bytes%s, but buffer '%s' has %.15g",
                                (double)step->bytes, offset ? " behind an offset" : "", buffer->spec->name,
                                (double)buffer->size_bytes);
    }
    return STATUS_OK;
}

static enum status resolve_step(struct resolved_step *step, const struct resolve *resolve,
                                const struct manifest_step *spec)
{
    step->kind = spec->kind;
    step->timed = spec->timed;
    uint64_t stream = 0;
    if (resolve_size(&stream, resolve, spec->stream, 0))
        return resolve->err->status;
    if (stream >= MANIFEST_MAX_STREAMS)
        return resolve_fail(resolve, expr_at(spec->stream), "stream %.15g: streams go from 0 to %d", (double)stream,
                            MANIFEST_MAX_STREAMS - 1);
    step->stream = (uint32_t)stream;
    switch (spec->kind) {
    case STEP_LAUNCH:
        return resolve_launch(&step->launch, resolve, &spec->launch, inside(spec, "launch"));
    case STEP_COPY:
    case STEP_FILL:
        return resolve_move(step, resolve, spec);
    case STEP_RECORD:
    case STEP_WAIT:
        step->event = spec->event;
        return STATUS_OK;
    case STEP_ALLOC:
        step->to = spec->to;
        return STATUS_OK;
    case STEP_GRAPH:
    case STEP_LOOP:
        return resolve_steps(&step->steps, &step->step_count, resolve, spec->steps, spec->step_count);
    case STEP_SYNC:
    case STEP_LOAD:
        return STATUS_OK;
    }
    return STATUS_OK;
}

/* ---- lists of steps: each round of an index becomes a step ---- */

struct step_list {
    struct resolved_step *items;
    size_t count, room;
};

/* Allocates room for all of the manifest's steps at once: a plan with 100,000 cases has few steps in each. */
static void push(struct step_list *list, const struct resolve *resolve, const struct resolved_step *step)
{
    if (list->count == list->room) {
        list->room *= 2;
        struct resolved_step *more = arena_array(resolve->arena, list->room, sizeof(*more));
        memcpy(more, list->items, list->count * sizeof(*more));
        list->items = more;
    }
    list->items[list->count++] = *step;
}

static enum status add_steps(struct step_list *list, const struct resolve *resolve, const struct manifest_step *source,
                             size_t count, const bool *timed);

/* Unrolls the steps of a loop round by round; they are timed if the loop is. */
static enum status add_rounds(struct step_list *list, const struct resolve *resolve, const struct manifest_step *spec,
                              uint64_t rounds)
{
    double *index = &resolve->slots[manifest_index_slot(resolve->manifest, spec->index)];
    enum status status = STATUS_OK;
    for (uint64_t n = 0; n < rounds && !status; n++) {
        *index = (double)n;
        if (spec->kind == STEP_LOOP) {
            status = add_steps(list, resolve, spec->steps, spec->step_count, &spec->timed);
            continue;
        }
        struct resolved_step step = {.repeat = 1};
        status = resolve_step(&step, resolve, spec);
        push(list, resolve, &step);
        if (!status && ++*resolve->rounds > MANIFEST_MAX_STEPS)
            status = resolve_fail(resolve, at_or(spec->repeat, spec->at),
                                  "more than %d steps, each round of an index counted", MANIFEST_MAX_STEPS);
    }
    return status;
}

static enum status add_step(struct step_list *list, const struct resolve *resolve, const struct manifest_step *spec)
{
    struct resolved_step step = {.repeat = 1};
    enum status status = resolve_size(&step.repeat, resolve, spec->repeat, 1);
    if (status || step.repeat == 0) /* these values disable the step; its grid may be 0 as well */
        return status;
    if (step.repeat > UINT32_MAX)
        return resolve_fail(resolve, expr_at(spec->repeat), "a step that repeats %.15g times", (double)step.repeat);
    if (spec->index >= 0)
        return add_rounds(list, resolve, spec, step.repeat);
    status = resolve_step(&step, resolve, spec);
    push(list, resolve, &step);
    return status;
}

static enum status add_steps(struct step_list *list, const struct resolve *resolve, const struct manifest_step *source,
                             size_t count, const bool *timed)
{
    const size_t first = list->count;
    enum status status = STATUS_OK;
    for (size_t k = 0; k < count && !status; k++)
        status = add_step(list, resolve, &source[k]);
    for (size_t k = first; timed && k < list->count; k++)
        list->items[k].timed = *timed;
    return status;
}

enum status resolve_steps(struct resolved_step **steps, size_t *count, const struct resolve *resolve,
                          const struct manifest_step *source, size_t source_count)
{
    struct step_list list = {.room = source_count};
    if (source_count)
        list.items = arena_array(resolve->arena, list.room, sizeof(*list.items));
    const enum status status = add_steps(&list, resolve, source, source_count, NULL);
    *steps = list.items;
    *count = list.count;
    return status;
}
