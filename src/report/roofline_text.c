/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "plot.h"
#include "rooftile/units.h"

enum { LEAST_WIDTH = 34, USUAL_WIDTH = 72, AROUND = 14, MAX_KERNELS = 26 };

struct kernels {
    const char *names[MAX_KERNELS];
    const struct result_case *best[MAX_KERNELS];
    size_t count, skipped;
};

static bool on_roofline(const struct result_case *c)
{
    return c->status == CASE_OK && c->sample_count && c->work.flops > 0 && isfinite(c->lower_bound.intensity) &&
           c->lower_bound.intensity > 0 && isfinite(c->flops_per_s) && c->flops_per_s > 0;
}

/* ---- what is drawn ---- */

static size_t index_of(const struct kernels *kernels, const char *name)
{
    size_t at = 0;
    while (at < kernels->count && strcmp(kernels->names[at], name) != 0)
        at++;
    return at;
}

static void collect(struct kernels *kernels, const struct result *result)
{
    const char *last_skipped = "";
    for (size_t k = 0; k < result->case_count; k++) {
        const struct result_case *c = &result->cases[k];
        if (!on_roofline(c))
            continue;
        const size_t at = index_of(kernels, c->kernel);
        if (at == MAX_KERNELS) {
            kernels->skipped += strcmp(last_skipped, c->kernel) != 0;
            last_skipped = c->kernel;
            continue;
        }
        if (at == kernels->count)
            kernels->names[kernels->count++] = c->kernel;
        if (!kernels->best[at] || c->flops_per_s > kernels->best[at]->flops_per_s)
            kernels->best[at] = c;
    }
}

static bool unit_is_used(const struct result *result, const char *unit)
{
    for (size_t k = 0; k < result->case_count; k++)
        if (on_roofline(&result->cases[k]) && !strcmp(result->cases[k].work.unit, unit))
            return true;
    return false;
}

/* One axis for both, where a run has both: of operations. */
static const char *axis_unit(const struct result *result)
{
    bool whole = false;
    for (size_t k = 0; k < result->case_count; k++)
        whole |= on_roofline(&result->cases[k]) && !strcmp(machine_unit_rate(result->cases[k].work.unit), "OP/s");
    return whole ? "OP/s" : "FLOP/s"; /* an operation on real numbers is one as well */
}

/* Of the units that the cases use: a matrix unit's peak says nothing about a vector kernel. */
static double highest_peak(const struct result *result)
{
    double highest = 0;
    for (uint32_t k = 0; k < result->machine.unit_count; k++)
        if (unit_is_used(result, result->machine.units[k].name))
            highest = fmax(highest, ceiling_value(&result->machine.units[k].peak));
    return highest;
}

/* At most five decades right of the leftmost case and six below the highest ceiling. */
static void choose_range(struct plot *plot, const struct result *result)
{
    const struct machine *machine = &result->machine;
    double x_low = INFINITY, x_high = 0, y_low = INFINITY, y_high = highest_peak(result);
    for (size_t k = 0; k < result->case_count; k++) {
        const struct result_case *c = &result->cases[k];
        if (!on_roofline(c))
            continue;
        x_low = fmin(x_low, c->lower_bound.intensity);
        x_high = fmax(x_high, c->lower_bound.intensity);
        y_low = fmin(y_low, c->flops_per_s);
        y_high = fmax(y_high, c->flops_per_s);
    }
    const double memory =
        machine->level_count ? ceiling_value(&machine->levels[machine->level_count - 1].bandwidth) : 0;
    if (memory > 0) /* the ridge of the slowest level belongs in the picture */
        x_high = fmax(x_high, y_high / memory);
    plot->x_low = log10(x_low) - 0.35;
    plot->x_high = fmin(log10(x_high), log10(x_low) + 5) + 0.35;
    plot->y_low = fmax(log10(y_low), log10(y_high) - 6) - 0.25;
    plot->y_high = log10(y_high) + 0.25;
}

static void draw_ceilings(struct plot *plot, const struct result *result, double highest)
{
    const struct machine *machine = &result->machine;
    double fastest = 0;
    for (uint32_t k = 0; k < machine->level_count; k++) {
        const double bandwidth = ceiling_value(&machine->levels[k].bandwidth);
        fastest = fmax(fastest, bandwidth);
        plot_slope(plot, bandwidth, highest);
    }
    for (uint32_t k = 0; k < machine->unit_count; k++)
        if (unit_is_used(result, machine->units[k].name))
            plot_level(plot, ceiling_value(&machine->units[k].peak), fastest, machine->units[k].name);
}

static void draw(struct plot *plot, const struct result *result, const struct kernels *kernels)
{
    const struct machine *machine = &result->machine;
    const double peak = highest_peak(result);
    choose_range(plot, result);
    const double highest = peak > 0 ? peak : INFINITY;
    draw_ceilings(plot, result, highest);
    for (size_t k = 0; k < result->case_count; k++) {
        const struct result_case *c = &result->cases[k];
        const size_t at = on_roofline(c) ? index_of(kernels, c->kernel) : kernels->count;
        if (at < kernels->count)
            plot_point(plot, c->lower_bound.intensity, c->flops_per_s, (char)('A' + at));
    }
    for (uint32_t k = 0; k < machine->level_count; k++)
        plot_slope_name(plot, ceiling_value(&machine->levels[k].bandwidth), highest, machine->levels[k].name);
}

/* ---- text ---- */

static void add_legend(struct text *out, const struct kernels *kernels, const struct report_options *options)
{
    static const struct table_column columns[] = {{.title = ""},
                                                  {.title = ""},
                                                  {.title = "best", .unit = UNIT_FLOP_RATE},
                                                  {.title = "FLOP/B", .unit = UNIT_INTENSITY},
                                                  {.title = "% of ceiling", .unit = UNIT_SHARE},
                                                  {.title = "ceiling"}};
    struct arena arena = {0};
    struct document document = {.arena = &arena};
    struct table *table = TABLE(&arena, columns);
    table->indent = 2;
    for (size_t k = 0; k < kernels->count; k++) {
        const struct result_case *c = kernels->best[k];
        const double fraction = figure_value("% of ceiling", c);
        table_add(table,
                  (struct cell[]){cell_text(arena_printf(&arena, "%c", (char)('A' + k))), cell_text(kernels->names[k]),
                                  cell_quantity(c->flops_per_s, machine_unit_rate(c->work.unit)),
                                  cell_number(c->lower_bound.intensity), cell_positive(fraction),
                                  cell_text(fraction > 0 ? c->lower_bound.ceiling_name : "")});
    }
    document_table(&document, NULL, NULL, table);
    render_text(out, &document, options);
    if (kernels->skipped)
        text_addf(out, "  and %zu more kernels that are not drawn\n", kernels->skipped);
    arena_release(&arena);
}

static void add_ceiling(struct text *line, const char *name, const struct ceiling *ceiling, const char *unit)
{
    char rate[UNITS_TEXT];
    const double value = ceiling_value(ceiling);
    if (value <= 0)
        return;
    text_addf(line, "%s%s %s", line->length ? ", " : "", name, units_rate(rate, value, unit));
    if (ceiling->raised)
        text_add(line, " (raised in this run)");
}

static void add_ceilings(struct text *out, const struct result *result, unsigned columns)
{
    const struct machine *machine = &result->machine;
    struct arena scratch = {0};
    struct text line = {0};
    for (uint32_t k = 0; k < machine->level_count; k++)
        add_ceiling(&line, machine->levels[k].name, &machine->levels[k].bandwidth, "B/s");
    for (uint32_t k = 0; k < machine->unit_count; k++)
        if (unit_is_used(result, machine->units[k].name))
            add_ceiling(&line, machine->units[k].name, &machine->units[k].peak,
                        machine_unit_rate(machine->units[k].name));
    if (line.length) {
        text_add_wrapped(out,
                         arena_printf(&scratch, "ceilings (%s): %s",
                                      machine->measured ? "measured" : "vendor by data sheets",
                                      printable(&scratch, line.data)),
                         0, 0, columns);
        text_add(out, "\n");
    }
    text_release(&line);
    arena_release(&scratch);
}

void report_roofline_text(struct text *out, const struct result *result, const struct report_options *options)
{
    const int room = (int)(report_columns(options) < 200 ? report_columns(options) : 200) - AROUND - PLOT_LABEL;
    struct plot plot = {.width = room < LEAST_WIDTH ? LEAST_WIDTH : room > USUAL_WIDTH ? USUAL_WIDTH : room};
    struct kernels kernels = {0};
    if (!result->machine.level_count) {
        text_add(out, "\nno ceiling is known for this device; 'rooftile roofline' measures them\n");
        return;
    }
    collect(&kernels, result);
    text_add(out, "\n");
    if (kernels.count) {
        draw(&plot, result, &kernels);
        toned(out, options, TONE_BOLD, "Roofline");
        text_add(out, " (log-log; / memory levels, - arithmetic units, letters are cases)\n");
        plot_text(out, &plot, "FLOP/B", axis_unit(result), options);
        add_legend(out, &kernels, options);
        if (plot.beyond)
            text_add(out, "  letters at the right edge stand for more FLOP/B than the axis shows\n");
    }
    add_ceilings(out, result, report_columns(options));
}
