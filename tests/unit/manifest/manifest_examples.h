/* SPDX-License-Identifier: MIT
 *
 * Two whole manifests, to be changed here and there by tests.
 */
#ifndef ROOFTILE_TEST_MANIFEST_EXAMPLES_H
#define ROOFTILE_TEST_MANIFEST_EXAMPLES_H

/* clang-format off */
/* clang-format off */
static const char triad[] =
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

static const char foreign[] =
    "{ 'name': 'flash', 'summary': 's', 'params': { 'D': 128 }, 'code': { 'image': 'my_flash_{D}.hsaco', 'symbol': "
        "'flash' },\n"
    "  'launch': { 'grid': [1], 'block': [64] } }\n";

/* clang-format on */

#endif
