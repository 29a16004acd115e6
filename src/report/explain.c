/* SPDX-License-Identifier: MIT
 *
 * Shows on one screen how a case spends its time.
 */
#include "rooftile/forecast.h"

#include "forecast_tables.h"
#include "report_internal.h"
#include "rooftile/result.h"

/* A counter further than this from its prediction is evidence against the model. */
#define COUNTER_WITHIN 0.25

double explained_ns(const struct explained_case *c)
{
    return c->measured && result_case_timed(c->measured) ? result_case_time(c->measured)
                                                         : c->explanation.prediction.time_ns;
}

static const char *name_of(const struct explained_case *c)
{
    return c->measured ? case_name(c->measured) : c->explanation.plan_case->label;
}

/* ---- limits ---- */

/* Terms with a smaller share of the time are hidden behind the others. */
#define LEAST_TERM 0.05

/* "memory 198 us, L2 23.4 us; they overlap", longest first. */
static const char *terms_words(const struct prediction *p, struct arena *arena)
{
    struct text text = {0};
    int shown = 0;
    double below = INFINITY;
    for (int next; below > 0; below = next < 0 ? 0 : p->term_ns[next]) {
        next = -1;
        for (int k = 0; k < TERM_COUNT; k++)
            if (p->term_ns[k] < below && p->term_ns[k] >= LEAST_TERM * p->time_ns &&
                (next < 0 || p->term_ns[k] > p->term_ns[next]))
                next = k;
        if (next >= 0)
            text_addf(&text, "%s%s %s", shown++ ? ", " : "", prediction_term_name((enum prediction_term)next),
                      quantity_words(p->term_ns[next], UNIT_TIME, arena));
    }
    if (shown > 1)
        text_add(&text,
                 p->term_ns[TERM_LAUNCH] >= LEAST_TERM * p->time_ns ? "; all but launch overlap" : "; they overlap");
    return text_take(&text, arena);
}

/* Bandwidth at the outermost memory level; NAN if nothing was walked. */
static double level_rate(const struct explanation *e)
{
    return e->level ? e->level_bytes / e->level_time_ns * 1e9 : NAN;
}

static double level_share(const struct explanation *e)
{
    const double peak = e->level ? ceiling_value(&e->level->bandwidth) : 0;
    return peak > 0 ? level_rate(e) / peak : NAN;
}

/* "768 MiB at 4.06 TB/s, 77 % of the vendor peak". */
static const char *level_words(const struct explanation *e, struct arena *arena)
{
    const double share = level_share(e);
    const char *rate = quantity_words(level_rate(e), UNIT_BYTE_RATE, arena);
    if (isnan(share))
        return arena_printf(arena, "%s at %s", quantity_words(e->level_bytes, UNIT_BYTES, arena), rate);
    return arena_printf(arena, "%s at %s, %s of the %s peak", quantity_words(e->level_bytes, UNIT_BYTES, arena), rate,
                        quantity_words(share, UNIT_PERCENT, arena), ceiling_kind(&e->level->bandwidth));
}

static struct table *standing(const struct explained_case *c, struct arena *arena)
{
    const struct explanation *e = &c->explanation;
    const struct prediction *p = &e->prediction;
    const struct lower_bound *bound = &e->plan_case->lower_bound;
    struct table *record = table_record(arena);
    table_member(record, "id", NULL, cell_text(e->plan_case->id));
    table_member(record, "machine", "machine", cell_text(c->machine->title[0] ? c->machine->title : c->machine->name));
    if (c->measured)
        table_member(record, "measured_ns", "measured", cell_quantity(result_case_time(c->measured), UNIT_TIME));
    struct cell predicted = cell_predicted(p->time_ns, p->method, arena);
    predicted.unit = UNIT_TIME;
    table_member(record, "predicted_ns", "predicted", predicted);
    table_member(record, "method", NULL, cell_text(p->method));
    struct cell interval = cell_range(p->low_ns, p->high_ns);
    interval.unit = UNIT_TIME;
    table_member(record, "interval_ns", "80 % interval", interval);
    const bool chain = e->plan_case->resolved.manifest->class == CLASS_LATENCY;
    struct cell least = cell_positive(chain ? NAN : bound->time_ns);
    least.unit = UNIT_TIME;
    table_member(record, "lower_bound_ns", "least time", least);
    table_member(record, "ceiling_share", "% of roof",
                 cell_quantity(ceiling_share(e->plan_case, explained_ns(c)), UNIT_PERCENT));
    table_member(record, "intensity", "intensity", cell_quantity(bound->intensity, UNIT_INTENSITY));
    table_member(record, "bound", NULL, cell_known(bound->bound));
    table_member(record, "limiter", NULL, cell_text(prediction_term_name(p->limiter)));
    table_member(
        record, NULL, "bound by",
        cell_text(arena_printf(arena, "%s; the largest term is %s", bound->bound, prediction_term_name(p->limiter))));
    table_member(record, NULL, "terms", cell_text(terms_words(p, arena)));
    if (e->level)
        table_member(record, NULL, arena_printf(arena, "through %s", level_title(e->level->name, arena)),
                     cell_text(level_words(e, arena)));
    struct table *level = table_record(arena);
    if (e->level) {
        table_member(level, "name", NULL, cell_text(e->level->name));
        table_member(level, "bytes", NULL, cell_number(e->level_bytes));
        table_member(level, "bytes_per_s", NULL, cell_number(level_rate(e)));
        table_member(level, "peak_share", NULL, cell_number(level_share(e)));
    }
    table_member(record, "level", NULL, e->level ? cell_table(level) : cell_absent());
    if (e->symbol)
        table_member(
            record, NULL, "a workgroup",
            cell_text(arena_printf(arena, "%u VGPRs, %u SGPRs, %.4g KiB of LDS; %.3g of %.0f waves per SIMD", e->vgprs,
                                   e->sgprs, e->lds_bytes / 1024.0, e->waves_per_simd, e->waves_most)));
    table_member(record, "terms", NULL, cell_table(prediction_terms(p, arena)));
    return record;
}

/* ---- causes ---- */

static struct table *causes_of(const struct explained_case *cases, size_t count, struct arena *arena)
{
    static const struct table_column columns[] = {
        {.key = "case"},
        {.key = "cause", .title = "what costs time"},
        {.key = "cost_ns", .title = "costs", .unit = UNIT_TIME},
        {.key = "share", .title = "share", .unit = UNIT_PERCENT},
        {.key = "can_change", .title = "can be changed"},
        {.key = "remedy"},
        {.key = "evidence", .title = "evidence", .flags = COLUMN_PROSE},
    };
    struct table *table = TABLE(arena, columns);
    for (size_t at = 0; at < count; at++)
        FOR_EACH(const struct explained_cost, cause, cases[at].explanation.causes, cases[at].explanation.cause_count)
            table_add(table, (struct cell[]){cell_text(name_of(&cases[at])), cell_text(cost_name(cause->cost)),
                                             cell_number(cause->cost_ns),
                                             cell_number(cause->cost_ns / cases[at].explanation.prediction.time_ns),
                                             cell_bool(cause->cost < COST_WORK), cell_known(cost_remedy(cause->cost)),
                                             cell_known(cause->evidence)});
    return table;
}

/* A cause that costs less is no reason to change a kernel. */
#define SMALL_SHARE 0.05

static void say_best(struct document *document, const struct explained_case *c)
{
    const struct explanation *e = &c->explanation;
    const bool any = e->cause_count && e->causes[0].cost < COST_WORK;
    const double saved_ns = any ? e->causes[0].cost_ns : 0, share = saved_ns / e->prediction.time_ns;
    const double roof = ceiling_share(e->plan_case, explained_ns(c));
    document->verdict = arena_printf(
        document->arena, "%s on %s: %s %s%s%s, limited by %s", name_of(c), c->machine->name,
        quantity_words(explained_ns(c), UNIT_TIME, document->arena), c->measured ? "measured" : "predicted",
        roof > 0 ? ", " : "",
        roof > 0 ? arena_printf(document->arena, "%s of the roof", percent_words(roof, document->arena)) : "",
        prediction_term_name(e->prediction.limiter));
    if (share < SMALL_SHARE)
        document->action =
            arena_printf(document->arena,
                         "Nothing that could be changed costs %s: the rest is the work itself, at what %s reaches in "
                         "practice",
                         any ? "much" : "1 % or more", e->prediction.bound);
    if (!any)
        return;
    const char *most =
        arena_printf(document->arena, "What would help most: %s; %s less, %s", cost_remedy(e->causes[0].cost),
                     quantity_words(saved_ns, UNIT_TIME, document->arena), percent_words(share, document->arena));
    document->action = document->action ? arena_printf(document->arena, "%s\n%s", document->action, most) : most;
    document_text(
        document, SHOW_PEOPLE, TONE_DIM,
        "Each costs what the prediction falls by when it alone is gone; what cannot be changed is the work itself, "
        "by the time of each term. Costs overlap.");
}

/* ---- measured against predicted ---- */

static void say_difference(struct document *document, const struct explained_case *c)
{
    const struct prediction *p = &c->explanation.prediction;
    const double measured_ns = c->measured ? result_case_time(c->measured) : 0, ratio = measured_ns / p->time_ns;
    if (!c->measured || !(measured_ns > 0) || !(p->time_ns > 0))
        return;
    if (measured_ns >= p->low_ns && measured_ns <= p->high_ns) {
        document_text(document, SHOW_PEOPLE, TONE_PLAIN,
                      "Measured %.2f times the prediction, inside its 80 %% interval: they agree.", ratio);
        return;
    }
    document_text(document, SHOW_PEOPLE, TONE_DOUBT,
                  "Measured %.2f times the prediction, outside of its 80 %% interval: %s", ratio,
                  ratio > 1
                      ? "something costs time that the model does not see, or costs more than it thinks; counters "
                        "tell which of its numbers are wrong."
                      : "data comes from nearer than the model thinks, or waits are hidden better.");
}

/* ---- ablation twins ---- */

static struct table *twins_of(const struct explained_case *c, struct arena *arena)
{
    static const struct table_column columns[] = {
        {.key = "twin", .title = "measured alone"},
        {.key = "time_ns", .title = "time", .unit = UNIT_TIME},
        {.key = "share", .title = "of the whole", .unit = UNIT_PERCENT},
    };
    struct table *table = TABLE(arena, columns);
    const size_t length = c->measured ? result_id_length(c->measured->id) : 0;
    for (size_t k = 0; c->measured && c->result && k < c->result->case_count; k++) {
        const struct result_case *twin = &c->result->cases[k];
        if (!result_case_is_twin(twin) || !result_case_counts(twin) ||
            strncmp(twin->id, c->measured->id, length) != 0 || twin->id[length] != ';')
            continue;
        const char *name = strstr(twin->id, ";isolate=") + strlen(";isolate=");
        table_add(table, (struct cell[]){cell_text(arena_strndup(arena, name, strcspn(name, ";"))),
                                         cell_number(result_case_time(twin)),
                                         cell_number(result_case_time(twin) / result_case_time(c->measured))});
    }
    return table;
}

static void show_twins(struct document *document, const struct explained_case *c)
{
    struct table *twins = twins_of(c, document->arena);
    if (!twins->row_count)
        return;
    document_table(document, NULL, NULL, twins)->show = SHOW_PEOPLE;
    /* If both together take as long as the longer one, they overlap; if they take as long as the sum, they do not. */
    double share[2] = {0};
    for (size_t k = 0; k < twins->row_count; k++)
        for (int which = 0; which < 2; which++)
            if (!strcmp(twins->rows[k].cells[0].text, which ? "math" : "loads"))
                share[which] = twins->rows[k].cells[2].value;
    if (!(share[0] > 0) || !(share[1] > 0))
        return;
    const double longer = fmax(share[0], share[1]), hidden = (share[0] + share[1] - 1) / fmin(share[0], share[1]);
    document_text(document, SHOW_PEOPLE, TONE_PLAIN,
                  "%s alone take%s %s of the whole; %s of the shorter part is hidden.",
                  share[0] > share[1] ? "Loads" : "The arithmetic", share[0] > share[1] ? "" : "s",
                  percent_words(longer, document->arena), percent_words(fmax(0, fmin(1, hidden)), document->arena));
}

/* ---- counters ---- */

static struct table *counters_of(const struct explanation *e, struct arena *arena)
{
    static const struct table_column columns[] = {
        {.key = "counter", .title = "counter"},
        {.key = "meaning", .title = "one launch"},
        {.key = "speaks_for", .title = "tells"},
        {.key = "predicted", .title = "predicted", .unit = UNIT_NUMBER},
        {.key = "measured", .title = "measured", .unit = UNIT_NUMBER},
        {.key = "verdict", .title = ""},
    };
    struct table *table = TABLE(arena, columns);
    FOR_EACH(const struct explained_counter, counter, e->counters, e->counter_count) {
        const double measured = counter->measured, predicted = counter->predicted;
        const bool agrees = fabs(measured - predicted) <= COUNTER_WITHIN * fmax(predicted, 1);
        const char *differs = measured > predicted ? "more than predicted" : "less than predicted";
        table_add(table, (struct cell[]){cell_text(counter->name), cell_text(counter->what),
                                         cell_text(cost_name(counter->cost)), cell_number(predicted),
                                         isnan(measured) ? cell_absent() : cell_number(measured),
                                         isnan(measured) ? cell_absent()
                                         : agrees        ? cell_toned("as predicted", TONE_GOOD)
                                                         : cell_toned(differs, TONE_DOUBT)});
    }
    return table;
}

static const char *command_of(const struct explained_case *c, struct arena *arena)
{
    struct text text = {0};
    explain_counter_command(&text, &c->explanation, c->run);
    return text_take(&text, arena);
}

static void show_counters(struct document *document, const struct explained_case *c)
{
    struct arena *arena = document->arena;
    const struct explanation *e = &c->explanation;
    if (!e->counter_count ||
        (!e->cause_count && !COUNT_WHERE(counter, e->counters, e->counter_count, !isnan(counter->measured))))
        return;
    const char *command = command_of(c, arena);
    document_table(document, NULL, "Counters that would tell", counters_of(e, arena))->show = SHOW_PEOPLE;
    document_verbatim(
        document, SHOW_PEOPLE, NULL,
        arena_printf(arena, "  %s\n  rooftile explain ... --counters counters_counter_collection.csv\n", command));
}

/* ---- the whole ---- */

static void show_case(struct document *document, const struct explained_case *c)
{
    struct arena *arena = document->arena;
    document_text(document, SHOW_PEOPLE, TONE_BOLD, "%s%s", name_of(c), c->measured ? "" : ": PREDICTED, not measured");
    document_table(document, NULL, NULL, standing(c, arena))->show = SHOW_PEOPLE;
    say_difference(document, c);
    document_table(document, NULL, NULL, causes_of(c, 1, arena))->show = SHOW_PEOPLE;
    say_best(document, c);
    show_twins(document, c);
    show_counters(document, c);
    const struct prediction *p = &c->explanation.prediction;
    document_described(document, !strcmp(p->method, "description"), 1);
    for (uint32_t k = 0; k < p->note_count; k++)
        document_text(document, SHOW_PEOPLE, TONE_DIM, "%s", arena_strdup(document->arena, p->notes[k]));
    document_doubted(document, c->machine);
    say_borrowed(document, "", c->borrowed);
}

static struct table *list_of(const struct explained_case *cases, size_t count, struct arena *arena)
{
    static const struct table_column columns[] = {
        {.title = "case", .flags = COLUMN_GROUP},     {.title = "time", .unit = UNIT_TIME},
        {.title = "% of roof", .unit = UNIT_PERCENT}, {.title = "largest cost"},
        {.title = "to win", .unit = UNIT_TIME},       {.title = "share", .unit = UNIT_PERCENT}};
    struct table *table = TABLE(arena, columns);
    for (size_t k = 0; k < count; k++) {
        const struct explanation *e = &cases[k].explanation;
        const bool any = e->cause_count > 0 && e->causes[0].cost < COST_WORK;
        struct table_row *row = table_add(
            table, (struct cell[]){
                       cell_text(name_of(&cases[k])),
                       cell_predicted(explained_ns(&cases[k]), cases[k].measured ? "" : e->prediction.method, arena),
                       cell_number(ceiling_share(e->plan_case, explained_ns(&cases[k]))),
                       any ? cell_text(cost_name(e->causes[0].cost)) : cell_absent(),
                       any ? cell_number(e->causes[0].cost_ns) : cell_absent(),
                       any ? cell_number(e->causes[0].cost_ns / e->prediction.time_ns) : cell_absent()});
        if (cases[k].reason)
            row->instead = cell_toned(cases[k].reason, TONE_DIM);
    }
    return table;
}

static struct table *data_of(const struct explained_case *cases, size_t count, struct arena *arena)
{
    static const struct table_column columns[] = {{.key = "case"},  {.key = "standing"}, {.key = "causes"},
                                                  {.key = "twins"}, {.key = "counters"}, {.key = "counter_command"},
                                                  {.key = "notes"}, {.key = "reason"}};
    struct table *table = TABLE(arena, columns);
    FOR_EACH(const struct explained_case, c, cases, count)
        table_add(table,
                  (struct cell[]){cell_text(name_of(c)), c->reason ? cell_absent() : cell_table(standing(c, arena)),
                                  cell_table(causes_of(c, 1, arena)), cell_table(twins_of(c, arena)),
                                  cell_table(counters_of(&c->explanation, arena)),
                                  c->explanation.counter_count ? cell_text(command_of(c, arena)) : cell_absent(),
                                  cell_table(prediction_notes(&c->explanation.prediction, arena)),
                                  c->reason ? cell_text(c->reason) : cell_absent()});
    return table;
}

void explain_document(struct document *document, const struct explained_case *cases, size_t count)
{
    document->title = "Where the time goes";
    if (count == 1 && !cases[0].reason) {
        show_case(document, &cases[0]);
    } else {
        document_table(document, NULL, NULL, list_of(cases, count, document->arena))->show = SHOW_PEOPLE;
        const struct explained_case *worst = NULL;
        FOR_EACH(const struct explained_case, c, cases, count)
            if (!c->reason && c->explanation.cause_count && c->explanation.causes[0].cost < COST_WORK &&
                (!worst || c->explanation.causes[0].cost_ns > worst->explanation.causes[0].cost_ns))
                worst = c;
        if (worst)
            document->verdict =
                arena_printf(document->arena, "Most time to win: %s, %s (%s)", name_of(worst),
                             quantity_words(worst->explanation.causes[0].cost_ns, UNIT_TIME, document->arena),
                             cost_name(worst->explanation.causes[0].cost));
        document->action = "One case in full: --filter, or --set with one value";
    }
    document_table(document, NULL, NULL, causes_of(cases, count, document->arena))->show = SHOW_CSV;
    document_table(document, "cases", NULL, data_of(cases, count, document->arena))->show = SHOW_DATA;
}
