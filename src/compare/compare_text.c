/* SPDX-License-Identifier: MIT */
#include "compare_text.h"

#include <math.h>
#include <string.h>

void compare_toned(struct text *out, bool color, enum compare_tone tone, const char *text)
{
    static const char *const codes[] = {
        [TONE_PLAIN] = "", [TONE_BAD] = "\033[31m", [TONE_GOOD] = "\033[32m", [TONE_UNSURE] = "\033[33m"};
    text_addf(out, "%s%s%s", color ? codes[tone] : "", text, color && tone ? "\033[0m" : "");
}

const char *compare_safe(struct arena *arena, const char *text)
{
    struct text safe = {0};
    text_add_printable(&safe, text);
    const char *copy = arena_strdup(arena, safe.data ? safe.data : "");
    text_release(&safe);
    return copy;
}

/* ---- above the table ---- */

static void put_side(struct text *out, const char *which, const struct result *result, struct arena *arena)
{
    const unsigned trials = result->trials ? result->trials : 1;
    text_addf(out, "%-5s %u trial%s", which, trials, trials > 1 ? "s" : "");
    if (result->started_at && result->started_at[0])
        text_addf(out, ", %s", compare_safe(arena, result->started_at));
    if (result->commit && result->commit[0])
        text_addf(out, ", commit %.12s", compare_safe(arena, result->commit));
    if (result->status && strcmp(result->status, "complete") != 0)
        text_addf(out, ", %s", compare_safe(arena, result->status));
    text_add(out, "\n");
}

static void put_head(struct text *out, const struct comparison *comparison, struct arena *arena)
{
    if (comparison->base->predicted)
        text_add(out, "PREDICTED: nothing was executed; differences of the model, not of a machine\n");
    text_addf(out, "on %s\n", compare_safe(arena, comparison->now->device.name));
    put_side(out, "base", comparison->base, arena);
    put_side(out, "new", comparison->now, arena);
    text_add(out, "\n");
}

/* ---- below it ---- */

static void put_classes(struct text *out, const struct comparison *comparison, bool color, unsigned columns,
                        struct arena *arena)
{
    bool some = false;
    for (size_t k = 0; k < comparison->class_count; k++) {
        const struct compare_class *class = &comparison->classes[k];
        if (!class->group.shifted)
            continue;
        const char *line = arena_printf(
            arena,
            "%zu %s cases moved together, %.0f %% of them the same way, by %s (%s); each is judged on what is left",
            class->group.cases, compare_safe(arena, class->name), class->group.share * 100,
            compare_percent(arena, exp(class->group.common)), shift_verdict_name(class->group.shift.verdict));
        const bool slower = compare_class_is_slower(class);
        compare_toned(out, color, slower ? TONE_BAD : TONE_UNSURE, "suite-wide shift:");
        text_add_wrapped(out, line, strlen("suite-wide shift:"), 2, columns);
        text_add(out, "\n");
        some = true;
    }
    if (some)
        text_add(out, "\n");
}

static void kpi_verdict(struct text *out, const struct compare_kpi *kpi, bool color)
{
    static const struct {
        const char *word;
        enum compare_tone tone;
    } words[] = {
        [SHIFT_SLOWER] = {"WORSE", TONE_BAD},       [SHIFT_FASTER] = {"BETTER", TONE_GOOD},
        [SHIFT_SUSPECT] = {"SUSPECT", TONE_UNSURE}, [SHIFT_INCONCLUSIVE] = {"INCONCLUSIVE", TONE_UNSURE},
        [SHIFT_SAME] = {"SAME", TONE_PLAIN},
    };
    compare_toned(out, color, words[kpi->shift.verdict].tone, words[kpi->shift.verdict].word);
}

static size_t widest(size_t width, const char *text)
{
    const size_t columns = text_columns(text);
    return columns > width ? columns : width;
}

static void put_kpis(struct text *out, const struct comparison *comparison, bool color, unsigned columns,
                     struct arena *arena)
{
    size_t width = 0;
    for (size_t k = 0; k < comparison->kpi_count; k++)
        width = widest(width, compare_safe(arena, comparison->kpis[k].name));
    if (comparison->kpi_count)
        text_add(out, "key figures\n");
    for (size_t k = 0; k < comparison->kpi_count; k++) {
        const struct compare_kpi *kpi = &comparison->kpis[k];
        const char *name = compare_safe(arena, kpi->name);
        text_addf(out, "  %s", name);
        text_pad(out, width - text_columns(name) + 2, ' ');
        if (kpi->judged) {
            text_addf(out, "%.4g -> %.4g %s  %s  ", kpi->base, kpi->now, compare_safe(arena, kpi->unit),
                      compare_percent(arena, kpi->now / kpi->base));
            kpi_verdict(out, kpi, color);
        } else {
            compare_toned(out, color, kpi->lost ? TONE_BAD : TONE_PLAIN, kpi->lost ? "LOST" : "");
            text_add_wrapped(out, compare_safe(arena, kpi->reason), width + (kpi->lost ? 8 : 4), width + 4, columns);
        }
        text_add(out, "\n");
    }
    if (comparison->kpi_count)
        text_add(out, "\n");
}

/* Of a hash the beginning tells enough. */
static const char *fact(const char *value, struct arena *arena)
{
    const size_t length = strlen(value);
    if (!length)
        return "none";
    if (length == 64 && strspn(value, "0123456789abcdef") == length)
        return arena_printf(arena, "%.12s...", value);
    return compare_safe(arena, value);
}

static void put_differences(struct text *out, const struct comparison *comparison, unsigned columns,
                            struct arena *arena)
{
    size_t width = 0;
    for (size_t k = 0; k < comparison->difference_count; k++)
        width = widest(width, compare_safe(arena, comparison->differences[k].what));
    if (comparison->difference_count)
        text_add(out, "what differs besides\n");
    for (size_t k = 0; k < comparison->difference_count; k++) {
        const struct compare_difference *d = &comparison->differences[k];
        const char *what = compare_safe(arena, d->what);
        const char *line = arena_printf(arena, "%s -> %s", fact(d->base, arena), fact(d->now, arena));
        text_addf(out, "  %s", what);
        text_pad(out, width - text_columns(what) + 2, ' ');
        text_add_wrapped(out, line, width + 4, width + 4, columns);
        text_add(out, "\n");
    }
    if (comparison->difference_count)
        text_add(out, "\n");
}

static void put_counts(struct text *out, const struct comparison *c)
{
    const struct {
        size_t count;
        const char *word;
    } counts[] = {
        {c->slower, "slower"},
        {c->broken, "broken"},
        {c->missing, "missing"},
        {c->still_broken, "still broken"},
        {c->faster, "faster"},
        {c->fixed, "fixed"},
        {c->same, "same"},
        {c->suspect, "suspect"},
        {c->refused, "not compared"},
        {c->inconclusive, "inconclusive"},
        {c->added, "new"},
        {c->skipped, "skipped"},
    };
    bool some = false;
    text_addf(out, "%zu case%s: ", c->case_count, c->case_count == 1 ? "" : "s");
    for (size_t k = 0; k < sizeof(counts) / sizeof(*counts); k++)
        if (counts[k].count) {
            text_addf(out, "%s%zu %s", some ? ", " : "", counts[k].count, counts[k].word);
            some = true;
        }
    text_add(out, "\n");
}

void compare_table(struct text *out, const struct comparison *comparison, bool color, unsigned columns)
{
    struct arena arena = {0};
    const char *advice[COMPARE_ADVICE + 1];
    columns = columns ? columns : 100;
    put_head(out, comparison, &arena);
    compare_table_rows(out, comparison, color, columns, &arena);
    put_classes(out, comparison, color, columns, &arena);
    put_kpis(out, comparison, color, columns, &arena);
    put_differences(out, comparison, columns, &arena);
    put_counts(out, comparison);
    compare_advice(advice, comparison, &arena);
    for (size_t k = 0; advice[k]; k++) {
        text_add_wrapped(out, advice[k], 0, 0, columns);
        text_add(out, "\n");
    }
    arena_release(&arena);
}
