/* SPDX-License-Identifier: MIT
 *
 * JSON in: strict (RFC 8259), with positions. cJSON only writes (json_out.c): as a reader it accepts `01`, `1.`, raw
 * control characters, `1e999`, a BOM and duplicate keys, cuts strings at \u0000, keeps no positions, and takes six
 * times as long on a result of 10,000 cases.
 *
 * Every complaint reads "file:line:column: /pointer/to/value: what is wrong" (json_fail); the pointer and its colon are
 * skipped for the whole document. Lines and columns start at 1, columns count characters.
 */
#ifndef ROOFTILE_JSON_H
#define ROOFTILE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rooftile/arena.h"
#include "rooftile/err.h"

enum json_type { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

/* Nesting deeper than this is an error, far below what would exhaust the stack. */
#define JSON_MAX_DEPTH 64
/* More values than this are an error: each takes about 150 bytes while it is read. */
#define JSON_MAX_VALUES 10000000

struct json_file; /* path and text of the document, for messages */

/* One value. Children of an array or object are a list in document order: for (c = v->first; c; c = c->next). */
struct json {
    enum json_type type;
    const char *key;    /* member name inside an object, else NULL */
    const char *string; /* JSON_STRING */
    double number;      /* JSON_NUMBER; always finite */
    bool boolean;       /* JSON_BOOL */
    bool packed;        /* an array of `count` numbers without children: json_numbers reads them */
    uint32_t index;     /* among its siblings */
    size_t count;       /* children */
    struct json *first;
    struct json *next;
    const struct json *parent;
    const struct json_file *file;
    uint32_t offset;     /* of the value in the text */
    uint32_t key_offset; /* of the key, for unknown-key messages */
};

/* Parses `path` (or "-"). The tree lives in `arena`. Refused: anything RFC 8259 refuses, duplicate keys, numbers that
 * overflow a double or have more than 63 characters, \u0000, a BOM, invalid UTF-8 or lone surrogates, files over
 * FILE_LIMIT_BYTES, depth over JSON_MAX_DEPTH, more than JSON_MAX_VALUES values. ERR_CONFIG. */
enum status json_read(const struct json **root, const char *path, struct arena *arena, struct err *err);

/* The same from memory; `name` stands for the file in messages. */
enum status json_parse(const struct json **root, const char *name, const char *text, size_t length, struct arena *arena,
                       struct err *err);

/* A large document: an object with one long array of objects, such as the cases of a result. The array's elements are
 * built one at a time, so that reading takes the memory of the text and of one element, and time in proportion. */
struct json_long; /* the open document */

/* Reads and checks the whole text (up to `limit_bytes`) and builds all of it but the elements of the array `list` of
 * the top-level object: *root has that array with its count and no children (when it is absent or no array, all is
 * built as usual). Arrays of numbers whose key is in `packed` (ended by NULL) get no children either. */
enum status json_long_open(struct json_long **out, const struct json **root, const char *path, size_t limit_bytes,
                           const char *list, const char *const *packed, struct err *err);
/* The same from memory. */
enum status json_long_parse(struct json_long **out, const struct json **root, const char *name, const char *text,
                            size_t length, const char *list, const char *const *packed, struct err *err);
void json_long_free(struct json_long *document); /* and the root; NULL does nothing */

/* The next element, which lives in `arena`; NULL after the last. */
enum status json_long_next(const struct json **element, struct json_long *document, struct arena *arena,
                           struct err *err);

/* The numbers of an array, packed or not: array->count of them to `values`. */
enum status json_numbers(double *values, const struct json *array, struct err *err);
/* json_fail at one of them. */
enum status json_fail_number(const struct json *array, size_t index, struct err *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* ERR_CONFIG with "file:line:column: /pointer: <message>"; always returns ERR_CONFIG. */
enum status json_fail(const struct json *at, struct err *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same, pointing at the value's key. */
enum status json_fail_key(const struct json *at, struct err *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The member, or NULL. `object` may be NULL (then NULL). */
const struct json *json_member(const struct json *object, const char *key);
/* The element, or NULL. */
const struct json *json_at(const struct json *array, size_t index);

const char *json_type_name(enum json_type type);

/* The value must be an object whose keys are all among `keys` (`count` names); an unknown key is an error at that key
 * with a did-you-mean. Keys that start with "$schema" or "//" are comments and always allowed. */
enum status json_check_keys(const struct json *value, const char *const *keys, size_t count, struct err *err);

/* Typed members. When the member is absent: *out is left as it is (set the default before) unless `required`, then
 * ERR_CONFIG at the object. A wrong type is ERR_CONFIG at the value. json_get_u64 accepts whole numbers 0..2^53. */
enum json_need { JSON_OPTIONAL, JSON_REQUIRED };
enum status json_get_string(const char **out, const struct json *object, const char *key, enum json_need need,
                            struct err *err);
enum status json_get_number(double *out, const struct json *object, const char *key, enum json_need need,
                            struct err *err);
enum status json_get_u64(uint64_t *out, const struct json *object, const char *key, enum json_need need,
                         struct err *err);
enum status json_get_bool(bool *out, const struct json *object, const char *key, enum json_need need, struct err *err);
enum status json_get_object(const struct json **out, const struct json *object, const char *key, enum json_need need,
                            struct err *err);
enum status json_get_array(const struct json **out, const struct json *object, const char *key, enum json_need need,
                           struct err *err);
/* A duration string such as "0.5 s" (units_parse_time_ns) or a number of nanoseconds is refused; strings only. */
enum status json_get_time_ns(double *out, const struct json *object, const char *key, enum json_need need,
                             struct err *err);

#endif
