/* SPDX-License-Identifier: MIT */
#include "roofs.h"

#include <string.h>

static void set_mode(struct measure_options *measure, const char *name)
{
    for (enum cache_mode mode = CACHE_HOT; mode <= CACHE_ROTATE; mode++)
        if (!strcmp(name, cache_mode_name(mode)))
            measure->cache = mode;
}

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
    measure_defaults(&out->measure);
    measure_quick(&out->measure);
    for (const char *at = slash + 1; *at;) {
        const size_t length = strcspn(at, ";");
        const char *equals = memchr(at, '=', length);
        if (!equals)
            return false;
        const char *name = arena_strndup(arena, at, (size_t)(equals - at));
        const char *value = arena_strndup(arena, equals + 1, length - (size_t)(equals + 1 - at));
        if (!strcmp(name, "mode"))
            set_mode(&out->measure, value);
        else if (strcmp(name, "timer"))
            params[count++] = (struct param){.name = name, .value = param_from_text(arena, value)};
        at += length + (at[length] == ';');
    }
    out->kernel = arena_strndup(arena, id, (size_t)(slash - id));
    out->params = params;
    out->param_count = count;
    return true;
}

/* The case that measured the roof, planned and built again. When it is gone the roof stands: it only cannot be measured
 * again. */
static enum status add_roof(struct roofs *roofs, const struct ceiling *ceiling, struct run_roof roof,
                            struct session *session, const volatile int *stop, struct err *err)
{
    struct suite_case suite_case = {0};
    const struct plan *plan = NULL;
    struct build_result *builds = NULL;
    struct err why = {0};
    if (ceiling->measured <= 0)
        return STATUS_OK;
    if (!roofs_case_from_id(&suite_case, ceiling->measured_by, session->arena)) {
        log_verbose("a roof cannot be measured again: '%s' is no case", ceiling->measured_by);
        return STATUS_OK;
    }
    struct suite *suite = arena_alloc(session->arena, sizeof(*suite));
    *suite = (struct suite){.name = "roofs", .summary = "", .path = "", .case_count = 1};
    suite->cases = arena_copy(session->arena, &suite_case, sizeof(suite_case));
    enum status status = session_plan_suite(&plan, session, suite, &why);
    if (!status)
        status = session_build_plan(&builds, session, plan, stop, &why);
    if (status == ERR_INTERRUPTED) {
        *err = why;
        return status;
    }
    if (status || plan->cases[0].state != PLAN_READY) {
        log_verbose("a roof cannot be measured again: %s", status ? why.text : plan->cases[0].reason);
        return STATUS_OK;
    }
    roof.probe = &plan->cases[0];
    roof.builds = builds;
    roofs->roofs[roofs->count++] = roof;
    return STATUS_OK;
}

static enum status prepare_roofs(struct roofs *roofs, struct session *session, const volatile int *stop,
                                 struct err *err)
{
    const struct machine *machine = &session->machine;
    enum status status = STATUS_OK;
    roofs->roofs = arena_array(session->arena, machine->level_count + machine->unit_count + 1, sizeof(*roofs->roofs));
    for (uint32_t k = 0; k < machine->level_count && !status; k++)
        status = add_roof(roofs, &machine->levels[k].bandwidth, (struct run_roof){.is_level = true, .index = k},
                          session, stop, err);
    for (uint32_t k = 0; k < machine->unit_count && !status; k++)
        status = add_roof(roofs, &machine->units[k].peak, (struct run_roof){.index = k}, session, stop, err);
    return status;
}

enum status roofs_prepare(struct roofs *roofs, struct session *session, const volatile int *stop, struct err *err)
{
    enum status status = services_prepare(roofs->services, session, stop, err);
    return status || session->info.predicted ? status : prepare_roofs(roofs, session, stop, err);
}

void roofs_apply(struct run_options *options, const struct roofs *roofs)
{
    options->roofs = roofs->roofs;
    options->roof_count = roofs->count;
    services_apply(options->services, roofs->services);
}
