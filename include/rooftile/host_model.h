/* SPDX-License-Identifier: MIT
 *
 * What accesses take on a CPU where they do not follow each other: strided and indirect ones, of which the bytes say
 * nothing. The lines that they move are those of the walk of the same source, compiled for a GPU with waves of the
 * CPU device's size: for one work-item after the other, which is how a CPU takes them, addresses are the same.
 *
 *     issue    walked instructions / 8 of a clock: a CPU issues four a clock, each does what two of the walked do
 *     near     lines from L2: a stream's time of it; a page and more from the line before: the latency of L2
 *     far      lines from beyond: three times a stream's time, as what is fetched ahead of a step is not all used
 *              (fitted to access_read); a page and more from the line before: at least the latency of what holds the
 *              footprint over the misses that a core has in flight (Little's law)
 *
 * Misses in flight: 24, fitted to gather on a processor of Zen 5, and no more than are within the 900 walked
 * instructions that a core looks ahead, about twice a reorder buffer of 450.
 */
#ifndef ROOFTILE_HOST_MODEL_H
#define ROOFTILE_HOST_MODEL_H

#include "rooftile/machine.h"
#include "rooftile/walk.h"

#define HOST_LINE_BYTES 64.0

/* Of all launches of a case, all cores together. */
struct host_walk {
    double instructions; /* of work-items */
    double near, far;    /* lines: from L2, from beyond it */
    double apart;        /* of these: a page and more from the one before */
    double apart_placed; /* ... in a buffer that is known, */
    double apart_bytes;  /* and with the bytes of that as their weight */
    double bytes;        /* that accesses ask for */
    bool in_part;        /* the walk ended at its budget: all of it is a share */
};

/* With the caches of one core, as chases found them. */
void host_walk_options(struct walk_options *options, const struct machine *machine);

/* Adds `times` launches. */
void host_walk_add(struct host_walk *sum, const struct walk_launch *launch, const struct walk_result *walk,
                   double times);

/* What a core that has `share` of the work needs: to issue it, and for its lines. `rate` in bytes per second of all
 * cores, `near_ns` and `far_ns` latencies. */
struct host_time {
    double issue_ns, lines_ns;
};
struct host_time host_time(const struct host_walk *walk, const struct machine *machine, double share, double rate,
                           double near_ns, double far_ns);

#endif
