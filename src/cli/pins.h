/* SPDX-License-Identifier: MIT
 *
 * Accepted figures of kernels, in a file that is written once and then checked.
 */
#ifndef ROOFTILE_PINS_H
#define ROOFTILE_PINS_H

#include "rooftile/codediff.h"

/* If the file does not exist, or with `anew`, writes the second side's figures, which are thereby accepted: no kernel
 * is worse. Otherwise compares the second side with the file. A kernel with worse figures than the accepted ones counts
 * as worse, whatever the first side has; the others are accepted. Kernels that are not in the file are judged against
 * the first side. */
enum status pins_apply(struct codediff *diff, const char *path, bool anew, struct arena *arena, struct err *err);

#endif
