/* SPDX-License-Identifier: MIT
 *
 * Tables of a comparison: classes that moved as a whole, key figures, what else differs.
 */
#include "compare_tables.h"
#include "report_internal.h"

const struct verdict_words words_of_verdict[] = {
    [SHIFT_SLOWER] = {"SLOWER", TONE_BAD, 1},       [SHIFT_FASTER] = {"FASTER", TONE_GOOD, 6},
    [SHIFT_SUSPECT] = {"SUSPECT", TONE_DOUBT, 4},   [SHIFT_INCONCLUSIVE] = {"INCONCLUSIVE", TONE_DOUBT, 7},
    [SHIFT_SAME] = {"SAME", TONE_PLAIN, NOT_SHOWN},
};

void put_shift(struct cell *cells, const struct shift *shift, const char *verdict)
{
    cells[0] = cell_text(verdict);
    cells[1] = cell_text(shift_reason_names[shift->reason]);
    cells[2] = cell_number(exp(shift->common));
}

enum { CLASS_NAME, CLASS_RATIO, CLASS_VERDICT, CLASS_SHIFT };

struct table *class_table(const struct comparison *comparison, struct arena *arena)
{
    static const struct table_column columns[] = {
        [CLASS_NAME] = {.key = "class",
                        .title = "suite-wide shift: class",
                        .flags = COLUMN_TEST,
                        FIELD(struct compare_class, name)},
        [CLASS_RATIO] = {.key = "class_ratio", .title = "together", .unit = UNIT_CHANGE},
        [CLASS_VERDICT] = {.title = "verdict", .flags = COLUMN_VERDICT},
        SHIFT_COLUMNS(struct compare_class, group.shift),
        {.key = "cases", .title = "cases", .unit = UNIT_COUNT, FIELD(struct compare_class, group.cases)},
        {.key = "share", .title = "the same way", .unit = UNIT_PERCENT, FIELD(struct compare_class, group.share)}};
    struct table *table = TABLE(arena, columns);
    for (size_t k = 0; k < comparison->class_count; k++) {
        const struct shift_group *group = &comparison->classes[k].group;
        const enum shift_verdict verdict = group->shift.verdict;
        if (!group->shifted)
            continue;
        struct cell *cells = table_add_object(table, &comparison->classes[k])->cells;
        cells[CLASS_RATIO] = cell_number(exp(group->common));
        cells[CLASS_RATIO].text = change_words(exp(group->common) - 1, arena);
        cells[CLASS_VERDICT] = cell_toned(words_of_verdict[verdict].word, words_of_verdict[verdict].tone);
        put_shift(&cells[CLASS_SHIFT], &group->shift, shift_verdict_names[verdict]);
    }
    return table;
}

enum { KPI_NAME, KPI_BETTER, KPI_BASE, KPI_NEW, KPI_CHANGE, KPI_VERDICT, KPI_WHY, KPI_SHIFT };
#define OF_KPI(member) FIELD(struct compare_kpi, member)

struct table *kpi_table(const struct comparison *comparison, struct arena *arena)
{
    static const struct table_column columns[] = {
        [KPI_NAME] = {.key = "name", .title = "key figure", .flags = COLUMN_TEST, OF_KPI(name)},
        [KPI_BETTER] = {.key = "better"},
        [KPI_BASE] = {.key = "base", .title = "base", .unit = UNIT_NUMBER, OF_KPI(base)},
        [KPI_NEW] = {.key = "new", .title = "new", .unit = UNIT_NUMBER, OF_KPI(now)},
        [KPI_CHANGE] = {.title = "change", .unit = UNIT_CHANGE},
        [KPI_VERDICT] = {.title = "verdict", .flags = COLUMN_VERDICT},
        [KPI_WHY] = {.key = "reason", .title = "", .flags = COLUMN_PROSE | COLUMN_OPTIONAL, OF_KPI(reason)},
        SHIFT_COLUMNS(struct compare_kpi, shift),
        {.key = "unit", OF_KPI(unit)},
        {.key = "lost", OF_KPI(lost)}};
    struct table *table = TABLE(arena, columns);
    FOR_EACH(const struct compare_kpi, kpi, comparison->kpis, comparison->kpi_count) {
        const enum shift_verdict verdict = kpi->shift.verdict;
        const bool worse = verdict == SHIFT_SLOWER, better = verdict == SHIFT_FASTER;
        struct cell *cells = table_add_object(table, kpi)->cells;
        cells[KPI_BETTER] = cell_text(kpi->higher_is_better ? "higher" : "lower");
        cells[KPI_BASE].unit = cells[KPI_NEW].unit = kpi_shown_unit(kpi->of, kpi->unit);
        cells[KPI_WHY].text = text_or_empty(kpi->reason);
        if (!kpi->judged) {
            cells[KPI_VERDICT] = cell_toned(kpi->lost ? "LOST" : "", kpi->lost ? TONE_BAD : TONE_DIM);
            memset(&cells[KPI_SHIFT], 0, SHIFT_CELLS * sizeof(*cells));
            continue;
        }
        cells[KPI_VERDICT] = cell_toned(worse    ? "WORSE"
                                        : better ? "BETTER"
                                                 : words_of_verdict[verdict].word,
                                        words_of_verdict[verdict].tone);
        cells[KPI_CHANGE] = cell_number(kpi->now / kpi->base - 1);
        put_shift(&cells[KPI_SHIFT], &kpi->shift, worse ? "worse" : better ? "better" : shift_verdict_names[verdict]);
    }
    return table;
}

/* Of a hash the beginning tells enough. */
static const char *fact(const char *value, struct arena *arena)
{
    const size_t length = strlen(value);
    return !length                                                       ? "none"
           : length == 64 && strspn(value, "0123456789abcdef") == length ? arena_printf(arena, "%.12s...", value)
                                                                         : value;
}

struct table *difference_table(const struct comparison *comparison, struct arena *arena)
{
    static const struct table_column columns[] = {{.key = "what", .title = "what differs besides"},
                                                  {.key = "base"},
                                                  {.key = "new"},
                                                  {.title = "base"},
                                                  {.title = "new", .flags = COLUMN_PROSE}};
    struct table *table = TABLE(arena, columns);
    FOR_EACH(const struct compare_difference, d, comparison->differences, comparison->difference_count)
        table_add(table, (struct cell[]){cell_text(d->what), cell_text(d->base), cell_text(d->now),
                                         cell_text(fact(d->base, arena)), cell_text(fact(d->now, arena))});
    return table;
}
