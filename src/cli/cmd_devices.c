/* SPDX-License-Identifier: MIT */
#include <unistd.h>

#include "devices.h"

int cmd_devices(const struct cli_options *options, struct arena *arena)
{
    struct device_list list = {0};
    struct err err = {0};
    struct text text = {0};
    devices_find(&list, options->names, arena);
    if (options->names) {
        for (size_t k = 0; k < list.backend_count; k++)
            for (size_t d = 0; d < list.backends[k].device_count; d++)
                text_addf(&text, "%s\n", list.backends[k].devices[d].id);
    } else if (options->json) {
        devices_json(&text, &list);
    } else {
        devices_text(&text, &list, cli_columns(STDOUT_FILENO), log_use_color(STDOUT_FILENO));
    }
    const enum status status = cli_write(options->names ? NULL : options->json, &text, &err);
    text_release(&text);
    return status ? cli_fail(&err) : 0;
}
