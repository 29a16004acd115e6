/* SPDX-License-Identifier: MIT */
#ifndef ROOFTILE_COMPARE_INTERNAL_H
#define ROOFTILE_COMPARE_INTERNAL_H

#include "rooftile/compare.h"

/* Key figures of both sides, and everything about tool, environment and ceilings that differs. */
enum status compare_kpis(struct comparison *comparison, struct arena *arena, struct err *err);
void compare_differences(struct comparison *comparison, struct arena *arena);

#endif
