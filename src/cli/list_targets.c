/* SPDX-License-Identifier: MIT
 *
 * `rooftile list --targets`: the GPUs that kernels are written for, and which of them the compilers here can build.
 */
#include "list.h"

#include "layout.h"
#include "rooftile/build.h"
#include "rooftile/json_out.h"
#include "rooftile/targets.h"

struct listed_target {
    const struct target *target;
    struct target_modes modes;
    struct compiler compiler;
    const char *problem; /* why there is no compiler; NULL: there is one */
    bool is_unknown;     /* to all that are here: never compiled */
};

static void probe(struct listed_target listed[static TARGET_COUNT], struct arena *arena)
{
    for (size_t k = 0; k < TARGET_COUNT; k++) {
        const struct target_modes modes = target_modes(targets[k].arch);
        const struct build_target target = build_target_of(targets[k].arch);
        struct err err = {0};
        listed[k] = (struct listed_target){.target = &targets[k], .modes = modes};
        const enum status status = build_find_compiler(&listed[k].compiler, &target, 0, arena, &err);
        listed[k].problem = status ? arena_strdup(arena, err.text) : NULL;
        listed[k].is_unknown = status == ERR_UNSUPPORTED;
    }
}

static const char *waves_text(const struct target_modes *modes)
{
    return modes->wave32 && modes->wave64 ? "32, 64" : modes->wave32 ? "32" : "64";
}

static void add_text(struct text *out, const struct listed_target *listed, struct arena *arena)
{
    const struct target *target = listed->target;
    const char *needs = target->cuda ? arena_printf(arena, "CUDA %s, LLVM %u", target->cuda, target->llvm)
                                     : arena_printf(arena, "LLVM %u", target->llvm);
    text_addf(out, "  %-8s  %-42s  %-6s  %-18s  ", target->arch, target->products, waves_text(&listed->modes), needs);
    if (!listed->problem && listed->compiler.is_nvcc)
        text_addf(out, "%s (%s)\n", listed->compiler.path, listed->compiler.version);
    else if (!listed->problem)
        text_addf(out, "%s%s%s\n", listed->compiler.path,
                  listed->compiler.llvm ? arena_printf(arena, " (LLVM %u)", listed->compiler.llvm) : "",
                  target->cuda ? ", as PTX" : "");
    else
        text_addf(out, "%s\n", listed->is_unknown ? "never compiled: no compiler at hand knows it" : listed->problem);
}

static void list_targets_text(struct text *out, const struct listed_target listed[static TARGET_COUNT], bool color,
                              struct arena *arena)
{
    layout_heading(out, "  target    products                                    waves   needs               compiler at hand",
                   color);
    for (size_t k = 0; k < TARGET_COUNT; k++)
        add_text(out, &listed[k], arena);
    text_add(out, "\n'rooftile build --arch TARGET' compiles for it. Where waves of 32 and 64 lanes are listed,\n"
                  "--set wave=32,64 and --set cumode=0,1 compile every kernel each way. For NVIDIA either\n"
                  "compiler will do: nvcc makes the code itself, clang PTX that the driver compiles.\n");
}

static void add_json(struct json_out *out, const struct listed_target *listed)
{
    json_out_object(out, NULL);
    json_out_string(out, "target", listed->target->arch);
    json_out_string(out, "products", listed->target->products);
    json_out_u64(out, "needs_llvm", listed->target->llvm);
    json_out_string(out, "needs_cuda", listed->target->cuda);
    json_out_bool(out, "wave32", listed->modes.wave32);
    json_out_bool(out, "wave64", listed->modes.wave64);
    json_out_bool(out, "wgp", listed->modes.wgp);
    json_out_string(out, "compiler", listed->problem ? NULL : listed->compiler.path);
    json_out_u64(out, "llvm", listed->problem ? 0 : listed->compiler.llvm);
    json_out_string(out, "problem", listed->problem);
    json_out_end(out);
}

void list_targets(struct text *out, bool json, bool names, bool color, struct arena *arena)
{
    struct listed_target listed[TARGET_COUNT];
    for (size_t k = 0; k < TARGET_COUNT && names; k++)
        text_addf(out, "%s\n", targets[k].arch);
    if (names)
        return;
    probe(listed, arena);
    if (!json) {
        list_targets_text(out, listed, color, arena);
        return;
    }
    struct json_out *array = json_out_new_array();
    for (size_t k = 0; k < TARGET_COUNT; k++)
        add_json(array, &listed[k]);
    json_out_finish(array, out, true);
    json_out_free(array);
}
