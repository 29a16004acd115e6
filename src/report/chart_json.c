/* SPDX-License-Identifier: MIT
 *
 * Charts as the data that a page's script draws (page/charts.js): the same fields, without those that are unknown.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "picture.h"
#include "rooftile/json.h"

/* More digits than a screen has pixels. */
static void number(struct json_out *json, const char *key, double value)
{
    char digits[32];
    if (!isfinite(value))
        return;
    snprintf(digits, sizeof(digits), "%.6g", value);
    json_out_number(json, key, strtod(digits, NULL));
}

static void string(struct json_out *json, const char *key, const char *value)
{
    if (value && *value)
        json_out_string(json, key, value);
}

static void axis(struct json_out *json, const char *key, const struct chart_axis *axis)
{
    static const char *const scales[] = {[CHART_LOG] = "log", [CHART_LINEAR] = "linear", [CHART_NAMES] = "names"};
    json_out_object(json, key);
    string(json, "title", axis->title);
    string(json, "unit", axis->unit);
    json_out_string(json, "scale", scales[axis->scale]);
    number(json, "low", axis->low);
    number(json, "high", axis->high);
    json_out_strings(json, "names", axis->names, axis->name_count);
    json_out_end(json);
}

static void point(struct json_out *json, const struct chart_point *point)
{
    json_out_object(json, NULL);
    number(json, "x", point->x);
    number(json, "y", point->y);
    number(json, "low", point->low);
    number(json, "high", point->high);
    number(json, "share", point->share);
    number(json, "cost", point->cost > 0 ? point->cost : NAN);
    string(json, "name", point->name);
    string(json, "words", point->words);
    string(json, "more", point->more);
    string(json, "said", point->said);
    string(json, "id", point->id);
    string(json, "ceiling", point->ceiling);
    string(json, "group", point->group);
    json_out_end(json);
}

void chart_json(struct text *out, const struct chart *chart)
{
    struct json_out *json = json_out_new();
    json_out_string(json, "name", chart->name);
    json_out_string(json, "title", chart->title);
    json_out_string(json, "desc", chart->desc);
    string(json, "group_title", chart->group_title);
    axis(json, "x", &chart->x);
    axis(json, "y", &chart->y);
    json_out_array(json, "series");
    FOR_EACH(const struct chart_series, series, chart->series, chart->count) {
        json_out_object(json, NULL);
        json_out_string(json, "kind", chart_kind_names[series->kind]);
        json_out_string(json, "name", series->name);
        json_out_number(json, "look", (double)series->look);
        json_out_array(json, "points");
        for (size_t p = 0; p < series->count; p++)
            point(json, &series->points[p]);
        json_out_end(json);
        json_out_end(json);
    }
    json_out_end(json);
    json_out_finish(json, out, false);
}
