/* SPDX-License-Identifier: MIT */
#include "rooftile/inspection.h"

#include "rooftile/demangle.h"

/* ---- selecting objects and kernels ---- */

static const struct inspect_launch *find_launch(const struct inspect_choice *choice, const char *name)
{
    return FIND_ROW(choice->launches, choice->launch_count, symbol, name);
}

static const char **names_of(const struct codeobj *code, struct arena *arena)
{
    const char **names = arena_array(arena, code->kernel_count + 1, sizeof(*names));
    for (size_t k = 0; k < code->kernel_count; k++)
        names[k] = code->kernels[k].name;
    demangle(names, code->kernel_count, arena);
    return names;
}

/* ---- occupancy ---- */

struct inspect_registers inspect_registers(const struct codeobj *object, const struct codeobj_kernel *code)
{
    const uint32_t arch = code->vgpr_count > code->agpr_count ? code->vgpr_count - code->agpr_count : 0;
    const struct inspect_registers used = {arch, code->agpr_count, false};
    struct codeobj_granules granules;
    if (!codeobj_granules(&granules, object->target, code->wave))
        return used;
    /* Only the count of a unified register file includes both kinds. */
    const uint32_t vgprs = granules.unified ? used.vgprs : code->vgpr_count;
    const uint32_t whole = code->vgpr_count ? code->vgpr_count : 1;
    const uint32_t rounded = (whole + granules.encoding - 1) / granules.encoding * granules.encoding;
    if (!code->has_descriptor || !code->encoded_vgprs || code->encoded_vgprs <= rounded)
        return (struct inspect_registers){vgprs, code->agpr_count, false};
    return (struct inspect_registers){code->arch_vgprs, code->acc_vgprs, true};
}

static const char LARGEST_ALLOWED[] = "the largest allowed";

static void choose_block(struct inspect_kernel *kernel, const struct inspect_choice *choice)
{
    const struct codeobj_kernel *code = kernel->code;
    const struct inspect_launch *launch = kernel->launch = find_launch(choice, code->name);
    const uint64_t required = (uint64_t)code->required_block[0] * code->required_block[1] * code->required_block[2];
    kernel->dynamic_lds_bytes = launch ? launch->lds_bytes : 0;
    if (choice->block) {
        kernel->block = choice->block;
        kernel->block_source = "--block";
    } else if (launch) {
        kernel->block = launch->block;
        kernel->block_source = "the launch";
    } else if (required && required <= OCCUPANCY_BLOCK_MAX) {
        kernel->block = (uint32_t)required;
        kernel->block_source = "required";
    } else {
        kernel->block = code->max_block ? code->max_block : OCCUPANCY_BLOCK_MAX;
        kernel->block_source = LARGEST_ALLOWED;
    }
}

/* Metadata allow 1024 threads by default; a launch may use fewer. */
static void find_block_that_fits(struct inspect_kernel *kernel, struct occupancy_use use)
{
    struct occupancy found;
    struct err err = {0};
    for (use.block -= 1; use.block; use.block -= 1) {
        use.block -= use.wave ? use.block % use.wave : 0;
        if (!use.block || occupancy_compute(&found, &use, &err))
            return;
        if (!found.workgroups)
            continue;
        kernel->occupancy = found;
        kernel->block = use.block;
        kernel->block_source = "the most that fit";
        return;
    }
}

static void compute_occupancy(struct inspect_kernel *kernel, const struct codeobj *object, struct arena *arena)
{
    const struct codeobj_kernel *code = kernel->code;
    const struct inspect_registers registers = inspect_registers(object, code);
    const struct occupancy_use use = {.target = object->target,
                                      .wave = code->wave,
                                      .wgp_mode = code->wgp_mode,
                                      .vgprs = registers.vgprs,
                                      .agprs = registers.agprs,
                                      .sgprs = code->sgpr_count,
                                      .lds_bytes = (uint64_t)code->group_segment_bytes + kernel->dynamic_lds_bytes,
                                      .block = kernel->block,
                                      .barriers = code->barriers};
    struct err err = {0};
    if (code->is_ptx)
        kernel->occupancy_problem = "it is PTX: registers are the driver's choice";
    else if (occupancy_compute(&kernel->occupancy, &use, &err))
        kernel->occupancy_problem = arena_strdup(arena, err.text);
    else if (!kernel->occupancy.workgroups && !strcmp(kernel->block_source, LARGEST_ALLOWED))
        find_block_that_fits(kernel, use);
}

/* ---- findings on registers, LDS and occupancy ---- */

#define OWN_FINDINGS 6u
#define NEAR_STEP_VGPRS 8u /* this many registers can often be saved by hand */

struct finder {
    struct inspect_kernel *kernel;
    struct arena *arena;
};

__attribute__((format(printf, 5, 6))) static void
add(struct finder *finder, const char *code, enum isa_severity severity, const char *advice, const char *format, ...)
{
    struct inspect_kernel *kernel = finder->kernel;
    va_list args;
    va_start(args, format);
    kernel->findings[kernel->finding_count++] = (struct isa_finding){.code = code,
                                                                     .severity = severity,
                                                                     .loop = ISA_NO_LOOP,
                                                                     .what = arena_vprintf(finder->arena, format, args),
                                                                     .advice = advice};
    va_end(args);
}

/* With a disassembly, its own finding reports spills and their location. */
static void find_spills(struct finder *finder)
{
    static const char advice[] =
        "keep fewer values at once, or leave a lane more registers with smaller __launch_bounds__";
    const struct codeobj_kernel *code = finder->kernel->code;
    if (finder->kernel->isa)
        return;
    if (code->spill_store_bytes || code->spill_load_bytes)
        add(finder, "scratch", ISA_HINT, advice, "registers are spilled: a thread stores %llu bytes and loads %llu",
            (unsigned long long)code->spill_store_bytes, (unsigned long long)code->spill_load_bytes);
    if (code->vgpr_spills || code->sgpr_spills)
        add(finder, "scratch", ISA_HINT, advice,
            "%u VGPRs and %u SGPRs are spilled, with %u bytes of scratch memory per lane", code->vgpr_spills,
            code->sgpr_spills, code->private_segment_bytes);
}

/* LDS limits waves that the registers would allow. */
static void find_lds_limit(struct finder *finder)
{
    const struct occupancy *o = &finder->kernel->occupancy;
    const bool alone = o->limited_by[LIMITER_LDS] && !o->limited_by[LIMITER_VGPRS] && !o->limited_by[LIMITER_SGPRS] &&
                       !o->limited_by[LIMITER_WAVES] && !o->limited_by[LIMITER_BARRIERS];
    const double by_registers = o->waves_by_vgprs < o->waves_by_sgprs ? o->waves_by_vgprs : o->waves_by_sgprs;
    if (o->workgroups && alone)
        add(finder, "lds-limits", ISA_HINT,
            arena_printf(finder->arena, "smaller tiles, fewer stages in flight, or larger %ss that share a tile",
                         o->limits->words->group),
            "%s limits occupancy to %.3g %s; registers would allow %.0f", o->limits->words->lds,
            occupancy_waves(o, o->waves_per_simd), occupancy_waves_unit(o, occupancy_waves(o, o->waves_per_simd) == 1),
            occupancy_waves(o, by_registers));
}

/* LLVM promotes stack arrays to LDS, one per thread of the largest block that the kernel allows. Each thread uses only
 * its own, so there is no barrier. */
static void find_promoted_array(struct finder *finder)
{
    const struct inspect_kernel *kernel = finder->kernel;
    const struct isa_mix *mix = kernel->isa ? &kernel->isa->mix : NULL;
    const uint32_t bytes = kernel->code->group_segment_bytes, block = kernel->code->max_block;
    if (!mix || block <= kernel->code->wave || !bytes || bytes % (4 * block) || bytes / block < 8 ||
        mix->count[ISA_BARRIER] || !mix->count[ISA_LDS_READ] || !mix->count[ISA_LDS_WRITE] || kernel->dynamic_lds_bytes)
        return;
    add(finder, "stack-in-lds", ISA_HINT,
        "__launch_bounds__ of the real block makes it as small as it can be; an array that is indexed by constants "
        "alone "
        "stays in registers",
        "LDS has %u bytes for each of %u threads, the largest block allowed, and there is no barrier: most likely an "
        "array of the stack that the compiler moved there%s",
        bytes / block, block,
        kernel->block < block ? arena_printf(finder->arena, "; a block of %u uses %u of its %u bytes", kernel->block,
                                             kernel->block * (bytes / block), bytes)
                              : "");
}

static void find(struct inspect_kernel *kernel, const struct codeobj *object, struct arena *arena)
{
    struct finder finder = {kernel, arena};
    const size_t known = kernel->isa ? kernel->isa->finding_count : 0;
    kernel->findings = arena_array(arena, known + OWN_FINDINGS, sizeof(*kernel->findings));
    if (!kernel->occupancy_problem && !kernel->occupancy.workgroups) {
        struct text limiters = {0}, advice = {0};
        occupancy_limiters(&limiters, &kernel->occupancy);
        occupancy_advice(&advice, &kernel->occupancy);
        add(&finder, "does-not-fit", ISA_PROBLEM, text_take(&advice, arena),
            "a %s of %u threads does not fit: too much of %s", kernel->occupancy.limits->words->group, kernel->block,
            limiters.data);
        text_release(&limiters);
    }
    for (size_t k = 0; k < known; k++)
        kernel->findings[kernel->finding_count++] = kernel->isa->findings[k];
    find_spills(&finder);
    if (!kernel->occupancy_problem) {
        find_promoted_array(&finder);
        find_lds_limit(&finder);
        const struct occupancy *o = &kernel->occupancy;
        const bool close =
            o->raise.vgprs && o->raise.vgprs <= NEAR_STEP_VGPRS && !o->raise.sgprs && !o->raise.lds_bytes;
        if (o->workgroups && close)
            add(&finder, "vgprs-near-step", ISA_HINT,
                o->limits->words->per_unit
                    ? "shorter lives of values; or tell the compiler with __launch_bounds__(threads, blocks per SM)"
                    : "shorter lives of values; or tell the compiler with __launch_bounds__(threads, waves)",
                "%u %s%s fewer, %u instead of %u: %.3g %s instead of %.3g", o->raise.vgprs, o->limits->words->registers,
                text_s(o->raise.vgprs), o->vgprs - o->raise.vgprs, o->vgprs,
                occupancy_waves(o, o->raise.waves_per_simd), occupancy_waves_unit(o, false),
                occupancy_waves(o, o->waves_per_simd));
    }
    const struct codeobj_kernel *code = kernel->code;
    /* LLVM 22 also pads where LDS allows few waves anyway, which costs nothing. */
    if (inspect_registers(object, code).is_padded && !kernel->occupancy.limited_by[LIMITER_LDS])
        add(&finder, "padded-registers", ISA_NOTE,
            "launch bounds or an attribute ask for so few waves; without them more would fit",
            "the code uses %u VGPRs, but each wave is given %u", code->vgpr_count, code->allocated_vgprs);
}

/* ---- one object ---- */

/* Both lists are sorted by address. */
static void name_functions(struct isa *isa, struct arena *arena)
{
    const char **names = arena_array(arena, isa->function_count + 1, sizeof(*names));
    for (size_t k = 0; k < isa->function_count; k++)
        names[k] = isa->functions[k].name;
    demangle(names, isa->function_count, arena);
    for (size_t k = 0; k < isa->function_count; k++)
        isa->functions[k].demangled = names[k];
    FOR_EACH(struct isa_kernel, kernel, isa->kernels, isa->kernel_count)
        for (size_t f = 0, k = 0; f < kernel->function_count; f++) {
            while (k < isa->function_count && isa->functions[k].address < kernel->functions[f].address)
                k++;
            if (k < isa->function_count && isa->functions[k].address == kernel->functions[f].address)
                kernel->functions[f].demangled = names[k];
        }
}

static void disassemble(struct inspect_object *object, const struct inspect_choice *choice, struct arena *arena)
{
    struct codeobj_kernel *codes = arena_array(arena, object->kernel_count, sizeof(*codes));
    struct isa *isa = arena_alloc(arena, sizeof(*isa));
    struct err err = {0};
    size_t count = 0, next = 0;
    for (size_t k = 0; k < object->kernel_count; k++)
        if (object->kernels[k].code->code_bytes)
            codes[count++] = *object->kernels[k].code;
    const struct codeobj_kernel *first = object->kernel_count ? object->kernels[0].code : NULL;
    if (!count && first && first->code_problem)
        object->isa_problem = arena_printf(arena, "%.200s: %s", object->kernels[0].name, first->code_problem);
    else if (!count)
        object->isa_problem = "there are no instructions";
    else if (isa_read(isa, object->code, codes, count, arena, &err))
        object->isa_problem = arena_strdup(arena, err.text);
    object->tool = isa->tool;
    object->isa = object->isa_problem ? NULL : isa;
    if (object->isa && (!choice->is_brief || object->kernel_count <= INSPECT_DETAILS_FEW)) {
        name_functions(isa, arena);
        isa_lines_read(isa, object->code, arena);
    }
    for (size_t k = 0; k < object->kernel_count && object->isa; k++) {
        if (!object->kernels[k].code->code_bytes || !isa->kernels[next++].instruction_count)
            continue;
        struct isa_kernel *kernel = &isa->kernels[next - 1];
        object->kernels[k].isa = kernel;
        if (choice->execute)
            kernel->executed = choice->execute(choice->context, kernel, object->code->target);
    }
}

static void inspect_object(struct inspect_object *object, const struct codeobj *code,
                           const struct inspect_choice *choice, struct arena *arena)
{
    *object = (struct inspect_object){.code = code, .entries = 1};
    object->kernels = arena_array(arena, code->kernel_count + 1, sizeof(*object->kernels));
    const char **names = names_of(code, arena);
    for (size_t k = 0; k < code->kernel_count; k++) {
        struct inspect_kernel *kernel = &object->kernels[object->kernel_count];
        *kernel = (struct inspect_kernel){.code = &code->kernels[k], .name = names[k]};
        /* Kernels of one source share an object; for a kernel of the catalog, only those that it launches count. */
        object->kernel_count += choice->launch_count ? find_launch(choice, kernel->code->name) != NULL
                                                     : text_filtered(choice->filters, choice->filter_count,
                                                                     kernel->code->name, kernel->name);
    }
    object->hidden_count = code->kernel_count - object->kernel_count;
    if (object->kernel_count)
        disassemble(object, choice, arena);
    for (size_t k = 0; k < object->kernel_count; k++) {
        choose_block(&object->kernels[k], choice);
        compute_occupancy(&object->kernels[k], code, arena);
        find(&object->kernels[k], code, arena);
    }
}

/* ---- one file ---- */

static enum status check_choice(const struct inspection *inspection, const struct inspect_choice *choice,
                                struct arena *arena, struct err *err)
{
    const char *path = inspection->path;
    size_t kernels = 0, hidden = 0;
    for (size_t k = 0; k < inspection->object_count; k++) {
        kernels += inspection->objects[k].kernel_count;
        hidden += inspection->objects[k].hidden_count;
    }
    if (!inspection->object_count)
        return err_set(err, ERR_CONFIG, "%s: no code for --arch %s; there is %s", path, choice->archs[0],
                       codeobj_targets(inspection->file, arena));
    if (!kernels && hidden && choice->filter_count)
        return err_set(err, ERR_CONFIG, "%s: none of %zu kernels matches --filter %s", path, hidden,
                       choice->filters[0]);
    return STATUS_OK;
}

enum status inspect_file(struct inspection *inspection, const char *path, const struct inspect_choice *choice,
                         struct arena *arena, struct err *err)
{
    inspection->path = path;
    if (codeobj_read(&inspection->file, path, arena, err))
        return err->status;
    inspection->objects = arena_array(arena, inspection->file->count + 1, sizeof(*inspection->objects));
    struct inspect_object **seen = arena_array(arena, inspection->file->count, sizeof(*seen));
    FOR_EACH(const struct codeobj, code, inspection->file->objects, inspection->file->count) {
        const size_t length = strlen(code->target);
        if (choice->arch_count && !COUNT_WHERE(arch, choice->archs, choice->arch_count,
                                               !strncmp(*arch, code->target, length) && strchr(":", (*arch)[length])))
            continue;
        if (seen[code->first]) {
            seen[code->first]->entries++;
            continue;
        }
        seen[code->first] = &inspection->objects[inspection->object_count++];
        inspect_object(seen[code->first], code, choice, arena);
    }
    return check_choice(inspection, choice, arena, err);
}
