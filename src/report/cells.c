/* SPDX-License-Identifier: MIT
 *
 * Cells as readable text, and the rows and columns of a table that readers see.
 */

#include "report_internal.h"
#include "rooftile/units.h"

/* ---- quantities ---- */

static const char *count(char *out, double value)
{
    snprintf(out, UNITS_TEXT, "%.0f", value);
    return out;
}

static const char *intensity(char *out, double value)
{
    if (value >= 1e4 && value < 1e9)
        snprintf(out, UNITS_TEXT, value < 999500 ? "%.0fk" : "%.3gM", value < 999500 ? value / 1e3 : value / 1e6);
    else
        snprintf(out, UNITS_TEXT, value >= 1e9 ? "%.0e" : value < 100 ? "%.3g" : "%.0f", value);
    return out;
}

static const char *quantity(char *out, double value, const char *unit)
{
    static const struct {
        const char *unit;
        const char *(*words)(char *out, double value);
    } units[] = {{UNIT_BYTES, units_bytes},   {UNIT_COUNT, count},           {UNIT_SIZE, units_count},
                 {UNIT_INTENSITY, intensity}, {UNIT_PERCENT, units_percent}, {UNIT_CHANGE, units_change}};
    for (size_t k = 0; k < COUNT_OF(units); k++)
        if (!strcmp(units[k].unit, unit))
            return units[k].words(out, value);
    return text_ends(unit, "/s") ? units_rate(out, value, unit) : units_quantity(out, value, unit);
}

/* "96 .. 128 KiB": a unit that both ends share is written once. */
static const char *range_words(const struct cell *cell, const char *unit, struct arena *arena)
{
    char low[UNITS_TEXT], high[UNITS_TEXT];
    quantity(low, cell->value, unit);
    quantity(high, cell->high, unit);
    const char *of_low = strrchr(low, ' '), *of_high = strrchr(high, ' ');
    const bool same = of_low && of_high && !strcmp(of_low, of_high);
    return arena_printf(arena, "%.*s .. %s", (int)(same ? of_low - low : (ptrdiff_t)strlen(low)), low, high);
}

const char *cell_words(const struct cell *cell, const struct table_column *column, struct arena *arena)
{
    char words[UNITS_TEXT];
    const char *unit = cell->unit ? cell->unit : column && column->unit ? column->unit : UNIT_NUMBER;
    if (cell->text)
        return cell->text;
    switch (cell->kind) {
    case CELL_NUMBER:
        return arena_strdup(arena, quantity(words, cell->value, unit));
    case CELL_BOOL:
        return cell->value > 0 ? "yes" : "no";
    case CELL_RANGE:
        return range_words(cell, unit, arena);
    case CELL_UNKNOWN:
        return "-";
    default:
        return "";
    }
}

const char *kpi_shown_unit(const char *of, const char *unit)
{
    return strcmp(of, "fraction") ? unit : UNIT_PERCENT;
}

const char *quantity_words(double value, const char *unit, struct arena *arena)
{
    const struct cell cell = cell_quantity(value, unit);
    return cell_words(&cell, NULL, arena);
}

const char *change_words(double value, struct arena *arena)
{
    return quantity_words(value, UNIT_CHANGE, arena);
}

const char *percent_words(double fraction, struct arena *arena)
{
    return quantity_words(fraction, UNIT_PERCENT, arena);
}

bool same_kernel(const char *label, const char *other)
{
    const size_t length = strcspn(label, " ");
    return length == strcspn(other, " ") && !strncmp(label, other, length);
}

const char *kernel_cases(const char *label, size_t count, size_t of, struct arena *arena)
{
    const int length = (int)strcspn(label, " ");
    return count < of ? arena_printf(arena, "%.*s, %zu of %zu", length, label, count, of)
                      : arena_printf(arena, "%.*s, all %zu", length, label, count);
}

struct cell cell_tile(size_t value, enum tone some)
{
    struct cell cell = cell_quantity((double)value, UNIT_COUNT);
    cell.tone = value ? some : TONE_PLAIN;
    return cell;
}

struct table *schema_record(struct arena *arena, const char *id, const char *version)
{
    struct table *record = table_record(arena);
    table_member(record, "schema", NULL, cell_text(id));
    table_member(record, "schema_version", NULL, cell_text(version));
    return record;
}

const char *count_members(struct table *summary, const struct count *counts, size_t count)
{
    const char *line = "";
    for (size_t k = 0; k < count; k++) {
        table_member(summary, counts[k].key, NULL, cell_number((double)counts[k].count));
        if (counts[k].count)
            line = arena_printf(summary->arena, "%s%s%zu %s", line, *line ? ", " : "", counts[k].count, counts[k].word);
    }
    return line;
}

/* ---- what is shown ---- */

size_t rows_shown(const struct table *table)
{
    return table->most_rows && table->most_rows < table->row_count ? table->most_rows : table->row_count;
}

bool column_shown(const struct table *table, size_t column, const struct report_options *options)
{
    const struct table_column *shown = &table->columns[column];
    if (!shown->title || (shown->flags & COLUMN_VERBOSE && !(options && options->verbose)))
        return false;
    for (size_t row = 0; row < rows_shown(table); row++) {
        const struct cell *cell = &table_at(table, row)->cells[column];
        if ((cell->text ? *cell->text != '\0' : cell->kind != CELL_ABSENT) && !table_at(table, row)->instead.kind)
            return true;
    }
    return !column;
}

const char *flat_words(const struct table *table, size_t row, size_t column, bool second, bool last,
                       struct arena *arena)
{
    const struct table_row *r = table_at(table, row);
    const struct cell *cell = &r->cells[column];
    const bool instead = r->instead.kind && (second || column);
    const char *words = !instead ? cell_words(cell, &table->columns[column], arena)
                        : second ? cell_words(&r->instead, NULL, arena)
                                 : "";
    return last && r->note ? arena_printf(arena, "%s%s%s", words, *words ? "; " : "", r->note) : words;
}

/* The second column holds the text that replaces a row's values. */
static bool has_instead(const struct table *t)
{
    for (size_t row = 0; row < rows_shown(t); row++)
        if (table_at(t, row)->instead.kind != CELL_ABSENT)
            return true;
    return false;
}

size_t columns_shown(size_t *shown, const struct table *table, const struct report_options *options)
{
    const bool second = has_instead(table);
    size_t count = 0;
    for (size_t k = 0; k < table->column_count; k++)
        if (column_shown(table, k, options) || (count == 1 && second && table->columns[k].title))
            shown[count++] = k;
    return count;
}

size_t columns_known(size_t *shown, const struct table *t, const struct report_options *options)
{
    const size_t all = columns_shown(shown, t, options);
    const size_t always = has_instead(t) ? 2 : 1;
    SCOPED(arena_release) struct arena arena = {0};
    size_t count = 0;
    for (size_t k = 0; k < all; k++) {
        bool known = k < always; /* it has a value in some row; for the last column a note counts, too */
        for (size_t row = 0; row < rows_shown(t) && !known; row++) {
            const char *words = flat_words(t, row, shown[k], false, k + 1 == all, &arena);
            known = *words && strcmp(words, "-") != 0;
            arena_reset(&arena);
        }
        if (known)
            shown[count++] = shown[k];
    }
    return count;
}

bool has_head(const struct table *table)
{
    return COUNT_WHERE(column, table->columns, table->column_count, column->title && *column->title) > 0;
}

const struct table *table_for_people(const struct table *table, struct arena *arena)
{
    static const struct table_column columns[] = {{.title = ""}, {.title = "", .flags = COLUMN_PROSE}};
    if (!table || !table->record)
        return table ? table_with_families(table, arena) : NULL;
    struct table *rows = TABLE(arena, columns);
    rows->indent = table->indent;
    for (size_t k = 0; k < table->column_count && table->row_count; k++) {
        const struct cell *cell = &table_at(table, 0)->cells[k];
        const struct table_column *column = &table->columns[k];
        if (column->title && cell->kind != CELL_ABSENT)
            table_add(rows, (struct cell[]){cell_text(column->title),
                                            cell_toned(cell_words(cell, column, arena), cell->tone)});
    }
    return rows;
}

bool section_shown(const struct section *section, unsigned reader)
{
    const struct table *table = section->table;
    const bool rows =
        table && table->row_count && COUNT_WHERE(column, table->columns, table->column_count, column->title);
    return (!section->show || section->show & reader) &&
           (rows || section->chart || (section->text && *section->text) || (!table && section->title));
}

/* ---- the formats ---- */

render_function *render_find(const char *format)
{
    static const struct {
        const char *name;
        render_function *render;
    } formats[] = {{"table", render_text}, {"markdown", render_markdown}, {"html", render_html},
                   {"json", render_json},  {"csv", render_main_csv},      {"junit", render_junit}};
    for (size_t k = 0; k < COUNT_OF(formats); k++)
        if (!strcmp(formats[k].name, format))
            return formats[k].render;
    return NULL;
}

bool report_has_format(const char *format)
{
    return render_find(format) && strcmp(format, "html") != 0 && strcmp(format, "csv") != 0;
}
