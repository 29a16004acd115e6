/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../near.h"
#include "fixture.h"

static const char *const copies[] = {"copy"}, *const first[] = {"copy/n=1;*"}, *const none[] = {"gemm*"},
                         *const all[] = {"*"}, *const but[] = {"copy", "!*n=3*"};

/* copy/n=1 at 1 us, copy/n=2 at 4 us, copy/n=3 as the test makes it, copy/n=4 skipped. */
struct world {
    struct result_case cases[FIXTURE_CASES];
    struct result_trial trials[2][3];
    struct result result;
    struct result_kpi kpi;
    struct arena arena;
};

static void trials_of(struct world *world, size_t which, double median_ns)
{
    struct result_case *c = &world->cases[which];
    for (uint32_t k = 0; k < 3; k++)
        world->trials[which][k] =
            (struct result_trial){.index = k, .status = CASE_OK, .median_ns = median_ns * (1 + 0.1 * k)};
    c->trials = world->trials[which];
    c->trial_count = 3;
    result_take_median(c, median_ns * 1.1);
}

static struct world *world_of(const char *method, const char *of, const char *const *filters, size_t count)
{
    struct world *world = calloc(1, sizeof(*world));
    world->result = fixture_result(world->cases);
    world->cases[1].flags = 0;
    world->result.case_count = 2;
    world->result.trials = 3;
    trials_of(world, 0, 1000);
    trials_of(world, 1, 4000);
    world->cases[0].weight = 3; /* the other one counts once */
    world->kpi =
        (struct result_kpi){.name = "k", .method = method, .of = of, .filters = filters, .filter_count = count};
    world->result.kpis = &world->kpi;
    world->result.kpi_count = 1;
    return world;
}

static const struct result_kpi *evaluated(struct world *world)
{
    result_kpis_evaluate(&world->result, &world->arena);
    return world->result.kpis;
}

static void done(struct world *world)
{
    arena_release(&world->arena);
    free(world);
}

static void values(void **state)
{
    static const struct {
        const char *method, *of;
        double value, trial; /* of the run; in the first trial */
    } rows[] = {
        {"geomean", "time_ns", 2200, 2000},
        {"min", "time_ns", 1100, 1000},
        {"max", "time_ns", 4400, 4000},
        {"geomean", "bytes_per_s", 96000 / 2200.0 * 1e9, 48e9},
        {"max", "flops_per_s", 16000 / 1100.0 * 1e9, 16e9},
        {"min", "fraction", 96000 / 106.7 / 4400, 96000 / 106.7 / 4000},
        {"geomean", "cycles", 123.5, NAN},
        {"weighted_sum", "time_ns", 3 * 1100 + 4400, 3 * 1000 + 4000},
    };
    (void)state;
    for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
        struct world *world = world_of(rows[k].method, rows[k].of, copies, 1);
        const struct result_kpi *kpi = evaluated(world);
        assert_near(kpi->value, rows[k].value, 1e-9 * rows[k].value);
        assert_string_equal(kpi->reason, "");
        assert_int_equal(kpi->case_count, 2);
        assert_int_equal(kpi->trial_count, 3);
        if (isnan(rows[k].trial))
            assert_true(isnan(kpi->trial_values[0]));
        else
            assert_near(kpi->trial_values[0], rows[k].trial, 1e-9 * rows[k].trial);
        done(world);
    }
}

static void one_value(void **state)
{
    (void)state;
    struct world *world = world_of("value", "time_ns", first, 1);
    assert_near(evaluated(world)->value, 1100, 1e-9);
    done(world);
    world = world_of("value", "time_ns", all, 1);
    const struct result_kpi *kpi = evaluated(world);
    assert_true(isnan(kpi->value));
    assert_string_equal(kpi->reason, "2 cases match, where one was meant");
    done(world);
    world = world_of("value", "time_ns", none, 1);
    assert_string_equal(evaluated(world)->reason, "no case matches");
    done(world);
}

/* No figure is made from a part of its cases. */
static void incomplete(void **state)
{
    static const struct {
        enum case_status status;
        uint32_t flags;
        bool wrong;
        const char *reason; /* NULL: no part of the figure */
    } rows[] = {
        {CASE_CRASHED, 0, false, "crashed"},
        {CASE_ERROR, 0, false, "error"},
        {CASE_FAILED, 0, true, "verification"},
        {CASE_OK, 0, true, "verification"},
        {CASE_OK, FLAG_IMPOSSIBLE, false, "impossible"},
        {CASE_SKIPPED, 0, false, NULL},
    };
    (void)state;
    for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
        struct world *world = world_of("geomean", "time_ns", copies, 1);
        world->cases[2] = world->cases[0];
        world->cases[2].id = "copy/n=3;mode=hot;timer=batch";
        world->cases[2].status = rows[k].status;
        world->cases[2].flags = rows[k].flags;
        world->cases[2].verification.verdict = rows[k].wrong ? VERIFY_FAIL : VERIFY_PASS;
        world->result.case_count = 3;
        const struct result_kpi *kpi = evaluated(world);
        assert_int_equal(kpi->case_count, rows[k].reason ? 3 : 2);
        assert_int_equal(isnan(kpi->value), rows[k].reason != NULL);
        if (rows[k].reason && (!strstr(kpi->reason, "1 of 3 cases") || !strstr(kpi->reason, rows[k].reason)))
            fail_msg("row %zu: %s", k, kpi->reason);
        assert_int_equal(isnan(kpi->trial_values[1]), rows[k].reason != NULL);
        world->kpi.filters = but;
        world->kpi.filter_count = 2;
        world->result.kpis = &world->kpi;
        assert_near(evaluated(world)->value, 2200, 1e-6);
        done(world);
    }
}

/* Cases are named by their tags, too; what a '!' takes out stays out whatever its tags are. */
static void cases_by_tags(void **state)
{
    static const char *const tags[] = {"memory", "dram"};
    static const struct {
        const char *const filters[2];
        size_t filter_count;
        uint32_t case_count;
    } rows[] = {
        {{"dram"}, 1, 1}, {{"dram", "copy/n=2*"}, 2, 2}, {{"!dram"}, 1, 1}, {{"!copy/n=1*"}, 1, 1}, {{"L2"}, 1, 0}};
    (void)state;
    for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
        struct world *world = world_of("geomean", "time_ns", rows[k].filters, rows[k].filter_count);
        world->cases[0].tags = tags;
        world->cases[0].tag_count = 2;
        assert_int_equal(evaluated(world)->case_count, rows[k].case_count);
        done(world);
    }
}

static void a_trial_without_a_case(void **state)
{
    (void)state;
    struct world *world = world_of("geomean", "time_ns", copies, 1);
    world->cases[1].trial_count = 2;
    world->trials[0][1].status = CASE_CRASHED;
    const struct result_kpi *kpi = evaluated(world);
    assert_true(isfinite(kpi->trial_values[0]));
    assert_true(isnan(kpi->trial_values[1]));
    assert_true(isnan(kpi->trial_values[2]));
    done(world);
}

static void no_such_quantity(void **state)
{
    (void)state;
    struct world *world = world_of("min", "items_per_s", copies, 1);
    world->cases[0].work.items = 0;
    assert_string_equal(evaluated(world)->reason, "2 of 2 cases have no items_per_s; the first is copy n=1");
    done(world);
    world = world_of("min", "steps", copies, 1); /* a metric that is there and has no value */
    assert_true(isnan(evaluated(world)->value));
    done(world);
}

static void one_trial(void **state)
{
    (void)state;
    struct world *world = world_of("max", "time_ns", copies, 1);
    world->result.trials = 1;
    world->cases[0].trial_count = world->cases[1].trial_count = 0;
    const struct result_kpi *kpi = evaluated(world);
    assert_near(kpi->value, 4400, 1e-9);
    assert_int_equal(kpi->trial_count, 0);
    done(world);
}

static void whole_numbers(void **state)
{
    static const struct {
        const char *of, *first, *second, *unit;
    } rows[] = {{"flops_per_s", "vector_f32", "vector_f32", "FLOP/s"},
                {"flops_per_s", "vector_i8", "matrix_i8", "OP/s"},
                {"flops_per_s", "vector_i8", "vector_f32", "FLOP/s"},
                {"bytes_per_s", "vector_i8", "vector_i8", "B/s"}};
    (void)state;
    for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
        struct world *world = world_of("max", rows[k].of, NULL, 0);
        world->kpi.unit = !strcmp(rows[k].of, "flops_per_s") ? "FLOP/s" : "B/s";
        snprintf(world->cases[0].work.unit, sizeof(world->cases[0].work.unit), "%s", rows[k].first);
        snprintf(world->cases[1].work.unit, sizeof(world->cases[1].work.unit), "%s", rows[k].second);
        assert_string_equal(evaluated(world)->unit, rows[k].unit);
        done(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),
        cmocka_unit_test(one_value),
        cmocka_unit_test(incomplete),
        cmocka_unit_test(cases_by_tags),
        cmocka_unit_test(a_trial_without_a_case),
        cmocka_unit_test(no_such_quantity),
        cmocka_unit_test(one_trial),
        cmocka_unit_test(whole_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
