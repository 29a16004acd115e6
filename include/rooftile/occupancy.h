/* SPDX-License-Identifier: MIT
 *
 * Occupancy of GPUs: how many workgroups and waves of a kernel are resident on a compute unit, what limits them, and
 * what would raise their number. Pure: a function of the target's name and of the resources of a kernel and its
 * launch.
 *
 * The unit is a CU, or on RDNA in WGP mode (the compilers' default) a WGP: the part of the device that one workgroup
 * runs on. Per unit there are `simds` SIMDs, each with a vector register file and slots for waves; LDS and barriers
 * belong to the unit. With W = waves of a workgroup = ceil(block / wave):
 *     VGPRs       T = max(V, A) on gfx908; align(V, 4) + A on the unified files of gfx90a, gfx94x, gfx950 when A is not
 *                 0; else V
 *                 waves per SIMD = min(most, max(1, file / align(T, granule)))
 *                 workgroups = waves per SIMD * simds / W
 *     SGPRs       gfx9 only: 800 / align(S, 16) waves per SIMD, within 1 and the most; from gfx10 on they never limit
 *     LDS         workgroups = pool / align(bytes, granule); none if that exceeds the limit of one workgroup
 *     waves       workgroups = largest number of waves per SIMD * simds / W
 *     barriers    16 workgroups of several waves per CU, 32 per WGP; a single wave needs no barrier
 * and the smallest number applies. Divisions round down. A row for each family of targets has the numbers.
 *
 * Sources: LLVM's AMDGPUBaseInfo.cpp and AMDGPUSubtarget.cpp (getVGPRAllocGranule, getTotalNumVGPRs,
 * getNumWavesPerEUWithNumVGPRs, getMaxWorkGroupsPerCU, getSGPRAllocGranule), the AMDGPU usage guide, the ISA manuals.
 * Differences from other sources:
 *     - LLVM counts 10 waves per SIMD on gfx906 and gfx908, the HIP runtime 8, because only 32 waves of a CU can be
 *       launched; here it is 8, or 10 with `llvm_waves`;
 *     - up to version 19, LLVM's "; Occupancy:" does not round LDS to its granule, and it never includes dynamic LDS;
 *     - the HIP runtime counts one CU's LDS in WGP mode and has no limit by barriers.
 * Scratch memory does not limit occupancy in this sense (the runtime's scratch ring may).
 *
 * NVIDIA's GPUs follow the same rules under other names: the unit is an SM with four partitions (SIMDs), a workgroup is
 * a block, a wave a warp of 32. 65,536 registers per SM are 512 for each lane of a partition's warps, allocated in
 * units of 8 per lane (256 per warp); the driver reserves 1 KiB of shared memory per block (lds_reserved); a block of
 * any size takes one block slot, and since compute capability 9.0 as many barriers as it names. Shared memory
 * is assumed to have its largest share of L1, which the driver chooses if a kernel needs it. Sources: CUDA C++
 * Programming Guide, "Technical Specifications per Compute Capability"; cuda_occupancy.h of CUDA 13.0, which these
 * rules were compared with (tests/data/occupancy_cuda.json).
 */
#ifndef ROOFTILE_OCCUPANCY_H
#define ROOFTILE_OCCUPANCY_H

#include "rooftile/base.h"

/* The vendor's own terms, for messages. */
struct occupancy_words {
    const char *unit, *group, *wave, *registers, *lds; /* "CU" "workgroup" "wave" "VGPR" "LDS"; all but LDS take 's' */
    bool per_unit; /* waves are counted per unit ("32 of 64 warps per SM"), not per SIMD */
};

/* The resources of a family of targets. Registers are counted per lane, for the family's usual wave size: in waves of
 * 64 where 32 is usual, file and granule are half as large. */
struct occupancy_limits {
    const char *targets; /* names separated by blanks: "gfx1100 gfx1101" */
    const struct occupancy_words *words;
    uint32_t wave;   /* the usual size */
    bool has_wave64; /* in addition to 32 */
    bool has_wgp;    /* WGP mode: twice the CU's SIMDs, LDS and barriers */
    uint32_t simds_cu;
    uint32_t vgpr_file;     /* VGPRs per SIMD */
    uint32_t vgpr_granule;  /* unit of a wave's allocation */
    uint32_t vgpr_encoding; /* AMD: unit of a kernel descriptor's VGPR count; never more than the granule */
    uint32_t vgprs_max;     /* addressable by one wave, both kinds together if the file is unified */
    enum { AGPRS_NONE, AGPRS_SEPARATE, AGPRS_UNIFIED } agprs;
    uint32_t sgpr_file;  /* per SIMD; 0: SGPRs never limit */
    uint32_t waves;      /* most per SIMD that can be launched */
    uint32_t waves_llvm; /* most per SIMD as counted by LLVM */
    uint32_t lds_cu;     /* size of a CU's pool in bytes */
    uint32_t lds_max;    /* most bytes for one workgroup */
    uint32_t lds_granule;
    uint32_t lds_reserved; /* bytes of the pool that the driver reserves per workgroup, in addition to its own */
    uint32_t barriers_cu;  /* AMD: workgroups of several waves per CU; NVIDIA: barriers per SM, 0: no limit */
    uint32_t groups_cu;    /* NVIDIA: blocks per SM; 0: no such limit */
};

#define OCCUPANCY_AGPRS_MAX 256u  /* per wave, on targets that have AGPRs */
#define OCCUPANCY_BLOCK_MAX 1024u /* threads per workgroup, on every target */

/* Returns the row of a target: "gfx942", or "gfx942:sramecc+:xnack-". NULL: unknown. A generic target ("gfx11-generic")
 * has no row: its limits are those of the device it runs on. */
const struct occupancy_limits *occupancy_limits(const char *target);

/* The resources that a kernel and its launch request. */
struct occupancy_use {
    const char *target;
    uint32_t wave;      /* 32 or 64; 0: the target's usual one */
    bool wgp_mode;      /* ignored if the target has none */
    uint32_t vgprs;     /* V, as allocated (by the kernel descriptor), without AGPRs */
    uint32_t agprs;     /* A */
    uint32_t sgprs;     /* including VCC and the like, as in `.sgpr_count` */
    uint64_t lds_bytes; /* static and dynamic */
    uint32_t block;     /* threads of a workgroup */
    uint32_t barriers;  /* NVIDIA: barriers that a block uses; 0 counts as 1 */
    bool llvm_waves;    /* count waves like LLVM, not like the runtime */
};

enum occupancy_limiter {
    LIMITER_VGPRS,
    LIMITER_SGPRS,
    LIMITER_LDS,
    LIMITER_WAVES,    /* all wave slots of the SIMDs are in use */
    LIMITER_BARRIERS, /* the number of workgroups per unit is at its limit */
    LIMITER_COUNT
};

#define OCCUPANCY_UNLIMITED UINT32_MAX

struct occupancy {
    const struct occupancy_limits *limits;
    uint32_t wave;
    bool wgp_mode;                           /* the unit is a WGP */
    uint32_t simds;                          /* per unit */
    uint32_t waves_max;                      /* per SIMD */
    uint32_t vgprs, vgprs_allocated;         /* T, and T rounded up to the granule */
    uint64_t lds_allocated;                  /* rounded up to the granule */
    uint32_t waves_by_vgprs, waves_by_sgprs; /* per SIMD */
    uint32_t waves_per_workgroup;            /* W */
    uint32_t workgroups_by[LIMITER_COUNT];   /* per unit, or OCCUPANCY_UNLIMITED */
    uint32_t workgroups, waves;              /* per unit; 0: such a launch is refused */
    double waves_per_simd;                   /* may be a fraction */
    /* all that equal the minimum; registers only if they allow fewer than the most waves */
    bool limited_by[LIMITER_COUNT];

    /* The least change that allows another workgroup: every limiting resource must be reduced by this amount, all of
     * them together. All 0 if wave slots or barriers limit. */
    struct {
        uint32_t vgprs, sgprs;
        uint64_t lds_bytes;
        uint32_t workgroups; /* after that change */
        double waves_per_simd;
    } raise;

    /* A workgroup size, a power of two, that gives more waves if only the size leaves slots empty: smaller, or larger
     * if the number of workgroups limits; 0: none. Never with LDS, whose size could change with the workgroup. */
    uint32_t better_block;
    double better_block_waves_per_simd;
};

/* ERR_UNSUPPORTED: no rules for this target, or not with this wave size. ERR_CONFIG: values that no kernel can have (a
 * workgroup of 0 or over OCCUPANCY_BLOCK_MAX threads, more registers than a wave can address). */
enum status occupancy_compute(struct occupancy *occupancy, const struct occupancy_use *use, struct err *err);

/* Appends "VGPRs", "SGPRs", "LDS", "wave slots" or "barriers"; for NVIDIA "registers", "shared memory", "warp slots",
 * "block slots" or "barriers". */
void occupancy_limiter(struct text *text, const struct occupancy *occupancy, enum occupancy_limiter limiter);

/* Appends all limiters: "VGPRs and LDS", or "wave slots". */
void occupancy_limiters(struct text *text, const struct occupancy *occupancy);

/* Waves in the vendor's unit: per SIMD, or per SM. occupancy_waves_unit: "waves per SIMD" | "warps per SM", for one
 * wave per SIMD "wave per SIMD". */
double occupancy_waves(const struct occupancy *occupancy, double waves_per_simd);
const char *occupancy_waves_unit(const struct occupancy *occupancy, bool one_per_simd);

/* Appends what would raise it: "4 VGPRs fewer gives 6 waves per SIMD instead of 5"; nothing if nothing would. */
void occupancy_advice(struct text *text, const struct occupancy *occupancy);

#endif
