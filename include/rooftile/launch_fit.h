/* SPDX-License-Identifier: MIT
 *
 * Launch fit: checks whether a launch of a manifest passes what its kernel takes. The manifest says what is passed, the
 * code object what is taken; nothing else would detect a difference before the launch. Pure.
 *
 * Compared, in order: the number of arguments; for each its size, and pointer or value; the workgroup with the largest
 * one that the kernel was compiled for (launch bounds) and the one it requires; LDS, static and dynamic together, with
 * the device's; and for the measured launch the occupancy with the manifest's. A kernel whose metadata has no pointers
 * at all (assembly that declares every argument by value) takes buffers as 8 bytes.
 */
#ifndef ROOFTILE_LAUNCH_FIT_H
#define ROOFTILE_LAUNCH_FIT_H

#include "rooftile/codeobj.h"
#include "rooftile/isa.h"
#include "rooftile/occupancy.h"
#include "rooftile/plan.h"

/* Names what an argument passes: a buffer's name, the value's expression, "null" or "struct". */
const char *launch_arg_name(const struct manifest *manifest, const struct manifest_arg *arg);

/* Appends the differences, one sentence per line, e.g. "argument 3 'n': the manifest passes 4 bytes (u32), the kernel
 * takes 8 (by value)", and returns their number. `lds_limit_bytes` 0: unknown. */
size_t launch_fit(struct text *out, const struct resolved *resolved, const struct resolved_launch *launch,
                  const struct codeobj_kernel *kernel, uint64_t lds_limit_bytes);

/* Computes how many workgroups and waves of a launch are resident on a compute unit of `target`, from its kernel's
 * registers and LDS and the launch's workgroup and dynamic LDS. ERR_UNSUPPORTED for AMD code without a kernel
 * descriptor, else as occupancy_compute. */
enum status launch_occupancy(struct occupancy *occupancy, const struct resolved_launch *launch, const char *target,
                             const struct codeobj_kernel *kernel, struct err *err);

/* Appends one sentence on how the occupancy of a launch differs from the manifest's, what limits it and what would
 * raise it: "the manifest states 4 waves per SIMD, gfx942 holds 3 of this launch, limited by VGPRs (168): 40 VGPRs
 * fewer gives 4 waves per SIMD instead of 3". False: nothing differs, none are stated, or the rules are unknown. */
bool launch_claim_differs(struct text *out, const struct resolved *resolved, const struct resolved_launch *launch,
                          const char *target, const struct codeobj_kernel *kernel);

/* The maximum that the code of all of a case's timed launches together can do. */
enum { TYPE_WIDTHS = 3 }; /* f16 and less (xf32 too), f32, f64 */
struct code_work {
    double operations, transcendentals, read_bytes, write_bytes; /* if each instruction runs once */
    bool endless;                    /* has a loop, a call or an unknown instruction: may do more */
    bool has_transcendentals;        /* in a loop, other than for integer division */
    double floats[TYPE_WIDTHS];      /* operations by the type they multiply, those in loops before all others */
    char floats_by[TYPE_WIDTHS][32]; /* an example instruction */
};
void code_work_add(struct code_work *work, const struct isa_kernel *kernel, const struct resolved_launch *launch,
                   double times);

/* Appends, one per line, which parts of `work` the code cannot do, that it mostly multiplies narrower types than their
 * unit's, and that `work` omits transcendental instructions of the code. False: nothing to report. */
bool work_differs(struct text *out, const struct resolved *resolved, const struct code_work *code);

/* Returns the first timed launch, else the first of the steps; NULL if the case launches nothing. */
const struct resolved_launch *launch_first_timed(const struct resolved *resolved);
/* Returns its number of workgroups; 0 if the case launches nothing. */
double launch_workgroups(const struct resolved *resolved);
/* Returns the number of its work-items that one thread of the CPU device runs in sequence; 1 on other devices. */
double launch_lanes(const struct resolved *resolved, bool cpu);

#endif
