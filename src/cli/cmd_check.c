/* SPDX-License-Identifier: MIT */

#include "cli.h"
#include "rooftile/targets.h"

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

/* Returns the build that prevents the comparison of a case, or NULL. An image for other targets can still be
 * compared. */
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
    SCOPED(text_release) struct text differences = {0};
    if (plan_case->state == PLAN_INVALID || (missing && missing->state == BUILD_FAILED)) {
        print_lines("error   ", name, ready ? missing->message : plan_case->reason);
        tally->broken++;
    } else if (!ready || missing) {
        log_verbose("%s is not compared: %s", name, ready ? missing->message : plan_case->reason);
        tally->unknown++;
    } else {
        tally->compared++;
        const bool launches = codes_differences(&differences, codes, plan_case, true);
        /* Disassembling is slow, so all kernels are disassembled only if --arch is given. */
        const bool work = codes->session->options->arch_count && codes_work_differs(&differences, codes, plan_case);
        if (launches || work) {
            print_lines("differs ", name, differences.data);
            tally->differ++;
        }
    }
}

/* `knows` is false if no compiler here supports the target, so that only images can be compared. */
static enum status check_target(struct session *session, const char *arch, bool knows, size_t *findings,
                                struct err *err)
{
    struct tally tally = {0};
    struct codes codes = {0};
    SCOPED(text_release) struct text line = {0}, shown = {0};
    if (session_target(session, arch, err) || session_go(session, SESSION_PLAN | SESSION_CODE, err) ||
        (session->options->arch_count && session_predict(session, err)))
        return err->status;
    codes_open(&codes, session);
    for (size_t k = 0; k < session->plan->count; k++)
        check_case(&tally, &codes, &session->plan->cases[k]);
    const bool images = COUNT_WHERE(code, session->plan->codes, session->plan->code_count, code->image);
    text_addf(&line, "%zu kernel%s compared with code for %s%s: ", tally.compared, text_s(tally.compared), arch,
              images ? ", images as they are" : "");
    if (tally.differ)
        text_addf(&line, "%zu differ%s", tally.differ, tally.differ == 1 ? "s" : "");
    else
        text_add(&line, "none differs");
    if (tally.broken)
        text_addf(&line, ", %zu without code", tally.broken);
    if (tally.unknown)
        text_addf(&line, ", %zu not compared (%s)", tally.unknown,
                  knows ? "--verbose says why" : "no compiler here knows this target");
    text_add_wrapped(&shown, line.data, 0, 0, cli_look(session->options, NULL).columns);
    puts(shown.data);
    *findings += tally.differ + tally.broken + session_say_work(session);
    return STATUS_OK;
}

static bool compiler_knows(const char *arch, struct arena *arena)
{
    const struct build_target target = build_target_of(arch);
    struct compiler compiler;
    struct err err = {0};
    return !build_find_compiler(&compiler, &target, 0, arena, &err);
}

/* Compares, for every target of --arch or else the first that a compiler here supports, each manifest's launch with the
 * code object's arguments. Kernels are built at their check parameters; images are read. Prints the differences and
 * adds their number to *findings. Needs no GPU. */
static enum status check_code(const struct session *session, size_t *findings, struct err *err)
{
    struct session own = *session; /* its device, plan and code differ from those of a later run */
    if (!own.options->arg_count && session_all_kernels(&own, false, err))
        return err->status;
    const struct cli_options *options = own.options;
    size_t first = 0;
    for (size_t k = 0; k < options->arch_count; k++) {
        const bool knows = compiler_knows(options->archs[k], own.arena);
        if (check_target(&own, options->archs[k], knows, findings, err))
            return err->status;
    }
    if (options->arch_count)
        return STATUS_OK;
    while (first < target_count && !compiler_knows(targets[first].arch, own.arena))
        first++;
    const bool knows = first < target_count;
    return check_target(&own, targets[knows ? first : 0].arch, knows, findings, err);
}

/* ---- runs ---- */

static void print_case(const struct result_case *c, int width)
{
    const struct verification *v = &c->verification;
    if (c->status != CASE_OK) {
        printf("%-8s %-*s  %s\n", case_status_names[c->status], width, c->kernel, c->reason);
        return;
    }
    if (v->verdict != VERIFY_PASS) {
        printf("-        %-*s  not verified: %s\n", width, c->kernel, v->reason);
        return;
    }
    printf("ok       %-*s  %-7s  %8llu elements", width, c->kernel, v->method, (unsigned long long)v->checked);
    if (v->tolerance > WIDE_TOLERANCE)
        printf(", tolerance %.2g %%", v->tolerance * 100);
    if (v->max_abs > 0)
        printf(", largest error %.2g (%.2g relative), %.2g %% of what is allowed", v->max_abs, v->max_rel,
               v->tolerance_used * 100);
    if (v->not_checked[0])
        printf("; not checked: %s", v->not_checked);
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

/* Prints wrong and broken cases; returns their number. */
static size_t print_pass(const char *name, const struct session *session, const struct result *result,
                         UNUSED const struct result *clean, int *code)
{
    const int width = name_width(session->plan);
    size_t bad = 0, skipped = 0, verified = 0;
    printf("%s on %s\n", name, session->info.name);
    FOR_EACH(const struct result_case, c, result->cases, result->case_count) {
        print_case(c, width);
        bad += c->status != CASE_OK && c->status != CASE_SKIPPED;
        skipped += c->status == CASE_SKIPPED;
        verified += c->status == CASE_OK && c->verification.verdict == VERIFY_PASS;
    }
    printf("%zu kernel%s: %zu verified, %zu wrong or broken, %zu skipped\n\n", result->case_count,
           text_s(result->case_count), verified, bad, skipped);
    *code = verified ? result_exit_code(result, session->options->strict) : 3;
    return bad;
}

/* An injected fault must be detected: a case that still passes has a gap in its verification. A case that fails even
 * without a fault proves nothing; the clean pass reports it. */
static size_t print_injection(const char *name, const struct session *session, const struct result *result,
                              const struct result *clean, int *code)
{
    const struct plan *plan = session->plan;
    const int width = name_width(plan);
    size_t missed = 0, caught = 0;
    for (size_t k = 0; k < plan->count; k++) {
        const struct result_case *c = &result->cases[k];
        if (plan->cases[k].verify == VERIFY_NONE || c->status == CASE_SKIPPED)
            continue;
        if (clean->cases[k].status != CASE_OK)
            printf("-        %-*s  is wrong or broken without a fault\n", width, c->kernel);
        else if (c->status == CASE_FAILED || c->status == CASE_CRASHED || c->status == CASE_TIMEOUT)
            caught++;
        else if (c->status == CASE_OK && ++missed)
            printf("MISSED   %-*s  %s went unnoticed\n", width, c->kernel, name);
        else if (c->status == CASE_ERROR)
            printf("-        %-*s  %s\n", width, c->kernel, c->reason);
    }
    printf("%s: noticed in %zu kernel%s, unnoticed in %zu\n", name, caught, text_s(caught), missed);
    *code = caught ? 0 : 3;
    return missed;
}

/* Prints the findings of one pass and returns their number; *code: the exit code without them. */
typedef size_t print_pass_function(const char *name, const struct session *session, const struct result *result,
                                   const struct result *clean, int *code);

/* *result is that of the last pass; `clean` is that of the pass without faults. */
static enum status run_passes(struct result *result, const struct result *clean, struct session *session,
                              const struct execution *passes, size_t count, print_pass_function *print,
                              size_t *findings, int *code, struct err *err)
{
    enum status status = STATUS_OK;
    for (size_t k = 0; k < count && !status; k++) {
        status = execute_plan(result, session, &passes[k], err);
        if (!status)
            *findings += print(passes[k].title, session, result, clean, code);
    }
    return status;
}

/* Runs every kernel in one order of its work-items, or in three. */
static const struct execution orders[] = {
    {.title = "verified", .verify_only = true, .lane_order = LANES_FORWARD},
    {.title = "verified, work-items run backward", .verify_only = true, .lane_order = LANES_BACKWARD},
    {.title = "verified, work-items run in random order", .verify_only = true, .lane_order = LANES_SHUFFLED}};
static const struct execution injections[] = {
    {.title = "a skipped launch", .verify_only = true, .inject = INJECT_SKIP_LAUNCH},
    {.title = "one changed output element", .verify_only = true, .inject = INJECT_FLIP_OUTPUT},
    {.title = "one changed input element", .verify_only = true, .inject = INJECT_PERTURB_INPUT}};

/* ---- the command ---- */

enum status cmd_check(struct call *call, struct err *err)
{
    const struct cli_options *options = call->options;
    const bool runs = options->run || options->inject_faults;
    int codes[2] = {0};
    struct result *result = arena_alloc(call->arena, sizeof(*result)), faulty;
    struct session session = {.options = options, .arena = call->arena, .at_check_params = true};
    session_catch_signals(0);
    if (options->out && !options->run)
        return err_set(err, ERR_USAGE, "-o keeps what --run measures: give --run, too");
    if (options->orders && !options->run)
        return err_set(err, ERR_USAGE, "--orders says how --run verifies: give --run, too");
    if (session_go(&session, SESSION_SUITES | SESSION_CATALOG, err))
        return err->status;
    const struct catalog *catalog = &session.catalog;
    size_t good = 0;
    catalog_all(&good, catalog);
    for (size_t k = 0; k < catalog->count; k++)
        if (catalog->entries[k].problem)
            printf("error    %s\n", catalog->entries[k].problem);
    size_t findings = catalog->count - good;
    printf("%zu manifest%s read, %zu broken\n", catalog->count, text_s(catalog->count), findings);
    for (size_t k = 0; k < session.suite_count; k++)
        if (session.suites[k]->path && session.suites[k]->path[0])
            printf("suite %s: %zu case%s, ok\n", session.suites[k]->path, session.suites[k]->case_count,
                   text_s(session.suites[k]->case_count));
    if ((options->arch_count || !runs) && check_code(&session, &findings, err))
        return err->status;
    call->code = findings ? 2 : 0;
    if (!runs)
        return STATUS_OK;
    if ((!options->arg_count && session_all_kernels(&session, true, err)) ||
        session_go(&session, SESSION_DEVICE | SESSION_MACHINE | SESSION_PLAN | SESSION_CODE | SESSION_PREDICT, err) ||
        run_passes(result, NULL, &session, orders, options->orders ? COUNT_OF(orders) : 1, print_pass, &findings,
                   &codes[0], err) ||
        (options->run && options->out && result_write(result, options->out, err)) ||
        (options->inject_faults && run_passes(&faulty, result, &session, injections, COUNT_OF(injections),
                                              print_injection, &findings, &codes[1], err)))
        return err->status;
    findings += session_say_work(&session);
    call->code = findings ? 1 : codes[0] ? codes[0] : codes[1];
    return STATUS_OK;
}
