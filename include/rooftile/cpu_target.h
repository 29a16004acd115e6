/* SPDX-License-Identifier: MIT
 *
 * The compilation target for the CPU device: a resolved feature list, never `native`, so that a cache shared between
 * machines holds one object per kind of machine. Its text is the architecture level, then single features beyond it,
 * then features of the level that the machine lacks, as some virtual machines hide LZCNT:
 *     "x86-64-v4,avx512bf16,avx512fp16"    "x86-64-v3,no-lzcnt"    "armv8-a"
 * Every feature in the table is known to clang 14.
 */
#ifndef ROOFTILE_CPU_TARGET_H
#define ROOFTILE_CPU_TARGET_H

#include "rooftile/base.h"

/* Returns the architecture that this program was built for: "x86-64", "aarch64", ... */
const char *cpu_target_arch(void);

/* Tells whether this is the CPU device's backend. All code that treats it differently asks this function. */
bool backend_is_cpu(const char *backend);

/* Tells whether this is a level of the architecture that this program was built for. */
bool cpu_target_is_level(const char *name);

/* Appends the target of a processor with these flags, in the format of /proc/cpuinfo ("fpu vme ... avx512_fp16").
 * Levels and features beyond the level `most` are ignored; "": none are. */
void cpu_target_resolve(struct text *target, const char *flags, const char *most);

/* Like cpu_target_resolve, for the processor that runs this program. */
void cpu_target_detect(struct text *target, const char *most);

/* Tells whether the target has this -m feature, itself or through its level: cpu_target_has(t, "avx512f"). */
bool cpu_target_has(const char *target, const char *feature);

/* Return the width in bytes of the widest vector register that code for the target may use, and the number of such
 * registers. (For SVE, the name has neither; code for "armv8-a" has NEON.) */
unsigned cpu_vector_bytes(const char *target);
unsigned cpu_vector_registers(const char *target);

/* Returns the compiler arguments for a target: -march=x86-64-v4 -mavx512fp16 -mprefer-vector-width=512. They live in
 * `arena`. ERR_CONFIG for an unknown level or feature. */
enum status cpu_target_flags(const char *target, const char ***flags, size_t *count, struct arena *arena,
                             struct err *err);

#endif
