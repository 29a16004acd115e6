/* SPDX-License-Identifier: MIT
 *
 * How the processes of a job (struct device_ranks) come to know one id, through files of a folder that all of them see,
 * each written by rename:
 *
 *   .ranks.call   of rank 0: its nonce, the number of ranks, the job's id
 *   .ranks.N      of rank N: rank 0's nonce, and its own
 *   .ranks.id     of rank 0: its nonce, the id, the nonces of all others in their order
 *
 * Nonces are drawn anew each time. Rank 0 believes answers to its own nonce only, the others an id with their own only:
 * whatever an earlier run left in the folder is never taken for this one's, on clocks or names of jobs nothing depends.
 */
#ifndef ROOFTILE_DEVICE_RANKS_H
#define ROOFTILE_DEVICE_RANKS_H

#include "rooftile/device.h"

/* Rank 0 gives `id`, all others get it. ERR_DEVICE after ranks->limit_ns says who did not come, or at once what is
 * wrong: two processes of one rank, another run in the same folder. */
enum status ranks_share(void *id, size_t size, const struct device_ranks *ranks, struct err *err);
/* When all have it: takes the id's file away. */
void ranks_shared(const struct device_ranks *ranks);

#endif
