/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "manifest_internal.h"

/* One list of steps being read. */
struct step_list {
    struct manifest_parser *parser;
    const struct json *array;
    bool setup;
};

typedef enum status step_parse(struct manifest_step *step, const struct step_list *list, const struct json *value,
                               struct err *err);

static enum status launch_step(struct manifest_step *step, const struct step_list *list, const struct json *value,
                               struct err *err)
{
    return launch_parse(&step->launch, list->parser, value, err);
}

static enum status copy_step(struct manifest_step *step, const struct step_list *list, const struct json *value,
                             struct err *err)
{
    static const char *const keys[] = {"to", "from", "bytes"};
    enum status status = json_check_keys(value, keys, COUNT_OF(keys), err);
    if (!status)
        status = get_buffer(&step->to, list->parser, value, "to", err);
    if (!status)
        status = get_buffer(&step->from, list->parser, value, "from", err);
    if (!status && step->to == step->from)
        status = json_fail(value, err, "copies buffer '%s' onto itself", list->parser->buffer_names[step->to]);
    if (!status)
        status = get_expr(&step->bytes, list->parser, value, "bytes", JSON_OPTIONAL, SCOPE_PLAIN, err);
    return status;
}

static enum status fill_step(struct manifest_step *step, const struct step_list *list, const struct json *value,
                             struct err *err)
{
    static const char *const keys[] = {"buffer", "byte", "bytes"};
    uint64_t byte = 0;
    enum status status = json_check_keys(value, keys, COUNT_OF(keys), err);
    if (!status)
        status = get_buffer(&step->to, list->parser, value, "buffer", err);
    if (!status)
        status = json_get_u64(&byte, value, "byte", JSON_REQUIRED, err);
    if (!status && byte > UINT8_MAX)
        status = json_fail(json_member(value, "byte"), err, "is not a byte (0 to 255)");
    if (!status)
        status = get_expr(&step->bytes, list->parser, value, "bytes", JSON_OPTIONAL, SCOPE_PLAIN, err);
    step->byte = (uint8_t)byte;
    return status;
}

/* sync and load say nothing but that they are there. */
static enum status plain_step(struct manifest_step *step, const struct step_list *list, const struct json *value,
                              struct err *err)
{
    (void)step;
    (void)list;
    if (value->type != JSON_BOOL || !value->boolean)
        return json_fail(value, err, "can only be true");
    return STATUS_OK;
}

static enum status check_mark_name(const struct json *value, struct err *err)
{
    if (value->type != JSON_STRING)
        return json_fail(value, err, "must be the name of a mark, not %s", json_type_name(value->type));
    return *value->string ? STATUS_OK : json_fail(value, err, "is empty");
}

static size_t find_mark(const struct manifest_parser *parser, const char *name)
{
    size_t mark = 0;
    while (mark < parser->mark_count && strcmp(parser->marks[mark], name) != 0)
        mark++;
    return mark;
}

static enum status record_step(struct manifest_step *step, const struct step_list *list, const struct json *value,
                               struct err *err)
{
    struct manifest_parser *parser = list->parser;
    const enum status status = check_mark_name(value, err);
    if (status)
        return status;
    if (find_mark(parser, value->string) < parser->mark_count)
        return json_fail(value, err, "mark '%s' is recorded twice", value->string);
    if (parser->mark_count == MANIFEST_MAX_MARKS)
        return json_fail(value, err, "more than %d marks", MANIFEST_MAX_MARKS);
    step->mark = (uint32_t)parser->mark_count;
    parser->marks[parser->mark_count++] = value->string;
    return STATUS_OK;
}

static bool is_recorded_later(const struct json *array, const char *name)
{
    for (const struct json *step = array->first; step; step = step->next) {
        const struct json *mark = json_member(step, "record");
        if (mark && mark->type == JSON_STRING && strcmp(mark->string, name) == 0)
            return true;
    }
    return false;
}

static enum status wait_step(struct manifest_step *step, const struct step_list *list, const struct json *value,
                             struct err *err)
{
    const struct manifest_parser *parser = list->parser;
    const enum status status = check_mark_name(value, err);
    if (status)
        return status;
    const size_t mark = find_mark(parser, value->string);
    step->mark = (uint32_t)mark;
    if (mark < parser->mark_count)
        return STATUS_OK;
    if (is_recorded_later(list->array, value->string))
        return json_fail(value, err, "mark '%s' is recorded only after this step", value->string);
    return fail_unknown(value, err, "no step records mark", value->string, parser->marks, parser->mark_count);
}

static enum status alloc_step(struct manifest_step *step, const struct step_list *list, const struct json *value,
                              struct err *err)
{
    return get_buffer_value(&step->to, list->parser, value, err);
}

static enum status graph_step(struct manifest_step *step, const struct step_list *list, const struct json *value,
                              struct err *err);
static enum status loop_step(struct manifest_step *step, const struct step_list *list, const struct json *value,
                             struct err *err);

static const struct step_form {
    const char *key;
    step_parse *parse;
    bool repeats; /* may carry "repeat" */
    bool works;   /* takes time worth measuring */
    bool loops;   /* may stand in a loop */
} step_forms[] = {
    [STEP_LAUNCH] = {"launch", launch_step, true, true, true},
    [STEP_COPY] = {"copy", copy_step, true, true, true},
    [STEP_FILL] = {"fill", fill_step, true, true, true},
    [STEP_SYNC] = {"sync", plain_step, false, false, true},
    [STEP_RECORD] = {"record", record_step, true, false, true},
    [STEP_WAIT] = {"wait", wait_step, true, false, true},
    [STEP_LOAD] = {"load", plain_step, true, true, false},
    [STEP_GRAPH] = {"graph", graph_step, false, true, false},
    [STEP_ALLOC] = {"alloc", alloc_step, true, true, false},
    [STEP_LOOP] = {"loop", loop_step, false, true, false},
};

static enum status graph_launch(struct manifest_step *step, const struct step_list *list, const struct json *object,
                                struct err *err)
{
    static const char *const keys[] = {"launch", "repeat"};
    *step = (struct manifest_step){.kind = STEP_LAUNCH, .timed = !list->setup, .to = -1, .from = -1, .at = object};
    enum status status = json_check_keys(object, keys, COUNT_OF(keys), err);
    const struct json *launch = NULL;
    if (!status)
        status = json_get_object(&launch, object, "launch", JSON_REQUIRED, err);
    if (!status)
        status = launch_parse(&step->launch, list->parser, launch, err);
    if (!status)
        status = get_expr(&step->repeat, list->parser, object, "repeat", JSON_OPTIONAL, SCOPE_PLAIN, err);
    return status;
}

static enum status graph_step(struct manifest_step *step, const struct step_list *list, const struct json *value,
                              struct err *err)
{
    static const char *const keys[] = {"repeat", "steps"};
    const struct json *array = NULL;
    enum status status = json_check_keys(value, keys, COUNT_OF(keys), err);
    if (!status)
        status = get_expr(&step->repeat, list->parser, value, "repeat", JSON_OPTIONAL, SCOPE_PLAIN, err);
    if (!status)
        status = json_get_array(&array, value, "steps", JSON_REQUIRED, err);
    if (!status && array->count == 0)
        status = json_fail(array, err, "the graph is empty");
    if (status)
        return status;
    struct manifest_step *steps = arena_array(list->parser->arena, array->count, sizeof(*steps));
    size_t count = 0;
    for (const struct json *item = array->first; item && !status; item = item->next)
        status = graph_launch(&steps[count++], list, item, err);
    step->steps = steps;
    step->step_count = count;
    return status;
}

/* A step has the key of exactly one form. */
static enum status find_form(const struct step_form **out, const struct json *object, struct err *err)
{
    const struct step_form *found = NULL;
    for (size_t i = 0; i < COUNT_OF(step_forms); i++) {
        if (!json_member(object, step_forms[i].key))
            continue;
        if (found)
            return json_fail(object, err, "is both a %s and a %s step", found->key, step_forms[i].key);
        found = &step_forms[i];
    }
    if (!found)
        return json_fail(
            object, err,
            "is no step: one of launch, copy, fill, sync, record, wait, load, alloc, graph, loop is missing");
    *out = found;
    return STATUS_OK;
}

static enum status step_options(struct manifest_step *step, const struct step_list *list, const struct step_form *form,
                                const struct json *object, struct err *err)
{
    uint64_t stream = 0;
    enum status status = json_get_u64(&stream, object, "stream", JSON_OPTIONAL, err);
    if (!status && stream >= MANIFEST_MAX_STREAMS)
        status = json_fail(json_member(object, "stream"), err, "streams go from 0 to %d", MANIFEST_MAX_STREAMS - 1);
    const struct json *repeat = json_member(object, "repeat");
    if (!status && repeat && !form->repeats)
        status = json_fail_key(repeat, err, "a %s step does not repeat%s", form->key,
                               step->kind == STEP_GRAPH  ? " (its \"repeat\" stands inside \"graph\")"
                               : step->kind == STEP_LOOP ? " (its \"repeat\" stands inside \"loop\")"
                                                         : "");
    if (!status && repeat)
        status = get_expr_value(&step->repeat, list->parser, repeat, SCOPE_PLAIN, err);
    step->stream = (uint32_t)stream;
    step->timed = !list->setup;
    return status ? status : json_get_bool(&step->timed, object, "timed", JSON_OPTIONAL, err);
}

static enum status one_step(struct manifest_step *step, const struct step_list *list, const struct json *object,
                            struct err *err)
{
    static const char *const keys[] = {"launch", "copy",  "fill", "sync",   "record", "wait", "load",
                                       "alloc",  "graph", "loop", "stream", "repeat", "timed"};
    const struct step_form *form = NULL;
    enum status status = json_check_keys(object, keys, COUNT_OF(keys), err);
    if (!status)
        status = find_form(&form, object, err);
    if (status)
        return status;
    if (list->setup && json_member(object, "timed"))
        return json_fail_key(json_member(object, "timed"), err, "setup steps are never timed");
    *step = (struct manifest_step){.kind = (enum step_kind)(form - step_forms), .to = -1, .from = -1, .at = object};
    status = step_options(step, list, form, object, err);
    return status ? status : form->parse(step, list, json_member(object, form->key), err);
}

/* Steps like any other's, but without a say of their own in what is timed. */
static enum status looped_step(struct manifest_step *step, const struct step_list *list, const struct json *object,
                               struct err *err)
{
    const enum status status = one_step(step, list, object, err);
    if (status)
        return status;
    if (!step_forms[step->kind].loops)
        return json_fail(object, err, "a step of this kind (%s) cannot stand in a loop", step_forms[step->kind].key);
    if (json_member(object, "timed"))
        return json_fail_key(json_member(object, "timed"), err, "a loop is timed as a whole, or not");
    return STATUS_OK;
}

static enum status loop_step(struct manifest_step *step, const struct step_list *list, const struct json *value,
                             struct err *err)
{
    static const char *const keys[] = {"repeat", "steps"};
    struct step_list inside = *list;
    enum status status = json_check_keys(value, keys, COUNT_OF(keys), err);
    if (!status)
        status = get_expr(&step->repeat, list->parser, value, "repeat", JSON_OPTIONAL, SCOPE_PLAIN, err);
    if (!status)
        status = json_get_array(&inside.array, value, "steps", JSON_REQUIRED, err);
    if (!status && inside.array->count == 0)
        status = json_fail(inside.array, err, "the loop is empty");
    if (status)
        return status;
    struct manifest_step *steps = arena_array(list->parser->arena, inside.array->count, sizeof(*steps));
    size_t count = 0;
    for (const struct json *item = inside.array->first; item && !status; item = item->next)
        status = looped_step(&steps[count++], &inside, item, err);
    step->steps = steps;
    step->step_count = count;
    return status;
}

static enum status list_parse(const struct manifest_step **out, size_t *count, const struct step_list *list,
                              struct err *err)
{
    struct manifest_step *steps = arena_array(list->parser->arena, list->array->count, sizeof(*steps));
    size_t filled = 0;
    bool timed = list->setup;
    for (const struct json *item = list->array->first; item; item = item->next) {
        struct manifest_step *step = &steps[filled++];
        const enum status status = one_step(step, list, item, err);
        if (status)
            return status;
        timed = timed || (step->timed && step_forms[step->kind].works);
    }
    if (!timed)
        return json_fail(list->array, err, "no step is timed: there is nothing to measure");
    *out = steps;
    *count = filled;
    return STATUS_OK;
}

/* "launch" alone is one timed step. */
static enum status short_form(struct manifest_parser *parser, const struct json *launch, struct err *err)
{
    struct manifest_step *step = arena_alloc(parser->arena, sizeof(*step));
    *step = (struct manifest_step){.kind = STEP_LAUNCH, .timed = true, .to = -1, .from = -1, .at = launch};
    parser->manifest->steps = step;
    parser->manifest->step_count = 1;
    return launch_parse(&step->launch, parser, launch, err);
}

enum status steps_parse(struct manifest_parser *parser, const struct json *root, struct err *err)
{
    struct manifest *manifest = parser->manifest;
    struct step_list setup = {.parser = parser, .setup = true};
    struct step_list steps = {.parser = parser};
    const struct json *launch = NULL;
    enum status status = json_get_array(&setup.array, root, "setup", JSON_OPTIONAL, err);
    if (!status)
        status = json_get_array(&steps.array, root, "steps", JSON_OPTIONAL, err);
    if (!status)
        status = json_get_object(&launch, root, "launch", JSON_OPTIONAL, err);
    if (!status && !launch == !steps.array)
        status =
            json_fail(root, err, launch ? "has both 'launch' and 'steps'" : "the key 'launch' (or 'steps') is missing");
    if (!status && setup.array)
        status = list_parse(&manifest->setup, &manifest->setup_count, &setup, err);
    if (status)
        return status;
    return launch ? short_form(parser, launch, err) : list_parse(&manifest->steps, &manifest->step_count, &steps, err);
}
