/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "report_internal.h"

const struct report_format report_formats[] = {
    {"table", "for people: one row per case, then the roofline", report_table},
    {"csv", "one row per case, base units, RFC 4180", report_csv},
    {"json", "the result itself, as `run --out` writes it", report_json},
    {"jsonl", "one event per line", report_jsonl},
    {NULL, NULL, NULL},
};

const struct report_format *report_format_find(const char *name)
{
    for (const struct report_format *format = report_formats; format->name; format++)
        if (!strcmp(format->name, name))
            return format;
    return NULL;
}
