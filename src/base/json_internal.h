/* SPDX-License-Identifier: MIT
 *
 * Shared by the json*.c files only.
 */
#ifndef ROOFTILE_JSON_INTERNAL_H
#define ROOFTILE_JSON_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rooftile/arena.h"
#include "rooftile/json.h"
#include "rooftile/text.h"

#define JSON_NOWHERE UINT32_MAX
#define JSON_TOO_LARGE "number is beyond the range of a double"

/* The document, for messages. */
struct json_file {
    const char *path;
    const char *text; /* terminated */
    size_t length;
};

/* Where one value stands. Values are numbered in document order (an array before its elements). */
struct json_place {
    uint32_t offset;
    uint32_t key_offset; /* of the opening quote; JSON_NOWHERE outside objects */
    uint32_t parent;     /* number of the enclosing value; JSON_NOWHERE for the root */
    uint32_t packed;     /* numbers in this array, which have no places of their own; JSON_NOWHERE: not such an array */
};

struct json_scan {
    const char *const *packed; /* keys of arrays to pack, ended by NULL; NULL: none */
    struct json_place *places;
    size_t count;
    size_t capacity;
    size_t error_offset;
    uint32_t error_place; /* the value the error is in */
    char error[160];
};

/* Checks every byte against RFC 8259 and the further limits of json.h; false: the error_ members say what and where. */
bool json_scan(struct json_scan *scan, const char *text, size_t length);
void json_scan_release(struct json_scan *scan);

struct json_file *json_file_new(struct arena *arena, const char *name, const char *text, size_t length);
/* json_scan with its complaint as an error. */
enum status json_scan_file(struct json_scan *scan, const struct json_file *file, struct err *err);

/* The tree of the value at places[next], a child of `parent` (NULL: the root). An array whose place is `list` gets
 * no children. `next` is the first place of the value, and then the one behind it. */
struct json_builder {
    const struct json_file *file;
    const struct json_place *places;
    size_t count, next;
    uint32_t list; /* JSON_NOWHERE: none */
    struct arena *arena;
    struct err *err;
};
enum status json_build(struct json **out, struct json_builder *builder, const struct json *parent, uint32_t index);

/* The string whose opening quote stands at `quote`, of a document that passed the scan. */
char *json_unquote(struct arena *arena, const char *quote);
/* The number there, +-infinity when it is beyond a double; *end behind it. */
double json_to_number(const char *text, const char **end);

/* "path:line:column" */
void json_add_where(struct text *out, const struct json_file *file, size_t offset);
/* Control characters are shown as escapes: a file must not be able to drive the terminal. */
void json_add_printable(struct text *out, const char *string);

/* Bytes of the well-formed UTF-8 sequence at `bytes` (no overlong form, no surrogate), 0 when it is malformed. */
size_t json_utf8_length(const unsigned char *bytes, size_t left);

#endif
