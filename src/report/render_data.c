/* SPDX-License-Identifier: MIT
 *
 * Tables and documents for programs: columns with a key, in base units.
 */

#include "report_internal.h"
#include "rooftile/json.h"

/* ---- CSV ---- */

void render_csv(struct text *out, const struct table *table)
{
    for (size_t line = 0; line <= table->row_count; line++) { /* the first line has the keys */
        const char *comma = "";
        for (size_t k = 0; k < table->column_count; k++) {
            const struct cell *cell = line ? &table_at(table, line - 1)->cells[k] : NULL;
            if (!table->columns[k].key)
                continue;
            text_add(out, comma);
            comma = ",";
            if (!cell || cell->kind == CELL_TEXT)
                text_add_csv(out, cell ? cell->text : table->columns[k].key);
            else if (cell->kind == CELL_NUMBER)
                text_addf(out, "%.9g", cell->value);
            else if (cell->kind == CELL_RANGE)
                text_addf(out, "%.9g;%.9g", cell->value, cell->high);
            else if (cell->kind == CELL_BOOL)
                text_add(out, cell->value > 0 ? "true" : "false");
        }
        text_add(out, "\r\n");
    }
}

const struct table *document_main(const struct document *document)
{
    const struct table *main = NULL;
    FOR_EACH(const struct section, section, document->sections, document->count) {
        if (section->table && section->show & SHOW_CSV)
            return section->table;
        if (section->table && section_shown(section, SHOW_TEXT) &&
            COUNT_WHERE(column, section->table->columns, section->table->column_count, column->key) &&
            (!main || section->table->row_count > main->row_count))
            main = section->table;
    }
    return main;
}

void render_main_csv(struct text *out, const struct document *document, UNUSED const struct report_options *options)
{
    const struct table *main = document_main(document);
    if (main)
        render_csv(out, main);
}

/* ---- JSON ---- */

static void json_table(struct json_out *out, const char *key, const struct table *table);

static void json_cell(struct json_out *out, const char *key, const struct cell *cell)
{
    switch (cell->kind) {
    case CELL_ABSENT:
        break;
    case CELL_UNKNOWN:
        json_out_null(out, key);
        break;
    case CELL_NUMBER:
        json_out_number(out, key, cell->value);
        break;
    case CELL_BOOL:
        json_out_bool(out, key, cell->value != 0);
        break;
    case CELL_TEXT:
        json_out_string(out, key, cell->text);
        break;
    case CELL_RANGE:
        json_out_numbers(out, key, (const double[]){cell->value, cell->high}, 2);
        break;
    case CELL_JSON:
        json_out_raw(out, key, cell->text);
        break;
    case CELL_TABLE:
        json_table(out, key, cell->table);
        break;
    }
}

static void json_members(struct json_out *out, const struct table *table, size_t row)
{
    SCOPED(arena_release) struct arena arena = {0};
    for (size_t k = 0; k < table->column_count; k++) {
        const struct cell *cell = &table_at(table, row)->cells[k];
        if (!table->columns[k].key)
            continue;
        json_cell(out, table->columns[k].key, cell);
        if (cell->kind == CELL_UNKNOWN && cell->reason)
            json_out_string(out, arena_printf(&arena, "%s_reason", table->columns[k].key), cell->reason);
    }
}

static void json_rows(struct json_out *out, const struct table *table)
{
    for (size_t row = 0; row < table->row_count; row++) {
        if (table->record) {
            json_members(out, table, row);
        } else if (table->column_count == 1 && !table->columns[0].key) {
            json_cell(out, NULL, &table_at(table, row)->cells[0]);
        } else {
            json_out_object(out, NULL);
            json_members(out, table, row);
            json_out_end(out);
        }
    }
}

static void json_table(struct json_out *out, const char *key, const struct table *table)
{
    if (table->record)
        json_out_object(out, key);
    else
        json_out_array(out, key);
    json_rows(out, table);
    json_out_end(out);
}

static void put_alone(struct text *out, const struct table *table, bool pretty)
{
    struct json_out *json = table->record ? json_out_new() : json_out_new_array();
    json_rows(json, table);
    json_out_finish(json, out, pretty);
    text_add(out, "\n");
}

void render_json_table(struct text *out, const struct table *table)
{
    put_alone(out, table, true);
}

void render_json_line(struct text *out, const struct table *table)
{
    put_alone(out, table, false);
}

void render_json(struct text *out, const struct document *document, UNUSED const struct report_options *options)
{
    struct json_out *json = json_out_new();
    FOR_EACH(const struct section, section, document->sections, document->count) {
        if (!section->table || (section->show && !(section->show & SHOW_DATA)))
            continue;
        if (section->key)
            json_table(json, section->key, section->table);
        else if (section->table->record)
            json_members(json, section->table, 0);
    }
    json_out_finish(json, out, true);
    text_add(out, "\n");
}
