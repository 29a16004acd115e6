/* SPDX-License-Identifier: MIT
 *
 * What a CPU takes for accesses that are not consecutive and for arithmetic whose steps depend on each other: neither
 * is told by the stated work. Both come from a walk of the same source, compiled for a GPU with waves of the CPU
 * device's size: taken one work-item after the other, as a CPU does, addresses and dependences are the same.
 *
 *     issue    an eighth of a clock per walked instruction: a CPU issues four a clock, each worth two walked ones
 *     near     lines from L2: a stream's time for them; lines a page or more from the one before: the latency of L2
 *     far      lines from beyond L2: a stream's time, also for the lines between, which are prefetched for nothing;
 *              but no longer than the latency of the level that holds the footprint, over the misses that a core has
 *              in flight (Little's law). That is what lines a page or more from the one before take at least
 *     fought   runs of stores to lines that another core's workgroup stores to meanwhile: each as long as a store takes
 *              while all cores write the same 64 KiB ("write_shared"); the lines themselves take no time beside it
 *     chain    results of arithmetic that the walk waits for, if nothing else takes time, at the latency of a fused
 *              multiply-add: as measured ("f32_fma_latency"), else 4 clocks, as of Intel's cores since Skylake and
 *              AMD's since Zen 3 (uops.info)
 *
 * Misses in flight: 24, fitted to gather on a Zen 5 processor, and at most those among 256 accesses: of the 512
 * micro-ops that a core looks ahead (Golden Cove; Zen 5 has 448) each takes two with its address.
 */
#ifndef ROOFTILE_HOST_MODEL_H
#define ROOFTILE_HOST_MODEL_H

#include "rooftile/machine.h"
#include "rooftile/walk.h"

#define HOST_LINE_BYTES 64.0
/* Issue and lines add up: instructions behind a line that is missing fill a core's window and wait with it. */
#define HOST_NORM 1.0

/* Sums over all launches of a case, all cores together. */
struct host_walk {
    double instructions; /* of work-items */
    double accesses;
    double contended;    /* runs of stores to lines that another core stores to */
    double near, far;    /* lines: from L2, from beyond it */
    double apart;        /* of these: a page or more from the one before */
    double stepped;      /* from line to line by the others, in lines */
    double apart_placed; /* of those apart: those in a known buffer, */
    double apart_bytes;  /* ... and the same weighted with the bytes of that buffer */
    double bytes;        /* that accesses ask for */
    double flops;        /* of the arithmetic */
    double chain_steps;  /* of dependent arithmetic, one workgroup after the other */
    bool in_part;        /* the walk ended at its budget: these are sums of a part */
};

/* Sets the caches of one core, as measured by chases. */
void host_walk_options(struct walk_options *options, const struct machine *machine);

/* Adds `times` launches. */
void host_walk_add(struct host_walk *sum, const struct walk_launch *launch, const struct walk_result *walk,
                   double times);

/* The time that a core with `share` of the work needs to issue it, and for its lines. `rate`: bytes per second of all
 * cores together; `near_ns`, `far_ns`: latencies. */
struct host_time {
    double issue_ns, lines_ns;
};
struct host_time host_time(const struct host_walk *walk, const struct machine *machine, double share, double rate,
                           double near_ns, double far_ns);

/* What a core needs for its share of the stores that it fights for; 0: not measured. */
double host_fought_ns(const struct host_walk *walk, const struct machine *machine, double share);

/* What a core needs for its share of the chains; 0 where the clock is not known. */
double host_chain_ns(const struct host_walk *walk, const struct machine *machine, double share);

#endif
