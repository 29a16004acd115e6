/* SPDX-License-Identifier: MIT
 *
 * The compiled form of an expression, shared by expr*.c only.
 *
 * A program is postfix code for a stack of values. A choice `c ? a : b` is
 *     c  BRANCH else  a  SKIP end  else: b  end: SELECT
 * (&& and || are choices too). Where `c` is the same for all elements, BRANCH drops it and goes on at a or b, and
 * SELECT does nothing; where it differs, both sides run, three rows meet at SELECT, and it merges them.
 */
#ifndef ROOFTILE_EXPR_INTERNAL_H
#define ROOFTILE_EXPR_INTERNAL_H

#include <math.h>

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
    OP_MATH,
    OP_ELEMENT, /* the index on the stack becomes the element */
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
    uint32_t column;
    union {
        double value;                     /* OP_CONST */
        size_t slot;                      /* OP_SLOT; OP_ELEMENT: the array */
        size_t target;                    /* OP_BRANCH, OP_SKIP: where to go on */
        const struct expr_function *call; /* OP_CALL */
        const struct expr_builtin *math;  /* OP_MATH */
    } as;
};

struct expr {
    const char *source;
    const struct expr_step *steps;
    size_t count;
    size_t stack;              /* values on the stack, at most */
    size_t variable_count;     /* slots below are variables, above are lists */
    const char *const *arrays; /* their names, where elements are read */
};

/* A function of the language: an operation of its own or a call. */
struct expr_builtin {
    enum expr_op op; /* OP_CALL: by `function`; OP_MATH: by `math`; OP_MIN, OP_MAX fold any number of arguments */
    bool any_count;
    struct expr_function function;
    double (*math)(double); /* NaN: see struct expr_function */
};
extern const struct expr_builtin expr_builtins[];
extern const size_t expr_builtin_count;
#define EXPR_BITS_MAX 0x1p53 /* whole numbers up to here have bits */

/* Lexer. Operators are of one or two characters. */
enum token_kind { TOKEN_END, TOKEN_NUMBER, TOKEN_NAME, TOKEN_OPERATOR };
struct token {
    enum token_kind kind;
    const char *start;
    size_t length;
    unsigned column; /* of its start, from 1 */
    double number;
};

/* The token of `source` at or after `at`; false after err_set. */
bool expr_next_token(struct token *token, const char *source, const char *at, struct err *err);

/* A value on the evaluator's stack: element k is row[k] or, without a row, (first + step * k) / over; then `step` is 0
 * (any one number, for all), or all three are whole, |first + step * k| up to EXPR_AFFINE_MAX and over > 0. */
#define EXPR_AFFINE_MAX 0x1p50
struct expr_value {
    double *row;
    double first, step, over;
};

/* x = op x, x = x op y of values without rows, where a step is not 0. Makes `count` smaller where only so many elements
 * have a result without a row; false where it would need one. */
bool expr_affine_unary(enum expr_op op, struct expr_value *x, size_t *count);
bool expr_affine_binary(enum expr_op op, struct expr_value *x, const struct expr_value *y, size_t *count);

/* The same of rows; y may be `one` number for all. */
void expr_apply_unary(enum expr_op op, double *x, size_t count);
void expr_apply_binary(enum expr_op op, double *restrict x, const double *restrict y, bool one, size_t count);
/* x[k] = element k of a value without a row. */
void expr_write_elements(double *x, const struct expr_value *value, size_t count);
/* condition[k] = the element of the side that it chooses. */
void expr_select(double *restrict condition, const double *restrict yes, const double *restrict no, size_t count);
double expr_not_finite(const double *x, size_t count); /* 0, or NaN where not all are finite */
double expr_not_zero(const double *x, size_t count);   /* how many */

/* Rounded to a whole number, by adding what leaves no bits for a fraction; from 2^52 on there is none anyway. rint,
 * floor and ceil are calls without SSE 4.1 and keep a loop from becoming vector code. */
static inline double expr_nearest(double x)
{
    const double size = fabs(x), rounded = (size + 0x1p52) - 0x1p52;
    return copysign(size < 0x1p52 ? rounded : size, x);
}

static inline double expr_rounded_down(double x)
{
    const double near = expr_nearest(x);
    return near > x ? near - 1 : near;
}

/* Parses `source` into a new program in `arena`. */
enum status expr_parse(struct expr *expr, const char *source, const struct expr_names *names, struct arena *arena,
                       struct err *err);

#endif
