/* SPDX-License-Identifier: MIT
 *
 * What the parts of an inspection's document share.
 */
#ifndef ROOFTILE_INSPECT_PARTS_H
#define ROOFTILE_INSPECT_PARTS_H

#include "rooftile/inspection.h"
#include "rooftile/table.h"
#include "rooftile/text.h"

struct cell inspect_address(uint64_t address, struct arena *arena); /* "0x1900" */
struct cell inspect_loop(size_t loop);                              /* counted from 1; ISA_NO_LOOP is unknown */
struct cell inspect_code_cell(const struct isa_kernel *isa, struct arena *arena); /* all of it; NULL is unknown */

/* All of a kernel for programs. */
struct cell inspect_kernel_cell(const struct inspect_kernel *kernel, struct arena *arena);

/* Adds the sections that people see of a kernel. `target` is said where a file has code for several; `isa`: the
 * disassembly too. */
void inspect_kernel(struct document *document, const struct inspect_kernel *kernel, const struct codeobj *object,
                    const char *target, bool isa);
/* Those of its instructions. */
void inspect_code(struct document *document, const struct isa_kernel *isa, struct arena *arena);

#endif
