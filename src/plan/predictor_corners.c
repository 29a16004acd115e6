/* SPDX-License-Identifier: MIT
 *
 * Where cases are in a box, which of them are its corners, and how much each corner has to say about a case.
 */

#include "predictor_boxes.h"

double box_number(const struct plan_case *c, size_t param)
{
    const struct param_value *value = &c->resolved.values[param];
    return value->kind == PARAM_NUMBER ? value->number : 0;
}

double box_place(const struct box *box, const struct plan_case *c, size_t axis)
{
    return (box_number(c, box->params[axis]) - box->low[axis]) / (box->high[axis] - box->low[axis]);
}

/* The case at these places of the axes, from 0 to 1, or the nearest. */
const struct plan_case *box_case(const struct box *box, const double places[AXES], double *distance)
{
    const struct plan_case *nearest = NULL;
    for (size_t k = 0; k < box->count; k++) {
        double far = 0;
        for (size_t axis = 0; axis < box->axes; axis++)
            far += fabs(box_place(box, box->members[k].c, axis) - places[axis]);
        if (nearest && far >= *distance)
            continue;
        nearest = box->members[k].c;
        *distance = far;
    }
    return nearest;
}

/* The way from one case to another without what lies along `taken`, which are at right angles. Its squared length. */
static double way_beside(double way[AXES], const struct box *box, const struct plan_case *from,
                         const struct plan_case *to, const double taken[AXES][AXES], size_t count)
{
    double length = 0;
    for (size_t axis = 0; axis < box->axes; axis++)
        way[axis] = box_place(box, to, axis) - box_place(box, from, axis);
    for (size_t k = 0; k < count; k++) {
        double along = 0;
        for (size_t axis = 0; axis < box->axes; axis++)
            along += way[axis] * taken[k][axis];
        for (size_t axis = 0; axis < box->axes; axis++)
            way[axis] -= along * taken[k][axis];
    }
    for (size_t axis = 0; axis < box->axes; axis++)
        length += way[axis] * way[axis];
    return length;
}

/* The case nearest to where all axes are highest, the one farthest from it, the one farthest from the line through
 * both, and so on: whatever the outline of the cases is, few are far outside their corners. */
void box_corners(const struct plan_case *corners[BETWEEN_CORNERS], const struct box *box)
{
    const double highest[AXES] = {1, 1, 1};
    double taken[AXES][AXES] = {{0}}, way[AXES], distance = 0;
    corners[0] = box_case(box, highest, &distance);
    for (size_t corner = 1; corner <= box->axes; corner++) {
        double farthest = -1;
        for (size_t k = 0; k < box->count; k++) {
            const struct plan_case *c = box->members[k].c;
            const double length = way_beside(way, box, corners[0], c, (const double(*)[AXES])taken, corner - 1);
            if (length <= farthest)
                continue;
            farthest = length;
            corners[corner] = c;
            for (size_t axis = 0; axis < box->axes; axis++)
                taken[corner - 1][axis] = way[axis] / (length > 0 ? sqrt(length) : 1);
        }
    }
}

/* Of the corners, at the case: they add up to 1, and so do their places to its place. False: they lie in a line. */
bool box_weigh(double weights[BETWEEN_CORNERS], const struct box *box,
               const struct plan_case *const corners[BETWEEN_CORNERS], const struct plan_case *c)
{
    const size_t count = box->axes + 1;
    double rows[AXES + 1][AXES + 2];
    for (size_t row = 0; row < count; row++)
        for (size_t at = 0; at <= count; at++)
            rows[row][at] = row < box->axes ? box_place(box, at < count ? corners[at] : c, row) : 1;
    for (size_t pivot = 0; pivot < count; pivot++) { /* Gauss and Jordan */
        size_t best = pivot;
        for (size_t row = pivot; row < count; row++)
            best = fabs(rows[row][pivot]) > fabs(rows[best][pivot]) ? row : best;
        if (fabs(rows[best][pivot]) < 1e-6)
            return false;
        for (size_t at = 0; at <= count; at++) {
            const double swapped = rows[best][at];
            rows[best][at] = rows[pivot][at];
            rows[pivot][at] = swapped;
        }
        for (size_t row = 0; row < count; row++)
            for (size_t at = count + 1; row != pivot && at-- > pivot;)
                rows[row][at] -= rows[row][pivot] / rows[pivot][pivot] * rows[pivot][at];
    }
    for (size_t k = 0; k < count; k++)
        weights[k] = rows[k][count] / rows[k][k];
    return true;
}
