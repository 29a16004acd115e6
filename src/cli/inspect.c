/* SPDX-License-Identifier: MIT */
#include "inspect.h"

#include <string.h>

/* ---- which objects and kernels ---- */

static const struct inspect_launch *find_launch(const struct inspect_choice *choice, const char *name)
{
    for (size_t k = 0; k < choice->launch_count; k++)
        if (!strcmp(choice->launches[k].symbol, name))
            return &choice->launches[k];
    return NULL;
}

/* --filter of a catalog kernel has chosen cases already. Kernels of one source share an object; only what is launched
 * counts. */
static bool wants_kernel(const struct inspect_choice *choice, const char *name)
{
    const struct cli_options *options = choice->options;
    if (choice->launch_count)
        return find_launch(choice, name);
    bool wanted = !options->filter_count;
    for (size_t k = 0; k < options->filter_count && !wanted; k++)
        wanted = text_matches(name, options->filters[k]);
    return wanted;
}

static bool wants_object(const struct inspect_choice *choice, const struct codeobj *object)
{
    const struct cli_options *options = choice->options;
    const size_t length = strlen(object->target);
    bool wanted = choice->ignore_arch || !options->arch_count;
    for (size_t k = 0; k < options->arch_count && !wanted; k++)
        wanted = !strncmp(options->archs[k], object->target, length) && strchr(":", options->archs[k][length]);
    return wanted;
}

/* ---- occupancy ---- */

struct inspect_registers inspect_registers(const struct codeobj *object, const struct codeobj_kernel *code)
{
    const uint32_t arch = code->vgpr_count > code->agpr_count ? code->vgpr_count - code->agpr_count : 0;
    const struct inspect_registers used = {arch, code->agpr_count, false};
    struct codeobj_granules granules;
    if (!codeobj_granules(&granules, object->target, code->wave))
        return used;
    /* Only a unified file's count has both kinds in it. */
    const uint32_t vgprs = granules.unified ? used.vgprs : code->vgpr_count;
    const uint32_t whole = code->vgpr_count ? code->vgpr_count : 1;
    const uint32_t rounded = (whole + granules.encoding - 1) / granules.encoding * granules.encoding;
    if (!code->has_descriptor || !code->encoded_vgprs || code->encoded_vgprs <= rounded)
        return (struct inspect_registers){vgprs, code->agpr_count, false};
    return (struct inspect_registers){code->arch_vgprs, code->acc_vgprs, true};
}

static void choose_block(struct inspect_kernel *kernel, const struct inspect_choice *choice)
{
    const struct codeobj_kernel *code = kernel->code;
    const struct inspect_launch *launch = kernel->launch = find_launch(choice, code->name);
    const uint64_t required = (uint64_t)code->required_block[0] * code->required_block[1] * code->required_block[2];
    kernel->dynamic_lds_bytes = launch ? launch->lds_bytes : 0;
    if (choice->options->block) {
        kernel->block = choice->options->block;
        kernel->block_source = "--block";
    } else if (launch) {
        kernel->block = launch->block;
        kernel->block_source = "the launch";
    } else if (required && required <= OCCUPANCY_BLOCK_MAX) {
        kernel->block = (uint32_t)required;
        kernel->block_source = "required";
    } else {
        kernel->block = code->max_block ? code->max_block : OCCUPANCY_BLOCK_MAX;
        kernel->block_source = "the largest allowed";
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
}

/* ---- one object ---- */

static void disassemble(struct inspect_object *object, struct arena *arena)
{
    struct isa_symbol *symbols = arena_array(arena, object->kernel_count + 1, sizeof(*symbols));
    struct inspect_kernel **owners = arena_array(arena, object->kernel_count + 1, sizeof(*owners));
    struct isa *isa = arena_alloc(arena, sizeof(*isa));
    struct err err = {0};
    size_t count = 0;
    for (size_t k = 0; k < object->kernel_count; k++) {
        const struct codeobj_kernel *code = object->kernels[k].code;
        if (!code->code_bytes)
            continue;
        owners[count] = &object->kernels[k];
        symbols[count++] = (struct isa_symbol){.name = code->name,
                                               .address = code->code_address,
                                               .size = code->code_bytes,
                                               .wave = code->wave,
                                               .scratch_bytes = code->private_segment_bytes,
                                               .vgpr_spills = code->vgpr_spills,
                                               .sgpr_spills = code->sgpr_spills};
    }
    if (!count)
        object->isa_problem = "there are no instructions";
    else if (object->kernels[0].code->is_ptx)
        object->isa_problem = "it is PTX, text that the driver makes instructions of";
    else if (isa_read(isa, object->code->bytes, object->code->size_bytes, object->code->target, symbols, count, arena,
                      &err))
        object->isa_problem = arena_strdup(arena, err.text);
    object->tool = isa->tool;
    for (size_t k = 0; k < isa->kernel_count && !object->isa_problem; k++)
        owners[k]->isa = &isa->kernels[k];
}

static void inspect_object(struct inspect_object *object, const struct codeobj *code,
                           const struct inspect_choice *choice, struct arena *arena)
{
    *object = (struct inspect_object){.code = code};
    object->kernels = arena_array(arena, code->kernel_count + 1, sizeof(*object->kernels));
    for (size_t k = 0; k < code->kernel_count; k++)
        if (wants_kernel(choice, code->kernels[k].name))
            object->kernels[object->kernel_count++].code = &code->kernels[k];
    object->hidden_count = code->kernel_count - object->kernel_count;
    if (object->kernel_count)
        disassemble(object, arena);
    for (size_t k = 0; k < object->kernel_count; k++) {
        choose_block(&object->kernels[k], choice);
        compute_occupancy(&object->kernels[k], code, arena);
        inspect_find(&object->kernels[k], code, arena);
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
        return err_set(err, ERR_CONFIG, "%s: no code for --arch %s; there is %s", path, choice->options->archs[0],
                       codeobj_targets(inspection->file, arena));
    if (!kernels && hidden && choice->options->filter_count)
        return err_set(err, ERR_CONFIG, "%s: none of %zu kernels matches --filter %s", path, hidden,
                       choice->options->filters[0]);
    return STATUS_OK;
}

enum status inspect_file(struct inspection *inspection, const char *path, const struct inspect_choice *choice,
                         struct arena *arena, struct err *err)
{
    inspection->path = path;
    enum status status = codeobj_read(&inspection->file, path, arena, err);
    if (status)
        return status;
    inspection->objects = arena_array(arena, inspection->file->count + 1, sizeof(*inspection->objects));
    for (size_t k = 0; k < inspection->file->count; k++)
        if (wants_object(choice, &inspection->file->objects[k]))
            inspect_object(&inspection->objects[inspection->object_count++], &inspection->file->objects[k], choice,
                           arena);
    return check_choice(inspection, choice, arena, err);
}
