/* SPDX-License-Identifier: MIT
 *
 * Curves of results: change points, start-up time, and saturation.
 */

#include "rooftile/rng.h"
#include "values.h"

/* ---- change points ---- */

/* Shuffles of the significance test; the smallest p is 1 / (SHUFFLES + 1). */
#define SHUFFLES 999

/* Measured curves repeat to about a percent at best; a smaller estimate only means that few points were compared. */
#define LEAST_NOISE 0.01

/* log 1.1: levels that differ by less than 10 % are merged. */
#define LEAST_STEP 0.0953

struct segment {
    size_t first, end; /* [first, end) */
};

struct curve {
    const double *log_y;
    size_t count;
    double *sum, *squares; /* prefix sums */
    double *scratch;
    double noise; /* relative sd of a point */
};

/* Optimal partitioning (Jackson et al. 2005): best[e] is the least cost of the first e points. Returns the number of
 * segments. */
static size_t partition(struct segment *segments, const struct curve *curve, size_t min_points, size_t *previous)
{
    double *best = curve->scratch;
    const double noise = curve->noise;
    /* Two parameters per segment, its position and its level: 1.5 times the Bayesian information criterion's 2 log
     * n. */
    const double penalty = 3 * noise * noise * log((double)curve->count);
    size_t count = 0;
    best[0] = -penalty;
    for (size_t end = 1; end <= curve->count; end++) {
        best[end] = INFINITY;
        for (size_t first = 0; first + min_points <= end; first++) {
            const double sum = curve->sum[end] - curve->sum[first];
            const double error = curve->squares[end] - curve->squares[first] - sum * sum / (double)(end - first);
            const double total = best[first] + fmax(0, error) + penalty;
            if (total >= best[end])
                continue;
            best[end] = total;
            previous[end] = first;
        }
    }
    for (size_t end = curve->count; end > 0; end = previous[end])
        segments[count++] = (struct segment){previous[end], end};
    for (size_t k = 0; k < count / 2; k++) { /* reversed, as they were found from the end */
        const struct segment swap = segments[k];
        segments[k] = segments[count - 1 - k];
        segments[count - 1 - k] = swap;
    }
    return count;
}

static double level_of(const struct curve *curve, struct segment segment)
{
    const size_t count = segment.end - segment.first;
    memcpy(curve->scratch, curve->log_y + segment.first, count * sizeof(double));
    return median_of(curve->scratch, count);
}

/* The transition at the end of a cache spans a range of sizes, and the partition makes that ramp a separate segment. A
 * segment is a ramp and not a level if it climbs by at least a quarter of the step between its neighbours, and is
 * shorter than twice the least segment. */
static bool is_ramp(const struct curve *curve, const struct segment *segment, size_t min_points)
{
    const size_t count = segment->end - segment->first;
    if (count >= 2 * min_points)
        return false;
    const double before = level_of(curve, segment[-1]), after = level_of(curve, segment[1]);
    const double climb = curve->log_y[segment->end - 1] - curve->log_y[segment->first];
    return count > 1 && climb * (after - before) > 0 && fabs(climb) >= fabs(after - before) / 4;
}

static void take_out(struct segment *segments, size_t *count, size_t k)
{
    memmove(&segments[k], &segments[k + 1], (*count - k - 1) * sizeof(*segments));
    --*count;
}

/* Keeps levels only: removes ramps, and merges neighbours that differ by less than LEAST_STEP or three sigmas. */
static size_t keep_levels(struct segment *segments, size_t count, const struct curve *curve, size_t min_points)
{
    const double near = fmax(LEAST_STEP, 3 * curve->noise);
    bool changed = true;
    while (changed) {
        changed = false;
        for (size_t k = 1; k + 1 < count; k++)
            if (is_ramp(curve, &segments[k], min_points)) {
                take_out(segments, &count, k--);
                changed = true;
            }
        for (size_t k = 0; k + 1 < count; k++)
            if (fabs(level_of(curve, segments[k]) - level_of(curve, segments[k + 1])) < near) {
                segments[k].end = segments[k + 1].end;
                take_out(segments, &count, k + 1);
                changed = true;
            }
    }
    return count;
}

static double mean_difference(const double *values, size_t left, size_t count)
{
    double a = 0, b = 0;
    for (size_t k = 0; k < count; k++)
        *(k < left ? &a : &b) += values[k];
    return fabs(a / (double)left - b / (double)(count - left));
}

/* Permutation test of the difference of means; returns 1 - p. */
static double confidence_of(const struct curve *curve, struct segment a, struct segment b, struct rng *rng)
{
    const size_t left = a.end - a.first, count = left + b.end - b.first;
    double *values = curve->scratch;
    size_t at_least = 0;
    memcpy(values, curve->log_y + a.first, left * sizeof(*values));
    memcpy(values + left, curve->log_y + b.first, (count - left) * sizeof(*values));
    const double observed = mean_difference(values, left, count);
    for (int shuffle = 0; shuffle < SHUFFLES; shuffle++) {
        for (size_t k = count - 1; k > 0; k--) {
            const size_t other = (size_t)rng_below(rng, k + 1);
            const double swap = values[k];
            values[k] = values[other];
            values[other] = swap;
        }
        at_least += mean_difference(values, left, count) >= observed * (1 - 1e-12);
    }
    return 1 - (double)(at_least + 1) / (SHUFFLES + 1);
}

static size_t find(struct change_point *points, size_t max_points, const double *x, const struct curve *curve,
                   size_t min_points, uint64_t seed, struct segment *segments, size_t *previous)
{
    struct rng rng;
    size_t count = partition(segments, curve, min_points, previous), found = 0;
    count = keep_levels(segments, count, curve, min_points);
    /* A minimum-length segment on a ramp took points from the adjacent levels. Returns those that are at the level. */
    const double near = 3 * curve->noise;
    for (size_t k = 0; k + 1 < count; k++) {
        struct segment *a = &segments[k], *b = &segments[k + 1];
        const double before = level_of(curve, *a), after = level_of(curve, *b);
        while (a->end < b->first && fabs(curve->log_y[a->end] - before) < near)
            a->end++;
        while (b->first > a->end && fabs(curve->log_y[b->first - 1] - after) < near)
            b->first--;
    }
    rng_init(&rng, rng_derive(seed, "change_points"));
    for (size_t k = 1; k < count && found < max_points; k++) {
        const struct segment a = segments[k - 1], b = segments[k];
        points[found++] = (struct change_point){
            .index = b.first,
            .x_low = x[a.end - 1],
            .x_high = x[b.first],
            .before = exp(level_of(curve, a)),
            .after = exp(level_of(curve, b)),
            .confidence = confidence_of(curve, a, b, &rng),
        };
    }
    return found;
}

size_t change_points(struct change_point *points, size_t max_points, const double *x, const double *y, size_t count,
                     size_t min_points, uint64_t seed)
{
    SCOPED(arena_release) struct arena arena = {0};
    if (!min_points)
        min_points = 1;
    if (count < 2 * min_points || count < 3)
        return 0;
    double *log_y = arena_array(&arena, count, sizeof(*log_y));
    struct curve curve = {
        .log_y = log_y,
        .count = count,
        .sum = arena_array(&arena, count + 1, sizeof(double)),
        .squares = arena_array(&arena, count + 1, sizeof(double)),
        .scratch = arena_array(&arena, count + 1, sizeof(double)),
    };
    for (size_t k = 0; k < count; k++) {
        log_y[k] = log(y[k]);
        curve.sum[k + 1] = curve.sum[k] + log_y[k];
        curve.squares[k + 1] = curve.squares[k] + log_y[k] * log_y[k];
    }
    curve.noise = fmax(LEAST_NOISE, successive_sd(log_y, count, curve.scratch));
    struct segment *segments = arena_array(&arena, count, sizeof(*segments));
    size_t *previous = arena_array(&arena, count + 1, sizeof(*previous));
    return find(points, max_points, x, &curve, min_points, seed, segments, previous);
}

/* ---- start-up time and knee ---- */

/* Weighted sums for a straight line time = startup + volume / rate; weights 1 / time^2 make errors relative. */
struct sums {
    double w, x, y, xx, xy;
};

bool startup_fit(struct startup_fit *fit, const double *volume, const double *time, size_t count)
{
    struct sums s = {0};
    if (count < 2)
        return false;
    for (size_t k = 0; k < count; k++) {
        if (!(time[k] > 0) || !(volume[k] >= 0) || isinf(time[k]) || isinf(volume[k]))
            return false;
        const double w = 1 / (time[k] * time[k]);
        s.w += w;
        s.x += w * volume[k];
        s.y += w * time[k];
        s.xx += w * volume[k] * volume[k];
        s.xy += w * volume[k] * time[k];
    }
    const double determinant = s.w * s.xx - s.x * s.x;
    if (!(determinant > 1e-12 * s.w * s.xx))
        return false;
    double slope = (s.w * s.xy - s.x * s.y) / determinant;
    double startup = (s.y - slope * s.x) / s.w;
    /* Noise can make the intercept negative, which is no start-up time: fits a line through the origin instead. */
    if (startup < 0) {
        startup = 0;
        slope = s.xy / s.xx;
    }
    if (!(slope > 0))
        return false;
    *fit = (struct startup_fit){.startup = startup, .rate = 1 / slope};
    double residual = 0, total = 0;
    for (size_t k = 0; k < count; k++) {
        const double off = (time[k] - startup - slope * volume[k]) / time[k], spread = (time[k] - s.y / s.w) / time[k];
        residual += off * off;
        total += spread * spread;
    }
    fit->r2 = total > 0 ? 1 - residual / total : 1;
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
