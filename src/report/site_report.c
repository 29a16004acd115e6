/* SPDX-License-Identifier: MIT
 *
 * The index of a site, with a row for each page.
 */
#include "report_internal.h"

void site_document(struct document *document, const struct site_page *pages, size_t count)
{
    static const struct table_column columns[] = {
        {.title = "page"}, {.title = "newest"}, {.title = "verdict"}, {.title = "", .flags = COLUMN_PROSE}};
    struct table *table = TABLE(document->arena, columns);
    for (size_t k = 0; k < count; k++) {
        const char *date = pages[k].date ? arena_printf(document->arena, "%.10s", pages[k].date) : NULL;
        struct row_keys *keys = arena_alloc(document->arena, sizeof(*keys));
        keys->page = pages[k].file;
        table_add(table, (struct cell[]){cell_text(pages[k].title), cell_known(date), pages[k].verdict,
                                         cell_text(pages[k].words)})
            ->keys = keys;
    }
    document->title = "rooftile";
    document_table(document, NULL, NULL, table);
}
