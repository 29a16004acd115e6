/* SPDX-License-Identifier: MIT */

#include "manifest_internal.h"
#include "rooftile/units.h"

static const char *const kind_names[] = {
    [PARAM_NUMBER] = "a number",
    [PARAM_DTYPE] = "a dtype",
    [PARAM_STRING] = "text",
    [PARAM_LIST] = "a list",
};

bool param_equal(const struct param_value *a, const struct param_value *b)
{
    if (a->kind != b->kind)
        return false;
    if (a->kind == PARAM_NUMBER)
        return a->number == b->number;
    if (a->kind == PARAM_DTYPE)
        return a->dtype == b->dtype;
    if (a->kind == PARAM_STRING)
        return strcmp(a->string, b->string) == 0;
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (a->list[i] != b->list[i])
            return false;
    return true;
}

char *number_text(struct arena *arena, double value)
{
    char digits[UNITS_DIGITS];
    return arena_strdup(arena, units_digits(digits, value + 0.0)); /* -0 + 0 is +0 */
}

char *param_text(struct arena *arena, const struct param_value *value)
{
    if (value->kind == PARAM_NUMBER)
        return number_text(arena, value->number);
    if (value->kind == PARAM_DTYPE)
        return arena_strdup(arena, dtype_name(value->dtype));
    if (value->kind == PARAM_STRING)
        return arena_strdup(arena, value->string);
    struct text text = {0};
    text_add(&text, "[");
    for (size_t i = 0; i < value->count; i++)
        text_addf(&text, "%s%s", i ? "," : "", number_text(arena, value->list[i]));
    text_add(&text, "]");
    return text_take(&text, arena);
}

/* Parses "[1,2,3]" with numbers as in units_parse_number; spaces around them are allowed. */
static bool list_from_text(struct param_value *value, struct arena *arena, const char *text)
{
    const size_t length = strlen(text);
    if (length < 3 || text[0] != '[' || text[length - 1] != ']')
        return false;
    size_t count = 1;
    for (const char *comma = strchr(text, ','); comma; comma = strchr(comma + 1, ','))
        count++;
    double *list = arena_array(arena, count, sizeof(*list));
    const char *at = text + 1;
    for (size_t i = 0; i < count; i++) {
        at += strspn(at, " ");
        const size_t word = strcspn(at, " ,]");
        if (!units_parse_number(&list[i], arena_strndup(arena, at, word)))
            return false;
        at += word;
        at += strspn(at, " ");
        if (*at++ != (i + 1 < count ? ',' : ']'))
            return false;
    }
    *value = (struct param_value){.kind = PARAM_LIST, .list = list, .count = (uint32_t)count};
    return *at == '\0';
}

struct param_value param_from_text(struct arena *arena, const char *text)
{
    struct param_value value = {.kind = PARAM_NUMBER};
    if (units_parse_number(&value.number, text) || list_from_text(&value, arena, text))
        return value;
    const enum dtype dtype = dtype_from_name(text);
    if (dtype)
        return (struct param_value){.kind = PARAM_DTYPE, .dtype = dtype};
    return (struct param_value){.kind = PARAM_STRING, .string = arena_strdup(arena, text)};
}

struct numbers {
    const double *list;
    size_t count;
};

#define RECORD_STRUCT struct numbers
enum status param_from_json(struct param_value *value, const cJSON *json, struct arena *arena, struct err *err)
{
    struct param_value parsed = {0};
    if (cJSON_IsNumber(json)) {
        parsed.number = json->valuedouble;
    } else if (cJSON_IsString(json)) {
        if (!*json->valuestring)
            return json_fail(json, err, "a parameter cannot be empty text");
        parsed = param_from_text(arena, json->valuestring);
    } else if (cJSON_IsArray(json)) {
        static const struct record_field list = FIELD_LIST("list", list, count, record_number, RECORD_FILLED);
        struct numbers numbers = {0};
        if (record_parse_row(&numbers, &list, json, &(struct record_in){.arena = arena}, err))
            return err->status;
        parsed = (struct param_value){.kind = PARAM_LIST, .count = (uint32_t)numbers.count, .list = numbers.list};
    } else {
        return json_fail(json, err, "a parameter is a number, a string or a list of numbers, not %s",
                         json_type_name(json));
    }
    *value = parsed;
    return STATUS_OK;
}
#undef RECORD_STRUCT

bool param_is_hidden(const struct param *param, const struct param_value *value)
{
    return param->implied && value->number == 0;
}

static enum status fail_limits(const struct param *param, const char *given, struct arena *arena, struct err *err)
{
    SCOPED(text_release) struct text allowed = {0};
    for (size_t i = 0; i < param->limit_count; i++)
        text_addf(&allowed, "%s%s", i ? ", " : "", param_text(arena, &param->limits[i]));
    err_set(err, ERR_CONFIG, "%s=%s is not among its limits: %s", param->name, given, allowed.data);
    return ERR_CONFIG;
}

enum status param_accepts(const struct param *param, const struct param_value *value, struct err *err)
{
    if (value->kind == param->value.kind) {
        for (size_t i = 0; i < param->limit_count; i++)
            if (param_equal(value, &param->limits[i]))
                return STATUS_OK;
        if (param->limit_count == 0)
            return STATUS_OK;
    }
    SCOPED(arena_release) struct arena arena = {0};
    const char *given = param_text(&arena, value);
    if (value->kind == PARAM_STRING && param->value.kind == PARAM_NUMBER && given[0] >= '0' && given[0] <= '9')
        err_set(err, ERR_CONFIG,
                "parameter '%s' is a number, and '%s' is none: numbers may end in Ki Mi Gi Ti or k M G T, a range is "
                "1Mi..64Mi*2",
                param->name, given);
    else if (value->kind == PARAM_STRING && param->value.kind == PARAM_DTYPE && param->limit_count)
        fail_limits(param, given, &arena, err);
    else if (value->kind != param->value.kind)
        err_set(err, ERR_CONFIG, "parameter '%s' is %s, but '%s' is %s", param->name, kind_names[param->value.kind],
                given, kind_names[value->kind]);
    else
        fail_limits(param, given, &arena, err);
    return ERR_CONFIG;
}

static enum status limit_parse(struct param *param, const cJSON *array, struct arena *arena, struct err *err)
{
    if (!cJSON_IsArray(array))
        return json_fail_type(array, "an array of allowed values", err);
    if (json_count(array) == 0)
        return json_fail(array, err, "the list is empty: no value would be allowed");
    struct param_value *limits = arena_array(arena, json_count(array), sizeof(*limits));
    size_t count = 0;
    for (const cJSON *item = array->child; item; item = item->next, count++) {
        if (param_from_json(&limits[count], item, arena, err))
            return err->status;
        if (param->asks && count == 0 && limits[0].kind == PARAM_DTYPE)
            param->value = (struct param_value){.kind = PARAM_DTYPE};
        if (limits[count].kind != param->value.kind)
            return json_fail(item, err, "is %s, but parameter '%s' is %s", kind_names[limits[count].kind], param->name,
                             kind_names[param->value.kind]);
    }
    param->limits = limits;
    param->limit_count = count;
    struct err cause = {0};
    if (!param->asks && param_accepts(param, &param->value, &cause))
        return json_fail(array, err, "the default is excluded: %s", cause.text);
    return STATUS_OK;
}

static enum status limits_parse(struct param *params, const struct manifest_parser *parser, const cJSON *root,
                                struct err *err)
{
    const cJSON *object = json_member(root, "limits");
    enum status status = object ? json_check_type(object, cJSON_Object, err) : STATUS_OK;
    for (const cJSON *member = object && !status ? object->child : NULL; member && !status; member = member->next) {
        if (json_is_comment(member))
            continue;
        const int at = manifest_param(parser->manifest, member->string);
        if (at < 0)
            return json_fail_unknown_key(member, err, "unknown parameter", parser->param_names,
                                         parser->manifest->param_count);
        status = limit_parse(&params[at], member, parser->arena, err);
    }
    return status;
}

/* A manifest may describe parameters that one which extends it has not. */
static enum status docs_parse(struct param *params, const struct manifest *manifest, const cJSON *root, struct err *err)
{
    const cJSON *docs = json_member(root, "doc");
    enum status status = docs ? json_check_type(docs, cJSON_Object, err) : STATUS_OK;
    for (size_t k = 0; k < manifest->param_count && docs && !status; k++)
        status = json_get_string(&params[k].doc, docs, params[k].name, JSON_OPTIONAL, err);
    return status;
}

/* The parameters of every compiled kernel; the first value is the default. */
static const struct {
    const char *name;
    double values[3];
    size_t count;
} implied_params[] = {{"wave", {0, 32, 64}, 3}, {"cumode", {0, 1}, 2}};

static enum status param_parse(void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    struct param *param = field;
    *param = (struct param){.name = at->string, .at = at};
    if (check_param_name(at, at->string, err))
        return err->status;
    if (!cJSON_IsString(at) || !text_starts(at->valuestring, "{") || !text_ends(at->valuestring, "}"))
        return param_from_json(&param->value, at, in->arena, err);
    /* "{max(16, device.matrix_size)}": its kind depends on the limits, which are read later. */
    struct err cause;
    const char *source = arena_strndup(in->arena, at->valuestring + 1, strlen(at->valuestring) - 2);
    param->value = (struct param_value){.kind = PARAM_NUMBER};
    return default_compile(&param->asks, source, in->arena, &cause)
               ? json_fail(at, err, "in \"%s\": %s", source, cause.text)
               : STATUS_OK;
}

#define RECORD_STRUCT struct manifest
enum status params_parse(struct manifest_parser *parser, const cJSON *root, struct err *err)
{
    static const struct record elements = {.size = sizeof(struct param), .get = param_parse, .named = "parameter"};
    static const struct record_field own = FIELD_MAP("params", params, param_count, elements);
    struct manifest *manifest = parser->manifest;
    const cJSON *code = json_member(root, "code");
    const bool is_compiled = code && json_member(code, "source");
    if (record_parse_row(manifest, &own, json_member(root, "params"), &parser->in, err))
        return err->status;
    size_t count = manifest->param_count;
    struct param *params = arena_array(parser->arena, count + COUNT_OF(implied_params), sizeof(*params));
    if (count)
        memcpy(params, manifest->params, count * sizeof(*params));
    manifest->implied_count = is_compiled ? COUNT_OF(implied_params) : 0;
    for (size_t i = 0; i < manifest->implied_count; i++) {
        const size_t limit_count = implied_params[i].count;
        struct param_value *limits = arena_array(parser->arena, limit_count, sizeof(*limits));
        for (size_t k = 0; k < limit_count; k++)
            limits[k] = (struct param_value){.kind = PARAM_NUMBER, .number = implied_params[i].values[k]};
        params[count++] = (struct param){.name = implied_params[i].name,
                                         .value = limits[0],
                                         .limits = limits,
                                         .limit_count = limit_count,
                                         .implied = true};
    }
    const char **names = arena_array(parser->arena, count, sizeof(*names));
    for (size_t i = 0; i < count; i++)
        names[i] = params[i].name;
    parser->param_names = names;
    manifest->params = params;
    manifest->param_count = count;
    if (limits_parse(params, parser, root, err) || docs_parse(params, manifest, root, err))
        return err->status;
    manifest_expr_names(&parser->names, manifest, parser->arena);
    const char **variables =
        arena_copy(parser->arena, parser->names.variables, parser->names.variable_count * sizeof(*variables));
    parser->names.variables = variables;
    parser->index_names = variables + manifest_index_slot(manifest, 0);
    buffers_announce(parser, root);
    return STATUS_OK;
}
#undef RECORD_STRUCT

/* ---- values for parameters ---- */

static enum status foreign_parse(void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    struct param *param = field;
    *param = (struct param){.name = at->string, .at = at};
    return param_from_json(&param->value, at, in->arena, err);
}

static enum status check_own(struct param *param, const cJSON *at, const struct record_in *in, struct err *err)
{
    const struct manifest_parser *parser = in->context;
    const int own = manifest_param(parser->manifest, at->string);
    if (own < 0)
        return json_fail_unknown_key(at, err, "unknown parameter", parser->param_names, parser->manifest->param_count);
    const struct param *accepts = &parser->manifest->params[own];
    struct err cause = {0};
    if (param->asks && (accepts->value.kind == PARAM_NUMBER || accepts->value.kind == PARAM_DTYPE))
        param->value.kind = accepts->value.kind;
    else if (param_accepts(accepts, &param->value, &cause))
        return json_fail(at, err, "%s", cause.text);
    return STATUS_OK;
}

static enum status override_parse(void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    return foreign_parse(field, at, in, err) || check_own(field, at, in, err) ? err->status : STATUS_OK;
}

static enum status variant_value_parse(void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    return param_parse(field, at, in, err) || check_own(field, at, in, err) ? err->status : STATUS_OK;
}

const struct record foreign_element = {.size = sizeof(struct param), .get = foreign_parse};
const struct record override_element = {.size = sizeof(struct param), .get = override_parse};
const struct record variant_value_element = {.size = sizeof(struct param), .get = variant_value_parse};
