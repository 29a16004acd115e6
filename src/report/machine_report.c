/* SPDX-License-Identifier: MIT
 *
 * A machine as `rooftile roofline` shows it: the values found, their source and their confidence.
 */

#include "report_internal.h"
#include "rooftile/forecast.h"
#include "rooftile/targets.h"

/* Below this confidence a capacity boundary between two levels is reported as uncertain. */
static const double confident = 0.99;

/* "96.0 .. 128 KiB"; one number if both ends are equal. */
static struct cell extent(double low, double high)
{
    return low <= 0 || low >= high ? cell_positive(high) : cell_range(low, high);
}

static const char *extent_words(double low, double high, struct arena *arena)
{
    const struct cell cell = extent(low, high);
    return cell_words(&cell, &(struct table_column){.unit = UNIT_BYTES}, arena);
}

/* The kernel of a case id; for a sentence that gives the source of a number, the text before its web address. */
static struct cell kernel_of(const char *id, struct arena *arena)
{
    const char *address = strstr(id, " (http");
    const size_t word = strcspn(id, " /");
    return cell_text(arena_strndup(arena, id, id[word] == '/' ? word : address ? (size_t)(address - id) : strlen(id)));
}

static struct cell spread(double ci_rel)
{
    return ci_rel > 0 ? cell_number(ci_rel) : cell_absent();
}

/* ---- tables ---- */

const char *level_title(const char *name, struct arena *arena)
{
    return !strcmp(name, "MALL") ? arena_printf(arena, "%s (Infinity Cache)", name) : name;
}

static struct table *levels(const struct machine *machine, struct arena *arena)
{
    enum { NAME, CAPACITY, CONFIDENCE, BANDWIDTH };
    bool by_traffic = false; /* older files have one bandwidth for all kinds of traffic */
    for (uint32_t k = 0; k < machine->level_count; k++)
        for (enum machine_traffic kind = 0; kind < TRAFFIC_COUNT; kind++)
            by_traffic |= ceiling_value(&machine->levels[k].traffic[kind]) > 0;
    const size_t rates = by_traffic ? TRAFFIC_COUNT : 1, latency = BANDWIDTH + rates;
    struct table_column *columns = arena_array(arena, latency + 1, sizeof(*columns));
    columns[NAME] = (struct table_column){.title = "memory"};
    columns[CAPACITY] = (struct table_column){.title = "capacity", .unit = UNIT_BYTES};
    columns[CONFIDENCE] = (struct table_column){.title = "confidence", .unit = UNIT_PERCENT, .drop = 1};
    columns[latency] = (struct table_column){.title = "latency", .unit = UNIT_TIME};
    for (enum machine_traffic kind = 0; kind < rates; kind++)
        columns[BANDWIDTH + kind] = (struct table_column){
            .title = by_traffic ? machine_traffic_names[kind] : "bandwidth", .unit = UNIT_BYTE_RATE};
    struct table *table = table_new(arena, columns, latency + 1);
    for (uint32_t k = 0; k < machine->level_count; k++) {
        const struct machine_level *level = &machine->levels[k];
        struct cell *cells = table_add(table, NULL)->cells;
        cells[NAME] = cell_text(level_title(level->name, arena));
        cells[CAPACITY] = k + 1 == machine->level_count ? cell_positive(machine->memory_bytes)
                                                        : extent(level->capacity_low_bytes, level->capacity_bytes);
        cells[CONFIDENCE] =
            cell_positive(machine->measured && level->capacity_bytes > 0 ? level->capacity_confidence : 0);
        cells[latency] = cell_positive(level->latency_ns);
        for (size_t kind = 0; kind < rates; kind++)
            cells[BANDWIDTH + kind] =
                cell_positive(ceiling_value(by_traffic ? &level->traffic[kind] : &level->bandwidth));
    }
    return table;
}

static struct table *latencies(const struct machine *machine, struct arena *arena)
{
    static const struct table_column columns[] = {{.title = "dependent loads up to", .unit = UNIT_BYTES},
                                                  {.title = "confidence", .unit = UNIT_PERCENT, .drop = 1},
                                                  {.title = "latency", .unit = UNIT_TIME},
                                                  {.title = "\u00b195 %", .unit = UNIT_PERCENT},
                                                  {.title = "level"}};
    struct table *table = TABLE(arena, columns);
    FOR_EACH(const struct machine_latency, latency, machine->latencies, machine->latency_count) {
        const bool last = latency->upto_bytes <= 0;
        const char *level = latency->instances > 1 && !last
                                ? arena_printf(arena, "%s, each of %u", latency->level, latency->instances)
                                : latency->level;
        table_add(table,
                  (struct cell[]){last ? cell_text("beyond") : extent(latency->upto_bytes, latency->beyond_bytes),
                                  cell_positive(latency->confidence), cell_number(latency->latency_ns),
                                  spread(latency->ci_rel), cell_known(level)});
    }
    return table;
}

#define OF_UNIT(member) .flags = COLUMN_OPTIONAL, FIELD(struct machine_unit, member)

static struct table *units(const struct machine *machine, struct arena *arena)
{
    enum { MEASURED = 1, SPREAD, VENDOR = 4, SHARE, BY };
    static const struct table_column columns[] = {
        {.title = "arithmetic", OF_UNIT(name)},
        [MEASURED] = {.title = "measured", .unit = UNIT_FLOP_RATE, .drop = 9, OF_UNIT(peak.measured)},
        [SPREAD] = {.title = "\u00b195 %", .unit = UNIT_PERCENT, .drop = 2},
        {.title = "clock", .unit = UNIT_HZ, .drop = 8, OF_UNIT(held_hz)},
        [VENDOR] = {.title = "theoretical", .unit = UNIT_FLOP_RATE, .drop = 9, OF_UNIT(peak.vendor)},
        [SHARE] = {.title = "% of peak", .unit = UNIT_PERCENT, .drop = 9},
        [BY] = {.title = "kernel", .drop = 1}};
    struct table *table = TABLE(arena, columns);
    FOR_EACH(const struct machine_unit, unit, machine->units, machine->unit_count) {
        struct cell *cells = table_add_object(table, unit)->cells;
        cells[MEASURED].unit = cells[VENDOR].unit = machine_unit_rate(unit->name);
        cells[SPREAD] = spread(unit->peak.ci_rel);
        cells[SHARE] =
            unit->peak.vendor > 0 ? cell_positive(unit->peak.measured / unit->peak.vendor) : cell_unknown(NULL);
        cells[BY] = kernel_of(unit->peak.measured_by, arena);
    }
    return table;
}

void machine_tables(struct document *document, const struct machine *machine)
{
    static const struct table_column columns[] = {{.title = "LDS, launches, timer"},
                                                  {.title = "measured", .unit = UNIT_NUMBER},
                                                  {.title = "\u00b195 %", .unit = UNIT_PERCENT},
                                                  {.title = "source", .drop = 1}};
    struct table *figures = TABLE(document->arena, columns);
    FOR_EACH(const struct machine_figure, figure, machine->figures, machine->figure_count)
        table_add(figures, (struct cell[]){cell_text(figure->name), cell_quantity(figure->value, figure->unit),
                                           spread(figure->ci_rel), kernel_of(figure->source, document->arena)});
    document_table(document, NULL, NULL, levels(machine, document->arena));
    document_table(document, NULL, NULL, latencies(machine, document->arena));
    document_table(document, NULL, NULL, units(machine, document->arena));
    document_table(document, NULL, NULL, figures);
}

/* ---- sentences ---- */

/* Reports levels on which bandwidth and latency disagree. */
static void add_disagreements(struct document *document, const struct machine *machine)
{
    for (uint32_t k = 0; machine->latency_count && k + 1 < machine->level_count; k++) {
        const struct machine_level *level = &machine->levels[k];
        if (!FIND_ROW(machine->latencies, machine->latency_count, level, level->name))
            document_text(
                document, 0, TONE_PLAIN,
                "%s ends at %s by bandwidth, but latency shows no capacity boundary there: measure again on a quiet "
                "machine before you rely on it",
                level->name, extent_words(level->capacity_low_bytes, level->capacity_bytes, document->arena));
    }
    FOR_EACH(const struct machine_latency, latency, machine->latencies, machine->latency_count)
        if (!latency->level[0])
            document_text(
                document, 0, TONE_PLAIN,
                "latency rises at %s, but bandwidth shows no capacity boundary there: the reach of the TLB, a cache "
                "shared with others, or one whose bandwidth is no better than the next level's",
                extent_words(latency->upto_bytes, latency->beyond_bytes, document->arena));
}

static void add_method(struct document *document, const struct machine *machine)
{
    const char *unsure = "", *unit = target_unit_word(machine->arch);
    document_text(
        document, 0, TONE_PLAIN,
        "capacity: the footprint at which bandwidth, all %ss together, steps down (change points); it lies in the "
        "range. "
        "dependent loads: the same for a pointer chase of one %s. confidence: that there is a capacity boundary. "
        "\u00b195 %%: half of the median's 95 %% interval. theoretical: the measured clock times the widest vector "
        "instructions",
        unit, unit);
    for (uint32_t k = 0; k + 1 < machine->level_count; k++)
        if (machine->levels[k].capacity_confidence > 0 && machine->levels[k].capacity_confidence < confident)
            unsure = arena_printf(document->arena, "%s%s %s (%s)", unsure, *unsure ? "," : "", machine->levels[k].name,
                                  percent_words(machine->levels[k].capacity_confidence, document->arena));
    if (*unsure)
        document_text(document, 0, TONE_PLAIN, "uncertain capacity boundaries:%s", unsure);
}

void document_doubted(struct document *document, const struct machine *machine)
{
    if (machine->disturbed[0])
        document_text(document, SHOW_PEOPLE, TONE_DOUBT,
                      "the ceilings were measured on a disturbed machine (%s): 'rooftile roofline' measures them again",
                      machine->disturbed);
}

void report_machine(struct text *out, const struct machine *machine, const struct report_options *options)
{
    SCOPED(arena_release) struct arena arena = {0};
    struct document document = {.arena = &arena};
    document_text(&document, 0, TONE_BOLD, "%s, %u %s%s%s%s\n\n",
                  device_title(machine->title[0] ? machine->title : machine->name, &arena), machine->cus,
                  target_unit_word(machine->arch), text_s(machine->cus), machine->core_hz > 0 ? ", " : "",
                  machine->core_hz > 0 ? quantity_words(machine->core_hz, UNIT_HZ, &arena) : "");
    machine_tables(&document, machine);
    if (machine->launch_ns > 0 && !machine->figure_count) /* only older files have it here */
        document_text(&document, 0, TONE_PLAIN, "an empty launch takes %s",
                      quantity_words(machine->launch_ns, UNIT_TIME, &arena));
    document_doubted(&document, machine);
    add_disagreements(&document, machine);
    if (machine->measured)
        add_method(&document, machine);
    const struct machine_level *memory = machine->level_count ? &machine->levels[machine->level_count - 1] : NULL;
    const struct machine_unit *fastest = NULL;
    FOR_EACH(const struct machine_unit, unit, machine->units, machine->unit_count)
        if (!strcmp(machine_unit_rate(unit->name), UNIT_FLOP_RATE) &&
            (!fastest || ceiling_value(&unit->peak) > ceiling_value(&fastest->peak)))
            fastest = unit;
    if (memory)
        document.verdict =
            arena_printf(&arena, "%s%s %s%s%s%s%s", machine->measured ? "measured: " : "by data sheets: ", memory->name,
                         quantity_words(ceiling_value(&memory->bandwidth), UNIT_BYTE_RATE, &arena), fastest ? ", " : "",
                         fastest ? fastest->name : "", fastest ? " " : "",
                         fastest ? quantity_words(ceiling_value(&fastest->peak), UNIT_FLOP_RATE, &arena) : "");
    render_text(out, &document, options);
}
