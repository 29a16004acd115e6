/* SPDX-License-Identifier: MIT
 *
 * JSON in: strict (RFC 8259), with positions. The tree has cJSON's nodes: ->child and ->next in document order,
 * ->string (a member's key), ->valuestring, ->valuedouble (always finite; ->valueint is not set), and cJSON_IsNumber
 * and its like, which are false for NULL. The reader is our own: cJSON's accepts `01`, `1.`, raw control characters,
 * `1e999`, a BOM and duplicate keys, cuts strings at \u0000, keeps no positions, and takes six times as long on a
 * result of 10,000 cases.
 *
 * A value that was read is the head of a larger node that knows its position. So every `const cJSON *` here must come
 * from json_read, json_parse or json_long_next, and only json_append may change the tree.
 *
 * Every message reads "file:line:column: /pointer/to/value: what is wrong" (json_fail); for the whole document the
 * pointer and its colon are omitted. Lines and columns start at 1, columns count characters.
 */
#ifndef ROOFTILE_JSON_H
#define ROOFTILE_JSON_H

#include <cjson/cJSON.h>

#include "rooftile/base.h"

/* Nesting deeper than this is an error, far below what would exhaust the stack. */
#define JSON_MAX_DEPTH 64
/* More values than this in a tree are an error: each takes about 150 bytes. */
#define JSON_MAX_VALUES 10000000

/* Parses `path` (or "-"). The tree lives in `arena`. Refused: anything RFC 8259 refuses, duplicate keys, numbers that
 * overflow a double or have more than 63 characters, \u0000, a BOM, invalid UTF-8 or lone surrogates, files over
 * FILE_LIMIT_BYTES, depth over JSON_MAX_DEPTH, more than JSON_MAX_VALUES values. ERR_CONFIG. */
enum status json_read(const cJSON **root, const char *path, struct arena *arena, struct err *err);

/* The same from memory; `name` stands for the file in messages. */
enum status json_parse(const cJSON **root, const char *name, const char *text, size_t length, struct arena *arena,
                       struct err *err);

/* A large document: an object with one long array of objects, such as the cases of a result. The array's elements are
 * built one at a time, so that reading takes the memory of the text and of one element, and time in proportion. */
struct json_long; /* the open document */

/* Reads and checks the whole text (up to `limit_bytes`) and builds all of it but the elements of the array `list` of
 * the top-level object: *root has that array with its json_count and no children (when it is absent or no array, all
 * is built as usual). */
enum status json_long_open(struct json_long **out, const cJSON **root, const char *path, size_t limit_bytes,
                           const char *list, struct err *err);
/* The same from memory. */
enum status json_long_parse(struct json_long **out, const cJSON **root, const char *name, const char *text,
                            size_t length, const char *list, struct err *err);
void json_long_free(struct json_long *document); /* and the root; NULL does nothing */

/* The next element, which lives in `arena`; NULL after the last. */
enum status json_long_next(const cJSON **element, struct json_long *document, struct arena *arena, struct err *err);

/* ERR_CONFIG with "file:line:column: /pointer: <message>"; always returns ERR_CONFIG. */
enum status json_fail(const cJSON *at, struct err *err, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The same, pointing at the value's key. */
enum status json_fail_key(const cJSON *at, struct err *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Elements of an array or members of an object, also where they are not built. */
size_t json_count(const cJSON *value);
/* The value's index among its siblings. */
uint32_t json_index(const cJSON *child);

/* The member, or NULL. `object` may be NULL (then NULL). */
static inline const cJSON *json_member(const cJSON *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object, key);
}
/* The element, or NULL. */
const cJSON *json_at(const cJSON *array, size_t index);

/* "a number" and so on. */
const char *json_type_name(const cJSON *value);
/* ERR_CONFIG "must be a string, not a number" unless the value is of one of `types`, such as cJSON_String. */
enum status json_check_type(const cJSON *at, int types, struct err *err);
/* "must be `wanted`, not <what it is>"; ERR_CONFIG. */
enum status json_fail_type(const cJSON *at, const char *wanted, struct err *err);

/* Trees made of read ones, in `arena`: json_empty makes an array or object like `like` without children, json_append
 * adds a copy of `member`, with its children, to `parent`. Each value keeps its position in its file. */
cJSON *json_empty(const cJSON *like, struct arena *arena);
void json_append(cJSON *parent, const cJSON *member, struct arena *arena);

/* The value must be an object whose keys are all among `keys` (`count` names); an unknown key is an error at that key
 * with a did-you-mean. Keys that start with "$schema" or "//" are comments and always allowed. */
enum status json_check_keys(const cJSON *value, const char *const *keys, size_t count, struct err *err);

/* Typed members. When the member is absent: *out is left as it is (set the default before) unless `required`, then
 * ERR_CONFIG at the object. A wrong type is ERR_CONFIG at the value. json_get_u64 accepts whole numbers 0..2^53. */
enum json_need { JSON_OPTIONAL, JSON_REQUIRED };
enum status json_get_string(const char **out, const cJSON *object, const char *key, enum json_need need,
                            struct err *err);
enum status json_get_number(double *out, const cJSON *object, const char *key, enum json_need need, struct err *err);
enum status json_get_u64(uint64_t *out, const cJSON *object, const char *key, enum json_need need, struct err *err);
enum status json_get_array(const cJSON **out, const cJSON *object, const char *key, enum json_need need,
                           struct err *err);

/* A whole number up to `limit`, which is at most 2^53. */
enum status json_whole(uint64_t *out, const cJSON *at, uint64_t limit, struct err *err);

/* Is the member a comment ("//...")? json_entry_count: how many members of an object are not? */
bool json_is_comment(const cJSON *member);
size_t json_entry_count(const cJSON *object);
/* Is the text a C identifier? */
bool json_is_identifier(const char *text);

/* The value's position among `count` names; ERR_CONFIG says "unknown WHAT 'word'" with a hint. */
enum status json_choose(size_t *out, const cJSON *at, const char *what, const char *const *names, size_t count,
                        struct err *err);
/* Fails with "<problem> 'word'; did you mean ...?", or with all candidates when they are few. */
enum status json_fail_unknown(const cJSON *at, struct err *err, const char *problem, const char *word,
                              const char *const *candidates, size_t count);
/* The same for the value's key, pointing there. */
enum status json_fail_unknown_key(const cJSON *at, struct err *err, const char *problem, const char *const *candidates,
                                  size_t count);

/* ---- JSON out ----
 *
 * Members in the order they are written, the shortest digits that read back the same double, non-finite numbers as
 * null, strings escaped (and "<" as \u003c, so that JSON can stand inside HTML). A document
 * takes the memory of its text while it is built. */

struct json_out; /* a value being built; a cursor stands in the innermost open object or array */

struct json_out *json_out_new(void); /* stands in a new top-level object */
struct json_out *json_out_new_array(void);

/* `key` is NULL inside arrays. */
void json_out_string(struct json_out *out, const char *key, const char *value); /* NULL writes null */
void json_out_number(struct json_out *out, const char *key, double value);
/* exact only to 2^53; ids go as strings */
void json_out_u64(struct json_out *out, const char *key, uint64_t value);
void json_out_raw(struct json_out *out, const char *key, const char *json); /* a value that is JSON already */
void json_out_bool(struct json_out *out, const char *key, bool value);
void json_out_null(struct json_out *out, const char *key);
void json_out_object(struct json_out *out, const char *key); /* opens */
void json_out_array(struct json_out *out, const char *key);  /* opens */
void json_out_end(struct json_out *out);                     /* closes the innermost */
void json_out_numbers(struct json_out *out, const char *key, const double *values, size_t count); /* a whole array */
void json_out_strings(struct json_out *out, const char *key, const char *const *values, size_t count);
void json_out_value(struct json_out *out, const char *key, const cJSON *value); /* of json.h, whole */

/* Appends the value on one line (pretty: indented by two spaces) to `text` and frees the builder. */
void json_out_finish(struct json_out *out, struct text *text, bool pretty);

#endif
