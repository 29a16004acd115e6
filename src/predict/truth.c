/* SPDX-License-Identifier: MIT */
#include "rooftile/truth.h"

#include "rooftile/file.h"
#include "rooftile/hash.h"

#define MOST_COLUMNS 32
#define LONGEST_BYTES ((size_t)256 << 20)

/* A line's fields, by the head's names. */
struct line {
    const char *const *names;
    const char *fields[MOST_COLUMNS];
    size_t count;
    struct arena *arena;
};

/* ---- CSV ---- */

/* Cuts one record at `*at` into fields, in place: quoted ones may hold commas and doubled quotes (RFC 4180). */
static size_t split_record(const char **fields, char **at)
{
    size_t count = 0;
    char *from = *at;
    for (bool more = true; more;) {
        const bool quoted = *from == '"';
        char *to = from + quoted, *read = to;
        const char *start = to;
        for (; *read && (quoted || (*read != ',' && *read != '\n')); *to++ = *read++)
            if (quoted && *read == '"' && *++read != '"')
                break;
        while (*read && *read != ',' && *read != '\n')
            read++;
        more = *read == ',';
        from = *read ? read + 1 : read;
        *to = '\0';
        if (to > start && to[-1] == '\r')
            to[-1] = '\0';
        if (count < MOST_COLUMNS)
            fields[count++] = start;
    }
    *at = from;
    return count;
}

static const char *field(const struct line *line, const char *name)
{
    for (size_t k = 0; k < line->count; k++)
        if (!strcmp(line->names[k], name))
            return line->fields[k];
    return "";
}

static bool has_column(const struct line *line, const char *name)
{
    for (size_t k = 0; k < line->count; k++)
        if (!strcmp(line->names[k], name))
            return true;
    return false;
}

/* NaN where it is no number. */
static double number(const char *text)
{
    char *end = NULL;
    const double value = strtod(text, &end);
    return end == text || *end ? NAN : value;
}

static double number_of(const struct line *line, const char *name)
{
    return number(field(line, name));
}

/* The numbers of "128x64x3"; how many there are. */
static size_t numbers_of(const char *text, double *values, size_t room)
{
    size_t count = 0;
    while (*text && count < room) {
        const size_t digits = strcspn(text, "x"); /* "0x1" is two numbers, not a hexadecimal one */
        char number_text[32];
        if (digits >= sizeof(number_text))
            return 0;
        memcpy(number_text, text, digits);
        number_text[digits] = '\0';
        values[count] = number(number_text);
        if (isnan(values[count]))
            return 0;
        count++;
        text += digits + (text[digits] == 'x');
    }
    return count;
}

/* ---- kinds of files ---- */

static const struct {
    const char *type, *name;
    double bytes;
} types[] = {{"fp8", "fp8", 1},   {"bf16", "bf16", 2}, {"i8", "i8", 1},    {"fp4", "fp4", 0.5},
             {"f16", "f16", 2},   {"f32", "f32", 4},   {"FP32", "f32", 4}, {"FP16", "f16", 2},
             {"BF16", "bf16", 2}, {"fp16", "f16", 2},  {"fp32", "f32", 4}, {"INT8", "i8", 1}};

static void set_type(struct described *what, const char *type)
{
    what->type = type;
    for (size_t k = 0; k < sizeof(types) / sizeof(*types); k++)
        if (!strcmp(type, types[k].type)) {
            what->type = types[k].name;
            what->in_bytes = types[k].bytes;
        }
    what->out_bytes = what->in_bytes < 2 ? 2 : what->in_bytes;
}

static const struct {
    const char *target;
    double cus;
    const char *machine;
} gemm_machines[] = {{"gfx942", 304, "mi300x"}, {"gfx942", 80, "mi308x"},     {"gfx942", 228, "mi300a"},
                     {"gfx950", 256, "mi355x"}, {"gfx90a", 104, "mi210"},     {"gfx90a", 110, "mi250x"},
                     {"gfx908", 120, "mi100"},  {"gfx1100", 96, "rx7900xtx"}, {"gfx1201", 64, "rx9070xt"}};

/* Composable Kernel's split is the power of two, other libraries' the number itself. */
static double split_of(const struct line *line, const struct described *what)
{
    const double split = number_of(line, "split_k");
    const bool counted = strcmp(what->library, "flydsl") == 0 || strcmp(what->library, "opus") == 0 ||
                         (text_starts(what->kernel, "_ZN") && strcmp(what->type, "fp4") != 0);
    if (!(split > 0))
        return 1;
    return counted ? split : exp2(fmin(split, 10));
}

static bool is_held_out(const struct described *what)
{
    char shape[96];
    const int length = snprintf(shape, sizeof(shape), "%.0f,%.0f,%.0f", what->m, what->n, what->k);
    return hash_u64(shape, length > 0 ? (size_t)length : 0) % 5 == 0;
}

static void read_gemm(struct truth_row *row, const struct line *line)
{
    struct described *what = &row->what;
    const double cus = number_of(line, "cus");
    what->kind = DESCRIBED_GEMM;
    what->family = "gemm";
    what->cold = true;
    set_type(what, field(line, "dtype"));
    what->scales = field(line, "scales");
    what->kernel = field(line, "kernel");
    what->library = field(line, "library");
    if (!strcmp(field(line, "out_dtype"), "float32"))
        what->out_bytes = 4;
    what->m = number_of(line, "m");
    what->n = number_of(line, "n");
    what->k = number_of(line, "k");
    what->split = split_of(line, what);
    for (size_t k = 0; k < sizeof(gemm_machines) / sizeof(*gemm_machines); k++)
        if (!strcmp(field(line, "target"), gemm_machines[k].target) && cus == gemm_machines[k].cus)
            row->machine = gemm_machines[k].machine;
    if (strstr(what->kernel, "preshuffle") && !strcmp(what->scales, "1x128x128"))
        what->scales = "1x128x128 shuffled";
    row->held_out = is_held_out(what);
    row->source = field(line, "source_file");
    row->family = arena_printf(line->arena, "GEMM %s %s", what->type, field(line, "scales"));
    row->label = arena_printf(line->arena, "%.0fx%.0fx%.0f %.60s", what->m, what->n, what->k, what->kernel);
}

static void read_torch_gemm(struct truth_row *row, const double *shape)
{
    struct described *what = &row->what;
    const char *kernel = what->kernel, *split = strstr(kernel, "GSU");
    what->kind = DESCRIBED_GEMM;
    what->family = what->op;
    what->batch = shape[0];
    what->m = shape[1];
    what->k = shape[2];
    what->n = shape[3];
    what->split = split ? fmax(1, strtod(split + 3, NULL)) : 1;
    row->family = strcmp(what->op, "bmm") ? "GEMM f32" : "batched GEMM f32";
}

static bool is_row_kernel(const char *op)
{
    return !strcmp(op, "softmax") || !strcmp(op, "ln");
}

/* Operators of two tensors read one more than those of one; "addu" takes a number as its second. */
static double operands_of(const char *op)
{
    static const char *const two[] = {"add", "mul", "div", "pow", "sub"};
    for (size_t k = 0; k < sizeof(two) / sizeof(*two); k++)
        if (!strcmp(op, two[k]))
            return 3;
    return 2;
}

static void read_torch(struct truth_row *row, const struct line *line)
{
    struct described *what = &row->what;
    double shape[4] = {NAN, NAN, NAN, NAN};
    const size_t count = numbers_of(field(line, "shape"), shape, 4);
    const bool gemm = !strcmp(field(line, "op"), "linear") || !strcmp(field(line, "op"), "bmm");
    set_type(what, field(line, "dtype"));
    what->op = field(line, "op");
    what->kernel = field(line, "kernel");
    row->machine = text_lower(field(line, "gpu"), line->arena);
    row->label = arena_printf(line->arena, "%s %s", what->op, field(line, "shape"));
    if (count != (gemm ? 4u : 2u)) {
        row->problem = "the shape has not as many numbers as its operator";
        return;
    }
    if (gemm) {
        read_torch_gemm(row, shape);
        return;
    }
    what->kind = is_row_kernel(what->op) ? DESCRIBED_ROWS : DESCRIBED_ELEMENTWISE;
    what->family =
        what->kind == DESCRIBED_ELEMENTWISE ? "elementwise" : (strcmp(what->op, "ln") ? "softmax" : "layer_norm");
    row->family =
        what->kind == DESCRIBED_ELEMENTWISE ? "element-wise" : (strcmp(what->op, "ln") ? "softmax" : "layer norm");
    what->rows = shape[0];
    what->columns = shape[1];
    what->operands = operands_of(what->op);
}

static const char *convolution_machine(const char *database)
{
    static const char *const machines[][2] = {
        {"gfx906_60", "mi50"},      {"gfx90a68", "mi210"},   {"gfx90a6e", "mi250x"}, {"gfx908", "mi100"},
        {"gfx1030_36", "rx6800xt"}, {"gfx942130", "mi300x"}, {"gfx942e4", "mi300a"}};
    for (size_t k = 0; k < sizeof(machines) / sizeof(*machines); k++)
        if (text_starts(database, machines[k][0]))
            return machines[k][1];
    return "";
}

/* Two numbers of "3x1"; `missing` where the file has no such column. */
static void read_pair(double pair[static 2], const struct line *line, const char *column, double missing)
{
    pair[0] = pair[1] = missing;
    numbers_of(field(line, column), pair, 2);
}

static void read_convolution(struct truth_row *row, const struct line *line)
{
    struct described *what = &row->what;
    const char *direction = field(line, "direction");
    const bool forward = *direction == 'F';
    read_pair(what->filter, line, "filter", NAN);
    read_pair(what->stride, line, "stride", 1);
    read_pair(what->dilation, line, "dilation", 1);
    read_pair(what->pad, line, "pad", 0);
    what->kind = DESCRIBED_CONVOLUTION;
    what->family = "convolution";
    set_type(what, field(line, "dtype"));
    what->op = *direction == 'B' ? "backward" : (*direction == 'W' ? "weights" : "forward");
    /* MIOpen's keys name first what a direction reads: backwards that is the gradient of the output. */
    what->images = number_of(line, "n");
    what->channels_in = number_of(line, forward ? "c" : "k");
    what->channels_out = number_of(line, forward ? "k" : "c");
    what->in[0] = number_of(line, forward ? "h" : "out_h");
    what->in[1] = number_of(line, forward ? "w" : "out_w");
    what->out[0] = number_of(line, forward ? "out_h" : "h");
    what->out[1] = number_of(line, forward ? "out_w" : "w");
    what->channels_last = !strcmp(field(line, "layout"), "NHWC");
    what->from_idle = true; /* a find step compiles a kernel, launches it to warm up, and once more */
    what->groups = number_of(line, "groups");
    row->machine = convolution_machine(field(line, "database"));
    row->family = "naive convolution";
    row->label =
        arena_printf(line->arena, "%s %s n=%.0f c=%.0f k=%.0f %sx%s filter %s", what->op, what->type, what->images,
                     what->channels_in, what->channels_out, field(line, "h"), field(line, "w"), field(line, "filter"));
}

/* What is much longer than a launch says more of a model. */
#define SHORT_PROGRAM_NS 1e4

/* Of these programs only the element-wise ones can be described. */
static void read_program(struct truth_row *row, const struct line *line)
{
    struct described *what = &row->what;
    const bool two = !strcmp(field(line, "kernel_name"), "vectoradd");
    const char *machine = field(line, "machine");
    row->machine = *machine ? machine : "mi300a";
    row->program = field(line, "kernel_name");
    row->size_count = numbers_of(field(line, "problem_size"), row->sizes, TRUTH_SIZES);
    row->label = arena_printf(line->arena, "%s %s", field(line, "kernel_name"), field(line, "problem_size"));
    row->time_ns = number_of(line, "min_ms") * 1e6;
    row->family = row->time_ns > SHORT_PROGRAM_NS ? "HIP programs above 10 us" : "HIP programs up to 10 us";
    if (!two && strcmp(field(line, "kernel_name"), "relu") != 0)
        return;
    set_type(what, "f32");
    what->kind = DESCRIBED_ELEMENTWISE;
    what->family = "elementwise";
    what->op = two ? "add" : "relu";
    what->rows = number_of(line, "problem_size");
    what->columns = 1;
    what->operands = two ? 3 : 2;
}

static const struct truth_kind {
    const char *columns[12]; /* that it must have; the first ones tell the kind */
    void (*read)(struct truth_row *row, const struct line *line);
} kinds[] = {
    {{"target", "cus", "dtype", "scales", "m", "n", "k", "kernel", "split_k", "time_us"}, read_gemm},
    {{"op", "gpu", "dtype", "shape", "kernel", "time_us"}, read_torch},
    {{"direction", "database", "dtype", "n", "c", "k", "filter", "out_h", "out_w", "groups", "time_us"},
     read_convolution},
    {{"kernel_name", "problem_size", "min_ms"}, read_program},
};

static enum status find_kind(const struct truth_kind **kind, const char *path, const struct line *head, struct err *err)
{
    for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
        if (!has_column(head, kinds[k].columns[0]))
            continue;
        for (size_t column = 1; column < 12 && kinds[k].columns[column]; column++)
            if (!has_column(head, kinds[k].columns[column]))
                return err_set(err, ERR_CONFIG, "%s: has '%s' but no column '%s'", path, kinds[k].columns[0],
                               kinds[k].columns[column]);
        *kind = &kinds[k];
        return STATUS_OK;
    }
    return err_set(err, ERR_CONFIG,
                   "%s: no column tells what its rows are: 'target' of GEMMs, 'op' of operators, 'direction' of "
                   "convolutions or 'kernel_name' of programs",
                   path);
}

/* What a row cannot be right with, before a machine is known. */
static void check_numbers(struct truth_row *row)
{
    const struct described *what = &row->what;
    const double product = what->kind == DESCRIBED_GEMM ? what->m * what->n * what->k
                           : what->kind == DESCRIBED_CONVOLUTION
                               ? what->images * what->channels_in * what->channels_out * what->in[0] * what->in[1] *
                                     what->out[0] * what->out[1] * what->filter[0] * what->filter[1] * what->groups *
                                     what->stride[0] * what->stride[1]
                               : what->rows * what->columns;
    if (!row->problem && what->kind != DESCRIBED_NOTHING && !(product > 0 && isfinite(product)))
        row->problem = "a size is no positive number";
    if (!row->problem && !(row->time_ns > 0 && isfinite(row->time_ns)))
        row->problem = "the time is no positive number";
}

enum status truth_parse(struct truth *truth, const char *name, char *text, struct arena *arena, struct err *err)
{
    const char *names[MOST_COLUMNS];
    const struct truth_kind *kind = NULL;
    struct line line = {.names = names, .arena = arena};
    *truth = (struct truth){.path = name};
    line.count = split_record(names, &text);
    enum status status = find_kind(&kind, name, &line, err);
    for (size_t number_of_line = 2; !status && *text; number_of_line++) {
        struct truth_row row = {
            .machine = "",
            .family = "",
            .label = "",
            .source = "",
            .line = number_of_line,
            .what = {.family = "", .op = "", .type = "", .scales = "", .kernel = "", .library = ""}};
        const size_t found = split_record(line.fields, &text);
        if (found == 1 && !*line.fields[0])
            continue;
        for (size_t k = found; k < line.count; k++)
            line.fields[k] = "";
        row.time_ns = number_of(&line, "time_us") * 1e3;
        kind->read(&row, &line);
        row.problem = found == line.count ? row.problem : "it has not as many fields as the head";
        check_numbers(&row);
        ARENA_PUSH(arena, truth->rows, truth->count, row);
    }
    return status;
}

enum status truth_read(struct truth *truth, const char *path, struct arena *arena, struct err *err)
{
    char *text = NULL;
    size_t length = 0;
    enum status status = file_read(&text, &length, path, LONGEST_BYTES, arena, err);
    if (!status && memchr(text, '\0', length))
        return err_set(err, ERR_CONFIG, "%s: is no text", path);
    return status ? status : truth_parse(truth, path, text, arena, err);
}
