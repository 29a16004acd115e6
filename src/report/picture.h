/* SPDX-License-Identifier: MIT
 *
 * What can be drawn of results: each adds sections with a chart, and nothing where there is nothing to draw.
 */
#ifndef ROOFTILE_PICTURE_H
#define ROOFTILE_PICTURE_H

#include "rooftile/chart.h"
#include "rooftile/compare.h"
#include "rooftile/result.h"
#include "rooftile/table.h"
#include "svg.h"

enum { CHART_WIDE = 880 };

/* As an element of a page, whose table `rows` has the cases that are drawn (NULL: there is none), or `alone`, as a file
 * of its own but for the XML declaration. */
void chart_svg(struct text *out, const struct chart *chart, const struct table *rows, bool alone);
/* Adds a section with the chart, what it says, and its table (NULL: chart_table). */
void document_chart(struct document *document, const struct chart *chart, const struct table *table);

/* A name as what is pointed at begins with it. */
const char *said_name(const char *name, struct arena *arena);
/* A mark is a case that was measured. */
bool is_mark(const struct result_case *c);
/* Adds a point with what is known about a case: time, rate, share of the ceiling, prediction, clock. The chart keeps
 * it. */
struct chart_point *chart_case(struct chart *chart, struct chart_series *series, double x, double y,
                               const struct result_case *c);

/* Cases gathered by kernel. Times count as often as a case is weighted. */
struct kernel_sum {
    const char *name;
    size_t cases;
    double time_ns;              /* by which they are sorted */
    double bounded_ns, bound_ns; /* of its cases with a lower bound: their time, and their lower bounds */
    double measured_ns;          /* where `time_ns` is not the measured one */
    const struct result_case *best;
};

struct kernel_sums {
    struct kernel_sum *items;
    size_t count;
};

double weight_of(const struct result_case *c);
struct kernel_sums kernel_sums_new(struct arena *arena, size_t most);
/* The one of that name, added where there is none. */
struct kernel_sum *kernel_sum_of(struct kernel_sums *sums, const char *name);
/* Sorts, the longest first; returns the time of all. */
double kernel_sums_sort(struct kernel_sums *sums);

/* The cases that are points of a roofline, by their kernels; `by_unit`: by arithmetic unit, where there is one kernel.
 */
struct roofline {
    const struct result *result;
    bool by_unit;
    const struct result_case **cases;
    size_t count;
    struct kernel_sums kernels;
    double held[MACHINE_MAX_UNITS]; /* picture_roofline: the clock held of each unit's vendor peak; NaN */
};
void roofline_collect(struct roofline *r, const struct result *result, bool by_unit, struct arena *arena);
/* The peak of a unit that the cases use, else 0: a matrix unit's peak says nothing about a vector kernel. */
double roofline_peak(const struct roofline *r, const struct machine_unit *unit);
/* The best case of each of the first `most` kernels; `letters`: which stands for it in a plot of characters. */
struct table *roofline_table(const struct roofline *r, size_t most, bool letters, struct arena *arena);

void picture_roofline(struct document *document, const struct result *result, const char *suffix);
void picture_kernels(struct document *document, const struct result *result, const char *suffix);
/* The same of other sums, which it sorts; nothing where no lower bound is known. */
void picture_sums(struct document *document, struct kernel_sums *bars, const char *name, const char *title,
                  const char *desc);
void picture_curves(struct document *document, const struct result *result, const char *suffix);
void picture_heat_maps(struct document *document, const struct result *result, const char *suffix);
/* Predicted against measured, occupancy, samples, shares of a trace. */
void picture_others(struct document *document, const struct result *result, const char *suffix);
/* What changed, with its intervals; one column for each of several devices. */
void picture_changes(struct document *document, const struct comparison *comparison);
/* `table`: what stands behind the picture. */
void picture_machines(struct document *document, const struct result *const *results, size_t count,
                      const struct table *table);

#endif
