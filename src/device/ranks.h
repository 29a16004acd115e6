/* SPDX-License-Identifier: MIT
 *
 * How the processes of a job (struct device_ranks) share one id, through files in a folder that all of them see, each
 * written by rename:
 *
 *   .ranks.call   of rank 0: its nonce, the number of ranks, the job's id
 *   .ranks.N      of rank N: rank 0's nonce, and its own
 *   .ranks.id     of rank 0: its nonce, the id, the nonces of all others in their order
 *
 * Nonces are drawn anew each time. Rank 0 accepts only answers to its own nonce, the others only an id with their own
 * nonce. So files of an earlier run are never taken for this one's, whatever clocks and job names say.
 */
#ifndef ROOFTILE_DEVICE_RANKS_H
#define ROOFTILE_DEVICE_RANKS_H

#include "rooftile/device.h"

/* Rank 0 provides `id`, all others receive it. ERR_DEVICE reports after ranks->limit_ns which ranks are missing, or at
 * once what is wrong: two processes with one rank, or another run in the same folder. */
enum status ranks_share(void *id, size_t size, const struct device_ranks *ranks, struct err *err);
/* Removes the id's file once all ranks have it. */
void ranks_shared(const struct device_ranks *ranks);

#endif
