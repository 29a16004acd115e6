/* SPDX-License-Identifier: MIT
 *
 * The JSON tree: positions of values, members, strings, numbers and duplicate keys. json_read.c builds it.
 */
#include "rooftile/json.h"

#include "json_internal.h"

/* Above this number of members, duplicates are found by sorting, which avoids quadratic time for a million keys. */
#define FEW_KEYS 32

/* ---- messages ---- */

const char *json_type_name(const cJSON *value)
{
    switch (value->type) {
    case cJSON_NULL:
        return "null";
    case cJSON_Number:
        return "a number";
    case cJSON_String:
        return "a string";
    case cJSON_Array:
        return "an array";
    case cJSON_Object:
        return "an object";
    default:
        return "a boolean";
    }
}

/* Appends "path:line:column"; columns count characters, not bytes. */
static void add_where(struct text *out, const struct json_file *file, size_t offset)
{
    size_t line = 1, column = 1;
    for (size_t k = 0; k < offset && k < file->length; k++) {
        const unsigned char byte = (unsigned char)file->text[k];
        if (byte == '\n') {
            line++;
            column = 1;
        } else if ((byte & 0xc0) != 0x80) {
            column++;
        }
    }
    text_addf(out, "%s:%zu:%zu", file->path, line, column);
}

/* Appends the key as a token of a JSON pointer (RFC 6901). */
static void add_token(struct text *out, const struct json_node *node)
{
    SCOPED(text_release) struct text key = {0}, token = {0};
    json_add_key(&key, node);
    for (const char *p = key.data; *p; p++)
        text_addn(&token, *p == '~' ? "~0" : *p == '/' ? "~1" : p, *p == '~' || *p == '/' ? 2 : 1);
    text_add(out, "/");
    text_add_escaped(out, ESCAPE_JSON, token.data); /* keeps a file from controlling the terminal */
}

static void add_pointer(struct text *out, const struct json_node *node)
{
    const struct json_node *chain[JSON_MAX_DEPTH + 1];
    size_t depth = 0;
    for (; node->parent; node = node->parent)
        chain[depth++] = node;
    while (depth--) {
        if (chain[depth]->key_offset != JSON_NOWHERE)
            add_token(out, chain[depth]);
        else
            text_addf(out, "/%zu", (size_t)chain[depth]->index);
    }
}

void json_fail_at(const struct json_node *at, size_t offset, struct err *err, const char *format, va_list args)
{
    SCOPED(text_release) struct text message = {0};
    add_where(&message, at->file, offset);
    text_add(&message, ": ");
    if (at->parent) {
        add_pointer(&message, at);
        text_add(&message, ": ");
    }
    text_vaddf(&message, format, args);
    err_set(err, ERR_CONFIG, "%s", message.data);
}

enum status json_fail(const cJSON *at, struct err *err, const char *format, ...)
{
    const struct json_node *node = json_node_of(at);
    va_list args;
    va_start(args, format);
    json_fail_at(node, node->offset, err, format, args);
    va_end(args);
    return ERR_CONFIG;
}

enum status json_fail_key(const cJSON *at, struct err *err, const char *format, ...)
{
    const struct json_node *node = json_node_of(at);
    va_list args;
    va_start(args, format);
    json_fail_at(node, node->key_offset != JSON_NOWHERE ? node->key_offset : node->offset, err, format, args);
    va_end(args);
    return ERR_CONFIG;
}

enum status json_fail_type(const cJSON *at, const char *wanted, struct err *err)
{
    return json_fail(at, err, "must be %s, not %s", wanted, json_type_name(at));
}

enum status json_check_type(const cJSON *at, int types, struct err *err)
{
    return at->type & types ? STATUS_OK : json_fail_type(at, json_type_name(&(cJSON){.type = types}), err);
}

/* ---- children ---- */

size_t json_count(const cJSON *value)
{
    return json_node_of(value)->count;
}

uint32_t json_index(const cJSON *child)
{
    return json_node_of(child)->index;
}

const cJSON *json_at(const cJSON *array, size_t index)
{
    const cJSON *element = array ? array->child : NULL;
    for (; element && index; index--)
        element = element->next;
    return element;
}

void json_link(cJSON *parent, cJSON *child)
{
    cJSON *first = parent->child;
    child->next = NULL;
    child->prev = first ? first->prev : child; /* the first child's prev is the last child */
    if (first)
        first->prev = first->prev->next = child;
    else
        parent->child = child;
}

cJSON *json_empty(const cJSON *like, struct arena *arena)
{
    struct json_node *made = arena_copy(arena, like, sizeof(*made));
    made->value.child = NULL;
    made->count = 0;
    return &made->value;
}

void json_append(cJSON *parent, const cJSON *member, struct arena *arena)
{
    struct json_node *copy = arena_copy(arena, member, sizeof(*copy));
    copy->index = ((struct json_node *)parent)->count++;
    json_link(parent, &copy->value);
}

enum status json_check_keys(const cJSON *value, const char *const *keys, size_t count, struct err *err)
{
    if (!cJSON_IsObject(value))
        return json_fail_type(value, "an object", err);
    for (const cJSON *member = value->child; member; member = member->next) {
        const char *key = member->string;
        if (text_starts(key, "$schema") || text_starts(key, "//") || text_among(key, keys, count))
            continue;
        json_fail_key(member, err, "unknown key");
        return err_nearest(err, key, keys, count, NULL);
    }
    return STATUS_OK;
}

/* *member is NULL if an optional member is absent. */
static enum status get(const cJSON **member, const cJSON *object, const char *key, int type, enum json_need need,
                       struct err *err)
{
    if (!cJSON_IsObject(object))
        return json_fail_type(object, "an object", err);
    *member = json_member(object, key);
    if (!*member)
        return need == JSON_REQUIRED ? json_fail(object, err, "the key '%s' is missing", key) : STATUS_OK;
    return json_check_type(*member, type, err);
}

enum status json_get_string(const char **out, const cJSON *object, const char *key, enum json_need need,
                            struct err *err)
{
    const cJSON *member = NULL;
    const enum status status = get(&member, object, key, cJSON_String, need, err);
    if (!status && member)
        *out = member->valuestring;
    return status;
}

enum status json_get_number(double *out, const cJSON *object, const char *key, enum json_need need, struct err *err)
{
    const cJSON *member = NULL;
    const enum status status = get(&member, object, key, cJSON_Number, need, err);
    if (!status && member)
        *out = member->valuedouble;
    return status;
}

enum status json_get_u64(uint64_t *out, const cJSON *object, const char *key, enum json_need need, struct err *err)
{
    const cJSON *member = NULL;
    const enum status status = get(&member, object, key, cJSON_Number, need, err);
    return status || !member ? status : json_whole(out, member, 1ull << 53, err);
}

enum status json_get_array(const cJSON **out, const cJSON *object, const char *key, enum json_need need,
                           struct err *err)
{
    const cJSON *member = NULL;
    const enum status status = get(&member, object, key, cJSON_Array, need, err);
    if (!status && member)
        *out = member;
    return status;
}

bool json_is_comment(const cJSON *member)
{
    return text_starts(member->string, "//");
}

size_t json_entry_count(const cJSON *object)
{
    size_t count = 0;
    for (const cJSON *member = object->child; member; member = member->next)
        count += !json_is_comment(member);
    return count;
}

/* ---- names ---- */

bool json_is_identifier(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    return *text && !json_is_digit(*text) && text[strspn(text, letters)] == '\0';
}

/* Appends "; did you mean 'x'?", or "; known are a, b, c" if nothing is near and the list is short enough to help. */
static enum status add_hint(struct err *err, const char *word, const char *const *candidates, size_t count)
{
    const size_t few = 24;
    SCOPED(text_release) struct text known = {0};
    for (size_t k = 0; k < count && count <= few; k++)
        text_addf(&known, "%s%s", k ? ", " : "known are ", candidates[k]);
    err_nearest(err, word, candidates, count, known.data);
    return ERR_CONFIG;
}

enum status json_fail_unknown(const cJSON *at, struct err *err, const char *problem, const char *word,
                              const char *const *candidates, size_t count)
{
    json_fail(at, err, "%s '%s'", problem, word);
    return add_hint(err, word, candidates, count);
}

enum status json_fail_unknown_key(const cJSON *at, struct err *err, const char *problem, const char *const *candidates,
                                  size_t count)
{
    json_fail_key(at, err, "%s '%s'", problem, at->string);
    return add_hint(err, at->string, candidates, count);
}

enum status json_choose(size_t *out, const cJSON *at, const char *what, const char *const *names, size_t count,
                        struct err *err)
{
    char problem[64];
    if (json_check_type(at, cJSON_String, err))
        return err->status;
    for (*out = 0; *out < count; ++*out)
        if (strcmp(at->valuestring, names[*out]) == 0)
            return STATUS_OK;
    snprintf(problem, sizeof(problem), "unknown %s", what);
    return json_fail_unknown(at, err, problem, at->valuestring, names, count);
}

/* ---- numbers ---- */

enum status json_whole(uint64_t *out, const cJSON *at, uint64_t limit, struct err *err)
{
    const double number = at->valuedouble;
    if (json_check_type(at, cJSON_Number, err))
        return err->status;
    if (number >= 0 && number <= (double)limit && number == floor(number)) {
        *out = (uint64_t)number;
        return STATUS_OK;
    }
    if (limit == 1ull << 53)
        return json_fail(at, err, "must be a whole number from 0 to 2^53, not %.17g", number);
    return json_fail(at, err, "must be a whole number from 0 to %.0f, not %.17g", (double)limit, number);
}

/* ---- duplicate keys ---- */

static int by_key(const void *a, const void *b)
{
    const cJSON *const *x = a, *const *y = b;
    const uint32_t first = json_node_of(*x)->offset, second = json_node_of(*y)->offset;
    return strcmp((*x)->string, (*y)->string) ?: ORDER(first, second);
}

static enum status fail_duplicate(const cJSON *first, const cJSON *second, struct err *err)
{
    SCOPED(text_release) struct text message = {0};
    text_add(&message, "duplicate key '");
    text_add_escaped(&message, ESCAPE_JSON, second->string);
    text_add(&message, "', first at ");
    add_where(&message, json_node_of(first)->file, json_node_of(first)->key_offset);
    json_fail_key(second, err, "%s", message.data);
    return ERR_CONFIG;
}

enum status json_check_duplicates(const struct json_node *object, struct err *err)
{
    if (object->count <= FEW_KEYS) {
        for (const cJSON *second = object->value.child; second; second = second->next)
            for (const cJSON *first = object->value.child; first != second; first = first->next)
                if (first->string[0] == second->string[0] && strcmp(first->string, second->string) == 0)
                    return fail_duplicate(first, second, err);
        return STATUS_OK;
    }
    const cJSON **sorted = new_zeroed(object->count, sizeof(*sorted));
    size_t count = 0, found = 0;
    for (const cJSON *member = object->value.child; member; member = member->next)
        sorted[count++] = member;
    qsort(sorted, count, sizeof(*sorted), by_key);
    for (size_t k = 1; k < count; k++)
        if (strcmp(sorted[k - 1]->string, sorted[k]->string) == 0 &&
            (!found || json_node_of(sorted[k])->offset < json_node_of(sorted[found])->offset))
            found = k;
    const enum status status = found ? fail_duplicate(sorted[found - 1], sorted[found], err) : STATUS_OK;
    free(sorted);
    return status;
}
