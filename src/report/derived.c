/* SPDX-License-Identifier: MIT
 *
 * Values that a suite derives from its cases, for people: a line per curve, a table per matrix, sum or ratio.
 */

#include "report_internal.h"
#include "rooftile/units.h"

/* Below this, more than a tenth of the variation is not explained by time = start-up + volume / rate. */
#define GOOD_R2 0.9

enum { MOST_POINTS = 6 }; /* with more, only the lowest and the highest are listed */

/* ---- quantities ---- */

static const char *unit_of(const struct result *result, const struct result_derived *derived, const char *name)
{
    static const struct {
        const char *name, *unit;
    } units[] = {
        {"time_ns", UNIT_TIME},          {"ns_per_item", UNIT_TIME}, {"bytes_per_s", UNIT_BYTE_RATE},
        {"flops_per_s", UNIT_FLOP_RATE}, {"bytes", UNIT_BYTES},      {"footprint", UNIT_BYTES},
    };
    for (size_t k = 0; k < COUNT_OF(units); k++)
        if (!strcmp(units[k].name, name))
            return units[k].unit;
    for (size_t k = 0; k < result->case_count; k++)
        for (size_t m = 0; m < result->cases[k].metric_count; m++)
            if (!strcmp(result->cases[k].kernel, derived->kernel) && !strcmp(result->cases[k].metrics[m].name, name))
                return result->cases[k].metrics[m].unit;
    return UNIT_SIZE;
}

/* A derived value and the units of its x and y. */
struct value {
    const struct result_derived *derived;
    const struct derived_point *points;
    size_t count;
    const char *x, *y;
    struct arena *arena;
};

static const char *x_words(const struct value *v, double x)
{
    return quantity_words(x, v->x, v->arena);
}

static const char *y_words(const struct value *v, double y)
{
    return quantity_words(y, v->y, v->arena);
}

static const char *time_text(const struct value *v, double time_ns)
{
    return quantity_words(time_ns, UNIT_TIME, v->arena);
}

/* ---- one line per method ---- */

static void say_startup(struct text *out, const struct value *v)
{
    char rate[UNITS_TEXT];
    const struct derived_fit *fit = &v->points->fit;
    text_addf(out, "start-up %s, then %s (%sR2 %.3f)", y_words(v, fit->startup),
              strcmp(v->y, UNIT_TIME)
                  ? quantity_words(fit->rate, UNIT_NUMBER, v->arena)
                  : units_rate(rate, fit->rate * 1e9, strcmp(v->x, UNIT_BYTES) ? "1/s" : UNIT_BYTE_RATE),
              fit->r2 >= GOOD_R2 ? "" : "a poor fit: ", fit->r2);
}

static void say_changes(struct text *out, const struct value *v)
{
    if (!v->count)
        text_add(out, "no change of level");
    FOR_EACH(const struct derived_point, p, v->points, v->count)
        text_addf(out, "%s between %s %s and %s: %s, then %s (confidence %s)", p == v->points ? "changes" : "; then",
                  v->derived->x, x_words(v, p->change.x_low), x_words(v, p->change.x_high),
                  y_words(v, p->change.before), y_words(v, p->change.after),
                  percent_words(p->change.confidence, v->arena));
}

static void say_knee(struct text *out, const struct value *v)
{
    text_addf(out, "knee at %s %s", v->derived->x, x_words(v, v->points->extreme.x));
}

static void say_extreme(struct text *out, const struct value *v)
{
    const struct derived_extreme *extreme = &v->points->extreme;
    text_addf(out, "%s at %s %s", y_words(v, extreme->y), v->derived->x, x_words(v, extreme->x));
}

static void say_arms(struct text *out, const struct value *v)
{
    static const char *const intros[] = {"; they disagree: ", "; not compared: "};
    const struct derived_value *value = &v->derived->value;
    text_add(out, *text_or_empty(value->word) ? value->word : "incomplete");
    FOR_EACH(const struct derived_point, p, v->points, v->count) {
        const double time_ns = isnan(p->arm.host_ns) ? p->arm.event_ns : p->arm.host_ns;
        text_addf(out, "%s%s %s", p == v->points ? "; per launch: " : ", ", p->words[0],
                  time_text(v, time_ns / p->arm.launches));
    }
    for (size_t kind = 0; kind < COUNT_OF(intros); kind++)
        for (size_t k = 0; k < value->texts[kind].count; k++)
            text_addf(out, "%s%s", k ? "; " : intros[kind], value->texts[kind].items[k]);
}

static void say_ratio(struct text *out, const struct value *v)
{
    const struct derived_point *least = v->points, *most = v->points;
    const size_t count = v->count;
    const bool all = count <= MOST_POINTS;
    FOR_EACH(const struct derived_point, p, v->points, v->count) {
        least = p->ratio.ratio < least->ratio.ratio ? p : least;
        most = p->ratio.ratio > most->ratio.ratio ? p : most;
    }
    text_addf(out, "%s %s", v->derived->kernel, strcmp(v->derived->y, "time_ns") != 0 ? "reaches" : "takes");
    for (size_t k = 0; k < (all ? count : least == most ? 1 : 2); k++) {
        const struct derived_point *p = all ? &v->points[k] : k ? most : least;
        text_addf(out, "%s %.2f", k ? "," : "", p->ratio.ratio);
        if (!k)
            text_addf(out, " of %s", v->derived->value.word);
        text_addf(out, "%s%s (%s)", *p->words[0] ? " at " : "", p->words[0], y_words(v, p->ratio.value));
    }
    if (!all)
        text_addf(out, ", the least and the most of %zu", count);
    if (v->derived->value.number > 0)
        text_addf(out, "; %.0f without a counterpart", v->derived->value.number);
}

static void say_dips(struct text *out, const struct value *v)
{
    if (!v->count)
        text_add(out, "no dips");
    FOR_EACH(const struct derived_point, p, v->points, v->count)
        text_addf(out, "%s%s %s: %s after %s", p == v->points ? "dips at " : "; ", v->derived->x, x_words(v, p->dip.x),
                  y_words(v, p->dip.after), y_words(v, p->dip.before));
}

static void say_together(struct text *out, const struct value *v)
{
    if (!v->count)
        text_addf(out, "nothing to compare with");
    FOR_EACH(const struct derived_point, p, v->points, v->count)
        text_addf(out, "%s%.0f copies of %s: %s at once, %s one behind the other (%.1f at a time)",
                  p == v->points ? "" : "; ", p->together.copies, x_words(v, p->together.x),
                  time_text(v, p->together.whole_ns), time_text(v, p->together.sum_ns), p->together.overlap);
}

static void say_overlap(struct text *out, const struct value *v)
{
    FOR_EACH(const struct derived_point, p, v->points, v->count)
        text_addf(out, "%s%s%s%s at once, %s one after the other: speedup %.2f of %.2f, overlap efficiency %s",
                  p == v->points ? "" : "; ", p->words[0], *p->words[0] ? ": " : "", time_text(v, p->overlap.whole_ns),
                  time_text(v, p->overlap.sum_ns), p->overlap.speedup, p->overlap.ideal_speedup,
                  percent_words(p->overlap.efficiency, v->arena));
}

static const struct {
    const char *method;
    void (*say)(struct text *out, const struct value *value);
} methods[] = {
    {"startup", say_startup},   {"change_points", say_changes}, {"knee", say_knee},   {"max", say_extreme},
    {"min", say_extreme},       {"three_arm", say_arms},        {"ratio", say_ratio}, {"dips", say_dips},
    {"together", say_together}, {"overlap", say_overlap},
};

/* Returns NULL if the method is unknown. */
static const char *line_of(const struct value *v)
{
    const char *problem = text_or_empty(v->derived->value.error), *line = NULL;
    if (*problem)
        return arena_printf(v->arena, "none: %s", problem);
    if (result_derived_is_finding(v->derived))
        return arena_printf(v->arena, "a finding: %s", v->derived->finding);
    for (size_t k = 0; k < COUNT_OF(methods) && !line; k++) {
        struct text text = {0};
        if (strcmp(methods[k].method, v->derived->method) != 0)
            continue;
        methods[k].say(&text, v);
        line = text_take(&text, v->arena);
    }
    return line;
}

/* ---- tables ---- */

/* Writes a size as 64Ki rather than 65536. */
static const char *size_words(const char *value, struct arena *arena)
{
    double number = 0;
    return units_parse_number(&number, value) ? quantity_words(number, UNIT_SIZE, arena) : value;
}

static struct table *matrix(const struct value *v)
{
    const struct derived_value *value = &v->derived->value;
    const size_t rows = value->texts[0].count, columns = value->texts[1].count;
    struct table_column *heads = arena_array(v->arena, columns + 1, sizeof(*heads));
    heads[0].title = v->derived->rows;
    for (size_t k = 0; k < columns; k++)
        heads[k + 1] = (struct table_column){.title = size_words(value->texts[1].items[k], v->arena), .unit = v->y};
    struct table *table = table_new(v->arena, heads, columns + 1);
    for (size_t row = 0; row < rows; row++) {
        struct cell *cells = table_add(table, NULL)->cells;
        cells[0] = cell_text(size_words(value->texts[0].items[row], v->arena));
        for (size_t k = 0; k < columns; k++)
            cells[k + 1] = cell_number(value->cells[row * columns + k]);
    }
    return table;
}

/* Parts of a sum with their shares, "3 x 1.20 us" for a part that occurs three times. */
static struct table *shares(const struct value *v)
{
    static const struct table_column columns[] = {{.title = "part"},
                                                  {.title = "kernel"},
                                                  {.title = "time", .unit = UNIT_TIME},
                                                  {.title = "share", .unit = UNIT_PERCENT}};
    struct table *table = TABLE(v->arena, columns);
    FOR_EACH(const struct derived_point, p, v->points, v->count) {
        struct cell time = cell_number(p->part.time_ns);
        if (p->part.times > 1)
            time.text = arena_printf(v->arena, "%.0f x %s", p->part.times, time_text(v, p->part.time_ns));
        table_add(table,
                  (struct cell[]){cell_text(p->words[0]), cell_text(p->words[1]), time, cell_number(p->part.share)});
    }
    return table;
}

/* ---- the sections ---- */

/* Writes "dtype=f32;n=65536" in the style of case labels: "dtype=f32 n=64Ki". */
static const char *group_words(const char *group, struct arena *arena)
{
    const char *words = "";
    for (const char *at = group; *at; at += strspn(at, ";")) {
        const size_t name = strcspn(at, "=;"), length = strcspn(at, ";");
        const char *value = arena_strndup(arena, at + name + (at[name] == '='), length - name - (at[name] == '='));
        words = arena_printf(arena, "%s %.*s%s%s", words, (int)name, at, at[name] == '=' ? "=" : "",
                             size_words(value, arena));
        at += length;
    }
    return words;
}

void derived_sections(struct document *document, const struct result *result)
{
    struct table *lines = table_list(document->arena);
    lines->indent = 2;
    if (result->derived_count)
        document_table(document, NULL, "derived from these cases", lines);
    FOR_EACH(const struct result_derived, derived, result->derived, result->derived_count) {
        const struct derived_value *value = &derived->value;
        const struct value v = {.derived = derived,
                                .points = value->points,
                                .count = value->count,
                                .x = unit_of(result, derived, derived->x),
                                .y = unit_of(result, derived, derived->y),
                                .arena = document->arena};
        const char *line = NULL;
        struct table *table = NULL;
        if (value->cells) {
            table = matrix(&v);
            line = arena_printf(v.arena, "%s by %s (rows) and %s", derived->y, derived->rows, derived->x);
        } else if (!strcmp(derived->method, "shares") && value->count && isfinite(value->number)) {
            table = shares(&v);
            line = time_text(&v, value->number);
        } else {
            line = line_of(&v);
        }
        if (!line)
            continue;
        line = arena_printf(document->arena, "%s%s: %s", derived->name, group_words(derived->group, document->arena),
                            line);
        if (!table) {
            table_item(lines, line);
            continue;
        }
        table->indent = 2;
        document_table(document, NULL, line, table)->level = 1;
    }
}
