/* SPDX-License-Identifier: MIT
 *
 * Tables with a head: rocprofv3's and rocprof's CSV of kernels, copies, statistics and counters, nsys' statistics and
 * GPU trace, and AITER's lists of shapes. Columns are found by their names, whatever their order.
 */

#include "trace.h"

enum { MOST_COLUMNS = 64 };

struct csv {
    struct trace *trace;
    struct source *source;
    char *heads[MOST_COLUMNS], *cells[MOST_COLUMNS];
    size_t head_count, cell_count;
    double dispatch; /* of the row before */
};

/* ---- cells ---- */

/* Splits a line in place; quotes go. */
static size_t split(char *cells[static MOST_COLUMNS], char *at)
{
    size_t count = 0;
    while (count < MOST_COLUMNS) {
        char *out = at;
        cells[count++] = at;
        for (bool quoted = false; *at && (quoted || *at != ','); at++) {
            if (*at == '"' && quoted && at[1] == '"')
                *out++ = *at++;
            else if (*at == '"')
                quoted = !quoted;
            else
                *out++ = *at;
        }
        const bool more = *at == ',';
        at++;
        *out = '\0';
        if (!more)
            break;
    }
    return count;
}

static bool same_head(const char *a, const char *b, size_t length)
{
    size_t k = 0;
    a += strspn(a, " ");
    for (; k < length && a[k]; k++)
        if ((a[k] | 32) != (b[k] | 32))
            return false;
    return k == length && !a[k + strspn(a + k, " ")];
}

/* The cell under the first of these heads, between '|'; NULL: there is none. */
static const char *cell(const struct csv *csv, const char *heads)
{
    for (const char *at = heads; *at; at += strspn(at, "|")) {
        const size_t length = strcspn(at, "|");
        for (size_t k = 0; k < csv->head_count && k < csv->cell_count; k++)
            if (same_head(csv->heads[k], at, length))
                return csv->cells[k];
        at += length;
    }
    return NULL;
}

static double cell_value(const struct csv *csv, const char *heads, double otherwise)
{
    const char *text = cell(csv, heads);
    char *end = NULL;
    const double value = text ? strtod(text, &end) : otherwise;
    return end == text ? otherwise : value;
}

#define START "Start_Timestamp|BeginNs|Start (ns)|Start"
#define END "End_Timestamp|EndNs|End (ns)|End"
#define KERNEL "Kernel_Name|KernelName|Kernel Name|Name"
#define AGENT "Agent_Id|gpu-id|GPU_ID|Device|Destination_Agent_Id|DeviceId"

/* rocprofv3's streams, and nsys'; the queues of older tables are shared by several streams. */
static uint32_t stream_of(const struct csv *csv)
{
    const double stream = cell_value(csv, "Stream_Id|Strm", -1);
    return stream >= 0 && stream < 1e9 ? 1 + (uint32_t)stream : 0;
}

static struct gpu_event event_of(const struct csv *csv, const char *name, const char *category)
{
    const char *agent = cell(csv, AGENT);
    return (struct gpu_event){.category = category,
                              .name = name,
                              .device = trace_word(csv->trace, agent ? agent : ""),
                              .start = trace_stamp(csv->trace, cell(csv, START)),
                              .end = trace_stamp(csv->trace, cell(csv, END)),
                              .stream = stream_of(csv)};
}

/* ---- rows ---- */

/* rocprofv3's grids are in work-items. */
static void kernel_row(struct csv *csv)
{
    static const char *const grids[] = {"Grid_Size_X|Grid_Size|grd", "Grid_Size_Y", "Grid_Size_Z"};
    static const char *const blocks[] = {"Workgroup_Size_X|Workgroup_Size|wgr", "Workgroup_Size_Y", "Workgroup_Size_Z"};
    struct gpu_event event = event_of(csv, cell(csv, KERNEL), "kernel");
    event.in_lanes = true;
    for (size_t k = 0; k < 3; k++) {
        event.grid[k] = cell_value(csv, grids[k], 0);
        event.block[k] = cell_value(csv, blocks[k], 1);
    }
    trace_add_gpu(csv->trace, &event);
}

/* Of nsys' cuda_gpu_trace: kernels, with grids in workgroups, and "[CUDA memcpy HtoD]", without grids. */
static void gpu_trace_row(struct csv *csv)
{
    static const char *const grids[] = {"GrdX", "GrdY", "GrdZ"}, *const blocks[] = {"BlkX", "BlkY", "BlkZ"};
    const char *name = cell(csv, KERNEL);
    struct gpu_event event = event_of(csv, name, *name == '[' ? "gpu_memcpy" : "kernel");
    event.end = event.start + cell_value(csv, "Duration (ns)", NAN);
    for (size_t k = 0; k < 3; k++) {
        event.grid[k] = cell_value(csv, grids[k], 0);
        event.block[k] = cell_value(csv, blocks[k], 0);
    }
    trace_add_gpu(csv->trace, &event);
}

static void copy_row(struct csv *csv)
{
    const struct gpu_event event = event_of(csv, cell(csv, "Direction|Kind"), "gpu_memcpy");
    trace_add_gpu(csv->trace, &event);
}

/* A kernel of which no more is known. */
static void add_kernel(struct csv *csv, const char *name, double count, double time_ns)
{
    const uint32_t number = texts_add(&csv->trace->names, name, strlen(name));
    ARENA_PUSH(&csv->trace->arena, csv->trace->calls, csv->trace->call_count,
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

static void stats_row(struct csv *csv)
{
    const char *name = cell(csv, KERNEL);
    const double calls = cell_value(csv, "Calls|Instances", 0);
    const double total = cell_value(csv, "TotalDurationNs|Total Time (ns)|TotalDuration(Ns)", NAN);
    if (!is_kernel(name))
        trace_skip(csv->trace, "a row that is of no kernel was skipped");
    else if (calls > 0 && isfinite(calls) && !(total < 0))
        add_kernel(csv, name, calls, total / calls);
    else
        trace_skip(csv->trace, "a row without calls, or with a negative time, was skipped");
}

/* A row for each counter of each dispatch. */
static void counter_row(struct csv *csv)
{
    const char *name = cell(csv, KERNEL);
    const double dispatch = cell_value(csv, "Dispatch_Id", -1);
    trace_count(csv->trace, name, cell(csv, "Counter_Name"), cell_value(csv, "Counter_Value", NAN));
    if (dispatch == csv->dispatch)
        return;
    csv->dispatch = dispatch;
    if (cell(csv, START) && cell_value(csv, START, 0) > 0)
        kernel_row(csv);
    else
        add_kernel(csv, name, 1, NAN);
}

static const char *type_of(const char *word, const char *otherwise)
{
    const char *type = word ? dtype_of_trace(word) : otherwise;
    return type ? type : "";
}

/* AITER: A is M x K, B N x K. */
static void aiter_row(struct csv *csv)
{
    const double mnk[3] = {cell_value(csv, "N", 0), cell_value(csv, "M", 0), cell_value(csv, "K", 0)};
    const char *type = cell(csv, "q_dtype_w|dtype"), *total = cell(csv, "outdtype|dtype");
    const double us = cell_value(csv, "us", NAN);
    struct trace_operator operator= {.name = "aiter gemm", .shape = ""};
    if (!(mnk[0] > 0 && mnk[1] > 0 && mnk[2] > 0)) {
        trace_skip(csv->trace, "a row without M, N and K was skipped");
        return;
    }
    blas_gemm(&operator, mnk, cell_value(csv, "B", 1), true, false);
    operator.dtype = type_of(type, "");
    operator.total = type_of(total, operator.dtype[0] ? "bf16" : "");
    trace_add_call(csv->trace, &operator, 1, us > 0 ? us * 1e3 : NAN);
}

/* Both products of a mixture of experts: gate and up, then down. The time is of both. */
static void aiter_moe_row(struct csv *csv)
{
    const double token = cell_value(csv, "token", 0), model = cell_value(csv, "model_dim", 0);
    const double inter = cell_value(csv, "inter_dim", 0), experts = cell_value(csv, "expert", 0);
    const double rows = token * cell_value(csv, "topk", 1), gated = cell_value(csv, "use_g1u1", 1) != 0;
    const char *type = cell(csv, "q_dtype_w|dtype"), *total = cell(csv, "dtype");
    struct trace_operator operator= {.kind = IMPORT_MOE_GEMM, .shape = "", .layout = ""};
    operator.dtype = type_of(type, "");
    operator.total = type_of(total, "");
    if (!(rows > 0 && model > 0 && inter > 0 && experts > 0)) {
        trace_skip(csv->trace, "a row without the sizes of its experts was skipped");
        return;
    }
    const double first[] = {rows, gated > 0 ? 2 * inter : inter, model, experts},
                 second[] = {rows, model, inter, experts};
    operator.name = "aiter moe, gate and up";
    memcpy(operator.dims, first, sizeof(first));
    trace_add_call(csv->trace, &operator, 1, NAN);
    operator.name = "aiter moe, down";
    memcpy(operator.dims, second, sizeof(second));
    trace_add_call(csv->trace, &operator, 1, NAN);
}

/* The first row whose columns are all there says what the table is. */
static const struct dialect {
    const char *name, *columns[4]; /* NULL after the last */
    void (*row)(struct csv *csv);
} dialects[] = {
    {"counters, CSV", {"Counter_Name", KERNEL, "Dispatch_Id"}, counter_row},
    {"copies, CSV", {"Direction", START, END}, copy_row},
    {"nsys' GPU trace, CSV", {"Start (ns)", "Duration (ns)", "CorrId", "Name"}, gpu_trace_row},
    {"AITER, experts", {"token", "model_dim", "inter_dim", "expert"}, aiter_moe_row},
    {"kernel trace, CSV", {"Kernel_Name|KernelName|Kernel Name", START, END}, kernel_row},
    {"kernel statistics, CSV",
     {KERNEL, "Calls|Instances", "TotalDurationNs|Total Time (ns)|TotalDuration(Ns)"},
     stats_row},
    {"AITER", {"M", "N", "K"}, aiter_row},
};

static const struct dialect *dialect_of(struct csv *csv)
{
    csv->cell_count = csv->head_count;
    for (size_t k = 0; k < COUNT_OF(dialects); k++) {
        size_t found = 0;
        while (found < COUNT_OF(dialects[k].columns) && dialects[k].columns[found] &&
               cell(csv, dialects[k].columns[found]))
            found++;
        if (found == COUNT_OF(dialects[k].columns) || !dialects[k].columns[found])
            return &dialects[k];
    }
    return NULL;
}

bool detect_csv(const char *head)
{
    SCOPED(arena_release) struct arena arena = {0};
    struct csv *csv = arena_alloc(&arena, sizeof(*csv));
    const char *said = strstr(head, "Processing ["); /* by nsys, on the line before the table */
    if (said && (said == head || said[-1] == '\n') && strchr(said, '\n'))
        head = strchr(said, '\n') + 1;
    char *line = arena_strndup(&arena, head, strcspn(head, "\r\n"));
    csv->head_count = split(csv->heads, line);
    memcpy(csv->cells, csv->heads, sizeof(csv->cells));
    return dialect_of(csv) != NULL;
}

enum status read_csv(struct trace *trace, struct source *source, struct err *err)
{
    struct csv csv = {.trace = trace, .source = source, .dispatch = -2};
    SCOPED(arena_release) struct arena arena = {0};
    size_t length;
    const struct dialect *dialect = NULL;
    for (char *head; !dialect && (head = source_line(source, &length));) {
        csv.head_count = split(csv.heads, arena_strndup(&arena, head, length));
        memcpy(csv.cells, csv.heads, sizeof(csv.cells));
        dialect = dialect_of(&csv);
    }
    if (!dialect)
        return err_set(err, ERR_CONFIG, "%s: the head of its table is damaged", source->path);
    trace->format = dialect->name;
    for (char *line = source_line(source, &length); line; line = source_line(source, &length)) {
        csv.cell_count = split(csv.cells, line);
        if (!line[0])
            continue;
        bool whole = true;
        for (size_t k = 0; k < COUNT_OF(dialect->columns) && dialect->columns[k]; k++)
            whole = whole && cell(&csv, dialect->columns[k]);
        if (whole)
            dialect->row(&csv);
        else
            trace_skip(trace, "a row with %zu of %zu columns was skipped", csv.cell_count, csv.head_count);
    }
    return STATUS_OK;
}

/* ---- PyTorch's TunableOp ---- */

bool detect_tunableop(const char *head)
{
    const char *word = strstr(head, "TunableOp_");
    return text_starts(head, "Validator,") || (word && word < head + strcspn(head, ",\n"));
}

/* "tn_152064_3_5120_ld_...", with "_B_12" of batches: BLAS's letters, m, n, k. */
static bool read_parameters(struct trace_operator *out, const char *text)
{
    double mnk[3] = {0};
    char *end = NULL;
    const bool a = text[0] == 't', b = text[0] && text[1] == 't';
    const char *at = text + 2, *batch = strstr(text, "_B_");
    for (size_t k = 0; k < 3; k++) {
        mnk[k] = *at == '_' ? strtod(at + 1, &end) : 0;
        if (!(mnk[k] > 0) || !end)
            return false;
        at = end;
    }
    blas_gemm(out, mnk, batch ? strtod(batch + 3, NULL) : 1, a, b);
    return true;
}

enum status read_tunableop(struct trace *trace, struct source *source, struct err *err)
{
    size_t length;
    char *cells[MOST_COLUMNS];
    const size_t before = trace->call_count;
    for (char *line = source_line(source, &length); line; line = source_line(source, &length)) {
        const size_t count = split(cells, line);
        struct trace_operator operator= {.shape = "", .dtype = "", .total = ""};
        if (strcmp(cells[0], "Validator") == 0 && count > 2 && strcmp(cells[1], "GCN_ARCH_NAME") == 0 && !trace->arch)
            trace->arch = arena_strdup(&trace->arena, cells[2]);
        if (strcmp(cells[0], "Validator") == 0 || !cells[0][0])
            continue;
        if (count < 2 || !strstr(cells[0], "Tunable") || strlen(cells[1]) < 3 ||
            !read_parameters(&operator, cells[1])) {
            trace_skip(trace, "a line that is no product that was tuned was skipped");
            continue;
        }
        const double ms = count > 3 ? strtod(cells[3], NULL) : 0; /* of what is still to be tuned there is none */
        operator.name = arena_strdup(&trace->arena, cells[0]);
        operator.dtype = operator.total = type_of(cells[0], "");
        if (strstr(operator.dtype, "e4m3") || strstr(operator.dtype, "e5m2"))
            operator.total = strstr(cells[0], "BFloat16") ? "bf16" : strstr(cells[0], "Half") ? "f16" : operator.dtype;
        trace_add_call(trace, &operator, 1, ms > 0 ? ms * 1e6 : NAN);
    }
    return trace->call_count > before ? STATUS_OK
                                      : err_set(err, ERR_CONFIG, "%s: no product was tuned in it", source->path);
}
