/* SPDX-License-Identifier: MIT
 *
 * The compiled form of an expression, shared by expr*.c only.
 *
 * An expression is a list of steps, each of which changes a value: `a + b * c` is a, then ADD, whose operand is the
 * list b, MUL with the operand c. A choice `c ? a : b` is c, then CHOICE with the operands a and b; && and || are
 * compiled to choices.
 */
#ifndef ROOFTILE_EXPR_INTERNAL_H
#define ROOFTILE_EXPR_INTERNAL_H

#include <math.h>

#include "rooftile/expr.h"

#define EXPR_MAX_LENGTH 65536 /* characters of source */
#define EXPR_MAX_DEPTH 200    /* nesting counted by the parser; bounds the C stack */
#define EXPR_MAX_ROWS 256     /* intermediate values */
#define EXPR_MAX_ARITY 4
#define EXPR_BITS_MAX 0x1p53 /* integers up to this value support bit operations */

enum expr_op {
    OP_CONST,
    OP_SLOT,
    OP_INDEX,
    OP_CHOICE,
    OP_CALL,
    OP_ELEMENT, /* the value is the index of the element */
    /* unary */
    OP_NEG,
    OP_NOT,
    OP_TRUTH,
    OP_ABS,
    OP_FLOOR,
    OP_CEIL,
    OP_INVERT,
    OP_SIN,
    OP_COS,
    OP_ROUND,
    OP_SQRT,
    OP_EXP,
    OP_LOG,
    OP_LOG2,
    OP_LOG10,
    /* binary */
    OP_ADD,
    OP_SUB,
    OP_MUL,
    OP_DIV,
    OP_MOD,
    OP_POW,
    OP_BIT_AND,
    OP_BIT_OR,
    OP_BIT_XOR,
    OP_SHIFT_LEFT,
    OP_SHIFT_RIGHT,
    OP_EQ,
    OP_NE,
    OP_LT,
    OP_LE,
    OP_GT,
    OP_GE,
    OP_MIN,
    OP_MAX,
};

struct expr_step {
    enum expr_op op;
    unsigned column;
    union {
        double value; /* OP_CONST */
        size_t slot;  /* OP_SLOT; OP_ELEMENT: the array */
    } as;
    const struct expr_function *function; /* as written in the source; NULL for operators */
    struct expr_step *operands[EXPR_MAX_ARITY - 1];
    struct expr_step *next;
    const struct expr_step *before; /* the previous step, in the order of all steps including operands */
};

struct expr {
    const char *source;
    const struct cJSON *at;
    const struct expr_step *steps;
    const struct expr_step *last; /* last of all steps */
    size_t rows;                  /* maximum number of simultaneous values */
    size_t variable_count;        /* slots below are variables, above are lists */
    const char *const *arrays;    /* their names */
};

/* A built-in function: either its own operation or, with OP_CALL, a C function. OP_MIN and OP_MAX fold any number of
 * arguments, at least `arity`. */
struct expr_builtin {
    enum expr_op op;
    struct expr_function function;
};
extern const struct expr_builtin expr_builtins[];
extern const size_t expr_builtin_count;

/* Lexer. Operators have one or two characters. */
enum token_kind { TOKEN_END, TOKEN_NUMBER, TOKEN_NAME, TOKEN_OPERATOR };
struct token {
    enum token_kind kind;
    const char *start;
    size_t length;
    unsigned column; /* of its first character, from 1 */
    double number;
};

/* Reads the token of `source` at or after `at`; false after err_set. */
bool expr_next_token(struct token *token, const char *source, const char *at, struct err *err);

/* Parses `source` into a new program in `arena`. */
enum status expr_parse(struct expr *expr, const char *source, const struct expr_names *names, struct arena *arena,
                       struct err *err);

#endif
