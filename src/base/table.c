/* SPDX-License-Identifier: MIT */
#include "rooftile/table.h"

/* ---- cells ---- */

void text_add_toned(struct text *text, bool color, enum tone tone, const char *words)
{
    static const char *const codes[] = {
        [TONE_BOLD] = "1",  [TONE_DIM] = "2",    [TONE_BAD] = "31",
        [TONE_GOOD] = "32", [TONE_DOUBT] = "33", [TONE_ACCENT] = "36",
    };
    if (color && tone && *words)
        text_addf(text, "\033[%sm%s\033[0m", codes[tone], words);
    else
        text_add(text, words);
}

struct cell cell_number(double value)
{
    return (struct cell){.kind = isfinite(value) ? CELL_NUMBER : CELL_UNKNOWN, .value = value};
}

struct cell cell_quantity(double value, const char *unit)
{
    struct cell cell = cell_number(value);
    cell.unit = unit;
    return cell;
}

struct cell cell_positive(double value)
{
    return value > 0 ? cell_number(value) : cell_unknown(NULL);
}

struct cell cell_unknown(const char *reason)
{
    return (struct cell){.kind = CELL_UNKNOWN, .reason = reason && *reason ? reason : NULL};
}

struct cell cell_absent(void)
{
    return (struct cell){.kind = CELL_ABSENT};
}

struct cell cell_text(const char *text)
{
    return (struct cell){.kind = text ? CELL_TEXT : CELL_UNKNOWN, .text = text};
}

struct cell cell_known(const char *text)
{
    return cell_text(text && *text ? text : NULL);
}

struct cell cell_toned(const char *text, enum tone tone)
{
    return (struct cell){.kind = CELL_TEXT, .tone = tone, .text = text};
}

struct cell cell_bool(bool value)
{
    return (struct cell){.kind = CELL_BOOL, .value = value};
}

struct cell cell_range(double low, double high)
{
    return (struct cell){
        .kind = isfinite(low) && isfinite(high) ? CELL_RANGE : CELL_UNKNOWN, .value = low, .high = high};
}

struct cell cell_table(const struct table *table)
{
    return (struct cell){.kind = CELL_TABLE, .table = table};
}

struct cell cell_json(const char *json)
{
    return (struct cell){.kind = CELL_JSON, .text = json};
}

/* ---- tables ---- */

struct table *table_new(struct arena *arena, const struct table_column *columns, size_t count)
{
    struct table *table = arena_alloc(arena, sizeof(*table));
    *table = (struct table){.arena = arena, .columns = columns, .column_count = count};
    return table;
}

struct table_made {
    struct table_row row;
    size_t number; /* its index plus 1; 0: none yet */
};

struct table *table_making(struct arena *arena, const struct table_column *columns, size_t count, size_t row_count,
                           table_maker *make, const void *source)
{
    struct table *table = table_new(arena, columns, count);
    table->row_count = row_count;
    table->make = make;
    table->source = source;
    table->made = arena_alloc(arena, sizeof(*table->made));
    table->made->row.cells = arena_array(arena, count + 1, sizeof(struct cell));
    return table;
}

const struct table_row *table_at(const struct table *table, size_t index)
{
    struct table_made *made = table->made;
    if (!table->make)
        return &table->rows[index];
    if (made->number != index + 1) {
        made->row = (struct table_row){.cells = made->row.cells};
        memset(made->row.cells, 0, table->column_count * sizeof(*made->row.cells));
        table->make(&made->row, table, index);
        made->number = index + 1;
    }
    return &made->row;
}

struct table_row *table_add(struct table *table, const struct cell *cells)
{
    ARENA_PUSH(table->arena, table->rows, table->row_count,
               (struct table_row){.cells = arena_array(table->arena, table->column_count + 1, sizeof(*cells))});
    struct table_row *row = &table->rows[table->row_count - 1];
    for (size_t k = 0; cells && k < table->column_count; k++)
        row->cells[k] = cells[k];
    return row;
}

static struct cell field_cell(enum field field, const void *at)
{
    switch (field) {
    case FIELD_DOUBLE:
        return cell_number(*(const double *)at);
    case FIELD_SIZE:
        return cell_number((double)*(const size_t *)at);
    case FIELD_U32:
        return cell_number(*(const uint32_t *)at);
    case FIELD_INT:
        return cell_number(*(const int *)at);
    case FIELD_BOOL:
        return cell_bool(*(const bool *)at);
    case FIELD_TEXT:
        return cell_text(*(const char *const *)at);
    case FIELD_CHARS:
        return cell_text(at);
    case FIELD_RANGE:
        return cell_range(((const double *)at)[0], ((const double *)at)[1]);
    default:
        return cell_absent();
    }
}

struct cell column_cell(const struct table_column *column, const void *object)
{
    const struct cell cell = field_cell(column->field, (const char *)object + column->offset);
    if (!(column->flags & COLUMN_OPTIONAL))
        return cell;
    return cell.kind == CELL_TEXT ? cell_known(cell.text) : cell_positive(cell.value);
}

struct table_row *table_add_object(struct table *table, const void *object)
{
    struct table_row *row = table_add(table, NULL);
    for (size_t k = 0; k < table->column_count; k++)
        row->cells[k] = column_cell(&table->columns[k], object);
    return row;
}

struct table *table_objects(struct arena *arena, const struct table_column *columns, size_t column_count,
                            const void *objects, size_t count, size_t size)
{
    struct table *table = table_new(arena, columns, column_count);
    for (size_t k = 0; k < count; k++)
        table_add_object(table, (const char *)objects + k * size);
    return table;
}

struct table *table_record(struct arena *arena)
{
    struct table *record = table_new(arena, NULL, 0);
    record->record = true;
    table_add(record, NULL);
    return record;
}

static void add_member(struct table *record, const struct table_column *column, struct cell cell)
{
    struct cell **cells = &record->rows[0].cells;
    *cells = arena_grow(record->arena, *cells, record->column_count, sizeof(cell));
    (*cells)[record->column_count] = cell;
    ARENA_PUSH(record->arena, record->members, record->column_count, *column);
    record->columns = record->members;
}

struct table *table_record_object(struct arena *arena, const struct table_column *columns, size_t count,
                                  const void *object)
{
    struct table *record = table_record(arena);
    for (size_t k = 0; k < count; k++)
        add_member(record, &columns[k], column_cell(&columns[k], object));
    return record;
}

void table_member(struct table *record, const char *key, const char *title, struct cell cell)
{
    add_member(record, &(struct table_column){.key = key, .title = title}, cell);
}

struct table *table_list(struct arena *arena)
{
    static const struct table_column columns[] = {{.title = "", .flags = COLUMN_PROSE}};
    return TABLE(arena, columns);
}

void table_item(struct table *list, const char *text)
{
    table_add(list, &(struct cell){.kind = CELL_TEXT, .text = text});
}

/* ---- documents ---- */

struct section *document_add(struct document *document, struct section section)
{
    ARENA_PUSH(document->arena, document->sections, document->count, section);
    return &document->sections[document->count - 1];
}

struct section *document_table(struct document *document, const char *key, const char *title, const struct table *table)
{
    return document_add(document, (struct section){.key = key, .title = title, .table = table});
}

struct section *document_folded(struct document *document, unsigned show, const char *key, const char *title,
                                const struct table *table)
{
    return document_add(document,
                        (struct section){.show = show, .key = key, .title = title, .folded = true, .table = table});
}

struct section *document_verbatim(struct document *document, unsigned show, const char *title, const char *text)
{
    return document_add(document, (struct section){.show = show, .title = title, .text = text, .verbatim = true});
}

struct section *document_text(struct document *document, unsigned show, enum tone tone, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(document->arena, format, args);
    va_end(args);
    return document_add(document, (struct section){.show = show ? show : SHOW_PEOPLE, .tone = tone, .text = text});
}
