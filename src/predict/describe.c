/* SPDX-License-Identifier: MIT */
#include "rooftile/describe.h"

#include "families.h"
#include "rooftile/file.h"
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

enum status models_read(struct models *models, const char *folder, const char *path, struct arena *arena,
                        struct err *err)
{
    const cJSON *root = NULL;
    struct record_in in = {.arena = arena, .by_hand = true};
    struct families *families = arena_alloc(arena, sizeof(*families));
    *models = (struct models){.families = families};
    if (families_read(families, path_join(arena, folder, "families.json"), arena, err) ||
        json_read(&root, path ? path : path_join(arena, folder, "described.json"), arena, err))
        return err->status;
    return record_parse(models, &models_record, root, &in, err);
}

/* ---- launches ---- */

/* Limit for each side of a filter, because the formulas loop over its taps. */
#define MOST_TAPS 4096.0

static enum status check_launch(void *base, const cJSON *json, struct err *err)
{
    struct described *what = &((struct described_launch *)base)->what;
    const char **const texts[] = {&what->op, &what->type, &what->scales, &what->kernel, &what->library};
    for (size_t k = 0; k < COUNT_OF(texts); k++)
        *texts[k] = *texts[k] ? *texts[k] : "";
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
    FIELD_F64("in_h", what.in[0], RECORD_PLAIN),
    FIELD_F64("in_w", what.in[1], RECORD_PLAIN),
    FIELD_F64("out_h", what.out[0], RECORD_PLAIN),
    FIELD_F64("out_w", what.out[1], RECORD_PLAIN),
    FIELD_F64("filter_h", what.filter[0], RECORD_PLAIN),
    FIELD_F64("filter_w", what.filter[1], RECORD_PLAIN),
    FIELD_F64("stride_h", what.stride[0], RECORD_PLAIN),
    FIELD_F64("stride_w", what.stride[1], RECORD_PLAIN),
    FIELD_F64("pad_h", what.pad[0], RECORD_PLAIN),
    FIELD_F64("pad_w", what.pad[1], RECORD_PLAIN),
    FIELD_F64("dilation_h", what.dilation[0], RECORD_PLAIN),
    FIELD_F64("dilation_w", what.dilation[1], RECORD_PLAIN),
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

/* ---- choosing the constants ---- */

static bool is(const char *text, const char *wanted)
{
    return text && !strcmp(text, wanted);
}

/* Returns the bits in a type's name: 16 for "bf16" and "f16". */
static long bits_of(const char *type)
{
    return type ? strtol(type + strcspn(type, "0123456789"), NULL, 10) : 0;
}

/* Returns how well constants fit the launch; 0 means not at all. The same element width on another machine beats
 * another width on this one: block-scaled types do not behave like a plain product. Ties go to the constants fitted
 * to more rows. */
static int suits(const struct model_constants *constants, const struct described *what, const char *machine,
                 bool is_product)
{
    if (!is(constants->family, what->family) ||
        (!is_product && !is(constants->machine, machine))) /* data sheets beat constants of other cards */
        return 0;
    return 1 + 16 * (bits_of(constants->type) == bits_of(what->type)) + 8 * is(constants->type, what->type) +
           4 * is(constants->machine, machine) + 2 * is(constants->scales, what->scales);
}
enum { SUITS_WHOLLY = 1 + 16 + 8 + 4 + 2 };

static const struct model_constants *constants_of(int *quality, const struct models *models,
                                                  const struct described *what, const char *machine, bool is_product)
{
    const struct model_constants *best = NULL;
    *quality = 0;
    for (size_t k = 0; k < models->count; k++) {
        const int suit = suits(&models->items[k], what, machine, is_product);
        if (suit < *quality || !suit || (suit == *quality && models->items[k].rows <= best->rows))
            continue;
        *quality = suit;
        best = &models->items[k];
    }
    return best;
}

/* Without fitted constants: data-sheet rates and a typical launch. */
static const struct model_constants raw_constants = {
    .values = {[CONSTANT_MATRIX] = 1, [CONSTANT_MEMORY] = 1, [CONSTANT_LOAD] = 1, [CONSTANT_SPLIT_US] = 2},
};

/* ---- inputs of the formulas ---- */

static const struct machine_level *l2_of(const struct machine *machine)
{
    return &machine->levels[machine->level_count > 2 ? 1 : machine->level_count - 1];
}

static double f64_slots(const struct machine *machine)
{
    const struct machine_unit *unit = machine_unit(machine, "vector_f64");
    const double peak = unit ? ceiling_value(&unit->peak) : 0;
    return peak > 0 ? fmax(1, 2 * 64 * machine->cus * machine->core_hz / peak) : 2;
}

size_t family_inputs(const char **names, double *values, const struct family_input *of)
{
    static const struct described nothing;
    static const struct machine no_machine = {.level_count = 1};
    static const double no_values[CONSTANT_COUNT];
    static const struct described_machine nowhere = {.machine = &no_machine, .values = no_values};
    const struct described *what = of ? of->what : &nothing;
    const struct described_machine *on = of ? of->on : &nowhere;
    const struct machine *machine = on->machine;
    const struct machine_level *memory = &machine->levels[machine->level_count - 1];
    const struct machine_level *l2 = l2_of(machine);
    const double rate = on->raw ? ceiling_expected(&memory->bandwidth) : ceiling_value(&memory->bandwidth);
    struct gemm_tile tile = {0};
    const bool named = of && gemm_tile_of_name(&tile, what->kernel);
    const struct {
        const char *name;
        double value;
    } inputs[] = {{"has_tile", named},
                  {"named_tile_m", tile.m},
                  {"named_tile_n", tile.n},
                  /* Rates are per microsecond, to match sizes in bytes and FLOP. */
                  {"cus", machine->cus},
                  {"clock_mhz", machine->core_hz / 1e6},
                  {"idle_mhz", machine->idle_hz / 1e6},
                  {"clock_rise_us", machine->clock_rise_ns / 1e3},
                  {"wave", machine->wave ? machine->wave : 64},
                  {"f64_slots", f64_slots(machine)},
                  {"l1_bytes", machine->levels[0].capacity_bytes / fmax(1, machine->cus)},
                  {"l2_bytes_us", ceiling_expected(&l2->bandwidth) / 1e6},
                  {"l2_latency_us", l2->latency_ns / 1e3},
                  {"memory_bytes_us", rate / 1e6},
                  {"memory_latency_us", memory->latency_ns / 1e3},
                  {"peak_us", on->peak_us},
                  {"matrix_share", on->values[CONSTANT_MATRIX]},
                  {"memory_share", on->values[CONSTANT_MEMORY]},
                  {"load_share", on->values[CONSTANT_LOAD]},
                  {"launch_us", on->values[CONSTANT_LAUNCH_US]},
                  {"tile_us", on->values[CONSTANT_TILE_US]},
                  {"split_us", on->values[CONSTANT_SPLIT_US]}};
    size_t count = 0;
    FOR_EACH(const struct record_field, field, launch_fields, COUNT_OF(launch_fields)) {
        const char *at = (const char *)what + field->offset - offsetof(struct described_launch, what);
        if (field->kind != RECORD_F64 && field->kind != RECORD_BOOL)
            continue;
        if (names)
            names[count] = field->key;
        if (values)
            values[count] = field->kind == RECORD_F64 ? *(const double *)(const void *)at : *(const bool *)at;
        count++;
    }
    for (size_t k = 0; k < COUNT_OF(inputs); k++, count++) {
        if (names)
            names[count] = inputs[k].name;
        if (values)
            values[count] = inputs[k].value;
    }
    return count;
}

/* Returns the peak of the unit that executes the type, per microsecond; 0 if unknown. */
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

struct described described_product(enum dtype in, enum dtype out, const double bmnk[4])
{
    const bool fp8 = text_starts(dtype_name(in), "e4m3") || text_starts(dtype_name(in), "e5m2");
    return (struct described){.family = "gemm",
                              .op = "",
                              .type = fp8 ? "fp8" : dtype_name(in), /* constants have one entry for both fp8 formats */
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

static double memory_rate(const struct machine *machine)
{
    return ceiling_value(&machine->levels[machine->level_count - 1].bandwidth);
}

/* Returns the least time for these FLOPs and bytes. */
static double least_ns(const struct described *what, const struct machine *machine, double peak_us, double flops,
                       double bytes)
{
    for (uint32_t k = 0; k + 1 < machine->level_count && !what->cold; k++)
        bytes -= machine->levels[k].capacity_bytes;
    const double rate = memory_rate(machine);
    return fmax(peak_us > 0 ? flops / peak_us * 1e3 : 0, rate > 0 ? fmax(0, bytes) / rate * 1e9 : 0);
}

double described_least_ns(const struct described *what, const struct machine *machine, const struct models *models)
{
    double slots[FAMILY_NAMES];
    char unit[MACHINE_NAME];
    const struct family *family = family_find(models->families, what->family);
    const struct described_machine on = {.machine = machine, .values = raw_constants.values};
    if (!family)
        return 0;
    family_start(slots, family, what, &on);
    return least_ns(what, machine, family->multiplies ? matrix_peak_us(unit, machine, what->type) : 0,
                    family_value(family->flops, slots), family_value(family->bytes, slots));
}

/* Sets the roofline's bound, whichever term of the prediction is largest: memory or the unit, by the vendor's peaks;
 * launch if an empty launch takes more than this share of the time. */
#define LAUNCH_SHARE 0.4

bool describe_predict(struct prediction *prediction, const struct described *what, const struct machine *machine,
                      const struct models *models, bool raw)
{
    double slots[FAMILY_NAMES];
    char unit[MACHINE_NAME] = "";
    int quality = 0;
    const struct family *family = family_find(models->families, what->family);
    *prediction = (struct prediction){.method = "description"};
    if (!family || !(machine->cus > 0) || !(machine->core_hz > 0) || !(memory_rate(machine) > 0) ||
        !(ceiling_expected(&l2_of(machine)->bandwidth) > 0))
        return false;
    const struct model_constants *found =
        raw ? NULL : constants_of(&quality, models, what, machine->name, family->is_product);
    struct model_constants constants = found ? *found : raw_constants;
    const double peak_us = family->multiplies ? matrix_peak_us(unit, machine, what->type) : 0;
    if (!found) {
        constants.spread = family->spread;
        constants.values[CONSTANT_LAUNCH_US] = machine->launch_ns > 0 ? machine->launch_ns / 1e3 / 2 : 2;
    }
    const struct described_machine on = {
        .machine = machine, .raw = !found, .peak_us = peak_us, .values = constants.values};
    if (!family->is_product)
        snprintf(unit, sizeof(unit), "vector_f32");
    family_start(slots, family, what, &on);
    if ((family->is_product && !(peak_us > 0)) || !family_predict(prediction, family, slots))
        return false;
    if (found && quality < SUITS_WHOLLY) {
        /* constants of another machine or type: the interval is squared as a ratio */
        constants.spread.low *= constants.spread.low;
        constants.spread.high *= constants.spread.high;
        snprintf(prediction->constants, sizeof(prediction->constants), "%s %s on %s", found->family, found->type,
                 found->machine);
        prediction_note(prediction, "constants of %s", prediction->constants);
    }
    const double flops = family_value(family->flops, slots), bytes = family_value(family->bytes, slots);
    const double least = least_ns(what, machine, peak_us, flops, bytes);
    if (prediction->time_ns < least) { /* the shares were fitted to small shapes */
        prediction->time_ns = least;
        prediction_note(prediction, "the least that the machine's peaks allow: what was fitted would be faster");
    }
    const struct machine_unit *used = machine_unit(machine, unit);
    const double peak = used ? ceiling_value(&used->peak) : 0;
    const bool by_memory = bytes / memory_rate(machine) >= (peak > 0 ? flops / peak : 0);
    snprintf(prediction->bound, sizeof(prediction->bound), "%s",
             machine->launch_ns > LAUNCH_SHARE * prediction->time_ns ? "launch"
             : by_memory                                             ? machine->levels[machine->level_count - 1].name
                                                                     : unit);
    prediction_finish(prediction, machine, unit, constants.spread);
    return true;
}
