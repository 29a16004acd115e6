/* SPDX-License-Identifier: MIT */
#include <hwloc.h>
#include <sched.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

#include "cpu.h"
#include "rooftile/cpu_target.h"

/* Returns the first `threads` cores that this process may use, to which the pool pins. */
static hwloc_bitmap_t used_cores(uint32_t threads)
{
    hwloc_bitmap_t cores = hwloc_bitmap_alloc();
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (sched_getaffinity(0, sizeof(allowed), &allowed))
        CPU_SET(0, &allowed);
    for (unsigned core = 0; core < CPU_SETSIZE && threads; ++core)
        if (CPU_ISSET(core, &allowed)) {
            hwloc_bitmap_set(cores, core);
            --threads;
        }
    return cores;
}

static void describe_caches(struct device_info *info, hwloc_topology_t topology, hwloc_const_bitmap_t cores)
{
    static const hwloc_obj_type_t types[] = {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE,
                                             HWLOC_OBJ_L4CACHE};
    for (unsigned level = 0; level < COUNT_OF(types); ++level) {
        struct device_cache cache = {0};
        hwloc_obj_t object = NULL;
        while ((object = hwloc_get_next_obj_by_type(topology, types[level], object))) {
            if (!hwloc_bitmap_intersects(object->cpuset, cores) || !object->attr->cache.size)
                continue;
            cache.size_bytes = object->attr->cache.size;
            cache.line_bytes = object->attr->cache.linesize;
            ++cache.instances;
        }
        SET_TEXT(cache.name, "L%u", level + 1);
        if (cache.instances && info->cache_count < DEVICE_MAX_CACHES)
            info->caches[info->cache_count++] = cache;
    }
}

static void describe_topology(struct device_info *info, uint32_t threads)
{
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology))
        return;
    if (hwloc_topology_load(topology) == 0) {
        hwloc_bitmap_t cores = used_cores(threads);
        describe_caches(info, topology, cores);
        hwloc_bitmap_free(cores);
        hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
        if (package)
            SET_TEXT(info->name, "%s", hwloc_obj_get_info_by_name(package, "CPUModel"));
    }
    hwloc_topology_destroy(topology);
}

static void describe_memory(struct device_info *info)
{
    FILE *file = fopen("/proc/meminfo", "re");
    char line[128];
    unsigned long long kib;
    struct sysinfo without; /* fallback without /proc: caches count as used */
    if (!file && !sysinfo(&without)) {
        info->memory_bytes = (uint64_t)without.totalram * without.mem_unit;
        info->memory_free_bytes = (uint64_t)without.freeram * without.mem_unit;
    }
    while (file && fgets(line, sizeof(line), file)) {
        if (sscanf(line, "MemTotal: %llu", &kib) == 1)
            info->memory_bytes = kib * 1024;
        if (sscanf(line, "MemAvailable: %llu", &kib) == 1)
            info->memory_free_bytes = kib * 1024;
    }
    if (file)
        fclose(file);
    /* A container may have less memory than the machine. */
    const double most = sysfs_number("/sys/fs/cgroup", "memory.max"); /* NaN: "max" */
    const double used = sysfs_number("/sys/fs/cgroup", "memory.current");
    if (most < (double)info->memory_bytes)
        info->memory_bytes = (uint64_t)most;
    if (used < most && most - used < (double)info->memory_free_bytes)
        info->memory_free_bytes = (uint64_t)(most - used);
}

static void describe_note(struct device_info *info)
{
    char pages[64] = "";
    SET_TEXT(info->note, "%u of %u allowed cores", info->cus, pool_allowed_cores());
    if (sysfs_text(pages, sizeof(pages), "/sys/kernel/mm/transparent_hugepage", "enabled")) {
        const char *open = strchr(pages, '[');
        const size_t length = open ? strcspn(open + 1, "]") : 0;
        memmove(pages, open ? open + 1 : "", length);
        pages[length] = '\0';
    }
    if (*pages)
        ADD_TEXT(info->note, "transparent huge pages: %s", pages);
}

void cpu_describe(struct device_info *info, uint32_t threads, const char *level)
{
    struct utsname system;
    SCOPED(text_release) struct text target = {0};
    SET_TEXT(info->backend, "%s", "cpu");
    SET_TEXT(info->arch, "%s", cpu_target_arch());
    cpu_target_detect(&target, level);
    SET_TEXT(info->target, "%s", target.data);
    if (uname(&system) == 0)
        SET_TEXT(info->driver, "%.30s %.31s", system.sysname, system.release);
    info->host_memory = true;
    /* These kinds of memory would all be the same memory. */
    info->lacks_spaces = SPACE_BIT(SPACE_PINNED) | SPACE_BIT(SPACE_MANAGED) | SPACE_BIT(SPACE_FINE) |
                         SPACE_BIT(SPACE_PEER) | SPACE_BIT(SPACE_PINNED_COARSE) | SPACE_BIT(SPACE_PINNED_FAR);
    info->cus = threads;
    info->max_block = CPU_MAX_BLOCK;
    for (int i = 0; i < 3; ++i)
        info->max_grid[i] = CPU_MAX_GRID;
    info->cooperative = true; /* as many workgroups as it has threads */
    info->lds_bytes = CPU_LDS_BYTES;
    info->timer_tick_ns = 1; /* clock_gettime has nanosecond units */
    describe_topology(info, threads);
    describe_memory(info);
    /* An upper bound, because it is a physical limit: two pipes of the widest registers, a multiply-add counted as two.
     * Without FMA, and on AArch64, where cores have two or four pipes, nothing is known. */
    const double bits = cpu_target_has(info->target, "fma") ? 8 * cpu_vector_bytes(info->target) : 0;
    info->flops_per_clock_f32 = bits / 32 * 2 * 2;
    info->flops_per_clock_f64 = bits / 64 * 2 * 2;
    describe_note(info);
    if (!*info->name)
        SET_TEXT(info->name, "%s", "CPU");
}
