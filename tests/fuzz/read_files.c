/* SPDX-License-Identifier: MIT
 *
 * Readers of JSON files, and of the samples beside a result: whatever comes, either the thing or one sentence with its
 * place. What is accepted is then used.
 */
#include <glob.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "../../src/cli/pins.h"
#include "../../src/result/records.h"
#include "../unit/manifest/manifest_text.h"
#include "fuzz.h"
#include "rooftile/codediff.h"
#include "rooftile/describe.h"
#include "rooftile/file.h"
#include "rooftile/fleet.h"
#include "rooftile/hash.h"
#include "rooftile/json.h"
#include "rooftile/machine.h"
#include "rooftile/manifest.h"
#include "rooftile/noise_file.h"
#include "rooftile/render.h"
#include "rooftile/skeleton.h"
#include "rooftile/suite.h"

/* ---- JSON itself: every value can say where it is ---- */

static void visit(const cJSON *value, struct err *err)
{
    size_t count = 0;
    for (const cJSON *child = value->child; child; child = child->next, count++) {
        must(cJSON_IsObject(value) == (child->string != NULL));
        must(!child->string || json_member(value, child->string) == child);
        visit(child, err);
    }
    must(count == json_count(value) && json_fail(value, err, "here") == ERR_CONFIG);
}

bool fuzz_json(const char *text, size_t length, struct arena *arena)
{
    const cJSON *root = NULL;
    struct err err = {0};
    if (json_parse(&root, "f", text, length, arena, &err)) {
        must(!root && strncmp(err.text, "f:", 2) == 0);
        return false;
    }
    visit(root, &err);
    return true;
}

/* ---- manifests, evaluated as a plan would ---- */

static void evaluate(const struct manifest *manifest, struct arena *arena)
{
    struct err err = {0};
    struct param_value *values = NULL;
    const double *slots = slots_at_defaults(&values, manifest, 1, arena, &err);
    if (!slots)
        return;
    char *text;
    double number;
    for (size_t i = 0; i < manifest->define_count; i++)
        (void)template_render(&text, manifest->defines[i].value, manifest, values, slots, arena, &err);
    for (size_t i = 0; i < manifest->buffer_count; i++) {
        (void)template_render(&text, manifest->buffers[i].type, manifest, values, slots, arena, &err);
        (void)expr_eval(&number, manifest->buffers[i].count, slots, &err);
    }
}

static bool read_manifest(const char *path, const char *text, size_t length, struct arena *arena)
{
    const cJSON *root = NULL;
    const struct manifest *manifest = NULL;
    struct err err = {0};
    if (json_parse(&root, path, text, length, arena, &err))
        return false;
    if (manifest_parse(&manifest, path, root, arena, &err)) {
        must(err.status == ERR_CONFIG && strstr(err.text, ".json:") && !manifest);
        return false;
    }
    evaluate(manifest, arena);
    return true;
}

/* One that extends another is tried in each folder of kernels. */
bool fuzz_manifest(const char *text, size_t length, struct arena *arena)
{
    static glob_t folders;
    bool accepted = false;
    if (!folders.gl_pathc)
        must(!glob(ROOFTILE_SOURCE_DIR "/kernels/*", GLOB_ONLYDIR, NULL, &folders));
    for (size_t k = 0; k < folders.gl_pathc && !accepted && (!k || strstr(text, "extends")); k++)
        accepted = read_manifest(arena_printf(arena, "%s/fuzz.json", folders.gl_pathv[k]), text, length, arena);
    return accepted;
}

/* ---- suites ---- */

/* Where shapes are looked for below the folder of configs/; a message can be about their file. */
static bool read_suite(const char *text, size_t length, struct arena *arena)
{
    const struct suite *suite = NULL;
    struct err err = {0};
    struct measure_options base;
    measure_defaults(&base);
    const enum status status =
        suite_parse(&suite, ROOFTILE_SOURCE_DIR "/configs/fuzz.json", text, length, &base, arena, &err);
    must(status ? !suite && err.text[0] == '/' && strstr(err.text, ": ") : suite && suite->case_count);
    return !status;
}

bool fuzz_suite(const char *text, size_t length, struct arena *arena)
{
    return read_suite(text, length, arena);
}

bool fuzz_shapes(const char *text, size_t length, struct arena *arena)
{
    static const char suite[] =
        "{\"name\":\"s\",\"cases\":[{\"kernel\":\"k\",\"shapes\":{\"file\":\"" FUZZ_PATH "\"}}]}";
    (void)text;
    (void)length;
    return read_suite(suite, strlen(suite), arena);
}

/* ---- what was learned about a device ---- */

#define MODELS ROOFTILE_SOURCE_DIR "/configs/models"

bool fuzz_models(const char *text, size_t length, struct arena *arena)
{
    struct models models;
    struct err err = {0};
    (void)text;
    (void)length;
    if (models_read(&models, MODELS, FUZZ_PATH, arena, &err)) {
        must(err.status == ERR_CONFIG && strstr(err.text, FUZZ_PATH));
        return false;
    }
    for (size_t k = 0; k < models.count; k++)
        must(models.items[k].family && models.items[k].spread.low > 0);
    return true;
}

/* Whatever formulas say, there is a prediction or none. */
bool fuzz_families(const char *text, size_t length, struct arena *arena)
{
    static const struct machine machine = {.name = "mi100",
                                           .cus = 120,
                                           .core_hz = 1.5e9,
                                           .level_count = 1,
                                           .levels = {{.name = "HBM", .bandwidth = {.vendor = 1e12}}}};
    struct models models;
    struct prediction prediction;
    struct err err = {0};
    (void)text;
    (void)length;
    if (models_read(&models, fuzz_folder("models", (const char *const[]){"families.json", NULL}),
                    MODELS "/described.json", arena, &err)) {
        must(err.status == ERR_CONFIG && strstr(err.text, "families.json"));
        return false;
    }
    const struct described what = {
        .family = "softmax", .type = "f32", .kernel = "", .in_bytes = 4, .rows = 99, .columns = 9};
    if (describe_predict(&prediction, &what, &machine, &models, true))
        must(prediction.time_ns > 0);
    return true;
}

/* Whatever a launch says, its prediction is a positive time or none. */
bool fuzz_launches(const char *text, size_t length, struct arena *arena)
{
    static const struct machine machine = {.name = "mi100",
                                           .cus = 120,
                                           .wave = 64,
                                           .core_hz = 1.5e9,
                                           .level_count = 1,
                                           .levels = {{.name = "HBM", .bandwidth = {.vendor = 1e12}}},
                                           .unit_count = 1,
                                           .units = {{.name = "matrix_f32", .peak = {.vendor = 4e13}}}};
    struct described_launches launches;
    struct models models;
    struct err err = {0};
    (void)text;
    (void)length;
    must(!models_read(&models, MODELS, NULL, arena, &err));
    if (described_read(&launches, FUZZ_PATH, arena, &err)) {
        must(err.status == ERR_CONFIG && strstr(err.text, FUZZ_PATH));
        return false;
    }
    for (size_t k = 0; k < launches.count; k++) {
        struct prediction prediction;
        if (describe_predict(&prediction, &launches.items[k].what, &machine, &models, true))
            must(prediction.time_ns > 0);
    }
    return launches.count > 0;
}

bool fuzz_machine(const char *text, size_t length, struct arena *arena)
{
    struct machine *machine = arena_alloc(arena, sizeof(*machine));
    struct err err = {0};
    (void)text;
    (void)length;
    if (machine_read(machine, FUZZ_PATH, &err)) {
        must(err.status == ERR_CONFIG && strstr(err.text, FUZZ_PATH));
        return false;
    }
    must(!machine_problem(machine));
    machine_raise_clock(machine, 3e9);
    for (uint32_t k = 0; k < machine->unit_count; k++)
        must(machine_unit(machine, machine->units[k].name) && machine_unit_limit(&machine->units[k]) >= 0);
    return true;
}

bool fuzz_noise(const char *text, size_t length, struct arena *arena)
{
    const struct noise_file *file = NULL;
    struct err err = {0};
    (void)text;
    (void)length;
    if (noise_file_read(&file, FUZZ_PATH, arena, &err)) {
        must(err.status == ERR_CONFIG && strstr(err.text, FUZZ_PATH) && !file);
        return false;
    }
    struct noise_file more = *file;
    noise_file_keep(&more, file, arena);
    must(more.case_count >= file->case_count);
    for (size_t k = 0; k < file->case_count; k++) {
        const struct result_case c = {.id = file->cases[k].id, .class = "memory"};
        must(noise_file_prior(file, &c).sigma_case >= 0);
    }
    return true;
}

bool fuzz_fleet(const char *text, size_t length, struct arena *arena)
{
    const struct fleet_baseline *baseline = NULL;
    struct err err = {0};
    (void)text;
    (void)length;
    if (fleet_baseline_read(&baseline, FUZZ_PATH, arena, &err)) {
        must(err.status == ERR_CONFIG && strstr(err.text, FUZZ_PATH) && !baseline);
        return false;
    }
    const struct fleet_metric metric = {.name = "copy", .id = "copy/n=1"};
    const struct outlier_level level = fleet_baseline_level(baseline, "g", &metric);
    must(!level.n || !(level.spread < 0));
    return true;
}

bool fuzz_pins(const char *text, size_t length, struct arena *arena)
{
    static const struct codeobj_kernel code = {.name = "k"};
    const struct inspect_kernel kernel = {.code = &code, .occupancy_problem = "unknown"};
    struct code_pair pair = {.name = "k", .label = "k", .target = "gfx942", .before = &kernel, .after = &kernel};
    struct codediff diff = {.pairs = &pair, .count = 1};
    struct err err = {0};
    (void)text;
    (void)length;
    for (int k = 0; k < CODE_METRICS; k++)
        pair.figures[0].value[k] = pair.figures[1].value[k] = 3;
    if (pins_apply(&diff, FUZZ_PATH, false, arena, &err)) {
        must(err.status == ERR_CONFIG && strstr(err.text, FUZZ_PATH));
        return false;
    }
    must(pair.verdict == CODE_SAME || (pair.verdict == CODE_HURT && pair.worse[0]));
    return true;
}

/* What Triton wrote beside a code object, the .json and the .ttir at once: whatever it says, a manifest comes of it. */
bool fuzz_triton(const char *text, size_t length, struct arena *arena)
{
    static const char *const files[] = {"k.json", "k.ttir", NULL};
    static const struct codeobj_arg args[] = {
        {.name = "", .type = "", .size_bytes = 8, .is_pointer = true, .value_kind = "global_buffer", .access = ""},
        {.name = "n", .type = "", .size_bytes = 4, .value_kind = "by_value", .access = ""},
        {.name = "", .type = "", .size_bytes = 24, .value_kind = "by_value", .access = ""}};
    static const struct codeobj_kernel code = {.name = "k", .args = args, .arg_count = 3, .explicit_count = 3};
    const struct manifest *manifest = NULL;
    const cJSON *root = NULL;
    struct err err = {0};
    const char *image = arena_printf(arena, "%s/k.hsaco", fuzz_folder("triton", files));
    const char *written = skeleton_write("k.hsaco", image, &code, arena);
    (void)length;
    must(!json_parse(&root, "k.json", written, strlen(written), arena, &err));
    must(!manifest_parse(&manifest, "k.json", root, arena, &err));
    return strstr(text, "num_warps") != NULL;
}

/* ---- results ---- */

/* Written and read again, merged with itself (refused: it is the same trial) and with a copy under another id. */
static void use(const struct result *result, struct arena *arena)
{
    static const char *const names[] = {"a", "b"};
    struct err err = {0};
    struct text first = {0}, second = {0};
    const struct result *again = NULL;
    struct result other = *result, merged;
    const struct result *parts[] = {result, &other};
    result_document(&first, result);
    if (!result_parse(&again, "again", first.data, first.length, arena, &err)) {
        result_document(&second, again);
        must(strcmp(first.data, second.data) == 0);
    }
    must(!result->case_count || result_merge(&merged, parts, names, 2, arena, &err) != STATUS_OK);
    other.run_id = "another";
    other.part_count = 0;
    if (!result_merge(&merged, parts, names, 2, arena, &err)) {
        text_clear(&first);
        result_document(&first, &merged);
    }
    text_release(&first);
    text_release(&second);
}

bool fuzz_result(const char *text, size_t length, struct arena *arena)
{
    const struct result *result = NULL;
    struct err err = {0};
    const enum status status = result_parse(&result, "fuzz.json", text, length, arena, &err);
    must(!status || (status == ERR_CONFIG && !result && strstr(err.text, "fuzz.json:")));
    if (!status)
        use(result, arena);
    return !status;
}

/* Whatever a killed run left: a result, or one sentence. */
bool fuzz_journal(const char *text, size_t length, struct arena *arena)
{
    const struct result *result = NULL;
    struct err err = {0};
    (void)text;
    (void)length;
    const char *const files[] = {"killed.json.journal", NULL};
    const char *path = path_join(arena, fuzz_folder("journal", files), files[0]);
    const enum status status = result_read(&result, path, arena, &err);
    must(!status || (status == ERR_CONFIG && strstr(err.text, files[0])));
    if (!status)
        use(result, arena);
    return !status;
}

/* The case that the samples belong to says so of the input whatever it is: its size and its hash are right. */
bool fuzz_samples(const char *text, size_t length, struct arena *arena)
{
    const size_t count = length / sizeof(double);
    struct result_case c = {.sample_count = (uint32_t)count};
    struct samples_file file = {.folder = FUZZ_FOLDER, .fd = -1};
    const cJSON *json = NULL;
    struct err err = {0};
    char hex[HASH_TEXT];
    hash_sha256(hex, text, count * sizeof(double));
    const char *says = arena_printf(
        arena, "{\"samples_file\":{\"path\":\"" FUZZ_NAME "\",\"dtype\":\"f64\",\"count\":%zu,\"sha256\":\"%s\"}}",
        count, hex);
    must(!json_parse(&json, "fuzz.json", says, strlen(says), arena, &err));
    const enum status status = samples_file_read(&file, &c, json, arena, &err);
    must(!status || (err.status == ERR_CONFIG && strstr(err.text, "fuzz.json:") && !c.samples_ns));
    for (size_t k = 0; !status && k < count; k++)
        must(isfinite(c.samples_ns[k]) && c.samples_ns[k] > 0);
    samples_file_release(&file);
    return !status;
}
