/* SPDX-License-Identifier: MIT
 *
 * Finds swept parameters that no forecast depends on.
 */

#include "rooftile/forecast.h"
#include "rooftile/hash.h"
#include "rooftile/table.h"

/* A screen lists no more, and pairs are found by hashes of texts. */
enum { MOST_CASES = 5000 };
#define SAME 1e-6

struct point {
    uint64_t others; /* hash of the kernel and all its parameters but one */
    double time_ns;
};

static int by_others(const void *a, const void *b)
{
    const struct point *left = a, *right = b;
    return ORDER(left->others, right->others);
}

/* True if cases differ in this parameter alone, and all of them have the same time. */
static bool is_unmoved(const struct manifest *manifest, size_t param, const struct plan_case *const *cases,
                       const double *times, size_t count, struct arena *arena)
{
    struct point *points = arena_array(arena, count + 1, sizeof(*points));
    SCOPED(text_release) struct text key = {0};
    size_t found = 0, pairs = 0;
    for (size_t k = 0; k < count; k++) {
        if (cases[k]->resolved.manifest != manifest || !(times[k] > 0))
            continue;
        text_clear(&key);
        for (size_t p = 0; p < manifest->param_count; p++)
            if (p != param)
                text_addf(&key, "%s;", param_text(arena, &cases[k]->resolved.values[p]));
        text_addf(&key, "%d", (int)cases[k]->measure.cache);
        points[found++] = (struct point){hash_u64(key.data, key.length), times[k]};
    }
    qsort(points, found, sizeof(*points), by_others);
    for (size_t k = 1; k < found; k++) {
        if (points[k].others != points[k - 1].others)
            continue;
        pairs++;
        if (fabs(points[k].time_ns / points[k - 1].time_ns - 1) > SAME)
            return false;
    }
    return pairs > 0;
}

void forecast_unmoved(struct document *document, const char *name, const struct plan_case *const *cases,
                      const double *times, size_t count)
{
    SCOPED(arena_release) struct arena scratch = {0};
    SCOPED(text_release) struct text found = {0};
    for (size_t k = 0; k < count && count <= MOST_CASES; k++) {
        const struct manifest *manifest = cases[k]->resolved.manifest;
        if (COUNT_WHERE(c, cases, k, (*c)->resolved.manifest == manifest)) /* an earlier case covers it */
            continue;
        for (size_t p = 0; p < manifest->param_count; p++) {
            if (is_unmoved(manifest, p, cases, times, count, &scratch))
                text_addf(&found, "%s%s of %s", found.length ? ", " : "", manifest->params[p].name, manifest->name);
            arena_reset(&scratch);
        }
    }
    if (found.length)
        document_text(document, SHOW_PEOPLE, TONE_DOUBT, "%s: the forecast does not depend on %s", name,
                      arena_strdup(document->arena, found.data));
}
