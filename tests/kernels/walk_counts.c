/* SPDX-License-Identifier: MIT
 *
 *     walk_counts ARCH KERNEL...
 *
 * Walks every launch of kernels at their check sizes, all workgroups, and writes what
       tests/data/emulated/ARCH.csv has:
 * object, kernel, symbol, grid, block, waves, instructions of all of them, those of each wave, and what
 * was not known. Launches that are alike are one row.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rooftile/session.h"
#include "rooftile/predictor.h"

struct counts {
    uint64_t *items;
    size_t count, room;
    uint64_t sum;
    uint32_t waves; /* of a workgroup */
};

static void keep(void *context, uint64_t workgroup, uint32_t wave, uint64_t instructions)
{
    struct counts *counts = context;
    const size_t at = (size_t)workgroup * counts->waves + wave;
    if (at < counts->room)
        counts->items[at] = instructions;
    counts->sum += instructions;
    counts->count++;
}

/* "15*71 3" */
static void print_counts(const struct counts *counts)
{
    struct text text = {0};
    for (size_t k = 0, next; k < counts->count; k = next) {
        for (next = k + 1; next < counts->count && counts->items[next] == counts->items[k];)
            next++;
        text_add(&text, k ? " " : "");
        if (next - k > 1)
            text_addf(&text, "%zu*", next - k);
        text_addf(&text, "%llu", (unsigned long long)counts->items[k]);
    }
    printf("%s", text.data ? text.data : "");
    text_release(&text);
}

static void walk_launch(struct predictor *predictor, const struct session *session, const char *kernel,
                        const struct resolved_launch *launch, struct predicted_buffers *buffers)
{
    struct err err = {0};
    const struct walk_options options = {.clocks = walk_clocks_usual,
                                         .every_group = true,
                                         .budget = 20000000};
    const char *why = NULL;
    const struct walk_code *code =
        predictor_code(predictor, session->builds[launch->code].object, launch->symbol, &why);
    if (!code) {
        printf("%s,%s,%s\n", kernel, launch->symbol, why);
        return;
    }
    struct walk_launch walk;
    struct walk_result result;
    predicted_launch_make(&walk, launch, buffers, code, session->arena);
    const uint32_t lanes = walk.code_object->code.wave;
    struct counts counts = {.waves = (walk.block[0] * walk.block[1] * walk.block[2] + lanes - 1) / lanes};
    counts.room = (size_t)counts.waves * walk.grid[0] * walk.grid[1] * walk.grid[2];
    counts.items = calloc(counts.room, sizeof(*counts.items));
    if (walk_each_wave(&walk, &options, keep, &counts, &result, session->arena, &err)) {
        printf("%s,%s,%s\n", kernel, launch->symbol, err.text);
    } else {
        printf("%s,%s,%s,%ux%ux%u,%ux%ux%u,%zu,%llu,", session->builds[launch->code].object, kernel,
              launch->symbol, walk.grid[0], walk.grid[1], walk.grid[2],
               walk.block[0], walk.block[1], walk.block[2], counts.count, (unsigned long long)counts.sum);
        print_counts(&counts);
        printf(",");
        for (size_t k = 0; k < result.unknown_count; k++)
            printf("%s%s@%llx*%.0f", k ? " " : "", result.unknowns[k].mnemonic,
                   (unsigned long long)result.unknowns[k].address, result.unknowns[k].times);
        printf(",");
        for (size_t k = 0; k < result.not_executed_count; k++)
            printf("%s%s", k ? " " : "", result.not_executed[k]);
        printf(",%s\n", result.over_budget ? "budget" : "");
    }
    for (size_t k = 0; k < buffers->count; k++)
        if (result.stored[k])
            buffers->items[k].fill = NULL;
    free(counts.items);
}

static void walk_steps(struct predictor *predictor, const struct session *session, const char *kernel,
                       const struct resolved_step *steps, size_t count, struct predicted_buffers *buffers)
{
    for (size_t k = 0; k < count; k++) {
        const uint64_t repeat = steps[k].repeat < 3 ? steps[k].repeat : 3;
        for (uint64_t pass = 0; pass < repeat; pass++) {
            walk_steps(predictor, session, kernel, steps[k].steps, steps[k].step_count, buffers);
            if (steps[k].kind == STEP_LAUNCH)
                walk_launch(predictor, session, kernel, &steps[k].launch, buffers);
            else if (steps[k].kind == STEP_COPY || steps[k].kind == STEP_FILL)
                buffers->items[steps[k].to].fill = NULL;
        }
    }
}

static void walk_case(struct predictor *predictor, const struct session *session, const struct plan_case *plan_case)
{
    struct err err = {0};
    struct predicted_buffers buffers = {0};
    const struct resolved *resolved = &plan_case->resolved;
    if (predicted_buffers_make(&buffers, resolved, 1, session->arena, &err)) {
        printf("%s,,%s\n", resolved->manifest->name, err.text);
        return;
    }
    walk_steps(predictor, session, resolved->manifest->name, resolved->setup, resolved->setup_count, &buffers);
    walk_steps(predictor, session, resolved->manifest->name, resolved->steps, resolved->step_count, &buffers);
}

/* What scripts/emulator/hip.c says of its device, so that kernels that fill a device are launched alike. */
static void take_emulated_facts(struct device_facts *facts)
{
    facts->cus = facts->unit.units = 4;
    if (facts->unit_pairs)
        facts->unit.units = 2;
    facts->xccs = 1;
    facts->core_hz = 2.1e9;
    facts->cooperative = 1;
}

int main(int argc, char **argv)
{
    struct arena arena = {0};
    struct err err = {0};
    struct cli_options options = {.cache_dir = getenv("ROOFTILE_CACHE")};
    struct session session = {.options = &options, .arena = &arena, .at_check_params = true};
    if (argc < 3)
        return 2;
    session.args = (const char *const *)argv + 2;
    session.arg_count = (size_t)argc - 2;
    enum status status = session_go(&session, SESSION_SUITES | SESSION_CATALOG, &err);
    if (!status)
        status = session_target(&session, argv[1], &err);
    take_emulated_facts(&session.facts);
    if (!status)
        status = session_go(&session, SESSION_PLAN | SESSION_CODE, &err);
    if (status) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    struct predictor *predictor = predictor_new(1);
    for (size_t k = 0; k < session.plan->count; k++) {
        const struct plan_case *plan_case = &session.plan->cases[k];
        if (plan_case->state == PLAN_READY)
            walk_case(predictor, &session, plan_case);
        else
            printf("%s,,%s\n", plan_case->label ? plan_case->label : "", plan_case->reason);
    }
    predictor_free(predictor);
    arena_release(&arena);
    return 0;
}
