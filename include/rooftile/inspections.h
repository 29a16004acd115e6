/* SPDX-License-Identifier: MIT
 *
 * Builds and inspects kernels of the catalog.
 */
#ifndef ROOFTILE_INSPECTIONS_H
#define ROOFTILE_INSPECTIONS_H

#include "rooftile/inspection.h"
#include "rooftile/session.h"
#include "rooftile/walk.h"

/* A kernel of the catalog that a case launches. */
struct inspected_launch {
    const struct inspected_launch *next;
    const double *executed; /* the kernel's counts (isa.h), which identify it */
    struct walk_launch walk;
};

/* The findings so far; grows. */
struct inspections {
    struct inspection *items;
    size_t count;
    const char **problems; /* kernels that cannot be built */
    size_t problem_count;
    const struct inspected_launch *launches; /* those that could be walked without unknowns; NULL: none */
    enum status worst; /* worst of the problems; ERR_UNSUPPORTED: only a missing compiler or code for the target */
};

/* Builds the kernels that the session's arguments name (by default all) for each --arch, else for the AMD GPU here,
 * else for gfx942, and inspects every code object. */
enum status inspections_build(struct inspections *found, struct session *session, struct err *err);

#endif
