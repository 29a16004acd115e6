/* SPDX-License-Identifier: MIT
 *
 * Declarations shared by the backends (host.c).
 */
#ifndef ROOFTILE_DEVICE_INTERNAL_H
#define ROOFTILE_DEVICE_INTERNAL_H

#include <glob.h>

#include "rooftile/device.h"

/* Formats into an array of characters, truncated at its end. ADD_TEXT appends, after ", " unless the array is empty. */
#define SET_TEXT(array, ...) snprintf((array), sizeof(array), __VA_ARGS__)
#define ADD_TEXT(array, ...) text_append((array), sizeof(array), ", ", __VA_ARGS__)

/* Returns the number of bytes read from a system file below `folder`; 0 if it is missing or empty. */
size_t sysfs_read(void *to, size_t size, const char *folder, const char *name);
/* Reads its text without trailing newlines; false and "" if it cannot be read. */
bool sysfs_text(char *text, size_t size, const char *folder, const char *name);
/* Returns the number at the beginning of a file; NaN if there is none. */
double sysfs_number(const char *folder, const char *name);

/* Reads a whole number from text with lines "name value". */
bool sysfs_property(uint64_t *value, const char *text, const char *name);

/* Finds files below `folder` that match a shell pattern, sorted; false if there are none. The caller always calls
 * globfree. */
bool sysfs_find(glob_t *found, const char *folder, const char *pattern);

/* Memory allocated by a device. What remains is freed when the device is closed. */
struct allocation {
    struct allocation *next;
    void *pointer;
    uint64_t size_bytes;
    uint64_t margin_bytes; /* inaccessible bytes before and after it */
    enum device_space space;
};
void allocation_add(struct allocation **list, void *pointer, uint64_t size_bytes, enum device_space space);
/* Removes a pointer from the list; false if it is not in the list. */
bool allocation_take(struct allocation *taken, struct allocation **list, const void *pointer);

enum status check_events(uint32_t one, uint32_t other, struct err *err);

/* ---- devices that are this process: cpu and sim begin with struct host ---- */

struct host {
    struct device device; /* must be first */
    uint64_t limit_bytes, used_bytes;
    struct allocation *allocations; /* whole pages */
    uint32_t margins;               /* number of allocations with a margin */
    double events_ns[DEVICE_MAX_EVENTS];
};

#define HOST_HUGE_PAGE_BYTES ((uint64_t)2 << 20)

/* Allocates fresh pages; PROT_NONE makes inaccessible addresses. From HOST_HUGE_PAGE_BYTES on, aligned to that size. */
enum status host_alloc(void **pointer, struct host *host, uint64_t size_bytes, enum device_space space, int protection,
                       struct err *err);
void host_release(struct host *host); /* frees all remaining memory */
enum status host_event(struct host *host, uint32_t event, double now_ns, struct err *err);

/* Operations of device_ops. There is exactly one such device, and its operations are complete when the call returns. */
int host_count(struct text *why);
void host_free(struct device *device, void *pointer);
enum status host_elapsed(double *time_ns, struct device *device, uint32_t from, uint32_t to, struct err *err);
enum status host_wait(struct device *device, struct err *err);

#endif
