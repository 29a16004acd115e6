/* SPDX-License-Identifier: MIT
 *
 * What ceilings.c and ceilings_levels.c share.
 */
#ifndef ROOFTILE_CEILINGS_INTERNAL_H
#define ROOFTILE_CEILINGS_INTERNAL_H

#include "rooftile/ceilings.h"

/* Measured, verified, and with a time. */
bool ceilings_usable(const struct result_case *result_case);
/* Half-width of the median's interval, relative, at most 1. */
double ceilings_ci(const struct result_case *result_case);

/* Levels by bandwidth, levels by latency, and what they say about each other. ERR_CONFIG: nothing to find them from. */
enum status ceilings_levels(struct machine *machine, const struct result *result, uint64_t seed, struct err *err);

#endif
