/* SPDX-License-Identifier: MIT
 *
 * The CPU time of accesses that are not consecutive, and of dependent arithmetic; the stated work determines neither.
 * Both come from a walk of the same source, compiled for a GPU with waves of the CPU device's size: for one work-item
 * after the other, as on a CPU, addresses and dependences are the same.
 *
 *     issue    an eighth of a clock per walked instruction: a CPU issues four a clock, each worth two walked ones
 *     near     lines from L2: a stream's time; for lines at least a page from the previous one: the latency of L2
 *     far      lines from beyond L2: a stream's time, including the lines between, prefetched in vain;
 *              but no longer than the latency of the level that holds the footprint, over the misses that a core has
 *              in flight (Little's law), which is the least time for lines at least a page from the previous one
 *     fought   runs of stores to lines that another core's workgroup also stores to: each takes as long as a store
 *              while all cores write the same 64 KiB ("write_shared"); the lines themselves take no additional time
 *     chain    results of arithmetic that the walk waits for if nothing else takes time, at the latency of a fused
 *              multiply-add: as measured ("f32_fma_latency"), else 4 clocks, as of Intel's cores since Skylake and
 *              AMD's since Zen 3 (uops.info)
 *
 * Misses in flight: 24, fitted to gather on a Zen 5 processor, and at most those among 256 accesses: a core looks 512
 * micro-ops ahead (Golden Cove; Zen 5: 448), and each access takes two, with its address.
 */
#ifndef ROOFTILE_HOST_MODEL_H
#define ROOFTILE_HOST_MODEL_H

#include "rooftile/machine.h"
#include "rooftile/walk.h"

#define HOST_LINE_BYTES 64.0
/* Issue and line times add up: instructions after a missing line fill a core's window and wait with it. */
#define HOST_NORM 1.0

/* Sums over all launches of a case, for all cores together. */
struct host_walk {
    double instructions; /* per work-item, summed */
    double accesses;
    double contended;    /* runs of stores to lines that another core also stores to */
    double near, far;    /* lines from L2, and from beyond it */
    double apart;        /* of these, lines at least a page from the previous one */
    double stepped;      /* distance between the other lines, in lines */
    double apart_placed; /* of the lines in `apart`, those in a known buffer, */
    double apart_bytes;  /* ... and the same weighted with that buffer's bytes */
    double bytes;        /* bytes that accesses request */
    double flops;        /* of the arithmetic */
    double chain_steps;  /* steps of dependent arithmetic, one workgroup after the other */
    bool in_part;        /* the walk exceeded its budget, so the sums are partial */
};

/* Sets the caches of one core, as measured by pointer chases. */
void host_walk_options(struct walk_options *options, const struct machine *machine);

/* Adds `times` launches. */
void host_walk_add(struct host_walk *sum, const struct walk_launch *launch, const struct walk_result *walk,
                   double times);

/* Time that a core with `share` of the work needs to issue it, and for its lines. `rate`: bytes per second of all cores
 * together; `near_ns`, `far_ns`: latencies. */
struct host_time {
    double issue_ns, lines_ns;
};
struct host_time host_time(const struct host_walk *walk, const struct machine *machine, double share, double rate,
                           double near_ns, double far_ns);

/* Returns a core's time for its share of contended stores; 0: not measured. */
double host_fought_ns(const struct host_walk *walk, const struct machine *machine, double share);

/* Returns a core's time for its share of the chains; 0 if the clock is unknown. */
double host_chain_ns(const struct host_walk *walk, const struct machine *machine, double share);

#endif
