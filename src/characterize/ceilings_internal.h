/* SPDX-License-Identifier: MIT
 *
 * Declarations shared by ceilings.c and ceilings_levels.c.
 */
#ifndef ROOFTILE_CEILINGS_INTERNAL_H
#define ROOFTILE_CEILINGS_INTERNAL_H

#include "rooftile/ceilings.h"

/* Whether the case was measured and verified and has a time. */
bool ceilings_usable(const struct result_case *result_case);
/* Returns the relative half-width of the median's confidence interval, at most 1. */
double ceilings_ci(const struct result_case *result_case);

/* Finds memory levels by bandwidth and by latency, and matches the two. ERR_CONFIG: not enough cases. */
enum status ceilings_levels(struct machine *machine, const struct result *result, uint64_t seed, struct err *err);

#endif
