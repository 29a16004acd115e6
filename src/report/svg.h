/* SPDX-License-Identifier: MIT
 *
 * Charts as SVG: axes with ticks in readable units, lines, bars, marks, and labels that do not overlap. Looks are set
 * by classes (page/picture.css); text from elsewhere is escaped here.
 *
 * Coordinates are pixels of the view box; svg_x and svg_y turn values of the axes into them.
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
    struct svg_box plot; /* where the axes span */
    struct chart_axis x, y;
    bool upright;                         /* names of x are above the plot and turned upright */
    struct svg_box taken[SVG_MOST_BOXES]; /* where labels stand */
    size_t taken_count;
    double lines[SVG_MOST_LINES][4]; /* that labels along others keep clear of */
    size_t line_count;
};

/* What every picture says about itself, also for people who cannot see it. */
struct svg_head {
    const char *id; /* of its own in the page */
    const char *title, *desc;
    bool alone; /* a file of its own: with its style */
};

/* What a pointer over an element is told. */
struct svg_tip {
    const char *said;    /* lines; NULL: nothing */
    size_t row;          /* the row of the page's table of cases that tells it, from 1 on; 0: none */
    double cost;         /* how much of all time its case takes; 0: unknown */
    const char *ceiling; /* the one above its case; NULL: none */
};

/* Of a zeroed struct, in which the plot and the axes may be set. */
void svg_open(struct svg *svg, struct text *out, double width, double height, const struct svg_head *head);
void svg_close(struct svg *svg);

double svg_x(const struct svg *svg, double value);
double svg_y(const struct svg *svg, double value);
/* Room for a label of that many characters. */
double svg_text_width(const char *words);

/* Ticks of an axis: at most `most` of them. */
size_t svg_ticks(double ticks[static SVG_MOST_TICKS], const struct chart_axis *axis, size_t most);
/* A tick's label: "1 TB/s", "64 KiB"; no digits that say nothing. */
void svg_tick_words(char out[static 32], double value, const char *unit);
/* Grid, ticks and titles of both axes around svg->plot. */
void svg_axes(struct svg *svg);

void svg_line(struct svg *svg, const char *class, const double xy[static 4], const struct svg_tip *tip);
/* `xy`: count pairs. */
void svg_polyline(struct svg *svg, const char *class, const double *xy, size_t count);
/* `tip`: NULL: none. */
void svg_rect(struct svg *svg, const char *class, const struct svg_box *box, const struct svg_tip *tip);
void svg_group_end(struct svg *svg);
/* One path of many parts, which are short where there are thousands. */
void svg_parts(struct svg *svg, const char *class, size_t look);
void svg_part_mark(struct svg *svg, size_t look, double x, double y);
void svg_parts_end(struct svg *svg, const struct svg_tip *tip);
/* Marks of one look, which has its own shape and colour, and of which each tells what it is: svg_mark between svg_marks
 * and svg_group_end. */
void svg_marks(struct svg *svg, size_t look);
void svg_mark(struct svg *svg, size_t look, double x, double y, const struct svg_tip *tip);
void svg_text(struct svg *svg, const char *class, enum svg_anchor anchor, double x, double y, const char *words);

/* Keeps labels away from a place, and from a line. */
void svg_take(struct svg *svg, const struct svg_box *box);
void svg_take_line(struct svg *svg, const double xy[static 4]);
/* A label at the first of the places that is free and inside the picture; false: none is. */
struct svg_place {
    double x, y;
    enum svg_anchor anchor;
};
bool svg_label(struct svg *svg, const char *class, const char *words, const struct svg_place *places, size_t count);

/* A label along a line, above or below it: near its end where it is level, else near its begin; false: there is no
 * room. */
bool svg_label_along(struct svg *svg, const char *class, const char *words, const double xy[static 4]);

#endif
