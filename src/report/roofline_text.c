/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report_internal.h"
#include "rooftile/units.h"

enum { WIDTH = 66, HEIGHT = 17, MARGIN = 13, MAX_KERNELS = 26, X_TICK = 11 };

/* One character cell: what it shows, and how strongly it holds its place (points over labels over roofs). */
struct glyph {
    const char *text;
    char letter[2];
    int strength;
};

struct plot {
    struct glyph cells[HEIGHT][WIDTH];
    double x_low, x_high, y_low, y_high; /* log10 */
};

struct kernels {
    const char *names[MAX_KERNELS];
    const struct result_case *best[MAX_KERNELS];
    size_t points[MAX_KERNELS];
    size_t count;
};

static bool on_roofline(const struct result_case *c)
{
    return c->status == CASE_OK && c->sample_count && c->work.flops > 0 && isfinite(c->floor.intensity) &&
           c->floor.intensity > 0 && isfinite(c->flops_per_s) && c->flops_per_s > 0;
}

/* ---- drawing ---- */

static int column_of(const struct plot *plot, double x)
{
    return (int)lround((log10(x) - plot->x_low) / (plot->x_high - plot->x_low) * (WIDTH - 1));
}

static int row_of(const struct plot *plot, double y)
{
    return HEIGHT - 1 - (int)lround((log10(y) - plot->y_low) / (plot->y_high - plot->y_low) * (HEIGHT - 1));
}

static void put(struct plot *plot, int row, int column, const char *text, int strength)
{
    if (row < 0 || row >= HEIGHT || column < 0 || column >= WIDTH)
        return;
    struct glyph *cell = &plot->cells[row][column];
    if (cell->strength <= strength) {
        cell->strength = strength;
        cell->text = text;
    }
}

static void put_word(struct plot *plot, int row, int column, const char *word)
{
    for (int k = 0; word[k]; k++) {
        if (row < 0 || row >= HEIGHT || column + k < 0 || column + k >= WIDTH)
            continue;
        struct glyph *cell = &plot->cells[row][column + k];
        if (cell->strength > 1)
            continue;
        cell->strength = 2;
        cell->letter[0] = word[k];
        cell->text = cell->letter;
    }
}

static double x_at(const struct plot *plot, int column)
{
    return pow(10, plot->x_low + (plot->x_high - plot->x_low) * column / (WIDTH - 1));
}

static double highest_peak(const struct machine *machine)
{
    double highest = 0;
    for (uint32_t k = 0; k < machine->unit_count; k++)
        highest = fmax(highest, ceiling_value(&machine->units[k].peak));
    return highest;
}

/* One mark per row keeps lines apart that lie close together; the name stands beside the line, each level's in its own row. */
static void draw_level(struct plot *plot, const struct machine_level *level, double highest, int label_row)
{
    const double bandwidth = ceiling_value(&level->bandwidth);
    for (int row = 0; row < HEIGHT && bandwidth > 0; row++) {
        const double y = pow(10, plot->y_high - (plot->y_high - plot->y_low) * row / (HEIGHT - 1));
        if (y > highest)
            continue;
        const int column = column_of(plot, y / bandwidth);
        put(plot, row, column, "/", 1);
        if (row == label_row)
            put_word(plot, row, column + 2, level->name);
    }
}

static void draw_unit(struct plot *plot, const struct machine *machine, const struct machine_unit *unit)
{
    const double peak = ceiling_value(&unit->peak);
    double fastest = 0;
    for (uint32_t k = 0; k < machine->level_count; k++)
        fastest = fmax(fastest, ceiling_value(&machine->levels[k].bandwidth));
    for (int column = 0; column < WIDTH && peak > 0; column++)
        if (fastest * x_at(plot, column) >= peak)
            put(plot, row_of(plot, peak), column, "-", 1);
    if (peak > 0)
        put_word(plot, row_of(plot, peak) - 1, WIDTH - (int)strlen(unit->name), unit->name);
}

/* ---- what is drawn ---- */

static void collect(struct kernels *kernels, const struct result *result)
{
    for (size_t k = 0; k < result->case_count; k++) {
        const struct result_case *c = &result->cases[k];
        size_t at = 0;
        if (!on_roofline(c))
            continue;
        while (at < kernels->count && strcmp(kernels->names[at], c->kernel))
            at++;
        if (at == MAX_KERNELS)
            continue;
        if (at == kernels->count)
            kernels->names[kernels->count++] = c->kernel;
        kernels->points[at]++;
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

static void choose_range(struct plot *plot, const struct result *result)
{
    double x_low = INFINITY, x_high = 0, y_low = INFINITY, y_high = highest_peak(&result->machine);
    for (size_t k = 0; k < result->case_count; k++) {
        const struct result_case *c = &result->cases[k];
        if (!on_roofline(c))
            continue;
        x_low = fmin(x_low, c->floor.intensity);
        x_high = fmax(x_high, c->floor.intensity);
        y_low = fmin(y_low, c->flops_per_s);
        y_high = fmax(y_high, c->flops_per_s);
    }
    const struct machine *machine = &result->machine;
    const double memory = machine->level_count ? ceiling_value(&machine->levels[machine->level_count - 1].bandwidth) : 0;
    if (memory > 0) /* the ridge of the slowest level belongs in the picture */
        x_high = fmax(x_high, y_high / memory);
    x_high = fmin(x_high, x_low * 1e5);
    plot->x_low = log10(x_low) - 0.35;
    plot->x_high = log10(x_high) + 0.35;
    plot->y_low = log10(fmax(y_low, y_high * 1e-6)) - 0.25;
    plot->y_high = log10(y_high) + 0.25;
}

static void draw(struct plot *plot, const struct result *result, const struct kernels *kernels)
{
    const struct machine *machine = &result->machine;
    static const char letters[][2] = {"A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L", "M",
                                      "N", "O", "P", "Q", "R", "S", "T", "U", "V", "W", "X", "Y", "Z"};
    choose_range(plot, result);
    for (uint32_t k = 0; k < machine->level_count; k++)
        draw_level(plot, &machine->levels[k], highest_peak(machine), HEIGHT - 2 - 2 * (int)k);
    for (uint32_t k = 0; k < machine->unit_count; k++)
        if (unit_is_used(result, machine->units[k].name))
            draw_unit(plot, machine, &machine->units[k]);
    for (size_t k = 0; k < result->case_count; k++) {
        const struct result_case *c = &result->cases[k];
        for (size_t n = 0; on_roofline(c) && n < kernels->count; n++)
            if (!strcmp(kernels->names[n], c->kernel)) {
                const double x = fmin(c->floor.intensity, pow(10, plot->x_high));
                put(plot, row_of(plot, c->flops_per_s), column_of(plot, x), letters[n], 3);
            }
    }
}

/* ---- text ---- */

static void add_row(struct text *out, const struct plot *plot, int row, const struct report_options *options)
{
    char label[UNITS_TEXT] = "";
    if (row % 4 == 0)
        units_rate(label, pow(10, plot->y_high - (plot->y_high - plot->y_low) * row / (HEIGHT - 1)), "FLOP/s");
    text_pad(out, MARGIN - 1 - text_columns(label), ' ');
    text_add(out, label);
    text_add(out, row % 4 == 0 ? " +" : " |");
    int last = WIDTH - 1;
    while (last >= 0 && !plot->cells[row][last].text)
        last--;
    for (int column = 0; column <= last; column++) {
        const struct glyph *cell = &plot->cells[row][column];
        const char *text = cell->text ? cell->text : " ";
        if (cell->strength == 3)
            styled(out, options, STYLE_BOLD, text);
        else if (cell->strength == 2)
            styled(out, options, STYLE_CYAN, text);
        else
            text_add(out, text);
    }
    text_add(out, "\n");
}

static void add_x_axis(struct text *out, const struct plot *plot)
{
    struct text ticks = {0};
    text_pad(out, MARGIN, ' ');
    for (int column = 0; column < WIDTH; column++)
        text_add(out, column % X_TICK == 0 ? "+" : "-");
    text_add(out, "\n");
    for (int column = 0; column < WIDTH; column += X_TICK) {
        const size_t at = (size_t)(MARGIN + column - 2);
        text_pad(&ticks, at > ticks.length ? at - ticks.length : 0, ' ');
        const double x = x_at(plot, column);
        text_addf(&ticks, x < 100 ? " %.2g" : " %.0f", x);
    }
    text_addf(out, "%s  FLOP/B\n", ticks.data);
    text_release(&ticks);
}

static void add_legend(struct text *out, const struct kernels *kernels)
{
    for (size_t k = 0; k < kernels->count; k++) {
        char rate[UNITS_TEXT], fraction[FIGURE_TEXT], intensity[FIGURE_TEXT];
        const struct result_case *c = kernels->best[k];
        text_addf(out, "  %c  %-16s best %s at %s FLOP/B", (char)('A' + k), kernels->names[k],
                  units_rate(rate, c->flops_per_s, "FLOP/s"), figure_intensity(intensity, c));
        if (isfinite(c->fraction) && c->fraction > 0)
            text_addf(out, ", %s of %s", figure_fraction(fraction, c), c->floor.bound);
        text_add(out, "\n");
    }
}

static void add_roof(struct text *out, const char *name, const struct ceiling *ceiling, const char *unit, bool *first)
{
    char rate[UNITS_TEXT];
    const double value = ceiling_value(ceiling);
    if (value <= 0)
        return;
    text_addf(out, "%s%s %s", *first ? "" : "  ", name, units_rate(rate, value, unit));
    if (ceiling->raised)
        text_add(out, " (raised in this run)");
    *first = false;
}

static void add_roofs(struct text *out, const struct result *result)
{
    const struct machine *machine = &result->machine;
    bool first = true;
    text_addf(out, "roofs (%s): ", machine->measured ? "measured" : "claimed by data sheets");
    for (uint32_t k = 0; k < machine->level_count; k++)
        add_roof(out, machine->levels[k].name, &machine->levels[k].bandwidth, "B/s", &first);
    for (uint32_t k = 0; k < machine->unit_count; k++)
        if (unit_is_used(result, machine->units[k].name))
            add_roof(out, machine->units[k].name, &machine->units[k].peak, "FLOP/s", &first);
    text_add(out, "\n");
}

void report_roofline_text(struct text *out, const struct result *result, const struct report_options *options)
{
    struct plot plot = {0};
    struct kernels kernels = {0};
    if (!result->machine.level_count) {
        text_add(out, "\nno roof is known for this device; 'rooftile roofline' measures them\n");
        return;
    }
    collect(&kernels, result);
    text_add(out, "\n");
    if (kernels.count) {
        draw(&plot, result, &kernels);
        styled(out, options, STYLE_BOLD, "Roofline");
        text_add(out, " (log-log; / memory levels, - arithmetic units, letters are cases)\n");
        for (int row = 0; row < HEIGHT; row++)
            add_row(out, &plot, row, options);
        add_x_axis(out, &plot);
        add_legend(out, &kernels);
    }
    add_roofs(out, result);
}
