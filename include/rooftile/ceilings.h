/* SPDX-License-Identifier: MIT
 *
 * Ceilings: describes a machine by measurements, never by a table of devices.
 *
 * Levels by bandwidth: change points divide the rate of the memory kernel with the most footprints into segments.
 * Segments closer than a factor of 1.25 are one level (the band gap of Berkeley's ERT), and a capacity boundary needs a
 * confidence of 0.9. A level's bandwidth is the best that any kernel of class memory reached inside its segment; the
 * best of each kind of traffic is listed too.
 *
 * Levels by latency: the same analysis of the times of dependent loads (the kernel of class latency with the most
 * footprints). A chase fills one cache of a level, a bandwidth kernel fills all of them. The capacity boundaries agree
 * if some possible number of caches makes them equal. If they do not agree, the entry in machine.latencies has no level
 * name, the level's latency comes from chases that certainly fit into it, and reports mention that.
 *
 * Capacity boundaries come from the fastest twentieth of each case's samples, because interference only slows some of
 * them; figures are medians. A point that is worse than both its neighbours by more than a level is a case with
 * interference, not a capacity boundary.
 *
 * A unit's peak is the best of class compute. Other facts (LDS, launches, timer) are rows of ceilings.c.
 *
 * A level's capacity is set to the beginning of the next plateau, the largest value that the data allow. The roofline's
 * lower bound then assumes too little traffic rather than too much. capacity_low_bytes is the smallest value that the
 * data allow.
 */
#ifndef ROOFTILE_CEILINGS_H
#define ROOFTILE_CEILINGS_H

#include "rooftile/result.h"

/* Fills *machine from the verified cases that are ok, except for the identity of the device. ERR_CONFIG, with *machine
 * unchanged, if there are no memory cases to find levels from. */
enum status ceilings_find(struct machine *machine, const struct result *result, uint64_t seed, struct err *err);

/* A ceiling is certain if two passes over the case that set it differ by at most 10 % and no level is faster than the
 * previous one. `other_ns` has, by case, the best median of all passes except that of the result; INFINITY if there was
 * only one pass.
 *
 * Marks the cases that another pass may settle, and returns their number. */
size_t ceilings_unsure(bool *again, const struct machine *machine, const struct result *result, const double *other_ns);
/* Chooses the better of two passes for each marked case, and the first pass for the others. Both are in plan order. */
void ceilings_keep_better(struct result_case *cases, const struct result *before, const bool *again, double *other_ns);
/* Sets machine->disturbed: which ceilings are uncertain, and whether interference affected over a tenth of the
 * cases. */
void ceilings_doubt(struct machine *machine, const struct result *result, const double *other_ns);

#endif
