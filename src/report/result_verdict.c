/* SPDX-License-Identifier: MIT
 *
 * A result in two sentences, what came out and what to do about it, and its cases by the time that can be won.
 */
#include <stdlib.h>
#include <string.h>

#include "picture.h"
#include "report_internal.h"
#include "rooftile/file.h"

#define MANY_DISTURBED 0.1 /* share of the cases: with more, the run is unfit for comparison */

enum { LONGEST_NAME = 60 };

/* ---- time to win ---- */

/* True for kernels that ask the device something instead of doing work: their time is the answer. */
static bool is_probe(const struct result_case *c)
{
    static const char *const tags[] = {"peak", "latency", "occupancy", "launch", "service"};
    bool probe = result_case_is_twin(c);
    for (size_t k = 0; k < COUNT_OF(tags); k++)
        probe |= text_among(tags[k], c->tags, c->tag_count);
    return probe;
}

static bool has_share(const struct result_case *c)
{
    return is_mark(c) && c->fraction > 0 && *c->lower_bound.ceiling_name && !result_is_latency(c);
}

double time_to_win(const struct result_case *c)
{
    const bool known = has_share(c) && !is_probe(c) && !(c->flags & (FLAG_LAUNCH_BOUND | FLAG_FIBERS));
    return known ? weight_of(c) * result_case_time(c) * fmax(0, 1 - c->fraction) : 0;
}

static int by_win(const void *a, const void *b)
{
    const struct result_case *p = *(const struct result_case *const *)a, *q = *(const struct result_case *const *)b;
    return ORDER(time_to_win(q), time_to_win(p)) ?: strcmp(p->id, q->id);
}

size_t worth_winning(const struct result_case ***order, const struct result *result, struct arena *arena)
{
    size_t count = 0;
    *order = arena_array(arena, result->case_count + 1, sizeof(**order));
    for (size_t k = 0; k < result->case_count; k++)
        if (time_to_win(&result->cases[k]) > 0)
            (*order)[count++] = &result->cases[k];
    qsort(*order, count, sizeof(**order), by_win);
    return count;
}

/* ---- the verdict ---- */

bool kpi_is_of(const struct result_kpi *kpi, const struct result_case *c)
{
    return kpi->value == result_quantity(c, kpi->of);
}

/* "quick on AMD Instinct MI300X": what the command names, or else the only kernel, if there is one. */
static const char *subject_of(const struct result *result, struct arena *arena)
{
    const char *device = device_title(result->device.name, arena), *ran = "";
    for (size_t k = 2; k < result->argc && *result->argv[k] != '-'; k++)
        ran =
            arena_printf(arena, "%s%s%s", ran, *ran ? ", " : "", path_stem(path_base(result->argv[k]), ".json", arena));
    const struct result_case *cases = result->cases;
    if (!*ran && result->case_count &&
        !COUNT_WHERE(c, cases, result->case_count, strcmp(c->kernel, cases->kernel) != 0))
        ran = cases->kernel;
    return *ran ? arena_printf(arena, "%s on %s", text_cut(arena, ran, LONGEST_NAME, " \u2026 "), device) : device;
}

/* The fastest case below the outermost memory level, or below an arithmetic unit, by its key figure if it has one:
 * "f16 GEMM at 61 % of matrix_f16". "": there is none. */
static const char *fastest(const struct result *result, bool memory, struct arena *arena)
{
    const struct machine *machine = &result->machine;
    const char *outermost = machine->level_count ? machine->levels[machine->level_count - 1].name : "";
    const struct result_case *best = NULL;
    const char *name = NULL;
    FOR_EACH(const struct result_case, c, result->cases, result->case_count) {
        const struct lower_bound *bound = &c->lower_bound;
        const char *figure = NULL;
        if (!has_share(c) || is_probe(c) ||
            (memory ? strcmp(bound->ceiling_name, outermost) != 0 : bound->bound_is_memory))
            continue;
        FOR_EACH(const struct result_kpi, kpi, result->kpis, result->kpi_count)
            figure = kpi_is_of(kpi, c) ? kpi->name : figure;
        if (best && (!figure && name ? true
                                     : !figure == !name && c->fraction * bound->ceiling_value <=
                                                               best->fraction * best->lower_bound.ceiling_value))
            continue;
        best = c;
        name = figure;
    }
    return best ? arena_printf(arena, "%s at %s of %s",
                               text_cut(arena, name ? name : best->kernel, LONGEST_NAME, " \u2026 "),
                               percent_words(best->fraction, arena), best->lower_bound.ceiling_name)
                : "";
}

/* "47 cases: 46 measured, 46 verified, 1 skipped". */
static const char *counts_of(const struct result *result, struct arena *arena)
{
    const struct result_case *cases = result->cases;
    const size_t count = result->case_count;
    struct count counts[CASE_ERROR + 3] = {
        {NULL, result_kind(result), COUNT_WHERE(c, cases, count, c->status == CASE_OK)},
        {NULL, "verified", COUNT_WHERE(c, cases, count, c->verification.verdict == VERIFY_PASS)}};
    size_t kinds = 2;
    for (enum case_status status = CASE_FAILED; status <= CASE_ERROR; status++)
        counts[kinds++] =
            (struct count){NULL, case_status_names[status], COUNT_WHERE(c, cases, count, c->status == status)};
    counts[kinds++] = (struct count){NULL, "impossible", COUNT_WHERE(c, cases, count, c->flags & FLAG_IMPOSSIBLE)};
    const char *line = arena_printf(arena, "%zu case%s: %s", count, text_s(count),
                                    count ? count_members(table_record(arena), counts, kinds) : "nothing to do");
    return result->trials > 1 ? arena_printf(arena, "%s in %u trials", line, result->trials) : line;
}

static const struct result_case *first_finding(const struct result *result)
{
    FOR_EACH(const struct result_case, c, result->cases, result->case_count)
        if (*result_case_finding(c) || c->status == CASE_ERROR)
            return c;
    return NULL;
}

static bool is_interrupted(const struct result *result)
{
    return result->status && !strcmp(result->status, "interrupted");
}

struct cell result_mark(const struct result *result)
{
    const bool some = COUNT_WHERE(c, result->cases, result->case_count, c->status == CASE_OK) > 0;
    return first_finding(result)         ? cell_toned("findings", TONE_BAD)
           : result->predicted           ? cell_toned(some ? "predicted" : "nothing predicted", TONE_DOUBT)
           : *result->device.emulated    ? cell_toned(some ? "emulated" : "nothing executed", TONE_DOUBT)
           : is_interrupted(result)      ? cell_toned("interrupted", TONE_DOUBT)
           : result_is_disturbed(result) ? cell_toned("disturbed", TONE_DOUBT)
           : some                        ? cell_toned("no findings", TONE_GOOD)
                                         : cell_toned("nothing measured", TONE_DOUBT);
}

/* ---- the action ---- */

bool result_is_disturbed(const struct result *result)
{
    const size_t timed = COUNT_WHERE(c, result->cases, result->case_count, result_case_timed(c));
    return (double)COUNT_WHERE(c, result->cases, result->case_count, c->flags & FLAG_INTERFERENCE) >
           MANY_DISTURBED * (double)timed;
}

/* True if a shell takes the word as it is. */
static bool is_plain(const char *word)
{
    return *word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-")];
}

/* The file that the run wrote; NULL: unknown. */
static const char *file_of(const struct result *result)
{
    const char *file = NULL;
    for (size_t k = 1; k < result->argc; k++) {
        const char *word = result->argv[k], *before = result->argv[k - 1];
        file = !strcmp(before, "-o") || !strcmp(before, "--out") ? word : text_starts(word, "--out=") ? word + 6 : file;
    }
    return file && is_plain(file) ? file : NULL;
}

/* "rooftile explain x.json --filter 'attention_decode*'", or by the kernel if nobody knows the file. */
static const char *explain_command(const struct result *result, const struct result_case *c, struct arena *arena)
{
    const char *file = file_of(result), *kernel = is_plain(c->kernel) ? c->kernel : NULL, *id = result->device.id;
    if (!kernel)
        return arena_printf(arena, "rooftile explain %s", file ? file : "RESULT");
    if (file)
        return arena_printf(arena, "rooftile explain %s --filter '%s*'", file, kernel);
    const bool sim = text_starts(id, "sim:") && is_plain(id + strlen("sim:"));
    return arena_printf(arena, "rooftile explain %s%s%s", kernel, sim ? " --machine " : "",
                        sim ? id + strlen("sim:") : "");
}

static const char *action_of(const struct result *result, const struct result_case *worst, struct arena *arena)
{
    const struct result_case *finding = first_finding(result);
    if (is_interrupted(result))
        return arena_printf(arena, "interrupted: the same command with --resume %s goes on",
                            file_of(result) ? file_of(result) : "RESULT");
    if (finding)
        return arena_printf(arena, "look first at %s: %s", text_cut(arena, case_name(finding), 2 * LONGEST_NAME, "..."),
                            *result_case_finding(finding) ? result_case_finding(finding) : "error");
    if (result_is_disturbed(result))
        return arena_printf(arena, "%s; run it again when the machine is quiet", disturbed_words(result, arena));
    if (result->case_count &&
        COUNT_WHERE(c, result->cases, result->case_count, c->status == CASE_SKIPPED) == result->case_count)
        return arena_printf(arena, "nothing was %s: %.200s", result_kind(result), text_or_empty(result->cases->reason));
    if (!result->machine.level_count)
        return "no ceiling is known for this device: rooftile roofline measures them";
    return worst ? arena_printf(arena, "%s shows why", explain_command(result, worst, arena)) : NULL;
}

/* The case's name as tables have it: without what most cases have in common. */
static const char *short_name(const struct result *result, const struct result_case *c, struct arena *arena)
{
    const char **names = arena_array(arena, result->case_count, sizeof(*names));
    for (size_t k = 0; k < result->case_count; k++)
        names[k] = case_name(&result->cases[k]);
    return text_cut(arena, names_apart(names, result->case_count, arena)[c - result->cases], LONGEST_NAME, " \u2026 ");
}

void result_verdict(struct document *document, const struct result *result)
{
    struct arena *arena = document->arena;
    const struct result_case **order;
    const struct result_case *worst = worth_winning(&order, result, arena) ? order[0] : NULL;
    const char *memory = fastest(result, true, arena), *unit = fastest(result, false, arena);
    const char *shares =
        arena_printf(arena, "%s%s%s%s", *memory || *unit ? "; " : "", memory, *memory && *unit ? ", " : "", unit);
    const char *win = worst ? arena_printf(arena, "; most time to win: %s, %s", short_name(result, worst, arena),
                                           quantity_words(time_to_win(worst), UNIT_TIME, arena))
                            : "";
    document->title = subject_of(result, arena);
    document->mark = result_mark(result);
    document->verdict = arena_printf(arena, "%s%s, %s%s%s",
                                     result->predicted          ? "PREDICTED (nothing was executed): "
                                     : *result->device.emulated ? "EMULATED: no GPU executed it; "
                                                                : "",
                                     document->title, counts_of(result, arena), shares, win);
    document->action = action_of(result, worst, arena);
}
