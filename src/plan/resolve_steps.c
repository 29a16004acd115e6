/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "plan_internal.h"

/* HIP and CUDA count workgroups with 31 bits in x; nothing we measure needs more in y or z. */
#define MAX_GRID INT32_MAX

static const char axis_names[] = "xyz";

/* The object that holds a launch: the step itself where the manifest has the short form. */
static const cJSON *inside(const struct manifest_step *step, const char *key)
{
    const cJSON *member = json_member(step->at, key);
    return member ? member : step->at;
}

static enum status resolve_value(struct resolved_arg *arg, const struct resolve *resolve,
                                 const struct manifest_arg *spec)
{
    const struct place place = {spec->at, "value", -1};
    enum dtype dtype = DTYPE_NONE;
    double value = 0;
    enum status status = resolve_dtype(&dtype, resolve, spec->type, &(struct place){spec->at, "type", -1});
    if (!status)
        status = resolve_number(&value, resolve, spec->value, 0, &place);
    if (status)
        return status;
    bool fits = dtype_is_float(dtype) ? fabs(value) <= dtype_max(dtype) : fabs(value) <= RESOLVE_MAX_SIZE;
    if (fits && !dtype_is_float(dtype))
        fits = value == floor(value);
    if (fits)
        dtype_store(arg->value, dtype, &value, 1, &fits);
    if (!fits)
        return resolve_fail(resolve, &place, "'%s' is %.15g, which no %s holds", expr_source(spec->value), value,
                            dtype_name(dtype));
    arg->size_bytes = (uint32_t)dtype_bytes(dtype);
    return STATUS_OK;
}

/* ---- structs by value: laid out as in C ---- */

struct layout {
    const struct resolve *resolve;
    struct text bytes;
    struct resolved_struct made;
};

static enum status resolve_arg(struct resolved_arg *arg, const struct resolve *resolve,
                               const struct manifest_arg *spec);

/* Each member stands on a multiple of its alignment: of its size, unless it is a struct itself. */
static void align(struct layout *layout, uint32_t alignment)
{
    layout->made.alignment = alignment > layout->made.alignment ? alignment : layout->made.alignment;
    while (layout->bytes.length % alignment)
        text_addn(&layout->bytes, "", 1);
}

static void add_pointer(struct layout *layout, size_t at, int buffer, uint64_t offset)
{
    ARENA_PUSH(layout->resolve->arena, layout->made.pointers, layout->made.pointer_count,
               (struct resolved_pointer){(uint32_t)at, buffer, offset});
}

static void add_member(struct layout *layout, const struct resolved_arg *arg)
{
    static const char zeros[sizeof(void *)];
    const struct resolved_struct *inner = arg->spec->member_count ? arg->by_value : NULL;
    align(layout, inner ? inner->alignment : arg->size_bytes);
    const size_t at = layout->bytes.length;
    if (arg->buffer >= 0)
        add_pointer(layout, at, arg->buffer, arg->offset);
    for (size_t k = 0; inner && k < inner->pointer_count; k++)
        add_pointer(layout, at + inner->pointers[k].at, inner->pointers[k].buffer, inner->pointers[k].offset);
    text_addn(&layout->bytes,
              inner              ? (const char *)inner->bytes
              : arg->buffer >= 0 ? zeros
                                 : (const char *)arg->value,
              arg->size_bytes);
}

static enum status add_members(struct layout *layout, const struct manifest_arg *spec)
{
    for (size_t k = 0; k < spec->member_count; k++) {
        const struct place place = {spec->members[k].at, "repeat", -1};
        struct resolved_arg arg = {0};
        uint64_t repeat = 1;
        enum status status = resolve_size(&repeat, layout->resolve, spec->members[k].repeat, 1, &place);
        if (!status)
            status = resolve_arg(&arg, layout->resolve, &spec->members[k]);
        if (status)
            return status;
        if (repeat > MANIFEST_MAX_STRUCT || layout->bytes.length + repeat * arg.size_bytes > MANIFEST_MAX_STRUCT)
            return resolve_fail(layout->resolve, &place, "a struct by value of more than %d bytes",
                                MANIFEST_MAX_STRUCT);
        for (uint64_t n = 0; n < repeat; n++)
            add_member(layout, &arg);
    }
    align(layout, layout->made.alignment);
    return STATUS_OK;
}

static enum status resolve_struct(struct resolved_arg *arg, const struct resolve *resolve,
                                  const struct manifest_arg *spec)
{
    struct layout layout = {.resolve = resolve, .made.alignment = 1};
    const enum status status = add_members(&layout, spec);
    if (!status) {
        arg->size_bytes = (uint32_t)layout.bytes.length;
        layout.made.bytes = arena_copy(resolve->arena, layout.bytes.data, layout.bytes.length);
        arg->by_value = arena_copy(resolve->arena, &layout.made, sizeof(layout.made));
    }
    text_release(&layout.bytes);
    return status;
}

static enum status resolve_arg(struct resolved_arg *arg, const struct resolve *resolve, const struct manifest_arg *spec)
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
    const struct place place = {spec->at, "offset", -1};
    enum status status = resolve_size(&arg->offset, resolve, spec->offset, 0, &place);
    if (status)
        return status;
    const struct resolved_buffer *buffer = &resolve->resolved->buffers[spec->buffer];
    if (arg->offset >= buffer->size_bytes)
        return resolve_fail(resolve, &place, "offset %.15g is outside buffer '%s' of %.15g bytes", (double)arg->offset,
                            buffer->spec->name, (double)buffer->size_bytes);
    if (resolve->device->lacks_kernel_spaces & 1u << buffer->space)
        return err_set(resolve->err, ERR_UNSUPPORTED, "the device has no way for kernels into %s memory",
                       buffer_space_names[buffer->space]);
    arg->size_bytes = sizeof(void *);
    return STATUS_OK;
}

/* Each dimension at least 1; *product is of all three, a double because it may exceed 64 bits. */
static enum status resolve_dimensions(uint32_t out[3], double *product, const struct resolve *resolve,
                                      const struct expr *const exprs[3], const cJSON *at, const char *key)
{
    *product = 1;
    for (int axis = 0; axis < 3; axis++) {
        const struct place place = {at, key, axis};
        uint64_t value = 1;
        enum status status = resolve_size(&value, resolve, exprs[axis], 1, &place);
        if (status)
            return status;
        if (value == 0)
            return resolve_fail(resolve, &place, "%s.%c '%s' is 0", key, axis_names[axis], expr_source(exprs[axis]));
        if (value > MAX_GRID)
            return resolve_fail(resolve, &place, "%s.%c '%s' is %.15g, more than %d", key, axis_names[axis],
                                expr_source(exprs[axis]), (double)value, MAX_GRID);
        out[axis] = (uint32_t)value;
        *product *= (double)value;
    }
    return STATUS_OK;
}

static enum status resolve_lds(uint32_t *lds_bytes, const struct resolve *resolve, const struct expr *shared,
                               const cJSON *at)
{
    const struct place place = {at, "shared", -1};
    uint64_t size = 0;
    enum status status = resolve_size(&size, resolve, shared, 0, &place);
    if (status)
        return status;
    if (size > UINT32_MAX)
        return resolve_fail(resolve, &place, "%.4g bytes of LDS", (double)size);
    if (resolve->device->lds_bytes > 0 && (double)size > resolve->device->lds_bytes)
        return err_set(resolve->err, ERR_UNSUPPORTED, "it takes %u bytes of LDS, the device has %.0f per workgroup",
                       (unsigned)size, resolve->device->lds_bytes);
    *lds_bytes = (uint32_t)size;
    return STATUS_OK;
}

/* How often each argument is passed, and how many that are. */
static enum status count_args(uint64_t repeats[static MANIFEST_MAX_ARGS], size_t *total, const struct resolve *resolve,
                              const struct manifest_launch *spec)
{
    *total = 0;
    for (size_t k = 0; k < spec->arg_count; k++) {
        const struct place place = {spec->args[k].at, "repeat", -1};
        enum status status = resolve_size(&repeats[k], resolve, spec->args[k].repeat, 1, &place);
        if (status)
            return status;
        if (repeats[k] > MANIFEST_MAX_ARGS || *total + repeats[k] > MANIFEST_MAX_ARGS)
            return resolve_fail(resolve, &place, "more than the %d arguments that a launch can have",
                                MANIFEST_MAX_ARGS);
        *total += (size_t)repeats[k];
    }
    return STATUS_OK;
}

static enum status resolve_args(struct resolved_launch *launch, const struct resolve *resolve,
                                const struct manifest_launch *spec)
{
    uint64_t repeats[MANIFEST_MAX_ARGS];
    size_t total = 0, at = 0;
    enum status status = count_args(repeats, &total, resolve, spec);
    if (status)
        return status;
    struct resolved_arg *args = arena_array(resolve->arena, total, sizeof(*args));
    for (size_t k = 0; k < spec->arg_count; k++)
        for (uint64_t n = 0; n < repeats[k]; n++) {
            status = resolve_arg(&args[at++], resolve, &spec->args[k]);
            if (status)
                return status;
        }
    launch->args = args;
    launch->arg_count = total;
    return STATUS_OK;
}

static enum status resolve_launch(struct resolved_launch *launch, const struct resolve *resolve,
                                  const struct manifest_launch *spec, const cJSON *at)
{
    double groups = 0, items = 0;
    char *symbol = NULL;
    enum status status = resolve_dimensions(launch->grid, &groups, resolve, spec->grid, at, "grid");
    if (!status)
        status = resolve_dimensions(launch->block, &items, resolve, spec->block, at, "block");
    if (!status && resolve->device->max_block > 0 && items > resolve->device->max_block)
        status = resolve_fail(resolve, &(struct place){at, "block", -1},
                              "a workgroup of %.15g items, the device takes %.0f", items, resolve->device->max_block);
    if (!status)
        status = resolve_lds(&launch->lds_bytes, resolve, spec->shared, at);
    if (!status)
        status = resolve_text(&symbol, resolve, spec->symbol, &(struct place){at, "symbol", -1});
    if (status)
        return status;
    launch->spec = spec;
    launch->symbol = symbol;
    return resolve_args(launch, resolve, spec);
}

static enum status resolve_move(struct resolved_step *step, const struct resolve *resolve,
                                const struct manifest_step *spec)
{
    const bool copies = spec->kind == STEP_COPY;
    const struct place place = {inside(spec, copies ? "copy" : "fill"), "bytes", -1};
    const struct resolved_buffer *to = &resolve->resolved->buffers[spec->to];
    const struct resolved_buffer *from = copies ? &resolve->resolved->buffers[spec->from] : to;
    enum status status = resolve_size(&step->bytes, resolve, spec->bytes, to->size_bytes, &place);
    if (status)
        return status;
    const struct resolved_buffer *small = from->size_bytes < to->size_bytes ? from : to;
    if (step->bytes > small->size_bytes)
        return resolve_fail(resolve, &place, "%.15g bytes, but buffer '%s' has %.15g", (double)step->bytes,
                            small->spec->name, (double)small->size_bytes);
    step->to = spec->to;
    step->from = spec->from;
    step->byte = spec->byte;
    return STATUS_OK;
}

static enum status resolve_step(struct resolved_step *step, const struct resolve *resolve,
                                const struct manifest_step *spec)
{
    step->kind = spec->kind;
    step->stream = spec->stream;
    step->timed = spec->timed;
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

/* ---- lists of steps, where each round of an index is a step of its own ---- */

struct step_list {
    struct resolved_step *items;
    size_t count;
};

/* What a step that repeats says so at. */
static struct place repeat_place(const struct manifest_step *spec)
{
    const cJSON *at = spec->kind == STEP_GRAPH  ? inside(spec, "graph")
                      : spec->kind == STEP_LOOP ? inside(spec, "loop")
                                                : spec->at;
    return (struct place){at, "repeat", -1};
}

static enum status add_steps(struct step_list *list, const struct resolve *resolve, const struct manifest_step *source,
                             size_t count, const bool *timed);

/* The steps of a loop, one round after the other; they are timed as the loop is. */
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
        ARENA_PUSH(resolve->arena, list->items, list->count, step);
        if (!status && ++*resolve->rounds > MANIFEST_MAX_STEPS) {
            const struct place place = repeat_place(spec);
            status =
                resolve_fail(resolve, &place, "more than %d steps, each round of an index counted", MANIFEST_MAX_STEPS);
        }
    }
    return status;
}

static enum status add_step(struct step_list *list, const struct resolve *resolve, const struct manifest_step *spec)
{
    const struct place place = repeat_place(spec);
    struct resolved_step step = {.repeat = 1};
    enum status status = resolve_size(&step.repeat, resolve, spec->repeat, 1, &place);
    if (status || step.repeat == 0) /* a step that these values switch off: its grid may be 0 as well */
        return status;
    if (step.repeat > UINT32_MAX)
        return resolve_fail(resolve, &place, "a step that repeats %.15g times", (double)step.repeat);
    if (spec->index >= 0)
        return add_rounds(list, resolve, spec, step.repeat);
    status = resolve_step(&step, resolve, spec);
    ARENA_PUSH(resolve->arena, list->items, list->count, step);
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
    struct step_list list = {0};
    const enum status status = add_steps(&list, resolve, source, source_count, NULL);
    *steps = list.items;
    *count = list.count;
    return status;
}
