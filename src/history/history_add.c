/* SPDX-License-Identifier: MIT
 *
 * Adds a result as a run: finds or creates its device, environment and series, and stores a point for every case.
 */
#include <time.h>

#include "history_internal.h"
#include "rooftile/summary.h"

enum { DAY_S = 86400, MINUTE_S = 60, HOUR_S = 3600 };

/* ---- identity of a run ---- */

/* A GPU has its own identity; a CPU has that of its host. */
const char *history_device_key(const struct result *result, struct arena *arena)
{
    const struct device_info *d = &result->device;
    const char *host = d->uuid[0] || d->serial_hash[0] || !result->host_id_hash ? "" : result->host_id_hash;
    const char *key = "";
    struct identity_fact fact;
    for (size_t k = 0; result_fact(&fact, result, k, arena); k++)
        key = fact.own ? arena_printf(arena, "%s%s|", key, fact.value) : key;
    return arena_printf(arena, "%s%s", key, host);
}

/* Returns the other facts that the results depend on, so that a change of them can be named. */
static const char *environment_facts(const struct result *result, struct arena *arena)
{
    const char *lines = "";
    struct identity_fact fact;
    for (size_t k = 0; result_fact(&fact, result, k, arena); k++)
        lines = fact.own ? lines : arena_printf(arena, "%s%s%s=%s", lines, lines[0] ? "\n" : "", fact.name, fact.value);
    return lines;
}

enum status history_time(int64_t *seconds, const char *text, struct err *err)
{
    struct tm tm = {0};
    unsigned hours = 0, minutes = 0;
    char rest = 0;
    const char *zone = text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;
    if (zone && *zone == '.')
        zone += 1 + strspn(zone + 1, "0123456789");
    const bool utc = zone && (!strcmp(zone, "Z") || !strcmp(zone, "z"));
    if (!zone ||
        (!utc && ((*zone != '+' && *zone != '-') || sscanf(zone + 1, "%2u:%2u%c", &hours, &minutes, &rest) != 2)))
        return err_set(err, ERR_CONFIG, "the result does not say when it was started: '%.40s' is no time",
                       text_or_empty(text));
    const int64_t offset = (int64_t)hours * HOUR_S + (int64_t)minutes * MINUTE_S;
    *seconds = (int64_t)timegm(&tm) - (*zone == '-' ? -offset : offset);
    return STATUS_OK;
}

enum status history_check_result(const struct result *result, struct err *err)
{
    if (result->predicted)
        return err_set(err, ERR_CONFIG, "a prediction is no run: nothing was executed");
    if (result_check_measured(result, err))
        return err->status;
    if (result->status && strcmp(result->status, "complete") != 0)
        return err_set(err, ERR_CONFIG, "the run is %s: what it lacks would look as if it were gone", result->status);
    return STATUS_OK;
}

/* ---- may it go in? ---- */

struct adding {
    struct history *history;
    const struct result *result;
    const char *channel;
    int64_t device, run, started;
    struct history_added *added;
    struct arena arena;
};

/* Fails if the run is already there, or if a run at another time prevents adding it. */
static void check_new(struct adding *adding, bool backfill)
{
    struct history *history = adding->history;
    const char *at = adding->result->started_at;
    sqlite3_stmt *rows =
        database_select(history, "SELECT channel, started_at FROM run WHERE run_id = ?", "s", adding->result->run_id);
    if (database_next(history, rows))
        history->status =
            err_set(history->err, ERR_CONFIG, "this run is in the history already: channel '%s', run of %s",
                    (const char *)sqlite3_column_text(rows, 0), (const char *)sqlite3_column_text(rows, 1));
    const int64_t later = database_do(history,
                                      "SELECT started FROM run WHERE channel = ?1 AND device = ?2 AND started >= ?3 "
                                      "ORDER BY started LIMIT 1",
                                      "sii", adding->channel, adding->device, adding->started);
    if (history->status)
        return;
    if (adding->started > (int64_t)time(NULL) + DAY_S)
        history->status = err_set(history->err, ERR_CONFIG,
                                  "the result was started at %s, which is in the future: a clock is wrong", at);
    else if (later == adding->started)
        history->status =
            err_set(history->err, ERR_CONFIG, "another run of this channel was started at the same second, %s", at);
    else if (later != DATABASE_NONE && !backfill)
        history->status =
            err_set(history->err, ERR_CONFIG,
                    "the result was started at %s, before the newest run of this channel: a clock went backwards, or "
                    "the result is old (--backfill puts it where it belongs)",
                    at);
}

/* ---- the run and its points ---- */

static void add_run(struct adding *adding, int64_t environment)
{
    const struct result *r = adding->result;
    double *errors = arena_array(&adding->arena, r->case_count + 1, sizeof(*errors));
    size_t count = 0;
    FOR_EACH(const struct result_case, c, r->cases, r->case_count)
        if (result_case_counts(c) && !result_case_is_twin(c) && isfinite(c->predicted_error))
            errors[count++] = fabs(c->predicted_error);
    adding->run = database_do(
        adding->history,
        "INSERT INTO main.run (device, channel, run_id, started, started_at, finished_at, trials, environment, suite, "
        "git, branch, ci_url, tool, machine, prediction_error) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
        "RETURNING id",
        "ississiissssssd", adding->device, adding->channel, r->run_id, adding->started, r->started_at, r->finished_at,
        (int64_t)result_trials(r), environment, r->config_sha256, r->commit, r->branch, r->ci_url, r->tool_version,
        r->machine.name, median_of(errors, count));
}

/* A series and its values in this run. */
struct point {
    const char *kind, *id, *timer, *class, *label, *kernel, *mode, *unit, *better;
    bool skipped;
    double value, least, cycles, tick, fraction;
    const char *status, *reason;
    int64_t flags, identity;
    const double *trials;
    size_t trial_count;
};

/* A case that has never got a timer keeps its series when it gets its first timer. */
static const char adopt_sql[] =
    "UPDATE OR IGNORE main.series SET timer = ?5 WHERE channel = ?1 AND device = ?2 AND kind = ?3 AND case_id = ?4 AND "
    "timer = ''";

/* Finds or creates the series of this timer; for a case that failed before it had a timer, its latest series. Also
 * updates its names and when it was last present. */
static const char series_sql[] =
    "INSERT INTO main.series (channel, device, kind, case_id, timer, class, label, kernel, mode, unit, better, seen) "
    "VALUES (?1, ?2, ?3, ?4, coalesce((SELECT timer FROM series WHERE channel = ?1 AND device = ?2 AND kind = ?3 AND "
    "case_id = ?4 AND ?5 = '' ORDER BY seen DESC, id DESC LIMIT 1), ?5), ?6, ?7, ?8, ?9, ?10, ?11, ?12) "
    "ON CONFLICT (channel, device, kind, case_id, timer) DO UPDATE SET seen = max(ifnull(seen, 0), excluded.seen), "
    "class = excluded.class, label = excluded.label, mode = excluded.mode, unit = excluded.unit, "
    "better = excluded.better RETURNING id";

static void add_point(struct adding *adding, const struct point *p)
{
    struct history *history = adding->history;
    if (p->timer[0])
        database_do(history, adopt_sql, "sisss", adding->channel, adding->device, p->kind, p->id, p->timer);
    const int64_t series = database_do(history, series_sql, "sisssssssssi", adding->channel, adding->device, p->kind,
                                       p->id, p->timer, p->class, p->label, p->kernel, p->mode, p->unit, p->better,
                                       p->skipped ? (int64_t)0 : adding->started);
    database_do(history,
                "INSERT INTO main.point (series, run, value, least, cycles, tick, fraction, status, flags, identity, "
                "trials, reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                "iidddddsiibs", series, adding->run, p->value, p->least, p->cycles, p->tick, p->fraction, p->status,
                p->flags, p->identity, p->trials, p->trial_count * sizeof(*p->trials), p->reason);
    adding->added->points++;
}

const char *history_status(const struct result_case *c)
{
    const char *finding = result_case_finding(c);
    return result_case_counts(c)  ? "ok"
           : finding[0]           ? finding
           : c->status == CASE_OK ? "not timed"
                                  : case_status_names[c->status];
}

static void add_case(struct adding *adding, const struct result_case *c)
{
    double times[SHIFT_MAX_TRIALS];
    const bool counts = result_case_counts(c);
    const double tick_ns = adding->result->calibration.timer_tick_ns / (c->batch ? c->batch : 1);
    char line[IDENTITY_LINE];
    identity_line(line, &c->identity);
    add_point(adding,
              &(struct point){.kind = "case",
                              .id = arena_strndup(&adding->arena, c->id, result_id_length(c->id)),
                              .timer = c->timer == TIMED_NONE ? "" : timer_names[c->timer],
                              .class = c->class,
                              .label = c->label,
                              .kernel = c->kernel,
                              .mode = cache_mode_names[c->cache],
                              .unit = "ns",
                              .better = "lower",
                              .skipped = c->status == CASE_SKIPPED,
                              .value = counts ? result_case_time(c) : NAN,
                              .least = counts ? c->stats.min : NAN,
                              .cycles = c->cycles,
                              .tick = tick_ns > 0 ? tick_ns : NAN,
                              .fraction = counts ? c->fraction : NAN,
                              .status = history_status(c),
                              .reason = counts ? NULL : c->reason,
                              .flags = c->flags,
                              .identity = database_do(adding->history,
                                                      "INSERT INTO main.identity (parts) VALUES (?) "
                                                      "ON CONFLICT (parts) DO UPDATE SET parts = parts RETURNING id",
                                                      "s", line),
                              .trials = times,
                              .trial_count = counts ? result_trial_times(times, c) : 0});
}

static void add_kpi(struct adding *adding, const struct result_kpi *kpi)
{
    const bool has = kpi->value > 1e-300 && kpi->value < 1e300; /* the gate uses its logarithm and its inverse */
    const char *reason = kpi->reason && kpi->reason[0]
                             ? kpi->reason
                             : arena_printf(&adding->arena, "%g: only positive values have a history", kpi->value);
    add_point(adding, &(struct point){.kind = "kpi",
                                      .id = kpi->name,
                                      .timer = "",
                                      .class = "",
                                      .label = kpi->name,
                                      .kernel = "",
                                      .mode = text_or_empty(kpi->of),
                                      .unit = kpi->unit && kpi->unit[0] ? kpi->unit : "1",
                                      .better = kpi->higher_is_better ? "higher" : "lower",
                                      .value = has ? kpi->value : NAN,
                                      .least = NAN,
                                      .cycles = NAN,
                                      .tick = NAN,
                                      .fraction = NAN,
                                      .identity = DATABASE_NONE,
                                      .status = has ? "ok" : "no value",
                                      .reason = has ? NULL : reason});
}

static void add_all(struct adding *adding, const struct history_add_options *options)
{
    static const char count_sql[] = "SELECT count(*) FROM series";
    struct history *history = adding->history;
    const struct result *result = adding->result;
    const struct device_info *d = &result->device;
    adding->device = database_do(history,
                                 "INSERT INTO main.device (key, backend, name, arch) VALUES (?, ?, ?, ?) "
                                 "ON CONFLICT (key) DO UPDATE SET key = key RETURNING id",
                                 "ssss", history_device_key(result, &adding->arena), d->backend, d->name, d->arch);
    check_new(adding, options->backfill);
    const int64_t before =
        database_do(history,
                    "SELECT environment FROM run WHERE channel = ?1 AND device = ?2 AND started < ?3 ORDER BY started "
                    "DESC LIMIT 1",
                    "sii", adding->channel, adding->device, adding->started);
    const int64_t environment =
        database_do(history,
                    "INSERT INTO main.environment (fingerprint, facts) VALUES (?, ?) "
                    "ON CONFLICT (fingerprint) DO UPDATE SET fingerprint = fingerprint RETURNING id",
                    "ss", result->fingerprint, environment_facts(result, &adding->arena));
    add_run(adding, environment);
    const int64_t series = database_do(history, count_sql, "");
    for (size_t k = 0; k < result->case_count; k++)
        add_case(adding, &result->cases[k]);
    for (size_t k = 0; k < result->kpi_count; k++)
        add_kpi(adding, &result->kpis[k]);
    const int64_t all_series = database_do(history, count_sql, "");
    adding->added->new_series = history->status ? 0 : (size_t)(all_series - series);
    adding->added->run = adding->run;
    adding->added->environment_changed = before != DATABASE_NONE && before != environment;
    if (options->keep)
        adding->added->dropped_runs = history_drop_runs(history, adding->channel, options->keep);
}

enum status history_add(struct history *history, const struct result *result, const struct history_add_options *options,
                        struct history_added *added, struct err *err)
{
    struct history_added made = {0};
    struct adding adding = {.history = history,
                            .result = result,
                            .channel = options->channel ? options->channel : HISTORY_CHANNEL,
                            .added = &made};
    if (history_check_result(result, err))
        return err->status;
    if (!COUNT_WHERE(c, result->cases, result->case_count, result_case_counts(c)))
        return err_set(err, ERR_CONFIG, "no case of this result counts: a run without results is no run");
    if (history_time(&adding.started, result->started_at, err))
        return err->status;
    database_begin(history, true, err);
    add_all(&adding, options);
    if (!database_end(history))
        *added = made;
    arena_release(&adding.arena);
    return history->status;
}
