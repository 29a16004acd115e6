/* SPDX-License-Identifier: MIT
 *
 * Reading records: files written by programs (record_get), and files written by people (record_parse).
 */
#include <assert.h>

#include "json_internal.h"
#include "rooftile/record.h"
#include "rooftile/units.h"

/* No table has more rows; strict reading lists its keys. */
#define MOST_FIELDS 64

_Static_assert(sizeof(size_t) == sizeof(uint64_t), "a size_t is read as RECORD_U64");

static enum status read_record(void *base, const struct record *record, const cJSON *json, struct record_in *in,
                               struct err *err);
static enum status read_field(char *base, const struct record_field *field, const cJSON *json, const cJSON *parent,
                              struct record_in *in, struct err *err);

/* Reports that "a number" or "a number or null" is required. */
static enum status fail_type(const struct record_field *field, const cJSON *json, const char *wanted,
                             const struct record_in *in, struct err *err)
{
    const bool nullable = field->rules & RECORD_UNKNOWN || (!in->by_hand && record_is_nullable(field));
    return json_fail(json, err, "must be %s%s, not %s", wanted, nullable ? " or null" : "", json_type_name(json));
}

static enum status read_number(void *at, const struct record_field *field, const cJSON *json,
                               const struct record_in *in, struct err *err)
{
    uint64_t whole = 0;
    if (!cJSON_IsNumber(json))
        return fail_type(field, json, "a number", in, err);
    const double value = json->valuedouble;
    if (field->rules & RECORD_POSITIVE && value <= 0)
        return json_fail(json, err, "must be above 0, not %.17g", value);
    if (field->kind == RECORD_F64) {
        if (field->rules & RECORD_SHARE && (value < 0 || value > 1))
            return json_fail(json, err, "must be from 0 to 1, not %.17g", value);
        if (value < 0 && !(field->rules & RECORD_SIGNED))
            return json_fail(json, err, "cannot be negative");
        *(double *)at = value;
        return STATUS_OK;
    }
    const uint64_t most = field->kind == RECORD_U32 ? UINT32_MAX : field->rules & RECORD_NAN ? 1ull << 63 : 1ull << 53;
    const enum status status = json_whole(&whole, json, most, err);
    if (field->kind == RECORD_U32)
        *(uint32_t *)at = (uint32_t)whole;
    else
        *(uint64_t *)at = whole;
    return status;
}

/* Unwraps { "value": number, "source": "..." }, a number whose source is documented for readers. */
static enum status unwrap(const cJSON **json, const struct record_in *in, struct err *err)
{
    static const char *const keys[] = {"value", "source"};
    const cJSON *object = *json;
    const char *source = NULL;
    enum status status = in->strict ? json_check_keys(object, keys, COUNT_OF(keys), err) : STATUS_OK;
    if (!status)
        status = json_get_string(&source, object, "source", JSON_REQUIRED, err);
    *json = json_member(object, "value");
    return status || *json ? status : json_fail(object, err, "the key 'value' is missing");
}

static enum status read_string(void *at, const struct record_field *field, const cJSON *json,
                               const struct record_in *in, struct err *err)
{
    if (!cJSON_IsString(json))
        return fail_type(field, json, "a string", in, err);
    if (field->rules & RECORD_FILLED && !*json->valuestring)
        return json_fail(json, err, "is empty");
    if (field->kind == RECORD_STRING) {
        *(const char **)at = arena_strdup(in->arena, json->valuestring);
        return STATUS_OK;
    }
    if (strlen(json->valuestring) >= field->size)
        return json_fail(json, err, "must be shorter than %zu bytes", field->size);
    snprintf(at, field->size, "%s", json->valuestring);
    return STATUS_OK;
}

static enum status read_time(double *time_ns, const cJSON *json, struct err *err)
{
    double read = 0;
    if (json_check_type(json, cJSON_String, err))
        return err->status;
    if (!units_parse_time_ns(&read, json->valuestring))
        return json_fail(json, err, "must be a duration such as \"0.5 s\"");
    *time_ns = read;
    return STATUS_OK;
}

/* Returns the first name that represents a value. */
static size_t first_name(const struct record_field *field)
{
    return field->kind == RECORD_ENUM && field->rules & RECORD_FROM_ONE;
}

/* Returns the last of equal names, or -1 if there is none. */
static int named(const struct record_field *field, const char *name)
{
    for (int k = (int)field->size - 1; k >= (int)first_name(field); k--)
        if (strcmp(field->names[k], name) == 0)
            return k;
    return -1;
}

static enum status read_name(void *at, const struct record_field *field, const cJSON *json, struct err *err)
{
    char problem[64];
    if (json_check_type(json, cJSON_String, err))
        return err->status;
    const int value = named(field, json->valuestring);
    snprintf(problem, sizeof(problem), "unknown %s", field->key);
    if (value < 0)
        return json_fail_unknown(json, err, problem, json->valuestring, field->names + first_name(field),
                                 field->size - first_name(field));
    if (field->kind == RECORD_BOOL)
        *(bool *)at = value != 0;
    else
        *(uint32_t *)at = (uint32_t)value;
    return STATUS_OK;
}

static enum status read_bits(void *at, const struct record_field *field, const cJSON *json, struct err *err)
{
    enum status status = json_check_type(json, cJSON_Array, err);
    for (const cJSON *item = status ? NULL : json->child; item && !status; item = item->next) {
        status = cJSON_IsString(item) ? STATUS_OK : json_fail(item, err, "must be a string");
        const int bit = status ? -1 : named(field, item->valuestring);
        if (bit >= 0)
            *(uint32_t *)at |= 1u << bit;
    }
    return status;
}

/* Allocates the elements. */
static enum status make_room(char **elements, char *base, const struct record_field *field, const cJSON *json,
                             size_t count, const struct record_in *in, struct err *err)
{
    const size_t size = field->record->size, most = field->size / size;
    *elements = base + field->offset;
    if (field->kind == RECORD_FIXED)
        return cJSON_IsArray(json) && count == most ? STATUS_OK
                                                    : json_fail(json, err, "must be an array of %zu numbers", most);
    if (json_check_type(json, field->kind == RECORD_MAP ? cJSON_Object : cJSON_Array, err))
        return err->status;
    if (field->rules & RECORD_FILLED && !count)
        return json_fail(json, err, "the list is empty");
    if (field->kind == RECORD_ROOM) {
        if (count > most)
            return json_fail(json, err, "has %zu elements, at most %zu are possible", count, most);
        *(uint32_t *)(void *)(base + field->count) = (uint32_t)count;
        return STATUS_OK;
    }
    size_t *total = (size_t *)(void *)(base + field->count), before = field->rules & RECORD_APPEND ? *total : 0;
    char *all = arena_array(in->arena, before + count + 1, size), **own = (char **)(void *)(base + field->offset);
    if (before)
        memcpy(all, *own, before * size);
    *elements = all + before * size;
    *own = all;
    *total = before + count;
    return STATUS_OK;
}

static enum status read_element(char *at, const struct record_field *field, const cJSON *item, struct record_in *in,
                                struct err *err)
{
    const struct record *record = field->record;
    if (record->named && !json_is_identifier(item->string))
        return json_fail_key(item, err, "the name of a %s has letters, digits and '_' only and starts with no digit",
                             record->named);
    in->row = field;
    if (record->get)
        return record->get(at, item, in, err);
    if (field->kind == RECORD_MAP)
        *(const char **)(void *)at = arena_strdup(in->arena, item->string);
    return record->fields[0].key ? read_record(at, record, item, in, err)
                                 : read_field(at, &record->fields[0], item, NULL, in, err);
}

static enum status read_elements(char *base, const struct record_field *field, const cJSON *json, struct record_in *in,
                                 struct err *err)
{
    /* In files written by programs, every key is data. */
    const bool comments = in->by_hand && field->kind == RECORD_MAP && cJSON_IsObject(json);
    char *first = NULL;
    size_t filled = 0;
    enum status status =
        make_room(&first, base, field, json, comments ? json_entry_count(json) : json_count(json), in, err);
    for (const cJSON *item = json->child; item && !status; item = item->next) {
        if (comments && json_is_comment(item))
            continue;
        in->object = base;
        status = read_element(first + filled * field->record->size, field, item, in, err);
        const char *const *words = (const char *const *)(void *)first;
        for (size_t k = 0; k < filled && !status && field->rules & RECORD_ONCE; k++)
            if (strcmp(words[k], item->valuestring) == 0)
                status = json_fail(item, err, "'%s' stands here twice", item->valuestring);
        filled++;
    }
    return status;
}

static enum status read_value(char *base, const struct record_field *field, const cJSON *json, struct record_in *in,
                              struct err *err)
{
    void *at = base + field->offset;
    switch (field->kind) {
    case RECORD_F64:
    case RECORD_U32:
    case RECORD_U64:
        return read_number(at, field, json, in, err);
    case RECORD_BOOL:
        if (field->names)
            return read_name(at, field, json, err);
        *(bool *)at = cJSON_IsTrue(json);
        return json_check_type(json, cJSON_False | cJSON_True, err);
    case RECORD_STRING:
    case RECORD_CHARS:
        return read_string(at, field, json, in, err);
    case RECORD_TIME:
        return read_time(at, json, err);
    case RECORD_ENUM:
        return read_name(at, field, json, err);
    case RECORD_BITS:
        return read_bits(at, field, json, err);
    case RECORD_OBJECT:
        return read_record(at, field->record, json, in, err);
    case RECORD_LIST:
    case RECORD_ROOM:
    case RECORD_FIXED:
    case RECORD_MAP:
        return read_elements(base, field, json, in, err);
    case RECORD_HOOK:
        in->object = base;
        in->row = field;
        return field->get(at, json, in, err);
    case RECORD_COMMENT:
        break;
    }
    return STATUS_OK;
}

static enum status read_field(char *base, const struct record_field *field, const cJSON *json, const cJSON *parent,
                              struct record_in *in, struct err *err)
{
    if (field->rules & RECORD_UNKNOWN && cJSON_IsObject(json) && cJSON_IsNull(json_member(json, "value"))) {
        if (unwrap(&json, in, err))
            return err->status;
    }
    if (cJSON_IsNull(json) && (field->rules & RECORD_UNKNOWN || (!in->by_hand && record_is_nullable(field))))
        json = NULL;
    if (!json && parent && field->rules & RECORD_REQUIRED)
        return json_fail(parent, err, "the key '%s' is missing", field->key);
    void *at = base + field->offset;
    if (!json && in->by_hand)
        return STATUS_OK;
    if (!json && field->kind == RECORD_OBJECT)
        return read_record(at, field->record, NULL, in, err);
    if (!json) {
        if (field->kind == RECORD_F64 && field->rules & RECORD_NAN)
            *(double *)at = NAN;
        if (field->kind == RECORD_U64 && field->rules & RECORD_NAN)
            *(uint64_t *)at = UINT64_MAX;
        if (field->kind == RECORD_STRING)
            *(const char **)at = "";
        return STATUS_OK;
    }
    if (field->rules & RECORD_SOURCED && cJSON_IsObject(json)) {
        if (unwrap(&json, in, err))
            return err->status;
    }
    return read_value(base, field, json, in, err);
}

enum status record_check_keys(const struct record *record, const cJSON *json, struct err *err)
{
    const char *keys[MOST_FIELDS];
    assert(record->count <= MOST_FIELDS);
    for (size_t k = 0; k < record->count; k++)
        keys[k] = record->fields[k].key;
    return json_check_keys(json, keys, record->count, err);
}

static enum status read_record(void *base, const struct record *record, const cJSON *json, struct record_in *in,
                               struct err *err)
{
    if (json && !cJSON_IsObject(json))
        return json_fail_type(json, "an object", err);
    enum status status = json && in->strict ? record_check_keys(record, json, err) : STATUS_OK;
    const cJSON *next = json ? json->child : NULL; /* members are mostly in the table's order */
    for (size_t k = 0; k < record->count && !status; k++) {
        const struct record_field *field = &record->fields[k];
        const bool here = next && strcmp(next->string, field->key) == 0;
        const cJSON *member = here ? next : json_member(json, field->key);
        if (member)
            next = member->next;
        status = read_field(base, field, member, json, in, err);
    }
    return !status && json && record->check ? record->check(base, json, err) : status;
}

enum status record_get(void *base, const struct record *record, const cJSON *json, bool strict, struct arena *arena,
                       struct err *err)
{
    return read_record(base, record, json, &(struct record_in){.arena = arena, .strict = strict}, err);
}

enum status record_parse(void *base, const struct record *record, const cJSON *json, struct record_in *in,
                         struct err *err)
{
    in->by_hand = in->strict = true;
    return read_record(base, record, json, in, err);
}

enum status record_parse_row(void *base, const struct record_field *row, const cJSON *json, struct record_in *in,
                             struct err *err)
{
    in->by_hand = in->strict = true;
    return read_field(base, row, json, NULL, in, err);
}
