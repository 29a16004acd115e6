/* SPDX-License-Identifier: MIT
 *
 * The inside of a vendor's library of host memory: its kernels, its virtual clock, and failing on demand. The skins
 * (fake_gpu_hip.h, fake_gpu_cuda.h) say FAKE_PREFIX, of the environment's variables, FAKE_UNITS, as many workgroups run
 * at once, and COUNTER_MHZ, the rate of the constant counter.
 */
#ifndef FAKE_GPU_KERNELS_H
#define FAKE_GPU_KERNELS_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake_gpu.h"

/* What both vendors call so, by the same number. */
enum { INVALID_VALUE = 1, INVALID_IMAGE = 200, INVALID_HANDLE = 400, ILLEGAL_STATE = 401, NOT_READY = 600 };
enum { CAPTURE_UNSUPPORTED = 900, CAPTURE_INVALIDATED = 901, CAPTURE_IMPLICIT = 906 };
enum { EVENT_NS = 3000 };

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
    int invalid;
};
struct gpu_instance {
    const struct gpu_captured *graph; /* looked at when it is launched, as some libraries do */
};
static struct fake_gpu_state state = {.now_ns = EVENT_NS};
static unsigned events; /* recorded, since a context was made */
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

/* Whether what is told of one device is told of the current one. */
static int is_meant(void)
{
    const char *on = getenv(FAKE_PREFIX "ON");
    return !on || (int)strtol(on, NULL, 10) == state.current_device;
}

static gpu_error told_to_fail(const char *function)
{
    const char *told = getenv(FAKE_PREFIX "FAIL");
    const size_t length = strlen(function);
    char what[16];
    unsigned nth;
    if (!told || strncmp(told, function, length) != 0 || sscanf(told + length, ":%u:%15s", &nth, what) != 2)
        return 0;
    if (!is_meant() || ++state.seen != nth || !first_time())
        return 0;
    ++state.failed;
    if (strcmp(what, "abort") == 0)
        abort();
    if (strcmp(what, "hang") == 0)
        for (;;)
            pause();
    return (gpu_error)strtoul(what, NULL, 10);
}

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
    return told && is_meant() ? strtod(told, NULL) : 12000;
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

/* A sum of words, each times its place, for each piece of 256 KiB. */
static void run_hash(void **args)
{
    static unsigned long launches;
    const char *told = getenv(FAKE_PREFIX "HASH");
    const int blind = told && launches++ >= strtoul(told, NULL, 10);
    const uint64_t piece = 1 << 15;
    const uint64_t *memory;
    uint64_t *hashes, count;
    memcpy(&hashes, args[0], sizeof(hashes));
    memcpy(&memory, args[1], sizeof(memory));
    memcpy(&count, args[2], sizeof(count));
    for (uint64_t k = 0; k < 2 * count; ++k)
        hashes[k / piece] = (k % piece ? hashes[k / piece] : 0) + (blind ? 0 : memory[k] * (2 * k + 1));
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
    {"service_hash", run_hash, no_time},
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

static int is_possible(const struct shape *shape)
{
    const uint32_t *grid = shape->grid, *block = shape->block;
    uint64_t items = 1;
    for (int i = 0; i < 3; i++) {
        items *= block[i];
        if (!grid[i] || grid[i] > (i ? MOST_GROUPS : INT32_MAX) || (uint64_t)grid[i] * block[i] > MOST_ITEMS)
            return 0;
    }
    return items && items <= 1024;
}

static gpu_error run_launch(struct gpu_function *function, const struct shape *shape, void **args, int cooperative)
{
    if (function < functions || function >= functions + sizeof(functions) / sizeof(functions[0]))
        return INVALID_HANDLE;
    if (!args || !is_possible(shape))
        return INVALID_VALUE;
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

#endif
