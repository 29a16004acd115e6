/* SPDX-License-Identifier: MIT
 *
 * The vocabulary of the language: tokens and built-in functions.
 */
#include <math.h>
#include <string.h>

#include "expr_internal.h"
#include "rooftile/units.h"

#define NUMBER_LONGEST 400 /* characters; more than the longest number that a double could need */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_name(char c)
{
    return is_name_start(c) || is_digit(c) || c == '.';
}

/* Reads 0xff, a whole number that a double represents exactly. */
static bool lex_hexadecimal(struct token *token, struct err *err)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = token->start + 2;
    token->kind = TOKEN_NUMBER;
    for (const char *digit; is_name(*at) && (digit = strchr(digits, *at >= 'A' && *at <= 'F' ? *at + 32 : *at)); at++)
        token->number = token->number * 16 + (double)(digit - digits);
    token->length = (size_t)(at - token->start);
    if (token->length > 2 && !is_name(*at) && token->number <= EXPR_BITS_MAX)
        return true;
    err_set(err, ERR_CONFIG, "malformed number '%.*s' at column %u (hexadecimal ones are whole and at most 2^53)",
            token->length < 40 ? (int)token->length + (is_name(*at) ? 1 : 0) : 40, token->start, token->column);
    return false;
}

static bool lex_number(struct token *token, struct err *err)
{
    char digits[NUMBER_LONGEST + 1] = "";
    if (token->start[0] == '0' && (token->start[1] == 'x' || token->start[1] == 'X'))
        return lex_hexadecimal(token, err);
    /* Collects all characters that could belong to a number, including its suffix and the sign of its exponent;
     * units_parse_number validates them. */
    const char *at = token->start;
    while (is_name(*at) || ((*at == '+' || *at == '-') && (at[-1] == 'e' || at[-1] == 'E') && is_digit(at[1])))
        at++;
    token->kind = TOKEN_NUMBER;
    token->length = (size_t)(at - token->start);
    if (token->length <= NUMBER_LONGEST)
        memcpy(digits, token->start, token->length);
    if (units_parse_number(&token->number, digits))
        return true;
    const int shown = token->length < 40 ? (int)token->length : 40;
    err_set(err, ERR_CONFIG,
            isinf(token->number) ? "number '%.*s' is too large at column %u" : "malformed number '%.*s' at column %u",
            shown, token->start, token->column);
    return false;
}

static bool fail_character(const struct token *token, struct err *err)
{
    const unsigned char first = (unsigned char)*token->start;
    int length = 1;
    while (first >= 0xc0 && ((unsigned char)token->start[length] & 0xc0) == 0x80 && length < 4)
        length++;
    if (first == '=')
        err_set(err, ERR_CONFIG, "assignment is not possible at column %u (to compare, write ==)", token->column);
    else if (first == '"' || first == '\'')
        err_set(err, ERR_CONFIG, "strings are not possible at column %u", token->column);
    else if (first < ' ' || first == 0x7f)
        err_set(err, ERR_CONFIG, "unexpected byte 0x%02x at column %u", first, token->column);
    else
        err_set(err, ERR_CONFIG, "unexpected '%.*s' at column %u", length, token->start, token->column);
    return false;
}

bool expr_next_token(struct token *token, const char *source, const char *at, struct err *err)
{
    while (*at == ' ' || (*at >= '\t' && *at <= '\r' && *at != '\v' && *at != '\f'))
        at++;
    /* Source text before a valid token is ASCII, so bytes are characters. */
    *token = (struct token){.kind = TOKEN_END, .start = at, .column = (unsigned)(at - source) + 1};
    if (!*at)
        return true;
    if (is_digit(*at))
        return lex_number(token, err);
    if (is_name_start(*at)) {
        token->kind = TOKEN_NAME;
        while (is_name(at[token->length]))
            token->length++;
        return true;
    }
    token->kind = TOKEN_OPERATOR;
    token->length = (at[1] == '=' && strchr("=!<>", at[0])) || (at[1] == at[0] && strchr("|&<>", at[0])) ? 2
                    : strchr("?:<>+-*/%^!&|~()[],", at[0])                                               ? 1
                                                                                                         : 0;
    return token->length || fail_character(token, err);
}

/* ---- built-in functions ---- */

/* Exact for whole numbers below 2^53: the quotient differs from any integer that it does not equal by at least 1/b, and
 * rounding changes it by less. */
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

/* Sums in the same order as a generator's prefix sums (offsets, dist skewed), so that both agree bit for bit. */
static double call_harmonic(const double *args)
{
    if (!(args[0] >= 0) || args[0] > 65536 || args[0] != floor(args[0]))
        return (double)NAN;
    double sum = 0;
    for (double k = 1; k <= args[0]; k++)
        sum += pow(k, -args[1]);
    return sum;
}

const struct expr_builtin expr_builtins[] = {
    {OP_MIN, {"min", 1, NULL}},
    {OP_MAX, {"max", 1, NULL}},
    {OP_ABS, {"abs", 1, NULL}},
    {OP_FLOOR, {"floor", 1, NULL}},
    {OP_CEIL, {"ceil", 1, NULL}},
    {OP_POW, {"pow", 2, NULL}},
    {OP_BIT_XOR, {"xor", 2, NULL}},
    {OP_ROUND, {"round", 1, NULL}},
    {OP_SQRT, {"sqrt", 1, NULL}},
    {OP_EXP, {"exp", 1, NULL}},
    {OP_LOG, {"log", 1, NULL}},
    {OP_LOG2, {"log2", 1, NULL}},
    {OP_LOG10, {"log10", 1, NULL}},
    {OP_SIN, {"sin", 1, NULL}},
    {OP_COS, {"cos", 1, NULL}},
    {OP_CALL, {"ceil_div", 2, call_ceil_div}},
    {OP_CALL, {"round_up", 2, call_round_up}},
    {OP_CALL, {"is_pow2", 1, call_is_pow2}},
    {OP_CALL, {"clamp", 3, call_clamp}},
    {OP_CALL, {"harmonic", 2, call_harmonic}},
};
const size_t expr_builtin_count = sizeof(expr_builtins) / sizeof(expr_builtins[0]);
