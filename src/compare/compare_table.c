/* SPDX-License-Identifier: MIT
 *
 * The comparison's table of cases: what is wrong first, then what moved, then what could not be told; what stayed the
 * same is one number below it.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare_text.h"
#include "rooftile/units.h"

enum { MOST_ROWS = 200, WIDEST_LABEL = 48, LEAST_WHY = 28, CELLS = 6, UNTOLD = 9 };

struct row {
    const struct compare_case *c;
    const char *cells[CELLS]; /* label, base, new, change, interval, verdict */
    const char *why;
    enum compare_tone tone;
    int rank; /* smaller is told earlier; UNTOLD: not at all */
};

struct compare_word {
    const char *word;
    enum compare_tone tone;
    int rank;
};

static const struct compare_word verdict_words[] = {
    [SHIFT_SLOWER] = {"SLOWER", TONE_BAD, 1},      [SHIFT_FASTER] = {"FASTER", TONE_GOOD, 6},
    [SHIFT_SUSPECT] = {"SUSPECT", TONE_UNSURE, 4}, [SHIFT_INCONCLUSIVE] = {"INCONCLUSIVE", TONE_UNSURE, 7},
    [SHIFT_SAME] = {"SAME", TONE_PLAIN, UNTOLD},
};

static const struct compare_word state_words[] = {
    [COMPARE_BROKEN] = {"BROKEN", TONE_BAD, 0},
    [COMPARE_MISSING] = {"MISSING", TONE_BAD, 2},
    [COMPARE_REFUSED] = {"NOT COMPARED", TONE_UNSURE, 3},
    [COMPARE_BOTH_BROKEN] = {"STILL BROKEN", TONE_UNSURE, 5},
    [COMPARE_FIXED] = {"FIXED", TONE_GOOD, 6},
    [COMPARE_NEW] = {"NEW", TONE_PLAIN, 8},
    [COMPARE_SKIPPED] = {"SKIPPED", TONE_PLAIN, UNTOLD},
};

const char *compare_percent(struct arena *arena, double ratio)
{
    const double value = (ratio - 1) * 100;
    if (!isfinite(value))
        return "-";
    return arena_printf(arena, fabs(value) < 9.95 ? "%+.1f %%" : "%+.0f %%", fabs(value) < 0.05 ? 0.0 : value);
}

static const char *time_text(struct arena *arena, double time_ns)
{
    char text[UNITS_TEXT];
    return arena_strdup(arena, units_time(text, time_ns));
}

static const char *why(const struct compare_case *c, struct arena *arena)
{
    const size_t disturbed = c->disturbed[0] + c->disturbed[1], trials = c->shift.base_trials + c->shift.new_trials;
    const char *cause = compare_cause_name(c->cause), *text = cause;
    if (c->shift.reason == SHIFT_NOISY)
        text = arena_printf(arena, "noise hides less than %s", compare_percent(arena, 1 + c->shift.mde));
    if (c->shift.reason == SHIFT_UNSUPPORTED)
        text = "the fastest trials do not show it";
    if (c->shift.reason == SHIFT_FEW_TRIALS)
        text = arena_printf(arena, "%zu v %zu trials%s%s", c->shift.base_trials, c->shift.new_trials,
                            cause[0] ? "; " : "", cause);
    return disturbed
               ? arena_printf(arena, "%s%s%zu of %zu trials disturbed", text, text[0] ? "; " : "", disturbed, trials)
               : text;
}

static void fill_row(struct row *row, const struct compare_case *c, struct arena *arena)
{
    const struct result_case *const sides[] = {c->base, c->now};
    const bool judged = c->state == COMPARE_JUDGED;
    const struct compare_word *word = judged ? &verdict_words[c->shift.verdict] : &state_words[c->state];
    *row = (struct row){.c = c, .why = c->reason, .tone = word->tone, .rank = word->rank};
    row->cells[0] = compare_safe(arena, c->label);
    row->cells[3] = row->cells[4] = "";
    row->cells[5] = word->word;
    for (int k = 0; k < 2; k++)
        row->cells[k + 1] = sides[k] && result_case_counts(sides[k]) ? time_text(arena, sides[k]->stats.median) : "-";
    if (!judged)
        return;
    row->cells[1] = time_text(arena, c->shift.base_ns);
    row->cells[2] = time_text(arena, c->shift.new_ns);
    row->cells[3] = compare_percent(arena, c->shift.ratio);
    row->cells[4] = arena_printf(arena, "%s .. %s", compare_percent(arena, c->shift.ratio_ci[0]),
                                 compare_percent(arena, c->shift.ratio_ci[1]));
    row->why = why(c, arena);
}

/* Within a rank the largest change first. */
static int by_rank(const void *a, const void *b)
{
    const struct row *p = a, *q = b;
    const double x = p->c->state == COMPARE_JUDGED ? fabs(log(p->c->shift.ratio)) : 0;
    const double y = q->c->state == COMPARE_JUDGED ? fabs(log(q->c->shift.ratio)) : 0;
    if (p->rank != q->rank)
        return p->rank - q->rank;
    return x != y ? (x < y) - (x > y) : strcmp(p->c->id, q->c->id);
}

static void right(struct text *out, const char *text, size_t width)
{
    text_pad(out, width - text_columns(text) + 2, ' ');
    text_add(out, text);
}

struct layout {
    size_t width[CELLS];
    size_t why_at; /* the column where reasons start */
    bool beside;   /* long ones too; else they get lines of their own */
    size_t columns;
};

static void put_row(struct text *out, const struct row *row, const struct layout *layout, bool color,
                    struct arena *arena)
{
    const size_t label = text_columns(row->cells[0]);
    text_add(out, row->cells[0]);
    if (label > layout->width[0]) { /* the figures of a long name stand in the next line */
        text_add(out, "\n");
        text_pad(out, layout->width[0], ' ');
    } else {
        text_pad(out, layout->width[0] - label, ' ');
    }
    for (int k = 1; k < CELLS - 1; k++)
        right(out, row->cells[k], layout->width[k]);
    text_add(out, "  ");
    compare_toned(out, color, row->tone, row->cells[5]);
    if (row->why[0] && (layout->beside || layout->why_at + text_columns(row->why) <= layout->columns)) {
        text_pad(out, layout->width[5] - strlen(row->cells[5]) + 2, ' ');
        text_add_wrapped(out, compare_safe(arena, row->why), layout->why_at, layout->why_at, layout->columns);
    } else if (row->why[0]) {
        text_add(out, "\n    ");
        text_add_wrapped(out, compare_safe(arena, row->why), 4, 4, layout->columns);
    }
    text_add(out, "\n");
}

static void lay_out(struct layout *layout, const struct row *rows, size_t shown)
{
    size_t total = 2 * (CELLS - 1);
    for (size_t k = 0; k < shown; k++)
        for (size_t n = 0; n < CELLS; n++) {
            size_t columns = text_columns(rows[k].cells[n]);
            columns = n == 0 && columns > WIDEST_LABEL ? 0 : columns;
            layout->width[n] = columns > layout->width[n] ? columns : layout->width[n];
        }
    for (size_t n = 0; n < CELLS; n++)
        total += layout->width[n];
    layout->why_at = total + 2;
    layout->beside = layout->why_at + LEAST_WHY <= layout->columns;
}

void compare_table_rows(struct text *out, const struct comparison *comparison, bool color, unsigned columns,
                        struct arena *arena)
{
    const char *level = arena_printf(arena, "%g %% interval", 100 * (1 - comparison->options.alpha));
    struct row *rows = arena_array(arena, comparison->case_count + 1, sizeof(*rows));
    struct layout layout = {.width = {4, 4, 3, 6, strlen(level), 7}, .columns = columns};
    size_t told = 0;
    for (size_t k = 0; k < comparison->case_count; k++)
        fill_row(&rows[k], &comparison->cases[k], arena);
    qsort(rows, comparison->case_count, sizeof(*rows), by_rank);
    while (told < comparison->case_count && rows[told].rank < UNTOLD)
        told++;
    const size_t shown = told < MOST_ROWS ? told : MOST_ROWS;
    if (!shown)
        return;
    lay_out(&layout, rows, shown);
    text_add(out, "case");
    text_pad(out, layout.width[0] - 4, ' ');
    const char *const titles[] = {"", "base", "new", "change", level};
    for (int k = 1; k < CELLS - 1; k++)
        right(out, titles[k], layout.width[k]);
    text_add(out, "  verdict\n");
    for (size_t k = 0; k < shown; k++)
        put_row(out, &rows[k], &layout, color, arena);
    if (told > shown)
        text_addf(out, "... and %zu more; --format json has them all\n", told - shown);
    text_add(out, "\n");
}
