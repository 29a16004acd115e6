/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../near.h"
#include "../random.h"
#include "fixture.h"

enum { TRIALS = 4, MOST = 600 };

/* What one process left behind: every case of the fixture, times around `centre`. */
struct trial {
    struct result result;
    struct result_case cases[FIXTURE_CASES];
    double samples[2][MOST];
    float clocks[MOST];
    char run_id[40], started_at[24];
};

static void set_samples(struct trial *trial, size_t which, size_t count, double centre, uint64_t seed)
{
    struct result_case *c = &trial->cases[which];
    struct rng rng;
    rng_init(&rng, seed * 2 + which);
    for (size_t k = 0; k < count; k++)
        trial->samples[which][k] = centre + random_uniform(&rng);
    c->samples_ns = trial->samples[which];
    c->sample_count = count;
    c->trials = NULL;
    c->trial_count = 0;
    fixture_stats(c);
    fixture_rates(c);
    c->fraction = lower_bound_fraction(&c->lower_bound, &c->work, c->stats.median);
}

static void make_trial(struct trial *trial, unsigned index, double centre)
{
    trial->result = fixture_result(trial->cases);
    snprintf(trial->run_id, sizeof(trial->run_id), "%08u-0000-4000-8000-000000000000", 9 - index);
    snprintf(trial->started_at, sizeof(trial->started_at), "2026-11-21T00:0%u:00Z", index);
    trial->result.run_id = trial->run_id;
    trial->result.started_at = trial->started_at;
    trial->result.parts = NULL;
    trial->result.part_count = 0;
    trial->result.trials = 1;
    set_samples(trial, 0, 20 + index, centre, index);
    set_samples(trial, 1, 30, 2 * centre, index);
    for (size_t k = 0; k < trial->cases[0].sample_count; k++)
        trial->clocks[k] = 2e9F + 1e6F * (float)index;
    trial->cases[0].sample_hz = trial->clocks;
    trial->cases[0].cycles = 2000 + index;
    trial->cases[0].core_hz = 2e9 + 1e6 * index;
    trial->cases[1].flags = 0;
    trial->cases[1].reason = "";
}

static struct trial *make_trials(struct arena *arena)
{
    static const double centres[TRIALS] = {1000, 1010, 1002, 1030};
    struct trial *trials = arena_array(arena, TRIALS, sizeof(*trials));
    for (unsigned k = 0; k < TRIALS; k++)
        make_trial(&trials[k], k, centres[k]);
    return trials;
}

static const char *const names[] = {"t0.json", "t1.json", "t2.json", "t3.json"};

static enum status try_merge(struct result *out, const struct trial *trials, size_t count, struct arena *arena,
                             struct err *err)
{
    const struct result *parts[TRIALS];
    for (size_t k = 0; k < count; k++)
        parts[k] = &trials[k].result;
    return result_merge(out, parts, names, count, arena, err);
}

static struct result merged(const struct trial *trials, size_t count, struct arena *arena)
{
    struct result out;
    struct err err = {0};
    if (try_merge(&out, trials, count, arena, &err))
        fail_msg("%s", err.text);
    return out;
}

static void test_headline(void **state)
{
    (void)state;
    struct arena arena = {0};
    const struct trial *trials = make_trials(&arena);
    const struct result run = merged(trials, 3, &arena);
    const struct result_case *c = &run.cases[0];
    assert_int_equal(run.trials, 3);
    assert_int_equal(run.case_count, FIXTURE_CASES);
    assert_string_equal(run.started_at, "2026-11-21T00:00:00Z");
    assert_int_equal(c->trial_count, 3);
    assert_near(c->stats.median, trials[2].cases[0].stats.median, 0); /* 1000, 1010, 1002: the last is in the middle */
    assert_near(c->bytes_per_s, 96000 / c->stats.median * 1e9, 1e-3);
    assert_int_equal(c->sample_count, 20 + 21 + 22);
    assert_near(c->samples_ns[20], trials[1].samples[0][0], 0);
    assert_near((double)c->sample_hz[41], 2.002e9, 64);
    assert_near(c->stats.max, trials[1].cases[0].stats.max, 0);
    assert_near(c->stats.min, trials[0].cases[0].stats.min, 0);
    assert_near(c->cycles, 2001, 0);
    assert_near(c->core_hz, 2.001e9, 0);
    assert_near(c->trials[1].median_ns, trials[1].cases[0].stats.median, 0);
    assert_int_equal(c->trials[2].n, 22);
    assert_int_equal(c->discarded[DISCARD_ZERO], 6);
    assert_near(c->wall_ns, 1.5e9, 0);
    assert_int_equal(c->status, CASE_OK);
    assert_string_equal(c->reason, trials[0].cases[0].reason);
    arena_release(&arena);
}

static struct text document(const struct result *result)
{
    struct text text = {0};
    result_document(&text, result);
    return text;
}

/* Whatever the order of the arguments, and also in two steps: the same bytes. And what comes out can be read. */
static void test_order_does_not_matter(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct err err = {0};
    const struct trial *trials = make_trials(&arena);
    const struct result whole = merged(trials, TRIALS, &arena);
    struct text want = document(&whole);
    const struct result *read;
    struct rng rng;
    rng_init(&rng, 1);
    if (result_parse(&read, "merged", want.data, want.length, &arena, &err))
        fail_msg("%s", err.text);
    for (int round = 0; round < 24; round++) {
        const struct result *parts[TRIALS];
        struct result half, both;
        for (size_t k = 0; k < TRIALS; k++)
            parts[k] = &trials[k].result;
        for (size_t k = TRIALS; k > 1; k--) {
            const size_t other = (size_t)rng_below(&rng, k);
            const struct result *held = parts[k - 1];
            parts[k - 1] = parts[other];
            parts[other] = held;
        }
        if (round % 2) {
            assert_int_equal(result_merge(&half, parts, names, 2, &arena, &err), STATUS_OK);
            const struct result *rest[] = {parts[2], &half, parts[3]};
            assert_int_equal(result_merge(&both, rest, names, 3, &arena, &err), STATUS_OK);
        } else {
            assert_int_equal(result_merge(&both, parts, names, TRIALS, &arena, &err), STATUS_OK);
        }
        struct text got = document(&both);
        assert_string_equal(got.data, want.data);
        text_release(&got);
    }
    text_release(&want);
    arena_release(&arena);
}

static void test_worst_wins(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct trial *trials = make_trials(&arena);
    trials[1].cases[0].status = CASE_FAILED;
    trials[1].cases[0].reason = "c[17] is 3.5, expected 4";
    trials[1].cases[0].verification = (struct verification){.verdict = VERIFY_FAIL, .method = "expect", .wrong = 1};
    trials[2].cases[0].status = CASE_SKIPPED;
    trials[2].cases[1].flags = FLAG_THROTTLED;
    trials[2].cases[1].reason = "the clock fell";
    trials[0].cases[1].flags = FLAG_LAUNCH_BOUND;
    trials[0].cases[1].reason = "a launch takes as long";
    const struct result run = merged(trials, 3, &arena);
    assert_int_equal(run.cases[0].status, CASE_FAILED);
    assert_int_equal(run.cases[0].verification.verdict, VERIFY_FAIL);
    assert_string_equal(run.cases[0].reason, "trial 2 of 3: c[17] is 3.5, expected 4");
    assert_int_equal(run.cases[0].trials[1].status, CASE_FAILED);
    assert_int_equal(run.cases[1].flags, FLAG_THROTTLED | FLAG_LAUNCH_BOUND);
    assert_string_equal(run.cases[1].reason, "trial 1 of 3: a launch takes as long");
    assert_int_equal(run.cases[3].status, CASE_SKIPPED);
    assert_string_equal(run.cases[3].reason, "needs f64"); /* the same in all of them */
    assert_int_equal(result_exit_code(&run, false), 1);
    arena_release(&arena);
}

static void test_missing_case(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct trial *trials = make_trials(&arena);
    trials[0].result.cases++;
    trials[0].result.case_count--; /* the first case is in trials 1 and 2 only */
    trials[2].result.case_count--;
    const struct result run = merged(trials, 3, &arena);
    assert_int_equal(run.case_count, FIXTURE_CASES);
    const struct result_case *last = &run.cases[FIXTURE_CASES - 1];
    assert_string_equal(last->id, trials[1].cases[0].id); /* no place of its own in the first trial: behind its cases */
    assert_int_equal(last->trial_count, 2);
    assert_int_equal(last->trials[0].index, 1);
    assert_string_equal(last->reason, "only in 2 of 3 trials");
    assert_string_equal(run.cases[FIXTURE_CASES - 2].reason, "no answer; only in 2 of 3 trials");
    arena_release(&arena);
}

/* Where samples stayed behind, extremes, mean and deviation are still those of all samples. */
static void test_without_samples(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct trial *trials = make_trials(&arena);
    const struct result whole = merged(trials, 3, &arena);
    trials[1].cases[0].samples_ns = NULL;
    const struct result run = merged(trials, 3, &arena);
    const struct result_case *c = &run.cases[0], *want = &whole.cases[0];
    assert_null(c->samples_ns);
    assert_null(c->sample_hz);
    assert_int_equal(c->sample_count, want->sample_count);
    assert_near(c->stats.median, want->stats.median, 0);
    assert_near(c->stats.min, want->stats.min, 0);
    assert_near(c->stats.max, want->stats.max, 0);
    assert_near(c->stats.mean, want->stats.mean, 1e-9);
    assert_near(c->stats.sd, want->stats.sd, 1e-9);
    assert_true(c->stats.q1 >= c->stats.p05 && c->stats.q3 >= c->stats.q1);
    struct text text = document(&run);
    const struct result *read;
    struct err err = {0};
    if (result_parse(&read, "merged", text.data, text.length, &arena, &err))
        fail_msg("%s", err.text);
    text_release(&text);
    arena_release(&arena);
}

/* What was measured of a trial, and the rest of it in another process: one trial. */
static void test_the_rest_of_a_trial(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct trial *trials = make_trials(&arena);
    trials[0].result.case_count = 1;
    trials[2].result.run_id = trials[0].result.run_id;
    trials[2].result.started_at = trials[0].result.started_at;
    trials[2].result.cases++;
    trials[2].result.case_count--;
    const struct result run = merged(trials, 3, &arena);
    assert_int_equal(run.trials, 2);
    assert_int_equal(run.part_count, 2);
    assert_int_equal(run.case_count, FIXTURE_CASES);
    for (size_t k = 0; k < FIXTURE_CASES; k++)
        assert_int_equal(run.cases[k].trial_count, 2);
    assert_near(run.cases[0].trials[0].median_ns, trials[0].cases[0].stats.median, 0);
    assert_near(run.cases[1].trials[0].median_ns, trials[2].cases[1].stats.median, 0);
    assert_string_equal(run.cases[0].reason, trials[0].cases[0].reason);
    arena_release(&arena);
}

/* A run that lacked something says so no more when it is there. */
static void test_nothing_lacks_any_more(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct trial *trials = make_trials(&arena);
    trials[1].result.case_count = 1;
    struct result half = merged(trials, 2, &arena), whole;
    struct err err = {0};
    assert_string_equal(half.cases[1].reason, "only in 1 of 2 trials");
    struct trial *rest = make_trials(&arena);
    rest[1].result.cases++;
    rest[1].result.case_count--;
    const struct result *const parts[] = {&half, &rest[1].result};
    if (result_merge(&whole, parts, names, 2, &arena, &err))
        fail_msg("%s", err.text);
    assert_int_equal(whole.trials, 2);
    assert_string_equal(whole.cases[1].reason, "");
    assert_string_equal(whole.cases[5].reason, "no answer");
    arena_release(&arena);
}

static void same_trial(struct trial *t)
{
    t->result.run_id = "00000009-0000-4000-8000-000000000000";
}
static void other_device(struct trial *t)
{
    snprintf(t->result.device.name, sizeof(t->result.device.name), "B");
}
static void other_driver(struct trial *t)
{
    snprintf(t->result.device.driver, sizeof(t->result.device.driver), "6.4");
}
static void other_threads(struct trial *t)
{
    t->result.device.cus = 4;
}
static void other_host(struct trial *t)
{
    t->result.host_id_hash = "ab";
}
static void other_commit(struct trial *t)
{
    t->result.commit = "abc";
}
static void other_suite(struct trial *t)
{
    t->result.config_sha256 = "ff";
}
static void predicted(struct trial *t)
{
    t->result.predicted = true;
}
static void other_timer(struct trial *t)
{
    t->cases[1].timer = TIMED_HOST;
    t->cases[1].id = "copy/n=2;mode=hot;timer=host";
}
static void other_cache(struct trial *t)
{
    t->cases[0].cache = CACHE_COLD;
}
static void other_code(struct trial *t)
{
    t->cases[0].identity.parts[IDENTITY_CODE][5] = 'b';
}
static void other_launch(struct trial *t)
{
    t->cases[0].identity.parts[IDENTITY_LAUNCH][5] = 'b';
    t->cases[0].grid[0] = 32;
}
static void other_inputs(struct trial *t)
{
    t->cases[0].identity.parts[IDENTITY_INPUTS][5] = 'b';
}
static void other_check(struct trial *t)
{
    t->cases[1].identity.parts[IDENTITY_CHECK][5] = 'b';
}
static void twice_measured(struct trial *t)
{
    t->result.run_id = "00000009-0000-4000-8000-000000000000";
    t->result.started_at = "2026-11-21T00:00:00Z";
}
static void twice(struct trial *t)
{
    t->cases[1].id = t->cases[0].id;
}
static void stray_trial(struct trial *t)
{
    static const struct result_trial stray = {.index = 7, .status = CASE_OK, .median_ns = 1000, .min_ns = 900, .n = 3};
    t->cases[0].trials = &stray;
    t->cases[0].trial_count = 1;
}

static const struct {
    void (*change)(struct trial *);
    const char *message;
} refusals[] = {
    {same_trial, "t0.json and t1.json have the same trial: number 0 of run 00000009-"},
    {twice_measured, "t0.json and t1.json have the same trial of copy/n=1"},
    {other_device, "t0.json and t1.json are not of one run: device 'A \"CPU\"' and 'B'"},
    {other_threads, "compute units or threads '2' and '4'"},
    {other_driver, "driver '' and '6.4'"},
    {other_host, "host '' and 'ab'"},
    {other_commit, "commit '' and 'abc'"},
    {other_suite, "suite '' and 'ff'"},
    {predicted, "one is predicted, the other measured"},
    {other_timer, "copy/n=2;mode=hot: timed by 'batch' and by 'host'"},
    {other_cache, "cache mode hot and cold"},
    {other_code, "copy/n=1;mode=hot: not the same code (00000000 to 00000b00; as many instructions"},
    {other_launch, "copy/n=1;mode=hot: not the same launch (grid 16 to 32)"},
    {other_inputs, "copy/n=1;mode=hot: not the same input data"},
    {other_check, "copy/n=2;mode=hot: not the same verification"},
    {twice, "t1.json has the case copy/n=1;mode=hot;timer=batch twice"},
    {stray_trial, "t1.json: copy/n=1;mode=hot;timer=batch has a trial that run.parts does not have"},
};

static void test_refused(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof(refusals) / sizeof(refusals[0]); k++) {
        struct arena arena = {0};
        struct err err = {0};
        struct result out = {.seed = 77};
        struct trial *trials = make_trials(&arena);
        refusals[k].change(&trials[1]);
        assert_int_equal(try_merge(&out, trials, 3, &arena, &err), ERR_CONFIG);
        if (!strstr(err.text, refusals[k].message))
            fail_msg("'%s' does not say '%s'", err.text, refusals[k].message);
        assert_int_equal(out.seed, 77);
        arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_headline),
        cmocka_unit_test(test_order_does_not_matter),
        cmocka_unit_test(test_worst_wins),
        cmocka_unit_test(test_missing_case),
        cmocka_unit_test(test_without_samples),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_the_rest_of_a_trial),
        cmocka_unit_test(test_nothing_lacks_any_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
