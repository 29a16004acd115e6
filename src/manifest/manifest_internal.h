/* SPDX-License-Identifier: MIT
 *
 * Shared by the parts of the manifest parser. One struct manifest_parser lives while one manifest is read; everything
 * it creates lives in its arena. Functions that read a JSON value report the position of every error through json_fail.
 */
#ifndef ROOFTILE_MANIFEST_INTERNAL_H
#define ROOFTILE_MANIFEST_INTERNAL_H

#include "rooftile/manifest.h"
#include "rooftile/record.h"

struct manifest_parser {
    struct manifest *manifest; /* filled member by member, in the order of manifest_parse */
    struct arena *arena;
    struct record_in in;                     /* its context is this parser */
    struct expr_names names;                 /* complete once the parameters are read */
    const char *const *param_names;          /* for did-you-mean; one per parameter */
    const char *const *buffer_names;         /* for did-you-mean; one per buffer */
    const struct text_template *symbol;      /* code.symbol, or NULL */
    const char *events[MANIFEST_MAX_EVENTS]; /* recorded so far, those of the setup first */
    size_t event_count;
    bool in_setup;            /* the setup's steps are being read */
    const cJSON *steps;       /* the array being read */
    const char **index_names; /* the part of `names` for the steps around the current position */
    int index_count;
    unsigned loop_depth;
};

/* ---- expressions.c ---- */

enum expr_scope { SCOPE_PLAIN, SCOPE_INDEX, SCOPE_METRIC };
extern const enum expr_scope scope_index, scope_metric; /* for table rows */

/* Fails if a parameter cannot have this name. */
enum status check_param_name(const cJSON *member, const char *name, struct err *err);
/* Compiles a text that is the value `at` or part of it. ERR_CONFIG without a position, which the caller adds. */
enum status names_compile(const struct expr **out, const struct manifest_parser *parser, const char *source,
                          const cJSON *at, enum expr_scope scope, struct err *err);
/* Like names_compile, for a default that uses only device facts. */
enum status default_compile(const struct expr **expr, const char *source, struct arena *arena, struct err *err);
/* Compiles the value, a string or a number. ERR_CONFIG with its position. */
enum status read_expr(const struct expr **out, const cJSON *at, enum expr_scope scope, struct record_in *in,
                      struct err *err);
record_get_fn into_expr; /* const struct expr *, from a string or a number; `more`: a scope other than SCOPE_PLAIN */
/* Adds the name of an index, which is in scope until index_close. */
enum status index_open(int *index, struct manifest_parser *parser, const cJSON *at, struct err *err);
void index_close(struct manifest_parser *parser, int index);
/* Takes all index names out of scope, for expressions that are compiled into code, or puts them back; `names` stores
 * them meanwhile. */
void index_hide(struct manifest_parser *parser, const char *names[static MANIFEST_MAX_INDEXES]);
void index_show(struct manifest_parser *parser, const char *const names[static MANIFEST_MAX_INDEXES]);
/* Returns the first of the slots for the sum, max and len of a list parameter. */
size_t list_slot(const struct manifest *manifest, size_t param);

/* ---- lets.c ---- */

/* Returns the sub-expression or function of this name, or NULL. */
const struct manifest_let *let_named(const struct manifest *manifest, const char *name, size_t length);
/* Appends the source with each name of "let" and each call of its functions replaced by its text. ERR_CONFIG without a
 * position. */
enum status lets_expand(struct text *expanded, const struct manifest *manifest, const char *source, struct arena *arena,
                        struct err *err);
record_get_fn into_lets; /* struct manifest */

/* ---- template.c ---- */

record_get_fn into_template;     /* const struct text_template *, not empty */
record_get_fn into_any_template; /* like into_template, may be empty */
record_get_fn into_type;         /* a template for a dtype's name */
const struct text_template *template_empty(struct arena *arena);

/* ---- param.c ---- */

char *number_text(struct arena *arena, double value); /* shortest text that reads back as the same number */
enum status params_parse(struct manifest_parser *parser, const cJSON *root, struct err *err);
extern const struct record override_element;      /* struct param: values for our own parameters */
extern const struct record variant_value_element; /* like override_element; may depend on the device like defaults */
extern const struct record foreign_element;       /* like override_element, for another kernel's parameters */

/* ---- buffers.c ---- */

record_get_fn into_fill;      /* struct fill_spec: an expression in i, or a generator */
record_get_fn into_generator; /* like into_fill, for a generator with "abs" and "rel" among its options */
record_get_fn into_buffer;    /* int, a buffer's index from its name */
record_get_fn into_path;      /* const char *, a file in the manifest's folder */
record_get_fn into_buffers;   /* struct manifest */
/* Registers the names of all buffers, which expressions may use before the buffers are read. */
void buffers_announce(struct manifest_parser *parser, const cJSON *root);
/* Checks that the buffers whose elements the expression reads are filled, and come before number `below`. */
enum status check_elements(const struct manifest_parser *parser, const struct expr *expr, const cJSON *at, size_t below,
                           struct err *err);
int find_buffer(const struct manifest *manifest, const char *name); /* -1 if there is none */

/* ---- steps.c ---- */

extern const struct record define_element;
record_get_fn into_setup, into_steps; /* struct manifest */
record_get_fn into_short_form;        /* struct manifest; reads a single launch */

/* ---- check.c ---- */

extern const struct record metric_element, check_record;
/* Makes the checks that need the whole manifest: inputs that nothing fills, outputs that nothing verifies, unused
 * buffers. */
enum status manifest_check_whole(const struct manifest_parser *parser, const cJSON *root, struct err *err);

#endif
