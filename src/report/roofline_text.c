/* SPDX-License-Identifier: MIT
 *
 * The roofline of a result as a log-log plot of characters: ceilings, and cases under them. Whatever the data, marks
 * outside the picture are skipped and nothing is written beyond it.
 */

#include "report_internal.h"
#include "rooftile/units.h"

enum { LEAST_WIDTH = 34, USUAL_WIDTH = 72, AROUND = 14, MAX_KERNELS = 26 };
enum { MARGIN = 13, X_TICK = 11, Y_TICK = 4 };
enum { PLOT_MAX_WIDTH = 96, PLOT_HEIGHT = 17, PLOT_LABEL = 12 };

/* What stands in a cell; the greater one wins. */
enum plot_mark { PLOT_EMPTY, PLOT_CEILING, PLOT_NAME, PLOT_POINT };

struct plot {
    struct {
        char text;
        enum plot_mark mark;
    } cells[PLOT_HEIGHT][PLOT_MAX_WIDTH];
    const char *names[PLOT_HEIGHT]; /* right of the picture: the horizontal ceiling in that row */
    int width;
    double x_low, x_high, y_low, y_high; /* log10 */
    bool beyond;                         /* points lie right of x_high and were drawn at the edge */
};

/* ---- the plot ---- */

/* -1 when it is outside, however far. */
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
        text < ' ' || text > '~' ? '?' : text; /* names are a file's: it may hold anything */
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
    /* The nearest row without a name yet: two peaks may share a line. */
    for (int distance = 0; distance < PLOT_HEIGHT; distance++)
        for (int side = 1; side >= -1; side -= 2) {
            const int at = row + side * distance;
            if (at < 0 || at >= PLOT_HEIGHT || plot->names[at])
                continue;
            plot->names[at] = name;
            return;
        }
}

static void plot_point(struct plot *plot, double x, double y, char letter)
{
    const double edge = pow(10, plot->x_high);
    const int row = row_of(plot, y);
    if (x > edge && row >= 0)
        plot->beyond = true;
    put(plot, row, x > edge ? plot->width - 1 : column_of(plot, x), letter, PLOT_POINT);
}

/* The word and a blank on either side. */
static bool is_free(const struct plot *plot, int row, int column, int length)
{
    if (column < 0 || column + length > plot->width)
        return false;
    for (int k = -1; k <= length; k++) {
        const int at = column + k;
        const bool inside = k >= 0 && k < length;
        if (at < 0 || at >= plot->width)
            continue;
        /* A ceiling may touch the word, its own does on one side. */
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

static void add_x_axis(struct text *out, const struct plot *plot, const char *unit)
{
    SCOPED(text_release) struct text ticks = {0};
    text_pad(out, MARGIN, ' ');
    for (int column = 0; column < plot->width; column++)
        text_add(out, column % X_TICK == 0 ? "+" : "-");
    text_add(out, "\n");
    for (int column = 0; column < plot->width; column += X_TICK) {
        const size_t at = (size_t)(MARGIN + column - 1);
        const double x = x_at(plot, column);
        text_pad(&ticks, at > ticks.length ? at - ticks.length : 1, ' ');
        text_addf(&ticks, x < 0.001 || x >= 1e4 ? "%.0e" : x < 100 ? "%.2g" : "%.0f", x);
    }
    text_addf(out, "%s %s\n", ticks.data, unit);
}

static void plot_text(struct text *out, const struct plot *plot, const char *x_unit, const char *y_unit,
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
    add_x_axis(out, plot, x_unit);
}

/* ---- what is drawn ---- */

/* Cases with a place in the picture, and of each kernel the best one: kernels have letters, in order. */
struct points {
    const struct result_case **cases, *best[MAX_KERNELS];
    size_t count, kernels, skipped;
    const struct machine *machine;
};

bool on_roofline(const struct result_case *c)
{
    return c->status == CASE_OK && result_case_timed(c) && c->work.flops > 0 && isfinite(c->lower_bound.intensity) &&
           c->lower_bound.intensity > 0 && isfinite(c->flops_per_s) && c->flops_per_s > 0;
}

static size_t index_of(const struct points *points, const char *kernel)
{
    size_t at = 0;
    while (at < points->kernels && strcmp(points->best[at]->kernel, kernel) != 0)
        at++;
    return at;
}

static struct points collect(const struct result *result, struct arena *arena)
{
    struct points points = {.machine = &result->machine};
    const char *last_skipped = "";
    points.cases = arena_array(arena, result->case_count + 1, sizeof(*points.cases));
    FOR_EACH(const struct result_case, c, result->cases, result->case_count) {
        if (!on_roofline(c))
            continue;
        const size_t at = index_of(&points, c->kernel);
        points.cases[points.count++] = c;
        if (at == MAX_KERNELS) {
            points.skipped += strcmp(last_skipped, c->kernel) != 0;
            last_skipped = c->kernel;
        } else if (at == points.kernels) {
            points.best[points.kernels++] = c;
        } else if (c->flops_per_s > points.best[at]->flops_per_s) {
            points.best[at] = c;
        }
    }
    return points;
}

/* The peak of a unit that the cases use, else 0: a matrix unit's peak says nothing about a vector kernel. */
static double peak_of(const struct points *points, const struct machine_unit *unit)
{
    for (size_t k = 0; k < points->count; k++)
        if (!strcmp(points->cases[k]->work.unit, unit->name))
            return ceiling_value(&unit->peak);
    return 0;
}

static double highest_peak(const struct points *points)
{
    double highest = 0;
    for (uint32_t k = 0; k < points->machine->unit_count; k++)
        highest = fmax(highest, peak_of(points, &points->machine->units[k]));
    return highest;
}

/* One axis for both, where a run has both: of operations. */
static const char *axis_unit(const struct points *points)
{
    for (size_t k = 0; k < points->count; k++)
        if (!strcmp(machine_unit_rate(points->cases[k]->work.unit), "OP/s"))
            return "OP/s";
    return "FLOP/s"; /* an operation on real numbers is one as well */
}

/* At most five decades right of the leftmost case and six below the highest ceiling. */
static void choose_range(struct plot *plot, const struct points *points)
{
    const struct machine *machine = points->machine;
    double x_low = INFINITY, x_high = 0, y_low = INFINITY, y_high = highest_peak(points);
    for (size_t k = 0; k < points->count; k++) {
        const struct result_case *c = points->cases[k];
        x_low = fmin(x_low, c->lower_bound.intensity);
        x_high = fmax(x_high, c->lower_bound.intensity);
        y_low = fmin(y_low, c->flops_per_s);
        y_high = fmax(y_high, c->flops_per_s);
    }
    const double memory = ceiling_value(&machine->levels[machine->level_count - 1].bandwidth);
    if (memory > 0) /* the ridge of the slowest level belongs in the picture */
        x_high = fmax(x_high, y_high / memory);
    plot->x_low = log10(x_low) - 0.35;
    plot->x_high = fmin(log10(x_high), log10(x_low) + 5) + 0.35;
    plot->y_low = fmax(log10(y_low), log10(y_high) - 6) - 0.25;
    plot->y_high = log10(y_high) + 0.25;
}

static void draw(struct plot *plot, const struct points *points)
{
    const struct machine *machine = points->machine;
    const double peak = highest_peak(points), highest = peak > 0 ? peak : INFINITY;
    double fastest = 0;
    choose_range(plot, points);
    for (uint32_t k = 0; k < machine->level_count; k++) {
        const double bandwidth = ceiling_value(&machine->levels[k].bandwidth);
        fastest = fmax(fastest, bandwidth);
        /* One mark per row keeps lines apart that lie close together. */
        for (int row = 0; row < PLOT_HEIGHT && bandwidth > 0; row++)
            if (y_at(plot, row) <= highest)
                put(plot, row, column_of(plot, y_at(plot, row) / bandwidth), '/', PLOT_CEILING);
    }
    for (uint32_t k = 0; k < machine->unit_count; k++)
        if (peak_of(points, &machine->units[k]) > 0)
            plot_level(plot, peak_of(points, &machine->units[k]), fastest, machine->units[k].name);
    for (size_t k = 0; k < points->count; k++) {
        const struct result_case *c = points->cases[k];
        const size_t at = index_of(points, c->kernel);
        if (at < points->kernels)
            plot_point(plot, c->lower_bound.intensity, c->flops_per_s, (char)('A' + at));
    }
    for (uint32_t k = 0; k < machine->level_count; k++)
        plot_slope_name(plot, ceiling_value(&machine->levels[k].bandwidth), highest, machine->levels[k].name);
}

/* ---- text ---- */

static struct table *legend(const struct points *points, struct arena *arena)
{
    static const struct table_column columns[] = {{.title = ""},
                                                  {.title = ""},
                                                  {.title = "best", .unit = UNIT_FLOP_RATE},
                                                  {.title = "FLOP/B", .unit = UNIT_INTENSITY},
                                                  {.title = "% of ceiling", .unit = UNIT_PERCENT},
                                                  {.title = "ceiling"}};
    struct table *table = TABLE(arena, columns);
    table->indent = 2;
    for (size_t k = 0; k < points->kernels; k++) {
        const struct result_case *c = points->best[k];
        const double fraction = figure_value("% of ceiling", c);
        table_add(table, (struct cell[]){cell_text(arena_printf(arena, "%c", (char)('A' + k))), cell_text(c->kernel),
                                         cell_quantity(c->flops_per_s, machine_unit_rate(c->work.unit)),
                                         cell_number(c->lower_bound.intensity), cell_positive(fraction),
                                         cell_text(fraction > 0 ? c->lower_bound.ceiling_name : "")});
    }
    return table;
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

static const char *ceilings(const struct points *points, struct arena *arena)
{
    const struct machine *machine = points->machine;
    struct text line = {0};
    for (uint32_t k = 0; k < machine->level_count; k++)
        add_ceiling(&line, machine->levels[k].name, &machine->levels[k].bandwidth, "B/s");
    for (uint32_t k = 0; k < machine->unit_count; k++)
        if (peak_of(points, &machine->units[k]) > 0)
            add_ceiling(&line, machine->units[k].name, &machine->units[k].peak,
                        machine_unit_rate(machine->units[k].name));
    return text_take(&line, arena);
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
    const struct points points = collect(result, &arena);
    const char *known = ceilings(&points, &arena);
    text_add(out, "\n");
    if (points.count) {
        draw(&plot, &points);
        text_add_toned(out, options->color, TONE_BOLD, "Roofline");
        text_add_wrapped(out, "(log-log; / memory levels, - arithmetic units, letters are cases)", strlen("Roofline"),
                         2, report_columns(options));
        text_add(out, "\n");
        plot_text(out, &plot, "FLOP/B", axis_unit(&points), options);
        document_table(&document, NULL, NULL, legend(&points, &arena));
    }
    render_text(out, &document, options);
    if (points.skipped)
        text_addf(out, "  and %zu more kernels that are not drawn\n", points.skipped);
    document = (struct document){.arena = &arena};
    if (plot.beyond)
        document_text(&document, 0, TONE_PLAIN,
                      "  letters at the right edge stand for more FLOP/B than the axis shows");
    if (*known)
        document_text(&document, 0, TONE_PLAIN, "ceilings (%s): %s",
                      result->machine.measured ? "measured" : "vendor by data sheets", known);
    render_text(out, &document, options);
}
