/* SPDX-License-Identifier: MIT */
#include "rooftile/machine.h"

#include "rooftile/file.h"
#include "rooftile/record.h"
#include "rooftile/targets.h"

enum status machine_read(struct machine *machine, const char *path, struct err *err)
{
    SCOPED(arena_release) struct arena arena = {0};
    const cJSON *root;
    struct machine read = {0};
    if (json_read(&root, path, &arena, err))
        return err->status;
    /* a document of scripts/gpu_check */
    if (cJSON_IsObject(json_member(json_member(root, "documents"), "machine")))
        root = json_member(json_member(root, "documents"), "machine");
    if (record_get(&read, &machine_record, root, true, &arena, err))
        return err->status;
    snprintf(read.path, sizeof(read.path), "%s", path);
    machine_derive(&read);
    *machine = read;
    return STATUS_OK;
}

enum status machine_write(const struct machine *machine, const char *path, struct err *err)
{
    const char *problem = machine_problem(machine);
    if (problem)
        return err_set(err, ERR_CONFIG, "%s: machine '%s' is not written: %s", path, machine->name, problem);
    SCOPED(text_release) struct text text = {0};
    struct json_out *out = json_out_new();
    record_put(out, &machine_record, machine);
    json_out_finish(out, &text, true);
    text_add(&text, "\n");
    return file_write(path, text.data, text.length, err);
}

const char *machine_unit_rate(const char *name)
{
    const char *type = strrchr(name, '_');
    if (!strcmp(name, LIMIT_BYTES))
        return "B/s";
    if (!strcmp(name, TRANSCENDENTAL_UNIT) || !strcmp(name, LIMIT_ITEMS) || !strcmp(name, LIMIT_STEPS))
        return "OP/s";
    return type && (type[1] == 'i' || type[1] == 'u') && type[2] >= '0' && type[2] <= '9' ? "OP/s" : "FLOP/s";
}

bool machine_unit_known(const char *name)
{
    static const char types[] = "f64 f32 xf32 f16 bf16 fp8 fp6 fp4 e4m3 e5m2 e4m3fnuz e5m2fnuz i64 u64 i32 u32 i16 u16 "
                                "i8 u8 i4 u4";
    const char *type = strchr(name, '_');
    return !strcmp(name, TRANSCENDENTAL_UNIT) ||
           (type && (text_starts(name, "vector_") || text_starts(name, "matrix_")) && type[1] &&
            text_has_word(types, " ", type + 1, strlen(type + 1)));
}

/* ---- values derived from a target's rates ---- */

static void derive_peak(struct machine_unit *unit, const char *name, double per_clock, double cus, double core_hz)
{
    *unit = (struct machine_unit){.peak.vendor = per_clock * cus * core_hz, .clock_hz = core_hz};
    snprintf(unit->name, sizeof(unit->name), "%s", name);
    snprintf(unit->peak.vendor_source, sizeof(unit->peak.vendor_source),
             "derived: %.0f compute units x %.4g per clock x %.3g GHz", cus, per_clock, core_hz / 1e9);
}

/* 24-bit multiply-adds per lane and clock, and dot products of packed 8-bit and 4-bit numbers: 64 lanes per compute
 * unit (AMD's instruction set manuals; half of the f32 lanes of an SM in the CUDA guide's table). */
#define INTEGER_LANES 64.0

void machine_derive(struct machine *machine)
{
    const struct target_facts *facts = target_facts(machine->arch);
    const bool gpu = facts->rate_f32 > 0 && !(facts->cpu > 0);
    const struct {
        const char *name;
        double per_clock;
    } units[] = {{TRANSCENDENTAL_UNIT, facts->rate_transcendental},
                 {"vector_i32", gpu ? 2 * INTEGER_LANES : 0},
                 {"vector_i8", facts->i8_dot > 0 && gpu ? 8 * INTEGER_LANES : 0},
                 {"vector_i4", facts->i4_dot > 0 && gpu ? 16 * INTEGER_LANES : 0}};
    for (size_t k = 0; k < sizeof(units) / sizeof(*units); k++)
        if (units[k].per_clock > 0 && machine->cus && machine->core_hz > 0 && machine->unit_count < MACHINE_MAX_UNITS &&
            !FIND_ROW(machine->units, machine->unit_count, name, units[k].name))
            derive_peak(&machine->units[machine->unit_count++], units[k].name, units[k].per_clock, machine->cus,
                        machine->core_hz);
}

void machine_limits(struct machine *limits, const struct target_facts *rates, double cus, double core_hz)
{
    /* 16-bit and 8-bit rates follow from the register width: two and four times the f32 rate. For matrix units the
     * only known bound is that no generation exceeds 64 times its vector units' rate (fp4 of CDNA 4: 59 times). A
     * GPU's compute unit has an LDS of at most 256 bytes per clock beside its cache. An item is at least half a
     * byte, or an operation; a step takes one lane of a GPU for a clock, and no processor retires more than 8
     * instructions in one. */
    const bool cpu = rates->cpu > 0;
    const double bytes = rates->rate_bytes > 0 ? rates->rate_bytes + (cpu ? 0 : 256) : 0;
    const double operations = (cpu ? 8 : 64) * rates->rate_f32;
    const struct {
        const char *name;
        double per_clock;
    } units[] = {{"vector_f32", rates->rate_f32},
                 {"vector_f64", rates->rate_f64},
                 {"vector_f16", 2 * rates->rate_f32},
                 {"vector_i8", 4 * rates->rate_f32},
                 {TRANSCENDENTAL_UNIT, rates->rate_transcendental},
                 {LIMIT_BYTES, bytes},
                 {LIMIT_OPERATIONS, operations},
                 {LIMIT_ITEMS, fmax(2 * bytes, operations)},
                 {LIMIT_STEPS, cpu ? 8 : 64}};
    *limits = (struct machine){.level_count = 1, .levels = {{.name = "L1"}}};
    struct ceiling *bandwidth = &limits->levels[0].bandwidth;
    bandwidth->vendor = rates->rate_bytes * cus * core_hz;
    snprintf(bandwidth->vendor_source, sizeof(bandwidth->vendor_source),
             "derived: %.0f compute units x %.4g B per clock x %.3g GHz", cus, rates->rate_bytes, core_hz / 1e9);
    for (size_t k = 0; k < sizeof(units) / sizeof(*units); k++)
        derive_peak(&limits->units[limits->unit_count++], units[k].name, units[k].per_clock, cus, core_hz);
}

const double machine_traffic_written[] = {
    [TRAFFIC_READ] = 0, [TRAFFIC_WRITE] = 1, [TRAFFIC_COPY] = 0.5, [TRAFFIC_TRIAD] = 1.0 / 3};

const char *const machine_traffic_names[] = {
    [TRAFFIC_READ] = "read", [TRAFFIC_WRITE] = "write", [TRAFFIC_COPY] = "copy", [TRAFFIC_TRIAD] = "triad"};

const struct machine_link *machine_link(const struct machine *machine, const char *name)
{
    return FIND_ROW(machine->links, machine->link_count, name, name);
}

const struct machine_level *machine_level(const struct machine *machine, const char *name)
{
    return FIND_ROW(machine->levels, machine->level_count, name, name);
}

const struct machine_figure *machine_figure(const struct machine *machine, const char *name)
{
    return FIND_ROW(machine->figures, machine->figure_count, name, name);
}

/* Data sheets have one peak for all 8-bit floats. */
const struct machine_unit *machine_unit(const struct machine *machine, const char *name)
{
    static const char *const fp8[] = {"matrix_e4m3", "matrix_e5m2", "matrix_e4m3fnuz", "matrix_e5m2fnuz"};
    const struct machine_unit *own = FIND_ROW(machine->units, machine->unit_count, name, name);
    return own || !text_among(name, fp8, COUNT_OF(fp8))
               ? own
               : FIND_ROW(machine->units, machine->unit_count, name, "matrix_fp8");
}

double machine_level_own_bytes(const struct machine *machine, const struct machine_level *level)
{
    const bool of_cu = !strcmp(level->name, "L0") || !strcmp(level->name, "L1");
    const uint32_t owners = of_cu ? machine->cus : !strcmp(level->name, "L2") ? machine->xccs : 1;
    return level->capacity_bytes / (owners ? owners : 1);
}

double ceiling_value(const struct ceiling *ceiling)
{
    return ceiling->measured > 0 ? ceiling->measured : ceiling->vendor;
}

double ceiling_expected(const struct ceiling *ceiling)
{
    return ceiling->measured > 0 || !(ceiling->effective > 0) ? ceiling_value(ceiling) : ceiling->effective;
}

const char *ceiling_kind(const struct ceiling *ceiling)
{
    if (ceiling->measured > 0)
        return "measured";
    return ceiling->vendor > 0 ? "vendor" : "unknown";
}

static bool is_rate(double value)
{
    return isfinite(value) && value >= 0;
}

static bool ceiling_ok(const struct ceiling *ceiling)
{
    return is_rate(ceiling->vendor) && is_rate(ceiling->measured) && is_rate(ceiling->effective) &&
           is_rate(ceiling->ci_rel);
}

static const char *level_problem(const struct machine *machine, uint32_t k)
{
    const struct machine_level *level = &machine->levels[k];
    const bool last = k + 1 == machine->level_count;
    if (!level->name[0])
        return "a level has no name";
    if (FIND_ROW(machine->levels, k, name, level->name))
        return "two levels have the same name";
    if (!ceiling_ok(&level->bandwidth) || !is_rate(level->capacity_bytes) || !is_rate(level->latency_ns))
        return "a level has a number that is negative or not finite";
    if (last)
        return level->capacity_bytes > 0 ? "the last level is the memory and has no capacity" : NULL;
    if (level->capacity_bytes <= 0)
        return "a cache level has no capacity";
    if (k && level->capacity_bytes <= machine->levels[k - 1].capacity_bytes)
        return "levels must stand nearest first, with growing capacities";
    return NULL;
}

static const char *unit_problem(const struct machine *machine, uint32_t k)
{
    const struct machine_unit *unit = &machine->units[k];
    if (!unit->name[0])
        return "a unit has no name";
    if (FIND_ROW(machine->units, k, name, unit->name))
        return "two units have the same name";
    return ceiling_ok(&unit->peak) && is_rate(unit->clock_hz) ? NULL
                                                              : "a unit has a number that is negative or not finite";
}

const char *machine_problem(const struct machine *machine)
{
    if (!machine->name[0])
        return "it has no name";
    if (!machine->level_count)
        return "it has no memory level";
    for (uint32_t k = 0; k < machine->level_count; k++) {
        const char *problem = level_problem(machine, k);
        if (problem)
            return problem;
    }
    for (uint32_t k = 0; k < machine->unit_count; k++) {
        const char *problem = unit_problem(machine, k);
        if (problem)
            return problem;
    }
    for (uint32_t k = 0; k < machine->latency_count; k++)
        if (!(machine->latencies[k].latency_ns > 0) || !isfinite(machine->latencies[k].latency_ns))
            return "a latency is not a positive number";
    return is_rate(machine->launch_ns) ? NULL : "the launch time is negative or not finite";
}

void machine_raise_clock(struct machine *machine, double core_hz)
{
    if (!(core_hz > 0) || !isfinite(core_hz))
        return;
    FOR_EACH(struct machine_unit, unit, machine->units, machine->unit_count) {
        if (unit->peak.vendor <= 0 || unit->clock_hz <= 0 || core_hz <= unit->clock_hz)
            continue;
        if (machine->measured) {
            unit->peak.vendor *= core_hz / unit->clock_hz;
            unit->clock_hz = core_hz;
        } else if (core_hz > unit->limit_hz) {
            unit->limit_hz = core_hz;
        }
    }
    if (machine->measured && core_hz > machine->core_hz)
        machine->core_hz = core_hz;
}

double machine_unit_limit(const struct machine_unit *unit)
{
    return unit->limit_hz > unit->clock_hz ? unit->peak.vendor * unit->limit_hz / unit->clock_hz : unit->peak.vendor;
}
