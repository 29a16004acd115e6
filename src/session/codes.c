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

struct difference_search {
    struct text *out;
    const struct codes *codes;
    const struct resolved *resolved;
    bool unread; /* code that cannot be read counts as a difference */
};

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

static void compare_launch(void *context, const struct resolved_launch *launch)
{
    struct difference_search *search = context;
    const struct codes *codes = search->codes;
    const struct codeobj_file *file = codes->files[launch->code];
    SCOPED(text_release) struct text found = {0}, claim = {0};
    if (search->unread && codes->problems[launch->code])
        add_line(search->out, codes->problems[launch->code]);
    if (!file)
        return;
    const struct codeobj *object = NULL;
    const struct codeobj_kernel *kernel = codeobj_find_kernel(&object, file, launch->symbol);
    if (!kernel) {
        add_missing(&found, file, launch->symbol);
    } else {
        launch_fit(&found, search->resolved, launch, kernel, codes->session->info.lds_bytes);
        /* The manifest's claim describes the measured launch. */
        if (launch == launch_first_timed(search->resolved) &&
            launch_claim_differs(&claim, search->resolved, launch, object->target, kernel))
            add_line(&found, claim.data);
    }
    if (found.length)
        add_line(search->out, found.data);
}

bool codes_differences(struct text *out, const struct codes *codes, const struct plan_case *plan_case, bool unread)
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

struct work_search {
    const struct codes *codes;
    struct code_work found;
    struct arena arena;
    bool unread; /* a launch cannot be disassembled or is a library's, so the total is unknown */
};

static void add_work(void *context, const struct resolved_launch *launch, double times)
{
    struct work_search *search = context;
    const struct codeobj_file *file = search->codes->files[launch->code];
    const struct codeobj *object = NULL;
    const struct codeobj_kernel *kernel = file ? codeobj_find_kernel(&object, file, launch->symbol) : NULL;
    struct isa isa = {0};
    struct err err = {0};
    if (!kernel || kernel->is_ptx || target_is_nvidia(object->target) ||
        isa_read(&isa, object, kernel, 1, &search->arena, &err))
        search->unread = true;
    else
        code_work_add(&search->found, isa.kernels, launch, times);
}

bool codes_work_differs(struct text *out, const struct codes *codes, const struct plan_case *plan_case)
{
    struct work_search search = {.codes = codes};
    const bool copies = plan_case->resolved.timing.stream_launches == 0; /* copies read and write without any code */
    if (plan_case->state != PLAN_READY || copies)
        return false;
    launch_each_timed(&plan_case->resolved, add_work, &search);
    arena_release(&search.arena);
    return !search.unread && work_differs(out, &plan_case->resolved, &search.found);
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

/* Facts from the disassembly of the last requested kernel. Cases share kernels, so each is disassembled once. */
struct loops {
    const struct codeobj_kernel *kernel; /* NULL: none requested yet */
    const char *instruction;             /* most frequent one of the hot loop; NULL: no loop, or no disassembler */
    double share;
    double scratch_bytes; /* of the loop that moves the most scratch; NaN: no disassembler */
    uint32_t scratch_loop;
    uint32_t issues[ISSUE_CLASSES];
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

static void find_loops(struct loops *loops, const struct codeobj *object, const struct codeobj_kernel *kernel,
                       struct arena *arena)
{
    SCOPED(arena_release) struct arena scratch = {0};
    struct isa isa = {0};
    struct isa_hot hot;
    struct err err = {0};
    *loops = (struct loops){.kernel = kernel, .share = NAN, .scratch_bytes = NAN};
    if (!isa_read(&isa, object, kernel, 1, &scratch, &err)) {
        const struct isa_scratch moved = isa_scratch_find(isa.kernels);
        loops->scratch_bytes = (double)moved.bytes;
        loops->scratch_loop = moved.loop == ISA_NO_LOOP ? 0 : (uint32_t)moved.loop + 1;
        if (isa_hot_find(&hot, isa.kernels, &scratch)) {
            loops->instruction = arena_strdup(arena, hot.instruction);
            loops->share = hot.share;
            count_issues(loops->issues, isa_turn_mix(isa.kernels, hot.loop));
        }
    }
}

static struct result_code facts_of(const struct codes *codes, struct loops *of_codes, const struct plan_case *plan_case)
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
    struct occupancy occupancy;
    struct err err = {0};
    if (!launch_occupancy(&occupancy, launch, object->target, kernel, &err)) {
        struct text limit = {0};
        facts.waves_per_simd = occupancy.waves_per_simd;
        occupancy_limiters(&limit, &occupancy);
        facts.occupancy_limit = text_take(&limit, codes->session->arena);
    }
    struct loops *loops = &of_codes[launch->code];
    if (loops->kernel != kernel)
        find_loops(loops, object, kernel, codes->session->arena);
    facts.loop_instruction = loops->instruction;
    facts.loop_share = loops->share;
    facts.loop_scratch_bytes = loops->scratch_bytes;
    facts.scratch_loop = loops->scratch_loop;
    memcpy(facts.loop_issues, loops->issues, sizeof(facts.loop_issues));
    return facts;
}

const struct result_code *codes_facts(const struct codes *codes)
{
    const struct plan *plan = codes->session->plan;
    struct result_code *facts = arena_array(codes->session->arena, plan->count + 1, sizeof(*facts));
    struct loops *loops = arena_array(codes->session->arena, plan->code_count + 1, sizeof(*loops));
    for (size_t k = 0; k < plan->count; k++)
        facts[k] = facts_of(codes, loops, &plan->cases[k]);
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

struct image_search {
    struct session *session;
    struct image *images; /* one per code of the plan */
    const struct resolved *resolved;
    enum status status; /* status of the case */
    const char *reason;
};

static const struct image *image_of(struct image_search *search, size_t code)
{
    struct image *image = &search->images[code];
    struct arena *arena = search->session->arena;
    struct err err = {0};
    if (image->is_read)
        return image;
    image->is_read = true;
    image->status = build_image(&image->file, &search->session->plan->codes[code], arena, &err);
    image->problem = image->status ? arena_strdup(arena, err.text) : NULL;
    return image;
}

static void look_at_image(void *context, const struct resolved_launch *launch)
{
    struct image_search *search = context;
    if (!search->session->plan->codes[launch->code].image || search->status)
        return;
    const struct image *image = image_of(search, launch->code);
    const struct codeobj *object = NULL;
    const struct session *session = search->session;
    struct text found = {0};
    search->status = image->status;
    search->reason = image->problem;
    if (!image->file)
        return;
    const struct codeobj_kernel *kernel = codeobj_find_kernel(&object, image->file, launch->symbol);
    if (!kernel)
        add_missing(&found, image->file, launch->symbol);
    else if (session->info.predicted && !session->at_check_params) /* else the run or `check` reports it */
        launch_fit(&found, search->resolved, launch, kernel, session->info.lds_bytes);
    if (found.length) {
        search->status = ERR_CONFIG;
        search->reason = text_take(&found, session->arena);
    }
}

void session_check_images(struct session *session)
{
    const struct plan *plan = session->plan;
    struct image_search search = {.session = session};
    FOR_EACH(struct plan_case, c, plan->cases, plan->count) {
        if (c->state != PLAN_READY || !c->resolved.manifest->image)
            continue;
        if (!search.images)
            search.images = arena_array(session->arena, plan->code_count + 1, sizeof(*search.images));
        search.status = STATUS_OK;
        search.resolved = &c->resolved;
        launch_each(&c->resolved, look_at_image, &search);
        if (!search.status || (search.status == ERR_UNSUPPORTED && session->at_check_params))
            continue;
        c->state = search.status == ERR_UNSUPPORTED ? PLAN_SKIPPED : PLAN_INVALID;
        c->reason = search.reason;
    }
}
