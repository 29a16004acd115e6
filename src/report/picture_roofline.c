/* SPDX-License-Identifier: MIT
 *
 * The roofline: measured ceilings as lines, vendor peaks dashed, cases as marks. Log-log, so that bandwidths are slopes
 * of one angle.
 */
#include <math.h>
#include <string.h>

#include "picture.h"
#include "report_internal.h"

struct roofline {
    const struct result *result;
    bool by_unit; /* marks are told apart by arithmetic unit: there is one kernel */
    const struct result_case **cases;
    size_t count;
    struct kernel_sums kernels;
    double held[MACHINE_MAX_UNITS]; /* the middle clock of cases of each unit, as a share of its vendor peak's; NaN */
};

/* ---- what is drawn ---- */

static struct kernel_sum *kernel_of(struct roofline *r, const struct result_case *c)
{
    return kernel_sum_of(&r->kernels, r->by_unit ? c->work.unit : c->kernel);
}

/* A matrix unit's peak says nothing about a vector kernel: only those that cases use. */
static bool is_used(const struct roofline *r, const struct machine_unit *unit)
{
    return COUNT_WHERE(c, r->cases, r->count, !strcmp((*c)->work.unit, unit->name)) > 0;
}

/* Of cases that use the unit. */
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

static bool collect(struct roofline *r, const struct result *result, struct arena *arena)
{
    const char *first = NULL;
    *r = (struct roofline){.result = result, .by_unit = true};
    for (size_t k = 0; k < result->case_count; k++)
        if (on_roofline(&result->cases[k])) {
            first = first ? first : result->cases[k].kernel;
            r->by_unit &= !strcmp(first, result->cases[k].kernel);
        }
    r->cases = arena_array(arena, result->case_count + 1, sizeof(*r->cases));
    r->kernels = kernel_sums_new(arena, result->case_count);
    FOR_EACH(const struct result_case, c, result->cases, result->case_count) {
        if (!on_roofline(c))
            continue;
        struct kernel_sum *kernel = kernel_of(r, c);
        r->cases[r->count++] = c;
        kernel->cases++;
        kernel->time_ns += weight_of(c) * result_case_time(c);
        if (!kernel->best || c->flops_per_s > kernel->best->flops_per_s)
            kernel->best = c;
    }
    if (!r->count || !result->machine.level_count)
        return false;
    for (uint32_t k = 0; k < result->machine.unit_count; k++)
        r->held[k] = held_of(r, &result->machine.units[k], arena);
    kernel_sums_sort(&r->kernels);
    return true;
}

/* ---- ceilings ---- */

static void add_ceiling(struct chart *chart, bool measured, const char *said, const double xy[static 4],
                        const char *name)
{
    chart_line(chart, measured ? CHART_LINE : CHART_DASHED, said, xy);
    for (size_t k = 0; k < 2; k++)
        chart->series[chart->count - 1].points[k].ceiling = name;
}

/* Where a level meets the peaks: below that intensity its bandwidth limits, above it the arithmetic. */
static const char *ridges(const struct roofline *r, const char *said, double bandwidth, struct arena *arena)
{
    const struct machine *machine = &r->result->machine;
    for (uint32_t k = 0; k < machine->unit_count; k++) {
        const double peak = ceiling_value(&machine->units[k].peak);
        if (is_used(r, &machine->units[k]) && peak > 0)
            said = arena_printf(arena, "%s\nmeets %s at %s FLOP/B", said, machine->units[k].name,
                                quantity_words(peak / bandwidth, UNIT_INTENSITY, arena));
    }
    return said;
}

/* From below the axes up to the highest peak. */
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
        chart->series[chart->count - 1].points[0].said = ridges(r, name, value, chart->arena);
    }
}

enum peak { PEAK_MEASURED, PEAK_VENDOR, PEAK_HELD, PEAK_COUNT };

/* 0: there is none. The vendor's is drawn at the clock held where that was lower by more than a line is thick. */
static double peak_of(const struct roofline *r, uint32_t unit, enum peak kind)
{
    const struct ceiling *peak = &r->result->machine.units[unit].peak;
    return !is_used(r, &r->result->machine.units[unit]) ? 0
           : kind == PEAK_MEASURED                      ? peak->measured
           : kind == PEAK_VENDOR                        ? peak->vendor
           : r->held[unit] < 0.98                       ? peak->vendor * r->held[unit]
                                                        : 0;
}

/* From the fastest level on. */
static void add_peak(struct chart *chart, const struct roofline *r, enum peak kind, double peak, const char *name,
                     const char *unit)
{
    static const char *const of[] = {
        [PEAK_MEASURED] = "", [PEAK_VENDOR] = ", vendor", [PEAK_HELD] = ", at the clock held"};
    const struct machine *machine = &r->result->machine;
    double fastest = 0;
    for (uint32_t k = 0; k < machine->level_count; k++)
        fastest = fmax(fastest, ceiling_value(&machine->levels[k].bandwidth));
    const double from = fastest > 0 ? fmax(chart->x.low, fmin(peak / fastest, chart->x.high)) : chart->x.low;
    const char *said = arena_printf(chart->arena, "%s %s%s", name,
                                    quantity_words(peak, machine_unit_rate(unit), chart->arena), of[kind]);
    add_ceiling(chart, kind == PEAK_MEASURED, said, (double[]){from, peak, chart->x.high, peak}, name);
}

/* Units of one rate share a line and its name. */
static void add_units(struct chart *chart, const struct roofline *r, enum peak kind)
{
    const struct machine *machine = &r->result->machine;
    for (uint32_t k = 0; k < machine->unit_count; k++) {
        const double value = peak_of(r, k, kind);
        const char *names = machine->units[k].name;
        bool said = value <= 0;
        for (uint32_t j = 0; j < machine->unit_count && !said; j++) {
            if (j == k || !(fabs(peak_of(r, j, kind) / value - 1) <= 0.01))
                continue;
            said |= j < k;
            names = arena_printf(chart->arena, "%s, %s", names, machine->units[j].name);
        }
        if (!said)
            add_peak(chart, r, kind, value, names, machine->units[k].name);
    }
}

/* ---- cases ---- */

static void add_series(struct chart *chart, struct roofline *r)
{
    for (size_t k = 0; k < r->kernels.count && k < CHART_SERIES; k++) {
        const bool others = k + 1 == CHART_SERIES && r->kernels.count > CHART_SERIES;
        const char *share = figure_words("% of ceiling", r->kernels.items[k].best, chart->arena);
        chart_add(chart, CHART_MARKS,
                  others               ? arena_printf(chart->arena, "%zu others", r->kernels.count - CHART_SERIES + 1)
                  : strcmp(share, "-") ? arena_printf(chart->arena, "%.40s, best %s", r->kernels.items[k].name, share)
                                       : arena_printf(chart->arena, "%.40s", r->kernels.items[k].name),
                  k);
    }
    for (size_t k = 0; k < r->count; k++) {
        const struct result_case *c = r->cases[k];
        const size_t at = (size_t)(kernel_of(r, c) - r->kernels.items);
        chart_case(chart, &chart->series[at < CHART_SERIES ? at : CHART_SERIES - 1], c->lower_bound.intensity,
                   c->flops_per_s, c)
            ->ceiling = c->lower_bound.ceiling_name;
    }
}

/* The ridge of the slowest level belongs in the picture, and so do the peaks. */
static void choose_range(struct chart *chart, const struct roofline *r)
{
    const struct machine *machine = &r->result->machine;
    const double memory = ceiling_value(&machine->levels[machine->level_count - 1].bandwidth);
    chart->x = (struct chart_axis){.title = "arithmetic intensity in FLOP/B", .unit = UNIT_INTENSITY};
    chart->y = (struct chart_axis){.title = "arithmetic rate", .unit = UNIT_FLOP_RATE};
    chart_fit(chart, false, 10);
    chart_fit(chart, true, 10);
    chart->y.high = fmax(chart->y.high, 2 * highest_peak(r));
    if (memory > 0)
        chart->x.high = fmax(chart->x.high, 2 * chart->y.high / memory);
}

/* ---- the section ---- */

static struct table *data_of(const struct roofline *r, struct arena *arena)
{
    static const struct table_column columns[] = {{.title = ""},
                                                  {.title = "cases", .unit = UNIT_COUNT},
                                                  {.title = "best", .unit = UNIT_FLOP_RATE},
                                                  {.title = "FLOP/B", .unit = UNIT_INTENSITY},
                                                  {.title = "% of ceiling", .unit = UNIT_PERCENT, .flags = COLUMN_BAR},
                                                  {.title = "ceiling"}};
    struct table *table = TABLE(arena, columns);
    for (size_t k = 0; k < r->kernels.count; k++) {
        const struct result_case *c = r->kernels.items[k].best;
        table_add(table,
                  (struct cell[]){cell_text(r->kernels.items[k].name), cell_number((double)r->kernels.items[k].cases),
                                  cell_quantity(c->flops_per_s, machine_unit_rate(c->work.unit)),
                                  cell_number(c->lower_bound.intensity), cell_positive(c->fraction),
                                  cell_known(c->lower_bound.ceiling_name)});
    }
    return table;
}

void picture_roofline(struct document *document, const struct result *result, const char *suffix)
{
    struct arena *arena = document->arena;
    struct roofline *r = arena_alloc(arena, sizeof(*r));
    if (!collect(r, result, arena))
        return;
    struct chart *chart = chart_new(arena, arena_printf(arena, "roofline%s", suffix), "Roofline", "");
    bool held = false;
    for (uint32_t k = 0; k < result->machine.unit_count; k++)
        held |= peak_of(r, k, PEAK_HELD) > 0;
    chart->desc =
        arena_printf(arena,
                     "Arithmetic rate over arithmetic intensity of %zu case%s with arithmetic. %s; dashed lines are "
                     "vendor peaks%s. %s are in the order of the time they take.",
                     r->count, text_s(r->count),
                     result->machine.measured ? "Solid lines are ceilings measured on this device"
                                              : "No ceiling of this device was measured",
                     held ? ", and what they come to at the clock that cases held" : "",
                     r->by_unit ? "Arithmetic units" : "Kernels");
    add_series(chart, r);
    choose_range(chart, r);
    add_levels(chart, r);
    for (enum peak kind = 0; kind < PEAK_COUNT; kind++)
        add_units(chart, r, kind);
    document_chart(document, chart, data_of(r, arena));
}
