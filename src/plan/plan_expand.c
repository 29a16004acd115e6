/* SPDX-License-Identifier: MIT */

#include "plan_internal.h"

enum status origin_fail(const struct origin *origin, struct err *err, const char *text)
{
    if (origin->at)
        return json_fail(origin->at, err, "%s", text);
    return origin->set ? err_set(err, ERR_USAGE, "--set %s: %s", origin->set, text)
                       : err_set(err, ERR_CONFIG, "%s", text);
}

/* ---- --set ---- */

static enum status parse_set(struct set_list *sets, const char *text, struct arena *arena, struct err *err)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1])
        return err_set(err, ERR_USAGE, "--set %s: expected name=value", text);
    const char *start = text + strspn(text, " ");
    size_t length = start < equals ? (size_t)(equals - start) : 0;
    while (length && start[length - 1] == ' ')
        length--;
    const char *name = arena_strndup(arena, start, length);
    if (FIND_ROW(sets->sweeps, sets->count, param, name))
        return err_set(err, ERR_USAGE, "--set %s: '%s' is set twice", text, name);
    struct err inner;
    if (sweep_parse(&sets->sweeps[sets->count], name, equals + 1, arena, &inner))
        return err_set(err, ERR_USAGE, "--set %s: %s", text, inner.text);
    size_t values = 0;
    for (size_t k = 0; k <= sets->count; k++)
        values += sets->sweeps[k].count;
    if (values > SUITE_MAX_CASES)
        return err_set(err, ERR_USAGE, "--set %s: with it the sweeps have more than %u values", text, SUITE_MAX_CASES);
    sets->sweeps[sets->count++].set = text;
    return STATUS_OK;
}

enum status set_list_init(struct set_list *sets, const char *const *texts, size_t count, struct arena *arena,
                          struct err *err)
{
    struct set_list parsed = {0};
    parsed.sweeps = arena_array(arena, count, sizeof(*parsed.sweeps));
    for (size_t k = 0; k < count; k++) {
        if (parse_set(&parsed, texts[k], arena, err))
            return err->status;
    }
    *sets = parsed;
    return STATUS_OK;
}

/* ---- values from all sources, strongest last ---- */

static void give(struct expansion *expansion, size_t param, const struct param_value *value)
{
    const enum param_kind kind = expansion->manifest->params[param].value.kind;
    const bool asks = value->kind == PARAM_STRING && value->string[0] == '{' && text_ends(value->string, "}");
    expansion->values[param] = *value;
    expansion->asks[param] = asks && (kind == PARAM_NUMBER || kind == PARAM_DTYPE) ? value->string : NULL;
}

static enum status take_params(struct expansion *expansion, struct err *err)
{
    const struct suite_case *from = expansion->suite_case;
    for (size_t k = 0; k < from->param_count; k++) {
        const struct param *given = &from->params[k];
        if (k < from->default_count && manifest_param(expansion->manifest, given->name) < 0)
            continue;
        struct err inner;
        size_t param = 0;
        if (param_find(&param, expansion->manifest, given->name, &inner))
            return given->at ? json_fail_key(given->at, err, "%s", inner.text)
                             : err_set(err, ERR_CONFIG, "%s", inner.text);
        give(expansion, param, &given->value);
        expansion->origins[param] = (struct origin){.given = true, .at = given->at};
    }
    return STATUS_OK;
}

static enum status take_sweeps(struct expansion *expansion, struct err *err)
{
    const struct suite_case *from = expansion->suite_case;
    for (size_t k = 0; k < from->sweep_count; k++) {
        const struct sweep *sweep = &from->sweeps[k];
        struct err inner;
        size_t param = 0;
        if (param_find(&param, expansion->manifest, sweep->param, &inner))
            return json_fail_key(sweep->at, err, "%s", inner.text);
        /* `axis` holds the zip group until the axes are numbered; a parameter that is swept alone gets its own
         * group. */
        const size_t zip = suite_zip_of(from, sweep->param);
        expansion->swept[expansion->swept_count++] =
            (struct swept){.param = param, .sweep = sweep, .axis = zip == SIZE_MAX ? from->zip_count + k : zip};
        expansion->origins[param] = (struct origin){.given = true, .at = sweep->at};
    }
    return STATUS_OK;
}

/* A --set with several values replaces the suite's sweep and keeps its zip partners, or becomes the fastest axis. */
static enum status take_set(struct expansion *expansion, const struct set_list *sets, size_t which, struct err *err)
{
    const int param = manifest_param(expansion->manifest, sets->sweeps[which].param);
    if (param < 0)
        return STATUS_OK;
    const struct sweep *sweep = &sets->sweeps[which];
    expansion->origins[param] = (struct origin){.given = true, .set = sweep->set};
    struct swept *swept = NULL;
    for (size_t k = 0; k < expansion->swept_count && !swept; k++)
        swept = expansion->swept[k].param == (size_t)param ? &expansion->swept[k] : NULL;
    if (sweep->count == 1) {
        give(expansion, (size_t)param, &sweep->values[0]);
        if (swept) /* it is no longer swept */
            memmove(swept, swept + 1, (size_t)(expansion->swept + --expansion->swept_count - swept) * sizeof(*swept));
        return STATUS_OK;
    }
    if (!swept) {
        swept = &expansion->swept[expansion->swept_count++];
        *swept = (struct swept){.param = (size_t)param,
                                .axis = expansion->suite_case->zip_count + expansion->suite_case->sweep_count + which};
    }
    swept->sweep = sweep;
    FOR_EACH(const struct swept, other, expansion->swept, expansion->swept_count)
        if (other != swept && other->axis == swept->axis && other->sweep->count != sweep->count)
            return err_set(err, ERR_USAGE, "--set %s: %zu values, but '%s', which advances with it, takes %zu",
                           sweep->set, sweep->count, other->sweep->param, other->sweep->count);
    return STATUS_OK;
}

static enum status take_check_params(struct expansion *expansion, struct err *err)
{
    const struct manifest_check *check = &expansion->manifest->check;
    for (size_t k = 0; k < check->param_count; k++) {
        struct err inner;
        size_t param = 0;
        if (param_find(&param, expansion->manifest, check->params[k].name, &inner))
            return err_set(err, ERR_CONFIG, "%s: check.params: %s", expansion->manifest->path, inner.text);
        give(expansion, param, &check->params[k].value);
        expansion->origins[param] = (struct origin){0}; /* the manifest's own default, already checked on reading */
    }
    return STATUS_OK;
}

/* Numbers the axes in the order of their first parameter. */
static enum status number_axes(struct expansion *expansion, struct arena *arena, struct err *err)
{
    expansion->axis_counts = arena_array(arena, expansion->swept_count, sizeof(*expansion->axis_counts));
    expansion->positions = arena_array(arena, expansion->swept_count, sizeof(*expansion->positions));
    size_t *groups = arena_array(arena, expansion->swept_count, sizeof(*groups));
    expansion->combinations = 1;
    FOR_EACH(struct swept, swept, expansion->swept, expansion->swept_count) {
        size_t axis = 0;
        while (axis < expansion->axis_count && groups[axis] != swept->axis)
            axis++;
        if (axis == expansion->axis_count) {
            const size_t count = swept->sweep->count;
            if (count > SUITE_MAX_CASES / expansion->combinations)
                return err_set(err, ERR_USAGE, "kernel '%s': the sweeps expand to more than %u cases",
                               expansion->manifest->name, SUITE_MAX_CASES);
            groups[axis] = swept->axis;
            expansion->axis_counts[axis] = count;
            expansion->combinations *= count;
            expansion->axis_count++;
        }
        swept->axis = axis;
    }
    return STATUS_OK;
}

/* ---- excludes ---- */

/* Tells whether an expression uses a fact that this device does not report; if so, sets `unknown`. */
static bool is_unknown(struct expansion *expansion, const struct expr *expr, const char *what,
                       const struct device_facts *device, struct arena *arena)
{
    const char *fact = manifest_unknown(expansion->manifest, expr, device);
    if (fact)
        expansion->unknown =
            arena_printf(arena, "%s '%s': %s is not known of this device", what, expr_source(expr), fact);
    return fact;
}

enum status expansion_excludes(bool *excluded, struct expansion *expansion, const struct device_facts *device,
                               struct arena *scratch, struct err *err)
{
    const struct suite_case *from = expansion->suite_case;
    const struct resolved values = {.manifest = expansion->manifest, .values = expansion->values, .device = device};
    const double *slots = from->exclude_count ? resolved_slots(&values, scratch) : NULL;
    bool any = false;
    for (size_t k = 0; k < from->exclude_count && !any && !expansion->unknown; k++) {
        struct err inner;
        double value = 0;
        expansion->undecided = is_unknown(expansion, expansion->excludes[k], "exclude", device, scratch);
        if (expansion->undecided)
            break;
        if (expr_eval(&value, expansion->excludes[k], slots, &inner))
            return json_fail(json_at(json_member(from->at, "exclude"), k), err, "'%s': %s", from->excludes[k],
                             inner.text);
        any = value != 0;
    }
    *excluded = any;
    return STATUS_OK;
}

/* ---- values that depend on the device ---- */

struct asking {
    struct expansion *expansion;
    const struct device_facts *device;
    enum { TO_ASK, ASKING, ASKED } * states;
    struct arena *scratch;
};

/* Returns the largest of the parameter's limits that is not above `number` (the smallest if there is none). Without
 * limits, `number` becomes a whole number if the default is one. */
static double accepted(const struct param *param, double number)
{
    double below = NAN, least = NAN;
    for (size_t k = 0; k < param->limit_count && param->value.kind == PARAM_NUMBER; k++) {
        const double limit = param->limits[k].number;
        least = fmin(least, limit);
        below = limit <= number ? fmax(below, limit) : below;
    }
    if (param->limit_count)
        return isnan(below) ? least : below;
    return param->value.number == floor(param->value.number) ? floor(number) : number;
}

static enum status ask(struct asking *asking, size_t param, struct err *err);

static enum status ask(struct asking *asking, size_t number, struct err *err)
{
    struct expansion *expansion = asking->expansion;
    const struct manifest *manifest = expansion->manifest;
    const struct param *param = &manifest->params[number];
    const char *asks = expansion->asks[number];
    const struct expr *expr = NULL;
    double value = NAN;
    if (asking->states[number] == ASKED)
        return STATUS_OK;
    if (asking->states[number] == ASKING)
        return err_set(err, ERR_CONFIG, "'%s' depends on itself", param->name);
    asking->states[number] = ASKING;
    const char *source = arena_strndup(asking->scratch, asks + 1, strlen(asks) - 2);
    if (manifest_expr(&expr, manifest, source, asking->scratch, err))
        return err->status;
    for (size_t k = 0; k < manifest->param_count; k++) /* the parameters that it uses come first */
        if (expansion->asks[k] && expr_uses_slot(expr, k) && ask(asking, k, err))
            return err->status;
    const struct resolved known = {.manifest = manifest, .values = expansion->values, .device = asking->device};
    if (!expansion->unknown && !is_unknown(expansion, expr, param->name, asking->device, asking->scratch) &&
        expr_eval(&value, expr, resolved_slots(&known, asking->scratch), err))
        return err->status;
    asking->states[number] = ASKED;
    const bool dtype = param->value.kind == PARAM_DTYPE;
    if (dtype && value > 0 && value < (double)DTYPE_COUNT && value == floor(value))
        expansion->values[number] = (struct param_value){.kind = PARAM_DTYPE, .dtype = (enum dtype)value};
    else if (dtype && !isnan(value))
        return err_set(err, ERR_CONFIG, "%.15g is no dtype", value);
    else
        expansion->values[number] = (struct param_value){.kind = PARAM_NUMBER, .number = accepted(param, value)};
    expansion->texts[number] = param_text(asking->scratch, &expansion->values[number]);
    return STATUS_OK;
}

enum status expansion_ask(struct expansion *expansion, const struct device_facts *device, struct arena *scratch,
                          struct err *err)
{
    const size_t count = expansion->manifest->param_count;
    struct asking asking = {.expansion = expansion, .device = device, .scratch = scratch};
    asking.states = arena_array(scratch, count, sizeof(*asking.states));
    expansion->unknown = NULL;
    expansion->undecided = false;
    for (size_t k = 0; k < count; k++) {
        struct err inner;
        if (expansion->asks[k] && ask(&asking, k, &inner)) {
            err_within(&inner, "%s", expansion->asks[k]);
            return origin_fail(&expansion->origins[k], err, inner.text);
        }
    }
    return STATUS_OK;
}

/* ---- the expansion ---- */

static void take_position(struct expansion *expansion, size_t axis, struct arena *arena)
{
    FOR_EACH(const struct swept, swept, expansion->swept, expansion->swept_count) {
        if (swept->axis != axis)
            continue;
        give(expansion, swept->param, &swept->sweep->values[expansion->positions[axis]]);
        expansion->texts[swept->param] = param_text(arena, &expansion->values[swept->param]);
    }
}

enum status expansion_init(struct expansion *expansion, struct entry *entry, const struct planner *planner,
                           const struct set_list *sets, struct arena *arena, struct err *err)
{
    const struct manifest *manifest = entry->manifest;
    const size_t params = manifest->param_count;
    const bool at_check_params = planner->options->at_check_params;
    struct expansion made = {.manifest = manifest, .suite_case = entry->suite_case, .entry = entry};
    made.values = arena_array(arena, params, sizeof(*made.values));
    made.texts = arena_array(arena, params, sizeof(*made.texts));
    made.asks = arena_array(arena, params, sizeof(*made.asks));
    made.origins = arena_array(arena, params, sizeof(*made.origins));
    made.swept = arena_array(arena, entry->suite_case->sweep_count + sets->count, sizeof(*made.swept));
    if (plan_device_values(made.values, manifest, planner->device, err) || take_params(&made, err) ||
        (at_check_params ? take_check_params(&made, err) : take_sweeps(&made, err)))
        return err->status;
    for (size_t k = 0; k < sets->count; k++)
        if (take_set(&made, sets, k, err))
            return err->status;
    if (number_axes(&made, arena, err))
        return err->status;
    const struct suite_case *from = entry->suite_case;
    made.excludes = arena_array(arena, from->exclude_count, sizeof(*made.excludes));
    for (size_t k = 0; k < from->exclude_count; k++) {
        struct err inner;
        if (manifest_expr(&made.excludes[k], manifest, from->excludes[k], arena, &inner))
            return json_fail(json_at(json_member(from->at, "exclude"), k), err, "%s", inner.text);
    }
    *expansion = made;
    return STATUS_OK;
}

void expansion_start(struct expansion *expansion, struct arena *arena)
{
    for (size_t k = 0; k < expansion->manifest->param_count; k++)
        expansion->texts[k] = param_text(arena, &expansion->values[k]);
    for (size_t axis = 0; axis < expansion->axis_count; axis++)
        take_position(expansion, axis, arena);
}

bool expansion_next(struct expansion *expansion, struct arena *arena)
{
    for (size_t axis = expansion->axis_count; axis-- > 0;) {
        expansion->positions[axis] = (expansion->positions[axis] + 1) % expansion->axis_counts[axis];
        take_position(expansion, axis, arena);
        if (expansion->positions[axis])
            return true;
    }
    return false;
}

/* ---- suites and --set checked against the catalog ---- */

/* The maximum number of names that did-you-mean considers. */
#define MAX_NAMES 256

enum status entries_make(struct entry **entries, size_t *count, struct planner *planner,
                         const struct suite *const *suites, size_t suite_count, const struct set_list *sets,
                         struct err *err)
{
    size_t room = 0, total = 0, at = 0;
    enum status status = STATUS_OK;
    for (size_t s = 0; s < suite_count; s++)
        room += suites[s]->case_count;
    struct entry *made = arena_array(&planner->scratch, room, sizeof(*made));
    for (size_t s = 0; s < suite_count; s++)
        for (size_t c = 0; c < suites[s]->case_count && !status; c++) {
            struct entry *entry = &made[at++];
            struct expansion expansion = {0};
            struct err inner;
            *entry = (struct entry){.suite = suites[s], .suite_case = &suites[s]->cases[c]};
            status = catalog_get(&entry->manifest, planner->catalog, entry->suite_case->kernel, &inner);
            const cJSON *kernel = json_member(entry->suite_case->at, "kernel");
            if (status)
                return kernel ? json_fail(kernel, err, "%s", inner.text) : err_set(err, status, "%s", inner.text);
            status = expansion_init(&expansion, entry, planner, sets, &planner->once, err);
            arena_reset(&planner->once);
            total += expansion.combinations;
            if (!status && total > SUITE_MAX_CASES)
                return err_set(err, ERR_USAGE, "the sweeps expand to more than %u cases", SUITE_MAX_CASES);
        }
    *entries = made;
    *count = at;
    return status;
}

/* Fails unless a kernel of `suite` (NULL: a selected kernel of any) has the parameter. */
static enum status check_known(const struct origin *origin, const char *name, const struct suite *suite,
                               const struct entry *entries, size_t count, struct err *err)
{
    const char *names[MAX_NAMES] = {NULL};
    size_t name_count = 0, kernels = 0;
    for (size_t k = 0; k < count; k++) {
        const struct manifest *manifest = entries[k].manifest;
        if (suite ? entries[k].suite != suite : !entries[k].selected)
            continue;
        kernels++;
        if (manifest_param(manifest, name) >= 0)
            return STATUS_OK;
        for (size_t p = 0; p < manifest->param_count && name_count < MAX_NAMES; p++)
            names[name_count++] = manifest->params[p].name;
    }
    struct err inner;
    SCOPED(text_release) struct text known = {0};
    for (size_t k = 0; k < name_count && kernels == 1; k++)
        text_addf(&known, "%s%s", !k ? "it has " : k + 1 < name_count ? ", " : " and ", names[k]);
    err_set(&inner, ERR_CONFIG, "no selected kernel has a parameter '%s'", name);
    err_nearest(&inner, name, names, name_count, known.data);
    return origin_fail(origin, err, inner.text);
}

enum status entries_check_used(const struct entry *entries, size_t count, const struct suite *const *suites,
                               size_t suite_count, const struct set_list *sets, struct err *err)
{
    for (size_t k = 0; k < sets->count; k++) {
        const struct origin origin = {.set = sets->sweeps[k].set};
        if (check_known(&origin, sets->sweeps[k].param, NULL, entries, count, err))
            return err->status;
    }
    for (size_t s = 0; s < suite_count; s++) {
        const struct suite_case *first = suites[s]->cases; /* the defaults come first in every case */
        for (size_t k = 0; suites[s]->case_count && k < first->default_count; k++) {
            const struct origin origin = {.at = first->params[k].at};
            if (check_known(&origin, first->params[k].name, suites[s], entries, count, err))
                return err->status;
        }
    }
    return STATUS_OK;
}
