/* SPDX-License-Identifier: MIT
 *
 * The findings of an import: where the time goes, by operator and shape, and how two imports differ.
 */

#include "picture.h"
#include "report_internal.h"
#include "rooftile/file.h"
#include "rooftile/import.h"

#define ROWS_SHOWN 40
#define MANY 0.3   /* share of the span that a GPU waits for the host: the first thing to change */
#define MOSTLY 0.6 /* share of a trace: a prediction for less of it says nothing about the whole */
#define SCHEMA_ID "https://rooftile.dev/schemas/import/1/import.schema.json"
#define SCHEMA_VERSION "1.1.0"
#define OF(member) FIELD(struct import_timeline, member)
#define ROW(member) FIELD(struct import_row, member)

static const char *time_of(double time_ns, struct document *document)
{
    return quantity_words(time_ns, UNIT_TIME, document->arena);
}

/* ---- the timeline ---- */

static struct table *gaps_table(const struct import *import, struct arena *arena)
{
    static const struct table_column columns[] = {
        {.key = "after", .title = "after", .flags = COLUMN_CUT, FIELD(struct import_gap, after)},
        {.key = "before", .title = "before", .flags = COLUMN_CUT, FIELD(struct import_gap, before)},
        {.key = "length_ns", .title = "length", .unit = UNIT_TIME, FIELD(struct import_gap, length_ns)},
        {.key = "host_ns", .title = "until launched", .unit = UNIT_TIME, FIELD(struct import_gap, host_ns)},
        {.key = "start_ns", .title = "since the first start", .unit = UNIT_TIME, FIELD(struct import_gap, start_ns)},
        {.key = "device", FIELD(struct import_gap, device)},
    };
    return TABLE_OF(arena, columns, import->timeline.gaps, import->timeline.listed_gaps);
}

static const struct table_column timeline_columns[] = {
    {.key = "compute_ns", .title = "compute", OF(compute_ns)},
    {.key = "communication_ns", .title = "communication", OF(communication_ns)},
    {.key = "copy_ns", .title = "copies", OF(copy_ns)},
    {.key = "exposed_communication_ns", .title = "communication, not overlapped", OF(exposed_communication_ns)},
    {.key = "exposed_copy_ns", .title = "copies, not overlapped", OF(exposed_copy_ns)},
    {.key = "busy_ns", .title = "busy", OF(busy_ns)},
    {.key = "idle_ns", .title = "idle", OF(idle_ns)},
    {.key = "host_ns", .title = "idle, waiting for the host", OF(host_ns)},
    {.key = "span_ns", .title = "first start to last end", OF(span_ns)},
    {.key = "devices", OF(devices)},
    {.key = "gap_count", OF(gap_count)},
};

static struct table *timeline_record(const struct import *import, struct arena *arena)
{
    struct table *record = RECORD_OF(arena, timeline_columns, &import->timeline);
    table_member(record, "idle_share", NULL, cell_number(import->timeline.idle_ns / import->timeline.span_ns));
    table_member(record, "gaps", NULL, cell_table(gaps_table(import, arena)));
    return record;
}

/* What the device did, and in a comparison what the other did. */
static struct table *parts_table(const struct import *import, const struct import *other, struct arena *arena)
{
    static const struct table_column columns[] = {
        {.title = "the GPU"},
        {.title = "A", .unit = UNIT_TIME},
        {.title = "of A", .unit = UNIT_PERCENT},
        {.title = "B", .unit = UNIT_TIME},
        {.title = "of B", .unit = UNIT_PERCENT},
        {.title = "change", .unit = UNIT_CHANGE},
    };
    static const struct table_column alone[] = {
        {.title = "the GPU"},
        {.title = "time", .unit = UNIT_TIME},
        {.title = "share", .unit = UNIT_PERCENT, .flags = COLUMN_BAR},
    };
    struct table *table = other ? TABLE(arena, columns) : TABLE(arena, alone);
    const struct import_timeline *a = &import->timeline, *b = &(other ?: import)->timeline;
    FOR_EACH(const struct table_column, column, timeline_columns, COUNT_OF(timeline_columns)) {
        const double before = column_cell(column, a).value, after = column_cell(column, b).value;
        if (column->title && (before > 0 || after > 0))
            table_add(table, (struct cell[]){cell_text(column->title), cell_number(before),
                                             cell_number(before / a->span_ns), cell_number(after),
                                             cell_number(after / b->span_ns), cell_number(after / before - 1)});
    }
    return table;
}

static void timeline_line(struct document *document, const struct import *import)
{
    const struct import_timeline *t = &import->timeline;
    if (!isfinite(t->span_ns))
        return;
    document_text(document, SHOW_TEXT | SHOW_MARKDOWN, TONE_PLAIN, "%s%s%zu GPU events in %s: busy %s, idle %s%s",
                  import->device, import->device[0] ? ", " : "", import->event_count, time_of(t->span_ns, document),
                  time_of(t->busy_ns, document),
                  percent_words(t->span_ns > 0 ? t->idle_ns / t->span_ns : 0, document->arena),
                  t->devices > 1 ? " (devices added up)" : "");
}

/* ---- rows ---- */

enum { NAME_SHOWN = 64, SHAPE_SHOWN = 56, NARROW = 12 };

static const char *short_name(const char *name, struct arena *arena)
{
    return text_cut(arena, name, NAME_SHOWN, "..");
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

/* put_name fills the first three. */
static const struct table_column row_columns[] = {
    {.title = "operator", .flags = COLUMN_CUT},
    {.title = "shape", .flags = COLUMN_CUT},
    {.title = "types"},
    {.key = "rank", .unit = UNIT_COUNT, ROW(rank)},
    {.key = "share", .title = "share", .unit = UNIT_PERCENT, ROW(share)},
    {.key = "calls", .title = "calls", .unit = UNIT_COUNT, ROW(calls)},
    {.key = "total_ns", .title = "time", .unit = UNIT_TIME, ROW(total_ns)},
    {.key = "median_ns", .title = "median", .unit = UNIT_TIME, .drop = 8, ROW(median_ns)},
    {.key = "estimate_ns", .title = "tuned", .unit = UNIT_TIME, .drop = 6, ROW(estimate_ns)},
    {.key = "worth_ns", .title = "to win", .unit = UNIT_TIME, .drop = 9, ROW(worth_ns)},
    {.key = "lower_bound_ns", .title = "lower bound", .unit = UNIT_TIME, .drop = 7, ROW(lower_bound_ns)},
    {.key = "bound", .title = "bound", .flags = COLUMN_OPTIONAL, .drop = 3, ROW(bound)},
    {.key = "fraction", .title = "% of roof", .unit = UNIT_PERCENT, .drop = 4, ROW(fraction)},
    {.key = "kernel", .title = "kernel", .flags = COLUMN_CUT | COLUMN_OPTIONAL, .drop = 5, ROW(kernel)},
    {.key = "layout", .title = "layout", .flags = COLUMN_OPTIONAL, .drop = 3, ROW(layout)},
    {.key = "source", .title = "shape from", .drop = 2, ROW(source)},
    {.key = "library", .title = "library", .flags = COLUMN_OPTIONAL, .drop = 1, ROW(library)},
    {.key = "algorithm_bytes_per_s", .title = "algorithm", .unit = UNIT_BYTE_RATE, ROW(algorithm_bytes_per_s)},
    {.key = "bus_bytes_per_s", .title = "bus", .unit = UNIT_BYTE_RATE, ROW(bus_bytes_per_s)},
    {.key = "wrong_elements", .title = "wrong", .unit = UNIT_COUNT, ROW(wrong_elements)},
    {.key = "shape", .flags = COLUMN_OPTIONAL, ROW(shape)},
    {.key = "estimate_low_ns", .unit = UNIT_TIME, ROW(estimate_low_ns)},
    {.key = "estimate_high_ns", .unit = UNIT_TIME, ROW(estimate_high_ns)},
    {.key = "operator", ROW(operator)},
    {.key = "dtype", .flags = COLUMN_OPTIONAL, ROW(dtype)},
    {.key = "total", .flags = COLUMN_OPTIONAL, ROW(total)},
    {.key = "kind", ROW(kind)},
    {.key = "flops", ROW(flops)},
    {.key = "min_ns", .unit = UNIT_TIME, ROW(min_ns)},
    {.key = "max_ns", .unit = UNIT_TIME, ROW(max_ns)},
    {.key = "gpu_kernels", .flags = COLUMN_OPTIONAL, ROW(kernels)},
    {.key = "kernel_traits", .flags = COLUMN_OPTIONAL, ROW(traits)},
    {.key = "no_kernel_reason", .flags = COLUMN_OPTIONAL, ROW(why)},
};

/* Fills the name, shape and types of the last row, which are a table's first columns: no two rows may look alike, even
 * in a narrow column. */
static void put_name(struct table *table, const struct import_row *row)
{
    struct arena *arena = table->arena;
    struct cell *cells = table->rows[table->row_count - 1].cells;
    const char *name = short_name(row->short_name, arena), *narrow = text_cut(arena, name, NARROW, "..");
    const bool same = !row->total[0] || !strcmp(row->dtype, row->total);
    cells[1] = cell_known(short_shape(row, arena));
    cells[2] = cell_known(same ? row->dtype : arena_printf(arena, "%s>%s", row->dtype, row->total));
    for (size_t k = 0; k + 1 < table->row_count && table->row_count <= ROWS_SHOWN; k++) {
        const struct cell *other = table->rows[k].cells;
        if (!strcmp(text_cut(arena, text_or_empty(other[0].text), NARROW, ".."), narrow) &&
            !strcmp(text_or_empty(other[1].text), text_or_empty(cells[1].text)) &&
            !strcmp(text_or_empty(other[2].text), text_or_empty(cells[2].text))) {
            name = arena_printf(arena, "%s #%zu", name, table->row_count);
            break;
        }
    }
    cells[0] = cell_text(name);
}

/* Hides columns without any known value from people. */
static struct table *rows_table(const struct import *import, struct arena *arena)
{
    struct table *table = TABLE(arena, row_columns);
    FOR_EACH(const struct import_row, row, import->rows, import->row_count) {
        table_add_object(table, row);
        put_name(table, row);
    }
    struct table_column *columns = arena_copy(arena, row_columns, sizeof(row_columns));
    for (size_t k = 0; k < COUNT_OF(row_columns); k++)
        if (table->row_count && !COUNT_WHERE(row, table->rows, table->row_count, row->cells[k].kind > CELL_UNKNOWN))
            columns[k].title = NULL;
    table->columns = columns;
    table->most_rows = ROWS_SHOWN;
    table->rest = "--json and --format csv have them all";
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
        struct kernel_sum *sum = kernel_sum_of(&sums, row->short_name);
        sum->cases += (size_t)row->calls;
        sum->time_ns += row->total_ns;
        sum->bounded_ns += bound_ns > 0 ? row->total_ns : 0;
        sum->bound_ns += bound_ns > 0 ? fmin(bound_ns, row->total_ns) : 0;
    }
    picture_sums(document, &sums, "operators", "Time by operator against its lower bound",
                 "The time of all calls of an operator, and the share of it that the ceilings of the device demand.");
}

static struct table *operators_table(const struct import_operator *operators, size_t count, struct arena *arena)
{
    static const struct table_column columns[] = {
        {.title = "name", .flags = COLUMN_CUT, FIELD(struct import_operator, short_name)},
        {.key = "operator", FIELD(struct import_operator, name)},
        {.key = "calls", .title = "calls", .unit = UNIT_COUNT, FIELD(struct import_operator, calls)},
        {.key = "total_ns", .title = "time", .unit = UNIT_TIME, FIELD(struct import_operator, total_ns)},
        {.key = "share",
         .title = "share",
         .unit = UNIT_PERCENT,
         .flags = COLUMN_BAR,
         FIELD(struct import_operator, share)},
    };
    struct table *table = TABLE_OF(arena, columns, operators, count);
    table->most_rows = ROWS_SHOWN;
    table->rest = "--json has them all";
    return table;
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
            text_addf(&names, "%s%s (%s)", named > 1 ? ", " : "", short_name(row->short_name, document->arena),
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

/* Large figures at the top of the page. */
static struct table *tiles_of(const struct import *import, struct arena *arena)
{
    const struct import_timeline *t = &import->timeline;
    struct table *tiles = table_record(arena);
    double worth_ns = NAN;
    FOR_EACH(const struct import_row, row, import->rows, import->row_count)
        worth_ns = isnan(row->worth_ns) ? worth_ns : row->worth_ns + (isnan(worth_ns) ? 0 : worth_ns);
    table_member(tiles, NULL, "GPU time", cell_quantity(import->total_ns, UNIT_TIME));
    table_member(tiles, NULL, "first start to last end", cell_quantity(t->span_ns, UNIT_TIME));
    table_member(tiles, NULL, "idle", cell_quantity(t->idle_ns / t->span_ns, UNIT_PERCENT));
    table_member(tiles, NULL, "waiting for the host", cell_quantity(t->host_ns / t->span_ns, UNIT_PERCENT));
    if (t->communication_ns > 0)
        table_member(tiles, NULL, "communication alone",
                     cell_quantity(t->exposed_communication_ns / t->span_ns, UNIT_PERCENT));
    table_member(tiles, NULL, "explained", cell_quantity(import->explained_ns / import->total_ns, UNIT_PERCENT));
    table_member(tiles, NULL, "to win by tuned kernels", cell_quantity(worth_ns, UNIT_TIME));
    return tiles;
}

/* What to do first: `best` is the row with most to win. */
static const char *action_of(const struct import *import, const struct import_row *best, const char *suite,
                             struct arena *arena)
{
    const struct import_timeline *t = &import->timeline;
    const char *file = import->file_count ? path_base(import->files[0].path) : "FILE";
    if (t->listed_gaps && t->host_ns > MANY * t->span_ns)
        return arena_printf(
            arena,
            "the GPU waits %s of the time for the host, longest %s before %s: launch earlier, or record "
            "the launches as a graph",
            percent_words(t->host_ns / t->span_ns, arena), quantity_words(t->gaps[0].length_ns, UNIT_TIME, arena),
            short_name(t->gaps[0].before, arena));
    const char *measure =
        suite ? arena_printf(arena, "rooftile run %s measures it here", suite)
              : arena_printf(arena, "rooftile import %s -o suite.json makes a suite that measures it", file);
    if (best && best->worth_ns > 0)
        return arena_printf(arena, "most to win: %s %s, %s of %s if it ran as a tuned kernel; %s",
                            short_name(best->short_name, arena), short_shape(best, arena),
                            quantity_words(best->worth_ns, UNIT_TIME, arena),
                            quantity_words(import->total_ns, UNIT_TIME, arena), measure);
    if (import->total_ns > 0 && import->explained_ns < MOSTLY * import->total_ns)
        return "its shapes are missing: record them (record_shapes=True), or add a trace that has them with --shapes";
    return import->row_count ? measure : NULL;
}

static void conclude(struct document *document, const struct import *import, const char *suite)
{
    struct arena *arena = document->arena;
    const struct import_timeline *t = &import->timeline;
    const struct import_row *first = import->rows, *best = NULL;
    FOR_EACH(const struct import_row, row, import->rows, import->row_count)
        if (row->worth_ns > (best ? best->worth_ns : 0))
            best = row;
    const char *on = import->device[0] ? arena_printf(arena, "%s: ", import->device) : "";
    document->action = action_of(import, best, suite, arena);
    if (!(import->total_ns > 0)) {
        document->verdict = arena_printf(arena, "%s%zu shapes, without times", on, import->row_count);
        return;
    }
    const char *idle = isfinite(t->span_ns)
                           ? arena_printf(arena, ", idle %s of %s", percent_words(t->idle_ns / t->span_ns, arena),
                                          quantity_words(t->span_ns, UNIT_TIME, arena))
                           : "";
    const char *ceiling = isfinite(first->fraction)
                              ? arena_printf(arena, ", at %s of its roof", percent_words(first->fraction, arena))
                              : "";
    document->verdict = arena_printf(arena, "%s%s of GPU time%s; %s takes %s of it%s", on,
                                     quantity_words(import->total_ns, UNIT_TIME, arena), idle,
                                     short_name(first->short_name, arena), percent_words(first->share, arena), ceiling);
}

/* Adds the notes of one import or of two. */
static void notes(struct document *document, const struct import *import, const struct import *other)
{
    struct table *list = table_list(document->arena);
    for (const struct import *side = import; side; side = side == import ? other : NULL)
        FOR_EACH(const struct import_note, note, side->notes, side->note_count) {
            const char *text =
                note->count > 1 ? arena_printf(document->arena, "%s (%zu times)", note->text, note->count) : note->text;
            table_item(list, text);
            document_text(document, SHOW_PEOPLE, TONE_DOUBT, "%s", text);
        }
    document_add(document, (struct section){.show = SHOW_DATA, .key = "notes", .table = list});
}

static struct table *files_table(const struct import *import, struct arena *arena)
{
    static const struct table_column columns[] = {{.key = "path", FIELD(struct import_file, path)},
                                                  {.key = "format", FIELD(struct import_file, format)}};
    return TABLE_OF(arena, columns, import->files, import->file_count);
}

void import_document(struct document *document, const struct import *import, const char *suite, bool verbose)
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
    document_add(document, (struct section){.show = SHOW_HTML, .table = tiles_of(import, arena), .tiles = true});
    document_add(document, (struct section){.show = SHOW_DATA, .key = "files", .table = files_table(import, arena)});
    document_add(document,
                 (struct section){.show = SHOW_DATA, .key = "timeline", .table = timeline_record(import, arena)});
    timeline_line(document, import);
    operators_picture(document, import);
    const struct table *rows = rows_table(import, arena);
    document_table(document, "rows", NULL, rows)->show = SHOW_TEXT | SHOW_MARKDOWN | SHOW_DATA;
    document_table(document, NULL, "By operator and shape", rows)->show = SHOW_HTML;
    document_table(document, NULL, "Idle, overlap and gaps", parts_table(import, NULL, arena))->show = SHOW_HTML;
    document_table(document, NULL, "The longest gaps", gaps_table(import, arena))->show = SHOW_HTML;
    document_add(document, (struct section){.show = SHOW_HTML | SHOW_DATA,
                                            .key = "kernels",
                                            .title = "By kernel",
                                            .table = operators_table(import->kernels, import->kernel_count, arena)});
    document_add(document,
                 (struct section){.show = verbose ? 0 : SHOW_DATA,
                                  .key = "operators",
                                  .title = "operators, all shapes together",
                                  .table = operators_table(import->operators, import->operator_count, arena)});
    notes(document, import, NULL);
    tuned_line(document, import);
    explained_line(document, import);
    conclude(document, import, suite);
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
        {.title = "operator", .flags = COLUMN_CUT},
        {.title = "shape", .flags = COLUMN_CUT},
        {.key = "dtype", .title = "types"},
        {.title = "difference"},
        {.key = "before_ns", .title = "A", .unit = UNIT_TIME},
        {.key = "after_ns", .title = "B", .unit = UNIT_TIME},
        {.key = "change", .title = "change", .unit = UNIT_CHANGE, .flags = COLUMN_BAR},
        {.key = "before_calls", .title = "calls A", .unit = UNIT_COUNT, .drop = 1},
        {.key = "after_calls", .title = "calls B", .unit = UNIT_COUNT, .drop = 1},
        {.key = "state", .title = ""},
        {.key = "operator"},
        {.key = "shape"},
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
                      cell_absent(), cell_absent(), cell_absent(), cell_text(signed_time(c->difference_ns, arena)),
                      c->before ? cell_number(c->before->total_ns) : cell_absent(),
                      c->after ? cell_number(c->after->total_ns) : cell_absent(), cell_number(c->change),
                      c->before ? cell_number(c->before->calls) : cell_absent(),
                      c->after ? cell_number(c->after->calls) : cell_absent(),
                      both ? cell_text("") : cell_toned(c->after ? "new" : "gone", c->after ? TONE_BAD : TONE_GOOD),
                      cell_text(row->operator), cell_known(row->shape), cell_number(c->difference_ns)});
        put_name(table, row);
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
    document_table(document, NULL, NULL, parts_table(before, after, arena))->show = SHOW_PEOPLE;
    document_table(document, "changes", NULL, table)->show = SHOW_PEOPLE | SHOW_DATA | SHOW_CSV;
    notes(document, before, after);
    if (!(before->total_ns > 0))
        return;
    const double change = after->total_ns / before->total_ns - 1;
    const struct import_change *worst = NULL;
    FOR_EACH(const struct import_change, c, changes->items, changes->count)
        if (c->difference_ns > (worst ? worst->difference_ns : 0))
            worst = c;
    document->verdict = arena_printf(arena, "GPU time: %s, then %s (%s)", time_of(before->total_ns, document),
                                     time_of(after->total_ns, document), change_words(change, arena));
    document->mark = fabs(change) < 0.01 ? (struct cell){0}
                     : change > 0        ? cell_toned("slower", TONE_BAD)
                                         : cell_toned("faster", TONE_GOOD);
    if (!worst)
        document->action = "no operator takes longer in B";
    else
        document->action = arena_printf(
            arena, "%s %s takes %s longer, the most; rooftile import %s -o suite.json makes a suite that measures it",
            short_name(worst->after->short_name, arena), short_shape(worst->after, arena),
            time_of(worst->difference_ns, document), after->file_count ? path_base(after->files[0].path) : "B");
}
