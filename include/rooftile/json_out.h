/* SPDX-License-Identifier: MIT
 *
 * JSON out: members in the order they are written, the shortest digits that read back the same double, non-finite
 * numbers as null, strings escaped (and "<" as \u003c, so that JSON can stand inside HTML). A thin layer over cJSON's
 * printer: one value tree per call of json_out_finish, so that a result of 10,000 cases is written case by case.
 */
#ifndef ROOFTILE_JSON_OUT_H
#define ROOFTILE_JSON_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rooftile/text.h"

struct json_out; /* a value being built; a cursor stands in the innermost open object or array */

struct json_out *json_out_new(void); /* stands in a new top-level object */
struct json_out *json_out_new_array(void);
void json_out_free(struct json_out *out);

/* `key` is NULL inside arrays. */
void json_out_string(struct json_out *out, const char *key, const char *value); /* NULL writes null */
void json_out_number(struct json_out *out, const char *key, double value);
/* exact only to 2^53; ids go as strings */
void json_out_u64(struct json_out *out, const char *key, uint64_t value);
void json_out_bool(struct json_out *out, const char *key, bool value);
void json_out_null(struct json_out *out, const char *key);
void json_out_object(struct json_out *out, const char *key); /* opens */
void json_out_array(struct json_out *out, const char *key);  /* opens */
void json_out_end(struct json_out *out);                     /* closes the innermost */
void json_out_numbers(struct json_out *out, const char *key, const double *values, size_t count); /* a whole array */

/* Appends the value on one line (pretty: indented by two spaces) to `text` and empties the builder. */
void json_out_finish(struct json_out *out, struct text *text, bool pretty);

#endif
