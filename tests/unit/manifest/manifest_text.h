/* SPDX-License-Identifier: MIT
 *
 * Manifests in C strings, for tests: apostrophes stand for the quotation events of JSON.
 */
#ifndef ROOFTILE_TEST_MANIFEST_TEXT_H
#define ROOFTILE_TEST_MANIFEST_TEXT_H

#include <string.h>

#include "rooftile/manifest.h"

/* Values of a manifest's names at its defaults, on some MI300X; NULL: they have none there. */
static inline double *slots_at_defaults(struct param_value **values, const struct manifest *manifest, double x,
                                        struct arena *arena, struct err *err)
{
    static const struct device_facts facts = {
        64, 304, 8, 1024, 65536, 2e11, 4e6, 2.1e9, 1, 0, 1, 1, .backend = "hip", .arch = "gfx942"};
    double *slots = arena_array(arena, manifest_slot_count(manifest), sizeof(*slots));
    *values = arena_array(arena, manifest->param_count, sizeof(**values));
    for (size_t i = 0; i < manifest->param_count; i++)
        if (manifest_default(&(*values)[i], &manifest->params[i], &facts, err))
            return NULL;
    manifest_slots(slots, manifest, *values, &facts, x);
    return slots;
}

static inline enum status parse_text(const struct manifest **manifest, const char *text, struct arena *arena,
                                     struct err *err)
{
    char *json = arena_strdup(arena, text);
    for (char *p = json; *p; p++)
        *p = *p == '\'' ? '"' : *p;
    const cJSON *root = NULL;
    const enum status status = json_parse(&root, "dir/m.json", json, strlen(json), arena, err);
    return status ? status : manifest_parse(manifest, "dir/m.json", root, arena, err);
}

/* The text with its first `find` replaced; NULL when there is none. */
static inline const char *replaced(const char *text, const char *find, const char *with, struct arena *arena)
{
    const char *at = strstr(text, find);
    if (!at)
        return NULL;
    return arena_printf(arena, "%.*s%s%s", (int)(at - text), text, with, at + strlen(find));
}

#endif
