/* SPDX-License-Identifier: MIT
 *
 * Compares two builds of kernels without a device.
 */

#include "cli.h"
#include "pins.h"
#include "rooftile/codediff.h"
#include "rooftile/device_model.h"
#include "rooftile/inspections.h"
#include "rooftile/predictor.h"
#include "rooftile/sides.h"
#include "rooftile/targets.h"

/* ---- the two sides ---- */

struct build {
    struct side_word of;
    struct session session;
    struct inspections found;
    const char *const *words; /* arguments after A and B */
    size_t word_count;
};

/* Reads a code object or library; further arguments select kernels. */
static enum status read_object(struct build *build, const struct cli_options *options, struct arena *arena,
                               struct err *err)
{
    const struct inspect_choice choice = {
        .archs = options->archs,
        .arch_count = options->arch_count,
        .filters = build->word_count ? build->words : options->filters,
        .filter_count = build->word_count ? build->word_count : options->filter_count,
        .block = options->block,
    };
    struct inspection inspection = {0};
    if (inspect_file(&inspection, build->of.path, &choice, arena, err))
        return argument_explain(err, build->of.path, "compiled code", arena);
    ARENA_PUSH(arena, build->found.items, build->found.count, inspection);
    return STATUS_OK;
}

/* ---- walking both in one launch ---- */

#define USUAL_BLOCK 256u
#define ROUNDS 16u /* workgroups per compute unit: several at once, in several rounds */
#define USUAL_CUS 64.0
#define APART (UINT64_C(1) << 36) /* address distance between buffers */

/* The machine with the target of the last request. */
struct walk_machine {
    const char *arch; /* NULL: no request yet */
    bool is_known;
    struct machine machine;
};

static const uint64_t sizes[] = {1u << 21, 1u << 12};

static struct walk_launch made_up(const struct code_pair *pair, int side, double cus, uint64_t size,
                                  const struct cli_options *options, struct arena *arena)
{
    const struct inspect_kernel *kernel = side ? pair->after : pair->before;
    const struct walk_code *code = walk_decode(kernel->isa, pair->target, arena);
    const size_t count = kernel->code->explicit_count;
    /* Number of work-items per workgroup that both builds allow. */
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

static double cus_of(const struct walk_machine *machine)
{
    return machine->is_known && machine->machine.cus ? machine->machine.cus : USUAL_CUS;
}

/* Returns NAN if the time is unknown. */
static double walked_time(const struct walk_launch *launch, const struct walk_machine *machine, struct arena *arena)
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
    device_predict(&prediction, &model, &machine->machine, &full, &options, &walk, COST_NONE, "vector_f32");
    return prediction.time_ns > 0 ? prediction.time_ns : (double)NAN;
}

/* Returns NULL if the walk exceeds its budget or depends on unknown values. */
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

/* Returns NULL if one of them cannot be walked in the launch. */
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

/* Sets `walked`, the times and `executed` of both sides of a pair with different code, if both can be walked in the
 * same launch without unknowns. The launch is that of the case (`before` and `after`). For code objects a launch is
 * made up, the same for both builds: it fills the device several times, every pointer has memory of its own, and every
 * integer of 4 or 8 bytes is 2 Mi, or 4 Ki if that takes too long. The time is that of a machine with the target and
 * all data in L2, so that memory time hides no difference. */
static void codediff_walk(struct code_pair *pair, const struct inspected_launch *before,
                          const struct inspected_launch *after, struct walk_machine *machine,
                          const struct cli_options *options, struct arena *arena)
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
        pair->time_ns[side] = walked_time(&launches[side], machine, arena);
}

/* ---- pairs ---- */

/* A kernel of one side. */
struct item {
    const char *label;
    const struct codeobj *object;
    const struct inspect_kernel *kernel;
    bool taken;
};

struct items {
    struct item *list;
    size_t count;
};

/* Returns the length of a mangled name that identifies the function and its argument types; names of file-local
 * functions end in a hash of the file, which differs. */
static size_t name_length(const char *name)
{
    const char *hash = strstr(name, ".intern.");
    hash = hash ? hash : strstr(name, "__intern__");
    return hash ? (size_t)(hash - name) : strlen(name);
}

static bool is_same(const struct item *a, const struct item *b, bool of_catalog)
{
    const char *x = a->kernel->code->name, *y = b->kernel->code->name;
    const size_t length = name_length(x), count = a->kernel->code->explicit_count;
    bool same = !strcmp(a->object->target, b->object->target) && length == name_length(y) && !memcmp(x, y, length) &&
                (of_catalog ? !strcmp(a->label, b->label) : count == b->kernel->code->explicit_count);
    for (size_t k = 0; k < count && same && !of_catalog; k++) {
        const struct codeobj_arg *of_a = &a->kernel->code->args[k], *of_b = &b->kernel->code->args[k];
        same = of_a->size_bytes == of_b->size_bytes && of_a->is_pointer == of_b->is_pointer;
    }
    return same;
}

static const char *only_name(const struct item *item, struct arena *arena)
{
    return arena_printf(arena, "%s (%s)", item->label, item->object->target);
}

static enum status pair_up(struct codediff *diff, struct build *builds, const struct cli_options *options,
                           struct arena *arena, struct err *err)
{
    struct walk_machine machine = {0};
    struct items sides[2] = {0};
    for (int k = 0; k < 2; k++)
        FOR_EACH(const struct inspection, found, builds[k].found.items, builds[k].found.count)
            FOR_EACH(const struct inspect_object, object, found->objects, found->object_count)
                FOR_EACH(const struct inspect_kernel, kernel, object->kernels, object->kernel_count) {
                    const char *label = found->label ? found->label : kernel->code->name;
                    ARENA_PUSH(arena, sides[k].list, sides[k].count, (struct item){label, object->code, kernel, false});
                }
    session_catch_signals(1);
    for (size_t i = 0; i < sides[0].count; i++) {
        if (session_stop)
            return err_set(err, ERR_INTERRUPTED, "interrupted");
        struct item *a = &sides[0].list[i], *b = NULL;
        for (size_t j = 0; j < sides[1].count && !b; j++)
            if (!sides[1].list[j].taken && is_same(a, &sides[1].list[j], builds[0].of.kind != SIDE_OBJECT))
                b = &sides[1].list[j];
        if (!b) {
            ARENA_PUSH(arena, diff->only[0], diff->only_count[0], only_name(a, arena));
            continue;
        }
        a->taken = b->taken = true;
        struct code_pair pair = {.name = a->kernel->code->name,
                                 .label = a->label,
                                 .target = a->object->target,
                                 .before = a->kernel,
                                 .after = b->kernel,
                                 .objects = {a->object, b->object}};
        progress_show(options, "comparing kernels: %zu of %zu (%s)", i + 1, sides[0].count, a->label);
        codediff_walk(&pair, builds[0].found.launches, builds[1].found.launches, &machine, options, arena);
        code_pair_compare(&pair, arena);
        ARENA_PUSH(arena, diff->pairs, diff->count, pair);
    }
    for (size_t j = 0; j < sides[1].count; j++)
        if (!sides[1].list[j].taken)
            ARENA_PUSH(arena, diff->only[1], diff->only_count[1], only_name(&sides[1].list[j], arena));
    return STATUS_OK;
}

/* ---- the command ---- */

static enum status compare(struct codediff *diff, struct build *builds, struct call *call, struct err *err)
{
    const struct cli_options *options = call->options;
    enum status status = STATUS_OK;
    for (int k = 0; k < 2 && !status; k++) {
        status = side_find(&builds[k].of, options->args[k], "codediff", call->arena, err);
        builds[k].words = options->args + 2;
        builds[k].word_count = options->arg_count - 2;
        diff->names[k] = options->args[k];
    }
    if (!status)
        status = sides_check(&builds[0].of, &builds[1].of, "codediff", err);
    static const char *const none[] = {NULL};
    for (int k = 0; k < 2 && !status; k++) {
        struct build *build = &builds[k];
        build->session = (struct session){.options = options,
                                          .arena = call->arena,
                                          .args = build->word_count ? build->words : none,
                                          .arg_count = build->word_count};
        side_use(&build->session, &build->of);
        status = build->of.kind == SIDE_OBJECT ? read_object(build, options, call->arena, err)
                                               : inspections_build(&build->found, &build->session, err);
    }
    if (status || pair_up(diff, builds, options, call->arena, err))
        return err->status;
    for (int k = 0; k < 2; k++)
        for (size_t n = 0; n < builds[k].found.problem_count; n++)
            ARENA_PUSH(call->arena, diff->problems, diff->problem_count,
                       arena_printf(call->arena, "%s: %s", diff->names[k], builds[k].found.problems[n]));
    if (!diff->count)
        return err_set(err, ERR_CONFIG, "no kernel is in both %s and %s%s%s", diff->names[0], diff->names[1],
                       diff->problem_count ? ": " : "", diff->problem_count ? diff->problems[0] : "");
    return STATUS_OK;
}

enum status cmd_codediff(struct call *call, struct err *err)
{
    const struct cli_options *options = call->options;
    const struct codediff_look look = {.isa = options->isa, .verbose = options->verbose > 0};
    struct document document = {.arena = call->arena};
    struct codediff diff = {.pins = options->pin};
    struct build *builds = arena_array(call->arena, 2, sizeof(*builds));
    session_catch_signals(1);
    if (compare(&diff, builds, call, err) ||
        (options->pin && pins_apply(&diff, options->pin, options->force, call->arena, err)))
        return err->status;
    codediff_document(&document, &diff, &look);
    call->code = codediff_count(&diff, CODE_HURT) ? 1 : 0;
    return cli_show_document(options, &document, false, err);
}
