/* SPDX-License-Identifier: MIT
 *
 * `run --ab A B`: the same suite with two kernel folders, two compilers or two code objects under one driver, measured
 * in turns in one run and compared.
 */
#ifndef ROOFTILE_AB_H
#define ROOFTILE_AB_H

#include "trials.h"

/* Measures and compares; prints the comparison. Returns the exit code: `compare`'s, or that of a run that could not be
 * measured. -o FILE writes FILE's two results as "<FILE without .json>.a.json" and "....b.json". */
int ab_run(const struct cli_options *options, struct arena *arena);

#endif
