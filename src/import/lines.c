/* SPDX-License-Identifier: MIT */
#include "lines.h"

static const char formats_help[] =
    "PyTorch's profiler (Kineto JSON), rocprofv3 (CSV, JSON, rocpd), nsys (SQLite export, CSV), lines of "
    "hipblaslt-bench, rocblas-bench and MIOpenDriver in any log, their YAML and results, tables of rccl-tests and "
    "nccl-tests, TransferBench, nvbandwidth, rocm_bandwidth_test, TunableOp and AITER, a model's config.json";

static const struct {
    const char *name;
    line_function *take;
    void (*end)(struct lines *lines);
} kinds[] = {
    {NULL, table_line, NULL}, /* names its own */
    {"TunableOp", tunableop_line, NULL},
    {"rccl-tests, nccl-tests", collective_line, NULL},
    {"TransferBench, nvbandwidth", transfer_line, transfers_end},
    {"library log", bench_line, bench_end},
    {NULL, stray_line, NULL},
};

enum status read_lines(struct trace *trace, struct source *source, struct err *err)
{
    struct lines *lines = new_zeroed(1, sizeof(*lines));
    size_t length, taken = 0;
    lines->trace = trace;
    lines->transfers.alone = true;
    for (char *line = source_line(source, &length); line; line = source_line(source, &length)) {
        size_t k = 0;
        while (k < COUNT_OF(kinds) && !kinds[k].take(lines, line, length))
            k++;
        taken += k < COUNT_OF(kinds);
        if (k < COUNT_OF(kinds) && !trace->format)
            trace->format = kinds[k].name;
    }
    for (size_t k = 0; k < COUNT_OF(kinds); k++)
        if (kinds[k].end)
            kinds[k].end(lines);
    text_release(&lines->room);
    arena_release(&lines->arena);
    free(lines);
    return taken ? STATUS_OK
                 : err_set(err, ERR_CONFIG, "%s is nothing that can be imported: %s", source->path, formats_help);
}
