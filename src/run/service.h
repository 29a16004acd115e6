/* SPDX-License-Identifier: MIT
 *
 * Kernels of rooftile's own beside the case: a held back start, the clock probe, the flush. Each is opened at its first use
 * and stays for the life of the worker. None of them can fail a case: what does not work says why, and is not used.
 */
#ifndef ROOFTILE_SERVICE_H
#define ROOFTILE_SERVICE_H

#include "run_internal.h"

#define SERVICE_WHY 96

/* NULL with `why` when the service is not to be had on this device. The clock's has two rotations, each with a report. */
struct ready *service_ready(struct worker *worker, enum run_service which, char why[static SERVICE_WHY]);

/* ---- a start held back ---- */

/* So many launches may stand behind a held back start. ROCm's queue has room for 16,384 packets, but its host side puts a
 * barrier of its own between every 1,000 commands (DEBUG_CLR_MAX_BATCH_SIZE), which would count as the batch's time. */
enum { HOLD_MAX_LAUNCHES = 900 };

/* Whether it can be: tried once in each worker. */
bool hold_works(struct worker *worker, char why[static SERVICE_WHY]);
/* Nothing queued on stream 0 runs until hold_release. False with `why`: it could not be launched. */
bool hold_begin(struct worker *worker, char why[static SERVICE_WHY]);
/* Does nothing when nothing is held. */
void hold_release(struct worker *worker);
/* After a wait: whether the stream was held until hold_release. If not, the kernel gave up first. */
bool hold_was_released(struct worker *worker, char why[static SERVICE_WHY]);

/* ---- the clock ---- */

enum { PROBE_BEFORE, PROBE_AFTER, PROBE_COUNT };

/* Whether the clock can be asked for: tried once in each worker. Where the device does not tell the rate of its constant
 * counter, the first try finds it from a probe's own duration and makes it the worker's timer_tick_ns. */
bool probe_works(struct worker *worker, char why[static SERVICE_WHY]);
/* Rate of the constant counter; 0 = unknown. */
double probe_counter_hz(const struct worker *worker);
/* Puts a probe into stream 0; what went wrong with it, probe_read says. */
void probe_queue(struct worker *worker, unsigned which);
/* After a wait: the core clock, or NaN with `why`. */
double probe_read(struct worker *worker, unsigned which, char why[static SERVICE_WHY]);

#endif
