/* SPDX-License-Identifier: MIT
 *
 * Inspections as a document: details of few kernels, one line each of many.
 */
#include <string.h>

#include "inspect_parts.h"
#include "rooftile/report.h"
#include "rooftile/targets.h"

enum {
    DETAILS_FEW = 4,   /* so many kernels are shown in full */
    OTHER_IDS = 4,     /* of a bundle's entries that are no GPU code */
    NAME_LONGEST = 44, /* of an argument: expressions may go on and on */
    ROW_LONGEST = 48,  /* of a kernel in a table */
    VALUE_COLUMN = 14,
};

#define SCHEMA "https://rooftile.dev/schemas/inspect/1/inspect.schema.json"
#define SCHEMA_VERSION "1.0.0"

struct view {
    struct document *document;
    struct arena *arena;
    const struct inspect_look *look;
};

/* The text so far, kept; `text` is empty again. */
static const char *keep(struct text *text, struct arena *arena)
{
    const char *kept = arena_strdup(arena, text->data ? text->data : "");
    text_release(text);
    return kept;
}

static void line(struct table *record, const char *title, const char *value)
{
    table_member(record, NULL, title, cell_text(value));
}

/* ---- one kernel for people ---- */

/* NVIDIA's. Without a stack frame there is nowhere to spill to. */
static const char *thread_registers(const struct codeobj_kernel *code, struct arena *arena)
{
    if (code->is_ptx)
        return "the driver's choice, when it compiles this PTX";
    if (code->spill_store_bytes || code->spill_load_bytes)
        return arena_printf(arena, "%u per thread; spilled: %llu bytes stored, %llu loaded", code->vgpr_count,
                            (unsigned long long)code->spill_store_bytes, (unsigned long long)code->spill_load_bytes);
    return arena_printf(arena, "%u per thread%s", code->vgpr_count,
                        code->spill_bytes_known || !code->private_segment_bytes ? ", none spilled" : "");
}

static const char *registers_of(const struct inspect_kernel *kernel, const struct codeobj *object, struct arena *arena)
{
    const struct codeobj_kernel *code = kernel->code;
    struct text text = {0};
    if (target_is_nvidia(object->target))
        return thread_registers(code, arena);
    text_addf(&text, "%u VGPRs", code->vgpr_count);
    if (code->agpr_count)
        text_addf(&text, ", of them %u AGPRs", code->agpr_count);
    if (code->allocated_vgprs && code->allocated_vgprs != code->vgpr_count)
        text_addf(&text, " (%u allocated%s)", code->allocated_vgprs,
                  inspect_registers(object, code).is_padded ? ": by launch bounds, not by need" : "");
    text_addf(&text, ", %u SGPRs, ", code->sgpr_count);
    if (code->vgpr_spills || code->sgpr_spills)
        text_addf(&text, "spilled: %u VGPRs, %u SGPRs", code->vgpr_spills, code->sgpr_spills);
    else
        text_add(&text, "none spilled");
    return keep(&text, arena);
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

static const char *memory_of(const struct inspect_kernel *kernel, bool is_nvidia, struct arena *arena)
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
    return keep(&text, arena);
}

static const char *workgroup_of(const struct inspect_kernel *kernel, bool is_nvidia, struct arena *arena)
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
    return keep(&text, arena);
}

static void occupancy_lines(struct table *record, const struct inspect_kernel *kernel, struct arena *arena)
{
    const struct occupancy *o = &kernel->occupancy;
    if (kernel->occupancy_problem) {
        line(record, "occupancy", arena_printf(arena, "unknown: %s", kernel->occupancy_problem));
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
    line(record, "occupancy", keep(&text, arena));
    occupancy_advice(&text, o);
    if (text.length)
        line(record, "", keep(&text, arena));
}

/* The compiler's name for it, which HIP kernels lack, else the manifest's. */
static const char *argument_name(const struct inspect_kernel *kernel, size_t index, struct arena *arena)
{
    const struct inspect_launch *launch = kernel->launch;
    if (kernel->code->args[index].name[0])
        return kernel->code->args[index].name;
    const char *name = launch && index < launch->arg_count ? launch->arg_names[index] : "";
    return strlen(name) > NAME_LONGEST ? arena_printf(arena, "%.*s...", NAME_LONGEST, name) : name;
}

static const char *argument_words(const struct inspect_kernel *kernel, size_t index, struct arena *arena)
{
    const struct codeobj_arg *arg = &kernel->code->args[index];
    const char *const words[] = {arg->address_space, arg->access, arg->type, argument_name(kernel, index, arena)};
    struct text text = {0};
    text_add(&text, arg->value_kind);
    for (size_t w = 0; w < sizeof(words) / sizeof(*words); w++)
        if (words[w][0] && !(w == 0 && arg->is_pointer && !strcmp(words[w], "global")))
            text_addf(&text, " %s", words[w]);
    return keep(&text, arena);
}

/* ---- one kernel for programs, in part for both ---- */

/* All of them; people see those that a caller passes, which stand first. */
static struct table *arguments_of(const struct inspect_kernel *kernel, struct arena *arena)
{
    static const struct table_column columns[] = {
        {.key = "offset_bytes", .title = "offset", .unit = UNIT_COUNT},
        {.key = "size_bytes", .title = "size", .unit = UNIT_COUNT},
        {.title = "kind"},
        {.key = "kind"},
        {.key = "name"},
        {.key = "type"},
        {.key = "hidden"},
        {.key = "address_space"},
        {.key = "access"},
    };
    const struct codeobj_kernel *code = kernel->code;
    struct table *table = TABLE(arena, columns);
    table->indent = VALUE_COLUMN;
    table->most_rows = code->explicit_count;
    table->rest = "hidden ones of the runtime";
    for (size_t k = 0; k < code->arg_count; k++) {
        const struct codeobj_arg *arg = &code->args[k];
        table_add(table, (struct cell[]){cell_number(arg->offset_bytes), cell_number(arg->size_bytes),
                                         cell_text(argument_words(kernel, k, arena)), cell_text(arg->value_kind),
                                         cell_known(arg->name), cell_known(arg->type), cell_bool(arg->hidden),
                                         cell_known(arg->address_space), cell_known(arg->access)});
    }
    return table;
}

static const char *finding_text(const struct inspect_kernel *kernel, const struct isa_finding *finding,
                                struct arena *arena)
{
    struct text text = {0};
    if (kernel->isa && finding->loop < kernel->isa->loop_count)
        text_addf(&text, "loop %zu: ", finding->loop + 1);
    text_add(&text, finding->what);
    if (finding->advice && finding->advice[0])
        text_addf(&text, ". %c%s",
                  finding->advice[0] >= 'a' && finding->advice[0] <= 'z' ? finding->advice[0] - 32 : finding->advice[0],
                  finding->advice + 1);
    return keep(&text, arena);
}

static struct table *findings_of(const struct inspect_kernel *kernel, struct arena *arena)
{
    static const struct table_column columns[] = {
        {.key = "code"},
        {.key = "severity", .title = ""},
        {.title = "", .flags = COLUMN_PROSE},
        {.key = "loop"},
        {.key = "address"},
        {.key = "what"},
        {.key = "advice"},
    };
    struct table *table = TABLE(arena, columns);
    table->indent = 2;
    for (size_t k = 0; k < kernel->finding_count; k++) {
        const struct isa_finding *f = &kernel->findings[k];
        table_add(table, (struct cell[]){cell_text(f->code),
                                         cell_toned(isa_severity_name(f->severity),
                                                    f->severity == ISA_PROBLEM ? TONE_BAD : TONE_PLAIN),
                                         cell_text(finding_text(kernel, f, arena)), inspect_loop(f->loop),
                                         f->address ? inspect_address(f->address, arena) : cell_unknown(NULL),
                                         cell_text(f->what), cell_known(f->advice)});
    }
    return table;
}

static struct cell registers_cell(const struct codeobj_kernel *code, struct arena *arena)
{
    const struct {
        const char *key;
        double count;
        bool known;
    } members[] = {
        {"vgprs", code->vgpr_count, !code->is_ptx},
        {"agprs", code->agpr_count, !code->is_ptx},
        {"sgprs", code->sgpr_count, !code->is_ptx},
        {"vgpr_spills", code->vgpr_spills, !code->is_ptx},
        {"sgpr_spills", code->sgpr_spills, !code->is_ptx},
        {"spill_store_bytes", (double)code->spill_store_bytes, code->spill_bytes_known},
        {"spill_load_bytes", (double)code->spill_load_bytes, code->spill_bytes_known},
        {"vgprs_allocated", code->allocated_vgprs, code->has_descriptor && code->allocated_vgprs},
    };
    struct table *record = table_record(arena);
    for (size_t k = 0; k < sizeof(members) / sizeof(*members); k++)
        table_member(record, members[k].key, NULL,
                     members[k].known ? cell_number(members[k].count) : cell_unknown(NULL));
    return cell_table(record);
}

static void add_limiters(struct table *record, const struct occupancy *o, struct arena *arena)
{
    static const char *const keys[LIMITER_COUNT] = {[LIMITER_VGPRS] = "vgprs",
                                                    [LIMITER_SGPRS] = "sgprs",
                                                    [LIMITER_LDS] = "lds",
                                                    [LIMITER_WAVES] = "waves",
                                                    [LIMITER_BARRIERS] = "barriers"};
    struct table *workgroups = table_record(arena), *limited = table_list(arena);
    for (int k = 0; k < LIMITER_COUNT; k++) {
        table_member(workgroups, keys[k], NULL,
                     o->workgroups_by[k] == OCCUPANCY_UNLIMITED ? cell_unknown(NULL)
                                                                : cell_number(o->workgroups_by[k]));
        if (o->limited_by[k])
            table_item(limited, keys[k]);
    }
    table_member(record, "workgroups_by", NULL, cell_table(workgroups));
    table_member(record, "limited_by", NULL, cell_table(limited));
}

static struct cell raise_cell(const struct occupancy *o, struct arena *arena)
{
    struct table *record = table_record(arena);
    if (o->raise.workgroups <= o->workgroups)
        return cell_unknown(NULL);
    table_member(record, "vgprs_fewer", NULL, cell_number(o->raise.vgprs));
    table_member(record, "sgprs_fewer", NULL, cell_number(o->raise.sgprs));
    table_member(record, "lds_bytes_less", NULL, cell_number((double)o->raise.lds_bytes));
    table_member(record, "workgroups", NULL, cell_number(o->raise.workgroups));
    table_member(record, "waves_per_simd", NULL, cell_number(o->raise.waves_per_simd));
    return cell_table(record);
}

static struct cell occupancy_cell(const struct inspect_kernel *kernel, struct arena *arena)
{
    const struct occupancy *o = &kernel->occupancy;
    if (kernel->occupancy_problem)
        return cell_unknown(NULL);
    const struct {
        const char *key;
        double value;
    } numbers[] = {
        {"block", kernel->block},
        {"dynamic_lds_bytes", kernel->dynamic_lds_bytes},
        {"simds", o->simds},
        {"waves_per_simd_max", o->waves_max},
        {"vgprs", o->vgprs},
        {"vgprs_allocated", o->vgprs_allocated},
        {"lds_bytes_allocated", (double)o->lds_allocated},
        {"waves_by_vgprs", o->waves_by_vgprs},
        {"waves_by_sgprs", o->waves_by_sgprs},
        {"waves_per_workgroup", o->waves_per_workgroup},
        {"workgroups", o->workgroups},
        {"waves", o->waves},
        {"waves_per_simd", o->waves_per_simd},
    };
    struct table *record = table_record(arena);
    table_member(record, "unit", NULL, cell_text(o->wgp_mode ? "WGP" : o->limits->words->unit));
    table_member(record, "block_source", NULL, cell_text(kernel->block_source));
    for (size_t k = 0; k < sizeof(numbers) / sizeof(*numbers); k++)
        table_member(record, numbers[k].key, NULL, cell_number(numbers[k].value));
    add_limiters(record, o, arena);
    table_member(record, "raise", NULL, raise_cell(o, arena));
    table_member(record, "better_block", NULL, cell_positive(o->better_block));
    return cell_table(record);
}

static struct cell required_cell(const struct codeobj_kernel *code, struct arena *arena)
{
    struct table *list = table_list(arena);
    for (int k = 0; k < 3 && code->required_block[0]; k++) {
        const struct cell size = cell_number(code->required_block[k]);
        table_add(list, &size);
    }
    return cell_table(list);
}

static struct cell kernel_cell(const struct inspect_kernel *kernel, struct arena *arena)
{
    const struct codeobj_kernel *code = kernel->code;
    struct table *record = table_record(arena);
    const struct {
        const char *key;
        struct cell cell;
    } members[] = {
        {"name", cell_text(code->name)},
        {"symbol", cell_text(code->symbol)},
        {"arguments", cell_table(arguments_of(kernel, arena))},
        {"registers", registers_cell(code, arena)},
        {"wave", cell_number(code->wave)},
        {"wgp_mode", cell_bool(kernel->occupancy.wgp_mode)},
        {"lds_bytes", cell_number(code->group_segment_bytes)},
        {"scratch_bytes", code->is_ptx ? cell_unknown(NULL) : cell_number(code->private_segment_bytes)},
        {"dynamic_stack", cell_bool(code->uses_dynamic_stack)},
        {"barriers", cell_number(code->barriers)},
        {"kernarg_bytes", cell_number(code->kernarg_bytes)},
        {"max_block", cell_number(code->max_block)},
        {"required_block", required_cell(code, arena)},
        {"code_bytes", cell_number((double)code->code_bytes)},
        {"code_sha256", cell_known(code->code_sha256)},
        {"occupancy_problem", cell_text(kernel->occupancy_problem)},
        {"occupancy", occupancy_cell(kernel, arena)},
        {"code", inspect_code_cell(kernel->isa, arena)},
        {"findings", cell_table(findings_of(kernel, arena))},
    };
    for (size_t k = 0; k < sizeof(members) / sizeof(*members); k++)
        table_member(record, members[k].key, NULL, members[k].cell);
    return cell_table(record);
}

/* ---- details ---- */

/* `target` is said where a file has code for several. */
static void kernel_details(const struct view *view, const struct inspect_kernel *kernel, const struct codeobj *object,
                           const char *target)
{
    struct arena *arena = view->arena;
    struct document *document = view->document;
    const struct codeobj_kernel *code = kernel->code;
    const bool is_nvidia = target_is_nvidia(object->target);
    struct table *facts = table_record(arena);
    facts->indent = 2;
    line(facts, is_nvidia ? "block" : "workgroup", workgroup_of(kernel, is_nvidia, arena));
    line(facts, "registers", registers_of(kernel, object, arena));
    line(facts, "memory", memory_of(kernel, is_nvidia, arena));
    occupancy_lines(facts, kernel, arena);
    line(facts, "arguments", arena_printf(arena, "%zu, %u bytes", code->explicit_count, code->kernarg_bytes));
    document_add(document, (struct section){.show = SHOW_PEOPLE,
                                            .title = arena_printf(arena, "kernel %s%s%s", code->name,
                                                                  target ? " for " : "", target ? target : ""),
                                            .table = facts});
    if (code->explicit_count)
        document_add(document, (struct section){.show = SHOW_PEOPLE, .table = arguments_of(kernel, arena)});
    if (kernel->isa)
        inspect_code(document, kernel->isa, arena);
    if (kernel->isa && is_nvidia)
        document_text(document, SHOW_PEOPLE, TONE_DIM,
                      "here a warp is a wave, shared memory LDS, local memory scratch, the uniform datapath scalar");
    document_add(document, (struct section){.show = SHOW_PEOPLE, .table = findings_of(kernel, arena)});
    if (view->look->isa && kernel->isa) {
        struct text text = {0};
        isa_print(&text, kernel->isa);
        document_add(document,
                     (struct section){.show = SHOW_PEOPLE, .title = "", .verbatim = true, .text = keep(&text, arena)});
    }
}

static void add_object(struct text *text, const struct inspect_object *object)
{
    const struct codeobj *code = object->code;
    text_addf(text, "  %s%s%s: %zu kernel%s", code->target, code->features[0] ? ":" : "", code->features,
              code->kernel_count, code->kernel_count == 1 ? "" : "s");
    if (object->hidden_count)
        text_addf(text, ", %zu not shown", object->hidden_count);
    if (code->abi)
        text_addf(text, ", code object v%u", code->abi);
    text_add(text, "\n");
    if (object->isa_problem && object->kernel_count)
        text_addf(text, "    no disassembly: %s\n", object->isa_problem);
}

/* Where a file's kernels come from: container, targets. */
static void head(const struct view *view, const struct inspection *inspection)
{
    const struct codeobj_file *file = inspection->file;
    struct text text = {0};
    if (inspection->label)
        text_addf(&text, "  %s\n", inspection->path);
    if (inspection->command && view->look->verbose)
        text_addf(&text, "  %s\n", inspection->command);
    for (size_t k = 0; k < inspection->object_count; k++)
        add_object(&text, &inspection->objects[k]);
    for (size_t k = 0; k < file->other_count && k < OTHER_IDS; k++)
        if (file->others[k].size_bytes || view->look->verbose)
            text_addf(&text, "  %s: not AMD GPU code\n", file->others[k].id);
    const char *title =
        inspection->label
            ? arena_printf(view->arena, "%s for %s", inspection->label, file->objects[0].target)
            : arena_printf(view->arena, "%s: %s", inspection->path, codeobj_container_name(file->container));
    document_add(
        view->document,
        (struct section){.show = SHOW_PEOPLE, .title = title, .verbatim = true, .text = keep(&text, view->arena)});
}

static void details(const struct view *view, const struct inspection *inspection)
{
    head(view, inspection);
    for (size_t o = 0; o < inspection->object_count; o++)
        for (size_t k = 0; k < inspection->objects[o].kernel_count; k++)
            kernel_details(view, &inspection->objects[o].kernels[k], inspection->objects[o].code,
                           inspection->object_count > 1 ? inspection->objects[o].code->target : NULL);
    if (inspection->ir)
        document_add(view->document,
                     (struct section){.show = SHOW_PEOPLE, .title = "", .verbatim = true, .text = inspection->ir});
}

/* ---- one line per kernel ---- */

/* Kernels of the catalog go by what tells their cases apart, others by their own names. Of a long name the end says
 * more: C++ names begin alike. */
static struct cell name_cell(const struct inspection *inspection, const struct inspect_object *object,
                             const struct inspect_kernel *kernel, struct arena *arena)
{
    const char *name = kernel->code->name;
    if (inspection->label)
        name = object->kernel_count == 1 ? inspection->label
                                         : arena_printf(arena, "%s: %s", inspection->label, kernel->code->name);
    const size_t length = strlen(name);
    return cell_text(length > ROW_LONGEST ? arena_printf(arena, "..%s", name + length - (ROW_LONGEST - 2)) : name);
}

static const struct table_column amd_columns[] = {
    {.title = "kernel"},
    {.title = "VGPRs", .unit = UNIT_COUNT},
    {.title = "AGPRs", .unit = UNIT_COUNT},
    {.title = "SGPRs", .unit = UNIT_COUNT},
    {.title = "LDS B", .unit = UNIT_COUNT},
    {.title = "scratch", .unit = UNIT_COUNT},
    {.title = "spills", .unit = UNIT_COUNT},
    {.title = "block", .unit = UNIT_COUNT},
    {.title = "waves", .unit = UNIT_INTENSITY},
    {.title = "findings", .unit = UNIT_COUNT},
    {.title = "limited by"},
};

static const struct table_column nvidia_columns[] = {
    {.title = "kernel"},
    {.title = "registers", .unit = UNIT_COUNT},
    {.title = "shared B", .unit = UNIT_COUNT},
    {.title = "stack B", .unit = UNIT_COUNT},
    {.title = "spill B", .unit = UNIT_COUNT},
    {.title = "block", .unit = UNIT_COUNT},
    {.title = "warps", .unit = UNIT_INTENSITY},
    {.title = "findings", .unit = UNIT_COUNT},
    {.title = "limited by"},
};

static size_t add_resources(struct cell *cells, const struct inspect_kernel *kernel, bool is_nvidia)
{
    const struct codeobj_kernel *code = kernel->code;
    const bool spills_known = code->spill_bytes_known || !code->private_segment_bytes;
    const struct cell lds = cell_number(code->group_segment_bytes + kernel->dynamic_lds_bytes);
    size_t n = 0;
    if (!is_nvidia) {
        cells[n++] = cell_number(code->vgpr_count);
        cells[n++] = cell_number(code->agpr_count);
        cells[n++] = cell_number(code->sgpr_count);
        cells[n++] = lds;
        cells[n++] = cell_number(code->private_segment_bytes);
        cells[n++] = cell_number(code->vgpr_spills + code->sgpr_spills);
    } else {
        cells[n++] = code->is_ptx ? cell_text("driver") : cell_number(code->vgpr_count);
        cells[n++] = lds;
        cells[n++] = code->is_ptx ? cell_unknown(NULL) : cell_number(code->private_segment_bytes);
        cells[n++] = code->is_ptx || !spills_known
                         ? cell_unknown(NULL)
                         : cell_number((double)(code->spill_store_bytes + code->spill_load_bytes));
    }
    cells[n++] = cell_number(kernel->block);
    return n;
}

static void add_row(struct table *table, struct cell name, const struct inspect_kernel *kernel, bool is_nvidia,
                    struct arena *arena)
{
    struct cell cells[sizeof(amd_columns) / sizeof(*amd_columns)] = {name};
    struct text limiters = {0};
    size_t n = 1 + add_resources(cells + 1, kernel, is_nvidia), findings = 0;
    for (size_t k = 0; k < kernel->finding_count; k++)
        findings += kernel->findings[k].severity != ISA_NOTE;
    if (!kernel->occupancy_problem)
        occupancy_limiters(&limiters, &kernel->occupancy);
    cells[n++] = kernel->occupancy_problem
                     ? cell_unknown(kernel->occupancy_problem)
                     : cell_number(occupancy_waves(&kernel->occupancy, kernel->occupancy.waves_per_simd));
    cells[n++] = cell_number((double)findings);
    cells[n++] = kernel->occupancy_problem ? cell_unknown(NULL) : cell_text(keep(&limiters, arena));
    table_add(table, cells);
}

static void add_rows(struct table *table, const struct inspection *inspection, struct arena *arena)
{
    for (size_t o = 0; o < inspection->object_count; o++) {
        const struct inspect_object *object = &inspection->objects[o];
        const size_t first = table->row_count;
        for (size_t k = 0; k < object->kernel_count; k++)
            add_row(table, name_cell(inspection, object, &object->kernels[k], arena), &object->kernels[k],
                    target_is_nvidia(object->code->target), arena);
        if (inspection->object_count > 1 && table->row_count > first)
            table->rows[first].heading = object->code->target;
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

static void one_table(const struct view *view, const struct inspection *list, size_t count)
{
    const struct inspect_object *first = &list[0].objects[0];
    struct table *table =
        target_is_nvidia(first->code->target) ? TABLE(view->arena, nvidia_columns) : TABLE(view->arena, amd_columns);
    table->indent = 2;
    const char *title = NULL, *text = NULL;
    if (list[0].label) {
        title = arena_printf(view->arena, "kernels for %s", first->code->target);
        text = first->isa_problem ? arena_printf(view->arena, "no disassembly: %s", first->isa_problem) : NULL;
    } else {
        head(view, &list[0]);
    }
    for (size_t k = 0; k < count; k++)
        add_rows(table, &list[k], view->arena);
    document_add(view->document, (struct section){.show = SHOW_PEOPLE, .title = title, .text = text, .table = table});
}

/* ---- files ---- */

static struct cell objects_cell(const struct inspection *inspection, struct arena *arena)
{
    static const struct table_column columns[] = {
        {.key = "target"},     {.key = "features"},     {.key = "bundle_id"},           {.key = "code_object_version"},
        {.key = "size_bytes"}, {.key = "disassembler"}, {.key = "disassembly_problem"}, {.key = "kernels_left_out"},
        {.key = "kernels"},
    };
    struct table *table = TABLE(arena, columns);
    for (size_t o = 0; o < inspection->object_count; o++) {
        const struct inspect_object *object = &inspection->objects[o];
        struct table *kernels = table_list(arena);
        for (size_t k = 0; k < object->kernel_count; k++) {
            const struct cell kernel = kernel_cell(&object->kernels[k], arena);
            table_add(kernels, &kernel);
        }
        table_add(table, (struct cell[]){cell_text(object->code->target), cell_text(object->code->features),
                                         cell_known(object->code->id), cell_number(object->code->abi),
                                         cell_number((double)object->code->size_bytes), cell_text(object->tool),
                                         cell_text(object->isa_problem), cell_number((double)object->hidden_count),
                                         cell_table(kernels)});
    }
    return cell_table(table);
}

static struct table *files_of(const struct inspection *list, size_t count, struct arena *arena)
{
    static const struct table_column columns[] = {
        {.key = "path"},    {.key = "kernel"}, {.key = "command"}, {.key = "container"},
        {.key = "objects"}, {.key = "others"}, {.key = "ir"},
    };
    static const struct table_column other_columns[] = {{.key = "bundle_id"}, {.key = "size_bytes"}};
    struct table *table = TABLE(arena, columns);
    for (size_t k = 0; k < count; k++) {
        const struct codeobj_file *file = list[k].file;
        struct table *others = TABLE(arena, other_columns);
        for (size_t n = 0; n < file->other_count; n++)
            table_add(others,
                      (struct cell[]){cell_text(file->others[n].id), cell_number((double)file->others[n].size_bytes)});
        table_add(table, (struct cell[]){cell_text(list[k].path), cell_text(list[k].label), cell_text(list[k].command),
                                         cell_text(codeobj_container_name(file->container)),
                                         objects_cell(&list[k], arena), cell_table(others), cell_text(list[k].ir)});
    }
    return table;
}

void inspect_document(struct document *document, const struct inspection *list, size_t count,
                      const struct inspect_look *look)
{
    const struct view view = {document, document->arena, look};
    size_t kernels = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t o = 0; o < list[i].object_count; o++)
            kernels += list[i].objects[o].kernel_count;
    if (look->data) {
        struct table *schema = table_record(view.arena);
        table_member(schema, "schema", NULL, cell_text(SCHEMA));
        table_member(schema, "schema_version", NULL, cell_text(SCHEMA_VERSION));
        document_add(document, (struct section){.show = SHOW_DATA, .table = schema});
        document_add(document,
                     (struct section){.show = SHOW_DATA, .key = "files", .table = files_of(list, count, view.arena)});
        return;
    }
    if (kernels > DETAILS_FEW && !look->details) {
        for (size_t at = 0; at < count; at += table_length(&list[at], count - at))
            one_table(&view, &list[at], table_length(&list[at], count - at));
        document_text(document, SHOW_PEOPLE, TONE_DIM,
                      "waves: per SIMD; warps: per SM. Details: -v, or --filter GLOB for some kernels.");
        return;
    }
    for (size_t i = 0; i < count; i++)
        details(&view, &list[i]);
}
