/* SPDX-License-Identifier: MIT
 *
 * Which reader a file is for, found in its content.
 */
#include "rooftile/import.h"

#include "aggregate.h"
#include "trace.h"

const char *const import_kind_names[IMPORT_KINDS] = {
    "other",    "gemm", "attention", "norm",   "softmax", "elementwise", "reduction",    "moe_gemm",
    "moe_gate", "conv", "rope",      "gather", "rnn",     "copy",        "communication"};
const char *const import_source_names[IMPORT_SOURCES] = {"none", "operator", "log", "kernel name", "capture", "config"};

#define HEAD_BYTES 65536

static bool is_json(const char *head)
{
    head += strspn(head, " \r\n\t");
    return *head == '{' || *head == '[';
}

static bool is_sqlite(const char *head)
{
    return text_starts(head, "SQLite format 3");
}

static bool is_text(UNUSED const char *head)
{
    return true;
}

/* The first row whose `detect` takes the head of the file reads it. */
static const struct format {
    const char *name;
    bool (*detect)(const char *head);
    reader_function *read;
} formats[] = {
    {"SQLite", is_sqlite, read_sqlite},
    {"JSON", is_json, read_json},
    {"text", is_text, read_lines},
};

static enum status read_file(struct trace *trace, const char *path, struct err *err)
{
    struct source source;
    enum status status = source_open(&source, path, err);
    if (status)
        return status;
    while (source.length < HEAD_BYTES && source_more(&source))
        ;
    trace->unit_ns = 1;
    trace->path = path;
    trace->format = NULL;
    trace->source = &source;
    trace->offset = 0;
    const struct format *format = formats;
    while (!format->detect(source.data + source.at))
        format++;
    if (source.length == source.at)
        status = err_set(err, ERR_CONFIG,
                         source.damaged ? "%s: its compression is damaged from the beginning" : "%s is empty", path);
    else
        status = format->read(trace, &source, err);
    if (!status)
        ARENA_PUSH(
            &trace->arena, trace->files, trace->file_count,
            (struct import_file){arena_strdup(&trace->arena, path), trace->format ? trace->format : format->name});
    if (!status && source.damaged)
        trace_note(
            trace,
            "%s: the file ends too early, or its compression is damaged, at byte %llu; what comes before it is used",
            path, (unsigned long long)(source.before + source.length));
    trace_attribute(trace);
    trace->source = NULL;
    source_close(&source);
    return status;
}

void trace_release(struct trace *trace)
{
    free(trace->events);
    free(trace->activities);
    free(trace->parts);
    free(trace->operators.items);
    free(trace->runtime.items);
    free(trace->launches);
    free(trace->segment_calls);
    text_release(&trace->launch);
    texts_release(&trace->plain_names);
    texts_release(&trace->names);
    texts_release(&trace->counter_names);
    texts_release(&trace->signatures);
    arena_release(&trace->arena);
}

/* ---- mangled names ---- */

/* What then is alike is one text. Returns the new numbers of all; NULL: nothing is mangled. */
static uint32_t *demangle_texts(struct texts *texts, const struct trace *trace)
{
    SCOPED(arena_release) struct arena arena = {0};
    const char **names = arena_array(&arena, texts->count + 1u, sizeof(*names));
    struct texts made = {0};
    if (!trace->options->demangle || !COUNT_WHERE(name, texts->items, texts->count, text_starts(*name, "_Z")))
        return NULL;
    for (uint32_t k = 0; k < texts->count; k++)
        if (text_starts(texts->items[k], "_Z"))
            names[k] = arena_strndup(&arena, texts->items[k], strcspn(texts->items[k], ".\n")); /* without ".kd" */
        else
            names[k] = "";
    trace->options->demangle(names, texts->count, &arena);
    uint32_t *numbers = new_zeroed(texts->count, sizeof(*numbers));
    for (uint32_t k = 0; k < texts->count; k++) {
        const char *old = texts->items[k], *launch = old + strcspn(old, "\n");
        const bool mangled = *names[k] && !text_starts(names[k], "_Z");
        const char *name = mangled ? arena_printf(&arena, "%s%s", names[k], launch) : old;
        numbers[k] = texts_add(&made, name, strlen(name));
    }
    texts_release(texts);
    *texts = made;
    return numbers;
}

static void demangle_names(struct trace *trace)
{
    uint32_t *numbers = demangle_texts(&trace->names, trace), *plain = demangle_texts(&trace->plain_names, trace);
    for (size_t k = 0; numbers && k < trace->event_count; k++)
        trace->events[k].name = numbers[trace->events[k].name];
    for (size_t k = 0; numbers && k < trace->call_count; k++)
        if (trace->calls[k].signature == TRACE_NONE)
            trace->calls[k].name = numbers[trace->calls[k].name];
    for (size_t k = 0; plain && k < trace->launch_count; k++)
        trace->launches[k].name = plain[trace->launches[k].name];
    free(numbers);
    free(plain);
}

enum status import_read(struct import *out, const char *const *paths, size_t count,
                        const struct import_options *options, struct arena *arena, struct err *err)
{
    struct trace trace = {.options = options, .call_source = IMPORT_LOG};
    enum status status = STATUS_OK;
    for (size_t k = 0; k < count && !status; k++)
        status = read_file(&trace, paths[k], err);
    trace.shapes_only = true;
    for (size_t k = 0; k < options->shape_count && !status; k++)
        status = read_file(&trace, options->shapes[k], err);
    if (!status && !trace.event_count && !trace.call_count)
        status = trace.note_count ? err_set(err, ERR_CONFIG, "%s", trace.notes[trace.note_count - 1].text)
                                  : err_set(err, ERR_CONFIG, "%s: there is no GPU activity in it", paths[0]);
    if (!status) {
        struct import made = {.device = arena_strdup(arena, trace.device_name ? trace.device_name : ""),
                              .arch = arena_strdup(arena, trace.arch ? trace.arch : ""),
                              .cus = trace.cus};
        demangle_names(&trace);
        fill_from_capture(&trace);
        aggregate(&made, &trace, arena);
        struct import_note *notes = arena_copy(arena, trace.notes, trace.note_count * sizeof(*notes));
        for (size_t k = 0; k < trace.note_count; k++)
            notes[k].text = arena_strdup(arena, notes[k].text);
        struct import_file *files = arena_copy(arena, trace.files, trace.file_count * sizeof(*files));
        for (size_t k = 0; k < trace.file_count; k++)
            files[k].path = arena_strdup(arena, files[k].path);
        made.files = files;
        made.file_count = trace.file_count;
        made.notes = notes;
        made.note_count = trace.note_count;
        *out = made;
    }
    trace_release(&trace);
    return status;
}

/* ---- counters ---- */

enum status import_read_counters(struct import_counters *out, const char *path, struct arena *arena, struct err *err)
{
    static const struct import_options none;
    struct trace trace = {.options = &none, .call_source = IMPORT_LOG};
    *out = (struct import_counters){0};
    enum status status = read_file(&trace, path, err);
    for (size_t k = 0; k < trace.counter_count && !status; k++) {
        const struct trace_counter *counter = &trace.counters[k];
        const char *kernel = trace.names.items[counter->name];
        ARENA_PUSH(arena, out->items, out->count,
                   (struct import_counter){arena_strndup(arena, kernel, strcspn(kernel, "\n")),
                                           arena_strdup(arena, trace.counter_names.items[counter->counter]),
                                           counter->sum, counter->launches});
    }
    if (!status && !out->count)
        status = err_set(err, ERR_CONFIG,
                         "%s has no counters: rocprofv3 --pmc writes them, as counter_collection.csv or rocpd", path);
    trace_release(&trace);
    return status;
}

static bool is_symbol(const char *kernel, const char *symbol)
{
    const size_t length = strlen(symbol);
    return !strncmp(kernel, symbol, length) && (!kernel[length] || strchr("(.< ", kernel[length]));
}

double import_counter(const struct import_counters *counters, const char *symbol, const char *counter)
{
    double sum = 0, launches = 0;
    FOR_EACH(const struct import_counter, item, counters->items, counters->count) {
        if (strcmp(item->counter, counter) != 0 || !is_symbol(item->kernel, symbol))
            continue;
        sum += item->sum;
        launches += item->launches;
    }
    return launches > 0 ? sum / launches : NAN;
}
