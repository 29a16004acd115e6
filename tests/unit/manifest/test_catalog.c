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

#include "rooftile/catalog.h"
#include "rooftile/file.h"
#include "rooftile/text.h"

/* A folder of its own for each test, with the files of a small catalog. */
struct fixture {
    struct arena arena;
    char root[64];
};

static const char *at(struct fixture *f, const char *name)
{
    return path_join(&f->arena, f->root, name);
}

static void put(struct fixture *f, const char *name, const char *data)
{
    struct err err = {0};
    const char *path = at(f, name);
    assert_int_equal(file_make_dirs(path_dir(&f->arena, path), &err), STATUS_OK);
    assert_int_equal(file_write(path, data, strlen(data), &err), STATUS_OK);
}

static void put_kernel(struct fixture *f, const char *path, const char *name, const char *summary)
{
    put(f, path,
        arena_printf(&f->arena,
                     "{ \"name\": \"%s\", \"summary\": \"%s\", \"code\": { \"image\": \"x\", \"symbol\": \"k\" },"
                     " \"launch\": { \"grid\": [1], \"block\": [64] } }",
                     name, summary));
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    if (!f)
        return -1;
    snprintf(f->root, sizeof(f->root), "/tmp/rooftile-catalog-XXXXXX");
    if (!mkdtemp(f->root))
        return -1;
    *state = f;
    unsetenv("ROOFTILE_KERNELS");
    unsetenv("ROOFTILE_CONFIGS");
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    char *command = arena_printf(&f->arena, "rm -rf '%s'", f->root);
    const int failed = system(command);
    arena_release(&f->arena);
    free(f);
    return failed;
}

static void finds_by_name(void **state)
{
    struct fixture *f = *state;
    put_kernel(f, "k/memory/b.json", "stream_triad", "one");
    put_kernel(f, "k/a.json", "gemm", "two");
    put(f, "k/notes.txt", "no manifest");
    const char *const dirs[] = {at(f, "k")};
    struct catalog catalog;
    struct err err = {0};
    assert_int_equal(catalog_read(&catalog, dirs, 1, &f->arena, &err), STATUS_OK);
    assert_null(catalog.entries[0].manifest); /* read when it is asked for */
    const struct manifest *gemm = catalog_find(&catalog, "gemm");
    assert_ptr_equal(catalog.entries[0].manifest, gemm);
    assert_null(catalog.entries[1].manifest);
    size_t count = 0;
    const struct manifest *const *all = catalog_all(&count, &catalog);
    assert_int_equal(count, 2);
    assert_ptr_equal(all[0], gemm);
    assert_string_equal(all[1]->name, "stream_triad");
    assert_null(catalog_find(&catalog, "gem"));
    const struct manifest *manifest = NULL;
    assert_int_equal(catalog_get(&manifest, &catalog, "stream_triad", &err), STATUS_OK);
    assert_string_equal(manifest->summary, "one");
    assert_int_equal(catalog_get(&manifest, &catalog, "steam_triad", &err), ERR_USAGE);
    assert_string_equal(err.text, "unknown kernel 'steam_triad'; did you mean 'stream_triad'?");
    assert_int_equal(catalog_get(&manifest, &catalog, "convolution", &err), ERR_USAGE);
    assert_string_equal(err.text, "unknown kernel 'convolution'; 'rooftile list' shows all 2");
}

static void keeps_going_after_problems(void **state)
{
    struct fixture *f = *state;
    put_kernel(f, "k/good.json", "good", "s");
    put_kernel(f, "k/twice.json", "good", "s");
    put(f, "k/broken.json", "{ \"name\": \"wrecked\", \"summry\": \"s\" }");
    put(f, "k/cut.json", "{ \"name\": ");
    put_kernel(f, "k/other.json", "other", "s");
    put(f, "k/r.json", "{ \"schema\": \"https://rooftile.dev/schemas/result/2/result.schema.json\", \"cases\": [] }");
    put(f, "k/suite.json", "{ \"name\": \"s\", \"cases\": [] }");
    const char *const dirs[] = {at(f, "k"), at(f, "missing")};
    struct catalog catalog;
    struct err err = {0};
    assert_int_equal(catalog_read(&catalog, dirs, 2, &f->arena, &err), STATUS_OK);
    size_t good = 0;
    assert_string_equal(catalog_all(&good, &catalog)[0]->name, "other");
    assert_int_equal(good, 1);
    assert_int_equal(catalog.dir_count, 1);
    assert_int_equal(catalog.count, 6); /* neither the result nor the suite */
    assert_string_equal(catalog.entries[0].name, "wrecked");
    assert_string_equal(catalog.entries[1].name, "cut");
    assert_string_equal(catalog.entries[2].problem,
                        arena_printf(&f->arena, "%s: kernel 'good' is also in %s: rename or remove one of them",
                                     at(f, "k/good.json"), at(f, "k/twice.json")));
    assert_string_equal(catalog.entries[4].problem, arena_printf(&f->arena, "%s: kernel 'good' is already in %s",
                                                                 at(f, "k/twice.json"), at(f, "k/good.json")));
    assert_string_equal(catalog.entries[5].problem,
                        arena_printf(&f->arena, "%s: there is no such folder", at(f, "missing")));
    const struct manifest *manifest = NULL;
    assert_int_equal(catalog_get(&manifest, &catalog, "wrecked", &err), ERR_CONFIG);
    assert_true(text_starts(err.text, at(f, "k/broken.json")));
    assert_true(text_ends(err.text, "/summry: unknown key; did you mean 'summary'?"));
    assert_int_equal(catalog_get(&manifest, &catalog, "cut", &err), ERR_CONFIG);
    assert_int_equal(catalog_get(&manifest, &catalog, "other", &err), STATUS_OK);
    assert_int_equal(catalog_get(&manifest, &catalog, "good", &err), ERR_CONFIG); /* which of the two? */
    assert_true(text_starts(err.text, at(f, "k/good.json")));
    assert_int_equal(catalog_read(&catalog, dirs + 1, 1, &f->arena, &err), ERR_IO);
}

static void earlier_folders_win(void **state)
{
    struct fixture *f = *state;
    put_kernel(f, "user/a.json", "a", "the user's");
    put(f, "user/b.json", "{ \"name\": \"b\" }");
    put_kernel(f, "own/a.json", "a", "built in");
    put_kernel(f, "own/b.json", "b", "built in");
    put_kernel(f, "own/c.json", "c", "built in");
    const char *const dirs[] = {at(f, "user"), at(f, "own")};
    struct catalog catalog;
    struct err err = {0};
    assert_int_equal(catalog_read(&catalog, dirs, 2, &f->arena, &err), STATUS_OK);
    assert_string_equal(catalog_find(&catalog, "a")->summary, "the user's");
    assert_string_equal(catalog_find(&catalog, "c")->summary, "built in");
    /* A user's broken manifest must not silently become the built-in one. */
    const struct manifest *manifest = NULL;
    assert_int_equal(catalog_get(&manifest, &catalog, "b", &err), ERR_CONFIG);
    size_t good = 0;
    catalog_all(&good, &catalog);
    assert_int_equal(good, 2);
    assert_int_equal(catalog.count, 3);
}

static void folders_of_the_user_are_peers(void **state)
{
    struct fixture *f = *state;
    put_kernel(f, "one/a.json", "a", "one");
    put_kernel(f, "two/a.json", "a", "two");
    put_kernel(f, "own/a.json", "a", "built in");
    const char *const twice[] = {at(f, "one"), at(f, "two"), at(f, "own")};
    const char *const same[] = {at(f, "one"), at(f, "two/../one"), at(f, "own")};
    const char *const given[] = {at(f, "two/a.json"), at(f, "one"), at(f, "own")};
    struct catalog catalog;
    const struct manifest *manifest = NULL;
    struct err err = {0};
    assert_int_equal(catalog_read(&catalog, twice, 3, &f->arena, &err), STATUS_OK);
    assert_int_equal(catalog_get(&manifest, &catalog, "a", &err), ERR_CONFIG);
    assert_non_null(strstr(err.text, "one/a.json"));
    assert_non_null(strstr(err.text, "two/a.json"));
    assert_int_equal(catalog_read(&catalog, same, 3, &f->arena, &err), STATUS_OK);
    assert_int_equal(catalog_get(&manifest, &catalog, "a", &err), STATUS_OK);
    assert_int_equal(catalog_read(&catalog, given, 3, &f->arena, &err), STATUS_OK);
    assert_int_equal(catalog_get(&manifest, &catalog, "a", &err), STATUS_OK);
    assert_string_equal(manifest->summary, "two");
}

static void missing_files(void **state)
{
    struct fixture *f = *state;
    put(f, "k/a.json",
        "{ \"name\": \"a\", \"summary\": \"s\", \"code\": { \"source\": \"a.hip\", \"symbol\": \"a\" },\n"
        "  \"launch\": { \"grid\": [1], \"block\": [64] } }");
    const struct manifest *manifest = NULL;
    const cJSON *root = NULL;
    struct err err = {0};
    assert_int_equal(json_read(&root, at(f, "k/a.json"), &f->arena, &err), STATUS_OK);
    assert_int_equal(manifest_read(&manifest, at(f, "k/a.json"), root, &f->arena, &err), ERR_CONFIG);
    assert_string_equal(err.text, arena_printf(&f->arena, "%s:1:52: /code/source: there is no file %s",
                                               at(f, "k/a.json"), at(f, "k/a.hip")));
    put(f, "k/a.hip", "");
    assert_int_equal(manifest_read(&manifest, at(f, "k/a.json"), root, &f->arena, &err), STATUS_OK);
}

/* Runs a copy of this program at `path` below the fixture and returns what print_dirs writes there. */
static const char *dirs_seen_from(struct fixture *f, const char *path)
{
    struct err err = {0};
    const char *copy = at(f, path);
    assert_int_equal(file_make_dirs(path_dir(&f->arena, copy), &err), STATUS_OK);
    assert_int_equal(system(arena_printf(&f->arena, "cp /proc/%d/exe '%s'", (int)getpid(), copy)), 0);
    FILE *pipe = popen(arena_printf(&f->arena, "'%s' --print-dirs", copy), "r");
    assert_non_null(pipe);
    char text[1024];
    const size_t length = fread(text, 1, sizeof(text) - 1, pipe);
    assert_int_equal(pclose(pipe), 0);
    text[length] = '\0';
    return arena_strdup(&f->arena, text);
}

static int print_dirs(void)
{
    struct arena arena = {0};
    struct err err = {0};
    const char *const *dirs = NULL;
    size_t count = 0;
    if (catalog_default_dirs(&dirs, &count, &arena, &err))
        printf("%s\n", err.text);
    for (size_t i = 0; i < count; i++)
        printf("%s\n", dirs[i]);
    const char *configs = catalog_config_dir(&arena);
    printf("%s\n", configs ? configs : "no configs");
    arena_release(&arena);
    return 0;
}

static void default_dirs(void **state)
{
    struct fixture *f = *state;
    const char *none = dirs_seen_from(f, "nowhere/bin/test");
    assert_true(text_starts(none, "no kernels found: there is no ../share/rooftile/kernels beside "));
    assert_true(text_ends(none, "\nno configs\n"));

    put(f, "tree/kernels/include/portable.h", "");
    assert_string_equal(dirs_seen_from(f, "tree/build/release/bin/test"),
                        arena_printf(&f->arena, "%s\n%s\n", at(f, "tree/kernels"), at(f, "tree/configs")));

    put(f, "usr/share/rooftile/kernels/include/portable.h", "");
    put(f, "usr/share/rooftile/configs/schema/suite.schema.json", "");
    assert_string_equal(
        dirs_seen_from(f, "usr/bin/test"),
        arena_printf(&f->arena, "%s\n%s\n", at(f, "usr/share/rooftile/kernels"), at(f, "usr/share/rooftile/configs")));

    setenv("ROOFTILE_KERNELS", ":/a::/b/c:", 1);
    setenv("ROOFTILE_CONFIGS", "/d", 1);
    assert_string_equal(dirs_seen_from(f, "usr/bin/test"), "/a\n/b/c\n/d\n");
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--print-dirs") == 0)
        return print_dirs();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(finds_by_name, set_up, tear_down),
        cmocka_unit_test_setup_teardown(keeps_going_after_problems, set_up, tear_down),
        cmocka_unit_test_setup_teardown(earlier_folders_win, set_up, tear_down),
        cmocka_unit_test_setup_teardown(folders_of_the_user_are_peers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(missing_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(default_dirs, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
