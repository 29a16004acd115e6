/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "gate_internal.h"
#include "rooftile/summary.h"
#include "stats_internal.h"

void gate_common_init(struct gate_common *common, const struct gate_set *set, struct arena *arena)
{
    *common = (struct gate_common){
        .set = set,
        .adjusted = arena_array(arena, set->series_count * set->nights + 1, sizeof(double)),
        .measured = arena_array(arena, set->class_count * set->nights + 1, sizeof(double)),
        .used = arena_array(arena, set->class_count + 1, sizeof(double)),
        .series_break = arena_array(arena, set->series_count + 1, sizeof(uint32_t)),
        .windows = arena_array(arena, set->series_count + 1, sizeof(struct gate_window)),
        .residuals = arena_array(arena, set->series_count + 1, sizeof(double)),
    };
}

static size_t place_of(const struct gate_window *window, double value)
{
    size_t place = 0;
    while (place < window->count && window->sorted[place] < value)
        place++;
    return place;
}

static void window_add(struct gate_window *window, double value)
{
    if (window->count == GATE_BASELINE) {
        const size_t oldest = place_of(window, window->recent[0]);
        window->count--;
        memmove(window->recent, window->recent + 1, window->count * sizeof(double));
        memmove(window->sorted + oldest, window->sorted + oldest + 1, (window->count - oldest) * sizeof(double));
    }
    const size_t place = place_of(window, value);
    memmove(window->sorted + place + 1, window->sorted + place, (window->count - place) * sizeof(double));
    window->sorted[place] = value;
    window->recent[window->count++] = value;
}

static void take_breaks(struct gate_common *common)
{
    const struct gate_set *set = common->set;
    const size_t night = common->night;
    const bool all = set->breaks && set->breaks[night];
    if (all) {
        common->class_break = (uint32_t)night;
        memset(common->used, 0, set->class_count * sizeof(*common->used));
    }
    for (size_t k = 0; k < set->series_count; k++) {
        const bool *own = set->series[k].breaks;
        if (!all && !(own && own[night]))
            continue;
        common->series_break[k] = (uint32_t)night;
        common->windows[k].count = 0;
    }
}

/* A night with too few cases has no common mode of its own, but the class's level has not gone back to its first
 * night's: the median of the last three that were measured. */
static double carried(const struct gate_common *common, const double *measured)
{
    double last[3];
    size_t count = 0;
    for (size_t night = common->night; night-- > common->class_break && count < 3;)
        if (!isnan(measured[night]))
            last[count++] = measured[night];
    return count ? median_of(last, count) : 0;
}

static void measure_class(struct gate_common *common, size_t class)
{
    const struct gate_set *set = common->set;
    double *measured = &common->measured[class * set->nights];
    size_t count = 0;
    for (size_t k = 0; k < set->series_count; k++) {
        const struct gate_window *window = &common->windows[k];
        const double ns = set->series[k].night_ns[common->night];
        if (set->series[k].class_index == class && window->count && !isnan(ns))
            common->residuals[count++] = log(ns) - median_sorted(window->sorted, window->count);
    }
    const bool enough = count >= GATE_CLASS_CASES;
    measured[common->night] = enough ? median_of(common->residuals, count) : NAN;
    common->used[class] = enough ? measured[common->night] : carried(common, measured);
}

void gate_common_step(struct gate_common *common)
{
    const struct gate_set *set = common->set;
    take_breaks(common);
    for (size_t index = 0; index < set->class_count; index++)
        measure_class(common, index);
    for (size_t k = 0; k < set->series_count; k++) {
        const double ns = set->series[k].night_ns[common->night];
        double *adjusted = &common->adjusted[k * set->nights + common->night];
        *adjusted = isnan(ns) ? NAN : log(ns) - common->used[set->series[k].class_index];
        if (!isnan(ns))
            window_add(&common->windows[k], *adjusted);
    }
    common->night++;
}
