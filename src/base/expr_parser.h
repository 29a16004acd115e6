/* SPDX-License-Identifier: MIT
 *
 * Shared by expr_parse.c (grammar and emission of steps) and expr_names.c (names and calls) only. The functions that
 * return bool are false after err_set.
 */
#ifndef ROOFTILE_EXPR_PARSER_H
#define ROOFTILE_EXPR_PARSER_H

#include "expr_internal.h"

struct expr_parser {
    const char *source;
    const struct expr_names *names;
    struct arena *arena;
    struct err *err;
    struct token token; /* the next one */
    struct expr_step *steps;
    size_t count, capacity;
    size_t height, stack; /* values on the stack here, and at most */
    unsigned depth;
};

/* The next token: its column, whether it is that operator, the step over it, the complaint about it. */
unsigned expr_here(const struct expr_parser *p);
bool expr_next_is(const struct expr_parser *p, const char *operator);
bool expr_advance(struct expr_parser *p);
bool expr_unexpected(struct expr_parser *p, const char *wanted);

/* Appends a step that leaves `growth` more values on the stack, and returns its number. */
size_t expr_emit(struct expr_parser *p, struct expr_step step, int growth);
size_t expr_emit_plain(struct expr_parser *p, enum expr_op op, unsigned column, int growth);
void expr_emit_const(struct expr_parser *p, double value, unsigned column);

/* A whole expression, as between brackets. */
bool expr_parse_choice(struct expr_parser *p);
/* `name` was the token before the next one. */
bool expr_parse_name(struct expr_parser *p, const struct token *name);
/* `name` was the token before the next one, which is '('. */
bool expr_parse_call(struct expr_parser *p, const struct token *name);

#endif
