/* SPDX-License-Identifier: MIT */
#include "fields.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "rooftile/measurement.h"

static const char *enum_name(enum measurement_enum which, int value)
{
    switch (which) {
    case ENUM_STATUS:
        return case_status_name((enum case_status)value);
    case ENUM_TIMER:
        return timer_name((enum timer)value);
    case ENUM_DISCARD:
        return discard_name((enum discard)value);
    case ENUM_VERDICT:
        return verdict_name((enum verdict)value);
    case ENUM_STOP:
        return stop_reason_name((enum stop_reason)value);
    case ENUM_FLAG:
        return case_flag_name((unsigned)value);
    }
    return NULL;
}

static void write_number(struct json_out *out, const struct field *field, double value)
{
    char key[64];
    if (isfinite(value) && (value != 0 || field->reason)) {
        json_out_number(out, field->key, value);
        return;
    }
    json_out_null(out, field->key);
    if (!field->reason || !field->reason[0])
        return;
    snprintf(key, sizeof(key), "%s_reason", field->key);
    json_out_string(out, key, field->reason);
}

static void write_string(struct json_out *out, const char *key, const char *value)
{
    json_out_string(out, key, value && value[0] ? value : NULL);
}

static void write_u32s(struct json_out *out, const struct field *field, const char *at)
{
    json_out_array(out, field->key);
    for (size_t k = 0; k < field->size; k++) {
        uint32_t value;
        memcpy(&value, at + k * sizeof(value), sizeof(value));
        json_out_u64(out, NULL, value);
    }
    json_out_end(out);
}

static void write_field(struct json_out *out, const struct field *field, const char *at)
{
    switch (field->kind) {
    case FIELD_NULL:
        json_out_null(out, field->key);
        break;
    case FIELD_F64:
    case FIELD_SIGNED:
        write_number(out, field, *(const double *)(const void *)at);
        break;
    case FIELD_F64S:
        json_out_numbers(out, field->key, (const double *)(const void *)at, field->size);
        break;
    case FIELD_U32:
        json_out_u64(out, field->key, *(const uint32_t *)(const void *)at);
        break;
    case FIELD_U32S:
        write_u32s(out, field, at);
        break;
    case FIELD_U64:
        json_out_u64(out, field->key, *(const uint64_t *)(const void *)at);
        break;
    case FIELD_BOOL:
        json_out_bool(out, field->key, *(const bool *)at);
        break;
    case FIELD_STRING:
        write_string(out, field->key, *(const char *const *)(const void *)at);
        break;
    case FIELD_CHARS:
        write_string(out, field->key, at);
        break;
    case FIELD_ENUM:
        json_out_string(out, field->key, enum_name((enum measurement_enum)field->size, *(const int *)(const void *)at));
        break;
    case FIELD_CACHE:
        json_out_string(out, field->key, cache_mode_name(*(const enum cache_mode *)(const void *)at));
        break;
    }
}

void fields_write(struct json_out *out, const struct field *fields, size_t count, const void *base)
{
    for (size_t k = 0; k < count; k++)
        write_field(out, &fields[k], (const char *)base + fields[k].offset);
}

/* ---- in ---- */

static enum status wrong_type(const struct json *json, const char *wanted, struct err *err)
{
    return json_fail(json, err, "must be %s, not %s", wanted, json_type_name(json->type));
}

static enum status read_number(double *value, const struct field *field, const struct json *json, struct err *err)
{
    if (json->type == JSON_NULL) {
        *value = field->reason ? NAN : 0;
        return STATUS_OK;
    }
    if (json->type != JSON_NUMBER)
        return wrong_type(json, "a number or null", err);
    if (field->kind != FIELD_SIGNED && json->number < 0)
        return json_fail(json, err, "cannot be negative");
    *value = json->number;
    return STATUS_OK;
}

static enum status read_whole(uint64_t *value, const struct json *json, double limit, struct err *err)
{
    if (json->type == JSON_NULL) {
        *value = 0;
        return STATUS_OK;
    }
    if (json->type != JSON_NUMBER)
        return wrong_type(json, "a number", err);
    if (json->number < 0 || json->number > limit || json->number != floor(json->number))
        return json_fail(json, err, "must be a whole number from 0 to %.0f", limit);
    *value = (uint64_t)json->number;
    return STATUS_OK;
}

static enum status read_u32(char *at, const struct json *json, struct err *err)
{
    uint64_t whole = 0;
    const enum status status = read_whole(&whole, json, UINT32_MAX, err);
    if (status)
        return status;
    const uint32_t value = (uint32_t)whole;
    memcpy(at, &value, sizeof(value));
    return STATUS_OK;
}

static enum status read_list(char *at, const struct field *field, const struct json *json, struct err *err)
{
    if (json->type != JSON_ARRAY || json->count != field->size)
        return json_fail(json, err, "must be an array of %zu numbers", field->size);
    enum status status = STATUS_OK;
    for (const struct json *item = json->first; item && !status; item = item->next) {
        if (field->kind == FIELD_U32S) {
            status = read_u32(at, item, err);
            at += sizeof(uint32_t);
            continue;
        }
        status = read_number((double *)(void *)at, field, item, err);
        at += sizeof(double);
    }
    return status;
}

static enum status read_string(char *at, const struct field *field, const struct json *json, struct arena *arena,
                               struct err *err)
{
    if (json->type != JSON_STRING && json->type != JSON_NULL)
        return wrong_type(json, "a string or null", err);
    const char *string = json->type == JSON_STRING ? json->string : "";
    if (field->kind == FIELD_STRING) {
        const char *copy = arena_strdup(arena, string);
        memcpy(at, &copy, sizeof(copy));
        return STATUS_OK;
    }
    if (strlen(string) >= field->size)
        return json_fail(json, err, "must be shorter than %zu bytes", field->size);
    snprintf(at, field->size, "%s", string);
    return STATUS_OK;
}

static enum status read_enum(char *at, const struct field *field, const struct json *json, struct err *err)
{
    int value = -1;
    if (json->type != JSON_STRING)
        return wrong_type(json, "a string", err);
    if (field->kind == FIELD_ENUM)
        value = measurement_from_name((enum measurement_enum)field->size, json->string);
    for (int mode = CACHE_HOT; field->kind == FIELD_CACHE && mode <= CACHE_ROTATE; mode++)
        if (strcmp(cache_mode_name((enum cache_mode)mode), json->string) == 0)
            value = mode;
    if (value < 0)
        return json_fail(json, err, "'%s' is not a value of '%s'", json->string, field->key);
    memcpy(at, &value, sizeof(value));
    return STATUS_OK;
}

static enum status read_field(char *at, const struct field *field, const struct json *json, struct arena *arena,
                              struct err *err)
{
    switch (field->kind) {
    case FIELD_NULL:
        return STATUS_OK;
    case FIELD_F64:
    case FIELD_SIGNED:
        return read_number((double *)(void *)at, field, json, err);
    case FIELD_F64S:
    case FIELD_U32S:
        return read_list(at, field, json, err);
    case FIELD_U32:
        return read_u32(at, json, err);
    case FIELD_U64:
        return read_whole((uint64_t *)(void *)at, json, 0x1p53, err);
    case FIELD_BOOL:
        if (json->type != JSON_BOOL)
            return wrong_type(json, "a boolean", err);
        *(bool *)at = json->boolean;
        return STATUS_OK;
    case FIELD_STRING:
    case FIELD_CHARS:
        return read_string(at, field, json, arena, err);
    case FIELD_ENUM:
    case FIELD_CACHE:
        return read_enum(at, field, json, err);
    }
    return STATUS_OK;
}

enum status fields_read(void *base, const struct field *fields, size_t count, const struct json *object,
                        struct arena *arena, struct err *err)
{
    enum status status = STATUS_OK;
    if (object && object->type != JSON_OBJECT)
        return wrong_type(object, "an object", err);
    const struct json *next = object ? object->first : NULL; /* members mostly stand in the table's order */
    for (size_t k = 0; k < count && !status; k++) {
        char *at = (char *)base + fields[k].offset;
        const bool here = next && strcmp(next->key, fields[k].key) == 0;
        const struct json *json = here ? next : json_member(object, fields[k].key);
        if (json)
            next = json->next;
        if (json)
            status = read_field(at, &fields[k], json, arena, err);
        else if (fields[k].reason)
            *(double *)(void *)at = NAN;
        else if (fields[k].kind == FIELD_STRING)
            *(const char **)(void *)at = "";
    }
    return status;
}

enum status strings_read(const char *const **out, size_t *count, const struct json *parent, const char *key,
                         struct arena *arena, struct err *err)
{
    const struct json *array = NULL;
    if (!parent)
        return STATUS_OK;
    const enum status status = json_get_array(&array, parent, key, JSON_OPTIONAL, err);
    if (status || !array)
        return status;
    const char **list = arena_array(arena, array->count + 1, sizeof(*list));
    for (const struct json *item = array->first; item; item = item->next) {
        if (item->type != JSON_STRING)
            return json_fail(item, err, "must be a string");
        list[(*count)++] = arena_strdup(arena, item->string);
    }
    *out = list;
    return STATUS_OK;
}
