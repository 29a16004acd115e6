/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <link.h>

#include "cpu.h"

/* ---- modules ---- */

/* The argument of the dynamic linker's own function that returns a thread's copy of a module's thread-local storage,
 * and creates the copy if necessary. */
struct tls_index {
    unsigned long module, offset;
};
extern void *__tls_get_addr(struct tls_index *index);

/* Returns the calling thread's __shared__ variables, or NULL if the module has none. */
static void *cpu_module_lds(const struct device_module *module)
{
    struct tls_index index = {.module = module->lds_module};
    return module->lds_bytes ? __tls_get_addr(&index) : NULL;
}

static int find_lds(struct dl_phdr_info *object, UNUSED size_t size, void *context)
{
    struct device_module *module = context;
    if (object->dlpi_tls_modid != module->lds_module)
        return 0;
    for (size_t i = 0; i < object->dlpi_phnum; ++i)
        if (object->dlpi_phdr[i].p_type == PT_TLS)
            module->lds_bytes = object->dlpi_phdr[i].p_memsz;
    return 1;
}

/* Creates each thread's LDS before the first launch, because a launch must not allocate. */
static void touch_lds(void *context, UNUSED uint32_t part, UNUSED uint32_t parts)
{
    const struct device_module *module = context;
    memset(cpu_module_lds(module), 0, module->lds_bytes);
}

/* Assigns a place that waits. In a kernel's own code, it makes that kernel use lanes. Outside all kernels (in a
 * function that was not inlined), it makes every kernel of the module use lanes, since any may call it. */
static void assign_site(struct device_module *module, const char *site)
{
    bool owned = false;
    for (size_t i = 0; i < module->kernel_count; ++i) {
        struct device_kernel *kernel = &module->kernels[i];
        if (site >= kernel->code->plain_begin && site <= kernel->code->plain_end)
            owned = kernel->uses_lanes = true;
    }
    for (size_t i = 0; !owned && i < module->kernel_count; ++i)
        module->kernels[i].uses_lanes = true;
}

enum status cpu_module_load(struct device_module **loaded, struct device *device, const char *path, struct err *err)
{
    struct cpu *cpu = (struct cpu *)device;
    struct device_module *module = new_zeroed(1, sizeof(*module));
    enum status status = STATUS_OK;
    module->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!module->handle) {
        status = err_set(err, ERR_DEVICE, "cannot load a kernel module: %s", dlerror());
        goto out;
    }
    module->table = dlsym(module->handle, SIMT_MODULE_SYMBOL);
    const struct simt_module *table = module->table;
    if (!table)
        status = err_set(err, ERR_DEVICE, "%s: not a kernel module for the CPU device", path);
    else if (table->abi_version != SIMT_ABI_VERSION)
        status = err_set(err, ERR_DEVICE, "%s: built for another version of the driver (interface %u, this is %u)",
                         path, table->abi_version, SIMT_ABI_VERSION);
    else if (table->wave != cpu->wave)
        status = err_set(err, ERR_DEVICE, "%s: built for waves of %u, the device has %u", path, table->wave, cpu->wave);
    if (status)
        goto out;
    module->kernel_count = (size_t)(table->kernels_end - table->kernels);
    module->kernels = new_zeroed(module->kernel_count + 1, sizeof(*module->kernels));
    for (size_t i = 0; i < module->kernel_count; ++i)
        module->kernels[i] = (struct device_kernel){.code = &table->kernels[i], .module = module};
    for (const simt_site *site = table->sites; site != table->sites_end; ++site)
        assign_site(module, (const char *)site + *site);
    if (dlinfo(module->handle, RTLD_DI_TLS_MODID, &module->lds_module) == 0 && module->lds_module)
        dl_iterate_phdr(find_lds, module);
    if (module->lds_bytes)
        pool_run(cpu->pool, touch_lds, module);
    *loaded = module;
    module = NULL;
out:
    cpu_module_unload(device, module);
    return status;
}

void cpu_module_unload(struct device *device, struct device_module *module)
{
    if (!module)
        return;
    cpu_library_settle((struct cpu *)device);
    if (module->handle)
        dlclose(module->handle);
    free(module->kernels);
    free(module);
}

enum status cpu_module_kernel(const struct device_kernel **kernel, struct kernel_info *info,
                              UNUSED struct device *device, struct device_module *module, const char *symbol,
                              struct err *err)
{
    if (module->library)
        return cpu_library_kernel(kernel, info, module, symbol, err);
    for (size_t i = 0; i < module->kernel_count; ++i) {
        const struct simt_kernel *code = module->kernels[i].code;
        if (strcmp(code->name, symbol) != 0)
            continue;
        if (code->arg_count > DEVICE_MAX_ARGS)
            return err_set(err, ERR_DEVICE, "kernel '%s' has %u arguments: at most %d", symbol, code->arg_count,
                           DEVICE_MAX_ARGS);
        *info = (struct kernel_info){
            .arg_count = code->arg_count, .fibers = module->kernels[i].uses_lanes, .shares_lds = module->lds_bytes > 0};
        for (uint32_t k = 0; k < code->arg_count; ++k)
            info->args[k] = (struct kernel_arg){code->args[k].size_bytes, code->args[k].is_pointer != 0};
        *kernel = &module->kernels[i];
        return STATUS_OK;
    }
    SCOPED(text_release) struct text names = {0};
    for (size_t i = 0; i < module->kernel_count; ++i)
        text_addf(&names, "%s%s", i ? ", " : "", module->kernels[i].code->name);
    err_set(err, ERR_DEVICE, "no kernel '%s' in the module; it exports %s", symbol, names.length ? names.data : "none");
    return ERR_DEVICE;
}

/* ---- launches ---- */

struct job {
    struct cpu *cpu;
    const struct device_launch *launch;
    uint64_t groups;
    bool lanes;
};

/* LDS of the calling thread, to be poisoned. */
struct lds {
    void *fixed, *dynamic;
    size_t fixed_bytes, dynamic_bytes;
};

static void poison(void *memory, size_t size_bytes)
{
    const uint32_t word = SIMT_POISON;
    char *bytes = memory;
    for (size_t i = 0; i + sizeof(word) <= size_bytes; i += sizeof(word))
        memcpy(bytes + i, &word, sizeof(word));
    if (size_bytes % sizeof(word))
        memcpy(bytes + size_bytes - size_bytes % sizeof(word), &word, size_bytes % sizeof(word));
}

static void poison_lds(void *context)
{
    const struct lds *lds = context;
    poison(lds->fixed, lds->fixed_bytes);
    poison(lds->dynamic, lds->dynamic_bytes);
}

static void run_lanes(const struct job *job, struct cpu_thread *thread, const struct simt_launch *shape,
                      struct lds *lds, uint64_t begin, uint64_t end)
{
    const struct device_launch *launch = job->launch;
    const struct fiber_work work = {
        .launch = shape,
        .body = launch->kernel->code->lane,
        .order = launch->lane_order,
        .seed = launch->lane_order == LANES_SHUFFLED ? launch->seed : 0,
        .before_group = launch->poison_lds ? poison_lds : NULL,
        .context = lds,
    };
    thread->finding.out_of_memory =
        !fibers_reserve(thread->fibers, shape->block[0] * shape->block[1] * shape->block[2]);
    if (!thread->finding.out_of_memory)
        fibers_run(thread->fibers, &work, begin, end, &thread->finding);
}

static void run_part(void *context, uint32_t part, uint32_t parts)
{
    const struct job *job = context;
    const struct device_launch *launch = job->launch;
    const struct device_kernel *kernel = launch->kernel;
    struct cpu_thread *thread = &job->cpu->threads[part];
    const struct simt_launch shape = {
        .grid = {launch->grid[0], launch->grid[1], launch->grid[2]},
        .block = {launch->block[0], launch->block[1], launch->block[2]},
        .args = launch->args,
        .lds = thread->lds,
    };
    uint64_t begin, end;
    cpu_share(&begin, &end, job->groups, part, parts);
    thread->finding = (struct fiber_finding){0};
    if (begin == end)
        return;
    struct lds lds = {.dynamic = thread->lds, .dynamic_bytes = launch->lds_bytes};
    if (launch->poison_lds) {
        lds.fixed = cpu_module_lds(kernel->module);
        lds.fixed_bytes = kernel->module->lds_bytes;
    }
    if (job->lanes) {
        run_lanes(job, thread, &shape, &lds, begin, end);
        return;
    }
    if (!launch->poison_lds)
        kernel->code->plain(&shape, begin, end);
    for (; launch->poison_lds && begin < end; ++begin) {
        poison_lds(&lds);
        kernel->code->plain(&shape, begin, begin + 1);
    }
}

static enum status check_shape(uint64_t *groups, const struct device_launch *launch, struct err *err)
{
    uint64_t items = 1;
    *groups = 1;
    for (int i = 0; i < 3; ++i) {
        const uint32_t block = launch->block[i], grid = launch->grid[i];
        if (!block || !grid)
            return err_set(err, ERR_DEVICE, "launch of an empty %s: grid %u x %u x %u, block %u x %u x %u",
                           grid ? "workgroup" : "grid", launch->grid[0], launch->grid[1], launch->grid[2],
                           launch->block[0], launch->block[1], launch->block[2]);
        if (grid > CPU_MAX_GRID || __builtin_mul_overflow(*groups, grid, groups))
            return err_set(err, ERR_DEVICE, "grid %u x %u x %u is too large", launch->grid[0], launch->grid[1],
                           launch->grid[2]);
        items = block > CPU_MAX_BLOCK ? UINT32_MAX : items * block;
        if (items > CPU_MAX_BLOCK)
            return err_set(err, ERR_DEVICE, "workgroup of %u x %u x %u work-items: at most %u", launch->block[0],
                           launch->block[1], launch->block[2], CPU_MAX_BLOCK);
    }
    const uint64_t lds_bytes = launch->kernel->module->lds_bytes + launch->lds_bytes;
    if (lds_bytes > CPU_LDS_BYTES)
        return err_set(err, ERR_DEVICE, "%llu bytes of LDS: at most %u", (unsigned long long)lds_bytes, CPU_LDS_BYTES);
    return STATUS_OK;
}

/* Reports the finding of the first thread that has one; for a fixed number of threads the choice is deterministic. */
static enum status take_findings(struct cpu *cpu, struct err *err)
{
    for (uint32_t i = 0; i < pool_threads(cpu->pool); ++i) {
        const struct fiber_finding *finding = &cpu->threads[i].finding;
        if (finding->out_of_memory)
            return err_set(err, ERR_DEVICE_MEMORY, "no memory for the stacks of the work-items of a workgroup");
        if (finding->found)
            return err_set(err, ERR_DEVICE, "lanes of workgroup (%u,%u,%u) wait at different %s (lines %u and %u)",
                           finding->group[0], finding->group[1], finding->group[2],
                           finding->wave_operation ? "wave operations or barriers" : "barriers", finding->line[0],
                           finding->line[1]);
    }
    return STATUS_OK;
}

enum status cpu_launch(struct device *device, const struct device_launch *launch, struct err *err)
{
    struct cpu *cpu = (struct cpu *)device;
    struct job job = {.cpu = cpu, .launch = launch};
    if (!launch->kernel->code) {
        cpu_library_launch(cpu, launch);
        return STATUS_OK;
    }
    if (check_shape(&job.groups, launch, err))
        return err->status;
    if (launch->cooperative && job.groups > pool_threads(cpu->pool))
        return err_set(err, ERR_UNSUPPORTED, "%llu workgroups cannot run at once: the device has %u threads",
                       (unsigned long long)job.groups, pool_threads(cpu->pool));
    /* Only fibers can run the work-items of a plain loop in another order. */
    job.lanes = launch->kernel->uses_lanes || launch->lane_order != LANES_FORWARD;
    pool_run(cpu->pool, run_part, &job);
    return job.lanes ? take_findings(cpu, err) : STATUS_OK;
}
