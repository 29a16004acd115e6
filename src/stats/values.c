/* SPDX-License-Identifier: MIT */

#include "values.h"

static int compare_values(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return ORDER(x, y);
}

/* Up to here insertion sort is faster than qsort with its callbacks. */
#define FEW_VALUES 40

void sort_values(double *values, size_t count)
{
    if (count > FEW_VALUES) {
        qsort(values, count, sizeof(*values), compare_values);
        return;
    }
    for (size_t k = 1; k < count; k++) {
        const double value = values[k];
        size_t place = k;
        for (; place && values[place - 1] > value; place--)
            values[place] = values[place - 1];
        values[place] = value;
    }
}

double median_sorted(const double *sorted, size_t count)
{
    if (!count)
        return NAN;
    return count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

double median_of(double *values, size_t count)
{
    sort_values(values, count);
    return median_sorted(values, count);
}

void median_interval(double interval[2], const double *sorted, size_t count)
{
    if (count < 6) {
        interval[0] = count ? sorted[0] : NAN;
        interval[1] = count ? sorted[count - 1] : NAN;
        return;
    }
    const double half = (double)count / 2, width = 0.98 * sqrt((double)count);
    const double low = fmax(1, floor(half - width));
    const double high = fmin((double)count, ceil(half + 1 + width));
    interval[0] = sorted[(size_t)low - 1];
    interval[1] = sorted[(size_t)high - 1];
}

double quantile_sorted(const double *sorted, size_t count, double share)
{
    if (!count)
        return NAN;
    const double at = share * (double)(count - 1);
    const size_t below = (size_t)at;
    if (below + 1 >= count)
        return sorted[count - 1];
    return sorted[below] + (at - (double)below) * (sorted[below + 1] - sorted[below]);
}

void insert_sorted(double *sorted, size_t count, double value)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (sorted[middle] <= value)
            low = middle + 1;
        else
            high = middle;
    }
    memmove(sorted + low + 1, sorted + low, (count - low) * sizeof(*sorted));
    sorted[low] = value;
}

struct moments moments_of(const double *values, size_t count)
{
    struct moments m = {.mean = NAN};
    double sum = 0;
    for (size_t k = 0; k < count; k++)
        sum += values[k];
    if (count)
        m.mean = sum / (double)count;
    for (size_t k = 0; k < count; k++) {
        const double deviation = values[k] - m.mean;
        m.squares += deviation * deviation;
        if (k + 1 < count)
            m.products += deviation * (values[k + 1] - m.mean);
    }
    return m;
}

double sd_of(const double *values, size_t count)
{
    return count > 1 ? sqrt(moments_of(values, count).squares / (double)(count - 1)) : NAN;
}

double robust_sd(double *values, size_t count)
{
    const double n = (double)count, median = median_of(values, count);
    if (count < 2)
        return NAN;
    for (size_t k = 0; k < count; k++)
        values[k] = fabs(values[k] - median);
    return MAD_TO_SD * median_of(values, count) * n / (n - 0.8);
}

double successive_sd(const double *values, size_t count, double *scratch)
{
    for (size_t k = 1; k < count; k++)
        scratch[k - 1] = fabs(values[k] - values[k - 1]);
    return count > 1 ? MAD_TO_SD / sqrt(2) * median_of(scratch, count - 1) : NAN;
}

bool is_sigma(double sigma)
{
    return isnan(sigma) || (sigma >= 0 && isfinite(sigma));
}

/* ---- significance ---- */

#define LN_PI 1.1447298858494001741434273513531

/* The continued fraction converges in about sqrt(freedom) steps; this is enough for far more than 1e6 degrees. */
#define MOST_STEPS 100000

/* ln(gamma(a + 1/2) / gamma(a)), without the cancellation of two large lgamma: the asymptotic series (Tricomi and
 * Erdelyi 1951) is exact to 1e-15 from 20 on; smaller values reach it by gamma's recurrence. */
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

/* Newton's method on ln p over ln t, which is decreasing, concave, and nearly straight in the tail, so it converges
 * from any start. The start is the normal distribution's bound p <= exp(-t^2 / 2). */
double student_quantile(double p_two_sided, double freedom)
{
    if (!(p_two_sided > 0 && p_two_sided < 1) || !(freedom > 0))
        return NAN;
    double t = sqrt(-2 * log(p_two_sided));
    for (int step = 0; step < 100; step++) {
        const double p = student_two_sided(t, freedom);
        const double density = exp(ln_gamma_half_step(freedom / 2) - (log(freedom) + LN_PI) / 2 -
                                   (freedom + 1) / 2 * log1p(t * t / freedom));
        const double change = log(p / p_two_sided) * p / (2 * density * t);
        t *= exp(change);
        if (fabs(change) < 1e-14)
            break;
    }
    return t;
}

/* p values with their positions, ascending by value, then by position. */
struct ranked {
    double p;
    size_t place;
};

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    return ORDER(x->p, y->p) ?: ORDER(x->place, y->place);
}

void q_values(double *values, size_t count)
{
    SCOPED(arena_release) struct arena arena = {0};
    struct ranked *ranked = arena_array(&arena, count + 1, sizeof(*ranked));
    size_t known = 0;
    for (size_t k = 0; k < count; k++)
        if (!isnan(values[k]))
            ranked[known++] = (struct ranked){values[k], k};
    qsort(ranked, known, sizeof(*ranked), compare_ranked);
    double least = 1;
    for (size_t k = known; k-- > 0;) {
        least = fmin(least, ranked[k].p * (double)known / (double)(k + 1));
        values[ranked[k].place] = least;
    }
}
