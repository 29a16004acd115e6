/* SPDX-License-Identifier: MIT
 *
 * What TransferBench, nvbandwidth and rocm_bandwidth_test print of copies. TransferBench has a line for each transfer
 * of a test,
 *     Transfer 00 | 33.520 GB/s | 2.002 ms | 67108864 bytes | G0 -> GPU00:004 -> G1
 * and all have matrices of GB/s, whose title says who copies and which way:
 *     memcpy CE CPU(row) <- GPU(column) bandwidth (GB/s)
 *     Unidirectional copy peak bandwidth GB/s [Local read / Remote write] (GPU-Executor: GFX)
 * TransferBench's scaling and schmoo have a row for each number of compute units. Only a copy that ran alone is a case
 * of ours.
 */

#include "lines.h"

#define NVBANDWIDTH_BYTES (512.0 * (1 << 20))

/* `size` 0: not known. */
static void add_transfer(struct lines *lines, double size, double ms, double rate, bool alone, const char *path)
{
    struct trace_operator o = {.kind = IMPORT_COPY, .dims = {size}, .dtype = "", .shape = ""};
    o.name = arena_printf(&lines->trace->arena, "%s%s", alone ? "" : "at once with others: ", path);
    struct trace_call *call = trace_add_call(lines->trace, &o, 1, ms * 1e6);
    call->algorithm_bytes_per_s = rate;
    call->bus_bytes_per_s = call->wrong_elements = NAN;
}

static void add_rate(struct lines *lines, double gb_per_s, const char *path)
{
    const struct transfers *t = &lines->transfers;
    if (gb_per_s > 0 && isfinite(gb_per_s))
        add_transfer(lines, t->size, t->size > 0 ? t->size / gb_per_s / 1e6 : NAN, gb_per_s * 1e9, t->alone, path);
}

/* ---- a line for each ---- */

/* Whatever stands between the columns: '|', ',' in tables, or bars of Unicode. */
static bool read_transfer(struct lines *lines, const char *line)
{
    struct transfers *t = &lines->transfers;
    struct transfer one = {0};
    double rate;
    int at = 0;
    const char *start = strstr(line, "Transfer ");
    if (!start || start > line + strcspn(line, "0123456789"))
        return false;
    char *plain = arena_strdup(&lines->arena, start);
    for (char *c = plain; *c; c++)
        *c = *c & 0x80 || strchr("|,\t", *c) ? ' ' : *c;
    if (sscanf(plain, "Transfer %*u %lf GB/s %lf ms %lf bytes %n", &rate, &one.ms, &one.size, &at) < 3 || !at ||
        !(one.ms > 0) || !(one.size > 0) || !isfinite(one.ms) || !(one.size < 1e15))
        return false;
    one.path = arena_strndup(
        &lines->arena, plain + at,
        (size_t)(strstr(plain + at, "  ") ? strstr(plain + at, "  ") - (plain + at) : (ptrdiff_t)strlen(plain + at)));
    ARENA_PUSH(&lines->arena, t->items, t->count, one);
    return true;
}

void transfers_end(struct lines *lines)
{
    struct transfers *t = &lines->transfers;
    for (size_t k = 0; k < t->count; k++)
        add_transfer(lines, t->items[k].size, t->items[k].ms, t->items[k].size / t->items[k].ms * 1e3, t->count == 1,
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

static bool read_title(struct lines *lines, const char *line)
{
    struct transfers *t = &lines->transfers;
    const char *row = strstr(line, "(row)"), *column = strstr(line, "(column) bandwidth (GB/s)");
    const char *arrow = row ? row + 5 + strspn(row + 5, " ") : "";
    const char *peak = strstr(line, "directional copy peak bandwidth GB/s");
    const bool scaling = strstr(line, "Scaling benchmark:"),
               schmoo = strstr(line, "Local GPU:") && strstr(line, "Remote GPU:");
    const bool links = peak && !strchr(peak, '['); /* rocm_bandwidth_test: by the copy engines */
    if (!peak && !scaling && !schmoo && !strstr(line, "All-To-All benchmark:") && !(row && column && row < column))
        return false;
    if (row && !(t->size > 0)) {
        trace_note(lines->trace, "%s: nvbandwidth does not say how much it copies: 512 MiB, as without -b",
                   lines->trace->path);
        t->size = NVBANDWIDTH_BYTES;
    }
    t->column_count = t->path_count = 0;
    t->from = (struct device){0};
    t->row_kind = row ? kind_before(line, row) : 0;
    t->column_kind = row ? kind_before(line, column) : 0;
    t->executor = strstr(line, row ? "CE" : "DMA") || links ? "DMA" : "GPU";
    t->source_executes = !row && !links && !strstr(line, "[Remote read");
    t->backwards = text_starts(arrow, "<-");
    t->alone = row ? !text_starts(arrow, "<->") && t->alone : scaling || schmoo || (peak && strstr(line, "Unidir"));
    return true;
}

/* The next device of a matrix: "CPU 00", a number alone, or one of those listed; kind 0: something else stands
 * there. */
static struct device next_device(const struct transfers *t, const char **at, char kind)
{
    char *end = NULL;
    *at += strspn(*at, " ");
    const bool named = text_starts(*at, "CPU") || text_starts(*at, "GPU");
    kind = named ? (*at)[0] : kind;
    *at += named ? 3 : 0;
    const unsigned long number = strtoul(*at, &end, 10);
    const bool listed = !kind && number < t->listed_count;
    if ((!kind && !listed) || end == *at || (*end && *end != ' ') || number > 999)
        return (struct device){0};
    *at = end;
    return listed ? t->listed[number] : (struct device){kind, (unsigned)number};
}

static void read_columns(struct transfers *t, const char *at)
{
    for (struct device d = next_device(t, &at, t->column_kind); d.kind && t->column_count < MOST_DEVICES;
         d = next_device(t, &at, t->column_kind))
        t->columns[t->column_count++] = d;
}

static bool read_row(struct lines *lines, const char *at)
{
    const struct transfers *t = &lines->transfers;
    const bool best = text_starts(at + strspn(at, " "), "Best ");
    const struct device row = best ? t->from : next_device(t, &at, t->row_kind);
    char *end = NULL;
    at += best ? strcspn(at, "B") + 4 : 0;
    at += strspn(at, " ");
    const bool there = text_starts(at, "->"), back = text_starts(at, "<- ");
    if (!row.kind || !t->column_count || (t->from.kind && !best) ||
        (!there && !back && !isdigit((unsigned char)*at) && *at != 'N'))
        return false;
    at += there || back ? 2 : 0;
    for (size_t k = 0; k < t->column_count; k++, at = end) {
        at += strspn(at, " ");
        const bool nothing = text_starts(at, "N/A"), reversed = t->backwards || back;
        const double rate = nothing ? 0 : strtod(at, &end);
        end = nothing ? (char *)at + 3 : end;
        if (end == at)
            break;
        end += *end == '(' ? strcspn(end, ")") : 0; /* "34.21(  8)": by so many compute units */
        end += *end == ')';
        const struct device from = reversed ? t->columns[k] : row, to = reversed ? row : t->columns[k];
        const char owner = t->source_executes ? from.kind : to.kind;
        add_rate(lines, rate,
                 arena_printf(&lines->arena, "%c%u -> %s -> %c%u", from.kind, from.number,
                              owner == 'C' && !t->row_kind && !t->listed_count ? "CPU" : t->executor, to.kind,
                              to.number));
    }
    return true;
}

/* schmoo: "#CUs |G00->G00->N00|N00->G00->G00|...", and a row of rates for each number of compute units. */
static bool read_paths(struct lines *lines, char *line)
{
    struct transfers *t = &lines->transfers;
    const char *units = strstr(line, "#CUs");
    if (!units && !t->path_count)
        return false;
    char *place = NULL, *end = NULL;
    const double count = strtod(line, &end);
    size_t k = 0;
    for (char *cell = strtok_r(units ? line + (units + 4 - line) : end, " ", &place); cell && k < MOST_DEVICES;
         cell = strtok_r(NULL, " ", &place), k++) {
        char from[5], by[5], to[5];
        if (units && sscanf(cell, "%4[A-Z0-9]->%4[A-Z0-9]->%4[A-Z0-9]", from, by, to) == 3)
            t->paths[t->path_count++] = arena_printf(&lines->arena, "%s -> GPU%s:%%03.0f -> %s", from, by + 1, to);
        else if (!units && k < t->path_count && count > 0)
            add_rate(lines, strtod(cell, NULL),
                     arena_printf(&lines->arena, "%.*s%03.0f%s", (int)(strchr(t->paths[k], '%') - t->paths[k]),
                                  t->paths[k], count, strchr(t->paths[k], 'f') + 1));
    }
    return true;
}

/* rocm_bandwidth_test: "Device: 1,  AMD Instinct MI300X,  GPU-f1,  c2:0.0"; processors have a name alone. */
static bool read_listed(struct lines *lines, const char *line)
{
    struct transfers *t = &lines->transfers;
    const char *at = strstr(line, "Device: "), *name = at ? strchr(at, ',') : NULL,
               *end = name ? strchr(name + 1, ',') : NULL;
    if (!name || t->listed_count == MOST_DEVICES)
        return false;
    const char kind = end ? 'G' : 'C';
    if (strtoul(at + 8, NULL, 10) == 0) /* another list begins */
        t->listed_count = 0;
    name += 1 + strspn(name + 1, " ");
    if (end && !lines->trace->device_name)
        lines->trace->device_name = arena_strndup(&lines->trace->arena, name, (size_t)(end - name));
    t->listed[t->listed_count] =
        (struct device){kind, (unsigned)COUNT_WHERE(d, t->listed, t->listed_count, d->kind == kind)};
    t->listed_count++;
    return true;
}

bool transfer_line(struct lines *lines, char *line, UNUSED size_t length)
{
    struct transfers *t = &lines->transfers;
    const char *test = strstr(line, "Running "), *head = strstr(line, "\\DST"),
               *from = strstr(line, " bytes from GPU ");
    head = head ? head : strstr(line, "EXE+DST");
    head = head                     ? strchr(head, 'T') + 1
           : strstr(line, "D/D")    ? strstr(line, "D/D") + 3
           : strstr(line, "NumCUs") ? strstr(line, "NumCUs") + 6
                                    : NULL;
    if (strstr(line, "nvbandwidth")) {
        read_size(t, line, " -b ", 1 << 20);
        read_size(t, line, "--bufferSize", 1 << 20);
    }
    read_size(t, line, "Bytes Per Direction", 1);
    read_size(t, line, "- Copying ", 1);
    read_size(t, line, "Bytes to transfer:", 1);
    if (from)
        t->from = (struct device){'G', (unsigned)strtoul(from + strlen(" bytes from GPU "), NULL, 10)};
    if (test)
        t->alone = !strstr(test, "bidirectional") && !strstr(test, "all_") && !strstr(test, "_all");
    if (test || text_starts(line, "Test ") || strstr(line, "Inter-Device ")) {
        transfers_end(lines);
        t->executor = NULL;
    }
    if (read_title(lines, line))
        return true;
    if (!t->executor)
        return read_transfer(lines, line) || read_listed(lines, line);
    text_clear(&lines->room);
    text_add(&lines->room, line);
    for (char *at = lines->room.data; (at = strpbrk(at, ",\t|"));)
        *at = ' ';
    const char *columns = head ? lines->room.data + (head - line) : lines->room.data;
    if (head || (!t->column_count && t->column_kind))
        read_columns(t, columns);
    else
        return read_paths(lines, lines->room.data) || read_row(lines, lines->room.data) || read_transfer(lines, line);
    return t->column_count;
}
