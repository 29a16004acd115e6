/* SPDX-License-Identifier: MIT
 *
 * Lines that ROCm's libraries log so that a call can be repeated with their own benchmark, wherever in a line they
 * begin: hipblaslt-bench, rocblas-bench (and the YAML of both), MIOpenDriver; what these print of the call: its time;
 * and products that AITER has no tuned kernel of.
 *
 * BLAS counts in columns: D (m x n) = op(A) op(B). PyTorch's row-major y = x W^T (tokens x out) is m = out, n = tokens,
 * A the weights. Rows here are row-major: M = n, N = m, and the operator's name has what the line says.
 */

#include "lines.h"

enum { NONE, HIPBLASLT, ROCBLAS, MIOPEN, YAML, YAML_LT, PROGRAMS };
static const char *const starts[PROGRAMS] = {[HIPBLASLT] = "hipblaslt-bench",
                                             [ROCBLAS] = "rocblas-bench",
                                             [MIOPEN] = "MIOpenDriver",
                                             [YAML] = "rocblas_function",
                                             [YAML_LT] = "function: matmul"};
enum { FORWARD = 1, DATA = 2, WEIGHTS = 4 }; /* bits of MIOpenDriver's -F */

/* ---- products ---- */

static const char *type_of(const struct fields *f, const char *names, const char *otherwise)
{
    const char *word = field_or(f, names, otherwise), *dtype = *word ? dtype_of_trace(word) : "";
    return dtype ? dtype : word;
}

/* "rocblas_dgemm_strided_batched": its letter is the type; "" where it has none, as gemm_ex. */
static const char *letter_of(const char *function, struct arena *arena)
{
    return strlen(function) > 3 && strchr("sdczh", function[0]) && text_starts(function + 1, "ge")
               ? arena_strndup(arena, function, 1)
               : "";
}

static bool is_transposed(const char *word)
{
    return strchr("TtCc", word[0]) && word[0];
}

/* A product, or a matrix times a vector: op(A) x, where A has m rows and n columns. */
static bool read_product(struct trace *trace, struct trace_operator *out, const struct fields *f, const char *program,
                         const char *function)
{
    const bool a = is_transposed(field_or(f, "transA|transposeA", "N"));
    const bool b = is_transposed(field_or(f, "transB|transposeB", "N")), vector = strstr(function, "gemv");
    const double m = field_number(f, "m|M|sizem", 0), n = field_number(f, "n|N|sizen", 0);
    const double mnk[3] = {vector && a ? n : m, vector ? 1 : n, vector ? (a ? m : n) : field_number(f, "k|K|sizek", 0)};
    if (!(mnk[0] > 0 && mnk[1] > 0 && mnk[2] > 0)) {
        if (!field(f, "yaml")) /* a list of calls, whose results follow */
            trace_skip(trace, "a line of %s without -m, -n and -k was skipped", program);
        return false;
    }
    blas_gemm(out, mnk, field_number(f, "batch_count|batch", 1), a, b);
    out->name = vector ? arena_printf(&trace->arena, "%s gemv -m %.0f -n %.0f", program, m, n)
                       : arena_printf(&trace->arena, "%s -m %.0f -n %.0f -k %.0f", program, m, n, mnk[2]);
    return true;
}

/* False: it is no call. Of other functions than products the sizes are words. */
static bool read_blas(struct trace *trace, struct trace_operator *out, const struct fields *f, size_t program)
{
    const bool lt = program == HIPBLASLT || program == YAML_LT;
    const char *name = lt ? "hipblaslt" : "rocblas";
    const char *function =
        lt ? "matmul" : field_or(f, "f|function|rocblas_function", field(f, "incx") ? "gemv" : "gemm");
    function = text_starts(function, "rocblas_") ? function + 8 : function;
    const char *letter = letter_of(function, &trace->arena);
    const char *all = field_or(f, "r|precision", *letter ? letter : program == YAML ? "" : "f32_r");
    const char *a = type_of(f, "a_type", all);
    *out = (struct trace_operator){.shape = "", .dtype = product_type(a, type_of(f, "b_type", a), &trace->arena)};
    out->total = type_of(f, "d_type|c_type", all);
    if (lt || strstr(function, "gemm") || strstr(function, "gemv"))
        return read_product(trace, out, f, name, function);
    out->name = arena_printf(&trace->arena, "rocblas %s", function);
    out->shape = arena_printf(&trace->arena, "m=%s n=%s k=%s", field_or(f, "m|M", ""), field_or(f, "n|N", ""),
                              field_or(f, "k|K", ""));
    return field(f, "f|function|rocblas_function");
}

/* Several results of one call are its solutions, of which the fastest counts. */
void bench_row(struct lines *lines)
{
    struct trace *trace = lines->trace;
    struct bench *bench = &lines->bench;
    struct fields *row = &lines->csv.row;
    const bool lt = field(row, "hipblaslt-Gflops|hipblaslt-GB/s");
    const double us = field_number(row, "us|rocblas-us", 0);
    struct trace_operator operator;
    row->behind = bench->program == (lt ? HIPBLASLT : ROCBLAS) ? &bench->options : NULL;
    if (!(us > 0) || !isfinite(us) || !read_blas(trace, &operator, row, lt ? HIPBLASLT : ROCBLAS)) {
        trace_skip(trace, "a result without a time was skipped");
        return;
    }
    const uint32_t signature = operator_signature(trace, &operator);
    struct trace_call *call = bench->answered && signature == bench->signature ? &trace->calls[bench->call] : NULL;
    if (!call)
        call = trace_add_call(trace, &operator, 1, us * 1e3);
    call->time_ns = fmin(call->time_ns, us * 1e3);
    bench->answered = 1;
    bench->signature = signature;
    bench->call = (size_t)(call - trace->calls);
}

/* ---- MIOpen ---- */

static const char *type_of_driver(const char *word)
{
    return strstr(word, "bfp16") ? "bf16" : strstr(word, "fp16") ? "f16" : strstr(word, "int8") ? "i8" : "f32";
}

static bool read_conv(struct trace *trace, struct trace_operator *out, const struct fields *f)
{
    static const char *const of_width[][2] = {
        {"v|conv_stride_w", "stride_w"}, {"q|pad_w", "pad_w"}, {"j|dilation_w", "dilation_w"}};
    const double depth = field_number(f, "spatial_dim|_", 2) > 2;
    const double dims[OPERATOR_DIMS] = {
        field_number(f, "n|batchsize", 100),   field_number(f, "c|in_channels", 3),
        field_number(f, "H|in_h", 32),         field_number(f, "W|in_w", 32),
        field_number(f, "k|out_channels", 32), field_number(f, "y|fil_h", 3),
        field_number(f, "x|fil_w", 3),         field_number(f, "u|conv_stride_h", 1),
        field_number(f, "p|pad_h", 0),         field_number(f, "l|dilation_h", 1),
        field_number(f, "g|group_count", 1),   depth > 0 ? field_number(f, "in_d", 32) : 0};
    struct text extra = {0};
    for (size_t k = 0; k < 8; k++) /* the stride is the last of what must be positive */
        if (!(dims[k] > 0) || !isfinite(dims[k])) {
            trace_skip(trace, "a line of MIOpenDriver with sizes that make no sense was skipped");
            return false;
        }
    memcpy(out->dims, dims, sizeof(dims));
    out->kind = IMPORT_CONV;
    out->layout = field_or(f, "in_layout|I", depth > 0 ? "NCDHW" : "NCHW");
    out->name = "MIOpen convolution";
    if (strcmp(field_or(f, "m|mode", ""), "trans") == 0)
        text_add(&extra, CONV_TRANSPOSED);
    for (size_t k = 0; k < COUNT_OF(of_width); k++) {
        const double its = field_number(f, of_width[k][0], k == 1 ? 0 : 1);
        if (its != dims[7 + k])
            text_addf(&extra, " %s=%.0f", of_width[k][1], its);
    }
    out->extra = text_take(&extra, &trace->arena);
    return true;
}

/* Batch normalisation, pooling and others have their arguments in words. */
static bool read_driver(struct trace *trace, struct trace_operator *out, const struct fields *f)
{
    struct text shape = {0};
    const char *word = f->word ? f->word : "";
    *out = (struct trace_operator){.layout = "", .shape = "", .dtype = type_of_driver(word)};
    out->total = out->dtype;
    if (text_starts(word, "conv"))
        return read_conv(trace, out, f);
    if (text_starts(word, "rnn")) {
        const double dims[] = {field_number(f, "l|num_layer", 1), field_number(f, "n|batchsize", 4),
                               field_number(f, "k|seq_len", 10), field_number(f, "H|hid_h", 32),
                               field_number(f, "W|in_h", 32)};
        out->kind = IMPORT_RNN;
        memcpy(out->dims, dims, sizeof(dims));
        out->name = arena_printf(&trace->arena, "MIOpen %s", field_or(f, "m|mode", "rnn"));
        return true;
    }
    for (size_t k = 0; k < f->count && k < 12; k++)
        text_addf(&shape, "%s%s=%s", k ? " " : "", f->keys[k], f->values[k]);
    out->shape = text_take(&shape, &trace->arena);
    out->name = arena_printf(&trace->arena, "MIOpen %s", word);
    return *word;
}

static void add_direction(struct lines *lines, unsigned direction, double time_ns)
{
    struct trace_operator operator;
    if (!read_driver(lines->trace, &operator, & lines->bench.options))
        return;
    if (operator.kind == IMPORT_CONV || operator.kind == IMPORT_RNN)
        operator.name = arena_printf(&lines->trace->arena, "%s %s", operator.name,
                                     direction == FORWARD        ? "forward" :
                                     operator.kind == IMPORT_RNN ? "backward"
                                     : direction == DATA         ? "data gradient, backward"
                                                                 : "weight gradient, backward");
    trace_add_call(lines->trace, &operator, 1, time_ns);
    lines->bench.answered |= direction;
}

/* "GPU Kernel Time Backward Data Conv. Elapsed: 0.0194 ms (average)", or of older drivers the last column of
 * "stats: fwd-conv3x3u1, 128, ..., 0.0194". */
static bool driver_time(struct lines *lines, const char *line)
{
    const char *kernel = strstr(line, "GPU Kernel Time"), *at = kernel ? strstr(kernel, "Elapsed:") : NULL;
    const char *stats = text_starts(line, "stats: ") ? strrchr(line, ',') : NULL;
    const double ms = at ? strtod(at + 8, NULL) : stats ? strtod(stats + 1, NULL) : 0;
    if (lines->bench.program != MIOPEN || !(ms > 0) || !isfinite(ms))
        return false;
    const bool weights = strstr(line, "Weights") || strstr(line, "WrW") || strstr(line, "bwdw");
    const unsigned direction = weights ? WEIGHTS : strstr(line, "ackward") || strstr(line, "bwd") ? DATA : FORWARD;
    if (!(lines->bench.answered & direction))
        add_direction(lines, direction, ms * 1e6);
    return true;
}

/* ---- commands ---- */

/* What was asked for and has no result. */
void bench_end(struct lines *lines)
{
    struct bench *bench = &lines->bench;
    struct trace_operator operator;
    unsigned directions = (unsigned)field_number(&bench->options, "F|forw", 0) % 8;
    if (bench->program == MIOPEN) {
        const bool many = bench->options.word &&
                          (text_starts(bench->options.word, "conv") || text_starts(bench->options.word, "rnn"));
        directions = !many ? FORWARD : directions ? directions : FORWARD | DATA | WEIGHTS;
        for (unsigned k = FORWARD; k <= WEIGHTS; k *= 2)
            if (directions & ~bench->answered & k && (many || !bench->answered))
                add_direction(lines, k, NAN);
    } else if (bench->program && !bench->answered &&
               read_blas(lines->trace, &operator, & bench->options, bench->program)) {
        trace_add_call(lines->trace, &operator, field_number(&bench->options, "call_count", 1), NAN);
    }
    free(bench->text);
    *bench = (struct bench){0};
}

/* A call: options, from behind the name of its program to the end of the text. MIOpenDriver repeats its own command and
 * logs the calls that it makes for it: these are no further ones. */
static bool take_command(struct lines *lines, size_t program, const char *text, bool bare)
{
    struct bench next = {.program = program, .text = strdup(text)}, *bench = &lines->bench;
    if (!next.text)
        arena_out_of_memory(strlen(text));
    if (program >= YAML)
        split_pairs(&next.options, next.text);
    else
        split_options(&next.options, next.text + strcspn(next.text, " \t"));
    if (program == MIOPEN) {
        struct trace_operator operator;
        const bool known = next.options.word && read_driver(lines->trace, &operator, & next.options);
        next.signature = known ? operator_signature(lines->trace, &operator) : TRACE_NONE;
        next.drives = bare;
        if (!known || (bench->program == MIOPEN && next.signature == bench->signature && (bare || bench->drives))) {
            bench->drives = bench->drives || bare;
            free(next.text);
            return known;
        }
    }
    const bool named = next.options.count > 0; /* else it is the name of a tool */
    if (named)
        bench_end(lines);
    struct trace_operator operator;
    if (named && (program == MIOPEN || read_blas(lines->trace, &operator, & next.options, program)))
        *bench = next;
    else
        free(next.text);
    return named;
}

/* Which program the text names first, and where. Comments are no calls. */
static size_t find_start(const char **at, const char *text)
{
    size_t first = NONE;
    const char *behind = text + strspn(text, " \t");
    if (*behind == '#' && !text_starts(behind, "# ./") && !text_starts(behind, "# /")) /* those are a prompt of root */
        return NONE;
    for (size_t k = NONE + 1; k < PROGRAMS; k++) {
        const char *found = strstr(text, starts[k]);
        if (found && (!first || found < *at)) {
            first = k;
            *at = found;
        }
    }
    return first;
}

/* "Device ID 0 : AMD Instinct MI100 gfx908:sramecc+:xnack-" */
static bool read_device(struct trace *trace, const char *line)
{
    const char *at = strstr(line, "Device ID "), *colon = at ? strstr(at, " : ") : NULL;
    const char *arch = colon ? strstr(colon, " gfx") : NULL;
    if (!arch)
        return false;
    if (!trace->arch)
        trace->arch = arena_strndup(&trace->arena, arch + 1, strcspn(arch + 1, ": \r"));
    if (!trace->device_name && arch > colon + 2)
        trace->device_name = arena_strndup(&trace->arena, colon + 3, (size_t)(arch - colon) - 3);
    return true;
}

/* "[aiter] shape is M:64, N:16384, K:5120, q_dtype_w:torch.int8, not found tuned config in .../a8w8_tuned_gemm.csv":
 * where it does not say the type, the table does. */
static bool read_aiter(struct lines *lines, char *line)
{
    static const char *const tables[][2] = {{"blockscale", "e4m3"}, {"a4w4", "e2m1"}, {"bf16", "bf16"}};
    char *at = strstr(line, "shape is ");
    struct fields pairs = {0};
    if (!at || !strstr(at, "M:"))
        return false;
    const char *type = NULL, *table = strstr(at, "tuned config");
    for (size_t k = 0; k < COUNT_OF(tables) && table && !type; k++)
        type = strstr(table, tables[k][0]) ? tables[k][1] : NULL;
    split_pairs(&pairs, at);
    if (type && pairs.count < MOST_FIELDS) {
        pairs.keys[pairs.count] = "q_dtype_w";
        pairs.values[pairs.count++] = type;
    }
    aiter_product(lines->trace, &pairs);
    return true;
}

/* Where several processes write into one file a line has several calls. */
bool bench_line(struct lines *lines, char *line, UNUSED size_t length)
{
    const char *at = NULL, *next = NULL;
    size_t program = find_start(&at, line);
    bool taken = false;
    if (program >= YAML)
        return take_command(lines, program, line, false);
    for (; program; at = next) {
        const size_t after = find_start(&next, at + strlen(starts[program]));
        const bool bare = at == line;
        if (after && after < YAML)
            line[next - line - 1] = '\0';
        taken = take_command(lines, program, at, bare) || taken;
        program = after < YAML ? after : NONE;
    }
    return taken || driver_time(lines, line) || read_device(lines->trace, line) || read_aiter(lines, line);
}
