/* SPDX-License-Identifier: MIT
 *
 * Shared by json*.c and record*.c only.
 */
#ifndef ROOFTILE_JSON_INTERNAL_H
#define ROOFTILE_JSON_INTERNAL_H

#include "rooftile/json.h"

#define JSON_NOWHERE UINT32_MAX

/* The document, for messages. */
struct json_file {
    const char *path;
    const char *text; /* zero-terminated */
    size_t length;
};

/* A value and its position. */
struct json_node {
    cJSON value; /* must be first: json_node_of */
    const struct json_node *parent;
    const struct json_file *file;
    uint32_t offset;     /* of the value in the text */
    uint32_t key_offset; /* of the key; JSON_NOWHERE outside objects */
    uint32_t index;      /* among its siblings */
    uint32_t count;      /* children, built or not */
};

static inline const struct json_node *json_node_of(const cJSON *value)
{
    return (const struct json_node *)value;
}

/* Appends `child` as the last child; the caller sets its index and the parent's count. */
void json_link(cJSON *parent, cJSON *child);

/* Like json_fail, for any byte of the value. */
void json_fail_at(const struct json_node *at, size_t offset, struct err *err, const char *format, va_list args)
    __attribute__((format(printf, 4, 0)));

/* Appends the key of a value inside an object, even if no tree is built. */
void json_add_key(struct text *out, const struct json_node *node);

static inline bool json_is_digit(int byte)
{
    return byte >= '0' && byte <= '9';
}

/* The object's children must be complete. */
enum status json_check_duplicates(const struct json_node *object, struct err *err);

/* Tells whether the row's value may be null, which means unknown. */
struct record_field;
bool record_is_nullable(const struct record_field *field);

#endif
