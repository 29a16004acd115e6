/* SPDX-License-Identifier: MIT
 *
 * Shared by the json*.c and record*.c files only.
 */
#ifndef ROOFTILE_JSON_INTERNAL_H
#define ROOFTILE_JSON_INTERNAL_H

#include "rooftile/json.h"

#define JSON_NOWHERE UINT32_MAX

/* The document, for messages. */
struct json_file {
    const char *path;
    const char *text; /* terminated */
    size_t length;
};

/* A value and its place. */
struct json_node {
    cJSON value; /* first: json_node_of */
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

/* `child` becomes the last one; its index and the count are the caller's. */
void json_link(cJSON *parent, cJSON *child);

/* json_fail at any byte of the value. */
void json_fail_at(const struct json_node *at, size_t offset, struct err *err, const char *format, va_list args)
    __attribute__((format(printf, 4, 0)));

/* The key of a value inside an object, also where no tree is built. */
void json_add_key(struct text *out, const struct json_node *node);

/* Where the reader stands. */
struct json_reader {
    const struct json_file *file;
    const unsigned char *text;
    size_t length;
    size_t at;
    const char *read; /* the string read last, unescaped: in the text, or in `string` */
    size_t read_length;
    struct text string;
    const struct json_node *node; /* being read */
    size_t values;                /* of the tree, so far */
    struct arena *arena;          /* of the tree; NULL: it is only checked */
    const char *list;             /* key of the root's array whose elements are only checked; NULL: none */
    struct json_node *list_node;  /* that array; NULL: not found */
    struct err *err;
};

/* The byte there, -1 at the end. */
static inline int json_peek(const struct json_reader *c)
{
    return c->at < c->length ? c->text[c->at] : -1;
}

static inline bool json_is_digit(int byte)
{
    return byte >= '0' && byte <= '9';
}

/* These pass over something, or are false after err_set at the value that is being read. */
void json_skip_space(struct json_reader *c);
bool json_read_string(struct json_reader *c); /* at the opening quote; into c->read */
bool json_scan_number(struct json_reader *c);
bool json_scan_word(struct json_reader *c); /* true, false, null */
/* Always false: something else than `what` stands here; this is wrong at `offset`. */
bool json_expected(struct json_reader *c, const char *what);
bool json_fail_byte(struct json_reader *c, size_t offset, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* An object whose children are complete. */
enum status json_check_duplicates(const struct json_node *object, struct err *err);

/* May the row's value be null, which says that it is unknown? */
struct record_field;
bool record_is_nullable(const struct record_field *field);

#endif
