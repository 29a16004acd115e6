/* SPDX-License-Identifier: MIT
 *
 * Manifests in C strings, for tests: apostrophes stand for the quotation events of JSON.
 */
#ifndef ROOFTILE_TEST_MANIFEST_TEXT_H
#define ROOFTILE_TEST_MANIFEST_TEXT_H

#include <string.h>

#include "rooftile/manifest.h"

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
