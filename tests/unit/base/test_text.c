/* SPDX-License-Identifier: MIT */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "comma_locale.h"
#include "rooftile/arena.h"
#include "rooftile/table.h"

static void grows(void **state)
{
    (void)state;
    struct text text = {0};
    text_add(&text, "");
    assert_string_equal(text.data, "");
    text_add(&text, "roof");
    text_addn(&text, "tile-and-more", 4);
    text_addf(&text, " %d%%", 42);
    text_pad(&text, 3, '.');
    assert_string_equal(text.data, "rooftile 42%...");
    assert_int_equal(text.length, 15);
    const char *memory = text.data;
    text_clear(&text);
    assert_int_equal(text.length, 0);
    assert_string_equal(text.data, "");
    assert_ptr_equal(text.data, memory);
    for (int i = 0; i < 1000; i++)
        text_addf(&text, "%03d", i);
    assert_int_equal(text.length, 3000);
    assert_memory_equal(text.data + 3 * 567, "567", 3);
    text_addn(&text, "a\0b", 3);
    assert_memory_equal(text.data + 3000, "a\0b", 4);
    text_clear(&text);
    for (int width = 62; width <= 66; width++) /* a piece of the usual length, and a longer one */
        text_addf(&text, "%*d", width, width);
    assert_int_equal(text.length, 62 + 63 + 64 + 65 + 66);
    assert_string_equal(text.data + text.length - 2, "66");
    assert_memory_equal(text.data + 60, "62", 2);
    assert_memory_equal(text.data + 62 + 63 + 64 - 2, "64", 2);
    text_release(&text);
    assert_null(text.data);
    text_clear(&text);
    text_release(&text);
}

static void starts_and_ends(void **state)
{
    (void)state;
    static const struct {
        const char *string, *part;
        bool starts, ends;
    } cases[] = {
        {"rooftile", "roof", true, false}, {"rooftile", "tile", false, true}, {"roof", "rooftile", false, false},
        {"roof", "roof", true, true},      {"roof", "", true, true},          {"", "", true, true},
        {"", "x", false, false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_int_equal(text_starts(cases[i].string, cases[i].part), cases[i].starts);
        assert_int_equal(text_ends(cases[i].string, cases[i].part), cases[i].ends);
    }
}

static void words(void **state)
{
    (void)state;
    static const struct {
        const char *list, *separators, *word;
        bool found;
    } cases[] = {
        {"", " ", "a", false},        {"a b", " ", "b", true},      {"  ab  c ", " ", "c", true},
        {"ab cd", " ", "a", false},   {"ab:cd", ":", "cd", true},   {"ab:cd", " ", "cd", false},
        {"a\tb,c", ",\t", "b", true}, {"ab cd", " ", "abc", false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_int_equal(text_has_word(cases[i].list, cases[i].separators, cases[i].word, strlen(cases[i].word)),
                         cases[i].found);
    assert_true(text_has_word("ab cd", " ", "cdx", 2));
    static const char *const tags[] = {"memory", "peak"};
    assert_true(text_among("peak", tags, 2));
    assert_false(text_among("peak", tags, 1) || text_among("pea", tags, 2) || text_among("", NULL, 0));
}

static void columns(void **state)
{
    (void)state;
    static const struct {
        const char *utf8;
        size_t columns;
    } cases[] = {
        {"", 0},
        {"abc", 3},
        {"\xC2\xB5s", 2},         /* micro sign */
        {"\xE2\x82\xAC", 1},      /* euro sign */
        {"\xF0\x9F\x98\x80!", 2}, /* outside the basic plane */
        {"e\xCC\x81", 1},         /* e and combining acute */
        {"\xFFz", 2},             /* never valid */
        {"\xE2\x82", 2},          /* cut short: each byte for itself */
        {"\xC3", 1},
        {"\xF0\x9Fz", 3},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_int_equal(text_columns(cases[i].utf8), cases[i].columns);
}

static void matches(void **state)
{
    (void)state;
    static const struct {
        const char *string, *glob;
        bool matches;
    } cases[] = {
        {"stream_triad", "stream*", true},
        {"stream_triad", "*triad", true},
        {"stream_triad", "triad", false},
        {"gfx90a", "gfx90?", true},
        {"gfx942", "gfx90?", false},
        {"gfx942", "gfx9[04]*", true},
        {"a/b", "*", true},
        {"", "*", true},
        {"", "?", false},
        {".hidden", "*", true},
        {"B", "[a-z]", false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        if (text_matches(cases[i].string, cases[i].glob) != cases[i].matches)
            fail_msg("%s against %s", cases[i].string, cases[i].glob);
}

static void nearest(void **state)
{
    (void)state;
    static const char *const names[] = {"devices", "run", NULL, "plan", "report", "roofline", "ruin"};
    static const struct {
        const char *word, *nearest;
    } cases[] = {
        {"run", "run"},
        {"rnu", "run"},
        {"rum", "run"},
        {"plna", "plan"},
        {"devicse", "devices"},
        {"devs", NULL},
        {"dev", "devices"},
        {"ro", "roofline"},
        {"r", NULL},
        {"repotr", "report"},
        {"reprot", "report"},
        {"rofline", "roofline"},
        {"rooflinexyz", "roofline"},
        {"rooflinexyzw", "roofline"},
        {"rooflinexyzwv", "roofline"}, /* it begins the word */
        {"rooflinexyzwvutsrq", NULL},
        {"ofli", "roofline"}, /* it has the word in it */
        {"ofl", NULL},
        {"ROOFLINE", "roofline"},
        {"r_u_n", "run"},
        {"r-u-n", "run"},
        {"zzz", NULL},
        {"rui", "ruin"}, /* what it begins comes before what is as near */
        {"ru", "run"},   /* the shortest */
        {"", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const char *found = text_nearest(cases[i].word, names, COUNT_OF(names));
        if (!cases[i].nearest)
            assert_null(found);
        else
            assert_string_equal(found ? found : "(none)", cases[i].nearest);
    }
    char longest[500];
    memset(longest, 'x', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    const char *const long_names[] = {longest};
    assert_null(text_nearest(longest, names, COUNT_OF(names)));
    assert_null(text_nearest("xxx", long_names, 1));
    assert_null(text_nearest("run", NULL, 0));
}

static void nearest_tie_by_order(void **state)
{
    (void)state;
    static const char *const names[] = {"cart", "card"};
    assert_ptr_equal(text_nearest("carx", names, 2), names[0]);
}

static void words_end_where_names_do(void **state)
{
    (void)state;
    assert_true(text_word("ab_9 c") == 4 && text_word("a.b") == 1 && text_word("") == 0 && text_word("-a") == 0);
}

static void tones_are_colours_only_where_asked(void **state)
{
    SCOPED(text_release) struct text text = {0};
    (void)state;
    text_add_toned(&text, true, TONE_BAD, "a");
    text_add_toned(&text, true, TONE_PLAIN, "b");
    text_add_toned(&text, true, TONE_GOOD, "");
    text_add_toned(&text, false, TONE_BOLD, "c%");
    assert_string_equal(text.data, "\033[31ma\033[0mbc%");
}

static void appends_within_its_room(void **state)
{
    (void)state;
    char to[10] = "";
    text_append(to, sizeof(to), "; ", "%s", "abc");
    assert_string_equal(to, "abc"); /* nothing stands before the first */
    text_append(to, sizeof(to), "; ", "%d", 123456);
    assert_string_equal(to, "abc; 1234");
    text_append(to, sizeof(to), "; ", "more");
    assert_string_equal(to, "abc; 1234");
}

/* Skipped where no locale with a decimal comma is installed. */
static void ignores_locale(void **state)
{
    (void)state;
    if (!comma_locale_set())
        skip();
    struct text text = {0};
    text_addf(&text, "%.1f", 0.5);
    setlocale(LC_ALL, "C");
    assert_string_equal(text.data, "0.5");
    text_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows),
        cmocka_unit_test(starts_and_ends),
        cmocka_unit_test(words),
        cmocka_unit_test(columns),
        cmocka_unit_test(matches),
        cmocka_unit_test(nearest),
        cmocka_unit_test(nearest_tie_by_order),
        cmocka_unit_test(words_end_where_names_do),
        cmocka_unit_test(tones_are_colours_only_where_asked),
        cmocka_unit_test(appends_within_its_room),
        cmocka_unit_test(ignores_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
