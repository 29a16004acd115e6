/* SPDX-License-Identifier: MIT
 *
 * Objects read by a table: one row per key says which function reads the value, and into which field. What a key means
 * stands in one line, and everything that is the same for every object stands here: unknown keys, missing keys, wrong
 * types.
 *
 *     static const struct json_key point_keys[] = {
 *         {"name", json_into_string, offsetof(struct point, name), .need = JSON_REQUIRED},
 *         {"x", json_into_number, offsetof(struct point, x)},
 *         {"color", json_into_choice, offsetof(struct point, color), .more = color_names},
 *     };
 *     status = json_read_table(&point, object, point_keys, JSON_KEYS(point_keys), &(struct json_into){.arena = arena},
 * err);
 *
 * Rows are read in their order, so a later row's function finds the fields of those before it. A field whose key is
 * absent is left as it is: set the default before. A row without a function only names a key that the caller reads by
 * itself.
 */
#ifndef ROOFTILE_JSON_TABLE_H
#define ROOFTILE_JSON_TABLE_H

#include <stddef.h>

#include "rooftile/json.h"

struct json_into {
    struct arena *arena; /* of what is made for fields, such as lists */
    void *context;       /* for functions of the caller's own; those below need none */
    void *object;        /* whose field is being read; set by json_read_table */
};

struct json_key;
/* Reads the value at `at` into `field`. ERR_CONFIG with its place. */
typedef enum status json_into_fn(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                                 struct err *err);

struct json_key {
    const char *key;
    json_into_fn *read;
    size_t field; /* offset in the object */
    enum json_need need;
    size_t count;     /* offset of a list's length, a size_t */
    const void *more; /* what `read` wants to know besides */
};
#define JSON_KEYS(keys) (sizeof(keys) / sizeof(*(keys)))

/* ERR_CONFIG: `at` is no object, has a key that no row names, or lacks a required one; or what a row's function says.
 * */
enum status json_read_table(void *object, const struct json *at, const struct json_key *keys, size_t count,
                            struct json_into *into, struct err *err);

/* The first half of it: is it an object without other keys? For objects whose keys depend on each other. */
enum status json_check_table(const struct json *at, const struct json_key *keys, size_t count, struct err *err);

/* ---- functions for rows; the field's type is behind each ---- */

json_into_fn json_into_string;  /* const char * */
json_into_fn json_into_text;    /* const char *, not empty */
json_into_fn json_into_number;  /* double */
json_into_fn json_into_u64;     /* uint64_t, a whole number up to 2^53 */
json_into_fn json_into_bool;    /* bool */
json_into_fn json_into_time_ns; /* double, from a duration such as "0.5 s" */
json_into_fn json_into_array;   /* const struct json * */
/* An enum, from its name: `more` is an array of names in the enum's order, ended by NULL. */
json_into_fn json_into_choice;
/* const char *const *, from an array of strings none of which is empty; with `more` each stands there once. */
json_into_fn json_into_strings;
/* Arrays of structs: `more` is a struct json_elements, whose function reads one item into one zeroed struct. From an
 * array, or from the members of an object but for comments. */
struct json_elements {
    size_t size;
    json_into_fn *read;
    const char *named; /* members' keys are identifiers: what they name, for the message; NULL: any */
};
json_into_fn json_into_items;
json_into_fn json_into_members;

/* Members of an object without its comments ("//..."): for (m = json_entry(o->first); m; m = json_entry(m->next)). */
const struct json *json_entry(const struct json *member);
size_t json_entry_count(const struct json *object);
/* Is the text a C identifier? */
bool json_is_identifier(const char *text);

/* The value's position among `count` names; ERR_CONFIG says "unknown WHAT 'word'" with a hint. */
enum status json_choose(size_t *out, const struct json *at, const char *what, const char *const *names, size_t count,
                        struct err *err);
/* Fails with "<problem> 'word'; did you mean ...?", or with all candidates when they are few. */
enum status json_fail_unknown(const struct json *at, struct err *err, const char *problem, const char *word,
                              const char *const *candidates, size_t count);
/* The same of the value's key, pointing there. */
enum status json_fail_unknown_key(const struct json *at, struct err *err, const char *problem,
                                  const char *const *candidates, size_t count);

#endif
