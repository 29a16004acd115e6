/* SPDX-License-Identifier: MIT
 *
 * Ceilings: a machine found from measurements, never from a table of devices.
 *
 * Levels by bandwidth: the rate of the memory kernel with the most footprints is cut by change points; segments closer
 * than a factor of 1.25 are one level (the band gap that Berkeley's ERT uses), and a capacity boundary needs a
 * confidence of 0.9. A level's bandwidth is the best that any kernel of class memory reached inside its segment; beside
 * it stands the best of each traffic.
 *
 * Levels by latency: the same on the times of dependent loads (the kernel of class latency with the most footprints). A
 * chase fills one cache of a kind, a bandwidth kernel fills all of them; so the capacity boundaries agree when some
 * number of caches that the device may have makes them equal. Where they do not, the entry in machine.latencies has no
 * level name, the level's latency comes from chases that certainly fit it, and reports say so.
 *
 * Capacity boundaries come from the fastest twentieth of each case's samples, because neighbours on the machine only
 * ever slow some of them; figures are medians. A point that is worse than both its neighbours by more than a level is a
 * case with interference, not a capacity boundary.
 *
 * A unit's peak is the best of class compute. Other facts (LDS, launches, timer) are rows of ceilings.c.
 *
 * A level's capacity is taken where the next plateau begins, which is the largest value the data allow. The roofline's
 * lower bound then assumes too little traffic rather than too much. capacity_low_bytes is the smallest value they
 * allow.
 */
#ifndef ROOFTILE_CEILINGS_H
#define ROOFTILE_CEILINGS_H

#include "rooftile/result.h"

/* Fills *machine from the cases that are ok and verified: everything but what identifies the device. ERR_CONFIG, and
 * *machine unchanged, when there is no memory case to find levels from. */
enum status ceilings_find(struct machine *machine, const struct result *result, uint64_t seed, struct err *err);

/* A ceiling is sure when two passes over the case that set it came within 10 % of each other and no level serves more
 * than the one before it. `other_ns` has, by case, the best median of all passes but that of the result; INFINITY where
 * there was one pass.
 *
 * Marks the cases that one more pass may settle, and counts them. */
size_t ceilings_unsure(bool *again, const struct machine *machine, const struct result *result, const double *other_ns);
/* Of the cases of two passes, both in plan order, the better ones; of those that are not marked the first. */
void ceilings_keep_better(struct result_case *cases, const struct result *before, const bool *again, double *other_ns);
/* Sets machine->disturbed: what is not sure, and whether over a tenth of the cases saw interference. */
void ceilings_doubt(struct machine *machine, const struct result *result, const double *other_ns);

#endif
