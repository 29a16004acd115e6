/* SPDX-License-Identifier: MIT
 *
 * Reading JSON: strict (RFC 8259), with positions. The tree has cJSON's nodes: ->child and ->next in document order,
 * ->string (a member's key), ->valuestring, ->valuedouble (always finite; ->valueint is not set), and cJSON_IsNumber
 * and its like, which are false for NULL. The reader is our own, because cJSON's accepts `01`, `1.`, raw control
 * characters, `1e999`, a BOM and duplicate keys, cuts strings at \u0000, keeps no positions, and takes six times as
 * long on a result of 10,000 cases.
 *
 * A parsed value is the first member of a larger node that stores its position. Every `const cJSON *` here must
 * therefore come from json_read, json_parse or json_long_next, and only json_append may change the tree.
 *
 * Every message reads "file:line:column: /pointer/to/value: what is wrong" (json_fail); for the whole document the
 * pointer and its colon are omitted. Lines and columns start at 1, columns count characters.
 */
#ifndef ROOFTILE_JSON_H
#define ROOFTILE_JSON_H

#include <cjson/cJSON.h>

#include "rooftile/base.h"

/* Deeper nesting is an error; the limit is far below what would exhaust the stack. */
#define JSON_MAX_DEPTH 64
/* More values in a tree are an error: each takes about 150 bytes. */
#define JSON_MAX_VALUES 10000000

/* Parses `path` (or "-"). The tree lives in `arena`. Rejects anything RFC 8259 rejects, duplicate keys, numbers that
 * overflow a double or have more than 63 characters, \u0000, a BOM, invalid UTF-8 or lone surrogates, files over
 * FILE_LIMIT_BYTES, depth over JSON_MAX_DEPTH, and more than JSON_MAX_VALUES values. ERR_CONFIG. */
enum status json_read(const cJSON **root, const char *path, struct arena *arena, struct err *err);

/* Like json_read, from memory; `name` is the file name in messages. */
enum status json_parse(const cJSON **root, const char *name, const char *text, size_t length, struct arena *arena,
                       struct err *err);

/* A large document: an object with one long array of objects, such as the cases of a result. The array's elements are
 * built one at a time, so that reading takes the memory of the text and of one element, and linear time. */
struct json_long; /* the open document */

/* Reads and checks the whole text (up to `limit_bytes`) and builds everything except the elements of the array `list`
 * of the top-level object: *root has that array with its json_count but no children. If the member is absent or not an
 * array, everything is built as usual. */
enum status json_long_open(struct json_long **out, const cJSON **root, const char *path, size_t limit_bytes,
                           const char *list, struct err *err);
/* Like json_long_open, from memory. */
enum status json_long_parse(struct json_long **out, const cJSON **root, const char *name, const char *text,
                            size_t length, const char *list, struct err *err);
void json_long_free(struct json_long *document); /* also frees the root; NULL does nothing */

/* Returns the next element, which lives in `arena`, or NULL after the last. */
enum status json_long_next(const cJSON **element, struct json_long *document, struct arena *arena, struct err *err);

/* Sets "file:line:column: /pointer: <message>"; always returns ERR_CONFIG. */
enum status json_fail(const cJSON *at, struct err *err, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Like json_fail, at the position of the value's key. */
enum status json_fail_key(const cJSON *at, struct err *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Returns the number of elements of an array or members of an object, even if they are not built. */
size_t json_count(const cJSON *value);
/* Returns the value's index among its siblings. */
uint32_t json_index(const cJSON *child);

/* Returns the member, or NULL. `object` may be NULL (then NULL). */
static inline const cJSON *json_member(const cJSON *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object, key);
}
/* Returns the element, or NULL. */
const cJSON *json_at(const cJSON *array, size_t index);

/* Returns "a number" and so on. */
const char *json_type_name(const cJSON *value);
/* ERR_CONFIG "must be a string, not a number" unless the value has one of `types`, such as cJSON_String. */
enum status json_check_type(const cJSON *at, int types, struct err *err);
/* Sets "must be `wanted`, not <its type>"; returns ERR_CONFIG. */
enum status json_fail_type(const cJSON *at, const char *wanted, struct err *err);

/* Build trees from parsed ones, in `arena`: json_empty makes an array or object like `like` without children,
 * json_append adds a copy of `member`, with its children, to `parent`. Each value keeps its position in its file. */
cJSON *json_empty(const cJSON *like, struct arena *arena);
void json_append(cJSON *parent, const cJSON *member, struct arena *arena);

/* Checks that the value is an object whose keys are all among `keys` (`count` names); an unknown key is an error at
 * that key with a did-you-mean. Keys that start with "$schema" or "//" are comments and always allowed. */
enum status json_check_keys(const cJSON *value, const char *const *keys, size_t count, struct err *err);

/* Typed members. If the member is absent, *out keeps its value (the default set before), unless it is `required`: then
 * ERR_CONFIG at the object. A wrong type is ERR_CONFIG at the value. json_get_u64 accepts whole numbers 0..2^53. */
enum json_need { JSON_OPTIONAL, JSON_REQUIRED };
enum status json_get_string(const char **out, const cJSON *object, const char *key, enum json_need need,
                            struct err *err);
enum status json_get_number(double *out, const cJSON *object, const char *key, enum json_need need, struct err *err);
enum status json_get_u64(uint64_t *out, const cJSON *object, const char *key, enum json_need need, struct err *err);
enum status json_get_array(const cJSON **out, const cJSON *object, const char *key, enum json_need need,
                           struct err *err);

/* Reads a whole number up to `limit`, which is at most 2^53. */
enum status json_whole(uint64_t *out, const cJSON *at, uint64_t limit, struct err *err);

/* Tells whether the member is a comment ("//..."); json_entry_count returns the number of members that are not. */
bool json_is_comment(const cJSON *member);
size_t json_entry_count(const cJSON *object);
/* Tells whether the text is a C identifier. */
bool json_is_identifier(const char *text);

/* Returns the value's position among `count` names; ERR_CONFIG "unknown WHAT 'word'" with a hint otherwise. */
enum status json_choose(size_t *out, const cJSON *at, const char *what, const char *const *names, size_t count,
                        struct err *err);
/* Fails with "<problem> 'word'; did you mean ...?", or with all candidates if there are few. */
enum status json_fail_unknown(const cJSON *at, struct err *err, const char *problem, const char *word,
                              const char *const *candidates, size_t count);
/* Like json_fail_unknown, for the value's key and at its position. */
enum status json_fail_unknown_key(const cJSON *at, struct err *err, const char *problem, const char *const *candidates,
                                  size_t count);

/* ---- writing JSON ----
 *
 * Members are written in call order, numbers with the shortest digits that read back the same double, non-finite ones
 * as null, and strings escaped (also "<" as \u003c, so that JSON can be embedded in HTML). A document takes the memory
 * of its text while it is built. */

struct json_out; /* a value being built; the cursor is in the innermost open object or array */

struct json_out *json_out_new(void); /* the cursor is in a new top-level object */
struct json_out *json_out_new_array(void);

/* `key` is NULL inside arrays. */
void json_out_string(struct json_out *out, const char *key, const char *value); /* NULL writes null */
void json_out_number(struct json_out *out, const char *key, double value);
/* exact only up to 2^53; ids are written as strings */
void json_out_u64(struct json_out *out, const char *key, uint64_t value);
void json_out_raw(struct json_out *out, const char *key, const char *json); /* a value that is already JSON */
void json_out_bool(struct json_out *out, const char *key, bool value);
void json_out_null(struct json_out *out, const char *key);
void json_out_object(struct json_out *out, const char *key); /* opens */
void json_out_array(struct json_out *out, const char *key);  /* opens */
void json_out_end(struct json_out *out);                     /* closes the innermost */
void json_out_numbers(struct json_out *out, const char *key, const double *values, size_t count); /* a whole array */
void json_out_strings(struct json_out *out, const char *key, const char *const *values, size_t count);

/* Appends the value on one line (pretty: indented by two spaces) to `text` and frees the builder. */
void json_out_finish(struct json_out *out, struct text *text, bool pretty);

#endif
