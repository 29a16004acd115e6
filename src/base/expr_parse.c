/* SPDX-License-Identifier: MIT
 *
 * The grammar, the meaning of names, and the generated steps. Functions that return bool return false after err_set.
 */
#include <string.h>

#include "expr_internal.h"
#include "rooftile/text.h"

struct parser {
    const char *source;
    const struct expr_names *names;
    struct arena *arena;
    struct err *err;
    struct token token;     /* the next token */
    struct expr_step **end; /* end of the list being extended */
    const struct expr_step *last;
    size_t row, rows; /* values in use here, and the maximum */
    unsigned depth;
};

/* Later levels bind more tightly. */
enum level {
    LEVEL_CHOICE,
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

static bool parse_choice(struct parser *p);
static bool parse_level(struct parser *p, enum level lowest);

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

static struct expr_step *emit(struct parser *p, enum expr_op op, unsigned column)
{
    struct expr_step *step = arena_alloc(p->arena, sizeof(*step));
    *step = (struct expr_step){.op = op, .column = column, .before = p->last};
    p->last = *p->end = step;
    p->end = &step->next;
    return step;
}

static void emit_const(struct parser *p, double value, unsigned column)
{
    emit(p, OP_CONST, column)->as.value = value;
}

/* Until `leave`, emitted steps form an operand, whose value lies `above` rows above that of its step. Returns the list
 * to continue afterwards. */
static struct expr_step **enter(struct parser *p, struct expr_step **operand, size_t above)
{
    struct expr_step **end = p->end;
    p->end = operand;
    p->row += above;
    p->rows = p->row > p->rows ? p->row : p->rows;
    return end;
}

static void leave(struct parser *p, struct expr_step **end, size_t above)
{
    p->end = end;
    p->row -= above;
}

static bool parse_operand(struct parser *p, struct expr_step *step, size_t number, enum level lowest)
{
    struct expr_step **end = enter(p, &step->operands[number], number + 1);
    const bool good = lowest == LEVEL_CHOICE ? parse_choice(p) : parse_level(p, lowest);
    leave(p, end, number + 1);
    return good;
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

/* Returns the number of the list with that name, or list_count. */
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
        emit(p, OP_INDEX, column);
        return true;
    }
    for (size_t k = 0; k < n->variable_count; k++) {
        if (!is(name, n->variables[k]))
            continue;
        emit(p, OP_SLOT, column)->as.slot = k;
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

/* Parses name[index]; the next token is '['. */
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
    emit(p, OP_ELEMENT, name->column)->as.slot = array;
    return next_is(p, "]") ? advance(p) : unexpected(p, "']'");
}

/* Parses sum(list), max(list) or len(list), and sets *done for these. The next token is the one after '('. */
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
    emit(p, OP_SLOT, name->column)->as.slot = p->names->variable_count + 3 * list + part;
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

/* Copies a function, because the caller's names need not outlive compilation. */
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

/* Parses arguments up to the closing bracket. The first is the value that the function changes, the others are
 * operands; with `folds` each of them has its own step. */
static bool parse_arguments(struct parser *p, const struct token *name, enum expr_op op, bool folds,
                            const struct expr_function *function, int *count)
{
    struct expr_step *step = NULL;
    for (*count = 0; !next_is(p, ")"); ++*count) {
        if (*count) {
            if (!next_is(p, ","))
                return unexpected(p, "',' or ')'");
            if (!advance(p))
                return false;
        } else if (!parse_choice(p))
            return false;
        if (folds == (*count > 0)) {
            step = emit(p, op, name->column);
            step->function = function;
        }
        const size_t operand = folds || *count < 2 ? 0 : *count < EXPR_MAX_ARITY ? (size_t)*count - 1 : 0;
        if (*count && !parse_operand(p, step, operand, LEVEL_CHOICE))
            return false;
    }
    return advance(p);
}

static bool parse_call(struct parser *p, const struct token *name)
{
    const struct expr_builtin *builtin = find_builtin(name);
    const struct expr_function *function = builtin ? &builtin->function : copy_function(p, name);
    const enum expr_op op = builtin ? builtin->op : OP_CALL;
    const bool folds = op == OP_MIN || op == OP_MAX;
    bool done;
    int count;
    if (!advance(p) || !parse_list_call(p, name, &done))
        return false;
    if (done)
        return true;
    if (!function)
        return fail_unknown_function(p, name);
    if (!parse_arguments(p, name, op, folds, function, &count))
        return false;
    if (folds ? count >= 1 : count == function->arity)
        return true;
    err_set(p->err, ERR_CONFIG, "%s takes %s%d argument%s, not %d, at column %u", function->name,
            folds ? "at least " : "", function->arity, text_s((size_t)function->arity), count, name->column);
    return false;
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

static bool parse_unary(struct parser *p)
{
    const unsigned column = p->token.column;
    const enum expr_op op = next_is(p, "-")   ? OP_NEG
                            : next_is(p, "!") ? OP_NOT
                            : next_is(p, "~") ? OP_INVERT
                                              : OP_CONST;
    if (op != OP_CONST || next_is(p, "+")) {
        if (!deeper(p) || !advance(p) || !parse_unary(p))
            return false;
        p->depth--;
        if (op != OP_CONST)
            emit(p, op, column);
        return true;
    }
    if (!parse_primary(p))
        return false;
    if (!next_is(p, "^"))
        return true;
    struct expr_step *power = emit(p, OP_POW, p->token.column);
    if (!deeper(p) || !advance(p) || !parse_operand(p, power, 0, LEVEL_UNARY))
        return false;
    p->depth--;
    return true;
}

static const struct binary {
    const char *operator;
    enum level level;
    enum expr_op op;
} binaries[] = {
    {"||", LEVEL_OR, OP_CHOICE},        {"&&", LEVEL_AND, OP_CHOICE},        {"==", LEVEL_COMPARE, OP_EQ},
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

/* Parses operators that bind at least as tightly as `lowest`. a || b is (a ? 1 : b) != 0; a && b is (a ? b : 0) !=
 * 0. */
static bool parse_level(struct parser *p, enum level lowest)
{
    if (!parse_unary(p))
        return false;
    const struct binary *binary = find_binary(p, lowest);
    for (enum level level = LEVEL_UNARY; binary; binary = find_binary(p, lowest)) {
        const unsigned column = p->token.column;
        if (level == LEVEL_COMPARE && binary->level == LEVEL_COMPARE) {
            err_set(p->err, ERR_CONFIG, "comparisons cannot follow each other at column %u; join them with &&", column);
            return false;
        }
        level = binary->level;
        struct expr_step *step = emit(p, binary->op, column);
        const size_t side = level == LEVEL_OR, other = !side;
        if (!advance(p) || !parse_operand(p, step, side, level + 1))
            return false;
        if (binary->op != OP_CHOICE)
            continue;
        struct expr_step **end = enter(p, &step->operands[other], other + 1);
        emit_const(p, level == LEVEL_OR, column);
        leave(p, end, other + 1);
        emit(p, OP_TRUTH, column);
    }
    return true;
}

static bool parse_choice(struct parser *p)
{
    if (!deeper(p) || !parse_level(p, LEVEL_OR))
        return false;
    if (next_is(p, "?")) {
        struct expr_step *choice = emit(p, OP_CHOICE, p->token.column);
        if (!advance(p) || !parse_operand(p, choice, 0, LEVEL_CHOICE))
            return false;
        if (!next_is(p, ":"))
            return unexpected(p, "':'");
        if (!advance(p) || !parse_operand(p, choice, 1, LEVEL_CHOICE))
            return false;
    }
    p->depth--;
    return true;
}

enum status expr_parse(struct expr *expr, const char *source, const struct expr_names *names, struct arena *arena,
                       struct err *err)
{
    struct expr_step *first = NULL;
    struct parser parser = {
        .source = source, .names = names, .arena = arena, .err = err, .end = &first, .row = 1, .rows = 1};
    if (!expr_next_token(&parser.token, source, source, err))
        return ERR_CONFIG;
    if (parser.token.kind == TOKEN_END)
        return err_set(err, ERR_CONFIG, "the expression is empty at column 1");
    if (!parse_choice(&parser) || (parser.token.kind != TOKEN_END && !unexpected(&parser, "an operator")))
        return ERR_CONFIG;
    if (parser.rows > EXPR_MAX_ROWS)
        return err_set(err, ERR_CONFIG, "more than %d intermediate values at column 1", EXPR_MAX_ROWS);
    const char **arrays = arena_array(arena, names->array_count, sizeof(*arrays));
    for (size_t k = 0; k < names->array_count; k++)
        arrays[k] = arena_strdup(arena, names->arrays[k]);
    expr->steps = first;
    expr->last = parser.last;
    expr->rows = parser.rows;
    expr->arrays = arrays;
    return STATUS_OK;
}
