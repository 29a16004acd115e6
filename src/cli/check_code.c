/* SPDX-License-Identifier: MIT */
#include "check_code.h"

#include <stdio.h>
#include <string.h>

#include "codes.h"
#include "rooftile/targets.h"

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
    for (size_t k = 0; k < plan_case->bound.code_count; k++) {
        const size_t code = plan_case->bound.codes[k];
        if (!codes->files[code] && !codes->problems[code])
            return &codes->session->builds[code];
    }
    return NULL;
}

static void check_case(struct tally *tally, const struct codes *codes, const struct plan_case *plan_case)
{
    const char *name = plan_case->bound.manifest->name;
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

enum status check_code(const struct session *session, size_t *findings, struct err *err)
{
    struct session own = *session; /* its device, plan and code are not those of a run that may follow */
    if (!own.options->arg_count && session_all_kernels(&own, false, err))
        return err->status;
    return check_targets(&own, findings, err);
}
