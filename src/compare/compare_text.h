/* SPDX-License-Identifier: MIT
 *
 * What the two files of the comparison's table for people share.
 */
#ifndef ROOFTILE_COMPARE_TEXT_H
#define ROOFTILE_COMPARE_TEXT_H

#include "compare_internal.h"

enum compare_tone { TONE_PLAIN, TONE_BAD, TONE_GOOD, TONE_UNSURE };

void compare_toned(struct text *out, bool color, enum compare_tone tone, const char *text);
/* A copy without control sequences: names and reasons come from files. */
const char *compare_safe(struct arena *arena, const char *text);
/* "+1.2 %" for 1.012. */
const char *compare_percent(struct arena *arena, double ratio);

/* The rows worth telling, and an empty line behind them; nothing when there are none. */
void compare_table_rows(struct text *out, const struct comparison *comparison, bool color, unsigned columns,
                        struct arena *arena);

#endif
