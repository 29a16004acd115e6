/* SPDX-License-Identifier: MIT
 *
 * A log-log plot of characters: rooflines under cases. Whatever the data, marks outside the picture are skipped and
 * nothing is written beyond it.
 */
#ifndef ROOFTILE_REPORT_PLOT_H
#define ROOFTILE_REPORT_PLOT_H

#include "report_internal.h"

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

/* A memory ceiling: rate = bandwidth * x, up to `highest`. */
void plot_slope(struct plot *plot, double bandwidth, double highest);
/* An arithmetic ceiling from where the slope of `bandwidth` meets it (0: from the left edge). */
void plot_level(struct plot *plot, double peak, double bandwidth, const char *name);
void plot_point(struct plot *plot, double x, double y, char letter);
/* Last: a name beside a slope, wherever nothing is in its way. */
void plot_slope_name(struct plot *plot, double bandwidth, double highest, const char *name);

void plot_text(struct text *out, const struct plot *plot, const char *x_unit, const char *y_unit,
               const struct report_options *options);

#endif
