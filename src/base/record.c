/* SPDX-License-Identifier: MIT */
#include "rooftile/record.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* No table has more rows; strict reading lists its keys. */
#define MOST_FIELDS 64

_Static_assert(sizeof(size_t) == sizeof(uint64_t), "a size_t is read as RECORD_U64");

static const struct record_field one_string = {NULL, RECORD_STRING, RECORD_SPARSE, 0, 0, 0, {NULL}};
static const struct record_field one_number = {NULL, RECORD_F64, RECORD_NAN | RECORD_ZERO | RECORD_SIGNED, 0, 0,
                                               0,    {NULL}};
static const struct record_field one_u32 = {NULL, RECORD_U32, 0, 0, 0, 0, {NULL}};
const struct record record_string = {.fields = &one_string, .count = 1, .size = sizeof(const char *)};
const struct record record_number = {.fields = &one_number, .count = 1, .size = sizeof(double)};
const struct record record_u32 = {.fields = &one_u32, .count = 1, .size = sizeof(uint32_t)};

/* ---- members of a struct ---- */

static uint32_t u32_at(const void *at)
{
    return *(const uint32_t *)at;
}

static uint64_t u64_at(const void *at)
{
    return *(const uint64_t *)at;
}

static const char *string_at(const struct record_field *field, const void *at)
{
    const char *string = field->kind == RECORD_CHARS ? at : *(const char *const *)at;
    return string ? string : "";
}

static size_t element_count(const struct record_field *field, const char *base)
{
    switch (field->kind) {
    case RECORD_FIXED:
        return field->size / field->record->size;
    case RECORD_ROOM:
        return u32_at(base + field->count);
    default:
        return u64_at(base + field->count);
    }
}

static bool is_known(const struct record_field *field, const char *base);

static bool object_known(const struct record *record, const char *base)
{
    return record->known ? record->known(base) : is_known(&record->fields[0], base);
}

static bool is_known(const struct record_field *field, const char *base)
{
    const void *at = base + field->offset;
    switch (field->kind) {
    case RECORD_F64:
        return isfinite(*(const double *)at) && (field->rules & RECORD_ZERO || *(const double *)at != 0);
    case RECORD_U32:
        return u32_at(at) != 0;
    case RECORD_U64:
        return u64_at(at) != 0;
    case RECORD_BOOL:
        return *(const bool *)at;
    case RECORD_STRING:
    case RECORD_CHARS:
        return string_at(field, at)[0] != '\0';
    case RECORD_ENUM:
        return !(field->rules & RECORD_FROM_ONE) || u32_at(at) != 0;
    case RECORD_BITS:
        return u32_at(at) != 0;
    case RECORD_OBJECT:
        return !(field->rules & (RECORD_SPARSE | RECORD_NULLABLE)) || object_known(field->record, at);
    case RECORD_LIST:
    case RECORD_ROOM:
    case RECORD_MAP:
        return element_count(field, base) > 0;
    case RECORD_FIXED:
    case RECORD_HOOK:
    case RECORD_COMMENT:
        break;
    }
    return true;
}

/* What is null when it is unknown. */
static bool is_nullable(const struct record_field *field)
{
    const bool never = field->rules & (RECORD_SPARSE | RECORD_REQUIRED);
    switch (field->kind) {
    case RECORD_F64:
    case RECORD_STRING:
    case RECORD_CHARS:
        return !never;
    case RECORD_ENUM:
        return field->rules & RECORD_FROM_ONE && !never;
    case RECORD_OBJECT:
        return field->rules & RECORD_NULLABLE;
    default:
        return false;
    }
}

/* ---- out ---- */

static void write_field(struct json_out *out, const char *key, const struct record_field *field, const char *base);

static void write_null(struct json_out *out, const char *key, const struct record_field *field)
{
    char reason_key[64];
    json_out_null(out, key);
    if (field->kind != RECORD_F64 || !field->reason)
        return;
    snprintf(reason_key, sizeof(reason_key), "%s_reason", key);
    json_out_string(out, reason_key, field->reason);
}

static void write_element(struct json_out *out, const char *key, const struct record *record, const char *at)
{
    if (!record->fields[0].key) {
        write_field(out, key, &record->fields[0], at);
        return;
    }
    json_out_object(out, key);
    record_put(out, record, at);
    json_out_end(out);
}

static void write_elements(struct json_out *out, const char *key, const struct record_field *field, const char *base)
{
    const bool outside = field->kind == RECORD_LIST || field->kind == RECORD_MAP, is_map = field->kind == RECORD_MAP;
    const char *at = base + field->offset;
    const size_t count = element_count(field, base), size = field->record->size;
    if (outside)
        at = *(const char *const *)(const void *)at;
    if (is_map)
        json_out_object(out, key);
    else
        json_out_array(out, key);
    for (size_t k = 0; k < count; k++, at += size)
        write_element(out, is_map ? *(const char *const *)(const void *)at : NULL, field->record, at);
    json_out_end(out);
}

static void write_bits(struct json_out *out, const char *key, const struct record_field *field, uint32_t bits)
{
    json_out_array(out, key);
    for (size_t bit = 0; bit < field->size; bit++)
        if (bits & 1u << bit)
            json_out_string(out, NULL, field->names[bit]);
    json_out_end(out);
}

static void write_bool(struct json_out *out, const char *key, const struct record_field *field, bool value)
{
    if (field->names)
        json_out_string(out, key, field->names[value]);
    else
        json_out_bool(out, key, value);
}

static void write_field(struct json_out *out, const char *key, const struct record_field *field, const char *base)
{
    const void *at = base + field->offset;
    const bool known = is_known(field, base);
    if (!known && is_nullable(field)) {
        write_null(out, key, field);
        return;
    }
    switch (field->kind) {
    case RECORD_F64:
        json_out_number(out, key, *(const double *)at);
        break;
    case RECORD_U32:
        json_out_u64(out, key, u32_at(at));
        break;
    case RECORD_U64:
        json_out_u64(out, key, u64_at(at));
        break;
    case RECORD_BOOL:
        write_bool(out, key, field, *(const bool *)at);
        break;
    case RECORD_STRING:
    case RECORD_CHARS:
        json_out_string(out, key, string_at(field, at));
        break;
    case RECORD_ENUM:
        json_out_string(out, key, field->names[u32_at(at)]);
        break;
    case RECORD_BITS:
        write_bits(out, key, field, u32_at(at));
        break;
    case RECORD_OBJECT:
        write_element(out, key, field->record, at);
        break;
    case RECORD_LIST:
    case RECORD_ROOM:
    case RECORD_FIXED:
    case RECORD_MAP:
        write_elements(out, key, field, base);
        break;
    case RECORD_HOOK:
        field->hook->put(out, key, at);
        break;
    case RECORD_COMMENT:
        break;
    }
}

void record_put(struct json_out *out, const struct record *record, const void *base)
{
    for (const struct record_field *field = record->fields; field < record->fields + record->count; field++)
        if (!(field->rules & RECORD_SPARSE) || is_known(field, base))
            write_field(out, field->key, field, base);
}

/* ---- in ---- */

struct reading {
    bool strict;
    struct arena *arena;
    struct err *err;
};

static enum status read_record(void *base, const struct record *record, const struct json *json,
                               const struct reading *r);
static enum status read_field(char *base, const struct record_field *field, const struct json *json,
                              const struct json *parent, const struct reading *r);

static enum status wrong_type(const struct json *json, const char *wanted, struct err *err)
{
    return json_fail(json, err, "must be %s, not %s", wanted, json_type_name(json->type));
}

/* Rules that hold for numbers of any kind. */
static enum status check_number(const struct record_field *field, const struct json *json, struct err *err)
{
    const double value = json->number;
    if (json->type != JSON_NUMBER)
        return wrong_type(json, is_nullable(field) ? "a number or null" : "a number", err);
    if (field->rules & RECORD_POSITIVE && value <= 0)
        return json_fail(json, err, "must be above 0, not %.17g", value);
    if (field->rules & RECORD_SHARE && (value < 0 || value > 1))
        return json_fail(json, err, "must be from 0 to 1, not %.17g", value);
    return value < 0 && field->kind == RECORD_F64 && !(field->rules & RECORD_SIGNED)
               ? json_fail(json, err, "cannot be negative")
               : STATUS_OK;
}

static enum status read_number(void *at, const struct record_field *field, const struct json *json, struct err *err)
{
    const double limit = field->kind == RECORD_U32 ? UINT32_MAX : 0x1p53;
    const enum status status = check_number(field, json, err);
    if (status)
        return status;
    if (field->kind == RECORD_F64) {
        *(double *)at = json->number;
        return STATUS_OK;
    }
    if (json->number < 0 || json->number > limit || json->number != floor(json->number))
        return json_fail(json, err, "must be a whole number from 0 to %.0f", limit);
    if (field->kind == RECORD_U32)
        *(uint32_t *)at = (uint32_t)json->number;
    else
        *(uint64_t *)at = (uint64_t)json->number;
    return STATUS_OK;
}

/* { "value": number, "source": "..." }: a number whose source is for people. */
static enum status unwrap(const struct json **json, const struct reading *r)
{
    static const char *const keys[] = {"value", "source"};
    const struct json *object = *json;
    const char *source = NULL;
    enum status status = r->strict ? json_check_keys(object, keys, RECORD_COUNT(keys), r->err) : STATUS_OK;
    if (!status)
        status = json_get_string(&source, object, "source", JSON_REQUIRED, r->err);
    *json = json_member(object, "value");
    return status || *json ? status : json_fail(object, r->err, "the key 'value' is missing");
}

static enum status read_string(void *at, const struct record_field *field, const struct json *json,
                               const struct reading *r)
{
    if (json->type != JSON_STRING)
        return wrong_type(json, is_nullable(field) ? "a string or null" : "a string", r->err);
    if (field->kind == RECORD_STRING) {
        *(const char **)at = arena_strdup(r->arena, json->string);
        return STATUS_OK;
    }
    if (strlen(json->string) >= field->size)
        return json_fail(json, r->err, "must be shorter than %zu bytes", field->size);
    snprintf(at, field->size, "%s", json->string);
    return STATUS_OK;
}

/* The last of equal names; -1: none. */
static int named(const struct record_field *field, const char *name)
{
    const int first = field->kind == RECORD_ENUM && field->rules & RECORD_FROM_ONE;
    for (int k = (int)field->size - 1; k >= first; k--)
        if (strcmp(field->names[k], name) == 0)
            return k;
    return -1;
}

static enum status read_name(void *at, const struct record_field *field, const struct json *json, struct err *err)
{
    if (json->type != JSON_STRING)
        return wrong_type(json, "a string", err);
    const int value = named(field, json->string);
    if (value < 0)
        return json_fail(json, err, "'%s' is not a value of '%s'", json->string, field->key);
    if (field->kind == RECORD_BOOL)
        *(bool *)at = value != 0;
    else
        *(uint32_t *)at = (uint32_t)value;
    return STATUS_OK;
}

static enum status read_bool(void *at, const struct record_field *field, const struct json *json, struct err *err)
{
    if (field->names)
        return read_name(at, field, json, err);
    if (json->type != JSON_BOOL)
        return wrong_type(json, "a boolean", err);
    *(bool *)at = json->boolean;
    return STATUS_OK;
}

static enum status read_bits(void *at, const struct record_field *field, const struct json *json, struct err *err)
{
    if (json->type != JSON_ARRAY)
        return wrong_type(json, "an array", err);
    for (const struct json *item = json->first; item; item = item->next) {
        if (item->type != JSON_STRING)
            return json_fail(item, err, "must be a string");
        const int bit = named(field, item->string);
        if (bit >= 0)
            *(uint32_t *)at |= 1u << bit;
    }
    return STATUS_OK;
}

/* Where the elements go, and how many there are. */
static enum status make_room(char **elements, char *base, const struct record_field *field, const struct json *json,
                             const struct reading *r)
{
    const size_t size = field->record->size, most = field->size / size;
    const enum json_type wanted = field->kind == RECORD_MAP ? JSON_OBJECT : JSON_ARRAY;
    *elements = base + field->offset;
    if (json->type != wanted)
        return field->kind == RECORD_FIXED ? json_fail(json, r->err, "must be an array of %zu numbers", most)
                                           : wrong_type(json, json_type_name(wanted), r->err);
    switch (field->kind) {
    case RECORD_FIXED:
        return json->count == most ? STATUS_OK : json_fail(json, r->err, "must be an array of %zu numbers", most);
    case RECORD_ROOM:
        if (json->count > most)
            return json_fail(json, r->err, "has %zu elements, at most %zu are possible", json->count, most);
        *(uint32_t *)(void *)(base + field->count) = (uint32_t)json->count;
        return STATUS_OK;
    default:
        *elements = arena_array(r->arena, json->count + 1, size);
        *(char **)(void *)(base + field->offset) = *elements;
        *(size_t *)(void *)(base + field->count) = json->count;
        return STATUS_OK;
    }
}

static enum status read_elements(char *base, const struct record_field *field, const struct json *json,
                                 const struct reading *r)
{
    const struct record *record = field->record;
    const bool is_bare = !record->fields[0].key;
    char *at = NULL;
    enum status status = make_room(&at, base, field, json, r);
    for (const struct json *item = json->first; item && !status; item = item->next, at += record->size) {
        if (field->kind == RECORD_MAP)
            *(const char **)(void *)at = arena_strdup(r->arena, item->key);
        status = is_bare ? read_field(at, &record->fields[0], item, NULL, r) : read_record(at, record, item, r);
    }
    return status;
}

static enum status read_unknown(void *at, const struct record_field *field, const struct reading *r)
{
    if (field->kind == RECORD_OBJECT)
        return read_record(at, field->record, NULL, r);
    if (field->kind == RECORD_F64 && field->rules & RECORD_NAN)
        *(double *)at = NAN;
    if (field->kind == RECORD_STRING)
        *(const char **)at = "";
    return STATUS_OK;
}

static enum status read_value(char *base, const struct record_field *field, const struct json *json,
                              const struct reading *r)
{
    void *at = base + field->offset;
    switch (field->kind) {
    case RECORD_F64:
    case RECORD_U32:
    case RECORD_U64:
        return read_number(at, field, json, r->err);
    case RECORD_BOOL:
        return read_bool(at, field, json, r->err);
    case RECORD_STRING:
    case RECORD_CHARS:
        return read_string(at, field, json, r);
    case RECORD_ENUM:
        return read_name(at, field, json, r->err);
    case RECORD_BITS:
        return read_bits(at, field, json, r->err);
    case RECORD_OBJECT:
        return read_record(at, field->record, json, r);
    case RECORD_LIST:
    case RECORD_ROOM:
    case RECORD_FIXED:
    case RECORD_MAP:
        return read_elements(base, field, json, r);
    case RECORD_HOOK:
        return field->hook->get(at, json, r->arena, r->err);
    case RECORD_COMMENT:
        break;
    }
    return STATUS_OK;
}

static enum status read_field(char *base, const struct record_field *field, const struct json *json,
                              const struct json *parent, const struct reading *r)
{
    if (json && json->type == JSON_NULL && is_nullable(field))
        json = NULL;
    if (!json && parent && field->rules & RECORD_REQUIRED)
        return json_fail(parent, r->err, "the key '%s' is missing", field->key);
    if (!json)
        return read_unknown(base + field->offset, field, r);
    if (field->rules & RECORD_SOURCED && json->type == JSON_OBJECT) {
        const enum status status = unwrap(&json, r);
        if (status)
            return status;
    }
    return read_value(base, field, json, r);
}

static enum status check_keys(const struct record *record, const struct json *json, struct err *err)
{
    const char *keys[MOST_FIELDS];
    assert(record->count <= MOST_FIELDS);
    for (size_t k = 0; k < record->count; k++)
        keys[k] = record->fields[k].key;
    return json_check_keys(json, keys, record->count, err);
}

static enum status read_record(void *base, const struct record *record, const struct json *json,
                               const struct reading *r)
{
    if (json && json->type != JSON_OBJECT)
        return wrong_type(json, "an object", r->err);
    enum status status = json && r->strict ? check_keys(record, json, r->err) : STATUS_OK;
    const struct json *next = json ? json->first : NULL; /* members mostly stand in the table's order */
    for (size_t k = 0; k < record->count && !status; k++) {
        const struct record_field *field = &record->fields[k];
        const bool here = next && strcmp(next->key, field->key) == 0;
        const struct json *member = here ? next : json_member(json, field->key);
        if (member)
            next = member->next;
        status = read_field(base, field, member, json, r);
    }
    return !status && json && record->check ? record->check(base, json, r->err) : status;
}

enum status record_get(void *base, const struct record *record, const struct json *json, bool strict,
                       struct arena *arena, struct err *err)
{
    const struct reading reading = {strict, arena, err};
    return read_record(base, record, json, &reading);
}
