/* SPDX-License-Identifier: MIT
 *
 * JSON: the profiler of PyTorch and rocprofv3's own, told apart by where they have their events.
 */
#include "json_readers.h"

/* ---- rocprofv3 --output-format json ---- */

/* What of an element is wanted: members by their path below it. */
static struct slice member_at(struct slice object, const char *path)
{
    struct slice left = cut_inside(object), key, value;
    const size_t length = strcspn(path, ".");
    while (cut_member(&left, &key, &value))
        if (key.length == length && memcmp(key.data, path, length) == 0)
            return path[length] ? member_at(value, path + length + 1) : value;
    return (struct slice){NULL, 0};
}

static void rocprof_process(void *context, struct slice value, UNUSED uint64_t offset)
{
    struct json_reading *r = context;
    texts_release(&r->symbols);
    r->symbol_count = 0;
    text_clear(&r->text);
    text_addn(&r->text, member_at(value, "pid").data, member_at(value, "pid").length);
    r->process = trace_word(r->trace, r->text.data ? r->text.data : "");
}

static void rocprof_agent(void *context, struct slice value, UNUSED uint64_t offset)
{
    struct json_reading *r = context;
    const struct slice type = member_at(value, "type");
    if (slice_number(type, 2) != 2 || r->trace->arch) /* of GPUs, the first */
        return;
    r->trace->arch = arena_strdup(&r->trace->arena, slice_text(member_at(value, "name"), &r->text));
    r->trace->device_name = arena_strdup(&r->trace->arena, slice_text(member_at(value, "product_name"), &r->text));
    r->trace->cus = (uint32_t)fmin(fmax(0, slice_number(member_at(value, "cu_count"), 0)), 1e6);
}

static void rocprof_symbol(void *context, struct slice value, UNUSED uint64_t offset)
{
    struct json_reading *r = context;
    struct slice name = member_at(value, "formatted_kernel_name");
    const double id = slice_number(member_at(value, "kernel_id"), -1);
    if (!name.data || name.length <= 2)
        name = member_at(value, "kernel_name");
    if (id < 0 || id > UINT32_MAX)
        return;
    slice_text(name, &r->text);
    ARENA_PUSH(&r->symbols.arena, r->symbol_names, r->symbol_count,
               (struct rocprof_symbol){(uint32_t)id, arena_strdup(&r->symbols.arena, r->text.data)});
}

static const char *symbol_name(const struct json_reading *r, double id)
{
    for (size_t k = 0; k < r->symbol_count; k++)
        if (r->symbol_names[k].id == id)
            return r->symbol_names[k].name;
    return NULL;
}

static double stamp(struct json_reading *r, struct slice value)
{
    return trace_stamp(r->trace, value.data ? value.data + (value.data[0] == '"') : NULL);
}

static uint32_t device_of(struct json_reading *r, struct slice agent)
{
    text_clear(&r->word);
    text_addf(&r->word, "agent %u ", r->process);
    text_addn(&r->word, agent.data, agent.length);
    return trace_word(r->trace, r->word.data);
}

static void rocprof_dispatch(void *context, struct slice value, uint64_t offset)
{
    static const char *const axes[] = {"x", "y", "z"};
    struct json_reading *r = context;
    const struct slice info = member_at(value, "dispatch_info");
    const struct slice grid = member_at(info, "grid_size"), block = member_at(info, "workgroup_size");
    const char *name = symbol_name(r, slice_number(member_at(info, "kernel_id"), -1));
    const struct slice stream = member_at(value, "stream_id.handle");
    r->trace->offset = offset;
    if (!name)
        trace_skip(r->trace, "a dispatch of a kernel that has no name");
    struct gpu_event event = {.category = "kernel",
                              .name = name ? name : "unknown kernel",
                              .device = device_of(r, member_at(info, "agent_id.handle")),
                              .in_lanes = true,
                              .start = stamp(r, member_at(value, "start_timestamp")),
                              .end = stamp(r, member_at(value, "end_timestamp")),
                              .stream = stream.data ? 1 + device_of(r, stream) : 0};
    for (size_t k = 0; k < 3; k++) {
        event.grid[k] = slice_number(member_at(grid, axes[k]), 0);
        event.block[k] = slice_number(member_at(block, axes[k]), 1);
    }
    trace_add_gpu(r->trace, &event);
}

static void rocprof_copy(void *context, struct slice value, UNUSED uint64_t offset)
{
    struct json_reading *r = context;
    trace_add_gpu(r->trace, &(struct gpu_event){.category = "gpu_memcpy",
                                                .name = "memory copy",
                                                .device = device_of(r, member_at(value, "dst_agent_id.handle")),
                                                .start = stamp(r, member_at(value, "start_timestamp")),
                                                .end = stamp(r, member_at(value, "end_timestamp"))});
}

/* ---- all of them ---- */

static const struct cut_path paths[] = {
    {"traceEvents[]", kineto_event},
    {"[]", kineto_event},
    {"deviceProperties[]", kineto_device},
    {"rocprofiler-sdk-tool[].metadata", rocprof_process},
    {"rocprofiler-sdk-tool[].agents[]", rocprof_agent},
    {"rocprofiler-sdk-tool[].kernel_symbols[]", rocprof_symbol},
    {"rocprofiler-sdk-tool[].buffer_records.kernel_dispatch[]", rocprof_dispatch},
    {"rocprofiler-sdk-tool[].buffer_records.memory_copy[]", rocprof_copy},
    {"rocprofiler-sdk-tool.agents[]", rocprof_agent},
    {"rocprofiler-sdk-tool.kernel_symbols[]", rocprof_symbol},
    {"rocprofiler-sdk-tool.buffer_records.kernel_dispatch[]", rocprof_dispatch},
    {"rocprofiler-sdk-tool.buffer_records.memory_copy[]", rocprof_copy},
};

enum status read_json(struct trace *trace, struct source *source, struct err *err)
{
    struct json_reading reading = {.trace = trace};
    struct cut_damage damage;
    if (detect_config(source->data))
        return read_config(trace, source, err);
    const bool rocprof = memmem(source->data, source->length, "rocprofiler-sdk-tool", 20);
    trace->unit_ns = rocprof ? 1 : 1e3; /* PyTorch's are us */
    trace->format = rocprof ? "rocprofv3 JSON" : "PyTorch profiler";
    json_cut(source, paths, COUNT_OF(paths), &reading, &damage);
    trace->cut = damage.cut;
    if (damage.count)
        trace_note(trace, "%s: the JSON is damaged at byte %llu%s; the rest of it is used", source->path,
                   (unsigned long long)damage.first, damage.count > 1 ? " and further places" : "");
    if (damage.cut && !source->damaged)
        trace_note(trace, "%s: the file is cut off at byte %llu%s; what comes before is used", source->path,
                   (unsigned long long)(source->before + source->length),
                   trace->gpu_events ? "" : ", before the events of a GPU");
    enum status status = STATUS_OK;
    if (!trace->gpu_events && !trace->operators.count)
        status = err_set(err, ERR_CONFIG,
                         "%s: JSON without GPU events or operators: neither PyTorch's profiler nor rocprofv3 wrote it",
                         source->path);
    else if (!trace->gpu_events && !trace->cut)
        trace_note(trace, "%s: no GPU activity in it, only operators of the host", source->path);
    else if (trace->operators.count && !reading.has_shapes)
        trace_note(trace, "%s: its operators have no shapes: record them with record_shapes=True", source->path);
    text_release(&reading.text);
    text_release(&reading.word);
    texts_release(&reading.symbols);
    return status;
}
