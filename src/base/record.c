/* SPDX-License-Identifier: MIT
 *
 * Tables of a struct's members, and how records are written. record_read.c reads them.
 */
#include "rooftile/record.h"

#include "json_internal.h"

static const struct record_field one_string = {.kind = RECORD_STRING, .rules = RECORD_SPARSE};
static const struct record_field one_word = {.kind = RECORD_STRING, .rules = RECORD_FILLED};
static const struct record_field one_number = {.kind = RECORD_F64, .rules = RECORD_NAN | RECORD_ZERO | RECORD_SIGNED};
static const struct record_field one_u32 = {.kind = RECORD_U32};
const struct record record_string = {.fields = &one_string, .count = 1, .size = sizeof(const char *)};
const struct record record_word = {.fields = &one_word, .count = 1, .size = sizeof(const char *)};
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

static bool is_known(const struct record_field *field, const char *base)
{
    const void *at = base + field->offset;
    switch (field->kind) {
    case RECORD_F64:
        return isfinite(*(const double *)at) && (field->rules & RECORD_ZERO || *(const double *)at != 0);
    case RECORD_U32:
        return u32_at(at) != 0;
    case RECORD_U64:
        return u64_at(at) != (field->rules & RECORD_NAN ? UINT64_MAX : 0);
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
        return !(field->rules & (RECORD_SPARSE | RECORD_NULLABLE)) ||
               (field->record->known ? field->record->known(at) : is_known(&field->record->fields[0], at));
    case RECORD_LIST:
    case RECORD_ROOM:
    case RECORD_MAP:
        return element_count(field, base) > 0;
    case RECORD_FIXED:
    case RECORD_TIME:
    case RECORD_HOOK:
    case RECORD_COMMENT:
        break;
    }
    return true;
}

/* Tells whether an unknown value is written as null. */
bool record_is_nullable(const struct record_field *field)
{
    const bool never = field->rules & (RECORD_SPARSE | RECORD_REQUIRED);
    switch (field->kind) {
    case RECORD_F64:
    case RECORD_STRING:
    case RECORD_CHARS:
        return !never;
    case RECORD_U64:
        return field->rules & RECORD_NAN && !never;
    case RECORD_ENUM:
        return field->rules & RECORD_FROM_ONE && !never;
    case RECORD_OBJECT:
        return field->rules & RECORD_NULLABLE;
    default:
        return false;
    }
}

/* ---- writing ---- */

static void write_field(struct json_out *out, const char *key, const struct record_field *field, const char *base);

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

static void write_field(struct json_out *out, const char *key, const struct record_field *field, const char *base)
{
    const void *at = base + field->offset;
    const bool known = is_known(field, base);
    char text[64];
    if (!known && record_is_nullable(field)) {
        json_out_null(out, key);
        if (field->kind == RECORD_F64 && field->reason) {
            snprintf(text, sizeof(text), "%s_reason", key);
            json_out_string(out, text, field->reason);
        }
        return;
    }
    switch (field->kind) {
    case RECORD_F64:
        if (field->rules & RECORD_ROUNDED)
            snprintf(text, sizeof(text), "%.6g", *(const double *)at);
        json_out_number(out, key, field->rules & RECORD_ROUNDED ? strtod(text, NULL) : *(const double *)at);
        break;
    case RECORD_U32:
        json_out_u64(out, key, u32_at(at));
        break;
    case RECORD_U64:
        json_out_u64(out, key, u64_at(at));
        break;
    case RECORD_BOOL:
        if (field->names)
            json_out_string(out, key, field->names[*(const bool *)at]);
        else
            json_out_bool(out, key, *(const bool *)at);
        break;
    case RECORD_STRING:
    case RECORD_CHARS:
        json_out_string(out, key, string_at(field, at));
        break;
    case RECORD_ENUM:
        json_out_string(out, key, field->names[u32_at(at)]);
        break;
    case RECORD_BITS:
        json_out_array(out, key);
        for (size_t bit = 0; bit < field->size; bit++)
            if (u32_at(at) & 1u << bit)
                json_out_string(out, NULL, field->names[bit]);
        json_out_end(out);
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
        if (field->put)
            field->put(out, key, at);
        break;
    case RECORD_TIME:
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
