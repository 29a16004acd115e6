/* SPDX-License-Identifier: MIT
 *
 * Charts as SVG: axes with ticks in readable units, lines, bars, marks, and labels that do not overlap. Classes
 * (page/picture.css) set the style; text from elsewhere is escaped here.
 *
 * Coordinates are pixels of the view box; svg_x and svg_y convert values of the axes.
 */
#ifndef ROOFTILE_SVG_H
#define ROOFTILE_SVG_H

#include <stdbool.h>
#include <stddef.h>

#include "rooftile/chart.h"
#include "rooftile/text.h"

enum { SVG_MOST_BOXES = 2048, SVG_MOST_LINES = 32, SVG_MOST_TICKS = 24 };

enum svg_anchor { SVG_START, SVG_MIDDLE, SVG_END };

struct svg_box {
    double left, top, right, bottom;
};

struct svg {
    struct text *out;
    double width, height;
    struct svg_box plot; /* area of the plot between the axes */
    struct chart_axis x, y;
    bool upright;                         /* names of x are above the plot, rotated upright */
    struct svg_box taken[SVG_MOST_BOXES]; /* areas of labels */
    size_t taken_count;
    double lines[SVG_MOST_LINES][4]; /* lines that labels along other lines must avoid */
    size_t line_count;
};

/* Identity and description of a picture, also for screen readers. */
struct svg_head {
    const char *id; /* unique in the page */
    const char *title, *desc;
    bool alone; /* a file of its own, with its style */
};

/* Tooltip of an element. */
struct svg_tip {
    const char *said;    /* lines of text; NULL: none */
    size_t row;          /* row of its case in the page's table, from 1 on; 0: none */
    double cost;         /* share of the total time that its case takes; 0: unknown */
    const char *ceiling; /* name of the ceiling above its case; NULL: none */
};

/* Expects a zeroed struct, in which the plot and the axes may be set. */
void svg_open(struct svg *svg, struct text *out, double width, double height, const struct svg_head *head);
void svg_close(struct svg *svg);

double svg_x(const struct svg *svg, double value);
double svg_y(const struct svg *svg, double value);
/* The width of a label with these words. */
double svg_text_width(const char *words);

/* Computes the ticks of an axis, at most `most`; returns their number. */
size_t svg_ticks(double ticks[static SVG_MOST_TICKS], const struct chart_axis *axis, size_t most);
/* Writes the label of a tick: "1 TB/s", "64 KiB", without superfluous digits. */
void svg_tick_words(char out[static 32], double value, const char *unit);
/* Draws the grid, ticks and titles of both axes around svg->plot. */
void svg_axes(struct svg *svg);

void svg_line(struct svg *svg, const char *class, const double xy[static 4], const struct svg_tip *tip);
/* `xy`: `count` pairs of coordinates. */
void svg_polyline(struct svg *svg, const char *class, const double *xy, size_t count);
/* `tip` may be NULL: no tooltip. */
void svg_rect(struct svg *svg, const char *class, const struct svg_box *box, const struct svg_tip *tip);
void svg_group_end(struct svg *svg);
/* Marks as one path of many parts, which keeps the file small if there are thousands. */
void svg_parts(struct svg *svg, size_t look);
void svg_part_mark(struct svg *svg, size_t look, double x, double y);
void svg_parts_end(struct svg *svg, const struct svg_tip *tip);
/* Marks of one look (shape and colour), each with a tooltip: call svg_mark between svg_marks and svg_group_end. */
void svg_marks(struct svg *svg, size_t look);
void svg_mark(struct svg *svg, size_t look, double x, double y, const struct svg_tip *tip);
void svg_text(struct svg *svg, const char *class, enum svg_anchor anchor, double x, double y, const char *words);

/* Keep labels away from a box and from a line. */
void svg_take(struct svg *svg, const struct svg_box *box);
void svg_take_line(struct svg *svg, const double xy[static 4]);
/* Puts a label at the first place that is free and inside the picture; returns false if there is none. */
struct svg_place {
    double x, y;
    enum svg_anchor anchor;
};
bool svg_label(struct svg *svg, const char *class, const char *words, const struct svg_place *places, size_t count);

/* Puts a label along a line, above or below it: near its end if the line is level, otherwise near its start. Returns
 * false if there is no room. */
bool svg_label_along(struct svg *svg, const char *class, const char *words, const double xy[static 4]);

#endif
