/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "rooftile/targets.h"
#include "services.h"

struct tally {
    size_t compiled, cached, failed, skipped;
};

static void report_code(const struct build_request *request, const struct build_result *result, struct tally *tally,
                        const struct cli_options *options)
{
    switch (result->state) {
    case BUILD_FAILED:
        tally->failed++;
        printf("FAILED   %s\n%s\n", request->asked_by, result->message);
        break;
    case BUILD_SKIPPED:
        tally->skipped++;
        printf("skipped  %s: %s\n", request->asked_by, result->message);
        break;
    default:
        *(result->state == BUILD_CACHED ? &tally->cached : &tally->compiled) += 1;
        if (options->verbose)
            printf("%-8s %s\n         %s\n", result->state == BUILD_CACHED ? "cached" : "compiled", request->asked_by,
                   result->object);
    }
}

/* What a run on this device would compile beside the cases. */
static enum status build_services(struct session *session, struct tally *tally, size_t *count, struct err *err)
{
    struct service_code services[SERVICE_COUNT] = {0};
    if (!services_wanted(session, SERVICE_BLOCKING))
        return STATUS_OK;
    enum status status = services_prepare(services, session, &session_stop, err);
    for (int which = 0; which < SERVICE_COUNT && !status; which++)
        for (size_t k = 0; services[which].plan && k < services[which].plan->code_count; k++, ++*count)
            report_code(&services[which].plan->codes[k], &services[which].builds[k], tally, session->options);
    return status;
}

/* Kernels that this target cannot have at all: no code is asked for, so nothing else would name them. */
static void report_skipped(const struct plan *plan)
{
    const struct manifest *last = NULL;
    const char *reason = "";
    for (size_t k = 0; k < plan->count; k++) {
        const struct plan_case *c = &plan->cases[k];
        if (c->state != PLAN_SKIPPED || (c->resolved.manifest == last && !strcmp(c->reason, reason)))
            continue;
        last = c->resolved.manifest;
        reason = c->reason;
        printf("skipped  %s: %s\n", c->label, reason);
    }
}

static enum status build_target_codes(struct session *session, struct tally *total, struct err *err)
{
    const bool everything = !session->options->arg_count;
    enum status status = everything ? session_all_kernels(session, false, err) : STATUS_OK;
    if (!status)
        status = session_plan(session, false, err);
    if (!status)
        status = session_build(session, &session_stop, err);
    if (status)
        return status;
    struct tally tally = {0};
    for (size_t k = 0; k < session->plan->code_count; k++)
        report_code(&session->plan->codes[k], &session->builds[k], &tally, session->options);
    report_skipped(session->plan);
    size_t count = session->plan->code_count;
    status = build_services(session, &tally, &count, err);
    if (status)
        return status;
    printf("%s: %zu code objects: %zu compiled, %zu from the cache, %zu failed, %zu skipped\n", session->info.target,
           count, tally.compiled, tally.cached, tally.failed, tally.skipped);
    total->failed += tally.failed;
    return STATUS_OK;
}

/* A target that nobody here knows is said once, not for every kernel. */
static enum status build_arch(struct session *session, const char *arch, struct tally *total, struct err *err)
{
    const struct build_target target = build_target_of(arch);
    struct compiler compiler;
    if (build_find_compiler(&compiler, &target, 0, session->arena, err) == ERR_UNSUPPORTED) {
        printf("%s: %s\n", arch, err->text);
        total->failed++;
        return STATUS_OK;
    }
    enum status status = session_target(session, arch, err);
    return status ? status : build_target_codes(session, total, err);
}

/* ---- references ---- */

/* The codes of the session's plan that run on the processor: the others need a compiler that may not be here. */
static enum status build_plan_references(struct session *session, struct tally *tally, struct err *err)
{
    struct plan *plan = arena_copy(session->arena, session->plan, sizeof(*plan));
    struct build_request *codes = arena_array(session->arena, plan->code_count + 1, sizeof(*codes));
    size_t count = 0;
    for (size_t k = 0; k < plan->code_count; k++)
        if (plan->codes[k].target.kind == BUILD_CPU)
            codes[count++] = plan->codes[k];
    plan->codes = codes;
    plan->code_count = count;
    enum status status = session_build_plan(&session->builds, session, plan, &session_stop, err);
    for (size_t k = 0; k < count && !status; k++)
        report_code(&codes[k], &session->builds[k], tally, session->options);
    return status;
}

static enum status build_target_references(struct session *session, const char *arch, struct tally *tally,
                                           struct err *err)
{
    const struct suite *const *suites = session->suites;
    const size_t suite_count = session->suite_count;
    enum status status = session_target(session, arch, err);
    if (!status && suite_count)
        status = session_plan(session, false, err);
    if (!status && suite_count)
        status = build_plan_references(session, tally, err);
    if (!status)
        status = session_all_kernels(session, true, err);
    if (!status)
        status = session_plan(session, true, err);
    if (!status)
        status = build_plan_references(session, tally, err);
    session->suites = suites;
    session->suite_count = suite_count;
    return status;
}

/* Targets differ in types and sizes, and so in what is compared with; most references are the same for all. */
static enum status build_references(struct session *session, struct tally *total, struct err *err)
{
    const struct cli_options *options = session->options;
    const size_t count = options->arch_count ? options->arch_count : TARGET_COUNT;
    enum status status = STATUS_OK;
    for (size_t k = 0; k < count && !status; k++)
        status =
            build_target_references(session, options->arch_count ? options->archs[k] : targets[k].arch, total, err);
    if (!status)
        printf("references for %zu targets: %zu compiled, %zu failed, %zu skipped\n", count, total->compiled,
               total->failed, total->skipped);
    return status;
}

int cmd_build(const struct cli_options *options, struct arena *arena)
{
    struct session session = {.options = options, .arena = arena};
    struct err err = {0};
    struct tally total = {0};
    session_catch_signals();
    enum status status = session_suites(&session, &err);
    if (!status)
        status = session_catalog(&session, &err);
    if (!status && options->references) {
        status = build_references(&session, &total, &err);
    } else if (!status && !options->arch_count) {
        status = session_device(&session, &err);
        if (!status)
            status = session_machine(&session, &err);
        if (!status)
            status = build_target_codes(&session, &total, &err);
    }
    for (size_t k = 0; k < options->arch_count && !options->references && !status; k++)
        status = build_arch(&session, options->archs[k], &total, &err);
    if (status)
        return cli_fail(&err);
    return total.failed ? 1 : 0;
}
