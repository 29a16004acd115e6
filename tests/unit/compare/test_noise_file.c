/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rooftile/file.h"
#include "rooftile/noise_file.h"

static const struct noise_case cases[] = {
    {.id = "b/n=1;mode=hot;timer=batch", .class = "memory", .sigma = 0.01, .trials = 20},
    {.id = "a/n=1;mode=hot;timer=event", .class = "compute", .sigma = 0.002, .trials = 9}};
static const struct noise_class classes[] = {{"compute", 0.004, 1}, {"memory", 0.02, 7}};
static const struct noise_file sample = {.fingerprint = "abc",
                                         .device = "A \"GPU\"",
                                         .learned_at = "2026-11-21T00:00:00Z",
                                         .cases = cases,
                                         .case_count = 2,
                                         .classes = classes,
                                         .class_count = 2};

static char folder[] = "/tmp/rooftile-noise-XXXXXX";
static struct arena arena;
static struct err err;

static char *in_folder(const char *name)
{
    return path_join(&arena, folder, name);
}

static void round_trip(void **state)
{
    const struct noise_file *read = NULL;
    char *path = in_folder("new/deep/noise.json");
    (void)state;
    assert_int_equal(noise_file_write(&sample, path, &err), STATUS_OK);
    assert_int_equal(noise_file_read(&read, path, &arena, &err), STATUS_OK);
    assert_string_equal(read->fingerprint, "abc");
    assert_string_equal(read->device, "A \"GPU\"");
    assert_string_equal(read->learned_at, "2026-11-21T00:00:00Z");
    assert_int_equal(read->case_count, 2);
    assert_string_equal(read->cases[0].id, cases[1].id); /* sorted */
    assert_true(read->cases[0].sigma == 0.002 && read->cases[0].trials == 9);
    assert_int_equal(read->class_count, 2);
    assert_true(read->classes[1].sigma == 0.02 && read->classes[1].cases == 7);
    assert_string_equal(read->path, path);
}

static void priors(void **state)
{
    const struct noise_file *read = NULL;
    (void)state;
    assert_int_equal(noise_file_write(&sample, in_folder("p.json"), &err), STATUS_OK);
    assert_int_equal(noise_file_read(&read, in_folder("p.json"), &arena, &err), STATUS_OK);
    struct result_case c = {.id = "b/n=1;mode=hot;timer=batch", .class = "memory"};
    struct shift_prior prior = noise_file_prior(read, &c);
    assert_true(prior.sigma_case == 0.01 && prior.case_trials == 20 && prior.sigma_class == 0.02);
    c.id = "b/n=1;mode=hot;timer=event"; /* another timer, another noise */
    prior = noise_file_prior(read, &c);
    assert_true(prior.case_trials == 0 && prior.sigma_class == 0.02);
    c.class = NULL;
    prior = noise_file_prior(read, &c);
    assert_true(prior.case_trials == 0 && prior.sigma_class == 0);
    prior = noise_file_prior(NULL, &c);
    assert_true(prior.case_trials == 0 && prior.sigma_class == 0);
}

static void keeps_what_an_older_file_knows(void **state)
{
    static const struct noise_case older_cases[] = {
        {.id = "a/n=1;mode=hot;timer=event", .class = "compute", .sigma = 0.5, .trials = 30},
        {.id = "z/n=1;mode=hot;timer=event", .class = "launch", .sigma = 0.03, .trials = 12}};
    static const struct noise_class older_classes[] = {{"launch", 0.03, 1}, {"memory", 0.5, 1}};
    const struct noise_file older = {.cases = older_cases, .case_count = 2, .classes = older_classes, .class_count = 2};
    struct noise_file file = sample;
    (void)state;
    noise_file_keep(&file, NULL, &arena);
    assert_int_equal(file.case_count, 2);
    noise_file_keep(&file, &older, &arena);
    assert_int_equal(file.case_count, 3);
    assert_string_equal(file.cases[0].id, "a/n=1;mode=hot;timer=event");
    assert_true(file.cases[0].sigma == 0.002); /* the newer one */
    assert_string_equal(file.cases[2].class, "launch");
    assert_int_equal(file.class_count, 3);
    assert_true(file.classes[1].sigma == 0.02);
    assert_string_equal(file.classes[2].name, "launch");
    struct noise_file empty = {0};
    noise_file_keep(&empty, &older, &arena);
    assert_int_equal(empty.case_count, 2);
}

static void no_file_is_nothing_learned(void **state)
{
    const struct noise_file *read = &sample;
    (void)state;
    assert_int_equal(noise_file_read(&read, in_folder("none.json"), &arena, &err), STATUS_OK);
    assert_null(read);
}

#define HEAD "{\"schema\": \"https://rooftile.dev/schemas/noise/1/noise.schema.json\", "
#define FACTS "\"fingerprint\": \"f\", \"device\": \"d\", \"learned_at\": \"\", "

static void damaged(void **state)
{
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"", "n.json"},
        {"[]", "must be an object"},
        {"{\"schema\": \"https://rooftile.dev/schemas/noise/2/noise.schema.json\"}",
         "not a noise file of this version"},
        {"{\"schema\": \"https://rooftile.dev/schemas/result/1/result.schema.json\"}",
         "not a noise file of this version"},
        {HEAD FACTS "\"classes\": [], \"cases\": [", "n.json:1:"},
        {HEAD "\"classes\": [], \"cases\": []}", "fingerprint"},
        {HEAD FACTS "\"classes\": []}", "cases"},
        {HEAD FACTS "\"classes\": 3, \"cases\": []}", "/classes"},
        {HEAD FACTS "\"classes\": [{\"class\": \"m\", \"sigma\": 0, \"cases\": 1}], \"cases\": []}",
         "/classes/0/sigma"},
        {HEAD FACTS "\"classes\": [], \"cases\": [{\"id\": \"x\", \"class\": \"m\", \"sigma\": -1, \"trials\": 9}]}",
         "/cases/0/sigma"},
        {HEAD FACTS "\"classes\": [], \"cases\": [{\"id\": \"x\", \"class\": \"m\", \"sigma\": 1e9, \"trials\": 9}]}",
         "no relative"},
        {HEAD FACTS "\"classes\": [], \"cases\": [{\"id\": \"x\", \"class\": \"m\", \"sigma\": NaN, \"trials\": 9}]}",
         "n.json:1:"},
        {HEAD FACTS "\"classes\": [], \"cases\": [{\"id\": \"x\", \"class\": \"m\", \"sigma\": null, \"trials\": 9}]}",
         "/cases/0/sigma"},
        {HEAD FACTS "\"classes\": [], \"cases\": [{\"id\": \"x\", \"class\": \"m\", \"sigma\": 0.1, \"trials\": 1.5}]}",
         "/cases/0/trials"},
        {HEAD FACTS "\"classes\": [], \"cases\": [{\"class\": \"m\", \"sigma\": 0.1, \"trials\": 9}]}", "'id'"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
        const struct noise_file *read = NULL;
        char *path = in_folder("n.json");
        assert_int_equal(file_write(path, rows[k].text, strlen(rows[k].text), &err), STATUS_OK);
        if (noise_file_read(&read, path, &arena, &err) != ERR_CONFIG || !strstr(err.text, rows[k].message) ||
            !strstr(err.text, "rooftile aa"))
            fail_msg("row %zu: %s", k, err.text);
        assert_null(read);
    }
}

static void paths(void **state)
{
    struct result result = {0};
    (void)state;
    setenv("ROOFTILE_DATA", folder, 1);
    memcpy(result.device.backend, "hip", sizeof("hip"));
    memset(result.fingerprint, 'f', 64);
    const char *path = NULL;
    assert_int_equal(noise_file_path(&path, &result, false, &arena, &err), STATUS_OK);
    assert_string_equal(path, in_folder("noise/hip-ffffffffffffffff.json"));
}

static int prepare(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int clean(void **state)
{
    (void)state;
    const char *const files[] = {"new/deep/noise.json", "new/deep", "new", "p.json", "n.json"};
    for (size_t k = 0; k < sizeof(files) / sizeof(*files); k++)
        if (unlink(in_folder(files[k])))
            rmdir(in_folder(files[k]));
    rmdir(folder);
    arena_release(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(round_trip),
                                       cmocka_unit_test(priors),
                                       cmocka_unit_test(keeps_what_an_older_file_knows),
                                       cmocka_unit_test(no_file_is_nothing_learned),
                                       cmocka_unit_test(damaged),
                                       cmocka_unit_test(paths)};
    return cmocka_run_group_tests(tests, prepare, clean);
}
