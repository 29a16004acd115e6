/* SPDX-License-Identifier: MIT
 *
 * Resolves the reference of a case: another kernel that runs on the CPU device and computes some or all elements of one
 * output in f64.
 */

#include "plan_internal.h"
#include "rooftile/launch_fit.h"

/* The buffer that every reference's manifest has in addition to those that receive our buffers (manifest.h). */
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

/* Sets the reference's parameters: equal names are passed on, the manifest's own values override them, and we choose
 * the number of samples. */
static enum status reference_values(struct param_value **out, struct planner *planner, const struct manifest *reference,
                                    const struct resolved *ours, uint64_t samples, struct arena *arena, struct err *err)
{
    const struct reference_spec *spec = &ours->manifest->check.reference;
    struct param_value *values = arena_array(arena, reference->param_count, sizeof(*values));
    const double *slots = resolved_slots(ours, &planner->once);
    enum status status = plan_device_values(values, reference, planner->cpu, err);
    for (size_t k = 0; k < reference->param_count && !status; k++) {
        const int same = manifest_param(ours->manifest, reference->params[k].name);
        if (same >= 0 && !reference->params[k].implied) /* our compile modes do not apply to the CPU */
            values[k] = ours->values[same];
    }
    for (size_t k = 0; k < spec->param_count && !status; k++) {
        size_t param = 0;
        char *text = NULL;
        status = param_find(&param, reference, spec->params[k].name, err);
        if (!status && spec->templates[k])
            status =
                template_render(&text, spec->templates[k], ours->manifest, ours->values, slots, &planner->once, err);
        if (!status)
            values[param] = text ? param_from_text(arena, text) : spec->params[k].value;
    }
    if (status)
        return status;
    const int count = manifest_param(reference, SAMPLES_PARAM);
    if (count < 0)
        return err_set(err, ERR_CONFIG, "it has no parameter '%s'", SAMPLES_PARAM);
    values[count] = (struct param_value){.kind = PARAM_NUMBER, .number = (double)samples};
    for (size_t k = 0; k < reference->param_count && !status; k++)
        status = value_fit(&values[k], &reference->params[k], arena, err);
    if (!status)
        *out = values;
    return status;
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

/* Returns the index of our buffer whose contents the reference's buffer receives, or -1. */
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
    if (check_own(&reference->index_buffer, reference, INDEX_BUFFER, DTYPE_U64, err) ||
        check_own(&reference->result_buffer, reference, RESULT_BUFFER, DTYPE_F64, err))
        return err->status;
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

static enum status tolerance(double *value, const struct expr *expr, bool relative, const double *slots,
                             struct err *err)
{
    *value = 0;
    if (!expr)
        return STATUS_OK;
    enum status status = expr_eval(value, expr, slots, err);
    if (status)
        return err_within(err, "tolerance '%s'", expr_source(expr));
    if (*value < 0)
        return err_set(err, ERR_CONFIG, "tolerance '%s' is %g", expr_source(expr), *value);
    if (relative && *value >= 1)
        return err_set(err, ERR_CONFIG, "tolerance '%s' is %g, which accepts anything: it must be below 1",
                       expr_source(expr), *value);
    return STATUS_OK;
}

/* Resolves the manifest with these values, and the codes of its launches. */
static enum status resolve_with_codes(struct resolved *resolved, struct planner *planner,
                                      const struct manifest *manifest, const struct param_value *values, bool for_cpu,
                                      const char *id, struct arena *arena, struct err *err)
{
    const struct device_facts *device = for_cpu ? planner->cpu : planner->device;
    enum status status = resolve_manifest(resolved, manifest, values, device, arena, &planner->once, err);
    return status ? status : codes_add(planner, resolved, for_cpu, id, NULL, err);
}

enum status plan_reference_open(struct resolved *resolved, const struct plan_reference *reference, struct arena *arena,
                                struct err *err)
{
    const struct resolved *kept = &reference->resolved;
    SCOPED(arena_release) struct arena scratch = {0};
    struct resolved made = *kept;
    enum status status = STATUS_OK;
    if (!kept->buffers) {
        status = resolve_manifest(&made, kept->manifest, kept->values, kept->device, arena, &scratch, err);
        for (struct launch_walk walk = {.resolved = &made}; launch_next(&walk);)
            walk.launch->code = kept->code;
        made.code = kept->code;
        made.codes = kept->codes;
        made.code_count = kept->code_count;
    }
    if (!status)
        *resolved = made;
    return status;
}

static enum status resolve_all(struct plan_reference *reference, struct planner *planner, const struct resolved *ours,
                               const char *id, struct err *err)
{
    const struct reference_spec *spec = &ours->manifest->check.reference;
    const struct manifest *manifest = NULL;
    struct param_value *values = NULL;
    const double *slots = resolved_slots(ours, &planner->once);
    if (catalog_get(&manifest, planner->catalog, spec->kernel, err) ||
        reference_values(&values, planner, manifest, ours, reference->samples, planner->arena, err) ||
        resolve_with_codes(&reference->resolved, planner, manifest, values, true, id, &planner->once, err) ||
        map_buffers(reference, ours, planner->arena, err) || tolerance(&reference->abs, spec->abs, false, slots, err) ||
        tolerance(&reference->rel, spec->rel, true, slots, err))
        return err->status;
    /* plan_reference_open resolves the steps again, and only the planner knows which launch uses which of several
     * codes. */
    struct resolved *resolved = &reference->resolved;
    if (resolved->code_count > 1)
        return resolve_with_codes(resolved, planner, manifest, resolved->values, true, id, planner->arena, err);
    resolved->buffers = NULL;
    resolved->steps = resolved->setup = NULL;
    resolved->buffer_count = resolved->step_count = resolved->setup_count = 0;
    return STATUS_OK;
}

/* Resolves the manifest's reference for `ours`, for the given number of output elements, or for all of them. */
static enum status reference_resolve(const struct plan_reference **reference, struct planner *planner,
                                     const struct resolved *ours, uint64_t samples, const char *id, struct err *err)
{
    const struct reference_spec *spec = &ours->manifest->check.reference;
    const uint64_t count = ours->buffers[spec->output].count;
    struct plan_reference *made = arena_alloc(planner->arena, sizeof(*made));
    made->output = spec->output;
    made->every = count <= samples;
    made->samples = made->every ? count : samples;
    enum status status = resolve_all(made, planner, ours, id, err);
    if (!status) {
        *reference = made;
        return STATUS_OK;
    }
    const cJSON *at = json_member(json_member(ours->manifest->at, "check"), "reference");
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

/* Returns the cost of a reference without resolving it, which would allocate permanent memory. NaN: there is none. */
static double reference_cost_ahead(struct planner *planner, const struct resolved *ours, uint64_t samples)
{
    const uint64_t count = ours->buffers[ours->manifest->check.reference.output].count;
    const struct manifest *manifest = NULL;
    struct param_value *values = NULL;
    struct err err;
    if (catalog_get(&manifest, planner->catalog, ours->manifest->check.reference.kernel, &err) ||
        reference_values(&values, planner, manifest, ours, samples < count ? samples : count, &planner->once, &err))
        return NAN;
    const struct resolved reference = {.manifest = manifest, .values = values, .device = planner->cpu};
    const double *slots = resolved_slots(&reference, &planner->once);
    const struct expr *const parts[] = {manifest->flops, manifest->read_bytes, manifest->write_bytes};
    double cost = 0, part = 0;
    for (size_t k = 0; k < sizeof(parts) / sizeof(*parts); k++) {
        if (parts[k] && expr_eval(&part, parts[k], slots, &err))
            return NAN;
        cost += parts[k] ? part : 0;
    }
    return cost;
}

/* ---- how a case is verified ---- */

/* Operations and bytes of a reference at the measured size: about two seconds on one core. Above this limit the same
 * code is verified at check.params, and the measured size is only sampled. */
#define SAMPLED_COST_LIMIT 2e9
/* The limit for those samples, and for more samples than the manifest requests: a tenth of a second. */
#define MORE_COST_LIMIT 1e8
/* With this many samples per workgroup, no workgroup is missed (choose_elements in run/verify.c). */
#define SAMPLES_PER_GROUP 4
#define MOST_SAMPLES (1u << 18)

const char *const verify_method_names[] = {
    [VERIFY_NONE] = "none",       [VERIFY_EXPECT] = "expect",   [VERIFY_REFERENCE] = "reference",
    [VERIFY_SAMPLED] = "sampled", [VERIFY_VARIANT] = "variant",
};

/* Returns the value from check.params, unless it is compiled into the code: the variant must use exactly the measured
 * code. */
static const struct param_value *variant_value(struct planner *planner, const struct resolved *measured, size_t param)
{
    const struct manifest *manifest = measured->manifest;
    const struct manifest_check *check = &manifest->check;
    const bool compiled = kernel_of(planner, manifest)->compiled[param];
    for (size_t k = check->param_count; k-- > 0 && !compiled;)
        if (!strcmp(check->params[k].name, manifest->params[param].name))
            return &check->params[k].value;
    return &measured->values[param];
}

static enum status make_variant(struct variant *variant, struct planner *planner, const struct resolved *measured,
                                const char *id, struct err *err)
{
    const struct manifest *manifest = measured->manifest;
    struct resolved *resolved = arena_alloc(planner->arena, sizeof(*resolved));
    struct param_value *values = arena_array(planner->arena, manifest->param_count, sizeof(*values));
    for (size_t k = 0; k < manifest->param_count; k++)
        values[k] = *variant_value(planner, measured, k);
    /* The codes are the measured ones, because no compiled-in value differs. */
    enum status status = resolve_with_codes(resolved, planner, manifest, values, false, id, planner->arena, err);
    if (status)
        return err_within(err, "at check.params");
    variant->resolved = resolved;
    return reference_resolve(&variant->reference, planner, resolved, UINT64_MAX, id, err);
}

/* Many measured sizes share one variant. */
static enum status find_variant(const struct variant **found, struct planner *planner, const struct resolved *measured,
                                const char *id, struct err *err)
{
    struct text *key = &planner->key;
    text_clear(key);
    text_addn(key, (const char *)&measured->manifest, sizeof(measured->manifest));
    for (size_t k = 0; k < measured->manifest->param_count; k++)
        key_add_value(key, variant_value(planner, measured, k));
    size_t index = index_find(&planner->variant_keys, key->data, key->length);
    if (index == INDEX_NONE) {
        const size_t length = key->length;
        const char *kept = arena_copy(&planner->scratch, key->data, length);
        struct variant made = {0};
        if (make_variant(&made, planner, measured, id, err))
            return err->status;
        index = index_add(&planner->variant_keys, kept, length);
        planner->variants = arena_grow(&planner->scratch, planner->variants, index, sizeof(*planner->variants));
        planner->variants[index] = made;
    }
    *found = &planner->variants[index];
    return STATUS_OK;
}

/* The number of elements to request from a reference, and their cost (NaN: unknown). */
struct sampling_plan {
    uint64_t samples;
    double cost;
};

/* Chooses enough samples to cover all workgroups if they are cheap, otherwise fewer, but never fewer than the manifest
 * requests. */
static struct sampling_plan plan_samples(struct planner *planner, const struct resolved *ours)
{
    const double groups = SAMPLES_PER_GROUP * launch_workgroups(ours);
    const double wanted = groups < MOST_SAMPLES ? groups : MOST_SAMPLES;
    const uint64_t least = ours->manifest->check.reference.samples;
    uint64_t samples = wanted > (double)least ? (uint64_t)wanted : least;
    double cost = reference_cost_ahead(planner, ours, samples);
    if (samples > least && cost > MORE_COST_LIMIT) {
        const double within = (double)samples * MORE_COST_LIMIT / cost;
        samples = within > (double)least ? (uint64_t)within : least;
        cost = reference_cost_ahead(planner, ours, samples);
    }
    return (struct sampling_plan){samples, cost};
}

static enum status choose_reference(struct planner *planner, struct plan_case *plan_case, struct err *err)
{
    const struct resolved *ours = &plan_case->resolved;
    const bool all = planner->options->at_check_params;
    const struct sampling_plan sampling = all ? (struct sampling_plan){UINT64_MAX, 0} : plan_samples(planner, ours);
    const bool every = sampling.samples >= ours->buffers[ours->manifest->check.reference.output].count;
    const bool costly = !every && sampling.cost > SAMPLED_COST_LIMIT;
    const struct variant *variant = NULL;
    enum status status = ERR_CONFIG;
    if (!costly)
        status = reference_resolve(&plan_case->reference, planner, ours, sampling.samples, plan_case->id, err);
    if (!status)
        plan_case->verify = every ? VERIFY_REFERENCE : VERIFY_SAMPLED;
    if (!status || all)
        return status;
    const char *why =
        costly ? "at the measured size one element costs too much" : arena_strdup(planner->arena, err->text);
    if (find_variant(&variant, planner, ours, plan_case->id, err))
        return err->status;
    /* check.params may be compiled in, which makes the variant as large as the case; samples are then the cheaper
     * check. */
    if (costly && sampling.cost < reference_cost(variant->reference) &&
        !reference_resolve(&plan_case->reference, planner, ours, sampling.samples, plan_case->id, &(struct err){0})) {
        plan_case->verify = VERIFY_SAMPLED;
        return STATUS_OK;
    }
    plan_case->verify = VERIFY_VARIANT;
    plan_case->variant = variant->resolved;
    plan_case->reference = variant->reference;
    plan_case->spot_why = why;
    if (!costly)
        return STATUS_OK;
    /* With a variant, the measured size gets as many samples as the cost limit allows, possibly none. */
    const double within = (double)sampling.samples * MORE_COST_LIMIT / sampling.cost;
    if (within >= 1 && reference_cost_ahead(planner, ours, (uint64_t)within) <= 2 * MORE_COST_LIMIT &&
        reference_resolve(&plan_case->spot, planner, ours, (uint64_t)within, plan_case->id, err))
        plan_case->spot_why = arena_strdup(planner->arena, err->text);
    return STATUS_OK;
}

enum status verify_choose(struct planner *planner, struct plan_case *plan_case, struct err *err)
{
    const struct manifest_check *check = &plan_case->resolved.manifest->check;
    plan_case->verify = check->expect_count ? VERIFY_EXPECT : VERIFY_NONE;
    return check->reference.kernel ? choose_reference(planner, plan_case, err) : STATUS_OK;
}
