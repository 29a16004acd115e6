/* SPDX-License-Identifier: MIT
 *
 * Documents as Markdown and as HTML: one walk over a document, two tables of what is written around its parts.
 */
#include <string.h>

#include "report_internal.h"

/* GitHub takes 65,536 characters of a comment. */
enum { MOST_MARKDOWN_BYTES = 60000 };

struct markup {
    unsigned reader; /* SHOW_* */
    enum escape escape;
    size_t most_bytes;                    /* 0: no limit */
    bool links;                           /* titles have names to jump to */
    bool rule;                            /* a line of dashes below the head, which is never missing */
    const char *title[2], *heading[2][2]; /* before and behind; of a section by its level */
    const char *mark[2], *paragraph[2], *verbatim[2], *fold[3];
    const char *table[2], *row[2], *head[3], *cell[3]; /* cell: before, before a number, behind */
    const char *tone[TONE_ACCENT + 1][2];
};

static const struct markup markdown = {
    .reader = SHOW_MARKDOWN,
    .escape = ESCAPE_MARKDOWN,
    .most_bytes = MOST_MARKDOWN_BYTES,
    .rule = true,
    .title = {"### ", "\n\n"},
    .heading = {{"**", "**\n\n"}, {"**", "**\n\n"}},
    .mark = {" ", ""},
    .paragraph = {"", "\n\n"},
    .verbatim = {"```\n", "```\n\n"},
    .fold = {"<details><summary>", "</summary>\n\n", "</details>\n\n"},
    .table = {"", "\n"},
    .row = {"", "|\n"},
    .head = {"| ", "| ", " "},
    .cell = {"| ", "| ", " "},
    .tone = {{"", ""}, {"**", "**"}, {"", ""}, {"**", "**"}, {"", ""}, {"", ""}, {"", ""}},
};

static const struct markup html = {
    .reader = SHOW_HTML,
    .escape = ESCAPE_XML,
    .links = true,
    .title = {"<h1>", "</h1>\n"},
    .heading = {{"<h2 id=\"", "</h2>\n"}, {"<h3 id=\"", "</h3>\n"}},
    .mark = {" <span class=\"mark ", "</span>"},
    .paragraph = {"<p>", "</p>\n"},
    .verbatim = {"<pre>", "</pre>\n"},
    .fold = {"<details><summary>", "</summary>\n", "</details>\n"},
    .table = {"<div class=\"wide\"><table>\n", "</table></div>\n"},
    .row = {"<tr>", "</tr>\n"},
    .head = {"<th>", "<th class=\"n\">", "</th>"},
    .cell = {"<td>", "<td class=\"n\">", "</td>"},
    .tone = {{"", ""},
             {"<b>", "</b>"},
             {"<span class=\"dim\">", "</span>"},
             {"<span class=\"bad\">", "</span>"},
             {"<span class=\"good\">", "</span>"},
             {"<span class=\"doubt\">", "</span>"},
             {"", ""}},
};

static void put(struct text *out, const struct markup *m, enum tone tone, const char *words)
{
    const bool some = *words;
    text_add(out, some ? m->tone[tone][0] : "");
    text_add_escaped(out, m->escape, words);
    text_add(out, some ? m->tone[tone][1] : "");
}

/* ---- tables ---- */

/* What became of a row stands in its second column, the note below it in its last one. */
static const char *words_of(const struct table *t, size_t row, size_t column, bool second, bool last,
                            struct arena *arena)
{
    const struct table_row *r = &t->rows[row];
    const struct cell *cell = &r->cells[column];
    const bool instead = r->instead.kind && (second || column);
    const char *words = !instead ? cell_words(cell, &t->columns[column], arena)
                        : second ? cell_words(&r->instead, NULL, arena)
                                 : "";
    return last && r->note ? arena_printf(arena, "%s%s%s", words, *words ? "; " : "", r->note) : words;
}

static void put_row(struct text *out, const struct markup *m, const struct table *t, size_t row, const size_t *shown,
                    size_t count)
{
    struct arena arena = {0};
    text_add(out, m->row[0]);
    for (size_t k = 0; k < count; k++) {
        const struct table_column *column = &t->columns[shown[k]];
        const char *words = words_of(t, row, shown[k], k == 1, k + 1 == count, &arena);
        text_add(out, m->cell[column->unit != NULL]);
        if (m->links && column->flags & COLUMN_LINK) {
            text_add(out, "<a href=\"#");
            text_add_escaped(out, m->escape, words);
            text_add(out, "\">");
        }
        put(out, m, k == 1 && t->rows[row].instead.kind ? t->rows[row].instead.tone : t->rows[row].cells[shown[k]].tone,
            words);
        text_add(out, m->links && column->flags & COLUMN_LINK ? "</a>" : "");
        text_add(out, m->cell[2]);
    }
    text_add(out, m->row[1]);
    arena_release(&arena);
}

static void put_head(struct text *out, const struct markup *m, const struct table *t, const size_t *shown, size_t count)
{
    if (!has_head(t) && !m->rule)
        return;
    text_add(out, m->row[0]);
    for (size_t k = 0; k < count; k++) {
        text_add(out, m->head[t->columns[shown[k]].unit != NULL]);
        text_add_escaped(out, m->escape, t->columns[shown[k]].title);
        text_add(out, m->head[2]);
    }
    text_add(out, m->row[1]);
    for (size_t k = 0; m->rule && k < count; k++)
        text_add(out, t->columns[shown[k]].unit ? "|---:" : "|---");
    text_add(out, m->rule ? "|\n" : "");
}

static void put_table(struct text *out, const struct markup *m, const struct table *table,
                      const struct report_options *options, size_t start)
{
    struct arena arena = {0};
    const struct table *t = table_for_people(table, &arena);
    size_t *shown = arena_array(&arena, t->column_count + 1, sizeof(*shown)), count = 0, rows = 0;
    for (size_t k = 0; k < t->column_count; k++)
        if (column_shown(t, k, options))
            shown[count++] = k;
    text_add(out, m->table[0]);
    put_head(out, m, t, shown, count);
    while (rows < rows_shown(t) && !(m->most_bytes && out->length - start > m->most_bytes))
        put_row(out, m, t, rows++, shown, count);
    text_add(out, m->table[1]);
    if (rows < t->row_count) {
        text_add(out, m->paragraph[0]);
        text_addf(out, "%zu more%s", t->row_count - rows, t->rest ? "; " : "");
        text_add_escaped(out, m->escape, t->rest);
        text_add(out, m->paragraph[1]);
    }
    arena_release(&arena);
}

/* ---- documents ---- */

static void put_mark(struct text *out, const struct markup *m, const struct cell *mark)
{
    static const char *const classes[] = {"", "bold", "dim", "bad", "good", "doubt", ""};
    if (!mark->kind)
        return;
    text_add(out, m->mark[0]);
    if (m->links)
        text_addf(out, "%s\">", classes[mark->tone]);
    text_add_escaped(out, m->escape, mark->text);
    text_add(out, m->mark[1]);
}

static void put_heading(struct text *out, const struct markup *m, const struct section *section)
{
    const unsigned level = section->level ? 1 : 0;
    if (!section->title)
        return;
    text_add(out, section->folded ? m->fold[0] : m->heading[level][0]);
    if (!section->folded && m->links) {
        text_add_escaped(out, m->escape, section->key);
        text_add(out, "\">");
    }
    text_add_escaped(out, m->escape, section->title);
    put_mark(out, m, &section->mark);
    text_add(out, section->folded ? m->fold[1] : m->heading[level][1]);
}

static void put_text(struct text *out, const struct markup *m, const struct section *section)
{
    struct arena arena = {0};
    text_add(out, section->verbatim ? m->verbatim[0] : "");
    for (const char *p = section->text; *p; p += strcspn(p, "\n"), p += *p == '\n') {
        if (*p == '\n' && !section->verbatim)
            continue;
        text_add(out, section->verbatim ? "" : m->paragraph[0]);
        const char *line = arena_strndup(&arena, p, strcspn(p, "\n"));
        if (section->verbatim && !m->links)
            text_add(out, line);
        else
            put(out, m, section->tone, line);
        text_add(out, section->verbatim ? "\n" : m->paragraph[1]);
    }
    text_add(out, section->verbatim ? m->verbatim[1] : "");
    arena_release(&arena);
}

static void put_document(struct text *out, const struct markup *m, const struct document *document,
                         const struct report_options *options)
{
    const size_t start = out->length;
    size_t left = 0;
    if (document->title) {
        text_add(out, m->title[0]);
        text_add_escaped(out, m->escape, document->title);
        put_mark(out, m, &document->mark);
        text_add(out, m->title[1]);
    }
    for (size_t k = 0; k < document->count; k++) {
        const struct section *section = &document->sections[k];
        if (!section_shown(section, m->reader))
            continue;
        if (m->most_bytes && out->length - start > m->most_bytes) {
            left++;
            continue;
        }
        put_heading(out, m, section);
        if (section->text)
            put_text(out, m, section);
        if (section->table && section->table->row_count)
            put_table(out, m, section->table, options, start);
        text_add(out, section->folded ? m->fold[2] : "");
    }
    if (left)
        text_addf(out, "%zu more sections did not fit.\n", left);
}

void render_markdown(struct text *out, const struct document *document, const struct report_options *options)
{
    put_document(out, &markdown, document, options);
}

static const char style[] =
    "body{font:16px/1.5 system-ui,sans-serif;color:#1c2024;background:#fff;max-width:60rem;margin:0 "
    "auto;padding:1.5rem 1rem 4rem}\n"
    "h1{font-size:1.5rem;margin:0}h2{font-size:1.2rem;margin:2.5rem 0 .3rem}h3{font-size:1rem;margin:1.4rem 0 .3rem}\n"
    "p{margin:.4rem 0}.dim{color:#5c6670}.bad{color:#c0262d}.good{color:#1a7f37}.doubt{color:#9a6700}\n"
    ".wide{overflow-x:auto}table{border-collapse:collapse;font-size:.9rem;margin:.4rem 0}\n"
    "th{text-align:left;font-weight:600;border-bottom:1px solid #a8b0b8}td,th{padding:.2rem .9rem .2rem "
    "0;vertical-align:top}\n"
    "td{border-bottom:1px solid #e8ebee}.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}\n"
    ".mark{display:inline-block;min-width:6.2rem;text-align:center;border-radius:.3rem;padding:0 "
    ".5rem;font-weight:600;color:#fff}\n"
    ".mark.good{background:#1a7f37}.mark.doubt{background:#9a6700}.mark.bad{background:#c0262d}\n"
    "a{color:#0a58ca;text-decoration:none}a:hover{text-decoration:underline}\n"
    "pre{background:#f4f6f8;padding:.7rem;overflow-x:auto;font-size:.8rem}summary{cursor:pointer}\n"
    "@media(prefers-color-scheme:dark){body{background:#16191d;color:#e2e6ea}.dim{color:#98a2ac}td{border-color:#"
    "2b3138}pre{background:#20252b}a{color:#7ab0ff}}\n";

void render_html(struct text *out, const struct document *document, const struct report_options *options)
{
    text_add(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>");
    text_add_xml(out, document->title);
    text_addf(out, "</title>\n<style>\n%s</style></head><body>\n", style);
    put_document(out, &html, document, options);
    text_add(out, "</body></html>\n");
}
