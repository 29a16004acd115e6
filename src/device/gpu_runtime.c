/* SPDX-License-Identifier: MIT */
#include <grp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpu.h"

/* ---- finding the library ---- */

struct gpu *gpu_new(const struct gpu_vendor *vendor)
{
    struct gpu *gpu = new_zeroed(1, sizeof(*gpu));
    gpu->device.ops = vendor->ops;
    gpu->vendor = vendor;
    return gpu;
}

enum status gpu_find_library(struct gpu *gpu, struct err *err)
{
    if (!library_open(&gpu->library, &gpu->api, &gpu->vendor->place, err))
        return STATUS_OK;
    err->status = ERR_DEVICE_LOST;
    return err->status;
}

static const char *gpu_lacks(const struct gpu *gpu, enum gpu_feature feature)
{
    for (const struct library_symbol *row = gpu->vendor->place.symbols; row->name; ++row) {
        void *function;
        memcpy(&function, (const char *)&gpu->api + row->offset, sizeof(function));
        if (row->need == feature && !function)
            return row->name;
    }
    return NULL;
}

enum status gpu_require(const struct gpu *gpu, enum gpu_feature feature, struct err *err)
{
    const char *missing = gpu_lacks(gpu, feature);
    return missing ? err_set(err, ERR_UNSUPPORTED, "%s lacks %s", gpu->library.path, missing) : STATUS_OK;
}

/* ---- starting it ---- */

/* Returns true if a device file exists and this user may not open it. */
static bool explain_permission(struct text *why, const char *path)
{
    struct stat file;
    if (stat(path, &file) || access(path, R_OK | W_OK) == 0)
        return false;
    const struct group *group = getgrgid(file.st_gid);
    text_addf(why, ": no permission on %s (mode %04o, group %s)", path, (unsigned)file.st_mode & 07777u,
              group ? group->gr_name : "unknown");
    return true;
}

void gpu_explain_absence(struct text *why, const struct gpu_vendor *vendor, const char *dev)
{
    bool explained = false;
    for (const struct gpu_device_file *file = vendor->files; file->pattern && !explained; ++file) {
        glob_t nodes;
        if (sysfs_find(&nodes, dev, file->pattern))
            for (size_t i = 0; i < nodes.gl_pathc && !explained; ++i)
                explained = explain_permission(why, nodes.gl_pathv[i]);
        else if ((explained = file->means != NULL))
            text_addf(why, ": there is no %s/%s (%s)", dev, file->name, file->means);
        globfree(&nodes);
    }
    for (const char *const *mask = vendor->masks; *mask; ++mask)
        if (getenv(*mask))
            text_addf(why, "; %s=%s selects devices", *mask, getenv(*mask));
}

static enum status count_devices(struct gpu *gpu, gpu_error *code, struct err *err)
{
    int count = 0;
    if (gpu->vendor->setting[0])
        setenv(gpu->vendor->setting[0], gpu->vendor->setting[1], 0);
    *code = gpu->api.init(0);
    if (GPU_CHECK(gpu, err, init, *code))
        return err->status;
    *code = gpu->api.count(&count);
    if (GPU_CHECK(gpu, err, count, *code))
        return err->status;
    *code = count > 0 ? GPU_SUCCESS : GPU_NO_DEVICE;
    gpu->count = count < GPU_MAX_DEVICES ? count : GPU_MAX_DEVICES;
    for (int i = 0; i < gpu->count; ++i) {
        gpu->handles[i] = i;
        if (gpu->api.cuDeviceGet && GPU_TRY(gpu, err, cuDeviceGet, &gpu->handles[i], i))
            return err->status;
    }
    return STATUS_OK;
}

enum status gpu_start(struct gpu *gpu, struct err *err)
{
    struct err cause = {0};
    SCOPED(text_release) struct text why = {0};
    gpu_error code = GPU_SUCCESS;
    const enum status status = count_devices(gpu, &code, &cause);
    if (!status && gpu->count > 0)
        return STATUS_OK;
    gpu->count = 0;
    text_addf(&why, "%s finds no GPU%s%s", gpu->library.path, status ? ", " : "", cause.text);
    /* Adds what the library's own message leaves out. */
    for (const struct gpu_hint *hint = gpu->vendor->hints; hint->code; ++hint) {
        if (hint->code != code)
            continue;
        if (hint->files)
            gpu_explain_absence(&why, gpu->vendor, "/dev");
        if (hint->means)
            text_addf(&why, ": %s", hint->means);
    }
    err_set(err, ERR_DEVICE_LOST, "%s", why.data);
    return ERR_DEVICE_LOST;
}

/* ---- counting in a child ---- */

struct answer {
    bool known;
    int count;
    char why[2000];
};

/* This process ends after `timeout_ms`, whatever the library does. */
_Noreturn static void child_main(struct answer *answer, const struct gpu_vendor *vendor, int timeout_ms)
{
    const struct itimerval timer = {.it_value = {timeout_ms / 1000, timeout_ms % 1000 * 1000}};
    struct gpu *gpu = gpu_new(vendor);
    struct err err = {0};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGALRM, SIG_DFL);
    setitimer(ITIMER_REAL, &timer, NULL);
    dup2(STDERR_FILENO, STDOUT_FILENO); /* output of a library is not part of the result */
    if (gpu_find_library(gpu, &err) || gpu_start(gpu, &err))
        SET_TEXT(answer->why, "%s", err.text);
    answer->count = gpu->count;
    answer->known = true;
    _exit(0); /* skips the library's destructors */
}

int gpu_count(struct text *why, const struct gpu_vendor *vendor, int timeout_ms)
{
    int wait_status = 0;
    struct answer *answer = mmap(NULL, sizeof(*answer), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (answer == MAP_FAILED)
        arena_out_of_memory(sizeof(*answer));
    const pid_t child = fork();
    if (child == 0)
        child_main(answer, vendor, timeout_ms);
    while (child > 0 && waitpid(child, &wait_status, 0) < 0 && errno == EINTR)
        ;
    const int count = answer->known ? answer->count : 0;
    if (child < 0)
        text_addf(why, "cannot start a process: %s", strerror(errno));
    else if (answer->known)
        text_add(why, answer->why);
    else if (WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGALRM)
        text_addf(why, "%s did not count its devices within %.3g s", vendor->library, timeout_ms / 1e3);
    else if (WIFSIGNALED(wait_status))
        text_addf(why, "%s died of SIG%s while counting its devices", vendor->library,
                  sigabbrev_np(WTERMSIG(wait_status)));
    else
        text_addf(why, "%s ended the process (exit code %d) while counting its devices", vendor->library,
                  WEXITSTATUS(wait_status));
    munmap(answer, sizeof(*answer));
    return count;
}

/* ---- device facts ---- */

static enum status read_facts(uint32_t facts[static GPU_FACTS], const struct gpu *gpu, struct err *err)
{
    for (size_t i = 0; i < GPU_FACTS; ++i) {
        const struct gpu_attribute *asked = &gpu->vendor->attributes[i];
        struct err why = {0};
        int value = 0;
        facts[i] = 0;
        if (!asked->attribute)
            continue;
        const enum status status = GPU_TRY(gpu, &why, attribute, &value, asked->attribute, gpu->handles[gpu->index]);
        if (asked->rule != UNKNOWN_IS_0 && status)
            return err_set(err, status, "%s of attribute %u", why.text, asked->attribute);
        if (asked->rule != UNKNOWN_IS_0 && (value < 0 || (!value && asked->rule == MUST_BE_KNOWN)))
            return err_set(err, ERR_DEVICE, "attribute %u of the device is %d", asked->attribute, value);
        facts[i] = status || value < 0 ? 0 : (uint32_t)value;
    }
    return STATUS_OK;
}

static void fill_facts(struct device_info *info, const uint32_t facts[static GPU_FACTS])
{
    info->wave = facts[FACT_WAVE];
    info->cus = facts[FACT_PHYSICAL_UNITS] ? facts[FACT_PHYSICAL_UNITS] : facts[FACT_UNITS];
    info->xccs = facts[FACT_XCCS];
    info->max_block = facts[FACT_BLOCK];
    for (int i = 0; i < 3; ++i)
        info->max_grid[i] = facts[FACT_GRID_X + i] ? facts[FACT_GRID_X + i] : INT32_MAX;
    info->cooperative = facts[FACT_TOGETHER] != 0;
    info->lds_bytes = facts[FACT_LDS];
    info->core_hz = facts[FACT_CORE_KHZ] * 1e3;
    info->memory_hz = facts[FACT_MEMORY_KHZ] * 1e3;
    if (facts[FACT_L2])
        info->caches[info->cache_count++] = (struct device_cache){
            .name = "L2", .size_bytes = facts[FACT_L2], .instances = facts[FACT_XCCS] ? facts[FACT_XCCS] : 1};
}

/* The kinds of memory that the device lacks are known before any is requested. */
static void fill_spaces(struct device_info *info, const struct gpu *gpu, const uint32_t facts[static GPU_FACTS])
{
    info->index = (uint32_t)gpu->index;
    info->peers = (uint32_t)(gpu->count - 1);
    info->rank = gpu->ranks ? gpu->ranks->rank : 0;
    info->ranks = gpu->ranks ? gpu->ranks->world : 1;
    info->lacks_spaces = gpu->vendor->lacks_spaces;
    for (enum device_space space = 0; space < DEVICE_SPACES; space++)
        if (gpu_lacks(gpu, gpu_feature_of(space)))
            info->lacks_spaces |= SPACE_BIT(space);
    if (!facts[FACT_MANAGED])
        info->lacks_spaces |= SPACE_BIT(SPACE_MANAGED);
    if (gpu->count < 2 && !gpu->ranks)
        info->lacks_spaces |= SPACE_BIT(SPACE_PEER);
    /* Without it, pinned memory has different addresses on the host and the device. */
    if (gpu->vendor->attributes[FACT_UNIFIED].attribute && !facts[FACT_UNIFIED])
        info->lacks_spaces |= SPACE_BIT(SPACE_PINNED) | SPACE_BIT(SPACE_PINNED_FAR);
    /* With HMM (on AMD, also XNACK), or if the device uses the host's page tables, kernels can access memory from
     * malloc. */
    if (!facts[FACT_PAGEABLE])
        info->lacks_kernel_spaces = SPACE_BIT(SPACE_PAGEABLE);
}

enum status gpu_describe(struct device_info *info, struct gpu *gpu, struct err *err)
{
    const struct gpu_vendor *vendor = gpu->vendor;
    struct device_info found = {0};
    uint32_t facts[GPU_FACTS];
    size_t free_bytes, total_bytes;
    if (read_facts(facts, gpu, err) ||
        GPU_TRY(gpu, err, name, found.name, (int)sizeof(found.name), gpu->handles[gpu->index]) ||
        GPU_TRY(gpu, err, memory_info, &free_bytes, &total_bytes))
        return err->status;
    SET_TEXT(found.backend, "%s", vendor->ops->name);
    SET_TEXT(found.id, "%s:%d", vendor->ops->name, gpu->index);
    found.memory_bytes = total_bytes;
    found.memory_free_bytes = free_bytes;
    fill_facts(&found, facts);
    fill_spaces(&found, gpu, facts);
    struct err ignored = {0};
    /* The operating system's address of the card; "" if unknown. */
    if (!gpu->api.pci_bus_id ||
        GPU_TRY(gpu, &ignored, pci_bus_id, found.pci_bdf, (int)sizeof(found.pci_bdf), gpu->handles[gpu->index]))
        found.pci_bdf[0] = '\0';
    if (vendor->describe(&found, gpu, facts, err))
        return err->status;
    telemetry_open(&gpu->telemetry, found.pci_bdf);
    telemetry_describe(&found, &gpu->telemetry, vendor->pci_vendor);
    topology_describe(&found, &gpu->telemetry);
    gpu->far_node = found.pcie.far_node;
    if (!gpu->far_node)
        found.lacks_spaces |= SPACE_BIT(SPACE_PINNED_FAR);
    if (!found.name[0]) /* the driver has no product name for this id */
        SET_TEXT(found.name, "%s", found.arch);
    *info = found;
    return STATUS_OK;
}
