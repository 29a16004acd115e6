/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "inspect_view.h"
#include "layout.h"
#include "rooftile/targets.h"

#define DETAILS_FEW 4u /* so many kernels are shown in full */
#define VALUE_COLUMN 14u
#define OTHER_IDS 4u
#define NAME_LONGEST 44u /* of an argument: expressions may go on and on */

/* "  registers   ..." with further lines at the same column. */
static void line(const struct inspect_view *view, const char *left, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void line(const struct inspect_view *view, const char *left, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *right = arena_vprintf(view->arena, format, args);
    va_end(args);
    layout_item(view->out, 2, VALUE_COLUMN, view->columns, left, right);
}

/* ---- one kernel ---- */

/* NVIDIA's. Without a stack frame there is nowhere to spill to. */
static void thread_registers_part(const struct inspect_view *view, const struct codeobj_kernel *code)
{
    if (code->is_ptx)
        line(view, "registers", "the driver's choice, when it compiles this PTX");
    else if (code->spill_store_bytes || code->spill_load_bytes)
        line(view, "registers", "%u per thread; spilled: %llu bytes stored, %llu loaded", code->vgpr_count,
             (unsigned long long)code->spill_store_bytes, (unsigned long long)code->spill_load_bytes);
    else
        line(view, "registers", "%u per thread%s", code->vgpr_count,
             code->spill_bytes_known || !code->private_segment_bytes ? ", none spilled" : "");
}

static void registers_part(const struct inspect_view *view, const struct inspect_kernel *kernel,
                           const struct codeobj *object)
{
    const struct codeobj_kernel *code = kernel->code;
    const struct inspect_registers registers = inspect_registers(object, code);
    struct text text = {0};
    if (target_is_nvidia(object->target)) {
        thread_registers_part(view, code);
        return;
    }
    text_addf(&text, "%u VGPRs", code->vgpr_count);
    if (code->agpr_count)
        text_addf(&text, ", of them %u AGPRs", code->agpr_count);
    if (code->allocated_vgprs && code->allocated_vgprs != code->vgpr_count)
        text_addf(&text, " (%u allocated%s)", code->allocated_vgprs,
                  registers.is_padded ? ": by launch bounds, not by need" : "");
    text_addf(&text, ", %u SGPRs, ", code->sgpr_count);
    if (code->vgpr_spills || code->sgpr_spills)
        text_addf(&text, "spilled: %u VGPRs, %u SGPRs", code->vgpr_spills, code->sgpr_spills);
    else
        text_add(&text, "none spilled");
    line(view, "registers", "%s", text.data);
    text_release(&text);
}

/* What a stack frame of NVIDIA's is for, as far as the file tells. */
static const char *stack_use(const struct codeobj_kernel *code)
{
    if (!code->private_segment_bytes)
        return "";
    if (!code->spill_bytes_known)
        return " (spills or arrays: the file does not tell)";
    return code->spill_store_bytes || code->spill_load_bytes ? " (spills, perhaps arrays)"
                                                             : " (arrays or calls, no spills)";
}

static void memory_part(const struct inspect_view *view, const struct inspect_kernel *kernel, bool is_nvidia)
{
    const struct codeobj_kernel *code = kernel->code;
    struct text text = {0};
    text_addf(&text, "%s %u bytes", is_nvidia ? "shared memory" : "LDS", code->group_segment_bytes);
    if (kernel->dynamic_lds_bytes)
        text_addf(&text, " and %u dynamic", kernel->dynamic_lds_bytes);
    if (is_nvidia && code->is_ptx)
        text_add(&text, ", stack unknown");
    else if (is_nvidia)
        text_addf(&text, ", stack %u bytes per thread%s", code->private_segment_bytes, stack_use(code));
    else
        text_addf(&text, ", scratch %u bytes per lane%s", code->private_segment_bytes,
                  code->uses_dynamic_stack ? " or more (dynamic stack)" : "");
    line(view, "memory", "%s", text.data);
    text_release(&text);
}

static void workgroup_part(const struct inspect_view *view, const struct inspect_kernel *kernel, bool is_nvidia)
{
    const struct codeobj_kernel *code = kernel->code;
    struct text text = {0};
    text_addf(&text, "%u threads (%s), in %s of %u", kernel->block, kernel->block_source, is_nvidia ? "warps" : "waves",
              code->wave);
    if (code->required_block[0])
        text_addf(&text, "; required: %u x %u x %u", code->required_block[0], code->required_block[1],
                  code->required_block[2]);
    else if (code->max_block && code->max_block != kernel->block)
        text_addf(&text, "; allowed: up to %u", code->max_block);
    if (kernel->occupancy.limits && kernel->occupancy.limits->has_wgp)
        text_add(&text, kernel->occupancy.wgp_mode ? "; WGP mode" : "; CU mode");
    line(view, is_nvidia ? "block" : "workgroup", "%s", text.data);
    text_release(&text);
}

static void occupancy_part(const struct inspect_view *view, const struct inspect_kernel *kernel)
{
    const struct occupancy *o = &kernel->occupancy;
    if (kernel->occupancy_problem) {
        line(view, "occupancy", "unknown: %s", kernel->occupancy_problem);
        return;
    }
    struct text text = {0};
    const struct occupancy_words *words = o->limits->words;
    text_addf(&text, "%.3g of %.0f %s", occupancy_waves(o, o->waves_per_simd), occupancy_waves(o, o->waves_max),
              occupancy_waves_unit(o, false));
    if (o->waves_per_simd < o->waves_max) {
        text_add(&text, ", limited by ");
        occupancy_limiters(&text, o);
    }
    text_addf(&text, "; %u %s%s of %u %s%s on a%s %s", o->workgroups, words->group, o->workgroups == 1 ? "" : "s",
              o->waves_per_workgroup, words->wave, o->waves_per_workgroup == 1 ? "" : "s", words->per_unit ? "n" : "",
              o->wgp_mode ? "WGP" : words->unit);
    if (!words->per_unit)
        text_addf(&text, " (%u SIMDs)", o->simds);
    line(view, "occupancy", "%s", text.data);
    text_clear(&text);
    occupancy_advice(&text, o);
    if (text.length)
        line(view, "", "%s", text.data);
    text_release(&text);
}

/* The compiler's name for it, which HIP kernels lack, else the manifest's. */
static const char *argument_name(const struct inspect_kernel *kernel, size_t index, struct arena *arena)
{
    const struct inspect_launch *launch = kernel->launch;
    if (kernel->code->args[index].name[0])
        return kernel->code->args[index].name;
    const char *name = launch && index < launch->arg_count ? launch->arg_names[index] : "";
    return strlen(name) > NAME_LONGEST ? arena_printf(arena, "%.*s...", (int)NAME_LONGEST, name) : name;
}

static void arguments_part(const struct inspect_view *view, const struct inspect_kernel *kernel)
{
    const struct codeobj_kernel *code = kernel->code;
    const size_t hidden = code->arg_count - code->explicit_count;
    struct text note = {0};
    text_addf(&note, "%zu, %u bytes", code->explicit_count, code->kernarg_bytes);
    if (hidden)
        text_addf(&note, " with %zu hidden ones of the runtime", hidden);
    line(view, "arguments", "%s", note.data);
    text_release(&note);
    if (code->explicit_count)
        text_addf(view->out, "              offset  size  kind\n");
    for (size_t k = 0; k < code->explicit_count; k++) {
        const struct codeobj_arg *arg = &code->args[k];
        const char *const words[] = {arg->address_space, arg->access, arg->type, argument_name(kernel, k, view->arena)};
        text_addf(view->out, "              %6u  %4u  %s", arg->offset_bytes, arg->size_bytes, arg->value_kind);
        for (size_t w = 0; w < sizeof(words) / sizeof(*words); w++)
            if (words[w][0] && !(w == 0 && arg->is_pointer && !strcmp(words[w], "global")))
                text_addf(view->out, " %s", words[w]);
        text_add(view->out, "\n");
    }
}

static char *loop_name(const struct inspect_kernel *kernel, size_t loop, struct arena *arena)
{
    return kernel->isa && loop < kernel->isa->loop_count ? arena_printf(arena, "loop %zu: ", loop + 1)
                                                         : arena_strdup(arena, "");
}

static void findings_part(const struct inspect_view *view, const struct inspect_kernel *kernel)
{
    if (!kernel->finding_count)
        return;
    text_add(view->out, "\n");
    for (size_t k = 0; k < kernel->finding_count; k++) {
        const struct isa_finding *finding = &kernel->findings[k];
        struct text text = {0};
        text_addf(&text, "%s%s", loop_name(kernel, finding->loop, view->arena), finding->what);
        if (finding->advice && finding->advice[0])
            text_addf(&text, ". %c%s",
                      finding->advice[0] >= 'a' && finding->advice[0] <= 'z' ? finding->advice[0] - 32
                                                                             : finding->advice[0],
                      finding->advice + 1);
        line(view, isa_severity_name(finding->severity), "%s", text.data);
        text_release(&text);
    }
}

/* `target` is said where a file has code for several. */
static void kernel_details(const struct inspect_view *view, const struct inspect_kernel *kernel,
                           const struct codeobj *object, const char *target)
{
    text_add(view->out, "\n");
    layout_heading(
        view->out,
        arena_printf(view->arena, "kernel %s%s%s", kernel->code->name, target ? " for " : "", target ? target : ""),
        view->color);
    const bool is_nvidia = target_is_nvidia(object->target);
    workgroup_part(view, kernel, is_nvidia);
    registers_part(view, kernel, object);
    memory_part(view, kernel, is_nvidia);
    occupancy_part(view, kernel);
    arguments_part(view, kernel);
    if (kernel->isa) {
        text_add(view->out, "\n");
        inspect_code(view->out, kernel->isa, view->color);
        if (is_nvidia)
            text_add(view->out,
                     "  here a warp is a wave, shared memory LDS, local memory scratch, the uniform datapath scalar\n");
    }
    findings_part(view, kernel);
    if (view->options->isa && kernel->isa) {
        text_add(view->out, "\n");
        isa_print(view->out, kernel->isa);
    }
}

/* ---- where kernels come from ---- */

static void object_line(const struct inspect_view *view, const struct inspect_object *object)
{
    const struct codeobj *code = object->code;
    text_addf(view->out, "  %s%s%s: %zu kernel%s", code->target, code->features[0] ? ":" : "", code->features,
              code->kernel_count, code->kernel_count == 1 ? "" : "s");
    if (object->hidden_count)
        text_addf(view->out, ", %zu not shown", object->hidden_count);
    if (code->abi)
        text_addf(view->out, ", code object v%u", code->abi);
    text_add(view->out, "\n");
    if (object->isa_problem && object->kernel_count)
        layout_paragraph(view->out, arena_printf(view->arena, "no disassembly: %s", object->isa_problem), 4,
                         view->columns);
}

void inspect_head(const struct inspect_view *view, const struct inspection *inspection)
{
    const struct codeobj_file *file = inspection->file;
    struct text text = {0};
    if (inspection->label)
        text_addf(&text, "%s for %s", inspection->label, file->objects[0].target);
    else
        text_addf(&text, "%s: %s", inspection->path, codeobj_container_name(file->container));
    layout_heading(view->out, text.data, view->color);
    text_release(&text);
    if (inspection->label)
        text_addf(view->out, "  %s\n", inspection->path);
    if (inspection->command && view->options->verbose)
        text_addf(view->out, "  %s\n", inspection->command);
    for (size_t k = 0; k < inspection->object_count; k++)
        object_line(view, &inspection->objects[k]);
    for (size_t k = 0; k < file->other_count && k < OTHER_IDS; k++)
        if (file->others[k].size_bytes || view->options->verbose)
            text_addf(view->out, "  %s: not AMD GPU code\n", file->others[k].id);
}

static void details(const struct inspect_view *view, const struct inspection *inspection)
{
    inspect_head(view, inspection);
    for (size_t o = 0; o < inspection->object_count; o++)
        for (size_t k = 0; k < inspection->objects[o].kernel_count; k++)
            kernel_details(view, &inspection->objects[o].kernels[k], inspection->objects[o].code,
                           inspection->object_count > 1 ? inspection->objects[o].code->target : NULL);
    if (inspection->ir)
        text_addf(view->out, "\n%s", inspection->ir);
}

void inspect_text(struct text *out, const struct inspection *list, size_t count, const struct cli_options *options,
                  struct arena *arena)
{
    const struct inspect_view view = {out, options, arena, cli_columns(STDOUT_FILENO), log_use_color(STDOUT_FILENO)};
    size_t kernels = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t o = 0; o < list[i].object_count; o++)
            kernels += list[i].objects[o].kernel_count;
    if (kernels > DETAILS_FEW && !options->filter_count && !options->verbose && !options->isa && !options->ir) {
        inspect_table(&view, list, count);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (i)
            text_add(out, "\n");
        details(&view, &list[i]);
    }
}
