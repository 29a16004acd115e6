/* SPDX-License-Identifier: MIT
 *
 * What rccl-tests and nccl-tests print: a table of sizes, each out of place and in place. Newer versions name the
 * program; of older ones its command line may be in the log, else what was reduced and the ratio of the two bandwidths
 * say which collective it was, or it is not known. Lines of other programs are passed over.
 */

#include "trace.h"

enum { MOST_WORDS = 24, SIDE_WORDS = 4 }; /* of a side: time, algbw, busbw, #wrong */

struct collective {
    struct trace *trace;
    const char *path, *program; /* NULL: not known yet */
    size_t number;              /* of the line */
    double ranks;
    bool in_table, counts_wrong; /* older versions have the largest error there */
    const char *host;            /* of the rank before */
    double nodes;
};

static size_t split_words(char *words[static MOST_WORDS], char *line)
{
    char *place = NULL;
    size_t count = 0;
    for (char *word = strtok_r(line, " \t", &place); word && count < MOST_WORDS; word = strtok_r(NULL, " \t", &place))
        words[count++] = word;
    return count;
}

static bool is_number(double *out, const char *word)
{
    char *end = NULL;
    *out = strtod(word, &end);
    return end != word && !*end && isfinite(*out) && *out >= 0;
}

/* ---- what the lines around the table say ---- */

/* "all_reduce" of "./build/all_reduce_perf -b 8", with any path. */
static void find_program(struct collective *c, const char *line)
{
    static const char *const names[] = {"all_reduce", "all_gather", "reduce_scatter", "broadcast",
                                        "alltoall",   "alltoallv",  "sendrecv",       "reduce",
                                        "gather",     "scatter",    "hypercube"};
    for (const char *at = strstr(line, "_perf"); at; at = strstr(at + 1, "_perf"))
        for (size_t k = 0; k < COUNT_OF(names); k++) {
            const size_t length = strlen(names[k]);
            const char *start = at - length;
            if ((size_t)(at - line) < length || memcmp(start, names[k], length) != 0 ||
                (start > line && !strchr(" /\t'\"", start[-1])))
                continue;
            c->program = !strcmp(names[k], "alltoall")   ? "all_to_all"
                         : !strcmp(names[k], "sendrecv") ? "send_recv"
                                                         : names[k];
            return;
        }
}

/* "#  Rank  0 Group  0 Pid  37300 on   node1 device  0 [0000:05:00] AMD Instinct MI300X" */
static void read_rank(struct collective *c, const char *line)
{
    const char *rank = strstr(line, "Rank "), *on = strstr(line, " on "), *name = strrchr(line, ']');
    if (!rank || !on || !strstr(on, " device "))
        return;
    const double number = strtod(rank + 5, NULL);
    on += 4 + strspn(on + 4, " ");
    const char *host = arena_strndup(&c->trace->arena, on, strcspn(on, " "));
    if (number == 0) { /* another table begins */
        c->ranks = c->nodes = 0;
        c->host = "";
    }
    c->ranks = fmax(c->ranks, number + 1);
    c->nodes += c->host && strcmp(c->host, host) == 0 ? 0 : 1;
    c->host = host;
    if (name && !c->trace->device_name)
        c->trace->device_name = arena_strdup(&c->trace->arena, name + 1 + strspn(name + 1, " "));
}

static bool is_head(const char *line)
{
    const char *size = strstr(line, " size "), *bus = strstr(line, " busbw ");
    return strchr(line, '#') && size && bus && bus > size && strstr(line, " type ") && strstr(line, " algbw ");
}

/* ---- rows ---- */

static const char *type_of(const char *word)
{
    static const char *const types[][2] = {
        {"double", "f64"},  {"float", "f32"},   {"half", "f16"},      {"bfloat16", "bf16"},
        {"int8", "i8"},     {"char", "i8"},     {"uint8", "u8"},      {"int32", "i32"},
        {"int", "i32"},     {"uint32", "u32"},  {"int64", "i64"},     {"uint64", "u64"},
        {"f8e4m3", "e4m3"}, {"f8e5m2", "e5m2"}, {"fp8_e4m3", "e4m3"}, {"fp8_e5m2", "e5m2"}};
    for (size_t k = 0; k < COUNT_OF(types); k++)
        if (!strcmp(types[k][0], word))
            return types[k][1];
    return word;
}

/* Without its name: a root, what is reduced, and how many times as much a link carries. */
static const char *guess_program(const struct collective *c, bool reduces, bool root, double ratio)
{
    const double n = c->ranks, near = 0.03;
    if (!(n > 1) || !isfinite(ratio))
        return NULL;
    const bool all = fabs(ratio - 2 * (n - 1) / n) < near, part = fabs(ratio - (n - 1) / n) < near;
    if (reduces)
        return root ? "reduce" : all ? "all_reduce" : part ? "reduce_scatter" : NULL;
    if (fabs(ratio - 1) < near)
        return root ? "broadcast" : "send_recv";
    return NULL; /* all_gather and all_to_all look alike */
}

static void add_side(struct collective *c, struct trace_operator *o, char *const *words, bool in_place)
{
    double us, algorithm, bus, wrong;
    if (!is_number(&us, words[0]) || !is_number(&algorithm, words[1]) || !is_number(&bus, words[2]) || !(us > 0)) {
        trace_note(c->trace, "%s:%zu: a measurement without a time was skipped", c->path, c->number);
        return;
    }
    const double size = o->dims[1], exact = size / us / 1e3; /* the table has two decimals */
    const char *program = c->program;
    if (!program && algorithm >= 1)
        program = guess_program(c, o->total[0], o->dims[3] > 0 || o->scaled, bus / algorithm);
    o->name = program ? program : "collective of an unknown kind";
    o->layout = in_place ? "in-place" : "out-of-place";
    wrong = c->counts_wrong && is_number(&wrong, words[3]) ? wrong : NAN;
    if (wrong > 0)
        trace_note(c->trace, "%s:%zu: %.0f wrong elements: %s %s, %.0f bytes", c->path, c->number, wrong, o->name,
                   o->layout, size);
    struct trace_operator kept = *o;
    kept.total = "";
    struct trace_call *call = trace_add_call(c->trace, &kept, 1, us * 1e3);
    call->algorithm_bytes_per_s = size > 0 ? exact * 1e9 : NAN;
    call->bus_bytes_per_s = bus > 0 ? bus * 1e9 : NAN;
    call->wrong_elements = wrong;
}

/* size count type [redop] [root] time algbw busbw #wrong time algbw busbw #wrong */
static void read_row(struct collective *c, char *line)
{
    char *words[MOST_WORDS];
    const size_t count = split_words(words, line), lead = count - 2 * SIDE_WORDS;
    double size, elements, root = -1;
    if (count < 3 + 2 * SIDE_WORDS || lead > 5 || !is_number(&size, words[0]) || !is_number(&elements, words[1]))
        return;
    if (!(size > 0) || !(elements > 0)) {
        trace_note(c->trace, "%s: sizes of no bytes were skipped", c->path);
        return;
    }
    if (lead == 5)
        root = strtod(words[4], NULL);
    struct trace_operator o = {.kind = IMPORT_COMMUNICATION,
                               .dims = {elements, size, c->ranks, root > 0 ? root : 0, c->nodes > 1 ? c->nodes : 0},
                               .dtype = type_of(words[2]),
                               .total = lead > 3 && strcmp(words[3], "none") != 0 ? words[3] : "",
                               .scaled = root >= 0,
                               .shape = ""};
    add_side(c, &o, words + lead, false);
    add_side(c, &o, words + lead + SIDE_WORDS, true);
}

bool detect_collective(const char *head)
{
    for (const char *at = head, *end; at; at = end ? end + 1 : NULL) {
        SCOPED(arena_release) struct arena arena = {0};
        end = strchr(at, '\n');
        const bool found = is_head(arena_strndup(&arena, at, strcspn(at, "\n")));
        if (found)
            return true;
    }
    return false;
}

enum status read_collective(struct trace *trace, struct source *source, struct err *err)
{
    struct collective c = {.trace = trace, .path = source->path};
    const size_t before = trace->call_count;
    size_t length;
    for (char *line = source_line(source, &length); line; line = source_line(source, &length)) {
        c.number++;
        char *tag = line[0] == '[' ? strstr(line, ">:") : NULL; /* mpirun --tag-output */
        line = tag ? tag + 2 : line;
        find_program(&c, line);
        if (is_head(line)) {
            c.in_table = true;
            c.counts_wrong = strstr(line, "#wrong");
        } else if (strchr(line, '#')) {
            read_rank(&c, line);
        } else if (c.in_table) {
            read_row(&c, line);
        }
    }
    return trace->call_count > before
               ? STATUS_OK
               : err_set(err, ERR_CONFIG, "%s: the table of its collectives has no row", source->path);
}
