/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../near.h"
#include "rooftile/describe.h"
#include "rooftile/file.h"

static struct models shipped;

static const struct {
    const char *kernel;
    double m, n, k; /* 0: the name tells none */
} names[] = {
    {"a8w8_bpreshuffle_256x64x128x256_16x16_16x16_8x32x1_8x32x1_1x32x1x8_8x8x1_2x1_intrawave_v3", 64, 128, 256},
    {"a8w8_bpreshuffle_cktile_0x0x8x4x1x0x0x0x0x1_192x256x128_1x4x1_16x16x128_default", 192, 256, 128},
    {"_ZN5aiter42fp8gemm_bf16_blockscale_BpreShuffle_80x128E", 80, 128, 128},
    {"_ZN5aiter24bf16gemm_bf16_tn_256x256E", 256, 256, 128},
    {"flydsl_gemm4_abf16_wbf16_bf16_t16x128x64_split_k5_block_m_warp1", 16, 128, 64},
    {"flydsl_bpreshuflle_112x128x256_F8_F8_B16_2x0x1x1x4_default", 112, 128, 256},
    {"MT128x96x32_MI32x32x2x1_GSU1", 96, 128, 32}, /* Tensile: the tile of N first */
    {"opus_gemm_512x256x128x64_2x4_16x16x32_0x0x0_nooob", 256, 128, 64},
    {"native", 0, 0, 0},
    {"", 0, 0, 0},
    {"_16x", 0, 0, 0},
    {"MT", 0, 0, 0},
};

static void tiles_are_read_from_names(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
        struct gemm_tile tile = {0};
        if (gemm_tile_of_name(&tile, names[k].kernel) != (names[k].m > 0))
            fail_msg("%s", names[k].kernel);
        if (tile.m != names[k].m || tile.n != names[k].n || tile.k != names[k].k)
            fail_msg("%s: %g x %g x %g", names[k].kernel, tile.m, tile.n, tile.k);
    }
}

/* 100 compute units at 1 GHz, 1 TB/s, 100 TFLOP/s. */
static const struct machine machine = {
    .name = "toy",
    .cus = 100,
    .wave = 64,
    .core_hz = 1e9,
    .launch_ns = 4000,
    .level_count = 3,
    .levels = {{.name = "L1", .capacity_bytes = 1e6, .latency_ns = 50},
               {.name = "L2", .capacity_bytes = 8e6, .bandwidth = {.effective = 4e12}, .latency_ns = 200},
               {.name = "HBM", .bandwidth = {.vendor = 1e12}, .latency_ns = 500}},
    .unit_count = 2,
    .units = {{.name = "vector_f32", .peak = {.vendor = 12.8e12}}, {.name = "matrix_f16", .peak = {.vendor = 1e14}}},
};

static const struct described stream = {.family = "elementwise",
                                        .op = "add",
                                        .type = "f32",
                                        .scales = "",
                                        .kernel = "",
                                        .library = "",
                                        .in_bytes = 4,
                                        .operands = 3,
                                        .rows = 1e5,
                                        .columns = 1e4};
static const struct described gemm = {.family = "gemm",
                                      .op = "",
                                      .type = "f16",
                                      .scales = "none",
                                      .kernel = "_256x128x128x64_",
                                      .library = "",
                                      .in_bytes = 2,
                                      .out_bytes = 2,
                                      .m = 8192,
                                      .n = 8192,
                                      .k = 8192};

static void streams_take_what_memory_takes(void **state)
{
    (void)state;
    struct prediction prediction;
    assert_true(describe_predict(&prediction, &stream, &machine, &shipped, true));
    assert_near(prediction.time_ns, 12e6, 0.01 * 12e6);
    assert_string_equal(prediction.bound, "HBM");
    assert_true(prediction.low_ns < prediction.time_ns && prediction.high_ns > prediction.time_ns);
    struct described tiny = stream;
    tiny.rows = tiny.columns = 10;
    assert_true(describe_predict(&prediction, &tiny, &machine, &shipped, true));
    assert_string_equal(prediction.bound, "launch");
}

static void gemms_are_bound_by_the_matrix_unit(void **state)
{
    (void)state;
    struct prediction prediction, slower;
    struct described small_tile = gemm;
    small_tile.kernel = "_256x16x16x64_";
    assert_true(describe_predict(&prediction, &gemm, &machine, &shipped, true));
    assert_string_equal(prediction.bound, "matrix_f16");
    assert_true(prediction.time_ns >= described_least_ns(&gemm, &machine, &shipped));
    assert_true(describe_predict(&slower, &small_tile, &machine, &shipped, true));
    assert_true(slower.time_ns > 1.5 * prediction.time_ns); /* the tile counts */
}

static void a_second_round_of_tiles_costs_a_round(void **state)
{
    (void)state;
    struct prediction one, two;
    struct described tiles = gemm;
    tiles.m = 128 * 100; /* as many tiles as compute units */
    tiles.n = 128;
    assert_true(describe_predict(&one, &tiles, &machine, &shipped, true));
    tiles.m = 128 * 200;
    assert_true(describe_predict(&two, &tiles, &machine, &shipped, true));
    assert_near(two.term_ns[TERM_MATRIX], 2 * one.term_ns[TERM_MATRIX], 1);
}

static const struct model_constants some[] = {
    {.family = "gemm",
     .machine = "other",
     .type = "f16",
     .scales = "none",
     .spread = {0.9, 1.2},
     .source = "",
     .values = {2, 1, 1, 0.1, 0, 0}},
    {.family = "gemm",
     .machine = "toy",
     .type = "f16",
     .scales = "none",
     .spread = {0.9, 1.2},
     .source = "",
     .values = {1, 1, 1, 0.1, 0, 0}},
};

static void constants_of_another_machine_widen_the_interval(void **state)
{
    (void)state;
    struct prediction own, borrowed;
    const struct models both = {some, 2, shipped.families}, other = {some, 1, shipped.families};
    assert_true(describe_predict(&own, &gemm, &machine, &both, false));
    assert_true(describe_predict(&borrowed, &gemm, &machine, &other, false));
    assert_int_equal(own.note_count, 0);
    assert_int_equal(borrowed.note_count, 1);
    assert_true(borrowed.time_ns > 1.5 * own.time_ns);
    assert_true(borrowed.high_ns / borrowed.time_ns > own.high_ns / own.time_ns);
}

/* Of a relative of the same type rather than of the machine's own blocks with scales. */
static void constants_of_the_type_go_before_those_of_the_machine(void **state)
{
    (void)state;
    struct model_constants all[2];
    memcpy(all, some, sizeof(some));
    all[0].type = "bf16";
    all[1].type = "fp8";
    all[1].scales = "1x128x128";
    const struct models models = {all, 2, shipped.families}, alone = {all, 1, shipped.families};
    struct prediction chosen, wanted;
    assert_true(describe_predict(&chosen, &gemm, &machine, &models, false));
    assert_true(describe_predict(&wanted, &gemm, &machine, &alone, false));
    assert_near(chosen.time_ns, wanted.time_ns, 1e-9);
    assert_string_equal(chosen.notes[0], "constants of gemm bf16 on other");
    assert_string_equal(chosen.constants, "gemm bf16 on other");
}

static const struct described convolution = {.family = "convolution",
                                             .op = "forward",
                                             .type = "f32",
                                             .scales = "",
                                             .kernel = "",
                                             .library = "",
                                             .in_bytes = 4,
                                             .images = 64,
                                             .channels_in = 64,
                                             .channels_out = 64,
                                             .in = {56, 56},
                                             .out = {56, 56},
                                             .filter = {3, 3},
                                             .stride = {1, 1},
                                             .pad = {1, 1},
                                             .dilation = {1, 1},
                                             .groups = 1};

static double convolution_ns(const struct described *what, const struct machine *on)
{
    struct prediction prediction;
    assert_true(describe_predict(&prediction, what, on, &shipped, true));
    return prediction.time_ns;
}

static void a_convolution_of_f64_waits_for_its_rate(void **state)
{
    (void)state;
    struct machine gaming = machine;
    gaming.units[1] = (struct machine_unit){.name = "vector_f64", .peak = {.vendor = 12.8e12 / 16}};
    gaming.units[0] = (struct machine_unit){.name = "vector_f32", .peak = {.vendor = 12.8e12}};
    assert_true(convolution_ns(&convolution, &gaming) > 1.5 * convolution_ns(&convolution, &machine));
}

/* Of a filter whose taps are as far apart as the image is wide, only the one in the middle meets it. */
static void taps_beside_the_image_cost_little(void **state)
{
    (void)state;
    const char *const ops[] = {"forward", "backward"};
    for (size_t k = 0; k < 2; k++) {
        struct described near = convolution;
        near.op = ops[k];
        struct described far = near;
        far.pad[0] = far.pad[1] = far.dilation[0] = far.dilation[1] = 56;
        assert_true(convolution_ns(&far, &machine) < 0.8 * convolution_ns(&near, &machine));
        far.channels_last = near.channels_last = true;
        assert_true(convolution_ns(&far, &machine) < 0.7 * convolution_ns(&near, &machine));
    }
}

/* An image of one wave leaves three of RDNA's SIMDs idle: it takes as long as one of four waves. */
static void small_images_leave_simds_idle(void **state)
{
    (void)state;
    struct machine gaming = machine;
    struct described one = convolution, four = convolution;
    gaming.wave = 32;
    gaming.units[1] = (struct machine_unit){.name = "vector_f64", .peak = {.vendor = 12.8e12 / 16}};
    one.images = four.images = 4096;
    one.filter[0] = one.filter[1] = four.filter[0] = four.filter[1] = 1;
    one.pad[0] = one.pad[1] = four.pad[0] = four.pad[1] = 0;
    one.in[0] = one.out[0] = 4;
    one.in[1] = one.out[1] = four.in[1] = four.out[1] = 8;
    four.in[0] = four.out[0] = 16;
    assert_near(convolution_ns(&one, &gaming) / convolution_ns(&four, &gaming), 1, 0.1);
}

/* Launched once on an idle card, short work is over before the clock has risen. */
static void an_idle_card_starts_slowly(void **state)
{
    (void)state;
    struct machine idle = machine;
    struct described small = convolution, large = convolution;
    idle.idle_hz = machine.core_hz / 4;
    idle.clock_rise_ns = 100e6;
    small.images = 1;
    large.images = 65536;
    const double small_ns = convolution_ns(&small, &machine), large_ns = convolution_ns(&large, &machine);
    assert_near(convolution_ns(&small, &idle), small_ns, small_ns * 1e-9);
    small.from_idle = large.from_idle = true;
    assert_near(convolution_ns(&small, &machine), small_ns, small_ns * 1e-9);
    assert_in_range((int)(10 * convolution_ns(&small, &idle) / small_ns), 20, 40);
    assert_near(convolution_ns(&large, &idle), large_ns, large_ns * 1e-9);
}

static void no_prediction_is_faster_than_the_peaks(void **state)
{
    (void)state;
    struct prediction prediction;
    struct described cold = gemm;
    const struct model_constants fast = {.family = gemm.family,
                                         .machine = machine.name,
                                         .type = gemm.type,
                                         .scales = gemm.scales,
                                         .values = {[CONSTANT_MATRIX] = 0.1, [CONSTANT_MEMORY] = 0.1},
                                         .spread = {0.9, 1.1}};
    const struct models models = {.items = &fast, .count = 1, .families = shipped.families};
    cold.cold = true;
    assert_true(describe_predict(&prediction, &cold, &machine, &models, false));
    assert_near(prediction.time_ns, described_least_ns(&cold, &machine, &shipped), 1e-6);
}

static void unknown_machines_are_not_predicted(void **state)
{
    (void)state;
    struct prediction prediction;
    struct machine unknown = machine;
    unknown.unit_count = 0;
    assert_false(describe_predict(&prediction, &gemm, &unknown, &shipped, true));
    unknown = machine;
    unknown.core_hz = 0;
    assert_false(describe_predict(&prediction, &stream, &unknown, &shipped, true));
}

static void the_shipped_constants_are_read(void **state)
{
    (void)state;
    assert_true(shipped.count >= 12);
    for (size_t k = 0; k < shipped.count; k++)
        assert_true(shipped.items[k].spread.low < 1 && shipped.items[k].spread.high > 1);
}

static const struct {
    const char *let, *message;
} refused[] = {
    {"\"x\": \"y + 1\"", "/families/0/let/x: "},
    {"\"x\": 1", "must be a string"},
    {"\"9x\": \"1\"", "the name of a formula"},
    {"\"x\": {\"from\": \"0\", \"let\": {}}", "'below' is missing"},
    {"\"x\": {\"from\": \"0\", \"below\": \"1\", \"let\": {}, \"to\": \"2\"}", "/let/x/to"},
};

/* A family of its own is a file: here a loop that adds up, and one that would never end. */
static void a_family_is_data(void **state)
{
    (void)state;
    static const char text[] = "{\"families\": [{\"names\": [\"toy\"], \"source\": \"\", \"low\": 0.5, \"high\": 2, "
                               "\"flops\": \"1\", \"bytes\": \"rows\", \"let\": {%s}, \"terms\": {\"memory\": \"3\"}, "
                               "\"time_us\": \"%s\"}]}";
    static const char sum[] = "\"s\": \"0\", \"i_\": {\"from\": \"1\", \"below\": \"rows + 1\", \"step\": \"2\", "
                              "\"let\": {\"s\": \"s + i_\"}}";
    struct arena arena = {0};
    struct err err = {0};
    struct models models;
    struct prediction prediction;
    const char *folder = arena_strdup(&arena, "/tmp/describe_XXXXXX");
    assert_non_null(mkdtemp((char *)folder));
    const char *path = path_join(&arena, folder, "families.json");
    const char *constants = ROOFTILE_SOURCE_DIR "/configs/models/described.json";
    const char *content = arena_printf(&arena, text, sum, "s");
    assert_int_equal(file_write(path, content, strlen(content), &err), STATUS_OK);
    if (models_read(&models, folder, constants, &arena, &err))
        fail_msg("%s", err.text);
    struct described toy = {.family = "toy", .kernel = "", .rows = 5};
    assert_true(describe_predict(&prediction, &toy, &machine, &models, false));
    assert_near(prediction.time_ns, 9e3, 1e-9); /* 1 + 3 + 5 us */
    assert_near(prediction.term_ns[TERM_MEMORY], 3e3, 1e-9);
    assert_near(prediction.high_ns, 18e3, 1e-9);
    toy.rows = 1e9;
    assert_false(describe_predict(&prediction, &toy, &machine, &models, false));
    for (size_t k = 0; k < sizeof(refused) / sizeof(refused[0]); k++) {
        content = arena_printf(&arena, text, refused[k].let, "1");
        assert_int_equal(file_write(path, content, strlen(content), &err), STATUS_OK);
        assert_int_equal(models_read(&models, folder, constants, &arena, &err), ERR_CONFIG);
        if (!strstr(err.text, refused[k].message))
            fail_msg("%s", err.text);
        err = (struct err){0};
    }
    unlink(path);
    rmdir(folder);
    arena_release(&arena);
}

static int read_shipped(void **state)
{
    static struct arena arena;
    struct err err = {0};
    (void)state;
    return models_read(&shipped, ROOFTILE_SOURCE_DIR "/configs/models", NULL, &arena, &err) != STATUS_OK;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_are_read_from_names),
        cmocka_unit_test(streams_take_what_memory_takes),
        cmocka_unit_test(gemms_are_bound_by_the_matrix_unit),
        cmocka_unit_test(a_second_round_of_tiles_costs_a_round),
        cmocka_unit_test(constants_of_another_machine_widen_the_interval),
        cmocka_unit_test(constants_of_the_type_go_before_those_of_the_machine),
        cmocka_unit_test(a_convolution_of_f64_waits_for_its_rate),
        cmocka_unit_test(taps_beside_the_image_cost_little),
        cmocka_unit_test(small_images_leave_simds_idle),
        cmocka_unit_test(an_idle_card_starts_slowly),
        cmocka_unit_test(no_prediction_is_faster_than_the_peaks),
        cmocka_unit_test(unknown_machines_are_not_predicted),
        cmocka_unit_test(the_shipped_constants_are_read),
        cmocka_unit_test(a_family_is_data),
    };
    return cmocka_run_group_tests(tests, read_shipped, NULL);
}
