/* SPDX-License-Identifier: MIT */
#include "rooftile/identity.h"

enum { FIRST_ELEMENTS = 256, LATER_ELEMENTS = 64 };

static const char *const part_names[IDENTITY_PARTS] = {
    [IDENTITY_CODE] = "code",          [IDENTITY_LAUNCH] = "launch", [IDENTITY_INPUTS] = "input data",
    [IDENTITY_CHECK] = "verification", [IDENTITY_WORK] = "work",     [IDENTITY_DEVICE] = "device",
};

/* ---- devices ---- */

/* Type of the member: NUMBER is uint32_t, WATT is double. */
static const struct fact {
    const char *name;
    size_t offset;
    enum { CHARS, NUMBER, WATT } kind;
    bool own;
} facts[IDENTITY_FACTS] = {
    {"backend", offsetof(struct device_info, backend), CHARS, true},
    {"device", offsetof(struct device_info, name), CHARS, true},
    {"architecture", offsetof(struct device_info, arch), CHARS, true},
    {"compute units or threads", offsetof(struct device_info, cus), NUMBER, true},
    {"wave", offsetof(struct device_info, wave), NUMBER, true},
    {"partition", offsetof(struct device_info, partition), CHARS, true},
    {"card", offsetof(struct device_info, uuid), CHARS, true},
    {"serial number (hash)", offsetof(struct device_info, serial_hash), CHARS, true},
    {"driver", offsetof(struct device_info, driver), CHARS, false},
    {"compiled for", offsetof(struct device_info, target), CHARS, false},
    {"VBIOS", offsetof(struct device_info, vbios), CHARS, false},
    {"firmware", offsetof(struct device_info, firmware), CHARS, false},
    {"performance level", offsetof(struct device_info, perf_level), CHARS, false},
    {"power cap", offsetof(struct device_info, power_cap_w), WATT, false},
};

bool identity_fact(struct identity_fact *out, const struct device_info *device, size_t k, struct arena *arena)
{
    if (k >= IDENTITY_FACTS)
        return false;
    const void *at = (const char *)device + facts[k].offset;
    *out = (struct identity_fact){.name = facts[k].name, .value = "", .own = facts[k].own};
    if (facts[k].kind == CHARS)
        out->value = at;
    else if (facts[k].kind == NUMBER)
        out->value = arena_printf(arena, "%u", *(const uint32_t *)at);
    else if (*(const double *)at > 0)
        out->value = arena_printf(arena, "%g W", *(const double *)at);
    return true;
}

/* ---- launches and other steps ---- */

#define ADD(hash, value) hash_add(hash, &(value), sizeof(value))

static void add_launch(struct hash *hash, const struct resolved_launch *launch)
{
    hash_add_string(hash, launch->symbol);
    ADD(hash, launch->grid);
    ADD(hash, launch->block);
    ADD(hash, launch->lds_bytes);
    if (launch->spec)
        ADD(hash, launch->spec->cooperative);
    FOR_EACH(const struct resolved_arg, arg, launch->args, launch->arg_count) {
        ADD(hash, arg->buffer);
        if (arg->spec && arg->spec->member_count) {
            hash_add(hash, arg->by_value->bytes, arg->size_bytes);
            FOR_EACH(const struct resolved_pointer, pointer, arg->by_value->pointers, arg->by_value->pointer_count) {
                ADD(hash, pointer->at);
                ADD(hash, pointer->buffer);
                ADD(hash, pointer->offset);
            }
            continue;
        }
        ADD(hash, arg->offset);
        hash_add(hash, arg->value, arg->buffer < 0 ? arg->size_bytes : 0);
    }
}

static void add_steps(struct hash *hash, const struct resolved_step *steps, size_t count)
{
    ADD(hash, count);
    FOR_EACH(const struct resolved_step, step, steps, count) {
        const uint64_t numbers[] = {step->kind,
                                    step->stream,
                                    step->timed,
                                    step->repeat,
                                    (uint64_t)(int64_t)step->to,
                                    (uint64_t)(int64_t)step->from,
                                    step->bytes,
                                    step->byte,
                                    step->event};
        ADD(hash, numbers);
        if (step->kind == STEP_LAUNCH)
            add_launch(hash, &step->launch);
        add_steps(hash, step->steps, step->step_count);
    }
}

/* ---- actual and expected contents of buffers ---- */

static void add_value(struct hash *hash, const struct expr *expr, const double *slots)
{
    struct err ignored = {0};
    double value = NAN;
    if (!expr || expr_eval(&value, expr, slots, &ignored))
        value = expr ? INFINITY : NAN;
    ADD(hash, value);
}

/* Stands for the elements of a buffer, whose contents are hashed separately: values that depend on the elements
 * read. */
static void stand_in(double *values, size_t count, size_t array, UNUSED const void *context)
{
    for (size_t k = 0; k < count; k++)
        values[k] = values[k] * 2 + (double)array;
}

/* Hashes the first elements and a sample of the rest. */
static void add_elements(struct hash *hash, const struct expr *expr, const struct resolved *resolved,
                         const double *slots, uint64_t count)
{
    SCOPED(arena_release) struct arena arena = {0};
    uint64_t *counts = arena_array(&arena, resolved->buffer_count + 1, sizeof(*counts));
    const struct expr_arrays arrays = {.counts = counts, .read = stand_in};
    double values[FIRST_ELEMENTS] = {0};
    struct err ignored = {0};
    const size_t first = count < FIRST_ELEMENTS ? (size_t)count : FIRST_ELEMENTS;
    for (size_t k = 0; k < resolved->buffer_count; k++)
        counts[k] = UINT64_MAX;
    if (expr_values(values, expr, slots, &arrays, 0, first, &ignored))
        hash_add_string(hash, ignored.text);
    hash_add(hash, values, first * sizeof(*values));
    for (size_t k = 0; k < LATER_ELEMENTS && count > FIRST_ELEMENTS; k++) {
        const uint64_t at = FIRST_ELEMENTS + (count - 1 - FIRST_ELEMENTS) / (LATER_ELEMENTS - 1) * k;
        if (expr_values(values, expr, slots, &arrays, at, 1, &ignored))
            hash_add_string(hash, ignored.text);
        hash_add(hash, values, sizeof(*values));
    }
}

static void add_fill(struct hash *hash, const struct fill_spec *fill, enum fill_dist dist,
                     const struct resolved *resolved, uint64_t count, const double *slots)
{
    const int kinds[] = {(int)fill->kind, (int)dist};
    struct err ignored = {0};
    ADD(hash, kinds);
    ADD(hash, fill->seed);
    for (size_t k = 0; k < FILL_MAX_OPTIONS; k++)
        add_value(hash, fill->options[k], slots);
    if (fill->kind == FILL_EXPR)
        add_elements(hash, fill->expr, resolved, slots, count);
    if (fill->kind == FILL_VALUES)
        hash_add(hash, fill->values, fill->value_count * sizeof(*fill->values));
    if (fill->kind == FILL_FILE && hash_add_file(hash, fill->path, &ignored))
        hash_add_string(hash, fill->path);
}

static void add_buffers(struct hash *hash, const struct resolved *resolved)
{
    SCOPED(arena_release) struct arena arena = {0};
    const double *slots = resolved_slots(resolved, &arena);
    FOR_EACH(const struct resolved_buffer, buffer, resolved->buffers, resolved->buffer_count) {
        const uint64_t numbers[] = {buffer->dtype, buffer->count,  buffer->size_bytes, buffer->align_offset,
                                    buffer->space, buffer->device, buffer->spec->role, buffer->spec->reset};
        hash_add_string(hash, buffer->spec->name); /* the seed of its fill depends on it */
        ADD(hash, numbers);
        add_fill(hash, &buffer->spec->fill, buffer->dist, resolved, buffer->count, slots);
    }
    ADD(hash, resolved->work.footprint_bytes);
}

/* ---- expected results ---- */

static void add_expectations(struct hash *hash, const struct resolved *resolved)
{
    const struct manifest *manifest = resolved->manifest;
    SCOPED(arena_release) struct arena arena = {0};
    const double *slots = resolved_slots(resolved, &arena);
    FOR_EACH(const struct expectation, expect, manifest->check.expect, manifest->check.expect_count) {
        ADD(hash, expect->buffer);
        add_fill(hash, &expect->want, expect->want.dist, resolved, resolved->buffers[expect->buffer].count, slots);
        add_value(hash, expect->abs, slots);
        add_value(hash, expect->rel, slots);
    }
    for (size_t k = 0; k < manifest->metric_count; k++)
        if (manifest->metrics[k].expect) {
            hash_add_string(hash, manifest->metrics[k].name);
            hash_add_string(hash, expr_source(manifest->metrics[k].expect));
        }
}

static void add_check(struct hash *hash, const struct plan_case *plan, const struct build_result *builds)
{
    const struct plan_reference *reference = plan->reference;
    struct resolved opened = {0};
    SCOPED(arena_release) struct arena arena = {0};
    const struct resolved *checked = plan->variant ? plan->variant : &plan->resolved;
    ADD(hash, plan->verify);
    if (plan->variant) /* verification runs at another size */
        add_buffers(hash, checked);
    add_expectations(hash, checked);
    if (!reference || plan_reference_open(&opened, reference, &arena, &(struct err){0}))
        return;
    hash_add_string(hash, opened.manifest->name);
    ADD(hash, reference->samples);
    ADD(hash, reference->output);
    ADD(hash, reference->abs);
    ADD(hash, reference->rel);
    add_steps(hash, opened.steps, opened.step_count);
    for (size_t k = 0; k < opened.code_count; k++)
        hash_add_string(hash, builds[opened.codes[k]].sha256);
}

/* ---- the whole identity ---- */

void identity_object(char out[static HASH_TEXT], const struct plan_case *plan, const struct build_result *builds)
{
    const struct resolved *resolved = &plan->resolved;
    SCOPED(text_release) struct text all = {0};
    text_add(&all, "");
    for (size_t k = 0; plan->state == PLAN_READY && k < resolved->code_count; k++)
        text_add(&all, builds[resolved->codes[k]].sha256);
    if (resolved->code_count == 1 || !all.length)
        snprintf(out, HASH_TEXT, "%s", all.data);
    else
        hash_sha256(out, all.data, all.length);
}

void identity_take_object(struct identity *identity, const char *object_sha256)
{
    snprintf(identity->parts[IDENTITY_CODE], IDENTITY_TEXT, "%.16s", object_sha256);
}

static void add_part(struct hash *hash, enum identity_part part, const struct plan_case *plan,
                     const struct build_result *builds, const struct device_info *device)
{
    const struct resolved *resolved = &plan->resolved;
    const struct work *work = &resolved->work;
    const double amounts[] = {work->read_bytes, work->write_bytes, work->flops, work->transcendentals, work->items};
    SCOPED(arena_release) struct arena arena = {0};
    struct identity_fact fact;
    switch (part) {
    case IDENTITY_LAUNCH:
        add_steps(hash, resolved->setup, resolved->setup_count);
        add_steps(hash, resolved->steps, resolved->step_count);
        break;
    case IDENTITY_INPUTS:
        add_buffers(hash, resolved);
        break;
    case IDENTITY_CHECK:
        add_check(hash, plan, builds);
        break;
    case IDENTITY_WORK:
        ADD(hash, amounts);
        hash_add_string(hash, work->unit);
        hash_add_string(hash, work->level);
        hash_add_string(hash, work->item);
        break;
    default:
        for (size_t k = 0; identity_fact(&fact, device, k, &arena); k++)
            if (fact.own)
                hash_add_string(hash, fact.value);
    }
}

void identity_of(struct identity *out, const struct plan_case *plan, const struct build_result *builds,
                 const struct device_info *device)
{
    char hex[HASH_TEXT];
    *out = (struct identity){0};
    identity_object(hex, plan, builds);
    identity_take_object(out, hex);
    for (enum identity_part part = IDENTITY_LAUNCH; part < IDENTITY_PARTS; part++) {
        if (plan->state != PLAN_READY && part != IDENTITY_DEVICE)
            continue;
        struct hash *hash = hash_new();
        add_part(hash, part, plan, builds, device);
        hash_hex(hash, hex);
        hash_free(hash);
        snprintf(out->parts[part], IDENTITY_TEXT, "%.16s", hex);
    }
}

/* ---- comparing two ---- */

unsigned identity_differs(const struct identity *a, const struct identity *b)
{
    unsigned parts = 0;
    for (size_t k = 0; k < IDENTITY_PARTS; k++)
        if (a->parts[k][0] && b->parts[k][0] && strcmp(a->parts[k], b->parts[k]) != 0)
            parts |= IDENTITY_BIT(k);
    return parts;
}

const char *identity_words(unsigned parts, struct arena *arena)
{
    const char *words = "";
    for (size_t k = 0; k < IDENTITY_PARTS; k++)
        if (parts & IDENTITY_BIT(k))
            words = arena_printf(arena, "%s%s%s", words, words[0] ? ", " : "", part_names[k]);
    return words;
}

/* ---- as a line ---- */

void identity_line(char out[static IDENTITY_LINE], const struct identity *identity)
{
    size_t length = 0;
    for (size_t k = 0; k < IDENTITY_PARTS; k++)
        length += (size_t)snprintf(out + length, IDENTITY_LINE - length, "%s%s", k ? " " : "",
                                   identity->parts[k][0] ? identity->parts[k] : "-");
}

void identity_from_line(struct identity *out, const char *line)
{
    *out = (struct identity){0};
    for (size_t k = 0; k < IDENTITY_PARTS; k++) {
        const size_t length = strcspn(line, " ");
        if (length >= IDENTITY_TEXT || (line[length] == ' ') != (k + 1 < IDENTITY_PARTS)) {
            *out = (struct identity){0};
            return;
        }
        if (line[0] != '-')
            memcpy(out->parts[k], line, length);
        line += length + (line[length] == ' ');
    }
}
