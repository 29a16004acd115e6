/* SPDX-License-Identifier: MIT
 *
 * Work-items as fibers: what one pool thread needs to run workgroups whose work-items wait for each other.
 *
 * Lanes of a wave run one after the other, each until it waits or returns (a pass); a lane jumps straight to the next,
 * so a wait costs one switch. When a pass ends in a wave operation, the wave starts the next pass; when it ends in a
 * barrier, the next wave runs; when all waves stand at the barrier, the first goes on. Lanes that returned take part in
 * nothing more.
 */
#ifndef ROOFTILE_DEVICE_CPU_FIBER_H
#define ROOFTILE_DEVICE_CPU_FIBER_H

#include <stdbool.h>
#include <stdint.h>

#include "../../kernels/include/simt_abi.h"
#include "rooftile/device.h"

struct fibers;

/* Lanes that wait for each other at different places: without this it would be a hang or, on a GPU, anything. */
struct fiber_finding {
    bool found;
    bool wave_operation; /* of the two places at least one is a wave operation, else both are barriers */
    uint32_t group[3];
    uint32_t line[2]; /* of the two places in the source */
};

/* What the workgroups of one launch have in common. */
struct fiber_work {
    const struct simt_launch *launch;
    void (*body)(struct simt_lane *lane);
    enum lane_order order;
    uint64_t seed;
    void (*before_group)(void *context); /* NULL, or called before each workgroup: poisons LDS */
    void *context;
};

struct fibers *fibers_new(uint32_t wave, uint32_t pool_threads);
void fibers_free(struct fibers *fibers); /* NULL is fine */

/* Makes room for workgroups of `lanes` work-items; allocates only when that is more than ever before. False: no memory.
 */
bool fibers_reserve(struct fibers *fibers, uint32_t lanes);

/* Workgroups [begin, end) in linear order; stops at the first finding. The workgroup's size was reserved. */
void fibers_run(struct fibers *fibers, const struct fiber_work *work, uint64_t begin, uint64_t end,
                struct fiber_finding *finding);

#endif
