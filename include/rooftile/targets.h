/* SPDX-License-Identifier: MIT
 *
 * Targets: what is known about GPU architectures without a compiler or a device. `targets` is the one place that
 * names the targets kernels are written and tested for, the products that have them, and the LLVM that first compiles
 * for them; the facts about waves hold for every name of the same family ("gfx1036", "gfx11-generic", with features
 * behind a colon too). Sources: LLVM's AMDGPUUsage (processors, target features) and the LLVM releases that
 * added each (gfx942, gfx1151: 17; gfx1200: 18; gfx950: 20; gfx1250: a stub in 21, complete in 22). NVIDIA's are named
 * as nvcc names them; the CUDA that first knows each is in the release notes of nvcc and PTX, the LLVM that does in
 * those of LLVM (sm_100 and sm_120: 20), but never below 19, the first that writes the PTX of mma's 8-bit floats. An
 * "a" after the number means instructions that later architectures do not keep; such code runs on that one alone.
 */
#ifndef ROOFTILE_TARGETS_H
#define ROOFTILE_TARGETS_H

#include "rooftile/occupancy.h"
#include "rooftile/target_facts.h"

struct target {
    const char *arch;     /* "gfx942" */
    const char *products; /* a few that have it, for people */
    unsigned llvm;    /* oldest major version that compiles kernels for it (to PTX, for NVIDIA's); below 14 none does */
    const char *cuda; /* oldest CUDA whose nvcc does, "12.8"; NULL: only clang */
};
extern const struct target targets[];
extern const size_t target_count;

/* What the targets of a family have: one row of the table in targets.c, which is all that planning kernels for a new
 * target needs. */
struct target_family {
    struct occupancy_limits limits; /* of these names; `words` NULL: the rules are not known */
    struct target_facts facts;
};
/* One more row, which is searched first; NULL: none. For targets made up in tests. */
extern const struct target_family *target_family_added;

/* What a target has; all 0 when it is unknown. Names that only look like those of a family count as one of it. */
const struct target_facts *target_facts(const char *target);

/* What the CPU device has in waves of this size: *layouts rows, of which the first is the default layout; the others
 * are chosen by their matrix_layout. */
const struct target_facts *target_cpu_facts(uint32_t wave, size_t *layouts);

/* "gfx942" and "sm_90a". */
bool target_is_amd(const char *arch);
bool target_is_nvidia(const char *arch);

/* What its vendor calls a compute unit, without an 's': "CU", "SM"; "thread" of a CPU. */
const char *target_unit_word(const char *arch);

/* The PTX version for code for a target of NVIDIA's, 84 for 8.4: the lowest that has everything kernels use, because a
 * driver accepts no newer version than its own. */
unsigned target_ptx(const char *arch);

/* NULL when it is not one of them. Features ("gfx90a:xnack-") are no part of the name. */
const struct target *target_find(const char *arch);

/* The modes in which code can be compiled for a target. RDNA runs workgroups in one compute unit (CU mode) or across
 * the two of a workgroup processor (WGP mode); all other targets have CU mode only. */
struct target_modes {
    bool wave32, wave64;
    bool wgp;
    uint32_t wave; /* the driver's choice: lanes of a wave when nobody asks for others */
};
struct target_modes target_modes(const char *arch);

/* ERR_UNSUPPORTED says what the target lacks. `cumode` asks for CU mode where there is a choice. */
enum status target_check_modes(const char *arch, uint32_t wave, bool cumode, struct err *err);

#endif
