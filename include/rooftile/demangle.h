/* SPDX-License-Identifier: MIT
 *
 * Converts mangled C++ names ("_Z4gemmIfEvPT_") to source form ("void gemm<float>(float*)").
 */
#ifndef ROOFTILE_DEMANGLE_H
#define ROOFTILE_DEMANGLE_H

#include "rooftile/base.h"

/* Replaces the mangled names, all with one child process: the first available of ROOFTILE_CXXFILT (if set, only that),
 * llvm-cxxfilt in the places searched for llvm-objdump, and c++filt. Without a tool, or if it fails, names remain
 * unchanged. Names have no control characters. */
void demangle(const char **names, size_t count, struct arena *arena);
/* Returns that tool, which answers each input line with one line; NULL: there is none. */
const char *demangle_tool(struct arena *arena);

#endif
