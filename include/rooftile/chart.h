/* SPDX-License-Identifier: MIT
 *
 * Charts: a description of the content. src/report/chart_svg.c chooses sizes, colours and the positions of labels; code
 * that fills a chart does not depend on them.
 *
 * Values are in base units; an axis has a unit of table columns (table.h). On an axis of names the value k stands for
 * names[k], the first at the top or at the left.
 */
#ifndef ROOFTILE_CHART_H
#define ROOFTILE_CHART_H

#include "rooftile/base.h"

enum chart_scale { CHART_LOG, CHART_LINEAR, CHART_NAMES };

enum chart_kind {
    CHART_MARKS,
    CHART_CURVE,    /* joined marks */
    CHART_LINE,     /* a ceiling: no marks, its name beside it */
    CHART_DASHED,   /* the same for a value that was not measured */
    CHART_BOUNDARY, /* thin; its name at its end */
    CHART_BAND,     /* between `low` and `high` */
    CHART_BAR,      /* from `low` to `high` */
    CHART_CELL,     /* of a heat map: both axes have names; `share` sets the colour */
    CHART_KINDS
};

/* Looks: 0 to CHART_SERIES - 1 have distinguishable colours, and each its own shape of mark; then: */
enum { CHART_SERIES = 8, LOOK_PALE = CHART_SERIES, LOOK_HOLLOW, LOOK_COUNT };

struct chart_point {
    double x, y;
    double low, high;    /* along the axis without names; along y if neither has names */
    double share;        /* cells: 0..1 of the best cell */
    double cost;         /* share of the total time; 0: unknown */
    const char *name;    /* name of its case; NULL: that of the series */
    const char *words;   /* written beside or in it; NULL: none */
    const char *said;    /* tooltip of one or more lines; NULL: none */
    const char *id;      /* of the case that it links to; NULL: none */
    const char *ceiling; /* for a line: what it limits; for a case: the ceiling above it; NULL: none */
};

struct chart_series {
    enum chart_kind kind;
    const char *name; /* "": not listed in the legend */
    size_t look;
    struct chart_point *points;
    size_t count;
};

struct chart_axis {
    const char *title; /* "arithmetic intensity in FLOP/B" */
    const char *unit;
    enum chart_scale scale;
    double low, high; /* chart_fit sets them */
    const char *const *names;
    size_t name_count;
};

struct chart {
    struct arena *arena;
    const char *name; /* a word, unique in the document: "roofline" */
    const char *title;
    const char *desc; /* its content and the meaning of lines and colours, in a sentence or two */
    bool flat;        /* half as high as others */
    struct chart_axis x, y;
    struct chart_series *series; /* drawn in this order */
    size_t count;
};

/* `title` and `desc` must live as long as the chart. */
struct chart *chart_new(struct arena *arena, const char *name, const char *title, const char *desc);
/* Adds a series, valid until the next one is added. */
struct chart_series *chart_add(struct chart *chart, enum chart_kind kind, const char *name, size_t look);
/* Adds a point with all other members unknown, valid until the next one is added. */
struct chart_point *chart_point(struct chart *chart, struct chart_series *series, double x, double y);
/* Adds a line between two points. */
void chart_line(struct chart *chart, enum chart_kind kind, const char *name, const double xy[static 4]);
/* Extends the axis over all marks, bars and intervals and a little more, but to at least `least` from end to end (a
 * factor on a logarithmic axis). */
void chart_fit(struct chart *chart, bool y, double least);
struct table;
/* The data of a chart as a table, with a row per point, for people who cannot see the chart. */
struct table *chart_table(const struct chart *chart);

#endif
