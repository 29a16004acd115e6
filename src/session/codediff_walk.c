/* SPDX-License-Identifier: MIT */
#include "rooftile/codediff_walk.h"

#include "rooftile/device_model.h"
#include "rooftile/predictor.h"
#include "rooftile/targets.h"

/* ---- the launch ---- */

#define USUAL_BLOCK 256u
#define ROUNDS 16u /* workgroups of a compute unit: it has several at once, and several times */
#define USUAL_CUS 64.0
#define APART (UINT64_C(1) << 36) /* from one buffer to the next */

static const uint64_t sizes[] = {1u << 21, 1u << 12};

static struct walk_launch made_up(const struct code_pair *pair, int side, double cus, uint64_t size,
                                  const struct cli_options *options, struct arena *arena)
{
    const struct inspect_kernel *kernel = side ? pair->after : pair->before;
    const struct walk_code *code = walk_decode(kernel->isa, pair->target, arena);
    const size_t count = kernel->code->explicit_count;
    /* Work-items of a workgroup that both builds allow. */
    const uint32_t a = pair->before->code->max_block, b = pair->after->code->max_block, most = a && a < b ? a : b;
    const uint32_t block = most && most < USUAL_BLOCK ? most : USUAL_BLOCK;
    struct resolved_arg *args = arena_array(arena, count + 1, sizeof(*args));
    struct predicted_buffers buffers = {.items = arena_array(arena, count + 1, sizeof(*buffers.items)), .count = count};
    struct resolved_launch launch = {.grid = {ROUNDS * (uint32_t)cus, 1, 1},
                                     .block = {options->block ? options->block : block, 1, 1},
                                     .args = args,
                                     .arg_count = count};
    struct walk_launch walk = {.code = NULL};
    if (kernel->code->required_block[0])
        memcpy(launch.block, kernel->code->required_block, sizeof(launch.block));
    for (size_t k = 0; k < count; k++) {
        buffers.items[k] = (struct walk_buffer){.base = (k + 1) * APART, .size_bytes = APART / 2};
        args[k].buffer = kernel->code->args[k].is_pointer ? (int)k : -1;
        memcpy(args[k].value, &size, kernel->code->args[k].is_pointer ? 0 : sizeof(size));
    }
    if (code)
        predicted_launch_make(&walk, &launch, &buffers, code, arena);
    return walk;
}

/* ---- the machine ---- */

static double cus_of(const struct walk_machine *machine)
{
    return machine->is_known && machine->machine.cus ? machine->machine.cus : USUAL_CUS;
}

/* ---- the walk ---- */

/* NAN: not known. */
static double time_of(const struct walk_launch *launch, const struct walk_machine *machine, struct arena *arena)
{
    struct walk_launch full = *launch;
    struct device_launch_model model;
    struct walk_options options;
    struct walk_result walk;
    struct prediction prediction = {0};
    struct err err = {0};
    if (!machine->is_known)
        return NAN;
    const double groups = (double)launch->grid[0] * launch->grid[1] * launch->grid[2];
    full.grid[0] *= (uint32_t)fmax(1, ceil(ROUNDS * cus_of(machine) / groups));
    device_walk_options(&options, &model, &machine->machine, &full, 0, COST_NONE);
    if (walk_run(&walk, launch, &options, arena, &err) || walk.over_budget)
        return NAN;
    device_predict(prediction.term_ns, &model, &machine->machine, &full, &options, &walk, COST_NONE);
    prediction_conclude(&prediction, &machine->machine, "vector_f32", DEVICE_NORM, device_spread(&walk));
    return prediction.time_ns > 0 ? prediction.time_ns : (double)NAN;
}

/* NULL: it ends at its budget, or at what nobody knows. */
static const double *executed_of(const struct walk_launch *launch, struct arena *arena)
{
    const struct walk_options options = {.clocks = walk_clocks_usual, .counts_each = true};
    struct walk_result walk;
    struct err err = {0};
    if (!launch->code || walk_run(&walk, launch, &options, arena, &err) || walk.over_budget || walk.unknown_count)
        return NULL;
    return walk.executed;
}

static const struct inspect_kernel *with_executed(const struct inspect_kernel *kernel, const double *executed,
                                                  struct arena *arena)
{
    struct inspect_kernel *copy = arena_copy(arena, kernel, sizeof(*kernel));
    struct isa_kernel *isa = arena_copy(arena, kernel->isa, sizeof(*isa));
    isa->executed = executed;
    copy->isa = isa;
    return copy;
}

/* NULL: one of them cannot be walked in it. */
static const char *walk_made_up(struct code_pair *pair, struct walk_launch launches[2], uint64_t size, double cus,
                                const struct cli_options *options, struct arena *arena)
{
    const double *executed[2] = {NULL, NULL};
    for (int side = 0; side < 2 && (side == 0 || executed[0]); side++) {
        launches[side] = made_up(pair, side, cus, size, options, arena);
        executed[side] = executed_of(&launches[side], arena);
    }
    if (!executed[0] || !executed[1])
        return NULL;
    pair->before = with_executed(pair->before, executed[0], arena);
    pair->after = with_executed(pair->after, executed[1], arena);
    return arena_printf(arena, "a made-up launch (workgroups of %u threads, %s for each whole number)",
                        launches[0].block[0] * launches[0].block[1] * launches[0].block[2],
                        size == sizes[0] ? "2Mi" : "4Ki");
}

static const struct inspected_launch *launch_of(const struct inspected_launch *launches, const struct isa_kernel *isa)
{
    while (launches && launches->executed != isa->executed)
        launches = launches->next;
    return launches;
}

void codediff_walk(struct code_pair *pair, const struct inspected_launch *before, const struct inspected_launch *after,
                   struct walk_machine *machine, const struct cli_options *options, struct arena *arena)
{
    const struct isa_kernel *a = pair->before->isa, *b = pair->after->isa;
    struct walk_launch launches[2];
    pair->time_ns[0] = pair->time_ns[1] = NAN;
    if (!a || !b || !target_is_amd(pair->target) ||
        !strcmp(pair->before->code->code_sha256, pair->after->code->code_sha256))
        return;
    if (!machine->arch || strcmp(machine->arch, pair->target) != 0) {
        struct session session = {.options = options, .arena = arena};
        struct machine_borrowed borrowed = {0};
        struct err err = {0};
        machine->arch = pair->target;
        machine->is_known = !session_target(&session, pair->target, &err) && session.machine.level_count > 0 &&
                            !machine_complete(&session.machine, session_config(arena, "", "machines"), &borrowed, &err);
        machine->machine = session.machine;
    }
    if (pair->before->launch) {
        const struct inspected_launch *of[2] = {launch_of(before, a), launch_of(after, b)};
        pair->walked = a->executed && b->executed && of[0] && of[1] ? "the launch of its case" : NULL;
        for (int side = 0; side < 2 && pair->walked; side++)
            launches[side] = of[side]->walk;
    }
    for (size_t k = 0; k < COUNT_OF(sizes) && !pair->before->launch && !pair->walked; k++)
        pair->walked = walk_made_up(pair, launches, sizes[k], cus_of(machine), options, arena);
    for (int side = 0; side < 2 && pair->walked; side++)
        pair->time_ns[side] = time_of(&launches[side], machine, arena);
}
