/* SPDX-License-Identifier: MIT
 *
 * Tables of forecast cases for people: on one machine, on several machines, and a result's cases on other machines.
 */
#include "forecast_tables.h"
#include "picture.h"
#include "report_internal.h"

/* Marks our kernel where it replaces a kernel of the trace. */
static struct cell time_of(const struct forecast_case *c, struct arena *arena)
{
    struct cell cell = cell_predicted(c->prediction.time_ns, c->prediction.method, arena);
    if (c->is_ours && cell.kind == CELL_NUMBER)
        cell.text = arena_printf(arena, "*%s", cell.text ?: quantity_words(c->prediction.time_ns, UNIT_TIME, arena));
    return cell;
}

/* ---- one machine ---- */

struct table *forecast_one_machine(const struct forecast *forecast, struct arena *arena)
{
    static const struct table_column columns[] = {
        {.title = "case", .flags = COLUMN_GROUP},
        {.title = "predicted", .unit = UNIT_TIME},
        {.title = "80 % interval", .unit = UNIT_TIME},
        {.title = "bound", .drop = 5},
        {.title = "limited by", .drop = 3},
        {.title = "% of roof", .unit = UNIT_PERCENT},
        {.title = "FLOP/B", .unit = UNIT_INTENSITY, .drop = 2},
        {.title = "waves/SIMD", .unit = UNIT_NUMBER, .drop = 1},
        {.title = "worth speeding up", .drop = 4},
    };
    struct table *table = TABLE(arena, columns);
    FOR_EACH(const struct forecast_case, c, forecast->cases, forecast->count) {
        const struct prediction *p = &c->prediction;
        if (!(p->time_ns > 0)) {
            struct table_row *row = table_add(table, NULL);
            row->cells[0] = cell_text(c->plan_case->label);
            row->instead = cell_toned(c->reason ? c->reason : "not predicted", TONE_DIM);
            continue;
        }
        /* The term whose speedup would help most; the largest term need not be it, because others may overlap it. */
        enum prediction_term helps = TERM_LAUNCH;
        for (int k = 0; k < TERM_COUNT; k++)
            if (forecast_gain(p, (enum prediction_term)k) > forecast_gain(p, helps))
                helps = (enum prediction_term)k;
        const struct cell cells[] = {cell_text(c->plan_case->label),
                                     time_of(c, arena),
                                     cell_range(p->low_ns, p->high_ns),
                                     cell_text(c->plan_case->lower_bound.bound),
                                     cell_text(prediction_term_name(p->limiter)),
                                     cell_number(ceiling_share(c->plan_case, c->prediction.time_ns)),
                                     cell_number(c->plan_case->lower_bound.intensity),
                                     cell_positive(c->waves_per_simd),
                                     cell_text(arena_printf(arena, "%s, -%s", prediction_term_name(helps),
                                                            percent_words(forecast_gain(p, helps), arena)))};
        table_add(table, cells);
    }
    return table;
}

/* ---- several machines ---- */

static const struct forecast_case *case_of(const struct forecast *forecast, size_t asked)
{
    for (size_t k = 0; k < forecast->count; k++)
        if (forecast->cases[k].plan_case->asked == asked)
            return &forecast->cases[k];
    return NULL;
}

/* The harmonic mean of the shares of the ceilings; 0 if a machine cannot run the case (Pennycook, Sewall, Lee 2016). */
static double portability(const struct forecast *forecasts, size_t count, size_t asked)
{
    double inverse = 0;
    for (size_t k = 0; k < count; k++) {
        const struct forecast_case *c = case_of(&forecasts[k], asked);
        const double share = c ? ceiling_share(c->plan_case, c->prediction.time_ns) : NAN;
        if (c && c->prediction.time_ns > 0 && isnan(share))
            return NAN;
        if (!(share > 0))
            return 0;
        inverse += 1 / share;
    }
    return (double)count / inverse;
}

struct table *forecast_side_by_side(const struct forecast *forecasts, size_t count, struct arena *arena)
{
    struct table_column *columns = arena_array(arena, 2 * count + 2, sizeof(*columns));
    columns[0] = (struct table_column){.title = "case", .flags = COLUMN_GROUP};
    for (size_t k = 0; k < count; k++) {
        columns[1 + 2 * k] = (struct table_column){.title = forecasts[k].name, .unit = UNIT_TIME};
        columns[2 + 2 * k] = (struct table_column){.title = "limited by", .drop = 1};
    }
    columns[2 * count + 1] = (struct table_column){.title = "portability", .unit = UNIT_PERCENT, .drop = 2};
    struct table *table = table_new(arena, columns, 2 * count + 2);
    for (size_t k = 0; k < forecasts[0].count; k++) {
        const struct plan_case *first = forecasts[0].cases[k].plan_case;
        struct table_row *row = table_add(table, NULL);
        struct cell *cells = row->cells;
        cells[0] = cell_text(first->label);
        for (size_t n = 0; n < count; n++) {
            const struct forecast_case *c = case_of(&forecasts[n], first->asked);
            const bool known = c && c->prediction.time_ns > 0;
            if (c && c->reason && !row->note)
                row->note = arena_printf(arena, "%s: %s", forecasts[n].name, c->reason);
            cells[1 + 2 * n] = c ? time_of(c, arena) : cell_unknown(NULL);
            cells[2 + 2 * n] = known ? cell_text(prediction_term_name(c->prediction.limiter)) : cell_unknown(NULL);
        }
        cells[2 * count + 1] = cell_number(portability(forecasts, count, first->asked));
    }
    return table;
}

/* ---- a result's cases on other machines ---- */

enum { OTHER_TIME, OTHER_INTERVAL, OTHER_SPEED, OTHER_LIMITER, OTHER_SCALE, OTHERS };

/* "2660x", "12.9x", "0.136x" */
static const char *times_words(double times, struct arena *arena)
{
    return arena_printf(arena, "%.*fx", times >= 100 ? 0 : times >= 10 ? 1 : times >= 1 ? 2 : 3, times);
}

struct table *forecast_of_result(const struct forecast *forecasts, size_t count, struct arena *arena)
{
    const struct result *result = forecasts[0].of;
    struct table_column *columns = arena_array(arena, OTHERS * count + 2, sizeof(*columns));
    columns[0] = (struct table_column){.title = "case", .flags = COLUMN_GROUP};
    columns[1] = (struct table_column){.title = forecast_origin(result), .unit = UNIT_TIME};
    for (size_t k = 0; k < count; k++) {
        struct table_column *own = &columns[2 + OTHERS * k];
        own[OTHER_TIME] = (struct table_column){.title = forecasts[k].name, .unit = UNIT_TIME};
        own[OTHER_INTERVAL] = (struct table_column){.title = "80 % interval", .unit = UNIT_TIME, .drop = 1};
        own[OTHER_SPEED] = (struct table_column){.title = "speed", .unit = UNIT_NUMBER};
        own[OTHER_LIMITER] = (struct table_column){.title = "limited by", .drop = 3};
        own[OTHER_SCALE] = (struct table_column){.title = "scaled by", .unit = UNIT_NUMBER, .drop = 2};
    }
    struct table *table = table_new(arena, columns, OTHERS * count + 2);
    FOR_EACH(const struct forecast_case, first, forecasts[0].cases, forecasts[0].count) {
        struct table_row *row = table_add(table, NULL);
        row->cells[0] = cell_text(case_name(first->from));
        row->cells[1] = cell_number(result_case_time(first->from));
        for (size_t n = 0; n < count; n++) {
            const struct forecast_case *c = case_of(&forecasts[n], first->plan_case->asked);
            if (!c)
                continue;
            const struct prediction *p = &c->prediction;
            const bool known = p->time_ns > 0;
            struct cell *cells = &row->cells[2 + OTHERS * n];
            cells[OTHER_TIME] = cell_predicted(p->time_ns, p->method, arena);
            cells[OTHER_INTERVAL] = known ? cell_range(p->low_ns, p->high_ns) : cell_unknown(NULL);
            cells[OTHER_SPEED] = cell_text(known ? times_words(result_case_time(c->from) / p->time_ns, arena) : NULL);
            cells[OTHER_LIMITER] = cell_text(known ? prediction_term_name(p->limiter) : NULL);
            cells[OTHER_SCALE] = known && c->scale != 1 ? cell_number(c->scale) : cell_absent();
            row->note = row->note ? row->note : c->reason;
        }
    }
    return table;
}

/* ---- the picture ---- */

void forecast_picture(struct document *document, const struct forecast *forecast, size_t machine)
{
    struct arena *arena = document->arena;
    const char **names = arena_array(arena, forecast->count + 1, sizeof(*names));
    struct kernel_sums bars = kernel_sums_new(arena, forecast->count);
    for (size_t k = 0; k < forecast->count; k++)
        names[k] = forecast->cases[k].plan_case->label;
    const char *const *apart = names_apart(names, forecast->count, arena);
    for (size_t k = 0; k < forecast->count; k++) {
        const struct forecast_case *c = &forecast->cases[k];
        const double time_ns = c->prediction.time_ns, share = ceiling_share(c->plan_case, c->prediction.time_ns);
        if (!(time_ns > 0))
            continue;
        struct kernel_sum *bar = kernel_sum_of(&bars, apart[k]);
        bar->cases++;
        bar->time_ns += time_ns;
        bar->bounded_ns += share > 0 ? time_ns : 0;
        bar->bound_ns += share > 0 ? fmin(share, 1) * time_ns : 0;
    }
    picture_sums(document, &bars, arena_printf(arena, "forecast-%zu", machine + 1),
                 arena_printf(arena, "Predicted time on %s", forecast->name),
                 "The predicted time of each case, and the share of it that the ceilings of the machine demand.");
}
