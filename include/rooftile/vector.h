/* SPDX-License-Identifier: MIT
 *
 * WIDER before a function compiles it for wide vectors as well; the loader picks the version for this processor. The
 * results are equal, bit for bit.
 */
#ifndef ROOFTILE_VECTOR_H
#define ROOFTILE_VECTOR_H

#include <features.h>

/* The loader picks a version before a sanitizer is ready. */
#if defined(__SANITIZE_ADDRESS__)
#define WIDER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || __has_feature(thread_sanitizer)
#define WIDER
#endif
#endif
#ifndef WIDER
#if defined(__x86_64__) && defined(__GLIBC__)
#define WIDER __attribute__((target_clones("default", "avx2", "arch=x86-64-v4")))
#else
#define WIDER
#endif
#endif

#endif
