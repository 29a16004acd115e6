/* SPDX-License-Identifier: MIT
 *
 * A fleet's document as what others are set against.
 */

#include "fleet_internal.h"
#include "rooftile/json.h"

struct baseline_metric {
    const char *group, *name, *id;
    double median_ns, spread;
    uint32_t n;
};

struct fleet_baseline {
    const struct baseline_metric *metrics;
    size_t count;
};

static enum status read_metric(struct baseline_metric *out, const cJSON *json, struct err *err)
{
    uint64_t n = 0;
    out->spread = out->median_ns = NAN;
    if (json_get_string(&out->group, json, "group", JSON_REQUIRED, err) ||
        json_get_string(&out->name, json, "name", JSON_REQUIRED, err) ||
        json_get_string(&out->id, json, "id", JSON_REQUIRED, err) || json_get_u64(&n, json, "n", JSON_REQUIRED, err) ||
        json_get_number(&out->median_ns, json, "median_ns", JSON_REQUIRED, err))
        return err->status;
    if (cJSON_IsNumber(json_member(json, "spread")) &&
        json_get_number(&out->spread, json, "spread", JSON_OPTIONAL, err))
        return err->status;
    if (!(out->median_ns > 0) || out->spread < 0 || n > UINT32_MAX)
        return json_fail(json, err, "impossible values: median_ns is above 0, spread and n are not negative");
    out->n = (uint32_t)n;
    return STATUS_OK;
}

enum status fleet_baseline_read(const struct fleet_baseline **baseline, const char *path, struct arena *arena,
                                struct err *err)
{
    const cJSON *root = NULL, *metrics = NULL;
    const char *schema = NULL;
    if (json_read(&root, path, arena, err))
        return err->status;
    if (!cJSON_IsObject(root) || json_get_string(&schema, root, "schema", JSON_OPTIONAL, err) || !schema ||
        strcmp(schema, FLEET_SCHEMA) != 0)
        return err_set(err, ERR_CONFIG, "%s is no fleet's document ('rooftile fleet DIR --json FILE' writes one)",
                       path);
    if (json_get_array(&metrics, root, "metrics", JSON_REQUIRED, err))
        return err->status;
    struct fleet_baseline *made = arena_alloc(arena, sizeof(*made));
    struct baseline_metric *list = arena_array(arena, json_count(metrics) + 1, sizeof(*list));
    for (const cJSON *child = metrics->child; child; child = child->next)
        if (read_metric(&list[made->count++], child, err))
            return err->status;
    made->metrics = list;
    *baseline = made;
    return STATUS_OK;
}

/* By its id: what a label omits, such as the size, may differ in the baseline. */
struct outlier_level fleet_baseline_level(const struct fleet_baseline *baseline, const char *group,
                                          const struct fleet_metric *metric)
{
    const bool together = text_ends(metric->name, FLEET_TOGETHER);
    FOR_EACH(const struct baseline_metric, m, baseline->metrics, baseline->count)
        if (!strcmp(m->group, group) && !strcmp(m->id, metric->id) && text_ends(m->name, FLEET_TOGETHER) == together)
            return (struct outlier_level){log(m->median_ns), m->spread, m->n};
    return (struct outlier_level){.median = NAN, .spread = NAN, .n = 0};
}
