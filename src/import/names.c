/* SPDX-License-Identifier: MIT
 *
 * What the names of kernels say. Tensile's (rocBLAS, hipBLASLt) have the whole problem type and tile; those of
 * Composable Kernel, AITER and Triton parts of it. Sizes are in none of them: with the grid they bound M and N, which
 * is said as a bound and never taken for a shape.
 */

#include "trace.h"

/* ---- Tensile: Cijk_Alik_Bljk_BBS_BH_..._MT64x32x256_MI16x16x1_..._GSU4_... ---- */

/* The letters of a type in Tensile's names: they are passed over. */
static const char *tensile_type(const char **letters)
{
    static const struct {
        const char *letters, *dtype;
    } types[] = {{"F8N", "e4m3fnuz"}, {"B8N", "e5m2fnuz"}, {"F8", "e4m3"}, {"B8", "e5m2"}, {"I8", "i8"}, {"H", "f16"},
                 {"B", "bf16"},       {"S", "f32"},        {"D", "f64"},   {"I", "i32"},   {"C", "c64"}, {"Z", "c128"}};
    for (size_t k = 0; k < COUNT_OF(types); k++)
        if (text_starts(*letters, types[k].letters)) {
            *letters += strlen(types[k].letters);
            return types[k].dtype;
        }
    return NULL;
}

static bool flags_follow(const char *part)
{
    return text_starts(part, "_B") && !text_starts(part, "_Bias");
}

/* "BBS_BH": inputs, result and sum, then flags, of which B (beta) comes first; new names have "F8_BS_BH". Old ones have
 * one type and the flags in one part: "SB", "HBH". */
static void tensile_types(struct trace_operator *out, const char *part)
{
    const char *input = tensile_type(&part), *total = tensile_type(&part);
    if (!input)
        return;
    out->dtype = out->total = input;
    if (*part == '_' && !flags_follow(part + strcspn(part + 1, "_") + 1))
        return;
    if (*part == '_') {
        part++;
        total = tensile_type(&part);
    }
    if (total && tensile_type(&part) && flags_follow(part))
        out->total = total;
}

/* The number behind `word`, which begins a part of the name; NAN without. */
static double part(const char *name, const char *word)
{
    for (const char *at = strstr(name, word); at; at = strstr(at + 1, word))
        if ((at == name || at[-1] == '_') && isdigit((unsigned char)at[strlen(word)]))
            return strtod(at + strlen(word), NULL);
    return NAN;
}

static size_t three(double out[3], const char *name, const char *word)
{
    const char *at = strstr(name, word);
    char *end = NULL;
    size_t count = 0;
    for (at = at ? at + strlen(word) : NULL; at && count < 3; at = *end == 'x' ? end + 1 : NULL) {
        out[count] = strtod(at, &end);
        if (end == at)
            break;
        count++;
    }
    return count;
}

/* Tiles in BLAS's order, m of the columns: a grid of gx workgroups covers at most gx tiles. */
static void bounds(struct text *traits, const double tile[3], const double grid[3])
{
    if (grid[0] > 1 && grid[1] > 1)
        text_addf(traits, ", N <= %.0f, M <= %.0f", tile[0] * grid[0], tile[1] * grid[1]);
    else if (grid[0] > 0)
        text_addf(traits, ", %.0f tiles", grid[0] * fmax(1, grid[1]));
}

static bool tensile(struct trace_operator *out, struct text *traits, const char *name, const double grid[3])
{
    double tile[3], mfma[3];
    const char *type = strchr(name, '_') ? strstr(name, "_Bl") : NULL;
    if (!text_starts(name, "Cijk_") && !text_starts(name, "Custom_Cijk_"))
        return false;
    const char *a = strstr(name, "_A"), *b = type ? type : strstr(name, "_Bj");
    out->kind = IMPORT_GEMM;
    out->tb = a && text_starts(a, "_Al"); /* l, the inner index, comes first: A is stored transposed */
    out->ta = b && text_starts(b, "_Bj");
    out->layout = blas_layout(out->ta, out->tb);
    const char *types = b ? strchr(b + 1, '_') : NULL;
    if (types)
        tensile_types(out, types + 1);
    text_addf(traits, "%s", out->layout);
    if (three(tile, name, "_MT") == 3)
        text_addf(traits, " tile %.0fx%.0fx%.0f", tile[0], tile[1], tile[2]);
    if (three(mfma, name, "_MI") >= 2)
        text_addf(traits, " MFMA %.0fx%.0f", mfma[0], mfma[1]);
    if (part(name, "GSU") > 1)
        text_addf(traits, " split K %.0f", part(name, "GSU"));
    if (strstr(name, "_SK3") || strstr(name, "_SK1"))
        text_add(traits, " stream-K");
    if (three(tile, name, "_MT") == 3)
        bounds(traits, tile, grid);
    return true;
}

/* ---- Composable Kernel, AITER, flash attention, Triton: by words ---- */

/* The first that matches one of its globs. */
static const struct words {
    enum import_kind kind;
    const char *globs[12]; /* NULL after the last */
} words[] = {
    {IMPORT_ATTENTION,
     {"*fmha*fwd*", "*FmhaFwd*", "attn_fwd*", "*flash_fwd*", "*paged_attention*", "*unified_attention*", "*mla_*",
      "*sdpa*fprop*", "*flash_attn*", "triton_tem_*flex_attention*", "*FlashAttnFwd*", "*fmha_cutlassF*"}},
    {IMPORT_OTHER, {"*fmha*bwd*", "*FmhaBwd*", "*flash_bwd*", "*FlashAttnBwd*", "*sdpa*bprop*", "*fmha_cutlassB*"}},
    {IMPORT_MOE_GEMM, {"*fused_moe*", "*moe_gemm*", "*MoeGemm*", "*fmoe*", "_matmul_ogs*"}},
    {IMPORT_MOE_GATE, {"*topk*softmax*", "*topkGating*", "*grouped_topk*"}},
    {IMPORT_CONV, {"*igemm*"}},
    {IMPORT_ELEMENTWISE, {"*convert*"}},
    {IMPORT_CONV, {"*conv_fwd*", "*conv_bwd*", "*convolution*", "*_fprop_*", "*_dgrad_*", "*_wgrad_*"}},
    {IMPORT_GEMM,
     {"*DeviceGemm*", "*GridwiseGemm*", "*ck_tile*Gemm*", "*gemm*", "*gemv*", "*Gemv*", "*wvSplitK*", "nvjet_*",
      "triton_tem_*mm*", "triton_tem_*"}},
    {IMPORT_CONV, {"*Conv*", "*conv*"}},
    {IMPORT_NORM,
     {"*msnorm*", "*layer_norm*", "*LayerNorm*", "*ayernorm*", "*rms_norm*", "*BatchNorm*", "*GroupNorm*"}},
    {IMPORT_SOFTMAX, {"*oftmax*", "*oftMax*"}},
    {IMPORT_ROPE, {"*rotary_embedding*"}},
    {IMPORT_REDUCTION, {"*reduce_kernel*"}},
    {IMPORT_ELEMENTWISE, {"*elementwise*", "*act_and_mul*"}},
    {IMPORT_COMMUNICATION, {"*nccl*", "*cross_device_reduce*", "*multimem_all_reduce*", "*_shot_all_reduce_*"}},
    {IMPORT_COPY, {"*copyBuffer*", "Memcpy*", "MEMORY_COPY*"}},
};

/* ---- kernels of PyTorch's compiler: "triton_poi_fused_add_native_layer_norm_7" ---- */

static const struct made {
    const char *prefix, *words;
    enum import_kind kind; /* IMPORT_OTHER: it is one of `words` */
} made_by_inductor[] = {
    {"triton_poi_", "fused pointwise", IMPORT_ELEMENTWISE},
    {"triton_red_", "fused reduction", IMPORT_REDUCTION},
    {"triton_per_", "persistent reduction", IMPORT_REDUCTION},
    {"triton_for_", "fused foreach", IMPORT_ELEMENTWISE},
    {"triton_tem_", "template", IMPORT_OTHER},
};

static const struct made *made_of(const char *name)
{
    for (size_t k = 0; k < COUNT_OF(made_by_inductor); k++)
        if (text_starts(name, made_by_inductor[k].prefix))
            return &made_by_inductor[k];
    return NULL;
}

const char *name_of_kind(const char *name, struct arena *arena)
{
    size_t length = strlen(name);
    while (length && isdigit((unsigned char)name[length - 1]))
        length--;
    return made_of(name) && name[length] && name[length - 1] == '_' ? arena_strndup(arena, name, length - 1) : name;
}

/* The operators behind "fused_" stand between underscores, which some of them have themselves. */
static void add_operators(struct text *out, const char *name)
{
    static const char *const whole[] = {"native_layer_norm_backward",
                                        "native_layer_norm",
                                        "native_group_norm",
                                        "native_dropout",
                                        "_log_softmax",
                                        "_safe_softmax",
                                        "_softmax",
                                        "_to_copy",
                                        "_unsafe_view",
                                        "_unsafe_index",
                                        "_scaled_mm",
                                        "layer_norm",
                                        "rms_norm",
                                        "batch_norm",
                                        "group_norm",
                                        "flex_attention_backward",
                                        "flex_attention",
                                        "index_put",
                                        "index_select",
                                        "masked_fill",
                                        "max_pool2d_with_indices",
                                        "new_zeros",
                                        "new_ones",
                                        "full_like",
                                        "ones_like",
                                        "zeros_like",
                                        "int_mm"};
    const char *at = strstr(name, "_fused_"), *begin = ": ";
    for (at = at ? at + strlen("_fused_") : ""; *at; begin = ", ") {
        size_t length = strcspn(at + 1, "_") + 1;
        for (size_t k = 0; k < COUNT_OF(whole); k++)
            if (text_starts(at, whole[k]) && strchr("_", at[strlen(whole[k])])) {
                length = strlen(whole[k]);
                break;
            }
        if (at[strspn(at, "0123456789")]) /* not its number */
            text_addf(out, "%s%.*s", begin, (int)length, at);
        at += length + (at[length] == '_');
    }
}

/* ---- by words ---- */

static const struct words *words_in(const char *name)
{
    for (size_t k = 0; k < COUNT_OF(words); k++)
        for (const char *const *glob = words[k].globs; *glob; glob++)
            if (text_matches(name, *glob))
                return &words[k];
    return NULL;
}

/* Types as CK's template arguments, CUDA's functors, Triton's and AITER's names write them, where only one is meant. */
static const char *type_in(const char *name)
{
    static const struct {
        const char *word, *dtype;
    } types[] = {{"f8_fnuz_t", "e4m3fnuz"}, {"f8_ocp_t", "e4m3"}, {"f4x2", "e2m1"},
                 {"Fp4", "e2m1"},           {"Fp8", "fp8"},       {"fp8", "fp8"},
                 {"bf16", "bf16"},          {"BFloat16", "bf16"}, {"bfloat16", "bf16"},
                 {"bhalf_t", "bf16"},       {"DF16b", "bf16"},    {"_fp16", "f16"},
                 {"Half", "f16"},           {"half_t", "f16"},    {"_Float16", "f16"},
                 {"_f16", "f16"},           {"<float", "f32"}};
    for (size_t k = 0; k < COUNT_OF(types); k++)
        if (strstr(name, types[k].word))
            return types[k].dtype;
    return "";
}

/* AITER: bf16gemm_..._64x64_..., fmha_fwd_hd128_bf16_causal...; CK: <..., 256, 128, 64, ...> in the block's sizes. */
static void add_traits(struct trace_operator *out, struct text *traits, const char *name)
{
    const char *head = strstr(name, "_hd");
    double tile[3];
    const char *at = name;
    if (out->kind == IMPORT_ATTENTION && head && isdigit((unsigned char)head[3]))
        text_addf(traits, " D=%.0f", strtod(head + 3, NULL));
    if (strstr(name, "causal"))
        text_add(traits, " causal");
    for (; (at = strchr(at, 'x')); at++) {
        const char *start = at;
        char *end = NULL;
        while (start > name && isdigit((unsigned char)start[-1]))
            start--;
        if (start == at || !isdigit((unsigned char)at[1]) || (start > name && isalpha((unsigned char)start[-1])))
            continue;
        tile[0] = strtod(start, NULL);
        tile[1] = strtod(at + 1, &end);
        tile[2] = *end == 'x' ? strtod(end + 1, NULL) : 0;
        if (tile[0] >= 8 && tile[1] >= 8)
            text_addf(traits, tile[2] > 0 ? " tile %.0fx%.0fx%.0f" : " tile %.0fx%.0f", tile[0], tile[1], tile[2]);
        return;
    }
}

bool kernel_name_read(struct trace_operator *out, struct text *traits, const char *name, const double grid[3],
                      const double block[3])
{
    if (tensile(out, traits, name, grid))
        return true;
    const struct made *made = made_of(name);
    const struct words *found = made && made->kind ? NULL : words_in(name);
    if (!found && !made)
        return false;
    out->kind = found ? found->kind : made->kind;
    out->dtype = out->total = type_in(name);
    text_add(traits, made                        ? made->words
                     : out->kind == IMPORT_OTHER ? "attention, backward"
                                                 : import_kind_names[out->kind]);
    if (made)
        add_operators(traits, name);
    else
        add_traits(out, traits, name);
    if (grid[0] > 0)
        text_addf(traits, ", %.0f workgroups of %.0f", grid[0] * fmax(1, grid[1]) * fmax(1, grid[2]),
                  block[0] * fmax(1, block[1]) * fmax(1, block[2]));
    return true;
}
