/* SPDX-License-Identifier: MIT
 *
 * A history whose rows say what they like. The file format is SQLite's own matter; what stands in the columns is ours.
 * The input is a list of changes to a good history: four bytes (column, which rows, kind of value, its length) and the
 * value. Then everything is asked for: each answer is a document or an error in words.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../../src/history/history_internal.h"
#include "fuzz.h"
#include "rooftile/render.h"

enum { RUNS = 12, SLOWER_FROM = 9, HEAD = 4, MOST_CHANGES = 16 };

/* ---- a good history: twelve runs of one result, the last three slower, gated each day, then accepted ---- */

static void add_run(struct history *history, const struct result *seed, int day, struct arena *arena)
{
    struct result run = *seed;
    struct result_case *cases = arena_copy(arena, seed->cases, seed->case_count * sizeof(*cases));
    struct history_added added;
    struct history_gate gate;
    struct err err = {0};
    const struct gate_options options = gate_defaults();
    run.cases = cases;
    run.run_id = arena_printf(arena, "%08d-0000-4000-8000-000000000000", day);
    run.started_at = run.finished_at = arena_printf(arena, "2026-01-%02dT03:00:00Z", day + 1);
    for (size_t k = 0; k < run.case_count; k++)
        result_take_median(&cases[k], cases[k].stats.median * (day < SLOWER_FROM ? 1 + 0.001 * (day % 3) : 1.2));
    must(!history_add(history, &run, &(struct history_add_options){0}, &added, &err));
    must(!history_gate(&gate, history, NULL, NULL, &options, arena, &err));
}

static void *good_history(sqlite3_int64 *size)
{
    struct arena arena = {0};
    struct err err = {0};
    struct history *history = NULL;
    const struct result *seed = NULL;
    size_t accepted = 0;
    must(!history_open(&history, ":memory:", HISTORY_BEGIN, &err));
    must(!result_read(&seed, ROOFTILE_SOURCE_DIR "/tests/fuzz/seeds/result/measured.json", &arena, &err));
    for (int day = 0; day < RUNS; day++)
        add_run(history, seed, day, &arena);
    must(!history_accept(&accepted, history, NULL, NULL, NULL, 0, "known", &err) && accepted);
    void *bytes = sqlite3_serialize(history->db, "main", size, 0);
    must(bytes != NULL);
    history_close(history);
    arena_release(&arena);
    return bytes;
}

/* ---- changes ---- */

static const char columns_sql[] =
    "SELECT m.name, p.name FROM sqlite_master m, pragma_table_info(m.name) p WHERE m.type "
    "= 'table' ORDER BY 1, 2";

/* UPDATE ... SET the column WHERE the row's number is divisible by `every`. */
static void change(sqlite3 *db, unsigned column, unsigned every, unsigned kind, const void *value, size_t length)
{
    sqlite3_stmt *columns = NULL, *update = NULL;
    must(!sqlite3_prepare_v2(db, columns_sql, -1, &columns, NULL));
    for (unsigned k = 0; k <= column; k++)
        if (sqlite3_step(columns) != SQLITE_ROW)
            goto out;
    const char *table = (const char *)sqlite3_column_text(columns, 0);
    const char *key = !strcmp(table, "point")                                 ? "series + run"
                      : !strcmp(table, "accepted") || !strcmp(table, "alarm") ? "series"
                                                                              : "id";
    char *sql = sqlite3_mprintf("UPDATE OR IGNORE main.\"%w\" SET \"%w\" = ?1 WHERE (%s) %% ?2 = 0", table,
                                sqlite3_column_text(columns, 1), key);
    must(!sqlite3_prepare_v2(db, sql, -1, &update, NULL));
    sqlite3_free(sql);
    sqlite3_bind_int(update, 2, (int)every + 1);
    int64_t whole = 0;
    double number = 0;
    memcpy(&whole, value, length < sizeof(whole) ? length : sizeof(whole));
    memcpy(&number, value, length < sizeof(number) ? length : sizeof(number));
    if (kind == 0)
        sqlite3_bind_int64(update, 1, whole);
    else if (kind == 1)
        sqlite3_bind_double(update, 1, number);
    else if (kind == 2)
        sqlite3_bind_text(update, 1, value, (int)length, SQLITE_STATIC);
    else if (kind == 3)
        sqlite3_bind_blob(update, 1, value, (int)length, SQLITE_STATIC);
    sqlite3_step(update); /* NOT NULL and the like may refuse it */
out:
    sqlite3_finalize(update);
    sqlite3_finalize(columns);
}

static bool change_rows(sqlite3 *db, const char *text, size_t length)
{
    const unsigned char *at = (const unsigned char *)text, *end = at + length;
    unsigned changes = 0;
    must(!sqlite3_exec(db, "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON; BEGIN", NULL, NULL, NULL));
    for (; end - at >= HEAD && changes < MOST_CHANGES; changes++) {
        const size_t rest = (size_t)(end - at) - HEAD, size = at[3] < rest ? at[3] : rest;
        change(db, at[0], at[1], at[2] % 5, at + HEAD, size);
        at += HEAD + size;
    }
    must(
        !sqlite3_exec(db, "COMMIT; PRAGMA foreign_keys = ON; PRAGMA ignore_check_constraints = OFF", NULL, NULL, NULL));
    return changes > 0;
}

/* ---- everything that can be asked ---- */

static void show(struct history *history, const char *glob, struct text *out, struct arena *arena)
{
    struct document document = {.arena = arena};
    struct err err = {0};
    if (history_show(&document, history, NULL, NULL, &glob, glob != NULL, &err))
        must(*err.text != '\0');
    else
        render_text(out, &document, &(struct report_options){.columns = 100});
}

static void judge(struct history *history, struct text *out, struct arena *arena)
{
    const struct gate_options options = gate_defaults();
    struct history_gate gate;
    const char **ids = NULL;
    struct err err = {0};
    if (history_gate(&gate, history, NULL, NULL, &options, arena, &err)) {
        must(*err.text != '\0');
        return;
    }
    const int code = history_exit_code(&gate, true);
    must(code == 0 || code == 1 || code == 4);
    must(history_candidates(&ids, &gate, arena) <= gate.count);
    report_gate(out, "table", &gate, &(struct report_options){.columns = 100});
    report_gate(out, "json", &gate, &(struct report_options){0});
}

static void ask(struct history *history, struct arena *arena)
{
    struct text out = {0};
    struct err err = {0};
    size_t count = 0;
    must(!history_check(&out, history, &err) || *err.text);
    show(history, NULL, &out, arena);
    show(history, "*", &out, arena);
    judge(history, &out, arena);
    must(!history_export(&out, history, "csv", &err) || *err.text);
    must(!history_export(&out, history, "jsonl", &err) || *err.text);
    must(!history_accept(&count, history, NULL, NULL, NULL, 0, "fuzz", &err) || *err.text);
    must(!history_prune(&count, history, NULL, 3, &err) || *err.text);
    judge(history, &out, arena);
    text_release(&out);
}

bool fuzz_history(const char *text, size_t length, struct arena *arena)
{
    static void *good;
    static sqlite3_int64 size;
    struct history *history = NULL;
    struct err err = {0};
    if (!good)
        good = good_history(&size);
    must(!history_open(&history, ":memory:", HISTORY_BEGIN, &err));
    sqlite3 *db = history->db;
    unsigned char *copy = sqlite3_malloc64((sqlite3_uint64)size);
    must(copy != NULL);
    memcpy(copy, good, (size_t)size);
    must(!sqlite3_deserialize(db, "main", copy, size, size,
                              SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE));
    const bool changed = change_rows(db, text, length);
    ask(history, arena);
    history_close(history);
    return changed;
}
