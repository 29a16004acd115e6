/* SPDX-License-Identifier: MIT
 *
 * The instructions of an inspected kernel: counts, accesses, work and loops, as tables.
 */

#include "report_internal.h"
#include "rooftile/file.h"
#include "rooftile/inspection.h"

enum { MOST_LOOPS = 6 }; /* columns beside that of the whole kernel */

/* A word unknown to the disassembler and the number of its occurrences; at most MOST_WORDS are counted. */
enum { MOST_WORDS = 64, SHOWN_WORDS = 4, SHOWN_FUNCTIONS = 4, FUNCTION_LONGEST = 60 /* columns */ };
struct word_count {
    const struct isa_word *word;
    uint64_t count;
};

#define OF_MIX(member) FIELD(struct isa_mix, member)

/* Counters of a mix, named for programs (key) and people (title). */
static const struct table_column mix_columns[] = {
    {.key = "instructions", OF_MIX(instructions)},
    {.key = "operations", OF_MIX(operations)},
    {.key = "code_bytes", OF_MIX(code_bytes)},
    {.key = "flops_per_lane", .title = "FLOPs per lane, vector", OF_MIX(flops)},
    {.key = "ops_per_lane", .title = "integer operations per lane", OF_MIX(ops)},
    {.key = "matrix_flops_per_wave", .title = "FLOPs per wave, matrix", OF_MIX(matrix_flops)},
    {.key = "matrix_ops_per_wave", .title = "integer op. per wave, matrix", OF_MIX(matrix_ops)},
    {.key = "matrix_cycles", .title = "matrix unit busy, clocks", OF_MIX(matrix_cycles)},
    {.key = "matrix_unknown", .title = "matrix instr. of unknown time", OF_MIX(matrix_unknown)},
    {.title = "accesses of unknown bytes", OF_MIX(traffic[ISA_GLOBAL].unknown)},
    {.title = "global bytes loaded per lane", OF_MIX(traffic[ISA_GLOBAL].load_bytes)},
    {.title = "global bytes stored per lane", OF_MIX(traffic[ISA_GLOBAL].store_bytes)},
    {.title = "LDS bytes read per lane", OF_MIX(traffic[ISA_LDS].load_bytes)},
    {.title = "LDS bytes written per lane", OF_MIX(traffic[ISA_LDS].store_bytes)},
    {.title = "scratch bytes loaded per lane", OF_MIX(traffic[ISA_SCRATCH].load_bytes)},
    {.title = "scratch bytes stored per lane", OF_MIX(traffic[ISA_SCRATCH].store_bytes)},
};

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
            table_member(widths, arena_printf(arena, "%u", isa_width_bytes[width]), NULL,
                         cell_number((double)counts[width]));
    return cell_table(widths);
}

#define OF_TRAFFIC(member) FIELD(struct isa_traffic, member)
static const struct table_column traffic_columns[] = {
    {.key = "loads", OF_TRAFFIC(loads)},
    {.key = "stores", OF_TRAFFIC(stores)},
    {.key = "atomics", OF_TRAFFIC(atomics)},
    {.key = "load_bytes", OF_TRAFFIC(load_bytes)},
    {.key = "store_bytes", OF_TRAFFIC(store_bytes)},
    {.key = "atomic_bytes", OF_TRAFFIC(atomic_bytes)},
    {.key = "of_unknown_bytes", OF_TRAFFIC(unknown)},
};

static struct cell traffic_cell(const struct isa_mix *mix, struct arena *arena)
{
    struct table *spaces = table_record(arena);
    for (int space = ISA_GLOBAL; space < ISA_SPACES; space++) {
        const struct isa_traffic *t = &mix->traffic[space];
        struct table *one = RECORD_OF(arena, traffic_columns, t);
        table_member(one, "loads_by_bytes", NULL, widths_cell(t->loads_by_width, arena));
        table_member(one, "stores_by_bytes", NULL, widths_cell(t->stores_by_width, arena));
        table_member(spaces, isa_spaces[space], NULL, cell_table(one));
    }
    return cell_table(spaces);
}

static struct cell mix_cell(const struct isa_mix *mix, unsigned wave, struct arena *arena)
{
    struct table *record = RECORD_OF(arena, mix_columns, mix), *counts = table_record(arena);
    for (int kind = 0; kind < ISA_KINDS; kind++)
        table_member(counts, isa_kinds[kind].name, NULL, cell_number((double)mix->count[kind]));
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
        {.key = "file"},           {.key = "first_line"},    {.key = "last_line"},
    };
    struct table *loops = TABLE(arena, columns);
    for (size_t k = 0; k < isa->loop_count; k++) {
        const struct isa_loop *loop = &isa->loops[k];
        const struct isa_lines lines = isa_loop_lines(isa, k);
        table_add(loops, (struct cell[]){inspect_address(loop->header_address, arena),
                                         inspect_address(loop->first_address, arena),
                                         inspect_address(loop->last_address, arena), inspect_loop(loop->parent),
                                         cell_number(loop->depth), cell_bool(loop->is_innermost),
                                         mix_cell(&loop->own, isa->code.wave, arena),
                                         mix_cell(&loop->inclusive, isa->code.wave, arena), cell_text(lines.file),
                                         lines.file ? cell_number(lines.first) : cell_unknown(NULL),
                                         lines.file ? cell_number(lines.last) : cell_unknown(NULL)});
    }
    return cell_table(loops);
}

static struct cell hot_cell(const struct isa_kernel *isa, const char *target, struct arena *arena)
{
    struct isa_hot hot;
    if (!isa_hot_find(&hot, isa, arena))
        return cell_unknown(NULL);
    struct table *record = table_record(arena);
    table_member(record, "loop", NULL, inspect_loop(hot.loop));
    table_member(record, "instruction", NULL, cell_text(hot.instruction));
    table_member(record, "share", NULL, cell_number(hot.share));
    table_member(record, "work", NULL, cell_number((double)hot.work));
    table_member(record, "turns", NULL, cell_number(hot.turns));
    table_member(record, "schedule", NULL, inspect_schedule_cell(isa, hot.loop, target, arena));
    return cell_table(record);
}

static size_t count_words(struct word_count counts[MOST_WORDS], const struct isa_kernel *isa)
{
    size_t known = 0;
    memset(counts, 0, MOST_WORDS * sizeof(*counts));
    for (unsigned k = 0; k < isa->unknown; k++) {
        size_t at = 0;
        while (at < known && strcmp(counts[at].word->text, isa->unknown_words[k].text) != 0)
            at++;
        if (at == MOST_WORDS) /* too many different ones */
            continue;
        known += at == known;
        if (counts[at].count++ == 0)
            counts[at].word = &isa->unknown_words[k];
    }
    return known;
}

static struct table *unknown_words(const struct isa_kernel *isa, struct arena *arena)
{
    static const struct table_column columns[] = {{.key = "word"}, {.key = "count"}, {.key = "first_address"}};
    struct word_count counts[MOST_WORDS];
    const size_t known = count_words(counts, isa);
    struct table *table = TABLE(arena, columns);
    for (size_t k = 0; k < known; k++)
        table_add(table, (struct cell[]){cell_text(counts[k].word->text), cell_number((double)counts[k].count),
                                         inspect_address(counts[k].word->address, arena)});
    return table;
}

struct cell inspect_code_cell(const struct isa_kernel *isa, const char *target, struct arena *arena)
{
    if (!isa)
        return cell_unknown(NULL);
    static const struct table_column columns[] = {
        {.key = "name"}, {.key = "demangled"}, {.key = "address"}, {.key = "instructions"}};
    struct table *record = table_record(arena), *functions = TABLE(arena, columns), *listed = table_list(arena);
    FOR_EACH(const struct isa_function, function, isa->functions, isa->function_count)
        table_add(functions,
                  (struct cell[]){cell_known(function->name), cell_known(function->demangled),
                                  inspect_address(function->address, arena), cell_number((double)function->count)});
    struct isa_policy policies[ISA_POLICIES];
    const size_t count = isa_policies_find(policies, isa, true);
    FOR_EACH(const struct isa_policy, policy, policies, count) {
        struct table *one = RECORD_OF(arena, traffic_columns, &policy->traffic);
        table_member(one, "policy", NULL, cell_text(policy->name));
        table_add(listed, (struct cell[]){cell_table(one)});
    }
    table_member(record, "calls", NULL, cell_number(isa->calls));
    table_member(record, "not_followed", NULL, cell_number(isa->not_followed));
    table_member(record, "functions", NULL, cell_table(functions));
    table_member(record, "unknown_words", NULL, cell_number(isa->unknown));
    table_member(record, "unknown", NULL, cell_table(unknown_words(isa, arena)));
    table_member(record, "policies", NULL, cell_table(listed));
    table_member(record, "mix", NULL, mix_cell(&isa->mix, isa->code.wave, arena));
    table_member(record, "loops", NULL, loops_cell(isa, arena));
    table_member(record, "hot_loop", NULL, hot_cell(isa, target, arena));
    table_member(record, "live_registers", NULL, inspect_live_cell(isa, target, arena));
    return cell_table(record);
}

/* ---- for people: a column for the kernel and for each loop ---- */

struct code_table {
    struct table *table;
    struct arena *arena;
    const struct isa_mix *mixes[1 + MOST_LOOPS];
    size_t loops[1 + MOST_LOOPS];
    size_t count;
    const char *heading; /* written above the next row */
};

/* Adds a row with one number per column, unless all are zero. */
static void add_row(struct code_table *code, const char *label, const char *unit, const struct cell *values)
{
    struct cell cells[2 + MOST_LOOPS] = {cell_text(arena_printf(code->arena, "  %s", label))};
    bool any = false;
    for (size_t k = 0; k < code->count; k++) {
        any |= values[k].kind == CELL_NUMBER && values[k].value != 0;
        cells[1 + k] = values[k];
        cells[1 + k].unit = unit;
    }
    if (!any)
        return;
    table_add(code->table, cells)->heading = code->heading;
    code->heading = NULL;
}

/* `offset`: that of a uint64_t in struct isa_mix. */
static void add_counter(struct code_table *code, const char *label, size_t offset)
{
    const struct table_column counter = {.field = FIELD_SIZE, .offset = offset};
    struct cell values[1 + MOST_LOOPS];
    for (size_t k = 0; k < code->count; k++)
        values[k] = column_cell(&counter, code->mixes[k]);
    add_row(code, label, UNIT_COUNT, values);
}

static void add_accesses(struct code_table *code)
{
    static const struct {
        const char *label;
        size_t counters; /* by width; offset in struct isa_mix */
    } accesses[] = {
        {"global loads", offsetof(struct isa_mix, traffic[ISA_GLOBAL].loads_by_width)},
        {"global stores", offsetof(struct isa_mix, traffic[ISA_GLOBAL].stores_by_width)},
        {"LDS loads", offsetof(struct isa_mix, traffic[ISA_LDS].loads_by_width)},
        {"LDS stores", offsetof(struct isa_mix, traffic[ISA_LDS].stores_by_width)},
        {"scratch loads", offsetof(struct isa_mix, traffic[ISA_SCRATCH].loads_by_width)},
        {"scratch stores", offsetof(struct isa_mix, traffic[ISA_SCRATCH].stores_by_width)},
    };
    code->heading = "  accesses";
    for (size_t k = 0; k < COUNT_OF(accesses); k++)
        for (size_t width = ISA_WIDTHS; width-- > 0;)
            add_counter(code, arena_printf(code->arena, "%s, %u B per lane", accesses[k].label, isa_width_bytes[width]),
                        accesses[k].counters + width * sizeof(uint64_t));
}

/* Lists the code outside the kernel that it reaches, and gaps in the disassembly. */
static void add_rest(struct text *lines, const struct isa_kernel *isa, struct arena *arena)
{
    struct word_count counts[MOST_WORDS];
    const size_t known = count_words(counts, isa);
    for (size_t k = 0; k < isa->function_count && k < SHOWN_FUNCTIONS; k++)
        text_addf(lines, "%s%s, %zu instructions", k ? "; " : "  with what it calls: ",
                  text_cut(arena, isa->functions[k].demangled, FUNCTION_LONGEST, ".."), isa->functions[k].count);
    if (isa->function_count > SHOWN_FUNCTIONS)
        text_addf(lines, "; and %zu more", isa->function_count - SHOWN_FUNCTIONS);
    if (isa->function_count)
        text_add(lines, "\n");
    if (isa->not_followed)
        text_addf(lines, "  %u call%s or jump%s through registers not followed: what they reach is not counted\n",
                  isa->not_followed, text_s(isa->not_followed), text_s(isa->not_followed));
    if (!isa->unknown)
        return;
    text_addf(lines, "  %u word%s that the disassembler does not know:", isa->unknown, text_s(isa->unknown));
    for (size_t k = 0; k < known && k < SHOWN_WORDS; k++)
        text_addf(lines, "%s %llu of %s from %#llx", k ? "," : "", (unsigned long long)counts[k].count,
                  counts[k].word->text, (unsigned long long)counts[k].word->address);
    text_add(lines, known > SHOWN_WORDS ? ", ...\n" : "\n");
}

static void add_loops(struct document *document, const struct code_table *code, const struct isa_kernel *isa,
                      const char *target)
{
    struct text lines = {0};
    struct isa_hot hot;
    for (size_t k = 1; k < code->count; k++) {
        const struct isa_loop *loop = &isa->loops[code->loops[k]];
        text_addf(&lines, "  loop %zu: %#llx to %#llx", code->loops[k] + 1, (unsigned long long)loop->first_address,
                  (unsigned long long)loop->last_address);
        if (loop->parent != ISA_NO_LOOP)
            text_addf(&lines, ", inside loop %zu", loop->parent + 1);
        const struct isa_lines source = isa_loop_lines(isa, code->loops[k]);
        if (source.file) /* ", gemm.hip:88 to 120" */
            text_addf(&lines, ", %s:%u", path_base(source.file), source.first);
        if (source.file && source.last > source.first)
            text_addf(&lines, " to %u", source.last);
        text_add(&lines, "\n");
    }
    if (isa->loop_count + 1 > code->count)
        text_addf(&lines, "  and %zu more loops: --json has them all\n", isa->loop_count + 1 - code->count);
    const bool is_hot = isa_hot_find(&hot, isa, code->arena);
    if (is_hot)
        text_addf(&lines, "  hot loop (%s): loop %zu, %s of its %llu vector, matrix, LDS and memory operations %s\n",
                  isnan(hot.turns) ? "a guess"
                                   : arena_printf(code->arena, "%.4g turns of a wave in this launch", hot.turns),
                  hot.loop + 1, percent_words(hot.share, code->arena), (unsigned long long)hot.work, hot.instruction);
    inspect_schedule(&lines, isa, is_hot ? &hot : NULL, target, code->arena);
    SCOPED(text_release) struct text policies = {0};
    if (isa_policies_say(&policies, isa, NULL, ""))
        text_addf(&lines, "  cache policy: %s; the rest has the default\n", policies.data);
    add_rest(&lines, isa, code->arena);
    document_verbatim(document, 0, NULL, text_take(&lines, code->arena))->wraps = true;
}

void inspect_code(struct document *document, const struct isa_kernel *isa, const char *target, struct arena *arena)
{
    struct code_table code = {.arena = arena, .mixes = {&isa->mix}, .count = 1};
    /* With many loops shows the innermost ones only: they take the time. */
    for (size_t k = 0; k < isa->loop_count && code.count <= MOST_LOOPS; k++) {
        if (isa->loop_count > MOST_LOOPS && !isa->loops[k].is_innermost)
            continue;
        code.loops[code.count] = k;
        code.mixes[code.count++] = &isa->loops[k].inclusive;
    }
    struct table_column *columns = arena_array(arena, 2 + MOST_LOOPS, sizeof(*columns));
    columns[0].title = "instructions";
    for (size_t k = 0; k < code.count; k++)
        columns[1 + k] = (struct table_column){
            .title = k ? arena_printf(arena, "loop %zu", code.loops[k] + 1) : "kernel", .unit = UNIT_COUNT};
    code.table = table_new(arena, columns, 1 + code.count);
    code.table->indent = 2;
    for (size_t kind = 0; kind < ISA_KINDS; kind++)
        add_counter(&code, isa_kinds[kind].label, offsetof(struct isa_mix, count) + kind * sizeof(uint64_t));
    add_counter(&code, "all", offsetof(struct isa_mix, instructions));
    add_counter(&code, "bytes of code", offsetof(struct isa_mix, code_bytes));
    add_accesses(&code);
    struct cell intensities[1 + MOST_LOOPS];
    code.heading = "  work of one pass, each instruction once";
    for (size_t k = 0; k < COUNT_OF(mix_columns); k++)
        if (mix_columns[k].title)
            add_counter(&code, mix_columns[k].title, mix_columns[k].offset);
    for (size_t k = 0; k < code.count; k++)
        intensities[k] = cell_number(isa_intensity(code.mixes[k], isa->code.wave));
    add_row(&code, "FLOPs per global byte", UNIT_INTENSITY, intensities);
    document_table(document, NULL, NULL, code.table);
    add_loops(document, &code, isa, target);
}
