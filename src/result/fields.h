/* SPDX-License-Identifier: MIT
 *
 * Members of a JSON object as rows: one table serves writer and reader, so that they cannot disagree.
 */
#ifndef ROOFTILE_RESULT_FIELDS_H
#define ROOFTILE_RESULT_FIELDS_H

#include <stddef.h>

#include "rooftile/arena.h"
#include "rooftile/err.h"
#include "rooftile/json.h"
#include "rooftile/json_out.h"

enum field_kind {
    FIELD_NULL,   /* a key of the format that nothing fills yet: written as null, not read */
    FIELD_F64,    /* >= 0; NaN is null with a reason beside it */
    FIELD_SIGNED, /* any double, else the same */
    FIELD_F64S,   /* double[size] */
    FIELD_U32,
    FIELD_U32S, /* uint32_t[size] */
    FIELD_U64,
    FIELD_BOOL,
    FIELD_STRING, /* const char *; "" and NULL are null */
    FIELD_CHARS,  /* char[size]; "" is null */
    FIELD_ENUM,   /* an enum of measurement.h; size says which (enum measurement_enum) */
    FIELD_CACHE,  /* enum cache_mode */
};

struct field {
    const char *key;
    enum field_kind kind;
    size_t offset;
    size_t size;
    const char
        *reason; /* why a number is null ("": no word about it); NULL: it is then simply unknown, and 0 is null too */
};

#define FIELD_COUNT(fields) (sizeof(fields) / sizeof((fields)[0]))

/* Writes the members into the open object. */
void fields_write(struct json_out *out, const struct field *fields, size_t count, const void *base);

/* Reads what is present; absent and null numbers become NaN (FIELD_F64, FIELD_SIGNED with a reason) or 0. */
enum status fields_read(void *base, const struct field *fields, size_t count, const struct json *object,
                        struct arena *arena, struct err *err);

/* An array of strings below `parent`; absent (or no parent): none. */
enum status strings_read(const char *const **out, size_t *count, const struct json *parent, const char *key,
                         struct arena *arena, struct err *err);

#endif
