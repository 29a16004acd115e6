/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "rooftile/suite.h"
#include "rooftile/text.h"

static enum status parse(const struct suite **suite, const char *kpis, struct arena *arena, struct err *err)
{
    struct measure_options base;
    struct text text = {0};
    measure_defaults(&base);
    text_addf(&text, "{\"name\": \"s\", \"cases\": [{\"kernel\": \"k\"}],\n\"kpis\": %s}", kpis);
    enum status status = suite_parse(suite, "s.json", text.data, text.length, &base, arena, err);
    text_release(&text);
    return status;
}

static void good(void **state)
{
    static const struct {
        const char *json, *of, *unit;
        bool higher;
        size_t filters;
    } rows[] = {
        {"{\"name\": \"a\", \"method\": \"geomean\", \"of\": \"bytes_per_s\", \"cases\": [\"x\", \"!y\"]}",
         "bytes_per_s", "B/s", true, 2},
        {"{\"name\": \"a\", \"method\": \"min\", \"of\": \"time_ns\", \"cases\": [\"x\"]}", "time_ns", "ns", false, 1},
        {"{\"name\": \"a\", \"method\": \"max\", \"of\": \"ns_per_item\", \"cases\": [\"x\"]}", "ns_per_item", "ns",
         false, 1},
        {"{\"name\": \"a\", \"method\": \"value\", \"of\": \"fraction\", \"cases\": [\"x\"], \"better\": \"lower\"}",
         "fraction", "1", false, 1},
        {"{\"name\": \"a\", \"method\": \"value\", \"of\": \"cycles\", \"unit\": \"cycles\", \"cases\": [\"x\"], "
         "\"better\": \"lower\"}",
         "cycles", "cycles", false, 1},
        {"{\"name\": \"a\", \"method\": \"value\", \"of\": \"hits\", \"cases\": [\"x\"], \"better\": \"higher\"}",
         "hits", "1", true, 1},
    };
    (void)state;
    for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
        struct arena arena = {0};
        struct err err = {0};
        const struct suite *suite = NULL;
        struct text list = {0};
        text_addf(&list, "[%s]", rows[k].json);
        if (parse(&suite, list.data, &arena, &err))
            fail_msg("row %zu: %s", k, err.text);
        assert_int_equal(suite->kpi_count, 1);
        assert_string_equal(suite->kpis[0].of, rows[k].of);
        assert_string_equal(suite->kpis[0].unit, rows[k].unit);
        assert_int_equal(suite->kpis[0].higher_is_better, rows[k].higher);
        assert_int_equal(suite->kpis[0].filter_count, rows[k].filters);
        text_release(&list);
        arena_release(&arena);
    }
}

static void bad(void **state)
{
    static const struct {
        const char *kpis, *message;
    } rows[] = {
        {"3", "s.json:2:9: /kpis: "},
        {"[3]", "s.json:2:10: /kpis/0: "},
        {"[{}]", "/kpis/0: "},
        {"[{\"name\": \"\", \"method\": \"min\", \"of\": \"time_ns\", \"cases\": [\"x\"]}]",
         "s.json:2:19: /kpis/0/name: must not be empty"},
        {"[{\"name\": \"a\", \"metod\": \"min\"}]", "s.json:2:24: /kpis/0/metod: unknown key"},
        {"[{\"name\": \"a\", \"method\": \"gemoean\", \"of\": \"time_ns\", \"cases\": [\"x\"]}]",
         "s.json:2:34: /kpis/0/method: 'gemoean' is none of geomean, value, min, max, weighted_sum; did you mean "
         "'geomean'?"},
        {"[{\"name\": \"a\", \"method\": \"min\", \"of\": \"time_ns\"}]", "/kpis/0: \"cases\" must name"},
        {"[{\"name\": \"a\", \"method\": \"min\", \"of\": \"time_ns\", \"cases\": []}]", "\"cases\" must name"},
        {"[{\"name\": \"a\", \"method\": \"min\", \"of\": \"time_ns\", \"cases\": [1]}]", "/kpis/0/cases/0: "},
        {"[{\"name\": \"a\", \"method\": \"min\", \"of\": \"time_ns\", \"cases\": [\"x\"], \"unit\": \"s\"}]",
         "/kpis/0/unit: 'time_ns' is always in ns"},
        {"[{\"name\": \"a\", \"method\": \"min\", \"of\": \"cycles\", \"cases\": [\"x\"]}]", "say \"better\""},
        {"[{\"name\": \"a\", \"method\": \"min\", \"of\": \"cycles\", \"cases\": [\"x\"], \"better\": \"more\"}]",
         "/kpis/0/better: 'more' is neither"},
        {"[{\"name\": \"a\", \"method\": \"min\", \"of\": \"time_ns\", \"cases\": [\"x\"]},\n{\"name\": \"a\", "
         "\"method\": \"max\", \"of\": \"time_ns\", \"cases\": [\"x\"]}]",
         "s.json:3:10: /kpis/1/name: the key figure 'a' is declared twice"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
        struct arena arena = {0};
        struct err err = {0};
        const struct suite *suite = NULL;
        if (parse(&suite, rows[k].kpis, &arena, &err) != ERR_CONFIG || !strstr(err.text, rows[k].message))
            fail_msg("row %zu: '%s' lacks '%s'", k, err.text, rows[k].message);
        arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(good), cmocka_unit_test(bad)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
