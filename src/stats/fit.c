/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "rooftile/summary.h"

/* Weighted sums of one straight line time = startup + volume / rate; weights 1 / time^2 make errors relative. */
struct sums {
    double w, x, y, xx, xy;
};

static bool add_points(struct sums *sums, const double *volume, const double *time, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        if (!(time[k] > 0) || !(volume[k] >= 0) || isinf(time[k]) || isinf(volume[k]))
            return false;
        const double w = 1 / (time[k] * time[k]);
        sums->w += w;
        sums->x += w * volume[k];
        sums->y += w * time[k];
        sums->xx += w * volume[k] * volume[k];
        sums->xy += w * volume[k] * time[k];
    }
    return true;
}

static double explained(const double *volume, const double *time, size_t count, double startup, double slope,
                        double mean)
{
    double residual = 0, total = 0;
    for (size_t k = 0; k < count; k++) {
        const double off = (time[k] - startup - slope * volume[k]) / time[k];
        const double spread = (time[k] - mean) / time[k];
        residual += off * off;
        total += spread * spread;
    }
    return total > 0 ? 1 - residual / total : 1;
}

bool startup_fit(struct startup_fit *fit, const double *volume, const double *time, size_t count)
{
    struct sums s = {0};
    if (count < 2 || !add_points(&s, volume, time, count))
        return false;
    const double determinant = s.w * s.xx - s.x * s.x;
    if (!(determinant > 1e-12 * s.w * s.xx))
        return false;
    double slope = (s.w * s.xy - s.x * s.y) / determinant;
    double startup = (s.y - slope * s.x) / s.w;
    /* Noise can push the intercept below zero, which no start-up time is: then the line through the origin. */
    if (startup < 0) {
        startup = 0;
        slope = s.xy / s.xx;
    }
    if (!(slope > 0))
        return false;
    *fit = (struct startup_fit){.startup = startup, .rate = 1 / slope};
    fit->r2 = explained(volume, time, count, startup, slope, s.y / s.w);
    return true;
}

/* Satopaa et al. 2011 (kneedle), without smoothing: the curve's largest rise above its chord in the unit square. */
double knee(const double *x, const double *y, size_t count)
{
    double best = 0.05, at = NAN;
    if (count < 3 || !(x[0] > 0) || !(y[0] > 0) || !(x[count - 1] > x[0]) || !(y[count - 1] > 0))
        return NAN;
    const double width = log(x[count - 1] / x[0]), height = log(y[count - 1] / y[0]);
    if (!(height > 0))
        return NAN;
    for (size_t k = 1; k + 1 < count; k++) {
        const double rise = log(y[k] / y[0]) / height - log(x[k] / x[0]) / width;
        if (rise <= best)
            continue;
        best = rise;
        at = x[k];
    }
    return at;
}
