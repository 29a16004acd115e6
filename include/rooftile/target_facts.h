/* SPDX-License-Identifier: MIT
 *
 * Facts about a device's target that manifests can use as device.NAME. The values for every family of targets are in
 * one table, in src/model/targets.c; this header defines their meaning. Plain data, so that model and manifest share
 * it.
 */
#ifndef ROOFTILE_TARGET_FACTS_H
#define ROOFTILE_TARGET_FACTS_H

/* Matrix instructions. K is that of the deepest 16 x 16 instruction in kernels/include/tile.h; at 32 x 32 it is half.
 * 0: there is none. */
#define MATRIX_FACTS(FACT)                                                                                             \
    FACT(matrix_lanes)   /* lanes of the waves that have them: 32 or 64 */                                             \
    FACT(matrix_size)    /* of the largest: 16 x 16 or 32 x 32 */                                                      \
    FACT(matrix_layout)  /* assignment of elements to lanes: 2 MFMA, 3 mma.sync, 11, 12, 1250 WMMA of these targets */ \
    FACT(matrix_holders) /* lanes that share one A: on gfx11 both halves of a wave hold all of it */                   \
    FACT(matrix_rows)    /* rows of A that a lane has elements of */                                                   \
    FACT(matrix_k_f64)                                                                                                 \
    FACT(matrix_k_f32)                                                                                                 \
    FACT(matrix_k_xf32)                                                                                                \
    FACT(matrix_k_f16)                                                                                                 \
    FACT(matrix_k_bf16)                                                                                                \
    FACT(matrix_k_fp8_ocp)                                                                                             \
    FACT(matrix_k_fp8_fnuz)                                                                                            \
    FACT(matrix_k_i8)                                                                                                  \
    FACT(matrix_k_i4)                                                                                                  \
    FACT(matrix_k_mx)         /* scaled: floats of 4 and 6 bits */                                                     \
    FACT(matrix_k_sparse_f16) /* two of every four elements of A; bf16 as well */                                      \
    FACT(matrix_k_sparse_i8)                                                                                           \
    FACT(matrix_k_sparse_fp8_ocp)                                                                                      \
    FACT(matrix_k_sparse_fp8_fnuz)                                                                                     \
    FACT(matrix_k_f16_sums)  /* adds up in f16 */                                                                      \
    FACT(matrix_k_bf16_sums) /* adds up in bf16 */

/* The most that a compute unit does per clock, as far as known; 0: unknown. */
#define RATE_FACTS(FACT)                                                                                               \
    FACT(rate_f32) /* FLOPs of the vector unit */                                                                      \
    FACT(rate_f64)                                                                                                     \
    FACT(rate_transcendental) /* exp2, log2, rcp, rsqrt, sqrt, sin, cos of f32; exact: a peak is derived from it */    \
    FACT(rate_bytes)          /* that loads and stores move */

/* Other features of an instruction set: 1 or 0. */
#define TARGET_FACTS(FACT)                                                                                             \
    MATRIX_FACTS(FACT)                                                                                                 \
    RATE_FACTS(FACT)                                                                                                   \
    FACT(f16)        /* packed arithmetic of f16 */                                                                    \
    FACT(bf16_dot)   /* dot products of packed bf16 */                                                                 \
    FACT(i8_dot)     /* of packed i8 */                                                                                \
    FACT(f16_dot)    /* of packed f16 */                                                                               \
    FACT(i4_dot)     /* of packed i4 */                                                                                \
    FACT(cpu)        /* the CPU device: any layout, and no registers that limit anything */                            \
    FACT(fp8_ocp)    /* converts e4m3 and e5m2 */                                                                      \
    FACT(fp8_fnuz)   /* converts e4m3fnuz and e5m2fnuz */                                                              \
    FACT(fp8_as_f16) /* products of fp8 become conversions to f16 and products of these; 2: in more registers */       \
    FACT(packed_f32) /* two f32 in one instruction */                                                                  \
    FACT(dpp)        /* moves within 16 lanes, pushes and swizzles, as AMD has them */                                 \
    FACT(permlane16)                                                                                                   \
    FACT(unaligned_access) /* loads and stores at any address */                                                       \
    FACT(named_registers)  /* assembly names registers, so that code can be made to need a number of them */           \
    FACT(atomic_add_f16)   /* of packed pairs */                                                                       \
    FACT(atomic_add_f32)                                                                                               \
    FACT(atomic_add_f64)                                                                                               \
    FACT(atomic_add_lds_f16)                                                                                           \
    FACT(atomic_add_lds_f32)                                                                                           \
    FACT(atomic_add_lds_f64)                                                                                           \
    FACT(atomic_max_f32)                                                                                               \
    FACT(atomic_max_f64)                                                                                               \
    FACT(atomic_max_lds_f32)                                                                                           \
    FACT(atomic_max_lds_f64)                                                                                           \
    FACT(lds_declared) /* bytes of LDS that a source may declare; the rest of lds_bytes comes with the launch only */

#define TARGET_FACT_FIELD(name) double name;
struct target_facts {
    TARGET_FACTS(TARGET_FACT_FIELD)
};
#undef TARGET_FACT_FIELD

#endif
