/* SPDX-License-Identifier: MIT
 *
 * A fleet's document as the baseline of later ones.
 */

#include "fleet_internal.h"
#include "rooftile/record.h"

struct baseline_metric {
    const char *group, *name, *id;
    double median_ns, spread;
    uint32_t n;
};

struct fleet_baseline {
    const struct baseline_metric *metrics;
    size_t count;
};

#define RECORD_STRUCT struct baseline_metric
static const struct record_field metric_fields[] = {
    FIELD_STRING("group", group, RECORD_REQUIRED),
    FIELD_STRING("name", name, RECORD_REQUIRED),
    FIELD_STRING("id", id, RECORD_REQUIRED),
    FIELD_U32("n", n, RECORD_REQUIRED),
    FIELD_F64("median_ns", median_ns, RECORD_REQUIRED | RECORD_POSITIVE),
    FIELD_F64("spread", spread, RECORD_NAN | RECORD_ZERO),
};
static const struct record metric_record = {RECORD_TABLE(metric_fields)};
#undef RECORD_STRUCT

#define RECORD_STRUCT struct fleet_baseline
static const struct record_field baseline_fields[] = {
    FIELD_LIST("metrics", metrics, count, metric_record, RECORD_REQUIRED),
};
static const struct record baseline_record = {RECORD_TABLE(baseline_fields)};
#undef RECORD_STRUCT

enum status fleet_baseline_read(const struct fleet_baseline **baseline, const char *path, struct arena *arena,
                                struct err *err)
{
    struct fleet_baseline *made = arena_alloc(arena, sizeof(*made));
    const cJSON *root = NULL;
    const char *schema = NULL;
    if (json_read(&root, path, arena, err))
        return err->status;
    if (!cJSON_IsObject(root) || json_get_string(&schema, root, "schema", JSON_OPTIONAL, err) || !schema ||
        strcmp(schema, FLEET_SCHEMA) != 0)
        return err_set(err, ERR_CONFIG, "%s is no fleet's document ('rooftile fleet DIR --json FILE' writes one)",
                       path);
    if (record_get(made, &baseline_record, root, false, arena, err))
        return err->status;
    *baseline = made;
    return STATUS_OK;
}

/* Compares by id: properties that a label omits, such as the size, may differ in the baseline. */
struct outlier_level fleet_baseline_level(const struct fleet_baseline *baseline, const char *group,
                                          const struct fleet_metric *metric)
{
    FOR_EACH(const struct baseline_metric, m, baseline->metrics, baseline->count)
        if (!strcmp(m->group, group) && !strcmp(m->id, metric->id) &&
            text_ends(m->name, FLEET_TOGETHER) == metric->together)
            return (struct outlier_level){log(m->median_ns), m->spread, m->n};
    return (struct outlier_level){.median = NAN, .spread = NAN, .n = 0};
}
