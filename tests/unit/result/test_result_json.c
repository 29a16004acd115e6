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
#include "value_json.h"

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
    assert_near(c->lower_bound.time_ns, 900, 0);
    assert_string_equal(c->lower_bound.ceiling_name, "DRAM");
    assert_true(c->lower_bound.bound_is_memory);
    assert_true(isnan(c->items_per_s));
    assert_near(c->predicted_error, 0.4, 0);
    assert_int_equal(c->block[0], 256);
    assert_int_equal(c->params[1].value.kind, PARAM_STRING);
    assert_near(c->metrics[0].value, 123.5, 0);
    assert_true(isnan(c->metrics[1].value));
    assert_int_equal(c->before.involuntary_switches, 7);
    assert_int_equal(c->after.involuntary_switches, UINT64_MAX); /* unknown */
    assert_int_equal(c->after.throttle_bits, UINT64_C(1) << 56 | 1 << 8);
    assert_int_equal(read->cases[1].flags, FLAG_INTERFERENCE | FLAG_IMPOSSIBLE);
    assert_int_equal(wrong->status, CASE_FAILED);
    assert_int_equal(wrong->verification.verdict, VERIFY_FAIL);
    assert_true(isnan(wrong->verification.max_rel) && isnan(wrong->verification.got));
    assert_int_equal(wrong->verification.index, 17);
    assert_int_equal(read->seed, 7);
    assert_string_equal(read->labels[0].value, "7");
    assert_string_equal(read->device.name, "A \"CPU\"");
    assert_near(read->machine.levels[1].bandwidth.measured, 1.067e11, 0);
    assert_int_equal(c->code.vgprs, 96);
    assert_int_equal(c->code.lds_bytes, 4096);
    assert_int_equal(c->lds_bytes, 0);
    assert_near(c->code.waves_per_simd, 5, 0);
    assert_string_equal(c->code.occupancy_limit, "vgpr");
    assert_string_equal(c->code.loop_instruction, "v_pk_fma_f32");
    assert_near(c->code.loop_share, 0.96875, 0);
    assert_near(c->code.loop_scratch_bytes, 1228, 0);
    assert_int_equal(c->code.scratch_loop, 2);
    assert_int_equal(c->code.loop_issues[ISSUE_VALU], 120);
    assert_int_equal(c->code.loop_issues[ISSUE_LDS], 0);
    assert_int_equal(c->code.loop_issues[ISSUE_WAITS], 2);
    assert_true(isnan(read->cases[1].code.loop_share));
    assert_false(read->cases[1].code.known);
    assert_near(c->cycles, 2103, 0);
    assert_near(c->core_hz, 2.1e9, 0);
    assert_near((double)c->sample_hz[5], 2.105e9, 64);
    assert_int_equal(c->cross_timer, TIMED_DISPATCH);
    assert_near(c->cross_ns, 1040, 0);
    assert_true(c->blocking_start);
    assert_int_equal(c->clock_unsteady, 2);
    assert_string_equal(read->cases[1].blocking_reason, "no memory that the host can write");
    assert_near(read->calibration.counter_hz, 1e8, 0);
    assert_string_equal(read->calibration.dispatch_reason, "old library");
    assert_string_equal(read->cases[1].clock_reason, "counter wrapped");
    assert_true(isnan(read->cases[1].cycles) && !read->cases[1].sample_hz);
    assert_near(c->after.violation_power, 3, 0);
    assert_true(isnan(c->after.violation_hbm));
    assert_int_equal(read->cases[1].trial_count, 2);
    assert_near(read->cases[1].trials[1].median_ns, 1002.625, 0);
    assert_int_equal(read->cases[1].trials[1].flags, FLAG_INTERFERENCE);
    assert_near(read->calibration.flush_reread_cold_ns, 900, 0);
    assert_string_equal(read->calibration.flush_verdict, "works");
    assert_int_equal(read->part_count, 2);
    assert_string_equal(read->parts[1].started_at, "2026-11-21T00:00:30Z");
    assert_int_equal(read->kpi_count, 2);
    assert_near(read->kpis[0].value, 1.5, 0);
    assert_string_equal(read->kpis[0].filters[1], "!*n=3*");
    assert_true(isnan(read->kpis[0].trial_values[1]));
    assert_true(isnan(read->kpis[1].value));
    assert_string_equal(read->kpis[1].reason, "copy/n=3 failed");
    assert_string_equal(value_json(&read->derived[0], &arena),
                        "{\"changes\":[{\"x_low\":1,\"x_high\":2.5,\"before\":30000000000,"
                        "\"after\":20000000000,\"confidence\":0.97}]}");
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
    {"a newer minor version", "\"schema_version\": \"2.0.0\"", "\"schema_version\": \"2.9.0\"", NULL},
    {"a newer major version", "\"schema_version\": \"2.0.0\"", "\"schema_version\": \"3.0.0\"",
     "format 3 cannot be read"},
    {"the first format", "\"schema_version\": \"2.0.0\"", "\"schema_version\": \"1.1.0\"",
     "format 1 cannot be read by this version, which knows format 2: measure again"},
    {"no version", "\"schema_version\": \"2.0.0\"", "\"schema_version\": \"new\"", "is not a version"},
    {"version as number", "\"schema_version\": \"2.0.0\"", "\"schema_version\": 1", "must be a string"},
    {"an unknown key", "\"predicted\": false", "\"predicted\": false, \"later\": {\"a\": [1]}", NULL},
    {"an unknown flag", "\"interference\"", "\"of a later version\"", NULL},
    {"flag as number", "\"interference\"", "3", "must be a string"},
    {"negative median", "\"median_ns\":", "\"median_ns\":-", "cannot be negative"},
    {"median of zero", "\"median_ns\":", "\"median_ns\":0,\"old\":", "impossible values"},
    {"median above max", "\"median_ns\":", "\"median_ns\":9", "impossible values"},
    {"median below min", "\"min_ns\":", "\"min_ns\":9", "impossible values"},
    {"interval the wrong way", "\"ci95_ns\":[", "\"ci95_ns\":[9", "impossible values"},
    {"interval of one", "\"ci95_ns\":[", "\"ci95_ns\":[1,", "array of 2 numbers"},
    {"quartile outside", "\"q3_ns\":", "\"q3_ns\":9", "impossible values"},
    {"median as text", "\"median_ns\":", "\"median_ns\":\"5\",\"old\":", "must be a number or null"},
    {"median null", "\"median_ns\":", "\"median_ns\":null,\"old\":", "impossible values"},
    {"stats gone", "\"stats\":{", "\"stats_gone\":{", "'stats' must be an object"},
    {"negative sample", "\"samples_ns\":[", "\"samples_ns\":[-", "time above 0"},
    {"sample too many", "\"samples_ns\":[", "\"samples_ns\":[5,", "measurement.n = 6"},
    {"n of -1", "\"n\":6", "\"n\":-6", "/cases/0/measurement/n"},
    {"n beyond 2^53", "\"n\":6", "\"n\":1e300", "/cases/0/measurement/n"},
    {"discards beyond 2^32", "\"zero\":2", "\"zero\":5000000000", "must be a whole number from 0 to 4294967295"},
    {"an unknown timer", "\"timer\":\"batch\"", "\"timer\":\"sundial\"", "unknown timer 'sundial'"},
    {"an unknown status", "\"status\":\"ok\"", "\"status\":\"fine\"", "unknown status 'fine'"},
    {"case without id", "\"id\":\"copy", "\"ident\":\"copy", "'id' is missing"},
    {"params as array", "\"params\":{\"n\":4096,\"layout\":\"nt\"}", "\"params\":[]", "must be an object"},
    {"cases as object", "\"cases\": [", "\"cases\": {}, \"old\": [", "must be an array"},
    {"grid of two", "\"grid\":[16,1,1]", "\"grid\":[16,1]", "array of 3 numbers"},
    {"seed as text", "\"seed\": 7", "\"seed\": \"7\"", "must be a number"},
    {"no run", "\"run\": {", "\"ran\": {", "'run' is missing"},
    {"a fingerprint that is a book", "\"fingerprint\": \"", "\"fingerprint\": \"0123456789", "shorter than 65"},
    {"a cache of less than nothing", "\"value\": 65536", "\"value\": -65536", "/machine/levels/0/capacity_bytes/value"},
    {"derived text", "\"value\":{", "\"value\":\"x\",\"old\":{", "must be an object or an array"},
    {"temperature below zero is possible", "\"temp_c\":null", "\"temp_c\":-5", NULL},
    {"a better median", "\"median_ns\":1001.3125", "\"median_ns\":1000.6",
     "/cases/0/stats/median_ns: stands for 1000.6, but that of"},
    {"a better minimum", "\"min_ns\":990", "\"min_ns\":980",
     "/cases/0/stats/min_ns: stands for 980, but that of the samples is 990"},
    {"a better sample", "1000.5,1010.25", "1000.5,999", "this file was edited or is corrupt"},
    {"a better rate", "\"bytes_per_s\":", "\"bytes_per_s\":1", "/cases/0/throughput/bytes_per_s: stands for"},
    {"a sample beyond a double", "\"samples_ns\":[1000.5", "\"samples_ns\":[1e400",
     "/cases/0/samples_ns/0: number is beyond"},
    {"a sample as text", "1010.25,990", "1010.25,\"990\"", "/cases/0/samples_ns/2: must be a number"},
    {"a zero sample", "1010.25,990", "1010.25,0", "/cases/0/samples_ns/2: must be a time above 0"},
    {"NaN", "1010.25,990", "1010.25,NaN", "/cases/0/samples_ns/2: expected a value, found 'NaN'"},
    {"a clock too few", "\"samples_hz\":[2100000000,", "\"samples_hz\":[", "measurement.n = 6"},
    {"a clock of zero", "\"samples_hz\":[2100000000,", "\"samples_hz\":[0,", "/cases/0/samples_hz/0: must be a clock"},
    {"a clock that nobody read", "\"samples_hz\":[2100000000,", "\"samples_hz\":[null,", NULL},
    {"a key twice", "\"class\":\"memory\"", "\"class\":\"memory\",\"class\":\"latency\"",
     "/cases/0/class: duplicate key"},
    {"a key figure as text", "\"value\":1.5,", "\"value\":\"1.5\",", "/kpis/0/value"},
    {"a key figure without a name", "\"name\":\"copies\"", "\"title\":\"copies\"",
     "/kpis/0: the key 'name' is missing"},
    {"spills below zero", "\"vgpr_spills\":3", "\"vgpr_spills\":-3", "/cases/0/code/compiled/vgpr_spills"},
    {"trials out of order", "\"trials\":[{\"index\":0", "\"trials\":[{\"index\":1", "each once"},
    {"a trial too many", "{\"index\":1,", "{\"index\":2,", "a trial's index must be below run.trials = 2"},
    {"a better trial", "\"median_ns\":1000,", "\"median_ns\":991,", "the median of the trials' medians is"},
    {"a trial with more samples", "\"n\":3,\"cycles\"", "\"n\":4,\"cycles\"", "the trials have 7 samples together"},
    {"a trial of no known status", "\"index\":0,\"status\":\"ok\"", "\"index\":0,\"status\":\"fine\"",
     "/cases/1/trials/0/status"},
    {"parts for other trials", "\"trials\": 2", "\"trials\": 3", "run.trials = 3"},
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

/* The same file laid out by another program. */
static void test_reformatted(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct err err = {0};
    struct result_case cases[FIXTURE_CASES];
    const struct result result = fixture_result(cases);
    struct text tight = {0}, loose = {0}, other = {0};
    const struct result *again = NULL;
    bool inside = false;
    result_document(&tight, &result);
    for (const char *at = tight.data; *at; at++) {
        text_addn(&loose, at, 1);
        inside ^= *at == '"' && at[-1] != '\\'; /* no string of this file ends in a backslash */
        if (!inside && strchr(",[{:]}", *at))
            text_add(&loose, "\r\n\t ");
    }
    if (result_parse(&again, "loose", loose.data, loose.length, &arena, &err))
        fail_msg("%s", err.text);
    result_document(&other, again);
    assert_string_equal(other.data, tight.data);
    text_release(&tight);
    text_release(&loose);
    text_release(&other);
    arena_release(&arena);
}

/* The light reader forgets samples and nothing else, and believes no more than the other. */
static void test_light(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct err err = {0};
    struct result_case cases[FIXTURE_CASES];
    const struct result result = fixture_result(cases);
    const struct result *light, *whole;
    struct text edited = {0}, a = {0}, b = {0};
    size_t length;
    write_result(&arena, &result, "a.json");
    whole = read_back(&arena, "a.json");
    assert_int_equal(result_read_light(&light, in_folder(&arena, "a.json"), &arena, &err), STATUS_OK);
    assert_int_equal(light->case_count, FIXTURE_CASES);
    for (size_t k = 0; k < FIXTURE_CASES; k++) {
        struct result_case bare = whole->cases[k];
        assert_true(!light->cases[k].samples_ns && !light->cases[k].sample_hz);
        bare.samples_ns = NULL;
        bare.sample_hz = NULL;
        text_clear(&a);
        text_clear(&b);
        result_case_json(&a, &bare);
        result_case_json(&b, &light->cases[k]);
        assert_string_equal(a.data, b.data);
    }
    assert_true(
        replace(&edited, contents(&arena, in_folder(&arena, "a.json"), &length), "1000.5,1010.25", "1000.5,999"));
    put_file(&arena, "a.json", edited.data, edited.length);
    assert_int_equal(result_read_light(&light, in_folder(&arena, "a.json"), &arena, &err), ERR_CONFIG);
    assert_non_null(strstr(err.text, "edited or is corrupt"));
    text_release(&edited);
    text_release(&a);
    text_release(&b);
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
        cases[k].sample_hz = NULL;
        cases[k].trials = NULL;
        cases[k].trial_count = 0;
        fixture_stats(&cases[k]);
        fixture_rates(&cases[k]);
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
    float clocks[MANY];
    const struct result result = many_samples(cases, samples);
    size_t length;
    for (size_t k = 0; k < MANY; k++)
        clocks[k] = k % 5 ? 2.1e9F + (float)k : NAN;
    cases[1].sample_hz = clocks;
    write_result(&arena, &result, "m.json");
    contents(&arena, in_folder(&arena, "m.json.samples.bin"), &length);
    assert_int_equal(length, (MANY + MANY - 1) * sizeof(double) + (MANY - 1) * sizeof(float));
    const struct result *read = read_back(&arena, "m.json");
    assert_memory_equal(read->cases[0].samples_ns, samples, sizeof(samples));
    assert_memory_equal(read->cases[1].samples_ns, samples + 1, sizeof(samples) - sizeof(samples[0]));
    assert_memory_equal(read->cases[1].sample_hz, clocks, sizeof(clocks) - sizeof(clocks[0]));
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

    samples[100] = 2000; /* the hash is right, the statistics are not */
    write_result(&arena, &result, "m.json");
    expect_refused("/cases/0/stats/max_ns: stands for");
    samples[5] = -1; /* nor is this a time */
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
        cmocka_unit_test(test_reformatted),
        cmocka_unit_test(test_light),
        cmocka_unit_test(test_sidecar),
        cmocka_unit_test(test_sidecar_missing),
        cmocka_unit_test(test_sidecar_wrong),
        cmocka_unit_test(test_no_raw_samples),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
