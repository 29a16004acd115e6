/* SPDX-License-Identifier: MIT
 *
 * What is run: steps, launches with their arguments, and the defines that code is compiled with.
 */
#include <string.h>

#include "manifest_internal.h"

/* ---- defines ---- */

static enum status define_parse(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                                struct err *err)
{
    struct define *define = field;
    *define = (struct define){.name = at->key, .at = at};
    return into_any_template(&define->value, at, key, into, err);
}

enum status into_defines(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                         struct err *err)
{
    static const struct json_elements elements = {sizeof(struct define), define_parse, "define"};
    const struct json_key members = {.count = key->count, .more = &elements};
    return json_into_members(field, at, &members, into, err);
}

static struct define *find_define(struct define *defines, size_t count, const char *name)
{
    for (size_t k = 0; k < count; k++)
        if (strcmp(defines[k].name, name) == 0)
            return &defines[k];
    return NULL;
}

/* A launch's own defines over code's. */
static enum status join_defines(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                                struct err *err)
{
    struct manifest_parser *parser = into->context;
    const struct manifest *manifest = parser->manifest;
    struct manifest_launch *launch = into->object;
    const enum status status = manifest->source ? into_defines(field, at, key, into, err)
                                                : json_fail_key(at, err, "%s is not compiled: this has no effect",
                                                                manifest->image ? "an image" : "a library");
    if (status)
        return status;
    const struct define *own = launch->defines;
    struct define *all = arena_array(into->arena, manifest->define_count + launch->define_count, sizeof(*all));
    size_t count = manifest->define_count;
    if (count)
        memcpy(all, manifest->defines, count * sizeof(*all));
    for (size_t k = 0; k < launch->define_count; k++) {
        struct define *overridden = find_define(all, manifest->define_count, own[k].name);
        *(overridden ? overridden : &all[count++]) = own[k];
    }
    launch->defines = launch->define_count ? all : manifest->defines;
    launch->define_count = count;
    return STATUS_OK;
}

/* ---- launches ---- */

#define FIELD(name) offsetof(struct manifest_arg, name)
static const struct json_key value_keys[] = {
    {"value", into_expr, FIELD(value), .need = JSON_REQUIRED},
    {"repeat", into_expr, .field = FIELD(repeat)},
    {"type", into_type, FIELD(type), .need = JSON_REQUIRED},
};
static const struct json_key place_keys[] = {
    {"buffer", into_buffer, FIELD(buffer), .need = JSON_REQUIRED},
    {"offset", into_expr, .field = FIELD(offset)},
};
#undef FIELD

static enum status arg_parse(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                             struct err *err)
{
    struct manifest_parser *parser = into->context;
    struct manifest_arg *arg = field;
    *arg = (struct manifest_arg){.buffer = -1, .at = at};
    if (at->type == JSON_STRING) {
        if (manifest_param(parser->manifest, at->string) >= 0 && find_buffer(parser->manifest, at->string) < 0)
            return json_fail(at, err, "'%s' is a parameter: write { \"value\": \"%s\", \"type\": ... }", at->string,
                             at->string);
        return into_buffer(&arg->buffer, at, key, into, err);
    }
    if (at->type != JSON_OBJECT)
        return json_fail(at, err, "must be a buffer's name, {\"buffer\": ...} or {\"value\": ...}, not %s",
                         json_type_name(at->type));
    return json_member(at, "buffer") ? json_read_table(arg, at, place_keys, JSON_KEYS(place_keys), into, err)
                                     : json_read_table(arg, at, value_keys, JSON_KEYS(value_keys), into, err);
}

static enum status into_args(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                             struct err *err)
{
    if (at->type == JSON_ARRAY && at->count > MANIFEST_MAX_ARGS)
        return json_fail(at, err, "%zu arguments, more than the %d a launch can have", at->count, MANIFEST_MAX_ARGS);
    return json_into_items(field, at, key, into, err);
}

/* const struct expr *[3] */
static enum status into_dimensions(void *field, const struct json *at, const struct json_key *key,
                                   struct json_into *into, struct err *err)
{
    const struct json *array = NULL;
    const struct expr **out = field;
    enum status status = json_into_array(&array, at, key, into, err);
    if (!status && (array->count < 1 || array->count > 3))
        status = json_fail(array, err, "has %zu dimensions, not 1 to 3", array->count);
    for (const struct json *item = at->first; item && !status; item = item->next)
        status = into_expr(out++, item, key, into, err);
    return status;
}

#define FIELD(name) offsetof(struct manifest_launch, name)
static const struct json_elements arg_elements = {sizeof(struct manifest_arg), arg_parse, NULL};
static const struct json_key launch_keys[] = {
    {"symbol", into_template, .field = FIELD(symbol)},
    {"defines", join_defines, FIELD(defines), .count = FIELD(define_count)},
    {"grid", into_dimensions, FIELD(grid), .need = JSON_REQUIRED},
    {"block", into_dimensions, FIELD(block), .need = JSON_REQUIRED},
    {"shared", into_expr, .field = FIELD(shared)},
    {"cooperative", json_into_bool, .field = FIELD(cooperative)},
    {"args", into_args, FIELD(args), .count = FIELD(arg_count), .more = &arg_elements},
};
#undef FIELD

static enum status into_launch(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                               struct err *err)
{
    struct manifest_parser *parser = into->context;
    const struct manifest *manifest = parser->manifest;
    struct manifest_launch *launch = field;
    (void)key;
    *launch = (struct manifest_launch){
        .symbol = parser->symbol, .defines = manifest->defines, .define_count = manifest->define_count};
    const enum status status = json_read_table(launch, at, launch_keys, JSON_KEYS(launch_keys), into, err);
    if (!status && !launch->symbol)
        return json_fail(at, err, "no symbol: neither here nor in /code");
    return status;
}

/* ---- steps ---- */

/* A key that says nothing but that it is there. */
static enum status into_nothing(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                                struct err *err)
{
    (void)field;
    (void)key;
    (void)into;
    return at->type == JSON_BOOL && at->boolean ? STATUS_OK : json_fail(at, err, "can only be true");
}

static enum status into_byte(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                             struct err *err)
{
    uint64_t byte = 0;
    const enum status status = json_into_u64(&byte, at, key, into, err);
    if (!status && byte > UINT8_MAX)
        return json_fail(at, err, "is not a byte (0 to 255)");
    *(uint8_t *)field = (uint8_t)byte;
    return status;
}

static enum status into_stream(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                               struct err *err)
{
    uint64_t stream = 0;
    const enum status status = json_into_u64(&stream, at, key, into, err);
    if (!status && stream >= MANIFEST_MAX_STREAMS)
        return json_fail(at, err, "streams go from 0 to %d", MANIFEST_MAX_STREAMS - 1);
    *(uint32_t *)field = (uint32_t)stream;
    return status;
}

static enum status check_event_name(const struct json *at, struct err *err)
{
    if (at->type != JSON_STRING)
        return json_fail(at, err, "must be the name of an event, not %s", json_type_name(at->type));
    return *at->string ? STATUS_OK : json_fail(at, err, "is empty");
}

static size_t find_event(const struct manifest_parser *parser, const char *name)
{
    size_t event = 0;
    while (event < parser->event_count && strcmp(parser->events[event], name) != 0)
        event++;
    return event;
}

static enum status into_record(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                               struct err *err)
{
    struct manifest_parser *parser = into->context;
    const enum status status = check_event_name(at, err);
    (void)key;
    if (status)
        return status;
    if (find_event(parser, at->string) < parser->event_count)
        return json_fail(at, err, "event '%s' is recorded twice", at->string);
    if (parser->event_count == MANIFEST_MAX_EVENTS)
        return json_fail(at, err, "more than %d events", MANIFEST_MAX_EVENTS);
    *(uint32_t *)field = (uint32_t)parser->event_count;
    parser->events[parser->event_count++] = at->string;
    return STATUS_OK;
}

static bool is_recorded_later(const struct json *array, const char *name)
{
    for (const struct json *step = array->first; step; step = step->next) {
        const struct json *event = json_member(step, "record");
        if (event && event->type == JSON_STRING && strcmp(event->string, name) == 0)
            return true;
    }
    return false;
}

static enum status into_wait(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                             struct err *err)
{
    const struct manifest_parser *parser = into->context;
    const enum status status = check_event_name(at, err);
    (void)key;
    if (status)
        return status;
    const size_t event = find_event(parser, at->string);
    *(uint32_t *)field = (uint32_t)event;
    if (event < parser->event_count)
        return STATUS_OK;
    if (is_recorded_later(parser->steps, at->string))
        return json_fail(at, err, "event '%s' is recorded only after this step", at->string);
    return json_fail_unknown(at, err, "no step records event", at->string, parser->events, parser->event_count);
}

#define FIELD(name) offsetof(struct manifest_step, name)
static const struct json_key copy_keys[] = {
    {"to", into_buffer, FIELD(to), .need = JSON_REQUIRED},
    {"from", into_buffer, FIELD(from), .need = JSON_REQUIRED},
    {"bytes", into_expr, .field = FIELD(bytes)},
};
static const struct json_key fill_keys[] = {
    {"buffer", into_buffer, FIELD(to), .need = JSON_REQUIRED},
    {"byte", into_byte, FIELD(byte), .need = JSON_REQUIRED},
    {"bytes", into_expr, .field = FIELD(bytes)},
};

static enum status into_copy(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                             struct err *err)
{
    const struct manifest_parser *parser = into->context;
    struct manifest_step *step = field;
    (void)key;
    const enum status status = json_read_table(step, at, copy_keys, JSON_KEYS(copy_keys), into, err);
    if (!status && step->to == step->from)
        return json_fail(at, err, "copies buffer '%s' onto itself", parser->buffer_names[step->to]);
    return status;
}

static enum status into_step_fill(void *field, const struct json *at, const struct json_key *key,
                                  struct json_into *into, struct err *err)
{
    (void)key;
    return json_read_table(field, at, fill_keys, JSON_KEYS(fill_keys), into, err);
}

static json_into_fn into_graph, into_loop;

/* Keys of a step: one of the forms, in the order of enum step_kind, and what most forms may carry besides. */
static const struct json_key step_keys[] = {
    [STEP_LAUNCH] = {"launch", into_launch, .field = FIELD(launch)},
    [STEP_COPY] = {"copy", into_copy, .field = 0},
    [STEP_FILL] = {"fill", into_step_fill, .field = 0},
    [STEP_SYNC] = {"sync", into_nothing, .field = 0},
    [STEP_RECORD] = {"record", into_record, .field = FIELD(event)},
    [STEP_WAIT] = {"wait", into_wait, .field = FIELD(event)},
    [STEP_LOAD] = {"load", into_nothing, .field = 0},
    [STEP_GRAPH] = {"graph", into_graph, .field = 0},
    [STEP_ALLOC] = {"alloc", into_buffer, .field = FIELD(to)},
    [STEP_LOOP] = {"loop", into_loop, .field = 0},
    {"stream", into_stream, .field = FIELD(stream)},
    {"repeat", into_expr, .field = FIELD(repeat)},
    {"timed", json_into_bool, .field = FIELD(timed)},
};
#define STEP_FORMS (STEP_LOOP + 1)
static const struct step_form {
    bool repeats; /* may carry "repeat" */
    bool works;   /* takes time worth measuring */
    bool loops;   /* may stand in a loop */
} step_forms[STEP_FORMS] = {
    [STEP_LAUNCH] = {true, true, true}, [STEP_COPY] = {true, true, true},    [STEP_FILL] = {true, true, true},
    [STEP_SYNC] = {false, false, true}, [STEP_RECORD] = {true, false, true}, [STEP_WAIT] = {true, false, true},
    [STEP_LOAD] = {true, true, false},  [STEP_GRAPH] = {false, true, false}, [STEP_ALLOC] = {true, true, false},
    [STEP_LOOP] = {false, true, false},
};

/* A step has the key of exactly one form. */
static enum status find_form(enum step_kind *out, const struct json *object, struct err *err)
{
    int found = -1;
    for (int k = 0; k < STEP_FORMS; k++) {
        if (!json_member(object, step_keys[k].key))
            continue;
        if (found >= 0)
            return json_fail(object, err, "is both a %s and a %s step", step_keys[found].key, step_keys[k].key);
        found = k;
    }
    if (found < 0)
        return json_fail(
            object, err,
            "is no step: one of launch, copy, fill, sync, record, wait, load, alloc, graph, loop is missing");
    *out = (enum step_kind)found;
    return STATUS_OK;
}

static enum status check_options(enum step_kind kind, const struct json *at, const struct manifest_parser *parser,
                                 struct err *err)
{
    const struct json *repeat = json_member(at, "repeat"), *timed = json_member(at, "timed");
    const bool nests = kind == STEP_GRAPH || kind == STEP_LOOP;
    const char *name = step_keys[kind].key;
    if (parser->in_setup && timed)
        return json_fail_key(timed, err, "setup steps are never timed");
    if (repeat && !step_forms[kind].repeats)
        return json_fail_key(repeat, err, "a %s step does not repeat%s%s%s", name,
                             nests ? " (its \"repeat\" stands inside \"" : "", nests ? name : "", nests ? "\")" : "");
    return STATUS_OK;
}

static enum status step_parse(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                              struct err *err)
{
    struct manifest_parser *parser = into->context;
    struct manifest_step *step = field;
    (void)key;
    *step = (struct manifest_step){.to = -1, .from = -1, .timed = !parser->in_setup, .at = at};
    enum status status = json_check_table(at, step_keys, JSON_KEYS(step_keys), err);
    if (!status)
        status = find_form(&step->kind, at, err);
    if (!status)
        status = check_options(step->kind, at, parser, err);
    return status ? status : json_read_table(step, at, step_keys, JSON_KEYS(step_keys), into, err);
}

/* Of a graph: launches without options. */
static enum status graph_step_parse(void *field, const struct json *at, const struct json_key *key,
                                    struct json_into *into, struct err *err)
{
    static const struct json_key keys[] = {
        {"launch", into_launch, FIELD(launch), .need = JSON_REQUIRED},
        {"repeat", into_expr, .field = FIELD(repeat)},
    };
    const struct manifest_parser *parser = into->context;
    struct manifest_step *step = field;
    (void)key;
    *step = (struct manifest_step){.timed = !parser->in_setup, .to = -1, .from = -1, .at = at};
    return json_read_table(step, at, keys, JSON_KEYS(keys), into, err);
}

/* Of a loop: any steps, but without a say of their own in what is timed. */
static enum status loop_step_parse(void *field, const struct json *at, const struct json_key *key,
                                   struct json_into *into, struct err *err)
{
    const struct manifest_step *step = field;
    const enum status status = step_parse(field, at, key, into, err);
    if (!status && !step_forms[step->kind].loops)
        return json_fail(at, err, "a step of this kind (%s) cannot stand in a loop", step_keys[step->kind].key);
    if (!status && json_member(at, "timed"))
        return json_fail_key(json_member(at, "timed"), err, "a loop is timed as a whole, or not");
    return status;
}

static const struct json_elements graph_steps = {sizeof(struct manifest_step), graph_step_parse, NULL};
static const struct json_elements loop_steps = {sizeof(struct manifest_step), loop_step_parse, NULL};
static const struct json_key graph_keys[] = {
    {"repeat", into_expr, .field = FIELD(repeat)},
    {"steps", json_into_items, FIELD(steps), JSON_REQUIRED, FIELD(step_count), &graph_steps},
};
static const struct json_key loop_keys[] = {
    {"repeat", into_expr, .field = FIELD(repeat)},
    {"steps", json_into_items, FIELD(steps), JSON_REQUIRED, FIELD(step_count), &loop_steps},
};
#undef FIELD

static enum status nest(struct manifest_step *step, const struct json *at, const struct json_key *keys,
                        const char *what, struct json_into *into, struct err *err)
{
    struct manifest_parser *parser = into->context;
    const struct json *around = parser->steps;
    parser->steps = json_member(at, "steps");
    const enum status status = json_read_table(step, at, keys, 2, into, err);
    parser->steps = around;
    return !status && !step->step_count ? json_fail(json_member(at, "steps"), err, "the %s is empty", what) : status;
}

static enum status into_graph(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                              struct err *err)
{
    (void)key;
    return nest(field, at, graph_keys, "graph", into, err);
}

static enum status into_loop(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                             struct err *err)
{
    (void)key;
    return nest(field, at, loop_keys, "loop", into, err);
}

/* ---- all of them ---- */

/* An array of steps. Setup steps are none that are timed. */
static enum status into_steps(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                              struct err *err)
{
    static const struct json_elements elements = {sizeof(struct manifest_step), step_parse, NULL};
    const struct json_key items = {.count = key->count, .more = &elements};
    struct manifest_parser *parser = into->context;
    size_t *count = (size_t *)((char *)into->object + key->count);
    parser->in_setup = strcmp(key->key, "setup") == 0;
    parser->steps = at;
    enum status status = json_into_items(field, at, &items, into, err);
    const struct manifest_step *steps = *(const struct manifest_step **)field;
    bool timed = parser->in_setup;
    for (size_t k = 0; !status && k < *count; k++)
        timed = timed || (steps[k].timed && step_forms[steps[k].kind].works);
    return !status && !timed ? json_fail(at, err, "no step is timed: there is nothing to measure") : status;
}

/* "launch" alone is one timed step. */
static enum status into_short_form(void *field, const struct json *at, const struct json_key *key,
                                   struct json_into *into, struct err *err)
{
    struct manifest_parser *parser = into->context;
    struct manifest_step *step = arena_alloc(into->arena, sizeof(*step));
    *step = (struct manifest_step){.kind = STEP_LAUNCH, .timed = true, .to = -1, .from = -1, .at = at};
    *(const struct manifest_step **)field = step;
    parser->manifest->step_count = 1;
    return into_launch(&step->launch, at, key, into, err);
}

enum status steps_parse(struct manifest_parser *parser, const struct json *root, struct err *err)
{
    static const struct json_key keys[] = {
        {"setup", into_steps, offsetof(struct manifest, setup), .count = offsetof(struct manifest, setup_count)},
        {"launch", into_short_form, .field = offsetof(struct manifest, steps)},
        {"steps", into_steps, offsetof(struct manifest, steps), .count = offsetof(struct manifest, step_count)},
    };
    const struct json *launch = json_member(root, "launch");
    if (!launch == !json_member(root, "steps"))
        return json_fail(root, err,
                         launch ? "has both 'launch' and 'steps'" : "the key 'launch' (or 'steps') is missing");
    enum status status = STATUS_OK;
    for (size_t k = 0; k < COUNT_OF(keys) && !status; k++)
        status = read_member(parser, root, &keys[k], err);
    return status;
}
