/* SPDX-License-Identifier: MIT
 *
 * Converts a launch of a case to the walk's input: buffers with their contents, and the arguments as passed to the
 * kernel.
 */

#include "rooftile/predictor.h"
#include "rooftile/rng.h"

#define FIRST_BASE (UINT64_C(1) << 44)
#define BASE_STEP (UINT64_C(1) << 21)
/* The size limit for contents that link one place to another (whose pages are used only once each) or must be generated
 * as a whole. Larger contents are treated as unknown. */
#define MOST_LINKED (1u << 18)

static enum status make_fill(const struct fill **fill, const struct resolved *resolved, size_t number,
                             const double *slots, uint64_t seed, struct arena *arena, struct err *err)
{
    const struct resolved_buffer *buffer = &resolved->buffers[number];
    struct fill_spec spec = buffer->spec->fill;
    struct fill made;
    *fill = NULL;
    spec.dist = buffer->dist;
    const bool is_linked = spec.kind == FILL_RING || spec.kind == FILL_OFFSETS || spec.kind == FILL_FILE;
    if (spec.kind == FILL_NONE || (is_linked && buffer->count > MOST_LINKED))
        return STATUS_OK;
    for (size_t k = 0; spec.expr && k < resolved->buffer_count; k++)
        if (expr_uses_array(spec.expr, k)) /* uses another buffer, which would have to be filled first */
            return STATUS_OK;
    if (fill_init(&made, &spec, buffer->dtype, buffer->count, slots, NULL, rng_derive(seed, buffer->spec->name), arena,
                  err))
        return err_within(err, "buffer '%s'", buffer->spec->name);
    *fill = arena_copy(arena, &made, sizeof(made));
    return STATUS_OK;
}

enum status predicted_buffers_make(struct predicted_buffers *buffers, const struct resolved *resolved, uint64_t seed,
                                   struct arena *arena, struct err *err)
{
    const double *slots = resolved_slots(resolved, arena);
    uint64_t base = FIRST_BASE;
    buffers->count = resolved->buffer_count;
    buffers->items = arena_array(arena, resolved->buffer_count + 1, sizeof(*buffers->items));
    for (size_t k = 0; k < resolved->buffer_count; k++) {
        const struct resolved_buffer *buffer = &resolved->buffers[k];
        struct walk_buffer *made = &buffers->items[k];
        if (make_fill(&made->fill, resolved, k, slots, seed, arena, err))
            return err->status;
        made->base = base + buffer->align_offset;
        made->size_bytes = buffer->size_bytes;
        base += (buffer->size_bytes + buffer->align_offset) / BASE_STEP * BASE_STEP + 2 * BASE_STEP;
    }
    return STATUS_OK;
}

/* Skips arguments that the kernel does not take; launch_fit reports them. */
static void lay_out(struct walk_launch *walk, const struct resolved_launch *launch,
                    const struct predicted_buffers *buffers, const struct codeobj_kernel *kernel, struct arena *arena)
{
    const size_t room = kernel->kernarg_bytes < 65536 ? kernel->kernarg_bytes : 65536;
    uint8_t *bytes = arena_alloc(arena, room + 1), *known = arena_alloc(arena, room + 1);
    for (size_t k = 0; k < launch->arg_count && k < kernel->explicit_count; k++) {
        const struct resolved_arg *arg = &launch->args[k];
        const struct codeobj_arg *place = &kernel->args[k];
        uint8_t value[8];
        memcpy(value, arg->value, sizeof(value));
        if (arg->buffer >= 0) {
            const uint64_t address = buffers->items[arg->buffer].base + arg->offset;
            memcpy(value, &address, sizeof(value));
        }
        for (size_t at = 0; at < sizeof(value) && at < place->size_bytes && place->offset_bytes + at < room; at++) {
            bytes[place->offset_bytes + at] = value[at];
            known[place->offset_bytes + at] = 1;
        }
    }
    walk->kernarg = bytes;
    walk->kernarg_known = known;
    walk->kernarg_bytes = room;
}

void predicted_launch_make(struct walk_launch *walk, const struct resolved_launch *launch,
                           const struct predicted_buffers *buffers, const struct walk_code *code, struct arena *arena)
{
    *walk = (struct walk_launch){.code = code,
                                 .code_object = walk_code_isa(code),
                                 .target = walk_code_target(code),
                                 .lds_bytes = launch->lds_bytes,
                                 .buffers = buffers->items,
                                 .buffer_count = buffers->count};
    memcpy(walk->grid, launch->grid, sizeof(walk->grid));
    memcpy(walk->block, launch->block, sizeof(walk->block));
    lay_out(walk, launch, buffers, &walk->code_object->code, arena);
}

/* Every clang with the AMD backend knows these two. */
struct build_request predicted_request(const struct build_request *request, struct arena *arena)
{
    struct build_request made = *request;
    struct build_define *defines = arena_array(arena, request->define_count + 1, sizeof(*defines));
    made.target = build_target_of(request->target.wave == 32 ? "gfx1030" : "gfx90a");
    made.define_count = 0;
    for (size_t k = 0; k < request->define_count; k++)
        if (strcmp(request->defines[k].name, "ROOFTILE_KERNELS") != 0)
            defines[made.define_count++] = request->defines[k];
    made.defines = defines;
    return made;
}
