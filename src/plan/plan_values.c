/* SPDX-License-Identifier: MIT
 *
 * Parameter values: conversion to their kinds, and the names and keys built from them.
 */

#include "plan_internal.h"
#include "rooftile/hash.h"

/* The maximum number of names that did-you-mean considers. */
#define MAX_NAMED 64

enum status value_fit(struct param_value *value, const struct param *param, struct arena *arena, struct err *err)
{
    struct param_value fitted = *value;
    /* For a string parameter, a word that looks like a number or an element type is still a string. */
    if (param->value.kind == PARAM_STRING && (fitted.kind == PARAM_NUMBER || fitted.kind == PARAM_DTYPE))
        fitted = (struct param_value){.kind = PARAM_STRING, .string = param_text(arena, value)};
    const enum dtype dtype = fitted.kind == PARAM_STRING ? dtype_by_any_name(fitted.string) : DTYPE_NONE;
    if (param->value.kind == PARAM_DTYPE && dtype)
        fitted = (struct param_value){.kind = PARAM_DTYPE, .dtype = dtype};
    enum status status = param_accepts(param, &fitted, err);
    if (!status)
        *value = fitted;
    return status;
}

enum status plan_device_values(struct param_value *values, const struct manifest *manifest,
                               const struct device_facts *device, struct err *err)
{
    for (size_t k = 0; k < manifest->param_count; k++) {
        if (manifest_default(&values[k], &manifest->params[k], device, err))
            return err->status;
    }
    FOR_EACH(const struct manifest_variant, variant, manifest->variants, manifest->variant_count) {
        if ((variant->backend && !text_matches(device->backend, variant->backend)) ||
            (variant->arch && !text_matches(device->arch, variant->arch)) ||
            (variant->wave && (double)variant->wave != device->wave))
            continue;
        for (size_t p = 0; p < variant->param_count; p++) {
            const int param = manifest_param(manifest, variant->params[p].name);
            if (param >= 0 && manifest_default(&values[param], &variant->params[p], device, err))
                return err->status;
        }
        break;
    }
    return STATUS_OK;
}

enum status values_check_asked(const struct manifest *manifest, const struct param_value *values, struct err *err)
{
    struct err cause;
    for (size_t k = 0; k < manifest->param_count; k++)
        if (param_accepts(&manifest->params[k], &values[k], &cause))
            return err_set(err, ERR_UNSUPPORTED, "this device's default is not possible: %s", cause.text);
    return STATUS_OK;
}

enum status param_find(size_t *param, const struct manifest *manifest, const char *name, struct err *err)
{
    const int found = manifest_param(manifest, name);
    if (found >= 0) {
        *param = (size_t)found;
        return STATUS_OK;
    }
    const char *names[MAX_NAMED] = {NULL};
    size_t count = 0;
    for (size_t k = 0; k < manifest->param_count && count < MAX_NAMED; k++)
        names[count++] = manifest->params[k].name;
    err_set(err, ERR_CONFIG, "kernel '%s' has no parameter '%s'", manifest->name, name);
    return err_nearest(err, name, names, count, NULL);
}

void *joined(struct arena *arena, const void *first, size_t first_count, const void *second, size_t second_count,
             size_t size)
{
    char *both = arena_array(arena, first_count + second_count, size);
    if (first_count)
        memcpy(both, first, first_count * size);
    if (second_count)
        memcpy(both + first_count * size, second, second_count * size);
    return both;
}

/* ---- lookup by key ---- */

void key_add_text(struct text *key, const char *string)
{
    text_addn(key, string ? "+" : "-", 1);
    if (string)
        text_addn(key, string, strlen(string) + 1);
}

static void key_add_number(struct text *key, double number)
{
    const double plain = number + 0.0; /* -0 + 0 is +0: equal values give one key */
    text_addn(key, (const char *)&plain, sizeof(plain));
}

void key_add_value(struct text *key, const struct param_value *value)
{
    text_addn(key, &"ndsl"[value->kind], 1);
    switch (value->kind) {
    case PARAM_NUMBER:
        key_add_number(key, value->number);
        break;
    case PARAM_DTYPE:
        key_add_number(key, value->dtype);
        break;
    case PARAM_STRING:
        key_add_text(key, value->string);
        break;
    case PARAM_LIST:
        key_add_number(key, (double)value->count);
        for (size_t k = 0; k < value->count; k++)
            key_add_number(key, value->list[k]);
        break;
    }
}

/* Open addressing with linear probing. The number of slots is a power of two, at most half of them used. */
struct key_slot {
    uint64_t hash;
    const char *key; /* NULL: free */
    uint32_t length, number;
};

#define FIRST_CAPACITY 64

/* Returns the slot that holds the key, or the free slot where it belongs. */
static struct key_slot *slot_of(const struct key_index *index, uint64_t hash, const char *key, size_t length)
{
    size_t at = (size_t)hash & (index->capacity - 1);
    for (;; at = (at + 1) & (index->capacity - 1)) {
        struct key_slot *slot = &index->slots[at];
        if (!slot->key || (slot->hash == hash && slot->length == length && !memcmp(slot->key, key, length)))
            return slot;
    }
}

size_t index_find(const struct key_index *index, const char *key, size_t length)
{
    if (!index->capacity)
        return INDEX_NONE;
    const struct key_slot *slot = slot_of(index, hash_u64(key, length), key, length);
    return slot->key ? slot->number : INDEX_NONE;
}

size_t index_add(struct key_index *index, const char *key, size_t length)
{
    const uint64_t hash = hash_u64(key, length);
    if (2 * (index->count + 1) > index->capacity) {
        struct key_index larger = {.count = index->count};
        larger.capacity = index->capacity ? 2 * index->capacity : FIRST_CAPACITY;
        larger.slots = new_zeroed(larger.capacity, sizeof(*larger.slots));
        FOR_EACH(const struct key_slot, slot, index->slots, index->capacity)
            if (slot->key)
                *slot_of(&larger, slot->hash, slot->key, slot->length) = *slot;
        free(index->slots);
        *index = larger;
    }
    *slot_of(index, hash, key, length) = (struct key_slot){hash, key, (uint32_t)length, (uint32_t)index->count};
    return index->count++;
}

void index_release(struct key_index *index)
{
    free(index->slots);
    *index = (struct key_index){0};
}

struct planned_kernel *kernel_of(struct planner *planner, const struct manifest *manifest)
{
    /* Searches from the newest: cases of one kernel are adjacent, apart from their reference's. */
    for (size_t k = planner->kernel_count; k-- > 0;)
        if (planner->kernels[k].manifest == manifest)
            return &planner->kernels[k];
    ARENA_PUSH(&planner->scratch, planner->kernels, planner->kernel_count,
               (struct planned_kernel){.manifest = manifest});
    struct planned_kernel *added = &planner->kernels[planner->kernel_count - 1];
    added->compiled = arena_array(&planner->scratch, manifest->param_count, sizeof(*added->compiled));
    added->varies = arena_array(&planner->scratch, manifest->param_count, sizeof(*added->varies));
    for (size_t k = 0; k < manifest->param_count; k++)
        added->compiled[k] = manifest_param_is_compiled(manifest, k);
    return added;
}

/* ---- ids and labels ---- */

void case_id(struct text *id, const struct manifest *manifest, const char *const *texts, enum cache_mode cache)
{
    text_clear(id);
    text_add(id, manifest->name);
    text_addn(id, "/", 1);
    for (size_t k = 0; k < manifest->param_count; k++) {
        if (manifest->params[k].implied && strcmp(texts[k], "0") == 0)
            continue;
        text_add(id, manifest->params[k].name);
        text_addn(id, "=", 1);
        text_add(id, texts[k]);
        text_addn(id, ";", 1);
    }
    text_add(id, "mode=");
    text_add(id, cache_mode_names[cache]);
}

/* Writes exact multiples as "64Ki", and every other value as in ids. */
static void add_value(struct text *label, const struct param_value *value, struct arena *arena)
{
    static const char *const suffixes[] = {"", "Ki", "Mi", "Gi", "Ti"};
    double number = value->number;
    size_t power = 0;
    if (value->kind == PARAM_NUMBER && number >= 1024)
        while (power < 4 && number >= 1024 && fmod(number, 1024) == 0) {
            number /= 1024;
            power++;
        }
    if (power)
        text_addf(label, "%.0f%s", number, suffixes[power]);
    else
        text_add(label, param_text(arena, value));
}

static void add_label(struct plan_case *plan_case, const struct planned_kernel *kernel, struct planner *planner)
{
    const struct manifest *manifest = kernel->manifest;
    struct text *label = &planner->key;
    text_clear(label);
    text_add(label, manifest->name);
    if (plan_case->shape)
        text_addf(label, " %s", plan_case->shape);
    for (size_t k = 0; k < manifest->param_count; k++) {
        if (!kernel->varies[k])
            continue;
        text_addn(label, " ", 1);
        text_add(label, manifest->params[k].name);
        text_addn(label, "=", 1);
        add_value(label, &plan_case->resolved.values[k], &planner->once);
    }
    if (kernel->mode_varies) {
        text_addn(label, " ", 1);
        text_add(label, cache_mode_names[plan_case->measure.cache]);
    }
    if (plan_case->twin)
        text_addf(label, " isolate=%s", plan_case->twin->name);
    plan_case->label = arena_strndup(planner->arena, label->data, label->length);
    arena_reset(&planner->once);
}

void label_cases(struct planner *planner)
{
    struct plan_case *cases = planner->cases;
    for (size_t k = 0; k < planner->ids.count; k++) {
        struct planned_kernel *kernel = kernel_of(planner, cases[k].resolved.manifest);
        kernel->first = kernel->first ? kernel->first : &cases[k];
        for (size_t p = 0; p < kernel->manifest->param_count; p++)
            if (!param_equal(&kernel->first->resolved.values[p], &cases[k].resolved.values[p]))
                kernel->varies[p] = true;
        if (kernel->first->measure.cache != cases[k].measure.cache)
            kernel->mode_varies = true;
    }
    for (size_t k = 0; k < planner->ids.count; k++)
        add_label(&cases[k], kernel_of(planner, cases[k].resolved.manifest), planner);
}
