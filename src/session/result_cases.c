/* SPDX-License-Identifier: MIT
 *
 * Plans the cases of a result again: on the machine where they were measured, to explain them, or on another one.
 * Parameters that had their device's defaults follow the new device; all others stay.
 */

#include "rooftile/file.h"
#include "rooftile/json.h"
#include "rooftile/log.h"
#include "rooftile/measure.h"

bool result_is_file(const char *word, struct arena *arena)
{
    struct err ignored = {0};
    const cJSON *root = NULL;
    return file_exists(word) && text_ends(word, ".json") && !json_read(&root, word, arena, &ignored) &&
           ((json_member(root, "cases") && json_member(root, "environment")) || json_member(root, "documents"));
}

/* Sets the parameters that differ from the device's defaults. */
static enum status pin(struct suite_case *made, const struct result_case *c, const struct manifest *manifest,
                       const struct device_facts *device, struct arena *arena, struct err *err)
{
    struct param_value *values = arena_array(arena, manifest->param_count + 1, sizeof(*values));
    struct param *params = arena_array(arena, c->param_count + 1, sizeof(*params));
    enum status status = plan_device_values(values, manifest, device, err);
    for (size_t k = 0; k < c->param_count && !status; k++) {
        const struct result_param *given = &c->params[k];
        const int at = manifest_param(manifest, given->name);
        if (at < 0 || strcmp(param_text(arena, &values[at]), param_text(arena, &given->value)))
            params[made->param_count++] = (struct param){.name = given->name, .value = given->value};
    }
    made->params = params;
    return status;
}

static enum status make_suite(const struct suite **suite, const struct result_cases *of, const struct catalog *catalog,
                              struct arena *arena, struct err *err)
{
    struct suite *made = arena_alloc(arena, sizeof(*made));
    struct suite_case *own = arena_array(arena, of->count + 1, sizeof(*own));
    struct device_facts facts = run_device_facts(&of->result->device);
    enum status status = STATUS_OK;
    run_facts_know(&facts, &of->result->device, &of->result->machine, NULL, arena);
    for (size_t k = 0; k < of->count && !status; k++) {
        const struct result_case *c = of->items[k];
        own[k] = (struct suite_case){.kernel = c->kernel, .weight = c->weight, .traced_ns = c->traced_ns};
        measure_defaults(&own[k].measure);
        own[k].measure.cache = c->cache;
        status = pin(&own[k], c, catalog_find(catalog, c->kernel), &facts, arena, err);
    }
    *made = (struct suite){.name = "result", .summary = "", .path = "", .cases = own, .case_count = of->count};
    *suite = made;
    return status;
}

/* Chooses the cases that count, pass --filter and have their kernel here. */
static enum status choose(struct result_cases *of, const struct session *session, const char *path, struct err *err)
{
    const struct cli_options *options = session->options;
    const char *missing = NULL;
    FOR_EACH(const struct result_case, c, of->result->cases, of->result->case_count) {
        const char *const names[] = {c->id, c->kernel, c->label ? c->label : c->id};
        if (!result_case_counts(c) || result_case_is_twin(c) ||
            !text_filtered_any(options->filters, options->filter_count, names, COUNT_OF(names)))
            continue;
        if (!catalog_find(&session->catalog, c->kernel))
            missing = c->kernel;
        else
            ARENA_PUSH(session->arena, of->items, of->count, c);
    }
    if (missing)
        log_warn("W020", "the kernel '%s' is not known here, its cases are skipped: --kernels FOLDER has it", missing);
    return of->count ? STATUS_OK
                     : err_set(err, ERR_USAGE, "%s has no case that was measured%s%s", path,
                               missing ? " and whose kernel is known here" : "",
                               options->filter_count ? " and matches the filter" : "");
}

enum status result_cases(struct result_cases *of, struct session *session, const char *path, struct err *err)
{
    struct arena *arena = session->arena;
    const struct suite **suites = arena_array(arena, 1, sizeof(*suites));
    struct cli_options *options = arena_copy(arena, session->options, sizeof(*options));
    *of = (struct result_cases){0};
    if (argument_result(&of->result, path, true, arena, err))
        return err->status;
    /* Finds the kernels in the kernel folders, or by a manifest in the working folder. */
    for (size_t k = 0; k < of->result->case_count; k++)
        ARENA_PUSH(arena, session->kernels, session->kernel_count, of->result->cases[k].kernel);
    enum status status = session_go(session, SESSION_CATALOG, err);
    session->kernel_count = 0;
    if (status || choose(of, session, path, err) || make_suite(&suites[0], of, &session->catalog, arena, err))
        return err->status;
    options->filter_count = 0; /* the filters applied to the result's cases */
    session->options = options;
    session->suites = suites;
    session->suite_count = 1;
    return STATUS_OK;
}
