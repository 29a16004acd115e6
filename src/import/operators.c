/* SPDX-License-Identifier: MIT */
#include "operators.h"

#include "rooftile/dtype.h"

const char *const import_dims[IMPORT_KINDS][OPERATOR_DIMS + 1] = {
    [IMPORT_GEMM] = {"B", "M", "N", "K"},
    [IMPORT_ATTENTION] = {"B", "H", "HKV", "S", "SKV", "D", "DV"},
    [IMPORT_NORM] = {"rows", "columns"},
    [IMPORT_SOFTMAX] = {"rows", "columns"},
    [IMPORT_ELEMENTWISE] = {"n", "inputs", "rows"},
    [IMPORT_REDUCTION] = {"n"},
    [IMPORT_MOE_GEMM] = {"rows", "N", "K", "experts"},
    [IMPORT_MOE_GATE] = {"tokens", "experts", "top"},
    [IMPORT_CONV] = {"N", "C", "H", "W", "K", "R", "S", "stride", "pad", "dilation", "groups", "D"},
    [IMPORT_ROPE] = {"tokens", "heads", "dim"},
    [IMPORT_GATHER] = {"rows", "columns"},
    [IMPORT_RNN] = {"layers", "N", "T", "H", "I"},
    [IMPORT_COPY] = {"bytes"},
    [IMPORT_COMMUNICATION] = {"n", "size", "ranks", "root", "nodes"},
};

/* ---- inputs ---- */

const char *dtype_of_trace(const char *type)
{
    static const struct {
        const char *word, *dtype; /* of libraries' words all, behind '='; of others a part says it */
    } words[] = {
        {"=s", "f32"},
        {"=d", "f64"},
        {"=h", "f16"},
        {"=c", "c64"},
        {"=z", "c128"},
        {"=f32_c", "c64"},
        {"=f64_c", "c128"},
        {"=f8_r", "e4m3"},
        {"=bf8_r", "e5m2"},
        {"=f8_fnuz_r", "e4m3fnuz"},
        {"=bf8_fnuz_r", "e5m2fnuz"},
        {"=f4_r", "e2m1"},
        {"e4m3fnuz", "e4m3fnuz"},
        {"e5m2fnuz", "e5m2fnuz"},
        {"e4m3", "e4m3"},
        {"e5m2", "e5m2"},
        {"bfloat16", "bf16"},
        {"float4", "e2m1"},
        {"complex<float>", "c64"},
        {"complex<double>", "c128"},
        {"half", "f16"},
        {"float16", "f16"},
        {"double", "f64"},
        {"float64", "f64"},
        {"float", "f32"},
        {"unsigned char", "u8"},
        {"uint8", "u8"},
        {"uint32", "u32"},
        {"uint64", "u64"},
        {"int8", "i8"},
        {"int64", "i64"},
        {"char", "i8"},
        {"long", "i64"},
        {"short", "i16"},
        {"int", "i32"},
        {"bool", "bool"},
    };
    SCOPED(arena_release) struct arena arena = {0};
    char *small = text_lower(type, &arena);
    const char *found = NULL;
    for (size_t k = 0; k < COUNT_OF(words) && !found; k++)
        if (words[k].word[0] == '=' ? !strcmp(small, words[k].word + 1) : strstr(small, words[k].word) != NULL)
            found = words[k].dtype;
    if (text_ends(small, "_r")) /* "f16_r" */
        small[strlen(small) - 2] = '\0';
    return found ? found : dtype_name(dtype_by_any_name(small));
}

double input_count(const struct operator_input *input, size_t without)
{
    double count = input->rank > without ? 1 : 0;
    for (size_t k = 0; k + without < input->rank; k++)
        count *= input->dims[k];
    return count;
}

double input_number(const struct operator_inputs *in, int at, size_t k, double otherwise)
{
    if (at < 0 || (size_t)at >= in->count)
        return otherwise;
    const char *text = in->items[at].value;
    const size_t start = strspn(text, "[( ");
    for (text += start; k && *text; k--) {
        const size_t next = strcspn(text, ",");
        if (!text[next] && start) /* one number stands for all of them */
            break;
        text += next + (text[next] == ',');
    }
    char *end = NULL;
    const double number = strtod(text, &end);
    if (end != text)
        return number;
    return strncmp(text, "True", 4) == 0 ? 1 : strncmp(text, "False", 5) == 0 ? 0 : otherwise;
}

static void numbers(double *out, size_t *rank, struct slice array)
{
    struct slice left = cut_inside(array), value;
    size_t count = 0;
    while (count < MOST_RANK && cut_element(&left, &value)) {
        if (value.data[0] == '[') { /* a list of tensors: the first one */
            numbers(out, rank, value);
            return;
        }
        out[count++] = slice_number(value, 0);
    }
    *rank = count;
}

static struct slice next_line(const char **at)
{
    const size_t length = strcspn(*at, "\n");
    const struct slice line = {*at, length};
    *at += length + ((*at)[length] == '\n');
    return line;
}

void operator_inputs_read(struct operator_inputs *in, const char *signature, struct arena *arena)
{
    SCOPED(text_release) struct text room = {0};
    struct slice lines[5], value;
    for (size_t k = 0; k < COUNT_OF(lines); k++)
        lines[k] = next_line(&signature);
    in->name = arena_strndup(arena, lines[0].data, lines[0].length);
    in->arena = arena;
    for (size_t line = 1; line < COUNT_OF(lines); line++) {
        struct slice left = cut_inside(lines[line]);
        for (size_t k = 0; k < MOST_INPUTS && cut_element(&left, &value); k++) {
            struct operator_input *input = &in->items[k];
            size_t ignored;
            in->count = k + 1 > in->count ? k + 1 : in->count;
            if (line == 1)
                numbers(input->dims, &input->rank, value);
            else if (line == 2)
                input->dtype = dtype_of_trace(slice_text(value, &room));
            else if (line == 3)
                numbers(input->strides, &ignored, value);
            else
                input->value = arena_strdup(arena, slice_text(value, &room));
        }
    }
    for (size_t k = 0; k < MOST_INPUTS; k++) {
        in->items[k].value = in->items[k].value ? in->items[k].value : "";
        in->items[k].dtype = in->items[k].dtype ? in->items[k].dtype : "";
    }
}

/* ---- signatures ---- */

#define MOST_SIZE 1e15 /* a double still counts there */

static void add_shapes(struct text *out, struct slice list)
{
    struct slice left = cut_inside(list), value, first;
    while (cut_element(&left, &value)) {
        struct slice inside = cut_inside(value);
        if (!cut_element(&inside, &first)) /* no tensor */
            continue;
        text_add(out, out->length && out->data[out->length - 1] != '(' ? " " : "");
        if (first.data[0] == '[') {
            text_add(out, "(");
            add_shapes(out, value);
            text_add(out, ")");
            continue;
        }
        text_addf(out, "[%.0f", slice_number(first, 0));
        while (cut_element(&inside, &first))
            text_addf(out, ",%.0f", slice_number(first, 0));
        text_add(out, "]");
    }
}

/* "[141,512] ([512] [512])": the inputs, where nothing else is known of the operator; a list in parentheses. */
static const char *plain_shape(const char *signature, struct arena *arena)
{
    struct text out = {0};
    next_line(&signature);
    add_shapes(&out, next_line(&signature));
    return text_take(&out, arena);
}

/* name \n =kind \n total... : of readers that know the shape. */
static void read_known(struct trace_operator *out, const char *signature, struct arena *arena)
{
    const char *at = signature;
    struct slice line = next_line(&at);
    out->name = arena_strndup(arena, line.data, line.length);
    at++; /* '=' */
    out->kind = (enum import_kind)strtoul(at, NULL, 10) % IMPORT_KINDS;
    next_line(&at);
    for (size_t k = 0; import_dims[out->kind][k]; k++) {
        line = next_line(&at);
        out->dims[k] = slice_number(line, 0);
    }
    const char **texts[] = {&out->dtype, &out->total, &out->layout, &out->shape, &out->extra};
    for (size_t k = 0; k < COUNT_OF(texts); k++) {
        line = next_line(&at);
        *texts[k] = arena_strndup(arena, line.data, line.length);
    }
    out->ta = at[0] == '1';
    out->tb = at[0] && at[1] == '1';
    out->causal = at[0] && at[1] && at[2] == '1';
}

static const char *word_or_nothing(const char *word)
{
    return word ? word : "";
}

uint32_t operator_signature(struct trace *trace, const struct trace_operator *o)
{
    SCOPED(text_release) struct text text = {0};
    text_addf(&text, "%s\n=%u\n", o->name, (unsigned)o->kind);
    for (size_t k = 0; import_dims[o->kind][k]; k++)
        text_addf(&text, "%.0f\n", o->dims[k]);
    text_addf(&text, "%s\n%s\n%s\n%s\n%s\n%d%d%d", word_or_nothing(o->dtype), word_or_nothing(o->total),
              word_or_nothing(o->layout), word_or_nothing(o->shape), word_or_nothing(o->extra), o->ta, o->tb,
              o->causal);
    return texts_add(&trace->signatures, text.data, text.length);
}

struct trace_call *trace_add_call(struct trace *trace, const struct trace_operator *operator, double count,
                                  double time_ns)
{
    const uint32_t signature = operator_signature(trace, operator);
    for (size_t k = 0; import_dims[operator->kind][k]; k++)
        if (!(operator->dims[k] >= 0 && operator->dims[k]<MOST_SIZE)) {
            trace_skip(trace, "a call with sizes that make no sense was skipped");
            count = 0;
            break;
        }
    ARENA_PUSH(&trace->arena, trace->calls, trace->call_count,
               (struct trace_call){.signature = signature, .name = TRACE_NONE, .count = count, .time_ns = time_ns});
    return &trace->calls[trace->call_count - 1];
}

const char *blas_layout(bool ta, bool tb)
{
    static const char *const layouts[] = {"NN", "TN", "NT", "TT"};
    return layouts[2 * ta + tb];
}

void blas_gemm(struct trace_operator *out, const double mnk[3], double batch, bool a_transposed, bool b_transposed)
{
    out->kind = IMPORT_GEMM;
    out->dims[0] = batch > 0 ? batch : 1;
    out->dims[1] = mnk[1];
    out->dims[2] = mnk[0];
    out->dims[3] = mnk[2];
    out->ta = b_transposed;
    out->tb = a_transposed;
    out->layout = blas_layout(b_transposed, a_transposed);
}

void operator_read(struct trace_operator *out, const char *signature, struct arena *arena)
{
    struct operator_inputs in = {0};
    *out = (struct trace_operator){.dtype = "", .total = "", .layout = "", .shape = ""};
    const char *second = strchr(signature, '\n');
    if (second && second[1] == '=') {
        read_known(out, signature, arena);
        return;
    }
    operator_inputs_read(&in, signature, arena);
    out->name = in.name;
    out->shape = plain_shape(signature, arena);
    for (size_t k = 0; k < in.count && !out->dtype[0]; k++)
        if (in.items[k].rank)
            out->dtype = out->total = in.items[k].dtype;
    const struct operator_family *family = operator_family_find(in.name);
    if (!family)
        return;
    out->kind = family->kind;
    if (family->shape(out, &in, family->at))
        return;
    memset(out->dims, 0, sizeof(out->dims));
    out->layout = out->extra = "";
    out->causal = false;
}
