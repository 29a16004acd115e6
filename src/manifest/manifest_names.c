/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "manifest_internal.h"

#define UNIT_NAMES(NAME)                                                                                               \
    NAME(units)                                                                                                        \
    NAME(simds) NAME(simd_waves) NAME(simd_vgprs) NAME(vgpr_granule) NAME(wave_vgprs) NAME(wave_agprs) NAME(unit_lds)  \
        NAME(lds_granule) NAME(lds_reserved) NAME(unit_lone_groups) NAME(unit_groups)
#define NAME_OF(field) "device." #field,
#define OFFSET_OF(field) offsetof(struct device_facts, unit.field),

const char *const manifest_device_names[MANIFEST_DEVICE_NAMES] = {
    "device.wave",      "device.cus",          "device.xccs",        "device.max_block",
    "device.lds_bytes", "device.memory_bytes", "device.l2_bytes",    "device.core_hz",
    "device.f16",       "device.bf16_dot",     "device.i8_dot",      "device.cooperative",
    "device.index",     "device.peers",        "device.host_memory", UNIT_NAMES(NAME_OF)};

/* Where the value of each of these names stands. */
static const size_t device_offsets[MANIFEST_DEVICE_NAMES] = {
    offsetof(struct device_facts, wave),        offsetof(struct device_facts, cus),
    offsetof(struct device_facts, xccs),        offsetof(struct device_facts, max_block),
    offsetof(struct device_facts, lds_bytes),   offsetof(struct device_facts, memory_bytes),
    offsetof(struct device_facts, l2_bytes),    offsetof(struct device_facts, core_hz),
    offsetof(struct device_facts, f16),         offsetof(struct device_facts, bf16_dot),
    offsetof(struct device_facts, i8_dot),      offsetof(struct device_facts, cooperative),
    offsetof(struct device_facts, index),       offsetof(struct device_facts, peers),
    offsetof(struct device_facts, host_memory), UNIT_NAMES(OFFSET_OF)};

/* NaN makes expr say that the function is not defined there. */
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

void manifest_expr_basics(struct expr_names *names)
{
    names->constants = dtype_codes;
    names->constant_count = COUNT_OF(dtype_codes);
    names->functions = functions;
    names->function_count = COUNT_OF(functions);
}

/* What else a name means to expressions or templates: a parameter of that name would hide it or be hidden. */
static const char *const taken_names[] = {
    "i",   "x",     "device",   "ctype",    "bytes",   "eps",   "sum",  "len",      "min",   "max",
    "abs", "floor", "ceil",     "round",    "sqrt",    "exp",   "log",  "log2",     "log10", "sin",
    "cos", "pow",   "ceil_div", "round_up", "is_pow2", "clamp", "runs", "harmonic",
};

static const char *const implied_names[] = {"wave", "cumode"};

enum status check_param_name(const struct json *member, struct err *err)
{
    if (dtype_from_name(member->key))
        return json_fail_key(member, err, "'%s' is the name of a dtype and cannot be a parameter", member->key);
    for (size_t i = 0; i < COUNT_OF(taken_names); i++)
        if (strcmp(member->key, taken_names[i]) == 0)
            return json_fail_key(member, err, "'%s' means something else in expressions and cannot be a parameter",
                                 member->key);
    for (size_t i = 0; i < COUNT_OF(implied_names); i++)
        if (strcmp(member->key, implied_names[i]) == 0)
            return json_fail_key(member, err, "every kernel has the parameter '%s' already: variants and suites set it",
                                 member->key);
    return STATUS_OK;
}

static bool is_list(const struct param *param)
{
    return param->value.kind == PARAM_LIST;
}

static size_t metric_slot(const struct manifest *manifest)
{
    return manifest->param_count + MANIFEST_DEVICE_NAMES;
}

/* Behind "x" stands "runs". */
static size_t variable_count(const struct manifest *manifest)
{
    return metric_slot(manifest) + 2;
}

size_t list_slot(const struct manifest *manifest, size_t param)
{
    size_t slot = variable_count(manifest);
    for (size_t i = 0; i < param; i++)
        slot += is_list(&manifest->params[i]) ? 3 : 0;
    return slot;
}

void names_build(struct manifest_parser *parser)
{
    const struct manifest *manifest = parser->manifest;
    const char **variables = arena_array(parser->arena, variable_count(manifest), sizeof(*variables));
    const char **lists = arena_array(parser->arena, manifest->param_count, sizeof(*lists));
    const char **params = arena_array(parser->arena, manifest->param_count, sizeof(*params));
    size_t list_count = 0;
    for (size_t i = 0; i < manifest->param_count; i++) {
        const struct param *param = &manifest->params[i];
        params[i] = param->name;
        /* The slot of a list's own value has a name that no expression can write. */
        variables[i] = is_list(param) ? "(the value of a list)" : param->name;
        if (is_list(param))
            lists[list_count++] = param->name;
    }
    memcpy(variables + manifest->param_count, manifest_device_names, sizeof(manifest_device_names));
    variables[metric_slot(manifest)] = "x";
    variables[metric_slot(manifest) + 1] = "runs";
    parser->param_names = params;
    parser->names = (struct expr_names){
        .variables = variables,
        .variable_count = variable_count(manifest),
        .lists = lists,
        .list_count = list_count,
    };
    manifest_expr_basics(&parser->names);
}

enum status names_compile(const struct expr **out, const struct manifest_parser *parser, const char *source,
                          enum expr_scope scope, struct err *err)
{
    const struct manifest *manifest = parser->manifest;
    struct expr_names names = parser->names;
    names.has_index = scope == SCOPE_INDEX;
    const struct expr *expr;
    names.written = source;
    const enum status status = expr_compile(&expr, lets_expand(parser, source), &names, parser->arena, err);
    if (status)
        return status;
    for (size_t i = 0; i < manifest->param_count; i++)
        if (manifest->params[i].value.kind == PARAM_STRING && expr_uses_slot(expr, i))
            return err_set(err, ERR_CONFIG, "parameter '%s' is text: it can stand in templates, not in an expression",
                           manifest->params[i].name);
    if (scope != SCOPE_METRIC && expr_uses_slot(expr, metric_slot(manifest)))
        return err_set(err, ERR_CONFIG, "'x' is the reduced value of a metric and unknown here");
    if (scope != SCOPE_METRIC && expr_uses_slot(expr, metric_slot(manifest) + 1))
        return err_set(err, ERR_CONFIG, "'runs' counts the runs before a metric is taken and is unknown here");
    *out = expr;
    return STATUS_OK;
}

enum status get_expr_value(const struct expr **out, const struct manifest_parser *parser, const struct json *at,
                           enum expr_scope scope, struct err *err)
{
    if (at->type != JSON_STRING && at->type != JSON_NUMBER)
        return json_fail(at, err, "must be an expression (a string) or a number, not %s", json_type_name(at->type));
    const char *source = at->type == JSON_STRING ? at->string : number_text(parser->arena, at->number);
    struct err cause = {0};
    if (names_compile(out, parser, source, scope, &cause))
        return json_fail(at, err, "in \"%s\": %s", source, cause.text);
    return STATUS_OK;
}

enum status get_expr(const struct expr **out, const struct manifest_parser *parser, const struct json *object,
                     const char *key, enum json_need need, enum expr_scope scope, struct err *err)
{
    const struct json *member = json_member(object, key);
    if (member)
        return get_expr_value(out, parser, member, scope, err);
    return need == JSON_REQUIRED ? json_fail(object, err, "the key '%s' is missing", key) : STATUS_OK;
}

size_t manifest_slot_count(const struct manifest *manifest)
{
    return list_slot(manifest, manifest->param_count);
}

static void list_slots(double *slots, const struct param_value *list)
{
    double sum = 0;
    double most = list->list[0];
    for (size_t i = 0; i < list->count; i++) {
        sum += list->list[i];
        most = list->list[i] > most ? list->list[i] : most;
    }
    slots[0] = sum;
    slots[1] = most;
    slots[2] = (double)list->count;
}

uint32_t manifest_wave(const struct manifest *manifest, const struct param_value *values)
{
    return manifest->implied_count ? (uint32_t)values[manifest->param_count - 2].number : 0;
}

bool manifest_cumode(const struct manifest *manifest, const struct param_value *values)
{
    return manifest->implied_count && values[manifest->param_count - 1].number != 0;
}

/* Where the workgroups of a case live, compiled for waves of this size. */
static struct device_unit case_unit(const struct device_facts *device, double wave, bool cumode)
{
    struct device_unit unit = device->unit;
    const double places = wave > 0 ? device->wave / wave : 1; /* a register has one for each lane */
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
        slots[i] = value->kind == PARAM_NUMBER ? value->number : value->kind == PARAM_DTYPE ? (double)value->dtype : 0;
        if (!is_list(&manifest->params[i]))
            continue;
        list_slots(list, value);
        list += 3;
    }
    struct device_facts facts = *device;
    const uint32_t wave = manifest_wave(manifest, values);
    facts.wave = wave ? wave : device->wave;
    facts.unit = case_unit(device, facts.wave, manifest_cumode(manifest, values));
    for (size_t i = 0; i < MANIFEST_DEVICE_NAMES; i++)
        memcpy(&slots[manifest->param_count + i], (const char *)&facts + device_offsets[i], sizeof(double));
    slots[metric_slot(manifest)] = x;
    slots[metric_slot(manifest) + 1] = 0;
}

int manifest_param(const struct manifest *manifest, const char *name)
{
    for (size_t i = 0; i < manifest->param_count; i++)
        if (strcmp(manifest->params[i].name, name) == 0)
            return (int)i;
    return -1;
}
