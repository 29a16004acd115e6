/* SPDX-License-Identifier: MIT
 *
 * The figures of a case. Each is one row of the table below: its key names it in CSV, its title for people.
 */

#include "picture.h"
#include "report_internal.h"
#include "rooftile/forecast.h"

struct reading {
    const struct result_case *c;
    const struct result *result; /* NULL: the case was passed without its result */
    struct arena *arena;
    bool arithmetic; /* the kernel's rate is an arithmetic rate */
    uint32_t common; /* flags of all cases: people read them once, below the table */
};

const struct flag_words flag_words[] = {
    {FLAG_IMPOSSIBLE, "impossible", "faster than a physical peak allows, so the work, the peak or the clock is wrong"},
    {FLAG_CEILING_RAISED, "ceiling_raised",
     "faster than the measured ceiling: both were measured again, and the ceiling was lifted"},
    {FLAG_INTERFERENCE, "interference",
     "the machine's calibration rates moved over 5 % meanwhile (a neighbour, or a clock)"},
    {FLAG_THROTTLED, "throttled", "the clock fell meanwhile, held back by a power or temperature limit"},
    {FLAG_LAUNCH_BOUND, "launch_bound", "an empty launch alone takes over 5 % of the time"},
    {FLAG_NO_CEILING, "no_ceiling",
     "the machine file has no peak of an arithmetic unit that it uses: % of roof leaves that out"},
    {FLAG_PROFILED, "profiled", "one launch marked for a profiler: not a measurement"},
    {FLAG_FIBERS, "fibers",
     "a kernel that waits (barriers, wave operations) runs its work-items as fibers here: right, but its time says "
     "little about it"},
    {FLAG_EMULATED, "emulated", "an emulator executed it: verified like any other, but its time means nothing"},
    {0, NULL, NULL},
};

const char *plain_id(struct arena *arena, const struct result_case *c)
{
    return arena_strndup(arena, c->id, result_id_length(c->id));
}

/* ---- figures ---- */

static struct cell label(const struct reading *r)
{
    return cell_text(case_name(r->c));
}

static struct cell timer(const struct reading *r)
{
    return cell_text(result_case_timed(r->c) ? timer_names[r->c->timer] : NULL);
}

static struct cell status(const struct reading *r)
{
    return cell_text(case_status_names[r->c->status]);
}

static struct cell time_of(const struct reading *r)
{
    if (!result_case_timed(r->c))
        return cell_unknown(NULL);
    return r->c->timer == TIMED_SIM ? cell_predicted(result_case_time(r->c), r->c->prediction.method, r->arena)
                                    : cell_positive(result_case_time(r->c));
}

static struct cell predicted(const struct reading *r)
{
    return cell_predicted(r->c->prediction.time_ns, r->c->prediction.method, r->arena);
}

static struct cell interval(const struct reading *r)
{
    const struct result_interval in = result_case_interval(r->c);
    return result_case_timed(r->c) ? cell_range(in.low_ns, in.high_ns) : cell_unknown(NULL);
}

static struct cell spread(const struct reading *r)
{
    if (r->c->sample_count < 2) /* one sample has no spread */
        return cell_unknown(NULL);
    return cell_number((r->c->stats.ci95[1] - r->c->stats.ci95[0]) / 2 / r->c->stats.median);
}

static struct cell each(const struct reading *r)
{
    return cell_text(arena_printf(r->arena, "%s each",
                                  quantity_words(result_case_time(r->c) / r->c->work.items, UNIT_TIME, r->arena)));
}

/* A kernel's rate is arithmetic if arithmetic bounds at least one case of a compute kernel, or all cases of any
 * other. */
static bool is_arithmetic(const struct result_case *cases, size_t count, const char *kernel)
{
    size_t of_kernel = 0, arithmetic = 0;
    bool compute = false;
    FOR_EACH(const struct result_case, c, cases, count) {
        if (!result_case_timed(c) || strcmp(c->kernel, kernel) != 0)
            continue;
        compute = !strcmp(c->class, "compute");
        of_kernel++;
        arithmetic += c->lower_bound.ceiling_name[0] ? !c->lower_bound.bound_is_memory : compute;
    }
    return arithmetic && (compute || arithmetic == of_kernel);
}

/* Operations or bytes per second, the same for all rows of a kernel; otherwise time per item. */
static struct cell rate(const struct reading *r)
{
    const struct result_case *c = r->c;
    const bool bytes = c->bytes_per_s > 0 && isfinite(c->bytes_per_s), flops = c->flops_per_s > 0;
    if (!result_case_timed(c))
        return cell_unknown(NULL);
    if (c->work.item[0] && c->work.items > 0)
        return cell_quantity(c->items_per_s, arena_printf(r->arena, "%s/s", c->work.item));
    if (!strcmp(c->class, "latency") && c->work.items > 1)
        return each(r);
    if (!strcmp(c->lower_bound.ceiling_name, TRANSCENDENTAL_UNIT) && c->work.transcendentals > 0)
        return cell_quantity(result_at_time(c, "transcendentals_per_s", result_case_time(c)),
                             machine_unit_rate(TRANSCENDENTAL_UNIT));
    if (flops && (r->arithmetic || !bytes))
        return cell_quantity(c->flops_per_s, machine_unit_rate(c->work.unit));
    if (bytes)
        return cell_quantity(c->bytes_per_s, UNIT_BYTE_RATE);
    return c->work.items > 1 ? each(r) : cell_absent();
}

static struct cell intensity(const struct reading *r)
{
    struct cell cell = cell_number(r->c->lower_bound.intensity);
    cell.text = r->c->work.flops > 0 ? NULL : "-";
    return cell;
}

static struct cell fraction(const struct reading *r)
{
    struct cell cell = cell_positive(r->c->fraction);
    cell.text = result_is_latency(r->c) ? "-" : NULL;
    cell.tone = r->c->fraction >= 0.8 && !cell.text ? TONE_GOOD : TONE_PLAIN;
    return cell;
}

/* Only suites made from a trace fill this column. */
static struct cell traced(const struct reading *r)
{
    struct cell cell = cell_positive(r->c->traced_ns);
    cell.text = cell.kind == CELL_NUMBER ? NULL : "";
    return cell;
}

/* "exact", "1e-6", "5 %", and whether only sampled elements were checked. Older results have the method only. */
static const char *how_verified(const struct verification *v, struct arena *arena)
{
    const bool sampled = strcmp(v->method, "expect") != 0 && strcmp(v->method, "reference") != 0;
    const double t = v->tolerance;
    const int power = t > 0 ? (int)ceil(log10(t) - 1e-9) : 0;
    const char *how = isnan(t)   ? v->method
                      : t <= 0   ? "exact"
                      : t > 0.01 ? arena_printf(arena, "%.2g %%", t * 100)
                                 : arena_printf(arena, "1e%d", power);
    return sampled && !isnan(t) ? arena_printf(arena, "%s, %s", how, v->method) : how;
}

static struct cell verified(const struct reading *r)
{
    const struct verification *v = &r->c->verification;
    return v->verdict == VERIFY_FAIL ? cell_toned("WRONG", TONE_BAD)
           : v->verdict == VERIFY_PASS
               ? cell_toned(how_verified(v, r->arena), v->tolerance > WIDE_TOLERANCE ? TONE_DOUBT : TONE_PLAIN)
               : cell_unknown(NULL);
}

static struct cell verification(const struct reading *r)
{
    return cell_text(verdict_names[r->c->verification.verdict]);
}

static struct cell tolerance_used(const struct reading *r)
{
    return cell_number(r->c->verification.verdict == VERIFY_PASS ? r->c->verification.tolerance_used : NAN);
}

/* The most frequent instruction of the hot loop, "v_fma_f32 97 %". */
static struct cell hot_loop(const struct reading *r)
{
    const struct result_code *code = &r->c->code;
    return cell_text(
        code->loop_instruction && *code->loop_instruction
            ? arena_printf(r->arena, "%.40s %s", code->loop_instruction, percent_words(code->loop_share, r->arena))
            : "");
}

static struct cell flags_between(const struct reading *r, uint32_t shown, const char *separator)
{
    const char *words = "";
    for (const struct flag_words *flag = flag_words; flag->flag; flag++)
        if (r->c->flags & shown & flag->flag)
            words = *words ? arena_printf(r->arena, "%s%s%s", words, separator, flag->name) : flag->name;
    struct cell cell = cell_toned(words, r->c->flags & FLAG_IMPOSSIBLE ? TONE_BAD : TONE_DOUBT);
    cell.reason = *words ? r->c->reason : NULL;
    return cell;
}

static struct cell flags(const struct reading *r)
{
    return flags_between(r, UINT32_MAX, ",");
}

static struct cell flags_listed(const struct reading *r)
{
    return flags_between(r, ~(r->common & ~(uint32_t)FLAG_IMPOSSIBLE), ", ");
}

static struct cell kind(const struct reading *r)
{
    return cell_text(r->result ? result_kind(r->result) : "measured");
}

static struct cell device(const struct reading *r)
{
    return cell_text(r->result ? r->result->device.name : NULL);
}

/* Members of the case; KNOWN members are omitted if they are 0 or "". */
#define OF_CASE(member) FIELD(struct result_case, member)
#define KNOWN(member) .flags = COLUMN_OPTIONAL, OF_CASE(member)

static const struct figure {
    struct table_column column;
    struct cell (*read)(const struct reading *r);     /* NULL: the column is a field */
    enum { OF_ANY, OF_MEASURED, OF_PREDICTED } shown; /* to people: in tables of such results */
} figures[] = {
    {.column = {.title = "case", .flags = COLUMN_GROUP}, .read = label},
    {.column = {.key = "id", OF_CASE(id)}},
    {.column = {.key = "kernel", OF_CASE(kernel)}},
    {.column = {.key = "timer"}, .read = timer},
    {.column = {.key = "status"}, .read = status},
    {.column = {.key = "batch", KNOWN(batch)}},
    {.column = {.title = "time", .unit = UNIT_TIME}, .read = time_of},
    {.column = {.title = "80 % interval", .unit = UNIT_TIME}, .read = interval, .shown = OF_PREDICTED},
    {.column = {.key = "median_ns", KNOWN(stats.median)}},
    {.column = {.title = "\u00b195 %", .unit = UNIT_PERCENT}, .read = spread, .shown = OF_MEASURED},
    {.column = {.key = "n",
                .title = "samples",
                .unit = UNIT_COUNT,
                .flags = COLUMN_OPTIONAL | COLUMN_VERBOSE,
                OF_CASE(sample_count)},
     .shown = OF_MEASURED},
    {.column = {.key = "ci95_low_ns", KNOWN(stats.ci95[0])}},
    {.column = {.key = "ci95_high_ns", KNOWN(stats.ci95[1])}},
    {.column = {.key = "min_ns", KNOWN(stats.min)}},
    {.column = {.key = "max_ns", KNOWN(stats.max)}},
    {.column = {.title = "rate", .unit = UNIT_NUMBER}, .read = rate},
    {.column = {.key = "bytes_per_s", KNOWN(bytes_per_s)}},
    {.column = {.key = "flops_per_s", KNOWN(flops_per_s)}},
    {.column = {.key = "items_per_s", KNOWN(items_per_s)}},
    {.column = {.key = "intensity", .title = "FLOP/B", .unit = UNIT_INTENSITY, .drop = 3}, .read = intensity},
    {.column = {.key = "lower_bound_ns",
                .title = "lower bound",
                .unit = UNIT_TIME,
                .flags = COLUMN_OPTIONAL | COLUMN_VERBOSE,
                OF_CASE(lower_bound.time_ns)}},
    {.column = {.key = "weight", KNOWN(weight)}},
    {.column = {.key = "traced_ns", .title = "traced", .unit = UNIT_TIME, OF_CASE(traced_ns)}, .read = traced},
    {.column = {.key = "bound", .title = "bound", .drop = 6, KNOWN(lower_bound.bound)}},
    {.column =
         {.key = "fraction_of_ceiling", .title = "% of roof", .unit = UNIT_PERCENT, .flags = COLUMN_BAR, .drop = 9},
     .read = fraction},
    {.column = {.key = "predicted_ns", .title = "predicted", .unit = UNIT_TIME, .drop = 4},
     .read = predicted,
     .shown = OF_MEASURED},
    {.column = {.key = "predicted_low_ns", KNOWN(prediction.low_ns)}},
    {.column = {.key = "predicted_high_ns", KNOWN(prediction.high_ns)}},
    {.column = {.key = "predicted_by", KNOWN(prediction.method)}},
    {.column = {.key = "limiter", .title = "limited by", .drop = 1, KNOWN(prediction.limiter)}},
    {.column = {.key = "prediction_error", .title = "error", .unit = UNIT_CHANGE, .drop = 2, OF_CASE(predicted_error)},
     .shown = OF_MEASURED},
    {.column = {.key = "overhead_ns", KNOWN(overhead_ns)}},
    {.column = {.title = "verified", .drop = 5}, .read = verified, .shown = OF_MEASURED},
    {.column = {.key = "verification"}, .read = verification},
    {.column = {.key = "method", OF_CASE(verification.method)}},
    {.column =
         {.key = "tolerance_used", .title = "tolerance used", .unit = UNIT_PERCENT, .flags = COLUMN_VERBOSE, .drop = 2},
     .read = tolerance_used},
    {.column = {.key = "not_checked", OF_CASE(verification.not_checked)}},
    {.column = {.title = "hot loop", .flags = COLUMN_VERBOSE}, .read = hot_loop},
    {.column = {.key = "flags"}, .read = flags},
    {.column = {.title = "flags", .flags = COLUMN_INITIALS, .drop = 3}, .read = flags_listed},
    {.column = {.key = "kind"}, .read = kind},
    {.column = {.key = "device"}, .read = device},
    {.column = {.key = "reason", OF_CASE(reason)}},
};
enum { FIGURES = COUNT_OF(figures), PARAMS_AT = 3 };

static struct cell read_figure(const struct figure *figure, const struct reading *r)
{
    return figure->read ? figure->read(r) : column_cell(&figure->column, r->c);
}

static const struct figure *figure_find(const char *name)
{
    for (size_t k = 0; k < FIGURES; k++) {
        const struct table_column *column = &figures[k].column;
        if ((column->key && !strcmp(column->key, name)) || (column->title && !strcmp(column->title, name)))
            return &figures[k];
    }
    return NULL;
}

bool figure_known(const char *name)
{
    return figure_find(name) != NULL;
}

size_t figure_names(const char ***names, struct arena *arena)
{
    size_t count = 0;
    *names = NULL;
    for (size_t k = 0; k < FIGURES; k++) {
        if (figures[k].column.title && *figures[k].column.title)
            ARENA_PUSH(arena, *names, count, figures[k].column.title);
        if (figures[k].column.key)
            ARENA_PUSH(arena, *names, count, figures[k].column.key);
    }
    return count;
}

/* True for rates and shares of a ceiling. */
bool figure_more_is_better(const char *name)
{
    const struct figure *figure = figure_find(name);
    return figure && (text_ends(name, "per_s") || figure->read == rate || figure->read == fraction);
}

static struct cell figure_of(const struct figure *figure, const struct result_case *c, struct arena *arena)
{
    return read_figure(figure, &(struct reading){c, NULL, arena, is_arithmetic(c, 1, c->kernel), 0});
}

const char *figure_words(const char *name, const struct result_case *c, struct arena *arena)
{
    const struct figure *figure = figure_find(name);
    const struct cell cell = figure_of(figure, c, arena);
    return cell_words(&cell, &figure->column, arena);
}

const char *case_said(const struct result_case *c, struct arena *arena)
{
    struct text said = {0};
    text_add(&said, said_name(case_name(c), arena));
    for (const struct figure *figure = figures + 1; figure < figures + FIGURES; figure++) {
        const bool other = figure->shown == (c->timer == TIMED_SIM ? OF_MEASURED : OF_PREDICTED);
        const struct cell cell = figure_of(figure, c, arena);
        const char *title = other ? NULL : figure->column.title, *words = cell_words(&cell, &figure->column, arena);
        if (title && *words && strcmp(words, "-") != 0)
            text_addf(&said, "\n%s%s%s", title, *title ? " " : "", words);
    }
    return text_take(&said, arena);
}

const char *time_words(const struct result_case *c, struct arena *arena)
{
    const char *time = figure_words("time", c, arena);
    return c->timer == TIMED_SIM ? arena_printf(arena, "%s (%s)", time, figure_words("80 % interval", c, arena))
                                 : arena_printf(arena, "%s \u00b1%s", time, figure_words("\u00b195 %", c, arena));
}

double figure_value(const char *name, const struct result_case *c)
{
    SCOPED(arena_release) struct arena arena = {0};
    const struct cell cell = figure_of(figure_find(name), c, &arena);
    return cell.kind == CELL_NUMBER ? cell.value : NAN;
}

/* ---- the table ---- */

/* Parameter names in order of first appearance. */
static size_t param_names(const char ***names, const struct result *result, struct arena *arena)
{
    size_t count = 0;
    *names = NULL;
    FOR_EACH(const struct result_case, c, result->cases, result->case_count)
        for (size_t p = 0; p < c->param_count; p++)
            if (!text_among(c->params[p].name, *names, count))
                ARENA_PUSH(arena, *names, count, c->params[p].name);
    return count;
}

/* Says why a row has no figures, impossible figures, or figures from a throttled clock; a reason that the row above
 * has already given is not repeated. Interference is reported in one sentence below the table. */
static const char *note(const struct result *result, size_t k, struct arena *arena)
{
    const struct result_case *c = &result->cases[k], *before = k ? c - 1 : NULL;
    const bool broken = c->status != CASE_OK;
    if (!c->reason || !c->reason[0] || !(broken || c->flags & (FLAG_IMPOSSIBLE | FLAG_THROTTLED | FLAG_CEILING_RAISED)))
        return NULL;
    const bool again = before && before->status == c->status && before->reason && !strcmp(before->reason, c->reason);
    return again                                   ? "for the same reason"
           : c->flags & FLAG_IMPOSSIBLE && !broken ? arena_printf(arena, "impossible: %s", c->reason)
                                                   : c->reason;
}

static struct cell instead(const struct result_case *c, struct arena *arena)
{
    const bool harmless = c->status == CASE_SKIPPED || c->status == CASE_OK;
    const char *words = c->status == CASE_OK ? figure_words("verified", c, arena) : case_status_names[c->status];
    const char *flags = figure_words("flags", c, arena);
    return cell_toned(*flags ? arena_printf(arena, "%s  %s", words, flags) : words, harmless ? TONE_DIM : TONE_BAD);
}

/* One entry per kernel. */
struct rates {
    struct kernel_rate {
        const char *kernel;
        bool arithmetic;
    } * items;
    size_t count;
};

static bool rate_of_kernel(struct rates *rates, const struct result *result, const char *kernel, struct arena *arena)
{
    const struct kernel_rate *known = FIND_ROW(rates->items, rates->count, kernel, kernel);
    if (known)
        return known->arithmetic;
    const bool arithmetic = is_arithmetic(result->cases, result->case_count, kernel);
    ARENA_PUSH(arena, rates->items, rates->count, (struct kernel_rate){kernel, arithmetic});
    return arithmetic;
}

struct table *figures_table(const struct result *result, struct arena *arena)
{
    const char **params = NULL;
    const size_t param_count = param_names(&params, result, arena);
    struct table_column *columns = arena_array(arena, FIGURES + param_count, sizeof(*columns));
    for (size_t k = 0; k < FIGURES; k++) {
        struct table_column *column = &columns[k < PARAMS_AT ? k : k + param_count];
        *column = figures[k].column;
        /* Predicted times are labelled as predicted; tables of predictions omit columns that only measurements have. */
        if (figures[k].shown == (result->predicted ? OF_MEASURED : OF_PREDICTED))
            column->title = NULL;
        if (result->predicted && figures[k].read == time_of)
            column->title = "predicted";
    }
    for (size_t k = 0; k < param_count; k++)
        columns[PARAMS_AT + k].key = arena_printf(arena, "param_%s", params[k]);
    struct table *table = table_new(arena, columns, FIGURES + param_count);
    struct cell *cells = arena_array(arena, table->column_count, sizeof(*cells));
    struct rates rates = {0};
    uint32_t common = result->case_count > 2 ? UINT32_MAX : 0;
    FOR_EACH(const struct result_case, c, result->cases, result->case_count)
        common &= c->status == CASE_OK && result_case_timed(c) ? c->flags : UINT32_MAX;
    for (size_t k = 0; k < result->case_count; k++) {
        const struct result_case *c = &result->cases[k];
        const bool arithmetic = rate_of_kernel(&rates, result, c->kernel, arena);
        for (size_t f = 0; f < FIGURES; f++)
            cells[f < PARAMS_AT ? f : f + param_count] =
                read_figure(&figures[f], &(struct reading){c, result, arena, arithmetic, common});
        for (size_t p = 0; p < param_count; p++) {
            const struct param_value *value = result_param(c, params[p]);
            cells[PARAMS_AT + p] = value ? cell_text(param_text(arena, value)) : cell_absent();
        }
        struct table_row *row = table_add(table, cells);
        row->note = note(result, k, arena);
        if (c->status == CASE_SKIPPED && c->reason && *c->reason) {
            row->family = c->kernel;
            row->note = c->reason;
        }
        if (c->status != CASE_OK || !result_case_timed(c))
            row->instead = instead(c, arena);
    }
    return table;
}
