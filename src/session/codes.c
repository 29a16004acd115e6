/* SPDX-License-Identifier: MIT */

#include "rooftile/isa.h"
#include "rooftile/launch_fit.h"
#include "rooftile/measure.h"
#include "rooftile/targets.h"

void codes_open(struct codes *codes, const struct session *session)
{
    const struct plan *plan = session->plan;
    struct arena *arena = session->arena;
    codes->session = session;
    codes->files = arena_array(arena, plan->code_count + 1, sizeof(*codes->files));
    codes->problems = arena_array(arena, plan->code_count + 1, sizeof(*codes->problems));
    for (size_t k = 0; k < plan->code_count && !session->info.predicted; k++) {
        const struct build_result *build = &session->builds[k];
        const bool built = build->state == BUILD_CACHED || build->state == BUILD_COMPILED;
        /* An image for other targets can still be compared, but not launched. */
        const char *path = built ? build->object : build->state == BUILD_SKIPPED ? plan->codes[k].image : NULL;
        struct err err = {0};
        if (plan->codes[k].library)
            continue;
        if (plan->codes[k].target.kind != BUILD_CPU && path && codeobj_read(&codes->files[k], path, arena, &err))
            codes->problems[k] = arena_strdup(arena, err.text);
    }
}

/* ---- does the code match the launches? ---- */

static void add_line(struct text *out, const char *line)
{
    /* Several launches of one kernel have the same differences; report each once. */
    if (out->length && strstr(out->data, line))
        return;
    text_addf(out, "%s%s", out->length ? "\n" : "", line);
}

static void add_missing(struct text *out, const struct codeobj_file *file, const char *symbol)
{
    text_addf(out, "the code object %s has no kernel '%s': ", file->path, symbol);
    /* "it has 'a', 'b' and 5 more". */
    const struct codeobj *object = file->objects;
    text_add(out, object->kernel_count ? "it has " : "it has none");
    for (size_t k = 0; k < object->kernel_count && k < 4; k++)
        text_addf(out, "%s'%s'%s", k ? ", " : "", object->kernels[k].name,
                  text_starts(object->kernels[k].name, "_Z") ? ", which is not extern \"C\"" : "");
    if (object->kernel_count > 4)
        text_addf(out, " and %zu more", object->kernel_count - 4);
}

static void compare_launch(struct text *out, const struct codes *codes, const struct resolved *resolved,
                           const struct resolved_launch *launch)
{
    const struct codeobj_file *file = codes->files[launch->code];
    SCOPED(text_release) struct text found = {0}, claim = {0};
    const struct codeobj *object = NULL;
    if (!file)
        return;
    const struct codeobj_kernel *kernel = codeobj_find_kernel(&object, file, launch->symbol);
    if (!kernel) {
        add_missing(&found, file, launch->symbol);
    } else {
        launch_fit(&found, resolved, launch, kernel, codes->session->info.lds_bytes);
        /* The manifest's claim describes the measured launch. */
        if (launch == launch_first_timed(resolved) &&
            launch_claim_differs(&claim, resolved, launch, object->target, kernel))
            add_line(&found, claim.data);
    }
    if (found.length)
        add_line(out, found.data);
}

bool codes_differences(struct text *out, const struct codes *codes, const struct plan_case *plan_case, bool unread)
{
    const struct resolved *const both[] = {&plan_case->resolved, plan_case->variant};
    for (size_t k = 0; k < 2 && both[k] && plan_case->state == PLAN_READY; k++)
        for (struct launch_walk walk = {.resolved = both[k]}; launch_next(&walk);) {
            if (unread && codes->problems[walk.launch->code])
                add_line(out, codes->problems[walk.launch->code]);
            compare_launch(out, codes, both[k], walk.launch);
        }
    return out->length > 0;
}

bool codes_work_differs(struct text *out, const struct codes *codes, const struct plan_case *plan_case)
{
    SCOPED(arena_release) struct arena arena = {0};
    struct code_work found = {0};
    const bool copies = plan_case->resolved.timing.stream_launches == 0; /* copies read and write without any code */
    if (plan_case->state != PLAN_READY || copies)
        return false;
    for (struct launch_walk walk = {.resolved = &plan_case->resolved, .lists = 1}; launch_next(&walk);) {
        const struct codeobj_file *file = codes->files[walk.launch->code];
        const struct codeobj *object = NULL;
        const struct codeobj_kernel *kernel = file ? codeobj_find_kernel(&object, file, walk.launch->symbol) : NULL;
        struct isa isa = {0};
        if (!(walk.times > 0))
            continue;
        /* Without the code of a launch, such as a library's, the total is unknown. */
        if (!kernel || kernel->is_ptx || target_is_nvidia(object->target) ||
            isa_read(&isa, object, kernel, 1, &arena, &(struct err){0}))
            return false;
        code_work_add(&found, isa.kernels, walk.launch, walk.times);
    }
    return work_differs(out, &plan_case->resolved, &found);
}

const char *const *codes_refused(const struct codes *codes)
{
    const struct plan *plan = codes->session->plan;
    const char **refused = arena_array(codes->session->arena, plan->count + 1, sizeof(*refused));
    SCOPED(text_release) struct text found = {0};
    for (size_t k = 0; k < plan->count; k++) {
        /* Code from a compiler may be valid even if this reader does not know its format; the device decides. */
        if (codes_differences(&found, codes, &plan->cases[k], false)) {
            /* Joins the reason into one line. */
            struct text line = {0};
            for (const char *at = found.data; *at; at++)
                text_addn(&line, *at == '\n' ? "; " : at, *at == '\n' ? 2 : 1);
            text_clear(&found);
            refused[k] = text_take(&line, codes->session->arena);
        }
    }
    return refused;
}

/* ---- what a result records ---- */

/* Facts about the last requested kernel of a code. Cases share kernels, so each is disassembled once. */
struct known_kernel {
    const struct codeobj_kernel *kernel; /* NULL: none requested yet */
    struct result_code facts;            /* without those of a launch */
};

static void count_issues(uint32_t issues[ISSUE_CLASSES], const struct isa_mix *mix)
{
    static const enum result_issue classes[ISA_KINDS] = {
        [ISA_MATRIX] = ISSUE_MATRIX,   [ISA_SCALAR] = ISSUE_SALU,         [ISA_SCALAR_MEMORY] = ISSUE_SMEM,
        [ISA_LDS_READ] = ISSUE_LDS,    [ISA_LDS_WRITE] = ISSUE_LDS,       [ISA_LOAD] = ISSUE_VMEM,
        [ISA_STORE] = ISSUE_VMEM,      [ISA_SCRATCH_LOAD] = ISSUE_VMEM,   [ISA_SCRATCH_STORE] = ISSUE_VMEM,
        [ISA_ATOMIC] = ISSUE_VMEM,     [ISA_BARRIER] = ISSUE_WAITS,       [ISA_WAIT] = ISSUE_WAITS,
        [ISA_BRANCH] = ISSUE_SALU,     [ISA_VECTOR] = ISSUE_VALU,         [ISA_PACKED] = ISSUE_VALU,
        [ISA_DUAL] = ISSUE_VALU,       [ISA_TRANSCENDENTAL] = ISSUE_VALU, [ISA_CONVERSION] = ISSUE_VALU,
        [ISA_CROSS_LANE] = ISSUE_VALU,
    };
    for (int kind = 0; kind < ISA_KINDS; kind++)
        if (kind != ISA_OTHER)
            issues[classes[kind]] += (uint32_t)mix->count[kind];
}

static void find_loops(struct result_code *facts, const struct codeobj *object, const struct codeobj_kernel *kernel,
                       struct arena *arena)
{
    SCOPED(arena_release) struct arena scratch = {0};
    struct isa isa = {0};
    struct isa_hot hot;
    struct err err = {0};
    if (isa_read(&isa, object, kernel, 1, &scratch, &err)) /* there is no disassembler */
        return;
    const struct isa_scratch moved = isa_scratch_find(isa.kernels);
    facts->loop_scratch_bytes = (double)moved.bytes;
    facts->scratch_loop = moved.loop == ISA_NO_LOOP ? 0 : (uint32_t)moved.loop + 1;
    if (isa_hot_find(&hot, isa.kernels, &scratch)) {
        facts->loop_instruction = arena_strdup(arena, hot.instruction);
        facts->loop_share = hot.share;
        count_issues(facts->loop_issues, isa_turn_mix(isa.kernels, hot.loop));
    }
}

static void know_kernel(struct known_kernel *known, const struct codeobj *object, const struct codeobj_kernel *kernel,
                        struct arena *arena)
{
    known->kernel = kernel;
    known->facts = (struct result_code){.known = true,
                                        .isa_sha256 = kernel->code_sha256,
                                        .vgprs = kernel->has_descriptor ? kernel->arch_vgprs : kernel->vgpr_count,
                                        .agprs = kernel->has_descriptor ? kernel->acc_vgprs : kernel->agpr_count,
                                        .sgprs = kernel->sgpr_count,
                                        .scratch_bytes = kernel->private_segment_bytes,
                                        .vgpr_spills = kernel->vgpr_spills,
                                        .sgpr_spills = kernel->sgpr_spills,
                                        .kernarg_bytes = kernel->kernarg_bytes,
                                        .wave = kernel->wave,
                                        .waves_per_simd = NAN,
                                        .occupancy_limit = "",
                                        .loop_share = NAN,
                                        .loop_scratch_bytes = NAN};
    find_loops(&known->facts, object, kernel, arena);
}

static struct result_code facts_of(const struct codes *codes, struct known_kernel *of_codes,
                                   const struct plan_case *plan_case)
{
    struct result_code facts = {
        .waves_per_simd = NAN, .occupancy_limit = "", .isa_sha256 = "", .loop_share = NAN, .loop_scratch_bytes = NAN};
    const struct resolved_launch *launch =
        plan_case->state == PLAN_READY ? launch_first_timed(&plan_case->resolved) : NULL;
    const struct codeobj_file *file = launch ? codes->files[launch->code] : NULL;
    const struct codeobj *object = NULL;
    const struct codeobj_kernel *kernel = file ? codeobj_find_kernel(&object, file, launch->symbol) : NULL;
    if (!kernel)
        return facts;
    facts.isa_sha256 = kernel->code_sha256;
    if (kernel->is_ptx) /* the driver chooses registers, stack and spills */
        return facts;
    struct known_kernel *known = &of_codes[launch->code];
    if (known->kernel != kernel)
        know_kernel(known, object, kernel, codes->session->arena);
    facts = known->facts;
    facts.lds_bytes = kernel->group_segment_bytes + launch->lds_bytes;
    struct occupancy occupancy;
    struct err err = {0};
    if (!launch_occupancy(&occupancy, launch, object->target, kernel, &err)) {
        struct text limit = {0};
        facts.waves_per_simd = occupancy.waves_per_simd;
        occupancy_limiters(&limit, &occupancy);
        facts.occupancy_limit = text_take(&limit, codes->session->arena);
    }
    return facts;
}

const struct result_code *codes_facts(const struct codes *codes)
{
    const struct plan *plan = codes->session->plan;
    struct result_code *facts = arena_array(codes->session->arena, plan->count + 1, sizeof(*facts));
    struct known_kernel *known = arena_array(codes->session->arena, plan->code_count + 1, sizeof(*known));
    for (size_t k = 0; k < plan->count; k++)
        facts[k] = facts_of(codes, known, &plan->cases[k]);
    return facts;
}

/* ---- images before the build ---- */

/* The image of one of the plan's codes. */
struct image {
    bool is_read;
    enum status status; /* ERR_UNSUPPORTED: the image is for other targets */
    const char *problem;
    const struct codeobj_file *file; /* NULL: it cannot be read */
};

static const struct image *image_of(struct session *session, struct image *image, size_t code)
{
    struct err err = {0};
    if (image->is_read)
        return image;
    image->is_read = true;
    image->status = build_image(&image->file, &session->plan->codes[code], session->arena, &err);
    image->problem = image->status ? arena_strdup(session->arena, err.text) : NULL;
    return image;
}

/* Returns why a launch cannot be made from its image, as ERR_UNSUPPORTED or ERR_CONFIG with *reason. */
static enum status look_at_image(const char **reason, const struct session *session, const struct image *image,
                                 const struct resolved *resolved, const struct resolved_launch *launch)
{
    const struct codeobj *object = NULL;
    struct text found = {0};
    *reason = image->problem;
    if (!image->file)
        return image->status;
    const struct codeobj_kernel *kernel = codeobj_find_kernel(&object, image->file, launch->symbol);
    if (!kernel)
        add_missing(&found, image->file, launch->symbol);
    else if (session->info.predicted && !session->at_check_params) /* else the run or `check` reports it */
        launch_fit(&found, resolved, launch, kernel, session->info.lds_bytes);
    if (!found.length)
        return image->status;
    *reason = text_take(&found, session->arena);
    return ERR_CONFIG;
}

void session_check_images(struct session *session)
{
    const struct plan *plan = session->plan;
    struct image *images = NULL; /* one per code */
    FOR_EACH(struct plan_case, c, plan->cases, plan->count) {
        enum status status = STATUS_OK;
        const char *reason = NULL;
        if (c->state != PLAN_READY || !c->resolved.manifest->image)
            continue;
        images = images ? images : arena_array(session->arena, plan->code_count + 1, sizeof(*images));
        for (struct launch_walk walk = {.resolved = &c->resolved}; !status && launch_next(&walk);)
            if (plan->codes[walk.launch->code].image)
                status =
                    look_at_image(&reason, session, image_of(session, &images[walk.launch->code], walk.launch->code),
                                  &c->resolved, walk.launch);
        if (!status || (status == ERR_UNSUPPORTED && session->at_check_params))
            continue;
        c->state = status == ERR_UNSUPPORTED ? PLAN_SKIPPED : PLAN_INVALID;
        c->reason = reason;
    }
}
