/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "rooftile/json.h"
#include "rooftile/occupancy.h"

static double number(const cJSON *vector, const char *key)
{
    const cJSON *value = json_member(vector, key);
    return value ? value->valuedouble : 0;
}

static uint32_t count(const cJSON *vector, const char *key)
{
    return (uint32_t)number(vector, key);
}

static struct occupancy_use use_of(const cJSON *vector)
{
    const cJSON *mode = json_member(vector, "mode");
    return (struct occupancy_use){.target = json_member(vector, "arch")->valuestring,
                                  .wave = count(vector, "wave"),
                                  .wgp_mode = mode && !strcmp(mode->valuestring, "WGP"),
                                  .vgprs = count(vector, "vgpr"),
                                  .agprs = count(vector, "agpr"),
                                  .sgprs = count(vector, "sgpr"),
                                  .lds_bytes = count(vector, "lds"),
                                  .block = mode ? count(vector, "wg") : 64,
                                  .llvm_waves = true};
}

static bool registers_agree(const cJSON *vector, const struct occupancy *o)
{
    const cJSON *llc = json_member(vector, "llc19");
    return o->vgprs == (json_member(vector, "total") ? count(vector, "total") : o->vgprs) &&
           o->vgprs_allocated == count(vector, "alloc") && o->waves_by_vgprs == count(vector, "waves_per_simd") &&
           (!llc || cJSON_IsNull(llc) || o->waves_by_vgprs == (uint32_t)llc->valuedouble);
}

/* The vectors name groups: both kinds of registers, and both kinds of slots. Where all wave slots are taken, registers
 * that allow as many stand among their limiters too. */
static bool limiters_agree(const char *limiter, const struct occupancy *o)
{
    const bool *by = o->limited_by;
    return !!strstr(limiter, "vgpr/sgpr") == (by[LIMITER_VGPRS] || by[LIMITER_SGPRS] || by[LIMITER_WAVES]) &&
           !!strstr(limiter, "slots/barrier") == (by[LIMITER_WAVES] || by[LIMITER_BARRIERS]) &&
           !!strstr(limiter, "lds") == by[LIMITER_LDS];
}

static bool combined_agrees(const cJSON *vector, const struct occupancy *o)
{
    return o->workgroups == count(vector, "wgs_per_unit") && o->waves == count(vector, "waves_per_unit") &&
           o->waves_per_simd >= number(vector, "waves_per_simd") - 1e-9 &&
           o->waves_per_simd <= number(vector, "waves_per_simd") + 1e-9 &&
           limiters_agree(json_member(vector, "limiter")->valuestring, o);
}

static void test_vectors(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct err err = {0};
    const cJSON *root = NULL;
    size_t registers = 0, combined = 0;
    assert_int_equal(json_read(&root, ROOFTILE_SOURCE_DIR "/tests/data/occupancy_vectors.json", &arena, &err),
                     STATUS_OK);
    for (const cJSON *vector = json_member(root, "vectors")->child; vector; vector = vector->next) {
        const struct occupancy_use use = use_of(vector);
        const bool is_combined = !strcmp(json_member(vector, "kind")->valuestring, "combined");
        struct occupancy o;
        if (occupancy_compute(&o, &use, &err))
            fail_msg("vector %u: %s", json_index(vector), err.text);
        if (is_combined ? !combined_agrees(vector, &o) : !registers_agree(vector, &o))
            fail_msg(
                "vector %u: %u VGPRs (%u allocated), %u and %u waves by registers, %u workgroups, %g waves per SIMD",
                json_index(vector), o.vgprs, o.vgprs_allocated, o.waves_by_vgprs, o.waves_by_sgprs, o.workgroups,
                o.waves_per_simd);
        *(is_combined ? &combined : &registers) += 1;
    }
    assert_int_equal(registers, 130);
    assert_int_equal(combined, 33);
    arena_release(&arena);
}

/* NVIDIA's own calculator, on uses drawn at random. */
static void test_cuda_vectors(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct err err = {0};
    const cJSON *root = NULL;
    size_t seen = 0;
    assert_int_equal(json_read(&root, ROOFTILE_SOURCE_DIR "/tests/data/occupancy_cuda.json", &arena, &err), STATUS_OK);
    for (const cJSON *vector = json_member(root, "vectors")->child; vector; vector = vector->next, seen++) {
        const struct occupancy_use use = {.target = json_member(vector, "arch")->valuestring,
                                          .vgprs = count(vector, "registers"),
                                          .lds_bytes = count(vector, "shared"),
                                          .block = count(vector, "block"),
                                          .barriers = count(vector, "barriers")};
        struct occupancy o;
        if (occupancy_compute(&o, &use, &err))
            fail_msg("vector %u: %s", json_index(vector), err.text);
        /* The calculator's count by registers is not cut at the wave slots. */
        const uint32_t by_registers =
            o.waves_by_vgprs < o.waves_max ? o.workgroups_by[LIMITER_VGPRS] : count(vector, "by_registers");
        if (o.workgroups != count(vector, "blocks") || by_registers != count(vector, "by_registers") ||
            o.workgroups_by[LIMITER_LDS] != count(vector, "by_shared") ||
            o.workgroups_by[LIMITER_WAVES] != count(vector, "by_warps"))
            fail_msg("vector %u: %u blocks; by registers %u, by shared memory %u, by warps %u", json_index(vector),
                     o.workgroups, o.workgroups_by[LIMITER_VGPRS], o.workgroups_by[LIMITER_LDS],
                     o.workgroups_by[LIMITER_WAVES]);
    }
    assert_int_equal(seen, 180);
    arena_release(&arena);
}

/* Limits and advice worked out by hand. */
static const struct {
    struct occupancy_use use;
    double waves_per_simd;
    const char *limiters;
    const char *advice;
} cases[] = {
    {{"gfx942", .vgprs = 84, .block = 256}, 5, "VGPRs", "4 VGPRs fewer gives 6 waves per SIMD instead of 5"},
    {{"gfx942", .vgprs = 65, .block = 256}, 7, "VGPRs", "1 VGPR fewer gives 8 waves per SIMD instead of 7"},
    /* 64 + 65 registers are allocated as 136: 3 waves; 128 would give 4. */
    {{"gfx90a", .vgprs = 64, .agprs = 65, .block = 256},
     3,
     "VGPRs",
     "1 VGPR fewer gives 4 waves per SIMD instead of 3"},
    {{"gfx942", .vgprs = 32, .lds_bytes = 22528, .block = 256},
     2,
     "LDS",
     "1024 bytes of LDS less gives 3 workgroups per CU instead of 2"},
    {{"gfx1100", .vgprs = 32, .lds_bytes = 33280, .wgp_mode = true, .block = 256},
     6,
     "LDS",
     "512 bytes of LDS less gives 4 workgroups per WGP instead of 3"},
    {{"gfx942", .vgprs = 136, .lds_bytes = 20480, .block = 256},
     3,
     "VGPRs and LDS",
     "8 VGPRs and 4096 bytes of LDS less gives 4 waves per SIMD instead of 3"},
    {{"gfx942", .vgprs = 32, .block = 256}, 8, "wave slots", ""},
    {{"gfx1201", .vgprs = 96, .wgp_mode = true, .block = 1024}, 16, "wave slots", ""},
    /* 10 waves each: 3 workgroups of the 32 wave slots; 8 waves each would fill them. */
    {{"gfx942", .vgprs = 32, .block = 640},
     7.5,
     "wave slots",
     "workgroups of 512 threads give 8 waves per SIMD instead of 7.5"},
    {{"gfx942", .vgprs = 32, .block = 128, .lds_bytes = 4096}, 8, "LDS and wave slots and barriers", ""},
    /* 2 waves of 32 each, 16 barriers of a CU with two SIMDs of 16 slots. */
    {{"gfx1030", .vgprs = 32, .block = 64}, 16, "wave slots and barriers", ""},
    /* 5 waves on each of 4 SIMDs hold two workgroups of 8. */
    {{"gfx942", .vgprs = 96, .block = 512},
     4,
     "VGPRs",
     "16 VGPRs fewer gives 6 waves per SIMD instead of 4; workgroups of 256 threads give 5 waves per SIMD instead of "
     "4"},
    /* 104 SGPRs are 112: 7 waves. */
    {{"gfx906", .vgprs = 24, .sgprs = 104, .block = 256},
     7,
     "SGPRs",
     "8 SGPRs fewer gives 8 waves per SIMD instead of 7"},
    {{"gfx1030", .vgprs = 24, .sgprs = 106, .block = 256}, 16, "wave slots", ""},
    /* More LDS than a workgroup may have, and a workgroup with more waves than the registers leave room for. */
    {{"gfx942", .vgprs = 24, .lds_bytes = 65537, .block = 256},
     0,
     "LDS",
     "1 byte of LDS less gives 1 workgroup per CU instead of 0"},
    {{"gfx90a", .vgprs = 256, .block = 1024},
     0,
     "VGPRs",
     "128 VGPRs fewer gives 4 waves per SIMD instead of 0; workgroups of 512 threads give 2 waves per SIMD instead of "
     "0"},
    {{"gfx908", .vgprs = 24, .block = 64}, 8, "wave slots", ""},
    {{"gfx908", .vgprs = 24, .block = 64, .llvm_waves = true}, 10, "wave slots", ""},
    /* 168 registers are 21 units of 8: 512 / 168 = 3 warps on each partition, 12 of them hold one block of 8. */
    {{"sm_90a", .vgprs = 168, .block = 256},
     2,
     "registers",
     "40 registers fewer gives 16 warps per SM instead of 8; blocks of 128 threads give 12 warps per SM instead of 8"},
    /* 56 KiB and the driver's 1 KiB: 4 of 57 in 228; a fifth of that is 364 units of 128 bytes. 100 on 8.6 hold one. */
    {{"sm_90a", .vgprs = 32, .lds_bytes = 57344, .block = 128},
     4,
     "shared memory",
     "11776 bytes of shared memory less gives 5 blocks per SM instead of 4"},
    {{"sm_86", .vgprs = 32, .lds_bytes = 57344, .block = 128},
     1,
     "shared memory",
     "7168 bytes of shared memory less gives 2 blocks per SM instead of 1"},
    {{"sm_89", .vgprs = 40, .block = 512}, 12, "warp slots", ""},
    {{"sm_100a", .vgprs = 32, .block = 32},
     8,
     "block slots",
     "blocks of 64 threads give 64 warps per SM instead of 32"},
    {{"sm_90a", .vgprs = 32, .block = 128, .barriers = 16},
     4,
     "barriers",
     "blocks of 256 threads give 32 warps per SM instead of 16"},
    {{"sm_80", .vgprs = 32, .block = 128, .barriers = 16}, 16, "warp slots", ""},
    {{"sm_80", .vgprs = 32, .lds_bytes = 166913, .block = 128},
     0,
     "shared memory",
     "1 byte of shared memory less gives 1 block per SM instead of 0"},
};

static void test_cases(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        struct occupancy o;
        struct err err = {0};
        struct text limiters = {0}, advice = {0};
        assert_int_equal(occupancy_compute(&o, &cases[k].use, &err), STATUS_OK);
        occupancy_limiters(&limiters, &o);
        occupancy_advice(&advice, &o);
        const char *words = advice.data ? advice.data : "";
        if (fabs(o.waves_per_simd - cases[k].waves_per_simd) > 1e-9 || strcmp(limiters.data, cases[k].limiters) ||
            strcmp(words, cases[k].advice))
            fail_msg("case %zu: %g waves, %s: %s", k, o.waves_per_simd, limiters.data, words);
        text_release(&limiters);
        text_release(&advice);
    }
}

/* The advice is the least: one register or byte more than it leaves gains nothing. Over every target, and many uses. */
static uint32_t workgroups(const struct occupancy_use *use)
{
    struct occupancy o;
    struct err err = {0};
    assert_int_equal(occupancy_compute(&o, use, &err), STATUS_OK);
    return o.workgroups;
}

static void check_least(const struct occupancy_use *use)
{
    struct occupancy o;
    struct err err = {0};
    assert_int_equal(occupancy_compute(&o, use, &err), STATUS_OK);
    struct occupancy_use then = *use;
    if (!o.raise.workgroups)
        return;
    assert_true(o.raise.workgroups > o.workgroups);
    assert_true(o.raise.vgprs <= use->vgprs && o.raise.lds_bytes <= use->lds_bytes);
    then.vgprs -= o.raise.vgprs;
    then.sgprs -= o.raise.sgprs;
    then.lds_bytes -= o.raise.lds_bytes;
    if (workgroups(&then) != o.raise.workgroups)
        fail_msg("%s V %u S %u LDS %u block %u", use->target, use->vgprs, use->sgprs, (unsigned)use->lds_bytes,
                 use->block);
    struct occupancy_use more = then;
    more.vgprs++;
    assert_true(!o.raise.vgprs || workgroups(&more) <= o.workgroups);
    more = then;
    more.sgprs++;
    assert_true(!o.raise.sgprs || workgroups(&more) <= o.workgroups);
    more = then;
    more.lds_bytes++;
    assert_true(!o.raise.lds_bytes || workgroups(&more) <= o.workgroups);
}

static const char *const every[] = {"gfx906",  "gfx908",  "gfx90a", "gfx942", "gfx950", "gfx1010", "gfx1030", "gfx1102",
                                    "gfx1201", "gfx1250", "sm_80",  "sm_86",  "sm_89",  "sm_90a",  "sm_120a"};

static void test_least(void **state)
{
    (void)state;
    for (size_t t = 0; t < sizeof(every) / sizeof(*every); t++)
        for (uint32_t vgprs = 1; vgprs <= 255; vgprs += 5)
            for (uint32_t sgprs = 16; sgprs <= 102; sgprs += 43)
                for (uint32_t lds = 0; lds <= 70000; lds += 6999)
                    for (uint32_t block = 32; block <= 1024; block += block < 128 ? 32 : 160) {
                        struct occupancy_use use = {every[t],         .vgprs = vgprs, .sgprs = sgprs,
                                                    .lds_bytes = lds, .block = block, .wgp_mode = block % 64 == 0};
                        check_least(&use);
                    }
}

static const struct {
    struct occupancy_use use;
    enum status status;
    const char *text;
} refused[] = {
    {{"gfx1299", .block = 64}, ERR_UNSUPPORTED, "the occupancy rules of gfx1299 are not known"},
    {{"gfx9", .block = 64}, ERR_UNSUPPORTED, "the occupancy rules of gfx9 are not known"},
    {{"", .block = 64}, ERR_UNSUPPORTED, "the occupancy rules of  are not known"},
    {{"gfx11-generic", .block = 64}, ERR_UNSUPPORTED, "the occupancy rules of gfx11-generic are not known"},
    {{"gfx942", .wave = 32, .block = 64}, ERR_UNSUPPORTED, "gfx942 has no waves of 32 lanes"},
    {{"gfx1250", .wave = 64, .block = 64}, ERR_UNSUPPORTED, "gfx1250 has no waves of 64 lanes"},
    {{"gfx942", .block = 0}, ERR_CONFIG, "a workgroup of 0 threads: it has 1 to 1024"},
    {{"gfx942", .block = 1025}, ERR_CONFIG, "a workgroup of 1025 threads: it has 1 to 1024"},
    {{"gfx1100", .vgprs = 265, .block = 64}, ERR_CONFIG, "265 VGPRs and 0 AGPRs: a wave of gfx1100 has at most 256"},
    {{"gfx90a", .vgprs = 256, .agprs = 260, .block = 64},
     ERR_CONFIG,
     "256 VGPRs and 260 AGPRs: a wave of gfx90a has at most 512"},
    {{"sm_90a", .vgprs = 256, .block = 64}, ERR_CONFIG, "256 registers: a thread of sm_90a has at most 255"},
    {{"sm_90a", .block = 2048}, ERR_CONFIG, "a block of 2048 threads: it has 1 to 1024"},
    {{"sm_90a", .wave = 64, .block = 64}, ERR_UNSUPPORTED, "sm_90a has no warps of 64 lanes"},
    {{"sm_50", .block = 64}, ERR_UNSUPPORTED, "the occupancy rules of sm_50 are not known"},
};

static void test_refused(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof(refused) / sizeof(*refused); k++) {
        struct occupancy o;
        struct err err = {0};
        assert_int_equal(occupancy_compute(&o, &refused[k].use, &err), refused[k].status);
        assert_string_equal(err.text, refused[k].text);
    }
}

/* In all but the names. */
static void assert_same_limits(const char *a, const char *b)
{
    struct occupancy_limits left = *occupancy_limits(a), right = *occupancy_limits(b);
    left.targets = right.targets = NULL;
    assert_memory_equal(&left, &right, sizeof(left));
}

static void test_target_names(void **state)
{
    (void)state;
    assert_ptr_equal(occupancy_limits("gfx942:sramecc+:xnack-"), occupancy_limits("gfx942"));
    assert_same_limits("gfx942", "gfx90a");
    assert_same_limits("gfx1152", "gfx1030");
    assert_ptr_not_equal(occupancy_limits("gfx906"), occupancy_limits("gfx908"));
    assert_null(occupancy_limits("gfx90"));
    assert_null(occupancy_limits(":"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors), cmocka_unit_test(test_cuda_vectors), cmocka_unit_test(test_cases),
        cmocka_unit_test(test_least),   cmocka_unit_test(test_refused),      cmocka_unit_test(test_target_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
