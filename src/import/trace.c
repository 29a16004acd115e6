/* SPDX-License-Identifier: MIT */
#include "trace.h"

#include "rooftile/hash.h"
#include "source.h"

/* ---- texts ---- */

uint32_t texts_add(struct texts *texts, const char *text, size_t length)
{
    length = strnlen(text, length);
    if (2 * texts->count >= texts->slot_count) {
        const uint32_t count = texts->slot_count ? 2 * texts->slot_count : 1024;
        uint32_t *slots = new_zeroed(count, sizeof(*slots));
        for (uint32_t k = 0; k < texts->count; k++) {
            uint32_t at = (uint32_t)hash_u64(texts->items[k], strlen(texts->items[k])) & (count - 1);
            while (slots[at])
                at = (at + 1) & (count - 1);
            slots[at] = k + 1;
        }
        free(texts->slots);
        texts->slots = slots;
        texts->slot_count = count;
    }
    uint32_t at = (uint32_t)hash_u64(text, length) & (texts->slot_count - 1);
    for (; texts->slots[at]; at = (at + 1) & (texts->slot_count - 1)) {
        const char *known = texts->items[texts->slots[at] - 1];
        if (strncmp(known, text, length) == 0 && !known[length])
            return texts->slots[at] - 1;
    }
    texts->slots[at] = texts->count + 1;
    ARRAY_PUSH(texts->items, texts->count, arena_strndup(&texts->arena, text, length));
    return texts->count - 1;
}

void texts_release(struct texts *texts)
{
    free(texts->items);
    free(texts->slots);
    arena_release(&texts->arena);
    *texts = (struct texts){0};
}

/* ---- notes ---- */

void trace_note(struct trace *trace, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(&trace->arena, format, args);
    va_end(args);
    for (size_t k = 0; k < trace->note_count; k++)
        if (strcmp(trace->notes[k].text, text) == 0) {
            trace->notes[k].count++;
            return;
        }
    ARENA_PUSH(&trace->arena, trace->notes, trace->note_count, (struct import_note){.text = text, .count = 1});
}

void trace_skip(struct trace *trace, const char *format, ...)
{
    static const char first[] = " (the first at ";
    char words[256];
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof(words), format, args);
    va_end(args);
    const size_t path = strlen(trace->path), length = strlen(words);
    for (size_t k = 0; k < trace->note_count; k++) {
        const char *note = trace->notes[k].text;
        if (strncmp(note, trace->path, path) != 0 || !text_starts(note + path, ": ") ||
            strncmp(note + path + 2, words, length) != 0)
            continue;
        if (!note[path + 2 + length] || text_starts(note + path + 2 + length, first)) {
            trace->notes[k].count++;
            return;
        }
    }
    const uint64_t line = trace->source ? trace->source->line : 0, place = line ? line : trace->offset;
    if (place)
        trace_note(trace, "%s: %s%s%s %llu)", trace->path, words, first, line ? "line" : "byte",
                   (unsigned long long)place);
    else
        trace_note(trace, "%s: %s", trace->path, words);
}

/* ---- events ---- */

void trace_begin_segment(struct trace *trace)
{
    ARRAY_PUSH(trace->segment_calls, trace->segment_count, 0);
}

/* Launches of one operator's call are near each other: operators inside it may launch between them. */
static uint32_t call_of_launch(struct trace *trace, uint32_t segment, uint32_t number)
{
    enum { MOST_BETWEEN = 256 };
    for (size_t k = trace->launch_count; k > 0 && k + MOST_BETWEEN > trace->launch_count; k--) {
        const struct trace_launch *before = &trace->launches[k - 1];
        if (before->segment != segment)
            break;
        if (before->number == number && number != TRACE_NONE)
            return before->call;
    }
    return trace->segment_calls[segment]++;
}

void trace_add_launch(struct trace *trace, const char *kernel, uint32_t operator, uint32_t number)
{
    const uint32_t name = texts_add(&trace->plain_names, kernel, strcspn(kernel, "\n"));
    if (!trace->segment_count)
        trace_begin_segment(trace);
    const uint32_t segment = trace->segment_count - 1, call = call_of_launch(trace, segment, number);
    ARRAY_PUSH(trace->launches, trace->launch_count,
               (struct trace_launch){name, operator, segment, (uint32_t)trace->launch_count, number, call});
}

uint32_t trace_device(struct trace *trace, const char *file, uint32_t number)
{
    for (size_t k = trace->timeline_count; k > 0; k--)
        if (trace->timelines[k - 1].number == number && !strcmp(trace->timelines[k - 1].file, file))
            return (uint32_t)k - 1;
    if (trace->timeline_count >= UINT16_MAX)
        return UINT16_MAX - 1;
    ARENA_PUSH(
        &trace->arena, trace->timelines, trace->timeline_count,
        (struct timeline){.file = arena_strdup(&trace->arena, file), .number = number, .unit_ns = trace->unit_ns});
    return (uint32_t)trace->timeline_count - 1;
}

/* Each event has six of them: without printf. */
static void add_count(struct text *out, double number, const char *behind)
{
    char digits[24];
    size_t at = sizeof(digits);
    uint64_t left = number >= 0 && number < 1e18 ? (uint64_t)number : 0;
    do
        digits[--at] = (char)('0' + left % 10);
    while (left /= 10);
    text_addn(out, digits + at, sizeof(digits) - at);
    text_addn(out, behind, 1);
}

/* "NAME", or "NAME\n8,1,1 256,1,1" where the launch is known: elements above 0. */
static uint32_t name_of_launch(struct trace *trace, const char *name, const double grid[3], const double block[3])
{
    if (!(grid[0] > 0))
        return texts_add(&trace->names, name, strlen(name));
    struct text *text = &trace->launch;
    text_clear(text);
    text_add(text, name);
    text_addn(text, "\n", 1);
    for (size_t k = 0; k < 3; k++)
        add_count(text, grid[k], &",, "[k]);
    for (size_t k = 0; k < 3; k++)
        add_count(text, block[k], &",,\n"[k]);
    return texts_add(&trace->names, text->data, text->length - 1);
}

/* Copies by a kernel of ROCm's own runtime are copies, as they are where the copy engines do them. */
static enum activity activity_of(const char *name)
{
    static const char *const copies[] = {"MEMORY_COPY_HOST_TO_DEVICE", "MEMORY_COPY_DEVICE_TO_HOST",
                                         "MEMORY_COPY_DEVICE_TO_DEVICE", "__amd_rocclr_copyBuffer"};
    static const char *const collectives[] = {
        "nccl", "NCCL", "rccl", "RCCL", "Nccl", "cross_device_reduce", "multimem_all_reduce", "_shot_all_reduce_"};
    for (size_t k = 0; k < COUNT_OF(copies); k++)
        if (text_starts(name, copies[k]))
            return ACTIVITY_COPY;
    for (size_t k = 0; k < COUNT_OF(collectives); k++)
        if (strstr(name, collectives[k]))
            return ACTIVITY_COMMUNICATION;
    return ACTIVITY_COMPUTE;
}

static uint8_t activity_of_name(struct trace *trace, uint32_t name)
{
    while (trace->activity_count <= name)
        ARRAY_PUSH(trace->activities, trace->activity_count, 0);
    if (!trace->activities[name])
        trace->activities[name] = (uint8_t)(1 + activity_of(trace->names.items[name]));
    return (uint8_t)(trace->activities[name] - 1);
}

void trace_add_gpu(struct trace *trace, const struct gpu_event *event)
{
    double grid[3] = {0}, block[3] = {0};
    for (size_t k = 0; k < 3; k++) {
        block[k] = event->in_lanes ? fmax(1, event->block[k]) : event->block[k];
        grid[k] = event->in_lanes ? ceil(event->grid[k] / block[k]) : event->grid[k];
    }
    const uint32_t name = name_of_launch(trace, event->name, grid, block);
    const bool timed = isfinite(event->start) && isfinite(event->end) && event->end > event->start;
    if (!timed)
        trace_skip(trace, "a GPU event without a time is counted, not timed");
    trace->gpu_events++;
    ARRAY_PUSH(trace->events, trace->event_count,
               (struct trace_event){
                   .start = timed ? event->start : INFINITY,
                   .end = timed ? event->end : INFINITY,
                   .correlation = event->correlation,
                   .external = event->graph_node ? event->graph_node : event->external,
                   .name = name,
                   .operator= TRACE_NONE,
                   .call = event->stream ? event->stream - 1 : TRACE_NONE,
                   .device = (uint16_t)trace_device(trace, trace->path, event->device),
                   .source = event->graph_node ? IMPORT_CAPTURE : IMPORT_NONE,
                   .activity = strcmp(event->category, "gpu_memcpy") ? activity_of_name(trace, name) : ACTIVITY_COPY,
               });
}

double trace_since_first(struct trace *trace, uint64_t ns)
{
    if (!ns) /* none was taken */
        return NAN;
    if (!trace->has_first)
        trace->first_ns = ns;
    trace->has_first = true;
    return (double)(int64_t)(ns - trace->first_ns);
}

double trace_stamp(struct trace *trace, const char *digits)
{
    char *end = NULL;
    const unsigned long long ns = digits ? strtoull(digits, &end, 10) : 0;
    return digits && end != digits ? trace_since_first(trace, ns) : NAN;
}

uint32_t trace_word(struct trace *trace, const char *word)
{
    return texts_add(&trace->words, word, strlen(word));
}

/* Kernels and counters are few, and neighbours mostly the same kernel's; of a file with more of them the first. */
#define MOST_COUNTERS 4096u

void trace_count(struct trace *trace, const char *kernel, const char *counter, double value)
{
    if (!isfinite(value) || !kernel || !counter)
        return;
    const uint32_t name = texts_add(&trace->names, kernel, strlen(kernel));
    const uint32_t number = texts_add(&trace->counter_names, counter, strlen(counter));
    for (size_t k = trace->counter_count; k-- > 0;) {
        struct trace_counter *seen = &trace->counters[k];
        if (seen->name != name || seen->counter != number)
            continue;
        seen->sum += value;
        seen->launches++;
        return;
    }
    if (trace->counter_count < MOST_COUNTERS)
        ARENA_PUSH(&trace->arena, trace->counters, trace->counter_count,
                   (struct trace_counter){name, number, value, 1});
}
