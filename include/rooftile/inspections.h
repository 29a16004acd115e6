/* SPDX-License-Identifier: MIT
 *
 * Kernels of the catalog, built and inspected.
 */
#ifndef ROOFTILE_INSPECTIONS_H
#define ROOFTILE_INSPECTIONS_H

#include "rooftile/inspection.h"
#include "rooftile/session.h"
#include "rooftile/walk.h"

/* A kernel of the catalog that a case launches. */
struct inspected_launch {
    const struct inspected_launch *next;
    const double *executed; /* of the kernel (isa.h), which tells it */
    struct walk_launch walk;
};

/* What was found so far; grows. */
struct inspections {
    struct inspection *items;
    size_t count;
    const char **problems; /* kernels that cannot be built */
    size_t problem_count;
    const struct inspected_launch *launches; /* that could be walked with nothing unknown; NULL: none */
    enum status worst; /* of them; ERR_UNSUPPORTED: no compiler or code for the target, nothing is wrong */
};

/* Builds what the session's arguments name (without any: all kernels) for each --arch, else for the AMD GPU here, else
 * for gfx942, and inspects every code object. */
enum status inspections_build(struct inspections *found, struct session *session, struct err *err);

#endif
