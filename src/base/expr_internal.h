/* SPDX-License-Identifier: MIT
 *
 * The compiled form of an expression, shared by expr*.c only.
 *
 * A program is postfix code for a stack of doubles. A choice `c ? a : b` is
 *     c  BRANCH else  a  SKIP end  else: b  end: SELECT
 * (&& and || are choices too). With one value of `c`, BRANCH pops it and goes on at a or b, and SELECT does nothing.
 * The block evaluator may hold a whole row in `c`: then both sides run, three rows meet at SELECT, and it merges them.
 */
#ifndef ROOFTILE_EXPR_INTERNAL_H
#define ROOFTILE_EXPR_INTERNAL_H

#include "rooftile/expr.h"

#define EXPR_MAX_LENGTH 65536 /* characters of source */
#define EXPR_MAX_DEPTH 200    /* nesting, counted by the parser: bounds the C stack */
#define EXPR_MAX_STACK 256    /* intermediate values; an open choice is one, so these are bounded too */
#define EXPR_MAX_ARITY 4

enum expr_op {
    OP_CONST,
    OP_SLOT,
    OP_INDEX,
    OP_BRANCH,
    OP_SKIP,
    OP_SELECT,
    OP_CALL,
    /* unary */
    OP_NEG,
    OP_NOT,
    OP_TRUTH,
    OP_ABS,
    OP_FLOOR,
    OP_CEIL,
    /* binary */
    OP_ADD,
    OP_SUB,
    OP_MUL,
    OP_DIV,
    OP_MOD,
    OP_POW,
    OP_EQ,
    OP_NE,
    OP_LT,
    OP_LE,
    OP_GT,
    OP_GE,
    OP_MIN,
    OP_MAX,
    OP_COUNT
};

struct expr_step {
    enum expr_op op;
    uint32_t column;
    union {
        double value;                     /* OP_CONST */
        size_t slot;                      /* OP_SLOT */
        size_t target;                    /* OP_BRANCH, OP_SKIP: where to go on */
        const struct expr_function *call; /* OP_CALL */
    } as;
};

struct expr {
    const char *source;
    const struct expr_step *steps;
    size_t count;
    size_t stack;          /* rows that the block evaluator needs */
    size_t variable_count; /* slots below are variables, above are lists */
    bool uses_index;
    bool uses_slots;
};

/* A function of the language: either an operation of its own or a call. */
struct expr_builtin {
    enum expr_op op; /* OP_CALL: see `function`; OP_MIN, OP_MAX fold any number of arguments */
    bool any_count;
    struct expr_function function;
};
extern const struct expr_builtin expr_builtins[];
extern const size_t expr_builtin_count;

/* Lexer. Operators are of one or two characters. */
enum token_kind { TOKEN_END, TOKEN_NUMBER, TOKEN_NAME, TOKEN_OPERATOR };
struct token {
    enum token_kind kind;
    const char *start;
    size_t length;
    double number;
};

/* The token at or after `at`; false after err_set. */
bool expr_next_token(struct token *token, const char *source, const char *at, struct err *err);
/* Column of `at`, from 1. */
unsigned expr_column(const char *source, const char *at);

/* Parses `source` into a new program in `arena`. */
enum status expr_parse(struct expr *expr, const char *source, const struct expr_names *names, struct arena *arena,
                       struct err *err);

/* One operation on numbers, without checks. */
double expr_unary(enum expr_op op, double a);
double expr_binary(enum expr_op op, double a, double b);

struct expr_fault {
    const struct expr_step *step;
    double divisor; /* of OP_DIV and OP_MOD */
    double result;
};

/* Runs the whole program for one i. False: an operation of *fault had no finite result. */
bool expr_run(double *value, const struct expr *expr, const double *slots, double i, struct expr_fault *fault);
enum status expr_fault_error(const struct expr_fault *fault, struct err *err);

/* Bounds of a value; `whole`: always an integer with a magnitude of at most 2^53, so that arithmetic on it is exact. */
struct expr_range {
    double low, high;
    bool whole;
};
struct expr_range expr_range_value(double value);
struct expr_range expr_range_any(void);
struct expr_range expr_range_unary(enum expr_op op, struct expr_range a);
struct expr_range expr_range_binary(enum expr_op op, struct expr_range a, struct expr_range b);
struct expr_range expr_range_either(struct expr_range a, struct expr_range b);
bool expr_range_finite(struct expr_range range);
/* The same for values known to be finite: bounds beyond the largest double are cut to it. */
struct expr_range expr_range_cut(struct expr_range range);

#endif
