/* SPDX-License-Identifier: MIT
 *
 * The table: every cell as text first, then the widths, then as many columns as the terminal has room for.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "labels.h"
#include "report_internal.h"
#include "rooftile/units.h"

enum column {
    TIME,
    INTERVAL,
    SAMPLES,
    RATE,
    INTENSITY,
    FLOOR,
    BOUND,
    FRACTION,
    VERIFIED,
    LOOP,
    FLAGS,
    MARKS,
    COLUMN_COUNT
};
enum { GAP = 2, LEAST_LABEL = 12, REASON_INDENT = 4 };

#define BIT(column) (1u << (column))

static const struct {
    const char *title;
    bool right;
} columns[COLUMN_COUNT] = {
    [TIME] = {"time", true},
    [INTERVAL] = {"\u00b195%", true},
    [SAMPLES] = {"samples", true},
    [RATE] = {"rate", true},
    [INTENSITY] = {"FLOP/B", true},
    [FLOOR] = {"floor", true},
    [BOUND] = {"bound", false},
    [FRACTION] = {"of roof", true},
    [VERIFIED] = {"verified", false},
    [LOOP] = {"hot loop", false},
    [FLAGS] = {"", false},
    [MARKS] = {"", false},
};

/* What a narrow terminal goes without, step by step. */
static const unsigned left_out[] = {
    BIT(MARKS),
    BIT(FLAGS),
    BIT(FLAGS) | BIT(INTENSITY),
    BIT(FLAGS) | BIT(INTENSITY) | BIT(INTERVAL),
    BIT(FLAGS) | BIT(INTENSITY) | BIT(INTERVAL) | BIT(BOUND),
};

struct cell {
    const char *text;
    enum style style;
};

struct row {
    struct cell cells[COLUMN_COUNT];
    bool measured;
};

struct table {
    const struct result *result;
    const struct report_options *options;
    const struct row_label *labels;
    struct row *rows;
    unsigned widths[COLUMN_COUNT]; /* 0: the column has nothing to say */
    unsigned shown;                /* columns, bits */
    unsigned label_width, columns;
};

/* ---- cells ---- */

static struct cell plain(struct arena *arena, const char *text)
{
    return (struct cell){printable(arena, text), STYLE_PLAIN};
}

static void fill_flags(struct row *row, const struct result_case *c, struct arena *arena)
{
    struct text words = {0}, marks = {0};
    const enum style style = c->flags & FLAG_IMPOSSIBLE ? STYLE_RED : STYLE_YELLOW;
    figure_flags(&words, c);
    figure_marks(&marks, c);
    row->cells[FLAGS] = (struct cell){arena_strdup(arena, words.data ? words.data : ""), style};
    row->cells[MARKS] = (struct cell){arena_strdup(arena, marks.data ? marks.data : ""), style};
    text_release(&words);
    text_release(&marks);
}

static void fill_measured(struct row *row, const struct result_case *c, struct arena *arena)
{
    char text[FIGURE_TEXT];
    row->cells[TIME] = plain(arena, units_time(text, c->stats.median));
    row->cells[INTERVAL] = plain(arena, figure_interval(text, c));
    row->cells[SAMPLES] = plain(arena, arena_printf(arena, "%zu", c->sample_count));
    row->cells[RATE] = plain(arena, figure_rate(text, c));
    row->cells[INTENSITY] = plain(arena, figure_intensity(text, c));
    row->cells[FLOOR] = plain(arena, c->floor.time_ns > 0 ? units_time(text, c->floor.time_ns) : "-");
    row->cells[BOUND] = plain(arena, figure_bound(c));
    row->cells[FRACTION] = plain(arena, figure_fraction(text, c));
    if (isfinite(c->fraction) && c->fraction >= 0.8)
        row->cells[FRACTION].style = STYLE_GREEN;
    row->cells[VERIFIED] = plain(arena, figure_verified(c));
    row->cells[LOOP] = plain(arena, figure_loop(text, c));
    if (c->verification.verdict == VERIFY_FAIL)
        row->cells[VERIFIED].style = STYLE_RED;
}

static const struct row_label *row_labels(const struct result *result, struct arena *arena)
{
    const char **labels = arena_array(arena, result->case_count + 1, sizeof(*labels));
    for (size_t k = 0; k < result->case_count; k++) {
        const struct result_case *c = &result->cases[k];
        labels[k] = printable(arena, c->label && c->label[0] ? c->label : c->id);
    }
    return group_labels(labels, result->case_count, arena);
}

static void fill_rows(struct table *table, struct arena *arena)
{
    table->rows = arena_array(arena, table->result->case_count + 1, sizeof(*table->rows));
    for (size_t k = 0; k < table->result->case_count; k++) {
        const struct result_case *c = &table->result->cases[k];
        struct row *row = &table->rows[k];
        row->measured = c->status == CASE_OK && c->sample_count;
        fill_flags(row, c, arena);
        if (row->measured)
            fill_measured(row, c, arena);
    }
}

/* ---- layout ---- */

static void measure_columns(struct table *table)
{
    for (unsigned column = 0; column < COLUMN_COUNT; column++) {
        size_t widest = 0;
        for (size_t k = 0; k < table->result->case_count; k++) {
            const struct row *row = &table->rows[k];
            const size_t width = row->measured ? text_columns(row->cells[column].text) : 0;
            widest = width > widest ? width : widest;
        }
        const size_t title = text_columns(columns[column].title);
        table->widths[column] = (unsigned)(widest && widest < title ? title : widest);
    }
    if (!table->options->verbose)
        table->widths[SAMPLES] = table->widths[FLOOR] = table->widths[LOOP] = 0;
}

static unsigned columns_width(const struct table *table, unsigned shown)
{
    unsigned width = 0;
    for (unsigned column = 0; column < COLUMN_COUNT; column++)
        if (shown & BIT(column) && table->widths[column])
            width += GAP + table->widths[column];
    return width;
}

/* A label that is wider than its column stands on a line of its own. */
static void choose_layout(struct table *table)
{
    size_t widest = LEAST_LABEL;
    unsigned rest = 0;
    for (size_t k = 0; k < table->result->case_count; k++) {
        const size_t width = text_columns(table->labels[k].text);
        widest = width > widest ? width : widest;
    }
    for (size_t k = 0; k < sizeof(left_out) / sizeof(*left_out); k++) {
        table->shown = ~left_out[k];
        rest = columns_width(table, table->shown);
        if (widest + rest <= table->columns)
            break;
    }
    const unsigned room = table->columns > rest + LEAST_LABEL ? table->columns - rest : LEAST_LABEL;
    table->label_width = widest < room ? (unsigned)widest : room;
}

/* ---- text ---- */

/* Blanks are held back until something follows them, so that no line ends in one. */
struct line {
    struct text *out;
    const struct report_options *options;
    size_t blanks;
};

static void add_cell(struct line *line, struct cell cell, unsigned width, bool right)
{
    const size_t taken = text_columns(cell.text), pad = taken < width ? width - taken : 0;
    if (!taken) {
        line->blanks += width;
        return;
    }
    text_pad(line->out, line->blanks + (right ? pad : 0), ' ');
    styled(line->out, line->options, cell.style, cell.text);
    line->blanks = right ? 0 : pad;
}

static void add_label(struct line *line, const struct table *table, const char *label)
{
    add_cell(line, (struct cell){label, STYLE_PLAIN}, table->label_width, false);
    if (text_columns(label) <= table->label_width)
        return;
    text_add(line->out, "\n");
    line->blanks = table->label_width;
}

static void add_header(struct text *out, const struct table *table)
{
    struct line line = {.out = out, .options = table->options};
    add_cell(&line, (struct cell){"case", STYLE_BOLD}, table->label_width, false);
    for (unsigned column = 0; column < COLUMN_COUNT; column++) {
        if (!(table->shown & BIT(column)) || !table->widths[column])
            continue;
        line.blanks += GAP;
        add_cell(&line, (struct cell){columns[column].title, STYLE_BOLD}, table->widths[column], columns[column].right);
    }
    text_add(out, "\n");
}

static void add_fate(struct line *line, const struct result_case *c, const char *flags)
{
    const bool harmless = c->status == CASE_SKIPPED || c->status == CASE_OK;
    line->blanks += GAP;
    add_cell(line,
             (struct cell){c->status == CASE_OK ? figure_verified(c) : case_status_name(c->status),
                           harmless ? STYLE_DIM : STYLE_RED},
             0, false);
    line->blanks += GAP;
    add_cell(line, (struct cell){flags, STYLE_YELLOW}, 0, false);
}

static void add_reason(struct text *out, const struct table *table, size_t k)
{
    struct arena scratch = {0};
    const struct result_case *c = &table->result->cases[k];
    const struct result_case *before = k ? c - 1 : NULL;
    const bool broken = c->status != CASE_OK;
    if (!c->reason || !c->reason[0] || !(broken || c->flags & FLAG_IMPOSSIBLE))
        return;
    const bool again = before && before->status == c->status && before->reason && !strcmp(before->reason, c->reason);
    const char *reason = printable(&scratch, again ? "for the same reason" : c->reason);
    indented(out, broken ? reason : arena_printf(&scratch, "impossible: %s", reason), REASON_INDENT, table->columns);
    arena_release(&scratch);
}

static void add_heading(struct text *out, const struct table *table, const char *heading)
{
    struct text lines = {0};
    wrapped(&lines, heading, 0, table->columns);
    styled(out, table->options, STYLE_BOLD, lines.data);
    text_release(&lines);
}

static void add_row(struct text *out, const struct table *table, size_t k)
{
    const struct row *row = &table->rows[k];
    struct line line = {.out = out, .options = table->options};
    if (table->labels[k].heading)
        add_heading(out, table, table->labels[k].heading);
    add_label(&line, table, table->labels[k].text);
    for (unsigned column = 0; row->measured && column < COLUMN_COUNT; column++) {
        if (!(table->shown & BIT(column)) || !table->widths[column])
            continue;
        line.blanks += GAP;
        add_cell(&line, row->cells[column], table->widths[column], columns[column].right);
    }
    if (!row->measured)
        add_fate(&line, &table->result->cases[k], row->cells[FLAGS].text);
    text_add(out, "\n");
    add_reason(out, table, k);
}

enum status report_table(struct text *out, const struct result *result, const struct report_options *options,
                         struct err *err)
{
    (void)err;
    struct arena arena = {0};
    struct table table = {
        .result = result, .options = options, .columns = report_columns(options), .labels = row_labels(result, &arena)};
    fill_rows(&table, &arena);
    measure_columns(&table);
    choose_layout(&table);
    predicted_banner(out, result, options);
    add_header(out, &table);
    for (size_t k = 0; k < result->case_count; k++)
        add_row(out, &table, k);
    summary_lines(out, result, options, (table.shown & BIT(MARKS)) != 0);
    report_roofline_text(out, result, options);
    predicted_banner(out, result, options);
    arena_release(&arena);
    return STATUS_OK;
}
