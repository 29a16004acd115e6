/* SPDX-License-Identifier: MIT */
#include "rooftile/forecast.h"

#include "forecast_tables.h"
#include "report_internal.h"

#define FASTER 1.1
#define MOST_UNKNOWN 0.4 /* share of a trace: with more unknown, a forecast of the rest says nothing about the whole */

double forecast_gain(const struct prediction *prediction, enum prediction_term term)
{
    struct prediction faster = *prediction;
    faster.term_ns[term] /= FASTER;
    faster.within_ns[term] /= FASTER;
    const double was = prediction_join(prediction, DEVICE_NORM), is = prediction_join(&faster, DEVICE_NORM);
    return was > 0 ? 1 - is / was : 0;
}

double ceiling_share(const struct plan_case *plan_case, double time_ns)
{
    return lower_bound_fraction(&plan_case->lower_bound, &plan_case->resolved.work, time_ns);
}

const char *forecast_origin(const struct result *result)
{
    return result->machine.name[0] ? result->machine.name : result->device.name;
}

/* ---- JSON ---- */

struct table *prediction_terms(const struct prediction *prediction, struct arena *arena)
{
    struct table *record = table_record(arena);
    for (int k = 0; k < TERM_COUNT; k++)
        if (prediction->term_ns[k] > 0)
            table_member(record, arena_printf(arena, "%s_ns", prediction_term_name((enum prediction_term)k)), NULL,
                         cell_number(prediction->term_ns[k]));
    return record;
}

struct table *prediction_notes(const struct prediction *prediction, struct arena *arena)
{
    struct table *list = table_list(arena);
    for (uint32_t k = 0; k < prediction->note_count; k++)
        table_item(list, prediction->notes[k]);
    return list;
}

static struct table *cases_of(const struct forecast *forecast, struct arena *arena)
{
    static const struct table_column columns[] = {
        {.key = "id"},        {.key = "request"},         {.key = "time_ns"},
        {.key = "low_ns"},    {.key = "high_ns"},         {.key = "bound"},
        {.key = "limiter"},   {.key = "lower_bound_ns"},  {.key = "ceiling_share"},
        {.key = "intensity"}, {.key = "waves_per_simd"},  {.key = "method"},
        {.key = "terms"},     {.key = "gain_of_a_tenth"}, {.key = "notes"},
        {.key = "from"},      {.key = "reason"}};
    struct table *table = TABLE(arena, columns);
    FOR_EACH(const struct forecast_case, c, forecast->cases, forecast->count) {
        const struct prediction *p = &c->prediction;
        const bool known = p->time_ns > 0;
        struct table *gains = table_record(arena);
        for (int k = 0; k < TERM_COUNT; k++)
            if (p->term_ns[k] > 0)
                table_member(gains, prediction_term_name((enum prediction_term)k), NULL,
                             cell_number(forecast_gain(p, (enum prediction_term)k)));
        struct table *from = table_record(arena); /* the case of a result that it represents */
        if (c->from) {
            table_member(from, "id", NULL, cell_text(c->from->id));
            table_member(from, "machine", NULL, cell_text(forecast_origin(forecast->of)));
            table_member(from, forecast->of->predicted ? "predicted_ns" : "measured_ns", NULL,
                         cell_positive(result_case_time(c->from)));
            table_member(from, "scale", NULL, cell_positive(c->scale));
            table_member(from, "uncalibrated", NULL, c->uncalibrated ? cell_text(c->uncalibrated) : cell_absent());
        }
        const struct cell cells[] = {
            cell_text(c->plan_case->id),
            cell_number((double)c->plan_case->asked),
            cell_positive(p->time_ns),
            cell_positive(p->low_ns),
            cell_positive(p->high_ns),
            cell_known(c->plan_case->lower_bound.bound),
            known ? cell_text(prediction_term_name(p->limiter)) : cell_unknown(NULL),
            cell_positive(c->plan_case->lower_bound.time_ns),
            cell_number(ceiling_share(c->plan_case, c->prediction.time_ns)),
            cell_number(c->plan_case->state == PLAN_READY ? c->plan_case->lower_bound.intensity : NAN),
            cell_positive(c->waves_per_simd),
            cell_text(known ? p->method : NULL),
            known ? cell_table(prediction_terms(p, arena)) : cell_absent(),
            known ? cell_table(gains) : cell_absent(),
            cell_table(prediction_notes(p, arena)),
            c->from ? cell_table(from) : cell_absent(),
            c->reason ? cell_text(c->reason) : cell_absent()};
        table_add(table, cells);
    }
    return table;
}

struct weighted {
    double time_ns, traced_ns; /* weighted sums; traced_ns covers cases with a forecast */
    double rest_ns;            /* time in the trace without a case or without a forecast */
    size_t cases, missing;
    bool all_traced;
};

/* Sums the cases with a weight, as in the suite of an imported trace; skips a library's case, which duplicates
 * another case. */
static struct weighted weighted_of(const struct forecast *forecast)
{
    struct weighted sum = {.all_traced = true};
    FOR_EACH(const struct forecast_case, c, forecast->cases, forecast->count) {
        const struct plan_case *p = c->plan_case;
        if (!(p->weight > 0) || p->resolved.manifest->library)
            continue;
        sum.cases++;
        sum.missing += c->program_ns > 0 ? 0 : 1;
        if (!(c->program_ns > 0))
            continue;
        sum.time_ns += p->weight * c->program_ns;
        sum.traced_ns += p->weight * p->traced_ns;
        sum.all_traced = sum.all_traced && p->traced_ns > 0;
    }
    sum.rest_ns = fmax(0, forecast->traced_ns - sum.traced_ns);
    return sum;
}

static struct table *machines_of(const struct forecast *forecasts, size_t count, struct arena *arena)
{
    static const struct table_column columns[] = {{.key = "machine"},
                                                  {.key = "borrowed"},
                                                  {.key = "weighted_time_ns"},
                                                  {.key = "traced_rest_ns"},
                                                  {.key = "cases"}};
    struct table *table = TABLE(arena, columns);
    for (size_t k = 0; k < count; k++) {
        struct table *borrowed = table_list(arena);
        for (uint32_t n = 0; n < forecasts[k].borrowed->count; n++)
            table_item(borrowed, forecasts[k].borrowed->what[n]);
        const struct weighted sum = weighted_of(&forecasts[k]);
        const struct cell cells[] = {cell_text(forecasts[k].name), cell_table(borrowed),
                                     sum.cases && !sum.missing ? cell_number(sum.time_ns) : cell_unknown(NULL),
                                     forecasts[k].traced_ns > 0 ? cell_number(sum.rest_ns) : cell_absent(),
                                     cell_table(cases_of(&forecasts[k], arena))};
        table_add(table, cells);
    }
    return table;
}

/* ---- lines below the tables ---- */

/* Reports the overall speedup, and which cases were scaled and by how much. */
static void say_speed(struct document *document, const struct forecast *forecast)
{
    double logs = 0, least = INFINITY, most = 0;
    size_t cases = 0, scaled = 0;
    const char *why = NULL;
    FOR_EACH(const struct forecast_case, c, forecast->cases, forecast->count) {
        if (!(c->prediction.time_ns > 0))
            continue;
        cases++;
        logs += log(result_case_time(c->from) / c->prediction.time_ns);
        why = c->uncalibrated && !why ? c->uncalibrated : why;
        if (c->uncalibrated || forecast->of->predicted)
            continue;
        scaled++;
        least = fmin(least, c->scale);
        most = fmax(most, c->scale);
    }
    if (!cases)
        return;
    struct text text = {0};
    text_addf(&text, "%s: %.3g times as fast as %s (geometric mean of %zu case%s)", forecast->name,
              exp(logs / (double)cases), forecast_origin(forecast->of), cases, text_s(cases));
    if (scaled)
        text_addf(&text, "; %zu scaled by what %s took over the prediction there, %s%.3g", scaled,
                  scaled == 1 ? "it" : "they", scaled == 1 ? "" : arena_printf(document->arena, "%.3g to ", least),
                  most);
    if (cases > scaled && why)
        text_addf(&text, "; %zu not (%s)", cases - scaled, why);
    document->verdict = document->verdict ? arena_printf(document->arena, "%s\n%s", document->verdict, text.data)
                                          : arena_strdup(document->arena, text.data);
    text_release(&text);
}

/* ---- weights: a trace as a whole ---- */

/* Reports the part of the trace that no case represents, and the time of the whole trace if that part keeps its time
 * or changes like the rest. */
static void add_rest(struct text *line, const struct forecast *forecast, const struct weighted *sum,
                     struct arena *arena)
{
    const double share = sum->rest_ns / forecast->traced_ns, alike = sum->time_ns * (1 + sum->rest_ns / sum->traced_ns);
    if (!(forecast->traced_ns > 0) || !(sum->traced_ns > 0) || share < 0.0005)
        return;
    text_addf(line, "; the other %s (%s) of the trace have no forecast", quantity_words(sum->rest_ns, UNIT_TIME, arena),
              percent_words(share, arena));
    if (share > MOST_UNKNOWN) {
        text_add(line, ", too much for a total");
        return;
    }
    text_addf(line, ": all of it takes %s", quantity_words(alike, UNIT_TIME, arena));
    text_addf(line, " if they change alike, %s if they stay as they were",
              quantity_words(sum->time_ns + sum->rest_ns, UNIT_TIME, arena));
}

static void say_weighted(struct document *document, const struct forecast *forecasts, size_t count)
{
    const struct weighted first = weighted_of(&forecasts[0]);
    for (size_t k = 0; k < count && first.cases; k++) {
        const struct weighted sum = weighted_of(&forecasts[k]);
        SCOPED(text_release) struct text line = {0};
        text_addf(&line, "%s: weighted time %s", forecasts[k].name,
                  quantity_words(sum.time_ns, UNIT_TIME, document->arena));
        if (k && first.time_ns > 0 && sum.missing == 0 && first.missing == 0)
            text_addf(&line, ", %.2f x that of %s", sum.time_ns / first.time_ns, forecasts[0].name);
        if (sum.all_traced && sum.traced_ns > 0)
            text_addf(&line, "; traced %s", quantity_words(sum.traced_ns, UNIT_TIME, document->arena));
        if (forecasts[k].traced_on)
            text_addf(&line, "; the trace's own times, scaled from %s", forecasts[k].traced_on);
        if (sum.missing)
            text_addf(&line, "; %zu of %zu cases have no forecast and are not in it", sum.missing, sum.cases);
        if (sum.all_traced)
            add_rest(&line, &forecasts[k], &sum, document->arena);
        document_text(document, SHOW_PEOPLE, TONE_BOLD, "%s", line.data);
    }
}

/* ---- the whole ---- */

/* Reports the fastest case if all cases do the same work, and whether its interval separates it from the next one. */
static void say_best(struct document *document, const struct forecast *forecast)
{
    const struct forecast_case *best = NULL, *next = NULL;
    FOR_EACH(const struct forecast_case, c, forecast->cases, forecast->count) {
        if (!(c->prediction.time_ns > 0))
            continue;
        const struct resolved *a = &c->plan_case->resolved, *b = best ? &best->plan_case->resolved : a;
        const struct work *one = &a->work, *other = &b->work;
        if (best && (a->manifest != b->manifest || one->flops != other->flops || one->read_bytes != other->read_bytes ||
                     one->items != other->items || !(one->flops + one->read_bytes + one->write_bytes > 0)))
            return; /* the work differs or is unknown */
        if (!best || c->prediction.time_ns < best->prediction.time_ns) {
            next = best;
            best = c;
        } else if (!next || c->prediction.time_ns < next->prediction.time_ns) {
            next = c;
        }
    }
    if (!next)
        return;
    const double gap = next->prediction.time_ns / best->prediction.time_ns - 1;
    const bool apart = best->prediction.high_ns < next->prediction.low_ns;
    document_text(document, SHOW_PEOPLE, TONE_BOLD, "%s: the fastest is %s, %s before %s; %s", forecast->name,
                  best->plan_case->label, percent_words(gap, document->arena), next->plan_case->label,
                  apart ? "their intervals do not overlap" : "their intervals overlap");
}

/* On one machine the case with the most time above its roof; on several the fastest machine. */
static void conclude(struct document *document, const struct forecast *forecasts, size_t count)
{
    struct arena *arena = document->arena;
    const struct forecast_case *worst = NULL;
    const struct forecast *fastest = NULL;
    double most_ns = 0, least_ns = INFINITY, first_ns = 0;
    size_t known = 0;
    for (size_t k = 0; k < count; k++) {
        double all_ns = 0;
        FOR_EACH(const struct forecast_case, c, forecasts[k].cases, forecasts[k].count) {
            const double time_ns = c->prediction.time_ns, share = ceiling_share(c->plan_case, time_ns);
            const double win_ns = time_ns * (1 - (share > 0 ? fmin(share, 1) : 1));
            all_ns += time_ns > 0 ? time_ns : NAN; /* a machine that cannot run a case is not the fastest */
            known += time_ns > 0;
            if (!(time_ns > 0) || (worst && win_ns <= most_ns))
                continue;
            worst = c;
            most_ns = win_ns;
        }
        first_ns = k ? first_ns : all_ns;
        if (all_ns < least_ns) {
            least_ns = all_ns;
            fastest = &forecasts[k];
        }
    }
    if (!worst)
        return;
    const double share = ceiling_share(worst->plan_case, worst->prediction.time_ns);
    const char *limit = prediction_term_name(worst->prediction.limiter);
    if (count > 1 && fastest)
        document->verdict = arena_printf(
            arena, "%s is the fastest: %s for all cases%s", fastest->name, quantity_words(least_ns, UNIT_TIME, arena),
            fastest == forecasts || !(first_ns > 0)
                ? ""
                : arena_printf(arena, ", %.3g times as fast as %s", first_ns / least_ns, forecasts[0].name));
    else if (count == 1 && known == 1)
        document->verdict =
            arena_printf(arena, "%s on %s: %s predicted%s, limited by %s", worst->plan_case->label, forecasts[0].name,
                         quantity_words(worst->prediction.time_ns, UNIT_TIME, arena),
                         share > 0 ? arena_printf(arena, ", %s of the roof", percent_words(share, arena)) : "", limit);
    else if (count == 1)
        document->verdict =
            arena_printf(arena, "%zu cases on %s: most time to win in %s, %s, limited by %s", known, forecasts[0].name,
                         worst->plan_case->label, quantity_words(most_ns, UNIT_TIME, arena), limit);
    document->action = arena_printf(arena, "rooftile explain %s --machine %s shows what costs its time",
                                    worst->plan_case->resolved.manifest->name, forecasts[0].name);
}

void say_borrowed(struct document *document, const char *machine, const struct machine_borrowed *borrowed)
{
    struct text text = {0};
    for (uint32_t k = 0; borrowed && k < borrowed->count; k++)
        text_addf(&text, "%s%s", k ? ", " : "", borrowed->what[k]);
    if (text.length)
        document_text(document, SHOW_PEOPLE, TONE_DIM, "%s%sunknown, so taken from a similar GPU: %s", machine,
                      *machine ? ": " : "", text_take(&text, document->arena));
}

static void say_described(struct document *document, const struct forecast *forecasts, size_t count)
{
    size_t described = 0, cases = 0, ours = 0;
    for (size_t k = 0; k < count; k++)
        FOR_EACH(const struct forecast_case, c, forecasts[k].cases, forecasts[k].count) {
            const struct prediction *p = &c->prediction;
            cases += p->time_ns > 0;
            ours += p->time_ns > 0 && c->is_ours;
            described += p->time_ns > 0 && !strcmp(p->method, "description");
        }
    document_described(document, described, cases);
    if (ours)
        document_text(document, SHOW_PEOPLE, TONE_DIM,
                      "*: our kernel's time in the place of the trace's, of which there is no description (%zu of %zu "
                      "case%s)",
                      ours, cases, text_s(cases));
}

void forecast_document(struct document *document, const struct forecast *forecasts, size_t count)
{
    document->title = "Predicted: nothing was executed";
    document_text(document, SHOW_TEXT, TONE_BOLD, "PREDICTED: nothing was executed");
    for (size_t k = 0; k < count; k++)
        forecast_picture(document, &forecasts[k], k);
    if (forecasts[0].of)
        document_table(document, NULL, NULL, forecast_of_result(forecasts, count, document->arena))->show = SHOW_PEOPLE;
    else if (count == 1)
        document_table(document, NULL, NULL, forecast_one_machine(&forecasts[0], document->arena))->show = SHOW_PEOPLE;
    else
        document_table(document, NULL, NULL, forecast_side_by_side(forecasts, count, document->arena))->show =
            SHOW_PEOPLE;
    document_text(document, SHOW_PEOPLE, TONE_DIM, "%s",
                  forecasts[0].of ? "speed: times as fast as it was; limited by: what takes the most time"
                  : count == 1 ? "limited by: what takes the most time; worth speeding up: what would help most if it "
                                 "were 10 % faster, and the change of the time"
                               : "limited by: what takes the most time; portability: the harmonic mean of the "
                                 "shares of the ceilings, 0 where a machine cannot run it");
    say_described(document, forecasts, count);
    say_weighted(document, forecasts, count);
    for (size_t k = 0; k < count; k++) {
        document_doubted(document, forecasts[k].machine);
        if (forecasts[k].of)
            say_speed(document, &forecasts[k]);
        else
            say_best(document, &forecasts[k]);
        /* If no forecast depends on a swept parameter, the model may not know the parameter. */
        const struct plan_case **cases = arena_array(document->arena, forecasts[k].count + 1, sizeof(*cases));
        double *times = arena_array(document->arena, forecasts[k].count + 1, sizeof(*times));
        for (size_t n = 0; n < forecasts[k].count; n++) {
            cases[n] = forecasts[k].cases[n].plan_case;
            times[n] = forecasts[k].cases[n].prediction.time_ns;
        }
        forecast_unmoved(document, forecasts[k].name, cases, times, forecasts[k].count);
        say_borrowed(document, forecasts[k].name, forecasts[k].borrowed);
        struct forecast_notes notes = {0};
        FOR_EACH(const struct forecast_case, c, forecasts[k].cases, forecasts[k].count)
            for (uint32_t n = 0; n < c->prediction.note_count; n++)
                forecast_note(&notes, c->plan_case->resolved.manifest->name, c->prediction.notes[n], document->arena);
        forecast_say_notes(document, forecasts[k].name, &notes);
    }
    if (!forecasts[0].of)
        conclude(document, forecasts, count);
    document_table(document, "machines", NULL, machines_of(forecasts, count, document->arena))->show = SHOW_DATA;
}
