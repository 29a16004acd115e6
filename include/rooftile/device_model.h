/* SPDX-License-Identifier: MIT
 *
 * The device model: converts the walk of a few waves into the time of a launch on a whole device. Pure functions of a
 * walk, a launch and a machine.
 *
 * With G workgroups, U units (compute units; WGPs in WGP mode) and R workgroups resident on a unit:
 *     latency   clocks of a workgroup, first instruction to last * max(1, G / (R U))
 *     vector, scalar, matrix   issue clocks of a workgroup * workgroups of the fullest unit / SIMDs
 *     LDS       clocks of its transactions * workgroups of the fullest unit
 *     L1        the largest of the clocks of lines, of the lanes' bytes and of the bytes of misses, * workgroups of the
 *               fullest unit
 *     L2        (lines that miss L1 + lines stored) * bytes of a line / expected bandwidth
 *     memory    per buffer the larger of the bytes that all workgroups touch, and those that miss L2 and that no
 *               neighbour shares; a line is stored once, and again if L2 has evicted it; / expected bandwidth of the
 *               level that holds all buffers, or of the memory
 *     atomics   serialized in L2: those of one wave on one address; those of all workgroups on shared addresses, with
 *               as many channels in parallel as there are addresses
 *     dispatch  G / rate
 *     launch    launch_ns; launch_next_ns after another launch
 * prediction_conclude defines how they overlap. Sources: Hong and Kim 2009 and GPUMech (Huang 2014) for chains and
 * rounds, AMD's GCN and CDNA documents for pipes; the norm is fitted to times of an MI300A.
 */
#ifndef ROOFTILE_DEVICE_MODEL_H
#define ROOFTILE_DEVICE_MODEL_H

#include "rooftile/cost.h"
#include "rooftile/machine.h"
#include "rooftile/occupancy.h"
#include "rooftile/prediction.h"
#include "rooftile/walk.h"

/* A launch on a device. */
struct device_launch_model {
    double workgroups, units, resident; /* G, U, R */
    double working;                     /* workgroups of G that access memory; these are G below, except in dispatch */
    double rounds;                      /* G / (R U), at least 1 */
    double fullest;                     /* workgroups on the fullest unit */
    struct occupancy occupancy;         /* limits NULL: unknown, one workgroup per unit is assumed */
    double footprint_bytes;             /* bytes that the launch touches */
    double l2_bytes, memory_bytes;      /* bytes that cross L2 and the memory */
    double stored_bytes;                /* part of memory_bytes */
    uint32_t level;                     /* index of the machine level that holds the footprint */
    double least_bytes;                 /* bytes that the work needs from memory; 0: unknown */
};

/* Sets a workgroup's share of the caches, the clocks of the pipes and the latencies of loads on this machine.
 * `footprint_bytes` of all buffers determines where data is when the launch begins (INFINITY: in memory). All values
 * are those without the cause `without`. */
void device_walk_options(struct walk_options *options, struct device_launch_model *model, const struct machine *machine,
                         const struct walk_launch *launch, double footprint_bytes, enum cost without);

/* Predicts one launch, without TERM_LAUNCH and without the cause `without`; `options` and `walk` must be without it,
 * too. `compute`: as for prediction_conclude. */
void device_predict(struct prediction *prediction, struct device_launch_model *model, const struct machine *machine,
                    const struct walk_launch *launch, const struct walk_options *options,
                    const struct walk_result *walk, enum cost without, const char *compute);

/* Converts the walk to the state without the cause (cost.h). */
struct device_change {
    struct walk_result walk;      /* except traffic */
    double atomics, dispatch, l2; /* factors of these terms */
    double memory_bytes;          /* upper bound; INFINITY: none */
    double fullest;               /* workgroups on the fullest unit */
};
void device_change(struct device_change *change, const struct device_launch_model *model,
                   const struct walk_launch *launch, const struct walk_options *options, const struct walk_result *walk,
                   enum cost without);

#define DEVICE_NORM 3.0 /* of walks */

#endif
