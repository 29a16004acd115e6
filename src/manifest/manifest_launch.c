/* SPDX-License-Identifier: MIT */
#include "manifest_internal.h"

static enum status value_arg_parse(struct manifest_arg *arg, const struct manifest_parser *parser,
                                   const struct json *object, struct err *err)
{
    static const char *const keys[] = {"value", "type", "repeat"};
    arg->buffer = -1;
    enum status status = json_check_keys(object, keys, COUNT_OF(keys), err);
    if (!status)
        status = get_expr(&arg->value, parser, object, "value", JSON_REQUIRED, SCOPE_PLAIN, err);
    if (!status)
        status = get_expr(&arg->repeat, parser, object, "repeat", JSON_OPTIONAL, SCOPE_PLAIN, err);
    return status ? status : get_type(&arg->type, parser, object, "type", err);
}

static enum status buffer_arg_parse(struct manifest_arg *arg, const struct manifest_parser *parser,
                                    const struct json *object, struct err *err)
{
    static const char *const keys[] = {"buffer", "offset"};
    enum status status = json_check_keys(object, keys, COUNT_OF(keys), err);
    if (!status)
        status = get_buffer(&arg->buffer, parser, object, "buffer", err);
    return status ? status : get_expr(&arg->offset, parser, object, "offset", JSON_OPTIONAL, SCOPE_PLAIN, err);
}

static enum status arg_parse(struct manifest_arg *arg, const struct manifest_parser *parser, const struct json *at,
                             struct err *err)
{
    *arg = (struct manifest_arg){.at = at};
    if (at->type == JSON_STRING) {
        if (manifest_param(parser->manifest, at->string) >= 0 && find_buffer(parser->manifest, at->string) < 0)
            return json_fail(at, err, "'%s' is a parameter: write { \"value\": \"%s\", \"type\": ... }", at->string,
                             at->string);
        return get_buffer_value(&arg->buffer, parser, at, err);
    }
    if (at->type != JSON_OBJECT)
        return json_fail(at, err, "must be a buffer's name, {\"buffer\": ...} or {\"value\": ...}, not %s",
                         json_type_name(at->type));
    if (json_member(at, "buffer"))
        return buffer_arg_parse(arg, parser, at, err);
    return value_arg_parse(arg, parser, at, err);
}

static enum status args_parse(struct manifest_launch *launch, const struct manifest_parser *parser,
                              const struct json *object, struct err *err)
{
    const struct json *array = NULL;
    enum status status = json_get_array(&array, object, "args", JSON_OPTIONAL, err);
    if (status || !array)
        return status;
    if (array->count > MANIFEST_MAX_ARGS)
        return json_fail(array, err, "%zu arguments, more than the %d a launch can have", array->count,
                         MANIFEST_MAX_ARGS);
    struct manifest_arg *args = arena_array(parser->arena, array->count, sizeof(*args));
    size_t count = 0;
    for (const struct json *item = array->first; item; item = item->next) {
        status = arg_parse(&args[count++], parser, item, err);
        if (status)
            return status;
    }
    launch->args = args;
    launch->arg_count = count;
    return STATUS_OK;
}

static enum status dimensions_parse(const struct expr *out[static 3], const struct manifest_parser *parser,
                                    const struct json *object, const char *key, struct err *err)
{
    const struct json *array = NULL;
    enum status status = json_get_array(&array, object, key, JSON_REQUIRED, err);
    if (status)
        return status;
    if (array->count < 1 || array->count > 3)
        return json_fail(array, err, "has %zu dimensions, not 1 to 3", array->count);
    size_t count = 0;
    for (const struct json *item = array->first; item && !status; item = item->next)
        status = get_expr_value(&out[count++], parser, item, SCOPE_PLAIN, err);
    return status;
}

enum status launch_parse(struct manifest_launch *out, const struct manifest_parser *parser, const struct json *object,
                         struct err *err)
{
    static const char *const keys[] = {"grid", "block", "shared", "symbol", "defines", "args", "cooperative"};
    struct manifest_launch launch = {.symbol = parser->symbol};
    enum status status = json_check_keys(object, keys, COUNT_OF(keys), err);
    if (!status)
        status = get_template(&launch.symbol, parser, object, "symbol", JSON_OPTIONAL, err);
    if (!status && !launch.symbol)
        status = json_fail(object, err, "no symbol: neither here nor in /code");
    if (!status)
        status = launch_defines_parse(&launch, parser, object, err);
    if (!status)
        status = dimensions_parse(launch.grid, parser, object, "grid", err);
    if (!status)
        status = dimensions_parse(launch.block, parser, object, "block", err);
    if (!status)
        status = get_expr(&launch.shared, parser, object, "shared", JSON_OPTIONAL, SCOPE_PLAIN, err);
    if (!status)
        status = json_get_bool(&launch.cooperative, object, "cooperative", JSON_OPTIONAL, err);
    if (!status)
        status = args_parse(&launch, parser, object, err);
    if (!status)
        *out = launch;
    return status;
}
