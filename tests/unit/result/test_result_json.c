/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "../near.h"
#include "fixture.h"
#include "rooftile/file.h"

static char folder[] = "/tmp/rooftile-result-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    static const char *const names[] = {"a.json", "b.json", "m.json", "m.json.samples.bin", "n.json"};
    char path[256];
    for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
        snprintf(path, sizeof(path), "%s/%s", folder, names[k]);
        unlink(path);
    }
    return rmdir(folder);
}

static const char *in_folder(struct arena *arena, const char *name)
{
    return path_join(arena, folder, name);
}

static char *contents(struct arena *arena, const char *path, size_t *length)
{
    struct err err = {0};
    static char *data; /* static: gcc 12 takes what strstr finds in it for a pointer to a local */
    assert_int_equal(file_read(&data, length, path, FILE_LIMIT_BYTES, arena, &err), STATUS_OK);
    return data;
}

static void put_file(struct arena *arena, const char *name, const char *data, size_t length)
{
    struct err err = {0};
    if (file_write(in_folder(arena, name), data, length, &err))
        fail_msg("%s", err.text);
}

static const struct result *read_back(struct arena *arena, const char *name)
{
    struct err err = {0};
    const struct result *result;
    if (result_read(&result, in_folder(arena, name), arena, &err))
        fail_msg("%s", err.text);
    return result;
}

static void write_result(struct arena *arena, const struct result *result, const char *name)
{
    struct err err = {0};
    if (result_write(result, in_folder(arena, name), &err))
        fail_msg("%s", err.text);
}

/* `whole` with the first `find` replaced. */
static bool replace(struct text *edited, const char *whole, const char *find, const char *put)
{
    const char *at = strstr(whole, find);
    text_clear(edited);
    if (!at)
        return false;
    text_addn(edited, whole, (size_t)(at - whole));
    text_add(edited, put);
    text_add(edited, at + strlen(find));
    return true;
}

/* What a writer writes, a reader reads, and writes again to the same bytes: nothing is lost on the way. */
static void test_round_trip(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct result_case cases[FIXTURE_CASES];
    const struct result result = fixture_result(cases);
    size_t first, second;
    write_result(&arena, &result, "a.json");
    const struct result *read = read_back(&arena, "a.json");
    write_result(&arena, read, "b.json");
    const char *a = contents(&arena, in_folder(&arena, "a.json"), &first);
    const char *b = contents(&arena, in_folder(&arena, "b.json"), &second);
    assert_string_equal(a, b);
    assert_int_equal(first, second);
    arena_release(&arena);
}

static void test_values_survive(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct result_case cases[FIXTURE_CASES];
    const struct result result = fixture_result(cases);
    write_result(&arena, &result, "a.json");
    const struct result *read = read_back(&arena, "a.json");
    assert_int_equal(read->case_count, FIXTURE_CASES);
    const struct result_case *c = &read->cases[0], *wrong = &read->cases[2];
    assert_string_equal(c->id, cases[0].id);
    assert_string_equal(c->label, "copy n=1");
    assert_int_equal(c->timer, TIMED_BATCH);
    assert_int_equal(c->discarded[DISCARD_ZERO], 2);
    assert_int_equal(c->sample_count, 6);
    assert_near(c->samples_ns[4], 1002.125, 0);
    assert_near(c->stats.median, cases[0].stats.median, 0);
    assert_near(c->stats.lag1, cases[0].stats.lag1, 0);
    assert_near(c->floor.time_ns, 900, 0);
    assert_string_equal(c->floor.ceiling_name, "DRAM");
    assert_true(c->floor.bound_is_memory);
    assert_true(isnan(c->items_per_s));
    assert_near(c->predicted_error, -0.28, 0);
    assert_int_equal(c->block[0], 256);
    assert_int_equal(c->params[1].value.kind, PARAM_STRING);
    assert_near(c->metrics[0].value, 123.5, 0);
    assert_true(isnan(c->metrics[1].value));
    assert_int_equal(c->before.involuntary_switches, 7);
    assert_int_equal(read->cases[1].flags, FLAG_DISTURBED | FLAG_IMPOSSIBLE);
    assert_int_equal(wrong->status, CASE_FAILED);
    assert_int_equal(wrong->verification.verdict, VERIFY_FAIL);
    assert_true(isnan(wrong->verification.max_rel) && isnan(wrong->verification.got));
    assert_int_equal(wrong->verification.index, 17);
    assert_int_equal(read->seed, 7);
    assert_string_equal(read->labels[0].value, "7");
    assert_string_equal(read->device.name, "A \"CPU\"");
    assert_near(read->machine.levels[1].bandwidth.measured, 1.067e11, 0);
    assert_string_equal(read->derived[0].json, "{\"changes\":[{\"x_low\":1,\"x_high\":2.5}]}");
    arena_release(&arena);
}

/* Readers that stream rely on it. */
static void test_one_case_per_line(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct result_case cases[FIXTURE_CASES];
    const struct result result = fixture_result(cases);
    struct text text = {0}, one = {0};
    result_document(&text, &result);
    for (size_t k = 0; k < FIXTURE_CASES; k++) {
        text_clear(&one);
        text_add(&one, "\n    ");
        result_case_json(&one, &cases[k]);
        text_add(&one, k + 1 < FIXTURE_CASES ? ",\n" : "\n");
        assert_non_null(strstr(text.data, one.data));
    }
    text_release(&text);
    text_release(&one);
    arena_release(&arena);
}

/* A result cut anywhere is an error with a place, never a crash and never half a result. */
static void test_truncation(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct result_case cases[FIXTURE_CASES];
    const struct result result = fixture_result(cases);
    struct text text = {0};
    result_document(&text, &result);
    while (text.data[text.length - 1] == '\n')
        text.length--;
    for (size_t length = 0; length < text.length; length += length < 300 ? 1 : 97) {
        struct arena scratch = {0};
        struct err err = {0};
        const struct result *read = NULL;
        put_file(&scratch, "a.json", text.data, length);
        assert_int_equal(result_read(&read, in_folder(&scratch, "a.json"), &scratch, &err), ERR_CONFIG);
        assert_null(read);
        assert_non_null(strstr(err.text, "a.json"));
        arena_release(&scratch);
    }
    text_release(&text);
    arena_release(&arena);
}

static const struct {
    const char *what, *find, *put, *message; /* message NULL: must be read */
} edits[] = {
    {"a newer minor version", "\"schema_version\": \"1.0.0\"", "\"schema_version\": \"1.9.0\"", NULL},
    {"a newer major version", "\"schema_version\": \"1.0.0\"", "\"schema_version\": \"2.0.0\"",
     "format 2 cannot be read"},
    {"no version", "\"schema_version\": \"1.0.0\"", "\"schema_version\": \"new\"", "is not a version"},
    {"version as number", "\"schema_version\": \"1.0.0\"", "\"schema_version\": 1", "must be a string"},
    {"an unknown key", "\"predicted\": false", "\"predicted\": false, \"later\": {\"a\": [1]}", NULL},
    {"an unknown flag", "\"disturbed\"", "\"of a later version\"", NULL},
    {"flag as number", "\"disturbed\"", "3", "must be a string"},
    {"negative median", "\"median\":", "\"median\":-", "cannot be negative"},
    {"median of zero", "\"median\":", "\"median\":0,\"old\":", "impossible values"},
    {"median above max", "\"median\":", "\"median\":9", "impossible values"},
    {"median below min", "\"min\":", "\"min\":9", "impossible values"},
    {"interval the wrong way", "\"ci95\":[", "\"ci95\":[9", "impossible values"},
    {"interval of one", "\"ci95\":[", "\"ci95\":[1,", "array of 2 numbers"},
    {"quartile outside", "\"q3\":", "\"q3\":9", "impossible values"},
    {"median as text", "\"median\":", "\"median\":\"5\",\"old\":", "must be a number or null"},
    {"median null", "\"median\":", "\"median\":null,\"old\":", "impossible values"},
    {"stats gone", "\"stats\":{", "\"stats_gone\":{", "'stats' must be an object"},
    {"negative sample", "\"samples_ns\":[", "\"samples_ns\":[-", "time above 0"},
    {"sample too many", "\"samples_ns\":[", "\"samples_ns\":[5,", "measurement.n = 6"},
    {"n of -1", "\"n\":6", "\"n\":-6", "/cases/0/measurement/n"},
    {"n beyond 2^53", "\"n\":6", "\"n\":1e300", "/cases/0/measurement/n"},
    {"discards beyond 2^32", "\"zero\":2", "\"zero\":5000000000", "below 2^32"},
    {"an unknown timer", "\"timer\":\"batch\"", "\"timer\":\"sundial\"", "'sundial' is not a value of 'timer'"},
    {"an unknown status", "\"status\":\"ok\"", "\"status\":\"fine\"", "'fine' is no status"},
    {"case without id", "\"id\":\"copy", "\"ident\":\"copy", "'id' is missing"},
    {"params as array", "\"params\":{\"n\":4096,\"layout\":\"nt\"}", "\"params\":[]", "must be an object"},
    {"cases as object", "\"cases\": [", "\"cases\": {}, \"old\": [", "must be an array"},
    {"grid of two", "\"grid\":[16,1,1]", "\"grid\":[16,1]", "array of 3 numbers"},
    {"seed as text", "\"seed\": 7", "\"seed\": \"7\"", "must be a number"},
    {"no run", "\"run\": {", "\"ran\": {", "'run' is missing"},
    {"a fingerprint that is a book", "\"fingerprint\": \"", "\"fingerprint\": \"0123456789", "64 hex digits"},
    {"a cache of less than nothing", "\"value\": 65536", "\"value\": -65536",
     "/ext/machine/levels/0/capacity_bytes/value"},
    {"derived text", "\"value\":{", "\"value\":\"x\",\"old\":{", "must be an object or an array"},
    {"temperature below zero is possible", "\"temp_c\":null", "\"temp_c\":-5", NULL},
    {"metrics without a name", "\"metrics\":[{", "\"metrics\":[3,{", "must be an object"},
};

/* By hand or by chance: each edit at its first place in the document. */
static void test_edited(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct result_case cases[FIXTURE_CASES];
    const struct result result = fixture_result(cases);
    struct text whole = {0}, edited = {0};
    result_document(&whole, &result);
    for (size_t k = 0; k < sizeof(edits) / sizeof(edits[0]); k++) {
        struct err err = {0};
        const struct result *read = NULL;
        if (!replace(&edited, whole.data, edits[k].find, edits[k].put))
            fail_msg("%s: '%s' is not in the document", edits[k].what, edits[k].find);
        put_file(&arena, "a.json", edited.data, edited.length);
        const enum status status = result_read(&read, in_folder(&arena, "a.json"), &arena, &err);
        if (!edits[k].message ? status != STATUS_OK : status != ERR_CONFIG || !strstr(err.text, edits[k].message))
            fail_msg("%s: status %d, '%s'", edits[k].what, (int)status, err.text);
        if (status && (!strstr(err.text, "a.json:") || read))
            fail_msg("%s: '%s' says no place", edits[k].what, err.text);
    }
    text_release(&whole);
    text_release(&edited);
    arena_release(&arena);
}

static const char hostile[] = "a\"b\\c</script>\n\t\x01\x7f\xff\xc3\xa9";

static void test_hostile_text(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct result_case cases[FIXTURE_CASES];
    struct result result = fixture_result(cases);
    cases[3].reason = hostile;
    cases[0].label = hostile;
    result.os = hostile;
    write_result(&arena, &result, "a.json");
    size_t length;
    assert_null(strstr(contents(&arena, in_folder(&arena, "a.json"), &length), "</script>"));
    const struct result *read = read_back(&arena, "a.json");
    assert_string_equal(read->os, "a\"b\\c</script>\n\t\x01\x7f\xef\xbf\xbd\xc3\xa9"); /* the stray byte is U+FFFD */
    assert_string_equal(read->cases[3].reason, read->os);
    assert_string_equal(read->cases[0].label, read->os);
    arena_release(&arena);
}

static void test_empty(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct result_case cases[FIXTURE_CASES];
    struct result result = fixture_result(cases);
    result.case_count = result.derived_count = result.warning_count = result.label_count = result.argc = 0;
    result.machine.level_count = 0;
    write_result(&arena, &result, "a.json");
    const struct result *read = read_back(&arena, "a.json");
    assert_int_equal(read->case_count, 0);
    assert_int_equal(read->machine.level_count, 0);
    arena_release(&arena);
}

/* ---- samples beside the result ---- */

enum { MANY = 700 };

static struct result many_samples(struct result_case cases[static FIXTURE_CASES], double *samples)
{
    struct result result = fixture_result(cases);
    for (size_t k = 0; k < MANY; k++)
        samples[k] = 1000 + 0.1234567 * (double)(k % 37);
    for (size_t k = 0; k < 2; k++) {
        cases[k].samples_ns = samples + k;
        cases[k].sample_count = MANY - k;
        fixture_stats(&cases[k]);
    }
    result.raw_samples = true;
    return result;
}

static void test_sidecar(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct result_case cases[FIXTURE_CASES];
    double samples[MANY];
    const struct result result = many_samples(cases, samples);
    size_t length;
    write_result(&arena, &result, "m.json");
    contents(&arena, in_folder(&arena, "m.json.samples.bin"), &length);
    assert_int_equal(length, (MANY + MANY - 1) * sizeof(double));
    const struct result *read = read_back(&arena, "m.json");
    assert_memory_equal(read->cases[0].samples_ns, samples, sizeof(samples));
    assert_memory_equal(read->cases[1].samples_ns, samples + 1, sizeof(samples) - sizeof(samples[0]));
    char *before = contents(&arena, in_folder(&arena, "m.json"), &length);
    write_result(&arena, read, "m.json");
    assert_string_equal(contents(&arena, in_folder(&arena, "m.json"), &length), before);
    arena_release(&arena);
}

static void test_sidecar_missing(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct result_case cases[FIXTURE_CASES];
    double samples[MANY];
    const struct result result = many_samples(cases, samples);
    write_result(&arena, &result, "m.json");
    unlink(in_folder(&arena, "m.json.samples.bin"));
    const struct result *read = read_back(&arena, "m.json");
    assert_int_equal(read->cases[0].sample_count, MANY);
    assert_null(read->cases[0].samples_ns);
    write_result(&arena, read, "n.json"); /* and what is not there is not written */
    assert_false(file_exists(in_folder(&arena, "n.json.samples.bin")));
    assert_int_equal(read_back(&arena, "n.json")->cases[0].sample_count, MANY);
    arena_release(&arena);
}

static void expect_refused(const char *message)
{
    struct arena arena = {0};
    struct err err = {0};
    const struct result *read = NULL;
    assert_int_equal(result_read(&read, in_folder(&arena, "m.json"), &arena, &err), ERR_CONFIG);
    if (!strstr(err.text, message))
        fail_msg("'%s' does not say '%s'", err.text, message);
    arena_release(&arena);
}

static void test_sidecar_wrong(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct result_case cases[FIXTURE_CASES];
    double samples[MANY];
    const struct result result = many_samples(cases, samples);
    size_t length;
    write_result(&arena, &result, "m.json");
    char *side = contents(&arena, in_folder(&arena, "m.json.samples.bin"), &length);
    side[100] ^= 1;
    put_file(&arena, "m.json.samples.bin", side, length);
    expect_refused("its sha256 differs");
    side[100] ^= 1;
    put_file(&arena, "m.json.samples.bin", side, length - 1);
    expect_refused("the samples file has 11191 bytes, not 699 samples at 5600");
    put_file(&arena, "m.json.samples.bin", "", 0);
    expect_refused("the samples file has 0 bytes");
    put_file(&arena, "m.json.samples.bin", side, length);
    read_back(&arena, "m.json");

    samples[5] = -1; /* the hash is right, the time is not */
    write_result(&arena, &result, "m.json");
    expect_refused("sample 5 in the samples file is not a time above 0");
    struct text edited = {0};
    assert_true(
        replace(&edited, contents(&arena, in_folder(&arena, "m.json"), &length), "\"path\":\"", "\"path\":\"../"));
    put_file(&arena, "m.json", edited.data, edited.length);
    expect_refused("without a folder in its name");
    text_release(&edited);
    arena_release(&arena);
}

/* Without --samples a run stays small. */
static void test_no_raw_samples(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct result_case cases[FIXTURE_CASES];
    double samples[MANY];
    struct result result = many_samples(cases, samples);
    result.raw_samples = false;
    unlink(in_folder(&arena, "m.json.samples.bin"));
    write_result(&arena, &result, "m.json");
    assert_false(file_exists(in_folder(&arena, "m.json.samples.bin")));
    const struct result *read = read_back(&arena, "m.json");
    assert_null(read->cases[0].samples_ns);
    assert_near(read->cases[0].stats.median, cases[0].stats.median, 0);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_values_survive),
        cmocka_unit_test(test_one_case_per_line),
        cmocka_unit_test(test_truncation),
        cmocka_unit_test(test_edited),
        cmocka_unit_test(test_hostile_text),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_sidecar),
        cmocka_unit_test(test_sidecar_missing),
        cmocka_unit_test(test_sidecar_wrong),
        cmocka_unit_test(test_no_raw_samples),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
