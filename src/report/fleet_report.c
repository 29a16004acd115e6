/* SPDX-License-Identifier: MIT */

#include "picture.h"
#include "report_internal.h"
#include "rooftile/fleet.h"
#include "rooftile/units.h"

static const enum tone verdict_tones[] = {
    [FLEET_ALIKE] = TONE_GOOD, [FLEET_UNJUDGED] = TONE_DIM, [FLEET_SLOW] = TONE_BAD, [FLEET_BROKEN] = TONE_BAD};

/* ---- parts ---- */

/* The rate for this time; the time of one operation if the metric has no rate. */
static struct cell rate_cell(const struct fleet_metric *metric, double time_ns)
{
    const bool timed = !strcmp(metric->unit, UNIT_TIME);
    return cell_quantity(timed ? time_ns / metric->each : metric->amount / time_ns * 1e9, metric->unit);
}

static const char *rate_words(const struct fleet_metric *metric, double time_ns, struct arena *arena)
{
    const struct cell cell = rate_cell(metric, time_ns);
    return quantity_words(cell.value, cell.unit, arena);
}

/* Null for programs, empty for people. */
static struct cell unsaid(void)
{
    return (struct cell){.kind = CELL_UNKNOWN, .text = ""};
}

static struct table *outliers_of(const struct fleet *fleet, struct arena *arena)
{
    static const struct table_column columns[] = {{.key = "node"},
                                                  {.key = "device", .title = "slow device", .flags = COLUMN_GROUP},
                                                  {.key = "metric", .title = "case"},
                                                  {.key = "value", .title = "measured", .unit = UNIT_NUMBER},
                                                  {.key = "group_median", .title = "the others", .unit = UNIT_NUMBER},
                                                  {.key = "unit"},
                                                  {.key = "slower_by", .title = "slower by", .unit = UNIT_CHANGE},
                                                  {.key = "z", .title = "z", .unit = UNIT_NUMBER, .drop = 1},
                                                  {.key = "runs", .title = "runs", .unit = UNIT_COUNT, .drop = 2},
                                                  {.key = "cause", .title = "cause"},
                                                  {.key = "why", .title = "", .flags = COLUMN_PROSE | COLUMN_OPTIONAL}};
    struct table *table = TABLE(arena, columns);
    FOR_EACH(const struct fleet_outlier, o, fleet->outliers, fleet->outlier_count) {
        const struct fleet_device *device = &fleet->devices[o->device];
        const struct fleet_metric *metric = &fleet->metrics[o->metric];
        const double time_ns = device->readings[o->metric].time_ns;
        const struct cell own = rate_cell(metric, time_ns), others = rate_cell(metric, time_ns / (1 + o->change));
        table_add(table,
                  (struct cell[]){cell_text(device->node), cell_toned(device->name, TONE_BAD), cell_text(metric->name),
                                  own, others, cell_text(own.unit), cell_number(o->change),
                                  isnan(o->z) ? cell_unknown("the others are all equal")
                                              : (struct cell){.kind = CELL_NUMBER,
                                                              .value = o->z,
                                                              .text = arena_printf(arena, "%.1f", o->z)},
                                  cell_number((double)o->runs), cell_text(fleet_cause_names[o->cause]),
                                  *o->why ? cell_text(o->why) : unsaid()});
    }
    return table;
}

static struct table *metrics_of(const struct fleet *fleet, struct arena *arena)
{
    static const struct table_column columns[] = {
        {.key = "group"},
        {.key = "name", .title = "case"},
        {.key = "id"},
        {.key = "n", .title = "devices", .unit = UNIT_COUNT},
        {.title = "median", .unit = UNIT_NUMBER},
        {.title = "slowest", .unit = UNIT_NUMBER},
        {.title = "fastest", .unit = UNIT_NUMBER, .drop = 3},
        {.key = "spread", .title = "spread", .unit = UNIT_PERCENT},
        {.key = "noise", .title = "own noise", .unit = UNIT_PERCENT, .drop = 1},
        {.key = "against_baseline", .title = "time vs. baseline", .unit = UNIT_CHANGE, .drop = 2},
        {.key = "against_alone", .title = "time vs. alone", .unit = UNIT_CHANGE, .flags = COLUMN_OPTIONAL},
        {.key = "median_ns"},
        {.key = "min_ns"},
        {.key = "max_ns"},
        {.key = "rate"},
        {.key = "unit"},
        {.key = "modes"},
        {.key = "low"}};
    struct table *table = TABLE(arena, columns);
    for (size_t k = 0; k < fleet->spread_count; k++) {
        const struct fleet_spread *s = &fleet->spreads[k];
        const struct fleet_metric *m = &fleet->metrics[s->metric];
        struct table_row *row = table_add(
            table,
            (struct cell[]){cell_text(fleet->groups[s->group].name), cell_text(m->name), cell_text(m->id),
                            cell_number((double)s->n), rate_cell(m, s->median_ns), rate_cell(m, s->max_ns),
                            rate_cell(m, s->min_ns), cell_number(s->spread), cell_number(s->noise),
                            isnan(s->against) ? unsaid() : cell_number(s->against),
                            isnan(s->beside) ? unsaid() : cell_number(s->beside), cell_number(s->median_ns),
                            cell_number(s->min_ns), cell_number(s->max_ns),
                            strcmp(m->unit, UNIT_TIME) ? rate_cell(m, s->median_ns) : cell_unknown("a time alone"),
                            cell_text(m->unit), cell_number(s->modes.two ? 2 : 1), cell_bool(s->low)});
        if (!k || s->group != s[-1].group)
            row->heading = fleet->groups[s->group].title;
    }
    return table;
}

/* What a slow device has in all of its cases: "everywhere 5.1 % slower (clock: 2.00 GHz where others hold 2.10 GHz)".
 * Without `details` only the cause is named. */
static const char *story_of(const struct fleet *fleet, size_t device, bool details, struct arena *arena)
{
    const struct fleet_device *d = &fleet->devices[device];
    const struct fleet_outlier *own = NULL, *told = NULL;
    double *changes = arena_array(arena, fleet->outlier_count + 1, sizeof(*changes));
    size_t count = 0, known = 0, alike = 0, causes[FLEET_CAUSES] = {0}, most = 0;
    const char *kind = NULL;
    FOR_EACH(const struct fleet_outlier, o, fleet->outliers, fleet->outlier_count) {
        if (o->device != device)
            continue;
        kind = !own || (kind && !strcmp(kind, fleet->metrics[o->metric].kind)) ? fleet->metrics[o->metric].kind : NULL;
        own = own ? own : o;
        changes[count++] = o->change;
        most = ++causes[o->cause] > causes[most] ? o->cause : most;
    }
    if (d->problem || !own)
        return d->problem && !details ? "broken" : text_or_empty(d->problem);
    for (told = own; told->cause != most;)
        told++;
    for (size_t m = 0; m < fleet->metric_count; m++) {
        const bool judged = !isnan(d->outliers[m].change);
        known += judged;
        alike += judged && kind && !strcmp(fleet->metrics[m].kind, kind);
    }
    const char *where = fleet->metrics[own->metric].name;
    if (count > 2 && 10 * count >= 9 * known)
        where = "everywhere";
    else if (kind && count > 1)
        where = count < alike ? arena_printf(arena, "%zu of %zu %s cases", count, alike, kind)
                              : arena_printf(arena, "all %zu %s cases", count, kind);
    else if (count > 1)
        where = arena_printf(arena, "%zu of %zu cases, most of all %s,", count, known, where);
    return arena_printf(arena, "%s %s slower (%s%s%s)", where, percent_words(median_of(changes, count), arena),
                        most == SLOW_BY_UNKNOWN ? "cause unknown" : fleet_cause_names[most],
                        details && *told->why ? ": " : "", details ? told->why : "");
}

/* The devices that are not healthy: broken ones, then slow ones, those that lose most in all their cases first. */
static size_t *unhealthy(size_t *count, const struct fleet *fleet, struct arena *arena)
{
    size_t *order = arena_array(arena, fleet->device_count + 1, sizeof(*order));
    double *losses = arena_array(arena, fleet->device_count + 1, sizeof(*losses));
    *count = 0;
    FOR_EACH(const struct fleet_outlier, o, fleet->outliers, fleet->outlier_count)
        losses[o->device] += log1p(o->change);
    for (size_t k = 0; k < fleet->device_count; k++) {
        size_t at = *count;
        losses[k] = fleet->devices[k].verdict == FLEET_BROKEN ? INFINITY : losses[k];
        if (fleet->devices[k].verdict < FLEET_SLOW)
            continue;
        for (; at && losses[order[at - 1]] < losses[k]; at--)
            order[at] = order[at - 1];
        order[at] = k;
        ++*count;
    }
    return order;
}

/* `bad`: only those that are not healthy, the worst first. */
static struct table *devices_of(const struct fleet *fleet, bool bad, struct arena *arena)
{
    static const struct table_column columns[] = {
        {.key = "node"},
        {.key = "device", .title = "device", .flags = COLUMN_TEST | COLUMN_CUT},
        {.key = "group"},
        {.key = "runs"},
        {.key = "verdict", .title = "verdict", .flags = COLUMN_VERDICT},
        {.key = "worst_change", .title = "slower by", .unit = UNIT_CHANGE, .drop = 1},
        {.key = "problem"},
        {.title = "what it has", .flags = COLUMN_PROSE}};
    struct table *table = TABLE(arena, columns);
    size_t count = fleet->device_count;
    const size_t *order = bad ? unhealthy(&count, fleet, arena) : NULL;
    for (size_t n = 0; n < count; n++) {
        const size_t k = bad ? order[n] : n;
        const struct fleet_device *d = &fleet->devices[k];
        double worst = NAN;
        for (size_t m = 0; m < fleet->metric_count; m++)
            worst = fmax(worst, d->outliers[m].change);
        table_add(table, (struct cell[]){cell_text(d->node), cell_text(d->name),
                                         cell_text(fleet->groups[d->group].name), cell_number((double)d->runs),
                                         cell_toned(fleet_verdict_names[d->verdict], verdict_tones[d->verdict]),
                                         isnan(worst) || (bad && d->problem) ? unsaid() : cell_number(worst),
                                         cell_known(d->problem), cell_text(story_of(fleet, k, bad, arena))});
    }
    for (size_t k = 0; k < fleet->missing_count; k++)
        table_add(table, (struct cell[]){cell_unknown(NULL), cell_text(fleet->missing[k]), cell_unknown(NULL),
                                         cell_number(0), cell_toned("missing", TONE_BAD), unsaid(), cell_unknown(NULL),
                                         cell_text("no result of it was read")});
    return table;
}

static void add_list(struct document *document, const char *key, const char *const *items, size_t count)
{
    struct table *list = table_list(document->arena);
    for (size_t k = 0; k < count; k++)
        table_item(list, items[k]);
    document_table(document, key, NULL, list)->show = SHOW_DATA;
}

/* ---- strips: a metric over the devices of a group ---- */

enum { MOST_STRIPS = 16 };

static void add_strip(struct chart *chart, const struct fleet *fleet, const struct fleet_spread *s, size_t row)
{
    struct arena *arena = chart->arena;
    for (size_t k = 0; k < fleet->device_count; k++) {
        const struct fleet_device *device = &fleet->devices[k];
        const double time_ns = device->readings[s->metric].time_ns, off = time_ns / s->median_ns - 1;
        const struct fleet_outlier *outlier = NULL;
        FOR_EACH(const struct fleet_outlier, o, fleet->outliers, fleet->outlier_count)
            outlier = o->device == k && o->metric == s->metric ? o : outlier;
        if (device->group != s->group || !isfinite(off))
            continue;
        struct chart_point *point = chart_point(chart, &chart->series[outlier ? 1 : 0], fmin(off, 1), (double)row);
        point->name = device->name;
        point->words = outlier ? device->name : NULL;
        point->said =
            arena_printf(arena, "%s\n%s: %s, %s from the median%s%s", device->name, fleet->metrics[s->metric].name,
                         rate_words(&fleet->metrics[s->metric], time_ns, arena), change_words(off, arena),
                         outlier ? "\ncause: " : "", outlier ? fleet_cause_names[outlier->cause] : "");
    }
}

/* By how far the slowest device is from the median. */
static int by_reach(const void *a, const void *b)
{
    const struct fleet_spread *p = *(const struct fleet_spread *const *)a, *q = *(const struct fleet_spread *const *)b;
    return ORDER(q->max_ns / q->median_ns, p->max_ns / p->median_ns) ?: ORDER(p->metric, q->metric);
}

static void add_strips(struct document *document, const struct fleet *fleet, size_t group)
{
    struct arena *arena = document->arena;
    const struct fleet_spread **order = arena_array(arena, fleet->spread_count + 1, sizeof(*order));
    const char **names = arena_array(arena, MOST_STRIPS, sizeof(*names));
    size_t count = 0;
    FOR_EACH(const struct fleet_spread, s, fleet->spreads, fleet->spread_count)
        if (s->group == group && s->n > 1)
            order[count++] = s;
    if (!count)
        return;
    qsort(order, count, sizeof(*order), by_reach);
    const size_t rows = count < MOST_STRIPS ? count : MOST_STRIPS;
    struct chart *chart = chart_new(
        arena, arena_printf(arena, "strip-%zu", group + 1),
        arena_printf(arena, "Devices of %s", fleet->groups[group].title),
        arena_printf(arena,
                     "%s. Each mark is a device: its time against the median of its group, in the %zu of %zu cases in "
                     "which one is farthest from it. Slow ones have their names; twice the time and more is at the "
                     "right edge.",
                     fleet->groups[group].about, rows, count));
    chart_add(chart, CHART_MARKS, "alike", 7);
    chart_add(chart, CHART_MARKS, "slow", 1);
    for (size_t row = 0; row < rows; row++) {
        names[row] = fleet->metrics[order[row]->metric].name;
        add_strip(chart, fleet, order[row], row);
    }
    chart->x =
        (struct chart_axis){.title = "time against the group's median", .unit = UNIT_CHANGE, .scale = CHART_LINEAR};
    chart->y = (struct chart_axis){.title = "", .scale = CHART_NAMES, .name_count = rows};
    chart->y.names = names_apart(names, rows, arena);
    chart_fit(chart, false, 0.02);
    chart_line(chart, CHART_BOUNDARY, "", (double[]){0, -0.5, 0, (double)rows - 0.5});
    document_chart(document, chart, NULL);
}

/* ---- sentences ---- */

static void add_group_findings(struct document *document, const struct fleet *fleet)
{
    struct arena *arena = document->arena;
    FOR_EACH(const struct fleet_spread, s, fleet->spreads, fleet->spread_count) {
        const struct fleet_metric *m = &fleet->metrics[s->metric];
        if (s->modes.two)
            document_text(document, SHOW_PEOPLE, TONE_BAD, "%s: two groups: %zu devices at %s, %zu at %s, on %s",
                          m->name, s->modes.count[0], rate_words(m, exp(s->modes.median[0]), arena), s->modes.count[1],
                          rate_words(m, exp(s->modes.median[1]), arena), s->slower_nodes);
        if (s->beside >= fleet->rule.delta)
            document_text(document, SHOW_PEOPLE, TONE_PLAIN,
                          "%s: %s slower than alone while all devices of a node run, %s the most", m->id,
                          change_words(s->beside, arena), fleet->devices[s->most_beside].name);
        if (s->low)
            document_text(document, SHOW_PEOPLE, TONE_BAD,
                          "%s: all %zu devices of %s together are %s slower than the baseline: the group, not a device",
                          m->name, s->n, fleet->groups[s->group].title, change_words(s->against, arena));
    }
    for (size_t g = 0; g < fleet->group_count; g++)
        if (!fleet->groups[g].judged)
            document_text(document, SHOW_PEOPLE, TONE_DOUBT,
                          "%s: %zu device%s cannot be judged: %d alike are needed, or a baseline of such devices",
                          fleet->groups[g].title, fleet->groups[g].devices, text_s(fleet->groups[g].devices),
                          OUTLIER_LEAST);
}

/* What all devices that are not healthy have, in one sentence. */
static const char *verdict_of(const struct fleet *fleet, struct arena *arena)
{
    size_t count = 0, whole = 0;
    const size_t *order = unhealthy(&count, fleet, arena), missing = fleet->missing_count;
    const char **items = arena_array(arena, count + missing + 2 * fleet->spread_count + 1, sizeof(*items));
    for (; whole < count; whole++)
        items[whole] = arena_printf(arena, "%s %s", text_cut(arena, fleet->devices[order[whole]].name, 60, ".."),
                                    text_cut(arena, story_of(fleet, order[whole], false, arena), 100, " .. "));
    for (size_t k = 0; k < missing; k++)
        items[whole++] = arena_printf(arena, "%s missing", fleet->missing[k]);
    FOR_EACH(const struct fleet_spread, s, fleet->spreads, fleet->spread_count)
        if (s->low || s->modes.two)
            items[whole++] = arena_printf(arena, "%s: %s", fleet->metrics[s->metric].name,
                                          s->low ? "the whole group is below its baseline" : "two groups of devices");
    const char *words = text_listed(arena, items, whole, 5);
    if (fleet->unread_count)
        words = arena_printf(arena, "%s%s%zu file%s could not be read", words, *words ? "; " : "", fleet->unread_count,
                             text_s(fleet->unread_count));
    return count + missing ? arena_printf(arena, "%zu of %zu devices not healthy: %s", count + missing,
                                          fleet->device_count + missing, words)
                           : words;
}

static size_t count_verdict(const struct fleet *fleet, enum fleet_verdict verdict)
{
    return COUNT_WHERE(d, fleet->devices, fleet->device_count, d->verdict == verdict);
}

static const char *add_counts(struct table *summary, const struct fleet *fleet)
{
    const struct count counts[] = {{"slow", "slow", count_verdict(fleet, FLEET_SLOW)},
                                   {"broken", "broken", count_verdict(fleet, FLEET_BROKEN)},
                                   {"missing", "missing", fleet->missing_count},
                                   {"unread", "files unread", fleet->unread_count},
                                   {"alike", "alike", count_verdict(fleet, FLEET_ALIKE)},
                                   {"not_judged", "not judged", count_verdict(fleet, FLEET_UNJUDGED)}};
    const char *line = count_members(summary, counts, COUNT_OF(counts));
    table_member(summary, "devices", NULL, cell_number((double)fleet->device_count));
    table_member(summary, "groups", NULL, cell_number((double)fleet->group_count));
    table_member(summary, "duplicates", NULL, cell_number((double)fleet->duplicates));
    table_member(summary, "exit_code", NULL, cell_number(fleet_exit_code(fleet, false)));
    return arena_printf(summary->arena, "%zu device%s: %s", fleet->device_count, text_s(fleet->device_count), line);
}

/* For programs: the schema, and the rule behind the verdicts. */
static void add_head(struct document *document, const struct fleet *fleet, const struct table *summary)
{
    static const struct table_column rule[] = {{.key = "z", FIELD(struct outlier_rule, z)},
                                               {.key = "delta", FIELD(struct outlier_rule, delta)},
                                               {.key = "healthy_spread", FIELD(struct outlier_rule, healthy)},
                                               {.key = "alpha", FIELD(struct outlier_rule, alpha)}};
    struct arena *arena = document->arena;
    struct table *head = schema_record(arena, FLEET_SCHEMA, "1.0.0"), *properties = table_record(arena);
    table_member(head, "predicted", NULL, cell_bool(fleet->predicted));
    table_member(head, "date", NULL, cell_known(fleet->date));
    table_member(head, "baseline", NULL, cell_known(fleet->baseline));
    table_member(head, "rule", NULL, cell_table(RECORD_OF(arena, rule, &fleet->rule)));
    document_table(document, NULL, NULL, head)->show = SHOW_DATA;
    table_member(properties, "kind", NULL,
                 cell_text(fleet->predicted ? "PREDICTED: nothing was executed" : "measured"));
    document_table(document, NULL, NULL, properties)->show = SHOW_TESTS;
    document_table(document, "summary", NULL, summary)->show = SHOW_DATA;
    if (fleet->predicted)
        document_text(document, SHOW_PEOPLE, TONE_DOUBT, "PREDICTED: nothing was executed");
}

static void add_end(struct document *document, const struct fleet *fleet, const char *counts)
{
    static const char *const marks[] = {"ALIKE", "OUTLIERS", "", "NOTHING READ", "TOO FEW TO TELL"};
    const int code = fleet_exit_code(fleet, false);
    const char *verdict = verdict_of(fleet, document->arena);
    document->mark = cell_toned(marks[code], code == 0 ? TONE_GOOD : code == 1 ? TONE_BAD : TONE_DOUBT);
    document->verdict = *verdict ? arena_printf(document->arena, "%s\n%s", verdict, counts) : counts;
    if (code == 1)
        document->action =
            "leave out: 'rooftile fleet DIR --list bad'; measure again: --confirm; every case: --verbose";
    else if (code == 4)
        document->action =
            "fewer than five alike: judge them by --baseline fleet.json, made of healthy ones with --json";
}

void fleet_document(struct document *document, const struct fleet *fleet, bool verbose)
{
#define OF_DRIFT(member) FIELD(struct fleet_drift, member)
    static const struct table_column drift_columns[] = {
        {.key = "key", .title = "what differs", OF_DRIFT(key)},
        {.key = "majority", .title = "most have", .flags = COLUMN_OPTIONAL, OF_DRIFT(majority)},
        {.key = "majority_count", .title = "devices", .unit = UNIT_COUNT, .drop = 1, OF_DRIFT(majority_count)},
        {.key = "value", .title = "others", .flags = COLUMN_OPTIONAL, OF_DRIFT(value)},
        {.key = "count", .title = "devices", .unit = UNIT_COUNT, OF_DRIFT(count)},
        {.key = "devices", .title = "which", .flags = COLUMN_PROSE, OF_DRIFT(devices)}};
    struct arena *arena = document->arena;
    const unsigned rows = SHOW_DATA | (verbose ? SHOW_TEXT | SHOW_MARKDOWN : 0);
    struct table *summary = table_record(arena);
    const char *counts = add_counts(summary, fleet);
    const struct table *metrics = metrics_of(fleet, arena), *outliers = outliers_of(fleet, arena);
    document->name = "fleet";
    document->date = fleet->date;
    document->title = arena_printf(arena, "Fleet of %zu device%s", fleet->device_count, text_s(fleet->device_count));
    add_head(document, fleet, summary);
    add_end(document, fleet, counts);
    document_table(document, NULL, NULL, devices_of(fleet, true, arena))->show = SHOW_PEOPLE;
    document_table(document, "metrics", NULL, metrics)->show = rows;
    document_table(document, "outliers", NULL, outliers)->show = rows;
    document_table(document, "drift", NULL, TABLE_OF(arena, drift_columns, fleet->drifts, fleet->drift_count))->show =
        SHOW_PEOPLE | SHOW_DATA;
    document_table(document, "devices", NULL, devices_of(fleet, false, arena))->show = SHOW_DATA | SHOW_TESTS;
    const char **bad = NULL, **good = NULL;
    const size_t bad_count = fleet_nodes(&bad, fleet, true, arena),
                 good_count = fleet_nodes(&good, fleet, false, arena);
    add_list(document, "missing", fleet->missing, fleet->missing_count);
    add_list(document, "unread", fleet->unread, fleet->unread_count);
    add_list(document, "bad_nodes", bad, bad_count);
    add_list(document, "good_nodes", good, good_count);
    add_group_findings(document, fleet);
    for (size_t g = 0; g < fleet->group_count; g++)
        add_strips(document, fleet, g);
    document_folded(document, SHOW_HTML, "slow", "Slow, case by case", outliers);
    document_folded(document, SHOW_HTML, "cases", "All cases", metrics);
    for (size_t k = 0; k < fleet->unread_count && k < 20; k++)
        document_text(document, SHOW_PEOPLE, TONE_BAD, "not read: %s", fleet->unread[k]);
    if (fleet->duplicates)
        document_text(document, SHOW_PEOPLE, TONE_DOUBT, "%zu file%s the same run of a device again; counted once",
                      fleet->duplicates, fleet->duplicates == 1 ? " is" : "s are");
}

/* ---- one line in the format of Nagios plugins and compatible tools ---- */

int fleet_nagios_code(const struct fleet *fleet)
{
    const int code = fleet_exit_code(fleet, false);
    return code ? nagios_code(code) : fleet->drift_count ? 1 : 0;
}

int nagios_code(int exit_code)
{
    return exit_code == 1 ? 2 : exit_code ? 3 : 0;
}

/* '|' separates the figures from the words, so the words must not contain it. */
static void add_line(struct text *out, int code, const char *words, const char *figures)
{
    static const char *const states[] = {"OK", "WARNING", "CRITICAL", "UNKNOWN"};
    SCOPED(text_release) struct text line = {0};
    text_addf(&line, "ROOFTILE %s - %s", states[code], words);
    for (char *p = line.data; *p; p++)
        *p = *p == '|' ? '/' : *p;
    text_addf(&line, " | %s", figures);
    text_add_printable(out, line.data);
    text_add(out, "\n");
}

void report_nagios(struct text *out, const struct result *result)
{
    SCOPED(arena_release) struct arena arena = {0};
    size_t ok = 0, findings = 0;
    const struct result_case *worst = NULL;
    FOR_EACH(const struct result_case, c, result->cases, result->case_count) {
        const bool finding = result_case_finding(c)[0] || c->status == CASE_ERROR;
        ok += result_case_counts(c);
        findings += finding;
        worst = worst || !finding ? worst : c;
    }
    const char *words = arena_printf(&arena, "%s: %zu of %zu case%s ok", result->device.name, ok, result->case_count,
                                     text_s(result->case_count));
    if (worst)
        words = arena_printf(&arena, "%s; %s: %s", words, case_name(worst), text_or_empty(worst->reason));
    add_line(out, nagios_code(result_exit_code(result, false)), words,
             arena_printf(&arena, "ok=%zu findings=%zu;;0", ok, findings));
}

void fleet_nagios(struct text *out, const struct fleet *fleet)
{
    SCOPED(arena_release) struct arena arena = {0};
    const char *words = verdict_of(fleet, &arena),
               *counts = fleet->device_count ? add_counts(table_record(&arena), fleet) : "nothing was measured";
    if (!*words && fleet->drift_count)
        words = arena_printf(&arena, "%s: %s is not %s", fleet->drifts[0].devices, fleet->drifts[0].key,
                             fleet->drifts[0].majority);
    add_line(out, fleet_nagios_code(fleet), arena_printf(&arena, "%s%s%s", counts, *words ? "; " : "", words),
             arena_printf(&arena, "slow=%zu;;0 broken=%zu;;0 missing=%zu;;0 devices=%zu",
                          count_verdict(fleet, FLEET_SLOW), count_verdict(fleet, FLEET_BROKEN), fleet->missing_count,
                          fleet->device_count));
}
