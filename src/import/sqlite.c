/* SPDX-License-Identifier: MIT
 *
 * Databases: rocprofv3's rocpd (schemas 3.0.0 to 4.1.0: tables carry a suffix for each process; a dispatch names its
 * agent itself or through a track) and what nsys exports. What differs between versions is asked of the database: which
 * tables, which columns.
 */
#include <sqlite3.h>

#include "trace.h"

struct base {
    sqlite3 *db;
    struct trace *trace;
    struct arena arena;
    unsigned process_count; /* of nsys: those with kernels, and their numbers in SQL */
    const char *numbers;
};

/* ---- asking ---- */

static sqlite3_stmt *ask(struct base *base, const char *format, ...) __attribute__((format(printf, 2, 3)));
static sqlite3_stmt *ask(struct base *base, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *sql = arena_vprintf(&base->arena, format, args);
    va_end(args);
    sqlite3_stmt *rows = NULL;
    if (sqlite3_prepare_v2(base->db, sql, -1, &rows, NULL) != SQLITE_OK)
        trace_note(base->trace, "%s: %s", base->trace->path, sqlite3_errmsg(base->db));
    return rows;
}

/* The next row; at the end, or where the file is damaged, the statement goes. */
static bool next(struct base *base, sqlite3_stmt *rows)
{
    const int got = rows ? sqlite3_step(rows) : SQLITE_DONE;
    if (got == SQLITE_ROW)
        return true;
    if (got != SQLITE_DONE)
        trace_note(base->trace, "%s: %s; the rows before are used", base->trace->path, sqlite3_errmsg(base->db));
    sqlite3_finalize(rows);
    return false;
}

static const char *text_at(sqlite3_stmt *rows, int column)
{
    const unsigned char *text = sqlite3_column_text(rows, column);
    return text ? (const char *)text : "";
}

static double stamp_at(struct base *base, sqlite3_stmt *rows, int column)
{
    return trace_since_first(base->trace, (uint64_t)sqlite3_column_int64(rows, column));
}

static bool has_column(struct base *base, const char *table, const char *column)
{
    bool found = false;
    sqlite3_stmt *rows = ask(base, "SELECT 1 FROM pragma_table_info('%s') WHERE name = '%s'", table, column);
    while (next(base, rows))
        found = true;
    return found;
}

static bool has_table(struct base *base, const char *table)
{
    bool found = false;
    sqlite3_stmt *rows =
        ask(base, "SELECT 1 FROM sqlite_master WHERE type IN ('table', 'view') AND name = '%s'", table);
    while (next(base, rows))
        found = true;
    return found;
}

/* ---- events ---- */

/* Columns: start, end, name, device, stream, grid (three), block (three), correlation. */
static void add_event(struct base *base, sqlite3_stmt *rows, const char *category, bool in_lanes)
{
    const int count = sqlite3_column_count(rows);
    struct gpu_event event = {.category = category,
                              .name = text_at(rows, 2),
                              .device = trace_word(base->trace, text_at(rows, 3)),
                              .in_lanes = in_lanes,
                              .start = stamp_at(base, rows, 0),
                              .end = stamp_at(base, rows, 1),
                              .stream = text_at(rows, 4)[0] ? 1 + trace_word(base->trace, text_at(rows, 4)) : 0,
                              .correlation = count > 11 ? (uint32_t)sqlite3_column_int64(rows, 11) : 0};
    for (int k = 0; k < 3 && count > 10; k++) {
        event.grid[k] = sqlite3_column_double(rows, 5 + k);
        event.block[k] = sqlite3_column_double(rows, 8 + k);
    }
    trace_add_gpu(base->trace, &event);
}

static void set_device(struct base *base, sqlite3_stmt *rows)
{
    while (next(base, rows)) {
        struct trace *trace = base->trace;
        if (!trace->device_name && text_at(rows, 0)[0])
            trace->device_name = arena_strdup(&trace->arena, text_at(rows, 0));
        if (!trace->arch && text_at(rows, 1)[0])
            trace->arch = arena_strdup(&trace->arena, text_at(rows, 1));
        if (!trace->cus)
            trace->cus = (uint32_t)sqlite3_column_int(rows, 2);
    }
}

/* ---- rocpd ---- */

/* The agent of a dispatch or copy, and how to join it. */
static const char *agent_join(struct base *base, const char *table, const char *suffix, const char *column)
{
    const bool own = has_column(base, table, column);
    if (!own && !has_column(base, table, "track_id"))
        return "";
    return arena_printf(&base->arena, "%s LEFT JOIN \"rocpd_info_agent%s\" a ON a.id = %s AND a.guid = d.guid",
                        own ? ""
                            : arena_printf(&base->arena,
                                           " LEFT JOIN \"rocpd_track%s\" t ON t.id = d.track_id AND t.guid = d.guid",
                                           suffix),
                        suffix, own ? arena_printf(&base->arena, "d.%s", column) : "t.agent_id");
}

/* When it ran: its own columns, or of the first schemas rows of another table. */
static const char *stamps(struct base *base, const char *table, const char *suffix, const char **joins)
{
    if (has_column(base, table, "start") || !has_column(base, table, "start_id"))
        return "d.start, d.\"end\"";
    *joins = arena_printf(&base->arena,
                          "%s JOIN \"rocpd_timestamp%s\" b ON b.id = d.start_id AND b.guid = d.guid JOIN "
                          "\"rocpd_timestamp%s\" e ON e.id = d.end_id AND e.guid = d.guid",
                          *joins, suffix, suffix);
    return "b.value, e.value";
}

/* A counter has a value for each of its instances; all of a dispatch hang on its event. Samples in time are none. */
static void rocpd_counters(struct base *base, const char *suffix, const char *name)
{
    const char *values = arena_printf(&base->arena, "rocpd_pmc_event%s", suffix);
    if (!has_table(base, values))
        return;
    sqlite3_stmt *rows = ask(base,
                             "SELECT coalesce(%s, ''), p.name, sum(e.value) FROM \"rocpd_pmc_event%s\" e "
                             "JOIN \"rocpd_info_pmc%s\" p ON p.id = e.pmc_id AND p.guid = e.guid "
                             "JOIN \"rocpd_kernel_dispatch%s\" d ON d.event_id = e.event_id AND d.guid = e.guid "
                             "LEFT JOIN \"rocpd_info_kernel_symbol%s\" k ON k.id = d.kernel_id AND k.guid = d.guid "
                             "%s GROUP BY d.id, p.name ORDER BY d.id, p.name",
                             name, suffix, suffix, suffix, suffix,
                             has_column(base, values, "sample_id") ? "WHERE e.sample_id IS NULL" : "");
    while (next(base, rows))
        trace_count(base->trace, text_at(rows, 0), text_at(rows, 1), sqlite3_column_double(rows, 2));
}

static void rocpd_process(struct base *base, const char *suffix)
{
    const char *table = arena_printf(&base->arena, "rocpd_kernel_dispatch%s", suffix);
    const char *copies = arena_printf(&base->arena, "rocpd_memory_copy%s", suffix);
    const char *symbols = arena_printf(&base->arena, "rocpd_info_kernel_symbol%s", suffix);
    const char *name = has_column(base, symbols, "display_name") ? "coalesce(nullif(k.display_name, ''), k.kernel_name)"
                                                                 : "k.kernel_name";
    const char *join = agent_join(base, table, suffix, "agent_id");
    const char *agent = *join ? "a.nid || '/' || coalesce(a.absolute_index, a.id)" : "''";
    const char *times = stamps(base, table, suffix, &join);
    sqlite3_stmt *rows = ask(base,
                             "SELECT %s, coalesce(%s, 'kernel ' || d.kernel_id), %s, %s, d.grid_size_x, d.grid_size_y, "
                             "d.grid_size_z, d.workgroup_size_x, d.workgroup_size_y, d.workgroup_size_z FROM \"%s\" d "
                             "LEFT JOIN \"%s\" k ON k.id = d.kernel_id AND k.guid = d.guid%s ORDER BY 1",
                             times, name, agent, has_column(base, table, "stream_id") ? "d.guid || d.stream_id" : "''",
                             table, symbols, join);
    while (next(base, rows))
        add_event(base, rows, "kernel", true);
    if (has_table(base, copies)) {
        join = agent_join(base, copies, suffix, "dst_agent_id");
        agent = *join ? "coalesce(a.nid || '/' || coalesce(a.absolute_index, a.id), '')" : "''";
        times = stamps(base, copies, suffix, &join);
        rows = ask(base,
                   "SELECT %s, coalesce(s.string, 'memory copy'), %s, '' FROM \"%s\" d LEFT JOIN "
                   "\"rocpd_string%s\" s ON s.id = d.name_id AND s.guid = d.guid%s ORDER BY 1",
                   times, agent, copies, suffix, join);
        while (next(base, rows))
            add_event(base, rows, "gpu_memcpy", true);
    }
    rocpd_counters(base, suffix, name);
    set_device(base,
               ask(base,
                   "SELECT product_name, name, CASE WHEN json_valid(extdata) THEN json_extract(extdata, '$.cu_count') "
                   "END FROM \"rocpd_info_agent%s\" WHERE type = 'GPU' ORDER BY absolute_index",
                   suffix));
}

static void read_rocpd(struct base *base)
{
    base->trace->format = "rocpd";
    const char **suffixes = NULL;
    size_t count = 0;
    sqlite3_stmt *rows =
        ask(base, "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'rocpd_kernel_dispatch%%' "
                  "ORDER BY name");
    while (next(base, rows))
        if (!strchr(text_at(rows, 0), '"') && !strchr(text_at(rows, 0), '\''))
            ARENA_PUSH(&base->arena, suffixes, count,
                       arena_strdup(&base->arena, text_at(rows, 0) + strlen("rocpd_kernel_dispatch")));
    for (size_t k = 0; k < count; k++)
        rocpd_process(base, suffixes[k]);
}

/* ---- nsys ---- */

#define NSYS_KERNELS "CUPTI_ACTIVITY_KIND_KERNEL"
#define NSYS_GRAPHS "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"

/* Processes, whose correlation ids are their own: globalPid is the globalTid of their threads without its low bits. */
static void find_processes(struct base *base)
{
    if (!has_column(base, NSYS_KERNELS, "globalPid"))
        return;
    sqlite3_stmt *rows = ask(base, "SELECT DISTINCT globalPid FROM " NSYS_KERNELS " ORDER BY 1");
    base->numbers = "";
    for (; next(base, rows); base->process_count++)
        base->numbers = arena_printf(&base->arena, "%s WHEN %lld THEN %u", base->numbers,
                                     (long long)sqlite3_column_int64(rows, 0), base->process_count);
}

/* A correlation id that no two processes share, in SQL. */
static const char *nsys_id(struct base *base, const char *table, const char *id, const char *process)
{
    if (!has_column(base, table, id))
        return "0";
    if (base->process_count < 2 || !has_column(base, table, process))
        return arena_printf(&base->arena, "k.%s", id);
    return arena_printf(&base->arena, "k.%s * %u + CASE k.%s / 16777216 * 16777216%s ELSE 0 END", id,
                        base->process_count, process, base->numbers);
}

/* PyTorch's emit_nvtx(record_shapes=True): "aten::mm, op_id = 12, sizes = [[8, 4], [4, 2]]". */
static void read_nvtx(struct base *base)
{
    struct text signature = {0};
    struct trace *trace = base->trace;
    sqlite3_stmt *rows =
        ask(base, "SELECT n.start, n.\"end\", coalesce(n.text, s.value), n.globalTid FROM NVTX_EVENTS n LEFT JOIN "
                  "StringIds s ON s.id = n.textId WHERE n.\"end\" IS NOT NULL ORDER BY n.start");
    while (next(base, rows)) {
        const char *text = text_at(rows, 2), *sizes = strstr(text, "sizes = ["), *thread = text_at(rows, 3);
        if (!sizes)
            continue;
        text_clear(&signature);
        text_addn(&signature, text, strcspn(text, ","));
        text_addf(&signature, "\n%s\n\n\n\n", sizes + strlen("sizes = "));
        ARRAY_PUSH(trace->operators.items, trace->operators.count,
                   (struct host_event){.start = stamp_at(base, rows, 0),
                                       .end = stamp_at(base, rows, 1),
                                       .thread = trace_word(trace, thread),
                                       .signature = texts_add(&trace->signatures, signature.data, signature.length)});
    }
    text_release(&signature);
    rows =
        ask(base, "SELECT k.start, k.\"end\", %s, k.globalTid, %s FROM CUPTI_ACTIVITY_KIND_RUNTIME k ORDER BY k.start",
            nsys_id(base, "CUPTI_ACTIVITY_KIND_RUNTIME", "correlationId", "globalTid"),
            has_column(base, "CUPTI_ACTIVITY_KIND_RUNTIME", "nameId")
                ? "(SELECT value FROM StringIds s WHERE s.id = k.nameId)"
                : "''");
    while (trace->operators.count && next(base, rows)) {
        const char *thread = text_at(rows, 3);
        const bool graph = strstr(text_at(rows, 4), "GraphLaunch"); /* its kernels are of whoever was captured */
        ARRAY_PUSH(trace->runtime.items, trace->runtime.count,
                   (struct host_event){.start = stamp_at(base, rows, 0),
                                       .end = stamp_at(base, rows, 1),
                                       .id = (uint32_t)sqlite3_column_int64(rows, 2),
                                       .thread = graph ? TRACE_NONE : trace_word(trace, thread),
                                       .signature = TRACE_NONE,
                                       .whole = TRACE_NONE});
    }
    if (!trace->operators.count)
        sqlite3_finalize(rows);
}

/* The name of a kernel by those of its columns that there are, and how to join them. */
static const char *nsys_name(struct base *base, const char **joins)
{
    static const char *const columns[] = {"demangledName", "shortName", "mangledName"};
    const char *names = "";
    for (size_t k = 0; k < COUNT_OF(columns); k++)
        if (has_column(base, NSYS_KERNELS, columns[k])) {
            names = arena_printf(&base->arena, "%ss%zu.value, ", names, k);
            *joins =
                arena_printf(&base->arena, "%s LEFT JOIN StringIds s%zu ON s%zu.id = k.%s", *joins, k, k, columns[k]);
        }
    return arena_printf(&base->arena, "coalesce(%s'unknown kernel')", names);
}

/* A process may see its GPUs by numbers of its own. */
static const char *nsys_device(struct base *base, const char *table, const char **joins)
{
    if (!has_column(base, "TARGET_INFO_CUDA_DEVICE", "cudaId") || !has_column(base, table, "globalPid"))
        return "k.deviceId";
    *joins = arena_printf(&base->arena,
                          "%s LEFT JOIN (SELECT cudaId, pid, min(gpuId) AS gpu FROM TARGET_INFO_CUDA_DEVICE GROUP BY "
                          "cudaId, pid) c ON c.cudaId = k.deviceId AND c.pid = k.globalPid / 16777216 %% 16777216",
                          *joins);
    return "coalesce(c.gpu, k.deviceId)";
}

/* What brought work to a GPU: kernels, copies, and graphs where nsys recorded none of their kernels. */
static void nsys_events(struct base *base, const char *table, const char *category, const char *name, const char *joins)
{
    const bool grid = has_column(base, table, "gridX");
    const char *device = nsys_device(base, table, &joins);
    sqlite3_stmt *rows = ask(base, "SELECT k.start, k.\"end\", %s, %s, %s, %s, %s FROM %s k%s ORDER BY k.start", name,
                             has_column(base, table, "deviceId") ? device : "0",
                             has_column(base, table, "streamId") && has_column(base, table, "globalPid")
                                 ? "k.globalPid || '/' || k.streamId"
                                 : "''",
                             grid ? "k.gridX, k.gridY, k.gridZ, k.blockX, k.blockY, k.blockZ" : "0, 0, 0, 0, 0, 0",
                             nsys_id(base, table, "correlationId", "globalPid"), table, joins);
    while (next(base, rows))
        add_event(base, rows, category, false);
}

static void read_nsys(struct base *base)
{
    static const struct {
        const char *table, *category, *name;
    } others[] = {{"CUPTI_ACTIVITY_KIND_MEMCPY", "gpu_memcpy", "'memory copy'"},
                  {"CUPTI_ACTIVITY_KIND_MEMSET", "gpu_memset", "'memory fill'"},
                  {NSYS_GRAPHS, "kernel", "'CUDA graph ' || k.graphId"}};
    const char *joins = "";
    base->trace->format = "nsys";
    find_processes(base);
    if (has_table(base, NSYS_KERNELS)) {
        const char *name = nsys_name(base, &joins);
        nsys_events(base, NSYS_KERNELS, "kernel", name, joins);
    }
    for (size_t k = 0; k < COUNT_OF(others); k++)
        if (has_table(base, others[k].table))
            nsys_events(base, others[k].table, others[k].category, others[k].name, "");
    if (has_table(base, NSYS_GRAPHS))
        trace_note(base->trace,
                   "%s: kernels of CUDA graphs are not in it: nsys profile --cuda-graph-trace=node has them",
                   base->trace->path);
    if (has_table(base, "TARGET_INFO_GPU"))
        set_device(
            base,
            ask(base, "SELECT name, %s, %s FROM TARGET_INFO_GPU ORDER BY id",
                has_column(base, "TARGET_INFO_GPU", "computeMajor") ? "'sm_' || computeMajor || computeMinor" : "NULL",
                has_column(base, "TARGET_INFO_GPU", "smCount") ? "smCount" : "0"));
    if (has_column(base, NSYS_KERNELS, "correlationId") && has_table(base, "NVTX_EVENTS") &&
        has_table(base, "CUPTI_ACTIVITY_KIND_RUNTIME"))
        read_nvtx(base);
}

/* ---- files ---- */

/* A file is opened where it lies; what is compressed or comes through a pipe is read into memory. */
static bool open_database(struct base *base, struct source *source)
{
    if (!source->compressed && strcmp(source->path, "-") != 0)
        return sqlite3_open_v2(source->path, &base->db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK;
    while (source_more(source))
        ;
    if (!source->ended || sqlite3_open(":memory:", &base->db) != SQLITE_OK)
        return false;
    return sqlite3_deserialize(base->db, "main", (unsigned char *)source->data, (sqlite3_int64)source->length,
                               (sqlite3_int64)source->length, SQLITE_DESERIALIZE_READONLY) == SQLITE_OK;
}

enum status read_sqlite(struct trace *trace, struct source *source, struct err *err)
{
    struct base base = {.trace = trace};
    enum status status = STATUS_OK;
    if (!open_database(&base, source))
        status =
            err_set(err, ERR_CONFIG, "%s: %s", source->path,
                    base.db && sqlite3_errcode(base.db) ? sqlite3_errmsg(base.db)
                                                        : "a compressed database of more than 64 MB: unpack it first");
    else if (has_table(&base, NSYS_KERNELS) || has_table(&base, NSYS_GRAPHS))
        read_nsys(&base);
    else
        read_rocpd(&base);
    if (!status && !trace->gpu_events)
        status = err_set(err, ERR_CONFIG,
                         "%s: a database without kernels of rocprofv3 (rocpd_kernel_dispatch) or nsys "
                         "(CUPTI_ACTIVITY_KIND_KERNEL)%s%s",
                         source->path, trace->note_count ? "; " : "",
                         trace->note_count ? trace->notes[trace->note_count - 1].text : "");
    sqlite3_close(base.db);
    arena_release(&base.arena);
    return status;
}
