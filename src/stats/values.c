/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "values.h"

static int compare_values(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Up to here insertion beats the library's sort with its calls. */
#define FEW_VALUES 40

static void insert_values(double *values, size_t count)
{
    for (size_t k = 1; k < count; k++) {
        const double value = values[k];
        size_t place = k;
        for (; place && values[place - 1] > value; place--)
            values[place] = values[place - 1];
        values[place] = value;
    }
}

void sort_values(double *values, size_t count)
{
    if (count <= FEW_VALUES)
        insert_values(values, count);
    else
        qsort(values, count, sizeof(*values), compare_values);
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

/* The k-th smallest (Hoare's selection); the values before it are then no larger. */
static double select_value(double *values, size_t count, size_t k)
{
    ptrdiff_t low = 0, high = (ptrdiff_t)count - 1, at = (ptrdiff_t)k;
    while (low < high) {
        const double pivot = values[at];
        ptrdiff_t i = low, j = high;
        while (i <= j) {
            while (values[i] < pivot)
                i++;
            while (values[j] > pivot)
                j--;
            if (i > j)
                break;
            const double held = values[i];
            values[i++] = values[j];
            values[j--] = held;
        }
        if (j < at)
            low = i;
        if (at < i)
            high = j;
    }
    return values[k];
}

double median_unsorted(double *values, size_t count)
{
    if (!count)
        return NAN;
    const double upper = select_value(values, count, count / 2);
    if (count % 2)
        return upper;
    double lower = values[0];
    for (size_t k = 1; k < count / 2; k++)
        lower = values[k] > lower ? values[k] : lower;
    return (lower + upper) / 2;
}

/* Deviations below and above the centre are two lists that already ascend when walked outwards: merge them. */
double mad_sorted(const double *sorted, size_t count, double centre)
{
    size_t above = 0;
    double last = NAN, current = NAN;
    if (!count)
        return NAN;
    while (above < count && sorted[above] < centre)
        above++;
    size_t below = above;
    for (size_t k = 0; k <= count / 2; k++) {
        last = current;
        const double down = below > 0 ? centre - sorted[below - 1] : INFINITY;
        const double up = above < count ? sorted[above] - centre : INFINITY;
        if (down < up)
            below--;
        else
            above++;
        current = down < up ? down : up;
    }
    return count % 2 ? current : (last + current) / 2;
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
    const double n = (double)count;
    if (count < 2)
        return NAN;
    const double median = median_of(values, count);
    return MAD_TO_SD * mad_sorted(values, count, median) * n / (n - 0.8);
}

double successive_sd(const double *values, size_t count, double *scratch)
{
    for (size_t k = 1; k < count; k++)
        scratch[k - 1] = fabs(values[k] - values[k - 1]);
    return count > 1 ? MAD_TO_SD / sqrt(2) * median_of(scratch, count - 1) : NAN;
}
