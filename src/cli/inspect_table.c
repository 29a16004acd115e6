/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "inspect_view.h"
#include "layout.h"
#include "rooftile/targets.h"

#define NAME_COLUMNS 48u

/* Kernels of the catalog go by what tells their cases apart, others by their own names. */
static const char *row_name(const struct inspect_view *view, const struct inspection *inspection,
                            const struct inspect_object *object, const struct inspect_kernel *kernel)
{
    if (!inspection->label)
        return kernel->code->name;
    if (object->kernel_count == 1)
        return inspection->label;
    return arena_printf(view->arena, "%s: %s", inspection->label, kernel->code->name);
}

static unsigned name_columns(const struct inspect_view *view, const struct inspection *list, size_t count)
{
    size_t widest = strlen("kernel");
    for (size_t i = 0; i < count; i++)
        for (size_t o = 0; o < list[i].object_count; o++)
            for (size_t k = 0; k < list[i].objects[o].kernel_count; k++) {
                const struct inspect_object *object = &list[i].objects[o];
                const size_t length = strlen(row_name(view, &list[i], object, &object->kernels[k]));
                widest = length > widest ? length : widest;
            }
    return widest < NAME_COLUMNS ? (unsigned)widest : NAME_COLUMNS;
}

static void add_name(struct text *out, const char *name, unsigned width)
{
    const size_t length = strlen(name);
    /* Of a long name the end says more: C++ names begin alike. */
    if (length > width)
        text_addf(out, "  ..%s", name + length - (width - 2));
    else
        text_addf(out, "  %-*s", (int)width, name);
}

static void add_resources(struct text *out, const struct inspect_kernel *kernel, bool is_nvidia)
{
    const struct codeobj_kernel *code = kernel->code;
    const uint32_t lds_bytes = code->group_segment_bytes + kernel->dynamic_lds_bytes;
    if (!is_nvidia) {
        text_addf(out, "  %5u  %5u  %5u  %6u  %7u  %6u  %5u", code->vgpr_count, code->agpr_count, code->sgpr_count,
                  lds_bytes, code->private_segment_bytes, code->vgpr_spills + code->sgpr_spills, kernel->block);
        return;
    }
    if (code->is_ptx) {
        text_addf(out, "  %9s  %8u  %7s  %7s  %5u", "driver", lds_bytes, "-", "-", kernel->block);
        return;
    }
    text_addf(out, "  %9u  %8u  %7u", code->vgpr_count, lds_bytes, code->private_segment_bytes);
    if (code->spill_bytes_known || !code->private_segment_bytes)
        text_addf(out, "  %7llu", (unsigned long long)(code->spill_store_bytes + code->spill_load_bytes));
    else
        text_addf(out, "  %7s", "?");
    text_addf(out, "  %5u", kernel->block);
}

static void row(const struct inspect_view *view, const char *name, const struct inspect_kernel *kernel, unsigned width,
                bool is_nvidia)
{
    struct text limiters = {0};
    size_t findings = 0;
    for (size_t k = 0; k < kernel->finding_count; k++)
        findings += kernel->findings[k].severity != ISA_NOTE;
    add_name(view->out, name, width);
    add_resources(view->out, kernel, is_nvidia);
    if (kernel->occupancy_problem) {
        text_add(&limiters, "?");
        text_addf(view->out, "  %5s", "?");
    } else {
        occupancy_limiters(&limiters, &kernel->occupancy);
        text_addf(view->out, "  %5.3g", occupancy_waves(&kernel->occupancy, kernel->occupancy.waves_per_simd));
    }
    text_addf(view->out, "  %8zu  %s\n", findings, limiters.data);
    text_release(&limiters);
}

static void title(const struct inspect_view *view, unsigned width, bool is_nvidia)
{
    if (is_nvidia)
        text_addf(view->out, "  %-*s  %9s  %8s  %7s  %7s  %5s  %5s  %8s  %s\n", (int)width, "kernel", "registers",
                  "shared B", "stack B", "spill B", "block", "warps", "findings", "limited by");
    else
        text_addf(view->out, "  %-*s  %5s  %5s  %5s  %6s  %7s  %6s  %5s  %5s  %8s  %s\n", (int)width, "kernel", "VGPRs",
                  "AGPRs", "SGPRs", "LDS B", "scratch", "spills", "block", "waves", "findings", "limited by");
}

static void rows(const struct inspect_view *view, const struct inspection *inspection, unsigned width)
{
    for (size_t o = 0; o < inspection->object_count; o++) {
        const struct inspect_object *object = &inspection->objects[o];
        if (inspection->object_count > 1)
            text_addf(view->out, "%s\n", object->code->target);
        for (size_t k = 0; k < object->kernel_count; k++)
            row(view, row_name(view, inspection, object, &object->kernels[k]), &object->kernels[k], width,
                target_is_nvidia(object->code->target));
    }
}

/* What one table holds: a file, or kernels of the catalog for one target. */
static size_t table_length(const struct inspection *list, size_t count)
{
    size_t length = 1;
    while (list[0].label && length < count && list[length].label &&
           !strcmp(list[length].file->objects[0].target, list[0].file->objects[0].target))
        length++;
    return length;
}

static void one_table(const struct inspect_view *view, const struct inspection *list, size_t count)
{
    const unsigned width = name_columns(view, list, count);
    const struct inspect_object *first = &list[0].objects[0];
    if (list[0].label) {
        layout_heading(view->out, arena_printf(view->arena, "kernels for %s", first->code->target), view->color);
        if (first->isa_problem)
            text_addf(view->out, "  no disassembly: %s\n", first->isa_problem);
    } else {
        inspect_head(view, &list[0]);
        text_add(view->out, "\n");
    }
    title(view, width, target_is_nvidia(first->code->target));
    for (size_t k = 0; k < count; k++)
        rows(view, &list[k], width);
    text_add(view->out, "\n");
}

void inspect_table(const struct inspect_view *view, const struct inspection *list, size_t count)
{
    for (size_t at = 0; at < count; at += table_length(&list[at], count - at))
        one_table(view, &list[at], table_length(&list[at], count - at));
    text_add(view->out, "waves: per SIMD; warps: per SM. Details: -v, or --filter GLOB for some kernels.\n");
}
