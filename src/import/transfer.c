/* SPDX-License-Identifier: MIT
 *
 * What TransferBench and nvbandwidth print of copies. TransferBench has a line for each transfer of a test,
 *     Transfer 00 | 33.520 GB/s | 2.002 ms | 67108864 bytes | G0 -> GPU00:004 -> G1
 * and both have matrices of GB/s, whose title says who copies and which way:
 *     memcpy CE CPU(row) <- GPU(column) bandwidth (GB/s)
 *     Unidirectional copy peak bandwidth GB/s [Local read / Remote write] (GPU-Executor: GFX)
 * Only a copy that ran alone is a case of ours.
 */

#include "trace.h"

enum { MOST_DEVICES = 64 };
#define NVBANDWIDTH_BYTES (512.0 * (1 << 20))

struct transfer {
    double ms, size;
    const char *path; /* "G0 -> GPU00:004 -> G1" */
};

struct device {
    char kind; /* 'C', 'G' as TransferBench has them; 0: none */
    unsigned number;
};

struct transfers {
    struct trace *trace;
    struct transfer *items; /* of the test that is being read */
    size_t count;
    double size;          /* of the copies of matrices; 0: not known */
    const char *executor; /* of the matrix that is being read: "DMA", "GPU"; NULL: there is none */
    bool source_executes; /* TransferBench: whose kernel or engine it is; of nvbandwidth always a GPU's */
    bool alone, backwards;
    char row_kind, column_kind; /* of nvbandwidth, which says so in the title; 0 */
    struct device columns[MOST_DEVICES];
    size_t column_count;
};

static void add_transfer(struct transfers *t, double size, double ms, double rate, bool alone, const char *path)
{
    struct trace_operator o = {.kind = IMPORT_COPY, .dims = {size}, .dtype = "", .shape = ""};
    o.name = arena_printf(&t->trace->arena, "%s%s", alone ? "" : "at once with others: ", path);
    struct trace_call *call = trace_add_call(t->trace, &o, 1, ms * 1e6);
    call->algorithm_bytes_per_s = rate;
    call->bus_bytes_per_s = call->wrong_elements = NAN;
}

/* ---- a line for each ---- */

static void read_transfer(struct transfers *t, const char *line)
{
    struct transfer one = {0};
    double rate;
    int at = 0;
    line += strspn(line, " \t");
    if (sscanf(line, "Transfer %*u | %lf GB/s | %lf ms | %lf bytes | %n", &rate, &one.ms, &one.size, &at) < 3 || !at ||
        !(one.ms > 0) || !(one.size > 0) || !isfinite(one.ms) || !(one.size < 1e15))
        return;
    one.path = arena_strndup(&t->trace->arena, line + at, strcspn(line + at, "|\r\n"));
    ARENA_PUSH(&t->trace->arena, t->items, t->count, one);
}

static void end_test(struct transfers *t)
{
    for (size_t k = 0; k < t->count; k++)
        add_transfer(t, t->items[k].size, t->items[k].ms, t->items[k].size / t->items[k].ms * 1e3, t->count == 1,
                     t->items[k].path);
    t->items = NULL;
    t->count = 0;
}

/* ---- matrices ---- */

/* The number behind `word`, in bytes of `unit`. */
static void read_size(struct transfers *t, const char *line, const char *word, double unit)
{
    const char *at = strstr(line, word);
    const double number = at ? strtod(at + strlen(word) + strspn(at + strlen(word), " ,="), NULL) : 0;
    if (number > 0 && number < 1e9)
        t->size = number * unit;
}

static char kind_before(const char *line, const char *at)
{
    return at - line >= 3 && strchr("CG", at[-3]) && !strncmp(at - 2, "PU", 2) ? at[-3] : 0;
}

static bool read_title(struct transfers *t, const char *line)
{
    const char *row = strstr(line, "(row)"), *column = strstr(line, "(column) bandwidth (GB/s)");
    const char *arrow = row ? row + 5 + strspn(row + 5, " ") : "";
    const char *peak = strstr(line, "directional copy peak bandwidth GB/s"),
               *all = strstr(line, "All-To-All benchmark:");
    if (!peak && !all && !(row && column && row < column))
        return false;
    if (row && !(t->size > 0)) {
        trace_note(t->trace, "%s: nvbandwidth does not say how much it copies: 512 MiB, as without -b", t->trace->path);
        t->size = NVBANDWIDTH_BYTES;
    }
    t->column_count = 0;
    t->row_kind = row ? kind_before(line, row) : 0;
    t->column_kind = row ? kind_before(line, column) : 0;
    t->executor = strstr(line, row ? "CE" : "DMA") ? "DMA" : "GPU";
    t->source_executes = !row && !strstr(line, "[Remote read");
    t->backwards = text_starts(arrow, "<-");
    t->alone = row ? !text_starts(arrow, "<->") && t->alone : peak && strstr(line, "Unidir");
    return true;
}

/* The next device of a matrix, "CPU 00" or a number alone; kind 0: something else stands there. */
static struct device next_device(const char **at, char kind)
{
    char *end = NULL;
    *at += strspn(*at, " ");
    if (text_starts(*at, "CPU") || text_starts(*at, "GPU")) {
        kind = (*at)[0];
        *at += 3;
    }
    const unsigned long number = strtoul(*at, &end, 10);
    if (!kind || end == *at || (*end && *end != ' ') || number > 999)
        return (struct device){0};
    *at = end;
    return (struct device){kind, (unsigned)number};
}

static void read_columns(struct transfers *t, const char *at)
{
    for (struct device d = next_device(&at, t->column_kind); d.kind && t->column_count < MOST_DEVICES;
         d = next_device(&at, t->column_kind))
        t->columns[t->column_count++] = d;
}

static void read_row(struct transfers *t, const char *at)
{
    const struct device row = next_device(&at, t->row_kind);
    char *end = NULL;
    at += strspn(at, " ");
    const bool there = text_starts(at, "->"), back = text_starts(at, "<- ");
    if (!row.kind || (!there && !back && !isdigit((unsigned char)*at) && *at != 'N'))
        return;
    at += there || back ? 2 : 0;
    for (size_t k = 0; k < t->column_count; k++, at = end) {
        at += strspn(at, " ");
        const bool nothing = text_starts(at, "N/A");
        const double rate = nothing ? 0 : strtod(at, &end);
        end = nothing ? (char *)at + 3 : end;
        if (end == at)
            return;
        const bool reversed = t->backwards || back;
        const struct device from = reversed ? t->columns[k] : row, to = reversed ? row : t->columns[k];
        const char owner = t->source_executes ? from.kind : to.kind;
        if (rate > 0 && isfinite(rate))
            add_transfer(t, t->size, t->size > 0 ? t->size / rate / 1e6 : NAN, rate * 1e9, t->alone,
                         arena_printf(&t->trace->arena, "%c%u -> %s -> %c%u", from.kind, from.number,
                                      owner == 'C' && !t->row_kind ? "CPU" : t->executor, to.kind, to.number));
    }
}

static void read_line(struct transfers *t, char *line)
{
    const char *test = strstr(line, "Running "), *head = strstr(line, "\\DST");
    head = head ? head : strstr(line, "EXE+DST");
    if (strstr(line, "nvbandwidth")) {
        read_size(t, line, " -b ", 1 << 20);
        read_size(t, line, "--bufferSize", 1 << 20);
    }
    read_size(t, line, "Bytes Per Direction", 1);
    read_size(t, line, "- Copying ", 1);
    if (test)
        t->alone = !strstr(test, "bidirectional") && !strstr(test, "all_") && !strstr(test, "_all");
    if (test || text_starts(line, "Test ")) {
        end_test(t);
        t->executor = NULL;
    }
    for (char *at = t->executor ? line : NULL; at && (at = strpbrk(at, ",\t|"));)
        *at = ' ';
    if (read_title(t, line))
        return;
    if (!t->executor)
        read_transfer(t, line);
    else if (head || (!t->column_count && t->column_kind))
        read_columns(t, head ? strchr(head, 'T') + 1 : line);
    else
        read_row(t, line);
}

bool detect_transfer(const char *head)
{
    const char *line = strstr(head, "Transfer ");
    const char *rate = line ? strstr(line, " GB/s") : NULL;
    return strstr(head, "(column) bandwidth (GB/s)") || strstr(head, "directional copy peak bandwidth GB/s") ||
           strstr(head, "All-To-All benchmark:") ||
           (rate && (size_t)(rate - line) < strcspn(line, "\n") && strstr(rate, " bytes | "));
}

enum status read_transfers(struct trace *trace, struct source *source, struct err *err)
{
    struct transfers t = {.trace = trace, .alone = true};
    const size_t before = trace->call_count;
    size_t length;
    for (char *line = source_line(source, &length); line; line = source_line(source, &length))
        read_line(&t, line);
    end_test(&t);
    return trace->call_count > before ? STATUS_OK
                                      : err_set(err, ERR_CONFIG, "%s: no transfer in it is whole", source->path);
}
