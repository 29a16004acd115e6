/* SPDX-License-Identifier: MIT
 *
 * What the backends share (host.c).
 */
#ifndef ROOFTILE_DEVICE_INTERNAL_H
#define ROOFTILE_DEVICE_INTERNAL_H

#include <glob.h>

#include "rooftile/device.h"

/* Fills an array of characters, cut at its end. ADD_TEXT appends, after ", " unless the array is empty. */
#define SET_TEXT(array, ...) snprintf((array), sizeof(array), __VA_ARGS__)
#define ADD_TEXT(array, ...) text_append((array), sizeof(array), ", ", __VA_ARGS__)

/* Bytes of a file of the system below `folder`; 0 when it is missing or empty. */
size_t sysfs_read(void *to, size_t size, const char *folder, const char *name);
/* Its text, without the newlines at its end; false and "" when it cannot be read. */
bool sysfs_text(char *text, size_t size, const char *folder, const char *name);
/* A number at the beginning of a file; NaN when there is none. */
double sysfs_number(const char *folder, const char *name);

/* Of a file of lines "name value", a whole number. */
bool sysfs_property(uint64_t *value, const char *text, const char *name);

/* Whether there is anything of this pattern of the shell below `folder`; sorted. globfree's in any case. */
bool sysfs_find(glob_t *found, const char *folder, const char *pattern);

/* Memory that a device allocated: what is left of it is freed when the device is closed. */
struct allocation {
    struct allocation *next;
    void *pointer;
    uint64_t size_bytes;
    uint64_t margin_bytes; /* before and behind it, which nothing may touch */
    enum device_space space;
};
void allocation_add(struct allocation **list, void *pointer, uint64_t size_bytes, enum device_space space);
/* Takes a pointer out of the list; false when it is not in it. */
bool allocation_take(struct allocation *taken, struct allocation **list, const void *pointer);

enum status check_events(uint32_t one, uint32_t other, struct err *err);

/* ---- devices that are this process: cpu and sim begin with it ---- */

struct host {
    struct device device; /* first */
    uint64_t limit_bytes, used_bytes;
    struct allocation *allocations; /* whole pages */
    uint32_t margins;               /* so many of them have one */
    double events_ns[DEVICE_MAX_EVENTS];
};

#define HOST_HUGE_PAGE_BYTES ((uint64_t)2 << 20)

/* Fresh pages, with PROT_NONE addresses that nothing may touch; from HOST_HUGE_PAGE_BYTES on aligned to that. */
enum status host_alloc(void **pointer, struct host *host, uint64_t size_bytes, enum device_space space, int protection,
                       struct err *err);
void host_release(struct host *host); /* all memory that is left */
enum status host_event(struct host *host, uint32_t event, double now_ns, struct err *err);

/* Operations of device_ops. There is one such device, and what it does is done when the call returns. */
int host_count(struct text *why);
void host_free(struct device *device, void *pointer);
enum status host_elapsed(double *time_ns, struct device *device, uint32_t from, uint32_t to, struct err *err);
enum status host_wait(struct device *device, struct err *err);

#endif
