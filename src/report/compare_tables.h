/* SPDX-License-Identifier: MIT
 *
 * What the tables of a comparison share, and those of what is no case.
 */
#ifndef ROOFTILE_COMPARE_TABLES_H
#define ROOFTILE_COMPARE_TABLES_H

#include "rooftile/compare.h"
#include "rooftile/table.h"

enum { NOT_SHOWN = 9 };

struct verdict_words {
    const char *word;
    enum tone tone;
    int rank; /* smaller is told earlier; NOT_SHOWN: not at all */
};

extern const struct verdict_words words_of_verdict[]; /* by enum shift_verdict */

/* ---- a shift's members ---- */

/* The first three are filled by put_shift. */
enum { SHIFT_CELLS = 10 };
#define SHIFT_COLUMNS(type, shift)                                                                                     \
    {.key = "verdict"}, {.key = "verdict_reason"}, {.key = "common_ratio"},                                            \
        {.key = "ratio", FIELD(type, shift.ratio)}, {.key = "ratio_ci", FIELD(type, shift.ratio_ci)},                  \
        {.key = "p", FIELD(type, shift.p)}, {.key = "q", FIELD(type, shift.q)}, {.key = "sd", FIELD(type, shift.sd)},  \
        {.key = "mde", FIELD(type, shift.mde)},                                                                        \
    {                                                                                                                  \
        .key = "suggested_trials", FIELD(type, shift.suggested_trials)                                                 \
    }
void put_shift(struct cell *cells, const struct shift *shift, const char *verdict);

/* ---- tables ---- */

struct table *class_table(const struct comparison *comparison, struct arena *arena);
struct table *kpi_table(const struct comparison *comparison, struct arena *arena);
struct table *difference_table(const struct comparison *comparison, struct arena *arena);

#endif
