/* SPDX-License-Identifier: MIT
 *
 * The roofline of a result as a log-log plot of characters: ceilings, with the cases below. Marks outside the picture
 * are skipped, so no data can write beyond it.
 */

#include "picture.h"
#include "report_internal.h"
#include "rooftile/units.h"

enum { LEAST_WIDTH = 34, USUAL_WIDTH = 72, AROUND = 14, MAX_KERNELS = 26 };
enum { MARGIN = 13, X_TICK = 11, Y_TICK = 4 };
enum { PLOT_MAX_WIDTH = 96, PLOT_HEIGHT = 17, PLOT_LABEL = 12 };

/* Content of a cell; the greater one wins. */
enum plot_mark { PLOT_EMPTY, PLOT_CEILING, PLOT_NAME, PLOT_POINT };

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

/* True if there is room for the word and a blank on either side. */
static bool is_free(const struct plot *plot, int row, int column, int length)
{
    if (column < 0 || column + length > plot->width)
        return false;
    for (int k = -1; k <= length; k++) {
        const int at = column + k;
        const bool inside = k >= 0 && k < length;
        if (at < 0 || at >= plot->width)
            continue;
        /* A ceiling may touch the word; its own does on one side. */
        if (plot->cells[row][at].mark > (inside ? PLOT_EMPTY : PLOT_CEILING))
            return false;
    }
    return true;
}

static void plot_slope_name(struct plot *plot, double bandwidth, double highest, const char *name)
{
    const int length = (int)strlen(name);
    for (int row = PLOT_HEIGHT - 1; row >= 0 && bandwidth > 0 && y_at(plot, row) <= highest; row--) {
        const int slope = column_of(plot, y_at(plot, row) / bandwidth);
        const int sides[] = {slope + 2, slope - 1 - length};
        for (size_t side = 0; slope >= 0 && side < 2; side++) {
            if (!is_free(plot, row, sides[side], length) || plot->cells[row][slope].mark != PLOT_CEILING)
                continue;
            for (int k = 0; k < length; k++)
                put(plot, row, sides[side] + k, name[k], PLOT_NAME);
            return;
        }
    }
}

static void plot_text(struct text *out, const struct plot *plot, const char *y_unit,
                      const struct report_options *options)
{
    for (int row = 0; row < PLOT_HEIGHT; row++) {
        static const enum tone tones[] = {TONE_PLAIN, TONE_PLAIN, TONE_ACCENT, TONE_BOLD};
        const bool tick = row % Y_TICK == 0;
        char label[UNITS_TEXT] = "";
        int end = plot->width;
        if (tick)
            units_rate(label, y_at(plot, row), y_unit);
        text_pad(out, text_columns(label) < MARGIN - 1 ? MARGIN - 1 - text_columns(label) : 0, ' ');
        text_addf(out, "%s %s", label, tick ? "+" : "|");
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
    for (int column = 0; column < plot->width; column++)
        text_add(out, column % X_TICK == 0 ? "+" : "-");
    for (int column = 0; column < plot->width; column += X_TICK) {
        const size_t at = (size_t)(MARGIN + column - 1);
        const double x = x_at(plot, column);
        text_pad(&ticks, at > ticks.length ? at - ticks.length : 1, ' ');
        text_addf(&ticks, x < 0.001 || x >= 1e4 ? "%.0e" : x < 100 ? "%.2g" : "%.0f", x);
    }
    text_addf(out, "\n%s FLOP/B\n", ticks.data);
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

/* At most five decades to the right of the leftmost case and six below the highest ceiling. */
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
    plot->x_low = log10(x_low) - 0.35;
    plot->x_high = fmin(log10(x_high), log10(x_low) + 5) + 0.35;
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
                put(plot, row, column_of(plot, y_at(plot, row) / bandwidth), '/', PLOT_CEILING);
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
    for (uint32_t k = 0; k < machine->level_count; k++)
        plot_slope_name(plot, ceiling_value(&machine->levels[k].bandwidth), highest, machine->levels[k].name);
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
    FOR_EACH(const struct machine_level, level, result->machine.levels, result->machine.level_count)
        add_ceiling(&known, level->name, &level->bandwidth, "B/s");
    FOR_EACH(const struct machine_unit, unit, result->machine.units, result->machine.unit_count)
        if (roofline_peak(&r, unit) > 0)
            add_ceiling(&known, unit->name, &unit->peak, machine_unit_rate(unit->name));
    text_add(out, "\n");
    if (r.count) {
        draw(&plot, &r);
        text_add_toned(out, options->color, TONE_BOLD, "Roofline");
        text_add_wrapped(out, "(log-log; / memory levels, - arithmetic units, letters are cases)", strlen("Roofline"),
                         2, report_columns(options));
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
        document_text(&document, 0, TONE_PLAIN,
                      "  letters at the right edge stand for more FLOP/B than the axis shows");
    if (known.length)
        document_text(&document, 0, TONE_PLAIN, "ceilings (%s): %s",
                      result->machine.measured ? "measured" : "vendor by data sheets", known.data);
    render_text(out, &document, options);
}
