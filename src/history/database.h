/* SPDX-License-Identifier: MIT
 *
 * The history's SQLite file: opening, schema and migrations, and statements that report errors in our form.
 *
 * After the first failure in a transaction, further statements do nothing and return no rows or DATABASE_NONE, and
 * database_end rolls back. So callers need not check each statement.
 */
#ifndef ROOFTILE_HISTORY_DATABASE_H
#define ROOFTILE_HISTORY_DATABASE_H

#include <sqlite3.h>

#include "rooftile/history.h"

#define DATABASE_VERSION 5
#define DATABASE_APPLICATION 0x726f6f66 /* "roof" in ASCII: PRAGMA application_id of a history */

struct database_statement {
    const char *sql; /* compared by address: statements are string literals */
    sqlite3_stmt *statement;
};

struct history {
    sqlite3 *db;
    const char *path;
    enum status status; /* of the transaction; code that rejects something sets it too, with the reason in `err` */
    struct err *err;
    int busy_ms; /* milliseconds to wait for another writer */
    bool sums;   /* changed rows get a checksum when their transaction ends */
    struct database_statement prepared[48];
};

enum status database_open(struct history *history, const char *path, enum history_access access, struct err *err);
void database_close(struct history *history);

/* Adds a line for each row with a wrong checksum, which reads omit. */
void database_damage(struct text *lines, struct history *history);

/* Migrates no further than to an earlier version, for tests of the migration. */
enum status database_migrate_to(struct history *history, int version, struct err *err);

/* Begins a writer's transaction at once, or a consistent snapshot for a reader. `err` receives its failure. */
enum status database_begin(struct history *history, bool write, struct err *err);
/* Commits, or rolls back after a failure; returns the transaction's status. */
enum status database_end(struct history *history);

/* Executes one or several statements without parameters and results. Returns ERR_IO or ERR_CONFIG, with a message from
 * SQLite and us: locked, full, damaged. */
enum status database_run(struct history *history, const char *sql);

/* Executes a statement with parameters, which is prepared once and cached. `format` gives their types: s text (NULL:
 * null), i int64_t (DATABASE_NONE: null), d double (not finite: null), b blob (const void *, size_t). Returns the first
 * column of the first row. */
#define DATABASE_NONE INT64_MIN /* no row */
int64_t database_do(struct history *history, const char *sql, const char *format, ...);
/* Row by row, to the end:   rows = database_select(history, sql, "i", id);
 *                           while (database_next(history, rows)) ... sqlite3_column_int64(rows, 0) ... */
sqlite3_stmt *database_select(struct history *history, const char *sql, const char *format, ...);
bool database_next(struct history *history, sqlite3_stmt *rows);
const char *database_text(sqlite3_stmt *rows, int column, struct arena *arena); /* null gives "" */
double database_double(sqlite3_stmt *rows, int column);                         /* null gives NaN */

#endif
