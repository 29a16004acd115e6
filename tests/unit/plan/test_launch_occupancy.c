/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plan_fixture.h"
#include "rooftile/launch_fit.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define WGP true

/* triad is launched with workgroups of 256. */
static const struct {
    const char *what, *target;
    double vendor;
    bool exactly;
    uint32_t wave, vgprs, agprs, static_lds, dynamic_lds;
    bool wgp_mode;
    const char *text; /* NULL: nothing differs */
} cases[] = {
    {"nothing is vendor", "gfx942", 0, true, 64, 128, 0, 0, 0, 0, NULL},
    {"right", "gfx942", 4, true, 64, 128, 0, 0, 0, 0, NULL},
    {"at least", "gfx942", 2, false, 64, 128, 0, 0, 0, 0, NULL},
    {"unknown rules", "gfx9-4-generic", 3, true, 64, 128, 0, 0, 0, 0, NULL},
    {"too many registers", "gfx942", 4, true, 64, 168, 0, 0, 0, 0,
     "the manifest states 4 waves per SIMD, gfx942 holds 3 of this launch, limited by VGPRs (168): 40 VGPRs fewer "
     "gives 4 waves "
     "per SIMD instead of 3"},
    {"both kinds of registers", "gfx90a", 2, true, 64, 256, 256, 0, 0, 0,
     "the manifest states 2 waves per SIMD, gfx90a holds 1 of this launch, limited by VGPRs (512): 256 VGPRs fewer "
     "gives 2 "
     "waves per SIMD instead of 1"},
    {"more than is vendor", "gfx942", 2, true, 64, 128, 0, 0, 0, 0,
     "the manifest states 2 waves per SIMD, gfx942 holds 4 of this launch, limited by VGPRs (128)"},
    {"fewer than at least", "gfx942", 8, false, 64, 64, 0, 0, 32768, 0,
     "the manifest states at least 8 waves per SIMD, gfx942 holds 2 of this launch, limited by LDS (32768 bytes): "
     "11264 bytes "
     "of LDS less gives 3 workgroups per CU instead of 2"},
    {"static and dynamic LDS", "gfx942", 1, true, 64, 64, 0, 512, 65024, 0, NULL},
    {"the whole WGP's LDS", "gfx1100", 4, true, 32, 48, 0, 0, 65536, WGP, NULL},
    {"one CU's LDS", "gfx1100", 4, true, 32, 48, 0, 0, 65536, 0, NULL},
    {"half of one CU's LDS", "gfx1100", 4, true, 32, 48, 0, 0, 32768, 0,
     "the manifest states 4 waves per SIMD, gfx1100 holds 8 of this launch, limited by LDS (32768 bytes)"},
};

static void test_claims(void **state)
{
    struct world world;
    (void)state;
    world_init(&world);
    assert_int_equal(world_plan(&world, "'cases': [ { 'kernel': 'triad', 'params': { 'block': 256 } } ]"), STATUS_OK);
    for (size_t k = 0; k < COUNT(cases); k++) {
        struct resolved resolved = world.plan->cases[0].resolved;
        struct manifest manifest = *resolved.manifest;
        struct resolved_launch launch = resolved.steps[0].launch;
        const struct codeobj_kernel kernel = {.name = "triad",
                                              .wave = cases[k].wave,
                                              .has_descriptor = true,
                                              .arch_vgprs = cases[k].vgprs,
                                              .acc_vgprs = cases[k].agprs,
                                              .sgpr_count = 16,
                                              .group_segment_bytes = cases[k].static_lds,
                                              .wgp_mode = cases[k].wgp_mode};
        struct text text = {0};
        manifest.occupancy.exactly = cases[k].exactly;
        resolved.manifest = &manifest;
        resolved.waves_declared = cases[k].vendor;
        launch.lds_bytes = cases[k].dynamic_lds;
        assert_int_equal(launch.block[0], 256);
        const bool differs = launch_claim_differs(&text, &resolved, &launch, cases[k].target, &kernel);
        if (differs != !!cases[k].text || (differs && strcmp(text.data, cases[k].text)))
            fail_msg("%s: %s", cases[k].what, differs ? text.data : "nothing differs");
        text_release(&text);
    }
    arena_release(&world.arena);
}

static void test_without_a_descriptor(void **state)
{
    const struct codeobj_kernel kernel = {.name = "k", .wave = 64};
    const struct resolved_launch launch = {.block = {64, 1, 1}};
    struct occupancy occupancy;
    struct err err = {0};
    (void)state;
    assert_int_equal(launch_occupancy(&occupancy, &launch, "gfx942", &kernel, &err), ERR_UNSUPPORTED);
    assert_string_equal(err.text, "'k' has no kernel descriptor");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_claims), cmocka_unit_test(test_without_a_descriptor)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
