/* SPDX-License-Identifier: MIT */
#include "session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "progress.h"
#include "rooftile/cpu_target.h"
#include "rooftile/file.h"
#include "rooftile/hash.h"
#include "rooftile/units.h"
#include "session_machine.h"

/* ---- suites and catalog ---- */

/* A path to a suite file, or NULL when the argument is a kernel's name. */
static const char *suite_path(struct session *session, const char *argument)
{
    if (strchr(argument, '/') || text_ends(argument, ".json") || !strcmp(argument, "-"))
        return argument;
    char *dir = catalog_config_dir(session->arena);
    char *path = dir ? path_join(session->arena, dir, arena_printf(session->arena, "%s.json", argument)) : NULL;
    return path && file_exists(path) ? path : NULL;
}

static enum status choice_option(int *choice, const char *name, const char *text, const char *const *names,
                                 size_t count, struct err *err)
{
    for (size_t k = 0; text && k < count; k++)
        if (!strcmp(text, names[k])) {
            *choice = (int)k;
            return STATUS_OK;
        }
    if (!text)
        return STATUS_OK;
    const char *near = text_nearest(text, names, count);
    return err_set(err, ERR_USAGE, "--%s %s: not a choice%s%s%s", name, text, near ? "; did you mean '" : "",
                   near ? near : "", near ? "'?" : "");
}

/* The command line wins over the suite, field by field; --quick only ever shortens. */
static enum status override_measure(struct measure_options *measure, const struct cli_options *options, struct err *err)
{
    static const char *const modes[] = {"hot", "cold", "rotate"};
    int cache = (int)measure->cache, timer = (int)measure->timer;
    if (options->quick) {
        struct measure_options quick = *measure;
        measure_quick(&quick);
        measure->warmup_ns = fmin(measure->warmup_ns, quick.warmup_ns);
        measure->warmup_max_ns = fmin(measure->warmup_max_ns, quick.warmup_max_ns);
        measure->min_time_ns = fmin(measure->min_time_ns, quick.min_time_ns);
        measure->max_time_ns = fmin(measure->max_time_ns, quick.max_time_ns);
        measure->min_samples = measure->min_samples < quick.min_samples ? measure->min_samples : quick.min_samples;
        measure->precision = fmax(measure->precision, quick.precision);
    }
    if (options->profile)
        measure->timeout_ns = INFINITY; /* a debugger may stop it for as long as it likes */
    enum status status = session_time_option(&measure->min_time_ns, "min-time", options->min_time, err);
    if (!status)
        status = session_time_option(&measure->max_time_ns, "max-time", options->max_time, err);
    if (!status)
        status = session_time_option(&measure->timeout_ns, "timeout", options->timeout, err);
    if (!status)
        status = choice_option(&cache, "cache-mode", options->cache_mode, modes, 3, err);
    if (!status)
        status = choice_option(&timer, "timer", options->timer, timer_choice_names, TIMER_CHOICES, err);
    measure->cache = (enum cache_mode)cache;
    measure->timer = (enum timer_choice)timer;
    return status;
}

static enum status with_overrides(const struct suite **suite, struct session *session, struct err *err)
{
    struct suite *changed = arena_copy(session->arena, *suite, sizeof(**suite));
    struct suite_case *cases =
        arena_copy(session->arena, changed->cases, changed->case_count * sizeof(*changed->cases));
    for (size_t k = 0; k < changed->case_count; k++) {
        enum status status = override_measure(&cases[k].measure, session->options, err);
        if (status)
            return status;
    }
    changed->cases = cases;
    *suite = changed;
    return STATUS_OK;
}

enum status session_suites(struct session *session, struct err *err)
{
    const struct cli_options *options = session->options;
    const struct suite **suites = arena_array(session->arena, options->arg_count + 1, sizeof(*suites));
    const char **kernels = arena_array(session->arena, options->arg_count + 1, sizeof(*kernels));
    size_t kernel_count = 0;
    struct measure_options base;
    measure_defaults(&base);
    enum status status = session_start_budget(options, err);
    for (size_t k = 0; k < options->arg_count && !status; k++) {
        const char *path = suite_path(session, options->args[k]);
        if (path)
            status = suite_read(&suites[session->suite_count++], path, &base, session->arena, err);
        else
            kernels[kernel_count++] = options->args[k];
    }
    if (!status && kernel_count)
        status = suite_from_kernels(&suites[session->suite_count++], kernels, kernel_count, &base, session->arena, err);
    for (size_t k = 0; k < session->suite_count && !status; k++)
        status = with_overrides(&suites[k], session, err);
    session->suites = suites;
    return status;
}

enum status session_catalog(struct session *session, struct err *err)
{
    const struct cli_options *options = session->options;
    const char *const *built_in = NULL;
    size_t built_in_count = 0, count = 0, most = options->kernel_dir_count;
    enum status status = catalog_default_dirs(&built_in, &built_in_count, session->arena, err);
    if (status)
        return status;
    for (size_t k = 0; k < session->suite_count; k++)
        most += session->suites[k]->kernel_dir_count;
    const char **dirs = arena_array(session->arena, most + built_in_count + 1, sizeof(*dirs));
    for (size_t k = 0; k < options->kernel_dir_count; k++) {
        if (!file_is_dir(options->kernel_dirs[k]))
            return err_set(err, ERR_USAGE, "--kernels %s: there is no such folder", options->kernel_dirs[k]);
        dirs[count++] = options->kernel_dirs[k];
    }
    for (size_t s = 0; s < session->suite_count; s++)
        for (size_t k = 0; k < session->suites[s]->kernel_dir_count; k++)
            dirs[count++] = session->suites[s]->kernel_dirs[k];
    for (size_t k = 0; k < built_in_count; k++)
        dirs[count++] = built_in[k];
    return catalog_read(&session->catalog, dirs, count, session->arena, err);
}

/* ---- device and machine ---- */

enum status session_reference_target(struct session *session, struct err *err)
{
    if (session->info.predicted || !strcmp(session->info.backend, "cpu"))
        return STATUS_OK;
    const struct device_request cpu = {.backend = "cpu"};
    struct device_info *info = arena_alloc(session->arena, sizeof(*info));
    enum status status = run_device_info(info, NULL, &cpu, err);
    /* References beside a GPU are built ahead of time with its kernels, often on another machine: a level, not this
     * very processor. */
    session->cpu_target = cpu_target_has(info->target, "avx2") ? "x86-64-v3" : info->target;
    return status;
}

enum status session_device(struct session *session, struct err *err)
{
    const char *text = session->options->device ? session->options->device : getenv("ROOFTILE_DEVICE");
    enum status status = STATUS_OK;
    if (text) {
        status = device_parse(&session->request, text, err);
    } else {
        struct text reason = {0};
        device_default(&session->request, &reason);
        log_verbose("device: %s", reason.data ? reason.data : "");
        text_release(&reason);
    }
    if (!status && !strcmp(session->request.backend, "sim"))
        status = session_sim(session, err);
    if (status)
        return status;
    session->request.seed = session->options->seed;
    status = run_device_info(&session->info, NULL, &session->request, err);
    session->facts = run_device_facts(&session->info);
    session->cpu_target = session->info.target;
    return status ? status : session_reference_target(session, err);
}

void session_device_id(char out[static 512], const struct device_info *info)
{
    snprintf(out, 512, "%s|%s|%s|%u|%llu", info->backend, info->name, info->target, info->cus,
             (unsigned long long)(info->memory_bytes >> 28));
}

char *session_machine_file(const struct device_info *info, struct arena *arena)
{
    char id[512];
    session_device_id(id, info);
    return arena_printf(arena, "%s/machines/%s-%016llx.json", path_data_dir(arena), info->backend,
                        (unsigned long long)hash_u64(id, strlen(id)));
}

static enum status named_machine(struct session *session, const char *name, struct err *err)
{
    const char *path = name;
    if (!strchr(name, '/') && !file_exists(name)) {
        char *dir = catalog_config_dir(session->arena);
        path = arena_printf(session->arena, "%s/machines/%s%s", dir ? dir : "configs", name,
                            text_ends(name, ".json") ? "" : ".json");
    }
    snprintf(session->machine_path, sizeof(session->machine_path), "%s", path);
    return machine_read(&session->machine, path, err);
}

enum status session_machine(struct session *session, struct err *err)
{
    if (session->options->machine)
        return named_machine(session, session->options->machine, err);
    if (session->info.predicted)
        return STATUS_OK; /* session_sim has set it */
    char *saved = session_machine_file(&session->info, session->arena);
    if (file_exists(saved)) {
        enum status status = machine_read(&session->machine, saved, err);
        char id[512];
        session_device_id(id, &session->info);
        if (status)
            return err_within(err, "the saved ceilings (remove the file or run 'rooftile roofline' again)");
        if (!strcmp(session->machine.device_id, id)) {
            snprintf(session->machine_path, sizeof(session->machine_path), "%s", saved);
            return STATUS_OK;
        }
    }
    memset(&session->machine, 0, sizeof(session->machine));
    enum status status = session_machine_by_pci_id(session, err);
    if (!status && !session->machine_path[0])
        snprintf(session->machine.title, sizeof(session->machine.title), "%s", session->info.name);
    return status;
}

/* ---- plan and code ---- */

static struct plan_options plan_options_of(const struct session *session)
{
    const struct cli_options *options = session->options;
    const bool cpu = !strcmp(session->info.backend, "cpu");
    return (struct plan_options){.sets = options->sets,
                                 .set_count = options->set_count,
                                 .filters = options->filters,
                                 .filter_count = options->filter_count,
                                 .target_arch = cpu ? session->info.target : session->info.arch,
                                 .target_kind = cpu ? BUILD_CPU : build_target_of(session->info.arch).kind,
                                 .wave = session->info.wave,
                                 .cpu_target = session->cpu_target,
                                 .cpu_wave = cpu ? session->info.wave : 64};
}

enum status session_plan(struct session *session, bool at_check_params, struct err *err)
{
    struct plan_options options = plan_options_of(session);
    options.at_check_params = at_check_params;
    return plan_build(&session->plan, session->suites, session->suite_count, &session->catalog, &session->machine,
                      &session->facts, &options, session->arena, err);
}

enum status session_prepare(struct session *session, struct err *err)
{
    enum status status = session_suites(session, err);
    if (!status)
        status = session_catalog(session, err);
    if (!status)
        status = session_device(session, err);
    if (!status)
        status = session_machine(session, err);
    return status ? status : session_plan(session, false, err);
}

enum status session_refuse_invalid(const struct session *session, struct err *err)
{
    for (size_t k = 0; k < session->plan->count; k++)
        if (session->plan->cases[k].state == PLAN_INVALID)
            return err_set(err, ERR_CONFIG, "%s: %s", session->plan->cases[k].id, session->plan->cases[k].reason);
    return STATUS_OK;
}

enum status session_plan_suite(const struct plan **plan, struct session *session, const struct suite *suite,
                               struct err *err)
{
    struct plan_options options = plan_options_of(session);
    options.set_count = options.filter_count = 0;
    return plan_build(plan, &suite, 1, &session->catalog, &session->machine, &session->facts, &options, session->arena,
                      err);
}

static void compile_progress(void *context, size_t done, size_t total, const struct build_request *request,
                             const struct build_result *result)
{
    const struct session *session = context;
    if (result->state == BUILD_COMPILED && cli_progress(session->options))
        progress_show("compiling kernels: %zu of %zu (%s)", done, total, path_base(request->source));
    log_debug("%s: %s", request->asked_by, result->command ? result->command : "cached");
}

enum status session_build_plan(struct build_result **builds, struct session *session, const struct plan *plan,
                               const volatile int *stop, struct err *err)
{
    struct build_result *results = arena_array(session->arena, plan->code_count + 1, sizeof(*results));
    *builds = results;
    if (session->info.predicted) { /* sim executes nothing and needs no code */
        for (size_t k = 0; k < plan->code_count; k++)
            results[k] = (struct build_result){.state = BUILD_CACHED, .object = ""};
        return STATUS_OK;
    }
    const struct build_options options = {.compiler = session->compiler,
                                          .cache_dir = session->options->cache_dir,
                                          .jobs = session->options->jobs,
                                          .force = session->options->force,
                                          .progress = compile_progress,
                                          .context = session,
                                          .stop = stop};
    enum status status = build_all(results, plan->codes, plan->code_count, &options, session->arena, err);
    progress_clear();
    if (!session_late(status))
        return status;
    for (size_t k = 0; k < plan->code_count; k++)
        if (results[k].state == BUILD_PENDING)
            results[k] =
                (struct build_result){.state = BUILD_SKIPPED, .message = session_late_reason(session, "compiled")};
    return STATUS_OK;
}

/* One kernel through clang -O3: seen 0.5 to 1.5 s on a core of 2020. */
static const double compile_ns = 0.8e9;

enum status session_uncompiled(size_t *count, double *time_ns, struct session *session, struct err *err)
{
    const struct plan *plan = session->plan;
    const struct build_options options = {
        .cache_dir = session->options->cache_dir, .jobs = session->options->jobs, .cached_only = true};
    struct build_result *results = arena_array(session->arena, plan->code_count + 1, sizeof(*results));
    *count = 0;
    *time_ns = 0;
    if (session->info.predicted)
        return STATUS_OK;
    enum status status = build_all(results, plan->codes, plan->code_count, &options, session->arena, err);
    for (size_t k = 0; k < plan->code_count && !status; k++)
        *count += results[k].state == BUILD_PENDING;
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    const double jobs = session->options->jobs ? session->options->jobs : cores > 0 ? (double)cores : 1;
    *time_ns = ceil((double)*count / jobs) * compile_ns;
    return status;
}

enum status session_build(struct session *session, const volatile int *stop, struct err *err)
{
    return session_build_plan(&session->builds, session, session->plan, stop, err);
}

/* ---- every kernel ---- */

bool session_is_helper(const struct manifest *manifest)
{
    bool service = false;
    for (size_t k = 0; k < manifest->tag_count; k++)
        service = service || !strcmp(manifest->tags[k], "service");
    return service || text_ends(manifest->name, "_reference");
}

enum status session_all_kernels(struct session *session, bool helpers, struct err *err)
{
    const char **names = arena_array(session->arena, session->catalog.count + 1, sizeof(*names));
    const struct suite **suites = arena_array(session->arena, 1, sizeof(*suites));
    struct measure_options measure;
    size_t count = 0;
    for (size_t k = 0; k < session->catalog.count; k++)
        if (helpers || !session_is_helper(session->catalog.manifests[k]))
            names[count++] = session->catalog.manifests[k]->name;
    if (!count)
        return err_set(err, ERR_CONFIG, "there is no kernel in %s",
                       session->catalog.dir_count ? session->catalog.dirs[0] : "any folder");
    measure_defaults(&measure);
    enum status status = suite_from_kernels(&suites[0], names, count, &measure, session->arena, err);
    session->suites = suites;
    session->suite_count = 1;
    return status;
}
