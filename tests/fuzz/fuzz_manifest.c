/* SPDX-License-Identifier: MIT
 *
 * Any bytes: a manifest or one clear error. What is accepted is then evaluated as a plan would.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "rooftile/manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void evaluate(const struct manifest *manifest, struct arena *arena)
{
    static const struct device_facts facts = {
        64, 304, 8, 1024, 65536, 2e11, 4e6, 2.1e9, 1, 0, 1, 1, .backend = "hip", .arch = "gfx942"};
    struct param_value *values = arena_array(arena, manifest->param_count, sizeof(*values));
    for (size_t i = 0; i < manifest->param_count; i++)
        values[i] = manifest->params[i].value;
    double *slots = arena_array(arena, manifest_slot_count(manifest), sizeof(*slots));
    manifest_slots(slots, manifest, values, &facts, 1);
    struct err err = {0};
    char *text;
    double number;
    for (size_t i = 0; i < manifest->define_count; i++)
        (void)template_render(&text, manifest->defines[i].value, manifest, values, slots, arena, &err);
    for (size_t i = 0; i < manifest->buffer_count; i++) {
        (void)template_render(&text, manifest->buffers[i].type, manifest, values, slots, arena, &err);
        (void)expr_eval(&number, manifest->buffers[i].count, slots, &err);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    struct err err = {0};
    const struct json *root = NULL;
    const struct manifest *manifest = NULL;
    if (!json_parse(&root, "fuzz.json", (const char *)data, size, &arena, &err)) {
        if (manifest_parse(&manifest, "fuzz.json", root, &arena, &err)) {
            assert(err.status == ERR_CONFIG && strstr(err.text, "fuzz.json:"));
            assert(!manifest);
        } else {
            evaluate(manifest, &arena);
        }
    }
    arena_release(&arena);
    return 0;
}
