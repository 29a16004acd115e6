/* SPDX-License-Identifier: MIT
 *
 * Which kernel of ours stands for an operator, with which parameters. Where the CPU device would take minutes over a
 * matrix product in loops, another kernel stands for it there. What has no kernel says why.
 */

#include "aggregate.h"
#include "rooftile/dtype.h"
#include "rooftile/json.h"

/* What the CPU device may be asked to do in loops. */
#define MOST_FLOPS_IN_LOOPS "5e8"

struct mapping {
    struct import_row *row;
    const struct trace_operator *o;
    struct arena *arena;
};

static bool no(const struct mapping *m, const char *why)
{
    m->row->why = why;
    return false;
}

static bool is_one_of(const char *word, const char *list)
{
    return *word && text_has_word(list, " ", word, strlen(word));
}

/* Sizes without fractions, as JSON has them. */
#define P(name, value) arena_printf(m->arena, "\"%s\": %.0f, ", name, value)

static const char *typed(const struct mapping *m, const char *params, bool total)
{
    return total ? arena_printf(m->arena, "{%s\"dtype\": \"%s\", \"total\": \"%s\"}", params, m->o->dtype, m->o->total)
                 : arena_printf(m->arena, "{%s\"dtype\": \"%s\"}", params, m->o->dtype);
}

static bool set(const struct mapping *m, const char *kernel, const char *params)
{
    m->row->kernel = kernel;
    m->row->params = params;
    return true;
}

/* ---- products ---- */

/* A tile no higher than the product, and deep enough that a workgroup can move its K tiles in 16 bytes for each lane,
 * and transpose them where they lie the other way round. Devices with OCP's 8-bit floats may compute them as f16, and
 * have fewer registers left for sums. */
static const char *tile_of(const struct mapping *m, const char *dtype)
{
    const struct trace_operator *o = m->o;
    const bool low = o->dims[1] <= 64, transposed = o->ta || !o->tb;
    if (!is_one_of(dtype, "f16 bf16"))
        return transposed                      ? "\"BM\": 128, \"BK\": 128, \"LDS\": 1, "
               : low                           ? "\"BM\": 64, \"WM\": 2, \"WN\": 4, \"BK\": 128, "
               : is_one_of(dtype, "e4m3 e5m2") ? "\"BM\": 128, \"WN\": 4, \"BK\": 64, "
                                               : "\"BK\": 64, ";
    if (low)
        return o->ta ? "\"BM\": 64, \"WM\": 1, \"WN\": 4, \"BK\": 64, " : "\"BM\": 64, \"WM\": 1, \"WN\": 4, ";
    return o->dims[1] <= 128 ? "\"BM\": 128, " : "";
}

/* The other of the two formats that 8-bit floats of this kind have: one generation of AMD's GPUs has FNUZ, all others
 * OCP. */
static const char *other_format(const char *dtype)
{
    static const char *const formats[][2] = {{"e4m3", "e4m3fnuz"}, {"e5m2", "e5m2fnuz"}};
    for (size_t k = 0; k < COUNT_OF(formats); k++)
        for (size_t side = 0; side < 2; side++)
            if (strcmp(formats[k][side], dtype) == 0)
                return formats[k][1 - side];
    return NULL;
}

static bool map_gemm(const struct mapping *m)
{
    const struct trace_operator *o = m->o;
    const char *sizes = arena_printf(m->arena, "\"m\": %.0f, \"n\": %.0f, \"k\": %.0f, \"batch\": %.0f, ", o->dims[1],
                                     o->dims[2], o->dims[3], o->dims[0]);
    const char *turns = arena_printf(m->arena, "\"TA\": %d, \"TB\": %d, ", o->ta, o->tb);
    const char *shape = arena_printf(m->arena, "%s%s", sizes, turns);
    const bool vector = is_one_of(o->dtype, "f32 f64");
    m->row->library = "gemm_library";
    m->row->library_params =
        typed(m, arena_printf(m->arena, "%s%s", shape, vector ? "" : "\"units\": \"matrix\", "), true);
    if (vector)
        return set(m, "gemm_register", typed(m, shape, false));
    if (o->dims[0] == 1 && o->dims[1] == 1 && o->tb && is_one_of(o->dtype, "f16 bf16"))
        return set(m, "gemv",
                   arena_printf(m->arena, "{\"m\": %.0f, \"k\": %.0f, \"dtype\": \"%s\", \"vector\": \"%s\"}",
                                o->dims[2], o->dims[3], o->dtype, o->dtype));
    m->row->cpu_kernel = "gemm_register";
    m->row->cpu_params = arena_printf(m->arena, "{%s\"dtype\": \"f32\"}", shape);
    m->row->cpu_library = "gemm_library";
    const char *other = other_format(o->dtype), *tiled = arena_printf(m->arena, "%s%s", shape, tile_of(m, o->dtype));
    if (other)
        m->row->other_params = arena_printf(m->arena, "{%s%s\"dtype\": \"%s\", \"total\": \"%s\"}", shape,
                                            tile_of(m, other), other, o->total);
    m->row->is_fnuz = other && text_ends(o->dtype, "fnuz");
    return set(m, "gemm_matrix", typed(m, tiled, true));
}

static bool map_moe_gemm(const struct mapping *m)
{
    const struct trace_operator *o = m->o;
    const char *sizes = arena_printf(m->arena, "\"rows\": %.0f, \"n\": %.0f, \"k\": %.0f, \"experts\": %.0f, ",
                                     o->dims[0], o->dims[1], o->dims[2], o->dims[3]);
    const char *tile = o->dims[0] <= 32 * o->dims[3] ? "\"BM\": 32, \"WM\": 1, \"WN\": 4, " : "";
    m->row->cpu_exclude = "2 * rows * n * k > " MOST_FLOPS_IN_LOOPS;
    m->row->cpu_kernel = "moe_gemm"; /* its tile there is the manifest's */
    m->row->cpu_params = typed(m, sizes, true);
    return set(m, "moe_gemm", typed(m, arena_printf(m->arena, "%s%s", sizes, tile), true));
}

/* ---- attention ---- */

static bool map_attention(const struct mapping *m)
{
    const struct trace_operator *o = m->o;
    const double b = o->dims[0], h = o->dims[1], kv = o->dims[2], s = o->dims[3], all = o->dims[4], d = o->dims[5];
    const char *heads =
        arena_printf(m->arena, "\"batch\": %.0f, \"heads_q\": %.0f, \"heads_kv\": %.0f, \"D\": %.0f, ", b, h, kv, d);
    if ((d != 64 && d != 128 && d != 256) || o->dims[6] != d || !(s > 0) || !(all > 0) || !(b > 0))
        return no(m, d > 0 && s > 0 ? arena_printf(m->arena, "attention_prefill has no heads of %.0f", d)
                                    : "the length of its context is not in the trace");
    m->row->cpu_exclude = "4 * D * heads_q * batch * n * 512 > " MOST_FLOPS_IN_LOOPS;
    if (o->extra && *o->extra)
        return no(m, strstr(o->extra, "window") ? "no kernel of ours has a window of keys"
                                                : "whether it is causal is not in the trace");
    if (s == 1)
        return set(m, "attention_decode", typed(m, arena_printf(m->arena, "%s%s", heads, P("n", all)), true));
    if (all < s)
        return no(m, "it has more queries than keys");
    return set(m, "attention_prefill",
               typed(m,
                     arena_printf(m->arena, "%s%s%s\"causal\": %d, ", heads, P("n", s), P("past", all - s), o->causal),
                     true));
}

/* ---- rows ---- */

static bool map_rows(const struct mapping *m, const char *kernel, double columns_held)
{
    const struct trace_operator *o = m->o;
    return set(m, kernel,
               typed(m,
                     arena_printf(m->arena, "%s%s%s", P("rows", o->dims[0]), P("columns", o->dims[1]),
                                  o->dims[1] > columns_held ? "\"HOLD\": 0, " : ""),
                     false));
}

static bool map_norm(const struct mapping *m)
{
    const char *name = m->o->name;
    const bool rms = strstr(name, "rms"), add = strstr(name, "add");
    if (strstr(name, "batch_norm"))
        return no(m, "no kernel of ours normalises a channel of all images");
    return map_rows(m, add && rms ? "add_rmsnorm" : rms ? "rmsnorm" : "layernorm", 16384);
}

static bool map_softmax(const struct mapping *m)
{
    return m->o->dims[1] <= 1024 ? map_rows(m, "softmax_short", 1024) : map_rows(m, "softmax_long", 16384);
}

/* ---- memory ---- */

/* Bytes alone count: of other types as many bytes of f32. */
static bool map_elementwise(const struct mapping *m)
{
    const struct trace_operator *o = m->o;
    const enum dtype dtype = dtype_from_name(strcmp(o->dtype, "bool") == 0 ? "u8" : o->dtype);
    if (dtype == DTYPE_NONE)
        return no(m, "its type is not known");
    const enum dtype result = dtype_from_name(o->total); /* another one where a copy converts */
    const double bytes =
        o->dims[0] * (double)(dtype_bytes(dtype) + dtype_bytes(result == DTYPE_NONE ? dtype : result)) / 2;
    if (strstr(o->name, "silu_and_mul") && is_one_of(o->dtype, "f32 f16 bf16") && o->dims[2] > 0)
        return set(
            m, "silu_mul",
            typed(m, arena_printf(m->arena, "%s%s", P("rows", o->dims[2]), P("columns", o->dims[0] / o->dims[2] / 2)),
                  false));
    if (text_matches(o->name, "aten::fill_") || text_matches(o->name, "aten::zero_"))
        return set(m, "stream_init", arena_printf(m->arena, "{\"n\": %.0f}", ceil(bytes / 4)));
    return set(m, o->dims[1] > 1 ? "stream_add" : "stream_copy",
               arena_printf(m->arena, "{\"n\": %.0f}", ceil(bytes / 4)));
}

static bool map_reduction(const struct mapping *m)
{
    return set(m, "reduction", typed(m, P("n", m->o->dims[0]), false));
}

static bool map_rope(const struct mapping *m)
{
    const struct trace_operator *o = m->o;
    return set(
        m, "rope",
        typed(m,
              arena_printf(m->arena, "%s%s%s", P("tokens", o->dims[0]), P("heads", o->dims[1]), P("dim", o->dims[2])),
              false));
}

/* ---- others ---- */

static bool map_gate(const struct mapping *m)
{
    const char *kernel = strstr(m->o->name, "moe_align") ? "moe_plan" : "moe_gate";
    if (m->o->dims[2] > 8)
        return no(m, arena_printf(m->arena, "%s takes up to 8 experts for a token", kernel));
    if (strstr(m->o->name, "grouped"))
        return no(m, "moe_gate has no groups of experts");
    return set(m, kernel,
               arena_printf(m->arena, "{\"tokens\": %.0f, \"EXPERTS\": %.0f, \"TOP\": %.0f}", m->o->dims[0],
                            m->o->dims[1], m->o->dims[2]));
}

static bool map_conv(const struct mapping *m)
{
    static const char *const names[] = {"images", "channels", "height", "width", "filters", "R", "S", "stride", "pad"};
    const struct trace_operator *o = m->o;
    const char *sizes = "";
    if (o->dims[9] != 1 || o->dims[10] > 1 || o->dims[11] > 0)
        return no(m, o->dims[11] > 0 ? "conv_implicit has no third dimension"
                                     : "conv_implicit has no dilation and no groups");
    if (strstr(o->name, "backward"))
        return no(m, "no kernel of ours computes gradients of convolutions");
    if (o->extra && *o->extra)
        return no(m, strstr(o->extra, "transposed") ? "no kernel of ours computes transposed convolutions"
                                                    : "conv_implicit has one stride and one padding for both axes");
    for (size_t k = 0; k < COUNT_OF(names); k++)
        sizes = arena_printf(m->arena, "%s%s", sizes, P(names[k], o->dims[k]));
    const bool halves = is_one_of(o->dtype, "f16 bf16");
    if (halves && o->dims[5] * o->dims[6] > 32) /* more taps than conv_implicit has; bytes and products count alike */
        return set(m, "conv_direct", arena_printf(m->arena, "{%s\"dtype\": \"f16\", \"total\": \"f16\"}", sizes));
    if (is_one_of(o->dtype, "f32"))
        return set(m, "conv_direct", typed(m, sizes, true));
    m->row->cpu_kernel = "conv_direct";
    m->row->cpu_params = arena_printf(m->arena, "{%s\"dtype\": \"f32\", \"total\": \"f32\"}", sizes);
    return set(m, "conv_implicit", typed(m, sizes, true));
}

/* ---- between devices ---- */

static bool map_communication(const struct mapping *m)
{
    static const char *const names = "all_reduce all_gather reduce_scatter broadcast all_to_all send_recv";
    const struct trace_operator *o = m->o;
    const bool in_place = o->layout && !strcmp(o->layout, "in-place");
    if (!is_one_of(o->name, names) || (in_place && !is_one_of(o->name, "all_reduce all_gather reduce_scatter")))
        return no(m, in_place ? "no kernel of ours does this in place" : "no kernel of ours does this");
    if (o->dims[4] > 1)
        return no(m, "it ran on several nodes, and ours takes the devices of one");
    if (!(o->dims[2] > 1))
        return no(m, "how many ranks took part is not known, or it was one");
    return set(m, in_place ? arena_printf(m->arena, "%s_in_place", o->name) : o->name,
               typed(m,
                     arena_printf(m->arena, "%s%s%s", P("size", o->dims[1]), P("devices", o->dims[2]),
                                  strcmp(o->name, "broadcast") ? "" : P("root", o->dims[3])),
                     false));
}

/* TransferBench: "G0 -> GPU00:004 -> G1", whose executor is that GPU's DMA engine or a kernel on it; C is the host. */
static bool map_copy(const struct mapping *m)
{
    static const struct {
        const char *kernel, *params;
    } hosts[2][2] = {{{"copy_to_device", ""}, {"copy_to_host", ""}},
                     {{"kernel_copy", ""}, {"kernel_copy", ", \"from\": \"device\", \"to\": \"pinned\""}}};
    unsigned from, to;
    char source, executor, target;
    if (sscanf(m->o->name, "%c%3u -> %c%*s -> %c%3u", &source, &from, &executor, &target, &to) != 5 ||
        !strchr("CG", source) || !strchr("CG", target) || (source == 'C' && target == 'C'))
        return no(m, "no kernel of ours does this");
    if (executor != 'D' && executor != 'G')
        return no(m, "no kernel of ours copies with the CPU's threads");
    if (source != target)
        return set(
            m, hosts[executor == 'G'][target == 'C'].kernel,
            arena_printf(m->arena, "{\"size\": %.0f%s}", m->o->dims[0], hosts[executor == 'G'][target == 'C'].params));
    if (from == to)
        return executor == 'D' ? set(m, "copy_on_device", arena_printf(m->arena, "{\"size\": %.0f}", m->o->dims[0]))
                               : no(m, "no kernel of ours does this");
    return set(m, executor == 'D' ? "copy_peer" : "kernel_copy_peer",
               arena_printf(m->arena, "{\"size\": %.0f, \"from\": %u, \"to\": %u}", m->o->dims[0], from, to));
}

static bool (*const maps[IMPORT_KINDS])(const struct mapping *) = {
    [IMPORT_GEMM] = map_gemm,
    [IMPORT_ATTENTION] = map_attention,
    [IMPORT_NORM] = map_norm,
    [IMPORT_SOFTMAX] = map_softmax,
    [IMPORT_ELEMENTWISE] = map_elementwise,
    [IMPORT_REDUCTION] = map_reduction,
    [IMPORT_MOE_GEMM] = map_moe_gemm,
    [IMPORT_MOE_GATE] = map_gate,
    [IMPORT_CONV] = map_conv,
    [IMPORT_ROPE] = map_rope,
    [IMPORT_COMMUNICATION] = map_communication,
    [IMPORT_COPY] = map_copy,
};

/* Why the manifest of the kernel does not take its parameters; NULL: it does. */
static const char *refuses(const struct mapping *m, const struct catalog *kernels, const char *kernel,
                           const char *params)
{
    struct err err = {0};
    struct param_value value;
    const cJSON *root = NULL, *item = NULL;
    const struct manifest *manifest = kernel ? catalog_find(kernels, kernel) : NULL;
    if (!manifest || json_parse(&root, kernel, params, strlen(params), m->arena, &err))
        return NULL;
    cJSON_ArrayForEach(item, root)
    {
        const int at = manifest_param(manifest, item->string);
        if (at < 0 || param_from_json(&value, item, m->arena, &err) ||
            param_accepts(&manifest->params[at], &value, &err))
            return arena_printf(m->arena, "%s: %s", kernel, err.text);
    }
    return NULL;
}

/* What a manifest refuses stands for nothing. */
static void drop_refused(const struct mapping *m, const struct catalog *kernels)
{
    struct import_row *row = m->row;
    const char *why = refuses(m, kernels, row->kernel, row->params);
    if (why) {
        row->kernel = row->cpu_kernel = row->cpu_library = NULL;
        row->why = why;
    }
    if (row->other_params && refuses(m, kernels, row->kernel, row->other_params))
        row->other_params = NULL;
    if (refuses(m, kernels, row->library, row->library_params))
        row->library = NULL;
    if (refuses(m, kernels, row->cpu_kernel, row->cpu_params))
        row->cpu_kernel = row->cpu_library = NULL;
}

void row_map(struct import_row *row, const struct trace_operator *operator, const struct catalog * kernels,
             struct arena *arena)
{
    const struct mapping mapping = {.row = row, .o = operator, .arena = arena };
    row->why = "no kernel of ours does this";
    if (maps[operator->kind] && !(operator->dims[0] > 0))
        row->why = "its shape is not known";
    else if (maps[operator->kind] && !operator->dtype[0] && operator->kind != IMPORT_COPY &&
             operator->kind != IMPORT_MOE_GATE)
        row->why = "its type is not known";
    else if (maps[operator->kind] && maps[operator->kind](&mapping))
        row->why = "";
    if (kernels)
        drop_refused(&mapping, kernels);
}
