/* SPDX-License-Identifier: MIT
 *
 * Tables with a head: rocprofv3's and rocprof's CSV of kernels, copies, statistics and counters, nsys' statistics and
 * GPU trace, AITER's lists of shapes, and results of the benchmarks of BLAS libraries. Columns are found by their
 * names, whatever their order.
 */

#include "lines.h"

#define START "Start_Timestamp|BeginNs|Start (ns)|Start"
#define END "End_Timestamp|EndNs|End (ns)|End"
#define LENGTH "Duration (ns)"
#define KERNEL "Kernel_Name|KernelName|Kernel Name|Name"
#define AGENT "Agent_Id|gpu-id|GPU_ID|Device|Destination_Agent_Id|DeviceId"

/* rocprofv3's streams, and nsys'; the queues of older tables are shared by several streams. */
static uint32_t stream_of(const struct lines *lines)
{
    const double stream = field_number(&lines->csv.row, "Stream_Id|Strm", -1);
    return stream >= 0 && stream < 1e9 ? 1 + (uint32_t)stream : 0;
}

static struct gpu_event event_of(const struct lines *lines, const char *name, const char *category)
{
    const char *agent = field(&lines->csv.row, AGENT);
    return (struct gpu_event){.category = category,
                              .name = name,
                              .device = trace_word(lines->trace, agent ? agent : ""),
                              .start = trace_stamp(lines->trace, field(&lines->csv.row, START)),
                              .end = trace_stamp(lines->trace, field(&lines->csv.row, END)),
                              .stream = stream_of(lines)};
}

/* ---- rows ---- */

/* rocprofv3's grids are in work-items; those of nsys' cuda_gpu_trace in workgroups, beside copies without any. */
static void kernel_row(struct lines *lines)
{
    static const char *const grids[] = {"Grid_Size_X|Grid_Size|grd|GrdX", "Grid_Size_Y|GrdY", "Grid_Size_Z|GrdZ"};
    static const char *const blocks[] = {"Workgroup_Size_X|Workgroup_Size|wgr|BlkX", "Workgroup_Size_Y|BlkY",
                                         "Workgroup_Size_Z|BlkZ"};
    const struct fields *row = &lines->csv.row;
    const char *name = field(row, KERNEL);
    struct gpu_event event = event_of(lines, name, text_starts(name, "[CUDA mem") ? "gpu_memcpy" : "kernel");
    event.in_lanes = !field(row, "GrdX");
    if (field(row, LENGTH))
        event.end = event.start + field_number(row, LENGTH, NAN);
    for (size_t k = 0; k < 3; k++) {
        event.grid[k] = field_number(row, grids[k], 0);
        event.block[k] = field_number(row, blocks[k], event.in_lanes);
    }
    trace_add_gpu(lines->trace, &event);
}

static void copy_row(struct lines *lines)
{
    const struct gpu_event event = event_of(lines, field(&lines->csv.row, "Direction|Kind"), "gpu_memcpy");
    trace_add_gpu(lines->trace, &event);
}

/* A kernel of which no more is known. */
static void add_kernel(struct lines *lines, const char *name, double count, double time_ns)
{
    const uint32_t number = texts_add(&lines->trace->names, name, strlen(name));
    ARENA_PUSH(&lines->trace->arena, lines->trace->calls, lines->trace->call_count,
               (struct trace_call){.signature = TRACE_NONE, .name = number, .count = count, .time_ns = time_ns});
}

/* rocprofv3 has tables of the same form of calls on the host, and of all kinds of records. */
static bool is_kernel(const char *name)
{
    static const char kinds[] = "HIP_API HSA_API MARKER_API RCCL_API ROCDECODE_API KERNEL_DISPATCH MEMORY_COPY "
                                "MEMORY_ALLOCATION SCRATCH_MEMORY";
    const bool call = text_starts(name, "hsa_") || (text_starts(name, "hip") && name[3] >= 'A' && name[3] <= 'Z');
    return !text_has_word(kinds, " ", name, strlen(name)) && (!call || strpbrk(name, "(<"));
}

static void stats_row(struct lines *lines)
{
    const char *name = field(&lines->csv.row, KERNEL);
    const double calls = field_number(&lines->csv.row, "Calls|Instances", 0);
    const double total = field_number(&lines->csv.row, "TotalDurationNs|Total Time (ns)|TotalDuration(Ns)", NAN);
    if (!is_kernel(name))
        trace_skip(lines->trace, "a row that is of no kernel was skipped");
    else if (calls > 0 && isfinite(calls) && !(total < 0))
        add_kernel(lines, name, calls, total / calls);
    else
        trace_skip(lines->trace, "a row without calls, or with a negative time, was skipped");
}

/* A row for each counter of each dispatch. */
static void counter_row(struct lines *lines)
{
    const char *name = field(&lines->csv.row, KERNEL);
    const double dispatch = field_number(&lines->csv.row, "Dispatch_Id", -1);
    trace_count(lines->trace, name, field(&lines->csv.row, "Counter_Name"),
                field_number(&lines->csv.row, "Counter_Value", NAN));
    if (dispatch == lines->csv.dispatch)
        return;
    lines->csv.dispatch = dispatch;
    if (field(&lines->csv.row, START) && field_number(&lines->csv.row, START, 0) > 0)
        kernel_row(lines);
    else
        add_kernel(lines, name, 1, NAN);
}

static const char *type_of(const struct fields *row, const char *names, const char *otherwise)
{
    const char *word = field(row, names), *type = word ? dtype_of_trace(word) : otherwise;
    return type ? type : "";
}

static const char *factors_of(const struct fields *row, struct arena *arena)
{
    const char *weights = type_of(row, "q_dtype_w|dtype", "");
    return product_type(type_of(row, "q_dtype_a", weights), weights, arena);
}

void aiter_product(struct trace *trace, const struct fields *row)
{
    const double mnk[3] = {field_number(row, "N", 0), field_number(row, "M", 0), field_number(row, "K", 0)};
    const double us = field_number(row, "us", NAN);
    struct trace_operator operator= {.name = "aiter gemm", .shape = ""};
    if (!(mnk[0] > 0 && mnk[1] > 0 && mnk[2] > 0)) {
        trace_skip(trace, "a row without M, N and K was skipped");
        return;
    }
    blas_gemm(&operator, mnk, field_number(row, "B", 1), true, false);
    operator.dtype = factors_of(row, &trace->arena);
    operator.total = type_of(row, "outdtype|otype|dtype", operator.dtype[0] ? "bf16" : "");
    trace_add_call(trace, &operator, 1, us > 0 ? us * 1e3 : NAN);
}

static void aiter_row(struct lines *lines)
{
    aiter_product(lines->trace, &lines->csv.row);
}

/* Both products of a mixture of experts, gate and up, then down: as many FLOPs and weights as one with the columns of
 * both. */
static void aiter_moe_row(struct lines *lines)
{
    const struct fields *row = &lines->csv.row;
    const double inter = field_number(row, "inter_dim", 0), gated = field_number(row, "use_g1u1", 1) != 0;
    const double dims[] = {field_number(row, "token", 0) * field_number(row, "topk", 1), inter * (gated > 0 ? 3 : 2),
                           field_number(row, "model_dim", 0), field_number(row, "expert", 0)};
    const double us = field_number(row, "us|us1", NAN);
    struct trace_operator operator= {.name = "aiter moe",
                                     .kind = IMPORT_MOE_GEMM,
                                     .dtype = factors_of(row, &lines->trace->arena),
                                     .total = type_of(row, "dtype", ""),
                                     .extra = EXPERTS_TOGETHER};
    if (!(dims[0] > 0 && dims[1] > 0 && dims[2] > 0 && dims[3] > 0)) {
        trace_skip(lines->trace, "a row without the sizes of its experts was skipped");
        return;
    }
    memcpy(operator.dims, dims, sizeof(dims));
    trace_add_call(lines->trace, &operator, 1, us > 0 ? us * 1e3 : NAN);
}

/* The first row whose columns are all there says what the table is. */
static const struct dialect {
    const char *name, *columns[4]; /* NULL after the last */
    void (*row)(struct lines *lines);
} dialects[] = {
    {"library log", {"us|rocblas-us", "rocblas-Gflops|rocblas-GB/s|hipblaslt-Gflops|hipblaslt-GB/s"}, bench_row},
    {"counters, CSV", {"Counter_Name", KERNEL, "Dispatch_Id"}, counter_row},
    {"copies, CSV", {"Direction", START, END}, copy_row},
    {"nsys' GPU trace, CSV", {"Start (ns)", LENGTH, "CorrId", "Name"}, kernel_row},
    {"AITER, experts", {"token", "model_dim", "inter_dim", "expert"}, aiter_moe_row},
    {"kernel trace, CSV", {"Kernel_Name|KernelName|Kernel Name", START, END}, kernel_row},
    {"kernel statistics, CSV",
     {KERNEL, "Calls|Instances", "TotalDurationNs|Total Time (ns)|TotalDuration(Ns)"},
     stats_row},
    {"AITER", {"M", "N", "K"}, aiter_row},
};

/* Has the row a cell under each of the columns? */
static bool has_columns(const struct fields *row, const struct dialect *dialect)
{
    for (size_t k = 0; k < COUNT_OF(dialect->columns) && dialect->columns[k]; k++)
        if (!field(row, dialect->columns[k]))
            return false;
    return true;
}

/* The line's copy, cut into the values of `row`; NULL for those that it lacks. */
static size_t split_copy(const char *cells[static MOST_FIELDS], struct lines *lines, const char *line, size_t length)
{
    text_clear(&lines->room);
    text_addn(&lines->room, line, length);
    const size_t count = split_cells(cells, lines->room.data);
    for (size_t k = count; k < MOST_FIELDS; k++)
        cells[k] = NULL;
    return count;
}

/* hipblaslt-bench numbers its heads: "[0]:transA,...". */
static bool take_head(struct lines *lines, const char *line, size_t length)
{
    struct fields head = {.any_case = true};
    const char *colon = line[0] == '[' ? strstr(line, "]:") : NULL, *at = colon ? colon + 2 : line;
    head.count = split_copy(head.keys, lines, at, length - (size_t)(at - line));
    memcpy(head.values, head.keys, sizeof(head.values));
    for (size_t k = 0; k < COUNT_OF(dialects); k++)
        if (has_columns(&head, &dialects[k])) {
            split_cells(head.keys, arena_strdup(&lines->arena, at));
            lines->csv = (struct csv){.dialect = &dialects[k], .row = head, .dispatch = -2};
            lines->trace->format = lines->trace->format ? lines->trace->format : dialects[k].name;
            return true;
        }
    return false;
}

bool table_line(struct lines *lines, char *line, size_t length)
{
    struct csv *csv = &lines->csv;
    bool number = !csv->dialect; /* a head has none */
    csv->cells = 1;
    if (!memchr(line, ',', length) || text_starts(line + strspn(line, "- "), "{"))
        return false;
    if (!csv->dialect)
        return take_head(lines, line, length);
    csv->cells = split_copy(csv->row.values, lines, line, length);
    for (size_t k = 0; k < csv->cells; k++)
        number = number || isdigit((unsigned char)csv->row.values[k][0]);
    if (!number && take_head(lines, line, length))
        return true;
    if (!has_columns(&csv->row, csv->dialect))
        return false;
    csv->dialect->row(lines);
    return true;
}

bool stray_line(struct lines *lines, UNUSED char *line, size_t length)
{
    const struct csv *csv = &lines->csv;
    if (csv->dialect && csv->dialect->row != bench_row && length)
        trace_skip(lines->trace, "a row with %zu of %zu columns was skipped", csv->cells, csv->row.count);
    return false;
}

/* ---- PyTorch's TunableOp ---- */

/* "tn_152064_3_5120_ld_...", with "_B_12" of batches: BLAS's letters, m, n, k. */
static bool read_parameters(struct trace_operator *out, const char *text)
{
    double mnk[3] = {0};
    char *end = NULL;
    const bool a = text[0] == 't', b = text[0] && text[1] == 't';
    const char *at = strlen(text) > 2 ? text + 2 : "", *batch = strstr(text, "_B_");
    for (size_t k = 0; k < 3; k++) {
        mnk[k] = *at == '_' ? strtod(at + 1, &end) : 0;
        if (!(mnk[k] > 0) || !end)
            return false;
        at = end;
    }
    blas_gemm(out, mnk, batch ? strtod(batch + 3, NULL) : 1, a, b);
    return true;
}

bool tunableop_line(struct lines *lines, char *line, UNUSED size_t length)
{
    struct trace *trace = lines->trace;
    const char *word = strstr(line, "TunableOp_"), *cells[MOST_FIELDS];
    const bool validator = text_starts(line, "Validator,");
    struct trace_operator operator= {.shape = ""};
    if (!validator && !(word && word < line + strcspn(line, ",")))
        return false;
    const size_t count = split_cells(cells, line);
    if (validator) {
        if (count > 2 && strcmp(cells[1], "GCN_ARCH_NAME") == 0 && !trace->arch)
            trace->arch = arena_strdup(&trace->arena, cells[2]);
        return true;
    }
    if (count < 2 || !read_parameters(&operator, cells[1])) {
        trace_skip(trace, "a line that is no product that was tuned was skipped");
        return true;
    }
    const double ms = count > 3 ? strtod(cells[3], NULL) : 0; /* of what is still to be tuned there is none */
    const char *dtype = dtype_of_trace(cells[0]);
    operator.name = arena_strdup(&trace->arena, cells[0]);
    operator.dtype = operator.total = dtype ? dtype : "";
    if (strstr(operator.dtype, "e4m3") || strstr(operator.dtype, "e5m2")) /* the last type is the result's */
        operator.total = strstr(cells[0], "BFloat16") ? "bf16"
        : strstr(cells[0], "Half")                    ? "f16"
        : strstr(cells[0], "_float_")                 ? "f32"
                                                      :
                                      operator.dtype;
    trace_add_call(trace, &operator, 1, ms > 0 ? ms * 1e6 : NAN);
    return true;
}
