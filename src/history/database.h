/* SPDX-License-Identifier: MIT
 *
 * The history's SQLite file: opening, its schema and migrations, statements with our errors.
 *
 * The first failure of a transaction stays: what follows it does nothing, gives no rows and DATABASE_NONE, and
 * database_end rolls back. So callers need not ask after each statement.
 */
#ifndef ROOFTILE_HISTORY_DATABASE_H
#define ROOFTILE_HISTORY_DATABASE_H

#include <sqlite3.h>

#include "rooftile/history.h"

#define DATABASE_VERSION 5
#define DATABASE_APPLICATION 0x726f6f66 /* "roof" in ASCII: PRAGMA application_id of a history */

struct database_statement {
    const char *sql; /* its address is its name: statements are string literals */
    sqlite3_stmt *statement;
};

struct history {
    sqlite3 *db;
    const char *path;
    enum status status; /* of the transaction; who refuses something sets it too, with its reason in `err` */
    struct err *err;
    int busy_ms; /* how long to wait for another writer */
    bool sums;   /* rows that change get a sum when their transaction ends */
    struct database_statement prepared[48];
};

enum status database_open(struct history *history, const char *path, enum history_access access, struct err *err);
void database_close(struct history *history);

/* A line for each row whose sum does not fit: it is not read. */
void database_damage(struct text *lines, struct history *history);

/* The schema of an earlier version, for tests of the migration. */
enum status database_migrate_to(struct history *history, int version, struct err *err);

/* A writer's transaction, at once, or one view of it all for a reader. `err` gets its failure. */
enum status database_begin(struct history *history, bool write, struct err *err);
/* Commits, or rolls back what failed; returns why. */
enum status database_end(struct history *history);

/* SQL without results and values, one or several statements. ERR_IO or ERR_CONFIG with SQLite's words and ours: locked,
 * full, damaged. */
enum status database_run(struct history *history, const char *sql);

/* Statements with values are prepared once and kept. `format` says what follows: s text (NULL: null), i int64_t
 * (DATABASE_NONE: null), d double (not finite: null), b blob (const void *, size_t). Gives the first column of the
 * first row. */
#define DATABASE_NONE INT64_MIN /* there is no row */
int64_t database_do(struct history *history, const char *sql, const char *format, ...);
/* Row by row, to the end:   rows = database_select(history, sql, "i", id);
 *                           while (database_next(history, rows)) ... sqlite3_column_int64(rows, 0) ... */
sqlite3_stmt *database_select(struct history *history, const char *sql, const char *format, ...);
bool database_next(struct history *history, sqlite3_stmt *rows);
const char *database_text(sqlite3_stmt *rows, int column, struct arena *arena); /* null is "" */
double database_double(sqlite3_stmt *rows, int column);                         /* null is NaN */

#endif
