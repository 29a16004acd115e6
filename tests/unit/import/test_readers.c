/* SPDX-License-Identifier: MIT
 *
 * Files of each kind, found by content whatever their names: what is in them, what is wrong with them, and where.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../../src/import/json_cut.h"
#include "rooftile/file.h"
#include "rooftile/import.h"

static struct arena arena;
static char folder[64];

static int begin(void **state)
{
    (void)state;
    text_append(folder, sizeof(folder), "", "/tmp/rooftile_import_XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    remove(path_join(&arena, folder, "file"));
    arena_release(&arena);
    return rmdir(folder);
}

static const char *file_of(const char *content)
{
    struct err err = {0};
    const char *path = arena_printf(&arena, "%s/file", folder);
    assert_int_equal(file_write(path, content, strlen(content), &err), STATUS_OK);
    return path;
}

static enum status read_text(struct import *out, const char *content, struct err *err)
{
    static const struct import_options options = {.tokens = 128, .batch = 2};
    const char *path = file_of(content);
    return import_read(out, &path, 1, &options, &arena, err);
}

/* What each file says, as rows "operator | shape | calls x median ns". */
static const struct {
    const char *content, *rows[3];
} files[] = {
    {"{\"traceEvents\": [{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":10.5,\"dur\":2.25,\"args\":{}},\n"
     "{\"ph\":\"X\",\"cat\":\"gpu_memset\",\"name\":\"Memset\",\"ts\":\"20\",\"dur\":1}]}",
     {"k |  | 1 x 2250", "Memset |  | 1 x 1000"}},
    {"[{\"ph\":\"X\",\"cat\":\"Kernel\",\"name\":\"old \\u0041\",\"ts\":10,\"dur\":2}]", {"old A |  | 1 x 2000"}},
    {"\"Kind\",\"Kernel_Name\",\"Start_Timestamp\",\"End_Timestamp\"\nK,\"f<a,b>(\"\"x\"\")\",1700000000000000001,"
     "1700000000000000011\n",
     {"f<a,b>(\"x\") |  | 1 x 10"}},
    {"Index,KernelName,gpu-id,queue-id,BeginNs,EndNs\n0,k.kd,1,0,5,9\n1,k.kd,1,0,10,16\n", {"k.kd |  | 2 x 5"}},
    {"\xef\xbb\xbfName,Calls,TotalDurationNs\nk,4,100\n", {"k |  | 4 x 25"}},
    {"Kernel_Name,Dispatch_Id,Counter_Name,Counter_Value,Start_Timestamp,End_Timestamp\nk,1,A,5,10,30\nk,1,B,5,10,30\n",
     {"k |  | 1 x 20"}},
    {"Time (%),Total Time (ns),Instances,Name\n100,60,3,k\n", {"k |  | 3 x 20"}},
    {"NOTICE: an export was found\n\nProcessing [x.sqlite] with [cuda_gpu_trace.py]... \n"
     "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,Bytes (MB),Device,Strm,Name\n"
     "100,30,11,2,1,1,64,1,1,24,,GPU (0),7,\"k(int, float)\"\n170,5,13,,,,,,,,4,GPU (0),7,[CUDA memcpy HtoD]\n",
     {"k(int, float) |  | 1 x 30", "[CUDA memcpy HtoD] |  | 1 x 5"}},
    /* PyTorch 2.1: no strides, but values */
    {"{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::native_group_norm\",\"pid\":1,\"tid\":1,"
     "\"ts\":1,\"dur\":9,\"args\":{\"External id\":4,\"Input Dims\":[[2,64,5,7],[64],[64],[],[],[],[],[]],"
     "\"Input type\":[\"c10::Half\"],\"Concrete Inputs\":[\"\",\"\",\"\",\"2\",\"64\",\"35\",\"32\",\"1e-5\"]}},"
     "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":20,\"dur\":2,\"args\":{\"External id\":4}}]}",
     {"aten::native_group_norm | rows=64 columns=70 | 1 x 2000"}},
    {"GemmTunableOp_Half_TN,tn_16_4_8_ld_8_8_16,Default,0.5\n", {"GemmTunableOp_Half_TN | M=4 N=16 K=8 | 1 x 500000"}},
    {"M,N,K,q_dtype_w,us\n4,16,8,torch.bfloat16,2\n", {"aiter gemm | M=4 N=16 K=8 | 1 x 2000"}},
    {"x hipblaslt-bench -m 16 -n 4 -k 8 --a_type f16_r\n", {"hipblaslt -m 16 -n 4 -k 8 | M=4 N=16 K=8 | 1 x nan"}},
    {"{\"rocprofiler-sdk-tool\":[{\"metadata\":{\"pid\":1},\"kernel_symbols\":[{\"kernel_id\":2,\"kernel_name\":\"_"
     "Zk\"}],"
     "\"buffer_records\":{\"kernel_dispatch\":[{\"start_timestamp\":7,\"end_timestamp\":9,\"dispatch_info\":{"
     "\"kernel_id\":2}}]}}]}",
     {"_Zk |  | 1 x 2"}},
};

static void every_kind(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT_OF(files); k++) {
        struct import import;
        struct err err = {0};
        size_t wanted = 0;
        if (read_text(&import, files[k].content, &err))
            fail_msg("file %zu: %s", k, err.text);
        while (wanted < COUNT_OF(files[k].rows) && files[k].rows[wanted])
            wanted++;
        assert_int_equal(import.row_count, wanted);
        for (size_t row = 0; row < wanted; row++) {
            const struct import_row *r = &import.rows[row];
            assert_string_equal(
                arena_printf(&arena, "%s | %s | %.0f x %.0f", r->operator, r->shape, r->calls, fabs(r->median_ns)),
                files[k].rows[row]);
        }
    }
}

/* ---- rccl-tests ---- */

#define RANKS(host)                                                                                                    \
    "#  Rank  0 Group  0 Pid 1 on node1 device  0 [0000:05:00] AMD Instinct MI300X\n"                                  \
    "#  Rank  1 Group  0 Pid 1 on " host " device  1 [0000:15:00] AMD Instinct MI300X\n"                               \
    "#  Rank  2 Group  0 Pid 1 on " host " device  2 [0000:25:00] AMD Instinct MI300X\n"                               \
    "#  Rank  3 Group  0 Pid 1 on " host " device  3 [0000:35:00] AMD Instinct MI300X\n"
/* Alone it is a case of ours; at once with others, or from the host's memory, it is not. */
static void transfers(void **state)
{
    static const char *const rows[] = {
        "G1 -> DMA01:001 -> G0 4000000 copy_peer {\"size\": 67108864, \"from\": 1, \"to\": 0}",
        "at once with others: C0 -> CPU00:004 -> G1 3000000 no kernel of ours does this",
        "at once with others: G0 -> GPU00:004 -> G1 2500000 no kernel of ours does this",
        "G0 -> GPU00:004 -> G1 2000000 kernel_copy_peer {\"size\": 67108864, \"from\": 0, \"to\": 1}"};
    struct import import;
    struct err err = {0};
    (void)state;
#define TRANSFER(rate, ms, path) " Transfer 00 | " rate " GB/s | " ms " ms | 67108864 bytes | " path "\n"
    assert_int_equal(
        read_text(
            &import,
            "Test 1:\n" TRANSFER(
                "33.554", "2.000",
                "G0 -> GPU00:004 -> G1") " Aggregate (CPU) | 1 GB/s\n"
                                         "Test 2:\n" TRANSFER(
                                             "16.777", "4.000",
                                             "G1 -> DMA01:001 -> G0") "Test 3:\n" TRANSFER("26.844", "2.500",
                                                                                           "G0 -> GPU00:004 -> G1")
                                             TRANSFER("22.370", "3.000", "C0 -> CPU00:004 -> G1")
                                                 TRANSFER("0", "nan", "G0"),
            &err),
        STATUS_OK);
    assert_int_equal(import.row_count, COUNT_OF(rows));
    for (size_t k = 0; k < import.row_count; k++) {
        const struct import_row *r = &import.rows[k];
        assert_string_equal(arena_printf(&arena, "%s %.0f %s%s%s", r->operator, r->median_ns,
                                         r->kernel ? r->kernel : "", r->kernel ? " " : r->why,
                                         r->kernel ? r->params : ""),
                            rows[k]);
    }
    assert_true(fabs(import.rows[3].algorithm_bytes_per_s - 67108864 / 2e-3) < 1);
}

/* Matrices of links: who copies and which way stands in their titles. */
static void matrices(void **state)
{
    static const struct {
        const char *content, *rows;
    } outputs[] = {
        {"$ ./nvbandwidth -b 1\nRunning host_to_device_memcpy_ce.\nmemcpy CE CPU(row) -> GPU(column) bandwidth "
         "(GB/s)\n 0 1\n0 26.0 N/A\n"
         "SUM host_to_device_memcpy_ce 26.0\n"
         "Running device_to_host_memcpy_sm.\nmemcpy SM CPU(row) <- GPU(column) bandwidth (GB/s)\n 0 1\n0 20 25\n"
         "Running device_to_device_memcpy_write_ce.\nmemcpy CE GPU(row) <- GPU(column) bandwidth (GB/s)\n 0 1\n"
         "0 N/A 276\n1 200 N/A\n"
         "Running x_bidirectional_read_sm.\nmemcpy SM GPU(row) <-> GPU(column) Total bandwidth (GB/s)\n 0 1\n0 N/A 9\n"
         "Running host_to_all_memcpy_ce.\nmemcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)\n 0\n0 11\n",
         "G0 -> GPU -> C0 | kernel_copy | {\"size\": 1048576, \"from\": \"device\", \"to\": \"pinned\"} | 20\n"
         "G1 -> GPU -> C0 | kernel_copy | {\"size\": 1048576, \"from\": \"device\", \"to\": \"pinned\"} | 25\n"
         "C0 -> DMA -> G0 | copy_to_device | {\"size\": 1048576} | 26\n"
         "G0 -> DMA -> G1 | copy_peer | {\"size\": 1048576, \"from\": 0, \"to\": 1} | 200\n"
         "G1 -> DMA -> G0 | copy_peer | {\"size\": 1048576, \"from\": 1, \"to\": 0} | 276\n"},
        {"Bytes Per Direction 1048576\n"
         "Unidirectional copy peak bandwidth GB/s [Local read / Remote write] (GPU-Executor: DMA)\n"
         " SRC+EXE\\DST    CPU 00       GPU 00    GPU 01\n"
         "  CPU 00  ->     15.00         9.00      8.00\n  CPU 00 min     1.00     1.00    1.00\n"
         "  GPU 00  ->     26.00       500.00     48.00\nAverages (During UniDir):     17.67      9.33\n"
         "Bidirectional copy peak bandwidth GB/s [Remote read / Local write] (GPU-Executor: GFX)\n"
         "     SRC\\DST    GPU 00    GPU 01\n  GPU 00  ->     N/A      38.00\n  GPU 00 <-      N/A      37.00\n",
         "C0 -> CPU -> G1 | no kernel of ours copies with the CPU's threads | 8\n"
         "C0 -> CPU -> G0 | no kernel of ours copies with the CPU's threads | 9\n"
         "C0 -> CPU -> C0 | no kernel of ours does this | 15\n"
         "G0 -> DMA -> C0 | copy_to_host | {\"size\": 1048576} | 26\n"
         "at once with others: G1 -> GPU -> G0 | no kernel of ours does this | 37\n"
         "at once with others: G0 -> GPU -> G1 | no kernel of ours does this | 38\n"
         "G0 -> DMA -> G1 | copy_peer | {\"size\": 1048576, \"from\": 0, \"to\": 1} | 48\n"
         "G0 -> DMA -> G0 | copy_on_device | {\"size\": 1048576} | 500\n"},
        {"GPU-GFX All-To-All benchmark:\n- Copying 4096 bytes between all pairs of GPUs using 8 CUs (2 Transfers)\n"
         "Summary:\nSRC\\DST  GPU 00     GPU 01        STotal      Actual\nGPU 00      N/A    33.000     33.000   "
         "33.000\n"
         "GPU 01   30.000       N/A      30.000   30.000\n\nRTotal   30.000    33.000\n",
         "at once with others: G1 -> GPU -> G0 | no kernel of ours does this | 30\n"
         "at once with others: G0 -> GPU -> G1 | no kernel of ours does this | 33\n"},
    };
    (void)state;
    for (size_t k = 0; k < COUNT_OF(outputs); k++) {
        struct import import;
        struct err err = {0};
        struct text rows = {0};
        assert_int_equal(read_text(&import, outputs[k].content, &err), STATUS_OK);
        for (size_t row = 0; row < import.row_count; row++) {
            const struct import_row *r = &import.rows[row];
            if (!strstr(r->operator, "at once") || strstr(outputs[k].rows, r->operator))
                text_addf(&rows, "%s | %s%s%s | %.0f\n", r->operator, r->kernel ? r->kernel : r->why,
                          r->kernel ? " | " : "", r->kernel ? r->params : "", r->algorithm_bytes_per_s / 1e9);
        }
        assert_string_equal(rows.data, outputs[k].rows);
        text_release(&rows);
    }
}

#define TABLE_HEAD                                                                                                     \
    "#                                       out-of-place                       in-place\n"                            \
    "#  size  count  type  redop  root  time  algbw  busbw #wrong  time  algbw  busbw #wrong\n"                        \
    "#   (B)  (elements)  (us)  (GB/s)  (GB/s)  (us)  (GB/s)  (GB/s)\n"
#define LARGE "1000000 250000 float "

/* Of each the slower side first: what it was, how fast, what stands for it. */
static void collectives(void **state)
{
    static const struct {
        const char *content, *rows[2], *says;
    } tables[] = {
        {"# Collective test starting: all_reduce_perf\n" RANKS("node1") TABLE_HEAD LARGE
         "sum -1 50.00 20.00 30.00 0 40.00 25.00 37.50 0\n# Avg bus bandwidth : 33\n",
         {"all_reduce out-of-place f32 50000 ns 20.0 30.0 0 all_reduce {\"size\": 1000000, \"devices\": 4, "
          "\"dtype\": \"f32\"}",
          "all_reduce in-place f32 40000 ns 25.0 37.5 0 all_reduce_in_place {\"size\": 1000000, \"devices\": 4, "
          "\"dtype\": \"f32\"}"},
         NULL},
        /* wrong elements; not looked for; without a name, by 2 (n - 1) / n; lines with mpirun's tags, in any order */
        {RANKS("node1") "[1,0]<stdout>:" TABLE_HEAD "[1,0]<stdout>: " LARGE
                        "sum -1 50.00 20.00 30.00 7 40.00 25.00 37.50 N/A\nlib: INFO 1 2 3\n",
         {"all_reduce out-of-place f32 50000 ns 20.0 30.0 7 all_reduce {\"size\": 1000000, \"devices\": 4, "
          "\"dtype\": \"f32\"}",
          "all_reduce in-place f32 40000 ns 25.0 37.5 nan all_reduce_in_place {\"size\": 1000000, \"devices\": 4, "
          "\"dtype\": \"f32\"}"},
         "file:8: 7 wrong elements: all_reduce out-of-place, 1000000 bytes"},
        {"$ mpirun ./build/broadcast_perf -b 1M -r 2\n" RANKS("node1") TABLE_HEAD LARGE
         "none 2 50.00 20.00 20.00 0 40.00 25.00 25.00 0\n",
         {"broadcast out-of-place f32 50000 ns 20.0 20.0 0 broadcast {\"size\": 1000000, \"devices\": 4, \"root\": "
          "2, \"dtype\": \"f32\"}",
          "broadcast in-place f32 40000 ns 25.0 25.0 0 no kernel of ours does this in place"},
         NULL},
        /* all_gather and all_to_all cannot be told apart */
        {RANKS("node1") TABLE_HEAD LARGE "none -1 50.00 20.00 15.00 0 40.00 25.00 18.75 0\n",
         {"collective of an unknown kind out-of-place f32 50000 ns 20.0 15.0 0 no kernel of ours does this",
          "collective of an unknown kind in-place f32 40000 ns 25.0 18.8 0 no kernel of ours does this in place"},
         NULL},
        {"alltoall_perf\n" RANKS("node2") TABLE_HEAD "0 0 float none -1 5 0.00 0.00 0 5 0.00 0.00 0\n" LARGE
                                                     "none -1 50.00 20.00 15.00 0 0.00 25.00 18.75 0\n",
         {"all_to_all out-of-place f32 50000 ns 20.0 15.0 0 it ran on several nodes, and ours takes the devices of "
          "one"},
         "sizes of no bytes were skipped (the first at line 9)"},
    };
    (void)state;
    for (size_t k = 0; k < COUNT_OF(tables); k++) {
        struct import import;
        struct err err = {0};
        if (read_text(&import, tables[k].content, &err))
            fail_msg("table %zu: %s", k, err.text);
        assert_string_equal(import.device, "AMD Instinct MI300X");
        assert_int_equal(import.row_count, tables[k].rows[1] ? 2 : 1);
        for (size_t row = 0; row < import.row_count; row++) {
            const struct import_row *r = &import.rows[row];
            assert_string_equal(arena_printf(&arena, "%s %s %s %.0f ns %.1f %.1f %.0f %s%s%s", r->operator, r->layout,
                                             r->dtype, r->median_ns, r->algorithm_bytes_per_s / 1e9,
                                             r->bus_bytes_per_s / 1e9, fabs(r->wrong_elements),
                                             r->kernel ? r->kernel : "", r->kernel ? " " : r->why,
                                             r->kernel ? r->params : ""),
                                tables[k].rows[row]);
        }
        if (tables[k].says)
            assert_string_equal(import.notes[0].text + (text_starts(tables[k].says, "file") ? strlen(folder) + 1 : 0),
                                text_starts(tables[k].says, "file")
                                    ? tables[k].says
                                    : arena_printf(&arena, "%s/file: %s", folder, tables[k].says));
        else
            assert_int_equal(import.note_count, 0);
    }
}

static void what_is_none(void **state)
{
    static const struct {
        const char *content, *says;
    } rows[] = {
        {"", "is empty"},
        {"prose", "nothing that can be imported"},
        {"{}", "JSON without GPU events"},
        {"{\"hidden_size\": 8}", "num_attention_heads"},
        {"{\"hidden_size\": 8", "file:1:"},
        {"hipblaslt-bench\n", "nothing that can be imported"},
        {TABLE_HEAD "1000 x float sum -1 1 1 1 0 1 1 1 0\n1 2\n", "there is no GPU activity in it"},
        {"GemmTunableOp_Half_TN,x,y,z\n", "no product that was tuned"},
        {"SQLite format 3", "file"},
        {"Name,Calls,TotalDurationNs\nk,0,0\n", "without calls"},
    };
    (void)state;
    for (size_t k = 0; k < COUNT_OF(rows); k++) {
        struct import import;
        struct err err = {0};
        assert_int_equal(read_text(&import, rows[k].content, &err), ERR_CONFIG);
        if (!strstr(err.text, rows[k].says))
            fail_msg("'%s': %s", rows[k].content, err.text);
    }
}

/* What is damaged is said with its place, and the rest is used. */
static void damage_has_a_place(void **state)
{
#define EVENT(name) "{\"cat\":\"kernel\",\"name\":\"" name "\",\"ts\":1,\"dur\":1}"
    static const struct {
        const char *content, *says;
        size_t events;
    } rows[] = {
        {"{\"traceEvents\":[" EVENT("a") "," EVENT("b"), "cut off at byte", 2},
        {"{\"traceEvents\":[" EVENT("a") "," EVENT("b") ",{\"cat\":\"kernel\",\"na", "cut off at byte", 2},
        {"{\"traceEvents\":[" EVENT("a") ",," EVENT("b") "]}", "damaged at byte 59", 2},
        {"{\"traceEvents\":[" EVENT("a") ",{\"cat\":\"kernel\",\"name\":\"b\",\"ts\":5,\"dur\":-1}]}",
         "counted, not timed", 2},
        {"Kernel_Name,Start_Timestamp,End_Timestamp\nk,1,2\nk\nk,3,4\n",
         "a row with 1 of 3 columns was skipped (the first at line 3)", 2},
    };
    (void)state;
    for (size_t k = 0; k < COUNT_OF(rows); k++) {
        struct import import;
        struct err err = {0};
        assert_int_equal(read_text(&import, rows[k].content, &err), STATUS_OK);
        assert_int_equal(import.event_count, rows[k].events);
        assert_true(import.note_count > 0);
        if (!strstr(import.notes[0].text, rows[k].says))
            fail_msg("row %zu: %s", k, import.notes[0].text);
    }
}

/* Streams that overlap count once; each device by itself. */
static void time_counts_once(void **state)
{
#define ON(device, name, start, length)                                                                                \
    "{\"cat\":\"kernel\",\"name\":\"" name "\",\"ts\":" start ",\"dur\":" length ",\"args\":{\"device\":" device "}}"
    (void)state;
    struct import import;
    struct err err = {0};
    assert_int_equal(read_text(&import,
                               "{\"traceEvents\":[" ON("0", "a", "0", "10") "," ON("0", "ncclX", "5", "10") "," ON(
                                   "0", "a", "2", "3") "," ON("0", "a", "20", "5") "," ON("1", "a", "0", "50") "]}",
                               &err),
                     STATUS_OK);
    const struct import_timeline *t = &import.timeline;
    assert_int_equal(t->devices, 2);
    assert_true(t->span_ns == 25e3 + 50e3 && t->busy_ns == 20e3 + 50e3 && t->idle_ns == 5e3);
    assert_true(t->compute_ns == 15e3 + 50e3 && t->communication_ns == 10e3 && t->exposed_communication_ns == 5e3);
}

/* ---- pieces of JSON ---- */

static void take(void *context, struct slice value, uint64_t offset)
{
    struct text *out = context;
    text_addf(out, "%llu:%.*s;", (unsigned long long)offset, (int)value.length, value.data);
}

static void json_is_cut_at_paths(void **state)
{
    static const struct cut_path paths[] = {{"a.b[]", take}, {"c", take}};
    (void)state;
    struct source source;
    struct err err = {0};
    struct text out = {0};
    struct cut_damage damage;
    assert_int_equal(
        source_open(&source, file_of("{\"a\":{\"x\":[9],\"b\":[1, \"]\", {\"b\":[3]}]},\"b\":[4],\"c\":null}"), &err),
        STATUS_OK);
    json_cut(&source, paths, COUNT_OF(paths), &out, &damage);
    assert_string_equal(out.data, "19:1;22:\"]\";27:{\"b\":[3]};51:null;");
    assert_int_equal(damage.count, 0);
    source_close(&source);
    text_release(&out);
}

/* What is too long to be held is passed over, with all that looks like its end; what follows is read. */
static void json_behind_a_long_value(void **state)
{
    enum { LENGTH = SOURCE_MOST_BYTES + (1 << 20) };
    static const struct cut_path paths[] = {{"a[]", take}};
    static const char before[] = "{\"a\":[1,{\"x\":[\"", escapes[] = "\\\"]}]", after[] = "\\\\\"]},2]}";
    (void)state;
    char *content = arena_alloc(&arena, sizeof(before) + LENGTH + sizeof(after));
    memset(content, 'x', sizeof(before) + LENGTH);
    memcpy(content, before, sizeof(before) - 1);
    memcpy(content + LENGTH / 2, escapes, sizeof(escapes) - 1);
    memcpy(content + sizeof(before) + LENGTH, after, sizeof(after));
    struct source source;
    struct err err = {0};
    struct text out = {0};
    struct cut_damage damage;
    assert_int_equal(source_open(&source, file_of(content), &err), STATUS_OK);
    json_cut(&source, paths, COUNT_OF(paths), &out, &damage);
    assert_non_null(strstr(out.data, ":2;"));
    assert_memory_equal(out.data, "6:1;", 4);
    assert_int_equal(damage.count, 1);
    assert_int_equal(damage.first, 8);
    source_close(&source);
    text_release(&out);
}

/* Longer than what is read at once. */
static void long_lines(void **state)
{
    enum { LENGTH = 3 << 20 };
    (void)state;
    char *content = arena_alloc(&arena, LENGTH + 8);
    memset(content, 'x', LENGTH);
    text_append(content + LENGTH, 8, "", "\r\nend");
    struct source source;
    struct err err = {0};
    size_t length;
    assert_int_equal(source_open(&source, file_of(content), &err), STATUS_OK);
    assert_non_null(source_line(&source, &length));
    assert_int_equal(length, LENGTH);
    assert_string_equal(source_line(&source, &length), "end");
    assert_null(source_line(&source, &length));
    source_close(&source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_kind),       cmocka_unit_test(collectives),
                                       cmocka_unit_test(transfers),        cmocka_unit_test(matrices),
                                       cmocka_unit_test(what_is_none),     cmocka_unit_test(damage_has_a_place),
                                       cmocka_unit_test(time_counts_once), cmocka_unit_test(json_is_cut_at_paths),
                                       cmocka_unit_test(long_lines),       cmocka_unit_test(json_behind_a_long_value)};
    return cmocka_run_group_tests(tests, begin, end);
}
