/* SPDX-License-Identifier: MIT
 *
 * Looking into a history: series as lines with a sparkline, one series night by night, and everything as data.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "history_internal.h"
#include "rooftile/json_out.h"
#include "rooftile/text.h"
#include "rooftile/units.h"

enum { SPARK_NIGHTS = 30, SHOWN_NIGHTS = 90 };

/* Eight heights between the least and the most of the last nights; a blank where there is no value. */
static void put_spark(struct text *out, const struct history_row *row, size_t nights)
{
    static const char *const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    const size_t first = nights > SPARK_NIGHTS ? nights - SPARK_NIGHTS : 0;
    double least = INFINITY, most = 0;
    for (size_t k = first; k < nights; k++)
        if (isfinite(row->points[k].value)) {
            least = fmin(least, row->points[k].value);
            most = fmax(most, row->points[k].value);
        }
    for (size_t k = first; k < nights; k++) {
        const double value = row->points[k].value;
        /* A range under 2 % is noise: it must not look like mountains. */
        const double range = fmax(most - least, 0.02 * most);
        const double height = (value - least) / range * 7;
        text_add(out, isfinite(value) ? bars[(int)fmin(fmax(height, 0), 7)] : row->points[k].present ? "×" : " ");
    }
}

static const char *last_text(char out[static UNITS_TEXT], const struct history_row *row, double value)
{
    if (!isfinite(value))
        snprintf(out, UNITS_TEXT, "-");
    else if (!strcmp(row->unit, "ns"))
        return units_time(out, value);
    else if (!strcmp(row->unit, "B/s") || !strcmp(row->unit, "FLOP/s") || !strcmp(row->unit, "1/s"))
        return units_rate(out, value, row->unit);
    else
        snprintf(out, UNITS_TEXT, "%.4g %.12s", value, row->unit);
    return out;
}

static void put_list(struct text *out, const struct history_window *w, const bool *chosen)
{
    size_t width = 4;
    for (size_t k = 0; k < w->row_count; k++) {
        const size_t columns = text_columns(w->rows[k].label);
        width = chosen[k] && columns > width ? columns : width;
    }
    for (size_t k = 0; k < w->row_count; k++) {
        const struct history_row *row = &w->rows[k];
        char last[UNITS_TEXT];
        size_t nights = 0;
        if (!chosen[k])
            continue;
        for (size_t night = 0; night < w->night_count; night++)
            nights += isfinite(row->points[night].value);
        text_add(out, row->label);
        text_pad(out, width - text_columns(row->label), ' ');
        text_addf(out, "  %-8s  %4zu  %10s  ", row->is_kpi ? "kpi" : row->timer, nights,
                  last_text(last, row, w->night_count ? row->points[w->night_count - 1].value : NAN));
        put_spark(out, row, w->night_count);
        if (fabs(row->open_level) > 0)
            text_addf(out, "  %+.1f %% since %.10s", expm1(row->open_level) * 100, row->open_since);
        text_add(out, "\n");
    }
}

static void put_nights(struct text *out, const struct history_window *w, const struct history_row *row)
{
    double before = NAN;
    text_addf(out, "%s\n%s, timer %s\n\n", row->label, row->case_id, row->timer[0] ? row->timer : "none");
    for (size_t k = 0; k < w->night_count; k++) {
        const struct history_point *p = &row->points[k];
        char value[UNITS_TEXT];
        text_addf(out, "%.19s  %-12.12s  %10s", w->nights[k].started_at, w->nights[k].git,
                  last_text(value, row, p->value));
        if (isfinite(before) && isfinite(p->value))
            text_addf(out, "  %+6.1f %%", (p->value / before - 1) * 100);
        if (!p->present)
            text_add(out, "  not measured");
        else if (strcmp(p->status, "ok") != 0)
            text_addf(out, "  %s: %.100s", p->status, p->reason);
        if (row->breaks[k])
            text_add(out, "  accepted");
        if (k && w->nights[k].environment != w->nights[k - 1].environment)
            text_add(out, "  environment changed");
        text_add(out, "\n");
        before = isfinite(p->value) ? p->value : before;
    }
}

enum status history_show(struct text *out, struct history *history, const char *lane, const char *device,
                         const char *const *globs, size_t glob_count, bool color, struct err *err)
{
    struct arena arena = {0};
    struct history_window w;
    (void)color;
    enum status status = history_load(&w, history, lane, device, SHOWN_NIGHTS, &arena, err);
    if (status) {
        arena_release(&arena);
        return status;
    }
    bool *chosen = arena_array(&arena, w.row_count + 1, sizeof(*chosen));
    size_t count = 0, only = 0;
    for (size_t k = 0; k < w.row_count; k++) {
        chosen[k] = text_filtered(globs, glob_count, w.rows[k].case_id, w.rows[k].label);
        only = chosen[k] ? k : only;
        count += chosen[k];
    }
    text_addf(out, "%s, lane %s: %zu night%s, %.10s to %.10s\n\n", w.device, w.lane, w.night_count,
              w.night_count == 1 ? "" : "s", w.nights[0].started_at, w.nights[w.night_count - 1].started_at);
    if (count == 1)
        put_nights(out, &w, &w.rows[only]);
    else if (count)
        put_list(out, &w, chosen);
    else
        status = err_set(err, ERR_CONFIG, "no series matches");
    arena_release(&arena);
    return status;
}

/* ---- export ---- */

static const char export_sql[] =
    "SELECT started_at, lane, device, arch, kind, case_id, timer, mode, class, value, unit, better, status, flags, "
    "git_commit, run_id FROM measurements ORDER BY time, lane, device, kind, case_id, timer";

static void csv_cell(struct text *out, const char *value, bool first)
{
    text_add(out, first ? "" : ",");
    if (!value[strcspn(value, ",\"\r\n")]) {
        text_add(out, value);
        return;
    }
    text_add(out, "\"");
    for (const char *c = value; *c; c++)
        text_addf(out, *c == '"' ? "\"\"" : "%c", *c);
    text_add(out, "\"");
}

static void csv_row(struct text *out, sqlite3_stmt *statement, bool names)
{
    for (int k = 0; k < sqlite3_column_count(statement); k++) {
        const char *text = names ? sqlite3_column_name(statement, k) : (const char *)sqlite3_column_text(statement, k);
        csv_cell(out, text ? text : "", !k);
    }
    text_add(out, "\r\n");
}

static void jsonl_row(struct text *out, sqlite3_stmt *statement)
{
    struct json_out *json = json_out_new();
    for (int k = 0; k < sqlite3_column_count(statement); k++) {
        const char *name = sqlite3_column_name(statement, k);
        const int type = sqlite3_column_type(statement, k);
        if (type == SQLITE_FLOAT || type == SQLITE_INTEGER)
            json_out_number(json, name, sqlite3_column_double(statement, k));
        else
            json_out_string(json, name, (const char *)sqlite3_column_text(statement, k));
    }
    json_out_finish(json, out, false);
    text_add(out, "\n");
    json_out_free(json);
}

enum status history_export(struct text *out, struct history *history, const char *format, struct err *err)
{
    sqlite3_stmt *statement = NULL;
    const bool csv = !format || !strcmp(format, "csv");
    bool row = true;
    if (!csv && strcmp(format, "jsonl") != 0)
        return err_set(err, ERR_USAGE, "a history is exported as csv or jsonl, not as '%s'", format);
    enum status status = database_prepare(&statement, &history->database, export_sql, err);
    if (!status && csv)
        csv_row(out, statement, true);
    while (!status && row) {
        status = database_step(&history->database, statement, &row, err);
        if (status || !row)
            break;
        if (csv)
            csv_row(out, statement, false);
        else
            jsonl_row(out, statement);
    }
    sqlite3_finalize(statement);
    return status;
}
