/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "inspect_json.h"

void inspect_json_address(struct json_out *json, const char *key, uint64_t value)
{
    char text[32];
    snprintf(text, sizeof(text), "0x%llx", (unsigned long long)value);
    json_out_string(json, key, text);
}

void inspect_json_loop(struct json_out *json, const char *key, size_t loop)
{
    if (loop == ISA_NO_LOOP)
        json_out_null(json, key);
    else
        json_out_u64(json, key, loop + 1);
}

static void widths_json(struct json_out *json, const char *key, const uint64_t *counts)
{
    json_out_object(json, key);
    for (int width = 0; width < ISA_WIDTHS; width++) {
        char bytes[16];
        snprintf(bytes, sizeof(bytes), "%u", isa_width_bytes((enum isa_width)width));
        if (counts[width])
            json_out_u64(json, bytes, counts[width]);
    }
    json_out_end(json);
}

static void traffic_json(struct json_out *json, const struct isa_mix *mix)
{
    json_out_object(json, "traffic");
    for (int space = ISA_GLOBAL; space < ISA_SPACES; space++) {
        const struct isa_traffic *traffic = &mix->traffic[space];
        json_out_object(json, isa_space_name((enum isa_space)space));
        json_out_u64(json, "loads", traffic->loads);
        json_out_u64(json, "stores", traffic->stores);
        json_out_u64(json, "atomics", traffic->atomics);
        json_out_u64(json, "load_bytes", traffic->load_bytes);
        json_out_u64(json, "store_bytes", traffic->store_bytes);
        json_out_u64(json, "atomic_bytes", traffic->atomic_bytes);
        widths_json(json, "loads_by_bytes", traffic->loads_by_width);
        widths_json(json, "stores_by_bytes", traffic->stores_by_width);
        json_out_end(json);
    }
    json_out_end(json);
}

static void mix_json(struct json_out *json, const char *key, const struct isa_mix *mix, unsigned wave)
{
    json_out_object(json, key);
    json_out_u64(json, "instructions", mix->instructions);
    json_out_u64(json, "operations", mix->operations);
    json_out_u64(json, "code_bytes", mix->code_bytes);
    json_out_object(json, "counts");
    for (int kind = 0; kind < ISA_KINDS; kind++)
        json_out_u64(json, isa_kind_name((enum isa_kind)kind), mix->count[kind]);
    json_out_end(json);
    traffic_json(json, mix);
    json_out_u64(json, "flops_per_lane", mix->flops);
    json_out_u64(json, "ops_per_lane", mix->ops);
    json_out_u64(json, "matrix_flops_per_wave", mix->matrix_flops);
    json_out_u64(json, "matrix_ops_per_wave", mix->matrix_ops);
    json_out_u64(json, "matrix_cycles", mix->matrix_cycles);
    json_out_u64(json, "matrix_unknown", mix->matrix_unknown);
    json_out_number(json, "flops_per_wave", isa_flops_per_wave(mix, wave));
    json_out_number(json, "ops_per_wave", isa_ops_per_wave(mix, wave));
    json_out_number(json, "global_bytes_per_wave", isa_global_bytes_per_wave(mix, wave));
    json_out_number(json, "intensity", isa_intensity(mix, wave));
    json_out_end(json);
}

static void loop_json(struct json_out *json, const struct isa_loop *loop, unsigned wave)
{
    json_out_object(json, NULL);
    inspect_json_address(json, "header_address", loop->header_address);
    inspect_json_address(json, "first_address", loop->first_address);
    inspect_json_address(json, "last_address", loop->last_address);
    inspect_json_loop(json, "parent", loop->parent);
    json_out_u64(json, "depth", loop->depth);
    json_out_bool(json, "innermost", loop->is_innermost);
    mix_json(json, "own", &loop->own, wave);
    mix_json(json, "inclusive", &loop->inclusive, wave);
    json_out_end(json);
}

static void hot_json(struct json_out *json, const struct isa_kernel *isa)
{
    struct arena scratch = {0};
    struct isa_hot hot;
    if (isa_hot_find(&hot, isa, &scratch)) {
        json_out_object(json, "hot_loop");
        inspect_json_loop(json, "loop", hot.loop);
        json_out_string(json, "instruction", hot.instruction);
        json_out_number(json, "share", hot.share);
        json_out_u64(json, "work", hot.work);
        json_out_end(json);
    } else {
        json_out_null(json, "hot_loop");
    }
    arena_release(&scratch);
}

void inspect_json_code(struct json_out *json, const struct isa_kernel *isa)
{
    if (!isa) {
        json_out_null(json, "code");
        return;
    }
    json_out_object(json, "code");
    json_out_u64(json, "calls", isa->calls);
    json_out_u64(json, "unknown_words", isa->unknown);
    mix_json(json, "mix", &isa->mix, isa->symbol.wave);
    json_out_array(json, "loops");
    for (size_t k = 0; k < isa->loop_count; k++)
        loop_json(json, &isa->loops[k], isa->symbol.wave);
    json_out_end(json);
    hot_json(json, isa);
    json_out_end(json);
}
