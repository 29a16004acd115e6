/* SPDX-License-Identifier: MIT
 *
 * Resolves the reference of a case: another kernel, on the CPU device, that computes some or all elements of one output
 * in f64.
 */
#include <string.h>

#include "plan_internal.h"
#include "rooftile/hash.h"

/* What every reference's manifest has besides the buffers that take ours (manifest.h). */
#define INDEX_BUFFER "index"
#define RESULT_BUFFER "result"
#define SAMPLES_PARAM "samples"

static int find_buffer(const struct resolved *resolved, const char *name)
{
    for (size_t k = 0; k < resolved->buffer_count; k++)
        if (strcmp(resolved->buffers[k].spec->name, name) == 0)
            return (int)k;
    return -1;
}

/* Parameters of the same name are passed on, the manifest's own words override, the number of samples is ours. */
static enum status reference_values(struct param_value **out, struct planner *planner, const struct manifest *reference,
                                    const struct resolved *ours, uint64_t samples, struct err *err)
{
    const struct reference_spec *spec = &ours->manifest->check.reference;
    struct param_value *values = arena_array(planner->arena, reference->param_count, sizeof(*values));
    values_of_device(values, reference, &planner->cpu);
    for (size_t k = 0; k < reference->param_count; k++) {
        const int same = manifest_param(ours->manifest, reference->params[k].name);
        if (same >= 0 && !reference->params[k].implied) /* how ours is compiled is not how the CPU is */
            values[k] = ours->values[same];
    }
    for (size_t k = 0; k < spec->param_count; k++) {
        size_t param = 0;
        enum status status = param_find(&param, reference, spec->params[k].name, err);
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
    const int count = manifest_param(reference, SAMPLES_PARAM);
    if (count < 0)
        return err_set(err, ERR_CONFIG, "it has no parameter '%s'", SAMPLES_PARAM);
    values[count] = (struct param_value){.kind = PARAM_NUMBER, .number = (double)samples};
    for (size_t k = 0; k < reference->param_count; k++) {
        enum status status = value_fit(&values[k], &reference->params[k], planner->arena, err);
        if (status)
            return status;
    }
    *out = values;
    return STATUS_OK;
}

static enum status check_own(int *buffer, const struct plan_reference *reference, const char *name, enum dtype dtype,
                             struct err *err)
{
    *buffer = find_buffer(&reference->resolved, name);
    if (*buffer < 0)
        return err_set(err, ERR_CONFIG, "it has no buffer '%s'", name);
    const struct resolved_buffer *found = &reference->resolved.buffers[*buffer];
    if (found->dtype != dtype || found->count != reference->samples)
        return err_set(err, ERR_CONFIG, "its buffer '%s' must be %s[%s]", name, dtype_name(dtype), SAMPLES_PARAM);
    return STATUS_OK;
}

/* Our buffer whose contents theirs takes, or -1. */
static int source_of(const struct resolved *ours, const char *theirs)
{
    const struct reference_spec *spec = &ours->manifest->check.reference;
    for (size_t k = 0; k < spec->map_count; k++)
        if (strcmp(spec->map[k].theirs, theirs) == 0)
            return spec->map[k].ours;
    return find_buffer(ours, theirs);
}

static enum status map_buffers(struct plan_reference *reference, const struct resolved *ours, struct arena *arena,
                               struct err *err)
{
    enum status status = check_own(&reference->index_buffer, reference, INDEX_BUFFER, DTYPE_U64, err);
    if (!status)
        status = check_own(&reference->result_buffer, reference, RESULT_BUFFER, DTYPE_F64, err);
    if (status)
        return status;
    int *source = arena_array(arena, reference->resolved.buffer_count, sizeof(*source));
    for (size_t k = 0; k < reference->resolved.buffer_count; k++) {
        const struct resolved_buffer *theirs = &reference->resolved.buffers[k];
        const bool own = (int)k == reference->index_buffer || (int)k == reference->result_buffer;
        source[k] = own ? -1 : source_of(ours, theirs->spec->name);
        if (own || (source[k] < 0 && theirs->spec->role == ROLE_TEMP))
            continue;
        if (source[k] < 0)
            return err_set(err, ERR_CONFIG, "no buffer of '%s' gives its buffer '%s' the contents",
                           ours->manifest->name, theirs->spec->name);
        const struct resolved_buffer *from = &ours->buffers[source[k]];
        if (from->dtype != theirs->dtype || from->count < theirs->count)
            return err_set(err, ERR_CONFIG, "its buffer '%s' is %s[%.15g], but '%s' of '%s' is %s[%.15g]",
                           theirs->spec->name, dtype_name(theirs->dtype), (double)theirs->count, from->spec->name,
                           ours->manifest->name, dtype_name(from->dtype), (double)from->count);
    }
    reference->source = source;
    return STATUS_OK;
}

static enum status tolerance(double *value, const struct expr *expr, const struct resolved *ours, struct err *err)
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

static enum status resolve_all(struct plan_reference *reference, struct planner *planner,
                               const struct manifest *manifest, const struct resolved *ours, const char *id,
                               struct err *err)
{
    const struct reference_spec *spec = &ours->manifest->check.reference;
    struct param_value *values = NULL;
    enum status status = reference_values(&values, planner, manifest, ours, reference->samples, err);
    if (status)
        return status;
    double *slots = arena_array(planner->arena, manifest_slot_count(manifest), sizeof(*slots));
    manifest_slots(slots, manifest, values, &planner->cpu, 0);
    status = resolve_slots(&reference->resolved, manifest, values, slots, &planner->cpu, planner->arena, err);
    if (!status)
        status = codes_add(planner, &reference->resolved, true, id, err);
    if (!status)
        status = map_buffers(reference, ours, planner->arena, err);
    if (!status)
        status = tolerance(&reference->abs, spec->abs, ours, err);
    if (!status)
        status = tolerance(&reference->rel, spec->rel, ours, err);
    return status;
}

enum status reference_resolve(const struct plan_reference **reference, struct planner *planner,
                              const struct resolved *ours, bool every, const char *id, struct err *err)
{
    const struct reference_spec *spec = &ours->manifest->check.reference;
    const uint64_t count = ours->buffers[spec->output].count;
    const struct manifest *manifest = NULL;
    struct plan_reference *made = arena_alloc(planner->arena, sizeof(*made));
    made->output = spec->output;
    made->every = every || count <= spec->samples;
    made->samples = made->every ? count : spec->samples;
    enum status status = catalog_get(&manifest, planner->catalog, spec->kernel, err);
    if (!status)
        status = resolve_all(made, planner, manifest, ours, id, err);
    if (!status) {
        *reference = made;
        return STATUS_OK;
    }
    const struct json *at = json_member(json_member(ours->manifest->at, "check"), "reference");
    struct err inner = *err;
    if (at)
        json_fail(at, err, "reference '%s': %s", spec->kernel, inner.text);
    else
        err_set(err, ERR_CONFIG, "reference '%s': %s", spec->kernel, inner.text);
    err->status = status;
    return status;
}

double reference_cost(const struct plan_reference *reference)
{
    const struct work *work = &reference->resolved.work;
    return work->flops + work->read_bytes + work->write_bytes;
}

/* ---- how a case is verified ---- */

/* Operations and bytes of a reference at the measured size: about two seconds on one core. Beyond it the same code is
 * verified at check.params instead. */
#define SAMPLED_COST_LIMIT 2e9

const char *verify_method_name(enum verify_method method)
{
    static const char *const names[] = {
        [VERIFY_NONE] = "none",       [VERIFY_EXPECT] = "expect",   [VERIFY_REFERENCE] = "reference",
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
    const struct resolved *resolved = query->variants->items[index].resolved;
    return resolved->manifest == query->manifest &&
           values_equal(resolved->values, query->values, query->manifest->param_count);
}

/* check.params without those that are compiled into the code: the variant must be the very code that is measured. */
static struct param_value *variant_values(struct planner *planner, const struct resolved *resolved)
{
    const struct manifest *manifest = resolved->manifest;
    const bool *compiled = codes_compiled(planner, manifest);
    struct param_value *values =
        arena_copy(planner->arena, resolved->values, manifest->param_count * sizeof(*resolved->values));
    for (size_t k = 0; k < manifest->check.param_count; k++) {
        const int param = manifest_param(manifest, manifest->check.params[k].name);
        if (param >= 0 && !compiled[param])
            values[param] = manifest->check.params[k].value;
    }
    return values;
}

static enum status make_variant(struct variant *variant, struct planner *planner, const struct resolved *measured,
                                const struct param_value *values, const char *id, struct err *err)
{
    const struct manifest *manifest = measured->manifest;
    struct resolved *resolved = arena_alloc(planner->arena, sizeof(*resolved));
    double *slots = arena_array(planner->arena, manifest_slot_count(manifest), sizeof(*slots));
    manifest_slots(slots, manifest, values, planner->device, 0);
    enum status status = resolve_slots(resolved, manifest, values, slots, planner->device, planner->arena, err);
    if (status)
        return err_within(err, "at check.params");
    status = codes_add(planner, resolved, false, id, err); /* the measured ones: no value differs that is compiled */
    if (!status)
        status = reference_resolve(&variant->reference, planner, resolved, true, id, err);
    if (status)
        return status;
    variant->resolved = resolved;
    return STATUS_OK;
}

/* Many measured sizes share one variant. */
static enum status find_variant(const struct variant **found, struct planner *planner, const struct resolved *measured,
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

static enum status choose_reference(struct planner *planner, struct plan_case *plan_case, struct err *err)
{
    const bool all = planner->options->at_check_params;
    const struct plan_reference *direct = NULL;
    struct err inner;
    const enum status resolved = reference_resolve(&direct, planner, &plan_case->resolved, all, plan_case->id, &inner);
    if (resolved && all)
        return err_set(err, resolved, "%s", inner.text);
    const bool cheap = !resolved && reference_cost(direct) <= SAMPLED_COST_LIMIT;
    if (!resolved && (direct->every || cheap)) {
        plan_case->verify = direct->every ? VERIFY_REFERENCE : VERIFY_SAMPLED;
        plan_case->reference = direct;
        return STATUS_OK;
    }
    const struct variant *variant = NULL;
    enum status status = find_variant(&variant, planner, &plan_case->resolved, plan_case->id, err);
    if (status)
        return status;
    /* check.params may be compiled in, and the variant then as large as the case: samples are the cheaper proof. */
    if (!resolved && reference_cost(direct) < reference_cost(variant->reference)) {
        plan_case->verify = VERIFY_SAMPLED;
        plan_case->reference = direct;
        return STATUS_OK;
    }
    plan_case->verify = VERIFY_VARIANT;
    plan_case->variant = variant->resolved;
    plan_case->reference = variant->reference;
    return STATUS_OK;
}

enum status verify_choose(struct planner *planner, struct plan_case *plan_case, struct err *err)
{
    const struct manifest_check *check = &plan_case->resolved.manifest->check;
    plan_case->verify = check->expect_count ? VERIFY_EXPECT : VERIFY_NONE;
    return check->reference.kernel ? choose_reference(planner, plan_case, err) : STATUS_OK;
}
