/* SPDX-License-Identifier: MIT
 *
 * Causes: what costs time in a kernel and could be changed. The cost of a cause is how much the predicted time falls
 * when that cause alone is gone. There is no second model: the walk and the device model run again, with one of their
 * inputs as it would be without the cause.
 *
 *     bank conflicts       LDS takes the clocks of its bytes
 *     uncoalesced          accesses touch the lines that their bytes need, and no others
 *     narrow accesses      16 bytes a lane: fewer accesses, addresses and iterations in proportion
 *     spills               scratch memory costs nothing
 *     occupancy            the limiting resource no longer limits; the next one does
 *     dependent chain      results of arithmetic are there when their instruction has issued
 *     waits                twice as many loads in flight: half of the latencies
 *     atomics              no two on one address
 *     idle lanes           vector instructions with all lanes
 *     tail                 workgroups spread evenly over the units
 *     dispatch             workgroups start at no cost
 *     launch               the kernel is a part of another one
 *     extra traffic        each byte of the work crosses the memory once
 *     clock                the device holds the clock that its machine file names (of a result alone)
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
    COST_COUNT
};

const char *cost_name(enum cost cause);   /* "bank conflicts" */
const char *cost_remedy(enum cost cause); /* "pad or swizzle the rows in LDS" */

struct text;
struct device_launch_model;
struct walk_launch;
struct walk_result;
struct machine;

/* False: the walk saw nothing of it. */
bool cost_possible(enum cost cost, const struct walk_result *walk);

/* Appends the evidence that the launch gives for it: registers, occupancy, lines of an access, clocks. */
void cost_evidence(struct text *text, enum cost cause, const struct device_launch_model *model,
                   const struct walk_launch *launch, const struct walk_result *walk, const struct machine *machine);

#endif
