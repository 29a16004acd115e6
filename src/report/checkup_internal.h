/* SPDX-License-Identifier: MIT
 *
 * What the files of the checkup share.
 */
#ifndef ROOFTILE_CHECKUP_INTERNAL_H
#define ROOFTILE_CHECKUP_INTERNAL_H

#include "rooftile/checkup.h"

/* Reads the step's result, if it has one, and fills in everything from `word` on. */
void checkup_judge(struct checkup *checkup, enum checkup_step step, const char *path, struct arena *arena);

/* The tables of a section that has a result. */
void checkup_tables(struct text *out, const struct checkup *checkup, enum checkup_step step, struct arena *arena);

#endif
