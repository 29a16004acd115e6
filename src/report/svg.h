/* SPDX-License-Identifier: MIT
 *
 * Charts as SVG: axes with ticks in people's units, lines, bars, marks, and labels that keep clear of each other. What
 * a thing looks like is its class (page/picture.css); text from elsewhere is escaped here.
 *
 * Coordinates are pixels of the view box; svg_x and svg_y turn values of the axes into them.
 */
#ifndef ROOFTILE_SVG_H
#define ROOFTILE_SVG_H

#include <stdbool.h>
#include <stddef.h>

#include "rooftile/text.h"

/* Series beyond it look like the last one: colours and shapes people can still tell apart. */
enum { SVG_SERIES = 8, SVG_MOST_BOXES = 128, SVG_MOST_TICKS = 24 };

enum svg_anchor { SVG_START, SVG_MIDDLE, SVG_END };

struct svg_axis {
    const char *title; /* "arithmetic intensity in FLOP/B" */
    const char *unit;  /* of ticks, as of a table's column (table.h) */
    bool log;
    double low, high;
};

struct svg_box {
    double left, top, right, bottom;
};

struct svg {
    struct text *out;
    double width, height;
    struct svg_box plot; /* where the axes span */
    struct svg_axis x, y;
    struct svg_box taken[SVG_MOST_BOXES]; /* where labels stand */
    size_t taken_count;
};

/* What every picture says of itself, to those who do not see it too. */
struct svg_head {
    const char *id; /* of its own in the page */
    const char *title, *desc;
    const char *class; /* more classes of the element; "" */
    bool alone;        /* a file of its own: with its style */
};

void svg_open(struct svg *svg, struct text *out, double width, double height, const struct svg_head *head);
void svg_close(struct svg *svg);

double svg_x(const struct svg *svg, double value);
double svg_y(const struct svg *svg, double value);
/* Room for a label of that many characters. */
double svg_text_width(const char *words);

/* Ticks of an axis: at most `most` of them. */
size_t svg_ticks(double ticks[static SVG_MOST_TICKS], const struct svg_axis *axis, size_t most);
/* A tick's label: "1 TB/s", "64 KiB"; no digits that say nothing. */
void svg_tick_words(char out[static 32], double value, const char *unit);
/* Grid, ticks and titles of both axes around svg->plot. */
void svg_axes(struct svg *svg);

void svg_line(struct svg *svg, const char *class, double x1, double y1, double x2, double y2);
/* `xy`: count pairs. */
void svg_polyline(struct svg *svg, const char *class, const double *xy, size_t count);
/* `said`: what a pointer over it and screen readers are told; NULL: nothing. */
void svg_rect(struct svg *svg, const char *class, const struct svg_box *box, const char *said);
/* A mark of series `series`: each has its own shape and colour. */
void svg_mark(struct svg *svg, size_t series, double x, double y, const char *said);
void svg_text(struct svg *svg, const char *class, enum svg_anchor anchor, double x, double y, const char *words);
/* The same turned by `degrees`. */
void svg_turned(struct svg *svg, const char *class, double x, double y, double degrees, const char *words);

/* Keeps labels away from a place. */
void svg_take(struct svg *svg, const struct svg_box *box);
/* A label at the first of the places that is free and inside the picture; false: none is. */
struct svg_place {
    double x, y;
    enum svg_anchor anchor;
};
bool svg_label(struct svg *svg, const char *class, const char *words, const struct svg_place *places, size_t count);

/* Marks and names of series below each other, in as many columns as fit. `top`: where it begins; returns its height. */
double svg_legend_height(double width, const char *const *names, size_t count);
void svg_legend(struct svg *svg, double top, const char *const *names, size_t count, bool lines);

#endif
