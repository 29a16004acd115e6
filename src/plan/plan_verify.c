/* SPDX-License-Identifier: MIT
 *
 * Binds the oracle of a case: another kernel, on the CPU device, that computes some or all elements of one output in
 * f64.
 */
#include <string.h>

#include "plan_internal.h"
#include "rooftile/hash.h"

/* What every oracle's manifest has besides the buffers that take ours (manifest.h). */
#define INDEX_BUFFER "index"
#define RESULT_BUFFER "result"
#define SAMPLES_PARAM "samples"

static int find_buffer(const struct bound *bound, const char *name)
{
    for (size_t k = 0; k < bound->buffer_count; k++)
        if (strcmp(bound->buffers[k].spec->name, name) == 0)
            return (int)k;
    return -1;
}

/* Parameters of the same name are passed on, the manifest's own words override, the number of samples is ours. */
static enum status oracle_values(struct param_value **out, struct planner *planner, const struct manifest *oracle,
                                 const struct bound *ours, uint64_t samples, struct err *err)
{
    const struct oracle_spec *spec = &ours->manifest->check.oracle;
    struct param_value *values = arena_array(planner->arena, oracle->param_count, sizeof(*values));
    values_of_device(values, oracle, &planner->cpu);
    for (size_t k = 0; k < oracle->param_count; k++) {
        const int same = manifest_param(ours->manifest, oracle->params[k].name);
        if (same >= 0 && !oracle->params[k].implied) /* how ours is compiled is not how the CPU is */
            values[k] = ours->values[same];
    }
    for (size_t k = 0; k < spec->param_count; k++) {
        size_t param = 0;
        enum status status = param_find(&param, oracle, spec->params[k].name, err);
        if (status)
            return status;
        char *text = NULL;
        if (spec->templates[k])
            status = template_render(&text, spec->templates[k], ours->manifest, ours->values, ours->slots,
                                     planner->arena, err);
        if (status)
            return status;
        values[param] = text ? param_from_text(planner->arena, text) : spec->params[k].value;
    }
    const int count = manifest_param(oracle, SAMPLES_PARAM);
    if (count < 0)
        return err_set(err, ERR_CONFIG, "it has no parameter '%s'", SAMPLES_PARAM);
    values[count] = (struct param_value){.kind = PARAM_NUMBER, .number = (double)samples};
    for (size_t k = 0; k < oracle->param_count; k++) {
        enum status status = value_fit(&values[k], &oracle->params[k], planner->arena, err);
        if (status)
            return status;
    }
    *out = values;
    return STATUS_OK;
}

static enum status check_own(int *buffer, const struct plan_oracle *oracle, const char *name, enum dtype dtype,
                             struct err *err)
{
    *buffer = find_buffer(&oracle->bound, name);
    if (*buffer < 0)
        return err_set(err, ERR_CONFIG, "it has no buffer '%s'", name);
    const struct bound_buffer *found = &oracle->bound.buffers[*buffer];
    if (found->dtype != dtype || found->count != oracle->samples)
        return err_set(err, ERR_CONFIG, "its buffer '%s' must be %s[%s]", name, dtype_name(dtype), SAMPLES_PARAM);
    return STATUS_OK;
}

/* Our buffer whose contents theirs takes, or -1. */
static int source_of(const struct bound *ours, const char *theirs)
{
    const struct oracle_spec *spec = &ours->manifest->check.oracle;
    for (size_t k = 0; k < spec->map_count; k++)
        if (strcmp(spec->map[k].theirs, theirs) == 0)
            return spec->map[k].ours;
    return find_buffer(ours, theirs);
}

static enum status map_buffers(struct plan_oracle *oracle, const struct bound *ours, struct arena *arena,
                               struct err *err)
{
    enum status status = check_own(&oracle->index_buffer, oracle, INDEX_BUFFER, DTYPE_U64, err);
    if (!status)
        status = check_own(&oracle->result_buffer, oracle, RESULT_BUFFER, DTYPE_F64, err);
    if (status)
        return status;
    int *source = arena_array(arena, oracle->bound.buffer_count, sizeof(*source));
    for (size_t k = 0; k < oracle->bound.buffer_count; k++) {
        const struct bound_buffer *theirs = &oracle->bound.buffers[k];
        const bool own = (int)k == oracle->index_buffer || (int)k == oracle->result_buffer;
        source[k] = own ? -1 : source_of(ours, theirs->spec->name);
        if (own || (source[k] < 0 && theirs->spec->role == ROLE_TEMP))
            continue;
        if (source[k] < 0)
            return err_set(err, ERR_CONFIG, "no buffer of '%s' gives its buffer '%s' the contents",
                           ours->manifest->name, theirs->spec->name);
        const struct bound_buffer *from = &ours->buffers[source[k]];
        if (from->dtype != theirs->dtype || from->count < theirs->count)
            return err_set(err, ERR_CONFIG, "its buffer '%s' is %s[%.15g], but '%s' of '%s' is %s[%.15g]",
                           theirs->spec->name, dtype_name(theirs->dtype), (double)theirs->count, from->spec->name,
                           ours->manifest->name, dtype_name(from->dtype), (double)from->count);
    }
    oracle->source = source;
    return STATUS_OK;
}

static enum status tolerance(double *value, const struct expr *expr, const struct bound *ours, struct err *err)
{
    *value = 0;
    if (!expr)
        return STATUS_OK;
    enum status status = expr_eval(value, expr, ours->slots, err);
    if (status)
        return err_within(err, "tolerance '%s'", expr_source(expr));
    if (*value < 0)
        return err_set(err, ERR_CONFIG, "tolerance '%s' is %g", expr_source(expr), *value);
    return STATUS_OK;
}

static enum status bind_all(struct plan_oracle *oracle, struct planner *planner, const struct manifest *manifest,
                            const struct bound *ours, const char *id, struct err *err)
{
    const struct oracle_spec *spec = &ours->manifest->check.oracle;
    struct param_value *values = NULL;
    enum status status = oracle_values(&values, planner, manifest, ours, oracle->samples, err);
    if (status)
        return status;
    double *slots = arena_array(planner->arena, manifest_slot_count(manifest), sizeof(*slots));
    manifest_slots(slots, manifest, values, &planner->cpu, 0);
    status = bind_slots(&oracle->bound, manifest, values, slots, &planner->cpu, planner->arena, err);
    if (!status)
        status = codes_add(planner, &oracle->bound, true, id, err);
    if (!status)
        status = map_buffers(oracle, ours, planner->arena, err);
    if (!status)
        status = tolerance(&oracle->abs, spec->abs, ours, err);
    if (!status)
        status = tolerance(&oracle->rel, spec->rel, ours, err);
    return status;
}

enum status oracle_bind(const struct plan_oracle **oracle, struct planner *planner, const struct bound *ours,
                        bool every, const char *id, struct err *err)
{
    const struct oracle_spec *spec = &ours->manifest->check.oracle;
    const uint64_t count = ours->buffers[spec->output].count;
    const struct manifest *manifest = NULL;
    struct plan_oracle *made = arena_alloc(planner->arena, sizeof(*made));
    made->output = spec->output;
    made->every = every || count <= spec->samples;
    made->samples = made->every ? count : spec->samples;
    enum status status = catalog_get(&manifest, planner->catalog, spec->kernel, err);
    if (!status)
        status = bind_all(made, planner, manifest, ours, id, err);
    if (!status) {
        *oracle = made;
        return STATUS_OK;
    }
    const struct json *at = json_member(json_member(ours->manifest->at, "check"), "oracle");
    struct err inner = *err;
    if (at)
        json_fail(at, err, "oracle '%s': %s", spec->kernel, inner.text);
    else
        err_set(err, ERR_CONFIG, "oracle '%s': %s", spec->kernel, inner.text);
    err->status = status;
    return status;
}

double oracle_cost(const struct plan_oracle *oracle)
{
    const struct work *work = &oracle->bound.work;
    return work->flops + work->read_bytes + work->write_bytes;
}

/* ---- how a case is verified ---- */

/* Operations and bytes of an oracle at the measured size: about two seconds on one core. Beyond it the same code is
 * verified at check.params instead. */
#define SAMPLED_COST_LIMIT 2e9

const char *verify_method_name(enum verify_method method)
{
    static const char *const names[] = {
        [VERIFY_NONE] = "none",       [VERIFY_EXPECT] = "expect",   [VERIFY_ORACLE] = "oracle",
        [VERIFY_SAMPLED] = "sampled", [VERIFY_VARIANT] = "variant",
    };
    return names[method];
}

struct variant_query {
    const struct variant_set *variants;
    const struct manifest *manifest;
    const struct param_value *values;
};

static bool variant_equals(const void *context, size_t index)
{
    const struct variant_query *query = context;
    const struct bound *bound = query->variants->items[index].bound;
    return bound->manifest == query->manifest &&
           values_equal(bound->values, query->values, query->manifest->param_count);
}

/* check.params without those that are compiled into the code: the variant must be the very code that is measured. */
static struct param_value *variant_values(struct planner *planner, const struct bound *bound)
{
    const struct manifest *manifest = bound->manifest;
    const bool *compiled = codes_compiled(planner, manifest);
    struct param_value *values =
        arena_copy(planner->arena, bound->values, manifest->param_count * sizeof(*bound->values));
    for (size_t k = 0; k < manifest->check.param_count; k++) {
        const int param = manifest_param(manifest, manifest->check.params[k].name);
        if (param >= 0 && !compiled[param])
            values[param] = manifest->check.params[k].value;
    }
    return values;
}

static enum status make_variant(struct variant *variant, struct planner *planner, const struct bound *measured,
                                const struct param_value *values, const char *id, struct err *err)
{
    const struct manifest *manifest = measured->manifest;
    struct bound *bound = arena_alloc(planner->arena, sizeof(*bound));
    double *slots = arena_array(planner->arena, manifest_slot_count(manifest), sizeof(*slots));
    manifest_slots(slots, manifest, values, planner->device, 0);
    enum status status = bind_slots(bound, manifest, values, slots, planner->device, planner->arena, err);
    if (status)
        return err_within(err, "at check.params");
    status = codes_add(planner, bound, false, id, err); /* the measured ones: no value differs that is compiled */
    if (!status)
        status = oracle_bind(&variant->oracle, planner, bound, true, id, err);
    if (status)
        return status;
    variant->bound = bound;
    return STATUS_OK;
}

/* Many measured sizes share one variant. */
static enum status find_variant(const struct variant **found, struct planner *planner, const struct bound *measured,
                                const char *id, struct err *err)
{
    struct variant_set *variants = &planner->variants;
    const struct variant_query query = {variants, measured->manifest, variant_values(planner, measured)};
    uint64_t hash = hash_u64(&query.manifest, sizeof(query.manifest));
    for (size_t k = 0; k < query.manifest->param_count; k++)
        hash = values_hash(hash, &query.values[k]);
    size_t index = lookup_find(&variants->by_values, hash, variant_equals, &query);
    if (index == LOOKUP_NONE) {
        struct variant made = {0};
        enum status status = make_variant(&made, planner, measured, query.values, id, err);
        if (status)
            return status;
        variants->items = grow(variants->items, variants->count, &variants->capacity, sizeof(*variants->items));
        index = variants->count++;
        variants->items[index] = made;
        lookup_add(&variants->by_values, hash, index);
    }
    *found = &variants->items[index];
    return STATUS_OK;
}

static enum status choose_oracle(struct planner *planner, struct plan_case *plan_case, struct err *err)
{
    const bool all = planner->options->at_check_params;
    const struct plan_oracle *direct = NULL;
    struct err inner;
    const enum status bound = oracle_bind(&direct, planner, &plan_case->bound, all, plan_case->id, &inner);
    if (bound && all)
        return err_set(err, bound, "%s", inner.text);
    const bool cheap = !bound && oracle_cost(direct) <= SAMPLED_COST_LIMIT;
    if (!bound && (direct->every || cheap)) {
        plan_case->verify = direct->every ? VERIFY_ORACLE : VERIFY_SAMPLED;
        plan_case->oracle = direct;
        return STATUS_OK;
    }
    const struct variant *variant = NULL;
    enum status status = find_variant(&variant, planner, &plan_case->bound, plan_case->id, err);
    if (status)
        return status;
    /* check.params may be compiled in, and the variant then as large as the case: samples are the cheaper proof. */
    if (!bound && oracle_cost(direct) < oracle_cost(variant->oracle)) {
        plan_case->verify = VERIFY_SAMPLED;
        plan_case->oracle = direct;
        return STATUS_OK;
    }
    plan_case->verify = VERIFY_VARIANT;
    plan_case->variant = variant->bound;
    plan_case->oracle = variant->oracle;
    return STATUS_OK;
}

enum status verify_choose(struct planner *planner, struct plan_case *plan_case, struct err *err)
{
    const struct manifest_check *check = &plan_case->bound.manifest->check;
    plan_case->verify = check->expect_count ? VERIFY_EXPECT : VERIFY_NONE;
    return check->oracle.kernel ? choose_oracle(planner, plan_case, err) : STATUS_OK;
}
