/* SPDX-License-Identifier: MIT
 *
 * Documents as one self-contained HTML page. All content is there without the script (page/page.js), which adds
 * search, filters, sorting, themes and downloads. The Content-Security-Policy allows no other script and no requests.
 * Strings from elsewhere are escaped as they are written.
 */

#include <math.h>

#include "page_data.h"
#include "page_files.h"
#include "picture.h"
#include "report_internal.h"
#include "rooftile/hash.h"

struct page {
    struct text *out;
    const struct report_options *options;
    unsigned tables; /* number so far: each table has its own id */
    bool open;       /* a <section> is open */
    bool folded;     /* a <details> is open: it lasts until the next title */
};

/* CSS classes by TONE_. */
static const char *const html_tones[] = {
    [TONE_PLAIN] = "",    [TONE_BOLD] = "strong", [TONE_DIM] = "dim", [TONE_BAD] = "bad",
    [TONE_GOOD] = "good", [TONE_DOUBT] = "doubt", [TONE_ACCENT] = "",
};

void html_attribute(struct text *out, const char *name, const char *value)
{
    text_addf(out, " %s=\"", name);
    text_add_xml(out, value);
    text_add(out, "\"");
}

/* Writes words in a tone. */
static void html_put(struct text *out, enum tone tone, const char *words)
{
    const bool some = *words && *html_tones[tone];
    if (some)
        text_addf(out, "<span class=\"%s\">", html_tones[tone]);
    text_add_xml(out, words);
    text_add(out, some ? "</span>" : "");
}

/* Case names can be titles, too, and have no length limit. */
static void put_title(struct text *out, const char *title)
{
    SCOPED(arena_release) struct arena arena = {0};
    text_add_xml(out, text_cut(&arena, title, 120, " \u2026 "));
}

static void element(struct text *out, const char *name, const char *words)
{
    text_addf(out, "<%s>", name);
    text_add_xml(out, words);
    text_addf(out, "</%s>", name);
}

/* ---- cells: words, links, bars and intervals ---- */

struct html_place {
    const struct table *t;
    const char *const *names; /* shortened names of rows with keys; NULL: names are not shortened */
    size_t row, column;
    bool first, second, last;
    const char *note; /* follows its words; NULL: none */
};

/* A bar's full length is the largest change of its column, at most a factor of two. */
static const double most_change = 1;

static double html_longest(const struct table *t, size_t column)
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
    LONG_NAME = 300,  /* columns; the middle of a longer name is omitted */
    LONG_WORDS = 20,  /* on a phone longer words get a line of their own */
    SHORT_PROSE = 32, /* not wrapped: a broken date would look like two numbers */
};

/* Names with long words break after underscores only. */
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

/* Returns the anchor of a case: what its id begins with, and a hash of the rest, which names every parameter. */
static const char *case_anchor(const char *id, struct arena *arena)
{
    return arena_printf(arena, "case=%.*s/%010llx", (int)strcspn(id, "/"), id,
                        (unsigned long long)hash_u64(id, strlen(id)) >> 24);
}

static void put_words(struct text *out, const struct html_place *at, struct arena *arena)
{
    const struct table_row *row = table_at(at->t, at->row);
    const struct cell *cell = &row->cells[at->column];
    const char *words = flat_words(at->t, at->row, at->column, at->second, at->last, arena);
    const struct row_keys *keys = at->column ? NULL : row->keys;
    /* Rows of cases link to the table of all cases, rows of a site to their pages. */
    const char *link = keys && keys->page                  ? keys->page
                       : keys && keys->id && !at->t->named ? arena_printf(arena, "#%s", case_anchor(keys->id, arena))
                                                           : NULL;
    const bool filters = at->t->columns[at->column].flags & COLUMN_LINK; /* a link once the script has filters */
    if (link || filters) {
        text_add(out, "<a");
        html_attribute(out, link ? "href" : "data-flag", link ? link : words);
        text_add(out, ">");
    }
    words = !(at->t->columns[at->column].flags & COLUMN_PROSE)
                ? text_cut(arena, at->first && at->names ? at->names[at->row] : words, LONG_NAME, " \u2026 ")
                : words;
    (at->first ? put_name : html_put)(out, at->second && row->instead.kind ? row->instead.tone : cell->tone, words);
    text_add(out, link || filters ? "</a>" : "");
}

/* Text that replaces a row's values spans all of its columns if it has a reason or is too long for one column. */
static bool html_takes_row(const struct table_row *row)
{
    return row->instead.kind && (row->note || (row->instead.text && text_columns(row->instead.text) > LONG_WORDS));
}

static bool same_name(const struct table *t, size_t row, size_t other, size_t column)
{
    const char *name = table_at(t, other)->cells[column].text; /* outlives its row */
    return name && table_at(t, row)->cells[column].text && !strcmp(table_at(t, row)->cells[column].text, name);
}

/* Returns the number of rows from this one on with the same name; 0 if the row above has it, too. */
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

/* `span`: number of columns of a cell that spans all values; otherwise 0. */
static void html_cell(struct text *out, const struct html_place *at, double most, size_t span)
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
    else if (cell->kind == CELL_TEXT && cell->reason && *cell->reason) /* the reason for a flag */
        html_attribute(out, "title", cell->reason);
    if (span > 1)
        text_addf(out, " colspan=\"%zu\"", span);
    if (span)
        text_add(out, " class=\"long\"");
    else if (column->unit || column->flags & COLUMN_BAR)
        text_add(out, at->t->named ? (bar ? " class=bar" : "") /* there may be thousands: put_looks styles them */
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
    if (column->flags & COLUMN_BAR && cell->kind == CELL_RANGE) { /* a change: to either side of 0 in the middle */
        const double low = 50 + 46 * fmax(-1, fmin(cell->value / most, 1)),
                     high = 50 + 46 * fmax(-1, fmin(cell->high / most, 1));
        text_addf(out,
                  "<svg class=\"picture interval\" viewBox=\"0 0 100 14\" aria-hidden=\"true\"><path class=\"zero\" "
                  "d=\"M50 1V13\"/><path class=\"%s\" d=\"",
                  cell->value > 0  ? "slower"
                  : cell->high < 0 ? "faster"
                                   : "same");
        if (cell->value >= most) /* the whole interval is beyond the scale */
            text_add(out, "M89 4L96 7L89 10M80 7H95\"/></svg>");
        else
            text_addf(out, "M%.1f 7H%.1f\"/></svg>", low, fmax(high, low + 1.5));
    }
    text_add(out, head ? "</th>" : ""); /* </td> is optional: a page of 5,000 cases has 60,000 */
}

/* ---- tables ---- */

static void put_text(struct text *out, const struct section *section)
{
    SCOPED(arena_release) struct arena arena = {0};
    text_add(out, section->verbatim ? "<pre tabindex=\"0\">" : "");
    for (const char *p = section->text; *p; p += strcspn(p, "\n"), p += *p == '\n') {
        if (*p == '\n' && !section->verbatim)
            continue;
        text_add(out, section->verbatim ? "" : "<p>");
        html_put(out, section->tone, arena_strndup(&arena, p, strcspn(p, "\n")));
        text_add(out, section->verbatim ? "\n" : "</p>\n");
    }
    text_add(out, section->verbatim ? "</pre>\n" : "");
}

/* Omits what the script can infer: the kernel if the id begins with it, and "ok" for a case without a verdict. */
static void put_keys(struct text *out, const struct table *t, const struct row_keys *keys)
{
    if (!t->named || !keys)
        return;
    SCOPED(arena_release) struct arena arena = {0};
    html_attribute(out, "id", case_anchor(keys->id, &arena));
    const size_t length = strlen(keys->kernel);
    if (strncmp(keys->id, keys->kernel, length) != 0 || keys->id[length] != '/')
        html_attribute(out, "data-k", keys->kernel);
    if (strcmp(keys->verdict, case_status_names[CASE_OK]) != 0)
        html_attribute(out, "data-v", keys->verdict);
    text_add(out, keys->tag_count ? " data-t=\"" : "");
    for (size_t k = 0; k < keys->tag_count; k++) {
        if (text_among(keys->tags[k], keys->tags, k)) /* the suite and the kernel may have the same tag */
            continue;
        text_add(out, k ? " " : "");
        text_add_xml(out, keys->tags[k]);
    }
    text_add(out, keys->tag_count ? "\"" : "");
}

/* Notes after numbers would widen their column to the longest note, so they go below the name. */
static void put_rows(struct page *page, const struct table *t, const char *const *names, const size_t *shown,
                     size_t count)
{
    SCOPED(arena_release) struct arena arena = {0};
    const bool below = count > 1 && t->columns[shown[count - 1]].unit;
    double *most = arena_array(&arena, count + 1, sizeof(*most));
    for (size_t k = 0; k < count; k++)
        most[k] = t->columns[shown[k]].flags & COLUMN_BAR ? html_longest(t, shown[k]) : 0;
    text_add(page->out, "<tbody>\n");
    for (size_t row = 0; row < rows_shown(t); row++) {
        const bool all = count > 1 && html_takes_row(table_at(t, row));
        const char *note = table_at(t, row)->note, *heading = table_at(t, row)->heading;
        if (heading && !t->named) {
            text_addf(page->out, "<tr class=\"heading\"><th scope=\"rowgroup\" colspan=\"%zu\">", count);
            text_add_xml(page->out, heading);
            text_add(page->out, "</th></tr>\n");
        }
        text_add(page->out, "<tr");
        put_keys(page->out, t, table_at(t, row)->keys);
        text_add(page->out, ">");
        for (size_t k = 0; k < count && (!all || k < 2); k++)
            html_cell(page->out,
                      &(struct html_place){t, names, row, shown[k], k == 0, k == 1, k + 1 == count && !below,
                                           (all ? k == 1 : !k && below) ? note : NULL},
                      most[k], all && k == 1 ? count - 1 : 0);
        text_add(page->out, "</tr>\n");
    }
    text_add(page->out, "</tbody>");
}

static void put_head(struct page *page, const struct table *t, const size_t *shown, size_t count)
{
    if (!has_head(t))
        return;
    text_add(page->out, "<thead><tr>");
    for (size_t k = 0; k < count; k++) {
        const bool named = *t->columns[shown[k]].title;
        text_addf(page->out, "<%s%s>", named ? "th scope=\"col\"" : "td",
                  t->columns[shown[k]].unit || t->columns[shown[k]].flags & COLUMN_BAR ? " class=\"n\"" : "");
        text_add_xml(page->out, t->columns[shown[k]].title);
        text_add(page->out, named ? "</th>" : "</td>");
    }
    text_add(page->out, "</tr></thead>\n");
}

/* On a phone each row is a card whose cells name their column; elsewhere numbers are aligned. */
static void put_looks(struct page *page, const struct table *t, const size_t *shown, size_t count)
{
    if (!has_head(t))
        return;
    text_add(page->out, "<style>");
    for (size_t k = 1; k < count && t->named; k++)
        if (t->columns[shown[k]].unit)
            text_addf(page->out,
                      "@media print,(min-width:44.01rem){#table%u td:not([colspan]):nth-last-child(%zu){"
                      "text-align:right;font-variant-numeric:tabular-nums}}",
                      page->tables, count - k);
    text_add(page->out, "@media screen and (max-width:44rem){");
    for (size_t k = 1; k < count; k++)
        if (*t->columns[shown[k]].title) {
            text_addf(page->out, "#table%u td:nth-last-child(%zu)::before{content:\"", page->tables,
                      count - k); /* counted from the end: the first cell may belong to rows above */
            /* Escape characters that could end the string or the element. */
            for (const unsigned char *p = (const unsigned char *)t->columns[shown[k]].title; *p; p++)
                text_addf(page->out, *p >= 0x80 || (*p >= ' ' && !strchr("\"\\<>&", *p)) ? "%c" : "\\%x ", *p);
            text_add(page->out, "\"}");
        }
    text_add(page->out, "}</style>\n");
}

static void put_table(struct page *page, const struct table *table, const char *label)
{
    SCOPED(arena_release) struct arena arena = {0};
    const struct table *t = table_for_people(table, &arena);
    size_t *shown = arena_array(&arena, t->column_count + 1, sizeof(*shown));
    const size_t count = columns_known(shown, t, page->options), rows = rows_shown(t);
    const char *const *names = table_names_apart(t, &arena);
    page->tables++;
    put_looks(page, t, shown, count);
    text_add(page->out, "<div class=\"wide\" tabindex=\"0\" role=\"region\"");
    html_attribute(page->out, "aria-label", arena_printf(&arena, "%s, table %u", label, page->tables));
    text_addf(page->out, "><table id=\"table%u\"%s>\n", page->tables,
              t->named        ? " class=\"cases\""
              : table->record ? " class=\"record\""
                              : "");
    put_head(page, t, shown, count);
    put_rows(page, t, names, shown, count);
    text_add(page->out, "</table></div>\n");
    if (rows < t->row_count) {
        text_addf(page->out, "<p class=\"dim\">%zu more%s", t->row_count - rows, t->rest ? "; " : "");
        text_add_xml(page->out, t->rest);
        text_add(page->out, "</p>\n");
    }
}

static void put_tiles(struct page *page, const struct table *record)
{
    SCOPED(arena_release) struct arena arena = {0};
    const struct table *tiles = table_for_people(record, &arena);
    text_add(page->out, "<dl class=\"tiles\">\n");
    for (size_t k = 0; k < tiles->row_count; k++) {
        const struct cell *cells = table_at(tiles, k)->cells;
        text_addf(page->out, "<div class=\"tile %s\">", html_tones[cells[1].tone]);
        element(page->out, "dt", cells[0].text);
        element(page->out, "dd", cells[1].text);
        text_add(page->out, "</div>\n");
    }
    text_add(page->out, "</dl>\n");
}

/* ---- sections ---- */

static void put_mark(struct text *out, const struct cell *mark)
{
    if (mark->kind)
        text_addf(out, " <span class=\"mark %s\">", html_tones[mark->tone]);
    text_add_xml(out, mark->kind ? mark->text : "");
    text_add(out, mark->kind ? "</span>" : "");
}

static void put_heading(struct page *page, const struct section *section)
{
    if (!section->title)
        return;
    text_add(page->out, page->folded ? "</details>\n" : "");
    page->folded = section->folded;
    if (!section->level && !section->folded) {
        text_add(page->out, page->open ? "</section>\n<section>\n" : "<section>\n");
        page->open = true;
    }
    text_addf(page->out, section->folded ? "<details" : section->level ? "<h3" : "<h2");
    if (section->key)
        html_attribute(page->out, "id", section->key);
    text_add(page->out, section->folded ? "><summary>" : ">");
    put_title(page->out, section->title);
    put_mark(page->out, &section->mark);
    text_add(page->out, section->folded ? "</summary>\n" : section->level ? "</h3>\n" : "</h2>\n");
}

static void put_picture(struct page *page, const struct section *section, const struct document *document)
{
    const struct chart *chart = section->chart;
    const struct table *table = section->table, *cases = NULL; /* the table it belongs to: the next named one */
    for (const struct section *next = section + 1; !cases && next < document->sections + document->count; next++)
        cases = next->table && next->table->named ? next->table : NULL;
    text_add(page->out, "<figure");
    html_attribute(page->out, "data-picture", chart->name);
    text_add(page->out, ">\n<div class=\"wide\" tabindex=\"0\" role=\"region\"");
    html_attribute(page->out, "aria-label", chart->title);
    text_add(page->out, ">\n");
    chart_svg(page->out, chart, cases, false);
    text_add(page->out, "</div>\n");
    element(page->out, "figcaption", chart->desc);
    if (table && table->row_count) {
        text_add(page->out, "\n<details class=\"data\"><summary>Data of this picture</summary>\n");
        put_table(page, table, chart->title);
        text_add(page->out, "</details>\n");
    }
    text_add(page->out, "</figure>\n");
}

static void put_section(struct page *page, const struct section *section, const struct document *document)
{
    const char *label = section->title ? section->title : document->title;
    put_heading(page, section);
    if (section->text)
        put_text(page->out, section);
    if (section->chart)
        put_picture(page, section, document);
    else if (section->table && section->tiles)
        put_tiles(page, section->table);
    else if (section->table && section->table->row_count)
        put_table(page, section->table, label ? label : "");
}

/* ---- the page ---- */

static void put_top(struct page *page, const struct document *document)
{
    struct text *out = page->out;
    text_add(out,
             "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
             "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
             "img-src data: blob:; base-uri 'none'; form-action 'none'; script-src ");
    text_add_script_hash(out, page_js);
    text_add(out, "\">\n<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                  "<meta name=\"color-scheme\" content=\"light dark\">\n");
    element(out, "title", document->title);
    text_addf(out, "\n<style>\n%s%s</style>\n<script>%s</script></head><body>\n", page_picture_css, page_css, page_js);
    text_add(out, "<a class=\"skip\" href=\"#content\">Skip to the content</a>\n<header>\n<div>");
    if (document->index) {
        text_add(out, "<a class=\"index\"");
        html_attribute(out, "href", document->index);
        text_add(out, ">\u2190 All pages</a>\n");
    }
    text_add(out, "<h1>");
    element(out, "bdi", document->title);
    put_mark(out, &document->mark);
    text_add(out, "</h1></div>\n<div class=\"tools\" id=\"tools\"></div>\n</header>\n");
}

static bool is_place(const struct section *section)
{
    return section->key && section->title && !section->level && section_shown(section, SHOW_HTML);
}

/* Only if there are at least two sections to link to. */
static void put_contents(struct page *page, const struct document *document)
{
    if (COUNT_WHERE(section, document->sections, document->count, is_place(section)) < 2)
        return;
    text_add(page->out, "<nav aria-label=\"Sections\"><ul>\n");
    FOR_EACH(const struct section, section, document->sections, document->count) {
        if (!is_place(section))
            continue;
        text_add(page->out, "<li><a href=\"#");
        text_add_xml(page->out, section->key);
        text_add(page->out, "\">");
        put_title(page->out, section->title);
        text_add(page->out, "</a></li>\n");
    }
    text_add(page->out, "</ul></nav>\n");
}

void render_html(struct text *out, const struct document *document, const struct report_options *options)
{
    struct page page = {.out = out, .options = options};
    put_top(&page, document);
    put_contents(&page, document);
    text_add(out, "<main id=\"content\" tabindex=\"-1\">\n");
    if (document->verdict) {
        text_addf(out, "<div class=\"verdict %s\">\n", html_tones[document->mark.tone]);
        put_text(out, &(struct section){.text = document->verdict, .tone = TONE_BOLD});
        put_text(out, &(struct section){.text = text_or_empty(document->action)});
        text_add(out, "</div>\n");
    }
    for (size_t k = 0; k < document->count; k++)
        if (section_shown(&document->sections[k], SHOW_HTML))
            put_section(&page, &document->sections[k], document);
    text_addf(out, "%s%s</main>\n", page.folded ? "</details>\n" : "", page.open ? "</section>\n" : "");
    if (document->data) {
        text_add(out, "<script type=\"text/plain\" id=\"data-json\">");
        text_add_packed(out, document->data, strlen(document->data));
        text_add(out, "</script>\n");
    }
    text_add(out, "</body></html>\n");
}
