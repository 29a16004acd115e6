/* SPDX-License-Identifier: MIT */
#include "rooftile/describe.h"

#include "describe_internal.h"
#include "rooftile/record.h"

/* ---- the file of constants ---- */

#define RECORD_STRUCT struct model_constants
static const struct record_field constants_fields[] = {
    FIELD_STRING("family", family, RECORD_REQUIRED),
    FIELD_STRING("machine", machine, RECORD_PLAIN),
    FIELD_STRING("type", type, RECORD_PLAIN),
    FIELD_STRING("scales", scales, RECORD_PLAIN),
    FIELD_F64("matrix", values[CONSTANT_MATRIX], RECORD_PLAIN),
    FIELD_F64("memory", values[CONSTANT_MEMORY], RECORD_PLAIN),
    FIELD_F64("launch_us", values[CONSTANT_LAUNCH_US], RECORD_PLAIN),
    FIELD_F64("load", values[CONSTANT_LOAD], RECORD_PLAIN),
    FIELD_F64("tile_us", values[CONSTANT_TILE_US], RECORD_PLAIN),
    FIELD_F64("split_us", values[CONSTANT_SPLIT_US], RECORD_PLAIN),
    FIELD_F64("low", spread.low, RECORD_REQUIRED | RECORD_POSITIVE),
    FIELD_F64("high", spread.high, RECORD_REQUIRED | RECORD_POSITIVE),
    FIELD_F64("rows", rows, RECORD_PLAIN),
    FIELD_STRING("source", source, RECORD_REQUIRED),
};
static const struct record constants_record = {RECORD_TABLE(constants_fields)};
#undef RECORD_STRUCT

#define RECORD_STRUCT struct models
static const struct record_field models_fields[] = {
    FIELD_LIST("models", items, count, constants_record, RECORD_REQUIRED),
};
static const struct record models_record = {RECORD_TABLE(models_fields)};
#undef RECORD_STRUCT

enum status models_read(struct models *models, const char *path, struct arena *arena, struct err *err)
{
    const cJSON *root = NULL;
    struct record_in in = {.arena = arena, .by_hand = true};
    *models = (struct models){0};
    enum status status = json_read(&root, path, arena, err);
    return status ? status : record_parse(models, &models_record, root, &in, err);
}

/* ---- launches ---- */

/* Of a filter's side: each tap is looked at. */
#define MOST_TAPS 4096.0

static enum status check_launch(void *base, const cJSON *json, struct err *err)
{
    static const struct {
        const char *family;
        enum described_kind kind;
    } kinds[] = {{"gemm", DESCRIBED_GEMM},
                 {"linear", DESCRIBED_GEMM},
                 {"bmm", DESCRIBED_GEMM},
                 {"elementwise", DESCRIBED_ELEMENTWISE},
                 {"softmax", DESCRIBED_ROWS},
                 {"layer_norm", DESCRIBED_ROWS},
                 {"convolution", DESCRIBED_CONVOLUTION}};
    struct described *what = &((struct described_launch *)base)->what;
    const char **const texts[] = {&what->op, &what->type, &what->scales, &what->kernel, &what->library};
    for (size_t k = 0; k < COUNT_OF(texts); k++)
        *texts[k] = *texts[k] ? *texts[k] : "";
    for (size_t k = 0; k < COUNT_OF(kinds); k++)
        if (!strcmp(what->family, kinds[k].family))
            what->kind = kinds[k].kind;
    if (fmax(what->filter[0], what->filter[1]) > MOST_TAPS)
        return json_fail(json, err, "a filter of more than %.0f taps", MOST_TAPS);
    return STATUS_OK;
}

#define RECORD_STRUCT struct described_launch
static const struct record_field launch_fields[] = {
    FIELD_STRING("machine", machine, RECORD_REQUIRED | RECORD_FILLED),
    FIELD_STRING("family", what.family, RECORD_REQUIRED),
    FIELD_STRING("op", what.op, RECORD_PLAIN),
    FIELD_STRING("type", what.type, RECORD_PLAIN),
    FIELD_STRING("scales", what.scales, RECORD_PLAIN),
    FIELD_STRING("kernel", what.kernel, RECORD_PLAIN),
    FIELD_F64("in_bytes", what.in_bytes, RECORD_POSITIVE),
    FIELD_F64("out_bytes", what.out_bytes, RECORD_POSITIVE),
    FIELD_F64("batch", what.batch, RECORD_POSITIVE),
    FIELD_F64("m", what.m, RECORD_POSITIVE),
    FIELD_F64("n", what.n, RECORD_POSITIVE),
    FIELD_F64("k", what.k, RECORD_POSITIVE),
    FIELD_F64("split", what.split, RECORD_POSITIVE),
    FIELD_F64("rows", what.rows, RECORD_POSITIVE),
    FIELD_F64("columns", what.columns, RECORD_POSITIVE),
    FIELD_F64("operands", what.operands, RECORD_POSITIVE),
    FIELD_F64("images", what.images, RECORD_POSITIVE),
    FIELD_F64("channels_in", what.channels_in, RECORD_POSITIVE),
    FIELD_F64("channels_out", what.channels_out, RECORD_POSITIVE),
    FIELD_F64("groups", what.groups, RECORD_POSITIVE),
    FIELD_FIXED("in", what.in, record_number, RECORD_PLAIN),
    FIELD_FIXED("out", what.out, record_number, RECORD_PLAIN),
    FIELD_FIXED("filter", what.filter, record_number, RECORD_PLAIN),
    FIELD_FIXED("stride", what.stride, record_number, RECORD_PLAIN),
    FIELD_FIXED("pad", what.pad, record_number, RECORD_PLAIN),
    FIELD_FIXED("dilation", what.dilation, record_number, RECORD_PLAIN),
    FIELD_BOOL("channels_last", what.channels_last, RECORD_PLAIN),
    FIELD_BOOL("cold", what.cold, RECORD_PLAIN),
    FIELD_BOOL("from_idle", what.from_idle, RECORD_PLAIN),
};
static const struct record launch_record = {RECORD_TABLE(launch_fields), .check = check_launch};
#undef RECORD_STRUCT

#define RECORD_STRUCT struct described_launches
static const struct record_field launches_fields[] = {
    FIELD_LIST("launches", items, count, launch_record, RECORD_REQUIRED),
};
static const struct record launches_record = {RECORD_TABLE(launches_fields)};
#undef RECORD_STRUCT

enum status described_read(struct described_launches *launches, const char *path, struct arena *arena, struct err *err)
{
    const cJSON *root = NULL;
    struct record_in in = {.arena = arena, .by_hand = true};
    *launches = (struct described_launches){0};
    enum status status = json_read(&root, path, arena, err);
    return status ? status : record_parse(launches, &launches_record, root, &in, err);
}

/* ---- which constants ---- */

static bool is(const char *text, const char *wanted)
{
    return text && !strcmp(text, wanted);
}

/* "bf16", "f16": 16. */
static long bits_of(const char *type)
{
    return type ? strtol(type + strcspn(type, "0123456789"), NULL, 10) : 0;
}

/* How well constants suit: 0 not at all. Elements of the same width elsewhere are nearer than others of the machine:
 * blocks with scales of their own are not what a plain product does. Of equals those that more rows were fitted to. */
static int suits(const struct model_constants *constants, const struct described *what, const char *machine)
{
    if (!is(constants->family, what->family) ||
        (what->kind != DESCRIBED_GEMM &&
         !is(constants->machine, machine))) /* data sheets are nearer than other cards */
        return 0;
    return 1 + 16 * (bits_of(constants->type) == bits_of(what->type)) + 8 * is(constants->type, what->type) +
           4 * is(constants->machine, machine) + 2 * is(constants->scales, what->scales);
}
enum { SUITS_WHOLLY = 1 + 16 + 8 + 4 + 2 };

static const struct model_constants *constants_of(int *quality, const struct models *models,
                                                  const struct described *what, const char *machine)
{
    const struct model_constants *best = NULL;
    *quality = 0;
    for (size_t k = 0; models && k < models->count; k++) {
        const int suit = suits(&models->items[k], what, machine);
        if (suit < *quality || !suit || (suit == *quality && models->items[k].rows <= best->rows))
            continue;
        *quality = suit;
        best = &models->items[k];
    }
    return best;
}

/* Without any: what data sheets say, a usual launch, and how far such predictions were off on times of others. */
static const struct model_constants raw_constants = {
    .values = {[CONSTANT_MATRIX] = 1, [CONSTANT_MEMORY] = 1, [CONSTANT_LOAD] = 1, [CONSTANT_SPLIT_US] = 2},
    .spread = {0.85, 1.6},
};
/* Loops around loads: compilers of many years, and cards that were measured before their clocks rose. */
static const struct prediction_spread loops_spread = {0.8, 2.1};

/* Constants of another machine or type: twice as far, as a ratio. */
static struct prediction_spread widened(struct prediction_spread spread)
{
    return (struct prediction_spread){spread.low * spread.low, spread.high * spread.high};
}

/* ---- the machine ---- */

static double f64_slots(const struct machine *machine, double lanes)
{
    const struct machine_unit *unit = machine_unit(machine, "vector_f64");
    const double peak = unit ? ceiling_value(&unit->peak) : 0;
    return peak > 0 ? fmax(1, 2 * lanes * machine->cus * machine->core_hz / peak) : 2;
}

/* mt4g's measurements: 64 bytes up to CDNA 1, 128 since. */
static double line_bytes(const char *arch)
{
    return !strcmp(arch, "gfx906") || !strcmp(arch, "gfx908") || !strcmp(arch, "gfx900") ? 64 : 128;
}

/* LLVM's AMDGPUBaseInfo.cpp, getMaxWavesPerEU. */
static double waves_per_simd(const char *arch)
{
    return text_starts(arch, "gfx90a") || text_starts(arch, "gfx94") || text_starts(arch, "gfx95") ? 8
           : text_starts(arch, "gfx9")                                                             ? 10
           : text_starts(arch, "gfx101")                                                           ? 20
                                                                                                   : 16;
}

static struct described_machine seen(const struct machine *machine, bool raw)
{
    const struct machine_level *memory = &machine->levels[machine->level_count - 1];
    const struct machine_level *l2 = machine->level_count > 2 ? &machine->levels[1] : memory;
    const double rate = raw ? ceiling_expected(&memory->bandwidth) : ceiling_value(&memory->bandwidth);
    return (struct described_machine){.machine = machine,
                                      .cus = machine->cus,
                                      .clock_mhz = machine->core_hz / 1e6,
                                      .lanes = 64,
                                      .memory_bytes_us = rate / 1e6,
                                      .memory_latency_us = memory->latency_ns / 1e3,
                                      .l2_latency_us = l2->latency_ns / 1e3,
                                      .launch_us = machine->launch_ns / 1e3,
                                      .wave = machine->wave ? machine->wave : 64,
                                      .line_bytes = line_bytes(machine->arch),
                                      .l1_bytes = machine->levels[0].capacity_bytes / fmax(1, machine->cus),
                                      .l2_bytes_us = ceiling_expected(&l2->bandwidth) / 1e6,
                                      .f64_slots = f64_slots(machine, 64),
                                      .issue_clocks = machine->wave == 32 ? 5 : 4,
                                      .units = machine->wave == 32 ? machine->cus / 2.0 : machine->cus,
                                      .waves_per_unit = 4 * waves_per_simd(machine->arch),
                                      .groups_per_unit = machine->wave == 32 ? 32 : 16,
                                      .idle_mhz = machine->idle_hz / 1e6,
                                      .rise_us = machine->clock_rise_ns / 1e3,
                                      .raw = raw};
}

/* The peak of the unit that does it, per microsecond; 0 unknown. */
static double matrix_peak_us(char name[static MACHINE_NAME], const struct machine *machine, const char *type)
{
    static const char *const kinds[] = {"matrix", "vector"};
    for (size_t k = 0; k < 2; k++) {
        snprintf(name, MACHINE_NAME, "%s_%s", kinds[k], type);
        const struct machine_unit *unit = machine_unit(machine, name);
        if (unit && ceiling_value(&unit->peak) > 0)
            return ceiling_value(&unit->peak) / 1e6;
    }
    return 0;
}

struct demand {
    double bytes, flops;
};

static struct demand demand_of(const struct described *what)
{
    const double batch = fmax(1, what->batch), items = what->rows * what->columns;
    switch (what->kind) {
    case DESCRIBED_GEMM:
        return (struct demand){
            batch * ((what->m + what->n) * what->k * what->in_bytes + what->m * what->n * what->out_bytes),
            2 * batch * what->m * what->n * what->k};
    case DESCRIBED_ELEMENTWISE:
        return (struct demand){items * what->in_bytes * what->operands, items};
    case DESCRIBED_ROWS:
        return (struct demand){2 * items * what->in_bytes, 5 * items};
    case DESCRIBED_CONVOLUTION:
        return (struct demand){
            what->images *
                (what->channels_in * what->in[0] * what->in[1] + what->channels_out * what->out[0] * what->out[1]) *
                what->in_bytes,
            2 * what->images * what->channels_out * what->out[0] * what->out[1] * what->channels_in / what->groups *
                what->filter[0] * what->filter[1]};
    case DESCRIBED_NOTHING:
        break;
    }
    return (struct demand){0, 0};
}

struct described described_product(enum dtype in, enum dtype out, const double bmnk[4])
{
    const bool fp8 = text_starts(dtype_name(in), "e4m3") || text_starts(dtype_name(in), "e5m2");
    return (struct described){.kind = DESCRIBED_GEMM,
                              .family = "gemm",
                              .op = "",
                              .type = fp8 ? "fp8" : dtype_name(in), /* constants have one for both formats */
                              .scales = dtype_bytes(in) < 2 ? "row" : "none",
                              .kernel = "",
                              .library = "",
                              .batch = bmnk[0],
                              .m = bmnk[1],
                              .n = bmnk[2],
                              .k = bmnk[3],
                              .split = 1,
                              .in_bytes = (double)dtype_bytes(in),
                              .out_bytes = (double)dtype_bytes(out)};
}

double described_flops(const struct described *what)
{
    return demand_of(what).flops;
}

static double memory_rate(const struct machine *machine)
{
    return ceiling_value(&machine->levels[machine->level_count - 1].bandwidth);
}

double described_least_ns(const struct described *what, const struct machine *machine)
{
    char unit[MACHINE_NAME];
    const bool products = what->kind == DESCRIBED_GEMM || what->kind == DESCRIBED_CONVOLUTION;
    const double peak_us = products ? matrix_peak_us(unit, machine, what->type) : 0;
    struct demand demand = demand_of(what);
    for (uint32_t k = 0; k + 1 < machine->level_count && !what->cold; k++)
        demand.bytes -= machine->levels[k].capacity_bytes;
    const double rate = memory_rate(machine);
    return fmax(peak_us > 0 ? demand.flops / peak_us * 1e3 : 0, rate > 0 ? fmax(0, demand.bytes) / rate * 1e9 : 0);
}

/* The roofline's word, whatever term limits: memory or the unit, by the vendor's peaks; launch where that is the better
 * part of the time. */
#define LAUNCH_SHARE 0.4
static void set_bound(struct prediction *prediction, const struct described *what, const struct machine *machine,
                      const char *unit)
{
    const struct demand demand = demand_of(what);
    const struct machine_unit *found = machine_unit(machine, unit);
    const double peak = found ? ceiling_value(&found->peak) : 0;
    const double memory_s = demand.bytes / memory_rate(machine), unit_s = peak > 0 ? demand.flops / peak : 0;
    const char *name = memory_s >= unit_s ? machine->levels[machine->level_count - 1].name : unit;
    if (machine->launch_ns > LAUNCH_SHARE * prediction->time_ns)
        name = "launch";
    snprintf(prediction->bound, sizeof(prediction->bound), "%s", name);
}

/* ---- predict ---- */

/* Shares that were fitted on small shapes would be faster than the peaks on large ones. */
static void keep_above_least(struct prediction *prediction, const struct described *what, const struct machine *machine)
{
    const double least_ns = described_least_ns(what, machine);
    if (prediction->time_ns >= least_ns)
        return;
    prediction->time_ns = least_ns;
    prediction_note(prediction, "the least that the machine's peaks allow: what was fitted would be faster");
}

static bool by_kind(struct prediction *prediction, const struct described *what, const struct described_machine *on,
                    const double *constants, char unit[static MACHINE_NAME])
{
    double peak_us;
    snprintf(unit, MACHINE_NAME, "vector_f32");
    switch (what->kind) {
    case DESCRIBED_GEMM:
        peak_us = matrix_peak_us(unit, on->machine, what->type);
        if (peak_us > 0)
            gemm_predict(prediction, what, on, peak_us, constants);
        return peak_us > 0;
    case DESCRIBED_ELEMENTWISE:
        elementwise_predict(prediction, what, on, constants);
        return true;
    case DESCRIBED_ROWS:
        rows_predict(prediction, what, on, constants);
        return true;
    case DESCRIBED_CONVOLUTION:
        convolution_predict(prediction, what, on, constants);
        return true;
    case DESCRIBED_NOTHING:
        break;
    }
    return false;
}

bool describe_predict(struct prediction *prediction, const struct described *what, const struct machine *machine,
                      const struct models *models)
{
    char unit[MACHINE_NAME] = "";
    int quality;
    const struct model_constants *found = constants_of(&quality, models, what, machine->name);
    const struct described_machine on = seen(machine, !found);
    struct model_constants constants = found ? *found : raw_constants;
    *prediction = (struct prediction){.method = "description"};
    if (!found && what->kind == DESCRIBED_CONVOLUTION)
        constants.spread = loops_spread;
    if (!found)
        constants.values[CONSTANT_LAUNCH_US] = on.launch_us > 0 ? on.launch_us / 2 : 2;
    if (!(on.cus > 0) || !(on.clock_mhz > 0) || !(on.memory_bytes_us > 0) || !(on.l2_bytes_us > 0) ||
        !by_kind(prediction, what, &on, constants.values, unit) ||
        !(prediction->time_ns > 0 && isfinite(prediction->time_ns)))
        return false;
    if (found && quality < SUITS_WHOLLY) {
        constants.spread = widened(constants.spread);
        snprintf(prediction->constants, sizeof(prediction->constants), "%s %s on %s", found->family, found->type,
                 found->machine);
        prediction_note(prediction, "constants of %s", prediction->constants);
    }
    keep_above_least(prediction, what, machine);
    set_bound(prediction, what, machine, unit);
    prediction_finish(prediction, machine, unit, constants.spread);
    return true;
}
