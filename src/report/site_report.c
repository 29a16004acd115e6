/* SPDX-License-Identifier: MIT
 *
 * The index of a site, with a row for each page: its state, what happened last, the trend and missing runs.
 */
#include "report_internal.h"
#include "rooftile/history.h"

static int by_tone(const void *a, const void *b)
{
    static const int ranks[] = {[TONE_BAD] = 0, [TONE_DOUBT] = 1, [TONE_PLAIN] = 2, [TONE_GOOD] = 3};
    const struct site_page *p = *(const struct site_page *const *)a, *q = *(const struct site_page *const *)b;
    return ORDER(ranks[p->verdict.tone], ranks[q->verdict.tone]) ?: ORDER(p, q);
}

/* Length of the first change in a sentence, or of what is said of the first devices. */
static int first_change(const char *change)
{
    enum { LONGEST = 120 };
    int length = (int)strcspn(change, ";");
    while (length > LONGEST)
        while (--length > 0 && change[length] != ',')
            ;
    return length ? length : LONGEST;
}

void site_document(struct document *document, const struct site_page *pages, size_t count)
{
    static const struct table_column columns[] = {{.title = "page"},
                                                  {.title = "state"},
                                                  {.title = "newest run"},
                                                  {.title = "missing runs"},
                                                  {.title = "key figures (up is better)", .flags = COLUMN_STRIP},
                                                  {.title = "last change", .flags = COLUMN_PROSE}};
    struct arena *arena = document->arena;
    struct table *table = TABLE(arena, columns);
    const struct site_page **order = arena_pointers(arena, pages, count, sizeof(*pages));
    const char *newest = "", *worst = "";
    size_t bad = 0, late = 0;
    for (size_t k = 0; k < count; k++)
        newest = strcmp(text_or_empty(pages[k].date), newest) > 0 ? pages[k].date : newest;
    qsort(order, count, sizeof(*order), by_tone);
    for (size_t k = 0; k < count; k++) {
        const struct site_page *page = order[k];
        const size_t missing = page->window ? history_missing(page->window, newest) : 0;
        const struct row_keys keys = {.page = page->file};
        late += missing > 0;
        if (page->verdict.tone == TONE_BAD && bad++ < 3)
            worst = arena_printf(arena, "%s\n%s: %.*s", worst, page->title, first_change(page->change), page->change);
        table_add(table, (struct cell[]){cell_text(page->title), page->verdict,
                                         cell_known(page->date ? arena_printf(arena, "%.10s", page->date) : NULL),
                                         !page->window ? cell_text("")
                                         : missing     ? cell_toned(arena_printf(arena, "%zu", missing), TONE_DOUBT)
                                                       : cell_text("none"),
                                         cell_toned(page->window ? history_trend(page->window, arena) : "",
                                                    page->verdict.tone),
                                         cell_text(*page->change ? page->change : page->words)})
            ->keys = arena_copy(arena, &keys, sizeof(keys));
    }
    document->title = "rooftile";
    document->mark = bad     ? cell_toned(arena_printf(arena, "%zu to look at", bad), TONE_BAD)
                     : count ? cell_toned("no regression", TONE_GOOD)
                             : cell_toned("empty", TONE_DOUBT);
    document->verdict = arena_printf(arena, "%zu of %zu need%s a look%s%s", bad, count, bad == 1 ? "s" : "",
                                     late ? arena_printf(arena, "; runs are missing in %zu", late) : "", worst);
    document_table(document, NULL, NULL, table);
}
