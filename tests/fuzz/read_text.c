/* SPDX-License-Identifier: MIT
 *
 * Readers of text that is not JSON: expressions, sweeps, units, device strings, and what compilers, make and the
 * system write.
 */
#include <math.h>
#include <string.h>

#include "../../src/build/build_internal.h"
#include "../../src/device/telemetry.h"
#include "fuzz.h"
#include "rooftile/expr.h"
#include "rooftile/fleet.h"
#include "rooftile/suite.h"
#include "rooftile/units.h"

/* ---- expressions ---- */

enum { TOTAL = 300 };

static double product(const double *args)
{
    return args[0] * args[1];
}

static struct expr_names names_with(bool has_index)
{
    static const char *const variables[] = {"n", "a.b", "i"};
    static const char *const lists[] = {"l"};
    static const struct expr_constant constants[] = {{"f16", 2}};
    static const struct expr_function functions[] = {{"f", 2, product}};
    return (struct expr_names){.variables = variables,
                               .variable_count = 3,
                               .lists = lists,
                               .list_count = 1,
                               .constants = constants,
                               .constant_count = 1,
                               .functions = functions,
                               .function_count = 1,
                               .has_index = has_index};
}

/* Block values equal single values, found by offering the index a second time as the variable `i`. */
static void compare(const struct expr *indexed, const struct expr *plain, struct err *err)
{
    double slots[] = {3, -2.5, 0, 60, 30, 3}, values[TOTAL];
    const enum status status = expr_values(values, indexed, slots, NULL, 0, TOTAL, err);
    size_t k = 0;
    for (; k < TOTAL; k++) {
        double value;
        slots[2] = (double)k;
        if (expr_eval(&value, plain, slots, err))
            break;
        must(status || value == values[k]);
    }
    must((k < TOTAL) == (status != STATUS_OK));
}

bool fuzz_expr(const char *text, size_t length, struct arena *arena)
{
    const struct expr_names with = names_with(true), without = names_with(false);
    const struct expr *indexed = NULL, *plain = NULL;
    struct err err = {0};
    (void)length;
    const enum status status = expr_compile(&indexed, text, &with, arena, &err);
    must(!status || strstr(err.text, "column "));
    must(expr_compile(&plain, text, &without, arena, &err) == status);
    if (!status)
        compare(indexed, plain, &err);
    return !status;
}

/* ---- words of the command line ---- */

bool fuzz_sweep(const char *text, size_t length, struct arena *arena)
{
    struct sweep sweep = {0};
    struct err err = {0};
    (void)length;
    const enum status status = sweep_parse(&sweep, "n", text, arena, &err);
    must(status ? *err.text != '\0' : sweep.count > 0 && sweep.count <= SUITE_MAX_CASES);
    for (size_t k = 0; k < sweep.count; k++)
        must(sweep.values[k].kind != PARAM_NUMBER || isfinite(sweep.values[k].number));
    return !status;
}

bool fuzz_units(const char *text, size_t length, struct arena *arena)
{
    char out[UNITS_TEXT];
    double number = NAN, time_ns = NAN;
    (void)length;
    (void)arena;
    const bool is_number = units_parse_number(&number, text), is_time = units_parse_time_ns(&time_ns, text);
    must(!is_number || isfinite(number));
    must(!is_time || isfinite(time_ns));
    const double value = is_number ? number : is_time ? time_ns : 0;
    must(strlen(units_time(out, value)) < sizeof(out) && strlen(units_bytes(out, value)) < sizeof(out));
    must(strlen(units_count(out, value)) < sizeof(out) && strlen(units_quantity(out, value, text)) < sizeof(out));
    must(strlen(units_rate(out, value, text)) < sizeof(out) && strlen(units_percent(out, value)) < sizeof(out));
    return is_number || is_time;
}

bool fuzz_device(const char *text, size_t length, struct arena *arena)
{
    struct device_request request = {0};
    struct err err = {0};
    (void)length;
    (void)arena;
    const enum status status = device_parse(&request, text, &err);
    must(status ? (status == ERR_USAGE || status == ERR_DEVICE_LOST) && *err.text && !request.backend[0]
                : request.index >= 0 && request.backend[0]);
    must(status || device_backend(request.backend));
    return !status;
}

/* ---- what other programs write ---- */

bool fuzz_compiler(const char *text, size_t length, struct arena *arena)
{
    struct compiler compiler = {0};
    (void)length;
    compiler_describe(&compiler, "/bin/clang++", text, arena);
    must(compiler.version && !strchr(compiler.version, '\n') && compiler.identity && *compiler.identity);
    return compiler.llvm > 0 || strstr(compiler.version, "Cuda") != NULL;
}

bool fuzz_record(const char *text, size_t length, struct arena *arena)
{
    static const struct build_unit unit = {.source_dir = "/s", .include_dir = "/s/include"};
    struct build_record record = {0};
    struct err err = {0};
    struct text out = {0};
    (void)text;
    (void)length;
    const enum status status = record_read(&record, &unit, FUZZ_PATH, arena, &err);
    must(!status || strstr(err.text, FUZZ_PATH));
    if (!status) {
        must(record.object && *record.object && !strchr(record.object, '/') && record.sha256 && record.compiler);
        must(record_print(&out, &record, &unit));
    }
    text_release(&out);
    return !status;
}

bool fuzz_depfile(const char *text, size_t length, struct arena *arena)
{
    const char **paths = NULL;
    size_t count = 0;
    struct err err = {0};
    (void)text;
    (void)length;
    const enum status status = depfile_read(&paths, &count, FUZZ_PATH, arena, &err);
    must(!status || strstr(err.text, FUZZ_PATH));
    for (size_t k = 0; k < count; k++)
        must(*paths[k] != '\0');
    return !status;
}

/* Every file of the driver holds the input at once: texts, lists of clocks, numbers and the binary table. */
bool fuzz_sysfs(const char *text, size_t length, struct arena *arena)
{
    static const char *const files[] = {"current_compute_partition",
                                        "current_memory_partition",
                                        "vbios_version",
                                        "power_dpm_force_performance_level",
                                        "vendor",
                                        "device",
                                        "unique_id",
                                        "serial_number",
                                        "power1_cap",
                                        "power1_input",
                                        "power1_average",
                                        "temp1_label",
                                        "temp1_input",
                                        "temp2_label",
                                        "temp2_input",
                                        "gpu_metrics",
                                        "pp_dpm_sclk",
                                        "pp_dpm_mclk",
                                        "mem_info_vram_used",
                                        NULL};
    const char *folder = fuzz_folder("sysfs", files);
    struct telemetry telemetry = {.nodes = {1}, .node_count = 1};
    struct device_sense sense = device_sense_unknown;
    struct device_info info = {0};
    (void)arena;
    strncat(telemetry.root, folder, sizeof(telemetry.root) - 1);
    strncat(telemetry.card, folder, sizeof(telemetry.card) - 1);
    strncat(telemetry.sensors, folder, sizeof(telemetry.sensors) - 1);
    telemetry_describe(&info, &telemetry, "1002");
    telemetry_sense(&sense, &telemetry);
    must(!isinf(sense.core_hz) && !isinf(sense.memory_hz) && !isinf(sense.power_w) && !isinf(sense.temp_c));
    must(!(sense.core_hz < 0) && !(sense.memory_hz < 0) && !(sense.power_w < 0) && !(sense.vram_used_bytes < 0));
    sense = device_sense_unknown;
    const bool is_table = telemetry_metrics(&sense, text, length);
    return is_table || isfinite(sysfs_number(FUZZ_FOLDER, FUZZ_NAME));
}

/* ---- lists of nodes ---- */

bool fuzz_nodes(const char *text, size_t length, struct arena *arena)
{
    const char **names = NULL;
    size_t count = 0;
    struct err err = {0};
    (void)length;
    if (fleet_node_list(&names, &count, text, arena, &err)) {
        must(err.status == ERR_USAGE && !count);
        return false;
    }
    must(count <= FLEET_MAX_NODES);
    for (size_t k = 0; k < count; k++)
        must(*names[k] && !strpbrk(names[k], ",[] \t\r\n"));
    return true;
}
