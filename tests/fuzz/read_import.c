/* SPDX-License-Identifier: MIT
 *
 * What others write: whatever the bytes, rows that add up or one sentence; and names of kernels.
 */
#include <math.h>
#include <sqlite3.h>
#include <string.h>
#include <zlib.h>

#include "../../src/import/trace.h"
#include "fuzz.h"
#include "rooftile/import.h"

bool fuzz_import(const char *text, size_t length, struct arena *arena)
{
    static const struct import_options options = {0};
    const char *path = FUZZ_PATH;
    struct import import;
    struct err err = {0};
    struct text suite = {0};
    double sum = 0;
    (void)text;
    (void)length;
    if (import_read(&import, &path, 1, &options, arena, &err)) {
        must(err.status == ERR_CONFIG && strstr(err.text, path));
        return false;
    }
    for (size_t k = 0; k < import.row_count; k++) {
        must(import.rows[k].operator&& import.rows[k].shape && import.rows[k].dtype && !(import.rows[k].calls < 0));
        sum += isfinite(import.rows[k].total_ns) ? import.rows[k].total_ns : 0;
    }
    must(!(fabs(sum - import.total_ns) > 1e-9 * sum) && !(import.explained_ns > import.total_ns * (1 + 1e-9)));
    must(!(import.timeline.busy_ns > import.timeline.span_ns * (1 + 1e-9)));
    import_suite(&suite, &import, "fuzz", NULL);
    text_release(&suite);
    return true;
}

bool fuzz_counters(const char *text, size_t length, struct arena *arena)
{
    struct import_counters counters;
    struct err err = {0};
    (void)text;
    (void)length;
    if (import_read_counters(&counters, FUZZ_PATH, arena, &err)) {
        must(err.status == ERR_CONFIG && strstr(err.text, FUZZ_PATH));
        return false;
    }
    for (size_t k = 0; k < counters.count; k++) {
        must(counters.items[k].kernel && counters.items[k].counter);
        import_counter(&counters, counters.items[k].kernel, counters.items[k].counter);
    }
    return true;
}

static int enough(void *steps)
{
    return ++*(int *)steps > 100;
}

/* The database that these statements make, as far as they are any: the file format is SQLite's own matter. It is
 * compressed, and so read in memory: SQLite finds no file behind a descriptor's name. */
bool fuzz_database(const char *text, size_t length, struct arena *arena)
{
    sqlite3 *db = NULL;
    sqlite3_int64 size = 0;
    int steps = 0;
    must(!sqlite3_open(":memory:", &db));
    sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0); /* no file but the one below */
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 1 << 16);
    sqlite3_progress_handler(db, 1000, enough, &steps);
    sqlite3_exec(db, text, NULL, NULL, NULL);
    sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    unsigned char *bytes = sqlite3_serialize(db, "main", &size, 0);
    gzFile file = gzopen(FUZZ_PATH, "wb1");
    must(file && (!bytes || gzwrite(file, bytes, (unsigned)size) == (int)size) && !gzclose(file));
    sqlite3_free(bytes);
    must(!sqlite3_close(db));
    const bool counted = fuzz_counters(text, length, arena);
    return fuzz_import(text, length, arena) || counted;
}

bool fuzz_names(const char *text, size_t length, struct arena *arena)
{
    struct trace_operator operator= {.dtype = "", .total = "", .layout = ""};
    struct text traits = {0};
    (void)length;
    const bool known =
        kernel_name_read(&operator, & traits, text, (const double[]){8, 4, 1}, (const double[]){256, 1, 1});
    must(operator.dtype && operator.total && operator.layout);
    operator_read(&operator, text, arena);
    must(operator.name && operator.dtype && operator.shape);
    text_release(&traits);
    return known;
}
