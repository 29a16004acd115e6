/* SPDX-License-Identifier: MIT
 *
 * Devices as `rooftile devices` shows them: every backend, what it can open, or exactly why it is off.
 */
#ifndef ROOFTILE_DEVICES_H
#define ROOFTILE_DEVICES_H

#include "cli.h"
#include "rooftile/device.h"
#include "rooftile/machine.h"

struct listed_device {
    const char *id;      /* as --device takes it */
    const char *problem; /* why it cannot be used; NULL: it can */
    struct device_info info;
    double bandwidth; /* of its memory, from a machine file; 0 unknown */
};

struct listed_backend {
    const struct device_ops *ops;
    const char *why_off; /* NULL: there are devices */
    struct listed_device *devices;
    size_t device_count;
};

struct device_list {
    struct listed_backend *backends;
    size_t backend_count;
    const char *default_id, *default_reason;
};

/* With `names_only` no device is opened, and nothing but ids is filled. */
void devices_find(struct device_list *list, bool names_only, struct arena *arena);

void devices_text(struct text *out, const struct device_list *list, unsigned columns, bool color);
void devices_json(struct text *out, const struct device_list *list);

#endif
