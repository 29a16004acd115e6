/* SPDX-License-Identifier: MIT
 *
 * Which operator an event belongs to. On each host thread operators and runtime calls nest: one pass over both, sorted
 * by start, with the operators that are open on a stack.
 */

#include "rooftile/units.h"
#include "trace.h"

/* A child that ends later than its parent by less than this overlaps it because of the clock's resolution. */
#define BLEED_NS 1000.0
#define MOST_OPEN 4096

static int by_thread_and_start(const void *a, const void *b)
{
    const struct host_event *x = a, *y = b;
    return ORDER(x->thread, y->thread) ?: ORDER(x->start, y->start) ?: ORDER(y->end, x->end);
}

static int by_id(const void *a, const void *b)
{
    const struct host_event *x = a, *y = b;
    return ORDER(x->id, y->id);
}

static void sort_events(struct host_events *events, int (*compare)(const void *, const void *))
{
    sort_mostly_sorted(events->items, events->count, sizeof(*events->items), compare);
}

struct open_operators {
    double bleed; /* BLEED_NS, in the clock's unit */
    uint32_t items[MOST_OPEN];
    size_t count;
    uint32_t thread;
};

/* Closes what ended before `event`; false: the event overlaps one that is open, and belongs to nobody. */
static bool settle(struct open_operators *open, const struct host_event *operators, const struct host_event *event)
{
    if (open->thread != event->thread)
        open->count = 0;
    open->thread = event->thread;
    while (open->count && event->start >= operators[open->items[open->count - 1]].end)
        open->count--;
    if (!open->count)
        return true;
    const double overlap = operators[open->items[open->count - 1]].end - event->start;
    if (event->end <= event->start + overlap)
        return true;
    if (overlap >= open->bleed || open->count < 2)
        return false;
    open->count--;
    return true;
}

static void open_operator(struct open_operators *open, struct trace *trace, uint32_t number)
{
    struct host_event *operators = trace->operators.items, *event = &operators[number];
    event->whole = TRACE_NONE;
    if (!settle(open, operators, event) || open->count == MOST_OPEN)
        return;
    if (open->count)
        event->whole = operators[open->items[open->count - 1]].whole;
    if (event->whole == TRACE_NONE && operator_is_whole(trace->signatures.items[event->signature]))
        event->whole = number;
    open->items[open->count++] = number;
}

/* Every runtime call gets the number of its operator; TRACE_NONE: none. */
static void nest(struct trace *trace)
{
    struct host_events *operators = &trace->operators, *runtime = &trace->runtime;
    static struct open_operators open; /* emptied here */
    size_t next = 0;
    open.count = 0;
    open.bleed = BLEED_NS / trace->unit_ns;
    FOR_EACH(struct host_event, call, runtime->items, runtime->count) {
        for (; next < operators->count && by_thread_and_start(&operators->items[next], call) <= 0; next++)
            open_operator(&open, trace, (uint32_t)next);
        call->signature = settle(&open, operators->items, call) && open.count ? open.items[open.count - 1] : TRACE_NONE;
    }
    for (; next < operators->count; next++)
        open_operator(&open, trace, (uint32_t)next);
}

static struct host_event *find_id(const struct host_events *events, uint32_t id)
{
    const struct host_event wanted = {.id = id};
    return id && events->count ? bsearch(&wanted, events->items, events->count, sizeof(wanted), by_id) : NULL;
}

static void set_operator(struct trace *trace, struct trace_event *event, uint32_t number)
{
    const struct host_event *operator= & trace->operators.items[number];
    event->operator= operator->signature;
    event->call = trace->operator_calls + number;
    event->source = IMPORT_OPERATOR;
    if (operator->whole != TRACE_NONE && operator->whole != number)
        ARRAY_PUSH(trace->parts, trace->part_count,
                   (struct trace_part){event->call, trace->operator_calls + operator->whole,
                                       trace->operators.items[operator->whole].signature});
}

/* By their runtime calls. Returns how many of the others have an external id. */
static size_t by_correlation(struct trace *trace)
{
    size_t left = 0;
    for (size_t k = trace->first_event; k < trace->event_count; k++) {
        struct trace_event *event = &trace->events[k];
        struct host_event *call = find_id(&trace->runtime, event->correlation);
        if (call)
            call->end = -INFINITY; /* it ran */
        if (event->source == IMPORT_CAPTURE)
            continue;
        if (call && call->thread == TRACE_NONE) {
            event->external = 0; /* of whoever launched the graph */
            event->source = IMPORT_CAPTURE;
        } else if (call && call->signature != TRACE_NONE)
            set_operator(trace, event, call->signature);
        left += event->operator== TRACE_NONE && event->external;
    }
    return left;
}

/* An event of this operator that the file has no kernel of: it is counted. */
static void add_lost(struct trace *trace, uint32_t name, uint32_t operator)
{
    struct trace_event event = {
        .start = INFINITY, .end = INFINITY, .name = name, .operator= TRACE_NONE, .call = TRACE_NONE};
    event.device = (uint16_t)trace_device(trace, trace->path, 0);
    if (operator!= TRACE_NONE)
        set_operator(trace, &event, operator);
    ARRAY_PUSH(trace->events, trace->event_count, event);
    trace->lost++;
}

/* Of a file that was cut before it says what was launched: the operators that others are not inside of. */
static void add_operators(struct trace *trace)
{
    const struct host_events *all = &trace->operators;
    for (size_t k = 0; k < all->count; k++)
        if ((k + 1 == all->count || all->items[k + 1].thread != all->items[k].thread ||
             all->items[k + 1].start >= all->items[k].end) &&
            operator_is_known(trace->signatures.items[all->items[k].signature]))
            add_lost(trace, texts_add(&trace->names, "", 0), (uint32_t)k);
}

/* Launches that never ran. While a capture lasts they were recorded into a graph; else their kernels are missing. Ids
 * rise in the order of calls. */
static void keep_launches(struct trace *trace)
{
    const uint32_t nameless = texts_add(&trace->names, "unknown kernel", strlen("unknown kernel"));
    const uint32_t graph = texts_add(&trace->names, "launch of a graph", strlen("launch of a graph"));
    const size_t before = trace->lost;
    size_t launches = 0;
    bool captures = !trace->gpu_events && !trace->cut; /* such a file is there for its shapes */
    trace_begin_segment(trace);
    FOR_EACH(const struct host_event, call, trace->runtime.items, trace->runtime.count) {
        const bool named = call->whole < TRACE_LAUNCH, of_graph = call->thread == TRACE_NONE;
        const bool launch = named || of_graph || call->whole == TRACE_LAUNCH;
        if (call->whole == TRACE_CAPTURE)
            trace_begin_segment(trace);
        captures = call->whole == TRACE_CAPTURE || (captures && (call->whole != TRACE_CAPTURED || !trace->gpu_events));
        launches += launch;
        if (named && isfinite(call->end))
            trace_add_launch(trace, trace->names.items[call->whole],
                             call->signature == TRACE_NONE ? TRACE_NONE
                                                           : trace->operators.items[call->signature].signature,
                             call->signature);
        if (launch && isfinite(call->end) && !captures && !trace->shapes_only)
            add_lost(trace, named ? call->whole : of_graph ? graph : nameless, of_graph ? TRACE_NONE : call->signature);
    }
    if (trace->lost > before)
        trace_note(trace, "%s: %zu of %zu launches have no kernel in it: they are counted, not timed", trace->path,
                   trace->lost - before, launches);
    else if (trace->cut && !trace->gpu_events)
        add_operators(trace);
}

static int by_start(const void *a, const void *b)
{
    const struct trace_event *x = a, *y = b;
    return ORDER(x->start, y->start);
}

/* Of a file that is read for its shapes the events are launches that ran elsewhere; what a graph replayed in it says
 * nothing. */
static void keep_shapes_only(struct trace *trace)
{
    trace_begin_segment(trace);
    sort_mostly_sorted(trace->events + trace->first_event, trace->event_count - trace->first_event,
                       sizeof(*trace->events), by_start);
    for (size_t k = trace->first_event; k < trace->event_count; k++) {
        const struct trace_event *event = &trace->events[k];
        if (event->source != IMPORT_CAPTURE)
            trace_add_launch(trace, trace->names.items[event->name], event->operator, event->call);
    }
    trace->event_count = trace->first_event;
}

/* The numbers of the operators follow them in `thread` when they are sorted by id. */
static void by_external_id(struct trace *trace)
{
    struct host_events ids = {.count = trace->operators.count};
    ids.items = new_zeroed(ids.count + 1, sizeof(*ids.items));
    for (size_t k = 0; k < ids.count; k++) {
        ids.items[k] = trace->operators.items[k];
        ids.items[k].thread = (uint32_t)k;
    }
    sort_events(&ids, by_id);
    for (size_t k = trace->first_event; k < trace->event_count; k++) {
        struct trace_event *event = &trace->events[k];
        const bool alone = event->operator== TRACE_NONE && event->source != IMPORT_CAPTURE;
        const struct host_event *found = alone ? find_id(&ids, event->external) : NULL;
        if (found)
            set_operator(trace, event, found->thread);
    }
    free(ids.items);
}

static int by_stream_and_start(const void *a, const void *b)
{
    const struct trace_event *x = a, *y = b;
    return ORDER(x->device, y->device) ?: ORDER(x->call, y->call) ?: ORDER(x->start, y->start);
}

/* On a stream events run one after the other, but for those of a graph: what is longer ends where the next one
 * starts. */
static void clip_overlaps(struct trace *trace)
{
    double clipped = 0;
    size_t count = 0;
    sort_mostly_sorted(trace->events + trace->first_event, trace->event_count - trace->first_event,
                       sizeof(*trace->events), by_stream_and_start);
    for (size_t k = trace->first_event + 1; k < trace->event_count; k++) {
        struct trace_event *before = &trace->events[k - 1];
        const struct trace_event *event = &trace->events[k];
        const double overlap = before->end - event->start;
        if (before->device != event->device || before->call != event->call || event->call == TRACE_NONE ||
            (event->correlation && before->correlation == event->correlation) || !(overlap * trace->unit_ns > BLEED_NS))
            continue;
        before->end = event->start;
        clipped += overlap;
        count++;
    }
    for (size_t k = trace->first_event; k < trace->event_count; k++)
        trace->events[k].call = TRACE_NONE;
    if (count)
        trace_note(trace, "%s: durations overlap on a stream: %zu GPU events end where the next one starts, %s less",
                   trace->path, count, units_time((char[UNITS_TEXT]){0}, clipped * trace->unit_ns));
}

void trace_attribute(struct trace *trace)
{
    clip_overlaps(trace);
    sort_events(&trace->operators, by_thread_and_start);
    sort_events(&trace->runtime, by_thread_and_start);
    nest(trace);
    sort_events(&trace->runtime, by_id);
    if (by_correlation(trace))
        by_external_id(trace);
    keep_launches(trace);
    if (trace->shapes_only && trace->event_count > trace->first_event)
        keep_shapes_only(trace);
    trace->operator_calls += (uint32_t)trace->operators.count;
    free(trace->operators.items);
    free(trace->runtime.items);
    trace->operators = trace->runtime = (struct host_events){0};
    texts_release(&trace->words);
    trace->has_first = false;
    trace->gpu_events = 0;
    trace->first_event = trace->event_count;
}
