/* SPDX-License-Identifier: MIT
 *
 * The roofline of a result as a log-log plot of characters: ceilings, with the cases below. Marks outside the picture
 * are skipped, so no data can write beyond it.
 */

#include "picture.h"
#include "report_internal.h"
#include "rooftile/units.h"

enum { LEAST_WIDTH = 34, USUAL_WIDTH = 72, AROUND = 14, MAX_KERNELS = 26 };
enum { MARGIN = 13, MOST_POWER = 3 /* of FLOP/B: more stands at the right edge */ };
enum { PLOT_MAX_WIDTH = 96, PLOT_HEIGHT = 17, PLOT_LABEL = 12 };

/* Content of a cell; the greater one wins. */
enum plot_mark { PLOT_EMPTY, PLOT_CEILING, PLOT_POINT };

struct plot {
    struct {
        char text;
        enum plot_mark mark;
    } cells[PLOT_HEIGHT][PLOT_MAX_WIDTH];
    const char *names[PLOT_HEIGHT]; /* to the right of the picture: name of the horizontal ceiling in that row */
    int width;
    double x_low, x_high, y_low, y_high; /* log10 */
    bool beyond;                         /* points beyond x_high were drawn at the right edge */
};

/* ---- the plot ---- */

/* Returns -1 if the value is outside, however far. */
static int cell_of(double value, double low, double high, int cells)
{
    const double at = (log10(value) - low) / (high - low) * (cells - 1);
    return at >= -0.5 && at < cells - 0.5 ? (int)lround(at) : -1;
}

static int column_of(const struct plot *plot, double x)
{
    return cell_of(x, plot->x_low, plot->x_high, plot->width);
}

static int row_of(const struct plot *plot, double y)
{
    const int from_below = cell_of(y, plot->y_low, plot->y_high, PLOT_HEIGHT);
    return from_below < 0 ? -1 : PLOT_HEIGHT - 1 - from_below;
}

static double x_at(const struct plot *plot, int column)
{
    return pow(10, plot->x_low + (plot->x_high - plot->x_low) * column / (plot->width - 1));
}

static double y_at(const struct plot *plot, int row)
{
    return pow(10, plot->y_high - (plot->y_high - plot->y_low) * row / (PLOT_HEIGHT - 1));
}

static void put(struct plot *plot, int row, int column, char text, enum plot_mark mark)
{
    if (row < 0 || column < 0 || plot->cells[row][column].mark > mark)
        return;
    plot->cells[row][column].text =
        text < ' ' || text > '~' ? '?' : text; /* names come from files and may contain any byte */
    plot->cells[row][column].mark = mark;
}

static void plot_level(struct plot *plot, double peak, double bandwidth, const char *name)
{
    const int row = row_of(plot, peak);
    if (row < 0)
        return;
    for (int column = 0; column < plot->width; column++)
        if (bandwidth <= 0 || bandwidth * x_at(plot, column) >= peak)
            put(plot, row, column, '-', PLOT_CEILING);
    /* Use the nearest row without a name: two peaks may share a line. */
    for (int distance = 0; distance < PLOT_HEIGHT; distance++)
        for (int side = 1; side >= -1; side -= 2) {
            const int at = row + side * distance;
            if (at < 0 || at >= PLOT_HEIGHT || plot->names[at])
                continue;
            plot->names[at] = name;
            return;
        }
}

/* Writes "100 GFLOP/s" for a power of ten. */
static void add_power(struct text *out, int power, const char *unit)
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
    const size_t thousands = power < 0 ? 0 : (size_t)power / 3;
    const bool known = power >= 0 && thousands < COUNT_OF(prefixes);
    text_addf(out, "%g %s%s", pow(10, known ? power % 3 : power), known ? prefixes[thousands] : "", unit);
}

/* The power of ten whose mark stands at this position of an axis; false: none does. */
static bool power_at(int *power, double low, double high, int cells, int at)
{
    for (*power = (int)ceil(low); *power <= high; ++*power)
        if (cell_of(pow(10, *power), low, high, cells) == at)
            return true;
    return false;
}

static void plot_text(struct text *out, const struct plot *plot, const char *y_unit,
                      const struct report_options *options)
{
    for (int row = 0; row < PLOT_HEIGHT; row++) {
        static const enum tone tones[] = {[PLOT_POINT] = TONE_BOLD};
        SCOPED(text_release) struct text label = {0};
        int end = plot->width, power;
        const bool tick = power_at(&power, plot->y_low, plot->y_high, PLOT_HEIGHT, PLOT_HEIGHT - 1 - row);
        if (tick)
            add_power(&label, power, y_unit);
        text_pad(out, label.length < MARGIN - 1 ? MARGIN - 1 - label.length : 0, ' ');
        text_addf(out, "%s %s", text_or_empty(label.data), tick ? "+" : "|");
        while (!plot->names[row] && end > 0 && plot->cells[row][end - 1].mark == PLOT_EMPTY)
            end--;
        for (int column = 0; column < end; column++) {
            const enum plot_mark mark = plot->cells[row][column].mark;
            const char text[] = {mark ? plot->cells[row][column].text : ' ', '\0'};
            text_add_toned(out, options->color, tones[mark], text);
        }
        if (plot->names[row]) {
            SCOPED(text_release) struct text name = {0};
            text_add_printable(&name, plot->names[row]);
            text_add(out, " ");
            text_add_toned(out, options->color, TONE_ACCENT, name.data);
        }
        text_add(out, "\n");
    }
    SCOPED(text_release) struct text ticks = {0};
    text_pad(out, MARGIN, ' ');
    for (int column = 0, power; column < plot->width; column++) {
        const bool tick = power_at(&power, plot->x_low, plot->x_high, plot->width, column);
        text_add(out, tick ? "+" : "-");
        if (!tick || ticks.length >= (size_t)(MARGIN + column))
            continue; /* no room behind the tick before */
        text_pad(&ticks, (size_t)(MARGIN + column) - ticks.length, ' ');
        text_addf(&ticks, power == 3 ? "1k" : "%g", pow(10, power));
    }
    text_addf(out, "%s\n%s FLOP/B\n", plot->beyond ? ">" : "", text_or_empty(ticks.data));
}

/* ---- drawing ---- */

static double highest_peak(const struct roofline *r)
{
    double highest = 0;
    FOR_EACH(const struct machine_unit, unit, r->result->machine.units, r->result->machine.unit_count)
        highest = fmax(highest, roofline_peak(r, unit));
    return highest;
}

/* One axis serves both operations and FLOPs; if a run has both, its unit is OP/s. */
static const char *axis_unit(const struct roofline *r)
{
    /* A floating-point operation is an operation, too. */
    return COUNT_WHERE(c, r->cases, r->count, !strcmp(machine_unit_rate((*c)->work.unit), "OP/s")) ? "OP/s" : "FLOP/s";
}

/* Ends at 1k FLOP/B, and at most six decades below the highest ceiling. */
static void choose_range(struct plot *plot, const struct roofline *r)
{
    const struct machine *machine = &r->result->machine;
    double x_low = INFINITY, x_high = 0, y_low = INFINITY, y_high = highest_peak(r);
    for (size_t k = 0; k < r->count; k++) {
        const struct result_case *c = r->cases[k];
        x_low = fmin(x_low, c->lower_bound.intensity);
        x_high = fmax(x_high, c->lower_bound.intensity);
        y_low = fmin(y_low, c->flops_per_s);
        y_high = fmax(y_high, c->flops_per_s);
    }
    const double memory = ceiling_value(&machine->levels[machine->level_count - 1].bandwidth);
    if (memory > 0) /* include the ridge point of the slowest level */
        x_high = fmax(x_high, y_high / memory);
    plot->x_high = fmin(log10(x_high) + 0.35, MOST_POWER);
    plot->x_low = fmin(log10(x_low) - 0.35, plot->x_high - 1);
    plot->y_low = fmax(log10(y_low), log10(y_high) - 6) - 0.25;
    plot->y_high = log10(y_high) + 0.25;
}

static void draw(struct plot *plot, struct roofline *r)
{
    const struct machine *machine = &r->result->machine;
    const double peak = highest_peak(r), highest = peak > 0 ? peak : INFINITY;
    double fastest = 0;
    choose_range(plot, r);
    for (uint32_t k = 0; k < machine->level_count; k++) {
        const double bandwidth = ceiling_value(&machine->levels[k].bandwidth);
        fastest = fmax(fastest, bandwidth);
        /* One mark per row keeps close lines apart. */
        for (int row = 0; row < PLOT_HEIGHT && bandwidth > 0; row++)
            if (y_at(plot, row) <= highest)
                put(plot, row, column_of(plot, y_at(plot, row) / bandwidth), (char)('1' + k % 9), PLOT_CEILING);
    }
    FOR_EACH(const struct machine_unit, unit, machine->units, machine->unit_count)
        if (roofline_peak(r, unit) > 0)
            plot_level(plot, roofline_peak(r, unit), fastest, unit->name);
    for (size_t k = 0; k < r->count; k++) {
        const struct result_case *c = r->cases[k];
        const size_t at = (size_t)(kernel_sum_of(&r->kernels, c->kernel) - r->kernels.items);
        const bool beyond = c->lower_bound.intensity > pow(10, plot->x_high);
        const int row = row_of(plot, c->flops_per_s);
        if (at >= MAX_KERNELS)
            continue;
        plot->beyond |= beyond && row >= 0;
        put(plot, row, beyond ? plot->width - 1 : column_of(plot, c->lower_bound.intensity), (char)('A' + at),
            PLOT_POINT);
    }
}

/* ---- text ---- */

static void add_ceiling(struct text *line, const char *name, const struct ceiling *ceiling, const char *unit)
{
    char rate[UNITS_TEXT];
    const double value = ceiling_value(ceiling);
    if (value > 0)
        text_addf(line, "%s%s %s%s", line->length ? ", " : "", name, units_rate(rate, value, unit),
                  ceiling->raised ? " (raised in this run)" : "");
}

void report_roofline_text(struct text *out, const struct result *result, const struct report_options *options)
{
    SCOPED(arena_release) struct arena arena = {0};
    struct document document = {.arena = &arena};
    const int room = (int)(report_columns(options) < 200 ? report_columns(options) : 200) - AROUND - PLOT_LABEL;
    struct plot plot = {.width = room < LEAST_WIDTH ? LEAST_WIDTH : room > USUAL_WIDTH ? USUAL_WIDTH : room};
    if (!result->machine.level_count) {
        text_add(out, "\nno ceiling is known for this device; 'rooftile roofline' measures them\n");
        return;
    }
    SCOPED(text_release) struct text known = {0};
    struct roofline r;
    roofline_collect(&r, result, false, &arena);
    for (uint32_t k = 0; k < result->machine.level_count; k++)
        add_ceiling(&known, arena_printf(&arena, "%u %s", k + 1, level_title(result->machine.levels[k].name, &arena)),
                    &result->machine.levels[k].bandwidth, "B/s");
    FOR_EACH(const struct machine_unit, unit, result->machine.units, result->machine.unit_count)
        if (roofline_peak(&r, unit) > 0)
            add_ceiling(&known, unit->name, &unit->peak, machine_unit_rate(unit->name));
    text_add(out, "\n");
    if (r.count) {
        draw(&plot, &r);
        text_add_toned(out, options->color, TONE_BOLD, "Roofline");
        text_add_wrapped(out, " (both axes logarithmic; digits: memory, lines: arithmetic peaks, letters: kernels)",
                         strlen("Roofline"), 2, report_columns(options));
        text_add(out, "\n");
        plot_text(out, &plot, axis_unit(&r), options);
        struct table *legend = roofline_table(&r, MAX_KERNELS, true, &arena);
        legend->indent = 2;
        document_table(&document, NULL, NULL, legend);
    }
    render_text(out, &document, options);
    if (r.kernels.count > MAX_KERNELS)
        text_addf(out, "  and %zu more kernels that are not drawn\n", r.kernels.count - MAX_KERNELS);
    document = (struct document){.arena = &arena};
    if (plot.beyond)
        document_text(&document, 0, TONE_PLAIN, "  letters at the right edge (>) have more than 1k FLOP/B");
    if (known.length)
        document_text(&document, 0, TONE_PLAIN, "ceilings (%s): %s",
                      result->machine.measured ? "measured" : "data sheet", known.data);
    render_text(out, &document, options);
}
