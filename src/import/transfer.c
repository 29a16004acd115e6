/* SPDX-License-Identifier: MIT
 *
 * What TransferBench prints: a line for each transfer,
 *     Transfer 00 | 33.520 GB/s | 2.002 ms | 67108864 bytes | G0 -> GPU00:004 -> G1
 * The transfers of a test run at once: only one that ran alone is a case of ours.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace.h"

struct transfer {
    double ms, size;
    const char *path; /* "G0 -> GPU00:004 -> G1" */
};

static bool read_transfer(struct transfer *t, const char *line, struct arena *arena)
{
    double rate;
    int at = 0;
    line += strspn(line, " \t");
    *t = (struct transfer){0};
    if (sscanf(line, "Transfer %*u | %lf GB/s | %lf ms | %lf bytes | %n", &rate, &t->ms, &t->size, &at) < 3 || !at ||
        !(t->ms > 0) || !(t->size > 0) || !isfinite(t->ms) || !(t->size < 1e15))
        return false;
    t->path = arena_strndup(arena, line + at, strcspn(line + at, "|\r\n"));
    return true;
}

static void add_transfers(struct trace *trace, const struct transfer *items, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        const struct transfer *t = &items[k];
        struct trace_operator o = {.kind = IMPORT_COPY, .dims = {t->size}, .dtype = "", .shape = ""};
        o.name = arena_printf(&trace->arena, "%s%s", count > 1 ? "at once with others: " : "", t->path);
        ARENA_PUSH(&trace->arena, trace->calls, trace->call_count,
                   (struct trace_call){.signature = operator_signature(trace, &o),
                                       .name = TRACE_NONE,
                                       .count = 1,
                                       .time_ns = t->ms * 1e6,
                                       .algorithm_bytes_per_s = t->size / t->ms * 1e3,
                                       .bus_bytes_per_s = NAN,
                                       .wrong_elements = NAN});
    }
}

bool detect_transfer(const char *head)
{
    const char *line = strstr(head, "Transfer ");
    const char *rate = line ? strstr(line, " GB/s") : NULL;
    return rate && (size_t)(rate - line) < strcspn(line, "\n") && strstr(rate, " bytes | ");
}

enum status read_transfers(struct trace *trace, struct source *source, struct err *err)
{
    struct transfer *items = NULL, one;
    size_t count = 0, length;
    const size_t before = trace->call_count;
    for (char *line = source_line(source, &length); line; line = source_line(source, &length)) {
        if (text_starts(line, "Test ")) {
            add_transfers(trace, items, count);
            count = 0;
            items = NULL;
        } else if (read_transfer(&one, line, &trace->arena)) {
            ARENA_PUSH(&trace->arena, items, count, one);
        }
    }
    add_transfers(trace, items, count);
    return trace->call_count > before ? STATUS_OK
                                      : err_set(err, ERR_CONFIG, "%s: no transfer in it is whole", source->path);
}
