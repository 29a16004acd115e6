/* SPDX-License-Identifier: MIT
 *
 * Named sub-expressions, "let": they are put in wherever their name stands, in parentheses, before an expression is
 * compiled. So everything that asks which parameters an expression uses sees through them.
 */
#include <ctype.h>
#include <string.h>

#include "manifest_internal.h"
#include "rooftile/text.h"

static const struct manifest_let *let_named(const struct manifest_parser *parser, const char *name, size_t length)
{
    const struct manifest *manifest = parser->manifest;
    for (size_t i = 0; i < manifest->let_count; i++)
        if (strlen(manifest->lets[i].name) == length && !memcmp(manifest->lets[i].name, name, length))
            return &manifest->lets[i];
    return NULL;
}

/* Letters, digits, '_' and '.': a name, or a number with its suffix ("4Ki", "1e5"), which is none. */
static size_t word_length(const char *at)
{
    size_t length = 0;
    while (isalnum((unsigned char)at[length]) || at[length] == '_' || at[length] == '.')
        length++;
    return length;
}

const char *lets_expand(const struct manifest_parser *parser, const char *source)
{
    if (!parser->manifest->let_count)
        return source;
    struct text out = {0};
    for (const char *at = source; *at;) {
        const size_t length = word_length(at);
        const struct manifest_let *let = length && !isdigit((unsigned char)*at) ? let_named(parser, at, length) : NULL;
        if (let)
            text_addf(&out, "(%s)", let->text);
        else
            text_addn(&out, at, length ? length : 1);
        at += length ? length : 1;
    }
    const char *expanded = arena_strdup(parser->arena, out.data ? out.data : "");
    text_release(&out);
    return expanded;
}

static enum status let_parse(struct manifest_let *let, const struct manifest_parser *parser, const struct json *member,
                             struct err *err)
{
    enum status status = check_param_name(member, err);
    if (!status && manifest_param(parser->manifest, member->key) >= 0)
        status = json_fail_key(member, err, "'%s' is a parameter already", member->key);
    if (!status && member->type != JSON_STRING)
        status = json_fail(member, err, "must be an expression (a string), not %s", json_type_name(member->type));
    const struct expr *unused = NULL;
    if (!status)
        status =
            get_expr_value(&unused, parser, member, SCOPE_INDEX, err); /* tells errors here, not where it is used */
    if (!status)
        *let = (struct manifest_let){
            .name = member->key, .written = member->string, .text = lets_expand(parser, member->string)};
    return status;
}

enum status lets_parse(struct manifest_parser *parser, const struct json *root, struct err *err)
{
    const struct json *object = NULL;
    enum status status = json_get_object(&object, root, "let", JSON_OPTIONAL, err);
    if (status || !object)
        return status;
    status = check_entry_names(object, "sub-expression", err);
    struct manifest_let *lets = arena_array(parser->arena, entry_count(object) + 1, sizeof(*lets));
    parser->manifest->lets = lets;
    for (const struct json *member = entry_first(object); member && !status; member = entry_next(member)) {
        struct manifest_let let = {0};
        status = let_parse(&let, parser, member, err);
        lets[parser->manifest->let_count] = let;
        parser->manifest->let_count += !status;
    }
    return status;
}
