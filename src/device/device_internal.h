/* SPDX-License-Identifier: MIT
 *
 * What the backends share.
 */
#ifndef ROOFTILE_DEVICE_INTERNAL_H
#define ROOFTILE_DEVICE_INTERNAL_H

#include "rooftile/device.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

/* Zeroed memory of the heap; the program ends when there is none. */
void *new_zeroed(size_t count, size_t size);

/* Memory that a device gave: an open device frees what is left of it when it is closed. */
struct allocation {
    struct allocation *next;
    void *pointer;
    uint64_t size_bytes;
    enum device_space space;
};
void allocation_add(struct allocation **list, void *pointer, uint64_t size_bytes, enum device_space space);
/* Takes a pointer out of the list; false when it is none of its. */
bool allocation_take(struct allocation *taken, struct allocation **list, const void *pointer);

enum status check_events(uint32_t one, uint32_t other, struct err *err);

/* Bytes of a file of the system below `folder`; 0 when it is missing or empty. */
size_t sysfs_read(void *to, size_t size, const char *folder, const char *name);
/* Its text, without the newlines at its end; false and "" when it cannot be read. */
bool sysfs_text(char *text, size_t size, const char *folder, const char *name);
/* A number at the beginning of a file; NaN when there is none. */
double sysfs_number(const char *folder, const char *name);

#endif
