/* SPDX-License-Identifier: MIT */
#include "../../../src/device/cpu.h"
#include "cpu_rig.h"

static void only_kernels_that_wait_use_lanes(void **state)
{
    static const struct {
        const char *name;
        bool uses_lanes;
    } cases[] = {
        {"scale", false},
        {"arguments", false},
        {"grid", false},
        {"reverse", true},
        {"reverse_without_barrier", false},
        {"scan", true},
        {"shuffles", true},
        {"inactive", true},
        {"one_wave", true},
        {"unwritten", false},
        {"functions", false},
        {"atomics", false},
        {"hidden", false},
        {"nothing", false},
    };
    (void)state;
    for
        EACH(w, waves)
        {
            struct rig rig;
            rig_open(&rig, (struct device_request){.wave = waves[w]});
        for
            EACH(i, cases)
            {
                const struct device_kernel *kernel = rig_kernel(&rig, cases[i].name, NULL);
                if (kernel->uses_lanes != cases[i].uses_lanes)
                    fail_msg("%s: uses_lanes is %d", cases[i].name, kernel->uses_lanes);
            }
        rig_close(&rig);
        }
}

static void grids_have_three_dimensions(void **state)
{
    static const uint32_t shapes[][6] = {
        {5, 3, 2, 4, 3, 2}, {1, 1, 7, 64, 2, 1}, {1, 9, 1, 1, 1, 100}, {3, 1, 1, 1, 1, 1}};
    (void)state;
    for
        EACH(w, waves)
        for
            EACH(o, orders)
            for
                EACH(k, shapes)
                {
                    const uint32_t *s = shapes[k];
                    const uint32_t items = s[3] * s[4] * s[5], groups = s[0] * s[1] * s[2];
                    uint32_t *seen = calloc((size_t)items * groups, sizeof(*seen));
                    struct rig rig;
                    void *args[] = {&seen};
                    rig_open(&rig, (struct device_request){.wave = waves[w]});
                    const struct device_launch launch = {.grid = {s[0], s[1], s[2]},
                                                         .block = {s[3], s[4], s[5]},
                                                         .args = args,
                                                         .lane_order = orders[o],
                                                         .seed = k};
                    assert_int_equal(rig_launch(&rig, "grid", launch), STATUS_OK);
                    for (uint32_t i = 0; i < items * groups; ++i) {
                        const uint32_t at = i % items;
                        const uint32_t expected =
                            at % s[3] | at / s[3] % s[4] << 8 | at / s[3] / s[4] << 16 | at % waves[w] << 24;
                        assert_int_equal(seen[i], expected);
                    }
                    rig_close(&rig);
                    free(seen);
                }
}

static void barriers_order_lds(void **state)
{
    enum { GROUPS = 37 };
    static uint32_t a[GROUPS * LANES], b[GROUPS * LANES];
    uint32_t *to = a, *from = b;
    void *args[] = {&to, &from};
    (void)state;
    for (uint32_t i = 0; i < GROUPS * LANES; ++i)
        b[i] = i * 7;
    for
        EACH(w, waves)
        {
            struct rig rig;
            rig_open(&rig, (struct device_request){.wave = waves[w]});
        for
            EACH(o, orders)
        for (uint32_t block = 1; block <= LANES; block += 85) {
            const struct device_launch launch = {.grid = {GROUPS},
                                                 .block = {block},
                                                 .args = args,
                                                 .lane_order = orders[o],
                                                 .poison_lds = block == 86,
                                                 .seed = block};
            memset(a, 0, sizeof(a));
            assert_int_equal(rig_launch(&rig, "reverse", launch), STATUS_OK);
            for (uint32_t i = 0; i < GROUPS * block; ++i)
                assert_int_equal(a[i], 7 * (i / block * block + block - 1 - i % block));
        }
        rig_close(&rig);
        }
}

static void a_barrier_in_an_unrolled_loop_is_one_place(void **state)
{
    (void)state;
    for
        EACH(w, waves)
        for
            EACH(o, orders)
            {
                struct rig rig;
                uint32_t a[LANES], *pointer = a;
                void *args[] = {&pointer};
                for (uint32_t i = 0; i < LANES; ++i)
                    a[i] = i;
                rig_open(&rig, (struct device_request){.wave = waves[w]});
                const struct device_launch launch = {.block = {LANES},
                                                     .args = args,
                                                     .lds_bytes = sizeof(a),
                                                     .lane_order = orders[o],
                                                     .poison_lds = true};
                assert_int_equal(rig_launch(&rig, "scan", launch), STATUS_OK);
                for (uint32_t i = 0; i < LANES; ++i)
                    assert_int_equal(a[i], i * (i + 1) / 2);
                rig_close(&rig);
            }
}

static void a_missing_barrier_shows(void **state)
{
    uint32_t a[3][LANES] = {{0}}, b[LANES];
    struct rig rig;
    (void)state;
    for (uint32_t i = 0; i < LANES; ++i)
        b[i] = i;
    rig_open(&rig, (struct device_request){0});
    for
        EACH(o, orders)
        {
            uint32_t *to = a[o], *from = b;
            void *args[] = {&to, &from};
            const struct device_launch launch = {
                .block = {LANES}, .args = args, .lane_order = orders[o], .poison_lds = true, .seed = 3};
            assert_int_equal(rig_launch(&rig, "reverse_without_barrier", launch), STATUS_OK);
        }
    assert_memory_not_equal(a[0], a[1], sizeof(a[0]));
    assert_memory_not_equal(a[0], a[2], sizeof(a[0]));
    assert_memory_not_equal(a[1], a[2], sizeof(a[0]));
    assert_int_equal(a[0][0], POISON); /* lane 0 ran first: nobody had written */
    assert_int_equal(a[1][0], LANES - 1);
    rig_close(&rig);
}

static void lanes_that_returned_leave_barriers(void **state)
{
    static const uint32_t left[][2] = {{256, 256}, {100, 30}, {64, 64}, {65, 1}, {1, 1}, {0, 0}};
    (void)state;
    for
        EACH(w, waves)
        for
            EACH(o, orders)
            for
                EACH(k, left)
                {
                    struct rig rig;
                    uint32_t a[LANES] = {0}, b[LANES] = {0}, *one = a, *other = b;
                    uint32_t first = left[k][0], second = left[k][1];
                    void *args[] = {&one, &other, &first, &second};
                    rig_open(&rig, (struct device_request){.wave = waves[w]});
                    const struct device_launch launch = {
                        .block = {LANES}, .args = args, .lane_order = orders[o], .seed = k};
                    assert_int_equal(rig_launch(&rig, "early_return", launch), STATUS_OK);
                    for (uint32_t i = 0; i < LANES; ++i) {
                        const uint32_t once = i < first ? (i + 1) % LANES : 0;
                        assert_int_equal(a[i], once);
                        assert_int_equal(b[i], i < second ? ((i + 1) % second + 1) % LANES : 0);
                    }
                    rig_close(&rig);
                }
}

static void different_places_are_a_finding(void **state)
{
    static const struct {
        const char *name;
        uint32_t grid;
        const char *says;
    } cases[] = {
        {"different_barriers", 3, "lanes of workgroup (1,0,0) wait at different barriers (lines "},
        {"different_waves", 1, "lanes of workgroup (0,0,0) wait at different barriers (lines "},
        {"different_waits", 1, "lanes of workgroup (0,0,0) wait at different wave operations or barriers (lines "},
    };
    (void)state;
    for
        EACH(w, waves)
        for
            EACH(o, orders)
            for
                EACH(k, cases)
                {
                    struct rig rig;
                    uint32_t a[LANES] = {0}, b[LANES] = {0}, *to = a, *from = b;
                    void *args[] = {&to, &from};
                    struct device_launch launch = {
                        .grid = {cases[k].grid}, .block = {128}, .args = args, .lane_order = orders[o]};
                    rig_open(&rig, (struct device_request){.wave = waves[w]});
                    assert_int_equal(rig_launch(&rig, cases[k].name, launch), ERR_DEVICE);
                    if (!strstr(rig.err.text, cases[k].says))
                        fail_msg("%s: %s", cases[k].name, rig.err.text);
                    /* The device goes on: stacks that were left in the middle are made anew. */
                    for (uint32_t i = 0; i < LANES; ++i)
                        b[i] = i;
                    launch.grid[0] = 1;
                    assert_int_equal(rig_launch(&rig, "reverse", launch), STATUS_OK);
                    assert_int_equal(a[0], 127);
                    rig_close(&rig);
                }
}

static uint64_t lowest_bits(uint32_t count)
{
    return count == 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
}

static void check_shuffles(uint32_t wave, const uint32_t *a, const double *d, const uint64_t *m)
{
    for (uint32_t i = 0; i < 128; ++i) {
        const uint32_t first = i / wave * wave, lane = i % wave;
        uint64_t thirds = 0;
        for (uint32_t k = 0; k < wave; ++k)
            thirds |= (uint64_t)((first + k) % 3 == 0) << k;
        assert_int_equal(a[i * 4 + 0], 10 * (first + (i + 3) % wave));
        assert_int_equal(a[i * 4 + 1], 10 * (first + (lane ^ 5)));
        assert_int_equal(a[i * 4 + 2], 10 * (lane >= 2 ? i - 2 : i));
        assert_int_equal(a[i * 4 + 3], 10 * (lane + 2 < wave ? i + 2 : i));
        assert_true(d[i * 3 + 0] == wave * (double)first + wave * (wave - 1) / 2);
        assert_true(d[i * 3 + 1] == first + wave - 1);
        assert_true(d[i * 3 + 2] == first);
        assert_true(m[i * 3 + 0] == thirds);
        assert_int_equal(m[i * 3 + 1], (first <= 40 && 40 < first + wave) + 2 * (first + wave <= 64));
        assert_int_equal(m[i * 3 + 2], i / wave * 1000 + wave);
    }
}

static void shuffles_move_values_between_lanes(void **state)
{
    (void)state;
    for
        EACH(w, waves)
        for
            EACH(o, orders)
            {
                struct rig rig;
                uint32_t a[512], *words = a;
                double d[384], *doubles = d;
                uint64_t m[384], *masks = m;
                void *args[] = {&words, &doubles, &masks};
                const struct device_launch launch = {
                    .block = {16, 8}, .args = args, .lane_order = orders[o], .seed = 11};
                rig_open(&rig, (struct device_request){.wave = waves[w]});
                assert_int_equal(rig_launch(&rig, "shuffles", launch), STATUS_OK);
                check_shuffles(waves[w], a, d, m);
                rig_close(&rig);
            }
}

static void inactive_lanes_give_poison(void **state)
{
    (void)state;
    for
        EACH(w, waves)
        {
            struct rig rig;
            uint32_t a[256] = {0}, *words = a;
            uint64_t m[128] = {0}, *masks = m;
            void *args[] = {&words, &masks};
            rig_open(&rig, (struct device_request){.wave = waves[w]});
            assert_int_equal(rig_launch(&rig, "inactive", (struct device_launch){.block = {128}, .args = args}),
                             STATUS_OK);
            for (uint32_t i = 0; i < 128; ++i) {
                const uint32_t first = i / waves[w] * waves[w];
                const bool active = i % waves[w] < 8;
                assert_int_equal(a[i], active ? 2 * first + 13 : 0);
                assert_int_equal(a[i + 128], active ? POISON : 0);
                assert_true(m[i] == (active ? lowest_bits(8) : 0));
            }
            rig_close(&rig);
        }
}

static void a_wave_operation_waits_for_its_wave_only(void **state)
{
    (void)state;
    for
        EACH(w, waves)
        for
            EACH(o, orders)
            {
                struct rig rig;
                uint32_t a[LANES], *pointer = a;
                void *args[] = {&pointer};
                const struct device_launch launch = {.block = {LANES}, .args = args, .lane_order = orders[o]};
                rig_open(&rig, (struct device_request){.wave = waves[w]});
                assert_int_equal(rig_launch(&rig, "one_wave", launch), STATUS_OK);
                for (uint32_t i = 0; i < LANES; ++i)
                    assert_int_equal(a[i], waves[w]);
                rig_close(&rig);
            }
}

static void lds_is_poisoned_for_each_workgroup(void **state)
{
    (void)state;
    for
        EACH(o, orders)
        {
            enum { GROUPS = 6, BLOCK = 100 };
            struct rig rig;
            uint32_t a[2 * GROUPS * BLOCK], *pointer = a;
            void *args[] = {&pointer};
            rig_open(&rig, (struct device_request){0});
            const struct device_launch launch = {.grid = {GROUPS},
                                                 .block = {BLOCK},
                                                 .args = args,
                                                 .lds_bytes = BLOCK * 4,
                                                 .poison_lds = true,
                                                 .lane_order = orders[o]};
            assert_int_equal(rig_launch(&rig, "unwritten", launch), STATUS_OK);
            for (uint32_t i = 0; i < 2 * GROUPS * BLOCK; ++i)
                assert_int_equal(a[i], POISON);
            rig_close(&rig);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_kernels_that_wait_use_lanes),
        cmocka_unit_test(grids_have_three_dimensions),
        cmocka_unit_test(barriers_order_lds),
        cmocka_unit_test(a_barrier_in_an_unrolled_loop_is_one_place),
        cmocka_unit_test(a_missing_barrier_shows),
        cmocka_unit_test(lanes_that_returned_leave_barriers),
        cmocka_unit_test(different_places_are_a_finding),
        cmocka_unit_test(shuffles_move_values_between_lanes),
        cmocka_unit_test(inactive_lanes_give_poison),
        cmocka_unit_test(a_wave_operation_waits_for_its_wave_only),
        cmocka_unit_test(lds_is_poisoned_for_each_workgroup),
    };
    return cmocka_run_group_tests(tests, build_modules, remove_modules);
}
