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

static size_t values_of(const struct history_row *row, size_t nights)
{
    size_t count = 0;
    for (size_t night = 0; night < nights; night++)
        if (isfinite(row->points[night].value))
            count++;
    return count;
}

static void put_open(struct text *out, const struct history_row *row)
{
    const struct history_alarm *first = NULL;
    const double level = history_open_level(row, &first);
    if (first)
        text_addf(out, "  open: %+.1f %% since %.10s", (row->higher_is_better ? expm1(-level) : expm1(level)) * 100,
                  first->tau_at);
}

static void put_cell(struct text *out, const char *string, size_t width)
{
    const size_t columns = text_columns(string);
    text_add_printable(out, string);
    text_pad(out, width > columns ? width - columns : 0, ' ');
}

static void put_list(struct text *out, const struct history_window *w, const bool *chosen)
{
    const size_t spark = w->night_count < SPARK_NIGHTS ? w->night_count : SPARK_NIGHTS;
    size_t width = 4;
    for (size_t k = 0; k < w->row_count; k++) {
        const size_t columns = text_columns(w->rows[k].label);
        width = chosen[k] && columns > width ? columns : width;
    }
    put_cell(out, "case", width);
    text_addf(out, "  %-8s  %6s  %12s  last %zu night%s\n", "timer", "nights", "tonight", spark, spark == 1 ? "" : "s");
    for (size_t k = 0; k < w->row_count; k++) {
        const struct history_row *row = &w->rows[k];
        char last[UNITS_TEXT];
        if (!chosen[k])
            continue;
        put_cell(out, row->label, width);
        text_addf(out, "  %-8s  %6zu  %12s  ", row->is_kpi ? "kpi" : row->timer, values_of(row, w->night_count),
                  units_quantity(last, row->points[w->night_count - 1].value, row->unit));
        put_spark(out, row, w->night_count);
        if (row->retired)
            text_add(out, "  accepted as gone");
        put_open(out, row);
        text_add(out, "\n");
    }
    for (size_t k = 0; k < w->row_count; k++) {
        const struct history_alarm *first = NULL;
        if (!w->rows[k].is_class || history_open_level(&w->rows[k], &first) <= 0)
            continue;
        text_addf(out, "\n%s:", w->rows[k].label);
        put_open(out, &w->rows[k]);
        text_add(out, "\n");
    }
}

/* What is known about this night besides the value. */
static void put_remarks(struct text *out, const struct history_window *w, const struct history_row *row, size_t night)
{
    const struct history_point *p = &row->points[night];
    if (!p->present)
        text_add(out, "  not measured");
    else if (strcmp(p->status, "ok") != 0) {
        text_addf(out, "  %s: ", p->status);
        text_add_printable(out, p->reason);
    }
    if (night && w->nights[night].environment != w->nights[night - 1].environment)
        text_add(out, "  environment changed");
    for (size_t k = 0; k < row->alarm_count; k++)
        if (row->alarms[k].tau == w->nights[night].started)
            text_addf(out, "  %+.1f %% from here on (%s)",
                      (row->higher_is_better ? 1 / (1 + row->alarms[k].shift) - 1 : row->alarms[k].shift) * 100,
                      row->alarms[k].open       ? "open"
                      : row->alarms[k].accepted ? "accepted"
                                                : "closed");
    if (row->breaks[night])
        text_add(out, "  accepted: a new baseline");
}

static void put_nights(struct text *out, const struct history_window *w, const struct history_row *row)
{
    double before = NAN;
    text_add_printable(out, row->label);
    text_add(out, "\n");
    text_add_printable(out, row->case_id);
    text_addf(out, "%s%s\n", row->timer[0] ? ", timer " : "", row->timer);
    put_spark(out, row, w->night_count);
    text_addf(out, "\n\n%-19s  %-12s  %12s  %9s\n", "started", "commit", "value", "change");
    for (size_t k = 0; k < w->night_count; k++) {
        const struct history_point *p = &row->points[k];
        char value[UNITS_TEXT], commit[16], change[16] = "";
        if (isfinite(before) && isfinite(p->value))
            snprintf(change, sizeof(change), "%+.1f %%", (p->value / before - 1) * 100);
        text_addf(out, "%.19s  ", w->nights[k].started_at);
        snprintf(commit, sizeof(commit), "%.12s", w->nights[k].git[0] ? w->nights[k].git : "-");
        put_cell(out, commit, 12);
        text_addf(out, "  %12s", units_quantity(value, p->value, row->unit));
        if (change[0])
            text_addf(out, "  %9s", change);
        put_remarks(out, w, row, k);
        text_add(out, "\n");
        before = isfinite(p->value) ? p->value : before;
    }
}

static void choose(bool *chosen, size_t *count, size_t *only, const struct history_window *w, const char *const *globs,
                   size_t glob_count)
{
    for (size_t k = 0; k < w->row_count; k++) {
        chosen[k] = !w->rows[k].is_class && text_filtered(globs, glob_count, w->rows[k].case_id, w->rows[k].label);
        *only = chosen[k] ? k : *only;
        *count += chosen[k];
    }
}

enum status history_show(struct text *out, struct history *history, const char *lane, const char *device,
                         const char *const *globs, size_t glob_count, struct err *err)
{
    struct arena arena = {0};
    struct history_window w;
    size_t count = 0, only = 0;
    enum status status = database_begin_reading(&history->database, err);
    if (!status)
        status = history_load(&w, history, lane, device, SHOWN_NIGHTS, &arena, err);
    database_rollback(&history->database);
    if (status)
        goto out;
    bool *chosen = arena_array(&arena, w.row_count + 1, sizeof(*chosen));
    choose(chosen, &count, &only, &w, globs, glob_count);
    if (!count) {
        status = err_set(err, ERR_CONFIG, "no series matches; 'rooftile history show' lists them");
        goto out;
    }
    text_addf(out, "%s, lane %s: %zu night%s, %.10s to %.10s\n\n", w.device, w.lane, w.night_count,
              w.night_count == 1 ? "" : "s", w.nights[0].started_at, w.nights[w.night_count - 1].started_at);
    if (count == 1)
        put_nights(out, &w, &w.rows[only]);
    else
        put_list(out, &w, chosen);
out:
    arena_release(&arena);
    return status;
}

/* ---- export ---- */

static const char export_sql[] =
    "SELECT started_at, lane, device, arch, kind, case_id, timer, mode, class, value, unit, better, status, flags, "
    "git_commit, run_id FROM measurements ORDER BY time, lane, device, kind, case_id, timer";

static void csv_row(struct text *out, sqlite3_stmt *statement, bool names)
{
    for (int k = 0; k < sqlite3_column_count(statement); k++) {
        const char *text = names ? sqlite3_column_name(statement, k) : (const char *)sqlite3_column_text(statement, k);
        text_add(out, k ? "," : "");
        text_add_csv(out, text);
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
