/* SPDX-License-Identifier: MIT */
#include "expr_internal.h"

#include <math.h>

static double call_round(const double *args)
{
    return round(args[0]);
}

static double call_sqrt(const double *args)
{
    return sqrt(args[0]);
}

static double call_exp(const double *args)
{
    return exp(args[0]);
}

static double call_log(const double *args)
{
    return log(args[0]);
}

static double call_log2(const double *args)
{
    return log2(args[0]);
}

static double call_log10(const double *args)
{
    return log10(args[0]);
}

static double call_sin(const double *args)
{
    return sin(args[0]);
}

static double call_cos(const double *args)
{
    return cos(args[0]);
}

/* Exact for whole numbers below 2^53: their quotient is at least 1/b away from any integer it is not equal to, and
 * rounding moves it by less. */
static double call_ceil_div(const double *args)
{
    return args[1] != 0 ? ceil(args[0] / args[1]) : (double)NAN;
}

static double call_round_up(const double *args)
{
    return call_ceil_div(args) * args[1];
}

static double call_is_pow2(const double *args)
{
    int exponent;
    return args[0] >= 1 && frexp(args[0], &exponent) == 0.5;
}

static double call_clamp(const double *args)
{
    if (args[1] > args[2])
        return (double)NAN;
    const double raised = args[0] < args[1] ? args[1] : args[0];
    return raised > args[2] ? args[2] : raised;
}

/* In the order of a generator's prefix sums (offsets, dist skewed), so that both have the same bits. */
static double call_harmonic(const double *args)
{
    if (!(args[0] >= 0) || args[0] > 1e6 || args[0] != floor(args[0]))
        return (double)NAN;
    double sum = 0;
    for (double k = 1; k <= args[0]; k++)
        sum += pow(k, -args[1]);
    return sum;
}

const struct expr_builtin expr_builtins[] = {
    {OP_MIN, true, {"min", 1, NULL}},
    {OP_MAX, true, {"max", 1, NULL}},
    {OP_ABS, false, {"abs", 1, NULL}},
    {OP_FLOOR, false, {"floor", 1, NULL}},
    {OP_CEIL, false, {"ceil", 1, NULL}},
    {OP_POW, false, {"pow", 2, NULL}},
    {OP_CALL, false, {"round", 1, call_round}},
    {OP_CALL, false, {"sqrt", 1, call_sqrt}},
    {OP_CALL, false, {"exp", 1, call_exp}},
    {OP_CALL, false, {"log", 1, call_log}},
    {OP_CALL, false, {"log2", 1, call_log2}},
    {OP_CALL, false, {"log10", 1, call_log10}},
    {OP_CALL, false, {"sin", 1, call_sin}},
    {OP_CALL, false, {"cos", 1, call_cos}},
    {OP_CALL, false, {"ceil_div", 2, call_ceil_div}},
    {OP_CALL, false, {"round_up", 2, call_round_up}},
    {OP_CALL, false, {"is_pow2", 1, call_is_pow2}},
    {OP_CALL, false, {"clamp", 3, call_clamp}},
    {OP_CALL, false, {"harmonic", 2, call_harmonic}},
};
const size_t expr_builtin_count = sizeof(expr_builtins) / sizeof(expr_builtins[0]);
