/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../../src/build/build_internal.h"

enum { MOST = 4 };

static enum status check(const char *const *flags, struct err *err)
{
    struct build_request request = {.source = "k.hip", .asked_by = "k/n=1", .flags = flags};
    while (flags[request.flag_count])
        request.flag_count++;
    return flags_check(&request, err);
}

static void only_compile(void **state)
{
    static const char *const rows[][MOST] = {
        {"-O0"},
        {"-O3"},
        {"-Ofast"},
        {"-Os", "-g", "-g1"},
        {"-DA=1", "-D_B", "-UC"},
        {"-ffast-math", "-fno-slp-vectorize", "-ffp-contract=off"},
        {"-funroll-loops", "-fdenormal-fp-math=preserve-sign", "-fgpu-flush-denormals-to-zero"},
        {"-mcumode", "-mno-fma", "-mcode-object-version=5"},
        {"-march=native", "-mrecip=div,sqrt"},
        {"-mllvm", "-amdgpu-early-inline-all=true"},
        {"-mllvm", "-amdgpu-load-store-vectorizer=0"},
        {"-Wno-unused", "-std=c++20"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
        struct err err = {0};
        if (check(rows[k], &err))
            fail_msg("%s", err.text);
    }
}

/* Each is the last of its row. */
static void do_more(void **state)
{
    static const char *const rows[][MOST] = {
        {"-fplugin=./evil.so"},
        {"-fpass-plugin=evil.so"},
        {"-fplugin-arg-x-y"},
        {"-fuse-ld=evil"},
        {"-flto"},
        {"-fthinlto-index=x"},
        {"-fprofile-use=x"},
        {"-fmodule-file=x"},
        {"-fmodules"},
        {"-fsanitize-ignorelist=x"},
        {"-fxray-always-instrument=x"},
        {"-ftime-trace=x"},
        {"-fsave-optimization-record"},
        {"-fdebug-prefix-map=/a=b"},
        {"-fcrash-diagnostics-dir=x"},
        {"-include"},
        {"-includex.h"},
        {"-imacros"},
        {"-I/etc"},
        {"-I."},
        {"-isystem"},
        {"-B."},
        {"-L."},
        {"-lm"},
        {"x.o"},
        {"@file"},
        {"-Xclang"},
        {"-Xlinker"},
        {"-Wl,-rpath,."},
        {"-Wa,--x"},
        {"-Wp,-MD,x"},
        {"-o"},
        {"-save-temps"},
        {"-specs=x"},
        {"--config=x"},
        {"--ld-path=x"},
        {"-mlink-builtin-bitcode"},
        {"-mllvm=-load=x"},
        {"-O2", "-mllvm", "-load"},
        {"-mllvm", "-load=evil.so"},
        {"-mllvm", "--load=evil.so"},
        {"-mllvm", "-load-pass-plugin=evil.so"},
        {"-mllvm", "-info-output-file=x"},
        {"-mllvm", "-x=/etc/passwd"},
        {"-mllvm", "evil.so"},
        {"-mllvm", "-x", "evil.so"},
        {""},
        {"-"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
        struct err err = {0};
        size_t last = 0;
        while (last + 1 < MOST && rows[k][last + 1])
            last++;
        if (check(rows[k], &err) != ERR_CONFIG)
            fail_msg("%s is taken", rows[k][last]);
        assert_non_null(strstr(err.text, "k/n=1"));
        assert_non_null(strstr(err.text, "--allow-flags"));
        assert_non_null(strstr(err.text, rows[k][last]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(only_compile), cmocka_unit_test(do_more)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
