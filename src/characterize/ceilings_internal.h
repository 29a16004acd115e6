/* SPDX-License-Identifier: MIT
 *
 * What the files of ceilings_find share: which cases count, curves of a rate over footprints, and borders on them.
 */
#ifndef ROOFTILE_CEILINGS_INTERNAL_H
#define ROOFTILE_CEILINGS_INTERNAL_H

#include "rooftile/ceilings.h"

/* Measured, verified, and with a time. */
bool ceilings_usable(const struct result_case *result_case);
/* Half-width of the median's interval, relative, at most 1. */
double ceilings_ci(const struct result_case *result_case);

struct curve_point {
    double footprint;
    double value; /* bytes per second, or nanoseconds per step, of the median */
    double best;  /* the same of the fastest twentieth of the samples: neighbours only ever slow some of them down */
    double ci_rel;
    const struct result_case *from;
};

/* Cases of a class ordered by footprint; of one kernel, or of all. One point per footprint (the better one) when
 * `kernel` is given. `points` has room for every case. */
size_t curve_collect(struct curve_point *points, const struct result *result, const char *class, const char *kernel);
/* The kernel of a class that was measured at the most footprints; NULL when there is none. */
const char *curve_widest(const struct result *result, const char *class, struct curve_point *scratch);

enum { CURVE_MAX_BORDERS = MACHINE_MAX_LEVELS - 1 };

/* Borders between levels: falls of a rate, or rises of a latency (`rises`). */
size_t curve_borders(struct change_point borders[static CURVE_MAX_BORDERS], const struct curve_point *points,
                     size_t count, bool rises, uint64_t seed);

/* Levels by bandwidth, levels by latency, and what they say about each other. ERR_CONFIG: nothing to find them from. */
enum status ceilings_levels(struct machine *machine, const struct result *result, uint64_t seed, struct err *err);
/* Peaks of all units. */
void ceilings_units(struct machine *machine, const struct result *result);
/* Everything else. */
void ceilings_figures(struct machine *machine, const struct result *result);

#endif
