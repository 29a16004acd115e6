/* SPDX-License-Identifier: MIT
 *
 * The inside of a vendor's library of host memory: its kernels, its virtual clock, its memory, streams, events and
 * graphs, and failing on demand. fake_hip.c and fake_cuda.c include it, each with its own names:
 *
 *   FAKE_PREFIX      of the environment's variables, "FAKE_HIP_"
 *   FAKE_UNITS       of the device: as many workgroups run at once
 *   COUNTER_MHZ      rate of the constant counter
 *   STEP_NS          what each second of the first events takes longer
 */
#ifndef FAKE_GPU_BODY_H
#define FAKE_GPU_BODY_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake_gpu.h"

/* What both vendors call so, by the same number. */
enum { INVALID_VALUE = 1, INVALID_HANDLE = 400, CAPTURE_UNSUPPORTED = 900 };
enum { EVENT_NS = 3000, WAKING_EVENTS = 64 };

struct gpu_function {
    const char *name;
    void (*run)(void **args); /* NULL: has no effect */
    double (*takes_ns)(void **args);
};
struct graph_node {
    struct gpu_function *function;
    void *args[2];   /* values */
    uint32_t places; /* work-items */
};
struct gpu_captured {
    struct graph_node *nodes;
    size_t count;
};
struct gpu_instance {
    const struct gpu_captured *graph; /* looked at when it is launched, as some libraries do */
};
struct gpu_stream {
    int unused;
};
struct gpu_code {
    int unused;
};
struct gpu_event {
    double time_ns; /* 0: not recorded */
};
static struct fake_gpu_state state = {.now_ns = EVENT_NS};
static unsigned events; /* recorded since the device was opened */
static struct gpu_captured *capture;
static uint32_t *held; /* control of a service_blocking that waits */
static int flushed;
static uint32_t places; /* work-items of the launch that runs */

struct fake_gpu_state *fake_gpu_state(void)
{
    return &state;
}

/* ---- failing ---- */

/* True when no process has failed yet, as far as ..._ONCE tells. */
static int first_time(void)
{
    const char *event = getenv(FAKE_PREFIX "ONCE");
    const int file = event ? open(event, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
    if (file >= 0)
        close(file);
    return !event || file >= 0;
}

static gpu_error told_to_fail(const char *function)
{
    const char *told = getenv(FAKE_PREFIX "FAIL");
    const size_t length = strlen(function);
    char what[16];
    unsigned nth;
    if (!told || strncmp(told, function, length) != 0 || sscanf(told + length, ":%u:%15s", &nth, what) != 2)
        return 0;
    if (++state.seen != nth || !first_time())
        return 0;
    ++state.failed;
    if (strcmp(what, "abort") == 0)
        abort();
    if (strcmp(what, "hang") == 0)
        for (;;)
            pause();
    return (gpu_error)strtoul(what, NULL, 10);
}

#define MAY_FAIL()                                                                                                     \
    do {                                                                                                               \
        const gpu_error failing = told_to_fail(__func__);                                                              \
        if (failing)                                                                                                   \
            return failing;                                                                                            \
    } while (0)

static int device_count(void)
{
    const char *devices = getenv(FAKE_PREFIX "DEVICES"), *gone = getenv(FAKE_PREFIX "GONE");
    if (gone && access(gone, F_OK) == 0)
        return 0;
    return devices ? (int)strtol(devices, NULL, 10) : 1;
}

/* ---- kernels ---- */

static void run_store(void **args)
{
    uint32_t *to, value;
    memcpy(&to, args[0], sizeof(to));
    memcpy(&value, args[1], sizeof(value));
    for (uint32_t i = 0; i < places; ++i)
        to[i] = value;
}

static double kernel_ns(void **args)
{
    const char *told = getenv(FAKE_PREFIX "KERNEL_NS");
    (void)args;
    return told ? strtod(told, NULL) : 12000;
}

static void run_empty(void **args)
{
    uint32_t *flag;
    memcpy(&flag, args[0], sizeof(flag));
    if (flag)
        flag[0] = 1;
}

static double no_time(void **args)
{
    (void)args;
    return 0;
}

/* Words of its control: released, most looks, outcome (1 released, 2 gave up), looks. */
static void run_blocking(void **args)
{
    memcpy(&held, args[0], sizeof(held));
    if (!getenv(FAKE_PREFIX "SYNC"))
        return;
    held[2] = 2;
    held = NULL;
}

static double core_mhz(unsigned probe)
{
    const char *told = getenv(FAKE_PREFIX "CLOCK");
    double mhz = 2100, other_mhz = 0;
    unsigned from = 0, count = 0;
    if (told)
        sscanf(told, "%lf,%u,%lf,%u", &mhz, &from, &other_mhz, &count);
    return probe >= from && probe < from + count ? other_mhz : mhz;
}

/* Words of its report: wanted ticks, most loops, cycles, ticks, loops, longest step, bits of the cycle counter, done.
 */
static void run_clock(void **args)
{
    static unsigned probe;
    const char *told = getenv(FAKE_PREFIX "CLOCK");
    uint64_t *report;
    memcpy(&report, args[0], sizeof(report));
    const uint64_t ticks = told && strcmp(told, "stuck") == 0 ? 0 : report[0];
    const int wraps = told && strcmp(told, "wrap") == 0;
    report[2] = (uint64_t)((double)ticks * core_mhz(probe++) / (double)COUNTER_MHZ);
    report[3] = ticks;
    report[4] = 100;
    report[5] = wraps ? 1000 * COUNTER_MHZ : 20; /* 1 ms */
    report[6] = wraps ? 20 : 64;
    report[7] = 1;
}

static double clock_ns(void **args)
{
    uint64_t *report;
    memcpy(&report, args[0], sizeof(report));
    return (double)report[0] * 1e3 / (double)COUNTER_MHZ;
}

/* ..._LOSE: one launch of so many counts nothing. */
static void run_count(void **args)
{
    static unsigned long launches;
    const char *told = getenv(FAKE_PREFIX "LOSE");
    uint32_t *counter;
    memcpy(&counter, args[0], sizeof(counter));
    *counter += !told || ++launches % strtoul(told, NULL, 10) != 0;
}

static void run_flush(void **args)
{
    const char *told = getenv(FAKE_PREFIX "FLUSH");
    (void)args;
    flushed = !told || strcmp(told, "0") != 0;
}

static double chase_ns(void **args)
{
    const double time_ns = flushed ? 200e3 : 100e3;
    (void)args;
    flushed = 0;
    return time_ns;
}

static struct gpu_function functions[] = {
    {"store", run_store, kernel_ns},
    {"launch_empty", run_empty, kernel_ns},
    {"service_blocking", run_blocking, no_time},
    {"service_clock", run_clock, clock_ns},
    {"service_flush", run_flush, no_time},
    {"pointer_chase", NULL, chase_ns},
    {"launch_count", run_count, kernel_ns},
};

static void execute(const struct gpu_function *function, void **args)
{
    if (function->run)
        function->run(args);
    state.now_ns += function->takes_ns(args);
    ++state.launches;
}

static void let_go(void)
{
    if (held)
        held[2] = held[0] ? 1 : 2;
    held = NULL;
}

static gpu_error find_function(struct gpu_function **function, const char *name)
{
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); ++i)
        if (strcmp(name, functions[i].name) == 0) {
            *function = &functions[i];
            return 0;
        }
    return GPU_NOT_FOUND;
}

static void add_node(struct gpu_function *function, uint32_t work_items, void **args)
{
    capture->nodes = realloc(capture->nodes, (capture->count + 1) * sizeof(*capture->nodes));
    struct graph_node *node = &capture->nodes[capture->count++];
    node->function = function;
    node->places = work_items;
    memcpy(&node->args[0], args[0], sizeof(node->args[0])); /* all kernels here take a pointer first ... */
    node->args[1] = NULL;
    if (function->run == run_store)
        memcpy(&node->args[1], args[1], sizeof(uint32_t)); /* ... and this one a value */
}

struct shape {
    uint32_t grid[3], block[3], lds_bytes;
};

static gpu_error run_launch(struct gpu_function *function, const struct shape *shape, void **args, int cooperative)
{
    if (function < functions || function >= functions + sizeof(functions) / sizeof(functions[0]))
        return INVALID_HANDLE;
    if (cooperative && shape->grid[0] * shape->grid[1] * shape->grid[2] > FAKE_UNITS)
        return GPU_COOPERATIVE_LAUNCH_TOO_LARGE;
    if (capture) {
        add_node(function, shape->grid[0] * shape->block[0], args);
        return 0;
    }
    memcpy(state.grid, shape->grid, sizeof(state.grid));
    memcpy(state.block, shape->block, sizeof(state.block));
    state.lds_bytes = shape->lds_bytes;
    state.launch_extended = 0;
    state.launch_cooperative = cooperative;
    places = shape->grid[0] * shape->block[0];
    execute(function, args);
    return 0;
}

/* ---- memory ---- */

static gpu_error allocate(void **pointer, size_t size, int *live)
{
    if (!size)
        return INVALID_VALUE;
    if (size > FAKE_GPU_MEMORY_BYTES)
        return GPU_OUT_OF_MEMORY;
    *pointer = malloc(size);
    ++*live;
    return 0;
}

static void release(void *pointer, int *live)
{
    *live -= pointer != NULL;
    free(pointer);
}

static gpu_error copy_in_stream(void *to, const void *from, size_t size)
{
    state.now_ns += 8000 + (double)size / 25;
    memcpy(to, from, size);
    return 0;
}

/* ---- code, streams and events ---- */

static gpu_error make_module(struct gpu_code **module)
{
    *module = calloc(1, sizeof(**module));
    ++state.live_modules;
    return 0;
}

static void free_module(struct gpu_code *module)
{
    --state.live_modules;
    free(module);
}

static gpu_error make_stream(struct gpu_stream **stream)
{
    *stream = calloc(1, sizeof(**stream));
    ++state.live_streams;
    return 0;
}

static void free_stream(struct gpu_stream *stream)
{
    --state.live_streams;
    free(stream);
}

static gpu_error make_event(struct gpu_event **event)
{
    *event = calloc(1, sizeof(**event));
    ++state.live_events;
    return 0;
}

static void free_event(struct gpu_event *event)
{
    --state.live_events;
    free(event);
}

static gpu_error record(struct gpu_event *event)
{
    state.now_ns += EVENT_NS + (events < WAKING_EVENTS && events % 2 ? STEP_NS : 0);
    ++events;
    event->time_ns = state.now_ns;
    return 0;
}

static gpu_error elapsed(float *time_ms, const struct gpu_event *from, const struct gpu_event *to)
{
    if (from->time_ns <= 0 || to->time_ns <= 0)
        return INVALID_HANDLE;
    *time_ms = (float)((to->time_ns - from->time_ns) * 1e-6);
    return 0;
}

/* ---- what a library may lack ---- */

#ifndef FAKE_BARE
static gpu_error can_reach(int *can, int device, int peer)
{
    if (device == peer || peer >= device_count() || device >= device_count())
        return GPU_INVALID_DEVICE;
    *can = !getenv(FAKE_PREFIX "NO_PEER");
    return 0;
}

static gpu_error enable_peer(int peer)
{
    const unsigned bit = 1u << (state.current_device * 4 + peer);
    if (peer >= 4 || state.current_device >= 4)
        return INVALID_VALUE;
    if (state.peer_enabled & bit)
        return GPU_PEER_ACCESS_ALREADY_ENABLED;
    state.peer_enabled |= bit;
    return 0;
}

static gpu_error begin_capture(const struct gpu_stream *stream, unsigned mode)
{
    if (!stream || mode != GPU_CAPTURE_THREAD_LOCAL || capture)
        return CAPTURE_UNSUPPORTED;
    capture = calloc(1, sizeof(*capture));
    state.capturing = 1;
    return 0;
}

static void end_capture(struct gpu_captured **graph)
{
    *graph = capture;
    capture = NULL;
    state.capturing = 0;
    ++state.live_graphs;
}

static gpu_error make_exec(struct gpu_instance **exec, const struct gpu_captured *graph)
{
    *exec = calloc(1, sizeof(**exec));
    (*exec)->graph = graph;
    ++state.live_graphs;
    return 0;
}

static gpu_error launch_exec(const struct gpu_instance *exec)
{
    for (size_t i = 0; i < exec->graph->count; ++i) {
        struct graph_node *node = &exec->graph->nodes[i];
        places = node->places;
        execute(node->function, (void *[]){&node->args[0], &node->args[1]});
    }
    return 0;
}

static void free_exec(struct gpu_instance *exec)
{
    --state.live_graphs;
    free(exec);
}

static void free_graph(struct gpu_captured *graph)
{
    --state.live_graphs;
    free(graph->nodes);
    free(graph);
}
#endif

#endif
