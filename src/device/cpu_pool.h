/* SPDX-License-Identifier: MIT
 *
 * The threads of the CPU device: pinned, one per allowed core, part 0 being the caller. Starting a round costs well
 * under a microsecond while the threads are still spinning from the last one; after that they sleep and cost nothing.
 */
#ifndef ROOFTILE_DEVICE_CPU_POOL_H
#define ROOFTILE_DEVICE_CPU_POOL_H

#include <stdint.h>

#include "rooftile/err.h"

struct pool;

/* `threads` 0: as many as cores are allowed. Pins the calling thread too, until pool_close. ERR_DEVICE. */
enum status pool_open(struct pool **pool, uint32_t threads, struct err *err);
void pool_close(struct pool *pool); /* NULL is fine */
uint32_t pool_threads(const struct pool *pool);

/* work(context, part, parts) once on each thread; returns when all are done and their stores are visible. Not
 * re-entrant. */
void pool_run(struct pool *pool, void (*work)(void *context, uint32_t part, uint32_t parts), void *context);

/* What the caller starts meanwhile may run on all of the pool's cores, as threads of a library must. */
void pool_release_caller(const struct pool *pool);
void pool_hold_caller(const struct pool *pool); /* back to its own core */

/* Cores this process may use (its affinity mask). */
uint32_t pool_allowed_cores(void);

#endif
