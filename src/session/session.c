/* SPDX-License-Identifier: MIT */
#include "rooftile/session.h"

#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "rooftile/clock.h"
#include "rooftile/cpu_target.h"
#include "rooftile/file.h"
#include "rooftile/result.h"
#include "rooftile/spawn.h"
#include "rooftile/targets.h"

/* ---- signals that end a command early ---- */

volatile int session_stop;
const char *volatile session_last_words;

static const uint64_t twice_ns = 500000000;
static volatile unsigned grace_s;

static void on_signal(int number)
{
    static uint64_t first_ns;
    const bool ending = session_stop == STOP_SIGNAL;
    if (number == SIGALRM && !ending) {
        session_stop = STOP_BUDGET;
        return;
    }
    if (ending && (number == SIGALRM ? grace_s > 0 : clock_now_ns() - first_ns >= twice_ns)) {
        const char *words = session_last_words;
        const bool heard = words && write(STDERR_FILENO, words, strlen(words)) > 0;
        (void)heard; /* nothing can be done about a failed write */
        _exit(130);
    }
    first_ns = ending ? first_ns : clock_now_ns();
    session_stop = STOP_SIGNAL;
    if (grace_s && !ending)
        alarm(grace_s);
}

void session_catch_signals(unsigned seconds)
{
    const struct sigaction action = {.sa_handler = on_signal};
    struct sigaction before;
    grace_s = seconds;
    spawn_stop = &session_stop;
    sigaction(SIGALRM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (!sigaction(SIGHUP, NULL, &before) && before.sa_handler != SIG_IGN) /* under nohup, hangups stay ignored */
        sigaction(SIGHUP, &action, NULL);
}

enum status session_start_budget(const struct duration *budget, struct err *err)
{
    const struct sigaction action = {.sa_handler = on_signal};
    struct itimerval timer = {0};
    if (!budget->text || getitimer(ITIMER_REAL, &timer) || timer.it_value.tv_sec || timer.it_value.tv_usec ||
        session_stop)
        return STATUS_OK;
    const double us = fmax(1, fmin(budget->ns / 1e3, 1e15));
    timer.it_value = (struct timeval){.tv_sec = (time_t)(us / 1e6), .tv_usec = (suseconds_t)fmod(us, 1e6)};
    sigaction(SIGALRM, &action, NULL);
    return setitimer(ITIMER_REAL, &timer, NULL) ? err_set(err, ERR_IO, "--budget %s: %s", budget->text, strerror(errno))
                                                : STATUS_OK;
}

bool session_late(enum status status)
{
    return status == ERR_INTERRUPTED && session_stop == STOP_BUDGET;
}

const char *session_late_reason(const struct session *session, const char *what)
{
    return arena_printf(session->arena, RESULT_LATE_REASON "%s ran out before this was %s",
                        session->options->budget.text, what);
}

/* ---- suites and catalog ---- */

/* Command-line options override the suite's, field by field. */
static void override_measure(struct measure_options *measure, const struct cli_options *options)
{
    if (options->quick) {
        /* --quick only ever shortens. */
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
        measure->timeout_ns = INFINITY; /* a debugger may pause it for any length of time */
    /* One given alone moves the other along, as in a suite. */
    if (options->min_time.text)
        measure->min_time_ns = options->min_time.ns;
    if (options->max_time.text)
        measure->max_time_ns = options->max_time.ns;
    else
        measure->max_time_ns = fmax(measure->max_time_ns, measure->min_time_ns);
    measure->min_time_ns = fmin(measure->min_time_ns, measure->max_time_ns);
    if (options->timeout.text)
        measure->timeout_ns = options->timeout.ns;
    if (options->cache_mode >= 0)
        measure->cache = (enum cache_mode)options->cache_mode;
    if (options->timer >= 0)
        measure->timer = (enum timer_choice)options->timer;
}

static void override_suite(const struct suite **suite, const struct session *session)
{
    struct suite *changed = arena_copy(session->arena, *suite, sizeof(**suite));
    struct suite_case *cases = arena_copy(session->arena, changed->cases, changed->case_count * sizeof(*cases));
    for (size_t k = 0; k < changed->case_count; k++)
        override_measure(&cases[k].measure, session->options);
    changed->cases = cases;
    *suite = changed;
}

static enum status find_suites(struct session *session, struct err *err)
{
    if (session->suites) /* already found by another device's session (devices.c) */
        return STATUS_OK;
    if (!session->args) {
        session->args = session->options->args;
        session->arg_count = session->options->arg_count;
    }
    session->suites = arena_array(session->arena, session->arg_count + 1, sizeof(*session->suites));
    const struct cli_options *options = session->options;
    if (options->min_time.text && options->max_time.text && options->min_time.ns > options->max_time.ns)
        return err_set(err, ERR_USAGE, "--max-time %s is shorter than --min-time %s", options->max_time.text,
                       options->min_time.text);
    struct measure_options base;
    measure_defaults(&base);
    enum status status = session_start_budget(&session->options->budget, err);
    for (size_t k = 0; k < session->arg_count && !status; k++)
        status = argument_add(session, session->args[k], &base, err);
    for (size_t k = 0; k < session->suite_count && !status; k++)
        override_suite(&session->suites[k], session);
    return status;
}

static enum status folders(const char ***dirs, size_t *count, const struct session *session, struct err *err)
{
    const struct cli_options *options = session->options;
    const char *const *built_in = NULL;
    size_t built_in_count = 0;
    if (catalog_default_dirs(&built_in, &built_in_count, session->arena, err))
        return err->status;
    if (session->kernel_dir)
        ARENA_PUSH(session->arena, *dirs, *count, session->kernel_dir);
    for (size_t k = 0; k < session->manifest_count; k++)
        ARENA_PUSH(session->arena, *dirs, *count, session->manifests[k]);
    for (size_t k = 0; k < options->kernel_dir_count; k++) {
        if (!file_exists(options->kernel_dirs[k]))
            return err_set(err, ERR_USAGE, "--kernels %s: there is no such folder%s", options->kernel_dirs[k],
                           argument_is_known(options->kernel_dirs[k], session->arena)
                               ? "; kernels are named without an option"
                               : "");
        if (!file_is_dir(options->kernel_dirs[k]) &&
            argument_explain(err, options->kernel_dirs[k], "a folder of kernels", session->arena))
            return err->status;
        ARENA_PUSH(session->arena, *dirs, *count, options->kernel_dirs[k]);
    }
    for (size_t s = 0; s < session->suite_count; s++)
        for (size_t k = 0; k < session->suites[s]->kernel_dir_count; k++)
            ARENA_PUSH(session->arena, *dirs, *count, session->suites[s]->kernel_dirs[k]);
    for (size_t k = 0; k < built_in_count; k++)
        ARENA_PUSH(session->arena, *dirs, *count, built_in[k]);
    return STATUS_OK;
}

/* Makes one suite of all named kernels. */
static enum status suite_of_kernels(struct session *session, struct err *err)
{
    const char **names = NULL;
    size_t count = 0;
    struct measure_options base;
    measure_defaults(&base);
    if (!session->kernel_count || !session->suites) /* for the command `list` they are mere names */
        return STATUS_OK;
    const struct suite **suite = &session->suites[session->suite_count];
    if (argument_kernels(&names, &count, session, err) ||
        suite_from_kernels(suite, names, count, &base, session->arena, err))
        return err->status;
    override_suite(suite, session);
    session->suite_count++;
    session->kernel_count = 0;
    return STATUS_OK;
}

static enum status read_catalog(struct session *session, struct err *err)
{
    enum status status = STATUS_OK;
    for (bool again = !session->catalog.count; again && !status;) { /* with several devices only the first reads it */
        const char **dirs = NULL;
        size_t count = 0;
        status = folders(&dirs, &count, session, err);
        if (!status)
            status = catalog_read(&session->catalog, dirs, count, session->arena, err);
        again = false;
        /* Adds manifests from the working folder for named kernels that the catalog lacks. */
        for (size_t k = 0; k < session->kernel_count && !status; k++) {
            const char *name = session->kernels[k];
            const char *path = catalog_knows(&session->catalog, name) ? NULL : argument_manifest_here(session, name);
            again |= path != NULL;
            if (path)
                ARENA_PUSH(session->arena, session->manifests, session->manifest_count, path);
        }
    }
    if (session->guess)
        unlink(session->guess); /* sessions that share a catalog need it only until the first has read it */
    return status ? status : suite_of_kernels(session, err);
}

bool session_is_helper(const struct manifest *manifest)
{
    return text_among("service", manifest->tags, manifest->tag_count) || text_ends(manifest->name, "_reference");
}

enum status session_all_kernels(struct session *session, bool helpers, struct err *err)
{
    size_t all = 0, count = 0;
    const struct manifest *const *manifests = catalog_all(&all, &session->catalog);
    const char **names = arena_array(session->arena, all + 1, sizeof(*names));
    const struct suite **suites = arena_array(session->arena, 1, sizeof(*suites));
    struct measure_options measure;
    for (size_t k = 0; k < all; k++) {
        /* With a kernel folder of its own, the session takes only the kernels from there. */
        const bool own = !session->kernel_dir || COUNT_WHERE(entry, session->catalog.entries, session->catalog.count,
                                                             entry->manifest == manifests[k] && entry->dir == 0);
        if (own && (helpers || !session_is_helper(manifests[k])))
            names[count++] = manifests[k]->name;
    }
    if (!count)
        return err_set(err, ERR_CONFIG, "there is no kernel in %s",
                       session->catalog.dir_count ? session->catalog.dirs[0] : "any folder");
    measure_defaults(&measure);
    enum status status = suite_from_kernels(&suites[0], names, count, &measure, session->arena, err);
    session->suites = suites;
    session->suite_count = 1;
    return status;
}

/* ---- the device ---- */

enum status session_reference_target(struct session *session, struct err *err)
{
    if (session->info.predicted || backend_is_cpu(session->info.backend))
        return STATUS_OK;
    const struct device_request cpu = {.backend = "cpu"};
    struct device_info *info = arena_alloc(session->arena, sizeof(*info));
    enum status status = run_device_info(info, NULL, &cpu, err);
    /* References for a GPU are built ahead of time with its kernels, often on another machine. So they target a CPU
     * level rather than this processor, unless it lacks part of that level. */
    const bool has_level = cpu_target_has(info->target, "avx2") && !strstr(info->target, ",no-");
    session->cpu_target = has_level ? "x86-64-v3" : info->target;
    return status;
}

/* Explains a device name that is in fact the name of a machine file or a target. */
static enum status explain_device(const char *text, struct arena *arena, struct err *err)
{
    struct machine *machine = arena_alloc(arena, sizeof(*machine));
    struct device_info *info = arena_alloc(arena, sizeof(*info));
    struct err ignored = {0};
    if (!strchr(text, '/') && !session_model(machine, info, text, arena, &ignored))
        return err_set(err, ERR_USAGE,
                       "unknown device '%s'; did you mean 'sim:%s', which predicts and executes nothing?", text, text);
    if (target_find(text))
        return err_set(err, ERR_USAGE,
                       "unknown device '%s', which is a target: 'rooftile build --arch %s' compiles for it", text,
                       text);
    /* For a misspelt machine, reuses the suggestion at the end of that error. */
    static const char words[] = "; did you mean '";
    session_unknown_machine(text, arena, &ignored);
    const char *nearest = strstr(ignored.text, words);
    if (!nearest)
        return err->status;
    return err_set(err, ERR_USAGE, "%s%ssim:%s", arena_strdup(arena, err->text), words, nearest + strlen(words));
}

static enum status find_device(struct session *session, struct err *err)
{
    const char *text = session->options->device ? session->options->device : getenv("ROOFTILE_DEVICE");
    enum status status = STATUS_OK;
    if (text) {
        status = device_parse(&session->request, text, err);
        if (status)
            return explain_device(text, session->arena, err);
    } else {
        struct text reason = {0};
        device_default(&session->request, &reason);
        log_verbose("device: %s", text_take(&reason, session->arena));
    }
    if (!status && !strcmp(session->request.backend, "sim")) { /* sim simulates the model in a machine file */
        struct device_info *info = arena_alloc(session->arena, sizeof(*info));
        status = session_model(&session->machine, info, session->request.model, session->arena, err);
        session->request.sim_info = info;
        session->request.sim_launch_ns = session->machine.launch_ns;
    }
    if (status)
        return status;
    session->request.seed = session->options->seed;
    session->request.ranks = session->ranks.world ? &session->ranks : NULL;
    status = run_device_info(&session->info, NULL, &session->request, err);
    session->facts = run_device_facts(&session->info);
    session->cpu_target = session->info.target;
    return status ? status : session_reference_target(session, err);
}

/* ---- plan and code ---- */

static struct plan_options plan_options_of(const struct session *session)
{
    const struct cli_options *options = session->options;
    const bool cpu = backend_is_cpu(session->info.backend);
    return (struct plan_options){.sets = options->sets,
                                 .set_count = options->set_count,
                                 .filters = options->filters,
                                 .filter_count = options->filter_count,
                                 .target_arch = cpu ? session->info.target : session->info.arch,
                                 .isolate = options->isolate,
                                 .target_kind = cpu ? BUILD_CPU : build_target_of(session->info.arch).kind,
                                 .wave = session->info.wave,
                                 .cpu_target = session->cpu_target,
                                 .cpu_wave = cpu ? session->info.wave : 64};
}

static enum status make_plan(struct session *session, struct err *err)
{
    struct plan_options options = plan_options_of(session);
    options.at_check_params = session->at_check_params;
    const enum status status = plan_build(&session->plan, session->suites, session->suite_count, &session->catalog,
                                          &session->machine, &session->facts, &options, session->arena, err);
    if (status)
        return status;
    session_check_images(session);
    foreign_ask(session);
    const struct plan *plan = session->plan;
    const size_t sized = COUNT_WHERE(one, plan->cases, plan->count, one->sized_by);
    for (size_t k = 0; k < plan->count && sized; k++)
        if (plan->cases[k].sized_by) {
            log_warn("W011", "the sizes of %zu case%s follow from %s", sized, text_s(sized), plan->cases[k].sized_by);
            break;
        }
    return STATUS_OK;
}

static enum status refuse_invalid(struct session *session, struct err *err)
{
    for (size_t k = 0; k < session->plan->count; k++)
        if (session->plan->cases[k].state == PLAN_INVALID)
            return err_set(err, ERR_CONFIG, "%s: %s", session->plan->cases[k].label, session->plan->cases[k].reason);
    return STATUS_OK;
}

enum status session_plan_suite(const struct plan **plan, struct session *session, const struct suite *suite,
                               struct err *err)
{
    struct plan_options options = plan_options_of(session);
    struct plan *made = NULL;
    options.set_count = options.filter_count = 0;
    enum status status = plan_build(&made, &suite, 1, &session->catalog, &session->machine, &session->facts, &options,
                                    session->arena, err);
    *plan = made;
    return status;
}

/* Returns the requests with the flags of the session's compiler appended to those of the manifests. */
static const struct build_request *with_flags(const struct session *session, const struct plan *plan)
{
    struct build_request *requests = arena_array(session->arena, plan->code_count + 1, sizeof(*requests));
    for (size_t k = 0; k < plan->code_count; k++) {
        struct build_request *request = &requests[k];
        *request = plan->codes[k];
        const char **flags = arena_array(session->arena, request->flag_count + session->flag_count + 1, sizeof(*flags));
        for (size_t n = 0; n < request->flag_count; n++)
            flags[n] = request->flags[n];
        for (size_t n = 0; n < session->flag_count && request->source; n++)
            flags[request->flag_count++] = session->flags[n];
        request->flags = flags;
    }
    return requests;
}

static void compile_progress(void *context, size_t done, size_t total, const struct build_request *request,
                             const struct build_result *result)
{
    const struct session *session = context;
    if (!result || result->state == BUILD_COMPILED)
        progress_show(session->options, "compiling for %s: %zu of %zu (%s)",
                      request->target.kind == BUILD_CPU ? "the CPU" : request->target.arch, done, total,
                      path_base(request->source));
    if (result)
        log_debug("%s: %s", request->asked_by, result->command ? result->command : "cached");
}

enum status session_build_plan(struct build_result **builds, struct session *session, const struct plan *plan,
                               struct err *err)
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
                                          .allow_flags = session->options->allow_flags,
                                          .progress = compile_progress,
                                          .context = session,
                                          .stop = &session_stop};
    const struct build_request *codes = session->flag_count ? with_flags(session, plan) : plan->codes;
    enum status status = build_all(results, codes, plan->code_count, &options, session->arena, err);
    progress_clear();
    if (!session_late(status))
        return status;
    for (size_t k = 0; k < plan->code_count; k++)
        if (results[k].state == BUILD_PENDING)
            results[k] =
                (struct build_result){.state = BUILD_SKIPPED, .message = session_late_reason(session, "compiled")};
    return STATUS_OK;
}

struct plan session_codes_of(const struct plan *plan, bool cpu, const size_t **numbers, struct arena *arena)
{
    struct plan part = *plan;
    struct build_request *codes = arena_array(arena, plan->code_count + 1, sizeof(*codes));
    size_t *found = arena_array(arena, plan->code_count + 1, sizeof(*found));
    part.code_count = 0;
    for (size_t k = 0; k < plan->code_count; k++) {
        if ((plan->codes[k].target.kind == BUILD_CPU) != cpu)
            continue;
        found[part.code_count] = k;
        codes[part.code_count++] = plan->codes[k];
    }
    part.codes = codes;
    *numbers = found;
    return part;
}

/* One kernel through clang -O3; observed 0.5 to 1.5 s on a core of 2020. */
static const double compile_ns = 0.8e9;

enum status session_uncompiled(struct uncompiled *uncompiled, struct session *session, struct err *err)
{
    const struct plan *plan = session->plan;
    const struct build_options options = {
        .cache_dir = session->options->cache_dir, .jobs = session->options->jobs, .cached_only = true};
    struct build_result *results = arena_array(session->arena, plan->code_count + 1, sizeof(*results));
    *uncompiled = (struct uncompiled){0};
    if (session->info.predicted)
        return STATUS_OK;
    enum status status = build_all(results, plan->codes, plan->code_count, &options, session->arena, err);
    for (size_t k = 0; k < plan->code_count && !status; k++)
        uncompiled->count += results[k].state == BUILD_PENDING;
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    const double jobs = session->options->jobs ? session->options->jobs : cores > 0 ? (double)cores : 1;
    uncompiled->time_ns = ceil((double)uncompiled->count / jobs) * compile_ns;
    return status;
}

static enum status build_code(struct session *session, struct err *err)
{
    return session_build_plan(&session->builds, session, session->plan, err);
}

/* ---- the stages ---- */

enum status session_go(struct session *session, unsigned stages, struct err *err)
{
    static const struct {
        enum session_stage stage;
        enum status (*go)(struct session *session, struct err *err);
    } all[] = {{SESSION_SUITES, find_suites},      {SESSION_CATALOG, read_catalog},   {SESSION_DEVICE, find_device},
               {SESSION_MACHINE, session_machine}, {SESSION_PLAN, make_plan},         {SESSION_VALID, refuse_invalid},
               {SESSION_CODE, build_code},         {SESSION_PREDICT, session_predict}};
    enum status status = STATUS_OK;
    for (size_t k = 0; k < sizeof(all) / sizeof(*all) && !status; k++)
        if (stages & all[k].stage)
            status = all[k].go(session, err);
    return status;
}
