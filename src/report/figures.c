/* SPDX-License-Identifier: MIT
 *
 * The figures of a case: one row of the table below each, for CSV by its key and for people by its title.
 */
#include <math.h>
#include <string.h>

#include "report_internal.h"

struct reading {
    const struct result *result; /* NULL: only the case is known */
    const struct result_case *c;
    struct arena *arena;
};

const struct flag_words flag_words[] = {
    {FLAG_IMPOSSIBLE, "impossible", "faster than a physical peak allows, so the work, the peak or the clock is wrong"},
    {FLAG_CEILING_RAISED, "ceiling_raised",
     "faster than the measured ceiling: both were measured again, and the ceiling was lifted"},
    {FLAG_INTERFERENCE, "interference",
     "the machine's calibration rates moved over 5 % meanwhile (a neighbour, or a clock)"},
    {FLAG_THROTTLED, "throttled", "the clock fell meanwhile, held back by a power or temperature limit"},
    {FLAG_LAUNCH_BOUND, "launch_bound", "an empty launch alone takes over 5 % of the time"},
    {FLAG_PROFILED, "profiled", "one launch marked for a profiler: not a measurement"},
    {0, NULL, NULL},
};

const char *plain_id(struct arena *arena, const struct result_case *c)
{
    return arena_strndup(arena, c->id, result_id_length(c->id));
}

const char *case_name(const struct result_case *c)
{
    return c->label && *c->label ? c->label : c->id;
}

/* Bytes over time say nothing about a chain of dependent loads or an empty launch. */
static bool is_latency(const struct result_case *c)
{
    return !strcmp(c->class, "latency") || !strcmp(c->class, "launch");
}

/* ---- figures ---- */

static struct cell label(const struct reading *r)
{
    return cell_text(case_name(r->c));
}

static struct cell timer(const struct reading *r)
{
    return cell_text(r->c->sample_count ? timer_name(r->c->timer) : NULL);
}

static struct cell status(const struct reading *r)
{
    return cell_text(case_status_name(r->c->status));
}

static struct cell spread(const struct reading *r)
{
    return cell_number((r->c->stats.ci95[1] - r->c->stats.ci95[0]) / 2 / r->c->stats.median);
}

static struct cell each(const struct reading *r)
{
    const struct cell time = cell_quantity(r->c->stats.median / r->c->work.items, UNIT_TIME);
    return cell_text(arena_printf(r->arena, "%s each", cell_words(&time, NULL, r->arena)));
}

/* The rate that its bound is about: arithmetic where that bounds it, else bytes, else time per item. */
static struct cell rate(const struct reading *r)
{
    const struct result_case *c = r->c;
    const bool compute = c->lower_bound.bound[0] ? !c->lower_bound.bound_is_memory : !strcmp(c->class, "compute");
    const bool bytes = c->bytes_per_s > 0 && isfinite(c->bytes_per_s), flops = c->flops_per_s > 0;
    if (c->work.item[0] && c->work.items > 0)
        return cell_quantity(c->items_per_s, arena_printf(r->arena, "%s/s", c->work.item));
    if (!strcmp(c->class, "latency") && c->work.items > 1)
        return each(r);
    if (flops && (compute || !bytes))
        return cell_quantity(c->flops_per_s, machine_unit_rate(c->work.unit));
    if (bytes)
        return cell_quantity(c->bytes_per_s, UNIT_BYTE_RATE);
    return c->work.items > 1 ? each(r) : (struct cell){.kind = CELL_ABSENT};
}

static struct cell intensity(const struct reading *r)
{
    struct cell cell = cell_number(r->c->lower_bound.intensity);
    cell.text = r->c->work.flops > 0 ? NULL : "-";
    return cell;
}

static struct cell shown_bound(const struct reading *r)
{
    return cell_known(is_latency(r->c) ? r->c->class : r->c->lower_bound.bound);
}

static struct cell fraction(const struct reading *r)
{
    struct cell cell = cell_positive(r->c->fraction);
    cell.text = is_latency(r->c) ? "-" : NULL;
    cell.tone = r->c->fraction >= 0.8 && !cell.text ? TONE_GOOD : TONE_PLAIN;
    return cell;
}

static struct cell verified(const struct reading *r)
{
    const struct verification *v = &r->c->verification;
    return v->verdict == VERIFY_FAIL   ? cell_toned("WRONG", TONE_BAD)
           : v->verdict == VERIFY_PASS ? cell_text(v->method)
                                       : cell_unknown(NULL);
}

static struct cell verification(const struct reading *r)
{
    return cell_text(verdict_name(r->c->verification.verdict));
}

/* What its hot loop mostly holds, "v_fma_f32 97%". */
static struct cell hot_loop(const struct reading *r)
{
    const struct result_code *code = &r->c->code;
    return cell_text(code->loop_instruction && *code->loop_instruction
                         ? arena_printf(r->arena, "%.40s %.0f%%", code->loop_instruction, code->loop_share * 100)
                         : "");
}

static struct cell flags(const struct reading *r)
{
    const char *words = "";
    for (const struct flag_words *flag = flag_words; flag->flag; flag++)
        if (r->c->flags & flag->flag)
            words = *words ? arena_printf(r->arena, "%s,%s", words, flag->name) : flag->name;
    return cell_toned(words, r->c->flags & FLAG_IMPOSSIBLE ? TONE_BAD : TONE_DOUBT);
}

static struct cell kind(const struct reading *r)
{
    return r->result ? cell_text(r->result->predicted ? "predicted" : "measured") : cell_unknown(NULL);
}

static struct cell device(const struct reading *r)
{
    return r->result ? cell_text(r->result->device.name) : cell_unknown(NULL);
}

/* Members of the case; KNOWN: unless it is 0 or "". */
#define OF_CASE(member) FIELD(struct result_case, member)
#define KNOWN(member) .flags = COLUMN_OPTIONAL, OF_CASE(member)

static const struct figure {
    struct table_column column;
    struct cell (*read)(const struct reading *r); /* NULL: the column is a field */
    bool measured;                                /* says something only of a case that was measured */
} figures[] = {
    {.column = {.title = "case", .flags = COLUMN_GROUP}, .read = label},
    {.column = {.key = "id", OF_CASE(id)}},
    {.column = {.key = "kernel", OF_CASE(kernel)}},
    {.column = {.key = "timer"}, .read = timer},
    {.column = {.key = "status"}, .read = status},
    {.column = {.key = "batch", OF_CASE(batch)}},
    {.column = {.key = "median_ns", .title = "time", .unit = UNIT_TIME, KNOWN(stats.median)}, .measured = true},
    {.column = {.title = "\u00b195%", .unit = UNIT_SPREAD, .drop = 3}, .read = spread, .measured = true},
    {.column = {.key = "n", .title = "samples", .unit = UNIT_COUNT, .flags = COLUMN_VERBOSE, OF_CASE(sample_count)}},
    {.column = {.key = "ci95_low_ns", KNOWN(stats.ci95[0])}, .measured = true},
    {.column = {.key = "ci95_high_ns", KNOWN(stats.ci95[1])}, .measured = true},
    {.column = {.key = "min_ns", KNOWN(stats.min)}, .measured = true},
    {.column = {.key = "max_ns", KNOWN(stats.max)}, .measured = true},
    {.column = {.title = "rate", .unit = UNIT_NUMBER}, .read = rate, .measured = true},
    {.column = {.key = "bytes_per_s", KNOWN(bytes_per_s)}},
    {.column = {.key = "flops_per_s", KNOWN(flops_per_s)}},
    {.column = {.key = "items_per_s", KNOWN(items_per_s)}},
    {.column = {.key = "intensity", .title = "FLOP/B", .unit = UNIT_INTENSITY, .drop = 2}, .read = intensity},
    {.column = {.key = "lower_bound_ns",
                .title = "lower bound",
                .unit = UNIT_TIME,
                .flags = COLUMN_OPTIONAL | COLUMN_VERBOSE,
                OF_CASE(lower_bound.time_ns)}},
    {.column = {.title = "bound", .drop = 4}, .read = shown_bound},
    {.column = {.key = "bound", KNOWN(lower_bound.bound)}},
    {.column = {.key = "fraction_of_ceiling", .title = "% of ceiling", .unit = UNIT_SHARE}, .read = fraction},
    {.column = {.key = "predicted_ns", KNOWN(predicted_ns)}},
    {.column = {.key = "overhead_ns", KNOWN(overhead_ns)}},
    {.column = {.title = "verified"}, .read = verified},
    {.column = {.key = "verification"}, .read = verification},
    {.column = {.key = "method", OF_CASE(verification.method)}},
    {.column = {.title = "hot loop", .flags = COLUMN_VERBOSE}, .read = hot_loop},
    {.column = {.key = "flags", .title = "", .flags = COLUMN_INITIALS, .drop = 1}, .read = flags},
    {.column = {.key = "kind"}, .read = kind},
    {.column = {.key = "device"}, .read = device},
    {.column = {.key = "reason", OF_CASE(reason)}},
};
enum { FIGURES = sizeof(figures) / sizeof(*figures), PARAMS_AT = 3 };

static struct cell read_figure(const struct figure *figure, const struct reading *r)
{
    if (figure->measured && !r->c->sample_count)
        return cell_unknown(NULL);
    return figure->read ? figure->read(r) : column_cell(&figure->column, r->c);
}

static const struct figure *figure_named(const char *name)
{
    for (size_t k = 0; k < FIGURES; k++) {
        const struct table_column *column = &figures[k].column;
        if ((column->key && !strcmp(column->key, name)) || (column->title && !strcmp(column->title, name)))
            return &figures[k];
    }
    return &figures[0];
}

const char *figure_words(const char *name, const struct result_case *c, struct arena *arena)
{
    const struct figure *figure = figure_named(name);
    const struct cell cell = read_figure(figure, &(struct reading){.c = c, .arena = arena});
    return cell_words(&cell, &figure->column, arena);
}

double figure_value(const char *name, const struct result_case *c)
{
    struct arena arena = {0};
    const struct cell cell = read_figure(figure_named(name), &(struct reading){.c = c, .arena = &arena});
    arena_release(&arena);
    return cell.kind == CELL_NUMBER ? cell.value : NAN;
}

/* ---- the table ---- */

/* Names of parameters in the order in which cases have them. */
static size_t param_names(const char ***names, const struct result *result, struct arena *arena)
{
    size_t count = 0, room = 0;
    for (size_t k = 0; k < result->case_count; k++)
        room += k && result->cases[k].params == result->cases[k - 1].params ? 0 : result->cases[k].param_count;
    *names = arena_array(arena, room + 1, sizeof(**names));
    for (size_t k = 0; k < result->case_count; k++)
        for (size_t p = 0; p < result->cases[k].param_count; p++) {
            size_t at = 0;
            while (at < count && strcmp((*names)[at], result->cases[k].params[p].name) != 0)
                at++;
            if (at == count)
                (*names)[count++] = result->cases[k].params[p].name;
        }
    return count;
}

static struct cell param_cell(const struct result_case *c, const char *name, struct arena *arena)
{
    for (size_t p = 0; p < c->param_count; p++)
        if (!strcmp(c->params[p].name, name))
            return cell_text(param_text(arena, &c->params[p].value));
    return (struct cell){.kind = CELL_ABSENT};
}

static void set(struct table_row *row, const struct table *table, const char *key, struct cell cell)
{
    for (size_t k = 0; k < table->column_count; k++)
        if (table->columns[k].key && !strcmp(table->columns[k].key, key))
            row->cells[k] = cell;
}

/* A key figure has a value and a unit, and none of what a case has. */
static void add_kpis(struct table *table, const struct result *result, struct arena *arena)
{
    for (size_t k = 0; k < result->kpi_count; k++) {
        const struct result_kpi *kpi = &result->kpis[k];
        struct table_row *row = table_add(table, NULL);
        set(row, table, "id", cell_text(arena_printf(arena, "kpi/%s", kpi->name)));
        set(row, table, "status", cell_text(isfinite(kpi->value) ? "ok" : "none"));
        set(row, table, "kind", cell_text(result->predicted ? "predicted" : "measured"));
        set(row, table, "device", cell_text(result->device.name));
        set(row, table, "reason", cell_text(kpi->reason));
        set(row, table, "value", cell_number(kpi->value));
        set(row, table, "unit", cell_text(kpi->unit));
    }
}

/* Why a row has no figures, or impossible ones; what was said of the row above it is not said again. */
static const char *note(const struct result *result, size_t k, struct arena *arena)
{
    const struct result_case *c = &result->cases[k], *before = k ? c - 1 : NULL;
    const bool broken = c->status != CASE_OK;
    if (!c->reason || !c->reason[0] || !(broken || c->flags & FLAG_IMPOSSIBLE))
        return NULL;
    const bool again = before && before->status == c->status && before->reason && !strcmp(before->reason, c->reason);
    return again ? "for the same reason" : broken ? c->reason : arena_printf(arena, "impossible: %s", c->reason);
}

static struct cell instead(const struct result_case *c, struct arena *arena)
{
    const bool harmless = c->status == CASE_SKIPPED || c->status == CASE_OK;
    const char *words = c->status == CASE_OK ? figure_words("verified", c, arena) : case_status_name(c->status);
    const char *flags = figure_words("flags", c, arena);
    return cell_toned(*flags ? arena_printf(arena, "%s  %s", words, flags) : words, harmless ? TONE_DIM : TONE_BAD);
}

struct table *figures_table(const struct result *result, bool kpis, struct arena *arena)
{
    const char **params = NULL;
    const size_t param_count = param_names(&params, result, arena), count = FIGURES + param_count + 2;
    struct table_column *columns = arena_array(arena, count, sizeof(*columns));
    for (size_t k = 0; k < FIGURES; k++)
        columns[k < PARAMS_AT ? k : k + param_count] = figures[k].column;
    for (size_t k = 0; k < param_count; k++)
        columns[PARAMS_AT + k].key = arena_printf(arena, "param_%s", params[k]);
    columns[count - 2].key = "value";
    columns[count - 1].key = "unit";
    struct table *table = table_new(arena, columns, count);
    for (size_t k = 0; k < result->case_count; k++) {
        const struct reading r = {result, &result->cases[k], arena};
        struct table_row *row = table_add(table, NULL);
        for (size_t f = 0; f < FIGURES; f++)
            row->cells[f < PARAMS_AT ? f : f + param_count] = read_figure(&figures[f], &r);
        for (size_t p = 0; p < param_count; p++)
            row->cells[PARAMS_AT + p] = param_cell(r.c, params[p], arena);
        row->note = note(result, k, arena);
        if (r.c->status != CASE_OK || !r.c->sample_count)
            row->instead = instead(r.c, arena);
    }
    if (kpis)
        add_kpis(table, result, arena);
    return table;
}
