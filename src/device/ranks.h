/* SPDX-License-Identifier: MIT
 *
 * The processes of a job (struct device_ranks) share one id through files in a common folder, each written by rename:
 *
 *   .ranks.call   of rank 0: its nonce, the number of ranks, the job's id
 *   .ranks.N      of rank N: rank 0's nonce, and its own
 *   .ranks.id     of rank 0: its nonce, the id, the nonces of all others in their order
 *
 * Each run draws new nonces. Rank 0 accepts only answers to its own nonce, the others only an id with their own nonce.
 * Files of an earlier run are therefore never mistaken for this one's, whatever the clocks and job names.
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
