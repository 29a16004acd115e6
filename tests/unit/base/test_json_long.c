/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../near.h"
#include "rooftile/json.h"
#include "rooftile/text.h"

static const char sample[] = "{ \"version\": 1, \"times\": [7],\n"
                             "  \"list\": [\n"
                             "    {\"id\": \"a\", \"times\": [1, 2.5,3e2 , -4], \"x\": [1, {\"y\": []}]},\n"
                             "    {\"id\": \"b\", \"times\": [], \"clocks\": [1, null]},\n"
                             "    5\n"
                             "  ], \"end\": {\"list\": [1]} }";

static struct json_long *open_text(const cJSON **root, const char *text)
{
    struct json_long *document = NULL;
    struct err err = {0};
    if (json_long_parse(&document, root, "d", text, strlen(text), "list", &err))
        fail_msg("%s", err.text);
    return document;
}

static void reads_one_element_after_the_other(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct err err = {0};
    const cJSON *root, *item;
    struct json_long *document = open_text(&root, sample);
    assert_int_equal(json_count(root), 4);
    assert_int_equal(json_count(json_member(root, "list")), 3);
    assert_null(json_member(root, "list")->child);
    assert_int_equal(json_member(json_member(root, "end"), "list")->child->valuedouble,
                     1); /* only the one at the top */
    assert_int_equal(json_long_next(&item, document, &arena, &err), STATUS_OK);
    assert_string_equal(json_member(item, "id")->valuestring, "a");
    const cJSON *times = json_member(item, "times");
    double sum = 0;
    for (const cJSON *time = times->child; time; time = time->next)
        sum += time->valuedouble;
    assert_int_equal(json_count(times), 4);
    assert_near(sum, 299.5, 0);
    json_fail(json_member(json_at(json_member(item, "x"), 1), "y"), &err, "here");
    assert_string_equal(err.text, "d:3:60: /list/0/x/1/y: here");
    json_fail(json_at(times, 2), &err, "here");
    assert_string_equal(err.text, "d:3:34: /list/0/times/2: here");
    arena_release(&arena);
    assert_int_equal(json_long_next(&item, document, &arena, &err), STATUS_OK);
    assert_int_equal(json_count(json_member(item, "times")), 0);
    assert_int_equal(json_long_next(&item, document, &arena, &err), STATUS_OK);
    assert_near(item->valuedouble, 5, 0);
    assert_int_equal(json_index(item), 2);
    assert_int_equal(json_long_next(&item, document, &arena, &err), STATUS_OK);
    assert_null(item);
    json_long_free(document);
    arena_release(&arena);
}

/* Without such a list there is nothing to stream, and the tree says what is there instead. */
static void other_shapes(void **state)
{
    (void)state;
    static const char *const texts[] = {"{\"list\": {}}",           "{\"lists\": [1]}", "[]", "3",
                                        "{\"a\": {\"list\": [1]}}", "{\"list\": []}"};
    for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++) {
        struct arena arena = {0};
        struct err err = {0};
        const cJSON *root, *item;
        struct json_long *document = open_text(&root, texts[k]);
        assert_int_equal(json_long_next(&item, document, &arena, &err), STATUS_OK);
        assert_null(item);
        json_long_free(document);
    }
}

static const struct {
    const char *text, *message;
} refused[] = {
    {"", "d:1:1: the document is empty"},
    {"{\"list\": [{\"times\": [1, 2", "/list/0/times"},
    {"{\"list\": [{\"times\": [1, 02]}]}", "/list/0/times/1: a number must not start with a superfluous 0"},
    {"{\"list\": [{\"times\": [1,]}]}", "a comma before ']'"},
    {"{\"list\": [{\"times\": [,1]}]}", "/list/0/times/0: expected a value"},
    {"{\"list\": [{\"times\": [1 2]}]}", "expected ',' or ']'"},
    {"{\"list\": [{\"times\": [NaN]}]}", "/list/0/times/0: expected a value, found 'NaN'"},
    {"{\"list\": [1], \"list\": [2]}", "/list: duplicate key 'list'"},
    {"{\"list\": [1] \"a\": 2}", "expected ',' or '}'"},
};

static void refuses(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof(refused) / sizeof(refused[0]); k++) {
        struct json_long *document = NULL;
        const cJSON *root = NULL;
        struct err err = {0};
        const char *text = refused[k].text;
        assert_int_equal(json_long_parse(&document, &root, "d", text, strlen(text), "list", &err), ERR_CONFIG);
        assert_true(!document && !root);
        if (!strstr(err.text, refused[k].message) || strncmp(err.text, "d:", 2) != 0)
            fail_msg("'%s' does not say '%s'", err.text, refused[k].message);
    }
}

/* What the scan lets through and only the values show. */
static void refuses_elements(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct err err = {0};
    const cJSON *root, *item;
    struct json_long *document = open_text(&root, "{\"list\": [{\"times\": [1e400]}]}");
    assert_int_equal(json_long_next(&item, document, &arena, &err), ERR_CONFIG);
    assert_string_equal(err.text, "d:1:22: /list/0/times/0: number is beyond the range of a double");
    json_long_free(document);
    document = open_text(&root, "{\"list\": [1, {\"a\": 1, \"a\": 2}]}");
    assert_int_equal(json_long_next(&item, document, &arena, &err), STATUS_OK);
    assert_int_equal(json_long_next(&item, document, &arena, &err), ERR_CONFIG);
    assert_non_null(strstr(err.text, "/list/1/a: duplicate key 'a'"));
    json_long_free(document);
    arena_release(&arena);
}

/* What is taken where it stands keeps nothing of an escaped string before it, in a list that is checked, then read. */
static void strings_with_and_without_escapes(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct err err = {0};
    const cJSON *root, *item;
    struct json_long *document =
        open_text(&root, "{\"list\": [{\"\\u0041b\": \"x\\ty\", \"c\": \"pl\xc3\xa4in\", \"d\": \"\", \"e\": \"f\"}]}");
    assert_int_equal(json_long_next(&item, document, &arena, &err), STATUS_OK);
    assert_string_equal(json_member(item, "Ab")->valuestring, "x\ty");
    assert_string_equal(json_member(item, "c")->valuestring, "pl\xc3\xa4in");
    assert_string_equal(json_member(item, "d")->valuestring, "");
    assert_string_equal(json_member(item, "e")->valuestring, "f");
    json_long_free(document);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_one_element_after_the_other),
        cmocka_unit_test(other_shapes),
        cmocka_unit_test(strings_with_and_without_escapes),
        cmocka_unit_test(refuses),
        cmocka_unit_test(refuses_elements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
