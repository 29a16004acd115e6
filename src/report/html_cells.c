/* SPDX-License-Identifier: MIT
 *
 * The cells of a page's tables: words, links, bars and intervals.
 */
#include <math.h>
#include <string.h>

#include "html_cells.h"
#include "report_internal.h"

const char *const html_tones[] = {
    [TONE_PLAIN] = "",    [TONE_BOLD] = "strong", [TONE_DIM] = "dim", [TONE_BAD] = "bad",
    [TONE_GOOD] = "good", [TONE_DOUBT] = "doubt", [TONE_ACCENT] = "",
};

void html_attribute(struct text *out, const char *name, const char *value)
{
    text_addf(out, " %s=\"", name);
    text_add_xml(out, value);
    text_add(out, "\"");
}

void html_put(struct text *out, enum tone tone, const char *words)
{
    const bool some = *words && *html_tones[tone];
    if (some)
        text_addf(out, "<span class=\"%s\">", html_tones[tone]);
    text_add_xml(out, words);
    text_add(out, some ? "</span>" : "");
}

/* A bar is as long as the largest change of its column, or as twofold where some are larger. */
static const double most_change = 1;

double html_longest(const struct table *t, size_t column)
{
    double most = 0.02;
    for (size_t row = 0; row < rows_shown(t); row++) {
        const struct cell *cell = &table_at(t, row)->cells[column];
        if (cell->kind == CELL_NUMBER || cell->kind == CELL_RANGE)
            most = fmax(most, fabs(cell->value));
        if (cell->kind == CELL_RANGE)
            most = fmax(most, fabs(cell->high));
    }
    return fmin(most, most_change);
}

enum {
    LONG_NAME = 300,  /* columns; a longer one is shown without its middle */
    LONG_WORDS = 20,  /* on a phone they have a line of their own */
    SHORT_PROSE = 32, /* that no line breaks: a date would look like two numbers */
};

/* Names whose words are long break behind underscores, not anywhere. */
static void put_name(struct text *out, enum tone tone, const char *words)
{
    SCOPED(text_release) struct text whole = {0};
    size_t longest = 0;
    for (const char *p = words; *p; p += strcspn(p, " "), p += *p == ' ')
        longest = strcspn(p, " ") > longest ? strcspn(p, " ") : longest;
    html_put(&whole, tone, words);
    for (const char *p = whole.data; p && *p; p++)
        text_addf(out, *p == '_' && longest > LONG_WORDS ? "%c<wbr>" : "%c", *p);
}

static void put_words(struct text *out, const struct html_place *at, struct arena *arena)
{
    const struct table_row *row = table_at(at->t, at->row);
    const struct cell *cell = &row->cells[at->column];
    const char *words = flat_words(at->t, at->row, at->column, at->second, at->last, arena);
    const struct row_keys *keys = at->column ? NULL : row->keys;
    /* Rows of cases lead to the table of all of them, those of a site to pages. */
    const char *link = keys && keys->page                               ? keys->page
                       : keys && keys->id && !at->t->named              ? arena_printf(arena, "#case=%s", keys->id)
                       : at->t->columns[at->column].flags & COLUMN_LINK ? arena_printf(arena, "#%s", words)
                                                                        : NULL;
    if (link) {
        text_add(out, "<a");
        html_attribute(out, "href", link);
        text_add(out, ">");
    }
    words = !(at->t->columns[at->column].flags & COLUMN_PROSE)
                ? text_cut(arena, at->first && at->names ? at->names[at->row] : words, LONG_NAME, " \u2026 ")
                : words;
    (at->first ? put_name : html_put)(out, at->second && row->instead.kind ? row->instead.tone : cell->tone, words);
    text_add(out, link ? "</a>" : "");
}

/* What stands in the place of a row's values has the room of all, with its reason, where it is too long for one. */
bool html_takes_row(const struct table_row *row)
{
    return row->instead.kind && (row->note || (row->instead.text && text_columns(row->instead.text) > LONG_WORDS));
}

static bool same_name(const struct table *t, size_t row, size_t other, size_t column)
{
    const char *name = table_at(t, other)->cells[column].text; /* lives longer than its row */
    return name && table_at(t, row)->cells[column].text && !strcmp(table_at(t, row)->cells[column].text, name);
}

/* How many rows from this one on begin with the same name; 0: the one above it does. */
static size_t rows_of_name(const struct table *t, size_t row, size_t column)
{
    size_t count = 1;
    if (t->named || table_at(t, row)->keys || table_at(t, row)->heading)
        return 1;
    if (row && same_name(t, row - 1, row, column))
        return 0;
    while (row + count < rows_shown(t) && same_name(t, row + count, row, column))
        count++;
    return count;
}

void html_cell(struct text *out, const struct html_place *at, double most, size_t span)
{
    SCOPED(arena_release) struct arena arena = {0};
    const struct table_column *column = &at->t->columns[at->column];
    const struct cell *cell = &table_at(at->t, at->row)->cells[at->column];
    const bool head = at->first && !column->unit, bar = column->flags & COLUMN_BAR && cell->kind == CELL_NUMBER;
    const size_t rows = head && column->flags & COLUMN_GROUP ? rows_of_name(at->t, at->row, at->column) : 1;
    if (!rows)
        return;
    text_add(out, !head ? "<td" : at->t->named ? "<th" : "<th scope=\"row\"");
    if (rows > 1)
        text_addf(out, " rowspan=\"%zu\"", rows);
    if (at->first && cell->text &&
        (text_columns(cell->text) > LONG_NAME ||
         (at->names && !at->t->named && strcmp(at->names[at->row], cell->text) != 0))) /* a case's row has its id */
        html_attribute(out, "title", cell->text);
    else if (cell->kind == CELL_TEXT && cell->reason && *cell->reason) /* why a flag is set */
        html_attribute(out, "title", cell->reason);
    if (span > 1)
        text_addf(out, " colspan=\"%zu\"", span);
    if (span)
        text_add(out, " class=\"long\"");
    else if (column->unit || column->flags & COLUMN_BAR)
        text_add(out, at->t->named ? (bar ? " class=bar" : "") /* thousands: put_looks has the rest */
                      : bar        ? " class=\"n bar\""
                                   : " class=n");
    else if (column->flags & COLUMN_STRIP)
        text_add(out, " class=\"strip\"");
    else if (column->flags & COLUMN_PROSE && has_head(at->t))
        text_add(out,
                 cell->text && text_columns(cell->text) < SHORT_PROSE ? " class=\"prose whole\"" : " class=\"prose\"");
    else if (!head && text_columns(flat_words(at->t, at->row, at->column, at->second, at->last, &arena)) > LONG_WORDS)
        text_add(out, " class=\"long\"");
    if (bar && !cell->text)
        text_addf(out, " style=\"--v:%.0f%%\"", 100 * fmin(fmax(cell->value, 0), 1));
    text_add(out, ">");
    put_words(out, at, &arena);
    if (at->note) {
        text_add(out, " <span class=\"note\">");
        text_add_xml(out, at->note);
        text_add(out, "</span>");
    }
    if (column->flags & COLUMN_BAR && cell->kind == CELL_RANGE) { /* a change from 0 in the middle to either side */
        const double low = 50 + 46 * fmax(-1, fmin(cell->value / most, 1)),
                     high = 50 + 46 * fmax(-1, fmin(cell->high / most, 1));
        text_addf(out,
                  "<svg class=\"picture interval\" viewBox=\"0 0 100 14\" aria-hidden=\"true\"><path class=\"zero\" "
                  "d=\"M50 1V13\"/><path class=\"%s\" d=\"",
                  cell->value > 0  ? "slower"
                  : cell->high < 0 ? "faster"
                                   : "same");
        if (cell->value >= most) /* all of it is further away */
            text_add(out, "M89 4L96 7L89 10M80 7H95\"/></svg>");
        else
            text_addf(out, "M%.1f 7H%.1f\"/></svg>", low, fmax(high, low + 1.5));
    }
    text_add(out, head ? "</th>" : ""); /* </td> may be left away: a page of 5,000 cases has 60,000 */
}
