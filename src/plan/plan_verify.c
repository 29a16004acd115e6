/* SPDX-License-Identifier: MIT */
#include "plan_internal.h"
#include "rooftile/hash.h"

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
