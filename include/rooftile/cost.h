/* SPDX-License-Identifier: MIT
 *
 * Causes: avoidable costs in a kernel's time. The cost of a cause is the decrease of the predicted time if only that
 * cause is removed. There is no second model: the walk and the device model run again, with one input changed to its
 * value without the cause.
 *
 *     bank conflicts       LDS only takes the clocks of its bytes
 *     uncoalesced          accesses touch the lines that their bytes need, and no others
 *     narrow accesses      16 bytes a lane: fewer accesses, addresses and iterations in proportion
 *     spills               scratch memory costs nothing
 *     occupancy            the limiting resource no longer limits; the next one does
 *     dependent chain      results of arithmetic are available once their instruction has issued
 *     waits                twice as many loads in flight: half of the latencies
 *     atomics              never two on one address
 *     idle lanes           vector instructions with all lanes
 *     tail                 workgroups spread evenly over the units
 *     dispatch             workgroups start at no cost
 *     launch               the kernel is part of another one
 *     extra traffic        each byte of the work crosses the memory once
 *     clock                the device holds the clock in its machine file (results only)
 *     no reuse             each line of a workgroup's data crosses L1 once, and comes from LDS again
 *     chain of loads       two chains at once: half of the latencies; replaces waits
 *
 * The rest is the work itself, by the terms of the prediction (prediction.h), and what no term explains.
 */
#ifndef ROOFTILE_COST_H
#define ROOFTILE_COST_H

#include "rooftile/base.h"

enum cost {
    COST_NONE,
    COST_CONFLICTS,
    COST_UNCOALESCED,
    COST_NARROW,
    COST_SPILLS,
    COST_OCCUPANCY,
    COST_CHAIN,
    COST_WAITS,
    COST_ATOMICS,
    COST_IDLE_LANES,
    COST_TAIL,
    COST_DISPATCH,
    COST_LAUNCH,
    COST_TRAFFIC,
    COST_CLOCK,
    COST_REUSE,
    COST_CHASE,
    COST_MATRIX,
    COST_VECTOR,
    COST_SCALAR,
    COST_LDS,
    COST_L1,
    COST_L2,
    COST_MEMORY, /* and the Infinity Cache */
    COST_LATENCY,
    COST_UNEXPLAINED,
    COST_COUNT
};
#define COST_WORK COST_MATRIX /* causes from here on cannot be changed alone */

const char *cost_name(enum cost cause);   /* "bank conflicts" */
const char *cost_remedy(enum cost cause); /* "pad or swizzle the rows in LDS"; "": none */

struct text;
struct device_launch_model;
struct walk_launch;
struct walk_result;
struct machine;

/* Returns false if the walk found no instance of it, and for the work itself. */
bool cost_possible(enum cost cost, const struct walk_launch *launch, const struct walk_result *walk);

/* Appends the launch's evidence for it: registers, occupancy, lines per access, clocks. */
void cost_evidence(struct text *text, enum cost cause, const struct device_launch_model *model,
                   const struct walk_launch *launch, const struct walk_result *walk, const struct machine *machine);

#endif
