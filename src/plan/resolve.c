/* SPDX-License-Identifier: MIT */

#include "plan_internal.h"
#include "rooftile/units.h"

/* ---- values and error messages ---- */

enum status resolve_fail(const struct resolve *resolve, const cJSON *at, const char *format, ...)
{
    char text[sizeof(resolve->err->text)];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (at)
        return json_fail(at, resolve->err, "%s", text);
    return err_set(resolve->err, ERR_CONFIG, "%s: %s", resolve->manifest->name, text);
}

enum status resolve_number(double *value, const struct resolve *resolve, const struct expr *expr, double absent)
{
    struct err inner;
    *value = absent;
    if (expr && expr_eval(value, expr, resolve->slots, &inner))
        return resolve_fail(resolve, expr_at(expr), "'%s': %s", expr_source(expr), inner.text);
    return STATUS_OK;
}

enum status resolve_size(uint64_t *value, const struct resolve *resolve, const struct expr *expr, uint64_t absent)
{
    double number = 0;
    *value = absent;
    if (!expr)
        return STATUS_OK;
    if (resolve_number(&number, resolve, expr, 0))
        return resolve->err->status;
    if (number < 0 || number != floor(number))
        return resolve_fail(resolve, expr_at(expr), "'%s' is %.15g, not a whole number of 0 or more", expr_source(expr),
                            number);
    if (number > RESOLVE_MAX_SIZE)
        return resolve_fail(resolve, expr_at(expr), "'%s' is %.4g, beyond 2^53", expr_source(expr), number);
    *value = (uint64_t)number;
    return STATUS_OK;
}

enum status resolve_text(char **text, const struct resolve *resolve, const struct text_template *template)
{
    return template_render(text, template, resolve->manifest, resolve->resolved->values, resolve->slots, resolve->arena,
                           resolve->err);
}

/* Like resolve_text, for a text that is needed only now. */
static enum status resolve_word(char **word, const struct resolve *resolve, const struct text_template *template)
{
    return template_render(word, template, resolve->manifest, resolve->resolved->values, resolve->slots,
                           resolve->scratch, resolve->err);
}

enum status resolve_dtype(enum dtype *dtype, const struct resolve *resolve, const struct text_template *template)
{
    char *name = NULL;
    enum dtype found = template_dtype(template, resolve->resolved->values);
    if (!found && resolve_word(&name, resolve, template))
        return resolve->err->status;
    if (name)
        found = dtype_from_name(name);
    if (found == DTYPE_NONE)
        return resolve_fail(resolve, template_at(template), "'%s' is no element type", name);
    *dtype = found;
    return STATUS_OK;
}

/* ---- the parts of a manifest ---- */

static enum status check_require(const struct resolve *resolve)
{
    for (size_t k = 0; k < resolve->manifest->require_count; k++) {
        const struct manifest_require *require = &resolve->manifest->require[k];
        double met = 0;
        char *reason = NULL;
        if (resolve_number(&met, resolve, require->expr, 1))
            return resolve->err->status;
        if (met != 0)
            continue;
        return resolve_text(&reason, resolve, require->reason) ? resolve->err->status
                                                               : err_set(resolve->err, ERR_UNSUPPORTED, "%s", reason);
    }
    return STATUS_OK;
}

static enum status resolve_peer(struct resolved_buffer *buffer, const struct resolve *resolve,
                                const struct manifest_buffer *spec)
{
    uint64_t device = 0, parts = 0;
    if (resolve_size(&device, resolve, spec->device, (uint64_t)resolve->device->index) ||
        resolve_size(&parts, resolve, spec->devices, 1))
        return resolve->err->status;
    if (!parts)
        return resolve_fail(resolve, expr_at(spec->devices), "buffer '%s' is on no device", spec->name);
    if ((double)device > resolve->device->peers)
        return err_set(resolve->err, ERR_UNSUPPORTED, "there is no device %.15g", (double)device);
    if ((double)parts > resolve->device->peers + 1)
        return err_set(resolve->err, ERR_UNSUPPORTED, "there are %.15g devices, not %.15g", resolve->device->peers + 1,
                       (double)parts);
    buffer->device = spec->devices && parts > 1 ? 0 : (uint32_t)device;
    buffer->parts = (uint32_t)parts;
    buffer->part = spec->devices ? (uint32_t)resolve->device->rank : 0; /* of all processes' parts */
    return STATUS_OK;
}

/* A memory kind that the device lacks skips the case; a word that names no memory kind is an error. */
static enum status resolve_space(struct resolved_buffer *buffer, const struct resolve *resolve,
                                 const struct manifest_buffer *spec)
{
    char *name = NULL;
    int space = 0;
    if (!spec->space)
        return STATUS_OK;
    if (resolve_word(&name, resolve, spec->space))
        return resolve->err->status;
    while (space < BUFFER_SPACES && strcmp(name, buffer_space_names[space]) != 0)
        space++;
    if (space == BUFFER_SPACES)
        return resolve_fail(resolve, template_at(spec->space), "'%s' is no kind of memory", name);
    buffer->space = (enum buffer_space)space;
    if (resolve->device->lacks_spaces & 1u << space)
        return err_set(resolve->err, ERR_UNSUPPORTED, "the device has no %s memory", name);
    return space == BUFFER_PEER ? resolve_peer(buffer, resolve, spec) : STATUS_OK;
}

static enum status resolve_buffer(struct resolved_buffer *buffer, const struct resolve *resolve,
                                  const struct manifest_buffer *spec)
{
    uint64_t offset = 0;
    buffer->spec = spec;
    buffer->parts = 1;
    if (resolve_dtype(&buffer->dtype, resolve, spec->type) || resolve_size(&buffer->count, resolve, spec->count, 0) ||
        resolve_size(&offset, resolve, spec->align_offset, 0))
        return resolve->err->status;
    buffer->dist = spec->fill.dist;
    if (spec->fill.dist_text) {
        char *name = NULL;
        struct err inner = {0};
        if (resolve_word(&name, resolve, spec->fill.dist_text))
            return resolve->err->status;
        if (generator_dist(&buffer->dist, generator_of(spec->fill.kind), name, &inner))
            return resolve_fail(resolve, template_at(spec->fill.dist_text), "%s", inner.text);
    }
    if (buffer->count == 0)
        return resolve_fail(resolve, expr_at(spec->count), "buffer '%s' has no elements", spec->name);
    if (offset > UINT32_MAX)
        return resolve_fail(resolve, expr_at(spec->align_offset), "an offset of %.4g bytes", (double)offset);
    /* At most 2^53 elements of 8 bytes: the product fits in 64 bits, but results could no longer hold the size
     * exactly. */
    buffer->size_bytes = buffer->count * dtype_bytes(buffer->dtype);
    if ((double)buffer->size_bytes > RESOLVE_MAX_SIZE)
        return resolve_fail(resolve, expr_at(spec->count), "buffer '%s' of %.4g bytes, beyond 2^53", spec->name,
                            (double)buffer->size_bytes);
    buffer->align_offset = (uint32_t)offset;
    return resolve_space(buffer, resolve, spec);
}

/* Appends the later parts of split buffers after the manifest's buffers; `made` holds the first parts. */
static void add_parts(struct resolved *resolved, struct resolved_buffer *made, size_t count, struct arena *arena)
{
    struct resolved_buffer *all = made;
    size_t total = count;
    for (size_t k = 0; k < count; k++) {
        made[k].more = total;
        total += made[k].parts - 1;
    }
    if (total > count) {
        all = arena_array(arena, total, sizeof(*all));
        memcpy(all, made, count * sizeof(*all));
        for (size_t k = 0; k < count; k++)
            for (uint32_t part = 1; part < made[k].parts; part++) {
                struct resolved_buffer *buffer = &all[made[k].more + part - 1];
                *buffer = made[k];
                buffer->part = buffer->device = part;
            }
    }
    resolved->buffers = all;
    resolved->buffer_count = total;
}

/* Checks that the buffers and their guards fit in the memory of the open device. Peers are assumed to have as much. */
static enum status check_memory(const struct resolve *resolve)
{
    const struct resolved *resolved = resolve->resolved;
    const double most = resolve->device->memory_bytes;
    char need[UNITS_TEXT], around[UNITS_TEXT], have[UNITS_TEXT];
    double bytes = 0, guards = 0;
    FOR_EACH(const struct resolved_buffer, buffer, resolved->buffers, resolved->buffer_count) {
        const bool here = buffer->parts == 1 || (double)buffer->device == resolve->device->index;
        bytes += here ? (double)(buffer->size_bytes + buffer->align_offset) : 0;
        guards += here ? 2 * BUFFER_GUARD_BYTES : 0;
    }
    if (most <= 0 || bytes + guards <= most)
        return STATUS_OK;
    units_bytes(need, bytes);
    units_bytes(around, guards);
    units_bytes(have, most);
    return bytes > most
               ? err_set(resolve->err, ERR_UNSUPPORTED, "its buffers take %s, the device has %s", need, have)
               : err_set(resolve->err, ERR_UNSUPPORTED,
                         "its buffers take %s and the guards around them %s, the device has %s", need, around, have);
}

static enum status resolve_buffers(const struct resolve *resolve)
{
    const struct manifest *manifest = resolve->manifest;
    struct resolved *resolved = resolve->resolved;
    struct resolved_buffer *buffers = arena_array(resolve->arena, manifest->buffer_count, sizeof(*buffers));
    double total = 0;
    for (size_t k = 0; k < manifest->buffer_count; k++) {
        if (resolve_buffer(&buffers[k], resolve, &manifest->buffers[k]))
            return resolve->err->status;
        total += (double)(buffers[k].size_bytes + buffers[k].align_offset) * buffers[k].parts;
        if (total > RESOLVE_MAX_SIZE)
            return resolve_fail(resolve, json_member(manifest->at, "buffers"), "buffers of %.4g bytes, beyond 2^53",
                                total);
    }
    add_parts(resolved, buffers, manifest->buffer_count, resolve->arena);
    resolved->buffer_bytes = (uint64_t)total;
    return check_memory(resolve);
}

/* Returns the maximum number of passes of the timed steps over the buffers, without passes inside a launch. */
static double count_passes(const struct resolved_step *steps, size_t count, bool all)
{
    double passes = 0;
    FOR_EACH(const struct resolved_step, step, steps, count) {
        const double inside = step->steps ? count_passes(step->steps, step->step_count, true) : 1;
        passes += all || step->timed ? (double)step->repeat * inside : 0;
    }
    return passes;
}

/* Returns the bytes of all buffers except those of one role. */
static double held_bytes(const struct resolved *resolved, enum buffer_role but)
{
    double bytes = 0;
    for (size_t k = 0; k < resolved->buffer_count; k++)
        bytes += resolved->buffers[k].spec->role == but ? 0 : (double)resolved->buffers[k].size_bytes;
    return bytes;
}

/* Checks the stated bytes against the buffers: a typing error in `work` would give a rate that nothing can reach. */
static enum status check_bytes(const struct resolve *resolve)
{
    const struct manifest *manifest = resolve->manifest;
    const struct resolved *resolved = resolve->resolved;
    const struct work *work = &resolved->work;
    const double passes = fmax(1, count_passes(resolved->steps, resolved->step_count, false));
    const struct {
        const struct expr *expr;
        const char *words;
        double bytes, most;
    } claims[] = {{manifest->footprint, "", work->footprint_bytes, (double)resolved->buffer_bytes},
                  {manifest->read_bytes, "that are read ", manifest->footprint ? 0 : work->read_bytes,
                   held_bytes(resolved, ROLE_OUT) * passes},
                  {manifest->write_bytes, "that are written ", manifest->footprint ? 0 : work->write_bytes,
                   held_bytes(resolved, ROLE_IN) * passes}};
    /* Without bytes, the footprint refers to something else: to LDS, or to a chase's ring. */
    for (size_t k = 0; k < COUNT_OF(claims) && work->read_bytes + work->write_bytes > 0; k++) {
        char declared[UNITS_TEXT], most[UNITS_TEXT];
        if (claims[k].bytes <= claims[k].most * (1 + 1e-9))
            continue;
        return resolve_fail(resolve, expr_at(claims[k].expr), "%s, but the buffers %shold %s%s",
                            units_bytes(declared, claims[k].bytes), claims[k].words, units_bytes(most, claims[k].most),
                            k ? ": a kernel that passes over them more than once says their \"footprint\"" : "");
    }
    return STATUS_OK;
}

static enum status resolve_unit(const struct resolve *resolve)
{
    struct work *work = &resolve->resolved->work;
    char *unit = NULL;
    if (resolve_word(&unit, resolve, resolve->manifest->unit))
        return resolve->err->status;
    if (!machine_unit_known(unit))
        return resolve_fail(resolve, template_at(resolve->manifest->unit),
                            "there is no unit '%s': known are vector_TYPE, matrix_TYPE (f64, f32, f16, bf16, fp8, i8, "
                            "...) and " TRANSCENDENTAL_UNIT,
                            unit);
    snprintf(work->unit, sizeof(work->unit), "%s", unit);
    return STATUS_OK;
}

static enum status resolve_work(const struct resolve *resolve)
{
    const struct manifest *manifest = resolve->manifest;
    struct work *work = &resolve->resolved->work;
    const struct {
        double *value;
        const struct expr *expr;
        double absent;
    } parts[] = {
        {&work->read_bytes, manifest->read_bytes, 0},
        {&work->write_bytes, manifest->write_bytes, 0},
        {&work->flops, manifest->flops, 0},
        {&work->transcendentals, manifest->transcendentals, 0},
        {&work->items, manifest->items, 0},
        {&work->footprint_bytes, manifest->footprint, (double)resolve->resolved->buffer_bytes},
        {&work->shared_by, manifest->shared_by, 0},
        {&resolve->resolved->waves_declared, manifest->occupancy.waves, 0},
    };
    for (size_t k = 0; k < COUNT_OF(parts); k++) {
        if (resolve_number(parts[k].value, resolve, parts[k].expr, parts[k].absent))
            return resolve->err->status;
        if (*parts[k].value < 0)
            return resolve_fail(resolve, expr_at(parts[k].expr), "'%s' is %.15g, below zero",
                                expr_source(parts[k].expr), *parts[k].value);
    }
    if (manifest->level)
        snprintf(work->level, sizeof(work->level), "%s", manifest->level);
    if (manifest->item)
        snprintf(work->item, sizeof(work->item), "%s", manifest->item);
    work->steps = manifest->class == CLASS_LATENCY;
    const enum status status = check_bytes(resolve);
    return status || work->flops == 0 || !manifest->unit ? status : resolve_unit(resolve);
}

double *resolved_slots(const struct resolved *resolved, struct arena *arena)
{
    double *slots = arena_array(arena, manifest_slot_count(resolved->manifest), sizeof(*slots));
    manifest_slots(slots, resolved->manifest, resolved->values, resolved->device, 0);
    return slots;
}

enum status resolve_manifest(struct resolved *resolved, const struct manifest *manifest,
                             const struct param_value *values, const struct device_facts *device, struct arena *arena,
                             struct arena *scratch, struct err *err)
{
    struct resolved made = {.manifest = manifest, .values = values, .device = device};
    const struct resolve resolve = {.resolved = &made,
                                    .manifest = manifest,
                                    .device = device,
                                    .slots = resolved_slots(&made, scratch),
                                    .arena = arena,
                                    .scratch = scratch,
                                    .rounds = &(size_t){0},
                                    .err = err};
    if (check_require(&resolve) || resolve_buffers(&resolve) ||
        resolve_steps(&made.steps, &made.step_count, &resolve, manifest->steps, manifest->step_count) ||
        resolve_steps(&made.setup, &made.setup_count, &resolve, manifest->setup, manifest->setup_count) ||
        timing_of(&made.timing, &resolve) || resolve_work(&resolve))
        return err->status;
    *resolved = made;
    return STATUS_OK;
}
