/* SPDX-License-Identifier: MIT */
#include "codes.h"

#include <math.h>
#include <string.h>

#include "rooftile/isa.h"
#include "rooftile/launch_fit.h"

void codes_open(struct codes *codes, const struct session *session)
{
    const struct plan *plan = session->plan;
    struct arena *arena = session->arena;
    codes->session = session;
    codes->files = arena_array(arena, plan->code_count + 1, sizeof(*codes->files));
    codes->problems = arena_array(arena, plan->code_count + 1, sizeof(*codes->problems));
    codes->loops = arena_array(arena, plan->code_count + 1, sizeof(*codes->loops));
    for (size_t k = 0; k < plan->code_count && !session->info.predicted; k++) {
        const struct build_result *build = &session->builds[k];
        const bool built = build->state == BUILD_CACHED || build->state == BUILD_COMPILED;
        /* An image for other targets can still be compared, though not launched. */
        const char *path = built ? build->object : build->state == BUILD_SKIPPED ? plan->codes[k].image : NULL;
        struct err err = {0};
        if (plan->codes[k].library)
            continue;
        if (plan->codes[k].target.kind != BUILD_CPU && path && codeobj_read(&codes->files[k], path, arena, &err))
            codes->problems[k] = arena_strdup(arena, err.text);
    }
}

/* ---- do the launches fit? ---- */

struct difference_search {
    struct text *out;
    const struct codes *codes;
    const struct resolved *resolved;
    bool unread; /* code that cannot be read is a difference too */
};

static void add_line(struct text *out, const char *line)
{
    /* Launches of one kernel in several steps have the same differences: each is said once. */
    if (out->length && strstr(out->data, line))
        return;
    text_addf(out, "%s%s", out->length ? "\n" : "", line);
}

/* "it has 'a', 'b' and 5 more". */
static void name_kernels(struct text *out, const struct codeobj_file *file)
{
    const struct codeobj *object = file->objects;
    text_add(out, object->kernel_count ? "it has " : "it has none");
    for (size_t k = 0; k < object->kernel_count && k < 4; k++)
        text_addf(out, "%s'%s'", k ? ", " : "", object->kernels[k].name);
    if (object->kernel_count > 4)
        text_addf(out, " and %zu more", object->kernel_count - 4);
}

/* The claim is about the launch that is measured. */
static void compare_claim(struct text *found, const struct resolved *resolved, const struct resolved_launch *launch,
                          const struct codeobj *object, const struct codeobj_kernel *kernel)
{
    struct text differs = {0};
    if (launch == launch_first_timed(resolved) &&
        launch_claim_differs(&differs, resolved, launch, object->target, kernel))
        add_line(found, differs.data);
    text_release(&differs);
}

static void compare_launch(void *context, const struct resolved_launch *launch)
{
    struct difference_search *search = context;
    const struct codes *codes = search->codes;
    const struct codeobj_file *file = codes->files[launch->code];
    struct text found = {0};
    if (search->unread && codes->problems[launch->code])
        add_line(search->out, codes->problems[launch->code]);
    if (!file)
        return;
    const struct codeobj *object = NULL;
    const struct codeobj_kernel *kernel = codeobj_find_kernel(&object, file, NULL, launch->symbol);
    if (!kernel) {
        text_addf(&found, "the code object %s has no kernel '%s': ", file->path, launch->symbol);
        name_kernels(&found, file);
    } else {
        launch_fit(&found, search->resolved, launch, kernel, codes->session->info.lds_bytes);
        compare_claim(&found, search->resolved, launch, object, kernel);
    }
    if (found.length)
        add_line(search->out, found.data);
    text_release(&found);
}

static bool find_differences(struct text *out, const struct codes *codes, const struct plan_case *plan_case,
                             bool unread)
{
    struct difference_search search = {.out = out, .codes = codes, .resolved = &plan_case->resolved, .unread = unread};
    if (plan_case->state != PLAN_READY)
        return false;
    launch_each(search.resolved, compare_launch, &search);
    if (plan_case->variant) {
        search.resolved = plan_case->variant;
        launch_each(search.resolved, compare_launch, &search);
    }
    return out->length > 0;
}

bool codes_differences(struct text *out, const struct codes *codes, const struct plan_case *plan_case)
{
    return find_differences(out, codes, plan_case, true);
}

/* A reason stands in one line. */
static char *one_line(const struct text *lines, struct arena *arena)
{
    struct text line = {0};
    for (const char *at = lines->data; *at; at++)
        if (*at == '\n')
            text_add(&line, "; ");
        else
            text_addn(&line, at, 1);
    char *copy = arena_strdup(arena, line.data);
    text_release(&line);
    return copy;
}

const char *const *codes_refused(const struct codes *codes)
{
    const struct plan *plan = codes->session->plan;
    const char **refused = arena_array(codes->session->arena, plan->count + 1, sizeof(*refused));
    struct text found = {0};
    for (size_t k = 0; k < plan->count; k++) {
        text_clear(&found);
        /* What a compiler made can be right though this reader does not know its format: the device decides. */
        if (find_differences(&found, codes, &plan->cases[k], false))
            refused[k] = one_line(&found, codes->session->arena);
    }
    text_release(&found);
    return refused;
}

/* ---- what a result records ---- */

static void add_occupancy(struct result_code *facts, const struct codes *codes, const struct codeobj *object,
                          const struct codeobj_kernel *kernel, const struct resolved_launch *launch)
{
    struct occupancy occupancy;
    struct err err = {0};
    struct text limit = {0};
    if (launch_occupancy(&occupancy, launch, object->target, kernel, &err))
        return;
    facts->waves_per_simd = occupancy.waves_per_simd;
    occupancy_limiters(&limit, &occupancy);
    if (limit.length)
        facts->occupancy_limit = arena_strdup(codes->session->arena, limit.data);
    text_release(&limit);
}

/* Cases share kernels: each is disassembled once. Without a disassembler there is nothing to say. */
static void add_hot_loop(struct result_code *facts, const struct codes *codes, size_t code,
                         const struct codeobj *object, const struct codeobj_kernel *kernel)
{
    struct codes_loop *known = &codes->loops[code];
    struct arena scratch = {0};
    struct isa isa = {0};
    struct isa_hot hot;
    struct err err = {0};
    if (known->kernel != kernel) {
        *known = (struct codes_loop){.kernel = kernel, .share = NAN};
        if (!isa_read_codeobj(&isa, object, kernel, &scratch, &err) && isa_hot_find(&hot, isa.kernels, &scratch)) {
            known->instruction = arena_strdup(codes->session->arena, hot.instruction);
            known->share = hot.share;
        }
        arena_release(&scratch);
    }
    facts->loop_instruction = known->instruction;
    facts->loop_share = known->share;
}

void codes_disassemble(const struct codes *codes)
{
    const struct plan *plan = codes->session->plan;
    for (size_t k = 0; k < plan->count; k++)
        codes_facts(codes, &plan->cases[k]);
}

struct result_code codes_facts(const struct codes *codes, const struct plan_case *plan_case)
{
    struct result_code facts = {.waves_per_simd = NAN, .occupancy_limit = "", .isa_sha256 = "", .loop_share = NAN};
    const struct resolved_launch *launch =
        plan_case->state == PLAN_READY ? launch_first_timed(&plan_case->resolved) : NULL;
    const struct codeobj_file *file = launch ? codes->files[launch->code] : NULL;
    const struct codeobj *object = NULL;
    const struct codeobj_kernel *kernel = file ? codeobj_find_kernel(&object, file, NULL, launch->symbol) : NULL;
    if (!kernel)
        return facts;
    facts.isa_sha256 = kernel->code_sha256;
    if (kernel->is_ptx) /* registers, stack and spills are the driver's choice */
        return facts;
    facts.known = true;
    facts.vgprs = kernel->has_descriptor ? kernel->arch_vgprs : kernel->vgpr_count;
    facts.agprs = kernel->has_descriptor ? kernel->acc_vgprs : kernel->agpr_count;
    facts.sgprs = kernel->sgpr_count;
    facts.lds_bytes = kernel->group_segment_bytes + launch->lds_bytes;
    facts.scratch_bytes = kernel->private_segment_bytes;
    facts.vgpr_spills = kernel->vgpr_spills;
    facts.sgpr_spills = kernel->sgpr_spills;
    facts.kernarg_bytes = kernel->kernarg_bytes;
    facts.wave = kernel->wave;
    add_occupancy(&facts, codes, object, kernel, launch);
    add_hot_loop(&facts, codes, launch->code, object, kernel);
    return facts;
}
