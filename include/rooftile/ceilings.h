/* SPDX-License-Identifier: MIT
 *
 * Ceilings: a machine found from measurements. Memory levels come from the data, not from a table: the bandwidth of the kernel
 * with the most footprints is cut by change points; segments closer than a factor of 1.25 are one level (the band gap that
 * Berkeley's ERT uses). A level's bandwidth is the best that any kernel of class memory reached inside its segment, a unit's
 * peak the best of class compute.
 *
 * A level's capacity is taken where the next plateau begins: the largest value the data allow. The roofline's floor then
 * claims too little traffic rather than too much.
 */
#ifndef ROOFTILE_CEILINGS_H
#define ROOFTILE_CEILINGS_H

#include "rooftile/result.h"

/* Fills name, levels, units, launch and identity-free facts of *machine from the cases that are ok and verified. ERR_CONFIG when
 * there is no memory case to find levels from. */
enum status ceilings_find(struct machine *machine, const struct result *result, uint64_t seed, struct err *err);

#endif
