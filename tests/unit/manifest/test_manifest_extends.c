/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "manifest_text.h"
#include "rooftile/file.h"

static char folder[] = "/tmp/rooftile-extends-XXXXXX";

static const char base[] =
    "{ 'name': 'base', 'summary': 'the base', 'tags': ['memory'],\n"
    "  'params': { 'n': 1000, 'dtype': 'f32', 'block': 64 },\n"
    "  'limits': { 'dtype': ['f32', 'f64'] },\n"
    "  'let': { 'size': 'n + 1' },\n"
    "  'code': { 'source': 's.hip', 'symbol': 's', 'defines': { 'T': '{ctype(dtype)}', 'B': '1' } },\n"
    "  'buffers': { 'a': { 'type': '{dtype}', 'count': 'size', 'role': 'out' },\n"
    "               'b': { 'type': '{dtype}', 'count': 'n', 'role': 'in', 'fill': 'i % 7' } },\n"
    "  'launch': { 'grid': ['ceil_div(n, block)'], 'block': ['block'], 'args': ['a', 'b'] },\n"
    "  'check': { 'expect': { 'a': 'i % 7' } } }";

static const char *path_of(const char *name, struct arena *arena)
{
    return arena_printf(arena, "%s/%s.json", folder, name);
}

static void put(const char *name, const char *text)
{
    struct arena arena = {0};
    struct err err = {0};
    char *json = arena_strdup(&arena, text);
    for (char *p = json; *p; p++)
        *p = *p == '\'' ? '"' : *p;
    assert_int_equal(file_write(path_of(name, &arena), json, strlen(json), &err), STATUS_OK);
    arena_release(&arena);
}

static enum status get(const struct manifest **m, const char *name, struct arena *arena, struct err *err)
{
    const cJSON *root = NULL;
    const enum status status = json_read(&root, path_of(name, arena), arena, err);
    return status ? status : manifest_read(m, path_of(name, arena), root, arena, err);
}

/* Objects are merged by key in the order of the base, null takes away, all else replaces; name and summary are its own.
 */
static void merges(void **state)
{
    struct arena arena = {0};
    struct err err = {0};
    const struct manifest *m = NULL;
    (void)state;
    put("middle",
        "{ 'extends': 'base', 'name': 'middle', 'summary': 'between', 'params': { 'block': 128, 'extra': 3 } }");
    put("top", "{ 'name': 'top', 'summary': 'over both', 'extends': 'middle', 'tags': ['top', 'other'],\n"
               "  'params': { 'n': 5, 'dtype': null }, 'limits': null, 'let': { 'size': '2 * n' },\n"
               "  'code': { 'defines': { 'T': 'float', 'B': null, 'C': '{extra}' } },\n"
               "  'buffers': { 'a': { 'type': 'f32' }, 'b': { 'type': 'f32', 'fill': { 'gen': 'zeros' } } } }");
    if (get(&m, "top", &arena, &err))
        fail_msg("%s", err.text);
    assert_string_equal(m->name, "top");
    assert_string_equal(m->summary, "over both");
    assert_int_equal(m->tag_count, 2);
    static const char *const params[] = {"n", "block", "extra"};
    assert_int_equal(m->param_count, COUNT_OF(params) + m->implied_count);
    for (size_t k = 0; k < COUNT_OF(params); k++)
        assert_string_equal(m->params[k].name, params[k]);
    assert_true(m->params[0].value.number == 5 && m->params[1].value.number == 128 && m->params[2].value.number == 3);
    assert_int_equal(m->define_count, 2);
    assert_string_equal(m->defines[1].name, "C");
    assert_int_equal(m->buffers[1].fill.kind, FILL_ZEROS);
    assert_string_equal(m->lets[0].text, "2 * n");
    assert_int_equal(m->check.expect_count, 1);
    arena_release(&arena);
}

/* A message points into the file where the value stands. */
static void points_into_the_file(void **state)
{
    static const struct {
        const char *base_find, *base_with, *own, *says;
    } rows[] = {
        {"'n + 1'", "'n + wrong'", "", "/base.json:4:20: /let/size: in \"n + wrong\": unknown name 'wrong'"},
        {"", "", ", 'let': { 'size': 'm' }", "/own.json:1:70: /let/size: in \"m\": unknown name 'm'"},
        {"", "", ", 'buffers': { 'b': { 'role': 'sin' } }", "/buffers/b/role: unknown role 'sin'"},
        {"", "", ", 'params': { 'm': null }",
         "null takes a key away, but the manifest that is extended has no 'm' here"},
        {"", "", ", 'summary': null", "duplicate"},
        {"'name': 'base'", "'extends': 'own', 'name': 'base'", "", "extends itself: "},
        {"'summary'", "'sumary'", "", "/base.json:1:19: /sumary: unknown key; did you mean 'summary'?"},
        {"{ 'name'", "[ { 'name'", "", "/base.json:"},
    };
    (void)state;
    for (size_t k = 0; k < COUNT_OF(rows); k++) {
        struct arena arena = {0};
        struct err err = {0};
        const struct manifest *m = NULL;
        put("base", replaced(base, rows[k].base_find, rows[k].base_with, &arena));
        put("own", arena_printf(&arena, "{ 'extends': 'base', 'name': 'own', 'summary': 's'%s }", rows[k].own));
        assert_int_equal(get(&m, "own", &arena, &err), ERR_CONFIG);
        if (!strstr(err.text, rows[k].says))
            fail_msg("row %zu: %s", k, err.text);
        put("base", base);
        arena_release(&arena);
    }
}

static void refuses(void **state)
{
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"{ 'extends': 'none', 'name': 'own', 'summary': 's' }", "/extends: there is no file "},
        {"{ 'extends': '../base', 'name': 'own', 'summary': 's' }",
         "/extends: must be the name of a manifest in the same folder"},
        {"{ 'extends': 3, 'name': 'own', 'summary': 's' }", "/extends: must be a string, not a number"},
        {"{ 'extends': 'own', 'name': 'own', 'summary': 's' }", "/extends: extends itself: "},
        {"{ 'extends': 'base', 'summary': 's' }", "the key 'name' is missing"},
        {"{ 'extends': 'base', 'name': 'own' }", "the key 'summary' is missing"},
    };
    (void)state;
    put("base", base);
    for (size_t k = 0; k < COUNT_OF(rows); k++) {
        struct arena arena = {0};
        struct err err = {0};
        const struct manifest *m = NULL;
        put("own", rows[k].text);
        assert_int_equal(get(&m, "own", &arena, &err), ERR_CONFIG);
        if (!strstr(err.text, rows[k].says))
            fail_msg("row %zu: %s", k, err.text);
        arena_release(&arena);
    }
}

static void long_chains_end(void **state)
{
    struct arena arena = {0};
    struct err err = {0};
    const struct manifest *m = NULL;
    (void)state;
    for (int k = 0; k < 20; k++)
        put(arena_printf(&arena, "m%d", k),
            arena_printf(&arena, "{ 'extends': 'm%d', 'name': 'm%d', 'summary': 's' }", k + 1, k));
    assert_int_equal(get(&m, "m0", &arena, &err), ERR_CONFIG);
    assert_non_null(strstr(err.text, "/extends: more than 8 manifests extend each other"));
    arena_release(&arena);
}

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    put("base", base);
    struct arena arena = {0};
    struct err err = {0};
    const int failed = (int)file_write(arena_printf(&arena, "%s/s.hip", folder), "", 0, &err);
    arena_release(&arena);
    return failed;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merges),
        cmocka_unit_test(points_into_the_file),
        cmocka_unit_test(refuses),
        cmocka_unit_test(long_chains_end),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
