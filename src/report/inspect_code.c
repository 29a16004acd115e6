/* SPDX-License-Identifier: MIT
 *
 * The instructions of an inspected kernel: counts, accesses, work and loops, as tables.
 */
#include <math.h>

#include "inspect_parts.h"

enum { MOST_LOOPS = 6 }; /* columns beside the whole kernel's */

/* Plain members of struct isa_mix: what programs and people call them. */
static const struct {
    const char *key, *label; /* label NULL: not shown */
    size_t offset;
} mix_fields[] = {
    {"instructions", NULL, offsetof(struct isa_mix, instructions)},
    {"operations", NULL, offsetof(struct isa_mix, operations)},
    {"code_bytes", NULL, offsetof(struct isa_mix, code_bytes)},
    {"flops_per_lane", "FLOPs per lane, vector", offsetof(struct isa_mix, flops)},
    {"ops_per_lane", "integer operations per lane", offsetof(struct isa_mix, ops)},
    {"matrix_flops_per_wave", "FLOPs per wave, matrix", offsetof(struct isa_mix, matrix_flops)},
    {"matrix_ops_per_wave", "integer op. per wave, matrix", offsetof(struct isa_mix, matrix_ops)},
    {"matrix_cycles", "matrix unit busy, clocks", offsetof(struct isa_mix, matrix_cycles)},
    {"matrix_unknown", "matrix instr. of unknown time", offsetof(struct isa_mix, matrix_unknown)},
    {NULL, "global bytes loaded per lane", offsetof(struct isa_mix, traffic[ISA_GLOBAL].load_bytes)},
    {NULL, "global bytes stored per lane", offsetof(struct isa_mix, traffic[ISA_GLOBAL].store_bytes)},
    {NULL, "LDS bytes read per lane", offsetof(struct isa_mix, traffic[ISA_LDS].load_bytes)},
    {NULL, "LDS bytes written per lane", offsetof(struct isa_mix, traffic[ISA_LDS].store_bytes)},
    {NULL, "scratch bytes loaded per lane", offsetof(struct isa_mix, traffic[ISA_SCRATCH].load_bytes)},
    {NULL, "scratch bytes stored per lane", offsetof(struct isa_mix, traffic[ISA_SCRATCH].store_bytes)},
};
enum { MIX_FIELDS = sizeof(mix_fields) / sizeof(*mix_fields) };

static double field_of(const struct isa_mix *mix, size_t offset)
{
    return (double)*(const uint64_t *)(const void *)((const char *)mix + offset);
}

/* ---- for programs ---- */

struct cell inspect_address(uint64_t address, struct arena *arena)
{
    return cell_text(arena_printf(arena, "0x%llx", (unsigned long long)address));
}

struct cell inspect_loop(size_t loop)
{
    return loop == ISA_NO_LOOP ? cell_unknown(NULL) : cell_number((double)loop + 1);
}

static struct cell widths_cell(const uint64_t *counts, struct arena *arena)
{
    struct table *widths = table_record(arena);
    for (int width = 0; width < ISA_WIDTHS; width++)
        if (counts[width])
            table_member(widths, arena_printf(arena, "%u", isa_width_bytes((enum isa_width)width)), NULL,
                         cell_number((double)counts[width]));
    return cell_table(widths);
}

static struct cell traffic_cell(const struct isa_mix *mix, struct arena *arena)
{
    static const struct table_column columns[] = {
        {.key = "loads"},       {.key = "stores"},       {.key = "atomics"},        {.key = "load_bytes"},
        {.key = "store_bytes"}, {.key = "atomic_bytes"}, {.key = "loads_by_bytes"}, {.key = "stores_by_bytes"},
    };
    struct table *spaces = table_record(arena);
    for (int space = ISA_GLOBAL; space < ISA_SPACES; space++) {
        const struct isa_traffic *t = &mix->traffic[space];
        struct table *one = TABLE(arena, columns);
        one->record = true;
        table_add(one, (struct cell[]){cell_number((double)t->loads), cell_number((double)t->stores),
                                       cell_number((double)t->atomics), cell_number((double)t->load_bytes),
                                       cell_number((double)t->store_bytes), cell_number((double)t->atomic_bytes),
                                       widths_cell(t->loads_by_width, arena), widths_cell(t->stores_by_width, arena)});
        table_member(spaces, isa_space_name((enum isa_space)space), NULL, cell_table(one));
    }
    return cell_table(spaces);
}

static struct cell mix_cell(const struct isa_mix *mix, unsigned wave, struct arena *arena)
{
    struct table *record = table_record(arena), *counts = table_record(arena);
    for (size_t k = 0; k < MIX_FIELDS; k++)
        if (mix_fields[k].key)
            table_member(record, mix_fields[k].key, NULL, cell_number(field_of(mix, mix_fields[k].offset)));
    for (int kind = 0; kind < ISA_KINDS; kind++)
        table_member(counts, isa_kind_name((enum isa_kind)kind), NULL, cell_number((double)mix->count[kind]));
    table_member(record, "counts", NULL, cell_table(counts));
    table_member(record, "traffic", NULL, traffic_cell(mix, arena));
    table_member(record, "flops_per_wave", NULL, cell_number(isa_flops_per_wave(mix, wave)));
    table_member(record, "ops_per_wave", NULL, cell_number(isa_ops_per_wave(mix, wave)));
    table_member(record, "global_bytes_per_wave", NULL, cell_number(isa_global_bytes_per_wave(mix, wave)));
    table_member(record, "intensity", NULL, cell_number(isa_intensity(mix, wave)));
    return cell_table(record);
}

static struct cell loops_cell(const struct isa_kernel *isa, struct arena *arena)
{
    static const struct table_column columns[] = {
        {.key = "header_address"}, {.key = "first_address"}, {.key = "last_address"}, {.key = "parent"},
        {.key = "depth"},          {.key = "innermost"},     {.key = "own"},          {.key = "inclusive"},
    };
    struct table *loops = TABLE(arena, columns);
    for (size_t k = 0; k < isa->loop_count; k++) {
        const struct isa_loop *loop = &isa->loops[k];
        table_add(loops, (struct cell[]){inspect_address(loop->header_address, arena),
                                         inspect_address(loop->first_address, arena),
                                         inspect_address(loop->last_address, arena), inspect_loop(loop->parent),
                                         cell_number(loop->depth), cell_bool(loop->is_innermost),
                                         mix_cell(&loop->own, isa->symbol.wave, arena),
                                         mix_cell(&loop->inclusive, isa->symbol.wave, arena)});
    }
    return cell_table(loops);
}

static struct cell hot_cell(const struct isa_kernel *isa, struct arena *arena)
{
    struct isa_hot hot;
    if (!isa_hot_find(&hot, isa, arena))
        return cell_unknown(NULL);
    struct table *record = table_record(arena);
    table_member(record, "loop", NULL, inspect_loop(hot.loop));
    table_member(record, "instruction", NULL, cell_text(hot.instruction));
    table_member(record, "share", NULL, cell_number(hot.share));
    table_member(record, "work", NULL, cell_number((double)hot.work));
    return cell_table(record);
}

struct cell inspect_code_cell(const struct isa_kernel *isa, struct arena *arena)
{
    if (!isa)
        return cell_unknown(NULL);
    struct table *record = table_record(arena);
    table_member(record, "calls", NULL, cell_number(isa->calls));
    table_member(record, "unknown_words", NULL, cell_number(isa->unknown));
    table_member(record, "mix", NULL, mix_cell(&isa->mix, isa->symbol.wave, arena));
    table_member(record, "loops", NULL, loops_cell(isa, arena));
    table_member(record, "hot_loop", NULL, hot_cell(isa, arena));
    return cell_table(record);
}

/* ---- for people: a column for the kernel and for each loop ---- */

struct code_table {
    struct table *table;
    struct arena *arena;
    const struct isa_mix *mixes[1 + MOST_LOOPS];
    size_t loops[1 + MOST_LOOPS];
    size_t count;
    const char *heading; /* above the next row */
};

/* A row of one number each, unless all are zero. */
static void add_row(struct code_table *code, const char *label, const char *unit, const double *values)
{
    struct cell cells[2 + MOST_LOOPS] = {cell_text(arena_printf(code->arena, "  %s", label))};
    bool any = false;
    for (size_t k = 0; k < code->count; k++) {
        any = any || (values[k] != 0 && !isnan(values[k]));
        cells[1 + k] = cell_quantity(values[k], unit);
    }
    if (!any)
        return;
    table_add(code->table, cells)->heading = code->heading;
    code->heading = NULL;
}

static void add_kinds(struct code_table *code)
{
    double values[1 + MOST_LOOPS];
    for (int kind = 0; kind < ISA_KINDS; kind++) {
        for (size_t k = 0; k < code->count; k++)
            values[k] = (double)code->mixes[k]->count[kind];
        add_row(code, isa_kind_label((enum isa_kind)kind), UNIT_COUNT, values);
    }
    for (size_t k = 0; k < code->count; k++)
        values[k] = (double)code->mixes[k]->instructions;
    add_row(code, "all", UNIT_COUNT, values);
    for (size_t k = 0; k < code->count; k++)
        values[k] = (double)code->mixes[k]->code_bytes;
    add_row(code, "bytes of code", UNIT_COUNT, values);
}

static void add_accesses(struct code_table *code)
{
    static const enum isa_space spaces[] = {ISA_GLOBAL, ISA_LDS, ISA_SCRATCH};
    double values[1 + MOST_LOOPS];
    code->heading = "  accesses";
    for (size_t k = 0; k < 2 * sizeof(spaces) / sizeof(*spaces); k++)
        for (int width = ISA_WIDTHS; width-- > 0;) {
            const enum isa_space space = spaces[k / 2];
            for (size_t n = 0; n < code->count; n++) {
                const struct isa_traffic *traffic = &code->mixes[n]->traffic[space];
                values[n] = (double)(k % 2 ? traffic->stores_by_width : traffic->loads_by_width)[width];
            }
            add_row(code,
                    arena_printf(code->arena, "%s %s, %u B per lane", space == ISA_LDS ? "LDS" : isa_space_name(space),
                                 k % 2 ? "stores" : "loads", isa_width_bytes((enum isa_width)width)),
                    UNIT_COUNT, values);
        }
}

static void add_work(struct code_table *code, unsigned wave)
{
    double values[1 + MOST_LOOPS];
    code->heading = "  work of one pass, each instruction once";
    for (size_t field = 0; field < MIX_FIELDS; field++) {
        for (size_t k = 0; k < code->count; k++)
            values[k] = field_of(code->mixes[k], mix_fields[field].offset);
        if (mix_fields[field].label)
            add_row(code, mix_fields[field].label, UNIT_COUNT, values);
    }
    for (size_t k = 0; k < code->count; k++)
        values[k] = isa_intensity(code->mixes[k], wave);
    add_row(code, "FLOPs per global byte", UNIT_INTENSITY, values);
}

/* With many loops only the innermost ones: that is where time goes. */
static void choose_loops(struct code_table *code, const struct isa_kernel *isa)
{
    code->mixes[code->count++] = &isa->mix;
    for (size_t k = 0; k < isa->loop_count && code->count <= MOST_LOOPS; k++) {
        if (isa->loop_count > MOST_LOOPS && !isa->loops[k].is_innermost)
            continue;
        code->loops[code->count] = k;
        code->mixes[code->count++] = &isa->loops[k].inclusive;
    }
}

static void add_loops(struct document *document, const struct code_table *code, const struct isa_kernel *isa)
{
    struct text lines = {0};
    struct isa_hot hot;
    for (size_t k = 1; k < code->count; k++) {
        const struct isa_loop *loop = &isa->loops[code->loops[k]];
        text_addf(&lines, "  loop %zu: %#llx to %#llx", code->loops[k] + 1, (unsigned long long)loop->first_address,
                  (unsigned long long)loop->last_address);
        if (loop->parent != ISA_NO_LOOP)
            text_addf(&lines, ", inside loop %zu", loop->parent + 1);
        text_add(&lines, "\n");
    }
    if (isa->loop_count + 1 > code->count)
        text_addf(&lines, "  and %zu more loops: --json has them all\n", isa->loop_count + 1 - code->count);
    if (isa_hot_find(&hot, isa, code->arena))
        text_addf(&lines,
                  "  hot loop (a guess): loop %zu, %.0f %% of its %llu vector, matrix, LDS and memory operations %s\n",
                  hot.loop + 1, hot.share * 100, (unsigned long long)hot.work, hot.instruction);
    if (isa->calls)
        text_addf(&lines, "  %u calls of functions whose instructions are not counted\n", isa->calls);
    if (isa->unknown)
        text_addf(&lines, "  %u words that the disassembler does not know\n", isa->unknown);
    if (lines.length)
        document_add(
            document,
            (struct section){.show = SHOW_PEOPLE, .verbatim = true, .text = arena_strdup(code->arena, lines.data)});
    text_release(&lines);
}

void inspect_code(struct document *document, const struct isa_kernel *isa, struct arena *arena)
{
    struct code_table code = {.arena = arena};
    choose_loops(&code, isa);
    struct table_column *columns = arena_array(arena, 2 + MOST_LOOPS, sizeof(*columns));
    columns[0].title = "instructions";
    for (size_t k = 0; k < code.count; k++)
        columns[1 + k] = (struct table_column){
            .title = k ? arena_printf(arena, "loop %zu", code.loops[k] + 1) : "kernel", .unit = UNIT_COUNT};
    code.table = table_new(arena, columns, 1 + code.count);
    code.table->indent = 2;
    add_kinds(&code);
    add_accesses(&code);
    add_work(&code, isa->symbol.wave);
    document_add(document, (struct section){.show = SHOW_PEOPLE, .table = code.table});
    add_loops(document, &code, isa);
}
