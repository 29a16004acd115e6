/* SPDX-License-Identifier: MIT
 *
 * A small world to plan in: some kernels, a device, a machine, and suites in C strings (apostrophes for quotation
 * events).
 */
#ifndef ROOFTILE_TEST_PLAN_FIXTURE_H
#define ROOFTILE_TEST_PLAN_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>

#include "../manifest/manifest_text.h"
#include "rooftile/hash.h"
#include "rooftile/plan.h"
#include "rooftile/predictor.h"

static const char triad_text[] =
    "{ 'name': 'triad', 'summary': 's', 'class': 'memory', 'tags': ['stream'],\n"
    "  'params': { 'n': 65536, 'dtype': 'f32', 'block': 256, 'VEC': 1, 'layout': 'aos' },\n"
    "  'limits': { 'dtype': ['f32', 'f64'], 'VEC': [1, 2, 4, 16] },\n"
    "  'code': { 'source': 'triad.hip', 'symbol': 'triad', 'defines': { 'T': '{ctype(dtype)}', 'VEC': '{VEC}' } },\n"
    "  'variants': [ { 'backend': 'cpu', 'params': { 'VEC': 16 } }, { 'arch': 'gfx11*', 'params': { 'block': 64 } },\n"
    "                { 'wave': 64, 'params': { 'VEC': 2 } }, { 'backend': 'hip', 'params': { 'VEC': 4 } } ],\n"
    "  'require': [ { 'expr': 'n < 1e9', 'reason': 'n = {n} is too large' } ],\n"
    "  'buffers': { 'a': { 'type': '{dtype}', 'count': 'n', 'role': 'out' },\n"
    "               'b': { 'type': '{dtype}', 'count': 'n', 'role': 'in', 'fill': 'i % 7' } },\n"
    "  'launch': { 'grid': ['ceil_div(n, block * VEC)'], 'block': ['block'], 'args': [ 'a', 'b', { 'value': 'n', "
    "'type': 'u64' } ] },\n"
    "  'work': { 'read': 'n * bytes(dtype)', 'write': 'n * bytes(dtype)', 'flops': 'n', 'unit': 'vector_{dtype}' },\n"
    "  'check': { 'params': { 'n': 4099 }, 'expect': { 'a': 'i % 7' } } }";

static const char gemm_text[] =
    "{ 'name': 'gemm', 'summary': 's', 'class': 'compute', 'params': { 'm': 512, 'tile': 16, 'dtype': 'f32' },\n"
    "  'code': { 'source': 'gemm.hip', 'symbol': 'gemm', 'defines': { 'TILE': '{tile}' } },\n"
    "  'buffers': { 'a': { 'type': '{dtype}', 'count': 'm * m', 'role': 'in', 'fill': { 'gen': 'uniform' } },\n"
    "               'out': { 'type': '{dtype}', 'count': 'm * m', 'role': 'out' } },\n"
    "  'launch': { 'grid': ['ceil_div(m, tile)', 'ceil_div(m, tile)'], 'block': ['tile', 'tile'], 'args': [ 'a', 'out' "
    "] },\n"
    "  'work': { 'read': 'm*m*4', 'write': 'm*m*4', 'flops': '2*m*m*m', 'unit': 'vector_f32', 'footprint': 'm*m*4' },\n"
    "  'check': { 'params': { 'm': 48, 'tile': 8 },\n"
    "    'reference': { 'kernel': 'square_reference', 'output': 'out', 'rel': 'm * eps(dtype)', 'params': { 'scale': 2 "
    "},\n"
    "                'buffers': { 'x': 'a' } } } }";

static const char reference_text[] =
    "{ 'name': 'square_reference', 'summary': 's', 'class': 'compute', 'tags': ['reference'],\n"
    "  'params': { 'm': 4, 'dtype': 'f32', 'samples': 1, 'scale': 1 },\n"
    "  'code': { 'source': 'reference.hip', 'symbol': 'square_reference', 'defines': { 'T': '{ctype(dtype)}' } },\n"
    "  'buffers': { 'x': { 'type': '{dtype}', 'count': 'm * m', 'role': 'in', 'fill': '1' },\n"
    "               'index': { 'type': 'u64', 'count': 'samples', 'role': 'in', 'fill': 'i' },\n"
    "               'result': { 'type': 'f64', 'count': 'samples', 'role': 'out' } },\n"
    "  'launch': { 'grid': ['ceil_div(samples, 64)'], 'block': ['64'], 'args': [ 'x', 'index', 'result', { 'value': "
    "'samples', 'type': 'u64' } ] },\n"
    "  'work': { 'read': 'samples * m * 8', 'write': 'samples * 8', 'flops': '2 * samples * m', 'unit': 'vector_f64',"
    " 'footprint': 'm * m * 4' },\n"
    "  'check': { 'expect': { 'result': 'scale * m' } } }";

/* Two of its launches have defines of their own, one of them inside a graph, one is switched off by default; the
 * setup's are the code's. */
static const char parts_text[] =
    "{ 'name': 'parts', 'summary': 's', 'class': 'launch', 'params': { 'n': 64, 'tail': 0, 'width': 2, 'deep': 3 },\n"
    "  'code': { 'source': 'parts.hip', 'symbol': 'first', 'defines': { 'W': '{width}', 'B': '1' } },\n"
    "  'buffers': { 'a': { 'type': 'f32', 'count': 'n', 'role': 'out' },\n"
    "               'b': { 'type': 'f32', 'count': 'n', 'role': 'temp' } },\n"
    "  'setup': [ { 'launch': { 'grid': [1], 'block': [64], 'args': [ 'a' ] } } ],\n"
    "  'steps': [ { 'launch': { 'grid': [1], 'block': [64], 'args': [ 'a' ], 'defines': { 'B': '2', 'A': '{deep}' } } "
    "},\n"
    "             { 'copy': { 'to': 'a', 'from': 'b' } },\n"
    "             { 'launch': { 'grid': [1], 'block': [64], 'symbol': 'other', 'args': [ 'a' ], 'defines': {} } },\n"
    "             { 'graph': { 'steps': [ { 'launch': { 'grid': [1], 'block': [64], 'defines': { 'A': '{deep}', 'B': "
    "'2' } } } ] } },\n"
    "             { 'launch': { 'grid': [1], 'block': [64], 'defines': { 'LAST': 'x' } }, 'repeat': 'tail' } ],\n"
    "  'check': { 'expect': { 'a': '1' } } }";

struct world {
    struct arena arena;
    struct err err;
    struct catalog catalog;
    struct catalog_entry entries[4];
    struct machine machine;
    struct device_facts device;
    struct plan_options options;
    const struct suite *suite;
    struct plan *plan;
};

/* The kernel `which` is this one from now on. */
static inline enum status world_kernel(struct world *world, size_t which, const char *text)
{
    struct catalog_entry *entry = &world->entries[which];
    const enum status status = parse_text(&entry->manifest, text, &world->arena, &world->err);
    if (!status) {
        entry->name = entry->manifest->name;
        entry->hash = hash_u64(entry->name, strlen(entry->name));
    }
    return status;
}

static inline void world_init(struct world *world)
{
    static const char *const texts[] = {gemm_text, parts_text, reference_text, triad_text};
    memset(world, 0, sizeof(*world));
    for (size_t k = 0; k < 4; k++)
        if (world_kernel(world, k, texts[k])) {
            fprintf(stderr, "%s\n", world->err.text);
            abort();
        }
    world->catalog = (struct catalog){.entries = world->entries, .count = 4, .arena = &world->arena};
    world->device = (struct device_facts){.wave = 32,
                                          .cus = 8,
                                          .max_block = 1024,
                                          .lds_bytes = 65536,
                                          .memory_bytes = 0x1p34,
                                          .backend = "hip",
                                          .arch = "gfx1030"};
    world->machine.launch_ns = 5000;
    world->machine.level_count = 1;
    world->machine.levels[0].bandwidth.vendor = 1e12;
    world->options = (struct plan_options){
        .target_arch = "gfx1030", .target_kind = BUILD_AMD, .wave = 32, .cpu_target = "x86-64-v3", .cpu_wave = 64};
}

/* `cases`: the elements of "cases", with apostrophes. */
static inline enum status world_plan(struct world *world, const char *members)
{
    struct measure_options base;
    measure_defaults(&base);
    char *text = arena_printf(&world->arena, "{'name': 's', %s}", members);
    for (char *at = text; *at; at++)
        *at = *at == '\'' ? '"' : *at;
    enum status status = suite_parse(&world->suite, "s.json", text, strlen(text), &base, &world->arena, &world->err);
    if (!status)
        status = plan_build(&world->plan, &world->suite, 1, &world->catalog, &world->machine, &world->device,
                            &world->options, &world->arena, &world->err);
    return status;
}

/* The same, predicted by the stated work. */
static inline enum status world_predict(struct world *world, const char *members)
{
    struct predictor *predictor = predictor_new(1);
    enum status status = world_plan(world, members);
    if (!status)
        status = predictor_plan(world->plan, predictor, NULL, &world->machine, NULL, NULL, &world->arena, &world->err);
    predictor_free(predictor);
    return status;
}

#endif
