/* SPDX-License-Identifier: MIT */
#include "plot.h"

#include <math.h>
#include <string.h>

#include "rooftile/units.h"

enum { MARGIN = 13, X_TICK = 11, Y_TICK = 4 };

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
    plot->cells[row][column].text = text;
    plot->cells[row][column].mark = mark;
}

/* One mark per row keeps lines apart that lie close together. */
void plot_slope(struct plot *plot, double bandwidth, double highest)
{
    for (int row = 0; row < PLOT_HEIGHT && bandwidth > 0; row++)
        if (y_at(plot, row) <= highest)
            put(plot, row, column_of(plot, y_at(plot, row) / bandwidth), '/', PLOT_CEILING);
}

/* The nearest row without a name yet: two peaks may share a line. */
static void name_row(struct plot *plot, int row, const char *name)
{
    for (int distance = 0; distance < PLOT_HEIGHT; distance++)
        for (int side = 1; side >= -1; side -= 2) {
            const int at = row + side * distance;
            if (at < 0 || at >= PLOT_HEIGHT || plot->names[at])
                continue;
            plot->names[at] = name;
            return;
        }
}

void plot_level(struct plot *plot, double peak, double bandwidth, const char *name)
{
    const int row = row_of(plot, peak);
    if (row < 0)
        return;
    for (int column = 0; column < plot->width; column++)
        if (bandwidth <= 0 || bandwidth * x_at(plot, column) >= peak)
            put(plot, row, column, '-', PLOT_CEILING);
    name_row(plot, row, name);
}

void plot_point(struct plot *plot, double x, double y, char letter)
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

void plot_slope_name(struct plot *plot, double bandwidth, double highest, const char *name)
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

static void add_row(struct text *out, const struct plot *plot, int row, const char *unit,
                    const struct report_options *options)
{
    static const enum tone tones[] = {TONE_PLAIN, TONE_PLAIN, TONE_ACCENT, TONE_BOLD};
    const bool tick = row % Y_TICK == 0;
    char label[UNITS_TEXT] = "";
    int end = plot->width;
    if (tick)
        units_rate(label, y_at(plot, row), unit);
    text_pad(out, text_columns(label) < MARGIN - 1 ? MARGIN - 1 - text_columns(label) : 0, ' ');
    text_addf(out, "%s %s", label, tick ? "+" : "|");
    while (!plot->names[row] && end > 0 && plot->cells[row][end - 1].mark == PLOT_EMPTY)
        end--;
    for (int column = 0; column < end; column++) {
        const enum plot_mark mark = plot->cells[row][column].mark;
        const char text[] = {mark ? plot->cells[row][column].text : ' ', '\0'};
        toned(out, options, tones[mark], text);
    }
    if (plot->names[row]) {
        text_add(out, " ");
        toned(out, options, TONE_ACCENT, plot->names[row]);
    }
    text_add(out, "\n");
}

static void add_x_axis(struct text *out, const struct plot *plot, const char *unit)
{
    struct text ticks = {0};
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
    text_release(&ticks);
}

void plot_text(struct text *out, const struct plot *plot, const char *x_unit, const char *y_unit,
               const struct report_options *options)
{
    for (int row = 0; row < PLOT_HEIGHT; row++)
        add_row(out, plot, row, y_unit, options);
    add_x_axis(out, plot, x_unit);
}
