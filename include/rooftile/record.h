/* SPDX-License-Identifier: MIT
 *
 * Record: how a C struct stands in a JSON object, as a table. One table serves the writer and the reader, so that they
 * cannot disagree; what is no table (samples, parameters) is a hook.
 *
 *     #define RECORD_STRUCT struct point
 *     static const struct record_field point_fields[] = {
 *         FIELD_CHARS("name", name, RECORD_REQUIRED),
 *         FIELD_F64("x_ns", x_ns, RECORD_NAN),
 *     };
 *     static const struct record point_record = {RECORD_TABLE(point_fields)};
 *     #undef RECORD_STRUCT
 *
 * What is unknown: a number that is not finite or, without RECORD_ZERO, 0; an empty string; an enum's value 0 under
 * RECORD_FROM_ONE; a list without elements; an object of which record.known says so. It is written as null, or skipped
 * where the row says RECORD_SPARSE. Whole numbers, booleans and lists are never null: without RECORD_SPARSE they stand
 * as 0, false and []. Absent members read as unknown, and so does null where the writer could write it.
 */
#ifndef ROOFTILE_RECORD_H
#define ROOFTILE_RECORD_H

#include <stdbool.h>
#include <stddef.h>

#include "rooftile/arena.h"
#include "rooftile/err.h"
#include "rooftile/json.h"
#include "rooftile/json_out.h"

enum record_kind {
    RECORD_F64,    /* double; 0 or above, unless a rule says otherwise */
    RECORD_U32,    /* uint32_t */
    RECORD_U64,    /* uint64_t or size_t, up to 2^53 */
    RECORD_BOOL,   /* bool; with names, one of two words */
    RECORD_STRING, /* const char *; unknown reads as "" */
    RECORD_CHARS,  /* char[size] */
    RECORD_ENUM,   /* an enum: one of `size` names */
    RECORD_BITS,   /* uint32_t: an array with the names of its bits; names that are not known are passed over */
    RECORD_OBJECT, /* a struct inside this one, or (offset 0) a group of this one's members */
    RECORD_LIST,   /* array: a pointer to the elements; their number is a size_t */
    RECORD_ROOM,   /* array: room inside the struct; the number of elements is a uint32_t */
    RECORD_FIXED,  /* array: room inside the struct, always full */
    /* object whose keys are free: as RECORD_LIST, and the elements begin with their key, a const char * */
    RECORD_MAP,
    RECORD_HOOK,    /* two functions */
    RECORD_COMMENT, /* may stand in a file; neither read nor written */
};

enum record_rule {
    RECORD_PLAIN = 0,
    RECORD_REQUIRED = 1,   /* an object without it is refused; never null */
    RECORD_SPARSE = 2,     /* skipped when unknown; null is refused */
    RECORD_NULLABLE = 4,   /* an object: null when unknown. An object without this or RECORD_SPARSE is always written */
    RECORD_NAN = 8,        /* unknown reads as NaN, else as 0 */
    RECORD_ZERO = 16,      /* 0 is a value */
    RECORD_SIGNED = 32,    /* may be negative */
    RECORD_POSITIVE = 64,  /* 0 is refused */
    RECORD_SHARE = 128,    /* from 0 to 1 */
    RECORD_FROM_ONE = 256, /* an enum whose value 0 says that there is none */
    RECORD_SOURCED = 512,  /* may also be read from { "value": number, "source": "..." } */
};

struct record;

/* A value that no table describes. `get` is not called for an absent member. */
struct record_hook {
    void (*put)(struct json_out *out, const char *key, const void *at);
    enum status (*get)(void *at, const struct json *json, struct arena *arena, struct err *err);
};

struct record_field {
    const char *key; /* NULL: the only row of a record that is no object but one bare value */
    enum record_kind kind;
    unsigned rules; /* enum record_rule */
    size_t offset;  /* of the member in its struct */
    size_t size;    /* of the member in bytes; where there are names: how many */
    size_t count;   /* offset of the number of elements */
    union {
        const char *reason;          /* numbers: written beside a null as KEY_reason; may be NULL */
        const char *const *names;    /* RECORD_ENUM, RECORD_BITS, RECORD_BOOL; the last of equal names is read */
        const struct record *record; /* RECORD_OBJECT: its members; lists and maps: what an element is */
        const struct record_hook *hook;
    };
};

struct record {
    const struct record_field *fields;
    size_t count, size;              /* of the table; of the struct in bytes */
    bool (*known)(const void *base); /* NULL: an object is known when its first member is */
    /* After all members of an object that is there were read; may complete the struct. NULL: nothing to check. */
    enum status (*check)(void *base, const struct json *json, struct err *err);
};

/* bare values: const char *; double, null is NaN; uint32_t */
extern const struct record record_string, record_number, record_u32;

/* Writes the members into the object that is open in `out`. */
void record_put(struct json_out *out, const struct record *record, const void *base);

/* Reads into the zeroed struct at `base`; `json` NULL: all of it is unknown. Unknown keys are refused when `strict`,
 * else passed over. Strings and lists live in `arena`. ERR_CONFIG with the place of what is wrong; `base` is then half
 * filled. */
enum status record_get(void *base, const struct record *record, const struct json *json, bool strict,
                       struct arena *arena, struct err *err);

#define RECORD_COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define RECORD_TABLE(table) .fields = (table), .count = RECORD_COUNT(table), .size = sizeof(RECORD_STRUCT)

/* Rows, of RECORD_STRUCT. */
#define FIELD_HEAD(kind, key, member, rules)                                                                           \
    key, kind, rules, offsetof(RECORD_STRUCT, member), sizeof(((RECORD_STRUCT *)0)->member)
#define FIELD_F64(key, member, rules)                                                                                  \
    {                                                                                                                  \
        FIELD_HEAD(RECORD_F64, key, member, rules), 0,                                                                 \
        {                                                                                                              \
            NULL                                                                                                       \
        }                                                                                                              \
    }
#define FIELD_REASON(key, member, rules, why)                                                                          \
    {                                                                                                                  \
        FIELD_HEAD(RECORD_F64, key, member, rules), 0,                                                                 \
        {                                                                                                              \
            .reason = (why)                                                                                            \
        }                                                                                                              \
    }
#define FIELD_U32(key, member, rules)                                                                                  \
    {                                                                                                                  \
        FIELD_HEAD(RECORD_U32, key, member, rules), 0,                                                                 \
        {                                                                                                              \
            NULL                                                                                                       \
        }                                                                                                              \
    }
#define FIELD_U64(key, member, rules)                                                                                  \
    {                                                                                                                  \
        FIELD_HEAD(RECORD_U64, key, member, rules), 0,                                                                 \
        {                                                                                                              \
            NULL                                                                                                       \
        }                                                                                                              \
    }
#define FIELD_BOOL(key, member, rules)                                                                                 \
    {                                                                                                                  \
        FIELD_HEAD(RECORD_BOOL, key, member, rules), 0,                                                                \
        {                                                                                                              \
            NULL                                                                                                       \
        }                                                                                                              \
    }
#define FIELD_STRING(key, member, rules)                                                                               \
    {                                                                                                                  \
        FIELD_HEAD(RECORD_STRING, key, member, rules), 0,                                                              \
        {                                                                                                              \
            NULL                                                                                                       \
        }                                                                                                              \
    }
#define FIELD_CHARS(key, member, rules)                                                                                \
    {                                                                                                                  \
        FIELD_HEAD(RECORD_CHARS, key, member, rules), 0,                                                               \
        {                                                                                                              \
            NULL                                                                                                       \
        }                                                                                                              \
    }
#define FIELD_NAMED(kind, key, member, table, most, rules)                                                             \
    {                                                                                                                  \
        key, kind, rules, offsetof(RECORD_STRUCT, member), most, 0,                                                    \
        {                                                                                                              \
            .names = (table)                                                                                           \
        }                                                                                                              \
    }
#define FIELD_OBJECT(key, member, inner, rules)                                                                        \
    {                                                                                                                  \
        FIELD_HEAD(RECORD_OBJECT, key, member, rules), 0,                                                              \
        {                                                                                                              \
            .record = &(inner)                                                                                         \
        }                                                                                                              \
    }
#define FIELD_GROUP(key, inner, rules)                                                                                 \
    {                                                                                                                  \
        key, RECORD_OBJECT, rules, 0, 0, 0,                                                                            \
        {                                                                                                              \
            .record = &(inner)                                                                                         \
        }                                                                                                              \
    }
#define FIELD_LIST(key, member, number, element, rules)                                                                \
    {                                                                                                                  \
        FIELD_HEAD(RECORD_LIST, key, member, rules), offsetof(RECORD_STRUCT, number),                                  \
        {                                                                                                              \
            .record = &(element)                                                                                       \
        }                                                                                                              \
    }
#define FIELD_ROOM(key, member, number, element, rules)                                                                \
    {                                                                                                                  \
        FIELD_HEAD(RECORD_ROOM, key, member, rules), offsetof(RECORD_STRUCT, number),                                  \
        {                                                                                                              \
            .record = &(element)                                                                                       \
        }                                                                                                              \
    }
#define FIELD_FIXED(key, member, element, rules)                                                                       \
    {                                                                                                                  \
        FIELD_HEAD(RECORD_FIXED, key, member, rules), 0,                                                               \
        {                                                                                                              \
            .record = &(element)                                                                                       \
        }                                                                                                              \
    }
#define FIELD_MAP(key, member, number, element, rules)                                                                 \
    {                                                                                                                  \
        FIELD_HEAD(RECORD_MAP, key, member, rules), offsetof(RECORD_STRUCT, number),                                   \
        {                                                                                                              \
            .record = &(element)                                                                                       \
        }                                                                                                              \
    }
#define FIELD_HOOK(key, member, functions, rules)                                                                      \
    {                                                                                                                  \
        FIELD_HEAD(RECORD_HOOK, key, member, rules), 0,                                                                \
        {                                                                                                              \
            .hook = &(functions)                                                                                       \
        }                                                                                                              \
    }
#define FIELD_COMMENT(key)                                                                                             \
    {                                                                                                                  \
        key, RECORD_COMMENT, RECORD_PLAIN, 0, 0, 0,                                                                    \
        {                                                                                                              \
            NULL                                                                                                       \
        }                                                                                                              \
    }

#endif
