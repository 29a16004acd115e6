/* SPDX-License-Identifier: MIT
 *
 * What rccl-tests and nccl-tests print: a table of sizes, each out of place and in place. Newer versions name the
 * program; of older ones its command line may be in the log, else what was reduced and the ratio of the two bandwidths
 * say which collective it was, or it is not known. Lines of other programs are passed over.
 */

#include "lines.h"

enum { MOST_WORDS = 24, SIDE_WORDS = 4 }; /* of a side: time, algbw, busbw, #wrong */

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
static bool read_rank(struct trace *trace, struct collective *c, const char *line)
{
    const char *rank = strstr(line, "Rank "), *on = strstr(line, " on "), *name = strrchr(line, ']');
    if (!rank || !on || !strstr(on, " device "))
        return false;
    const double number = strtod(rank + 5, NULL);
    on += 4 + strspn(on + 4, " ");
    const char *host = arena_strndup(&trace->arena, on, strcspn(on, " "));
    if (number == 0) { /* another table begins */
        c->ranks = c->nodes = 0;
        c->host = "";
    }
    c->ranks = fmax(c->ranks, number + 1);
    c->nodes += c->host && strcmp(c->host, host) == 0 ? 0 : 1;
    c->host = host;
    if (name && !trace->device_name)
        trace->device_name = arena_strdup(&trace->arena, name + 1 + strspn(name + 1, " "));
    return true;
}

static bool is_head(const char *line)
{
    const char *size = strstr(line, " size "), *bus = strstr(line, " busbw ");
    return strchr(line, '#') && size && bus && bus > size && strstr(line, " type ") && strstr(line, " algbw ");
}

/* ---- rows ---- */

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

static void add_side(struct lines *lines, struct trace_operator *o, char *const *words, bool in_place)
{
    struct collective *c = &lines->collective;
    double us, algorithm, bus, wrong;
    if (!is_number(&us, words[0]) || !is_number(&algorithm, words[1]) || !is_number(&bus, words[2]) || !(us > 0)) {
        trace_skip(lines->trace, "a measurement without a time was skipped");
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
        trace_note(lines->trace, "%s:%llu: %.0f wrong elements: %s %s, %.0f bytes", lines->trace->path,
                   (unsigned long long)lines->trace->source->line, wrong, o->name, o->layout, size);
    struct trace_operator kept = *o;
    kept.total = "";
    struct trace_call *call = trace_add_call(lines->trace, &kept, 1, us * 1e3);
    call->wrong_elements = wrong;
    if (c->ranks == 1) { /* it copied in its own memory, or did nothing */
        trace_skip(lines->trace, "one rank took part, as in a build without MPI: nothing crossed a link, and the "
                                 "bandwidth is none");
        return;
    }
    call->algorithm_bytes_per_s = size > 0 ? exact * 1e9 : NAN;
    call->bus_bytes_per_s = bus > 0 ? bus * 1e9 : NAN;
}

/* size count type [redop] [root] time algbw busbw #wrong time algbw busbw #wrong */
static bool read_row(struct lines *lines, char *line)
{
    struct collective *c = &lines->collective;
    char *words[MOST_WORDS];
    const size_t count = split_words(words, line), lead = count - 2 * SIDE_WORDS;
    double size, elements, root = -1;
    if (count < 3 + 2 * SIDE_WORDS || lead > 5 || !is_number(&size, words[0]) || !is_number(&elements, words[1]))
        return false;
    if (!(size > 0) || !(elements > 0)) {
        trace_skip(lines->trace, "sizes of no bytes were skipped");
        return true;
    }
    if (lead == 5)
        root = strtod(words[4], NULL);
    const char *dtype = dtype_of_trace(words[2]);
    struct trace_operator o = {.kind = IMPORT_COMMUNICATION,
                               .dims = {elements, size, c->ranks, root > 0 ? root : 0, c->nodes > 1 ? c->nodes : 0},
                               .dtype = dtype ? dtype : words[2],
                               .total = lead > 3 && strcmp(words[3], "none") != 0 ? words[3] : "",
                               .scaled = root >= 0,
                               .shape = ""};
    add_side(lines, &o, words + lead, false);
    add_side(lines, &o, words + lead + SIDE_WORDS, true);
    return true;
}

bool collective_line(struct lines *lines, char *line, UNUSED size_t length)
{
    struct collective *c = &lines->collective;
    char *tag = line[0] == '[' ? strstr(line, ">:") : NULL; /* mpirun --tag-output */
    line = tag ? tag + 2 : line;
    find_program(c, line);
    if (is_head(line)) {
        c->in_table = true;
        c->counts_wrong = strstr(line, "#wrong");
        return true;
    }
    if (strchr(line, '#'))
        return read_rank(lines->trace, c, line);
    if (!c->in_table || !isdigit((unsigned char)line[strspn(line, " \t")]))
        return false;
    text_clear(&lines->room);
    text_add(&lines->room, line);
    return read_row(lines, lines->room.data);
}
