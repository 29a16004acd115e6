/* SPDX-License-Identifier: MIT
 *
 * Suites and --set against the catalog: which kernels are meant, and whether every name given is known to one of them.
 */
#include "plan_internal.h"
#include "rooftile/text.h"

/* Names among which a did-you-mean looks. */
#define MAX_NAMES 256

static enum status find_kernel(const struct manifest **manifest, const struct planner *planner,
                               const struct suite_case *suite_case, struct err *err)
{
    struct err inner;
    const enum status status = catalog_get(manifest, planner->catalog, suite_case->kernel, &inner);
    if (!status)
        return STATUS_OK;
    const struct json *at = json_member(suite_case->at, "kernel");
    return at ? json_fail(at, err, "%s", inner.text) : err_set(err, status, "%s", inner.text);
}

enum status expansions_make(struct expansion **expansions, size_t *count, const struct planner *planner,
                            const struct suite *const *suites, size_t suite_count, const struct set_list *sets,
                            struct arena *scratch, struct err *err)
{
    size_t case_count = 0;
    for (size_t s = 0; s < suite_count; s++)
        case_count += suites[s]->case_count;
    struct expansion *made = arena_array(scratch, case_count, sizeof(*made));
    size_t total = 0;
    size_t at = 0;
    for (size_t s = 0; s < suite_count; s++) {
        for (size_t c = 0; c < suites[s]->case_count; c++) {
            const struct suite_case *suite_case = &suites[s]->cases[c];
            const struct manifest *manifest = NULL;
            enum status status = find_kernel(&manifest, planner, suite_case, err);
            if (!status)
                status = expansion_init(&made[at], suites[s], suite_case, manifest, sets, planner->device,
                                        planner->options->at_check_params, scratch, err);
            if (status)
                return status;
            total += made[at++].combinations;
            if (total > SUITE_MAX_CASES)
                return err_set(err, ERR_USAGE, "the sweeps expand to more than %u cases", SUITE_MAX_CASES);
        }
    }
    *expansions = made;
    *count = case_count;
    return STATUS_OK;
}

/* Fails unless a kernel of `suite` (NULL: a selected kernel of any) has the parameter. */
static enum status check_known(const struct origin *origin, const char *name, const struct suite *suite,
                               const struct expansion *expansions, size_t count, struct err *err)
{
    const char *names[MAX_NAMES] = {NULL};
    size_t name_count = 0;
    for (size_t k = 0; k < count; k++) {
        const struct manifest *manifest = expansions[k].manifest;
        if (suite ? expansions[k].suite != suite : !expansions[k].selected)
            continue;
        if (manifest_param(manifest, name) >= 0)
            return STATUS_OK;
        for (size_t p = 0; p < manifest->param_count && name_count < MAX_NAMES; p++)
            names[name_count++] = manifest->params[p].name;
    }
    const char *near = text_nearest(name, names, name_count);
    struct err inner;
    err_set(&inner, ERR_CONFIG, "no selected kernel has a parameter '%s'%s%s%s", name, near ? "; did you mean '" : "",
            near ? near : "", near ? "'?" : "");
    return origin_fail(origin, err, inner.text);
}

enum status expansions_check_used(const struct expansion *expansions, size_t count, const struct suite *const *suites,
                                  size_t suite_count, const struct set_list *sets, struct err *err)
{
    for (size_t k = 0; k < sets->count; k++) {
        const struct origin origin = {.set = sets->texts[k]};
        enum status status = check_known(&origin, sets->sweeps[k].param, NULL, expansions, count, err);
        if (status)
            return status;
    }
    for (size_t s = 0; s < suite_count; s++) {
        const struct suite_case *first = suites[s]->cases; /* the defaults stand at the start of every case */
        for (size_t k = 0; suites[s]->case_count && k < first->default_count; k++) {
            const struct origin origin = {.at = first->params[k].at};
            enum status status = check_known(&origin, first->params[k].name, suites[s], expansions, count, err);
            if (status)
                return status;
        }
    }
    return STATUS_OK;
}
