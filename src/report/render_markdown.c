/* SPDX-License-Identifier: MIT
 *
 * Documents as Markdown, for a comment on a pull request.
 */

#include "report_internal.h"

/* GitHub limits a comment to 65,536 characters. */
enum { MOST_BYTES = 60000 };

static void put(struct text *out, enum tone tone, const char *words)
{
    const char *strong = *words && (tone == TONE_BOLD || tone == TONE_BAD) ? "**" : "";
    text_add(out, strong);
    text_add_markdown(out, words);
    text_add(out, strong);
}

/* ---- tables ---- */

static void put_table(struct text *out, const struct table *table, const struct report_options *options, size_t start)
{
    SCOPED(arena_release) struct arena arena = {0};
    const struct table *t = table_for_people(table, &arena);
    size_t *shown = arena_array(&arena, t->column_count + 1, sizeof(*shown)), rows = 0;
    const size_t count = columns_shown(shown, t, options);
    for (size_t k = 0; k < count; k++) {
        text_add(out, "| ");
        text_add_markdown(out, t->columns[shown[k]].title);
        text_add(out, " ");
    }
    text_add(out, "|\n");
    for (size_t k = 0; k < count; k++)
        text_add(out, t->columns[shown[k]].unit ? "|---:" : "|---");
    text_add(out, "|\n");
    while (rows < rows_shown(t) && out->length - start <= MOST_BYTES) {
        const char *heading = table_at(t, rows)->heading;
        if (heading) {
            text_add(out, "| *");
            text_add_markdown(out, heading);
            text_add(out, "* ");
            for (size_t k = 0; k < count; k++)
                text_add(out, k + 1 < count ? "| " : "|\n");
        }
        for (size_t k = 0; k < count; k++) {
            const struct table_row *r = table_at(t, rows);
            text_add(out, "| ");
            put(out, k == 1 && r->instead.kind ? r->instead.tone : r->cells[shown[k]].tone,
                flat_words(t, rows, shown[k], k == 1, k + 1 == count, &arena));
            text_add(out, " ");
        }
        text_add(out, "|\n");
        rows++;
    }
    text_add(out, "\n");
    if (rows < t->row_count) {
        text_addf(out, "%zu more%s", t->row_count - rows, t->rest ? "; " : "");
        text_add_markdown(out, t->rest);
        text_add(out, "\n\n");
    }
}

/* ---- documents ---- */

static void put_title(struct text *out, const char *before, const char *title, const struct cell *mark,
                      const char *behind)
{
    text_add(out, before);
    text_add_markdown(out, title);
    if (mark->kind) {
        text_add(out, " ");
        text_add_markdown(out, mark->text);
    }
    text_add(out, behind);
}

static void put_text(struct text *out, const char *lines, enum tone tone, bool verbatim)
{
    SCOPED(arena_release) struct arena arena = {0};
    text_add(out, lines && verbatim ? "```\n" : "");
    for (const char *p = text_or_empty(lines); *p; p += strcspn(p, "\n"), p += *p == '\n') {
        if (*p == '\n' && !verbatim)
            continue;
        const char *line = arena_strndup(&arena, p, strcspn(p, "\n"));
        if (verbatim)
            text_add(out, line);
        else
            put(out, tone, line);
        text_add(out, verbatim ? "\n" : "\n\n");
    }
    text_add(out, lines && verbatim ? "```\n\n" : "");
}

static void put_section(struct text *out, const struct section *section, const struct report_options *options,
                        size_t start)
{
    if (section->title && section->folded)
        put_title(out, "<details><summary>", section->title, &section->mark, "</summary>\n\n");
    else if (section->title)
        put_title(out, "**", section->title, &section->mark, "**\n\n");
    put_text(out, section->text, section->tone, section->verbatim);
    if (section->table && section->table->row_count)
        put_table(out, section->table, options, start);
    text_add(out, section->folded ? "</details>\n\n" : "");
}

void render_markdown(struct text *out, const struct document *document, const struct report_options *options)
{
    const size_t start = out->length;
    size_t left = 0;
    if (document->title)
        put_title(out, "### ", document->title, &document->mark, "\n\n");
    put_text(out, document->verdict, TONE_BOLD, false);
    put_text(out, document->action, TONE_PLAIN, false);
    FOR_EACH(const struct section, section, document->sections, document->count) {
        if (!section_shown(section, SHOW_MARKDOWN))
            continue;
        if (out->length - start > MOST_BYTES)
            left++;
        else
            put_section(out, section, options, start);
    }
    if (left)
        text_addf(out, "%zu more sections did not fit.\n", left);
}
