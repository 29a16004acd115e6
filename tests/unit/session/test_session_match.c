/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "rooftile/session.h"

static void matches_by_id_mode_and_units(void **state)
{
    static const struct {
        const char *id, *partition;
        uint32_t cus;
        enum machine_match match;
    } devices[] = {
        {"1002:74a1", "SPX/NPS1", 304, MATCH_YES}, {"1002:74b5", "SPX/NPS1", 304, MATCH_YES},
        {"1002:74a1", "CPX/NPS1", 38, MATCH_MODE}, {"1002:74a1", "CPX/NPS4", 304, MATCH_MODE},
        {"1002:74a1", "SPX", 304, MATCH_MODE},     {"1002:74a1", "", 304, MATCH_YES}, /* a driver that does not tell */
        {"1002:74a1", "", 38, MATCH_UNITS},                                           /* then the units do */
        {"1002:74a1", "SPX/NPS1", 0, MATCH_YES},   {"1002:74a0", "SPX/NPS1", 304, MATCH_NO},
        {"", "SPX/NPS1", 304, MATCH_NO},
    };
    const struct machine machine = {
        .pci_ids = {"1002:74a1", "1002:74b5"}, .pci_id_count = 2, .partition = "SPX/NPS1", .cus = 304};
    (void)state;
    for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); ++i) {
        struct device_info info = {.cus = devices[i].cus};
        snprintf(info.pci_id, sizeof(info.pci_id), "%s", devices[i].id);
        snprintf(info.partition, sizeof(info.partition), "%s", devices[i].partition);
        assert_int_equal(session_match(&machine, &info), devices[i].match);
    }
}

/* One id, several products: an RX 7900 XT is no XTX. */
static void tells_products_of_one_id_apart(void **state)
{
    const struct machine xtx = {.pci_ids = {"1002:744c"}, .pci_id_count = 1, .cus = 96};
    struct device_info info = {.pci_id = "1002:744c", .cus = 96};
    (void)state;
    assert_int_equal(session_match(&xtx, &info), MATCH_YES);
    info.cus = 84;
    assert_int_equal(session_match(&xtx, &info), MATCH_UNITS);
}

/* Without a device a target stands for its largest GPU, whatever else is described. */
static void a_target_is_its_largest_machine(void **state)
{
    static const struct {
        const char *arch;
        uint32_t cus;
    } targets[] = {{"gfx942", 304}, {"gfx950", 256}, {"gfx1100", 96}, {"gfx1201", 64}};
    (void)state;
    for (size_t k = 0; k < sizeof(targets) / sizeof(targets[0]); k++) {
        struct arena arena = {0};
        struct err err = {0};
        struct session session = {.arena = &arena};
        assert_int_equal(session_target(&session, targets[k].arch, &err), STATUS_OK);
        assert_int_equal(session.info.cus, targets[k].cus);
        arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_by_id_mode_and_units),
        cmocka_unit_test(tells_products_of_one_id_apart),
        cmocka_unit_test(a_target_is_its_largest_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
