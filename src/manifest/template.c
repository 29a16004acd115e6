/* SPDX-License-Identifier: MIT */

#include "manifest_internal.h"

enum part_kind { PART_TEXT, PART_PARAM, PART_CTYPE, PART_EXPR };

struct template_part {
    enum part_kind kind;
    const char *text;        /* PART_TEXT */
    enum dtype dtype;        /* PART_TEXT: the type that it names */
    size_t param;            /* PART_PARAM, PART_CTYPE */
    const struct expr *expr; /* PART_EXPR */
};

struct text_template {
    const char *source;
    const cJSON *at;
    const struct template_part *parts;
    size_t count;
    const bool *uses; /* per parameter */
    size_t param_count;
};

const char *template_source(const struct text_template *template)
{
    return template->source;
}

const cJSON *template_at(const struct text_template *template)
{
    return template->at;
}

bool template_uses(const struct text_template *template, size_t param)
{
    return param < template->param_count && template->uses[param];
}

const struct text_template *template_empty(struct arena *arena)
{
    struct text_template *template = arena_alloc(arena, sizeof(*template));
    template->source = "";
    return template;
}

/* Returns the name inside "ctype(name)", or NULL for any other text. */
static const char *ctype_argument(const char *text, struct arena *arena)
{
    static const char start[] = "ctype(";
    if (!text_starts(text, start) || !text_ends(text, ")"))
        return NULL;
    const char *name = text + strlen(start);
    return arena_strndup(arena, name, strlen(name) - 1);
}

static enum status ctype_parse(struct template_part *part, const struct manifest_parser *parser, const char *name,
                               const cJSON *at, struct err *err)
{
    const struct manifest *manifest = parser->manifest;
    const enum dtype dtype = dtype_from_name(name);
    if (dtype) {
        *part = (struct template_part){.kind = PART_TEXT, .text = dtype_ctype(dtype)};
        return STATUS_OK;
    }
    const int param = manifest_param(manifest, name);
    if (param < 0)
        return json_fail_unknown(at, err, "ctype() takes a dtype or a parameter, not", name, parser->param_names,
                                 manifest->param_count - manifest->implied_count);
    if (manifest->params[param].value.kind != PARAM_DTYPE)
        return json_fail(at, err, "ctype(%s): the parameter is no dtype", name);
    *part = (struct template_part){.kind = PART_CTYPE, .param = (size_t)param};
    return STATUS_OK;
}

static enum status placeholder_parse(struct template_part *part, const struct manifest_parser *parser, const char *text,
                                     const cJSON *at, struct err *err)
{
    const int param = manifest_param(parser->manifest, text);
    if (param >= 0) {
        *part = (struct template_part){.kind = PART_PARAM, .param = (size_t)param};
        return STATUS_OK;
    }
    const char *name = ctype_argument(text, parser->arena);
    if (name)
        return ctype_parse(part, parser, name, at, err);
    struct err cause = {0};
    *part = (struct template_part){.kind = PART_EXPR};
    if (names_compile(&part->expr, parser, text, at, SCOPE_PLAIN, &cause))
        return json_fail(at, err, "in \"{%s}\": %s", text, cause.text);
    return STATUS_OK;
}

/* Reads one part at *source and moves past it. */
static enum status part_parse(struct template_part *part, const struct manifest_parser *parser, const char **source,
                              const cJSON *at, struct err *err)
{
    const char *start = *source;
    const size_t plain = strcspn(start, "{}");
    if (plain) {
        const char *text = arena_strndup(parser->arena, start, plain);
        *part = (struct template_part){.kind = PART_TEXT, .text = text, .dtype = dtype_from_name(text)};
        *source = start + plain;
        return STATUS_OK;
    }
    if (start[0] == start[1]) {
        *part = (struct template_part){.kind = PART_TEXT, .text = start[0] == '{' ? "{" : "}"};
        *source = start + 2;
        return STATUS_OK;
    }
    if (*start == '}')
        return json_fail(at, err, "'}' without '{' (a brace of its own is written \"}}\")");
    const size_t length = strcspn(start + 1, "{}");
    if (start[1 + length] != '}')
        return json_fail(at, err, "'{' is not closed (a brace of its own is written \"{{\")");
    *source = start + length + 2;
    return placeholder_parse(part, parser, arena_strndup(parser->arena, start + 1, length), at, err);
}

static bool part_uses(const struct template_part *part, const struct manifest *manifest, size_t param)
{
    if (part->kind == PART_TEXT)
        return false;
    if (part->kind != PART_EXPR)
        return part->param == param;
    const bool is_list = manifest->params[param].value.kind == PARAM_LIST;
    return expr_uses_slot(part->expr, is_list ? list_slot(manifest, param) : param);
}

static const bool *find_uses(const struct text_template *template, const struct manifest_parser *parser)
{
    bool *uses = arena_array(parser->arena, parser->manifest->param_count, sizeof(*uses));
    for (size_t i = 0; i < parser->manifest->param_count; i++)
        for (size_t k = 0; k < template->count; k++)
            uses[i] = uses[i] || part_uses(&template->parts[k], parser->manifest, i);
    return uses;
}

enum status into_any_template(void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    const struct manifest_parser *parser = in->context;
    if (!cJSON_IsString(at))
        return json_fail_type(at, "a string", err);
    /* Every part but the first starts at a brace or ends before one. */
    size_t most = 1;
    for (const char *p = at->valuestring; *p; p++)
        most += *p == '{' || *p == '}' ? 2 : 0;
    struct template_part *parts = arena_array(in->arena, most, sizeof(*parts));
    size_t count = 0;
    for (const char *source = at->valuestring; *source;) {
        if (part_parse(&parts[count++], parser, &source, at, err))
            return err->status;
    }
    struct text_template *template = arena_alloc(in->arena, sizeof(*template));
    *template = (struct text_template){.source = at->valuestring, .at = at, .parts = parts, .count = count};
    template->uses = find_uses(template, parser);
    template->param_count = parser->manifest->param_count;
    *(const struct text_template **)field = template;
    return STATUS_OK;
}

enum status into_template(void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    if (cJSON_IsString(at) && !*at->valuestring)
        return json_fail(at, err, "is empty");
    return into_any_template(field, at, in, err);
}

enum status into_type(void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    const struct manifest_parser *parser = in->context;
    const struct text_template *template = NULL;
    if (into_template(&template, at, in, err))
        return err->status;
    const struct template_part *part = template->parts;
    if (template->count == 1 && part->kind == PART_TEXT && !part->dtype) {
        const char *names[DTYPE_COUNT - 1];
        for (enum dtype dtype = DTYPE_NONE + 1; dtype < DTYPE_COUNT; dtype++)
            names[dtype - 1] = dtype_name(dtype);
        return json_fail_unknown(at, err, "unknown dtype", part->text, names, COUNT_OF(names));
    }
    if (template->count == 1 && part->kind == PART_PARAM) {
        const struct param *param = &parser->manifest->params[part->param];
        if (param->value.kind != PARAM_DTYPE)
            return json_fail(at, err, "parameter '%s' is no dtype", param->name);
    }
    *(const struct text_template **)field = template;
    return STATUS_OK;
}

enum dtype template_dtype(const struct text_template *template, const struct param_value *values)
{
    const struct template_part *part = template->parts;
    if (template->count != 1)
        return DTYPE_NONE;
    const bool is_param = part->kind == PART_PARAM && values[part->param].kind == PARAM_DTYPE;
    return is_param ? values[part->param].dtype : part->dtype;
}

static enum status render_part(struct text *out, const struct template_part *part, const struct param_value *values,
                               const double *slots, struct arena *arena, struct err *err)
{
    const char *value;
    double number;
    switch (part->kind) {
    case PART_TEXT:
        text_add(out, part->text);
        break;
    case PART_PARAM:
        value = param_text(arena, &values[part->param]);
        if (values[part->param].kind == PARAM_LIST) /* without brackets, so that it can initialise an array */
            text_addn(out, value + 1, strlen(value) - 2);
        else
            text_add(out, value);
        break;
    case PART_CTYPE:
        text_add(out, dtype_ctype(values[part->param].dtype));
        break;
    case PART_EXPR:
        if (expr_eval(&number, part->expr, slots, err))
            return ERR_CONFIG;
        text_add(out, number_text(arena, number));
        break;
    }
    return STATUS_OK;
}

enum status template_render(char **out, const struct text_template *template, const struct manifest *manifest,
                            const struct param_value *values, const double *slots, struct arena *arena, struct err *err)
{
    SCOPED(text_release) struct text text = {0};
    struct err cause;
    enum status status = STATUS_OK;
    const struct template_part *part = template->parts;
    if (template->count == 1 && part->kind == PART_TEXT) { /* true of most symbols and types */
        *out = arena_strdup(arena, part->text);
        return STATUS_OK;
    }
    if (template->count == 1 && part->kind == PART_PARAM && values[part->param].kind != PARAM_LIST) {
        *out = param_text(arena, &values[part->param]);
        return STATUS_OK;
    }
    for (size_t i = 0; i < template->count && !status; i++)
        status = render_part(&text, &template->parts[i], values, slots, arena, &cause);
    if (!status)
        *out = text_take(&text, arena);
    else
        json_fail(template->at, err, "%s: in \"%s\": %s", manifest->name, template->source, cause.text);
    return status;
}

static bool uses(const struct text_template *template, size_t param)
{
    return template && template_uses(template, param);
}

static bool defines_use(const struct define *defines, size_t count, size_t param)
{
    return COUNT_WHERE(one, defines, count, uses(one->value, param)) > 0;
}

static bool steps_use(const struct manifest_step *steps, size_t count, size_t param)
{
    for (size_t i = 0; i < count; i++) {
        const struct manifest_launch *launch = &steps[i].launch;
        if (uses(launch->symbol, param) || uses(launch->library, param) ||
            defines_use(launch->defines, launch->define_count, param) ||
            steps_use(steps[i].steps, steps[i].step_count, param))
            return true;
    }
    return false;
}

bool manifest_param_is_compiled(const struct manifest *manifest, size_t param)
{
    return manifest->params[param].implied || defines_use(manifest->defines, manifest->define_count, param) ||
           uses(manifest->image, param) || uses(manifest->library, param) ||
           steps_use(manifest->steps, manifest->step_count, param) ||
           steps_use(manifest->setup, manifest->setup_count, param);
}
