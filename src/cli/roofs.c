/* SPDX-License-Identifier: MIT */
#include "roofs.h"

#include <string.h>

bool roofs_case_from_id(struct suite_case *out, const char *id, struct arena *arena)
{
    const char *slash = strchr(id, '/');
    if (!slash || slash == id)
        return false;
    size_t most = 1;
    for (const char *c = slash; *c; c++)
        most += *c == ';';
    struct param *params = arena_array(arena, most, sizeof(*params));
    size_t count = 0;
    for (const char *at = slash + 1; *at;) {
        const size_t length = strcspn(at, ";");
        const char *equals = memchr(at, '=', length);
        if (!equals)
            return false;
        const char *name = arena_strndup(arena, at, (size_t)(equals - at));
        const char *value = arena_strndup(arena, equals + 1, length - (size_t)(equals + 1 - at));
        if (strcmp(name, "mode") && strcmp(name, "timer"))
            params[count++] = (struct param){.name = name, .value = param_from_text(arena, value)};
        at += length + (at[length] == ';');
    }
    out->kernel = arena_strndup(arena, id, (size_t)(slash - id));
    out->params = params;
    out->param_count = count;
    return true;
}

static void add_roof(struct roofs *roofs, struct suite_case *cases, const struct ceiling *ceiling, bool is_level,
                     uint32_t index, struct session *session)
{
    struct suite_case *suite_case = &cases[roofs->count];
    if (ceiling->measured <= 0 || !roofs_case_from_id(suite_case, ceiling->measured_by, session->arena))
        return;
    measure_defaults(&suite_case->measure);
    measure_quick(&suite_case->measure);
    roofs->roofs[roofs->count++] = (struct run_roof){.is_level = is_level, .index = index};
}

static enum status prepare_roofs(struct roofs *roofs, struct session *session, const volatile int *stop, struct err *err)
{
    const struct machine *machine = &session->machine;
    const size_t most = machine->level_count + machine->unit_count + 1;
    struct suite_case *cases = arena_array(session->arena, most, sizeof(*cases));
    roofs->roofs = arena_array(session->arena, most, sizeof(*roofs->roofs));
    for (uint32_t k = 0; k < machine->level_count; k++)
        add_roof(roofs, cases, &machine->levels[k].bandwidth, true, k, session);
    for (uint32_t k = 0; k < machine->unit_count; k++)
        add_roof(roofs, cases, &machine->units[k].peak, false, k, session);
    if (!roofs->count)
        return STATUS_OK;
    struct suite *suite = arena_alloc(session->arena, sizeof(*suite));
    *suite = (struct suite){.name = "roofs", .summary = "", .path = "", .cases = cases, .case_count = roofs->count};
    enum status status = session_plan_suite(&roofs->plan, session, suite, err);
    if (!status)
        status = session_build_plan(&roofs->builds, session, roofs->plan, stop, err);
    for (size_t k = 0; k < roofs->count && !status; k++)
        roofs->roofs[k].probe = &roofs->plan->cases[k];
    return status;
}

enum status roofs_prepare(struct roofs *roofs, struct session *session, const volatile int *stop, struct err *err)
{
    const char *const kernels[] = {"launch_empty"};
    struct measure_options measure;
    const struct suite *suite = NULL;
    measure_defaults(&measure);
    if (catalog_find(&session->catalog, kernels[0])) {
        enum status status = suite_from_kernels(&suite, kernels, 1, &measure, session->arena, err);
        if (!status)
            status = session_plan_suite(&roofs->null_plan, session, suite, err);
        if (!status)
            status = session_build_plan(&roofs->null_builds, session, roofs->null_plan, stop, err);
        if (status)
            return status;
    }
    if (session->info.predicted)
        return STATUS_OK;
    struct err why = {0};
    enum status status = prepare_roofs(roofs, session, stop, &why);
    if (status == ERR_INTERRUPTED) {
        *err = why;
        return status;
    }
    if (status) { /* a kernel that measured a roof is gone: the roof stands, it only cannot be measured again */
        log_verbose("measured roofs cannot be measured again: %s", why.text);
        roofs->count = 0;
    }
    return STATUS_OK;
}

void roofs_apply(struct run_options *options, const struct roofs *roofs)
{
    options->roof_plan = roofs->plan;
    options->roof_builds = roofs->builds;
    options->roofs = roofs->roofs;
    options->roof_count = roofs->count;
    if (roofs->null_plan && roofs->null_plan->cases[0].state == PLAN_READY) {
        options->null_case = &roofs->null_plan->cases[0];
        options->null_builds = roofs->null_builds;
    }
}
