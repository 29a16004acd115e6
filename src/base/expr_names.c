/* SPDX-License-Identifier: MIT
 *
 * What names and calls in an expression mean.
 */
#include <string.h>

#include "expr_parser.h"
#include "rooftile/text.h"

static bool fail_name(struct expr_parser *p, const struct token *name, const char *what, const char *const *known,
                      size_t count)
{
    char *word = arena_strndup(p->arena, name->start, name->length < 64 ? name->length : 64);
    const char *near = text_nearest(word, known, count);
    err_set(p->err, ERR_CONFIG, "unknown %s '%s' at column %u%s%s%s", what, word, expr_column(p->source, name->start),
            near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    return false;
}

static bool fail_unknown_name(struct expr_parser *p, const struct token *name)
{
    const struct expr_names *n = p->names;
    const char **known =
        arena_array(p->arena, n->variable_count + n->list_count + n->constant_count + 1, sizeof(*known));
    size_t count = 0;
    for (size_t k = 0; k < n->variable_count; k++)
        known[count++] = n->variables[k];
    for (size_t k = 0; k < n->list_count; k++)
        known[count++] = n->lists[k];
    for (size_t k = 0; k < n->constant_count; k++)
        known[count++] = n->constants[k].name;
    if (n->has_index)
        known[count++] = "i";
    return fail_name(p, name, "name", known, count);
}

static bool fail_unknown_function(struct expr_parser *p, const struct token *name)
{
    const size_t most = expr_builtin_count + p->names->function_count + 2;
    const char **known = arena_array(p->arena, most, sizeof(*known));
    size_t count = 0;
    for (size_t k = 0; k < expr_builtin_count; k++)
        known[count++] = expr_builtins[k].function.name;
    for (size_t k = 0; k < p->names->function_count; k++)
        known[count++] = p->names->functions[k].name;
    known[count++] = "sum";
    known[count++] = "len";
    return fail_name(p, name, "function", known, count);
}

static bool is(const struct token *name, const char *known)
{
    return name->kind == TOKEN_NAME && strlen(known) == name->length && memcmp(known, name->start, name->length) == 0;
}

/* The number of the list of that name, or list_count. */
static size_t find_list(const struct expr_parser *p, const struct token *name)
{
    size_t k = 0;
    while (k < p->names->list_count && !is(name, p->names->lists[k]))
        k++;
    return k;
}

bool expr_parse_name(struct expr_parser *p, const struct token *name)
{
    const struct expr_names *n = p->names;
    const unsigned column = expr_column(p->source, name->start);
    if (n->has_index && is(name, "i")) {
        expr_emit_plain(p, OP_INDEX, column, 1);
        return true;
    }
    for (size_t k = 0; k < n->variable_count; k++) {
        if (!is(name, n->variables[k]))
            continue;
        expr_emit(p, (struct expr_step){OP_SLOT, column, {.slot = k}}, 1);
        return true;
    }
    for (size_t k = 0; k < n->constant_count; k++) {
        if (!is(name, n->constants[k].name))
            continue;
        expr_emit_const(p, n->constants[k].value, column);
        return true;
    }
    if (find_list(p, name) == n->list_count)
        return fail_unknown_name(p, name);
    err_set(p->err, ERR_CONFIG, "'%.*s' at column %u is a list; use sum, max or len of it", (int)name->length,
            name->start, column);
    return false;
}

/* sum(list), max(list), len(list): *done when this is one. The next token is the one after '('. */
static bool parse_list_call(struct expr_parser *p, const struct token *name, bool *done)
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
        err_set(p->err, ERR_CONFIG, "%s takes the name of a list at column %u", parts[part], expr_here(p));
        return false;
    }
    if (!expr_advance(p))
        return false;
    if (!expr_next_is(p, ")"))
        return expr_unexpected(p, "')'");
    const unsigned column = expr_column(p->source, name->start);
    expr_emit(p, (struct expr_step){OP_SLOT, column, {.slot = p->names->variable_count + 3 * list + part}}, 1);
    *done = true;
    return expr_advance(p);
}

static const struct expr_builtin *find_builtin(const struct token *name)
{
    for (size_t k = 0; k < expr_builtin_count; k++)
        if (is(name, expr_builtins[k].function.name))
            return &expr_builtins[k];
    return NULL;
}

/* The names of the caller need not outlive compilation, so its functions are copied. */
static const struct expr_function *copy_function(struct expr_parser *p, const struct token *name)
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
static bool parse_arguments(struct expr_parser *p, const struct token *name, enum expr_op fold, int *count)
{
    *count = 0;
    while (!expr_next_is(p, ")")) {
        if (*count) {
            if (!expr_next_is(p, ","))
                return expr_unexpected(p, "',' or ')'");
            if (!expr_advance(p))
                return false;
        }
        if (!expr_parse_choice(p))
            return false;
        if (++*count > 1 && fold != OP_CALL)
            expr_emit_plain(p, fold, expr_column(p->source, name->start), -1);
    }
    return expr_advance(p);
}

bool expr_parse_call(struct expr_parser *p, const struct token *name)
{
    const unsigned column = expr_column(p->source, name->start);
    const struct expr_builtin *builtin = find_builtin(name);
    const struct expr_function *function = builtin ? &builtin->function : copy_function(p, name);
    const bool any_count = builtin && builtin->any_count;
    bool done;
    int count;
    if (!expr_advance(p) || !parse_list_call(p, name, &done))
        return false;
    if (done)
        return true;
    if (!function)
        return fail_unknown_function(p, name);
    if (!parse_arguments(p, name, any_count ? builtin->op : OP_CALL, &count))
        return false;
    if (any_count ? count < 1 : count != function->arity) {
        err_set(p->err, ERR_CONFIG, "%s takes %s%d argument%s, not %d, at column %u", function->name,
                any_count ? "at least " : "", function->arity, function->arity == 1 ? "" : "s", count, column);
        return false;
    }
    if (any_count)
        return true;
    if (builtin && builtin->op != OP_CALL)
        expr_emit_plain(p, builtin->op, column, 1 - count);
    else
        expr_emit(p, (struct expr_step){OP_CALL, column, {.call = function}}, 1 - count);
    return true;
}
