/* SPDX-License-Identifier: MIT
 *
 * A box of cases that differ in numbers alone, and its corners.
 */
#ifndef ROOFTILE_PREDICTOR_BOXES_H
#define ROOFTILE_PREDICTOR_BOXES_H

#include "plan_internal.h"
#include "rooftile/predictor.h"

#define AXES 3u

struct member {
    const struct plan_case *c;
    uint64_t places; /* of its launches in the caches */
    double value;    /* of the parameter that sorts them */
};

/* Cases of one kernel and code, and the parameters whose numbers span them. */
struct box {
    struct member *members;
    size_t count, axes;
    size_t widest, fewest, fewest_values; /* parameters of most and of fewest values */
    bool *straight;                       /* by parameter: its ends say what is between them */
    size_t params[AXES];
    double low[AXES], high[AXES];
};

struct corners {
    const struct plan_case *cases[BETWEEN_CORNERS];
    struct predictor_between between;
};

/* Of a parameter; 0: it is no number. */
double box_number(const struct plan_case *c, size_t param);

/* From 0, the lowest of the axis, to 1. */
double box_place(const struct box *box, const struct plan_case *c, size_t axis);

/* The case at these places of the axes, or the nearest. */
const struct plan_case *box_case(const struct box *box, const double places[AXES], double *distance);

void box_corners(const struct plan_case *corners[BETWEEN_CORNERS], const struct box *box);

/* False: the corners lie in a line. */
bool box_weigh(double weights[BETWEEN_CORNERS], const struct box *box,
               const struct plan_case *const corners[BETWEEN_CORNERS], const struct plan_case *c);

#endif
