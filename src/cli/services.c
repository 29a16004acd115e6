/* SPDX-License-Identifier: MIT */
#include "services.h"

#include <stdio.h>
#include <string.h>

#include "rooftile/units.h"

enum { REREAD_STRIDE = 128 }; /* a line of AMD's L2 */

static double flush_bytes(const struct session *session)
{
    bool known;
    return (double)run_flush_bytes(&known, &session->machine, &session->info);
}

static double reread_bytes(const struct session *session)
{
    return (double)run_reread_bytes(&session->machine, &session->info);
}

static double reread_stride(const struct session *session)
{
    (void)session;
    return REREAD_STRIDE;
}

/* Every slot of the ring once. */
static double reread_steps(const struct session *session)
{
    return reread_bytes(session) / (double)REREAD_STRIDE;
}

static const struct service {
    const char *kernel;
    bool everywhere; /* else only where launches are queued */
    struct {
        const char *name;
        double (*value)(const struct session *session);
    } params[3];
} services_table[SERVICE_COUNT] = {
    [SERVICE_NULL] = {.kernel = "launch_empty", .everywhere = true},
    [SERVICE_BLOCKING] = {.kernel = "service_blocking"},
    [SERVICE_CLOCK] = {.kernel = "service_clock"},
    [SERVICE_FLUSH] = {.kernel = "service_flush", .params = {{"size", flush_bytes}}},
    [SERVICE_REREAD] = {.kernel = "pointer_chase",
                        .params = {{"footprint", reread_bytes}, {"stride", reread_stride}, {"steps", reread_steps}}},
};

bool services_wanted(const struct session *session, enum run_service which)
{
    const struct device_ops *ops = device_backend(session->info.backend);
    return services_table[which].everywhere || (ops && ops->asynchronous);
}

static const struct suite *suite_of(const struct service *service, const struct session *session)
{
    struct suite *suite = arena_alloc(session->arena, sizeof(*suite));
    struct suite_case *only = arena_alloc(session->arena, sizeof(*only));
    struct param *params = arena_array(session->arena, 3, sizeof(*params));
    *only = (struct suite_case){.kernel = service->kernel, .params = params};
    for (size_t k = 0; k < 3 && service->params[k].name; k++)
        params[only->param_count++] =
            (struct param){.name = service->params[k].name,
                           .value = {.kind = PARAM_NUMBER, .number = service->params[k].value(session)}};
    measure_defaults(&only->measure);
    *suite = (struct suite){.name = "services", .summary = "", .path = "", .cases = only, .case_count = 1};
    return suite;
}

enum status services_prepare(struct service_code services[SERVICE_COUNT], struct session *session,
                             const volatile int *stop, struct err *err)
{
    for (int which = 0; which < SERVICE_COUNT; which++) {
        const struct service *service = &services_table[which];
        struct service_code *code = &services[which];
        struct err why = {0};
        if (!services_wanted(session, (enum run_service)which) || !catalog_find(&session->catalog, service->kernel))
            continue;
        enum status status = session_plan_suite(&code->plan, session, suite_of(service, session), &why);
        if (!status)
            status = session_build_plan(&code->builds, session, code->plan, stop, &why);
        if (!status)
            continue;
        code->plan = NULL;
        if (status == ERR_INTERRUPTED || service->everywhere) {
            *err = why;
            return status;
        }
        log_verbose("%s cannot be used: %s", service->kernel, why.text);
    }
    return STATUS_OK;
}

void services_apply(struct run_service_case out[SERVICE_COUNT], const struct service_code services[SERVICE_COUNT])
{
    for (int which = 0; which < SERVICE_COUNT; which++)
        if (services[which].plan)
            out[which] = (struct run_service_case){&services[which].plan->cases[0], services[which].builds};
}

void services_warn(const struct session *session, const struct calibration *calibration)
{
    char size[UNITS_TEXT];
    bool known;
    const struct device_ops *ops = device_backend(session->info.backend);
    /* Where no library can, there is nothing to be done about it. */
    if (calibration->dispatch_reason[0] && ops && ops->launch_marked)
        log_warn("W010",
                 "no kernel can be timed by itself: %s. Pairs of events are used instead, which see the gaps "
                 "between packets too",
                 calibration->dispatch_reason);
    if (!calibration->flush_verdict[0])
        return;
    units_bytes(size, (double)run_flush_bytes(&known, &session->machine, &session->info));
    if (!known)
        log_warn("W011",
                 "the caches of this device are not known: cold cases flush %s, which may not be enough. A machine "
                 "file names them (--machine)",
                 size);
    if (strncmp(calibration->flush_verdict, "works", strlen("works")))
        log_warn("W012", "whether cold cases are cold: %s", calibration->flush_verdict);
}

/* ---- ceilings to measure again ---- */

static void set_mode(struct measure_options *measure, const char *name)
{
    for (enum cache_mode mode = CACHE_HOT; mode <= CACHE_ROTATE; mode++)
        if (!strcmp(name, cache_mode_name(mode)))
            measure->cache = mode;
}

bool ceilings_case_from_id(struct suite_case *out, const char *id, struct arena *arena)
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

/* The case that measured the ceiling, planned and built again. When it is gone the ceiling stands: it only cannot be
 * measured again. */
static enum status add_ceiling(struct ceilings *ceilings, const struct ceiling *ceiling, struct run_ceiling known,
                               struct session *session, const volatile int *stop, struct err *err)
{
    struct suite_case suite_case = {0};
    const struct plan *plan = NULL;
    struct build_result *builds = NULL;
    struct err why = {0};
    if (ceiling->measured <= 0)
        return STATUS_OK;
    if (!ceilings_case_from_id(&suite_case, ceiling->measured_by, session->arena)) {
        log_verbose("a ceiling cannot be measured again: '%s' is no case", ceiling->measured_by);
        return STATUS_OK;
    }
    struct suite *suite = arena_alloc(session->arena, sizeof(*suite));
    *suite = (struct suite){.name = "ceilings", .summary = "", .path = "", .case_count = 1};
    suite->cases = arena_copy(session->arena, &suite_case, sizeof(suite_case));
    enum status status = session_plan_suite(&plan, session, suite, &why);
    if (!status)
        status = session_build_plan(&builds, session, plan, stop, &why);
    if (status == ERR_INTERRUPTED) {
        *err = why;
        return status;
    }
    if (status || plan->cases[0].state != PLAN_READY) {
        log_verbose("a ceiling cannot be measured again: %s", status ? why.text : plan->cases[0].reason);
        return STATUS_OK;
    }
    known.probe = &plan->cases[0];
    known.builds = builds;
    ceilings->ceilings[ceilings->count++] = known;
    return STATUS_OK;
}

static enum status prepare_ceilings(struct ceilings *ceilings, struct session *session, const volatile int *stop,
                                    struct err *err)
{
    const struct machine *machine = &session->machine;
    enum status status = STATUS_OK;
    ceilings->ceilings =
        arena_array(session->arena, machine->level_count + machine->unit_count + 1, sizeof(*ceilings->ceilings));
    for (uint32_t k = 0; k < machine->level_count && !status; k++)
        status = add_ceiling(ceilings, &machine->levels[k].bandwidth,
                             (struct run_ceiling){.is_level = true, .index = k}, session, stop, err);
    for (uint32_t k = 0; k < machine->unit_count && !status; k++)
        status = add_ceiling(ceilings, &machine->units[k].peak, (struct run_ceiling){.index = k}, session, stop, err);
    return status;
}

enum status ceilings_prepare(struct ceilings *ceilings, struct session *session, const volatile int *stop,
                             struct err *err)
{
    enum status status = services_prepare(ceilings->services, session, stop, err);
    return status || session->info.predicted ? status : prepare_ceilings(ceilings, session, stop, err);
}

void ceilings_apply(struct run_options *options, const struct ceilings *ceilings)
{
    options->ceilings = ceilings->ceilings;
    options->ceiling_count = ceilings->count;
    services_apply(options->services, ceilings->services);
}
