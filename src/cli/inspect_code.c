/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "inspect_view.h"
#include "layout.h"

#define MOST_LOOPS 6u /* columns beside the whole kernel's */
#define LABEL_COLUMNS 34u
#define NUMBER_COLUMNS 9u

/* The columns: the whole kernel, then loops. */
struct columns {
    const struct isa_kernel *kernel;
    const struct isa_mix *mixes[1 + MOST_LOOPS];
    size_t loops[1 + MOST_LOOPS];
    size_t count;
    bool color;
};

static void start_row(struct text *out, const char *label)
{
    text_addf(out, "  %-*s", (int)LABEL_COLUMNS, label);
}

static void add_number(struct text *out, double value)
{
    if (!isfinite(value))
        text_addf(out, "%*s", (int)NUMBER_COLUMNS, "-");
    else if (value != floor(value))
        text_addf(out, "%*.3g", (int)NUMBER_COLUMNS, value);
    else
        text_addf(out, "%*.0f", (int)NUMBER_COLUMNS, value);
}

/* A row of one number each; left out when all are zero. */
typedef double number_of(const struct isa_mix *mix, const void *context);
static void add_row(struct text *out, const struct columns *columns, const char *label, number_of *number,
                    const void *context)
{
    bool any = false;
    for (size_t k = 0; k < columns->count; k++) {
        const double value = number(columns->mixes[k], context);
        any = any || (value != 0 && !isnan(value));
    }
    if (!any)
        return;
    start_row(out, label);
    for (size_t k = 0; k < columns->count; k++)
        add_number(out, number(columns->mixes[k], context));
    text_add(out, "\n");
}

static double kind_count(const struct isa_mix *mix, const void *context)
{
    return (double)mix->count[*(const enum isa_kind *)context];
}

/* A field of struct isa_mix, by its offset. */
static double field(const struct isa_mix *mix, const void *context)
{
    uint64_t value = 0;
    memcpy(&value, (const char *)mix + *(const size_t *)context, sizeof(value));
    return (double)value;
}

static double intensity(const struct isa_mix *mix, const void *context)
{
    return isa_intensity(mix, *(const unsigned *)context);
}

/* ---- accesses by width ---- */

struct width_query {
    enum isa_space space;
    enum isa_width width;
    bool stores;
};

static double width_count(const struct isa_mix *mix, const void *context)
{
    const struct width_query *query = context;
    const struct isa_traffic *traffic = &mix->traffic[query->space];
    return (double)(query->stores ? traffic->stores_by_width : traffic->loads_by_width)[query->width];
}

static void widths_part(struct text *out, const struct columns *columns, enum isa_space space, bool stores)
{
    for (int width = ISA_WIDTHS; width-- > 0;) {
        const struct width_query query = {space, (enum isa_width)width, stores};
        char label[64];
        snprintf(label, sizeof(label), "  %s %s, %u B per %s", space == ISA_LDS ? "LDS" : isa_space_name(space),
                 stores ? "stores" : "loads", isa_width_bytes((enum isa_width)width),
                 space == ISA_CONSTANT ? "wave" : "lane");
        add_row(out, columns, label, width_count, &query);
    }
}

/* ---- parts ---- */

static void choose_columns(struct columns *columns)
{
    const struct isa_kernel *kernel = columns->kernel;
    columns->mixes[columns->count++] = &kernel->mix;
    /* With many loops only the innermost ones: that is where time goes. */
    for (size_t k = 0; k < kernel->loop_count && columns->count <= MOST_LOOPS; k++) {
        if (kernel->loop_count > MOST_LOOPS && !kernel->loops[k].is_innermost)
            continue;
        columns->loops[columns->count] = k;
        columns->mixes[columns->count++] = &kernel->loops[k].inclusive;
    }
}

static void title_part(struct text *out, const struct columns *columns)
{
    struct text line = {0};
    text_addf(&line, "  %-*s%*s", (int)LABEL_COLUMNS, "instructions", (int)NUMBER_COLUMNS, "kernel");
    for (size_t k = 1; k < columns->count; k++) {
        char name[32];
        snprintf(name, sizeof(name), "loop %zu", columns->loops[k] + 1);
        text_addf(&line, "%*s", (int)NUMBER_COLUMNS, name);
    }
    layout_heading(out, line.data, columns->color);
    text_release(&line);
}

static void work_part(struct text *out, const struct columns *columns)
{
    static const struct {
        const char *label;
        size_t offset;
    } rows[] = {
        {"  FLOPs per lane, vector", offsetof(struct isa_mix, flops)},
        {"  integer operations per lane", offsetof(struct isa_mix, ops)},
        {"  FLOPs per wave, matrix", offsetof(struct isa_mix, matrix_flops)},
        {"  integer op. per wave, matrix", offsetof(struct isa_mix, matrix_ops)},
        {"  matrix unit busy, clocks", offsetof(struct isa_mix, matrix_cycles)},
        {"  matrix instr. of unknown time", offsetof(struct isa_mix, matrix_unknown)},
        {"  global bytes loaded per lane", offsetof(struct isa_mix, traffic[ISA_GLOBAL].load_bytes)},
        {"  global bytes stored per lane", offsetof(struct isa_mix, traffic[ISA_GLOBAL].store_bytes)},
        {"  LDS bytes read per lane", offsetof(struct isa_mix, traffic[ISA_LDS].load_bytes)},
        {"  LDS bytes written per lane", offsetof(struct isa_mix, traffic[ISA_LDS].store_bytes)},
        {"  scratch bytes loaded per lane", offsetof(struct isa_mix, traffic[ISA_SCRATCH].load_bytes)},
        {"  scratch bytes stored per lane", offsetof(struct isa_mix, traffic[ISA_SCRATCH].store_bytes)},
    };
    for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++)
        add_row(out, columns, rows[k].label, field, &rows[k].offset);
    add_row(out, columns, "  FLOPs per global byte", intensity, &columns->kernel->symbol.wave);
}

static void accesses_part(struct text *out, const struct columns *columns)
{
    static const enum isa_space spaces[] = {ISA_GLOBAL, ISA_LDS, ISA_SCRATCH};
    for (size_t k = 0; k < sizeof(spaces) / sizeof(*spaces); k++) {
        widths_part(out, columns, spaces[k], false);
        widths_part(out, columns, spaces[k], true);
    }
}

static void kinds_part(struct text *out, const struct columns *columns)
{
    const size_t all = offsetof(struct isa_mix, instructions), bytes = offsetof(struct isa_mix, code_bytes);
    for (int kind = 0; kind < ISA_KINDS; kind++) {
        char label[64];
        const enum isa_kind id = (enum isa_kind)kind;
        snprintf(label, sizeof(label), "  %s", isa_kind_label(id));
        add_row(out, columns, label, kind_count, &id);
    }
    add_row(out, columns, "  all", field, &all);
    add_row(out, columns, "  bytes of code", field, &bytes);
}

static void hot_part(struct text *out, const struct isa_kernel *kernel)
{
    struct arena scratch = {0};
    struct isa_hot hot;
    if (isa_hot_find(&hot, kernel, &scratch))
        text_addf(out,
                  "  hot loop (a guess): loop %zu, %.0f %% of its %llu vector, matrix, LDS and memory operations %s\n",
                  hot.loop + 1, hot.share * 100, (unsigned long long)hot.work, hot.instruction);
    arena_release(&scratch);
}

static void loops_part(struct text *out, const struct columns *columns)
{
    const struct isa_kernel *kernel = columns->kernel;
    for (size_t k = 1; k < columns->count; k++) {
        const struct isa_loop *loop = &kernel->loops[columns->loops[k]];
        text_addf(out, "  loop %zu: %#llx to %#llx", columns->loops[k] + 1, (unsigned long long)loop->first_address,
                  (unsigned long long)loop->last_address);
        if (loop->parent != ISA_NO_LOOP)
            text_addf(out, ", inside loop %zu", loop->parent + 1);
        text_add(out, "\n");
    }
    if (kernel->loop_count + 1 > columns->count)
        text_addf(out, "  and %zu more loops: --json has them all\n", kernel->loop_count + 1 - columns->count);
    hot_part(out, kernel);
    if (kernel->calls)
        text_addf(out, "  %u calls of functions whose instructions are not counted\n", kernel->calls);
    if (kernel->unknown)
        text_addf(out, "  %u words that the disassembler does not know\n", kernel->unknown);
}

void inspect_code(struct text *out, const struct isa_kernel *kernel, bool color)
{
    struct columns columns = {.kernel = kernel, .color = color};
    choose_columns(&columns);
    title_part(out, &columns);
    kinds_part(out, &columns);
    layout_heading(out, "  accesses", color);
    accesses_part(out, &columns);
    layout_heading(out, "  work of one pass, each instruction once", color);
    work_part(out, &columns);
    loops_part(out, &columns);
}
