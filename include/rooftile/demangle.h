/* SPDX-License-Identifier: MIT
 *
 * Mangled C++ names ("_Z4gemmIfEvPT_") as their source has them ("void gemm<float>(float*)").
 */
#ifndef ROOFTILE_DEMANGLE_H
#define ROOFTILE_DEMANGLE_H

#include "rooftile/base.h"

/* Replaces those that are mangled, all with one child process: the first there is of ROOFTILE_CXXFILT (then only that),
 * llvm-cxxfilt where llvm-objdump is looked for, c++filt. Without one, and where it fails, names stay as they are.
 * Names have no control characters. */
void demangle(const char **names, size_t count, struct arena *arena);
/* That tool, which answers each line of its input with one; NULL: there is none. */
const char *demangle_tool(struct arena *arena);

#endif
