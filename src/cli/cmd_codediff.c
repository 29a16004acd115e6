/* SPDX-License-Identifier: MIT
 *
 * What changed between two builds of kernels, without a device.
 */

#include "cli.h"
#include "pins.h"
#include "rooftile/codediff.h"
#include "rooftile/codediff_walk.h"
#include "rooftile/inspections.h"
#include "rooftile/sides.h"

/* ---- the two sides ---- */

struct build {
    struct side_word of;
    struct session session;
    struct inspections found;
    const char *const *words; /* behind A and B */
    size_t word_count;
};

/* A code object or library: further words are the kernels that are wanted. */
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

static bool same_arguments(const struct codeobj_kernel *a, const struct codeobj_kernel *b)
{
    if (a->explicit_count != b->explicit_count)
        return false;
    for (size_t k = 0; k < a->explicit_count; k++)
        if (a->args[k].size_bytes != b->args[k].size_bytes || a->args[k].is_pointer != b->args[k].is_pointer)
            return false;
    return true;
}

/* Mangled names say name and argument types; those of functions inside a file end in a hash of it, which differs. */
static size_t name_length(const char *name)
{
    const char *hash = strstr(name, ".intern.");
    hash = hash ? hash : strstr(name, "__intern__");
    return hash ? (size_t)(hash - name) : strlen(name);
}

static bool is_same(const struct item *a, const struct item *b, bool of_catalog)
{
    const char *x = a->kernel->code->name, *y = b->kernel->code->name;
    const size_t length = name_length(x);
    return !strcmp(a->object->target, b->object->target) && length == name_length(y) && !memcmp(x, y, length) &&
           (of_catalog ? !strcmp(a->label, b->label) : same_arguments(a->kernel->code, b->kernel->code));
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
