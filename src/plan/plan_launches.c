/* SPDX-License-Identifier: MIT
 *
 * The code objects of a case: launches with defines of their own need others than the rest.
 */
#include "plan_internal.h"

static size_t count_launches(const struct bound_step *steps, size_t count)
{
    size_t launches = 0;
    for (size_t k = 0; k < count; k++)
        launches += steps[k].kind == STEP_LAUNCH ? 1 : count_launches(steps[k].steps, steps[k].step_count);
    return launches;
}

/* The case whose codes are being found. */
struct search {
    struct planner *planner;
    struct bind bind;
    bool for_cpu;
    const char *id;
    size_t *codes; /* so far, each once */
    size_t count;
};

static enum status search_code(size_t *code, struct search *search, const struct define *defines, size_t define_count)
{
    enum status status =
        codes_find(code, search->planner, &search->bind, defines, define_count, search->for_cpu, search->id);
    if (status)
        return status;
    size_t at = 0;
    while (at < search->count && search->codes[at] != *code)
        at++;
    search->codes[at] = *code;
    search->count += at == search->count;
    return STATUS_OK;
}

static enum status search_steps(struct search *search, struct bound_step *steps, size_t count)
{
    enum status status = STATUS_OK;
    for (size_t k = 0; k < count && !status; k++) {
        struct bound_launch *launch = &steps[k].launch;
        if (steps[k].kind == STEP_LAUNCH)
            status = search_code(&launch->code, search, launch->spec->defines, launch->spec->define_count);
        else
            status = search_steps(search, steps[k].steps, steps[k].step_count);
    }
    return status;
}

enum status codes_add(struct planner *planner, struct bound *bound, bool for_cpu, const char *id, struct err *err)
{
    const struct manifest *manifest = bound->manifest;
    const size_t launches =
        count_launches(bound->steps, bound->step_count) + count_launches(bound->setup, bound->setup_count);
    struct search search = {
        .planner = planner,
        .bind = {bound, manifest, for_cpu ? &planner->cpu : planner->device, planner->arena, err},
        .for_cpu = for_cpu,
        .id = id,
        .codes = arena_array(planner->arena, launches ? launches : 1, sizeof(*search.codes)),
    };
    enum status status = search_steps(&search, bound->steps, bound->step_count);
    if (!status)
        status = search_steps(&search, bound->setup, bound->setup_count);
    if (!status && !launches &&
        (manifest->source || manifest->image || manifest->library)) /* the code is there to be loaded */
        status = search_code(&(size_t){0}, &search, manifest->defines, manifest->define_count);
    if (status)
        return status;
    bound->code = search.codes[0];
    bound->codes = search.codes;
    bound->code_count = search.count;
    return STATUS_OK;
}
