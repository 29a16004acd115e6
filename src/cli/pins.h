/* SPDX-License-Identifier: MIT
 *
 * Accepted figures of kernels: a file that is written once and then checked.
 */
#ifndef ROOFTILE_PINS_H
#define ROOFTILE_PINS_H

#include "rooftile/codediff.h"

/* Without the file, or with `anew`, writes it from the second side's figures, which are thereby accepted: no kernel is
 * hurt. Else compares the second side with the file: kernels with worse figures than the accepted ones are hurt,
 * whatever the first side has, and the others are accepted. Kernels that are not in the file are judged against the
 * first side. */
enum status pins_apply(struct codediff *diff, const char *path, bool anew, struct arena *arena, struct err *err);

#endif
