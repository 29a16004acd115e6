/* SPDX-License-Identifier: MIT
 *
 * What the backends over a vendor's library share: functions are looked up by a table, and devices are counted in a
 * child process, because such a library starts threads and may hang, die, or spoil a later fork.
 */
#ifndef ROOFTILE_DEVICE_VENDOR_H
#define ROOFTILE_DEVICE_VENDOR_H

#include <stdbool.h>
#include <stddef.h>

#include "rooftile/text.h"

struct vendor_symbol {
    const char *name;
    size_t offset; /* of the function pointer, in the structure that is filled */
    bool required;
};

/* Fills `api`, which is zeroed, with what `handle` of dlopen has. False when required functions are missing: `missing`
 * gets their names, or "all functions of `whole`" where the library is quite another one. */
bool vendor_find_symbols(void *api, void *handle, const struct vendor_symbol *symbols, size_t count, const char *whole,
                         struct text *missing);

/* Counts in a child process, which gets `timeout_ms`; `count_here`, given `context`, says why when it finds none. 0,
 * with the reason, for a child that dies or is late; `library` names what it was busy with. */
int vendor_count(struct text *why, const char *library, int (*count_here)(struct text *why, const void *context),
                 const void *context, int timeout_ms);

/* True when a device file is there and this user may not use it, which is then added to `why`. */
bool vendor_explain_permission(struct text *why, const char *path);

#endif
