/* SPDX-License-Identifier: MIT */
#include "../../../src/device/cpu.h"

#include "cpu_rig.h"
#include "rooftile/cpu_target.h"

static void info_describes_the_machine(void **state)
{
    struct rig rig;
    (void)state;
    rig_open(&rig, (struct device_request){.wave = 32});
    assert_string_equal(rig.info.id, "cpu:0");
    assert_string_equal(rig.info.arch, cpu_target_arch());
    assert_int_equal(rig.info.wave, 32);
    assert_true(rig.info.cus >= 1);
    assert_true(rig.info.core_hz > 5e8 && rig.info.core_hz < 1e10);
    assert_true(rig.info.memory_free_bytes > 0 && rig.info.memory_free_bytes <= rig.info.memory_bytes);
    assert_true(rig.info.name[0] && rig.info.target[0]);
    assert_null(strstr(rig.info.target, "native"));
    rig_close(&rig);
}

static double next_hz(void)
{
    /* Others have the core: each measurement is interrupted for another time, until two are not. */
    static const double seen_hz[] = {0.13e9, 0.02e9, 0.05e9, 0.08e9, 0.1e9, 1.2e9, 3.0e9, 0.4e9, 2.99e9, 9e9};
    static size_t at;
    assert_true(at < sizeof(seen_hz) / sizeof(*seen_hz));
    return seen_hz[at++];
}

static void interrupted_clocks_do_not_count(void **state)
{
    (void)state;
    assert_true(cpu_fastest(next_hz) == 3.0e9);
}

static void refuses_what_is_not_there(void **state)
{
    static const struct {
        struct device_request request;
        const char *says;
    } cases[] = {
        {{.index = 1}, "no device cpu:1"},
        {{.wave = 16}, "waves of 64 or 32, not 16"},
        {{.threads = 1000000}, "1000000 threads asked for"},
    };
    (void)state;
    for
        EACH(i, cases)
        {
            struct device *device = NULL;
            struct device_info info;
            struct err err = {0};
            assert_int_equal(device_cpu.open(&device, &cases[i].request, &info, &err), ERR_DEVICE);
            assert_non_null(strstr(err.text, cases[i].says));
            assert_null(device);
        }
}

static void kernels_describe_their_arguments(void **state)
{
    static const struct kernel_arg expected[] = {{1, false}, {8, true}, {4, false}, {8, false}, {4, false}, {8, true}};
    struct rig rig;
    struct kernel_info info;
    const struct device_kernel *kernel = NULL;
    (void)state;
    rig_open(&rig, (struct device_request){0});
    rig_kernel(&rig, "arguments", &info);
    assert_int_equal(info.arg_count, 6);
    for
        EACH(i, expected)
        {
            assert_int_equal(info.args[i].size_bytes, expected[i].size_bytes);
            assert_int_equal(info.args[i].is_pointer, expected[i].is_pointer);
        }
    rig_kernel(&rig, "nothing", &info);
    assert_int_equal(info.arg_count, 0);
    assert_int_equal(device_cpu.kernel(&kernel, &info, rig.device, rig.module, "absent", &rig.err), ERR_DEVICE);
    assert_non_null(strstr(rig.err.text, "no kernel 'absent' in the module; it exports scale, arguments"));
    rig_close(&rig);
}

static void arguments_arrive(void **state)
{
    struct rig rig;
    double out = 0, *pointer = &out;
    uint8_t small = 200;
    uint32_t word = 3000000000u;
    uint64_t wide = UINT64_C(1) << 40;
    float number = 0.25f, quad[4] __attribute__((aligned(16))) = {0, 0, 0, 0.5f}, *vectors = quad;
    (void)state;
    rig_open(&rig, (struct device_request){0});
    void *args[] = {&small, &pointer, &word, &wide, &number, &vectors};
    assert_int_equal(rig_launch(&rig, "arguments", (struct device_launch){.args = args}), STATUS_OK);
    assert_true(fabs(out - (200 + 3e9 + 1099511627776.0 + 0.75)) < 1024); /* a sum of integers and floats in float */
    rig_close(&rig);
}

static void plain_kernel_covers_every_element(void **state)
{
    static const uint64_t counts[] = {1, 63, 64, 255, 4099, 100000};
    (void)state;
    for
        EACH(o, orders)
        for
            EACH(k, counts)
            {
                struct rig rig;
                const uint64_t n = counts[k];
                float *a = calloc(n + 8, sizeof(*a)), *b = calloc(n, sizeof(*b)), *c = calloc(n, sizeof(*c)), s = 3;
                for (uint64_t i = 0; i < n; ++i) {
                    b[i] = (float)(i % 7);
                    c[i] = (float)(i % 5);
                }
                rig_open(&rig, (struct device_request){0});
                uint64_t count = n;
                void *args[] = {&a, &b, &c, &s, &count};
                const struct device_launch launch = {.grid = {(uint32_t)((n + 255) / 256)},
                                                     .block = {256},
                                                     .args = args,
                                                     .lane_order = orders[o],
                                                     .seed = 5};
                assert_int_equal(rig_launch(&rig, "scale", launch), STATUS_OK);
                for (uint64_t i = 0; i < n; ++i)
                    assert_true(a[i] == (float)(i % 7) + 3 * (float)(i % 5));
                for (uint64_t i = n; i < n + 8; ++i)
                    assert_true(a[i] == 0);
                rig_close(&rig);
                free(a);
                free(b);
                free(c);
            }
}

static void impossible_launches_are_refused(void **state)
{
    static const struct {
        uint32_t grid[3], block[3], lds_bytes;
        const char *says;
    } cases[] = {
        {{0, 1, 1}, {1, 1, 1}, 0, "empty grid"},
        {{1, 1, 1}, {1, 0, 1}, 0, "empty workgroup"},
        {{1, 1, 1}, {1025, 1, 1}, 0, "at most 1024"},
        {{1, 1, 1}, {64, 64, 64}, 0, "at most 1024"},
        {{1, 1, 1}, {65536, 65536, 65536}, 0, "at most 1024"},
        {{2147483648u, 1, 1}, {1, 1, 1}, 0, "too large"},
        {{2147483647u, 2147483647u, 2147483647u}, {1, 1, 1}, 0, "too large"},
        {{1, 1, 1}, {1, 1, 1}, 2097152, "bytes of LDS: at most 2097152"},
    };
    struct rig rig;
    (void)state;
    rig_open(&rig, (struct device_request){0});
    for
        EACH(i, cases)
        {
            struct device_launch launch = {.kernel = rig_kernel(&rig, "nothing", NULL),
                                           .lds_bytes = cases[i].lds_bytes};
            memcpy(launch.grid, cases[i].grid, sizeof(launch.grid));
            memcpy(launch.block, cases[i].block, sizeof(launch.block));
            assert_int_equal(device_cpu.launch(rig.device, &launch, &rig.err), ERR_DEVICE);
            if (!strstr(rig.err.text, cases[i].says))
                fail_msg("case %zu: %s", i, rig.err.text);
        }
    rig_close(&rig);
}

/* As many workgroups at once as there are threads. */
static void cooperative_launches_must_fit(void **state)
{
    struct rig rig;
    (void)state;
    rig_open(&rig, (struct device_request){.threads = 1});
    struct device_launch launch = {
        .kernel = rig_kernel(&rig, "nothing", NULL), .grid = {1, 1, 1}, .block = {1, 1, 1}, .cooperative = true};
    assert_int_equal(device_cpu.launch(rig.device, &launch, &rig.err), STATUS_OK);
    launch.grid[0] = 2;
    assert_int_equal(device_cpu.launch(rig.device, &launch, &rig.err), ERR_UNSUPPORTED);
    assert_non_null(strstr(rig.err.text, "2 workgroups cannot run at once: the device has 1 threads"));
    launch.cooperative = false;
    assert_int_equal(device_cpu.launch(rig.device, &launch, &rig.err), STATUS_OK);
    rig_close(&rig);
}

static void modules_of_another_kind_are_refused(void **state)
{
    struct rig rig;
    struct device_module *module = NULL;
    (void)state;
    rig_open(&rig, (struct device_request){0});
    assert_int_equal(device_cpu.load(&module, rig.device, module_path(32), &rig.err), ERR_DEVICE);
    assert_non_null(strstr(rig.err.text, "built for waves of 32, the device has 64"));
    assert_int_equal(device_cpu.load(&module, rig.device, "/nonexistent.so", &rig.err), ERR_DEVICE);
    assert_int_equal(device_cpu.load(&module, rig.device, "libm.so.6", &rig.err), ERR_DEVICE);
    assert_non_null(strstr(rig.err.text, "not a kernel module"));
    assert_null(module);
    rig_close(&rig);
}

static void fast_functions_are_accurate(void **state)
{
    static float x[] = {0.001f, 0.5f, 0.66f,  0.67f,  1,     1.33f, 1.34f, 2,      3.7f,
                        10,     100,  126.6f, 1e-30f, 1e30f, -1.5f, -100,  -125.9f};
    enum { COUNT = sizeof(x) / sizeof(x[0]) };
    float y[COUNT * 6] = {0}, *in = x, *out = y;
    uint32_t n = COUNT;
    struct rig rig;
    void *args[] = {&out, &in, &n};
    (void)state;
    rig_open(&rig, (struct device_request){0});
    assert_int_equal(rig_launch(&rig, "functions", (struct device_launch){.block = {64}, .args = args}), STATUS_OK);
    for (size_t i = 0; i < COUNT; ++i) {
        const double v = (double)x[i];
        const double expected[6] = {exp2(v), exp(v), log2(v), log(v), 1 / sqrt(v), 1 / v};
        for (int k = 0; k < 6; ++k) {
            const double got = (double)y[i * 6 + (size_t)k], want = expected[k];
            /* exp rounds x / ln 2, so its error grows with x; the logarithm's is absolute near 1. */
            const double allowed = 3e-7 * fabs(want) * (k == 1 ? 1 + fabs(v) : 1) + (k == 2 || k == 3 ? 2e-7 : 1e-38);
            const bool same = isnan(want) ? isnan(got) : want > 3.4e38 ? isinf(got) : fabs(got - want) <= allowed;
            if (!same)
                fail_msg("function %d of %g: %g, not %g", k, v, got, want);
        }
    }
    rig_close(&rig);
}

static void atomics_lose_nothing(void **state)
{
    struct rig rig;
    uint32_t counts[4] = {0}, *words = counts;
    float sum = 0, *sums = &sum;
    double wide = 0, *doubles = &wide;
    uint64_t most = 0, *mosts = &most;
    void *args[] = {&words, &sums, &doubles, &mosts};
    (void)state;
    rig_open(&rig, (struct device_request){0});
    const struct device_launch launch = {.grid = {64}, .block = {LANES}, .args = args};
    assert_int_equal(rig_launch(&rig, "atomics", launch), STATUS_OK);
    assert_int_equal(counts[0], 64 * LANES / 2);
    assert_int_equal(counts[1], 64 * LANES / 2);
    assert_int_equal(counts[2], 0xffffffffu);
    assert_int_equal(counts[3], 17);
    assert_true(sum == 64 * LANES && wide == 32 * LANES);
    assert_true(most == (uint64_t)(64 * LANES - 1) << 32);
    rig_close(&rig);
}

static void hidden_values_are_still_right(void **state)
{
    struct rig rig;
    float a[1024] __attribute__((aligned(64))) = {0}, b[1024] __attribute__((aligned(64))), *to = a, *from = b;
    void *args[] = {&to, &from};
    (void)state;
    for (int i = 0; i < 1024; ++i)
        b[i] = (float)i;
    rig_open(&rig, (struct device_request){0});
    assert_int_equal(rig_launch(&rig, "hidden", (struct device_launch){.grid = {4}, .block = {64}, .args = args}),
                     STATUS_OK);
    for (int i = 0; i < 1024; ++i)
        assert_true(a[i] == (float)i * (float)i + 1);
    rig_close(&rig);
}

static void memory_moves(void **state)
{
    struct rig rig;
    void *one = NULL, *other = NULL, *too_much = NULL;
    enum { BYTES = 3 << 20 };
    static uint8_t host[BYTES];
    (void)state;
    rig_open(&rig, (struct device_request){.huge_pages = true});
    assert_int_equal(device_cpu.alloc(&one, rig.device, BYTES, SPACE_DEVICE, &rig.err), STATUS_OK);
    assert_int_equal(device_cpu.alloc(&other, rig.device, 0, SPACE_PINNED, &rig.err), STATUS_OK);
    assert_int_equal((uintptr_t)one % (2 << 20), 0);
    device_cpu.free(rig.device, other);
    assert_int_equal(device_cpu.alloc(&other, rig.device, BYTES, SPACE_DEVICE, &rig.err), STATUS_OK);
    assert_int_equal(device_cpu.fill(rig.device, one, 0xa5, BYTES, 0, &rig.err), STATUS_OK);
    assert_int_equal(device_cpu.copy(rig.device, other, one, BYTES, 0, &rig.err), STATUS_OK);
    if (device_cpu.evict)
        assert_int_equal(device_cpu.evict(rig.device, (char *)other + 7, BYTES - 7, &rig.err), STATUS_OK);
    assert_int_equal(device_cpu.read(rig.device, host, other, BYTES, &rig.err), STATUS_OK);
    for (size_t i = 0; i < BYTES; ++i)
        assert_int_equal(host[i], 0xa5);
    assert_int_equal(device_cpu.alloc(&too_much, rig.device, UINT64_MAX, SPACE_DEVICE, &rig.err), ERR_DEVICE_MEMORY);
    assert_int_equal(device_cpu.alloc(&too_much, rig.device, 64, SPACE_PEER, &rig.err), ERR_UNSUPPORTED);
    assert_null(too_much);
    rig_close(&rig);
}

static void events_measure_time(void **state)
{
    struct rig rig;
    double time_ns = 0;
    (void)state;
    rig_open(&rig, (struct device_request){0});
    assert_int_equal(device_cpu.event(rig.device, 3, 0, &rig.err), STATUS_OK);
    usleep(2000);
    assert_int_equal(device_cpu.event(rig.device, 4, 0, &rig.err), STATUS_OK);
    assert_int_equal(device_cpu.elapsed(&time_ns, rig.device, 3, 4, &rig.err), STATUS_OK);
    assert_true(time_ns >= 2e6 && time_ns < 2e9);
    assert_int_equal(device_cpu.elapsed(&time_ns, rig.device, 4, 3, &rig.err), STATUS_OK);
    assert_true(time_ns < 0);
    assert_int_equal(device_cpu.event(rig.device, DEVICE_MAX_EVENTS, 0, &rig.err), ERR_DEVICE);
    rig_close(&rig);
}

static void senses_rates_and_load(void **state)
{
    struct rig rig;
    struct device_sense first, second;
    (void)state;
    rig_open(&rig, (struct device_request){0});
    assert_int_equal(device_cpu.sense(rig.device, &first, &rig.err), STATUS_OK);
    assert_true(first.stream_bps > 1e8 && first.stream_bps < 1e13);
    assert_true(first.fma_flops > 1e8 && first.fma_flops < 1e14);
    assert_true(first.core_hz > 5e8);
    assert_true(isnan(first.steal_fraction));
    usleep(30000); /* at least one tick */
    assert_int_equal(device_cpu.sense(rig.device, &second, &rig.err), STATUS_OK);
    assert_true(second.steal_fraction >= 0 && second.steal_fraction <= 1);
    rig_close(&rig);
}

struct shares {
    uint32_t parts, seen[1024];
};

static void note_share(void *context, uint32_t part, uint32_t parts)
{
    struct shares *shares = context;
    if (part == 0)
        shares->parts = parts;
    ++shares->seen[part];
}

static void parallel_runs_once_on_each_core(void **state)
{
    struct rig rig;
    struct shares shares = {0};
    (void)state;
    rig_open(&rig, (struct device_request){0});
    for (int round = 0; round < 1000; ++round)
        device_cpu.parallel(rig.device, note_share, &shares);
    assert_int_equal(shares.parts, rig.info.cus);
    for (uint32_t i = 0; i < shares.parts; ++i)
        assert_int_equal(shares.seen[i], 1000);
    rig_close(&rig);
}

/* `a[i] = b[i] + s * c[i]` must be packed SIMD of the machine's widest kind in the loop over work-items. */
static void plain_kernels_are_packed_simd(void **state)
{
    static const struct {
        const char *feature, *pattern;
    } packed[] = {
        {"avx512f", "v(fmadd[0-9]+|mul)ps[^\n]*%zmm"},
        {"fma", "v(fmadd[0-9]+|mul)ps[^\n]*%ymm"},
        {"sse2", "mulps[^\n]*%xmm"},
    };
    static const char *const extra[] = {"-S", "-o", "-", NULL};
    struct arena arena = {0};
    struct text target = {0};
    regex_t regex;
    (void)state;
    cpu_target_detect(&target, "");
    size_t kind = 0;
    while (kind < 3 && !cpu_target_has(target.data, packed[kind].feature))
        ++kind;
    assert_int_equal(regcomp(&regex, kind < 3 ? packed[kind].pattern : "fml?a[^\n]*v[0-9]+\\.4s", REG_EXTENDED), 0);
    char *code = strstr(compile(64, extra, &arena), "_ZN4unit16simt_plain_scaleE");
    assert_non_null(code);
    char *function = strstr(code, "simt_plain_scaleEPK11simt_launchmm:");
    assert_non_null(function);
    char *end = strstr(function, ".Lfunc_end");
    assert_non_null(end);
    *end = '\0';
    assert_int_equal(regexec(&regex, function, 0, NULL, 0), 0);
    regfree(&regex);
    text_release(&target);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(info_describes_the_machine),
        cmocka_unit_test(refuses_what_is_not_there),
        cmocka_unit_test(kernels_describe_their_arguments),
        cmocka_unit_test(arguments_arrive),
        cmocka_unit_test(plain_kernel_covers_every_element),
        cmocka_unit_test(impossible_launches_are_refused),
        cmocka_unit_test(cooperative_launches_must_fit),
        cmocka_unit_test(modules_of_another_kind_are_refused),
        cmocka_unit_test(fast_functions_are_accurate),
        cmocka_unit_test(atomics_lose_nothing),
        cmocka_unit_test(hidden_values_are_still_right),
        cmocka_unit_test(memory_moves),
        cmocka_unit_test(interrupted_clocks_do_not_count),
        cmocka_unit_test(events_measure_time),
        cmocka_unit_test(senses_rates_and_load),
        cmocka_unit_test(parallel_runs_once_on_each_core),
        cmocka_unit_test(plain_kernels_are_packed_simd),
    };
    return cmocka_run_group_tests(tests, build_modules, remove_modules);
}
