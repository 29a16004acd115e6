/* SPDX-License-Identifier: MIT
 *
 * Inspections as a document: details of a few kernels, one line for each of many.
 */

#include "report_internal.h"
#include "rooftile/inspection.h"
#include "rooftile/report.h"
#include "rooftile/targets.h"

enum {
    OTHER_IDS = 4, /* listed entries of a bundle that are not GPU code */
    PREFIX_SHORTEST = 8,
};

struct view {
    struct document *document;
    struct arena *arena;
    const struct inspect_look *look;
};

/* ---- details ---- */

static void add_object(struct text *text, const struct inspect_object *object)
{
    const struct codeobj *code = object->code;
    text_addf(text, "  %s%s%s: %zu kernel%s", code->target, code->features[0] ? ":" : "", code->features,
              code->kernel_count, text_s(code->kernel_count));
    if (object->hidden_count)
        text_addf(text, ", %zu not shown", object->hidden_count);
    if (code->abi)
        text_addf(text, ", code object v%u", code->abi);
    text_add(text, "\n");
    if (object->isa_problem && object->kernel_count)
        text_addf(text, "    no disassembly: %s\n", object->isa_problem);
    if (object->isa && object->isa->lines_problem)
        text_addf(text, "    no source lines: %s\n", object->isa->lines_problem);
}

/* Describes where a file's kernels come from: container and targets. */
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
        inspection->label ? arena_printf(view->arena, "%s for %s", inspection->label, file->objects[0].target)
                          : arena_printf(view->arena, "%s: %s", inspection->path, codeobj_containers[file->container]);
    document_verbatim(view->document, 0, title, text_take(&text, view->arena));
}

static void details(const struct view *view, const struct inspection *inspection)
{
    head(view, inspection);
    for (size_t o = 0; o < inspection->object_count; o++)
        for (size_t k = 0; k < inspection->objects[o].kernel_count; k++)
            inspect_kernel(view->document, &inspection->objects[o].kernels[k], inspection->objects[o].code,
                           inspection->object_count > 1 ? inspection->objects[o].code->target : NULL, view->look->isa);
    if (inspection->ir)
        document_verbatim(view->document, 0, "", inspection->ir);
}

/* ---- one line per kernel ---- */

/* Turns "kernel<float>(float*, unsigned long)" into "kernel<float>". */
static const char *without_parameters(const char *name, struct arena *arena)
{
    size_t at = strlen(name), open = 0;
    if (!at || name[at - 1] != ')')
        return name;
    do {
        at--;
        open += (name[at] == ')') - (size_t)(name[at] == '(');
    } while (open && at);
    return open || !at ? name : arena_strndup(arena, name, at);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names for the kernels of an object: kernels of the catalog use the label that distinguishes their cases, others their
 * own names; these keep their parameters if the names would otherwise not be unique. */
static const char **names_of(const struct inspection *inspection, const struct inspect_object *object,
                             struct arena *arena)
{
    const char **names = arena_array(arena, object->kernel_count + 1, sizeof(*names));
    for (size_t k = 0; k < object->kernel_count; k++)
        names[k] = inspection->label && object->kernel_count == 1 ? inspection->label
                   : inspection->label ? arena_printf(arena, "%s: %s", inspection->label, object->kernels[k].name)
                                       : without_parameters(object->kernels[k].name, arena);
    const char **sorted = arena_copy(arena, names, (object->kernel_count + 1) * sizeof(*names));
    qsort(sorted, object->kernel_count, sizeof(*sorted), compare_names);
    bool differ = true;
    for (size_t k = 1; k < object->kernel_count; k++)
        differ &= strcmp(sorted[k - 1], sorted[k]) != 0;
    for (size_t k = 0; k < object->kernel_count && !differ && !inspection->label; k++)
        names[k] = object->kernels[k].name;
    return names;
}

/* The common prefix of all names of a file; "" if it is too short to be worth removing or all names are equal. */
static const char *common_prefix(const struct inspection *file, const char *const *const *names, struct arena *arena)
{
    const char *first = NULL;
    size_t length = 0;
    bool differ = false;
    for (size_t o = 0; o < file->object_count && !file->label; o++)
        for (size_t k = 0; k < file->objects[o].kernel_count; k++) {
            const char *name = names[o][k];
            size_t same = 0;
            while (first && same < length && name[same] == first[same])
                same++;
            length = first ? same : strlen(name);
            first = first ? first : name;
            differ |= strcmp(first, name) != 0;
        }
    /* Ends at a word boundary: "void gemm<" for two instances, "Cijk_Ailk_" for a library. */
    while (length && (!differ || !strchr("_:<(, ", first[length - 1])))
        length--;
    return length >= PREFIX_SHORTEST ? arena_strndup(arena, first, length) : "";
}

enum { NAME, VGPRS, AGPRS, SGPRS, LDS, SCRATCH, SPILLS, BLOCK, WAVES, FINDINGS, LIMITS };
static const struct table_column amd_columns[] = {
    [NAME] = {.title = "kernel"},
    [VGPRS] = {.title = "VGPRs", .unit = UNIT_COUNT},
    [AGPRS] = {.title = "AGPRs", .unit = UNIT_COUNT},
    [SGPRS] = {.title = "SGPRs", .unit = UNIT_COUNT, .drop = 1},
    [LDS] = {.title = "LDS B", .unit = UNIT_COUNT},
    [SCRATCH] = {.title = "scratch", .unit = UNIT_COUNT},
    [SPILLS] = {.title = "spills", .unit = UNIT_COUNT},
    [BLOCK] = {.title = "block", .unit = UNIT_COUNT, .drop = 2},
    [WAVES] = {.title = "waves", .unit = UNIT_INTENSITY},
    [FINDINGS] = {.title = "findings", .unit = UNIT_COUNT},
    [LIMITS] = {.title = "limited by"},
};

/* Columns with NVIDIA's names; AGPRs and SGPRs do not exist there. */
static struct table *table_for(const char *target, struct arena *arena)
{
    struct table_column *columns = arena_copy(arena, amd_columns, sizeof(amd_columns));
    if (target_is_nvidia(target)) {
        columns[VGPRS].title = "registers";
        columns[LDS].title = "shared B";
        columns[SCRATCH].title = "stack B";
        columns[SPILLS].title = "spill B";
        columns[WAVES].title = "warps";
    }
    struct table *table = table_new(arena, columns, COUNT_OF(amd_columns));
    table->indent = 2;
    return table;
}

static void put_registers(struct cell *cells, const struct codeobj_kernel *code, bool is_nvidia)
{
    const bool spills_known = code->spill_bytes_known || !code->private_segment_bytes;
    cells[VGPRS] = code->is_ptx ? cell_text("driver") : cell_number(code->vgpr_count);
    cells[SCRATCH] = code->is_ptx ? cell_unknown(NULL) : cell_number(code->private_segment_bytes);
    if (is_nvidia) {
        const uint64_t spilled = code->spill_store_bytes + code->spill_load_bytes;
        cells[SPILLS] = code->is_ptx || !spills_known ? cell_unknown(NULL) : cell_number((double)spilled);
        return;
    }
    cells[AGPRS] = cell_number(code->agpr_count);
    cells[SGPRS] = cell_number(code->sgpr_count);
    cells[SPILLS] = cell_number(code->vgpr_spills + code->sgpr_spills);
}

static void add_row(struct table *table, struct cell name, const struct inspect_kernel *kernel, bool is_nvidia,
                    struct arena *arena)
{
    const struct occupancy *occupancy = &kernel->occupancy;
    const bool is_known = !kernel->occupancy_problem;
    struct cell *cells = table_add(table, NULL)->cells;
    struct text limiters = {0};
    const size_t findings =
        COUNT_WHERE(finding, kernel->findings, kernel->finding_count, finding->severity != ISA_NOTE);
    if (is_known)
        occupancy_limiters(&limiters, occupancy);
    put_registers(cells, kernel->code, is_nvidia);
    cells[NAME] = name;
    cells[LDS] = cell_number(kernel->code->group_segment_bytes + kernel->dynamic_lds_bytes);
    cells[BLOCK] = cell_number(kernel->block);
    cells[WAVES] = is_known ? cell_number(occupancy_waves(occupancy, occupancy->waves_per_simd))
                            : cell_unknown(kernel->occupancy_problem);
    cells[FINDINGS] = cell_number((double)findings);
    cells[LIMITS] = is_known ? cell_text(text_take(&limiters, arena)) : cell_unknown(NULL);
}

/* Adds a row per kernel and returns the prefix removed from their names; "": none. */
static const char *add_rows(struct table *table, const struct inspection *inspection, struct arena *arena)
{
    const char *const **names = arena_array(arena, inspection->object_count + 1, sizeof(*names));
    for (size_t o = 0; o < inspection->object_count; o++)
        names[o] = names_of(inspection, &inspection->objects[o], arena);
    const char *prefix = common_prefix(inspection, names, arena);
    for (size_t o = 0; o < inspection->object_count; o++) {
        const struct inspect_object *object = &inspection->objects[o];
        const size_t first = table->row_count;
        for (size_t k = 0; k < object->kernel_count; k++)
            add_row(table, cell_text(names[o][k] + strlen(prefix)), &object->kernels[k],
                    target_is_nvidia(object->code->target), arena);
        if (inspection->object_count > 1 && table->row_count > first)
            table->rows[first].heading = object->code->target;
    }
    return prefix;
}

/* Returns the number of inspections in one table: one file, or all kernels of the catalog for one target. */
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
    struct table *table = table_for(first->code->target, view->arena);
    const char *title = NULL, *text = NULL;
    if (list[0].label) {
        title = arena_printf(view->arena, "kernels for %s", first->code->target);
        text = first->isa_problem ? arena_printf(view->arena, "no disassembly: %s", first->isa_problem) : NULL;
    } else {
        head(view, &list[0]);
    }
    for (size_t k = 0; k < count; k++) {
        const char *prefix = add_rows(table, &list[k], view->arena);
        if (*prefix)
            text = arena_printf(view->arena, "all names begin with %s", prefix);
    }
    document_table(view->document, NULL, title, table)->text = text;
}

/* ---- files ---- */

static struct table *functions_of(const struct isa *isa, struct arena *arena)
{
    static const struct table_column columns[] = {
        {.key = "name"},         {.key = "demangled"},           {.key = "address"},
        {.key = "instructions"}, {.key = "matrix_instructions"}, {.key = "reachable"}};
    struct table *table = TABLE(arena, columns);
    for (size_t k = 0; isa && k < isa->function_count; k++) {
        const struct isa_code *code = &isa->functions[k];
        table_add(table, (struct cell[]){cell_known(code->name), cell_known(code->demangled),
                                         inspect_address(code->address, arena), cell_number((double)code->instructions),
                                         cell_number((double)code->matrix_instructions), cell_bool(code->is_reached)});
    }
    return table;
}

static struct cell objects_cell(const struct inspection *inspection, struct arena *arena)
{
    struct table *list = table_list(arena);
    FOR_EACH(const struct inspect_object, object, inspection->objects, inspection->object_count) {
        const struct isa *isa = object->isa;
        struct table *record = table_record(arena), *kernels = table_list(arena);
        for (size_t k = 0; k < object->kernel_count; k++) {
            const struct cell kernel = inspect_kernel_cell(&object->kernels[k], object->code->target, arena);
            table_add(kernels, &kernel);
        }
        table_member(record, "target", NULL, cell_text(object->code->target));
        table_member(record, "features", NULL, cell_text(object->code->features));
        table_member(record, "bundle_id", NULL, cell_known(object->code->id));
        table_member(record, "entries", NULL, cell_number((double)object->entries));
        table_member(record, "code_object_version", NULL, cell_number(object->code->abi));
        table_member(record, "size_bytes", NULL, cell_number((double)object->code->size_bytes));
        table_member(record, "disassembler", NULL, cell_text(object->tool));
        table_member(record, "disassembly_problem", NULL, cell_text(object->isa_problem));
        table_member(record, "lines_problem", NULL, cell_text(isa ? isa->lines_problem : NULL));
        table_member(record, "kernels_skipped", NULL, cell_number((double)object->hidden_count));
        table_member(record, "instructions", NULL, cell_number(isa ? (double)isa->instructions : NAN));
        table_member(record, "matrix_instructions", NULL, cell_number(isa ? (double)isa->matrix_instructions : NAN));
        table_member(record, "functions", NULL, cell_table(functions_of(isa, arena)));
        table_member(record, "kernels", NULL, cell_table(kernels));
        table_add(list, (struct cell[]){cell_table(record)});
    }
    return cell_table(list);
}

static struct table *files_of(const struct inspection *list, size_t count, struct arena *arena)
{
    static const struct table_column columns[] = {
        {.key = "path"},    {.key = "kernel"}, {.key = "command"}, {.key = "container"},
        {.key = "objects"}, {.key = "others"}, {.key = "ir"},
    };
    static const struct table_column other_columns[] = {{.key = "bundle_id", FIELD(struct codeobj_other, id)},
                                                        {.key = "size_bytes", FIELD(struct codeobj_other, size_bytes)}};
    struct table *table = TABLE(arena, columns);
    for (size_t k = 0; k < count; k++) {
        const struct codeobj_file *file = list[k].file;
        struct table *others = TABLE_OF(arena, other_columns, file->others, file->other_count);
        table_add(table, (struct cell[]){cell_text(list[k].path), cell_text(list[k].label), cell_text(list[k].command),
                                         cell_text(codeobj_containers[file->container]), objects_cell(&list[k], arena),
                                         cell_table(others), cell_text(list[k].ir)});
    }
    return table;
}

/* Loads in a loop can be wider, or wait for less, in most kernels; other findings come first. */
static int weight(const struct isa_finding *finding)
{
    return 2 * (int)finding->severity +
           !text_has_word("narrow-loads wait-each-load", " ", finding->code, strlen(finding->code));
}

/* The last lines: how many findings there are, and the first of the gravest. Returns the number of kernels. */
static size_t conclude(struct document *document, const struct inspection *list, size_t count)
{
    struct arena *arena = document->arena;
    const struct inspect_kernel *of = NULL;
    const struct isa_finding *first = NULL;
    size_t kernels = 0, found[ISA_PROBLEM + 1] = {0};
    FOR_EACH(const struct inspection, file, list, count)
        FOR_EACH(const struct inspect_object, object, file->objects, file->object_count)
            FOR_EACH(const struct inspect_kernel, kernel, object->kernels, object->kernel_count) {
                kernels++;
                FOR_EACH(const struct isa_finding, finding, kernel->findings, kernel->finding_count) {
                    found[finding->severity]++;
                    if (finding->severity > ISA_NOTE && (!first || weight(finding) > weight(first))) {
                        first = finding;
                        of = kernel;
                    }
                }
            }
    document->verdict =
        arena_printf(arena, "%zu kernel%s: %zu problem%s, %zu hint%s", kernels, text_s(kernels), found[ISA_PROBLEM],
                     text_s(found[ISA_PROBLEM]), found[ISA_HINT], text_s(found[ISA_HINT]));
    document->mark.tone = found[ISA_PROBLEM] ? TONE_BAD : found[ISA_HINT] ? TONE_DOUBT : TONE_GOOD;
    document->action = !first ? "Nothing to change is seen in the code; predict says what limits its time"
                              : arena_printf(arena, "First, in %s: %s", without_parameters(of->name, arena),
                                             first->advice && *first->advice ? first->advice : first->what);
    return kernels;
}

void inspect_document(struct document *document, const struct inspection *list, size_t count,
                      const struct inspect_look *look)
{
    const struct view view = {document, document->arena, look};
    const size_t kernels = conclude(document, list, count);
    if (look->data) {
        const struct table *schema =
            schema_record(view.arena, "https://rooftile.dev/schemas/inspect/1/inspect.schema.json", "1.0.0");
        document_table(document, NULL, NULL, schema);
        document_table(document, "files", NULL, files_of(list, count, view.arena));
        return;
    }
    if (kernels > INSPECT_DETAILS_FEW && !look->details) {
        for (size_t at = 0; at < count; at += table_length(&list[at], count - at))
            one_table(&view, &list[at], table_length(&list[at], count - at));
        document_text(document, SHOW_PEOPLE, TONE_DIM,
                      "waves: per SIMD; warps: per SM. Details: -v, or --filter GLOB for some kernels.");
        return;
    }
    for (size_t i = 0; i < count; i++)
        details(&view, &list[i]);
}
