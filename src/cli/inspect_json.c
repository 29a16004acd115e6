/* SPDX-License-Identifier: MIT */
#include "inspect_json.h"

#include "inspect.h"

#define SCHEMA "https://rooftile.dev/schemas/inspect/1/inspect.schema.json"
#define SCHEMA_VERSION "1.0.0"

static void optional(struct json_out *json, const char *key, const char *text)
{
    json_out_string(json, key, text && text[0] ? text : NULL);
}

/* ---- a kernel ---- */

static void arguments_json(struct json_out *json, const struct codeobj_kernel *code)
{
    json_out_array(json, "arguments");
    for (size_t k = 0; k < code->arg_count; k++) {
        const struct codeobj_arg *arg = &code->args[k];
        json_out_object(json, NULL);
        optional(json, "name", arg->name);
        optional(json, "type", arg->type);
        json_out_u64(json, "offset_bytes", arg->offset_bytes);
        json_out_u64(json, "size_bytes", arg->size_bytes);
        json_out_string(json, "kind", arg->value_kind);
        json_out_bool(json, "hidden", arg->hidden);
        optional(json, "address_space", arg->address_space);
        optional(json, "access", arg->access);
        json_out_end(json);
    }
    json_out_end(json);
}

static void registers_json(struct json_out *json, const struct codeobj_kernel *code)
{
    json_out_object(json, "registers");
    const struct {
        const char *key;
        uint32_t count;
    } counts[] = {{"vgprs", code->vgpr_count},
                  {"agprs", code->agpr_count},
                  {"sgprs", code->sgpr_count},
                  {"vgpr_spills", code->vgpr_spills},
                  {"sgpr_spills", code->sgpr_spills}};
    for (size_t k = 0; k < sizeof(counts) / sizeof(*counts); k++)
        if (code->is_ptx)
            json_out_null(json, counts[k].key);
        else
            json_out_u64(json, counts[k].key, counts[k].count);
    if (code->spill_bytes_known) {
        json_out_u64(json, "spill_store_bytes", code->spill_store_bytes);
        json_out_u64(json, "spill_load_bytes", code->spill_load_bytes);
    } else {
        json_out_null(json, "spill_store_bytes");
        json_out_null(json, "spill_load_bytes");
    }
    if (code->has_descriptor && code->allocated_vgprs)
        json_out_u64(json, "vgprs_allocated", code->allocated_vgprs);
    else
        json_out_null(json, "vgprs_allocated");
    json_out_end(json);
}

static void counts_by_limiter(struct json_out *json, const struct occupancy *o)
{
    static const char *const keys[LIMITER_COUNT] = {[LIMITER_VGPRS] = "vgprs",
                                                    [LIMITER_SGPRS] = "sgprs",
                                                    [LIMITER_LDS] = "lds",
                                                    [LIMITER_WAVES] = "waves",
                                                    [LIMITER_BARRIERS] = "barriers"};
    json_out_object(json, "workgroups_by");
    for (int k = 0; k < LIMITER_COUNT; k++)
        if (o->workgroups_by[k] == OCCUPANCY_UNLIMITED)
            json_out_null(json, keys[k]);
        else
            json_out_u64(json, keys[k], o->workgroups_by[k]);
    json_out_end(json);
    json_out_array(json, "limited_by");
    for (int k = 0; k < LIMITER_COUNT; k++)
        if (o->limited_by[k])
            json_out_string(json, NULL, keys[k]);
    json_out_end(json);
}

static void raise_json(struct json_out *json, const struct occupancy *o)
{
    if (o->raise.workgroups <= o->workgroups) {
        json_out_null(json, "raise");
    } else {
        json_out_object(json, "raise");
        json_out_u64(json, "vgprs_fewer", o->raise.vgprs);
        json_out_u64(json, "sgprs_fewer", o->raise.sgprs);
        json_out_u64(json, "lds_bytes_less", o->raise.lds_bytes);
        json_out_u64(json, "workgroups", o->raise.workgroups);
        json_out_number(json, "waves_per_simd", o->raise.waves_per_simd);
        json_out_end(json);
    }
    if (o->better_block)
        json_out_u64(json, "better_block", o->better_block);
    else
        json_out_null(json, "better_block");
}

static void occupancy_json(struct json_out *json, const struct inspect_kernel *kernel)
{
    const struct occupancy *o = &kernel->occupancy;
    json_out_string(json, "occupancy_problem", kernel->occupancy_problem);
    if (kernel->occupancy_problem) {
        json_out_null(json, "occupancy");
        return;
    }
    json_out_object(json, "occupancy");
    json_out_u64(json, "block", kernel->block);
    json_out_string(json, "block_source", kernel->block_source);
    json_out_u64(json, "dynamic_lds_bytes", kernel->dynamic_lds_bytes);
    json_out_string(json, "unit", o->wgp_mode ? "WGP" : o->limits->words->unit);
    json_out_u64(json, "simds", o->simds);
    json_out_u64(json, "waves_per_simd_max", o->waves_max);
    json_out_u64(json, "vgprs", o->vgprs);
    json_out_u64(json, "vgprs_allocated", o->vgprs_allocated);
    json_out_u64(json, "lds_bytes_allocated", o->lds_allocated);
    json_out_u64(json, "waves_by_vgprs", o->waves_by_vgprs);
    json_out_u64(json, "waves_by_sgprs", o->waves_by_sgprs);
    json_out_u64(json, "waves_per_workgroup", o->waves_per_workgroup);
    json_out_u64(json, "workgroups", o->workgroups);
    json_out_u64(json, "waves", o->waves);
    json_out_number(json, "waves_per_simd", o->waves_per_simd);
    counts_by_limiter(json, o);
    raise_json(json, o);
    json_out_end(json);
}

static void findings_json(struct json_out *json, const struct inspect_kernel *kernel)
{
    json_out_array(json, "findings");
    for (size_t k = 0; k < kernel->finding_count; k++) {
        const struct isa_finding *finding = &kernel->findings[k];
        json_out_object(json, NULL);
        json_out_string(json, "code", finding->code);
        json_out_string(json, "severity", isa_severity_name(finding->severity));
        inspect_json_loop(json, "loop", finding->loop);
        if (finding->address)
            inspect_json_address(json, "address", finding->address);
        else
            json_out_null(json, "address");
        json_out_string(json, "what", finding->what);
        optional(json, "advice", finding->advice);
        json_out_end(json);
    }
    json_out_end(json);
}

static void kernel_json(struct json_out *json, const struct inspect_kernel *kernel)
{
    const struct codeobj_kernel *code = kernel->code;
    json_out_object(json, NULL);
    json_out_string(json, "name", code->name);
    json_out_string(json, "symbol", code->symbol);
    arguments_json(json, code);
    registers_json(json, code);
    json_out_u64(json, "wave", code->wave);
    json_out_bool(json, "wgp_mode", kernel->occupancy.wgp_mode);
    json_out_u64(json, "lds_bytes", code->group_segment_bytes);
    if (code->is_ptx)
        json_out_null(json, "scratch_bytes");
    else
        json_out_u64(json, "scratch_bytes", code->private_segment_bytes);
    json_out_bool(json, "dynamic_stack", code->uses_dynamic_stack);
    json_out_u64(json, "barriers", code->barriers);
    json_out_u64(json, "kernarg_bytes", code->kernarg_bytes);
    json_out_u64(json, "max_block", code->max_block);
    json_out_array(json, "required_block");
    for (int k = 0; k < 3 && code->required_block[0]; k++)
        json_out_u64(json, NULL, code->required_block[k]);
    json_out_end(json);
    json_out_u64(json, "code_bytes", code->code_bytes);
    optional(json, "code_sha256", code->code_sha256);
    occupancy_json(json, kernel);
    inspect_json_code(json, kernel->isa);
    findings_json(json, kernel);
    json_out_end(json);
}

/* ---- files ---- */

static void object_json(struct json_out *json, const struct inspect_object *object)
{
    json_out_object(json, NULL);
    json_out_string(json, "target", object->code->target);
    json_out_string(json, "features", object->code->features);
    optional(json, "bundle_id", object->code->id);
    json_out_u64(json, "code_object_version", object->code->abi);
    json_out_u64(json, "size_bytes", object->code->size_bytes);
    json_out_string(json, "disassembler", object->tool);
    json_out_string(json, "disassembly_problem", object->isa_problem);
    json_out_u64(json, "kernels_left_out", object->hidden_count);
    json_out_array(json, "kernels");
    for (size_t k = 0; k < object->kernel_count; k++)
        kernel_json(json, &object->kernels[k]);
    json_out_end(json);
    json_out_end(json);
}

static void others_json(struct json_out *json, const struct codeobj_file *file)
{
    json_out_array(json, "others");
    for (size_t k = 0; k < file->other_count; k++) {
        json_out_object(json, NULL);
        json_out_string(json, "bundle_id", file->others[k].id);
        json_out_u64(json, "size_bytes", file->others[k].size_bytes);
        json_out_end(json);
    }
    json_out_end(json);
}

static void inspection_json(struct json_out *json, const struct inspection *inspection)
{
    json_out_object(json, NULL);
    json_out_string(json, "path", inspection->path);
    json_out_string(json, "kernel", inspection->label);
    json_out_string(json, "command", inspection->command);
    json_out_string(json, "container", codeobj_container_name(inspection->file->container));
    json_out_array(json, "objects");
    for (size_t k = 0; k < inspection->object_count; k++)
        object_json(json, &inspection->objects[k]);
    json_out_end(json);
    others_json(json, inspection->file);
    json_out_string(json, "ir", inspection->ir);
    json_out_end(json);
}

void inspect_json(struct text *out, const struct inspection *list, size_t count)
{
    struct json_out *json = json_out_new();
    json_out_string(json, "schema", SCHEMA);
    json_out_string(json, "schema_version", SCHEMA_VERSION);
    json_out_array(json, "files");
    for (size_t k = 0; k < count; k++)
        inspection_json(json, &list[k]);
    json_out_end(json);
    json_out_finish(json, out, true);
    text_add(out, "\n");
    json_out_free(json);
}
