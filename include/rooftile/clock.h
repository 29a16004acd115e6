/* SPDX-License-Identifier: MIT
 *
 * Host clocks. clock_now_ns() is CLOCK_MONOTONIC_RAW: never stepped, never slewed.
 */
#ifndef ROOFTILE_CLOCK_H
#define ROOFTILE_CLOCK_H

#include "rooftile/base.h"

uint64_t clock_now_ns(void);
void clock_sleep_ns(uint64_t duration_ns);

/* Writes the UTC wall time as RFC 3339 with seconds ("2026-11-21T04:05:06Z") into 32 bytes. */
void clock_utc(char out[static 32]);

#endif
