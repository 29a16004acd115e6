/* SPDX-License-Identifier: MIT
 *
 * Makes the suite that measures an import: one case for each kernel and shape, with the number of calls as its weight.
 */

#include "rooftile/import.h"
#include "rooftile/json.h"

/* Operators of one shape under several names form one case: calls add up, and the traced time is their mean weighted by
 * calls. */
struct measured {
    const char *kernel, *params, *exclude;
    double weight, traced_ns, timed_calls;
    const char **tags;
    size_t tag_count;
};

struct suite_cases {
    struct arena arena;
    struct measured *items;
    size_t count;
};

static void add_case(struct suite_cases *cases, const struct import_row *row, size_t rank, const char *kernel,
                     const char *params, const char *exclude)
{
    struct measured *found = NULL;
    for (size_t k = 0; k < cases->count && !found; k++)
        if (!strcmp(cases->items[k].kernel, kernel) && !strcmp(cases->items[k].params, params) &&
            !strcmp(cases->items[k].exclude, exclude))
            found = &cases->items[k];
    if (!found) {
        ARENA_PUSH(&cases->arena, cases->items, cases->count,
                   (struct measured){.kernel = kernel, .params = params, .exclude = exclude});
        found = &cases->items[cases->count - 1];
        if (kernel == row->library || kernel == row->cpu_library)
            ARENA_PUSH(&cases->arena, found->tags, found->tag_count, "library");
    }
    found->weight += row->calls;
    if (row->median_ns > 0) {
        found->traced_ns =
            (found->traced_ns * found->timed_calls + row->median_ns * row->calls) / (found->timed_calls + row->calls);
        found->timed_calls += row->calls;
    }
    ARENA_PUSH(&cases->arena, found->tags, found->tag_count, arena_printf(&cases->arena, "row%zu", rank));
}

static void add_row(struct suite_cases *cases, const struct import_row *row, size_t rank)
{
    const char *exclude = "";
    if (*row->cpu_kernel)
        exclude = "device.cpu";
    else if (*row->cpu_exclude)
        exclude = arena_printf(&cases->arena, "device.cpu && %s", row->cpu_exclude);
    if (*row->kernel && *row->other_params && row->calls > 0) {
        const char *has = row->is_fnuz ? "device.fp8_fnuz" : "device.fp8_ocp";
        const char *on_cpu = exclude[0] ? arena_printf(&cases->arena, "%s || ", exclude) : "";
        add_case(cases, row, rank, row->kernel, row->other_params, arena_printf(&cases->arena, "%s%s", on_cpu, has));
        exclude = arena_printf(&cases->arena, "%s!%s", on_cpu, has);
    }
    if (*row->kernel && row->calls > 0)
        add_case(cases, row, rank, row->kernel, row->params, exclude);
    if (*row->cpu_kernel && row->calls > 0)
        add_case(cases, row, rank, row->cpu_kernel, row->cpu_params,
                 *row->cpu_exclude ? arena_printf(&cases->arena, "!device.cpu || %s", row->cpu_exclude)
                                   : "!device.cpu");
    if (*row->library && row->calls > 0)
        add_case(cases, row, rank, row->library, row->library_params, *row->cpu_library ? "device.host_memory" : "");
    if (*row->cpu_library && row->calls > 0)
        add_case(cases, row, rank, row->cpu_library, row->cpu_params, "!device.host_memory");
}

static void put_case(struct json_out *json, const struct measured *c)
{
    json_out_object(json, NULL);
    json_out_string(json, "kernel", c->kernel);
    json_out_raw(json, "params", c->params);
    if (c->exclude[0])
        json_out_strings(json, "exclude", &c->exclude, 1);
    json_out_strings(json, "tags", c->tags, c->tag_count);
    json_out_number(json, "weight", c->weight);
    if (c->traced_ns > 0)
        json_out_number(json, "traced_ns", c->traced_ns);
    json_out_end(json);
}

static void put_kpi(struct json_out *json)
{
    static const char *const cases[] = {"*", "!gemm_library"};
    json_out_array(json, "kpis");
    json_out_object(json, NULL);
    json_out_string(json, "name", "weighted time");
    json_out_string(json, "method", "weighted_sum");
    json_out_string(json, "of", "time_ns");
    json_out_strings(json, "cases", cases, 2);
    json_out_end(json);
    json_out_end(json);
}

bool import_suite(struct text *out, const struct import *import, const char *name, const char *folder)
{
    static const char *const tags[] = {"imported"};
    struct suite_cases cases = {0};
    for (size_t k = 0; k < import->row_count; k++)
        add_row(&cases, &import->rows[k], k + 1);
    struct json_out *json = json_out_new();
    json_out_string(json, "name", name);
    json_out_string(json, "summary",
                    arena_printf(&cases.arena,
                                 "what %s spent its time on%s%s: weight is calls, traced_ns the median there", name,
                                 import->device[0] ? ", on " : "", import->device));
    if (import->total_ns > 0) {
        json_out_number(json, "traced_ns", import->total_ns);
        if (import->machine)
            json_out_string(json, "traced_on", import->machine);
    }
    if (folder)
        json_out_strings(json, "kernels", &folder, 1);
    json_out_object(json, "defaults");
    json_out_raw(json, "measure",
                 "{\"warmup\": \"20 ms\", \"warmup_max\": \"200 ms\", \"min_time\": \"0.1 s\", \"max_time\": \"2 s\", "
                 "\"min_samples\": 10}");
    json_out_strings(json, "tags", tags, 1);
    json_out_end(json);
    json_out_array(json, "cases");
    for (size_t k = 0; k < cases.count; k++)
        put_case(json, &cases.items[k]);
    json_out_end(json);
    put_kpi(json);
    json_out_finish(json, out, true);
    const bool any = cases.count > 0;
    arena_release(&cases.arena);
    return any;
}
