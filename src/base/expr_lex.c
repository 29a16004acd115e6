/* SPDX-License-Identifier: MIT */
#include "expr_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Only ASCII can stand before a place in the source that lexes, so bytes are characters. */
unsigned expr_column(const char *source, const char *at)
{
    return (unsigned)(at - source) + 1;
}

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

static const char *skip_digits(const char *p)
{
    while (is_digit(*p))
        p++;
    return p;
}

/* The end of the digits, point and exponent. "1." and "2e" end before what is incomplete. */
static const char *number_end(const char *p)
{
    p = skip_digits(p);
    if (p[0] == '.' && is_digit(p[1]))
        p = skip_digits(p + 1);
    if (p[0] != 'e' && p[0] != 'E')
        return p;
    const char *exponent = p + 1 + (p[1] == '+' || p[1] == '-');
    return is_digit(*exponent) ? skip_digits(exponent) : p;
}

static bool suffix_factor(double *factor, const char *suffix, size_t length)
{
    static const struct {
        const char *name;
        double factor;
    } suffixes[] = {
        {"", 1},    {"Ki", 0x1p10}, {"Mi", 0x1p20}, {"Gi", 0x1p30}, {"Ti", 0x1p40},
        {"k", 1e3}, {"M", 1e6},     {"G", 1e9},     {"T", 1e12},
    };
    for (size_t k = 0; k < sizeof(suffixes) / sizeof(suffixes[0]); k++) {
        if (strlen(suffixes[k].name) != length || memcmp(suffixes[k].name, suffix, length) != 0)
            continue;
        *factor = suffixes[k].factor;
        return true;
    }
    return false;
}

static bool lex_number(struct token *token, const char *source, struct err *err)
{
    const char *digits_end = number_end(token->start);
    const char *end = digits_end;
    while (is_name(*end))
        end++;
    double factor;
    token->kind = TOKEN_NUMBER;
    token->length = (size_t)(end - token->start);
    const int shown = token->length < 40 ? (int)token->length : 40;
    if (!suffix_factor(&factor, digits_end, (size_t)(end - digits_end))) {
        err_set(err, ERR_CONFIG, "malformed number '%.*s' at column %u", shown, token->start,
                expr_column(source, token->start));
        return false;
    }
    /* The byte behind digits_end never continues a decimal number, and "0x" was refused with the suffixes. */
    token->number = strtod(token->start, NULL) * factor;
    if (!isfinite(token->number)) {
        err_set(err, ERR_CONFIG, "number '%.*s' is too large at column %u", shown, token->start,
                expr_column(source, token->start));
        return false;
    }
    return true;
}

static bool fail_character(const struct token *token, const char *source, struct err *err)
{
    const unsigned column = expr_column(source, token->start);
    const unsigned char first = (unsigned char)*token->start;
    int length = 1;
    while (first >= 0xc0 && ((unsigned char)token->start[length] & 0xc0) == 0x80 && length < 4)
        length++;
    if (first == '=')
        err_set(err, ERR_CONFIG, "assignment is not possible at column %u (to compare, write ==)", column);
    else if (first == '"' || first == '\'')
        err_set(err, ERR_CONFIG, "strings are not possible at column %u", column);
    else if (first == '&' || first == '|')
        err_set(err, ERR_CONFIG, "unexpected '%c' at column %u; did you mean '%c%c'?", first, column, first, first);
    else if (first < ' ' || first == 0x7f)
        err_set(err, ERR_CONFIG, "unexpected byte 0x%02x at column %u", first, column);
    else
        err_set(err, ERR_CONFIG, "unexpected '%.*s' at column %u", length, token->start, column);
    return false;
}

bool expr_next_token(struct token *token, const char *source, const char *at, struct err *err)
{
    static const char operators[][3] = {"||", "&&", "==", "!=", "<=", ">=", "?", ":", "<", ">",
                                        "+",  "-",  "*",  "/",  "%",  "^",  "!", "(", ")", ","};
    while (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r')
        at++;
    *token = (struct token){.kind = TOKEN_END, .start = at};
    if (!*at)
        return true;
    if (is_digit(*at))
        return lex_number(token, source, err);
    if (is_name_start(*at)) {
        token->kind = TOKEN_NAME;
        while (is_name(at[token->length]))
            token->length++;
        return true;
    }
    for (size_t k = 0; k < sizeof(operators) / sizeof(operators[0]); k++) {
        token->length = strlen(operators[k]);
        token->kind = TOKEN_OPERATOR;
        if (strncmp(at, operators[k], token->length) == 0)
            return true;
    }
    return fail_character(token, source, err);
}
