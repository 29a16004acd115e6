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

/* State of the reader. */
struct json_reader {
    const struct json_file *file;
    const unsigned char *text;
    size_t length;
    size_t at;
    const char *read; /* the last string read, unescaped; in the text or in `string` */
    size_t read_length;
    struct text string;
    const struct json_node *node; /* the value being read */
    size_t values;                /* values in the tree so far */
    struct arena *arena;          /* for the tree; NULL: only checks */
    const char *list;             /* key of the root's array whose elements are only checked; NULL: none */
    struct json_node *list_node;  /* that array; NULL: not found */
    struct err *err;
};

/* Returns the current byte, -1 at the end. */
static inline int json_peek(const struct json_reader *c)
{
    return c->at < c->length ? c->text[c->at] : -1;
}

static inline bool json_is_digit(int byte)
{
    return byte >= '0' && byte <= '9';
}

/* These functions move past something, or return false after err_set with the position of the value being read. */
void json_skip_space(struct json_reader *c);
bool json_read_string(struct json_reader *c); /* at the opening quote; the result is in c->read */
bool json_scan_number(struct json_reader *c);
bool json_scan_word(struct json_reader *c); /* true, false, null */
/* Always return false: something other than `what` was found; something at `offset` is wrong. */
bool json_expected(struct json_reader *c, const char *what);
bool json_fail_byte(struct json_reader *c, size_t offset, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The object's children must be complete. */
enum status json_check_duplicates(const struct json_node *object, struct err *err);

/* Tells whether the row's value may be null, which means unknown. */
struct record_field;
bool record_is_nullable(const struct record_field *field);

#endif
