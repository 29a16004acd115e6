/* SPDX-License-Identifier: MIT
 *
 * Expressions in manifests: the names they may use, and the values of these names for a case.
 */

#include "manifest_internal.h"

/* ---- names ---- */

#define NAME_OF(field) "device." #field,
const char *const manifest_device_names[MANIFEST_DEVICE_NAMES] = {DEVICE_FACTS(NAME_OF) UNIT_FACTS(NAME_OF)
                                                                      TARGET_FACTS(NAME_OF)};
_Static_assert(offsetof(struct device_facts, layouts) == MANIFEST_DEVICE_NAMES * sizeof(double),
               "the numbers stand together, in the order of their names");

/* NaN makes the evaluator report that the function is undefined there. */
static enum dtype dtype_of_code(double code)
{
    const bool is_code = code >= 1 && code < (double)DTYPE_COUNT && code == floor(code);
    return is_code ? (enum dtype)code : DTYPE_NONE;
}

static double call_bytes(const double *args)
{
    const enum dtype dtype = dtype_of_code(args[0]);
    return dtype ? (double)dtype_bytes(dtype) : (double)NAN;
}

static double call_eps(const double *args)
{
    const enum dtype dtype = dtype_of_code(args[0]);
    return dtype ? dtype_epsilon(dtype) : (double)NAN;
}

static const struct expr_function functions[] = {{"bytes", 1, call_bytes}, {"eps", 1, call_eps}};

static const struct expr_constant dtype_codes[] = {
    {"f64", DTYPE_F64},           {"f32", DTYPE_F32},   {"xf32", DTYPE_XF32}, {"f16", DTYPE_F16},
    {"bf16", DTYPE_BF16},         {"e4m3", DTYPE_E4M3}, {"e5m2", DTYPE_E5M2}, {"i64", DTYPE_I64},
    {"u64", DTYPE_U64},           {"i32", DTYPE_I32},   {"u32", DTYPE_U32},   {"i16", DTYPE_I16},
    {"u16", DTYPE_U16},           {"i8", DTYPE_I8},     {"u8", DTYPE_U8},     {"e4m3fnuz", DTYPE_E4M3FNUZ},
    {"e5m2fnuz", DTYPE_E5M2FNUZ},
};
_Static_assert(COUNT_OF(dtype_codes) == DTYPE_COUNT - 1, "one constant per dtype");

/* Returns the number of a word among a parameter's limits: words are numbered after the dtypes, one number per distinct
 * word. */
static double word_code(const struct manifest *manifest, const char *word)
{
    double code = DTYPE_COUNT;
    for (size_t i = 0; i < manifest->param_count; i++)
        for (size_t k = 0; k < manifest->params[i].limit_count; k++, code++)
            if (manifest->params[i].value.kind == PARAM_STRING && !strcmp(manifest->params[i].limits[k].string, word))
                return code;
    return 0;
}

static void add_words(struct expr_names *names, const struct manifest *manifest, struct arena *arena)
{
    size_t count = COUNT_OF(dtype_codes), room = count;
    for (size_t i = 0; i < manifest->param_count; i++)
        room += manifest->params[i].limit_count;
    struct expr_constant *constants = arena_array(arena, room, sizeof(*constants));
    memcpy(constants, dtype_codes, sizeof(dtype_codes));
    for (size_t i = 0; i < manifest->param_count; i++)
        for (size_t k = 0; manifest->params[i].value.kind == PARAM_STRING && k < manifest->params[i].limit_count; k++) {
            const char *word = manifest->params[i].limits[k].string;
            constants[count++] = (struct expr_constant){word, word_code(manifest, word)};
        }
    names->constants = constants;
    names->constant_count = count;
}

/* Adds what every expression knows in addition to its variables. */
static void add_basics(struct expr_names *names)
{
    names->constants = dtype_codes;
    names->constant_count = COUNT_OF(dtype_codes);
    names->functions = functions;
    names->function_count = COUNT_OF(functions);
}

/* Names with another meaning in expressions or templates; a parameter with such a name would hide it or be hidden. */
static const char *const taken_names[] = {
    "i",   "x",     "device",   "ctype",    "bytes",   "eps",   "sum",  "len",      "min",   "max",
    "abs", "floor", "ceil",     "round",    "sqrt",    "exp",   "log",  "log2",     "log10", "sin",
    "cos", "pow",   "ceil_div", "round_up", "is_pow2", "clamp", "runs", "harmonic", "xor",
};

static const char *const implied_names[] = {"wave", "cumode"};

enum status check_param_name(const cJSON *member, const char *name, struct err *err)
{
    if (dtype_from_name(name))
        return json_fail_key(member, err, "'%s' is the name of a dtype and cannot be a parameter", name);
    if (text_among(name, taken_names, COUNT_OF(taken_names)))
        return json_fail_key(member, err, "'%s' means something else in expressions and cannot be a parameter", name);
    if (text_among(name, implied_names, COUNT_OF(implied_names)))
        return json_fail_key(member, err, "every kernel has the parameter '%s' already: variants and suites set it",
                             name);
    return STATUS_OK;
}

/* ---- slots: the values of the names, in the order of manifest.h ---- */

static const char no_index[] = "(an index)"; /* cannot be written in an expression */

static bool is_list(const struct param *param)
{
    return param->value.kind == PARAM_LIST;
}

static size_t metric_slot(const struct manifest *manifest)
{
    return manifest->param_count + MANIFEST_DEVICE_NAMES;
}

/* The indexes follow "runs", which follows "x". */
size_t manifest_index_slot(const struct manifest *manifest, int index)
{
    return metric_slot(manifest) + 2 + (size_t)index;
}

static size_t variable_count(const struct manifest *manifest)
{
    return manifest_index_slot(manifest, MANIFEST_MAX_INDEXES);
}

size_t list_slot(const struct manifest *manifest, size_t param)
{
    size_t slot = variable_count(manifest);
    for (size_t i = 0; i < param; i++)
        slot += is_list(&manifest->params[i]) ? 3 : 0;
    return slot;
}

void manifest_expr_names(struct expr_names *names, const struct manifest *manifest, struct arena *arena)
{
    /* The slot of the list value itself has a name that cannot be written in an expression. */
    static const char no_name[] = "(the value of a list)";
    const char **variables = arena_array(arena, variable_count(manifest), sizeof(*variables));
    const char **lists = arena_array(arena, manifest->param_count, sizeof(*lists));
    *names = (struct expr_names){.variables = variables, .variable_count = variable_count(manifest), .lists = lists};
    for (size_t i = 0; i < manifest->param_count; i++) {
        const struct param *param = &manifest->params[i];
        variables[i] = is_list(param) ? no_name : param->name;
        if (is_list(param))
            lists[names->list_count++] = param->name;
    }
    memcpy(variables + manifest->param_count, manifest_device_names, sizeof(manifest_device_names));
    variables[metric_slot(manifest)] = "x";
    variables[metric_slot(manifest) + 1] = "runs";
    for (int k = 0; k < MANIFEST_MAX_INDEXES; k++)
        variables[manifest_index_slot(manifest, k)] = no_index;
    add_basics(names);
    add_words(names, manifest, arena);
}

enum status manifest_expr_check(const struct manifest *manifest, const struct expr *expr, bool metric, struct err *err)
{
    for (size_t i = 0; i < manifest->param_count; i++)
        if (manifest->params[i].value.kind == PARAM_STRING && !manifest->params[i].limit_count &&
            expr_uses_slot(expr, i))
            return err_set(err, ERR_CONFIG,
                           "parameter '%s' is text without limits: it can stand in templates, not in an expression",
                           manifest->params[i].name);
    if (!metric && expr_uses_slot(expr, metric_slot(manifest)))
        return err_set(err, ERR_CONFIG, "'x' is the reduced value of a metric and unknown here");
    if (!metric && expr_uses_slot(expr, metric_slot(manifest) + 1))
        return err_set(err, ERR_CONFIG, "'runs' counts the runs before a metric is taken and is unknown here");
    return STATUS_OK;
}

size_t manifest_slot_count(const struct manifest *manifest)
{
    return list_slot(manifest, manifest->param_count);
}

uint32_t manifest_wave(const struct manifest *manifest, const struct param_value *values)
{
    return manifest->implied_count ? (uint32_t)values[manifest->param_count - 2].number : 0;
}

bool manifest_cumode(const struct manifest *manifest, const struct param_value *values)
{
    return manifest->implied_count && values[manifest->param_count - 1].number != 0;
}

/* Returns the unit that runs the case's workgroups, for code compiled for waves of this size. */
static struct device_unit case_unit(const struct device_facts *device, double wave, bool cumode)
{
    struct device_unit unit = device->unit;
    const double places = wave > 0 ? device->wave / wave : 1; /* a register has one place per lane */
    unit.simd_vgprs *= places;
    unit.vgpr_granule *= places;
    if (!device->unit_pairs || cumode)
        return unit;
    unit.units /= 2;
    unit.simds *= 2;
    unit.unit_lds *= 2;
    unit.unit_groups *= 2;
    unit.unit_lone_groups *= 2;
    return unit;
}

void manifest_slots(double *slots, const struct manifest *manifest, const struct param_value *values,
                    const struct device_facts *device, double x)
{
    double *list = slots + variable_count(manifest);
    for (size_t i = 0; i < manifest->param_count; i++) {
        const struct param_value *value = &values[i];
        slots[i] = value->kind == PARAM_NUMBER   ? value->number
                   : value->kind == PARAM_DTYPE  ? (double)value->dtype
                   : value->kind == PARAM_STRING ? word_code(manifest, value->string)
                                                 : 0;
        if (!is_list(&manifest->params[i]))
            continue;
        double sum = 0, most = value->list[0];
        for (size_t k = 0; k < value->count; k++) {
            sum += value->list[k];
            most = value->list[k] > most ? value->list[k] : most;
        }
        *list++ = sum;
        *list++ = most;
        *list++ = (double)value->count;
    }
    struct device_facts facts = *device;
    const uint32_t wave = manifest_wave(manifest, values);
    facts.wave = wave ? wave : device->wave;
    facts.unit = case_unit(device, facts.wave, manifest_cumode(manifest, values));
    /* The matrix instructions available to the case; on a device with several layouts, those of the layout it
     * requests. */
    const struct target_facts *matrix = NULL;
    const int param = device->layout_count > 1 ? manifest_param(manifest, "layout") : -1;
    for (size_t k = 1; param >= 0 && k < device->layout_count; k++)
        if (values[param].kind == PARAM_NUMBER && device->layouts[k].matrix_layout == values[param].number)
            matrix = &device->layouts[k];
    if (matrix)
        memcpy(&facts.target, matrix, offsetof(struct target_facts, rate_f32)); /* matrix members are first */
    memcpy(slots + manifest->param_count, &facts, MANIFEST_DEVICE_NAMES * sizeof(double));
    slots[metric_slot(manifest)] = x;
    for (size_t k = metric_slot(manifest) + 1; k < variable_count(manifest); k++)
        slots[k] = 0;
}

int manifest_param(const struct manifest *manifest, const char *name)
{
    for (size_t i = 0; i < manifest->param_count; i++)
        if (manifest->params[i].name[0] == name[0] && strcmp(manifest->params[i].name, name) == 0)
            return (int)i;
    return -1;
}

/* ---- defaults that depend on the device ---- */

enum status default_compile(const struct expr **expr, const char *source, struct arena *arena, struct err *err)
{
    const struct manifest none = {0};
    struct expr_names names = {.variables = manifest_device_names, .variable_count = MANIFEST_DEVICE_NAMES};
    SCOPED(text_release) struct text expanded = {0};
    add_basics(&names);
    names.written = source;
    return lets_expand(&expanded, &none, source, arena, err) ? err->status
                                                             : expr_compile(expr, expanded.data, &names, arena, err);
}

enum status manifest_default(struct param_value *value, const struct param *param, const struct device_facts *device,
                             struct err *err)
{
    *value = param->value;
    if (!param->asks)
        return STATUS_OK;
    double slots[MANIFEST_DEVICE_NAMES], number = 0;
    struct err cause;
    memcpy(slots, device, sizeof(slots));
    if (expr_eval(&number, param->asks, slots, &cause))
        return json_fail(param->at, err, "in \"%s\": %s", expr_source(param->asks), cause.text);
    if (value->kind == PARAM_NUMBER)
        value->number = number;
    else if (!(value->dtype = dtype_of_code(number)))
        return json_fail(param->at, err, "in \"%s\": %.15g is no dtype", expr_source(param->asks), number);
    return STATUS_OK;
}

/* ---- indexes of steps ---- */

enum status index_open(int *index, struct manifest_parser *parser, const cJSON *at, struct err *err)
{
    const char *name = at->valuestring;
    if (!cJSON_IsString(at) || !json_is_identifier(name))
        return json_fail(at, err, "must be a name: letters, digits and '_', and no digit first");
    if (manifest_param(parser->manifest, name) >= 0 || let_named(parser->manifest, name, strlen(name)))
        return json_fail(at, err, "'%s' is a parameter or sub-expression already", name);
    for (int k = 0; k < parser->index_count; k++)
        if (!strcmp(parser->index_names[k], name))
            return json_fail(at, err, "'%s' counts a loop around this already", name);
    if (parser->index_count == MANIFEST_MAX_INDEXES)
        return json_fail(at, err, "more than %d indexes in each other", MANIFEST_MAX_INDEXES);
    parser->index_names[parser->index_count] = name;
    *index = parser->index_count++;
    return STATUS_OK;
}

void index_close(struct manifest_parser *parser, int index)
{
    if (index < 0)
        return;
    parser->index_names[index] = no_index;
    parser->index_count = index;
}

void index_hide(struct manifest_parser *parser, const char *names[static MANIFEST_MAX_INDEXES])
{
    memcpy(names, parser->index_names, MANIFEST_MAX_INDEXES * sizeof(*names));
    for (size_t k = 0; k < MANIFEST_MAX_INDEXES; k++)
        parser->index_names[k] = no_index;
}

void index_show(struct manifest_parser *parser, const char *const names[static MANIFEST_MAX_INDEXES])
{
    memcpy(parser->index_names, names, MANIFEST_MAX_INDEXES * sizeof(*names));
}

/* ---- compiling ---- */

enum status names_compile(const struct expr **out, const struct manifest_parser *parser, const char *source,
                          const cJSON *at, enum expr_scope scope, struct err *err)
{
    struct expr_names names = parser->names;
    const struct expr *expr = NULL;
    SCOPED(text_release) struct text expanded = {0};
    names.has_index = scope == SCOPE_INDEX;
    names.array_count = names.has_index ? names.array_count : 0;
    names.written = source;
    names.at = at;
    if (lets_expand(&expanded, parser->manifest, source, parser->arena, err) ||
        expr_compile(&expr, expanded.data, &names, parser->arena, err) ||
        manifest_expr_check(parser->manifest, expr, scope == SCOPE_METRIC, err))
        return err->status;
    *out = expr;
    return STATUS_OK;
}

const enum expr_scope scope_index = SCOPE_INDEX, scope_metric = SCOPE_METRIC;

enum status read_expr(const struct expr **out, const cJSON *at, enum expr_scope scope, struct record_in *in,
                      struct err *err)
{
    if (!cJSON_IsString(at) && !cJSON_IsNumber(at))
        return json_fail_type(at, "an expression (a string) or a number", err);
    const char *source = cJSON_IsString(at) ? at->valuestring : number_text(in->arena, at->valuedouble);
    struct err cause = {0};
    if (names_compile(out, in->context, source, at, scope, &cause))
        return json_fail(at, err, "in \"%s\": %s", source, cause.text);
    return STATUS_OK;
}

enum status into_expr(void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    const enum expr_scope *scope = in->row->more;
    return read_expr(field, at, scope ? *scope : SCOPE_PLAIN, in, err);
}

enum status manifest_expr(const struct expr **out, const struct manifest *manifest, const char *source,
                          struct arena *arena, struct err *err)
{
    struct manifest known = *manifest;
    struct manifest_parser parser = {.manifest = &known, .arena = arena};
    manifest_expr_names(&parser.names, manifest, arena);
    return names_compile(out, &parser, source, NULL, SCOPE_PLAIN, err);
}

const char *manifest_unknown(const struct manifest *manifest, const struct expr *expr,
                             const struct device_facts *device)
{
    double facts[MANIFEST_DEVICE_NAMES];
    memcpy(facts, device, sizeof(facts));
    for (size_t k = 0; k < MANIFEST_DEVICE_NAMES; k++)
        if (isnan(facts[k]) && expr_uses_slot(expr, manifest->param_count + k))
            return manifest_device_names[k];
    return NULL;
}
