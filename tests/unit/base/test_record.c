/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../near.h"
#include "rooftile/record.h"
#include "rooftile/text.h"

enum colour { COLOUR_NONE, COLOUR_RED, COLOUR_BLUE };
static const char *const colours[] = {"none", "red", "blue"};
static const char *const marks[] = {"old", "rare"};
static const char *const sides[] = {"left", "right"};

struct leaf {
    const char *name;
    double weight_g;
};
struct tree {
    char name[8];
    double height_m, age_s, share, gain;
    uint32_t rings, marks, grid[2];
    uint64_t cells;
    bool tall, right;
    enum colour colour;
    struct leaf first;
    const struct leaf *leaves;
    size_t leaf_count;
    struct leaf twigs[2];
    uint32_t twig_count;
    const char *const *tags;
    size_t tag_count;
    int odd;
};

#define RECORD_STRUCT struct leaf
static const struct record_field leaf_fields[] = {
    FIELD_STRING("name", name, RECORD_REQUIRED),
    FIELD_F64("weight_g", weight_g, RECORD_NAN | RECORD_ZERO),
};
static const struct record leaf_record = {RECORD_TABLE(leaf_fields)};
static const struct record_field weight_fields[] = {FIELD_F64(NULL, weight_g, RECORD_SPARSE)};
static const struct record weight_record = {RECORD_TABLE(weight_fields)};
#undef RECORD_STRUCT

static void put_odd(struct json_out *out, const char *key, const void *at)
{
    json_out_number(out, key, 2 * *(const int *)at + 1);
}

static enum status get_odd(void *at, const cJSON *json, struct record_in *in, struct err *err)
{
    (void)in;
    if (!cJSON_IsNumber(json) || fmod(json->valuedouble, 2) != 1)
        return json_fail(json, err, "must be odd");
    *(int *)at = (int)json->valuedouble / 2;
    return STATUS_OK;
}

#define RECORD_STRUCT struct tree
static bool is_tall(const void *base)
{
    return ((const struct tree *)base)->tall;
}

static enum status check_height(void *base, const cJSON *json, struct err *err)
{
    return ((const struct tree *)base)->height_m < 200 ? STATUS_OK : json_fail(json, err, "no tree is so high");
}

static const struct record_field size_fields[] = {
    FIELD_F64("height_m", height_m, RECORD_POSITIVE | RECORD_SOURCED),
    FIELD_BOOL("tall", tall),
};
static const struct record size_record = {RECORD_TABLE(size_fields), .known = is_tall, .check = check_height};

static const struct record_field tree_fields[] = {
    FIELD_CHARS("name", name),
    FIELD_GROUP("size", size_record, RECORD_NULLABLE),
    FIELD_REASON("age_s", age_s, RECORD_NAN, "nobody asked"),
    FIELD_F64("share", share, RECORD_SHARE | RECORD_ZERO),
    FIELD_F64("gain", gain, RECORD_SIGNED | RECORD_SPARSE | RECORD_ROUNDED),
    FIELD_U32("rings", rings),
    FIELD_U64("cells", cells, RECORD_SPARSE | RECORD_POSITIVE),
    FIELD_NAMED(RECORD_BITS, "marks", marks, marks, COUNT_OF(marks)),
    FIELD_NAMED(RECORD_ENUM, "colour", colour, colours, COUNT_OF(colours), RECORD_FROM_ONE),
    FIELD_NAMED(RECORD_BOOL, "side", right, sides, COUNT_OF(sides)),
    FIELD_FIXED("grid", grid, record_u32),
    FIELD_OBJECT("first", first, leaf_record, RECORD_SPARSE),
    FIELD_LIST("leaves", leaves, leaf_count, leaf_record),
    FIELD_ROOM("twigs", twigs, twig_count, leaf_record, RECORD_SPARSE),
    FIELD_LIST("tags", tags, tag_count, record_string),
    FIELD_HOOK("odd", odd, put_odd, get_odd),
    FIELD_COMMENT("notes"),
};
static const struct record tree_record = {RECORD_TABLE(tree_fields)};

static const struct record_field map_fields[] = {FIELD_MAP("weights", leaves, leaf_count, weight_record)};
static const struct record map_record = {RECORD_TABLE(map_fields)};
#undef RECORD_STRUCT

static char *written(struct arena *arena, const struct record *record, const void *base)
{
    struct text text = {0};
    struct json_out *out = json_out_new();
    record_put(out, record, base);
    json_out_finish(out, &text, false);
    char *copy = arena_strdup(arena, text.data);
    text_release(&text);
    return copy;
}

static enum status read_text(struct tree *tree, const struct record *record, const char *text, bool strict,
                             struct arena *arena, struct err *err)
{
    const cJSON *json;
    if (json_parse(&json, "t.json", text, strlen(text), arena, err))
        fail_msg("%s", err->text);
    *tree = (struct tree){0};
    return record_get(tree, record, json, strict, arena, err);
}

#define UNKNOWN                                                                                                        \
    "{\"name\":null,\"size\":null,\"age_s\":null,\"age_s_reason\":\"nobody asked\",\"share\":0,\"rings\":0,"           \
    "\"marks\":[],\"colour\":null,\"side\":\"left\",\"grid\":[0,0],\"leaves\":[],\"tags\":[],\"odd\":1}"
#define KNOWN                                                                                                          \
    "{\"name\":\"oak\",\"size\":{\"height_m\":30.5,\"tall\":true},\"age_s\":3000000000,\"share\":0.5,\"gain\":-2,"     \
    "\"rings\":7,\"cells\":9007199254740992,\"marks\":[\"rare\"],\"colour\":\"blue\",\"side\":\"right\","              \
    "\"grid\":[3,4],\"first\":{\"name\":\"a\",\"weight_g\":0},\"leaves\":[{\"name\":\"b\",\"weight_g\":null},"         \
    "{\"name\":\"c\",\"weight_g\":2}],\"twigs\":[{\"name\":\"d\",\"weight_g\":1}],\"tags\":[\"x\",\"\"],\"odd\":9}"

/* What is written is read, and written again to the same text. */
static void test_round_trip(void **state)
{
    static const char *const texts[] = {UNKNOWN, KNOWN};
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        struct arena arena = {0};
        struct err err = {0};
        struct tree tree;
        if (read_text(&tree, &tree_record, texts[k], false, &arena, &err))
            fail_msg("%s", err.text);
        assert_string_equal(written(&arena, &tree_record, &tree), texts[k]);
        assert_int_equal(isnan(tree.age_s) != 0, k == 0);
        arena_release(&arena);
    }
}

static void test_values(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct err err = {0};
    struct tree tree;
    assert_int_equal(read_text(&tree, &tree_record, KNOWN, true, &arena, &err), STATUS_OK);
    assert_int_equal(tree.colour, COLOUR_BLUE);
    assert_true(tree.right && tree.tall);
    assert_int_equal(tree.marks, 2);
    assert_int_equal(tree.leaf_count, 2);
    assert_true(isnan(tree.leaves[0].weight_g));
    assert_near(tree.leaves[1].weight_g, 2, 0);
    assert_string_equal(tree.twigs[0].name, "d");
    assert_string_equal(tree.tags[1], "");
    assert_int_equal(tree.odd, 4);
    tree.gain = -1.0 / 3e-9; /* an estimate has six digits */
    assert_non_null(strstr(written(&arena, &tree_record, &tree), "\"gain\":-333333000,"));
    /* Absent is unknown, and what people add for themselves is passed over. */
    assert_int_equal(read_text(&tree, &tree_record,
                               "{\"notes\":[1],\"marks\":[\"new\",\"old\"],\"size\":{\"height_m\":"
                               "{\"value\":3,\"source\":\"s\"}}}",
                               true, &arena, &err),
                     STATUS_OK);
    assert_int_equal(tree.marks, 1);
    assert_near(tree.height_m, 3, 0);
    assert_true(isnan(tree.age_s) && isnan(tree.first.weight_g) && !tree.first.name[0]);
    assert_int_equal(read_text(&tree, &tree_record, "{\"later\":1}", false, &arena, &err), STATUS_OK);
    arena_release(&arena);
}

static void test_map(void **state)
{
    static const char text[] = "{\"weights\":{\"a\":1.5,\"b\":2}}";
    (void)state;
    struct arena arena = {0};
    struct err err = {0};
    struct tree tree;
    assert_int_equal(read_text(&tree, &map_record, text, true, &arena, &err), STATUS_OK);
    assert_int_equal(tree.leaf_count, 2);
    assert_string_equal(tree.leaves[1].name, "b");
    assert_string_equal(written(&arena, &map_record, &tree), text);
    arena_release(&arena);
}

static const struct {
    const char *text, *message;
} wrong[] = {
    {"[]", "t.json:1:1: must be an object, not an array"},
    {"{\"nme\":\"x\"}", "/nme: unknown key; did you mean 'name'?"},
    {"{\"name\":\"eight888\"}", "/name: must be shorter than 8 bytes"},
    {"{\"name\":3}", "/name: must be a string or null, not a number"},
    {"{\"age_s\":-1}", "/age_s: cannot be negative"},
    {"{\"age_s\":\"1\"}", "/age_s: must be a number or null, not a string"},
    {"{\"share\":1.5}", "/share: must be from 0 to 1, not 1.5"},
    {"{\"gain\":null}", "/gain: must be a number, not null"},
    {"{\"rings\":1.5}", "/rings: must be a whole number from 0 to 4294967295"},
    {"{\"rings\":4294967296}", "/rings: must be a whole number"},
    {"{\"cells\":0}", "/cells: must be above 0, not 0"},
    {"{\"marks\":[1]}", "/marks/0: must be a string"},
    {"{\"marks\":\"old\"}", "/marks: must be an array"},
    {"{\"colour\":\"none\"}", "/colour: unknown colour 'none'"},
    {"{\"side\":\"up\"}", "/side: unknown side 'up'"},
    {"{\"grid\":[1]}", "/grid: must be an array of 2 numbers"},
    {"{\"grid\":3}", "/grid: must be an array of 2 numbers"},
    {"{\"grid\":[1,-1]}", "/grid/1: must be a whole number"},
    {"{\"first\":{}}", "/first: the key 'name' is missing"},
    {"{\"first\":{\"name\":null}}", "/first/name: must be a string, not null"},
    {"{\"leaves\":{}}", "/leaves: must be an array, not an object"},
    {"{\"leaves\":[{\"name\":\"x\"},3]}", "/leaves/1: must be an object, not a number"},
    {"{\"twigs\":[{},{},{}]}", "/twigs: has 3 elements, at most 2 are possible"},
    {"{\"tags\":[null]}", "/tags/0: must be a string, not null"},
    {"{\"odd\":2}", "/odd: must be odd"},
    {"{\"size\":{\"height_m\":{\"value\":3}}}", "/size/height_m: the key 'source' is missing"},
    {"{\"size\":{\"height_m\":{\"source\":\"s\"}}}", "/size/height_m: the key 'value' is missing"},
    {"{\"size\":{\"height_m\":{\"value\":0,\"source\":\"s\"}}}", "/size/height_m/value: must be above 0, not 0"},
    {"{\"size\":{\"height_m\":1000}}", "/size: no tree is so high"},
};

static void test_wrong(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT_OF(wrong); k++) {
        struct arena arena = {0};
        struct err err = {0};
        struct tree tree;
        assert_int_equal(read_text(&tree, &tree_record, wrong[k].text, true, &arena, &err), ERR_CONFIG);
        if (!strstr(err.text, wrong[k].message))
            fail_msg("%s: '%s'", wrong[k].text, err.text);
        arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_round_trip), cmocka_unit_test(test_values),
                                       cmocka_unit_test(test_map), cmocka_unit_test(test_wrong)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
