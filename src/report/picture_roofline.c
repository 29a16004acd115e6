/* SPDX-License-Identifier: MIT
 *
 * The roofline: measured ceilings as solid lines, vendor peaks as dashed lines, cases as marks. Log-log, so that all
 * bandwidths have the same slope.
 */
#include <math.h>
#include <string.h>

#include "picture.h"
#include "report_internal.h"

/* Kernels beyond this intensity are far from every memory level, and would squeeze the others together. */
static const double MOST_INTENSITY = 1000;
enum { MOST_NAMED = 14 };

static struct kernel_sum *kernel_of(struct roofline *r, const struct result_case *c)
{
    return kernel_sum_of(&r->kernels, r->by_unit ? c->work.unit : c->kernel);
}

static bool is_used(const struct roofline *r, const struct machine_unit *unit)
{
    return COUNT_WHERE(c, r->cases, r->count, !strcmp((*c)->work.unit, unit->name)) > 0;
}

double roofline_peak(const struct roofline *r, const struct machine_unit *unit)
{
    return is_used(r, unit) ? ceiling_value(&unit->peak) : 0;
}

static bool is_point(const struct result_case *c)
{
    return is_mark(c) && c->work.flops > 0 && isfinite(c->lower_bound.intensity) && c->lower_bound.intensity > 0 &&
           isfinite(c->flops_per_s) && c->flops_per_s > 0;
}

void roofline_collect(struct roofline *r, const struct result *result, bool by_unit, struct arena *arena)
{
    *r = (struct roofline){.result = result, .by_unit = by_unit};
    r->cases = arena_array(arena, result->case_count + 1, sizeof(*r->cases));
    r->kernels = kernel_sums_new(arena, result->case_count);
    FOR_EACH(const struct result_case, c, result->cases, result->case_count)
        if (is_point(c)) {
            r->by_unit &= !r->count || !strcmp(r->cases[0]->kernel, c->kernel);
            r->cases[r->count++] = c;
        }
    for (size_t k = 0; k < r->count; k++) {
        const struct result_case *c = r->cases[k];
        struct kernel_sum *kernel = kernel_of(r, c);
        kernel->cases++;
        kernel->time_ns += weight_of(c) * result_case_time(c);
        if (!kernel->best || c->flops_per_s > kernel->best->flops_per_s)
            kernel->best = c;
        if (!kernel->longest || result_case_time(c) > result_case_time(kernel->longest))
            kernel->longest = c;
    }
}

struct table *roofline_table(const struct roofline *r, size_t most, bool letters, struct arena *arena)
{
    static const struct table_column columns[] = {{.title = ""},
                                                  {.title = ""},
                                                  {.title = "cases", .unit = UNIT_COUNT},
                                                  {.title = "best", .unit = UNIT_FLOP_RATE},
                                                  {.title = "FLOP/B", .unit = UNIT_INTENSITY},
                                                  {.title = "% of roof", .unit = UNIT_PERCENT, .flags = COLUMN_BAR},
                                                  {.title = "ceiling"}};
    struct table_column *shown = arena_copy(arena, columns, sizeof(columns));
    shown[letters ? 2 : 0].title = NULL;
    struct table *table = table_new(arena, shown, COUNT_OF(columns));
    for (size_t k = 0; k < r->kernels.count && k < most; k++) {
        const struct kernel_sum *kernel = &r->kernels.items[k];
        const struct result_case *c = kernel->best;
        const char *ceiling = c->lower_bound.ceiling_name;
        table_add(table, (struct cell[]){cell_text(letters ? arena_printf(arena, "%c", (char)('A' + k)) : ""),
                                         cell_text(kernel->name), cell_number((double)kernel->cases),
                                         cell_quantity(c->flops_per_s, machine_unit_rate(c->work.unit)),
                                         cell_number(c->lower_bound.intensity), cell_positive(c->fraction),
                                         letters ? cell_text(c->fraction > 0 ? ceiling : "") : cell_known(ceiling)});
    }
    return table;
}

/* ---- the clock held ---- */

/* The median clock of the cases that use the unit, as a share of the clock of its vendor peak. */
static double held_of(const struct roofline *r, const struct machine_unit *unit, struct arena *arena)
{
    const double clock = unit->clock_hz > 0 ? unit->clock_hz : r->result->machine.core_hz;
    double *held = arena_array(arena, r->count + 1, sizeof(*held));
    size_t count = 0;
    for (size_t k = 0; k < r->count; k++)
        if (!strcmp(r->cases[k]->work.unit, unit->name) && r->cases[k]->core_hz > 0)
            held[count++] = r->cases[k]->core_hz;
    return clock > 0 ? median_of(held, count) / clock : NAN;
}

static double highest_peak(const struct roofline *r)
{
    double highest = 0;
    FOR_EACH(const struct machine_unit, unit, r->result->machine.units, r->result->machine.unit_count)
        highest = is_used(r, unit) ? fmax(highest, fmax(ceiling_value(&unit->peak), unit->peak.vendor)) : highest;
    return highest;
}

/* ---- ceilings ---- */

static void add_ceiling(struct chart *chart, bool measured, const char *said, const double xy[static 4],
                        const char *name)
{
    chart_line(chart, measured ? CHART_LINE : CHART_DASHED, said, xy);
    for (size_t k = 0; k < 2; k++)
        chart->series[chart->count - 1].points[k].ceiling = name;
}

/* Each line goes from below the axes up to the highest peak. */
static void add_levels(struct chart *chart, const struct roofline *r)
{
    const struct machine *machine = &r->result->machine;
    const double peak = highest_peak(r), highest = peak > 0 ? peak : chart->y.high;
    for (uint32_t k = 0; k < machine->level_count; k++) {
        const struct ceiling *ceiling = &machine->levels[k].bandwidth;
        const double value = ceiling_value(ceiling), from = fmax(chart->x.low, chart->y.low / value);
        if (!(value > 0 && highest / value > from))
            continue;
        const char *name = arena_printf(chart->arena, "%s %s", machine->levels[k].name,
                                        quantity_words(value, UNIT_BYTE_RATE, chart->arena));
        add_ceiling(chart, ceiling->measured > 0, name, (double[]){from, from * value, highest / value, highest},
                    machine->levels[k].name);
        /* The intensity at which it meets the peaks: below it the bandwidth limits, above it the arithmetic. */
        chart->series[chart->count - 1].look = k < CHART_SERIES - 1 ? k : CHART_SERIES - 2; /* a colour of its own */
        const char *said = name;
        FOR_EACH(const struct machine_unit, unit, machine->units, machine->unit_count)
            if (roofline_peak(r, unit) > 0)
                said = arena_printf(chart->arena, "%s\nmeets %s at %s FLOP/B", said, unit->name,
                                    quantity_words(roofline_peak(r, unit) / value, UNIT_INTENSITY, chart->arena));
        chart->series[chart->count - 1].points[0].said = said;
    }
}

enum peak { PEAK_MEASURED, PEAK_VENDOR, PEAK_HELD, PEAK_COUNT };

/* 0: none. The vendor peak is drawn again at the held clock if that is lower by more than the width of a line. */
static double peak_of(const struct roofline *r, uint32_t unit, enum peak kind)
{
    const struct ceiling *peak = &r->result->machine.units[unit].peak;
    return !is_used(r, &r->result->machine.units[unit]) ? 0
           : kind == PEAK_MEASURED                      ? peak->measured
           : kind == PEAK_VENDOR                        ? peak->vendor
           : r->held[unit] < 0.98                       ? peak->vendor * r->held[unit]
                                                        : 0;
}

/* Each line begins at the fastest level. Units with equal rates share a line and its name. */
static void add_units(struct chart *chart, const struct roofline *r, enum peak kind)
{
    static const char *const of[] = {
        [PEAK_MEASURED] = "", [PEAK_VENDOR] = ", vendor", [PEAK_HELD] = ", at the clock held"};
    const struct machine *machine = &r->result->machine;
    double fastest = 0;
    FOR_EACH(const struct machine_level, level, machine->levels, machine->level_count)
        fastest = fmax(fastest, ceiling_value(&level->bandwidth));
    for (uint32_t k = 0; k < machine->unit_count; k++) {
        const double peak = peak_of(r, k, kind);
        const char *names = machine->units[k].name;
        bool drawn = peak <= 0;
        for (uint32_t j = 0; j < machine->unit_count && !drawn; j++) {
            if (j == k || !(fabs(peak_of(r, j, kind) / peak - 1) <= 0.01))
                continue;
            drawn |= j < k;
            names = arena_printf(chart->arena, "%s, %s", names, machine->units[j].name);
        }
        if (drawn)
            continue;
        const char *unit = machine_unit_rate(machine->units[k].name);
        const double from = fastest > 0 ? fmax(chart->x.low, fmin(peak / fastest, chart->x.high)) : chart->x.low;
        const char *said = arena_printf(chart->arena, "%s %s%s", names, quantity_words(peak, unit, chart->arena),
                                        machine->measured || kind == PEAK_HELD ? of[kind] : "");
        add_ceiling(chart, kind == PEAK_MEASURED, said, (double[]){from, peak, chart->x.high, peak}, names);
    }
}

/* ---- cases ---- */

/* What has more FLOP/B than `most` is drawn at the edge, its name with an arrow. */
static void add_series(struct chart *chart, struct roofline *r, double most)
{
    for (size_t k = 0; k < r->kernels.count && k < CHART_SERIES; k++) {
        const bool others = k + 1 == CHART_SERIES && r->kernels.count > CHART_SERIES;
        const char *share = figure_words("% of roof", r->kernels.items[k].best, chart->arena);
        chart_add(chart, CHART_MARKS,
                  others               ? arena_printf(chart->arena, "%zu others", r->kernels.count - CHART_SERIES + 1)
                  : strcmp(share, "-") ? arena_printf(chart->arena, "%.40s, best %s", r->kernels.items[k].name, share)
                                       : arena_printf(chart->arena, "%.40s", r->kernels.items[k].name),
                  k);
    }
    for (size_t k = 0; k < r->count; k++) {
        const struct result_case *c = r->cases[k];
        const struct kernel_sum *kernel = kernel_of(r, c);
        const size_t at = (size_t)(kernel - r->kernels.items);
        const double intensity = c->lower_bound.intensity;
        struct chart_point *point = chart_case(chart, &chart->series[at < CHART_SERIES ? at : CHART_SERIES - 1],
                                               fmin(intensity, most), c->flops_per_s, c);
        point->ceiling = c->lower_bound.ceiling_name;
        if (c == kernel->longest && at < MOST_NAMED)
            point->words = arena_printf(chart->arena, intensity > most ? "%.24s \u2192" : "%.24s", kernel->name);
    }
}

/* ---- the section ---- */

void picture_roofline(struct document *document, const struct result *result, const char *suffix)
{
    struct arena *arena = document->arena;
    struct roofline *r = arena_alloc(arena, sizeof(*r));
    roofline_collect(r, result, true, arena);
    if (!r->count || !result->machine.level_count)
        return;
    for (uint32_t k = 0; k < result->machine.unit_count; k++)
        r->held[k] = held_of(r, &result->machine.units[k], arena);
    kernel_sums_sort(&r->kernels);
    struct chart *chart = chart_new(arena, arena_printf(arena, "roofline%s", suffix), "Roofline", "");
    bool held = false;
    for (uint32_t k = 0; k < result->machine.unit_count; k++)
        held |= peak_of(r, k, PEAK_HELD) > 0;
    chart->desc = arena_printf(
        arena,
        "Arithmetic rate over arithmetic intensity of %zu case%s with arithmetic. %s; dashed lines are "
        "vendor peaks%s. %s are in the order of the time they take; the case that takes longest has its name, with "
        "an arrow if its intensity is beyond the edge.",
        r->count, text_s(r->count),
        result->machine.measured ? "Solid lines are ceilings measured on this device"
                                 : "No ceiling of this device was measured",
        held ? ", and what they come to at the clock that cases held" : "",
        r->by_unit ? "Arithmetic units" : "Kernels");
    const double memory = ceiling_value(&result->machine.levels[result->machine.level_count - 1].bandwidth);
    const double most = fmax(MOST_INTENSITY, memory > 0 ? 2 * highest_peak(r) / memory : 0);
    add_series(chart, r, most);
    chart->x = (struct chart_axis){.title = "arithmetic intensity in FLOP/B", .unit = UNIT_INTENSITY};
    chart->y = (struct chart_axis){.title = "arithmetic rate", .unit = UNIT_FLOP_RATE};
    chart_fit(chart, false, 10);
    chart_fit(chart, true, 10);
    /* The chart includes the peaks and the ridge point of the slowest level. */
    chart->y.high = fmax(chart->y.high, 2 * highest_peak(r));
    if (memory > 0)
        chart->x.high = fmin(fmax(chart->x.high, 2 * chart->y.high / memory), 1.1 * most);
    add_levels(chart, r);
    for (enum peak kind = 0; kind < PEAK_COUNT; kind++)
        add_units(chart, r, kind);
    document_chart(document, chart, roofline_table(r, SIZE_MAX, false, arena));
}
