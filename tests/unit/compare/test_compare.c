/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../near.h"
#include "../result/fixture.h"
#include "rooftile/compare.h"
#include "rooftile/report.h"

enum { MOST = 80, TRIALS = 5 };

/* A run of TRIALS trials of `count` cases, whose trial medians lie 0.1 % apart around 1 us. */
struct run {
    struct result result;
    struct result_case cases[MOST];
    struct result_trial trials[MOST][TRIALS];
    char ids[MOST][64];
    struct result_kpi kpis[4];
    double values[4][TRIALS];
};

static void set_times(struct run *run, size_t which, double median_ns)
{
    static const double around[TRIALS] = {1, 1.001, 0.999, 1.0005, 0.9995};
    struct result_case *c = &run->cases[which];
    for (size_t k = 0; k < TRIALS; k++)
        run->trials[which][k] = (struct result_trial){.index = (uint32_t)k,
                                                      .status = CASE_OK,
                                                      .median_ns = median_ns * around[k],
                                                      .min_ns = median_ns * 0.99,
                                                      .n = 6,
                                                      .cycles = NAN,
                                                      .core_hz = NAN};
    c->trials = run->trials[which];
    c->trial_count = TRIALS;
    c->stats.median = median_ns;
}

static void make(struct run *run, size_t count)
{
    struct result_case unused[FIXTURE_CASES];
    memset(run, 0, sizeof(*run));
    run->result = fixture_result(unused);
    run->result.trials = TRIALS;
    run->result.parts = NULL;
    run->result.part_count = run->result.kpi_count = 0;
    run->result.cases = run->cases;
    run->result.case_count = count;
    for (size_t k = 0; k < count; k++) {
        snprintf(run->ids[k], sizeof(run->ids[k]), "copy/n=%zu;mode=hot;timer=batch", k);
        run->cases[k] = fixture_ok(run->ids[k], run->ids[k], "copy");
        set_times(run, k, 1000);
    }
}

static void fail_case(struct run *run, size_t which, enum case_status status, const char *reason)
{
    run->cases[which] = fixture_unmeasured(run->ids[which], run->ids[which], "copy", status, reason);
}

struct pair {
    struct run base, now;
    struct arena arena;
    struct comparison comparison;
    struct err err;
    struct compare_options options;
};

static struct pair *pair_of(size_t count)
{
    struct pair *pair = calloc(1, sizeof(*pair));
    make(&pair->base, count);
    make(&pair->now, count);
    pair->options.shift = shift_defaults();
    return pair;
}

static enum status judge(struct pair *pair)
{
    return compare_results(&pair->comparison, &pair->base.result, &pair->now.result, &pair->options, &pair->arena,
                           &pair->err);
}

static void done(struct pair *pair)
{
    arena_release(&pair->arena);
    free(pair);
}

static const struct compare_case *first(const struct pair *pair)
{
    return &pair->comparison.cases[0];
}

/* ---- states of one case ---- */

static void other_timer(struct run *run)
{
    run->cases[0].timer = TIMED_EVENT;
}
static void other_cache(struct run *run)
{
    run->cases[0].cache = CACHE_COLD;
}
static void other_work(struct run *run)
{
    run->cases[0].work.read_bytes *= 2;
    run->cases[0].identity.parts[IDENTITY_WORK][0] = 'f';
}
static void crashed(struct run *run)
{
    fail_case(run, 0, CASE_CRASHED, "SIGSEGV");
}
static void wrong(struct run *run)
{
    run->cases[0].verification.verdict = VERIFY_FAIL;
    run->cases[0].reason = "c[3] is 1, expected 2";
}
static void impossible(struct run *run)
{
    run->cases[0].flags = FLAG_IMPOSSIBLE;
}
static void skipped(struct run *run)
{
    fail_case(run, 0, CASE_SKIPPED, "needs f64");
}
static void not_there(struct run *run)
{
    memmove(run->cases, run->cases + 1, (run->result.case_count - 1) * sizeof(*run->cases));
    run->result.case_count--;
}
static void as_it_is(struct run *run)
{
    (void)run;
}
static void slower(struct run *run)
{
    set_times(run, 0, 1100);
}
static void faster(struct run *run)
{
    set_times(run, 0, 900);
}

static void states(void **state)
{
    static const struct {
        void (*base)(struct run *), (*now)(struct run *);
        enum compare_state state;
        const char *reason; /* part of it */
        int exit_code, strict;
    } cases[] = {
        {as_it_is, as_it_is, COMPARE_JUDGED, "", 0, 0},
        {as_it_is, slower, COMPARE_JUDGED, "", 1, 1},
        {as_it_is, faster, COMPARE_JUDGED, "", 0, 0},
        {as_it_is, other_timer, COMPARE_REFUSED, "timed by 'batch' and by 'event'", 0, 4},
        {as_it_is, other_cache, COMPARE_REFUSED, "cache mode hot and cold", 0, 4},
        {as_it_is, other_work, COMPARE_REFUSED, "not the same work (bytes read 64000 to 128000)", 0, 4},
        {as_it_is, crashed, COMPARE_BROKEN, "crashed: SIGSEGV", 1, 1},
        {as_it_is, wrong, COMPARE_BROKEN, "verification: c[3] is 1", 1, 1},
        {as_it_is, impossible, COMPARE_BROKEN, "impossible", 1, 1},
        {wrong, as_it_is, COMPARE_FIXED, "was verification", 0, 0},
        {crashed, wrong, COMPARE_BOTH_BROKEN, "verification", 0, 4},
        {as_it_is, not_there, COMPARE_MISSING, "not in the new result", 1, 1},
        {as_it_is, skipped, COMPARE_MISSING, "needs f64", 1, 1},
        {not_there, as_it_is, COMPARE_NEW, "not in the base", 0, 4},
        {not_there, crashed, COMPARE_NEW, "crashed", 0, 4},
        {skipped, as_it_is, COMPARE_NEW, "was skipped", 0, 4},
        {skipped, skipped, COMPARE_SKIPPED, "needs f64", 0, 0},
        {skipped, crashed, COMPARE_BROKEN, "crashed", 1, 1},
    };
    (void)state;
    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        struct pair *pair = pair_of(3);
        cases[k].base(&pair->base);
        cases[k].now(&pair->now);
        assert_int_equal(judge(pair), STATUS_OK);
        const struct compare_case *c = NULL;
        for (size_t n = 0; n < pair->comparison.case_count; n++)
            if (!strcmp(pair->comparison.cases[n].id, "copy/n=0;mode=hot"))
                c = &pair->comparison.cases[n];
        assert_non_null(c);
        if (c->state != cases[k].state || !strstr(c->reason, cases[k].reason))
            fail_msg("row %zu: %s (%s)", k, compare_state_names[c->state], c->reason);
        if (compare_exit_code(&pair->comparison, false) != cases[k].exit_code ||
            compare_exit_code(&pair->comparison, true) != cases[k].strict)
            fail_msg("row %zu: exit codes %d and %d", k, compare_exit_code(&pair->comparison, false),
                     compare_exit_code(&pair->comparison, true));
        assert_int_equal(pair->comparison.case_count, 3);
        done(pair);
    }
}

/* No evidence is no green verdict. */
static void nothing_judged(void **state)
{
    (void)state;
    struct pair *pair = pair_of(1);
    other_timer(&pair->now);
    assert_int_equal(judge(pair), STATUS_OK);
    assert_int_equal(compare_exit_code(&pair->comparison, false), 2);
    done(pair);
    pair = pair_of(1);
    crashed(&pair->base);
    crashed(&pair->now);
    assert_int_equal(judge(pair), STATUS_OK);
    assert_int_equal(compare_exit_code(&pair->comparison, false), 2);
    done(pair);
    pair = pair_of(1);
    crashed(&pair->base);
    assert_int_equal(judge(pair), STATUS_OK);
    assert_int_equal(compare_exit_code(&pair->comparison, true), 0);
    done(pair);
}

/* ---- verdicts ---- */

static void one_trial_is_never_confirmed(void **state)
{
    const char *advice[COMPARE_ADVICE + 1];
    (void)state;
    struct pair *pair = pair_of(1);
    set_times(&pair->now, 0, 1500);
    pair->base.result.trials = pair->now.result.trials = 1;
    pair->base.cases[0].trial_count = pair->now.cases[0].trial_count = 0;
    assert_int_equal(judge(pair), STATUS_OK);
    assert_int_equal(first(pair)->shift.verdict, SHIFT_SUSPECT);
    assert_int_equal(first(pair)->shift.base_trials, 1);
    assert_int_equal(compare_exit_code(&pair->comparison, false), 0);
    assert_int_equal(compare_exit_code(&pair->comparison, true), 4);
    compare_advice(advice, &pair->comparison, &pair->arena);
    assert_non_null(strstr(advice[0], "--trials 5"));
    done(pair);
}

static void most_trials(void **state)
{
    (void)state;
    struct pair *pair = pair_of(1);
    struct result_trial *many = calloc(100, sizeof(*many));
    for (uint32_t k = 0; k < 100; k++)
        many[k] = (struct result_trial){
            .index = k, .status = k == 3 ? CASE_CRASHED : CASE_OK, .median_ns = k == 3 ? NAN : 1000.0 + k % 2};
    pair->now.cases[0].trials = many;
    pair->now.cases[0].trial_count = pair->now.result.trials = 100;
    assert_int_equal(judge(pair), STATUS_OK);
    assert_int_equal(first(pair)->shift.new_trials, SHIFT_MAX_TRIALS);
    assert_int_equal(first(pair)->shift.verdict, SHIFT_SAME);
    free(many);
    done(pair);
}

static void set_parts(struct run *run, const char *letters)
{
    for (size_t k = 0; letters[k]; k++)
        snprintf(run->cases[0].identity.parts[k], IDENTITY_TEXT, "%.1s", letters[k] == '-' ? "" : letters + k);
}

/* Beside other code stands what of it changed, and the cause that this shows. */
static void attribution_of_code(void **state)
{
    static const struct {
        struct result_code base, now;
        const char *changes;
    } rows[] = {
        {{.known = true, .vgprs = 196, .waves_per_simd = 2},
         {.known = true,
          .vgprs = 256,
          .vgpr_spills = 31,
          .scratch_bytes = 1228,
          .loop_scratch_bytes = 1228,
          .scratch_loop = 1,
          .waves_per_simd = 2},
         "code (a to b; register allocation: VGPRs 196 to 256, VGPR spills 0 to 31, scratch bytes 0 to 1228, scratch "
         "per turn of loop 1 0 B to 1.20 KiB)"},
        {{.known = true, .vgprs = 128, .waves_per_simd = 4},
         {.known = true, .vgprs = 64, .vgpr_spills = 9, .scratch_bytes = 40, .waves_per_simd = 8},
         "code (a to b; register limit: VGPRs 128 to 64, VGPR spills 0 to 9, scratch bytes 0 to 40, waves per SIMD 4 "
         "to "
         "8)"},
        {{.known = true, .vgprs = 40, .lds_bytes = 8192, .waves_per_simd = 8},
         {.known = true, .vgprs = 40, .lds_bytes = 65536, .waves_per_simd = 1},
         "code (a to b; LDS: LDS bytes 8192 to 65536, waves per SIMD 8 to 1)"},
        {{.known = true, .vgprs = 40, .scratch_bytes = 0, .loop_scratch_bytes = NAN, .waves_per_simd = 8},
         {.known = true, .vgprs = 40, .scratch_bytes = 272, .loop_scratch_bytes = 8, .waves_per_simd = 8},
         "code (a to b; an array or variable in scratch: scratch bytes 0 to 272)"},
        {{.known = true, .vgprs = 40, .loop_instruction = "v_fma_f32", .waves_per_simd = NAN},
         {.known = true, .vgprs = 40, .loop_instruction = "v_mul_f32", .waves_per_simd = 8},
         "code (a to b; hot loop of v_fma_f32 to v_mul_f32)"},
        {{.known = true, .vgprs = 40, .loop_issues = {120, 0, 8}},
         {.known = true, .vgprs = 40, .loop_issues = {144, 0, 9}},
         "code (a to b; instructions in the hot loop: 120 to 144 VALU, 8 to 9 VMEM)"},
        {{.known = true, .vgprs = 40, .loop_issues = {120, 0, 8}},
         {.known = true, .vgprs = 48, .loop_issues = {120, 0, 10}},
         "code (a to b; VGPRs 40 to 48, instructions in the hot loop: 8 to 10 VMEM)"},
        {{.known = true, .vgprs = 40, .loop_issues = {120}},
         {.known = true, .vgprs = 40, .loop_issues = {120}},
         "code (a to b; as many instructions of each kind in the hot loop: their order, or code outside of it)"},
        {{.known = true, .vgprs = 40, .loop_issues = {120}}, {.known = true, .vgprs = 40}, "code (a to b)"},
        {{.known = true, .vgprs = 40}, {.known = true, .vgprs = 40}, "code (a to b)"},
        {{.known = true, .vgprs = 40}, {.known = false}, "code (a to b)"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
        struct pair *pair = pair_of(1);
        slower(&pair->now);
        set_parts(&pair->base, "aaaa");
        set_parts(&pair->now, "baaa");
        pair->base.cases[0].code = rows[k].base;
        pair->now.cases[0].code = rows[k].now;
        assert_int_equal(judge(pair), STATUS_OK);
        assert_string_equal(first(pair)->changes, rows[k].changes);
        done(pair);
    }
}

static void attribution(void **state)
{
    static const struct {
        const char *base, *now; /* code, launch, input data, verification; '-' unknown */
        double cycles;          /* of the new one, 1000 in the base; NaN: unknown */
        enum compare_cause cause;
        const char *changes;
    } rows[] = {
        {"aaaa", "baaa", 1100, CAUSE_CODE, "code (a to b)"},
        {"aaaa", "baaa", NAN, CAUSE_CODE, "code (a to b)"},
        {"aaaa", "aaaa", 1100, CAUSE_ENVIRONMENT, ""},
        {"aaaa", "aaaa", NAN, CAUSE_ENVIRONMENT, ""},
        {"aaaa", "aaaa", 1001, CAUSE_CLOCK, ""},
        {"aaaa", "baaa", 1001, CAUSE_CLOCK, "code (a to b)"},
        {"aaaa", "abaa", NAN, CAUSE_LAUNCH, "launch (grid 16 to 16 x 4)"},
        {"aaaa", "aaba", NAN, CAUSE_INPUTS, "input data"},
        {"aaaa", "bbba", NAN, CAUSE_CODE, "code (a to b), launch (grid 16 to 16 x 4), input data"},
        {"aaaa", "aaab", NAN, CAUSE_ENVIRONMENT, "verification"},
        {"----", "----", NAN, CAUSE_NONE, ""},
        {"aaaa", "-aaa", NAN, CAUSE_NONE, ""},
    };
    (void)state;
    for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
        struct pair *pair = pair_of(1);
        slower(&pair->now);
        set_parts(&pair->base, rows[k].base);
        set_parts(&pair->now, rows[k].now);
        pair->now.cases[0].grid[1] = 4;
        pair->base.cases[0].cycles = 1000;
        pair->now.cases[0].cycles = rows[k].cycles;
        assert_int_equal(judge(pair), STATUS_OK);
        assert_int_equal(first(pair)->shift.verdict, SHIFT_SLOWER);
        assert_int_equal(first(pair)->cause, rows[k].cause);
        assert_int_equal(first(pair)->same_code, rows[k].base[0] != '-' && rows[k].base[0] == rows[k].now[0]);
        assert_string_equal(first(pair)->changes, rows[k].changes);
        done(pair);
    }
}

/* The slow trials of one side, and its fastest as fast as ever: a interference. */
static void noise_is_told(void **state)
{
    (void)state;
    struct pair *pair = pair_of(1);
    slower(&pair->now);
    pair->now.trials[0][2].median_ns = 998;
    pair->now.trials[0][1].flags = FLAG_INTERFERENCE;
    pair->now.trials[0][3].flags = FLAG_THROTTLED;
    assert_int_equal(judge(pair), STATUS_OK);
    assert_int_equal(first(pair)->shift.verdict, SHIFT_INCONCLUSIVE);
    if (first(pair)->shift.reason == SHIFT_UNSUPPORTED)
        assert_int_equal(first(pair)->cause, CAUSE_NOISE);
    assert_int_equal(first(pair)->interference[0], 0);
    assert_int_equal(first(pair)->interference[1], 2);
    done(pair);
}

static void whole_class(void **state)
{
    (void)state;
    struct pair *pair = pair_of(14);
    for (size_t k = 0; k < 12; k++)
        set_times(&pair->now, k, 1050);
    set_times(&pair->now, 3, 1300);
    pair->base.cases[12].class = pair->now.cases[12].class = "compute";
    pair->base.cases[13].class = pair->now.cases[13].class = NULL;
    assert_int_equal(judge(pair), STATUS_OK);
    size_t shifted = 0;
    for (size_t k = 0; k < pair->comparison.class_count; k++)
        shifted += pair->comparison.classes[k].group.shifted;
    assert_int_equal(shifted, 1);
    assert_int_equal(pair->comparison.verdicts[SHIFT_SLOWER], 1); /* the rest is what is left */
    assert_string_equal(pair->comparison.cases[3].id, "copy/n=3;mode=hot");
    assert_int_equal(pair->comparison.cases[3].shift.verdict, SHIFT_SLOWER);
    assert_near(pair->comparison.cases[3].shift.ratio, 1300.0 / 1050, 1e-3);
    assert_int_equal(pair->comparison.verdicts[SHIFT_SAME], 13);
    set_times(&pair->now, 3, 1050);
    arena_release(&pair->arena);
    assert_int_equal(judge(pair), STATUS_OK);
    assert_int_equal(pair->comparison.verdicts[SHIFT_SLOWER], 0);
    assert_int_equal(compare_exit_code(&pair->comparison, false), 1); /* the class itself is slower */
    done(pair);
}

static void more_classes_than_room(void **state)
{
    static char names[80][8];
    (void)state;
    struct pair *pair = pair_of(MOST);
    for (size_t k = 0; k < MOST; k++) {
        snprintf(names[k], sizeof(names[k]), "c%zu", k);
        pair->base.cases[k].class = pair->now.cases[k].class = names[k];
    }
    assert_int_equal(judge(pair), STATUS_OK);
    assert_int_equal(pair->comparison.class_count, 64);
    assert_int_equal(pair->comparison.verdicts[SHIFT_SAME], MOST);
    done(pair);
}

/* ---- what is refused as a whole ---- */

static void other_backend(struct run *run)
{
    snprintf(run->result.device.backend, sizeof(run->result.device.backend), "hip");
}
static void other_name(struct run *run)
{
    snprintf(run->result.device.name, sizeof(run->result.device.name), "B");
}
static void other_cus(struct run *run)
{
    run->result.device.cus = 3;
}
static void other_card(struct run *run)
{
    snprintf(run->result.device.uuid, sizeof(run->result.device.uuid), "GPU-2");
}
static void other_partition(struct run *run)
{
    snprintf(run->result.device.partition, sizeof(run->result.device.partition), "CPX");
}
static void predicted(struct run *run)
{
    run->result.predicted = true;
}
static void profile_label(struct run *run)
{
    static const struct result_label labels[] = {{"profile", "not a measurement"}};
    run->result.labels = labels;
    run->result.label_count = 1;
}
static void users_label(struct run *run)
{
    static const struct result_label labels[] = {{"profile", "performance"}};
    run->result.labels = labels;
    run->result.label_count = 1;
}
static void profile_flag(struct run *run)
{
    run->cases[1].flags = FLAG_PROFILED;
}
static void twice(struct run *run)
{
    run->cases[1].id = "copy/n=0;mode=hot;timer=event";
}

static void refusals(void **state)
{
    static const struct {
        void (*change)(struct run *);
        const char *message; /* NULL: allowed */
    } rows[] = {
        {as_it_is, NULL},
        {users_label, NULL},
        {other_backend, "different devices"},
        {other_name, "different devices"},
        {other_cus, "different devices: compute units or threads '2' and '3'"},
        {other_card, "different devices: card 'GPU-1' and 'GPU-2'"},
        {other_partition, "different devices: partition 'SPX' and 'CPX'"},
        {predicted, "one of the two is predicted"},
        {profile_label, "the new result: a run with --profile is no measurement"},
        {profile_flag, "--profile"},
        {twice, "the new result has the case copy/n=0;mode=hot twice"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
        struct pair *pair = pair_of(2);
        snprintf(pair->base.result.device.partition, sizeof(pair->base.result.device.partition), "SPX");
        snprintf(pair->base.result.device.uuid, sizeof(pair->base.result.device.uuid), "GPU-1");
        snprintf(pair->now.result.device.uuid, sizeof(pair->now.result.device.uuid), "GPU-1");
        rows[k].change(&pair->now);
        const enum status status = judge(pair);
        if (status != (rows[k].message ? ERR_CONFIG : STATUS_OK) ||
            (rows[k].message && !strstr(pair->err.text, rows[k].message)))
            fail_msg("row %zu: %s", k, pair->err.text);
        done(pair);
    }
}

static void filters(void **state)
{
    static const char *const one[] = {"*n=1;*"}, *const none[] = {"dot*"}, *const but[] = {"!*n=0;*"};
    (void)state;
    struct pair *pair = pair_of(2);
    slower(&pair->now);
    pair->options.filter_count = 1;
    pair->options.filters = one;
    assert_int_equal(judge(pair), STATUS_OK);
    assert_int_equal(pair->comparison.case_count, 1);
    assert_int_equal(compare_exit_code(&pair->comparison, true), 0);
    pair->options.filters = but;
    assert_int_equal(judge(pair), STATUS_OK);
    assert_int_equal(pair->comparison.case_count, 1);
    pair->options.filters = none;
    assert_int_equal(judge(pair), ERR_CONFIG);
    assert_non_null(strstr(pair->err.text, "the filter leaves none"));
    done(pair);
}

static void learned_noise(void **state)
{
    const struct noise_case known[] = {
        {.id = "copy/n=0;mode=hot;timer=batch", .class = "memory", .sigma = 0.2, .trials = 30}};
    struct noise_file noise = {.path = "n.json", .device = "A", .cases = known, .case_count = 1};
    (void)state;
    struct pair *pair = pair_of(2);
    memset(noise.fingerprint, 'b', 64);
    slower(&pair->now);
    pair->options.noise = &noise;
    assert_int_equal(judge(pair), STATUS_OK);
    assert_true(pair->comparison.learned_noise);
    assert_int_equal(first(pair)->shift.verdict, SHIFT_INCONCLUSIVE); /* 10 % is nothing where 20 % is usual */
    assert_int_equal(pair->comparison.cases[1].shift.verdict, SHIFT_SAME);
    noise.fingerprint[0] = 'c';
    assert_int_equal(judge(pair), ERR_CONFIG);
    assert_non_null(strstr(pair->err.text, "another environment"));
    done(pair);
}

/* ---- key figures ---- */

static void set_kpi(struct run *run, size_t which, const char *name, double value, bool higher)
{
    static const char *const filters[] = {"copy"};
    for (size_t k = 0; k < TRIALS; k++)
        run->values[which][k] = value * (1 + 0.0005 * (double)k);
    run->kpis[which] = (struct result_kpi){.name = name,
                                           .method = "geomean",
                                           .of = "x",
                                           .unit = "u",
                                           .filters = filters,
                                           .filter_count = 1,
                                           .higher_is_better = higher,
                                           .value = value,
                                           .reason = isfinite(value) ? "" : "1 of 2 cases have no value",
                                           .case_count = 2,
                                           .trial_values = run->values[which],
                                           .trial_count = isfinite(value) ? TRIALS : 0};
    run->result.kpis = run->kpis;
    run->result.kpi_count = which + 1;
}

static void key_figures(void **state)
{
    static const struct {
        double base, now;
        bool higher, judged, lost;
        enum shift_verdict verdict;
        int exit_code, strict;
    } rows[] = {
        {100, 90, true, true, false, SHIFT_SLOWER, 1, 1},
        {100, 110, true, true, false, SHIFT_FASTER, 0, 0},
        {100, 110, false, true, false, SHIFT_SLOWER, 1, 1},
        {100, 90, false, true, false, SHIFT_FASTER, 0, 0},
        {100, 100, true, true, false, SHIFT_SAME, 0, 0},
        {100, NAN, true, false, true, 0, 1, 1},
        {NAN, 100, true, false, false, 0, 0, 4},
        {NAN, NAN, true, false, false, 0, 0, 0},
        {0, 100, true, false, false, 0, 0, 4},
        {1e-320, 1, true, false, false, 0, 0, 4},
    };
    (void)state;
    for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
        struct pair *pair = pair_of(2);
        set_kpi(&pair->base, 0, "k", rows[k].base, rows[k].higher);
        set_kpi(&pair->now, 0, "k", rows[k].now, rows[k].higher);
        assert_int_equal(judge(pair), STATUS_OK);
        const struct compare_kpi *kpi = &pair->comparison.kpis[0];
        if (kpi->judged != rows[k].judged || kpi->lost != rows[k].lost ||
            (kpi->judged && kpi->shift.verdict != rows[k].verdict) || (!kpi->judged && !kpi->reason[0]))
            fail_msg("row %zu: judged %d, lost %d, %s, '%s'", k, kpi->judged, kpi->lost,
                     shift_verdict_names[kpi->shift.verdict], kpi->reason);
        assert_int_equal(compare_exit_code(&pair->comparison, false), rows[k].exit_code);
        assert_int_equal(compare_exit_code(&pair->comparison, true), rows[k].strict);
        done(pair);
    }
}

static void key_figures_that_differ(void **state)
{
    (void)state;
    struct pair *pair = pair_of(2);
    set_kpi(&pair->base, 0, "a", 100, true);
    set_kpi(&pair->base, 1, "gone", 100, true);
    set_kpi(&pair->base, 2, "never was", NAN, true);
    set_kpi(&pair->now, 0, "a", 50, true);
    set_kpi(&pair->now, 1, "fresh", 50, true);
    pair->now.kpis[0].case_count = 3;
    assert_int_equal(judge(pair), STATUS_OK);
    assert_int_equal(pair->comparison.kpi_count, 4);
    assert_false(pair->comparison.kpis[0].judged);
    assert_non_null(strstr(pair->comparison.kpis[0].reason, "declared differently"));
    assert_string_equal(pair->comparison.kpis[1].reason, "not in the base");
    assert_true(pair->comparison.kpis[2].lost);
    assert_false(pair->comparison.kpis[3].lost);
    assert_int_equal(compare_exit_code(&pair->comparison, false), 1);
    struct text junit = {0}; /* what is lost has failed; what could not be judged was skipped */
    report_comparison(&junit, "junit", &pair->comparison, &(struct report_options){0});
    assert_non_null(strstr(junit.data, "failures=\"1\" errors=\"0\" skipped=\"3\""));
    text_release(&junit);
    const char *const only[] = {"copy"};
    pair->options.filters = only;
    pair->options.filter_count = 1;
    assert_int_equal(judge(pair), STATUS_OK);
    assert_int_equal(pair->comparison.kpi_count, 0); /* they are made from all cases */
    assert_int_equal(compare_exit_code(&pair->comparison, false), 0);
    done(pair);
}

/* ---- what else differs ---- */

static const struct compare_difference *difference(const struct pair *pair, const char *what)
{
    for (size_t k = 0; k < pair->comparison.difference_count; k++)
        if (!strcmp(pair->comparison.differences[k].what, what))
            return &pair->comparison.differences[k];
    return NULL;
}

static void differences(void **state)
{
    static const struct result_label env[] = {{"OMP_NUM_THREADS", "4"}, {"HIP_VISIBLE_DEVICES", "0"}};
    (void)state;
    struct pair *pair = pair_of(1);
    assert_int_equal(judge(pair), STATUS_OK);
    assert_int_equal(pair->comparison.difference_count, 0);
    assert_true(pair->comparison.same_fingerprint);
    pair->now.result.env = env;
    pair->now.result.env_count = 2;
    pair->now.result.compiler = "clang 20";
    pair->now.result.governor = NULL;
    pair->now.result.fingerprint[0] = 'x';
    pair->now.result.machine.levels[0].bandwidth.measured *= 1.005;
    pair->now.result.machine.levels[1].bandwidth.measured *= 2;
    assert_int_equal(judge(pair), STATUS_OK);
    assert_false(pair->comparison.same_fingerprint);
    assert_string_equal(difference(pair, "kernel compiler")->now, "clang 20");
    assert_string_equal(difference(pair, "$OMP_NUM_THREADS")->base, "2");
    assert_string_equal(difference(pair, "$HIP_VISIBLE_DEVICES")->base, "");
    assert_null(difference(pair, "ceiling L1")); /* half a percent is the same ceiling */
    assert_non_null(strstr(difference(pair, "ceiling DRAM")->now, "213 GB/s"));
    pair->now.result.machine.level_count = pair->now.result.machine.unit_count = 0;
    assert_int_equal(judge(pair), STATUS_OK);
    assert_string_equal(difference(pair, "ceilings")->now, "none");
    done(pair);
}

/* ---- the writers ---- */

static size_t occurrences(const char *text, const char *what)
{
    size_t count = 0;
    for (const char *at = strstr(text, what); at; at = strstr(at + 1, what))
        count++;
    return count;
}

static void writers(void **state)
{
    (void)state;
    struct pair *pair = pair_of(4);
    struct text text = {0}, again = {0};
    slower(&pair->now);
    fail_case(&pair->now, 1, CASE_FAILED,
              "a \033[31m \xc2\x9b <reason> | that is rather long, so long that it cannot stand in one line");
    set_kpi(&pair->base, 0, "the <figure>", 100, true);
    set_kpi(&pair->now, 0, "the <figure>", 50, true);
    assert_int_equal(judge(pair), STATUS_OK);
    const struct report_options plain = {.columns = 80}, colour = {.color = true, .columns = 80};
    static const char *const formats[] = {"table", "json", "markdown", "junit"};
    for (size_t k = 0; k < sizeof(formats) / sizeof(*formats); k++) {
        assert_true(report_has_format(formats[k]));
        text_clear(&text);
        text_clear(&again);
        report_comparison(&text, formats[k], &pair->comparison, &plain);
        report_comparison(&again, formats[k], &pair->comparison, &plain);
        assert_string_equal(text.data, again.data);
        assert_null(strchr(text.data, '\033'));
    }
    assert_false(report_has_format("csv"));
    text_clear(&text);
    report_comparison(&text, "table", &pair->comparison, &plain);
    assert_null(strstr(text.data, "\xc2\x9b"));
    assert_non_null(strstr(text.data, "BROKEN"));
    assert_non_null(strstr(text.data, "WORSE"));
    assert_non_null(strstr(text.data, "4 cases: 1 slower, 1 broken, 2 same"));
    for (const char *line = text.data; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        assert_true(strcspn(line, "\n") <= 110);
    text_clear(&text);
    report_comparison(&text, "table", &pair->comparison, &colour);
    assert_non_null(strstr(text.data, "\033[31mSLOWER\033[0m"));
    text_clear(&text);
    report_comparison(&text, "junit", &pair->comparison, &plain);
    assert_non_null(strstr(text.data, "tests=\"5\" failures=\"3\" errors=\"0\" skipped=\"0\""));
    assert_int_equal(occurrences(text.data, "<failure "), 3);
    assert_non_null(strstr(text.data, "key figure the &lt;figure&gt;"));
    text_clear(&text);
    report_comparison(&text, "markdown", &pair->comparison, &plain);
    assert_non_null(strstr(text.data, "### rooftile compare: "));
    assert_non_null(strstr(text.data, "regression"));
    assert_non_null(strstr(text.data, "| -50 % | **WORSE** |"));
    text_release(&text);
    text_release(&again);
    done(pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states),
        cmocka_unit_test(nothing_judged),
        cmocka_unit_test(one_trial_is_never_confirmed),
        cmocka_unit_test(most_trials),
        cmocka_unit_test(attribution),
        cmocka_unit_test(attribution_of_code),
        cmocka_unit_test(noise_is_told),
        cmocka_unit_test(whole_class),
        cmocka_unit_test(more_classes_than_room),
        cmocka_unit_test(refusals),
        cmocka_unit_test(filters),
        cmocka_unit_test(learned_noise),
        cmocka_unit_test(key_figures),
        cmocka_unit_test(key_figures_that_differ),
        cmocka_unit_test(differences),
        cmocka_unit_test(writers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
