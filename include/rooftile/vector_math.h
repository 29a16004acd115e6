/* SPDX-License-Identifier: MIT
 *
 * Sines, logarithms and exponentials of many values: vectorised, and equal bits on every machine, which libm does not
 * guarantee.
 */
#ifndef ROOFTILE_VECTOR_MATH_H
#define ROOFTILE_VECTOR_MATH_H

#include "rooftile/base.h"

/* x[k] = sin(x[k]), or cos(x[k]) with `ahead` 1, for finite numbers, within 4 units in the last place. From 2^27 * pi/2
 * on, libm computes them. */
void vector_sines(double *x, size_t count, int ahead);

/* x[k] = log(x[k]), for normal numbers above 0, within 2 units in the last place. */
void vector_logs(double *x, size_t count);

/* x[k] = exp(x[k]), from -700 to 700, within 2 units in the last place. */
void vector_exps(double *x, size_t count);

#endif
