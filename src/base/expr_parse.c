/* SPDX-License-Identifier: MIT
 *
 * The grammar, the meaning of names, and the steps that come of both. Functions that return bool are false after
 * err_set.
 */
#include <stdlib.h>
#include <string.h>

#include "expr_internal.h"
#include "rooftile/text.h"

struct parser {
    const char *source;
    const struct expr_names *names;
    struct arena *arena;
    struct err *err;
    struct token token; /* the next one */
    struct expr_step *steps;
    size_t count;
    size_t height, stack; /* values on the stack here, and at most */
    unsigned depth;
};

static bool parse_unary(struct parser *p);
static bool parse_choice(struct parser *p);

/* ---- tokens and steps ---- */

static bool advance(struct parser *p)
{
    return expr_next_token(&p->token, p->source, p->token.start + p->token.length, p->err);
}

static bool next_is(const struct parser *p, const char *word)
{
    return p->token.kind == TOKEN_OPERATOR && p->token.start[0] == word[0] && p->token.length == (word[1] ? 2 : 1) &&
           (!word[1] || p->token.start[1] == word[1]);
}

static bool unexpected(struct parser *p, const char *wanted)
{
    if (p->token.kind == TOKEN_END)
        err_set(p->err, ERR_CONFIG, "expected %s, found the end at column %u", wanted, p->token.column);
    else if (next_is(p, ","))
        err_set(p->err, ERR_CONFIG, "expected %s, found ',' at column %u (commas separate arguments only)", wanted,
                p->token.column);
    else
        err_set(p->err, ERR_CONFIG, "expected %s, found '%.*s' at column %u", wanted,
                p->token.length < 64 ? (int)p->token.length : 64, p->token.start, p->token.column);
    return false;
}

static bool deeper(struct parser *p)
{
    if (++p->depth <= EXPR_MAX_DEPTH)
        return true;
    err_set(p->err, ERR_CONFIG, "nested deeper than %d levels at column %u", EXPR_MAX_DEPTH, p->token.column);
    return false;
}

/* Appends a step that leaves `growth` more values on the stack, and returns its number. */
static size_t emit(struct parser *p, struct expr_step step, int growth)
{
    ARRAY_PUSH(p->steps, p->count, step);
    p->height = (size_t)((long)p->height + growth);
    if (p->height > p->stack)
        p->stack = p->height;
    return p->count - 1;
}

static void emit_const(struct parser *p, double value, unsigned column)
{
    emit(p, (struct expr_step){OP_CONST, column, {.value = value}}, 1);
}

static size_t emit_op(struct parser *p, enum expr_op op, unsigned column, int growth)
{
    return emit(p, (struct expr_step){.op = op, .column = column}, growth);
}

/* The condition is on the stack: start_choice, first side, other_side, second side, end_choice. */
struct choice {
    size_t branch, skip;
};

static void start_choice(struct parser *p, struct choice *choice, unsigned column)
{
    choice->branch = emit_op(p, OP_BRANCH, column, 0);
}

static void other_side(struct parser *p, struct choice *choice, unsigned column)
{
    choice->skip = emit_op(p, OP_SKIP, column, 0);
    p->steps[choice->branch].as.target = p->count;
}

static void end_choice(struct parser *p, const struct choice *choice, unsigned column)
{
    const size_t end = emit_op(p, OP_SELECT, column, -2); /* may move the steps */
    p->steps[choice->skip].as.target = end;
}

/* ---- names and calls ---- */

static bool fail_unknown(struct parser *p, const struct token *name, const char *what, const char *const *known,
                         size_t count)
{
    char *word = arena_strndup(p->arena, name->start, name->length < 64 ? name->length : 64);
    err_set(p->err, ERR_CONFIG, "unknown %s '%s' at column %u", what, word, name->column);
    err_nearest(p->err, word, known, count, NULL);
    return false;
}

static bool fail_unknown_name(struct parser *p, const struct token *name)
{
    const struct expr_names *n = p->names;
    const char **known = NULL;
    size_t count = 0;
    for (size_t k = 0; k < n->variable_count; k++)
        ARENA_PUSH(p->arena, known, count, n->variables[k]);
    for (size_t k = 0; k < n->list_count; k++)
        ARENA_PUSH(p->arena, known, count, n->lists[k]);
    for (size_t k = 0; k < n->constant_count; k++)
        ARENA_PUSH(p->arena, known, count, n->constants[k].name);
    if (n->has_index)
        ARENA_PUSH(p->arena, known, count, "i");
    return fail_unknown(p, name, "name", known, count);
}

static bool fail_unknown_function(struct parser *p, const struct token *name)
{
    const char **known = NULL;
    size_t count = 0;
    for (size_t k = 0; k < expr_builtin_count; k++)
        ARENA_PUSH(p->arena, known, count, expr_builtins[k].function.name);
    for (size_t k = 0; k < p->names->function_count; k++)
        ARENA_PUSH(p->arena, known, count, p->names->functions[k].name);
    ARENA_PUSH(p->arena, known, count, "sum");
    ARENA_PUSH(p->arena, known, count, "len");
    return fail_unknown(p, name, "function", known, count);
}

static bool is(const struct token *name, const char *known)
{
    return name->kind == TOKEN_NAME && known[0] == name->start[0] && strlen(known) == name->length &&
           memcmp(known, name->start, name->length) == 0;
}

/* The number of the list of that name, or list_count. */
static size_t find_list(const struct parser *p, const struct token *name)
{
    size_t k = 0;
    while (k < p->names->list_count && !is(name, p->names->lists[k]))
        k++;
    return k;
}

static bool parse_name(struct parser *p, const struct token *name)
{
    const struct expr_names *n = p->names;
    const unsigned column = name->column;
    if (n->has_index && is(name, "i")) {
        emit_op(p, OP_INDEX, column, 1);
        return true;
    }
    for (size_t k = 0; k < n->variable_count; k++) {
        if (!is(name, n->variables[k]))
            continue;
        emit(p, (struct expr_step){OP_SLOT, column, {.slot = k}}, 1);
        return true;
    }
    for (size_t k = 0; k < n->constant_count; k++) {
        if (!is(name, n->constants[k].name))
            continue;
        emit_const(p, n->constants[k].value, column);
        return true;
    }
    if (find_list(p, name) == n->list_count)
        return fail_unknown_name(p, name);
    err_set(p->err, ERR_CONFIG, "'%.*s' at column %u is a list; use sum, max or len of it", (int)name->length,
            name->start, column);
    return false;
}

/* name[index]; the next token is '['. */
static bool parse_element(struct parser *p, const struct token *name)
{
    const struct expr_names *n = p->names;
    size_t array = 0;
    while (array < n->array_count && !is(name, n->arrays[array]))
        array++;
    if (!n->array_count) {
        err_set(p->err, ERR_CONFIG, "there are no elements to read here at column %u", name->column);
        return false;
    }
    if (array == n->array_count)
        return fail_unknown(p, name, "buffer", n->arrays, n->array_count);
    if (!advance(p) || !parse_choice(p))
        return false;
    emit(p, (struct expr_step){OP_ELEMENT, name->column, {.slot = array}}, 0);
    return next_is(p, "]") ? advance(p) : unexpected(p, "']'");
}

/* sum(list), max(list), len(list): *done when this is one. The next token is the one after '('. */
static bool parse_list_call(struct parser *p, const struct token *name, bool *done)
{
    static const char *const parts[] = {"sum", "max", "len"}; /* in the order of the three slots of a list */
    size_t part = 0;
    while (part < 3 && !is(name, parts[part]))
        part++;
    const size_t list = find_list(p, &p->token);
    *done = false;
    if (part == 3 || (list == p->names->list_count && part == 1))
        return true;
    if (list == p->names->list_count) {
        err_set(p->err, ERR_CONFIG, "%s takes the name of a list at column %u", parts[part], p->token.column);
        return false;
    }
    if (!advance(p))
        return false;
    if (!next_is(p, ")"))
        return unexpected(p, "')'");
    const unsigned column = name->column;
    emit(p, (struct expr_step){OP_SLOT, column, {.slot = p->names->variable_count + 3 * list + part}}, 1);
    *done = true;
    return advance(p);
}

static const struct expr_builtin *find_builtin(const struct token *name)
{
    for (size_t k = 0; k < expr_builtin_count; k++)
        if (is(name, expr_builtins[k].function.name))
            return &expr_builtins[k];
    return NULL;
}

/* The names of the caller need not outlive compilation, so its functions are copied. */
static const struct expr_function *copy_function(struct parser *p, const struct token *name)
{
    for (size_t k = 0; k < p->names->function_count; k++) {
        if (!is(name, p->names->functions[k].name))
            continue;
        struct expr_function *function = arena_copy(p->arena, &p->names->functions[k], sizeof(*function));
        function->name = arena_strdup(p->arena, function->name);
        return function;
    }
    return NULL;
}

/* Arguments up to the closing bracket; `fold` (or OP_CALL: none) joins each with those before it. */
static bool parse_arguments(struct parser *p, const struct token *name, enum expr_op fold, int *count)
{
    *count = 0;
    while (!next_is(p, ")")) {
        if (*count) {
            if (!next_is(p, ","))
                return unexpected(p, "',' or ')'");
            if (!advance(p))
                return false;
        }
        if (!parse_choice(p))
            return false;
        if (++*count > 1 && fold != OP_CALL)
            emit_op(p, fold, name->column, -1);
    }
    return advance(p);
}

static bool parse_call(struct parser *p, const struct token *name)
{
    const unsigned column = name->column;
    const struct expr_builtin *builtin = find_builtin(name);
    const struct expr_function *function = builtin ? &builtin->function : copy_function(p, name);
    const bool any_count = builtin && builtin->any_count;
    bool done;
    int count;
    if (!advance(p) || !parse_list_call(p, name, &done))
        return false;
    if (done)
        return true;
    if (!function)
        return fail_unknown_function(p, name);
    if (!parse_arguments(p, name, any_count ? builtin->op : OP_CALL, &count))
        return false;
    if (any_count ? count < 1 : count != function->arity) {
        err_set(p->err, ERR_CONFIG, "%s takes %s%d argument%s, not %d, at column %u", function->name,
                any_count ? "at least " : "", function->arity, text_s((size_t)function->arity), count, column);
        return false;
    }
    if (any_count)
        return true;
    if (builtin && builtin->op == OP_MATH)
        emit(p, (struct expr_step){OP_MATH, column, {.math = builtin}}, 0);
    else if (builtin && builtin->op != OP_CALL)
        emit_op(p, builtin->op, column, 1 - count);
    else
        emit(p, (struct expr_step){OP_CALL, column, {.call = function}}, 1 - count);
    return true;
}

/* ---- the grammar ---- */

static bool parse_primary(struct parser *p)
{
    const struct token first = p->token;
    if (first.kind == TOKEN_NUMBER) {
        emit_const(p, first.number, p->token.column);
        return advance(p);
    }
    if (first.kind == TOKEN_NAME) {
        if (!advance(p))
            return false;
        return next_is(p, "(")   ? parse_call(p, &first)
               : next_is(p, "[") ? parse_element(p, &first)
                                 : parse_name(p, &first);
    }
    if (!next_is(p, "("))
        return unexpected(p, "a value");
    if (!advance(p) || !parse_choice(p))
        return false;
    if (p->token.kind == TOKEN_END) {
        err_set(p->err, ERR_CONFIG, "'(' at column %u is not closed", first.column);
        return false;
    }
    return next_is(p, ")") ? advance(p) : unexpected(p, "')'");
}

static bool parse_power(struct parser *p)
{
    if (!parse_primary(p))
        return false;
    if (!next_is(p, "^"))
        return true;
    const unsigned column = p->token.column;
    if (!deeper(p) || !advance(p) || !parse_unary(p))
        return false;
    p->depth--;
    emit_op(p, OP_POW, column, -1);
    return true;
}

static bool parse_unary(struct parser *p)
{
    const unsigned column = p->token.column;
    const enum expr_op op = next_is(p, "-")   ? OP_NEG
                            : next_is(p, "!") ? OP_NOT
                            : next_is(p, "~") ? OP_INVERT
                                              : OP_CONST;
    if (op == OP_CONST && !next_is(p, "+"))
        return parse_power(p);
    if (!deeper(p) || !advance(p) || !parse_unary(p))
        return false;
    p->depth--;
    if (op != OP_CONST)
        emit_op(p, op, column, 0);
    return true;
}

enum level {
    LEVEL_OR,
    LEVEL_AND,
    LEVEL_COMPARE,
    LEVEL_BIT_OR,
    LEVEL_BIT_AND,
    LEVEL_SHIFT,
    LEVEL_ADD,
    LEVEL_MULTIPLY,
    LEVEL_UNARY
};

static const struct binary {
    const char *operator;
    enum level level;
    enum expr_op op; /* of || and &&: see parse_level */
} binaries[] = {
    {"||", LEVEL_OR, OP_BRANCH},        {"&&", LEVEL_AND, OP_BRANCH},        {"==", LEVEL_COMPARE, OP_EQ},
    {"!=", LEVEL_COMPARE, OP_NE},       {"<", LEVEL_COMPARE, OP_LT},         {"<=", LEVEL_COMPARE, OP_LE},
    {">", LEVEL_COMPARE, OP_GT},        {">=", LEVEL_COMPARE, OP_GE},        {"+", LEVEL_ADD, OP_ADD},
    {"-", LEVEL_ADD, OP_SUB},           {"*", LEVEL_MULTIPLY, OP_MUL},       {"/", LEVEL_MULTIPLY, OP_DIV},
    {"%", LEVEL_MULTIPLY, OP_MOD},      {"|", LEVEL_BIT_OR, OP_BIT_OR},      {"&", LEVEL_BIT_AND, OP_BIT_AND},
    {"<<", LEVEL_SHIFT, OP_SHIFT_LEFT}, {">>", LEVEL_SHIFT, OP_SHIFT_RIGHT},
};

static const struct binary *find_binary(const struct parser *p, enum level lowest)
{
    for (size_t k = 0; p->token.kind == TOKEN_OPERATOR && k < sizeof(binaries) / sizeof(binaries[0]); k++)
        if (next_is(p, binaries[k].operator))
            return binaries[k].level >= lowest ? &binaries[k] : NULL;
    return NULL;
}

/* Operators that bind at least as tightly as `lowest`. a || b is a ? 1 : (b != 0); a && b is a ? (b != 0) : 0 */
static bool parse_level(struct parser *p, enum level lowest)
{
    if (!parse_unary(p))
        return false;
    const struct binary *binary = find_binary(p, lowest);
    for (enum level level = LEVEL_UNARY; binary; binary = find_binary(p, lowest)) {
        const unsigned column = p->token.column;
        struct choice choice = {0};
        if (level == LEVEL_COMPARE && binary->level == LEVEL_COMPARE) {
            err_set(p->err, ERR_CONFIG, "comparisons cannot follow each other at column %u; join them with &&", column);
            return false;
        }
        level = binary->level;
        if (binary->op == OP_BRANCH)
            start_choice(p, &choice, column);
        if (level == LEVEL_OR) {
            emit_const(p, 1, column);
            other_side(p, &choice, column);
        }
        if (!advance(p) || !parse_level(p, level + 1))
            return false;
        emit_op(p, binary->op == OP_BRANCH ? OP_TRUTH : binary->op, column, binary->op == OP_BRANCH ? 0 : -1);
        if (level == LEVEL_AND) {
            other_side(p, &choice, column);
            emit_const(p, 0, column);
        }
        if (binary->op == OP_BRANCH)
            end_choice(p, &choice, column);
    }
    return true;
}

static bool parse_choice(struct parser *p)
{
    if (!deeper(p) || !parse_level(p, LEVEL_OR))
        return false;
    if (next_is(p, "?")) {
        const unsigned column = p->token.column;
        struct choice choice;
        start_choice(p, &choice, column);
        if (!advance(p) || !parse_choice(p))
            return false;
        if (!next_is(p, ":"))
            return unexpected(p, "':'");
        other_side(p, &choice, column);
        if (!advance(p) || !parse_choice(p))
            return false;
        end_choice(p, &choice, column);
    }
    p->depth--;
    return true;
}

static bool parse_all(struct parser *p)
{
    if (!expr_next_token(&p->token, p->source, p->source, p->err))
        return false;
    if (p->token.kind == TOKEN_END) {
        err_set(p->err, ERR_CONFIG, "the expression is empty at column 1");
        return false;
    }
    if (!parse_choice(p))
        return false;
    if (p->token.kind != TOKEN_END)
        return unexpected(p, "an operator");
    if (p->stack > EXPR_MAX_STACK) {
        err_set(p->err, ERR_CONFIG, "more than %d intermediate values at column 1", EXPR_MAX_STACK);
        return false;
    }
    return true;
}

enum status expr_parse(struct expr *expr, const char *source, const struct expr_names *names, struct arena *arena,
                       struct err *err)
{
    struct parser parser = {.source = source, .names = names, .arena = arena, .err = err};
    const bool good = parse_all(&parser);
    if (good) {
        expr->steps = arena_copy(arena, parser.steps, parser.count * sizeof(*parser.steps));
        expr->count = parser.count;
        expr->stack = parser.stack;
    }
    free(parser.steps);
    return good ? STATUS_OK : ERR_CONFIG;
}
