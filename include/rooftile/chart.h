/* SPDX-License-Identifier: MIT
 *
 * Charts: a description of what is drawn. src/report/chart_svg.c decides sizes, colours and the positions of labels;
 * the code that fills a chart knows nothing of these.
 *
 * Values are in base units; an axis' unit is one of a table's column (table.h). On an axis of names the value k stands
 * for names[k], the first on top or at the left.
 */
#ifndef ROOFTILE_CHART_H
#define ROOFTILE_CHART_H

#include "rooftile/base.h"

enum chart_scale { CHART_LOG, CHART_LINEAR, CHART_NAMES };

enum chart_kind {
    CHART_MARKS,
    CHART_CURVE,    /* marks, joined */
    CHART_LINE,     /* a ceiling: no marks, its name beside it */
    CHART_DASHED,   /* the same, of something that was not measured */
    CHART_BOUNDARY, /* thin; its name at its end */
    CHART_BAND,     /* between `low` and `high` */
    CHART_INTERVAL, /* a mark, and a line from `low` to `high` */
    CHART_BAR,      /* from `low` to `high` */
    CHART_CELL,     /* of a heat map: both axes have names; coloured by `share` */
    CHART_KINDS
};

/* Colours: 0 to CHART_SERIES - 1 are told apart by people, and each has a mark of its own shape; then: */
enum { CHART_SERIES = 8, LOOK_PALE = CHART_SERIES, LOOK_HOLLOW, LOOK_COUNT };

struct chart_point {
    double x, y;
    double low, high;    /* of the axis that has no names; without names of y */
    double share;        /* cells: 0..1 of the best */
    double cost;         /* how much of all time it takes; 0: not known */
    const char *name;    /* whose it is: a case; NULL: the series' */
    const char *words;   /* shown beside or in it; NULL: none */
    const char *said;    /* shown when the pointer is on it: lines; NULL: nothing */
    const char *id;      /* of the case that it links to; NULL: none */
    const char *ceiling; /* a line's: what it is the ceiling of; a case's: the one above it; NULL: none */
};

struct chart_series {
    enum chart_kind kind;
    const char *name; /* "": not in the legend */
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
    const char *name; /* a word, of its own in the document: "roofline" */
    const char *title;
    const char *desc; /* what it shows and what lines and colours mean, in a sentence or two */
    struct chart_axis x, y;
    struct chart_series *series; /* drawn in this order */
    size_t count;
};

/* `title` and `desc` are kept. */
struct chart *chart_new(struct arena *arena, const char *name, const char *title, const char *desc);
/* Valid until the next one is added. */
struct chart_series *chart_add(struct chart *chart, enum chart_kind kind, const char *name, size_t look);
/* All else of it is unknown. Valid until the next one is added. */
struct chart_point *chart_point(struct chart *chart, struct chart_series *series, double x, double y);
/* A line between two points. */
void chart_line(struct chart *chart, enum chart_kind kind, const char *name, const double xy[static 4]);
/* Makes the axis span all marks, bars and intervals and a little more, but never less than `least` from end to end
 * (a factor on a logarithmic axis). */
void chart_fit(struct chart *chart, bool y, double least);
struct table;
/* The same as a table, a row for each point, for people who cannot see the chart. */
struct table *chart_table(const struct chart *chart);

#endif
