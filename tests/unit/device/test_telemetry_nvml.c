/* SPDX-License-Identifier: MIT */
#include "gpu_rig.h"

#include <math.h>

static void use_nvml(const char *path)
{
    setenv("ROOFTILE_NVML_LIBRARY", path, 1);
    unsetenv("FAKE_NVML_PROCESSES");
    unsetenv("FAKE_NVML_CONTAINER");
    unsetenv("FAKE_NVML_REFUSES");
}

static void describes_a_card(void **state)
{
    struct nvml nvml;
    struct device_info info = {.driver = "CUDA 13.0"};
    (void)state;
    use_nvml(fake_path("fake_nvml"));
    nvml_open(&nvml, "FFFF:00:00.0");
    nvml_describe(&info, &nvml);
    assert_string_equal(info.driver, "CUDA 13.0, driver 580.159.04");
    assert_string_equal(info.pci_id, "10de:2335");
    assert_string_equal(info.vbios, "96.00.BC.00.02");
    assert_true(fabs(info.power_cap_w - 700) < 1e-9);
    assert_int_equal(strlen(info.serial_hash), 64);
    assert_int_equal(info.link_count, 2);
    assert_string_equal(info.links[0].peer, "0000:c4:00.0");
    assert_string_equal(info.links[1].type, "nvlink");
    assert_int_equal(info.links[0].count, 2);
    assert_true(info.links[0].max_bytes_per_s == 50e9 && info.links[1].max_bytes_per_s == 25e9);
    info.link_count = 0;
    snprintf(info.pci_id, sizeof(info.pci_id), "10de:0001"); /* the operating system was asked before */
    nvml_describe(&info, &nvml);
    assert_string_equal(info.pci_id, "10de:0001");
    nvml_close(&nvml);
}

static void senses_a_card(void **state)
{
    struct nvml nvml;
    struct device_sense sense = device_sense_unknown;
    (void)state;
    use_nvml(fake_path("fake_nvml"));
    setenv("FAKE_NVML_PROCESSES", "3", 1);
    nvml_open(&nvml, "ffff:00:00.0");
    nvml_sense(&sense, &nvml);
    assert_true(fabs(sense.power_w - 512.345) < 1e-9);
    assert_true(fabs(sense.temp_c - 61) < 1e-9);
    assert_true(fabs(sense.core_hz - 1.755e9) < 1 && fabs(sense.memory_hz - 3.201e9) < 1);
    assert_true(fabs(sense.vram_used_bytes - 900) < 1e-9 && fabs(sense.vram_own_bytes - 600) < 1e-9);
    assert_true(fabs(sense.other_processes - 2) < 1e-9);
    assert_int_equal(sense.throttle_bits, 0x24); /* idle and application clocks are no throttling */
    assert_true(fabs(sense.violation_power - 5e6) < 1e-9 && fabs(sense.violation_thermal - 7000) < 1e-9);
    setenv("FAKE_NVML_CONTAINER", "1", 1); /* one of three is this process, whatever its number */
    nvml_sense(&sense, &nvml);
    assert_true(fabs(sense.other_processes - 2) < 1e-9);
    setenv("FAKE_NVML_PROCESSES", "100", 1); /* more than there is room for: unknown */
    sense = device_sense_unknown;
    nvml_sense(&sense, &nvml);
    assert_true(isnan(sense.other_processes));
    nvml_close(&nvml);
}

/* No library, another library, another card, a card that tells nothing: all unknown. */
static void knows_nothing_without_trouble(void **state)
{
    const struct {
        const char *library, *bdf;
        bool refuses;
    } cases[] = {
        {"/nonexistent.so", "ffff:00:00.0", false},      {fake_path("fake_cuda"), "ffff:00:00.0", false},
        {fake_path("fake_nvml"), "0000:01:00.0", false}, {fake_path("fake_nvml"), "", false},
        {fake_path("fake_nvml"), "ffff:00:00.0", true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        struct nvml nvml;
        struct device_info info = {0};
        struct device_sense sense = device_sense_unknown;
        use_nvml(cases[i].library);
        if (cases[i].refuses)
            setenv("FAKE_NVML_REFUSES", "1", 1);
        nvml_open(&nvml, cases[i].bdf);
        nvml_describe(&info, &nvml);
        nvml_sense(&sense, &nvml);
        assert_string_equal(info.vbios, "");
        assert_true(isnan(sense.power_w) && isnan(sense.other_processes) && isnan(sense.violation_power));
        assert_int_equal(sense.throttle_bits, UINT64_MAX);
        nvml_close(&nvml);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(describes_a_card),
        cmocka_unit_test(senses_a_card),
        cmocka_unit_test(knows_nothing_without_trouble),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
