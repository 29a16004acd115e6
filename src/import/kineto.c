/* SPDX-License-Identifier: MIT
 *
 * PyTorch's profiler (Kineto) writes Chrome's trace format: GPU activities, operators with their inputs, runtime calls.
 */

#include "json_readers.h"

/* What of an event and its args is of interest. */
struct kineto_event {
    struct slice phase, category, name, start, duration, pid, tid, args;
    struct slice external, correlation, device, stream, grid, block, dims, types, strides, values, kernel;
    struct slice backend, warps, stages, hash, graph, node;
};

#define MEMBER(key, member)                                                                                            \
    {                                                                                                                  \
        key, sizeof(key) - 1, offsetof(struct kineto_event, member)                                                    \
    }
static const struct kineto_member {
    const char *key;
    size_t length, offset;
} members[] =
    {
        MEMBER("ph", phase),     MEMBER("cat", category), MEMBER("name", name), MEMBER("ts", start),
        MEMBER("dur", duration), MEMBER("pid", pid),      MEMBER("tid", tid),   MEMBER("args", args),
},
  arguments[] = {
      MEMBER("External id", external),
      MEMBER("external id", external),
      MEMBER("correlation", correlation),
      MEMBER("device", device),
      MEMBER("stream", stream),
      MEMBER("grid", grid),
      MEMBER("block", block),
      MEMBER("Input Dims", dims),
      MEMBER("Input type", types),
      MEMBER("Input Strides", strides),
      MEMBER("Concrete Inputs", values),
      MEMBER("kernel", kernel),
      MEMBER("kernel_backend", backend),
      MEMBER("num_warps", warps),
      MEMBER("num_stages", stages),
      MEMBER("kernel_hash", hash),
      MEMBER("graph id", graph),
      MEMBER("graph_id", graph),
      MEMBER("graph node id", node),
      MEMBER("graph_node_id", node),
};

static void take(struct kineto_event *event, const struct kineto_member *table, size_t count, struct slice key,
                 struct slice value)
{
    for (size_t k = 0; k < count; k++)
        if (table[k].length == key.length && memcmp(table[k].key, key.data, key.length) == 0) {
            memcpy((char *)event + table[k].offset, &value, sizeof(value));
            return;
        }
}

static void take_args(struct kineto_event *event)
{
    struct slice left = cut_inside(event->args), key, value;
    while (cut_member(&left, &key, &value))
        take(event, arguments, COUNT_OF(arguments), key, value);
}

static void three(double out[3], struct slice array)
{
    struct slice left = cut_inside(array), value;
    for (size_t k = 0; k < 3 && cut_element(&left, &value); k++)
        out[k] = slice_number(value, 0);
}

/* 0: none. */
static uint32_t id_of(struct slice value)
{
    const double id = slice_number(value, 0);
    return id > 0 && id < TRACE_NONE ? (uint32_t)id : 0;
}

/* Numbered from 1; CUPTI's ids have the graph in their upper half. 0: none. */
static uint32_t node_of(const struct kineto_event *e)
{
    const double id = slice_number(e->node, -1);
    if (!(id >= 0 && id < 0x1p63) || !(id > 0 || slice_number(e->graph, 0) > 0))
        return 0;
    const uint32_t number = (uint32_t)(uint64_t)id;
    return number == UINT32_MAX ? number : number + 1;
}

/* In us, exact to the nanosecond also where a file counts from 1970: from its first time stamp on. */
static double start_of(struct json_reading *r, const struct kineto_event *e)
{
    const double number = slice_number(e->start, NAN);
    struct trace *trace = r->trace;
    if (!trace->has_first && number > 0) {
        trace->first_ns = number >= 0x1p40 && number < 0x1p63 ? (uint64_t)number : 0;
        trace->has_first = true;
    }
    if (!trace->first_ns || !(number >= 0) || number >= 0x1p63 || memchr(e->start.data, 'e', e->start.length))
        return number - (double)trace->first_ns;
    const char *point = memchr(e->start.data, '.', e->start.length);
    const uint64_t whole = strtoull(e->start.data + (e->start.data[0] == '"'), NULL, 10);
    return (double)(int64_t)(whole - trace->first_ns) + (point ? strtod(point, NULL) : 0);
}

static void add_gpu_event(struct json_reading *r, const struct kineto_event *e, const char *category)
{
    const double start = start_of(r, e), device = slice_number(e->device, 0);
    const double stream = slice_number(e->stream.data ? e->stream : e->tid, -1);
    struct gpu_event event = {.category = category,
                              .name = slice_text(e->name, &r->text),
                              .device = device >= 0 && device < 4096 ? (uint32_t)device : 0,
                              .start = start,
                              .end = start + slice_number(e->duration, NAN),
                              .correlation = id_of(e->correlation),
                              .external = id_of(e->external),
                              .graph_node = node_of(e),
                              .stream = stream >= 0 && stream < 1e9 ? 1 + (uint32_t)stream : 0};
    three(event.grid, e->grid);
    three(event.block, e->block);
    trace_add_gpu(r->trace, &event);
}

/* Threads are numbered by the text of their ids, which may be words. */
static uint32_t thread_of(struct json_reading *r, const struct kineto_event *e)
{
    text_clear(&r->word);
    text_addn(&r->word, e->pid.data, e->pid.length);
    text_add(&r->word, "/");
    text_addn(&r->word, e->tid.data, e->tid.length);
    return trace_word(r->trace, r->word.data);
}

/* A value on one line, whatever the layout of the file. */
static void add_line(struct text *out, struct slice value)
{
    if (!value.length)
        return;
    const char *at = value.data, *end = value.data + (value.length < 65536 ? value.length : 0);
    while (at < end) {
        const char *feed = memchr(at, '\n', (size_t)(end - at));
        text_addn(out, at, (size_t)((feed ? feed : end) - at));
        for (at = feed ? feed : end; at < end && (*at == '\n' || *at == ' ' || *at == '\t' || *at == '\r');)
            at++;
    }
    text_addn(out, "\n", 1);
}

static void add_operator(struct json_reading *r, const struct kineto_event *e)
{
    r->has_shapes = r->has_shapes || e->dims.data;
    if (slice_is(e->name, "execute")) /* passes on to what it stands in */
        return;
    slice_text(e->name, &r->text);
    text_add(&r->text, "\n");
    add_line(&r->text, e->dims);
    add_line(&r->text, e->types);
    add_line(&r->text, e->strides);
    if (!e->strides.length && e->values.length) /* PyTorch 2.0 and 2.1 */
        text_add(&r->text, "\n");
    add_line(&r->text, e->values);
    if (slice_is(e->backend, "triton"))
        text_addf(&r->text, "triton %.0f %.0f %s\n", slice_number(e->warps, 0), slice_number(e->stages, 0),
                  slice_text(e->hash, &r->word));
    const double start = start_of(r, e), end = start + slice_number(e->duration, 0);
    if (isfinite(start) && isfinite(end))
        ARRAY_PUSH(r->trace->operators.items, r->trace->operators.count,
                   (struct host_event){.start = start,
                                       .end = end,
                                       .id = id_of(e->external),
                                       .thread = thread_of(r, e),
                                       .signature = texts_add(&r->trace->signatures, r->text.data, r->text.length)});
    else
        trace_skip(r->trace, "an operator without a time was skipped");
}

/* Only what brings work to a GPU. The kernels of a graph's launch have no operator of their own. */
static void add_runtime_call(struct json_reading *r, const struct kineto_event *e)
{
    const char *name = slice_text(e->name, &r->text);
    const double start = start_of(r, e);
    const bool capture = strstr(name, "Capture"), graph = strstr(name, "GraphLaunch");
    uint32_t kernel = strstr(name, "BeginCapture")                               ? TRACE_CAPTURE
                      : strstr(name, "EndCapture")                               ? TRACE_CAPTURED
                      : !graph && strstr(name, "aunch") && strstr(name, "ernel") ? TRACE_LAUNCH
                                                                                 : TRACE_NONE;
    if (!capture && !strstr(name, "aunch") && !strstr(name, "emcpy") && !strstr(name, "emset"))
        return;
    if (e->kernel.length > 2) {
        name = slice_text(e->kernel, &r->text);
        kernel = texts_add(&r->trace->names, name, r->text.length);
    }
    if (isfinite(start) && id_of(e->correlation))
        ARRAY_PUSH(r->trace->runtime.items, r->trace->runtime.count,
                   (struct host_event){.start = start,
                                       .end = start + slice_number(e->duration, 0),
                                       .id = id_of(e->correlation),
                                       .thread = graph ? TRACE_NONE : thread_of(r, e),
                                       .signature = TRACE_NONE,
                                       .whole = kernel});
}

void kineto_event(void *context, struct slice value, uint64_t offset)
{
    struct json_reading *r = context;
    struct kineto_event e = {0};
    struct slice left = cut_inside(value), key, member;
    while (cut_member(&left, &key, &member)) {
        take(&e, members, COUNT_OF(members), key, member);
        /* The category is among the first members, and most events are of none that matters here. */
        if (e.category.data && !e.name.data && slice_is(e.category, "python_function"))
            return;
    }
    if (!e.category.data || slice_is(e.category, "python_function") || slice_is(e.category, "ac2g"))
        return;
    r->trace->offset = offset;
    if (slice_is(e.phase, "B") || slice_is(e.phase, "E")) {
        trace_skip(r->trace, "an event of phase B or E was skipped: PyTorch's profiler writes phase X");
        return;
    }
    take_args(&e);
    if (slice_is(e.category, "cpu_op"))
        add_operator(r, &e);
    else if (slice_is(e.category, "cuda_runtime") || slice_is(e.category, "cuda_driver") ||
             slice_is(e.category, "hip_runtime"))
        add_runtime_call(r, &e);
    else if (slice_is(e.category, "kernel") || slice_is(e.category, "Kernel"))
        add_gpu_event(r, &e, "kernel");
    else if (slice_is(e.category, "gpu_memcpy") || slice_is(e.category, "Memcpy"))
        add_gpu_event(r, &e, "gpu_memcpy");
    else if (slice_is(e.category, "gpu_memset") || slice_is(e.category, "Memset"))
        add_gpu_event(r, &e, "gpu_memset");
}

/* The first GPU that has a name. */
void kineto_device(void *context, struct slice value, UNUSED uint64_t offset)
{
    struct json_reading *r = context;
    struct slice left = cut_inside(value), key, member;
    double major = 0, minor = 0;
    while (cut_member(&left, &key, &member)) {
        if (slice_is(key, "name") && !r->trace->device_name)
            r->trace->device_name = arena_strdup(&r->trace->arena, slice_text(member, &r->text));
        if (slice_is(key, "numSms") && !r->trace->cus)
            r->trace->cus = (uint32_t)fmin(fmax(0, slice_number(member, 0)), 1e6);
        if (slice_is(key, "computeMajor"))
            major = slice_number(member, 0);
        if (slice_is(key, "computeMinor"))
            minor = slice_number(member, 0);
    }
    /* AMD's GPUs have numbers there too, of which the target does not follow. */
    if (!r->trace->arch && major > 0 && r->trace->device_name && text_starts(r->trace->device_name, "NVIDIA"))
        r->trace->arch = arena_printf(&r->trace->arena, "sm_%.0f%.0f", major, minor);
}
