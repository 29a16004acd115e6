/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "device_internal.h"

#define PAGE_BYTES ((uint64_t)4096)

/* ---- system files ---- */

size_t sysfs_read(void *to, size_t size, const char *folder, const char *name)
{
    char path[512];
    size_t length = 0;
    if (!folder[0] || snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
        return 0;
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return 0;
    for (ssize_t got = 1; got > 0 && length<size; length += got> 0 ? (size_t)got : 0)
        got = read(file, (char *)to + length, size - length);
    close(file);
    return length;
}

bool sysfs_text(char *text, size_t size, const char *folder, const char *name)
{
    size_t length = sysfs_read(text, size - 1, folder, name);
    text[length] = '\0';
    while (length && text[length - 1] == '\n')
        text[--length] = '\0';
    return length;
}

double sysfs_number(const char *folder, const char *name)
{
    char text[64];
    if (!sysfs_text(text, sizeof(text), folder, name))
        return NAN;
    char *end = NULL;
    const double value = strtod(text, &end);
    return end == text || !isfinite(value) ? NAN : value;
}

bool sysfs_find(glob_t *found, const char *folder, const char *pattern)
{
    SCOPED(text_release) struct text path = {0};
    *found = (glob_t){0};
    text_addf(&path, "%s/%s", folder, pattern);
    return glob(path.data, 0, NULL, found) == 0;
}

/* ---- lists of memory ---- */

void allocation_add(struct allocation **list, void *pointer, uint64_t size_bytes, enum device_space space)
{
    struct allocation *added = new_zeroed(1, sizeof(*added));
    *added = (struct allocation){.next = *list, .pointer = pointer, .size_bytes = size_bytes, .space = space};
    *list = added;
}

bool allocation_take(struct allocation *taken, struct allocation **list, const void *pointer)
{
    for (struct allocation **at = list; *at; at = &(*at)->next) {
        struct allocation *found = *at;
        if (found->pointer != pointer)
            continue;
        *taken = *found;
        *at = found->next;
        free(found);
        return true;
    }
    return false;
}

enum status check_events(uint32_t one, uint32_t other, struct err *err)
{
    if (one >= DEVICE_MAX_EVENTS || other >= DEVICE_MAX_EVENTS)
        return err_set(err, ERR_DEVICE, "event %u: there are %d", one > other ? one : other, DEVICE_MAX_EVENTS);
    return STATUS_OK;
}

/* ---- devices that are this process ---- */

/* Inaccessible margins surround the memory that kernels use: an access beyond the guards that are checked (plan.h)
 * crashes there. */
static const uint64_t margin_bytes = UINT64_C(256) << 20;
enum { MOST_MARGINS = 4096 }; /* a process may have 65,530 mappings */

/* Maps `size_bytes` of fresh pages between two margins, aligned to `align_bytes` by mapping more and unmapping the
 * ends. */
static void *map_aligned(uint64_t size_bytes, uint64_t align_bytes, uint64_t margin, int protection)
{
    const uint64_t all_bytes = size_bytes + align_bytes + 2 * margin;
    char *base = mmap(NULL, all_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return NULL;
    const uint64_t before = (align_bytes - (uintptr_t)base % align_bytes) % align_bytes;
    char *const first = base + before, *const end = first + size_bytes + 2 * margin;
    if (before)
        munmap(base, before);
    munmap(end, align_bytes - before);
    if (!mprotect(first + margin, size_bytes, protection))
        return first + margin;
    munmap(first, (size_t)(end - first));
    return NULL;
}

enum status host_alloc(void **pointer, struct host *host, uint64_t size_bytes, enum device_space space, int protection,
                       struct err *err)
{
    const uint64_t limit = host->limit_bytes, used = host->used_bytes, available = limit > used ? limit - used : 0;
    if (size_bytes > available)
        return err_set(err, ERR_DEVICE_MEMORY, "%llu bytes asked for, %llu available", (unsigned long long)size_bytes,
                       (unsigned long long)available);
    const uint64_t align_bytes = size_bytes >= HOST_HUGE_PAGE_BYTES ? HOST_HUGE_PAGE_BYTES : PAGE_BYTES;
    const uint64_t pages_bytes = size_bytes ? (size_bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES : PAGE_BYTES;
    struct rlimit addresses;
    const bool has_margin = protection != PROT_NONE && host->margins < MOST_MARGINS &&
                            !getrlimit(RLIMIT_AS, &addresses) && addresses.rlim_cur == RLIM_INFINITY;
    const uint64_t margin = has_margin ? margin_bytes : 0;
    void *memory = map_aligned(pages_bytes, align_bytes, margin, protection);
    if (!memory)
        return err_set(err, ERR_DEVICE_MEMORY, "the operating system refused %llu bytes",
                       (unsigned long long)size_bytes);
    allocation_add(&host->allocations, memory, pages_bytes, space);
    host->allocations->margin_bytes = margin;
    host->margins += margin > 0;
    host->used_bytes += pages_bytes;
    *pointer = memory;
    return STATUS_OK;
}

void host_free(struct device *device, void *pointer)
{
    struct host *host = (struct host *)device;
    struct allocation taken;
    if (!allocation_take(&taken, &host->allocations, pointer))
        return;
    munmap((char *)pointer - taken.margin_bytes, taken.size_bytes + 2 * taken.margin_bytes);
    host->margins -= taken.margin_bytes > 0;
    host->used_bytes -= taken.size_bytes;
}

void host_release(struct host *host)
{
    while (host->allocations)
        host_free(&host->device, host->allocations->pointer);
}

int host_count(UNUSED struct text *why)
{
    return 1;
}

enum status host_event(struct host *host, uint32_t event, double now_ns, struct err *err)
{
    if (check_events(event, event, err))
        return err->status;
    host->events_ns[event] = now_ns;
    return STATUS_OK;
}

enum status host_elapsed(double *time_ns, struct device *device, uint32_t from, uint32_t to, struct err *err)
{
    const struct host *host = (const struct host *)device;
    if (check_events(from, to, err))
        return err->status;
    *time_ns = host->events_ns[to] - host->events_ns[from];
    return STATUS_OK;
}

enum status host_wait(UNUSED struct device *device, UNUSED struct err *err)
{
    return STATUS_OK;
}
