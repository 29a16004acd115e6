/* SPDX-License-Identifier: MIT */

#include "rooftile/measure.h"
#include "rooftile/units.h"

/* Plans and builds a single case. */
static enum status plan_one(struct service_code *code, struct session *session, const struct suite_case *only,
                            struct err *err)
{
    const struct suite suite = {.name = "services", .summary = "", .path = "", .cases = only, .case_count = 1};
    enum status status =
        session_plan_suite(&code->plan, session, arena_copy(session->arena, &suite, sizeof(suite)), err);
    return status ? status : session_build_plan(&code->builds, session, code->plan, err);
}

/* ---- services ---- */

static const struct service {
    const char *kernel;
    bool everywhere; /* otherwise only for devices that queue launches */
} services_table[SERVICE_COUNT] = {
    [SERVICE_NULL] = {"launch_empty", true},     [SERVICE_BLOCKING] = {"service_blocking", false},
    [SERVICE_CLOCK] = {"service_clock", false},  [SERVICE_FLUSH] = {"service_flush", false},
    [SERVICE_REREAD] = {"pointer_chase", false}, [SERVICE_HASH] = {"service_hash", false},
};

bool services_wanted(const struct session *session, enum run_service which)
{
    const struct device_ops *ops = device_backend(session->info.backend);
    return services_table[which].everywhere || (ops && ops->asynchronous);
}

static const struct suite_case *case_of(enum run_service which, const struct session *session)
{
    const double stride = 128; /* a cache line of AMD's L2 */
    bool known;
    const double flush = (double)run_flush_bytes(&known, &session->machine, &session->info);
    const double reread = (double)run_reread_bytes(&session->machine, &session->info);
    const struct {
        enum run_service of;
        const char *name;
        double value;
    } all[] = {{SERVICE_FLUSH, "size", flush},
               {SERVICE_REREAD, "footprint", reread},
               {SERVICE_REREAD, "stride", stride},
               {SERVICE_REREAD, "steps", reread / stride}}; /* every slot of the ring once */
    struct suite_case *only = arena_alloc(session->arena, sizeof(*only));
    struct param *params = NULL;
    for (size_t k = 0; k < sizeof(all) / sizeof(*all); k++)
        if (all[k].of == which)
            ARENA_PUSH(session->arena, params, only->param_count,
                       (struct param){.name = all[k].name, .value = {.kind = PARAM_NUMBER, .number = all[k].value}});
    only->kernel = services_table[which].kernel;
    only->params = params;
    measure_defaults(&only->measure);
    return only;
}

enum status services_prepare(struct service_code services[SERVICE_COUNT], struct session *session, struct err *err)
{
    for (enum run_service which = 0; which < SERVICE_COUNT; which++) {
        const struct service *service = &services_table[which];
        struct err why = {0};
        if (!services_wanted(session, which) || !catalog_find(&session->catalog, service->kernel))
            continue;
        enum status status = plan_one(&services[which], session, case_of(which, session), &why);
        if (!status)
            continue;
        services[which].plan = NULL;
        if (status == ERR_INTERRUPTED || service->everywhere) {
            *err = why;
            return status;
        }
        log_verbose("%s cannot be used: %s", service->kernel, why.text);
    }
    return STATUS_OK;
}

/* ---- warnings ---- */

static const double memory_above = 0.01; /* relative to the card's memory */
/* for a runtime's own buffers, if the driver does not report whose memory is whose */
static const double own_allowance = 1 << 30;

void idle_problem(struct text *problem, const struct device_info *info, const struct device_sense *sense)
{
    const double own = isnan(sense->vram_own_bytes) ? own_allowance : sense->vram_own_bytes;
    const double taken = sense->vram_used_bytes - own; /* NaN if unknown; comparisons with it are false */
    text_add(problem, "");
    if (sense->other_processes > 0)
        text_addf(problem, "%.0f other process%s the GPU", sense->other_processes,
                  sense->other_processes > 1 ? "es use" : " uses");
    if (taken > memory_above * (double)info->memory_bytes)
        text_addf(problem, "%s%.1f GB of its memory %s in use", problem->length ? ", and " : "", taken / 1e9,
                  problem->length ? "are" : "are already");
}

void services_warn(const struct session *session, const struct device_info *info, const struct calibration *calibration)
{
    char size[UNITS_TEXT];
    bool known;
    SCOPED(text_release) struct text problem = {0};
    const struct device_ops *ops = device_backend(session->info.backend);
    idle_problem(&problem, info, &calibration->quiet_rates);
    if (problem.length)
        log_warn("W007",
                 "%s is not idle: %s. Whatever they do shows in the times; 'fuser -v /dev/kfd' names the processes",
                 info->name, problem.data);
    /* Without library support there is nothing to recommend. */
    if (calibration->dispatch_reason[0] && ops && ops->launch_with_events)
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

/* Makes a suite case from a case id "kernel/name=value;...", measured quickly in the id's mode, with the timer chosen
 * anew. Returns false if `id` is not an id. */
static bool case_from_id(struct suite_case *out, const char *id, struct arena *arena)
{
    const char *slash = strchr(id, '/');
    if (!slash || slash == id)
        return false;
    struct param *params = NULL;
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
            for (enum cache_mode mode = CACHE_HOT; mode <= CACHE_ROTATE; mode++)
                out->measure.cache = strcmp(value, cache_mode_names[mode]) ? out->measure.cache : mode;
        else if (strcmp(name, "timer"))
            ARENA_PUSH(arena, params, count, (struct param){.name = name, .value = param_from_text(arena, value)});
        at += length + (at[length] == ';');
    }
    out->kernel = arena_strndup(arena, id, (size_t)(slash - id));
    out->params = params;
    out->param_count = count;
    return true;
}

/* Plans and builds the case that measured the ceiling. If that case no longer exists, the ceiling remains but cannot be
 * measured again. */
static enum status add_ceiling(struct run_options *run, struct run_ceiling *room, const struct ceiling *ceiling,
                               struct session *session, struct err *err)
{
    struct suite_case *suite_case = arena_alloc(session->arena, sizeof(*suite_case));
    struct service_code code = {0};
    struct err why = {0};
    if (ceiling->measured <= 0)
        return STATUS_OK;
    if (!case_from_id(suite_case, ceiling->measured_by, session->arena)) {
        log_verbose("a ceiling cannot be measured again: '%s' is no case", ceiling->measured_by);
        return STATUS_OK;
    }
    enum status status = plan_one(&code, session, suite_case, &why);
    if (status == ERR_INTERRUPTED) {
        *err = why;
        return status;
    }
    if (status || code.plan->cases[0].state != PLAN_READY) {
        log_verbose("a ceiling cannot be measured again: %s", status ? why.text : code.plan->cases[0].reason);
        return STATUS_OK;
    }
    room->probe = &code.plan->cases[0];
    room->builds = code.builds;
    run->ceiling_count++;
    return STATUS_OK;
}

enum status services_add(struct run_options *run, struct session *session, struct err *err)
{
    struct service_code services[SERVICE_COUNT] = {0};
    enum status status = services_prepare(services, session, err);
    const struct machine *machine = &session->machine;
    const uint32_t levels = machine->level_count, all = session->info.predicted ? 0 : levels + machine->unit_count;
    struct run_ceiling *ceilings = arena_array(session->arena, all + 1, sizeof(*ceilings));
    run->ceilings = ceilings;
    for (uint32_t k = 0; k < all && !status; k++) {
        const bool is_level = k < levels;
        struct run_ceiling *room = &ceilings[run->ceiling_count];
        *room = (struct run_ceiling){.is_level = is_level, .index = is_level ? k : k - levels};
        status = add_ceiling(run, room, is_level ? &machine->levels[k].bandwidth : &machine->units[k - levels].peak,
                             session, err);
    }
    for (size_t k = 0; k < SERVICE_COUNT; k++)
        if (services[k].plan)
            run->services[k] = (struct run_service_case){&services[k].plan->cases[0], services[k].builds};
    return status;
}
