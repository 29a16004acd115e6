/* SPDX-License-Identifier: MIT */
#include "expr_parser.h"

#include <stdlib.h>
#include <string.h>

static bool parse_unary(struct expr_parser *p);

unsigned expr_here(const struct expr_parser *p)
{
    return expr_column(p->source, p->token.start);
}

bool expr_advance(struct expr_parser *p)
{
    return expr_next_token(&p->token, p->source, p->token.start + p->token.length, p->err);
}

bool expr_next_is(const struct expr_parser *p, const char *operator)
{
    return p->token.kind == TOKEN_OPERATOR && p->token.length == strlen(operator) &&
           strncmp(p->token.start, operator, p->token.length) == 0;
}

bool expr_unexpected(struct expr_parser *p, const char *wanted)
{
    if (p->token.kind == TOKEN_END)
        err_set(p->err, ERR_CONFIG, "expected %s, found the end at column %u", wanted, expr_here(p));
    else if (expr_next_is(p, ","))
        err_set(p->err, ERR_CONFIG, "expected %s, found ',' at column %u (commas separate arguments only)", wanted,
                expr_here(p));
    else
        err_set(p->err, ERR_CONFIG, "expected %s, found '%.*s' at column %u", wanted,
                p->token.length < 64 ? (int)p->token.length : 64, p->token.start, expr_here(p));
    return false;
}

static bool deeper(struct expr_parser *p)
{
    if (++p->depth <= EXPR_MAX_DEPTH)
        return true;
    err_set(p->err, ERR_CONFIG, "nested deeper than %d levels at column %u", EXPR_MAX_DEPTH, expr_here(p));
    return false;
}

size_t expr_emit(struct expr_parser *p, struct expr_step step, int growth)
{
    if (p->count == p->capacity) {
        p->capacity = p->capacity ? 2 * p->capacity : 32;
        struct expr_step *grown = realloc(p->steps, p->capacity * sizeof(*grown));
        if (!grown)
            arena_out_of_memory(p->capacity * sizeof(*grown));
        p->steps = grown;
    }
    p->steps[p->count] = step;
    p->height = (size_t)((long)p->height + growth);
    if (p->height > p->stack)
        p->stack = p->height;
    return p->count++;
}

void expr_emit_const(struct expr_parser *p, double value, unsigned column)
{
    expr_emit(p, (struct expr_step){OP_CONST, column, {.value = value}}, 1);
}

size_t expr_emit_plain(struct expr_parser *p, enum expr_op op, unsigned column, int growth)
{
    return expr_emit(p, (struct expr_step){.op = op, .column = column}, growth);
}

/* The condition is on the stack: start_choice, first side, other_side, second side, end_choice. */
struct choice {
    size_t branch, skip;
};

static void start_choice(struct expr_parser *p, struct choice *choice, unsigned column)
{
    choice->branch = expr_emit_plain(p, OP_BRANCH, column, 0);
}

static void other_side(struct expr_parser *p, struct choice *choice, unsigned column)
{
    choice->skip = expr_emit_plain(p, OP_SKIP, column, 0);
    p->steps[choice->branch].as.target = p->count;
}

static void end_choice(struct expr_parser *p, const struct choice *choice, unsigned column)
{
    const size_t end = expr_emit_plain(p, OP_SELECT, column, -2); /* may move the steps */
    p->steps[choice->skip].as.target = end;
}

static bool parse_primary(struct expr_parser *p)
{
    const struct token first = p->token;
    if (first.kind == TOKEN_NUMBER) {
        expr_emit_const(p, first.number, expr_here(p));
        return expr_advance(p);
    }
    if (first.kind == TOKEN_NAME) {
        if (!expr_advance(p))
            return false;
        return expr_next_is(p, "(") ? expr_parse_call(p, &first) : expr_parse_name(p, &first);
    }
    if (!expr_next_is(p, "("))
        return expr_unexpected(p, "a value");
    if (!expr_advance(p) || !expr_parse_choice(p))
        return false;
    if (p->token.kind == TOKEN_END) {
        err_set(p->err, ERR_CONFIG, "'(' at column %u is not closed", expr_column(p->source, first.start));
        return false;
    }
    return expr_next_is(p, ")") ? expr_advance(p) : expr_unexpected(p, "')'");
}

static bool parse_power(struct expr_parser *p)
{
    if (!parse_primary(p))
        return false;
    if (!expr_next_is(p, "^"))
        return true;
    const unsigned column = expr_here(p);
    if (!deeper(p) || !expr_advance(p) || !parse_unary(p))
        return false;
    p->depth--;
    expr_emit_plain(p, OP_POW, column, -1);
    return true;
}

static bool parse_unary(struct expr_parser *p)
{
    const unsigned column = expr_here(p);
    const enum expr_op op = expr_next_is(p, "-") ? OP_NEG : expr_next_is(p, "!") ? OP_NOT : OP_CONST;
    if (op == OP_CONST && !expr_next_is(p, "+"))
        return parse_power(p);
    if (!deeper(p) || !expr_advance(p) || !parse_unary(p))
        return false;
    p->depth--;
    if (op != OP_CONST)
        expr_emit_plain(p, op, column, 0);
    return true;
}

enum level { LEVEL_COMPARE, LEVEL_ADD, LEVEL_MULTIPLY, LEVEL_UNARY };

static const struct binary {
    const char *operator;
    enum level level;
    enum expr_op op;
} binaries[] = {
    {"==", LEVEL_COMPARE, OP_EQ},  {"!=", LEVEL_COMPARE, OP_NE},  {"<", LEVEL_COMPARE, OP_LT},
    {"<=", LEVEL_COMPARE, OP_LE},  {">", LEVEL_COMPARE, OP_GT},   {">=", LEVEL_COMPARE, OP_GE},
    {"+", LEVEL_ADD, OP_ADD},      {"-", LEVEL_ADD, OP_SUB},      {"*", LEVEL_MULTIPLY, OP_MUL},
    {"/", LEVEL_MULTIPLY, OP_DIV}, {"%", LEVEL_MULTIPLY, OP_MOD},
};

static const struct binary *find_binary(const struct expr_parser *p, enum level level)
{
    for (size_t k = 0; k < sizeof(binaries) / sizeof(binaries[0]); k++)
        if (binaries[k].level == level && expr_next_is(p, binaries[k].operator))
            return &binaries[k];
    return NULL;
}

static bool parse_binary(struct expr_parser *p, enum level level)
{
    if (level == LEVEL_UNARY)
        return parse_unary(p);
    if (!parse_binary(p, level + 1))
        return false;
    const struct binary *binary = find_binary(p, level);
    for (bool again = false; binary; binary = find_binary(p, level), again = true) {
        const unsigned column = expr_here(p);
        if (again && level == LEVEL_COMPARE) {
            err_set(p->err, ERR_CONFIG, "comparisons cannot follow each other at column %u; join them with &&", column);
            return false;
        }
        if (!expr_advance(p) || !parse_binary(p, level + 1))
            return false;
        expr_emit_plain(p, binary->op, column, -1);
    }
    return true;
}

/* a && b is a ? (b != 0) : 0 */
static bool parse_and(struct expr_parser *p)
{
    if (!parse_binary(p, LEVEL_COMPARE))
        return false;
    while (expr_next_is(p, "&&")) {
        const unsigned column = expr_here(p);
        struct choice choice;
        start_choice(p, &choice, column);
        if (!expr_advance(p) || !parse_binary(p, LEVEL_COMPARE))
            return false;
        expr_emit_plain(p, OP_TRUTH, column, 0);
        other_side(p, &choice, column);
        expr_emit_const(p, 0, column);
        end_choice(p, &choice, column);
    }
    return true;
}

/* a || b is a ? 1 : (b != 0) */
static bool parse_or(struct expr_parser *p)
{
    if (!parse_and(p))
        return false;
    while (expr_next_is(p, "||")) {
        const unsigned column = expr_here(p);
        struct choice choice;
        start_choice(p, &choice, column);
        expr_emit_const(p, 1, column);
        other_side(p, &choice, column);
        if (!expr_advance(p) || !parse_and(p))
            return false;
        expr_emit_plain(p, OP_TRUTH, column, 0);
        end_choice(p, &choice, column);
    }
    return true;
}

bool expr_parse_choice(struct expr_parser *p)
{
    if (!deeper(p) || !parse_or(p))
        return false;
    if (expr_next_is(p, "?")) {
        const unsigned column = expr_here(p);
        struct choice choice;
        start_choice(p, &choice, column);
        if (!expr_advance(p) || !expr_parse_choice(p))
            return false;
        if (!expr_next_is(p, ":"))
            return expr_unexpected(p, "':'");
        other_side(p, &choice, column);
        if (!expr_advance(p) || !expr_parse_choice(p))
            return false;
        end_choice(p, &choice, column);
    }
    p->depth--;
    return true;
}

static bool parse_all(struct expr_parser *p)
{
    if (!expr_next_token(&p->token, p->source, p->source, p->err))
        return false;
    if (p->token.kind == TOKEN_END) {
        err_set(p->err, ERR_CONFIG, "the expression is empty at column 1");
        return false;
    }
    if (!expr_parse_choice(p))
        return false;
    if (p->token.kind != TOKEN_END)
        return expr_unexpected(p, "an operator");
    if (p->stack > EXPR_MAX_STACK) {
        err_set(p->err, ERR_CONFIG, "more than %d intermediate values at column 1", EXPR_MAX_STACK);
        return false;
    }
    return true;
}

enum status expr_parse(struct expr *expr, const char *source, const struct expr_names *names, struct arena *arena,
                       struct err *err)
{
    struct expr_parser parser = {.source = source, .names = names, .arena = arena, .err = err};
    const bool good = parse_all(&parser);
    if (good) {
        expr->steps = arena_copy(arena, parser.steps, parser.count * sizeof(*parser.steps));
        expr->count = parser.count;
        expr->stack = parser.stack;
    }
    free(parser.steps);
    return good ? STATUS_OK : ERR_CONFIG;
}
