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
    const struct json *root = NULL;
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

/* clang-format off */
/* clang-format off */
static const char __attribute__((unused)) triad[] =
    "{ 'name': 'stream_triad', 'summary': 'a = b + s*c, VEC elements per lane',\n"
    "  'params':  { 'n': 268435456, 'dtype': 'f32', 'block': 256, 'VEC': 4 },\n"
    "  'code':    { 'source': 'stream.hip', 'symbol': 'stream_triad', 'defines': { 'T': '{ctype(dtype)}', 'VEC': "
        "'{VEC}' } },\n"
    "  'buffers': { 'a': { 'type': '{dtype}', 'count': 'n', 'role': 'out' },\n"
    "               'b': { 'type': '{dtype}', 'count': 'n', 'role': 'in', 'fill': 'i % 7' },\n"
    "               'c': { 'type': '{dtype}', 'count': 'n', 'role': 'in', 'fill': 'i % 5' } },\n"
    "  'launch':  { 'grid': ['ceil_div(n, block*VEC)'], 'block': ['block'],\n"
    "               'args': [ 'a', 'b', 'c', { 'value': '3', 'type': '{dtype}' }, { 'value': 'n', 'type': 'u64' } ] "
        "},\n"
    "  'work':    { 'read': '2*n*bytes(dtype)', 'write': 'n*bytes(dtype)', 'flops': '2*n', 'unit': 'vector_{dtype}' "
        "},\n"
    "  'check':   { 'params': { 'n': 4099 }, 'expect': { 'a': 'i % 7 + 3 * (i % 5)' } } }\n";

static const char __attribute__((unused)) foreign[] =
    "{ 'name': 'flash', 'summary': 's', 'params': { 'D': 128 }, 'code': { 'image': 'my_flash_{D}.hsaco', 'symbol': "
        "'flash' },\n"
    "  'launch': { 'grid': [1], 'block': [64] } }\n";

/* clang-format on */

#endif
