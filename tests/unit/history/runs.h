/* SPDX-License-Identifier: MIT
 *
 * A history in a folder of its own, and runs for it: 12 memory cases and one of another class, with seeded noise of
 * 0.3 %. Names of cases are "copy/n=1" to "copy/n=12" and "lone/x=1".
 */
#ifndef ROOFTILE_TESTS_STORE_RUNS_H
#define ROOFTILE_TESTS_STORE_RUNS_H

#include <unistd.h>

#include "../random.h"
#include "../result/fixture.h"
#include "rooftile/history.h"
#include "sqlite3.h"

enum { CASES = 13, TRIALS = 3, MORE = 6, START = 1772330400, RUN_S = 86400, LONE = 12 };

struct runs {
    struct history *history;
    char folder[64], path[96];
    struct err err;
    /* the result that add_run() makes next */
    struct result result;
    struct result_case cases[CASES];
    struct result_trial trials[CASES][MORE];
    struct result_kpi kpi;
    char ids[CASES][64], run_id[64], started_at[64];
    double ratio[CASES]; /* what the changes so far come to */
    struct rng rng;
    int run; /* the next one */
    unsigned serial;
};

static void set_case(struct runs *n, size_t k, double median)
{
    struct result_case *c = &n->cases[k];
    for (size_t trial = 0; trial < TRIALS; trial++)
        n->trials[k][trial] = (struct result_trial){
            .index = (uint32_t)trial, .status = CASE_OK, .median_ns = median * (0.999 + 0.001 * (double)trial), .n = 2};
    c->trials = n->trials[k];
    c->trial_count = TRIALS;
    c->status = CASE_OK;
    c->reason = "";
    c->flags = 0;
    c->timer = TIMED_BATCH;
    c->verification.verdict = VERIFY_PASS;
    c->stats.median = median;
    c->stats.min = median * 0.99;
    fixture_rates(c);
}

/* A result of this run with every case at its level: change it, then add_it(). */
static void make_run(struct runs *n)
{
    static struct result_case unused[FIXTURE_CASES];
    n->result = fixture_result(unused);
    n->result.cases = n->cases;
    n->result.case_count = CASES;
    n->result.kpi_count = 0;
    n->result.parts = NULL;
    n->result.part_count = 0;
    n->result.trials = TRIALS;
    for (size_t k = 0; k < CASES; k++) {
        snprintf(n->ids[k], sizeof(n->ids[k]), k == LONE ? "lone/x=1;timer=batch" : "copy/n=%zu;timer=batch", k + 1);
        n->cases[k] = fixture_ok(n->ids[k], n->ids[k], k == LONE ? "lone" : "copy");
        n->cases[k].class = k == LONE ? "latency" : "memory";
        set_case(n, k, 1000 * (double)(k + 1) * n->ratio[k] * exp(0.003 * random_normal(&n->rng)));
    }
    const time_t time = (time_t)START + (time_t)n->run * RUN_S;
    struct tm tm;
    strftime(n->started_at, sizeof(n->started_at), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&time, &tm));
    snprintf(n->run_id, sizeof(n->run_id), "%08d-0000-4000-8000-%012u", n->run, n->serial++);
    n->result.run_id = n->run_id;
    n->result.started_at = n->result.finished_at = n->started_at;
    n->run++;
}

static enum status add_to(struct runs *n, const char *channel, bool backfill)
{
    struct history_added added;
    return history_add(n->history, &n->result, &(struct history_add_options){.channel = channel, .backfill = backfill},
                       &added, &n->err);
}

static void add_it(struct runs *n)
{
    if (add_to(n, NULL, false))
        fail_msg("%s", n->err.text);
}

static void add_runs(struct runs *n, int count)
{
    while (count-- > 0) {
        make_run(n);
        add_it(n);
    }
}

/* This run without its last case, "lone/x=1". */
static void drop_last(struct runs *n)
{
    make_run(n);
    n->result.case_count = CASES - 1;
}

static enum status accept(struct runs *n, const char *glob, const char *reason)
{
    const char *const globs[] = {glob};
    size_t count = 0;
    return history_accept(&count, n->history, NULL, NULL, globs, glob ? 1 : 0, reason, &n->err);
}

/* All findings in a line: "confirmed copy/n=1 +5.0; open ..."; then the exit codes: "= 1 1". */
static const char *gate(struct runs *n)
{
    static struct text text;
    struct arena arena = {0};
    struct history_gate out;
    const struct gate_options options = gate_defaults();
    text_release(&text);
    if (history_gate(&out, n->history, NULL, NULL, &options, &arena, &n->err))
        fail_msg("%s", n->err.text);
    for (size_t k = 0; k < out.count; k++) {
        const struct history_series *s = &out.series[k];
        if (s->finding == FINDING_NONE)
            continue;
        const double change = isfinite(s->shift) ? s->shift : s->level;
        text_addf(&text, "%s %s", history_finding_names[s->finding], s->case_id);
        if (s->finding == FINDING_CONFIRMED || s->finding == FINDING_OPEN || s->finding == FINDING_TENTATIVE)
            text_addf(&text, " %+.0f", change * 100);
        text_add(&text, "; ");
    }
    text_addf(&text, "= %d %d", history_exit_code(&out, false), history_exit_code(&out, true));
    arena_release(&arena);
    return text.data;
}

static int64_t count_of(struct runs *n, const char *sql)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    assert_int_equal(sqlite3_open_v2(n->path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    const int64_t value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return value;
}

static void open_history(struct runs *n, uint64_t seed)
{
    *n = (struct runs){.serial = 1};
    rng_init(&n->rng, seed);
    for (size_t k = 0; k < CASES; k++)
        n->ratio[k] = 1;
    snprintf(n->folder, sizeof(n->folder), "/tmp/rooftile-history-XXXXXX");
    assert_non_null(mkdtemp(n->folder));
    snprintf(n->path, sizeof(n->path), "%s/history.db", n->folder);
    assert_int_equal(history_open(&n->history, n->path, HISTORY_BEGIN, &n->err), STATUS_OK);
}

static void close_history(struct runs *n)
{
    struct text problems = {0};
    assert_int_equal(history_check(&problems, n->history, &n->err), STATUS_OK);
    if (problems.length)
        fail_msg("%s", problems.data);
    history_close(n->history);
    unlink(n->path);
    rmdir(n->folder);
}

#endif
