/* SPDX-License-Identifier: MIT
 *
 * Shapes for kernels whose launch no operator saw, because a graph replayed it or because the trace has no operators.
 * Three places may know: the launches that were recorded while the graph was captured (ROCm's runtime calls name the
 * kernel), an eager trace of the same program, and a library's log. Kernels are matched by name and order, and only
 * where there is one answer.
 */

#include "aggregate.h"
#include "rooftile/units.h"

/* ---- what is to be filled in: the kernels of one launch of a graph, or all that have no launch ---- */

struct missing {
    uint32_t group, name, event;
    double start; /* the node where it is known: replays may run several at a time, and in another order */
};

static int by_group_and_name(const void *a, const void *b)
{
    const struct missing *x = a, *y = b;
    return ORDER(x->group, y->group) ?: ORDER(x->name, y->name) ?: ORDER(x->start, y->start);
}

static int by_segment_and_name(const void *a, const void *b)
{
    const struct trace_launch *x = a, *y = b;
    return ORDER(x->segment, y->segment) ?: ORDER(x->name, y->name) ?: ORDER(x->order, y->order);
}

static size_t count_missing(const struct trace *trace)
{
    return COUNT_WHERE(event, trace->events, trace->event_count,
                       event->operator== TRACE_NONE && event->activity == ACTIVITY_COMPUTE);
}

static uint32_t plain_name(struct trace *trace, uint32_t name)
{
    const char *text = trace->names.items[name];
    return texts_add(&trace->plain_names, text, strcspn(text, "\n"));
}

static struct missing *list_missing(struct trace *trace, size_t count)
{
    struct missing *list = new_zeroed(count + 1, sizeof(*list));
    size_t at = 0;
    for (size_t k = 0; k < trace->event_count && at < count; k++) {
        const struct trace_event *event = &trace->events[k];
        if (event->operator== TRACE_NONE && event->activity == ACTIVITY_COMPUTE)
            list[at++] = (struct missing){.group = event->correlation,
                                          .name = plain_name(trace, event->name),
                                          .event = (uint32_t)k,
                                          .start = event->source == IMPORT_CAPTURE && event->external ? event->external
                                                                                                      : event->start};
    }
    sort_mostly_sorted(list, count, sizeof(*list), by_group_and_name);
    return list;
}

/* ---- launches that were recorded ---- */

struct run {
    const struct trace_launch *first;
    size_t count;
};

/* The launches of a kernel in a segment. */
static struct run find_run(const struct trace *trace, uint32_t segment, uint32_t name)
{
    size_t low = 0, high = trace->launch_count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        const struct trace_launch *at = &trace->launches[middle];
        if (at->segment < segment || (at->segment == segment && at->name < name))
            low = middle + 1;
        else
            high = middle;
    }
    size_t count = 0;
    while (low + count < trace->launch_count && trace->launches[low + count].segment == segment &&
           trace->launches[low + count].name == name)
        count++;
    return (struct run){&trace->launches[low], count};
}

static size_t same_name(const struct missing *list, size_t count)
{
    size_t same = 1;
    while (same < count && list[same].name == list[0].name)
        same++;
    return same;
}

/* How many kernels of the group the segment has as often, or a whole number of times less often. */
static size_t score(const struct trace *trace, uint32_t segment, const struct missing *list, size_t count)
{
    size_t sum = 0;
    for (size_t k = 0, same = 0; k < count; k += same) {
        same = same_name(list + k, count - k);
        const struct run run = find_run(trace, segment, list[k].name);
        sum += run.count && same % run.count == 0 ? same : 0;
    }
    return sum;
}

/* A launch whose operator all segments of the best score agree on; NULL: there is none, or they do not. */
static const struct trace_launch *answer(const struct trace *trace, const size_t *scores, size_t best, uint32_t name,
                                         size_t same, size_t k)
{
    const struct trace_launch *found = NULL;
    for (uint32_t segment = 0; segment < trace->segment_count; segment++) {
        const struct run run = find_run(trace, segment, name);
        if (scores[segment] != best || !run.count || same % run.count)
            continue;
        const struct trace_launch *launch = &run.first[k % run.count];
        if (found && launch->operator!= found->operator)
            return NULL;
        found = found ? found : launch;
    }
    return found;
}

/* Events of one call of an operator are one call; a group may have the segment several times. */
static void fill_group(struct trace *trace, size_t *scores, const struct missing *list, size_t count)
{
    size_t best = 0;
    uint32_t rounds = 0, calls = 0;
    for (uint32_t segment = 0; segment < trace->segment_count; segment++) {
        scores[segment] = score(trace, segment, list, count);
        best = scores[segment] > best ? scores[segment] : best;
    }
    for (uint32_t segment = 0; best && segment < trace->segment_count; segment++)
        if (scores[segment] == best && trace->segment_calls[segment] > calls)
            calls = trace->segment_calls[segment];
    for (size_t k = 0, same = 0; best && k < count; k += same) {
        same = same_name(list + k, count - k);
        for (size_t at = 0; at < same; at++) {
            struct trace_event *event = &trace->events[list[k + at].event];
            const struct trace_launch *launch = answer(trace, scores, best, list[k].name, same, at);
            event->operator= launch ? launch->operator: TRACE_NONE;
            if (event->operator== TRACE_NONE)
                continue;
            event->source = IMPORT_CAPTURE;
            const uint32_t round = (uint32_t)(at / find_run(trace, launch->segment, list[k].name).count);
            event->call = trace->operator_calls + round * calls + launch->call;
            rounds = round >= rounds ? round + 1 : rounds;
        }
    }
    trace->operator_calls += rounds * calls;
}

static void fill_from_launches(struct trace *trace, struct missing *list, size_t count)
{
    size_t *scores = new_zeroed(trace->segment_count + 1u, sizeof(*scores));
    sort_mostly_sorted(trace->launches, trace->launch_count, sizeof(*trace->launches), by_segment_and_name);
    for (size_t k = 0, same = 0; k < count; k += same) {
        for (same = 1; k + same < count && list[k + same].group == list[k].group;)
            same++;
        fill_group(trace, scores, list + k, same);
    }
    free(scores);
}

/* ---- logs ---- */

/* A kernel of Tensile says its type and layout. */
static bool read_tensile(struct trace_operator *out, const char *name)
{
    static const double nothing[3] = {0};
    SCOPED(text_release) struct text ignored = {0};
    *out = (struct trace_operator){.dtype = "", .layout = ""};
    return text_starts(name, "Cijk_") && kernel_name_read(out, &ignored, name, nothing, nothing);
}

static bool same_class(const struct trace_operator *a, const struct trace_operator *b)
{
    return !strcmp(a->dtype, b->dtype) && !strcmp(a->layout, b->layout);
}

/* As many lines of a type and layout as kernels are these, in order; and a single shape is that of all. */
static void fill_class(struct trace *trace, const struct trace_operator *wanted, struct arena *arena)
{
    size_t lines = 0, kernels = 0;
    bool one_shape = true;
    struct trace_call **of_line = arena_array(arena, trace->call_count + 1, sizeof(*of_line));
    struct trace_event **of_kernel = new_zeroed(trace->event_count + 1, sizeof(*of_kernel));
    struct trace_operator operator;
    FOR_EACH(struct trace_call, call, trace->calls, trace->call_count) {
        if (call->signature == TRACE_NONE)
            continue;
        operator_read(&operator, trace->signatures.items[call->signature], arena);
        if (operator.kind != IMPORT_GEMM || !same_class(&operator, wanted))
            continue;
        of_line[lines++] = call;
        one_shape = one_shape && call->signature == of_line[0]->signature;
    }
    FOR_EACH(struct trace_event, event, trace->events, trace->event_count)
        if ((event->operator== TRACE_NONE || event->source == IMPORT_LOG) &&
            read_tensile(&operator, trace->names.items[event->name]) && same_class(&operator, wanted))
            of_kernel[kernels++] = event;
    const bool known = lines && kernels && (kernels == lines || one_shape);
    for (size_t k = 0; known && k < kernels; k++)
        if (of_kernel[k]->operator== TRACE_NONE) {
            of_kernel[k]->operator= of_line[one_shape ? 0 : k]->signature;
            of_kernel[k]->source = IMPORT_LOG;
        }
    for (size_t k = 0; known && k < lines; k++)
        of_line[k]->count = 0;
    free(of_kernel);
}

static void fill_from_logs(struct trace *trace, const struct missing *list, size_t count)
{
    SCOPED(arena_release) struct arena arena = {0};
    struct texts seen = {0};
    for (size_t k = 0; k < count; k++) {
        struct trace_operator operator;
        const uint32_t before = seen.count;
        if ((k && list[k].name == list[k - 1].name) || !read_tensile(&operator, trace->plain_names.items[list[k].name]))
            continue;
        const char *key = arena_printf(&arena, "%s %s", operator.dtype, operator.layout);
        if (texts_add(&seen, key, strlen(key)) == before)
            fill_class(trace, &operator, & arena);
    }
    texts_release(&seen);
}

/* By their launches, which bring them together in the list. */
static void note_graphs(struct trace *trace, const struct missing *list, size_t count)
{
    double time_ns = 0;
    size_t kernels = 0, launches = 0;
    const struct missing *before = NULL;
    FOR_EACH(const struct missing, item, list, count) {
        const struct trace_event *event = &trace->events[item->event];
        if (event->operator!= TRACE_NONE || event->source != IMPORT_CAPTURE)
            continue;
        kernels++;
        launches += !before || before->group != item->group;
        time_ns += event_is_timed(event) ? (event->end - event->start) * trace->timelines[event->device].unit_ns : 0;
        before = item;
    }
    if (kernels)
        trace_note(
            trace, "%zu kernels of %zu launch%s of graphs, %s, have no operator%s", kernels, launches,
            launches == 1 ? "" : "es", units_time((char[UNITS_TEXT]){0}, time_ns),
            trace->options->shape_count ? "" : ": a trace of the capture, or of an eager run, with --shapes has them");
}

void fill_from_capture(struct trace *trace)
{
    const size_t count = count_missing(trace);
    struct missing *list = list_missing(trace, count);
    if (count && trace->launch_count)
        fill_from_launches(trace, list, count);
    if (count && trace->call_count)
        fill_from_logs(trace, list, count);
    note_graphs(trace, list, count);
    free(list);
}
