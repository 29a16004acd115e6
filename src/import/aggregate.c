/* SPDX-License-Identifier: MIT
 *
 * Events into rows. Rows are found by the text of what they are; the events of a row are brought together by counting,
 * so that besides the events there are 20 bytes for each of them at most.
 */
#include "aggregate.h"

#include "rooftile/summary.h"

/* ---- shapes in words ---- */

static const char *shape_words(const struct trace_operator *o, struct arena *arena)
{
    struct text out = {0};
    for (size_t k = 0; import_dims[o->kind][k]; k++)
        if ((o->dims[k] > 0 || (o->kind == IMPORT_CONV && k == 8 && o->dims[0] > 0)) &&
            !(o->kind == IMPORT_GEMM && k == 0 && o->dims[k] == 1))
            text_addf(&out, "%s%s=%.0f", out.length ? " " : "", import_dims[o->kind][k], o->dims[k]);
    if (out.length)
        text_addf(&out, "%s%s", o->causal ? " causal" : "", o->extra ? o->extra : "");
    const bool known = out.length;
    const char *words = text_take(&out, arena);
    return known ? words : o->shape ? o->shape : "";
}

/* ---- rows ---- */

struct rows {
    struct arena *arena;
    const struct catalog *kernels;
    bool by_name; /* one row for each operator or kernel, whatever the shape */
    struct texts keys;
    struct import_row *items;
    size_t *events; /* of each row */
};

static void rows_release(struct rows *rows)
{
    free(rows->items);
    free(rows->events);
    texts_release(&rows->keys);
}

static uint32_t row_of(struct rows *rows, const struct trace_operator *o, enum import_source source, const char *traits)
{
    SCOPED(text_release) struct text key = {0};
    const char *shape = shape_words(o, rows->arena);
    text_add(&key, o->name);
    if (!rows->by_name)
        text_addf(&key, "|%s|%s|%s|%s", shape, o->dtype, o->total, o->layout);
    const uint32_t before = rows->keys.count, number = texts_add(&rows->keys, key.data, key.length);
    if (number < before)
        return number;
    rows->items = array_grow(rows->items, number, sizeof(*rows->items));
    rows->events = array_grow(rows->events, number, sizeof(*rows->events));
    rows->items[number] = (struct import_row){.operator= o->name,
                                              .kind = o->kind,
                                              .source = shape[0] ? source : IMPORT_NONE,
                                              .shape = shape,
                                              .is_explained = import_dims[o->kind][0] && o->dims[0] > 0,
                                              .dtype = o->dtype,
                                              .total = o->total,
                                              .layout = o->layout,
                                              .kernels = "",
                                              .traits = traits,
                                              .why = "no shape is known",
                                              .algorithm_bytes_per_s = NAN,
                                              .bus_bytes_per_s = NAN,
                                              .wrong_elements = NAN,
                                              .flops = NAN,
                                              .lower_bound_ns = NAN,
                                              .fraction = NAN,
                                              .estimate_ns = NAN,
                                              .estimate_low_ns = NAN,
                                              .estimate_high_ns = NAN};
    rows->events[number] = 0;
    return number;
}

static uint32_t row_of_operator(struct rows *rows, const char *signature, enum import_source source)
{
    struct trace_operator operator;
    operator_read(&operator, signature, rows->arena);
    operator.name = name_of_kind(operator.name, rows->arena);
    const uint32_t before = rows->keys.count, number = row_of(rows, &operator, source, "");
    struct import_row *row = &rows->items[number];
    if (number == before && !rows->by_name) {
        row_map(row, &operator, rows->kernels, rows->arena);
        row->described = row_described(&operator, rows->arena);
        row->flops = row_flops(&operator, row->described);
        row->launch = launch_read(signature, rows->arena);
    }
    return number;
}

/* A kernel of which no operator is known: what its name says, and with the grid how large a product is at most. */
static uint32_t row_of_kernel(struct rows *rows, const char *named)
{
    struct trace_operator operator= {.dtype = "", .total = "", .layout = "", .shape = ""};
    struct text traits = {0};
    double grid[3] = {0}, block[3] = {0};
    const size_t length = strcspn(named, "\n");
    const char *name = arena_strndup(rows->arena, named, length), *launch = named + length + 1;
    if (named[length]) {
        launch_numbers(grid, &launch);
        launch_numbers(block, &launch);
    }
    kernel_name_read(&operator, & traits, name, grid, block);
    operator.name = name_of_kind(name, rows->arena);
    if (operator.name != name && grid[0]> 0) /* several of that name: by their size */
        operator.shape =
            arena_printf(rows->arena, "%.0f workgroups of %.0f", grid[0] * fmax(1, grid[1]) * fmax(1, grid[2]),
                         block[0] * fmax(1, block[1]) * fmax(1, block[2]));
    return row_of(rows, &operator, IMPORT_NONE, text_take(&traits, rows->arena));
}

/* Every event's `external` becomes the number of its row. */
static void assign_rows(struct rows *rows, struct trace *trace)
{
    uint32_t *of_operator = new_zeroed(trace->signatures.count + 1u, sizeof(uint32_t));
    uint32_t *of_name = new_zeroed(trace->names.count + 1u, sizeof(uint32_t)); /* row + 1 */
    FOR_EACH(struct trace_event, event, trace->events, trace->event_count) {
        const bool known = event->operator!= TRACE_NONE;
        uint32_t *row = known ? &of_operator[event->operator] : & of_name[event->name];
        if (!*row)
            *row = 1 + (known ? row_of_operator(rows, trace->signatures.items[event->operator], event->source)
                              : row_of_kernel(rows, trace->names.items[event->name]));
        event->external = *row - 1;
        rows->events[event->external]++;
    }
    free(of_operator);
    free(of_name);
}

/* ---- times ---- */

union span {
    struct {
        double start;
        uint32_t event, call;
    };
    double times[2]; /* of calls, where spans were read */
};

static int by_call_and_start(const void *a, const void *b)
{
    const union span *x = a, *y = b;
    return ORDER(x->call, y->call) ?: ORDER(x->start, y->start);
}

/* The times of the row's calls in ns, in the place of the spans: of each the time in which any of its events ran. How
 * many of the calls have one. */
static size_t call_times(union span *spans, size_t count, const struct trace *trace, double *all_calls)
{
    const struct trace_event *events = trace->events;
    size_t calls = 0;
    for (size_t k = 0; k < count; ++*all_calls) {
        double sum = 0, start = spans[k].start, end = events[spans[k].event].end;
        const uint32_t call = spans[k].call;
        const double unit_ns = trace->timelines[events[spans[k].event].device].unit_ns;
        size_t next = k + 1;
        for (; next < count && spans[next].call == call && call != TRACE_NONE; next++) {
            if (!event_is_timed(&events[spans[next].event]))
                continue;
            if (spans[next].start > end) {
                sum += end - start;
                start = spans[next].start;
                end = start;
            }
            end = fmax(end, events[spans[next].event].end);
        }
        k = next;
        if (!isfinite(end)) /* sorted by start: none of them has a time */
            continue;
        spans[calls / 2].times[calls % 2] = (sum + (end - start)) * unit_ns;
        calls++;
    }
    return calls;
}

static void add_kernel_name(struct import_row *row, const char *named, struct arena *arena)
{
    const char *name = arena_strndup(arena, named, strcspn(named, "\n"));
    if (strcmp(name, row->operator) != 0 && !strstr(row->kernels, name) && strlen(row->kernels) < 2000)
        row->kernels = arena_printf(arena, "%s%s%.500s", row->kernels, row->kernels[0] ? "; " : "", name);
}

/* `seen` has the last row that took each name, which is `mark`. */
static void finish_row(struct import_row *row, struct trace *trace, union span *spans, size_t count, uint32_t *seen,
                       uint32_t mark, struct arena *arena)
{
    sort_mostly_sorted(spans, count, sizeof(*spans), by_call_and_start);
    for (size_t k = 0; k < count; k++) {
        const uint32_t name = trace->events[spans[k].event].name;
        if (seen[name] == mark)
            continue;
        seen[name] = mark;
        add_kernel_name(row, trace->names.items[name], arena);
        if (row->launch)
            launch_set_grid(row->launch, trace->names.items[name]);
    }
    const size_t calls = call_times(spans, count, trace, &row->calls);
    double *times = spans->times;
    double sum = calls ? 0 : NAN;
    row->min_ns = calls ? INFINITY : NAN;
    row->max_ns = sum;
    for (size_t k = 0; k < calls; k++) {
        sum += times[k];
        row->min_ns = fmin(row->min_ns, times[k]);
        row->max_ns = fmax(row->max_ns, times[k]);
    }
    row->total_ns = sum;
    row->median_ns = calls ? median_of(times, calls) : NAN;
}

static void time_rows(struct rows *rows, struct trace *trace, struct arena *arena)
{
    const size_t count = rows->keys.count;
    size_t *start = arena_array(arena, count + 1, sizeof(*start)), most = 0;
    uint32_t *order = new_zeroed(trace->event_count + 1, sizeof(*order));
    uint32_t *seen = new_zeroed(trace->names.count + 1u, sizeof(*seen));
    for (size_t k = 0; k < count; k++) {
        start[k + 1] = start[k] + rows->events[k];
        most = rows->events[k] > most ? rows->events[k] : most;
    }
    union span *spans = new_zeroed(most + 1, sizeof(*spans));
    for (size_t k = 0; k < trace->event_count; k++)
        order[start[trace->events[k].external]++] = (uint32_t)k;
    for (size_t row = 0, at = 0; row < count; at += rows->events[row++]) {
        for (size_t k = 0; k < rows->events[row]; k++) {
            const struct trace_event *event = &trace->events[order[at + k]];
            spans[k] = (union span){{.start = event->start, .event = order[at + k], .call = event->call}};
        }
        if (rows->events[row])
            finish_row(&rows->items[row], trace, spans, rows->events[row], seen, (uint32_t)row + 1, arena);
    }
    free(order);
    free(spans);
    free(seen);
}

/* ---- the timeline ---- */

static int by_start(const void *a, const void *b)
{
    const struct trace_event *x = a, *y = b;
    return ORDER(x->device, y->device) ?: ORDER(x->start, y->start);
}

/* Time in which any event of these activities ran, each device by itself; events are sorted by device and start. */
static double covered_ns(const struct trace *trace, unsigned activities)
{
    double all = 0, sum = 0, start = 0, end = -INFINITY;
    uint16_t device = UINT16_MAX;
    for (size_t k = 0; k <= trace->event_count; k++) {
        const struct trace_event *event = k < trace->event_count ? &trace->events[k] : NULL;
        if (event && (!(activities & 1u << event->activity) || !event_is_timed(event)))
            continue;
        const bool next_device = !event || event->device != device;
        if (next_device || event->start > end) {
            sum += device == UINT16_MAX ? 0 : end - start;
            start = event ? event->start : 0;
            end = -INFINITY;
        }
        if (next_device) {
            all += device == UINT16_MAX ? 0 : sum * trace->timelines[device].unit_ns;
            sum = 0;
        }
        device = event ? event->device : device;
        end = event ? fmax(end, event->end) : end;
    }
    return all;
}

static double span_ns(const struct trace *trace, size_t *devices)
{
    double sum = 0;
    for (size_t k = 0; k < trace->event_count; ++*devices) {
        const uint16_t device = trace->events[k].device;
        const double start = trace->events[k].start;
        double end = start;
        for (; k < trace->event_count && trace->events[k].device == device; k++)
            end = event_is_timed(&trace->events[k]) ? fmax(end, trace->events[k].end) : end;
        sum += !isfinite(start) ? 0 : (end - start) * trace->timelines[device].unit_ns;
    }
    return sum;
}

static void time_line(struct import_timeline *out, struct trace *trace)
{
    const unsigned compute = 1u << ACTIVITY_COMPUTE, communication = 1u << ACTIVITY_COMMUNICATION;
    const unsigned copy = 1u << ACTIVITY_COPY;
    *out = (struct import_timeline){NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, 0};
    if (!COUNT_WHERE(event, trace->events, trace->event_count, event_is_timed(event)))
        return;
    sort_mostly_sorted(trace->events, trace->event_count, sizeof(*trace->events), by_start);
    const double busy = covered_ns(trace, compute | communication | copy), work = covered_ns(trace, compute);
    const double without_copies = covered_ns(trace, compute | communication), span = span_ns(trace, &out->devices);
    out->compute_ns = work;
    out->communication_ns = covered_ns(trace, communication);
    out->copy_ns = covered_ns(trace, copy);
    out->exposed_communication_ns = without_copies - work;
    out->exposed_copy_ns = busy - without_copies;
    out->busy_ns = busy;
    out->span_ns = span;
    out->idle_ns = span - busy;
}

/* ---- all of it ---- */

static int by_time(const void *a, const void *b)
{
    const struct import_row *x = a, *y = b;
    const double time_x = isfinite(x->total_ns) ? x->total_ns : -1, time_y = isfinite(y->total_ns) ? y->total_ns : -1;
    return ORDER(time_y, time_x) ?: ORDER(y->calls, x->calls) ?: strcmp(x->operator, y->operator)
           ?: strcmp(x->shape, y->shape);
}

/* Of calls of the same size: the bandwidth that their mean time has. */
static double mean_bandwidth(double before, double calls, const struct trace_call *call, double more)
{
    if (!(more > 0))
        return before;
    return before > 0 ? (calls + call->count) / (calls / before + call->count / more) : more;
}

/* Lines of logs and tables: calls that a trace has timed are not counted again. */
static void add_calls(struct rows *rows, struct trace *trace)
{
    FOR_EACH(const struct trace_call, call, trace->calls, trace->call_count) {
        if (!(call->count > 0)) /* a trace has its kernel */
            continue;
        const uint32_t number =
            call->signature == TRACE_NONE
                ? row_of_kernel(rows, trace->names.items[call->name])
                : row_of_operator(rows, trace->signatures.items[call->signature], trace->call_source);
        struct import_row *row = &rows->items[number];
        if (rows->events[number])
            continue;
        row->algorithm_bytes_per_s =
            mean_bandwidth(row->algorithm_bytes_per_s, row->calls, call, call->algorithm_bytes_per_s);
        row->bus_bytes_per_s = mean_bandwidth(row->bus_bytes_per_s, row->calls, call, call->bus_bytes_per_s);
        if (call->bus_bytes_per_s != 0 && !isnan(call->wrong_elements))
            row->wrong_elements = (isnan(row->wrong_elements) ? 0 : row->wrong_elements) + call->wrong_elements;
        row->calls += call->count;
        row->total_ns = (row->calls > call->count ? row->total_ns : 0) + call->count * call->time_ns;
        row->min_ns = row->max_ns = NAN; /* the means of tables say nothing about these */
        row->median_ns = row->total_ns / row->calls;
    }
}

static int by_operator_time(const void *a, const void *b)
{
    const struct import_operator *x = a, *y = b;
    const double time_x = isfinite(x->total_ns) ? x->total_ns : -1, time_y = isfinite(y->total_ns) ? y->total_ns : -1;
    return ORDER(time_y, time_x) ?: strcmp(x->name, y->name);
}

static void sum_operators(struct import *out, struct trace *trace, struct arena *arena)
{
    struct rows rows = {.arena = arena, .by_name = true};
    double sum = 0;
    assign_rows(&rows, trace);
    time_rows(&rows, trace, arena);
    struct import_operator *operators = arena_array(arena, rows.keys.count + 1u, sizeof(*operators));
    for (size_t k = 0; k < rows.keys.count; k++)
        sum += isfinite(rows.items[k].total_ns) ? rows.items[k].total_ns : 0;
    for (size_t k = 0; k < rows.keys.count; k++)
        operators[k] = (struct import_operator){.name = rows.items[k].operator,
                                                .calls = rows.items[k].calls,
                                                .total_ns = rows.items[k].total_ns,
                                                .share = rows.items[k].total_ns / sum};
    out->operators = operators;
    out->operator_count = rows.keys.count;
    qsort(operators, out->operator_count, sizeof(*operators), by_operator_time);
    rows_release(&rows);
}

static int by_call(const void *a, const void *b)
{
    const struct trace_part *x = a, *y = b;
    return ORDER(x->call, y->call);
}

/* From here on events belong to the operator that has the shape. */
static void join_parts(struct trace *trace)
{
    if (!trace->part_count)
        return;
    qsort(trace->parts, trace->part_count, sizeof(*trace->parts), by_call);
    FOR_EACH(struct trace_event, event, trace->events, trace->event_count) {
        const struct trace_part wanted = {.call = event->call},
                                *part = bsearch(&wanted, trace->parts, trace->part_count, sizeof(wanted), by_call);
        if (event->call != TRACE_NONE && part) {
            event->call = part->whole;
            event->operator= part->signature;
        }
    }
}

void aggregate(struct import *out, struct trace *trace, struct arena *arena)
{
    struct rows rows = {.arena = arena, .kernels = trace->options->kernels};
    time_line(&out->timeline, trace);
    sum_operators(out, trace, arena);
    join_parts(trace);
    assign_rows(&rows, trace);
    time_rows(&rows, trace, arena);
    add_calls(&rows, trace);
    out->row_count = rows.keys.count;
    out->rows = arena_copy(arena, rows.items, out->row_count * sizeof(*rows.items));
    out->event_count = trace->event_count - trace->lost;
    rows_release(&rows);
    for (size_t k = 0; k < out->row_count; k++)
        if (isfinite(out->rows[k].total_ns)) {
            out->total_ns += out->rows[k].total_ns;
            out->explained_ns += out->rows[k].is_explained ? out->rows[k].total_ns : 0;
        }
    for (size_t k = 0; k < out->row_count; k++)
        out->rows[k].share = out->total_ns > 0 ? out->rows[k].total_ns / out->total_ns : NAN;
    qsort(out->rows, out->row_count, sizeof(*out->rows), by_time);
}
