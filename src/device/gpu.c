/* SPDX-License-Identifier: MIT */
#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "gpu_collectives.h"

/* ---- errors ---- */

enum status gpu_check(const struct gpu *gpu, gpu_error code, size_t offset, struct err *err)
{
#define STATUS(name, number, status) {number, status},
    static const struct {
        gpu_error code;
        enum status status;
    } errors[] = {GPU_ERRORS(STATUS)};
    enum status status = ERR_DEVICE;
    for (size_t i = 0; i < COUNT_OF(errors); ++i)
        status = errors[i].code == code ? errors[i].status : status;
    const struct library_symbol *symbol = gpu->vendor->place.symbols;
    const char *text = NULL;
    if (!status)
        return STATUS_OK;
    while (symbol->offset != offset)
        ++symbol;
    const char *name = gpu->vendor->error_name(&text, gpu, code);
    if (!name)
        return err_set(err, status, "%s: error %u", symbol->name, code);
    return err_set(err, status, "%s: %s (%u)%s%s", symbol->name, name, code, text ? ": " : "", text ? text : "");
}

/* ---- the device ---- */

static void gpu_close(struct device *device)
{
    struct gpu *gpu = (struct gpu *)device;
    if (!gpu)
        return;
    collectives_close(gpu);
    gpu_blas_close(gpu);
    while (gpu->allocations)
        gpu_free(device, gpu->allocations->pointer);
    for (size_t i = 0; i < DEVICE_MAX_EVENTS; ++i)
        if (gpu->events[i])
            gpu->api.event_free(gpu->events[i]);
    for (size_t i = 0; i < DEVICE_MAX_STREAMS; ++i)
        if (gpu->streams[i])
            gpu->api.stream_free(gpu->streams[i]);
    if (gpu->capture)
        gpu->api.stream_free(gpu->capture);
    for (int index = 0; index < GPU_MAX_DEVICES; index++)
        if (gpu->contexts[index])
            gpu->api.cuDevicePrimaryCtxRelease_v2(gpu->handles[index]);
    nvml_close(&gpu->nvml);
    free(gpu);
}

static enum status start(struct gpu *gpu, struct device_info *info, int index, struct err *err)
{
    enum status status = gpu_find_library(gpu, err);
    if (!status)
        status = gpu_start(gpu, err);
    if (!status && index >= gpu->count)
        status = err_set(err, ERR_DEVICE_LOST, "no device %s:%d: the library counts %d", gpu->device.ops->name, index,
                         gpu->count);
    gpu->index = index;
    if (!status)
        status = gpu->vendor->enter(gpu, index, err);
    for (size_t i = 0; i < DEVICE_MAX_EVENTS && !status; ++i) {
        struct gpu_event *made = NULL;
        status = GPU_TRY(gpu, err, event_make, &made, 0);
        gpu->events[i] = status ? NULL : made;
    }
    return status ? status : gpu_describe(info, gpu, err);
}

static enum status gpu_open(struct device **device, const struct gpu_vendor *vendor,
                            const struct device_request *request, struct device_info *info, struct err *err)
{
    struct device_info found;
    struct gpu *gpu = gpu_new(vendor);
    gpu->ranks = request->ranks;
    const enum status status = start(gpu, &found, request->index, err);
    if (status) {
        gpu_close(&gpu->device);
        return status;
    }
    gpu->lds_bytes = found.lds_bytes;
    *info = found;
    *device = &gpu->device;
    return STATUS_OK;
}

/* ---- streams and events ---- */

enum status gpu_stream_of(struct gpu_stream **stream, struct gpu *gpu, uint32_t number, struct err *err)
{
    struct gpu_stream *made = NULL;
    if (number >= DEVICE_MAX_STREAMS)
        return err_set(err, ERR_DEVICE, "stream %u: there are %d", number, DEVICE_MAX_STREAMS);
    if (number && !gpu->streams[number]) {
        if (GPU_TRY(gpu, err, stream_make, &made, GPU_STREAM_NON_BLOCKING))
            return err->status;
        gpu->streams[number] = made;
    }
    *stream = gpu->streams[number];
    return STATUS_OK;
}

enum status gpu_event(struct device *device, uint32_t event, uint32_t number, struct err *err)
{
    struct gpu *gpu = (struct gpu *)device;
    struct gpu_stream *stream = NULL;
    if (check_events(event, event, err) || gpu_stream_of(&stream, gpu, number, err))
        return err->status;
    return GPU_TRY(gpu, err, event_record, gpu->events[event], stream);
}

enum status gpu_elapsed(double *time_ns, struct device *device, uint32_t from, uint32_t to, struct err *err)
{
    const struct gpu *gpu = (const struct gpu *)device;
    float time_ms = 0;
    if (check_events(from, to, err) || GPU_TRY(gpu, err, event_elapsed, &time_ms, gpu->events[from], gpu->events[to]))
        return err->status;
    *time_ns = time_ms * 1e6;
    return STATUS_OK;
}

static enum status gpu_wait_event(struct device *device, uint32_t number, uint32_t event, struct err *err)
{
    struct gpu *gpu = (struct gpu *)device;
    struct gpu_stream *stream = NULL;
    if (check_events(event, event, err) || gpu_stream_of(&stream, gpu, number, err))
        return err->status;
    return GPU_TRY(gpu, err, stream_wait, stream, gpu->events[event], 0);
}

enum status gpu_wait(struct device *device, struct err *err)
{
    const struct gpu *gpu = (const struct gpu *)device;
    return GPU_TRY(gpu, err, wait);
}

/* ---- memory ---- */

#define PAGEABLE_ALIGN_BYTES 4096u

enum gpu_feature gpu_feature_of(enum device_space space)
{
    static const enum gpu_feature features[DEVICE_SPACES] = {
        [SPACE_PINNED] = GPU_PINNED,     [SPACE_PINNED_COARSE] = GPU_PINNED,
        [SPACE_PINNED_FAR] = GPU_PINNED, [SPACE_MANAGED] = GPU_MANAGED,
        [SPACE_FINE] = GPU_FINE,         [SPACE_PEER] = GPU_PEER,
    };
    return features[space];
}

void gpu_free(struct device *device, void *pointer)
{
    struct gpu *gpu = (struct gpu *)device;
    struct allocation taken;
    if (!allocation_take(&taken, &gpu->allocations, pointer))
        return;
    if (taken.space == SPACE_PAGEABLE)
        free(pointer);
    else if (gpu_feature_of(taken.space) == GPU_PINNED)
        gpu->api.host_free(pointer);
    else
        gpu->api.free(pointer);
}

/* The thread's policy allows only the far node, so the pages come from it. */
static enum status alloc_far(void **pointer, const struct gpu *gpu, uint64_t size_bytes, struct err *err)
{
    enum { BITS = 8 * sizeof(unsigned long), MOST_NODES = 1024 };
    unsigned long nodes[MOST_NODES / BITS] = {0};
    const uint32_t node = gpu->far_node - 1;
    if (!gpu->far_node || node >= MOST_NODES)
        return err_set(err, ERR_UNSUPPORTED, "the host has no memory that is far from the device");
    nodes[node / BITS] = 1ul << node % BITS;
    if (syscall(SYS_set_mempolicy, MPOL_BIND, nodes, MOST_NODES + 1ul))
        return err_set(err, ERR_UNSUPPORTED, "no memory of NUMA node %u can be had: %s", (unsigned)node,
                       strerror(errno));
    const enum status status =
        GPU_TRY(gpu, err, host_alloc, pointer, size_bytes, gpu->vendor->pinned_flags | gpu->vendor->pinned_user_node);
    syscall(SYS_set_mempolicy, MPOL_DEFAULT, NULL, 0ul);
    return status;
}

/* Allocates memory of the current device, which for a peer is not the open one. */
static enum status alloc_in(void **pointer, const struct gpu *gpu, uint64_t size_bytes, enum device_space space,
                            struct err *err)
{
    const struct gpu_vendor *vendor = gpu->vendor;
    if (vendor->lacks_spaces & SPACE_BIT(space))
        return err_set(err, ERR_UNSUPPORTED, "%s has no choice between fine- and coarse-grained memory",
                       vendor->place.name);
    switch (space) {
    case SPACE_DEVICE:
    case SPACE_PEER:
        return GPU_TRY(gpu, err, alloc, pointer, size_bytes);
    case SPACE_PINNED:
        return GPU_TRY(gpu, err, host_alloc, pointer, size_bytes, vendor->pinned_flags);
    case SPACE_PINNED_COARSE:
        return GPU_TRY(gpu, err, host_alloc, pointer, size_bytes, vendor->pinned_coarse_flags);
    case SPACE_PINNED_FAR:
        return alloc_far(pointer, gpu, size_bytes, err);
    case SPACE_MANAGED:
        return GPU_TRY(gpu, err, managed_alloc, pointer, size_bytes, GPU_MEM_ATTACH_GLOBAL);
    case SPACE_FINE:
        return GPU_TRY(gpu, err, hipExtMallocWithFlags, pointer, size_bytes, HIP_MALLOC_FINE_GRAINED);
    case SPACE_PAGEABLE:
        if (!posix_memalign(pointer, PAGEABLE_ALIGN_BYTES, size_bytes))
            return STATUS_OK;
        return err_set(err, ERR_DEVICE_MEMORY, "the operating system refused %llu bytes",
                       (unsigned long long)size_bytes);
    default:
        return err_set(err, ERR_UNSUPPORTED, "unknown kind of memory");
    }
}

static enum status allocate(void **pointer, struct gpu *gpu, uint64_t size_bytes, enum device_space space,
                            struct err *err)
{
    void *memory = NULL;
    const uint64_t asked_bytes = size_bytes ? size_bytes : 1; /* a request of 0 bytes still gets an address */
    enum status status = gpu_require(gpu, gpu_feature_of(space), err);
    if (!status)
        status = alloc_in(&memory, gpu, asked_bytes, space, err);
    if (status == ERR_DEVICE_MEMORY)
        return err_within(err, "%llu bytes asked for", (unsigned long long)size_bytes);
    if (status)
        return status;
    allocation_add(&gpu->allocations, memory, asked_bytes, space);
    *pointer = memory;
    return STATUS_OK;
}

enum status gpu_alloc(void **pointer, struct device *device, uint64_t size_bytes, enum device_space space,
                      struct err *err)
{
    if (space == SPACE_PEER)
        return err_set(err, ERR_UNSUPPORTED, "memory of a peer has the number of its device");
    return allocate(pointer, (struct gpu *)device, size_bytes, space, err);
}

/* Makes memory of device `to` accessible from device `from`; false if that is not possible. */
static bool reach(struct gpu *gpu, int from, int to)
{
    struct err ignored = {0};
    int can = 0;
    if (GPU_TRY(gpu, &ignored, can_reach, &can, gpu->handles[from], gpu->handles[to]) || !can ||
        gpu->vendor->enter(gpu, from, &ignored))
        return false;
    const gpu_error code = gpu->vendor->reach(gpu, to);
    return code == GPU_SUCCESS || code == GPU_PEER_ACCESS_ALREADY_ENABLED;
}

enum status gpu_come_back(struct gpu *gpu, enum status status, struct err *err)
{
    struct err ignored = {0};
    const enum status back = gpu->vendor->enter(gpu, gpu->index, status ? &ignored : err);
    return status ? status : back;
}

/* Copies between two peers are made by one of them, or by kernels of this device, so every device that can gets
 * access. */
static enum status gpu_alloc_peer(void **pointer, struct device *device, uint64_t size_bytes, uint32_t index,
                                  struct err *err)
{
    struct gpu *gpu = (struct gpu *)device;
    const char *backend = device->ops->name;
    const int to = (int)index;
    if (index >= (uint32_t)gpu->count)
        return err_set(err, ERR_UNSUPPORTED, "no device %s:%u: the library counts %d", backend, index, gpu->count);
    enum status status = gpu_require(gpu, GPU_PEER, err);
    if (status)
        return status;
    for (int from = 0; from < gpu->count && !status; from++)
        if (from != to && !reach(gpu, from, to) && from == gpu->index)
            status =
                err_set(err, ERR_UNSUPPORTED, "%s:%d cannot reach the memory of %s:%d", backend, from, backend, to);
    if (!status)
        status = gpu->vendor->enter(gpu, to, err);
    if (!status)
        status = allocate(pointer, gpu, size_bytes, SPACE_PEER, err);
    return gpu_come_back(gpu, status, err);
}

static enum status gpu_transfer(struct device *device, void *to, const void *from, uint64_t size_bytes, struct err *err)
{
    const struct gpu *gpu = (const struct gpu *)device;
    return size_bytes ? gpu->vendor->copy(gpu, to, from, size_bytes, NULL, true, err) : STATUS_OK;
}

static enum status gpu_copy(struct device *device, void *to, const void *from, uint64_t size_bytes, uint32_t number,
                            struct err *err)
{
    struct gpu *gpu = (struct gpu *)device;
    struct gpu_stream *stream = NULL;
    const enum status status = gpu_stream_of(&stream, gpu, number, err);
    return status || !size_bytes ? status : gpu->vendor->copy(gpu, to, from, size_bytes, stream, false, err);
}

static enum status gpu_fill(struct device *device, void *to, uint8_t byte, uint64_t size_bytes, uint32_t number,
                            struct err *err)
{
    struct gpu *gpu = (struct gpu *)device;
    struct gpu_stream *stream = NULL;
    const enum status status = gpu_stream_of(&stream, gpu, number, err);
    return status || !size_bytes ? status : GPU_TRY(gpu, err, fill, to, byte, size_bytes, stream);
}

/* ---- around the work ---- */

static enum status gpu_sense(struct device *device, struct device_sense *sense, struct err *err)
{
    struct gpu *gpu = (struct gpu *)device;
    (void)err; /* no calibration rates: a card is not shared the way a processor's cores are */
    *sense = device_sense_unknown;
    double load;
    if (getloadavg(&load, 1) == 1)
        sense->load_1min = load;
    telemetry_sense(sense, &gpu->telemetry);
    nvml_sense(sense, &gpu->nvml);
    return STATUS_OK;
}

static enum status gpu_range(struct device *device, const char *name, struct err *err)
{
    struct gpu *gpu = (struct gpu *)device;
    struct gpu_ranges *ranges = &gpu->ranges;
    if (name && !ranges->tried) {
        ranges->tried = true;
        gpu->vendor->find_ranges(ranges);
    }
    if (name && !ranges->push)
        return err_set(err, ERR_UNSUPPORTED, "%s", gpu->vendor->no_ranges);
    if (name)
        ranges->push(name);
    else if (ranges->pop)
        ranges->pop();
    return STATUS_OK;
}

/* ---- the backends ---- */

#define BACKEND(vendor, words, with_events)                                                                            \
    static int vendor##_count(struct text *why)                                                                        \
    {                                                                                                                  \
        return gpu_count(why, &vendor##_vendor, GPU_COUNT_TIMEOUT_MS);                                                 \
    }                                                                                                                  \
    static enum status vendor##_open(struct device **device, const struct device_request *request,                     \
                                     struct device_info *info, struct err *err)                                        \
    {                                                                                                                  \
        return gpu_open(device, &vendor##_vendor, request, info, err);                                                 \
    }                                                                                                                  \
    const struct device_ops device_##vendor = {                                                                        \
        .name = #vendor,                                                                                               \
        .summary = words ", which is looked for when it is needed",                                                    \
        .executes = true,                                                                                              \
        .asynchronous = true,                                                                                          \
        .has_clock_probe = true,                                                                                       \
        .count = vendor##_count,                                                                                       \
        .open = vendor##_open,                                                                                         \
        .close = gpu_close,                                                                                            \
        .alloc = gpu_alloc,                                                                                            \
        .free = gpu_free,                                                                                              \
        .alloc_peer = gpu_alloc_peer,                                                                                  \
        .write = gpu_transfer,                                                                                         \
        .read = gpu_transfer,                                                                                          \
        .load = gpu_load,                                                                                              \
        .load_library = gpu_blas_load,                                                                                 \
        .agree = collectives_agree,                                                                                    \
        .unload = gpu_unload,                                                                                          \
        .kernel = gpu_kernel,                                                                                          \
        .launch = gpu_launch,                                                                                          \
        .copy = gpu_copy,                                                                                              \
        .fill = gpu_fill,                                                                                              \
        .event = gpu_event,                                                                                            \
        .elapsed = gpu_elapsed,                                                                                        \
        .wait = gpu_wait,                                                                                              \
        .wait_event = gpu_wait_event,                                                                                  \
        .launch_with_events = with_events,                                                                             \
        .graph_make = gpu_graph_make,                                                                                  \
        .graph_launch = gpu_graph_launch,                                                                              \
        .graph_free = gpu_graph_free,                                                                                  \
        .sense = gpu_sense,                                                                                            \
        .range = gpu_range,                                                                                            \
    }

BACKEND(hip, "AMD GPUs through libamdhip64", hip_launch_with_events);
BACKEND(cuda, "NVIDIA GPUs through the driver's libcuda", NULL);
