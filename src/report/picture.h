/* SPDX-License-Identifier: MIT
 *
 * Pictures of results: each function adds sections with a chart, or nothing if there is nothing to draw.
 */
#ifndef ROOFTILE_PICTURE_H
#define ROOFTILE_PICTURE_H

#include "rooftile/chart.h"
#include "rooftile/result.h"
#include "rooftile/table.h"
#include "svg.h"

enum { CHART_WIDE = 880 };

/* Writes the chart as an element of a page, whose table `rows` lists the drawn cases (NULL: none); or, if `alone`, as a
 * file of its own without the XML declaration. */
void chart_svg(struct text *out, const struct chart *chart, const struct table *rows, bool alone);
/* Adds a section with the chart, its description, and its table (NULL: chart_table). */
struct section *document_chart(struct document *document, const struct chart *chart, const struct table *table);

/* A name, shortened for the first line of a tooltip. */
const char *said_name(const char *name, struct arena *arena);
/* True if the case was measured and is drawn as a mark. */
bool is_mark(const struct result_case *c);
/* Adds a point with the known values of a case: time, rate, share of the ceiling, prediction, clock. The chart owns
 * it. */
struct chart_point *chart_case(struct chart *chart, struct chart_series *series, double x, double y,
                               const struct result_case *c);

/* Cases summed by kernel. Times are multiplied by the weight of their case. */
struct kernel_sum {
    const char *name;
    size_t cases;
    double time_ns;                           /* sort key */
    double bounded_ns, bound_ns;              /* of the cases with a roof: their time, and what it would be there */
    const struct result_case *best, *longest; /* the highest rate, the longest time */
};

struct kernel_sums {
    struct kernel_sum *items;
    size_t count;
    const char *part, *unknown; /* bound_ns, and time without it, in words; NULL: at the roof */
};

double weight_of(const struct result_case *c);
struct kernel_sums kernel_sums_new(struct arena *arena, size_t most);
/* Returns the sum with this name; adds it if there is none. */
struct kernel_sum *kernel_sum_of(struct kernel_sums *sums, const char *name);
/* Sorts the sums, the longest first. */
void kernel_sums_sort(struct kernel_sums *sums);

/* The cases that are points of a roofline, grouped by kernel; `by_unit`: by arithmetic unit if there is one kernel. */
struct roofline {
    const struct result *result;
    bool by_unit;
    const struct result_case **cases;
    size_t count;
    struct kernel_sums kernels;
    double held[MACHINE_MAX_UNITS]; /* by unit: clock held / clock of its vendor peak; NaN: unknown */
};
void roofline_collect(struct roofline *r, const struct result *result, bool by_unit, struct arena *arena);
/* Returns the peak of the unit if the cases use it, else 0: a matrix unit's peak is no limit for a vector kernel. */
double roofline_peak(const struct roofline *r, const struct machine_unit *unit);
/* Lists the best case of each of the first `most` kernels; `letters`: the letter that marks it in a text plot. */
struct table *roofline_table(const struct roofline *r, size_t most, bool letters, struct arena *arena);

void picture_roofline(struct document *document, const struct result *result, const char *suffix);
void picture_kernels(struct document *document, const struct result *result, const char *suffix);
/* Draws the same picture from other sums, which it sorts; draws nothing if no part of them is known. */
void picture_sums(struct document *document, struct kernel_sums *bars, const char *name, const char *title,
                  const char *desc);
void picture_curves(struct document *document, const struct result *result, const char *suffix);
void picture_heat_maps(struct document *document, const struct result *result, const char *suffix);
/* Predicted against measured, occupancy, samples, shares of a trace. */
void picture_others(struct document *document, const struct result *result, const char *suffix);
/* Cases by device; `table`: the data behind the picture. */
void picture_machines(struct document *document, const struct result *const *results, size_t count,
                      const struct table *table);

#endif
