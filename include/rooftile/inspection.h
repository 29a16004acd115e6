/* SPDX-License-Identifier: MIT
 *
 * Inspection of compiled kernels: reads a code object (codeobj.h), disassembles it (isa.h) and computes its occupancy
 * (occupancy.h). Needs no GPU. Everything lives in the arena.
 */
#ifndef ROOFTILE_INSPECTION_H
#define ROOFTILE_INSPECTION_H

#include "rooftile/codeobj.h"
#include "rooftile/isa.h"
#include "rooftile/occupancy.h"

/* How a catalog kernel is launched. */
struct inspect_launch {
    const char *symbol;
    uint32_t block;               /* threads */
    uint32_t lds_bytes;           /* dynamic */
    const char *const *arg_names; /* passed by the manifest: a buffer's name, or an expression */
    size_t arg_count;
};

struct inspect_kernel {
    const struct codeobj_kernel *code;
    const char *name;                    /* demangled */
    const struct isa_kernel *isa;        /* NULL: not disassembled */
    const struct inspect_launch *launch; /* NULL: unknown */

    /* The block size used for occupancy, and the result. */
    uint32_t block;
    const char *block_source; /* "the launch" "--block" "required" "the largest allowed" "the most that fit" */
    uint32_t dynamic_lds_bytes;
    struct occupancy occupancy;
    const char *occupancy_problem; /* NULL: occupancy is valid */

    /* Findings of the disassembly, and on registers, LDS and occupancy. */
    struct isa_finding *findings;
    size_t finding_count;
};

struct inspect_object {
    const struct codeobj *code;
    size_t entries;          /* bundle entries with these bytes, which are examined once */
    const char *isa_problem; /* why there is no disassembly; NULL if there is one */
    const char *tool;        /* the disassembler */
    const struct isa *isa;   /* NULL: no disassembly */
    struct inspect_kernel *kernels;
    size_t kernel_count;
    size_t hidden_count; /* kernels excluded by the filters */
};

struct inspection {
    const char *path; /* of the input file */
    /* a catalog kernel with its distinguishing parameters; NULL: a file given by the user */
    const char *label;
    const char *command; /* command that built it, quoted for a shell; NULL likewise */
    const struct codeobj_file *file;
    struct inspect_object *objects; /* the selected ones */
    size_t object_count;
    const char *ir; /* LLVM IR; NULL: not requested */
};

#define INSPECT_DETAILS_FEW 4u /* up to this many kernels are shown in full by default */

/* Selects the parts of a file to examine. Catalog kernels come with their launches, files without. */
struct inspect_choice {
    const char *const *archs; /* targets, features after a colon; none: all */
    size_t arch_count;
    const char *const *filters; /* globs over kernels' names, mangled or not; none: all */
    size_t filter_count;
    bool is_brief; /* with more than INSPECT_DETAILS_FEW kernels, omits source lines and demangled functions */
    /* threads of a workgroup; 0: the launch's, otherwise the required one, otherwise the largest allowed */
    uint32_t block;
    const struct inspect_launch *launches; /* if there are launches: only these kernels */
    size_t launch_count;
    /* Returns `executed` of a kernel if its launch can be walked, else NULL. May be NULL. */
    const double *(*execute)(void *context, const struct isa_kernel *isa, const char *target);
    void *context;
};

/* ERR_CONFIG: the file has no GPU code object, or none that was selected. */
enum status inspect_file(struct inspection *inspection, const char *path, const struct inspect_choice *choice,
                         struct arena *arena, struct err *err);

/* A lane's registers: the compiler's count if the hardware allocates no more (after rounding up), otherwise the
 * allocation, which launch bounds can enlarge. */
struct inspect_registers {
    uint32_t vgprs, agprs;
    bool is_padded; /* more allocated than the code uses */
};
struct inspect_registers inspect_registers(const struct codeobj *object, const struct codeobj_kernel *code);

#endif
