/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "cpu.h"

/* The dynamic linker's own way to a thread's copy of a module's thread-local storage; makes it when it is not there
 * yet. */
struct tls_index {
    unsigned long module, offset;
};
extern void *__tls_get_addr(struct tls_index *index);

void *cpu_module_lds(const struct device_module *module)
{
    struct tls_index index = {.module = module->lds_module};
    return module->lds_bytes ? __tls_get_addr(&index) : NULL;
}

static int find_lds(struct dl_phdr_info *object, size_t size, void *context)
{
    struct device_module *module = context;
    (void)size;
    if (object->dlpi_tls_modid != module->lds_module)
        return 0;
    for (size_t i = 0; i < object->dlpi_phnum; ++i)
        if (object->dlpi_phdr[i].p_type == PT_TLS)
            module->lds_bytes = object->dlpi_phdr[i].p_memsz;
    return 1;
}

/* Each thread's LDS exists before the first launch: nothing may allocate in one. */
static void touch_lds(void *context, uint32_t part, uint32_t parts)
{
    const struct device_module *module = context;
    (void)part;
    (void)parts;
    memset(cpu_module_lds(module), 0, module->lds_bytes);
}

/* A place that waits, in the plain code of a kernel, makes that kernel use lanes; one outside of all of them (a
 * function that was not inlined) makes every kernel of the module use lanes, as any may call it. */
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

static void read_table(struct device_module *module)
{
    const struct simt_module *table = module->table;
    module->kernel_count = (size_t)(table->kernels_end - table->kernels);
    module->kernels = new_zeroed(module->kernel_count + 1, sizeof(*module->kernels));
    for (size_t i = 0; i < module->kernel_count; ++i)
        module->kernels[i] = (struct device_kernel){.code = &table->kernels[i], .module = module};
    for (const simt_site *site = table->sites; site != table->sites_end; ++site)
        assign_site(module, (const char *)site + *site);
}

static enum status check_table(const struct simt_module *table, const struct cpu *cpu, const char *path,
                               struct err *err)
{
    if (!table)
        return err_set(err, ERR_DEVICE, "%s: not a kernel module for the CPU device", path);
    if (table->abi_version != SIMT_ABI_VERSION)
        return err_set(err, ERR_DEVICE, "%s: built for another version of the driver (interface %u, this is %u)", path,
                       table->abi_version, SIMT_ABI_VERSION);
    if (table->wave != cpu->wave)
        return err_set(err, ERR_DEVICE, "%s: built for waves of %u, the device has %u", path, table->wave, cpu->wave);
    return STATUS_OK;
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
    status = check_table(module->table, cpu, path, err);
    if (status)
        goto out;
    read_table(module);
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
    cpu_libraries_settle((struct cpu *)device);
    if (module->handle)
        dlclose(module->handle);
    free(module->kernels);
    free(module);
}

static void describe(struct kernel_info *info, const struct device_kernel *kernel)
{
    *info = (struct kernel_info){
        .arg_count = kernel->code->arg_count,
        .lds_bytes = (uint32_t)kernel->module->lds_bytes,
        .uses_lanes = kernel->uses_lanes,
    };
    for (uint32_t i = 0; i < info->arg_count; ++i) {
        info->args[i].size_bytes = kernel->code->args[i].size_bytes;
        info->args[i].is_pointer = kernel->code->args[i].is_pointer != 0;
    }
}

enum status cpu_module_kernel(const struct device_kernel **kernel, struct kernel_info *info, struct device *device,
                              struct device_module *module, const char *symbol, struct err *err)
{
    (void)device;
    if (module->library)
        return cpu_library_kernel(kernel, info, module, symbol, err);
    for (size_t i = 0; i < module->kernel_count; ++i) {
        if (strcmp(module->kernels[i].code->name, symbol) != 0)
            continue;
        if (module->kernels[i].code->arg_count > DEVICE_MAX_ARGS)
            return err_set(err, ERR_DEVICE, "kernel '%s' has %u arguments: at most %d", symbol,
                           module->kernels[i].code->arg_count, DEVICE_MAX_ARGS);
        describe(info, &module->kernels[i]);
        *kernel = &module->kernels[i];
        return STATUS_OK;
    }
    struct text names = {0};
    for (size_t i = 0; i < module->kernel_count; ++i)
        text_addf(&names, "%s%s", i ? ", " : "", module->kernels[i].code->name);
    err_set(err, ERR_DEVICE, "no kernel '%s' in the module; it exports %s", symbol, names.length ? names.data : "none");
    text_release(&names);
    return ERR_DEVICE;
}
