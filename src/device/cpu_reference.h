/* SPDX-License-Identifier: MIT
 *
 * Loops of known work, to see what the machine gives at this moment. They are rulers, not benchmarks: close to the
 * peak, but what counts is that the same loop gives the same rate while nobody interferes.
 */
#ifndef ROOFTILE_DEVICE_CPU_REFERENCE_H
#define ROOFTILE_DEVICE_CPU_REFERENCE_H

#include <stdint.h>

/* Clock of the core that runs this, from a chain of dependent one-cycle additions; the best of a few short runs (about
 * 3 ms together), because an interruption only ever makes one slower. */
double reference_core_hz(void);

/* a[i] = b[i] + 3 * c[i]; moves 24 bytes per element. `count` is a multiple of 8, the arrays are aligned to 64. */
void reference_stream(double *a, const double *b, const double *c, uint64_t count);

/* Independent multiply-adds in the widest registers; returns the FLOP it has done, about 2 ms worth for `rounds`
 * 100000. */
double reference_fma(uint64_t rounds);

#endif
