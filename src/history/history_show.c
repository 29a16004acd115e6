/* SPDX-License-Identifier: MIT
 *
 * Displays a history: series as lines with a sparkline, one series run by run, and everything as data.
 */

#include "history_internal.h"
#include "rooftile/chart.h"
#include "rooftile/json.h"
#include "rooftile/summary.h"

enum { SPARK_RUNS = 30, SHOWN_RUNS = 90 };

/* Draws eight heights between the minimum and maximum of the last runs, and a blank for a missing value. */
static const char *spark(const struct history_series *row, size_t runs, struct arena *arena)
{
    static const char *const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    const size_t first = runs > SPARK_RUNS ? runs - SPARK_RUNS : 0;
    double least = INFINITY, most = 0;
    const char *line = "";
    for (size_t k = first; k < runs; k++)
        if (isfinite(row->points[k].value)) {
            least = fmin(least, row->points[k].value);
            most = fmax(most, row->points[k].value);
        }
    for (size_t k = first; k < runs; k++) {
        const double value = row->points[k].value;
        /* A range below 2 % is noise and is not stretched to full height. */
        const double height = (value - least) / fmax(most - least, fmax(0.02 * most, 1e-300)) * 7;
        line = arena_printf(arena, "%s%s", line,
                            isfinite(value)          ? bars[(int)fmin(fmax(height, 0), 7)]
                            : row->points[k].present ? "×"
                                                     : " ");
    }
    return line;
}

static size_t values_of(const struct history_series *row, size_t runs)
{
    return COUNT_WHERE(point, row->points, runs, isfinite(point->value));
}

/* Adds the prediction error of the runs as one more figure. */
static void add_prediction_error(struct document *document, const struct history_window *w)
{
    struct history_series row = {.points =
                                     arena_array(document->arena, w->run_count + 1, sizeof(struct history_point))};
    for (size_t k = 0; k < w->run_count; k++)
        row.points[k] = (struct history_point){.value = w->runs[k].prediction_error};
    const double last = row.points[w->run_count - 1].value;
    char words[UNITS_TEXT];
    if (values_of(&row, w->run_count))
        document_text(document, 0, TONE_PLAIN, "\nmedian error of predictions: %s %s\n",
                      isfinite(last) ? arena_printf(document->arena, "%s in this run", units_percent(words, last))
                                     : "none in this run",
                      spark(&row, w->run_count, document->arena));
}

/* "+4.2 % since 2026-11-25" */
static const char *since(double change, const char *at, struct arena *arena)
{
    return arena_printf(arena, "%s since %.10s", units_change((char[UNITS_TEXT]){0}, change), at);
}

/* What is known about a series: its tone, too. */
static struct cell remark(const struct history_window *w, const struct history_series *row, struct arena *arena)
{
    const struct history_alarm *first = NULL, *better = history_improvement(w, row);
    const double level = history_open_level(row, &first), sign = row->higher_is_better ? -1 : 1;
    const struct history_point *last = row->points ? &row->points[w->run_count - 1] : NULL;
    if (row->retired)
        return cell_text("accepted as gone");
    if (first)
        return cell_toned(
            arena_printf(arena, "open: %s", since(history_in_unit(row, expm1(level)), first->tau_at, arena)), TONE_BAD);
    if (row->finding == FINDING_TENTATIVE || row->finding == FINDING_CONFIRMED)
        return cell_toned(since(row->shift, row->since, arena), row->finding == FINDING_TENTATIVE ? TONE_DOUBT
                                                                : sign * row->shift > 0           ? TONE_BAD
                                                                                                  : TONE_GOOD);
    if (better)
        return cell_toned(since(history_in_unit(row, better->shift), better->tau_at, arena), TONE_GOOD);
    return cell_text(last && last->present && !values_of(row, w->run_count)
                         ? arena_printf(arena, "%s in every run: %s", last->status, last->reason)
                         : "");
}

const char *history_trend(const struct history_window *w, struct arena *arena)
{
    struct history_series all = {.points = arena_array(arena, w->run_count + 1, sizeof(*all.points))};
    double *values = arena_array(arena, w->run_count + 1, sizeof(*values));
    size_t *counts = arena_array(arena, w->run_count + 1, sizeof(*counts));
    FOR_EACH(const struct history_series, row, w->rows, w->row_count) {
        size_t count = 0;
        for (size_t run = 0; run < w->run_count && row->is_kpi; run++)
            if (row->points[run].value > 0)
                values[count++] = row->points[run].value;
        const double usual = median_of(values, count);
        for (size_t run = 0; run < w->run_count && row->is_kpi; run++) {
            const double ratio = row->points[run].value / usual;
            if (!(ratio > 0))
                continue;
            all.points[run].value += row->higher_is_better ? log(ratio) : -log(ratio);
            counts[run]++;
        }
    }
    for (size_t run = 0; run < w->run_count; run++) /* as ratios; NaN: none */
        all.points[run].value = exp(all.points[run].value / (double)counts[run]);
    return values_of(&all, w->run_count) ? spark(&all, w->run_count, arena) : "";
}

size_t history_missing(const struct history_window *w, const char *until)
{
    SCOPED(arena_release) struct arena scratch = {0};
    struct err ignored = {0};
    double *gaps = arena_array(&scratch, w->run_count + 1, sizeof(*gaps));
    size_t missing = 0;
    int64_t now = 0;
    for (size_t run = 1; run < w->run_count; run++)
        gaps[run - 1] = (double)(w->runs[run].started - w->runs[run - 1].started);
    const double usual = w->run_count > 2 ? median_of(gaps, w->run_count - 1) : NAN; /* sorts them */
    if (!history_time(&now, until, &ignored))
        gaps[w->run_count - 1] = (double)(now - w->runs[w->run_count - 1].started);
    for (size_t run = 0; run < w->run_count && usual > 0; run++)
        missing += gaps[run] >= 1.5 * usual ? (size_t)(gaps[run] / usual + 0.5) - 1 : 0;
    return missing;
}

struct table *history_list(const struct history_window *w, const struct history_series *const *series, size_t count,
                           struct arena *arena)
{
    const size_t runs = w->run_count < SPARK_RUNS ? w->run_count : SPARK_RUNS;
    struct table_column *columns = arena_array(arena, 6, sizeof(*columns));
    columns[0].title = "case";
    columns[1].title = "timer";
    columns[2] = (struct table_column){.title = "runs", .unit = UNIT_COUNT, .drop = 1};
    columns[3] = (struct table_column){.title = "this run", .unit = UNIT_NUMBER};
    columns[4] = (struct table_column){.title = arena_printf(arena, "last %zu run%s", runs, text_s(runs)),
                                       .flags = COLUMN_STRIP};
    columns[5] = (struct table_column){.title = "", .flags = COLUMN_PROSE};
    struct table *table = table_new(arena, columns, 6);
    for (size_t k = 0; k < count; k++) {
        const struct history_series *row = series[k];
        const struct cell said = remark(w, row, arena);
        const size_t values = row->points ? values_of(row, w->run_count) : 0;
        if (row->points)
            table_add(table,
                      (struct cell[]){cell_text(row->label), cell_text(row->timer), cell_number((double)values),
                                      cell_quantity(row->points[w->run_count - 1].value, row->shown_unit),
                                      cell_toned(values ? spark(row, w->run_count, arena) : "", said.tone), said});
    }
    return table;
}

/* Returns what is known about a point besides its value. */
static const char *remarks(const struct history_window *w, const struct history_series *row, size_t run,
                           struct arena *arena)
{
    const struct history_point *p = &row->points[run];
    char change[UNITS_TEXT];
    const char *said = !p->present               ? "not measured; "
                       : strcmp(p->status, "ok") ? arena_printf(arena, "%s: %s; ", p->status, p->reason)
                                                 : "";
    if (run && w->runs[run].environment != w->runs[run - 1].environment)
        said = arena_printf(arena, "%senvironment changed; ", said);
    FOR_EACH(const struct history_alarm, alarm, row->alarms, row->alarm_count)
        if (alarm->tau == w->runs[run].started)
            said = arena_printf(arena, "%s%s from here on (%s); ", said,
                                units_change(change, history_in_unit(row, alarm->shift)),
                                alarm->open       ? "open"
                                : alarm->accepted ? "accepted"
                                                  : "closed");
    if (row->changed[run])
        said = arena_printf(arena, "%s%s changed: it starts anew; ", said, identity_words(row->changed[run], arena));
    else if (row->breaks[run])
        said = arena_printf(arena, "%saccepted: a new baseline; ", said);
    return arena_strndup(arena, said, *said ? strlen(said) - strlen("; ") : 0);
}

static void add_runs(struct document *document, const struct history_window *w, const struct history_series *row)
{
    static const struct table_column columns[] = {{.title = "started"},
                                                  {.title = "commit", .drop = 1},
                                                  {.title = "value", .unit = UNIT_NUMBER},
                                                  {.title = "change", .unit = UNIT_CHANGE},
                                                  {.title = "", .flags = COLUMN_PROSE}};
    struct arena *arena = document->arena;
    struct table *table = TABLE(arena, columns);
    double before = NAN;
    const char *id = arena_printf(arena, "%s%s%s", row->case_id, row->timer[0] ? ", timer " : "", row->timer);
    document_text(document, SHOW_TEXT | SHOW_MARKDOWN, TONE_PLAIN, "%s\n%s\n%s\n\n", row->label, id,
                  spark(row, w->run_count, arena));
    document_text(document, SHOW_HTML, TONE_DIM, "%s", id); /* below its picture */
    for (size_t k = 0; k < w->run_count; k++) {
        const double value = row->points[k].value, moved = value / before - 1;
        const struct history_run *run = &w->runs[k];
        table_add(table, (struct cell[]){cell_text(arena_printf(arena, "%.19s", run->started_at)),
                                         cell_known(arena_printf(arena, "%.12s", run->git)),
                                         cell_quantity(value, row->shown_unit),
                                         isfinite(moved) ? cell_number(moved) : cell_absent(),
                                         cell_text(remarks(w, row, k, arena))});
        before = isfinite(value) ? value : before;
    }
    document_table(document, NULL, NULL, table);
}

/* ---- charts: values, the band of like runs, and marks where a level or the environment changed ---- */

enum { MOST_CHARTS = 12, LEAST_BAND = 4 };

/* Adds a band for each stretch of runs with one level and one environment. */
static void add_bands(struct chart *chart, const struct history_window *w, const struct history_series *row)
{
    double *logs = arena_array(chart->arena, w->run_count + 1, sizeof(*logs));
    size_t count = 0;
    for (size_t run = 0, from = 0; run <= w->run_count; run++) {
        const bool ends = run == w->run_count ||
                          (run && (row->breaks[run] || w->runs[run].environment != w->runs[run - 1].environment)) ||
                          COUNT_WHERE(alarm, row->alarms, row->alarm_count, alarm->tau == w->runs[run].started);
        if (ends && count >= LEAST_BAND) {
            const double level = median_of(logs, count), reach = fmax(3 * robust_sd(logs, count), 0.002);
            struct chart_series *band = chart_add(chart, CHART_BAND, "", 0);
            for (int end = 0; end < 2; end++) {
                struct chart_point *point =
                    chart_point(chart, band, end ? (double)run - 0.5 : (double)from - 0.5, exp(level));
                point->low = exp(level - reach);
                point->high = exp(level + reach);
            }
        }
        from = ends ? run : from;
        count = ends ? 0 : count;
        if (run < w->run_count && row->points[run].value > 0)
            logs[count++] = log(row->points[run].value);
    }
}

static void add_lines(struct chart *chart, const struct history_window *w, const struct history_series *row)
{
    for (size_t run = 1; run < w->run_count; run++) {
        char words[UNITS_TEXT];
        const char *name = w->runs[run].environment != w->runs[run - 1].environment ? "environment" : NULL;
        if (row->breaks[run])
            name = row->changed[run] ? identity_words(row->changed[run], chart->arena) : "accepted";
        for (size_t k = 0; k < row->alarm_count; k++)
            if (row->alarms[k].tau == w->runs[run].started)
                name = arena_strdup(chart->arena, units_change(words, history_in_unit(row, row->alarms[k].shift)));
        if (name)
            chart_line(chart, CHART_BOUNDARY, name,
                       (double[]){(double)run - 0.5, chart->y.low, (double)run - 0.5, chart->y.high});
    }
}

bool history_chart(struct document *document, const struct history_window *w, const struct history_series *row,
                   const char *key, const char *title, const char *text)
{
    struct arena *arena = document->arena;
    if (!row->points || values_of(row, w->run_count) < 2)
        return false;
    const char **dates = arena_array(arena, w->run_count, sizeof(*dates));
    struct chart *chart = chart_new(
        arena, key, row->label,
        arena_printf(
            arena,
            "%s over %zu runs. Bands are 3 robust standard deviations around the median of runs of one level; dotted "
            "lines are where the level, the case or the environment changed.",
            row->is_kpi ? "Key figure" : "Time", w->run_count));
    struct chart_series *curve = chart_add(chart, CHART_CURVE, "", 0);
    for (size_t k = 0; k < w->run_count; k++) {
        const double value = row->points[k].value;
        char words[UNITS_TEXT];
        struct chart_point *point = chart_point(chart, curve, (double)k, value > 0 ? value : NAN);
        dates[k] = arena_printf(arena, "%.10s", w->runs[k].started_at);
        point->name = arena_printf(arena, "%.16s", w->runs[k].started_at);
        point->said = arena_printf(arena, "%.19s, commit %.12s\n%s", w->runs[k].started_at, w->runs[k].git,
                                   units_quantity(words, value, row->shown_unit));
    }
    chart->flat = true;
    chart->x = (struct chart_axis){.title = "", .scale = CHART_NAMES, .names = dates, .name_count = w->run_count};
    chart->y = (struct chart_axis){.title = "", .unit = row->shown_unit, .scale = CHART_LINEAR};
    chart_fit(chart, true, 0);
    const double middle = (chart->y.low + chart->y.high) / 2; /* noise of one percent is not stretched to full height */
    chart_fit(chart, true, 0.06 * middle);
    add_bands(chart, w, row);
    add_lines(chart, w, row);
    document_add(document, (struct section){.show = SHOW_HTML,
                                            .level = 1,
                                            .key = key,
                                            .title = title,
                                            .text = text,
                                            .chart = chart,
                                            .table = chart_table(chart)});
    return true;
}

/* Series that moved come first: open alarms, then improvements. */
static int rank_of(const struct history_window *w, const struct history_series *row)
{
    const struct history_alarm *first = NULL;
    history_open_level(row, &first);
    return first ? 0 : history_improvement(w, row) ? 1 : 2;
}

enum status history_show(struct document *document, struct history *history, const char *channel, const char *device,
                         const char *const *globs, size_t glob_count, struct err *err)
{
    struct history_window w;
    struct arena *arena = document->arena;
    size_t count = 0, charts = 0;
    database_begin(history, false, err);
    history_load(&w, history, channel, device, SHOWN_RUNS, arena);
    if (database_end(history))
        return err->status;
    document->title = arena_printf(arena, "%s, %s", w.device, w.channel);
    const struct history_series **rows = arena_array(arena, w.row_count + 1, sizeof(*rows));
    for (int rank = 0; rank < 3; rank++)
        FOR_EACH(const struct history_series, row, w.rows, w.row_count)
            if (!row->is_class && rank_of(&w, row) == rank &&
                text_filtered(globs, glob_count, row->case_id, row->label))
                rows[count++] = row;
    if (!count)
        return err_set(err, ERR_CONFIG, "no series matches; 'rooftile history show' lists them");
    document_text(document, 0, TONE_PLAIN, "%s, channel %s: %zu run%s, %.10s to %.10s\n\n", w.device, w.channel,
                  w.run_count, text_s(w.run_count), w.runs[0].started_at, w.runs[w.run_count - 1].started_at);
    if (count > 1) {
        document_table(document, NULL, NULL, history_list(&w, rows, count, arena));
        add_prediction_error(document, &w);
    }
    FOR_EACH(const struct history_series, row, w.rows, w.row_count)
        if (row->is_class && count > 1 && *remark(&w, row, arena).text)
            document_text(document, 0, TONE_BAD, "%s: %s", row->label, remark(&w, row, arena).text);
    for (size_t k = 0; k < count && charts < MOST_CHARTS; k++)
        charts +=
            history_chart(document, &w, rows[k], arena_printf(arena, "series-%zu", charts + 1), rows[k]->label, NULL);
    if (count == 1)
        add_runs(document, &w, rows[0]);
    return STATUS_OK;
}

enum status history_places(const struct history_place **places, size_t *count, struct history *history,
                           struct arena *arena, struct err *err)
{
    struct history_place *list = NULL;
    *count = 0;
    database_begin(history, false, err);
    sqlite3_stmt *rows = database_select(history,
                                         "SELECT DISTINCT n.channel, d.key FROM run n JOIN device d ON d.id = n.device "
                                         "ORDER BY n.channel, d.name, d.key",
                                         "");
    while (database_next(history, rows))
        ARENA_PUSH(arena, list, *count,
                   (struct history_place){database_text(rows, 0, arena), database_text(rows, 1, arena)});
    *places = list;
    return database_end(history);
}

/* ---- export ---- */

static const char export_sql[] =
    "SELECT started_at, channel, device, arch, kind, case_id, timer, mode, class, value, unit, better, status, flags, "
    "git_commit, run_id FROM measurements ORDER BY time, channel, device, kind, case_id, timer";

static void csv_row(struct text *out, sqlite3_stmt *rows, bool names)
{
    for (int k = 0; k < sqlite3_column_count(rows); k++) {
        text_add(out, k ? "," : "");
        text_add_csv(out, names ? sqlite3_column_name(rows, k) : (const char *)sqlite3_column_text(rows, k));
    }
    text_add(out, "\r\n");
}

static void jsonl_row(struct text *out, sqlite3_stmt *rows)
{
    struct json_out *json = json_out_new();
    for (int k = 0; k < sqlite3_column_count(rows); k++) {
        const char *name = sqlite3_column_name(rows, k);
        const int type = sqlite3_column_type(rows, k);
        if (type == SQLITE_FLOAT || type == SQLITE_INTEGER)
            json_out_number(json, name, sqlite3_column_double(rows, k));
        else
            json_out_string(json, name, (const char *)sqlite3_column_text(rows, k));
    }
    json_out_finish(json, out, false);
    text_add(out, "\n");
}

enum status history_export(struct text *out, struct history *history, const char *format, struct err *err)
{
    const bool csv = !format || !strcmp(format, "csv");
    if (!csv && strcmp(format, "jsonl") != 0)
        return err_set(err, ERR_USAGE, "a history is exported as csv or jsonl, not as '%s'", format);
    database_begin(history, false, err);
    sqlite3_stmt *rows = database_select(history, export_sql, "");
    if (rows && csv)
        csv_row(out, rows, true);
    while (database_next(history, rows))
        if (csv)
            csv_row(out, rows, false);
        else
            jsonl_row(out, rows);
    return database_end(history);
}
