/* SPDX-License-Identifier: MIT
 *
 * What both vendors' libraries have, once for both: a function fake_x is exported under the name that gpu_calls.h has
 * for the member x. What one has alone, and its numbers, are in its skin.
 */
#include "fake_gpu.h"
#include "../../src/device/gpu_calls.h"

#ifdef FAKE_CUDA
#define SKIN(cuda, hip) cuda
#else
#define SKIN(cuda, hip) hip
#endif

#define EXPORT(member, cuda, hip, need, parameters) gpu_error fake_##member parameters __asm__(SKIN(#cuda, #hip));
#define DECLARE(symbol, need, parameters) gpu_error symbol parameters;
GPU_CALLS(EXPORT, SKIN(DECLARE, GPU_NOTHING), SKIN(GPU_NOTHING, DECLARE))

#define NUMBER(member, cuda, hip, need, parameters) CALL_##member,
#define NAME(member, cuda, hip, need, parameters) SKIN(#cuda, #hip),
enum { GPU_CALLS(NUMBER, GPU_NOTHING, GPU_NOTHING) CALLS };
static const char *const names[CALLS] = {GPU_CALLS(NAME, GPU_NOTHING, GPU_NOTHING)};
#define FACT(fact, cuda, hip, cuda_rule, hip_rule) {FACT_##fact, SKIN(cuda, hip)},
static const struct {
    enum gpu_fact fact;
    unsigned attribute;
} attributes[] = {GPU_FACT_TABLE(FACT)};

/* A library that works in contexts fails without one, and for good after a kernel's fault. */
static gpu_error failure(const char *function, int in_context);
#define FAIL_IF(function, in_context)                                                                                  \
    do {                                                                                                               \
        const gpu_error why = failure((function), (in_context));                                                       \
        if (why)                                                                                                       \
            return why;                                                                                                \
    } while (0)
#define MAY_FAIL(member) FAIL_IF(names[CALL_##member], 0)
#define NEEDS_CONTEXT(member) FAIL_IF(names[CALL_##member], 1)
/* What waits or allocates ends a capture that goes on in this thread. */
#define NO_CAPTURE(code)                                                                                               \
    do {                                                                                                               \
        if (capture) {                                                                                                 \
            capture->invalid = 1;                                                                                      \
            return (code);                                                                                             \
        }                                                                                                              \
    } while (0)

struct gpu_code {
    int unused;
};
struct gpu_stream {
    double now_ns; /* with FAKE_X_LINKS, else all have the device's */
};
struct gpu_event {
    double time_ns; /* 0: not recorded */
    unsigned waits; /* before it was recorded */
};
static unsigned waits; /* for all that was begun; an event is complete after the next one */
static gpu_error make_module(struct gpu_code **module);
static gpu_error allocate(void **pointer, size_t size, int *live);
static gpu_error copy_in_stream(void *to, const void *from, size_t size, struct gpu_stream *stream);
static gpu_error copy_and_wait(void *to, const void *from, size_t size);
#ifndef FAKE_BARE
static gpu_error enable_peer(int peer);
#endif

#ifdef FAKE_CUDA
#include "fake_gpu_cuda.h"
#else
#include "fake_gpu_hip.h"
#endif

enum { WAKING_EVENTS = 64 };

static gpu_error failure(const char *function, int in_context)
{
    const gpu_error told = told_to_fail(function);
    if (!HAS_CONTEXTS || !in_context)
        return told;
    if (told == GPU_ILLEGAL_ADDRESS || told == GPU_LAUNCH_FAILED)
        state.sticky = told;
    if (told || state.sticky)
        return told ? told : state.sticky;
    return state.current_device < 0 ? GPU_INVALID_CONTEXT : GPU_SUCCESS;
}

/* ---- links ---- */

enum { PLACES = 4096 };
static double latest_ns; /* of all streams' clocks */
static struct {
    const void *pointer;
    size_t size;
    int device; /* -1: the host */
} placed[PLACES];

static double *clock_of(struct gpu_stream *stream)
{
    return stream && getenv(FAKE_PREFIX "LINKS") ? &stream->now_ns : &state.now_ns;
}

static void place(const void *pointer, size_t size, int device)
{
    size_t k = 0;
    while (k + 1 < PLACES && placed[k].pointer)
        k++;
    placed[k].pointer = pointer;
    placed[k].size = size;
    placed[k].device = device;
}

/* Returns where in the list the memory is that this address lies in, and how many bytes are left of it. */
static size_t place_of(size_t *left, const void *pointer)
{
    size_t k = 0;
    while (k < PLACES && !(placed[k].pointer && (uintptr_t)pointer - (uintptr_t)placed[k].pointer < placed[k].size))
        k++;
    *left = k < PLACES ? placed[k].size - ((uintptr_t)pointer - (uintptr_t)placed[k].pointer) : 0;
    return k;
}

static int device_of(const void *pointer)
{
    size_t left;
    const size_t k = place_of(&left, pointer);
    return k < PLACES ? placed[k].device : -1;
}

/* Whether these are no bytes beyond the end of memory that the library gave; it knows no other. */
static int is_within(const void *pointer, size_t size)
{
    size_t left;
    return pointer && (place_of(&left, pointer) == PLACES || size <= left);
}

/* In bytes per nanosecond. */
static double link_rate(const void *to, const void *from)
{
    const char *told = getenv(FAKE_PREFIX "LINKS");
    double usual = 25, other = 25;
    int first = -1, second = -1;
    if (told)
        sscanf(told, "%lf,%d,%d,%lf", &usual, &first, &second, &other);
    return told && device_of(from) == first && device_of(to) == second ? other : usual;
}

/* ---- devices ---- */

gpu_error fake_init(unsigned flags)
{
    (void)flags;
    MAY_FAIL(init);
    return GPU_SUCCESS;
}

gpu_error fake_count(int *count)
{
    MAY_FAIL(count);
    *count = device_count();
    return *count || !HAS_CONTEXTS ? GPU_SUCCESS : GPU_NO_DEVICE;
}

gpu_error fake_name(char *name, int size, int device)
{
    const char *told = getenv(FAKE_PREFIX "NAME");
    MAY_FAIL(name);
    if (device < 0 || device >= device_count())
        return GPU_INVALID_DEVICE;
    if (told)
        snprintf(name, (size_t)size, "%s", told);
    else
        snprintf(name, (size_t)size, FAKE_NAME(device));
    return GPU_SUCCESS;
}

gpu_error fake_attribute(int *value, unsigned attribute, int device)
{
    MAY_FAIL(attribute);
    if (device < 0 || device >= device_count())
        return GPU_INVALID_DEVICE;
    for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]); ++i)
        if (attribute && attributes[i].attribute == attribute && (*value = fact_value(attributes[i].fact)) != UNKNOWN)
            return GPU_SUCCESS;
    return INVALID_VALUE;
}

gpu_error fake_wait(void)
{
    NEEDS_CONTEXT(wait);
    NO_CAPTURE(CAPTURE_UNSUPPORTED);
    let_go();
    ++waits;
    if (state.now_ns < latest_ns)
        state.now_ns = latest_ns;
    return GPU_SUCCESS;
}

/* ---- memory ---- */

static gpu_error allocate(void **pointer, size_t size, int *live)
{
    if (!size)
        return INVALID_VALUE;
    if (size > FAKE_GPU_MEMORY_BYTES)
        return GPU_OUT_OF_MEMORY;
    *pointer = malloc(size);
    place(*pointer, size, live == &state.live_host ? -1 : state.current_device);
    ++*live;
    return GPU_SUCCESS;
}

static gpu_error release(void *pointer, int *live)
{
    size_t left;
    const size_t k = place_of(&left, pointer);
    if (pointer && k == PLACES)
        return INVALID_VALUE;
    *live -= pointer != NULL;
    if (k < PLACES)
        placed[k].pointer = NULL;
    free(pointer);
    return GPU_SUCCESS;
}

static gpu_error copy_in_stream(void *to, const void *from, size_t size, struct gpu_stream *stream)
{
    double *now_ns = clock_of(stream);
    if (size && (!is_within(to, size) || !is_within(from, size)))
        return INVALID_VALUE;
    *now_ns += 8000 + (double)size / link_rate(to, from);
    if (latest_ns < *now_ns)
        latest_ns = *now_ns;
    memcpy(to, from, size);
    return GPU_SUCCESS;
}

static gpu_error copy_and_wait(void *to, const void *from, size_t size)
{
    NO_CAPTURE(CAPTURE_IMPLICIT);
    if (size && (!is_within(to, size) || !is_within(from, size)))
        return INVALID_VALUE;
    ++waits;
    memcpy(to, from, size);
    return GPU_SUCCESS;
}

gpu_error fake_memory_info(size_t *free_bytes, size_t *total_bytes)
{
    NEEDS_CONTEXT(memory_info);
    *total_bytes = FAKE_GPU_MEMORY_BYTES;
    *free_bytes = FAKE_GPU_MEMORY_BYTES / 2;
    return GPU_SUCCESS;
}

gpu_error fake_alloc(gpu_address *pointer, size_t size)
{
    NEEDS_CONTEXT(alloc);
    NO_CAPTURE(CAPTURE_UNSUPPORTED);
    state.memory_device = state.current_device;
    return allocate(pointer, size, &state.live_memory);
}

gpu_error fake_free(gpu_address pointer)
{
    const gpu_error error = release(pointer, &state.live_memory);
    NEEDS_CONTEXT(free);
    return error;
}

#ifndef FAKE_BROKEN
gpu_error fake_fill(gpu_address to, unsigned char byte, size_t size, struct gpu_stream *stream)
{
    (void)stream;
    NEEDS_CONTEXT(fill);
    size_t left;
    place_of(&left, to);
    if (size > left)
        return INVALID_VALUE;
    memset(to, byte, size);
    return GPU_SUCCESS;
}
#endif

/* ---- code ---- */

static gpu_error make_module(struct gpu_code **module)
{
    *module = calloc(1, sizeof(**module));
    ++state.live_modules;
    return GPU_SUCCESS;
}

gpu_error fake_unload(struct gpu_code *module)
{
    if (!module)
        return INVALID_HANDLE;
    --state.live_modules;
    free(module);
    NEEDS_CONTEXT(unload);
    return GPU_SUCCESS;
}

gpu_error fake_find(struct gpu_function **function, struct gpu_code *module, const char *name)
{
    NEEDS_CONTEXT(find);
    if (!module || !*name)
        return module ? INVALID_VALUE : INVALID_HANDLE;
    return find_function(function, name);
}

gpu_error fake_launch(struct gpu_function *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                      unsigned block_x, unsigned block_y, unsigned block_z, unsigned lds_bytes,
                      struct gpu_stream *stream, void **args, void **extra)
{
    const struct shape shape = {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, lds_bytes};
    (void)stream;
    NEEDS_CONTEXT(launch);
    if (function && (!may_have_lds(lds_bytes) || extra))
        return INVALID_VALUE;
    return run_launch(function, &shape, args, 0);
}

/* ---- streams and events ---- */

gpu_error fake_stream_make(struct gpu_stream **stream, unsigned flags)
{
    NEEDS_CONTEXT(stream_make);
    if (flags != GPU_STREAM_NON_BLOCKING)
        return INVALID_VALUE;
    *stream = calloc(1, sizeof(**stream));
    ++state.live_streams;
    return GPU_SUCCESS;
}

gpu_error fake_stream_free(struct gpu_stream *stream)
{
    if (!stream)
        return INVALID_HANDLE;
    --state.live_streams;
    free(stream);
    NEEDS_CONTEXT(stream_free);
    return GPU_SUCCESS;
}

gpu_error fake_stream_wait(struct gpu_stream *stream, struct gpu_event *event, unsigned flags)
{
    NEEDS_CONTEXT(stream_wait);
    if (!event || flags)
        return event ? INVALID_VALUE : INVALID_HANDLE;
    if (*clock_of(stream) < event->time_ns)
        *clock_of(stream) = event->time_ns;
    return GPU_SUCCESS;
}

gpu_error fake_event_make(struct gpu_event **event, unsigned flags)
{
    NEEDS_CONTEXT(event_make);
    if (flags)
        return INVALID_VALUE; /* 2 takes no time stamps */
    *event = calloc(1, sizeof(**event));
    ++state.live_events;
    return GPU_SUCCESS;
}

gpu_error fake_event_free(struct gpu_event *event)
{
    if (!event)
        return INVALID_HANDLE;
    --state.live_events;
    free(event);
    NEEDS_CONTEXT(event_free);
    return GPU_SUCCESS;
}

gpu_error fake_event_record(struct gpu_event *event, struct gpu_stream *stream)
{
    NEEDS_CONTEXT(event_record);
    if (!event)
        return INVALID_HANDLE;
    *clock_of(stream) += EVENT_NS + (events < WAKING_EVENTS && events % 2 ? STEP_NS : 0);
    ++events;
    event->time_ns = *clock_of(stream);
    event->waits = waits;
    return GPU_SUCCESS;
}

gpu_error fake_event_elapsed(float *time_ms, struct gpu_event *from, struct gpu_event *to)
{
    NEEDS_CONTEXT(event_elapsed);
    if (!from || !to || from->time_ns <= 0 || to->time_ns <= 0)
        return INVALID_HANDLE;
    if (from->waits == waits || to->waits == waits)
        return NOT_READY;
    *time_ms = (float)((to->time_ns - from->time_ns) * 1e-6);
    return GPU_SUCCESS;
}

/* ---- what a library may lack ---- */

#ifndef FAKE_BARE
gpu_error fake_pci_bus_id(char *bdf, int size, int device)
{
    MAY_FAIL(pci_bus_id);
    if (size < 13)
        return INVALID_VALUE;
    snprintf(bdf, (size_t)size, FAKE_PCI, (unsigned)device & 0xff);
    return GPU_SUCCESS;
}

gpu_error fake_uuid(struct gpu_uuid *uuid, int device)
{
    (void)device;
    MAY_FAIL(uuid);
    memcpy(uuid, FAKE_UUID, 16);
    return GPU_SUCCESS;
}

gpu_error fake_host_alloc(void **pointer, size_t size, unsigned flags)
{
    NEEDS_CONTEXT(host_alloc);
    if (flags != PINNED_FLAGS && flags != PINNED_COARSE_FLAGS && flags != PINNED_FAR_FLAGS)
        return INVALID_VALUE;
    state.host_flags = flags;
    return allocate(pointer, size, &state.live_host);
}

gpu_error fake_host_free(void *pointer)
{
    const gpu_error error = release(pointer, &state.live_host);
    NEEDS_CONTEXT(host_free);
    return error;
}

gpu_error fake_managed_alloc(gpu_address *pointer, size_t size, unsigned flags)
{
    NEEDS_CONTEXT(managed_alloc);
    return flags == GPU_MEM_ATTACH_GLOBAL ? allocate(pointer, size, &state.live_memory) : INVALID_VALUE;
}

gpu_error fake_can_reach(int *can, int device, int peer)
{
    MAY_FAIL(can_reach);
    if (peer >= device_count() || device >= device_count())
        return GPU_INVALID_DEVICE;
    *can = device != peer && !getenv(FAKE_PREFIX "NO_PEER");
    return GPU_SUCCESS;
}

static gpu_error enable_peer(int peer)
{
    const uint64_t bit = UINT64_C(1) << (state.current_device * 8 + peer);
    if (peer == state.current_device || peer >= device_count())
        return GPU_INVALID_DEVICE;
    if (peer >= 8 || state.current_device >= 8)
        return INVALID_VALUE;
    if (state.peer_enabled & bit)
        return GPU_PEER_ACCESS_ALREADY_ENABLED;
    state.peer_enabled |= bit;
    return GPU_SUCCESS;
}

#ifndef FAKE_OLD
gpu_error fake_launch_together(struct gpu_function *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                               unsigned block_x, unsigned block_y, unsigned block_z, unsigned lds_bytes,
                               struct gpu_stream *stream, void **args)
{
    const struct shape shape = {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, lds_bytes};
    (void)stream;
    NEEDS_CONTEXT(launch_together);
    return run_launch(function, &shape, args, 1);
}
#endif

gpu_error fake_capture_begin(struct gpu_stream *stream, unsigned mode)
{
    NEEDS_CONTEXT(capture_begin);
    if (mode != GPU_CAPTURE_THREAD_LOCAL)
        return INVALID_VALUE;
    if (!stream || capture)
        return stream ? ILLEGAL_STATE : CAPTURE_UNSUPPORTED;
    capture = calloc(1, sizeof(*capture));
    state.capturing = 1;
    return GPU_SUCCESS;
}

gpu_error fake_capture_end(struct gpu_stream *stream, struct gpu_captured **graph)
{
    (void)stream;
    *graph = NULL;
    if (!capture)
        return ILLEGAL_STATE;
    const int invalid = capture->invalid;
    if (!invalid)
        *graph = capture;
    else
        free(capture->nodes), free(capture);
    state.live_graphs += !invalid;
    capture = NULL;
    state.capturing = 0;
    NEEDS_CONTEXT(capture_end);
    return invalid ? CAPTURE_INVALIDATED : GPU_SUCCESS;
}

gpu_error fake_captured_free(struct gpu_captured *graph)
{
    if (!graph)
        return INVALID_VALUE;
    --state.live_graphs;
    free(graph->nodes);
    free(graph);
    NEEDS_CONTEXT(captured_free);
    return GPU_SUCCESS;
}

gpu_error fake_instance_make(struct gpu_instance **instance, struct gpu_captured *graph, unsigned long long flags)
{
    NEEDS_CONTEXT(instance_make);
    if (flags || !graph)
        return INVALID_VALUE;
    *instance = calloc(1, sizeof(**instance));
    (*instance)->graph = graph;
    ++state.live_graphs;
    return GPU_SUCCESS;
}

gpu_error fake_instance_free(struct gpu_instance *instance)
{
    if (!instance)
        return INVALID_VALUE;
    --state.live_graphs;
    free(instance);
    NEEDS_CONTEXT(instance_free);
    return GPU_SUCCESS;
}

gpu_error fake_instance_launch(struct gpu_instance *instance, struct gpu_stream *stream)
{
    (void)stream;
    NEEDS_CONTEXT(instance_launch);
    if (!instance)
        return INVALID_VALUE;
    for (size_t i = 0; i < instance->graph->count; ++i) {
        struct graph_node *node = &instance->graph->nodes[i];
        places = node->places;
        execute(node->function, (void *[]){&node->args[0], &node->args[1]});
    }
    return GPU_SUCCESS;
}
#endif
