/* SPDX-License-Identifier: MIT
 *
 * Named sub-expressions ("let") and functions. Their text, in parentheses, replaces their name before an expression is
 * compiled, so that every query for the parameters of an expression sees through them.
 */

#include "manifest_internal.h"

/* Functions available in every manifest (manifest.h): facts chosen by a kernel's types, and counts that apply only on
 * some devices. */
#define CHOOSE(name)                                                                                                   \
    "level == 1 ? device." #name "1 : level == 2 ? device." #name "2 : "                                               \
    "level == 3 ? device." #name "3 : level == 4 ? device." #name "4 : 0"
static const struct manifest_let built_in[] = {
    {"matrix_k(type)",
     8,
     "type == f16 ? device.matrix_k_f16 : type == bf16 ? device.matrix_k_bf16 : type == f32 ? device.matrix_k_f32 : "
     "type == xf32 ? device.matrix_k_xf32 : type == f64 ? device.matrix_k_f64 : type == i8 ? device.matrix_k_i8 : "
     "type == e4m3 || type == e5m2 ? device.matrix_k_fp8_ocp : "
     "type == e4m3fnuz || type == e5m2fnuz ? device.matrix_k_fp8_fnuz : 0",
     {"type"},
     1},
    {"matrix_k_sparse(type)",
     15,
     "type == f16 || type == bf16 ? device.matrix_k_sparse_f16 : type == i8 ? device.matrix_k_sparse_i8 : "
     "type == e4m3 || type == e5m2 ? device.matrix_k_sparse_fp8_ocp : "
     "type == e4m3fnuz || type == e5m2fnuz ? device.matrix_k_sparse_fp8_fnuz : 0",
     {"type"},
     1},
    {"matrix_depth(k, m, type)",
     12,
     "k * 16 / m * max(1, 16 / (k * 16 / device.matrix_holders / device.matrix_rows * bytes(type)))",
     {"k", "m", "type"},
     3},
    {"reciprocals(count)", 11, "device.cpu ? 0 : count", {"count"}, 1},
    {"has_matrix(type)", 10, "matrix_k(type) > 0 && !device.cpu", {"type"}, 1},
    {"whole(size, part)", 5, "max(part, floor(size / part) * part)", {"size", "part"}, 2},
    {"cache_bytes(level)", 11, CHOOSE(cache), {"level"}, 1},
    {"own_cache_bytes(level)", 15, CHOOSE(own_cache), {"level"}, 1},
    {"inside(level)",
     6,
     "level == 1 ? device.cache1 / 2 : sqrt(1.5 * cache_bytes(level - 1) * cache_bytes(level))",
     {"level"},
     1},
    {"own_inside(level)",
     10,
     "level == 1 ? device.own_cache1 / 2 : sqrt(1.5 * own_cache_bytes(level - 1) * own_cache_bytes(level))",
     {"level"},
     1},
    {"has_inside(level)", 10, "2 * cache_bytes(level - 1) < 0.75 * cache_bytes(level)", {"level"}, 1},
    {"beyond_caches", 13, "min(max(4 * device.last_cache, 256Mi), device.memory_bytes / 8)", {NULL}, 0},
};

const struct manifest_let *let_named(const struct manifest *manifest, const char *name, size_t length)
{
    for (size_t i = 0; i < manifest->let_count; i++)
        if (manifest->lets[i].name_length == length && !memcmp(manifest->lets[i].name, name, length))
            return &manifest->lets[i];
    for (size_t i = 0; i < COUNT_OF(built_in); i++)
        if (built_in[i].name_length == length && !memcmp(built_in[i].name, name, length))
            return &built_in[i];
    return NULL;
}

/* Returns the length of a word of letters, digits, '_' and '.': a name, or a number with its suffix ("4Ki", "1e5"),
 * which is not a name. */
static size_t word_length(const char *at)
{
    size_t length = 0;
    while (isalnum((unsigned char)at[length]) || at[length] == '_' || at[length] == '.')
        length++;
    return length;
}

/* The values of the arguments' names in the text of a function. */
struct call {
    const struct manifest_let *let;
    const char *values[MANIFEST_MAX_LET_ARGS];
    const struct call *outer; /* the call whose text contains the values; NULL: none */
};

/* Parses the arguments at *source and moves it past them. */
static enum status call_parse(struct call *call, const char **source, struct arena *arena, struct err *err)
{
    const struct manifest_let *let = call->let;
    const char *at = *source + strspn(*source, " ");
    size_t count = 0;
    if (*at != '(')
        return err_set(err, ERR_CONFIG, "'%.*s' is a function: its arguments are missing", (int)let->name_length,
                       let->name);
    do {
        const char *start = ++at; /* up to a comma or bracket at the same nesting level */
        for (size_t depth = 0; *at && (depth || (*at != ',' && *at != ')')); at++)
            depth += *at == '(' ? 1 : *at == ')' ? (size_t)-1 : 0;
        if (count < let->arg_count)
            call->values[count] = arena_strndup(arena, start, (size_t)(at - start));
        count++;
    } while (*at == ',');
    if (*at != ')')
        return err_set(err, ERR_CONFIG, "the ')' behind the arguments of %.*s is missing", (int)let->name_length,
                       let->name);
    if (count != let->arg_count)
        return err_set(err, ERR_CONFIG, "%.*s takes %zu argument%s, not %zu", (int)let->name_length, let->name,
                       let->arg_count, text_s(let->arg_count), count);
    *source = at + 1;
    return STATUS_OK;
}

/* Sub-expressions nested more deeply are taken to be recursive. */
#define MAX_LET_DEPTH 32

/* `within`: the function whose text the source is; NULL: none */
static enum status expand(struct text *out, const struct manifest *manifest, const char *source,
                          const struct call *within, unsigned depth, struct arena *arena, struct err *err)
{
    enum status status = STATUS_OK;
    if (depth > MAX_LET_DEPTH)
        return err_set(err, ERR_CONFIG, "a sub-expression that stands for itself");
    const char *kept = source; /* start of the text not yet copied */
    for (const char *at = source; *at && !status;) {
        const char *name = at, *text = NULL;
        const size_t length = word_length(at);
        struct call call = {.outer = within};
        for (size_t k = 0; within && length && k < within->let->arg_count && !text; k++)
            if (!strncmp(within->let->args[k], name, length) && !within->let->args[k][length])
                text = within->values[k];
        if (!text && length && !isdigit((unsigned char)*name))
            call.let = let_named(manifest, name, length);
        at += length ? length : 1;
        if (!text && !call.let)
            continue;
        text_addn(out, kept, (size_t)(name - kept));
        if (call.let && call.let->arg_count)
            status = call_parse(&call, &at, arena, err);
        text_add(out, "(");
        if (!status)
            status = expand(out, manifest, text ? text : call.let->text, text ? within->outer : &call, depth + 1, arena,
                            err);
        text_add(out, ")");
        kept = at;
    }
    text_add(out, kept);
    return status;
}

enum status lets_expand(struct text *expanded, const struct manifest *manifest, const char *source, struct arena *arena,
                        struct err *err)
{
    return expand(expanded, manifest, source, NULL, 0, arena, err);
}

/* Parses "tile" or "rounds(size, width)". */
static enum status let_name_parse(struct manifest_let *let, const struct manifest_parser *parser, const cJSON *member,
                                  struct err *err)
{
    static const char problem[] = "the name of a sub-expression has letters, digits and '_' only and starts with no "
                                  "digit; a function is written \"name(a, b)\"";
    const char *bracket = strchr(member->string, '(');
    let->name = member->string;
    let->name_length = bracket ? (size_t)(bracket - member->string) : strlen(member->string);
    const char *name = arena_strndup(parser->arena, member->string, let->name_length);
    if (!json_is_identifier(name) || (bracket && !text_ends(member->string, ")")))
        return json_fail_key(member, err, "%s", problem);
    for (const char *at = bracket; at && *at != ')';) {
        at += 1 + strspn(at + 1, " ");
        const size_t length = strcspn(at, " ,)");
        const char *arg = arena_strndup(parser->arena, at, length);
        if (!json_is_identifier(arg) || let->arg_count == MANIFEST_MAX_LET_ARGS)
            return json_fail_key(member, err, "%s (at most %d arguments)", problem, MANIFEST_MAX_LET_ARGS);
        let->args[let->arg_count++] = arg;
        at += length;
    }
    if (manifest_param(parser->manifest, name) >= 0)
        return json_fail_key(member, err, "'%s' is a parameter already", name);
    if (let_named(parser->manifest, name, let->name_length))
        return json_fail_key(member, err, "'%s' is a sub-expression or function already", name);
    return check_param_name(member, name, err);
}

static enum status let_parse(void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    struct manifest_parser *parser = in->context;
    struct manifest_let *let = field;
    *let = (struct manifest_let){.text = at->valuestring};
    if (let_name_parse(let, parser, at, err) ||
        (!cJSON_IsString(at) && json_fail_type(at, "an expression (a string)", err)))
        return err->status;
    if (!parser->manifest->lets)
        parser->manifest->lets = let; /* set early, so that later ones know the names of earlier ones */
    parser->manifest->let_count++;
    return STATUS_OK;
}

#define RECORD_STRUCT struct manifest
enum status into_lets(UNUSED void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    static const struct record element = {.size = sizeof(struct manifest_let), .get = let_parse};
    static const struct record_field lets = FIELD_MAP("let", lets, let_count, element);
    const struct manifest_parser *parser = in->context;
    struct manifest read = {0}; /* the parser's manifest holds those read so far */
    enum status status = record_parse_row(&read, &lets, at, in, err);
    size_t k = 0;
    /* Errors are reported where the sub-expression is defined, not where it is used. */
    for (const cJSON *member = at->child; member && !status; member = member->next) {
        if (json_is_comment(member))
            continue;
        const struct call ones = {&parser->manifest->lets[k++], {"1", "1", "1", "1"}, NULL};
        const struct expr *unused = NULL;
        struct err cause = {0};
        SCOPED(text_release) struct text expanded = {0};
        SCOPED(arena_release) struct arena arena = {0};
        struct manifest_parser passing = *parser;
        passing.arena = &arena;
        if (expand(&expanded, parser->manifest, member->valuestring, &ones, 0, &arena, &cause) ||
            names_compile(&unused, &passing, expanded.data, member, SCOPE_INDEX, &cause))
            status = json_fail(member, err, "in \"%s\": %s", member->valuestring, cause.text);
    }
    return status;
}
#undef RECORD_STRUCT
