/* SPDX-License-Identifier: MIT */
#include "rooftile/history.h"

#include <stdlib.h>

#include "history_internal.h"

enum status history_open(struct history **history, const char *path, bool write, struct err *err)
{
    struct history *opened = calloc(1, sizeof(*opened));
    if (!opened)
        arena_out_of_memory(sizeof(*opened));
    enum status status = database_open(&opened->database, path, write, err);
    if (status)
        free(opened);
    else
        *history = opened;
    return status;
}

void history_close(struct history *history)
{
    if (!history)
        return;
    database_close(&history->database);
    free(history);
}

/* ---- upkeep ---- */

/* A series of which no point is left, and whose end was accepted after it was seen last, is over. One that nobody
 * accepted is still missing, and stays. Alarms that are closed tell nothing once their runs are gone. */
static const char *const tidying[] = {
    "DELETE FROM series WHERE kind <> 'class' AND NOT EXISTS (SELECT 1 FROM point p WHERE p.series = series.id) AND "
    "EXISTS (SELECT 1 FROM accepted a WHERE a.series = series.id AND a.started > ifnull(series.seen, 0))",
    "DELETE FROM alarm WHERE closed IS NOT NULL AND tau < (SELECT min(n.started) FROM run n JOIN series s ON "
    "n.channel = s.channel AND n.device = s.device WHERE s.id = alarm.series)",
    "DELETE FROM object WHERE id NOT IN (SELECT object FROM point WHERE object IS NOT NULL)",
};

/* ?1 channel, ?2 runs to keep of each device. */
static const char drop_sql[] =
    "DELETE FROM run WHERE channel = ?1 AND id IN (SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY device "
    "ORDER BY started DESC) AS place FROM run WHERE channel = ?1) WHERE place > ?2)";

enum status history_drop_runs(size_t *dropped, struct database *db, const char *channel, unsigned keep, struct err *err)
{
    enum status status = database_do(db, err, drop_sql, "si", channel, (int64_t)keep);
    *dropped = status ? 0 : (size_t)sqlite3_changes(db->db); /* without what went with them */
    for (size_t k = 0; k < sizeof(tidying) / sizeof(*tidying) && !status && *dropped; k++)
        status = database_run(db, tidying[k], err);
    return status;
}

enum status history_prune(size_t *dropped, struct history *history, const char *channel, unsigned keep, struct err *err)
{
    struct database *db = &history->database;
    size_t count = 0;
    if (!keep)
        return err_set(err, ERR_USAGE, "one run is the least to keep");
    enum status status = database_begin(db, err);
    if (!status)
        status = history_drop_runs(&count, db, channel ? channel : HISTORY_CHANNEL, keep, err);
    status = database_end(db, status, err);
    if (!status)
        *dropped = count;
    return status;
}

/* Each gives one line per problem. */
static const char *const checks[] = {
    "SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'",
    "SELECT 'a row of ' || \"table\" || ' refers to nothing in ' || parent FROM pragma_foreign_key_check",
    "SELECT 'point of series ' || series || ', run ' || run || ' has a value and the status ' || status FROM point "
    "WHERE value IS NOT NULL AND status <> 'ok'",
    "SELECT 'point of series ' || series || ', run ' || run || ' is ok and has no value' FROM point WHERE value IS "
    "NULL AND status = 'ok'",
    "SELECT 'point of series ' || series || ', run ' || run || ' has half a trial' FROM point WHERE "
    "length(trials) % 8 <> 0",
    "SELECT 'run ' || id || ' has no point' FROM run WHERE id NOT IN (SELECT run FROM point)",
    "SELECT 'run ' || id || ' started at ' || started_at || ', not at ' || datetime(started, 'unixepoch') FROM run "
    "WHERE started <> ifnull(strftime('%s', started_at), 0) + 0",
    "SELECT 'point of series ' || p.series || ' is of another device or channel than its run ' || p.run FROM point p "
    "JOIN series s ON s.id = p.series JOIN run n ON n.id = p.run WHERE s.device <> n.device OR s.channel <> n.channel",
    "SELECT 'series ' || id || ' was seen later than it says' FROM series WHERE kind <> 'class' AND ifnull(seen, 0) < "
    "(SELECT max(n.started) FROM point p JOIN run n ON n.id = p.run WHERE p.series = series.id AND p.status <> "
    "'skipped')",
    "SELECT 'alarm of series ' || series || ' begins after it was found' FROM alarm WHERE tau > started",
};

enum status history_check(struct text *problems, struct history *history, struct err *err)
{
    struct database *db = &history->database;
    enum status status = database_begin_reading(db, err);
    for (size_t k = 0; k < sizeof(checks) / sizeof(*checks) && !status; k++) {
        sqlite3_stmt *rows = NULL;
        status = database_select(&rows, db, err, checks[k], "");
        while (database_next(&status, rows, db, err))
            text_addf(problems, "%s\n", (const char *)sqlite3_column_text(rows, 0));
    }
    return database_end(db, status, err);
}
