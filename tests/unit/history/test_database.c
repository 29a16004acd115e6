/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../../src/history/database.h"

struct place {
    char folder[64], path[96];
};

static int in_place(void **state)
{
    static struct place place;
    snprintf(place.folder, sizeof(place.folder), "/tmp/rooftile-database-XXXXXX");
    if (!mkdtemp(place.folder))
        return -1;
    snprintf(place.path, sizeof(place.path), "%s/history.db", place.folder);
    *state = &place;
    return 0;
}

static int clean_place(void **state)
{
    const struct place *place = *state;
    static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
    char path[128];
    for (size_t k = 0; k < sizeof(endings) / sizeof(*endings); k++) {
        snprintf(path, sizeof(path), "%s%s", place->path, endings[k]);
        unlink(path);
    }
    rmdir(place->folder);
    return 0;
}

static void write_file(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void raw(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static int64_t number(struct history *database, const char *sql)
{
    const int64_t value = database_do(database, sql, "");
    assert_int_equal(database->status, STATUS_OK);
    assert_true(value != DATABASE_NONE);
    return value;
}

static void refused(const char *path, enum history_access access, enum status status, const char *words)
{
    struct history database = {0};
    struct err err = {0};
    assert_int_equal(database_open(&database, path, access, &err), status);
    assert_null(database.db);
    if (!strstr(err.text, words))
        fail_msg("'%s' does not say '%s'", err.text, words);
}

/* ---- opening ---- */

static void a_new_file_has_the_schema(void **state)
{
    const struct place *place = *state;
    struct history database;
    struct err err = {0};
    assert_int_equal(database_open(&database, place->path, HISTORY_BEGIN, &err), STATUS_OK);
    assert_int_equal(number(&database, "PRAGMA user_version"), DATABASE_VERSION);
    assert_int_equal(number(&database, "PRAGMA application_id"), DATABASE_APPLICATION);
    assert_int_equal(number(&database, "PRAGMA foreign_keys"), 1);
    assert_int_equal(number(&database, "SELECT count(*) FROM pragma_journal_mode WHERE journal_mode = 'wal'"), 1);
    assert_int_equal(number(&database, "SELECT count(*) FROM measurements"), 0);
    assert_int_equal(number(&database, "SELECT count(*) FROM alarms"), 0);
    database_close(&database);
    assert_int_equal(database_open(&database, place->path, HISTORY_READ, &err), STATUS_OK);
    assert_int_equal(database_run(&database, "DELETE FROM main.run"), ERR_IO);
    assert_non_null(strstr(err.text, "may not be written"));
    database_close(&database);
}

/* As nobody, to whom root's folders can be closed; false: this is nobody. */
static bool as_nobody(const struct place *place, mode_t folder, mode_t file)
{
    enum { NOBODY = 65534 };
    if (geteuid())
        return false;
    assert_int_equal(chmod(place->path, file), 0);
    assert_int_equal(chmod(place->folder, folder), 0);
    assert_int_equal(seteuid(NOBODY), 0);
    return true;
}

static void what_may_not_be_written_is_read(void **state)
{
    const struct place *place = *state;
    struct history database;
    struct err err = {0};
    assert_int_equal(database_open(&database, place->path, HISTORY_BEGIN, &err), STATUS_OK);
    database_close(&database);
    if (!as_nobody(place, 0555, 0444))
        return;
    assert_int_equal(database_open(&database, place->path, HISTORY_READ, &err), STATUS_OK);
    assert_int_equal(number(&database, "PRAGMA user_version"), DATABASE_VERSION);
    database_close(&database);
    refused(place->path, HISTORY_BEGIN, ERR_IO, "may not be written");
    assert_int_equal(seteuid(0), 0);
    assert_true(as_nobody(place, 0555, 0400));
    refused(place->path, HISTORY_READ, ERR_IO, "cannot be opened: Permission denied");
    assert_int_equal(seteuid(0), 0);
    assert_true(as_nobody(place, 0400, 0444));
    refused(place->path, HISTORY_READ, ERR_IO, "cannot be opened: Permission denied");
    assert_int_equal(seteuid(0), 0);
}

static void what_is_no_history_is_refused(void **state)
{
    const struct place *place = *state;
    static const char text[] = "{\"schema\": \"this is a result, given in place of the history\"}";
    struct stat before, after;
    refused(place->path, HISTORY_READ, ERR_CONFIG, "there is no history");
    refused(place->path, HISTORY_WRITE, ERR_CONFIG, "there is no history");
    refused("/tmp", HISTORY_READ, ERR_CONFIG, "is a folder");
    refused("/tmp/rooftile-no-such-folder/history.db", HISTORY_BEGIN, ERR_IO, "cannot be opened");
    write_file(place->path, text, sizeof(text));
    refused(place->path, HISTORY_BEGIN, ERR_CONFIG, "not an SQLite file");
    refused(place->path, HISTORY_READ, ERR_CONFIG, "not an SQLite file");
    assert_int_equal(stat(place->path, &before), 0);
    assert_int_equal(before.st_size, sizeof(text));
    assert_int_equal(unlink(place->path), 0);
    raw(place->path, "CREATE TABLE recipes (name TEXT)");
    assert_int_equal(stat(place->path, &before), 0);
    refused(place->path, HISTORY_BEGIN, ERR_CONFIG, "no history of rooftile");
    assert_int_equal(stat(place->path, &after), 0);
    assert_int_equal(after.st_size, before.st_size);
    write_file(place->path, "", 0);
    refused(place->path, HISTORY_READ, ERR_CONFIG, "schema version 0");
}

static void a_newer_schema_is_refused(void **state)
{
    const struct place *place = *state;
    struct history database;
    struct err err = {0};
    assert_int_equal(database_open(&database, place->path, HISTORY_BEGIN, &err), STATUS_OK);
    database_close(&database);
    raw(place->path, "PRAGMA user_version = 99");
    refused(place->path, HISTORY_BEGIN, ERR_CONFIG, "schema version 99; this rooftile knows 5");
    refused(place->path, HISTORY_READ, ERR_CONFIG, "schema version 99");
}

/* Version 1 had the tables and no views. */
static void an_older_schema_is_migrated(void **state)
{
    const struct place *place = *state;
    struct history database = {.path = place->path};
    struct err err = {0};
    assert_int_equal(sqlite3_open(place->path, &database.db), SQLITE_OK);
    assert_int_equal(database_migrate_to(&database, 1, &err), STATUS_OK);
    assert_int_equal(number(&database, "SELECT count(*) FROM sqlite_master WHERE type = 'view'"), 0);
    assert_int_equal(
        database_run(&database,
                     "INSERT INTO main.device VALUES (7, 'k', 'cpu', 'n', 'a');"
                     "INSERT INTO main.environment VALUES (1, 'f', '');"
                     "INSERT INTO main.run (id, device, channel, run_id, started, started_at, trials, "
                     "environment) VALUES (1, 7, 'l', 'r', 5, 'x', 1, 1);"
                     "INSERT INTO main.series (id, device, channel, case_id, timer, kind, class, label, kernel, "
                     "mode, unit, better) VALUES (3, 7, 'l', 'c', '', 'case', '', '', '', '', 'ns', "
                     "'lower');"
                     "INSERT INTO main.point (series, run, value, status, flags) VALUES (3, 1, 12.5, 'ok', 0)"),
        STATUS_OK);
    database_close(&database);
    refused(place->path, HISTORY_READ, ERR_CONFIG, "schema version 1; the next 'rooftile history add' brings it to 5");
    assert_int_equal(database_open(&database, place->path, HISTORY_BEGIN, &err), STATUS_OK);
    assert_int_equal(number(&database, "PRAGMA user_version"), DATABASE_VERSION);
    assert_int_equal(number(&database, "SELECT value * 2 FROM measurements WHERE case_id = 'c' AND device = 'n'"), 25);
    database_close(&database);
}

/* ---- damage ---- */

static void fill(const char *path, int devices)
{
    struct history database;
    struct err err = {0};
    char sql[200];
    assert_int_equal(database_open(&database, path, HISTORY_BEGIN, &err), STATUS_OK);
    snprintf(sql, sizeof(sql),
             "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) INSERT INTO main.device "
             "(id, key, backend, name, arch) SELECT i, "
             "hex(randomblob(100)), 'b', 'n', 'a' FROM n",
             devices);
    assert_int_equal(database_run(&database, sql), STATUS_OK);
    database_close(&database);
}

static void damage_is_told(void **state)
{
    const struct place *place = *state;
    struct history database;
    struct err err = {0};
    uint8_t page[4096];
    fill(place->path, 2000);
    int file = open(place->path, O_RDWR);
    assert_true(file >= 0);
    memset(page, 0xa5, sizeof(page));
    for (off_t at = 4096 * 20; at < 4096 * 60; at += 4096)
        assert_int_equal(pwrite(file, page, sizeof(page), at), sizeof(page));
    close(file);
    assert_int_equal(database_open(&database, place->path, HISTORY_BEGIN, &err), STATUS_OK);
    assert_int_equal(database_run(&database, "UPDATE main.device SET name = 'x'"), ERR_CONFIG);
    assert_non_null(strstr(err.text, "is damaged"));
    assert_non_null(strstr(err.text, ".recover"));
    assert_int_equal(database_end(&database), ERR_CONFIG);
    database_close(&database);
    assert_int_equal(truncate(place->path, 4096 * 3 + 100), 0);
    err = (struct err){0};
    if (database_open(&database, place->path, HISTORY_BEGIN, &err) == STATUS_OK) {
        assert_int_equal(database_run(&database, "UPDATE main.device SET name = 'x'"), ERR_CONFIG);
        database_close(&database);
    }
    assert_non_null(strstr(err.text, "is damaged"));
}

static void a_full_disk_changes_nothing(void **state)
{
    const struct place *place = *state;
    struct history database;
    struct rlimit before;
    struct err err = {0};
    fill(place->path, 10);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    const struct rlimit small = {.rlim_cur = 65536, .rlim_max = before.rlim_max};
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    enum status status = database_open(&database, place->path, HISTORY_BEGIN, &err);
    database_begin(&database, true, &err);
    for (int k = 0; k < 1000 && !status; k++)
        status = database_run(&database, "INSERT INTO main.device (id, key, backend, name, arch) SELECT NULL, "
                                         "hex(randomblob(2000)), 'b', 'n', 'a' FROM device LIMIT 9");
    status = database_end(&database);
    database_close(&database);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
    assert_int_equal(status, ERR_IO);
    assert_non_null(strstr(err.text, "the disk is full"));
    assert_int_equal(database_open(&database, place->path, HISTORY_BEGIN, &err), STATUS_OK);
    assert_int_equal(number(&database, "SELECT count(*) FROM device"), 10);
    assert_int_equal(number(&database, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"), 1);
    database_close(&database);
}

/* ---- two at once ---- */

static void one_writer_many_readers(void **state)
{
    const struct place *place = *state;
    struct history writer, other, reader;
    struct err err = {0};
    fill(place->path, 3);
    setenv("ROOFTILE_BUSY_MS", "30", 1);
    assert_int_equal(database_open(&writer, place->path, HISTORY_BEGIN, &err), STATUS_OK);
    assert_int_equal(database_open(&other, place->path, HISTORY_BEGIN, &err), STATUS_OK);
    assert_int_equal(database_open(&reader, place->path, HISTORY_READ, &err), STATUS_OK);
    assert_int_equal(database_begin(&writer, true, &err), STATUS_OK);
    assert_int_equal(database_run(&writer, "DELETE FROM main.device"), STATUS_OK);
    assert_int_equal(database_begin(&other, true, &err), ERR_IO);
    assert_non_null(strstr(err.text, "another program has been writing to it for over 0.03 s; nothing was changed"));
    assert_int_equal(number(&reader, "SELECT count(*) FROM device"), 3);
    assert_int_equal(database_begin(&reader, false, &err), STATUS_OK);
    assert_int_equal(number(&reader, "SELECT count(*) FROM device"), 3);
    assert_int_equal(database_end(&writer), STATUS_OK);
    assert_int_equal(number(&reader, "SELECT count(*) FROM device"), 3); /* its one view */
    assert_int_equal(database_end(&reader), STATUS_OK);
    assert_int_equal(number(&reader, "SELECT count(*) FROM device"), 0);
    assert_int_equal(database_begin(&other, true, &err), STATUS_OK);
    assert_int_equal(database_end(&other), STATUS_OK);
    database_close(&writer);
    database_close(&other);
    database_close(&reader);
    unsetenv("ROOFTILE_BUSY_MS");
}

static void the_time_to_wait_is_checked(void **state)
{
    const struct place *place = *state;
    static const struct {
        const char *text;
        int ms;
    } cases[] = {{"0", 0}, {"250", 250}, {"", 10000}, {"-1", 10000}, {"1s", 10000}, {"99999999999", 10000}};
    struct history database;
    struct err err = {0};
    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        setenv("ROOFTILE_BUSY_MS", cases[k].text, 1);
        assert_int_equal(database_open(&database, place->path, HISTORY_BEGIN, &err), STATUS_OK);
        assert_int_equal(database.busy_ms, cases[k].ms);
        database_close(&database);
    }
    unsetenv("ROOFTILE_BUSY_MS");
    assert_int_equal(database_open(&database, place->path, HISTORY_BEGIN, &err), STATUS_OK);
    assert_int_equal(database.busy_ms, 10000);
    database_close(&database);
}

/* ---- statements ---- */

static void values_come_back(void **state)
{
    const struct place *place = *state;
    struct history database;
    struct err err = {0};
    const double blob[] = {1.5, -2.5};
    assert_int_equal(database_open(&database, place->path, HISTORY_BEGIN, &err), STATUS_OK);
    for (int again = 0; again < 2; again++) { /* the second time the statement is there already */
        static const char sql[] = "SELECT ?, ?, ?, ?, ?, ?, ?, ?";
        sqlite3_stmt *rows = database_select(&database, sql, "ssiiiddb", "text", NULL, INT64_MAX, DATABASE_NONE,
                                             (int64_t)7, 0.1, (double)INFINITY, blob, sizeof(blob));
        assert_true(database_next(&database, rows));
        assert_string_equal((const char *)sqlite3_column_text(rows, 0), "text");
        assert_int_equal(sqlite3_column_type(rows, 1), SQLITE_NULL);
        assert_true(sqlite3_column_int64(rows, 2) == INT64_MAX);
        assert_int_equal(sqlite3_column_type(rows, 3), SQLITE_NULL);
        assert_int_equal(sqlite3_column_int64(rows, 4), 7);
        assert_true(sqlite3_column_double(rows, 5) == 0.1);
        assert_int_equal(sqlite3_column_type(rows, 6), SQLITE_NULL);
        assert_memory_equal(sqlite3_column_blob(rows, 7), blob, sizeof(blob));
        assert_false(database_next(&database, rows));
        assert_int_equal(database.status, STATUS_OK);
    }
    assert_null(database_select(&database, "SELECT nowhere", ""));
    assert_int_equal(database.status, ERR_CONFIG);
    assert_non_null(strstr(err.text, "no such column: nowhere"));
    assert_int_equal(database_do(&database, "SELECT 1", ""), DATABASE_NONE); /* the first failure stays */
    database_begin(&database, true, &err);
    assert_int_equal(database_run(&database, "INSERT INTO main.run (device) VALUES (1)"), ERR_CONFIG);
    assert_non_null(strstr(err.text, "contradicts what is there"));
    database_close(&database);
}

static void more_statements_than_are_kept(void **state)
{
    static char texts[100][24];
    const struct place *place = *state;
    struct history database;
    struct err err = {0};
    assert_int_equal(database_open(&database, place->path, HISTORY_BEGIN, &err), STATUS_OK);
    for (int k = 0; k < 100; k++)
        snprintf(texts[k], sizeof(texts[k]), "SELECT %d", k);
    for (int k = 0; k < 200; k++)
        assert_int_equal(number(&database, texts[k % 100]), k % 100);
    database_close(&database);
}

int main(void)
{
#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, in_place, clean_place)
    const struct CMUnitTest tests[] = {
        IN_PLACE(a_new_file_has_the_schema),     IN_PLACE(what_may_not_be_written_is_read),
        IN_PLACE(what_is_no_history_is_refused), IN_PLACE(a_newer_schema_is_refused),
        IN_PLACE(an_older_schema_is_migrated),   IN_PLACE(damage_is_told),
        IN_PLACE(a_full_disk_changes_nothing),   IN_PLACE(one_writer_many_readers),
        IN_PLACE(the_time_to_wait_is_checked),   IN_PLACE(values_come_back),
        IN_PLACE(more_statements_than_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
