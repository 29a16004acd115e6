/* SPDX-License-Identifier: MIT
 *
 * Lines that ROCm's libraries log so that a call can be repeated with their own benchmark, wherever in a line they
 * begin: hipblaslt-bench, rocblas-bench (and its YAML), MIOpenDriver. Everything else in the file is passed over.
 *
 * BLAS counts in columns: D (m x n) = op(A) op(B). PyTorch's row-major y = x W^T (tokens x out) is m = out, n = tokens,
 * A the weights. Rows here are row-major: M = n, N = m, and the operator's name has what the line says.
 */

#include "trace.h"

enum { MOST_OPTIONS = 96 };

struct bench_line {
    char *keys[MOST_OPTIONS], *values[MOST_OPTIONS]; /* "m" for -m; a flag's value is "" */
    size_t count;
    const char *word; /* the first argument that is no option: MIOpenDriver's */
};

/* ---- options of a line ---- */

static bool is_option(const char *word)
{
    return word[0] == '-' && word[1] && !strchr("0123456789.", word[1]);
}

static void split_options(struct bench_line *line, char *at)
{
    char *place = NULL;
    for (char *word = strtok_r(at, " \t", &place); word; word = strtok_r(NULL, " \t", &place)) {
        if (is_option(word) && line->count < MOST_OPTIONS) {
            line->keys[line->count] = word + strspn(word, "-");
            line->values[line->count++] = word + strlen(word);
        } else if (line->count && !line->values[line->count - 1][0]) {
            line->values[line->count - 1] = word;
        } else if (!line->word) {
            line->word = word;
        }
    }
}

/* "{'M': 320, 'transA': 'N'}" of rocBLAS's layer 4; also without quotes. */
static void split_yaml(struct bench_line *line, char *at)
{
    char *place = NULL;
    for (char *pair = strtok_r(at, ",{}", &place); pair; pair = strtok_r(NULL, ",{}", &place)) {
        char *colon = strchr(pair, ':'), *value = colon ? colon + 1 : NULL;
        if (!colon || line->count == MOST_OPTIONS)
            continue;
        *colon = '\0';
        pair += strspn(pair, " '\"-");
        value += strspn(value, " '\"");
        pair[strcspn(pair, " '\"")] = '\0';
        value[strcspn(value, " '\"\r")] = '\0';
        line->keys[line->count] = pair;
        line->values[line->count++] = value;
    }
}

/* The first of these names, between blanks, that the line has; "" without. */
static const char *option(const struct bench_line *line, const char *names)
{
    for (size_t k = 0; k < line->count; k++)
        if (text_has_word(names, " ", line->keys[k], strlen(line->keys[k])))
            return line->values[k];
    return "";
}

static double number(const struct bench_line *line, const char *names, double otherwise)
{
    const char *value = option(line, names);
    char *end = NULL;
    const double read = strtod(value, &end);
    return end == value ? otherwise : isfinite(read) ? read : 0;
}

/* ---- types ---- */

static const char *type_of(const char *word)
{
    static const struct {
        const char *word, *dtype;
    } types[] = {
        {"f64_r", "f64"},
        {"d", "f64"},
        {"f32_r", "f32"},
        {"s", "f32"},
        {"xf32_r", "xf32"},
        {"f16_r", "f16"},
        {"h", "f16"},
        {"bf16_r", "bf16"},
        {"f8_r", "e4m3"},
        {"bf8_r", "e5m2"},
        {"i8_r", "i8"},
        {"i32_r", "i32"},
        {"f8_fnuz_r", "e4m3fnuz"},
        {"bf8_fnuz_r", "e5m2fnuz"},
        {"f4_r", "e2m1"},
        {"f32_c", "c64"},
        {"f64_c", "c128"},
    };
    for (size_t k = 0; k < COUNT_OF(types); k++)
        if (strcmp(types[k].word, word) == 0)
            return types[k].dtype;
    return word;
}

static bool is_transposed(const char *word)
{
    return word[0] == 'T' || word[0] == 't' || word[0] == 'C' || word[0] == 'c';
}

/* ---- products ---- */

static const char *or_else(const char *word, const char *otherwise)
{
    return *word ? word : otherwise;
}

static bool read_gemm(struct trace *trace, const struct bench_line *line, const char *library)
{
    const double mnk[3] = {number(line, "m M sizem", 0), number(line, "n N sizen", 0), number(line, "k K sizek", 0)};
    const char *a = option(line, "transA transposeA"), *b = option(line, "transB transposeB");
    const char *all = or_else(option(line, "r precision"), "f32_r");
    const double batch = number(line, "batch_count batch", 1);
    struct trace_operator operator= {.shape = ""};
    if (!(mnk[0] > 0 && mnk[1] > 0 && mnk[2] > 0)) {
        trace_skip(trace, "a line of %s without -m, -n and -k was skipped", library);
        return false;
    }
    blas_gemm(&operator, mnk, batch, is_transposed(a), is_transposed(b));
    operator.dtype = type_of(or_else(option(line, "a_type"), all));
    operator.total = type_of(or_else(option(line, "d_type"), or_else(option(line, "c_type"), all)));
    operator.name = arena_printf(&trace->arena, "%s -m %.0f -n %.0f -k %.0f", library, mnk[0], mnk[1], mnk[2]);
    trace_add_call(trace, &operator, number(line, "call_count", 1), NAN);
    return true;
}

/* Other functions of rocBLAS: their sizes in words. */
static bool read_blas_function(struct trace *trace, const struct bench_line *line)
{
    const char *function = or_else(option(line, "f function"), option(line, "rocblas_function"));
    function = text_starts(function, "rocblas_") ? function + 8 : function;
    if (strstr(function, "gemm"))
        return read_gemm(trace, line, "rocblas-bench");
    struct trace_operator operator= {.dtype = type_of(or_else(option(line, "a_type"), option(line, "r precision")))};
    operator.name = arena_printf(&trace->arena, "rocblas %s", function);
    operator.total = operator.dtype;
    operator.shape =
        arena_printf(&trace->arena, "m=%s n=%s k=%s", option(line, "m M"), option(line, "n N"), option(line, "k K"));
    if (!*function)
        return false;
    trace_add_call(trace, &operator, number(line, "call_count", 1), NAN);
    return true;
}

/* ---- MIOpen ---- */

static const char *type_of_driver(const char *word)
{
    return strstr(word, "bfp16") ? "bf16" : strstr(word, "fp16") ? "f16" : strstr(word, "int8") ? "i8" : "f32";
}

static bool read_conv(struct trace *trace, const struct bench_line *line)
{
    const double forward = number(line, "F forw", 1), depth = number(line, "spatial_dim _", 2) > 2;
    const char *what = forward == 2 || forward == 3 ? "data gradient, backward"
                       : forward == 4               ? "weight gradient, backward"
                                                    : "forward";
    const char *layout = or_else(option(line, "in_layout I"), depth > 0 ? "NCDHW" : "NCHW");
    const double dims[OPERATOR_DIMS] = {
        number(line, "n batchsize", 100), number(line, "c in_channels", 3),   number(line, "H in_h", 32),
        number(line, "W in_w", 32),       number(line, "k out_channels", 32), number(line, "y fil_h", 3),
        number(line, "x fil_w", 3),       number(line, "u conv_stride_h", 1), number(line, "p pad_h", 0),
        number(line, "l dilation_h", 1),  number(line, "g group_count", 1),   depth > 0 ? number(line, "in_d", 32) : 0};
    static const char *const of_width[][2] = {
        {"v conv_stride_w", "stride_w"}, {"q pad_w", "pad_w"}, {"j dilation_w", "dilation_w"}};
    struct text extra = {0};
    struct trace_operator operator= {.kind = IMPORT_CONV, .layout = layout, .shape = ""};
    for (size_t k = 0; k < 8; k++) /* the stride is the last of what must be positive */
        if (!(dims[k] > 0)) {
            trace_skip(trace, "a line of MIOpenDriver with sizes that make no sense was skipped");
            return false;
        }
    memcpy(operator.dims, dims, sizeof(dims));
    operator.dtype = operator.total = type_of_driver(line->word);
    operator.name = arena_printf(&trace->arena, "MIOpen convolution %s", what);
    if (strcmp(option(line, "m mode"), "trans") == 0)
        text_add(&extra, " transposed");
    for (size_t k = 0; k < COUNT_OF(of_width); k++) {
        const double its = number(line, of_width[k][0], k == 1 ? 0 : 1);
        if (its != dims[7 + k])
            text_addf(&extra, " %s=%.0f", of_width[k][1], its);
    }
    operator.extra = text_take(&extra, &trace->arena);
    trace_add_call(trace, &operator, 1, NAN);
    return true;
}

static bool read_rnn(struct trace *trace, const struct bench_line *line)
{
    struct trace_operator operator= {.kind = IMPORT_RNN, .layout = "", .shape = ""};
    const double dims[] = {number(line, "l num_layer", 1), number(line, "n batchsize", 4),
                           number(line, "k seq_len", 10), number(line, "H hid_h", 32), number(line, "W in_h", 32)};
    memcpy(operator.dims, dims, sizeof(dims));
    operator.dtype = operator.total = type_of_driver(line->word);
    operator.name = arena_printf(&trace->arena, "MIOpen %s %s", or_else(option(line, "m mode"), "rnn"),
                                 number(line, "F forw", 1) == 1 ? "forward" : "backward");
    trace_add_call(trace, &operator, 1, NAN);
    return true;
}

/* Batch normalisation, pooling and others: their arguments in words. */
static bool read_driver(struct trace *trace, const struct bench_line *line)
{
    struct text shape = {0};
    if (!line->word)
        return false;
    if (text_starts(line->word, "conv"))
        return read_conv(trace, line);
    if (text_starts(line->word, "rnn"))
        return read_rnn(trace, line);
    for (size_t k = 0; k < line->count && k < 12; k++)
        text_addf(&shape, "%s%s=%s", k ? " " : "", line->keys[k], line->values[k]);
    struct trace_operator operator= {.layout = "", .shape = text_take(&shape, &trace->arena)};
    operator.dtype = operator.total = type_of_driver(line->word);
    operator.name = arena_printf(&trace->arena, "MIOpen %s", line->word);
    trace_add_call(trace, &operator, 1, NAN);
    return true;
}

/* ---- files ---- */

enum { YAML = 3 };
static const char *const starts[] = {"hipblaslt-bench", "rocblas-bench", "MIOpenDriver", [YAML] = "rocblas_function"};

/* Which of `starts` the text has first, and where; COUNT_OF(starts): none. Comments are no calls. */
static size_t find_start(const char **at, const char *text)
{
    size_t first = COUNT_OF(starts);
    const char *behind = text + strspn(text, " \t");
    if (*behind == '#' && !text_starts(behind, "# ./") && !text_starts(behind, "# /")) /* those are a prompt of root */
        return first;
    for (size_t k = 0; k < COUNT_OF(starts); k++) {
        const char *found = strstr(text, starts[k]);
        if (found && (first == COUNT_OF(starts) || found < *at)) {
            first = k;
            *at = found;
        }
    }
    return first;
}

bool detect_log(const char *head)
{
    return COUNT_WHERE(start, starts, COUNT_OF(starts), strstr(head, *start)) > 0;
}

/* A call, from behind the name of its program to the end of the text. */
static void read_call(struct trace *trace, size_t which, char *text)
{
    struct bench_line line = {.count = 0};
    split_options(&line, text + strcspn(text, " \t"));
    if (!line.count) /* the name of a tool, and no call */
        return;
    if (which == 0)
        read_gemm(trace, &line, "hipblaslt-bench");
    else if (which == 1)
        read_blas_function(trace, &line);
    else
        read_driver(trace, &line);
}

/* Where several processes write into one file a line has several calls. */
static void read_line(struct trace *trace, char *text)
{
    const char *at = NULL, *next = NULL;
    size_t which = find_start(&at, text);
    if (which == YAML) {
        struct bench_line line = {.count = 0};
        split_yaml(&line, text);
        read_blas_function(trace, &line);
        return;
    }
    for (; which < YAML; at = next) {
        char *call = text + (at - text);
        const size_t after = find_start(&next, call + strlen(starts[which]));
        if (after < YAML)
            text[next - text - 1] = '\0';
        read_call(trace, which, call);
        which = after;
    }
}

enum status read_log(struct trace *trace, struct source *source, struct err *err)
{
    const size_t before = trace->call_count;
    size_t length;
    for (char *text = source_line(source, &length); text; text = source_line(source, &length))
        read_line(trace, text);
    return trace->call_count > before
               ? STATUS_OK
               : err_set(err, ERR_CONFIG, "%s: no line of it is a whole call of a library", source->path);
}
