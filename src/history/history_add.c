/* SPDX-License-Identifier: MIT
 *
 * A result becomes a run: its device, environment and series are looked up or made, and every case gets a point.
 */
#include <time.h>

#include "history_internal.h"
#include "rooftile/compare.h"
#include "rooftile/summary.h"

enum { DAY_S = 86400, MINUTE_S = 60, HOUR_S = 3600 };

/* ---- what a run is ---- */

/* A GPU has an identity of its own; a CPU is its host's. */
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

/* What else its results depend on, so that a change can be told in words. */
static const char *environment_facts(const struct result *result, struct arena *arena)
{
    const char *lines = "";
    struct identity_fact fact;
    for (size_t k = 0; result_fact(&fact, result, k, arena); k++)
        lines = fact.own ? lines : arena_printf(arena, "%s%s%s=%s", lines, lines[0] ? "\n" : "", fact.name, fact.value);
    return lines;
}

/* "+02:00" in seconds; "Z" is 0. */
static bool read_zone(int64_t *offset, const char *text)
{
    unsigned hours = 0, minutes = 0;
    char end = 0;
    *offset = 0;
    if (!strcmp(text, "Z") || !strcmp(text, "z"))
        return true;
    if ((text[0] != '+' && text[0] != '-') || sscanf(text + 1, "%2u:%2u%c", &hours, &minutes, &end) != 2)
        return false;
    *offset = (int64_t)hours * HOUR_S + (int64_t)minutes * MINUTE_S;
    *offset = text[0] == '-' ? -*offset : *offset;
    return true;
}

/* RFC 3339, without its fraction of a second. */
static enum status unix_time(int64_t *seconds, const char *text, struct err *err)
{
    struct tm tm = {0};
    int64_t offset = 0;
    const char *end = text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;
    if (end && *end == '.')
        end += 1 + strspn(end + 1, "0123456789");
    if (!end || !read_zone(&offset, end))
        return err_set(err, ERR_CONFIG, "the result does not say when it was started: '%.40s' is no time",
                       text ? text : "");
    *seconds = (int64_t)timegm(&tm) - offset;
    return STATUS_OK;
}

enum status history_check_result(const struct result *result, struct err *err)
{
    if (result->predicted)
        return err_set(err, ERR_CONFIG, "a prediction is no run: nothing was executed");
    for (size_t k = 0; k < result->label_count; k++)
        if (!strcmp(result->labels[k].key, "profile"))
            return err_set(err, ERR_CONFIG, "a run with --profile is no measurement");
    if (result->status && strcmp(result->status, "complete") != 0)
        return err_set(err, ERR_CONFIG, "the run is %s: what it lacks would look as if it were gone", result->status);
    return STATUS_OK;
}

static enum status check_counts(const struct result *result, struct err *err)
{
    for (size_t k = 0; k < result->case_count; k++)
        if (result_case_counts(&result->cases[k]))
            return STATUS_OK;
    return err_set(err, ERR_CONFIG, "no case of this result counts: a run without results is no run");
}

/* ---- look-ups ---- */

struct adding {
    struct database *db;
    const struct result *result;
    const char *channel;
    int64_t device, run, started;
    struct history_added *added;
    struct arena arena;
};

/* The id of what an INSERT makes, or finds: such statements end in "ON CONFLICT ... RETURNING id". */
static enum status device_id(int64_t *id, struct adding *adding, struct err *err)
{
    const struct device_info *d = &adding->result->device;
    bool found = false;
    return database_number(id, &found, adding->db, err,
                           "INSERT INTO main.device (key, backend, name, arch) VALUES (?, ?, ?, ?) "
                           "ON CONFLICT (key) DO UPDATE SET key = key RETURNING id",
                           "ssss", history_device_key(adding->result, &adding->arena), d->backend, d->name, d->arch);
}

static enum status environment_id(int64_t *id, struct adding *adding, struct err *err)
{
    bool found = false;
    return database_number(id, &found, adding->db, err,
                           "INSERT INTO main.environment (fingerprint, facts) VALUES (?, ?) "
                           "ON CONFLICT (fingerprint) DO UPDATE SET fingerprint = fingerprint RETURNING id",
                           "ss", adding->result->fingerprint, environment_facts(adding->result, &adding->arena));
}

static enum status identity_id(int64_t *id, const struct adding *adding, const struct identity *identity,
                               struct err *err)
{
    char line[IDENTITY_LINE];
    bool found = false;
    identity_line(line, identity);
    return database_number(id, &found, adding->db, err,
                           "INSERT INTO main.identity (parts) VALUES (?) "
                           "ON CONFLICT (parts) DO UPDATE SET parts = parts RETURNING id",
                           "s", line);
}

/* ---- may it go in? ---- */

static enum status check_new(struct adding *adding, struct err *err)
{
    sqlite3_stmt *rows = NULL;
    enum status status = database_select(&rows, adding->db, err, "SELECT channel, started_at FROM run WHERE run_id = ?",
                                         "s", adding->result->run_id);
    const char *where = NULL, *when = NULL;
    while (database_next(&status, rows, adding->db, err)) {
        where = arena_strdup(&adding->arena, (const char *)sqlite3_column_text(rows, 0));
        when = arena_strdup(&adding->arena, (const char *)sqlite3_column_text(rows, 1));
    }
    if (!status && where)
        status = err_set(err, ERR_CONFIG, "this run is in the history already: channel '%s', run of %s", where, when);
    return status;
}

static enum status check_time(const struct adding *adding, bool backfill, struct err *err)
{
    int64_t later = 0;
    bool found = false;
    if (adding->started > (int64_t)time(NULL) + DAY_S)
        return err_set(err, ERR_CONFIG, "the result was started at %s, which is in the future: a clock is wrong",
                       adding->result->started_at);
    enum status status = database_number(&later, &found, adding->db, err,
                                         "SELECT started FROM run WHERE channel = ?1 AND device = ?2 AND started >= ?3 "
                                         "ORDER BY started LIMIT 1",
                                         "sii", adding->channel, adding->device, adding->started);
    if (status || !found)
        return status;
    if (later == adding->started)
        return err_set(err, ERR_CONFIG, "another run of this channel was started at the same second, %s",
                       adding->result->started_at);
    if (backfill)
        return STATUS_OK;
    return err_set(
        err, ERR_CONFIG,
        "the result was started at %s, before the newest run of this channel: a clock went backwards, or the "
        "result is old (--backfill puts it where it belongs)",
        adding->result->started_at);
}

/* ---- the run and its points ---- */

/* Median over the cases that have a prediction and a measurement; NaN: none has. */
static double prediction_error(const struct result *result, struct arena *arena)
{
    double *errors = arena_array(arena, result->case_count + 1, sizeof(*errors));
    size_t count = 0;
    FOR_EACH(const struct result_case, c, result->cases, result->case_count)
        if (result_case_counts(c) && !result_case_is_twin(c) && isfinite(c->predicted_error))
            errors[count++] = fabs(c->predicted_error);
    return count ? median_of(errors, count) : NAN;
}

static enum status add_run(struct adding *adding, int64_t environment, struct err *err)
{
    const struct result *r = adding->result;
    enum status status = database_do(
        adding->db, err,
        "INSERT INTO main.run (device, channel, run_id, started, started_at, finished_at, trials, environment, suite, "
        "git, "
        "branch, ci_url, tool, machine, prediction_error) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        "ississiissssssd", adding->device, adding->channel, r->run_id, adding->started, r->started_at, r->finished_at,
        (int64_t)(r->trials ? r->trials : 1), environment, r->config_sha256, r->commit, r->branch, r->ci_url,
        r->tool_version, r->machine.name, prediction_error(r, &adding->arena));
    adding->run = sqlite3_last_insert_rowid(adding->db->db);
    return status;
}

/* What a series is. */
struct subject {
    const char *kind, *id, *timer, *class, *label, *kernel, *mode, *unit, *better;
};

/* A case that has only failed so far is adopted by its first timer. */
static const char adopt_sql[] =
    "UPDATE OR IGNORE main.series SET timer = ?5 WHERE channel = ?1 AND device = ?2 AND kind = ?3 AND case_id = ?4 AND "
    "timer = ''";

/* The series of this timer; of a case that did not get as far as a timer, the one it was in last. Also says what it is
 * called now, and when it was there last. */
static const char series_sql[] =
    "INSERT INTO main.series (channel, device, kind, case_id, timer, class, label, kernel, mode, unit, better, seen) "
    "VALUES (?1, ?2, ?3, ?4, coalesce((SELECT timer FROM series WHERE channel = ?1 AND device = ?2 AND kind = ?3 AND "
    "case_id = ?4 AND ?5 = '' ORDER BY seen DESC, id DESC LIMIT 1), ?5), ?6, ?7, ?8, ?9, ?10, ?11, ?12) "
    "ON CONFLICT (channel, device, kind, case_id, timer) DO UPDATE SET seen = max(ifnull(seen, 0), excluded.seen), "
    "class = excluded.class, label = excluded.label, mode = excluded.mode, unit = excluded.unit, "
    "better = excluded.better RETURNING id";

static enum status series_id(int64_t *id, const struct adding *adding, const struct subject *s, bool skipped,
                             struct err *err)
{
    bool found = false;
    enum status status = STATUS_OK;
    if (s->timer[0])
        status =
            database_do(adding->db, err, adopt_sql, "sisss", adding->channel, adding->device, s->kind, s->id, s->timer);
    return status ? status
                  : database_number(id, &found, adding->db, err, series_sql, "sisssssssssi", adding->channel,
                                    adding->device, s->kind, s->id, s->timer, s->class, s->label, s->kernel, s->mode,
                                    s->unit, s->better, skipped ? (int64_t)0 : adding->started);
}

static enum status count_series(int64_t *count, const struct adding *adding, struct err *err)
{
    bool found = false;
    return database_number(count, &found, adding->db, err, "SELECT count(*) FROM series", "");
}

/* What is known of a series in this run. */
struct fact {
    double value, least, cycles, tick, fraction;
    const char *status, *reason;
    int64_t flags, identity;
    const double *trials;
    size_t trial_count;
};

static enum status add_point(struct adding *adding, int64_t series, const struct fact *f, struct err *err)
{
    enum status status = database_do(
        adding->db, err,
        "INSERT INTO main.point (series, run, value, least, cycles, tick, fraction, status, flags, identity, "
        "trials, reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        "iidddddsikbs", series, adding->run, f->value, f->least, f->cycles, f->tick, f->fraction, f->status, f->flags,
        f->identity, f->trials, f->trial_count * sizeof(*f->trials), f->reason);
    adding->added->points += !status;
    return status;
}

const char *history_status(const struct result_case *c)
{
    const char *finding = result_case_finding(c);
    return result_case_counts(c)  ? "ok"
           : finding[0]           ? finding
           : c->status == CASE_OK ? "not timed"
                                  : case_status_names[c->status];
}

static enum status add_case(struct adding *adding, const struct result_case *c, struct err *err)
{
    double times[SHIFT_MAX_TRIALS];
    const bool counts = result_case_counts(c);
    const struct subject subject = {.kind = "case",
                                    .id = arena_strndup(&adding->arena, c->id, result_id_length(c->id)),
                                    .timer = c->timer == TIMED_NONE ? "" : timer_names[c->timer],
                                    .class = c->class,
                                    .label = c->label,
                                    .kernel = c->kernel,
                                    .mode = cache_mode_names[c->cache],
                                    .unit = "ns",
                                    .better = "lower"};
    const double tick_ns = adding->result->calibration.timer_tick_ns / (c->batch ? c->batch : 1);
    struct fact fact = {.value = counts ? result_case_time(c) : NAN,
                        .least = counts ? c->stats.min : NAN,
                        .cycles = c->cycles,
                        .tick = tick_ns > 0 ? tick_ns : NAN,
                        .fraction = counts ? c->fraction : NAN,
                        .status = history_status(c),
                        .reason = counts ? NULL : c->reason,
                        .flags = c->flags,
                        .trials = times,
                        .trial_count = counts ? compare_trials(times, c) : 0};
    int64_t series = 0;
    enum status status = series_id(&series, adding, &subject, c->status == CASE_SKIPPED, err);
    if (!status)
        status = identity_id(&fact.identity, adding, &c->identity, err);
    return status ? status : add_point(adding, series, &fact, err);
}

/* Its logarithm and its inverse are judged. */
static bool has_history(double value)
{
    return isfinite(value) && value > 1e-300 && value < 1e300;
}

static enum status add_kpi(struct adding *adding, const struct result_kpi *kpi, struct err *err)
{
    const bool has = has_history(kpi->value);
    const char *reason = kpi->reason && kpi->reason[0]
                             ? kpi->reason
                             : arena_printf(&adding->arena, "%g: only positive values have a history", kpi->value);
    const struct subject subject = {.kind = "kpi",
                                    .id = kpi->name,
                                    .timer = "",
                                    .class = "",
                                    .label = kpi->name,
                                    .kernel = "",
                                    .mode = "",
                                    .unit = kpi->unit && kpi->unit[0] ? kpi->unit : "1",
                                    .better = kpi->higher_is_better ? "higher" : "lower"};
    const struct fact fact = {.value = has ? kpi->value : NAN,
                              .least = NAN,
                              .cycles = NAN,
                              .tick = NAN,
                              .fraction = NAN,
                              .status = has ? "ok" : "no value",
                              .reason = has ? NULL : reason};
    int64_t series = 0;
    enum status status = series_id(&series, adding, &subject, false, err);
    return status ? status : add_point(adding, series, &fact, err);
}

static enum status add_points(struct adding *adding, struct err *err)
{
    int64_t before = 0, after = 0;
    enum status status = count_series(&before, adding, err);
    for (size_t k = 0; k < adding->result->case_count && !status; k++)
        status = add_case(adding, &adding->result->cases[k], err);
    for (size_t k = 0; k < adding->result->kpi_count && !status; k++)
        status = add_kpi(adding, &adding->result->kpis[k], err);
    if (!status)
        status = count_series(&after, adding, err);
    adding->added->new_series = (size_t)(after - before);
    return status;
}

static enum status add_all(struct adding *adding, const struct history_add_options *options, struct err *err)
{
    int64_t before = 0, environment = 0;
    bool found = false;
    enum status status = check_new(adding, err);
    if (!status)
        status = device_id(&adding->device, adding, err);
    if (!status)
        status = check_time(adding, options->backfill, err);
    if (!status)
        status =
            database_number(&before, &found, adding->db, err,
                            "SELECT environment FROM run WHERE channel = ?1 AND device = ?2 AND started < ?3 ORDER "
                            "BY started DESC LIMIT 1",
                            "sii", adding->channel, adding->device, adding->started);
    if (!status)
        status = environment_id(&environment, adding, err);
    if (!status)
        status = add_run(adding, environment, err);
    if (!status)
        status = add_points(adding, err);
    adding->added->run = adding->run;
    adding->added->environment_changed = found && before != environment;
    if (!status && options->keep)
        status = history_drop_runs(&adding->added->dropped_runs, adding->db, adding->channel, options->keep, err);
    return status;
}

enum status history_add(struct history *history, const struct result *result, const struct history_add_options *options,
                        struct history_added *added, struct err *err)
{
    struct history_added made = {0};
    struct adding adding = {.db = &history->database,
                            .result = result,
                            .channel = options->channel ? options->channel : HISTORY_CHANNEL,
                            .added = &made};
    enum status status = history_check_result(result, err);
    if (!status)
        status = check_counts(result, err);
    if (!status)
        status = unix_time(&adding.started, result->started_at, err);
    if (!status)
        status = database_begin(adding.db, err);
    if (!status)
        status = add_all(&adding, options, err);
    status = database_end(adding.db, status, err);
    if (!status)
        *added = made;
    arena_release(&adding.arena);
    return status;
}
