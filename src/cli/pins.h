/* SPDX-License-Identifier: MIT
 *
 * Accepted figures of kernels: a file that is written once and then checked.
 */
#ifndef ROOFTILE_PINS_H
#define ROOFTILE_PINS_H

#include "rooftile/codediff.h"

/* Without the file (or `anew`) it is written from what the second side has, which is accepted by that: nothing of it is
 * hurt. Else what the second side has is set against the file: figures that hurt beyond the accepted ones are hurt,
 * whatever the first side has, and what is within them is accepted. Kernels that are not in the file are judged against
 * the first side. */
enum status pins_apply(struct codediff *diff, const char *path, bool anew, struct arena *arena, struct err *err);

#endif
