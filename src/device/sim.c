/* SPDX-License-Identifier: MIT
 *
 * The simulated device: it has the facts of a machine file and executes nothing. Cases take their predicted time
 * (run/measure.c).
 */
#include <sys/mman.h>

#include "device_internal.h"

#define LAUNCH_NS 4000.0       /* an empty launch, if the machine file has no figure */
#define COPY_BYTES_PER_NS 10.0 /* copies and fills: not predicted, but not free */

struct device_module {
    int unused; /* nothing is read; each load is a new module */
};

struct sim {
    struct host host; /* must be first */
    double now_ns, launch_ns;
};

static enum status sim_open(struct device **device, const struct device_request *request, struct device_info *info,
                            struct err *err)
{
    if (!request->sim_info)
        return err_set(err, ERR_DEVICE, "sim needs a machine, for example sim:mi300x");
    /* The machine's facts; missing limits get the values common to all GPUs. */
    *info = *request->sim_info;
    SET_TEXT(info->backend, "sim");
    SET_TEXT(info->id, "sim:%.27s", request->model);
    info->predicted = true;
    info->lacks_spaces = SPACE_BIT(SPACE_PEER) | SPACE_BIT(SPACE_PINNED_FAR);
    info->wave = info->wave ? info->wave : 64;
    info->max_block = info->max_block ? info->max_block : 1024;
    for (int i = 0; i < 3; ++i)
        info->max_grid[i] = info->max_grid[i] ? info->max_grid[i] : 2147483647u;
    info->lds_bytes = info->lds_bytes ? info->lds_bytes : 65536;
    info->memory_bytes = info->memory_bytes ? info->memory_bytes : (uint64_t)16 << 30;
    info->memory_free_bytes = info->memory_bytes;
    struct sim *sim = new_zeroed(1, sizeof(*sim));
    sim->host.device.ops = &device_sim;
    sim->host.limit_bytes = info->memory_bytes;
    sim->launch_ns = request->sim_launch_ns > 0 ? request->sim_launch_ns : LAUNCH_NS;
    *device = &sim->host.device;
    return STATUS_OK;
}

static void sim_close(struct device *device)
{
    struct sim *sim = (struct sim *)device;
    if (!sim)
        return;
    host_release(&sim->host);
    free(sim);
}

/* Returns addresses that must not be accessed. */
static enum status sim_alloc(void **pointer, struct device *device, uint64_t size_bytes, enum device_space space,
                             struct err *err)
{
    return host_alloc(pointer, (struct host *)device, size_bytes, space, PROT_NONE, err);
}

static enum status sim_advance(struct device *device, uint64_t size_bytes)
{
    ((struct sim *)device)->now_ns += (double)size_bytes / COPY_BYTES_PER_NS;
    return STATUS_OK;
}

static enum status sim_write(struct device *device, UNUSED void *to, UNUSED const void *from, uint64_t size_bytes,
                             UNUSED struct err *err)
{
    return sim_advance(device, size_bytes);
}

/* There is nothing to read; returns zeros, so that every reader gets the same data. */
static enum status sim_read(struct device *device, void *to, UNUSED const void *from, uint64_t size_bytes,
                            UNUSED struct err *err)
{
    if (size_bytes)
        memset(to, 0, size_bytes);
    return sim_advance(device, size_bytes);
}

static enum status sim_copy(struct device *device, void *to, const void *from, uint64_t size_bytes,
                            UNUSED uint32_t stream, struct err *err)
{
    return sim_write(device, to, from, size_bytes, err);
}

static enum status sim_fill(struct device *device, UNUSED void *to, UNUSED uint8_t byte, uint64_t size_bytes,
                            UNUSED uint32_t stream, UNUSED struct err *err)
{
    return sim_advance(device, size_bytes);
}

static enum status sim_load(struct device_module **module, UNUSED struct device *device, UNUSED const char *path,
                            UNUSED struct err *err)
{
    *module = new_zeroed(1, sizeof(**module));
    return STATUS_OK;
}

static void sim_unload(UNUSED struct device *device, struct device_module *module)
{
    free(module);
}

/* The module represents all its kernels; their arguments are unknown. */
static enum status sim_kernel(const struct device_kernel **kernel, struct kernel_info *info,
                              UNUSED struct device *device, struct device_module *module, UNUSED const char *symbol,
                              UNUSED struct err *err)
{
    *info = (struct kernel_info){0};
    *kernel = (const struct device_kernel *)module;
    return STATUS_OK;
}

static enum status sim_launch(struct device *device, UNUSED const struct device_launch *launch, UNUSED struct err *err)
{
    struct sim *sim = (struct sim *)device;
    sim->now_ns += sim->launch_ns;
    return STATUS_OK;
}

static enum status sim_event(struct device *device, uint32_t event, UNUSED uint32_t stream, struct err *err)
{
    struct sim *sim = (struct sim *)device;
    return host_event(&sim->host, event, sim->now_ns, err);
}

const struct device_ops device_sim = {
    .name = "sim",
    .summary = "a GPU from a machine file (sim:mi300x): nothing is executed, every time is predicted",
    .count = host_count,
    .open = sim_open,
    .close = sim_close,
    .alloc = sim_alloc,
    .free = host_free,
    .write = sim_write,
    .read = sim_read,
    .load = sim_load,
    .unload = sim_unload,
    .kernel = sim_kernel,
    .launch = sim_launch,
    .copy = sim_copy,
    .fill = sim_fill,
    .event = sim_event,
    .elapsed = host_elapsed,
    .wait = host_wait,
};
