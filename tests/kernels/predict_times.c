/* SPDX-License-Identifier: MIT
 *
 *     predict_times MACHINE.json --kernels FOLDER KERNEL [NAME=SWEEP]...
 *
 * Predicts a kernel's cases from its code and writes a row of CSV for each: label, time, interval, terms, in
 * nanoseconds, and what takes the most. Nothing of it is measured.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rooftile/session.h"
#include "rooftile/file.h"
#include "rooftile/predictor.h"

static void print_case(const struct predictor *predictor, const struct plan_case *plan_case,
                       const struct prediction *prediction, double took_ns)
{
    size_t count = 0;
    const struct predicted_launch *launches = predictor_launches(predictor, &count);
    printf("%s,%.1f,%.1f,%.1f,%s,%s", plan_case->id, prediction->time_ns, prediction->low_ns, prediction->high_ns,
           prediction->method, prediction->bound);
    for (int term = 0; term < TERM_COUNT; term++)
        printf(",%s=%.0f", prediction_term_name((enum prediction_term)term), prediction->term_ns[term]);
    for (size_t k = 0; k < count && getenv("WALK_DETAILS"); k++)
        printf(",[%s clocks=%.0f instr=%.0f rounds=%.2f resident=%.0f unk=%zu jumps]", launches[k].launch->symbol,
               launches[k].walk->clocks, launches[k].walk->sums.instructions, launches[k].model.rounds,
               launches[k].model.resident, launches[k].walk->unknown_count);
    printf(",walked in %.1f ms", took_ns / 1e6);
    for (uint32_t k = 0; k < prediction->note_count; k++)
        printf(",%s", prediction->notes[k]);
    printf("\n");
}

static enum status predict_all(struct session *session, struct err *err)
{
    struct predictor *predictor = predictor_new(1);
    enum status status = STATUS_OK;
    for (size_t k = 0; k < session->plan->count && !status; k++) {
        const struct plan_case *plan_case = &session->plan->cases[k];
        struct prediction prediction;
        if (plan_case->state != PLAN_READY)
            continue;
        const clock_t begin = clock(); /* of this process: whoever else is busy does not count */
        status = predictor_case(&prediction, predictor, &plan_case->resolved, session->builds, CACHE_HOT,
                                &session->machine, err);
        if (!status)
            print_case(predictor, plan_case, &prediction, (double)(clock() - begin) / CLOCKS_PER_SEC * 1e9);
    }
    predictor_free(predictor);
    return status;
}

int main(int argc, char **argv)
{
    struct arena arena = {0};
    struct err err = {0};
    struct machine_borrowed borrowed = {0};
    if (argc < 5)
        return 2;
    struct cli_options options = {.cache_dir = getenv("ROOFTILE_CACHE"),
                                  .kernel_dirs = (const char *const *)&argv[3],
                                  .kernel_dir_count = 1,
                                  .sets = (const char *const *)&argv[5],
                                  .set_count = (size_t)argc - 5};
    struct session session = {
        .options = &options, .arena = &arena, .args = (const char *const *)argv + 4, .arg_count = 1};
    enum status status = machine_read(&session.machine, argv[1], &err);
    if (!status)
        status = machine_complete(&session.machine, path_dir(&arena, argv[1]), &borrowed, &err);
    const struct machine machine = session.machine;
    if (!status)
        status = session_go(&session, SESSION_SUITES | SESSION_CATALOG, &err);
    if (!status)
        status = session_target(&session, machine.arch, &err);
    session.machine = machine;
    if (!status)
        status = session_go(&session, SESSION_PLAN | SESSION_CODE, &err);
    if (!status)
        status = predict_all(&session, &err);
    if (status)
        fprintf(stderr, "%s\n", err.text);
    arena_release(&arena);
    return status != STATUS_OK;
}
