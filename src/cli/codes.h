/* SPDX-License-Identifier: MIT
 *
 * Codes: the AMD code objects of a plan, read once after they are built. Two uses: no case is launched whose arguments
 * differ from what its kernel takes, and results record what the compiler made of a kernel.
 */
#ifndef ROOFTILE_CODES_H
#define ROOFTILE_CODES_H

#include "rooftile/codeobj.h"
#include "rooftile/result.h"
#include "session.h"

/* What the disassembly says of a kernel, once it was asked for. */
struct codes_loop {
    const struct codeobj_kernel *kernel; /* whose; NULL: not asked yet */
    const char *instruction;             /* NULL: no loop, or no disassembler */
    double share;
};

struct codes {
    const struct session *session;
    const struct codeobj_file **files; /* by plan code; NULL: not for AMD GPUs, or not built */
    const char **problems;             /* by plan code; NULL: none */
    struct codes_loop *loops;          /* by plan code: of the kernel that was asked for last */
};

/* Reads every built object of the session's plan. What cannot be read is no error here. */
void codes_open(struct codes *codes, const struct session *session);

/* What differs between a case's launches and its kernels, a line each, or why its code cannot be read; false: nothing
 * does. */
bool codes_differences(struct text *out, const struct codes *codes, const struct plan_case *plan_case);

/* By plan index, as run_options.refused takes it. Code that cannot be read is not refused. */
const char *const *codes_refused(const struct codes *codes);

/* Disassembles what codes_facts will be asked for, so that nothing is spawned while cases run. */
void codes_disassemble(const struct codes *codes);

/* Of the first timed launch; not `known` when there is no AMD code object. */
struct result_code codes_facts(const struct codes *codes, const struct plan_case *plan_case);

#endif
