/* SPDX-License-Identifier: MIT
 *
 * Expressions of manifests and suites: numbers in, one number out, compiled once and evaluated often.
 *
 *   or:       a || b          compare:  == != < <= > >=        power:   a ^ b (right-associative)
 *   and:      a && b          bits:     a | b, a & b           unary:   - + ! ~
 *   choice:   c ? a : b       shift:    << >>                  primary: number, name, name(args), name[index], (expr)
 *                             add:      + -    multiply: * / %
 *
 * Names may contain dots (device.arch). Numbers may carry Ki Mi Gi Ti or k M G T, or be hexadecimal (0xff). Bit
 * operators work on whole numbers up to 2^53, in two's complement; other numbers are an error. Bit operators bind more
 * tightly than comparisons (a & 1 == 0 tests the last bit). name[index] is an element of an array, see struct
 * expr_arrays. `%` is fmod with the sign of the dividend. Non-zero is true; comparisons give 1 or 0; && || ?: evaluate
 * only the operands they need. Assignment, strings, commas outside calls, unknown names and wrong argument counts are
 * errors at compile time with their column; division or remainder by zero and results that are not finite are errors at
 * evaluation: never a silent infinity. -2^2 is -4, and comparisons do not chain (1 < n < 3 is an error). Nesting is
 * limited to 200 levels, the source to 64 KiB.
 *
 * Built-in functions: min max (any count), abs floor ceil round sqrt exp log log2 log10 sin cos pow ceil_div(a, b)
 * round_up(a, b) xor(a, b) is_pow2(a) clamp(x, lo, hi) harmonic(n, s), which is 1 + 2^-s + ... + n^-s for whole n up to
 * 65536; of a list parameter: sum(list) max(list) len(list).
 *
 * There is one grammar, one compiled form and one evaluator, which processes a block of elements per operation, so that
 * fills and expectations are fast; a single value is a block of one.
 */
#ifndef ROOFTILE_EXPR_H
#define ROOFTILE_EXPR_H

#include "rooftile/base.h"

struct cJSON;

struct expr_constant {
    const char *name;
    double value;
};
struct expr_function {
    const char *name;
    int arity;                          /* 1..4 */
    double (*call)(const double *args); /* a NaN result is the error "NAME(...) is not defined here" */
};

/* The names that an expression may use. Slot k of the values given at evaluation belongs to variables[k]. List j
 * (lists[j]) takes three further slots: variable_count + 3 * j + {0: sum, 1: max, 2: len}. `i` is a variable only if
 * has_index is set. The pointers are needed only during compilation. */
struct expr_names {
    const char *const *variables;
    size_t variable_count;
    const char *const *lists;
    size_t list_count;
    const struct expr_constant *constants;
    size_t constant_count;
    const struct expr_function *functions;
    size_t function_count;
    const char *const *arrays; /* arrays with readable elements; identified by their number */
    size_t array_count;
    bool has_index;
    const char *written;    /* result of expr_source if `source` was derived from it; NULL: the source itself */
    const struct cJSON *at; /* result of expr_at: where a file has the expression; NULL: in no file */
};

struct expr; /* immutable, in an arena */

/* ERR_CONFIG with "... at column N" (1-based) in the text. */
enum status expr_compile(const struct expr **expr, const char *source, const struct expr_names *names,
                         struct arena *arena, struct err *err);

const char *expr_source(const struct expr *expr);
const struct cJSON *expr_at(const struct expr *expr);
bool expr_uses_slot(const struct expr *expr, size_t slot); /* uses that variable or list */

bool expr_uses_array(const struct expr *expr, size_t array); /* reads elements of it */

/* The contents of the arrays. */
struct expr_arrays {
    const uint64_t *counts; /* number of elements of each array */
    /* Replaces each element number in values[k], k < count, with the element; all numbers are whole and below the
     * array's count. */
    void (*read)(double *values, size_t count, size_t array, const void *context);
    const void *context;
};

/* Computes one value; `slots` as described above (may be NULL if no variable is used). `i` is 0, and there are no
 * arrays. */
enum status expr_eval(double *value, const struct expr *expr, const double *slots, struct err *err);

/* Sets values[k] to the expression at i = first + k, for k < count; i stays below 2^53. Makes no allocation, takes no
 * lock, and is thread-safe; uses about 70 KiB of stack. An element whose value is not finite (division by zero) is an
 * error that names its i; the contents of `values` are then unspecified. `arrays` may be NULL if the expression reads
 * none. Equals expr_eval element by element, except for the sign of zeros. */
enum status expr_values(double *values, const struct expr *expr, const double *slots, const struct expr_arrays *arrays,
                        uint64_t first, size_t count, struct err *err);

#endif
