/* SPDX-License-Identifier: MIT
 *
 * What the parts of the manifest parser share. One struct manifest_parser lives while one manifest is read; everything
 * it makes lives in its arena. Functions that read a JSON value name the place of every complaint through json_fail.
 */
#ifndef ROOFTILE_MANIFEST_INTERNAL_H
#define ROOFTILE_MANIFEST_INTERNAL_H

#include "rooftile/manifest.h"
#include "rooftile/record.h"

struct manifest_parser {
    struct manifest *manifest; /* filled part by part, in the order of manifest_parse */
    struct arena *arena;
    struct record_in in;                     /* whose context is this parser */
    struct expr_names names;                 /* complete once the parameters are read */
    const char *const *param_names;          /* for did-you-mean; as many as there are parameters */
    const char *const *buffer_names;         /* likewise */
    const struct text_template *symbol;      /* code.symbol, or NULL */
    const char *events[MANIFEST_MAX_EVENTS]; /* recorded so far, setup first */
    size_t event_count;
    bool in_setup;            /* the steps that are being read are the setup's */
    const cJSON *steps;       /* the array that is being read */
    const char **index_names; /* among `names`: of the steps around what is being read */
    int index_count;
    unsigned loop_depth;
};

/* ---- expressions.c ---- */

enum expr_scope { SCOPE_PLAIN, SCOPE_INDEX, SCOPE_METRIC };
extern const enum expr_scope scope_index, scope_metric; /* for rows of tables */

/* Fails when a parameter cannot have this name. */
enum status check_param_name(const cJSON *member, const char *name, struct err *err);
/* Compiles a text that is part of a value. ERR_CONFIG without a position: the caller adds it. */
enum status names_compile(const struct expr **out, const struct manifest_parser *parser, const char *source,
                          enum expr_scope scope, struct err *err);
/* Likewise a default in device facts alone. */
enum status default_compile(const struct expr **expr, const char *source, struct arena *arena, struct err *err);
record_get_fn into_expr; /* const struct expr *, from a string or a number; `more`: another scope than SCOPE_PLAIN */
/* The name of an index, in scope from here to index_close, which makes it unknown again. */
enum status index_open(int *index, struct manifest_parser *parser, const cJSON *at, struct err *err);
void index_close(struct manifest_parser *parser, int index);
/* Makes all of them unknown, for expressions that code is compiled with, or known again; `names` keeps them meanwhile.
 */
void index_hide(struct manifest_parser *parser, const char *names[static MANIFEST_MAX_INDEXES]);
void index_show(struct manifest_parser *parser, const char *const names[static MANIFEST_MAX_INDEXES]);
/* Slots of the sum, max and len of a list parameter start here. */
size_t list_slot(const struct manifest *manifest, size_t param);

/* ---- lets.c ---- */

/* The sub-expression or function of this name; NULL: there is none. */
const struct manifest_let *let_named(const struct manifest *manifest, const char *name, size_t length);
/* Adds the source with each name of "let" and each call of its functions replaced by its text. ERR_CONFIG without a
 * position. */
enum status lets_expand(struct text *expanded, const struct manifest *manifest, const char *source, struct arena *arena,
                        struct err *err);
record_get_fn into_lets; /* struct manifest */

/* ---- template.c ---- */

record_get_fn into_template;     /* const struct text_template *, not empty */
record_get_fn into_any_template; /* the same, may be empty */
record_get_fn into_type;         /* of a dtype's name */
const struct text_template *template_empty(struct arena *arena);

/* ---- param.c ---- */

char *number_text(struct arena *arena, double value); /* shortest text that reads back as the same number */
enum status params_parse(struct manifest_parser *parser, const cJSON *root, struct err *err);
extern const struct record override_element;      /* struct param: values for our own parameters */
extern const struct record variant_value_element; /* the same, which may ask the device as defaults do */
extern const struct record foreign_element;       /* the same for another kernel's */

/* ---- buffers.c ---- */

record_get_fn into_fill;      /* struct fill_spec: an expression in i, or a generator */
record_get_fn into_generator; /* the same, a generator with "abs" and "rel" beside its options */
record_get_fn into_buffer;    /* int, a buffer's index from its name */
record_get_fn into_path;      /* const char *, a file beside the manifest */
record_get_fn into_buffers;   /* struct manifest */
/* The names of all buffers, which expressions may mention before they are read. */
void buffers_announce(struct manifest_parser *parser, const cJSON *root);
/* Are the buffers whose elements it reads filled, each of them before number `below`? */
enum status check_elements(const struct manifest_parser *parser, const struct expr *expr, const cJSON *at, size_t below,
                           struct err *err);
int find_buffer(const struct manifest *manifest, const char *name); /* -1: there is none */

/* ---- steps.c ---- */

extern const struct record define_element;
record_get_fn into_setup, into_steps; /* struct manifest */
record_get_fn into_short_form;        /* the same: one launch */

/* ---- check.c ---- */

extern const struct record metric_element, check_record;
/* Checks that need the whole manifest: inputs that nothing fills, outputs that nothing verifies, unused buffers. */
enum status manifest_check_whole(const struct manifest_parser *parser, const cJSON *root, struct err *err);

#endif
