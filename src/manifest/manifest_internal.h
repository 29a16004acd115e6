/* SPDX-License-Identifier: MIT
 *
 * What the parts of the manifest parser share. One struct manifest_parser lives while one manifest is read; everything
 * it makes lives in its arena. Functions that read a JSON value name the place of every complaint through json_fail.
 */
#ifndef ROOFTILE_MANIFEST_INTERNAL_H
#define ROOFTILE_MANIFEST_INTERNAL_H

#include "rooftile/manifest.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

struct manifest_parser {
    struct manifest *manifest; /* filled part by part, in the order of manifest_parse */
    struct arena *arena;
    struct expr_names names;               /* complete once the parameters are read */
    const char *const *param_names;        /* for did-you-mean; as many as there are parameters */
    const char *const *buffer_names;       /* likewise */
    const struct text_template *symbol;    /* code.symbol, or NULL */
    const char *marks[MANIFEST_MAX_MARKS]; /* recorded so far, setup first */
    size_t mark_count;
};

/* ---- manifest_get.c: JSON values in the forms that manifests use ---- */

/* Members of an object without its comments ("//..."): for (m = entry_first(o); m; m = entry_next(m)). */
const struct json *entry_first(const struct json *object);
const struct json *entry_next(const struct json *member);
size_t entry_count(const struct json *object);

/* Fails with "<problem> 'word'; did you mean ...?" or with all candidates when they are few. */
enum status fail_unknown(const struct json *at, struct err *err, const char *problem, const char *word,
                         const char *const *candidates, size_t count);
/* The same, pointing at the key. */
enum status fail_unknown_key(const struct json *at, struct err *err, const char *problem, const char *const *candidates,
                             size_t count);
/* The member's string as a position in `names`; *out is left as it is when the member is absent. */
enum status get_choice(int *out, const struct json *object, const char *key, enum json_need need,
                       const char *const *names, size_t count, struct err *err);
enum status get_strings(const char *const **out, size_t *count, const struct json *object, const char *key,
                        struct arena *arena, struct err *err);
/* Is the text a C identifier? Names of parameters, buffers, metrics and defines are. */
bool is_identifier(const char *text);
enum status check_entry_names(const struct json *object, const char *what, struct err *err);
/* Every entry's key, in order. */
const char *const *entry_names(const struct json *object, struct arena *arena);

/* ---- expressions.c ---- */

enum expr_scope { SCOPE_PLAIN, SCOPE_INDEX, SCOPE_METRIC };

/* Fails when a parameter cannot have this name. */
enum status check_param_name(const struct json *member, const char *name, struct err *err);
/* Compiles a text that stands inside a value. ERR_CONFIG without a place: the caller adds it. */
enum status names_compile(const struct expr **out, const struct manifest_parser *parser, const char *source,
                          enum expr_scope scope, struct err *err);
/* The value is a string or a number. */
enum status get_expr_value(const struct expr **out, const struct manifest_parser *parser, const struct json *at,
                           enum expr_scope scope, struct err *err);
enum status get_expr(const struct expr **out, const struct manifest_parser *parser, const struct json *object,
                     const char *key, enum json_need need, enum expr_scope scope, struct err *err);
/* Slots of the sum, max and len of a list parameter start here. */
size_t list_slot(const struct manifest *manifest, size_t param);
enum status lets_parse(struct manifest_parser *parser, const struct json *root, struct err *err);

/* ---- extends.c ---- */

/* The manifest with those that it extends put below it. */
enum status manifest_extend(const struct json **merged, const struct json *root, const char *dir, struct arena *arena,
                            struct err *err);

/* ---- template.c ---- */

enum status get_template_value(const struct text_template **out, const struct manifest_parser *parser,
                               const struct json *at, struct err *err);
enum status get_template(const struct text_template **out, const struct manifest_parser *parser,
                         const struct json *object, const char *key, enum json_need need, struct err *err);
/* A template that will be a dtype's name. */
enum status get_type(const struct text_template **out, const struct manifest_parser *parser, const struct json *object,
                     const char *key, struct err *err);
const struct text_template *template_empty(struct arena *arena);

/* ---- param.c ---- */

char *number_text(struct arena *arena, double value); /* shortest text that reads back as the same number */
enum status params_parse(struct manifest_parser *parser, const struct json *root, struct err *err);
/* Object of values for parameters; checked against our own unless `foreign`. */
enum status get_overrides(const struct param **out, size_t *count, const struct manifest_parser *parser,
                          const struct json *object, const char *key, bool foreign, struct err *err);

/* ---- the parts ---- */

enum status get_numbers(const double **out, size_t *count, const struct json *array, struct arena *arena,
                        struct err *err);
enum status fill_parse(struct fill_spec *out, const struct manifest_parser *parser, const struct json *at,
                       struct err *err);
/* A generator with keys of the caller's own beside its options. */
enum status generator_parse(struct fill_spec *out, const struct manifest_parser *parser, const struct json *object,
                            const char *const *other_keys, size_t other_count, struct err *err);
enum status buffers_parse(struct manifest_parser *parser, const struct json *root, struct err *err);
int find_buffer(const struct manifest *manifest, const char *name); /* -1: there is none */
enum status get_buffer_value(int *out, const struct manifest_parser *parser, const struct json *at, struct err *err);
enum status get_buffer(int *out, const struct manifest_parser *parser, const struct json *object, const char *key,
                       struct err *err);
/* The member "defines" of `parent`; *out and *count stay as they are when it is absent. */
enum status defines_parse(const struct define **out, size_t *count, const struct manifest_parser *parser,
                          const struct json *parent, struct err *err);
/* A launch's own defines over code's. */
enum status launch_defines_parse(struct manifest_launch *launch, const struct manifest_parser *parser,
                                 const struct json *object, struct err *err);
enum status launch_parse(struct manifest_launch *out, const struct manifest_parser *parser, const struct json *object,
                         struct err *err);
enum status steps_parse(struct manifest_parser *parser, const struct json *root, struct err *err);
enum status metrics_parse(struct manifest_parser *parser, const struct json *root, struct err *err);
enum status check_parse(struct manifest_parser *parser, const struct json *root, struct err *err);
/* What only the whole manifest shows: inputs nothing fills, outputs nothing verifies, buffers nothing uses. */
enum status manifest_check_whole(const struct manifest_parser *parser, const struct json *root, struct err *err);

#endif
