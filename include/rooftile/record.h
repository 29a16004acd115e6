/* SPDX-License-Identifier: MIT
 *
 * Record: a table that maps a C struct to a JSON object. The writer and the reader use the same table, so they cannot
 * disagree; data that does not fit a table (samples, parameters, expressions) uses a hook. Rows are read in order, so a
 * hook can use the members of earlier rows.
 *
 *     #define RECORD_STRUCT struct point
 *     static const struct record_field point_fields[] = {
 *         FIELD_CHARS("name", name, RECORD_REQUIRED),
 *         FIELD_F64("x_ns", x_ns, RECORD_NAN),
 *     };
 *     static const struct record point_record = {RECORD_TABLE(point_fields)};
 *     #undef RECORD_STRUCT
 *
 * Unknown values: a number that is not finite or, without RECORD_ZERO, 0; an empty string; an enum's value 0 under
 * RECORD_FROM_ONE; a list without elements; an object for which record.known is false. They are written as null, or
 * skipped with RECORD_SPARSE. Whole numbers, booleans and lists are never null: without RECORD_SPARSE they are written
 * as 0, false and []. Absent members read as unknown, and so does null where the writer can produce it.
 *
 * In files written by people (record_parse), nothing is null, and an absent member leaves its field unchanged, so its
 * default must be set before.
 */
#ifndef ROOFTILE_RECORD_H
#define ROOFTILE_RECORD_H

#include "rooftile/json.h"

enum record_kind {
    RECORD_F64,    /* double; 0 or above, unless a rule says otherwise */
    RECORD_U32,    /* uint32_t */
    RECORD_U64,    /* uint64_t or size_t, up to 2^53 */
    RECORD_BOOL,   /* bool; with names, one of two words */
    RECORD_STRING, /* const char *; unknown reads as "" */
    RECORD_TIME,   /* double, in nanoseconds; read from a duration such as "0.5 s", never written */
    RECORD_CHARS,  /* char[size] */
    RECORD_ENUM,   /* an enum: one of `size` names */
    RECORD_BITS,   /* uint32_t: an array with the names of its bits; unknown names are skipped */
    RECORD_OBJECT, /* a struct inside this one, or (offset 0) a group of this one's members */
    RECORD_LIST,   /* array: a pointer to the elements; their number is a size_t */
    RECORD_ROOM,   /* array: storage inside the struct; the number of elements is a uint32_t */
    RECORD_FIXED,  /* array: storage inside the struct, always full */
    /* object with free keys: as RECORD_LIST, and the elements begin with their key, a const char * */
    RECORD_MAP,
    RECORD_HOOK,    /* the caller's functions */
    RECORD_COMMENT, /* allowed in a file; neither read nor written here, possibly read by the caller */
};

enum record_rule {
    RECORD_PLAIN = 0,
    RECORD_REQUIRED = 1,   /* an object without it is rejected; never null */
    RECORD_SPARSE = 2,     /* skipped if unknown; null is rejected */
    RECORD_NULLABLE = 4,   /* an object: null if unknown. An object without this or RECORD_SPARSE is always written */
    RECORD_NAN = 8,        /* unknown reads as NaN (RECORD_U64: as UINT64_MAX, and 64 bits are allowed), else as 0 */
    RECORD_ZERO = 16,      /* 0 is a value */
    RECORD_SIGNED = 32,    /* may be negative */
    RECORD_POSITIVE = 64,  /* 0 is rejected */
    RECORD_SHARE = 128,    /* from 0 to 1 */
    RECORD_FROM_ONE = 256, /* an enum whose value 0 means none */
    RECORD_SOURCED = 512,  /* may also be read from { "value": number, "source": "..." } */
    RECORD_FILLED = 1024,  /* a string or a list: an empty one is rejected */
    RECORD_ONCE = 2048,    /* a list of strings without duplicates */
    RECORD_UNKNOWN = 4096, /* null, or { "value": null, "source": "..." }, reads as absent; never written */
    RECORD_ROUNDED = 8192, /* an estimate: written with six digits */
    RECORD_APPEND = 16384, /* a list or map: what is read comes after the elements that it already has */
};

struct record;
struct record_field;

/* State passed along while reading. */
struct record_in {
    struct arena *arena;            /* owns strings and lists */
    void *context;                  /* for the caller's functions */
    void *object;                   /* the struct whose member is being read */
    const struct record_field *row; /* of that member, where a function of the caller reads it */
    bool by_hand;                   /* record_parse */
    bool strict;                    /* unknown keys are rejected */
};

/* Reads the value at `at` into `field`, as described by in->row. ERR_CONFIG with its position. */
typedef enum status record_get_fn(void *field, const cJSON *at, struct record_in *in, struct err *err);

struct record_field {
    const char *key; /* NULL: the only row of a record that is a bare value rather than an object */
    enum record_kind kind;
    unsigned rules;     /* enum record_rule */
    size_t offset;      /* of the member in its struct */
    size_t size;        /* of the member in bytes; with names: their number */
    size_t count;       /* offset of the number of elements */
    record_get_fn *get; /* RECORD_HOOK: not called for an absent member */
    void (*put)(struct json_out *out, const char *key, const void *field); /* NULL: never written */
    union {
        const char *reason;          /* numbers: written next to a null as KEY_reason; may be NULL */
        const char *const *names;    /* RECORD_ENUM, RECORD_BITS, RECORD_BOOL; the last of equal names is read */
        const struct record *record; /* RECORD_OBJECT: its members; lists and maps: the elements */
        const void *more;            /* further data for `get` */
    };
};

struct record {
    const struct record_field *fields;
    size_t count, size;              /* number of rows; size of the struct in bytes */
    bool (*known)(const void *base); /* NULL: an object is known if its first member is */
    /* Called after all members of an object that is present were read; may complete the struct. NULL: no check. */
    enum status (*check)(void *base, const cJSON *json, struct err *err);
    record_get_fn *get; /* reads elements without a table */
    const char *named;  /* for a map whose keys are identifiers: what they name, for messages */
};

/* Bare values: const char *; the same, never empty; double, null is NaN; uint32_t. */
extern const struct record record_string, record_word, record_number, record_u32;

/* Writes the members into the object that is open in `out`. */
void record_put(struct json_out *out, const struct record *record, const void *base);

/* Reads into the zeroed struct at `base`; `json` NULL: everything is unknown. Unknown keys are rejected if `strict`,
 * else skipped. Strings and lists live in `arena`. ERR_CONFIG with the position of the error; `base` is then partially
 * filled. */
enum status record_get(void *base, const struct record *record, const cJSON *json, bool strict, struct arena *arena,
                       struct err *err);

/* Reads a file written by people into the struct at `base`, whose members have their defaults. Rejects unknown keys,
 * and skips comments ("//..."). `in` has the arena and the context. */
enum status record_parse(void *base, const struct record *record, const cJSON *json, struct record_in *in,
                         struct err *err);
/* Reads one value of such a file as this row, into the struct at `base`. */
enum status record_parse_row(void *base, const struct record_field *row, const cJSON *json, struct record_in *in,
                             struct err *err);
/* Checks that it is an object with no keys other than the table's. */
enum status record_check_keys(const struct record *record, const cJSON *json, struct err *err);

#define RECORD_TABLE(table) .fields = (table), .count = COUNT_OF(table), .size = sizeof(RECORD_STRUCT)

/* Rows for RECORD_STRUCT; each may end with or'ed rules. clang-format would split the braces over many lines. */
/* clang-format off */
#define FIELD_OF(what, name, member, ...) \
    .key = name, .kind = what, .rules = RECORD_PLAIN __VA_OPT__(| (__VA_ARGS__)), \
    .offset = offsetof(RECORD_STRUCT, member), .size = sizeof(((RECORD_STRUCT *)0)->member)
#define FIELD_F64(key, member, ...) {FIELD_OF(RECORD_F64, key, member, __VA_ARGS__)}
#define FIELD_REASON(key, member, rules, why) {FIELD_OF(RECORD_F64, key, member, rules), .reason = (why)}
#define FIELD_U32(key, member, ...) {FIELD_OF(RECORD_U32, key, member, __VA_ARGS__)}
#define FIELD_U64(key, member, ...) {FIELD_OF(RECORD_U64, key, member, __VA_ARGS__)}
#define FIELD_BOOL(key, member, ...) {FIELD_OF(RECORD_BOOL, key, member, __VA_ARGS__)}
#define FIELD_STRING(key, member, ...) {FIELD_OF(RECORD_STRING, key, member, __VA_ARGS__)}
#define FIELD_CHARS(key, member, ...) {FIELD_OF(RECORD_CHARS, key, member, __VA_ARGS__)}
#define FIELD_TIME(key, member, ...) {FIELD_OF(RECORD_TIME, key, member, __VA_ARGS__)}
#define FIELD_NAMED(what, name, member, table, most, ...) \
    {.key = name, .kind = what, .rules = RECORD_PLAIN __VA_OPT__(| (__VA_ARGS__)), \
     .offset = offsetof(RECORD_STRUCT, member), .size = most, .names = (table)}
#define FIELD_ENUM(key, member, table, ...) \
    FIELD_NAMED(RECORD_ENUM, key, member, table, COUNT_OF(table), __VA_ARGS__)
#define FIELD_OBJECT(key, member, inner, ...) {FIELD_OF(RECORD_OBJECT, key, member, __VA_ARGS__), .record = &(inner)}
#define FIELD_GROUP(name, inner, ...) \
    {.key = name, .kind = RECORD_OBJECT, .rules = RECORD_PLAIN __VA_OPT__(| (__VA_ARGS__)), .record = &(inner)}
#define FIELD_ELEMENTS(kind, key, member, number, element, ...) \
    {FIELD_OF(kind, key, member, __VA_ARGS__), .count = offsetof(RECORD_STRUCT, number), .record = &(element)}
#define FIELD_LIST(...) FIELD_ELEMENTS(RECORD_LIST, __VA_ARGS__)
#define FIELD_ROOM(...) FIELD_ELEMENTS(RECORD_ROOM, __VA_ARGS__)
#define FIELD_MAP(...) FIELD_ELEMENTS(RECORD_MAP, __VA_ARGS__)
#define FIELD_FIXED(key, member, element, ...) {FIELD_OF(RECORD_FIXED, key, member, __VA_ARGS__), .record = &(element)}
#define FIELD_HOOK(key, member, putter, getter, ...) \
    {FIELD_OF(RECORD_HOOK, key, member, __VA_ARGS__), .put = putter, .get = getter}
/* A hook for files that are only read. FIELD_READ_AS: with `more` data. FIELD_WHOLE: reads into the struct itself. */
#define FIELD_READ(key, member, getter, ...) FIELD_HOOK(key, member, NULL, getter, __VA_ARGS__)
#define FIELD_READ_AS(key, member, getter, told, ...) \
    {FIELD_OF(RECORD_HOOK, key, member, __VA_ARGS__), .get = getter, .more = (told)}
#define FIELD_WHOLE(name, getter) {.key = name, .kind = RECORD_HOOK, .get = getter}
#define FIELD_COMMENT(name) {.key = name, .kind = RECORD_COMMENT}
/* clang-format on */

#endif
