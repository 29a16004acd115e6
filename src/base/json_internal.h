/* SPDX-License-Identifier: MIT
 *
 * Shared by the json*.c files only.
 */
#ifndef ROOFTILE_JSON_INTERNAL_H
#define ROOFTILE_JSON_INTERNAL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rooftile/json.h"

#define JSON_NOWHERE UINT32_MAX /* key_offset outside objects */
#define JSON_TOO_LARGE "number is beyond the range of a double"

/* The document, for messages. */
struct json_file {
    const char *path;
    const char *text; /* terminated */
    size_t length;
};

/* json_fail at any byte of the value. */
void json_fail_at(const struct json *at, size_t offset, struct err *err, const char *format, va_list args)
    __attribute__((format(printf, 4, 0)));

/* The string whose opening quote stands at `quote`, of a document in which it was found to be well-formed. */
char *json_unquote(struct arena *arena, const char *quote);
/* The number there, +-infinity when it is beyond a double; *end behind it. */
double json_to_number(const char *text, const char **end);
/* An object whose children are complete. */
enum status json_check_duplicates(const struct json *object, struct err *err);

/* Bytes of the well-formed UTF-8 sequence at `bytes` (no overlong form, no surrogate), 0 when it is malformed. */
size_t json_utf8_length(const unsigned char *bytes, size_t left);

#endif
