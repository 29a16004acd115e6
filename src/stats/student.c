/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "rooftile/shift.h"

#define LN_PI 1.1447298858494001741434273513531

/* Convergence of the continued fraction needs some sqrt(freedom) steps; this allows far more than 1e6 degrees. */
#define MOST_STEPS 100000

/* ln(gamma(a + 1/2) / gamma(a)), without the loss of subtracting two large lgamma: the asymptotic series (Tricomi and
 * Erdelyi 1951) is exact to 1e-15 from 20 on, and gamma's recurrence leads there from below. */
static double ln_gamma_half_step(double a)
{
    double below = 0;
    for (; a < 20; a += 1)
        below += log(a / (a + 0.5));
    const double r = 1 / a, r2 = r * r;
    return below + 0.5 * log(a) + r * (-1.0 / 8 + r2 * (1.0 / 192 + r2 * (-1.0 / 640 + r2 * 17.0 / 14336)));
}

static double away_from_zero(double value)
{
    return fabs(value) < 1e-300 ? 1e-300 : value;
}

/* The continued fraction of the incomplete beta function by Lentz's method. */
static double beta_fraction(double a, double b, double x)
{
    double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), value = d;
    for (int m = 1; m <= MOST_STEPS; m++) {
        const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 / away_from_zero(1 + even * d);
        c = away_from_zero(1 + even / c);
        value *= d * c;
        const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / away_from_zero(1 + odd * d);
        c = away_from_zero(1 + odd / c);
        value *= d * c;
        if (fabs(d * c - 1) < 1e-15)
            break;
    }
    return value;
}

/* P(|T| > t) is the incomplete beta function I_x(freedom / 2, 1 / 2) at x = freedom / (freedom + t^2). */
double student_two_sided(double t, double freedom)
{
    const double a = freedom / 2, b = 0.5, square = t * t;
    if (isnan(t) || !(freedom > 0))
        return NAN;
    if (square <= 0)
        return 1;
    if (isinf(square))
        return 0;
    const double x = freedom / (freedom + square), y = square / (freedom + square);
    const double front = exp(ln_gamma_half_step(a) - LN_PI / 2 - a * log1p(square / freedom) + b * log(y));
    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, y) / b;
}

static double density(double t, double freedom)
{
    return exp(ln_gamma_half_step(freedom / 2) - (log(freedom) + LN_PI) / 2 -
               (freedom + 1) / 2 * log1p(t * t / freedom));
}

/* Newton on ln p over ln t: decreasing and concave, nearly straight in the tail, so that it converges from anywhere.
 * The start is the normal distribution's bound p <= exp(-t^2 / 2). */
double student_quantile(double p_two_sided, double freedom)
{
    if (!(p_two_sided > 0 && p_two_sided < 1) || !(freedom > 0))
        return NAN;
    double t = sqrt(-2 * log(p_two_sided));
    for (int step = 0; step < 100; step++) {
        const double p = student_two_sided(t, freedom);
        const double change = log(p / p_two_sided) * p / (2 * density(t, freedom) * t);
        t *= exp(change);
        if (fabs(change) < 1e-14)
            break;
    }
    return t;
}
