/* SPDX-License-Identifier: MIT
 *
 * Targets: facts about GPU architectures that need no compiler or device. `targets` is the one place that names the
 * targets kernels are written and tested for, their products, and the first LLVM that compiles for them; the facts
 * about waves apply to every name of the same family ("gfx1036", "gfx11-generic", also with features after a colon).
 * Sources: LLVM's AMDGPUUsage (processors, target features) and the LLVM releases that added each (gfx942, gfx1151: 17;
 * gfx1200: 18; gfx950: 20; gfx1250: a stub in 21, complete in 22). NVIDIA targets have nvcc's names; the first CUDA for
 * each is in the release notes of nvcc and PTX, the first LLVM in those of LLVM (sm_100 and sm_120: 20), but never
 * below 19, the first that writes the PTX of mma's 8-bit floats. An "a" after the number means instructions that later
 * architectures do not keep; such code runs on that one alone.
 */
#ifndef ROOFTILE_TARGETS_H
#define ROOFTILE_TARGETS_H

#include "rooftile/occupancy.h"
#include "rooftile/target_facts.h"

struct target {
    const char *arch;     /* "gfx942" */
    const char *products; /* a few products, for people */
    unsigned llvm;    /* oldest major version that compiles kernels for it (for NVIDIA, to PTX); none below 14 does */
    const char *cuda; /* oldest CUDA whose nvcc supports it, "12.8"; NULL: only clang */
};
extern const struct target targets[];
extern const size_t target_count;

/* The properties of a family of targets: one row of the table in targets.c, which is all that planning kernels for a
 * new target needs. */
struct target_family {
    struct occupancy_limits limits; /* for these names; `words` NULL: the rules are unknown */
    struct target_facts facts;
};
/* An additional row, which is searched first; NULL: none. For invented targets in tests. */
extern const struct target_family *target_family_added;

/* Returns the facts of a target; all 0 if it is unknown. Names that match the pattern of a family belong to it. */
const struct target_facts *target_facts(const char *target);

/* Returns the CPU device's facts for waves of this size: *layouts rows, of which the first is the default layout; the
 * others are selected by their matrix_layout. */
const struct target_facts *target_cpu_facts(uint32_t wave, size_t *layouts);

/* True for names such as "gfx942", and "sm_90a". */
bool target_is_amd(const char *arch);
bool target_is_nvidia(const char *arch);

/* Returns the vendor's term for a compute unit, without an 's': "CU", "SM"; "thread" for a CPU. */
const char *target_unit_word(const char *arch);

/* Returns the PTX version for code for an NVIDIA target, 84 for 8.4: the lowest with everything that kernels use,
 * because a driver accepts no version newer than its own. */
unsigned target_ptx(const char *arch);

/* Returns NULL if it is not one of them. Features ("gfx90a:xnack-") are not part of the name. */
const struct target *target_find(const char *arch);

/* The modes in which code can be compiled for a target. RDNA runs workgroups in one compute unit (CU mode) or across
 * the two of a workgroup processor (WGP mode); all other targets have CU mode only. */
struct target_modes {
    bool wave32, wave64;
    bool wgp;
    uint32_t wave; /* the driver's default: lanes per wave unless others are requested */
};
struct target_modes target_modes(const char *arch);

/* Returns ERR_UNSUPPORTED with the missing feature. `cumode` requests CU mode if there is a choice. */
enum status target_check_modes(const char *arch, uint32_t wave, bool cumode, struct err *err);

#endif
