/* SPDX-License-Identifier: MIT
 *
 * The history's SQLite file: opening, its schema and migrations, statements with our errors.
 */
#ifndef ROOFTILE_STORE_DATABASE_H
#define ROOFTILE_STORE_DATABASE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "rooftile/err.h"

#define DATABASE_VERSION 2
#define DATABASE_APPLICATION 0x726f6f66 /* "roof": PRAGMA application_id of a history */

struct database {
    sqlite3 *db;
    const char *path;
    int busy_ms; /* how long to wait for another writer */
};

enum status database_open(struct database *database, const char *path, bool write, struct err *err);
void database_close(struct database *database);

/* The schema of an earlier version, for tests of the migration. */
enum status database_migrate_to(const struct database *database, int version, struct err *err);

/* ERR_IO or ERR_CONFIG with SQLite's words and ours: locked, full, damaged. */
enum status database_fail(const struct database *database, const char *doing, struct err *err);

/* SQL without results, one or several statements. */
enum status database_run(const struct database *database, const char *sql, struct err *err);
enum status database_begin(const struct database *database, struct err *err); /* a writer's transaction, at once */
enum status database_begin_reading(const struct database *database, struct err *err); /* one view of it all */
enum status database_commit(const struct database *database, struct err *err);
void database_rollback(const struct database *database); /* nothing when no transaction is open */

/* A prepared statement; NULL on failure. Bind in order with `format`: s text (NULL: null), i int64_t, k the same as a
 * key (0: null), d double (not finite: null), b blob (const void *, size_t). */
enum status database_prepare(sqlite3_stmt **statement, const struct database *database, const char *sql,
                             struct err *err);
enum status database_bind(const struct database *database, sqlite3_stmt *statement, struct err *err, const char *format,
                          ...);
/* Steps: *row says whether there is one. */
enum status database_step(const struct database *database, sqlite3_stmt *statement, bool *row, struct err *err);
/* Runs a bound statement to its end and resets it. */
enum status database_finish(const struct database *database, sqlite3_stmt *statement, struct err *err);

#endif
