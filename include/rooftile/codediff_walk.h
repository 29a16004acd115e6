/* SPDX-License-Identifier: MIT
 *
 * Both builds of a kernel walked in one launch: how often each instruction runs, and the time by the model.
 */
#ifndef ROOFTILE_CODEDIFF_WALK_H
#define ROOFTILE_CODEDIFF_WALK_H

#include "rooftile/codediff.h"
#include "rooftile/inspections.h"

/* A machine with the target that was asked for last. */
struct walk_machine {
    const char *arch; /* NULL: none was asked for */
    bool is_known;
    struct machine machine;
};

/* Sets `walked`, the times and `executed` of both sides of a pair whose code differs, where both can be walked in the
 * same launch with nothing unknown. It is the launch of the case (`before` and `after` have it); of code objects one is
 * made up, the same for both builds: the device is full several times, every pointer has memory of its own, every whole
 * number of 4 or 8 bytes is 2 Mi, or 4 Ki where that takes too long. The time is that of a machine with the target,
 * with all data in L2, so that what the memory takes anyway hides nothing. */
void codediff_walk(struct code_pair *pair, const struct inspected_launch *before, const struct inspected_launch *after,
                   struct walk_machine *machine, const struct cli_options *options, struct arena *arena);

#endif
