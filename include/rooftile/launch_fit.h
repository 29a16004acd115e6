/* SPDX-License-Identifier: MIT
 *
 * Launch fit: does a launch of a manifest pass what its kernel takes? The manifest says what is passed, the code object
 * what is taken; nothing else would notice a difference before the launch. Pure.
 *
 * Compared, in order: how many arguments; for each its size, and pointer or value; the workgroup with the largest one
 * that the kernel was compiled for (launch bounds) and the one it requires; LDS, static and dynamic together, with the
 * device's; and for the measured launch the occupancy with the one that the manifest states. A kernel whose metadata
 * has no pointers at all (assembly that declares every argument by value) takes buffers as 8 bytes.
 */
#ifndef ROOFTILE_LAUNCH_FIT_H
#define ROOFTILE_LAUNCH_FIT_H

#include "rooftile/codeobj.h"
#include "rooftile/isa.h"
#include "rooftile/occupancy.h"
#include "rooftile/plan.h"

/* What an argument passes: a buffer's name, the value's expression, "null" or "struct". */
const char *launch_arg_name(const struct manifest *manifest, const struct manifest_arg *arg);

/* Appends what differs, one sentence a line, e.g. "argument 3 'n': the manifest passes 4 bytes (u32), the kernel takes
 * 8 (by value)", and returns how many. `lds_limit_bytes` 0: unknown. */
size_t launch_fit(struct text *out, const struct resolved *resolved, const struct resolved_launch *launch,
                  const struct codeobj_kernel *kernel, uint64_t lds_limit_bytes);

/* How many workgroups and waves of a launch are resident on a compute unit of `target`, from its kernel's registers and
 * LDS and the launch's workgroup and dynamic LDS. ERR_UNSUPPORTED for AMD code without a kernel descriptor, else as
 * occupancy_compute. */
enum status launch_occupancy(struct occupancy *occupancy, const struct resolved_launch *launch, const char *target,
                             const struct codeobj_kernel *kernel, struct err *err);

/* Appends in one sentence how the occupancy of a launch differs from what the manifest states, what limits it and what
 * would raise it: "the manifest states 4 waves per SIMD, gfx942 holds 3 of this launch, limited by VGPRs (168): 40
 * VGPRs fewer gives 4 waves per SIMD instead of 3". False: nothing differs, none are declared, or the rules are not
 * known. */
bool launch_claim_differs(struct text *out, const struct resolved *resolved, const struct resolved_launch *launch,
                          const char *target, const struct codeobj_kernel *kernel);

/* The most that the code of a case's timed launches can do, all of them together. */
enum { TYPE_WIDTHS = 3 }; /* f16 and less (xf32 too), f32, f64 */
struct code_work {
    double operations, transcendentals, read_bytes, write_bytes; /* with each instruction run once */
    bool endless;                    /* there is a loop, a call or an unknown instruction, so it may be more */
    bool has_transcendentals;        /* in a loop, other than for the division of whole numbers */
    double floats[TYPE_WIDTHS];      /* operations by the type that they multiply, those of loops before all others */
    char floats_by[TYPE_WIDTHS][32]; /* one such instruction */
};
void code_work_add(struct code_work *work, const struct isa_kernel *kernel, const struct resolved_launch *launch,
                   double times);

/* Appends which parts of `work` the code cannot do, that it mostly multiplies narrower types than their unit's, and
 * that `work` omits transcendental instructions of the code, a line each. False: nothing. */
bool work_differs(struct text *out, const struct resolved *resolved, const struct code_work *code);

/* Calls `visit` for every timed launch, including those inside graphs and loops, with the number of its launches. */
void launch_each_timed(const struct resolved *resolved,
                       void (*visit)(void *context, const struct resolved_launch *launch, double times), void *context);

/* Calls `visit` for every launch of the case: its setup, its steps and those inside graphs, in that order. */
void launch_each(const struct resolved *resolved, void (*visit)(void *context, const struct resolved_launch *launch),
                 void *context);

/* The first timed launch, else the first of the steps; NULL when the case launches nothing. */
const struct resolved_launch *launch_first_timed(const struct resolved *resolved);
/* Its workgroups; 0 when the case launches nothing. */
double launch_workgroups(const struct resolved *resolved);
/* The number of its work-items that one thread of the CPU device runs one after the other; 1 on other devices. */
double launch_lanes(const struct resolved *resolved, bool cpu);

#endif
