/* SPDX-License-Identifier: MIT
 *
 * The history's SQLite file: opening, its schema and migrations, statements with our errors.
 */
#ifndef ROOFTILE_HISTORY_DATABASE_H
#define ROOFTILE_HISTORY_DATABASE_H

#include <sqlite3.h>

#include "rooftile/history.h"

#define DATABASE_VERSION 5
#define DATABASE_APPLICATION 0x726f6f66 /* "roof" in ASCII: PRAGMA application_id of a history */

struct database {
    sqlite3 *db;
    const char *path;
    int busy_ms; /* how long to wait for another writer */
    bool sums;   /* rows that change get a sum when their transaction ends */
    struct {
        const char *sql; /* its address is its name: statements are string literals */
        sqlite3_stmt *statement;
    } prepared[48];
};

enum status database_open(struct database *database, const char *path, enum history_access access, struct err *err);
void database_close(struct database *database);

/* A line for each row whose sum does not fit: it is not read. */
void database_damage(struct text *lines, struct database *database);

/* The schema of an earlier version, for tests of the migration. */
enum status database_migrate_to(struct database *database, int version, struct err *err);

/* SQL without results and values, one or several statements. ERR_IO or ERR_CONFIG with SQLite's words and ours: locked,
 * full, damaged. */
enum status database_run(struct database *database, const char *sql, struct err *err);
enum status database_begin(struct database *database, struct err *err);         /* a writer's transaction, at once */
enum status database_begin_reading(struct database *database, struct err *err); /* one view of it all */
/* Commits if `status` is STATUS_OK, else rolls back; returns `status`, or why it could not be committed. */
enum status database_end(struct database *database, enum status status, struct err *err);

/* Statements with values are prepared once and kept. `format` says what follows: s text (NULL: null), i int64_t, k the
 * same as a key (0: null), d double (not finite: null), b blob (const void *, size_t). */
enum status database_do(struct database *database, struct err *err, const char *sql, const char *format, ...);
/* The first column of the first row; `found` false: there is none, and the value stays. */
enum status database_number(int64_t *value, bool *found, struct database *database, struct err *err, const char *sql,
                            const char *format, ...);
/* Row by row, to the end:   status = database_select(&rows, db, err, sql, "i", id);
 *                           while (database_next(&status, rows, db, err)) ... sqlite3_column_int64(rows, 0) ... */
enum status database_select(sqlite3_stmt **rows, struct database *database, struct err *err, const char *sql,
                            const char *format, ...);
bool database_next(enum status *status, sqlite3_stmt *rows, struct database *database, struct err *err);

#endif
