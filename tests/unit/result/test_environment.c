/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rooftile/result.h"

static char *arguments[] = {(char[]){"rooftile"}, (char[]){"run"}, NULL};

static struct result described(const struct device_info *device, uint64_t seed, struct arena *arena)
{
    struct result result = {.seed = seed};
    result_environment(&result, device, 2, arguments, arena);
    return result;
}

static const struct device_info cpu = {
    .backend = "cpu", .name = "CPU", .arch = "x86-64", .target = "x86-64-v3", .cus = 2, .wave = 64};

static void test_facts(void **state)
{
    (void)state;
    struct arena arena = {0};
    const struct result result = described(&cpu, 1, &arena);
    assert_true(strlen(result.tool_version) > 0);
    assert_true(strlen(result.kernel_release) > 0);
    assert_int_equal(result.argc, 2);
    assert_string_equal(result.argv[1], "run");
    assert_string_equal(result.device.name, "CPU");
    assert_int_equal(strlen(result.fingerprint), 64);
    assert_int_equal(strspn(result.fingerprint, "0123456789abcdef"), 64);
    arena_release(&arena);
}

/* RFC 9562: version 4, variant 10. */
static void test_run_id(void **state)
{
    (void)state;
    struct arena arena = {0};
    const char *a = described(&cpu, 1, &arena).run_id, *b = described(&cpu, 1, &arena).run_id;
    assert_int_equal(strlen(a), 36);
    assert_int_equal(a[14], '4');
    assert_non_null(strchr("89ab", a[19]));
    assert_string_not_equal(a, b);
    struct device_info sim = cpu;
    sim.predicted = true;
    assert_string_equal(described(&sim, 1, &arena).run_id, described(&sim, 1, &arena).run_id);
    assert_string_not_equal(described(&sim, 1, &arena).run_id, described(&sim, 2, &arena).run_id);
    arena_release(&arena);
}

/* What makes two results comparable, and what does not. */
static void test_fingerprint(void **state)
{
    (void)state;
    struct arena arena = {0};
    const struct result base = described(&cpu, 1, &arena);
    struct device_info same = cpu, others[4] = {cpu, cpu, cpu, cpu};
    same.memory_free_bytes = 12345;
    assert_string_equal(described(&same, 99, &arena).fingerprint, base.fingerprint);
    others[0].name[0] = 'X';
    others[1].cus = 4;
    others[2].wave = 32;
    others[3].driver[0] = 'X';
    for (size_t k = 0; k < 4; k++)
        assert_string_not_equal(described(&others[k], 1, &arena).fingerprint, base.fingerprint);
    arena_release(&arena);
}

static const char *variable(const struct result *result, const char *name)
{
    for (size_t k = 0; k < result->env_count; k++)
        if (!strcmp(result->env[k].key, name))
            return result->env[k].value;
    return NULL;
}

static void test_variables(void **state)
{
    (void)state;
    struct arena arena = {0};
    setenv("HSA_ENABLE_SDMA", "0", 1);
    setenv("ROCR_VISIBLE_DEVICES", "", 1);
    setenv("ROOFTILE_SECRET", "x", 1);
    setenv("MY_HIP_THING", "x", 1);
    setenv("OMP_PLACES", "a=b", 1);
    const struct result result = described(&cpu, 1, &arena);
    assert_string_equal(variable(&result, "HSA_ENABLE_SDMA"), "0");
    assert_string_equal(variable(&result, "ROCR_VISIBLE_DEVICES"), "");
    assert_string_equal(variable(&result, "OMP_PLACES"), "a=b");
    assert_null(variable(&result, "ROOFTILE_SECRET"));
    assert_null(variable(&result, "MY_HIP_THING"));
    arena_release(&arena);
}

static void test_ci(void **state)
{
    (void)state;
    struct arena arena = {0};
    setenv("GITHUB_SHA", "abc", 1);
    setenv("CI_COMMIT_SHA", "def", 1);
    assert_string_equal(described(&cpu, 1, &arena).commit, "abc");
    setenv("ROOFTILE_COMMIT", "own", 1);
    assert_string_equal(described(&cpu, 1, &arena).commit, "own");
    unsetenv("ROOFTILE_COMMIT");
    unsetenv("GITHUB_SHA");
    unsetenv("CI_COMMIT_SHA");
    unsetenv("GIT_COMMIT");
    assert_string_equal(described(&cpu, 1, &arena).commit, "");
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_facts),     cmocka_unit_test(test_run_id), cmocka_unit_test(test_fingerprint),
        cmocka_unit_test(test_variables), cmocka_unit_test(test_ci),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
