/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "codes.h"
#include "execute.h"
#include "progress.h"
#include "rooftile/targets.h"
#include "rooftile/units.h"

/* ---- code ---- */

struct tally {
    size_t compared, differ, broken, unknown;
};

static void print_lines(const char *verdict, const char *name, const char *lines)
{
    printf("%s %s: ", verdict, name);
    for (const char *at = lines; *at; at++) {
        putchar(*at);
        if (*at == '\n')
            fputs("         ", stdout);
    }
    puts("");
}

/* The build that keeps a case from being compared, or NULL. An image for other targets is compared all the same. */
static const struct build_result *missing_code(const struct codes *codes, const struct plan_case *plan_case)
{
    for (size_t k = 0; k < plan_case->resolved.code_count; k++) {
        const size_t code = plan_case->resolved.codes[k];
        if (!codes->files[code] && !codes->problems[code])
            return &codes->session->builds[code];
    }
    return NULL;
}

static void check_case(struct tally *tally, const struct codes *codes, const struct plan_case *plan_case)
{
    const char *name = plan_case->resolved.manifest->name;
    const bool ready = plan_case->state == PLAN_READY;
    const struct build_result *missing = ready ? missing_code(codes, plan_case) : NULL;
    struct text differences = {0};
    if (plan_case->state == PLAN_INVALID || (missing && missing->state == BUILD_FAILED)) {
        print_lines("error   ", name, ready ? missing->message : plan_case->reason);
        tally->broken++;
    } else if (!ready || missing) {
        log_verbose("%s is not compared: %s", name, ready ? missing->message : plan_case->reason);
        tally->unknown++;
    } else {
        tally->compared++;
        if (codes_differences(&differences, codes, plan_case)) {
            print_lines("differs ", name, differences.data);
            tally->differ++;
        }
    }
    text_release(&differences);
}

static void print_tally(const struct tally *tally, const struct plan *plan, const char *arch, bool knows)
{
    bool images = false;
    for (size_t k = 0; k < plan->code_count; k++)
        images = images || plan->codes[k].image;
    printf("%zu kernel%s compared with code for %s%s: ", tally->compared, tally->compared == 1 ? "" : "s", arch,
           images ? ", images as they are" : "");
    if (tally->differ)
        printf("%zu differ%s", tally->differ, tally->differ == 1 ? "s" : "");
    else
        fputs("none differs", stdout);
    if (tally->broken)
        printf(", %zu without code", tally->broken);
    if (tally->unknown)
        printf(", %zu not compared (%s)", tally->unknown,
               knows ? "--verbose says why" : "no compiler here knows this target");
    puts("");
}

/* `knows` false: no compiler here makes code for the target, so that only images can be compared. */
static enum status check_target(struct session *session, const char *arch, bool knows, size_t *findings,
                                struct err *err)
{
    struct tally tally = {0};
    struct codes codes = {0};
    enum status status = session_target(session, arch, err);
    if (!status)
        status = session_plan(session, true, err);
    if (!status)
        status = session_build(session, &session_stop, err);
    if (status)
        return status;
    codes_open(&codes, session);
    for (size_t k = 0; k < session->plan->count; k++)
        check_case(&tally, &codes, &session->plan->cases[k]);
    print_tally(&tally, session->plan, arch, knows);
    *findings += tally.differ + tally.broken;
    return STATUS_OK;
}

static bool compiler_knows(const char *arch, struct arena *arena)
{
    const struct build_target target = build_target_of(arch);
    struct compiler compiler;
    struct err err = {0};
    return !build_find_compiler(&compiler, &target, 0, arena, &err);
}

static enum status check_targets(struct session *session, size_t *findings, struct err *err)
{
    const struct cli_options *options = session->options;
    size_t first = 0;
    for (size_t k = 0; k < options->arch_count; k++) {
        const bool knows = compiler_knows(options->archs[k], session->arena);
        if (check_target(session, options->archs[k], knows, findings, err))
            return err->status;
    }
    if (options->arch_count)
        return STATUS_OK;
    while (first < TARGET_COUNT && !compiler_knows(targets[first].arch, session->arena))
        first++;
    const bool knows = first < TARGET_COUNT;
    return check_target(session, targets[knows ? first : 0].arch, knows, findings, err);
}

/* For every target of --arch, else for the first that a compiler here knows: every kernel is built at its check
 * parameters (or its image is read), and what the manifest passes is compared with what the code object takes. Prints
 * what differs, adds it to *findings. No GPU. */
static enum status check_code(const struct session *session, size_t *findings, struct err *err)
{
    struct session own = *session; /* its device, plan and code are not those of a run that may follow */
    if (!own.options->arg_count && session_all_kernels(&own, false, err))
        return err->status;
    return check_targets(&own, findings, err);
}

/* What one pass over all kernels found, by plan index. */
struct check_pass {
    struct session *session;
    const char *name;
    struct result_case *cases;
};

static void on_tick(void *context, const struct plan_case *plan_case, const char *phase, size_t done, size_t total)
{
    const struct check_pass *pass = context;
    if (cli_progress(pass->session->options))
        progress_show("%s %zu/%zu  %s  %s", pass->name, done + 1, total, phase, plan_case->label);
}

static void on_case(void *context, const struct plan_case *plan_case, const struct measurement *measured,
                    const struct machine *machine, size_t done, size_t total)
{
    struct check_pass *pass = context;
    (void)done;
    (void)total;
    char sha256[HASH_TEXT];
    execute_code_hash(sha256, plan_case, pass->session->builds);
    result_case_build(&pass->cases[plan_case->index], plan_case, measured, sha256, machine, pass->session->arena);
}

static enum status run_pass(struct check_pass *pass, enum run_inject inject, enum lane_order order, struct err *err)
{
    struct session *session = pass->session;
    struct codes codes = {0};
    codes_open(&codes, session);
    const struct run_options run = {.device = session->request,
                                    .seed = session->options->seed,
                                    .verify_only = true,
                                    .inject = inject,
                                    .lane_order = order,
                                    .keep_order = true,
                                    .refused = codes_refused(&codes),
                                    .stop = &session_stop,
                                    .case_done = on_case,
                                    .tick = on_tick,
                                    .context = pass};
    pass->cases = arena_array(session->arena, session->plan->count + 1, sizeof(*pass->cases));
    enum status status = run_plan(session->plan, session->builds, &session->machine, &session->calibration, &run, err);
    progress_clear();
    if (!session_late(status))
        return status;
    for (size_t k = 0; k < session->plan->count; k++)
        if (!pass->cases[k].id)
            execute_skipped(&pass->cases[k], &session->plan->cases[k], session);
    return STATUS_OK;
}

/* ---- printing ---- */

static void print_case(const struct result_case *c, int width)
{
    const struct verification *v = &c->verification;
    if (c->status != CASE_OK) {
        printf("%-8s %-*s  %s\n", case_status_name(c->status), width, c->kernel, c->reason);
        return;
    }
    if (v->verdict != VERIFY_PASS) {
        printf("-        %-*s  not verified: %s\n", width, c->kernel, v->reason);
        return;
    }
    printf("ok       %-*s  %-7s  %8llu elements", width, c->kernel, v->method, (unsigned long long)v->checked);
    if (v->max_abs > 0)
        printf(", largest error %.2g (%.2g relative, %.3g ulp)", v->max_abs, v->max_rel, v->max_ulp);
    puts("");
}

static int name_width(const struct plan *plan)
{
    int width = 0;
    for (size_t k = 0; k < plan->count; k++) {
        const int length = (int)strlen(plan->cases[k].resolved.manifest->name);
        width = length > width ? length : width;
    }
    return width;
}

static size_t print_pass(const struct check_pass *pass)
{
    const struct plan *plan = pass->session->plan;
    const int width = name_width(plan);
    size_t bad = 0, skipped = 0, verified = 0;
    printf("%s on %s\n", pass->name, pass->session->info.name);
    for (size_t k = 0; k < plan->count; k++) {
        const struct result_case *c = &pass->cases[k];
        print_case(c, width);
        bad += c->status != CASE_OK && c->status != CASE_SKIPPED;
        skipped += c->status == CASE_SKIPPED;
        verified += c->status == CASE_OK && c->verification.verdict == VERIFY_PASS;
    }
    printf("%zu kernels: %zu verified, %zu wrong or broken, %zu skipped\n\n", plan->count, verified, bad, skipped);
    return bad;
}

/* A fault put in on purpose must be seen: a case that still passes is a hole in its verification. */
static size_t print_injection(const struct check_pass *pass)
{
    const struct plan *plan = pass->session->plan;
    const int width = name_width(plan);
    size_t missed = 0, caught = 0;
    for (size_t k = 0; k < plan->count; k++) {
        const struct result_case *c = &pass->cases[k];
        const bool saw = c->status == CASE_FAILED || c->status == CASE_CRASHED || c->status == CASE_TIMEOUT;
        const bool verifiable = plan->cases[k].verify != VERIFY_NONE && c->status != CASE_SKIPPED;
        if (!verifiable)
            continue;
        if (saw)
            caught++;
        else if (c->status == CASE_OK && ++missed)
            printf("MISSED   %-*s  %s went unnoticed\n", width, c->kernel, pass->name);
        else if (c->status == CASE_ERROR)
            printf("-        %-*s  %s\n", width, c->kernel, c->reason);
    }
    printf("%s: noticed in %zu kernels, unnoticed in %zu\n", pass->name, caught, missed);
    return missed;
}

/* ---- the command ---- */

static size_t check_files(const struct session *session)
{
    const struct catalog *catalog = &session->catalog;
    for (size_t k = 0; k < catalog->problem_count; k++)
        printf("error    %s\n", catalog->problems[k].text);
    printf("%zu manifests read, %zu broken\n", catalog->count + catalog->problem_count, catalog->problem_count);
    for (size_t k = 0; k < session->suite_count; k++)
        if (session->suites[k]->path && session->suites[k]->path[0])
            printf("suite %s: %zu entries, ok\n", session->suites[k]->path, session->suites[k]->case_count);
    return catalog->problem_count;
}

static enum status save(struct check_pass *pass, struct err *err)
{
    const struct session *session = pass->session;
    struct result *result = arena_alloc(session->arena, sizeof(*result));
    if (!session->options->out)
        return STATUS_OK;
    *result = (struct result){.seed = session->options->seed,
                              .trials = 1,
                              .status = "complete",
                              .config_sha256 = session->suites[0]->sha256,
                              .predicted = session->info.predicted,
                              .cases = pass->cases,
                              .case_count = session->plan->count,
                              .machine = session->machine,
                              .calibration = session->calibration};
    result_environment(result, &session->info, session->options->argc, session->options->argv, session->arena);
    return result_write(result, session->options->out, err);
}

static enum status run_checks(struct session *session, size_t *findings, struct err *err)
{
    static const struct {
        enum lane_order order;
        const char *name;
    } orders[] = {{LANES_FORWARD, "verified"},
                  {LANES_BACKWARD, "verified, work-items run backward"},
                  {LANES_SHUFFLED, "verified, work-items run in random order"}};
    struct check_pass pass = {.session = session};
    enum status status = STATUS_OK;
    const size_t count = session->options->orders ? 3 : 1;
    for (size_t k = 0; k < count && !status; k++) {
        pass.name = orders[k].name;
        status = run_pass(&pass, INJECT_NONE, orders[k].order, err);
        if (!status)
            *findings += print_pass(&pass);
    }
    return status ? status : save(&pass, err);
}

static enum status run_fault_injections(struct session *session, size_t *findings, struct err *err)
{
    static const struct {
        enum run_inject inject;
        const char *name;
    } faults[] = {{INJECT_SKIP_LAUNCH, "a skipped launch"},
                  {INJECT_FLIP_OUTPUT, "one changed output element"},
                  {INJECT_PERTURB_INPUT, "one changed input element"}};
    enum status status = STATUS_OK;
    for (size_t k = 0; k < 3 && !status; k++) {
        struct check_pass pass = {.session = session, .name = faults[k].name};
        status = run_pass(&pass, faults[k].inject, LANES_FORWARD, err);
        if (!status)
            *findings += print_injection(&pass);
    }
    return status;
}

int cmd_check(const struct cli_options *options, struct arena *arena)
{
    struct session session = {.options = options, .arena = arena};
    struct err err = {0};
    session_catch_signals();
    enum status status = session_suites(&session, &err);
    if (!status)
        status = session_catalog(&session, &err);
    if (status)
        return cli_fail(&err);
    size_t findings = check_files(&session);
    if (options->arch_count || (!options->run && !options->inject_faults))
        status = check_code(&session, &findings, &err);
    if (status)
        return cli_fail(&err);
    if (!options->run && !options->inject_faults)
        return findings ? 2 : 0;
    if (!options->arg_count)
        status = session_all_kernels(&session, true, &err);
    if (!status)
        status = session_device(&session, &err);
    if (!status)
        status = session_plan(&session, true, &err);
    if (!status)
        status = session_build(&session, &session_stop, &err);
    if (!status && options->run)
        status = run_checks(&session, &findings, &err);
    if (!status && options->inject_faults)
        status = run_fault_injections(&session, &findings, &err);
    return status ? cli_fail(&err) : findings ? 1 : 0;
}
