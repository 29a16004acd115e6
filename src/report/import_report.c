/* SPDX-License-Identifier: MIT
 *
 * The findings of an import: where the time goes, by operator and shape, and how two imports differ.
 */

#include "picture.h"
#include "report_internal.h"
#include "rooftile/import.h"

#define ROWS_SHOWN 40
#define MOSTLY 0.6 /* share of a trace: a prediction for less of it says nothing about the whole */
#define SCHEMA_ID "https://rooftile.dev/schemas/import/1/import.schema.json"
#define SCHEMA_VERSION "1.0.0"
#define OF(member) FIELD(struct import_timeline, member)
#define ROW(member) FIELD(struct import_row, member)

static const char *time_of(double time_ns, struct document *document)
{
    return quantity_words(time_ns, UNIT_TIME, document->arena);
}

/* ---- the timeline ---- */

static struct table *timeline_record(const struct import *import, struct arena *arena)
{
    static const struct table_column columns[] = {
        {.key = "compute_ns", .title = "compute", .unit = UNIT_TIME, OF(compute_ns)},
        {.key = "communication_ns", .unit = UNIT_TIME, OF(communication_ns)},
        {.key = "copy_ns", .unit = UNIT_TIME, OF(copy_ns)},
        {.key = "exposed_communication_ns",
         .title = "exposed communication",
         .unit = UNIT_TIME,
         OF(exposed_communication_ns)},
        {.key = "exposed_copy_ns", .title = "exposed copies", .unit = UNIT_TIME, OF(exposed_copy_ns)},
        {.key = "busy_ns", .title = "busy", .unit = UNIT_TIME, OF(busy_ns)},
        {.key = "idle_ns", .title = "idle", .unit = UNIT_TIME, OF(idle_ns)},
        {.key = "span_ns", .title = "first start to last end", .unit = UNIT_TIME, OF(span_ns)},
        {.key = "devices", OF(devices)},
    };
    struct table *record = RECORD_OF(arena, columns, &import->timeline);
    table_member(record, "idle_share", NULL, cell_number(import->timeline.idle_ns / import->timeline.span_ns));
    return record;
}

static void timeline_line(struct document *document, const struct import *import)
{
    const struct import_timeline *t = &import->timeline;
    if (!isfinite(t->span_ns))
        return;
    document_text(document, SHOW_PEOPLE, TONE_PLAIN, "%s%s%zu GPU events in %s: busy %s, idle %s%s", import->device,
                  import->device[0] ? ", " : "", import->event_count, time_of(t->span_ns, document),
                  time_of(t->busy_ns, document),
                  percent_words(t->span_ns > 0 ? t->idle_ns / t->span_ns : 0, document->arena),
                  t->devices > 1 ? " (devices added up)" : "");
}

/* ---- rows ---- */

enum { NAME_SHOWN = 48, SHAPE_SHOWN = 56, NARROW = 12 };

/* Returns the length of the text before a trailing "NAMESPACE::" or "CLASS<...>::"; an enclosing function stays. */
static size_t without_scope(const char *out, size_t length)
{
    size_t depth = 0, at = length;
    while (at && (depth || isalnum((unsigned char)out[at - 1]) || strchr("_~>", out[at - 1]))) {
        at--;
        depth += out[at] == '>';
        depth -= depth && out[at] == '<';
    }
    return at;
}

/* C++ names have their template or function arguments directly after the name. */
static bool is_code(const char *name)
{
    const char *at = strpbrk(name, "<(");
    return at && at > name &&
           (isalnum((unsigned char)at[-1]) || at[-1] == '_' || strstr(name, "(anonymous namespace)"));
}

/* Returns the name of a C++ function without its return type, its arguments and all namespaces. */
static const char *plain_name(const char *name, struct arena *arena)
{
    static const char nameless[] = "(anonymous namespace)::";
    char *out = arena_alloc(arena, strlen(name) + 1);
    size_t length = 0;
    ptrdiff_t depth = 0;
    for (const char *at = name; *at && is_code(name); at++) {
        while (text_starts(at, nameless))
            at += strlen(nameless);
        if (!*at || (*at == '(' && !depth))
            break;
        depth += (strchr("(<[{", *at) != NULL) - (strchr(")>]}", *at) != NULL);
        if (text_starts(at, "::") && length && !strchr(")}", out[length - 1])) {
            length = without_scope(out, length);
            at++;
        } else if (*at == ' ' && !depth) {
            length = 0; /* the text so far was the return type */
        } else {
            out[length++] = *at;
        }
    }
    out[length] = '\0';
    return length && !depth ? out : name;
}

static const char *short_name(const char *name, struct arena *arena)
{
    return text_cut(arena, plain_name(name, arena), NAME_SHOWN, "..");
}

/* The shape for people, without the values that nearly every convolution has. */
static const char *short_shape(const struct import_row *row, struct arena *arena)
{
    static const char usual[] = " dilation=1 groups=1";
    const char *shape = row->shape[0] && !row->traits[0] ? row->shape : row->traits;
    const char *at = strstr(shape, usual);
    if (at)
        shape = arena_printf(arena, "%.*s%s", (int)(at - shape), shape, at + strlen(usual));
    return text_cut(arena, shape, SHAPE_SHOWN, "..");
}

static const char *types_of(const struct import_row *row, struct arena *arena)
{
    return !row->total[0] || strcmp(row->dtype, row->total) == 0 ? row->dtype
                                                                 : arena_printf(arena, "%s>%s", row->dtype, row->total);
}

enum {
    RANK,
    SHARE,
    CALLS,
    TIME,
    MEDIAN,
    ESTIMATE,
    OPERATOR,
    SHAPE,
    FULL_SHAPE,
    TYPES,
    LAYOUT,
    SOURCE,
    ALGORITHM,
    BUS,
    WRONG,
    KERNEL,
    BOUND,
    CEILING,
    LIBRARY,
    LOW,
    HIGH,
    FULL,
    DTYPE,
    TOTAL,
    KIND,
    FLOPS,
    MIN,
    MAX,
    KERNELS,
    TRAITS,
    WHY
};

static const struct table_column row_columns[] = {
    [RANK] = {.key = "rank", .title = "#", .unit = UNIT_COUNT},
    [SHARE] = {.key = "share", .title = "share", .unit = UNIT_PERCENT, ROW(share)},
    [CALLS] = {.key = "calls", .title = "calls", .unit = UNIT_COUNT, ROW(calls)},
    [TIME] = {.key = "total_ns", .title = "time", .unit = UNIT_TIME, ROW(total_ns)},
    [MEDIAN] = {.key = "median_ns", .title = "median", .unit = UNIT_TIME, .drop = 8, ROW(median_ns)},
    [ESTIMATE] = {.key = "estimate_ns", .title = "tuned", .unit = UNIT_TIME, .drop = 6, ROW(estimate_ns)},
    [OPERATOR] = {.title = "operator", .flags = COLUMN_CUT},
    [SHAPE] = {.title = "shape", .flags = COLUMN_CUT},
    [FULL_SHAPE] = {.key = "shape", .flags = COLUMN_OPTIONAL, ROW(shape)},
    [TYPES] = {.title = "types"},
    [LAYOUT] = {.key = "layout", .title = "layout", .flags = COLUMN_OPTIONAL, .drop = 3, ROW(layout)},
    [SOURCE] = {.key = "source", .title = "shape from", .drop = 2},
    [ALGORITHM] = {.key = "algorithm_bytes_per_s",
                   .title = "algorithm",
                   .unit = UNIT_BYTE_RATE,
                   ROW(algorithm_bytes_per_s)},
    [BUS] = {.key = "bus_bytes_per_s", .title = "bus", .unit = UNIT_BYTE_RATE, ROW(bus_bytes_per_s)},
    [WRONG] = {.key = "wrong_elements", .title = "wrong", .unit = UNIT_COUNT, ROW(wrong_elements)},
    [KERNEL] = {.key = "kernel", .title = "kernel", .flags = COLUMN_CUT | COLUMN_OPTIONAL, .drop = 5, ROW(kernel)},
    [BOUND] = {.key = "lower_bound_ns", .title = "lower bound", .unit = UNIT_TIME, .drop = 7, ROW(lower_bound_ns)},
    [CEILING] = {.key = "fraction", .title = "% of ceiling", .unit = UNIT_PERCENT, .drop = 4, ROW(fraction)},
    [LIBRARY] = {.key = "library", .title = "library", .flags = COLUMN_OPTIONAL, .drop = 1, ROW(library)},
    [LOW] = {.key = "estimate_low_ns", .unit = UNIT_TIME, ROW(estimate_low_ns)},
    [HIGH] = {.key = "estimate_high_ns", .unit = UNIT_TIME, ROW(estimate_high_ns)},
    [FULL] = {.key = "operator", ROW(operator)},
    [DTYPE] = {.key = "dtype", .flags = COLUMN_OPTIONAL, ROW(dtype)},
    [TOTAL] = {.key = "total", .flags = COLUMN_OPTIONAL, ROW(total)},
    [KIND] = {.key = "kind"},
    [FLOPS] = {.key = "flops", ROW(flops)},
    [MIN] = {.key = "min_ns", .unit = UNIT_TIME, ROW(min_ns)},
    [MAX] = {.key = "max_ns", .unit = UNIT_TIME, ROW(max_ns)},
    [KERNELS] = {.key = "gpu_kernels", .flags = COLUMN_OPTIONAL, ROW(kernels)},
    [TRAITS] = {.key = "kernel_traits", .flags = COLUMN_OPTIONAL, ROW(traits)},
    [WHY] = {.key = "no_kernel_reason"},
};

/* True if both texts look the same even in a narrow column. */
static bool looks_like(const char *a, const char *b, struct arena *arena)
{
    return !strcmp(text_cut(arena, a ?: "", NARROW, ".."), text_cut(arena, b, NARROW, ".."));
}

static void put_row(struct table *table, const struct import_row *row, size_t rank)
{
    struct arena *arena = table->arena;
    struct cell *cells = table_add_object(table, row)->cells;
    cells[RANK] = cell_number((double)rank);
    const char *name = short_name(row->operator, arena), *shape = short_shape(row, arena),
               *types = types_of(row, arena);
    for (size_t k = 0; k + 1 < table->row_count && rank <= ROWS_SHOWN; k++) /* no two rows may look alike */
        if (looks_like(table->rows[k].cells[OPERATOR].text, name, arena) &&
            !strcmp(table->rows[k].cells[SHAPE].text ?: "", shape) &&
            !strcmp(table->rows[k].cells[TYPES].text ?: "", types)) {
            name = arena_printf(arena, "%s #%zu", short_name(row->operator, arena), rank);
            break;
        }
    cells[OPERATOR] = cell_text(name);
    cells[SHAPE] = cell_known(shape);
    cells[TYPES] = cell_known(types);
    cells[SOURCE] = cell_text(row->source);
    cells[KIND] = cell_text(row->kind);
    cells[WHY] = cell_known(*row->kernel ? "" : row->why);
}

/* Hides columns without any known value from people. */
static const struct table_column *columns_with_values(const struct table *table)
{
    struct table_column *columns = arena_copy(table->arena, table->columns, table->column_count * sizeof(*columns));
    for (size_t k = 0; k < table->column_count; k++) {
        bool any = !table->row_count;
        for (size_t row = 0; row < table->row_count && !any; row++)
            any = table->rows[row].cells[k].kind > CELL_UNKNOWN;
        columns[k].title = any ? columns[k].title : NULL;
    }
    if (columns[ALGORITHM].title) /* in place or out of place matters */
        columns[LAYOUT].drop = 0;
    return columns;
}

static struct table *rows_table(const struct import *import, struct arena *arena)
{
    struct table *table = TABLE(arena, row_columns);
    for (size_t k = 0; k < import->row_count; k++)
        put_row(table, &import->rows[k], k + 1);
    table->columns = columns_with_values(table);
    table->most_rows = ROWS_SHOWN;
    table->rest = "--json and --format csv have them all";
    return table;
}

/* The rows of a page begin with the operator, and none of their columns may be dropped. */
static struct table *page_rows(const struct table *rows, struct arena *arena)
{
    static const size_t order[] = {OPERATOR, SHAPE,    TYPES,  LAYOUT,  SHARE,     TIME, CALLS,
                                   MEDIAN,   ESTIMATE, KERNEL, CEILING, ALGORITHM, BUS,  WRONG};
    struct table_column *columns = arena_array(arena, COUNT_OF(order), sizeof(*columns));
    struct cell *cells = arena_array(arena, COUNT_OF(order), sizeof(*cells));
    for (size_t k = 0; k < COUNT_OF(order); k++)
        columns[k] = rows->columns[order[k]];
    struct table *table = table_new(arena, columns, COUNT_OF(order));
    for (size_t row = 0; row < rows->row_count; row++) {
        for (size_t k = 0; k < COUNT_OF(order); k++)
            cells[k] = rows->rows[row].cells[order[k]];
        table_add(table, cells);
    }
    table->most_rows = rows->most_rows;
    table->rest = rows->rest;
    return table;
}

/* Draws the time of the operators, and the part of it that the device's ceilings require. */
static void operators_picture(struct document *document, const struct import *import)
{
    struct kernel_sums sums = kernel_sums_new(document->arena, import->row_count);
    FOR_EACH(const struct import_row, row, import->rows, import->row_count) {
        const double bound_ns = row->calls * row->lower_bound_ns;
        if (!(row->total_ns > 0))
            continue;
        struct kernel_sum *sum = kernel_sum_of(&sums, short_name(row->operator, document->arena));
        sum->cases += (size_t)row->calls;
        sum->time_ns += row->total_ns;
        sum->bounded_ns += bound_ns > 0 ? row->total_ns : 0;
        sum->bound_ns += bound_ns > 0 ? fmin(bound_ns, row->total_ns) : 0;
    }
    picture_sums(document, &sums, "operators", "Time by operator against its lower bound",
                 "The time of all calls of an operator, and the share of it that the ceilings of the device demand.");
}

static struct table *operators_table(const struct import *import, struct arena *arena)
{
    static const struct table_column columns[] = {
        {.key = "operator", .title = "operator", .flags = COLUMN_CUT, FIELD(struct import_operator, name)},
        {.key = "calls", .title = "calls", .unit = UNIT_COUNT, FIELD(struct import_operator, calls)},
        {.key = "total_ns", .title = "time", .unit = UNIT_TIME, FIELD(struct import_operator, total_ns)},
        {.key = "share", .title = "share", .unit = UNIT_PERCENT, FIELD(struct import_operator, share)},
    };
    return TABLE_OF(arena, columns, import->operators, import->operator_count);
}

/* ---- explained and unexplained time ---- */

static void explained_line(struct document *document, const struct import *import)
{
    SCOPED(text_release) struct text names = {0};
    size_t named = 0, left = 0;
    FOR_EACH(const struct import_row, row, import->rows, import->row_count) {
        if (row->is_explained || !isfinite(row->total_ns))
            continue;
        left++;
        if (named < 5 && ++named)
            text_addf(&names, "%s%s (%s)", named > 1 ? ", " : "", short_name(row->operator, document->arena),
                      percent_words(row->share, document->arena));
    }
    if (left > named)
        text_addf(&names, " and %zu more", left - named);
    if (import->total_ns > 0)
        document_text(document, SHOW_PEOPLE, TONE_BOLD, "explained: %s of %s%s%s",
                      percent_words(import->explained_ns / import->total_ns, document->arena),
                      time_of(import->total_ns, document), left ? "; no shape is understood of " : "",
                      left ? text_take(&names, document->arena) : "");
}

/* Sums the time of the rows with an estimate if they ran at it; a kernel that is already faster keeps its time. */
static void tuned_line(struct document *document, const struct import *import)
{
    double now = 0, then = 0;
    const char *borrowed = NULL; /* from the row that takes most time */
    FOR_EACH(const struct import_row, row, import->rows, import->row_count) {
        if (!isfinite(row->estimate_ns) || !(row->total_ns > 0))
            continue;
        now += row->total_ns;
        borrowed = borrowed ? borrowed : row->estimate_note;
        then += fmin(row->total_ns, row->calls * row->estimate_ns);
    }
    const double rest = import->total_ns - now;
    SCOPED(text_release) struct text line = {0};
    if (!(now > 0))
        return;
    text_addf(&line, "tuned: a well tuned kernel's time here, predicted%s%s", borrowed ? " with " : "",
              borrowed ? borrowed : "");
    if (now < MOSTLY * import->total_ns)
        text_addf(&line, "; %s of the trace have no such prediction, too much for a total", time_of(rest, document));
    else
        text_addf(&line, "; %s of the trace would become %s", time_of(now, document), time_of(then, document));
    if (now >= MOSTLY * import->total_ns && rest > 0.0005 * import->total_ns)
        text_addf(&line, ", the other %s have no such prediction", time_of(rest, document));
    document_text(document, SHOW_PEOPLE, TONE_PLAIN, "%s", line.data);
}

static void add_notes(struct document *document, struct table *list, const struct import *import)
{
    FOR_EACH(const struct import_note, note, import->notes, import->note_count) {
        const char *text = note->count > 1 ? arena_printf(document->arena, "%s (%llu times)", note->text,
                                                          (unsigned long long)note->count)
                                           : note->text;
        table_item(list, text);
        document_text(document, SHOW_PEOPLE, TONE_DOUBT, "%s", text);
    }
}

/* Adds the notes of one import or of two. */
static void notes(struct document *document, const struct import *import, const struct import *other)
{
    struct table *list = table_list(document->arena);
    add_notes(document, list, import);
    if (other)
        add_notes(document, list, other);
    document_add(document, (struct section){.show = SHOW_DATA, .key = "notes", .table = list});
}

static struct table *files_table(const struct import *import, struct arena *arena)
{
    static const struct table_column columns[] = {{.key = "path", FIELD(struct import_file, path)},
                                                  {.key = "format", FIELD(struct import_file, format)}};
    return TABLE_OF(arena, columns, import->files, import->file_count);
}

void import_document(struct document *document, const struct import *import, bool verbose)
{
    struct arena *arena = document->arena;
    struct table *facts = schema_record(arena, SCHEMA_ID, SCHEMA_VERSION);
    document->title = "Where the time goes";
    table_member(facts, "device", NULL, cell_known(import->device));
    table_member(facts, "arch", NULL, cell_known(import->arch));
    table_member(facts, "cus", NULL, cell_positive(import->cus));
    table_member(facts, "events", NULL, cell_number((double)import->event_count));
    table_member(facts, "total_ns", NULL, cell_number(import->total_ns));
    table_member(facts, "explained_ns", NULL, cell_number(import->explained_ns));
    document_add(document, (struct section){.show = SHOW_DATA, .table = facts});
    document_add(document, (struct section){.show = SHOW_DATA, .key = "files", .table = files_table(import, arena)});
    document_add(document,
                 (struct section){.show = SHOW_DATA, .key = "timeline", .table = timeline_record(import, arena)});
    timeline_line(document, import);
    struct table *rows = rows_table(import, arena);
    document_table(document, "rows", NULL, rows)->show = SHOW_TEXT | SHOW_MARKDOWN | SHOW_DATA;
    operators_picture(document, import);
    document_table(document, "shapes", "By operator and shape", page_rows(rows, arena))->show = SHOW_HTML;
    document_add(document, (struct section){.show = verbose ? 0 : SHOW_DATA,
                                            .key = "operators",
                                            .title = "operators, all shapes together",
                                            .table = operators_table(import, arena)});
    notes(document, import, NULL);
    tuned_line(document, import);
    explained_line(document, import);
}

/* ---- two imports ---- */

/* "+1.25 ms", "-626 us". */
static const char *signed_time(double time_ns, struct arena *arena)
{
    return arena_printf(arena, "%s%s",
                        time_ns < 0   ? "-"
                        : time_ns > 0 ? "+"
                                      : "",
                        quantity_words(fabs(time_ns), UNIT_TIME, arena));
}

void import_diff_document(struct document *document, const struct import_changes *changes)
{
    static const struct table_column columns[] = {
        {.key = "state", .title = ""},
        {.title = "difference"},
        {.key = "before_ns", .title = "A", .unit = UNIT_TIME},
        {.key = "after_ns", .title = "B", .unit = UNIT_TIME},
        {.key = "change", .title = "change", .unit = UNIT_CHANGE},
        {.key = "before_calls", .title = "calls A", .unit = UNIT_COUNT, .drop = 1},
        {.key = "after_calls", .title = "calls B", .unit = UNIT_COUNT, .drop = 1},
        {.title = "operator", .flags = COLUMN_CUT},
        {.key = "shape", .title = "shape", .flags = COLUMN_CUT},
        {.key = "dtype", .title = "types"},
        {.key = "operator"},
        {.key = "difference_ns", .unit = UNIT_TIME},
    };
    struct arena *arena = document->arena;
    struct table *table = TABLE(arena, columns);
    const struct import *before = &changes->sides[0], *after = &changes->sides[1];
    FOR_EACH(const struct import_change, c, changes->items, changes->count) {
        const struct import_row *row = c->after ? c->after : c->before;
        const bool both = c->before && c->after;
        table_add(table,
                  (struct cell[]){
                      both ? cell_text("") : cell_toned(c->after ? "new" : "gone", c->after ? TONE_BAD : TONE_GOOD),
                      cell_text(signed_time(c->difference_ns, arena)),
                      c->before ? cell_number(c->before->total_ns) : cell_absent(),
                      c->after ? cell_number(c->after->total_ns) : cell_absent(),
                      cell_number(c->change),
                      c->before ? cell_number(c->before->calls) : cell_absent(),
                      c->after ? cell_number(c->after->calls) : cell_absent(),
                      cell_text(short_name(row->operator, arena)),
                      cell_known(row->shape),
                      cell_known(types_of(row, arena)),
                      cell_text(row->operator),
                      cell_number(c->difference_ns),
                  });
    }
    table->most_rows = ROWS_SHOWN;
    table->rest = "--json and --format csv have them all";
    document->title = "What changed between two traces";
    document_add(document,
                 (struct section){.show = SHOW_DATA, .table = schema_record(arena, SCHEMA_ID, SCHEMA_VERSION)});
    for (size_t k = 0; k < 2; k++) {
        const struct import *side = k ? after : before;
        document_text(document, SHOW_PEOPLE, TONE_PLAIN, "%s: %s%s%s", k ? "B" : "A",
                      side->file_count ? side->files[0].path : "", side->device[0] ? ", " : "", side->device);
    }
    document_table(document, "changes", NULL, table);
    notes(document, before, after);
    if (before->total_ns > 0)
        document_text(document, SHOW_PEOPLE, TONE_BOLD, "GPU time: %s, then %s (%s)",
                      time_of(before->total_ns, document), time_of(after->total_ns, document),
                      change_words(after->total_ns / before->total_ns - 1, arena));
}
