/* SPDX-License-Identifier: MIT */
#include "expr_fixture.h"

static void evaluates(void **state)
{
    static const struct {
        const char *source;
        double value;
    } cases[] = {
        {"2*3+4", 10},
        {"2+3*4", 14},
        {"10-4-3", 3},
        {"100/5/2", 10},
        {"17 % 10 % 4", 3},
        {"2*7%4", 2},
        {"2^3^2", 512},
        {"-2^2", -4},
        {"(-2)^2", 4},
        {"2^-1", 0.5},
        {"2*-3", -6},
        {"--3", 3},
        {"+-+3", -3},
        {"!0", 1},
        {"!5", 0},
        {"!!5", 1},
        {"!0+1", 2},
        {"-7 % 3", -1},
        {"7 % -3", 1},
        {"5.5 % 2", 1.5},
        {"5 % 3 == 2", 1},
        {"1+1 < 3", 1},
        {"3 <= 3", 1},
        {"3 < 3", 0},
        {"3 >= 4", 0},
        {"4 > 3", 1},
        {"3 != 3", 0},
        {"(1 < 2) == (2 < 3)", 1},
        {"1 || 0 && 0", 1},
        {"(1 || 0) && 0", 0},
        {"2 && 3", 1},
        {"0 && 1", 0},
        {"0 || 7", 1},
        {"1 && 1 && 0 || 1", 1},
        {"1 ? 2 : 3", 2},
        {"0 ? 2 : 3", 3},
        {"0 ? 1 : 0 ? 2 : 3", 3},
        {"1 ? 0 ? 4 : 5 : 6", 5},
        {"0 || 1 ? 2 : 3", 2},
        {"1 ? 2 : 3 + 10", 2},
        {"0 && 1 / 0", 0},
        {"1 || 1 / 0", 1},
        {"zero == 0 ? 1 : n / zero", 1},
        {"1e3 + 1.5e-1 + 2E+1", 1020.15},
        {"16Ki", 16384},
        {"1Mi+1Gi+1Ti", 1048576 + 1073741824 + 1099511627776.0},
        {"1k+1M+1G+1T", 1001001001000},
        {"0.5k", 500},
        {"007", 7},
        {" \t\n1\r", 1},
        {"min(3)", 3},
        {"min(3, 1, 2)", 1},
        {"max(1, 5, 2, 4)", 5},
        {"max(1, min(7, 9)) * 2", 14},
        {"abs(-2.5)", 2.5},
        {"floor(-1.5)", -2},
        {"ceil(1.2)", 2},
        {"round(2.5)", 3},
        {"sqrt(16)", 4},
        {"exp(0)", 1},
        {"log(1)", 0},
        {"log2(8)", 3},
        {"log10(1000)", 3},
        {"sin(0) + cos(0)", 1},
        {"pow(2, 10)", 1024},
        {"ceil_div(7, 4)", 2},
        {"ceil_div(8, 4)", 2},
        {"ceil_div(9007199254740991, 2)", 4503599627370496},
        {"round_up(7, 4)", 8},
        {"round_up(8, 4)", 8},
        {"is_pow2(64)", 1},
        {"is_pow2(0) + is_pow2(3) + is_pow2(0.5) + is_pow2(-4)", 0},
        {"clamp(5, 1, 3)", 3},
        {"clamp(-5, 1, 3)", 1},
        {"clamp(2, 1, 3)", 2},
        {"harmonic(0, 1)", 0},
        {"harmonic(4, 0)", 4},
        {"harmonic(2, 1)", 1.5},
        {"harmonic(4, -2)", 30},
        {"n * block", 25600},
        {"device.arch == gfx942", 1},
        {"bytes(f16) + 1", 5},
        {"four(1, 2, 3, n)", 1330},
        {"sum(lens)", 60},
        {"max(lens)", 30},
        {"len(lens) + max( experts )", 11},
        {"max(sum(lens), n)", 100},
        {"i", 0},
        {"ceil_div(n, block*4)", 1},
        {"6 & 3", 2},
        {"6 | 3", 7},
        {"xor(6, 3)", 5},
        {"~5", -6},
        {"~-1 == 0", 1},
        {"-1 & 0xff", 255},
        {"-8 >> 1", -4},
        {"1 << 40", 1099511627776.0},
        {"1 << 2 + 1", 8},
        {"5 & 1 == 1", 1},
        {"1 | 2 & 2 << 1", 1},
        {"1 < 2 && 3 & 1", 1},
        {"0xFf + 0X10", 271},
        {"n & block - 1", 100},
    };
    struct fixture *f = *state;
    for (size_t k = 0; k < COUNT(cases); k++) {
        double value = -1e99;
        const struct expr *expr = compile(f, cases[k].source);
        if (expr_eval(&value, expr, slots, &f->err))
            fail_msg("%s: %s", cases[k].source, f->err.text);
        if (value != cases[k].value)
            fail_msg("%s is %.17g, not %.17g", cases[k].source, value, cases[k].value);
        assert_string_equal(expr_source(expr), cases[k].source);
    }
}

static void refuses_at_compile_time(void **state)
{
    static const struct {
        const char *source;
        const char *message;
    } cases[] = {
        {"", "the expression is empty at column 1"},
        {"  ", "the expression is empty at column 1"},
        {"1 +", "expected a value, found the end at column 4"},
        {"1 + * 2", "expected a value, found '*' at column 5"},
        {"1 2", "expected an operator, found '2' at column 3"},
        {"n block", "expected an operator, found 'block' at column 3"},
        {"1,2", "expected an operator, found ',' at column 2 (commas separate arguments only)"},
        {"(1,2)", "expected ')', found ',' at column 3 (commas separate arguments only)"},
        {"(1", "'(' at column 1 is not closed"},
        {"2 * (1 + (3)", "'(' at column 5 is not closed"},
        {"1)", "expected an operator, found ')' at column 2"},
        {"()", "expected a value, found ')' at column 2"},
        {"x", "unknown name 'x' at column 1; did you mean 'n'?"},
        {"y[1]", "unknown buffer 'y' at column 1; did you mean 'x'?"},
        {"x[", "expected a value, found the end at column 3"},
        {"x[1", "expected ']', found the end at column 4"},
        {"x[1)", "expected ']', found ')' at column 4"},
        {"x[1, 2]", "expected ']', found ',' at column 4 (commas separate arguments only)"},
        {"1 & ", "expected a value, found the end at column 5"},
        {"0x", "malformed number '0x' at column 1 (hexadecimal ones are whole and at most 2^53)"},
        {"1 + 0xfg", "malformed number '0xfg' at column 5 (hexadecimal ones are whole and at most 2^53)"},
        {"0xffffffffffffffff", "malformed number '0xffffffffffffffff' at column 1 (hexadecimal ones are whole and at "
                               "most 2^53)"},
        {"n = 3", "assignment is not possible at column 3 (to compare, write ==)"},
        {"i=3", "assignment is not possible at column 2 (to compare, write ==)"},
        {"n += 3", "assignment is not possible at column 4 (to compare, write ==)"},
        {"\"f16\" == 1", "strings are not possible at column 1"},
        {"n == 'a'", "strings are not possible at column 6"},
        {"1 # 2", "unexpected '#' at column 3"},
        {"1; 2", "unexpected ';' at column 2"},
        {"2 \xc3\x97 3", "unexpected '\xc3\x97' at column 3"},
        {"1 \x01", "unexpected byte 0x01 at column 3"},
        {".5", "unexpected '.' at column 1"},
        {"1 < 2 < 3", "comparisons cannot follow each other at column 7; join them with &&"},
        {"1 == 1 == 1", "comparisons cannot follow each other at column 8; join them with &&"},
        {"1 ? 2", "expected ':', found the end at column 6"},
        {"1 ? : 2", "expected a value, found ':' at column 5"},
        {"1 : 2", "expected an operator, found ':' at column 3"},
        {"1.", "malformed number '1.' at column 1"},
        {"1e", "malformed number '1e' at column 1"},
        {"4KiB", "malformed number '4KiB' at column 1"},
        {"4m", "malformed number '4m' at column 1"},
        {"1.2.3", "malformed number '1.2.3' at column 1"},
        {"1e999", "number '1e999' is too large at column 1"},
        {"1e308T", "number '1e308T' is too large at column 1"},
        {"1 + blok", "unknown name 'blok' at column 5; did you mean 'block'?"},
        {"experrts", "unknown name 'experrts' at column 1; did you mean 'experts'?"},
        {"gfx94", "unknown name 'gfx94' at column 1; did you mean 'gfx942'?"},
        {"qqqqqqqq", "unknown name 'qqqqqqqq' at column 1"},
        {"inf", "unknown name 'inf' at column 1"},
        {"2 * foor(1)", "unknown function 'foor' at column 5; did you mean 'floor'?"},
        {"flor(1)", "unknown function 'flor' at column 1; did you mean 'floor'?"},
        {"n(1)", "unknown function 'n' at column 1"},
        {"min", "unknown name 'min' at column 1"},
        {"min()", "min takes at least 1 argument, not 0, at column 1"},
        {"ceil_div(1)", "ceil_div takes 2 arguments, not 1, at column 1"},
        {"1 + abs(1, 2)", "abs takes 1 argument, not 2, at column 5"},
        {"abs()", "abs takes 1 argument, not 0, at column 1"},
        {"four(1, 2, 3, 4, 5)", "four takes 4 arguments, not 5, at column 1"},
        {"min(1, )", "expected a value, found ')' at column 8"},
        {"min(1 2)", "expected ',' or ')', found '2' at column 7"},
        {"min(1", "expected ',' or ')', found the end at column 6"},
        {"lens + 1", "'lens' at column 1 is a list; use sum, max or len of it"},
        {"min(lens)", "'lens' at column 5 is a list; use sum, max or len of it"},
        {"sum(n)", "sum takes the name of a list at column 5"},
        {"len()", "len takes the name of a list at column 5"},
        {"sum(lens + 1)", "expected ')', found '+' at column 10"},
        {"max(lens, 1)", "expected ')', found ',' at column 9 (commas separate arguments only)"},
    };
    struct fixture *f = *state;
    for (size_t k = 0; k < COUNT(cases); k++) {
        const struct expr *expr = NULL;
        if (!expr_compile(&expr, cases[k].source, &names, &f->arena, &f->err))
            fail_msg("'%s' compiles", cases[k].source);
        assert_null(expr);
        assert_int_equal(f->err.status, ERR_CONFIG);
        assert_string_equal(f->err.text, cases[k].message);
    }
}

static void knows_i_only_where_it_is_offered(void **state)
{
    struct fixture *f = *state;
    const struct expr *expr = NULL;
    struct expr_names none = {0};
    assert_int_equal(expr_compile(&expr, "1 + i", &none, &f->arena, &f->err), ERR_CONFIG);
    assert_string_equal(f->err.text, "unknown name 'i' at column 5");
}

static void refuses_at_evaluation(void **state)
{
    static const struct {
        const char *source;
        const char *message;
    } cases[] = {
        {"1/0", "division by zero at column 2"},
        {"1 + n / zero", "division by zero at column 7"},
        {"min(1, 2 / 0)", "division by zero at column 10"},
        {"0 / 0", "division by zero at column 3"},
        {"1 / (1 / zero)", "division by zero at column 8"},
        {"1 ? 1 / 0 : 2", "division by zero at column 7"},
        {"1 && 1 / 0", "division by zero at column 8"},
        {"5 % 0", "remainder by zero at column 3"},
        {"n % zero", "remainder by zero at column 3"},
        {"0 ^ -1", "the result is too large at column 3"},
        {"(-8) ^ 0.5", "the result is not defined at column 6"},
        {"1e308 * 10", "the result is too large at column 7"},
        {"1 / exp(1000)", "the result is too large at column 5"},
        {"sqrt(-1)", "sqrt(...) is not defined here at column 1"},
        {"2 + log(-1)", "log(...) is not defined here at column 5"},
        {"log(0)", "the result is too large at column 1"},
        {"ceil_div(1, 0)", "ceil_div(...) is not defined here at column 1"},
        {"round_up(1, zero)", "round_up(...) is not defined here at column 1"},
        {"clamp(1, 3, 2)", "clamp(...) is not defined here at column 1"},
        {"harmonic(0.5, 1)", "harmonic(...) is not defined here at column 1"},
        {"harmonic(-1, 1)", "harmonic(...) is not defined here at column 1"},
        {"harmonic(65537, 1)", "harmonic(...) is not defined here at column 1"},
        {"four(0, 1, 1, 1)", "four(...) is not defined here at column 1"},
        {"0.5 & 1", "only whole numbers up to 2^53 have bits at column 5"},
        {"~(2 ^ 54)", "only whole numbers up to 2^53 have bits at column 1"},
        {"xor(1, 2 ^ 60)", "only whole numbers up to 2^53 have bits at column 1"},
        {"1 << 64", "only whole numbers up to 2^53 have bits, which can be shifted by 0 to 63, at column 3"},
        {"1 >> -1", "only whole numbers up to 2^53 have bits, which can be shifted by 0 to 63, at column 3"},
        {"x[0]", "'x' has 0 elements and no number 0 at column 1"},
    };
    struct fixture *f = *state;
    for (size_t k = 0; k < COUNT(cases); k++) {
        double value = 42;
        if (!expr_eval(&value, compile(f, cases[k].source), slots, &f->err))
            fail_msg("'%s' is %g", cases[k].source, value);
        assert_true(value == 42);
        assert_string_equal(f->err.text, cases[k].message);
    }
}

static void expect_hostile(struct fixture *f, const char *piece, size_t times, const char *end, const char *message)
{
    const struct expr *expr = NULL;
    struct text text = {0};
    for (size_t k = 0; k < times; k++)
        text_add(&text, piece);
    text_add(&text, end);
    const enum status status = expr_compile(&expr, text.data, &names, &f->arena, &f->err);
    assert_int_equal(status, message ? ERR_CONFIG : STATUS_OK);
    if (message)
        assert_non_null(strstr(f->err.text, message));
    text_release(&text);
}

static void bounds_depth_and_length(void **state)
{
    struct fixture *f = *state;
    expect_hostile(f, "(", 100000, "", "longer than 65536 characters");
    expect_hostile(f, "(", 60000, "", "nested deeper than 200 levels at column 201");
    expect_hostile(f, "-", 60000, "1", "nested deeper than 200 levels");
    expect_hostile(f, "!", 60000, "1", "nested deeper than 200 levels");
    expect_hostile(f, "2^", 30000, "1", "nested deeper than 200 levels");
    expect_hostile(f, "1?", 30000, "1", "nested deeper than 200 levels");
    expect_hostile(f, "1?1:", 10000, "1", "nested deeper than 200 levels");
    expect_hostile(f, "abs(", 10000, "1", "nested deeper than 200 levels");
    expect_hostile(f, "1<2+3*(", 150, "", "expected a value, found the end");
    expect_hostile(f, "1+", 30000, "1", NULL);
    expect_hostile(f, "1&&", 20000, "1", NULL);
    expect_hostile(f, "-", 150, "1", NULL);
}

static void bounds_intermediate_values(void **state)
{
    struct fixture *f = *state;
    struct text text = {0};
    for (int k = 0; k < 150; k++)
        text_add(&text, "1<2+3*(");
    text_add(&text, "1");
    text_pad(&text, 150, ')');
    const struct expr *expr = NULL;
    assert_int_equal(expr_compile(&expr, text.data, &names, &f->arena, &f->err), ERR_CONFIG);
    assert_string_equal(f->err.text, "more than 256 intermediate values at column 1");
    text_release(&text);
}

static void tells_what_it_uses(void **state)
{
    struct fixture *f = *state;
    const struct expr *expr = compile(f, "n + max(experts) + i");
    assert_true(expr_uses_slot(expr, 0));
    assert_false(expr_uses_slot(expr, 1));
    assert_false(expr_uses_slot(expr, 4) || expr_uses_slot(expr, 6));
    assert_true(expr_uses_slot(expr, 7) && expr_uses_slot(expr, 8) && expr_uses_slot(expr, 9));
}

/* The compiled form needs nothing of the caller's tables any more. */
static void outlives_the_names(void **state)
{
    struct fixture *f = *state;
    struct expr_function *function = malloc(sizeof(*function));
    char *name = strdup("twice"), *source = strdup("twice(i + 4)");
    *function = (struct expr_function){name, 1, double_it};
    struct expr_names own = {.functions = function, .function_count = 1, .has_index = true};
    const struct expr *expr;
    assert_int_equal(expr_compile(&expr, source, &own, &f->arena, &f->err), STATUS_OK);
    free(function);
    free(name);
    free(source);
    double value;
    assert_int_equal(expr_eval(&value, expr, NULL, &f->err), STATUS_OK);
    assert_true(value == 8);
    assert_string_equal(expr_source(expr), "twice(i + 4)");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(evaluates),
        TEST(refuses_at_compile_time),
        TEST(knows_i_only_where_it_is_offered),
        TEST(refuses_at_evaluation),
        TEST(bounds_depth_and_length),
        TEST(bounds_intermediate_values),
        TEST(tells_what_it_uses),
        TEST(outlives_the_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
