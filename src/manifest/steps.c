/* SPDX-License-Identifier: MIT
 *
 * What a case runs: steps, launches with their arguments, and the defines passed to the compiler.
 */

#include "manifest_internal.h"

/* ---- defines ---- */

static enum status define_parse(void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    struct define *define = field;
    *define = (struct define){.name = at->string, .at = at};
    return into_any_template(&define->value, at, in, err);
}

const struct record define_element = {.size = sizeof(struct define), .get = define_parse, .named = "define"};

#define RECORD_STRUCT struct manifest_launch

/* A launch's own defines override those of "code". */
static enum status join_defines(void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    struct manifest_parser *parser = in->context;
    const struct manifest *manifest = parser->manifest;
    static const struct record_field row_of_own = FIELD_MAP("defines", defines, define_count, define_element);
    struct manifest_launch *launch = field;
    const char *indexes[MANIFEST_MAX_INDEXES];
    index_hide(parser, indexes); /* the code is compiled once for all rounds */
    const enum status status = manifest->source && !launch->library
                                   ? record_parse_row(launch, &row_of_own, at, in, err)
                                   : json_fail_key(at, err, "%s is not compiled: this has no effect",
                                                   launch->library ? "a library" : "an image");
    index_show(parser, indexes);
    if (status)
        return status;
    const struct define *own = launch->defines;
    struct define *all = arena_array(in->arena, manifest->define_count + launch->define_count, sizeof(*all));
    size_t count = manifest->define_count;
    if (count)
        memcpy(all, manifest->defines, count * sizeof(*all));
    for (size_t k = 0; k < launch->define_count; k++) {
        struct define *overridden = FIND_ROW(all, manifest->define_count, name, own[k].name);
        *(overridden ? overridden : &all[count++]) = own[k];
    }
    launch->defines = launch->define_count ? all : manifest->defines;
    launch->define_count = count;
    return STATUS_OK;
}

#undef RECORD_STRUCT

/* ---- launches ---- */

#define RECORD_STRUCT struct manifest_arg
static const struct record_field value_rows[] = {
    FIELD_READ("value", value, into_expr, RECORD_REQUIRED),
    FIELD_READ("repeat", repeat, into_expr),
    FIELD_READ("type", type, into_type, RECORD_REQUIRED),
};
static const struct record value_record = {RECORD_TABLE(value_rows)};
static const struct record_field place_rows[] = {
    FIELD_READ("buffer", buffer, into_buffer, RECORD_REQUIRED),
    FIELD_READ("offset", offset, into_expr),
    FIELD_READ("device", device, into_expr),
};
static const struct record place_record = {RECORD_TABLE(place_rows)};
static const struct record arg_element;
static const struct record_field struct_rows[] = {
    FIELD_LIST("struct", members, member_count, arg_element, RECORD_REQUIRED | RECORD_FILLED),
};
static const struct record struct_record = {RECORD_TABLE(struct_rows)};
#undef RECORD_STRUCT

static enum status arg_parse(void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    struct manifest_parser *parser = in->context;
    struct manifest_arg *arg = field;
    *arg = (struct manifest_arg){.buffer = -1, .at = at};
    if (cJSON_IsString(at)) {
        if (manifest_param(parser->manifest, at->valuestring) >= 0 &&
            find_buffer(parser->manifest, at->valuestring) < 0)
            return json_fail(at, err, "'%s' is a parameter: write { \"value\": \"%s\", \"type\": ... }",
                             at->valuestring, at->valuestring);
        return into_buffer(&arg->buffer, at, in, err);
    }
    arg->null = cJSON_IsNull(at);
    if (arg->null)
        return STATUS_OK;
    if (!cJSON_IsObject(at))
        return json_fail(at, err,
                         "must be a buffer's name, {\"buffer\": ...}, {\"value\": ...}, {\"struct\": [...]} or null (a "
                         "null pointer), not %s",
                         json_type_name(at));
    return record_parse(arg,
                        json_member(at, "buffer")   ? &place_record
                        : json_member(at, "struct") ? &struct_record
                                                    : &value_record,
                        at, in, err);
}

static const struct record arg_element = {.size = sizeof(struct manifest_arg), .get = arg_parse};

/* const struct expr *[3] */
static enum status into_dimensions(void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    const struct expr **out = field;
    enum status status = json_check_type(at, cJSON_Array, err);
    if (!status && (json_count(at) < 1 || json_count(at) > 3))
        status = json_fail(at, err, "has %zu dimensions, not 1 to 3", json_count(at));
    for (const cJSON *item = at->child; item && !status; item = item->next)
        status = read_expr(out++, item, SCOPE_PLAIN, in, err);
    return status;
}

#define RECORD_STRUCT struct manifest_launch
static const struct record_field launch_rows[] = {
    FIELD_READ("symbol", symbol, into_template),
    FIELD_READ("library", library, into_template),
    FIELD_WHOLE("defines", join_defines),
    FIELD_READ("grid", grid, into_dimensions, RECORD_REQUIRED),
    FIELD_READ("block", block, into_dimensions, RECORD_REQUIRED),
    FIELD_READ("shared", shared, into_expr),
    FIELD_BOOL("cooperative", cooperative),
    FIELD_LIST("args", args, arg_count, arg_element),
};
static const struct record launch_record = {RECORD_TABLE(launch_rows)};
#undef RECORD_STRUCT

static enum status into_launch(void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    struct manifest_parser *parser = in->context;
    const struct manifest *manifest = parser->manifest;
    struct manifest_launch *launch = field;
    *launch = (struct manifest_launch){.symbol = parser->symbol,
                                       .library = manifest->library,
                                       .defines = manifest->defines,
                                       .define_count = manifest->define_count};
    const enum status status = record_parse(launch, &launch_record, at, in, err);
    if (!status && launch->arg_count > MANIFEST_MAX_ARGS)
        return json_fail(json_member(at, "args"), err, "%zu arguments, more than the %d a launch can have",
                         launch->arg_count, MANIFEST_MAX_ARGS);
    if (!status && !launch->symbol)
        return json_fail(at, err, "no symbol: neither here nor in /code");
    if (launch->library) {
        launch->defines = NULL;
        launch->define_count = 0;
    }
    return status;
}

/* ---- steps ---- */

/* For keys that carry no value. */
static enum status into_nothing(UNUSED void *field, const cJSON *at, UNUSED struct record_in *in, struct err *err)
{
    return cJSON_IsTrue(at) ? STATUS_OK : json_fail(at, err, "can only be true");
}

static enum status into_byte(void *field, const cJSON *at, UNUSED struct record_in *in, struct err *err)
{
    uint64_t byte = 0;
    const enum status status = json_whole(&byte, at, 1ull << 53, err);
    if (!status && byte > UINT8_MAX)
        return json_fail(at, err, "is not a byte (0 to 255)");
    *(uint8_t *)field = (uint8_t)byte;
    return status;
}

static enum status check_event_name(const cJSON *at, struct err *err)
{
    if (!cJSON_IsString(at))
        return json_fail_type(at, "the name of an event", err);
    return *at->valuestring ? STATUS_OK : json_fail(at, err, "is empty");
}

static size_t find_event(const struct manifest_parser *parser, const char *name)
{
    size_t event = 0;
    while (event < parser->event_count && strcmp(parser->events[event], name) != 0)
        event++;
    return event;
}

static enum status into_record(void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    struct manifest_parser *parser = in->context;
    if (check_event_name(at, err))
        return err->status;
    if (find_event(parser, at->valuestring) < parser->event_count)
        return json_fail(at, err, "event '%s' is recorded twice", at->valuestring);
    if (parser->event_count == MANIFEST_MAX_EVENTS)
        return json_fail(at, err, "more than %d events", MANIFEST_MAX_EVENTS);
    *(uint32_t *)field = (uint32_t)parser->event_count;
    parser->events[parser->event_count++] = at->valuestring;
    return STATUS_OK;
}

static enum status into_wait(void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    const struct manifest_parser *parser = in->context;
    if (check_event_name(at, err))
        return err->status;
    const size_t event = find_event(parser, at->valuestring);
    *(uint32_t *)field = (uint32_t)event;
    if (event < parser->event_count)
        return STATUS_OK;
    for (const cJSON *step = parser->steps->child; step; step = step->next) {
        const cJSON *later = json_member(step, "record");
        if (cJSON_IsString(later) && strcmp(later->valuestring, at->valuestring) == 0)
            return json_fail(at, err, "event '%s' is recorded only after this step", at->valuestring);
    }
    return json_fail_unknown(at, err, "no step records event", at->valuestring, parser->events, parser->event_count);
}

#define RECORD_STRUCT struct manifest_step
static const struct record_field copy_rows[] = {
    FIELD_READ("to", to, into_buffer, RECORD_REQUIRED),
    FIELD_READ("from", from, into_buffer, RECORD_REQUIRED),
    FIELD_READ("to_device", to_device, into_expr),
    FIELD_READ("from_device", from_device, into_expr),
    FIELD_READ("to_offset", to_offset, into_expr),
    FIELD_READ("from_offset", from_offset, into_expr),
    FIELD_READ("bytes", bytes, into_expr),
};
static const struct record copy_record = {RECORD_TABLE(copy_rows)};
static const struct record_field fill_rows[] = {
    FIELD_READ("buffer", to, into_buffer, RECORD_REQUIRED),
    FIELD_READ("byte", byte, into_byte, RECORD_REQUIRED),
    FIELD_READ("bytes", bytes, into_expr),
};
static const struct record fill_record = {RECORD_TABLE(fill_rows)};

static enum status into_copy(void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    const struct manifest_parser *parser = in->context;
    struct manifest_step *step = field;
    const enum status status = record_parse(step, &copy_record, at, in, err);
    if (!status && step->to == step->from)
        return json_fail(at, err, "copies buffer '%s' onto itself", parser->buffer_names[step->to]);
    return status;
}

static record_get_fn into_nest;
static const struct record graph_record, loop_record;

/* The keys of a step: one of the forms, in the order of enum step_kind, and the options that most forms allow. */
static const struct record_field step_rows[] = {
    [STEP_LAUNCH] = FIELD_READ("launch", launch, into_launch),
    [STEP_COPY] = FIELD_WHOLE("copy", into_copy),
    [STEP_FILL] = FIELD_GROUP("fill", fill_record),
    [STEP_SYNC] = FIELD_WHOLE("sync", into_nothing),
    [STEP_RECORD] = FIELD_READ("record", event, into_record),
    [STEP_WAIT] = FIELD_READ("wait", event, into_wait),
    [STEP_LOAD] = FIELD_WHOLE("load", into_nothing),
    [STEP_GRAPH] = {.key = "graph", .kind = RECORD_HOOK, .get = into_nest, .more = &graph_record},
    [STEP_ALLOC] = FIELD_READ("alloc", to, into_buffer),
    [STEP_LOOP] = {.key = "loop", .kind = RECORD_HOOK, .get = into_nest, .more = &loop_record},
    FIELD_READ("stream", stream, into_expr),
    FIELD_READ("repeat", repeat, into_expr),
    FIELD_COMMENT("index"), /* read before the others, which may use it */
    FIELD_BOOL("timed", timed),
};
static const struct record step_record = {RECORD_TABLE(step_rows)};
#define STEP_FORMS (STEP_LOOP + 1)
static const struct step_form {
    bool repeats; /* allows "repeat" */
    bool works;   /* takes measurable time */
    bool loops;   /* is allowed in a loop */
    bool counts;  /* allows "index", here or inside */
} step_forms[STEP_FORMS] = {
    [STEP_LAUNCH] = {true, true, true, true},   [STEP_COPY] = {true, true, true, true},
    [STEP_FILL] = {true, true, true, true},     [STEP_SYNC] = {false, false, true, false},
    [STEP_RECORD] = {true, false, true, false}, [STEP_WAIT] = {true, false, true, false},
    [STEP_LOAD] = {true, true, false, false},   [STEP_GRAPH] = {false, true, false, false},
    [STEP_ALLOC] = {true, true, false, false},  [STEP_LOOP] = {false, true, true, false},
};

/* A step has exactly one form's key. */
static enum status find_form(enum step_kind *out, const cJSON *object, struct err *err)
{
    int found = -1;
    for (int k = 0; k < STEP_FORMS; k++) {
        if (!json_member(object, step_rows[k].key))
            continue;
        if (found >= 0)
            return json_fail(object, err, "is both a %s and a %s step", step_rows[found].key, step_rows[k].key);
        found = k;
    }
    if (found < 0)
        return json_fail(
            object, err,
            "is no step: one of launch, copy, fill, sync, record, wait, load, alloc, graph, loop is missing");
    *out = (enum step_kind)found;
    return STATUS_OK;
}

static enum status check_options(enum step_kind kind, const cJSON *at, const struct manifest_parser *parser,
                                 struct err *err)
{
    const cJSON *repeat = json_member(at, "repeat"), *timed = json_member(at, "timed"),
                *index = json_member(at, "index");
    const bool nests = kind == STEP_GRAPH || kind == STEP_LOOP;
    const char *name = step_rows[kind].key;
    if (parser->in_setup && timed)
        return json_fail_key(timed, err, "setup steps are never timed");
    if (repeat && !step_forms[kind].repeats)
        return json_fail_key(repeat, err, "a %s step does not repeat%s%s%s", name,
                             nests ? " (its \"repeat\" stands inside \"" : "", nests ? name : "", nests ? "\")" : "");
    if (index && !step_forms[kind].counts)
        return json_fail_key(index, err, "a %s step has no index%s", name,
                             kind == STEP_LOOP ? " (it stands inside \"loop\")" : "");
    return STATUS_OK;
}

/* Reads a step, graph or loop by its record, with its index in scope. */
static enum status counted_parse(struct manifest_step *step, const struct record *record, const cJSON *at,
                                 struct record_in *in, struct err *err)
{
    struct manifest_parser *parser = in->context;
    const cJSON *name = json_member(at, "index"), *repeat = json_member(at, "repeat");
    int index = -1;
    enum status status = STATUS_OK;
    if (name && !repeat)
        return json_fail_key(name, err, "an index counts repeats: the key 'repeat' is missing");
    if (name)
        status = index_open(&index, parser, name, err);
    if (!status)
        status = record_parse(step, record, at, in, err);
    if (!status && name && expr_uses_slot(step->repeat, manifest_index_slot(parser->manifest, index)))
        status = json_fail(repeat, err, "how often it repeats cannot depend on its own index");
    index_close(parser, index);
    if (name)
        step->index = index;
    return status;
}

static enum status step_parse(void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    struct manifest_parser *parser = in->context;
    struct manifest_step *step = field;
    *step = (struct manifest_step){.to = -1, .from = -1, .index = -1, .timed = !parser->in_setup, .at = at};
    if (record_check_keys(&step_record, at, err) || find_form(&step->kind, at, err) ||
        check_options(step->kind, at, parser, err))
        return err->status;
    return counted_parse(step, &step_record, at, in, err);
}

static const struct record_field graph_step_rows[] = {
    FIELD_READ("launch", launch, into_launch, RECORD_REQUIRED),
    FIELD_READ("repeat", repeat, into_expr),
    FIELD_COMMENT("index"),
};
static const struct record graph_step_record = {RECORD_TABLE(graph_step_rows)};

/* A graph holds launches without options. */
static enum status graph_step_parse(void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    const struct manifest_parser *parser = in->context;
    struct manifest_step *step = field;
    *step = (struct manifest_step){.timed = !parser->in_setup, .to = -1, .from = -1, .index = -1, .at = at};
    return counted_parse(step, &graph_step_record, at, in, err);
}

/* A loop may hold any steps, but they cannot choose what is timed. */
static enum status loop_step_parse(void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    const struct manifest_step *step = field;
    const enum status status = step_parse(field, at, in, err);
    if (!status && !step_forms[step->kind].loops)
        return json_fail(at, err, "a step of this kind (%s) cannot stand in a loop", step_rows[step->kind].key);
    if (!status && json_member(at, "timed"))
        return json_fail_key(json_member(at, "timed"), err, "a loop is timed as a whole, or not");
    return status;
}

static const struct record graph_steps = {.size = sizeof(struct manifest_step), .get = graph_step_parse};
static const struct record loop_steps = {.size = sizeof(struct manifest_step), .get = loop_step_parse};
static const struct record_field graph_rows[] = {
    FIELD_READ("repeat", repeat, into_expr),
    FIELD_LIST("steps", steps, step_count, graph_steps, RECORD_REQUIRED),
};
static const struct record graph_record = {RECORD_TABLE(graph_rows)};
static const struct record_field loop_rows[] = {
    FIELD_READ("repeat", repeat, into_expr),
    FIELD_COMMENT("index"),
    FIELD_LIST("steps", steps, step_count, loop_steps, RECORD_REQUIRED),
};
static const struct record loop_record = {RECORD_TABLE(loop_rows)};
#undef RECORD_STRUCT

/* Reads the steps of a graph or a loop; `more` is its record. */
static enum status into_nest(void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    struct manifest_parser *parser = in->context;
    struct manifest_step *step = field;
    const struct record_field *row = in->row;
    const cJSON *around = parser->steps;
    if (parser->loop_depth == MANIFEST_MAX_NESTING)
        return json_fail(at, err, "more than %d loops in each other", MANIFEST_MAX_NESTING);
    parser->steps = json_member(at, "steps");
    parser->loop_depth++;
    const enum status status = counted_parse(step, row->more, at, in, err);
    parser->loop_depth--;
    parser->steps = around;
    return !status && !step->step_count ? json_fail(json_member(at, "steps"), err, "the %s is empty", row->key)
                                        : status;
}

/* ---- lists of steps ---- */

static const struct record step_element = {.size = sizeof(struct manifest_step), .get = step_parse};

#define RECORD_STRUCT struct manifest
static const struct record_field setup_row = FIELD_LIST("setup", setup, setup_count, step_element);
static const struct record_field steps_row = FIELD_LIST("steps", steps, step_count, step_element);
#undef RECORD_STRUCT

enum status into_setup(void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    struct manifest_parser *parser = in->context;
    parser->in_setup = true;
    parser->steps = at;
    return record_parse_row(field, &setup_row, at, in, err);
}

enum status into_steps(void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    struct manifest_parser *parser = in->context;
    const struct manifest *manifest = field;
    parser->in_setup = false;
    parser->steps = at;
    const enum status status = record_parse_row(field, &steps_row, at, in, err);
    if (status || COUNT_WHERE(step, manifest->steps, manifest->step_count, step->timed && step_forms[step->kind].works))
        return status;
    return json_fail(at, err, "no step is timed: there is nothing to measure");
}

/* "launch" alone is one timed step. */
enum status into_short_form(void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    struct manifest *manifest = field;
    struct manifest_step *step = arena_alloc(in->arena, sizeof(*step));
    *step = (struct manifest_step){.kind = STEP_LAUNCH, .timed = true, .to = -1, .from = -1, .index = -1, .at = at};
    manifest->steps = step;
    manifest->step_count = 1;
    return into_launch(&step->launch, at, in, err);
}
