/* SPDX-License-Identifier: MIT
 *
 * Shapes out of an operator's inputs, whose numbers the rows of the families say.
 */

#include "operators.h"

static const struct operator_input *tensor(const struct operator_inputs *in, int at, size_t least_rank)
{
    return at >= 0 && (size_t)at < in->count && in->items[at].rank >= least_rank ? &in->items[at] : NULL;
}

/* Of the last two dimensions the first one is contiguous. */
static bool transposed(const struct operator_input *input)
{
    const size_t last = input->rank - 1;
    return input->strides[last - 1] == 1 && (input->strides[last] > 1 || input->dims[last] > 1) &&
           input->strides[last] != 1;
}

/* ---- products ---- */

const char *product_type(const char *a, const char *b, struct arena *arena)
{
    return !strcmp(a, b) || !*a ? b : !*b ? a : arena_printf(arena, "%s*%s", a, b);
}

/* A, B, and whether B is stored n x k, as weights are. 4-bit types are packed in pairs. */
bool gemm_shape(struct trace_operator *out, const struct operator_inputs *in, const signed char at[static 6])
{
    const struct operator_input *a = tensor(in, at[0], 1), *b = tensor(in, at[1], 2);
    const bool weights = at[2] == 1, batched = b && b->rank > 2, packed = strstr(in->name, "a4w4");
    if (!a || !b || (batched && weights && (a->rank != b->rank || input_count(a, 2) != input_count(b, 2))))
        return false;
    const size_t last = b->rank - 1;
    const bool told = weights || b->strides[last] > 0 || b->strides[last - 1] > 0;
    const double k = a->dims[a->rank - 1], n = b->dims[weights ? last - 1 : last];
    out->dims[0] = batched ? fmax(input_count(b, 2), input_count(a, 2)) : 1; /* either may be broadcast */
    out->dims[1] = a->rank == 1 ? 1 : batched ? a->dims[a->rank - 2] : input_count(a, 1);
    out->dims[2] = n;
    out->dims[3] = packed ? 2 * k : k;
    out->dtype = packed ? "e2m1" : product_type(a->dtype, b->dtype, in->arena);
    out->total =
        dtype_of_trace("float") && (packed || strstr(b->dtype, "e4m3") || strstr(b->dtype, "e5m2")) ? "bf16" : a->dtype;
    if (strcmp(b->dtype, "i8") == 0)
        out->total = "i32";
    out->ta = a->rank > 1 && transposed(a);
    out->tb = weights ? !transposed(b) : transposed(b);
    out->layout = told ? blas_layout(out->ta, out->tb) : "";
    return k == b->dims[weights ? last : last - 1] && k > 0 && n > 0 && out->dims[1] > 0;
}

/* A times 4-bit weights, which lie packed in an order of their own: N is the width of another input, K that of A. */
bool packed_gemm_shape(struct trace_operator *out, const struct operator_inputs *in, const signed char at[static 6])
{
    const struct operator_input *a = tensor(in, at[0], 2), *wide = tensor(in, at[1], 2);
    if (!a || !wide)
        return false;
    const double dims[] = {1, input_count(a, 1), wide->dims[wide->rank - 1], a->dims[a->rank - 1]};
    memcpy(out->dims, dims, sizeof(dims));
    out->dtype = "w4a16";
    out->total = a->dtype;
    out->layout = "";
    return dims[1] > 0 && dims[2] > 0 && dims[3] > 0;
}

/* Rows sorted by expert, times the matrix of each: A [rows, k], B [experts, k, n] (or n x k). */
bool grouped_shape(struct trace_operator *out, const struct operator_inputs *in, const signed char at[static 6])
{
    const struct operator_input *a = tensor(in, at[0], 2), *b = tensor(in, at[1], 3);
    if (!a || !b)
        return false;
    const double k = a->dims[1];
    out->dims[0] = a->dims[0];
    out->dims[1] = b->dims[1] == k ? b->dims[2] : b->dims[1];
    out->dims[2] = k;
    out->dims[3] = b->dims[0];
    return b->dims[1] == k || b->dims[2] == k;
}

/* A mixture's products in one operator: x [tokens, k], gate (and up) [experts, n, k], down [experts, k, inner]; how
 * many experts a token has is the width of the choices, or a number. Together they have the FLOPs and weights of one
 * product with n + inner columns. */
bool fused_experts_shape(struct trace_operator *out, const struct operator_inputs *in, const signed char at[static 6])
{
    const struct operator_input *x = tensor(in, at[0], 2), *w1 = tensor(in, at[0] + 1, 3);
    const struct operator_input *w2 = tensor(in, at[0] + 2, 3), *choices = tensor(in, at[1], 2);
    if (!x || !w1 || !w2 || x->rank != 2 || (choices && choices->dims[0] != x->dims[0]))
        return false;
    const double top = choices ? choices->dims[1] : input_number(in, at[2], 0, 0), k = x->dims[1];
    const double n = w1->dims[1], inner = w2->dims[2], dims[] = {x->dims[0] * top, n + inner, k, w1->dims[0]};
    memcpy(out->dims, dims, sizeof(dims));
    out->dtype = w1->dtype; /* the type of the products where both sides have it */
    out->total = x->dtype;
    out->extra = EXPERTS_TOGETHER;
    return w1->dims[0] == w2->dims[0] && w1->dims[2] == k && w2->dims[1] == k && (n == inner || n == 2 * inner) &&
           dims[0] > 0;
}

/* One of a mixture's products: x [tokens, k] or [tokens, chosen, k], weights [experts, n, k], and where x has a row for
 * all of a token's experts, how many these are. */
bool experts_stage_shape(struct trace_operator *out, const struct operator_inputs *in, const signed char at[static 6])
{
    const struct operator_input *x = tensor(in, at[0], 2), *w = tensor(in, at[1], 3);
    if (!x || !w)
        return false;
    const double top = at[2] < 0 ? 1 : input_number(in, at[2], 0, 0);
    const double dims[] = {input_count(x, 1) * top, w->dims[1], w->dims[2], w->dims[0]};
    memcpy(out->dims, dims, sizeof(dims));
    out->dtype = w->dtype;
    out->total = x->dtype;
    return x->dims[x->rank - 1] == w->dims[2] && (at[2] >= 0) == (x->rank == 2) && dims[0] > 0;
}

/* ---- attention ---- */

/* Do lengths or pages of the sequences follow, of which a trace has no values? The keys are then a cache's capacity. */
static bool has_lengths(const struct operator_inputs *in, int from)
{
    for (size_t k = (size_t)from; k < in->count; k++)
        if ((in->items[k].rank == 1 || in->items[k].rank == 2) && strcmp(in->items[k].dtype, "i32") == 0)
            return true;
    return false;
}

/* Each query sees so many keys before it, and no others; -1 stands for all. */
static const char *window_of(const struct operator_inputs *in, const signed char at[static 6], double keys)
{
    const double window = at[5] > 0 ? input_number(in, at[5], 0, -1) : -1;
    return window >= 0 && window < keys - 1 ? arena_printf(in->arena, " window=%.0f", window) : "";
}

/* Queries, keys, values; 0: batch, heads, tokens; 1: batch, tokens, heads; the input that says causal; the first of two
 * inputs with where each sequence starts, and the first of two with the longest sequence; the size of a window. */
bool attention_shape(struct trace_operator *out, const struct operator_inputs *in, const signed char at[static 6])
{
    const struct operator_input *q = tensor(in, at[0], 3), *k = tensor(in, at[0] + 1, 3), *v = tensor(in, at[0] + 2, 3);
    const size_t heads = at[1] ? 2 : 1, tokens = at[1] ? 1 : 2;
    if (!q || !k || !v || q->rank != k->rank || v->rank != k->rank)
        return false;
    /* Keys of another batch lie in pages. */
    const size_t last = q->rank - 1, at_heads = q->rank == 4 ? heads : 1;
    if ((q->rank == 4 && q->dims[0] != k->dims[0]) || k->dims[0] != v->dims[0] || q->dims[last] != k->dims[last] ||
        fmod(q->dims[at_heads], k->dims[at_heads]) != 0 || (at[2] < 0 && has_lengths(in, at[0] + 3)))
        return false;
    out->dtype = out->total = q->dtype;
    out->causal = input_number(in, at[2], 0, 0) > 0;
    if (q->rank == 4) {
        const double dims[] = {q->dims[0],      q->dims[heads], k->dims[heads], q->dims[tokens],
                               k->dims[tokens], q->dims[3],     v->dims[3]};
        memcpy(out->dims, dims, sizeof(dims));
        out->layout = at[1] ? "BSHD" : "BHSD";
        out->extra = at[2] < 0 && dims[3] > 1 ? " causal=?" : window_of(in, at, dims[4]);
        return true;
    }
    /* Sequences behind each other: all of one length, or the shape is none. */
    const struct operator_input *starts = tensor(in, at[3], 1);
    const double count = starts ? starts->dims[0] - 1 : 0;
    const double longest = input_number(in, at[4], 0, 0), longest_kv = input_number(in, at[4] + 1, 0, 0);
    const double dims[] = {count, q->dims[1], k->dims[1], longest, longest_kv, q->dims[2], v->dims[2]};
    memcpy(out->dims, dims, sizeof(dims));
    out->layout = "THD";
    out->extra = window_of(in, at, dims[4]);
    return count > 0 && count * longest == q->dims[0] && count * longest_kv == k->dims[0];
}

/* ---- rows ---- */

/* "[14, 96]": 1344; 0: no list. */
static double list_product(const struct operator_inputs *in, int at)
{
    const char *text = at >= 0 && (size_t)at < in->count ? in->items[at].value : "";
    double product = *text == '[' ? 1 : 0;
    char *end = NULL;
    for (text += *text == '['; product > 0 && *text && *text != ']'; text = end + strspn(end, ", ")) {
        product *= strtod(text, &end);
        if (end == text)
            return 0;
    }
    return product;
}

/* Rows are as long as the list says, or the gain is, or the last dimension. */
bool rows_shape(struct trace_operator *out, const struct operator_inputs *in, const signed char at[static 6])
{
    const struct operator_input *x = tensor(in, at[0], 1), *gain = tensor(in, at[1], 1);
    const double listed = list_product(in, at[2]);
    if (!x)
        return false;
    out->dims[1] = listed > 0 ? listed : gain ? input_count(gain, 0) : x->dims[x->rank - 1];
    out->dims[0] = out->dims[1] > 0 ? input_count(x, 0) / out->dims[1] : 0;
    out->dtype = out->total = x->dtype;
    return out->dims[0] > 0 && floor(out->dims[0]) == out->dims[0];
}

/* N, C, the size of an image, groups: a row for each group of each image. */
bool group_norm_shape(struct trace_operator *out, const struct operator_inputs *in, const signed char at[static 6])
{
    const struct operator_input *x = tensor(in, at[0], 2);
    const double groups = input_number(in, at[1], 0, 0);
    if (!x || !(groups > 0) || fmod(x->dims[1], groups) != 0)
        return false;
    out->dims[0] = x->dims[0] * groups;
    out->dims[1] = input_count(x, 0) / out->dims[0];
    return out->dims[1] > 0;
}

/* A row for each channel, through all images. */
bool batch_norm_shape(struct trace_operator *out, const struct operator_inputs *in, const signed char at[static 6])
{
    const struct operator_input *x = tensor(in, at[0], 2);
    out->dims[0] = x ? x->dims[1] : 0;
    out->dims[1] = out->dims[0] > 0 ? input_count(x, 0) / out->dims[0] : 0;
    return out->dims[1] > 0;
}

bool softmax_shape(struct trace_operator *out, const struct operator_inputs *in, const signed char at[static 6])
{
    const struct operator_input *x = tensor(in, at[0], 1);
    const double dim = input_number(in, at[1], 0, -1);
    if (!x || (dim >= 0 && dim != (double)x->rank - 1) || dim < -1)
        return false; /* not along rows that are contiguous */
    return rows_shape(out, in, (const signed char[]){at[0], -1, -1, -1, -1, -1});
}

/* ---- others ---- */

/* Elements of what all tensors become when they are broadcast; 0: they do not fit. */
static double broadcast_count(const struct operator_inputs *in)
{
    double count = 1;
    for (size_t back = 1; back <= MOST_RANK; back++) {
        double widest = 1;
        FOR_EACH(const struct operator_input, input, in->items, in->count) {
            const double size = back <= input->rank ? input->dims[input->rank - back] : 1;
            if (size != 1 && widest != 1 && size != widest)
                return 0;
            widest = size != 1 ? size : widest;
        }
        count *= widest;
    }
    return count;
}

/* The result has the most elements; of PyTorch's own it may have more than each input. */
bool pointwise_shape(struct trace_operator *out, const struct operator_inputs *in,
                     UNUSED const signed char at[static 6])
{
    FOR_EACH(const struct operator_input, input, in->items, in->count) {
        const double count = input_count(input, 0);
        if (count > out->dims[0]) {
            out->dims[0] = count;
            out->dtype = out->total = input->dtype;
        }
    }
    if (out->dims[0] > 0 && text_starts(in->name, "aten::"))
        out->dims[0] = fmax(out->dims[0], broadcast_count(in));
    for (size_t k = 0; k < in->count; k++) { /* others are broadcast, and cost next to nothing */
        const double count = input_count(&in->items[k], 0);
        out->dims[1] += count > 1 && 2 * count > out->dims[0];
    }
    return out->dims[0] > 0;
}

/* x[:, :d] and x[:, d:] of one input, the largest. */
bool gated_shape(struct trace_operator *out, const struct operator_inputs *in, const signed char at[static 6])
{
    double most = 0;
    for (size_t k = 0; k < in->count; k++)
        if (input_count(&in->items[k], 0) > most) {
            most = input_count(&in->items[k], 0);
            out->dims[2] = input_count(&in->items[k], 1);
        }
    return pointwise_shape(out, in, at);
}

/* Result and input, which may be of another type. */
bool copied_shape(struct trace_operator *out, const struct operator_inputs *in, const signed char at[static 6])
{
    if (in->count < 2 || !pointwise_shape(out, in, at))
        return false;
    out->dims[1] = 1;
    out->dtype = in->items[1].dtype;
    out->total = in->items[0].dtype;
    return true;
}

bool reduction_shape(struct trace_operator *out, const struct operator_inputs *in, const signed char at[static 6])
{
    const struct operator_input *x = tensor(in, at[0], 1);
    for (size_t k = 0; at[0] < 0 && k < in->count; k++) /* the largest */
        if (input_count(&in->items[k], 0) > (x ? input_count(x, 0) : 0))
            x = &in->items[k];
    out->dims[0] = x ? input_count(x, 0) : 0;
    out->dtype = out->total = x ? x->dtype : "";
    return x != NULL;
}

/* Image, filters; padding, stride, dilation, groups. Images of three dimensions get their depth last. */
bool conv_shape(struct trace_operator *out, const struct operator_inputs *in, const signed char at[static 6])
{
    const struct operator_input *x = tensor(in, at[0], 3), *w = tensor(in, at[1], 3);
    if (!x || !w || x->rank != w->rank || x->rank > 5)
        return false;
    const size_t last = x->rank - 1;
    const bool line = x->rank == 3;
    const size_t inner = x->rank == 5; /* of lists: the element of the height; the width follows */
    const bool transposed =
        at[5] == 8 && input_number(in, 6, 0, 0) > 0; /* filters: [channels, filters of a group, R, S] */
    const double groups = !transposed && w->dims[1] > 0 ? x->dims[1] / w->dims[1] : input_number(in, at[5], 0, 1);
    const double dims[] = {x->dims[0],
                           x->dims[1],
                           line ? 1 : x->dims[last - 1],
                           x->dims[last],
                           w->dims[0],
                           line ? 1 : w->dims[last - 1],
                           w->dims[last],
                           input_number(in, at[3], inner, 0),
                           line ? 0 : input_number(in, at[2], inner, -1),
                           line ? 1 : input_number(in, at[4], inner, 1),
                           groups,
                           x->rank == 5 ? x->dims[2] : 0};
    memcpy(out->dims, dims, sizeof(dims));
    out->dtype = out->total = x->dtype;
    const size_t width = line ? 0 : inner + 1;
    struct text extra = {0};
    if (transposed) {
        out->dims[4] = w->dims[1] * fmax(1, dims[10]);
        text_add(&extra, CONV_TRANSPOSED);
    }
    static const char *const of_width[] = {"stride_w", "pad_w", "dilation_w"};
    for (int k = 0; k < 3; k++) {
        const double of_height = dims[7 + k], its = input_number(in, at[k == 0 ? 3 : k == 1 ? 2 : 4], width, of_height);
        if (its != of_height)
            text_addf(&extra, " %s=%.0f", of_width[k], its);
    }
    if (inner)
        text_addf(&extra, " filter_d=%.0f stride_d=%.0f pad_d=%.0f", w->dims[2], input_number(in, at[3], 0, 1),
                  input_number(in, at[2], 0, 0));
    out->extra = text_take(&extra, in->arena);
    out->layout = x->rank == 4 && x->strides[1] == 1 && x->dims[1] > 1 ? "NHWC" : x->rank == 5 ? "NCDHW" : "NCHW";
    return dims[7] > 0 && dims[8] >= 0 && groups == input_number(in, at[5], 0, groups);
}

/* Positions, queries, keys, the size of a head. */
bool rope_shape(struct trace_operator *out, const struct operator_inputs *in, const signed char at[static 6])
{
    const struct operator_input *positions = tensor(in, at[0], 1), *q = tensor(in, at[1], 2), *k = tensor(in, at[2], 2);
    const double size = input_number(in, at[3], 0, 0);
    if (!positions || !q || size <= 0 || (positions->rank > 1 && positions->dims[0] != q->dims[0]))
        return false; /* tokens with several positions each */
    out->dims[0] = input_count(positions, 0);
    out->dims[1] = (input_count(q, 0) + (k ? input_count(k, 0) : 0)) / out->dims[0] / size;
    out->dims[2] = size;
    out->dtype = out->total = q->dtype;
    return floor(out->dims[1]) == out->dims[1];
}

/* Scores [tokens, experts], choices [tokens, top]; another place of the scores in schemas that lack an input before. */
bool gate_shape(struct trace_operator *out, const struct operator_inputs *in, const signed char at[static 6])
{
    const struct operator_input *first = tensor(in, at[0], 2), *choices = tensor(in, at[1], 2);
    const struct operator_input *scores = first || at[2] == 0 ? first : tensor(in, at[2], 2);
    if (!scores || !choices || scores->dims[0] != choices->dims[0] || scores->dims[1] <= choices->dims[1])
        return false;
    const double dims[] = {scores->dims[0], scores->dims[1], choices->dims[1]};
    memcpy(out->dims, dims, sizeof(dims));
    out->dtype = out->total = scores->dtype;
    return true;
}

/* Choices [tokens, top], the number of experts. */
bool align_shape(struct trace_operator *out, const struct operator_inputs *in, const signed char at[static 6])
{
    const struct operator_input *choices = tensor(in, at[0], 2);
    out->dims[0] = choices ? choices->dims[0] : 0;
    out->dims[1] = input_number(in, at[1], 0, 0);
    out->dims[2] = choices ? choices->dims[1] : 0;
    return out->dims[1] >= out->dims[2] && out->dims[2] > 0;
}

/* Table, indices; the dimension that is indexed, where it is not always the first. */
bool gather_shape(struct trace_operator *out, const struct operator_inputs *in, const signed char at[static 6])
{
    const struct operator_input *table = tensor(in, at[0], 1), *index = tensor(in, at[1], 1);
    if (!table || !index || input_number(in, at[2], 0, 0) != 0)
        return false;
    out->dims[0] = input_count(index, 0);
    out->dims[1] = table->dims[0] > 0 ? input_count(table, 0) / table->dims[0] : 0;
    out->dtype = out->total = table->dtype;
    return true;
}
