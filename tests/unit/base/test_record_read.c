/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "rooftile/record.h"

enum color { RED, GREEN };
struct leaf {
    const char *name;
    uint64_t size;
};
struct tree {
    const char *name;
    double height;
    bool old;
    double age_ns;
    enum color color;
    const char *const *tags;
    size_t tag_count;
    const struct leaf *leaves, *branches;
    size_t leaf_count, branch_count;
};

static enum status into_leaf(void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    const struct tree *tree = in->object;
    struct leaf *leaf = field;
    assert_true(in->row->key && tree->name); /* the rows before this one are read */
    leaf->name = at->string;
    return json_whole(&leaf->size, at, 1ull << 53, err);
}

static const char *const colors[] = {"red", "green"};
static const struct record leaf = {.size = sizeof(struct leaf), .get = into_leaf, .named = "leaf"};
static const struct record branch = {.size = sizeof(struct leaf), .get = into_leaf};
#define RECORD_STRUCT struct tree
static const struct record_field tree_rows[] = {
    FIELD_STRING("name", name, RECORD_REQUIRED | RECORD_FILLED),
    FIELD_F64("height", height),
    FIELD_BOOL("old", old),
    FIELD_TIME("age", age_ns),
    FIELD_ENUM("color", color, colors),
    FIELD_LIST("tags", tags, tag_count, record_word, RECORD_ONCE),
    FIELD_MAP("leaves", leaves, leaf_count, leaf),
    FIELD_LIST("branches", branches, branch_count, branch, RECORD_FILLED),
    FIELD_COMMENT("other"),
};
static const struct record tree_record = {RECORD_TABLE(tree_rows)};
#undef RECORD_STRUCT

static enum status parse(struct tree *tree, const char *text, struct arena *arena, struct err *err)
{
    const cJSON *root = NULL;
    assert_int_equal(json_parse(&root, "t.json", text, strlen(text), arena, err), STATUS_OK);
    return record_parse(tree, &tree_record, root, &(struct record_in){.arena = arena}, err);
}

static void reads_every_kind(void **state)
{
    struct arena arena = {0};
    struct err err = {0};
    struct tree tree = {.height = 7, .color = GREEN};
    (void)state;
    const char *text =
        "{\"//\": 1, \"name\": \"oak\", \"old\": true, \"age\": \"2 us\", \"color\": \"red\", \"other\": [],"
        " \"tags\": [\"a\", \"b\"], \"leaves\": {\"//\": \"why\", \"x\": 1, \"y\": 2}, \"branches\": [3]}";
    if (parse(&tree, text, &arena, &err))
        fail_msg("%s", err.text);
    assert_string_equal(tree.name, "oak");
    assert_true(tree.height == 7 && tree.old && tree.age_ns == 2000 && tree.color == RED); /* the height is as it was */
    assert_int_equal(tree.tag_count, 2);
    assert_int_equal(tree.leaf_count, 2);
    assert_string_equal(tree.leaves[1].name, "y");
    assert_true(tree.leaves[1].size == 2 && tree.branch_count == 1 && tree.branches[0].size == 3);
    arena_release(&arena);
}

static void says_what_is_wrong(void **state)
{
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"[]", "t.json:1:1: must be an object, not an array"},
        {"{}", "t.json:1:1: the key 'name' is missing"},
        {"{\"nam\": 1}", "t.json:1:2: /nam: unknown key; did you mean 'name'?"},
        {"{\"name\": \"\"}", "/name: is empty"},
        {"{\"name\": 1}", "/name: must be a string, not a number"},
        {"{\"name\": null}", "/name: must be a string, not null"},
        {"{\"name\": \"a\", \"branches\": []}", "/branches: the list is empty"},
        {"{\"name\": \"a\", \"old\": 1}", "/old: must be a boolean, not a number"},
        {"{\"name\": \"a\", \"age\": \"2 m/s\"}", "/age: must be a duration such as \"0.5 s\""},
        {"{\"name\": \"a\", \"color\": \"gren\"}", "/color: unknown color 'gren'; did you mean 'green'?"},
        {"{\"name\": \"a\", \"color\": \"xyzzy\"}", "/color: unknown color 'xyzzy'; known are red, green"},
        {"{\"name\": \"a\", \"tags\": [\"b\", \"b\"]}", "/tags/1: 'b' stands here twice"},
        {"{\"name\": \"a\", \"leaves\": {\"2x\": 1}}", "/leaves/2x: the name of a leaf has letters"},
        {"{\"name\": \"a\", \"leaves\": {\"x\": -1}}", "/leaves/x: must be a whole number"},
        {"{\"name\": \"a\", \"branches\": {}}", "/branches: must be an array, not an object"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
        struct arena arena = {0};
        struct err err = {0};
        struct tree tree = {0};
        assert_int_equal(parse(&tree, rows[k].text, &arena, &err), ERR_CONFIG);
        if (!strstr(err.text, rows[k].says))
            fail_msg("row %zu: %s", k, err.text);
        arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_kind),
        cmocka_unit_test(says_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
