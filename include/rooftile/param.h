/* SPDX-License-Identifier: MIT
 *
 * Parameters of kernels: values, limits, and text with {placeholders} for them.
 */
#ifndef ROOFTILE_PARAM_H
#define ROOFTILE_PARAM_H

#include "rooftile/dtype.h"
#include "rooftile/json.h"

enum param_kind { PARAM_NUMBER, PARAM_DTYPE, PARAM_STRING, PARAM_LIST };
struct param_value {
    enum param_kind kind;
    uint32_t count; /* PARAM_LIST: of its numbers */
    union {
        double number;      /* PARAM_NUMBER */
        enum dtype dtype;   /* PARAM_DTYPE: a string that names a dtype */
        const char *string; /* PARAM_STRING */
        const double *list; /* PARAM_LIST */
    };
};
bool param_equal(const struct param_value *a, const struct param_value *b);
/* Returns the canonical text, as in case ids and on the command line: "268435456", "0.5", "f32", "[1,2,3]". */
char *param_text(struct arena *arena, const struct param_value *value);
/* Parses a command-line word or suite string: number with suffix, dtype name, "[1,2,3]", else string. */
struct param_value param_from_text(struct arena *arena, const char *text);
enum status param_from_json(struct param_value *value, const cJSON *json, struct arena *arena, struct err *err);

struct param {
    const char *name;
    const char *doc;                  /* what it means, in a few words; NULL: unknown */
    struct param_value value;         /* the default; only its kind if it depends on the device */
    const struct expr *asks;          /* the default if it depends on the device, using only device.NAME; else NULL */
    const struct param_value *limits; /* allowed values; NULL = any */
    size_t limit_count;
    const cJSON *at; /* its position, for messages */
    bool implied;    /* wave and cumode: not in the manifest, and hidden while 0 */
};
/* Tells whether it is an implied parameter at its default, which ids, results and lists omit. */
bool param_is_hidden(const struct param *param, const struct param_value *value);

/* Tells whether the parameter may take this value: it must have the kind of the default and be within the limits.
 * ERR_CONFIG says why not. */
enum status param_accepts(const struct param *param, const struct param_value *value, struct err *err);

/* Text with {placeholders}: {param} (a list as "1,2,3"), {ctype(param)} and any numeric {expression}, such as
 * {bytes(param)}. */
struct text_template;
const char *template_source(const struct text_template *template);

#endif
