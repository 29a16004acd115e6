/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "rooftile/hash.h"
#include "rooftile/suite.h"

struct folder {
    char path[64];
    struct arena arena;
    struct err err;
};

static const char *file_in(struct folder *folder, const char *name)
{
    return arena_printf(&folder->arena, "%s/%s", folder->path, name);
}

static void write_shapes(struct folder *folder, const char *text)
{
    FILE *file = fopen(file_in(folder, "shapes.json"), "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static int open_folder(void **state)
{
    static struct folder folder;
    folder = (struct folder){.path = "/tmp/rooftile-shapes-XXXXXX"};
    *state = &folder;
    return mkdtemp(folder.path) ? 0 : -1;
}

static int remove_folder(void **state)
{
    struct folder *folder = *state;
    unlink(file_in(folder, "shapes.json"));
    rmdir(folder->path);
    arena_release(&folder->arena);
    return 0;
}

static enum status parse(const struct suite **suite, struct folder *folder, const char *members)
{
    struct measure_options base;
    measure_defaults(&base);
    const char *text = arena_printf(&folder->arena,
                                    "{\"name\": \"s\", \"defaults\": {\"params\": {\"block\": 1}, \"tags\": [\"t\"]},"
                                    " \"cases\": [{\"kernel\": \"k\", %s}]}",
                                    members);
    return suite_parse(suite, file_in(folder, "s.json"), text, strlen(text), &base, &folder->arena, &folder->err);
}

static const char three[] = "{\"name\": \"x\", \"summary\": \"s\", \"shapes\": ["
                            "{\"name\": \"a.one\", \"params\": {\"n\": 1, \"k\": \"2Ki\"}},"
                            "{\"name\": \"b.two\", \"summary\": \"s\", \"params\": {\"n\": 3}},"
                            "{\"name\": \"a.three\", \"params\": {\"block\": 4, \"n\": 5}}]}";

static void test_chosen(void **state)
{
    static const struct {
        const char *members;
        size_t count;
        const char *names[3];
    } rows[] = {
        {"\"shapes\": {\"file\": \"shapes.json\"}", 3, {"a.one", "b.two", "a.three"}},
        {"\"shapes\": {\"file\": \"shapes.json\", \"names\": [\"a.*\"]}", 2, {"a.one", "a.three"}},
        {"\"shapes\": {\"file\": \"shapes.json\", \"names\": [\"a.three\", \"a.*\", \"b.two\"]}",
         3,
         {"a.one", "b.two", "a.three"}},
        {"\"sweep\": {\"m\": [1, 2]}, \"shapes\": {\"file\": \"shapes.json\", \"names\": [\"b.two\"]}, \"tags\": "
         "[\"u\"]",
         1,
         {"b.two"}},
    };
    struct folder *folder = *state;
    write_shapes(folder, three);
    for (size_t r = 0; r < sizeof(rows) / sizeof(*rows); r++) {
        const struct suite *suite = NULL;
        if (parse(&suite, folder, rows[r].members))
            fail_msg("%s: %s", rows[r].members, folder->err.text);
        assert_int_equal(suite->case_count, rows[r].count);
        for (size_t k = 0; k < rows[r].count; k++) {
            const struct suite_case *c = &suite->cases[k];
            assert_string_equal(c->shape, rows[r].names[k]);
            assert_string_equal(c->tags[c->tag_count - 1], rows[r].names[k]);
            assert_string_equal(c->tags[0], "t");
            assert_string_equal(c->params[0].name, "block"); /* the default stays first, so that a shape's value wins */
        }
    }
}

static void test_parameters(void **state)
{
    struct folder *folder = *state;
    const struct suite *suite = NULL;
    write_shapes(folder, three);
    assert_int_equal(parse(&suite, folder, "\"params\": {\"m\": 7}, \"shapes\": {\"file\": \"shapes.json\"}"),
                     STATUS_OK);
    const struct suite_case *first = &suite->cases[0];
    assert_int_equal(first->param_count, 4);
    assert_int_equal(first->default_count, 1);
    assert_string_equal(first->params[1].name, "m");
    assert_string_equal(first->params[3].name, "k");
    assert_true(first->params[3].value.number == 2048);
    assert_int_equal(suite->cases[1].param_count, 3);
}

static void test_content_is_hashed(void **state)
{
    struct folder *folder = *state;
    const struct suite *before = NULL, *after = NULL, *again = NULL;
    const char *members = "\"shapes\": {\"file\": \"shapes.json\", \"names\": [\"a\"]}";
    write_shapes(folder, "{\"shapes\": [{\"name\": \"a\", \"params\": {\"n\": 1}}]}");
    assert_int_equal(parse(&before, folder, members), STATUS_OK);
    assert_int_equal(parse(&again, folder, members), STATUS_OK);
    write_shapes(folder, "{\"shapes\": [{\"name\": \"a\", \"params\": {\"n\": 2}}]}");
    assert_int_equal(parse(&after, folder, members), STATUS_OK);
    assert_string_equal(before->sha256, again->sha256);
    assert_string_not_equal(before->sha256, after->sha256);
}

static void test_refuse(void **state)
{
    static const char good[] = "\"shapes\": {\"file\": \"shapes.json\"}";
    static const struct {
        const char *shapes, *members, *complaint;
    } rows[] = {
        {three, "\"shapes\": {}", "'file' is missing"},
        {three, "\"shapes\": {\"file\": \"none.json\"}", "none.json"},
        {three, "\"shapes\": {\"file\": \"shapes.json\", \"name\": \"a\"}", "did you mean 'names'"},
        {three, "\"shapes\": {\"file\": \"shapes.json\", \"names\": [\"a.*\", \"c.*\"]}",
         "/cases/0/shapes/names/1: the file has no shape 'c.*'"},
        {three, "\"params\": {\"n\": 1}, \"shapes\": {\"file\": \"shapes.json\"}",
         "the shape 'a.one' has 'n', which this case sets too"},
        {three, "\"sweep\": {\"k\": [1]}, \"shapes\": {\"file\": \"shapes.json\"}", "the shape 'a.one' has 'k'"},
        {"{\"shapes\": []}", good, "has no shapes"},
        {"{\"shapes\": [{\"name\": \"a\"}]}", good, "'params' is missing"},
        {"{\"shapes\": [{\"name\": \"a\", \"params\": {}}, {\"name\": \"a\", \"params\": {}}]}", good,
         "a second shape of the name 'a'"},
        {"{\"shapes\": [{\"name\": \"a b\", \"params\": {}}]}", good, "/shapes/0/name: a shape's name has no spaces"},
        {"{\"shapes\": [{\"name\": \"a\", \"params\": {\"n\": {}}}]}", good, "shapes.json:1:"},
    };
    struct folder *folder = *state;
    for (size_t r = 0; r < sizeof(rows) / sizeof(*rows); r++) {
        const struct suite *suite = NULL;
        write_shapes(folder, rows[r].shapes);
        assert_int_not_equal(parse(&suite, folder, rows[r].members), STATUS_OK);
        if (!strstr(folder->err.text, rows[r].complaint))
            fail_msg("row %zu: '%s' lacks '%s'", r, folder->err.text, rows[r].complaint);
        assert_null(suite);
    }
}

/* Cases that name the same file share one reading of it: its content is in the suite's hash once. */
static void test_read_once(void **state)
{
    struct folder *folder = *state;
    const struct suite *two = NULL;
    char sha256[65];
    const char both[] = "\"shapes\": {\"file\": \"shapes.json\", \"names\": [\"a.*\"]}}, "
                        "{\"kernel\": \"k\", \"shapes\": {\"file\": \"shapes.json\"}";
    write_shapes(folder, three);
    assert_int_equal(parse(&two, folder, both), STATUS_OK);
    assert_int_equal(two->case_count, 5); /* choosing for the first case left the file's shapes as they are */
    assert_string_equal(two->cases[3].shape, "b.two");
    const char *text = arena_printf(&folder->arena,
                                    "{\"name\": \"s\", \"defaults\": {\"params\": {\"block\": 1}, "
                                    "\"tags\": [\"t\"]}, \"cases\": [{\"kernel\": \"k\", %s}]}",
                                    both);
    hash_sha256(sha256, text, strlen(text));
    text = arena_printf(&folder->arena, "%s%s", sha256, three);
    hash_sha256(sha256, text, strlen(text));
    assert_string_equal(two->sha256, sha256);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_chosen, open_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_parameters, open_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_content_is_hashed, open_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_read_once, open_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_refuse, open_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
