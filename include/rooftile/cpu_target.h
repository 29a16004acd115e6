/* SPDX-License-Identifier: MIT
 *
 * What code for the CPU device is compiled for: a resolved feature list, never `native`, so that a cache shared between
 * machines holds one object per kind of machine. Text: the architecture level first, then single features beyond it,
 * and those of the level that the machine lacks, as some virtual machines hide LZCNT:
 *     "x86-64-v4,avx512bf16,avx512fp16"    "x86-64-v3,no-lzcnt"    "armv8-a"
 * Every feature in the table is known to clang 14.
 */
#ifndef ROOFTILE_CPU_TARGET_H
#define ROOFTILE_CPU_TARGET_H

#include "rooftile/base.h"

/* "x86-64", "aarch64", ...: the machine this program was built for. */
const char *cpu_target_arch(void);

/* Is this the backend of the CPU device? What differs there is asked by this, everywhere. */
bool backend_is_cpu(const char *backend);

/* Is this the name of a level of the architecture this program was built for? */
bool cpu_target_is_level(const char *name);

/* Appends the target of a processor with these flags, as /proc/cpuinfo lists them ("fpu vme ... avx512_fp16"), of the
 * level `most` at most: as if it had nothing beyond that. "": all that it has. */
void cpu_target_resolve(struct text *target, const char *flags, const char *most);

/* The same for the processor this program runs on. */
void cpu_target_detect(struct text *target, const char *most);

/* Does the target have this -m feature, itself or through its level? (cpu_target_has(t, "avx512f")) */
bool cpu_target_has(const char *target, const char *feature);

/* The widest vector register that code for the target may use, in bytes, and how many there are of it. (Of SVE neither
 * is in the name; code for "armv8-a" has NEON.) */
unsigned cpu_vector_bytes(const char *target);
unsigned cpu_vector_registers(const char *target);

/* Compiler arguments for a target: -march=x86-64-v4 -mavx512fp16 -mprefer-vector-width=512. They live in `arena`.
 * ERR_CONFIG for an unknown level or feature. */
enum status cpu_target_flags(const char *target, const char ***flags, size_t *count, struct arena *arena,
                             struct err *err);

#endif
