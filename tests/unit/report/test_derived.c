/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../../src/report/report_internal.h"
#include "../../../src/result/records.h"

static const struct result_metric metrics[] = {{"cycles", "clocks", 4}};
static struct result_case cases[] = {{.kernel = "chase", .metrics = metrics, .metric_count = 1}};

/* Values come from files that anybody may have written: what is no value of its method says nothing, or has holes. */
static const struct {
    struct result_derived derived;
    const char *json, *text;
} lines[] = {
    {{.method = "startup", .x = "bytes", .y = "time_ns"},
     "{\"startup\":8100,\"rate\":25,\"r2\":0.9994}",
     "  d g=1: start-up 8.10 us, then 25.0 GB/s (R2 0.999)\n"},
    {{.method = "startup", .x = "bytes", .y = "time_ns"},
     "{\"startup\":8100,\"rate\":25,\"r2\":0.5}",
     "  d g=1: start-up 8.10 us, then 25.0 GB/s (a poor fit: R2 0.500)\n"},
    {{.method = "startup", .x = "bytes", .y = "time_ns"}, "{\"error\":\"2 points\"}", "  d g=1: none: 2 points\n"},
    {{.method = "max", .x = "size", .y = "cycles"}, "{\"x\":65536,\"y\":4}", "  d g=1: 4 clocks at size 64Ki\n"},
    {{.method = "knee", .x = "footprint", .y = "time_ns"}, "{\"x\":1048576}", "  d g=1: knee at footprint 1.00 MiB\n"},
    {{.method = "change_points", .x = "n", .y = "ns_per_item"}, "{\"changes\":[]}", "  d g=1: no change of level\n"},
    {{.method = "change_points", .x = "n", .y = "ns_per_item"}, "{\"changes\":7}", "  d g=1: no change of level\n"},
    {{.method = "ratio", .x = "", .y = "flops_per_s"},
     "{\"to\":\"fast\",\"points\":[{\"at\":\"m=1\",\"value\":9e9,\"of\":1e10,\"ratio\":0.9},"
     "{\"at\":\"\",\"value\":1e9,\"of\":2e9,\"ratio\":0.5}],\"unmatched\":2}",
     "  d g=1: chase reaches 0.90 of fast at m=1 (9.00 GFLOP/s), 0.50 (1.00 GFLOP/s); 2 without a\n"
     "  counterpart\n"},
    {{.method = "ratio", .x = "", .y = "flops_per_s"},
     "{\"to\":\"fast\",\"points\":[{\"at\":\"1\",\"value\":6e9,\"ratio\":0.6},{\"at\":\"2\",\"value\":7e9,"
     "\"ratio\":0.7},"
     "{\"at\":\"3\",\"value\":8e9,\"ratio\":0.8},{\"at\":\"4\",\"value\":6e9,\"ratio\":0.6},{\"at\":\"5\","
     "\"value\":1e9,\"ratio\":0.1},{\"at\":\"6\",\"value\":5e9,\"ratio\":0.5},{\"at\":\"7\",\"value\":5e9,"
     "\"ratio\":0.5}]}",
     "  d g=1: chase reaches 0.10 of fast at 5 (1.00 GFLOP/s), 0.80 at 3 (8.00 GFLOP/s), the least and the\n"
     "  most of 7\n"},
    {{.method = "ratio", .x = "", .y = "time_ns"},
     "{\"to\":\"fast\",\"points\":[{\"ratio\":1},{\"ratio\":1},{\"ratio\":1},{\"ratio\":1},{\"ratio\":1},{"
     "\"ratio\":1},"
     "{\"ratio\":1}]}",
     "  d g=1: chase takes 1.00 of fast (-), the least and the most of 7\n"},
    {{.method = "shares", .x = "", .y = "time_ns"},
     "{\"sum_ns\":4000,\"parts\":[{\"part\":\"qkv\",\"kernel\":\"gemm\",\"times\":1,\"time_ns\":1000,"
     "\"share\":0.25},"
     "{\"part\":\"gate\",\"kernel\":\"silu\",\"times\":3,\"time_ns\":1000,\"share\":0.75}]}",
     "d g=1: 4.00 us\n"
     "  part  kernel         time  share\n"
     "  qkv   gemm        1.00 us   25 %\n"
     "  gate  silu    3 x 1.00 us   75 %\n"},
    {{.method = "shares", .x = "", .y = "time_ns"}, "{\"sum_ns\":4000,\"parts\":7}", ""},
    {{.method = "of the future", .x = "n", .y = "time_ns"}, "{\"z\":1}", ""},
    {{.method = "startup", .x = "n", .y = "time_ns"}, "[]", "  d g=1: start-up -, then - (a poor fit: R2 nan)\n"},
    {{.method = "matrix", .x = "to", .y = "bytes_per_s", .rows = "from"},
     "{\"rows\":[\"0\",\"65536\"],\"columns\":[\"pinned\",\"1\"],\"cells\":[[1e9,null],[2e10,3e9]]}",
     "d g=1: bytes_per_s by from (rows) and to\n"
     "  from     pinned          1\n"
     "  0     1.00 GB/s          -\n"
     "  64Ki  20.0 GB/s  3.00 GB/s\n"},
    {{.method = "matrix", .x = "to", .y = "time_ns", .rows = "from"},
     "{\"rows\":[\"0\",7],\"columns\":[\"1\"],\"cells\":[\"x\"]}",
     "d g=1: time_ns by from (rows) and to\n"
     "  from  1\n"
     "  0     -\n"
     "        -\n"},
};

static void derived_text(struct text *out, const struct result *result)
{
    struct arena arena = {0};
    struct document document = {.arena = &arena};
    derived_sections(&document, result);
    render_text(out, &document, &(struct report_options){.columns = 100});
    arena_release(&arena);
}

static void says_each(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof(lines) / sizeof(lines[0]); k++) {
        struct result_derived derived = lines[k].derived;
        struct text out = {0}, want = {0};
        derived.name = "d";
        derived.group = "g=1";
        derived.kernel = "chase";
        derived.rows = derived.rows ? derived.rows : "";
        struct arena arena = {0};
        struct err err = {0};
        const cJSON *json = NULL;
        assert_int_equal(json_parse(&json, "d", lines[k].json, strlen(lines[k].json), &arena, &err), STATUS_OK);
        assert_int_equal(derived_value_get(&derived.value, json, &(struct record_in){.arena = &arena}, &err),
                         STATUS_OK);
        const struct result result = {.cases = cases, .case_count = 1, .derived = &derived, .derived_count = 1};
        derived_text(&out, &result);
        text_addf(&want, "%s%s", lines[k].text[0] == ' ' ? "derived from these cases\n" : "", lines[k].text);
        assert_string_equal(out.data ? out.data : "", want.data);
        text_release(&out);
        text_release(&want);
        arena_release(&arena);
    }
}

static void says_nothing_of_nothing(void **state)
{
    const struct result result = {.case_count = 0};
    struct text out = {0};
    (void)state;
    derived_text(&out, &result);
    assert_int_equal(out.length, 0);
    text_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(says_each), cmocka_unit_test(says_nothing_of_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
